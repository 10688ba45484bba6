/* gpu.h - NVIDIA GPUs: memory, copies, streams, events, kernels and their launches. Plain C over the driver.
 *
 *   sfu__gpu *gpu;
 *   SFU_TRY(sfu__gpu_open(&gpu, 0));
 *   SFU_TRY(sfu__gpu_alloc(gpu, &address, bytes));
 *   SFU_TRY(sfu__gpu_find_kernel(gpu, &kernel, "sfu_probe"));
 *   SFU_TRY(sfu__gpu_launch(gpu, &kernel, &(sfu__gpu_shape){.blocks = 4, .threads = 32}, stream,
 *                           (void *[]){&address, &value}));
 *
 * 1. A function may be called from any thread, and leaves the thread's CUDA context as it was: other libraries of the
 *    process may use CUDA too.
 * 2. Work on one stream runs in order; work on different streams may overlap. Functions with a stream return before the
 *    work is done. Host memory that they read or write is left alone until the stream has reached that point.
 * 3. A failure has one line that names the device, what was tried, the driver's own words and the remedy.
 * 4. If a kernel crashes or the hardware fails, the device is lost to the process: the first call that notices it fails
 *    with SFU_ERR_DEVICE, and every later one fails at once with the same line. Objects are still released by their
 *    functions. After the last sfu__gpu_close, sfu__gpu_open starts afresh.
 */
#ifndef SFU_GPU_H
#define SFU_GPU_H

#include "status.h"

#include <stdint.h>

/* ---- devices ----------------------------------------------------------------------------------------------------- */

/* An open device, shared by the process and counted by reference. */
typedef struct sfu__gpu sfu__gpu;

typedef struct sfu__gpu_facts {
    char name[128];   /* "NVIDIA H200" */
    int ordinal;      /* 0 for cuda:0 */
    int major, minor; /* compute capability: 9.0 */
    int multiprocessors;
    int shared_bytes; /* most shared memory of a block, static and dynamic */
    int64_t memory;   /* bytes in all */
    int64_t l2_bytes;
    double clock_hz;           /* of the multiprocessors, at most */
    double memory_bytes_per_s; /* at most */
    int driver;                /* 13000 for CUDA 13.0 */
} sfu__gpu_facts;

/* Whether there is a driver and a device. Costs microseconds where no driver is installed; otherwise it starts the
 * driver, which may take a second on first use: ask when a GPU would be of use. Never fails. */
bool sfu__gpu_present(void);

/* The number of devices, at least 1. Fails as sfu__gpu_open does. */
SFU_CHECKED sfu_status sfu__gpu_count(int *count);

/* Opens device cuda:ORDINAL and loads the kernels. The first call takes a fraction of a second; the device stays open
 * until each successful call is paired with a close. SFU_ERR_UNSUPPORTED: no driver, no device, one too old, or a build
 * without CUDA. SFU_ERR_NOT_FOUND: no device of this number. SFU_ERR_DEVICE: in use by another process, or lost. */
SFU_CHECKED sfu_status sfu__gpu_open(sfu__gpu **gpu, int ordinal);
void sfu__gpu_close(sfu__gpu *gpu);

/* Borrowed from the device. */
const sfu__gpu_facts *sfu__gpu_facts_of(const sfu__gpu *gpu);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Allocates device memory, aligned to 256 bytes and uninitialized; at least one byte. SFU_ERR_MEMORY says how much is
 * free. Freeing address 0 does nothing; freeing waits for the work of all streams. */
SFU_CHECKED sfu_status sfu__gpu_alloc(sfu__gpu *gpu, uint64_t *address, int64_t bytes);
void sfu__gpu_free(sfu__gpu *gpu, uint64_t address);

/* The bytes of device memory that are free now, or were put back. */
SFU_CHECKED sfu_status sfu__gpu_free_bytes(sfu__gpu *gpu, int64_t *bytes);

/* Page-locked host memory: copies from and to it do not block the thread, and are faster. Kernels may read it where it
 * is, by the same address, also while the host writes it. Uninitialized. */
SFU_CHECKED sfu_status sfu__gpu_alloc_host(sfu__gpu *gpu, void **pointer, int64_t bytes);
void sfu__gpu_free_host(sfu__gpu *gpu, void *pointer);

/* The same for memory that comes and goes while others work: what is put back is used again, and putting it back does
 * not wait, so the work on it must be done. *size: the bytes of the block, at least those that were asked for. What was
 * put back is freed when device memory is short, and when the device is closed. */
SFU_CHECKED sfu_status sfu__gpu_take(sfu__gpu *gpu, uint64_t *address, int64_t *size, int64_t bytes);
void sfu__gpu_put(sfu__gpu *gpu, uint64_t address, int64_t size);
SFU_CHECKED sfu_status sfu__gpu_take_host(sfu__gpu *gpu, void **pointer, int64_t *size, int64_t bytes);
void sfu__gpu_put_host(sfu__gpu *gpu, void *pointer, int64_t size);

