// SPDX-License-Identifier: GPL-2.0
/* Names of functions from texts in the format of /proc/kallsyms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kallsyms.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Lines of a Debian 6.12 kernel, the modules' not in the order of their addresses. */
static const char usual[] =
	"0000000000000000 A __per_cpu_start\n"
	"ffffffff811a11a0 T find_kallsyms_symbol_value\n"
	"ffffffff81a86cb0 t noop_dequeue\n"
	"ffffffff81a87020 t noop_enqueue\n"
	"ffffffff81a88000 W weak_function\n"
	"ffffffff81a9b360 t dequeue_func\n"
	"ffffffff81a9b400 t twice\n"
	"ffffffff81a9b500 t twice\n"
	"ffffffff81a9b600 t alone\n"
	"ffffffff82a9b600 d twice_data\n"
	"ffffffff82a9b700 D noop_qdisc\n"
	"ffffffffc020d810 t tbf_dequeue\t[sch_tbf]\n"
	"ffffffffc020e000 t dequeue_func\t[sch_codel]\n"
	"ffffffffc0202840 t htb_dequeue\t[sch_htb]\n"
	"ffffffffc0202a00 t drop\t[sch_htb]\n"
	"ffffffffc0203000 t drop\t[sch_red]\n"
	"ffffffffc0209000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

static struct kallsyms *parse(const char *text)
{
	struct error error = { 0 };
	struct kallsyms *symbols = kallsyms_parse(text, strlen(text), &error);

	if (!symbols)
		fail_msg("%s", error.text);
	return symbols;
}

static void finds(const struct kallsyms *symbols, __u64 address, const char *name,
		  const char *module, bool unique)
{
	struct kallsyms_symbol symbol = { 0 };

	if (!kallsyms_find(symbols, address, &symbol))
		fail_msg("nothing found at 0x%llx, where %s is", (unsigned long long)address, name);
	assert_string_equal(symbol.name, name);
	assert_string_equal(symbol.module, module);
	if (symbol.unique != unique)
		fail_msg("%s [%s] is taken as %s", name, module,
			 symbol.unique ? "unique" : "not unique");
}

static void test_names(void **state)
{
	struct kallsyms *symbols = parse(usual);

	(void)state;
	finds(symbols, 0xffffffff811a11a0, "find_kallsyms_symbol_value", "", true);
	finds(symbols, 0xffffffff81a86cb0, "noop_dequeue", "", true);
	finds(symbols, 0xffffffff81a88000, "weak_function", "", true);
	finds(symbols, 0xffffffffc020d810, "tbf_dequeue", "sch_tbf", true);
	finds(symbols, 0xffffffffc0202840, "htb_dequeue", "sch_htb", true);
	finds(symbols, 0xffffffffc0209000, "bpf_prog_6deef7357e7b4530", "bpf", true);
	kallsyms_free(symbols);
}

static void test_absent(void **state)
{
	static const __u64 addresses[] = {
		0, 1, 0xffffffff81a86cb1,	/* inside of a function is not its begin */
		0xffffffff82a9b700,		/* data */
		0xffffffffffffffff, 0xffffffff811a119f,
	};
	struct kallsyms *symbols = parse(usual);
	struct kallsyms_symbol symbol;

	(void)state;
	for (size_t i = 0; i < COUNT(addresses); i++)
		if (kallsyms_find(symbols, addresses[i], &symbol))
			fail_msg("%s found at 0x%llx", symbol.name,
				 (unsigned long long)addresses[i]);
	kallsyms_free(symbols);
}

/* The kernel's own name wins over a module's; a module's must be the only one. */
static void test_unique(void **state)
{
	struct kallsyms *symbols = parse(usual);

	(void)state;
	finds(symbols, 0xffffffff81a9b400, "twice", "", false);
	finds(symbols, 0xffffffff81a9b500, "twice", "", false);
	finds(symbols, 0xffffffff81a9b360, "dequeue_func", "", true);
	finds(symbols, 0xffffffffc020e000, "dequeue_func", "sch_codel", false);
	finds(symbols, 0xffffffffc0202a00, "drop", "sch_htb", false);
	finds(symbols, 0xffffffffc0203000, "drop", "sch_red", false);
	kallsyms_free(symbols);
}

