// What the macros of td_macros.svh become, for the linter: words below, at and above 32 bits.
`include "td_macros.svh"

module lint_mem;
  import td_pkg::*;

  logic [4:0] narrow[4];
  bit [31:0] whole[9:2];
  logic [99:0] wide[2][3];

  `TD_MEM_CLASS(narrow_mem, lint_mem.narrow, 5)
  `TD_MEM_CLASS(whole_mem, lint_mem.whole, 32)
  `TD_MEM_CLASS_2D(wide_mem, lint_mem.wide, 100)

  initial begin
    td_memory memory;
    memory = narrow_mem::create("narrow");
    memory.clear();
    memory = whole_mem::create("whole");
    memory.clear();
    memory = wide_mem::create("wide");
    memory.clear();
    $finish;
  end
endmodule
