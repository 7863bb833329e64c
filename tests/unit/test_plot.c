// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "plot.h"

static const struct plot_style ascii = { .width = 40, .ascii = true };
static const struct plot_style unicode = { .width = 40 };

static const char *plain(double value, char text[UNITS_TEXT])
{
	snprintf(text, UNITS_TEXT, "%.0f", value);
	return text;
}

struct memory {
	char *text;
	size_t size;
	FILE *file;
};

static void memory_open(struct memory *memory)
{
	memory->file = open_memstream(&memory->text, &memory->size);
	assert_non_null(memory->file);
}

static void assert_printed(struct memory *memory, const char *expected)
{
	assert_int_equal(fclose(memory->file), 0);
	assert_string_equal(memory->text, expected);
	free(memory->text);
}

/* 28 columns of two dots: 56 steps from left to right. */
static struct plot straight(struct plot_point *points, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		points[i] = (struct plot_point){ (double)i, (double)i };
	return (struct plot){ .title = "a line", .end = (double)count - 1, .points = points,
			      .count = count, .gap = 1.5, .text = plain };
}

static void test_a_line_rises(void **state)
{
	struct memory memory;
	struct plot_point points[8];
	struct plot plot = straight(points, 8);

	(void)state;
	memory_open(&memory);
	plot_curve(memory.file, &ascii, &plot, 2);
	plot_curve(memory.file, &unicode, &plot, 2);
	assert_printed(&memory,
		       "a line\n"
		       "          7|             ........|''''''\n"
		       "          0|.....|''''''''              \n"
		       "a line\n"
		       "          7┤             ⢀⣀⣀⣀⡤⠤⠤⠤⠖⠒⠒⠒⠋⠉⠉\n"
		       "          0┤⣀⣠⠤⠤⠤⠴⠒⠒⠒⠚⠉⠉⠉⠉              \n");
}

/* No line leads over a point that is none, nor to one that is far. */
static void test_gaps(void **state)
{
	struct memory memory;
	struct plot_point points[8];
	struct plot plot = straight(points, 8);

	(void)state;
	memory_open(&memory);
	points[3].y = NAN;
	plot_curve(memory.file, &ascii, &plot, 2);
	points[3].y = 3;
	plot.gap = 0.5;
	plot_curve(memory.file, &unicode, &plot, 2);
	assert_printed(&memory,
		       "a line\n"
		       "          7|               ......|''''''\n"
		       "          0|.....|'''                   \n"
		       "a line\n"
		       "          7┤               ⢀   ⠠   ⠐   ⠈\n"
		       "          0┤⡀   ⠄   ⠂   ⠁               \n");
}

static void test_nothing_and_only_zeros(void **state)
{
	struct memory memory;
	struct plot_point points[2] = { { 0, 0 }, { 1, 0 } };
	struct plot plot = straight(points, 0);

	(void)state;
	memory_open(&memory);
	plot_curve(memory.file, &ascii, &plot, 2);
	plot.count = 2;
	plot.end = 1;
	points[0].y = points[1].y = NAN;
	points[1].x = 1;
	plot_curve(memory.file, &ascii, &plot, 2);
	points[0].y = points[1].y = 0;
	plot_curve(memory.file, &ascii, &plot, 2);
	assert_printed(&memory,
		       "a line: nothing\n"
		       "a line: nothing\n"
		       "a line\n"
		       "          0|                            \n"
		       "          0|............................\n");
}

/* A single point, and an axis of no length: no division by zero. */
static void test_one_point(void **state)
{
	struct memory memory;
	struct plot_point points[1];
	struct plot plot = straight(points, 1);

	(void)state;
	memory_open(&memory);
	points[0].y = 5;
	plot_curve(memory.file, &ascii, &plot, 2);
	assert_printed(&memory,
		       "a line\n"
		       "          5|'                           \n"
		       "          0|                            \n");
}

/* Much more than there are columns: the width stays, and the highest is seen. */
static void test_many_points(void **state)
{
	enum { COUNT = 100000 };
	struct memory memory;
	struct plot_point *points = calloc(COUNT, sizeof(*points));
	struct plot plot;
	const char *line;
	size_t i;

	(void)state;
	memory_open(&memory);
	assert_non_null(points);
	plot = straight(points, COUNT);
	for (i = 0; i < COUNT; i++)
		points[i].y = i == 77777 ? 1000 : (double)(i % 3);
	plot_curve(memory.file, &ascii, &plot, 4);
	assert_int_equal(fclose(memory.file), 0);
	line = strchr(memory.text, '\n') + 1;
	assert_memory_equal(line, "       1000|", 12);
	/* 77777 of 100000 is dot 43 of 55: column 21 */
	assert_int_equal(strcspn(line + 12, "|'."), 21);
	for (; *line; line += strcspn(line, "\n") + 1)
		assert_int_equal(strcspn(line, "\n"), 40);
	free(memory.text);
	free(points);
}

static void test_axis(void **state)
{
	const struct plot_span spans[] = { { "idle", 0, 2 }, { "load", 2, 6 }, { "recovery", 6, 7 } };
	struct memory memory;

	(void)state;
	memory_open(&memory);
	plot_axis(memory.file, &ascii, 0, 7, spans, 3);
	/* the last name finds no room */
	assert_printed(&memory,
		       "            |-idle--|-----load-----|---|\n"
		       "            0                     7.00 s\n");
}

static void test_strips(void **state)
{
	const struct plot_scale scale = { 1000, 1e9 };
	double counts[28] = { [0] = 1, [1] = 8, [2] = 4, [27] = 0.01 };
	struct memory memory;

	(void)state;
	memory_open(&memory);
	assert_int_equal(plot_strip_columns(&ascii), 28);
	assert_int_equal(plot_strip_column(&ascii, &scale, 0), 0);
	assert_int_equal(plot_strip_column(&ascii, &scale, 1000), 0);
	assert_int_equal(plot_strip_column(&ascii, &scale, 1e6), 14);
	assert_int_equal(plot_strip_column(&ascii, &scale, 1e9), 27);
	assert_int_equal(plot_strip_column(&ascii, &scale, 1e12), 27);
	plot_strip(memory.file, &unicode, "idle", counts);
	plot_strip(memory.file, &ascii, "a name too long", counts);
	plot_strip_axis(memory.file, &ascii, &scale, units_time_text);
	assert_printed(&memory,
		       "       idle ▁█▄                        ▁\n"
		       "a name too  .#=                        .\n"
		       "            1.00 us  100 us   10.0 ms\n");
}

static void test_bars(void **state)
{
	struct memory memory;

	(void)state;
	memory_open(&memory);
	plot_bar(memory.file, &ascii, "a", 0, 50, 100, plain);
	plot_bar(memory.file, &ascii, "b", 50, 50, 100, plain);
	plot_bar(memory.file, &unicode, "c", 50, 100, 100, plain);
	assert_printed(&memory,
		       "a                                            50 #####\n"
		       "b                                             0      |\n"
		       "c                                            50      ████\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_rises),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_nothing_and_only_zeros),
		cmocka_unit_test(test_one_point),
		cmocka_unit_test(test_many_points),
		cmocka_unit_test(test_axis),
		cmocka_unit_test(test_strips),
		cmocka_unit_test(test_bars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
