// Where the time goes inside of the library, by operation and step; section 17 of src/tensordoor.h is the manual. With
// TD_PROFILE=1 in the environment it is on from the beginning, and `final td_profile::print();` in a bench shows the
// table at the end; TD_PROFILE=FILE writes it without a line in the bench.
class td_profile;
  // Begins to count, or goes on: "steps", or "trace" for trace().
  static function void start(input string mode = "steps");
    string      message;
    td_status_e status;
    status = try_start(message, mode);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  static function td_status_e try_start(output string message, input string mode = "steps");
    return td_status_e'(td_dpi_pkg::td_dpi_profile_start(mode, message));
  endfunction

  // Stops counting; what was counted stays.
  static function void stop();
    td_dpi_pkg::td_dpi_profile_stop();
  endfunction

  // Drops everything that was counted.
  static function void reset();
    td_dpi_pkg::td_dpi_profile_reset();
  endfunction

  // Says whether it is on.
  static function bit running();
    return td_dpi_pkg::td_dpi_profile_is(0) != 0;
  endfunction

  // Prints the table if the environment has TD_PROFILE=1, else nothing; for a final block.
  static function void print();
    if (td_dpi_pkg::td_dpi_profile_is(1) != 0) $write("%s", text());
  endfunction

  // The table: an operation with its steps below it, calls, bytes, total and self time, and shares.
  static function string text();
    return m_text(0);
  endfunction

  // The same as JSON.
  static function string json();
    return m_text(1);
  endfunction

  // Every call since start("trace"), for Perfetto and chrome://tracing.
  static function string trace();
    return m_text(2);
  endfunction

  // How often an operation ran, or a step in it, as "backdoor_load_tensor/cache".
  static function longint unsigned calls(input string path);
    longint unsigned count;
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned moved;
    real             all;
    real             own;
    // verilator lint_on UNUSEDSIGNAL
    m_count(path, count, moved, all, own);
    return count;
  endfunction

  // How many bytes it moved.
  static function longint unsigned bytes(input string path);
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned count;
    real             all;
    real             own;
    // verilator lint_on UNUSEDSIGNAL
    longint unsigned moved;
    m_count(path, count, moved, all, own);
    return moved;
  endfunction

  // How long it took in all, in nanoseconds, with the steps inside it.
  static function real total_ns(input string path);
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned count;
    longint unsigned moved;
    real             own;
    // verilator lint_on UNUSEDSIGNAL
    real             all;
    m_count(path, count, moved, all, own);
    return all;
  endfunction

  // How long it took in all, in nanoseconds, without the steps inside it.
  static function real self_ns(input string path);
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned count;
    longint unsigned moved;
    real             all;
    // verilator lint_on UNUSEDSIGNAL
    real             own;
    m_count(path, count, moved, all, own);
    return own;
  endfunction

  // Writes the table, or JSON to a .json file, or the trace to "trace:FILE".
  static function void save(input string file);
    string      message;
    td_status_e status;
    status = try_save(file, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  static function td_status_e try_save(input string file, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_profile_save(file, message));
  endfunction

  local static function string m_text(input int form);
    string      made;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_profile_text(form, made, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return made;
  endfunction

  local static function void m_count(input string path, output longint unsigned count, output longint unsigned moved,
                                     output real all, output real own);
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_profile_count(path, count, moved, all, own, message));
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction
endclass
