/* pickle.c - the restricted pickle machine: input, stack, value pools and main loop. */
#include "pickle_int.h"
#include "progress.h"

#include <string.h>

/* ---- messages ------------------------------------------------------------------------------------------------- */

static const char *const kind_names[SFU__OBJECT_KINDS] = {
    [SFU__OBJECT_NONE] = "None",         [SFU__OBJECT_INT] = "a whole number", [SFU__OBJECT_BYTES] = "a string",
    [SFU__OBJECT_TEXT] = "a text",       [SFU__OBJECT_TUPLE] = "a tuple",      [SFU__OBJECT_LIST] = "a list",
    [SFU__OBJECT_DICT] = "a dictionary", [SFU__OBJECT_GLOBAL] = "a global",    [SFU__OBJECT_DTYPE] = "a dtype",
    [SFU__OBJECT_ARRAY] = "an array",    [SFU__OBJECT_CSR] = "a sparse matrix"};

sfu_status sfu__pickle_broken(const sfu__pickle *p, const char *what) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: byte %zu: %s: %s", p->path, p->opcode_at,
                     p->opcode != NULL ? p->opcode : "pickle", what);
}

sfu_status sfu__pickle_fail(const sfu__pickle *p, const sfu__object *value, const char *what) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: byte %zu: %s", p->path, value->byte, what);
}

sfu_status sfu__pickle_need(const sfu__pickle *p, const sfu__object *value, sfu__object_kind kind) {
    if (value->kind == kind) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_FORMAT, "%s: byte %zu: %s where %s is needed", p->path, value->byte,
                     kind_names[value->kind], kind_names[kind]);
}

/* ---- input ---------------------------------------------------------------------------------------------------- */

sfu_status sfu__pickle_take(sfu__pickle *p, size_t count, const unsigned char **bytes) {
    if (count > p->size - p->at) {
        return sfu__pickle_broken(p, "the pickle ends inside it (is it cut short?)");
    }
    *bytes = p->bytes + p->at;
    p->at += count;
    return SFU_OK;
}

sfu_status sfu__pickle_take_number(sfu__pickle *p, int width, uint64_t *number) {
    const unsigned char *bytes = NULL;
    const sfu_status status = sfu__pickle_take(p, (size_t)width, &bytes);
    *number = 0;
    for (int i = 0; status == SFU_OK && i < width; i++) {
        *number |= (uint64_t)bytes[i] << (8 * i);
    }
    return status;
}

sfu_status sfu__pickle_take_line(sfu__pickle *p, const char **line, size_t *size) {
    const unsigned char *begin = p->bytes + p->at;
    const unsigned char *end = p->at < p->size ? memchr(begin, '\n', p->size - p->at) : NULL;
    if (end == NULL) {
        return sfu__pickle_broken(p, "the pickle ends inside it (is it cut short?)");
    }
    *line = (const char *)begin;
    *size = (size_t)(end - begin);
    p->at += *size + 1;
    return SFU_OK;
}

/* ---- the pools and the stack ---------------------------------------------------------------------------------- */

sfu_status sfu__pickle_push(sfu__pickle *p, uint32_t value) {
    uint32_t *grown = sfu__grow(p->stack, &p->stack_capacity, p->depth + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    p->stack = grown;
    p->stack[p->depth++] = value;
    return SFU_OK;
}

sfu_status sfu__pickle_push_new(sfu__pickle *p, sfu__object value) {
    if (p->value_count >= UINT32_MAX) {
        return sfu__pickle_broken(p, "more values than can be numbered");
    }
    sfu__object *grown = sfu__grow(p->values, &p->value_capacity, p->value_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    p->values = grown;
    value.byte = p->opcode_at;
    p->values[p->value_count] = value;
    return sfu__pickle_push(p, (uint32_t)p->value_count++);
}

sfu_status sfu__pickle_pop(sfu__pickle *p, uint32_t *value) {
    const size_t floor = p->mark_count > 0 ? p->marks[p->mark_count - 1] : 0;
    if (p->depth <= floor) {
        return sfu__pickle_broken(p, "nothing is on the stack");
    }
    *value = p->stack[--p->depth];
    return SFU_OK;
}

sfu_status sfu__pickle_top(sfu__pickle *p, sfu__object_kind kind, sfu__object **value) {
    uint32_t number = 0;
    const sfu_status status = sfu__pickle_pop(p, &number);
    if (status != SFU_OK) {
        return status;
    }
    p->depth++;
    *value = &p->values[number];
    if ((*value)->kind != kind) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte %zu: %s: %s where %s is needed", p->path, p->opcode_at, p->opcode,
                         kind_names[(*value)->kind], kind_names[kind]);
    }
    return SFU_OK;
}

