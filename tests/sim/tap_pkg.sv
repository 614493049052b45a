// What the benches share: points in TAP, so that tests/run counts them, and a reporter that keeps what the loud calls
// say.
package tap_pkg;
  import td_pkg::*;

  int points = 0;
  int failures = 0;

  function automatic void ok(input bit good, input string what);
    points++;
    if (good) $display("ok %0d - %s", points, what);
    else $display("not ok %0d - %s", points, what);
    if (!good) failures++;
  endfunction

  function automatic void same(input string found, input string needed, input string what);
    ok(found == needed, what);
    if (found != needed) $display("# found:  %s\n# needed: %s", found, needed);
  endfunction

  // For messages whose end is asserted by the tests of the library.
  function automatic void starts(input string found, input string needed, input string what);
    same(found.len() < needed.len() ? found : found.substr(0, needed.len() - 1), needed, what);
  endfunction

  function automatic void equal(input longint unsigned found, input longint unsigned needed, input string what);
    ok(found == needed, what);
    if (found != needed) $display("# found 0x%0h, needed 0x%0h", found, needed);
  endfunction

  function automatic void refused(input td_status_e found, input td_status_e needed, input string message,
                                  input string text, input string what);
    same($sformatf("%s: %s", found.name(), message), $sformatf("%s: %s", needed.name(), text), what);
  endfunction

  // Ends the bench, with a status that says whether all points were good.
  function automatic void finish();
    $display("1..%0d", points);
    if (failures != 0) $fatal(1, "%0d of %0d points failed", failures, points);
    $finish;
  endfunction

  class recorder extends td_reporter;
    int         count;
    td_status_e status;
    string      message;

    virtual function void failure(input td_status_e status, input string message);
      count++;
      this.status = status;
      this.message = message;
    endfunction

    // A table is no TAP.
    virtual function void mismatches(input string text);
    endfunction

    // Here, because older versions of Verilator do not take an object of an extending class as an argument.
    function void install();
      td_reporter base;
      base = this;
      td_reporter::install(base);
    endfunction

    // The one failure since the last look; "" for none.
    function string take();
      string seen;
      seen = "";
      if (count == 1) seen = $sformatf("%s: %s", status.name(), message);
      if (count > 1) seen = $sformatf("%0d failures", count);
      count = 0;
      return seen;
    endfunction
  endclass
endpackage
