/* pickle_arrays.c - converts the values of a pickle to arrays, sparse matrices and strings. */
#include "pickle.h"

#include <stdio.h>
#include <string.h>

static bool is_text(const sfu__object *value) {
    return value->kind == SFU__OBJECT_BYTES || value->kind == SFU__OBJECT_TEXT;
}

static bool text_is(const sfu__object *value, const char *text) {
    return is_text(value) && value->as.text.size == strlen(text) &&
           memcmp(value->as.text.bytes, text, value->as.text.size) == 0;
}

/* Item i of a tuple, or NULL. */
static const sfu__object *item(const sfu__pickle *pickle, const sfu__object *tuple, int i) {
    uint32_t cell = tuple->as.items.first;
    const sfu__object *found = NULL;
    for (int k = 0; k <= i && (k == 0 || found != NULL); k++) {
        found = sfu__pickle_next(pickle, &cell);
    }
    return found;
}

/* The state of an object, which must be a tuple of at least `count` items, or a dictionary. */
static sfu_status state_of(const sfu__object **state, const sfu__pickle *pickle, const sfu__object *object,
                           sfu__object_kind kind, uint32_t count) {
    *state = sfu__pickle_value(pickle, object->as.object.state);
    if (object->as.object.state == 0) {
        return sfu__pickle_fail(pickle, object, "an object that was never filled in");
    }
    const sfu_status status = sfu__pickle_need(pickle, *state, kind);
    return status == SFU_OK && (*state)->as.items.count < count
               ? sfu__pickle_fail(pickle, *state, "the state of an object has too few items")
               : status;
}

/* ---- arrays --------------------------------------------------------------------------------------------------- */

/* dtype('i4', ...) with the state (3, '<', None, None, None, ...). The Nones are the fields of structures and
 * sub-arrays, which are not supported. */
static sfu_status set_type(sfu__array *array, const sfu__pickle *pickle, const sfu__object *dtype) {
    sfu_status status = SFU_OK;
    const sfu__object *state = NULL;
    SFU_TRY(sfu__pickle_need(pickle, dtype, SFU__OBJECT_DTYPE));
    SFU_TRY(state_of(&state, pickle, dtype, SFU__OBJECT_TUPLE, 5));
    const sfu__object *code = item(pickle, sfu__pickle_value(pickle, dtype->as.object.arguments), 0);
    const sfu__object *order = item(pickle, state, 1);
    char text[32];
    if (code == NULL || !is_text(code) || code->as.text.size + 1 > sizeof text || !is_text(order) ||
        order->as.text.size != 1) {
        return sfu__pickle_fail(pickle, dtype, "a dtype that is not one of numbers or text");
    }
    for (int i = 2; i < 5; i++) {
        SFU_TRY(sfu__pickle_need(pickle, item(pickle, state, i), SFU__OBJECT_NONE));
    }
    text[0] = order->as.text.bytes[0];
    memcpy(text + 1, code->as.text.bytes, code->as.text.size);
    SFU_TRY(sfu__array_set_type(array, text, code->as.text.size + 1));
done:
    return status;
}

/* A tuple of integers. */
static sfu_status read_shape(int64_t *shape, int *dims, const sfu__pickle *pickle, const sfu__object *tuple) {
    sfu_status status = SFU_OK;
    const sfu__object *side;
    SFU_TRY(sfu__pickle_need(pickle, tuple, SFU__OBJECT_TUPLE));
    if (tuple->as.items.count > SFU__ARRAY_DIMS) {
        return sfu__pickle_fail(pickle, tuple, "a shape of more than four dimensions");
    }
    *dims = 0;
    for (uint32_t cell = tuple->as.items.first; (side = sfu__pickle_next(pickle, &cell)) != NULL;) {
        SFU_TRY(sfu__pickle_need(pickle, side, SFU__OBJECT_INT));
        shape[(*dims)++] = side->as.integer;
    }
done:
    return status;
}

