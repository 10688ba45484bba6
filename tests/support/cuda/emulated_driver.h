/* emulated_driver.h - a CUDA driver for tests on machines without a GPU: a library with the soname libcuda.so.1, in a
 * folder of its own, build/emulated_driver, which $LD_LIBRARY_PATH selects. It has the functions of driver.h. Device
 * memory is host memory, a stream runs its work at once on the calling thread, an event is a clock time, and a kernel
 * is a C function that is called once per block.
 *
 * A kernel is added as a function and a row of emulated_kernels (emulated_kernels.c).
 *
 * $SFUMATO_EMULATED_DRIVER holds words, separated by commas; it is read again when it has changed:
 *   devices=2          the number of devices (1); with 0 cuInit fails as on a machine without one
 *   driver=11040       the version of the driver (13000)
 *   capability=75      the compute capability, 10 * major + minor (90)
 *   memory=1000000     bytes of memory of a device (8 GB)
 *   fail=FUNCTION:CODE    every call of a function of the driver fails with this code: fail=cuModuleLoadData:222
 *   fail=FUNCTION:CODE:N  only the N-th call since the variable was changed; N=1 is the first
 *   report             at exit, the process fails with a line for what was not released
 * A code that destroys a context (700, 719, ...) is the result of every later call for that device, until its context
 * is released. That of a launch first shows in the next call, because launches are asynchronous.
 *
 * Wrong use ends the process with a line: a copy outside an allocation, writing beyond its end, freeing what is not
 * allocated. New device memory and shared memory are filled with 0xff, which is a NaN. In a build with the address
 * sanitizer every allocation is one of malloc, so that it finds wrong accesses where they happen.
 */
#ifndef SFU_EMULATED_DRIVER_H
#define SFU_EMULATED_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* A launch, as a kernel sees it. */
typedef struct emulated_launch {
    int blocks, cluster, threads; /* cluster: blocks of a cluster, at least 1 */
    bool cooperative;
    int shared_bytes; /* dynamic shared memory of a block */
    char *shared;     /* that of the cluster of this block: its r-th block has shared + r * shared_bytes */
} emulated_launch;

/* Does the work of block `block`; params[i] points to the i-th argument. Device addresses are pointers. The blocks run
 * one after the other, in order. Where blocks wait for each other (clusters, cooperative launches), the first block of
 * the cluster or of the grid does the work of all of them, and the others return at once. */
typedef void (*emulated_kernel)(const emulated_launch *launch, int block, void **params);

typedef struct emulated_row {
    const char *name; /* as in kernels.cu */
    emulated_kernel run;
    int threads;      /* most threads of a block (__launch_bounds__) */
    int static_bytes; /* static shared memory */
} emulated_row;

/* All kernels; terminated by a NULL name. */
extern const emulated_row emulated_kernels[];

/* What is not released yet: allocations, streams, events, modules, contexts, pushed contexts. A test gets the address
 * with dlsym. */
__attribute__((visibility("default"))) int64_t emulated_objects(void);

#endif
