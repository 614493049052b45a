// What a td_memory and a td_bank_set have in common: words of `width` bits, `depth` of them, and the back door into
// them. Never created itself: td_memory::create, the classes of td_macros.svh and td_bank_set::create make the
// objects. A component, a sequence or a task that takes a td_backdoor takes any of them.
//
// Each call is loud and has a quiet twin `try_` that returns the status and has the message as its last argument.
// Both call the virtual functions at the end, which are all that an extending class has to write. Those take handles,
// because passing an object costs more than a small load does.
//
// In lists of words a memory word takes words_per_word() 32-bit words, low word first.
virtual class td_backdoor;
  protected string           m_name;
  protected longint unsigned m_width;
  protected longint unsigned m_depth;
  protected longint unsigned m_none;  // 0. Verilator 5.048 takes a constant for what a call assigns in an `if` after it

  function new(input string name, input longint unsigned width, input longint unsigned depth);
    m_name = name;
    m_width = width;
    m_depth = depth;
    m_none = 0;
  endfunction

  // ---- questions

  function string name();
    return m_name;
  endfunction

  function longint unsigned width();
    return m_width;
  endfunction

  function longint unsigned depth();
    return m_depth;
  endfunction

  function int words_per_word();
    return int'((m_width + 31) / 32);
  endfunction

  // ---- the operations

  // One memory word per address.
  function void backdoor_read(input td_addresses_t addresses, output td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_read(addresses, words, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  // One memory word per address. When an address stands twice, the later word wins.
  function void backdoor_write(input td_addresses_t addresses, input td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_write(addresses, words, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_write(input td_addresses_t addresses, input td_words_t words,
                                          output string message);
    td_words_t none;
    return write_lists(addresses, words, none, 0, message);
  endfunction

  // Only the bits that are 1 in the mask are written; the mask is a list like the words.
  function void backdoor_write_bits(input td_addresses_t addresses, input td_words_t words, input td_words_t bit_mask);
    string      message;
    td_status_e status;
    status = try_backdoor_write_bits(addresses, words, bit_mask, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_write_bits(input td_addresses_t addresses, input td_words_t words,
                                               input td_words_t bit_mask, output string message);
    return write_lists(addresses, words, bit_mask, 1, message);
  endfunction

  // The same with one mask bit per byte of the word: ceil(bytes / 32) mask words per address.
  function void backdoor_write_bytes(input td_addresses_t addresses, input td_words_t words,
                                     input td_words_t byte_mask);
    string      message;
    td_status_e status;
    status = try_backdoor_write_bytes(addresses, words, byte_mask, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_write_bytes(input td_addresses_t addresses, input td_words_t words,
                                                input td_words_t byte_mask, output string message);
    return write_lists(addresses, words, byte_mask, 8, message);
  endfunction

  // Row r of a matrix in word first + r, element 0 at the least significant bit; last is one past the last row's word.
  function void backdoor_load_matrix(input td_tensor tensor, input longint unsigned first, input longint unsigned last);
    longint unsigned tensor_handle;
    string           message;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    status = do_load_matrix(tensor_handle, first, last, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_load_matrix(input td_tensor tensor, input longint unsigned first,
                                                input longint unsigned last, output string message);
    longint unsigned tensor_handle;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    return do_load_matrix(tensor_handle, first, last, message);
  endfunction

  function void backdoor_dump_matrix(input td_tensor tensor, input longint unsigned first, input longint unsigned last);
    longint unsigned tensor_handle;
    string           message;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    status = do_dump_matrix(tensor_handle, first, last, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_dump_matrix(input td_tensor tensor, input longint unsigned first,
                                                input longint unsigned last, output string message);
    longint unsigned tensor_handle;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    return do_dump_matrix(tensor_handle, first, last, message);
  endfunction

  // A whole tensor where the layout says; `as` is the dtype that the memory holds, "" for the tensor's own bits.
  function void backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    string           message;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = do_load_tensor(tensor_handle, layout_handle, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                       output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    return do_load_tensor(tensor_handle, layout_handle, as, message);
  endfunction

  // The inverse: fills a tensor, whose dtype and shape say what is there.
  function void backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    string           message;
    td_status_e      status;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    status = do_dump_tensor(tensor_handle, layout_handle, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                       output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    return do_dump_tensor(tensor_handle, layout_handle, as, message);
  endfunction

  // Every element against a golden tensor, without a dump. The policy says what counts as equal ("ulp=1", "atol=0.1
  // check_pad"; "" for equal bits). Says one line, an error when something differs; null when it could not compare.
  function td_report backdoor_compare_tensor(input td_tensor golden, input td_layout layout, input string policy = "",
                                             input string as = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_backdoor_compare_tensor(golden, layout, policy, as, report, message);
    if (status == TD_OK) report.announce(m_name);
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
    status = do_compare_tensor(golden_handle, layout_handle, policy, as, found, message);
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction

  // The same with a mask and a snapshot, as td_comparison says.
  function td_report backdoor_compare(input td_comparison what);
    td_report   report;
    string      message;
    td_status_e status;
    status = try_backdoor_compare(what, report, message);
    if (status == TD_OK) report.announce(m_name);
    else td_reporter::report(status, message);
    return report;
  endfunction

  function td_status_e try_backdoor_compare(input td_comparison what, output td_report report, output string message);
    longint unsigned found;
    td_status_e      status;
    report = null;
    status = do_compare(what.golden_handle(), what.layout_handle(), what.policy, what.as, what.mask_handle(),
                        what.snapshot_handle(), found, message);
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction

  // All words as they are now, for a td_comparison; null when it is refused.
  function td_snapshot take_snapshot();
    td_snapshot snapshot;
    string      message;
    td_status_e status;
    status = try_take_snapshot(snapshot, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return snapshot;
  endfunction

  function td_status_e try_take_snapshot(output td_snapshot snapshot, output string message);
    td_snapshot    made;
    td_addresses_t copies;
    td_status_e    status;
    snapshot = null;
    status = do_snapshot(copies, message);
    if (status != TD_OK) return status;
    made = new;
    status = made.hold(copies, message);
    if (status == TD_OK) snapshot = made;
    else made.destroy();
    return status;
  endfunction

  // ---- single words

  // A word of up to 64 bits.
  function longint unsigned get_bits(input longint unsigned address);
    longint unsigned bits;
    string           message;
    td_status_e      status;
    status = do_get_bits(address, bits, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return bits;
  endfunction

  function td_status_e try_get_bits(input longint unsigned address, output longint unsigned bits,
                                    output string message);
    return do_get_bits(address, bits, message);
  endfunction

  function void set_bits(input longint unsigned address, input longint unsigned bits);
    string      message;
    td_status_e status;
    status = do_set_bits(address, bits, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_bits(input longint unsigned address, input longint unsigned bits, output string message);
    return do_set_bits(address, bits, message);
  endfunction

  // A word of any width.
  function void read_word(input longint unsigned address, output td_words_t word);
    string      message;
    td_status_e status;
    status = try_read_word(address, word, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_read_word(input longint unsigned address, output td_words_t word, output string message);
    td_addresses_t addresses;
    addresses = new[1];
    addresses[0] = address;
    return try_backdoor_read(addresses, word, message);
  endfunction

  function void write_word(input longint unsigned address, input td_words_t word);
    string      message;
    td_status_e status;
    status = try_write_word(address, word, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_write_word(input longint unsigned address, input td_words_t word, output string message);
    td_addresses_t addresses;
    addresses = new[1];
    addresses[0] = address;
    return try_backdoor_write(addresses, word, message);
  endfunction

  // ---- all words

  // fill("zero"), "one", "constant=0x5a", "address" (every word its own), "random seed=7": words [first, first +
  // count); fill(what) is all of them. td_tensor.fill_coordinates, loaded, says of every word what belongs there.
  function void fill(input string what, input longint unsigned first = 0, input longint unsigned count = 0);
    string      message;
    td_status_e status;
    status = do_fill(what, first, count == 0 ? m_depth - first : count, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_fill(input string what, input longint unsigned first, input longint unsigned count,
                                output string message);
    return do_fill(what, first, count, message);
  endfunction

  function void clear();
    string      message;
    td_status_e status;
    status = do_clear(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_clear(output string message);
    return do_clear(message);
  endfunction

  // An image file (.hex, .mem, .vmem, .bin): writes the words that the file names.
  function void load_file(input string path);
    string      message;
    td_status_e status;
    status = do_load_file(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_load_file(input string path, output string message);
    return do_load_file(path, message);
  endfunction

  // Words [first, first + count) to an image file; save_file(path) is all of them.
  function void save_file(input string path, input longint unsigned first = 0, input longint unsigned count = 0);
    string      message;
    td_status_e status;
    status = do_save_file(path, first, count == 0 ? m_depth - first : count, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_save_file(input string path, input longint unsigned first, input longint unsigned count,
                                     output string message);
    return do_save_file(path, first, count, message);
  endfunction

  // ---- what every call above is made of. All but the first two take handles of tensors and layouts.
  // verilator lint_off UNDRIVEN
  // verilator lint_off UNUSEDSIGNAL

  pure virtual function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
                                                      output string message);
  // mask_bits is how many bits of a word one bit of the mask is for: 1, 8, or 0 without a mask.
  pure virtual function td_status_e write_lists(input td_addresses_t addresses, input td_words_t words,
                                                input td_words_t mask, input int mask_bits, output string message);
  pure virtual function td_status_e do_load_matrix(input longint unsigned tensor, input longint unsigned first,
                                                   input longint unsigned last, output string message);
  pure virtual function td_status_e do_dump_matrix(input longint unsigned tensor, input longint unsigned first,
                                                   input longint unsigned last, output string message);
  pure virtual function td_status_e do_load_tensor(input longint unsigned tensor, input longint unsigned layout,
                                                   input string as, output string message);
  pure virtual function td_status_e do_dump_tensor(input longint unsigned tensor, input longint unsigned layout,
                                                   input string as, output string message);
  pure virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                      input string policy, input string as,
                                                      output longint unsigned report, output string message);
  pure virtual function td_status_e do_compare(input longint unsigned golden, input longint unsigned layout,
                                               input string policy, input string as, input longint unsigned mask,
                                               input longint unsigned snapshot, output longint unsigned report,
                                               output string message);
  // The handles of copies, one for each bank.
  pure virtual function td_status_e do_snapshot(output td_addresses_t copies, output string message);
  pure virtual function td_status_e do_get_bits(input longint unsigned address, output longint unsigned bits,
                                                output string message);
  pure virtual function td_status_e do_set_bits(input longint unsigned address, input longint unsigned bits,
                                                output string message);
  pure virtual function td_status_e do_fill(input string what, input longint unsigned first,
                                            input longint unsigned count, output string message);
  pure virtual function td_status_e do_clear(output string message);
  pure virtual function td_status_e do_load_file(input string path, output string message);
  pure virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                                 input longint unsigned count, output string message);

  // ---- for a set of banks, about each of them

  // What crosses DPI instead of this object; 0 for a set.
  pure virtual function longint unsigned handle();
  // The words of a transfer, from and to an array of the design.
  pure virtual function bit lies_elsewhere();
  pure virtual function td_status_e do_bring_in(output string message);
  pure virtual function td_status_e do_take_out(output string message);
  // Every word from the array of the design.
  pure virtual function td_status_e do_bring_in_all(output string message);

  // verilator lint_on UNUSEDSIGNAL
  // verilator lint_on UNDRIVEN
endclass
