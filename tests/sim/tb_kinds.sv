// Memories of the design that are not plain arrays of whole words: fields of structs, bytes of elements, elements of
// several arrays side by side, queues, dynamic and associative arrays, and macros of nested generate loops and of
// arrays of instances.
`include "td_macros.svh"

module kinds_ram;
  logic [15:0] mem[0:7];
endmodule

// In a packed struct: 16 words of 9 bits and a flag.
module kinds_struct;
  typedef struct packed {
    logic             busy;
    logic [15:0][8:0] words;
  } packed_t;
  packed_t whole;
  initial whole = '1;
endmodule

// Tiles and slices are loops of their own, and the macros of a second memory an array of instances.
module kinds_sram;
  for (genvar t = 0; t < 2; t++) begin : gen_tile
    for (genvar s = 0; s < 3; s++) begin : gen_slice
      kinds_ram u_ram ();
    end
  end
  kinds_ram u_row[4] ();
endmodule

`TD_BANKS_MODULE(nested_mem, tb_kinds.u_sram.gen_tile[bank/3].gen_slice[bank%3].u_ram.mem, 16)
`TD_BANKS_MODULE(row_mem, tb_kinds.u_sram.u_row[bank].mem, 16)

module tb_kinds;
  import td_pkg::*;
  import tap_pkg::*;

  typedef struct packed {
    logic [6:0]  tag;
    logic [31:0] data;
    logic        valid;
  } line_t;

  kinds_sram u_sram ();
  kinds_struct u_struct ();
  nested_mem #(6) u_nested ();
  row_mem #(4) u_rows ();

  line_t       lines[0:19];
  logic [31:0] elements[4:13];
  logic [7:0]  lane0[0:15], lane1[0:15], lane2[0:15];
  logic [23:0] queue[$];
  logic [23:0] list[];
  logic [31:0] sparse[bit [31:0]];

  `TD_MEM_CLASS_AT(data_mem, tb_kinds.lines[at].data, 32, 20)
  `TD_MEM_CLASS_AT(words_mem, tb_kinds.u_struct.whole.words[at], 9, 16)
  `TD_MEM_CLASS_AT(bytes_mem, tb_kinds.elements[4+at/4][8*(at%4)+:8], 8, 40)
  `TD_MEM_CLASS_OF(lanes_mem, {$root.tb_kinds.lane2[at], $root.tb_kinds.lane1[at], $root.tb_kinds.lane0[at]}, 24, 16)
  `TD_MEM_CLASS_AT(queue_mem, tb_kinds.queue[at], 24, tb_kinds.queue.size())
  `TD_MEM_CLASS_AT(list_mem, tb_kinds.list[at], 24, tb_kinds.list.size())
  `TD_MEM_CLASS_AT(sparse_mem, tb_kinds.sparse[32'h8000_0000+4*at], 32, 4096)

  recorder seen = new;

  // A ramp goes in through a layout, comes back, and is in single words.
  task automatic kind(input td_memory memory);
    td_tensor given, back;
    td_layout layout;
    bit       same_bits, same_words;
    given = td_tensor::create($sformatf("u%0d", memory.width()), "16");
    back = td_tensor::create($sformatf("u%0d", memory.width()), "16");
    layout = td_layout::create("a -> a 1");
    given.fill_ramp(3, 5);
    memory.backdoor_load_tensor(given, layout);
    memory.backdoor_dump_tensor(back, layout);
    same_bits = 1'b1;
    same_words = 1'b1;
    for (longint unsigned i = 0; i < 16; i++) begin
      same_bits = same_bits && given.get_bits(i) == back.get_bits(i);
      same_words = same_words && given.get_bits(i) == memory.get_bits(i);
    end
    ok(same_bits, $sformatf("%s: load and dump", memory.name()));
    ok(same_words, $sformatf("%s: single words", memory.name()));
    given.destroy();
    back.destroy();
    layout.destroy();
  endtask

  task automatic structs();
    td_memory m;
    for (int i = 0; i < 20; i++) lines[i] = {7'(i), 32'd0, 1'b1};
    m = data_mem::create("field");
    kind(m);
    ok(lines[5] == {7'd5, 32'd28, 1'b1}, "other fields of the struct stay");
    m.destroy();
    m = words_mem::create("array in a packed struct");
    kind(m);
    #1; // until then Verilator 5.006 has the struct in a register of this process
    ok(u_struct.whole.busy && u_struct.whole.words[15] == 78 && u_struct.whole.words[0] == 3, "and other members");
    m.destroy();
  endtask

  task automatic pieces();
    td_memory m;
    m = bytes_mem::create("bytes");
    kind(m);
    equal(64'(elements[4]), 64'h120d0803, "byte 0 is the low one of the first element");
    m.destroy();
    m = lanes_mem::create("lanes");
    kind(m);
    m.set_bits(9, 64'h123456);
    ok(lane2[9] == 8'h12 && lane1[9] == 8'h34 && lane0[9] == 8'h56, "a word in three arrays");
    m.destroy();
  endtask

  task automatic lists();
    td_memory   m;
    string      message;
    td_status_e status;
    status = queue_mem::try_create("queue", m, message);
    refused(status, TD_ARGUMENT, message,
            {"TD_MEM_CLASS \"queue\": an array of no words; give a dynamic array or a queue its words first, and pass ",
             "its size: TD_MEM_CLASS_AT(NAME, PATH[at], WIDTH, PATH.size())"}, "an empty queue");
    for (int i = 0; i < 20; i++) queue.push_back(24'(i));
    m = queue_mem::create("queue");
    equal(m.depth(), 20, "a queue has the words that it has");
    kind(m);
    ok(queue[4] == 23 && queue[19] == 19, "in the queue");
    m.destroy();
    list = new[16];
    m = list_mem::create("dynamic array");
    kind(m);
    ok(list[15] == 78, "in the dynamic array");
    m.destroy();
    m = sparse_mem::create("associative array");
    kind(m);
    equal(64'(sparse[32'h8000_0008]), 13, "an associative array by byte address");
    equal(64'(sparse.num()), 16, "of which only what was written is there");
    m.set_bits(4095, 7);
    equal(64'(sparse.num()), 17, "or is written later");
    m.destroy();
  endtask

  task automatic macros();
    td_bank_set nested, row;
    td_layout   organisation, columns;
    td_memory   over, wide;
    nested = u_nested.create("nested");
    row = u_rows.create("row");
    organisation = td_layout::create("(t r) (s k) -> (t s) r k", "t=2 s=3");
    columns = td_layout::create("r (s k) -> s r k", "s=4");
    over = td_memory::over("over", 48, 16, organisation, nested);
    wide = td_memory::over("wide", 64, 8, columns, row);
    kind(over);
    over.set_bits(13, 64'h123456789abc);
    ok(u_sram.gen_tile[1].gen_slice[0].u_ram.mem[5] == 16'h9abc &&
       u_sram.gen_tile[1].gen_slice[2].u_ram.mem[5] == 16'h1234, "macros of nested loops");
    wide.set_bits(7, 64'h0123456789abcdef);
    ok(u_sram.u_row[0].mem[7] == 16'hcdef && u_sram.u_row[3].mem[7] == 16'h0123, "an array of instances");
    over.destroy();
    wide.destroy();
    nested.destroy();
    row.destroy();
    organisation.destroy();
    columns.destroy();
  endtask

  initial begin
    seen.install();
    #1;
    structs();
    pieces();
    lists();
    macros();
    same(seen.take(), "", "nothing is reported");
    finish();
  end
endmodule
