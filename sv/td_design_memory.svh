// A memory whose words are an array in the design. The macros of td_macros.svh derive one class from this one for each
// array; `wbuf_mem::create("wbuf")` of such a class, anywhere in the testbench, makes an object that is used like any
// td_memory. (A plain td_memory keeps its words in the library, and a td_uvm_mem is a UVM component around a memory of
// either kind.)
//
// The library holds a copy of the array, and this class moves words between the two (td_memory says when).
class td_design_memory extends td_memory;
  // Buffers for one chunk of words on its way through DPI. They are members because local arrays would be cleared in
  // every call.
  protected td_dpi_pkg::chunk_t m_chunk;
  protected td_dpi_pkg::chunk_t m_mask;  // 1 for a bit that is x or z
  protected logic [31:0]        m_word[0:td_dpi_pkg::ChunkWords-1];  // one word, in four states
  local longint unsigned        m_found;         // the width of the array's elements
  local int                     m_per;           // 32-bit words in one memory word

  // The widest word that fits in a chunk.
  localparam int unsigned MaxWidth = (td_dpi_pkg::ChunkWords - td_dpi_pkg::ChunkHead) * 32;

  // `width` is the width that the macro was given, `found` the width of the array's elements.
  function new(input string name, input longint unsigned width, input longint unsigned found,
               input longint unsigned depth);
    super.new(name, width, depth);
    m_elsewhere = 1'b1;
    m_found = found;
    m_per = words_per_word();
  endfunction

  // ---- implemented by the macros, which alone know the path of the array

  // Copies `count` words of the array into m_chunk[c] and up: word `at`, word at + step, and so on. When step is 0,
  // each word's address stands in front of it in m_chunk. Returns 1 when any of their bits is x or z.
  // verilator lint_off UNUSEDSIGNAL
  virtual function bit collect_run(input int at, input int count, input int step, input int c);
    return 1'b0;
  endfunction

  // Copies words the other way, from m_chunk into the array.
  virtual function void deposit_run(input int at, input int count, input int step, input int c);
  endfunction

  // Copies one word of the array into m_word, x and z included, and back.
  virtual function void collect_word(input int at);
  endfunction

  virtual function void deposit_word(input int at);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- called by `create` of the macros

  // Makes the library's copy of the array; `memory` is this object, or null when it fails.
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
    if (status == TD_OK) begin
      memory = this;
      do_keep_door();
    end
    return status;
  endfunction

  // The same, but reports a failure itself.
  function td_memory open();
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_open(memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  // ---- called by TD_BANKS_MODULE: a table of the banks of its modules, by the module's name and the bank's number

  local static td_design_memory m_listed[string];

  static function bit list_bank(input string module_name, input int bank, input td_design_memory memory);
    m_listed[$sformatf("%s %0d", module_name, bank)] = memory;
    return 1'b1;
  endfunction

  // Opens a bank of the table under a new name.
  static function td_status_e try_open_bank(input string module_name, input int bank, input string name,
                                            output td_memory memory, output string message);
    td_design_memory found;
    found = m_listed[$sformatf("%s %0d", module_name, bank)];
    message = "";
    found.m_name = name;
    return found.try_open(memory, message);
  endfunction

  // ---- transfers in both directions, chunk by chunk

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

  // Fetches the next chunk; returns the number of its runs, or a negative status.
  local function int next_chunk(input td_dpi_pkg::transfer_e direction);
    return td_dpi_pkg::td_dpi_transfer_chunk(m_handle, m_borrowed, int'(direction), m_chunk);
  endfunction

  // The index of the run after the one at m_chunk[c].
  local function int after_run(input int c);
    return c + int'(td_dpi_pkg::ChunkHead) + int'(m_chunk[c+1]) * (m_chunk[c+2] == 0 ? m_per + 1 : m_per);
  endfunction

  local function td_status_e explain(input int status, output string message);
    message = "";
    if (status != 0) message = $sformatf("transfer \"%s\": the words of the design cannot cross", name());
    return td_status_e'(status);
  endfunction

  // Tells C which bits are x or z in the chunk that was just collected.
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

  // Writes a chunk to the array except for the bits that have to stay x or z there, or become x.
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
          for (int b = 0; b < 32; b++)
            if (!m_mask[c+k][b]) m_word[k][b] = m_chunk[c+k][b];
            else if (!$isunknown(m_word[k][b])) m_word[k][b] = 1'bx;
        deposit_word(at);
        at += step;
        c += m_per;
      end
    end
    return 0;
  endfunction

  // ---- for memories over others: this is an array of the design

  virtual function void do_add_leaves(input td_backdoor to);
    td_backdoor self;
    self = this;
    to.do_add_leaf(self);
  endfunction
endclass

// The name of this class before 0.1, which the release after it will remove.
typedef td_design_memory td_mem;
