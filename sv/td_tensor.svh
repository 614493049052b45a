// A dtype, a shape and row-major data, kept in C. Made with create (zeros) or open (a .npy file); freed with destroy. Each
// call is loud and has a quiet twin `try_` that returns the status and has the message as its last argument.
class td_tensor;
  local longint unsigned m_handle;
  local string           m_dtype;
  local string           m_shape;
  local longint unsigned m_elems;
  local int              m_words_per_elem;

  // ---- life

  // td_tensor::create("i16", "2 3 4"): zeros; null when it is refused.
  static function td_tensor create(input string dtype, input string shape);
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_create(dtype, shape, tensor, message);
    td_reporter::check(status, message);
    return tensor;
  endfunction

  static function td_status_e try_create(input string dtype, input string shape, output td_tensor tensor,
                                         output string message);
    longint unsigned handle;
    td_status_e      status;
    tensor = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_create(dtype, shape, handle, message));
    if (status != TD_OK) return status;
    tensor = new(handle);
    return tensor.learn(message);
  endfunction

  // td_tensor::open("weights.npy"); the dtype says what the bytes mean when the file cannot ("bf16" for a u2 file).
  static function td_tensor open(input string path, input string dtype = "");
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_open(path, dtype, tensor, message);
    td_reporter::check(status, message);
    return tensor;
  endfunction

  static function td_status_e try_open(input string path, input string dtype, output td_tensor tensor, output string message);
    longint unsigned handle;
    td_status_e      status;
    tensor = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_open(path, dtype, handle, message));
    if (status != TD_OK) return status;
    tensor = new(handle);
    return tensor.learn(message);
  endfunction

  // For create and open; a handle from elsewhere is refused when it is used.
  function new(input longint unsigned handle);
    m_handle = handle;
  endfunction

  // dtype and shape never change, so that they are asked for once.
  local function td_status_e learn(output string message);
    string           dtype;
    string           shape;
    longint unsigned elems;
    int              words_per_elem;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_info(m_handle, dtype, shape, elems, words_per_elem, message));
    m_dtype = dtype;
    m_shape = shape;
    m_elems = elems;
    m_words_per_elem = words_per_elem;
    return status;
  endfunction

  // Frees the tensor; every later use is TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(m_handle, message));
  endfunction

  // ---- questions

  // The handle that crosses DPI; 0 for null.
  static function longint unsigned handle_of(input td_tensor tensor);
    return tensor == null ? 64'd0 : tensor.m_handle;
  endfunction

  function string dtype();
    return m_dtype;
  endfunction

  // As create takes it: "2 3 4".
  function string shape();
    return m_shape;
  endfunction

  function longint unsigned elems();
    return m_elems;
  endfunction

  // 32-bit words of one element in chunks and lists: 2 for elements of more than 32 bits, else 1.
  function int words_per_elem();
    return m_words_per_elem;
  endfunction

  // ---- files and generators

  function void save(input string path);
    string      message;
    td_status_e status;
    status = try_save(path, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_save(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_save(m_handle, path, message));
  endfunction

  // Element i becomes start + i * step.
  function void fill_ramp(input real start = 0.0, input real step = 1.0);
    string      message;
    td_status_e status;
    status = try_fill_ramp(start, step, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_fill_ramp(input real start, input real step, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_fill_ramp(m_handle, start, step, message));
  endfunction

  // The same seed gives the same tensor on every machine.
  function void fill_random(input longint unsigned seed);
    string      message;
    td_status_e status;
    status = try_fill_random(seed, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_fill_random(input longint unsigned seed, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_fill_random(m_handle, seed, message));
  endfunction

  // ---- single elements, by row-major number, as their own bits

  function longint unsigned get_bits(input longint unsigned elem);
    longint unsigned bits;
    string           message;
    td_status_e      status;
    status = try_get_bits(elem, bits, message);
    td_reporter::check(status, message);
    return bits;
  endfunction

  function td_status_e try_get_bits(input longint unsigned elem, output longint unsigned bits, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_get_bits(m_handle, elem, bits, message));
  endfunction

  function void set_bits(input longint unsigned elem, input longint unsigned bits);
    string      message;
    td_status_e status;
    status = try_set_bits(elem, bits, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_set_bits(input longint unsigned elem, input longint unsigned bits, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_set_bits(m_handle, elem, bits, message));
  endfunction

  // ---- many elements: 32-bit words, one per element, two (low first) above 32 bits, signed elements sign-extended

  // Elements [first, first + count) from a fixed array; count * words_per_elem() is at most $size(td_chunk_t).
  function void set_chunk(input longint unsigned first, input int count, input td_chunk_t chunk);
    string      message;
    td_status_e status;
    status = try_set_chunk(first, count, chunk, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_set_chunk(input longint unsigned first, input int count, input td_chunk_t chunk,
                                     output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_put_chunk(m_handle, first, count, 1, chunk, message));
  endfunction

  function void get_chunk(input longint unsigned first, input int count, inout td_chunk_t chunk);
    string      message;
    td_status_e status;
    status = try_get_chunk(first, count, chunk, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_get_chunk(input longint unsigned first, input int count, inout td_chunk_t chunk,
                                     output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_get_chunk(m_handle, first, count, chunk, message));
  endfunction

  // All elements from a dynamic array, which has exactly elems() * words_per_elem() words.
  function void from_words(input td_words_t words);
    string      message;
    td_status_e status;
    status = try_from_words(words, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_from_words(input td_words_t words, output string message);
    td_status_e status;
    if (longint'(words.size()) != longint'(m_elems) * longint'(m_words_per_elem)) begin
      message = $sformatf("tensor_from_words: %0d words for %0d elements of %s; pass %0d", words.size(), m_elems, m_dtype,
                          longint'(m_elems) * longint'(m_words_per_elem));
      return TD_SHAPE;
    end
    // A list longer than a chunk is checked to its end before its first element is written.
    status = TD_OK;
    message = "";
    if (words.size() > int'(td_dpi_pkg::ChunkWords)) status = put_words(words, 0, message);
    if (status == TD_OK) status = put_words(words, 1, message);
    return status;
  endfunction

  local function td_status_e put_words(input td_words_t words, input int commit, output string message);
    td_chunk_t  chunk;
    td_status_e status;
    int         count;
    status = TD_OK;
    message = "";
    for (int first = 0; first < words.size() && status == TD_OK; first += int'(td_dpi_pkg::ChunkWords)) begin
      count = words.size() - first;
      if (count > int'(td_dpi_pkg::ChunkWords)) count = int'(td_dpi_pkg::ChunkWords);
      for (int i = 0; i < count; i++) chunk[i] = words[first+i];
      status = td_status_e'(td_dpi_pkg::td_dpi_tensor_put_chunk(m_handle, longint'(first) / longint'(m_words_per_elem),
                                                                count / m_words_per_elem, commit, chunk, message));
    end
    return status;
  endfunction

  // All elements into a dynamic array; empty when it is refused.
  function void to_words(output td_words_t words);
    string      message;
    td_status_e status;
    status = try_to_words(words, message);
    td_reporter::check(status, message);
  endfunction

  function td_status_e try_to_words(output td_words_t words, output string message);
    td_chunk_t  chunk;
    td_words_t  none;
    td_status_e status;
    int         total;
    int         count;
    total = int'(m_elems) * m_words_per_elem;
    words = new[total];
    status = TD_OK;
    message = "";
    for (int first = 0; first < total && status == TD_OK; first += int'(td_dpi_pkg::ChunkWords)) begin
      count = total - first;
      if (count > int'(td_dpi_pkg::ChunkWords)) count = int'(td_dpi_pkg::ChunkWords);
      status = try_get_chunk(longint'(first) / longint'(m_words_per_elem), count / m_words_per_elem, chunk, message);
      for (int i = 0; i < count; i++) words[first+i] = chunk[i];
    end
    if (status != TD_OK) words = none;
    return status;
  endfunction
endclass
