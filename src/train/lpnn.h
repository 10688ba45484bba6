/* lpnn.h - LPNN, the baseline: f, one class distribution per node, and g, an MLP on the features, are fitted to each
 * other.
 *
 *     J(f, W) = mu_g Tr(f^T (I - S) f) + mu_l sum_labelled |f_i - y_i|^2 + mu_u sum_others |f_i|^2
 *             + lambda_l sum_labelled KL(y_i || g_i) + lambda_u sum_others KL(f_i || g_i)
 *
 * docs/reference/lpnn.md has the equations and the interpretations of the paper. An LPNN executor has the interface of
 * a plan's executor (plan.h): it owns theta and Adam's moments, runs an epoch and provides probabilities, so both share
 * one training loop and one stopping rule. Everything that can fail or allocate happens in sfu__lpnn_new.
 *
 * The parameters are those of sfu__parameters_make: the weights and biases of g, and "f", one row per node: free logits
 * (f=softmax) or f itself (f=clamp). With input=fx the first `classes` rows of g's first weights multiply f, the others
 * x.
 */
#ifndef SFU_LPNN_H
#define SFU_LPNN_H

#include "plan.h"

typedef struct sfu__lpnn_executor sfu__lpnn_executor;

/* The nodes of each pass as in a plan's request: SFU_PASS_TRAIN has the labelled nodes (the objective covers all others
 * too), SFU_PASS_EVALUATE the validation nodes, SFU_PASS_PREDICT any. A pass with a count of 0 is omitted; without a
 * training pass no memory for training is allocated. `rewrites` is ignored. With ranks all of them make the same calls.
 * The dataset and the team (NULL: the calling thread) must outlive the executor. */
SFU_CHECKED sfu_status sfu__lpnn_new(sfu__lpnn_executor **executor, const sfu_dataset *dataset, const sfu_net *net,
                                     const sfu__plan_request *request, const sfu__backend *backend, sfu__team *team);
void sfu__lpnn_free(sfu__lpnn_executor *executor);
int64_t sfu__lpnn_bytes(const sfu__lpnn_executor *executor); /* as sfu__executor_bytes */

const sfu__parameters *sfu__lpnn_parameters(const sfu__lpnn_executor *executor);
float *sfu__lpnn_theta(sfu__lpnn_executor *executor);
float *sfu__lpnn_m(sfu__lpnn_executor *executor);
float *sfu__lpnn_v(sfu__lpnn_executor *executor);

/* The weights of the objective of a network. */
sfu__lpnn_terms sfu__lpnn_terms_of(const sfu_net *net);

/* Initializes an array laid out as theta: g's weights from the seed; f at the labels of the training nodes (labels[i]
 * is the class of the i-th), uniform elsewhere. */
void sfu__lpnn_start(float *theta, const sfu__lpnn_executor *executor, const int32_t *labels, uint64_t seed);

/* One parallel region, as sfu__executor_epoch. target->labels are the classes of the training nodes in their order; its
 * weights (NULL: 1) multiply both labelled terms of a node. The loss of the training score is J of the parameters
 * before the step (without weight decay) and its `correct` is 0; the validation score is that of the output after the
 * step. */
void sfu__lpnn_epoch(sfu__lpnn_executor *executor, const sfu__epoch *epoch, sfu__score *training,
                     sfu__score *validation);

/* The gradient of J of the last epoch, laid out as theta. */
const float *sfu__lpnn_gradient(const sfu__lpnn_executor *executor);

sfu__rank_traffic sfu__lpnn_traffic(const sfu__lpnn_executor *executor); /* as sfu__executor_traffic */

/* Computes the probabilities of the rows of a pass with the current parameters, and g's last hidden layer from the same
 * forward pass (only where the pass runs g: always for SFU_PASS_PREDICT). */
void sfu__lpnn_forward(sfu__lpnn_executor *executor, sfu_pass pass);
sfu__dense sfu__lpnn_output(const sfu__lpnn_executor *executor, sfu_pass pass);
sfu__dense sfu__lpnn_embedding(const sfu__lpnn_executor *executor, sfu_pass pass);

#endif
