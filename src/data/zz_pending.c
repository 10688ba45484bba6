/* Parts that are on their way from other branches: weak, so that the real ones replace them. To be removed. */
#include "raw.h"
#define WEAK __attribute__((weak))
#define PENDING sfu__fail(SFU_ERR_UNSUPPORTED, "pending")
WEAK sfu_status sfu__read_planetoid(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__read_npz(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__read_scipy(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__read_mat(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__read_linqs(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__read_mtx(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__read_csv(sfu__raw *raw, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    return PENDING;
}
WEAK sfu_status sfu__knn(sfu__raw *raw, int k, const sfu_import_options *o) {
    (void)raw;
    (void)o;
    (void)k;
    return PENDING;
}
WEAK void sfu_make_options_init(sfu_make_options *o) { *o = (sfu_make_options){0}; }
WEAK sfu_status sfu_dataset_make(sfu_dataset **d, const sfu_make_options *o) {
    (void)o;
    *d = NULL;
    return PENDING;
}
