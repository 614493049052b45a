// Compares a memory with a golden tensor: whenever compare_now() is called, or, if it never is, once in the
// check_phase. It also counts the checkpoints of programs, which a td_program_seq hands to it. A scoreboard that has
// compared nothing by the end of the test is an error. Create one for each result in the build_phase of an environment,
// and set its fields before the check_phase:
//
//   scoreboard = td_uvm_scoreboard::type_id::create("scoreboard", this);
//   scoreboard.memory = obuf;
//   scoreboard.golden_file = "golden.npy";        +td_load=scoreboard:other.npy overrides it
//   scoreboard.layout = rows;
//   scoreboard.policy = "ulp=1";
class td_uvm_scoreboard extends uvm_scoreboard;
  `uvm_component_utils(td_uvm_scoreboard)

  td_uvm_mem memory;       // or:
  string     memory_name;  // found with td_uvm_mem::get from this component upwards
  td_tensor  golden;       // or:
  string     golden_file;
  string     golden_name;  // for +td_load=NAME:FILE; "" is the name of the component
  td_layout  layout;
  string     policy;       // what counts as equal: "ulp=1", "atol=0.1"; "" for equal bits
  string     as;           // what the memory holds; "" for the tensor's own bits
  td_report  report;       // of the last comparison; null when it could not be made
  td_checkpoints checkpoints;  // that it has taken last; null for none

  local int              m_calls;
  local int              m_comparisons;
  local longint unsigned m_elems;
  local longint unsigned m_mismatches;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
    td_uvm_reporter::install_once();
  endfunction

  // Compares now, with the fields as they are; returns 1 when everything is equal.
  virtual function bit compare_now();
    string      message;
    td_status_e status;
    m_calls++;
    report = null;
    status = try_compare(message);
    if (status != TD_OK) begin
      td_uvm_reporter::fail(this, status, message);
      return 1'b0;
    end
    m_comparisons++;
    m_elems += report.compared();
    m_mismatches += report.mismatches();
    td_uvm_reporter::announce(this, report);
    return report.passed();
  endfunction

  // Counts the checkpoints of a program, each as a comparison, and announces them; returns 1 when none differs. This is
  // what a td_program_seq calls.
  virtual function bit take(input td_checkpoints found);
    string           name;
    string           line;
    string           message;
    bit              good;
    longint unsigned compared;
    longint unsigned differ;
    td_status_e      status;
    m_calls++;
    checkpoints = found;
    for (int i = 0; i < found.count(); i++) begin
      status = found.try_at(i, name, good, compared, differ, line, message);
      if (status != TD_OK) begin
        td_uvm_reporter::fail(this, status, message);
        return 1'b0;
      end
      m_comparisons++;
      m_elems += compared;
      m_mismatches += differ;
    end
    td_uvm_reporter::announce_checkpoints(this, found);
    return found.passed();
  endfunction

  function longint unsigned mismatches();
    return m_mismatches;
  endfunction

  virtual function void check_phase(input uvm_phase phase);
    super.check_phase(phase);
    if (m_calls == 0 && has_golden()) void'(compare_now());
    if (m_calls == 0)
      `uvm_error("TD/NOTHING_COMPARED", "nothing was compared; set golden or golden_file, or call compare_now()")
  endfunction

  virtual function void report_phase(input uvm_phase phase);
    super.report_phase(phase);
    `uvm_info("TD/SCOREBOARD", $sformatf("comparisons: %0d, elements: %0d, mismatches: %0d", m_comparisons, m_elems,
                                         m_mismatches), UVM_LOW)
  endfunction

  local function bit has_golden();
    return golden != null || golden_file != "" || golden_name != "";
  endfunction

  local function td_status_e try_compare(output string message);
    td_uvm_mem  found_memory;
    td_tensor   found;
    td_report   found_report;
    td_status_e status;
    if (memory == null) begin
      status = td_uvm_mem::try_get(this, memory_name, found_memory, message);
      if (status != TD_OK) return status;
      memory = found_memory;
    end
    status = td_uvm_plusargs::try_tensor(golden_name == "" ? get_name() : golden_name, golden_file, "", golden, found,
                                         message);
    if (status != TD_OK) return status;
    golden = found;
    status = memory.try_backdoor_compare_tensor(golden, layout, policy, as, found_report, message);
    report = found_report;
    return status;
  endfunction
endclass
