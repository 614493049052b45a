// All settings of a comparison, for backdoor_compare of a memory or a bank set. Created with new; only golden and
// layout are required:
//
//   td_comparison what = new;
//   what.set_golden(golden);
//   what.set_layout(rows);
//   what.policy = "ulp=1";              what counts as equal; "" for equal bits
//   what.as = "i8 scale=0.05";          what the memory holds; "" for the tensor's own bits
//   what.set_mask(valid);               elements where it is 0 are not compared
//   what.set_snapshot(earlier);         bits outside the layout must not have changed since
//   report = obuf.backdoor_compare(what);
//
// Its members are handles, not objects: with an object as a member, Verilator 5.006 makes C++ that does not compile
// when it is split over files.
class td_comparison;
  // td_backdoor reads these two; Verilator 5.006 warns that nobody does:
  // verilator lint_off UNUSEDSIGNAL
  string policy;
  string as;
  // verilator lint_on UNUSEDSIGNAL

  local longint unsigned m_golden;
  local longint unsigned m_layout;
  local longint unsigned m_mask;
  local longint unsigned m_snapshot;

  // Sets the expected values.
  function void set_golden(input td_tensor golden);
    m_golden = 0;
    if (golden != null) m_golden = golden.handle();
  endfunction

  // Sets how they lie in the memory.
  function void set_layout(input td_layout layout);
    m_layout = 0;
    if (layout != null) m_layout = layout.handle();
  endfunction

  // Sets a mask, a tensor of the golden tensor's shape: elements where it is 0 are not compared; null for none.
  function void set_mask(input td_tensor mask);
    m_mask = 0;
    if (mask != null) m_mask = mask.handle();
  endfunction

  // Sets a snapshot: a bit outside the layout that has changed since it was taken makes the comparison fail; null for
  // none.
  function void set_snapshot(input td_snapshot snapshot);
    m_snapshot = 0;
    if (snapshot != null) m_snapshot = snapshot.handle();
  endfunction

  // For td_backdoor; 0 stands for what was not set.
  function longint unsigned golden_handle();
    return m_golden;
  endfunction

  function longint unsigned layout_handle();
    return m_layout;
  endfunction

  function longint unsigned mask_handle();
    return m_mask;
  endfunction

  function longint unsigned snapshot_handle();
    return m_snapshot;
  endfunction
endclass
