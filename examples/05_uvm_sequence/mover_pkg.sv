// The environment around the tile mover, from the item to the test.
package mover_pkg;
  import uvm_pkg::*;
  import td_pkg::*;
  import td_uvm_pkg::*;
  `include "uvm_macros.svh"

  `include "mover_item.svh"
  typedef uvm_sequencer #(mover_item) mover_sequencer;
  `include "mover_driver.svh"
  `include "mover_monitor.svh"
  `include "mover_agent.svh"
  `include "mover_checker.svh"
  `include "mover_env.svh"
  `include "move_tensor_seq.svh"
  `include "mover_test.svh"
endpackage
