/* noise_means.h - the table "noise": accuracies over all datasets at several levels of noise.
 *
 * A quantity is a sum of terms, each a factor times the mean over the datasets of the test accuracy of one network at
 * one level. It is computed split by split, so that the differences in it are paired.
 */
#ifndef SFU_NOISE_MEANS_H
#define SFU_NOISE_MEANS_H

#include "beyond.h"
#include "results_int.h"
#include "stats.h"

typedef struct sfu__noise_term {
    const char *net;
    sfu__noise_level level;
    double factor;
} sfu__noise_term;

/* The mean over the splits, and its 95 % confidence interval; NaN where there is none. */
typedef struct sfu__noise_mean {
    double mean;
    sfu__interval interval;
    int splits;
} sfu__noise_mean;

/* The datasets without noise, and the networks, in the order of the results. False: these are not results of "noise".
 */
SFU_CHECKED sfu_status sfu__noise_axes(sfu__string_list *datasets, sfu__string_list *nets, const sfu_results *results);
bool sfu__has_noise(const sfu_results *results);

/* The row group of a network on a dataset at a level; -1: none. */
int sfu__noise_group(const sfu_results *results, const char *dataset, const char *net, sfu__noise_level level);

/* A quantity over the splits for which every dataset has every term. */
SFU_CHECKED sfu_status sfu__noise_mean_of(sfu__noise_mean *found, const sfu_results *results,
                                          const sfu__string_list *datasets, const sfu__noise_term *terms, int count);

#endif
