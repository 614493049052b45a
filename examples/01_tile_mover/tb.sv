// The tour. A tensor of int16 goes into the design's source memory with one call, the design moves it tile by tile,
// and one call takes the result out of the destination memory. The design sees ordinary RAMs; the bench sees the
// td_memory in each.
module tb;
  import td_pkg::*;

  localparam int unsigned Depth = 4096;
  localparam int unsigned AddrW = 12;
  localparam int unsigned WordW = 64;  // four lanes of 16 bits

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = !clk;

  // ---- the design between its two memories

  logic start = 1'b0;
  logic done;
  logic [AddrW-1:0] n_b, n_w, n_ct;
  logic src_cs_n, src_valid, dst_cs_n;
  logic [AddrW-1:0] src_addr, dst_addr;
  logic [WordW-1:0] src_data, dst_data;

  td_ram #(
    .Width(WordW),
    .Depth(Depth),
    .Name ("src")
  ) u_src (
    .clk_i     (clk),
    .rd_cs_ni  (src_cs_n),
    .rd_addr_i (src_addr),
    .rd_valid_o(src_valid),
    .rd_data_o (src_data),
    .wr_cs_ni  (1'b1),
    .wr_addr_i ('0),
    .wr_data_i ('0),
    .wr_mask_i ('0)
  );

  tile_mover #(
    .AddrW(AddrW),
    .WordW(WordW)
  ) u_mover (
    .clk_i      (clk),
    .rst_ni     (rst_n),
    .start_i    (start),
    .n_b_i      (n_b),
    .n_w_i      (n_w),
    .n_ct_i     (n_ct),
    .done_o     (done),
    .src_cs_no  (src_cs_n),
    .src_addr_o (src_addr),
    .src_valid_i(src_valid),
    .src_data_i (src_data),
    .dst_cs_no  (dst_cs_n),
    .dst_addr_o (dst_addr),
    .dst_data_o (dst_data)
  );

  td_ram #(
    .Width(WordW),
    .Depth(Depth),
    .Name ("dst")
  ) u_dst (
    .clk_i     (clk),
    .rd_cs_ni  (1'b1),
    .rd_addr_i ('0),
    .rd_valid_o(),
    .rd_data_o (),
    .wr_cs_ni  (dst_cs_n),
    .wr_addr_i (dst_addr),
    .wr_data_i (dst_data),
    .wr_mask_i ('0)
  );

  // ---- one tensor through the design

  longint unsigned wrong = 0;

  task automatic move(input longint unsigned b, input longint unsigned w, input longint unsigned c);
    td_memory src = u_src.get_memory();
    td_memory dst = u_dst.get_memory();
    td_tensor given = td_tensor::create("i16", $sformatf("%0d %0d %0d", b, w, c));
    td_tensor moved = td_tensor::create("i16", $sformatf("%0d %0d %0d", w, b, c));

    // Four channels in a word, the tiles of one (b, w) in neighbouring words. The result lies the same way, w outside.
    td_layout src_tiles = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4");
    td_layout dst_tiles = td_layout::create("w b (ct cs) -> (w b ct) cs", "cs=4");
    int unsigned cycles = 0;
    longint unsigned good = 0;

    given.fill_random(b + w + c);
    src.backdoor_load_tensor(given, src_tiles);

    n_b = AddrW'(b);
    n_w = AddrW'(w);
    n_ct = AddrW'(c / 4);
    @(negedge clk) start = 1'b1;
    @(negedge clk) start = 1'b0;
    while (!done) begin
      @(negedge clk);
      cycles++;
    end

    dst.backdoor_dump_tensor(moved, dst_tiles);
    for (longint unsigned i = 0; i < b; i++)
      for (longint unsigned j = 0; j < w; j++)
        for (longint unsigned k = 0; k < c; k++)
          if (moved.get_bits((j * b + i) * c + k) == given.get_bits((i * w + j) * c + k)) good++;

    $write("(%0d, %0d, %0d): loaded %0d words, moved in %0d cycles, ", b, w, c, b * w * c / 4, cycles);
    $display("dumped (%0d, %0d, %0d): %0d of %0d elements right", w, b, c, good, b * w * c);
    wrong += b * w * c - good;

    given.destroy();
    moved.destroy();
    src_tiles.destroy();
    dst_tiles.destroy();
  endtask

  initial begin
    repeat (2) @(negedge clk);
    rst_n = 1'b1;

    move(1, 1, 4);
    move(2, 3, 8);
    move(4, 5, 12);
    move(3, 7, 64);
    move(16, 1, 20);
    move(8, 32, 64);

    if (wrong != 0) $fatal(1, "%0d elements are wrong", wrong);
    $display("tile mover: all elements right");
    $finish;
  end
endmodule
