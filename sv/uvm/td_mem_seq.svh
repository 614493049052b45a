// What td_load_seq, td_dump_seq and td_compare_seq have in common: a memory, a tensor, and how it lies there. They
// take no time and send no items, so that any sequencer will do, and none: seq.start(null). For those who extend it:
// body() finds memory and tensor, and calls move(), which does the work.
virtual class td_mem_seq extends uvm_sequence #(uvm_sequence_item);
  td_uvm_mem  memory;       // or:
  string      memory_name;  // looked for from the sequencer, with td_uvm_mem::get
  td_tensor   tensor;       // or:
  string      file;         // and with it, where the file cannot say what its bytes mean,
  string      dtype;
  string      tensor_name;  // for +td_load=NAME:FILE and +td_dump_dir; "" is the name of the sequence
  td_layout   layout;
  string      as;           // what the memory holds; "" for the tensor's own bits
  td_status_e status;       // what came of it; every failure was reported too

  function new(input string name = "td_mem_seq");
    super.new(name);
    td_uvm_reporter::install_once();
  endfunction

  virtual task body();
    string message;
    status = find(message);
    if (status == TD_OK) status = move(message);
    if (status != TD_OK) td_uvm_reporter::fail(speaker(), status, message);
  endtask

  pure virtual function td_status_e move(output string message);

  // The name under which the command line knows the tensor.
  function string name_of_tensor();
    return tensor_name == "" ? get_name() : tensor_name;
  endfunction

  protected virtual function td_status_e find_tensor(output string message);
    td_tensor   found;
    td_status_e found_status;
    found_status = td_uvm_plusargs::try_tensor(name_of_tensor(), file, dtype, tensor, found, message);
    tensor = found;
    return found_status;
  endfunction

  local function td_status_e find(output string message);
    td_uvm_mem  found;
    td_status_e found_status;
    if (memory == null) begin
      found_status = td_uvm_mem::try_get(m_sequencer, memory_name, found, message);
      memory = found;
    end
    if (memory != null) return find_tensor(message);
    message = $sformatf("%s \"%s\": %s", get_type_name(), get_name(), message);
    return found_status;
  endfunction

  local function uvm_report_object speaker();
    if (memory != null) return memory;
    return m_sequencer;
  endfunction
endclass
