// A processing element: it adds the product of what comes from the left and from above to its sum, and hands both on.
module pe (
  input  logic               clk_i,
  input  logic               clear_i,
  input  logic               valid_i,   // with a_i and b_i
  input  logic signed [ 7:0] a_i,
  input  logic signed [ 7:0] b_i,
  output logic               valid_o,
  output logic signed [ 7:0] a_o,
  output logic signed [ 7:0] b_o,
  output logic signed [31:0] sum_o
);
  always_ff @(posedge clk_i) begin
    valid_o <= valid_i && !clear_i;
    a_o <= a_i;
    b_o <= b_i;
    if (clear_i) sum_o <= '0;
    else if (valid_i) sum_o <= sum_o + 32'(a_i) * 32'(b_i);
  end
endmodule
