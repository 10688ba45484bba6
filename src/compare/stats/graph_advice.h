/* graph_advice.h - whether the graph helps on a dataset and label-set size, in one sentence. */
#ifndef SFU_GRAPH_ADVICE_H
#define SFU_GRAPH_ADVICE_H

#include "contrast.h"

/* Adds "the graph does not help: the best network with it is ..." to the text; nothing without networks of both kinds.
 * contrasts[count]: from sfu__contrasts_make. */
SFU_CHECKED sfu_status sfu__graph_advice(sfu__text *text, const sfu_results *results, const sfu__contrast *contrasts,
                                         int count);

#endif
