// Comparisons from SystemVerilog: reports with their numbers, loud lines and pages, and what is refused.
`include "td_macros.svh"

module tb_compare;
  import td_pkg::*;
  import tap_pkg::*;

  logic [63:0] held[0:63];
  `TD_MEM_CLASS(held_mem, tb_compare.held, 64)

  // Keeps what the loud comparisons say, and failures.
  class listener extends td_reporter;
    int    count;
    bit    passed;
    string line;
    string table_text;

    virtual function void mismatches(input string text);
      table_text = text;
      line = "";
    endfunction

    virtual function void compared(input bit passed, input string line);
      count++;
      this.passed = passed;
      this.line = line;
    endfunction

    virtual function void failure(input td_status_e status, input string message);
      line = $sformatf("%s: %s", status.name(), message);
    endfunction

    function void install();
      td_reporter base;
      base = this;
      td_reporter::install(base);
    endfunction
  endclass

  listener seen = new;
  td_tensor golden;
  td_layout layout;
  td_memory memory;
  td_report report;
  td_tensor no_tensor;  // a variable, because older versions of Verilator do not take null as an argument
  string message;
  td_status_e status;

  task automatic agreement();
    report = memory.backdoor_compare_tensor(golden, layout);
    ok(report.passed(), "what was loaded matches");
    equal(report.compared(), 48, "every element was compared");
    equal(report.mismatches(), 0, "and none differs");
    ok(seen.count == 1 && seen.passed, "one line");
    same(seen.line, "compare \"obuf\" with golden i16 (2, 3, 8), policy exact: all 48 elements match", "which says so");
    same(report.guess(), "", "nothing to guess");
    report.destroy();
  endtask

  task automatic mismatches();
    string at;
    longint unsigned expected, actual, bank, address;
    int msb, lsb;
    memory.set_bits(5, memory.get_bits(5) ^ 64'h0000_0100_0000_0000);
    report = memory.backdoor_compare_tensor(golden, layout, "max=4");
    ok(!report.passed(), "a flipped bit is found");
    equal(report.mismatches(), 1, "in one element");
    equal(longint'(report.worst_ulp()), 256, "so far off");
    ok(report.worst_error() == 256.0, "in value too");
    equal(longint'(report.first_count()), 1, "and it is kept");
    ok(seen.count == 2 && !seen.passed, "one more line");
    same(seen.line, {"compare \"obuf\" with golden i16 (2, 3, 8), policy max=4: 1 of 48 elements differs, worst 256 ",
                     "steps, ",
                     "256 in value; first at (0, 2, 6): expected 22 (0x0016), got 278 (0x0116) at address 0x5 bits ",
                     "47:32"},
         "with the place");
    same(seen.table_text, report.text(), "and the table before it");
    status = report.try_first(0, at, expected, actual, bank, address, msb, lsb, message);
    same(at, "0 2 6", "its coordinate");
    ok(expected == 22 && actual == 278 && bank == 0 && address == 5 && msb == 47 && lsb == 32,
       "its bits and its place");
    status = report.try_first(1, at, expected, actual, bank, address, msb, lsb, message);
    refused(status, TD_RANGE, message, "report_first: mismatch 1 of 1 kept; pass max=2 in the policy to keep more",
            "past the last");
    starts(report.text(),
           "compare \"obuf\" with golden i16 (2, 3, 8), policy max=4: 1 of 48 elements differs\n  worst: 256 steps",
           "the text for a log");
    report.destroy();
    ok(!report.passed(), "numbers stay after the end");
    same(report.text(), "", "but no text");
    starts(seen.line, "TD_HANDLE: report_text: the report with handle", "which is said");
    status = memory.try_backdoor_compare_tensor(golden, layout, "ulp=256", "", report, message);
    ok(status == TD_OK && report.passed(), "a policy accepts it");
    ok(seen.count == 2, "and the quiet twin says nothing");
    report.destroy();
  endtask

  task automatic pages();
    int    file;
    string text;
    bit    timed = 1'b0;
    td_report::html_dir = ".";  // once: Verilator 5.006 drops the first of two assignments in one block
    report = memory.backdoor_compare_tensor(golden, layout);
    same(report.page(), "./0_obuf.html", "a page where the testbench wants them");
    file = $fopen(report.page(), "r");
    ok(file != 0, "is written");
    while (file != 0 && $fgets(text, file) != 0)
      if (text.len() > 9 && text.substr(0, 7) == " \"time\":") timed = 1'b1;
    ok(timed, "with the time of the simulation");
    if (file != 0) $fclose(file);
    same(seen.line.substr(seen.line.len() - 19, seen.line.len() - 1), "; see ./0_obuf.html", "and stands in the line");
    report.html("no/folder.html");
    same(seen.line, {"TD_FILE: report_html \"no/folder.html\": cannot create the file: No such file or directory; ",
                     "check the folder ",
                     "and its permissions"}, "a page that cannot be");
    report.destroy();
  endtask

  function automatic bit mentions(input string text, input string word);
    for (int i = 0; i + word.len() <= text.len(); i++) if (text.substr(i, i + word.len() - 1) == word) return 1'b1;
    return 1'b0;
  endfunction

  function automatic bit file_mentions(input string path, input string word);
    int    file;
    string text;
    bit    found = 1'b0;
    file = $fopen(path, "r");
    while (file != 0 && !found && $fgets(text, file) != 0) found = text.len() < 1000 && mentions(text, word);
    if (file != 0) $fclose(file);
    return found;
  endfunction

  task automatic others();
    td_tensor other;
    td_bank_set banks;
    td_layout split;
    other = td_tensor::create("i16", "2 3 8");
    report = golden.compare(other);
    equal(report.mismatches(), 47, "two tensors");
    report.destroy();
    split = td_layout::create("b w c -> b w c");
    banks = td_bank_set::create("act", 2, 128, 4);
    banks.backdoor_load_tensor(golden, split);
    report = banks.backdoor_compare_tensor(golden, split);
    ok(report.passed(), "banks match");
    report.destroy();
    banks.bank(1).clear();
    report = banks.backdoor_compare_tensor(golden, split);
    same(report.guess(), "all mismatches in bank 1 \"act[1]\"", "a bank that was lost");
    ok(mentions(seen.line, "compare \"act[0]\" and 1 more bank with golden i16"), "the line counts the banks");
    ok(mentions(seen.line, " of bank 1 \"act[1]\""), "and names it");
    ok(mentions(seen.table_text, " 1 act[1] "), "so does the table");
    report.html("banks.html");
    ok(file_mentions("banks.html", "\"bank_names\": [\"act[0]\", \"act[1]\"]"), "and the page");
    report.destroy();
    banks.destroy();
    other.destroy();
  endtask

  task automatic in_the_design();
    td_memory dut;
    dut = held_mem::create("dut");
    dut.backdoor_load_tensor(golden, layout);
    report = dut.backdoor_compare_tensor(golden, layout);
    ok(report.passed(), "a memory in the design matches");
    report.destroy();
    for (int w = 0; w < 12; w++) held[w][31:16] = 16'h0bad;
    report = dut.backdoor_compare_tensor(golden, layout);
    equal(report.mismatches(), 12, "and what the design writes is seen");
    same(report.guess(), "all mismatches in lane 1", "as a stuck lane");
    report.destroy();
  endtask

  // A mask, and a snapshot that finds what was written outside the layout: in the library, in the design, over banks.
  task automatic masked(input td_backdoor door, input string what);
    td_comparison wanted;
    td_tensor     mask;
    td_snapshot   earlier;
    td_layout     plain;
    wanted = new;
    mask = td_tensor::create("u1", "2 3 8");
    plain = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4");
    for (int i = 0; i < 48; i++) mask.set_bits(64'(i), i == 22 ? 0 : 1);
    door.clear();
    door.backdoor_load_tensor(golden, plain);
    earlier = door.take_snapshot();
    door.set_bits(5, door.get_bits(5) ^ 64'h0000_0100_0000_0000);  // element 22
    wanted.set_golden(golden);
    wanted.set_layout(plain);
    report = door.backdoor_compare(wanted);
    equal(report.mismatches(), 1, {what, ": without a mask"});
    report.destroy();
    wanted.set_mask(mask);
    report = door.backdoor_compare(wanted);
    ok(report.passed() && report.compared() == 47, {what, ": an element that the mask leaves out"});
    report.destroy();
    wanted.set_snapshot(earlier);
    report = door.backdoor_compare(wanted);
    ok(report.passed() && report.outside_bits() == 0, {what, ": nothing outside the layout"});
    report.destroy();
    door.set_bits(40, 64'h11);
    report = door.backdoor_compare(wanted);
    ok(!report.passed() && report.outside_bits() == 2, {what, ": two bits outside it"});
    report.destroy();
    wanted.policy = "ulps=1";
    status = door.try_backdoor_compare(wanted, report, message);
    ok(status == TD_OPTION && report == null, {what, ": a slip in the policy"});
    earlier.destroy();
    mask.destroy();
    plain.destroy();
  endtask

  task automatic masks();
    td_memory   one;
    td_memory   dut;
    td_bank_set banks;
    td_backdoor door;
    one = td_memory::create("one", 64, 64);
    door = one;
    masked(door, "a memory");
    dut = held_mem::create("dut");
    door = dut;
    masked(door, "the design");
    banks = new("two");
    banks.add(dut);
    one.destroy();
    one = td_memory::create("one", 64, 64);
    banks.add(one);
    door = banks;
    masked_banks(door);
    one.destroy();
    dut.destroy();
    banks.destroy();
  endtask

  task automatic masked_banks(input td_backdoor door);
    td_comparison wanted;
    td_snapshot   earlier;
    td_layout     split;
    wanted = new;
    split = td_layout::create("b w (ct cs) -> b (w ct) cs", "cs=4");
    door.backdoor_load_tensor(golden, split);
    earlier = door.take_snapshot();
    wanted.set_golden(golden);
    wanted.set_layout(split);
    wanted.set_snapshot(earlier);
    report = door.backdoor_compare(wanted);
    ok(report.passed(), "banks: as they were");
    report.destroy();
    held[50][3] = !held[50][3];
    report = door.backdoor_compare(wanted);
    ok(!report.passed() && report.outside_bits() == 1, "banks: a bit that the design has changed");
    report.destroy();
    earlier.destroy();
    split.destroy();
  endtask

  task automatic refusals();
    td_comparison wanted;
    report = memory.backdoor_compare(wanted);
    ok(report == null, "no report without a td_comparison");
    same(seen.line, "TD_HANDLE: backdoor_compare \"obuf\": the td_comparison is null; create it first", "is said");
    wanted = new;
    wanted.set_golden(no_tensor);
    wanted.set_layout(layout);
    wanted.set_mask(no_tensor);
    report = memory.backdoor_compare(wanted);
    starts(seen.line, "TD_HANDLE: ", "a null golden tensor in it is refused");
    wanted.set_golden(golden);
    report = memory.backdoor_compare(wanted);
    ok(report != null && report.compared() == 48, "a null mask is none");
    report.destroy();
    report = memory.backdoor_compare_tensor(no_tensor, layout);
    ok(report == null, "no report without a golden tensor");
    same(seen.line, "TD_HANDLE: backdoor_compare_tensor: the tensor is null; create it first", "loud");
    report = memory.backdoor_compare_tensor(golden, layout, "ulps=1");
    starts(seen.line, {"TD_OPTION: backdoor_compare_tensor \"obuf\": unknown word \"ulps=1\" in policy \"ulps=1\"; ",
                       "did you mean \"ulp=\"?"},
           "a slip in the policy");
    report = golden.compare(no_tensor);
    same(seen.line, "TD_HANDLE: tensor_compare: the tensor is null; create it first", "no tensor to compare with");
  endtask

  // Where the call stands, with TD_AT alone.
  task automatic places();
    string here;
    here = "";
    `TD_AT(report = memory.backdoor_compare_tensor(no_tensor, layout)) here = $sformatf("%s:%0d", `__FILE__, `__LINE__);
    same(seen.line, {"TD_HANDLE: backdoor_compare_tensor: the tensor is null; create it first; called at ", here},
         "a refused call says where it stands");
    `TD_AT(report = memory.backdoor_compare_tensor(golden, layout)) here = $sformatf("%s:%0d", `__FILE__, `__LINE__);
    ok(ends(seen.line, {"; called at ", here}), "and so does a comparison");
    ok(ends(here, $sformatf("tb_compare.sv:%0d", `__LINE__ - 2)), "with file and line");
    report.destroy();
    report = golden.compare(no_tensor);
    same(seen.line, "TD_HANDLE: tensor_compare: the tensor is null; create it first", "the next call does not");
  endtask

  function automatic bit ends(input string text, input string with_text);
    return text.len() >= with_text.len() && text.substr(text.len() - with_text.len(), text.len() - 1) == with_text;
  endfunction

  initial begin
    seen.install();
    golden = td_tensor::create("i16", "2 3 8");
    golden.fill_ramp();
    layout = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4");
    memory = td_memory::create("obuf", 64, 64);
    memory.backdoor_load_tensor(golden, layout);
    agreement();
    mismatches();
    others();
    in_the_design();
    masks();
    refusals();
    places();
    pages();
    finish();
  end
endmodule
