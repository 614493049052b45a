// A UVM component around a td_backdoor (a td_memory, a td_design_memory or a td_bank_set). It gives the memory a place
// in the component hierarchy, and its messages have the component's full name. Created in the build_phase of its
// parent:
//
//   td_uvm_mem::put("*.env.wbuf", wbuf_mem::create("wbuf"));        in the top module, before run_test
//   wbuf = td_uvm_mem::type_id::create("wbuf", this);               in the environment
//   wbuf = td_uvm_mem::get(m_sequencer, "wbuf");                    in a sequence of this environment
//
// backdoor() returns the wrapped object, which has all other calls.
class td_uvm_mem extends uvm_component;
  `uvm_component_utils(td_uvm_mem)

  local td_backdoor m_backdoor;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
    td_uvm_reporter::install_once();
  endfunction

  // ---- how components find their memory, and sequences their component

  // Sets the memory of the component at this path, which may have wildcards.
  static function void put(input string path, input td_backdoor memory);
    td_uvm_reporter::install_once();
    uvm_config_db#(td_backdoor)::set(null, path, "td_backdoor", memory);
  endfunction

  // The same as put; older than put's accepting a bank set.
  static function void put_banks(input string path, input td_bank_set banks);
    put(path, banks);
  endfunction

  // Finds the component of this name among the children of `from` and of the components above it; reports an error and
  // returns null when there is none.
  static function td_uvm_mem get(input uvm_component from, input string name);
    td_uvm_mem  found;
    string      message;
    td_status_e status;
    status = try_get(from, name, found, message);
    if (status != TD_OK) td_uvm_reporter::fail(from, status, message);
    return found;
  endfunction

  static function td_status_e try_get(input uvm_component from, input string name, output td_uvm_mem found,
                                      output string message);
    message = "";
    if (name != "" && uvm_config_db#(td_uvm_mem)::get(from, "", name, found)) return TD_OK;
    found = null;
    if (name == "") message = "no memory; set memory, or memory_name";
    else if (from == null)
      message = $sformatf("no td_uvm_mem \"%s\" without a component to look from; set memory", name);
    else
      message = $sformatf("no td_uvm_mem \"%s\" beside %s or above; create one, or set memory", name,
                          from.get_full_name());
    return TD_HANDLE;
  endfunction

  // Sets the memory directly, instead of put; call it before the end_of_elaboration_phase.
  function void set_memory(input td_backdoor memory);
    m_backdoor = memory;
  endfunction

  // The same as set_memory; older than set_memory's accepting a bank set.
  function void set_banks(input td_bank_set banks);
    m_backdoor = banks;
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    if (m_backdoor == null) void'(uvm_config_db#(td_backdoor)::get(this, "", "td_backdoor", m_backdoor));
    uvm_config_db#(td_uvm_mem)::set(get_parent(), "", get_name(), this);
    uvm_config_db#(td_uvm_mem)::set(get_parent(), "*", get_name(), this);
  endfunction

  // A missing memory is reported here, because UVM ends the run after any error in the build_phase.
  virtual function void end_of_elaboration_phase(input uvm_phase phase);
    super.end_of_elaboration_phase(phase);
    td_uvm_plusargs::check_form();
    if (m_backdoor == null)
      fail(TD_HANDLE, $sformatf("no memory for this component; before run_test: td_uvm_mem::put(\"%s\", memory)",
                                get_full_name()));
  endfunction

  // Names in +td_load are checked here, after the check_phase, in which scoreboards open their golden tensors.
  virtual function void report_phase(input uvm_phase phase);
    super.report_phase(phase);
    td_uvm_plusargs::check_names();
  endfunction

  // ---- the wrapped object

  // The wrapped object; null when none was set.
  function td_backdoor backdoor();
    return m_backdoor;
  endfunction

  // The same as a td_memory; null when it wraps a set of banks.
  function td_memory memory();
    td_memory found;
    if ($cast(found, m_backdoor)) return found;
    return null;
  endfunction

  // The same as a td_bank_set; null when it wraps a memory.
  function td_bank_set banks();
    td_bank_set found;
    if ($cast(found, m_backdoor)) return found;
    return null;
  endfunction

  // Reports the failure of a quiet call in the name of this component.
  function void fail(input td_status_e status, input string message);
    td_uvm_reporter::fail(this, status, message);
  endfunction

  // ---- the calls of td_backdoor

  function void backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    string      message;
    td_status_e status;
    status = try_backdoor_load_tensor(tensor, layout, as, message);
    if (status != TD_OK) fail(status, message);
  endfunction

  virtual function td_status_e try_backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                        output string message);
    if (m_backdoor != null) return m_backdoor.try_backdoor_load_tensor(tensor, layout, as, message);
    return no_memory("backdoor_load_tensor", message);
  endfunction

  function void backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    string      message;
    td_status_e status;
    status = try_backdoor_dump_tensor(tensor, layout, as, message);
    if (status != TD_OK) fail(status, message);
  endfunction

  virtual function td_status_e try_backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                        output string message);
    if (m_backdoor != null) return m_backdoor.try_backdoor_dump_tensor(tensor, layout, as, message);
    return no_memory("backdoor_dump_tensor", message);
  endfunction

  // Returns null when it could not compare.
  function td_report backdoor_compare_tensor(input td_tensor golden, input td_layout layout, input string policy = "",
                                             input string as = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_backdoor_compare_tensor(golden, layout, policy, as, report, message);
    if (status == TD_OK) announce(report);
    else fail(status, message);
    return report;
  endfunction

  virtual function td_status_e try_backdoor_compare_tensor(input td_tensor golden, input td_layout layout,
                                                           input string policy, input string as,
                                                           output td_report report, output string message);
    if (m_backdoor != null) return m_backdoor.try_backdoor_compare_tensor(golden, layout, policy, as, report, message);
    report = null;
    return no_memory("backdoor_compare_tensor", message);
  endfunction

  // Reports the result of a quiet comparison in the name of this component.
  function void announce(input td_report report);
    td_uvm_reporter::announce(this, report);
  endfunction

  function void backdoor_read(input td_addresses_t addresses, output td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_read(addresses, words, message);
    if (status != TD_OK) fail(status, message);
  endfunction

  virtual function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
                                                 output string message);
    if (m_backdoor == null) return no_memory("backdoor_read", message);
    return m_backdoor.try_backdoor_read(addresses, words, message);
  endfunction

  function void backdoor_write(input td_addresses_t addresses, input td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_write(addresses, words, message);
    if (status != TD_OK) fail(status, message);
  endfunction

  virtual function td_status_e try_backdoor_write(input td_addresses_t addresses, input td_words_t words,
                                                  output string message);
    if (m_backdoor == null) return no_memory("backdoor_write", message);
    return m_backdoor.try_backdoor_write(addresses, words, message);
  endfunction

  local function td_status_e no_memory(input string call, output string message);
    message = $sformatf("%s: no memory is in this component; see td_uvm_mem::put", call);
    return TD_HANDLE;
  endfunction
endclass
