// A whole run: loads tensors, starts a sequence of yours, compares the results. It is started on a virtual sequencer,
// or on none:
//
//   run = td_virtual_seq::type_id::create("run");
//   void'(run.add_load("act", env.abuf, act, tiles));
//   void'(run.add_load("weights", env.wbuf, weights, rows, "i8 scale=0.05"));
//   run.user_seq = go;
//   run.user_sequencer = env.agent.sequencer;
//   void'(run.add_compare("result", env.obuf, golden, rows, "atol=1"));
//   run.start(null);
//
// When a load fails, neither the user's sequence nor a comparison is started.
class td_virtual_seq extends uvm_sequence #(uvm_sequence_item);
  `uvm_object_utils(td_virtual_seq)

  td_load_seq        loads[$];
  uvm_sequence_base  user_seq;
  uvm_sequencer_base user_sequencer;  // null: the one that this sequence is started on
  td_compare_seq     compares[$];
  td_status_e        status;          // of the first load or comparison that failed

  function new(input string name = "td_virtual_seq");
    super.new(name);
    td_uvm_reporter::install_once();
  endfunction

  // Adds a load and returns its sequence, whose other fields may then be set. `name` is the tensor's name in +td_load.
  function td_load_seq add_load(input string name, input td_uvm_mem memory = null, input td_tensor tensor = null,
                                input td_layout layout = null, input string as = "");
    td_load_seq load;
    load = td_load_seq::type_id::create(name, , get_full_name());
    load.memory = memory;
    load.tensor = tensor;
    load.layout = layout;
    load.as = as;
    loads.push_back(load);
    return load;
  endfunction

  function td_compare_seq add_compare(input string name, input td_uvm_mem memory = null, input td_tensor golden = null,
                                      input td_layout layout = null, input string policy = "", input string as = "");
    td_compare_seq compare;
    compare = td_compare_seq::type_id::create(name, , get_full_name());
    compare.memory = memory;
    compare.tensor = golden;
    compare.layout = layout;
    compare.policy = policy;
    compare.as = as;
    compares.push_back(compare);
    return compare;
  endfunction

  // 1 when all comparisons, at least one, were made and found no difference.
  function bit passed();
    foreach (compares[i]) if (!compares[i].passed()) return 1'b0;
    return status == TD_OK && compares.size() != 0;
  endfunction

  virtual task body();
    status = TD_OK;
    foreach (loads[i]) begin
      loads[i].start(m_sequencer, this);
      note(loads[i].status);
    end
    if (status != TD_OK) return;
    if (user_seq == null) begin
      status = TD_HANDLE;
      td_uvm_reporter::fail(m_sequencer, status, $sformatf(
                            "td_virtual_seq \"%s\": nothing to start after the loads; set user_seq", get_name()));
      return;
    end
    user_seq.start(user_sequencer == null ? m_sequencer : user_sequencer, this);
    foreach (compares[i]) begin
      compares[i].start(m_sequencer, this);
      note(compares[i].status);
    end
  endtask

  local function void note(input td_status_e found);
    if (status == TD_OK) status = found;
  endfunction
endclass
