// Figures, not a test: what a word of 128 bits costs on its way into macros of the design and out of them, beside one
// plain array of the same words: tiles by depth; tiles with a code of two 72_64; tiles, slices, two words in a row, and
// the code. `meson test --benchmark` runs it; each figure is the best of 25 rounds. +only=TEXT takes one of them, for a
// profiler, and +rounds=N makes it longer.
`include "td_macros.svh"

module layers_design;
  logic [127:0] plain[0:65535];
  for (genvar i = 0; i < 8; i++) begin : gen_tile
    logic [127:0] mem[0:8191];
  end
  for (genvar i = 0; i < 8; i++) begin : gen_coded
    logic [143:0] mem[0:8191];
  end
  for (genvar i = 0; i < 8; i++) begin : gen_mixed
    logic [71:0] mem[0:16383];
  end
endmodule

`TD_BANKS_MODULE(tile_mem, bench_layers.u_design.gen_tile[bank].mem, 128)
`TD_BANKS_MODULE(coded_mem, bench_layers.u_design.gen_coded[bank].mem, 144)
`TD_BANKS_MODULE(mixed_mem, bench_layers.u_design.gen_mixed[bank].mem, 72)

module bench_layers;
  import td_pkg::*;
  import "DPI-C" function real bench_seconds();

  layers_design u_design ();
  tile_mem #(8) u_tiles ();
  coded_mem #(8) u_coded ();
  mixed_mem #(8) u_mixed ();
  `TD_MEM_CLASS(plain_mem, bench_layers.u_design.plain, 128)

  localparam int unsigned Words = 65536;
  int    rounds;
  string only;

  task automatic figure(input string what, input td_memory memory);
    td_tensor tensor;
    td_layout rows;
    real      load_ns[$];
    real      dump_ns[$];
    real      start;
    if (only != "" && only != what) return;
    tensor = td_tensor::create("u32", $sformatf("%0d 4", Words));
    rows = td_layout::create("r c -> r c");
    tensor.fill_random(1);
    for (int r = 0; r < rounds; r++) begin
      start = bench_seconds();
      memory.backdoor_load_tensor(tensor, rows);
      load_ns.push_back((bench_seconds() - start) * 1.0e9 / Words);
      start = bench_seconds();
      memory.backdoor_dump_tensor(tensor, rows);
      dump_ns.push_back((bench_seconds() - start) * 1.0e9 / Words);
    end
    load_ns.sort();
    dump_ns.sort();
    $display("%s: load %0.1f ns, dump %0.1f ns a word", what, load_ns[0], dump_ns[0]);
    tensor.destroy();
    rows.destroy();
  endtask

  initial begin
    td_layout tiles, mixed;
    td_code   code;
    td_memory memory, raw;
    if (!$value$plusargs("rounds=%d", rounds)) rounds = 25;
    if (!$value$plusargs("only=%s", only)) only = "";
    tiles = td_layout::create("(t r) k -> t r k", "t=8");
    mixed = td_layout::create("(t r p) (s k) -> (t s) r (k p)", "t=2 s=4 p=2");
    code = td_code::create("72_64", 128);
    memory = plain_mem::create("plain");
    figure("one array", memory);
    memory = td_memory::over("tiles", 128, 65536, tiles, u_tiles.create("tile"));
    figure("tiles", memory);
    raw = td_memory::over("raw", 144, 65536, tiles, u_coded.create("coded"));
    memory = td_memory::coded("coded", code, raw);
    figure("tiles and 72_64", memory);
    raw = td_memory::over("raw", 144, 65536, mixed, u_mixed.create("mixed"));
    memory = td_memory::coded("mixed", code, raw);
    figure("tiles, slices, two in a row and 72_64", memory);
    $finish;
  end
endmodule
