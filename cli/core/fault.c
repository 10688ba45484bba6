#include "fault.h"

#include "output.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Only async-signal-safe calls. */
static void put(const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t written = write(STDERR_FILENO, text, left);
        if (written <= 0) {
            return;
        }
        text += written;
        left -= (size_t)written;
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    const char *path = sfu_mapped_file(info->si_addr);
    if (path == NULL) { /* not a file of ours: return, fault again, and die by the default action */
        signal(number, SIG_DFL);
        return;
    }
    put("sfumato: ");
    put(path);
    put(": the file was truncated or its disk failed while it was in use; the command was aborted\n");
    _exit(FAILED);
}

void fault_guard(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_bus_error;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
