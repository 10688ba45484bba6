/* output.h - output of the program: results on stdout, messages on stderr after "sfumato: ". */
#ifndef SFU_OUTPUT_H
#define SFU_OUTPUT_H

#include "command.h"

#include <stdio.h>

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

/* Exit statuses. */
enum { DONE = 0, FAILED = 1, USAGE_ERROR = 2, INTERRUPTED = 130 };

/* Call at program start: opens missing standard descriptors, and turns SIGPIPE and SIGXFSZ into write errors. */
void output_start(void);

/* Call at the end: returns `status`, or FAILED after an error message if stdout could not be written. */
int output_finish(int status);

/* Whether a path is a name of stdout, such as /dev/stdout. */
bool is_stdout(const char *path);

/* An sfu_write_fn for stdout: raw bytes, or escaped lines on a terminal. `user` is not used. */
bool put_bytes(void *user, const void *bytes, size_t size);

/* Prints a note on stderr; nothing with --quiet. */
void print_note(const char *format, ...) CLI_PRINTF(1, 2);

/* Prints an error on stderr; returns FAILED. */
int fail(const char *format, ...) CLI_PRINTF(1, 2);

/* The same with a pointer to the help; returns USAGE_ERROR. */
int usage_error(const cli_command *command, const char *format, ...) CLI_PRINTF(2, 3);

/* Prints what an interrupt leaves, once for all workers of a launcher; returns INTERRUPTED. */
int fail_interrupted(const char *format, ...) CLI_PRINTF(1, 2);

/* Prints the library's message for a failed call; returns the matching exit status. */
int fail_status(sfu_status status);

/* Prints notes and warnings of the library; nothing with --quiet. */
void output_log(void *user, sfu_log_level level, const char *line);

/* Prints a heading and a newline; in bold on a terminal. */
void put_heading(FILE *file, const char *format, ...) CLI_PRINTF(2, 3);

/* Text in quotes, truncated if long, with control characters escaped. The result is valid for the next seven calls of
 * the functions below that return a string. */
const char *quote(const char *text);

/* The text with control characters escaped. */
const char *printable(const char *text);

/* 1234567 as "1,234,567". */
const char *grouped(int64_t number);

/* "1 edge", "2,708 edges": the plural ends in s, or es after an s. */
const char *counted(int64_t number, const char *what);

/* 0.8099 as "81.0 %"; "none" if it is not finite. */
const char *percent(double fraction);

/* 12345678 and "FLOP" as "12.3 MFLOP", 0.000083 and "s" as "83 us": three digits and a prefix. "-" if it is not
 * finite. */
const char *scaled(double number, const char *unit);

/* The shortest decimal that round-trips: 0.1, 1e-05. */
const char *exact(double number);

/* A text with its numbers rounded to `digits` significant digits: "lr=0.010785747107198767 hidden=64" becomes
 * "lr=0.0107857 hidden=64". Printed commands, JSON and files have the exact numbers. Integers, shorter numbers and
 * texts of 1024 bytes or more stay unchanged. */
enum { DIGITS_SHOWN = 6 };
const char *rounded(const char *text, int digits);

/* `text` quoted as one shell word on one line; put_shell_word has no limit on its length. */
const char *shell_word(const char *text);
void put_shell_word(FILE *file, const char *text);

/* Text from the user or from a file, safe to print: control characters become \xHH (sfu_escape), characters that the
 * locale cannot show become '?'. cleaned returns a new string (free it; NULL: out of memory), clean works in place
 * within `capacity` bytes, put_clean prints. */
char *cleaned(const char *text);
void clean(char *text, size_t capacity);
void put_clean(FILE *file, const char *text);

/* Prints `text` wrapped at `width` columns, indented by `indent` blanks; the cursor is at column `column`. Ends with a
 * newline. */
void put_wrapped(FILE *file, const char *text, int column, int indent, int width);

#endif
