// The DPI imports, private to td_pkg and td_ram: testbenches use the classes of td_pkg. A handle is 0, or the number of
// an object that a create function made. Every function that can fail returns a status number and sets `message` ("" on
// success). What a call leaves behind in C (objects, named scales, the state of a transfer) belongs to a handle or is
// guarded by a lock, and no import is declared pure, so any thread of the simulator may make the calls. The C side is
// in dpi/, one file per group of functions. There are no delays in here, so a `timescale before or after it does not
// matter:
// verilator lint_off TIMESCALEMOD
package td_dpi_pkg;

  // Array arguments have a small fixed size, because some simulators copy the whole array in each call, or generate
  // code for each of its elements. Lists are passed in pieces of this size:
  parameter int unsigned ListWords = 256;
  parameter int unsigned ListAddresses = 128;
  typedef bit [31:0] list_t[0:ListWords-1];

  // Words of a memory in the design are passed in chunks, which are large enough for the widest word. A chunk holds
  // runs of words, each behind a head of ChunkHead words. ChunkUnknown is a flag: it is added to the number of runs
  // when some of their bits have to stay x or z. tests/checks compares these numbers with those in C.
  parameter int unsigned ChunkWords = 512;
  parameter int unsigned ChunkHead = 3;
  parameter int unsigned ChunkUnknown = 65536;
  typedef bit [31:0] chunk_t[0:ChunkWords-1];
  typedef enum int {TakeOut, BringIn, UnknownOut, UnknownIn} transfer_e;
  typedef enum int {ForLoad, ForDump, ForDumpKnown} transfer_use_e;

  // ---- dpi/status.c

  import "DPI-C" function void td_dpi_status_name(
    input int status, output string name
  );
  import "DPI-C" function void td_dpi_version(output string version);
  import "DPI-C" function int td_dpi_speed_path(
    input int number, output string name, output longint unsigned calls,
    output longint unsigned bytes
  );
  import "DPI-C" function void td_dpi_speed_paths_clear();

  // ---- dpi/tensor.c

  import "DPI-C" function int td_dpi_tensor_create(
    input string dtype, input string shape, output longint unsigned tensor,
    output string           message
  );
  import "DPI-C" function int td_dpi_tensor_open(
    input string path, input string dtype, output longint unsigned tensor,
    output string           message
  );
  import "DPI-C" function int td_dpi_tensor_destroy(
    input longint unsigned tensor, output string message
  );
  import "DPI-C" function int td_dpi_tensor_save(
    input longint unsigned tensor, input string path, output string message
  );
  import "DPI-C" function int td_dpi_tensor_info(
    input longint unsigned tensor, output string dtype, output string shape,
    output longint unsigned elems, output int words_per_elem, output string message
  );
  import "DPI-C" function int td_dpi_tensor_fill_ramp(
    input longint unsigned tensor, input real start, input real step, output string message
  );
  import "DPI-C" function int td_dpi_tensor_fill_random(
    input longint unsigned tensor, input longint unsigned seed, output string message
  );
  import "DPI-C" function int td_dpi_tensor_fill_coordinates(input longint unsigned tensor, output string message);
  import "DPI-C" function int td_dpi_tensor_fill(
    input longint unsigned tensor, input string what, output string message
  );
  import "DPI-C" function int td_dpi_tensor_reshape(
    input longint unsigned tensor, input string shape, output string message
  );
  import "DPI-C" function int td_dpi_tensor_name(
    input longint unsigned tensor, output string name, output string message
  );
  import "DPI-C" function int td_dpi_tensor_set_name(
    input longint unsigned tensor, input string name, output string message
  );
  import "DPI-C" function int td_dpi_tensor_get_bits(
    input longint unsigned tensor, input longint unsigned elem, output longint unsigned bits, output string message
  );
  import "DPI-C" function int td_dpi_tensor_set_bits(
    input longint unsigned tensor, input longint unsigned elem, input longint unsigned bits, output string message
  );
  import "DPI-C" function int td_dpi_tensor_get_real(
    input longint unsigned tensor, input longint unsigned elem, output real value, output string message
  );
  import "DPI-C" function int td_dpi_tensor_set_real(
    input longint unsigned tensor, input longint unsigned elem, input real value, output string message
  );
  import "DPI-C" function int td_dpi_tensor_convert(
    input  longint unsigned tensor,
    input  string           as,
    output longint unsigned converted,
    output string           message
  );
  // other: 0 for a step of one tensor; x: the axis of Concat, the factor of Scale, with y the bounds of Clamp.
  typedef enum int { Slice = 0, Transpose = 1, Concat = 2, Add = 3, Mul = 4, Scale = 5, Clamp = 6 } step_e;
  import "DPI-C" function int td_dpi_tensor_step(
    input  longint unsigned tensor,
    input  longint unsigned other,
    input  int              step,
    input  string           text,
    input  real             x,
    input  real             y,
    output longint unsigned made,
    output string           message
  );
  import "DPI-C" function int td_dpi_tensor_text(
    input  longint unsigned tensor,
    output string           text,
    output string           message
  );
  // With a tensor handle of 0 the name is forgotten.
  import "DPI-C" function int td_dpi_scales_set(
    input  string           name,
    input  longint unsigned tensor,
    output string           message
  );

  // ---- dpi/list.c: the elements of a tensor, many at once

  // Elements [first, first + count).
  import "DPI-C" function int td_dpi_tensor_set_chunk(
    input  longint unsigned tensor,
    input  longint unsigned first,
    input  int              count,
    input  bit [31:0]       chunk  [0:ListWords-1],
    output string           message
  );
  // inout, because words past the count keep their value.
  import "DPI-C" function int td_dpi_tensor_get_chunk(
    input  longint unsigned tensor,
    input  longint unsigned first,
    input  int              count,
    inout  bit [31:0]       chunk  [0:ListWords-1],
    output string           message
  );

  // ---- dpi/list.c: a list is a tensor of u32, or of u64 for addresses

  import "DPI-C" function int td_dpi_list_create(
    input  int              count,
    input  int              elem_bits,
    output longint unsigned words,
    output string           message
  );
  import "DPI-C" function int td_dpi_list_put(
    input  longint unsigned words,
    input  int              first,
    input  int              count,
    input  bit [31:0]       chunk  [0:ListWords-1],
    output string           message
  );
  import "DPI-C" function int td_dpi_list_put_addresses(
    input  longint unsigned addresses,
    input  int              first,
    input  int              count,
    input  longint unsigned chunk  [0:ListAddresses-1],
    output string           message
  );
  import "DPI-C" function int td_dpi_list_get(
    input  longint unsigned words,
    input  int              first,
    input  int              count,
    inout  bit [31:0]       chunk  [0:ListWords-1],
    output string           message
  );
  import "DPI-C" function int td_dpi_tensor_from_list(
    input  longint unsigned tensor,
    input  longint unsigned words,
    output string           message
  );
  import "DPI-C" function int td_dpi_tensor_to_list(
    input  longint unsigned tensor,
    input  longint unsigned words,
    output string           message
  );

  // ---- dpi/memory.c

  import "DPI-C" function int td_dpi_memory_create(
    input  string           name,
    input  longint unsigned width_bits,
    input  longint unsigned depth_words,
    output longint unsigned memory,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_snapshot(
    input  longint unsigned memory,
    output longint unsigned snapshot,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_destroy(
    input  longint unsigned memory,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_clear(
    input  longint unsigned memory,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_fill(
    input  longint unsigned memory,
    input  string           what,
    input  longint unsigned first,
    input  longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_set_x(
    input  longint unsigned memory,
    input  string           policy,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_load_file(
    input  longint unsigned memory,
    input  string           path,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_load_file_part(
    input  longint unsigned memory,
    input  string           path,
    output longint unsigned bytes,
    output longint unsigned first,
    output longint unsigned last,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_save_file(
    input  longint unsigned memory,
    input  string           path,
    input  longint unsigned first,
    input  longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_get_bits(
    input  longint unsigned memory,
    input  longint unsigned address,
    output longint unsigned bits,
    output string           message
  );
  import "DPI-C" function int td_dpi_memory_set_bits(
    input  longint unsigned memory,
    input  longint unsigned address,
    input  longint unsigned bits,
    output string           message
  );

  // ---- dpi/layout.c

  import "DPI-C" function int td_dpi_layout_create(
    input  string           pattern,
    input  string           options,
    input  string           address,
    output longint unsigned layout,
    output string           message
  );
  import "DPI-C" function int td_dpi_layout_open(
    input  string           path,
    input  string           name,
    output longint unsigned layout,
    output string           message
  );
  import "DPI-C" function int td_dpi_layout_destroy(
    input  longint unsigned layout,
    output string           message
  );
  import "DPI-C" function int td_dpi_layout_info(
    input  longint unsigned layout,
    output string           pattern,
    output string           options,
    output string           address,
    output string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_layout_explain(
    input  longint unsigned layout,
    input  string           dtype,
    input  string           shape,
    input  string           as,
    input  longint unsigned width_bits,
    input  longint unsigned depth_words,
    input  longint unsigned banks,
    output string           text,
    output string           message
  );

  // ---- dpi/backdoor.c: addresses are a tensor of u64, words and masks tensors of u32

  import "DPI-C" function int td_dpi_backdoor_read(
    input  longint unsigned memory,
    input  longint unsigned addresses,
    input  longint unsigned words,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_write(
    input  longint unsigned memory,
    input  longint unsigned addresses,
    input  longint unsigned words,
    input  longint unsigned mask,
    input  int              mask_bits,  // covered by one bit of the mask: 1, 8, or 0 without a mask
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_load_matrix(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned first,
    input  longint unsigned last,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_dump_matrix(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned first,
    input  longint unsigned last,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_load_tensor(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_dump_tensor(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_dirty_padding(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    input  longint unsigned seed,
    output longint unsigned count,
    output string           message
  );

  // ---- dpi/code.c

  `include "td_dpi_codes.svh"
  `include "td_dpi_layers.svh"
  `include "td_dpi_where.svh"
  `include "td_dpi_map.svh"
  `include "td_dpi_profile.svh"

  // ---- dpi/parts.c, dpi/parts_layout.c

  `include "td_dpi_parts.svh"

  // ---- dpi/banks.c: the banks are a tensor of u64, their handles

  import "DPI-C" function int td_dpi_backdoor_load_banks(
    input  longint unsigned banks,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_dump_banks(
    input  longint unsigned banks,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_dirty_banks(
    input  longint unsigned banks,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    input  longint unsigned seed,
    output longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_banks(
    input  longint unsigned banks,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output int              partial,
    output string           message
  );
  import "DPI-C" function int td_dpi_backdoor_compare_banks(
    input  longint unsigned banks,
    input  longint unsigned golden,
    input  longint unsigned layout,
    input  string           policy,
    input  string           as,
    output longint unsigned report,
    output string           message
  );

  // mask is 0 for none; snapshot is a list of memories, one per bank, or 0 for none.
  import "DPI-C" function int td_dpi_compare(
    input  longint unsigned banks,
    input  longint unsigned golden,
    input  longint unsigned layout,
    input  string           policy,
    input  string           as,
    input  longint unsigned mask,
    input  longint unsigned snapshot,
    output longint unsigned report,
    output string           message
  );

  // ---- dpi/report.c

  import "DPI-C" function int td_dpi_backdoor_compare_tensor(
    input  longint unsigned memory,
    input  longint unsigned golden,
    input  longint unsigned layout,
    input  string           policy,
    input  string           as,
    output longint unsigned report,
    output string           message
  );
  import "DPI-C" function int td_dpi_tensor_compare(
    input  longint unsigned expected,
    input  longint unsigned actual,
    input  string           policy,
    output longint unsigned report,
    output string           message
  );
  import "DPI-C" function int td_dpi_report_destroy(
    input  longint unsigned report,
    output string           message
  );
  import "DPI-C" function int td_dpi_report_info(
    input  longint unsigned report,
    output int              passed,
    output longint unsigned compared,
    output longint unsigned mismatches,
    output longint unsigned pad_mismatches,
    output longint unsigned outside_bits,
    output longint unsigned worst_ulp,
    output real             worst_error,
    output int              first_count,
    output string           line,
    output string           message
  );
  import "DPI-C" function int td_dpi_report_first(
    input  longint unsigned report,
    input  int              number,
    output string           at,
    output longint unsigned expected,
    output longint unsigned actual,
    output longint unsigned bank,
    output longint unsigned address,
    output int              msb,
    output int              lsb,
    output string           message
  );
  import "DPI-C" function int td_dpi_report_guess(
    input  longint unsigned report,
    input  int              number,
    output string           guess,
    output string           message
  );
  import "DPI-C" function int td_dpi_report_text(
    input  longint unsigned report,
    output string           text,
    output string           message
  );
  import "DPI-C" function int td_dpi_report_html(
    input  longint unsigned report,
    input  string           path,
    input  string           at_time,
    output string           message
  );

  // ---- dpi/transfer.c: words of a memory in the design; src/tensordoor_bridge.h describes chunks and their runs

  import "DPI-C" function int td_dpi_transfer_layout(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output int              partial,
    output string           message
  );
  // Called first; td_dpi_transfer_load or td_dpi_transfer_dump then does the work on the library's copy.
  import "DPI-C" function int td_dpi_transfer_tensor(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    input  int              use_of,     // transfer_use_e
    output int              partial,
    output int              borrowed,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_load(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_dump(
    input  longint unsigned memory,
    input  longint unsigned tensor,
    input  longint unsigned layout,
    input  string           as,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_span(
    input  longint unsigned memory,
    input  longint unsigned first,
    input  longint unsigned count,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_words(
    input  longint unsigned memory,
    input  longint unsigned addresses,
    output string           message
  );
  import "DPI-C" function int td_dpi_transfer_file(
    input  longint unsigned memory,
    input  string           path,
    output string           message
  );
  // Returns the number of runs in the chunk, plus ChunkUnknown when some of their bits have to stay x or z, or a
  // negative status.
  import "DPI-C" function int td_dpi_transfer_chunk(
    input  longint unsigned memory,
    input  longint unsigned borrowed,   // the tensor's handle if td_dpi_transfer_tensor set `borrowed`, else 0
    input  int              direction,  // transfer_e
    inout  bit [31:0]       chunk    [0:ChunkWords-1]
  );

  // ---- dpi/ram.c: called once per cycle, so without strings; td_dpi_ram_explain gives the text of a failure

  // Bits for the ports that a call uses, and, in what it returns, for those that failed.
  typedef enum int {
    RamReads  = 1,
    RamWrites = 2
  } ram_port_e;

  import "DPI-C" function int td_dpi_ram_cycle64(
    input  longint unsigned memory,
    input  int              ports,
    input  longint unsigned rd_address,
    input  longint unsigned wr_address,
    input  longint unsigned wr_data,
    input  longint unsigned mask,
    output longint unsigned rd_data
  );
  import "DPI-C" function int td_dpi_ram_cycle128(
    input  longint unsigned memory,
    input  int              ports,
    input  longint unsigned rd_address,
    input  longint unsigned wr_address,
    input  bit [127:0]      wr_data,
    input  longint unsigned mask,
    output bit [127:0]      rd_data
  );
  import "DPI-C" function int td_dpi_ram_cycle512(
    input  longint unsigned memory,
    input  int              ports,
    input  longint unsigned rd_address,
    input  longint unsigned wr_address,
    input  int              part,
    input  bit [511:0]      wr_data,
    input  longint unsigned mask,
    output bit [511:0]      rd_data
  );
  import "DPI-C" function int td_dpi_ram_explain(
    input  longint unsigned memory,
    input  string           port,
    input  longint unsigned address,
    output string           message
  );

  // ---- dpi/program.c, dpi/program_run.c, dpi/checkpoints.c

  `include "td_dpi_program.svh"

endpackage
// verilator lint_on TIMESCALEMOD
