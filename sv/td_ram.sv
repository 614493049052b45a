// A RAM with one read and one write port whose words are a td_memory, so that a testbench reaches them through the
// back door: `u_ram.get_memory()` gives the object. Chip selects are active low. A read gives its word and valid one
// cycle later, and the data holds while the port is idle. A write changes all bytes, or with ByteMask = 1 those whose
// mask bit is 1 (mask bit k is bits 8k+7 .. 8k; the last byte may be narrower). A read and a write of one word in one
// cycle: the read gets the old word.
//
// An address past the depth, or an unknown one, is reported as the loud calls of td_pkg are; such a write changes
// nothing and such a read gives x. The storage has two states: x and z are written as 0.
module td_ram
  import td_pkg::*;
#(
  parameter  int unsigned     Width    = 32,
  parameter  longint unsigned Depth    = 1024,
  parameter  bit              ByteMask = 1'b0,
  parameter  string           Name     = "",                           // in messages; "" is the instance's path
  localparam int unsigned     AddrW    = Depth > 1 ? $clog2(Depth) : 1,
  localparam int unsigned     MaskW    = (Width + 7) / 8
) (
  input  logic             clk_i,

  input  logic             rd_cs_ni,
  input  logic [AddrW-1:0] rd_addr_i,
  output logic             rd_valid_o,
  output logic [Width-1:0] rd_data_o,

  input  logic             wr_cs_ni,
  input  logic [AddrW-1:0] wr_addr_i,
  input  logic [Width-1:0] wr_data_i,
  input  logic [MaskW-1:0] wr_mask_i                                   // not looked at unless ByteMask
);

  // Made before any process runs, so that a testbench may use it at time 0.
  td_memory        memory = td_memory::create(Name != "" ? Name : without_top($sformatf("%m")), 64'(Width), Depth);
  longint unsigned handle;
  initial if (memory != null) handle = memory.handle();

  function automatic td_memory get_memory();
    return memory;
  endfunction

  // Older versions of Verilator say TOP.tb where others say tb.
  function automatic string without_top(input string path);
    return path.len() > 4 && path.substr(0, 3) == "TOP." ? path.substr(4, path.len() - 1) : path;
  endfunction

  // A word crosses in one call up to 512 bits, and in parts of 512 bits above.
  localparam int unsigned Parts = (Width + 511) / 512;

  // A word may be narrower than what crosses:
  // verilator lint_off UNUSEDSIGNAL
  function automatic int read_word(input longint unsigned address, output logic [Width-1:0] data);
    int                 status;
    longint unsigned    data64;
    bit [127:0]         data128;
    bit [511:0]         part;
    bit [Parts*512-1:0] wide;
    status = 0;
    if (Width <= 64) begin
      status = td_dpi_pkg::td_dpi_ram_read64(handle, address, data64);
      data = Width'(data64);
    end else if (Width <= 128) begin
      status = td_dpi_pkg::td_dpi_ram_read128(handle, address, data128);
      data = Width'(data128);
    end else if (Width <= 512) begin
      status = td_dpi_pkg::td_dpi_ram_read512(handle, address, 0, part);
      data = Width'(part);
    end else begin
      for (int p = 0; p < int'(Parts) && status == 0; p++) begin
        status = td_dpi_pkg::td_dpi_ram_read512(handle, address, p, part);
        wide[p*512+:512] = part;
      end
      data = Width'(wide);
    end
    return status;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  function automatic int write_word(input longint unsigned address, input logic [Width-1:0] data,
                                    input logic [MaskW-1:0] mask);
    int                 status;
    bit [Parts*512-1:0] wide;
    bit [Parts*64-1:0]  enable;
    status = 0;
    enable = ByteMask ? (Parts*64)'(mask) : '1;
    if (Width <= 64) begin
      status = td_dpi_pkg::td_dpi_ram_write64(handle, address, 64'(data), enable[63:0]);
    end else if (Width <= 128) begin
      status = td_dpi_pkg::td_dpi_ram_write128(handle, address, 128'(data), enable[63:0]);
    end else if (Width <= 512) begin
      status = td_dpi_pkg::td_dpi_ram_write512(handle, address, 0, 512'(data), enable[63:0]);
    end else begin
      wide = (Parts*512)'(data);
      for (int p = 0; p < int'(Parts) && status == 0; p++) begin
        status = td_dpi_pkg::td_dpi_ram_write512(handle, address, p, wide[p*512+:512], enable[p*64+:64]);
      end
    end
    return status;
  endfunction

  logic valid_q = 1'b0;
  assign rd_valid_o = valid_q;

  // One process for both ports: the read comes first.
  always_ff @(posedge clk_i) begin
    automatic logic [Width-1:0] data;
    valid_q <= !rd_cs_ni;
    if (!rd_cs_ni) begin
      if ($isunknown(rd_addr_i) || read_word(64'(rd_addr_i), data) != 0) begin
        td_ram_report::failed(handle, "read", 64'(rd_addr_i));
        data = 'x;
      end
      rd_data_o <= data;
    end
    if (!wr_cs_ni) begin
      if ($isunknown(wr_addr_i) || write_word(64'(wr_addr_i), wr_data_i, wr_mask_i) != 0)
        td_ram_report::failed(handle, "write", 64'(wr_addr_i));
    end
  end

endmodule
