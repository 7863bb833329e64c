// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"
#include "qdisc_tree.h"
#include "units.h"
#include "watch_flows.h"
#include "watch_slow.h"

#define HISTORY		256	/* 10 s at 40 ms */
#define RECORDS_MOST	16384	/* tracer_options.max_qdiscs at most */

struct moment {
	__u64 time_ns;
	__u64 bytes, packets;
};

/* Of one record while one qdisc has it. */
struct history {
	__u64 qdisc;
	unsigned int next;	/* where the next moment goes */
	struct moment moments[HISTORY];
};

struct watch_slow {
	bool json;
	struct history *of[RECORDS_MOST];	/* by record; NULL: it never had a backlog */
};

struct watch_slow *watch_slow_create(bool json)
{
	struct watch_slow *slow = calloc(1, sizeof(*slow));

	if (slow)
		slow->json = json;
	return slow;
}

void watch_slow_free(struct watch_slow *slow)
{
	if (!slow)
		return;
	for (unsigned int i = 0; i < RECORDS_MOST; i++)
		free(slow->of[i]);
	free(slow);
}

static void note(struct watch_slow *slow, unsigned int index, const struct qdisc_record *record,
		 __u64 now)
{
	struct history *history = slow->of[index];
	__s64 bytes = *(volatile const __s64 *)&record->backlog_bytes;

	if (!history && bytes > 0)
		history = slow->of[index] = calloc(1, sizeof(*history));
	if (!history)
		return;
	if (history->qdisc != record->qdisc)
		*history = (struct history){ .qdisc = record->qdisc };
	history->moments[history->next++ % HISTORY] = (struct moment){
		now, bytes > 0 ? (__u64)bytes : 0,
		*(volatile const __u32 *)&record->backlog_packets
	};
}

void watch_slow_note(struct watch_slow *slow, const struct live *live)
{
	const struct tracer *tracer = live_tracer(live);
	unsigned int count = tracer_qdisc_count(tracer), i;
	__u64 now = clock_ns(CLOCK_MONOTONIC);

	for (i = 0; i < count && i < RECORDS_MOST; i++) {
		const struct qdisc_record *record = tracer_qdisc(tracer, i);

		if (record->qdisc && !record->destroyed_ns)
			note(slow, i, record, now);
	}
}

/* As of the last time before; NULL: not known. */
static const struct moment *backlog_at(const struct watch_slow *slow, unsigned int record,
				       __u64 time_ns)
{
	const struct history *history = record < RECORDS_MOST ? slow->of[record] : NULL;
	const struct moment *found = NULL;

	for (unsigned int i = 0; history && i < HISTORY; i++) {
		const struct moment *moment = &history->moments[i];

		if (moment->time_ns && moment->time_ns <= time_ns &&
		    (!found || moment->time_ns > found->time_ns))
			found = moment;
	}
	return found;
}

static __u64 realtime_of(__u64 monotonic_ns)
{
	return monotonic_ns + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

/* The row may not be there yet: it is made at the end of an interval. */
static void print_line(struct live *live, const struct slow_event *event,
		       const struct moment *moment)
{
	const struct qdisc_record *record = tracer_qdisc(live_tracer(live), event->qdisc);
	const char *netns = live_netns_name(live, record->netns);
	char clock[16] = "", handle[16], waited[UNITS_TEXT], flow[WATCH_FLOW_SIZE], text[UNITS_TEXT];
	__u64 ns = realtime_of(event->header.time_ns);
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	printf("%s.%06llu  %s in ", clock, ns / 1000 % 1000000,
	       units_time_text((double)event->sojourn_ns, waited));
	printf("%s%s%.16s %.16s %s", netns, *netns ? "/" : "", record->device, record->kind,
	       qdisc_handle_text(record->handle, handle));
	printf("  %s, %u bytes", watch_flow_text(&event->flow, flow), event->len);
	if (moment)
		printf(", behind about %s, %llu packets\n",
		       units_size_text((double)moment->bytes, text), moment->packets);
	else
		printf(", behind an unknown backlog\n");
}

static void add_flow(cJSON *object, const struct packet_flow *flow)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (!flow->family)
		return;
	cJSON_AddNumberToObject(object, "protocol", flow->protocol);
	inet_ntop(flow->family, flow->source, address, sizeof(address));
	cJSON_AddStringToObject(object, "source", address);
	cJSON_AddNumberToObject(object, "source_port", flow->source_port);
	inet_ntop(flow->family, flow->destination, address, sizeof(address));
	cJSON_AddStringToObject(object, "destination", address);
	cJSON_AddNumberToObject(object, "destination_port", flow->destination_port);
}

static void print_json(struct live *live, const struct slow_event *event,
		       const struct moment *moment)
{
	const struct qdisc_record *record = tracer_qdisc(live_tracer(live), event->qdisc);
	const struct live_qdisc *row = live_qdisc_of(live, event->qdisc);
	cJSON *root = cJSON_CreateObject(), *object = cJSON_AddObjectToObject(root, "slow");
	char handle[16], *text;

	cJSON_AddNumberToObject(object, "time_ns", (double)event->header.time_ns);
	cJSON_AddNumberToObject(object, "realtime_ns",
				(double)realtime_of(event->header.time_ns));
	cJSON_AddNumberToObject(object, "sojourn_ns", (double)event->sojourn_ns);
	cJSON_AddStringToObject(object, "netns", live_netns_name(live, record->netns));
	cJSON_AddStringToObject(object, "device", row ? row->device : record->device);
	cJSON_AddStringToObject(object, "kind", record->kind);
	cJSON_AddStringToObject(object, "handle", qdisc_handle_text(record->handle, handle));
	cJSON_AddStringToObject(object, "path", row ? row->path : "?");
	cJSON_AddNumberToObject(object, "netns_inode", event->header.netns);
	cJSON_AddNumberToObject(object, "ifindex", event->header.ifindex);
	cJSON_AddNumberToObject(object, "bytes", event->len);
	cJSON_AddNumberToObject(object, "packets", event->packets);
	add_flow(object, &event->flow);
	if (moment) {
		cJSON_AddNumberToObject(object, "backlog_before_bytes", (double)moment->bytes);
		cJSON_AddNumberToObject(object, "backlog_before_packets", (double)moment->packets);
		cJSON_AddNumberToObject(object, "backlog_before_age_ns",
					(double)(event->header.time_ns - event->sojourn_ns -
						 moment->time_ns));
	}
	text = cJSON_PrintUnformatted(root);
	if (text)
		puts(text);
	cJSON_free(text);
	cJSON_Delete(root);
}

void watch_slow_tell(struct watch_slow *slow, struct live *live, const struct slow_event *event)
{
	const struct moment *moment = backlog_at(slow, event->qdisc,
						 event->header.time_ns - event->sojourn_ns);

	if (slow->json)
		print_json(live, event, moment);
	else
		print_line(live, event, moment);
}
