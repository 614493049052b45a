// The scoreboard of tensordoor, told by the monitor when to look: each time that the design has moved a tensor.
class mover_checker extends td_uvm_scoreboard;
  `uvm_component_utils(mover_checker)

  uvm_analysis_imp #(mover_item, mover_checker) moved;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    moved = new("moved", this);
  endfunction

  virtual function void write(mover_item item);
    void'(compare_now());
  endfunction
endclass
