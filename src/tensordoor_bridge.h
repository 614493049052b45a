/* tensordoor_bridge: memories that the library cannot reach, for whoever writes a bridge to a simulator or an
 * emulator.
 *
 * Testbenches never need this header: the SystemVerilog classes of tensordoor are such a bridge themselves
 * (dpi/transfer.c and sv/td_design_memory.svh), and tensordoor.h is the manual of everything else.
 *
 * -- 1. The steps -----------------------------------------------------------------------------------------------------
 *
 * The array lies elsewhere, in a simulated design or an emulator. The library has a td_memory of the same width and
 * depth: the copy. An operation on the array goes in four steps:
 *
 *   1. Say which words the operation is about: td_transfer_layout, _tensor, _span, _words or _file.
 *   2. Bring these words in, where the operation looks at them: td_transfer_in, chunk by chunk. Dumps, comparisons and
 *      reads look at all of them; a load only where it leaves bits of a word as they were (`partial`).
 *   3. Run the operation on the copy, as tensordoor.h has it; after td_transfer_tensor it is td_transfer_load or _dump.
 *   4. Take the words out, where the operation has written them: td_transfer_out, chunk by chunk.
 *
 * Step 1 refuses no operation. Words that it cannot have are left out, and the operation of step 3 says what is
 * wrong. So step 1 fails only on NULL, on a memory that is too deep (TD_ARGUMENT) and without memory (TD_NO_MEMORY).
 * The next step 1 on a memory ends a transfer that was not finished.
 *
 * -- 2. A chunk -------------------------------------------------------------------------------------------------------
 *
 * Words cross in chunks: arrays of 32-bit words, as long as the bridge likes, but for TD_TRANSFER_HEAD words and one
 * word of the memory at least. A chunk is one run after another:
 *
 *     address of the first word | number of words | step: distance from word to word | the words
 *
 * A word takes (width + 31) / 32 of 32 bits, the low ones first, bits above the width zero. A negative step is in
 * two's complement. A step of 0 is a list: its words are scattered, and each stands behind its own address; the
 * address in the head is that of the first. Addresses have 32 bits: step 1 refuses a memory of more words
 * (TD_ARGUMENT).
 *
 * -- 3. Four states ---------------------------------------------------------------------------------------------------
 *
 * A bit that is x or z crosses as 0 in the chunk, and as 1 in a mask of the same form (td_transfer_unknown_in). It is
 * remembered until the next step 1. A load makes known what it writes; the other bits of a word (fill=keep,
 * tail=clip, masks) stay x or z, and td_transfer_unknown_out says which. What reads such bits follows
 * td_memory_set_x. A bridge to a simulator of two states leaves out both functions.
 *
 * -- 4. Ownership -----------------------------------------------------------------------------------------------------
 *
 * The copy owns the transfer: there is one per memory, and td_memory_destroy frees it. Chunks are the caller's. With
 * *borrowed from td_transfer_tensor the words are the tensor's own: it has to live, and stay as it is, until the last
 * chunk has crossed. Memories follow the rule of tensordoor.h: two threads may not use one at once.
 *
 * -- 5. A whole bridge ------------------------------------------------------------------------------------------------
 *
 * To an array of 1024 words of 64 bits and two states. A test compiles and runs these lines as they stand here.
 *
 *     #include <stdio.h>
 *     #include <tensordoor_bridge.h>
 *
 *     static uint64_t elsewhere[1024]; // the array: what only the bridge can reach
 *
 *     static void visit(uint32_t *chunk, size_t runs, int write)
 *     {
 *         for (; runs; runs--) {
 *             uint32_t at = chunk[0], count = chunk[1], step = chunk[2];
 *             for (chunk += TD_TRANSFER_HEAD; count; count--, at += step, chunk += 2) {
 *                 if (step == 0)
 *                     at = *chunk++;
 *                 if (write)
 *                     elsewhere[at] = chunk[0] | (uint64_t)chunk[1] << 32;
 *                 chunk[0] = (uint32_t)elsewhere[at];
 *                 chunk[1] = (uint32_t)(elsewhere[at] >> 32);
 *             }
 *         }
 *     }
 *
 *     static void bring_in(td_memory *copy)
 *     {
 *         uint32_t chunk[512];
 *         size_t runs;
 *         while ((runs = td_transfer_in(copy, chunk, 512)) > 0)
 *             visit(chunk, runs, 0);
 *     }
 *
 *     static void take_out(td_memory *copy)
 *     {
 *         uint32_t chunk[512];
 *         size_t runs;
 *         int unknown;
 *         while ((runs = td_transfer_out(copy, chunk, 512, &unknown)) > 0)
 *             visit(chunk, runs, 1);
 *     }
 *
 *     static td_status load(td_memory *copy, const td_tensor *tensor, const td_layout *layout)
 *     {
 *         int partial, borrowed;
 *         td_status status = td_transfer_tensor(copy, tensor, layout, NULL, TD_TRANSFER_LOAD, &partial, &borrowed);
 *         if (!status && partial)
 *             bring_in(copy);
 *         if (!status)
 *             status = td_transfer_load(copy, tensor, layout, NULL);
 *         if (!status)
 *             take_out(copy);
 *         return status;
 *     }
 *
 *     static td_status compare(td_memory *copy, const td_tensor *golden, const td_layout *layout, td_report **report)
 *     {
 *         int partial;
 *         td_status status = td_transfer_layout(&copy, 1, golden, layout, NULL, &partial);
 *         if (!status)
 *             bring_in(copy);
 *         return status ? status : td_backdoor_compare_tensor(copy, golden, layout, NULL, NULL, report);
 *     }
 *
 *     int main(void)
 *     {
 *         td_tensor *t = NULL;
 *         td_memory *copy = NULL;
 *         td_layout *l = NULL;
 *         td_report *report = NULL;
 *         if (td_tensor_create("i16", TD_SHAPE(10, 4), &t) || td_tensor_fill_ramp(t, 1, 1) ||
 *             td_memory_create("far", 64, 1024, &copy) || td_layout_create("r c -> r c", NULL, "3 + 8*r", &l) ||
 *             load(copy, t, l))
 *             fprintf(stderr, "%s\n", td_last_error());
 *         elsewhere[11] ^= 0x20000; // the design computes something else
 *         if (compare(copy, t, l, &report))
 *             fprintf(stderr, "%s\n", td_last_error());
 *         printf("%016llx: %s\n", (unsigned long long)elsewhere[3], td_report_line(report));
 *         td_report_destroy(&report);
 *         td_layout_destroy(&l);
 *         td_memory_destroy(&copy);
 *         td_tensor_destroy(&t);
 *         return 0;
 *     }
 */
