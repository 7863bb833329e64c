// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "text.h"

/* Add a formatted reason behind those that are there; what finds no room is cut off. */
static void add_why(struct ledger *ledger, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_why(struct ledger *ledger, const char *format, ...)
{
	struct text why = { ledger->why, sizeof(ledger->why), strlen(ledger->why) };
	va_list arguments;

	if (why.used)
		text_add(&why, "; ");
	va_start(arguments, format);
	text_add_list(&why, format, arguments);
	va_end(arguments);
}

static void fill_own(struct ledger *ledger, const struct qdisc_record *record, __u64 queued)
{
	const struct qdisc_counters *counters = &record->counters;

	ledger->offered = counters->offered_packets;
	ledger->measured = counters->measured_packets;
	ledger->bypassed = counters->bypassed_packets;
	ledger->rejected = counters->rejected_packets;
	ledger->dropped_inside = counters->dropped_packets;
	ledger->requeued = counters->requeued;
	ledger->queued = queued;
	ledger->unmatched = counters->unmatched_packets;
	ledger->flow_misses = counters->flow_misses;
	ledger->dropped_skbs = counters->dropped_skbs;
	ledger->rejected_skbs = counters->rejected_skbs;
	ledger->rejected_inactive = counters->rejected_inactive;
	ledger->purged_skbs = counters->purged_skbs;
	ledger->stolen_skbs = counters->stolen_skbs;
	ledger->parts_refused = counters->parts_refused;
	ledger->unaccounted = (__s64)(ledger->offered - ledger->measured - ledger->bypassed -
				      ledger->rejected - ledger->dropped_inside -
				      ledger->queued);
}

/* The differences of the kernel's counters; its backlog as it was at the end. */
static void fill_kernel(struct ledger *ledger, const struct qdisc_kernel_counters *before,
			const struct qdisc_kernel_counters *after)
{
	static const struct qdisc_kernel_counters zero;

	if (!before)
		before = &zero;
	ledger->queued_at_start = before->backlog_packets;
	ledger->have_kernel = true;
	ledger->kernel.packets = after->packets - before->packets;
	ledger->kernel.bytes = after->bytes - before->bytes;
	ledger->kernel.drops = after->drops - before->drops;
	ledger->kernel.requeues = after->requeues - before->requeues;
	ledger->kernel.overlimits = after->overlimits - before->overlimits;
	ledger->kernel.backlog_bytes = after->backlog_bytes;
	ledger->kernel.backlog_packets = after->backlog_packets;
}

static void disagree(struct ledger *ledger, const char *what, __u64 own, __u64 kernel)
{
	ledger->agrees = LEDGER_DISAGREES;
	add_why(ledger, "%s: traced %llu, kernel %llu (%+lld)", what, own, kernel,
		(long long)(own - kernel));
}

__u64 ledger_drops(const struct ledger *ledger)
{
	return ledger->rejected_skbs + ledger->dropped_skbs - ledger->rejected_inactive -
	       ledger->purged_skbs - ledger->stolen_skbs - ledger->parts_refused;
}

/* reorders: netem counts each packet that it puts in front as a requeue (net/sched/sch_netem.c, netem_enqueue()). */
static void compare(struct ledger *ledger, bool reorders)
{
	__u64 packets = ledger->measured + ledger->bypassed + ledger->unmatched;
	__u64 drops = ledger_drops(ledger);
	__u64 waiting = ledger->kernel.requeues - ledger->requeued;

	ledger->agrees = LEDGER_AGREES;
	if (packets != ledger->kernel.packets)
		disagree(ledger, "packets", packets, ledger->kernel.packets);
	if (drops != ledger->kernel.drops)
		disagree(ledger, "drops", drops, ledger->kernel.drops);
	if (ledger->rejected_inactive)
		add_why(ledger, "%llu skbs were refused by a device going down, which the kernel does not count as drops",
			ledger->rejected_inactive);
	if (ledger->stolen_skbs)
		add_why(ledger, "%llu skbs were taken away by a filter action, which the kernel does not count as drops",
			ledger->stolen_skbs);
	if (ledger->parts_refused)
		add_why(ledger, "%llu parts of skbs that a child cut found no room there, which the kernel does not count as drops here",
			ledger->parts_refused);
	if (ledger->purged_skbs)
		add_why(ledger, "%llu skbs were freed when the qdisc was emptied (device down, or it was deleted), which the kernel does not count as drops",
			ledger->purged_skbs);
	/*
	 * The tracer's table still has packets that the kernel has not: they left
	 * while the kernel ran no programs.
	 */
	if (ledger->queued && !ledger->kernel.backlog_packets)
		disagree(ledger, "still queued", ledger->queued, 0);
	/* The kernel counts a requeue when the packet comes back, the tracer when it is handed out again. */
	if (reorders)
		waiting = 0;
	if (ledger->kernel.requeues < ledger->requeued || waiting > ledger->kernel.backlog_packets)
		disagree(ledger, "requeues", ledger->requeued, ledger->kernel.requeues);
}

/*
 * A leaf that is told by the stamps of what its root hands out: its drops are seen at
 * the root only.
 */
static void compare_stamped(struct ledger *ledger)
{
	ledger->agrees = LEDGER_AGREES;
	if (ledger->measured != ledger->kernel.packets)
		disagree(ledger, "packets", ledger->measured, ledger->kernel.packets);
	add_why(ledger, "told by the times that its packets carry when its root hands them out; drops are its root's");
}

static void explain_unaccounted(struct ledger *ledger)
{
	if (!ledger->unaccounted)
		return;
	add_why(ledger, "%lld offered packets unaccounted for", (long long)ledger->unaccounted);
	if (ledger->unmatched)
		add_why(ledger, "%llu handed out without a known arrival (%llu of them GSO segments)",
			ledger->unmatched, ledger->flow_misses);
}

/*
 * What the kernel last said: over netlink, or where the qdisc is gone by what its
 * record kept when it was destroyed. Netlink was then read before that; of
 * its figures bytes and overlimits are then the last ones known.
 */
static const struct qdisc_kernel_counters *
choose_last(const struct qdisc_record *record, const struct qdisc_kernel_counters *after,
	    struct qdisc_kernel_counters *room)
{
	if (!record->last_valid || (after && !record->destroyed_ns))
		return after;
	if (after)
		*room = *after;
	room->packets = record->last_packets;
	room->drops = record->last_drops;
	room->requeues = record->last_requeues;
	room->backlog_bytes = room->backlog_packets = 0;
	return room;
}

/*
 * What the kernel had counted when the window began: over netlink; of a qdisc that was
 * not there then, what its record kept when its first packet was seen coming.
 */
static const struct qdisc_kernel_counters *
choose_first(struct ledger *ledger, const struct qdisc_record *record,
	     const struct qdisc_kernel_counters *before, struct qdisc_kernel_counters *room)
{
	if (before || !record->base_valid)
		return before;
	memset(room, 0, sizeof(*room));
	room->packets = record->base_packets;
	room->drops = record->base_drops;
	room->requeues = record->base_requeues;
	room->backlog_packets = record->base_backlog_packets;
	ledger->before_hooked = record->base_packets;
	return room;
}

void ledger_fill(struct ledger *ledger, const struct qdisc_record *record, __u64 queued,
		 const struct qdisc_kernel_counters *before,
		 const struct qdisc_kernel_counters *after)
{
	struct qdisc_kernel_counters first_room, room = { 0 };
	const struct qdisc_kernel_counters *last = choose_last(record, after, &room);

	memset(ledger, 0, sizeof(*ledger));
	before = choose_first(ledger, record, before, &first_room);
	fill_own(ledger, record, queued);
	if (before)
		ledger->queued_at_start = before->backlog_packets;
	if (last) {
		fill_kernel(ledger, before, last);
		if (!after)
			ledger->kernel.bytes = ledger->kernel.overlimits = 0;
		if (record->traits & QDISC_BY_STAMP)
			compare_stamped(ledger);
		else
			compare(ledger, !strncmp(record->kind, "netem", sizeof(record->kind)));
	} else {
		ledger->agrees = LEDGER_UNKNOWN;
		add_why(ledger, "the qdisc is gone and the kernel's counters with it");
	}
	if (ledger->before_hooked)
		add_why(ledger, "%llu packets passed before its functions were hooked",
			ledger->before_hooked);
	explain_unaccounted(ledger);
}

/* ---- records and trees become one list ---- */

/* A root of a tx queue is attached to the device itself or to a queue of one of these (ops->attach). */
static bool is_multiqueue(const char *kind)
{
	return !strcmp(kind, "mq") || !strcmp(kind, "mqprio");
}

/* Never hold packets, or are not on the transmit side. */
static bool holds_nothing(const char *kind)
{
	return is_multiqueue(kind) || !strcmp(kind, "noqueue") || !strcmp(kind, "ingress") ||
	       !strcmp(kind, "clsact");
}

static bool same_device(const struct qdisc_info *a, const struct qdisc_info *b)
{
	return a->netns == b->netns && a->ifindex == b->ifindex;
}

static bool parent_is_multiqueue(const struct qdisc_tree *tree, const struct qdisc_info *info)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		if (same_device(&tree->qdiscs[i], info) && is_multiqueue(tree->qdiscs[i].kind) &&
		    tree->qdiscs[i].parent == TC_H_ROOT &&
		    TC_H_MAJ(tree->qdiscs[i].handle) == TC_H_MAJ(info->parent))
			return true;
	return false;
}

