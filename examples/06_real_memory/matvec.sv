// y = W * x of int8 into int32, W of 32 rows and 64 columns. All three lie in the scratchpad, eight int8 or two int32
// in a word:
//
//   W   words   0x0 ..  0xff   row r begins at 8*r
//   x   words 0x100 .. 0x107
//   y   words 0x200 .. 0x20f
//
// Raise start for a cycle, wait for done. Every word of W and of x is read once.
module matvec (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        start_i,
  output logic        done_o,
  output logic [31:0] corrected_o,
  output logic        alarm_o,
  output logic [9:0]  alarm_addr_o
);
  typedef enum logic [2:0] {
    Idle,
    LoadX,
    Row,
    Last,   // the last product of a row is added
    Store,
    Done
  } state_e;

  state_e state_q;
  logic [2:0] step_q;    // the word of x, or of the row
  logic [2:0] arrives_q; // the step of the word that arrives now
  logic [4:0] row_q;

  logic        rd;
  logic        valid;
  logic [63:0] word;
  logic [63:0] x_q[8];
  logic signed [31:0] sum_q;
  logic signed [31:0] even_q;  // y of the row before, waiting for its neighbour
  logic signed [31:0] products;

  assign rd = state_q == LoadX || state_q == Row;
  assign done_o = state_q == Done;

  scratchpad u_pad (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .clear_i     (start_i),
    .rd_i        (rd),
    .wr_i        (state_q == Store && row_q[0]),
    .addr_i      (state_q == Store ? {6'b100000, row_q[4:1]} : state_q == LoadX ? {7'b0100000, step_q} :
                  {2'b00, row_q, step_q}),
    .wr_data_i   ({sum_q, even_q}),
    .valid_o     (valid),
    .rd_data_o   (word),
    .corrected_o (corrected_o),
    .alarm_o     (alarm_o),
    .alarm_addr_o(alarm_addr_o)
  );

  always_comb begin
    products = '0;
    for (int i = 0; i < 8; i++)
      products += 32'($signed(word[8*i+:8])) * 32'($signed(x_q[arrives_q][8*i+:8]));
  end

  logic loads_x_q;  // the word that arrives is one of x
  always_ff @(posedge clk_i) begin
    arrives_q <= step_q;
    loads_x_q <= state_q == LoadX;
    if (valid && loads_x_q) x_q[arrives_q] <= word;
    if (state_q == Idle || state_q == Store) sum_q <= '0;
    else if (valid && !loads_x_q) sum_q <= sum_q + products;
    if (state_q == Store && !row_q[0]) even_q <= sum_q;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      step_q <= '0;
      row_q <= '0;
    end else begin
      case (state_q)
        Idle: if (start_i) state_q <= LoadX;
        LoadX: begin
          step_q <= step_q + 1'b1;
          if (step_q == '1) state_q <= Row;
        end
        Row: begin
          step_q <= step_q + 1'b1;
          if (step_q == '1) state_q <= Last;
        end
        Last: state_q <= Store;
        Store: begin
          row_q <= row_q + 1'b1;
          state_q <= row_q == '1 ? Done : Row;
        end
        default: state_q <= Idle;
      endcase
    end
  end
endmodule
