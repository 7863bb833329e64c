// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "made_up_timeline.h"
#include "result_terms.h"

#define SEEDS		20

#define NAME(name)	(1u << SHAPE_##name)

/* What the seeds may come to, and how many must come to it: share of SEEDS. */
struct expected {
	const char *what;
	struct course course;
	double load_s;
	unsigned int names;
	bool ends, at_once;
	double share;		/* 0: all but one */
};

static struct shape find(const struct made_up *made_up, struct shape_figures *figures)
{
	struct shape_timeline timeline = make_timeline(made_up);
	struct shape shape;

	assert_int_equal(shape_find(&timeline, &shape, figures), 0);
	free((void *)timeline.points);
	assert_true(shape.why[0]);
	assert_true(strlen(shape.why) + 1 < sizeof(shape.why));
	return shape;
}

static void check(const struct expected *expected, size_t points, double noise, double lost,
		  double base_ns)
{
	double share = expected->share > 0 ? expected->share : 1 - 1. / SEEDS;
	struct course course = expected->course;
	struct shape shape = { 0 }, wrong = { 0 };
	unsigned int right = 0, seed;

	for (seed = 0; seed < SEEDS; seed++) {
		struct made_up made_up = {
			.course = &course, .points = points, .load_s = expected->load_s,
			.base_ns = base_ns, .noise = noise, .lost = lost, .seed = seed + 1000,
			.ends = expected->ends, .at_once = expected->at_once,
		};

		course.seed = seed * 7 + 1;
		shape = find(&made_up, NULL);
		if (expected->names & 1u << shape.name)
			right++;
		else
			wrong = shape;
	}
	if (right < share * SEEDS)
		fail_msg("%s, %zu points, noise %g, lost %g, base %g ms: right %u of %d; %s: %s",
			 expected->what, points, noise, lost, base_ns / MS, right, SEEDS,
			 shape_names[wrong.name], wrong.why);
}

/* As courses are when nothing disturbs them, and few points as well as many. */
static const struct expected courses[] = {
	{ "nothing", { course_flat, 20 * MS, 0, 0, 0 }, 10, NAME(FLAT), false, false, 1 },
	{ "a packet here and there", { course_flat, 60 * MS, 0.1, 0, 0 }, 10,
	  NAME(FLAT), false, false, 0 },
	{ "a peak at the end", { course_spike, 100 * MS, 0.05, 0, 0 }, 10,
	  NAME(TEARDOWN_SPIKE), false, false, 1 },
	{ "cubic", { course_cubic, 400 * MS, 4, 0.7, 0 }, 10, NAME(SAWTOOTH), false, false, 0 },
	{ "reno", { course_reno, 200 * MS, 4, 0.5, 0 }, 10, NAME(SAWTOOTH), false, false, 1 },
	{ "one fall", { course_reno, 200 * MS, 1.4, 0.7, 0 }, 10, NAME(SAWTOOTH), false, false, 1 },
	{ "rise, thrown away", { course_fill, 300 * MS, 1, 0, 0 }, 10,
	  NAME(RAMP), false, true, 1 },
	{ "rise, and no more", { course_fill, 300 * MS, 1, 0, 0 }, 10, NAME(RAMP), true, false, 1 },
	{ "rise and drain", { course_fill, 1500 * MS, 1, 0, 0 }, 10,
	  NAME(TRIANGLE), false, false, 1 },
	{ "rise, overflow, drain", { course_fill, 1500 * MS, 0.8, 0, 0 }, 10,
	  NAME(TRIANGLE), false, false, 1 },
	{ "soon full", { course_fill, 400 * MS, 0.3, 0, 0 }, 10, NAME(PLATEAU), false, false, 1 },
	{ "full at once", { course_fill, 400 * MS, 0.05, 0, 0 }, 10,
	  NAME(PLATEAU), false, false, 1 },
	{ "waves", { course_waves, 400 * MS, 3, 0.3, 0 }, 10, NAME(CHAOTIC), false, false, 1 },
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static void test_courses_without_noise(void **state)
{
	static const size_t points[] = { 40, 100, 300, 1000 };
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(courses); i++)
		for (k = 0; k < COUNT(points); k++) {
			check(&courses[i], points[k], 0.01, 0, 0.06 * MS);
			check(&courses[i], points[k], 0.01, 0, 20 * MS);
		}
}

