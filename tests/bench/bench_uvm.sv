// Figures, not a test: what a 128-bit word costs on its way into an array of the design from UVM, by a td_load_seq, by
// burst_write of the register layer through td_uvm_backdoor, and by uvm_hdl_deposit. `tests/uvm.sh bench` runs it; each
// figure is the best of several rounds.
`include "td_macros.svh"
`include "uvm_macros.svh"

module bench_uvm_ram;
  // Public, as uvm_hdl_deposit goes through VPI.
  logic [127:0] mem[0:65535]  /*verilator public_flat_rw*/;
endmodule

module bench_uvm;
  import uvm_pkg::*;
  import td_pkg::*;
  import td_uvm_pkg::*;

  import "DPI-C" function real bench_seconds();

  bench_uvm_ram u_ram ();
  `TD_MEM_CLASS(ram_mem, bench_uvm.u_ram.mem, 128)

  class bench_block extends uvm_reg_block;
    `uvm_object_utils(bench_block)

    uvm_mem ram;

    function new(string name = "bench_block");
      super.new(name, UVM_NO_COVERAGE);
    endfunction

    virtual function void build();
      ram = new("ram", 65536, 128);
      ram.configure(this);
      default_map = create_map("map", 0, 16, UVM_LITTLE_ENDIAN);
      default_map.add_mem(ram, 0);
      lock_model();
    endfunction
  endclass

  class bench_test extends uvm_test;
    `uvm_component_utils(bench_test)

    td_uvm_mem  ram;
    bench_block model;

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      td_uvm_backdoor backdoor;
      super.build_phase(phase);
      ram = td_uvm_mem::type_id::create("ram", this);
      model = bench_block::type_id::create("model");
      model.build();
      backdoor = td_uvm_backdoor::type_id::create("backdoor");
      backdoor.memory = ram;
      model.ram.set_backdoor(backdoor);
    endfunction

    virtual task run_phase(uvm_phase phase);
      phase.raise_objection(this);
      sequence_load(1);  // the first load makes the plan, and touches the memory
      for (int r = 0; r < 5; r++) begin
        sequence_load(65536);
        burst_write(4096);
        hdl_deposit(4096);
      end
      $display("ns per 128-bit word: td_load_seq %0.1f, uvm_mem.burst_write %0.1f, uvm_hdl_deposit %0.1f", m_sequence,
               m_burst, m_deposit);
      $display("uvm_hdl_deposit takes %0.0f times as long as td_load_seq", m_deposit / m_sequence);
      phase.drop_objection(this);
    endtask

    local real m_sequence = 1.0e9;
    local real m_burst    = 1.0e9;
    local real m_deposit  = 1.0e9;

    local function real best(input real so_far, input real from, input int words);
      real now;
      now = (bench_seconds() - from) * 1.0e9 / words;
      return now < so_far ? now : so_far;
    endfunction

    local task sequence_load(input int words);
      td_load_seq load;
      real        from;
      load = td_load_seq::type_id::create("load");
      load.memory = ram;
      load.tensor = td_tensor::create("u32", $sformatf("%0d 4", words));
      load.tensor.fill_random(1);
      load.layout = td_layout::create("r c -> r c");
      from = bench_seconds();
      load.start(null);
      m_sequence = best(m_sequence, from, words);
      check(words - 1, load.tensor.get_bits(64'(words) * 4 - 4));
      load.tensor.destroy();
      load.layout.destroy();
    endtask

    local task burst_write(input int words);
      uvm_status_e   status;
      uvm_reg_data_t values[];
      real           from;
      values = new[words];
      foreach (values[i]) values[i] = uvm_reg_data_t'(i * 3);
      from = bench_seconds();
      model.ram.burst_write(status, 0, values, UVM_BACKDOOR);
      m_burst = best(m_burst, from, words);
      check(words - 1, 64'(words - 1) * 3);
    endtask

    local task hdl_deposit(input int words);
      real from;
      int  done;
      done = 0;
      from = bench_seconds();
      for (int i = 0; i < words; i++)
        done += uvm_hdl_deposit($sformatf("bench_uvm.u_ram.mem[%0d]", i), uvm_hdl_data_t'(i * 5));
      m_deposit = best(m_deposit, from, words);
      if (done != words) `uvm_error("BENCH", $sformatf("%0d of %0d words deposited", done, words))
      check(words - 1, 64'(words - 1) * 5);
    endtask

    local function void check(input int at, input longint unsigned low);
      if (u_ram.mem[at][31:0] != low[31:0]) `uvm_error("BENCH", $sformatf("word %0d is %h", at, u_ram.mem[at]))
    endfunction
  endclass

  initial begin
    td_uvm_mem::put("*.ram", ram_mem::create("ram"));
    run_test("bench_test");
  end
endmodule
