// The memories of a chip in one text file, by name and by system address; src/tensordoor.h section 15 has the grammar.
// Created with td_map::open, or with open_over over arrays of the design. Freed with destroy, which also frees the
// memories that the map has made, and before the arrays that were passed.
class td_map;
  local longint unsigned m_handle;
  local int              m_count;
  local longint unsigned m_none;  // always 0, as in td_backdoor

  // ---- life

  // td_map::open("chip.map"): reads the file, and makes all of its arrays; null when it is refused.
  static function td_map open(input string path);
    td_map      chip;
    string      message;
    td_status_e status;
    status = try_open(path, chip, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return chip;
  endfunction

  static function td_status_e try_open(input string path, output td_map chip, output string message);
    td_addresses_t none;
    return make(path, 0, none, chip, message);
  endfunction

  // td_map::open_over("chip.map", macros): the same over arrays that exist, as those of the design. Each is the array
  // of the file that has its name; the map makes all others.
  static function td_map open_over(input string path, input td_bank_set arrays);
    td_map      chip;
    string      message;
    td_status_e status;
    status = try_open_over(path, arrays, chip, message);
    if (status != TD_OK) td_reporter::report(status, message);
    else if (arrays.size() == 0) message = "";  // for Verilator 5.006, as in find
    return chip;
  endfunction

  static function td_status_e try_open_over(input string path, input td_bank_set arrays, output td_map chip,
                                            output string message);
    td_addresses_t handles;
    td_status_e    status;
    chip = null;
    if (arrays == null) return no_arrays("open_over", message);
    arrays.do_list_handles(handles);
    status = make(path, 0, handles, chip, message);
    if (status != TD_OK) return status;
    for (int i = 0; i < chip.do_doors(); i++) arrays.do_add_leaves(chip.do_door(i));
    return status;
  endfunction

  // The same from the text itself: td_map::create("wbuf: words 64 x 32; base 0x1000").
  static function td_map create(input string text);
    td_map      chip;
    string      message;
    td_status_e status;
    status = try_create(text, chip, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return chip;
  endfunction

  static function td_status_e try_create(input string text, output td_map chip, output string message);
    td_addresses_t none;
    return make(text, 1, none, chip, message);
  endfunction

  // And over arrays that exist.
  static function td_map create_over(input string text, input td_bank_set arrays);
    td_map      chip;
    string      message;
    td_status_e status;
    status = try_create_over(text, arrays, chip, message);
    if (status != TD_OK) td_reporter::report(status, message);
    else if (arrays.size() == 0) message = "";  // for Verilator 5.006, as in find
    return chip;
  endfunction

  static function td_status_e try_create_over(input string text, input td_bank_set arrays, output td_map chip,
                                              output string message);
    td_addresses_t handles;
    td_status_e    status;
    chip = null;
    if (arrays == null) return no_arrays("create_over", message);
    arrays.do_list_handles(handles);
    status = make(text, 1, handles, chip, message);
    if (status != TD_OK) return status;
    for (int i = 0; i < chip.do_doors(); i++) arrays.do_add_leaves(chip.do_door(i));
    return status;
  endfunction

  local static function td_status_e no_arrays(input string call, output string message);
    message = $sformatf("map_%s: the arrays are null; pass a td_bank_set, or call %s", call,
                        call == "open_over" ? "open" : "create");
    return TD_HANDLE;
  endfunction

  local static function td_status_e make(input string path, input int is_text, input td_addresses_t arrays,
                                         output td_map chip, output string message);
    longint unsigned array_list;
    longint unsigned made;
    int              count;
    td_status_e      status;
    chip   = null;
    status = td_list::from_addresses(arrays, array_list, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_open(path, is_text, array_list, made, count, message));
    td_list::destroy(array_list);
    if (status == TD_OK) chip = new(made, count);
    return status;
  endfunction

  // For those four: a map of the library with its memories.
  function new(input longint unsigned made, input int count);
    string           name;
    longint unsigned memory;
    longint unsigned raw;
    longint unsigned width;
    longint unsigned raw_width;
    longint unsigned depth;
    m_handle = made;
    m_count  = count;
    m_none   = 0;
    td_memory::do_lend("map", 0, 0, 0, made);
    for (int i = 0; i < count; i++) begin
      at(i, name, memory, raw, width, raw_width, depth);
      td_memory::do_lend(name, width, depth, memory, 0);
      if (raw != memory) td_memory::do_lend(name, raw_width, depth, raw, 0);
    end
  endfunction

  // What memory number `number` is, and what is under its code; zeros for a map that was destroyed.
  local function void at(input int number, output string name, output longint unsigned memory,
                         output longint unsigned raw, output longint unsigned width, output longint unsigned raw_width,
                         output longint unsigned depth);
    // verilator lint_off UNUSEDSIGNAL
    string message;
    int    status;
    // verilator lint_on UNUSEDSIGNAL
    status = td_dpi_pkg::td_dpi_map_at(m_handle, number, name, memory, raw, width, raw_width, depth, message);
  endfunction

  // For open_over: the objects that arrays of the design may lie under. The first moves the words of all arrays, the
  // others are the memories of the map, and those under their codes.
  function int do_doors();
    return 1 + 2 * m_count;
  endfunction

  function td_backdoor do_door(input int number);
    longint unsigned memory;
    longint unsigned raw;
    // verilator lint_off UNUSEDSIGNAL
    string           name;
    longint unsigned width;
    longint unsigned raw_width;
    longint unsigned depth;
    // verilator lint_on UNUSEDSIGNAL
    memory = m_handle;
    raw    = m_handle;
    if (number > 0) at((number - 1) / 2, name, memory, raw, width, raw_width, depth);
    return td_memory::do_find_door(number % 2 == 1 ? memory : raw);
  endfunction

  // Frees the map and the memories that it has made; later calls with them fail with TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    longint unsigned memories[$];
    longint unsigned memory;
    longint unsigned raw;
    // verilator lint_off UNUSEDSIGNAL
    string           name;
    longint unsigned width;
    longint unsigned raw_width;
    longint unsigned depth;
    // verilator lint_on UNUSEDSIGNAL
    td_status_e      status;
    for (int i = 0; i < m_count; i++) begin
      at(i, name, memory, raw, width, raw_width, depth);
      memories.push_back(memory);
      memories.push_back(raw);
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_map_destroy(m_handle, message));
    if (status != TD_OK) return status;
    for (int i = 0; i < memories.size(); i++) td_memory::do_drop_kept(memories[i]);
    td_memory::do_drop_kept(m_handle);
    m_count = 0;
    return status;
  endfunction

  // ---- what is in it

  // How many memories and regions the map has.
  function int size();
    return m_count;
  endfunction

  // The name of one of them, in the order of the file; "" past the last.
  function string name_at(input int number);
    string           name;
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned memory;
    longint unsigned raw;
    longint unsigned width;
    longint unsigned raw_width;
    longint unsigned depth;
    // verilator lint_on UNUSEDSIGNAL
    name = "";
    if (number >= 0 && number < m_count) at(number, name, memory, raw, width, raw_width, depth);
    return name;
  endfunction

  // In the functions that pass a td_memory on, a call of handle(), which is never 0 here, stands only for Verilator
  // 5.006: once it splits its C++, a class is complete where a method of it is called.

  // The memory of that name, to be used in every call; null when the map has none. It belongs to the map.
  function td_memory find(input string name);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_find(name, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    else if (memory.handle() == 0) memory = null;
    return memory;
  endfunction

  function td_status_e try_find(input string name, output td_memory memory, output string message);
    longint unsigned found;
    td_status_e      status;
    memory = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_map_find(m_handle, name, 0, found, message));
    if (status != TD_OK) return status;
    memory = td_memory::do_find_kept(found);
    if (memory.handle() == 0) memory = null;
    return status;
  endfunction

  // The memory of its words with their check bits, where it has a code; otherwise the memory itself.
  function td_memory find_raw(input string name);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_find_raw(name, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    else if (memory.handle() == 0) memory = null;
    return memory;
  endfunction

  function td_status_e try_find_raw(input string name, output td_memory memory, output string message);
    longint unsigned found;
    td_status_e      status;
    memory = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_map_find(m_handle, name, 1, found, message));
    if (status != TD_OK) return status;
    memory = td_memory::do_find_kept(found);
    if (memory.handle() == 0) memory = null;
    return status;
  endfunction

  // The memory that has the byte at a system address, the word that it is in, and the lowest of its bits there: what
  // td_where::of_word asks for. The memory is null when the address lies in none.
  function void locate(input longint unsigned address, output td_memory memory, output longint unsigned word,
                       output longint unsigned lsb);
    string      message;
    td_status_e status;
    status = try_locate(address, memory, word, lsb, message);
    if (status != TD_OK) td_reporter::report(status, message);
    else if (memory.handle() == 0) memory = null;
  endfunction

  function td_status_e try_locate(input longint unsigned address, output td_memory memory, output longint unsigned word,
                                  output longint unsigned lsb, output string message);
    longint unsigned found;
    td_status_e      status;
    memory = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_map_locate(m_handle, address, found, word, lsb, message));
    if (status != TD_OK) return status;
    memory = td_memory::do_find_kept(found);
    if (memory.handle() == 0) memory = null;
    return status;
  endfunction

  // The map in the order of its addresses, a line for each memory and each hole.
  function string text();
    string      lines;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_map_text(m_handle, lines, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return lines;
  endfunction

  // ---- bytes and files

  // Reads `count` bytes from a system address on, across words, memories and interleaving.
  function void read_bytes(input longint unsigned address, input int count, output td_bytes_t bytes);
    string      message;
    td_status_e status;
    status = try_read_bytes(address, count, bytes, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_read_bytes(input longint unsigned address, input int count, output td_bytes_t bytes,
                                      output string message);
    longint unsigned list_handle;
    td_words_t       words;
    // verilator lint_off UNUSEDSIGNAL
    int              partial;
    // verilator lint_on UNUSEDSIGNAL
    td_status_e      status;
    list_handle = 0;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_map_bytes(m_handle, address, 64'(count), partial, message));
    if (status == TD_OK) status = bring_in(message);
    if (status == TD_OK) status = td_list::create((count + 3) / 4, list_handle, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_read(m_handle, address, count, list_handle, message));
    if (status == TD_OK) status = td_list::to_words(list_handle, (count + 3) / 4, words, message);
    td_list::destroy(list_handle);
    if (status != TD_OK) return status;
    bytes = new[count];
    for (int i = 0; i < count; i++) bytes[i] = words[i/4][8*(i%4)+:8];
    return status;
  endfunction

  // Writes bytes from a system address on; nothing when one of them cannot be written.
  function void write_bytes(input longint unsigned address, input td_bytes_t bytes);
    string      message;
    td_status_e status;
    status = try_write_bytes(address, bytes, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_write_bytes(input longint unsigned address, input td_bytes_t bytes, output string message);
    longint unsigned list_handle;
    td_words_t       words;
    int              partial;
    td_status_e      status;
    words = new[(bytes.size() + 3) / 4];
    for (int i = 0; i < bytes.size(); i++) words[i/4][8*(i%4)+:8] = bytes[i];
    status = td_list::from_words(words, list_handle, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_map_bytes(m_handle, address, 64'(bytes.size()), partial,
                                                                  message));
    if (status == TD_OK && partial != 0) status = bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_write(m_handle, address, bytes.size(), list_handle, message));
    td_list::destroy(list_handle);
    if (status == TD_OK) status = take_out(message);
    return status;
  endfunction

  // Loads an ELF file, .ihex, .srec or readmem text with unit=byte by its addresses, over any number of memories, or
  // nothing when a byte of it lies in none. With "elf,outside=skip:fw.elf" those are skipped; returns how many were.
  function longint unsigned load_file(input string path);
    longint unsigned bytes;
    string           message;
    td_status_e      status;
    status = try_load_file(path, bytes, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return bytes;
  endfunction

  function td_status_e try_load_file(input string path, output longint unsigned bytes, output string message);
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned first;
    longint unsigned last;
    // verilator lint_on UNUSEDSIGNAL
    td_status_e      status;
    bytes  = 0;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_map_file(m_handle, path, message));
    if (status == TD_OK) status = bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_load_file(m_handle, path, bytes, first, last, message));
    if (status == TD_OK) status = take_out(message);
    return status;
  endfunction

  // ---- tensors

  // Loads a tensor by a layout whose address counts from a system address on, in words of the memory there.
  function void load_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                            input string as = "");
    string      message;
    td_status_e status;
    status = try_load_tensor(address, tensor, layout, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_load_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                                       input string as, output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    int              partial;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_map_tensor(m_handle, address, tensor_handle, layout_handle, as,
                                                                 partial, message));
    if (status == TD_OK && partial != 0) status = bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_load_tensor(m_handle, address, tensor_handle, layout_handle, as,
                                                               message));
    if (status == TD_OK) status = take_out(message);
    return status;
  endfunction

  // Dumps one from there.
  function void dump_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                            input string as = "");
    string      message;
    td_status_e status;
    status = try_dump_tensor(address, tensor, layout, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  // Dumps and comparisons copy every word in, so they do not look at `partial`:
  // verilator lint_off UNUSEDSIGNAL
  function td_status_e try_dump_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                                       input string as, output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    int              partial;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_map_tensor(m_handle, address, tensor_handle, layout_handle, as,
                                                                 partial, message));
    if (status == TD_OK) status = bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_dump_tensor(m_handle, address, tensor_handle, layout_handle, as,
                                                               message));
    return status;
  endfunction

  // Compares what lies there with a golden tensor, as backdoor_compare_tensor; null when it cannot be compared.
  function td_report compare_tensor(input longint unsigned address, input td_tensor golden, input td_layout layout,
                                    input string policy = "", input string as = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_compare_tensor(address, golden, layout, policy, as, report, message);
    if (status == TD_OK) report.announce($sformatf("0x%0h", address));
    else td_reporter::report(status, message);
    return report;
  endfunction

  function td_status_e try_compare_tensor(input longint unsigned address, input td_tensor golden,
                                          input td_layout layout, input string policy, input string as,
                                          output td_report report, output string message);
    longint unsigned golden_handle;
    longint unsigned layout_handle;
    longint unsigned found;
    int              partial;
    td_status_e      status;
    report = null;
    golden_handle = m_none;
    if (golden != null) golden_handle = golden.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_map_tensor(m_handle, address, golden_handle, layout_handle, as,
                                                                 partial, message));
    if (status == TD_OK) status = bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_map_compare_tensor(m_handle, address, golden_handle, layout_handle,
                                                                  policy, as, found, message));
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- transfers: of all arrays of the design that the map lies over. An array that a call does not touch has no
  // word to move.

  local function td_status_e bring_in(output string message);
    td_memory all;
    message = "";
    all     = td_memory::do_find_kept(m_handle);
    if (all == null) return TD_OK;  // the map was destroyed; the call says so
    return all.do_bring_in(message);
  endfunction

  local function td_status_e take_out(output string message);
    td_memory all;
    message = "";
    all     = td_memory::do_find_kept(m_handle);
    return all.do_take_out(message);
  endfunction
endclass
