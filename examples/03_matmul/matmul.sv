// C = A * B of int8 into int32 on a systolic array of Side x Side processing elements, tile by tile. Rows of A come
// from the left and columns of B from above, each a cycle after its neighbour; every element keeps its own sum of a
// tile of C.
//
//   activations  A[m][k]   bank m % Side   address (m / Side)*K + k           8 bits
//   weights      B[k][n]   bank n % Side   address (n / Side)*K + k           8 bits
//   results      C[m][n]   bank n % Side   address m*(N / Side) + n / Side   32 bits
//
// The matrices are padded to whole tiles. Set the numbers of tiles and K, raise start for a cycle, wait for done.
module matmul #(
  parameter int unsigned Side  = 8,
  parameter int unsigned Depth = 8192,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  logic [AddrW-1:0] m_tiles_i,
  input  logic [AddrW-1:0] n_tiles_i,
  input  logic [AddrW-1:0] k_i,
  output logic             done_o
);

  typedef enum logic [2:0] {
    Idle,
    Clear,
    Stream,
    Drain,
    Done
  } state_e;

  state_e state_q;
  logic [AddrW-1:0] m_tile_q;
  logic [AddrW-1:0] n_tile_q;
  logic [AddrW:0] step_q;   // of Stream: k of row 0; of Drain: the row

  logic last_step;
  logic last_row;
  logic last_n;
  logic last_m;
  // The last product is added 2*(Side - 1) steps after row 0 has read its last word, and a read takes one.
  assign last_step = step_q == (AddrW + 1)'(k_i) + (AddrW + 1)'(2 * Side);
  assign last_row = step_q == (AddrW + 1)'(Side - 1);
  assign last_n = n_tile_q == n_tiles_i - 1'b1;
  assign last_m = m_tile_q == m_tiles_i - 1'b1;
  assign done_o = state_q == Done;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      m_tile_q <= '0;
      n_tile_q <= '0;
      step_q <= '0;
    end else begin
      case (state_q)
        Idle: if (start_i) state_q <= Clear;
        Clear: begin
          step_q <= '0;
          state_q <= Stream;
        end
        Stream: begin
          step_q <= last_step ? '0 : step_q + 1'b1;
          if (last_step) state_q <= Drain;
        end
        Drain: begin
          step_q <= last_row ? '0 : step_q + 1'b1;
          if (last_row) begin
            n_tile_q <= last_n ? '0 : n_tile_q + 1'b1;
            if (last_n) m_tile_q <= last_m ? '0 : m_tile_q + 1'b1;
            state_q <= last_n && last_m ? Done : Clear;
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  // ---- the banks

  logic signed [7:0] a[Side];
  logic signed [7:0] b[Side];
  logic valid[Side];
  logic signed [31:0] sum[Side][Side];

  for (genvar i = 0; i < int'(Side); i++) begin : gen_bank
    logic [AddrW:0] k;
    logic reads;
    logic valid_q;
    assign k = step_q - (AddrW + 1)'(i);  // before the first one it wraps far above k_i
    assign reads = state_q == Stream && k < (AddrW + 1)'(k_i);
    assign valid[i] = valid_q;
    always_ff @(posedge clk_i) valid_q <= reads;

    sram #(
      .Width(8),
      .Depth(Depth)
    ) u_act (
      .clk_i    (clk_i),
      .rd_en_i  (reads),
      .rd_addr_i(m_tile_q * k_i + k[AddrW-1:0]),
      .rd_data_o(a[i]),
      .wr_en_i  (1'b0),
      .wr_addr_i('0),
      .wr_data_i('0)
    );
    sram #(
      .Width(8),
      .Depth(Depth)
    ) u_wgt (
      .clk_i    (clk_i),
      .rd_en_i  (reads),
      .rd_addr_i(n_tile_q * k_i + k[AddrW-1:0]),
      .rd_data_o(b[i]),
      .wr_en_i  (1'b0),
      .wr_addr_i('0),
      .wr_data_i('0)
    );
    sram #(
      .Width(32),
      .Depth(Depth)
    ) u_res (
      .clk_i    (clk_i),
      .rd_en_i  (1'b0),
      .rd_addr_i('0),
      .rd_data_o(),
      .wr_en_i  (state_q == Drain),
      .wr_addr_i((m_tile_q * AddrW'(Side) + step_q[AddrW-1:0]) * n_tiles_i + n_tile_q),
      .wr_data_i(sum[step_q[$clog2(Side)-1:0]][i])
    );
  end

  // ---- the array

  logic signed [7:0] right[Side][Side+1];
  logic signed [7:0] down[Side+1][Side];
  logic go[Side][Side+1];

  for (genvar i = 0; i < int'(Side); i++) begin : gen_row
    assign right[i][0] = a[i];
    assign down[0][i] = b[i];
    assign go[i][0] = valid[i];
    for (genvar j = 0; j < int'(Side); j++) begin : gen_pe
      pe u_pe (
        .clk_i  (clk_i),
        .clear_i(state_q == Clear),
        .valid_i(go[i][j]),
        .a_i    (right[i][j]),
        .b_i    (down[i][j]),
        .valid_o(go[i][j+1]),
        .a_o    (right[i][j+1]),
        .b_o    (down[i+1][j]),
        .sum_o  (sum[i][j])
      );
    end
  end
endmodule
