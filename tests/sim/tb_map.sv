// Maps of chips: memories by name and by system address, over macros of the design and over memories of the map's own.
// What lies in the macros is calculated here from the formula of the organisation and the masks of the code.
`include "td_macros.svh"

// 64 words of 39 bits in six macros: two tiles by depth, three slices, four words in a row.
module map_sram;
  for (genvar m = 0; m < 6; m++) begin : gen_macro
    logic [51:0] mem[0:7];
  end
endmodule

`TD_BANKS_MODULE(map_macro, tb_map.u_sram.gen_macro[bank].mem, 52)

// Two channels of 12-bit words, and one array that is a memory by itself.
module map_channels;
  logic [11:0] ch0[0:15];
  logic [11:0] ch1[0:15];
  logic [31:0] boot[0:7];
endmodule

module tb_map;
  import td_pkg::*;
  import tap_pkg::*;

  `TD_MEM_CLASS(map_ch0, tb_map.u_channels.ch0, 12)
  `TD_MEM_CLASS(map_ch1, tb_map.u_channels.ch1, 12)
  `TD_MEM_CLASS(map_boot, tb_map.u_channels.boot, 32)

  map_sram u_sram ();
  map_channels u_channels ();
  map_macro #(6) u_macros ();

  localparam bit [31:0] Masks[7] = '{
    32'h2606bd25, 32'hdeba8050, 32'h413d89aa, 32'h31234ed1, 32'hc2c1323b, 32'h2dcc624c, 32'h98505586
  };

  recorder    seen = new;
  string      message;
  td_status_e status;
  td_bank_set macros;
  td_bank_set arrays;
  td_map      chip;
  td_map      none;
  td_memory   wbuf;
  td_memory   channel;

  // Word w as the macros hold it: tile w/32, row w/4 % 8, bit k*4 + w%4 of slice k/13.
  function automatic bit [38:0] coded(input int w);
    td_memory  macro;
    bit [63:0] row;
    for (int k = 0; k < 39; k++) begin
      macro = macros.bank(w / 32 * 3 + k / 13);
      row = macro.get_bits(64'(w) / 4 % 8);
      coded[k] = row[k%13*4+w%4];
    end
  endfunction

  function automatic bit [38:0] encoded(input bit [31:0] data);
    encoded = {7'b0, data};
    for (int j = 0; j < 7; j++) encoded[32+j] = ^(data & Masks[j]) ^ 1'(j % 2);
  endfunction

  task automatic write_text(input string path, input string text);
    int file;
    file = $fopen(path, "w");
    $fwrite(file, "%s", text);
    $fclose(file);
  endtask

  task automatic bytes();
    td_bytes_t data;
    td_bytes_t back;
    bit        alike;
    data = new[70];
    foreach (data[i]) data[i] = 8'(5 * i + 1);
    chip.write_bytes(64'h8000_0002, data);  // begins and ends inside of words
    chip.read_bytes(64'h8000_0002, 70, back);
    alike = 1'b1;
    foreach (data[i]) if (back[i] != data[i]) alike = 1'b0;
    ok(alike, "bytes come back");
    ok(coded(1) == encoded({data[5], data[4], data[3], data[2]}), "they lie in the macros with their check bits");
    ok(coded(0) == encoded({data[1], data[0], 16'b0}), "and so do the bits of the word that was written in part");
    chip.write_bytes(64'h9000_0000, data);
    channel = chip.find("ch0");
    ok(channel.get_bits(0) == {data[7], data[6], data[5], data[4], data[3], data[2], data[1], data[0]},
       "the first unit is in channel 0");
    ok(channel.get_bits(2) == {data[55], data[54], data[53], data[52], data[51], data[50], data[49], data[48]},
       "the hash exchanges channels in row 1");
    status = chip.try_write_bytes(64'h8000_00f0, data, message);
    ok(status == TD_RANGE, "bytes past a memory are refused");
    same(message, {"map_write at 0x800000f0: address 0x80000100 lies in the hole 0x80000100 .. ",
                   "0x8fffffff between wbuf and ddr; use an address of a memory, or add one to the map"},
         "and the message has the hole");
    chip.read_bytes(64'h8000_00f0, 16, back);
    alike = 1'b1;
    foreach (back[i]) if (back[i] != 0) alike = 1'b0;
    ok(alike, "nothing was written");
  endtask

  task automatic tensors();
    td_tensor t;
    td_tensor back;
    td_layout rows;
    td_layout no_layout;
    td_report report;
    t = td_tensor::create("u8", "4 4");
    back = td_tensor::create("u8", "4 4");
    rows = td_layout::create("r c -> r c", "", "2*r");
    t.fill_ramp(1, 3);
    chip.load_tensor(64'h8000_0040, t, rows);
    ok(wbuf.get_bits(18) == 64'h16_13_10_0d, "row 1 is in word 18");
    ok(coded(18) == encoded(32'h1613_100d), "and in the macros");
    chip.dump_tensor(64'h8000_0040, back, rows);
    ok(back.get_bits(15) == 46, "a tensor comes back");
    status = chip.try_compare_tensor(64'h8000_0040, t, rows, "", "", report, message);
    ok(status == TD_OK && report.passed(), "and compares");
    u_sram.gen_macro[0].mem[4][2] ^= 1'b1;  // bit 0 of word 18
    status = chip.try_compare_tensor(64'h8000_0040, t, rows, "", "", report, message);
    ok(status == TD_OK && report.passed(), "also after the design has a single error, which is corrected");
    u_sram.gen_macro[0].mem[4][6] ^= 1'b1;  // bit 1 of it
    status = chip.try_compare_tensor(64'h8000_0040, t, rows, "", "", report, message);
    ok(status == TD_UNCORRECTABLE, "two are refused");
    ok(report == null, "without a report");
    chip.load_tensor(64'h8000_0040, t, rows);
    status = chip.try_load_tensor(64'h8000_0041, t, rows, "", message);
    ok(status == TD_ADDRESS, "an address inside of a word is refused");
    same(message, {"map_load_tensor at 0x80000041: it is byte 1 of a word of wbuf; begin at 0x80000040 or ",
                   "0x80000044, or use a flat layout, as \"... -> (...)\""}, "by its message");
    status = chip.try_load_tensor(64'h8000_0040, t, no_layout, "", message);
    same(message, "map_load_tensor: the layout is null; create it first", "a layout that is null");
    t.destroy();
    back.destroy();
    rows.destroy();
  endtask

  // The words of the two channels of the design: unit u of two words is in channel u % 2 ^ (u / 2 & 1).
  function automatic bit [11:0] channel_word(input int w);
    bit [31:0] unit;
    unit = 32'(w) / 2;
    return unit[0] ^ unit[1] ? u_channels.ch1[unit / 2 * 2 + 32'(w) % 2] : u_channels.ch0[unit / 2 * 2 + 32'(w) % 2];
  endfunction

  task automatic interleaved();
    td_tensor  t;
    td_tensor  back;
    td_layout  columns;
    td_report  report;
    td_bytes_t data;
    td_bytes_t back_bytes;
    bit        alike;
    t = td_tensor::create("i6", "8 4");
    back = td_tensor::create("i6", "8 4");
    columns = td_layout::create("r (c l) -> (c r) l", "l=2");
    t.fill_ramp(-16, 1);
    chip.load_tensor(64'hA000_0000, t, columns);
    alike = 1'b1;
    for (int w = 0; w < 16; w++) begin
      bit [5:0] low;
      low = 6'(w % 8 * 4 + w / 8 * 2 - 16);
      if (channel_word(w) != {low + 6'd1, low}) alike = 1'b0;
    end
    ok(alike, "a tensor lies in both channels of the design, words hashed");
    u_channels.ch1[1] ^= 12'h800;  // word 3: element (3, 1)
    status = chip.try_compare_tensor(64'hA000_0000, t, columns, "", "", report, message);
    equal(report.mismatches(), 1, "what the design changes is found");
    report.destroy();
    chip.dump_tensor(64'hA000_0000, back, columns);
    equal(back.get_bits(13), 64'h1d, "and dumped");  // -3 without its sign
    // big endian, 12 bits in two bytes: the top byte has the lower address
    data = new[6];
    data[0] = 8'h05;
    data[1] = 8'h43;
    data[2] = 8'h0f;
    data[3] = 8'hff;
    data[4] = 8'h00;
    data[5] = 8'h21;
    chip.write_bytes(64'hA000_0002, data);
    ok(channel_word(1) == 12'h543 && channel_word(2) == 12'hfff && channel_word(3) == 12'h021,
       "bytes of words of 12 bits, big endian, over two channels");
    chip.read_bytes(64'hA000_0002, 6, back_bytes);
    ok(back_bytes[0] == 8'h05 && back_bytes[1] == 8'h43 && back_bytes[5] == 8'h21, "come back");
    data[0] = 8'h15;
    status = chip.try_write_bytes(64'hA000_0002, data, message);
    ok(status == TD_RANGE && channel_word(1) == 12'h543, "bits above the width are refused");
    t.destroy();
    back.destroy();
    columns.destroy();
  endtask

  task automatic files();
    td_bytes_t       back;
    longint unsigned bytes_outside;
    write_text("tb_map.srec", "S309800000FC0A0B0C0D4C\nS309900000081112131414\nS70500000000FA\n");
    ok(chip.load_file("tb_map.srec") == 0, "all of a file lies in memories");
    chip.read_bytes(64'h8000_00fc, 4, back);
    ok(back[0] == 8'h0a && back[3] == 8'h0d, "a file goes to the macros");
    chip.read_bytes(64'h9000_0008, 4, back);
    ok(back[0] == 8'h11 && back[3] == 8'h14, "and to another memory by its addresses");
    write_text("tb_map.srec", "S309800000FE0A0B0C0D4A\nS70500000000FA\n");
    status = chip.try_load_file("tb_map.srec", bytes_outside, message);
    ok(status == TD_RANGE, "a file that lies in a hole in part is refused");
    same(message, {"map_load_file \"tb_map.srec\": line 1: address 0x80000100 lies in the hole 0x80000100 .. ",
                   "0x8fffffff between wbuf and ddr; use an address of a memory, or add one to the map"},
         "by its message");
    equal(chip.load_file("srec,outside=skip:tb_map.srec"), 2, "or loaded without that part");
    // boot comes before wbuf in the file; wbuf refuses a part of a word that cannot be corrected
    u_channels.boot[0] = 32'h12345678;
    u_sram.gen_macro[3].mem[7][3] ^= 1'b1;
    u_sram.gen_macro[3].mem[7][7] ^= 1'b1;
    write_text("tb_map.srec", "S309700000000A0B0C0D58\nS306800000FE0A71\nS70500000000FA\n");
    status = chip.try_load_file("tb_map.srec", bytes_outside, message);
    ok(status == TD_UNCORRECTABLE, "a memory that refuses its part");
    ok(u_channels.boot[0] == 32'h12345678, "leaves all others as they are");
    u_sram.gen_macro[3].mem[7][3] ^= 1'b1;
    u_sram.gen_macro[3].mem[7][7] ^= 1'b1;
    equal(chip.load_file("tb_map.srec"), 0, "the file goes in once they are right");
    ok(u_channels.boot[0] == 32'h0d0c0b0a, "all of it");
  endtask

  // An ELF file of 32 bits: its header, a line for each part, and what the parts hold.
  localparam bit [31:0] Elf[42] = '{
      32'h464c457f, 32'h00010101, 0, 0, 32'h00f30002, 1, 32'h80000012, 52, 0, 0, 32'h00200034, 3, 0,
      1, 148, 32'h80000012, 32'h80000012, 6, 10, 5, 1,  // four zeros behind its bytes
      1, 156, 32'hA0000002, 32'hA0000002, 6, 6, 6, 1,
      1, 164, 32'h70000000, 32'h70000000, 4, 4, 6, 1,
      32'h44332211, 32'h00006655, 32'hff0f4305, 32'h00000a00, 32'hcafef00d};

  // As an image: Verilator 5.006 writes no zero bytes with %u, %z or %c.
  task automatic write_elf(input string path);
    td_memory image;
    image = td_memory::create("image", 32, 42);
    foreach (Elf[i]) image.set_bits(64'(i), 64'(Elf[i]));
    image.save_file({"raw:", path});
    image.destroy();
  endtask

  // Parts of one file in macros with a code, in channels that a hash interleaves, and in an array by itself.
  task automatic elf();
    longint unsigned bytes_outside;
    td_bytes_t       ones;
    write_elf("tb_map.elf");
    ones = new[16];
    foreach (ones[i]) ones[i] = 8'hff;
    chip.write_bytes(64'h8000_0010, ones);
    status = chip.try_load_file("tb_map.elf", bytes_outside, message);
    same(message, "", "an ELF file");
    ok(status == TD_OK && bytes_outside == 0, "lies in memories");
    ok(coded(4) == encoded(32'h2211_ffff) && coded(5) == encoded(32'h6655_4433), "goes to the macros, coded");
    ok(coded(6) == encoded(32'hffff_ffff), "what is behind its bytes stays");
    ok(channel_word(1) == 12'h543 && channel_word(2) == 12'hfff && channel_word(3) == 12'h00a,
       "to channels that are interleaved, by their endian");
    ok(u_channels.boot[0] == 32'hcafef00d, "and to an array by itself");
    u_channels.ch0[0] = 12'h123;
    equal(chip.load_file("elf,bss=zero:tb_map.elf"), 0, "with its zeros");
    ok(coded(6) == encoded(32'h0000_0000) && coded(7) == encoded(32'hffff_ffff), "those are written, no others");
    ok(u_channels.ch0[0] == 12'h123, "what is no part of it stays");
  endtask

  task automatic memories();
    td_faults        faults;
    td_where         place;
    td_memory        memory;
    td_memory        above;
    td_code          parity;
    longint unsigned word;
    longint unsigned lsb;
    chip.locate(64'h8000_0049, memory, word, lsb);
    ok(memory == wbuf && word == 18 && lsb == 8, "an address is a bit of a word");
    place = td_where::of_word(memory, word, lsb, 8);
    same(place.line(0), "\"wbuf\" word 0x12 bits 12:8, macro 0 \"macro[0]\" row 4 bits 50:34 step 4",
         "which is a bit of a macro");
    memory = chip.find("boot");
    memory.set_bits(3, 64'h77);
    ok(u_channels.boot[3] == 32'h77, "a memory that is an array of the design");
    faults = td_faults::inject(wbuf, "word=18 bits=1 seed=3");
    ok(coded(18) != encoded(32'h1613_100d), "faults go into the macros");
    ok(wbuf.get_bits(18) == 64'h1613_100d, "and are corrected");
    found = faults.undo();
    ok(found == 0 && coded(18) == encoded(32'h1613_100d), "and undone");
    status = wbuf.try_destroy(message);
    ok(status == TD_ARGUMENT, "a memory of a map cannot be destroyed alone");
    same(message, "memory_destroy \"wbuf\": a map has made it; destroy the map", "by its message");
    memory = macros.bank(0);
    status = memory.try_destroy(message);
    ok(status == TD_ARGUMENT, "nor can an array before the map");
    parity = td_code::create("parity even width=31", 31);
    above = td_memory::coded("above", parity, wbuf);
    status = chip.try_destroy(message);
    ok(status == TD_ARGUMENT, "nor the map before what lies over its memories");
    same(message, "map_destroy \"wbuf\": 1 memory lies over it; destroy what lies above a memory before it",
         "by its message");
    above.set_bits(1, 64'h1);
    ok(coded(1) == encoded(32'h8000_0001), "it can be used meanwhile");
    above.destroy();
    parity.destroy();
    ok(chip.text().len() > 100, "a map can be printed");
  endtask

  task automatic refusals();
    td_memory missing;
    status = chip.try_find("wbug", missing, message);
    ok(status == TD_ARGUMENT && missing == null, "a memory that is not there");
    same(message, "map_find: the map has no memory \"wbug\"; did you mean wbuf?", "by its message");
    write_text("tb_other.map", "wbuf: words 64 x 32; arrays 64 x 32 macro[0]\n");
    status = td_map::try_open_over("tb_other.map", macros, none, message);
    ok(status == TD_ARGUMENT && none == null, "an array of another geometry");
    same(message, {"map_open \"tb_other.map\", line 1: array \"macro[0]\" is 8 words of 52 bits, the map ",
                   "says 64 x 32; correct the map, or pass another array"}, "by its message");
    write_text("tb_other.map", "wbuf: words 64 x 32\n");
    status = td_map::try_open_over("tb_other.map", macros, none, message);
    ok(status == TD_ARGUMENT, "an array that the map does not have");
    same(message, {"map_open \"tb_other.map\": the map has no array \"macro[0]\"; the first of its 1 is wbuf"},
            "by its message");
    status = td_map::try_open("none.map", none, message);
    ok(status == TD_FILE, "no file");
  endtask

  td_bytes_t       own_bytes;
  longint unsigned found;

  initial begin
    seen.install();
    write_text("tb_map.map", {
               "wbuf: words 64 x 32; base 0x8000_0000; code inv_39_32;\n",
               "      organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=3 p=4; arrays 8 x 52 macro[0..5]\n",
               "ch0: words 32 x 64\nch1: words 32 x 64\n",
               "ddr: base 0x9000_0000; memories ch{0..1}; unit 16; interleave (row ch) -> (row ch); options ch=2;\n",
               "     address bank = ch ^ (row & 1); addr = row\n",
               "boot: words 8 x 32; base 0x7000_0000\n",
               "c0: words 16 x 12; endian big\nc1: words 16 x 12; endian big\n",
               "iram: base 0xA000_0000; memories c{0..1}; unit 4; interleave (row ch) -> (row ch); options ch=2;\n",
               "      address bank = ch ^ (row & 1); addr = row\n"});
    macros = u_macros.create("macro");
    arrays = new("arrays");
    for (int i = 0; i < 6; i++) arrays.add(macros.bank(i));
    arrays.add(map_ch0::create("c0"));
    arrays.add(map_ch1::create("c1"));
    arrays.add(map_boot::create("boot"));
    chip = td_map::open_over("tb_map.map", arrays);
    ok(chip != null, "a map over macros of the design");
    ok(chip.size() == 8 && chip.name_at(3) == "ddr", "has eight memories");
    wbuf = chip.find("wbuf");
    channel = chip.find_raw("wbuf");
    equal(channel.width(), 39, "and those under the code have check bits");
    ok(wbuf.width() == 32 && wbuf.depth() == 64, "the words are those of the data");
    wbuf.clear();
    ok(coded(63) == 39'h2a00000000, "zeros are coded in the macros");
    bytes();
    tensors();
    interleaved();
    files();
    elf();
    memories();
    refusals();
    chip.destroy();
    status = chip.try_find("wbuf", wbuf, message);
    ok(status == TD_HANDLE, "a map that was destroyed");
    chip = td_map::create("own: words 16 x 64; base 0x100; code inv_72_64\n");
    own_bytes = new[1];
    own_bytes[0] = 8'h5a;
    chip.write_bytes(64'h109, own_bytes);
    wbuf = chip.find("own");
    ok(wbuf.get_bits(1) == 64'h5a00, "a map without arrays of the design");
    chip.destroy();
    status = wbuf.try_get_bits(1, found, message);
    ok(status == TD_HANDLE, "its memories end with it");
    for (int i = 6; i < 9; i++) begin
      channel = arrays.bank(i);
      channel.destroy();
    end
    macros.destroy();
    finish();
  end
endmodule
