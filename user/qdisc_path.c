// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <math.h>
#include <string.h>

#include "qdisc_options.h"
#include "qdisc_path.h"
#include "text.h"
#include "units.h"

/* Of two limits the more used one is meant, unless they differ by less than this. */
#define NEARLY	0.9

static __u64 option_of_qdisc(const struct qdisc_info *qdisc, const char *name)
{
	const struct qdisc_option *option =
		qdisc_option_find(qdisc->options, qdisc->option_count, name);

	return option ? option->value : 0;
}

static __u64 option_of_class(const struct class_info *class, const char *name)
{
	const struct qdisc_option *option =
		qdisc_option_find(class->options, class->option_count, name);

	return option ? option->value : 0;
}

/* ---- the path ---- */

/* A qdisc that hangs in the device itself; ingress and clsact in its receiving side. */
static bool is_top(const struct qdisc_info *qdisc)
{
	return qdisc->parent == TC_H_ROOT || qdisc->parent == TC_H_INGRESS;
}

/*
 * The qdisc whose class is the parent of another, or NULL. Handle 0 is given to
 * what the kernel makes by itself; only a root of these has children (mq).
 */
static const struct qdisc_info *owner_of(const struct qdisc_tree *tree,
					 const struct qdisc_info *qdisc)
{
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct qdisc_info *other = &tree->qdiscs[i];

		if (other != qdisc && other->netns == qdisc->netns &&
		    other->ifindex == qdisc->ifindex &&
		    other->handle == TC_H_MAJ(qdisc->parent) &&
		    (other->handle || other->parent == TC_H_ROOT))
			return other;
	}
	return NULL;
}

static bool add_step(struct qdisc_path *path, enum path_step_kind kind, __u32 id, size_t index)
{
	if (path->count == PATH_STEPS_MAX) {
		path->broken = true;
		return false;
	}
	path->steps[path->count++] = (struct path_step){ kind, id, index };
	return true;
}

/* The class that qdisc hangs in and those above it, up to owner. */
static void add_classes(struct qdisc_path *path, const struct qdisc_snapshot *snapshot,
			const struct qdisc_info *owner, const struct qdisc_info *qdisc)
{
	const struct class_info *class;

	if (!qdisc_kind_has_classes(owner->kind))
		return;
	class = qdisc_class_find(snapshot->classes, qdisc->netns, qdisc->ifindex, qdisc->parent);
	if (!class) {
		add_step(path, STEP_CLASS, qdisc->parent, STEP_UNKNOWN);
		return;
	}
	for (; class; class = qdisc_class_parent(snapshot->classes, class)) {
		/* hfsc's root class stands for the qdisc. */
		if (TC_H_MIN(class->classid) &&
		    !add_step(path, STEP_CLASS, class->classid,
			      class - snapshot->classes->classes))
			return;
	}
}

static void reverse(struct qdisc_path *path)
{
	unsigned int i;

	for (i = 0; i < path->count / 2; i++) {
		struct path_step step = path->steps[i];

		path->steps[i] = path->steps[path->count - 1 - i];
		path->steps[path->count - 1 - i] = step;
	}
}

void qdisc_path_find(struct qdisc_path *path, const struct qdisc_snapshot *snapshot,
		     const struct qdisc_info *qdisc)
{
	const struct qdisc_info *owner;

	memset(path, 0, sizeof(*path));
	while (add_step(path, STEP_QDISC, qdisc->handle, qdisc - snapshot->tree->qdiscs) &&
	       !is_top(qdisc)) {
		owner = owner_of(snapshot->tree, qdisc);
		if (!owner) {
			path->broken = true;
			break;
		}
		add_classes(path, snapshot, owner, qdisc);
		qdisc = owner;
	}
	reverse(path);
}

static void add_rate(struct text *text, const char *name, __u64 rate)
{
	char buffer[UNITS_TEXT];

	if (rate)
		text_add(text, " %s %s", name, units_rate_text((double)rate, buffer));
}

static void add_qdisc_step(struct text *text, const struct qdisc_info *qdisc)
{
	char buffer[UNITS_TEXT];
	__u64 delay = option_of_qdisc(qdisc, "delay");

	text_add(text, " → %s %s", qdisc->kind, qdisc_handle_text(qdisc->handle, buffer));
	if (!strcmp(qdisc->kind, "netem") && delay)
		text_add(text, " delay %s", units_time_text((double)delay, buffer));
	add_rate(text, "rate", option_of_qdisc(qdisc, "rate"));
	add_rate(text, "bandwidth", option_of_qdisc(qdisc, "bandwidth"));
	add_rate(text, "maxrate", option_of_qdisc(qdisc, "maxrate"));
}

