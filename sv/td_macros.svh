// One line for each memory inside the design, in a scope that has `import td_pkg::*;`:
//
//   `TD_MEM_CLASS(wbuf_mem, tb.dut.u_wbuf.mem, 128)          logic [127:0] mem [0:1023], or any other range
//   `TD_MEM_CLASS_2D(tile_mem, tb.dut.u_tile.mem, 32)        logic [31:0] mem [4][256]
//   `TD_MEM_CLASS_AT(way_mem, tb.dut.u_tag.way[at % 2].tag[at / 2], 20, 512)
//
// defines a class; `td_memory wbuf = wbuf_mem::create("wbuf");` then makes an object that is used like any td_memory.
// The path must begin at a top module. Any other path does not compile, because in a module with several instances it
// would silently reach only one of them. The element may be any packed type, of two or four states; the last argument
// is its width in bits.
//
// Word 0 is the element with the lowest index, whichever way the range is written: mem[8:15] and mem[15:8] both have
// words 0 to 7, and word 0 is mem[8]. Of two dimensions the right one varies fastest. TD_MEM_CLASS_AT takes any
// expression that can be assigned to as the word with number `at`, and the number of words. With it a dynamic array or
// a queue is
//
//   `TD_MEM_CLASS_AT(list_mem, tb.model.list[at], 32, tb.model.list.size())
//
// and has the size that the array has when the object is made. (TD_MEM_CLASS would ask for $size, which is 0 for such
// arrays on Verilator 5.006.) Of an associative array the words are the elements that the expression names:
//
//   `TD_MEM_CLASS_AT(dram_mem, tb.model.dram[32'h8000_0000+4*at], 32, 4096)
//
// A word may be a field of a struct, as tb.dut.lines[at].data, or a part of an element: tb.dut.mem[at/4][8*(at%4)+:8]
// is a memory of bytes. A word that lies in several arrays is a concatenation, in which every path begins with $root:
//
//   `TD_MEM_CLASS_OF(lanes_mem, {$root.tb.dut.hi[at], $root.tb.dut.lo[at]}, 16, 256)
//
// All memories of a generate loop take two lines. The first stands outside of any module and defines one:
//
//   `TD_BANKS_MODULE(bank_mem, tb.dut.gen_bank[bank].u_sram.mem, 32)
//
// The path has `bank` in place of the number. The second, `bank_mem #(64) u_banks ();`, instantiates it in the
// testbench for banks 0 to 63. `td_bank_set banks = u_banks.create("banks");` is then the set of all of them, in this
// order. Loops in loops are gen_tile[bank/4].gen_slice[bank%4], an array of instances is u_sram[bank]. Such a set is
// also what td_memory::over takes.
//
// To have a message say where the testbench made the call, wrap the call:
//
//   `TD_AT(wbuf.backdoor_load_tensor(weights, rows))
//
// Whatever that call reports ends with "; called at tb.sv:57". It takes a macro: inside a function, and in its default
// arguments, `__FILE__ and `__LINE__ give the place of the function, not that of the call.
`ifndef TD_MACROS_SVH
`define TD_MACROS_SVH

