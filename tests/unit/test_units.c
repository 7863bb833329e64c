// SPDX-License-Identifier: GPL-2.0
/* Rates, sizes and times against what tc (iproute2 6.1) made of the same texts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef int (*parse_function)(const char *text, __u64 *value, struct error *error);

struct good {
	const char *text;
	__u64 value;
};

static void accept(parse_function parse, const struct good *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error error = { 0 };
		__u64 value = 0;

		if (parse(cases[i].text, &value, &error))
			fail_msg("\"%s\" refused: %s", cases[i].text, error.text);
		if (value != cases[i].value)
			fail_msg("\"%s\" gave %llu, not %llu", cases[i].text,
				 (unsigned long long)value, (unsigned long long)cases[i].value);
	}
}

static void refuse(parse_function parse, const char *const texts[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error error = { 0 };
		__u64 value = 77;

		if (!parse(texts[i], &value, &error))
			fail_msg("\"%s\" taken as %llu", texts[i], (unsigned long long)value);
		assert_int_equal(value, 77);
		assert_int_equal(error.code, EXIT_USAGE);
		assert_non_null(strstr(error.text, "write it like"));
		assert_null(strchr(error.text, '\n'));
	}
}

static void test_rates(void **state)
{
	/* tc shows bytes per second: 1kibit 128, 1mibit 131072, 1.5gbit 187500000, 1kbps 1000 ... */
	static const struct good cases[] = {
		{ "10mbit", 10000000 },
		{ "1kibit", 128 * 8 },
		{ "1mibit", 131072 * 8 },
		{ "10mibit", 1310720 * 8 },
		{ "1.5gbit", 187500000ull * 8 },
		{ "1kbps", 1000 * 8 },
		{ "1KiBps", 1024 * 8 },
		{ "1mbps", 1000000 * 8 },
		{ "1bps", 8 },
		{ "1tbit", 125000000000ull * 8 },
		{ "8000", 1000 * 8 },
		{ "8000bit", 8000 },
		{ "100Kbit", 100000 },
		{ "10M", 10000000 },
		{ "10m", 10000000 },
		{ "1G", 1000000000 },
		{ "0.1g", 100000000 },
		{ ".5mbit", 500000 },
		{ "0", 0 },
		{ "18446744073709551615", ~0ull },
	};

	(void)state;
	accept(units_parse_rate, cases, COUNT(cases));
}

static void test_bad_rates(void **state)
{
	static const char *const texts[] = {
		"", " ", "mbit", "-1mbit", "nan", "inf", "10 mbit", "10mbit ", "10mbits", "1e6",
		"0x10", "10mbit/s", "1.", ".", "1..5mbit", "+5mbit", "18446744073709551616",
		"18446744073709551615kbit", "99999999999999999999999999", "50%", "32kb",
		"0.1bit", "1,5mbit", "1.1234567890123456789mbit",
	};

	(void)state;
	refuse(units_parse_rate, texts, COUNT(texts));
}

static void test_sizes(void **state)
{
	static const struct good cases[] = {
		{ "32kb", 32768 },
		{ "32k", 32768 },
		{ "32K", 32768 },
		{ "1mb", 1048576 },
		{ "0.5mb", 524288 },
		{ "256kbit", 32768 },
		{ "1mbit", 131072 },
		{ "10gbit", 1342177280 },
		{ "1500b", 1500 },
		{ "1500", 1500 },
		{ "1gb", 1073741824 },
	};

	(void)state;
	accept(units_parse_size, cases, COUNT(cases));
}

static void test_bad_sizes(void **state)
{
	static const char *const texts[] = {
		"", "kb", "-1", "32kib", "32 kb", "nan", "1tb", "20000000000gb", "0.1", "ten",
	};

	(void)state;
	refuse(units_parse_size, texts, COUNT(texts));
}

static void test_times(void **state)
{
	static const struct good cases[] = {
		{ "400ms", 400000000 },
		{ "0.1s", 100000000 },
		{ "0.1", 100000000 },
		{ "20us", 20000 },
		{ "20usecs", 20000 },
		{ "5", 5000000000ull },
		{ "100ns", 100 },
		{ "2m", 120000000000ull },
		{ "2min", 120000000000ull },
		{ "1.5msec", 1500000 },
		{ "0.000000001", 1 },
		{ "0.0000000014", 1 },
		{ "0.0000000016", 2 },
		{ "0.123456789", 123456789 },
		{ "0", 0 },
	};

	(void)state;
	accept(units_parse_time, cases, COUNT(cases));
}

static void test_bad_times(void **state)
{
	static const char *const texts[] = {
		"", "ms", "-5", "-0", "NaN", "infinity", "1h", "0.1ns", "1 s", "18446744074s",
		"99999999999999999999", "1e3",
	};

	(void)state;
	refuse(units_parse_time, texts, COUNT(texts));
}

static void test_counts(void **state)
{
	static const struct good cases[] = {
		{ "0", 0 }, { "260", 260 }, { "007", 7 }, { "18446744073709551615", ~0ull },
	};
	static const char *const texts[] = {
		"", "-1", "1.0", "1.5", "1k", "0x1", " 1", "1 ", "18446744073709551616", "nan",
	};

	(void)state;
	accept(units_parse_count, cases, COUNT(cases));
	refuse(units_parse_count, texts, COUNT(texts));
}

/* Every decimal text of k/1000 parses to the exact integer that printf's long division would. */
static void test_exact(void **state)
{
	(void)state;
	for (unsigned int k = 1; k < 100000; k += 7) {
		char text[32];
		__u64 value;

		snprintf(text, sizeof(text), "%u.%03ums", k / 1000, k % 1000);
		assert_int_equal(units_parse_time(text, &value, NULL), 0);
		assert_int_equal(value, (__u64)k * 1000);
	}
}

static void test_texts(void **state)
{
	char text[UNITS_TEXT];

	(void)state;
	assert_string_equal(units_time_text(0, text), "0 ns");
	assert_string_equal(units_time_text(999, text), "999 ns");
	assert_string_equal(units_time_text(42100, text), "42.1 us");
	assert_string_equal(units_time_text(318e6, text), "318 ms");
	assert_string_equal(units_time_text(999.7e3, text), "1.00 ms");
	assert_string_equal(units_time_text(9.996e6, text), "10.0 ms");
	assert_string_equal(units_time_text(1.5, text), "1.50 ns");
	assert_string_equal(units_time_text(26.012e9, text), "26.0 s");
	assert_string_equal(units_time_text(3600e9, text), "3600 s");
	assert_string_equal(units_time_text(-42100, text), "-42.1 us");
	assert_string_equal(units_rate_text(9.57e6, text), "9.57 Mbit/s");
	assert_string_equal(units_rate_text(1e9, text), "1.00 Gbit/s");
	assert_string_equal(units_size_text(524288, text), "512 KB");
	assert_string_equal(units_size_text(1000 * 1024, text), "1000 KB");
	assert_string_equal(units_size_text(0, text), "0 B");
}

/* Nothing overruns the text, whatever the number. */
static void test_odd_texts(void **state)
{
	static const double values[] = { 1e300, -1e300, INFINITY, -INFINITY, NAN, 1e-300, 5e-324 };
	char text[UNITS_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		assert_in_range(strlen(units_time_text(values[i], text)), 3, UNITS_TEXT - 1);
		assert_in_range(strlen(units_rate_text(values[i], text)), 3, UNITS_TEXT - 1);
		assert_in_range(strlen(units_size_text(values[i], text)), 3, UNITS_TEXT - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_bad_rates),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_bad_sizes),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_bad_times),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_odd_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
