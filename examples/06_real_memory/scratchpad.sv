// A scratchpad of 1024 words of 64 bits, made as a chip makes one:
//
//   code     each half of a word is 39 bits with its check bits; 78 bits in all
//   slices   the low half lies in macros 0, 2, 4, 6, the high half in 1, 3, 5, 7
//   tiles    words 0..255 lie in macros 0 and 1, words 256..511 in 2 and 3, and so on
//   columns  four words share a row: bit k of word w is bit 4*k + w % 4 of row w / 4
//
// To the testbench that is one line: "(t r p) (s k) -> (t s) r (k p)". A read takes two cycles: valid_o, with the data
// decoded and corrected. Corrected halves are counted; the address of the first word that cannot be corrected is kept.
module scratchpad #(
  localparam int unsigned AddrW = 10
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,  // the count and the alarm
  input  logic             rd_i,
  input  logic             wr_i,
  input  logic [AddrW-1:0] addr_i,
  input  logic [63:0]      wr_data_i,
  output logic             valid_o,
  output logic [63:0]      rd_data_o,
  output logic [31:0]      corrected_o,
  output logic             alarm_o,
  output logic [AddrW-1:0] alarm_addr_o
);
  localparam int unsigned Tiles = 4;
  localparam int unsigned Slices = 2;
  localparam int unsigned Columns = 4;
  localparam int unsigned Bits = 39;
  localparam int unsigned Rows = 64;

  // ---- which word

  logic [1:0] tile;
  logic [5:0] row;
  logic [1:0] column;
  assign {tile, row, column} = addr_i;

  logic             valid_q;
  logic [1:0]       tile_q;
  logic [1:0]       column_q;
  logic [AddrW-1:0] addr_q;
  always_ff @(posedge clk_i) begin
    tile_q <= tile;
    column_q <= column;
    addr_q <= addr_i;
  end

  // ---- the macros

  logic [Slices-1:0][Bits-1:0] coded;                             // of the word that is written
  logic [Columns*Bits-1:0]     spread[Slices];                    // the same, in its column
  logic [Columns*Bits-1:0]     in_column;                         // the bits of the column
  logic [Columns*Bits-1:0]     read[Tiles][Slices];

  for (genvar s = 0; s < int'(Slices); s++) begin : gen_code
    secded_enc u_enc (
      .data_i (wr_data_i[32*s+:32]),
      .check_o(coded[s][38:32])
    );
    assign coded[s][31:0] = wr_data_i[32*s+:32];
  end

  always_comb begin
    in_column = '0;
    for (int s = 0; s < int'(Slices); s++) spread[s] = '0;
    for (int k = 0; k < int'(Bits); k++) begin
      in_column[k*int'(Columns)+int'(column)] = 1'b1;
      for (int s = 0; s < int'(Slices); s++) spread[s][k*int'(Columns)+int'(column)] = coded[s][k];
    end
  end

  for (genvar t = 0; t < int'(Tiles); t++) begin : gen_tile
    for (genvar s = 0; s < int'(Slices); s++) begin : gen_slice
      sram_macro #(
        .Rows   (Rows),
        .RowBits(Columns * Bits)
      ) u_macro (
        .clk_i    (clk_i),
        .en_i     ((rd_i || wr_i) && int'(tile) == t),
        .wr_i     (wr_i),
        .row_i    (row),
        .wr_bits_i(in_column),
        .wr_data_i(spread[s]),
        .rd_data_o(read[t][s])
      );
    end
  end

  // ---- the word that was read

  logic [Slices-1:0] corrected;
  logic [Slices-1:0] uncorrectable;

  for (genvar s = 0; s < int'(Slices); s++) begin : gen_decode
    logic [Bits-1:0] half;
    always_comb for (int k = 0; k < int'(Bits); k++) half[k] = read[tile_q][s][k*int'(Columns)+int'(column_q)];
    secded_dec u_dec (
      .word_i         (half),
      .data_o         (rd_data_o[32*s+:32]),
      .corrected_o    (corrected[s]),
      .uncorrectable_o(uncorrectable[s])
    );
  end

  assign valid_o = valid_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      corrected_o <= '0;
      alarm_o <= 1'b0;
      alarm_addr_o <= '0;
    end else begin
      valid_q <= rd_i;
      if (clear_i) begin
        corrected_o <= '0;
        alarm_o <= 1'b0;
      end else if (valid_q) begin
        corrected_o <= corrected_o + 32'(corrected[0]) + 32'(corrected[1]);
        if (uncorrectable != '0 && !alarm_o) begin
          alarm_o <= 1'b1;
          alarm_addr_o <= addr_q;
        end
      end
    end
  end
endmodule
