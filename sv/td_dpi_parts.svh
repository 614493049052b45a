// The imports of tensors in parts, whose shims are in dpi/parts.c and dpi/parts_layout.c: a part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_parts_pack(
    input longint unsigned tensor, input string text, output string packing, output string names,
    output longint unsigned part0, output longint unsigned part1, output longint unsigned part2,
    output longint unsigned part3, output string message
  );
  import "DPI-C" function int td_dpi_parts_create(
    input string text, input string shape, output string packing, output string names,
    output longint unsigned part0, output longint unsigned part1, output longint unsigned part2,
    output longint unsigned part3, output string message
  );
  import "DPI-C" function int td_dpi_parts_open(
    input string path, input string text, output string packing, output string shape, output string names,
    output longint unsigned part0, output longint unsigned part1, output longint unsigned part2,
    output longint unsigned part3, output string message
  );
  import "DPI-C" function int td_dpi_parts_record(
    input string packing, input string shape, input int count, input longint unsigned part0,
    input longint unsigned part1, input longint unsigned part2, input longint unsigned part3, input string record,
    output longint unsigned tensor, output string message
  );
  import "DPI-C" function int td_dpi_parts_set_record(
    input string packing, input string shape, input int count, input longint unsigned part0,
    input longint unsigned part1, input longint unsigned part2, input longint unsigned part3, input string record,
    input longint unsigned tensor, output string message
  );
  import "DPI-C" function int td_dpi_parts_unpack(
    input string packing, input string shape, input int count, input longint unsigned part0,
    input longint unsigned part1, input longint unsigned part2, input longint unsigned part3, input string dtype,
    output longint unsigned tensor, output string message
  );
  import "DPI-C" function int td_dpi_parts_fit(
    input string packing, input string shape, input int count, input longint unsigned part0,
    input longint unsigned part1, input longint unsigned part2, input longint unsigned part3,
    input longint unsigned golden, output string text, output string message
  );
  import "DPI-C" function int td_dpi_parts_layout_create(
    input string packing, output longint unsigned layout, output string message
  );
  import "DPI-C" function int td_dpi_parts_layout_open(
    input string path, input string name, output longint unsigned layout, output string packing, output string message
  );
  import "DPI-C" function int td_dpi_parts_layout_add(
    input longint unsigned parts, input string part, input string memory, input longint unsigned layout,
    output string message
  );
  import "DPI-C" function int td_dpi_parts_layout_destroy(input longint unsigned parts, output string message);
  import "DPI-C" function int td_dpi_backdoor_load_parts(
    input longint unsigned memories, input longint unsigned tensor, input longint unsigned parts, output string message
  );
  import "DPI-C" function int td_dpi_backdoor_dump_parts(
    input longint unsigned memories, input longint unsigned tensor, input longint unsigned parts, output string message
  );
  import "DPI-C" function int td_dpi_backdoor_compare_parts(
    input longint unsigned memories, input longint unsigned golden, input longint unsigned parts, input string policy,
    output longint unsigned report, output string message
  );
  import "DPI-C" function int td_dpi_backdoor_dirty_parts(
    input longint unsigned memories, input longint unsigned tensor, input longint unsigned parts,
    input longint unsigned seed, output longint unsigned count, output string message
  );
  import "DPI-C" function int td_dpi_transfer_parts(
    input longint unsigned memories, input longint unsigned tensor, input longint unsigned parts, input int from_tensor,
    output int partial, output string message
  );
