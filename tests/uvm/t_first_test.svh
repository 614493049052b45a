// Runs the test that sv/uvm/README.md prints, and checks its reports.
class t_first_test extends first_test;
  `uvm_component_utils(t_first_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void final_phase(input uvm_phase phase);
    uvm_report_server server;
    server = uvm_report_server::get_server();
    super.final_phase(phase);
    equal(64'(server.get_id_count("TD/MATCH")), 1, "the page's test compares");
    equal(64'(server.get_severity_count(UVM_ERROR)), 0, "and finds no difference");
  endfunction
endclass
