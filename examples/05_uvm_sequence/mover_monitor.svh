// Sees commands on the port, and says what was moved when the design is done with it.
class mover_monitor extends uvm_monitor;
  `uvm_component_utils(mover_monitor)

  virtual mover_if                 vif;
  uvm_analysis_port #(mover_item) ap;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    ap = new("ap", this);
    if (!uvm_config_db#(virtual mover_if)::get(this, "", "vif", vif)) `uvm_fatal("NOVIF", "no mover_if was set")
  endfunction

  virtual task run_phase(uvm_phase phase);
    mover_item item;
    forever begin
      do @(posedge vif.clk); while (vif.start !== 1'b1);
      item = mover_item::type_id::create("item");
      item.n_b = 32'(vif.n_b);
      item.n_w = 32'(vif.n_w);
      item.n_ct = 32'(vif.n_ct);
      while (vif.done !== 1'b1) begin
        @(posedge vif.clk);
        item.cycles++;
      end
      `uvm_info("MOVED", item.convert2string(), UVM_LOW)
      ap.write(item);
    end
  endtask
endclass
