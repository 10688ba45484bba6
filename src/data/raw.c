#include "raw.h"

void sfu__raw_clear(sfu__raw *raw) {
    sfu__pairs_clear(&raw->pairs);
    sfu__free(raw->dense);
    sfu__matrix_clear(&raw->sparse);
    sfu__free(raw->labels);
    sfu__strings_clear(&raw->class_names);
    sfu__strings_clear(&raw->node_names);
    sfu__strings_clear(&raw->feature_names);
    for (size_t i = 0; i < raw->column_count; i++) {
        sfu__free(raw->columns[i].name);
        sfu__free(raw->columns[i].values);
    }
    sfu__free(raw->columns);
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(raw->standard[part]);
    }
    sfu__strings_clear(&raw->files);
    *raw = (sfu__raw){0};
}
