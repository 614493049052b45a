// The imports of the profile, whose shims are in dpi/profile.c: a part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_profile_start(input string mode, output string message);
  import "DPI-C" function void td_dpi_profile_stop();
  import "DPI-C" function void td_dpi_profile_reset();
  import "DPI-C" function int td_dpi_profile_is(input int wanted);
  import "DPI-C" function int td_dpi_profile_text(
    input  int              form,
    output string           text,
    output string           message
  );
  import "DPI-C" function int td_dpi_profile_count(
    input  string           path,
    output longint unsigned calls,
    output longint unsigned bytes,
    output real             total_ns,
    output real             self_ns,
    output string           message
  );
  import "DPI-C" function int td_dpi_profile_save(input string file, output string message);