static bool is_root(const struct qdisc_tree *tree, const struct qdisc_info *info)
{
	if (holds_nothing(info->kind))
		return false;
	return info->parent == TC_H_ROOT || parent_is_multiqueue(tree, info);
}

static const struct qdisc_info *find_info(const struct qdisc_tree *tree,
					  const struct result_qdisc *qdisc)
{
	const struct qdisc_info *info = qdisc_tree_find(tree, qdisc->netns, qdisc->ifindex,
							qdisc->parent, qdisc->handle);

	return info && !strcmp(info->kind, qdisc->kind) ? info : NULL;
}

static const char *find_netns_name(const struct qdisc_tree *tree, __u32 netns)
{
	size_t i;

	for (i = 0; i < tree->count; i++)
		if (tree->qdiscs[i].netns == netns)
			return tree->qdiscs[i].netns_name;
	return NULL;
}

static void copy_text(char *to, size_t size, const char *from, size_t from_size)
{
	size_t length = strnlen(from, from_size);

	if (length >= size)
		length = size - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}

static void name_netns(struct result_qdisc *qdisc, const struct qdisc_tree *before,
		       const struct qdisc_tree *after)
{
	const char *name = find_netns_name(after, qdisc->netns);

	if (!name)
		name = find_netns_name(before, qdisc->netns);
	if (name)
		copy_text(qdisc->netns_name, sizeof(qdisc->netns_name), name,
			  sizeof(qdisc->netns_name));
	else
		snprintf(qdisc->netns_name, sizeof(qdisc->netns_name), "net:[%u]", qdisc->netns);
}

