// A dtype, a shape and row-major data, kept in C. Made with create (zeros) or open (from a file); freed with destroy.
// Each call reports its own failures through td_reporter (it is *loud*). Its quiet twin, the same name with `try_` in
// front, reports nothing; it returns the status, and its last argument is the message.
class td_tensor;
  local longint unsigned m_handle;
  local longint unsigned m_none;  // always 0; td_backdoor says why
  local string           m_dtype;
  local string           m_shape;
  local longint unsigned m_dims[$];
  local longint unsigned m_elems;
  local int              m_words_per_elem;

  // ---- creation and destruction

  // Makes a tensor of zeros: td_tensor::create("i16", "2 3 4"); null when it fails.
  static function td_tensor create(input string dtype, input string shape);
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_create(dtype, shape, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  static function td_status_e try_create(input string dtype, input string shape, output td_tensor tensor,
                                         output string message);
    longint unsigned handle;
    td_status_e      status;
    tensor = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_create(dtype, shape, handle, message));
    if (status != TD_OK) return status;
    return own(handle, tensor, message);
  endfunction

  // Opens a tensor file: td_tensor::open("weights.npy"); a dtype says what the elements are when the file format cannot
  // ("bf16" for a file of u2); null when it fails.
  static function td_tensor open(input string path, input string dtype = "");
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_open(path, dtype, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  static function td_status_e try_open(input string path, input string dtype, output td_tensor tensor,
                                       output string message);
    longint unsigned handle;
    td_status_e      status;
    tensor = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_open(path, dtype, handle, message));
    if (status != TD_OK) return status;
    return own(handle, tensor, message);
  endfunction

  // For other classes: makes an object for a tensor that a call has made in C.
  static function td_status_e own(input longint unsigned handle, output td_tensor tensor, output string message);
    message = "";
    tensor  = new(handle);
    return tensor.learn(message);
  endfunction

  // Called by create and open. With any other handle, later calls fail with TD_HANDLE.
  function new(input longint unsigned handle);
    m_handle = handle;
    m_none = 0;
  endfunction

  // Fetches dtype and shape once; only reshape changes them, and then calls this again.
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
    split_shape();
    return status;
  endfunction

  local function void split_shape();
    longint unsigned length;
    bit              inside_number;
    inside_number = 1'b0;
    length = 0;
    m_dims.delete();
    for (int i = 0; i < m_shape.len(); i++) begin
      if (m_shape[i] >= "0" && m_shape[i] <= "9") begin
        length = length * 10 + 64'(m_shape[i]) - 48;
        inside_number = 1'b1;
      end else if (inside_number) begin
        m_dims.push_back(length);
        length = 0;
        inside_number = 1'b0;
      end
    end
    if (inside_number) m_dims.push_back(length);
  endfunction

  // Frees the tensor; later calls with it fail with TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(m_handle, message));
  endfunction

  // ---- properties

  // The handle that stands for this object in calls to C.
  function longint unsigned handle();
    return m_handle;
  endfunction

  // The handle of a tensor; 0 for null.
  static function longint unsigned handle_of(input td_tensor tensor);
    if (tensor == null) return 0;
    return tensor.handle();
  endfunction

  // The name of its element type: "i16".
  function string dtype();
    return m_dtype;
  endfunction

  // The shape in the form that create takes: "2 3 4".
  function string shape();
    return m_shape;
  endfunction

  // Number of dimensions.
  function int rank();
    return m_dims.size();
  endfunction

  // The length of dimension n, 0 for the first; a negative n counts from the end, -1 for the last.
  function longint unsigned dim(input int n);
    int at;
    at = n < 0 ? n + m_dims.size() : n;
    if (at >= 0 && at < m_dims.size()) return m_dims[at];
    td_reporter::report(TD_RANGE, $sformatf("tensor_dim: dimension %0d of a tensor of rank %0d (shape %s); %s", n,
                                            m_dims.size(), m_shape, m_dims.size() == 0 ? "a scalar has none" :
                                            $sformatf("pass %0d to %0d", -m_dims.size(), m_dims.size() - 1)));
    return 0;
  endfunction

  // Number of elements.
  function longint unsigned elems();
    return m_elems;
  endfunction

  // The name used in messages: the one that set_name gave, or the file it was opened from; "" for none.
  function string name();
    string      text;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_name(m_handle, text, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return text;
  endfunction

  // Gives the tensor a name, which the messages of failed loads, dumps and comparisons will show; "" removes it.
  function void set_name(input string label);
    string      message;
    td_status_e status;
    status = try_set_name(label, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_name(input string label, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_set_name(m_handle, label, message));
  endfunction

  // Changes the shape, not the elements: reshape("6 4"); the number of elements must stay the same.
  function void reshape(input string dims);
    string      message;
    td_status_e status;
    status = try_reshape(dims, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_reshape(input string dims, output string message);
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_reshape(m_handle, dims, message));
    if (status != TD_OK) return status;
    return learn(message);
  endfunction

  // How many 32-bit words one element takes in chunks and lists: 2 when it has more than 32 bits, else 1.
  function int words_per_elem();
    return m_words_per_elem;
  endfunction

  // Compares another tensor of the same dtype and shape with this one, which holds the expected values. Prints one
  // line, which is an error when something differs; returns null when it could not compare.
  function td_report compare(input td_tensor actual, input string policy = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_compare(actual, policy, report, message);
    if (status == TD_OK) report.announce("tensor");
    else td_reporter::report(status, message);
    return report;
  endfunction

  function td_status_e try_compare(input td_tensor actual, input string policy, output td_report report,
                                   output string message);
    longint unsigned actual_handle;
    longint unsigned found;
    td_status_e      status;
    report = null;
    actual_handle = m_none;
    if (actual != null) actual_handle = actual.handle();
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_compare(m_handle, actual_handle, policy, found, message));
    if (status != TD_OK) return status;
    report = new(found);
    return report.learn(message);
  endfunction

  // ---- files and generators

  // Saves the tensor to a file, whose extension says the format: .npy, .npz, .safetensors, .raw, .bin.
  function void save(input string path);
    string      message;
    td_status_e status;
    status = try_save(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_save(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_save(m_handle, path, message));
  endfunction

  // Fills the tensor from a distribution: "uniform min=-1 max=1 seed=7", "normal mean=0 sigma=1", "sparse zeros=0.9",
  // "corners", "random", "ramp start=0 step=1" or "coordinates". The same string gives the same tensor on every
  // machine.
  function void fill(input string what);
    string      message;
    td_status_e status;
    status = try_fill(what, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_fill(input string what, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_fill(m_handle, what, message));
  endfunction

  // Sets element i to start + i * step.
  function void fill_ramp(input real start = 0.0, input real step = 1.0);
    string      message;
    td_status_e status;
    status = try_fill_ramp(start, step, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_fill_ramp(input real start, input real step, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_fill_ramp(m_handle, start, step, message));
  endfunction

  // Sets each element to its own coordinates, the last dimension in the lowest bits, so that a value found in memory
  // tells where in the tensor it came from.
  function void fill_coordinates();
    string      message;
    td_status_e status;
    status = try_fill_coordinates(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_fill_coordinates(output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_fill_coordinates(m_handle, message));
  endfunction

  // Fills the tensor with random bits, without infinities and NaNs; the same seed gives the same tensor on every
  // machine.
  function void fill_random(input longint unsigned seed);
    string      message;
    td_status_e status;
    status = try_fill_random(seed, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_fill_random(input longint unsigned seed, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_fill_random(m_handle, seed, message));
  endfunction

  // ---- single elements, by their row-major number

  // Returns the bits of one element, zero-extended.
  function longint unsigned get_bits(input longint unsigned elem);
    longint unsigned bits;
    string           message;
    td_status_e      status;
    status = try_get_bits(elem, bits, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return bits;
  endfunction

  function td_status_e try_get_bits(input longint unsigned elem, output longint unsigned bits, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_get_bits(m_handle, elem, bits, message));
  endfunction

  // Sets the bits of one element.
  function void set_bits(input longint unsigned elem, input longint unsigned bits);
    string      message;
    td_status_e status;
    status = try_set_bits(elem, bits, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_bits(input longint unsigned elem, input longint unsigned bits, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_set_bits(m_handle, elem, bits, message));
  endfunction

  // Returns the value of one element, or the nearest real to it.
  function real get_real(input longint unsigned elem);
    real        value;
    string      message;
    td_status_e status;
    status = try_get_real(elem, value, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return value;
  endfunction

  function td_status_e try_get_real(input longint unsigned elem, output real value, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_get_real(m_handle, elem, value, message));
  endfunction

  // Sets the value of one element. Floats and fixed point round it to nearest, ties to even; integers accept only whole
  // numbers in their range.
  function void set_real(input longint unsigned elem, input real value);
    string      message;
    td_status_e status;
    status = try_set_real(elem, value, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_real(input longint unsigned elem, input real value, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_set_real(m_handle, elem, value, message));
  endfunction

  // ---- the whole tensor

  // Returns a converted copy: convert("i8 scale=0.05 zero=3"); null when it fails.
  function td_tensor convert(input string as);
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_convert(as, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_convert(input string as, output td_tensor tensor, output string message);
    longint unsigned converted;
    td_status_e      status;
    tensor = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_convert(m_handle, as, converted, message));
    if (status != TD_OK) return status;
    tensor = new(converted);
    return tensor.learn(message);
  endfunction

  // ---- steps: each returns a new tensor, or null when it fails; section 3 of src/tensordoor.h has the rules

  // A part of the tensor, as NumPy slices: slice("3, 0:16:2, :").
  function td_tensor slice(input string what);
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_slice(what, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_slice(input string what, output td_tensor tensor, output string message);
    return step(td_dpi_pkg::Slice, 0, what, 0.0, 0.0, tensor, message);
  endfunction

  // With its dimensions in another order: transpose("0 2 1"); reversed without one.
  function td_tensor transpose(input string order = "");
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_transpose(order, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_transpose(input string order, output td_tensor tensor, output string message);
    return step(td_dpi_pkg::Transpose, 0, order, 0.0, 0.0, tensor, message);
  endfunction

  // Another tensor behind this one along a dimension: concat(other, 0).
  function td_tensor concat(input td_tensor other, input int axis);
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_concat(other, axis, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_concat(input td_tensor other, input int axis, output td_tensor tensor,
                                  output string message);
    return step(td_dpi_pkg::Concat, handle_of(other), "", real'(axis), 0.0, tensor, message);
  endfunction

  // The sum with another tensor, which may be smaller as in NumPy; options: "sat" or "wrap" for integers.
  function td_tensor add(input td_tensor other, input string options = "");
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_add(other, options, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_add(input td_tensor other, input string options, output td_tensor tensor,
                               output string message);
    return step(td_dpi_pkg::Add, handle_of(other), options, 0.0, 0.0, tensor, message);
  endfunction

  // The product with another tensor, in the same way.
  function td_tensor mul(input td_tensor other, input string options = "");
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_mul(other, options, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_mul(input td_tensor other, input string options, output td_tensor tensor,
                               output string message);
    return step(td_dpi_pkg::Mul, handle_of(other), options, 0.0, 0.0, tensor, message);
  endfunction

  // Every element times a factor.
  function td_tensor scale(input real factor, input string options = "");
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_scale(factor, options, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_scale(input real factor, input string options, output td_tensor tensor,
                                 output string message);
    return step(td_dpi_pkg::Scale, 0, options, factor, 0.0, tensor, message);
  endfunction

  // Every element brought into the range from low to high.
  function td_tensor clamp(input real low, input real high);
    td_tensor   tensor;
    string      message;
    td_status_e status;
    status = try_clamp(low, high, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_clamp(input real low, input real high, output td_tensor tensor, output string message);
    return step(td_dpi_pkg::Clamp, 0, "", low, high, tensor, message);
  endfunction

  local function td_status_e step(input td_dpi_pkg::step_e what, input longint unsigned other, input string words,
                                  input real x, input real y, output td_tensor tensor, output string message);
    longint unsigned made;
    td_status_e      status;
    tensor = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_step(m_handle, other, int'(what), words, x, y, made, message));
    if (status != TD_OK) return status;
    tensor = new(made);
    return tensor.learn(message);
  endfunction

  // Returns dtype, shape and values as NumPy prints them, shortened beyond 1000 elements: $display("%s", t.text()).
  function string text();
    string      lines;
    string      message;
    td_status_e status;
    status = try_text(lines, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return lines;
  endfunction

  function td_status_e try_text(output string lines, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_text(m_handle, lines, message));
  endfunction

  // Makes this tensor's values available to conversions as scale=@NAME and zero=@NAME. They are copied, so the tensor
  // may change or be destroyed afterwards.
  function void name_scales(input string label);
    string      message;
    td_status_e status;
    status = try_name_scales(label, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_name_scales(input string label, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_scales_set(label, m_handle, message));
  endfunction

  // ---- many elements as 32-bit words: one for each element, or two, low one first, when it has more than 32 bits;
  // signed elements are sign-extended

  // Sets elements [first, first + count) from a fixed array; count * words_per_elem() is at most $size(td_chunk_t).
  function void set_chunk(input longint unsigned first, input int count, input td_chunk_t chunk);
    string      message;
    td_status_e status;
    status = try_set_chunk(first, count, chunk, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_chunk(input longint unsigned first, input int count, input td_chunk_t chunk,
                                     output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_set_chunk(m_handle, first, count, chunk, message));
  endfunction

  // Copies elements [first, first + count) into a fixed array.
  function void get_chunk(input longint unsigned first, input int count, inout td_chunk_t chunk);
    string      message;
    td_status_e status;
    status = try_get_chunk(first, count, chunk, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_get_chunk(input longint unsigned first, input int count, inout td_chunk_t chunk,
                                     output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_tensor_get_chunk(m_handle, first, count, chunk, message));
  endfunction

  // Sets all elements from a dynamic array of exactly elems() * words_per_elem() words.
  function void from_words(input td_words_t words);
    string      message;
    td_status_e status;
    status = try_from_words(words, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_from_words(input td_words_t words, output string message);
    longint unsigned staged;
    td_status_e      status;
    status = td_list::from_words(words, staged, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_tensor_from_list(m_handle, staged, message));
    td_list::destroy(staged);
    return status;
  endfunction

  // Copies all elements into a dynamic array, which is empty when it fails.
  function void to_words(output td_words_t words);
    string      message;
    td_status_e status;
    status = try_to_words(words, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_to_words(output td_words_t words, output string message);
    longint unsigned staged;
    td_status_e      status;
    int              total;
    total = int'(m_elems) * m_words_per_elem;
    status = td_list::create(total, staged, message);
    if (status == TD_OK) status = td_status_e'(td_dpi_pkg::td_dpi_tensor_to_list(m_handle, staged, message));
    if (status == TD_OK) status = td_list::to_words(staged, total, words, message);
    td_list::destroy(staged);
    return status;
  endfunction
endclass
