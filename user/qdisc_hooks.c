// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "function_hook.h"
#include "qdisc_hooks.h"

/* What a function does for a qdisc. */
enum role { ROLE_ENQUEUE, ROLE_DEQUEUE, ROLE_PEEK };

/* One function, hooked at its return and, where a program wants that, at its entry. */
struct place {
	__u64 address;
	enum role role;
	struct function_hook *at_return, *at_entry;	/* NULL: none there, or taken off */
	struct tracer_hook shown[2];			/* at return, at entry */
	unsigned int shown_count;
};

struct qdisc_hooks {
	struct function_hooks *functions;
	struct qdisc_programs programs;
	struct place *places;
	size_t count, room;
	struct tracer_hook *list;
	unsigned int failed;
};

struct qdisc_hooks *qdisc_hooks_open(struct function_hooks *functions,
				     const struct qdisc_programs *programs)
{
	struct qdisc_hooks *hooks = calloc(1, sizeof(*hooks));

	if (!hooks)
		return NULL;
	hooks->functions = functions;
	hooks->programs = *programs;
	return hooks;
}

static bool has_place(const struct qdisc_hooks *hooks, __u64 address, enum role role)
{
	size_t i;

	for (i = 0; i < hooks->count; i++)
		if (hooks->places[i].address == address && hooks->places[i].role == role)
			return true;
	return false;
}

/* NULL where memory is short. */
static struct place *new_place(struct qdisc_hooks *hooks, __u64 address, enum role role)
{
	struct place *places = array_grow(hooks->places, hooks->count, &hooks->room,
					  sizeof(*places));
	struct place *place;

	if (!places)
		return NULL;
	hooks->places = places;
	place = &places[hooks->count++];
	memset(place, 0, sizeof(*place));
	place->address = address;
	place->role = role;
	return place;
}

static void show(struct place *place, const struct function_hook *hook)
{
	struct tracer_hook *shown = &place->shown[place->shown_count++];

	memset(shown, 0, sizeof(*shown));
	snprintf(shown->name, sizeof(shown->name), "%s", function_hook_name(hook));
	snprintf(shown->how, sizeof(shown->how), "%s", function_hook_how(hook));
	shown->attached = true;
}

static void show_failure(struct qdisc_hooks *hooks, struct place *place,
			 const struct error *error)
{
	struct tracer_hook *shown = &place->shown[place->shown_count++];

	memset(shown, 0, sizeof(*shown));
	function_hooks_name(hooks->functions, place->address, shown->name, sizeof(shown->name));
	snprintf(shown->how, sizeof(shown->how), "function");
	snprintf(shown->why, sizeof(shown->why), "%.159s", error->text);
}

/*
 * Both ends of a function the same way. The end comes first: no packet may come whose
 * end is not heard of. entry may be missing: what a trampoline sees at return is enough.
 */
static int attach(struct qdisc_hooks *hooks, struct place *place, enum hook_way way,
		  const struct bpf_program *at_return, const struct bpf_program *entry,
		  struct error *error)
{
	place->at_return = function_hook_attach(hooks->functions, way, at_return, true,
						place->address, error);
	if (!place->at_return)
		return -1;
	if (entry) {
		place->at_entry = function_hook_attach(hooks->functions, way, entry, false,
						       place->address, error);
		if (!place->at_entry) {
			function_hook_detach(place->at_return);
			place->at_return = NULL;
			return -1;
		}
	}
	show(place, place->at_return);
	if (place->at_entry)
		show(place, place->at_entry);
	return 0;
}

/*
 * Peek functions that take the packet out by the dequeue function, which is hooked, or
 * leave it where it is, have a name of the kernel's own helpers (include/net/sch_generic.h).
 */
static bool peek_tells_nothing(struct qdisc_hooks *hooks, __u64 address)
{
	char name[64];

	function_hooks_name(hooks->functions, address, name, sizeof(name));
	return !strncmp(name, "qdisc_peek_", strlen("qdisc_peek_"));
}

