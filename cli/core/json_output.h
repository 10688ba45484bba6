/* json_output.h - the one JSON object of --json. */
#ifndef SFU_JSON_OUTPUT_H
#define SFU_JSON_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* At the start of the program: where jansson finds no memory the program ends, saying so. jansson would leave out a
 * character of a text that it reads, and go on. */
void json_guard(void);

/* Prints the object on stdout and releases it. NULL is one for which there was no memory. Returns the exit status. */
int put_json(json_t *object);

/* The same, with the fewest digits that are read back as the same number: 0.1 stays 0.1, and a third has 16 digits. */
int put_json_exact(json_t *object);

/* A string of any bytes: what is not UTF-8 becomes U+FFFD. NULL is null. */
json_t *json_bytes(const char *text);

/* A number; null where it is none. */
json_t *json_number_or_null(double number);

/* JSON readers have no whole numbers above 2^63: such a seed is a text. */
json_t *json_seed(uint64_t seed);

/* Adds to an array or sets a key, taking over the value. Without memory the container is released and becomes NULL,
 * which the object around it and put_json then tell. */
void json_append(json_t **array, json_t *value);
void json_set(json_t **object, const char *key, json_t *value);

/* Sets a key, taking over the value. False where there was no memory. */
bool json_put(json_t *object, const char *key, json_t *value);

#endif
