// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closest.h"
#include "expression.h"
#include "responsiveness.h"
#include "units.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define FIGURE_NAME	40
#define QUOTED_MAX	60	/* of a name that no figure has, in an error */
#define VALUE_MAX	60	/* characters; what is longer is no value */
#define DIGITS_MAX	15	/* of a fraction: as many are exact in a double */

#define BIT(n)		(1u << (n))
#define EVERY_PHASE	(BIT(PHASE_RESTORED + 1) - 1)
#define UNDER_LOAD	BIT(PHASE_LOAD)
#define WHOLE_RUN	0

enum unit { UNIT_TIME, UNIT_COUNT, UNIT_RATE, UNIT_FRACTION, UNIT_FLAG };

static const struct {
	const char *name;
	const char *example;
	const char *reading;
} units[] = {
	[UNIT_TIME] = { "time", "20ms", "20ms, 300us, 0.02 (seconds)" },
	[UNIT_COUNT] = { "count", "3", "3" },
	[UNIT_RATE] = { "rate", "9mbit", "9mbit, 125kbps (bytes per second), 9000000 (bit/s)" },
	[UNIT_FRACTION] = { "fraction", "1%", "1%, 0.01" },
	[UNIT_FLAG] = { "flag", "1", "1, 0" },
};

enum statistic {
	STATISTIC_MIN, STATISTIC_MEDIAN, STATISTIC_P25, STATISTIC_P50, STATISTIC_P75,
	STATISTIC_P90, STATISTIC_P95, STATISTIC_P99, STATISTIC_MAX, STATISTIC_MEAN, STATISTIC_STDEV, STATISTICS
};

#define ALL_STATISTICS	(BIT(STATISTICS) - 1)
/* A histogram does not tell the standard deviation (struct summary). */
#define OF_HISTOGRAM	(ALL_STATISTICS & ~BIT(STATISTIC_STDEV))

static const char *const statistic_names[STATISTICS] = {
	[STATISTIC_MIN] = "min",
	[STATISTIC_MEDIAN] = "median",
	[STATISTIC_P25] = "p25",
	[STATISTIC_P50] = "p50",
	[STATISTIC_P75] = "p75",
	[STATISTIC_P90] = "p90",
	[STATISTIC_P95] = "p95",
	[STATISTIC_P99] = "p99",
	[STATISTIC_MAX] = "max",
	[STATISTIC_MEAN] = "mean",
	[STATISTIC_STDEV] = "stdev",
};

/* Where a figure is taken from. */
struct source {
	const struct result *result;
	const struct phase *phase;
	enum statistic statistic;
};

struct figure_kind {
	unsigned int phases;		/* bits of the kinds of phase with it; 0: the run has it */
	unsigned int statistics;	/* bits of its statistics; 0: it is a single number */
	const char *name;
	enum unit unit;
	/* NULL and value, or why there is none. */
	const char *(*get)(const struct source *source, double *value);
	const char *meaning;
};

struct figure {
	const struct figure_kind *kind;
	unsigned int phase;		/* of scenario_known_phases() */
	enum statistic statistic;
};

enum comparison { GREATER_OR_EQUAL, LESS_OR_EQUAL, EQUAL, NOT_EQUAL, GREATER, LESS };

/* The longer ones first: ">" begins ">=". */
static const char *const comparison_names[] = {
	[GREATER_OR_EQUAL] = ">=",
	[LESS_OR_EQUAL] = "<=",
	[EQUAL] = "==",
	[NOT_EQUAL] = "!=",
	[GREATER] = ">",
	[LESS] = "<",
};

/* Of which result, or of both. */
enum side { SIDE_RESULT, SIDE_BEFORE, SIDE_AFTER, SIDE_CHANGE, SIDES };

static const char *const side_names[SIDES] = {
	[SIDE_RESULT] = "",
	[SIDE_BEFORE] = "before.",
	[SIDE_AFTER] = "after.",
	[SIDE_CHANGE] = "change.",
};

