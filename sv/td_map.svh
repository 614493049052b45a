// The memories of a chip in one text file, by name and by system address; src/tensordoor.h section 15 has the grammar.
// Created with td_map::open; arrays of the design that have the names of the file are the arrays of its memories, and
// the map makes all others. Freed with destroy, before the arrays that were passed.
class td_map;
  local longint unsigned m_handle;
  local string           m_names[$];
  local string           m_below;  // the names of all arrays, a blank on both sides of each
  local td_bank_set      m_memories;  // in the order of the file
  local td_bank_set      m_raws;      // what is under their codes
  local td_bank_set      m_arrays;    // that the map has made
  local td_bank_set      m_layers;    // the same, over others, the lowest first

  // ---- life

  // td_map::open("chip.map", macros): reads the file; `arrays` are bound by their names. null when it is refused.
  static function td_map open(input string path, input td_bank_set arrays = null);
    td_map      chip;
    string      message;
    td_status_e status;
    status = try_open(path, arrays, chip, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return chip;
  endfunction

  static function td_status_e try_open(input string path, input td_bank_set arrays, output td_map chip,
                                       output string message);
    td_map           made;
    longint unsigned handle;
    int              count;
    string           unused;
    td_status_e      status;
    chip   = null;
    unused = "";
    status = td_status_e'(td_dpi_pkg::td_dpi_map_open(path, handle, count, message));
    if (status != TD_OK) return status;
    made = new(handle);
    for (int i = 0; i < count && status == TD_OK; i++) status = made.build(i, arrays, message);
    if (status == TD_OK) status = made.check_bound(path, arrays, message);
    if (status == TD_OK) chip = made;
    else if (made.try_destroy(unused) != TD_OK) message = {message, "\n", unused};
    return status;
  endfunction

  // For open.
  function new(input longint unsigned handle);
    m_handle   = handle;
    m_below    = " ";
    m_memories = new("memories");
    m_raws     = new("coded words");
    m_arrays   = new("arrays");
    m_layers   = new("layers");
  endfunction

  // Frees the memories that the map has made.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    td_memory layer;
    for (int i = m_layers.size() - 1; i >= 0; i--) begin
      layer = m_layers.bank(i);
      layer.destroy();
    end
    m_arrays.own();
    m_arrays.destroy();
    m_layers.destroy();
    m_memories.destroy();
    m_raws.destroy();
    m_names.delete();
    return td_status_e'(td_dpi_pkg::td_dpi_map_destroy(m_handle, message));
  endfunction

  // ---- making it

  // Line `number` of a text.
  local static function string line_of(input string text, input int number);
    int first;
    first = 0;
    for (int i = 0; i < text.len(); i++) begin
      if (text[i] != 8'h0a) continue;
      if (number == 0) return i == first ? "" : text.substr(first, i - 1);
      number--;
      first = i + 1;
    end
    return "";
  endfunction

  // The array of that name among those that the caller has; null when there is none.
  local static function td_memory given(input td_bank_set arrays, input string name);
    td_memory none;
    td_memory array;
    if (arrays == null) return none;
    for (int i = 0; i < arrays.size(); i++) begin
      array = arrays.bank(i);
      if (array.name() == name) return array;
    end
    return none;
  endfunction

  local function td_status_e add_below(input string name, input longint unsigned depth, input longint unsigned width,
                                       input td_bank_set arrays, input td_bank_set below, output string message);
    td_memory   array;
    td_status_e status;
    status  = TD_OK;
    message = "";
    if (depth == 0) begin
      for (int i = 0; i < m_names.size(); i++) if (m_names[i] == name) array = m_memories.bank(i);
    end else begin
      array = given(arrays, name);
      if (array == null) begin
        status = td_memory::try_create(name, width, depth, array, message);
        if (status == TD_OK) m_arrays.add(array);
      end else if (array.width() != width || array.depth() != depth) begin
        message = $sformatf("map_open: array \"%s\" is %0d words of %0d bits, the map says %0d x %0d; %s", name,
                            array.depth(), array.width(), depth, width, "correct the map, or pass another array");
        status = TD_ARGUMENT;
      end
    end
    if (status == TD_OK) below.add(array);
    return status;
  endfunction

  local function td_status_e build(input int number, input td_bank_set arrays, output string message);
    string           texts;
    string           name;
    string           names;
    longint unsigned depth;
    longint unsigned width;
    longint unsigned stored;
    longint unsigned array_depth;
    longint unsigned array_width;
    int              unchecked;
    int              first;
    int              made;
    td_bank_set      below;
    td_memory        memory;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_map_recipe(m_handle, number, texts, depth, width, stored, array_depth,
                                                        array_width, unchecked, message));
    if (status != TD_OK) return status;
    name  = line_of(texts, 0);
    names = {line_of(texts, 1), " "};
    m_below = {m_below, names};
    below = new(name);
    made  = m_arrays.size();
    first = 0;
    for (int i = 0; i < names.len() && status == TD_OK; i++) begin
      if (names[i] != 8'h20) continue;
      if (i > first) status = add_below(names.substr(first, i - 1), array_depth, array_width, arrays, below, message);
      first = i + 1;
    end
    if (status != TD_OK) return status;
    memory = below.bank(0);
    if (line_of(texts, 2) != "") status = lay_over(texts, depth, stored, below, memory, message);
    if (status == TD_OK) status = lay_layers(texts, width, unchecked, memory, message);
    if (status == TD_OK && array_depth != 0 && m_arrays.size() - made == below.size() &&
        {line_of(texts, 5), line_of(texts, 6)} != "")
      status = memory.try_clear(message);
    if (status == TD_OK) begin
      m_names.push_back(name);
      m_memories.add(memory);
    end
    return status;
  endfunction

  local function td_status_e lay_over(input string texts, input longint unsigned depth, input longint unsigned stored,
                                      input td_bank_set below, output td_memory memory, output string message);
    td_layout   organisation;
    td_status_e status;
    memory = null;
    status = td_layout::try_create(line_of(texts, 2), line_of(texts, 3), line_of(texts, 4), organisation, message);
    if (status != TD_OK) return status;
    status = td_memory::try_over(line_of(texts, 0), stored, depth, organisation, below, memory, message);
    organisation.destroy();
    if (status == TD_OK) m_layers.add(memory);
    return status;
  endfunction

  // The codec and the code over what `memory` is.
  local function td_status_e lay_layers(input string texts, input longint unsigned width, input int unchecked,
                                        inout td_memory memory, output string message);
    td_code     code;
    td_memory   under;
    td_status_e status;
    message = "";
    status  = TD_OK;
    if (line_of(texts, 6) != "") begin
      under  = memory;
      status = td_memory::try_through(line_of(texts, 0), line_of(texts, 6), under, memory, message);
      if (status == TD_OK) m_layers.add(memory);
    end
    if (status == TD_OK) m_raws.add(memory);
    if (status == TD_OK && line_of(texts, 5) != "") begin
      under  = memory;
      status = td_code::try_create(line_of(texts, 5), width, code, message);
      if (status == TD_OK)
        status = td_memory::try_coded(line_of(texts, 0), code, under, unchecked != 0 ? "check=off" : "", memory,
                                      message);
      if (status == TD_OK) m_layers.add(memory);
      if (code != null) code.destroy();
    end
    return status;
  endfunction

  // Every array of the caller lies under a memory of the map.
  local function td_status_e check_bound(input string path, input td_bank_set arrays, output string message);
    td_memory array;
    message = "";
    if (arrays == null) return TD_OK;
    for (int i = 0; i < arrays.size(); i++) begin
      array = arrays.bank(i);
      if (!contains(m_below, {" ", array.name(), " "})) begin
        message = $sformatf("map_open \"%s\": the map has no array \"%s\"; correct its name, or leave it out", path,
                            array.name());
        return TD_ARGUMENT;
      end
    end
    return TD_OK;
  endfunction

  local static function bit contains(input string text, input string part);
    for (int i = 0; i + part.len() <= text.len(); i++)
      if (text.substr(i, i + part.len() - 1) == part) return 1'b1;
    return 1'b0;
  endfunction

  // ---- what is in it

  // How many memories and regions the map has.
  function int size();
    return m_names.size();
  endfunction

  // The name of one of them, in the order of the file; "" past the last.
  function string name_at(input int number);
    if (number < 0 || number >= m_names.size()) return "";
    return m_names[number];
  endfunction

  // The memory of that name, to be used in every call; null when the map has none.
  function td_memory find(input string name);
    td_memory   found;
    string      message;
    td_status_e status;
    status = try_find(name, found, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return found;
  endfunction

  function td_status_e try_find(input string name, output td_memory memory, output string message);
    memory  = null;
    message = "";
    for (int i = 0; i < m_names.size(); i++) begin
      if (m_names[i] == name) begin
        memory = m_memories.bank(i);
        return TD_OK;
      end
    end
    message = $sformatf("map_find: the map has no memory \"%s\"; the first of its %0d is %s", name, m_names.size(),
                        m_names[0]);
    return TD_ARGUMENT;
  endfunction

  // The memory of its coded words, where it has a code; otherwise the memory itself. null when the map has none.
  function td_memory find_raw(input string name);
    td_memory none;
    for (int i = 0; i < m_names.size(); i++) if (m_names[i] == name) return m_raws.bank(i);
    return none;
  endfunction

  // ---- bytes

  // Reads `count` bytes from a system address on, across words and memories.
  function void read_bytes(input longint unsigned address, input int count, output td_bytes_t bytes);
    string      message;
    td_status_e status;
    status = try_read_bytes(address, count, bytes, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_read_bytes(input longint unsigned address, input int count, output td_bytes_t bytes,
                                      output string message);
    int              number;
    int              lane;
    int              lanes;
    int              big;
    int              step;
    int              l;
    longint unsigned word;
    longint unsigned left;
    td_addresses_t   addresses;
    td_words_t       words;
    td_memory        memory;
    td_status_e      status;
    bytes   = new[count];
    status  = TD_OK;
    message = "";
    for (int at = 0; at < count && status == TD_OK; at += step) begin
      step   = 1;
      status = td_status_e'(td_dpi_pkg::td_dpi_map_locate("map_read", m_handle, address + 64'(at), number, word, lane,
                                                          lanes, big, left, message));
      if (status != TD_OK) continue;
      step = count - at;
      if (left < 64'(step)) step = int'(left);
      memory    = m_memories.bank(number);
      addresses = new[(lane+step+lanes-1)/lanes];
      for (int w = 0; w < addresses.size(); w++) addresses[w] = word + 64'(w);
      status = memory.try_backdoor_read(addresses, words, message);
      for (int b = 0; b < step && status == TD_OK; b++) begin
        l = big != 0 ? lanes - 1 - (lane + b) % lanes : (lane + b) % lanes;
        bytes[at+b] = words[(lane+b)/lanes*memory.words_per_word()+l/4][8*(l%4)+:8];
      end
    end
    if (status != TD_OK) bytes.delete();
    return status;
  endfunction

  // Writes bytes from a system address on. Nothing is written when one of them lies in no memory.
  function void write_bytes(input longint unsigned address, input td_bytes_t bytes);
    string      message;
    td_status_e status;
    status = try_write_bytes(address, bytes, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_write_bytes(input longint unsigned address, input td_bytes_t bytes, output string message);
    td_status_e status;
    status = visit_bytes(1'b0, address, bytes, message);
    if (status == TD_OK) status = visit_bytes(1'b1, address, bytes, message);
    return status;
  endfunction

  local function td_status_e visit_bytes(input bit writes, input longint unsigned address, input td_bytes_t bytes,
                                         output string message);
    int              number;
    int              lane;
    int              lanes;
    int              big;
    int              step;
    int              l;
    int              w;
    longint unsigned word;
    longint unsigned left;
    td_addresses_t   addresses;
    td_words_t       words;
    td_words_t       mask;
    td_memory        memory;
    td_status_e      status;
    status  = TD_OK;
    message = "";
    for (int at = 0; at < bytes.size() && status == TD_OK; at += step) begin
      step   = 1;
      status = td_status_e'(td_dpi_pkg::td_dpi_map_locate("map_write", m_handle, address + 64'(at), number, word, lane,
                                                          lanes, big, left, message));
      if (status != TD_OK) continue;
      step = bytes.size() - at;
      if (left < 64'(step)) step = int'(left);
      if (!writes) continue;
      memory    = m_memories.bank(number);
      addresses = new[(lane+step+lanes-1)/lanes];
      words     = new[addresses.size()*memory.words_per_word()];
      mask      = new[addresses.size()*memory.words_per_word()];
      for (int i = 0; i < addresses.size(); i++) addresses[i] = word + 64'(i);
      for (int b = 0; b < step; b++) begin
        l = big != 0 ? lanes - 1 - (lane + b) % lanes : (lane + b) % lanes;
        w = (lane + b) / lanes * memory.words_per_word() + l / 4;
        words[w][8*(l%4)+:8] = bytes[at+b];
        mask[w][8*(l%4)+:8]  = 8'hff;
      end
      if (lane == 0 && step % lanes == 0) status = memory.try_backdoor_write(addresses, words, message);
      else begin
        trim(memory, mask);
        status = memory.try_backdoor_write_bits(addresses, words, mask, message);
      end
    end
    return status;
  endfunction

  // A mask has no bits above the width, where the top byte of a word is not full.
  local static function void trim(input td_memory memory, inout td_words_t mask);
    int per_word;
    int used;
    per_word = memory.words_per_word();
    used = int'(memory.width() % 32);
    if (used == 0) return;
    for (int i = per_word - 1; i < mask.size(); i += per_word) mask[i] &= 32'hffff_ffff >> (32 - used);
  endfunction

  // Loads an ELF file, .ihex or .srec by its addresses, over any number of memories.
  function void load_file(input string path);
    string      message;
    td_status_e status;
    status = try_load_file(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_load_file(input string path, output string message);
    string           part;
    longint unsigned bytes;
    longint unsigned first;
    longint unsigned last;
    td_memory        memory;
    td_status_e      status;
    status = TD_OK;
    bytes  = 0;
    first  = 0;
    last   = 0;
    for (int i = 0; i < m_names.size() && status == TD_OK; i++) begin
      status = td_status_e'(td_dpi_pkg::td_dpi_map_file_part(m_handle, i, path, part, message));
      if (status != TD_OK || part == "") continue;
      memory = m_memories.bank(i);
      status = memory.do_load_file_part(part, bytes, first, last, message);
    end
    return status;
  endfunction

  // ---- tensors

  // Loads a tensor by a layout whose address counts from a system address on, in words of the memory there.
  function void load_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                            input string as = "");
    string      message;
    td_status_e status;
    status = try_load_tensor(address, tensor, layout, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_load_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                                       input string as, output string message);
    td_layout   moved;
    td_memory   memory;
    td_status_e status;
    status = place(address, layout, memory, moved, message);
    if (status != TD_OK) return status;
    status = memory.try_backdoor_load_tensor(tensor, moved, as, message);
    moved.destroy();
    return status;
  endfunction

  // Dumps one from there.
  function void dump_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                            input string as = "");
    string      message;
    td_status_e status;
    status = try_dump_tensor(address, tensor, layout, as, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_dump_tensor(input longint unsigned address, input td_tensor tensor, input td_layout layout,
                                       input string as, output string message);
    td_layout   moved;
    td_memory   memory;
    td_status_e status;
    status = place(address, layout, memory, moved, message);
    if (status != TD_OK) return status;
    status = memory.try_backdoor_dump_tensor(tensor, moved, as, message);
    moved.destroy();
    return status;
  endfunction

  // Compares what lies there with a golden tensor; null when it cannot be compared.
  function td_report compare_tensor(input longint unsigned address, input td_tensor golden, input td_layout layout,
                                    input string policy = "", input string as = "");
    td_report   report;
    string      message;
    td_status_e status;
    status = try_compare_tensor(address, golden, layout, policy, as, report, message);
    if (status == TD_OK) report.announce($sformatf("0x%0h", address));
    else td_reporter::report(status, message);
    return report;
  endfunction

  function td_status_e try_compare_tensor(input longint unsigned address, input td_tensor golden,
                                          input td_layout layout, input string policy, input string as,
                                          output td_report report, output string message);
    td_layout   moved;
    td_memory   memory;
    td_status_e status;
    report = null;
    status = place(address, layout, memory, moved, message);
    if (status != TD_OK) return status;
    status = memory.try_backdoor_compare_tensor(golden, moved, policy, as, report, message);
    moved.destroy();
    // The call completes the class of the report in C++ that Verilator 5.006 has split.
    if (status == TD_OK && report.mismatches() != 0) message = "";
    return status;
  endfunction

  local function td_status_e place(input longint unsigned address, input td_layout layout, output td_memory memory,
                                   output td_layout moved, output string message);
    int              number;
    longint unsigned handle;
    td_status_e      status;
    memory = null;
    moved  = null;
    if (layout == null) begin
      message = "map_place: the layout is null; create it first";
      return TD_HANDLE;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_map_place(m_handle, address, layout.handle(), number, handle, message));
    if (status == TD_OK) begin
      memory = m_memories.bank(number);
      moved  = new(handle);
    end
    return status;
  endfunction
endclass
