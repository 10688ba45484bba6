/* sized_struct.h - structs of the public interface that a caller allocates, and whose size is the caller's: it may have
 * been compiled with an older or a newer header. Such a struct begins with `size_t size`.
 */
#ifndef SFU_SIZED_STRUCT_H
#define SFU_SIZED_STRUCT_H

#include "status.h"

/* Fills a caller's struct of `size` bytes with defaults: what the caller does not have is left out, what this library
 * does not have is zero. Sets its size. */
void sfu__sized_init(void *to, size_t size, const void *defaults, size_t defaults_size);

/* Copies a caller's struct over `full`, which has the defaults: fields that the caller does not have keep them. NULL
 * leaves all of them. Fails where `given` was not initialised, or has an option set that this library does not know. */
SFU_CHECKED sfu_status sfu__sized_read(void *full, size_t full_size, const void *given, const char *type);

/* SFU_TRY(SFU__READ_OPTIONS(&full, given, sfu_train_options)): the caller's options in full. */
#define SFU__READ_OPTIONS(full, given, type) (type##_init(full), sfu__sized_read((full), sizeof(type), (given), #type))

#endif