struct expression {
	enum side side;
	bool relative;		/* of a change: limit is a part of before */
	struct figure figure;
	char name[FIGURE_NAME];
	enum comparison comparison;
	double limit;		/* ns, bit/s, a count or a fraction */
	char *limit_text;	/* as it was written; owned */
};

/* ---- getters ---- */

static const char *get_statistic(const struct summary *summary, enum statistic statistic,
				 double *value)
{
	const double values[STATISTICS] = {
		[STATISTIC_MIN] = (double)summary->min,
		[STATISTIC_MEDIAN] = (double)summary->p50,
		[STATISTIC_P25] = (double)summary->p25,
		[STATISTIC_P50] = (double)summary->p50,
		[STATISTIC_P75] = (double)summary->p75,
		[STATISTIC_P90] = (double)summary->p90,
		[STATISTIC_P95] = (double)summary->p95,
		[STATISTIC_P99] = (double)summary->p99,
		[STATISTIC_MAX] = (double)summary->max,
		[STATISTIC_MEAN] = summary->mean,
		[STATISTIC_STDEV] = summary->stdev,
	};

	*value = values[statistic];
	if (statistic == STATISTIC_STDEV && summary->count < 2)
		return "a single reply has no standard deviation";
	if ((statistic == STATISTIC_P25 || statistic == STATISTIC_P75) && *value < (double)summary->min)
		return "the file is of an older version, which told no quartiles";
	return NULL;
}

static const char *get_rtt(const struct source *source, double *value)
{
	if (!source->phase->rtt.count)
		return "no probe of the phase was answered";
	return get_statistic(&source->phase->rtt, source->statistic, value);
}

static const char *get_sent(const struct source *source, double *value)
{
	*value = source->phase->sent;
	return NULL;
}

static const char *get_received(const struct source *source, double *value)
{
	*value = source->phase->received;
	return NULL;
}

static const char *get_lost(const struct source *source, double *value)
{
	*value = source->phase->lost;
	return NULL;
}

static const char *get_loss(const struct source *source, double *value)
{
	if (!source->phase->sent)
		return "no probe was sent in the phase";
	*value = (double)source->phase->lost / source->phase->sent;
	return NULL;
}

static const char *get_sojourn(const struct source *source, double *value)
{
	const struct phase *load = result_load_of(source->result, source->phase);
	__u32 cause = load ? load->load.attribution.cause.qdisc : RESULT_NO_QDISC;
	unsigned int i;

	if (cause == RESULT_NO_QDISC)
		return "no qdisc was found to cause an RTT increase";
	for (i = 0; i < source->phase->qdisc_count; i++) {
		const struct phase_qdisc *qdisc = &source->phase->qdiscs[i];

		if (qdisc->qdisc == cause && qdisc->summary.count)
			return get_statistic(&qdisc->summary, source->statistic, value);
	}
	return "no packet went through the cause qdisc in the phase";
}

/* Roots only, as in the attribution: what a child drops, its root has dropped as well. */
static const char *get_drops(const struct source *source, double *value)
{
	const struct phase *phase = source->phase;
	bool found = false;
	unsigned int i;

	*value = 0;
	for (i = 0; i < phase->qdisc_count; i++) {
		if (!source->result->qdiscs[phase->qdiscs[i].qdisc].root)
			continue;
		*value += (double)phase->qdiscs[i].drops;
		found = true;
	}
	return found ? NULL : "no qdisc was traced";
}

static const char *get_sent_rate(const struct source *source, double *value)
{
	const struct phase_load *load = &source->phase->load;

	if (!load->have_iperf3 || !load->iperf3.sent.present)
		return "there is no sender's sum of iperf3";
	*value = load->iperf3.sent.bits_per_second;
	return NULL;
}

static const char *get_received_rate(const struct source *source, double *value)
{
	const struct phase_load *load = &source->phase->load;

	if (!load->have_iperf3 || !load->iperf3.received.present)
		return "there is no receiver's sum of iperf3";
	*value = load->iperf3.received.bits_per_second;
	return NULL;
}

