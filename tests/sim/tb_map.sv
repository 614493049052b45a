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

module tb_map;
  import td_pkg::*;
  import tap_pkg::*;

  map_sram u_sram ();
  map_macro #(6) u_macros ();

  localparam bit [31:0] Masks[7] = '{
    32'h2606bd25, 32'hdeba8050, 32'h413d89aa, 32'h31234ed1, 32'hc2c1323b, 32'h2dcc624c, 32'h98505586
  };

  recorder    seen = new;
  string      message;
  td_status_e status;
  td_bank_set macros;
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
    same(message, {"map_locate: address 0x80000100 lies in the hole 0x80000100 .. 0x8fffffff between wbuf and ddr; ",
                      "use an address of a memory, or add one to the map"}, "and the message has the hole");
    chip.read_bytes(64'h8000_00f0, 16, back);
    alike = 1'b1;
    foreach (back[i]) if (back[i] != 0) alike = 1'b0;
    ok(alike, "nothing was written");
  endtask

  task automatic tensors();
    td_tensor t;
    td_tensor back;
    td_layout rows;
    td_report report;
    t = td_tensor::create("u8", "4 4");
    back = td_tensor::create("u8", "4 4");
    rows = td_layout::create("r c -> r c", "", "2*r");
    t.fill_ramp(1, 3);
    chip.load_tensor(64'h8000_0040, t, rows);
    ok(wbuf.get_bits(18) == 64'h16_13_10_0d, "row 1 is in word 18");
    chip.dump_tensor(64'h8000_0040, back, rows);
    ok(back.get_bits(15) == 46, "a tensor comes back");
    status = chip.try_compare_tensor(64'h8000_0040, t, rows, "", "", report, message);
    ok(status == TD_OK && report.passed(), "and compares");
    status = chip.try_load_tensor(64'h8000_0041, t, rows, "", message);
    ok(status == TD_ADDRESS, "an address inside of a word is refused");
    t.destroy();
    back.destroy();
    rows.destroy();
  endtask

  task automatic files();
    td_bytes_t back;
    write_text("tb_map.srec", "S309800000FC0A0B0C0D4C\nS309900000081112131414\nS70500000000FA\n");
    chip.load_file("tb_map.srec");
    chip.read_bytes(64'h8000_00fc, 4, back);
    ok(back[0] == 8'h0a && back[3] == 8'h0d, "a file goes to the macros");
    chip.read_bytes(64'h9000_0008, 4, back);
    ok(back[0] == 8'h11 && back[3] == 8'h14, "and to another memory by its addresses");
    write_text("tb_map.srec", "S309800000FE0A0B0C0D4A\nS70500000000FA\n");
    status = chip.try_load_file("tb_map.srec", message);
    ok(status == TD_RANGE, "a file that lies in a hole in part is refused");
  endtask

  task automatic refusals();
    status = chip.try_find("wbug", wbuf, message);
    ok(status == TD_ARGUMENT, "a memory that is not there");
    same(message, "map_find: the map has no memory \"wbug\"; the first of its 4 is wbuf", "by its message");
    write_text("tb_other.map", "wbuf: words 64 x 32; arrays 64 x 32 macro[0]\n");
    status = td_map::try_open("tb_other.map", macros, none, message);
    ok(status == TD_ARGUMENT && none == null, "an array of another geometry");
    same(message, {"map_open: array \"macro[0]\" is 8 words of 52 bits, the map says 64 x 32; correct the map, or ",
                   "pass another array"}, "by its message");
    write_text("tb_other.map", "wbuf: words 64 x 32\n");
    status = td_map::try_open("tb_other.map", macros, none, message);
    ok(status == TD_ARGUMENT, "an array that the map does not have");
    same(message, {"map_open \"tb_other.map\": the map has no array \"macro[0]\"; correct its name, or leave it out"},
            "by its message");
    status = td_map::try_open("none.map", macros, none, message);
    ok(status == TD_FILE, "no file");
  endtask

  initial begin
    seen.install();
    write_text("tb_map.map", {
               "wbuf: words 64 x 32; base 0x8000_0000; code inv_39_32;\n",
               "      organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=3 p=4; arrays 8 x 52 macro[0..5]\n",
               "ch0: words 32 x 64\nch1: words 32 x 64\n",
               "ddr: base 0x9000_0000; memories ch{0..1}; unit 16; interleave (row ch) -> (row ch); options ch=2;\n",
               "     address bank = ch ^ (row & 1); addr = row\n"});
    macros = u_macros.create("macro");
    chip = td_map::open("tb_map.map", macros);
    ok(chip != null, "a map over macros of the design");
    ok(chip.size() == 4 && chip.name_at(3) == "ddr", "has four memories");
    wbuf = chip.find("wbuf");
    channel = chip.find_raw("wbuf");
    equal(channel.width(), 39, "and those under the code have check bits");
    ok(wbuf.width() == 32 && wbuf.depth() == 64, "the words are those of the data");
    wbuf.clear();
    ok(coded(63) == 39'h2a00000000, "zeros are coded in the macros");
    bytes();
    tensors();
    files();
    refusals();
    chip.destroy();
    macros.destroy();
    finish();
  end
endmodule
