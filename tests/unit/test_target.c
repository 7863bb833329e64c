// SPDX-License-Identifier: GPL-2.0
/* Hosts and ports, without asking a name server: addresses, and what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "target.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_addresses(void **state)
{
	static const struct {
		const char *text, *address;
		bool ipv6;
		__u16 port;
	} cases[] = {
		{ "192.0.2.1", "192.0.2.1", false, 0 },
		{ "192.0.2.1:5202", "192.0.2.1", false, 5202 },
		{ "2001:db8::1", "2001:db8::1", true, 0 },
		{ "[2001:db8::1]", "2001:db8::1", true, 0 },
		{ "[2001:db8::1]:65535", "2001:db8::1", true, 65535 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target target;
		struct error error;

		if (target_resolve(cases[i].text, false, &target, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		assert_string_equal(target.address, cases[i].address);
		assert_int_equal(target.ipv6, cases[i].ipv6);
		assert_int_equal(target.port, cases[i].port);
	}
}

static void test_bad(void **state)
{
	static const char *const cases[][2] = {
		{ "", "is no host" },
		{ ":5201", "is no host" },
		{ "[2001:db8::1", "is no host" },
		{ "[2001:db8::1]5201", "is no host" },
		{ "[]:1", "is no host" },
		{ "192.0.2.1:", "a port is a number" },
		{ "192.0.2.1:0", "a port is a number" },
		{ "192.0.2.1:65536", "a port is a number" },
		{ "192.0.2.1:http", "a port is a number" },
		{ "192.0.2.256", "cannot resolve" },
		{ "bad name", "cannot resolve bad name: " },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct target target;
		struct error error = { 0 };

		assert_int_equal(target_resolve(cases[i][0], false, &target, &error), -1);
		assert_int_equal(error.code, EXIT_USAGE);
		if (!strstr(error.text, cases[i][1]))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
