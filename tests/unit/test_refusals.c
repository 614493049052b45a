/* Layouts that meet a tensor and a memory and are refused: each beside its legal twin, with the code and the first line
 * of the message; the memory and the tensor stay as they were. Also the refusals of the other tensor operations. */
#include "support.h"

typedef struct meeting {
    const char *dtype;
    td_shape shape;
    uint64_t width, depth;
    const char *pattern, *options, *address;
} meeting;

static const struct {
    meeting wrong, right;
    td_status status;
    const char *message;
} refused[] = {
    {{"i8", {3, {2, 3, 4}}, 32, 64, "r c -> r c", "", ""},
     {"i8", {2, {3, 4}}, 32, 64, "r c -> r c", "", ""},
     TD_SHAPE,
     "the tensor has 3 dimensions, \"r c -> r c\" has 2 groups on the left; write one group per dimension"},
    {{"i8", {1, {2}}, 32, 64, "r ... c -> (r ...) c", "", ""},
     {"i8", {2, {2, 3}}, 32, 64, "r ... c -> (r ...) c", "", ""},
     TD_SHAPE,
     "the tensor has 1 dimension, \"r ... c -> (r ...) c\" has at least 2 groups on the left; write one "
     "group per dimension"},
    {{"i8", {2, {10, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k4=4", ""},
     {"i8", {2, {10, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k4=5", ""},
     TD_SHAPE,
     "cannot split axis of length 10 into chunks of 4 (group (k k4) of \"(k k4) n -> (k n) k4\"); pass "
     "k4=5, or pad=0"},
    {{"i8", {2, {10, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k4=4", ""},
     {"i8", {2, {10, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k4=4 pad=0", ""},
     TD_SHAPE,
     "cannot split axis of length 10 into chunks of 4 (group (k k4) of \"(k k4) n -> (k n) k4\"); pass "
     "k4=5, or pad=0"},
    {{"i8", {1, {10}}, 64, 64, "(a b c) -> a (b c)", "b=2 c=2", ""},
     {"i8", {1, {12}}, 64, 64, "(a b c) -> a (b c)", "b=2 c=2", ""},
     TD_SHAPE,
     "cannot split axis of length 10 into chunks of 4 (group (a b c) of \"(a b c) -> a (b c)\"); pass sizes "
     "whose product divides 10, or the flat pattern \"... -> (...)\""},
    {{"i8", {4, {4, 3, 3, 3}}, 32, 64, "o i h (w l) -> (o i h w) l", "l=4", ""},
     {"i8", {4, {4, 3, 3, 3}}, 32, 64, "... -> (...)", "", ""},
     TD_SHAPE,
     "cannot split axis of length 3 into chunks of 4 (group (w l) of \"o i h (w l) -> (o i h w) l\"); pass l=3, or "
     "the flat pattern \"... -> (...)\""},
    {{"i8", {2, {4, 3}}, 32, 64, "r (c l) -> (r c) l", "c=1 l=4", ""},
     {"i8", {2, {4, 3}}, 32, 64, "r c -> (r c)", "", ""},
     TD_SHAPE,
     "group (c l) of \"r (c l) -> (r c) l\" has 4 elements, the dimension has 3; pass sizes whose product is 3, or the "
     "flat pattern \"... -> (...)\""},
    {{"i8", {2, {4, 4}}, 24, 64, "r c -> (c r)", "", ""},
     {"i8", {2, {4, 4}}, 24, 64, "r c -> (r c)", "", ""},
     TD_SHAPE,
     "flat pattern \"r c -> (c r)\" in words of 24 bits, which are stored apart: there its axes have to stand in the "
     "tensor's order, without padding, repeats and sliding groups; write \"... -> (...)\", or word axes and lane "
     "axes"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "61"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "60"},
     TD_RANGE,
     "flat pattern \"r c -> (r c)\" at address 61 ends in word 64, past the memory of 64 words; use a smaller "
     "address, or a depth of at least 65"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "lsb=8", "60"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "lsb=8", "59"},
     TD_RANGE,
     "flat pattern \"r c -> (r c)\" at address 60 ends in word 64, past the memory of 64 words; use a smaller "
     "address, or a depth of at least 65"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "0x81"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "0x81"},
     TD_RANGE,
     "flat pattern \"r c -> (r c)\" at address 129 ends in word 132, past the memory of 64 words; use a smaller "
     "address, or a depth of at least 133; if it counts bytes, pass addr_unit=byte"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "", "0x80 + 4*r"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "0x80 + 4*r"},
     TD_RANGE,
     "address 128 of word r=0 of \"r c -> r c\" is past the memory of 64 words; use smaller addresses, or a depth of "
     "at least 129; if it counts bytes, pass addr_unit=byte"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "0x80 + index"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "0x80 + 4*index"},
     TD_ADDRESS,
     "byte address 129 of \"r c -> r c\" lies inside a word of 4 bytes; pass multiples of 4, as in 4*index, or the "
     "flat "
     "pattern \"... -> (...)\""},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "6 ^ 4*r"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "8 ^ 4*r"},
     TD_ADDRESS,
     "byte address 6 of \"r c -> r c\" lies inside a word of 4 bytes; pass multiples of 4, as in 4*index, or the flat "
     "pattern \"... -> (...)\""},
    {{"i8", {2, {4, 2}}, 20, 64, "r c -> r c", "addr_unit=byte", "4*r"},
     {"i8", {2, {4, 2}}, 24, 64, "r c -> r c", "addr_unit=byte", "3*r"},
     TD_OPTION,
     "addr_unit=byte in words of 20 bits; byte addresses need words of whole bytes, so count words"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "0 - 1"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "0"},
     TD_RANGE,
     "address -1 of the flat pattern \"r c -> (r c)\" is below 0; pass 0 or more"},
    /* Products of these numbers do not fit in 64 bits; a sanitizer build would say so. */
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "9223372036854775807"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "239"},
     TD_RANGE,
     "flat pattern \"r c -> (r c)\" at byte address 9223372036854775807 ends in word 2305843009213693955, past the "
     "memory of 64 words; use a smaller address, or a depth of at least 2305843009213693956"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "9223372036854775807"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "", "60"},
     TD_RANGE,
     "flat pattern \"r c -> (r c)\" at address 9223372036854775807 ends in word 9223372036854775810, past the memory "
     "of "
     "64 words; use a smaller address, or a depth of at least 9223372036854775811"},
    {{"i8", {2, {1, 4}}, 32, 64, "r c -> r c", "", "9223372036854775806 + index"},
     {"i8", {2, {1, 4}}, 32, 64, "r c -> r c", "", "63 + index"},
     TD_RANGE,
     "address 9223372036854775806 of the only word of \"r c -> r c\" is past the memory of 64 words; use smaller "
     "addresses, or a depth of at least 9223372036854775807"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "", "9223372036854775807 + index"},
     {"i8", {2, {1, 4}}, 32, 64, "r c -> r c", "", "7 + 9223372036854775807*r"},
     TD_OVERFLOW,
     "the addresses of \"r c -> r c\" do not fit in 63 bits; use smaller factors"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "", "4611686018427387904*r"},
     {"i8", {2, {1, 4}}, 32, 64, "r c -> r c", "", "4611686018427387904*r"},
     TD_OVERFLOW,
     "address \"4611686018427387904*r\" does not fit in 64 bits at 4611686018427387904 and 2; use smaller factors"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "9223372036854775804 + 9223372036854775801*r"},
     {"i8", {2, {1, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "252 + 9223372036854775801*r"},
     TD_OVERFLOW,
     "address \"9223372036854775804 + 9223372036854775801*r\" does not fit in 64 bits at 9223372036854775801 and 2; "
     "use "
     "smaller factors"},
    {{"i8", {2, {5, 4}}, 32, 64, "(h + 9223372036854775807*k) c -> (h k) c", "k=1 h=6", ""},
     {"i8", {2, {5, 4}}, 32, 64, "(h + 9223372036854775807*k) c -> (h k) c", "k=1", ""},
     TD_SHAPE,
     "sliding group (h + 9223372036854775807*k) of \"(h + 9223372036854775807*k) c -> (h k) c\" ends at element 5, the "
     "dimension at 4; pass sizes and steps that meet its last element"},
    {{"i8",
      {1, {4}},
      32,
      64,
      "(v l) -> v l",
      "v=1 l=576460752303423488 beats=576460752303423488 lanes=msb tail=clip",
      ""},
     {"i8", {1, {4}}, 32, 64, "(v l) -> v l", "l=2 beats=2 lanes=msb tail=clip", ""},
     TD_RANGE,
     "address 576460752303423487 of the only word of \"(v l) -> v l\" is past the memory of 64 words; use smaller "
     "addresses, or a depth of at least 576460752303423488"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "4*index + 252"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "4*index + 240"},
     TD_RANGE,
     "byte address 264 of word r=3 of \"r c -> r c\" is past the memory of 64 words; use smaller addresses, or a depth "
     "of at least 67"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "4*index - 8"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> r c", "addr_unit=byte", "4*index"},
     TD_RANGE,
     "byte address -8 of word r=0 of \"r c -> r c\" is below 0; add 8 to the address"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "0 - 5"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "5"},
     TD_RANGE,
     "byte address -5 of the flat pattern \"r c -> (r c)\" is below 0; pass 0 or more"},
    {{"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "241"},
     {"i8", {2, {4, 4}}, 32, 64, "r c -> (r c)", "addr_unit=byte", "240"},
     TD_RANGE,
     "flat pattern \"r c -> (r c)\" at byte address 241 ends in word 64, past the memory of 64 words; use a smaller "
     "address, or a depth of at least 65"},
    {{"i8",
      {2, {10, 2}},
      64,
      64,
      "(k a_name_of_more_than_forty_characters_is_said_whole) n -> (k n) "
      "a_name_of_more_than_forty_characters_is_said_whole",
      "a_name_of_more_than_forty_characters_is_said_whole=4",
      ""},
     {"i8",
      {2, {10, 2}},
      64,
      64,
      "(k a_name_of_more_than_forty_characters_is_said_whole) n -> (k n) "
      "a_name_of_more_than_forty_characters_is_said_whole",
      "a_name_of_more_than_forty_characters_is_said_whole=5",
      ""},
     TD_SHAPE,
     "cannot split axis of length 10 into chunks of 4 (group (k a_name_of_more_than_forty_characters_is_said_whole) of "
     "\"(k a_name_of_more_than_forty_characters_is_said_whole) n -> (k n) "
     "a_name_of_more_than_forty_characters_is_said_whole\"); pass "
     "a_name_of_more_than_forty_characters_is_said_whole=5, or pad=0"},
    {{"i8", {2, {12, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k=2 k4=4", ""},
     {"i8", {2, {8, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k=2 k4=4", ""},
     TD_SHAPE,
     "group (k k4) of \"(k k4) n -> (k n) k4\" has 8 elements, the dimension has 12; pass sizes whose "
     "product is 12"},
    {{"i8", {2, {10, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k=3 k4=4", ""},
     {"i8", {2, {10, 4}}, 64, 64, "(k k4) n -> (k n) k4", "k=3 k4=4 tail=clip", ""},
     TD_SHAPE,
     "group (k k4) of \"(k k4) n -> (k n) k4\" has 12 elements, the dimension has 10; pass sizes whose "
     "product is 10, or pad=0"},
    {{"i8", {2, {12, 4}}, 64, 64, "(a b) n -> (a n) b", "", ""},
     {"i8", {2, {12, 4}}, 64, 64, "(a b) n -> (a n) b", "b=4", ""},
     TD_SHAPE,
     "two unknown sizes, a and b, in group (a b) of \"(a b) n -> (a n) b\"; pass b=N"},
    {{"i8", {2, {2, 4}}, 64, 64, "1 c -> () c", "", ""},
     {"i8", {2, {1, 4}}, 64, 64, "1 c -> () c", "", ""},
     TD_SHAPE,
     "a unit group of \"1 c -> 1 c\" stands for dimension 0 of length 2; name an axis there"},
    {{"i8", {2, {2, 4}}, 64, 64, "r c -> (r rep) c", "", ""},
     {"i8", {2, {2, 4}}, 64, 64, "r c -> (r rep) c", "rep=2", ""},
     TD_PATTERN,
     "axis rep stands only on the right of \"r c -> (r rep) c\" and has no size; pass rep=N to repeat N "
     "times, or place it on the left"},
    {{"i8", {2, {4, 4}}, 64, 64, "(a b) c -> a (b c)", "a=4294967296 b=4294967296 pad=0", ""},
     {"i8", {2, {4, 4}}, 64, 64, "(a b) c -> a (b c)", "a=4 b=2 pad=0", ""},
     TD_OVERFLOW,
     "the sizes of group (a b) of \"(a b) c -> a (b c)\" have a product over 2^63; pass smaller sizes"},
    {{"i8", {2, {4, 4}}, 64, 64, "a b -> (a b r s) ()", "r=4294967296 s=4294967296", ""},
     {"i8", {2, {4, 2}}, 64, 64, "a b -> (a b r s) ()", "r=2 s=4", ""},
     TD_OVERFLOW,
     "the sizes on the right of \"a b -> (a b r s) 1\" have a product over 2^63; pass smaller sizes"},
    {{"i8", {1, {8}}, 64, 64, "(2*h + kh) -> h kh", "kh=3", ""},
     {"i8", {1, {9}}, 64, 64, "(2*h + kh) -> h kh", "kh=3", ""},
     TD_SHAPE,
     "sliding group (2*h + kh) of \"(2*h + kh) -> h kh\" ends at element 6, the dimension at 7; pass sizes "
     "and steps that meet its last element, or tail=clip to leave out the rest"},
    {{"i8", {1, {8}}, 64, 64, "(2*h + kh) -> h kh", "h=4 kh=3", ""},
     {"i8", {1, {8}}, 64, 64, "(2*h + kh) -> h kh", "kh=3 tail=clip", ""},
     TD_SHAPE,
     "sliding group (2*h + kh) of \"(2*h + kh) -> h kh\" ends at element 8, the dimension at 7; pass sizes "
     "and steps that meet its last element"},
    {{"i16", {2, {4, 5}}, 64, 64, "r c -> r c", "", ""},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", ""},
     TD_RANGE,
     "the lanes of \"r c -> r c\" end at bit 80 (5 lanes of 16 bits), the word has 64 bits; use fewer "
     "lanes, a wider memory, or beats=2"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "lsb=1", ""},
     {"i16", {2, {4, 4}}, 65, 64, "r c -> r c", "lsb=1", ""},
     TD_RANGE,
     "the lanes of \"r c -> r c\" end at bit 65 (4 lanes of 16 bits), the word has 64 bits; use fewer "
     "lanes, a wider memory, or beats=2"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "slot=12", ""},
     {"i12", {2, {4, 4}}, 64, 64, "r c -> r c", "slot=12", ""},
     TD_OPTION,
     "slot=12 is narrower than the element of 16 bits; pass slot=16 or more"},
    {{"i16", {2, {4, 3}}, 64, 64, "r c -> r c", "beats=5", ""},
     {"i16", {2, {4, 3}}, 64, 64, "r c -> r c", "beats=3", ""},
     TD_OPTION,
     "beats=5 does not divide the vector of 48 bits (3 lanes of 16); pass beats that divide it"},
    {{"i8", {1, {13}}, 16, 6, "(r c) -> r c", "c=4 beats=2 tail=clip", ""},
     {"i8", {1, {13}}, 16, 7, "(r c) -> r c", "c=4 beats=2 tail=clip", ""},
     TD_RANGE,
     "address 6 of word r=3 of \"(r c) -> r c\" is past the memory of 6 words; use smaller addresses, or a depth of at "
     "least 7"},
    {{"i8", {1, {13}}, 16, 6, "(r c) -> r c", "c=4 beats=2 tail=clip", "2*r ^ 0"},
     {"i8", {1, {13}}, 16, 7, "(r c) -> r c", "c=4 beats=2 tail=clip", "2*r ^ 0"},
     TD_RANGE,
     "address 6 of word r=3 of \"(r c) -> r c\" is past the memory of 6 words; use smaller addresses, or a depth of at "
     "least 7"},
    {{"i16", {2, {65, 4}}, 64, 64, "r c -> r c", "", ""},
     {"i16", {2, {64, 4}}, 64, 64, "r c -> r c", "", ""},
     TD_RANGE,
     "address 64 of word r=64 of \"r c -> r c\" is past the memory of 64 words; use smaller addresses, or a "
     "depth of at least 65"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "40 + 8*r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "39 + 8*r"},
     TD_RANGE,
     "address 64 of word r=3 of \"r c -> r c\" is past the memory of 64 words; use smaller addresses, or a "
     "depth of at least 65; if it counts bytes, pass addr_unit=byte"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "20 - 8*r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "24 - 8*r"},
     TD_RANGE,
     "address -4 of word r=3 of \"r c -> r c\" is below 0; add 4 to the address"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "20 ^ 64*r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "20 ^ r"},
     TD_RANGE,
     "address 84 of word r=1 of \"r c -> r c\" is past the memory of 64 words; use smaller addresses, or a "
     "depth of at least 85"},
    {{"i8", {1, {4}}, 8, 64, "r -> (r k) ()", "k=1000000000000", "r ^ k"},
     {"i8", {1, {4}}, 8, 64, "r -> (r k) ()", "k=16", "4*k ^ r"},
     TD_RANGE,
     "\"r -> (r k) 1\" has 4000000000000 words, the memory has 64; use smaller sizes, or a deeper memory"},
    {{"i8",
      {12, {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1}},
      8,
      64,
      "(a A) (b B) (c C) (d D) (e E) (f F) (g G) (h H) (i I) (j J) (k K) l -> "
      "(a b c d e f g h i j k A B C D E F G H I J K l) ()",
      "A=2 B=2 C=2 D=2 E=2 F=2 G=2 H=2 I=2 J=2 K=2 pad=0",
      ""},
     {"i8", {2, {3, 3}}, 8, 64, "(a A) (b B) -> (a b A B) ()", "A=2 B=2 pad=0", ""},
     TD_SHAPE,
     "too many dimensions of \"(a A) (b B) (c C) (d D) (e E) (f F) (g G) (h H) (i I) (j J) (k K) l -> (a b c d e f g h "
     "i j k A B C D E F G H "
     "I J K l) 1\" do not fill their groups: they cut the tensor into more than 65536 boxes; pad the tensor first, or "
     "use sizes that divide"},
    {{"i16", {2, {4, 8}}, 64, 64, "r (t c) -> (r t) c", "c=4", "r + t"},
     {"i16", {2, {4, 8}}, 64, 64, "r (t c) -> (r t) c", "c=4", "r + 4*t"},
     TD_ALIAS,
     "words r=0 t=1 and r=1 t=0 of \"r (t c) -> (r t) c\" both lie at address 1; use an address that keeps "
     "them apart, or alias=last"},
    {{"i16", {2, {4, 8}}, 64, 64, "r (t c) -> (r t) c", "c=4", "(r + t) & 3"},
     {"i16", {2, {4, 8}}, 64, 64, "r (t c) -> (r t) c", "c=4", "(r + t & 3) + 4*t"},
     TD_ALIAS,
     "words r=0 t=1 and r=1 t=0 of \"r (t c) -> (r t) c\" both lie at address 1; use an address that keeps "
     "them apart, or alias=last"},
    /* rectangles with strides: words of two of them in one place, and one past the end; words past the tensor's end may
     * lie anywhere */
    {{"i8", {2, {1001, 4}}, 32, 1024, "r c -> r c", "", "(index + 100) % 1000"},
     {"i8", {2, {1000, 4}}, 32, 1024, "r c -> r c", "", "(index + 100) % 1000"},
     TD_ALIAS,
     "words r=0 and r=1000 of \"r c -> r c\" both lie at address 100; use an address that keeps them apart, or "
     "alias=last"},
    {{"i8", {2, {1000, 4}}, 32, 2048, "r c -> r c", "", "(r + 400 >> 9)*500 + (r + 400 & 511)"},
     {"i8", {2, {1000, 4}}, 32, 2048, "r c -> r c", "", "(r + 400 >> 9)*520 + (r + 400 & 511)"},
     TD_ALIAS,
     "words r=100 and r=112 of \"r c -> r c\" both lie at address 500; use an address that keeps them apart, or "
     "alias=last"},
    {{"u8",
      {4, {40, 70, 2, 2}},
      8,
      11199,
      "(kg k0) (c1 c0) h w -> (kg c1 h w k0 c0) ()",
      "k0=32 c0=64 tail=clip",
      "32*kg*280 + 64*c1*4*min(32, 40 - 32*kg) + ((h*2 + w)*min(32, 40 - 32*kg) + k0)*min(64, 70 - 64*c1) + c0"},
     {"u8",
      {4, {40, 70, 2, 2}},
      8,
      11200,
      "(kg k0) (c1 c0) h w -> (kg c1 h w k0 c0) ()",
      "k0=32 c0=64 tail=clip",
      "32*kg*280 + 64*c1*4*min(32, 40 - 32*kg) + ((h*2 + w)*min(32, 40 - 32*kg) + k0)*min(64, 70 - 64*c1) + c0"},
     TD_RANGE,
     "address 11199 of word k0=7 kg=1 c0=5 c1=1 h=1 w=1 of \"(kg k0) (c1 c0) h w -> (kg c1 h w k0 c0) 1\" is past the "
     "memory of 11199 words; use smaller addresses, or a depth of at least 11200"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "r / (r - 2)"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "8*r / 2"},
     TD_ADDRESS,
     "address \"r/(r - 2)\" divides 2 by zero; use a divisor that is never 0"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "1 << 63*r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "1 << r"},
     TD_ADDRESS,
     "address \"1 << 63*r\" shifts by 63; shift by 0 to 62"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "rev(r, 1)"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "rev(r, 2)"},
     TD_ADDRESS,
     "address \"rev(r, 1)\" reverses 2 in 1 bits, where it does not fit; give rev more bits"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "interleave(r, r - 1)"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "interleave(r, r)"},
     TD_ADDRESS,
     "address \"interleave(r, r - 1)\" interleaves 0 and -1; both must lie in 0 .. 2^31-1"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "4611686018427387904*r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "16*r"},
     TD_OVERFLOW,
     "address \"4611686018427387904*r\" does not fit in 64 bits at 4611686018427387904 and 2; use smaller factors"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "dim(2)*r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "dim(1)*r"},
     TD_ADDRESS,
     "address \"dim(2)*r\" asks for dim(2) of a tensor of rank 2; use 0 to rank - 1"},
    {{"i16", {2, {4, 4}}, 64, 64, "b c -> b () c", "", ""},
     {"i16", {2, {1, 4}}, 64, 64, "b c -> b () c", "", ""},
     TD_RANGE,
     "bank 3 of word b=3 of \"b c -> b 1 c\" is not one of the 1 memories; pass at least 4 or change the "
     "bank"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "bank = r; addr = r"},
     {"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "", "bank = 0; addr = r"},
     TD_RANGE,
     "bank 3 of word r=3 of \"r c -> r c\" is not one of the 1 memories; pass at least 4 or change the bank"},
    {{"i16", {2, {4, 4}}, 64, 64, "r c -> r c", "dtype=u16", ""},
     {"u16", {2, {4, 4}}, 64, 64, "r c -> r c", "dtype=u16", ""},
     TD_DTYPE,
     "the memory would hold i16, the layout moves u16; pass as=\"u16\", or drop dtype=u16 from the layout"},
    {{"i8", {2, {3, 4}}, 32, 64, "r c -> r c", "r=4 pad=200", ""},
     {"u8", {2, {3, 4}}, 32, 64, "r c -> r c", "r=4 pad=200", ""},
     TD_RANGE,
     "option pad=200: value 200 is not in i8, which holds whole numbers from -128 to 127; pass a value in that range"},
    {{"i8", {2, {3, 4}}, 32, 64, "r c -> r c", "r=4 pad=0.5", ""},
     {"f32", {2, {3, 4}}, 128, 64, "r c -> r c", "r=4 pad=0.5", ""},
     TD_RANGE,
     "option pad=0.5: value 0.5 is not in i8, which holds whole numbers from -128 to 127; pass a value in that range"},
};

static void assert_first_line(const char *operation, const char *expected)
{
    char line[2048], wanted[2048];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
    snprintf(wanted, sizeof wanted, "backdoor_%s_tensor \"wbuf\": %s", operation, expected);
    assert_string_equal(line, wanted);
}

/* The memory and the tensor hold 0xa5 in every byte before, and must after. */
static void try_both(const meeting *m, td_status expected, const char *message)
{
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_layout_create(m->pattern, m->options, m->address, &layout));
    ASSERT_OK(td_tensor_create(m->dtype, m->shape, &tensor));
    ASSERT_OK(td_memory_create("wbuf", m->width, m->depth, &memory));
    const size_t tensor_bytes = td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor);
    const size_t memory_bytes = td_memory_word_bytes(memory) * (size_t)m->depth;
    unsigned char *tensor_before = malloc(tensor_bytes), *memory_before = malloc(memory_bytes);
    memset(td_tensor_data(tensor), 0xa5, tensor_bytes);
    memset(tensor_before, 0xa5, tensor_bytes);
    memset(td_memory_data(memory), m->width % 8 ? 0 : 0xa5, memory_bytes);
    memset(memory_before, m->width % 8 ? 0 : 0xa5, memory_bytes);

    td_status status = td_backdoor_load_tensor(memory, tensor, layout, NULL);
    if (message)
        assert_first_line("load", message);
    assert_string_equal(td_status_name(status), td_status_name(expected));
    if (status) {
        assert_memory_equal(td_memory_data(memory), memory_before, memory_bytes);
        assert_string_equal(td_status_name(td_backdoor_dump_tensor(memory, tensor, layout, NULL)),
                            td_status_name(expected));
        assert_first_line("dump", message);
        assert_memory_equal(td_tensor_data(tensor), tensor_before, tensor_bytes);
    } else
        ASSERT_OK(td_backdoor_dump_tensor(memory, tensor, layout, NULL));
    free(tensor_before);
    free(memory_before);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        try_both(&refused[i].wrong, refused[i].status, refused[i].message);
        try_both(&refused[i].right, TD_OK, NULL);
    }
}

/* The whole message, with the pattern, the caret, the shape and the sizes behind the first line. */
static void test_whole_message(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_layout_create("n (k k4) -> (n k) k4", "k4=4", "", &layout));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 10), &tensor));
    ASSERT_OK(td_memory_create("weights", 32, 64, &memory));
    ASSERT_REFUSED(td_backdoor_load_tensor(memory, tensor, layout, NULL), TD_SHAPE,
                   "backdoor_load_tensor \"weights\": cannot split axis of length 10 into chunks of 4 (group (k k4) of "
                   "\"n (k k4) -> (n k) k4\"); pass k4=5, or the flat pattern \"... -> (...)\"\n"
                   "    n (k k4) -> (n k) k4\n"
                   "      ^~~~~~\n"
                   "    shape (4, 10), sizes k4=4");
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

