// Loads, steps on tensors and comparisons that are written once, checked whole and run in one call; section 16 of
// src/tensordoor.h has the grammar. Made with create from text, with open from a file, or with record from ordinary
// calls; memories, layouts and tensors of the testbench are bound to the names that the text uses. Freed with destroy.
//
// A run is one call to C. For memories inside the design every word that the run reads or writes crosses once before
// it, or once after it, however many steps touch it.
class td_program;
  local longint unsigned m_handle;
  local longint unsigned m_none;  // always 0, as in td_backdoor
  // The handles of memories that lie in the design; td_memory keeps the objects, as those of td_faults.
  local longint unsigned m_doors[$];
  local longint unsigned m_gathered;  // the doors whose arrays arrays_of has put together last

  // td_program::create("load wbuf w rows\n"); null when the text is refused.
  static function td_program create(input string text);
    td_program  made;
    string      message;
    td_status_e status;
    status = try_create(text, made, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return made;
  endfunction

  static function td_status_e try_create(input string text, output td_program made, output string message);
    return make(text, 0, made, message);
  endfunction

  // The same from a file: td_program::open("infer.td").
  static function td_program open(input string path);
    td_program  made;
    string      message;
    td_status_e status;
    status = try_open(path, made, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return made;
  endfunction

  static function td_status_e try_open(input string path, output td_program made, output string message);
    return make(path, 1, made, message);
  endfunction

  local static function td_status_e make(input string text, input int is_file, output td_program made,
                                         output string message);
    longint unsigned found;
    td_status_e      status;
    made   = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_create(text, is_file, found, message));
    if (status == TD_OK) made = new(found);
    return status;
  endfunction

  // ---- recording

  // Ordinary calls from here to stop() also become lines of a program: loads, dumps, matrices, fills and writes of
  // memories, sets of banks and arrays of the design; comparisons, as checkpoints c0, c1, ..; td_tensor::open, fills,
  // convert and the steps on tensors. They do their work as always. Tensors that no such call has made are kept as they
  // were (t0, t1, ..); td_memory objects are bound by their names.
  //
  //   infer = td_program::record();
  //   wbuf.backdoor_load_tensor(weights, tiles, "i8 scale=0.05");
  //   infer.stop();
  //   $display("%s", infer.text());
  static function td_program record();
    td_program  made;
    string      message;
    td_status_e status;
    status = try_record(made, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return made;
  endfunction

  static function td_status_e try_record(output td_program made, output string message);
    longint unsigned found;
    td_status_e      status;
    made   = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_record(found, message));
    if (status == TD_OK) made = new(found);
    return status;
  endfunction

  // Ends the recording. A call that no line can say, as a write with a mask, is refused here, and the program then does
  // not run.
  function void stop();
    string      message;
    td_status_e status;
    status = try_stop(message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_stop(output string message);
    longint unsigned found;
    int              number;
    td_backdoor      door;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_stop(m_handle, message));
    found  = m_none;
    number = 0;
    while (status == TD_OK) begin
      status = td_status_e'(td_dpi_pkg::td_dpi_program_memory(m_handle, number, found, message));
      if (status != TD_OK || found == 0) break;
      door = td_memory::do_find_door(found);
      if (door != null) begin
        if (door.lies_elsewhere()) status = add_door(found, message);
      end
      number++;
    end
    return status;
  endfunction

  // Called by create and open. With any other handle, later calls fail with TD_HANDLE.
  function new(input longint unsigned handle);
    m_handle = handle;
    m_none = 0;
    m_gathered = 0;
  endfunction

  // Frees the program. Objects that are bound to it stay.
  function void destroy();
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_destroy(m_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
    td_memory::do_drop_kept(m_handle);
  endfunction

  // Adds lines at the end; all of them, or none when they are refused.
  function void add(input string text);
    string      message;
    td_status_e status;
    status = try_add(text, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_add(input string text, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_program_add(m_handle, text, message));
  endfunction

  // ---- names

  // A memory for a name of the text, one of the library or one in the design.
  function void bind_memory(input string name, input td_memory memory);
    string      message;
    td_status_e status;
    status = try_bind_memory(name, memory, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_bind_memory(input string name, input td_memory memory, output string message);
    longint unsigned memory_handle;
    td_status_e      status;
    memory_handle = m_none;
    if (memory != null) memory_handle = memory.handle();
    status = td_status_e'(td_dpi_pkg::td_dpi_program_bind(m_handle, name, 2, memory_handle, message));
    if (status == TD_OK && memory != null) status = keep_door(memory, message);
    return status;
  endfunction

  // The banks of a set for a name of the text.
  function void bind_banks(input string name, input td_bank_set banks);
    string      message;
    td_status_e status;
    status = try_bind_banks(name, banks, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_bind_banks(input string name, input td_bank_set banks, output string message);
    td_addresses_t   handles;
    longint unsigned bank_list;
    td_memory        bank;
    td_status_e      status;
    if (banks != null) banks.do_list_handles(handles);
    status = td_list::from_addresses(handles, bank_list, message);
    if (status == TD_OK)
      status = td_status_e'(td_dpi_pkg::td_dpi_program_bind_banks(m_handle, name, bank_list, message));
    td_list::destroy(bank_list);
    for (int i = 0; i < handles.size() && status == TD_OK; i++) begin
      bank = banks.bank(i);
      if (bank.lies_elsewhere()) status = keep_door(bank, message);
    end
    return status;
  endfunction

  // A layout for a name of the text.
  function void bind_layout(input string name, input td_layout layout);
    string      message;
    td_status_e status;
    status = try_bind_layout(name, layout, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_bind_layout(input string name, input td_layout layout, output string message);
    longint unsigned layout_handle;
    layout_handle = m_none;
    if (layout != null) layout_handle = layout.handle();
    return td_status_e'(td_dpi_pkg::td_dpi_program_bind(m_handle, name, 3, layout_handle, message));
  endfunction

  // A tensor for a name of the text; it may change from run to run.
  function void bind_tensor(input string name, input td_tensor tensor);
    string      message;
    td_status_e status;
    status = try_bind_tensor(name, tensor, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_bind_tensor(input string name, input td_tensor tensor, output string message);
    longint unsigned tensor_handle;
    tensor_handle = m_none;
    if (tensor != null) tensor_handle = tensor.handle();
    return td_status_e'(td_dpi_pkg::td_dpi_program_bind(m_handle, name, 1, tensor_handle, message));
  endfunction

  // A memory that the text names, by number in its order, and whether one is bound to the name; "" past the last.
  function td_status_e try_memory_name(input int number, output string name, output bit is_bound,
                                       output string message);
    int         found;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_memory_name(m_handle, number, name, found, message));
    is_bound = found != 0;
    return status;
  endfunction

  // The layouts of a layout file, by their names.
  function void use_layouts(input string path);
    string      message;
    td_status_e status;
    status = try_use_layouts(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_use_layouts(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_program_use(m_handle, path, message));
  endfunction

  // ---- runs

  // Checks all of the program with these arguments ("seed=7 file=\"x.npy\""), without running it.
  function void compile(input string arguments = "");
    string      message;
    td_status_e status;
    status = try_compile(arguments, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_compile(input string arguments, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_program_compile(m_handle, arguments, message));
  endfunction

  // Runs all of the program, or the blocks of one label; null when it has no checkpoints, or is refused.
  function td_checkpoints run(input string label = "", input string arguments = "");
    td_checkpoints found;
    string         message;
    td_status_e    status;
    status = try_run(label, arguments, found, message);
    if (status != TD_OK) td_reporter::report(status, message);
    else if (found != null) found.announce(label == "" ? "program" : label);
    return found;
  endfunction

  function td_status_e try_run(input string label, input string arguments, output td_checkpoints found,
                               output string message);
    longint unsigned made;
    longint unsigned mask;
    int              count;
    int              failed;
    int              first;
    string           line;
    td_backdoor      arrays;
    td_status_e      status;
    found = null;
    if (m_doors.size() != 0) begin
      status = bring_in(label, arguments, message);
      if (status != TD_OK) return status;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_program_run(m_handle, label, arguments, mask, made, count, failed, first,
                                                         line, message));
    if (status == TD_OK && made != 0) found = new(made, count, failed, first, line);
    if (status == TD_OK && mask != 0) begin
      arrays = arrays_of(mask);
      status = arrays.do_take_out(message);
    end
    return status;
  endfunction

  // A copy of a tensor that the text names, as the last run has left it; null when there is none.
  function td_tensor tensor(input string name);
    td_tensor   found;
    string      message;
    td_status_e status;
    status = try_tensor(name, found, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return found;
  endfunction

  function td_status_e try_tensor(input string name, output td_tensor found, output string message);
    longint unsigned made;
    td_status_e      status;
    found  = null;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_tensor(m_handle, name, made, message));
    if (status != TD_OK) return status;
    return td_tensor::own(made, found, message);
  endfunction

  // ---- what it is

  // The lines of the program.
  function string text();
    return printed(0, "", "");
  endfunction

  // The steps as written and after each pass, and what a run of the label does.
  function string explain(input string label = "", input string arguments = "");
    return printed(1, label, arguments);
  endfunction

  // The same steps, as written and after each pass that changes them, drawn as SVG.
  function string svg(input string label = "", input string arguments = "");
    return printed(2, label, arguments);
  endfunction

  local function string printed(input int what, input string label, input string arguments);
    string      found;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_text(m_handle, what, label, arguments, found, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return found;
  endfunction

  // ---- memories in the design

  local function td_status_e keep_door(input td_memory memory, output string message);
    message = "";
    if (!memory.lies_elsewhere()) return TD_OK;
    return add_door(memory.handle(), message);
  endfunction

  // td_memory knows such objects by their handles.
  local function td_status_e add_door(input longint unsigned door, output string message);
    message = "";
    for (int i = 0; i < m_doors.size(); i++) if (m_doors[i] == door) return TD_OK;
    m_doors.push_back(door);
    return td_status_e'(td_dpi_pkg::td_dpi_program_door(m_handle, door, message));
  endfunction

  // The words that the run reads.
  local function td_status_e bring_in(input string label, input string arguments, output string message);
    longint unsigned mask;
    td_backdoor      arrays;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_words(m_handle, label, arguments, mask, message));
    if (status != TD_OK || mask == 0) return status;
    arrays = arrays_of(mask);
    return arrays.do_bring_in(message);
  endfunction

  // The arrays below these doors, each once however many lie over it, as one object that moves the words of all.
  local function td_backdoor arrays_of(input longint unsigned mask);
    td_backdoor all;
    td_backdoor door;
    all = td_memory::do_find_door(m_handle);
    if (all != null && mask == m_gathered) return all;
    td_memory::do_lend("program", 0, 0, 0, m_handle);
    all = td_memory::do_find_door(m_handle);
    for (int i = 0; i < m_doors.size(); i++) begin
      if (!mask[i < 63 ? i : 63]) continue;
      door = td_memory::do_find_door(m_doors[i]);
      if (door != null) door.do_add_leaves(all);
    end
    m_gathered = mask;
    return all;
  endfunction
endclass