/* The state (1, shape, dtype, by column, data). */
static sfu_status read_array(sfu__array *array, const sfu__pickle *pickle, const sfu__object *value) {
    sfu_status status = SFU_OK;
    const sfu__object *state = NULL;
    int64_t shape[SFU__ARRAY_DIMS] = {0};
    int dims = 0;
    *array = (sfu__array){0};
    SFU_TRY(sfu__pickle_need(pickle, value, SFU__OBJECT_ARRAY));
    SFU_TRY(state_of(&state, pickle, value, SFU__OBJECT_TUPLE, 5));
    snprintf(array->location, sizeof array->location, "%.440s: byte %zu", sfu__pickle_path(pickle), value->byte);
    SFU_TRY(read_shape(shape, &dims, pickle, item(pickle, state, 1)));
    SFU_TRY(set_type(array, pickle, item(pickle, state, 2)));
    SFU_TRY(sfu__array_set_shape(array, dims, shape));
    SFU_TRY(sfu__pickle_need(pickle, item(pickle, state, 3), SFU__OBJECT_INT));
    array->by_column = item(pickle, state, 3)->as.integer != 0;
    const sfu__object *data = item(pickle, state, 4);
    SFU_TRY(sfu__pickle_need(pickle, data, SFU__OBJECT_BYTES));
    if (array->kind == SFU__KIND_OBJECT) {
        return sfu__pickle_fail(pickle, value, "an array of objects where numbers are needed");
    }
    SFU_TRY(sfu__array_set_data(array, data->as.text.bytes, data->as.text.size));
done:
    return status;
}

/* ---- sparse matrices ------------------------------------------------------------------------------------------ */

/* The last value of a key, as in Python; NULL if there is none. */
static const sfu__object *find_key(const sfu__pickle *pickle, const sfu__object *dict, const char *key) {
    const sfu__object *found = NULL;
    const sfu__object *name;
    for (uint32_t cell = dict->as.items.first; (name = sfu__pickle_next(pickle, &cell)) != NULL;) {
        const sfu__object *value = sfu__pickle_next(pickle, &cell);
        found = text_is(name, key) ? value : found;
    }
    return found;
}

static sfu_status read_member(sfu__array *array, const sfu__pickle *pickle, const sfu__object *dict, const char *key) {
    const sfu__object *value = find_key(pickle, dict, key);
    if (value == NULL) {
        char what[64];
        snprintf(what, sizeof what, "a csr matrix without its %s", key);
        return sfu__pickle_fail(pickle, dict, what);
    }
    return read_array(array, pickle, value);
}

static sfu_status read_csr(sfu__triplets *triplets, const sfu__pickle *pickle, const sfu__object *value) {
    sfu_status status = SFU_OK;
    const sfu__object *state = NULL;
    sfu__array indptr;
    sfu__array indices;
    sfu__array data;
    int64_t shape[SFU__ARRAY_DIMS] = {0};
    int dims = 0;
    char location[SFU__LOCATION_MAX];
    SFU_TRY(state_of(&state, pickle, value, SFU__OBJECT_DICT, 0));
    const sfu__object *shape_object = find_key(pickle, state, "_shape");
    if (shape_object == NULL) {
        return sfu__pickle_fail(pickle, state, "a csr matrix without its _shape");
    }
    SFU_TRY(read_shape(shape, &dims, pickle, shape_object));
    if (dims != 2) {
        return sfu__pickle_fail(pickle, shape_object, "a csr matrix whose shape does not have two dimensions");
    }
    SFU_TRY(read_member(&indptr, pickle, state, "indptr"));
    SFU_TRY(read_member(&indices, pickle, state, "indices"));
    SFU_TRY(read_member(&data, pickle, state, "data"));
    snprintf(location, sizeof location, "%.440s: byte %zu", sfu__pickle_path(pickle), value->byte);
    SFU_TRY(sfu__triplets_compressed(triplets, location, shape[0], shape[1], &indptr, &indices, &data, false));
done:
    return status;
}

