/* random_networks.h - small random datasets and compositions, and parameters for them. */
#ifndef SFU_TEST_RANDOM_NETWORKS_H
#define SFU_TEST_RANDOM_NETWORKS_H

#include "dataset.h"
#include "net.h"
#include "random.h"

/* 1 to 12 nodes, some without edges, labels or features; directed or not, weighted or not, self-loops dropped or kept;
 * features dense or sparse; two node columns, "trust" and "care", with zeros in them. */
sfu_dataset *random_dataset(sfu__random *random);

/* A composition that is valid for the dataset. Returns `text`. */
enum { COMPOSITION_MAX = 2048 };
const char *random_composition(char text[COMPOSITION_MAX], sfu__random *random, const sfu_dataset *dataset);

/* Values that may occur in training, each a float; zeros in the padding. `inside`: learned smoothing parameters stay
 * away from the ends of their ranges, where S may be discontinuous. */
void random_parameters(double *theta, sfu__random *random, const sfu__parameters *parameters, bool inside);

/* Distinct nodes, ascending, into nodes[most]; at least one. Returns their number. */
int32_t random_nodes(int32_t *nodes, sfu__random *random, int32_t most);

#endif