#ifndef TENSORDOOR_BRIDGE_H
#define TENSORDOOR_BRIDGE_H

#include "tensordoor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TD_TRANSFER_HEAD 3 /* words in front of a run: address, number, step */

/* The words of a load, dump or comparison through a layout, for every bank. *partial is 1 when a load may leave bits
 * of a word as they are (fill=keep, tail=clip), so that words have to come in first. */
TD_API td_status td_transfer_layout(td_memory *const *banks, size_t count, const td_tensor *tensor,
                                    const td_layout *layout, const char *as, int *partial);

/* The same for one load or dump of one memory, which td_transfer_load or td_transfer_dump then makes with the same
 * arguments: the fast way, because the words need not be in the copy while they cross. *borrowed is 1 when they are
 * the tensor's own. A dump straight into the tensor could not be refused any more when x or z comes;
 * TD_TRANSFER_DUMP_KNOWN says that none will, and allows it. */
typedef enum td_transfer_use { TD_TRANSFER_LOAD, TD_TRANSFER_DUMP, TD_TRANSFER_DUMP_KNOWN } td_transfer_use;
TD_API td_status td_transfer_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                                    td_transfer_use use, int *partial, int *borrowed);
TD_API td_status td_transfer_load(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as);
TD_API td_status td_transfer_dump(td_memory *memory, td_tensor *tensor, const td_layout *layout, const char *as);

/* `count` words from `first` on: for matrices, fillings, single words, and files that are written. */
TD_API td_status td_transfer_span(td_memory *memory, uint64_t first, uint64_t count);

/* The words of td_backdoor_read and td_backdoor_write. */
TD_API td_status td_transfer_words(td_memory *memory, const uint64_t *addresses, size_t count);

/* The words that an image file names. The file may cover a word in part, so they have to come in before it is loaded.
 * */
TD_API td_status td_transfer_file(td_memory *memory, const char *path);

/* Takes the words of the runs that the call before gave, which the caller has filled in, and gives the next runs.
 * Returns their number, a list counted as one; 0 behind the last, and the next call begins again. Where bits are x or
 * z, td_transfer_unknown_in says which before the next call, as masks in the form of the same chunk: TD_ARGUMENT when
 * no runs are out. */
TD_API size_t td_transfer_in(td_memory *memory, uint32_t *chunk, size_t chunk_words);
TD_API td_status td_transfer_unknown_in(td_memory *memory, const uint32_t *chunk, size_t chunk_words);

/* Gives the next runs with their words. Returns their number as above. *unknown is 1 when some of their bits are to
 * stay x or z: td_transfer_unknown_out then gives these bits, as masks in the form of the same chunk. */
TD_API size_t td_transfer_out(td_memory *memory, uint32_t *chunk, size_t chunk_words, int *unknown);
TD_API void td_transfer_unknown_out(td_memory *memory, uint32_t *chunk, size_t chunk_words);

#ifdef __cplusplus
}
#endif
#endif
