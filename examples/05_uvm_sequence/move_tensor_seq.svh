// Loads a tensor (b, w, c) into the source memory and lets the design move it: four channels in a word, the tiles of
// one (b, w) in neighbouring words. Started on the agent's sequencer, with `file` set.
class move_tensor_seq extends uvm_sequence #(mover_item);
  `uvm_object_utils(move_tensor_seq)

  string file;

  function new(string name = "move_tensor_seq");
    super.new(name);
  endfunction

  virtual task body();
    td_load_seq load;
    int unsigned b, w, c;

    load = td_load_seq::type_id::create("given");
    load.memory_name = "src";
    load.file = file;
    load.layout = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4");
    load.start(m_sequencer, this);
    if (load.status != TD_OK) return;

    void'($sscanf(load.tensor.shape(), "%d %d %d", b, w, c));
    req = mover_item::type_id::create("req");
    start_item(req);
    req.n_b = b;
    req.n_w = w;
    req.n_ct = c / 4;
    finish_item(req);
  endtask
endclass
