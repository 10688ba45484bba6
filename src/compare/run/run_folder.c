/* run_folder.c - the results folder during a run.
 *
 * A study needs its file until its result is in results.csv: a run that is killed continues from the file, or from the
 * result. Results are written about once per second, because many studies may end in one; so a file outlives its study
 * a little. Tables, plots and the page take longer: they are written when a table of the paper is complete, and every
 * ten minutes.
 */
#include "clock.h"
#include "file.h"
#include "run_int.h"

#include <string.h>
#include <unistd.h>

static const double save_every_s = 1.0, report_every_s = 600.0;
enum { SAVE_SHARE = 20 }; /* writing takes at most one part in so many of the time */

sfu_status sfu__run_make_folder(const sfu__running *run) {
    const sfu__run_options *options = run->options;
    sfu_status status = SFU_OK;
    char *path = sfu__path_join(options->folder, "studies");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__make_folders(options->folder)); /* first, because it has its own message */
    SFU_TRY(sfu__make_folders(path));
    SFU_TRY(sfu__manifest_write(options->folder, options->request, run->entries)); /* it identifies the folder */
done:
    sfu__free(path);
    return status == SFU_ERR_IO ? sfu__fail(status, "%s; give another folder: -o FOLDER", sfu_message()) : status;
}

/* ---- finished studies -------------------------------------------------------------------------------------------- */

static bool is_table_complete(const sfu__running *run, const char *table) {
    for (int i = 0; i < run->count; i++) {
        const char *other = run->jobs[i].table;
        if (!run->jobs[i].stored && other != NULL && strcmp(other, table) == 0) {
            return false;
        }
    }
    return true;
}

static sfu_status store_job(sfu__running *run, sfu__job *job) {
    sfu_status status = SFU_OK;
    sfu__entry *old = sfu__entries_find(run->entries, job->task);
    if (old != NULL) {
        *old = job->entry;
    } else {
        SFU_TRY(sfu__entries_add(run->entries, &job->entry));
    }
    if (job->keeps_curve) {
        SFU_TRY(sfu__curves_put(&run->curves, &job->curve));
    }
    SFU_TRY(sfu__details_put(&run->details, &job->details));
    SFU_TRY(sfu__run_share(run, &job->entry));
    job->stored = true;
    run->table_ended = run->table_ended || (job->table != NULL && is_table_complete(run, job->table));
    sfu__run_count_done(run, (int)(job->task - run->tasks->items), true);
done:
    return status;
}

sfu_status sfu__run_collect(sfu__running *run) {
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&run->lock);
    const int finished = run->shared != NULL ? run->published : run->finished; /* what is published is still whole */
    pthread_mutex_unlock(&run->lock);
    for (; run->collected < finished; run->collected++) {
        SFU_TRY(store_job(run, &run->jobs[run->finish_order[run->collected]]));
    }
done:
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Curves and details first: a study whose result is stored does not run again. */
static sfu_status write_tables(const sfu__running *run) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__curves_write(&run->curves, run->options->folder, run->tasks));
    SFU_TRY(sfu__details_write(&run->details, run->options->folder, run->tasks));
    SFU_TRY(sfu__entries_write(run->entries, run->options->folder));
done:
    return status;
}

static sfu_status remove_saved(sfu__running *run) {
    sfu_status status = SFU_OK;
    for (; run->saved < run->collected; run->saved++) {
        if (run->options->request->drop_studies) {
            SFU_TRY(sfu__run_remove_study(run, &run->jobs[run->finish_order[run->saved]]));
        }
    }
done:
    return status;
}

static sfu_status report(sfu__running *run) {
    sfu_status status = SFU_OK;
    const double now = sfu__now();
    const bool more = run->collected < run->count; /* the caller writes the last report */
    if (more && run->options->report != NULL && (run->table_ended || now - run->reported_at > report_every_s)) {
        SFU_TRY(run->options->report(run->options->folder));
        run->table_ended = false;
        run->reported_at = sfu__now();
    }
done:
    return status;
}

sfu_status sfu__run_save(sfu__running *run, bool now) {
    sfu_status status = SFU_OK;
    const double began = sfu__now(), pause = SAVE_SHARE * run->save_s;
    if (run->saved == run->collected ||
        (!now && began - run->saved_at < (pause > save_every_s ? pause : save_every_s))) {
        return SFU_OK;
    }
    SFU_TRY(write_tables(run));
    SFU_TRY(remove_saved(run));
    run->saved_at = sfu__now();
    run->save_s = run->saved_at - began;
    SFU_TRY(now ? SFU_OK : report(run));
done:
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* A call that was killed may have left files of studies whose results are stored. */
static sfu_status remove_left_over(const sfu__running *run) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < run->tasks->count; i++) {
        const sfu__task *task = &run->tasks->items[i];
        if (run->leaders[i] == i && sfu__entries_find(run->entries, task) != NULL) {
            sfu__job job = {.task = task, .has_namesake = sfu__run_dataset(run, task)->has_namesake};
            SFU_TRY(sfu__run_remove_study(run, &job));
        }
    }
    char *path = sfu__path_join(run->options->folder, "studies");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    (void)rmdir(path); /* it stays if other studies are in it */
    sfu__free(path);
done:
    return status;
}

sfu_status sfu__run_end(sfu__running *run) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__entries_sort(run->entries, run->tasks));
    SFU_TRY(write_tables(run));
    if (run->options->request->drop_studies) {
        SFU_TRY(remove_left_over(run));
    }
done:
    return status;
}