static void from_record(struct result_qdisc *qdisc, const struct qdisc_record *record,
			unsigned int index)
{
	memset(qdisc, 0, sizeof(*qdisc));
	qdisc->netns = record->netns;
	qdisc->ifindex = record->ifindex;
	/* a root that serves all queues is no one queue's */
	qdisc->queue = record->parent == TC_H_ROOT ? 0 : record->queue;
	qdisc->handle = record->handle;
	qdisc->parent = record->parent;
	copy_text(qdisc->device, sizeof(qdisc->device), record->device, sizeof(record->device));
	copy_text(qdisc->kind, sizeof(qdisc->kind), record->kind, sizeof(record->kind));
	qdisc->traced = true;
	qdisc->depth = record->depth;
	qdisc->root = !record->depth;
	qdisc->is_parent = record->traits & QDISC_IS_PARENT;
	qdisc->paces = record->traits & QDISC_PACES;
	qdisc->drops_here = record->counters.drops_here;
	qdisc->record = index;
}

static void from_info(struct result_qdisc *qdisc, const struct qdisc_tree *tree,
		      const struct qdisc_info *info)
{
	memset(qdisc, 0, sizeof(*qdisc));
	qdisc->netns = info->netns;
	qdisc->ifindex = info->ifindex;
	qdisc->handle = info->handle;
	qdisc->parent = info->parent;
	memcpy(qdisc->netns_name, info->netns_name, sizeof(qdisc->netns_name));
	memcpy(qdisc->device, info->device, sizeof(qdisc->device));
	memcpy(qdisc->kind, info->kind, sizeof(qdisc->kind));
	qdisc->root = is_root(tree, info);
	/* mq_init(), net/sched/sch_mq.c: the parent's minor number is the queue's number plus 1. */
	if (qdisc->root && info->parent != TC_H_ROOT && TC_H_MIN(info->parent))
		qdisc->queue = TC_H_MIN(info->parent) - 1;
	qdisc->info = *info;
	qdisc->have_info = true;
}

static bool same_identity(const struct result_qdisc *a, const struct result_qdisc *b)
{
	return a->netns == b->netns && a->ifindex == b->ifindex && a->parent == b->parent &&
	       a->handle == b->handle && !strcmp(a->kind, b->kind);
}

