// Tests the sequences, on a sequencer and on none, and what they refuse.
class t_seq_test extends t_base;
  `uvm_component_utils(t_seq_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    good();
    refused_ones();
  endtask

  task good();
    td_load_seq    load;
    td_dump_seq    dump;
    td_compare_seq compare;
    td_tensor      saved;

    load = td_load_seq::type_id::create("load");
    load.memory = env.abuf;
    load.tensor = act;
    load.layout = rows;
    load.start(null);
    ok(load.status == TD_OK, "a load without a sequencer");
    equal(env.abuf.memory().get_bits('h17), 64'h001f001e001d001c, "has its words in memory");
    load.memory = null;
    load.memory_name = "sram";
    load.as = "i8";
    load.start(env.sequencer);
    equal(env.sram.memory().get_bits('h17), 64'h1f1e1d1c, "a load on a sequencer, as i8, into the memory of a name");

    dump = td_dump_seq::type_id::create("dump");
    dump.memory_name = "sram";
    dump.layout = rows;
    dump.dtype = "i16";
    dump.shape = "4 8";
    dump.as = "i8";
    dump.file = "dump.npy";
    dump.start(env.sequencer);
    ok(dump.status == TD_OK && dump.tensor.get_bits(31) == 31, "a dump makes its tensor");
    saved = td_tensor::open("dump.npy");
    equal(saved.get_bits(31), 31, "and saves it");
    said("", "all of which says nothing");

    compare = td_compare_seq::type_id::create("compare");
    compare.memory = env.abuf;
    compare.file = "dump.npy";
    compare.layout = rows;
    compare.start(env.sequencer);
    said(matched("uvm_test_top.env.abuf", "abuf"), "a comparison with a file");
    ok(compare.passed(), "passes");
    env.abuf.memory().set_bits('h11, 64'h0007000600050005);
    compare.start(null);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/MISMATCH] compare \"abuf\" with golden i16 (4, 8), policy exact: 1 of ",
          "32 ",
          "elements differs, worst 1 step, 1 in value; first at (0, 4): expected 4 (0x0004), got 5 (0x0005) at ",
          "address ",
          "0x11 bits 15:0"}, "a difference");
    ok(!compare.passed() && compare.status == TD_OK, "does not pass");
    equal(compare.report.mismatches(), 1, "and is in one element");
    compare.policy = "atol=1";
    compare.start(null);
    said(matched("uvm_test_top.env.abuf", "abuf", "atol=1"), "within the policy");
  endtask

  task refused_ones();
    td_load_seq    load;
    td_dump_seq    dump;
    td_compare_seq compare;

    load = td_load_seq::type_id::create("load");
    load.tensor = act;
    load.layout = rows;
    load.start(null);
    said("UVM_ERROR reporter [TD/HANDLE] td_load_seq \"load\": no memory; set memory, or memory_name",
         "a load without a memory");
    ok(load.status == TD_HANDLE, "has a status");
    load.memory_name = "nowhere";
    load.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/HANDLE] td_load_seq \"load\": no td_uvm_mem \"nowhere\" ",
          "beside uvm_test_top.env.sequencer or above; create one, or set memory"}, "nor of that name");
    load.start(null);
    said({"UVM_ERROR reporter [TD/HANDLE] td_load_seq \"load\": no td_uvm_mem \"nowhere\" without a component to ",
          "look from; set memory"}, "nor without a sequencer");
    load.memory = env.abuf;
    load.layout = null;
    load.start(null);
    said("UVM_ERROR uvm_test_top.env.abuf [TD/HANDLE] backdoor_load_tensor: the layout is null; create it first",
         "a load without a layout");
    load.layout = td_layout::create("r c -> r c");
    load.start(null);
    said(too_wide("uvm_test_top.env.abuf", "backdoor_load_tensor"), "a load of the wrong width");
    load.file = "missing.npy";
    load.start(null);
    said(no_file("uvm_test_top.env.abuf"), "a load of a file that is missing");

    dump = td_dump_seq::type_id::create("dump");
    dump.memory = env.abuf;
    dump.layout = rows;
    dump.start(null);
    said(no_tensor("uvm_test_top.env.abuf", "backdoor_dump_tensor"), "a dump into nothing");
    dump.dtype = "i16";
    dump.shape = "4 x";
    dump.start(null);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/SHAPE] shape \"4 x\": a number is needed at column 3; write it as ",
          "\"2 3 4\""}, "a dump of a shape that is none");
    dump.shape = "4 8";
    dump.file = "nowhere/dump.npy";
    dump.start(null);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/FILE] tensor_save \"nowhere/dump.npy\": cannot create the file: No ",
          "such ",
          "file or directory; check the folder and its permissions"}, "a dump to a folder that is missing");

    compare = td_compare_seq::type_id::create("compare");
    compare.memory = env.abuf;
    compare.layout = rows;
    compare.start(null);
    said(no_tensor("uvm_test_top.env.abuf", "backdoor_compare_tensor"), "a comparison without a golden tensor");
    ok(compare.report == null && !compare.passed(), "does not pass");
    compare.tensor = act;
    compare.policy = "close";
    compare.start(null);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/OPTION] backdoor_compare_tensor \"abuf\": unknown word \"close\" in ",
          "policy ",
          "\"close\"; the words are exact, atol=X, rtol=X, ulp=N, nan=, inf=, zero=, ftz, max=N, check_pad and stats"},
         "a policy that is none");
  endtask
endclass
