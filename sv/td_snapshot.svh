// A copy of a memory, or of every bank of a set, as it was when take_snapshot was called; freed with destroy. A
// td_comparison with a snapshot finds bits outside the layout that have changed since.
class td_snapshot;
  local td_addresses_t   m_copies;  // handles of the copies
  local longint unsigned m_handle;  // the list of these handles in C

  // Called by take_snapshot with the copies of all banks, which the snapshot owns from now on.
  function td_status_e hold(input td_addresses_t copies, output string message);
    longint unsigned list_handle;
    td_status_e      status;
    m_copies = copies;
    status = td_list::from_addresses(copies, list_handle, message);
    m_handle = list_handle;
    return status;
  endfunction

  // The handle that stands for this object in calls to C.
  function longint unsigned handle();
    return m_handle;
  endfunction

  static function void free_copies(input td_addresses_t copies, input int count);
    string      message;
    td_status_e status;
    for (int i = 0; i < count; i++) begin
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_destroy(copies[i], message));
      if (status != TD_OK) td_reporter::report(status, message);
    end
  endfunction

  function void destroy();
    free_copies(m_copies, m_copies.size());
    m_copies = new[0];
    td_list::destroy(m_handle);
    m_handle = 0;
  endfunction
endclass
