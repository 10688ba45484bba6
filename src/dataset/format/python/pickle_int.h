/* pickle_int.h - the stack machine from the inside: pickle.c has its parts, pickle_opcodes.c what the opcodes do with
 * them, pickle_objects.c what globals stand for. */
#ifndef SFU_PICKLE_INT_H
#define SFU_PICKLE_INT_H

#include "pickle.h"

typedef struct sfu__cell {
    uint32_t value, next;
} sfu__cell;

struct sfu__pickle {
    const char *path;
    const unsigned char *bytes;
    size_t size, at;
    size_t opcode_at;   /* where the running opcode stands */
    const char *opcode; /* its name */
    bool stopped;
    sfu__object *values; /* number 0 is not used */
    size_t value_count, value_capacity;
    sfu__cell *cells; /* the same */
    size_t cell_count, cell_capacity;
    uint32_t *stack;
    size_t depth, stack_capacity;
    size_t *marks; /* depths */
    size_t mark_count, mark_capacity;
    uint32_t *memo; /* values; 0: none */
    size_t memo_count, memo_capacity;
    void **owned; /* texts that do not stand in the file as they are */
    size_t owned_count, owned_capacity, owned_bytes;
};

/* The globals that a pickle may name. */
typedef enum sfu__global {
    SFU__GLOBAL_RECONSTRUCT, /* _reconstruct(ndarray, (0,), 'b'): an array */
    SFU__GLOBAL_NDARRAY,
    SFU__GLOBAL_DTYPE, /* dtype('i4', ...) */
    SFU__GLOBAL_CSR,
    SFU__GLOBAL_DEFAULTDICT,
    SFU__GLOBAL_LIST,
    SFU__GLOBAL_RECONSTRUCTOR, /* _reconstructor(class, object, None): protocols 0 and 1 make objects so */
    SFU__GLOBAL_OBJECT,
    SFU__GLOBAL_ENCODE, /* encode(text, 'latin1'): protocol 2 holds Python 3's bytes so */
    SFU__GLOBAL_BYTES   /* bytes(): and, where there are none, so */
} sfu__global;

/* One row an opcode, by its byte; `run` is NULL where there is none. The argument is a width in bytes, a count or a
 * kind of value. */
typedef struct sfu__opcode {
    const char *name;
    sfu_status (*run)(sfu__pickle *p, int argument);
    int argument;
} sfu__opcode;

extern const sfu__opcode sfu__opcodes[256];

/* "PATH: byte N: OPCODE: what" */
sfu_status sfu__pickle_broken(const sfu__pickle *p, const char *what);

/* The next bytes of the file; a little-endian number of `width` bytes; a line, whose newline is taken too. */
SFU_CHECKED sfu_status sfu__pickle_take(sfu__pickle *p, size_t count, const unsigned char **bytes);
SFU_CHECKED sfu_status sfu__pickle_take_number(sfu__pickle *p, int width, uint64_t *number);
SFU_CHECKED sfu_status sfu__pickle_take_line(sfu__pickle *p, const char **line, size_t *size);

/* Pushes a value by its number; adds one to the pool and pushes it; pops one, not past the last mark; looks at the one
 * on top, which must be of a kind. */
SFU_CHECKED sfu_status sfu__pickle_push(sfu__pickle *p, uint32_t value);
SFU_CHECKED sfu_status sfu__pickle_push_new(sfu__pickle *p, sfu__object value);
SFU_CHECKED sfu_status sfu__pickle_pop(sfu__pickle *p, uint32_t *value);
SFU_CHECKED sfu_status sfu__pickle_top(sfu__pickle *p, sfu__object_kind kind, sfu__object **value);

/* Where the items since the last mark begin; the mark goes. */
SFU_CHECKED sfu_status sfu__pickle_pop_mark(sfu__pickle *p, size_t *begin);

/* Takes what lies on the stack from `begin` on to the end of a container's chain; or pushes a new container of it. */
SFU_CHECKED sfu_status sfu__pickle_move_items(sfu__pickle *p, sfu__object *container, size_t begin);
SFU_CHECKED sfu_status sfu__pickle_collect(sfu__pickle *p, sfu__object_kind kind, size_t begin);

/* Room for a text that does not stand in the file as it is. */
SFU_CHECKED sfu_status sfu__pickle_own(sfu__pickle *p, size_t size, char **text);

/* The opcodes of pickle_objects.c. */
SFU_CHECKED sfu_status sfu__pickle_op_global(sfu__pickle *p, int unused);
SFU_CHECKED sfu_status sfu__pickle_op_stack_global(sfu__pickle *p, int unused);
SFU_CHECKED sfu_status sfu__pickle_op_call(sfu__pickle *p, int unused);
SFU_CHECKED sfu_status sfu__pickle_op_build(sfu__pickle *p, int unused);

#endif
