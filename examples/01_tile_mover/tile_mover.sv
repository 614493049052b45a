// The design of the tour: it moves a tensor (b, w, c) in one memory to (w, b, c) in another, word by word. A word
// holds one tile of the channels; there are n_ct tiles for each (b, w).
//
//   src word (b*W + w)*CT + ct   ->   dst word (w*B + b)*CT + ct
//
// Set the sizes, raise start for a cycle, wait for done. Each word takes a READ and a WRITE state.
module tile_mover #(
  parameter int unsigned AddrW = 12,
  parameter int unsigned WordW = 64
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             start_i,
  input  logic [AddrW-1:0] n_b_i,
  input  logic [AddrW-1:0] n_w_i,
  input  logic [AddrW-1:0] n_ct_i,
  output logic             done_o,

  output logic             src_cs_no,
  output logic [AddrW-1:0] src_addr_o,
  input  logic             src_valid_i,
  input  logic [WordW-1:0] src_data_i,

  output logic             dst_cs_no,
  output logic [AddrW-1:0] dst_addr_o,
  output logic [WordW-1:0] dst_data_o
);

  typedef enum logic [1:0] {
    Idle,
    Read,
    Write,
    Done
  } state_e;

  state_e state_q;
  logic [AddrW-1:0] b_q;
  logic [AddrW-1:0] w_q;
  logic [AddrW-1:0] ct_q;

  logic last_ct;
  logic last_w;
  logic last_b;
  assign last_ct = ct_q == n_ct_i - 1'b1;
  assign last_w = w_q == n_w_i - 1'b1;
  assign last_b = b_q == n_b_i - 1'b1;

  assign src_cs_no = state_q != Read;
  assign src_addr_o = (b_q * n_w_i + w_q) * n_ct_i + ct_q;

  assign dst_cs_no = !(state_q == Write && src_valid_i);
  assign dst_addr_o = (w_q * n_b_i + b_q) * n_ct_i + ct_q;
  assign dst_data_o = src_data_i;

  assign done_o = state_q == Done;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      b_q <= '0;
      w_q <= '0;
      ct_q <= '0;
    end else begin
      unique case (state_q)
        Idle: if (start_i) state_q <= Read;
        Read: state_q <= Write;
        Write: begin
          ct_q <= last_ct ? '0 : ct_q + 1'b1;
          if (last_ct) w_q <= last_w ? '0 : w_q + 1'b1;
          if (last_ct && last_w) b_q <= last_b ? '0 : b_q + 1'b1;
          state_q <= last_ct && last_w && last_b ? Done : Read;
        end
        Done: state_q <= Idle;
      endcase
    end
  end

endmodule
