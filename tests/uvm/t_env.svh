// The memories that the tests share, and a sequencer. Created by t_base.
class t_env extends uvm_env;
  `uvm_component_utils(t_env)

  td_uvm_mem     abuf;   // 256 words of 64 bits
  td_uvm_mem     sram;   // the same size, an array in the design
  td_uvm_mem     wide;   // 256 words of 128 bits
  td_uvm_mem     odd;    // 16 words of 24 bits
  td_uvm_mem     tiles;  // four banks
  uvm_sequencer #(uvm_sequence_item) sequencer;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    abuf = td_uvm_mem::type_id::create("abuf", this);
    sram = td_uvm_mem::type_id::create("sram", this);
    wide = td_uvm_mem::type_id::create("wide", this);
    odd = td_uvm_mem::type_id::create("odd", this);
    tiles = td_uvm_mem::type_id::create("tiles", this);
    sequencer = uvm_sequencer#(uvm_sequence_item)::type_id::create("sequencer", this);
  endfunction
endclass
