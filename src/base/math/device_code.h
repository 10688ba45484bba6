/* device_code.h - lets small functions and tables of constants be compiled for a GPU as well: nvcc needs to be told
 * which those are. A step is a function that is not copied into its callers, so that its loops have all registers. */
#ifndef SFU_DEVICE_CODE_H
#define SFU_DEVICE_CODE_H

#ifdef __CUDACC__
#define SFU__DEVICE_FN static __device__ __forceinline__
#define SFU__DEVICE_STEP static __device__ __noinline__
#define SFU__DEVICE_CONST static __constant__ const
#else
#define SFU__DEVICE_FN static inline
#define SFU__DEVICE_STEP static inline
#define SFU__DEVICE_CONST static const
#endif

#endif
