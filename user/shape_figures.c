// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shape_figures.h"
#include "statistics.h"

/* A point is at the base up to the largest of these above it. */
#define TOLERANCE_NS		1e6
#define TOLERANCE_BASE		0.1
#define TOLERANCE_SPREADS	3

/* A swing is at least that share of the height, and more than noise reaches. */
#define SWING_HEIGHT		0.15

#define SHARP_TIMES		2.5	/* a sharp fall takes at most 1 / SHARP_TIMES of a rise */
#define SMOOTH_POINTS_MIN	30	/* are left of those that are smoothed */
#define DRAINED			0.1	/* of the height: as good as empty */
#define DRAINING		0.9	/* of what the drain still takes a point waits */
#define DRAIN_NOISE		6	/* so many standard deviations less are noise, of both ends */
#define LATE			0.9	/* the last tenth of the load */

struct swing {
	size_t begin, end;		/* indices into the smooth line */
};

struct work {
	const struct shape_timeline *timeline;
	size_t load_count, all_count;	/* points up to the load's end, and all */
	double *heights;		/* of all points */
	double *times, *smooth;		/* the smooth line */
	size_t smooth_count, smooth_all;	/* of the load, and with what is behind it */
	double *scratch;
	struct swing *swings;
	size_t swing_count;
};

static double median(double *values, size_t count)
{
	return count ? statistics_percentile(values, count, 50) : 0;
}

static double median_of_copy(struct work *work, const double *values, size_t count)
{
	memcpy(work->scratch, values, count * sizeof(*values));
	return median(work->scratch, count);
}

static double percentile_of_copy(struct work *work, const double *values, size_t count,
				 double percent)
{
	if (!count)
		return 0;
	memcpy(work->scratch, values, count * sizeof(*values));
	return statistics_percentile(work->scratch, count, percent);
}

/* Since the begin of the load. */
static double time_of(const struct work *work, size_t point)
{
	const struct shape_timeline *timeline = work->timeline;

	return (double)(__s64)(timeline->points[point].time_ns - timeline->begin_ns);
}

/* ---- smoothing ---- */

/*
 * How far points scatter (standard deviation) around the line through their neighbours. Half of
 * the points may lie at corners of the line or be wild without moving it.
 */
static double find_noise(struct work *work, size_t count)
{
	size_t i;

	for (i = 0; i + 2 < count; i++)
		work->scratch[i] = fabs(work->heights[i + 1] -
					(work->heights[i] + work->heights[i + 2]) / 2);
	return 1.4826 * median(work->scratch, count - 2) / sqrt(1.5);
}

/* The same of medians of so many such points; fewer than three are none. */
static double noise_of_medians(double noise, size_t width)
{
	return 1.25 * noise / sqrt((double)(width < 3 ? 3 : width));
}

/*
 * How far apart the highest and the lowest of count points are by noise alone: the mean range of
 * a normal variable (Cramér 1946, 28.6). count is two at least.
 */
static double reach_of_noise(double noise, size_t count)
{
	double l = log((double)count), most = sqrt(2 * l);

	return 2 * noise * (most - (log(l) + log(4 * M_PI)) / (2 * most));
}

/* As many points as it takes for the noise to be no swing, while enough remain. */
static size_t choose_width(size_t count, double noise, double height_ns)
{
	size_t most = count / SMOOTH_POINTS_MIN, width = 1;

	while (width + 2 <= most &&
	       reach_of_noise(noise_of_medians(noise, width), count / width) >
		       SWING_HEIGHT * height_ns)
		width += 2;
	return width;
}

