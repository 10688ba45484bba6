/* store_case.h - a small study for the tests of stores: a space with two networks, and trials whose values and outcomes
 * are functions of their number. */
#ifndef SFU_TEST_STORE_CASE_H
#define SFU_TEST_STORE_CASE_H

#include "store.h"

enum { CASE_PARAMETERS = 5 };

const sfu__space *case_space(void);

/* Options of a study "s" with three fingerprint items; `location` NULL is memory. */
sfu__store_options case_options(const char *location);

/* Trial `number` as asked, with its values in values[CASE_PARAMETERS]; and its outcome: every tenth fails. */
sfu__trial case_trial(int32_t number, double *values);
sfu__outcome case_outcome(int32_t number);

/* Asks `count` trials from `first` on; claims up to `want` (into claimed, the count returned); finishes one. */
sfu_status case_ask(sfu__store *store, int32_t first, int count, bool *before);
sfu_status case_claim(sfu__store *store, int want, int32_t *claimed, int *count);
sfu_status case_finish(sfu__store *store, int32_t number, bool *refused);

/* Whether two trials are bitwise equal. */
bool case_same(const sfu__trial *one, const sfu__trial *other);

#endif
