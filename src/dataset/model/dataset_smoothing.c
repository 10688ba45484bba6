/* dataset_smoothing.c - the smoothing matrix of a dataset's graph, computed by matrix/smoothing.c. */
#include "dataset.h"
#include "parallel.h"
#include "sized_struct.h"
#include "smoothing.h"

sfu_status sfu_smoothing_new(sfu_matrix **matrix, const sfu_dataset *dataset, const sfu_smoothing_options *given) {
    sfu_status status = SFU_OK;
    sfu_smoothing_options options;
    sfu_matrix *self = NULL;
    *matrix = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_smoothing_options));
    SFU_TRY(sfu_dataset_check(dataset));
    SFU_ALLOC_ZERO(self, 1);
    SFU_TRY(sfu__smoothing(self, &dataset->graph, !dataset->directed, &options, sfu__thread_count(options.threads)));
    *matrix = self;
    self = NULL;
done:
    sfu_matrix_free(self);
    return status;
}
