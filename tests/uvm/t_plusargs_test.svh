// Run with +td_load=act:other.npy +td_load=result:other.npy +td_dump_dir=. +td_seed=7.
class t_plusargs_test extends t_base;
  `uvm_component_utils(t_plusargs_test)

  td_uvm_scoreboard result;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    result = td_uvm_scoreboard::type_id::create("result", this);
  endfunction

  virtual task main();
    td_tensor   other;
    td_tensor   saved;
    td_load_seq load;
    td_dump_seq dump;

    other = td_tensor::create("i16", "4 8");
    other.fill_ramp(100, 1);
    other.save("other.npy");
    load = td_load_seq::type_id::create("load");
    load.memory = env.abuf;
    load.tensor_name = "act";
    load.tensor = act;
    load.layout = rows;
    load.start(null);
    said("UVM_INFO reporter [TD/LOAD] tensor \"act\" out of \"other.npy\", as +td_load says", "a load of another file");
    equal(env.abuf.memory().get_bits('h10), 64'h0067006600650064, "has its words");

    dump = td_dump_seq::type_id::create("back");
    dump.memory = env.abuf;
    dump.dtype = "i16";
    dump.shape = "4 8";
    dump.layout = rows;
    dump.start(null);
    saved = td_tensor::open("./back.npy");
    ok(saved != null && saved.get_bits(31) == 131, "a dump is in the folder");
    said("", "which says nothing");

    equal(td_uvm_plusargs::seed(), 7, "the seed");
    said("UVM_INFO reporter [TD/SEED] the seed is 7: +td_seed=7 gives it again", "is said");
    equal(td_uvm_plusargs::seed(), 7, "the seed again");
    said("", "is said once");
    result.memory = env.abuf;
    result.golden_file = "golden.npy";
    result.layout = rows;
  endtask

  virtual function void check_phase(input uvm_phase phase);
    super.check_phase(phase);
    said({"UVM_INFO reporter [TD/LOAD] tensor \"result\" out of \"other.npy\", as +td_load says | ",
          matched("uvm_test_top.result", "abuf")}, "a golden tensor out of another file");
  endfunction

  virtual function void report_phase(input uvm_phase phase);
    super.report_phase(phase);
    said("UVM_INFO uvm_test_top.result [TD/SCOREBOARD] comparisons: 1, elements: 32, mismatches: 0", "its counts");
  endfunction
endclass

// Run with plusargs that are all wrong: +td_load=weights +td_dump_dir=nowhere +td_seed=seven.
class t_bad_plusargs_test extends t_base;
  `uvm_component_utils(t_bad_plusargs_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    td_dump_seq dump;
    said({"UVM_ERROR reporter [TD/ARGUMENT] +td_load=weights: a name and a file are needed; write ",
          "+td_load=NAME:FILE"}, "a load without a file");
    equal(td_uvm_plusargs::seed(), 0, "a seed that is no number is 0");
    said({"UVM_ERROR reporter [TD/ARGUMENT] +td_seed=seven: a decimal number of up to 19 digits is needed; write ",
          "+td_seed=7 | UVM_INFO reporter [TD/SEED] the seed is 0: +td_seed=0 gives it again"}, "and an error");
    dump = td_dump_seq::type_id::create("back");
    dump.memory = env.abuf;
    dump.tensor = act;
    dump.layout = rows;
    dump.start(null);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/FILE] tensor_save \"nowhere/back.npy\": cannot create the file: No ",
          "such ",
          "file or directory; check the folder and its permissions"}, "a folder that is missing");
  endtask
endclass

// Run with a misspelt name: +td_load=wieghts:other.npy.
class t_misspelt_test extends t_base;
  `uvm_component_utils(t_misspelt_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    td_load_seq load;
    load = td_load_seq::type_id::create("weights");
    load.memory = env.abuf;
    load.tensor = act;
    load.layout = rows;
    load.start(null);
    ok(load.status == TD_OK, "a load");
    said("", "says nothing");
  endtask

  virtual function void report_phase(input uvm_phase phase);
    super.report_phase(phase);
    said({"UVM_ERROR reporter [TD/ARGUMENT] +td_load=wieghts:other.npy: no tensor \"wieghts\" was used; there is ",
          "\"weights\""}, "a name that no tensor has");
  endfunction
endclass

// Run with a file that does not exist, +td_load=act:missing.npy, and without a seed.
class t_missing_file_test extends t_base;
  `uvm_component_utils(t_missing_file_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    td_load_seq      load;
    longint unsigned seed;
    load = td_load_seq::type_id::create("act");
    load.memory = env.abuf;
    load.tensor = act;
    load.layout = rows;
    load.start(null);
    said({"UVM_INFO reporter [TD/LOAD] tensor \"act\" out of \"missing.npy\", as +td_load says | ",
          no_file("uvm_test_top.env.abuf")}, "a file that is missing");
    seed = td_uvm_plusargs::seed();
    said($sformatf("UVM_INFO reporter [TD/SEED] the seed is %0d: +td_seed=%0d gives it again", seed, seed),
         "a seed that is drawn is said");
    equal(td_uvm_plusargs::seed(), seed, "and drawn once");
  endtask
endclass

// Fails on purpose: the program must then exit with a status other than 0.
class t_fails_test extends t_base;
  `uvm_component_utils(t_fails_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    env.abuf.fail(TD_SHAPE, "an error that nobody has asked for");
  endtask
endclass
