/* gpu_memory.c - memory of a device, page-locked host memory, copies and fills. */
#include "format_number.h"
#include "gpu_int.h"

#include <stdio.h>

/* ---- allocation -------------------------------------------------------------------------------------------------- */

enum { BYTES_MAX = SFU__FIXED_MAX + 4 };

/* "12.3 GB", or MB below one GB. */
static const char *bytes_text(char text[BYTES_MAX], size_t bytes) {
    char number[SFU__FIXED_MAX];
    const bool large = bytes >= 1000000000;
    snprintf(text, BYTES_MAX, "%s %s", sfu__fixed(number, (double)bytes / (large ? 1e9 : 1e6), 1), large ? "GB" : "MB");
    return text;
}

/* The context is current, and the memory that is free now was not enough. */
static sfu_status fail_memory(const sfu__gpu *gpu, size_t bytes) {
    char needed[BYTES_MAX], available[BYTES_MAX];
    size_t free_bytes = 0, total = 0;
    sfu__cuda.memory_info(&free_bytes, &total);
    return sfu__fail(SFU_ERR_MEMORY,
                     "needs %s of device memory, %s has %s free; end other programs on the device, train less at once, "
                     "or use --device cpu",
                     bytes_text(needed, bytes), gpu->label, bytes_text(available, free_bytes));
}

static sfu_status allocate(sfu__gpu *gpu, uint64_t *address, int64_t bytes) {
    const size_t size = bytes > 0 ? (size_t)bytes : 1;
    sfu__cu_address allocated = 0;
    *address = 0;
    if (!sfu__gpu_enter(gpu)) {
        return SFU_ERR_DEVICE;
    }
    const sfu__cu_result result = sfu__cuda.memory_alloc(&allocated, size);
    if (result == SFU__CU_OUT_OF_MEMORY) {
        const sfu_status status = fail_memory(gpu, size);
        sfu__gpu_leave_quietly(gpu, SFU__CU_SUCCESS, "");
        return status;
    }
    *address = allocated;
    return sfu__gpu_leave(gpu, result, "allocating memory");
}

sfu_status sfu__gpu_alloc(sfu__gpu *gpu, uint64_t *address, int64_t bytes) {
    const sfu_status status = allocate(gpu, address, bytes);
    return status == SFU_ERR_MEMORY && sfu__gpu_release_reserve(gpu) ? allocate(gpu, address, bytes) : status;
}

void sfu__gpu_free(sfu__gpu *gpu, uint64_t address) {
    if (address != 0) {
        SFU__GPU_RELEASE(gpu, "freeing memory", sfu__cuda.memory_free(address));
    }
}

sfu_status sfu__gpu_free_bytes(sfu__gpu *gpu, int64_t *bytes) {
    size_t free_bytes = 0, total = 0;
    const sfu_status status =
        SFU__GPU_CALL(gpu, "asking for the free memory", sfu__cuda.memory_info(&free_bytes, &total));
    *bytes = (int64_t)free_bytes + sfu__gpu_reserved(gpu);
    return status;
}

sfu_status sfu__gpu_alloc_host(sfu__gpu *gpu, void **pointer, int64_t bytes) {
    *pointer = NULL;
    return SFU__GPU_CALL(gpu, "allocating page-locked memory",
                         sfu__cuda.host_alloc(pointer, bytes > 0 ? (size_t)bytes : 1));
}

void sfu__gpu_free_host(sfu__gpu *gpu, void *pointer) {
    if (pointer != NULL) {
        SFU__GPU_RELEASE(gpu, "freeing page-locked memory", sfu__cuda.host_free(pointer));
    }
}

/* ---- copies and fills -------------------------------------------------------------------------------------------- */

sfu_status sfu__gpu_upload(sfu__gpu *gpu, uint64_t to, const void *from, int64_t bytes, sfu__gpu_stream *stream) {
    if (bytes == 0) {
        return SFU_OK;
    }
    sfu_status status = SFU__GPU_CALL(gpu, "copying to the device",
                                      stream == NULL ? sfu__cuda.upload(to, from, (size_t)bytes)
                                                     : sfu__cuda.upload_async(to, from, (size_t)bytes, stream));
    if (status == SFU_OK && stream == NULL) { /* the driver returns when it has read the memory of the host */
        status = sfu__gpu_stream_wait(gpu, NULL);
    }
    return status;
}

sfu_status sfu__gpu_download(sfu__gpu *gpu, void *to, uint64_t from, int64_t bytes, sfu__gpu_stream *stream) {
    if (bytes == 0) {
        return SFU_OK;
    }
    return SFU__GPU_CALL(gpu, "copying from the device",
                         stream == NULL ? sfu__cuda.download(to, from, (size_t)bytes)
                                        : sfu__cuda.download_async(to, from, (size_t)bytes, stream));
}

sfu_status sfu__gpu_clear(sfu__gpu *gpu, uint64_t address, int64_t bytes, sfu__gpu_stream *stream) {
    return bytes == 0 ? SFU_OK
                      : SFU__GPU_CALL(gpu, "clearing memory", sfu__cuda.fill8_async(address, 0, (size_t)bytes, stream));
}

sfu_status sfu__gpu_fill(sfu__gpu *gpu, uint64_t address, uint32_t value, int64_t count, sfu__gpu_stream *stream) {
    return count == 0
               ? SFU_OK
               : SFU__GPU_CALL(gpu, "filling memory", sfu__cuda.fill32_async(address, value, (size_t)count, stream));
}
