/* pickle_int.h - internals of the pickle machine: pickle.c has its stack and pools, pickle_opcodes.c the opcodes,
 * pickle_objects.c the globals. */
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
    size_t opcode_at;   /* file offset of the current opcode */
    const char *opcode; /* its name */
    bool stopped;
    sfu__object *values; /* index 0 is not used */
    size_t value_count, value_capacity;
    sfu__cell *cells; /* index 0 is not used */
    size_t cell_count, cell_capacity;
    uint32_t *stack;
    size_t depth, stack_capacity;
    size_t *marks; /* stack depths */
    size_t mark_count, mark_capacity;
    uint32_t *memo; /* values; 0: none */
    size_t memo_count, memo_capacity;
    void **owned; /* decoded strings, which differ from their bytes in the file */
    size_t owned_count, owned_capacity, owned_bytes;
};

/* The globals that a pickle may use. */
typedef enum sfu__global {
    SFU__GLOBAL_RECONSTRUCT, /* _reconstruct(ndarray, (0,), 'b'): an array */
    SFU__GLOBAL_NDARRAY,
    SFU__GLOBAL_DTYPE, /* dtype('i4', ...) */
    SFU__GLOBAL_CSR,
    SFU__GLOBAL_DEFAULTDICT,
    SFU__GLOBAL_LIST,
    SFU__GLOBAL_RECONSTRUCTOR, /* _reconstructor(class, object, None): creates objects in protocols 0 and 1 */
    SFU__GLOBAL_OBJECT,
    SFU__GLOBAL_ENCODE, /* encode(text, 'latin1'): Python 3's bytes in protocol 2 */
    SFU__GLOBAL_BYTES   /* bytes(): empty bytes in protocol 2 */
} sfu__global;

/* One entry per opcode, indexed by its byte; `run` is NULL for unsupported ones. The argument is a width in bytes, a
 * count or a kind of value. */
typedef struct sfu__opcode {
    const char *name;
    sfu_status (*run)(sfu__pickle *p, int argument);
    int argument;
} sfu__opcode;

extern const sfu__opcode sfu__opcodes[256];

/* "PATH: byte N: OPCODE: what" */
sfu_status sfu__pickle_broken(const sfu__pickle *p, const char *what);

/* Read the next bytes; a little-endian number of `width` bytes; a line, including its newline. */
SFU_CHECKED sfu_status sfu__pickle_take(sfu__pickle *p, size_t count, const unsigned char **bytes);
SFU_CHECKED sfu_status sfu__pickle_take_number(sfu__pickle *p, int width, uint64_t *number);
SFU_CHECKED sfu_status sfu__pickle_take_line(sfu__pickle *p, const char **line, size_t *size);

/* Push a value by its index; add a value to the pool and push it; pop a value, not beyond the last mark; access the top
 * value, which must have the kind. */
SFU_CHECKED sfu_status sfu__pickle_push(sfu__pickle *p, uint32_t value);
SFU_CHECKED sfu_status sfu__pickle_push_new(sfu__pickle *p, sfu__object value);
SFU_CHECKED sfu_status sfu__pickle_pop(sfu__pickle *p, uint32_t *value);
SFU_CHECKED sfu_status sfu__pickle_top(sfu__pickle *p, sfu__object_kind kind, sfu__object **value);

/* Removes the last mark; *begin is the depth where its items begin. */
SFU_CHECKED sfu_status sfu__pickle_pop_mark(sfu__pickle *p, size_t *begin);

/* Moves the stack from `begin` on to the end of a container; or pushes a new container with these items. */
SFU_CHECKED sfu_status sfu__pickle_move_items(sfu__pickle *p, sfu__object *container, size_t begin);
SFU_CHECKED sfu_status sfu__pickle_collect(sfu__pickle *p, sfu__object_kind kind, size_t begin);

/* Allocates memory for a decoded string. */
SFU_CHECKED sfu_status sfu__pickle_own(sfu__pickle *p, size_t size, char **text);

/* The opcodes of pickle_objects.c. */
SFU_CHECKED sfu_status sfu__pickle_op_global(sfu__pickle *p, int unused);
SFU_CHECKED sfu_status sfu__pickle_op_stack_global(sfu__pickle *p, int unused);
SFU_CHECKED sfu_status sfu__pickle_op_call(sfu__pickle *p, int unused);
SFU_CHECKED sfu_status sfu__pickle_op_build(sfu__pickle *p, int unused);

#endif
