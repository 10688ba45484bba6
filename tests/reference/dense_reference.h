/* dense_reference.h - networks computed the slow and obvious way: dense matrices, double, one operation after another.
 *
 * Beside every number stands a first-order bound on what rounding to float may have done to it, in units of 2^-24: an
 * operation adds the sizes of its terms and passes on what its operands bring. It holds for any order of the products
 * up to a small factor, so that a comparison may be tight without knowing how the other side computed.
 */
#ifndef SFU_TEST_DENSE_REFERENCE_H
#define SFU_TEST_DENSE_REFERENCE_H

#include "backend.h"
#include "dataset.h"
#include "net.h"

typedef struct dense_settings {
    bool training; /* dropout masks are drawn */
    uint64_t seed;
    uint32_t epoch;
    double dropout;       /* the rate of the run */
    bool features_sparse; /* the mask of the features is indexed by the non-zeros of a row, else by columns */
} dense_settings;

/* Values [rows][cols] and, of the same shape, the error of each in units of 2^-24. */
typedef struct dense_matrix {
    int rows, cols;
    double *value, *error;
} dense_matrix;

typedef struct dense_reference dense_reference;

/* All arguments must outlive it; the dataset has at most DENSE_MOST nodes. */
dense_reference *dense_reference_new(const sfu_net *net, const sfu_dataset *dataset, const sfu__parameters *parameters);
void dense_reference_free(dense_reference *self);

/* The class probabilities of every node; theta has the layout of the parameters. Valid until the next call. */
dense_matrix dense_forward(dense_reference *self, const double *theta, const dense_settings *settings);

/* The output of a layer in the last forward pass, for every node. */
dense_matrix dense_after(const dense_reference *self, int layer);

/* Distance of the last forward pass from a discontinuity of a derivative: the smallest |z| / error of the inputs of a
 * relu or leaky_relu; INFINITY if there was none. Below a few units a float may be on the other side. */
double dense_nearest_kink(const dense_reference *self);

/* The largest error of the inputs of an activation or the softmax in the last forward pass, in units of 2^-24. If
 * it is not small, first-order bounds are unreliable. INFINITY if rounding decides whether a probability is flushed
 * to zero. */
double dense_roughest(const dense_reference *self);

typedef struct dense_score {
    double loss, error;
    int64_t correct_least, correct_most; /* they differ if two probabilities are too close to distinguish */
} dense_score;

/* The loss of the rows `nodes`, after a forward pass. */
dense_score dense_loss(const dense_reference *self, const int32_t *nodes, int32_t count, const sfu__target *target);

/* The gradient of that loss in the layout of theta, zeros in the padding; gradient and error have parameters->size. */
void dense_backward(dense_reference *self, double *gradient, double *error, const int32_t *nodes, int32_t count,
                    const sfu__target *target);

/* One step of Adam as in backend.h, with decay and clamping per parameter. */
void dense_adam(double *theta, double *m, double *v, const double *gradient, const sfu__parameters *parameters,
                double lr, double decay, uint32_t epoch);

#endif
