// Figures, not a test: what a call costs through the classes, and what td_ram costs in a simulation. `meson test
// --benchmark` runs it; each figure is the best of several rounds.
module bench_dpi;
  import td_pkg::*;

  import "DPI-C" function real bench_seconds();
  import "DPI-C" function real bench_smallest_load_ns(input int calls);

  function automatic real smaller(input real a, input real b);
    return a < b ? a : b;
  endfunction

  // ---- the smallest load

  task automatic smallest();
    td_memory m;
    td_tensor t;
    td_layout l;
    string message;
    int status;
    longint unsigned hm, ht, hl;
    real in_c, in_dpi, in_sv, start;
    m = td_memory::create("m", 8, 16);
    t = td_tensor::create("i8", "1");
    l = td_layout::create("a -> 1 a");
    in_c = 1.0e9;
    hm = m.handle();
    ht = t.handle();
    hl = l.handle();
    in_dpi = 1.0e9;
    in_sv = 1.0e9;
    for (int r = 0; r < 7; r++) begin
      in_c = smaller(in_c, bench_smallest_load_ns(200000));
      start = bench_seconds();
      for (int i = 0; i < 200000; i++)
        status = td_dpi_pkg::td_dpi_backdoor_load_tensor(hm, ht, hl, "", message);
      in_dpi = smaller(in_dpi, (bench_seconds() - start) * 1.0e9 / 200000.0);
      if (status != 0) $fatal(1, "%s", message);
      start = bench_seconds();
      for (int i = 0; i < 200000; i++) m.backdoor_load_tensor(t, l);
      in_sv = smaller(in_sv, (bench_seconds() - start) * 1.0e9 / 200000.0);
    end
    $display("smallest load: %0.0f ns in C, %0.0f ns more through DPI, %0.0f ns more through the classes", in_c,
             in_dpi - in_c, in_sv - in_c);
    m.destroy();
    t.destroy();
    l.destroy();
  endtask

  // ---- the six operations

  task automatic words(input int count);
    td_memory m;
    td_addresses_t addresses;
    td_words_t data;
    real rd, wr, start;
    int calls;
    m = td_memory::create("m", 32, 16384);
    addresses = new[count];
    data = new[count];
    for (int i = 0; i < count; i++) begin
      addresses[i] = 64'(i);
      data[i] = i;
    end
    calls = 200000 / (count + 100) + 1;
    rd = 1.0e12;
    wr = 1.0e12;
    for (int r = 0; r < 5; r++) begin
      start = bench_seconds();
      for (int i = 0; i < calls; i++) m.backdoor_write(addresses, data);
      wr = smaller(wr, (bench_seconds() - start) * 1.0e9 / calls);
      start = bench_seconds();
      for (int i = 0; i < calls; i++) m.backdoor_read(addresses, data);
      rd = smaller(rd, (bench_seconds() - start) * 1.0e9 / calls);
    end
    $display("%0d words of 32 bits: write %0.0f ns (%0.1f M words/s), read %0.0f ns (%0.1f M words/s)", count, wr,
             count * 1.0e3 / wr, rd, count * 1.0e3 / rd);
    m.destroy();
  endtask

  task automatic matrix(input int rows);
    td_memory m;
    td_tensor t;
    real ld, dp, start;
    int calls;
    m = td_memory::create("m", 64, 4096);
    t = td_tensor::create("i16", $sformatf("%0d 4", rows));
    calls = 200000 / (rows + 10) + 1;
    ld = 1.0e12;
    dp = 1.0e12;
    for (int r = 0; r < 5; r++) begin
      start = bench_seconds();
      for (int i = 0; i < calls; i++) m.backdoor_load_matrix(t, 0, 64'(rows));
      ld = smaller(ld, (bench_seconds() - start) * 1.0e9 / calls);
      start = bench_seconds();
      for (int i = 0; i < calls; i++) m.backdoor_dump_matrix(t, 0, 64'(rows));
      dp = smaller(dp, (bench_seconds() - start) * 1.0e9 / calls);
    end
    $display("matrix %0dx4 of i16: load %0.0f ns (%0.1f M elements/s), dump %0.0f ns (%0.1f M elements/s)", rows, ld,
             rows * 4.0e3 / ld, dp, rows * 4.0e3 / dp);
    m.destroy();
    t.destroy();
  endtask

  task automatic tensor(input int side);
    td_memory m;
    td_tensor t;
    td_layout l;
    real ld, dp, start;
    int calls;
    m = td_memory::create("m", 64, 4096);
    t = td_tensor::create("u8", $sformatf("3 %0d %0d", side, side));
    l = td_layout::create("c h (wt ws) -> (h wt c) ws", "ws=8");
    calls = 2000000 / (3 * side * side) + 1;
    ld = 1.0e12;
    dp = 1.0e12;
    for (int r = 0; r < 5; r++) begin
      start = bench_seconds();
      for (int i = 0; i < calls; i++) m.backdoor_load_tensor(t, l);
      ld = smaller(ld, (bench_seconds() - start) * 1.0e9 / calls);
      start = bench_seconds();
      for (int i = 0; i < calls; i++) m.backdoor_dump_tensor(t, l);
      dp = smaller(dp, (bench_seconds() - start) * 1.0e9 / calls);
    end
    $display("tensor 3x%0dx%0d of u8: load %0.0f ns (%0.1f M elements/s), dump %0.0f ns (%0.1f M elements/s)", side,
             side, ld, 3.0e3 * side * side / ld, dp, 3.0e3 * side * side / dp);
    m.destroy();
    t.destroy();
    l.destroy();
  endtask

  // ---- td_ram against a plain array, a read and a write in every cycle

  real td_ns, rtl_ns;
  bench_ram #(.Width(32)) u_32 ();
  bench_ram #(.Width(64)) u_64 ();
  bench_ram #(.Width(128)) u_128 ();
  bench_ram #(.Width(512)) u_512 ();

`define RAM_CYCLES(W) \
  u_``W.run(td_ns, rtl_ns); \
  $display("a cycle of td_ram, %0d bits: %0.1f ns, of a plain array %0.1f ns, %0.2f times as long", W, td_ns, rtl_ns, \
           td_ns / rtl_ns);

  initial begin
    smallest();
    words(10);
    words(100);
    words(1000);
    words(10000);
    matrix(16);
    matrix(64);
    matrix(256);
    matrix(1024);
    tensor(8);
    tensor(16);
    tensor(32);
    tensor(64);
    `RAM_CYCLES(32)
    `RAM_CYCLES(64)
    `RAM_CYCLES(128)
    `RAM_CYCLES(512)
    $finish;
  end
endmodule

// Both kinds of RAM under the same traffic, each on a clock of its own, so that one at a time runs. The sums of what
// was read have to agree at the end, without which a simulator may leave out the plain array, which nobody else looks
// at.
module bench_ram #(
  parameter int unsigned Width = 64
);
  import "DPI-C" function real bench_seconds();

  bit td_clk = 1'b0, rtl_clk = 1'b0;
  logic [9:0] td_addr = '0, rtl_addr = '0;
  logic [Width-1:0] td_data, rtl_data = '0, td_sum = '0, rtl_sum = '0;
  logic td_valid, rtl_valid = 1'b0;

  td_ram #(
    .Width(Width),
    .Depth(1024)
  ) u_ram (
    .clk_i     (td_clk),
    .rd_cs_ni  (1'b0),
    .rd_addr_i (td_addr),
    .rd_valid_o(td_valid),
    .rd_data_o (td_data),
    .wr_cs_ni  (1'b0),
    .wr_addr_i (~td_addr),
    .wr_data_i (td_sum),
    .wr_mask_i ('1)
  );
  always_ff @(posedge td_clk) begin
    td_addr <= td_addr + 1'b1;
    if (td_valid) td_sum <= td_sum + (td_data ^ Width'(td_addr));
  end

  logic [Width-1:0] mem[1024];
  initial for (int i = 0; i < 1024; i++) mem[i] = '0;
  always_ff @(posedge rtl_clk) begin
    rtl_data <= mem[rtl_addr];
    rtl_valid <= 1'b1;
    mem[~rtl_addr] <= rtl_sum;
    rtl_addr <= rtl_addr + 1'b1;
    if (rtl_valid) rtl_sum <= rtl_sum + (rtl_data ^ Width'(rtl_addr));
  end

  task automatic run(output real td_ns, output real rtl_ns);
    real start, ns;
    td_ns = 1.0e9;
    rtl_ns = 1.0e9;
    #1;  // the first edge would be none at time 0
    for (int r = 0; r < 5; r++) begin
      start = bench_seconds();
      for (int i = 0; i < 200000; i++) begin
        td_clk = 1'b1;
        #1 td_clk = 1'b0;
        #1;
      end
      ns = (bench_seconds() - start) * 1.0e9 / 200000.0;
      if (ns < td_ns) td_ns = ns;
      start = bench_seconds();
      for (int i = 0; i < 200000; i++) begin
        rtl_clk = 1'b1;
        #1 rtl_clk = 1'b0;
        #1;
      end
      ns = (bench_seconds() - start) * 1.0e9 / 200000.0;
      if (ns < rtl_ns) rtl_ns = ns;
    end
    if (td_sum != rtl_sum || td_sum == '0) $fatal(1, "%0d bits: the two RAMs differ", Width);
  endtask
endmodule
