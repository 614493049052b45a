// Memories of one geometry that a layout sees as one: its bank group, or its `bank = ...`, chooses the memory. Made with
// create, which makes the memories too, or with new and add for memories that are there already. The set does not own
// memories that were added; destroy frees those that create made.
class td_bank_set;
  local td_memory        m_banks[$];
  local int              m_own;
  local bit              m_elsewhere;  // some bank lies in the design
  local longint unsigned m_list;  // the handles as C takes them; 0 while they have not crossed
  local longint unsigned m_none;  // 0. Verilator 5.048 takes a constant for what a call assigns in an `if` after it

  function new();
    m_none = 0;
  endfunction

  // td_bank_set::create("abuf", 4, 64, 1024): four memories "abuf[0]" to "abuf[3]"; null when one is refused.
  static function td_bank_set create(input string name, input int count, input longint unsigned width,
                                     input longint unsigned depth);
    td_bank_set banks;
    string      message;
    td_status_e status;
    status = try_create(name, count, width, depth, banks, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return banks;
  endfunction

  static function td_status_e try_create(input string name, input int count, input longint unsigned width,
                                         input longint unsigned depth, output td_bank_set banks,
                                         output string message);
    td_bank_set made;
    td_memory   memory;
    td_status_e status;
    banks = null;
    message = "";
    made = new;
    status = TD_OK;
    for (int i = 0; i < count && status == TD_OK; i++) begin
      status = td_memory::try_create($sformatf("%s[%0d]", name, i), width, depth, memory, message);
      if (status == TD_OK) made.own(memory);
    end
    if (status == TD_OK) banks = made;
    else made.destroy();
    return status;
  endfunction

  local function void own(input td_memory memory);
    add(memory);
    m_own = m_banks.size();
  endfunction

  // The next bank: a td_memory of any kind, in the design or not.
  function void add(input td_memory memory);
    m_banks.push_back(memory);
    if (memory != null && memory.lies_elsewhere()) m_elsewhere = 1'b1;
    td_list::destroy(m_list);
    m_list = 0;
  endfunction

  function int size();
    return m_banks.size();
  endfunction

  // A bank by its number; null when there is none.
  function td_memory bank(input int number);
    td_memory none;
    if (number < 0 || number >= m_banks.size()) return none;
    return m_banks[number];
  endfunction

  // Frees the memories that create made, and forgets all.
  function void destroy();
    for (int i = 0; i < m_own; i++) m_banks[i].destroy();
    m_own = 0;
    m_banks.delete();
    td_list::destroy(m_list);
    m_list = 0;
  endfunction

  // A whole tensor where the layout says, over all banks; `as` is what the memories hold, "" for the tensor's own bits.
  function void backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    string      message;
    td_status_e status;
    status = try_backdoor_load_tensor(tensor, layout, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = stage(message);
    if (status == TD_OK) status = bring_in(1'b1, tensor_handle, layout_handle, as, message);
    if (status != TD_OK) return status;
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_banks(m_list, tensor_handle, layout_handle, as, message));
    if (!m_elsewhere) return status;
    for (int i = 0; i < m_banks.size() && status == TD_OK; i++) status = m_banks[i].do_take_out(message);
    return status;
  endfunction

  // The inverse: fills a tensor, whose dtype and shape say what is there.
  function void backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    string      message;
    td_status_e status;
    status = try_backdoor_dump_tensor(tensor, layout, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = stage(message);
    if (status == TD_OK) status = bring_in(1'b0, tensor_handle, layout_handle, as, message);
    if (status != TD_OK) return status;
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_banks(m_list, tensor_handle, layout_handle, as, message));
  endfunction

  // Every element against a golden tensor, without a dump. The policy says what counts as equal ("ulp=1", "atol=0.1
  // check_pad"; "" for equal bits). Says one line, an error when something differs; null when it could not compare.
  function td_report backdoor_compare_tensor(input td_tensor golden, input td_layout layout, input string policy = "",
                                             input string as = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_backdoor_compare_tensor(golden, layout, policy, as, report, message);
    if (status == TD_OK) report.announce(m_banks.size() == 0 ? "banks" : m_banks[0].name());
    else td_reporter::report(status, message);
    return report;
  endfunction

  function td_status_e try_backdoor_compare_tensor(input td_tensor golden, input td_layout layout, input string policy,
                                                   input string as, output td_report report, output string message);
    longint unsigned golden_handle;
    longint unsigned layout_handle;
    longint unsigned found;
    td_status_e      status;
    report = null;
    golden_handle = m_none;
    if (golden != null) golden_handle = golden.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = stage(message);
    if (status == TD_OK) status = bring_in(1'b0, golden_handle, layout_handle, as, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_compare_banks(m_list, golden_handle, layout_handle, policy, as, found,
                                                                      message));
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction

  // The words of banks in the design, which a dump reads all and a load where it leaves bits as they are.
  local function td_status_e bring_in(input bit loads, input longint unsigned tensor, input longint unsigned layout,
                                      input string as, output string message);
    td_status_e status;
    int         partial;
    message = "";
    if (!m_elsewhere) return TD_OK;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_banks(m_list, tensor, layout, as, partial, message));
    if (loads && partial == 0) return status;
    for (int i = 0; i < m_banks.size() && status == TD_OK; i++) status = m_banks[i].do_bring_in(message);
    return status;
  endfunction

  // The handles cross once and are kept, so that a small load costs one call.
  local function td_status_e stage(output string message);
    td_addresses_t handles;
    message = "";
    if (m_list != 0 || m_banks.size() == 0) return TD_OK;
    handles = new[m_banks.size()];
    for (int i = 0; i < m_banks.size(); i++) begin
      handles[i] = 0;
      if (m_banks[i] != null) handles[i] = m_banks[i].handle();
    end
    return td_list::from_addresses(handles, m_list, message);
  endfunction
endclass
