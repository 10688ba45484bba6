/* edge_words.h - column names that edge lists usually have: pairs such as from,to, and names of weights. */
#ifndef SFU_EDGE_WORDS_H
#define SFU_EDGE_WORDS_H

#include "text.h"

/* The i-th pair of columns of a header that name the ends of an edge, in the order of the list of pairs; false if there
 * are no more. *sure is false for names that may also be nodes, such as u,v and node1,node2. Case is ignored. */
bool sfu__edge_ends(const sfu__strings *header, int i, size_t *source, size_t *target, bool *sure);

/* Whether a name is that of a weight; whether it is that of a column that is none, such as the number of a row. */
bool sfu__is_weight_word(const char *name, size_t size);
bool sfu__is_row_number_word(const char *name, size_t size);

#endif
