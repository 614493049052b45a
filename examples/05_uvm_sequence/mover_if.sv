// The command port of the tile mover, for the agent: sizes and start in, done out.
interface mover_if (
  input logic clk,
  input logic rst_n
);
  logic        start;
  logic [11:0] n_b;
  logic [11:0] n_w;
  logic [11:0] n_ct;
  logic        done;
endinterface