static void test_aliases(void **state)
{
	struct kallsyms *symbols = parse("ffffffff81000000 t copy\n"
					 "ffffffff81000000 t only_here\n"
					 "ffffffff81000040 t copy\n"
					 "ffffffff81000080 t same\n"
					 "ffffffff81000080 t same\n");

	(void)state;
	finds(symbols, 0xffffffff81000000, "only_here", "", true);
	finds(symbols, 0xffffffff81000040, "copy", "", false);
	finds(symbols, 0xffffffff81000080, "same", "", true);
	kallsyms_free(symbols);
}

/* Lines that are not as they should be are left out, the others are kept. */
static void test_odd_lines(void **state)
{
	static const char *const odd[] = {
		"", " ", "ffffffff81000000", "ffffffff81000000 ", "ffffffff81000000 t",
		"ffffffff81000000 t ", "ffffffff81000000 t \t[module]", "ffffffff81000000  t name",
		"t name", "fffffffff81000000 t name", "FFFFFFFF81000000 t name",
		"ffffffff81000000\tt\tname", "ffffffff81000000 tt name", "0xffffffff81000000 t name",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < COUNT(odd); i++) {
		struct kallsyms_symbol symbol;
		struct kallsyms *symbols;

		snprintf(text, sizeof(text), "%s\nffffffff82000000 t good\n", odd[i]);
		symbols = parse(text);
		finds(symbols, 0xffffffff82000000, "good", "", true);
		if (kallsyms_find(symbols, 0xffffffff81000000, &symbol))
			fail_msg("\"%s\" is taken as %s", odd[i], symbol.name);
		kallsyms_free(symbols);
	}
}

static void test_last_line(void **state)
{
	struct kallsyms *symbols = parse("81000000 t first\t[one]\n82000000 t last\t[two]");

	(void)state;
	finds(symbols, 0x81000000, "first", "one", true);
	finds(symbols, 0x82000000, "last", "two", true);
	kallsyms_free(symbols);
	symbols = parse("81000000 t first\n82000000 t cut\t[tw");
	finds(symbols, 0x82000000, "cut", "", true);
	kallsyms_free(symbols);
}

static void refuse(const char *text, const char *words)
{
	struct error error = { 0 };

	assert_null(kallsyms_parse(text, strlen(text), &error));
	assert_int_equal(error.code, EXIT_CANNOT);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" says nothing of %s", error.text, words);
	assert_null(strchr(error.text, '\n'));
}

static void test_refused(void **state)
{
	(void)state;
	refuse("", "CONFIG_KALLSYMS");
	refuse("ffffffff82a9b700 D noop_qdisc\n", "CONFIG_KALLSYMS");
	refuse("0000000000000000 t noop_enqueue\n0000000000000000 t htb_dequeue\t[sch_htb]\n",
	       "kptr_restrict");
	refuse("0000000000000000 t noop_enqueue\n", "CAP_SYSLOG");
}

/* As many as a kernel with all of its modules has, each found again. */
static void test_many(void **state)
{
	const unsigned int count = 200000;
	char *text = malloc(count * 64ul), *at = text;
	struct kallsyms *symbols;
	char name[32];

	(void)state;
	assert_non_null(text);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int place = i * 7919u % count;	/* a prime: each once, out of order */

		at += sprintf(at, "%016llx t function_%u\t[module_%u]\n",
			      0xffffffff81000000ull + 16 * place, place, i / 1000);
	}
	symbols = parse(text);
	free(text);
	for (unsigned int place = 0; place < count; place += 9973) {
		struct kallsyms_symbol symbol;

		snprintf(name, sizeof(name), "function_%u", place);
		assert_true(kallsyms_find(symbols, 0xffffffff81000000ull + 16 * place, &symbol));
		assert_string_equal(symbol.name, name);
		assert_true(symbol.unique);
	}
	kallsyms_free(symbols);
}

static void test_stale(void **state)
{
	struct error error = { 0 };
	struct kallsyms *symbols = kallsyms_read(&error);

	(void)state;
	if (!symbols) {
		assert_int_equal(error.code, EXIT_CANNOT);
		return;
	}
	assert_false(kallsyms_stale(symbols));
	kallsyms_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_absent),
		cmocka_unit_test(test_unique),	    cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_odd_lines),   cmocka_unit_test(test_last_line),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_many),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
