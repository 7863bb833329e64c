// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

static void test_add(void **context)
{
	char buffer[16] = "before";
	struct text text = text_begin(buffer, sizeof(buffer));

	(void)context;
	assert_string_equal(buffer, "");
	text_add(&text, "%d", 12);
	text_add(&text, ", %s", "x");
	assert_string_equal(buffer, "12, x");
	assert_int_equal(text.used, 5);
}

/* used stays on the last byte that is text, so that it may be read. */
static void test_cut(void **context)
{
	char buffer[5];
	struct text text = text_begin(buffer, sizeof(buffer));

	(void)context;
	text_add(&text, "abc%s", "defghi");
	assert_string_equal(buffer, "abcd");
	assert_int_equal(text.used, 4);
	text_add(&text, "j");
	assert_string_equal(buffer, "abcd");
	assert_int_equal(text.used, 4);
}

static void test_no_room(void **context)
{
	char buffer[1] = "x";
	struct text text = text_begin(buffer, 0);

	(void)context;
	text_add(&text, "abc");
	assert_int_equal(buffer[0], 'x');
	assert_int_equal(text.used, 0);
	text = text_begin(buffer, sizeof(buffer));
	text_add(&text, "abc");
	assert_string_equal(buffer, "");
	assert_int_equal(text.used, 0);
}

static void expect_end(const char *cut, const char *wanted)
{
	char buffer[16];

	strcpy(buffer, cut);
	text_end_at_character(buffer);
	assert_string_equal(buffer, wanted);
}

static void test_end_at_character(void **context)
{
	(void)context;
	expect_end("", "");
	expect_end("wan0", "wan0");
	expect_end("wan0 →", "wan0 →");
	expect_end("wan0 \xe2\x86", "wan0 ");
	expect_end("wan0 \xe2", "wan0 ");
	expect_end("ü", "ü");
	expect_end("\xc3", "");
	expect_end("a\xf0\x9f\x99", "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_end_at_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
