// Sends into UVM what the loud calls of td_pkg say. A failure is a uvm_error with the id TD/<STATUS>, as TD/SHAPE for
// TD_SHAPE; a comparison is a uvm_info TD/MATCH or a uvm_error TD/MISMATCH. The try_ twins stay quiet, as they never
// come to a reporter. The components and sequences of this package install it when the first of them is made; a
// testbench whose loud calls come earlier calls td_uvm_reporter::install_once().
class td_uvm_reporter extends td_reporter;
  local static td_uvm_reporter   m_installed;
  local static uvm_report_object m_speaker;  // in whose name the next message is; null for UVM's root

  // A reporter that the testbench installs afterwards stays.
  static function void install_once();
    td_reporter base;
    if (m_installed != null) return;
    m_installed = new;
    base = m_installed;
    td_reporter::install(base);
  endfunction

  // A failure in the name of a component: its full name stands in the message. `speaker` may be null.
  static function void fail(input uvm_report_object speaker, input td_status_e status, input string message);
    install_once();
    m_speaker = speaker;
    td_reporter::report(status, message);
    m_speaker = null;
  endfunction

  // The line of a comparison, and its page where pages are wanted, in the name of a component; at UVM_HIGH all of a
  // report that has found a difference.
  static function void announce(input uvm_report_object speaker, input td_report report);
    install_once();
    m_speaker = speaker;
    report.announce(speaker.get_full_name());
    m_speaker = null;
    if (!report.passed()) `uvm_info_context("TD/REPORT", report.text(), UVM_HIGH, speaker)
  endfunction

  virtual function void failure(input td_status_e status, input string message);
    uvm_report_object speaker;
    string            name;
    speaker = who();
    name = status.name();
    `uvm_error_context({"TD/", name.substr(3, name.len() - 1)}, message, speaker)
  endfunction

  // announce() has it at UVM_HIGH.
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
