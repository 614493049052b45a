// Decodes and corrects a word of the scratchpad's code, check bits above the data. The syndrome is the set of check
// bits that do not fit: a wrong data bit gives the set of those that cover it, and no other bit gives the same.
module secded_dec (
  input  logic [38:0] word_i,
  output logic [31:0] data_o,
  output logic        corrected_o,
  output logic        uncorrectable_o
);
  logic [6:0]  check;
  logic [6:0]  syndrome;
  logic [6:0]  covers[32];  // the check bits that cover a data bit
  logic [31:0] wrong;

  secded_enc u_check (
    .data_i (word_i[31:0]),
    .check_o(check)
  );

  for (genvar i = 0; i < 32; i++) begin : gen_bit
    secded_enc u_cover (
      .data_i (32'h1 << i),
      .check_o(covers[i])
    );
    assign wrong[i] = syndrome == covers[i];
  end

  assign syndrome = check ^ word_i[38:32];
  assign data_o = word_i[31:0] ^ wrong;
  assign corrected_o = wrong != '0 || $onehot(syndrome);  // one bit of the syndrome: a check bit was wrong
  assign uncorrectable_o = syndrome != '0 && !corrected_o;
endmodule
