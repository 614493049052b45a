// Several memories of equal width and depth that a layout addresses as one: the layout's bank axes, or its `bank =`
// expression, choose the memory. `create` makes a set together with its memories; `new` and `add` make one from
// memories that exist already. `destroy` frees the memories that create made, not those that were added.
//
// Calls that take addresses and no layout (words, fills, files) see the banks one after another: word a of bank b is
// word b * bank(0).depth() + a of the set.
class td_bank_set extends td_backdoor;
  // Declared with the type of the base class: when Verilator 5.006 splits its C++, only the class of the base is
  // complete in every file.
  protected td_backdoor  m_banks[$];
  local longint unsigned m_bank_depth;  // of the first bank
  local bit              m_alike;  // all banks have that depth
  local int              m_own;
  protected bit          m_elsewhere;  // some bank lies in the design
  protected longint unsigned m_list;  // the banks' handles as a list in C; 0 until stage() has made it

  // How many words load_file and save_file move at once.
  localparam int unsigned FilePiece = 65536;

  // The name is used in messages.
  function new(input string name = "banks");
    super.new(name, 0, 0);
    m_alike = 1'b1;
  endfunction

  // Makes a set with its memories: td_bank_set::create("abuf", 4, 64, 1024) has four, "abuf[0]" to "abuf[3]"; null when
  // one of them fails.
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
    message = count < 1 ? $sformatf("bank_set_create \"%s\": %0d banks; pass 1 or more", name, count) : "";
    made = new(name);
    status = count < 1 ? TD_ARGUMENT : TD_OK;
    for (int i = 0; i < count && status == TD_OK; i++) begin
      status = td_memory::try_create($sformatf("%s[%0d]", name, i), width, depth, memory, message);
      if (status == TD_OK) made.add(memory);
    end
    made.own();
    if (status == TD_OK) banks = made;
    else made.destroy();
    return status;
  endfunction

  // Makes a set of memories that exist: td_bank_set::from('{low, high}). It does not free them.
  static function td_bank_set from(input td_memory memories[], input string name = "banks");
    td_bank_set banks;
    banks = new(name);
    for (int i = 0; i < memories.size(); i++) banks.add(memories[i]);
    return banks;
  endfunction

  // For TD_BANKS_MODULE: banks 0 to count - 1 of a module that the macro has made, named "name[0]" and so on; null when
  // one of them fails.
  static function td_bank_set from_module(input string module_name, input int count, input string name);
    td_bank_set banks;
    td_bank_set none;
    td_memory   memory;
    string      message;
    td_status_e status;
    banks = new(name);
    status = TD_OK;
    message = "";
    for (int i = 0; i < count && status == TD_OK; i++) begin
      status = td_design_memory::try_open_bank(module_name, i, $sformatf("%s[%0d]", name, i), memory, message);
      if (status == TD_OK) banks.add(memory);
    end
    banks.own();
    if (status == TD_OK) return banks;
    banks.destroy();
    td_reporter::report(status, message);
    return none;
  endfunction

  // Makes the set the owner of its present banks: destroy will free them.
  function void own();
    m_own = m_banks.size();
  endfunction

  // Adds a td_memory as the next bank; it may lie in the design or in the library.
  function void add(input td_memory memory);
    td_backdoor bank_added;
    bank_added = memory;
    m_banks.push_back(bank_added);
    if (memory != null) begin
      if (memory.lies_elsewhere()) m_elsewhere = 1'b1;
      if (m_banks.size() == 1) begin
        m_width = memory.width();
        m_bank_depth = memory.depth();
      end
      m_depth += memory.depth();
      m_alike = m_alike && m_depth == m_bank_depth * 64'(m_banks.size());
    end else m_alike = 1'b0;
    td_list::destroy(m_list);
    m_list = 0;
  endfunction

  // Number of banks.
  function int size();
    return m_banks.size();
  endfunction

  // Returns bank `number`, from 0; null when there is none.
  function td_memory bank(input int number);
    td_memory none;
    if (number < 0 || number >= m_banks.size()) return none;
    return td_memory::cast(m_banks[number]);
  endfunction

  // Frees the memories that create made, and leaves the set empty.
  function void destroy();
    for (int i = 0; i < m_own; i++) td_memory::destroy_bank(m_banks[i]);
    m_own = 0;
    m_banks.delete();
    m_depth = 0;
    m_alike = 1'b1;
    td_list::destroy(m_list);
    m_list = 0;
  endfunction

  // ---- tensors, over all banks

  virtual function td_status_e do_load_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    td_status_e status;
    status = stage(message);
    if (status == TD_OK) status = bring_in(1'b1, tensor, layout, as, message);
    if (status != TD_OK) return status;
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_banks(m_list, tensor, layout, as, message));
    if (!m_elsewhere) return status;
    for (int i = 0; i < m_banks.size() && status == TD_OK; i++) status = m_banks[i].do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_dirty_padding(input longint unsigned tensor, input longint unsigned layout,
                                                input string as, input longint unsigned seed,
                                                output longint unsigned count, output string message);
    td_status_e status;
    count = 0;
    status = stage(message);
    if (status == TD_OK) status = do_bring_in_all(message);
    if (status != TD_OK) return status;
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_dirty_banks(m_list, tensor, layout, as, seed, count, message));
    if (!m_elsewhere) return status;
    for (int i = 0; i < m_banks.size() && status == TD_OK; i++) status = m_banks[i].do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_dump_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    td_status_e status;
    status = stage(message);
    if (status == TD_OK) status = bring_in(1'b0, tensor, layout, as, message);
    if (status != TD_OK) return status;
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_banks(m_list, tensor, layout, as, message));
  endfunction

  virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                 input string policy, input string as, output longint unsigned report,
                                                 output string message);
    td_status_e status;
    report = 0;
    status = stage(message);
    if (status == TD_OK) status = bring_in(1'b0, golden, layout, as, message);
    if (status != TD_OK) return status;
    return td_status_e'(td_dpi_pkg::td_dpi_backdoor_compare_banks(m_list, golden, layout, policy, as, report, message));
  endfunction

  virtual function td_status_e do_compare(input longint unsigned golden, input longint unsigned layout,
                                          input string policy, input string as, input longint unsigned mask,
                                          input longint unsigned snapshot, output longint unsigned report,
                                          output string message);
    td_status_e status;
    report = 0;
    status = stage(message);
    if (status == TD_OK && snapshot != 0) status = do_bring_in_all(message);
    else if (status == TD_OK) status = bring_in(1'b0, golden, layout, as, message);
    if (status != TD_OK) return status;
    return td_status_e'(td_dpi_pkg::td_dpi_compare(m_list, golden, layout, policy, as, mask, snapshot, report,
                                                   message));
  endfunction

  virtual function td_status_e do_snapshot(output td_addresses_t copies, output string message);
    td_addresses_t one;
    td_status_e    status;
    status = TD_OK;
    message = "";
    copies = new[m_banks.size()];
    for (int i = 0; i < m_banks.size() && status == TD_OK; i++) begin
      status = m_banks[i].do_snapshot(one, message);
      copies[i] = one[0];
      if (status != TD_OK) td_snapshot::free_copies(copies, i);
    end
    return status;
  endfunction

  virtual function td_status_e do_bring_in_all(output string message);
    td_status_e status;
    message = "";
    if (!m_elsewhere) return TD_OK;
    status = stage(message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_transfer_all(m_list, message));
    for (int i = 0; i < m_banks.size() && status == TD_OK; i++) status = m_banks[i].do_bring_in(message);
    return status;
  endfunction

  // The rows of the matrix lie in consecutive words of the set.
  virtual function td_status_e do_load_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    td_layout   rows;
    td_status_e status;
    status = lay_rows("backdoor_load_matrix", tensor, first, last, rows, message);
    if (status != TD_OK) return status;
    status = do_load_tensor(tensor, rows.handle(), "", message);
    rows.destroy();
    return status;
  endfunction

  virtual function td_status_e do_dump_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    td_layout   rows;
    td_status_e status;
    status = lay_rows("backdoor_dump_matrix", tensor, first, last, rows, message);
    if (status != TD_OK) return status;
    status = do_dump_tensor(tensor, rows.handle(), "", message);
    rows.destroy();
    return status;
  endfunction

  // Only the shape of the tensor is used:
  // verilator lint_off UNUSEDSIGNAL
  local function td_status_e lay_rows(input string call, input longint unsigned tensor, input longint unsigned first,
                                      input longint unsigned last, output td_layout rows, output string message);
    string           dtype;
    string           shape;
    longint unsigned elems;
    longint unsigned count;
    longint unsigned columns;
    int              words_per_elem;
    td_status_e      status;
    rows = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_info(tensor, dtype, shape, elems, words_per_elem, message));
    if (status == TD_OK) status = check_span(call, first, last - first, message);
    if (status != TD_OK) return status;
    if ($sscanf(shape, "%d %d", count, columns) != 2 || count * columns != elems || first + count != last) begin
      message = $sformatf("%s \"%s\": a tensor of shape (%s) for words 0x%0h to 0x%0h; pass a matrix of %0d rows", call,
                          name(), shape, first, last, last - first);
      return TD_SHAPE;
    end
    return td_layout::try_create("r c -> r c", "", $sformatf("bank = (r + %0d) / %0d; addr = (r + %0d) %% %0d", first,
                                 m_bank_depth, first, m_bank_depth), rows, message);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- lists of words: one call for each bank that has some of them

  virtual function td_status_e try_backdoor_read(input td_addresses_t addresses, output td_words_t words,
                                                 output string message);
    td_addresses_t own_at;
    td_words_t     found;
    int            count;
    int            per;
    td_status_e    status;
    status = check_addresses("backdoor_read", addresses, message);
    if (status != TD_OK) return status;
    per = words_per_word();
    words = new[addresses.size() * per];
    for (int b = 0; b < m_banks.size() && status == TD_OK; b++) begin
      pick(addresses, b, own_at);
      if (own_at.size() == 0) continue;
      status = m_banks[b].try_backdoor_read(own_at, found, message);
      if (status != TD_OK) return status;
      count = 0;
      for (int i = 0; i < addresses.size(); i++) begin
        if (addresses[i] / m_bank_depth != 64'(b)) continue;
        for (int k = 0; k < per; k++) words[i*per+k] = found[count*per+k];
        count++;
      end
    end
    return status;
  endfunction

  virtual function td_status_e write_lists(input td_addresses_t addresses, input td_words_t words,
                                           input td_words_t mask, input int mask_bits, output string message);
    td_addresses_t own_at;
    td_words_t     given;
    td_words_t     given_mask;
    int            count;
    int            per;
    int            per_mask;
    td_status_e    status;
    per = words_per_word();
    per_mask = mask_bits == 0 ? 0 : int'((m_width / 64'(mask_bits) + 64'(m_width % 64'(mask_bits) != 0) + 31) / 32);
    status = check_addresses("backdoor_write", addresses, message);
    if (status == TD_OK && words.size() != addresses.size() * per)
      status = miscounted("words", words.size(), addresses.size() * per, message);
    if (status == TD_OK && mask.size() != addresses.size() * per_mask)
      status = miscounted("mask words", mask.size(), addresses.size() * per_mask, message);
    for (int b = 0; b < m_banks.size() && status == TD_OK; b++) begin
      pick(addresses, b, own_at);
      if (own_at.size() == 0) continue;
      given = new[own_at.size() * per];
      given_mask = new[own_at.size() * per_mask];
      count = 0;
      for (int i = 0; i < addresses.size(); i++) begin
        if (addresses[i] / m_bank_depth != 64'(b)) continue;
        for (int k = 0; k < per; k++) given[count*per+k] = words[i*per+k];
        for (int k = 0; k < per_mask; k++) given_mask[count*per_mask+k] = mask[i*per_mask+k];
        count++;
      end
      status = m_banks[b].write_lists(own_at, given, given_mask, mask_bits, message);
    end
    return status;
  endfunction

  // Gives the addresses that lie in bank b, as addresses within that bank.
  local function void pick(input td_addresses_t addresses, input int b, output td_addresses_t own_at);
    int count;
    count = 0;
    for (int i = 0; i < addresses.size(); i++) if (addresses[i] / m_bank_depth == 64'(b)) count++;
    own_at = new[count];
    count = 0;
    for (int i = 0; i < addresses.size(); i++) begin
      if (addresses[i] / m_bank_depth != 64'(b)) continue;
      own_at[count] = addresses[i] % m_bank_depth;
      count++;
    end
  endfunction

  virtual function td_status_e do_get_bits(input longint unsigned address, output longint unsigned bits,
                                           output string message);
    int         number;
    td_status_e status;
    bits = 0;
    status = check_span("backdoor_read", address, 1, message);
    if (status != TD_OK) return status;
    number = int'(address / m_bank_depth);
    return m_banks[number].do_get_bits(address % m_bank_depth, bits, message);
  endfunction

  virtual function td_status_e do_set_bits(input longint unsigned address, input longint unsigned bits,
                                           output string message);
    int         number;
    td_status_e status;
    status = check_span("backdoor_write", address, 1, message);
    if (status != TD_OK) return status;
    number = int'(address / m_bank_depth);
    return m_banks[number].do_set_bits(address % m_bank_depth, bits, message);
  endfunction

  // ---- fills and files

  // Each bank is filled as a memory of its own would be, with addresses that begin at 0 in every bank.
  virtual function td_status_e do_fill(input string what, input longint unsigned first, input longint unsigned count,
                                       output string message);
    longint unsigned start;
    longint unsigned past;
    td_status_e      status;
    status = check_span("memory_fill", first, count, message);
    for (int b = 0; b < m_banks.size() && status == TD_OK; b++) begin
      start = 64'(b) * m_bank_depth;
      past = start + m_bank_depth;
      if (start < first) start = first;
      if (past > first + count) past = first + count;
      if (start < past) status = m_banks[b].do_fill(what, start % m_bank_depth, past - start, message);
    end
    return status;
  endfunction

  // A set is checked whole; the banks follow each other.
  virtual function td_status_e do_invalidate(input longint unsigned first, input longint unsigned count,
                                             output string message);
    longint unsigned start;
    longint unsigned past;
    td_status_e      status;
    status = check_span("memory_invalidate", first, count, message);
    for (int b = 0; b < m_banks.size() && status == TD_OK; b++) begin
      start = 64'(b) * m_bank_depth;
      past = start + m_bank_depth;
      if (start < first) start = first;
      if (past > first + count) past = first + count;
      if (start < past) status = m_banks[b].do_invalidate(start % m_bank_depth, past - start, message);
    end
    return status;
  endfunction

  virtual function td_status_e do_clear(output string message);
    td_status_e status;
    message = "";
    status = TD_OK;
    for (int b = 0; b < m_banks.size() && status == TD_OK; b++) status = m_banks[b].do_clear(message);
    return status;
  endfunction

  // One file holds all banks, one after another. It is loaded twice, into a memory of zeros and into one of ones: the
  // bits that are equal in both afterwards are those that the file gives, and only those are written to the banks.
  virtual function td_status_e do_load_file(input string path, output string message);
    td_memory      zeros;
    td_memory      ones;
    td_addresses_t addresses;
    td_words_t     low;
    td_words_t     high;
    td_status_e    status;
    status = check_span("memory_load_file", 0, m_depth, message);
    if (status == TD_OK) status = td_memory::try_create(name(), m_width, m_depth, zeros, message);
    if (status == TD_OK) status = td_memory::try_create(name(), m_width, m_depth, ones, message);
    if (status == TD_OK) status = ones.try_fill("one", 0, m_depth, message);
    if (status == TD_OK) status = zeros.try_load_file(path, message);
    if (status == TD_OK) status = ones.try_load_file(path, message);
    for (longint unsigned first = 0; first < m_depth && status == TD_OK; first += 64'(FilePiece)) begin
      consecutive(first, m_depth, addresses);
      status = zeros.try_backdoor_read(addresses, low, message);
      if (status == TD_OK) status = ones.try_backdoor_read(addresses, high, message);
      if (status == TD_OK) status = write_agreed(addresses, low, high, message);
    end
    if (zeros != null) zeros.destroy();
    if (ones != null) ones.destroy();
    return status;
  endfunction

  virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                            input longint unsigned count, output string message);
    td_memory      all;
    td_addresses_t addresses;
    td_words_t     words;
    td_status_e    status;
    td_dpi_pkg::td_dpi_record_hold(1);  // the memory of all banks is not the testbench's
    status = check_span("memory_save_file", first, count, message);
    if (status == TD_OK) status = td_memory::try_create(name(), m_width, m_depth, all, message);
    for (longint unsigned at = first; at < first + count && status == TD_OK; at += 64'(FilePiece)) begin
      consecutive(at, first + count, addresses);
      status = try_backdoor_read(addresses, words, message);
      if (status == TD_OK) status = all.try_backdoor_write(addresses, words, message);
    end
    if (status == TD_OK) status = all.try_save_file(path, first, count, message);
    if (all != null) all.destroy();
    td_dpi_pkg::td_dpi_record_hold(0);
    return status;
  endfunction

  // Gives the addresses from `first` up to `past`, exclusive, but no more than FilePiece of them.
  local function void consecutive(input longint unsigned first, input longint unsigned past,
                                  output td_addresses_t addresses);
    int count;
    count = int'(FilePiece);
    if (past - first < 64'(FilePiece)) count = int'(past - first);
    addresses = new[count];
    for (int i = 0; i < count; i++) addresses[i] = first + 64'(i);
  endfunction

  // Writes those bits of each word that are equal in both lists; a word without any is left out.
  local function td_status_e write_agreed(input td_addresses_t addresses, input td_words_t low, input td_words_t high,
                                          output string message);
    td_addresses_t at;
    td_words_t     words;
    td_words_t     mask;
    bit            named[];
    int            per;
    int            count;
    per = words_per_word();
    named = new[addresses.size()];
    count = 0;
    message = "";
    for (int i = 0; i < addresses.size(); i++) begin
      named[i] = 1'b0;
      for (int k = 0; k < per; k++) if (agreed(k, low[i*per+k], high[i*per+k]) != 0) named[i] = 1'b1;
      if (named[i]) count++;
    end
    if (count == 0) return TD_OK;
    at = new[count];
    words = new[count * per];
    mask = new[count * per];
    count = 0;
    for (int i = 0; i < addresses.size(); i++) begin
      if (!named[i]) continue;
      at[count] = addresses[i];
      for (int k = 0; k < per; k++) begin
        words[count*per+k] = low[i*per+k];
        mask[count*per+k] = agreed(k, low[i*per+k], high[i*per+k]);
      end
      count++;
    end
    return write_lists(at, words, mask, 1, message);
  endfunction

  // A mask of the bits that are equal in two 32-bit words, each the k-th of a memory word; bits past the width are 0.
  local function bit [31:0] agreed(input int k, input bit [31:0] low, input bit [31:0] high);
    bit [31:0] bits;
    bits = '1;
    if (m_width - 64'(32 * k) < 32) bits = (32'd1 << (m_width % 32)) - 1;
    return ~(low ^ high) & bits;
  endfunction

  // ---- checks

  // Are words [first, first + count) in the set, and have all banks the same depth?
  local function td_status_e check_span(input string call, input longint unsigned first, input longint unsigned count,
                                        output string message);
    message = "";
    if (m_banks.size() == 0 || !m_alike) begin
      message = $sformatf("%s \"%s\": addresses in a set of banks need banks of one depth; add such banks", call,
                          name());
      return TD_ARGUMENT;
    end
    if (first <= m_depth && count <= m_depth - first) return TD_OK;
    message = $sformatf("%s \"%s\": words 0x%0h to 0x%0h are past the %0d banks of %0d words;", call, name(), first,
                        first + count - 1, m_banks.size(), m_bank_depth);
    message = $sformatf("%s the last address is 0x%0h", message, m_depth - 1);
    return TD_RANGE;
  endfunction

  local function td_status_e check_addresses(input string call, input td_addresses_t addresses, output string message);
    td_status_e status;
    status = check_span(call, 0, 0, message);
    for (int i = 0; i < addresses.size() && status == TD_OK; i++) status = check_span(call, addresses[i], 1, message);
    return status;
  endfunction

  local function td_status_e miscounted(input string what, input int found, input int needed, output string message);
    message = $sformatf("backdoor_write \"%s\": %0d %s for addresses that need %0d; pass %0d", name(), found, what,
                        needed, needed);
    return TD_ARGUMENT;
  endfunction

  // ---- transfers to and from the design

  // Copies words of banks that lie in the design into the library: for a dump all that it reads, for a load only when
  // it leaves bits of a word unchanged.
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

  // Passes the handles of the banks to C once, and keeps the list, so that a small load costs one call.
  protected function td_status_e stage(output string message);
    td_addresses_t handles;
    message = "";
    if (m_list != 0 || m_banks.size() == 0) return TD_OK;
    do_list_handles(handles);
    return td_list::from_addresses(handles, m_list, message);
  endfunction

  // ---- what td_backdoor asks of a bank; a set cannot be a bank of another set

  virtual function longint unsigned handle();
    return 0;
  endfunction

  virtual function bit lies_elsewhere();
    return m_elsewhere;
  endfunction

  virtual function void do_list_handles(output td_addresses_t handles);
    handles = new[m_banks.size()];
    for (int i = 0; i < m_banks.size(); i++) begin
      handles[i] = 0;
      if (m_banks[i] != null) handles[i] = m_banks[i].handle();
    end
  endfunction

  virtual function void do_add_leaves(input td_backdoor to);
    for (int i = 0; i < m_banks.size(); i++) if (m_banks[i] != null) m_banks[i].do_add_leaves(to);
  endfunction

  // verilator lint_off UNUSEDSIGNAL
  virtual function void do_add_leaf(input td_backdoor leaf);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  virtual function td_status_e do_bring_in(output string message);
    message = "";
    return TD_OK;
  endfunction

  virtual function td_status_e do_take_out(output string message);
    message = "";
    return TD_OK;
  endfunction
endclass
