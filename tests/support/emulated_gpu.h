/* emulated_gpu.h - for tests of what runs on NVIDIA GPUs, with the emulated driver (support/cuda/emulated_driver.h). */
#ifndef SFU_EMULATED_GPU_H
#define SFU_EMULATED_GPU_H

#include <stdint.h>

/* Called first in main. Makes libcuda.so.1 that of a folder of the build, "emulated_driver" or "old_driver": the
 * dynamic linker reads $LD_LIBRARY_PATH at start, so the program is started again if it has another one. NULL: leaves
 * it. In a build without CUDA it ends the program as skipped. */
void emulated_start(char **argv, const char *folder);

/* Sets the words of $SFUMATO_EMULATED_DRIVER; what is not released at exit is always reported. */
void emulated_set(const char *words);

/* What the driver has not released yet. */
int64_t emulated_left(void);

#endif
