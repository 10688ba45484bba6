/* gpu_launch.c - kernels and their launches. */
#include "gpu_int.h"

#include <stdio.h>

enum { WHAT_MAX = 128 };

/* "launching sfu_probe" */
static const char *with_kernel(char what[WHAT_MAX], const char *verb, const char *kernel) {
    snprintf(what, WHAT_MAX, "%s %s", verb, kernel);
    return what;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* By default a block gets 48 KB of shared memory and a cluster 8 blocks; both are raised to what the device has. */
static sfu__cu_result raise_limits(const sfu__gpu *gpu, sfu__gpu_kernel *kernel) {
    int static_bytes = 0;
    sfu__cu_result result = sfu__cuda.function_get(&kernel->threads, SFU__CU_MAX_THREADS_PER_BLOCK, kernel->function);
    if (result == SFU__CU_SUCCESS) {
        result = sfu__cuda.function_get(&static_bytes, SFU__CU_SHARED_SIZE_BYTES, kernel->function);
    }
    kernel->shared_bytes = gpu->facts.shared_bytes - static_bytes;
    if (result == SFU__CU_SUCCESS) {
        result = sfu__cuda.function_set(kernel->function, SFU__CU_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel->shared_bytes);
    }
    if (result == SFU__CU_SUCCESS && gpu->facts.major >= 9) {
        result = sfu__cuda.function_set(kernel->function, SFU__CU_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
    return result;
}

sfu_status sfu__gpu_find_kernel(sfu__gpu *gpu, sfu__gpu_kernel *kernel, const char *name) {
    char what[WHAT_MAX];
    *kernel = (sfu__gpu_kernel){.name = name};
    if (!sfu__gpu_enter(gpu)) {
        return SFU_ERR_DEVICE;
    }
    sfu__cu_result result = sfu__cuda.module_function(&kernel->function, gpu->module, name);
    if (result == SFU__CU_SUCCESS) {
        result = raise_limits(gpu, kernel);
    }
    return sfu__gpu_leave(gpu, result, with_kernel(what, "preparing the kernel", name));
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

typedef struct launch_setup {
    sfu__cu_launch_config config; /* points to the attributes */
    sfu__cu_launch_attribute attributes[2];
} launch_setup;

static void set_up(launch_setup *setup, const sfu__gpu_shape *shape, sfu__gpu_stream *stream) {
    sfu__cu_launch_config *config = &setup->config;
    *setup = (launch_setup){{.grid_x = (unsigned)shape->blocks,
                             .grid_y = 1,
                             .grid_z = 1,
                             .block_x = (unsigned)shape->threads,
                             .block_y = 1,
                             .block_z = 1,
                             .shared_bytes = (unsigned)shape->shared_bytes,
                             .stream = stream},
                            {{0}}};
    config->attributes = setup->attributes;
    if (shape->cluster > 1) {
        sfu__cu_launch_attribute *cluster = &setup->attributes[config->attribute_count++];
        cluster->id = SFU__CU_LAUNCH_CLUSTER_DIMENSION;
        cluster->value.cluster.x = (unsigned)shape->cluster;
        cluster->value.cluster.y = 1;
        cluster->value.cluster.z = 1;
    }
    if (shape->cooperative) {
        sfu__cu_launch_attribute *cooperative = &setup->attributes[config->attribute_count++];
        cooperative->id = SFU__CU_LAUNCH_COOPERATIVE;
        cooperative->value.cooperative = 1;
    }
}

static sfu__cu_result count_blocks(const sfu__gpu *gpu, int *blocks, const sfu__gpu_kernel *kernel,
                                   const sfu__gpu_shape *shape) {
    sfu__gpu_shape one = *shape;
    launch_setup setup;
    sfu__cu_result result;
    if (shape->cluster > 1) {
        one.blocks = shape->cluster;
        set_up(&setup, &one, NULL);
        result = sfu__cuda.active_clusters(blocks, kernel->function, &setup.config);
        *blocks *= shape->cluster;
    } else {
        result = sfu__cuda.active_blocks(blocks, kernel->function, shape->threads, (size_t)shape->shared_bytes);
        *blocks *= gpu->facts.multiprocessors;
    }
    return result;
}

sfu_status sfu__gpu_blocks_at_once(sfu__gpu *gpu, int *blocks, const sfu__gpu_kernel *kernel,
                                   const sfu__gpu_shape *shape) {
    char what[WHAT_MAX];
    *blocks = 0;
    if (!sfu__gpu_enter(gpu)) {
        return SFU_ERR_DEVICE;
    }
    const sfu__cu_result result = count_blocks(gpu, blocks, kernel, shape);
    return sfu__gpu_leave(gpu, result, with_kernel(what, "asking for the occupancy of", kernel->name));
}

sfu_status sfu__gpu_launch(sfu__gpu *gpu, const sfu__gpu_kernel *kernel, const sfu__gpu_shape *shape,
                           sfu__gpu_stream *stream, void **params) {
    char what[WHAT_MAX];
    launch_setup setup;
    set_up(&setup, shape, stream);
    if (!sfu__gpu_enter(gpu)) {
        return SFU_ERR_DEVICE;
    }
    const sfu__cu_result result = sfu__cuda.launch(&setup.config, kernel->function, params, NULL);
    return sfu__gpu_leave(gpu, result, with_kernel(what, "launching", kernel->name));
}