static const char *get_retransmits(const struct source *source, double *value)
{
	const struct phase_load *load = &source->phase->load;

	if (!load->have_iperf3 || !load->iperf3.sent.present ||
	    load->iperf3.sent.retransmits < 0)
		return "iperf3 counted no retransmits (UDP has none)";
	*value = load->iperf3.sent.retransmits;
	return NULL;
}

static const char *get_share(const struct source *source, double *value)
{
	const struct attribution *attribution = &source->phase->load.attribution;

	if (!attribution->valid || attribution->cause.qdisc == RESULT_NO_QDISC)
		return "there was no RTT increase to attribute, or no qdisc to attribute it to";
	*value = attribution->cause.share;
	return NULL;
}

static const char *get_exclusive_share(const struct source *source, double *value)
{
	const struct attribution *attribution = &source->phase->load.attribution;

	if (!attribution->valid || attribution->cause.qdisc == RESULT_NO_QDISC)
		return "there was no RTT increase to attribute, or no qdisc to attribute it to";
	if (!attribution->cause.held_is_known)
		return "this tier does not see the children of the cause qdisc";
	*value = attribution->cause.held_share;
	return NULL;
}

static const char *get_explained(const struct source *source, double *value)
{
	const struct attribution *attribution = &source->phase->load.attribution;

	if (!attribution->valid)
		return "there was no RTT increase to explain";
	*value = attribution->explained;
	return NULL;
}

/* Known as soon as both phases have replies, also where it is too small to be explained. */
static const char *get_increase(const struct source *source, double *value)
{
	const struct phase *idle = result_phase(source->result, PHASE_IDLE);

	if (!idle || !idle->received || !source->phase->received)
		return "it needs replies both when idle and under load";
	*value = source->phase->load.attribution.rtt_increase_ns;
	return NULL;
}

static const char *get_rpm(const struct source *source, double *value)
{
	*value = responsiveness_rpm(source->result, source->phase);
	return isnan(*value) ? "no probe was answered" : NULL;
}

static const char *get_complete(const struct source *source, double *value)
{
	*value = source->result->complete;
	return NULL;
}

static const struct figure_kind kinds[] = {
	{ EVERY_PHASE, ALL_STATISTICS, "rtt", UNIT_TIME, get_rtt,
	  "RTT of the probes that were answered" },
	{ EVERY_PHASE, 0, "sent", UNIT_COUNT, get_sent, "probes sent" },
	{ EVERY_PHASE, 0, "received", UNIT_COUNT, get_received, "probes answered" },
	{ EVERY_PHASE, 0, "lost", UNIT_COUNT, get_lost, "probes not answered" },
	{ EVERY_PHASE, 0, "loss", UNIT_FRACTION, get_loss, "probes not answered, of those sent" },
	{ EVERY_PHASE, OF_HISTOGRAM, "sojourn", UNIT_TIME, get_sojourn,
	  "sojourn of all packets in the cause qdisc" },
	{ EVERY_PHASE, 0, "drops", UNIT_COUNT, get_drops, "packets dropped in all traced qdiscs" },
	{ UNDER_LOAD, 0, "increase", UNIT_TIME, get_increase, "mean RTT increase over idle" },
	{ UNDER_LOAD, 0, "rpm", UNIT_COUNT, get_rpm, "round trips per minute" },
	{ UNDER_LOAD, 0, "share", UNIT_FRACTION, get_share,
	  "of the RTT increase, in the cause qdisc" },
	{ UNDER_LOAD, 0, "exclusive_share", UNIT_FRACTION, get_exclusive_share,
	  "of it, in the cause qdisc itself" },
	{ UNDER_LOAD, 0, "explained", UNIT_FRACTION, get_explained,
	  "of the RTT increase, in all traced qdiscs" },
	{ UNDER_LOAD, 0, "sent_rate", UNIT_RATE, get_sent_rate, "iperf3's sender" },
	{ UNDER_LOAD, 0, "received_rate", UNIT_RATE, get_received_rate,
	  "iperf3's receiver: what was delivered" },
	{ UNDER_LOAD, 0, "retransmits", UNIT_COUNT, get_retransmits,
	  "TCP segments sent again, by iperf3" },
	{ WHOLE_RUN, 0, "complete", UNIT_FLAG, get_complete,
	  "nothing was lost and every ledger agrees" },
};

