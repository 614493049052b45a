// Programs: from text, from lines that are added and from a file; on memories of the library, on banks, and on arrays
// of the design, whose words are calculated here. Checkpoints, labels, arguments, and what is refused.
`include "td_macros.svh"

module program_rams;
  logic [31:0] wbuf[0:63];
  logic [31:0] obuf[0:63];
endmodule

module tb_program;
  import td_pkg::*;
  import tap_pkg::*;

  `TD_MEM_CLASS(program_wbuf, tb_program.u_rams.wbuf, 32)
  `TD_MEM_CLASS(program_obuf, tb_program.u_rams.obuf, 32)

  program_rams u_rams ();

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
    ok(status == TD_OK && has && ulp == 6 && error == 6.0 && mse == 2.25, "statistics where the policy asks");
    status = found.try_statistics(1, ulp, error, has, mean, mse, cosine, message);
    ok(status == TD_OK && !has && ulp == 6, "and none where it does not");
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
    refusals();
    rows.destroy();
    finish();
  end
endmodule
