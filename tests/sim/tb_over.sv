// Memories that lie over others: macros of the design in a generate loop, memories of the library, and both. Every call
// is made on such a memory and on a plain one of the same words, `twin`; then every word is put together again from the
// macros by the formula of the organisation, and held against it.
`include "td_macros.svh"

// 256 words of 64 bits in eight macros: two tiles by depth, four slices, two words in a row.
module over_sram;
  for (genvar m = 0; m < 8; m++) begin : gen_macro
    logic [31:0] mem[0:63];
  end
  logic [39:0] spare[0:31];
endmodule

`TD_BANKS_MODULE(over_macro, tb_over.u_sram.gen_macro[bank].mem, 32)

module tb_over;
  import td_pkg::*;
  import tap_pkg::*;

  over_sram u_sram ();
  over_macro #(8) u_macros ();
  `TD_MEM_CLASS(spare_mem, tb_over.u_sram.spare, 40)

  recorder seen = new;
  string message;
  td_status_e status;

  td_bank_set macros;
  td_memory   over;
  td_memory   twin;

  localparam string Pattern = "(t r p) (s k) -> (t s) r (k p)";
  localparam string Sizes = "t=2 s=4 p=2";

  // Bit b of word w: macro 4*t + s, row r, bit 2*k + p, with w = 128*t + 2*r + p and b = 16*s + k.
  function automatic longint unsigned found(input td_bank_set arrays, input int w);
    td_memory        macro;
    longint unsigned row;
    found = 0;
    for (int s = 0; s < 4; s++) begin
      macro = arrays.bank(w / 128 * 4 + s);
      row = macro.get_bits(64'(w) / 2 % 64);
      for (int k = 0; k < 16; k++) found[16*s+k] = row[2*k+w%2];
    end
  endfunction

  function automatic void agree(input td_bank_set arrays, input string what);
    int wrong;
    wrong = -1;
    for (int w = 255; w >= 0; w--) if (found(arrays, w) != twin.get_bits(64'(w))) wrong = w;
    ok(wrong < 0, what);
    if (wrong >= 0) $display("# word %0d is 0x%h, needed 0x%h", wrong, found(arrays, wrong), twin.get_bits(64'(wrong)));
  endfunction

  function automatic bit same_bits(input td_tensor a, input td_tensor b);
    for (longint unsigned i = 0; i < a.elems(); i++) if (a.get_bits(i) != b.get_bits(i)) return 1'b0;
    return 1'b1;
  endfunction

  task automatic words(input td_bank_set arrays);
    td_addresses_t addresses;
    td_words_t     given, mask, back, back_twin;
    bit            good;
    over.fill("random seed=3");
    twin.fill("random seed=3");
    agree(arrays, "fill");
    over.set_bits(131, 64'h0123456789abcdef);
    twin.set_bits(131, 64'h0123456789abcdef);
    agree(arrays, "set_bits of one word in a shared row");
    equal(over.get_bits(131), 64'h0123456789abcdef, "get_bits");
    addresses = new[5];
    given = new[10];
    mask = new[10];
    addresses = '{7, 255, 6, 0, 7};
    for (int i = 0; i < 10; i++) begin
      given[i] = 32'h9e3779b9 * 32'(i + 1);
      mask[i] = 32'h85ebca6b * 32'(i + 3);
    end
    over.backdoor_write(addresses, given);
    twin.backdoor_write(addresses, given);
    agree(arrays, "a list of words");
    over.backdoor_write_bits(addresses, mask, given);
    twin.backdoor_write_bits(addresses, mask, given);
    agree(arrays, "bits of them");
    mask = new[5];
    mask = '{1, 2, 32'h55, 32'hff, 32'h80};
    over.backdoor_write_bytes(addresses, given, mask);
    twin.backdoor_write_bytes(addresses, given, mask);
    agree(arrays, "bytes of them");
    over.backdoor_read(addresses, back);
    twin.backdoor_read(addresses, back_twin);
    good = back.size() == 10;
    for (int i = 0; i < 10; i++) good = good && back[i] == back_twin[i];
    ok(good, "a list that is read");
    over.fill("address", 3, 9);
    twin.fill("address", 3, 9);
    agree(arrays, "a part that begins and ends inside a row");
  endtask

  task automatic tensors(input td_bank_set arrays);
    td_tensor     t, back;
    td_layout     rows, kept, padded;
    td_report     report;
    td_snapshot   earlier;
    td_comparison what;
    td_faults     faults;
    t = td_tensor::create("i16", "60 4");
    t.fill_ramp(-700.0, 11.0);
    back = td_tensor::create("i16", "60 4");
    rows = td_layout::create("r c -> r c", "", "200 - 3*r");
    over.backdoor_load_tensor(t, rows);
    twin.backdoor_load_tensor(t, rows);
    agree(arrays, "a tensor");
    over.backdoor_dump_tensor(back, rows);
    ok(same_bits(back, t), "comes back");
    kept = td_layout::create("r c -> r c", "fill=keep lsb=20 slot=8", "r");
    over.backdoor_load_tensor(t, kept, "i8 sat");
    twin.backdoor_load_tensor(t, kept, "i8 sat");
    agree(arrays, "bytes of it, the rest of the words kept");
    over.backdoor_load_tensor(t, rows);
    twin.backdoor_load_tensor(t, rows);
    status = over.try_backdoor_compare_tensor(t, rows, "", "", report, message);
    equal(report.mismatches(), 0, "equal");
    over.set_bits(200 - 3 * 17, over.get_bits(200 - 3 * 17) ^ 64'h10000);
    status = over.try_backdoor_compare_tensor(t, rows, "", "", report, message);
    equal(report.mismatches(), 1, "a wrong bit is found");
    twin.set_bits(200 - 3 * 17, twin.get_bits(200 - 3 * 17) ^ 64'h10000);
    over.backdoor_load_matrix(t, 100, 160);
    twin.backdoor_load_matrix(t, 100, 160);
    agree(arrays, "a matrix");
    over.backdoor_dump_matrix(back, 100, 160);
    ok(same_bits(back, t), "and back");
    padded = td_layout::create("r (q c) -> (r q) c", "c=3 pad=0", "index");
    over.backdoor_load_tensor(t, padded);
    twin.backdoor_load_tensor(t, padded);
    equal(over.backdoor_dirty_padding(t, padded, 5), twin.backdoor_dirty_padding(t, padded, 5), "poison in padding");
    agree(arrays, "the same poison");

    earlier = over.take_snapshot();
    what = new;
    what.set_golden(t);
    what.set_layout(padded);
    what.set_snapshot(earlier);
    status = over.try_backdoor_compare(what, report, message);
    equal(report.mismatches(), 0, "nothing has changed since the snapshot");
    over.set_bits(250, ~over.get_bits(250));
    status = over.try_backdoor_compare(what, report, message);
    ok(!report.passed(), "a word outside has");
    over.set_bits(250, ~over.get_bits(250));
    earlier.destroy();

    faults = td_faults::inject(over, "words=12 bits=3 seed=2");
    equal(faults.count(), 36, "faults");
    equal(over.get_bits(faults.word(0)) ^ twin.get_bits(faults.word(0)), flipped(faults, faults.word(0)),
          "where the record says");
    equal(faults.undo(), 0, "and back");
    agree(arrays, "all of them");
    t.destroy();
    back.destroy();
    rows.destroy();
    kept.destroy();
    padded.destroy();
  endtask

  function automatic longint unsigned flipped(input td_faults faults, input longint unsigned word);
    flipped = 0;
    for (longint unsigned i = 0; i < faults.count(); i++)
      if (faults.word(i) == word) flipped[6'(faults.bit_in_word(i))] = 1'b1;
  endfunction

  task automatic files(input td_bank_set arrays);
    over.save_file("over.hex", 10, 100);
    twin.fill("one");
    over.fill("one");
    twin.load_file("over.hex");
    over.load_file("over.hex");
    agree(arrays, "a file");
    over.save_file("over.ihex");
    over.clear();
    twin.clear();
    agree(arrays, "clear");
    equal(over.load_file_part("ihex,outside=skip:over.ihex"), 0, "a whole file");
    twin.load_file("over.ihex");
    agree(arrays, "back from a file");
    same(seen.take(), "", "none of this is reported");
  endtask

  function automatic void make(input td_bank_set arrays);
    td_layout organisation;
    organisation = td_layout::create(Pattern, Sizes);
    over = td_memory::over("over", 64, 256, organisation, arrays);
    organisation.destroy();
    twin = td_memory::create("twin", 64, 256);
  endfunction

  function automatic void unmake();
    over.destroy();
    twin.destroy();
  endfunction

  task automatic all_calls(input td_bank_set arrays);
    make(arrays);
    words(arrays);
    tensors(arrays);
    files(arrays);
    unmake();
  endtask

  // ---- banks that lie over macros, and memories over memories

  task automatic banks_and_nests();
    td_bank_set halves, low_macros, high_macros;
    td_layout   half, tiles, banked;
    td_memory   low, high;
    td_tensor   t, back;
    td_report   report;
    low_macros = new("low");
    high_macros = new("high");
    for (int i = 0; i < 4; i++) begin
      low_macros.add(macros.bank(i));
      high_macros.add(macros.bank(4 + i));
    end
    half = td_layout::create("(r p) (s k) -> s r (k p)", "s=4 p=2");
    low = td_memory::over("low", 64, 128, half, low_macros);
    high = td_memory::over("high", 64, 128, half, high_macros);
    halves = new("halves");
    halves.add(low);
    halves.add(high);
    twin = td_memory::create("twin", 64, 256);

    halves.fill("random seed=8");
    for (int w = 0; w < 256; w++) twin.set_bits(64'(w), halves.get_bits(64'(w)));
    agree(macros, "banks that lie over macros");
    t = td_tensor::create("u8", "2 100 5");
    t.fill_ramp(1.0, 3.0);
    back = td_tensor::create("u8", "2 100 5");
    banked = td_layout::create("b r c -> b r c", "pad=7", "r + 20");
    halves.backdoor_load_tensor(t, banked);
    halves.backdoor_dump_tensor(back, banked);
    ok(same_bits(back, t), "a tensor in both");
    status = halves.try_backdoor_compare_tensor(t, banked, "", "", report, message);
    equal(report.mismatches(), 0, "compared");
    for (int w = 0; w < 256; w++) twin.set_bits(64'(w), halves.get_bits(64'(w)));
    agree(macros, "is in the macros");

    tiles = td_layout::create("(t r) k -> t r k", "t=2");
    over = td_memory::over("nest", 64, 256, tiles, halves);
    words(macros);
    tensors(macros);
    files(macros);
    status = low.try_destroy(message);
    refused(status, TD_ARGUMENT, message,
            "memory_destroy \"low\": 1 memory lies over it; destroy what lies above a memory before it",
            "a memory below is kept");
    unmake();
    low.destroy();
    high.destroy();
    same(seen.take(), "", "from the top down all can be destroyed");
  endtask

  // Two memories in different rows of one array, with bits that belong to nobody; padding is made dirty in both at
  // once.
  task automatic spare_bits();
    td_memory   array, rows, columns;
    td_layout   low, high, padded;
    td_bank_set both;
    td_tensor   t;
    bit         good;
    array = spare_mem::create("spare");
    array.fill("one");
    low = td_layout::create("r k -> 1 r k", "lsb=3");
    high = td_layout::create("r k -> 1 r k", "lsb=3", "31 - r");
    rows = td_memory::over("rows", 32, 16, low, td_bank_set::from('{array}));
    columns = td_memory::over("columns", 32, 16, high, td_bank_set::from('{array}));
    both = td_bank_set::from('{rows, columns}, "both");
    both.fill("address");
    good = 1'b1;
    for (int r = 0; r < 16; r++) begin
      good = good && u_sram.spare[r] === {5'h1f, 32'(r), 3'h7};
      good = good && u_sram.spare[31-r] === {5'h1f, 32'(r), 3'h7};
    end
    ok(good, "bits that are no memory's stay");
    t = td_tensor::create("u8", "2 16 3");
    t.fill_ramp(0.0, 1.0);
    padded = td_layout::create("b r c -> b r c", "c=4 pad=0");
    both.backdoor_load_tensor(t, padded);
    equal(both.backdoor_dirty_padding(t, padded, 0), 32, "dirty padding in two memories of one array");
    good = 1'b1;
    for (int r = 0; r < 16; r++) begin
      good = good && u_sram.spare[r] === {5'h1f, 8'hff, 8'(3 * r + 2), 8'(3 * r + 1), 8'(3 * r), 3'h7};
      good = good && u_sram.spare[31-r] === {5'h1f, 8'hff, 8'(3 * r + 50), 8'(3 * r + 49), 8'(3 * r + 48), 3'h7};
    end
    ok(good, "in the array");
    columns.destroy();
    rows.destroy();
    array.destroy();
    same(seen.take(), "", "none of this is reported");
  endtask

  // A design writes a macro, and the memory over it has it at once.
  task automatic with_the_design();
    make(macros);
    over.clear();
    u_sram.gen_macro[5].mem[9] = 32'hc0000000;
    equal(over.get_bits(128 + 18), 64'h80000000, "what the design wrote, in one word");
    equal(over.get_bits(128 + 19), 64'h80000000, "and in the other of its row");
    over.set_bits(128 + 18, 0);
    equal(64'(u_sram.gen_macro[5].mem[9]), 64'h80000000, "one of two words in a row, written");
    unmake();
  endtask

  // Words that are made x: in memories of the library they are, until they are written; arrays of a design with two
  // states have some value.
  task automatic unknown_words(input td_bank_set arrays, input bit known);
    longint unsigned bits;
    make(arrays);
    over.fill("one");
    over.invalidate(130, 2);
    same(seen.take(), "", "words are made x");
    status = over.try_get_bits(130, bits, message);
    if (known) ok(status == TD_OK, "in an array of two states they have a value");
    else
      refused(status, TD_X_STATE, message,
              {"backdoor_read \"over\": the word at address 0x82 (entry 0) is x or z in bit 0; ",
               "let the design drive it first, or set the memory's policy to x=zero"}, "and refused");
    equal(over.get_bits(129), 64'hffffffffffffffff, "their neighbours are not");
    over.set_bits(130, 5);
    equal(over.get_bits(130), 5, "a write makes one known");
    arrays.fill("one");
    arrays.invalidate(arrays.depth() / 64'(arrays.size()) - 1, 2);  // the last word of bank 0, the first of bank 1
    status = arrays.try_get_bits(arrays.depth() / 64'(arrays.size()), bits, message);
    ok(status == (known ? TD_OK : TD_X_STATE), "words of a set of banks");
    status = arrays.try_get_bits(arrays.depth() / 64'(arrays.size()) - 2, bits, message);
    ok(status == TD_OK, "and no others");
    status = arrays.try_invalidate(arrays.depth(), 1, message);
    ok(status == TD_RANGE, "words past all banks");
    arrays.fill("zero");
    status = over.try_invalidate(250, 7, message);
    refused(status, TD_RANGE, message,
            {"memory_invalidate \"over\": 7 words from 0xfa in a memory of 256 words; ",
             "pass words inside it, at least one"}, "words that are not there");
    unmake();
  endtask

  task automatic refusals();
    td_layout   organisation, none, tiled;
    td_bank_set no_set, empty;
    td_memory   memory, gone;
    organisation = td_layout::create(Pattern, Sizes);
    tiled = td_layout::create("(t r) k -> t r k", "t=2");
    memory = td_memory::over("wbuf", 64, 256, organisation, no_set);
    same(seen.take(),
         "TD_HANDLE: memory_over \"wbuf\": the arrays are null; pass a td_bank_set", "no arrays, loud");
    ok(memory == null, "gives null");
    status = td_memory::try_over("wbuf", 64, 256, none, macros, memory, message);
    refused(status, TD_HANDLE, message, "memory_over \"wbuf\": the organisation is null; pass a td_layout",
            "no organisation");
    empty = new("empty");
    status = td_memory::try_over("wbuf", 64, 256, organisation, empty, memory, message);
    refused(status, TD_ARGUMENT, message,
            "memory_over \"wbuf\": no arrays; pass the memories that its bits lie in, at least one", "an empty set");
    status = td_memory::try_over("wbuf", 64, 300, organisation, macros, memory, message);
    starts(message, "memory_over \"wbuf\": ", "an organisation that does not fit");
    ok(status != TD_OK && memory == null, "makes nothing");
    gone = td_memory::create("gone", 32, 64);
    gone.destroy();
    empty.add(gone);
    status = td_memory::try_over("wbuf", 32, 128, tiled, empty, memory, message);
    starts(message, "memory_over: the memory with handle 0x", "an array that was destroyed");
    status = td_memory::try_over("wbuf", 64, 256, organisation, macros, memory, message);
    ok(status == TD_OK && message == "", "the quiet twin of a good one");
    macros.bank(3).destroy();
    same(seen.take(),
         {"TD_ARGUMENT: memory_destroy \"over_macro[3]\": 1 memory lies over it; ",
          "destroy what lies above a memory before it"},
         "a macro below is kept, loud");
    memory.destroy();
    same(seen.take(), "", "the memory itself can be destroyed");
    organisation.destroy();
    tiled.destroy();
  endtask

  initial begin
    td_bank_set owned, mixed;
    td_memory   memory;
    seen.install();
    macros = u_macros.create();
    all_calls(macros);
    owned = td_bank_set::create("owned", 8, 32, 64);
    all_calls(owned);
    mixed = new("mixed");
    for (int i = 0; i < 8; i++) begin
      memory = i % 2 != 0 ? macros.bank(i) : owned.bank(i);
      mixed.add(memory);
    end
    all_calls(mixed);
    unknown_words(owned, 1'b0);
    unknown_words(macros, 1'b1);
    owned.destroy();
    banks_and_nests();
    spare_bits();
    with_the_design();
    refusals();
    macros.destroy();
    same(seen.take(), "", "nothing is left over");
    finish();
  end
endmodule
