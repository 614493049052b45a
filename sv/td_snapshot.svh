// A memory, or every bank of a set, as it was: created with `take_snapshot` of either, freed with destroy. A
// td_comparison that has it finds what was written outside the layout since.
class td_snapshot;
  local longint unsigned m_copies[$];

  // For take_snapshot: the copy of one more bank.
  function void add(input longint unsigned copy);
    m_copies.push_back(copy);
  endfunction

  // The copies as C takes them, which the caller destroys.
  function td_status_e to_list(output longint unsigned list_handle, output string message);
    td_addresses_t handles;
    handles = new[m_copies.size()];
    for (int i = 0; i < m_copies.size(); i++) handles[i] = m_copies[i];
    return td_list::from_addresses(handles, list_handle, message);
  endfunction

  function void destroy();
    string      message;
    td_status_e status;
    for (int i = 0; i < m_copies.size(); i++) begin
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_destroy(m_copies[i], message));
      if (status != TD_OK) td_reporter::report(status, message);
    end
    m_copies.delete();
  endfunction
endclass
