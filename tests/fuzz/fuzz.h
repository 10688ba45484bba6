/* fuzz.h - a fuzz target passes bytes to a reader, which must return for any input, leak nothing and read only its own
 * memory. */
#ifndef SFU_FUZZ_H
#define SFU_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The bytes as a file with this extension, for readers that take a path: the same file every time, removed when the
 * program ends. Up to 8 extensions. */
const char *fuzz_file(const char *ending, const uint8_t *bytes, size_t size);

/* Readers of several files: the input is split at bytes 0x1e, and section i becomes the file with extension i. A path
 * is NULL if its section is missing. */
void fuzz_files(const char **paths, const char *const *endings, int count, const uint8_t *bytes, size_t size);

/* Readers of a folder: section i becomes the file FOLDER/names[i], which is missing if its section is. Returns the
 * folder. */
const char *fuzz_folder(const char *const *names, int count, const uint8_t *bytes, size_t size);

#endif
