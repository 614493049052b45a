// Wrong bits on purpose in one memory, of the library or of the design: what td_faults::inject flipped, and the way
// back. The text is that of td_memory_inject in src/tensordoor.h section 13. Undo, or destroy to keep the faults.
class td_faults;
  local longint unsigned m_handle;
  local longint unsigned m_count;

  // ---- life

  // td_faults::inject(mem, "words=10 bits=2 seed=7"): in a memory whose bits are all alike; null when it is refused.
  static function td_faults inject(input td_memory memory, input string what);
    td_faults   faults;
    string      message;
    td_status_e status;
    status = try_inject(memory, what, faults, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return faults;
  endfunction

  static function td_status_e try_inject(input td_memory memory, input string what, output td_faults faults,
                                         output string message);
    faults = null;
    if (memory == null) return no_memory(message);
    return in_words(memory, memory.handle(), 0, what, faults, message);
  endfunction

  // td_faults::inject_coded(mem, code, "words=10 in=check"): the memory has coded words, and the text may say so.
  static function td_faults inject_coded(input td_memory memory, input td_code code, input string what);
    td_faults   faults;
    string      message;
    td_status_e status;
    status = try_inject_coded(memory, code, what, faults, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return faults;
  endfunction

  static function td_status_e try_inject_coded(input td_memory memory, input td_code code, input string what,
                                               output td_faults faults, output string message);
    faults = null;
    if (memory == null) return no_memory(message);
    return in_words(memory, memory.handle(), code.handle(), what, faults, message);
  endfunction

  // td_faults::inject_at(mem, w, tiles, "0 3 1 2", "bits=1"): in the bits of one element of a tensor.
  static function td_faults inject_at(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                      input string coordinate, input string what, input string as = "");
    td_faults   faults;
    string      message;
    td_status_e status;
    status = try_inject_at(memory, tensor, layout, coordinate, what, as, faults, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return faults;
  endfunction

  static function td_status_e try_inject_at(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                            input string coordinate, input string what, input string as,
                                            output td_faults faults, output string message);
    faults = null;
    if (memory == null) return no_memory(message);
    return in_element(memory, memory.handle(), 0, tensor.handle(), layout.handle(), coordinate, what, as, faults,
                      message);
  endfunction

  // The same in a memory of coded words, where the layout is that of the data.
  static function td_faults inject_coded_at(input td_memory memory, input td_code code, input td_tensor tensor,
                                            input td_layout layout, input string coordinate, input string what,
                                            input string as = "");
    td_faults   faults;
    string      message;
    td_status_e status;
    status = try_inject_coded_at(memory, code, tensor, layout, coordinate, what, as, faults, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return faults;
  endfunction

  static function td_status_e try_inject_coded_at(input td_memory memory, input td_code code, input td_tensor tensor,
                                                  input td_layout layout, input string coordinate, input string what,
                                                  input string as, output td_faults faults, output string message);
    faults = null;
    if (memory == null) return no_memory(message);
    return in_element(memory, memory.handle(), code.handle(), tensor.handle(), layout.handle(), coordinate, what, as,
                      faults, message);
  endfunction

  local static function td_status_e no_memory(output string message);
    message = "memory_inject: the memory is null; create it first";
    return TD_HANDLE;
  endfunction

  // `handle` is the memory's; a code of 0 is none.
  local static function td_status_e in_words(input td_memory memory, input longint unsigned handle,
                                             input longint unsigned code, input string what, output td_faults faults,
                                             output string message);
    longint unsigned found;
    longint unsigned count;
    td_status_e      status;
    faults = null;
    status = memory.do_bring_in_all(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_inject(handle, what, code, found, count, message));
    if (status != TD_OK) return status;
    memory.do_keep(found);
    faults = new(found, count);
    return memory.do_take_out(message);
  endfunction

  local static function td_status_e in_element(input td_memory memory, input longint unsigned handle,
                                               input longint unsigned code, input longint unsigned tensor,
                                               input longint unsigned layout,
                                               input string coordinate, input string what, input string as,
                                               output td_faults faults, output string message);
    longint unsigned found;
    longint unsigned count;
    td_status_e      status;
    faults = null;
    status = memory.do_bring_in_all(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_inject(handle, tensor, layout, as, coordinate, what, code,
                                                               found, count, message));
    if (status != TD_OK) return status;
    memory.do_keep(found);
    faults = new(found, count);
    return memory.do_take_out(message);
  endfunction

  // For inject.
  function new(input longint unsigned handle, input longint unsigned count);
    m_handle = handle;
    m_count  = count;
  endfunction

  // Forgets the record; the bits stay wrong.
  function void destroy();
    string      message;
    td_status_e status;
    td_memory::do_drop_kept(m_handle);
    status = td_status_e'(td_dpi_pkg::td_dpi_faults_destroy(m_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
    m_handle = 0;
    m_count  = 0;
  endfunction

  // ---- questions

  // How many bits were flipped.
  function longint unsigned count();
    return m_count;
  endfunction

  // The address of the word of flip n, 0 for the first.
  function longint unsigned word(input longint unsigned n);
    return place(n, 1'b0);
  endfunction

  // Its bit in that word.
  function longint unsigned bit_in_word(input longint unsigned n);
    return place(n, 1'b1);
  endfunction

  local function longint unsigned place(input longint unsigned n, input bit wants_bit);
    longint unsigned address;
    longint unsigned number;
    string           message;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_faults_at(m_handle, n, address, number, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return wants_bit ? number : address;
  endfunction

  // ---- back

  // Flips the bits back and forgets them. The number of words that were written since, which stay as they are.
  function longint unsigned undo();
    longint unsigned left;
    string           message;
    td_status_e      status;
    status = try_undo(left, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return left;
  endfunction

  function td_status_e try_undo(output longint unsigned left, output string message);
    td_memory   memory;
    td_status_e status;
    left   = 0;
    memory = td_memory::do_find_kept(m_handle);
    if (memory == null) begin
      message = "memory_undo: these faults were undone or destroyed before; inject them again first";
      return TD_HANDLE;
    end
    status = memory.do_bring_in_all(message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_undo(memory.handle(), m_handle, left, message));
    if (status == TD_OK) status = memory.do_take_out(message);
    if (status == TD_OK) begin
      td_memory::do_drop_kept(m_handle);
      m_handle = 0;
      m_count  = 0;
    end
    return status;
  endfunction
endclass