static void add_class_step(struct text *text, const struct qdisc_snapshot *snapshot,
			   const struct path_step *step)
{
	const struct class_info *class;
	char buffer[16];
	__u64 rate;

	text_add(text, " → class %s", qdisc_handle_text(step->id, buffer));
	if (step->index == STEP_UNKNOWN)
		return;
	class = &snapshot->classes->classes[step->index];
	rate = option_of_class(class, "rate");
	add_rate(text, "rate", rate);
	if (option_of_class(class, "ceil") != rate)
		add_rate(text, "ceil", option_of_class(class, "ceil"));
	add_rate(text, "rt", option_of_class(class, "rt_m2"));
	add_rate(text, "ul", option_of_class(class, "ul_m2"));
}

const char *qdisc_path_text(const struct qdisc_path *path, const struct qdisc_snapshot *snapshot,
			    char *text, size_t size)
{
	struct text out = text_begin(text, size);
	unsigned int i;

	if (!path->count)
		return text;
	text_add(&out, "%s", snapshot->tree->qdiscs[path->steps[path->count - 1].index].device);
	if (path->broken)
		text_add(&out, " → …");
	for (i = 0; i < path->count; i++) {
		const struct path_step *step = &path->steps[i];

		if (step->kind == STEP_CLASS)
			add_class_step(&out, snapshot, step);
		else
			add_qdisc_step(&out, &snapshot->tree->qdiscs[step->index]);
	}
	return text;
}

/* ---- limits ---- */

/* Something on a path that can hold packets back. */
struct limit {
	enum holder_kind kind;
	enum holder_how how;
	size_t index;
	__u64 rate;		/* bit/s, 0: none */
	bool reached;
	double use;		/* sent in the time, over the rate */
};

#define LIMITS_MAX	(2 * PATH_STEPS_MAX)

/* Those found so far, the nearest to the packets first. */
struct limits {
	const struct qdisc_snapshot *begin, *end;	/* begin: NULL or as given */
	struct limit list[LIMITS_MAX];
	unsigned int count;
};

static __u64 difference(__u64 before, __u64 after)
{
	return after > before ? after - before : 0;
}

/* Deltas of a qdisc; of one that is new, all that it counted. Zeros where there is no begin. */
static struct qdisc_kernel_counters qdisc_delta(const struct limits *limits,
						const struct qdisc_info *qdisc)
{
	static const struct qdisc_info none;
	const struct qdisc_info *before = NULL;

	if (!limits->begin)
		return none.kernel;
	before = qdisc_tree_find(limits->begin->tree, qdisc->netns, qdisc->ifindex, qdisc->parent,
				 qdisc->handle);
	if (!before)
		before = &none;
	return (struct qdisc_kernel_counters){
		.bytes = difference(before->kernel.bytes, qdisc->kernel.bytes),
		.overlimits = difference(before->kernel.overlimits, qdisc->kernel.overlimits),
	};
}

/* The same of a class; borrows too. */
static struct qdisc_kernel_counters class_delta(const struct limits *limits,
						const struct class_info *class, __u32 *borrows)
{
	static const struct class_info none;
	const struct class_info *before;

	*borrows = 0;
	if (!limits->begin)
		return none.kernel;
	before = qdisc_class_find(limits->begin->classes, class->netns, class->ifindex,
				  class->classid);
	if (!before)
		before = &none;
	*borrows = class->htb.borrows - before->htb.borrows;
	return (struct qdisc_kernel_counters){
		.bytes = difference(before->kernel.bytes, class->kernel.bytes),
		.overlimits = difference(before->kernel.overlimits, class->kernel.overlimits),
	};
}

static double use_of(__u64 bytes, __u64 rate, __u64 ns)
{
	return rate && ns ? bytes * 8e9 / (double)ns / (double)rate : 0;
}

static __u64 qdisc_time_ns(const struct limits *limits)
{
	if (!limits->begin)
		return 0;
	return difference(limits->begin->tree->time_ns, limits->end->tree->time_ns);
}

static __u64 class_time_ns(const struct limits *limits)
{
	if (!limits->begin || !limits->begin->classes)
		return 0;
	return difference(limits->begin->classes->time_ns, limits->end->classes->time_ns);
}

static void add_limit(struct limits *limits, struct limit limit)
{
	if (limits->count < LIMITS_MAX)
		limits->list[limits->count++] = limit;
}

