// How a tensor lies in a memory: a pattern, options, an address, in the language of src/tensordoor.h section 5. Made
// with create, or with open out of a layout file; it never changes, and any number of loads and dumps may share it.
class td_layout;
  local longint unsigned m_handle;
  local string           m_pattern;
  local string           m_options;
  local string           m_address;
  local string           m_as;

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

  // td_layout::open("layouts.txt", "weights"): a named layout out of a layout file; null when it is refused.
  static function td_layout open(input string path, input string name);
    td_layout   layout;
    string      message;
    td_status_e status;
    status = try_open(path, name, layout, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return layout;
  endfunction

  static function td_status_e try_open(input string path, input string name, output td_layout layout,
                                       output string message);
    longint unsigned handle;
    td_status_e      status;
    layout = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_layout_open(path, name, handle, message));
    if (status != TD_OK) return status;
    layout = new(handle);
    return layout.learn(message);
  endfunction

  // For create; a handle from elsewhere is refused when it is used.
  function new(input longint unsigned handle);
    m_handle = handle;
  endfunction

  // The strings never change: one call fetches them for good.
  local function td_status_e learn(output string message);
    string      pattern;
    string      options;
    string      address;
    string      as_text;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_layout_info(m_handle, pattern, options, address, as_text, message));
    m_pattern = pattern;
    m_options = options;
    m_address = address;
    m_as = as_text;
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

  // The conversion that came with it out of a layout file, or ""; loads and dumps that say none use it.
  function string conversion();
    return m_as;
  endfunction

  // What the layout does to a tensor, in text: axes and steps, the first and last words with the coordinate in every
  // lane, the bits used and wasted, the plan. A width of 0 is what the lanes need; a depth or a number of banks of 0
  // is any.
  function string explain(input string dtype, input string shape, input longint unsigned width = 0,
                          input longint unsigned depth = 0, input longint unsigned banks = 0, input string as = "");
    string      text;
    string      message;
    td_status_e status;
    status = try_explain(dtype, shape, width, depth, banks, as, text, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return text;
  endfunction

  function td_status_e try_explain(input string dtype, input string shape, input longint unsigned width,
                                   input longint unsigned depth, input longint unsigned banks, input string as,
                                   output string text, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_layout_explain(m_handle, dtype, shape, as, width, depth, banks, text,
                                                          message));
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
