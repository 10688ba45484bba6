/* digest.h - SHA-256, from libcrypto. */
#ifndef SFU_DIGEST_H
#define SFU_DIGEST_H

#include "status.h"

enum { SFU__DIGEST_BYTES = 32, SFU__DIGEST_TEXT = 65 };

/* Incremental hashing. */
typedef struct sfu__digest sfu__digest;
SFU_CHECKED sfu_status sfu__digest_new(sfu__digest **digest);
SFU_CHECKED sfu_status sfu__digest_add(sfu__digest *digest, const void *bytes, size_t size);
SFU_CHECKED sfu_status sfu__digest_end(sfu__digest *digest, char text[SFU__DIGEST_TEXT]);
void sfu__digest_free(sfu__digest *digest);

/* The digest of bytes in memory, and of a file. */
SFU_CHECKED sfu_status sfu__digest_of(char text[SFU__DIGEST_TEXT], const void *bytes, size_t size);
SFU_CHECKED sfu_status sfu__digest_of_file(char text[SFU__DIGEST_TEXT], const char *path);

#endif
