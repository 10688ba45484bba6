/* output.h - what the program says: results on stdout, everything else on stderr behind "sfumato: ". */
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
enum { DONE = 0, FAILED = 1, WRONG_USE = 2, INTERRUPTED = 130 };

/* At the start of the program: the three standard descriptors are there, and a closed pipe or a file at its size limit
 * is an error like another. */
void output_start(void);

/* At the end: `status`, or FAILED after saying so where stdout could not be written. */
int output_finish(int status);

/* Whether a path is another name of stdout: /dev/stdout and its like. */
bool is_stdout(const char *path);

/* An sfu_write_fn for stdout: the bytes as they are, but on a terminal each line escaped. `user` is not used. */
bool put_bytes(void *user, const void *bytes, size_t size);

/* A line on stderr; nothing with --quiet. */
void say(const char *format, ...) CLI_PRINTF(1, 2);

/* A line on stderr; returns FAILED. */
int fail(const char *format, ...) CLI_PRINTF(1, 2);

/* The same with where the help is; returns WRONG_USE. */
int misuse(const cli_command *command, const char *format, ...) CLI_PRINTF(2, 3);

/* What the library had to say of a call that failed; returns the exit status that goes with it. */
int fail_status(sfu_status status);

/* Passes what the library logs on to say(). */
void output_log(void *user, sfu_log_level level, const char *line);

/* Text in quotes, cut where it is long, with nothing in it that a terminal would obey. Lives until the eighth call
 * after; so does what the others return. */
const char *quote(const char *text);

/* A text as it may stand in a line for people: escaped where a terminal would obey it, else the text itself. */
const char *shown(const char *text);

/* 1234567 as "1,234,567". */
const char *grouped(int64_t number);

/* "1 edge", "2,708 edges": a plural ends in s, or es after another s. */
const char *counted(int64_t number, const char *what);

/* 0.8099 as "81.0 %"; "none" where it is no number. */
const char *percent(double fraction);

/* 12345678 and "FLOP" as "12.3 MFLOP", 0.000083 and "s" as "83 us": three digits and a prefix. "-" where it is no
 * number. */
const char *scaled(double number, const char *unit);

/* The fewest digits that are read back as the same number: 0.1, 1e-05. */
const char *exact(double number);

/* A text with its numbers rounded to so many digits: "lr=0.010785747107198767 hidden=64" as "lr=0.0107857 hidden=64".
 * For people, who find the exact ones in the command to be copied, in JSON and in files. Whole numbers stay as they
 * are, and so do those with fewer digits and texts of a thousand letters. */
enum { DIGITS_FOR_PEOPLE = 6 };
const char *rounded(const char *text, int digits);

/* A word of a command line that a shell reads back as `text`, on one line; and on the way to a file, however long it
 * is. */
const char *shell_word(const char *text);
void put_shell_word(FILE *file, const char *text);

/* A text of the user's or of a file as it may be shown to a person: what a terminal would obey becomes \xHH
 * (sfu_escape), and what it could not show '?'. As a new text, to be freed, NULL where there is no memory; in place,
 * cut to `room` bytes; and on the way out. */
char *cleaned(const char *text);
void clean(char *text, size_t room);
void put_clean(FILE *file, const char *text);

/* `text` broken into lines of at most `width` columns, each after `indent` blanks; the first one starts at column
 * `column` already. Ends with a newline. */
void put_wrapped(FILE *file, const char *text, int column, int indent, int width);

#endif
