// What this example compiles after UVM, td.f and uvm/td_uvm.f: the design of the first example, and the environment
// around it.
+incdir+.
../01_tile_mover/tile_mover.sv
mover_if.sv
mover_pkg.sv
tb.sv
