/* pickle_opcodes.c - the opcodes for numbers, text, containers and the memo, and the opcode table. */
#include "pickle_int.h"

#include <string.h>

/* ---- opcodes: numbers and texts ------------------------------------------------------------------------------- */

/* The argument of each function comes from the table below: a width in bytes, a count or a kind. */

static sfu_status op_none(sfu__pickle *p, int unused) {
    (void)unused;
    return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_NONE});
}

static sfu_status op_bool(sfu__pickle *p, int value) {
    return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_INT, .as.integer = value});
}

/* Only BININT (4 bytes) is signed. */
static sfu_status op_number(sfu__pickle *p, int width) {
    uint64_t number;
    const sfu_status status = sfu__pickle_take_number(p, width, &number);
    const int64_t value = width == 4 ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number;
    return status == SFU_OK ? sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_INT, .as.integer = value})
                            : status;
}

/* A signed number; the first byte is its width. */
static sfu_status op_long1(sfu__pickle *p, int unused) {
    (void)unused;
    sfu_status status = SFU_OK;
    uint64_t width;
    uint64_t number = 0;
    SFU_TRY(sfu__pickle_take_number(p, 1, &width));
    if (width > 8) {
        return sfu__pickle_broken(p, "a whole number of more than eight bytes");
    }
    SFU_TRY(sfu__pickle_take_number(p, (int)width, &number));
    if (width > 0 && width < 8 && (number >> (8 * width - 1)) != 0) {
        number |= UINT64_MAX << (8 * width);
    }
    SFU_TRY(sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_INT, .as.integer = (int64_t)number}));
done:
    return status;
}

/* Decimal; LONG has an L after it. */
static sfu_status op_decimal(sfu__pickle *p, int unused) {
    (void)unused;
    const char *line;
    size_t size;
    const sfu_status status = sfu__pickle_take_line(p, &line, &size);
    if (status != SFU_OK) {
        return status;
    }
    const size_t digits = size > 0 && line[size - 1] == 'L' ? size - 1 : size;
    int64_t number;
    if (!sfu__parse_int64(&number, line, line + digits)) {
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail(SFU_ERR_FORMAT, "%s: byte %zu: %s: %s is not a whole number", p->path, p->opcode_at, p->opcode,
                         sfu__quote(quoted, line, size));
    }
    return sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_INT, .as.integer = number});
}

/* A string after its length of `width` bytes. */
static sfu_status sized_text(sfu__pickle *p, int width, sfu__object_kind kind) {
    sfu_status status = SFU_OK;
    uint64_t size;
    const unsigned char *bytes;
    SFU_TRY(sfu__pickle_take_number(p, width, &size));
    SFU_TRY(sfu__pickle_take(p, (size_t)size, &bytes));
    SFU_TRY(sfu__pickle_push_new(p, (sfu__object){.kind = kind, .as.text = {(const char *)bytes, (size_t)size}}));
done:
    return status;
}

static sfu_status op_bytes(sfu__pickle *p, int width) { return sized_text(p, width, SFU__OBJECT_BYTES); }

static sfu_status op_text(sfu__pickle *p, int width) { return sized_text(p, width, SFU__OBJECT_TEXT); }

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte for the escape sequence at line[*i], as written by Python's repr; -1 if it is invalid. */
static int unescape(const char *line, size_t size, size_t *i) {
    static const char letters[] = "\\'\"ntr";
    static const char meanings[] = "\\'\"\n\t\r";
    if (*i + 1 >= size) {
        return -1;
    }
    const char letter = line[*i + 1];
    if (letter == 'x') {
        const int high = *i + 3 < size ? hex_digit(line[*i + 2]) : -1;
        const int low = *i + 3 < size ? hex_digit(line[*i + 3]) : -1;
        *i += 4;
        return high < 0 || low < 0 ? -1 : 16 * high + low;
    }
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    *i += 2;
    return found != NULL ? (unsigned char)meanings[found - letters] : -1;
}

/* Protocol 0: a string as written by Python's repr, with quotes. */
static sfu_status op_string(sfu__pickle *p, int unused) {
    (void)unused;
    sfu_status status = SFU_OK;
    const char *line;
    size_t size;
    char *text;
    size_t used = 0;
    SFU_TRY(sfu__pickle_take_line(p, &line, &size));
    if (size < 2 || (line[0] != '\'' && line[0] != '"') || line[size - 1] != line[0]) {
        return sfu__pickle_broken(p, "a string without its quotes");
    }
    SFU_TRY(sfu__pickle_own(p, size, &text));
    for (size_t i = 1; i < size - 1;) {
        const int byte = line[i] == '\\' ? unescape(line, size - 1, &i) : (unsigned char)line[i++];
        if (byte < 0) {
            return sfu__pickle_broken(p, "an escape that Python does not write");
        }
        text[used++] = (char)byte;
    }
    SFU_TRY(sfu__pickle_push_new(p, (sfu__object){.kind = SFU__OBJECT_BYTES, .as.text = {text, used}}));
done:
    return status;
}

