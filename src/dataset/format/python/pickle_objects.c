/* pickle_objects.c - the opcodes that create objects from a fixed list of globals. */
#include "pickle_int.h"

#include <string.h>

/* ---- opcodes: globals and objects ----------------------------------------------------------------------------- */

static sfu_status push_global(sfu__pickle *p, const char *module, size_t module_size, const char *name,
                              size_t name_size) {
    static const struct {
        const char *module, *name;
        sfu__global global;
    } known[] = {
        {"numpy.core.multiarray", "_reconstruct", SFU__GLOBAL_RECONSTRUCT},
        {"numpy._core.multiarray", "_reconstruct", SFU__GLOBAL_RECONSTRUCT},
        {"numpy", "ndarray", SFU__GLOBAL_NDARRAY},
        {"numpy", "dtype", SFU__GLOBAL_DTYPE},
        {"scipy.sparse.csr", "csr_matrix", SFU__GLOBAL_CSR},
        {"scipy.sparse._csr", "csr_matrix", SFU__GLOBAL_CSR},
        {"collections", "defaultdict", SFU__GLOBAL_DEFAULTDICT},
        {"__builtin__", "list", SFU__GLOBAL_LIST},
        {"builtins", "list", SFU__GLOBAL_LIST},
        {"copy_reg", "_reconstructor", SFU__GLOBAL_RECONSTRUCTOR},
        {"copyreg", "_reconstructor", SFU__GLOBAL_RECONSTRUCTOR},
        {"__builtin__", "object", SFU__GLOBAL_OBJECT},
        {"builtins", "object", SFU__GLOBAL_OBJECT},
        {"_codecs", "encode", SFU__GLOBAL_ENCODE},
        {"__builtin__", "bytes", SFU__GLOBAL_BYTES},
        {"builtins", "bytes", SFU__GLOBAL_BYTES},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].module) == module_size && memcmp(known[i].module, module, module_size) == 0 &&
            strlen(known[i].name) == name_size && memcmp(known[i].name, name, name_size) == 0) {
            return sfu__pickle_push_new(p,
                                        (sfu__object){.kind = SFU__OBJECT_GLOBAL, .as.global = (int)known[i].global});
        }
    }
    char first[SFU__QUOTE_MAX];
    char second[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_FORMAT,
                     "%s: byte %zu: the pickle asks for %s of module %s, which is refused: only arrays, csr matrices, "
                     "dictionaries, lists, text and whole numbers are read",
                     p->path, p->opcode_at, sfu__quote(second, name, name_size),
                     sfu__quote(first, module, module_size));
}

sfu_status sfu__pickle_op_global(sfu__pickle *p, int unused) {
    (void)unused;
    sfu_status status = SFU_OK;
    const char *module;
    const char *name;
    size_t module_size;
    size_t name_size;
    SFU_TRY(sfu__pickle_take_line(p, &module, &module_size));
    SFU_TRY(sfu__pickle_take_line(p, &name, &name_size));
    SFU_TRY(push_global(p, module, module_size, name, name_size));
done:
    return status;
}

sfu_status sfu__pickle_op_stack_global(sfu__pickle *p, int unused) {
    (void)unused;
    sfu_status status = SFU_OK;
    uint32_t name;
    uint32_t module;
    SFU_TRY(sfu__pickle_pop(p, &name));
    SFU_TRY(sfu__pickle_pop(p, &module));
    SFU_TRY(sfu__pickle_need(p, &p->values[name], SFU__OBJECT_TEXT));
    SFU_TRY(sfu__pickle_need(p, &p->values[module], SFU__OBJECT_TEXT));
    SFU_TRY(push_global(p, p->values[module].as.text.bytes, p->values[module].as.text.size,
                        p->values[name].as.text.bytes, p->values[name].as.text.size));
done:
    return status;
}

