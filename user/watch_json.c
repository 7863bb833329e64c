// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <linux/pkt_sched.h>

#include "clock.h"
#include "qdisc_tree.h"
#include "result_terms.h"
#include "watch_json.h"

static void add_u64(cJSON *object, const char *name, __u64 value)
{
	cJSON_AddNumberToObject(object, name, (double)value);
}

static void add_handle(cJSON *object, const char *name, __u32 handle)
{
	char text[16];

	cJSON_AddStringToObject(object, name, handle == TC_H_ROOT ? "root" :
				qdisc_handle_text(handle, text));
}

static void add_histogram(cJSON *object, const char *name, const struct histogram *histogram)
{
	struct summary summary;
	cJSON *of;

	if (!histogram) {
		cJSON_AddNullToObject(object, name);
		return;
	}
	histogram_summary(histogram, &summary);
	of = cJSON_AddObjectToObject(object, name);
	add_u64(of, "count", summary.count);
	cJSON_AddNumberToObject(of, "sum", (double)histogram->sum);
	add_u64(of, "min", summary.min);
	add_u64(of, "p50", summary.p50);
	add_u64(of, "p90", summary.p90);
	add_u64(of, "p99", summary.p99);
	add_u64(of, "max", summary.max);
	cJSON_AddNumberToObject(of, "mean", summary.mean);
}

static void add_counters(cJSON *object, const char *name, const struct qdisc_counters *counters)
{
	cJSON *of = cJSON_AddObjectToObject(object, name);

	add_u64(of, "offered", counters->offered_packets);
	add_u64(of, "measured", counters->measured_packets);
	add_u64(of, "bypassed", counters->bypassed_packets);
	add_u64(of, "rejected", counters->rejected_packets);
	add_u64(of, "dropped", counters->dropped_packets);
	add_u64(of, "requeued_skbs", counters->requeued);
	add_u64(of, "unmatched", counters->unmatched_packets);
	add_u64(of, "bytes", counters->bytes);
}

static void add_backlog(cJSON *object, const struct live_qdisc *row)
{
	cJSON *of = cJSON_AddObjectToObject(object, "backlog");

	add_u64(of, "bytes", row->backlog_bytes);
	add_u64(of, "packets", row->backlog_packets);
	add_u64(of, "bytes_max", row->last.backlog_bytes_max);
	add_u64(of, "packets_max", row->last.backlog_packets_max);
	cJSON_AddNumberToObject(of, "bytes_mean", row->last.backlog_bytes_mean);
	cJSON_AddNumberToObject(of, "packets_mean", row->last.backlog_packets_mean);
}

static cJSON *row_json(const struct live_qdisc *row, __u64 end_ns)
{
	cJSON *object = cJSON_CreateObject();

	add_u64(object, "time_ns", end_ns);
	cJSON_AddStringToObject(object, "netns", row->netns_name);
	add_u64(object, "netns_inode", row->netns);
	cJSON_AddStringToObject(object, "device", row->device);
	add_u64(object, "ifindex", row->ifindex);
	add_u64(object, "queue", row->queue);
	cJSON_AddStringToObject(object, "kind", row->kind);
	add_handle(object, "handle", row->handle);
	add_handle(object, "parent", row->parent);
	cJSON_AddStringToObject(object, "path", row->path);
	add_u64(object, "level", row->level);
	cJSON_AddBoolToObject(object, "gone", row->gone_ns != 0);
	add_histogram(object, "sojourn_ns", row->last.sojourn);
	add_histogram(object, "exclusive_ns", row->traits & QDISC_PACES ? NULL : row->last.part);
	add_histogram(object, "paced_ns", row->traits & QDISC_PACES ? row->last.part : NULL);
	add_histogram(object, "wait_before_drop_ns", row->last.wait_before_drop);
	add_counters(object, "packets", &row->last.counters);
	add_counters(object, "packets_in_all", &row->all.counters);
	add_backlog(object, row);
	return object;
}

static cJSON *interval_json(const struct live *live, size_t count)
{
	cJSON *object = cJSON_CreateObject(), *of;
	struct live_losses losses;
	__u64 begin_ns, end_ns;

	live_interval(live, &begin_ns, &end_ns);
	live_losses(live, &losses);
	add_u64(object, "time_ns", end_ns);
	cJSON_AddNumberToObject(object, "interval_s", (double)(end_ns - begin_ns) / 1e9);
	add_u64(object, "realtime_ns", clock_ns(CLOCK_REALTIME));
	cJSON_AddStringToObject(object, "tier", tracer_tier(live_tracer(live)));
	add_u64(object, "qdiscs", count);
	add_u64(object, "queued_before", losses.queued_before);
	of = cJSON_AddObjectToObject(object, "losses");
	for (const struct result_term *term = loss_terms; term->name; term++)
		add_u64(of, term->name, result_term_value(term, &losses.tracer));
	add_u64(of, "rows_missing", losses.rows_missing);
	return object;
}

static int put(FILE *file, cJSON *object)
{
	char *text = cJSON_PrintUnformatted(object);
	int failed = !text || fputs(text, file) < 0 || fputc('\n', file) < 0;

	cJSON_free(text);
	cJSON_Delete(object);
	return failed ? -1 : 0;
}

int watch_json(FILE *file, const struct live *live, const struct live_qdisc *const *shown,
	       size_t count)
{
	__u64 begin_ns, end_ns;

	live_interval(live, &begin_ns, &end_ns);
	for (size_t i = 0; i < count; i++)
		if (put(file, row_json(shown[i], end_ns)))
			return -1;
	return put(file, interval_json(live, count)) || fflush(file) ? -1 : 0;
}
