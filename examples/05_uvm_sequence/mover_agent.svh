// Driver, sequencer and monitor of one command port.
class mover_agent extends uvm_agent;
  `uvm_component_utils(mover_agent)

  mover_sequencer sequencer;
  mover_driver    driver;
  mover_monitor   monitor;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    monitor = mover_monitor::type_id::create("monitor", this);
    if (get_is_active() == UVM_ACTIVE) begin
      sequencer = mover_sequencer::type_id::create("sequencer", this);
      driver = mover_driver::type_id::create("driver", this);
    end
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    if (get_is_active() == UVM_ACTIVE) driver.seq_item_port.connect(sequencer.seq_item_export);
  endfunction
endclass
