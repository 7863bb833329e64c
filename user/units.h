/* SPDX-License-Identifier: GPL-2.0 */
/* Rates, sizes and times, as tc and iperf3 write them, and back as a person reads them. */
#ifndef SOJOURN_UNITS_H
#define SOJOURN_UNITS_H

#include <linux/types.h>
#include <stddef.h>

#include "error.h"

/*
 * Each takes the whole text or fails with EXIT_USAGE and a line that says what
 * is wrong and gives an example; the line names no key, the caller does.
 *
 * Rates: "10mbit", "1.5gbit", "100kbit", "8000", "1mbps" (bytes per second, as
 * tc has it), "10M" and "10m" (iperf3: decimal bit/s), IEC forms "10mibit".
 * Sizes: "32kb" and "32k" are 32 * 1024, as in tc; "1mb", "1500", "256kbit"
 * (bits). Times: "400ms", "0.1s", "20us", "5" (seconds), "100ns", "2m"/"2min".
 */
int units_parse_rate(const char *text, __u64 *bit_per_s, struct error *error);
int units_parse_size(const char *text, __u64 *bytes, struct error *error);
int units_parse_time(const char *text, __u64 *ns, struct error *error);
int units_parse_count(const char *text, __u64 *value, struct error *error);

/* Three significant digits: "318 ms", "42.1 us", "0 ns"; "9.57 Mbit/s"; "512 KB" (1024). Returns text. */
#define UNITS_TEXT 32
const char *units_time_text(double ns, char text[UNITS_TEXT]);
const char *units_rate_text(double bit_per_s, char text[UNITS_TEXT]);
const char *units_size_text(double bytes, char text[UNITS_TEXT]);

#endif
