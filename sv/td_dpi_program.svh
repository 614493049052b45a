// The imports of programs and checkpoints, whose shims are in dpi/program.c, dpi/program_run.c and dpi/checkpoints.c: a
// part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_program_create(
    input  string           text,
    input  int              is_file,
    output longint unsigned program_handle,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_destroy(
    input  longint unsigned program_handle,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_add(
    input  longint unsigned program_handle,
    input  string           text,
    output string           message
  );
  // Ordinary calls, of any thread, become lines of the program until td_dpi_program_stop.
  import "DPI-C" function int td_dpi_program_record(
    output longint unsigned program_handle,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_stop(
    input  longint unsigned program_handle,
    output string           message
  );
  // The memories that are bound, by number; 0 past the last.
  import "DPI-C" function int td_dpi_program_memory(
    input  longint unsigned program_handle,
    input  int              number,
    output longint unsigned memory,
    output string           message
  );
  // The memories that the text names, by number; "" past the last.
  import "DPI-C" function int td_dpi_program_memory_name(
    input  longint unsigned program_handle,
    input  int              number,
    output string           name,
    output int              is_bound,
    output string           message
  );
  // 1: calls of this thread are not recorded, up to the same with 0.
  import "DPI-C" function void td_dpi_record_hold(
    input  int              hold
  );
  // kind: 1 a tensor, 2 a memory, 3 a layout.
  import "DPI-C" function int td_dpi_program_bind(
    input  longint unsigned program_handle,
    input  string           name,
    input  int              kind,
    input  longint unsigned thing,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_bind_banks(
    input  longint unsigned program_handle,
    input  string           name,
    input  longint unsigned banks,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_use(
    input  longint unsigned program_handle,
    input  string           path,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_compile(
    input  longint unsigned program_handle,
    input  string           arguments,
    output string           message
  );
  // A memory with words in the design is a door of the program, numbered from 0 on.
  import "DPI-C" function int td_dpi_program_door(
    input  longint unsigned program_handle,
    input  longint unsigned memory,
    output string           message
  );
  // The mask has the doors whose words go out after it.
  import "DPI-C" function int td_dpi_program_run(
    input  longint unsigned program_handle,
    input  string           label,
    input  string           arguments,
    output longint unsigned mask,
    output longint unsigned checkpoints,
    output int              count,
    output int              failed,
    output int              first,
    output string           line,
    output string           message
  );
  // Before a run of a program with doors: bit i of the mask is set when words of door i have to come in, bit 63 for all
  // doors from there on.
  import "DPI-C" function int td_dpi_program_words(
    input  longint unsigned program_handle,
    input  string           label,
    input  string           arguments,
    output longint unsigned mask,
    output string           message
  );
  // what: 0 the lines, 1 what explain says, 2 its picture.
  import "DPI-C" function int td_dpi_program_text(
    input  longint unsigned program_handle,
    input  int              what,
    input  string           label,
    input  string           arguments,
    output string           text,
    output string           message
  );
  import "DPI-C" function int td_dpi_program_tensor(
    input  longint unsigned program_handle,
    input  string           name,
    output longint unsigned tensor,
    output string           message
  );
  import "DPI-C" function int td_dpi_checkpoints_destroy(
    input  longint unsigned checkpoints,
    output string           message
  );
  import "DPI-C" function int td_dpi_checkpoints_at(
    input  longint unsigned checkpoints,
    input  int              number,
    output string           name,
    output int              passed,
    output longint unsigned compared,
    output longint unsigned mismatches,
    output longint unsigned worst_ulp,
    output real             worst_error,
    output int              has_statistics,
    output real             mean_relative_error,
    output real             mse,
    output real             cosine,
    output string           line,
    output string           message
  );
  // what: 0 text, 1 JSON, 2 JUnit XML.
  import "DPI-C" function int td_dpi_checkpoints_text(
    input  longint unsigned checkpoints,
    input  int              what,
    output string           text,
    output string           message
  );
  import "DPI-C" function int td_dpi_checkpoints_html(
    input  longint unsigned checkpoints,
    input  string           path,
    output string           message
  );
