/* reference_lpnn.c - LPNN's objective and its gradient, row by row, and normalisation of rows to sum 1; lpnn_rows.h has
 * the equations. There are no vectorized versions: this takes a twentieth of an epoch. */
#include "kernels.h"
#include "scalar.h"
#include "lpnn_rows.h"

void sfu__lpnn_plain(double *losses, const sfu__dense *D, const sfu__dense *dZ, const sfu__dense *F,
                     const sfu__dense *G, const sfu__target *target, const sfu__lpnn_terms *terms, sfu__range blocks) {
    for (int64_t block = blocks.begin; block < blocks.end; block++) {
        const sfu__range rows = sfu__rows_of_block(F->rows, block);
        double loss = 0.0;
        for (int64_t i = rows.begin; i < rows.end; i++) {
            float *d = D->data + i * D->ld, *dz = dZ->data + i * dZ->ld;
            const float *f = F->data + i * F->ld, *g = G->data + i * G->ld;
            const int32_t label = target->labels[i];
            const float weight = target->weights != NULL ? target->weights[i] : 1.0F;
            loss += label != SFU_NO_LABEL ? lpnn_labelled_row(d, dz, f, g, F->cols, label, weight, terms)
                                          : lpnn_other_row(d, dz, f, g, F->cols, terms);
        }
        losses[block] = loss;
    }
}

void sfu__normalise_plain(const sfu__dense *P, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        normalise_row(P->data + i * P->ld, P->cols);
    }
}