/* ---- figures and their names ---- */

static const struct scenario_phase *known_phase(unsigned int index)
{
	const struct scenario_phase *known;

	scenario_known_phases(&known);
	return &known[index];
}

static size_t count_figures(void)
{
	const struct scenario_phase *known;

	return COUNT(kinds) * scenario_known_phases(&known) * STATISTICS;
}

/* The figure of an index below count_figures(); false where a kind has none for it. */
static bool figure_at(size_t index, struct figure *figure)
{
	const struct scenario_phase *known;
	unsigned int phases = scenario_known_phases(&known);
	const struct figure_kind *kind = &kinds[index / (phases * STATISTICS)];

	figure->kind = kind;
	figure->phase = index / STATISTICS % phases;
	figure->statistic = index % STATISTICS;
	if (kind->phases ? !(kind->phases & BIT(known[figure->phase].kind)) : figure->phase)
		return false;
	return (kind->statistics ? kind->statistics : BIT(0)) & BIT(figure->statistic);
}

static void figure_name(const struct figure *figure, char name[FIGURE_NAME])
{
	const struct figure_kind *kind = figure->kind;

	snprintf(name, FIGURE_NAME, "%s%s%s%s%s",
		 kind->phases ? known_phase(figure->phase)->name : "", kind->phases ? "." : "",
		 kind->name, kind->statistics ? "." : "",
		 kind->statistics ? statistic_names[figure->statistic] : "");
}

static bool find_figure(const char *name, struct figure *figure)
{
	char known[FIGURE_NAME];
	size_t i, count = count_figures();

	for (i = 0; i < count; i++) {
		if (!figure_at(i, figure))
			continue;
		figure_name(figure, known);
		if (!strcmp(name, known))
			return true;
	}
	return false;
}

/* Is it the figure less its first or its last word: "rtt.p99", "load.rtt"? */
static bool is_part(const char *name, const char *known)
{
	const char *first = strchr(known, '.'), *last = strrchr(known, '.');

	if (!first)
		return false;
	return !strcmp(name, first + 1) ||
	       (strlen(name) == (size_t)(last - known) && !strncmp(name, known, last - known));
}

/* Whole words only. */
static void append(char *text, size_t size, const char *word)
{
	size_t used = strlen(text);

	if (used + strlen(word) + sizeof(", ") <= size)
		snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

/*
 * The nearest figures, all that are as near; empty where none is near. A part is
 * nearer than any slip of the pen.
 */
static void find_near(const char *name, char *near, size_t size)
{
	unsigned int best = ~0u, distance;
	char known[FIGURE_NAME];
	struct figure figure;
	size_t i, count = count_figures();

	near[0] = '\0';
	for (i = 0; i < count; i++) {
		if (!figure_at(i, &figure))
			continue;
		figure_name(&figure, known);
		distance = is_part(name, known) ? 0 : closest_distance(name, known);
		if (distance > best || (distance && !closest_near(name, known)))
			continue;
		if (distance < best)
			near[0] = '\0';
		best = distance;
		append(near, size, known);
	}
}

/* ---- values ---- */

/* Digits with a point, as mantissa / power; no more than a double holds exactly. */
static const char *read_digits(const char **text, __u64 *mantissa, __u64 *power)
{
	unsigned int digits = 0;
	bool behind = false;
	const char *p;

	*mantissa = 0;
	*power = 1;
	for (p = *text; isdigit((unsigned char)*p) || (*p == '.' && !behind); p++) {
		if (*p == '.') {
			behind = true;
			continue;
		}
		if (digits++ == DIGITS_MAX)
			return "has more than 15 digits";
		*mantissa = *mantissa * 10 + (__u64)(*p - '0');
		if (behind)
			*power *= 10;
	}
	*text = p;
	return digits ? NULL : "is no number";
}

/*
 * One division rounds once: "1.1%" is then the same double as 11 lost of 1000,
 * and == means what it says.
 */
static const char *read_fraction(const char *text, double *value)
{
	const char *rest = text, *wrong;
	__u64 mantissa, power;

	wrong = read_digits(&rest, &mantissa, &power);
	if (wrong)
		return wrong;
	if (!strcmp(rest, "%"))
		power *= 100;
	else if (*rest)
		return "does not end with its number or %";
	if (mantissa > power)
		return "is more than 100 %";
	*value = (double)mantissa / (double)power;
	return NULL;
}

static int parse_fraction(const char *text, double *value, struct error *error)
{
	const char *wrong = read_fraction(text, value);

	if (!wrong)
		return 0;
	return error_set(error, EXIT_USAGE, "fraction \"%s\" %s; write it like 1%% or 0.01", text,
			 wrong);
}

static int parse_flag(const char *text, double *value, struct error *error)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return error_set(error, EXIT_USAGE, "\"%s\" is neither 0 (no) nor 1 (yes)",
				 text);
	*value = text[0] == '1';
	return 0;
}