/* Up to a tenth of the height; teeth of a third of it need more points to be seen in that. */
static void test_courses_with_noise(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(courses); i++) {
		struct expected expected = courses[i];

		if (expected.names == NAME(SAWTOOTH))
			expected.share = 0.8;
		else
			expected.share = 0;
		check(&expected, 400, 0.05, 0, 0.06 * MS);
		check(&expected, 1000, 0.05, 0, 0.06 * MS);
		check(&expected, 10000, 0.1, 0, 0.06 * MS);
		if (expected.names == NAME(SAWTOOTH))
			continue;
		check(&expected, 100, 0.1, 0, 0.06 * MS);
		check(&expected, 1000, 0.1, 0, 0.06 * MS);
	}
}

/* A tenth of the probes, and a fifth of the load in a row: what was there is not known. */
static void test_courses_with_gaps(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(courses); i++) {
		struct expected expected = courses[i];

		expected.share = expected.names == NAME(SAWTOOTH) ? 0.75 : 0.85;
		check(&expected, 100, 0.02, 0.1, 0.06 * MS);
		check(&expected, 1000, 0.02, 0.1, 20 * MS);
	}
}

/* Levels by chance: sometimes they look like something else, most often not. */
static void test_chance_is_chaotic(void **state)
{
	static const size_t points[] = { 60, 150, 1000 };
	struct expected expected = { .what = "chance", .load_s = 10, .names = NAME(CHAOTIC),
				     .share = 0.85 };
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(points); i++) {
		expected.course = (struct course){ course_chance, 400 * MS, 8, 0.1, 0 };
		check(&expected, points[i], 0.02, 0, 0.06 * MS);
		expected.course.a = 20;
		check(&expected, points[i], 0.02, 0, 0.06 * MS);
	}
}

/* The shape of one course without noise. */
static enum shape_name name_of(course_height *height, double height_ns, double a, double b,
			       size_t points)
{
	struct course course = { height, height_ns, a, b, 5 };
	struct made_up made_up = { .course = &course, .points = points, .load_s = 10,
				   .base_ns = 0.06 * MS, .noise = 0.005, .seed = 77 };

	return find(&made_up, NULL).name;
}

static void test_boundaries_between_neighbours(void **state)
{
	(void)state;
	/* a limit that is reached late or soon */
	assert_int_equal(name_of(course_fill, 1000 * MS, 0.65, 0, 200), SHAPE_TRIANGLE);
	assert_int_equal(name_of(course_fill, 1000 * MS, 0.5, 0, 200), SHAPE_PLATEAU);
	/* a drain of two probes is seen, one of none is not */
	assert_int_equal(name_of(course_fill, 300 * MS, 1, 0, 200), SHAPE_TRIANGLE);
	assert_int_equal(name_of(course_fill, 40 * MS, 1, 0, 200), SHAPE_RAMP);
	/* teeth of a tenth of the height are a plateau, of a fifth a sawtooth */
	assert_int_equal(name_of(course_reno, 400 * MS, 5, 0.9, 200), SHAPE_PLATEAU);
	assert_int_equal(name_of(course_reno, 400 * MS, 5, 0.8, 200), SHAPE_SAWTOOTH);
	/* waves of a seventh of the height are a plateau, of half of it chaotic */
	assert_int_equal(name_of(course_waves, 400 * MS, 5, 0.86, 200), SHAPE_PLATEAU);
	assert_int_equal(name_of(course_waves, 400 * MS, 5, 0.5, 200), SHAPE_CHAOTIC);
	/* one millisecond is the least that matters */
	assert_int_equal(name_of(course_fill, 0.9 * MS, 0.1, 0, 200), SHAPE_FLAT);
	assert_int_equal(name_of(course_fill, 1.5 * MS, 0.1, 0, 200), SHAPE_PLATEAU);
	/* a peak at the end that is not worth its name */
	assert_int_equal(name_of(course_spike, 3 * MS, 0.03, 0, 200), SHAPE_FLAT);
	assert_int_equal(name_of(course_spike, 5 * MS, 0.03, 0, 200), SHAPE_TEARDOWN_SPIKE);
	/* peaks in every second probe are a queue, in every tenth they are none */
	assert_int_equal(name_of(course_flat, 60 * MS, 0.1, 0, 200), SHAPE_FLAT);
	assert_int_not_equal(name_of(course_flat, 60 * MS, 0.7, 0, 200), SHAPE_FLAT);
}

