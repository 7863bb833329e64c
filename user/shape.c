// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "shape.h"
#include "text.h"
#include "units.h"

#define FLAT_AT_BASE		0.5	/* that share of the points */
#define FLAT_ROW		4	/* so many points in a row may be above the base, */
#define FLAT_ROW_SHARE		0.05	/* or that share of them */
#define SPIKE_TOLERANCES	4	/* a spike is so much higher than what is flat, */
#define SPIKE_TIMES		3	/* and than all before it */
#define SHARP_SHARE		(2. / 3)
#define FALLING			0.7	/* the falls take at most that share of the rises' time */
#define ONE_FALL_LEAST		0.2	/* of the height: where there is but one */
#define ONE_TOOTH_RISE		0.3	/* the only rise takes that share of the time to its top */
#define ONE_TOOTH_FALL		0.6	/* the only fall is at most that share of the height */
#define GROWTH			0.88	/* the second third of a ramp, of the last */
#define RAMP_UPWARD		0.6
#define RAMP_END		0.75	/* a ramp ends at that share of its height or above */
#define DRAIN_POINTS		2	/* a drain has so many points at least, */
#define DRAIN_TIME		0.4	/* and takes that share of its height: a FIFO's takes 0.8 */
#define PLATEAU_SPREAD		0.35	/* p90 - p10 of a plateau: that share of its median, */
#define PLATEAU_HEIGHT		0.1	/* or of what came before it */
#define FIRST_PEAK		1.5	/* worth telling: so much higher than what follows */

/* ---- the rule ---- */

static bool row_is_short(const struct shape_figures *figures, size_t row)
{
	return row <= FLAT_ROW || (double)row <= FLAT_ROW_SHARE * (double)figures->count;
}

static bool is_teardown_spike(const struct shape_figures *figures)
{
	return figures->at_base >= FLAT_AT_BASE && row_is_short(figures, figures->early_row) &&
	       figures->late_peak_ns >= SPIKE_TOLERANCES * figures->tolerance_ns &&
	       figures->late_peak_ns >= SPIKE_TIMES * figures->early_peak_ns;
}

/* The queue is empty again and again, or after a first peak for good. */
static bool is_flat(const struct shape_figures *figures)
{
	return (figures->at_base >= FLAT_AT_BASE && row_is_short(figures, figures->above_row)) ||
	       figures->settled_high_ns <= figures->tolerance_ns;
}

/* One fall may be chance unless it is deep; without a rise behind it, the one before it decides. */
static bool one_fall_is_enough(const struct shape_figures *figures)
{
	if (figures->fall_ns < ONE_FALL_LEAST * figures->height_ns)
		return false;
	return figures->rises > 1 || (figures->first_rise >= ONE_TOOTH_RISE &&
				      figures->fall_ns <= ONE_TOOTH_FALL * figures->height_ns);
}

static bool is_sawtooth(const struct shape_figures *figures)
{
	if (!figures->sharp_falls || figures->sharp < SHARP_SHARE || figures->falling > FALLING)
		return false;
	return figures->falls > 1 || one_fall_is_enough(figures);
}

/* From the begin to the end it rises more than it falls. */
static bool is_one_rise(const struct shape_figures *figures)
{
	return figures->upward >= RAMP_UPWARD && figures->end_ns >= RAMP_END * figures->height_ns;
}

static bool is_ramp(const struct shape_figures *figures)
{
	return is_one_rise(figures) && figures->second_third_ns < GROWTH * figures->last_third_ns;
}

static bool drain_is_seen(const struct shape_figures *figures)
{
	return isfinite(figures->drain_time_ns) && figures->drain_points >= DRAIN_POINTS &&
	       figures->drain_time_ns >= DRAIN_TIME * figures->end_ns;
}

static bool is_plateau(const struct shape_figures *figures)
{
	return is_one_rise(figures) || figures->settled_high_ns - figures->settled_low_ns <=
	       fmax(PLATEAU_SPREAD * figures->settled_ns, PLATEAU_HEIGHT * figures->height_ns);
}

enum shape_name shape_of_figures(const struct shape_figures *figures)
{
	if (figures->count < SHAPE_POINTS_MIN)
		return SHAPE_UNKNOWN;
	if (is_teardown_spike(figures))
		return SHAPE_TEARDOWN_SPIKE;
	if (is_flat(figures))
		return SHAPE_FLAT;
	if (is_sawtooth(figures))
		return SHAPE_SAWTOOTH;
	if (is_ramp(figures))
		return drain_is_seen(figures) ? SHAPE_TRIANGLE : SHAPE_RAMP;
	return is_plateau(figures) ? SHAPE_PLATEAU : SHAPE_CHAOTIC;
}

