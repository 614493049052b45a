/* What this machine can run, detected once. Every kernel family fills its function pointers with plain C first and
 * overrides them by these flags, so that a mask can force each version: tests call td_cpu_mask, a user sets TD_CPU to
 * c, avx2 or avx512 in the environment (any other word is ignored; on AArch64 only c changes anything). */
#ifndef TD_CPU_H
#define TD_CPU_H

enum {
    TD_CPU_C = 0,
    TD_CPU_AVX2 = 1 << 0,   /* AVX2, FMA, F16C, BMI1, BMI2 */
    TD_CPU_AVX512 = 1 << 1, /* AVX-512 F, BW, DQ, VL, CD; comes with TD_CPU_AVX2 */
    TD_CPU_VBMI = 1 << 2,   /* AVX-512 VBMI, VBMI2 */
    TD_CPU_NEON = 1 << 3,   /* every AArch64 has it */
    TD_CPU_GFNI = 1 << 4,   /* GFNI on vectors of 64 bytes; comes with TD_CPU_VBMI */
    TD_CPU_ALL = (1 << 5) - 1
};

/* The flags of the machine, after the environment and the mask. */
unsigned td_cpu_flags(void);

/* The flags of the machine itself, whatever the environment says. */
unsigned td_cpu_hardware(void);

/* Its maker, family, model, stepping and name, as AuthenticAMD 25.1.1 "AMD EPYC". */
#define TD_CPU_NAME_BYTES 128
void td_cpu_name(char out[TD_CPU_NAME_BYTES]);

/* Hides flags from every later td_cpu_flags: pass TD_CPU_ALL to see all again. */
void td_cpu_mask(unsigned wanted);

#endif
