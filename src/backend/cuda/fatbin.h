/* fatbin.h - the kernels for NVIDIA GPUs, compiled by nvcc and embedded into the library (cmake/Cuda.cmake). */
#ifndef SFU_FATBIN_H
#define SFU_FATBIN_H

/* The image for cuModuleLoadData; NULL in a build without CUDA. */
const void *sfu__fatbin(void);

/* The version of CUDA that made it: "13.0"; "" in a build without CUDA. */
const char *sfu__fatbin_cuda(void);

#endif
