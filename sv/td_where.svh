// Where elements and bits lie, through all layers down to the macros, and what lies there; src/tensordoor.h section 14.
// An answer is a list of runs: bits that follow each other in a word, in a row of a macro and in an element. It looks
// at no word, so that asking costs a memory of the design nothing. There is nothing to destroy.
class td_where;
  localparam int Numbers = 13;  // of a run, as dpi/where.c has them

  local string           m_text;
  local string           m_line[$];
  local longint unsigned m_number[$];

  // ---- questions

  // td_where::of_element(mem, w, tiles, "0 3 1 2"): all places of one element of a tensor; null when it is refused.
  static function td_where of_element(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                      input string coordinate, input string as = "");
    td_where    where;
    string      message;
    td_status_e status;
    status = try_of_element(memory, tensor, layout, coordinate, as, where, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_of_element(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                             input string coordinate, input string as, output td_where where,
                                             output string message);
    where = null;
    if (memory == null || tensor == null || layout == null) return no_object(message);
    return ask(memory.handle(), tensor.handle(), layout.handle(), as, coordinate == "" ? " " : coordinate, 0, 0, 0, 0,
               0, where, message);
  endfunction

  // td_where::of_word(mem, 'h40): where the bits of a word lie; bits = 0 stands for all from lsb on.
  static function td_where of_word(input td_memory memory, input longint unsigned word, input longint unsigned lsb = 0,
                                   input longint unsigned bits = 0);
    td_where    where;
    string      message;
    td_status_e status;
    status = try_of_word(memory, word, lsb, bits, where, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_of_word(input td_memory memory, input longint unsigned word,
                                          input longint unsigned lsb, input longint unsigned bits,
                                          output td_where where, output string message);
    where = null;
    if (memory == null) return no_object(message);
    return ask(memory.handle(), 0, 0, "", "", 0, 0, word, lsb, bits, where, message);
  endfunction

  // The same with the elements of a tensor that lie there.
  static function td_where elements_of_word(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                            input longint unsigned word, input longint unsigned lsb = 0,
                                            input longint unsigned bits = 0, input string as = "");
    td_where    where;
    string      message;
    td_status_e status;
    status = try_elements_of_word(memory, tensor, layout, word, lsb, bits, as, where, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_elements_of_word(input td_memory memory, input td_tensor tensor,
                                                   input td_layout layout, input longint unsigned word,
                                                   input longint unsigned lsb, input longint unsigned bits,
                                                   input string as, output td_where where, output string message);
    where = null;
    if (memory == null || tensor == null || layout == null) return no_object(message);
    return ask(memory.handle(), tensor.handle(), layout.handle(), as, "", 0, 0, word, lsb, bits, where, message);
  endfunction

  // td_where::of_row(mem, 3, 17): which bits of the memory lie in row 17 of its macro 3.
  static function td_where of_row(input td_memory memory, input longint unsigned macro_number,
                                  input longint unsigned row, input longint unsigned lsb = 0,
                                  input longint unsigned bits = 0);
    td_where    where;
    string      message;
    td_status_e status;
    status = try_of_row(memory, macro_number, row, lsb, bits, where, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_of_row(input td_memory memory, input longint unsigned macro_number,
                                         input longint unsigned row, input longint unsigned lsb,
                                         input longint unsigned bits, output td_where where, output string message);
    where = null;
    if (memory == null) return no_object(message);
    return ask(memory.handle(), 0, 0, "", "", 1, macro_number, row, lsb, bits, where, message);
  endfunction

  // The same with the elements of a tensor that lie there.
  static function td_where elements_of_row(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                           input longint unsigned macro_number, input longint unsigned row,
                                           input longint unsigned lsb = 0, input longint unsigned bits = 0,
                                           input string as = "");
    td_where    where;
    string      message;
    td_status_e status;
    status = try_elements_of_row(memory, tensor, layout, macro_number, row, lsb, bits, as, where, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_elements_of_row(input td_memory memory, input td_tensor tensor,
                                                  input td_layout layout, input longint unsigned macro_number,
                                                  input longint unsigned row, input longint unsigned lsb,
                                                  input longint unsigned bits, input string as,
                                                  output td_where where, output string message);
    where = null;
    if (memory == null || tensor == null || layout == null) return no_object(message);
    return ask(memory.handle(), tensor.handle(), layout.handle(), as, "", 1, macro_number, row, lsb, bits, where,
               message);
  endfunction

  // ---- the same over banks, where the layout chooses the bank

  // td_where::of_element_in(banks, w, tiles, "0 3 1 2"): all places of one element; bank(run) is the bank of each.
  static function td_where of_element_in(input td_bank_set banks, input td_tensor tensor, input td_layout layout,
                                         input string coordinate, input string as = "");
    td_where       where;
    td_addresses_t handles;
    string         message;
    td_status_e    status;
    if (banks != null) banks.do_list_handles(handles);
    if (tensor == null || layout == null) status = no_object(message);
    else status = ask_banks(handles, 0, tensor.handle(), layout.handle(), as, coordinate == "" ? " " : coordinate, 0, 0,
                            0, 0, 0, where, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_of_element_in(input td_bank_set banks, input td_tensor tensor,
                                                input td_layout layout, input string coordinate, input string as,
                                                output td_where where, output string message);
    td_addresses_t handles;
    where = null;
    if (banks != null) banks.do_list_handles(handles);
    if (tensor == null || layout == null) return no_object(message);
    return ask_banks(handles, 0, tensor.handle(), layout.handle(), as, coordinate == "" ? " " : coordinate, 0, 0, 0, 0,
                     0, where, message);
  endfunction

  // The elements that lie in a word of one bank.
  static function td_where elements_of_word_in(input td_bank_set banks, input int bank, input td_tensor tensor,
                                               input td_layout layout, input longint unsigned word,
                                               input longint unsigned lsb = 0, input longint unsigned bits = 0,
                                               input string as = "");
    td_where       where;
    td_addresses_t handles;
    string         message;
    td_status_e    status;
    if (banks != null) banks.do_list_handles(handles);
    if (tensor == null || layout == null) status = no_object(message);
    else status = ask_banks(handles, bank, tensor.handle(), layout.handle(), as, "", 0, 0, word, lsb, bits, where,
                            message);
    if (status != TD_OK) td_reporter::report(status, message);
    return where;
  endfunction

  static function td_status_e try_elements_of_word_in(input td_bank_set banks, input int bank, input td_tensor tensor,
                                                      input td_layout layout, input longint unsigned word,
                                                      input longint unsigned lsb, input longint unsigned bits,
                                                      input string as, output td_where where, output string message);
    td_addresses_t handles;
    where = null;
    if (banks != null) banks.do_list_handles(handles);
    if (tensor == null || layout == null) return no_object(message);
    return ask_banks(handles, bank, tensor.handle(), layout.handle(), as, "", 0, 0, word, lsb, bits, where, message);
  endfunction

  local static function td_status_e ask_banks(input td_addresses_t handles, input int bank,
                                              input longint unsigned tensor, input longint unsigned layout,
                                              input string as, input string coordinate, input int in_macro,
                                              input longint unsigned macro_number, input longint unsigned word,
                                              input longint unsigned lsb, input longint unsigned bits,
                                              output td_where where, output string message);
    string           lines;
    string           numbers;
    longint unsigned list_handle;
    td_status_e      status;
    where  = null;
    status = td_list::from_addresses(handles, list_handle, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_where_banks(list_handle, 64'(bank), tensor, layout, as, coordinate,
                                                           in_macro, macro_number, word, lsb, bits, lines, numbers,
                                                           message));
    td_list::destroy(list_handle);
    if (status == TD_OK) where = new(lines, numbers);
    return status;
  endfunction

  local static function td_status_e no_object(output string message);
    message = "where: the memory, the tensor or the layout is null; create it first";
    return TD_HANDLE;
  endfunction

  local static function td_status_e ask(input longint unsigned memory, input longint unsigned tensor,
                                        input longint unsigned layout, input string as, input string coordinate,
                                        input int in_macro, input longint unsigned macro_number,
                                        input longint unsigned word, input longint unsigned lsb,
                                        input longint unsigned bits, output td_where where, output string message);
    string      lines;
    string      numbers;
    td_status_e status;
    where  = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_where(memory, tensor, layout, as, coordinate, in_macro, macro_number,
                                                   word, lsb, bits, lines, numbers, message));
    if (status == TD_OK) where = new(lines, numbers);
    return status;
  endfunction

  // For the questions: the two texts of an answer.
  function new(input string lines, input string numbers);
    longint unsigned value;
    int              first;
    m_text = lines;
    first  = 0;
    for (int i = 0; i < lines.len(); i++) begin
      if (lines[i] == 8'h0a) begin
        m_line.push_back(lines.substr(first, i - 1));
        first = i + 1;
      end
    end
    value = 0;
    for (int i = 0; i < numbers.len(); i++) begin
      if (numbers[i] == 8'h20) begin
        m_number.push_back(value);
        value = 0;
      end else value = value * 10 + {60'b0, numbers[i][3:0]};
    end
  endfunction

  // ---- the answer

  // A line for every run: element (14, 0) bits 7:0, "wbuf" word 0x16 bits 7:0, macro 2 "m2" row 1 bits 30:2 step 4.
  function string text();
    return m_text;
  endfunction

  // How many runs there are.
  function int count();
    return m_line.size();
  endfunction

  // One of them, as its line of the text; "" past the last.
  function string line(input int run);
    if (run < 0 || run >= m_line.size()) return "";
    return m_line[run];
  endfunction

  local function longint unsigned number(input int run, input int which);
    if (run < 0 || run >= m_line.size()) return 0;
    return m_number[run*Numbers+which];
  endfunction

  // 1 where these are bits of the memory, 0 for check bits of a code and for bits of a macro that hold nothing.
  function bit is_data(input int run);
    return number(run, 0) == 0;
  endfunction

  // 1 where they were added to a word by a code.
  function bit is_check(input int run);
    return number(run, 0) == 1;
  endfunction

  // How many bits the run has.
  function longint unsigned bits(input int run);
    return number(run, 1);
  endfunction

  // The bank that they lie in.
  function int bank(input int run);
    return int'(number(run, 2));
  endfunction

  // The word of the memory.
  function longint unsigned word(input int run);
    return number(run, 3);
  endfunction

  // The lowest of the bits in that word.
  function longint unsigned lsb(input int run);
    return number(run, 4);
  endfunction

  // 1 where they are bits of an element.
  function bit has_element(input int run);
    return number(run, 5) != 0;
  endfunction

  // Its row-major number.
  function longint unsigned element(input int run);
    return number(run, 6);
  endfunction

  // The lowest of its bits here.
  function longint unsigned element_lsb(input int run);
    return number(run, 7);
  endfunction

  // Which copy of the word this is.
  function longint unsigned copy(input int run);
    return number(run, 8);
  endfunction

  // The number of the macro.
  function longint unsigned macro_number(input int run);
    return number(run, 9);
  endfunction

  // The row of the macro.
  function longint unsigned row(input int run);
    return number(run, 10);
  endfunction

  // The column of the first bit.
  function longint unsigned column(input int run);
    return number(run, 11);
  endfunction

  // Columns from bit to bit.
  function longint column_step(input int run);
    return longint'(number(run, 12));
  endfunction
endclass