/* The largest of a millisecond, a tenth of the base, three times how far that strays. */
static void test_what_is_at_the_base(void **state)
{
	struct course course = { course_fill, 2.5 * MS, 0.1, 0, 0 };
	struct made_up made_up = { .course = &course, .points = 100, .load_s = 10,
				   .base_ns = 2 * MS, .noise = 0.005, .seed = 9 };
	struct shape_timeline timeline;
	struct shape_figures figures;
	struct shape shape;

	(void)state;
	assert_int_equal(find(&made_up, NULL).name, SHAPE_PLATEAU);
	made_up.base_ns = 30 * MS;
	assert_int_equal(find(&made_up, NULL).name, SHAPE_FLAT);
	made_up.base_ns = 2 * MS;
	timeline = make_timeline(&made_up);
	timeline.spread_ns = 1 * MS;
	assert_int_equal(shape_find(&timeline, &shape, &figures), 0);
	assert_int_equal(shape.name, SHAPE_FLAT);
	assert_true(fabs(figures.tolerance_ns - 3 * MS) < 1);
	free((void *)timeline.points);
}

/* A sawtooth as the rule wants it, with all that it needs and no more. */
static struct shape_figures sawtooth_figures(void)
{
	return (struct shape_figures){
		.count = 100, .tolerance_ns = 1 * MS, .at_base = 0.02, .above_row = 98,
		.early_row = 90, .early_peak_ns = 200 * MS, .late_peak_ns = 190 * MS,
		.height_ns = 200 * MS, .rises = 3, .falls = 2, .sharp_falls = 2, .sharp = 1,
		.falling = 0.2, .fall_ns = 60 * MS, .low_ns = 140 * MS, .upward = 0.2,
		.first_rise = 0.5, .second_third_ns = 170 * MS, .last_third_ns = 170 * MS,
		.settled_ns = 170 * MS, .settled_low_ns = 130 * MS, .settled_high_ns = 195 * MS,
		.end_ns = 180 * MS, .drain_points = 3, .drain_time_ns = 160 * MS,
	};
}

static void test_rule_of_the_sawtooth(void **state)
{
	struct shape_figures figures = sawtooth_figures();

	(void)state;
	assert_int_equal(shape_of_figures(&figures), SHAPE_SAWTOOTH);
	figures.falling = 0.8;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	figures = sawtooth_figures();
	figures.sharp = 0.6;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	/* one fall, and no rise behind it */
	figures = sawtooth_figures();
	figures.falls = figures.sharp_falls = figures.rises = 1;
	assert_int_equal(shape_of_figures(&figures), SHAPE_SAWTOOTH);
	figures.first_rise = 0.2;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	figures.first_rise = 0.5;
	figures.fall_ns = 130 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	figures.fall_ns = 30 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
}

static void test_rule_of_the_others(void **state)
{
	struct shape_figures figures = sawtooth_figures();

	(void)state;
	/* what falls back to less than three quarters has not risen to the end */
	figures.falls = figures.sharp_falls = 0;
	figures.rises = 1;
	figures.upward = 1;
	figures.second_third_ns = 100 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_TRIANGLE);
	/* some points on the way down, but too fast for a queue that drains */
	figures.drain_time_ns = 60 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_RAMP);
	figures.end_ns = 140 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	/* a tenth of what came before it may stray as it likes */
	figures.settled_ns = 20 * MS;
	figures.settled_low_ns = 10 * MS;
	figures.settled_high_ns = 28 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_PLATEAU);
	figures.settled_high_ns = 32 * MS;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	/* above the base for four probes in a row, or for a twentieth of all */
	figures.at_base = 0.9;
	figures.above_row = 5;
	assert_int_equal(shape_of_figures(&figures), SHAPE_FLAT);
	figures.above_row = 6;
	assert_int_equal(shape_of_figures(&figures), SHAPE_CHAOTIC);
	figures.count = 40;
	figures.above_row = 4;
	assert_int_equal(shape_of_figures(&figures), SHAPE_FLAT);
	/* a first peak, and nothing after it */
	figures.above_row = 10;
	figures.settled_low_ns = figures.settled_ns = figures.settled_high_ns = 0;
	assert_int_equal(shape_of_figures(&figures), SHAPE_FLAT);
}

