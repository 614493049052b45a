// Which way loads and dumps went, for all memories together: src/tensordoor.h, "td_path", says what each path is. A
// path that is slower than expected shows here; `tensordoor explain` says why a layout takes it.
class td_speed;
  // A line for each path that was taken since the last clear_paths: "contiguous: 2 calls, 4096 bytes"; "" for none.
  static function string paths();
    string           name;
    string           text;
    longint unsigned calls;
    longint unsigned bytes;
    text = "";
    for (int i = 0; td_dpi_pkg::td_dpi_speed_path(i, name, calls, bytes) != 0; i++)
      if (calls == 1) text = {text, $sformatf("%s: 1 call, %0d bytes\n", name, bytes)};
      else if (calls != 0) text = {text, $sformatf("%s: %0d calls, %0d bytes\n", name, calls, bytes)};
    return text;
  endfunction

  // How many loads and dumps took this path; 0 for a name that is no path.
  static function longint unsigned calls(input string path);
    string           name;
    longint unsigned count;
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned bytes;
    // verilator lint_on UNUSEDSIGNAL
    for (int i = 0; td_dpi_pkg::td_dpi_speed_path(i, name, count, bytes) != 0; i++) if (name == path) return count;
    return 0;
  endfunction

  // All counts begin again.
  static function void clear_paths();
    td_dpi_pkg::td_dpi_speed_paths_clear();
  endfunction
endclass