/* ---- and in words ---- */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void tell_flat(const struct shape_figures *figures, struct text *why)
{
	char height[UNITS_TEXT], peak[UNITS_TEXT];

	units_time_text(figures->tolerance_ns, height);
	units_time_text(fmax(figures->early_peak_ns, figures->late_peak_ns), peak);
	text_add(why, "%.3g %% of the probes are within %s of idle", 100 * figures->at_base,
		 height);
	if (!row_is_short(figures, figures->above_row))
		text_add(why, ", all but few since the first third; before them up to %s", peak);
	else if (figures->at_base < 1)
		text_add(why, ", no more than %zu in a row above; peaks of up to %s",
			 figures->above_row, peak);
}

static void tell_teardown_spike(const struct shape_figures *figures, struct text *why)
{
	char before[UNITS_TEXT], peak[UNITS_TEXT];

	text_add(why, "at most %s above idle, then %s when the load ends",
		 units_time_text(figures->early_peak_ns, before),
		 units_time_text(figures->late_peak_ns, peak));
}

static void tell_sawtooth(const struct shape_figures *figures, struct text *why)
{
	char fall[UNITS_TEXT], fall_time[UNITS_TEXT], rise_time[UNITS_TEXT];

	text_add(why, "falls %u time%s at once, by %s in %s, and rises in %s", figures->sharp_falls,
		 plural(figures->sharp_falls), units_time_text(figures->fall_ns, fall),
		 units_time_text(figures->fall_time_ns, fall_time),
		 units_time_text(figures->rise_time_ns, rise_time));
	if (figures->low_ns <= figures->tolerance_ns)
		text_add(why, "; the queue is empty in between");
	if (figures->falls > figures->sharp_falls)
		text_add(why, "; %u more fall%s slowly", figures->falls - figures->sharp_falls,
			 figures->falls - figures->sharp_falls == 1 ? "s" : "");
}

static void tell_ramp(const struct shape_figures *figures, struct text *why)
{
	char height[UNITS_TEXT], time[UNITS_TEXT], drain[UNITS_TEXT];

	text_add(why, "rises to %s above idle until the load ends after %s, ",
		 units_time_text(figures->height_ns, height),
		 units_time_text(figures->load_ns, time));
	if (drain_is_seen(figures))
		text_add(why, "and drains in %s", units_time_text(figures->drain_time_ns, drain));
	else if (isfinite(figures->drain_time_ns))
		text_add(why, "and is gone at once");
	else
		text_add(why, "and nothing shows how it drains");
}

/* What lies before the last two thirds is told where it is higher. */
static void tell_settled(const struct shape_figures *figures, const char *words, struct text *why)
{
	char middle[UNITS_TEXT], low[UNITS_TEXT], high[UNITS_TEXT], peak[UNITS_TEXT];

	text_add(why, "%s %s above idle, 80 %% between %s and %s", words,
		 units_time_text(fmax(0, figures->settled_ns), middle),
		 units_time_text(fmax(0, figures->settled_low_ns), low),
		 units_time_text(fmax(0, figures->settled_high_ns), high));
	if (figures->height_ns >= FIRST_PEAK * figures->settled_high_ns)
		text_add(why, "; before that up to %s",
			 units_time_text(figures->early_peak_ns, peak));
}

static void tell_chaotic(const struct shape_figures *figures, struct text *why)
{
	tell_settled(figures, "no pattern: median", why);
	text_add(why, "; %u rise%s, %u fall%s, %u of them sharp", figures->rises,
		 plural(figures->rises), figures->falls, plural(figures->falls),
		 figures->sharp_falls);
}

static void tell(enum shape_name name, const struct shape_figures *figures, struct text *why)
{
	switch (name) {
	case SHAPE_NONE:
		break;
	case SHAPE_UNKNOWN:
		text_add(why, "%zu probe%s answered under load, fewer than %d", figures->count,
			 figures->count == 1 ? " was" : "s were", SHAPE_POINTS_MIN);
		break;
	case SHAPE_FLAT:
		tell_flat(figures, why);
		break;
	case SHAPE_TEARDOWN_SPIKE:
		tell_teardown_spike(figures, why);
		break;
	case SHAPE_SAWTOOTH:
		tell_sawtooth(figures, why);
		break;
	case SHAPE_RAMP:
	case SHAPE_TRIANGLE:
		tell_ramp(figures, why);
		break;
	case SHAPE_PLATEAU:
		tell_settled(figures, "settles at", why);
		break;
	case SHAPE_CHAOTIC:
		tell_chaotic(figures, why);
		break;
	}
}

int shape_find(const struct shape_timeline *timeline, struct shape *shape,
	       struct shape_figures *figures)
{
	struct text why = text_begin(shape->why, sizeof(shape->why));
	struct shape_figures own;

	shape->name = SHAPE_NONE;
	if (!figures)
		figures = &own;
	if (shape_measure(timeline, figures))
		return -1;
	shape->name = shape_of_figures(figures);
	tell(shape->name, figures, &why);
	return 0;
}
