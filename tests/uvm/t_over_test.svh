// Tests that a memory which lies over macros of the design is as good for td_uvm_mem as any other: found, loaded,
// compared, and in its messages.
class t_over_test extends t_base;
  `uvm_component_utils(t_over_test)

  td_uvm_mem over;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    over = td_uvm_mem::type_id::create("over", this);
  endfunction

  virtual task main();
    td_tensor   back;
    td_report   report;
    td_load_seq load;
    over.backdoor_load_tensor(act, rows);
    equal(over.memory().get_bits('h11), 64'h0007000600050004, "a word of the memory");
    back = td_tensor::create("i16", "4 8");
    over.backdoor_dump_tensor(back, rows);
    equal(back.get_bits(31), 31, "a load and a dump");
    report = over.backdoor_compare_tensor(act, rows);
    said(matched("uvm_test_top.over", "over"), "a comparison, with the full name");
    over.memory().clear();
    load = td_load_seq::type_id::create("load");
    load.memory = over;
    load.tensor = act;
    load.layout = rows;
    load.start(env.sequencer);
    report = over.backdoor_compare_tensor(act, rows);
    said(matched("uvm_test_top.over", "over"), "what a sequence has loaded");
  endtask
endclass
