// SPDX-License-Identifier: GPL-2.0
/* What watch shows: which rows, in which order, and lines that fit. */
#include <linux/pkt_sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "watch_view.h"

#define MS	1000000ULL

/* Three of a tree, one idle, one gone. */
struct rows {
	struct live_qdisc of[5];
	struct live_qdisc *pointers[5];
	struct histogram histograms[5];
};

static void make_rows(struct rows *rows)
{
	static const struct {
		const char *netns, *device, *kind;
		__u32 handle, parent;
		__u64 packets, drops, ns;
	} made[] = {
		{ "", "eth0", "htb", 0x10000, TC_H_ROOT, 900, 5, 30 * MS },
		{ "", "eth0", "fq_codel", 0x1100000, 0x10011, 600, 0, 4 * MS },
		{ "", "eth0", "pfifo", 0x1200000, 0x10012, 300, 7, 90 * MS },
		{ "web@3f2a9c11d0aa", "eth0", "pfifo_fast", 0, TC_H_ROOT, 0, 0, 0 },
		{ "", "old0", "fq", 0x20000, TC_H_ROOT, 0, 0, 0 },
	};

	memset(rows, 0, sizeof(*rows));
	for (unsigned int i = 0; i < 5; i++) {
		struct live_qdisc *row = &rows->of[i];

		snprintf(row->netns_name, sizeof(row->netns_name), "%s", made[i].netns);
		snprintf(row->device, sizeof(row->device), "%s", made[i].device);
		snprintf(row->kind, sizeof(row->kind), "%s", made[i].kind);
		snprintf(row->path, sizeof(row->path), "htb 1:/%s", made[i].kind);
		row->handle = made[i].handle;
		row->parent = made[i].parent;
		row->level = i == 1 || i == 2;
		row->last.counters.measured_packets = made[i].packets;
		row->last.counters.rejected_packets = made[i].drops;
		row->last.counters.bytes = made[i].packets * 1514;
		row->all = row->last;
		rows->pointers[i] = row;
		if (!made[i].packets)
			continue;
		histogram_init(&rows->histograms[i]);
		histogram_add_value(&rows->histograms[i], made[i].ns, made[i].packets);
		row->last.sojourn = &rows->histograms[i];
		row->trend[LIVE_TREND - 1] = made[i].ns;
		row->trend[LIVE_TREND - 2] = made[i].ns / 100;
	}
	rows->of[4].gone_ns = 1;
	rows->of[4].all.counters.measured_packets = 50;
}

static void assert_shown(const struct watch_view *view, const char *wanted)
{
	const struct live_qdisc *shown[5];
	char found[8] = "";
	struct rows rows;
	size_t count;

	make_rows(&rows);
	count = watch_choose(view, rows.pointers, 5, shown);
	for (size_t i = 0; i < count; i++)
		found[i] = (char)('0' + (shown[i] - rows.of));
	assert_string_equal(found, wanted);
}

static void test_choice(void **state)
{
	struct watch_view view = { .width = 120 };

	(void)state;
	/* without the idle one, and the one that is gone and silent */
	assert_shown(&view, "012");
	view.idle = true;
	assert_shown(&view, "0123");
	view.sort = SORT_P99;
	assert_shown(&view, "2013");
	view.sort = SORT_RATE;
	assert_shown(&view, "0123");
	view.sort = SORT_DROPS;
	assert_shown(&view, "2013");
	snprintf(view.filter, sizeof(view.filter), "web@");
	assert_shown(&view, "3");
	snprintf(view.filter, sizeof(view.filter), "fq_codel 110:");
	assert_shown(&view, "1");
	snprintf(view.filter, sizeof(view.filter), "nothing");
	assert_shown(&view, "");
}

static unsigned int characters(const char *text)
{
	unsigned int count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

/* As wide as the terminal at most, whatever the width; what matters most stays. */
static void test_widths(void **state)
{
	static const unsigned int widths[] = { 20, 40, 60, 80, 100, 120, 150, 250, 400 };
	struct watch_view view = { .width = 0 };
	char heading[WATCH_LINE_SIZE], line[WATCH_LINE_SIZE];
	struct rows rows;

	(void)state;
	make_rows(&rows);
	for (unsigned int i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		view.width = widths[i];
		watch_heading(&view, heading);
		assert_true(characters(heading) <= widths[i]);
		for (unsigned int row = 0; row < 5; row++) {
			watch_line(&view, &rows.of[row], 1, line);
			assert_int_equal(characters(line), characters(heading));
		}
		if (widths[i] >= 40)
			assert_non_null(strstr(heading, "p99"));
		if (widths[i] >= 120)
			assert_non_null(strstr(heading, " paced"));
	}
}

static void test_line(void **state)
{
	struct watch_view view = { .width = 130, .ascii = true };
	char line[WATCH_LINE_SIZE];
	struct rows rows;

	(void)state;
	make_rows(&rows);
	watch_line(&view, &rows.of[0], 2, line);
	assert_int_equal(strncmp(line, "eth0 htb 1:   ", 14), 0);
	/* 900 packets of 1514 bytes in 2 s */
	assert_non_null(strstr(line, " 5.45 Mbit/s       450  30.0 ms  30.0 ms  30.0 ms "));
	assert_non_null(strstr(line, "         .#"));
	watch_line(&view, &rows.of[2], 2, line);
	assert_int_equal(strncmp(line, "  pfifo 120: ", 13), 0);
	view.sort = SORT_P99;
	watch_line(&view, &rows.of[2], 2, line);
	assert_int_equal(strncmp(line, "eth0 pfifo 120: ", 16), 0);
	watch_line(&view, &rows.of[3], 2, line);
	assert_int_equal(strncmp(line, "web@3f2a9c11d0aa/eth0 ", 22), 0);
	assert_null(strchr(line, '\033'));
	view.color = true;
	watch_line(&view, &rows.of[2], 2, line);
	assert_non_null(strstr(line, "\033[31m"));
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(watch_sort_named("backlog"), SORT_BACKLOG);
	assert_int_equal(watch_sort_named("tree"), SORT_TREE);
	assert_int_equal(watch_sort_named("Tree"), -1);
	assert_int_equal(watch_sort_named(""), -1);
}

static void test_losses(void **state)
{
	struct live_losses losses = { .queued_before = 9 };
	char text[128];

	(void)state;
	assert_string_equal(watch_losses_text(&losses, text, sizeof(text)), "");
	losses.tracer.ring_full = 3;
	losses.rows_missing = 2;
	assert_string_equal(watch_losses_text(&losses, text, sizeof(text)),
			    "ring_full 3, rows_missing 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
