/* fuzz.h - a fuzz target hands bytes to a reader, and whatever they are the reader returns, leaks nothing and reads
 * nothing that is not its own. */
#ifndef SFU_FUZZ_H
#define SFU_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The bytes as a file, for readers that take a path: the same file again and again, with this ending, gone when the
 * program ends. Up to 8 endings. */
const char *fuzz_file(const char *ending, const uint8_t *bytes, size_t size);

/* Readers that take several files: the input is cut at bytes 0x1e, and section i becomes the file of ending i. A path
 * is NULL where the section is not there. */
void fuzz_files(const char **paths, const char *const *endings, int count, const uint8_t *bytes, size_t size);

#endif
