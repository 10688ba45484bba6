/* hand_made_results.h - results of every kind that a report shows, without any training: eight networks, five datasets,
 * five sizes of the label set and the standard split, and the paper's sweeps. */
#ifndef SFU_HAND_MADE_RESULTS_H
#define SFU_HAND_MADE_RESULTS_H

#include "results_int.h"

/* Free it; NULL: out of memory. With `hostile`, names of datasets and networks contain markup, quotes, control
 * characters and invalid UTF-8. */
sfu_results *hand_made_results(const char *folder, bool hostile);

#endif
