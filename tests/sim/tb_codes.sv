// Codes and faults from SystemVerilog: words with check bits in memories of the library and of the design, errors that
// were put there, and the way back.
`include "td_macros.svh"

module tb_codes;
  import td_pkg::*;
  import tap_pkg::*;

  logic [38:0] coded_ram[0:63];
  logic [31:0] data_ram[0:63];

  `TD_MEM_CLASS(coded_mem, tb_codes.coded_ram, 39)
  `TD_MEM_CLASS(data_mem, tb_codes.data_ram, 32)

  recorder seen = new;
  string message;
  td_status_e status;

  logic [38:0] kept[0:63];

  function automatic void remember();
    for (int i = 0; i < 64; i++) kept[i] = coded_ram[i];
  endfunction

  function automatic bit unchanged();
    for (int i = 0; i < 64; i++) if (kept[i] != coded_ram[i]) return 1'b0;
    return 1'b1;
  endfunction

  function automatic bit same_data(input td_memory source, input int first);
    for (int i = first; i < 64; i++) if (64'(data_ram[i]) != source.get_bits(64'(i))) return 1'b0;
    return 1'b1;
  endfunction

  task automatic samples();
    td_code   code;
    td_memory data, coded;
    code = td_code::create("inv_39_32", 32);
    same(code.text(), "inv_39_32 subword=32 place=above", "the text, whole");
    equal(code.data_bits(), 32, "data bits");
    equal(code.coded_bits(), 39, "coded bits");
    equal(code.check_bits(), 7, "check bits");
    equal(code.subwords(), 1, "subwords");
    ok(code.corrects(), "it corrects");
    data  = td_memory::create("data", 32, 64);
    coded = td_memory::create("coded", 39, 64);
    data.set_bits(5, 64'hcafef00d);
    code.encode(data, coded);
    equal(coded.get_bits(5), 64'h5ecafef00d, "a sample word");
    equal(coded.get_bits(0), 64'h2a00000000, "a word of zeros");
    coded.set_bits(5, 64'h5ecafef00d ^ 64'h400);
    data.set_bits(5, 0);
    ok(code.decode(coded, data), "one wrong bit is no harm");
    equal(data.get_bits(5), 64'hcafef00d, "and corrected");
    equal(code.corrected(), 1, "and counted");
    same(code.errors(), "word 0x5 subword 0: bit 10 corrected", "and said");
    coded.set_bits(5, 64'h5ecafef00d ^ 64'h3);
    ok(!code.check(coded), "two are");
    equal(code.uncorrectable(), 1, "and counted");
    same(code.errors(), "word 0x5 subword 0: not correctable", "and said");
    ok(code.check(coded, 6, 58), "the words behind are good");
    same(code.errors(), "", "without an error");
    same(seen.take(), "", "none of this is reported");
    code.destroy();
    data.destroy();
    coded.destroy();
  endtask

  // Coded words in the design, from a memory of the library and back into the design.
  task automatic in_the_design();
    td_code   code;
    td_memory source, coded, data;
    code   = td_code::create("39_32", 32);
    source = td_memory::create("source", 32, 64);
    coded  = coded_mem::create("coded");
    data   = data_mem::create("data");
    source.fill("random seed=4", 0, 64);
    source.set_bits(3, 64'hcafef00d);
    coded.clear();
    code.encode(source, coded, 2, 62);
    equal(64'(coded_ram[3]), 64'h74cafef00d, "a coded word in the design");
    equal(64'(coded_ram[1]), 0, "words before the first are not written");
    coded_ram[3][38] = ~coded_ram[3][38];
    coded_ram[63][7] = ~coded_ram[63][7];
    ok(code.decode(coded, data, 2, 62), "two single errors");
    equal(code.corrected(), 2, "corrected");
    ok(same_data(source, 2), "the data arrive in the design");
    same(seen.take(), "", "none of this is reported");
    source.destroy();
    code.destroy();
  endtask

  task automatic faults_and_back();
    td_code          code;
    td_memory        source, coded, none;
    td_faults        faults;
    td_tensor        t;
    td_layout        rows;
    longint unsigned left;
    code   = td_code::create("39_32", 32);
    source = td_memory::create("source", 32, 64);
    coded  = coded_mem::create("coded");
    source.fill("random seed=9", 0, 64);
    code.encode(source, coded);
    remember();

    faults = td_faults::inject_coded(coded, code, "words=10 in=check seed=1");
    equal(faults.count(), 10, "ten bits were flipped");
    equal(64'(coded_ram[6'(faults.word(0))]) ^ 64'(kept[6'(faults.word(0))]), 64'd1 << faults.bit_in_word(0),
          "the first of them in the design");
    ok(faults.bit_in_word(9) >= 32, "check bits");
    ok(code.check(coded), "all are corrected");
    equal(code.corrected(), 10, "ten times");
    equal(faults.undo(), 0, "nobody wrote there since");
    ok(unchanged(), "everything is as it was");

    faults = td_faults::inject(coded, "word=7 bits=2");
    ok(!code.check(coded), "a double error");
    same(code.errors(), "word 0x7 subword 0: not correctable", "where it was injected");
    coded_ram[7] = 39'h1900000001;
    equal(faults.undo(), 1, "a word that the design wrote stays");
    equal(64'(coded_ram[7]), 64'h1900000001, "as it is");

    t      = td_tensor::create("i8", "16 4");
    rows   = td_layout::create("a b -> a b");
    faults = td_faults::inject_coded_at(coded, code, t, rows, "12 3", "bits=1");
    equal(faults.word(0), 12, "the word of an element");
    ok(faults.bit_in_word(0) >= 24 && faults.bit_in_word(0) < 32, "and its bits");
    faults.destroy();
    ok(code.check(coded), "one error");
    equal(code.corrected(), 1, "corrected");
    same(seen.take(), "", "none of this is reported");

    status = td_faults::try_inject_at(coded, t, rows, "12", "", "", faults, message);
    refused(status, TD_SHAPE, message, {"backdoor_inject \"coded\": coordinate \"12\" of a tensor of 2 dimensions; ",
                                        "pass a number for each, as \"0 3 1\""}, "a coordinate is whole");
    faults = td_faults::inject_at(coded, t, rows, "3 1", "bit=2");
    equal(faults.bit_in_word(0), 10, "a bit of an element of words without a code");
    equal(faults.undo(), 0, "and back");
    status = faults.try_undo(left, message);
    refused(status, TD_HANDLE, message,
            "memory_undo: these faults were undone or destroyed before; inject them again first", "but once");
    status = td_faults::try_inject(none, "bits=1", faults, message);
    refused(status, TD_HANDLE, message, "memory_inject: the memory is null; create it first", "no memory");
    faults = td_faults::inject(coded, "bits=0");
    ok(faults == null, "a refused injection is null");
    same(seen.take(), "TD_OPTION: memory_inject \"coded\": bits=0; pass at least 1", "and loud");
    code.destroy();
    source.destroy();
    t.destroy();
  endtask

  task automatic refusals();
    td_code   code, none;
    td_memory data, nothing;
    bit       good;
    none = td_code::create("38_32", 32);
    ok(none == null, "a refused code is null");
    starts(seen.take(), {"TD_OPTION: code_create \"38_32\": \"38_32\" is no code; did you mean \"39_32\"?"},
           "and loud");
    code   = td_code::create("39_32", 32);
    data   = td_memory::create("data", 40, 8);
    status = code.try_check(data, 0, 0, good, message);
    starts(message, "code_check: coded words of 40 bits in memory \"data\"", "a memory of another width");
    status = td_memory::try_create("nothing", 0, 0, nothing, message);
    status = code.try_encode(nothing, data, 0, 1, message);
    ok(status == TD_HANDLE, "no memory");
    status = code.try_decode(data, nothing, 0, 0, good, message);
    refused(status, TD_HANDLE, message, "code_decode: data is null; pass a memory, or call check",
            "nowhere to decode to");
    code.destroy();
    status = code.try_check(data, 0, 0, good, message);
    ok(status == TD_HANDLE, "a code that was destroyed is stale");
    data.destroy();
  endtask

  initial begin
    seen.install();
    samples();
    in_the_design();
    faults_and_back();
    refusals();
    finish();
  end
endmodule
