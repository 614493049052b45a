// Everything that a comparison can be told, for backdoor_compare of a memory or a set of banks. Created with new; the
// fields are set before the call, those that are not needed stay as they are:
//
//   td_comparison what = new;
//   what.golden = golden;
//   what.layout = rows;
//   what.mask = valid;                  elements where it is 0 are not compared
//   what.snapshot = earlier;            bits outside the layout must be as they were
//   report = obuf.backdoor_compare(what);
class td_comparison;
  // td_backdoor reads them, which Verilator 5.006 does not see:
  // verilator lint_off UNUSEDSIGNAL
  td_tensor   golden;
  td_layout   layout;
  string      policy;    // what counts as equal: "ulp=1", "atol=0.1"; "" for equal bits
  string      as;        // what the memory holds; "" for the tensor's own bits
  td_tensor   mask;      // of the golden tensor's shape
  td_snapshot snapshot;
  // verilator lint_on UNUSEDSIGNAL
endclass
