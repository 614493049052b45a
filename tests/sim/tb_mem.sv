// Memories in the design: every kind of array and range, two instances of one module, every operation, and what may not
// be touched.
`include "td_macros.svh"

module mem_ram #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 16
);
  logic [Width-1:0] mem[0:Depth-1];
endmodule

module tb_mem;
  import td_pkg::*;
  import tap_pkg::*;

  typedef struct packed {
    logic [6:0]      tag;
    logic [3:0][2:0] ways;
  } line_t;

  mem_ram #(.Width(32), .Depth(64)) u_a ();
  mem_ram #(.Width(32), .Depth(64)) u_b ();
  mem_ram #(.Width(100), .Depth(12)) u_wide ();
  mem_ram #(.Width(96), .Depth(2000)) u_deep ();
  mem_ram #(.Width(40), .Depth(64)) u_thin ();

  logic        [10:0]     ascending [8:17];
  logic        [10:0]     descending[17:8];
  logic signed [10:0]     negative  [-3:6];
  // verilator lint_off LITENDIAN
  bit          [0:10]     two_state [10];
  // verilator lint_on LITENDIAN
  logic        [2:0][4:0] packed_two[5:0];
  line_t                  lines     [4:20];
  logic        [14:0]     rows      [3:0][1:5];
  logic        [7:0]      deep      [2][3][4];
  logic                   flags     [0:36];

  `TD_MEM_CLASS(a_mem, tb_mem.u_a.mem, 32)
  `TD_MEM_CLASS(b_mem, tb_mem.u_b.mem, 32)
  `TD_MEM_CLASS(wide_mem, tb_mem.u_wide.mem, 100)
  `TD_MEM_CLASS(many_mem, tb_mem.u_deep.mem, 96)
  `TD_MEM_CLASS(thin_mem, tb_mem.u_thin.mem, 40)
  `TD_MEM_CLASS(ascending_mem, tb_mem.ascending, 11)
  `TD_MEM_CLASS(descending_mem, tb_mem.descending, 11)
  `TD_MEM_CLASS(negative_mem, tb_mem.negative, 11)
  `TD_MEM_CLASS(two_state_mem, tb_mem.two_state, 11)
  `TD_MEM_CLASS(packed_mem, tb_mem.packed_two, 15)
  `TD_MEM_CLASS(lines_mem, tb_mem.lines, 19)
  `TD_MEM_CLASS_2D(rows_mem, tb_mem.rows, 15)
  `TD_MEM_CLASS_AT(deep_mem, tb_mem.deep[at/12][at/4%3][at%4], 8, 24)
  `TD_MEM_CLASS(flags_mem, tb_mem.flags, 1)

  // ---- every kind: a ramp goes in, comes back, and stands in the array where `create` says

  task automatic kind(input td_memory memory, input string dtype);
    td_tensor given;
    td_tensor back;
    td_layout layout;
    bit       same_bits;
    bit       same_words;
    given = td_tensor::create(dtype, $sformatf("%0d", memory.depth()));
    back = td_tensor::create(dtype, $sformatf("%0d", memory.depth()));
    layout = td_layout::create("a -> a 1");
    given.fill_ramp(1, 1);
    memory.backdoor_load_tensor(given, layout);
    memory.backdoor_dump_tensor(back, layout);
    same_bits = 1'b1;
    same_words = 1'b1;
    for (longint unsigned i = 0; i < memory.depth(); i++) begin
      same_bits = same_bits && given.get_bits(i) == back.get_bits(i);
      same_words = same_words && given.get_bits(i) == memory.get_bits(i);
    end
    ok(same_bits, $sformatf("%s: load and dump", memory.name()));
    ok(same_words, $sformatf("%s: single words", memory.name()));
    given.destroy();
    back.destroy();
    layout.destroy();
  endtask

  task automatic kinds();
    td_memory m;
    m = ascending_mem::create();
    kind(m, "u11");
    same(m.name(), "ascending_mem", "a memory without a name has its class's");
    ok(ascending[8] == 1 && ascending[17] == 10, "word 0 of an ascending range is the lowest index");
    m.destroy();
    m = descending_mem::create("down");
    kind(m, "u11");
    ok(descending[8] == 1 && descending[17] == 10, "word 0 of a descending range is the lowest index");
    m.destroy();
    m = negative_mem::create("negative");
    kind(m, "i11");
    ok(negative[-3] == 1 && negative[6] == 10, "word 0 of a range below zero");
    m.set_bits(2, 'h7ff);
    equal(m.get_bits(2), 'h7ff, "a negative element is not sign-extended");
    m.destroy();
    m = two_state_mem::create("two_state");
    kind(m, "u11");
    ok(two_state[0] == 1 && two_state[9] == 10, "an array of bit, its bits numbered upwards");
    m.destroy();
    m = packed_mem::create("packed");
    kind(m, "u15");
    ok(packed_two[0] == 1 && packed_two[5][0] == 6, "packed dimensions");
    m.destroy();
    m = lines_mem::create("lines");
    kind(m, "u19");
    m.set_bits(16, 'h7f_123);
    ok(lines[20].tag == 'h7f && lines[20].ways == 'h123, "packed structs");
    m.destroy();
    m = rows_mem::create("rows");
    kind(m, "u15");
    ok(rows[0][1] == 1 && rows[0][5] == 5 && rows[1][1] == 6 && rows[3][5] == 20, "two unpacked dimensions");
    m.destroy();
    m = deep_mem::create("deep");
    kind(m, "u8");
    ok(deep[0][0][3] == 4 && deep[0][2][0] == 9 && deep[1][2][3] == 24, "any expression with the word's number");
    m.destroy();
    m = flags_mem::create("flags");
    kind(m, "u1");
    ok(flags[0] && !flags[1] && flags[36], "single bits");
    m.destroy();
  endtask

  // ---- instances, and what stays

  task automatic instances();
    td_memory a;
    td_memory b;
    td_tensor t;
    td_layout l;
    td_report report;
    td_status_e status;
    string    message;
    int       bad;
    a = a_mem::create("a");
    b = b_mem::create("b");
    t = td_tensor::create("u16", "6 2");
    l = td_layout::create("r c -> r c", "", "4 + 8*r");
    for (int i = 0; i < 64; i++) begin
      u_a.mem[i] = 32'hdead_0000 + i;
      u_b.mem[i] = 32'hbeef_0000 + i;
    end
    t.fill_ramp(1, 1);
    a.backdoor_load_tensor(t, l);
    bad = 0;
    for (int i = 0; i < 64; i++) begin
      if (i >= 4 && (i - 4) % 8 == 0 && i <= 44) begin
        if (u_a.mem[i] != 32'(((i - 4) / 4 + 2) << 16 | ((i - 4) / 4 + 1))) bad++;
      end else if (u_a.mem[i] != 32'hdead_0000 + i) bad++;
      if (u_b.mem[i] != 32'hbeef_0000 + i) bad++;
    end
    equal(64'(bad), 0, "a load writes its words, in its instance, and no others");
    status = a.try_backdoor_compare_tensor(t, l, "", "", report, message);
    ok(status == TD_OK && report.passed(), "a comparison of what was loaded");
    report.destroy();
    u_a.mem[12] = 32'h1111_2222;
    status = a.try_backdoor_compare_tensor(t, l, "", "", report, message);
    ok(status == TD_OK && report.mismatches() == 2, "a comparison sees what the design wrote");
    report.destroy();
    a.backdoor_dump_tensor(t, l);
    ok(t.get_bits(2) == 'h2222 && t.get_bits(3) == 'h1111, "a dump sees what the design wrote");
    b.backdoor_dump_tensor(t, l);
    ok(t.get_bits(2) == 'h000c && t.get_bits(3) == 'hbeef, "and the other instance has its own");
    l.destroy();

    u_a.mem[5] = 32'haabb_ccdd;
    l = td_layout::create("r c -> r c", "slot=12 lsb=4 fill=keep dtype=u8", "5 + r");
    a.backdoor_load_tensor(t, l, "u8 wrap");
    ok(u_a.mem[5] == 32'haaef_c04d, "fill=keep keeps the other bits of the design's word");
    l.destroy();
    t.destroy();
    t = td_tensor::create("u8", "6");
    t.fill_ramp(1, 1);
    u_a.mem[21] = 32'h9988_7766;
    l = td_layout::create("(r c) -> r c", "c=4 tail=clip", "20 + r");
    a.backdoor_load_tensor(t, l);
    ok(u_a.mem[20] == 32'h0403_0201 && u_a.mem[21] == 32'h9988_0605, "tail=clip leaves the lanes past the end");
    l.destroy();
    t.destroy();
    a.destroy();
    b.destroy();
  endtask

  // ---- many words: in order and transposed, at consecutive addresses, at a distance, and anywhere

  task automatic many();
    string      pattern;
    string      address;
    td_memory   m;
    td_tensor   given;
    td_tensor   back;
    td_layout   l;
    bit  [95:0] word;
    int         at;
    int         row;
    int         bad;
    m = many_mem::create("many");
    given = td_tensor::create("u32", "300 3");
    back = td_tensor::create("u32", "300 3");
    given.fill_random(3);
    for (int p = 0; p < 2; p++) begin
      for (int a = 0; a < 4; a++) begin
        pattern = p == 0 ? "r c -> r c" : "(r s) c -> (s r) c";
        address = a == 0 ? "7 + index" : a == 1 ? "1999 - 5*index" : a == 2 ? "(index ^ 5) * 3" : "index * 37 % 1021";
        l = td_layout::create(pattern, p == 0 ? "" : "s=2", address);
        for (int i = 0; i < 2000; i++) u_deep.mem[i] = 96'(i);
        m.backdoor_load_tensor(given, l);
        bad = 0;
        for (int i = 0; i < 300; i++) begin
          at = a == 0 ? 7 + i : a == 1 ? 1999 - 5 * i : a == 2 ? (i ^ 5) * 3 : i * 37 % 1021;
          row = p == 0 ? i : i % 150 * 2 + i / 150;
          for (int c = 0; c < 3; c++) word[c*32+:32] = 32'(given.get_bits(64'(row) * 3 + 64'(c)));
          if (u_deep.mem[at] != word) bad++;
          u_deep.mem[at] = ~word;
        end
        equal(64'(bad), 0, $sformatf("many words: %s, %s: loaded", pattern, address));
        m.backdoor_dump_tensor(back, l);
        bad = 0;
        for (longint unsigned i = 0; i < 900; i++)
          if (32'(back.get_bits(i)) != ~32'(given.get_bits(i))) bad++;
        equal(64'(bad), 0, $sformatf("many words: %s, %s: dumped", pattern, address));
        l.destroy();
      end
    end
    given.destroy();
    back.destroy();
    m.destroy();
  endtask

  // ---- the other operations, on a word of four 32-bit words

  task automatic operations();
    td_memory      m;
    td_addresses_t at;
    td_words_t     words;
    td_words_t     mask;
    td_words_t     back;
    td_tensor      t;
    td_tensor      u;
    td_status_e    status;
    string         message;
    m = wide_mem::create("wide");
    at = new[2];
    at[0] = 11;
    at[1] = 2;
    words = new[8];
    for (int i = 0; i < 8; i++) words[i] = 32'h1000_0001 * (i + 1);
    words[3] = 32'h5;
    words[7] = 32'hf;
    for (int i = 0; i < 12; i++) u_wide.mem[i] = '1;
    m.backdoor_write(at, words);
    ok(u_wide.mem[11] == 100'h5_30000003_20000002_10000001 && u_wide.mem[2] == 100'hf_70000007_60000006_50000005 &&
       &u_wide.mem[3], "write: a list of words");
    m.backdoor_read(at, back);
    ok(back.size() == 8 && back[3] == 5 && back[4] == words[4] && back[7] == 'hf, "read: a list of words");
    mask = new[8];
    for (int i = 0; i < 8; i++) mask[i] = 32'd0;
    mask[0] = 32'hff;
    mask[5] = 32'hf000_0000;
    for (int i = 0; i < 8; i++) words[i] = 32'd0;
    u_wide.mem[11][99:64] = '0;
    m.backdoor_write_bits(at, words, mask);
    ok(u_wide.mem[11] == 100'h0_00000000_20000002_10000000 && u_wide.mem[2] == 100'hf_70000007_00000006_50000005,
       "write: a mask of bits keeps what the design wrote");
    mask = new[2];
    mask[0] = 32'h1000;
    mask[1] = 32'h0;
    words[3] = 32'ha;
    m.backdoor_write_bytes(at, words, mask);
    ok(u_wide.mem[11] == 100'ha_00000000_20000002_10000000, "write: a mask of bytes");

    t = td_tensor::create("u50", "3 2");
    u = td_tensor::create("u50", "3 2");
    t.fill_random(7);
    t.fill_coordinates();
    m.backdoor_load_matrix(t, 4, 7);
    ok(u_wide.mem[6] == {50'd5, 50'd4}, "a tensor of coordinates");
    t.fill_random(7);
    m.backdoor_load_matrix(t, 4, 7);
    ok(u_wide.mem[4] == {50'(t.get_bits(1)), 50'(t.get_bits(0))} &&
       u_wide.mem[6] == {50'(t.get_bits(5)), 50'(t.get_bits(4))}, "load_matrix");
    u_wide.mem[5] = {50'd3, 50'd4};
    m.backdoor_dump_matrix(u, 4, 7);
    ok(u.get_bits(2) == 4 && u.get_bits(3) == 3 && u.get_bits(5) == t.get_bits(5), "dump_matrix");

    m.save_file("wide.hex", 4, 3);
    for (int i = 0; i < 12; i++) u_wide.mem[i] = 100'(i);
    m.load_file("wide.hex");
    ok(u_wide.mem[4] == {50'(t.get_bits(1)), 50'(t.get_bits(0))} && u_wide.mem[5] == {50'd3, 50'd4} &&
       u_wide.mem[3] == 3 && u_wide.mem[7] == 7, "save_file and load_file");
    m.fill("address", 8, 2);
    ok(u_wide.mem[8] == 8 && u_wide.mem[9] == 9 && u_wide.mem[10] == 10 && u_wide.mem[7] == 7, "fill: addresses");
    m.fill("constant=0xf0000000000000000000000a5", 9);
    ok(u_wide.mem[9] == 100'hf0000000000000000000000a5 && u_wide.mem[11] == u_wide.mem[9] && u_wide.mem[8] == 8,
       "fill: a constant");
    m.fill("one");
    ok(&u_wide.mem[0] && &u_wide.mem[11], "fill: ones");
    status = m.try_fill("ones", 0, 1, message);
    refused(status, TD_OPTION, message,
            "memory_fill \"wide\": \"ones\" is no filling; pass zero, one, constant=VALUE, address or random seed=N",
            "a filling that there is not");
    m.clear();
    ok(u_wide.mem[0] == 0 && u_wide.mem[5] == 0 && u_wide.mem[11] == 0, "clear");
    t.destroy();
    u.destroy();
    m.destroy();
  endtask

  // ---- banks: two in the design and one of the library

  task automatic banks();
    td_bank_set set_of_3;
    td_memory   a;
    td_memory   b;
    td_memory   own;
    td_tensor   t;
    td_tensor   back;
    td_layout   l;
    int         bad;
    a = a_mem::create("a");
    b = b_mem::create("b");
    own = td_memory::create("own", 32, 64);
    set_of_3 = new;
    set_of_3.add(a);
    set_of_3.add(own);
    set_of_3.add(b);
    t = td_tensor::create("u16", "9 2");
    back = td_tensor::create("u16", "9 2");
    t.fill_ramp(1, 1);
    for (int i = 0; i < 64; i++) begin
      u_a.mem[i] = 32'haaaa_aaaa;
      u_b.mem[i] = 32'hbbbb_bbbb;
    end
    l = td_layout::create("r c -> r c", "", "bank = r % 3; addr = 10 + 2*(r / 3)");
    set_of_3.backdoor_load_tensor(t, l);
    bad = 0;
    for (int i = 0; i < 64; i++) begin
      if (u_a.mem[i] != (i == 10 ? 32'h0002_0001 : i == 12 ? 32'h0008_0007 : i == 14 ? 32'h000e_000d : 32'haaaa_aaaa))
        bad++;
      if (u_b.mem[i] != (i == 10 ? 32'h0006_0005 : i == 12 ? 32'h000c_000b : i == 14 ? 32'h0012_0011 : 32'hbbbb_bbbb))
        bad++;
    end
    equal(64'(bad), 0, "banks in the design get their words and no others");
    equal(own.get_bits(12), 'h000a_0009, "a bank of the library between them");
    u_b.mem[12] = 32'h1234_5678;
    set_of_3.backdoor_dump_tensor(back, l);
    ok(back.get_bits(10) == 'h5678 && back.get_bits(11) == 'h1234 && back.get_bits(8) == 9 && back.get_bits(0) == 1,
       "a dump over the banks");
    l.destroy();
    l = td_layout::create("r c -> r c", "fill=keep slot=8 dtype=u8", "bank = r % 3; addr = 20 + r / 3");
    u_b.mem[20] = 32'hcccc_cccc;
    set_of_3.backdoor_load_tensor(t, l, "u8");
    equal(64'(u_b.mem[20]), 64'hcccc_0605, "fill=keep over the banks");
    set_of_3.destroy();
    a.destroy();
    b.destroy();
    own.destroy();
    t.destroy();
    back.destroy();
    l.destroy();
  endtask

  // ---- a memory and a set of banks as what they have in common: one task for both

  task automatic either(input td_backdoor door, input string what);
    td_addresses_t at;
    td_words_t     words;
    td_words_t     mask;
    td_words_t     back;
    td_tensor      t;
    td_tensor      u;
    longint unsigned bits;
    td_status_e    status;
    string         message;
    int            bad;
    equal(door.depth(), 192, {what, ": its words"});
    equal(door.width(), 40, {what, ": their width"});
    equal(64'(door.words_per_word()), 2, {what, ": 32-bit words of a word"});
    door.clear();
    at = new[4];
    at[0] = 0;
    at[1] = 191;
    at[2] = 64;
    at[3] = 63;
    words = new[8];
    for (int i = 0; i < 8; i++) words[i] = 32'h11 * (i + 1);
    door.backdoor_write(at, words);
    door.backdoor_read(at, back);
    ok(back.size() == 8 && back[0] == 'h11 && back[2] == 'h33 && back[5] == 'h66 && back[7] == 'h88,
       {what, ": a list of words"});
    ok(door.get_bits(191) == 64'h44_00000033 && door.get_bits(63) == 64'h88_00000077 && door.get_bits(1) == 0,
       {what, ": where they belong"});
    door.set_bits(130, 64'h12_3456789a);
    equal(door.get_bits(130), 64'h12_3456789a, {what, ": a single word"});
    mask = new[8];
    for (int i = 0; i < 8; i++) mask[i] = 32'd0;
    mask[4] = 32'hf0;
    for (int i = 0; i < 8; i++) words[i] = i % 2 == 0 ? '1 : 32'hff;
    door.backdoor_write_bits(at, words, mask);
    ok(door.get_bits(64) == 64'h66_000000f5 && door.get_bits(0) == 64'h22_00000011, {what, ": a mask of bits"});
    mask = new[4];
    for (int i = 0; i < 4; i++) mask[i] = 32'd0;
    mask[3] = 32'h10;
    door.backdoor_write_bytes(at, words, mask);
    equal(door.get_bits(63), 64'hff_00000077, {what, ": a mask of bytes"});
    status = door.try_backdoor_write(at, mask, message);
    equal(64'(status), 64'(TD_ARGUMENT), {what, ": too few words"});
    status = door.try_backdoor_write_bits(at, words, mask, message);
    equal(64'(status), 64'(TD_ARGUMENT), {what, ": too short a mask"});
    at[2] = 192;
    words[0] = 32'd5;
    status = door.try_backdoor_write(at, words, message);
    ok(status == TD_RANGE && door.get_bits(0) == 64'h22_00000011, {what, ": a word past the last is refused whole"});
    status = door.try_get_bits(192, bits, message);
    equal(64'(status), 64'(TD_RANGE), {what, ": and cannot be read"});

    door.fill("one", 60, 70);
    bad = 0;
    for (longint unsigned i = 0; i < 192; i++)
      if (i >= 60 && i < 130 ? door.get_bits(i) != 64'hff_ffffffff : door.get_bits(i) == 64'hff_ffffffff) bad++;
    equal(64'(bad), 0, {what, ": a filling"});
    status = door.try_fill("one", 190, 3, message);
    equal(64'(status), 64'(TD_RANGE), {what, ": a filling past the last word"});

    t = td_tensor::create("u20", "100 2");
    u = td_tensor::create("u20", "100 2");
    t.fill_ramp(1, 1);
    door.backdoor_load_matrix(t, 50, 150);
    ok(door.get_bits(50) == {24'd0, 20'd2, 20'd1} && door.get_bits(149) == {24'd0, 20'd200, 20'd199} &&
       door.get_bits(150) == 0, {what, ": a matrix"});
    door.backdoor_dump_matrix(u, 50, 150);
    ok(u.get_bits(0) == 1 && u.get_bits(30) == 31 && u.get_bits(199) == 200, {what, ": and back"});
    status = door.try_backdoor_load_matrix(t, 50, 151, message);
    ok(status != TD_OK && door.get_bits(150) == 0, {what, ": a matrix with too few rows"});

    door.save_file("either.hex", 60, 80);
    door.clear();
    door.set_bits(59, 59);
    door.load_file("either.hex");
    bad = 0;
    for (longint unsigned i = 60; i < 140; i++) if (20'(door.get_bits(i)) != 20'(2 * (i - 50) + 1)) bad++;
    equal(64'(bad), 0, {what, ": a file of words"});
    ok(door.get_bits(59) == 59 && door.get_bits(140) == 0, {what, ": which writes what it names"});
    status = door.try_load_file("nowhere.hex", message);
    equal(64'(status), 64'(TD_FILE), {what, ": no such file"});
    t.destroy();
    u.destroy();
  endtask

  task automatic both();
    td_memory   one;
    td_bank_set three;
    td_bank_set uneven;
    td_bank_set empty;
    td_memory   inside_0;
    td_memory   library_1;
    td_memory   library_2;
    td_backdoor door;
    td_status_e status;
    string      message;
    one = td_memory::create("one", 40, 192);
    door = one;
    either(door, "a memory");
    inside_0 = thin_mem::create("thin");
    library_1 = td_memory::create("l1", 40, 64);
    library_2 = td_memory::create("l2", 40, 64);
    three = new("three");
    three.add(inside_0);
    three.add(library_1);
    three.add(library_2);
    door = three;
    either(door, "a set of banks");
    ok(u_thin.mem[60] == {20'd22, 20'd21} && u_thin.mem[59] == 59 && library_1.get_bits(0) == {24'd0, 20'd30, 20'd29},
       "whose words are those of the banks");
    status = three.try_fill("one", 190, 3, message);
    refused(status, TD_RANGE, message,
            "memory_fill \"three\": words 0xbe to 0xc0 are past the 3 banks of 64 words; the last address is 0xbf",
            "what is past the banks");
    status = three.try_fill("ones", 0, 3, message);
    equal(64'(status), 64'(TD_OPTION), "a filling that there is not");
    uneven = new;
    uneven.add(library_1);
    uneven.add(one);
    status = uneven.try_set_bits(0, 1, message);
    refused(status, TD_ARGUMENT, message,
            "backdoor_write \"banks\": addresses in a set of banks need banks of one depth; add such banks",
            "banks of two depths");
    status = td_bank_set::try_create("none", 0, 40, 64, empty, message);
    refused(status, TD_ARGUMENT, message, "bank_set_create \"none\": 0 banks; pass 1 or more", "a set of no banks");
    ok(empty == null, "a refused set is none");
    three.destroy();
    uneven.destroy();
    one.destroy();
    inside_0.destroy();
    library_1.destroy();
    library_2.destroy();
  endtask

  // ---- refusals: those of td_memory, and nothing has changed

  task automatic refusals();
    td_memory   m;
    td_memory   none;
    td_design_memory wrong;
    td_mem           wide;  // the old name
    td_tensor   t;
    td_tensor   gone;
    td_layout   l;
    td_status_e status;
    string      message;
    wrong = new("wrong", 12, 11, 10);
    status = wrong.try_open(none, message);
    refused(status, TD_ARGUMENT, message, "TD_MEM_CLASS \"wrong\": a width of 12 bits for words of 11; pass 11",
            "a width that is not the array's");
    wide = new("wide", 20000, 20000, 10);
    status = wide.try_open(none, message);
    refused(status, TD_ARGUMENT, message,
            "TD_MEM_CLASS \"wide\": words of 20000 bits; a memory in the design has at most 16288",
            "words that no chunk holds");
    m = a_mem::create("a");
    for (int i = 0; i < 64; i++) u_a.mem[i] = i;
    t = td_tensor::create("u32", "10");
    t.fill_ramp(100, 1);
    l = td_layout::create("r -> r 1", "", "60 + r");
    status = m.try_backdoor_load_tensor(t, l, "", message);
    ok(status == TD_RANGE && u_a.mem[60] == 60, "a load past the array is refused whole");
    starts(message, "backdoor_load_tensor \"a\": ", "with the operation and the memory");
    status = m.try_backdoor_dump_tensor(t, l, "", message);
    ok(status == TD_RANGE && t.get_bits(0) == 100, "and so is a dump");
    status = m.try_set_bits(64, 1, message);
    refused(status, TD_RANGE, message,
            "backdoor_write \"a\": address 0x40 (entry 0) is past the memory of 64 words; the last address is 0x3f",
            "a word past the array");
    gone = td_tensor::create("u32", "10");
    gone.destroy();
    status = m.try_backdoor_load_tensor(gone, l, "", message);
    equal(64'(status), 64'(TD_HANDLE), "a destroyed tensor");
    starts(message, "backdoor_load_tensor: the tensor with handle 0x", "says so");
    status = m.try_load_file("nowhere.hex", message);
    equal(64'(status), 64'(TD_FILE), "no such file");
    status = m.try_set_x("never", message);
    refused(status, TD_OPTION, message, "memory_set_x \"a\": a policy \"never\"; pass error, zero or keep",
            "a policy for x that there is not");
    m.set_x("keep");
    m.destroy();
    status = m.try_set_bits(1, 1, message);
    equal(64'(status), 64'(TD_HANDLE), "a destroyed memory");
    equal(64'(u_a.mem[1]), 1, "is not written");
    t.destroy();
    l.destroy();
  endtask

  initial begin
    kinds();
    instances();
    many();
    operations();
    banks();
    both();
    refusals();
    finish();
  end
endmodule
