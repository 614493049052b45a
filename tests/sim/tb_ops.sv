// Everything that td_pkg offers, loud and quiet: what it does, and what it says when it refuses. With +loud it makes
// one bad call without a reporter and ends, with +differs two comparisons: the shell test looks for what they say.
module tb_ops;
  import td_pkg::*;
  import tap_pkg::*;

  recorder seen = new;
  td_tensor no_tensor;  // variables, because older versions of Verilator do not take null as an argument
  td_layout no_layout;
  string message;
  td_status_e status;

  // ---- two comparisons without a reporter, for the shell test

  task automatic differs();
    td_memory memory;
    td_tensor golden;
    td_layout layout;
    td_report report;
    memory = td_memory::create("differs", 8, 4);
    golden = td_tensor::create("u8", "4");
    layout = td_layout::create("r -> r 1");
    if ($test$plusargs("matches") == 0) golden.set_bits(2, 1);
    if ($test$plusargs("setting") != 0) td_reporter::stop_on_error = 1'b1;
    report = memory.backdoor_compare_tensor(golden, layout);
    report.destroy();
    report = memory.backdoor_compare_tensor(golden, layout);
    report.destroy();
    $display("both were compared");
  endtask

  // ---- the status numbers of C and SystemVerilog

  task automatic statuses();
    td_status_e s;
    string c_name;
    for (int i = 0; i <= int'(TD_UNCORRECTABLE); i++) begin
      s = td_status_e'(i);
      td_dpi_pkg::td_dpi_status_name(i, c_name);
      same({"TD_", c_name}, s.name(), $sformatf("status %0d has one name in C and here", i));
    end
    td_dpi_pkg::td_dpi_status_name(int'(TD_UNCORRECTABLE) + 1, c_name);
    same(c_name, "UNKNOWN", "C has no further status");
    td_dpi_pkg::td_dpi_version(c_name);
    ok(c_name.len() >= 5, $sformatf("the library says its version, %s", c_name));
  endtask

  // ---- tensors

  task automatic tensors();
    td_tensor t, u;
    longint unsigned bits;
    t = td_tensor::create("i12", "2, 3 4");
    same(t.dtype(), "i12", "dtype");
    same(t.shape(), "2 3 4", "shape, as create takes it");
    equal(t.elems(), 24, "elems");
    t.fill_ramp(-2.0, 1.0);
    equal(t.get_bits(0), 64'hffe, "a ramp from -2, as bits");
    equal(t.get_bits(23), 21, "the ramp's end");
    t.set_bits(5, 64'h800);
    equal(t.get_bits(5), 64'h800, "one element set");
    u = td_tensor::create("i12", "24");
    t.fill_random(7);
    u.fill_random(7);
    bits = 0;
    for (longint unsigned i = 0; i < 24; i++) if (t.get_bits(i) == u.get_bits(i)) bits++;
    equal(bits, 24, "one seed gives one tensor");
    same(seen.take(), "", "none of this is reported");

    status = t.try_get_bits(24, bits, message);
    refused(status, TD_RANGE, message,
            "tensor_get_bits: element 24 of a tensor of 24 elements, shape (2, 3, 4); the last is 23",
            "get past the end");
    bits = t.get_bits(24);
    same(seen.take(),
         "TD_RANGE: tensor_get_bits: element 24 of a tensor of 24 elements, shape (2, 3, 4); the last is 23",
         "the same, loud");
    status = t.try_set_bits(0, 64'h1000, message);
    refused(status, TD_RANGE, message,
            "tensor_set_bits: 0x1000 has bits above the 12 of i12; pass the element's own bits, zero-extended",
            "set too much");
    t.set_bits(24, 0);
    same(seen.take(),
         "TD_RANGE: tensor_set_bits: element 24 of a tensor of 24 elements, shape (2, 3, 4); the last is 23",
         "set past the end, loud");

    status = td_tensor::try_create("i12", "2 0", u, message);
    refused(status, TD_SHAPE, message, "shape \"2 0\": an extent of 0 at dimension 1; every extent is at least 1",
            "an extent of zero");
    ok(u == null, "and no tensor");
    status = td_tensor::try_create("i12", "2 x", u, message);
    refused(status, TD_SHAPE, message, "shape \"2 x\": a number is needed at column 3; write it as \"2 3 4\"",
            "a shape that is none");
    u = td_tensor::create("int12", "2");
    ok(seen.status == TD_DTYPE && seen.count == 1 && u == null, "a dtype that is none, loud");
    void'(seen.take());
    t.destroy();
    t.destroy();
    same(seen.take(), $sformatf("TD_HANDLE: %s",
         gone("tensor_destroy", "tensor", t.handle())), "destroyed twice");
    t.fill_ramp();
    same(seen.take(), $sformatf("TD_HANDLE: %s",
         gone("tensor_fill_ramp", "tensor", t.handle())), "filled after its end");
    t.fill_random(1);
    same(seen.take(), $sformatf("TD_HANDLE: %s",
         gone("tensor_fill_random", "tensor", t.handle())), "random after its end");
  endtask

  // Distributions, another shape, and names.
  task automatic named();
    td_tensor t;
    td_layout layout;
    td_memory m;
    int       inside_range, zeros;
    t = td_tensor::create("i8", "10 24");
    t.fill("uniform min=-3 max=4 seed=7");
    inside_range = 0;
    for (longint unsigned i = 0; i < 240; i++) if (t.get_real(i) >= -3.0 && t.get_real(i) <= 4.0) inside_range++;
    equal(64'(inside_range), 240, "uniform values of a range");
    t.fill("sparse zeros=0.9 seed=1");
    zeros = 0;
    for (longint unsigned i = 0; i < 240; i++) if (t.get_bits(i) == 0) zeros++;
    ok(zeros > 190 && zeros < 240, "sparse ones");
    t.fill("corners");
    ok(t.get_bits(0) == 64'h80 || t.get_bits(1) == 64'h80 || t.get_bits(2) == 64'h80, "corners have the lowest value");
    t.fill("uniforn");
    starts(seen.take(), "TD_OPTION: tensor_fill: ", "no distribution, loud");
    status = t.try_fill("uniform max=200", message);
    starts($sformatf("%s: %s", status.name(), message), "TD_RANGE: tensor_fill: ", "past the dtype's range");

    t.fill_ramp();
    t.reshape("4 6 10");
    same(t.shape(), "4 6 10", "another shape");
    ok(t.rank() == 3 && t.dim(-1) == 10 && t.elems() == 240, "with its dimensions");
    equal(t.get_bits(127), 127, "and the same elements");
    t.reshape("7 3");
    starts(seen.take(), "TD_SHAPE: tensor_reshape: ", "another number of elements, loud");
    same(t.shape(), "4 6 10", "which changes nothing");
    status = t.try_reshape("4 x", message);
    refused(status, TD_SHAPE, message, "shape \"4 x\": a number is needed at column 3; write it as \"2 3 4\"",
            "no shape");

    same(t.name(), "", "a tensor that was created has no name");
    t.set_name("weights");
    same(t.name(), "weights", "until it gets one");
    m = td_memory::create("small", 80, 4);
    layout = td_layout::create("a b c -> (a b) c");
    status = m.try_backdoor_load_tensor(t, layout, "", message);
    ok(status == TD_RANGE && mentions(message, "tensor \"weights\", i8 (4, 6, 10)"), "which a refused load says");
    t.save("named.npy");
    t.destroy();
    same(t.name(), "", "after its end there is none");
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("tensor_name", "tensor", t.handle())), "loud");
    t.set_name("x");
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("tensor_set_name", "tensor", t.handle())), "set_name, too");
    t.reshape("240");
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("tensor_reshape", "tensor", t.handle())), "and reshape");
    t.fill("corners");
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("tensor_fill", "tensor", t.handle())), "and fill");
    t = td_tensor::open("named.npy");
    same(t.name(), "named.npy", "a file gives its name");
    t.destroy();
    m.destroy();
    layout.destroy();
  endtask

  function automatic bit mentions(input string text, input string word);
    for (int i = 0; i + word.len() <= text.len(); i++) if (text.substr(i, i + word.len() - 1) == word) return 1'b1;
    return 1'b0;
  endfunction

  // Which way loads and dumps went.
  task automatic paths();
    td_tensor t;
    td_layout rows, columns;
    td_memory m, n;
    t = td_tensor::create("u8", "8 4");
    rows = td_layout::create("r c -> r c");
    columns = td_layout::create("r c -> c r");
    m = td_memory::create("m", 64, 8);
    n = td_memory::create("n", 32, 8);
    td_speed::clear_paths();
    same(td_speed::paths(), "", "no path at first");
    m.backdoor_load_tensor(t, columns);
    same(td_speed::paths(), "interleaved: 1 call, 32 bytes\n", "a load of columns");
    n.backdoor_load_tensor(t, rows);
    n.backdoor_dump_tensor(t, rows);
    equal(td_speed::calls("interleaved"), 1, "counted once");
    ok(td_speed::calls("contiguous") == 2 && td_speed::calls("no path") == 0, "and two others by name");
    td_speed::clear_paths();
    equal(td_speed::calls("contiguous"), 0, "cleared");
    m.destroy();
    n.destroy();
    t.destroy();
    rows.destroy();
    columns.destroy();
  endtask

  function automatic string gone(input string call_name, input string kind, input longint unsigned handle);
    return $sformatf("%s: the %s with handle 0x%0h was destroyed; use it before, or create another", call_name, kind,
                     handle);
  endfunction

  // ---- many elements at once

  task automatic lists();
    td_tensor t, w;
    td_chunk_t chunk;
    td_words_t words, back;
    int wrong;
    t = td_tensor::create("i16", "1000");
    words = new[1000];
    for (int i = 0; i < 1000; i++) words[i] = 32'(i * 60 - 30000);
    t.from_words(words);
    t.to_words(back);
    wrong = back.size() == 1000 ? 0 : 1;
    for (int i = 0; i < 1000; i++) if (back[i] != words[i]) wrong++;
    equal(64'(wrong), 0, "1000 signed elements from a dynamic array and back");
    equal(t.get_bits(0), 64'h8ad0, "the first, as bits");

    for (int i = 0; i < 256; i++) chunk[i] = 32'(i);
    t.set_chunk(500, 256, chunk);
    chunk[10] = 99;
    t.get_chunk(505, 10, chunk);
    ok(chunk[0] == 5 && chunk[9] == 14 && chunk[10] == 99,
       "a chunk set, a part of it read, the rest of the array left");
    same(seen.take(), "", "none of this is reported");

    words[999] = 32'h0001_0000;
    words[0] = 32'd1;
    status = t.try_from_words(words, message);
    refused(status, TD_RANGE, message,
            "tensor_from_words: element 999 is 0x10000, more than the 16 bits of i16; clear the bits above",
            "a value that does not fit, in the last chunk");
    equal(t.get_bits(0), 64'h8ad0, "and the first chunk is unchanged");
    words[999] = 32'hffff_0000;
    t.from_words(words);
    same(seen.take(),
         {"TD_RANGE: tensor_from_words: element 999 is 0xffffffffffff0000, more than the 16 bits of i16; clear the ",
          "bits above"},
         "a negative one that does not fit, loud");
    words = new[999];
    t.from_words(words);
    same(seen.take(), "TD_SHAPE: tensor_from_words: 999 words for 1000 elements of i16; pass 1000 of 32 bits",
         "too few words");
    status = t.try_set_chunk(800, 256, chunk, message);
    refused(status, TD_RANGE, message,
            "tensor_set_chunk: elements 800 to 1055 of a tensor of 1000 elements; end at 999", "a chunk past the end");
    t.set_chunk(0, 257, chunk);
    same(seen.take(), "TD_ARGUMENT: tensor_set_chunk: a chunk of 257 elements of i16; pass 1 to 256",
         "a chunk too long");
    t.get_chunk(999, 2, chunk);
    same(seen.take(), "TD_RANGE: tensor_get_chunk: elements 999 to 1000 of a tensor of 1000 elements; end at 999",
         "read past the end");

    w = td_tensor::create("u40", "300");
    ok(w.words_per_elem() == 2, "a u40 takes two words");
    words = new[600];
    for (int i = 0; i < 300; i++) begin
      words[2*i] = 32'(i) * 32'd77777;
      words[2*i+1] = 32'(i % 256);
    end
    w.from_words(words);
    w.to_words(back);
    wrong = 0;
    for (int i = 0; i < 600; i++) if (back[i] != words[i]) wrong++;
    equal(64'(wrong), 0, "300 elements of 40 bits and back");
    words[599] = 32'd256;
    w.from_words(words);
    same(seen.take(),
         {"TD_RANGE: tensor_from_words: element 299 is 0x1000162d91b, more than the 40 bits of u40; clear the bits ",
          "above"},
         "a 41st bit");
    t.destroy();
    t.to_words(back);
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("tensor_to_words", "tensor", t.handle())),
         "to_words after its end");
    ok(back.size() == 0, "and no words");
    w.destroy();
  endtask

  // ---- files

  task automatic files();
    td_tensor t, u;
    td_memory m;
    t = td_tensor::create("u16", "3 5");
    t.fill_ramp(100.0, 3.0);
    t.save("files.npy");
    u = td_tensor::open("files.npy");
    same(u.shape(), "3 5", "a tensor saved and opened: shape");
    equal(u.get_bits(14), 142, "and value");
    status = u.try_set_bits(0, 0, message);
    refused(status, TD_ARGUMENT, message,
            "tensor_set_bits: the tensor is mapped read-only from a file; copy it into one from td_tensor_create",
            "an opened tensor is read-only");
    u.destroy();
    u = td_tensor::open("files.npy", "bf16");
    same(u.dtype(), "bf16", "the same bytes as bf16");
    u.destroy();
    status = td_tensor::try_open("nowhere.npy", "", u, message);
    starts($sformatf("%s: %s", status.name(), message), "TD_FILE: tensor_open \"nowhere.npy\": cannot open the file",
           "a missing file");
    u = td_tensor::open("nowhere.npy");
    ok(u == null, "and no tensor");
    starts(seen.take(), "TD_FILE: tensor_open \"nowhere.npy\": cannot open the file", "the same, loud");
    t.save("no/such/folder/files.npy");
    starts(seen.take(), "TD_FILE: tensor_save \"no/such/folder/files.npy\": cannot create the file",
           "a tensor saved nowhere");
    status = t.try_save("files.txt", message);
    starts($sformatf("%s: %s", status.name(), message), "TD_ARGUMENT: tensor_save \"files.txt\": the extension",
           "a tensor saved as text");
    t.destroy();

    m = td_memory::create("image", 12, 20);
    m.set_bits(3, 64'habc);
    m.save_file("files.hex");
    m.clear();
    equal(m.get_bits(3), 0, "cleared");
    m.load_file("files.hex");
    equal(m.get_bits(3), 64'habc, "an image saved and loaded");
    m.save_file("part.hex", 3, 1);
    m.clear();
    m.load_file("part.hex");
    equal(m.get_bits(3), 64'habc, "a part of it");
    same(seen.take(), "", "none of this is reported");
    m.load_file("nowhere.hex");
    starts(seen.take(), "TD_FILE: memory_load_file \"nowhere.hex\": cannot open the file", "a missing image, loud");
    status = m.try_save_file("part.hex", 15, 6, message);
    starts($sformatf("%s: %s", status.name(), message), "TD_RANGE: memory_save_file \"part.hex\": span 0 has 6 words",
           "more words than there are");
    m.destroy();
    m.clear();
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("memory_clear", "memory", m.handle())),
         "cleared after its end");
  endtask

  // ---- backdoor_read and backdoor_write

  task automatic words_of(input int unsigned width);
    td_memory m;
    td_addresses_t addresses;
    td_words_t words, mask, byte_mask, back, old;
    int unsigned n, per, wrong;
    bit [31:0] top;
    n = 300;
    per = (width + 31) / 32;
    top = width % 32 == 0 ? '1 : (32'd1 << (width % 32)) - 32'd1;
    m = td_memory::create("words", 64'(width), 1000);
    addresses = new[n];
    words = new[n*per];
    mask = new[n*per];
    byte_mask = new[n*((width+255)/256)];
    for (int unsigned i = 0; i < n; i++) addresses[i] = 64'(999 - 3 * i);
    for (int unsigned i = 0; i < n * per; i++) begin
      words[i] = $urandom & (i % per == per - 1 ? top : '1);
      mask[i] = $urandom & (i % per == per - 1 ? top : '1);
    end
    m.backdoor_write(addresses, words);
    m.backdoor_read(addresses, back);
    wrong = 32'(back.size()) == n * per ? 0 : 1;
    for (int unsigned i = 0; i < n * per; i++) if (back[i] != words[i]) wrong++;
    equal(64'(wrong), 0, $sformatf("width %0d: %0d words written and read", width, n));

    old = back;
    for (int unsigned i = 0; i < n * per; i++) words[i] = ~words[i] & (i % per == per - 1 ? top : '1);
    m.backdoor_write_bits(addresses, words, mask);
    m.backdoor_read(addresses, back);
    wrong = 0;
    for (int unsigned i = 0; i < n * per; i++) if (back[i] != ((old[i] & ~mask[i]) | (words[i] & mask[i]))) wrong++;
    equal(64'(wrong), 0, $sformatf("width %0d: under a mask of bits", width));

    // Byte 0 of every word but the last.
    old = back;
    for (int unsigned i = 0; i < n; i++) byte_mask[i*((width+255)/256)] = i == n - 1 ? 0 : 1;
    m.backdoor_write_bytes(addresses, words, byte_mask);
    m.backdoor_read(addresses, back);
    wrong = 0;
    for (int unsigned i = 0; i < n * per; i++)
      if (back[i] != (i % per == 0 && i / per != n - 1 ? ((old[i] & ~32'hff) | (words[i] & 32'hff)) : old[i])) wrong++;
    equal(64'(wrong), 0, $sformatf("width %0d: under a mask of bytes", width));
    same(seen.take(), "", $sformatf("width %0d: nothing reported", width));
    m.destroy();
  endtask

  task automatic refused_words();
    td_memory m;
    td_addresses_t addresses, none;
    td_words_t words, back, no_words;
    m = td_memory::create("narrow", 12, 10);
    addresses = '{4, 10};
    words = '{5, 6};
    status = m.try_backdoor_write(addresses, words, message);
    refused(status, TD_RANGE, message,
            "backdoor_write \"narrow\": address 0xa (entry 1) is past the memory of 10 words; the last address is 0x9",
            "an address past the memory");
    equal(m.get_bits(4), 0, "and the word before it is unchanged");
    m.backdoor_read(addresses, back);
    same(seen.take(),
         {"TD_RANGE: backdoor_read \"narrow\": address 0xa (entry 1) is past the memory of 10 words; the last address ",
          "is 0x9"},
         "the same for a read, loud");
    addresses = '{4, 5};
    words = '{5, 32'h1000};
    m.backdoor_write(addresses, words);
    same(seen.take(),
         "TD_RANGE: backdoor_write \"narrow\": word 1 has 0x1 above its 12 bits; clear the bits from 12 up",
         "a word with a 13th bit");
    words = '{5, 32'h1_0000};
    m.backdoor_write(addresses, words);
    same(seen.take(),
         "TD_RANGE: backdoor_write \"narrow\": word 1 has 0x10 above its 12 bits; clear the bits from 12 up",
         "a word with a 17th bit");
    equal(m.get_bits(4), 0, "and nothing is written");
    words = '{5, 6, 7};
    m.backdoor_write(addresses, words);
    same(seen.take(),
         {"TD_ARGUMENT: backdoor_write \"narrow\": 2 addresses with a word list of 3; pass 1 of 32 bits for each ",
          "address"},
         "too many words");
    m.backdoor_write(none, words);
    same(seen.take(), "TD_ARGUMENT: backdoor_write \"narrow\": a count of 0 words; pass at least one address",
         "no address");
    status = m.try_backdoor_read(none, back, message);
    refused(status, TD_ARGUMENT, message, "backdoor_read \"narrow\": a count of 0 words; pass at least one address",
            "no address to read");
    words = '{5, 6};
    back = '{3};
    m.backdoor_write_bits(addresses, words, back);
    same(seen.take(),
         {"TD_ARGUMENT: backdoor_write \"narrow\": 2 addresses with a mask list of 1; pass 1 of 32 bits for each ",
          "address"},
         "too short a mask");
    m.backdoor_write_bits(addresses, words, no_words);
    same(seen.take(),
         {"TD_ARGUMENT: backdoor_write \"narrow\": 2 addresses with a mask list of 0; pass 1 of 32 bits for each ",
          "address"},
         "no mask where there should be one");
    status = m.try_backdoor_write(addresses, no_words, message);
    refused(status, TD_ARGUMENT, message,
            "backdoor_write \"narrow\": 2 addresses with a word list of 0; pass 1 of 32 bits for each address",
            "no words");
    back = '{1, 4};
    m.backdoor_write_bytes(addresses, words, back);
    same(seen.take(), "TD_RANGE: backdoor_write \"narrow\": mask 1 has 0x1 above its 2 bits; clear the bits from 2 up",
         "a mask for a third byte");
    m.set_bits(0, 64'h1000);
    same(seen.take(), "TD_RANGE: set_bits \"narrow\": 0x1000 for a word of 12 bits; clear the bits above",
         "set_bits too much");
    status = m.try_set_bits(10, 0, message);
    refused(status, TD_RANGE, message,
            "backdoor_write \"narrow\": address 0xa (entry 0) is past the memory of 10 words; the last address is 0x9",
            "set_bits past the memory");
    m.destroy();
    m.backdoor_write(addresses, words);
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("backdoor_write", "memory", m.handle())),
         "written after its end");
    m = td_memory::create("wide", 100, 10);
    status = m.try_set_bits(0, 0, message);
    refused(status, TD_ARGUMENT, message,
            "set_bits \"wide\": words of 100 bits do not fit in 64; use backdoor_read and backdoor_write",
            "set_bits of 100 bits");
    void'(m.get_bits(0));
    same(seen.take(),
         "TD_ARGUMENT: get_bits \"wide\": words of 100 bits do not fit in 64; use backdoor_read and backdoor_write",
         "get_bits of 100 bits");
    m.destroy();
    status = td_memory::try_create("none", 0, 10, m, message);
    refused(status, TD_ARGUMENT, message, "memory_create \"none\": a width of 0 bits; a width is 1 to 16777216 bits",
            "a memory without bits");
    m = td_memory::create("none", 8, 0);
    same(seen.take(), "TD_ARGUMENT: memory_create \"none\": a depth of 0 words; a depth is 1 to 1099511627776 words",
         "a memory without words, loud");
    ok(m == null, "and no memory");
  endtask

  // ---- matrices

  task automatic matrices();
    td_memory m;
    td_tensor t, u;
    m = td_memory::create("rows", 32, 64);
    t = td_tensor::create("u8", "16 4");
    u = td_tensor::create("u8", "16 4");
    t.fill_ramp(0.0, 1.0);
    m.backdoor_load_matrix(t, 8, 24);
    equal(m.get_bits(8), 64'h03020100, "a row is a word, element 0 lowest");
    equal(m.get_bits(23), 64'h3f3e3d3c, "the last row");
    m.backdoor_dump_matrix(u, 8, 24);
    equal(u.get_bits(63), 63, "dumped again");
    status = m.try_backdoor_load_matrix(t, 8, 23, message);
    refused(status, TD_SHAPE, message,
            "backdoor_load_matrix \"rows\": words [8, 23) are not the 16 rows of the matrix; pass last = 24",
            "one word too few");
    m.backdoor_load_matrix(t, 50, 66);
    same(seen.take(),
         {"TD_RANGE: backdoor_load_matrix \"rows\": word 65 is past the memory of 64 words; use rows that end at 64 ",
          "or before"},
         "past the memory, loud");
    status = m.try_backdoor_dump_matrix(u, 56, 72, message);
    refused(status, TD_RANGE, message,
            "backdoor_dump_matrix \"rows\": word 71 is past the memory of 64 words; use rows that end at 64 or before",
            "dump past the memory");
    m.backdoor_dump_matrix(no_tensor, 0, 16);
    same(seen.take(), "TD_HANDLE: backdoor_dump_matrix: the tensor is null; create it first", "no tensor");
    m.destroy();
    t.destroy();
    u.destroy();
  endtask

  // ---- tensors by layout

  task automatic layouts();
    td_memory m;
    td_tensor t, u;
    td_layout l, none;
    m = td_memory::create("abuf", 64, 64);
    t = td_tensor::create("i16", "2 3 8");
    u = td_tensor::create("i16", "2 3 8");
    l = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4", "0x10 + 6*b + 2*w + ct");
    same(l.pattern(), "b w (ct cs) -> (b w ct) cs", "pattern");
    same(l.options(), "cs=4", "options");
    same(l.address(), "16 + 6*b + 2*w + ct", "address");
    t.fill_ramp(-1.0, 1.0);
    m.backdoor_load_tensor(t, l);
    equal(m.get_bits(16), 64'h0002_0001_0000_ffff, "the first word, lane 0 lowest");
    equal(m.get_bits(27), 64'h002e_002d_002c_002b, "the last word");
    m.backdoor_dump_tensor(u, l, "i16");
    equal(u.get_bits(0), 64'hffff, "dumped: the first element");
    equal(u.get_bits(47), 46, "and the last");
    same(seen.take(), "", "none of this is reported");

    status = td_layout::try_create("b w (ct cs) -> (b w ct", "cs=4", "", none, message);
    ok(status == TD_PATTERN && none == null, "a pattern that does not parse");
    none = td_layout::create("b -> b 1", "b=4 speed=9");
    ok(seen.status == TD_OPTION && seen.count == 1, "an unknown option, loud");
    void'(seen.take());
    m.backdoor_load_tensor(no_tensor, l);
    same(seen.take(), "TD_HANDLE: backdoor_load_tensor: the tensor is null; create it first", "no tensor");
    status = m.try_backdoor_load_tensor(t, no_layout, "", message);
    refused(status, TD_HANDLE, message, "backdoor_load_tensor: the layout is null; create it first", "no layout");
    none = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4 dtype=i32");
    m.backdoor_load_tensor(t, none);
    ok(seen.status == TD_DTYPE && seen.count == 1, "a layout of another dtype");
    void'(seen.take());
    none.destroy();
    status = m.try_backdoor_dump_tensor(u, l, "f12", message);
    ok(status == TD_DTYPE, "a dtype that is none");
    l.destroy();
    m.backdoor_dump_tensor(u, l);
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("backdoor_dump_tensor", "layout", l.handle())),
         "a layout after its end");
    l.destroy();
    same(seen.take(), $sformatf("TD_HANDLE: %s", gone("layout_destroy", "layout", l.handle())),
         "destroyed twice");
    l = td_layout::create("b w (ct cs) -> (b w ct) cs", "cs=4", "60 + index");
    m.backdoor_load_tensor(t, l);
    ok(seen.status == TD_RANGE && seen.count == 1, "an address past the memory");
    void'(seen.take());
    equal(m.get_bits(60), 0, "and no word is written");
    l.destroy();
    m.destroy();
    t.destroy();
    u.destroy();
  endtask

  // ---- handles that are none; below the classes

  task automatic handles();
    longint unsigned tensor, layout, memory, other;
    td_chunk_t chunk;
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_create("i8", "4", tensor, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_layout_create("a -> 1 a", "", "", layout, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_create("m", 32, 4, memory, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(memory, tensor, layout, "", message));
    ok(status == TD_OK && message == "", "three handles");
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(memory, layout, tensor, "", message));
    refused(status, TD_HANDLE, message,
            $sformatf("backdoor_load_tensor: handle 0x%0h is a layout; pass a tensor", layout), "two of them swapped");
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_matrix(tensor, tensor, 0, 1, message));
    refused(status, TD_HANDLE, message,
            $sformatf("backdoor_load_matrix: handle 0x%0h is a tensor; pass a memory",
                      tensor), "a tensor for a memory");
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_dump_tensor(memory, 5, layout, "", message));
    refused(status, TD_HANDLE, message,
            "backdoor_dump_tensor: 0x5 is no handle of this library; pass the handle of a tensor", "a number");
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_clear('1, message));
    refused(status, TD_HANDLE, message,
            "memory_clear: 0xffffffffffffffff is no handle of this library; pass the handle of a memory", "all ones");
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_clear(memory + 64'h0000_0001_0000_0000, message));
    refused(status, TD_HANDLE, message,
            $sformatf("memory_clear: 0x%0h is no handle of this library; pass the handle of a memory",
                      memory + 64'h0000_0001_0000_0000),
            "a generation that has not been");
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_save(tensor + 1000, "x.npy", message));
    ok(status == TD_HANDLE, "an index that is not in use");
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(tensor, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_create("i8", "4", other, message));
    ok(other != tensor && other[31:0] == tensor[31:0], "a slot is used again, its handle is not");
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(memory, tensor, layout, "", message));
    refused(status, TD_HANDLE, message, gone("backdoor_load_tensor", "tensor", tensor), "the old handle");
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_load_tensor(memory, other, layout, "", message));
    ok(status == TD_OK && message == "", "the new one");
    status = td_status_e'(td_dpi_pkg::td_dpi_backdoor_read(memory, other, other, message));
    refused(status, TD_DTYPE, message, "backdoor_read \"m\": addresses in a tensor of i8; use u64",
            "one tensor as both lists is refused, not waited for");
    status = td_status_e'(td_dpi_pkg::td_dpi_list_put(other, 0, 4, chunk, message));
    refused(status, TD_DTYPE, message, "list_put: a tensor of i8 is no list; use u32 from tensor_create",
            "a tensor as a list");
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_to_list(other, other, message));
    refused(status, TD_SHAPE, message, "tensor_to_words: 4 words for 4 elements of i8; pass 4 of 32 bits",
            "as its own list");
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(other, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_layout_destroy(layout, message));
    status = td_status_e'(td_dpi_pkg::td_dpi_memory_destroy(memory, message));
    ok(status == TD_OK && message == "", "destroyed");
    for (int i = 0; i < 1000; i++) begin
      status = td_status_e'(td_dpi_pkg::td_dpi_tensor_create("i8", "4", tensor, message));
      if (i % 2 == 0) status = td_status_e'(td_dpi_pkg::td_dpi_tensor_destroy(tensor, message));
    end
    status = td_status_e'(td_dpi_pkg::td_dpi_tensor_fill_ramp(tensor, 1.0, 1.0, message));
    ok(status == TD_OK, "five hundred tensors at once");
  endtask

  initial begin
    td_memory memory;
    if ($test$plusargs("loud") != 0) begin
      memory = td_memory::create("loud", 0, 1);
      if (memory == null) $display("no memory was made");
      $finish;
    end else if ($test$plusargs("differs") != 0) begin
      differs();
      $finish;
    end else begin
      seen.install();
      statuses();
      tensors();
      named();
      paths();
      lists();
      files();
      words_of(1);
      words_of(8);
      words_of(12);
      words_of(32);
      words_of(48);
      words_of(64);
      words_of(65);
      words_of(300);
      refused_words();
      matrices();
      layouts();
      handles();
      finish();
    end
  end
endmodule
