// Figures, not a test: sixty small tensors (3x8x8 .. 64x64), one call each, against one program; for a memory of the
// library and for an array of the design. Both ways are run in turns, in processor time, and the ratio is the median of
// the rounds.
`include "td_macros.svh"

module bench_program_ram;
  logic [63:0] mem[0:65535];
endmodule

module bench_program;
  import td_pkg::*;

  import "DPI-C" function real bench_seconds();
  import "DPI-C" function void bench_note(input int row, input real value);
  import "DPI-C" function real bench_median(input int row);

  `TD_MEM_CLASS(bench_mem, bench_program.u_ram.mem, 64)
  bench_program_ram u_ram ();

  // Numbers that Verilator does not know when it compiles, or it would unroll every loop.
  int        tensors;
  int        rounds;
  int        repeats;
  int        way;   // 1: only one by one, 2: only as a program, for a profiler
  string     only;  // +only=design/load: one line
  td_tensor  tensor[$];
  td_layout  place[$];
  td_tensor  back[$];
  td_program infer;

  // 3x8x8, 4x8x12, .., 64x64 of i8: 192 bytes to 4 KiB.
  function automatic string shape_of(input int i);
    case (i % 6)
      0: return "3 8 8";
      1: return "3 16 8";
      2: return "16 16 2";
      3: return "8 8 16";
      4: return "32 8 8";
      default: return "64 8 8";
    endcase
  endfunction

  task automatic make(input td_memory memory);
    int       at;
    string    text;
    string    pattern;
    td_tensor t;
    at = 0;
    tensor = {};
    back = {};
    place = {};
    text = "label load:\n";
    for (int i = 0; i < tensors; i++) begin
      t = td_tensor::create("i8", shape_of(i));
      t.fill_random(64'(i));
      tensor.push_back(t);
      back.push_back(td_tensor::create("i8", shape_of(i)));
      pattern = i % 6 == 2 ? "a (b k) c -> (a b) (k c)" : i % 6 == 3 ? "a b (c k) -> (a b c) k" : "a b c -> (a b) c";
      place.push_back(td_layout::create(pattern, i % 6 == 2 ? "k=4" : i % 6 == 3 ? "k=8" : "",
                                        $sformatf("%0d + index", at)));
      at += int'(t.elems()) / 8;
      text = {text, $sformatf("  load m t%0d l%0d\n", i, i)};
    end
    text = {text, "label test:\n"};
    for (int i = 0; i < tensors; i++)
      if (i < 20) text = {text, $sformatf("  load m t%0d l%0d\n", i, i)};
      else text = {text, $sformatf("  checkpoint c%0d m t%0d l%0d\n", i, i, i)};
    text = {text, "label dump:\n"};
    for (int i = 0; i < tensors; i++) text = {text, $sformatf("  dump m b%0d l%0d\n", i, i)};
    infer = td_program::create(text);
    infer.bind_memory("m", memory);
    for (int i = 0; i < tensors; i++) begin
      infer.bind_tensor($sformatf("t%0d", i), tensor[i]);
      infer.bind_tensor($sformatf("b%0d", i), back[i]);
      infer.bind_layout($sformatf("l%0d", i), place[i]);
    end
    infer.compile();
  endtask

  // The same operations, call by call.
  task automatic call_by_call(input td_memory memory, input string label);
    td_report report;
    for (int i = 0; i < tensors; i++)
      if (label == "dump") memory.backdoor_dump_tensor(back[i], place[i]);
      else if (label == "load" || i < 20) memory.backdoor_load_tensor(tensor[i], place[i]);
      else begin
        string      message;
        td_status_e status;
        status = memory.try_backdoor_compare_tensor(tensor[i], place[i], "", "", report, message);
        if (status != TD_OK || !report.passed()) $fatal(1, "%s", message);
        report.destroy();
      end
  endtask

  task automatic whole(input string label);
    td_checkpoints found;
    string         message;
    td_status_e    status;
    status = infer.try_run(label, "", found, message);
    if (status != TD_OK) $fatal(1, "%s", message);
    if (found != null) begin
      if (!found.passed()) $fatal(1, "%s", found.line());
      found.destroy();
    end
  endtask

  task automatic measure(input string kind, input td_memory memory, input string label, input string what);
    real start, one, all;
    if (only != "" && only != {kind, "/", label}) return;
    call_by_call(memory, "load");
    call_by_call(memory, label);
    whole(label);
    for (int r = 0; r < rounds; r++) begin
      start = bench_seconds();
      for (int k = 0; k < repeats && way != 2; k++) call_by_call(memory, label);
      one = bench_seconds() - start;
      start = bench_seconds();
      for (int k = 0; k < repeats && way != 1; k++) whole(label);
      all = bench_seconds() - start;
      bench_note(0, one / all);
      bench_note(1, one * 1.0e6 / repeats);
      bench_note(2, all * 1.0e6 / repeats);
    end
    $display("%s, %s: %0.2f us one by one, %0.2f us as a program: %0.2f x", kind, what, bench_median(1),
             bench_median(2), bench_median(0));
  endtask

  task automatic all_of(input string kind, input td_memory memory);
    make(memory);
    measure(kind, memory, "load", "60 loads");
    measure(kind, memory, "test", "20 loads and 40 comparisons");
    measure(kind, memory, "dump", "60 dumps");
    infer.destroy();
  endtask

  initial begin
    if (!$value$plusargs("repeats=%d", repeats)) repeats = 20;
    if (!$value$plusargs("rounds=%d", rounds)) rounds = 41;
    if (!$value$plusargs("tensors=%d", tensors)) tensors = 60;
    if (!$value$plusargs("way=%d", way)) way = 0;
    if (!$value$plusargs("only=%s", only)) only = "";
    all_of("library", td_memory::create("m", 64, 65536));
    all_of("design", bench_mem::create("m"));
    $finish;
  end
endmodule
