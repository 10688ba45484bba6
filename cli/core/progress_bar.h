/* progress_bar.h - how far a long call has got: a bar on a terminal, a line now and then elsewhere; and Ctrl-C.
 *
 * Short jobs show nothing. Between progress_start and progress_end an interrupt (SIGINT, SIGTERM, SIGHUP, unless they
 * were ignored when the program started) cancels the call that reports; a second SIGINT or SIGTERM ends the program at
 * once.
 */
#ifndef SFU_PROGRESS_BAR_H
#define SFU_PROGRESS_BAR_H

#include "sfumato.h"

void progress_start(void);

/* An sfu_progress_fn; `user` is not used. */
bool progress_report(void *user, const sfu_progress *progress);

/* What is shown before the rate from now on, "loss 0.123": empty at progress_start. */
void progress_detail(const char *text);

/* The time left in seconds, from one who knows better than what the rate so far would give; NaN: not known yet. Shown
 * from now on, until progress_start, instead of rate and time left. */
void progress_left(double seconds);

/* From now on, until progress_start, how far it is is said as "840 of 2,000" and not in percent. */
void progress_counts(void);

/* Takes the bar away, for a line that is to stand in its place. Any thread may call it. */
void progress_clear(void);

/* From here on, until progress_end, a file is being written, and the first interrupt only says so. Returns false where
 * one came before: then it is not to be begun. */
bool progress_hold(void);

void progress_end(void);

/* The exit status of the program: of one that was interrupted 128 and the number of the signal. */
int progress_exit_status(int status);

#endif
