// The td_reporter for UVM. A failed call becomes a uvm_error with the id TD/<STATUS>, as TD/SHAPE for TD_SHAPE; a
// comparison becomes a uvm_info TD/MATCH or a uvm_error TD/MISMATCH. The first component or sequence of this package
// that is created installs it; a testbench that makes calls earlier than that calls td_uvm_reporter::install_once().
class td_uvm_reporter extends td_reporter;
  local static td_uvm_reporter   m_installed;
  local static uvm_report_object m_speaker;  // reports the next message; null for UVM's root

  // Installs it the first time only, so that a reporter which the testbench installs later is not replaced.
  static function void install_once();
    td_reporter base;
    if (m_installed != null) return;
    m_installed = new;
    base = m_installed;
    td_reporter::install(base);
  endfunction

  // Reports a failure in the name of a component, whose full name is in the message. `speaker` may be null.
  static function void fail(input uvm_report_object speaker, input td_status_e status, input string message);
    install_once();
    m_speaker = speaker;
    td_reporter::report(status, message);
    m_speaker = null;
  endfunction

  // Reports the line of a comparison in the name of a component, and writes its page if pages are wanted; when
  // something differs, the whole report follows at verbosity UVM_HIGH. `speaker` may be null; the page then has `name`.
  static function void announce(input uvm_report_object speaker, input td_report report,
                                input string name = "compare");
    uvm_report_object root;
    install_once();
    m_speaker = speaker;
    report.announce(speaker == null ? name : speaker.get_full_name());
    m_speaker = null;
    root = uvm_root::get();
    if (report.passed()) return;
    if (speaker == null) `uvm_info_context("TD/REPORT", report.text(), UVM_HIGH, root)
    else `uvm_info_context("TD/REPORT", report.text(), UVM_HIGH, speaker)
  endfunction

  // The same for the checkpoints of a program.
  static function void announce_checkpoints(input uvm_report_object speaker, input td_checkpoints checkpoints,
                                            input string name = "program");
    uvm_report_object root;
    install_once();
    m_speaker = speaker;
    checkpoints.announce(speaker == null ? name : speaker.get_full_name());
    m_speaker = null;
    root = uvm_root::get();
    if (checkpoints.passed()) return;
    if (speaker == null) `uvm_info_context("TD/REPORT", checkpoints.text(), UVM_HIGH, root)
    else `uvm_info_context("TD/REPORT", checkpoints.text(), UVM_HIGH, speaker)
  endfunction

  virtual function void failure(input td_status_e status, input string message);
    uvm_report_object speaker;
    string            name;
    speaker = who();
    name = status.name();
    `uvm_error_context({"TD/", name.substr(3, name.len() - 1)}, message, speaker)
  endfunction

  // Nothing here: announce() prints the report at UVM_HIGH.
  virtual function void mismatches(input string text);
  endfunction

  virtual function void compared(input bit passed, input string line);
    uvm_report_object speaker;
    speaker = who();
    if (passed) `uvm_info_context("TD/MATCH", line, UVM_LOW, speaker)
    else `uvm_error_context("TD/MISMATCH", line, speaker)
  endfunction

  local function uvm_report_object who();
    if (m_speaker != null) return m_speaker;
    return uvm_root::get();
  endfunction
endclass
