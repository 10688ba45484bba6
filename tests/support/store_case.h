/* store_case.h - a small study that the tests of stores share: a space with two networks, and trials whose values and
 * outcomes are functions of their number. */
#ifndef SFU_TEST_STORE_CASE_H
#define SFU_TEST_STORE_CASE_H

#include "store.h"

enum { CASE_PARAMETERS = 5 };

const sfu__space *case_space(void);

/* A study "s" with three facts; `location` NULL is memory. */
sfu__store_options case_options(const char *location);

/* Trial `number` as it is asked, its values put into values[CASE_PARAMETERS]; and what it comes to: every tenth fails.
 */
sfu__trial case_trial(int32_t number, double *values);
sfu__outcome case_outcome(int32_t number);

/* Asks `count` trials from `first` on; claims up to `want` (into claimed, the count returned); finishes one. */
sfu_status case_ask(sfu__store *store, int32_t first, int count, bool *before);
sfu_status case_claim(sfu__store *store, int want, int32_t *claimed, int *count);
sfu_status case_finish(sfu__store *store, int32_t number, bool *refused);

/* Whether two trials are the same, to the bit. */
bool case_same(const sfu__trial *one, const sfu__trial *other);

#endif