/* ---- opcodes: tuples, lists, dictionaries --------------------------------------------------------------------- */

static sfu_status op_mark(sfu__pickle *p, int unused) {
    (void)unused;
    size_t *grown = sfu__grow(p->marks, &p->mark_capacity, p->mark_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    p->marks = grown;
    p->marks[p->mark_count++] = p->depth;
    return SFU_OK;
}

static sfu_status op_empty(sfu__pickle *p, int kind) {
    return sfu__pickle_push_new(p, (sfu__object){.kind = (sfu__object_kind)kind});
}

static sfu_status op_collect(sfu__pickle *p, int kind) {
    size_t begin;
    const sfu_status status = sfu__pickle_pop_mark(p, &begin);
    if (status == SFU_OK && kind == SFU__OBJECT_DICT && (p->depth - begin) % 2 != 0) {
        return sfu__pickle_broken(p, "a key without a value");
    }
    return status == SFU_OK ? sfu__pickle_collect(p, (sfu__object_kind)kind, begin) : status;
}

static sfu_status op_tuple(sfu__pickle *p, int count) {
    const size_t floor = p->mark_count > 0 ? p->marks[p->mark_count - 1] : 0;
    if (p->depth - floor < (size_t)count) {
        return sfu__pickle_broken(p, "too little is on the stack");
    }
    return sfu__pickle_collect(p, SFU__OBJECT_TUPLE, p->depth - (size_t)count);
}

/* Adds the stack from `begin` on to the list or dictionary below it. */
static sfu_status extend(sfu__pickle *p, sfu__object_kind kind, size_t begin) {
    sfu__object *container;
    const size_t depth = p->depth;
    p->depth = begin;
    const sfu_status status = sfu__pickle_top(p, kind, &container);
    p->depth = depth;
    if (status == SFU_OK && kind == SFU__OBJECT_DICT && (depth - begin) % 2 != 0) {
        return sfu__pickle_broken(p, "a key without a value");
    }
    return status == SFU_OK ? sfu__pickle_move_items(p, container, begin) : status;
}

static sfu_status op_extend(sfu__pickle *p, int kind) {
    size_t begin;
    const sfu_status status = sfu__pickle_pop_mark(p, &begin);
    return status == SFU_OK ? extend(p, (sfu__object_kind)kind, begin) : status;
}

static sfu_status op_append(sfu__pickle *p, int unused) {
    (void)unused;
    return p->depth < 1 ? sfu__pickle_broken(p, "nothing is on the stack") : extend(p, SFU__OBJECT_LIST, p->depth - 1);
}

static sfu_status op_setitem(sfu__pickle *p, int unused) {
    (void)unused;
    return p->depth < 2 ? sfu__pickle_broken(p, "too little is on the stack")
                        : extend(p, SFU__OBJECT_DICT, p->depth - 2);
}

/* ---- opcodes: the memo ---------------------------------------------------------------------------------------- */

/* Picklers number the memo from 0 or 1, at most one entry per opcode. */
static sfu_status memo_put(sfu__pickle *p, uint64_t number) {
    uint32_t value;
    const sfu_status status = sfu__pickle_pop(p, &value);
    if (status != SFU_OK) {
        return status;
    }
    p->depth++;
    if (number >= p->size) {
        return sfu__pickle_broken(p, "the memo index is larger than the file");
    }
    uint32_t *grown = sfu__grow(p->memo, &p->memo_capacity, (size_t)number + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    p->memo = grown;
    while (p->memo_count <= number) {
        p->memo[p->memo_count++] = 0;
    }
    p->memo[number] = value;
    return SFU_OK;
}

static sfu_status memo_get(sfu__pickle *p, uint64_t number) {
    if (number >= p->memo_count || p->memo[number] == 0) {
        return sfu__pickle_broken(p, "the memo has no entry with this index");
    }
    return sfu__pickle_push(p, p->memo[number]);
}

/* The memo index in `width` bytes, or (0) in decimal. */
static sfu_status memo_number(sfu__pickle *p, int width, uint64_t *number) {
    if (width > 0) {
        return sfu__pickle_take_number(p, width, number);
    }
    const char *line;
    size_t size;
    int64_t parsed;
    const sfu_status status = sfu__pickle_take_line(p, &line, &size);
    if (status == SFU_OK && (!sfu__parse_int64(&parsed, line, line + size) || parsed < 0)) {
        return sfu__pickle_broken(p, "the memo index is not a number");
    }
    *number = status == SFU_OK ? (uint64_t)parsed : 0;
    return status;
}

static sfu_status op_put(sfu__pickle *p, int width) {
    uint64_t number = 0;
    const sfu_status status = memo_number(p, width, &number);
    return status == SFU_OK ? memo_put(p, number) : status;
}

static sfu_status op_get(sfu__pickle *p, int width) {
    uint64_t number = 0;
    const sfu_status status = memo_number(p, width, &number);
    return status == SFU_OK ? memo_get(p, number) : status;
}

static sfu_status op_memoize(sfu__pickle *p, int unused) {
    (void)unused;
    return memo_put(p, p->memo_count);
}

/* ---- opcodes: protocol and frames ----------------------------------------------------------------------------- */

static sfu_status op_proto(sfu__pickle *p, int unused) {
    (void)unused;
    uint64_t version;
    const sfu_status status = sfu__pickle_take_number(p, 1, &version);
    return status == SFU_OK && version > 5 ? sfu__pickle_broken(p, "a protocol that is not known") : status;
}

/* Frames only help a reader to buffer. */
static sfu_status op_frame(sfu__pickle *p, int width) {
    uint64_t size;
    return sfu__pickle_take_number(p, width, &size);
}

static sfu_status op_stop(sfu__pickle *p, int unused) {
    (void)unused;
    p->stopped = true;
    return p->depth == 1 && p->mark_count == 0
               ? SFU_OK
               : sfu__pickle_broken(p, "expected exactly one value on the stack at the end");
}

const sfu__opcode sfu__opcodes[256] = {
    ['('] = {"MARK", op_mark, 0},
    ['.'] = {"STOP", op_stop, 0},
    ['N'] = {"NONE", op_none, 0},
    [0x88] = {"NEWTRUE", op_bool, 1},
    [0x89] = {"NEWFALSE", op_bool, 0},
    ['I'] = {"INT", op_decimal, 0},
    ['L'] = {"LONG", op_decimal, 0},
    ['K'] = {"BININT1", op_number, 1},
    ['M'] = {"BININT2", op_number, 2},
    ['J'] = {"BININT", op_number, 4},
    [0x8a] = {"LONG1", op_long1, 0},
    ['S'] = {"STRING", op_string, 0},
    ['U'] = {"SHORT_BINSTRING", op_bytes, 1},
    ['T'] = {"BINSTRING", op_bytes, 4},
    ['C'] = {"SHORT_BINBYTES", op_bytes, 1},
    ['B'] = {"BINBYTES", op_bytes, 4},
    [0x8e] = {"BINBYTES8", op_bytes, 8},
    [0x8c] = {"SHORT_BINUNICODE", op_text, 1},
    ['X'] = {"BINUNICODE", op_text, 4},
    [0x8d] = {"BINUNICODE8", op_text, 8},
    [')'] = {"EMPTY_TUPLE", op_tuple, 0},
    [0x85] = {"TUPLE1", op_tuple, 1},
    [0x86] = {"TUPLE2", op_tuple, 2},
    [0x87] = {"TUPLE3", op_tuple, 3},
    ['t'] = {"TUPLE", op_collect, SFU__OBJECT_TUPLE},
    [']'] = {"EMPTY_LIST", op_empty, SFU__OBJECT_LIST},
    ['l'] = {"LIST", op_collect, SFU__OBJECT_LIST},
    ['a'] = {"APPEND", op_append, 0},
    ['e'] = {"APPENDS", op_extend, SFU__OBJECT_LIST},
    ['}'] = {"EMPTY_DICT", op_empty, SFU__OBJECT_DICT},
    ['d'] = {"DICT", op_collect, SFU__OBJECT_DICT},
    ['s'] = {"SETITEM", op_setitem, 0},
    ['u'] = {"SETITEMS", op_extend, SFU__OBJECT_DICT},
    ['p'] = {"PUT", op_put, 0},
    ['q'] = {"BINPUT", op_put, 1},
    ['r'] = {"LONG_BINPUT", op_put, 4},
    [0x94] = {"MEMOIZE", op_memoize, 0},
    ['g'] = {"GET", op_get, 0},
    ['h'] = {"BINGET", op_get, 1},
    ['j'] = {"LONG_BINGET", op_get, 4},
    ['c'] = {"GLOBAL", sfu__pickle_op_global, 0},
    [0x93] = {"STACK_GLOBAL", sfu__pickle_op_stack_global, 0},
    ['R'] = {"REDUCE", sfu__pickle_op_call, 0},
    [0x81] = {"NEWOBJ", sfu__pickle_op_call, 0},
    ['b'] = {"BUILD", sfu__pickle_op_build, 0},
    [0x80] = {"PROTO", op_proto, 0},
    [0x95] = {"FRAME", op_frame, 8},
};
