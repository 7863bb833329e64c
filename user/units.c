// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "units.h"

/* Digits behind the point that count; 10^18 still fits into 64 bits. */
#define FRACTION_DIGITS 18

struct unit {
	const char *name;
	__u64 scale;
};

/* A decimal number as it stands in the text: whole + fraction / 10^digits. */
struct decimal {
	__u64 whole;
	__u64 fraction;
	__u64 power;		/* 10^digits */
	const char *end;	/* what follows the number */
};

/* tc's rates (iproute2 lib/utils.c, get_rate64), and iperf3's (units.c, decimal for rates). */
static const struct unit rate_units[] = {
	{ "", 1 },
	{ "bit", 1 },
	{ "kbit", 1000 },
	{ "mbit", 1000000 },
	{ "gbit", 1000000000 },
	{ "tbit", 1000000000000 },
	{ "kibit", 1ull << 10 },
	{ "mibit", 1ull << 20 },
	{ "gibit", 1ull << 30 },
	{ "tibit", 1ull << 40 },
	{ "bps", 8 },
	{ "kbps", 8000 },
	{ "mbps", 8000000 },
	{ "gbps", 8000000000 },
	{ "tbps", 8000000000000 },
	{ "kibps", 8ull << 10 },
	{ "mibps", 8ull << 20 },
	{ "gibps", 8ull << 30 },
	{ "tibps", 8ull << 40 },
	{ "k", 1000 },
	{ "m", 1000000 },
	{ "g", 1000000000 },
	{ "t", 1000000000000 },
};

/* tc's sizes (iproute2 lib/utils.c, get_size64): powers of 1024, for its bits too. */
static const struct unit size_units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1ull << 10 },
	{ "kb", 1ull << 10 },
	{ "m", 1ull << 20 },
	{ "mb", 1ull << 20 },
	{ "g", 1ull << 30 },
	{ "gb", 1ull << 30 },
	{ "kbit", (1ull << 10) / 8 },
	{ "mbit", (1ull << 20) / 8 },
	{ "gbit", (1ull << 30) / 8 },
};

static const struct unit time_units[] = {
	{ "", 1000000000 },
	{ "s", 1000000000 },
	{ "sec", 1000000000 },
	{ "secs", 1000000000 },
	{ "ms", 1000000 },
	{ "msec", 1000000 },
	{ "msecs", 1000000 },
	{ "us", 1000 },
	{ "usec", 1000 },
	{ "usecs", 1000 },
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "nsecs", 1 },
	{ "m", 60000000000 },
	{ "min", 60000000000 },
};

static const struct unit count_units[] = {
	{ "", 1 },
};

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns NULL, or what is wrong. */
static const char *read_fraction(const char *p, struct decimal *decimal)
{
	int digits = 0;

	for (; is_digit(*p); p++) {
		if (digits == FRACTION_DIGITS)
			return "has more than 18 digits behind the point";
		decimal->fraction = decimal->fraction * 10 + (*p - '0');
		decimal->power *= 10;
		digits++;
	}
	decimal->end = p;
	return digits ? NULL : "has no digit behind the point";
}

static const char *read_decimal(const char *text, struct decimal *decimal)
{
	const char *p = text;

	*decimal = (struct decimal){ .power = 1 };
	if (*p == '-')
		return "is negative";
	if (*p == '.')
		return read_fraction(p + 1, decimal);
	if (!is_digit(*p))
		return *p ? "does not begin with a number" : "is empty";
	for (; is_digit(*p); p++) {
		if (__builtin_mul_overflow(decimal->whole, 10, &decimal->whole) ||
		    __builtin_add_overflow(decimal->whole, (__u64)(*p - '0'), &decimal->whole))
			return "is too large";
	}
	decimal->end = p;
	return *p == '.' ? read_fraction(p + 1, decimal) : NULL;
}

/*
 * whole * scale + fraction * scale / power, rounded to the nearest. What is not
 * 0 must not become 0 on the way.
 */