static void hook(struct qdisc_hooks *hooks, __u64 address, enum role role)
{
	const struct qdisc_programs *programs = &hooks->programs;
	const struct bpf_program *trampolines[] = {
		[ROLE_ENQUEUE] = programs->enqueue_exit,
		[ROLE_DEQUEUE] = programs->dequeue_exit,
		[ROLE_PEEK] = programs->peek_exit,
	};
	const struct bpf_program *probes[] = {
		[ROLE_ENQUEUE] = programs->enqueue_return,
		[ROLE_DEQUEUE] = programs->dequeue_return,
		[ROLE_PEEK] = programs->peek_return,
	};
	struct error error = { 0 };
	struct place *place;

	if (!address || has_place(hooks, address, role))
		return;
	place = new_place(hooks, address, role);
	if (!place) {
		hooks->failed++;
		return;
	}
	/* Its place stays without hooks, so that it is not asked about again at each walk. */
	if (role == ROLE_PEEK && peek_tells_nothing(hooks, address))
		return;
	if (trampolines[role] &&
	    !attach(hooks, place, HOOK_FENTRY, trampolines[role],
		    role == ROLE_ENQUEUE ? programs->enqueue_entry : NULL, &error))
		return;
	if (probes[role] &&
	    !attach(hooks, place, HOOK_KPROBE, probes[role],
		    role == ROLE_ENQUEUE ? programs->enqueue_call : programs->dequeue_call,
		    &error))
		return;
	/* A dequeue that takes no hook is told by the parent's (bpf/levels.bpf.h, settle()). */
	if (role == ROLE_ENQUEUE)
		hooks->failed++;
	show_failure(hooks, place, &error);
}

static void add_qdisc(struct qdisc_hooks *hooks, const struct qdisc_record *record)
{
	hook(hooks, record->dequeue, ROLE_DEQUEUE);
	hook(hooks, record->peek, ROLE_PEEK);
	hook(hooks, record->enqueue, ROLE_ENQUEUE);
}

void qdisc_hooks_add(struct qdisc_hooks *hooks, const struct qdisc_record *records,
		     unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (records[i].qdisc && !records[i].destroyed_ns)
			add_qdisc(hooks, &records[i]);
}

unsigned int qdisc_hooks_failed(const struct qdisc_hooks *hooks)
{
	return hooks->failed;
}

/* What a hook counts goes with it. */
static void note_skipped(struct place *place)
{
	if (place->at_return)
		place->shown[0].skipped = function_hook_skipped(place->at_return);
	if (place->at_entry)
		place->shown[1].skipped = function_hook_skipped(place->at_entry);
}

const struct tracer_hook *qdisc_hooks_list(struct qdisc_hooks *hooks, size_t *count)
{
	size_t i, at = 0;
	unsigned int k;

	free(hooks->list);
	hooks->list = calloc(2 * hooks->count + 1, sizeof(*hooks->list));
	for (i = 0; hooks->list && i < hooks->count; i++) {
		struct place *place = &hooks->places[i];

		note_skipped(place);
		for (k = 0; k < place->shown_count; k++)
			hooks->list[at++] = place->shown[k];
	}
	*count = at;
	return hooks->list;
}

__u64 qdisc_hooks_skipped(struct qdisc_hooks *hooks)
{
	__u64 skipped = 0;
	unsigned int k;
	size_t i;

	for (i = 0; i < hooks->count; i++) {
		note_skipped(&hooks->places[i]);
		for (k = 0; k < hooks->places[i].shown_count; k++)
			skipped += hooks->places[i].shown[k].skipped;
	}
	return skipped;
}

void qdisc_hooks_detach(struct qdisc_hooks *hooks)
{
	size_t i;

	for (i = 0; i < hooks->count; i++) {
		note_skipped(&hooks->places[i]);
		function_hook_detach(hooks->places[i].at_entry);
		hooks->places[i].at_entry = NULL;
	}
	for (i = 0; i < hooks->count; i++) {
		function_hook_detach(hooks->places[i].at_return);
		hooks->places[i].at_return = NULL;
	}
}

void qdisc_hooks_close(struct qdisc_hooks *hooks)
{
	if (!hooks)
		return;
	qdisc_hooks_detach(hooks);
	free(hooks->places);
	free(hooks->list);
	free(hooks);
}
