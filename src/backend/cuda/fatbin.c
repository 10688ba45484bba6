/* fatbin.c - embeds the compiled kernels as read-only data; the assembler of every supported compiler has .incbin. */
#include "fatbin.h"

#include <stddef.h>

#if SFU_HAVE_CUDA

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl sfu__fatbin_bytes\n"
        ".hidden sfu__fatbin_bytes\n"
        ".type sfu__fatbin_bytes, %object\n"
        "sfu__fatbin_bytes:\n"
        ".incbin \"" SFU__FATBIN_FILE "\"\n"
        ".size sfu__fatbin_bytes, . - sfu__fatbin_bytes\n"
        ".previous\n");

extern const unsigned char sfu__fatbin_bytes[];

const void *sfu__fatbin(void) { return sfu__fatbin_bytes; }
const char *sfu__fatbin_cuda(void) { return SFU__FATBIN_CUDA; }

#else

const void *sfu__fatbin(void) { return NULL; }
const char *sfu__fatbin_cuda(void) { return ""; }

#endif