static void test_copies(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_layout_create("r c -> (r copy) c", "copy=2", "", &layout));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(2, 4), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 1, 1));
    ASSERT_OK(td_memory_create("wbuf", 32, 8, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    uint32_t *words = td_memory_data(memory);
    assert_int_equal(words[2], 0x08070605);
    assert_int_equal(words[3], 0x08070605);
    ASSERT_OK(td_backdoor_dump_tensor(memory, tensor, layout, NULL));
    words[3] ^= 0x10000;
    ASSERT_REFUSED(
        td_backdoor_dump_tensor(memory, tensor, layout, NULL), TD_DISAGREE,
        "backdoor_dump_tensor \"wbuf\": the copies of element (1, 2) differ: 0x7 in one, 0x6 at bank 0, address 3, "
        "bit 16; load the copies together, or dump with a layout that has no repeats");
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

static void test_matrix(void **state)
{
    (void)state;
    td_tensor *matrix = NULL, *cube = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3, 4), &matrix));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3, 4, 5), &cube));
    ASSERT_OK(td_memory_create("wbuf", 32, 8, &memory));
    ASSERT_REFUSED(td_backdoor_load_matrix(memory, cube, 0, 3), TD_SHAPE,
                   "backdoor_load_matrix \"wbuf\": the tensor has 3 dimensions, a matrix has 2 (or 1: one row); use "
                   "backdoor_load_tensor with a layout");
    ASSERT_REFUSED(td_backdoor_dump_matrix(memory, matrix, 2, 4), TD_SHAPE,
                   "backdoor_dump_matrix \"wbuf\": words [2, 4) are not the 3 rows of the matrix; pass last = 5");
    ASSERT_REFUSED(td_backdoor_load_matrix(memory, matrix, 4, 1), TD_SHAPE,
                   "backdoor_load_matrix \"wbuf\": words [4, 1) are not the 3 rows of the matrix; pass last = 7");
    ASSERT_REFUSED(
        td_backdoor_load_matrix(memory, matrix, 6, 9), TD_RANGE,
        "backdoor_load_matrix \"wbuf\": word 8 is past the memory of 8 words; use rows that end at 8 or before");
    ASSERT_OK(td_backdoor_load_matrix(memory, matrix, 5, 8));
    ASSERT_OK(td_backdoor_dump_matrix(memory, matrix, 5, 8));
    td_memory_destroy(&memory);
    td_tensor_destroy(&cube);
    td_tensor_destroy(&matrix);
}

