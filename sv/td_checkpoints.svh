// The comparisons of a run of a td_program, in the order of its text. Made by td_program::run; freed with destroy. The
// loud run also prints one line for all of them, as an error when some differ, and the whole report of the first that
// differs; with td_report::html_dir (or +td_report=DIR) it writes a page with the list.
class td_checkpoints;
  local static int m_pages = 0;

  local longint unsigned m_handle;
  local int              m_count;
  local int              m_failed;
  local int              m_first;
  local string           m_line;
  local string           m_page;

  // Called by td_program. With any other handle, later calls fail with TD_HANDLE.
  function new(input longint unsigned handle, input int count, input int failed, input int first, input string line);
    m_handle = handle;
    m_count = count;
    m_failed = failed;
    m_first = first;
    m_line = line;
  endfunction

  // What the loud run does with them.
  function void announce(input string name);
    string      dir;
    string      path;
    string      message;
    td_status_e status;
    dir = td_report::html_dir;
    if (dir == "") begin
      if ($value$plusargs("td_report=%s", path)) dir = path;
    end
    if (dir != "") begin
      path = $sformatf("%s/%s_%0d.html", dir, name, m_pages);
      m_pages++;
      status = try_html(path, message);
      if (status == TD_OK) m_page = path;
      else td_reporter::report(status, message);
    end
    if (m_failed != 0) td_reporter::show(text());
    if (m_page != "") td_reporter::tell(m_failed == 0, {m_line, "; see ", m_page});
    else td_reporter::tell(m_failed == 0, m_line);
  endfunction

  // Frees them; the numbers can still be read, other calls fail with TD_HANDLE.
  function void destroy();
    string      message;
    td_status_e status;
    if (m_handle == 0) return;
    status = td_status_e'(td_dpi_pkg::td_dpi_checkpoints_destroy(m_handle, message));
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  // ---- results

  // 1 when nothing differs in any of them.
  function bit passed();
    return m_failed == 0;
  endfunction

  // Number of checkpoints.
  function int count();
    return m_count;
  endfunction

  // Number of checkpoints that differ.
  function int failed();
    return m_failed;
  endfunction

  // The number of the first checkpoint that differs, or count() when none does.
  function int first();
    return m_first;
  endfunction

  // All of them in one line.
  function string line();
    return m_line;
  endfunction

  // The path of the page that was written for them, or "".
  function string page();
    return m_page;
  endfunction

  // verilator lint_off UNUSEDSIGNAL
  // The name of a checkpoint, "" past the last.
  function string name(input int number);
    string           found;
    bit              good;
    longint unsigned compared;
    longint unsigned mismatches;
    string           report_line;
    string           message;
    td_status_e      status;
    status = try_at(number, found, good, compared, mismatches, report_line, message);
    if (status != TD_OK) td_reporter::report(status, message);
    return found;
  endfunction

  // One checkpoint: its name, verdict and counts, and its report in one line. TD_RANGE past the last.
  function td_status_e try_at(input int number, output string called, output bit good,
                              output longint unsigned compared, output longint unsigned mismatches,
                              output string report_line, output string message);
    longint unsigned worst_ulp;
    real             worst_error;
    int              all_match;
    int              has;
    real             mean_relative_error;
    real             mse;
    real             cosine;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_checkpoints_at(m_handle, number, called, all_match, compared, mismatches,
                                                            worst_ulp, worst_error, has, mean_relative_error, mse,
                                                            cosine, report_line, message));
    good = all_match != 0;
    return status;
  endfunction

  // The largest distance and difference of one checkpoint, whether accepted or not, and its mean relative error, mean
  // square error and cosine. Every checkpoint of a program has these; of a report that was added, `has` is 0 where its
  // policy had no `stats`.
  function td_status_e try_statistics(input int number, output longint unsigned worst_ulp, output real worst_error,
                                      output bit has, output real mean_relative_error, output real mse,
                                      output real cosine, output string message);
    string           called;
    string           report_line;
    int              good;
    int              has_them;
    longint unsigned compared;
    longint unsigned mismatches;
    td_status_e      status;
    status = td_status_e'(td_dpi_pkg::td_dpi_checkpoints_at(m_handle, number, called, good, compared, mismatches,
                                                            worst_ulp, worst_error, has_them, mean_relative_error, mse,
                                                            cosine, report_line, message));
    has = has_them != 0;
    return status;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

  // ---- reports

  // The whole report of the first that differs, and a table with a line for each.
  function string text();
    return printed(0);
  endfunction

  // All reports as JSON.
  function string json();
    return printed(1);
  endfunction

  // All reports as JUnit XML, for CI.
  function string junit();
    return printed(2);
  endfunction

  local function string printed(input int what);
    string      found;
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_checkpoints_text(m_handle, what, found, message));
    if (status != TD_OK) td_reporter::report(status, message);
    return found;
  endfunction

  // Writes them as an HTML page that needs no other file, with the list at the left.
  function void html(input string path);
    string      message;
    td_status_e status;
    status = try_html(path, message);
    if (status != TD_OK) td_reporter::report(status, message);
  endfunction

  function td_status_e try_html(input string path, output string message);
    return td_status_e'(td_dpi_pkg::td_dpi_checkpoints_html(m_handle, path, message));
  endfunction
endclass