static const struct result_qdisc *find_traced(const struct result *result,
					      const struct result_qdisc *qdisc)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (result->qdiscs[i].traced && same_identity(&result->qdiscs[i], qdisc))
			return &result->qdiscs[i];
	return NULL;
}

/*
 * Has another record the same identity, seen before this one (or later)? So it is
 * where a qdisc was replaced by one with the same handle.
 */
static bool has_other(const struct result *result, const struct tracer *tracer,
		      const struct result_qdisc *qdisc, bool later)
{
	__u64 seen = tracer_qdisc(tracer, qdisc->record)->first_seen_ns, other;
	size_t i;

	for (i = 0; i < result->qdisc_count; i++) {
		if (!result->qdiscs[i].traced || &result->qdiscs[i] == qdisc ||
		    !same_identity(&result->qdiscs[i], qdisc))
			continue;
		other = tracer_qdisc(tracer, result->qdiscs[i].record)->first_seen_ns;
		if (later ? other > seen : other < seen)
			return true;
	}
	return false;
}

/* Counters only grow: where they fell, another qdisc took over the identity in between. */
static bool was_replaced(const struct qdisc_kernel_counters *before,
			 const struct qdisc_kernel_counters *after)
{
	return before && after && (after->packets < before->packets ||
				   after->bytes < before->bytes ||
				   after->drops < before->drops ||
				   after->requeues < before->requeues);
}

static void join_traced(const struct result *result, const struct tracer *tracer,
			const struct qdisc_tree *before, const struct qdisc_tree *after,
			struct result_qdisc *qdisc)
{
	const struct qdisc_record *record = tracer_qdisc(tracer, qdisc->record);
	const struct qdisc_info *first = NULL, *last = NULL, *options;
	const struct qdisc_kernel_counters *first_counters = NULL, *last_counters = NULL;

	name_netns(qdisc, before, after);
	if (!has_other(result, tracer, qdisc, false))
		first = find_info(before, qdisc);
	if (!has_other(result, tracer, qdisc, true))
		last = find_info(after, qdisc);
	options = last ? last : first;
	if (options) {
		qdisc->info = *options;
		qdisc->have_info = true;
	}
	first_counters = first ? &first->kernel : NULL;
	last_counters = last ? &last->kernel : NULL;
	/* The tree then shows the successor: this one is gone, or it is the successor itself. */
	if (was_replaced(first_counters, last_counters)) {
		if (record->destroyed_ns)
			last_counters = NULL;
		else
			first_counters = NULL;
	}
	ledger_fill(&qdisc->ledger, record, tracer_queued(tracer, qdisc->record),
		    first_counters, last_counters);
}

/* No packet of it was traced; so a root must not have counted any either. */
static void join_untraced(const struct qdisc_tree *before, const struct qdisc_tree *after,
			  struct result_qdisc *qdisc)
{
	static const struct qdisc_record nothing;
	const struct qdisc_info *first = find_info(before, qdisc);
	const struct qdisc_info *last = find_info(after, qdisc);
	const struct qdisc_kernel_counters *first_counters = first ? &first->kernel : NULL;
	const struct qdisc_kernel_counters *last_counters = last ? &last->kernel : NULL;

	if (was_replaced(first_counters, last_counters))
		first_counters = NULL;
	ledger_fill(&qdisc->ledger, &nothing, 0, first_counters, last_counters);
	if (qdisc->root || !strcmp(qdisc->kind, "noqueue"))
		return;
	qdisc->ledger.agrees = LEDGER_UNKNOWN;
	snprintf(qdisc->ledger.why, sizeof(qdisc->ledger.why), "%s",
		 is_multiqueue(qdisc->kind) ?
		 "holds no packets of its own; the qdiscs of its queues do" :
		 holds_nothing(qdisc->kind) ? "not on the transmit side" :
		 "a child qdisc: not measured");
}

static int compare_qdiscs(const void *a, const void *b)
{
	const struct result_qdisc *left = a, *right = b;

	if (left->netns != right->netns)
		return left->netns < right->netns ? -1 : 1;
	if (left->ifindex != right->ifindex)
		return left->ifindex < right->ifindex ? -1 : 1;
	if (left->queue != right->queue)
		return left->queue < right->queue ? -1 : 1;
	if (left->parent != right->parent)	/* TC_H_ROOT is the largest number */
		return left->parent > right->parent && left->parent == TC_H_ROOT ? -1 :
		       right->parent == TC_H_ROOT ? 1 : left->parent < right->parent ? -1 : 1;
	if (left->handle != right->handle)
		return left->handle < right->handle ? -1 : 1;
	return (left->record > right->record) - (left->record < right->record);
}

