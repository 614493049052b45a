// The testbench of the bench's group `dpi` (group_dpi.c): does what dpi_bench.c reads from its input, so many times.
module td_bench_dpi;
  import td_pkg::*;

  import "DPI-C" function int td_bench_next(output int work, output longint repetitions);
  import "DPI-C" function void td_bench_start();
  import "DPI-C" function void td_bench_stop(input longint repetitions);
  import "DPI-C" function int td_bench_empty(input int x);

  initial begin
    int work, x;
    longint n;
    longint unsigned hm, ht, hl;
    string message;
    td_memory m, narrow;
    td_tensor one, cube, matrix;
    td_layout single, pixels;
    m = td_memory::create("m", 64, 4096);
    narrow = td_memory::create("narrow", 8, 16);
    one = td_tensor::create("i8", "1");
    cube = td_tensor::create("u8", "3 64 64");
    matrix = td_tensor::create("i16", "1024 4");
    single = td_layout::create("a -> 1 a");
    pixels = td_layout::create("c h (wt ws) -> (h wt c) ws", "ws=8");
    hm = narrow.handle();
    ht = one.handle();
    hl = single.handle();
    x = 0;
    while (td_bench_next(work, n) != 0) begin
      td_bench_start();
      if (work == 0) for (longint i = 0; i < n; i++) x = td_bench_empty(x);
      else if (work == 1) for (longint i = 0; i < n; i++) narrow.backdoor_load_tensor(one, single);
      else if (work == 2) for (longint i = 0; i < n; i++) m.backdoor_load_tensor(cube, pixels);
      else if (work == 3) for (longint i = 0; i < n; i++) m.backdoor_load_matrix(matrix, 0, 1024);
      else for (longint i = 0; i < n; i++) x = td_dpi_pkg::td_dpi_backdoor_load_tensor(hm, ht, hl, "", message);
      td_bench_stop(n);
    end
    $finish;
  end
endmodule