sfu_status sfu__pickle_pop_mark(sfu__pickle *p, size_t *begin) {
    if (p->mark_count == 0) {
        return sfu__pickle_broken(p, "no mark is on the stack");
    }
    *begin = p->marks[--p->mark_count];
    return SFU_OK;
}

sfu_status sfu__pickle_move_items(sfu__pickle *p, sfu__object *container, size_t begin) {
    for (size_t i = begin; i < p->depth; i++) {
        if (p->cell_count >= UINT32_MAX) {
            return sfu__pickle_broken(p, "more items than can be numbered");
        }
        sfu__cell *grown = sfu__grow(p->cells, &p->cell_capacity, p->cell_count + 1, sizeof *grown);
        if (grown == NULL) {
            return SFU_ERR_MEMORY;
        }
        p->cells = grown;
        const uint32_t added = (uint32_t)p->cell_count++;
        p->cells[added] = (sfu__cell){p->stack[i], 0};
        if (container->as.items.count++ == 0) {
            container->as.items.first = added;
        } else {
            p->cells[container->as.items.last].next = added;
        }
        container->as.items.last = added;
    }
    p->depth = begin;
    return SFU_OK;
}

sfu_status sfu__pickle_collect(sfu__pickle *p, sfu__object_kind kind, size_t begin) {
    sfu__object container = {.kind = kind};
    const sfu_status status = sfu__pickle_move_items(p, &container, begin);
    return status == SFU_OK ? sfu__pickle_push_new(p, container) : status;
}

/* The decoded strings together are at most as long as the file: one string could be encoded again and again. */
sfu_status sfu__pickle_own(sfu__pickle *p, size_t size, char **text) {
    if (size > p->size - p->owned_bytes) {
        return sfu__pickle_broken(p, "more text than the file holds");
    }
    void **grown = sfu__grow(p->owned, &p->owned_capacity, p->owned_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    p->owned = grown;
    *text = sfu__alloc(size, 1);
    if (*text == NULL) {
        return SFU_ERR_MEMORY;
    }
    p->owned[p->owned_count++] = *text;
    p->owned_bytes += size;
    return SFU_OK;
}

/* ---- execution ------------------------------------------------------------------------------------------------ */

static sfu_status run(sfu__pickle *p) {
    for (int64_t step = 0; !p->stopped; step++) {
        p->opcode_at = p->at;
        p->opcode = NULL;
        const unsigned char *byte = NULL;
        sfu_status status = sfu__poll_at(step);
        if (status == SFU_OK) {
            status = sfu__pickle_take(p, 1, &byte);
        }
        if (status != SFU_OK) {
            return status;
        }
        if (sfu__opcodes[*byte].run == NULL) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s: byte %zu: opcode 0x%02x is not supported: pickles of arrays do not use it", p->path,
                             p->opcode_at, *byte);
        }
        p->opcode = sfu__opcodes[*byte].name;
        status = sfu__opcodes[*byte].run(p, sfu__opcodes[*byte].argument);
        if (status != SFU_OK) {
            return status;
        }
    }
    return SFU_OK;
}

sfu_status sfu__pickle_read(sfu__pickle **pickle, const void *bytes, size_t size, const char *path) {
    *pickle = NULL;
    sfu_status status = SFU_OK;
    sfu__pickle *p = NULL;
    SFU_ALLOC_ZERO(p, 1);
    p->path = path;
    p->bytes = bytes;
    p->size = size;
    p->value_count = 1; /* index 0 means none */
    p->cell_count = 1;
    SFU_TRY(run(p));
    *pickle = p;
    p = NULL;
done:
    sfu__pickle_free(p);
    return status;
}

void sfu__pickle_free(sfu__pickle *p) {
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < p->owned_count; i++) {
        sfu__free(p->owned[i]);
    }
    sfu__free(p->owned);
    sfu__free(p->values);
    sfu__free(p->cells);
    sfu__free(p->stack);
    sfu__free(p->marks);
    sfu__free(p->memo);
    sfu__free(p);
}

const sfu__object *sfu__pickle_root(const sfu__pickle *p) { return &p->values[p->stack[0]]; }

size_t sfu__pickle_size(const sfu__pickle *p) { return p->size; }

const char *sfu__pickle_path(const sfu__pickle *p) { return p->path; }

const sfu__object *sfu__pickle_value(const sfu__pickle *p, uint32_t value) { return &p->values[value]; }

const sfu__object *sfu__pickle_next(const sfu__pickle *p, uint32_t *cell) {
    if (*cell == 0) {
        return NULL;
    }
    const sfu__cell *found = &p->cells[*cell];
    *cell = found->next;
    return &p->values[found->value];
}
