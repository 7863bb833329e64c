// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "json_read.h"
#include "scenario_side.h"
#include "units.h"

#define SECOND_NS	1000000000ULL
#define LOAD_KEY	"load."
#define NUMBER_MAX	(1ULL << 40)	/* more than any bound of scenario.c */

static const char *const protos[] = { "tcp", "udp", NULL };
static const char *const directions[] = { "up", "down", "bidir", NULL };

bool scenario_is_side_key(const char *key)
{
	return !strncmp(key, LOAD_KEY, strlen(LOAD_KEY)) && strchr(key + strlen(LOAD_KEY), '.');
}

__u64 scenario_side_ns(const struct scenario *scenario, const struct scenario_side_load *side)
{
	__u64 length = scenario_load_ns(scenario);

	if (side->ns || side->start_ns >= length)
		return side->ns;
	return (length - side->start_ns) / SECOND_NS * SECOND_NS;
}

const char *scenario_side_from(const struct scenario *scenario,
			       const struct scenario_side_load *side)
{
	return side->from[0] ? side->from : scenario->load_from;
}

const char *scenario_side_to(const struct scenario *scenario,
			     const struct scenario_side_load *side)
{
	return side->to[0] ? side->to : scenario->load_to;
}

__u16 scenario_side_port(const struct scenario *scenario, const struct scenario_side_load *side)
{
	return side->port ? side->port : scenario->load_port + 1 + (side - scenario->side_loads);
}

static int add_side(struct scenario *scenario, const char *name, struct error *error)
{
	struct scenario_side_load *side;

	if (!lab_word_good(name))
		return error_set(error, EXIT_USAGE,
				 "load.%s: a load's name has up to 15 lower-case letters, digits, \"-\" and \"_\"",
				 name);
	if (scenario->side_load_count == SCENARIO_SIDE_LOADS)
		return error_set(error, EXIT_USAGE, "load.%s is one load too many: %d beside the main one are the most",
				 name, SCENARIO_SIDE_LOADS);
	side = &scenario->side_loads[scenario->side_load_count++];
	memset(side, 0, sizeof(*side));
	memcpy(side->name, name, strlen(name) + 1);
	snprintf(side->congestion, sizeof(side->congestion), "cubic");
	side->streams = 1;
	return 0;
}

static struct scenario_side_load *find_side(struct scenario *scenario, const char *name,
					    struct error *error)
{
	for (unsigned int i = 0; i < scenario->side_load_count; i++)
		if (!strcmp(scenario->side_loads[i].name, name))
			return &scenario->side_loads[i];
	return add_side(scenario, name, error) ? NULL :
	       &scenario->side_loads[scenario->side_load_count - 1];
}

/* The keys of the main load are those of the others: it takes them in the place of one. */
static void into_main(const struct scenario_side_load *side, struct scenario *scenario)
{
	scenario->load_proto = side->proto;
	scenario->load_direction = side->direction;
	scenario->load_streams = side->streams;
	scenario->load_rate = side->rate;
	scenario->load_block = side->block;
	scenario->load_dscp = side->dscp;
	scenario->load_port = side->port;
	scenario->load_ns = side->ns;
	memcpy(scenario->load_congestion, side->congestion, sizeof(side->congestion));
	memcpy(scenario->load_file, side->file, sizeof(side->file));
	memcpy(scenario->load_from, side->from, sizeof(side->from));
	memcpy(scenario->load_to, side->to, sizeof(side->to));
}

static void from_main(const struct scenario *scenario, struct scenario_side_load *side)
{
	side->proto = scenario->load_proto;
	side->direction = scenario->load_direction;
	side->streams = scenario->load_streams;
	side->rate = scenario->load_rate;
	side->block = scenario->load_block;
	side->dscp = scenario->load_dscp;
	side->port = scenario->load_port;
	side->ns = scenario->load_ns;
	memcpy(side->congestion, scenario->load_congestion, sizeof(side->congestion));
	memcpy(side->file, scenario->load_file, sizeof(side->file));
	memcpy(side->from, scenario->load_from, sizeof(side->from));
	memcpy(side->to, scenario->load_to, sizeof(side->to));
}

