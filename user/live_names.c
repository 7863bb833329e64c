// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "live_names.h"
#include "qdisc_class.h"
#include "qdisc_path.h"
#include "qdisc_tree.h"
#include "text.h"

#define SECOND_NS	1000000000ULL
#define DUMPS_MOST	16		/* namespaces in one interval */
#define RENEW_NS	(10 * SECOND_NS)	/* devices may be renamed, classes changed */

/* A namespace that has rows. */
struct place {
	__u32 inode;
	__u64 dumped_ns;		/* 0: never */
	bool used;			/* still has rows */
	bool renewed;			/* one of them is new */
};

struct live_names {
	struct netns_names *netns;
	struct place *places;
	size_t count, room;
	size_t next;			/* where the next interval's dumps begin */
};

struct live_names *live_names_create(struct error *error)
{
	struct live_names *names = calloc(1, sizeof(*names));

	if (!names) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	names->netns = netns_names_create(error);
	if (!names->netns) {
		free(names);
		return NULL;
	}
	return names;
}

void live_names_free(struct live_names *names)
{
	if (!names)
		return;
	netns_names_free(names->netns);
	free(names->places);
	free(names);
}

const char *live_names_netns(struct live_names *names, __u32 inode)
{
	return netns_names_find(names->netns, inode);
}

/* ---- which namespaces there are ---- */

static struct place *place_of(struct live_names *names, __u32 inode)
{
	struct place *places;

	for (size_t i = 0; i < names->count; i++)
		if (names->places[i].inode == inode)
			return &names->places[i];
	places = array_grow(names->places, names->count, &names->room, sizeof(*places));
	if (!places)
		return NULL;
	names->places = places;
	places[names->count] = (struct place){ .inode = inode };
	return &places[names->count++];
}

static void list_places(struct live_names *names, struct live_qdisc **rows, size_t count)
{
	struct place *place = NULL;
	size_t i;

	for (i = 0; i < names->count; i++)
		names->places[i].used = names->places[i].renewed = false;
	for (i = 0; i < count; i++) {
		/* rows of a namespace come one after the other */
		if (!place || place->inode != rows[i]->netns)
			place = place_of(names, rows[i]->netns);
		if (!place)
			continue;
		place->used = true;
		place->renewed |= rows[i]->renewed && !rows[i]->gone_ns;
	}
	for (i = names->count; i > 0; i--) {
		place = &names->places[i - 1];
		if (place->used)
			continue;
		netns_names_forget(names->netns, place->inode);
		*place = names->places[--names->count];
	}
}

/* ---- paths ---- */

/* "htb 1:/1:11/fq_codel 110:": what does not change while the qdisc stays where it is. */
static void write_path(const struct qdisc_snapshot *snapshot, const struct qdisc_info *info,
		       struct live_qdisc *row)
{
	struct text text = text_begin(row->path, sizeof(row->path));
	struct qdisc_path path;

	qdisc_path_find(&path, snapshot, info);
	if (path.broken)
		text_add(&text, ".../");
	for (unsigned int i = 0; i < path.count; i++) {
		const struct path_step *step = &path.steps[i];
		char handle[16];

		if (i)
			text_add(&text, "/");
		if (step->kind == STEP_QDISC && step->index != STEP_UNKNOWN)
			text_add(&text, "%s ", snapshot->tree->qdiscs[step->index].kind);
		text_add(&text, "%s", qdisc_handle_text(step->id, handle));
	}
}

/* A root has another parent in the dump than a queue's root that mq made: the handle tells. */
static void name_row(const struct qdisc_snapshot *snapshot, struct live_qdisc *row)
{
	const struct qdisc_info *info = qdisc_tree_find(snapshot->tree, row->netns, row->ifindex,
							row->parent, row->handle);

	if (!info)
		return;
	snprintf(row->device, sizeof(row->device), "%s", info->device);
	write_path(snapshot, info, row);
	row->renewed = false;
}

/* A namespace to which there is no way keeps what its records say. */
static void dump_place(struct live_names *names, struct place *place, struct live_qdisc **rows,
		       size_t count)
{
	int fd = netns_names_open(names->netns, place->inode);
	struct qdisc_tree tree = { 0 };
	struct qdisc_classes classes = { 0 };
	struct qdisc_snapshot snapshot = { &tree, &classes };
	struct error error;

	place->dumped_ns = clock_ns(CLOCK_MONOTONIC);
	if (fd < 0)
		return;
	if (!qdisc_tree_read(&tree, fd, "", &error) &&
	    !qdisc_classes_read(&classes, &tree, fd, &error))
		for (size_t i = 0; i < count; i++)
			if (rows[i]->netns == place->inode && !rows[i]->gone_ns)
				name_row(&snapshot, rows[i]);
	qdisc_tree_free(&tree);
	qdisc_classes_free(&classes);
	close(fd);
}

static bool is_due(const struct place *place, __u64 now)
{
	__u64 age = now - place->dumped_ns;

	return !place->dumped_ns || age > RENEW_NS || (place->renewed && age > SECOND_NS);
}

/* Round and round, so that none is left out for ever. */
static void dump_due(struct live_names *names, struct live_qdisc **rows, size_t count)
{
	__u64 now = clock_ns(CLOCK_MONOTONIC);
	unsigned int dumps = 0;

	for (size_t i = 0; i < names->count && dumps < DUMPS_MOST; i++) {
		struct place *place = &names->places[names->next++ % names->count];

		if (!is_due(place, now))
			continue;
		dump_place(names, place, rows, count);
		dumps++;
	}
}

bool live_names_renew(struct live_names *names, struct live_qdisc **rows, size_t count)
{
	bool changed = false;

	list_places(names, rows, count);
	for (size_t i = 0; i < names->count; i++)
		netns_names_find(names->netns, names->places[i].inode);
	netns_names_refresh(names->netns);
	for (size_t i = 0; i < count; i++) {
		const char *name = netns_names_find(names->netns, rows[i]->netns);

		if (!strcmp(name, rows[i]->netns_name))
			continue;
		snprintf(rows[i]->netns_name, sizeof(rows[i]->netns_name), "%s", name);
		changed = true;
	}
	dump_due(names, rows, count);
	return changed;
}