static int parse_limit(enum unit unit, const char *text, double *value, struct error *error)
{
	__u64 number = 0;
	int failed = -1;

	switch (unit) {
	case UNIT_TIME:
		failed = units_parse_time(text, &number, error);
		break;
	case UNIT_COUNT:
		failed = units_parse_count(text, &number, error);
		break;
	case UNIT_RATE:
		failed = units_parse_rate(text, &number, error);
		break;
	case UNIT_FRACTION:
		return parse_fraction(text, value, error);
	case UNIT_FLAG:
		return parse_flag(text, value, error);
	}
	*value = (double)number;
	return failed;
}

/*
 * The rest of the condition without the blanks around it and between a number
 * and its unit ("20 ms"); those between digits stay, for the error that they are.
 */
static char *copy_value(const char *text)
{
	size_t number = strspn(text, "0123456789."), blanks = strspn(text + number, " \t\n\v\f\r");
	char *value = strdup(text);
	size_t length;

	if (!value)
		return NULL;
	if (number && !strchr("0123456789.", text[number + blanks]))
		strcpy(value + number, text + number + blanks);
	for (length = strlen(value); length && isspace((unsigned char)value[length - 1]); length--)
		value[length - 1] = '\0';
	return value;
}

/* ---- parsing ---- */

static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* Counted from 1, in characters: the continuation bytes of UTF-8 are none. */
static unsigned int character_at(const char *text, const char *p)
{
	unsigned int characters = 1;

	for (; text < p; text++)
		characters += ((unsigned char)*text & 0xc0) != 0x80;
	return characters;
}

static int parse_figure(struct expression *expression, const char *text, const char **rest,
			struct error *error)
{
	const char *p = skip_blanks(*rest);
	size_t length = strcspn(p, " \t\n\v\f\r<>=!");
	char name[QUOTED_MAX + 1], near[256];

	if (!length)
		return error_set(error, EXIT_USAGE,
				 "expected a figure at character %u, as in \"load.rtt.p99 > 20ms\"; `sojourn help run` lists them",
				 character_at(text, p));
	snprintf(name, sizeof(name), "%.*s", (int)(length < sizeof(name) ? length : sizeof(name)), p);
	*rest = p + length;
	if (find_figure(name, &expression->figure)) {
		figure_name(&expression->figure, expression->name);
		return 0;
	}
	find_near(name, near, sizeof(near));
	if (near[0])
		return error_set(error, EXIT_USAGE,
				 "unknown figure \"%s\" at character %u: did you mean %s?", name,
				 character_at(text, p), near);
	return error_set(error, EXIT_USAGE,
			 "unknown figure \"%s\" at character %u: `sojourn help run` lists them",
			 name, character_at(text, p));
}

