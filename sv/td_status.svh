// What a try_ function returns. The numbers equal those of enum td_status in src/tensordoor.h, which a simulation test
// checks.
typedef enum int {
  TD_OK        = 0,
  TD_ARGUMENT  = 1,   // an argument that is null or makes no sense
  TD_HANDLE    = 2,   // an object that is null, destroyed, or of another kind
  TD_DTYPE     = 3,   // an unknown element type, or one that does not fit the call
  TD_PATTERN   = 4,   // a pattern that does not parse, or an axis that is not bound
  TD_OPTION    = 5,   // an unknown option, or a value that it cannot have
  TD_ADDRESS   = 6,   // an address expression that does not parse or cannot be evaluated
  TD_SHAPE     = 7,   // sizes that contradict the shape, or a group that does not divide
  TD_RANGE     = 8,   // a lane past the word, an address past the memory, a value past its type
  TD_ALIAS     = 9,   // two elements in one place
  TD_OVERFLOW  = 10,  // a product of sizes that does not fit in 63 bits
  TD_DISAGREE  = 11,  // copies of one element that differ in memory
  TD_FILE      = 12,  // a file that cannot be opened, read or written
  TD_FORMAT    = 13,  // a file whose contents are not what its format says
  TD_NO_MEMORY = 14,  // the system refused memory
  TD_X_STATE   = 15,  // bits of a memory in the design that are x or z
  TD_UNCORRECTABLE = 16   // a coded word with more wrong bits than its code corrects
} td_status_e;

// A list of memory addresses, counted in words; and a list of 32-bit words, in which a wider item takes several, the
// low one first; and a list of bytes.
typedef longint unsigned td_addresses_t[];
typedef bit [31:0] td_words_t[];
typedef bit [7:0] td_bytes_t[];

// A fixed-size piece of a tensor, for td_tensor.set_chunk and get_chunk.
typedef td_dpi_pkg::list_t td_chunk_t;
