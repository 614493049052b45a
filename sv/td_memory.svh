// Words of `width` bits, `depth` of them, and the back door into them. Made with create; freed with destroy. Each call is loud
// and has a quiet twin `try_` that returns the status and has the message as its last argument. The loud calls are made of
// the quiet ones, which are virtual: a memory that lies elsewhere extends this class and overrides those alone.
//
// In lists of words a memory word takes words_per_word() 32-bit words, low word first.
class td_memory;
  local string           m_name;
  local longint unsigned m_width;
  local longint unsigned m_depth;
  local longint unsigned m_handle;

  // ---- life

  // td_memory::create("abuf", 64, 1024): zeros; null when it is refused. The name stands in messages.
  static function td_memory create(input string name, input longint unsigned width, input longint unsigned depth);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_create(name, width, depth, memory, message);
    td_reporter::check(status, message);
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
  endfunction

  // Frees the memory; every later use is TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_destroy(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_destroy(m_handle, message));
  endfunction

  // ---- questions

  // The handle that crosses DPI; 0 for null.
  static function longint unsigned handle_of(input td_memory memory);
    return memory == null ? 64'd0 : memory.m_handle;
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

  // ---- the six operations

  // One memory word per address.
  function void backdoor_read(input td_addresses_t addresses, output td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_read(addresses, words, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
                                                 output string message);
    td_tensor   address_list;
    td_tensor   word_list;
    td_status_e status;
    status = stage_addresses(addresses, address_list, message);
    if (status == TD_OK && address_list != null)
      status = td_tensor::try_create("u32", $sformatf("%0d", addresses.size() * words_per_word()), word_list, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_read(m_handle, td_tensor::handle_of(address_list),
                                                             td_tensor::handle_of(word_list), message));
    if (status == TD_OK) status = word_list.try_to_words(words, message);
    if (address_list != null) address_list.destroy();
    if (word_list != null) word_list.destroy();
    return status;
  endfunction

  // One memory word per address. When an address stands twice, the later word wins.
  function void backdoor_write(input td_addresses_t addresses, input td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_write(addresses, words, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_write(input td_addresses_t addresses, input td_words_t words,
                                                  output string message);
    td_words_t none;
    return stage_write(addresses, words, none, 0, message);
  endfunction

  // Only the bits that are 1 in the mask are written; the mask is a list like the words.
  function void backdoor_write_bits(input td_addresses_t addresses, input td_words_t words, input td_words_t bit_mask);
    string      message;
    td_status_e status;
    status = try_backdoor_write_bits(addresses, words, bit_mask, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_write_bits(input td_addresses_t addresses, input td_words_t words,
                                                       input td_words_t bit_mask, output string message);
    return stage_write(addresses, words, bit_mask, 1, message);
  endfunction

  // The same with one mask bit per byte of the word: ceil(bytes / 32) mask words per address.
  function void backdoor_write_bytes(input td_addresses_t addresses, input td_words_t words, input td_words_t byte_mask);
    string      message;
    td_status_e status;
    status = try_backdoor_write_bytes(addresses, words, byte_mask, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_write_bytes(input td_addresses_t addresses, input td_words_t words,
                                                        input td_words_t byte_mask, output string message);
    return stage_write(addresses, words, byte_mask, 8, message);
  endfunction

  // Row r of a matrix in word first + r, element 0 at the least significant bit; last is one past the last row's word.
  function void backdoor_load_matrix(input td_tensor tensor, input longint unsigned first, input longint unsigned last);
    string      message;
    td_status_e status;
    status = try_backdoor_load_matrix(tensor, first, last, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_load_matrix(input td_tensor tensor, input longint unsigned first,
                                                        input longint unsigned last, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_matrix(m_handle, td_tensor::handle_of(tensor), first, last,
                                                                message));
  endfunction

  function void backdoor_dump_matrix(input td_tensor tensor, input longint unsigned first, input longint unsigned last);
    string      message;
    td_status_e status;
    status = try_backdoor_dump_matrix(tensor, first, last, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_dump_matrix(input td_tensor tensor, input longint unsigned first,
                                                        input longint unsigned last, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_matrix(m_handle, td_tensor::handle_of(tensor), first, last,
                                                                message));
  endfunction

  // A whole tensor where the layout says; `as` is the dtype that the memory holds, "" for the tensor's own bits.
  function void backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    string      message;
    td_status_e status;
    status = try_backdoor_load_tensor(tensor, layout, as, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_load_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                        output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(m_handle, td_tensor::handle_of(tensor),
                                                                td_layout::handle_of(layout), as, message));
  endfunction

  // The inverse: fills a tensor, whose dtype and shape say what is there.
  function void backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as = "");
    string      message;
    td_status_e status;
    status = try_backdoor_dump_tensor(tensor, layout, as, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_backdoor_dump_tensor(input td_tensor tensor, input td_layout layout, input string as,
                                                        output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_tensor(m_handle, td_tensor::handle_of(tensor),
                                                                td_layout::handle_of(layout), as, message));
  endfunction

  // ---- single words

  // A word of up to 64 bits.
  function longint unsigned get_bits(input longint unsigned address);
    longint unsigned bits;
    string           message;
    td_status_e      status;
    status = try_get_bits(address, bits, message);
    td_reporter::check(status, message);
    return bits;
  endfunction

  virtual function td_status_e try_get_bits(input longint unsigned address, output longint unsigned bits,
                                            output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_get_bits(m_handle, address, bits, message));
  endfunction

  function void set_bits(input longint unsigned address, input longint unsigned bits);
    string      message;
    td_status_e status;
    status = try_set_bits(address, bits, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_set_bits(input longint unsigned address, input longint unsigned bits,
                                            output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_set_bits(m_handle, address, bits, message));
  endfunction

  // A word of any width.
  function void read_word(input longint unsigned address, output td_words_t word);
    td_addresses_t addresses;
    addresses = new[1];
    addresses[0] = address;
    backdoor_read(addresses, word);
  endfunction

  function void write_word(input longint unsigned address, input td_words_t word);
    td_addresses_t addresses;
    addresses = new[1];
    addresses[0] = address;
    backdoor_write(addresses, word);
  endfunction

  // ---- all words

  function void clear();
    string      message;
    td_status_e status;
    status = try_clear(message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_clear(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_clear(m_handle, message));
  endfunction

  // An image file (.hex, .mem, .vmem, .bin): writes the words that the file names.
  function void load_file(input string path);
    string      message;
    td_status_e status;
    status = try_load_file(path, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_load_file(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_load_file(m_handle, path, message));
  endfunction

  // Words [first, first + count) to an image file; save_file(path) is all of them.
  function void save_file(input string path, input longint unsigned first = 0, input longint unsigned count = 0);
    string      message;
    td_status_e status;
    status = try_save_file(path, first, count == 0 ? m_depth - first : count, message);
    td_reporter::check(status, message);
  endfunction

  virtual function td_status_e try_save_file(input string path, input longint unsigned first, input longint unsigned count,
                                             output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_save_file(m_handle, path, first, count, message));
  endfunction

  // ---- staging: lists cross DPI in chunks, into tensors that C then checks as a whole

  // An empty list is no tensor: C refuses it with the operation's own message.
  local function td_status_e stage_addresses(input td_addresses_t addresses, output td_tensor staged, output string message);
    td_words_t halves;
    halves = new[2*addresses.size()];
    for (int i = 0; i < addresses.size(); i++) begin
      halves[2*i] = addresses[i][31:0];
      halves[2*i+1] = addresses[i][63:32];
    end
    return stage_words("u64", halves, staged, message);
  endfunction

  local function td_status_e stage_words(input string dtype, input td_words_t words, output td_tensor staged,
                                         output string message);
    td_status_e status;
    staged = null;
    message = "";
    if (words.size() == 0) return TD_OK;
    status = td_tensor::try_create(dtype, $sformatf("%0d", dtype == "u64" ? words.size() / 2 : words.size()), staged, message);
    if (status == TD_OK) status = staged.try_from_words(words, message);
    return status;
  endfunction

  local function td_status_e stage_write(input td_addresses_t addresses, input td_words_t words, input td_words_t mask,
                                         input int mask_bits, output string message);
    td_tensor   address_list;
    td_tensor   word_list;
    td_tensor   mask_list;
    td_status_e status;
    status = stage_addresses(addresses, address_list, message);
    if (status == TD_OK) status = stage_words("u32", words, word_list, message);
    if (status == TD_OK) status = stage_words("u32", mask, mask_list, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_write(m_handle, td_tensor::handle_of(address_list),
                                                              td_tensor::handle_of(word_list),
                                                              td_tensor::handle_of(mask_list), mask_bits, message));
    if (address_list != null) address_list.destroy();
    if (word_list != null) word_list.destroy();
    if (mask_list != null) mask_list.destroy();
    return status;
  endfunction
endclass
