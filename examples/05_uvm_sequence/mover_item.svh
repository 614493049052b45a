// One command for the tile mover: the sizes of the tensor that it moves, in words. The monitor adds how long it took.
class mover_item extends uvm_sequence_item;
  `uvm_object_utils(mover_item)

  int unsigned n_b;
  int unsigned n_w;
  int unsigned n_ct;
  int unsigned cycles;

  function new(string name = "mover_item");
    super.new(name);
  endfunction

  virtual function string convert2string();
    return $sformatf("%0d x %0d x %0d words in %0d cycles", n_b, n_w, n_ct, cycles);
  endfunction
endclass
