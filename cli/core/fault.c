#include "fault.h"

#include "output.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Nothing but calls that are allowed in a signal handler. */
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
    if (path == NULL) { /* not ours: what was interrupted is tried again, and ends the program as it always would */
        signal(number, SIG_DFL);
        return;
    }
    put("sfumato: ");
    put(path);
    put(": it was cut short, or its disk failed, while it was in use; what was being done is not finished\n");
    _exit(FAILED);
}

void fault_guard(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_bus_error;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
