/* lpnn_terms.h - the weights of LPNN's objective. */
#ifndef SFU_LPNN_TERMS_H
#define SFU_LPNN_TERMS_H

typedef struct sfu__lpnn_terms {
    float mu_graph, mu_labelled, mu_unlabelled, lambda_labelled, lambda_unlabelled;
} sfu__lpnn_terms;

#endif
