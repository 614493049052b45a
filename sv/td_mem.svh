// A memory that is an array in the design. The macros in td_macros.svh make a class of each from this one, and its
// `create` makes the object; it is then used as any td_memory. The library holds a copy: an operation brings in the
// words that it looks at, works on the copy, and takes out the words that it has changed. No other word of the array
// is read or written.
class td_mem extends td_memory;
  // What crosses DPI at once, for the macros. Members, so that no call has to clear them.
  // verilator lint_off UNUSEDSIGNAL
  protected td_dpi_pkg::stage_t m_chunk;
  protected td_dpi_pkg::stage_t m_mask;
  protected longint unsigned m_borrowed = 0;  // the tensor whose own words cross, or 0
  // verilator lint_on UNUSEDSIGNAL

  // The widest word that a chunk holds.
  localparam int unsigned MaxWidth = (td_dpi_pkg::StageWords - td_dpi_pkg::StageHead) * 32;

  function new(input string name, input longint unsigned width, input longint unsigned depth,
               input longint unsigned handle);
    super.new(name, width, depth, handle);
  endfunction

  // ---- what the macros add

  // Every chunk of the transfer from the array to the copy; returns a status number.
  virtual function int collect();
    return int'(TD_HANDLE);
  endfunction

  // Every chunk of the transfer from the copy to the array.
  virtual function int deposit();
    return int'(TD_HANDLE);
  endfunction

  // The copy, for the macros' create. The declared width is compared with that of the array.
  static function td_status_e make_copy(input string name, input longint unsigned width, input longint unsigned found,
                                        input longint unsigned depth, output longint unsigned handle,
                                        output string message);
    handle = 0;
    if (width != found) begin
      message = $sformatf("TD_MEM_CLASS \"%s\": a width of %0d bits for words of %0d; pass %0d", name, width, found, found);
      return TD_ARGUMENT;
    end
    if (width > 64'(MaxWidth)) begin
      message = $sformatf("TD_MEM_CLASS \"%s\": words of %0d bits; a memory in the design has at most %0d", name, width,
                          MaxWidth);
      return TD_ARGUMENT;
    end
    return td_status_e'(td_dpi_pkg::td_dpi_memory_create(name, width, depth, handle, message));
  endfunction

  // ---- the two directions, with a message

  virtual function bit lies_elsewhere();
    return 1'b1;
  endfunction

  virtual function td_status_e do_bring_in(output string message);
    return explain(collect(), message);
  endfunction

  virtual function td_status_e do_take_out(output string message);
    return explain(deposit(), message);
  endfunction

  local function td_status_e explain(input int status, output string message);
    message = "";
    if (status != 0) message = $sformatf("transfer \"%s\": the words of the design cannot cross", name());
    return td_status_e'(status);
  endfunction

  // ---- the operations

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

  virtual function td_status_e do_save_file(input string path, input longint unsigned first,
                                            input longint unsigned count, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_transfer_span(handle(), first, count, message));
    if (status == TD_OK) status = do_bring_in(message);
    if (status == TD_OK) status = super.do_save_file(path, first, count, message);
    return status;
  endfunction
endclass