/* Threads that train at the same time agree on how much of the memory each uses. Lending waits, in the order of the
 * calls, until all that is lent is within the limit, or nothing else is lent. A thread returns what it has before it
 * asks again. The limit is half of the memory that is free at the first call: programs, and blocks that are kept to be
 * used again, take the rest. */
SFU_CHECKED sfu_status sfu__gpu_lending_limit(sfu__gpu *gpu, int64_t *bytes);
void sfu__gpu_lend(sfu__gpu *gpu, int64_t bytes);
void sfu__gpu_return(sfu__gpu *gpu, int64_t bytes);

/* ---- streams and copies ------------------------------------------------------------------------------------------ */

typedef struct CUstream_st sfu__gpu_stream;

SFU_CHECKED sfu_status sfu__gpu_stream_new(sfu__gpu *gpu, sfu__gpu_stream **stream);
void sfu__gpu_stream_free(sfu__gpu *gpu, sfu__gpu_stream *stream);

/* Waits for the work of the stream; or asks whether it is done. Both report the failures of that work. */
SFU_CHECKED sfu_status sfu__gpu_stream_wait(sfu__gpu *gpu, sfu__gpu_stream *stream);
SFU_CHECKED sfu_status sfu__gpu_stream_done(sfu__gpu *gpu, sfu__gpu_stream *stream, bool *done);

/* Copies, on a stream. With a NULL stream the copy is complete on return; it does not wait for other streams. */
SFU_CHECKED sfu_status sfu__gpu_upload(sfu__gpu *gpu, uint64_t to, const void *from, int64_t bytes,
                                       sfu__gpu_stream *stream);
SFU_CHECKED sfu_status sfu__gpu_download(sfu__gpu *gpu, void *to, uint64_t from, int64_t bytes,
                                         sfu__gpu_stream *stream);

/* Sets bytes to 0; or `count` words of 32 bits, at an address divisible by 4, to a value. The stream is not NULL. */
SFU_CHECKED sfu_status sfu__gpu_clear(sfu__gpu *gpu, uint64_t address, int64_t bytes, sfu__gpu_stream *stream);
SFU_CHECKED sfu_status sfu__gpu_fill(sfu__gpu *gpu, uint64_t address, uint32_t value, int64_t count,
                                     sfu__gpu_stream *stream);

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* A point in a stream. */
typedef struct CUevent_st sfu__gpu_event;

SFU_CHECKED sfu_status sfu__gpu_event_new(sfu__gpu *gpu, sfu__gpu_event **event);
void sfu__gpu_event_free(sfu__gpu *gpu, sfu__gpu_event *event);

/* Places the event behind the work that the stream has now. An event that was never placed counts as reached. */
SFU_CHECKED sfu_status sfu__gpu_event_record(sfu__gpu *gpu, sfu__gpu_event *event, sfu__gpu_stream *stream);

/* Waits, without using the processor, until the event is reached; or asks whether it is. */
SFU_CHECKED sfu_status sfu__gpu_event_wait(sfu__gpu *gpu, sfu__gpu_event *event);
SFU_CHECKED sfu_status sfu__gpu_event_done(sfu__gpu *gpu, sfu__gpu_event *event, bool *done);

/* The time between two events that were reached. */
SFU_CHECKED sfu_status sfu__gpu_event_seconds(sfu__gpu *gpu, double *seconds, sfu__gpu_event *start,
                                              sfu__gpu_event *end);

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* A kernel of kernels.cu (extern "C"), valid while the device is open. Nothing to free. */
typedef struct sfu__gpu_kernel {
    const char *name; /* as given */
    struct CUfunc_st *function;
    int threads;      /* most threads of a block */
    int shared_bytes; /* most dynamic shared memory of a block */
} sfu__gpu_kernel;

typedef struct sfu__gpu_shape {
    int blocks;
    int cluster;      /* blocks of a cluster, a divisor of `blocks`; 0 or 1: no clusters. Above 1: sm_90 or later */
    int threads;      /* of a block */
    int shared_bytes; /* dynamic shared memory of a block */
    bool cooperative; /* blocks wait for each other, so all of them must run at once: sfu__gpu_blocks_at_once */
} sfu__gpu_shape;

/* Looks a kernel up and allows it all shared memory and clusters of up to 16 blocks. `name` must outlive the kernel. */
SFU_CHECKED sfu_status sfu__gpu_find_kernel(sfu__gpu *gpu, sfu__gpu_kernel *kernel, const char *name);

/* How many blocks of such a launch the whole device runs at once; shape->blocks is ignored. 0: a block does not fit. */
SFU_CHECKED sfu_status sfu__gpu_blocks_at_once(sfu__gpu *gpu, int *blocks, const sfu__gpu_kernel *kernel,
                                               const sfu__gpu_shape *shape);

/* Starts a kernel on a stream. params[i] points to the i-th argument, which is copied. */
SFU_CHECKED sfu_status sfu__gpu_launch(sfu__gpu *gpu, const sfu__gpu_kernel *kernel, const sfu__gpu_shape *shape,
                                       sfu__gpu_stream *stream, void **params);

#endif
