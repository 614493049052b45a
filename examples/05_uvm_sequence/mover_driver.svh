// Puts one command after another on the port. An item is done when the design is.
class mover_driver extends uvm_driver #(mover_item);
  `uvm_component_utils(mover_driver)

  virtual mover_if vif;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    if (!uvm_config_db#(virtual mover_if)::get(this, "", "vif", vif)) `uvm_fatal("NOVIF", "no mover_if was set")
  endfunction

  virtual task run_phase(uvm_phase phase);
    vif.start <= 1'b0;
    @(posedge vif.rst_n);
    forever begin
      seq_item_port.get_next_item(req);
      drive(req);
      seq_item_port.item_done();
    end
  endtask

  virtual task drive(mover_item item);
    @(posedge vif.clk);
    vif.n_b <= 12'(item.n_b);
    vif.n_w <= 12'(item.n_w);
    vif.n_ct <= 12'(item.n_ct);
    vif.start <= 1'b1;
    @(posedge vif.clk);
    vif.start <= 1'b0;
    do @(posedge vif.clk); while (vif.done !== 1'b1);
  endtask
endclass
