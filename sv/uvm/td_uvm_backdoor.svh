// A uvm_reg_backdoor for a uvm_mem of the register model: its peek, poke, backdoor read and write, and bursts then
// reach the words of a td_uvm_mem. Created where the register model is built:
//
//   backdoor = td_uvm_backdoor::type_id::create("backdoor");
//   backdoor.memory = env.wbuf;
//   model.wbuf.set_backdoor(backdoor);
//
// The register layer passes values as uvm_reg_data_t; a memory with wider words is refused. bulk_write and bulk_read
// take words of any width, and are faster, because they bypass the register layer's item for each word.
class td_uvm_backdoor extends uvm_reg_backdoor;
  `uvm_object_utils(td_uvm_backdoor)

  localparam int unsigned DataBits = $bits(uvm_reg_data_t);
  localparam int unsigned DataWords = (DataBits + 31) / 32;

  td_uvm_mem memory;

  function new(input string name = "td_uvm_backdoor");
    super.new(name);
    td_uvm_reporter::install_once();
  endfunction

  virtual task write(input uvm_reg_item rw);
    td_words_t  words;
    string      message;
    td_status_e status;
    do_pre_write(rw);
    status = check(rw, message);
    if (status == TD_OK) begin
      to_words(rw, words);
      status = memory.try_backdoor_write(consecutive(rw.offset, rw.value.size()), words, message);
    end
    finish(rw, status, message);
    do_post_write(rw);
  endtask

  virtual function void read_func(input uvm_reg_item rw);
    td_words_t  words;
    string      message;
    td_status_e status;
    status = check(rw, message);
    if (status == TD_OK)
      status = memory.try_backdoor_read(consecutive(rw.offset, rw.value.size()), words, message);
    if (status == TD_OK) from_words(words, rw);
    finish(rw, status, message);
  endfunction

  // Writes consecutive words from this offset on, in one call. Each takes words_per_word() words of the list, the low
  // one first.
  function void bulk_write(input uvm_reg_addr_t offset, input td_words_t words);
    string      message;
    td_status_e status;
    status = check_memory(message);
    if (status == TD_OK)
      memory.backdoor_write(consecutive(offset, words.size() / memory.backdoor().words_per_word()), words);
    else td_uvm_reporter::fail(memory, status, message);
  endfunction

  // Reads `count` consecutive words from this offset on, in the same form.
  function void bulk_read(input uvm_reg_addr_t offset, input int count, output td_words_t words);
    string      message;
    td_status_e status;
    status = check_memory(message);
    if (status == TD_OK) memory.backdoor_read(consecutive(offset, count), words);
    else td_uvm_reporter::fail(memory, status, message);
  endfunction

  // ---- checks

  local function td_status_e check_memory(output string message);
    message = "";
    if (memory != null && memory.backdoor() != null) return TD_OK;
    message = $sformatf("td_uvm_backdoor \"%s\": no memory; set the field memory to a td_uvm_mem with one", get_name());
    return TD_HANDLE;
  endfunction

  local function td_status_e check(input uvm_reg_item rw, output string message);
    uvm_mem     model;
    td_backdoor target;
    td_status_e status;
    status = check_memory(message);
    if (status != TD_OK) return status;
    target = memory.backdoor();
    if (target.width() > 64'(DataBits)) begin
      message = $sformatf("td_uvm_backdoor \"%s\": words of %0d bits, UVM_REG_DATA_WIDTH is %0d;", target.name(),
                          target.width(), DataBits);
      message = $sformatf("%s compile UVM with %0d, or use the bulk calls", message, target.width());
      return TD_RANGE;
    end
    if ($cast(model, rw.element)) begin
      if (64'(model.get_n_bits()) != target.width()) begin
        message = $sformatf("td_uvm_backdoor \"%s\": words of %0d bits for uvm_mem \"%s\" of %0d; make them equal",
                            target.name(), target.width(), model.get_full_name(), model.get_n_bits());
        return TD_ARGUMENT;
      end
      return TD_OK;
    end
    message = $sformatf("td_uvm_backdoor \"%s\": set as the backdoor of what is no uvm_mem", target.name());
    return TD_ARGUMENT;
  endfunction

  // ---- conversion between values of the register layer and lists of words

  local function void finish(input uvm_reg_item rw, input td_status_e status, input string message);
    rw.status = status == TD_OK ? UVM_IS_OK : UVM_NOT_OK;
    if (status != TD_OK) td_uvm_reporter::fail(memory, status, message);
  endfunction

  local function td_addresses_t consecutive(input uvm_reg_addr_t offset, input int count);
    td_addresses_t addresses;
    addresses = new[count];
    foreach (addresses[i]) addresses[i] = 64'(offset) + 64'(i);
    return addresses;
  endfunction

  local function void to_words(input uvm_reg_item rw, output td_words_t words);
    bit [DataWords*32-1:0] value;
    int                    per;
    per = memory.backdoor().words_per_word();
    words = new[rw.value.size() * per];
    foreach (rw.value[i]) begin
      value = (DataWords*32)'(rw.value[i]);
      for (int k = 0; k < per; k++) words[i*per+k] = value[k*32+:32];
    end
  endfunction

  local function void from_words(input td_words_t words, input uvm_reg_item rw);
    bit [DataWords*32-1:0] value;
    int                    per;
    per = memory.backdoor().words_per_word();
    foreach (rw.value[i]) begin
      value = '0;
      for (int k = 0; k < per; k++) value[k*32+:32] = words[i*per+k];
      rw.value[i] = DataBits'(value);
    end
  endfunction
endclass
