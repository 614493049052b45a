// Layouts by other ways than three strings: presets, layout files, explanations, and loads over several banks.
module tb_layouts;
  import td_pkg::*;
  import tap_pkg::*;

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

  initial begin
    seen.install();
    presets();
    files();
    explanations();
    banks();
    finish();
  end
endmodule
