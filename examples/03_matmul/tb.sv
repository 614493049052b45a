// A matrix-multiply accelerator, fed and read through the back door. Activations and weights come from .npy files and
// go, each with one call, into eight banks by a layout; the accelerator runs; the result in eight more banks is held
// against a golden model in C, with one call too. The last lines say how long the back door takes for the largest of
// these, and how long $readmemh takes for the same words: the best of five rounds each.
`include "td_macros.svh"

module tb;
  import td_pkg::*;

  import "DPI-C" function int golden_matmul(input string a_path, input string b_path, input string c_path);
  import "DPI-C" function real golden_seconds();

  localparam int unsigned Side = 8;
  localparam int unsigned Depth = 8192;
  localparam int unsigned AddrW = $clog2(Depth);

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = !clk;

  logic start = 1'b0;
  logic done;
  logic [AddrW-1:0] m_tiles, n_tiles, k_steps;

  matmul #(
    .Side (Side),
    .Depth(Depth)
  ) u_dut (
    .clk_i    (clk),
    .rst_ni   (rst_n),
    .start_i  (start),
    .m_tiles_i(m_tiles),
    .n_tiles_i(n_tiles),
    .k_i      (k_steps),
    .done_o   (done)
  );

  // ---- the design's memories: three in each of the eight columns

  td_bank_set act;
  td_bank_set wgt;
  td_bank_set res;

`define COLUMN(I) \
  `TD_MEM_CLASS(act_``I, tb.u_dut.gen_bank[I].u_act.mem, 8) \
  `TD_MEM_CLASS(wgt_``I, tb.u_dut.gen_bank[I].u_wgt.mem, 8) \
  `TD_MEM_CLASS(res_``I, tb.u_dut.gen_bank[I].u_res.mem, 32)
`define ADD_COLUMN(I) \
  bank = act_``I::create(); \
  act.add(bank); \
  bank = wgt_``I::create(); \
  wgt.add(bank); \
  bank = res_``I::create(); \
  res.add(bank);
`define READ_COLUMN(I) \
  $readmemh(`"act_``I.hex`", u_dut.gen_bank[I].u_act.mem); \
  $readmemh(`"wgt_``I.hex`", u_dut.gen_bank[I].u_wgt.mem);

  `COLUMN(0)
  `COLUMN(1)
  `COLUMN(2)
  `COLUMN(3)
  `COLUMN(4)
  `COLUMN(5)
  `COLUMN(6)
  `COLUMN(7)

  // Where a matrix lies: eight rows of activations in eight banks, eight columns of weights and of results likewise.
  // What does not fill a tile is padded with zeros, which add nothing.
  td_layout act_layout;
  td_layout wgt_layout;
  td_layout res_layout;

  task automatic find_memories();
    td_memory bank;
    act = new;
    wgt = new;
    res = new;
    `ADD_COLUMN(0)
    `ADD_COLUMN(1)
    `ADD_COLUMN(2)
    `ADD_COLUMN(3)
    `ADD_COLUMN(4)
    `ADD_COLUMN(5)
    `ADD_COLUMN(6)
    `ADD_COLUMN(7)
    act_layout = td_layout::create("(mt mi) k -> mi (mt k) 1", "mi=8 pad=0");
    wgt_layout = td_layout::create("k (nt ni) -> ni (nt k) 1", "ni=8 pad=0");
    res_layout = td_layout::create("(mt mi) (nt ni) -> ni (mt mi nt) 1", "mi=8 ni=8 pad=0");
  endtask

  // ---- one product

  int wrong = 0;

  task automatic run_design();
    @(negedge clk) start = 1'b1;
    @(negedge clk) start = 1'b0;
    while (!done) @(negedge clk);
  endtask

  task automatic multiply(input longint unsigned m, input longint unsigned k, input longint unsigned n);
    td_tensor a = td_tensor::create("i8", $sformatf("%0d %0d", m, k));
    td_tensor b = td_tensor::create("i8", $sformatf("%0d %0d", k, n));
    td_tensor golden;
    td_report report;

    // What a training framework would have left here.
    a.fill_random(m);
    b.fill_random(n);
    a.save("activations.npy");
    b.save("weights.npy");
    a.destroy();
    b.destroy();

    a = td_tensor::open("activations.npy");
    b = td_tensor::open("weights.npy");
    act.backdoor_load_tensor(a, act_layout);
    wgt.backdoor_load_tensor(b, wgt_layout);

    m_tiles = AddrW'((m + 7) / 8);
    n_tiles = AddrW'((n + 7) / 8);
    k_steps = AddrW'(k);
    run_design();

    if (golden_matmul("activations.npy", "weights.npy", "golden.npy") != 0) $fatal(1, "no golden result");
    golden = td_tensor::open("golden.npy");
    report = res.backdoor_compare_tensor(golden, res_layout);
    $display("(%0d x %0d) * (%0d x %0d): %0d of %0d results right", m, k, k, n, report.compared() - report.mismatches(),
             m * n);
    if (!report.passed()) wrong++;
    report.destroy();
    a.destroy();
    b.destroy();
    golden.destroy();
  endtask

  // The last load once more, and then the words that it wrote, as text.
  task automatic against_readmemh(input longint unsigned act_words, input longint unsigned wgt_words);
    td_tensor a = td_tensor::open("activations.npy");
    td_tensor b = td_tensor::open("weights.npy");
    td_memory bank;
    real from;
    real seconds;
    real load_seconds = 1.0e9;
    real text_seconds = 1.0e9;
    for (int r = 0; r < 5; r++) begin
      from = golden_seconds();
      act.backdoor_load_tensor(a, act_layout);
      wgt.backdoor_load_tensor(b, wgt_layout);
      seconds = golden_seconds() - from;
      if (seconds < load_seconds) load_seconds = seconds;
    end
    for (int i = 0; i < 8; i++) begin
      bank = act.bank(i);
      bank.save_file($sformatf("act_%0d.hex", i), 0, act_words);
      bank = wgt.bank(i);
      bank.save_file($sformatf("wgt_%0d.hex", i), 0, wgt_words);
    end
    for (int r = 0; r < 5; r++) begin
      from = golden_seconds();
      `READ_COLUMN(0)
      `READ_COLUMN(1)
      `READ_COLUMN(2)
      `READ_COLUMN(3)
      `READ_COLUMN(4)
      `READ_COLUMN(5)
      `READ_COLUMN(6)
      `READ_COLUMN(7)
      seconds = golden_seconds() - from;
      if (seconds < text_seconds) text_seconds = seconds;
    end
    $display("%0d words into 16 memories: %0.0f us through the back door, %0.0f us with $readmemh, %0.1f times as long",
             8 * (act_words + wgt_words), load_seconds * 1.0e6, text_seconds * 1.0e6, text_seconds / load_seconds);
    a.destroy();
    b.destroy();
  endtask

  initial begin
    find_memories();
    repeat (2) @(negedge clk);
    rst_n = 1'b1;

    multiply(8, 8, 8);
    multiply(1, 1, 1);
    multiply(16, 5, 24);
    multiply(13, 37, 21);    // ragged on every side
    multiply(40, 64, 7);
    multiply(128, 256, 128);
    against_readmemh(128 / 8 * 256, 128 / 8 * 256);

    if (wrong != 0) $fatal(1, "%0d products are wrong", wrong);
    $display("matmul: all results right");
    $finish;
  end
endmodule
