// Memories inside the design, one line each, where `import td_pkg::*;` holds:
//
//   `TD_MEM_CLASS(wbuf_mem, tb.dut.u_wbuf.mem, 128)          logic [127:0] mem [0:1023], or any other range
//   `TD_MEM_CLASS_2D(tile_mem, tb.dut.u_tile.mem, 32)        logic [31:0] mem [4][256]
//   `TD_MEM_CLASS_AT(way_mem, tb.dut.u_tag.way[at % 2].tag[at / 2], 20, 512)
//
// and then `td_memory wbuf = wbuf_mem::create("wbuf");`, which is used as any td_memory. The path begins at a top module; the
// element may be any packed type, of two or four states; the width is that of an element.
//
// Word 0 is the element with the lowest index, whichever way the range is written: mem[8:15] and mem[15:8] have words 0
// to 7, and word 0 is mem[8]. In two dimensions the right one runs fastest. With TD_MEM_CLASS_AT the word with number
// `at` is any expression that can be assigned to.
`ifndef TD_MACROS_SVH
`define TD_MACROS_SVH

`define TD_MEM_CLASS(NAME, PATH, WIDTH) \
  `TD_MEM_CLASS_AT(NAME, PATH[$low(PATH)+at], WIDTH, $size(PATH))

`define TD_MEM_CLASS_2D(NAME, PATH, WIDTH) \
  `TD_MEM_CLASS_AT(NAME, PATH[$low(PATH, 1)+at/$size(PATH, 2)][$low(PATH, 2)+at%$size(PATH, 2)], WIDTH, \
                   $size(PATH, 1) * $size(PATH, 2))

