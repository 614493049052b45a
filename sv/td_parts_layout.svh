// Where a tensor in parts lies: its packing, and for every part a layout and a memory. Made with create and add_part,
// or with open out of a layout file, whose memories are then added by their names:
//
//   weights = td_parts_layout::open("chip.txt", "weights");   // part scales memory sbuf preset scale_128x4
//   weights.add(wbuf);
//   weights.add(sbuf);
//   weights.load(w);                                          // quantised, packed, placed: one call
//   report = weights.compare(w, "ulp=1");
//
// Everything is checked before a word is written. Memories of the design and of the library may be mixed; destroy
// frees no memory.
class td_parts_layout extends td_bank_set;
  local longint unsigned m_parts;
  local string           m_packing;
  local int              m_partial;  // a load leaves bits of words of the design as they are

  // td_parts_layout::create("mxfp4 rule=rceil axis=1"): no part yet; null when it is refused.
  static function td_parts_layout create(input string packing);
    td_parts_layout parts;
    string          message;
    td_status_e     status;
    status = try_create(packing, parts, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return parts;
  endfunction

  static function td_status_e try_create(input string packing, output td_parts_layout parts, output string message);
    longint unsigned made;
    td_status_e      status;
    parts  = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_layout_create(packing, made, message));
    if (status == TD_OK) parts = new(made, packing);
    return status;
  endfunction

  // td_parts_layout::open("chip.txt", "weights"): an entry with parts of a layout file; null when it is refused.
  static function td_parts_layout open(input string path, input string name);
    td_parts_layout parts;
    string          message;
    td_status_e     status;
    status = try_open(path, name, parts, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return parts;
  endfunction

  static function td_status_e try_open(input string path, input string name, output td_parts_layout parts,
                                       output string message);
    longint unsigned made;
    string           packing;
    td_status_e      status;
    parts  = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_layout_open(path, name, made, packing, message));
    if (status == TD_OK) parts = new(made, packing);
    return status;
  endfunction

  // For create and open.
  function new(input longint unsigned made, input string packing);
    super.new("parts");
    m_parts   = made;
    m_packing = packing;
  endfunction

  // The packing as it was written.
  function string packing();
    return m_packing;
  endfunction

  // A part ("" is the first), the memory that it lies in, and how. A set of banks is added bank by bank, and its parts
  // by name: parts.add(banks.bank(0)), ..
  function void add_part(input string part, input td_memory memory, input td_layout layout);
    string      message;
    td_status_e status;
    status = try_add_part(part, memory, layout, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_add_part(input string part, input td_memory memory, input td_layout layout,
                                    output string message);
    longint unsigned layout_handle;
    td_status_e      status;
    bit              known;
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    if (memory == null) begin
      message = "parts_layout_add: the memory is null; create it first";
      return TD_ARGUMENT;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_layout_add(m_parts, part, memory.name(), layout_handle, message));
    known = 1'b0;
    for (int i = 0; i < m_banks.size(); i++) if (m_banks[i].handle() == memory.handle()) known = 1'b1;
    if (status == TD_OK && !known) add(memory);
    return status;
  endfunction

  // The tensor through the packing into the memories of all parts.
  function void load(input td_tensor tensor);
    string      message;
    td_status_e status;
    status = try_load(tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_load(input td_tensor tensor, output string message);
    longint unsigned tensor_handle;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    status = begin_parts(tensor_handle, 1'b1, message);
    if (status == TD_OK && m_partial != 0) status = bring_in_parts(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_parts(m_list, tensor_handle, m_parts, message));
    if (status == TD_OK) status = take_out_parts(message);
    return status;
  endfunction

  // The values that the memories stand for, into a tensor of any dtype.
  function void dump(input td_tensor tensor);
    string      message;
    td_status_e status;
    status = try_dump(tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_dump(input td_tensor tensor, output string message);
    longint unsigned tensor_handle;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    status = begin_parts(tensor_handle, 1'b0, message);
    if (status == TD_OK) status = bring_in_parts(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_parts(m_list, tensor_handle, m_parts, message));
    return status;
  endfunction

  // The memories against a golden tensor: "" by codes, "ulp=1" in steps of the element at its block's scale. Loud, as
  // backdoor_compare_tensor.
  function td_report compare(input td_tensor golden, input string policy = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_compare(golden, policy, report, message);
    if (status == TD_OK) report.announce(name());
    else td_reporter::report(status, message);
    return report;
  endfunction

  function td_status_e try_compare(input td_tensor golden, input string policy, output td_report report,
                                   output string message);
    longint unsigned golden_handle;
    longint unsigned found;
    td_status_e      status;
    report = null;
    golden_handle = m_none;
    if (golden != null) golden_handle = golden.handle();
    status = begin_parts(golden_handle, 1'b1, message);
    if (status == TD_OK) status = bring_in_parts(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_compare_parts(m_list, golden_handle, m_parts, policy, found,
                                                                      message));
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction

  // A ready-made test: poison in the padding of all parts, and in nothing else. Load, run, keep the result; load,
  // dirty, run again: it must be the same. Random bits of the seed, all ones with 0; returns the number of padding
  // elements.
  function longint unsigned dirty(input td_tensor tensor, input longint unsigned seed = 0);
    longint unsigned count;
    string           message;
    td_status_e      status;
    status = try_dirty(tensor, seed, count, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return count;
  endfunction

  function td_status_e try_dirty(input td_tensor tensor, input longint unsigned seed, output longint unsigned count,
                                 output string message);
    longint unsigned tensor_handle;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    count  = 0;
    status = begin_parts(tensor_handle, 1'b1, message);
    if (status == TD_OK) status = bring_in_parts(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_dirty_parts(m_list, tensor_handle, m_parts, seed, count,
                                                                    message));
    if (status == TD_OK) status = take_out_parts(message);
    return status;
  endfunction

  // Frees the layout; its memories stay.
  function void destroy();
    string      message;
    td_status_e status;
    super.destroy();
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_layout_destroy(m_parts, message));
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  // The handles cross, and for memories of the design the words that the parts lie in are listed.
  local function td_status_e begin_parts(input longint unsigned tensor_handle, input bit from_tensor,
                                         output string message);
    td_status_e status;
    int         partial;
    partial = 0;
    status  = stage(message);
    if (status == TD_OK && m_elsewhere)
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_parts(m_list, tensor_handle, m_parts, int'(from_tensor),
                                                              partial, message));
    m_partial = partial;
    return status;
  endfunction

  local function td_status_e take_out_parts(output string message);
    td_status_e status;
    message = "";
    status  = TD_OK;
    for (int i = 0; i < m_banks.size() && m_elsewhere && status == TD_OK; i++) status = m_banks[i].do_take_out(message);
    return status;
  endfunction

  local function td_status_e bring_in_parts(output string message);
    td_status_e status;
    message = "";
    status  = TD_OK;
    for (int i = 0; i < m_banks.size() && m_elsewhere && status == TD_OK; i++) status = m_banks[i].do_bring_in(message);
    return status;
  endfunction
endclass
