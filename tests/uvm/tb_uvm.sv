// All tests of sv/uvm in one program, because UVM takes minutes to build. +UVM_TESTNAME chooses one, and tests.txt
// lists the runs. Each prints its results in TAP between UVM's own lines; the program fails when one of them is "not
// ok".
`include "td_macros.svh"

package t_uvm_pkg;
  import uvm_pkg::*;
  import td_pkg::*;
  import td_uvm_pkg::*;
  import tap_pkg::*;
  `include "uvm_macros.svh"

  `include "t_catcher.svh"
  `include "t_env.svh"
  `include "t_base.svh"
  `include "t_reporter_test.svh"
  `include "t_mem_test.svh"
  `include "t_over_test.svh"
  `include "t_seq_test.svh"
  `include "t_virtual_test.svh"
  `include "t_parts_test.svh"
  `include "t_scoreboard_test.svh"
  `include "t_program_test.svh"
  `include "t_backdoor_test.svh"
  `include "t_plusargs_test.svh"
  `include "t_factory_test.svh"
  `include "first_test.svh"  // extracted from sv/uvm/README.md
  `include "t_first_test.svh"
endpackage

module t_sram;
  logic [63:0] mem[0:255];
endmodule

// 256 words of 64 bits in four macros: two tiles, two slices.
module t_macros;
  for (genvar m = 0; m < 4; m++) begin : gen_macro
    logic [31:0] mem[0:127];
  end
endmodule

`TD_BANKS_MODULE(macro_mem, tb.u_macros.gen_macro[bank].mem, 32)

module tb;
  import uvm_pkg::*;
  import td_pkg::*;
  import td_uvm_pkg::*;
  import t_uvm_pkg::*;

  t_sram u_sram ();
  `TD_MEM_CLASS(sram_mem, tb.u_sram.mem, 64)
  t_macros u_macros ();
  macro_mem #(4) u_macro_mem ();

  initial begin
    uvm_root  top;
    td_layout organisation;
    td_uvm_mem::put("*.env.abuf", td_memory::create("abuf", 64, 256));
    td_uvm_mem::put("*.env.sram", sram_mem::create("sram"));
    td_uvm_mem::put("*.env.wide", td_memory::create("wide", 128, 256));
    td_uvm_mem::put("*.env.odd", td_memory::create("odd", 24, 16));
    td_uvm_mem::put("*.env.tiles", td_bank_set::create("tiles", 4, 64, 64));
    organisation = td_layout::create("(t r) (s k) -> (t s) r k", "t=2 s=2");
    td_uvm_mem::put("*.over", td_memory::over("over", 64, 256, organisation, u_macro_mem.create("macro")));
    top = uvm_root::get();
    top.set_finish_on_completion(1'b0);
    run_test();
    tap_pkg::finish();
  end
endmodule
