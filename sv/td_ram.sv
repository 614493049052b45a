// A RAM with one read and one write port whose words are kept in a td_memory, so that a testbench reaches them through
// the back door: `u_ram.get_memory()` returns that object. Chip selects are active low. Read data and valid come one
// cycle after the read, and the data holds while the port is idle. A write changes all bytes, or with ByteMask = 1
// those whose mask bit is 1 (mask bit k is for bits 8k+7 .. 8k; the last byte may be narrower). When a word is read and
// written in the same cycle, the read returns the old word.
//
// An address past the depth, or with x or z in it, is reported through td_reporter; such a write changes nothing and
// such a read returns x. The storage has two states: x and z are written as 0.
// There are no delays in here, so a `timescale before or after it does not matter:
// verilator lint_off TIMESCALEMOD
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
  input  logic [MaskW-1:0] wr_mask_i                                   // used only with ByteMask = 1
);

  // Created before any process runs, so that a testbench may use it at time 0.
  td_memory        memory = td_memory::create(Name != "" ? Name : without_top($sformatf("%m")), 64'(Width), Depth);
  longint unsigned handle;
  initial if (memory != null) handle = memory.handle();

  function automatic td_memory get_memory();
    return memory;
  endfunction

  // Older versions of Verilator print %m as TOP.tb instead of tb.
  function automatic string without_top(input string path);
    return path.len() > 4 && path.substr(0, 3) == "TOP." ? path.substr(4, path.len() - 1) : path;
  endfunction

  // ---- one DPI call serves both ports, the read first

  // The selected ports, as bits of td_dpi_pkg::ram_port_e; addressed() has only those whose address is free of x and z.
  function automatic int selected();
    return (!rd_cs_ni ? td_dpi_pkg::RamReads : 0) | (!wr_cs_ni ? td_dpi_pkg::RamWrites : 0);
  endfunction

  function automatic int addressed();
    return selected() & ~(($isunknown(rd_addr_i) ? td_dpi_pkg::RamReads : 0) |
                          ($isunknown(wr_addr_i) ? td_dpi_pkg::RamWrites : 0));
  endfunction

  function automatic void report(input int failed);
    if ((failed & td_dpi_pkg::RamReads) != 0) td_ram_report::failed(handle, "read", 64'(rd_addr_i));
    if ((failed & td_dpi_pkg::RamWrites) != 0) td_ram_report::failed(handle, "write", 64'(wr_addr_i));
  endfunction

  logic valid_q;
  initial valid_q = 1'b0;
  always_ff @(posedge clk_i) valid_q <= !rd_cs_ni;
  assign rd_valid_o = valid_q;

  // A word goes to C in the smallest of 64, 128 or 512 bits that holds it, or else in parts of 512 bits. Each size has
  // a process of its own, because a variable shared by them would cost one more copy of the word in every cycle. A word
  // may be narrower than the argument:
  // verilator lint_off UNUSEDSIGNAL
  if (Width <= 64) begin : gen_64
    always_ff @(posedge clk_i) begin
      automatic longint unsigned data;
      automatic int              failed;
      if (selected() != 0) begin
        failed = td_dpi_pkg::td_dpi_ram_cycle64(handle, addressed(), 64'(rd_addr_i), 64'(wr_addr_i), 64'(wr_data_i),
                                                ByteMask ? 64'(wr_mask_i) : '1, data) | (selected() & ~addressed());
        if (!rd_cs_ni) rd_data_o <= Width'(data);
        if ((failed & td_dpi_pkg::RamReads) != 0) rd_data_o <= 'x;
        if (failed != 0) report(failed);
      end
    end
  end else if (Width <= 128) begin : gen_128
    always_ff @(posedge clk_i) begin
      automatic bit [127:0] data;
      automatic int         failed;
      if (selected() != 0) begin
        failed = td_dpi_pkg::td_dpi_ram_cycle128(handle, addressed(), 64'(rd_addr_i), 64'(wr_addr_i), 128'(wr_data_i),
                                                 ByteMask ? 64'(wr_mask_i) : '1, data) | (selected() & ~addressed());
        if (!rd_cs_ni) rd_data_o <= Width'(data);
        if ((failed & td_dpi_pkg::RamReads) != 0) rd_data_o <= 'x;
        if (failed != 0) report(failed);
      end
    end
  end else if (Width <= 512) begin : gen_512
    always_ff @(posedge clk_i) begin
      automatic bit [511:0] data;
      automatic int         failed;
      if (selected() != 0) begin
        failed = td_dpi_pkg::td_dpi_ram_cycle512(handle, addressed(), 64'(rd_addr_i), 64'(wr_addr_i), 0,
                                                 512'(wr_data_i), ByteMask ? 64'(wr_mask_i) : '1, data) |
                 (selected() & ~addressed());
        if (!rd_cs_ni) rd_data_o <= Width'(data);
        if ((failed & td_dpi_pkg::RamReads) != 0) rd_data_o <= 'x;
        if (failed != 0) report(failed);
      end
    end
  end else begin : gen_parts
    localparam int unsigned Parts = (Width + 511) / 512;
    always_ff @(posedge clk_i) begin
      automatic bit [511:0]         part;
      automatic bit [Parts*512-1:0] data;
      automatic bit [Parts*512-1:0] given = (Parts*512)'(wr_data_i);
      automatic bit [Parts*64-1:0]  mask = ByteMask ? (Parts*64)'(wr_mask_i) : '1;
      automatic int                 failed = selected() & ~addressed();
      if (selected() != 0) begin
        for (int p = 0; p < int'(Parts); p++) begin
          failed |= td_dpi_pkg::td_dpi_ram_cycle512(handle, addressed(), 64'(rd_addr_i), 64'(wr_addr_i), p,
                                                    given[p*512+:512], mask[p*64+:64], part);
          data[p*512+:512] = part;
        end
        if (!rd_cs_ni) rd_data_o <= Width'(data);
        if ((failed & td_dpi_pkg::RamReads) != 0) rd_data_o <= 'x;
        if (failed != 0) report(failed);
      end
    end
  end
  // verilator lint_on UNUSEDSIGNAL

endmodule
// verilator lint_on TIMESCALEMOD
