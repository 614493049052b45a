// tensordoor for UVM: components, sequences and reporting around td_pkg, which does the work. A testbench imports both,
// td_pkg and td_uvm_pkg. For UVM 1800.2-2017 and 1800.2-2020, with and without UVM's own DPI.
// There are no delays in here, so a `timescale before or after it does not matter:
// verilator lint_off TIMESCALEMOD
package td_uvm_pkg;
  import uvm_pkg::*;
  import td_pkg::*;
  `include "uvm_macros.svh"

  `include "td_uvm_reporter.svh"
  `include "td_uvm_plusargs.svh"
  `include "td_uvm_mem.svh"
  `include "td_mem_seq.svh"
  `include "td_load_seq.svh"
  `include "td_dump_seq.svh"
  `include "td_compare_seq.svh"
  `include "td_virtual_seq.svh"
  `include "td_uvm_scoreboard.svh"
  `include "td_program_seq.svh"
  `include "td_uvm_backdoor.svh"
endpackage
// verilator lint_on TIMESCALEMOD
