/* format_number.h - formats numbers for display, independent of the locale. */
#ifndef SFU_FORMAT_NUMBER_H
#define SFU_FORMAT_NUMBER_H

#include <stdint.h>

/* A number with up to 6 decimals; "-" if it is not finite or too large. Returns `buffer`. */
enum { SFU__FIXED_MAX = 32 };
const char *sfu__fixed(char buffer[SFU__FIXED_MAX], double number, int decimals);

/* A fraction as a percentage with one decimal; optionally with a sign: "+0.3". */
const char *sfu__percent(char buffer[SFU__FIXED_MAX], double share);
const char *sfu__percent_signed(char buffer[SFU__FIXED_MAX], double share);

/* 1234567 as "1,234,567". Returns `text`. */
enum { SFU__GROUPED_MAX = 32 };
const char *sfu__grouped(char text[SFU__GROUPED_MAX], int64_t number);

/* A number of bytes as the command line takes it, rounded up to three digits: 512M, 3.21G. Returns `text`. */
enum { SFU__SIZE_MAX = 32 };
const char *sfu__size_text(char text[SFU__SIZE_MAX], double bytes);

#endif
