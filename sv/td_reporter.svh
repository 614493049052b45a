// Receives the failures and comparison results of all loud calls, that is, of every call but the try_ twins. To send
// them elsewhere (to uvm_error, to a counter), extend this class and install an object of yours; one is active at a
// time. Unless a derived class overrides it:
//
// A call that fails is a $error. That ends a run of Verilator; other simulators count it and go on.
//
// A comparison that finds a mismatch prints its table and is an error, but does not end the run. Other simulators count
// it as a $error. On Verilator, where a $error would end the run, it is a line of its own instead: the run goes on, its
// last line counts the comparisons that failed, and it exits with status 1.
//
// With +td_stop_on_error, or stop_on_error set to 1, either ends the run at once, on every simulator.
class td_reporter;
  static bit stop_on_error = 1'b0;

  local static td_reporter current;
  local static string      place = "";

  // Gets the status and the message of every loud call that fails. Verilator's name() uses only the low bits of the
  // status:
  // verilator lint_off UNUSEDSIGNAL
  virtual function void failure(input td_status_e status, input string message);
    if (stops()) $fatal(1, "%s: %s", status.name(), message);
    else $error("%s: %s", status.name(), message);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Gets the whole report of a loud comparison that has found a mismatch, before compared() gets its line.
  virtual function void mismatches(input string text);
    $display("%s", text);
  endfunction

  // Gets the one-line report of every loud comparison.
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

  // Makes this the active reporter; null restores the default one.
  static function void install(input td_reporter reporter);
    current = reporter;
  endfunction

  // For TD_AT: messages end with "; called at FILE:LINE" from now on; with a line of 0 they no longer do.
  static function void called_at(input string file, input int line);
    if (line == 0) place = "";
    else place = $sformatf("; called at %s:%0d", file, line);
  endfunction

  // Called by every loud call that fails.
  static function void report(input td_status_e status, input string message);
    if (current == null) current = new;
    current.failure(status, {message, place});
  endfunction

  // Called by every loud comparison with its line; show() is called before that, with the table, when it has found a
  // mismatch.
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
  // A package has no final block, and Verilator's main returns 0 whatever was printed. So an exit handler of C++ prints
  // the count and sets the exit status.
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
