/* random_networks.h - small made-up datasets and compositions, and parameters for them. */
#ifndef SFU_TEST_RANDOM_NETWORKS_H
#define SFU_TEST_RANDOM_NETWORKS_H

#include "dataset.h"
#include "net.h"
#include "random.h"

/* 1 to 12 nodes, some without edges, labels or features; directed or not, weighted or not, self-loops dropped or kept;
 * features dense or sparse; two node columns, "trust" and "care", with zeros in them. */
sfu_dataset *random_dataset(sfu__random *random);

/* A composition that fits the dataset. Returns `text`. */
enum { COMPOSITION_MAX = 2048 };
const char *random_composition(char text[COMPOSITION_MAX], sfu__random *random, const sfu_dataset *dataset);

/* Values as a training may meet them, each a float; zeros in the padding. `inside`: what is learned of smoothing keeps
 * off the ends of its range, where S may jump. */
void random_parameters(double *theta, sfu__random *random, const sfu__parameters *parameters, bool inside);

/* Distinct nodes, ascending, into nodes[most]; at least one. Returns how many. */
int32_t random_nodes(int32_t *nodes, sfu__random *random, int32_t most);

#endif
