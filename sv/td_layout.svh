// How a tensor lies in a memory: a pattern, options and an address, as section 5 of src/tensordoor.h describes them.
// Made with create, or with open from a layout file. A layout never changes, so any number of loads and dumps may share
// one.
class td_layout;
  local longint unsigned m_handle;
  local string           m_pattern;
  local string           m_options;
  local string           m_address;
  local string           m_as;

  // Makes a layout: td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4", "0x100 + index"); null when it fails.
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

  // Reads a named layout from a layout file: td_layout::open("layouts.txt", "weights"); null when it fails.
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

  // Called by create and open. With any other handle, later calls fail with TD_HANDLE.
  function new(input longint unsigned handle);
    m_handle = handle;
  endfunction

  // Fetches the strings once; they never change.
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

  // The handle that stands for this object in calls to C.
  function longint unsigned handle();
    return m_handle;
  endfunction

  // The pattern in canonical form: equal layouts have equal strings.
  function string pattern();
    return m_pattern;
  endfunction

  // The options in canonical form.
  function string options();
    return m_options;
  endfunction

  // The address in canonical form.
  function string address();
    return m_address;
  endfunction

  // The conversion (`as`) that the layout file gives with it, or ""; it is used by loads and dumps whose own `as` is
  // "".
  function string conversion();
    return m_as;
  endfunction

  // Explains in text what the layout does to a tensor: its axes and their strides, the first and last words with the
  // tensor coordinate in each lane, the bits used and wasted, the plan. A width of 0 means as wide as the lanes need; a
  // depth or a number of banks of 0 means unlimited.
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

  // Frees the layout; later calls with it fail with TD_HANDLE.
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
