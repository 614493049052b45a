// Loads a tensor into a memory: set the fields of td_mem_seq and start it.
//
//   load = td_load_seq::type_id::create("weights");
//   load.memory = env.wbuf;
//   load.file = "weights.npy";        +td_load=weights:other.npy on the command line overrides it
//   load.layout = tiles;
//   load.start(null);
class td_load_seq extends td_mem_seq;
  `uvm_object_utils(td_load_seq)

  function new(input string name = "td_load_seq");
    super.new(name);
  endfunction

  virtual function td_status_e move(output string message);
    return memory.try_backdoor_load_tensor(tensor, layout, as, message);
  endfunction
endclass
