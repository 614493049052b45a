// Memories in the design of every width from 1 to 130 bits and some wider ones: what a tensor of single bits puts into
// the array is compared bit by bit with the tensor, in both directions.
`include "td_macros.svh"

module widths_ram #(
  parameter int unsigned Width = 1
);
  logic [Width-1:0] mem[0:4];
endmodule

package widths_pkg;
  import td_pkg::*;
  import tap_pkg::*;

  // Single bits of one array, so that the test itself is written, and compiled, once.
  class widths_probe;
    virtual function bit get(input int a, input int b);
      return 1'(a + b);
    endfunction
    virtual function void set(input int a, input int b, input bit value);
    endfunction
  endclass

  class widths_test;
    // How many bits of words 1 to 3 differ from the tensor.
    static function int differences(input widths_probe probe, input td_tensor tensor, input int width);
      int count;
      count = 0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < width; b++)
          if (probe.get(3 - a, b) != 1'(tensor.get_bits(64'(a) * 64'(width) + 64'(b)))) count++;
      return count;
    endfunction

    // Words 1 to 3, so that the outer ones have to stay.
    static function void run(input widths_probe probe, input td_memory memory);
      td_tensor tensor;
      td_layout layout;
      int       width;
      bit       stayed;
      width = int'(memory.width());
      tensor = td_tensor::create("u1", $sformatf("3 %0d", width));
      layout = td_layout::create("a b -> a b", "", "3 - a");
      for (int a = 0; a < 5; a++) for (int b = 0; b < width; b++) probe.set(a, b, 1'b1);
      tensor.fill_random(64'(width));
      memory.backdoor_load_tensor(tensor, layout);
      stayed = 1'b1;
      for (int b = 0; b < width; b++) stayed = stayed && probe.get(0, b) && probe.get(4, b);
      ok(differences(probe, tensor, width) == 0 && stayed, $sformatf("%0d bits: loaded", width));
      for (int a = 0; a < 5; a++)
        for (int b = 0; b < width; b++) probe.set(a, b, probe.get(a, b) ^ (b % 3 == a % 3));
      memory.backdoor_dump_tensor(tensor, layout);
      ok(differences(probe, tensor, width) == 0, $sformatf("%0d bits: dumped", width));
      tensor.destroy();
      layout.destroy();
      memory.destroy();
    endfunction
  endclass
endpackage

`define ONE_WIDTH(W) \
  widths_ram #(.Width(W)) u_``W (); \
  `TD_MEM_CLASS(mem_``W, tb_widths.u_``W.mem, W) \
  class probe_``W extends widths_probe; \
    virtual function bit get(input int a, input int b); \
      return tb_widths.u_``W.mem[a][b]; \
    endfunction \
    virtual function void set(input int a, input int b, input bit value); \
      tb_widths.u_``W.mem[a][b] = value; \
    endfunction \
    static function void run(); \
      probe_``W    own; \
      widths_probe probe; \
      td_memory    memory; \
      own = new; \
      probe = own; \
      memory = mem_``W::create(); \
      widths_test::run(probe, memory); \
    endfunction \
  endclass

`define NINE_WIDTHS(T) \
  `ONE_WIDTH(T``1) `ONE_WIDTH(T``2) `ONE_WIDTH(T``3) `ONE_WIDTH(T``4) `ONE_WIDTH(T``5) \
  `ONE_WIDTH(T``6) `ONE_WIDTH(T``7) `ONE_WIDTH(T``8) `ONE_WIDTH(T``9)

`define RUN_NINE(T) \
  probe_``T``1::run(); probe_``T``2::run(); probe_``T``3::run(); probe_``T``4::run(); probe_``T``5::run(); \
  probe_``T``6::run(); probe_``T``7::run(); probe_``T``8::run(); probe_``T``9::run();

module tb_widths;
  import td_pkg::*;
  import tap_pkg::*;
  import widths_pkg::*;

  `NINE_WIDTHS()
  `NINE_WIDTHS(1)
  `NINE_WIDTHS(2)
  `NINE_WIDTHS(3)
  `NINE_WIDTHS(4)
  `NINE_WIDTHS(5)
  `NINE_WIDTHS(6)
  `NINE_WIDTHS(7)
  `NINE_WIDTHS(8)
  `NINE_WIDTHS(9)
  `NINE_WIDTHS(10)
  `NINE_WIDTHS(11)
  `NINE_WIDTHS(12)
  `ONE_WIDTH(10) `ONE_WIDTH(20) `ONE_WIDTH(30) `ONE_WIDTH(40) `ONE_WIDTH(50) `ONE_WIDTH(60) `ONE_WIDTH(70)
  `ONE_WIDTH(80) `ONE_WIDTH(90) `ONE_WIDTH(100) `ONE_WIDTH(110) `ONE_WIDTH(120) `ONE_WIDTH(130) `ONE_WIDTH(255)
  `ONE_WIDTH(256) `ONE_WIDTH(257) `ONE_WIDTH(312) `ONE_WIDTH(1000) `ONE_WIDTH(4096)

  initial begin
    `RUN_NINE()
    `RUN_NINE(1)
    `RUN_NINE(2)
    `RUN_NINE(3)
    `RUN_NINE(4)
    `RUN_NINE(5)
    `RUN_NINE(6)
    `RUN_NINE(7)
    `RUN_NINE(8)
    `RUN_NINE(9)
    `RUN_NINE(10)
    `RUN_NINE(11)
    `RUN_NINE(12)
    probe_10::run(); probe_20::run(); probe_30::run(); probe_40::run(); probe_50::run(); probe_60::run();
    probe_70::run(); probe_80::run(); probe_90::run(); probe_100::run(); probe_110::run(); probe_120::run();
    probe_130::run(); probe_255::run(); probe_256::run(); probe_257::run(); probe_312::run();
    probe_1000::run(); probe_4096::run();
    finish();
  end
endmodule
