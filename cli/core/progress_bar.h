/* progress_bar.h - progress of a long call: a bar on a terminal, a line every few seconds elsewhere; and interrupts.
 *
 * Short jobs show nothing. Between progress_start and progress_end an interrupt (SIGINT, SIGTERM or SIGHUP, unless
 * ignored when the program started) cancels the call that reports progress; a second SIGINT or SIGTERM ends the program
 * immediately.
 */
#ifndef SFU_PROGRESS_BAR_H
#define SFU_PROGRESS_BAR_H

#include "sfumato.h"

void progress_start(void);

/* An sfu_progress_fn; `user` is not used. */
bool progress_report(void *user, const sfu_progress *progress);

/* Sets the text shown before the rate, such as "loss 0.123"; progress_start clears it. */
void progress_detail(const char *text);

/* Sets the remaining time in seconds (NaN: unknown), to be shown until the next progress_start instead of an estimate
 * from the rate of the call. */
void progress_left(double seconds);

/* Prints a line of its own about a part that is done, with the rate and the remaining time; nothing in a short job. */
void progress_note(const char *text);

/* Until the next progress_start, shows progress as "840 of 2,000" instead of percent. */
void progress_counts(void);

/* Erases the bar, so that a line can be printed in its place. Thread-safe. */
void progress_clear(void);

/* From now on an interrupt writes this line ("sfumato: ...\n", not copied) at once, for a launcher may leave no time
 * for more; NULL ends that. Returns whether the line before was written. */
bool progress_tell_interrupt(const char *line);

/* Call before writing a file: until progress_end the first interrupt prints a message and does not cancel. Returns
 * false if an interrupt has arrived already: then do not start writing. */
bool progress_hold(void);

void progress_end(void);

/* The exit status of the program: 128 plus the signal number after an interrupt. */
int progress_exit_status(int status);

#endif
