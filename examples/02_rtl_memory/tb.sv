// A memory inside the design. One line, `TD_MEM_CLASS`, gives the testbench a td_memory for the SRAM deep in the mover,
// whose RTL knows nothing of it. A tensor goes in at src, the mover moves its words to dst, and the tensor comes out
// there; also where the two places overlap.
`include "td_macros.svh"

module tb;
  import td_pkg::*;

  localparam int unsigned Depth = 1024;
  localparam int unsigned AddrW = $clog2(Depth);

  `TD_MEM_CLASS(sram_mem, tb.u_mover.u_sram.mem, 64)

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = !clk;

  logic start = 1'b0;
  logic done;
  logic [AddrW-1:0] src, dst, n;

  mover #(
    .Depth(Depth)
  ) u_mover (
    .clk_i  (clk),
    .rst_ni (rst_n),
    .start_i(start),
    .src_i  (src),
    .dst_i  (dst),
    .n_i    (n),
    .done_o (done)
  );

  td_memory sram;
  int wrong = 0;

  task automatic move(input longint unsigned from, input longint unsigned to, input longint unsigned words);
    td_tensor given = td_tensor::create("i16", $sformatf("%0d 4", words));
    td_tensor moved = td_tensor::create("i16", $sformatf("%0d 4", words));
    td_layout at_src = td_layout::create("r c -> r c", "", $sformatf("%0d + r", from));
    td_layout at_dst = td_layout::create("r c -> r c", "", $sformatf("%0d + r", to));
    longint unsigned below;
    longint unsigned above;
    int bad = 0;

    given.fill_random(from + to + words);
    sram.backdoor_load_tensor(given, at_src);
    below = sram.get_bits(to - 1);
    above = sram.get_bits(to + words);

    src = AddrW'(from);
    dst = AddrW'(to);
    n = AddrW'(words);
    @(negedge clk) start = 1'b1;
    @(negedge clk) start = 1'b0;
    while (!done) @(negedge clk);

    sram.backdoor_dump_tensor(moved, at_dst);
    for (longint unsigned i = 0; i < words * 4; i++) if (moved.get_bits(i) != given.get_bits(i)) bad++;
    if (sram.get_bits(to - 1) != below && !(to - 1 >= from && to - 1 < from + words)) bad++;
    if (sram.get_bits(to + words) != above) bad++;
    $display("%0d words from %0d to %0d: %0d wrong", words, from, to, bad);
    wrong += bad;

    given.destroy();
    moved.destroy();
    at_src.destroy();
    at_dst.destroy();
  endtask

  initial begin
    sram = sram_mem::create("sram");
    repeat (2) @(negedge clk);
    rst_n = 1'b1;

    move(0, 512, 1);
    move(100, 300, 37);
    move(600, 20, 256);
    move(64, 65, 100);   // up by one word
    move(65, 64, 100);   // down by one
    move(200, 250, 200);
    move(250, 200, 200);

    if (wrong != 0) $fatal(1, "%0d words are wrong", wrong);
    $display("memory mover: all words right");
    $finish;
  end
endmodule