/* The widest words and the deepest memory that the header promises. */
static void test_extremes(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    td_memory *memory = NULL;
    const td_shape shape = TD_SHAPE(3, 9362); /* 9362 lanes of 7 bits leave 2 bits of 65536 */
    ASSERT_OK(td_layout_create("r c -> r c", "lsb=2", "2 - r", &layout));
    ASSERT_OK(td_tensor_create("i7", shape, &tensor));
    ASSERT_OK(td_tensor_create("i7", shape, &back));
    ASSERT_OK(td_tensor_fill_random(tensor, 1));
    ASSERT_OK(td_memory_create("wide", 65536, 3, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    ASSERT_OK(td_backdoor_dump_tensor(memory, back, layout, NULL));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor), 3 * 9362);
    td_memory_destroy(&memory);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);

    const uint64_t last = TD_MAX_DEPTH_WORDS - 1;
    uint8_t word = 0;
    ASSERT_OK(td_layout_create("r -> r ()", "", "0xffffffffff - r", &layout));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(5), &tensor));
    ASSERT_OK(td_tensor_fill_ramp(tensor, 11, 1));
    ASSERT_OK(td_memory_create("deep", 8, TD_MAX_DEPTH_WORDS, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    ASSERT_OK(td_backdoor_read(memory, &last, 1, &word));
    assert_int_equal(word, 11);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

static void test_null(void **state)
{
    (void)state;
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL, *narrow = NULL;
    ASSERT_OK(td_layout_create("b r c -> b r c", "", "", &layout));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(2, 3, 4), &tensor));
    ASSERT_OK(td_memory_create("wbuf", 32, 8, &memory));
    ASSERT_OK(td_memory_create("narrow", 31, 8, &narrow));
    ASSERT_REFUSED(td_backdoor_load_tensor(NULL, tensor, layout, NULL), TD_ARGUMENT,
                   "backdoor_load_tensor: the memory is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_load_tensor(memory, NULL, layout, NULL), TD_ARGUMENT,
                   "backdoor_load_tensor \"wbuf\": the tensor is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_dump_tensor(memory, tensor, NULL, NULL), TD_ARGUMENT,
                   "backdoor_dump_tensor \"wbuf\": the layout is NULL; create it first");
    ASSERT_REFUSED(td_backdoor_load_matrix(memory, NULL, 0, 1), TD_ARGUMENT,
                   "backdoor_load_matrix \"wbuf\": the tensor is NULL; create it first");
    td_memory *unequal[] = {memory, narrow};
    ASSERT_REFUSED(
        td_backdoor_load_tensor_banks(unequal, 2, tensor, layout, NULL), TD_ARGUMENT,
        "backdoor_load_tensor \"wbuf\": bank 1 is 8 words of 31 bits, bank 0 is 8 of 32; use banks of one geometry");
    ASSERT_REFUSED(td_backdoor_load_tensor_banks(unequal, 0, tensor, layout, NULL), TD_ARGUMENT,
                   "backdoor_load_tensor: no memory; pass at least one");
    td_memory **many = calloc(32769, sizeof *many);
    for (size_t i = 0; i < 32769; i++)
        many[i] = memory;
    ASSERT_REFUSED(td_backdoor_load_tensor_banks(many, 32769, tensor, layout, NULL), TD_ARGUMENT,
                   "backdoor_load_tensor \"wbuf\": 32769 memories; pass at most 32768");
    free(many);
    td_span *spans = NULL;
    size_t count = 0;
    ASSERT_REFUSED(td_layout_spans(layout, tensor, NULL, 0, NULL, &spans, &count), TD_ARGUMENT,
                   "layout_spans: a width of 0 bits; pass 1 to 16777216");
    td_memory_destroy(&narrow);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_whole_message), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_matrix),  cmocka_unit_test(test_extremes),      cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