static int set_start(struct scenario_side_load *side, const char *value, struct error *error)
{
	struct error inner;

	if (units_parse_time(value, &side->start_ns, &inner))
		return error_set(error, EXIT_USAGE, "load.%s.start: %s", side->name, inner.text);
	return 0;
}

int scenario_set_side(struct scenario *scenario, const char *key, const char *value,
		      struct error *error)
{
	const char *name = key + strlen(LOAD_KEY), *point = strchr(name, '.');
	char word[LAB_WORD_SIZE + 1], assignment[64 + SCENARIO_PATH_SIZE];
	struct scenario_side_load *side;
	struct scenario other;
	struct error inner;

	snprintf(word, sizeof(word), "%.*s", (int)(point - name), name);
	side = find_side(scenario, word, error);
	if (!side)
		return -1;
	if (!strcmp(point, ".start"))
		return set_start(side, value, error);
	if (!strcmp(point, ".omit") || !strcmp(point, ".margin"))
		return error_set(error, EXIT_USAGE, "%s: only the main load has that", key);
	if (scenario_builtin(&other, "bottleneck", error))
		return -1;
	into_main(side, &other);
	if (snprintf(assignment, sizeof(assignment), "load%s=%s", point, value) >=
	    (int)sizeof(assignment))
		return error_set(error, EXIT_USAGE, "%s is too long", key);
	if (scenario_set(&other, assignment, &inner))
		return error_set(error, inner.code, "load %s: %s", side->name, inner.text);
	from_main(&other, side);
	return 0;
}

/* ---- bounds ---- */

static int check_ports(const struct scenario *scenario, unsigned int index, struct error *error)
{
	const struct scenario_side_load *side = &scenario->side_loads[index];
	__u16 port = scenario_side_port(scenario, side);

	if (!strcmp(scenario_side_to(scenario, side), scenario->load_to) &&
	    port == scenario->load_port)
		return error_set(error, EXIT_USAGE,
				 "load.%s.port=%u is the main load's, at the same host", side->name,
				 port);
	for (unsigned int i = 0; i < index; i++) {
		const struct scenario_side_load *other = &scenario->side_loads[i];

		if (!strcmp(scenario_side_to(scenario, side), scenario_side_to(scenario, other)) &&
		    port == scenario_side_port(scenario, other))
			return error_set(error, EXIT_USAGE,
					 "load.%s.port=%u is that of load %s, at the same host",
					 side->name, port, other->name);
	}
	return 0;
}

static int check_time(const struct scenario *scenario, const struct scenario_side_load *side,
		      struct error *error)
{
	__u64 length = scenario_load_ns(scenario), ns = scenario_side_ns(scenario, side);
	char text[UNITS_TEXT];

	if (ns < SECOND_NS || side->start_ns + ns > length)
		return error_set(error, EXIT_USAGE,
				 "load %s does not fit into the main one, which lasts %s: set load.%s.start and load.%s.seconds",
				 side->name, units_time_text(length, text), side->name, side->name);
	return 0;
}

static int check_place(const struct scenario *scenario, const struct scenario_side_load *side,
		       const char *key, const char *host, struct error *error)
{
	char names[LAB_HOSTS * LAB_WORD_SIZE * 2];
	int index = lab_plan_host(&scenario->plan, host);

	if (scenario->topology == LAB_NONE)
		return 0;
	if (index < 0)
		return error_set(error, EXIT_USAGE, "load.%s.%s=%s: there is no such host; there are %s",
				 side->name, key, host,
				 lab_plan_host_names(&scenario->plan, names, sizeof(names)));
	if (!lab_plan_address(&scenario->plan, index, scenario->lab_ipv6))
		return error_set(error, EXIT_USAGE, "load.%s.%s=%s: that host has no IPv%d address",
				 side->name, key, host, scenario->lab_ipv6 ? 6 : 4);
	return 0;
}

