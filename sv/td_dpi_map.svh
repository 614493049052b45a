// The imports of maps, whose shims are in dpi/map.c: a part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_map_open(
    input  string           path,
    output longint unsigned chip,
    output int              count,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_destroy(
    input  longint unsigned chip,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_recipe(
    input  longint unsigned chip,
    input  int              number,
    output string           texts,         // seven lines: name, below, pattern, options, address, code, codec
    output longint unsigned depth,
    output longint unsigned width,
    output longint unsigned stored,
    output longint unsigned array_depth,   // 0: what is below are memories of the map
    output longint unsigned array_width,
    output int              unchecked,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_place(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  longint unsigned layout,
    output int              number,
    output longint unsigned moved,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_locate(
    input  string           call,
    input  longint unsigned chip,
    input  longint unsigned address,
    output int              number,
    output longint unsigned word,
    output int              lane,
    output int              lanes,
    output int              big_endian,
    output longint unsigned left,          // bytes to the end of the memory
    output string           message
  );
  // The part of a file that lies in one memory, as a name for its load_file_part; "" where nothing does.
  import "DPI-C" function int td_dpi_map_file_part(
    input  longint unsigned chip,
    input  int              number,
    input  string           path,
    output string           part,
    output string           message
  );
