/* safetensors.h - the safetensors file format of datasets and models: header length, JSON header, tensor data.
 *
 *   u64 little-endian   size of the header
 *   JSON                {"__metadata__": {"key": "text", ...},
 *                        "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}
 *   bytes               the tensors, little-endian, row after row
 *
 * Reading trusts nothing: before anything is copied, every extent is checked against the file and the shape, and the
 * tensors must be contiguous, without overlaps and gaps, as the format requires. In our own files the data starts at a
 * multiple of 64 bytes and the widest types come first, so that every tensor is aligned; in other files a tensor that
 * is not aligned for its type is copied.
 */
#ifndef SFU_SAFETENSORS_H
#define SFU_SAFETENSORS_H

#include "file.h"

typedef enum sfu__dtype { SFU__F32, SFU__I32, SFU__I64, SFU__U8, SFU__OTHER } sfu__dtype;

enum { SFU__TENSOR_DIMS = 4 };

typedef struct sfu__tensor {
    const char *name;
    sfu__dtype dtype;
    int dims;
    int64_t shape[SFU__TENSOR_DIMS];
    int64_t count; /* product of the shape */
    const void *data;
} sfu__tensor;

typedef struct sfu__safetensors sfu__safetensors;

SFU_CHECKED sfu_status sfu__safetensors_open(sfu__safetensors **file, const char *path);
SFU_CHECKED sfu_status sfu__safetensors_map(sfu__safetensors **file, const char *path); /* without a copy in memory */
/* The same from bytes in memory, which must outlive it; `path` is used in messages. */
SFU_CHECKED sfu_status sfu__safetensors_view(sfu__safetensors **file, const void *bytes, size_t size, const char *path);
void sfu__safetensors_free(sfu__safetensors *file);

/* The bytes of the file. */
const sfu__bytes *sfu__safetensors_bytes(const sfu__safetensors *file);

/* NULL if there is none. */
const sfu__tensor *sfu__safetensors_find(const sfu__safetensors *file, const char *name);
const char *sfu__safetensors_metadata(const sfu__safetensors *file, const char *key);

/* The i-th tensor in byte order of the names; NULL after the last. */
const sfu__tensor *sfu__safetensors_get(const sfu__safetensors *file, int64_t i);

/* Writes tensors (in the given order: widest types first keeps them aligned) and metadata (pairs of key and text,
 * terminated by NULL) atomically. */
SFU_CHECKED sfu_status sfu__safetensors_write(const char *path, const sfu__tensor *tensors, int64_t count,
                                              const char *const *metadata);

/* SHA-256 over the tensors in name order: for each its name, type and shape, and the SHA-256 of its bytes in pieces of
 * 4 MiB. docs/reference/container.md specifies it. */
SFU_CHECKED sfu_status sfu__tensors_digest(char text[65], const sfu__tensor *tensors, int64_t count);

#endif
