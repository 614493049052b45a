// Loads, steps on tensors and comparisons that are written once, checked whole and run in one call; section 16 of
// src/tensordoor.h has the grammar. Made with create from text or with open from a file; memories, layouts and tensors
// of the testbench are bound to the names that the text uses. Freed with destroy.
//
// A run is one call to C. For memories inside the design every word that the run reads or writes crosses once before
// it, or once after it, however many steps touch it.
class td_program;
  local longint unsigned m_handle;
  local longint unsigned m_none;  // always 0, as in td_backdoor
  // The handles of memories that lie in the design; td_memory keeps the objects, as those of td_faults.
  local longint unsigned m_doors[$];

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

  // Called by create and open. With any other handle, later calls fail with TD_HANDLE.
  function new(input longint unsigned handle);
    m_handle = handle;
    m_none = 0;
  endfunction

  // Frees the program. Objects that are bound to it stay.
  function void destroy();
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_program_destroy(m_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
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
    if (status == TD_OK && memory != null) keep_door(memory);
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
      if (bank.lies_elsewhere()) keep_door(bank);
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
    int              count;
    int              failed;
    int              first;
    string           line;
    int              ways[$];
    td_backdoor      door;
    td_status_e      status;
    found = null;
    if (m_doors.size() != 0) begin
      status = bring_in(label, arguments, ways, message);
      if (status != TD_OK) return status;
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_program_run(m_handle, label, arguments, made, count, failed, first, line,
                                                         message));
    if (status == TD_OK && made != 0) found = new(made, count, failed, first, line);
    for (int i = 0; i < m_doors.size() && status == TD_OK; i++)
      if (ways[i] >= 2) begin
        door = td_memory::do_find_door(m_doors[i]);
        status = door.do_take_out(message);
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

  // The steps that are left, drawn as SVG.
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

  local function void keep_door(input td_memory memory);
    if (!memory.lies_elsewhere()) return;
    for (int i = 0; i < m_doors.size(); i++) if (m_doors[i] == memory.handle()) return;
    memory.do_keep(memory.handle());
    m_doors.push_back(memory.handle());
  endfunction

  // The words that the run reads, of every such memory; and in which of them words go out after it.
  local function td_status_e bring_in(input string label, input string arguments, output int ways[$],
                                      output string message);
    td_backdoor door;
    td_status_e status;
    int         way;
    message = "";
    ways    = {};
    status  = TD_OK;
    for (int i = 0; i < m_doors.size() && status == TD_OK; i++) begin
      way = 0;
      status = td_status_e'(td_dpi_pkg::td_dpi_program_transfer(m_handle, label, arguments, m_doors[i], way, message));
      if (status == TD_OK && way % 2 == 1) begin
        door = td_memory::do_find_door(m_doors[i]);
        status = door.do_bring_in(message);
      end
      ways.push_back(way);
    end
    return status;
  endfunction
endclass
