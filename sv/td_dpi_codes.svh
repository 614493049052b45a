// The imports of codes and faults, whose shims are in dpi/code.c: a part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_code_create(
    input  string           text,
    input  longint unsigned data_bits,
    output longint unsigned code,
    output string           whole,
    output longint unsigned coded_bits,
    output longint unsigned check_bits,
    output longint unsigned subwords,
    output int              corrects,
    output string           message
  );
  import "DPI-C" function int td_dpi_code_destroy(
    input  longint unsigned code,
    output string           message
  );
  import "DPI-C" function int td_dpi_code_encode(
    input  longint unsigned code,
    input  longint unsigned data,
    input  longint unsigned first,
    input  longint unsigned count,
    input  longint unsigned coded,
    output string           message
  );
  import "DPI-C" function int td_dpi_code_check(
    input  longint unsigned code,
    input  longint unsigned coded,
    input  longint unsigned first,
    input  longint unsigned count,
    input  longint unsigned data,
    output longint unsigned corrected,
    output longint unsigned uncorrectable,
    output string           errors,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_inject(
    input  longint unsigned memory,
    input  string           what,
    input  longint unsigned code,
    output longint unsigned faults,
    output longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_inject(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    input  string           coordinate,
    input  string           what,
    input  longint unsigned code,
    output longint unsigned faults,
    output longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_faults_at(
    input  longint unsigned faults,
    input  longint unsigned number,
    output longint unsigned word,
    output longint unsigned bit_in_word,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_undo(
    input  longint unsigned memory,
    input  longint unsigned faults,
    output longint unsigned left,
    output string           message
  );
  import "DPI-C" function int td_dpi_faults_destroy(
    input  longint unsigned faults,
    output string           message
  );
