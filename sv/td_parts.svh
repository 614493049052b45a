// The parts of a block-scaled or sparse tensor: elements, scales, places, each a td_tensor with its own layout. Made
// with pack (from a tensor) or create (zeros, to dump memories into); freed with destroy. Each call is loud and has a
// quiet twin `try_` that returns the status and has the message as its last argument.
class td_parts;
  local string           m_packing;
  local string           m_shape;
  local string           m_names[$];
  // Handles: Verilator 5.006 has td_tensor's C++ class complete only in functions of this one that use its members, so
  // no td_tensor is kept here, and every function with one calls td_tensor::own.
  local longint unsigned m_parts[$];

  // ---- life

  // td_parts::pack(w, "mxfp4 rule=rceil axis=1"): the parts of w; null when it is refused.
  static function td_parts pack(input td_tensor tensor, input string how);
    td_parts    parts;
    string      message;
    td_status_e status;
    status = try_pack(tensor, how, parts, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return parts;
  endfunction

  static function td_status_e try_pack(input td_tensor tensor, input string how, output td_parts parts,
                                       output string message);
    longint unsigned handle;
    longint unsigned handles[4];
    string           text;
    string           names;
    td_status_e      status;
    parts  = null;
    handle = td_tensor::handle_of(tensor);
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_pack(handle, how, text, names, handles[0], handles[1], handles[2],
                                                        handles[3], message));
    if (status != TD_OK) return status;
    parts = new(text, tensor.shape());
    return parts.own(names, handles, message);
  endfunction

  // td_parts::create("mxfp4", "64 128"): parts of zeros for a tensor of that shape.
  static function td_parts create(input string how, input string dims);
    td_parts    parts;
    string      message;
    td_status_e status;
    status = try_create(how, dims, parts, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return parts;
  endfunction

  static function td_status_e try_create(input string how, input string dims, output td_parts parts,
                                         output string message);
    longint unsigned handles[4];
    string           text;
    string           names;
    td_status_e      status;
    parts = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_create(how, dims, text, names, handles[0], handles[1], handles[2],
                                                          handles[3], message));
    if (status != TD_OK) return status;
    parts = new(text, dims);
    return parts.own(names, handles, message);
  endfunction

  // td_parts::open("model.gguf:blk.0.attn_q.weight"): from a file; of a checkpoint in .safetensors also what it is, as
  // "mxfp4", "awq" or "gptq version=2".
  static function td_parts open(input string path, input string how = "");
    td_parts    parts;
    string      message;
    td_status_e status;
    status = try_open(path, how, parts, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return parts;
  endfunction

  static function td_status_e try_open(input string path, input string how, output td_parts parts,
                                       output string message);
    longint unsigned handles[4];
    string           text;
    string           dims;
    string           names;
    td_status_e      status;
    parts = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_parts_open(path, how, text, dims, names, handles[0], handles[1],
                                                        handles[2], handles[3], message));
    if (status != TD_OK) return status;
    parts = new(text, dims);
    return parts.own(names, handles, message);
  endfunction

  // For pack, create and open.
  function new(input string how, input string dims);
    m_packing = how;
    m_shape   = dims;
  endfunction

  // Takes the handles of the parts, whose names stand in one text with blanks between them.
  function td_status_e own(input string names, input longint unsigned handles[4], output string message);
    int first;
    first   = 0;
    message = "";
    for (int i = 0; i <= names.len(); i++) begin
      if (i == names.len() || names[i] == " ") begin
        m_names.push_back(names.substr(first, i - 1));
        m_parts.push_back(handles[m_parts.size()]);
        first = i + 1;
      end
    end
    return TD_OK;
  endfunction

  // Frees every part; a later use of one is TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    foreach (m_parts[i]) begin
      status = td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(m_parts[i], message));
      if (status != TD_OK) td_reporter::report(status, message);
    end
    m_parts.delete();
    m_names.delete();
  endfunction

  // ---- questions

  // The packing with every word that matters.
  function string packing();
    return m_packing;
  endfunction

  // The shape of the whole tensor, as create takes it.
  function string shape();
    return m_shape;
  endfunction

  function int count();
    return m_parts.size();
  endfunction

  // The name of part n, 0 for the first: elems, scales, zeros, global.
  function string name(input int n);
    if (n >= 0 && n < m_names.size()) return m_names[n];
    return "";
  endfunction

  // The part of that name, as p.part("scales"): load it, dump into it, compare it. It lives as long as the parts do.
  function td_tensor part(input string which);
    td_tensor        tensor;
    longint unsigned handle;
    string           message;
    td_status_e      status;
    status = find(which, handle, message);
    if (status == TD_OK) status = td_tensor::own(handle, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_part(input string which, output td_tensor tensor, output string message);
    longint unsigned handle;
    td_status_e      status;
    status = find(which, handle, message);
    if (status == TD_OK) status = td_tensor::own(handle, tensor, message);
    return status;
  endfunction

  local function td_status_e find(input string which, output longint unsigned handle, output string message);
    string known;
    handle = 0;
    known  = "";
    foreach (m_names[i]) begin
      if (m_names[i] == which) begin
        handle  = m_parts[i];
        message = "";
        return TD_OK;
      end
      known = {known, known == "" ? "" : ", ", m_names[i]};
    end
    message = $sformatf("parts_part: \"%s\" is no part of \"%s\"; they are %s", which, m_packing, known);
    return TD_OPTION;
  endfunction

  // 0 behind the last part.
  local function longint unsigned handle_of(input int n);
    if (n < m_parts.size()) return m_parts[n];
    return 0;
  endfunction

  // ---- back

  // The values that the parts stand for, as a new tensor; null when it is refused.
  function td_tensor unpack(input string dtype = "f32");
    td_tensor        tensor;
    longint unsigned handle;
    string           message;
    td_status_e      status;
    status = values(dtype, handle, message);
    if (status == TD_OK) status = td_tensor::own(handle, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_unpack(input string dtype, output td_tensor tensor, output string message);
    longint unsigned handle;
    td_status_e      status;
    status = values(dtype, handle, message);
    if (status == TD_OK) status = td_tensor::own(handle, tensor, message);
    return status;
  endfunction

  local function td_status_e values(input string dtype, output longint unsigned handle, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_parts_unpack(m_packing, m_shape, m_parts.size(), handle_of(0),
                                                        handle_of(1), handle_of(2), handle_of(3), dtype, handle,
                                                        message));
  endfunction

  // ---- records

  // The parts interleaved in one tensor of records, which any layout places: p.record() for the packing's own (ggml's
  // blocks, Tenstorrent's tiles), or as "tile=32 scales elems"; null when it is refused.
  function td_tensor record(input string how = "");
    td_tensor        tensor;
    longint unsigned handle;
    string           message;
    td_status_e      status;
    status = records(how, handle, message);
    if (status == TD_OK) status = td_tensor::own(handle, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return tensor;
  endfunction

  function td_status_e try_record(input string how, output td_tensor tensor, output string message);
    longint unsigned handle;
    td_status_e      status;
    status = records(how, handle, message);
    if (status == TD_OK) status = td_tensor::own(handle, tensor, message);
    return status;
  endfunction

  local function td_status_e records(input string how, output longint unsigned handle, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_parts_record(m_packing, m_shape, m_parts.size(), handle_of(0),
                                                        handle_of(1), handle_of(2), handle_of(3), how, handle,
                                                        message));
  endfunction

  // The other way: the parts out of records, as dumped from a memory.
  function void set_record(input td_tensor words, input string how = "");
    string      message;
    td_status_e status;
    status = try_set_record(words, how, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_record(input td_tensor words, input string how, output string message);
    longint unsigned handle;
    handle = td_tensor::handle_of(words);
    return td_status_e'(td_dpi_pkg::td_dpi_parts_set_record(m_packing, m_shape, m_parts.size(), handle_of(0),
                                                            handle_of(1), handle_of(2), handle_of(3), how, handle,
                                                            message));
  endfunction

  // Which packing would have made these parts of that tensor, "64 of 64 scales .. are those of rule=floor".
  function string fit(input td_tensor golden);
    string      text;
    string      message;
    td_status_e status;
    status = try_fit(golden, text, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return text;
  endfunction

  function td_status_e try_fit(input td_tensor golden, output string text, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_parts_fit(m_packing, m_shape, m_parts.size(), handle_of(0), handle_of(1),
                                                     handle_of(2), handle_of(3), golden.handle(), text, message));
  endfunction
endclass
