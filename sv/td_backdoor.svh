// What a td_memory and a td_bank_set have in common: `depth` words of `width` bits, and the backdoor calls on them.
// This class is abstract: the objects come from td_memory::create, from the classes that td_macros.svh makes, and from
// td_bank_set::create. A component, a sequence or a task with an argument of type td_backdoor accepts any of them.
//
// Each call reports its own failures through td_reporter (it is *loud*). Its quiet twin, the same name with `try_` in
// front, reports nothing; it returns the status, and its last argument is the message. Both call the virtual functions
// at the end of this class, which are all that a derived class has to implement. Those take handles, because passing an
// object would cost more than a small load.
//
// In lists of words, one memory word takes words_per_word() words of 32 bits, the low one first.
virtual class td_backdoor;
  protected string           m_name;
  protected longint unsigned m_width;
  protected longint unsigned m_depth;
  // Always 0, for a null object. Where a variable is assigned a literal 0 instead, and an `if` after it assigns a
  // method's result, Verilator 5.048 passes the literal on to the next call. (An `else` with the literal is no way
  // out: Verilator 5.006 then calls the method of a null object.) tests/checks/tree.sh looks for such lines.
  protected longint unsigned m_none;

  function new(input string name, input longint unsigned width, input longint unsigned depth);
    m_name = name;
    m_width = width;
    m_depth = depth;
    m_none = 0;
  endfunction

  // ---- geometry

  // The name that stands in messages.
  function string name();
    return m_name;
  endfunction

  // Bits of a word.
  function longint unsigned width();
    return m_width;
  endfunction

  // Number of words.
  function longint unsigned depth();
    return m_depth;
  endfunction

  // How many 32-bit words hold one memory word, in lists of words.
  function int words_per_word();
    return int'((m_width + 31) / 32);
  endfunction

  // ---- the operations

  // Reads one memory word per address.
  function void backdoor_read(input td_addresses_t addresses, output td_words_t words);
    string      message;
    td_status_e status;
    status = try_backdoor_read(addresses, words, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  // Writes one memory word per address. When an address occurs twice, the later word wins.
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

  // Writes only the bits that are 1 in the mask, which is a list of the same form as the words.
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

  // The same with one mask bit per byte of the word: the mask has ceil(bytes / 32) words of 32 bits per address.
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

  // Puts row r of a matrix into word first + r, element 0 at the least significant bit; `last` is one past the word of
  // the last row.
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

  // Reads such rows back into the tensor.
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

  // Writes a whole tensor to where the layout puts it; `as` is the dtype that the memory holds (and how values are
  // converted to it), "" for the tensor's own bits.
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

  // The inverse: reads the memory into a tensor, whose dtype and shape say what the memory holds.
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

  // Writes poison into the padding of that layout, and into nothing else: what a design calculates must not change.
  // Random bits of the seed; all ones, which is NaN, for seed 0. Returns the number of padding elements.
  function longint unsigned backdoor_dirty_padding(input td_tensor tensor, input td_layout layout,
                                                   input longint unsigned seed = 0, input string as = "");
    longint unsigned count;
    string           message;
    td_status_e      status;
    status = try_backdoor_dirty_padding(tensor, layout, seed, as, count, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return count;
  endfunction

  function td_status_e try_backdoor_dirty_padding(input td_tensor tensor, input td_layout layout,
                                                  input longint unsigned seed, input string as,
                                                  output longint unsigned count, output string message);
    longint unsigned tensor_handle;
    longint unsigned layout_handle;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    return do_dirty_padding(tensor_handle, layout_handle, as, seed, count, message);
  endfunction

  // Compares every element in memory with a golden tensor, without a dump. The policy says what counts as equal
  // ("ulp=1", "atol=0.1 check_pad"; "" for equal bits). Prints one line, which is an error when something differs;
  // returns null when it could not compare.
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

  // The same with everything that a td_comparison can hold, a mask and a snapshot among it.
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
    if (what == null) begin
      message = $sformatf("backdoor_compare \"%s\": the td_comparison is null; create it first", m_name);
      return TD_HANDLE;
    end
    status = do_compare(what.golden_handle(), what.layout_handle(), what.policy, what.as, what.mask_handle(),
                        what.snapshot_handle(), found, message);
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction

  // Copies all words as they are now, for a td_comparison; null when it fails.
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

  // Returns one word, of up to 64 bits.
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

  // Writes one word, of up to 64 bits.
  function void set_bits(input longint unsigned address, input longint unsigned bits);
    string      message;
    td_status_e status;
    status = do_set_bits(address, bits, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_bits(input longint unsigned address, input longint unsigned bits, output string message);
    return do_set_bits(address, bits, message);
  endfunction

  // Reads one word of any width, as a list of 32-bit words.
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

  // Writes one word of any width, from a list of 32-bit words.
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

  // Fills words [first, first + count), or without them all words: "zero", "one", "constant=0x5a", "address" (each word
  // gets its own address) or "random seed=7". To see what a layout puts into each word, load a tensor that
  // td_tensor.fill_coordinates has filled.
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

  // Sets every word to zero.
  function void clear();
    string      message;
    td_status_e status;
    status = do_clear(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_clear(output string message);
    return do_clear(message);
  endfunction

  // Makes words [first, first + count), or without them all words, x until they are written, down to the arrays that
  // the memory lies in. In a simulator with two states, arrays of the design get some value, and are not x.
  function void invalidate(input longint unsigned first = 0, input longint unsigned count = 0);
    string      message;
    td_status_e status;
    status = try_invalidate(first, count == 0 ? m_depth - first : count, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_invalidate(input longint unsigned first, input longint unsigned count,
                                      output string message);
    return do_invalidate(first, count, message);
  endfunction

  // Loads an image file (.hex, .mem, .vmem, .bin, .ihex, .srec, .elf): writes the words that the file gives, and no
  // others.
  function void load_file(input string path);
    string      message;
    td_status_e status;
    status = do_load_file(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_load_file(input string path, output string message);
    return do_load_file(path, message);
  endfunction

  // Saves words [first, first + count), or without them all words, to an image file.
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

  // ---- what a derived class implements. All but the first two take handles of tensors and layouts.
  // verilator lint_off UNDRIVEN
  // verilator lint_off UNUSEDSIGNAL

  pure virtual function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
                                                      output string message);
  // mask_bits is the number of bits of a word that one bit of the mask covers: 1, 8, or 0 without a mask.
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
  pure virtual function td_status_e do_dirty_padding(input longint unsigned tensor, input longint unsigned layout,
                                                     input string as, input longint unsigned seed,
                                                     output longint unsigned count, output string message);
  pure virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                      input string policy, input string as,
                                                      output longint unsigned report, output string message);
  pure virtual function td_status_e do_compare(input longint unsigned golden, input longint unsigned layout,
                                               input string policy, input string as, input longint unsigned mask,
                                               input longint unsigned snapshot, output longint unsigned report,
                                               output string message);
  // Gives the handles of the copies, one for each bank.
  pure virtual function td_status_e do_snapshot(output td_addresses_t copies, output string message);
  pure virtual function td_status_e do_get_bits(input longint unsigned address, output longint unsigned bits,
                                                output string message);
  pure virtual function td_status_e do_set_bits(input longint unsigned address, input longint unsigned bits,
                                                output string message);
  pure virtual function td_status_e do_fill(input string what, input longint unsigned first,
                                            input longint unsigned count, output string message);
  pure virtual function td_status_e do_clear(output string message);
  pure virtual function td_status_e do_invalidate(input longint unsigned first, input longint unsigned count,
                                                  output string message);
  pure virtual function td_status_e do_load_file(input string path, output string message);
  pure virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                                 input longint unsigned count, output string message);

  // ---- what a td_bank_set asks each of its banks

  // The handle that stands for this object in calls to C; 0 for a set.
  pure virtual function longint unsigned handle();
  // 1 when the words lie in an array of the design. Then do_bring_in copies the words of a transfer from that array,
  // and do_take_out copies them back.
  pure virtual function bit lies_elsewhere();
  pure virtual function td_status_e do_bring_in(output string message);
  pure virtual function td_status_e do_take_out(output string message);
  // Names the tensor whose storage is transferred directly until it is named 0.
  virtual function void do_borrow(input longint unsigned tensor);
  endfunction
  // Copies every word from the array of the design.
  pure virtual function td_status_e do_bring_in_all(output string message);

  // ---- for memories that lie over others

  // The handles of the memory, or of all banks.
  pure virtual function void do_list_handles(output td_addresses_t handles);
  // Calls do_add_leaf of `to`, a td_memory, for every array of the design at the bottom.
  pure virtual function void do_add_leaves(input td_backdoor to);
  pure virtual function void do_add_leaf(input td_backdoor leaf);

  // verilator lint_on UNUSEDSIGNAL
  // verilator lint_on UNDRIVEN
endclass
