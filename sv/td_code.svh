// A code of words: parity, SECDED, or your own masks, in the language of src/tensordoor.h section 13. Made with create
// for words of some width; encode and decode go from memory to memory, of the library or of the design. It never
// changes; freed with destroy.
class td_code;
  local longint unsigned m_handle;
  local longint unsigned m_none;  // always 0; td_backdoor says why
  local string           m_text;
  local longint unsigned m_data_bits;
  local longint unsigned m_coded_bits;
  local longint unsigned m_check_bits;
  local longint unsigned m_subwords;
  local int              m_corrects;
  local longint unsigned m_corrected;
  local longint unsigned m_uncorrectable;
  local string           m_errors;

  // ---- life

  // td_code::create("39_32", 128): for words of 128 data bits; null when it is refused.
  static function td_code create(input string text, input longint unsigned data_bits);
    td_code     code;
    string      message;
    td_status_e status;
    status = try_create(text, data_bits, code, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return code;
  endfunction

  static function td_status_e try_create(input string text, input longint unsigned data_bits, output td_code code,
                                         output string message);
    td_code     made;
    td_status_e status;
    code    = null;
    message = "";
    made    = new(data_bits);
    status  = made.make(text, message);
    if (status == TD_OK) code = made;
    return status;
  endfunction

  // For create.
  function new(input longint unsigned data_bits);
    m_data_bits = data_bits;
    m_none = 0;
  endfunction

  local function td_status_e make(input string text, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_code_create(text, m_data_bits, m_handle, m_text, m_coded_bits, m_check_bits,
                                                       m_subwords, m_corrects, message));
  endfunction

  // Frees the code; a later use is TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_code_destroy(m_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
    m_handle = 0;
  endfunction

  // ---- questions

  // The text with every word that matters.
  function string text();
    return m_text;
  endfunction

  // Data bits of a word.
  function longint unsigned data_bits();
    return m_data_bits;
  endfunction

  // Bits of a word with its check bits: the width of the coded memory.
  function longint unsigned coded_bits();
    return m_coded_bits;
  endfunction

  // Check bits of a subword.
  function longint unsigned check_bits();
    return m_check_bits;
  endfunction

  // Subwords of a word.
  function longint unsigned subwords();
    return m_subwords;
  endfunction

  // 1 where one wrong bit of a subword is corrected.
  function bit corrects();
    return m_corrects != 0;
  endfunction

  function longint unsigned handle();
    return m_handle;
  endfunction

  // ---- words

  // Words of `data`, coded, to the same addresses of `coded`; a count of 0 is all from `first` on.
  function void encode(input td_memory data, input td_memory coded, input longint unsigned first = 0,
                       input longint unsigned count = 0);
    string      message;
    td_status_e status;
    status = try_encode(data, coded, first, count, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_encode(input td_memory data, input td_memory coded, input longint unsigned first,
                                  input longint unsigned count, output string message);
    longint unsigned words;
    td_status_e      status;
    words  = some(data, first, count);
    status = fetch(data, first, words, message);
    if (status == TD_OK) status = begin_write(coded, first, words, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_code_encode(m_handle, handle_of(data), first, words, handle_of(coded),
                                                           message));
    if (status == TD_OK) status = coded.do_take_out(message);
    return status;
  endfunction

  // Looks at words of `coded`. 1 when nothing was uncorrectable; corrected, uncorrectable and errors say more.
  function bit check(input td_memory coded, input longint unsigned first = 0, input longint unsigned count = 0);
    string      message;
    bit         good;
    td_status_e status;
    status = try_check(coded, first, count, good, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return good;
  endfunction

  function td_status_e try_check(input td_memory coded, input longint unsigned first, input longint unsigned count,
                                 output bit good, output string message);
    longint unsigned words;
    longint unsigned from;
    td_status_e      status;
    good   = 1'b0;
    from   = m_none;
    words  = some(coded, first, count);
    status = fetch(coded, first, words, message);
    if (coded != null) from = coded.handle();
    if (status == TD_OK) status = look(from, first, words, 0, message);
    if (status == TD_OK) good = m_uncorrectable == 0;
    return status;
  endfunction

  // The same, and puts the data, corrected where they can be, to the same addresses of `data`.
  function bit decode(input td_memory coded, input td_memory data, input longint unsigned first = 0,
                      input longint unsigned count = 0);
    string      message;
    bit         good;
    td_status_e status;
    status = try_decode(coded, data, first, count, good, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return good;
  endfunction

  function td_status_e try_decode(input td_memory coded, input td_memory data, input longint unsigned first,
                                  input longint unsigned count, output bit good, output string message);
    longint unsigned words;
    td_status_e      status;
    good  = 1'b0;
    words = some(coded, first, count);
    if (data == null) begin
      message = "code_decode: data is null; pass a memory, or call check";
      return TD_HANDLE;
    end
    status = fetch(coded, first, words, message);
    if (status == TD_OK) status = begin_write(data, first, words, message);
    if (status == TD_OK) status = look(handle_of(coded), first, words, data.handle(), message);
    if (status == TD_OK) status = data.do_take_out(message);
    if (status == TD_OK) good = m_uncorrectable == 0;
    return status;
  endfunction

  local function td_status_e look(input longint unsigned coded, input longint unsigned first,
                                  input longint unsigned count, input longint unsigned data, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_code_check(m_handle, coded, first, count, data, m_corrected,
                                                      m_uncorrectable, m_errors, message));
  endfunction

  // Of the last check or decode: subwords with one wrong bit, which were corrected.
  function longint unsigned corrected();
    return m_corrected;
  endfunction

  // Of the last check or decode: subwords with more.
  function longint unsigned uncorrectable();
    return m_uncorrectable;
  endfunction

  // Of the last check or decode: its first 16 errors, a line each, as "word 0x12 subword 0: bit 5 corrected".
  function string errors();
    return m_errors;
  endfunction

  // ---- the words of a memory that lies in the design; tests of null stand alone, as Verilator 5.006 calls a function
  // of the right side of || whatever the left side is

  local function longint unsigned some(input td_memory memory, input longint unsigned first,
                                       input longint unsigned count);
    if (memory == null) return count;
    if (count != 0 || first >= memory.depth()) return count;
    return memory.depth() - first;
  endfunction

  local function longint unsigned handle_of(input td_memory memory);
    if (memory == null) return 0;
    return memory.handle();
  endfunction

  local function td_status_e begin_write(input td_memory memory, input longint unsigned first,
                                         input longint unsigned count, output string message);
    message = "";
    if (memory == null) return TD_OK;
    return memory.do_begin_span(first, count, 1'b0, message);
  endfunction

  local function td_status_e fetch(input td_memory memory, input longint unsigned first, input longint unsigned count,
                                   output string message);
    message = "";
    if (memory == null) return TD_OK;
    return memory.do_begin_span(first, count, 1'b1, message);
  endfunction
endclass
