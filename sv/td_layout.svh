// How a tensor lies in a memory: a pattern, options, an address, in the language of src/tensordoor.h section 5. Made
// with create; it never changes, and any number of loads and dumps may share it.
class td_layout;
  local longint unsigned m_handle;
  local string           m_pattern;
  local string           m_options;
  local string           m_address;

  // td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4", "0x100 + index"); null when it is refused.
  static function td_layout create(input string pattern, input string options = "", input string address = "");
    td_layout   layout;
    string      message;
    td_status_e status;
    status = try_create(pattern, options, address, layout, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return layout;
  endfunction

  static function td_status_e try_create(input string pattern, input string options, input string address,
                                         output td_layout layout, output string message);
    longint unsigned handle;
    td_status_e      status;
    layout = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_layout_create(pattern, options, address, handle, message));
    if (status != TD_OK) return status;
    layout = new(handle);
    return layout.learn(message);
  endfunction

  // For create; a handle from elsewhere is refused when it is used.
  function new(input longint unsigned handle);
    m_handle = handle;
  endfunction

  // The strings never change, so that they are asked for once.
  local function td_status_e learn(output string message);
    string      pattern;
    string      options;
    string      address;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_layout_info(m_handle, pattern, options, address, message));
    m_pattern = pattern;
    m_options = options;
    m_address = address;
    return status;
  endfunction

  // What crosses DPI instead of this object.
  function longint unsigned handle();
    return m_handle;
  endfunction

  // The three strings in canonical form.
  function string pattern();
    return m_pattern;
  endfunction

  function string options();
    return m_options;
  endfunction

  function string address();
    return m_address;
  endfunction

  // Frees the layout; every later use is TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_layout_destroy(m_handle, message));
  endfunction
endclass
