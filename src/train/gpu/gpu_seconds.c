/* gpu_seconds.c - predicted times of one training or prediction, on the threads of the CPU and on a whole GPU. */
#include "gpu_executor.h"

#include "lpnn_int.h"

static const double launch_seconds = 5e-6, memory_bytes_per_s = 2e12, flops_per_s = 3e12;

/* Constant matrices are laid out for a GPU by one thread and copied to it. */
static const double translated_bytes_per_s = 4e8;

double sfu__gpu_step_seconds(const sfu__work *work) {
    return launch_seconds + sfu__work_bytes(work) / memory_bytes_per_s + sfu__work_flops(work) / flops_per_s;
}

static sfu__device_seconds pass_seconds(const sfu__pass *pass, int threads) {
    sfu__device_seconds sum = {0};
    for (size_t i = 0; pass->exists && i < pass->step_count; i++) {
        const sfu__work *work = &pass->steps[i].work;
        sum.cpu += sfu__work_seconds(work, &sfu__nominal_rates) / threads;
        sum.gpu += sfu__gpu_step_seconds(work);
    }
    return sum;
}

/* Threads and epochs that count: memory-bound steps gain little from more, and early stopping ends most trainings. */
enum { THREADS = 16, EPOCHS = 200 };
static int between(int64_t value, int most) { return value < 1 ? 1 : value > most ? most : (int)value; }

sfu__device_seconds sfu__gpu_predicted_seconds(const sfu__plan *plan, int32_t epochs, int threads) {
    const int by = between(threads, THREADS), runs = between(epochs, EPOCHS);
    sfu__device_seconds sum = pass_seconds(&plan->passes[SFU_PASS_PREDICT], by);
    for (int kind = 0; kind < SFU_PASSES; kind++) {
        sum.gpu += (double)plan->passes[kind].fixed_bytes / translated_bytes_per_s;
    }
    for (int kind = SFU_PASS_TRAIN; kind <= SFU_PASS_EVALUATE; kind++) {
        const sfu__device_seconds one = pass_seconds(&plan->passes[kind], by);
        sum.cpu += runs * one.cpu;
        sum.gpu += runs * one.gpu;
    }
    return sum;
}

/* LPNN has no list of costs. An epoch multiplies each layer three times, forward and backward, and the sparse features
 * twice; a core of a Xeon takes 1e-10 s per multiplication and addition on Cora and Pubmed. */
sfu__device_seconds sfu__gpu_predicted_lpnn(const sfu__lpnn_executor *lpnn, int32_t epochs, int threads) {
    static const double product_seconds = 1e-10, launches = 70.0, passes_over_rows = 8.0, adam_bytes = 28.0;
    const double nodes = lpnn->nodes, nonzeros = (double)lpnn->features_csr.indptr[lpnn->nodes];
    const bool trains = lpnn->step.count > 0;
    double products = 2.0 * nonzeros * lpnn->weight[0]->cols, floats = 0.0;
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        products += i > 0 ? 3.0 * nodes * lpnn->weight[i]->rows * lpnn->weight[i]->cols : 0.0;
        floats += nodes * lpnn->weight[i]->ld;
    }
    const double runs = trains ? between(epochs, EPOCHS) : 0.4;
    const double bytes = passes_over_rows * (double)sizeof(float) * floats + adam_bytes * (double)lpnn->parameters.size;
    return (sfu__device_seconds){
        .cpu = runs * product_seconds * products / between(threads, THREADS),
        .gpu = runs * (launches * launch_seconds + 2.0 * products / flops_per_s + bytes / memory_bytes_per_s)};
}
