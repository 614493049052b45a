// A memory whose words the library keeps: `depth` words of `width` bits, zero at first. Created with td_memory::create,
// anywhere in the testbench; freed with destroy. It has every call of td_backdoor. For an array of the design there is
// td_design_memory, which extends this class; a td_uvm_mem is a UVM component around either. td_memory::over makes a
// memory that lies in others, of any kind.
class td_memory extends td_storage;
  // ---- life

  // Makes a memory of zeros: td_memory::create("abuf", 64, 1024) has 1024 words of 64 bits; null when it fails. The
  // name is used in messages.
  static function td_memory create(input string name, input longint unsigned width, input longint unsigned depth);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_create(name, width, depth, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  static function td_status_e try_create(input string name, input longint unsigned width, input longint unsigned depth,
                                         output td_memory memory, output string message);
    longint unsigned handle;
    td_status_e      status;
    memory = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_create(name, width, depth, handle, message));
    if (status == TD_OK) memory = new(name, width, depth, handle);
    return status;
  endfunction

  // Makes a memory that lies in others, as an SRAM in its macros: td_memory::over("wbuf", 128, 4096, tiles, macros);
  // null when it is refused. `organisation` is the layout of its bits, a tensor of shape (depth, width), in the arrays,
  // which are its banks; src/tensordoor.h has the usual ones. The arrays are arrays of the design, memories
  // of the library, or memories that lie over others themselves, and have to live longer than it. TD_BANKS_MODULE gives
  // such a set; td_bank_set::from makes one of memories that exist.
  static function td_memory over(input string name, input longint unsigned width, input longint unsigned depth,
                                 input td_layout organisation, input td_bank_set arrays);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_over(name, width, depth, organisation, arrays, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  static function td_status_e try_over(input string name, input longint unsigned width, input longint unsigned depth,
                                       input td_layout organisation, input td_bank_set arrays, output td_memory memory,
                                       output string message);
    td_addresses_t   handles;
    td_backdoor      base;
    longint unsigned array_list;
    longint unsigned handle;
    td_status_e      status;
    memory = null;
    if (organisation == null) begin
      message = $sformatf("memory_over \"%s\": the organisation is null; pass a td_layout", name);
      return TD_HANDLE;
    end
    if (arrays == null) begin
      message = $sformatf("memory_over \"%s\": the arrays are null; pass a td_bank_set", name);
      return TD_HANDLE;
    end
    arrays.do_list_handles(handles);
    status = td_list::from_addresses(handles, array_list, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_memory_over(name, width, depth, organisation.handle(), array_list,
                                                           handle, message));
    td_list::destroy(array_list);
    if (status == TD_OK) begin
      memory = new(name, width, depth, handle);
      base = memory;
      arrays.do_add_leaves(base);
      memory.do_keep_door();
    end
    return status;
  endfunction

  // Makes a memory of data over one of coded words: td_memory::coded("wbuf", secded, macros); null when it is refused.
  // `raw` has words as wide as the code's; the memory has as many. A write computes the check bits, also of words of
  // which it writes a part; a read corrects and counts wrong bits, and fails where there are too many. With the option
  // "check=off" reads do not look at the check bits. `raw` can still be used, and has to live longer than the memory.
  static function td_memory coded(input string name, input td_code code, input td_memory raw,
                                  input string options = "");
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_coded(name, code, raw, options, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  static function td_status_e try_coded(input string name, input td_code code, input td_memory raw,
                                        input string options, output td_memory memory, output string message);
    longint unsigned handle;
    longint unsigned width;
    longint unsigned depth;
    td_status_e      status;
    memory = null;
    if (code == null) begin
      message = $sformatf("memory_coded \"%s\": the code is null; create it first", name);
      return TD_HANDLE;
    end
    if (raw == null) begin
      message = $sformatf("memory_coded \"%s\": the memory of the coded words is null; create it first", name);
      return TD_HANDLE;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_coded(name, code.handle(), raw.handle(), options, handle, width,
                                                          depth, message));
    if (status == TD_OK) begin
      memory = new(name, width, depth, handle);
      raw.lie_under(memory);
    end
    return status;
  endfunction

  // Makes a memory whose words go through a codec of yours, as scrambling, on their way to another memory:
  // td_memory::through("wbuf", "./scrambler.so:prince", raw); null when it is refused. The codec is a td_codec in a
  // shared library (src/tensordoor.h). The memory below can still be used, and has to live longer.
  static function td_memory through(input string name, input string codec, input td_memory below);
    td_memory   memory;
    string      message;
    td_status_e status;
    status = try_through(name, codec, below, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return memory;
  endfunction

  static function td_status_e try_through(input string name, input string codec, input td_memory below,
                                          output td_memory memory, output string message);
    longint unsigned handle;
    longint unsigned width;
    longint unsigned depth;
    td_status_e      status;
    memory = null;
    if (below == null) begin
      message = $sformatf("memory_through \"%s\": the memory below is null; create it first", name);
      return TD_HANDLE;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_through(name, codec, below.handle(), handle, width, depth,
                                                            message));
    if (status == TD_OK) begin
      memory = new(name, width, depth, handle);
      below.lie_under(memory);
    end
    return status;
  endfunction

  // This memory is below another, which finds the arrays of the design here. It is called as an object: Verilator 5.006
  // calls an inherited method without one as that of the class it was found in, and td_design_memory has its own.
  local function void lie_under(input td_memory above);
    td_backdoor base;
    td_backdoor self;
    base = above;
    self = this;
    self.do_add_leaves(base);
    above.do_keep_door();
  endfunction

  // Called by create and by derived classes. With any other handle, later calls fail with TD_HANDLE.
  function new(input string name, input longint unsigned width, input longint unsigned depth,
               input longint unsigned handle = 0);
    super.new(name, width, depth, handle);
  endfunction

  // Frees the memory; later calls with it fail with TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = try_destroy(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_destroy(output string message);
    td_status_e status;
    status = do_destroy(message);
    if (status == TD_OK && m_elsewhere) m_kept.delete(m_handle);
    return status;
  endfunction

  // For td_bank_set, which knows its banks only as td_backdoor: casts one to this class, and destroys one.
  static function td_memory cast(input td_backdoor door);
    td_memory memory;
    if ($cast(memory, door)) return memory;
    return null;
  endfunction

  static function void destroy_bank(input td_backdoor door);
    td_memory memory;
    if ($cast(memory, door)) memory.destroy();
  endfunction

  // ---- x and z

  // Chooses what happens when a dump, a comparison or a read meets bits of the design that are x or z: "error" (the
  // default) makes the call fail, and its message names the elements; "zero" reads them as 0; "keep" leaves such
  // elements of the tensor unchanged in a dump, and counts them as mismatches in a comparison.
  function void set_x(input string policy);
    string      message;
    td_status_e status;
    status = try_set_x(policy, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_set_x(input string policy, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_set_x(m_handle, policy, message));
  endfunction

  // ---- words with check bits

  // What the reads of a memory made with coded have found since it was made: how many subwords they corrected and how
  // many they could not, and the first 16 of these, a line each, as "word 0x12 subword 0: bit 5 corrected". With
  // `reset` the counts begin anew.
  function void code_result(output longint unsigned corrected, output longint unsigned uncorrectable,
                            output string errors, input bit reset = 1'b0);
    string      message;
    td_status_e status;
    status = try_code_result(corrected, uncorrectable, errors, reset, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_code_result(output longint unsigned corrected, output longint unsigned uncorrectable,
                                       output string errors, input bit reset, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_memory_code_result(m_handle, int'(reset), corrected, uncorrectable, errors,
                                                              message));
  endfunction

  // ---- a part of a file

  // Loads that part of an image file which lies in this memory ("elf,outside=skip:fw.elf"); returns how many bytes of
  // the file lie outside.
  function longint unsigned load_file_part(input string path);
    longint unsigned bytes;
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned first;
    longint unsigned last;
    // verilator lint_on UNUSEDSIGNAL
    string           message;
    td_status_e      status;
    status = do_load_file_part(path, bytes, first, last, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return bytes;
  endfunction

  // The same, and the lowest and the highest address in the file of what lies outside; all 0 when nothing does.
  function td_status_e try_load_file_part(input string path, output longint unsigned bytes,
                                          output longint unsigned first, output longint unsigned last,
                                          output string message);
    return do_load_file_part(path, bytes, first, last, message);
  endfunction

  // ---- for td_faults, td_map and td_program: memories by the handle of their owner, or by their own. They are kept
  // here because Verilator 5.006, once it splits its C++, cannot compile a class that has a td_memory as a member and
  // is no td_backdoor.

  local static td_memory m_kept[longint unsigned];

  function void do_keep(input longint unsigned owner);
    m_kept[owner] = this;
  endfunction

  // Every memory with words in the design, by its own handle, until it is destroyed: programs find their arrays so.
  function void do_keep_door();
    if (m_elsewhere) m_kept[m_handle] = this;
  endfunction

  static function td_memory do_find_kept(input longint unsigned owner);
    td_memory none;
    none = null;
    if (m_kept.exists(owner) == 0) return none;
    return m_kept[owner];
  endfunction

  static function void do_drop_kept(input longint unsigned owner);
    m_kept.delete(owner);
  endfunction

  // The same as an object of the base class, which is complete in every file.
  static function td_backdoor do_find_door(input longint unsigned owner);
    td_backdoor door;
    if (m_kept.exists(owner) != 0) door = m_kept[owner];
    return door;
  endfunction

  // For td_map: makes the object of a memory that belongs to a map, and keeps it by its own handle; or, with `chip`,
  // the one that moves the words of all arrays, and keeps it by the handle of the map.
  static function void do_lend(input string name, input longint unsigned width, input longint unsigned depth,
                               input longint unsigned handle, input longint unsigned chip);
    td_memory memory;
    memory = new(name, width, depth, handle);
    memory.m_lent = chip == 0;
    memory.do_keep(chip != 0 ? chip : handle);
  endfunction
endclass
