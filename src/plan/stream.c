/* Whether a move stores past the caches: which class of kernels/stream.h it is of. Called by choose.c. */
#include "kernels/stream.h"

#include "plan/passes.h"

#define WIDE_ELEM 16 /* transposes of such elements, as rows of tiles, read and write as copies do */

bool td_stream_move(const td_move *m, uint64_t part_of_bytes)
{
    const bool transpose = m->kind == TD_MOVE_TRANSPOSE;
    const td_stream_class kind = !m->lines ? TD_STREAM_ROWS
                                 : (transpose && m->elem_bytes < WIDE_ELEM) || m->kind == TD_MOVE_PICKS
                                     ? TD_STREAM_TRANSPOSE
                                 : m->dst_scale != m->src_scale ? TD_STREAM_CONVERT
                                                                : TD_STREAM_COPY;
    return td_stream_pays(kind, transpose ? (unsigned)m->elem_bytes : 0,
                          part_of_bytes > m->bytes ? part_of_bytes : m->bytes);
}

bool td_stream_cuts(uint64_t bytes)
{
    return td_stream_pays(TD_STREAM_CUT, 0, bytes);
}
