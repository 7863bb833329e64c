/* SPDX-License-Identifier: GPL-2.0 */
/* Timelines of loads that never were: a course of the RTT, with noise, and probes that are lost. */
#ifndef SOJOURN_TESTS_MADE_UP_TIMELINE_H
#define SOJOURN_TESTS_MADE_UP_TIMELINE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "shape.h"

#define SECOND	1000000000ULL
#define MS	1e6

struct course;

/* Height above the base, ns, at a share of the load (0 to 1, end: 1). */
typedef double course_height(const struct course *course, double at);

struct course {
	course_height *height;
	double height_ns;	/* of the limit, or of whatever is highest */
	double a, b;		/* what the course makes of them */
	uint64_t seed;		/* of its own chance */
};

struct made_up {
	const struct course *course;
	size_t points;		/* probes in the load */
	double load_s;
	double lingers_s;	/* the client ends so long after the last packet was sent */
	double base_ns;
	double noise;		/* standard deviation, of height_ns */
	double lost;		/* share of the probes, and one gap of twice that of the load */
	bool ends;		/* nothing is known behind the load */
	bool at_once;		/* the queue is thrown away at its end */
	uint64_t seed;
};

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t made_up_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static inline double made_up_share(uint64_t *state)
{
	return (double)(made_up_random(state) >> 11) / (double)(1ULL << 53);
}

/* Standard normal: Box and Muller. */
static inline double made_up_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - made_up_share(state)));

	return radius * cos(2 * M_PI * made_up_share(state));
}

/* Chance that is the same for the same number. */
static inline double made_up_chance(uint64_t seed, int64_t number)
{
	uint64_t state = seed * 1000003 + (uint64_t)number;

	made_up_random(&state);
	return made_up_share(&state);
}

/* The RTT at a time after the load's begin: a FIFO drains by one second a second. */
static inline double made_up_height(const struct made_up *made_up, double time_s)
{
	const struct course *course = made_up->course;
	double end, after = time_s - made_up->load_s;

	if (after < 0)
		return course->height(course, time_s / made_up->load_s);
	end = course->height(course, 1);
	return made_up->at_once ? 0 : fmax(0, end - after * 1e9);
}

/* The points are the caller's to free. */
static inline struct shape_timeline make_timeline(const struct made_up *made_up)
{
	double step = made_up->load_s / (double)made_up->points;
	double until = made_up->load_s + (made_up->ends ? 0 : 2), now, height, gap;
	struct shape_point *points = calloc(made_up->points + (size_t)(2 / step) + 16,
					    sizeof(*points));
	struct shape_timeline timeline = {
		.points = points, .begin_ns = 100 * SECOND,
		.end_ns = 100 * SECOND +
			  (uint64_t)((made_up->load_s + made_up->lingers_s) * 1e9),
		.base_ns = made_up->base_ns, .spread_ns = 0.02 * made_up->base_ns,
	};
	uint64_t random = made_up->seed;

	if (!points)
		abort();
	gap = made_up->load_s * (0.1 + 0.7 * made_up_share(&random));
	for (now = 0.3 * step; now < until; now += step) {
		bool lost = made_up_share(&random) < made_up->lost ||
			    (now >= gap && now < gap + 2 * made_up->lost * made_up->load_s);

		height = made_up_height(made_up, now);
		if (height > 0)
			height += made_up->noise * made_up->course->height_ns *
				  made_up_normal(&random);
		height += 0.01 * made_up->base_ns * made_up_normal(&random);
		if (!lost)
			points[timeline.count++] = (struct shape_point){
				timeline.begin_ns + (uint64_t)(now * 1e9),
				fmax(1000, made_up->base_ns + height),
			};
	}
	return timeline;
}

/* ---- courses ---- */

/* Nothing; a is the share of the probes that meet a packet or two, of height_ns at most. */
static inline double course_flat(const struct course *course, double at)
{
	int64_t number = (int64_t)(at * 1e6);

	return made_up_chance(course->seed, number) < course->a ?
	       course->height_ns * made_up_chance(course->seed + 1, number) : 0;
}

/* Flat, but for a peak over the last a of the load. */
static inline double course_spike(const struct course *course, double at)
{
	return at > 1 - course->a ? course->height_ns : 0;
}

/* A straight rise to the limit, which is reached at a; then it stays. */
static inline double course_fill(const struct course *course, double at)
{
	return course->height_ns * fmin(1, at / course->a);
}

/* a is how many teeth, b what a fall leaves; concave as cubic's. The fall takes 6 % of a tooth. */
static inline double course_cubic(const struct course *course, double at)
{
	double tooth = at * course->a - floor(at * course->a), rest = 1 - tooth / 0.94;

	if (tooth > 0.94)
		return course->height_ns * (1 - (1 - course->b) * (tooth - 0.94) / 0.06);
	if (at * course->a < 1)		/* from an empty queue */
		return course->height_ns * fmax(tooth / 0.94, 0.2);
	return course->height_ns * (1 - (1 - course->b) * rest * rest * rest);
}

/* The same, straight: Reno's. */
static inline double course_reno(const struct course *course, double at)
{
	double tooth = at * course->a - floor(at * course->a);

	if (tooth > 0.94)
		return course->height_ns * (1 - (1 - course->b) * (tooth - 0.94) / 0.06);
	if (at * course->a < 1)
		return course->height_ns * tooth / 0.94;
	return course->height_ns * (course->b + (1 - course->b) * tooth / 0.94);
}

/* Levels by chance, a of them, from b of the height upwards, straight lines between. */
static inline double course_chance(const struct course *course, double at)
{
	double place = at * course->a, part = place - floor(place);
	double from = made_up_chance(course->seed, (int64_t)place);
	double to = made_up_chance(course->seed, (int64_t)place + 1);

	return course->height_ns *
	       (course->b + (1 - course->b) * (from + (to - from) * part));
}

/* Up and down alike, a times, down to b: what has no sharp fall is no sawtooth. */
static inline double course_waves(const struct course *course, double at)
{
	return course->height_ns *
	       (course->b + (1 - course->b) * (0.5 - 0.5 * cos(2 * M_PI * at * course->a)));
}

#endif
