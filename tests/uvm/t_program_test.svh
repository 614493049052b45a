// A user's class that the factory makes in place of td_program_seq.
class t_counted_program extends td_program_seq;
  `uvm_object_utils(t_counted_program)

  static int count;

  function new(input string name = "t_counted_program");
    super.new(name);
  endfunction

  virtual function td_status_e run(output string message);
    count++;
    return super.run(message);
  endfunction
endclass

// Tests programs as sequences: parts of one program around a design, memories by name from the environment, arguments,
// checkpoints that a scoreboard counts, and what is refused.
class t_program_test extends t_base;
  `uvm_component_utils(t_program_test)

  td_uvm_scoreboard scoreboard;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    scoreboard = td_uvm_scoreboard::type_id::create("scoreboard", this);
  endfunction

  virtual task main();
    int    file;
    string text;
    text = {"arg base = 16\n", "layout rows = \"r (ct cs) -> (r ct) cs; cs=4\"\n",
            "tensor x = fill i16 4x8 ramp\n", "label load:\n", "  load abuf x rows at base\n",
            "  load sram x rows at base\n", "  load tiles x \"(b r) (ct cs) -> b (r ct) cs; b=4 cs=4\"\n",
            "label check:\n", "  checkpoint first abuf x rows at base\n", "  checkpoint second sram x rows at base\n"};
    file = $fopen("infer.td", "w");
    $fwrite(file, "%s", text);
    $fclose(file);
    good_ones();
    refused_ones();
  endtask

  function string differs();
    return {"infer: 1 of 2 checkpoints differs, first \"second\": compare \"sram\" with golden i16 (4, 8), policy ",
            "exact: 1 of 32 elements differs, worst 1 step, 1 in value; first at (0, 4): expected 4 (0x0004), got 5 ",
            "(0x0005) at address 0x11 bits 15:0"};
  endfunction

  task good_ones();
    td_program_seq load;
    td_program_seq check;
    load = td_program_seq::type_id::create("load");
    load.file = "infer.td";
    load.label = "load";
    load.start(env.sequencer);
    ok(load.status == TD_OK && load.checkpoints == null, "a program that loads");
    said("", "says nothing");
    equal(env.abuf.memory().get_bits('h11), 64'h0007000600050004, "it has loaded a memory of the library");
    equal(env.sram.memory().get_bits('h17), 64'h001f001e001d001c, "an array of the design");
    equal(env.tiles.banks().bank(3).get_bits(1), 64'h001f001e001d001c, "and banks, all by their names");

    check = td_program_seq::type_id::create("check");
    check.prog = load.prog;
    check.label = "check";
    check.scoreboard = scoreboard;
    check.start(env.sequencer);
    said("UVM_INFO uvm_test_top.scoreboard [TD/MATCH] infer: all 2 checkpoints match", "the scoreboard has the checks");
    ok(check.passed() && check.checkpoints.count() == 2, "they pass");
    ok(scoreboard.checkpoints != null, "and it keeps them");

    env.sram.memory().set_bits('h11, 64'h0007000600050005);
    check.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.scoreboard [TD/MISMATCH] ", differs()}, "what the design got wrong");
    ok(!check.passed() && check.status == TD_OK, "does not pass");
    equal(scoreboard.mismatches(), 1, "and is counted");

    check.scoreboard = null;
    check.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/MISMATCH] ", differs()}, "without a scoreboard");
    load.arguments = "base=64";
    load.start(null);
    check.arguments = "base=64";
    check.start(null);
    said("UVM_INFO reporter [TD/MATCH] infer: all 2 checkpoints match", "at another place, without a sequencer");
    td_program_seq::type_id::set_type_override(t_counted_program::get_type());
    check = td_program_seq::type_id::create("check");
    check.prog = load.prog;
    check.label = "load";
    check.start(null);
    equal(64'(t_counted_program::count), 1, "a sequence of a user's own kind");
  endtask

  task refused_ones();
    td_program_seq run;
    run = td_program_seq::type_id::create("run");
    run.start(null);
    said("UVM_ERROR reporter [TD/HANDLE] td_program_seq \"run\": no program; set prog, or file", "no program");
    ok(run.status == TD_HANDLE && !run.passed(), "has a status");
    run.file = "missing.td";
    run.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/FILE] program_open: \"missing.td\": cannot open the file: No such ",
          "file or directory; check the path and its permissions"}, "a file that is missing");
    run.prog = td_program::create("load nowhere x \"r c -> r c\"\n");
    run.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/HANDLE] td_program_seq \"run\": no td_uvm_mem \"nowhere\" beside ",
          "uvm_test_top.env.sequencer or above; create one, or set memory"}, "a memory that is nowhere");
    run.prog = td_program::create("fill abuf sero\n");
    run.start(env.sequencer);
    ok(run.status != TD_OK, "a step that is refused");
    void'(seen.take());
    run.prog = td_program::create("label a:\n  fill abuf zero\n");
    run.label = "b";
    run.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/ARGUMENT] program_run: no label \"b\"; write label b: in the ",
          "program"}, "a label that it does not have");
  endtask

  virtual function void report_phase(input uvm_phase phase);
    super.report_phase(phase);
    said("UVM_INFO uvm_test_top.scoreboard [TD/SCOREBOARD] comparisons: 4, elements: 128, mismatches: 1",
         "the counts in the report_phase");
  endfunction
endclass
