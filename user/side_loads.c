// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "iperf3.h"
#include "side_loads.h"

#define SECOND_NS	1000000000ULL
#define SERVER_START_MS	5000
#define WAIT_MS		10000
#define STOP_MS		2000

static const struct child no_child = { .pidfd = -1, .out = -1, .err = -1 };

void side_loads_init(struct side_loads *sides, const struct scenario *scenario,
		     const struct site_path *paths)
{
	memset(sides, 0, sizeof(*sides));
	sides->scenario = scenario;
	sides->paths = paths;
	for (unsigned int i = 0; i < SCENARIO_SIDE_LOADS; i++)
		sides->servers[i] = sides->clients[i] = no_child;
}

int side_loads_serve(struct side_loads *sides, const char *iperf3_path, struct error *error)
{
	for (unsigned int i = 0; i < sides->scenario->side_load_count; i++) {
		const struct site_path *path = &sides->paths[i];

		if (path->to >= 0 &&
		    iperf3_start_server(&sides->servers[i], path->to, iperf3_path, path->port,
					SERVER_START_MS, error))
			return -1;
	}
	return 0;
}

static int start_client(struct side_loads *sides, unsigned int index, const char *iperf3_path,
			struct error *error)
{
	const struct scenario_side_load *side = &sides->scenario->side_loads[index];
	const struct site_path *path = &sides->paths[index];
	struct iperf3_options options;

	scenario_load_options(&side->load, &options);
	options.server = path->address;
	options.port = path->port;
	options.seconds = scenario_side_ns(sides->scenario, side) / SECOND_NS;
	return iperf3_start_client(&sides->clients[index], path->from, iperf3_path, &options, error);
}

static int failed(const struct side_loads *sides, unsigned int index, struct error *error)
{
	const struct child *client = &sides->clients[index];
	char how[CHILD_STATUS_TEXT];
	struct iperf3_result result = { 0 };
	struct error said = { .text = "" };

	iperf3_parse(client->out_text ? client->out_text : "", client->out_length, &result, &said);
	iperf3_result_free(&result);
	return error_set(error, EXIT_INCOMPLETE, "load %s: iperf3 ended with %s: %s",
			 sides->scenario->side_loads[index].name, child_status_text(client, how),
			 said.text);
}

static bool ended_badly(const struct child *child)
{
	return child->ended && (!WIFEXITED(child->status) || WEXITSTATUS(child->status));
}

int side_loads_turn(struct side_loads *sides, const char *iperf3_path, __u64 gone_ns,
		    struct error *error)
{
	for (unsigned int i = 0; i < sides->scenario->side_load_count; i++) {
		struct child *client = &sides->clients[i];

		if (!client->started_ns && gone_ns >= sides->scenario->side_loads[i].start_ns &&
		    start_client(sides, i, iperf3_path, error))
			return -1;
		child_poll(&sides->servers[i]);
		child_poll(client);
		if (ended_badly(client))
			return failed(sides, i, error);
	}
	return 0;
}

static int finish_one(struct side_loads *sides, unsigned int index, struct side_load_result *result,
		      struct error *error)
{
	struct child *client = &sides->clients[index];
	struct error said;

	snprintf(result->name, sizeof(result->name), "%s", sides->scenario->side_loads[index].name);
	if (!client->started_ns || !child_wait(client, WAIT_MS))
		return error_set(error, EXIT_INCOMPLETE, "load %s did not end with the main one",
				 result->name);
	if (ended_badly(client))
		return failed(sides, index, error);
	result->begin_ns = client->started_ns;
	result->end_ns = client->ended_ns;
	if (!iperf3_parse(client->out_text ? client->out_text : "", client->out_length,
			  &result->iperf3, &said))
		return 0;
	return error_set(error, said.code, "load %s: %s", result->name, said.text);
}

int side_loads_finish(struct side_loads *sides, struct phase_load *load, struct error *error)
{
	unsigned int count = sides->scenario->side_load_count;

	if (!count)
		return 0;
	load->sides = calloc(count, sizeof(*load->sides));
	if (!load->sides)
		return error_set(error, EXIT_CANNOT, "out of memory");
	for (; load->side_count < count; load->side_count++) {
		if (finish_one(sides, load->side_count, &load->sides[load->side_count], error)) {
			load->side_count++;
			return -1;
		}
	}
	return 0;
}

static void stop(struct child *child)
{
	if (child->pid && !child->ended)
		child_stop(child, SIGTERM, STOP_MS);
	child_free(child);
	*child = no_child;
}

void side_loads_stop(struct side_loads *sides)
{
	for (unsigned int i = 0; i < SCENARIO_SIDE_LOADS; i++) {
		stop(&sides->clients[i]);
		stop(&sides->servers[i]);
	}
}
