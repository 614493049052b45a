// The code of the scratchpad: seven check bits for 32 bits of data, one wrong bit corrected, two seen. Check bit j is
// the parity of the data under mask j. td_code calls this code 39_32.
module secded_enc (
  input  logic [31:0] data_i,
  output logic [6:0]  check_o
);
  assign check_o[0] = ^(data_i & 32'h2606bd25);
  assign check_o[1] = ^(data_i & 32'hdeba8050);
  assign check_o[2] = ^(data_i & 32'h413d89aa);
  assign check_o[3] = ^(data_i & 32'h31234ed1);
  assign check_o[4] = ^(data_i & 32'hc2c1323b);
  assign check_o[5] = ^(data_i & 32'h2dcc624c);
  assign check_o[6] = ^(data_i & 32'h98505586);
endmodule
