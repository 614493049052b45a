// Words of `width` bits, `depth` of them, and the back door into them. Made with create; freed with destroy. Each call
// is loud and has a quiet twin `try_` that returns the status and has the message as its last argument. Both are made
// of the virtual `do_` functions at the end: a memory that lies elsewhere extends this class and overrides those
// alone. They take handles, because passing an object costs more than a small load does.
//
// In lists of words a memory word takes words_per_word() 32-bit words, low word first.
class td_memory;
  local string           m_name;
  local longint unsigned m_width;
  local longint unsigned m_depth;
  local longint unsigned m_handle;
  local longint unsigned m_none;  // 0. Verilator 5.048 takes a constant for what a call assigns in an `if` after it

  // ---- life

  // td_memory::create("abuf", 64, 1024): zeros; null when it is refused. The name stands in messages.
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

  // For create and for classes that extend this one; a handle from elsewhere is refused when it is used.
  function new(input string name, input longint unsigned width, input longint unsigned depth,
               input longint unsigned handle = 0);
    m_name = name;
    m_width = width;
    m_depth = depth;
    m_handle = handle;
    m_none = 0;
  endfunction

  // Frees the memory; every later use is TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    return do_destroy(message);
  endfunction

  // ---- questions

  // What crosses DPI instead of this object.
  function longint unsigned handle();
    return m_handle;
  endfunction

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

  // What dumps, comparisons and reads do with bits that are x or z, in a memory of the design: "error" (as at first)
  // refuses them, with the elements in the message; "zero" reads them as 0; "keep" leaves such elements of the tensor
  // as they were, and counts them as mismatches.
  function void set_x(input string policy);
    string      message;
    td_status_e status;
    status = try_set_x(policy, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_x(input string policy, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_set_x(m_handle, policy, message));
  endfunction

  // ---- the operations

  // One memory word per address.
  function void backdoor_read(input td_addresses_t addresses, output td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_read(addresses, words, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
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

  local function td_status_e write_lists(input td_addresses_t addresses, input td_words_t words, input td_words_t mask,
                                         input int mask_bits, output string message);
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

  // fill("zero"), "one", "constant=0x5a", "address" (every word its own), "random seed=7": words [first, first + count);
  // fill(what) is all of them. td_tensor.fill_coordinates, loaded, says of every word what belongs there.
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

  // ---- what every call above is made of: tensors, layouts and lists by handle

  virtual function td_status_e do_destroy(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_destroy(m_handle, message));
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

  virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                 input string policy, input string as, output longint unsigned report,
                                                 output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_compare_tensor(m_handle, golden, layout, policy, as, report, message));
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

  // ---- for a set of banks: the words of a transfer, from and to a memory that lies elsewhere

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
endclass
