// A memory whose words the library keeps: `depth` words of `width` bits, zero at first. Created with td_memory::create,
// anywhere in the testbench; freed with destroy. It has every call of td_backdoor. For an array of the design there is
// td_design_memory, which extends this class; a td_uvm_mem is a UVM component around either.
class td_memory extends td_backdoor;
  protected longint unsigned m_handle;

  // ---- life

  // Makes a memory of zeros: td_memory::create("abuf", 64, 1024) has 1024 words of 64 bits; null when it fails. The
  // name is used in messages.
  static function td_memory create(input string name, input longint unsigned width, input longint unsigned depth);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_create(name, width, depth, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  static function td_status_e try_create(input string name, input longint unsigned width, input longint unsigned depth,
                                         output td_memory memory, output string message);
    longint unsigned handle;
    td_status_e      status;
    memory = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_create(name, width, depth, handle, message));
    if (status == TD_OK) memory = new(name, width, depth, handle);
    return status;
  endfunction

  // Called by create and by derived classes. With any other handle, later calls fail with TD_HANDLE.
  function new(input string name, input longint unsigned width, input longint unsigned depth,
               input longint unsigned handle = 0);
    super.new(name, width, depth);
    m_handle = handle;
  endfunction

  // Frees the memory; later calls with it fail with TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    return do_destroy(message);
  endfunction

  // The handle that stands for this object in calls to C.
  virtual function longint unsigned handle();
    return m_handle;
  endfunction

  // For td_bank_set, which knows its banks only as td_backdoor: casts one to this class, and destroys one.
  static function td_memory cast(input td_backdoor door);
    td_memory memory;
    if ($cast(memory, door)) return memory;
    return null;
  endfunction

  static function void destroy_bank(input td_backdoor door);
    td_memory memory;
    if ($cast(memory, door)) memory.destroy();
  endfunction

  // ---- x and z

  // Chooses what happens when a dump, a comparison or a read meets bits of the design that are x or z: "error" (the
  // default) makes the call fail, and its message names the elements; "zero" reads them as 0; "keep" leaves such
  // elements of the tensor unchanged in a dump, and counts them as mismatches in a comparison.
  function void set_x(input string policy);
    string      message;
    td_status_e status;
    status = try_set_x(policy, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_x(input string policy, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_set_x(m_handle, policy, message));
  endfunction

  // ---- a part of a file

  // Loads that part of an image file which lies in this memory ("elf,outside=skip:fw.elf"); returns how many bytes of
  // the file lie outside.
  function longint unsigned load_file_part(input string path);
    longint unsigned bytes;
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned first;
    longint unsigned last;
    // verilator lint_on UNUSEDSIGNAL
    string           message;
    td_status_e      status;
    status = do_load_file_part(path, bytes, first, last, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return bytes;
  endfunction

  // The same, and the lowest and the highest address in the file of what lies outside; all 0 when nothing does.
  function td_status_e try_load_file_part(input string path, output longint unsigned bytes,
                                          output longint unsigned first, output longint unsigned last,
                                          output string message);
    return do_load_file_part(path, bytes, first, last, message);
  endfunction

  virtual function td_status_e do_load_file_part(input string path, output longint unsigned bytes,
                                                 output longint unsigned first, output longint unsigned last,
                                                 output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_load_file_part(m_handle, path, bytes, first, last, message));
  endfunction

  // ---- what td_backdoor asks for

  virtual function td_status_e do_destroy(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_destroy(m_handle, message));
  endfunction

  virtual function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
                                                 output string message);
    longint unsigned address_list;
    longint unsigned word_list;
    td_status_e      status;
    status = td_list::from_addresses(addresses, address_list, message);
    if (status == TD_OK) status = td_list::create(addresses.size() * words_per_word(), word_list, message);
    if (status == TD_OK) status = do_read(address_list, word_list, message);
    if (status == TD_OK) status = td_list::to_words(word_list, addresses.size() * words_per_word(), words, message);
    td_list::destroy(address_list);
    td_list::destroy(word_list);
    return status;
  endfunction

  virtual function td_status_e write_lists(input td_addresses_t addresses, input td_words_t words,
                                           input td_words_t mask, input int mask_bits, output string message);
    longint unsigned address_list;
    longint unsigned word_list;
    longint unsigned mask_list;
    td_status_e      status;
    status = td_list::from_addresses(addresses, address_list, message);
    if (status == TD_OK) status = td_list::from_words(words, word_list, message);
    if (status == TD_OK) status = td_list::from_words(mask, mask_list, message);
    if (status == TD_OK) status = do_write(address_list, word_list, mask_list, mask_bits, message);
    td_list::destroy(address_list);
    td_list::destroy(word_list);
    td_list::destroy(mask_list);
    return status;
  endfunction

  virtual function td_status_e do_read(input longint unsigned addresses, input longint unsigned words,
                                       output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_read(m_handle, addresses, words, message));
  endfunction

  virtual function td_status_e do_write(input longint unsigned addresses, input longint unsigned words,
                                        input longint unsigned mask, input int mask_bits, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_write(m_handle, addresses, words, mask, mask_bits, message));
  endfunction

  virtual function td_status_e do_load_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_matrix(m_handle, tensor, first, last, message));
  endfunction

  virtual function td_status_e do_dump_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_matrix(m_handle, tensor, first, last, message));
  endfunction

  virtual function td_status_e do_load_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(m_handle, tensor, layout, as, message));
  endfunction

  virtual function td_status_e do_dump_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_tensor(m_handle, tensor, layout, as, message));
  endfunction

  virtual function td_status_e do_dirty_padding(input longint unsigned tensor, input longint unsigned layout,
                                                input string as, input longint unsigned seed,
                                                output longint unsigned count, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dirty_padding(m_handle, tensor, layout, as, seed, count, message));
  endfunction

  virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                 input string policy, input string as, output longint unsigned report,
                                                 output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_compare_tensor(m_handle, golden, layout, policy, as, report,
                                                                   message));
  endfunction

  virtual function td_status_e do_compare(input longint unsigned golden, input longint unsigned layout,
                                          input string policy, input string as, input longint unsigned mask,
                                          input longint unsigned snapshot, output longint unsigned report,
                                          output string message);
    td_addresses_t   handles;
    longint unsigned banks;
    td_status_e      status;
    report = 0;
    handles = new[1];
    handles[0] = m_handle;
    status = td_list::from_addresses(handles, banks, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_compare(banks, golden, layout, policy, as, mask, snapshot, report,
                                                       message));
    td_list::destroy(banks);
    return status;
  endfunction

  virtual function td_status_e do_snapshot(output td_addresses_t copies, output string message);
    longint unsigned copy;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_snapshot(m_handle, copy, message));
    copies = new[1];
    copies[0] = copy;
    return status;
  endfunction

  virtual function td_status_e do_get_bits(input longint unsigned address, output longint unsigned bits,
                                           output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_get_bits(m_handle, address, bits, message));
  endfunction

  virtual function td_status_e do_set_bits(input longint unsigned address, input longint unsigned bits,
                                           output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_set_bits(m_handle, address, bits, message));
  endfunction

  virtual function td_status_e do_fill(input string what, input longint unsigned first, input longint unsigned count,
                                       output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_fill(m_handle, what, first, count, message));
  endfunction

  virtual function td_status_e do_clear(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_clear(m_handle, message));
  endfunction

  virtual function td_status_e do_load_file(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_load_file(m_handle, path, message));
  endfunction

  virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                            input longint unsigned count, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_save_file(m_handle, path, first, count, message));
  endfunction

  // ---- for td_bank_set: words of the library need no transfer

  virtual function bit lies_elsewhere();
    return 1'b0;
  endfunction

  virtual function td_status_e do_bring_in(output string message);
    message = "";
    return TD_OK;
  endfunction

  virtual function td_status_e do_take_out(output string message);
    message = "";
    return TD_OK;
  endfunction

  virtual function td_status_e do_bring_in_all(output string message);
    message = "";
    return TD_OK;
  endfunction

  // ---- for td_faults: the memory of each of them, by their handle. It is kept here because Verilator 5.006, once it
  // splits its C++, cannot compile a class that has a td_memory as a member and is no td_backdoor itself.

  local static td_memory m_of_faults[longint unsigned];

  function void do_keep_faults(input longint unsigned faults);
    m_of_faults[faults] = this;
  endfunction

  static function td_memory do_find_faults(input longint unsigned faults);
    td_memory none;
    none = null;
    if (m_of_faults.exists(faults) == 0) return none;
    return m_of_faults[faults];
  endfunction

  static function void do_drop_faults(input longint unsigned faults);
    m_of_faults.delete(faults);
  endfunction
endclass
