/* The kernels of codes for GFNI: a term is one instruction, the product of a matrix of 8 x 8 bits with every byte. */
#include "kernels/code.h"

#define TARGET __attribute__((target("gfni,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,bmi2")))
#include "kernels/code_vector_avx512.inc"

#define APPLY(term, plane) _mm512_gf2p8affine_epi64_epi8(plane, _mm512_set1_epi64((long long)(term)->affine), 0)
#include "kernels/code.inc"
#include "kernels/code_step_gfni.inc"

CODE_MAP(gfni, map_steps)