static const char *scale_decimal(const struct decimal *decimal, __u64 scale, __u64 *value)
{
	unsigned __int128 parts, sum;

	parts = (unsigned __int128)decimal->fraction * scale + decimal->power / 2;
	sum = (unsigned __int128)decimal->whole * scale + parts / decimal->power;
	if (sum > ~0ull)
		return "is too large";
	if (!sum && (decimal->whole || decimal->fraction))
		return "is smaller than the smallest unit";
	*value = sum;
	return NULL;
}

static const char *parse(const char *text, const struct unit *units, size_t count, __u64 *value)
{
	struct decimal decimal;
	const char *wrong = read_decimal(text, &decimal);

	if (wrong)
		return wrong;
	for (size_t i = 0; i < count; i++) {
		if (!strcasecmp(decimal.end, units[i].name))
			return scale_decimal(&decimal, units[i].scale, value);
	}
	return "has an unknown unit";
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int units_parse_rate(const char *text, __u64 *bit_per_s, struct error *error)
{
	const char *wrong = parse(text, rate_units, COUNT(rate_units), bit_per_s);

	if (!wrong)
		return 0;
	return error_set(error, EXIT_USAGE,
			 "rate \"%s\" %s; write it like 10mbit, 1.5gbit, 800kbit or 125kbps (bytes per second)",
			 text, wrong);
}

int units_parse_size(const char *text, __u64 *bytes, struct error *error)
{
	const char *wrong = parse(text, size_units, COUNT(size_units), bytes);

	if (!wrong)
		return 0;
	return error_set(error, EXIT_USAGE,
			 "size \"%s\" %s; write it like 32kb, 1mb or 1500 (bytes)", text, wrong);
}

int units_parse_time(const char *text, __u64 *ns, struct error *error)
{
	const char *wrong = parse(text, time_units, COUNT(time_units), ns);

	if (!wrong)
		return 0;
	return error_set(error, EXIT_USAGE,
			 "time \"%s\" %s; write it like 400ms, 0.1s, 20us or 5 (seconds)", text, wrong);
}

int units_parse_count(const char *text, __u64 *value, struct error *error)
{
	const char *wrong;

	if (strchr(text, '.'))
		wrong = "is not a whole number";
	else
		wrong = parse(text, count_units, COUNT(count_units), value);
	if (!wrong)
		return 0;
	return error_set(error, EXIT_USAGE, "number \"%s\" %s; write it like 20", text, wrong);
}

/*
 * The value in the largest unit that leaves it at 1 or more, with three
 * significant digits. What would round up to base is 1.00 of the next unit.
 */
static const char *three_digits(double value, double base, const char *const names[], size_t count,
				char text[UNITS_TEXT])
{
	double size = value < 0 ? -value : value;
	size_t unit = 0;
	int digits;

	while (unit + 1 < count && size >= base - 0.5) {
		size /= base;
		unit++;
	}
	if (size >= 99.95 || (!unit && size < 100 && size == (int)size))
		digits = 0;
	else
		digits = size >= 9.995 ? 1 : 2;
	if (size < 1e6)
		snprintf(text, UNITS_TEXT, "%s%.*f %s", value < 0 ? "-" : "", digits, size,
			 names[unit]);
	else
		snprintf(text, UNITS_TEXT, "%.3g %s", value, names[unit]);
	return text;
}

const char *units_time_text(double ns, char text[UNITS_TEXT])
{
	static const char *const names[] = { "ns", "us", "ms", "s" };

	return three_digits(ns, 1000, names, COUNT(names), text);
}

const char *units_rate_text(double bit_per_s, char text[UNITS_TEXT])
{
	static const char *const names[] = { "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s" };

	return three_digits(bit_per_s, 1000, names, COUNT(names), text);
}

const char *units_size_text(double bytes, char text[UNITS_TEXT])
{
	static const char *const names[] = { "B", "KB", "MB", "GB", "TB" };

	return three_digits(bytes, 1024, names, COUNT(names), text);
}
