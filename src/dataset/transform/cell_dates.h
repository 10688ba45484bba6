/* cell_dates.h - dates as numbers of days since 1970-01-01.
 *
 *   2019-05-27, 2019/05/27, 2019-05       year first; the month alone is its first day
 *   27.05.2019, 27/05/2019, 05/27/2019    the order of the last two is a property of the column
 *   27 May 2019, May 27, 2019, 27-May-2019
 *
 * A time of day may follow, after a blank or T: 13:05, 13:05:59, 13:05:59.5, with Z or an offset such as +02:00.
 */
#ifndef SFU_CELL_DATES_H
#define SFU_CELL_DATES_H

#include "status.h"

/* The order of two numbers before a year. */
typedef enum sfu__date_order { SFU__DAY_FIRST, SFU__MONTH_FIRST } sfu__date_order;

/* Parses the whole text. */
bool sfu__cell_date(double *days, const char *bytes, size_t size, sfu__date_order order);

#endif
