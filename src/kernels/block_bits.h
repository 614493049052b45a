/* Numbers of f32 and e8m0 as bits, for the kernels that make scales. Included by them alone. */
#ifndef TD_KERNELS_BLOCK_BITS_H
#define TD_KERNELS_BLOCK_BITS_H

/* f32 */
#define INF_BITS 0x7f800000U
#define MAX_BITS 0x7f7fffffU
#define MAN_MASK 0x7fffffU
#define HALF_OF_MAN 0x400000U

/* e8m0 */
#define CODE_MAX 254
#define CODE_NAN 255

#endif
