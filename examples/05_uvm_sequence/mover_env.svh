// The agent, the memories on both sides of the design, and the scoreboard that looks into the second.
class mover_env extends uvm_env;
  `uvm_component_utils(mover_env)

  mover_agent   agent;
  td_uvm_mem    src;
  td_uvm_mem    dst;
  mover_checker scoreboard;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    agent = mover_agent::type_id::create("agent", this);
    src = td_uvm_mem::type_id::create("src", this);
    dst = td_uvm_mem::type_id::create("dst", this);
    scoreboard = mover_checker::type_id::create("scoreboard", this);
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    scoreboard.memory = dst;
    agent.monitor.ap.connect(scoreboard.moved);
  endfunction
endclass
