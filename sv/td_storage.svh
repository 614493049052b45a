// The words of one memory: what a td_memory does for each call of td_backdoor. This class is abstract.
//
// Where words lie in the design, the library holds copies of its arrays: a call copies in the words that it reads,
// works on the copies, and copies out the words that it has changed. No other word of an array is read or written.
virtual class td_storage extends td_backdoor;
  protected longint unsigned m_handle;
  protected bit              m_elsewhere;     // the words lie in the design, all or some of them
  protected longint unsigned m_borrowed = 0;  // the tensor whose storage is transferred directly, or 0
  // The arrays of the design that a memory over others lies in. Declared with the type of the base class, as in
  // td_bank_set.
  local td_backdoor          m_leaves[$];
  protected bit              m_lent;  // it belongs to a map, whose arrays may lie under others of its memories

  function new(input string name, input longint unsigned width, input longint unsigned depth,
               input longint unsigned handle);
    super.new(name, width, depth);
    m_handle = handle;
    m_lent = 1'b0;
  endfunction

  // The handle that stands for this object in calls to C.
  virtual function longint unsigned handle();
    return m_handle;
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
    td_status_e status;
    status = begin_words(addresses, 1'b1, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_read(m_handle, addresses, words, message));
    return status;
  endfunction

  virtual function td_status_e do_write(input longint unsigned addresses, input longint unsigned words,
                                        input longint unsigned mask, input int mask_bits, output string message);
    td_status_e status;
    status = begin_words(addresses, mask_bits != 0, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_write(m_handle, addresses, words, mask, mask_bits, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_load_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    td_status_e status;
    status = do_begin_span(first, last - first, 1'b0, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_matrix(m_handle, tensor, first, last, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_dump_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    td_status_e status;
    status = do_begin_span(first, last - first, 1'b1, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_matrix(m_handle, tensor, first, last, message));
    return status;
  endfunction

  virtual function td_status_e do_load_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    td_status_e status;
    int         partial;
    int         borrowed;
    if (!m_elsewhere)
      return td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(m_handle, tensor, layout, as, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_tensor(m_handle, tensor, layout, as, int'(td_dpi_pkg::ForLoad),
                                                             partial, borrowed, message));
    if (borrowed != 0) do_borrow(tensor);
    if (status == TD_OK && partial != 0) status = do_bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_load(m_handle, tensor, layout, as, message));
    if (status == TD_OK) status = do_take_out(message);
    if (borrowed != 0) do_borrow(m_none);
    return status;
  endfunction

  // In a two-state simulator no bit can be x, which allows a faster dump.
  local function int dump_use();
    logic probe;
    probe = 1'bx;
    return int'($isunknown(probe) ? td_dpi_pkg::ForDump : td_dpi_pkg::ForDumpKnown);
  endfunction

  // Dumps and comparisons copy every word in, so they do not look at `partial`:
  // verilator lint_off UNUSEDSIGNAL
  virtual function td_status_e do_dump_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    td_status_e status;
    int         partial;
    int         borrowed;
    if (!m_elsewhere)
      return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_tensor(m_handle, tensor, layout, as, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_tensor(m_handle, tensor, layout, as, dump_use(), partial,
                                                             borrowed, message));
    if (borrowed != 0) do_borrow(tensor);
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_dump(m_handle, tensor, layout, as, message));
    if (borrowed != 0) do_borrow(m_none);
    return status;
  endfunction

  virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                 input string policy, input string as, output longint unsigned report,
                                                 output string message);
    td_status_e status;
    report = 0;
    status = begin_layout(golden, layout, as, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_compare_tensor(m_handle, golden, layout, policy, as, report,
                                                                       message));
    return status;
  endfunction

  // A comparison with a snapshot needs every word, one without it only those of the layout.
  virtual function td_status_e do_compare(input longint unsigned golden, input longint unsigned layout,
                                          input string policy, input string as, input longint unsigned mask,
                                          input longint unsigned snapshot, output longint unsigned report,
                                          output string message);
    td_addresses_t   handles;
    longint unsigned banks;
    td_status_e      status;
    report = 0;
    status = snapshot != 0 ? do_bring_in_all(message) : begin_layout(golden, layout, as, message);
    if (status != TD_OK) return status;
    do_list_handles(handles);
    status = td_list::from_addresses(handles, banks, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_compare(banks, golden, layout, policy, as, mask, snapshot, report,
                                                       message));
    td_list::destroy(banks);
    return status;
  endfunction

  local function td_status_e begin_layout(input longint unsigned golden, input longint unsigned layout,
                                          input string as, output string message);
    td_status_e status;
    int         partial;
    message = "";
    if (!m_elsewhere) return TD_OK;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_layout(m_handle, golden, layout, as, partial, message));
    if (status == TD_OK) status = do_bring_in(message);
    return status;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Padding may be a part of a word, so that all words come in first.
  virtual function td_status_e do_dirty_padding(input longint unsigned tensor, input longint unsigned layout,
                                                input string as, input longint unsigned seed,
                                                output longint unsigned count, output string message);
    td_status_e status;
    count = 0;
    status = do_bring_in_all(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_dirty_padding(m_handle, tensor, layout, as, seed, count,
                                                                      message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_snapshot(output td_addresses_t copies, output string message);
    longint unsigned copy;
    td_status_e      status;
    copy = 0;
    status = do_bring_in_all(message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_snapshot(m_handle, copy, message));
    copies = new[1];
    copies[0] = copy;
    return status;
  endfunction

  virtual function td_status_e do_get_bits(input longint unsigned address, output longint unsigned bits,
                                           output string message);
    td_status_e status;
    bits = 0;
    status = do_begin_span(address, 1, 1'b1, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_get_bits(m_handle, address, bits, message));
    return status;
  endfunction

  virtual function td_status_e do_set_bits(input longint unsigned address, input longint unsigned bits,
                                           output string message);
    td_status_e status;
    status = do_begin_span(address, 1, 1'b0, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_set_bits(m_handle, address, bits, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_fill(input string what, input longint unsigned first, input longint unsigned count,
                                       output string message);
    td_status_e status;
    status = do_begin_span(first, count, 1'b0, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_fill(m_handle, what, first, count, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_clear(output string message);
    td_status_e status;
    status = do_begin_span(0, depth(), 1'b0, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_clear(m_handle, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_invalidate(input longint unsigned first, input longint unsigned count,
                                             output string message);
    td_status_e status;
    status = do_begin_span(first, count, 1'b0, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_invalidate(m_handle, first, count, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_load_file(input string path, output string message);
    td_status_e status;
    status = begin_file(path, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_memory_load_file(m_handle, path, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                            input longint unsigned count, output string message);
    td_status_e status;
    status = do_begin_span(first, count, 1'b1, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_save_file(m_handle, path, first, count, message));
    return status;
  endfunction

  virtual function td_status_e do_load_file_part(input string path, output longint unsigned bytes,
                                                 output longint unsigned first, output longint unsigned last,
                                                 output string message);
    td_status_e status;
    bytes = 0;
    first = 0;
    last = 0;
    status = begin_file(path, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_load_file_part(m_handle, path, bytes, first, last, message));
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  // ---- before a call: words that lie in the design are named, and come in where the call reads them (`reads`), or
  // where words of the arrays hold other bits too. Words of the library need nothing.

  local function td_status_e begin_words(input longint unsigned addresses, input bit reads, output string message);
    td_status_e status;
    message = "";
    if (!m_elsewhere) return TD_OK;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_words(m_handle, addresses, message));
    if (status == TD_OK) status = bring_old(reads, message);
    return status;
  endfunction

  function td_status_e do_begin_span(input longint unsigned first, input longint unsigned count, input bit reads,
                                     output string message);
    td_status_e status;
    message = "";
    if (!m_elsewhere) return TD_OK;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(m_handle, first, count, message));
    if (status == TD_OK) status = bring_old(reads, message);
    return status;
  endfunction

  // A file with byte addresses may give only a part of a word, so the words are copied in first.
  local function td_status_e begin_file(input string path, output string message);
    td_status_e status;
    message = "";
    if (!m_elsewhere) return TD_OK;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_file(m_handle, path, message));
    if (status == TD_OK) status = do_bring_in(message);
    return status;
  endfunction

  // In steps: Verilator 5.006 calls a function of the right side of || whatever the left side is. A word of an array
  // that is the memory itself holds no other bits.
  local function td_status_e bring_old(input bit reads, output string message);
    message = "";
    if (reads) return do_bring_in(message);
    if (m_leaves.size() == 0) return TD_OK;
    if (td_dpi_pkg::td_dpi_transfer_shared(m_handle) == 0) return TD_OK;
    return do_bring_in(message);
  endfunction

  // ---- transfers: those of the arrays that the memory lies in. td_design_memory, which is an array, has its own.

  virtual function bit lies_elsewhere();
    return m_elsewhere;
  endfunction

  // The tensor whose storage is transferred directly, for this memory and the arrays that it lies in.
  virtual function void do_borrow(input longint unsigned tensor);
    m_borrowed = tensor;
    for (int i = 0; i < m_leaves.size(); i++) m_leaves[i].do_borrow(tensor);
  endfunction

  virtual function td_status_e do_bring_in(output string message);
    td_status_e status;
    status = TD_OK;
    message = "";
    for (int i = 0; i < m_leaves.size() && status == TD_OK; i++) status = m_leaves[i].do_bring_in(message);
    return status;
  endfunction

  virtual function td_status_e do_take_out(output string message);
    td_status_e status;
    status = TD_OK;
    message = "";
    for (int i = 0; i < m_leaves.size() && status == TD_OK; i++) status = m_leaves[i].do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_bring_in_all(output string message);
    return do_begin_span(0, depth(), 1'b1, message);
  endfunction

  // ---- for memories over others

  virtual function void do_list_handles(output td_addresses_t handles);
    handles = new[1];
    handles[0] = m_handle;
  endfunction

  virtual function void do_add_leaves(input td_backdoor to);
    for (int i = 0; i < m_leaves.size(); i++) to.do_add_leaf(m_leaves[i]);
  endfunction

  // Adds an array of the design, once, and only where it lies under this memory.
  virtual function void do_add_leaf(input td_backdoor leaf);
    if (m_lent)
      if (td_dpi_pkg::td_dpi_transfer_reaches(m_handle, leaf.handle()) == 0) return;
    for (int i = 0; i < m_leaves.size(); i++) if (m_leaves[i].handle() == leaf.handle()) return;
    m_leaves.push_back(leaf);
    m_elsewhere = 1'b1;
  endfunction
endclass
