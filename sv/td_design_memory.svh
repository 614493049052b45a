// A memory that is an array in the design. The macros of td_macros.svh make one class of each array from this one;
// `wbuf_mem::create("wbuf")` of such a class, anywhere in the testbench, makes the object, which is then used as any
// td_memory. (td_memory itself is a memory of the library's own, and td_uvm_mem a UVM component around a memory of
// either kind.)
//
// The library holds a copy: an operation brings in the words that it looks at, works on the copy, and takes out the
// words that it has changed. No other word of the array is read or written.
class td_design_memory extends td_memory;
  // What crosses DPI at once. Members, so that no call has to clear them.
  protected td_dpi_pkg::chunk_t m_chunk;
  protected td_dpi_pkg::chunk_t m_mask;  // 1 for a bit that is x or z
  protected logic [31:0]        m_word[0:td_dpi_pkg::ChunkWords-1];  // one word, in four states
  local longint unsigned        m_borrowed = 0;  // the tensor whose own words cross, or 0
  local longint unsigned        m_found;         // the width of the array's elements
  local int                     m_per;           // 32-bit words of one word

  // The widest word that a chunk holds.
  localparam int unsigned MaxWidth = (td_dpi_pkg::ChunkWords - td_dpi_pkg::ChunkHead) * 32;

  // `width` is what the macro was given, `found` what an element of the array has.
  function new(input string name, input longint unsigned width, input longint unsigned found,
               input longint unsigned depth);
    super.new(name, width, depth);
    m_found = found;
    m_per = words_per_word();
  endfunction

  // ---- what the macros add, because only there the path is known

  // Words of the array into m_chunk: `count` of them from word `at` on, each `step` after the one before it, from
  // m_chunk[c] on. With a step of 0 each word has its address in front of it in m_chunk. Returns whether a bit of
  // them is x or z.
  // verilator lint_off UNUSEDSIGNAL
  virtual function bit collect_run(input int at, input int count, input int step, input int c);
    return 1'b0;
  endfunction

  // The other direction.
  virtual function void deposit_run(input int at, input int count, input int step, input int c);
  endfunction

  // One word of the array into m_word, and back, where some of its bits are x or z.
  virtual function void collect_word(input int at);
  endfunction

  virtual function void deposit_word(input int at);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- for `create` of the macros

  // Makes the library's copy; `memory` is this object, or null when it is refused.
  function td_status_e try_open(output td_memory memory, output string message);
    longint unsigned handle;
    td_status_e      status;
    memory = null;
    if (width() != m_found) begin
      message = $sformatf("TD_MEM_CLASS \"%s\": a width of %0d bits for words of %0d; pass %0d", name(), width(),
                          m_found, m_found);
      return TD_ARGUMENT;
    end
    if (width() > 64'(MaxWidth)) begin
      message = $sformatf("TD_MEM_CLASS \"%s\": words of %0d bits; a memory in the design has at most %0d", name(),
                          width(), MaxWidth);
      return TD_ARGUMENT;
    end
    if (depth() == 0) begin
      message = {$sformatf("TD_MEM_CLASS \"%s\": an array of no words; give a dynamic array or a queue its words ",
                           name()),
                 "first, and pass its size: TD_MEM_CLASS_AT(NAME, PATH[at], WIDTH, PATH.size())"};
      return TD_ARGUMENT;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_create(name(), width(), depth(), handle, message));
    m_handle = handle;
    if (status == TD_OK) memory = this;
    return status;
  endfunction

  // The same, loud.
  function td_memory open();
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_open(memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  // ---- for TD_BANKS_MODULE: the banks that its modules have found, by the module's name and the bank's number

  local static td_design_memory m_listed[string];

  static function bit list_bank(input string module_name, input int bank, input td_design_memory memory);
    m_listed[$sformatf("%s %0d", module_name, bank)] = memory;
    return 1'b1;
  endfunction

  // Makes the copy of a bank in the list, under a new name.
  static function td_status_e try_open_bank(input string module_name, input int bank, input string name,
                                            output td_memory memory, output string message);
    td_design_memory found;
    found = m_listed[$sformatf("%s %0d", module_name, bank)];
    message = "";
    found.m_name = name;
    return found.try_open(memory, message);
  endfunction

  // ---- the two directions, chunk by chunk

  virtual function bit lies_elsewhere();
    return 1'b1;
  endfunction

  virtual function td_status_e do_bring_in(output string message);
    int runs;
    int status;
    bit unknown;
    int c;
    status = 0;
    forever begin
      runs = next_chunk(td_dpi_pkg::BringIn);
      if (runs <= 0) break;
      unknown = 1'b0;
      c = 0;
      for (int r = 0; r < runs; r++) begin
        if (collect_run(int'(m_chunk[c]), int'(m_chunk[c+1]), int'(m_chunk[c+2]), c + int'(td_dpi_pkg::ChunkHead)))
          unknown = 1'b1;
        c = after_run(c);
      end
      if (unknown) status = collect_unknown(runs);
      if (status != 0) break;
    end
    return explain(status != 0 ? status : -runs, message);
  endfunction

  virtual function td_status_e do_take_out(output string message);
    int runs;
    int status;
    int c;
    status = 0;
    forever begin
      runs = next_chunk(td_dpi_pkg::TakeOut);
      if (runs <= 0) break;
      if (runs > int'(td_dpi_pkg::ChunkUnknown)) begin
        status = deposit_unknown(runs - int'(td_dpi_pkg::ChunkUnknown));
        if (status != 0) break;
        continue;
      end
      c = 0;
      for (int r = 0; r < runs; r++) begin
        deposit_run(int'(m_chunk[c]), int'(m_chunk[c+1]), int'(m_chunk[c+2]), c + int'(td_dpi_pkg::ChunkHead));
        c = after_run(c);
      end
    end
    return explain(status != 0 ? status : -runs, message);
  endfunction

  // The next chunk: the number of its runs, or a negative status.
  local function int next_chunk(input td_dpi_pkg::transfer_e direction);
    return td_dpi_pkg::td_dpi_transfer_chunk(m_handle, m_borrowed, int'(direction), m_chunk);
  endfunction

  // Where the run after the one at m_chunk[c] begins.
  local function int after_run(input int c);
    return c + int'(td_dpi_pkg::ChunkHead) + int'(m_chunk[c+1]) * (m_chunk[c+2] == 0 ? m_per + 1 : m_per);
  endfunction

  local function td_status_e explain(input int status, output string message);
    message = "";
    if (status != 0) message = $sformatf("transfer \"%s\": the words of the design cannot cross", name());
    return td_status_e'(status);
  endfunction

  // The masks of a chunk that has brought in words with x or z.
  local function int collect_unknown(input int runs);
    int at;
    int step;
    int c;
    int last;
    c = 0;
    for (int r = 0; r < runs; r++) begin
      at = int'(m_chunk[c]);
      step = int'(m_chunk[c+2]);
      last = after_run(c);
      c += int'(td_dpi_pkg::ChunkHead);
      while (c < last) begin
        if (step == 0) begin
          at = int'(m_chunk[c]);
          c += 1;
        end
        collect_word(at);
        for (int k = 0; k < m_per; k++)
          for (int b = 0; b < 32; b++) m_mask[c+k][b] = $isunknown(m_word[k][b]);
        at += step;
        c += m_per;
      end
    end
    return -td_dpi_pkg::td_dpi_transfer_chunk(m_handle, m_borrowed, int'(td_dpi_pkg::UnknownIn), m_mask);
  endfunction

  // A chunk on its way out, some of whose bits stay as they are in the array, because they are x or z there.
  local function int deposit_unknown(input int runs);
    int status;
    int at;
    int step;
    int c;
    int last;
    status = td_dpi_pkg::td_dpi_transfer_chunk(m_handle, m_borrowed, int'(td_dpi_pkg::UnknownOut), m_mask);
    if (status < 0) return -status;
    c = 0;
    for (int r = 0; r < runs; r++) begin
      at = int'(m_chunk[c]);
      step = int'(m_chunk[c+2]);
      last = after_run(c);
      c += int'(td_dpi_pkg::ChunkHead);
      while (c < last) begin
        if (step == 0) begin
          at = int'(m_chunk[c]);
          c += 1;
        end
        collect_word(at);
        for (int k = 0; k < m_per; k++)
          for (int b = 0; b < 32; b++) if (!m_mask[c+k][b]) m_word[k][b] = m_chunk[c+k][b];
        deposit_word(at);
        at += step;
        c += m_per;
      end
    end
    return 0;
  endfunction

  // ---- the operations of td_backdoor, with the transfers around them

  virtual function td_status_e do_read(input longint unsigned addresses, input longint unsigned words,
                                       output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_words(handle(), addresses, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_read(addresses, words, message);
    return status;
  endfunction

  virtual function td_status_e do_write(input longint unsigned addresses, input longint unsigned words,
                                        input longint unsigned mask, input int mask_bits, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_words(handle(), addresses, message));
    if (status == TD_OK && mask_bits != 0) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_write(addresses, words, mask, mask_bits, message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_load_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), first, last - first, message));
    if (status == TD_OK) status = super.do_load_matrix(tensor, first, last, message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_dump_matrix(input longint unsigned tensor, input longint unsigned first,
                                              input longint unsigned last, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), first, last - first, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_dump_matrix(tensor, first, last, message);
    return status;
  endfunction

  virtual function td_status_e do_load_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    td_status_e status;
    int         partial;
    int         borrowed;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_tensor(handle(), tensor, layout, as, int'(td_dpi_pkg::ForLoad),
                                                             partial, borrowed, message));
    m_borrowed = borrowed != 0 ? tensor : 0;
    if (status == TD_OK && partial != 0) status = do_bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_load(handle(), tensor, layout, as, message));
    if (status == TD_OK) status = do_take_out(message);
    m_borrowed = 0;
    return status;
  endfunction

  // Where the simulator has two states, nothing can be x.
  local function int dump_use();
    logic probe;
    probe = 1'bx;
    return int'($isunknown(probe) ? td_dpi_pkg::ForDump : td_dpi_pkg::ForDumpKnown);
  endfunction

  // A dump and a comparison bring in every word, whether a load would or not:
  // verilator lint_off UNUSEDSIGNAL
  virtual function td_status_e do_dump_tensor(input longint unsigned tensor, input longint unsigned layout,
                                              input string as, output string message);
    td_status_e status;
    int         partial;
    int         borrowed;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_tensor(handle(), tensor, layout, as, dump_use(), partial,
                                                             borrowed, message));
    m_borrowed = borrowed != 0 ? tensor : 0;
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_dump(handle(), tensor, layout, as, message));
    m_borrowed = 0;
    return status;
  endfunction

  virtual function td_status_e do_compare_tensor(input longint unsigned golden, input longint unsigned layout,
                                                 input string policy, input string as, output longint unsigned report,
                                                 output string message);
    td_status_e status;
    int         partial;
    report = 0;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_layout(handle(), golden, layout, as, partial, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_compare_tensor(golden, layout, policy, as, report, message);
    return status;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Every word is compared with the snapshot, and otherwise only those of the layout.
  // verilator lint_off UNUSEDSIGNAL
  virtual function td_status_e do_compare(input longint unsigned golden, input longint unsigned layout,
                                          input string policy, input string as, input longint unsigned mask,
                                          input longint unsigned snapshot, output longint unsigned report,
                                          output string message);
    td_status_e status;
    int         partial;
    report = 0;
    if (snapshot != 0) status = do_bring_in_all(message);
    else begin
      status = td_status_e'(td_dpi_pkg::td_dpi_transfer_layout(m_handle, golden, layout, as, partial, message));
      if (status == TD_OK) status = do_bring_in(message);
    end
    if (status == TD_OK) status = super.do_compare(golden, layout, policy, as, mask, snapshot, report, message);
    return status;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  virtual function td_status_e do_snapshot(output td_addresses_t copies, output string message);
    td_status_e status;
    status = do_bring_in_all(message);
    if (status == TD_OK) status = super.do_snapshot(copies, message);
    return status;
  endfunction

  virtual function td_status_e do_bring_in_all(output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(m_handle, 0, depth(), message));
    if (status == TD_OK) status = do_bring_in(message);
    return status;
  endfunction

  virtual function td_status_e do_get_bits(input longint unsigned address, output longint unsigned bits,
                                           output string message);
    td_status_e status;
    bits = 0;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), address, 1, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_get_bits(address, bits, message);
    return status;
  endfunction

  virtual function td_status_e do_set_bits(input longint unsigned address, input longint unsigned bits,
                                           output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), address, 1, message));
    if (status == TD_OK) status = super.do_set_bits(address, bits, message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_fill(input string what, input longint unsigned first, input longint unsigned count,
                                       output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), first, count, message));
    if (status == TD_OK) status = super.do_fill(what, first, count, message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_clear(output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), 0, depth(), message));
    if (status == TD_OK) status = super.do_clear(message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  // Files that count bytes may cover a word in part, so that the words come in first.
  virtual function td_status_e do_load_file(input string path, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_file(handle(), path, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_load_file(path, message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_load_file_part(input string path, output longint unsigned bytes,
                                                 output longint unsigned first, output longint unsigned last,
                                                 output string message);
    td_status_e status;
    bytes = 0;
    first = 0;
    last = 0;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_file(handle(), path, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_load_file_part(path, bytes, first, last, message);
    if (status == TD_OK) status = do_take_out(message);
    return status;
  endfunction

  virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                            input longint unsigned count, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), first, count, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_save_file(path, first, count, message);
    return status;
  endfunction
endclass

// The name of this class until 0.1; it goes with the release after.
typedef td_design_memory td_mem;
