/* digest.c - SHA-256 through libcrypto. */
#include "digest.h"
#include "progress.h"
#include "file.h"

/* Uses the SHA-256 functions although OpenSSL 3 recommends EVP: EVP links every algorithm, 3.5 MB in a static program,
 * and takes a millisecond of setup for the first digest. */
#define OPENSSL_API_COMPAT 10101
#include <assert.h>
#include <openssl/sha.h>

struct sfu__digest {
    SHA256_CTX context;
};

static sfu_status fail_digest(void) { return sfu__fail(SFU_ERR_MEMORY, "libcrypto could not compute a SHA-256"); }

sfu_status sfu__digest_new(sfu__digest **digest) {
    *digest = NULL;
    sfu__digest *self = sfu__alloc(1, sizeof *self);
    if (self == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (SHA256_Init(&self->context) != 1) {
        sfu__digest_free(self);
        return fail_digest();
    }
    *digest = self;
    return SFU_OK;
}

sfu_status sfu__digest_add(sfu__digest *digest, const void *bytes, size_t size) {
    enum { CHUNK = 1 << 20 };
    sfu_status status = SFU_OK;
    for (size_t done = 0; done < size; done += CHUNK) {
        SFU_TRY(sfu__poll());
        if (SHA256_Update(&digest->context, (const char *)bytes + done, size - done < CHUNK ? size - done : CHUNK) !=
            1) {
            return fail_digest();
        }
    }
done:
    return status;
}

sfu_status sfu__digest_end(sfu__digest *digest, char text[SFU__DIGEST_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char raw[SFU__DIGEST_BYTES];
    static_assert(sizeof raw == SHA256_DIGEST_LENGTH, "the length of a SHA-256");
    if (SHA256_Final(raw, &digest->context) != 1) {
        return fail_digest();
    }
    for (size_t i = 0; i < SFU__DIGEST_BYTES; i++) {
        text[2 * i] = digits[raw[i] >> 4];
        text[2 * i + 1] = digits[raw[i] & 15];
    }
    text[SFU__DIGEST_TEXT - 1] = '\0';
    return SFU_OK;
}

void sfu__digest_free(sfu__digest *digest) { sfu__free(digest); }

sfu_status sfu__digest_of(char text[SFU__DIGEST_TEXT], const void *bytes, size_t size) {
    sfu__digest *digest = NULL;
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__digest_new(&digest));
    SFU_TRY(sfu__digest_add(digest, bytes, size));
    SFU_TRY(sfu__digest_end(digest, text));
done:
    sfu__digest_free(digest);
    return status;
}

sfu_status sfu__digest_of_file(char text[SFU__DIGEST_TEXT], const char *path) {
    sfu__bytes bytes;
    sfu_status status = sfu__bytes_open(&bytes, path);
    if (status == SFU_OK) {
        status = sfu__digest_of(text, bytes.data, bytes.size);
        sfu__bytes_close(&bytes);
    }
    return status;
}
