// The base of td_load_seq, td_dump_seq and td_compare_seq: a memory, a tensor, and the layout of the tensor in the
// memory. These sequences consume no simulation time and send no items, so they can be started on any sequencer or on
// none: seq.start(null). With `parts` a tensor goes through its packing into the memories of all its parts, or back;
// memory, if set, then only gives its name to the messages. For derived classes: body() finds the memory and the
// tensor, and calls move(), which does the work.
virtual class td_mem_seq extends uvm_sequence #(uvm_sequence_item);
  td_uvm_mem  memory;       // or:
  string      memory_name;  // found with td_uvm_mem::get from the sequencer upwards
  td_tensor   tensor;       // or:
  string      file;         // its tensor is opened
  string      dtype;        // of the elements, when the file format cannot say it (bf16 in a file of u2)
  string      tensor_name;  // for +td_load=NAME:FILE and +td_dump_dir; "" is the name of the sequence
  td_layout   layout;
  string      as;           // what the memory holds; "" for the tensor's own bits
  td_parts_layout parts;    // instead of memory, layout and as
  td_status_e status;       // of the last run; a failure was also reported

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

  // The name of the tensor in +td_load and +td_dump_dir.
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
    if (parts != null && (layout != null || as != "")) begin
      message = $sformatf({"%s \"%s\": parts come with their layouts and their packing; set either parts, or layout ",
                           "and as"}, get_type_name(), get_name());
      return TD_OPTION;
    end
    if (parts != null && memory_name == "") return find_tensor(message);
    if (memory == null) begin
      found_status = td_uvm_mem::try_get(m_sequencer, memory_name, found, message);
      memory = found;
    end
    if (memory != null) return find_tensor(message);
    message = $sformatf("%s \"%s\": %s", get_type_name(), get_name(), message);
    return found_status;
  endfunction

  protected function uvm_report_object speaker();
    if (memory != null) return memory;
    return m_sequencer;
  endfunction
endclass
