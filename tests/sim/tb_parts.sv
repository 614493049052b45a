// Block-scaled tensors from SystemVerilog: a tensor into its parts, each part by its own layout into its own memory,
// and everything back.
`include "td_macros.svh"

module tb_parts;
  import td_pkg::*;
  import tap_pkg::*;

  recorder seen = new;
  string message;
  td_status_e status;

  task automatic round_trip();
    td_tensor w, back, again;
    td_parts p, q;
    td_memory wbuf, sbuf;
    td_layout tiles, swizzled;
    td_report report;
    w = td_tensor::create("f32", "64 128");
    w.fill("normal seed=7");
    w.set_name("w");
    p = td_parts::pack(w, "mxfp4 rule=rceil");
    equal(64'(p.count()), 2, "two parts");
    same(p.name(0), "elems", "the first");
    same(p.name(1), "scales", "the second");
    same(p.name(2), "", "no third");
    same(p.packing(), "mxfp4 elem=e2m1 scale=e8m0 axis=-1 block=32 rule=rceil round=even inf=nan tail=short",
         "the packing, whole");
    same(p.shape(), "64 128", "the shape of the tensor");
    same(p.part("scales").dtype(), "e8m0", "the dtype of scales");
    same(p.part("scales").shape(), "64 4", "one for each block");
    same(p.part("scales").name(), "w.scales", "its name");

    wbuf     = td_memory::create("wbuf", 128, 1024);
    sbuf     = td_memory::create("sbuf", 32, 64);
    tiles    = td_layout::create("(nt ns) (kt ks) -> (nt kt ns) ks", "ns=16 ks=32");
    swizzled = td_layout::create("n k -> n k");
    wbuf.backdoor_load_tensor(p.part("elems"), tiles);
    sbuf.backdoor_load_tensor(p.part("scales"), swizzled);
    q = td_parts::create("mxfp4", "64 128");
    wbuf.backdoor_dump_tensor(q.part("elems"), tiles);
    sbuf.backdoor_dump_tensor(q.part("scales"), swizzled);
    status = sbuf.try_backdoor_compare_tensor(p.part("scales"), swizzled, "", "", report, message);
    ok(report.passed(), "the scales lie there");
    back  = p.unpack();
    again = q.unpack("f32");
    status = back.try_compare(again, "", report, message);
    ok(report.passed(), "the parts that came back stand for the same values");
    status = w.try_compare(back, "atol=1", report, message);
    ok(report.passed(), "which are near the tensor's");
    starts(q.fit(w), "256 of 256 scales and 8192 of 8192 elements are those of rule=rceil", "the rule that fits");
    ok(back.get_real(5) == p.part("elems").get_real(5) * p.part("scales").get_real(0), "element by scale");
    p.destroy();
    q.destroy();
    equal(64'(p.count()), 0, "no parts are left");
    w.destroy();
    back.destroy();
    again.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  task automatic more_parts();
    td_tensor w, values;
    td_parts p;
    w = td_tensor::create("bf16", "4 32");
    w.fill("normal seed=1");
    p = td_parts::pack(w, "nvfp4");
    equal(64'(p.count()), 3, "NVFP4 has three");
    same(p.name(2), "global", "the third");
    same(p.part("global").shape(), "", "a scalar");
    p.destroy();
    p = td_parts::pack(w, "uint4 block=16");
    same(p.name(2), "zeros", "zero points");
    values = p.unpack("bf16");
    same(values.dtype(), "bf16", "back to any dtype");
    p.destroy();
    values.destroy();
    w.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  task automatic records();
    td_tensor w, words, no_words, back, again;
    td_parts p, q, no_parts;
    td_report report;
    w = td_tensor::create("f32", "2 64");
    w.fill("normal seed=3");
    p = td_parts::pack(w, "q4_0");
    words = p.record();
    same(words.shape(), "2 2 18", "a record of 18 bytes for each block");
    q = td_parts::create("q4_0", "2 64");
    q.set_record(words);
    back  = p.unpack();
    again = q.unpack();
    status = back.try_compare(again, "", report, message);
    ok(report.passed(), "parts come back out of records");
    words.destroy();
    words = p.record("tile=32 elems");
    same(words.shape(), "2 2 16", "elements alone");
    status = q.try_set_record(words, "", message);
    refused(status, TD_SHAPE, message, {"parts_set_record: a tensor of u8, shape (2, 2, 16), for 4 records of 18 ",
            "bytes; pass 72 bytes, as u8 or wider integers"}, "records of another size");
    status = q.try_set_record(no_words, "", message);
    refused(status, TD_ARGUMENT, message, "parts_set_record: the tensor is NULL; pass parts, and a tensor of records",
            "no tensor");
    words.save("tb_parts.npz:m.w_blocks");
    no_parts = td_parts::open("tb_parts.npz:m.w", "mxfp4");
    ok(no_parts == null, "a weight without scales is null");
    starts(seen.take(), {"TD_ARGUMENT: parts_open \"tb_parts.npz:m.w\": tensor_open \"tb_parts.npz:m.w_scales\": the ",
                         "file holds no tensor \"m.w_scales\""}, "and loud");
    status = td_parts::try_open("none.gguf:w", "", no_parts, message);
    ok(status == TD_FILE, "a file that is not there");
    p.destroy();
    q.destroy();
    w.destroy();
    words.destroy();
    back.destroy();
    again.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  task automatic bytes(input int file, input logic [33*8-1:0] value, input int count);
    for (int n = 0; n < count; n++) $fwrite(file, "%c", value[8*n+:8]);
  endtask

  // A file of one tensor of q8_0, written here: 32 elements, the scale 1, codes 0 to 31.
  task automatic opened();
    int file;
    td_parts p;
    td_tensor values;
    logic [33*8-1:0] info; // the header behind "GGUF" and the version, last byte on top
    file = $fopen("tb_parts.gguf", "wb");
    info = {64'd0, 32'd8, 64'd32, 32'd1, 8'h77, 64'd1};
    $fwrite(file, "GGUF");
    bytes(file, 264'd3, 4);
    bytes(file, 264'd1, 16);
    bytes(file, info, 33);
    bytes(file, 264'd0, 7);
    bytes(file, 264'h3c00, 2);
    for (int code = 0; code < 32; code++) bytes(file, 264'(code), 1);
    $fclose(file);
    p = td_parts::open("tb_parts.gguf:w");
    ok(p != null, "a tensor of a .gguf");
    if (p != null) begin
      same(p.shape(), "32", "its shape");
      starts(p.packing(), "q8_0 ", "its packing");
      values = p.unpack();
      ok(values.get_real(31) == 31.0, "its values");
      values.destroy();
      p.destroy();
    end
    same(seen.take(), "", "none of this is reported");
  endtask

  // 60 rows in tiles of 16, 100 columns in words of 32: the last tile and the last words have padding.
  task automatic dirty_padding();
    td_tensor w;
    td_parts p;
    td_memory wbuf;
    td_layout tiles;
    td_report report;
    longint unsigned pads;
    w = td_tensor::create("f32", "60 100");
    w.fill("normal seed=7");
    p = td_parts::pack(w, "mxfp4");
    wbuf  = td_memory::create("wbuf", 128, 256);
    tiles = td_layout::create("(nt ns) (kt ks) -> (nt kt ns) ks", "ns=16 ks=32 pad=0");
    wbuf.backdoor_load_tensor(p.part("elems"), tiles);
    pads = wbuf.backdoor_dirty_padding(p.part("elems"), tiles, 3);
    equal(pads, 64 * 128 - 60 * 100, "every padding element is dirty");
    status = wbuf.try_backdoor_compare_tensor(p.part("elems"), tiles, "", "", report, message);
    ok(report.passed(), "no element is");
    status = wbuf.try_backdoor_compare_tensor(p.part("elems"), tiles, "check_pad", "", report, message);
    equal(report.pad_mismatches(), pads, "none holds its value");
    equal(wbuf.backdoor_dirty_padding(p.part("elems"), tiles), pads, "a seed need not be named");
    status = wbuf.try_backdoor_dirty_padding(p.part("scales"), tiles, 1, "", pads, message);
    ok(status != TD_OK, "what a load refuses is refused");
    p.destroy();
    w.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  task automatic refusals();
    td_tensor w, part, gone;
    td_parts p, no_parts;
    w = td_tensor::create("f32", "4 32");
    gone = td_tensor::create("f32", "4");
    gone.destroy();
    no_parts = td_parts::pack(w, "mxpf4");
    ok(no_parts == null, "a refused packing is null");
    starts(seen.take(), {"TD_OPTION: parts_pack: packing \"mxpf4\" begins with \"mxpf4\", which is no packing; did ",
                         "you mean \"mxfp4\"?"}, "and loud");
    status = td_parts::try_pack(gone, "mxfp4", no_parts, message);
    ok(status == TD_HANDLE, "a tensor that was destroyed is stale");
    status = td_parts::try_create("mxfp4", "4 0", no_parts, message);
    refused(status, TD_SHAPE, message, "shape \"4 0\": an extent of 0 at dimension 1; every extent is at least 1",
            "a shape that no tensor has");
    p = td_parts::pack(w, "mxfp4");
    part = p.part("scale");
    ok(part == null, "an unknown part is null");
    starts(seen.take(), "TD_OPTION: parts_part: \"scale\" is no part of \"mxfp4 elem=e2m1", "and loud");
    p.part("scales").reshape("2 2");
    part = p.unpack("f33");
    ok(part == null, "an unknown dtype is null");
    starts(seen.take(), "TD_DTYPE: parts_unpack: unknown dtype \"f33\"", "and loud");
    p.part("scales").destroy();
    status = p.try_unpack("f32", part, message);
    ok(status == TD_HANDLE, "a part that was destroyed is stale");
    w.destroy();
  endtask

  // The memories of the design: arrays that only the testbench reaches.
  bit [127:0] wbuf_array[0:255];
  logic [31:0] sbuf_array[0:63];
  `TD_MEM_CLASS(wbuf_mem, tb_parts.wbuf_array, 128)
  `TD_MEM_CLASS(sbuf_mem, tb_parts.sbuf_array, 32)

  // One call through a layout of parts, the same as pack and two loads, into memories of the library or of the design.
  task automatic one_call(input bit in_design);
    td_tensor w, back, values;
    td_parts p;
    td_parts_layout where, no_where;
    td_memory wbuf, sbuf, no_memory;
    td_tensor no_tensor;
    td_layout tiles, rows;
    td_report report;
    td_addresses_t at;
    td_words_t found;
    longint unsigned pads;
    w = td_tensor::create("f32", "16 128");
    w.fill("normal seed=3");
    back = td_tensor::create("f32", "16 128");
    tiles = td_layout::create("(nt ns) (kt ks) -> (nt kt ns) ks", "ns=4 ks=32", "5 + index");
    rows = td_layout::create("n k -> n k");
    if (in_design) begin
      wbuf = wbuf_mem::create("wbuf");
      sbuf = sbuf_mem::create("sbuf");
    end else begin
      wbuf = td_memory::create("wbuf", 128, 256);
      sbuf = td_memory::create("sbuf", 32, 64);
    end
    where = td_parts_layout::create("mxfp4 rule=rceil axis=kt");
    where.add_part("elems", wbuf, tiles);
    where.add_part("scales", sbuf, rows);
    same(where.packing(), "mxfp4 rule=rceil axis=kt", "the packing as written");
    where.load(w);
    p = td_parts::pack(w, "mxfp4 rule=rceil");
    status = wbuf.try_backdoor_compare_tensor(p.part("elems"), tiles, "", "", report, message);
    ok(report.passed(), "the elements lie where their layout says");
    status = sbuf.try_backdoor_compare_tensor(p.part("scales"), rows, "", "", report, message);
    ok(report.passed(), "and so do the scales");
    where.dump(back);
    values = p.unpack();
    status = values.try_compare(back, "", report, message);
    ok(report.passed(), "a dump of all parts is the values");
    status = where.try_compare(w, "", report, message);
    ok(report.passed(), "the codes are those of the golden tensor");
    status = where.try_compare(w, "ulp=1", report, message);
    ok(report.passed(), "the values are within a step of it");
    same(seen.take(), "", "none of this is reported");
    // Rows of 128 elements in tiles of 24 steps: poison in 16 of each row, and in the scales' words none.
    no_where = td_parts_layout::create("mxfp4 rule=rceil");
    no_where.add_part("elems", wbuf, td_layout::create("n (kt ks) -> (n kt) ks", "ks=24 pad=0", "64 + index"));
    no_where.add_part("scales", sbuf, rows);
    no_where.load(w);
    equal(no_where.dirty(w, 9), 16 * 16, "every padding element of all parts is dirty");
    status = no_where.try_compare(w, "", report, message);
    ok(report.passed(), "no element and no scale is");
    equal(no_where.dirty(w), 16 * 16, "a seed need not be named");
    at = new[1];
    at[0] = 64 + 5;
    wbuf.backdoor_read(at, found);
    ok(found[1] == 32'hffffffff && found[2] == 32'hffffffff && found[3] == 0, "all ones without one");
    status = no_where.try_dirty(no_tensor, 1, pads, message);
    ok(status == TD_HANDLE && pads == 0, "a null tensor has no padding");
    no_where.destroy();
    where.load(w);
    // A design that followed another rule.
    no_where = td_parts_layout::create("mxfp4 rule=floor");
    no_where.add_part("", wbuf, tiles);
    no_where.add_part("scales", sbuf, rows);
    no_where.load(w);
    status = where.try_compare(w, "max=1", report, message);
    ok(!report.passed(), "floor is not rceil");
    starts(report.guess(0), "64 of 64 scales and 2048 of 2048 elements are those of rule=floor", "and is named");
    no_where.destroy();
    // A refused call changes nothing.
    no_where = td_parts_layout::create("nvfp4");
    no_where.add_part("elems", wbuf, tiles);
    no_where.load(w);
    starts(seen.take(), "TD_OPTION: backdoor_load_parts: the part \"scales\" of \"nvfp4\" has no layout", "loud");
    status = no_where.try_add_part("scales", no_memory, rows, message);
    refused(status, TD_ARGUMENT, message, "parts_layout_add: the memory is null; create it first", "a null memory");
    status = no_where.try_add_part("elems", sbuf, rows, message);
    refused(status, TD_ARGUMENT, message,
            "parts_layout_add: the part \"elems\" has a layout already; add every part once", "a part twice");
    status = no_where.try_dump(no_tensor, message);
    ok(status == TD_HANDLE, "a null tensor");
    no_where.destroy();
    status = no_where.try_load(w, message);
    ok(status == TD_HANDLE, "a layout of parts that was destroyed is stale");
    status = td_parts_layout::try_open("no_such_file.txt", "weights", no_where, message);
    ok(status == TD_FILE && no_where == null, "a file that is not there");
    where.destroy();
    p.destroy();
    w.destroy();
    back.destroy();
    values.destroy();
    wbuf.destroy();
    sbuf.destroy();
  endtask

  task automatic by_file();
    td_tensor w, back;
    td_parts_layout where;
    td_memory wbuf, sbuf;
    td_report report;
    int file;
    file = $fopen("tb_parts_chip.txt", "w");
    $fdisplay(file, "weights: pattern (nt ns) k -> nt (ns k); options ns=2; memory wbuf; as mxfp8 axis=k;");
    $fdisplay(file, "         part scales memory sbuf preset scale_8x4; address 3 + index");
    $fclose(file);
    where = td_parts_layout::open("tb_parts_chip.txt", "weights");
    same(where.packing(), "mxfp8 axis=k", "the packing of the file");
    sbuf = td_memory::create("sbuf", 256, 16);
    wbuf = td_memory::create("wbuf", 1024, 16);
    where.add(sbuf);
    where.add(wbuf);
    w = td_tensor::create("f32", "8 64");
    w.fill("normal seed=1");
    back = td_tensor::create("f32", "8 64");
    where.load(w);
    where.dump(back);
    status = w.try_compare(back, "rtol=0.07 atol=0.01", report, message);
    ok(report.passed(), "through the memories of a layout file and back");
    same(seen.take(), "", "none of this is reported");
    where.destroy();
    w.destroy();
    back.destroy();
    wbuf.destroy();
    sbuf.destroy();
  endtask

  initial begin
    seen.install();
    one_call(1'b0);
    one_call(1'b1);
    by_file();
    round_trip();
    more_parts();
    records();
    opened();
    dirty_padding();
    refusals();
    finish();
  end
endmodule
