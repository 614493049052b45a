// Programs: from text, from lines that are added and from a file; on memories of the library, on banks, and on arrays
// of the design, whose words are calculated here. Checkpoints, labels, arguments, and what is refused.
`include "td_macros.svh"

module program_rams;
  logic [31:0] wbuf[0:63];
  logic [31:0] obuf[0:63];
  logic [38:0] ecc[0:63];
  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic [31:0] mem[0:15];
  end
endmodule

`TD_BANKS_MODULE(program_banks, tb_program.u_rams.gen_bank[bank].mem, 32)

module tb_program;
  import td_pkg::*;
  import tap_pkg::*;

  `TD_MEM_CLASS(program_wbuf, tb_program.u_rams.wbuf, 32)
  `TD_MEM_CLASS(program_obuf, tb_program.u_rams.obuf, 32)
  `TD_MEM_CLASS(program_ecc, tb_program.u_rams.ecc, 39)

  program_rams u_rams ();
  program_banks #(2) u_banks ();

  recorder       seen = new;
  string         message;
  td_status_e    status;
  td_program     infer;
  td_program     none;
  td_checkpoints found;
  td_layout      rows;
  td_memory      no_memory;
  td_bank_set    no_banks;
  td_layout      no_layout;
  td_tensor      no_tensor;

  task automatic owned();
    td_memory   m;
    td_tensor   x;
    td_tensor   y;
    bit         good;
    string      name;
    string      line;
    longint unsigned compared;
    longint unsigned mismatches;
    m = td_memory::create("m", 32, 64);
    x = td_tensor::create("i8", "4 4");
    x.fill_ramp(1.0, 1.0);
    infer = td_program::create({"arg base = 0\n", "label load:\n", "  load m x rows at base\n", "label check:\n",
                                "  checkpoint first m x rows policy \"stats\" at base\n",
                                "  checkpoint again m x rows at base\n"});
    ok(infer != null, "a program from text");
    infer.bind_memory("m", m);
    infer.bind_tensor("x", x);
    infer.bind_layout("rows", rows);
    infer.compile();
    ok(infer.run("load") == null, "a run without checkpoints");
    equal(m.get_bits(0), 64'h04030201, "has loaded");
    found = infer.run("check");
    ok(found != null && found.passed() && found.count() == 2 && found.first() == 2, "and the checks pass");
    same(found.line(), "program: all 2 checkpoints match", "in one line");
    found.destroy();
    m.set_bits(1, 64'h08070005);
    status = infer.try_run("check", "", found, message);
    ok(!found.passed() && found.failed() == 2 && found.first() == 0, "a wrong word is found");
    starts(found.line(), "program: 2 of 2 checkpoints differ, first \"first\": compare \"m\"", "and named");
    status = found.try_at(1, name, good, compared, mismatches, line, message);
    ok(status == TD_OK && name == "again" && !good && compared == 16 && mismatches == 1, "one checkpoint by number");
    same(found.name(0), "first", "its name");
    statistics();
    status = found.try_at(2, name, good, compared, mismatches, line, message);
    refused(status, TD_RANGE, message, "checkpoints_at: number 2 of 2; the first is 0", "past the last");
    starts(found.text(), "program: 2 of 2 checkpoints differ, the first is \"first\":", "as text");
    starts(found.json(), "{\"name\": \"program\", \"passed\": false, \"failed\": 2, \"first\": 0,", "as JSON");
    starts(found.junit(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "as JUnit");
    found.html("tb_program.html");
    found.destroy();
    status = found.try_html("x.html", message);
    ok(status == TD_HANDLE, "checkpoints that were destroyed");
    ok(infer.run("load", "base=32") == null, "another argument");
    equal(m.get_bits(35), 64'h100f0e0d, "is another place");
    x.set_real(0, 9.0);
    ok(infer.run("load") == null, "a tensor that has changed");
    equal(m.get_bits(0), 64'h04030209, "is loaded as it is");
    infer.add("tensor y = clamp x 3 8\n");
    found = infer.run();
    ok(found.passed() && found.count() == 2, "all of it");
    found.destroy();
    y = infer.tensor("y");
    ok(y != null && y.get_real(1) == 3.0 && y.get_real(15) == 8.0, "a tensor of the program");
    y.destroy();
    starts(infer.text(), "arg base = 0\n", "its lines");
    ok(infer.explain() != "" && infer.svg() != "", "what it becomes");
    x.destroy();
    status = infer.try_run("load", "", found, message);
    ok(status == TD_HANDLE, "a tensor that was destroyed is no crash");
    m.destroy();
    infer.destroy();
    status = infer.try_run("", "", found, message);
    ok(status == TD_HANDLE, "a program that was destroyed");
  endtask

  task automatic statistics();
    longint unsigned ulp;
    real             error;
    real             mean;
    real             mse;
    real             cosine;
    bit              has;
    status = found.try_statistics(0, ulp, error, has, mean, mse, cosine, message);
    ok(status == TD_OK && has && ulp == 6 && error == 6.0 && mse == 2.25, "statistics of a checkpoint");
    status = found.try_statistics(1, ulp, error, has, mean, mse, cosine, message);
    ok(status == TD_OK && has && ulp == 6 && mse == 2.25, "also where the policy does not ask for them");
  endtask

  task automatic banked();
    td_bank_set set;
    td_memory   b;
    td_tensor   x;
    set = td_bank_set::create("bank", 2, 8, 16);
    x   = td_tensor::create("u8", "4 2");
    x.fill_ramp(0.0, 1.0);
    infer = td_program::create("load set x \"(r b) c -> b (r c) 1; b=2\"\n");
    infer.bind_banks("set", set);
    infer.bind_tensor("x", x);
    ok(infer.run() == null, "banks");
    b = set.bank(1);
    equal(b.get_bits(0), 2, "each of them");
    equal(b.get_bits(3), 7, "to the end");
    infer.destroy();
    x.destroy();
    set.destroy();
  endtask

  task automatic in_the_design();
    td_memory w;
    td_memory o;
    td_tensor x;
    w = program_wbuf::create("wbuf");
    o = program_obuf::create("obuf");
    x = td_tensor::create("i8", "16 4");
    x.fill_ramp(-30.0, 1.0);
    for (int i = 0; i < 64; i++) begin
      u_rams.wbuf[i] = 32'hdeadbeef;
      u_rams.obuf[i] = 32'hdeadbeef;
    end
    infer = td_program::create({"label load:\n", "  for t in 0..4:\n",
                                "    load w x[4*t : 4*t + 4] rows at 8*t\n", "  fill o zero from 3 count 2\n",
                                "label check:\n", "  checkpoint out o x rows at 16\n",
                                "label mixed:\n", "  tensor d = dump o i8 16x4 rows at 16\n",
                                "  load w d rows at 48\n"});
    infer.bind_memory("w", w);
    infer.bind_memory("o", o);
    infer.bind_tensor("x", x);
    infer.bind_layout("rows", rows);
    ok(infer.run("load") == null, "arrays of the design");
    ok(u_rams.wbuf[0] == 32'he5e4e3e2 && u_rams.wbuf[3] == 32'hf1f0efee && u_rams.wbuf[24] == 32'h15141312,
       "have the words");
    ok(u_rams.wbuf[4] == 32'hdeadbeef && u_rams.obuf[2] == 32'hdeadbeef && u_rams.obuf[5] == 32'hdeadbeef,
       "others stay");
    ok(u_rams.obuf[3] == 0 && u_rams.obuf[4] == 0, "and a fill");
    for (int i = 0; i < 16; i++) u_rams.obuf[16+i] = {8'(4 * i - 27), 8'(4 * i - 28), 8'(4 * i - 29), 8'(4 * i - 30)};
    found = infer.run("check");
    ok(found != null && found.passed(), "what the design has written is compared");
    found.destroy();
    u_rams.obuf[20] = 32'h0;
    status = infer.try_run("check", "", found, message);
    ok(!found.passed() && found.failed() == 1, "again, after the design has changed it");
    found.destroy();
    ok(infer.run("mixed") == null, "from one array to another");
    ok(u_rams.wbuf[48] == 32'he5e4e3e2 && u_rams.wbuf[52] == 0 && u_rams.wbuf[63] == 32'h21201f1e, "through a tensor");
    infer.destroy();
    x.destroy();
    w.destroy();
    o.destroy();
  endtask

  // ---- recording

  td_memory    owned_m;
  td_memory    wbuf;
  td_memory    obuf;
  td_bank_set  owned_set;
  td_bank_set  design_set;
  logic [31:0] kept[0:255];

  // What the calls below have left, or something else in its place.
  task automatic keep_words();
    td_memory b;
    for (int i = 0; i < 64; i++) begin
      kept[i] = 32'(owned_m.get_bits(64'(i)));
      kept[64+i] = u_rams.wbuf[i];
      kept[128+i] = u_rams.obuf[i];
    end
    for (int i = 0; i < 16; i++) begin
      kept[192+i] = u_rams.gen_bank[0].mem[i];
      kept[208+i] = u_rams.gen_bank[1].mem[i];
      b = owned_set.bank(0);
      kept[224+i] = 32'(b.get_bits(64'(i)));
      b = owned_set.bank(1);
      kept[240+i] = 32'(b.get_bits(64'(i)));
    end
  endtask

  task automatic spoil();
    td_memory b;
    owned_m.fill("constant=0x5a5a5a5a");
    for (int k = 0; k < 2; k++) begin
      b = owned_set.bank(k);
      b.fill("constant=0x5a5a5a5a");
    end
    for (int i = 0; i < 64; i++) begin
      u_rams.wbuf[i] = 32'h5a5a5a5a;
      u_rams.obuf[i] = 32'h5a5a5a5a;
    end
    for (int i = 0; i < 16; i++) begin
      u_rams.gen_bank[0].mem[i] = 32'h5a5a5a5a;
      u_rams.gen_bank[1].mem[i] = 32'h5a5a5a5a;
    end
  endtask

  // The number of words that are not as they were kept.
  function automatic int changed();
    td_memory b;
    changed = 0;
    for (int i = 0; i < 64; i++) begin
      if (32'(owned_m.get_bits(64'(i))) != kept[i]) changed++;
      if (u_rams.wbuf[i] != kept[64+i]) changed++;
      if (u_rams.obuf[i] != kept[128+i]) changed++;
    end
    for (int i = 0; i < 16; i++) begin
      if (u_rams.gen_bank[0].mem[i] != kept[192+i]) changed++;
      if (u_rams.gen_bank[1].mem[i] != kept[208+i]) changed++;
      b = owned_set.bank(0);
      if (32'(b.get_bits(64'(i))) != kept[224+i]) changed++;
      b = owned_set.bank(1);
      if (32'(b.get_bits(64'(i))) != kept[240+i]) changed++;
    end
  endfunction

  // Ordinary calls, on memories of the library, arrays of the design and sets of either.
  task automatic make_calls();
    td_tensor      x;
    td_tensor      y;
    td_tensor      z;
    td_tensor      t;
    td_layout      place;
    td_layout      spread;
    td_report      report;
    td_addresses_t at;
    td_words_t     words;
    place  = td_layout::create("r c -> r c", "", "16 + r");
    spread = td_layout::create("b r c -> b r c");
    x = td_tensor::create("i8", "4 4");
    for (int i = 0; i < 16; i++) x.set_bits(64'(i), 64'(3 * i));
    owned_m.backdoor_load_tensor(x, place, "u8 scale=2");
    x.set_bits(5, 99);
    wbuf.backdoor_load_tensor(x, place);
    wbuf.backdoor_load_matrix(x, 30, 34);
    t = td_tensor::open("tb_record.npy");
    obuf.backdoor_load_tensor(t, place);
    y = td_tensor::create("i8", "2 4 4");
    y.fill("uniform min=-20 max=20 seed=4");
    owned_set.backdoor_load_tensor(y, spread);
    design_set.backdoor_load_tensor(y, spread);
    z = y.slice("1");
    x.destroy();
    x = z.transpose();
    z = x.concat(z, 0);
    x = z.add(z, "sat");
    z = x.mul(x, "wrap");
    x = z.scale(0.5, "sat");
    z = x.clamp(-9.0, 11.0);
    obuf.backdoor_load_matrix(z, 40, 48);
    y = z.convert("i16 scale=0.5");
    y.fill_ramp(1.0, 0.5 + 0.5);
    z.fill_random(3);
    owned_m.backdoor_load_matrix(z, 40, 48);
    obuf.fill("address", 50, 4);
    obuf.clear();
    owned_m.set_bits(60, 64'hdeadbeef);
    at = new[2];
    words = new[2];
    at[0] = 61;
    at[1] = 3;
    words[0] = 32'h01020304;
    words[1] = 32'hffff0000;
    wbuf.backdoor_write(at, words);
    design_set.fill("one", 14, 4);  // the last two words of bank 0, the first two of bank 1
    x = td_tensor::create("i8", "4 4");
    wbuf.backdoor_dump_tensor(x, place);  // from the design, and into it again
    obuf.backdoor_load_tensor(x, place);
    owned_set.save_file("tb_record.hex");
    report = obuf.backdoor_compare_tensor(x, place, "ulp=1");
    report.destroy();
    report = design_set.backdoor_compare_tensor(td_tensor::open("tb_record3.npy"), spread, "atol=255");
    report.destroy();
  endtask

  task automatic recorded();
    td_program again;
    string     text;
    td_tensor  t;
    owned_m = td_memory::create("m", 32, 64);
    wbuf = program_wbuf::create("wbuf");
    obuf = program_obuf::create("obuf");
    owned_set = td_bank_set::create("bank", 2, 32, 16);
    design_set = u_banks.create("tile");
    spoil();
    t = td_tensor::create("i8", "4 4");
    t.fill_ramp(-3.0, 2.0);
    t.save("tb_record.npy");
    t = td_tensor::create("i8", "2 4 4");
    t.save("tb_record3.npy");
    infer = td_program::record();
    ok(infer != null, "a recording");
    make_calls();
    infer.stop();
    same(seen.take(), "", "ordinary calls are recorded");
    text = infer.text();
    same(text, {"load m t0 \"r c -> r c; ; 16 + r\" as \"u8 scale=2\" over\n",
                "load wbuf t1 \"r c -> r c; ; 16 + r\" over\n",
                "load wbuf t1 matrix at 30 over\n",
                "tensor t2 = open \"tb_record.npy\"\n",
                "load obuf t2 \"r c -> r c; ; 16 + r\" over\n",
                "tensor t3 = fill \"i8 2 4 4\" uniform min=-20 max=20 seed=4\n",
                "load bank_0 t3 \"b r c -> b r c; ; \" over\n",
                "load tile_0 t3 \"b r c -> b r c; ; \" over\n",
                "tensor t4 = slice t3 \"1\"\n", "tensor t5 = transpose t4\n",
                "tensor t6 = concat t5 t4 axis 0\n", "tensor t7 = add t6 t6 sat\n",
                "tensor t8 = mul t7 t7 wrap\n", "tensor t9 = scale t8 0.5 sat\n",
                "tensor t10 = clamp t9 -9 11\n", "load obuf t10 matrix at 40 over\n",
                "tensor t11 = convert t10 \"i16 scale=0.5\"\n",
                "tensor t12 = fill \"i16 8 4\" ramp start=1 step=1\n",
                "tensor t13 = fill \"i8 8 4\" random seed=3\n",
                "load m t13 matrix at 40 over\n",
                "fill obuf \"address\" from 50 count 4\n", "fill obuf \"zero\" from 0 count 64\n",
                "write m 60 0xdeadbeef\n", "write wbuf 61 0x01020304\n", "write wbuf 3 0xffff0000\n",
                "fill tile_0_2 \"one\" from 14 count 2\n", "fill tile_1 \"one\" from 0 count 2\n",
                "dump wbuf t14 \"r c -> r c; ; 16 + r\"\n",
                "load obuf t14 \"r c -> r c; ; 16 + r\" over\n",
                "checkpoint c0 obuf t14 \"r c -> r c; ; 16 + r\" policy \"ulp=1\"\n",
                "tensor t15 = open \"tb_record3.npy\"\n",
                "checkpoint c1 tile_0 t15 \"b r c -> b r c; ; \" policy \"atol=255\"\n"},
         "and print as text");
    keep_words();
    spoil();
    found = infer.run();
    ok(found != null && found.passed() && found.count() == 2, "which runs");
    equal(64'(changed()), 0, "and leaves the same words");
    found.destroy();
    again = td_program::create(text);
    again.bind_memory("m", owned_m);
    again.bind_memory("wbuf", wbuf);
    again.bind_memory("obuf", obuf);
    again.bind_banks("bank_0", owned_set);
    again.bind_banks("tile_0", design_set);
    again.bind_memory("tile_0_2", design_set.bank(0));
    again.bind_memory("tile_1", design_set.bank(1));
    again.bind_tensor("t0", infer.tensor("t0"));
    again.bind_tensor("t1", infer.tensor("t1"));
    again.bind_tensor("t14", td_tensor::create("i8", "4 4"));
    spoil();
    found = again.run();
    ok(found != null && found.passed() && found.count() == 2, "the text runs as another program");
    equal(64'(changed()), 0, "and leaves the same words, too");
    found.destroy();
    same(seen.take(), "", "nothing was refused");
    again.destroy();
    infer.destroy();
  endtask

  // What a call says that no line can say; the program then does not run.
  task automatic not_recorded(input string needed, input string what);
    status = infer.try_stop(message);
    refused(status, TD_ARGUMENT, message, {"program_stop: ", needed}, what);
    status = infer.try_run("", "", found, message);
    refused(status, TD_ARGUMENT, message, {"program_run: the program was not recorded whole: ", needed},
            "and it does not run");
    infer.destroy();
    infer = td_program::record();
  endtask

  task automatic record_refusals();
    td_tensor      x;
    td_memory      gone;
    td_faults      faults;
    td_addresses_t at;
    td_words_t     words;
    td_comparison  what;
    td_report      report;
    x = td_tensor::create("i8", "4 4");
    at = new[1];
    words = new[1];
    at[0] = 1;
    words[0] = 7;
    wbuf.save_file("tb_record.hex");
    infer = td_program::record();
    status = td_program::try_record(none, message);
    refused(status, TD_ARGUMENT, message, "program_record: a program is being recorded; stop that one first",
            "one program at a time is recorded");
    ok(none == null, "and no other is made");
    status = infer.try_run("", "", found, message);
    refused(status, TD_ARGUMENT, message, "program_run: a program is being recorded; stop it first",
            "no program runs meanwhile");
    wbuf.backdoor_write_bits(at, words, words);
    not_recorded("a write with a mask cannot be recorded; write whole words", "a write of some bits");
    words[0] = 1;
    wbuf.backdoor_write_bytes(at, words, words);
    not_recorded("a write with a mask cannot be recorded; write whole words", "a write of some bytes");
    wbuf.load_file("tb_record.hex");
    not_recorded("memory_load_file cannot be recorded; call it before program_record or after program_stop",
                 "an image file");
    owned_m.load_file("no_such.hex");
    starts(seen.take(), "TD_FILE", "a call that fails is not recorded");
    owned_m.invalidate(0, 2);
    not_recorded("memory_invalidate cannot be recorded; call it before program_record or after program_stop",
                 "bits that become x");
    owned_m.fill("zero");
    void'(owned_m.backdoor_dirty_padding(x, td_layout::create("r (c k) -> (r c) k", "c=1 k=4 pad=0"), 1));
    faults = td_faults::inject(owned_m, "words=2 seed=1");
    not_recorded("backdoor_dirty_padding cannot be recorded; call it before program_record or after program_stop",
                 "poison in padding");
    void'(faults.undo());
    not_recorded("memory_undo cannot be recorded; call it before program_record or after program_stop", "faults");
    gone = td_memory::create("gone", 32, 8);
    gone.fill("zero");
    gone.destroy();
    not_recorded("memory \"gone\" was destroyed before; destroy it after program_stop", "a memory that is destroyed");
    what = new;
    what.set_golden(x);
    what.set_layout(rows);
    what.set_snapshot(owned_m.take_snapshot());
    report = owned_m.backdoor_compare(what);
    not_recorded("a comparison with a snapshot cannot be recorded; compare without", "a snapshot");
    infer.destroy();
    wbuf.load_file("tb_record.hex");
    infer = td_program::record();
    infer.stop();
    infer.stop();
    same(seen.take(), "TD_ARGUMENT: program_stop: the program is not recorded; pass one of program_record",
         "a recording ends once, loudly");
    infer.destroy();
    infer.stop();
    starts(seen.take(), "TD_HANDLE: program_stop: the program with handle", "and not after its end");
    // A memory of a recorded program that is destroyed afterwards is a status.
    gone = program_wbuf::create("gone");
    infer = td_program::record();
    gone.fill("one", 0, 2);
    infer.stop();
    gone.destroy();
    status = infer.try_run("", "", found, message);
    ok(status == TD_HANDLE, "a recorded memory that was destroyed since is no crash");
    infer.destroy();
  endtask

  // ---- arguments, messages, and memories of every kind

  task automatic arguments();
    td_memory m;
    td_tensor x;
    td_tensor r;
    string    name;
    bit       is_bound;
    m = td_memory::create("m", 32, 16);
    x = td_tensor::create("i8", "4 4");
    x.fill_ramp(0.0, 1.0);
    x.save("tb_program_a.npy");
    x.fill_ramp(50.0, -1.0);
    x.save("tb_program_b.npy");
    r = td_tensor::create("i8", "4 4");
    r.fill("uniform min=-9 max=9 seed=7");
    infer = td_program::create({"arg seed = 1\n", "arg file = \"tb_program_a.npy\"\n",
                                "layout rows = \"r c -> r c\"\n", "label load:\n", "  load m (open file) rows\n",
                                "  load m (fill i8 4x4 uniform min=-9 max=9 seed={seed}) rows at 8\n",
                                "label check:\n", "  checkpoint read m \"{file}\" rows\n"});
    status = infer.try_memory_name(0, name, is_bound, message);
    ok(status == TD_OK && name == "m" && !is_bound, "the text names a memory");
    infer.bind_memory("m", m);
    status = infer.try_memory_name(0, name, is_bound, message);
    ok(status == TD_OK && name == "m" && is_bound, "which is bound");
    status = infer.try_memory_name(1, name, is_bound, message);
    ok(status == TD_OK && name == "" && !is_bound, "and no other");
    ok(infer.run("load") == null, "the arguments of the text");
    equal(m.get_bits(1), 64'h07060504, "a file");
    ok(infer.run("load", "seed=7 file=\"tb_program_b.npy\"") == null, "and others");
    equal(m.get_bits(1), 64'h2b2c2d2e, "another file");
    found = infer.run("check", "seed=7 file=\"tb_program_b.npy\"");
    ok(found.passed(), "which the checks know, too");
    found.destroy();
    infer.add("label again:\n  checkpoint drawn m golden rows at 8\n");
    infer.bind_tensor("golden", r);
    found = infer.run("again", "seed=7");
    ok(found.passed(), "and another seed");
    found.destroy();
    same(seen.take(), "", "nothing was refused");
    infer.compile("sed=7");
    same(seen.take(), "TD_ARGUMENT: program_compile: no argument \"sed\"; did you mean \"seed\"?",
         "a wrong argument, loud");
    found = infer.run("chek");
    same(seen.take(), "TD_ARGUMENT: program_run: no label \"chek\"; did you mean \"check\"?", "a wrong label, loud");
    ok(found == null, "has no checkpoints");
    infer.destroy();
    m.destroy();
  endtask

  // Loud, with the line and a caret under the word.
  task automatic messages();
    td_memory m;
    m = td_memory::create("m", 32, 16);
    none = td_program::create("fill m zero\nload m x rows att 4\n");
    ok(none == null, "a text that is refused");
    same(seen.take(), {"TD_FORMAT: program_create: line 2: \"att 4\" behind the end of the step; take it out\n",
                       "    load m x rows att 4\n", "                  ^~~"}, "has its line and a caret");
    infer = td_program::create("fill m zero\nload m x rows at 4\n");
    infer.bind_memory("m", m);
    infer.bind_layout("rows", rows);
    found = infer.run();
    same(seen.take(), {"TD_FORMAT: program_run: line 2: no tensor \"x\"; bind one, or write tensor x = .. above\n",
                       "    load m x rows at 4\n", "           ^"}, "and so has a run");
    infer.add("lod m\n");
    starts(seen.take(), "TD_FORMAT: program_add: line 3: ", "lines that are added, too");
    m.set_bits(0, 5);
    infer.bind_tensor("x", td_tensor::create("i8", "16 4"));
    found = infer.run();
    starts(seen.take(), "TD_RANGE: program_run: line 2: ", "words past the memory");
    equal(m.get_bits(0), 5, "and a program that is refused changes nothing");
    infer.destroy();
    m.destroy();
  endtask

  // A memory with a code over an array of the design, and the array itself, in one program: a word that only one of
  // them touches crosses for it.
  task automatic layered();
    td_memory raw;
    td_memory data;
    td_code   code;
    td_tensor x;
    raw  = program_ecc::create("raw");
    code = td_code::create("39_32", 32);
    data = td_memory::coded("data", code, raw);
    x    = td_tensor::create("i8", "4 4");
    x.fill_ramp(1.0, 1.0);
    for (int i = 0; i < 64; i++) u_rams.ecc[i] = 39'h7_5555_5555;
    infer = td_program::create({"label load:\n", "  load data x rows at 4\n", "  write raw 20 0x123456789a\n",
                                "label check:\n", "  checkpoint coded data x rows at 4\n"});
    infer.bind_memory("data", data);
    infer.bind_memory("raw", raw);
    infer.bind_tensor("x", x);
    infer.bind_layout("rows", rows);
    ok(infer.run("load") == null, "two memories over one array");
    ok(u_rams.ecc[4][31:0] == 32'h04030201 && u_rams.ecc[7][31:0] == 32'h100f0e0d, "the words of one");
    ok(u_rams.ecc[20] == 39'h12_3456_789a, "and of the other");
    ok(u_rams.ecc[3] == 39'h7_5555_5555 && u_rams.ecc[8] == 39'h7_5555_5555, "others stay");
    u_rams.ecc[5][7] ^= 1'b1;
    found = infer.run("check");
    ok(found.passed(), "a single error is corrected");
    found.destroy();
    u_rams.ecc[5][9] ^= 1'b1;
    status = infer.try_run("check", "", found, message);
    ok(status == TD_UNCORRECTABLE && found == null, "a double error refuses the run");
    infer.destroy();
    // recorded: the array is found again
    infer = td_program::record();
    data.backdoor_load_tensor(x, rows);
    raw.set_bits(30, 64'h77);
    infer.stop();
    u_rams.ecc[0] = 0;
    u_rams.ecc[30] = 0;
    ok(infer.run() == null, "recorded over layers");
    ok(u_rams.ecc[0][31:0] == 32'h04030201 && u_rams.ecc[30] == 39'h77, "both are written again");
    infer.destroy();
    data.destroy();
    raw.destroy();
    code.destroy();
  endtask

  // Memories of a map, over an array of the design and of its own.
  task automatic mapped();
    td_map      chip;
    td_bank_set arrays;
    td_tensor   x;
    arrays = new("arrays");
    arrays.add(program_wbuf::create("wbuf"));
    chip = td_map::create_over("wbuf: words 64 x 32; base 0x1000\nown: words 16 x 32; base 0x2000\n", arrays);
    x = td_tensor::create("i8", "4 4");
    x.fill_ramp(1.0, 1.0);
    infer = td_program::create("load w x rows at 9\nload o x rows\ncheckpoint both o x rows\n");
    infer.bind_memory("w", chip.find("wbuf"));
    infer.bind_memory("o", chip.find("own"));
    infer.bind_tensor("x", x);
    infer.bind_layout("rows", rows);
    found = infer.run();
    ok(found.passed(), "memories of a map");
    found.destroy();
    ok(u_rams.wbuf[9] == 32'h04030201 && u_rams.wbuf[12] == 32'h100f0e0d, "in the design");
    infer.destroy();
    infer = td_program::record();
    chip.load_tensor(64'h1004, x, rows);
    infer.stop();
    same(infer.text(), "load wbuf t0 \"r c -> r c; ; 1 + 1*index\" over\n", "a tensor at an address is recorded");
    u_rams.wbuf[1] = 0;
    ok(infer.run() == null && u_rams.wbuf[1] == 32'h04030201, "and loaded again");
    infer.destroy();
    chip.destroy();
  endtask

  // Bits that are x refuse a run, are read as 0, or differ, as the memory says.
  task automatic unknowns();
    td_memory m;
    td_tensor x;
    m = td_memory::create("m", 32, 16);
    x = td_tensor::create("i8", "4 4");
    infer = td_program::create("fill m one from 8 count 2\ncheckpoint zeros m x rows\n");
    infer.bind_memory("m", m);
    infer.bind_tensor("x", x);
    infer.bind_layout("rows", rows);
    m.invalidate(2, 1);
    status = infer.try_run("", "", found, message);
    ok(status == TD_X_STATE && found == null, "bits that are x refuse a run");
    equal(m.get_bits(8), 0, "which changes nothing");
    m.set_x("zero");
    status = infer.try_run("", "", found, message);
    ok(status == TD_OK && found.passed(), "or are 0");
    found.destroy();
    m.invalidate(2, 1);
    m.set_x("keep");
    status = infer.try_run("", "", found, message);
    ok(status == TD_OK && !found.passed(), "or differ");
    found.destroy();
    infer.destroy();
    m.destroy();
  endtask

  task automatic refusals();
    int file;
    status = td_program::try_create("lod m x rows\n", none, message);
    ok(status == TD_FORMAT && none == null, "text that is no program");
    status = td_program::try_open("no_such_file.td", none, message);
    ok(status == TD_FILE && none == null, "a file that is not there");
    file = $fopen("tb_program.td", "w");
    $fwrite(file, "tensor a = fill i8 2x2 ramp\ncheckpoint same a a\n");
    $fclose(file);
    infer = td_program::open("tb_program.td");
    found = infer.run();
    same(found.line(), "tb_program: the only checkpoint matches", "a program from a file has its name");
    found.destroy();
    status = infer.try_add("load nowhere a \"r c -> r c\"\n", message);
    ok(status == TD_OK, "a name that is not bound yet");
    status = infer.try_run("", "", found, message);
    ok(status != TD_OK && found == null, "is refused by the run");
    status = infer.try_bind_memory("nowhere", no_memory, message);
    refused(status, TD_HANDLE, message, "program_bind: the memory is null; create it first", "no memory");
    status = infer.try_bind_banks("nowhere", no_banks, message);
    ok(status != TD_OK, "no banks");
    status = infer.try_bind_layout("l", no_layout, message);
    refused(status, TD_HANDLE, message, "program_bind: the layout is null; create it first", "no layout");
    status = infer.try_bind_tensor("t", no_tensor, message);
    refused(status, TD_HANDLE, message, "program_bind: the tensor is null; create it first", "no tensor");
    status = infer.try_compile("seed=7", message);
    ok(status != TD_OK, "an argument that it does not have");
    status = infer.try_use_layouts("no_such.layouts", message);
    ok(status == TD_FILE, "a layout file that is not there");
    infer.destroy();
  endtask

  initial begin
    seen.install();
    rows = td_layout::create("r c -> r c");
    owned();
    banked();
    in_the_design();
    recorded();
    record_refusals();
    arguments();
    messages();
    layered();
    mapped();
    unknowns();
    refusals();
    rows.destroy();
    finish();
  end
endmodule
