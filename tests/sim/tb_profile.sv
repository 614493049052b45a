// The profile from SystemVerilog: counts of a script of calls, on a memory of the library and on an array of the
// design, whose chunks cross; texts, files and refusals.
`include "td_macros.svh"

module tb_profile;
  import td_pkg::*;
  import tap_pkg::*;

  logic [63:0] mem[0:1023];
  `TD_MEM_CLASS(profile_mem, tb_profile.mem, 64)

  recorder    seen = new;
  string      message;
  td_status_e status;

  task automatic in_the_library();
    td_memory m;
    td_tensor t;
    td_layout rows;
    m    = td_memory::create("m", 64, 256);
    t    = td_tensor::create("i16", "16 16");
    rows = td_layout::create("r (ct cs) -> (r ct) cs", "cs=4");
    ok(!td_profile::running(), "off at first");
    td_profile::start();
    ok(td_profile::running(), "on");
    repeat (100) m.backdoor_load_tensor(t, rows);
    repeat (3) m.backdoor_dump_tensor(t, rows);
    td_profile::stop();
    m.backdoor_load_tensor(t, rows);
    equal(td_profile::calls("backdoor_load_tensor"), 100, "loads");
    equal(td_profile::bytes("backdoor_load_tensor"), 100 * 512, "bytes of loads");
    equal(td_profile::calls("backdoor_load_tensor/cache/plan"), 1, "one plan");
    equal(td_profile::calls("backdoor_load_tensor/move contiguous"), 100, "moves");
    equal(td_profile::bytes("backdoor_dump_tensor/move contiguous"), 3 * 512, "bytes of dumps");
    equal(td_profile::calls("backdoor_compare_tensor"), 0, "what was not called");
    ok(td_profile::total_ns("backdoor_load_tensor") > td_profile::self_ns("backdoor_load_tensor"), "self is in total");
    starts(td_profile::text(), "tensordoor profile: ", "the table");
    starts(td_profile::json(), "{\"version\": ", "JSON");
    starts(td_profile::trace(), "{\"displayTimeUnit\": ", "the trace");
    td_profile::reset();
    equal(td_profile::calls("backdoor_load_tensor"), 0, "nothing after a reset");
    m.destroy();
    t.destroy();
  endtask

  // 1024 words of 64 bits are 2048 of 32: chunks of 512 with heads, in which 254 words fit.
  task automatic in_the_design();
    td_memory m;
    td_tensor t;
    td_layout rows;
    m    = profile_mem::create("mem");
    t    = td_tensor::create("i16", "1024 4");
    rows = td_layout::create("r c -> r c");
    td_profile::start();
    m.backdoor_load_tensor(t, rows);
    td_profile::stop();
    ok(td_profile::calls("transfer_out") > 4, "chunks leave");
    equal(td_profile::bytes("transfer_out"), 8192, "with all words");
    equal(td_profile::calls("DPI crossing"), td_profile::calls("transfer_out") - 1, "the loop between is a crossing");
    equal(td_profile::bytes("DPI crossing"), 8192, "of the same words");
    ok(td_profile::self_ns("DPI crossing") > 0.0, "which takes time");
    td_profile::reset();
    t.destroy();
  endtask

  task automatic refusals();
    status = td_profile::try_start(message, "fast");
    refused(status, TD_ARGUMENT, message, "profile_start: unknown mode \"fast\"; pass \"steps\" or \"trace\"",
            "an unknown mode");
    td_profile::start("fast");
    same(seen.take(), "TD_ARGUMENT: profile_start: unknown mode \"fast\"; pass \"steps\" or \"trace\"", "and loud");
    status = td_profile::try_save("", message);
    refused(status, TD_ARGUMENT, message, "profile_save: no file; pass a path, or \"trace:\" and a path", "no file");
    equal(td_profile::calls(""), 0, "no path");
    same(seen.take(), "TD_ARGUMENT: profile_count: no path; pass one", "is loud");
  endtask

  initial begin
    seen.install();
    in_the_library();
    in_the_design();
    refusals();
    td_profile::print();  // no TD_PROFILE here, and nothing is printed
    finish();
  end
endmodule
