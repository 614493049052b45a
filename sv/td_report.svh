// What a comparison found. Made by the compare calls of td_memory, td_bank_set and td_tensor; freed with destroy. Those
// calls also print one line for each report, as an error when something differs, and write a page for each when
// html_dir is set (in the testbench, or with +td_report=DIR). Their quiet twins `try_` only return the report.
class td_report;
  // The folder for the pages of loud comparisons, which must exist; "" for no pages.
  static string html_dir = "";
  local static int m_pages = 0;

  local longint unsigned m_handle;
  local bit              m_passed;
  local longint unsigned m_compared;
  local longint unsigned m_mismatches;
  local longint unsigned m_pad_mismatches;
  local longint unsigned m_outside_bits;
  local longint unsigned m_worst_ulp;
  local bit [63:0]       m_worst_error;  // as bits: a member of type real breaks Verilator 5.006
  local int              m_first_count;
  local string           m_line;
  local string           m_page;
  local longint unsigned m_time;  // of the comparison

  // Called by the compare calls. With any other handle, later calls fail with TD_HANDLE.
  function new(input longint unsigned handle);
    m_handle = handle;
    m_time = $time;
  endfunction

  // Fetches the numbers once; they never change.
  function td_status_e learn(output string message);
    int              new_passed;
    longint unsigned new_compared;
    longint unsigned new_mismatches;
    longint unsigned new_pad_mismatches;
    longint unsigned new_outside_bits;
    longint unsigned new_worst_ulp;
    real             new_worst_error;
    int              new_first_count;
    string           new_line;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_report_info(m_handle, new_passed, new_compared, new_mismatches,
                                                         new_pad_mismatches, new_outside_bits, new_worst_ulp,
                                                         new_worst_error, new_first_count, new_line, message));
    m_passed = new_passed != 0;
    m_compared = new_compared;
    m_mismatches = new_mismatches;
    m_pad_mismatches = new_pad_mismatches;
    m_outside_bits = new_outside_bits;
    m_worst_ulp = new_worst_ulp;
    m_worst_error = $realtobits(new_worst_error);
    m_first_count = new_first_count;
    m_line = new_line;
    return status;
  endfunction

  // What the loud compare calls do with a report: write its page if pages are wanted, print its table if something
  // differs, and print its line.
  function void announce(input string name);
    string      dir;
    string      path;
    string      message;
    td_status_e status;
    dir = html_dir;
    if (dir == "") begin
      if ($value$plusargs("td_report=%s", path)) dir = path;
    end
    if (dir != "") begin
      path = $sformatf("%s/%0d_%s.html", dir, m_pages, name);
      m_pages++;
      status = try_html(path, message);
      if (status == TD_OK) m_page = path;
      else td_reporter::report(status, message);
    end
    if (!m_passed) td_reporter::show(text());
    if (m_page != "") td_reporter::tell(m_passed, {m_line, "; see ", m_page});
    else td_reporter::tell(m_passed, m_line);
  endfunction

  // Frees the report; the numbers can still be read, other calls fail with TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_report_destroy(m_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  // ---- results

  // 1 when nothing differs.
  function bit passed();
    return m_passed;
  endfunction

  // Number of elements that were compared.
  function longint unsigned compared();
    return m_compared;
  endfunction

  // Number of elements that differ.
  function longint unsigned mismatches();
    return m_mismatches;
  endfunction

  // Number of wrong padding elements; 0 unless the policy has check_pad.
  function longint unsigned pad_mismatches();
    return m_pad_mismatches;
  endfunction

  // Number of bits outside the layout that have changed since the snapshot of the td_comparison; 0 without one.
  function longint unsigned outside_bits();
    return m_outside_bits;
  endfunction

  // The largest distance of a compared pair in steps of the dtype, whether accepted or not.
  function longint unsigned worst_ulp();
    return m_worst_ulp;
  endfunction

  // The largest difference in value of a compared pair, whether accepted or not.
  function real worst_error();
    return $bitstoreal(m_worst_error);
  endfunction

  // Number of mismatches that the report keeps with their place; max=N in the policy limits it.
  function int first_count();
    return m_first_count;
  endfunction

  // The report in one line.
  function string line();
    return m_line;
  endfunction

  // The path of the page that was written for it, or "".
  function string page();
    return m_page;
  endfunction

  // A guess at what the mismatches have in common, number 0 the surest: "all mismatches in lane 3"; "" past the last.
  function string guess(input int number = 0);
    string      text;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_report_guess(m_handle, number, text, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return text;
  endfunction

  // The whole report as text, for a log.
  function string text();
    string      found;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_report_text(m_handle, found, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return found;
  endfunction

  // One of the kept mismatches: its coordinate ("1 0 3"), bits, and place in memory. TD_RANGE past the last.
  function td_status_e try_first(input int number, output string at, output longint unsigned expected,
                                 output longint unsigned actual, output longint unsigned bank,
                                 output longint unsigned address, output int msb, output int lsb,
                                 output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_report_first(m_handle, number, at, expected, actual, bank, address, msb, lsb,
                                                        message));
  endfunction

  // Writes the report as an HTML page that needs no other file.
  function void html(input string path);
    string      message;
    td_status_e status;
    status = try_html(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_html(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_report_html(m_handle, path, $sformatf("%0t", m_time), message));
  endfunction
endclass
