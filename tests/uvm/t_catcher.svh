// Records what is reported: every report of td_uvm_pkg, and every warning, error and fatal of anyone. The reports are
// passed on unchanged, so that UVM counts them. Created by t_base.
class t_catcher extends uvm_report_catcher;
  int          errors;         // in the whole test
  int          id_counts[string];
  local string m_lines[$];

  function new(input string name = "t_catcher");
    super.new(name);
  endfunction

  virtual function action_e catch();
    uvm_report_object client;
    string            id;
    string            from;
    uvm_severity      severity;
    id = get_id();
    severity = get_severity();
    if (severity == UVM_INFO && (id.len() < 3 || id.substr(0, 2) != "TD/")) return THROW;
    // Warnings that UVM gives when it has no DPI.
    if (id == "UVM/COMP/NAME" || id == "NO_VISIT_CHECK") return THROW;
    client = get_client();
    from = client.get_full_name();
    if (from == "") from = "reporter";
    m_lines.push_back($sformatf("%s %s [%s] %s", severity.name(), from, id, get_message()));
    if (severity != UVM_INFO) errors++;
    if (id_counts.exists(id)) id_counts[id]++;
    else id_counts[id] = 1;
    return THROW;
  endfunction

  // Returns what was reported since the last call.
  function string take();
    string all;
    foreach (m_lines[i]) begin
      if (i == 0) all = m_lines[i];
      else all = {all, " | ", m_lines[i]};
    end
    m_lines.delete();
    return all;
  endfunction
endclass
