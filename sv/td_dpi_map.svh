// The imports of maps, whose shims are in dpi/map.c: a part of td_dpi_pkg. The handles of memories end with their map.

  import "DPI-C" function int td_dpi_map_open(
    input  string           path,
    input  int              is_text,     // 1: `path` is the map itself
    input  longint unsigned arrays,      // a list of their handles, or 0
    output longint unsigned chip,
    output int              count,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_destroy(
    input  longint unsigned chip,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_at(
    input  longint unsigned chip,
    input  int              number,
    output string           name,
    output longint unsigned memory,
    output longint unsigned raw,         // under its code; the same where it has none
    output longint unsigned width,
    output longint unsigned raw_width,
    output longint unsigned depth,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_find(
    input  longint unsigned chip,
    input  string           name,
    input  int              raw,
    output longint unsigned memory,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_locate(
    input  longint unsigned chip,
    input  longint unsigned address,
    output longint unsigned memory,
    output longint unsigned word,
    output longint unsigned lsb,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_text(
    input  longint unsigned chip,
    output string           text,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_read(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  int              count,       // of bytes
    input  longint unsigned words,       // a list of words with four bytes each
    output string           message
  );
  import "DPI-C" function int td_dpi_map_write(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  int              count,
    input  longint unsigned words,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_load_file(
    input  longint unsigned chip,
    input  string           path,
    output longint unsigned bytes,       // outside of all memories, from first to last
    output longint unsigned first,
    output longint unsigned last,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_load_tensor(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_dump_tensor(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_map_compare_tensor(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  longint unsigned golden,
    input  longint unsigned layout,
    input  string           policy,
    input  string           as,
    output longint unsigned report,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_map_bytes(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  longint unsigned count,
    output int              partial,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_map_file(
    input  longint unsigned chip,
    input  string           path,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_map_tensor(
    input  longint unsigned chip,
    input  longint unsigned address,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output int              partial,
    output string           message
  );
