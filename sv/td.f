// What to compile to use tensordoor; paths are relative to this file, so read it with -F (not -f) from anywhere:
//   verilator --binary -F DIR/td.f tb.sv /ABSOLUTE/libtensordoor.so
+incdir+.
td_dpi_pkg.sv
td_pkg.sv
td_ram.sv
