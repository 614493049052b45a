// The plusargs of the UVM layer:
//
//   +td_load=NAME:FILE   the tensor of this name is opened from this file; may be given any number of times
//   +td_dump_dir=DIR     td_dump_seq writes NAME.npy into this folder, which must exist
//   +td_seed=N           the number that seed() returns
//
// All functions are static. A +td_load of another form, or with a name that no tensor of the test has, is an error.
// Without UVM's DPI the command line cannot be listed: all +td_load work, but only the first is checked.
class td_uvm_plusargs;
  local static bit              m_asked[string];  // the names of tensors that the test has asked for
  local static bit              m_form_checked;
  local static bit              m_names_checked;
  local static bit              m_seeded;
  local static longint unsigned m_seed;

  // Finds the tensor for a sequence or a scoreboard: from the file of +td_load=NAME:FILE if there is one, else from
  // `file` if that is set, else the one that was given.
  static function td_status_e try_tensor(input string name, input string file, input string dtype,
                                         input td_tensor given, output td_tensor tensor, output string message);
    string override_file;
    check_form();
    m_asked[name] = 1'b1;
    if ($value$plusargs({"td_load=", name, ":%s"}, override_file)) begin
      if (override_file != "") begin
        `uvm_info("TD/LOAD", $sformatf("tensor \"%s\" out of \"%s\", as +td_load says", name, override_file), UVM_LOW)
        return td_tensor::try_open(override_file, dtype, tensor, message);
      end
    end
    if (file != "") return td_tensor::try_open(file, dtype, tensor, message);
    tensor = given;
    message = "";
    return TD_OK;
  endfunction

  // The path that a dump of this name is saved to; "" without +td_dump_dir.
  static function string dump_file(input string name);
    string dir;
    if (!$value$plusargs("td_dump_dir=%s", dir)) return "";
    return {dir, "/", name, ".npy"};
  endfunction

  // The number given with +td_seed; without it, a random one, chosen once and printed so that the run can be repeated.
  // For example: act.fill_random(td_uvm_plusargs::seed()).
  static function longint unsigned seed();
    string text;
    if (m_seeded) return m_seed;
    m_seeded = 1'b1;
    if ($value$plusargs("td_seed=%s", text)) m_seed = number(text);
    else m_seed = longint'($urandom());
    `uvm_info("TD/SEED", $sformatf("the seed is %0d: +td_seed=%0d gives it again", m_seed, m_seed), UVM_LOW)
    return m_seed;
  endfunction

  // Reports every +td_load that is not of the form NAME:FILE, once.
  static function void check_form();
    string loads[$];
    if (m_form_checked) return;
    m_form_checked = 1'b1;
    list(loads);
    foreach (loads[i]) begin
      if (colon(loads[i]) < 1 || colon(loads[i]) == loads[i].len() - 1)
        td_uvm_reporter::fail(null, TD_ARGUMENT, $sformatf(
                              "+td_load=%s: a name and a file are needed; write +td_load=NAME:FILE", loads[i]));
    end
  endfunction

  // Reports, once, every +td_load with a name that the test has never asked for: with a misspelt name the test would
  // silently use its own tensor.
  static function void check_names();
    string loads[$];
    string name;
    if (m_names_checked) return;
    m_names_checked = 1'b1;
    list(loads);
    foreach (loads[i]) begin
      if (colon(loads[i]) < 1 || colon(loads[i]) == loads[i].len() - 1) continue;
      name = loads[i].substr(0, colon(loads[i]) - 1);
      if (!m_asked.exists(name))
        td_uvm_reporter::fail(null, TD_ARGUMENT, $sformatf("+td_load=%s: no tensor \"%s\" was used; there %s", loads[i],
                                                           name, asked()));
    end
  endfunction

  local static function void list(output string loads[$]);
    uvm_cmdline_processor command_line;
    string                first;
    command_line = uvm_cmdline_processor::get_inst();
    if (command_line.get_arg_values("+td_load=", loads) != 0) return;
    if ($value$plusargs("td_load=%s", first)) loads.push_back(first);
  endfunction

  local static function int colon(input string text);
    for (int i = 0; i < text.len(); i++) if (text[i] == ":") return i;
    return -1;
  endfunction

  local static function string asked();
    string names;
    if (m_asked.size() == 0) return "is none";
    foreach (m_asked[name]) begin
      if (names == "") names = $sformatf("is \"%s\"", name);
      else names = $sformatf("%s, \"%s\"", names, name);
    end
    return names;
  endfunction

  local static function longint unsigned number(input string text);
    longint unsigned value;
    bit              good;
    good = text.len() > 0 && text.len() < 20;
    foreach (text[i]) begin
      if (text[i] < "0" || text[i] > "9") good = 1'b0;
      value = value * 10 + 64'(text[i] - "0");
    end
    if (good) return value;
    td_uvm_reporter::fail(null, TD_ARGUMENT, $sformatf(
                          "+td_seed=%s: a decimal number of up to 19 digits is needed; write +td_seed=7", text));
    return 0;
  endfunction
endclass