/* A qdisc that limits what leaves it or its children. */
static void add_shaper(struct limits *limits, const struct qdisc_info *qdisc, __u64 rate)
{
	struct qdisc_kernel_counters delta = qdisc_delta(limits, qdisc);

	add_limit(limits, (struct limit){
		.kind = HOLDER_QDISC,
		.how = HOLDS_BY_RATE,
		.index = qdisc - limits->end->tree->qdiscs,
		.rate = rate,
		.reached = delta.overlimits > 0,
		.use = use_of(delta.bytes, rate, qdisc_time_ns(limits)),
	});
}

static void add_plain(struct limits *limits, const struct qdisc_info *qdisc, enum holder_how how,
		      __u64 rate)
{
	add_limit(limits, (struct limit){
		.kind = HOLDER_QDISC,
		.how = how,
		.index = qdisc - limits->end->tree->qdiscs,
		.rate = rate,
	});
}

/* asked: it is the qdisc that the question is about, and keeps its packets whatever others do. */
static void add_netem_limit(struct limits *limits, const struct qdisc_info *qdisc, bool asked)
{
	__u64 rate = option_of_qdisc(qdisc, "rate");
	double use = use_of(qdisc_delta(limits, qdisc).bytes, rate, qdisc_time_ns(limits));

	if (!rate && !option_of_qdisc(qdisc, "delay") && !option_of_qdisc(qdisc, "slot_max"))
		return;
	add_limit(limits, (struct limit){
		.kind = HOLDER_QDISC,
		.how = rate ? HOLDS_BY_RATE : HOLDS_BY_DELAY,
		.index = qdisc - limits->end->tree->qdiscs,
		.rate = rate,
		.reached = asked || use >= NEARLY,
		.use = asked ? HUGE_VAL : use,
	});
}

/* What a qdisc does to the packets in itself, and not to those in a child. */
static void add_own_limit(struct limits *limits, const struct qdisc_info *qdisc, bool asked)
{
	__u64 maxrate = option_of_qdisc(qdisc, "maxrate");

	if (!strcmp(qdisc->kind, "netem"))
		add_netem_limit(limits, qdisc, asked);
	else if (!strcmp(qdisc->kind, "etf"))
		add_plain(limits, qdisc, HOLDS_BY_PACING, 0);
	else if (!strcmp(qdisc->kind, "fq") && maxrate)
		add_plain(limits, qdisc, HOLDS_BY_RATE, maxrate);
	else if (!strcmp(qdisc->kind, "fq") && option_of_qdisc(qdisc, "pacing"))
		add_plain(limits, qdisc, HOLDS_BY_PACING, 0);
	else if (!strcmp(qdisc->kind, "cake") && option_of_qdisc(qdisc, "bandwidth"))
		add_shaper(limits, qdisc, option_of_qdisc(qdisc, "bandwidth"));
}

static void add_qdisc_limit(struct limits *limits, const struct qdisc_info *qdisc)
{
	if (!strcmp(qdisc->kind, "tbf"))
		add_shaper(limits, qdisc, option_of_qdisc(qdisc, "rate"));
	else if (!strcmp(qdisc->kind, "taprio"))
		add_plain(limits, qdisc, HOLDS_BY_GATES, 0);
}

static void add_htb_limit(struct limits *limits, const struct class_info *class)
{
	__u64 rate = option_of_class(class, "rate"), ceil = option_of_class(class, "ceil");
	struct qdisc_kernel_counters delta;
	bool top, reached;
	__u32 borrows;
	double use;

	top = !qdisc_class_parent(limits->end->classes, class);
	if (!top || rate > ceil)
		rate = ceil;
	delta = class_delta(limits, class, &borrows);
	use = use_of(delta.bytes, rate, class_time_ns(limits));
	reached = delta.overlimits > 0 ||
		  (top && delta.bytes && (class->htb.tokens_ns < 0 || use >= NEARLY));
	add_limit(limits, (struct limit){
		.kind = HOLDER_CLASS,
		.how = HOLDS_BY_RATE,
		.index = class - limits->end->classes->classes,
		.rate = rate,
		.reached = reached,
		.use = use,
	});
}

/*
 * A class whose only curve is rt sends when that curve says so and not before;
 * one with ls sends as long as its parent and its own ul let it, or its rt does
 * (sch_hfsc.c, hfsc_dequeue, init_ed, init_vf).
 */
static __u64 hfsc_rate(const struct class_info *class)
{
	__u64 rt = option_of_class(class, "rt_m2"), ul = option_of_class(class, "ul_m2");
	bool shares = qdisc_option_find(class->options, class->option_count, "ls_m2");

	if (shares && !ul)
		return 0;
	return shares && ul > rt ? ul : rt ? rt : ul;
}

