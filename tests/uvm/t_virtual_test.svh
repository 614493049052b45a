// Stands in for a design: copies words 0x10 to 0x17 from one memory to another. On request one bit is stuck.
class t_copy_seq extends uvm_sequence #(uvm_sequence_item);
  `uvm_object_utils(t_copy_seq)

  td_memory        from;
  td_memory        into;
  longint unsigned stuck;
  string           ran_on;
  int              runs;

  function new(input string name = "t_copy_seq");
    super.new(name);
  endfunction

  virtual task body();
    runs++;
    ran_on = m_sequencer == null ? "" : m_sequencer.get_full_name();
    for (longint unsigned i = 'h10; i < 'h18; i++) begin
      #10;
      into.set_bits(i, from.get_bits(i) | stuck);
    end
  endtask
endclass

// Tests the virtual sequence: loads, a user's sequence and comparisons, in this order.
class t_virtual_test extends t_base;
  `uvm_component_utils(t_virtual_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    td_virtual_seq run;
    td_load_seq    load;
    td_compare_seq compare;
    t_copy_seq     copy;
    td_layout      high;

    high = td_layout::create("r (ct cs) -> (r ct) cs", "cs=4", "0x80 + index");
    copy = t_copy_seq::type_id::create("copy");
    copy.from = env.abuf.memory();
    copy.into = env.sram.memory();
    run = td_virtual_seq::type_id::create("run");
    load = run.add_load("act", env.abuf, act, rows);
    load = run.add_load("high", env.abuf, act, high);
    run.user_seq = copy;
    run.user_sequencer = env.sequencer;
    compare = run.add_compare("result", env.sram, act, rows);
    compare = run.add_compare("untouched", env.abuf, act, high);
    ok(!run.passed(), "a run that was not made did not pass");
    run.start(null);
    said({matched("uvm_test_top.env.sram", "sram"), " | ", matched("uvm_test_top.env.abuf", "abuf")}, "a run");
    ok(run.passed() && run.status == TD_OK, "passes");
    same(copy.ran_on, "uvm_test_top.env.sequencer", "the user's sequence ran on its sequencer");

    copy.stuck = 64'h8000;
    run.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sram [TD/MISMATCH] compare \"sram\" with golden i16 (4, 8), policy exact: 8 of ",
          "32 ",
          "elements differ, worst 32768 steps, 32768 in value; first at (0, 0): expected 0 (0x0000), got -32768 ",
          "(0x8000) at ",
          "address 0x10 bits 15:0; all mismatches in lane 0 | ", matched("uvm_test_top.env.abuf", "abuf")},
         "a run with a difference");
    ok(!run.passed() && run.status == TD_OK, "does not pass");

    run.user_sequencer = null;
    run.user_seq = null;
    run.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/HANDLE] td_virtual_seq \"run\": nothing to start after the loads; ",
          "set user_seq"}, "a run without a sequence");
    run.user_seq = copy;
    load = run.add_load("missing", env.abuf);
    load.layout = rows;
    load.file = "missing.npy";
    run.start(env.sequencer);
    said(no_file("uvm_test_top.env.abuf"), "a load that is refused");
    ok(run.status == TD_FILE && !run.passed(), "is the status of the run");
    equal(64'(copy.runs), 2, "and nothing is started after it");
  endtask
endclass
