// Dumps a tensor out of a memory: set the fields of td_mem_seq and start it. Set either `tensor`, which is overwritten,
// or `dtype` and `shape`, and a tensor of these is created. The result is saved in `file`, if that is set, and with
// +td_dump_dir=DIR in DIR/NAME.npy.
class td_dump_seq extends td_mem_seq;
  `uvm_object_utils(td_dump_seq)

  string shape;  // used with dtype when tensor is null

  function new(input string name = "td_dump_seq");
    super.new(name);
  endfunction

  virtual function td_status_e move(output string message);
    td_status_e moved;
    moved = dump(message);
    if (moved == TD_OK) moved = save(file, message);
    if (moved == TD_OK) moved = save(td_uvm_plusargs::dump_file(name_of_tensor()), message);
    return moved;
  endfunction

  // Unlike the other sequences, a dump does not open a file: it creates the tensor if there is none.
  protected virtual function td_status_e find_tensor(output string message);
    td_tensor   made;
    td_status_e made_status;
    message = "";
    if (tensor != null || dtype == "") return TD_OK;
    made_status = td_tensor::try_create(dtype, shape, made, message);
    tensor = made;
    return made_status;
  endfunction

  local function td_status_e dump(output string message);
    if (parts != null) return parts.try_dump(tensor, message);
    return memory.try_backdoor_dump_tensor(tensor, layout, as, message);
  endfunction

  local function td_status_e save(input string path, output string message);
    message = "";
    if (path == "") return TD_OK;
    return tensor.try_save(path, message);
  endfunction
endclass
