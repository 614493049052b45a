// Tests the reporter: a loud call that fails is a uvm_error with the status in its id, a quiet one reports nothing, and
// a comparison reports one line.
class t_reporter_test extends t_base;
  `uvm_component_utils(t_reporter_test)

  function new(input string name, input uvm_component parent);
    super.new(name, parent);
  endfunction

  virtual task main();
    td_tensor   tensor;
    td_memory   memory;
    td_report   report;
    td_status_e status;
    string      message;
    string      name;
    recorder    users_own;

    tensor = td_tensor::create("int12", "2");
    said({"UVM_ERROR reporter [TD/DTYPE] tensor_create: unknown dtype \"int12\"; did you mean \"i12\"? a dtype is ",
          "u1..u64, ",
          "i1..i64, f16, bf16, f32, f64, e<X>m<Y>, q<m>.<n> or uq<m>.<n>"}, "a dtype that is none");
    status = td_tensor::try_create("int12", "2", tensor, message);
    ok(status == TD_DTYPE && message != "", "its quiet twin returns the same");
    said("", "and says nothing");
    memory = td_memory::create("loud", 0, 16);
    said("UVM_ERROR reporter [TD/ARGUMENT] memory_create \"loud\": a width of 0 bits; a width is 1 to 16777216 bits",
         "a width of 0");

    for (int i = 1; i <= int'(TD_UNCORRECTABLE); i++) begin
      td_dpi_pkg::td_dpi_status_name(i, name);
      td_reporter::report(td_status_e'(i), "text");
      said($sformatf("UVM_ERROR reporter [TD/%s] text", name), {"the id of ", name});
    end

    tensor = td_tensor::create("i16", "4 8");
    tensor.fill_ramp(0, 1);
    report = act.compare(tensor);
    said("UVM_INFO reporter [TD/MATCH] compare a tensor with golden i16 (4, 8), policy exact: all 32 elements match",
         "a comparison that finds no difference");
    tensor.set_bits(5, 64'hffff);
    report = act.compare(tensor);
    said({"UVM_ERROR reporter [TD/MISMATCH] compare a tensor with golden i16 (4, 8), policy exact: 1 of 32 elements ",
          "differs, worst 6 steps, 6 in value; first at (0, 5): expected 5 (0x0005), got -1 (0xffff)"},
          "and one that does");
    status = act.try_compare(tensor, "", report, message);
    ok(status == TD_OK && !report.passed(), "a quiet comparison finds the same");
    said("", "and says nothing");

    users_own = new;
    users_own.install();
    env.abuf.fail(TD_SHAPE, "text");
    same(users_own.take(), "TD_SHAPE: text", "a user's own reporter gets what the components say");
    td_reporter::install(null);
  endtask
endclass