// The loops stand here because only here the path is known. Runs with a step of 0 are lists, each word behind its address. `collect` and `deposit` cost nothing for x and z where the
// simulator has two states; the functions with `unknown` in their names run where it has seen one.
`define TD_MEM_CLASS_AT(NAME, WORD, WIDTH, DEPTH) \
  /* verilator lint_save */ \
  /* verilator lint_off DECLFILENAME */ \
  /* verilator lint_off UNUSEDSIGNAL */ \
  class NAME extends td_mem; \
    localparam int unsigned Per = ((WIDTH) + 31) / 32; \
 \
    function new(input string name, input longint unsigned handle); \
      super.new(name, 64'(WIDTH), 64'(DEPTH), handle); \
    endfunction \
 \
    static function td_memory create(input string name = `"NAME`"); \
      td_memory   memory; \
      string      message; \
      td_status_e status; \
      status = try_create(name, memory, message); \
      if (status != TD_OK) td_reporter::report(status, message); \
      return memory; \
    endfunction \
 \
    static function td_status_e try_create(input string name, output td_memory memory, output string message); \
      longint unsigned handle; \
      td_status_e      status; \
      NAME             made; \
      int              at; \
      at = 0; \
      memory = null; \
      status = make_copy(name, 64'(WIDTH), 64'($bits(WORD)), 64'(DEPTH), handle, message); \
      if (status != TD_OK) return status; \
      made = new(name, handle); \
      memory = made; \
      return status; \
    endfunction \
 \
    virtual function int collect(); \
      bit [Per*32-1:0] word; \
      bit              unknown; \
      int              runs; \
      int              count; \
      int              step; \
      int              at; \
      int              c; \
      forever begin \
        runs = td_dpi_pkg::td_dpi_transfer_chunk(handle(), m_borrowed, int'(td_dpi_pkg::BringIn), m_chunk); \
        if (runs <= 0) return -runs; \
        unknown = 1'b0; \
        c = 0; \
        for (int r = 0; r < runs; r++) begin \
          at = int'(m_chunk[c]); \
          count = int'(m_chunk[c+1]); \
          step = int'(m_chunk[c+2]); \
          c += 3; \
          for (int i = 0; i < count; i++) begin \
            if (step == 0) begin \
              at = int'(m_chunk[c]); \
              c += 1; \
            end \
            word = (Per*32)'({WORD}); \
            if ($isunknown(WORD)) unknown = 1'b1; \
            for (int k = 0; k < int'(Per); k++) m_chunk[c+k] = word[k*32+:32]; \
            at += step; \
            c += int'(Per); \
          end \
        end \
        if (unknown) begin \
          runs = collect_unknown(runs); \
          if (runs != 0) return runs; \
        end \
      end \
    endfunction \
 \
    virtual function int deposit(); \
      bit [Per*32-1:0] word; \
      int              runs; \
      int              count; \
      int              step; \
      int              at; \
      int              c; \
      forever begin \
        runs = td_dpi_pkg::td_dpi_transfer_chunk(handle(), m_borrowed, int'(td_dpi_pkg::TakeOut), m_chunk); \
        if (runs <= 0) return -runs; \
        if (runs > 65536) begin \
          runs = deposit_unknown(runs - 65536); \
          if (runs != 0) return runs; \
          continue; \
        end \
        c = 0; \
        for (int r = 0; r < runs; r++) begin \
          at = int'(m_chunk[c]); \
          count = int'(m_chunk[c+1]); \
          step = int'(m_chunk[c+2]); \
          c += 3; \
          for (int i = 0; i < count; i++) begin \
            if (step == 0) begin \
              at = int'(m_chunk[c]); \
              c += 1; \
            end \
            for (int k = 0; k < int'(Per); k++) word[k*32+:32] = m_chunk[c+k]; \
            WORD = (WIDTH)'(word); \
            at += step; \
            c += int'(Per); \
          end \
        end \
      end \
    endfunction \
 \
    local function int collect_unknown(input int runs); \
      logic [(WIDTH)-1:0] word; \
      int                 bits; \
      int                 count; \
      int                 step; \
      int                 at; \
      int                 c; \
      c = 0; \
      bits = int'(width()); \
      for (int r = 0; r < runs; r++) begin \
        at = int'(m_chunk[c]); \
        count = int'(m_chunk[c+1]); \
        step = int'(m_chunk[c+2]); \
        c += 3; \
        for (int i = 0; i < count; i++) begin \
          if (step == 0) begin \
            at = int'(m_chunk[c]); \
            c += 1; \
          end \
          word = WORD; \
          for (int k = 0; k < int'(Per); k++) m_mask[c+k] = 32'd0; \
          for (int b = 0; b < bits; b++) m_mask[c+b/32][b%32] = $isunknown(word[b]); \
          at += step; \
          c += int'(Per); \
        end \
      end \
      return -td_dpi_pkg::td_dpi_transfer_chunk(handle(), m_borrowed, int'(td_dpi_pkg::UnknownIn), m_mask); \
    endfunction \
 \
    local function int deposit_unknown(input int runs); \
      logic [(WIDTH)-1:0] word; \
      int                 bits; \
      int                 count; \
      int                 step; \
      int                 at; \
      int                 c; \
      int                 status; \
      status = td_dpi_pkg::td_dpi_transfer_chunk(handle(), m_borrowed, int'(td_dpi_pkg::UnknownOut), m_mask); \
      if (status < 0) return -status; \
      c = 0; \
      bits = int'(width()); \
      for (int r = 0; r < runs; r++) begin \
        at = int'(m_chunk[c]); \
        count = int'(m_chunk[c+1]); \
        step = int'(m_chunk[c+2]); \
        c += 3; \
        for (int i = 0; i < count; i++) begin \
          if (step == 0) begin \
            at = int'(m_chunk[c]); \
            c += 1; \
          end \
          word = WORD; \
          for (int b = 0; b < bits; b++) if (!m_mask[c+b/32][b%32]) word[b] = m_chunk[c+b/32][b%32]; \
          WORD = word; \
          at += step; \
          c += int'(Per); \
        end \
      end \
      return 0; \
    endfunction \
  endclass \
  /* verilator lint_restore */

`endif
