// Layouts by other ways than three strings: presets, layout files, explanations, and loads over several banks. Then
// flat and skewed layouts and parts of files, in a memory of the library and in an array of the design, each against a
// model of the words that is kept here.
`include "td_macros.svh"

module tb_layouts;
  import td_pkg::*;
  import tap_pkg::*;

  logic [31:0] words[0:63];
  `TD_MEM_CLASS(words_mem, tb_layouts.words, 32)

  recorder seen = new;
  td_tensor no_tensor;  // a variable, because older versions of Verilator do not take null as an argument
  string message;
  td_status_e status;

  task automatic presets();
    td_layout layout;
    layout = td_layout::create("preset:nc1hwc0 c0=32", "base=0x10");
    same(layout.pattern(), "n (c1 c0) h w -> (n c1 h w) c0", "a preset prints as its pattern");
    same(layout.options(), "c0=32 pad=0", "with its options");
    same(layout.address(), "16 + index", "and its address");
    layout.destroy();
    status = td_layout::try_create("preset:nc1hwco", "", "", layout, message);
    refused(status, TD_OPTION, message, "layout_create: unknown preset nc1hwco; did you mean nc1hwc0?", "a slip");
  endtask

  task automatic files();
    td_layout layout;
    td_tensor t;
    td_memory m;
    int file;
    file = $fopen("layouts.txt", "w");
    $fdisplay(file, "# shared with the golden model");
    $fdisplay(file, "weights: pattern r c -> r c; address 4 + r;");
    $fdisplay(file, "         as i8 scale=0.5");
    $fclose(file);
    layout = td_layout::open("layouts.txt", "weights");
    same(layout.address(), "4 + r", "a layout out of a file");
    same(layout.conversion(), "i8 scale=0.5", "with its conversion");
    t = td_tensor::create("f32", "2 4");
    t.fill_ramp(1.0, 1.0);
    m = td_memory::create("m", 32, 8);
    m.backdoor_load_tensor(t, layout);
    equal(m.get_bits(5), 64'h100e0c0a, "which a load without one uses");
    status = td_layout::try_open("layouts.txt", "weight", layout, message);
    refused(status, TD_FORMAT, message, "layout_open \"layouts.txt\": no layout weight; did you mean weights?",
            "a slip");
    ok(layout == null, "and no layout");
    layout = td_layout::open("none.txt", "weights");
    starts(seen.take(), "TD_FILE: layout_open \"none.txt\": cannot open the file", "no file, loud");
  endtask

  task automatic explanations();
    td_layout layout;
    string text;
    layout = td_layout::create("r c -> r c");
    text = layout.explain("i8", "2 4");
    starts(text, {"pattern   r c -> r c\noptions   none\naddress   index\ntensor    i8 (2, 4)\nmemory    i8 in words ",
                  "of 32 bits"},
           "an explanation");
    status = layout.try_explain("i8", "2 4", 16, 0, 0, "", text, message);
    starts(message, "layout_explain: the lanes of \"r c -> r c\" end at bit 32", "what a load would refuse");
    text = layout.explain("i8", "2 x");
    same(seen.take(), "TD_SHAPE: shape \"2 x\": a number is needed at column 3; write it as \"2 3 4\"",
         "no shape, loud");
    layout.destroy();
    text = layout.explain("i8", "2 4");
    starts(seen.take(), "TD_HANDLE: layout_explain: the layout with handle", "after its end, loud");
  endtask

  task automatic banks();
    td_bank_set set, few;
    td_layout layout;
    td_tensor t, back;
    td_memory m;
    int wrong;
    set = td_bank_set::create("abuf", 3, 32, 4);
    equal(64'(set.size()), 3, "three banks");
    m = set.bank(2);
    same(m.name(), "abuf[2]", "each with its name");
    ok(set.bank(3) == null, "and no fourth");
    t = td_tensor::create("u8", "5 8");
    back = td_tensor::create("u8", "5 8");
    t.fill_ramp(0.0, 1.0);
    layout = td_layout::create("r (ct cs) -> (r ct) cs", "cs=4", "bank = index % 3; addr = index / 3");
    set.backdoor_load_tensor(t, layout);
    m = set.bank(0);
    equal(m.get_bits(3), 64'h27262524, "word 9 is the fourth of bank 0");
    m = set.bank(1);
    equal(m.get_bits(2), 64'h1f1e1d1c, "word 7 is the third of bank 1");
    set.backdoor_dump_tensor(back, layout);
    wrong = 0;
    for (longint unsigned i = 0; i < 40; i++) if (back.get_bits(i) != i) wrong++;
    equal(64'(wrong), 0, "and all of it comes back");
    same(seen.take(), "", "none of this is reported");

    few = new;
    few.add(set.bank(0));
    few.add(set.bank(1));
    status = few.try_backdoor_load_tensor(t, layout, "", message);
    starts(message, "backdoor_load_tensor \"abuf[0]\": bank 2 of word r=1 ct=0 of", "a bank too few");
    few.add(set.bank(2));
    few.backdoor_dump_tensor(back, layout);
    same(seen.take(), "", "with the third one it goes");
    few.destroy();
    status = few.try_backdoor_dump_tensor(back, layout, "", message);
    refused(status, TD_ARGUMENT, message, "backdoor_dump_tensor: no memory; pass at least one", "an empty set");
    set.backdoor_load_tensor(no_tensor, layout);
    starts(seen.take(), "TD_HANDLE: backdoor_load_tensor: ", "no tensor, loud");
    status = td_bank_set::try_create("zero", 2, 0, 4, few, message);
    ok(status == TD_ARGUMENT && few == null, "banks of no width");
    set.destroy();
    status = m.try_clear(message);
    ok(status == TD_HANDLE, "the set's own memories end with it");
  endtask

  // ---- against a model

  bit [7:0] model[0:255];  // the bytes of 64 words of 32 bits

  task automatic stripe(input td_memory memory);
    for (int i = 0; i < 256; i++) model[i] = 8'ha5 ^ 8'(i);
    for (int w = 0; w < 64; w++) memory.set_bits(64'(w), {32'd0, model_word(w)});
  endtask

  function automatic bit [31:0] model_word(input int w);
    return {model[4*w+3], model[4*w+2], model[4*w+1], model[4*w]};
  endfunction

  task automatic as_the_model(input td_memory memory, input string what);
    int wrong;
    wrong = 0;
    for (int w = 0; w < 64; w++) if (memory.get_bits(64'(w)) != {32'd0, model_word(w)}) wrong++;
    equal(64'(wrong), 0, what);
  endtask

  task automatic round_trip(input td_memory memory, input td_tensor given, input td_layout layout, input string what);
    td_tensor back;
    td_report report;
    int       wrong;
    back = td_tensor::create(given.dtype(), given.shape());
    memory.backdoor_dump_tensor(back, layout);
    wrong = 0;
    for (longint unsigned i = 0; i < given.elems(); i++) if (back.get_bits(i) != given.get_bits(i)) wrong++;
    equal(64'(wrong), 0, {what, ": a dump gives the same elements"});
    status = memory.try_backdoor_compare_tensor(given, layout, "", "", report, message);
    ok(status == TD_OK && report.passed(), {what, ": a comparison passes"});
    report.destroy();
    back.destroy();
  endtask

  // int8_t kernel[4][3][3][3] at byte 0x15: rows and the array's ends lie within words.
  task automatic flat(input td_memory memory, input string what);
    td_tensor kernel;
    td_layout layout;
    kernel = td_tensor::create("i8", "4 3 3 3");
    kernel.fill("random seed=3");
    layout = td_layout::create("... -> (...)", "addr_unit=byte", "0x15");
    stripe(memory);
    memory.backdoor_load_tensor(kernel, layout);
    for (int i = 0; i < 108; i++) model['h15+i] = 8'(kernel.get_bits(64'(i)));
    as_the_model(memory, {what, ": a C array at a byte address, its neighbours kept"});
    round_trip(memory, kernel, layout, {what, ", flat"});
    kernel.destroy();
    layout.destroy();

    // The same by bit, with elements that lie across words: lsb=13, 12 bits each.
    kernel = td_tensor::create("u12", "7 5");
    kernel.fill("random seed=4");
    layout = td_layout::create("... -> (...)", "lsb=13", "3");
    stripe(memory);
    memory.backdoor_load_tensor(kernel, layout);
    for (int i = 0; i < 35; i++)
      for (int b = 0; b < 12; b++) begin
        int bit_at;
        bit_at = 3 * 32 + 13 + 12 * i + b;
        model[bit_at/8][bit_at%8] = 1'(kernel.get_bits(64'(i)) >> b);
      end
    as_the_model(memory, {what, ": elements of 12 bits through the words"});
    round_trip(memory, kernel, layout, {what, ", by bit"});
    kernel.destroy();
    layout.destroy();
  endtask

  // Lane c of row r in word 8 + r + c: the operand of a systolic array.
  task automatic skewed(input td_memory memory, input bit keep, input string what);
    td_tensor operand;
    td_layout layout;
    operand = td_tensor::create("u8", "6 4");
    operand.fill("random seed=5");
    layout = td_layout::create("r c -> r c", keep ? "fill=keep" : "", "8 + r + c");
    stripe(memory);
    memory.backdoor_load_tensor(operand, layout);
    if (!keep) for (int i = 32; i < 32 + 9 * 4; i++) model[i] = 8'd0;
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 4; c++) model[4*(8+r+c)+c] = 8'(operand.get_bits(64'(unsigned'(4 * r + c))));
    as_the_model(memory, {what, ": each lane a word later"});
    round_trip(memory, operand, layout, {what, ", skewed"});
    operand.destroy();
    layout.destroy();
  endtask

  // 80 words, of which 64 lie in the memory; and with a base, of which 8 lie in front of it.
  task automatic file_parts(input td_memory memory, input string what);
    td_memory        whole;
    longint unsigned bytes, first, last;
    whole = td_memory::create("whole", 32, 80);
    whole.fill("random seed=9");
    whole.save_file("whole.srec");
    stripe(memory);
    equal(memory.load_file_part("srec,outside=skip:whole.srec"), 64, {what, ": the bytes that lie outside"});
    for (int i = 0; i < 256; i++) model[i] = 8'(whole.get_bits(64'(unsigned'(i / 4))) >> (8 * (i % 4)));
    as_the_model(memory, {what, ": and all that lie inside"});
    status = memory.try_load_file_part("srec,base=32,outside=skip:whole.srec", bytes, first, last, message);
    ok(status == TD_OK && bytes == 64 && first == 0 && last == 319, {what, ": in front of the base and behind"});
    for (int i = 0; i < 256; i++) model[i] = 8'(whole.get_bits(64'(unsigned'(8 + i / 4))) >> (8 * (i % 4)));
    as_the_model(memory, {what, ": from the base on"});
    status = memory.try_load_file_part("whole.srec", bytes, first, last, message);
    ok(status == TD_RANGE && bytes == 0, {what, ": without outside=skip it is refused"});
    as_the_model(memory, {what, ": and changes nothing"});
    equal(memory.load_file_part("srec,base=0x1000,outside=skip:whole.srec"), 0, {what, ": nothing of it inside"});
    starts(seen.take(), "TD_RANGE: memory_load_file \"srec,base=0x1000,outside=skip:whole.srec\": nothing of the file",
           {what, ": loud"});
    whole.destroy();
  endtask

  task automatic both(input td_memory memory, input string what);
    flat(memory, what);
    skewed(memory, 1'b0, what);
    skewed(memory, 1'b1, {what, ", kept"});
    file_parts(memory, what);
    same(seen.take(), "", {what, ": nothing else is reported"});
    memory.destroy();
  endtask

  initial begin
    seen.install();
    presets();
    files();
    explanations();
    banks();
    both(td_memory::create("own", 32, 64), "own");
    both(words_mem::create("design"), "design");
    finish();
  end
endmodule
