/* tensordoor_bridge: for memories that the library cannot reach itself. This is for those who write a bridge to a
 * simulator or an emulator.
 *
 * Testbenches do not need this header: the SystemVerilog classes of tensordoor are such a bridge themselves
 * (dpi/transfer.c and sv/td_design_memory.svh). tensordoor.h is the manual of everything else.
 *
 * -- 1. The steps -----------------------------------------------------------------------------------------------------
 *
 * The array is somewhere else, in a simulated design or an emulator. The library has a td_memory of the same width and
 * depth: the copy. An operation on the array takes four steps:
 *
 *   1. Say which words the operation touches: td_transfer_layout, _tensor, _span, _words or _file.
 *   2. If the operation reads these words, copy them in, chunk by chunk: td_transfer_in. Dumps, comparisons and reads
 *      read all of them; a load reads them only if it leaves bits of a word unchanged (`partial`).
 *   3. Run the operation on the copy with a call of tensordoor.h; after td_transfer_tensor, with td_transfer_load or
 *      _dump.
 *   4. If the operation has written these words, copy them out, chunk by chunk: td_transfer_out.
 *
 * Step 1 does not check the operation: it leaves out words that are not in the memory, and the call of step 3 then says
 * what is wrong. Step 1 fails only on NULL, on a memory that is too deep (both TD_ARGUMENT), and when the system
 * refuses memory (TD_NO_MEMORY). A new step 1 on a memory ends a transfer that was not finished.
 *
 * -- 2. A chunk -------------------------------------------------------------------------------------------------------
 *
 * Words are passed in chunks: arrays of 32-bit words. The bridge chooses their length, which must be at least
 * TD_TRANSFER_HEAD words plus one word of the memory. A chunk is a sequence of runs:
 *
 *     address of the first word | number of words | step: distance from word to word | the words
 *
 * A memory word takes (width + 31) / 32 words of 32 bits, the low ones first; bits above the width are zero. A negative
 * step is in two's complement. A step of 0 marks a list of scattered words: each comes after its own address, and the
 * address in the head is that of the first. Addresses have 32 bits: step 1 refuses a memory with more words
 * (TD_ARGUMENT).
 *
 * -- 3. Four states ---------------------------------------------------------------------------------------------------
 *
 * A bit that is x or z is 0 in the chunk and 1 in a mask of the same form (td_transfer_unknown_in). The library
 * remembers it until the next step 1. Bits that a load writes become 0 or 1; bits of the same word that it does not
 * write (fill=keep, tail=clip, masks) stay x or z, and td_transfer_unknown_out tells which they are; after
 * td_memory_invalidate they are known bits, which become x. td_memory_set_x
 * decides what happens when a call reads such bits. A bridge to a two-state simulator does not need these two
 * functions.
 *
 * -- 4. Memories over others ------------------------------------------------------------------------------------------
 *
 * A memory may lie over copies (td_memory_over). Then step 1 and step 3 are calls with the memory on top, and steps 2
 * and 4 are made for each of the copies at the bottom, in any order: step 1 has found the words of each. Words of a
 * copy may hold bits of several words of the memory on top. td_transfer_shared tells after step 1 when some do; then
 * they have to be copied in even for an operation that writes whole words (`partial` says so too). After
 * td_transfer_tensor the chunks may be filled from the memory on top, or from the tensor (*borrowed), and emptied into
 * it: the copies are then left as they were.
 *
 * A map (td_map_open) that was given copies is such a memory, too: its calls have steps 1 of their own, and then all
 * copies that it was given take steps 2 and 4. The memories that it has made, by name, are memories over copies.
 *
 * -- 5. Ownership -----------------------------------------------------------------------------------------------------
 *
 * The copy owns the transfer: there is one per memory, and td_memory_destroy frees it. Chunks belong to the caller.
 * When td_transfer_tensor sets *borrowed, the words are read from the tensor itself, or written to it: it must exist,
 * and not change, until the last chunk has been passed. As in tensordoor.h, two threads may not use one memory at once.
 *
 * -- 6. A whole bridge ------------------------------------------------------------------------------------------------
 *
 * This one is for a two-state array of 1024 words of 64 bits. A test compiles and runs these lines as they are.
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

/* Step 1 for a load, dump or comparison through a layout, for every bank. *partial is set to 1 when a load may leave
 * bits of a word unchanged (fill=keep, tail=clip), so that the words have to be copied in first. */
TD_API td_status td_transfer_layout(td_memory *const *banks, size_t count, const td_tensor *tensor,
                                    const td_layout *layout, const char *as, int *partial);

/* The same for one load or dump of one memory, for which step 3 is td_transfer_load or td_transfer_dump with the same
 * arguments. This is faster, because the words need not pass through the copy. *borrowed is set to 1 when they are the
 * tensor's own. A dump directly into the tensor could not be undone when an x or z turns up later, so it is made only
 * with TD_TRANSFER_DUMP_KNOWN, which promises that there are none. */
