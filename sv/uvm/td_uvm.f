// What to compile to use tensordoor from UVM, after UVM itself and td.f. Paths are relative to this file: read it with
// -F, not -f:
//   verilator --binary +incdir+UVM UVM/uvm_pkg.sv -F DIR/td.f -F DIR/uvm/td_uvm.f tb.sv /ABSOLUTE/libtensordoor.so
+incdir+.
td_uvm_pkg.sv