static int parse_comparison(struct expression *expression, const char *text, const char **rest,
			    struct error *error)
{
	const char *p = skip_blanks(*rest);
	unsigned int i;

	for (i = 0; i < COUNT(comparison_names); i++) {
		size_t length = strlen(comparison_names[i]);

		if (strncmp(p, comparison_names[i], length))
			continue;
		expression->comparison = i;
		*rest = p + length;
		return 0;
	}
	return error_set(error, EXIT_USAGE,
			 "expected an operator (> >= < <= == !=) at character %u",
			 character_at(text, p));
}

static int parse_value(struct expression *expression, const char *text, const char *rest,
		       struct error *error)
{
	enum unit unit = expression->figure.kind->unit;
	const char *p = skip_blanks(rest);
	struct error wrong;

	if (!*p)
		return error_set(error, EXIT_USAGE, "expected a %s such as %s at character %u",
				 units[unit].name, units[unit].example, character_at(text, p));
	expression->limit_text = copy_value(p);
	if (!expression->limit_text)
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (strlen(expression->limit_text) > VALUE_MAX)
		return error_set(error, EXIT_USAGE, "at character %u: a %s of more than %d characters",
				 character_at(text, p), units[unit].name, VALUE_MAX);
	if (parse_limit(unit, expression->limit_text, &expression->limit, &wrong))
		return error_set(error, EXIT_USAGE, "at character %u: %s is a %s; %s",
				 character_at(text, p), expression->name, units[unit].name,
				 wrong.text);
	return 0;
}

static int parse_side(struct expression *expression, const char *text, const char **rest,
		      struct error *error)
{
	const char *p = skip_blanks(text);
	unsigned int i;

	for (i = SIDE_BEFORE; i < SIDES; i++) {
		if (strncmp(p, side_names[i], strlen(side_names[i])))
			continue;
		expression->side = i;
		*rest = p + strlen(side_names[i]);
		return 0;
	}
	return error_set(error, EXIT_USAGE,
			 "expected before., after. or change. at character %u, as in \"change.load.rtt.p99 > 10%%\"",
			 character_at(text, p));
}

/* A change may be negative, and is a part of before where it ends with "%". */
static int parse_change(struct expression *expression, const char *text, const char *rest,
			struct error *error)
{
	const char *p = skip_blanks(rest);
	bool negative = *p == '-';
	char *end;

	p += negative;
	if (expression->figure.kind->unit != UNIT_FRACTION && strchr(p, '%')) {
		expression->relative = true;
		expression->limit = strtod(p, &end) / 100;
		if (!isdigit((unsigned char)*p) || strcmp(skip_blanks(end), "%") ||
		    !isfinite(expression->limit))
			return error_set(error, EXIT_USAGE,
					 "at character %u: a change in percent is written like 10%% or -5%%",
					 character_at(text, p));
		expression->limit_text = copy_value(p);
		if (!expression->limit_text)
			return error_set(error, EXIT_CANNOT, "out of memory");
	} else if (parse_value(expression, text, p, error)) {
		return -1;
	}
	if (negative)
		expression->limit = -expression->limit;
	return 0;
}

static struct expression *parse_condition(const char *text, bool sides, struct error *error)
{
	struct expression *expression = calloc(1, sizeof(*expression));
	const char *rest = text;

	if (!expression) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	if ((sides && parse_side(expression, text, &rest, error)) ||
	    parse_figure(expression, text, &rest, error) ||
	    parse_comparison(expression, text, &rest, error) ||
	    (expression->side == SIDE_CHANGE ? parse_change(expression, text, rest, error) :
					       parse_value(expression, text, rest, error))) {
		expression_free(expression);
		return NULL;
	}
	return expression;
}

struct expression *expression_parse(const char *text, struct error *error)
{
	return parse_condition(text, false, error);
}

struct expression *expression_parse_change(const char *text, struct error *error)
{
	return parse_condition(text, true, error);
}

const char *expression_name(const struct expression *expression)
{
	return expression->name;
}