int scenario_check_sides(const struct scenario *scenario, struct error *error)
{
	for (unsigned int i = 0; i < scenario->side_load_count; i++) {
		const struct scenario_side_load *side = &scenario->side_loads[i];

		if (scenario->load_direction == LOAD_EACH || side->direction == LOAD_EACH)
			return error_set(error, EXIT_USAGE,
					 "load %s: with several loads a direction is up, down or bidir, each is for one alone",
					 side->name);
		if (check_time(scenario, side, error) || check_ports(scenario, i, error) ||
		    check_place(scenario, side, "from", scenario_side_from(scenario, side), error) ||
		    check_place(scenario, side, "to", scenario_side_to(scenario, side), error))
			return -1;
	}
	return 0;
}

/* ---- the document ---- */

static int side_json(const struct scenario *scenario, const struct scenario_side_load *side,
		     cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	if (!object || !cJSON_AddItemToArray(array, object)) {
		cJSON_Delete(object);
		return -1;
	}
	return cJSON_AddStringToObject(object, "name", side->name) &&
	       cJSON_AddStringToObject(object, "from", scenario_side_from(scenario, side)) &&
	       cJSON_AddStringToObject(object, "to", scenario_side_to(scenario, side)) &&
	       cJSON_AddNumberToObject(object, "port", scenario_side_port(scenario, side)) &&
	       cJSON_AddStringToObject(object, "proto", protos[side->proto]) &&
	       cJSON_AddStringToObject(object, "direction", directions[side->direction]) &&
	       cJSON_AddNumberToObject(object, "streams", side->streams) &&
	       cJSON_AddNumberToObject(object, "rate", side->rate) &&
	       cJSON_AddNumberToObject(object, "block", side->block) &&
	       cJSON_AddNumberToObject(object, "dscp", side->dscp) &&
	       cJSON_AddStringToObject(object, "cc", side->congestion) &&
	       cJSON_AddStringToObject(object, "file", side->file) &&
	       cJSON_AddNumberToObject(object, "start", side->start_ns) &&
	       cJSON_AddNumberToObject(object, "seconds",
				       scenario_side_ns(scenario, side) / SECOND_NS) ? 0 : -1;
}

int scenario_sides_json(const struct scenario *scenario, struct cJSON *object)
{
	cJSON *array;

	if (!scenario->side_load_count)
		return 0;
	array = cJSON_AddArrayToObject(object, "loads");
	for (unsigned int i = 0; array && i < scenario->side_load_count; i++)
		if (side_json(scenario, &scenario->side_loads[i], array))
			return -1;
	return array ? 0 : -1;
}

static void side_from_json(struct scenario *scenario, const struct json *object)
{
	struct json proto = json_member(object, "proto");
	struct json direction = json_member(object, "direction");
	char name[SCENARIO_PATH_SIZE] = "";
	struct scenario_side_load *side;
	unsigned int count = scenario->side_load_count;
	__u64 port = 0, seconds = 0;
	struct error error;

	json_text(object, "name", name, sizeof(name));
	side = object->reader->failed ? NULL : find_side(scenario, name, &error);
	if (!side || scenario->side_load_count == count) {
		json_fail(object, "has a name that is none, or another one's");
		return;
	}
	json_text(object, "from", side->from, sizeof(side->from));
	json_text(object, "to", side->to, sizeof(side->to));
	json_text(object, "cc", side->congestion, sizeof(side->congestion));
	json_text(object, "file", side->file, sizeof(side->file));
	side->proto = json_word(&proto, protos);
	side->direction = json_word(&direction, directions);
	json_u64(object, "port", 65535, &port);
	json_u32(object, "streams", ~0U, &side->streams);
	json_u32(object, "dscp", 63, &side->dscp);
	json_u64(object, "rate", NUMBER_MAX, &side->rate);
	json_u64(object, "block", NUMBER_MAX, &side->block);
	json_u64(object, "start", JSON_WHOLE_MAX, &side->start_ns);
	json_u64(object, "seconds", JSON_WHOLE_MAX / SECOND_NS, &seconds);
	side->port = port;
	side->ns = seconds * SECOND_NS;
}

void scenario_sides_from_json(struct scenario *scenario, const struct json *object)
{
	struct json array = json_member(object, "loads"), item;

	json_count(&array, SCENARIO_SIDE_LOADS);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item))
		side_from_json(scenario, &item);
}
