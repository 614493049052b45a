// The imports of places, whose shims are in dpi/where.c: a part of td_dpi_pkg.

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
  import "DPI-C" function int td_dpi_where_banks(
    input  longint unsigned banks,       // a list of their handles
    input  longint unsigned bank,        // whose bits these are
    input  longint unsigned tensor,
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
