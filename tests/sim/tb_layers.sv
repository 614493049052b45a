// Memories with a code, and memories that go through a user's codec, over macros of the design. What every word should
// be in the macros is computed here: the code by td_code between memories of the library, the organisation by its
// formula.
`include "td_macros.svh"

// 128 coded words of 39 bits in six macros: two tiles by depth, three slices of 13 bits, two words in a row.
module layers_sram;
  for (genvar m = 0; m < 6; m++) begin : gen_macro
    logic [25:0] mem[0:31];
  end
endmodule

`TD_BANKS_MODULE(layers_macro, tb_layers.u_sram.gen_macro[bank].mem, 26)

// 192 coded words in two tiles: long enough runs for words to be coded and checked chunk by chunk.
module layers_tiles;
  for (genvar t = 0; t < 2; t++) begin : gen_tile
    logic [143:0] mem[0:95];
  end
endmodule

`TD_BANKS_MODULE(layers_tile, tb_layers.u_long.gen_tile[bank].mem, 144)

module tb_layers;
  import td_pkg::*;
  import tap_pkg::*;

  layers_sram u_sram ();
  layers_macro #(6) u_macros ();
  layers_tiles u_long ();
  layers_tile #(2) u_tiles ();

  recorder seen = new;
  string message;
  td_status_e status;

  td_bank_set macros;
  td_memory   raw;
  td_memory   memory;
  td_memory   twin;
  td_memory   twin_raw;
  td_code     code;
  bit         scrambled;  // the words go through the codec of tests/unit/codecs.c, too

  // What the codec makes of coded word w, and where it puts it.
  function automatic longint unsigned scramble(input int w, input longint unsigned bits);
    scramble = bits;
    for (int b = 0; b < 5; b++) scramble[8*b+:8] ^= 8'(7 * w + 29 * b);
    return scramble & 64'h7f_ffff_ffff;
  endfunction

  function automatic longint unsigned stored(input int w);
    return scrambled ? scramble(w, found(w ^ 1)) : found(w);
  endfunction

  // Bit b of coded word w: macro 3*t + s, row r, bit 2*k + p, with w = 64*t + 2*r + p and b = 13*s + k.
  function automatic longint unsigned found(input int w);
    td_memory        macro;
    longint unsigned row;
    found = 0;
    for (int s = 0; s < 3; s++) begin
      macro = macros.bank(w / 64 * 3 + s);
      row = macro.get_bits(64'(w) / 2 % 32);
      for (int k = 0; k < 13; k++) found[13*s+k] = row[2*k+w%2];
    end
  endfunction

  // The words of twin, coded, are those of the macros.
  function automatic void agree(input string what);
    int wrong;
    code.encode(twin, twin_raw);
    wrong = -1;
    for (int w = 127; w >= 0; w--) if (stored(w) != twin_raw.get_bits(64'(w))) wrong = w;
    ok(wrong < 0, what);
    if (wrong >= 0) $display("# word %0d is 0x%h, needed 0x%h", wrong, stored(wrong), twin_raw.get_bits(64'(wrong)));
  endfunction

  function automatic bit same_bits(input td_tensor a, input td_tensor b);
    for (longint unsigned i = 0; i < a.elems(); i++) if (a.get_bits(i) != b.get_bits(i)) return 1'b0;
    return 1'b1;
  endfunction

  task automatic counts(input longint unsigned corrected, input longint unsigned uncorrectable, input string what);
    longint unsigned good, bad;
    string           errors;
    memory.code_result(good, bad, errors, 1'b1);
    same($sformatf("%0d and %0d", good, bad), $sformatf("%0d and %0d", corrected, uncorrectable), what);
  endtask

  task automatic calls();
    td_addresses_t addresses;
    td_words_t     given, mask;
    td_tensor      t, back;
    td_layout      rows, kept;
    td_report      report;
    td_snapshot    earlier;
    td_comparison  what;
    memory.fill("random seed=3");
    twin.fill("random seed=3");
    agree("fill");
    memory.set_bits(77, 64'hcafef00d);
    twin.set_bits(77, 64'hcafef00d);
    agree("one word in a shared row");
    equal(memory.get_bits(77), 64'hcafef00d, "which reads back");
    addresses = new[4];
    given = new[4];
    mask = new[4];
    addresses = '{7, 127, 6, 0};
    given = '{32'h12345678, 32'h9abcdef0, 32'hffffffff, 32'h5};
    mask = '{32'hff00, 32'h1, 32'h80000000, 32'hffffffff};
    memory.backdoor_write_bits(addresses, given, mask);
    twin.backdoor_write_bits(addresses, given, mask);
    agree("parts of words have new check bits");
    t = td_tensor::create("i8", "30 4");
    back = td_tensor::create("i8", "30 4");
    t.fill_ramp(-60.0, 1.0);
    rows = td_layout::create("r c -> r c", "", "4*r + 3");
    memory.backdoor_load_tensor(t, rows);
    twin.backdoor_load_tensor(t, rows);
    agree("a tensor");
    memory.backdoor_dump_tensor(back, rows);
    ok(same_bits(back, t), "and back");
    kept = td_layout::create("r c -> r c", "fill=keep slot=4 lsb=9", "r");
    memory.backdoor_load_tensor(t, kept, "i4 sat");
    twin.backdoor_load_tensor(t, kept, "i4 sat");
    agree("bits of words, the others kept");
    memory.backdoor_load_tensor(t, rows);
    twin.backdoor_load_tensor(t, rows);
    status = memory.try_backdoor_compare_tensor(t, rows, "", "", report, message);
    equal(report.mismatches(), 0, "compared");
    earlier = memory.take_snapshot();
    what = new;
    what.set_golden(t);
    what.set_layout(rows);
    what.set_snapshot(earlier);
    status = memory.try_backdoor_compare(what, report, message);
    equal(report.mismatches(), 0, "with a snapshot");
    earlier.destroy();
    memory.save_file("layers.hex");
    memory.clear();
    twin.clear();
    agree("clear");
    memory.load_file("layers.hex");
    twin.load_file("layers.hex");
    agree("a file");
    counts(0, 0, "no error so far");
    t.destroy();
    back.destroy();
    rows.destroy();
    kept.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  // Wrong bits in the macros: corrected and counted, or refused.
  task automatic errors();
    td_faults        faults;
    td_tensor        t;
    td_layout        rows;
    td_memory        open;
    longint unsigned good, bad, word;
    string           lines;
    twin.fill("random seed=9");
    memory.fill("random seed=9");
    word = scrambled ? 74 : 75;
    u_sram.gen_macro[4].mem[5][7] = ~u_sram.gen_macro[4].mem[5][7]; // row 64 + 11, bit 13 + 3
    equal(memory.get_bits(word), twin.get_bits(word), "a wrong bit of a macro is corrected");
    memory.code_result(good, bad, lines);
    equal(good, 1, "and counted");
    same(lines, $sformatf("word 0x%0h subword 0: bit 16 corrected", word), "and said");
    memory.set_bits(word, memory.get_bits(word));
    counts(2, 0, "reads twice, once for the second read");
    agree("a write mends it");

    faults = td_faults::inject(raw, "words=9 bits=1 seed=4");
    t = td_tensor::create("u32", "128 1");
    rows = td_layout::create("r c -> r c");
    memory.backdoor_dump_tensor(t, rows);
    counts(9, 0, "nine of them in one dump");
    equal(faults.undo(), 0, "undone");
    agree("in the macros");

    faults = td_faults::inject(memory, "word=20 bits=2 seed=1");
    equal(faults.count(), 2, "two bits of one word, by the memory of the data");
    status = memory.try_backdoor_dump_tensor(t, rows, "", message);
    ok(status == TD_UNCORRECTABLE, "are refused");
    starts(message, "backdoor_dump_tensor \"memory\": element (20, 0): word 0x14 of \"memory\", subword 0: the ",
           "with the element and the word");
    counts(0, 1, "and counted");
    open = td_memory::coded("open", code, raw, "check=off");
    status = open.try_backdoor_dump_tensor(t, rows, "", message);
    ok(status == TD_OK, "but not without the check");
    status = open.try_destroy(message);
    memory.set_bits(20, 64'h600d);
    twin.set_bits(20, 64'h600d);
    agree("a write of the whole word mends it");
    faults.destroy();
    t.destroy();
    rows.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  task automatic refusals();
    td_code          no_code;
    td_memory        no_memory, made, narrow;
    longint unsigned good, bad;
    string           lines;
    made = td_memory::coded("wbuf", no_code, raw);
    same(seen.take(), "TD_HANDLE: memory_coded \"wbuf\": the code is null; create it first", "no code, loud");
    ok(made == null, "gives null");
    status = td_memory::try_coded("wbuf", code, no_memory, "", made, message);
    refused(status, TD_HANDLE, message,
            "memory_coded \"wbuf\": the memory of the coded words is null; create it first", "no memory");
    status = td_memory::try_coded("wbuf", code, raw, "chek=off", made, message);
    refused(status, TD_OPTION, message,
            {"memory_coded \"wbuf\": unknown word \"chek=off\"; did you mean \"check=off\"? ",
             "the words are check=on and check=off"}, "another option");
    narrow = td_memory::create("narrow", 38, 16);
    status = td_memory::try_coded("wbuf", code, narrow, "", made, message);
    starts(message, "memory_coded \"wbuf\": memory \"narrow\" has words of 38 bits", "another width");
    status = narrow.try_code_result(good, bad, lines, 1'b0, message);
    starts(message, "memory_code_result \"narrow\": ", "no code, no result");
    narrow.destroy();
    raw.destroy();
    same(seen.take(),
         "TD_ARGUMENT: memory_destroy \"raw\": 1 memory lies over it; destroy what lies above a memory before it",
         "what lies below is kept");
  endtask

  // A user's codec between the code and the macros.
  task automatic codecs();
    td_memory under, made, no_memory;
    string    path;
    if ($value$plusargs("codecs=%s", path) == 0) $fatal(1, "+codecs=FILE is missing");
    under = raw;
    raw = td_memory::through("scrambled", {path, ":mixed"}, under);
    memory = td_memory::coded("memory", code, raw);
    scrambled = 1'b1;
    calls();
    errors();
    memory.destroy();
    status = td_memory::try_through("wbuf", "./nowhere.so:prince", under, made, message);
    starts(message, "codec_open \"./nowhere.so:prince\": the library cannot be loaded: ", "no such library");
    ok(status == TD_FILE && made == null, "makes nothing");
    status = td_memory::try_through("wbuf", {path, ":mixed"}, no_memory, made, message);
    refused(status, TD_HANDLE, message, "memory_through \"wbuf\": the memory below is null; create it first",
            "nothing below");
    made = td_memory::through("wbuf", "prince", under);
    same(seen.take(),
         {"TD_ARGUMENT: codec_open \"prince\": no file and symbol; ",
          "pass FILE:SYMBOL, as ./scrambler.so:prince"}, "no file, loud");
    raw.destroy();
    raw = under;
    made = td_memory::through("direct", {path, ":mixed"}, macros.bank(3));
    made.set_bits(4, 64'h155);
    equal(made.get_bits(4), 64'h155, "a codec over a macro itself");
    for (int r = 0; r < 32; r++) u_sram.gen_macro[3].mem[r] = ~u_sram.gen_macro[3].mem[r];
    equal(made.get_bits(4), 64'h155 ^ 64'h3ff_ffff, "whose words are those of the design");
    made.destroy();
  endtask

  // Macros that have a code of their own, under words whose rows do not follow each other: an error in a row between
  // those of a call is left alone.
  task automatic rows_between();
    td_code          rows_code;
    td_memory        macro, wide;
    td_bank_set      coded;
    td_layout        order, dense;
    td_tensor        t, back;
    td_addresses_t   addresses;
    td_words_t       given, mask;
    logic [25:0]     wrong;
    longint unsigned value;
    rows_code = td_code::create("hsiao", 20);
    equal(rows_code.coded_bits(), 26, "a code that fills a row");
    macro = td_memory::coded("macro", rows_code, macros.bank(2));
    coded = new("coded");
    coded.add(macro);
    order = td_layout::create("(q r) k -> 1 (q r) k", "q=4", "4*r + q");
    wide = td_memory::over("wide", 20, 32, order, coded);
    wide.fill("random seed=2");
    u_sram.gen_macro[2].mem[2] ^= 26'h3;
    wrong = u_sram.gen_macro[2].mem[2];
    t = td_tensor::create("u4", "2 5");
    back = td_tensor::create("u4", "2 5");
    t.fill("random seed=8");
    dense = td_layout::create("w c -> w c");
    status = wide.try_backdoor_load_tensor(t, dense, "", message);
    equal(64'(status), 0, "rows 0 and 4 are loaded, row 2 is wrong");
    status = wide.try_backdoor_dump_tensor(back, dense, "", message);
    equal(64'(status), 0, "and dumped");
    ok(same_bits(back, t), "they are right");
    status = wide.try_set_bits(1, 64'h5a5a5, message);
    equal(64'(status), 0, "a word of them");
    addresses = new[2];
    given = new[2];
    mask = new[2];
    addresses = '{0, 1};
    given = '{32'h12345, 32'h54321};
    mask = '{32'hf0f, 32'h1};
    status = wide.try_backdoor_write_bits(addresses, given, mask, message);
    equal(64'(status), 0, "bits of them");
    ok(u_sram.gen_macro[2].mem[2] === wrong, "row 2 stands as it was");
    status = macro.try_get_bits(2, value, message);
    ok(status == TD_UNCORRECTABLE, "and is still wrong");
    starts(message, "backdoor_read \"macro\": word 0x2 of \"macro\", subword 0: the syndrome ",
           "by a code that lies over the macro itself");
    t.destroy();
    back.destroy();
    dense.destroy();
    wide.destroy();
    macro.destroy();
    rows_code.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  // Loads and dumps whose words never are in the library's copies of the arrays.
  task automatic long_tiles();
    td_layout   tiles, rows;
    td_code     wide;
    td_bank_set arrays;
    td_memory   coded, data, plain, plain_coded;
    td_tensor   in, out;
    int         wrong;
    arrays = u_tiles.create();
    tiles = td_layout::create("(t r) k -> t r k", "t=2");
    rows = td_layout::create("r c -> r c");
    wide = td_code::create("72_64", 128);
    coded = td_memory::over("coded", 144, 192, tiles, arrays);
    data = td_memory::coded("data", wide, coded);
    plain = td_memory::create("plain", 128, 192);
    plain_coded = td_memory::create("plain_coded", 144, 192);
    in = td_tensor::create("u32", "192 4");
    out = td_tensor::create("u32", "192 4");
    for (int round = 0; round < 3; round++) begin
      in.fill_random(64'(round) + 5);
      plain.backdoor_load_tensor(in, rows);
      wide.encode(plain, plain_coded);
      data.backdoor_load_tensor(in, rows);
      wrong = 0;
      for (int w = 0; w < 192; w++)
        if ((w < 96 ? u_long.gen_tile[0].mem[w] : u_long.gen_tile[1].mem[w-96]) !== coded_word(plain_coded, w)) wrong++;
      equal(64'(wrong), 0, "coded words in the tiles");
      data.backdoor_dump_tensor(out, rows);
      ok(same_tensors(in, out), "and back");
    end
    u_long.gen_tile[1].mem[50][70] = !u_long.gen_tile[1].mem[50][70];
    out.fill_random(1);
    data.backdoor_dump_tensor(out, rows);
    ok(same_tensors(in, out), "one wrong bit is corrected");
    u_long.gen_tile[1].mem[50][7] = !u_long.gen_tile[1].mem[50][7];
    out.fill_random(1);
    in.fill_random(1);
    same(seen.take(), "", "none of this is reported");
    ok(data.try_backdoor_dump_tensor(out, rows, "", message) == TD_UNCORRECTABLE, "two wrong bits are refused");
    ok(same_tensors(in, out), "and the tensor is as it was");
    data.destroy();
    coded.destroy();
    plain.destroy();
    plain_coded.destroy();
    arrays.destroy();
    in.destroy();
    out.destroy();
    rows.destroy();
    tiles.destroy();
    wide.destroy();
  endtask

  function automatic bit same_tensors(input td_tensor expected, input td_tensor actual);
    td_report report;
    same_tensors = 1'b0;
    status = expected.try_compare(actual, "", report, message);
    if (status != TD_OK) return 1'b0;
    same_tensors = report.passed();
    report.destroy();
  endfunction

  function automatic logic [143:0] coded_word(input td_memory from, input int w);
    td_words_t words;
    from.read_word(64'(w), words);
    for (int k = 0; k < 4; k++) coded_word[32*k+:32] = words[k];
    coded_word[128+:16] = words[4][15:0];
  endfunction

  initial begin
    td_layout organisation;
    seen.install();
    macros = u_macros.create();
    organisation = td_layout::create("(t r p) (s k) -> (t s) r (k p)", "t=2 s=3 p=2");
    code = td_code::create("inv_39_32", 32);
    raw = td_memory::over("raw", 39, 128, organisation, macros);
    memory = td_memory::coded("memory", code, raw);
    twin = td_memory::create("twin", 32, 128);
    twin_raw = td_memory::create("twin_raw", 39, 128);
    equal(memory.width(), 32, "the width of the data");
    equal(memory.depth(), 128, "and as many words");
    calls();
    errors();
    refusals();
    memory.destroy();
    codecs();
    raw.destroy();
    rows_between();
    long_tiles();
    macros.destroy();
    same(seen.take(), "", "from the top down all can be destroyed");
    finish();
  end
endmodule
