// Values and conversions from SystemVerilog: elements as real, tensors converted and in text, loads that quantise with
// one scale and with one for each channel, and dumps that come back.
module tb_convert;
  import td_pkg::*;
  import tap_pkg::*;

  recorder seen = new;
  string message;
  td_status_e status;

  task automatic reals();
    td_tensor t;
    real value;
    t = td_tensor::create("e4m3", "4");
    t.set_real(0, 0.3);
    ok(t.get_real(0) == 0.3125, "0.3 in e4m3 is 0.3125");
    equal(t.get_bits(0), 64'h2a, "and 0x2a");
    t.set_bits(1, 64'h7e);
    ok(t.get_real(1) == 448.0, "0x7e is 448");
    t.set_real(2, -1.0e9);
    ok(t.get_real(2) != t.get_real(2), "past the range is NaN");
    same(seen.take(), "", "none of this is reported");
    status = t.try_get_real(4, value, message);
    refused(status, TD_RANGE, message, "tensor_get_real: element 4 of a tensor of 4 elements, shape (4); the last is 3",
            "get past the end");
    t.set_real(9, 1.0);
    same(seen.take(), "TD_RANGE: tensor_set_real: element 9 of a tensor of 4 elements, shape (4); the last is 3",
         "set past the end, loud");
    t.destroy();
  endtask

  task automatic conversions();
    td_tensor t, q, no_tensor;
    t = td_tensor::create("f32", "2 3");
    t.fill_ramp(-0.1, 0.05);
    q = t.convert("i8 scale=0.05 zero=3");
    same(q.dtype(), "i8", "the new tensor's dtype");
    same(q.shape(), "2 3", "the new tensor's shape");
    same(q.text(), "i8 (2, 3)\n[[1 2 3]\n [4 5 6]]", "its text");
    same(t.text(), "f32 (2, 3)\n[[-0.1  -0.05  0.  ]\n [ 0.05  0.1   0.15]]", "the text of floats");
    same(seen.take(), "", "none of this is reported");
    no_tensor = t.convert("int8");
    ok(no_tensor == null, "a refused conversion is null");
    starts(seen.take(), "TD_DTYPE: tensor_convert: unknown dtype \"int8\"; did you mean \"i8\"?", "and loud");
    q.destroy();
    t.destroy();
  endtask

  task automatic channels();
    td_tensor t, s, back;
    td_memory m;
    td_layout l;
    bit good;
    t = td_tensor::create("f32", "2 3 4");
    t.fill_ramp(0.0, 1.0);
    s = td_tensor::create("f32", "3");
    s.set_real(0, 1.0);
    s.set_real(1, 0.5);
    s.set_real(2, 2.0);
    s.name_scales("channel");
    s.destroy();
    m = td_memory::create("m", 24, 8);
    l = td_layout::create("b c w -> (b w) c");
    m.backdoor_load_tensor(t, l, "i8 scale=@channel axis=c");
    equal(m.get_bits(0), {40'd0, 8'd4, 8'd8, 8'd0}, "a word of three channels, each with its scale");
    back = td_tensor::create("f32", "2 3 4");
    m.backdoor_dump_tensor(back, l, "i8 scale=@channel axis=c");
    good = 1;
    for (longint unsigned i = 0; i < 24; i++) begin
      // 0.5 takes up to 63.5, and 2 rounds odd numbers to even.
      if (i % 12 < 8 && back.get_real(i) != t.get_real(i)) good = 0;
      if (back.get_real(i) > t.get_real(i) + 1.0 || back.get_real(i) < t.get_real(i) - 1.0) good = 0;
    end
    ok(good, "and back");
    same(seen.take(), "", "none of this is reported");
    status = m.try_backdoor_load_tensor(t, l, "i8 scale=@nobody axis=c", message);
    refused(status, TD_OPTION, message,
            {"backdoor_load_tensor \"m\": scale=@nobody: no tensor of that name; give it one with scales_set, or name ",
             "a file like @nobody.npy"},
            "scales that nobody named");
    back.destroy();
    t.destroy();
  endtask

  initial begin
    seen.install();
    reals();
    conversions();
    channels();
    finish();
  end
endmodule
