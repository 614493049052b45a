// Counts which code path loads and dumps took, over all memories; td_path in src/tensordoor.h describes the paths. When
// a load is slower than expected, look here first; `tensordoor explain` shows why a layout takes a slow path.
class td_speed;
  // Returns a line for each path taken since the last clear_paths, as "contiguous: 2 calls, 4096 bytes"; "" for none.
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

  // Number of loads and dumps that took this path; 0 for an unknown name.
  static function longint unsigned calls(input string path);
    string           name;
    longint unsigned count;
    // verilator lint_off UNUSEDSIGNAL
    longint unsigned bytes;
    // verilator lint_on UNUSEDSIGNAL
    for (int i = 0; td_dpi_pkg::td_dpi_speed_path(i, name, count, bytes) != 0; i++) if (name == path) return count;
    return 0;
  endfunction

  // Sets all counts to zero.
  static function void clear_paths();
    td_dpi_pkg::td_dpi_speed_paths_clear();
  endfunction
endclass
