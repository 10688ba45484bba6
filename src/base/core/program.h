/* program.h - another program, run to its end, without a shell. */
#ifndef SFU_PROGRAM_H
#define SFU_PROGRAM_H

#include "progress.h"

typedef struct sfu__program {
    bool found;     /* false: there is no such program */
    int exit_code;  /* 128 + the signal where one ended it */
    char said[200]; /* the last line of what it wrote that begins with "ERROR", else the last line; printable, quoted */
} sfu__program;

/* Runs argv[0] with the arguments up to NULL and no input. It is found through the entries of PATH that are absolute,
 * and gets neither the others nor Python's variables: the current folder has no say in what runs. The ticker is asked
 * while it runs; when that says cancel, the program and what it started are ended. Fails only where no program could be
 * run at all. */
SFU_CHECKED sfu_status sfu__program_run(sfu__program *program, const char *const *argv, sfu__ticker *ticker);

#endif
