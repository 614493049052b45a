// td_ram at many widths: random traffic on both ports against a plain array, the back door into the same words, and
// addresses past the depth.
module ram_tester
  import td_pkg::*;
#(
  parameter int unsigned Width    = 8,
  parameter int unsigned Depth    = 10,
  parameter bit          ByteMask = 1'b1
) (
  input logic clk,
  input tap_pkg::recorder seen
);
  localparam int unsigned AddrW = Depth > 1 ? $clog2(Depth) : 1;
  localparam int unsigned MaskW = (Width + 7) / 8;
  localparam int unsigned Words = (Width + 31) / 32;

  logic rd_cs_n = 1'b1, wr_cs_n = 1'b1, rd_valid;
  logic [AddrW-1:0] rd_addr = '0, wr_addr = '0;
  logic [Width-1:0] rd_data, wr_data = '0;
  logic [MaskW-1:0] wr_mask = '0;

  td_ram #(
    .Width   (Width),
    .Depth   (64'(Depth)),
    .ByteMask(ByteMask)
  ) u_ram (
    .clk_i     (clk),
    .rd_cs_ni  (rd_cs_n),
    .rd_addr_i (rd_addr),
    .rd_valid_o(rd_valid),
    .rd_data_o (rd_data),
    .wr_cs_ni  (wr_cs_n),
    .wr_addr_i (wr_addr),
    .wr_data_i (wr_data),
    .wr_mask_i (wr_mask)
  );

  bit [Width-1:0] model[Depth];

  function automatic void random_bits(output bit [Words*32-1:0] bits);
    for (int unsigned i = 0; i < Words; i++) bits[i*32+:32] = $urandom;
  endfunction

  // The word as a list of 32-bit words, and back.
  function automatic void to_list(input bit [Width-1:0] word, output td_words_t list_words);
    bit [Words*32-1:0] wide;
    wide = (Words*32)'(word);
    list_words = new[Words];
    for (int unsigned i = 0; i < Words; i++) list_words[i] = wide[i*32+:32];
  endfunction

  function automatic void from_list(input td_words_t list_words, output bit [Width-1:0] word);
    bit [Words*32-1:0] wide;
    for (int unsigned i = 0; i < Words; i++) wide[i*32+:32] = list_words[i];
    word = Width'(wide);
  endfunction

  task automatic traffic(output int wrong, output int clashes);
    bit [Words*32-1:0] bits;
    bit [Width-1:0] expected, word;
    bit expect_valid, known;
    td_words_t list_words;
    td_memory memory;
    memory = u_ram.get_memory();
    wrong = 0;
    clashes = 0;
    known = 1'b0;
    expect_valid = 1'b0;
    expected = '0;

    // Half of the words come through the back door before the first clock.
    for (int unsigned a = 0; a < Depth; a++) begin
      random_bits(bits);
      model[a] = a % 2 == 0 ? Width'(bits) : '0;
      to_list(model[a], list_words);
      if (a % 2 == 0) memory.write_word(64'(a), list_words);
    end

    for (int cycle = 0; cycle < 400; cycle++) begin
      @(negedge clk);
      if (rd_valid !== expect_valid) wrong++;
      if (known && rd_data !== expected) wrong++;
      rd_cs_n = $urandom_range(0, 2) == 0;
      wr_cs_n = $urandom_range(0, 2) == 0;
      rd_addr = AddrW'($urandom_range(0, Depth - 1));
      wr_addr = $urandom_range(0, 3) == 0 ? rd_addr : AddrW'($urandom_range(0, Depth - 1));
      random_bits(bits);
      wr_data = Width'(bits);
      for (int unsigned k = 0; k < MaskW; k++) wr_mask[k] = 1'($urandom);
      expect_valid = !rd_cs_n;
      if (!rd_cs_n) begin
        expected = model[rd_addr];
        known = 1'b1;
      end
      if (!wr_cs_n) begin
        for (int unsigned k = 0; k < Width; k++)
          if (!ByteMask || wr_mask[k/8]) model[wr_addr][k] = wr_data[k];
        if (!rd_cs_n && rd_addr == wr_addr) clashes++;
      end
    end
    @(negedge clk);
    rd_cs_n = 1'b1;
    wr_cs_n = 1'b1;
    for (int unsigned a = 0; a < Depth; a++) begin
      memory.read_word(64'(a), list_words);
      from_list(list_words, word);
      if (word != model[a]) wrong++;
    end
  endtask

  task automatic run();
    int wrong, clashes;
    traffic(wrong, clashes);
    tap_pkg::ok(wrong == 0 && clashes > 10,
                $sformatf("width %0d: reads, writes, masks, clashes (%0d) and holds", Width, clashes));
    if (wrong != 0) $display("# %0d wrong", wrong);
    tap_pkg::same(seen.take(), "", $sformatf("width %0d: nothing reported", Width));
  endtask

  function automatic string past(input string port, input string path, input int unsigned address);
    return {$sformatf("TD_RANGE: td_ram \"%s\": %s address 0x%0h is past the memory of ", path, port, address),
            $sformatf("%0d words; the last address is 0x%0h", Depth, Depth - 1)};
  endfunction

  task automatic past_the_end();
    string path;
    td_memory memory;
    memory = u_ram.get_memory();
    path = memory.name();
    @(negedge clk);
    rd_cs_n = 1'b0;
    rd_addr = AddrW'(Depth);
    @(negedge clk);
    rd_cs_n = 1'b1;
    tap_pkg::same(seen.take(), past("read", path, Depth), "read past the depth");
    tap_pkg::ok(rd_valid, "a read past the depth is valid, its data is not");
    @(negedge clk);
    wr_cs_n = 1'b0;
    wr_mask = '1;
    wr_addr = AddrW'(Depth + 1);
    @(negedge clk);
    wr_cs_n = 1'b1;
    tap_pkg::same(seen.take(), past("write", path, Depth + 1), "write past the depth");
    memory.destroy();
    rd_cs_n = 1'b0;
    rd_addr = '0;
    @(negedge clk);
    rd_cs_n = 1'b1;
    tap_pkg::same(seen.take(), $sformatf(
                  "TD_HANDLE: td_ram: the memory with handle 0x%0h was destroyed; use it before, or create another",
                  memory.handle()), "a port after its memory was destroyed");
  endtask
endmodule

module tb_ram;
  import td_pkg::*;

  logic clk = 1'b0;
  always #5 clk = !clk;
  tap_pkg::recorder seen = new;

  ram_tester #(.Width(1), .Depth(2)) u_1 (.clk, .seen);
  ram_tester #(.Width(7)) u_7 (.clk, .seen);
  ram_tester #(.Width(8)) u_8 (.clk, .seen);
  ram_tester #(.Width(17), .ByteMask(1'b0)) u_17 (.clk, .seen);
  ram_tester #(.Width(33)) u_33 (.clk, .seen);
  ram_tester #(.Width(64)) u_64 (.clk, .seen);
  ram_tester #(.Width(65)) u_65 (.clk, .seen);
  ram_tester #(.Width(128), .ByteMask(1'b0)) u_128 (.clk, .seen);
  ram_tester #(.Width(300)) u_300 (.clk, .seen);
  ram_tester #(.Width(512), .Depth(1)) u_512 (.clk, .seen);
  ram_tester #(.Width(2100)) u_2100 (.clk, .seen);

  initial begin
    td_memory memory;
    seen.install();
    memory = u_33.u_ram.get_memory();
    tap_pkg::same(memory.name(), "tb_ram.u_33.u_ram", "a RAM is named after its instance");
    tap_pkg::ok(memory.width() == 33 && memory.depth() == 10,
                "and its memory has the width and depth of the parameters");
    u_1.run();
    u_7.run();
    u_8.run();
    u_17.run();
    u_33.run();
    u_64.run();
    u_65.run();
    u_128.run();
    u_300.run();
    u_512.run();
    u_2100.run();
    u_8.past_the_end();
    u_300.past_the_end();
    tap_pkg::finish();
  end
endmodule
