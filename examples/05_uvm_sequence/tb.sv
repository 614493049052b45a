// The tile mover of the first example between its two memories, with a UVM environment at its command port. The first
// memory is a td_ram, the second an array of the design, and the environment cannot tell: they go there by name, as the
// interface does.
`include "td_macros.svh"

module tb;
  import uvm_pkg::*;
  import td_pkg::*;
  import td_uvm_pkg::*;
  import mover_pkg::*;

  logic clk = 1'b0;
  logic rst_n = 1'b0;
  always #5 clk = !clk;
  initial #20 rst_n = 1'b1;

  mover_if command (
    .clk  (clk),
    .rst_n(rst_n)
  );

  logic src_cs_n, src_valid, dst_cs_n;
  logic [11:0] src_addr, dst_addr;
  logic [63:0] src_data, dst_data;

  td_ram #(
    .Width(64),
    .Depth(4096)
  ) u_src (
    .clk_i     (clk),
    .rd_cs_ni  (src_cs_n),
    .rd_addr_i (src_addr),
    .rd_valid_o(src_valid),
    .rd_data_o (src_data),
    .wr_cs_ni  (1'b1),
    .wr_addr_i ('0),
    .wr_data_i ('0),
    .wr_mask_i ('0)
  );

  tile_mover u_mover (
    .clk_i      (clk),
    .rst_ni     (rst_n),
    .start_i    (command.start),
    .n_b_i      (command.n_b),
    .n_w_i      (command.n_w),
    .n_ct_i     (command.n_ct),
    .done_o     (command.done),
    .src_cs_no  (src_cs_n),
    .src_addr_o (src_addr),
    .src_valid_i(src_valid),
    .src_data_i (src_data),
    .dst_cs_no  (dst_cs_n),
    .dst_addr_o (dst_addr),
    .dst_data_o (dst_data)
  );

  sram #(
    .Width(64),
    .Depth(4096)
  ) u_dst (
    .clk_i    (clk),
    .rd_en_i  (1'b0),
    .rd_addr_i('0),
    .rd_data_o(),
    .wr_en_i  (!dst_cs_n),
    .wr_addr_i(dst_addr),
    .wr_data_i(dst_data)
  );
  `TD_MEM_CLASS(dst_mem, tb.u_dst.mem, 64)

  initial begin
    uvm_config_db#(virtual mover_if)::set(null, "*.env.agent.*", "vif", command);
    td_uvm_mem::put("*.env.src", u_src.get_memory());
    td_uvm_mem::put("*.env.dst", dst_mem::create("dst"));
    run_test();
  end
endmodule
