// The base of every test. It catches all reports; the test checks them with `said`; and at the end UVM's own counts
// must equal the number of reports that were checked, so that an unexpected one fails the test.
class t_base extends uvm_test;
  t_catcher seen;
  t_env     env;
  td_tensor act;    // i16 (4, 8), a ramp
  td_layout rows;   // four elements in a word, from word 0x10

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    seen = new;
    uvm_report_cb::add(null, seen);
    act = td_tensor::create("i16", "4 8");
    act.fill_ramp(0, 1);
    rows = td_layout::create("r (ct cs) -> (r ct) cs", "cs=4", "0x10 + index");
    env = t_env::type_id::create("env", this);
  endfunction

  // Checks that exactly this was reported since the last call.
  function void said(input string needed, input string what);
    same(seen.take(), needed, what);
  endfunction

  // Texts that several tests expect.
  function string matched(input string from, input string memory, input string policy = "exact",
                          input string more = "");
    return $sformatf("UVM_INFO %s [TD/MATCH] compare \"%s\"%s with golden i16 (4, 8), policy %s: all 32 elements match",
                     from, memory, more, policy);
  endfunction

  function string too_wide(input string from, input string call);
    return {"UVM_ERROR ", from, " [TD/RANGE] ", call,
            " \"abuf\": the lanes of \"r c -> r c\" end at bit 128 (8 lanes of ",
            "16 bits), the word has 64 bits; use fewer lanes, a wider memory, or beats=2\n",
            "    r c -> r c\n             ^\n    shape (4, 8)"};
  endfunction

  function string no_file(input string from);
    return {"UVM_ERROR ", from,
            " [TD/FILE] tensor_open \"missing.npy\": cannot open the file: No such file or directory; ",
            "check the path and its permissions"};
  endfunction

  function string no_tensor(input string from, input string call);
    return $sformatf("UVM_ERROR %s [TD/HANDLE] %s: the tensor is null; create it first", from, call);
  endfunction

  virtual task main();
  endtask

  virtual task run_phase(input uvm_phase phase);
    phase.raise_objection(this);
    main();
    phase.drop_objection(this);
  endtask

  virtual function void final_phase(input uvm_phase phase);
    uvm_report_server server;
    int               found;
    server = uvm_report_server::get_server();
    super.final_phase(phase);
    said("", "nothing else was reported");
    foreach (seen.id_counts[id])
      equal(64'(server.get_id_count(id)), 64'(seen.id_counts[id]), {"UVM's count of ", id});
    // Warnings that UVM gives when it has no DPI do not count.
    found = -server.get_id_count("NO_DPI_USED") - server.get_id_count("NO_VISIT_CHECK") -
            server.get_id_count("UVM/COMP/NAME");
    found += server.get_severity_count(UVM_WARNING) + server.get_severity_count(UVM_ERROR);
    found += server.get_severity_count(UVM_FATAL);
    equal(64'(found), 64'(seen.errors), "UVM's count of warnings, errors and fatals");
  endfunction
endclass
