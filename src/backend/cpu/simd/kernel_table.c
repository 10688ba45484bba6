/* kernel_table.c - the backend table of one instruction set. */
#include "kernels.h"

#define TABLE_OF(isa) SFU__KERNEL_TABLE(isa, "cpu: " SFU__ISA_TEXT)
#define NAME_OF(isa) NAME_OF_(isa)
#define NAME_OF_(isa) sfu__backend_##isa

const sfu__backend NAME_OF(SFU__ISA) = TABLE_OF(SFU__ISA);