void expression_free(struct expression *expression)
{
	if (!expression)
		return;
	free(expression->limit_text);
	free(expression);
}

/* ---- judging ---- */

int expression_check(const struct expression *expression, const struct scenario *scenario,
		     struct error *error)
{
	const char *wanted = known_phase(expression->figure.phase)->name;
	const struct scenario_phase *phases;
	unsigned int count = scenario_phases(scenario, &phases), i;
	char names[128] = "";

	if (!expression->figure.kind->phases)
		return 0;
	for (i = 0; i < count; i++) {
		if (!strcmp(phases[i].name, wanted))
			return 0;
		append(names, sizeof(names), phases[i].name);
	}
	return error_set(error, EXIT_USAGE, "%s: this run has no phase \"%s\"; it has %s",
			 expression->name, wanted, names);
}

/* NULL and value, or why there is none. */
static const char *get_figure(const struct figure *figure, const struct result *result,
			      double *value)
{
	struct source source = {
		.result = result,
		.phase = result_phase_named(result, known_phase(figure->phase)->name),
		.statistic = figure->statistic,
	};
	const char *missing;

	if (figure->kind->phases && (!source.phase || !source.phase->valid))
		return "the phase did not take place";
	missing = figure->kind->get(&source, value);
	return !missing && isnan(*value) ? "it has no meaning here" : missing;
}

static int get_value(const struct expression *expression, const struct result *result,
		     double *value, struct error *error)
{
	const char *missing = get_figure(&expression->figure, result, value);

	if (!missing)
		return 0;
	return error_set(error, EXIT_INCOMPLETE, "%s has no value: %s", expression->name, missing);
}

bool expression_figure(const char *name, const struct result *result, double *value)
{
	struct figure figure;

	return find_figure(name, &figure) && !get_figure(&figure, result, value);
}

static bool compare(double value, enum comparison comparison, double limit)
{
	switch (comparison) {
	case GREATER_OR_EQUAL:
		return value >= limit;
	case LESS_OR_EQUAL:
		return value <= limit;
	case EQUAL:
		return value == limit;
	case NOT_EQUAL:
		return value != limit;
	case GREATER:
		return value > limit;
	case LESS:
		return value < limit;
	}
	return false;
}

int expression_holds(const struct expression *expression, const struct result *result,
		     bool *holds, struct error *error)
{
	double value;

	if (get_value(expression, result, &value, error))
		return -1;
	*holds = compare(value, expression->comparison, expression->limit);
	return 0;
}

#define VALUE_TEXT	(2 * UNITS_TEXT + 32)

static void rounded_text(enum unit unit, double value, char text[UNITS_TEXT])
{
	if (unit == UNIT_TIME)
		units_time_text(value, text);
	else if (unit == UNIT_RATE)
		units_rate_text(value, text);
	else if (unit == UNIT_FRACTION)
		snprintf(text, UNITS_TEXT, "%.3g %%", value * 100);
	else
		snprintf(text, UNITS_TEXT, "%.0f", value);
}

static void exact_text(enum unit unit, double value, char text[UNITS_TEXT])
{
	if (unit == UNIT_FRACTION)
		snprintf(text, UNITS_TEXT, "%.12g %%", value * 100);
	else
		snprintf(text, UNITS_TEXT, "%.12g %s", value, unit == UNIT_TIME ? "ns" : "bit/s");
}

/*
 * For a person, with three digits; where the limit has the same three, exactly
 * as well: "20.0 ms, which is > 20ms" would look wrong.
 */
static void value_text(enum unit unit, double value, double limit, char text[VALUE_TEXT])
{
	char rounded[UNITS_TEXT], rounded_limit[UNITS_TEXT], exact[UNITS_TEXT];

	rounded_text(unit, value, rounded);
	rounded_text(unit, limit, rounded_limit);
	exact_text(unit, value, exact);
	if (value != limit && !strcmp(rounded, rounded_limit))
		snprintf(text, VALUE_TEXT, "%s (%s)", rounded, exact);
	else
		snprintf(text, VALUE_TEXT, "%s", rounded);
}