static void set_id(struct result_qdisc *qdisc, unsigned int number)
{
	char handle[16], parent[16], suffix[32] = "";
	int used = 0;

	qdisc_handle_text(qdisc->handle, handle);
	qdisc_handle_text(qdisc->parent, parent);
	if (!qdisc->root && qdisc->parent != TC_H_ROOT)
		used = snprintf(suffix, sizeof(suffix), "@%s", parent);
	if (number > 1)
		snprintf(suffix + used, sizeof(suffix) - used, "#%u", number);
	/* Only a namespace's name can be so long that it is cut; set_ids() tells equal ones apart. */
	snprintf(qdisc->id, sizeof(qdisc->id), "%.26s/%.15s/%u/%.15s/%.9s%.15s",
		 qdisc->netns_name[0] ? qdisc->netns_name : "-", qdisc->device,
		 (__u16)qdisc->queue, qdisc->kind, handle, suffix);
	if (qdisc->parent == TC_H_ROOT)
		snprintf(qdisc->path, sizeof(qdisc->path), "%s root %s %s", qdisc->device,
			 qdisc->kind, handle);
	else
		snprintf(qdisc->path, sizeof(qdisc->path), "%s parent %s %s %s", qdisc->device,
			 parent, qdisc->kind, handle);
}

static bool id_taken(const struct result *result, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (!strcmp(result->qdiscs[i].id, result->qdiscs[index].id))
			return true;
	return false;
}

static void set_ids(struct result *result)
{
	unsigned int number;
	size_t i;

	for (i = 0; i < result->qdisc_count; i++) {
		number = 1;
		do {
			set_id(&result->qdiscs[i], number++);
		} while (id_taken(result, i) && number < 10000);
	}
}

static bool is_listed(const struct result *result, const struct result_qdisc *qdisc)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		if (same_identity(&result->qdiscs[i], qdisc))
			return true;
	return false;
}

static void list_tree(struct result *result, const struct qdisc_tree *tree)
{
	struct result_qdisc *next;
	size_t i;

	for (i = 0; i < tree->count; i++) {
		next = &result->qdiscs[result->qdisc_count];
		from_info(next, tree, &tree->qdiscs[i]);
		if (!find_traced(result, next) && !is_listed(result, next))
			result->qdisc_count++;
	}
}

/* The qdisc whose child this is: on the same device, with the handle that its parent's classid begins with. */
static __u32 find_parent(const struct result *result, const struct result_qdisc *child)
{
	if (child->parent == TC_H_ROOT || !TC_H_MAJ(child->parent))
		return RESULT_NO_QDISC;
	return result_by_handle(result, child->netns, child->ifindex, TC_H_MAJ(child->parent));
}

static void set_parents(struct result *result)
{
	size_t i;

	for (i = 0; i < result->qdisc_count; i++)
		result->qdiscs[i].parent_qdisc = find_parent(result, &result->qdiscs[i]);
}

int ledger_join(struct result *result, const struct tracer *tracer,
		const struct qdisc_tree *before, const struct qdisc_tree *after,
		struct error *error)
{
	unsigned int records = tracer_qdisc_count(tracer), i;
	size_t traced;

	free(result->qdiscs);
	result->qdisc_count = 0;
	result->qdiscs = calloc(records + before->count + after->count + 1,
				sizeof(*result->qdiscs));
	if (!result->qdiscs)
		return error_set(error, EXIT_CANNOT, "out of memory for the list of qdiscs");
	/* A record without a qdisc lost the race for it and waits for another one. */
	for (i = 0; i < records; i++)
		if (tracer_qdisc(tracer, i)->qdisc)
			from_record(&result->qdiscs[result->qdisc_count++],
				    tracer_qdisc(tracer, i), i);
	traced = result->qdisc_count;
	list_tree(result, after);
	list_tree(result, before);
	for (i = 0; i < result->qdisc_count; i++) {
		if (i < traced)
			join_traced(result, tracer, before, after, &result->qdiscs[i]);
		else
			join_untraced(before, after, &result->qdiscs[i]);
	}
	qsort(result->qdiscs, result->qdisc_count, sizeof(*result->qdiscs), compare_qdiscs);
	set_ids(result);
	set_parents(result);
	for (i = 0; i < result->qdisc_count; i++)
		result->losses.before_hooked += result->qdiscs[i].ledger.before_hooked;
	return 0;
}
