// A design that doubles a feature map, (h, w, c) in one memory to (h, w, c) in another, a word of eight channels at a
// time. It has two bugs, each chosen from outside, so that the bench can show what a report says about them:
//   swap_i   it counts the words of the result with h and w in the wrong order
//   stuck_i  lane 5 of the result is stuck at zero
module scaler #(
  parameter int unsigned H = 12,
  parameter int unsigned W = 20,
  parameter int unsigned CT = 4  // words of eight channels
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic swap_i,
  input  logic stuck_i,
  output logic done_o
);

  localparam int unsigned Words = H * W * CT;

  logic [127:0] in_mem [0:Words-1];
  logic [127:0] out_mem[0:Words-1];

  logic [31:0] h_q;
  logic [31:0] w_q;
  logic [31:0] ct_q;
  logic [127:0] doubled;
  logic [31:0] place;

  always_comb begin
    for (int unsigned lane = 0; lane < 8; lane++)
      doubled[16*lane+:16] = in_mem[(h_q*W+w_q)*CT+ct_q][16*lane+:16] << 1;
    if (stuck_i) doubled[5*16+:16] = '0;
    place = swap_i ? (w_q * H + h_q) * CT + ct_q : (h_q * W + w_q) * CT + ct_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      h_q <= '0;
      w_q <= '0;
      ct_q <= '0;
      done_o <= 1'b0;
    end else if (!done_o) begin
      out_mem[place] <= doubled;
      ct_q <= ct_q == CT - 1 ? '0 : ct_q + 1;
      if (ct_q == CT - 1) w_q <= w_q == W - 1 ? '0 : w_q + 1;
      if (ct_q == CT - 1 && w_q == W - 1) h_q <= h_q + 1;
      done_o <= ct_q == CT - 1 && w_q == W - 1 && h_q == H - 1;
    end
  end

endmodule
