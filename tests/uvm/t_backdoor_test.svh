// A register model with memories that have a td_uvm_backdoor. Created by t_backdoor_test.
class t_model extends uvm_reg_block;
  `uvm_object_utils(t_model)

  uvm_mem abuf;
  uvm_mem narrow;  // 32 bits for a memory of 64
  uvm_mem odd;     // 24 bits, like its memory

  function new(input string name = "t_model");
    super.new(name, UVM_NO_COVERAGE);
  endfunction

  virtual function void build();
    abuf = new("abuf", 256, 64);
    narrow = new("narrow", 256, 32);
    abuf.configure(this);
    odd = new("odd", 16, 24);
    narrow.configure(this);
    odd.configure(this);
    default_map = create_map("map", 0, 8, UVM_LITTLE_ENDIAN);
    default_map.add_mem(abuf, 'h0000);
    default_map.add_mem(narrow, 'h1000);
    default_map.add_mem(odd, 'h2000);
    lock_model();
  endfunction
endclass

// Tests peek, poke, read, write and bursts of a uvm_mem through td_uvm_backdoor, its bulk calls, and the calls that it
// refuses.
class t_backdoor_test extends t_base;
  `uvm_component_utils(t_backdoor_test)

  t_model         model;
  td_uvm_backdoor backdoor;

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual function void build_phase(input uvm_phase phase);
    super.build_phase(phase);
    model = t_model::type_id::create("model");
    model.build();
    backdoor = td_uvm_backdoor::type_id::create("backdoor");
    model.abuf.set_backdoor(backdoor);
    model.narrow.set_backdoor(backdoor);
  endfunction

  virtual task main();
    backdoor.memory = env.abuf;
    single_words();
    bursts();
    odd_width();
    bulk();
    refused_ones();
    backdoor.memory = env.sram;
    single_words();
    bursts();
    backdoor.memory = env.tiles;  // 4 banks of 64 words
    single_words();
    bursts();
  endtask

  task single_words();
    uvm_status_e   status;
    uvm_reg_data_t value;
    model.abuf.poke(status, 5, 64'hfedcba9876543210);
    ok(status == UVM_IS_OK, "poke");
    equal(backdoor.memory.backdoor().get_bits(5), 64'hfedcba9876543210, "reaches the memory");
    model.abuf.peek(status, 5, value);
    ok(status == UVM_IS_OK && value == 64'hfedcba9876543210, "peek");
    model.abuf.write(status, 6, 64'h11, UVM_BACKDOOR);
    model.abuf.read(status, 6, value, UVM_BACKDOOR);
    ok(status == UVM_IS_OK && value == 64'h11, "write and read through the back door");
    said("", "which says nothing");
  endtask

  task bursts();
    uvm_status_e   status;
    uvm_reg_data_t values[];
    uvm_reg_data_t back[];
    int            good;
    values = new[200];
    back = new[200];
    foreach (values[i]) values[i] = 64'(i) * 64'h0101010101010101;
    model.abuf.burst_write(status, 40, values, UVM_BACKDOOR);
    ok(status == UVM_IS_OK, "burst_write");
    equal(backdoor.memory.backdoor().get_bits(239), 64'(199) * 64'h0101010101010101, "reaches the last word");
    model.abuf.burst_read(status, 40, back, UVM_BACKDOOR);
    foreach (back[i]) if (back[i] == values[i]) good++;
    ok(status == UVM_IS_OK && good == 200, "burst_read");
    said("", "which says nothing");
  endtask

  task odd_width();
    td_uvm_mem      memory;
    td_uvm_backdoor odd;
    uvm_status_e    status;
    uvm_reg_data_t  values[];
    memory = td_uvm_mem::get(env, "odd");
    odd = td_uvm_backdoor::type_id::create("odd");
    odd.memory = memory;
    model.odd.set_backdoor(odd);
    values = new[2];
    values[0] = 64'hffffff;
    values[1] = 64'h123456;
    model.odd.burst_write(status, 3, values, UVM_BACKDOOR);
    equal(memory.memory().get_bits(4), 64'h123456, "words of 24 bits");
    values[0] = 0;
    model.odd.burst_read(status, 3, values, UVM_BACKDOOR);
    equal(values[0], 64'hffffff, "come back");
    model.odd.poke(status, 5, 64'hffffffff);
    equal(memory.memory().get_bits(5), 64'hffffff, "a poke has the bits of the memory");
    said("", "which says nothing");
    values[0] = 64'h1000000;
    model.odd.burst_write(status, 3, values, UVM_BACKDOOR);
    ok(status == UVM_NOT_OK, "a value of more bits");
    said({"UVM_ERROR uvm_test_top.env.odd [TD/RANGE] backdoor_write \"odd\": word 0 has 0x1 above the width of 24 ",
          "bits; ",
          "clear the bits from 24 up"}, "is an error");
  endtask

  task bulk();
    td_uvm_backdoor any_width;
    td_words_t      words;
    td_words_t      back;
    int             good;
    any_width = td_uvm_backdoor::type_id::create("any_width");
    any_width.memory = env.wide;
    words = new[4 * 100];
    foreach (words[i]) words[i] = 32'(i) + 32'h80000000;
    any_width.bulk_write(100, words);
    any_width.bulk_read(100, 100, back);
    foreach (back[i]) if (back[i] == words[i]) good++;
    equal(64'(good), 400, "bulk_write and bulk_read of 128 bits");
    said("", "which says nothing");
    any_width.bulk_write(200, words);
    said({"UVM_ERROR uvm_test_top.env.wide [TD/RANGE] backdoor_write \"wide\": address 0x100 (entry 56) is past the ",
          "memory of 256 words; the last address is 0xff"}, "past the end");
    any_width.bulk_read(200, 100, back);
    said({"UVM_ERROR uvm_test_top.env.wide [TD/RANGE] backdoor_read \"wide\": address 0x100 (entry 56) is past the ",
          "memory of 256 words; the last address is 0xff"}, "also when reading");
    words = new[7];
    any_width.bulk_write(0, words);
    said({"UVM_ERROR uvm_test_top.env.wide [TD/ARGUMENT] backdoor_write \"wide\": 1 addresses with a word list of 7; ",
          "pass ",
          "4 of 32 bits for each address"}, "a list of parts of words");
    any_width.memory = null;
    any_width.bulk_write(0, words);
    said({"UVM_ERROR reporter [TD/HANDLE] td_uvm_backdoor \"any_width\": no memory; set the field memory to a ",
          "td_uvm_mem with one"}, "no memory");
    any_width.memory = env.tiles;
    words = new[2];
    words[0] = 32'h1234;
    words[1] = 32'h5678;
    any_width.bulk_write(130, words);
    any_width.bulk_read(130, 1, back);
    ok(back.size() == 2 && back[1] == 'h5678 && env.tiles.banks().bank(2).get_bits(2) == 64'h567800001234,
       "banks, one after another");
    said("", "which says nothing");
  endtask

  task refused_ones();
    uvm_status_e   status;
    uvm_reg_data_t value;
    model.narrow.poke(status, 5, 1);
    ok(status == UVM_NOT_OK, "a poke of the wrong width");
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/ARGUMENT] td_uvm_backdoor \"abuf\": words of 64 bits for uvm_mem ",
          "\"model.narrow\" of 32; make them equal"}, "is an error");
    model.narrow.peek(status, 5, value);
    ok(status == UVM_NOT_OK, "a peek of the wrong width");
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/ARGUMENT] td_uvm_backdoor \"abuf\": words of 64 bits for uvm_mem ",
          "\"model.narrow\" of 32; make them equal"}, "is an error too");
    model.abuf.peek(status, 256, value);
    ok(status == UVM_NOT_OK, "a peek past the end");
    said({"UVM_ERROR uvm_test_top.env.abuf [TD/RANGE] backdoor_read \"abuf\": address 0x100 (entry 0) is past the ",
          "memory of 256 words; the last address is 0xff"}, "is an error");
    backdoor.memory = env.wide;
    model.abuf.poke(status, 0, 1);
    ok(status == UVM_NOT_OK, "a memory wider than UVM's values");
    said({"UVM_ERROR uvm_test_top.env.wide [TD/RANGE] td_uvm_backdoor \"wide\": words of 128 bits, ",
          "UVM_REG_DATA_WIDTH is 64; compile UVM with 128, or use the bulk calls"}, "is an error");
    backdoor.memory = null;
    model.abuf.peek(status, 0, value);
    ok(status == UVM_NOT_OK, "no memory");
    said({"UVM_ERROR reporter [TD/HANDLE] td_uvm_backdoor \"backdoor\": no memory; set the field memory to a ",
          "td_uvm_mem ",
          "with one"}, "is an error");
  endtask
endclass
