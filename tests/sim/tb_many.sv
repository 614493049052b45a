// What stands in somebody else's project: sixty-four banks in a generate loop, nine memories in one line of a macro, a
// module with a memory's class in it and several instances.
`include "td_macros.svh"

module many_sram #(
  parameter int unsigned Width = 32
);
  logic [Width-1:0] mem[0:31];
endmodule

module many_dut;
  for (genvar i = 0; i < 64; i++) begin : gen_bank
    many_sram #(.Width(32)) u_sram ();
  end
  for (genvar i = 0; i < 9; i++) begin : gen_lane
    many_sram #(.Width(64)) u_sram ();
  end
endmodule

`TD_BANKS_MODULE(bank_mem, tb_many.u_dut.gen_bank[bank].u_sram.mem, 32)

// Its class reaches the memory of its path, whichever instance makes the object.
module many_user #(
  parameter int unsigned Number = 0
);
  import td_pkg::*;
  `TD_MEM_CLASS(used_mem, tb_many.u_dut.gen_bank[7].u_sram.mem, 32)

  function automatic td_memory get();
    return used_mem::create($sformatf("used[%0d]", Number));
  endfunction
endmodule

`define MANY_NINE(P, W) \
  `TD_MEM_CLASS(lane_0, P[0].u_sram.mem, W) `TD_MEM_CLASS(lane_1, P[1].u_sram.mem, W) \
  `TD_MEM_CLASS(lane_2, P[2].u_sram.mem, W) `TD_MEM_CLASS(lane_3, P[3].u_sram.mem, W) \
  `TD_MEM_CLASS(lane_4, P[4].u_sram.mem, W) `TD_MEM_CLASS(lane_5, P[5].u_sram.mem, W) \
  `TD_MEM_CLASS(lane_6, P[6].u_sram.mem, W) `TD_MEM_CLASS(lane_7, P[7].u_sram.mem, W) \
  `TD_MEM_CLASS(lane_8, P[8].u_sram.mem, W)

module tb_many;
  import td_pkg::*;
  import tap_pkg::*;

  many_dut u_dut ();
  bank_mem #(64) u_banks ();
  many_user #(1) u_one ();
  many_user #(1) u_two ();

  `MANY_NINE(tb_many.u_dut.gen_lane, 64)

  td_memory lanes[$];

  logic [31:0] grown[];
  logic [31:0] queued[$];
  `TD_MEM_CLASS_AT(grown_mem, tb_many.grown[at], 32, tb_many.grown.size())
  `TD_MEM_CLASS_AT(queued_mem, tb_many.queued[at], 32, tb_many.queued.size())

  task automatic sixty_four();
    td_bank_set banks;
    td_tensor   given;
    td_tensor   back;
    td_layout   layout;
    int         bad;
    banks = u_banks.create("w");
    equal(64'(banks.size()), 64, "sixty-four banks of a generate loop");
    same(banks.bank(63).name(), "w[63]", "by name");
    given = td_tensor::create("u16", "64 8 2");
    back = td_tensor::create("u16", "64 8 2");
    given.fill_ramp(1, 1);
    layout = td_layout::create("b r c -> b r c", "", "4 + r");
    banks.backdoor_load_tensor(given, layout);
    banks.backdoor_dump_tensor(back, layout);
    bad = 0;
    for (longint unsigned i = 0; i < 1024; i++) if (back.get_bits(i) != i + 1) bad++;
    equal(64'(bad), 0, "a load and a dump over all of them");
    ok(u_dut.gen_bank[0].u_sram.mem[4] == 32'h0002_0001 && u_dut.gen_bank[3].u_sram.mem[5] == 32'h0034_0033 &&
       u_dut.gen_bank[63].u_sram.mem[11] == 32'h0400_03ff, "each in its own instance");
    u_dut.gen_bank[41].u_sram.mem[9] = 32'h1234_5678;
    equal(banks.bank(41).get_bits(9), 64'h1234_5678, "what the design writes is seen");
    equal(64'(given.rank()), 3, "a tensor's rank");
    ok(given.dim(0) == 64 && given.dim(1) == 8 && given.dim(-1) == 2, "and its dimensions");
    banks.destroy();
  endtask

  task automatic nine();
    td_memory lane;
    lane = lane_0::create();
    lanes.push_back(lane);
    lane = lane_8::create("last");
    lanes.push_back(lane);
    lanes[0].set_bits(1, 64'h1111);
    lanes[1].set_bits(1, 64'h9999);
    ok(u_dut.gen_lane[0].u_sram.mem[1] == 64'h1111 && u_dut.gen_lane[8].u_sram.mem[1] == 64'h9999,
       "nine memories in one line of a macro");
  endtask

  task automatic instances();
    td_memory one;
    td_memory two;
    one = u_one.get();
    two = u_two.get();
    one.set_bits(3, 64'h77);
    ok(two.get_bits(3) == 64'h77 && u_dut.gen_bank[7].u_sram.mem[3] == 32'h77,
       "a class in two instances reaches the memory that its path says");
  endtask

  // A dynamic array and a queue, with the size that each has when the object is made.
  task automatic sized(input td_memory memory, input string what);
    td_tensor given;
    td_tensor back;
    td_layout layout;
    int       wrong;
    given = td_tensor::create("u8", "10 4");
    back = td_tensor::create("u8", "10 4");
    layout = td_layout::create("r c -> r c", "", "2 + r");
    ok(memory != null && memory.depth() == 16, {what, ": its words"});
    given.fill("random seed=6");
    memory.backdoor_load_tensor(given, layout);
    memory.backdoor_dump_tensor(back, layout);
    wrong = 0;
    for (longint unsigned i = 0; i < 40; i++) if (back.get_bits(i) != given.get_bits(i)) wrong++;
    equal(64'(wrong), 0, {what, ": a tensor there and back"});
    given.destroy();
    back.destroy();
    layout.destroy();
    memory.destroy();
  endtask

  task automatic dynamic_arrays();
    td_tensor given;
    int       wrong;
    grown = new[16];
    for (int i = 0; i < 16; i++) grown[i] = 32'(i);
    for (int i = 0; i < 16; i++) queued.push_back(32'(i));
    sized(grown_mem::create("grown"), "a dynamic array");
    sized(queued_mem::create("queued"), "a queue");
    given = td_tensor::create("u8", "10 4");
    given.fill("random seed=6");
    wrong = 0;
    for (int i = 0; i < 40; i++) begin
      if (grown[2+i/4][8*(i%4)+:8] != 8'(given.get_bits(64'(i)))) wrong++;
      if (queued[2+i/4][8*(i%4)+:8] != 8'(given.get_bits(64'(i)))) wrong++;
    end
    equal(64'(wrong), 0, "the arrays hold it");
    ok(grown[1] == 1 && grown[12] == 12 && queued[1] == 1 && queued[12] == 12 && queued.size() == 16,
       "and their other words stay");
    given.destroy();
  endtask

  // $size of a dynamic array is 0 on Verilator 5.006, and while it is empty everywhere.
  task automatic without_words();
    td_design_memory none;
    td_memory        memory;
    recorder         seen;
    td_tensor        given;
    string           message;
    td_status_e      status;
    none = new("queue", 8, 8, 0);
    status = none.try_open(memory, message);
    refused(status, TD_ARGUMENT, message,
            {"TD_MEM_CLASS \"queue\": an array of no words; give a dynamic array or a queue its words first, and pass ",
             "its size: TD_MEM_CLASS_AT(NAME, PATH[at], WIDTH, PATH.size())"},
            "an array without words");
    seen = new;
    seen.install();
    given = td_tensor::create("u16", "64 8 2");
    ok(given.dim(3) == 0, "a dimension that there is not");
    same(seen.take(), "TD_RANGE: tensor_dim: dimension 3 of a tensor of rank 3 (shape 64 8 2); pass -3 to 2",
         "is said");
  endtask

  initial begin
    sixty_four();
    nine();
    instances();
    dynamic_arrays();
    without_words();
    finish();
  end
endmodule