static void add_hfsc_limit(struct limits *limits, const struct class_info *class,
			   const struct qdisc_info *qdisc)
{
	struct qdisc_kernel_counters delta;
	__u64 rate = hfsc_rate(class);
	__u32 borrows;

	if (!rate)
		return;
	delta = class_delta(limits, class, &borrows);
	add_limit(limits, (struct limit){
		.kind = HOLDER_CLASS,
		.how = HOLDS_BY_RATE,
		.index = class - limits->end->classes->classes,
		.rate = rate,
		.reached = delta.bytes && qdisc_delta(limits, qdisc).overlimits > 0,
		.use = use_of(delta.bytes, rate, class_time_ns(limits)),
	});
}

/* The qdisc that a step which is a class belongs to: the last qdisc before it. */
static const struct qdisc_info *qdisc_before(const struct qdisc_path *path,
					     const struct qdisc_snapshot *snapshot,
					     unsigned int step)
{
	while (step-- > 0) {
		if (path->steps[step].kind == STEP_QDISC)
			return &snapshot->tree->qdiscs[path->steps[step].index];
	}
	return NULL;
}

static void add_class_limit(struct limits *limits, const struct qdisc_path *path, unsigned int step)
{
	const struct qdisc_info *qdisc = qdisc_before(path, limits->end, step);
	const struct class_info *class;

	if (!qdisc || path->steps[step].index == STEP_UNKNOWN)
		return;
	class = &limits->end->classes->classes[path->steps[step].index];
	if (!strcmp(class->kind, "htb"))
		add_htb_limit(limits, class);
	else if (!strcmp(class->kind, "hfsc"))
		add_hfsc_limit(limits, class, qdisc);
}

/* The limits of the steps from the last one up to first; 0: of the qdisc asked about. */
static void add_path_limits(struct limits *limits, const struct qdisc_path *path,
			    unsigned int first)
{
	unsigned int i;

	for (i = path->count; i-- > first;) {
		const struct qdisc_info *qdisc;

		if (path->steps[i].kind == STEP_CLASS) {
			add_class_limit(limits, path, i);
			continue;
		}
		qdisc = &limits->end->tree->qdiscs[path->steps[i].index];
		if (i + 1 == path->count)
			add_own_limit(limits, qdisc, !first);
		add_qdisc_limit(limits, qdisc);
	}
}

static bool any_reached(const struct limits *limits)
{
	unsigned int i;

	for (i = 0; i < limits->count; i++) {
		if (limits->list[i].reached)
			return true;
	}
	return false;
}

/* ---- what stands below ---- */

static bool is_parent_of_any(const struct qdisc_tree *tree, const struct qdisc_info *qdisc)
{
	size_t i;

	for (i = 0; i < tree->count; i++) {
		if (!is_top(&tree->qdiscs[i]) && owner_of(tree, &tree->qdiscs[i]) == qdisc)
			return true;
	}
	return false;
}

/* The number of steps above and including the qdisc, 0 where the path does not pass it. */
static unsigned int steps_to(const struct qdisc_path *path, size_t qdisc)
{
	unsigned int i;

	for (i = 0; i < path->count; i++) {
		if (path->steps[i].kind == STEP_QDISC && path->steps[i].index == qdisc)
			return i + 1;
	}
	return 0;
}

/* The limits between qdisc and the one below that speaks for it; none without children. */
static void add_limits_below(struct limits *limits, const struct qdisc_info *qdisc)
{
	const struct qdisc_tree *tree = limits->end->tree;
	__u64 most = 0;
	bool found = false;
	size_t i;

	for (i = 0; i < tree->count; i++) {
		struct limits below = { .begin = limits->begin, .end = limits->end };
		const struct qdisc_info *tip = &tree->qdiscs[i];
		struct qdisc_path path;
		unsigned int steps;
		bool reached;
		__u64 bytes;

		if (tip == qdisc || tip->netns != qdisc->netns || tip->ifindex != qdisc->ifindex ||
		    is_parent_of_any(tree, tip))
			continue;
		qdisc_path_find(&path, limits->end, tip);
		steps = steps_to(&path, qdisc - tree->qdiscs);
		if (!steps)
			continue;
		add_path_limits(&below, &path, steps);
		reached = any_reached(&below);
		bytes = limits->begin ? qdisc_delta(limits, tip).bytes : tip->kernel.bytes;
		if (found && (reached == any_reached(limits) ? bytes <= most : !reached))
			continue;
		found = true;
		most = bytes;
		*limits = below;
	}
}

/* ---- the holder ---- */

