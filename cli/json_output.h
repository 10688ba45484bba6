/* json_output.h - the one JSON object of --json. */
#ifndef SFU_JSON_OUTPUT_H
#define SFU_JSON_OUTPUT_H

#include <stdbool.h>

#include <jansson.h>

/* Prints the object on stdout and releases it. NULL is one for which there was no memory. Returns the exit status. */
int put_json(json_t *object);

/* A string of any bytes: what is not UTF-8 becomes U+FFFD. NULL is null. */
json_t *json_bytes(const char *text);

/* A number; null where it is none. */
json_t *json_number_or_null(double number);

/* Sets a key, taking over the value. False where there was no memory. */
bool json_put(json_t *object, const char *key, json_t *value);

#endif
