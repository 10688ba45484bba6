/* gpu_int.h - an open device, and the frame of every call to the driver. */
#ifndef SFU_GPU_INT_H
#define SFU_GPU_INT_H

#include "driver.h"
#include "gpu.h"

#include <pthread.h>
#include <stdatomic.h>

/* Memory that was given back, gpu_reserve.c. */
enum { SFU__GPU_BLOCKS = 1024 };

typedef struct sfu__gpu_block {
    uint64_t address;
    int64_t bytes;
} sfu__gpu_block;

typedef struct sfu__gpu_blocks {
    sfu__gpu_block items[SFU__GPU_BLOCKS];
    int count;
} sfu__gpu_blocks;

struct sfu__gpu {
    sfu__gpu *next; /* in the list of open devices, gpu_open.c */
    int references;
    sfu__gpu_facts facts;
    char label[160]; /* "cuda:0 (NVIDIA H200)" */
    sfu__cu_device device;
    sfu__cu_context context; /* the primary one, which all libraries of a process share; NULL until retained */
    sfu__cu_module module;
    atomic_bool lost;
    pthread_mutex_t lost_lock; /* of lost_line, which is written once */
    char lost_line[SFU__MESSAGE_MAX];
    pthread_mutex_t reserve_lock; /* of both lists */
    sfu__gpu_blocks device_blocks, host_blocks;
    pthread_mutex_t lending_lock; /* of the rest, gpu_lending.c */
    pthread_cond_t lending_changed;
    int64_t lending_limit, lent; /* bytes; limit 0: not known yet */
    uint64_t lending_next, lending_turn;
};

/* Bytes of device memory that were given back; and frees them, true if there were any. */
int64_t sfu__gpu_reserved(sfu__gpu *gpu);
bool sfu__gpu_release_reserve(sfu__gpu *gpu);

/* Makes the device's context current on this thread. False, with the message set, if the device is lost. */
bool sfu__gpu_enter(sfu__gpu *gpu);

/* Restores the context of this thread and turns the result of a driver call into a status: what failed ("copying to the
 * device") becomes part of the message. */
sfu_status sfu__gpu_leave(sfu__gpu *gpu, sfu__cu_result result, const char *what);

/* One call of the driver: SFU__GPU_CALL(gpu, "creating a stream", sfu__cuda.stream_create(...)). */
#define SFU__GPU_CALL(gpu, what, call) (sfu__gpu_enter(gpu) ? sfu__gpu_leave((gpu), (call), (what)) : SFU_ERR_DEVICE)

/* The same for functions that release something: nothing is done on a lost device, whose context releases all, and the
 * thread's message stays as it is, because the caller may be cleaning up after another failure. */
#define SFU__GPU_RELEASE(gpu, what, call)                                                                              \
    do {                                                                                                               \
        if (sfu__gpu_enter_quietly(gpu)) {                                                                             \
            sfu__gpu_leave_quietly((gpu), (call), (what));                                                             \
        }                                                                                                              \
    } while (0)
bool sfu__gpu_enter_quietly(sfu__gpu *gpu);
void sfu__gpu_leave_quietly(sfu__gpu *gpu, sfu__cu_result result, const char *what);

/* The status of a failed call, without leaving; result is not SFU__CU_SUCCESS. Marks the device as lost if it is. */
sfu_status sfu__gpu_failed(sfu__gpu *gpu, sfu__cu_result result, const char *what);

#endif
