// Where the loud calls send their failures and comparisons; the try_ twins never come here. Extend it and install an
// object to send them elsewhere (uvm_error, a counter). Created by the testbench, at most one at a time; without one:
//
// A call that is refused is a $error, which ends a run of Verilator and which other simulators count.
//
// A comparison that finds a mismatch prints its table, and is an error that ends no run. Other simulators count it as a
// $error. As a $error would end a run of Verilator, there it is a line of its own: the run goes on, says at its end how
// many comparisons failed, and exits with status 1.
//
// With +td_stop_on_error, or stop_on_error set, either ends the run at once, on every simulator.
class td_reporter;
  static bit stop_on_error = 1'b0;

  local static td_reporter current;
  local static string      place = "";

  // The name looks at the low bits of the status only:
  // verilator lint_off UNUSEDSIGNAL
  virtual function void failure(input td_status_e status, input string message);
    if (stops()) $fatal(1, "%s: %s", status.name(), message);
    else $error("%s: %s", status.name(), message);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // The whole report of a loud comparison that has found a mismatch, before its line goes to compared().
  virtual function void mismatches(input string text);
    $display("%s", text);
  endfunction

  // Every loud comparison comes here, with its report in one line.
  virtual function void compared(input bit passed, input string line);
    if (passed) $display("%s", line);
    else if (stops()) $fatal(1, "%s", line);
    else begin
`ifdef VERILATOR
      $display("[%0t] %%Error: %s", $time, line);
      fail_at_exit();
`else
      $error("%s", line);
`endif
    end
  endfunction

  // From now on failures go to this reporter; null brings $error back.
  static function void install(input td_reporter reporter);
    current = reporter;
  endfunction

  // From now on failures and comparisons end with "; called at FILE:LINE"; with a line of 0 they do not. For TD_AT.
  static function void called_at(input string file, input int line);
    if (line == 0) place = "";
    else place = $sformatf("; called at %s:%0d", file, line);
  endfunction

  // What every loud call does with a failure.
  static function void report(input td_status_e status, input string message);
    if (current == null) current = new;
    current.failure(status, {message, place});
  endfunction

  // What every loud comparison does with its report, and before that with the table of one that has found a mismatch.
  static function void tell(input bit passed, input string line);
    if (current == null) current = new;
    current.compared(passed, {line, place});
  endfunction

  static function void show(input string text);
    if (current == null) current = new;
    current.mismatches(text);
  endfunction

  local function bit stops();
    return stop_on_error || $test$plusargs("td_stop_on_error") != 0;
  endfunction

`ifdef VERILATOR
  // A package has no final block, and Verilator's main returns 0 whatever was printed: what C++ runs at exit sets the
  // status.
  local function void fail_at_exit();
    $c("static int count = 0;",
       "if (count++ == 0) std::atexit([] {",
       "  std::printf(\"tensordoor: %d comparison%s found a mismatch\\n\", count, count == 1 ? \"\" : \"s\");",
       "  std::fflush(nullptr);",
       "  std::_Exit(1);",
       "});");
  endfunction
`endif
endclass
