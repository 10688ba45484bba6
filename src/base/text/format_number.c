/* format_number.c - formats numbers for display. */
#include "format_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* At most six decimals. */
static const char *write_fixed(char buffer[SFU__FIXED_MAX], double number, int decimals, bool sign) {
    int64_t scale = 1, below;
    char digits[8] = "";
    for (int i = 0; i < decimals; i++) {
        scale *= 10;
    }
    if (!(fabs(number) < 1e12)) {
        snprintf(buffer, SFU__FIXED_MAX, "-");
        return buffer;
    }
    const int64_t units = (int64_t)floor(fabs(number) * (double)scale + 0.5);
    const char *before = units == 0 ? "" : number < 0 ? "-" : sign ? "+" : "";
    below = units % scale;
    for (int i = decimals; i > 0; i--, below /= 10) {
        digits[i] = (char)('0' + below % 10);
        digits[0] = '.';
    }
    snprintf(buffer, SFU__FIXED_MAX, "%s%" PRId64 "%s", before, units / scale, digits);
    return buffer;
}

const char *sfu__fixed(char buffer[SFU__FIXED_MAX], double number, int decimals) {
    return write_fixed(buffer, number, decimals, false);
}

const char *sfu__percent(char buffer[SFU__FIXED_MAX], double share) {
    return write_fixed(buffer, 100 * share, 1, false);
}

const char *sfu__percent_signed(char buffer[SFU__FIXED_MAX], double share) {
    return write_fixed(buffer, 100 * share, 1, true);
}

const char *sfu__grouped(char text[SFU__GROUPED_MAX], int64_t number) {
    char digits[24];
    const int size = snprintf(digits, sizeof digits, "%" PRIu64, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    char *to = text;
    if (number < 0) {
        *to++ = '-';
    }
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

const char *sfu__size_text(char text[SFU__SIZE_MAX], double bytes) {
    static const char units[] = "KMGT";
    int unit = -1;
    for (; bytes >= 1000 && unit < 3; unit++) {
        bytes /= 1024;
    }
    char number[SFU__FIXED_MAX];
    const int decimals = unit < 0 || bytes >= 100 || bytes == floor(bytes) ? 0 : bytes >= 10 ? 1 : 2;
    const double step = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    const char end[2] = {unit < 0 ? '\0' : units[unit], '\0'};
    snprintf(text, SFU__SIZE_MAX, "%.20s%s", sfu__fixed(number, ceil(bytes * step) / step, decimals), end);
    return text;
}