static void test_too_few_points(void **state)
{
	struct course course = { course_fill, 400 * MS, 0.1, 0, 0 };
	struct made_up made_up = { .course = &course, .load_s = 3, .base_ns = 0.06 * MS };
	struct shape_timeline empty = { .begin_ns = SECOND, .end_ns = 2 * SECOND };
	struct shape shape;

	(void)state;
	made_up.points = 29;
	shape = find(&made_up, NULL);
	assert_int_equal(shape.name, SHAPE_UNKNOWN);
	assert_string_equal(shape.why, "29 probes were answered under load, fewer than 30");
	made_up.points = 30;
	assert_int_equal(find(&made_up, NULL).name, SHAPE_PLATEAU);
	assert_int_equal(shape_find(&empty, &shape, NULL), 0);
	assert_int_equal(shape.name, SHAPE_UNKNOWN);
	assert_string_equal(shape.why, "0 probes were answered under load, fewer than 30");
}

/* 5 teeth in 10 s: 4 falls from 200 to 100 ms in 0.12 s each, and rises in 1.88 s. */
static void test_figures_of_a_sawtooth(void **state)
{
	struct course course = { course_reno, 200 * MS, 5, 0.5, 0 };
	struct made_up made_up = { .course = &course, .points = 1000, .load_s = 10,
				   .base_ns = 0.06 * MS, .noise = 0.001, .seed = 3 };
	struct shape_figures figures;
	struct shape shape = find(&made_up, &figures);

	(void)state;
	assert_int_equal(shape.name, SHAPE_SAWTOOTH);
	assert_int_equal(figures.rises, 5);
	assert_int_equal(figures.falls, 4);
	assert_int_equal(figures.sharp_falls, 4);
	assert_true(fabs(figures.fall_ns - 100 * MS) < 2 * MS);
	assert_true(fabs(figures.low_ns - 100 * MS) < 2 * MS);
	/* from 80 % to 20 % of it */
	assert_true(fabs(figures.fall_time_ns - 0.6 * 120 * MS) < 5 * MS);
	assert_true(fabs(figures.rise_time_ns - 0.6 * 1880 * MS) < 30 * MS);
	assert_non_null(strstr(shape.why, "falls 4 times at once, by "));
}

/* 600 ms at the end, which take 600 ms to drain. */
static void test_figures_of_a_triangle(void **state)
{
	struct course course = { course_fill, 600 * MS, 0.9, 0, 0 };
	struct made_up made_up = { .course = &course, .points = 500, .load_s = 5, .lingers_s = 0.6,
				   .base_ns = 0.06 * MS, .noise = 0.001, .seed = 3 };
	struct shape_figures figures;
	struct shape shape = find(&made_up, &figures);

	(void)state;
	assert_int_equal(shape.name, SHAPE_TRIANGLE);
	assert_true(fabs(figures.height_ns - 600 * MS) < 5 * MS);
	/* from 90 % to 10 % of it */
	assert_true(fabs(figures.drain_time_ns - 480 * MS) < 20 * MS);
	assert_true(figures.drain_points >= 46 && figures.drain_points <= 50);
	/* a load that ends where nobody looks any more */
	made_up.ends = true;
	made_up.lingers_s = 0;
	shape = find(&made_up, &figures);
	assert_int_equal(shape.name, SHAPE_RAMP);
	assert_true(isnan(figures.drain_time_ns));
	assert_non_null(strstr(shape.why, "nothing shows how it drains"));
}

/* Where the load ends is found in spite of noise: of 150 ms, while 1.5 s drain. */
static void test_end_of_a_noisy_load(void **state)
{
	struct course course = { course_fill, 1500 * MS, 1, 0, 0 };
	struct made_up made_up = { .course = &course, .points = 5000, .load_s = 10,
				   .lingers_s = 1.5, .base_ns = 0.06 * MS, .noise = 0.1 };
	struct shape_figures figures;
	unsigned int seed;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		made_up.seed = seed;
		assert_int_equal(find(&made_up, &figures).name, SHAPE_TRIANGLE);
		assert_true(figures.load_ns > 9.3 * SECOND && figures.load_ns < 10.1 * SECOND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_courses_without_noise),
		cmocka_unit_test(test_courses_with_noise),
		cmocka_unit_test(test_courses_with_gaps),
		cmocka_unit_test(test_chance_is_chaotic),
		cmocka_unit_test(test_boundaries_between_neighbours),
		cmocka_unit_test(test_what_is_at_the_base),
		cmocka_unit_test(test_rule_of_the_sawtooth),
		cmocka_unit_test(test_rule_of_the_others),
		cmocka_unit_test(test_too_few_points),
		cmocka_unit_test(test_figures_of_a_sawtooth),
		cmocka_unit_test(test_figures_of_a_triangle),
		cmocka_unit_test(test_end_of_a_noisy_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
