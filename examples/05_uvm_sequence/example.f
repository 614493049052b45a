// What this example compiles after UVM, td.f and uvm/td_uvm.f: the design of the first example, the array of the
// second, and the environment around them.
+incdir+.
../01_tile_mover/tile_mover.sv
../02_rtl_memory/sram.sv
mover_if.sv
mover_pkg.sv
tb.sv
