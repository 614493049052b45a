// Where the loud calls send their failures; the try_ twins never come here. Extend it and install an object to send
// them elsewhere (uvm_error, a counter); without one a failure is a $error. Created by the testbench, at most one at a
// time.
class td_reporter;
  local static td_reporter current;

  // The name looks at the low bits of the status only:
  // verilator lint_off UNUSEDSIGNAL
  virtual function void failure(input td_status_e status, input string message);
    $error("%s: %s", status.name(), message);
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // Every loud comparison comes here, with its report in one line.
  virtual function void compared(input bit passed, input string line);
    if (passed) $display("%s", line);
    else $error("%s", line);
  endfunction

  // From now on failures go to this reporter; null brings $error back.
  static function void install(input td_reporter reporter);
    current = reporter;
  endfunction

  // What every loud call does with a failure.
  static function void report(input td_status_e status, input string message);
    if (current == null) current = new;
    current.failure(status, message);
  endfunction

  // What every loud comparison does with its report.
  static function void tell(input bit passed, input string line);
    if (current == null) current = new;
    current.compared(passed, line);
  endfunction
endclass
