// Everything that a comparison can be told, for backdoor_compare of a memory or a set of banks. Created with new;
// what is not set stays out of it:
//
//   td_comparison what = new;
//   what.set_golden(golden);
//   what.set_layout(rows);
//   what.policy = "ulp=1";              what counts as equal; "" for equal bits
//   what.as = "i8 scale=0.05";          what the memory holds; "" for the tensor's own bits
//   what.set_mask(valid);               elements where it is 0 are not compared
//   what.set_snapshot(earlier);         bits outside the layout must be as they were
//   report = obuf.backdoor_compare(what);
//
// It keeps handles, not objects: an object as a member does not compile on Verilator 5.006 when that splits its C++.
class td_comparison;
  // td_backdoor reads them, which Verilator 5.006 does not see:
  // verilator lint_off UNUSEDSIGNAL
  string policy;
  string as;
  // verilator lint_on UNUSEDSIGNAL

  local longint unsigned m_golden;
  local longint unsigned m_layout;
  local longint unsigned m_mask;
  local longint unsigned m_snapshot;

  // What is expected.
  function void set_golden(input td_tensor golden);
    m_golden = golden.handle();
  endfunction

  // How it lies in the memory.
  function void set_layout(input td_layout layout);
    m_layout = layout.handle();
  endfunction

  // A tensor of the golden tensor's shape: elements where it is 0 are not compared.
  function void set_mask(input td_tensor mask);
    m_mask = mask.handle();
  endfunction

  // Bits outside the layout must be as they were when it was taken.
  function void set_snapshot(input td_snapshot snapshot);
    m_snapshot = snapshot.handle();
  endfunction

  // For td_backdoor; 0 is what was not set.
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