static double median_of_three(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * The smooth line: medians of each width points in a row, the last of up to half as many more:
 * few would scatter more. Of one, with its neighbours, so that no single one is seen.
 */
static void smooth(struct work *work, size_t width)
{
	const double *heights = work->heights;
	size_t end = work->all_count, from, length;
	double height;

	for (from = 0; from < end; from += length) {
		length = 2 * (end - from) < 3 * width ? end - from : width;
		if (width > 1)
			height = median_of_copy(work, heights + from, length);
		else if (from == 0 || from + 1 == end)
			height = heights[from];
		else
			height = median_of_three(heights[from - 1], heights[from],
						 heights[from + 1]);
		work->times[work->smooth_all] =
			(time_of(work, from) + time_of(work, from + length - 1)) / 2;
		work->smooth[work->smooth_all++] = height;
	}
}

/* ---- the end of the load ---- */

/*
 * How many points of the smooth line belong to the load. When the sender stops, the queue drains
 * at its rate: a probe sent t later waits t less, until it is empty. Back from the last point
 * that still waits, those belong to the drain that wait as long as it then takes.
 */
static size_t find_end(const struct work *work, double height_ns, double noise)
{
	double window = (double)(work->timeline->end_ns - work->timeline->begin_ns), empty;
	const double *line = work->smooth, *times = work->times;
	size_t count = work->smooth_all, i;

	while (count > 1 && times[count - 1] >= window)
		count--;
	for (i = count; i > 1 && line[i - 1] < DRAINED * height_ns;)
		i--;
	if (times[i - 1] + 2 * height_ns < window)
		return count;
	for (empty = times[i - 1] + line[i - 1]; i > 1; i--)
		if (line[i - 1] + DRAIN_NOISE * noise < DRAINING * (empty - times[i - 1]))
			break;
	return times[i - 1] < window / 2 ? count : i;
}

/* ---- swings ---- */

static void add_swing(struct work *work, size_t begin, size_t end)
{
	work->swings[work->swing_count++] = (struct swing){ begin, end };
}

/*
 * Cut the line where it turns back by least or more. The first swing is one up: a load begins
 * with an empty queue. What is left at the end is one if it is as high.
 */
static void find_swings(struct work *work, double least)
{
	const double *line = work->smooth;
	size_t low = 0, high = 0, i;
	bool up = true;

	for (i = 1; i < work->smooth_count; i++) {
		if (up && line[i] > line[high])
			high = i;
		if (!up && line[i] < line[low])
			low = i;
		if (up && line[high] - line[i] >= least) {
			add_swing(work, low, high);
			low = i;
			up = false;
		} else if (!up && line[i] - line[low] >= least) {
			add_swing(work, high, low);
			high = i;
			up = true;
		}
	}
	if (up && line[high] - line[low] >= least)
		add_swing(work, low, high);
	else if (!up && line[high] - line[low] >= least)
		add_swing(work, high, low);
}

/* Where a swing passes a share of its way for the last (first: the first) time, interpolated. */
static double passes(const struct work *work, const struct swing *swing, double share, bool last)
{
	const double *line = work->smooth, *times = work->times;
	double level = line[swing->begin] + share * (line[swing->end] - line[swing->begin]);
	bool up = line[swing->end] > line[swing->begin];
	double found = times[swing->begin];
	size_t i;

	for (i = swing->begin; i < swing->end; i++) {
		double from = line[i], to = line[i + 1];

		if ((up && !(from < level && to >= level)) ||
		    (!up && !(from > level && to <= level)))
			continue;
		found = times[i] + (times[i + 1] - times[i]) * (level - from) / (to - from);
		if (!last)
			break;
	}
	return found;
}

/* Noise passes a level more than once: the mean of the shortest and the longest time. */
static double swing_time(const struct work *work, const struct swing *swing)
{
	double shortest = passes(work, swing, 0.8, false) - passes(work, swing, 0.2, true);
	double longest = passes(work, swing, 0.8, true) - passes(work, swing, 0.2, false);

	return fmax(0, (shortest + longest) / 2);
}

static double swing_length(const struct work *work, const struct swing *swing)
{
	return work->times[swing->end] - work->times[swing->begin];
}

/* The rise behind a fall, or before it where the load ends with it. */
static const struct swing *rise_beside(const struct work *work, size_t fall)
{
	return &work->swings[fall + 1 < work->swing_count ? fall + 1 : fall - 1];
}

/* How much of the way that the swings go up they do not come down again. */
static void measure_travel(const struct work *work, struct shape_figures *figures)
{
	double net = 0, all = 0, height;
	size_t i;

	for (i = 0; i < work->swing_count; i++) {
		height = work->smooth[work->swings[i].end] - work->smooth[work->swings[i].begin];
		net += height;
		all += fabs(height);
	}
	figures->upward = all > 0 ? net / all : 0;
	if (!work->swing_count)
		return;
	height = swing_length(work, &work->swings[0]);
	figures->first_rise = height > 0 ? swing_time(work, &work->swings[0]) / height : 0;
}

/* Every other swing is a fall, from the second on. */
static int measure_falls(struct work *work, struct shape_figures *figures)
{
	size_t room = work->swing_count + 1, i, n = 0;
	double *heights = calloc(4 * room, sizeof(*heights)), *lows, *falls, *rises;
	double all = 0, sharp = 0, falling = 0;

	if (!heights)
		return -1;
	lows = heights + room;
	falls = lows + room;
	rises = falls + room;
	figures->rises = (unsigned int)(work->swing_count + 1) / 2;
	figures->falls = (unsigned int)work->swing_count / 2;
	for (i = 1; i < work->swing_count; i += 2) {
		const struct swing *fall = &work->swings[i], *rise = rise_beside(work, i);

		falls[n] = swing_time(work, fall);
		rises[n] = swing_time(work, rise);
		all += swing_length(work, rise);
		falling += swing_length(work, fall);
		if (falls[n] * SHARP_TIMES > rises[n])
			continue;
		sharp += swing_length(work, rise);
		heights[n] = work->smooth[fall->begin] - work->smooth[fall->end];
		lows[n++] = work->smooth[fall->end];
	}
	figures->sharp_falls = (unsigned int)n;
	figures->falling = all > 0 ? falling / all : 0;
	figures->sharp = all > 0 ? sharp / all : 0;
	figures->fall_ns = median(heights, n);
	figures->low_ns = median(lows, n);
	figures->fall_time_ns = median(falls, n);
	figures->rise_time_ns = median(rises, n);
	free(heights);
	return 0;
}

/* ---- the other figures ---- */

static void measure_base(const struct work *work, struct shape_figures *figures)
{
	double late = LATE * (double)(work->timeline->end_ns - work->timeline->begin_ns);
	size_t at = 0, row = 0, i;

	for (i = 0; i < work->all_count; i++) {
		double height = work->heights[i], *peak = time_of(work, i) < late ?
			&figures->early_peak_ns : &figures->late_peak_ns;
		bool is_at = height <= figures->tolerance_ns;

		*peak = fmax(*peak, height);
		row = is_at ? 0 : row + 1;
		if (i >= work->load_count)
			continue;
		at += is_at;
		if (row > figures->above_row)
			figures->above_row = row;
		if (row > figures->early_row && time_of(work, i) < late)
			figures->early_row = row;
	}
	figures->at_base = (double)at / (double)work->load_count;
}

static void measure_thirds(struct work *work, struct shape_figures *figures)
{
	size_t second = 0, last, count = work->smooth_count;

	while (second < count && work->times[second] < figures->load_ns / 3)
		second++;
	for (last = second; last < count && work->times[last] < figures->load_ns * 2 / 3;)
		last++;
	figures->second_third_ns = median_of_copy(work, work->smooth + second, last - second);
	figures->last_third_ns = median_of_copy(work, work->smooth + last, count - last);
	figures->settled_ns = median_of_copy(work, work->smooth + second, count - second);
	figures->settled_low_ns = percentile_of_copy(work, work->smooth + second, count - second,
						     10);
	figures->settled_high_ns = percentile_of_copy(work, work->smooth + second, count - second,
						      90);
}

static void measure_drain(const struct work *work, size_t width, struct shape_figures *figures)
{
	size_t last = work->smooth_count - 1, i;
	double begin = work->times[last], end = work->smooth[last];

	figures->end_ns = end;
	figures->drain_time_ns = NAN;
	for (i = last + 1; i < work->smooth_all && work->smooth[i] > DRAINED * end; i++) {
		if (work->smooth[i] >= DRAINING * end)
			begin = work->times[i];
		else
			figures->drain_points += width;
	}
	if (i < work->smooth_all)
		figures->drain_time_ns = work->times[i] - begin;
}

/* ---- all of it ---- */

static int prepare(struct work *work, const struct shape_timeline *timeline)
{
	size_t i, room = timeline->count + 1;

	memset(work, 0, sizeof(*work));
	work->timeline = timeline;
	work->heights = calloc(4 * room, sizeof(*work->heights));
	work->swings = calloc(room, sizeof(*work->swings));
	if (!work->heights || !work->swings)
		return -1;
	work->times = work->heights + room;
	work->smooth = work->times + room;
	work->scratch = work->smooth + room;
	work->all_count = timeline->count;
	for (i = 0; i < timeline->count; i++) {
		work->heights[i] = timeline->points[i].value_ns - timeline->base_ns;
		if (timeline->points[i].time_ns < timeline->end_ns)
			work->load_count = i + 1;
	}
	return 0;
}

static int measure_load(struct work *work, struct shape_figures *figures)
{
	double height_ns = percentile_of_copy(work, work->heights, work->load_count, 95);
	double noise = find_noise(work, work->load_count), least;
	size_t width = choose_width(work->load_count, noise, height_ns);

	smooth(work, width);
	noise = noise_of_medians(noise, width);
	work->smooth_count = find_end(work, height_ns, noise);
	figures->load_ns = work->times[work->smooth_count - 1];
	figures->height_ns = percentile_of_copy(work, work->smooth, work->smooth_count, 95);
	least = fmax(SWING_HEIGHT * figures->height_ns,
		     reach_of_noise(noise, work->load_count / width));
	find_swings(work, fmax(least, figures->tolerance_ns));
	measure_travel(work, figures);
	measure_thirds(work, figures);
	measure_drain(work, width, figures);
	return measure_falls(work, figures);
}

int shape_measure(const struct shape_timeline *timeline, struct shape_figures *figures)
{
	struct work work;
	int error = 0;

	memset(figures, 0, sizeof(*figures));
	if (prepare(&work, timeline)) {
		error = -1;
		goto out;
	}
	figures->count = work.load_count;
	if (figures->count < SHAPE_POINTS_MIN)
		goto out;
	figures->tolerance_ns = fmax(fmax(TOLERANCE_NS, TOLERANCE_BASE * timeline->base_ns),
				     TOLERANCE_SPREADS * timeline->spread_ns);
	measure_base(&work, figures);
	error = measure_load(&work, figures);
out:
	free(work.swings);
	free(work.heights);
	return error;
}
