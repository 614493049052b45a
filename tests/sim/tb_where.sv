// Where elements and bits lie: macros of the design under a memory, from the tensor down and back; and what a report
// of such a memory says.
`include "td_macros.svh"

// 64 words of 16 bits in four macros: two tiles by depth, two slices, four words in a row. Bit b of word w is in macro
// 2*(w/32) + b/8, row w/4 % 8, column 4*(b%8) + w%4.
module where_sram;
  for (genvar m = 0; m < 4; m++) begin : gen_macro
    logic [31:0] mem[0:7];
  end
endmodule

`TD_BANKS_MODULE(where_macro, tb_where.u_sram.gen_macro[bank].mem, 32)

module tb_where;
  import td_pkg::*;
  import tap_pkg::*;

  where_sram u_sram ();
  where_macro #(4) u_macros ();

  recorder    seen = new;
  string      message;
  td_status_e status;

  td_bank_set macros;
  td_memory   wbuf;
  td_memory   nothing;
  td_tensor   t;
  td_layout   organisation;
  td_layout   rows;
  td_where    where;
  td_report   report;

  // The formula above for every bit, from the word and from the row.
  function automatic bit all_right();
    td_where         down;
    td_where         up;
    longint unsigned macro_number;
    longint unsigned row;
    longint unsigned column;
    for (longint unsigned w = 0; w < 64; w++)
      for (longint unsigned b = 0; b < 16; b++) begin
        macro_number = 2 * (w / 32) + b / 8;
        row    = w / 4 % 8;
        column = 4 * (b % 8) + w % 4;
        down   = td_where::of_word(wbuf, w, b, 1);
        up     = td_where::of_row(wbuf, macro_number, row, column, 1);
        if (down.count() != 1 || up.count() != 1) return 1'b0;
        if (down.macro_number(0) != macro_number || down.row(0) != row || down.column(0) != column) return 1'b0;
        if (up.word(0) != w || up.lsb(0) != b || !up.is_data(0)) return 1'b0;
      end
    return 1'b1;
  endfunction

  // Over banks the layout says the bank: element (b, 4r + l) is lane l of word r of bank b.
  task automatic over_banks();
    td_tensor   b_tensor;
    td_layout   b_layout;
    td_where    found;
    td_bank_set no_banks;
    b_tensor = td_tensor::create("u8", "4 8");
    b_layout = td_layout::create("b (r l) -> b r l", "l=4");
    found = td_where::of_element_in(macros, b_tensor, b_layout, "2 5");
    ok(found.count() == 1 && found.bank(0) == 2 && found.word(0) == 1 && found.lsb(0) == 8, "an element over banks");
    found = td_where::elements_of_word_in(macros, 3, b_tensor, b_layout, 1, 16, 8);
    ok(found.has_element(0) && found.element(0) == 30, "and back from a word of a bank");
    status = td_where::try_elements_of_word_in(macros, 4, b_tensor, b_layout, 1, 0, 0, "", found, message);
    ok(status == TD_RANGE && found == null, "a bank that is not there");
    status = td_where::try_of_element_in(no_banks, b_tensor, b_layout, "0 0", "", found, message);
    ok(status == TD_ARGUMENT, "no banks");
    same(message, "where: a set of no banks; add one", "by its message");
    b_tensor.destroy();
    b_layout.destroy();
  endtask

  initial begin
    seen.install();
    macros       = u_macros.create("macro");
    organisation = td_layout::create("(t r p) (s k) -> (t s) r (k p)", "t=2 s=2 p=4");
    wbuf         = td_memory::over("wbuf", 16, 64, organisation, macros);
    over_banks();
    t            = td_tensor::create("i12", "48");
    rows         = td_layout::create("r -> r 1", "", "8 + r");

    where = td_where::of_element(wbuf, t, rows, "30");
    equal(64'(where.count()), 2, "an element in two slices has two runs");
    same(where.line(0),
         "element (30) bits 7:0, \"wbuf\" word 0x26 bits 7:0, macro 2 \"macro[2]\" row 1 bits 30:2 step 4",
         "its low bits");
    same(where.line(1),
         "element (30) bits 11:8, \"wbuf\" word 0x26 bits 11:8, macro 3 \"macro[3]\" row 1 bits 14:2 step 4",
         "its high bits");
    same(where.text(), {where.line(0), "\n", where.line(1), "\n"}, "both in the text");
    same(where.line(2), "", "and no more");
    equal(where.bits(1), 4, "bits");
    equal(where.word(1), 'h26, "word");
    equal(where.lsb(1), 8, "lsb");
    ok(where.has_element(1), "has_element");
    equal(where.element(1), 30, "element");
    equal(where.element_lsb(1), 8, "element_lsb");
    equal(where.copy(1), 0, "copy");
    equal(where.macro_number(1), 3, "macro_number");
    equal(where.row(1), 1, "row");
    equal(where.column(1), 2, "column");
    equal(where.column_step(1), 4, "column_step");
    ok(where.is_data(1) && !where.is_check(1), "is_data");

    ok(all_right(), "every bit lies where the formula says, and back");
    where = td_where::elements_of_word(wbuf, t, rows, 'h26, 10, 4);
    same(where.line(0),
         "element (30) bits 11:10, \"wbuf\" word 0x26 bits 11:10, macro 3 \"macro[3]\" row 1 bits 14:10 step 4",
         "the element of a word");
    same(where.line(1), "no element, \"wbuf\" word 0x26 bits 13:12, macro 3 \"macro[3]\" row 1 bits 22:18 step 4",
         "bits of no element");
    where = td_where::elements_of_row(wbuf, t, rows, 3, 1, 10, 1);
    same(where.text(), "element (30) bit 10, \"wbuf\" word 0x26 bit 10, macro 3 \"macro[3]\" row 1 bit 10\n",
         "the element of a column");

    // A column of the design is stuck.
    wbuf.backdoor_load_tensor(t, rows);
    u_sram.gen_macro[2].mem[1][6] = 1'b1;
    u_sram.gen_macro[2].mem[5][6] = 1'b1;
    status = wbuf.try_backdoor_compare_tensor(t, rows, "", "", report, message);
    same(report.guess(0), "all wrong bits in column 6 of macro 2 \"macro[2]\": a bit line?",
         "a report names the column");
    report.destroy();

    status = td_where::try_of_word(wbuf, 64, 0, 0, where, message);
    refused(status, TD_RANGE, message, "where \"wbuf\": word 0x40 of 0x40 in \"wbuf\"; pass 0 to 0x3f",
            "a word outside");
    ok(where == null, "gives nothing");
    status = td_where::try_of_row(wbuf, 4, 0, 0, 0, where, message);
    refused(status, TD_RANGE, message, "where \"wbuf\": macro 4 of 4; pass 0 to 3", "a macro that is not there");
    status = td_where::try_of_element(wbuf, t, rows, "1 2", "", where, message);
    refused(status, TD_SHAPE, message,
            "where \"wbuf\": coordinate \"1 2\" of a tensor of 1 dimensions; pass a number for each, as \"0 3 1\"",
            "a coordinate of another rank");
    status = td_where::try_of_element(wbuf, t, rows, "", "", where, message);
    refused(status, TD_SHAPE, message,
            "where \"wbuf\": coordinate \" \" of a tensor of 1 dimensions; pass a number for each, as \"0 3 1\"",
            "no coordinate");
    status = td_where::try_of_word(nothing, 0, 0, 0, where, message);
    refused(status, TD_HANDLE, message, "where: the memory, the tensor or the layout is null; create it first",
            "a memory that is null");
    where = td_where::of_row(wbuf, 0, 8);
    equal(64'(seen.count), 1, "a loud call reports");
    same(seen.message, "where \"wbuf\": row 8 of 8 in \"macro[0]\"; pass 0 to 7", "with the message");
    where = td_where::of_element(wbuf, t, rows, "48");
    same(seen.message, "where \"wbuf\": coordinate 48 in dimension 0, which has a length of 48; pass 0 to 47",
         "a coordinate outside");
    where = td_where::elements_of_word(wbuf, t, rows, 0, 16);
    same(seen.message, "where \"wbuf\": 1 bit from bit 16 on, of words of 16 bits in \"wbuf\"; pass bits below 16",
         "bits outside");
    where = td_where::elements_of_row(wbuf, t, rows, 9, 0);
    same(seen.message, "where \"wbuf\": macro 9 of 4; pass 0 to 3", "a macro outside");
    wbuf.destroy();
    finish();
  end
endmodule
