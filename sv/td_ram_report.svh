// Called by td_ram when an access has failed: finds out why, and reports it through td_reporter. It is a class of its
// own so that simulators keep its strings out of the code that runs in every cycle.
class td_ram_report;
  static function void failed(input longint unsigned handle, input string port, input longint unsigned address);
    string      message;
    td_status_e status;
    status = td_status_e'(td_dpi_pkg::td_dpi_ram_explain(handle, port, address, message));
    // As C saw it, the address is inside the memory: some of its bits were x or z, which DPI passes as 0.
    if (status == TD_OK) begin
      status = TD_RANGE;
      message = $sformatf("td_ram: %s address is unknown; drive it while the port is selected", port);
    end
    td_reporter::report(status, message);
  endfunction
endclass
