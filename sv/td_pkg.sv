// Moves whole tensors in and out of simulated memories through the back door. `import td_pkg::*;` gives td_tensor,
// td_parts, td_memory, td_layout and td_report; the C library has the same objects, with the same strings and the same
// order of arguments (src/tensordoor.h is the manual).
// There are no delays in here, so a `timescale before or after it does not matter:
// verilator lint_off TIMESCALEMOD
package td_pkg;
  `include "td_status.svh"
  `include "td_reporter.svh"
  `include "td_list.svh"
  `include "td_report.svh"
  `include "td_tensor.svh"
  `include "td_parts.svh"
  `include "td_layout.svh"
  `include "td_snapshot.svh"
  `include "td_comparison.svh"
  `include "td_backdoor.svh"
  `include "td_storage.svh"
  typedef class td_bank_set;  // td_memory::over takes one
  typedef class td_code;      // and coded this
  `include "td_memory.svh"
  `include "td_design_memory.svh"
  `include "td_code.svh"
  `include "td_faults.svh"
  `include "td_where.svh"
  `include "td_bank_set.svh"
  `include "td_map.svh"
  `include "td_checkpoints.svh"
  `include "td_program.svh"
  `include "td_parts_layout.svh"
  `include "td_ram_report.svh"
  `include "td_speed.svh"
  `include "td_profile.svh"
endpackage
// verilator lint_on TIMESCALEMOD
