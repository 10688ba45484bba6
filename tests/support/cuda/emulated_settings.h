/* emulated_settings.h - how the emulated driver is to behave: $SFUMATO_EMULATED_DRIVER, described in
 * emulated_driver.h. */
#ifndef SFU_EMULATED_SETTINGS_H
#define SFU_EMULATED_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum { EMULATED_FAILURES = 4 };

typedef struct emulated_failure {
    char function[64];
    unsigned code;
    long nth, calls; /* nth 0: every call */
} emulated_failure;

typedef struct emulated_settings {
    int devices, driver, capability;
    size_t memory;
    bool report;
    emulated_failure failures[EMULATED_FAILURES];
    int failure_count;
} emulated_settings;

/* The current settings; the caller holds the driver's lock. */
emulated_settings *emulated_current(void);

/* Ends the process with one line. */
_Noreturn void emulated_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
