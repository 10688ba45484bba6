/* json_output.h - the JSON object that --json prints. */
#ifndef SFU_JSON_OUTPUT_H
#define SFU_JSON_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Call at program start: exits with an error when jansson runs out of memory. jansson alone would silently drop a
 * character while parsing. */
void json_guard(void);

/* Prints the object on stdout and releases it. NULL means out of memory. Returns the exit status. */
int put_json(json_t *object);

/* The same with shortest round-trip numbers: 0.1 stays 0.1, and 1/3 has 16 digits. */
int put_json_exact(json_t *object);

/* A string from arbitrary bytes: invalid UTF-8 becomes U+FFFD. NULL becomes null. */
json_t *json_bytes(const char *text);

/* A number; null if it is not finite. */
json_t *json_number_or_null(double number);

/* JSON integers end at 2^63: a larger seed becomes a string. */
json_t *json_seed(uint64_t seed);

/* Appends to an array or sets a key; takes ownership of the value. If memory runs out, the container is released and
 * set to NULL, which the enclosing object and put_json report. */
void json_append(json_t **array, json_t *value);
void json_set(json_t **object, const char *key, json_t *value);

/* Sets a key; takes ownership of the value. False: out of memory. */
bool json_put(json_t *object, const char *key, json_t *value);

#endif