int expression_describe(const struct expression *expression, const struct result *result,
			char *text, size_t size, struct error *error)
{
	char found[VALUE_TEXT];
	double value;

	if (get_value(expression, result, &value, error))
		return -1;
	value_text(expression->figure.kind->unit, value, expression->limit, found);
	snprintf(text, size, "%s is %s, which is %s%s %s", expression->name, found,
		 compare(value, expression->comparison, expression->limit) ? "" : "not ",
		 comparison_names[expression->comparison], expression->limit_text);
	return 0;
}

_Static_assert(EXPRESSION_TEXT >= UNITS_TEXT, "a rounded value fits");

const char *expression_figure_text(const char *name, double value, char text[EXPRESSION_TEXT])
{
	struct figure figure;

	rounded_text(find_figure(name, &figure) ? figure.kind->unit : UNIT_COUNT, value, text);
	return text;
}

/* "+12.0 ms" or "-3": with its sign. */
static void signed_text(enum unit unit, double value, char text[VALUE_TEXT])
{
	char rounded[UNITS_TEXT];

	rounded_text(unit, fabs(value), rounded);
	snprintf(text, VALUE_TEXT, "%s%s", value < 0 ? "-" : "+", rounded);
}

int expression_change_holds(const struct expression *expression, double before, double after,
			    bool *holds, char *text, size_t size, struct error *error)
{
	enum unit unit = expression->figure.kind->unit;
	double value = expression->side == SIDE_BEFORE ? before :
		       expression->side == SIDE_AFTER ? after : after - before;
	char found[VALUE_TEXT];

	if (expression->relative && before == 0)
		return error_set(error, EXIT_INCOMPLETE,
				 "%s%s has no value in percent: it was 0 before",
				 side_names[expression->side], expression->name);
	if (expression->relative)
		value /= before;
	*holds = compare(value, expression->comparison, expression->limit);
	if (expression->relative)
		snprintf(found, sizeof(found), "%+.3g %%", value * 100);
	else if (expression->side == SIDE_CHANGE)
		signed_text(unit, value, found);
	else
		value_text(unit, value, expression->limit, found);
	snprintf(text, size, "%s%s is %s, which is %s%s %s%s", side_names[expression->side],
		 expression->name, found, *holds ? "" : "not ",
		 comparison_names[expression->comparison], expression->limit < 0 ? "-" : "",
		 expression->limit_text);
	return 0;
}

/* ---- help ---- */

static void print_kind(const struct figure_kind *kind)
{
	char name[FIGURE_NAME];
	const char *phase = "";

	if (kind->phases == EVERY_PHASE)
		phase = "PHASE";
	else if (kind->phases)
		phase = "load";
	snprintf(name, sizeof(name), "%s%s%s%s", phase, *phase ? "." : "", kind->name,
		 kind->statistics ? ".STATISTIC" : "");
	printf("  %-24s %-9s %s\n", name, units[kind->unit].name, kind->meaning);
}

static void print_statistics(void)
{
	unsigned int i;

	printf("STATISTIC:");
	for (i = 0; i < STATISTICS; i++)
		printf("%s %s", i ? "," : "", statistic_names[i]);
	printf(".\nA sojourn has no stdev.\n");
}

void expression_print_figures(void)
{
	const struct scenario_phase *known;
	unsigned int i, phases = scenario_known_phases(&known);

	printf("Conditions of --fail-if: FIGURE OPERATOR VALUE (> >= < <= == !=). Figures:\n");
	for (i = 0; i < COUNT(kinds); i++)
		print_kind(&kinds[i]);
	printf("PHASE:");
	for (i = 0; i < phases; i++)
		printf("%s %s", i ? "," : "", known[i].name);
	printf(".\nUpload and download have the figures of the load.\n");
	print_statistics();
	printf("Values:\n");
	for (i = 0; i < COUNT(units); i++)
		printf("  %-24s %s\n", units[i].name, units[i].reading);
}
