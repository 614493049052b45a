// Tests td_uvm_mem: how it is found, and that every message has its full name.
class t_mem_test extends t_base;
  `uvm_component_utils(t_mem_test)

  td_uvm_mem lost;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    lost = td_uvm_mem::type_id::create("lost", this);
  endfunction

  virtual task main();
    td_addresses_t addresses;
    td_words_t     words;
    td_layout      whole_rows;
    td_layout      banked;
    td_tensor      back;
    td_report      report;
    td_status_e    status;
    string         message;

    said({"UVM_ERROR uvm_test_top.lost [TD/HANDLE] no memory for this component; before run_test: ",
          "td_uvm_mem::put(\"uvm_test_top.lost\", memory)"}, "a component without a memory");
    lost.backdoor_load_tensor(act, rows);
    said({"UVM_ERROR uvm_test_top.lost [TD/HANDLE] backdoor_load_tensor: no memory is in this component; see ",
          "td_uvm_mem::put"}, "and a load into it");
    report = lost.backdoor_compare_tensor(act, rows);
    said({"UVM_ERROR uvm_test_top.lost [TD/HANDLE] backdoor_compare_tensor: no memory is in this component; see ",
          "td_uvm_mem::put"}, "and a comparison with it");
    ok(report == null, "which has no report");
    lost.set_memory(td_memory::create("late", 64, 64));
    lost.backdoor_load_tensor(act, rows);
    equal(lost.memory().get_bits('h10), 64'h0003000200010000, "a memory that is set later");
    said("", "is as good");

    ok(td_uvm_mem::get(env.sequencer, "abuf") == env.abuf, "a memory is found from beside it");
    ok(td_uvm_mem::get(env, "abuf") == env.abuf, "and from its parent");
    said("", "which says nothing");
    ok(td_uvm_mem::get(this, "abuf") == null, "not from above");
    said({"UVM_ERROR uvm_test_top [TD/HANDLE] no td_uvm_mem \"abuf\" beside uvm_test_top or above; create one, or set ",
          "memory"}, "which is an error");
    ok(td_uvm_mem::get(null, "abuf") == null, "nor from nowhere");
    said({"UVM_ERROR reporter [TD/HANDLE] no td_uvm_mem \"abuf\" without a component to look from; set memory"},
         "which is one too");

    env.abuf.backdoor_load_tensor(act, rows);
    back = td_tensor::create("i16", "4 8");
    env.abuf.backdoor_dump_tensor(back, rows);
    equal(back.get_bits(31), 31, "a load and a dump");
    report = env.abuf.backdoor_compare_tensor(act, rows);
    said(matched("uvm_test_top.env.abuf", "abuf"), "a comparison, with the full name");
    env.abuf.memory().set_bits('h11, 64'h0007000600050009);
    report = env.abuf.backdoor_compare_tensor(act, rows);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/MISMATCH] compare \"abuf\" with golden i16 (4, 8), policy exact: 1 of ",
          "32 ",
          "elements differs, worst 5 steps, 5 in value; first at (0, 4): expected 4 (0x0004), got 9 (0x0009) at ",
          "address ",
          "0x11 bits 15:0"}, "a difference");
    equal(report.mismatches(), 1, "in one element");
    env.abuf.set_report_verbosity_level(UVM_HIGH);
    report = env.abuf.backdoor_compare_tensor(act, rows, "max=1");
    starts(seen.take(), {
           "UVM_ERROR uvm_test_top.env.abuf [TD/MISMATCH] compare \"abuf\" with golden i16 (4, 8), policy max=1: 1 of ",
           "32 elements ",
           "differs, worst 5 steps, 5 in value; first at (0, 4): expected 4 (0x0004), got 9 (0x0009) at address 0x11 ",
           "bits 15:0",
           " | UVM_INFO uvm_test_top.env.abuf [TD/REPORT] compare \"abuf\" with golden"},
           "all of the report at UVM_HIGH");
    env.abuf.set_report_verbosity_level(UVM_MEDIUM);

    whole_rows = td_layout::create("r c -> r c");
    env.abuf.backdoor_load_tensor(act, whole_rows);
    said(too_wide("uvm_test_top.env.abuf", "backdoor_load_tensor"), "the wrong width");
    status = env.abuf.try_backdoor_load_tensor(act, whole_rows, "", message);
    ok(status == TD_RANGE, "its quiet twin");
    said("", "says nothing");
    env.abuf.backdoor_dump_tensor(back, whole_rows);
    said(too_wide("uvm_test_top.env.abuf", "backdoor_dump_tensor"), "a dump with the wrong width");
    report = env.abuf.backdoor_compare_tensor(null, rows);
    said(no_tensor("uvm_test_top.env.abuf", "backdoor_compare_tensor"), "a golden tensor that is missing");
    ok(report == null, "has no report");

    env.sram.backdoor_load_tensor(act, rows);
    report = env.sram.backdoor_compare_tensor(act, rows);
    said(matched("uvm_test_top.env.sram", "sram"), "a memory in the design");
    equal(env.sram.memory().get_bits('h17), 64'h001f001e001d001c, "has its words there");

    banked = td_layout::create("b (ct cs) -> b ct cs", "cs=4");
    env.tiles.backdoor_load_tensor(act, banked);
    env.tiles.backdoor_dump_tensor(back, banked);
    report = env.tiles.backdoor_compare_tensor(act, banked);
    said(matched("uvm_test_top.env.tiles", "tiles[0]", .more(" and 3 more banks")), "banks");
    equal(env.tiles.banks().bank(3).get_bits(1), 64'h001f001e001d001c, "have their words");
    addresses = new[1];
    addresses[0] = 3 * 64 + 1;
    env.tiles.backdoor_read(addresses, words);
    ok(words.size() == 2 && words[0] == 'h001d001c && words[1] == 'h001f001e, "a word of banks");
    said("", "one bank after another");
    addresses[0] = 256;
    env.tiles.backdoor_read(addresses, words);
    said({"UVM_ERROR uvm_test_top.env.tiles [TD/RANGE] backdoor_read \"tiles\": words 0x100 to 0x100 are past the 4 ",
          "banks ",
          "of 64 words; the last address is 0xff"}, "and none past the last");
    addresses[0] = 'h17;
    env.abuf.backdoor_read(addresses, words);
    equal(64'(words.size()), 2, "a word of a memory");
    words[1] = 0;
    env.abuf.backdoor_write(addresses, words);
    equal(env.abuf.memory().get_bits('h17), 64'h1d001c, "there and back");
    said("", "says nothing");
    addresses[0] = 256;
    env.abuf.backdoor_write(addresses, words);
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/RANGE] backdoor_write \"abuf\": address 0x100 (entry 0) is past the ",
          "memory ",
          "of 256 words; the last address is 0xff"}, "a word past the end");
    ok(env.tiles.memory() == null && env.abuf.banks() == null, "a component wraps one or the other");
    ok(env.tiles.backdoor() != null && env.abuf.backdoor() != null, "and gives either");
  endtask
endclass
