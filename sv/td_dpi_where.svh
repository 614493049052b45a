// The import of places, whose shim is in dpi/where.c: a part of td_dpi_pkg.

  import "DPI-C" function int td_dpi_where(
    input  longint unsigned memory,
    input  longint unsigned tensor,      // 0: of none
    input  longint unsigned layout,
    input  string           as,
    input  string           coordinate,  // "": of bits
    input  int              in_macro,
    input  longint unsigned macro_number,
    input  longint unsigned word,        // or the row
    input  longint unsigned lsb,
    input  longint unsigned bits,
    output string           text,
    output string           numbers,
    output string           message
  );
