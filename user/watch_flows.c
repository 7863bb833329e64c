// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "units.h"
#include "watch_flows.h"

#define FLOW_WIDTH	56

int watch_flows_init(struct watch_flows *flows)
{
	memset(flows, 0, sizeof(*flows));
	flows->flows = calloc(WATCH_FLOWS_MAX, sizeof(*flows->flows));
	return flows->flows ? 0 : -1;
}

void watch_flows_free(struct watch_flows *flows)
{
	free(flows->flows);
	memset(flows, 0, sizeof(*flows));
}

static int compare(const void *left, const void *right)
{
	const struct tracer_flow *a = left, *b = right;

	if (a->sums.byte_us != b->sums.byte_us)
		return a->sums.byte_us > b->sums.byte_us ? -1 : 1;
	return (a->sums.bytes < b->sums.bytes) - (a->sums.bytes > b->sums.bytes);
}

void watch_flows_sort(struct watch_flows *flows)
{
	flows->byte_us = 0;
	for (size_t i = 0; i < flows->count; i++)
		flows->byte_us += (double)flows->flows[i].sums.byte_us;
	if (flows->count)
		qsort(flows->flows, flows->count, sizeof(*flows->flows), compare);
}

static void add_end(struct text *text, const struct packet_flow *flow, const __u8 *address,
		    __u16 port)
{
	char name[INET6_ADDRSTRLEN] = "?";

	inet_ntop(flow->family, address, name, sizeof(name));
	if (!port)
		text_add(text, "%s", name);
	else
		text_add(text, flow->family == AF_INET6 ? "[%s]:%u" : "%s:%u", name, port);
}

static void add_protocol(struct text *text, __u8 protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		text_add(text, "tcp ");
		break;
	case IPPROTO_UDP:
		text_add(text, "udp ");
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		text_add(text, "icmp ");
		break;
	default:
		text_add(text, "protocol %u ", protocol);
	}
}

const char *watch_flow_text(const struct packet_flow *flow, char buffer[WATCH_FLOW_SIZE])
{
	struct text text = text_begin(buffer, WATCH_FLOW_SIZE);

	if (!flow->family) {
		text_add(&text, "no IP");
		return buffer;
	}
	add_protocol(&text, flow->protocol);
	add_end(&text, flow, flow->source, flow->source_port);
	text_add(&text, " > ");
	add_end(&text, flow, flow->destination, flow->destination_port);
	return buffer;
}

const char *watch_flows_heading(char *line, size_t size)
{
	snprintf(line, size, "%-*s %11s %9s %8s %8s %8s", FLOW_WIDTH, "flow", "rate", "packets/s",
		 "mean", "max", "backlog");
	return line;
}

const char *watch_flows_line(const struct watch_flows *flows, size_t index, double seconds,
			     char *line, size_t size)
{
	const struct flow_sums *sums = &flows->flows[index].sums;
	char flow[WATCH_FLOW_SIZE], rate[UNITS_TEXT], mean[UNITS_TEXT], max[UNITS_TEXT];

	snprintf(line, size, "%-*s %11s %9.0f %8s %8s %6.0f %%", FLOW_WIDTH,
		 watch_flow_text(&flows->flows[index].flow, flow),
		 units_rate_text((double)sums->bytes * 8 / seconds, rate),
		 (double)sums->packets / seconds,
		 units_time_text(sums->packets ? (double)sums->sojourn_ns / (double)sums->packets : 0,
				 mean),
		 units_time_text((double)sums->max_ns, max),
		 flows->byte_us > 0 ? 100 * (double)sums->byte_us / flows->byte_us : 0);
	return line;
}
