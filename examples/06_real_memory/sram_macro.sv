// One SRAM macro, as a foundry delivers it: rows of bits, one port, and an enable for every bit that is written.
module sram_macro #(
  parameter int unsigned Rows    = 64,
  parameter int unsigned RowBits = 156,
  localparam int unsigned RowW = $clog2(Rows)
) (
  input  logic               clk_i,
  input  logic               en_i,
  input  logic               wr_i,
  input  logic [RowW-1:0]    row_i,
  input  logic [RowBits-1:0] wr_bits_i,
  input  logic [RowBits-1:0] wr_data_i,
  output logic [RowBits-1:0] rd_data_o
);
  logic [RowBits-1:0] rows[0:Rows-1];

  always_ff @(posedge clk_i) begin
    if (en_i && wr_i) rows[row_i] <= (rows[row_i] & ~wr_bits_i) | (wr_data_i & wr_bits_i);
    if (en_i && !wr_i) rd_data_o <= rows[row_i];
  end
endmodule
