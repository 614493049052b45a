// A memory mover: word src+i of its SRAM goes to word dst+i, n words in all, also where the two ranges overlap. Set the
// three, raise start for a cycle, wait for done. Each word takes a cycle to read and a cycle to write.
module mover #(
  parameter int unsigned Width = 64,
  parameter int unsigned Depth = 1024,
  localparam int unsigned AddrW = $clog2(Depth)
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             start_i,
  input  logic [AddrW-1:0] src_i,
  input  logic [AddrW-1:0] dst_i,
  input  logic [AddrW-1:0] n_i,
  output logic             done_o
);
  typedef enum logic [1:0] {
    Idle,
    Read,
    Write,
    Done
  } state_e;

  state_e state_q;
  logic [AddrW-1:0] count_q;
  logic [AddrW-1:0] offset;
  logic [Width-1:0] data;

  // Downwards from the last word when the destination lies above the source, so that no word is read after it was
  // written.
  assign offset = dst_i > src_i ? n_i - 1'b1 - count_q : count_q;
  assign done_o = state_q == Done;

  sram #(
    .Width(Width),
    .Depth(Depth)
  ) u_sram (
    .clk_i    (clk_i),
    .rd_en_i  (state_q == Read),
    .rd_addr_i(src_i + offset),
    .rd_data_o(data),
    .wr_en_i  (state_q == Write),
    .wr_addr_i(dst_i + offset),
    .wr_data_i(data)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= Idle;
      count_q <= '0;
    end else begin
      unique case (state_q)
        Idle: begin
          count_q <= '0;
          if (start_i) state_q <= n_i == '0 ? Done : Read;
        end
        Read: state_q <= Write;
        Write: begin
          count_q <= count_q + 1'b1;
          state_q <= count_q == n_i - 1'b1 ? Done : Read;
        end
        Done: state_q <= Idle;
      endcase
    end
  end
endmodule
