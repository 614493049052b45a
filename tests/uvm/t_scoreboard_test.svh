// Tests scoreboards: one that compares in the check_phase, one that is called, one that finds a difference, one without
// a golden tensor, one without a memory, and one that compares nothing.
class t_scoreboard_test extends t_base;
  `uvm_component_utils(t_scoreboard_test)

  td_uvm_scoreboard at_end;
  td_uvm_scoreboard on_call;
  td_uvm_scoreboard differs;
  td_uvm_scoreboard missing;
  td_uvm_scoreboard no_memory;
  td_uvm_scoreboard nothing;
  td_uvm_scoreboard width;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    at_end = td_uvm_scoreboard::type_id::create("at_end", env);
    on_call = td_uvm_scoreboard::type_id::create("on_call", this);
    differs = td_uvm_scoreboard::type_id::create("differs", this);
    missing = td_uvm_scoreboard::type_id::create("missing", this);
    no_memory = td_uvm_scoreboard::type_id::create("no_memory", this);
    nothing = td_uvm_scoreboard::type_id::create("nothing", this);
    width = td_uvm_scoreboard::type_id::create("width", this);
  endfunction

  virtual function void connect_phase(input uvm_phase phase);
    super.connect_phase(phase);
    at_end.memory_name = "abuf";
    at_end.golden = act;
    at_end.layout = rows;
    on_call.memory = env.abuf;
    on_call.golden = act;
    on_call.layout = rows;
    differs.memory = env.sram;
    differs.golden = act;
    differs.layout = rows;
    missing.memory = env.abuf;
    missing.golden_file = "missing.npy";
    missing.layout = rows;
    no_memory.memory_name = "nowhere";
    no_memory.golden = act;
    nothing.memory = env.abuf;
    nothing.layout = rows;
    width.memory = env.abuf;
    width.golden = act;
    width.layout = td_layout::create("r c -> r c");
  endfunction

  virtual task main();
    env.abuf.backdoor_load_tensor(act, rows);
    env.sram.backdoor_load_tensor(act, rows);
    env.sram.memory().set_bits('h12, 64'h0);
    ok(on_call.compare_now(), "a comparison on a call");
    said(matched("uvm_test_top.on_call", "abuf"), "in the scoreboard's name");
    on_call.golden = null;
    ok(!on_call.compare_now(), "without a golden tensor");
    said(no_tensor("uvm_test_top.on_call", "backdoor_compare_tensor"), "it is an error");
  endtask

  virtual function void check_phase(input uvm_phase phase);
    super.check_phase(phase);
    said({"UVM_ERROR uvm_test_top.differs [TD/MISMATCH] compare \"sram\" with golden i16 (4, 8), policy exact: 4 of ",
          "32 ",
          "elements differ, worst 11 steps, 11 in value; first at (1, 0): expected 8 (0x0008), got 0 (0x0000) at ",
          "address ",
          "0x12 bits 15:0; all mismatches at ct = 0 | ", matched("uvm_test_top.env.at_end", "abuf"), " | ",
          no_file("uvm_test_top.missing"), " | UVM_ERROR uvm_test_top.no_memory [TD/HANDLE] no td_uvm_mem \"nowhere\" ",
          "beside uvm_test_top.no_memory or above; create one, or set memory | ",
          "UVM_ERROR uvm_test_top.nothing [TD/NOTHING_COMPARED] nothing was compared; set golden or golden_file, or ",
          "call ",
          "compare_now() | ", too_wide("uvm_test_top.width", "backdoor_compare_tensor")}, "what the check_phase says");
    equal(differs.mismatches(), 4, "mismatches");
    ok(at_end.report != null && at_end.report.passed(), "a report that passed");
    ok(missing.report == null, "and none where nothing could be compared");
  endfunction

  function string count(input string name, input int comparisons, input int mismatches);
    return $sformatf("UVM_INFO uvm_test_top.%s [TD/SCOREBOARD] comparisons: %0d, elements: %0d, mismatches: %0d", name,
                     comparisons, comparisons * 32, mismatches);
  endfunction

  virtual function void report_phase(input uvm_phase phase);
    super.report_phase(phase);
    said({count("differs", 1, 4), " | ", count("env.at_end", 1, 0), " | ", count("missing", 0, 0), " | ",
          count("no_memory", 0, 0), " | ", count("nothing", 0, 0), " | ", count("on_call", 1, 0), " | ",
          count("width", 0, 0)}, "the counts in the report_phase");
  endfunction
endclass
