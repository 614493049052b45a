// Moves one tensor. What lies in the second memory is the tensor of the first with w outside, so that the same file is
// the golden one, through another layout.
class mover_test extends uvm_test;
  `uvm_component_utils(mover_test)

  mover_env env;

  function new(string name, uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(uvm_phase phase);
    super.build_phase(phase);
    env = mover_env::type_id::create("env", this);
    write_tensor("given.npy");
  endfunction

  virtual function void connect_phase(uvm_phase phase);
    super.connect_phase(phase);
    env.scoreboard.golden_file = "given.npy";
    env.scoreboard.golden_name = "given";
    env.scoreboard.layout = td_layout::create("b w (ct cs) -> (w b ct) cs", "cs=4");
  endfunction

  virtual task run_phase(uvm_phase phase);
    move_tensor_seq seq;
    phase.raise_objection(this);
    seq = move_tensor_seq::type_id::create("seq");
    seq.file = "given.npy";
    seq.start(env.agent.sequencer);
    phase.drop_objection(this);
  endtask

  // What a training framework would have left here.
  local function void write_tensor(string file);
    td_tensor given;
    given = td_tensor::create("i16", "8 16 32");
    given.fill_random(td_uvm_plusargs::seed());
    given.save(file);
    given.destroy();
  endfunction
endclass
