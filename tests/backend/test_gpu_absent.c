/* Machines without a usable CUDA driver: none, a file that is not a library, and one that is too old. Each needs its
 * own process, which this program starts with another $LD_LIBRARY_PATH: the dynamic linker reads it once. */
#include "support.h"

#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: the message of opening a device. */
static int print_message_of_open(void) {
    sfu__gpu *gpu;
    const bool present = sfu__gpu_present();
    const sfu_status status = sfu__gpu_open(&gpu, 0);
    printf("%d %d %s\n", present, status, status == SFU_OK ? "" : sfu_message());
    sfu__gpu_close(gpu);
    return 0;
}

/* Its output, with libcuda.so.1 searched in `folder` first. */
static void message_with(char line[2048], const char *folder) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        setenv("LD_LIBRARY_PATH", folder, 1);
        dup2(ends[1], 1);
        close(ends[0]);
        execl("/proc/self/exe", "test_gpu_absent", "child", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(ends[0], line + used, 2047 - used)) > 0) {
        used += (size_t)got;
    }
    line[used] = '\0';
    close(ends[0]);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

static void assert_refused(const char *folder, const char *first, const char *second) {
    char line[2048], start[16];
    message_with(line, folder);
    snprintf(start, sizeof start, "0 %d ", SFU_ERR_UNSUPPORTED);
    if (strncmp(line, start, strlen(start)) != 0 || strstr(line, first) == NULL || strstr(line, second) == NULL) {
        fail_msg("expected \"%s\" and \"%s\", found %s", first, second, line);
    }
}

static void without_cuda(void **state) {
    (void)state;
    if (SFU_HAVE_CUDA != 0) {
        skip();
    }
    assert_refused(".", "training on NVIDIA GPUs is not part of this build", "or use --device cpu");
}

static void no_driver(void **state) {
    (void)state;
    char line[2048];
    if (SFU_HAVE_CUDA == 0) {
        skip();
    }
    message_with(line, ".");
    if (strncmp(line, "1 ", 2) == 0) {
        print_message("skipped: this machine has a CUDA driver\n");
        skip();
    }
    if (strstr(line, "CUDA_ERROR") == NULL) {
        assert_refused(".", "no NVIDIA driver: libcuda.so.1 was not found", "install the driver, or use --device cpu");
    }
}

static void no_library(void **state) {
    (void)state;
    char folder[4096];
    if (SFU_HAVE_CUDA == 0) {
        skip();
    }
    snprintf(folder, sizeof folder, "%s", test_text_file("libcuda.so.1", "not a library\n"));
    *strrchr(folder, '/') = '\0';
    assert_refused(folder, "no NVIDIA driver: libcuda.so.1", "or use --device cpu");
}

static void old_library(void **state) {
    (void)state;
    if (SFU_HAVE_CUDA == 0) {
        skip();
    }
    assert_refused(OLD_DRIVER_FOLDER, "the NVIDIA driver is too old: libcuda.so.1 has no function cuDriverGetVersion",
                   "update it to one for CUDA 12.0 or later, or use --device cpu");
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "child") == 0) {
        return print_message_of_open();
    }
    const char *kind = getenv("BUILD_KIND");
    if (kind != NULL && strcmp(kind, "cross") == 0) {
        puts("skipped: the emulator of another architecture does not start programs of it");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_cuda), cmocka_unit_test(no_driver),
                                       cmocka_unit_test(no_library), cmocka_unit_test(old_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
