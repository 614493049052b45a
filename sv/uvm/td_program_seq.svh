// Runs a program (td_program), or a label of it: loads, fills, dumps and checkpoints in one call. It consumes no
// simulation time and sends no items, so it can be started on any sequencer or on none. One program serves several
// sequences, as one that loads, and one that checks when the design has run:
//
//   load = td_program_seq::type_id::create("load");
//   load.file = "infer.td";
//   load.label = "load";
//   load.start(env.sequencer);
//   ...
//   check = td_program_seq::type_id::create("check");
//   check.prog = load.prog;
//   check.label = "check";
//   check.scoreboard = env.scoreboard;
//   check.start(env.sequencer);
//
// Memories that the text names and nobody has bound are found with td_uvm_mem::get from the sequencer upwards. The
// checkpoints go to the scoreboard, which counts them; without one they are announced here: a uvm_info TD/MATCH, or a
// uvm_error TD/MISMATCH with the first that differs.
class td_program_seq extends uvm_sequence #(uvm_sequence_item);
  `uvm_object_utils(td_program_seq)

  td_program        prog;         // or:
  string            file;         // its program is opened
  string            label;        // "" for all of it
  string            arguments;    // of the run: "seed=7"
  td_uvm_scoreboard scoreboard;   // may be null
  td_checkpoints    checkpoints;  // of the last run; null when it had none, or was refused
  td_status_e       status;       // of the last run; a failure was also reported

  function new(input string name = "td_program_seq");
    super.new(name);
    td_uvm_reporter::install_once();
  endfunction

  // 1 when the last run had checkpoints, and none of them differs.
  function bit passed();
    return status == TD_OK && checkpoints != null && checkpoints.passed();
  endfunction

  virtual task body();
    string message;
    checkpoints = null;
    status = find(message);
    if (status == TD_OK) status = bind_memories(message);
    if (status == TD_OK) status = run(message);
    if (status != TD_OK) td_uvm_reporter::fail(speaker(), status, message);
    else if (checkpoints != null) begin
      if (scoreboard != null) void'(scoreboard.take(checkpoints));
      else td_uvm_reporter::announce_checkpoints(speaker(), checkpoints, get_name());
    end
  endtask

  // For derived classes: makes the run.
  virtual function td_status_e run(output string message);
    td_checkpoints found;
    td_status_e    ran;
    ran = prog.try_run(label, arguments, found, message);
    checkpoints = found;
    return ran;
  endfunction

  local function td_status_e find(output string message);
    td_program  found;
    td_status_e opened;
    message = "";
    if (prog != null) return TD_OK;
    if (file == "") begin
      message = $sformatf("td_program_seq \"%s\": no program; set prog, or file", get_name());
      return TD_HANDLE;
    end
    opened = td_program::try_open(file, found, message);
    prog = found;
    return opened;
  endfunction

  local function td_status_e bind_memories(output string message);
    td_uvm_mem  found;
    string      name;
    bit         is_bound;
    td_status_e bound;
    for (int i = 0; 1; i++) begin
      bound = prog.try_memory_name(i, name, is_bound, message);
      if (bound != TD_OK || name == "") return bound;
      if (is_bound) continue;
      bound = td_uvm_mem::try_get(m_sequencer, name, found, message);
      if (bound != TD_OK) begin
        message = $sformatf("td_program_seq \"%s\": %s", get_name(), message);
        return bound;
      end
      if (found.memory() != null) bound = prog.try_bind_memory(name, found.memory(), message);
      else bound = prog.try_bind_banks(name, found.banks(), message);
      if (bound != TD_OK) return bound;
    end
  endfunction

  protected function uvm_report_object speaker();
    return m_sequencer;
  endfunction
endclass
