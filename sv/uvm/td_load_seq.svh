// Loads a tensor into a memory: set the fields of td_mem_seq and start it.
//
//   load = td_load_seq::type_id::create("weights");
//   load.memory = env.wbuf;
//   load.file = "weights.npy";        +td_load=weights:other.npy on the command line overrides it
//   load.layout = tiles;
//   load.start(null);
//
// A ready-made test: with `dirty` set, poison is written into the padding of the layout, or of all parts, behind the
// load. What the design calculates, and so every comparison after it, must stay as it was.
class td_load_seq extends td_mem_seq;
  `uvm_object_utils(td_load_seq)

  bit              dirty;       // poison in the padding
  longint unsigned dirty_seed;  // random bits of this seed; 0 for all ones
  longint unsigned dirtied;     // padding elements of the last run; 0: the layout has none, and the test shows nothing

  function new(input string name = "td_load_seq");
    super.new(name);
  endfunction

  virtual function td_status_e move(output string message);
    td_status_e moved;
    dirtied = 0;
    moved = load(message);
    if (moved == TD_OK && dirty) moved = poison(message);
    return moved;
  endfunction

  local function td_status_e load(output string message);
    if (parts != null) return parts.try_load(tensor, message);
    return memory.try_backdoor_load_tensor(tensor, layout, as, message);
  endfunction

  local function td_status_e poison(output string message);
    td_backdoor words;
    if (parts != null) return parts.try_dirty(tensor, dirty_seed, dirtied, message);
    words = memory.backdoor();
    return words.try_backdoor_dirty_padding(tensor, layout, dirty_seed, as, dirtied, message);
  endfunction
endclass
