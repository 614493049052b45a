// Where is the bug? The same design three times: as it should be, with two axes in the wrong order, and with a stuck
// lane. After each run one call compares the memory inside the design with the golden tensor, and its report says what
// is wrong. With +td_report=DIR each report is also a page in DIR.
`include "td_macros.svh"

module tb;
  import td_pkg::*;

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  logic swap = 1'b0;
  logic stuck = 1'b0;
  logic done;
  always #5 clk = !clk;

  scaler u_scaler (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .swap_i (swap),
    .stuck_i(stuck),
    .done_o (done)
  );

  `TD_MEM_CLASS(given_mem, tb.u_scaler.in_mem, 128)
  `TD_MEM_CLASS(result_mem, tb.u_scaler.out_mem, 128)

  // The mismatches are what the example is about. Without this each would be an error, and the run would end with
  // status 1.
  class printer extends td_reporter;
    virtual function void compared(input bit passed, input string line);
      $display("%s: %s", passed ? "PASS" : "FAIL", line);
    endfunction

    // Here, because older versions of Verilator do not take an object of an extending class as an argument.
    function void install();
      td_reporter base;
      base = this;
      td_reporter::install(base);
    endfunction
  endclass

  printer says = new;
  td_memory given;
  td_memory result;
  td_tensor image;
  td_tensor golden;
  td_layout tiles;

  task automatic run(input string what, input bit with_swap, input bit with_stuck, input string guess);
    td_report report;
    $display("\n-- %s", what);
    swap = with_swap;
    stuck = with_stuck;
    rst_n = 1'b0;
    repeat (2) @(negedge clk);
    given.backdoor_load_tensor(image, tiles);
    rst_n = 1'b1;
    while (!done) @(negedge clk);
    report = result.backdoor_compare_tensor(golden, tiles, "max=3");
    if (report.guess() != guess) $fatal(1, "the report says \"%s\", not \"%s\"", report.guess(), guess);
    report.destroy();
  endtask

  initial begin
    says.install();
    given = given_mem::create("in_mem");
    result = result_mem::create("out_mem");
    image = td_tensor::create("i16", "12 20 32");
    golden = td_tensor::create("i16", "12 20 32");
    image.fill_ramp(1.0, 1.0);
    golden.fill_ramp(2.0, 2.0);
    tiles = td_layout::create("h w (ct cs) -> (h w ct) cs", "cs=8");

    run("as it should be", 1'b0, 1'b0, "");
    run("h and w in the wrong order", 1'b1, 1'b0, "looks transposed: actual matches golden with axes h and w swapped");
    run("a stuck lane", 1'b0, 1'b1, "all mismatches in lane 5");

    $display("where is the bug: both were found");
    $finish;
  end
endmodule
