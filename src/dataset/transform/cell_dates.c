/* cell_dates.c - parses dates; see cell_dates.h for the forms. */
#include "cell_dates.h"

#include <string.h>
#include <strings.h>

typedef struct scan {
    const char *p, *end;
} scan;

static bool take(scan *s, char c) {
    const bool found = s->p < s->end && *s->p == c;
    s->p += found;
    return found;
}

/* Reads `least` to `most` digits. */
static bool digits(scan *s, int least, int most, int *value) {
    int count = 0;
    for (*value = 0; count < most && s->p < s->end && *s->p >= '0' && *s->p <= '9'; count++) {
        *value = *value * 10 + (*s->p++ - '0');
    }
    return count >= least && !(s->p < s->end && *s->p >= '0' && *s->p <= '9');
}

/* "May", "may", "Sept", "September": three letters decide, and the others must continue the name. */
static bool month_name(scan *s, int *month) {
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    size_t size = 0;
    while (s->p + size < s->end &&
           ((s->p[size] >= 'a' && s->p[size] <= 'z') || (s->p[size] >= 'A' && s->p[size] <= 'Z'))) {
        size++;
    }
    for (*month = 1; size >= 3 && *month <= 12; ++*month) {
        const char *name = names[*month - 1];
        if (size <= strlen(name) && strncasecmp(s->p, name, size) == 0) {
            s->p += size;
            (void)take(s, '.');
            return true;
        }
    }
    return false;
}

/* ---- the calendar ----------------------------------------------------------------------------------------------- */

static bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static int month_days(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

static bool days_of(double *days, int year, int month, int day) {
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > month_days(year, month)) {
        return false;
    }
    const int before = year - 1;
    int count = before * 365 + before / 4 - before / 100 + before / 400 - 719162 + day - 1;
    for (int m = 1; m < month; m++) {
        count += month_days(year, m);
    }
    *days = count;
    return true;
}

/* ---- the forms -------------------------------------------------------------------------------------------------- */

static bool blanks_or(scan *s, char c) {
    bool any = take(s, c);
    while (take(s, ' ')) {
        any = true;
    }
    return any;
}

/* 2019-05-27, 2019/05/27, 2019-05 */
static bool year_first(scan s, scan *rest, double *days) {
    int year, month, day = 1;
    if (!digits(&s, 4, 4, &year)) {
        return false;
    }
    const char separator = s.p < s.end ? *s.p : '\0';
    if ((separator != '-' && separator != '/' && separator != '.') || !take(&s, separator) ||
        !digits(&s, 1, 2, &month)) {
        return false;
    }
    if (take(&s, separator) && !digits(&s, 1, 2, &day)) {
        return false;
    }
    *rest = s;
    return days_of(days, year, month, day);
}

/* 27.05.2019, 05/27/2019, 27-05-2019 */
static bool year_last(scan s, scan *rest, double *days, sfu__date_order order) {
    int first, second, year;
    if (!digits(&s, 1, 2, &first)) {
        return false;
    }
    const char separator = s.p < s.end ? *s.p : '\0';
    if ((separator != '-' && separator != '/' && separator != '.') || !take(&s, separator) ||
        !digits(&s, 1, 2, &second) || !take(&s, separator) || !digits(&s, 4, 4, &year)) {
        return false;
    }
    *rest = s;
    return order == SFU__DAY_FIRST ? days_of(days, year, second, first) : days_of(days, year, first, second);
}

/* 27 May 2019, 27-May-2019, May 27, 2019 */
static bool month_in_letters(scan s, scan *rest, double *days) {
    int year, month, day;
    const bool day_first = digits(&s, 1, 2, &day);
    if (day_first ? !(blanks_or(&s, '-') && month_name(&s, &month) && blanks_or(&s, '-'))
                  : !(month_name(&s, &month) && blanks_or(&s, ' ') && digits(&s, 1, 2, &day) && blanks_or(&s, ','))) {
        return false;
    }
    const bool read = digits(&s, 4, 4, &year);
    *rest = s;
    return read && days_of(days, year, month, day);
}

/* ---- the time of day -------------------------------------------------------------------------------------------- */

/* Z, +02:00, -0530: in minutes. */
static bool read_offset(scan *s, int *minutes) {
    int hours = 0, rest = 0;
    *minutes = 0;
    if (s->p == s->end || take(s, 'Z') || take(s, 'z')) {
        return true;
    }
    const bool negative = *s->p == '-';
    if ((!negative && *s->p != '+') || s->end - s->p < 3) {
        return false;
    }
    for (s->p++; s->p < s->end && *s->p != ':' && hours < 1000; s->p++) {
        if (*s->p < '0' || *s->p > '9') {
            return false;
        }
        hours = hours * 10 + (*s->p - '0');
    }
    if (hours >= 100) { /* -0530 */
        rest = hours % 100;
        hours /= 100;
    } else if (take(s, ':') && !digits(s, 2, 2, &rest)) {
        return false;
    }
    *minutes = (negative ? -1 : 1) * (hours * 60 + rest);
    return hours <= 14 && rest < 60;
}

static bool read_time(scan *s, double *days) {
    int hour, minute, second = 0, offset;
    double fraction = 0;
    if (s->p == s->end) {
        return true;
    }
    if (!take(s, 'T') && !take(s, ' ')) {
        return false;
    }
    if (!digits(s, 1, 2, &hour) || !take(s, ':') || !digits(s, 2, 2, &minute) ||
        (take(s, ':') && !digits(s, 2, 2, &second))) {
        return false;
    }
    if (take(s, '.') || take(s, ',')) {
        double scale = 0.1;
        while (s->p < s->end && *s->p >= '0' && *s->p <= '9') {
            fraction += scale * (*s->p++ - '0');
            scale /= 10;
        }
    }
    (void)take(s, ' ');
    if (!read_offset(s, &offset) || hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    *days += ((hour * 60 + minute - offset) * 60 + second + fraction) / 86400;
    return true;
}

bool sfu__cell_date(double *days, const char *bytes, size_t size, sfu__date_order order) {
    enum { SHORTEST = 6, LONGEST = 48 };
    const scan s = {bytes, bytes + size};
    scan rest = s;
    if (size < SHORTEST || size > LONGEST) {
        return false;
    }
    return (year_first(s, &rest, days) || year_last(s, &rest, days, order) || month_in_letters(s, &rest, days)) &&
           read_time(&rest, days) && rest.p == rest.end;
}