/* encode(text, 'latin1'): code points below 256 become bytes. */
static sfu_status push_encoded(sfu__pickle *p, const sfu__object *arguments) {
    sfu_status status = SFU_OK;
    uint32_t cell = arguments->as.items.first;
    const sfu__object *text = sfu__pickle_next(p, &cell);
    char *bytes;
    size_t used = 0;
    if (text == NULL || text->kind != SFU__OBJECT_TEXT) {
        return sfu__pickle_broken(p, "encode expects a text");
    }
    const unsigned char *from = (const unsigned char *)text->as.text.bytes;
    const size_t size = text->as.text.size;
    SFU_TRY(sfu__pickle_own(p, size, &bytes));
    for (size_t i = 0; i < size; i++) {
        unsigned byte = from[i];
        if (byte >= 0x80) {
            if ((byte != 0xc2 && byte != 0xc3) || i + 1 == size || (from[i + 1] & 0xc0) != 0x80) {
                return sfu__pickle_broken(p, "encode expects characters below 256");
            }
            byte = (byte & 3) << 6 | (from[++i] & 0x3f);
        }
        bytes[used++] = (char)byte;
    }
    SFU_TRY(sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_BYTES, .as.text = {bytes, used}}));
done:
    return status;
}

/* Pushes the value that results from calling (or instantiating) a global. */
static sfu_status push_result(sfu__pickle *p, sfu__global global, uint32_t arguments) {
    const sfu__object *tuple = &p->values[arguments];
    uint32_t cell = tuple->as.items.first;
    const sfu__object *first = sfu__pickle_next(p, &cell);
    const bool of_csr = first != NULL && first->kind == SFU__OBJECT_GLOBAL && first->as.global == SFU__GLOBAL_CSR;
    switch (global) {
    case SFU__GLOBAL_RECONSTRUCT:
        return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_ARRAY});
    case SFU__GLOBAL_DTYPE:
        return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_DTYPE, .as.object = {arguments, 0}});
    case SFU__GLOBAL_CSR:
        return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_CSR});
    case SFU__GLOBAL_DEFAULTDICT:
        return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_DICT});
    case SFU__GLOBAL_RECONSTRUCTOR:
        return of_csr ? sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_CSR})
                      : sfu__pickle_broken(p, "only csr matrices are supported here");
    case SFU__GLOBAL_ENCODE:
        return push_encoded(p, tuple);
    case SFU__GLOBAL_BYTES:
        return first == NULL ? sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_BYTES, .as.text = {"", 0}})
                             : sfu__pickle_broken(p, "bytes with arguments");
    default:
        return sfu__pickle_broken(p, "this global cannot be called");
    }
}

/* REDUCE and NEWOBJ: a global and a tuple of arguments. */
sfu_status sfu__pickle_op_call(sfu__pickle *p, int unused) {
    (void)unused;
    sfu_status status = SFU_OK;
    sfu__object *tuple;
    sfu__object *global;
    uint32_t arguments;
    uint32_t callee;
    SFU_TRY(sfu__pickle_top(p, SFU__OBJECT_TUPLE, &tuple));
    SFU_TRY(sfu__pickle_pop(p, &arguments));
    SFU_TRY(sfu__pickle_top(p, SFU__OBJECT_GLOBAL, &global));
    SFU_TRY(sfu__pickle_pop(p, &callee));
    SFU_TRY(push_result(p, (sfu__global)global->as.global, arguments));
done:
    return status;
}

/* Sets the state of an object, once. */
sfu_status sfu__pickle_op_build(sfu__pickle *p, int unused) {
    (void)unused;
    sfu_status status = SFU_OK;
    uint32_t state;
    uint32_t number;
    SFU_TRY(sfu__pickle_pop(p, &state));
    SFU_TRY(sfu__pickle_pop(p, &number));
    p->depth++;
    sfu__object *object = &p->values[number];
    if (object->kind < SFU__OBJECT_DTYPE || object->as.object.state != 0) {
        return sfu__pickle_broken(p, "expected an array, dtype or matrix without a state");
    }
    object->as.object.state = state;
done:
    return status;
}
