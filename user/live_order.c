// SPDX-License-Identifier: GPL-2.0
#include <linux/pkt_sched.h>
#include <stdlib.h>
#include <string.h>

#include "live_order.h"
#include "sojourn/qdisc_record.h"

static int compare_u32(__u32 a, __u32 b)
{
	return (a > b) - (a < b);
}

static int compare(const void *left, const void *right)
{
	const struct live_qdisc *a = *(struct live_qdisc *const *)left;
	const struct live_qdisc *b = *(struct live_qdisc *const *)right;
	int order = strcmp(a->netns_name, b->netns_name);

	order = order ? order : compare_u32(a->netns, b->netns);
	order = order ? order : compare_u32(a->ifindex, b->ifindex);
	order = order ? order : compare_u32(a->queue, b->queue);
	order = order ? order : compare_u32(TC_H_MIN(a->parent), TC_H_MIN(b->parent));
	order = order ? order : compare_u32(a->handle, b->handle);
	return order ? order : compare_u32(a->record, b->record);
}

static bool is_parent_of(const struct live_qdisc *row, const struct live_qdisc *child)
{
	return row != child && row->handle && row->handle == TC_H_MAJ(child->parent) &&
	       child->parent != TC_H_ROOT;
}

/* The rows of one device. */
struct device {
	struct live_qdisc **rows;
	size_t count;
	struct live_qdisc **sorted;	/* so far */
	size_t sorted_count;
};

static bool has_parent(const struct device *device, const struct live_qdisc *row)
{
	for (size_t i = 0; i < device->count; i++)
		if (device->rows[i] && is_parent_of(device->rows[i], row))
			return true;
	return false;
}

/* A row that is taken is NULL from then on. */
static void take(struct device *device, size_t index, unsigned int level)
{
	struct live_qdisc *row = device->rows[index];

	device->rows[index] = NULL;
	row->level = level;
	device->sorted[device->sorted_count++] = row;
	/* deeper trees cannot be made */
	if (level + 1 == QDISC_LEVELS)
		return;
	for (size_t i = 0; i < device->count; i++)
		if (device->rows[i] && is_parent_of(row, device->rows[i]))
			take(device, i, level + 1);
}

static void order_device(struct live_qdisc **rows, size_t count, struct live_qdisc **sorted)
{
	struct device device = { .rows = rows, .count = count, .sorted = sorted };

	for (size_t i = 0; i < count; i++)
		if (rows[i] && !has_parent(&device, rows[i]))
			take(&device, i, 0);
	for (size_t i = 0; i < count; i++)
		if (rows[i])
			take(&device, i, 0);
	memcpy(rows, sorted, count * sizeof(*rows));
}

void live_order(struct live_qdisc **rows, size_t count)
{
	struct live_qdisc **sorted = calloc(count + 1, sizeof(*sorted));
	size_t begin, end;

	if (count)
		qsort(rows, count, sizeof(*rows), compare);
	/* without memory their order is that of their devices, which is no loss of figures */
	for (begin = 0; sorted && begin < count; begin = end) {
		for (end = begin + 1; end < count; end++)
			if (rows[end]->netns != rows[begin]->netns ||
			    rows[end]->ifindex != rows[begin]->ifindex)
				break;
		order_device(rows + begin, end - begin, sorted);
	}
	free(sorted);
}
