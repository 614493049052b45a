// The imports of memories that lie over others, whose shims are in dpi/layers.c: a part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_memory_over(
    input  string           name,
    input  longint unsigned width,
    input  longint unsigned depth,
    input  longint unsigned organisation,
    input  longint unsigned arrays,        // a list of their handles
    output longint unsigned memory,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_coded(
    input  string           name,
    input  longint unsigned code,
    input  longint unsigned raw,
    input  string           options,
    output longint unsigned memory,
    output longint unsigned width,
    output longint unsigned depth,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_through(
    input  string           name,
    input  string           codec,
    input  longint unsigned below,
    output longint unsigned memory,
    output longint unsigned width,
    output longint unsigned depth,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_code_result(
    input  longint unsigned memory,
    input  int              reset,
    output longint unsigned corrected,
    output longint unsigned uncorrectable,
    output string           errors,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_invalidate(
    input  longint unsigned memory,
    input  longint unsigned first,
    input  longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_all(
    input  longint unsigned banks,
    output string           message
  );
  // 1 when the words below hold other bits too.
  import "DPI-C" function int td_dpi_transfer_shared(
    input  longint unsigned memory
  );
  // 1 when the memory is this array, or lies over it.
  import "DPI-C" function int td_dpi_transfer_reaches(
    input  longint unsigned memory,
    input  longint unsigned array
  );