sfu_status sfu__pickle_table(sfu__table *table, const sfu__pickle *pickle, const sfu__object *value) {
    sfu_status status = SFU_OK;
    if (value->kind == SFU__OBJECT_CSR) {
        table->is_sparse = true;
        snprintf(table->location, sizeof table->location, "%s", sfu__pickle_path(pickle));
        return read_csr(&table->sparse, pickle, value);
    }
    sfu__array array;
    SFU_TRY(read_array(&array, pickle, value));
    sfu__table_set_dense(table, &array);
done:
    return status;
}

/* ---- strings -------------------------------------------------------------------------------------------------- */

/* A string can be referenced any number of times at two bytes each, so the amount copied is bounded. */
static sfu_status add_text(sfu__strings *strings, const sfu__pickle *pickle, const sfu__object *value) {
    enum { COPIES_PER_BYTE = 256 };
    const size_t used = strings->count > 0 ? (size_t)strings->offsets[strings->count] : 0;
    if (!is_text(value)) {
        return sfu__pickle_fail(pickle, value, "something else where a text is needed");
    }
    if (value->as.text.size > 0 && memchr(value->as.text.bytes, 0, value->as.text.size) != NULL) {
        return sfu__pickle_fail(pickle, value, "a name with a 0 byte in it");
    }
    if (used / COPIES_PER_BYTE > sfu__pickle_size(pickle)) {
        return sfu__pickle_fail(pickle, value, "implausibly much text for the size of the file");
    }
    return sfu__strings_add(strings, value->as.text.bytes, value->as.text.size);
}

static sfu_status add_list(sfu__strings *strings, const sfu__pickle *pickle, const sfu__object *list) {
    sfu_status status = SFU_OK;
    const sfu__object *text;
    for (uint32_t cell = list->as.items.first; (text = sfu__pickle_next(pickle, &cell)) != NULL;) {
        SFU_TRY(add_text(strings, pickle, text));
    }
done:
    return status;
}

/* Keys are 0 to count - 1 in any order, each once. */
static sfu_status add_dict(sfu__strings *strings, const sfu__pickle *pickle, const sfu__object *dict) {
    sfu_status status = SFU_OK;
    const uint32_t count = dict->as.items.count / 2;
    const sfu__object **texts = NULL;
    const sfu__object *key;
    SFU_ALLOC_ZERO(texts, count);
    for (uint32_t cell = dict->as.items.first; (key = sfu__pickle_next(pickle, &cell)) != NULL;) {
        const sfu__object *value = sfu__pickle_next(pickle, &cell);
        SFU_TRY(sfu__pickle_need(pickle, key, SFU__OBJECT_INT));
        if (key->as.integer < 0 || key->as.integer >= count || texts[key->as.integer] != NULL) {
            status = sfu__pickle_fail(pickle, key, "the keys of the dictionary are not 0, 1, 2, ..., each once");
            goto done;
        }
        texts[key->as.integer] = value;
    }
    for (uint32_t i = 0; i < count; i++) {
        SFU_TRY(add_text(strings, pickle, texts[i]));
    }
done:
    sfu__free(texts);
    return status;
}

sfu_status sfu__pickle_strings(sfu__strings *strings, const sfu__pickle *pickle) {
    sfu_status status = SFU_OK;
    const sfu__object *value = sfu__pickle_root(pickle);
    if (value->kind == SFU__OBJECT_ARRAY) {
        const sfu__object *state = NULL;
        SFU_TRY(state_of(&state, pickle, value, SFU__OBJECT_TUPLE, 5));
        value = item(pickle, state, 4);
    }
    if (value->kind == SFU__OBJECT_LIST && value->as.items.count == 1) {
        const sfu__object *only = item(pickle, value, 0);
        value = only->kind == SFU__OBJECT_DICT ? only : value;
    }
    if (value->kind == SFU__OBJECT_DICT) {
        return add_dict(strings, pickle, value);
    }
    SFU_TRY(sfu__pickle_need(pickle, value, SFU__OBJECT_LIST));
    SFU_TRY(add_list(strings, pickle, value));
done:
    return status;
}