`define TD_AT(CALL) \
  begin \
    td_pkg::td_reporter::called_at(`__FILE__, `__LINE__); \
    CALL; \
    td_pkg::td_reporter::called_at("", 0); \
  end

`define TD_MEM_CLASS(NAME, PATH, WIDTH) \
  `TD_MEM_CLASS_AT(NAME, PATH[$low($root.PATH)+at], WIDTH, $size($root.PATH))

`define TD_MEM_CLASS_2D(NAME, PATH, WIDTH) \
  `TD_MEM_CLASS_AT(NAME, \
                   PATH[$low($root.PATH, 1)+at/$size($root.PATH, 2)][$low($root.PATH, 2)+at%$size($root.PATH, 2)], \
                   WIDTH, $size($root.PATH, 1) * $size($root.PATH, 2))

// NAME_bank is a module for one bank, whose number is a parameter. That makes the path in its class constant; in a
// class inside a generate loop it would not be. The module enters its bank into td_design_memory's table before any
// process runs.
`define TD_BANKS_MODULE(NAME, PATH, WIDTH) \
  /* verilator lint_save */ \
  /* verilator lint_off DECLFILENAME */ \
  /* verilator lint_off TIMESCALEMOD */ \
  module NAME``_bank #( \
    parameter int bank = 0 \
  ); \
    import td_pkg::*; \
    `TD_MEM_CLASS(bank_class, PATH, WIDTH) \
    function automatic bit found(); \
      bank_class       made; \
      td_design_memory base; \
      made = new(`"NAME`"); \
      base = made; \
      return td_design_memory::list_bank(`"NAME`", bank, base); \
    endfunction \
    bit in_list = found(); \
  endmodule \
 \
  module NAME #( \
    parameter int Banks = 1 \
  ); \
    import td_pkg::*; \
    for (genvar i = 0; i < Banks; i++) begin : gen_bank \
      NAME``_bank #(.bank(i)) u_bank (); \
    end \
    function automatic td_bank_set create(input string name = `"NAME`"); \
      return td_bank_set::from_module(`"NAME`", Banks, name); \
    endfunction \
  endmodule \
  /* verilator lint_restore */

`define TD_MEM_CLASS_AT(NAME, WORD, WIDTH, DEPTH) `TD_MEM_CLASS_OF(NAME, $root.WORD, WIDTH, DEPTH)

// The loops over the words of a run are part of the macro, because one virtual call per word would cost more than
// copying the word. Everything else of the class is in td_design_memory.
`define TD_MEM_CLASS_OF(NAME, WORD, WIDTH, DEPTH) \
  /* verilator lint_save */ \
  /* verilator lint_off DECLFILENAME */ \
  /* verilator lint_off UNDRIVEN */ \
  /* verilator lint_off UNUSEDSIGNAL */ \
  class NAME extends td_design_memory; \
    localparam int unsigned Per = ((WIDTH) + 31) / 32; \
    localparam int unsigned Room = 32 << $clog2(Per); /* bits: no index below needs a check of its bounds */ \
 \
    function new(input string name); \
      int at; \
      super.new(name, 64'(WIDTH), 64'($bits(WORD)), 64'(DEPTH)); \
    endfunction \
 \
    static function td_memory create(input string name = `"NAME`"); \
      NAME made; \
      made = new(name); \
      return made.open(); \
    endfunction \
 \
    static function td_status_e try_create(input string name, output td_memory memory, output string message); \
      NAME made; \
      made = new(name); \
      return made.try_open(memory, message); \
    endfunction \
 \
    virtual function bit collect_run(input int at, input int count, input int step, input int c); \
      bit [Per*32-1:0] word; \
      bit              unknown; \
      unknown = 1'b0; \
      for (int unsigned left = 32'(count); left != 0; left--) begin \
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
      return unknown; \
    endfunction \
 \
    virtual function void deposit_run(input int at, input int count, input int step, input int c); \
      bit [Room-1:0] word; \
      for (int unsigned left = 32'(count); left != 0; left--) begin \
        if (step == 0) begin \
          at = int'(m_chunk[c]); \
          c += 1; \
        end \
        for (int k = 0; k < int'(Per); k++) word[k*32+:32] = m_chunk[c+k]; \
        WORD = (WIDTH)'(word); \
        at += step; \
        c += int'(Per); \
      end \
    endfunction \
 \
    virtual function void collect_word(input int at); \
      logic [Per*32-1:0] word; \
      word = (Per*32)'({WORD}); \
      for (int k = 0; k < int'(Per); k++) m_word[k] = word[k*32+:32]; \
    endfunction \
 \
    virtual function void deposit_word(input int at); \
      logic [Per*32-1:0] word; \
      for (int k = 0; k < int'(Per); k++) word[k*32+:32] = m_word[k]; \
      WORD = (WIDTH)'(word); \
    endfunction \
  endclass \
  /* verilator lint_restore */

`endif
