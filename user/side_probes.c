// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "ping.h"
#include "side_probes.h"
#include "timeline.h"

#define STOP_MS	2000

static const struct child no_child = { .pidfd = -1, .out = -1, .err = -1 };

void side_probes_init(struct side_probes *sides, const struct scenario *scenario,
		      const struct site_path *paths)
{
	memset(sides, 0, sizeof(*sides));
	sides->scenario = scenario;
	sides->paths = paths;
	for (unsigned int i = 0; i < SCENARIO_SIDE_PROBES; i++)
		sides->pings[i] = no_child;
}

int side_probes_start(struct side_probes *sides, const char *ping_path, __u16 id,
		      struct error *error)
{
	const struct scenario *scenario = sides->scenario;

	for (unsigned int i = 0; i < scenario->side_probe_count; i++) {
		const struct scenario_side_probe *side = &scenario->side_probes[i];
		const struct ping_options options = {
			.target = sides->paths[i].address,
			.ipv6 = sides->paths[i].ipv6,
			.interval_ns = scenario_side_probe_interval(scenario, side),
			.count = (unsigned int)scenario_side_probe_count(scenario, side),
			.size = scenario->probe_size,
			.id = (__u16)(id + i),
		};

		if (ping_start(&sides->pings[i], sides->paths[i].from, ping_path, &options, error))
			return -1;
	}
	return 0;
}

int side_probes_turn(struct side_probes *sides, struct error *error)
{
	for (unsigned int i = 0; i < sides->scenario->side_probe_count; i++) {
		struct child *ping = &sides->pings[i];
		char how[CHILD_STATUS_TEXT], said[200];

		child_poll(ping);
		if (ping->ended && !ping_ended_well(ping))
			return error_set(error, EXIT_INCOMPLETE,
					 "ping of the probes %s ended with %s: %s",
					 sides->scenario->side_probes[i].name,
					 child_status_text(ping, how),
					 child_last_words(ping, said, sizeof(said)));
	}
	return 0;
}

bool side_probes_ended(const struct side_probes *sides)
{
	for (unsigned int i = 0; i < sides->scenario->side_probe_count; i++)
		if (!sides->pings[i].ended)
			return false;
	return true;
}

int side_probes_match(const struct side_probes *sides, struct result *result,
		      struct error *error)
{
	unsigned int different = 0;

	for (unsigned int i = 0; i < sides->scenario->side_probe_count; i++) {
		const struct child *ping = &sides->pings[i];
		const struct side_probe_result *side = &result->side_probes[i];
		struct ping_result pings;
		int failed = ping_parse(ping->out_text ? ping->out_text : "", ping->out_length,
					&pings, error);

		if (!failed)
			different += pings.unread +
				     timeline_match_ping(side->probes, side->probe_count, &pings,
							 ping->started_ns, ping->ended_ns);
		ping_result_free(&pings);
		if (failed)
			return -1;
	}
	return (int)different;
}

void side_probes_stop(struct side_probes *sides)
{
	for (unsigned int i = 0; i < SCENARIO_SIDE_PROBES; i++) {
		struct child *ping = &sides->pings[i];

		if (ping->pid && !ping->ended)
			child_stop(ping, SIGTERM, STOP_MS);
		child_free(ping);
		*ping = no_child;
	}
}
