// Figures, not a test: what a word costs on its way into an array of the design and out of it, beside the plain chunk
// loop of the same words and beside $readmemh. `meson test --benchmark` runs it; each figure is the best of several
// rounds.
`include "td_macros.svh"

module bench_ram #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 1024
);
  logic [Width-1:0] mem[0:Depth-1];
endmodule

package bench_mem_pkg;
  import td_pkg::*;

  import "DPI-C" function real bench_seconds();
  import "DPI-C" function void bench_chunk(
    input int        first,
    inout bit [31:0] chunk[0:511]
  );

  // A loop over one array; what follows it is written once.
  class plain_loop;
    td_dpi_pkg::chunk_t chunk;

    virtual function void run(input int words, input int step);
    endfunction
  endclass

  class figures;
    static function real smaller(input real a, input real b);
      return a < b ? a : b;
    endfunction

    // Word r of `words` at address step*r; or, when `mixed`, at step*(r ^ 5), where no run is longer than two.
    static function void place(input td_memory memory, input plain_loop plain, input longint unsigned words,
                               input longint unsigned step, input bit mixed);
      td_tensor tensor;
      td_layout layout;
      string    order;
      real      from;
      real      load_s;
      real      dump_s;
      real      plain_s;
      tensor = td_tensor::create("u32", $sformatf("%0d %0d", words, (memory.width() + 31) / 32));
      layout = td_layout::create("r c -> r c", "", mixed ? $sformatf("%0d*(r ^ 5)", step) : $sformatf("%0d*r", step));
      order = "";
      if (mixed) order = " in another order";
      tensor.fill_random(1);
      load_s = 1.0e9;
      dump_s = 1.0e9;
      plain_s = 1.0e9;
      for (int r = 0; r < 7; r++) begin
        from = bench_seconds();
        plain.run(int'(words), int'(step));
        plain_s = smaller(plain_s, bench_seconds() - from);
        from = bench_seconds();
        memory.backdoor_load_tensor(tensor, layout);
        load_s = smaller(load_s, bench_seconds() - from);
        from = bench_seconds();
        memory.backdoor_dump_tensor(tensor, layout);
        dump_s = smaller(dump_s, bench_seconds() - from);
      end
      $display("%0d bits, every %0d. word%s, %0d words: load %0.1f ns, dump %0.1f ns, the plain loop %0.1f ns a word",
               memory.width(), step, order, words, load_s * 1.0e9 / words, dump_s * 1.0e9 / words,
               plain_s * 1.0e9 / words);
      tensor.destroy();
      layout.destroy();
    endfunction

    // The middle one of nine rounds, in ms.
    static function void middle(input td_memory memory, input td_tensor tensor, input td_layout layout,
                                output real load_ms, output real dump_ms);
      real load_times[$];
      real dump_times[$];
      real from;
      for (int r = 0; r < 9; r++) begin
        from = bench_seconds();
        memory.backdoor_load_tensor(tensor, layout);
        load_times.push_back((bench_seconds() - from) * 1.0e3);
        from = bench_seconds();
        memory.backdoor_dump_tensor(tensor, layout);
        dump_times.push_back((bench_seconds() - from) * 1.0e3);
      end
      load_times.sort();
      dump_times.sort();
      load_ms = load_times[4];
      dump_ms = dump_times[4];
    endfunction

    // Bytes as C stores an array, beside the same bytes as words: 4 MiB where the memory is as large. `at` is the bit
    // where the array begins.
    static function void flat(input td_memory memory, input longint unsigned bytes, input int at);
      td_tensor array;
      td_tensor words;
      td_layout flat_layout;
      td_layout rows;
      real      flat_load, flat_dump, word_load, word_dump;
      array = td_tensor::create("i8", $sformatf("%0d", bytes));
      words = td_tensor::create("u32", $sformatf("%0d 1", bytes / 4));
      flat_layout = td_layout::create("... -> (...)", $sformatf("lsb=%0d", at));
      rows = td_layout::create("r c -> r c");
      array.fill_random(3);
      words.fill_random(3);
      middle(memory, words, rows, word_load, word_dump);
      middle(memory, array, flat_layout, flat_load, flat_dump);
      $display("%0d bytes, flat from bit %0d: load %0.2f ms, dump %0.2f ms; as words %0.2f and %0.2f", bytes, at,
               flat_load, flat_dump, word_load, word_dump);
      array.destroy();
      words.destroy();
      flat_layout.destroy();
      rows.destroy();
    endfunction

    // The words that a load of all of them wrote, as text.
    static function real load_all(input td_memory memory, input string path);
      td_tensor tensor;
      td_layout layout;
      real      from;
      real      best;
      tensor = td_tensor::create("u32", $sformatf("%0d %0d", memory.depth(), (memory.width() + 31) / 32));
      layout = td_layout::create("r c -> r c");
      tensor.fill_random(2);
      best = 1.0e9;
      for (int r = 0; r < 3; r++) begin
        from = bench_seconds();
        memory.backdoor_load_tensor(tensor, layout);
        best = smaller(best, bench_seconds() - from);
      end
      memory.save_file(path);
      tensor.destroy();
      layout.destroy();
      return best;
    endfunction
  endclass
endpackage

`define BENCH(W, D) \
  bench_ram #(.Width(W), .Depth(D)) u_``W (); \
  `TD_MEM_CLASS(mem_``W, bench_mem.u_``W.mem, W) \
  class plain_``W extends plain_loop; \
    virtual function void run(input int words, input int step); \
      bit [W-1:0] word; \
      int         at; \
      at = 0; \
      for (int first = 0; first < words; first += 512 / (W / 32)) begin \
        bench_chunk(first * (W / 32), chunk); \
        for (int i = 0; i < 512 / (W / 32); i++) begin \
          for (int k = 0; k < W / 32; k++) word[k*32+:32] = chunk[i*(W/32)+k]; \
          bench_mem.u_``W.mem[at] = word; \
          at += step; \
        end \
      end \
    endfunction \
  endclass \
  task automatic run_``W(); \
    td_memory  memory; \
    plain_``W  own; \
    plain_loop plain; \
    real       back_door_s; \
    real       from; \
    real       text_s; \
    memory = mem_``W::create(); \
    own = new; \
    plain = own; \
    figures::place(memory, plain, D, 1, 1'b0); \
    figures::place(memory, plain, D / 8, 8, 1'b0); \
    figures::place(memory, plain, D / 8, 8, 1'b1); \
    back_door_s = figures::load_all(memory, `"bench_``W.hex`"); \
    from = bench_seconds(); \
    $readmemh(`"bench_``W.hex`", u_``W.mem); \
    text_s = bench_seconds() - from; \
    $display("%0d bits: $readmemh of %0d words takes %0.0f times as long as the load", W, D, text_s / back_door_s); \
    memory.destroy(); \
  endtask

module bench_mem;
  import td_pkg::*;
  import bench_mem_pkg::*;

  `BENCH(32, 1048576)
  `BENCH(128, 1048576)
  `BENCH(512, 262144)

  task automatic run_flat();
    td_memory memory;
    memory = mem_32::create();
    figures::flat(memory, 4194304, 0);
    figures::flat(memory, 4194304 - 64, 8 * 20);
    figures::flat(memory, 4194304 - 64, 8 * 21);
    figures::flat(memory, 4194304 - 64, 4);
    memory.destroy();
  endtask

  initial begin
    run_flat();
    run_32();
    run_128();
    run_512();
    $finish;
  end
endmodule
