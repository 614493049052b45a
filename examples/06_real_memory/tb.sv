// A memory made of macros. The accelerator's scratchpad is eight SRAM macros: tiles, slices, four words in a row, a
// SECDED code in every half word (scratchpad.sv). Two lines name the macros, one says how the words lie in them, one
// adds the code; from there on it is a memory like any other. A tensor goes in by a layout, the accelerator runs, and
// its result is compared. Then bits are flipped: single errors must not change the result, and are counted by the
// design; a double error must be found by the design and by the back door, in the same word.
`include "td_macros.svh"

`TD_BANKS_MODULE(macro_mem, tb.u_dut.u_pad.gen_tile[bank / 2].gen_slice[bank % 2].u_macro.rows, 156)

module tb;
  import td_pkg::*;

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = !clk;

  logic start = 1'b0;
  logic done;
  logic [31:0] corrected;
  logic alarm;
  logic [9:0] alarm_addr;

  matvec u_dut (
    .clk_i       (clk),
    .rst_ni      (rst_n),
    .start_i     (start),
    .done_o      (done),
    .corrected_o (corrected),
    .alarm_o     (alarm),
    .alarm_addr_o(alarm_addr)
  );

  macro_mem #(8) u_macros ();

  // ---- the memory

  td_bank_set macros;
  td_code     code;
  td_memory   coded;      // 1024 words of 78 bits: what lies in the macros
  td_memory   unchecked;  // the data bits of these, right or wrong
  td_memory   pad;        // 1024 words of 64 bits: what the accelerator sees

  task automatic find_memory();
    td_layout organisation = td_layout::create("(t r p) (s k) -> (t s) r (k p)", "t=4 p=4 s=2");
    macros = u_macros.create("macro");
    code = td_code::create("39_32", 64);
    coded = td_memory::over("coded", code.coded_bits(), 1024, organisation, macros);
    pad = td_memory::coded("pad", code, coded);
    unchecked = td_memory::coded("unchecked", code, coded, "check=off");
  endtask

  // ---- the tensors: y = W * x

  td_tensor w;
  td_tensor x;
  td_tensor y;
  td_layout w_rows;
  td_layout x_rows;
  td_layout y_rows;

  task automatic make_tensors();
    int sum;
    w = td_tensor::create("i8", "32 64");
    x = td_tensor::create("i8", "64");
    y = td_tensor::create("i32", "32");
    w.fill_random(1);
    x.fill_random(2);
    for (longint unsigned r = 0; r < 32; r++) begin
      sum = 0;
      for (longint unsigned c = 0; c < 64; c++) sum += int'(w.get_real(64 * r + c)) * int'(x.get_real(c));
      y.set_real(r, real'(sum));
    end
    w_rows = td_layout::create("r (w l) -> (r w) l", "l=8");
    x_rows = td_layout::create("(w l) -> w l", "l=8", "0x100 + w");
    y_rows = td_layout::create("(w l) -> w l", "l=2", "0x200 + w");
  endtask

  // ---- one run

  int wrong = 0;

  task automatic hold(input bit true_of, input string what);
    if (!true_of) begin
      $display("  WRONG: %s", what);
      wrong++;
    end
  endtask

  // Runs the accelerator; `differ` results of y are not as they should be.
  task automatic multiply(output longint unsigned differ);
    td_tensor got = td_tensor::create("i32", "32");
    @(negedge clk) start = 1'b1;
    @(negedge clk) start = 1'b0;
    while (!done) @(negedge clk);
    @(negedge clk);
    pad.backdoor_dump_tensor(got, y_rows);
    differ = 0;
    for (longint unsigned r = 0; r < 32; r++) if (got.get_bits(r) != y.get_bits(r)) differ++;
    $display("  the accelerator: %0d of 32 results wrong, %0d half words corrected, %s", differ, corrected,
             alarm ? $sformatf("alarm at word 0x%0h", alarm_addr) : "no alarm");
    got.destroy();
  endtask

  // ---- what is tried

  task automatic no_errors();
    longint unsigned differ;
    $display("as it should be");
    multiply(differ);
    hold(differ == 0 && corrected == 0 && !alarm, "a run without errors");
  endtask

  // One bit in each of twenty words of W: data bits and check bits.
  task automatic single_errors();
    td_faults faults = td_faults::inject_coded(coded, code, "words=20 bits=1 first=0 count=256 seed=7");
    longint unsigned differ;
    $display("one wrong bit in each of %0d words", faults.count());
    multiply(differ);
    hold(differ == 0 && corrected == 20 && !alarm, "single errors are corrected");
    hold(faults.undo() == 0, "all faults are taken back");
  endtask

  // The same bit of all rows of one macro, as a broken column gives it: one bit of every fourth word.
  task automatic broken_column();
    td_memory macro = macros.bank(1);
    td_faults faults = td_faults::inject(macro, "words=64 bit=17");
    td_report report;
    longint unsigned differ;
    $display("column 17 of macro 1, all rows");
    multiply(differ);
    hold(differ == 0 && corrected == 64 && !alarm, "a broken column is corrected");
    look(report);
    hold(report.guess() == "all wrong bits in column 17 of macro 1 \"macro[1]\": a bit line?",
         "the report names the column");
    report.destroy();
    hold(faults.undo() == 0, "all faults are taken back");
  endtask

  // The words of W as they stand against W; says where they differ.
  task automatic look(output td_report report);
    string message;
    td_status_e status;
    status = unchecked.try_backdoor_compare_tensor(w, w_rows, "max=1", "", report, message);
    if (status != TD_OK) $fatal(1, message);
    $display("%s", report.text());
  endtask

  // Two bits of one element of W. The design raises its alarm; a dump of W is refused and names the element; without
  // the check, a comparison finds the wrong bits in the macro and the row that they lie in.
  task automatic double_error();
    td_tensor copy = td_tensor::create("i8", "32 64");
    td_faults faults = td_faults::inject_at(pad, w, w_rows, "5 10", "bits=2 seed=3");
    td_report report;
    longint unsigned differ;
    longint unsigned expected, actual, bank, address;
    int msb, lsb;
    string at;
    string message;
    td_status_e status;
    $display("two wrong bits in w[5][10]");
    multiply(differ);
    hold(differ == 1 && corrected == 0 && alarm, "a double error raises the alarm, and one result is wrong");

    status = pad.try_backdoor_dump_tensor(copy, w_rows, "", message);
    $display("  the back door: %s", message);
    hold(status == TD_UNCORRECTABLE, "the dump is refused");

    look(report);
    status = report.try_first(0, at, expected, actual, bank, address, msb, lsb, message);
    if (status != TD_OK) $fatal(1, message);
    hold(report.mismatches() == 1 && at == "5 10", "the comparison finds the element");
    hold(address == 64'(alarm_addr), "the alarm and the report say the same word");
    hold(faults.undo() == 0, "all faults are taken back");
    report.destroy();
    copy.destroy();
  endtask

  initial begin
    find_memory();
    make_tensors();
    repeat (2) @(negedge clk);
    rst_n = 1'b1;

    pad.backdoor_load_tensor(w, w_rows);
    pad.backdoor_load_tensor(x, x_rows);
    no_errors();
    single_errors();
    broken_column();
    double_error();
    no_errors();

    if (wrong != 0) $fatal(1, "%0d things are wrong", wrong);
    $display("scratchpad of macros: all as expected");
    $finish;
  end
endmodule