static const struct limit *choose_reached(const struct limits *limits)
{
	double most = 0;
	unsigned int i;

	for (i = 0; i < limits->count; i++) {
		if (limits->list[i].reached && limits->list[i].use > most)
			most = limits->list[i].use;
	}
	for (i = 0; i < limits->count; i++) {
		if (limits->list[i].reached && limits->list[i].use >= NEARLY * most)
			return &limits->list[i];
	}
	return NULL;
}

static const struct limit *choose_by_settings(const struct limits *limits)
{
	unsigned int i;

	for (i = 0; i < limits->count; i++) {
		if (limits->list[i].how != HOLDS_BY_PACING)
			return &limits->list[i];
	}
	return limits->count ? &limits->list[0] : NULL;
}

/* ", NAME RATE", without the comma where it is the first in brackets. */
static void add_item(struct text *text, const char *name, __u64 rate)
{
	char buffer[UNITS_TEXT];

	if (!rate)
		return;
	text_add(text, "%s%s %s", text->buffer[text->used - 1] == '(' ? "" : ", ", name,
		 units_rate_text((double)rate, buffer));
}

static void describe_class(struct text *text, const struct limits *limits,
			   const struct limit *limit)
{
	const struct class_info *class = &limits->end->classes->classes[limit->index];
	const char *const names[] = { "rate", "ceil", "rt", "ul" };
	const char *const options[] = { "rate", "ceil", "rt_m2", "ul_m2" };
	struct qdisc_kernel_counters delta;
	char handle[16], classid[16];
	__u32 borrows;
	size_t i;

	text_add(text, "class %s of %s %s (", qdisc_handle_text(class->classid, classid),
		 class->kind, qdisc_handle_text(TC_H_MAJ(class->classid), handle));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_item(text, names[i], option_of_class(class, options[i]));
	delta = class_delta(limits, class, &borrows);
	if (limits->begin && class->have_htb)
		text_add(text, "; %llu overlimits, %u borrowed",
			 (unsigned long long)delta.overlimits, borrows);
	text_add(text, ")");
}

static void describe_qdisc(struct text *text, const struct limits *limits,
			   const struct limit *limit)
{
	const struct qdisc_info *qdisc = &limits->end->tree->qdiscs[limit->index];
	__u64 delay = option_of_qdisc(qdisc, "delay");
	char buffer[UNITS_TEXT];

	text_add(text, "%s %s (", qdisc->kind, qdisc_handle_text(qdisc->handle, buffer));
	add_item(text, "rate", option_of_qdisc(qdisc, "rate"));
	add_item(text, "bandwidth", option_of_qdisc(qdisc, "bandwidth"));
	add_item(text, "maxrate of each flow", option_of_qdisc(qdisc, "maxrate"));
	if (!strcmp(qdisc->kind, "netem") && delay)
		text_add(text, "%sdelay %s", limit->rate ? ", " : "",
			 units_time_text((double)delay, buffer));
	else if (limit->how == HOLDS_BY_DELAY)
		text_add(text, "slots");
	else if (limit->how == HOLDS_BY_GATES)
		text_add(text, "gates that open by a schedule");
	else if (limit->how == HOLDS_BY_PACING)
		text_add(text, "pacing: until the time that a packet carries");
	else if (limits->begin && strcmp(qdisc->kind, "netem") && strcmp(qdisc->kind, "fq"))
		text_add(text, "; %llu overlimits",
			 (unsigned long long)qdisc_delta(limits, qdisc).overlimits);
	text_add(text, ")");
}

void qdisc_holder_find(struct qdisc_holder *holder, const struct qdisc_snapshot *begin,
		       const struct qdisc_snapshot *end, const struct qdisc_info *qdisc)
{
	struct limits limits = { .begin = begin, .end = end };
	struct text text = text_begin(holder->text, sizeof(holder->text));
	const struct limit *limit;
	struct qdisc_path path;

	memset(holder, 0, sizeof(*holder));
	holder->index = qdisc - end->tree->qdiscs;
	add_limits_below(&limits, qdisc);
	qdisc_path_find(&path, end, qdisc);
	add_path_limits(&limits, &path, 0);
	limit = choose_reached(&limits);
	holder->seen = limit;
	if (!limit)
		limit = choose_by_settings(&limits);
	if (!limit) {
		text_add(&text, "the device %s itself (its driver and link)", qdisc->device);
		return;
	}
	holder->kind = limit->kind;
	holder->how = limit->how;
	holder->index = limit->index;
	holder->rate_bit_per_s = limit->rate;
	if (limit->kind == HOLDER_CLASS)
		describe_class(&text, &limits, limit);
	else
		describe_qdisc(&text, &limits, limit);
}
