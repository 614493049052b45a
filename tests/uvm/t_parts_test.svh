// Tests the sequences with a tensor in parts: packed into two memories, one of them in the design, dumped, compared,
// and with poison in the padding.
class t_parts_test extends t_base;
  `uvm_component_utils(t_parts_test)

  td_tensor       w;      // f32 (6, 40): 12 blocks of 32, the last of each row short
  td_layout       elems;  // 16 elements in a word of 64 bits; 40 columns leave 8 padding lanes in every third word
  td_layout       scales;
  td_parts_layout where;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    w = td_tensor::create("f32", "6 40");
    w.fill("normal seed=3");
    elems = td_layout::create("n (kt ks) -> (n kt) ks", "ks=16 pad=0", "4 + index");
    scales = td_layout::create("n k -> n k");
    where = td_parts_layout::create("mxfp4 rule=rceil");
    where.add_part("elems", env.sram.memory(), elems);
    where.add_part("scales", env.abuf.memory(), scales);
    good();
    dirty();
    refused_ones();
  endtask

  function string all_match(input string from, input string policy);
    return $sformatf({"UVM_INFO %s [TD/MATCH] compare \"sram\" with golden f32 (6, 40) as mxfp4 rule=rceil, ",
                      "policy %s: all 240 elements match"}, from, policy);
  endfunction

  task good();
    td_load_seq    load;
    td_dump_seq    dump;
    td_compare_seq compare;
    td_parts       p;
    td_tensor      values;
    td_report      report;
    string         message;
    td_status_e    found;

    load = td_load_seq::type_id::create("load");
    load.parts = where;
    load.tensor = w;
    load.start(null);
    ok(load.status == TD_OK, "a load of all parts, without a sequencer or a memory");
    p = td_parts::pack(w, "mxfp4 rule=rceil");
    found = env.sram.backdoor().try_backdoor_compare_tensor(p.part("elems"), elems, "", "", report, message);
    ok(found == TD_OK && report.passed(), "has its elements in the design");
    found = env.abuf.backdoor().try_backdoor_compare_tensor(p.part("scales"), scales, "", "", report, message);
    ok(found == TD_OK && report.passed(), "and its scales in the other memory");

    dump = td_dump_seq::type_id::create("dump");
    dump.parts = where;
    dump.dtype = "f32";
    dump.shape = "6 40";
    dump.file = "parts.npy";
    dump.start(env.sequencer);
    values = p.unpack();
    found = values.try_compare(dump.tensor, "", report, message);
    ok(dump.status == TD_OK && report.passed(), "a dump is the values");
    said("", "all of which says nothing");

    compare = td_compare_seq::type_id::create("compare");
    compare.parts = where;
    compare.tensor = w;
    compare.start(null);
    said(all_match("reporter", "exact"), "a comparison by codes");
    compare.policy = "ulp=1";
    compare.start(env.sequencer);
    said(all_match("uvm_test_top.env.sequencer", "ulp=1"), "in steps of the element, on a sequencer");
    compare.memory = env.sram;
    compare.start(env.sequencer);
    said(all_match("uvm_test_top.env.sram", "ulp=1"), "in the name of a memory");
    ok(compare.passed(), "passes");
    env.abuf.memory().set_bits(0, env.abuf.memory().get_bits(0) + 1);
    compare.memory = null;
    compare.policy = "";
    compare.start(null);
    starts(seen.take(), {"UVM_ERROR reporter [TD/MISMATCH] compare \"sram\" with golden f32 (6, 40) as mxfp4 ",
                         "rule=rceil, policy exact: 32 of 240 elements differ"}, "a wrong scale");
    ok(!compare.passed() && compare.status == TD_OK, "does not pass");
  endtask

  task dirty();
    td_virtual_seq run;
    td_load_seq    load;
    td_compare_seq compare;
    t_copy_seq     copy;

    copy = t_copy_seq::type_id::create("copy");
    copy.from = env.abuf.memory();
    copy.into = env.abuf.memory();
    run = td_virtual_seq::type_id::create("run");
    load = run.add_load("weights", null, w);
    load.parts = where;
    load.dirty = 1'b1;
    run.user_seq = copy;
    compare = run.add_compare("weights", null, w);
    compare.parts = where;
    run.start(null);
    said(all_match("reporter", "exact"), "a run with poison in the padding");
    equal(load.dirtied, 6 * 8, "of every padding element");
    equal(env.sram.memory().get_bits(6) >> 32, 64'hffffffff, "which is all ones");
    load.dirty_seed = 5;
    run.start(null);
    said(all_match("reporter", "exact"), "and with random poison");
    ok(env.sram.memory().get_bits(6) >> 32 != 64'hffffffff, "which is something else");
    load.dirty = 1'b0;
    run.start(null);
    said(all_match("reporter", "exact"), "and without");
    equal(env.sram.memory().get_bits(6) >> 32, 0, "has the padding of the layout");

    load = td_load_seq::type_id::create("plain");
    load.memory = env.sram;
    load.tensor = td_tensor::create("u8", "2 5");
    load.layout = td_layout::create("r (ct cs) -> (r ct) cs", "cs=8 pad=0");
    load.dirty = 1'b1;
    load.start(null);
    equal(load.dirtied, 6, "a load by one layout has its padding poisoned, too");
    said("", "without a word");
  endtask

  task refused_ones();
    td_load_seq     load;
    td_parts_layout one;

    load = td_load_seq::type_id::create("load");
    load.parts = where;
    load.layout = elems;
    load.tensor = w;
    load.start(null);
    said({"UVM_ERROR reporter [TD/OPTION] td_load_seq \"load\": parts come with their layouts and their packing; set ",
          "either parts, or layout and as"}, "parts and a layout");
    load.layout = null;
    load.tensor = null;
    load.start(env.sequencer);
    said({"UVM_ERROR uvm_test_top.env.sequencer [TD/HANDLE] backdoor_load_parts: the tensor is null; create it first"},
         "no tensor");
    one = td_parts_layout::create("mxfp4");
    one.add_part("elems", env.sram.memory(), elems);
    load.parts = one;
    load.tensor = w;
    load.start(null);
    said({"UVM_ERROR reporter [TD/OPTION] backdoor_load_parts: the part \"scales\" of \"mxfp4\" has no layout; say ",
          "where it lies, as part scales memory NAME pattern ..."}, "a part without a place");
    ok(load.status == TD_OPTION, "has a status");
  endtask
endclass
