// Compares a memory with a golden tensor, without a dump: set the fields of td_mem_seq, with `tensor` as the golden
// one, and start it. A difference is a uvm_error with the id TD/MISMATCH.
class td_compare_seq extends td_mem_seq;
  `uvm_object_utils(td_compare_seq)

  string    policy;  // what counts as equal: "ulp=1", "atol=0.1"; "" for equal bits
  td_report report;  // the result; null when it could not compare

  function new(input string name = "td_compare_seq");
    super.new(name);
  endfunction

  function bit passed();
    return report != null && report.passed();
  endfunction

  virtual function td_status_e move(output string message);
    td_report   found;
    td_status_e moved;
    moved = compare(found, message);
    report = found;
    if (moved == TD_OK) td_uvm_reporter::announce(speaker(), report, get_name());
    return moved;
  endfunction

  local function td_status_e compare(output td_report found, output string message);
    if (parts != null) return parts.try_compare(tensor, policy, found, message);
    return memory.try_backdoor_compare_tensor(tensor, layout, policy, as, found, message);
  endfunction
endclass
