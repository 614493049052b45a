// A user's class that the factory makes in place of td_load_seq.
class t_counted_load extends td_load_seq;
  `uvm_object_utils(t_counted_load)

  static int count;

  function new(input string name = "t_counted_load");
    super.new(name);
  endfunction

  virtual function td_status_e move(output string message);
    count++;
    return super.move(message);
  endfunction
endclass

// A user's class in place of td_uvm_mem.
class t_counted_mem extends td_uvm_mem;
  `uvm_component_utils(t_counted_mem)

  int loads;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function td_status_e try_backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                        output string message);
    loads++;
    return super.try_backdoor_load_tensor(tensor, layout, as, message);
  endfunction
endclass

// Tests that factory overrides take effect wherever this package creates an object.
class t_factory_test extends t_base;
  `uvm_component_utils(t_factory_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    td_load_seq::type_id::set_type_override(t_counted_load::get_type());
    td_uvm_mem::type_id::set_inst_override(t_counted_mem::get_type(), "env.abuf", this);
    super.build_phase(phase);
  endfunction

  virtual task main();
    td_virtual_seq run;
    td_load_seq    load;
    t_counted_mem  counted;
    run = td_virtual_seq::type_id::create("run");
    load = run.add_load("act", env.abuf, act, rows);
    load.start(null);
    ok(load.status == TD_OK, "a load of a user's own kind");
    equal(64'(t_counted_load::count), 1, "was made by the virtual sequence");
    if ($cast(counted, env.abuf)) equal(64'(counted.loads), 1, "into a memory of a user's own kind");
    else ok(1'b0, "a memory of a user's own kind");
    same(env.sram.get_type_name(), "td_uvm_mem", "and the others are ours");
    said("", "which says nothing");
  endtask
endclass