typedef enum td_transfer_use { TD_TRANSFER_LOAD, TD_TRANSFER_DUMP, TD_TRANSFER_DUMP_KNOWN } td_transfer_use;
TD_API td_status td_transfer_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                                    td_transfer_use use, int *partial, int *borrowed);
TD_API td_status td_transfer_load(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as);
TD_API td_status td_transfer_dump(td_memory *memory, td_tensor *tensor, const td_layout *layout, const char *as);

/* Step 1 for a load, dump or comparison of parts: the words of every memory that one of them lies in, and none of the
 * others. `use` is TD_TRANSFER_LOAD for a load and for a comparison, whose tensor the parts are of. */
TD_API td_status td_transfer_parts(td_memory *const *memories, size_t count, const td_tensor *tensor,
                                   const td_parts_layout *layout, td_transfer_use use, int *partial);

/* Step 1 for `count` words from `first` on: for matrices, fills, single words, and files that are saved. */
TD_API td_status td_transfer_span(td_memory *memory, uint64_t first, uint64_t count);

/* Step 1 for every word of every bank. */
TD_API td_status td_transfer_all(td_memory *const *banks, size_t count);

/* Step 1 for td_backdoor_read and td_backdoor_write. */
TD_API td_status td_transfer_words(td_memory *memory, const uint64_t *addresses, size_t count);

/* Step 1 for a program (section 16 of tensordoor.h), twice: with TD_PROGRAM_READS before td_program_run, for the words
 * that the run reads, or writes only in part, and step 2; with TD_PROGRAM_WRITES after it, for the words that it has
 * written, and step 4, which knows what was x in step 2. `memories` are all that lie elsewhere, or over such, and are
 * bound to the program, each once: however many of them lie over one copy, and however many steps touch a word of it,
 * the word crosses once in each direction. words[i] is how many words of memory i it is about; where all are 0, step 2
 * or 4 has nothing to do. */
TD_API td_status td_transfer_program(td_program *program, const char *label, const char *arguments,
                                     td_memory *const *memories, size_t count, td_program_effect effect,
                                     uint64_t *words);

/* td_program_record for a bridge whose calls come on any thread, as those of a simulator do: the calls of all threads
 * are recorded, and any of them may call td_program_stop. td_record_hold(1) keeps the calls of this thread out of it,
 * up to td_record_hold(0): those of the bridge itself. */
TD_API td_status td_program_record_all(td_program **out);
TD_API void td_record_hold(int hold);

/* The memories that are bound to a name, td_program_memory gives the names, or NULL. They live as long as the binding.
 */
TD_API td_memory *const *td_program_banks(const td_program *program, const char *name, size_t *count);

/* After step 1: 1 when words below a memory that lies over others hold bits of other words of it, or none of its bits.
 */
TD_API int td_transfer_shared(const td_memory *memory);

/* Step 1 for loading an image file. The file may give only a part of a word, so the words have to be copied in first.
 * */
TD_API td_status td_transfer_file(td_memory *memory, const char *path);

/* Step 2. Takes over the words that the caller has filled into the runs of the previous chunk, and gives the runs of
 * the next one. Returns the number of runs, a list counted as one; 0 after the last, and the next call begins again. If
 * some of the words have x or z, call td_transfer_unknown_in before the next chunk, with masks in the form of that
 * chunk; it is TD_ARGUMENT when no runs are pending. */
TD_API size_t td_transfer_in(td_memory *memory, uint32_t *chunk, size_t chunk_words);
TD_API td_status td_transfer_unknown_in(td_memory *memory, const uint32_t *chunk, size_t chunk_words);

/* Step 4. Gives the next runs with their words; returns the number of runs as above. *unknown is set to 1 when some of
 * their bits have to stay x or z: td_transfer_unknown_out then gives these bits, as masks in the form of that chunk. */
TD_API size_t td_transfer_out(td_memory *memory, uint32_t *chunk, size_t chunk_words, int *unknown);
TD_API void td_transfer_unknown_out(td_memory *memory, uint32_t *chunk, size_t chunk_words);

/* Step 1 for the calls of a map (tensordoor.h, section 15) whose arrays are copies, td_map_read and td_map_write, then
 * td_map_load_file, then tensors at an address: the words of every copy, so that steps 2 and 4 are made for all copies
 * that the map was opened with. *partial is set to 1 when a write needs what the words held before. */
TD_API td_status td_transfer_map_bytes(td_map *map, uint64_t address, uint64_t count, int *partial);
TD_API td_status td_transfer_map_file(td_map *map, const char *path);
TD_API td_status td_transfer_map_tensor(td_map *map, uint64_t address, const td_tensor *tensor, const td_layout *layout,
                                        const char *as, int *partial);

/* 1 when the memory is this one, or lies over it, in any number of layers. */
TD_API int td_transfer_reaches(const td_memory *memory, const td_memory *array);

#ifdef __cplusplus
}
#endif
#endif
