/* store_cost FOLDER [TRIALS]: what storing a trial costs, beside the bare syncs of the disk that the folder is on.
 *
 * A study of a named number of trials is stored as one worker does it: a commit for every sixteen trials that are
 * asked, and one for every result, with the next claim in it; after each, the list of trials is brought up to date. In
 * turns with that, a hundred trials and a hundred trials' worth of bare commits: a block appended to a file, and fsync.
 * Both are timed in one run, for a disk has moods.
 */
#include "clock.h"
#include "store_case.h"
#include "text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WAVE = 16, STRETCH = 160, LAST = 320 };

static void must(sfu_status status) {
    if (status != SFU_OK) {
        fprintf(stderr, "%s\n", sfu_message());
        exit(1);
    }
}

static double cpu_s(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Runs trials [first, first + count); the trial that was claimed last is finished with the next claim. */
static void store_trials(sfu__store *store, sfu__trials *trials, int32_t first, int32_t count) {
    static int32_t claimed = -1;
    for (int32_t i = first; i < first + count; i++) {
        if (i % WAVE == 0) {
            must(case_ask(store, i, WAVE, NULL));
        }
        sfu__finished finished = {claimed, case_outcome(claimed), false};
        sfu__transaction turn = {.finished = &finished, .finished_count = claimed >= 0, .want = 1, .claimed = &claimed};
        must(sfu__store_transaction(store, &turn));
        must(sfu__store_read(store, trials));
        must(sfu__store_beat(store));
    }
}

static void bare_commits(int file, int count, bool grow) {
    static char block[4096];
    for (int i = 0; i < count; i++) {
        block[0] = (char)i;
        if ((grow ? write(file, block, sizeof block) : pwrite(file, block, sizeof block, (off_t)(i % 64) * 4096)) !=
                (ssize_t)sizeof block ||
            fsync(file) != 0) {
            perror("bare commit");
            exit(1);
        }
    }
}

static int open_bare(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: store_cost FOLDER [TRIALS]\n");
        return 2;
    }
    int64_t wanted = 2080;
    if (count > 2 && (!sfu__parse_int64_string(&wanted, words[2]) || wanted < LAST || wanted > 1000000)) {
        fprintf(stderr, "store_cost: TRIALS is a number from %d to 1000000\n", LAST);
        return 2;
    }
    const int32_t total = (int32_t)(wanted / STRETCH * STRETCH);
    char place[4096];
    snprintf(place, sizeof place, "%s/study.db", words[1]);
    const sfu__store_options options = case_options(place);
    const int growing = open_bare(words[1], "growing"), kept = open_bare(words[1], "kept");
    bare_commits(kept, 64, false);
    sfu__store *store = NULL;
    sfu__trials trials = {.parameters = CASE_PARAMETERS};
    must(sfu__store_open(&store, &options));
    double stored_s = 0, growing_s = 0, kept_s = 0, last_cpu_s = 0;
    for (int32_t i = 0; i < total; i += STRETCH) {
        const double cpu = cpu_s(), start = sfu__now();
        store_trials(store, &trials, i, STRETCH);
        const double stored = sfu__now();
        last_cpu_s += i >= total - LAST ? cpu_s() - cpu : 0;
        bare_commits(growing, STRETCH + STRETCH / WAVE, true);
        const double grown = sfu__now();
        bare_commits(kept, STRETCH + STRETCH / WAVE, false);
        stored_s += stored - start;
        growing_s += grown - stored;
        kept_s += sfu__now() - grown;
    }
    sfu__store_close(store);
    sfu__trials_clear(&trials);
    const double start = sfu__now(), cpu = cpu_s();
    must(sfu__store_open(&store, &options));
    must(sfu__store_read(store, &trials));
    const double read_s = sfu__now() - start, read_cpu_s = cpu_s() - cpu;
    printf("trials %d, commits %d\n", (int)total, (int)(total + total / WAVE));
    printf("stored          %8.3f ms per trial\n", 1e3 * stored_s / total);
    printf("bare, growing   %8.3f ms per trial, ratio %.2f\n", 1e3 * growing_s / total, stored_s / growing_s);
    printf("bare, in place  %8.3f ms per trial, ratio %.2f\n", 1e3 * kept_s / total, stored_s / kept_s);
    printf("CPU             %8.3f ms per trial, of the last %d\n", 1e3 * last_cpu_s / LAST, LAST);
    printf("opened and read %8.3f ms, CPU %.3f ms, %d trials\n", 1e3 * read_s, 1e3 * read_cpu_s, (int)trials.count);
    sfu__trials_clear(&trials);
    sfu__store_close(store);
    return 0;
}
