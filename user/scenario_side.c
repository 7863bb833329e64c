// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "json_read.h"
#include "scenario_key.h"
#include "scenario_side.h"
#include "units.h"

#define SECOND_NS	1000000000ULL
#define LOAD_KEY	"load."

bool scenario_is_side_key(const char *key)
{
	return !strncmp(key, LOAD_KEY, strlen(LOAD_KEY)) && strchr(key + strlen(LOAD_KEY), '.');
}

__u64 scenario_side_ns(const struct scenario *scenario, const struct scenario_side_load *side)
{
	__u64 length = scenario_load_ns(scenario);

	if (side->load.ns || side->start_ns >= length)
		return side->load.ns;
	return (length - side->start_ns) / SECOND_NS * SECOND_NS;
}

const char *scenario_side_from(const struct scenario *scenario,
			       const struct scenario_side_load *side)
{
	return side->load.from[0] ? side->load.from : scenario->load.from;
}

const char *scenario_side_to(const struct scenario *scenario,
			     const struct scenario_side_load *side)
{
	return side->load.to[0] ? side->load.to : scenario->load.to;
}

__u16 scenario_side_port(const struct scenario *scenario, const struct scenario_side_load *side)
{
	return side->load.port ? side->load.port : scenario->load.port + 1 + (side - scenario->side_loads);
}

static void *place_of(struct scenario_load *load, const struct key *key)
{
	return (char *)load + key->offset - offsetof(struct scenario, load);
}

/* Those of the main load, but for what it has of the main load itself. */
static void set_defaults(struct scenario_load *load)
{
	const struct key *key = NULL;

	/* our own defaults: the unit tests see one that its key refuses */
	while ((key = scenario_next_load_key(key)))
		key_set(place_of(load, key), key, key->value, NULL);
	load->ns = 0;
	load->port = 0;
	load->from[0] = load->to[0] = '\0';
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
	set_defaults(&side->load);
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
	char word[LAB_WORD_SIZE + 1], of_main[64];
	struct scenario_side_load *side;
	const struct key *load_key;
	struct error inner;

	snprintf(word, sizeof(word), "%.*s", (int)(point - name), name);
	side = find_side(scenario, word, error);
	if (!side)
		return -1;
	if (!strcmp(point, ".start"))
		return set_start(side, value, error);
	snprintf(of_main, sizeof(of_main), "load%s", point);
	load_key = scenario_load_key(scenario, of_main, &inner);
	if (!load_key && inner.code == EXIT_OK)
		return error_set(error, EXIT_USAGE, "%s: only the main load has that", key);
	if (!load_key || key_set(place_of(&side->load, load_key), load_key, value, &inner))
		return error_set(error, inner.code, "load %s: %s", side->name, inner.text);
	return 0;
}

/* ---- bounds ---- */

static int check_ports(const struct scenario *scenario, unsigned int index, struct error *error)
{
	const struct scenario_side_load *side = &scenario->side_loads[index];
	__u16 port = scenario_side_port(scenario, side);

	if (!strcmp(scenario_side_to(scenario, side), scenario->load.to) &&
	    port == scenario->load.port)
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

		if (scenario->load.direction == LOAD_EACH || side->load.direction == LOAD_EACH)
			return error_set(error, EXIT_USAGE,
					 "load %s: with several loads a direction is up, down or bidir, each is for one alone",
					 side->name);
		if (!strcmp(side->load.file, LOAD_FILE_TEMPORARY))
			return error_set(error, EXIT_USAGE,
					 "load.%s.file=temporary: only the main load can have that; name a path",
					 side->name);
		if (check_time(scenario, side, error) || check_ports(scenario, i, error) ||
		    check_place(scenario, side, "from", scenario_side_from(scenario, side), error) ||
		    check_place(scenario, side, "to", scenario_side_to(scenario, side), error))
			return -1;
	}
	return 0;
}

/* ---- the document ---- */

/* What it has of the main load too. */
static void resolve(const struct scenario *scenario, const struct scenario_side_load *side,
		    struct scenario_load *load)
{
	*load = side->load;
	load->ns = scenario_side_ns(scenario, side);
	load->port = scenario_side_port(scenario, side);
	snprintf(load->from, sizeof(load->from), "%s", scenario_side_from(scenario, side));
	snprintf(load->to, sizeof(load->to), "%s", scenario_side_to(scenario, side));
}

static int side_json(const struct scenario *scenario, const struct scenario_side_load *side,
		     cJSON *array)
{
	cJSON *object = cJSON_CreateObject(), *value;
	const struct key *key = NULL;
	struct scenario_load load;

	if (!object || !cJSON_AddItemToArray(array, object)) {
		cJSON_Delete(object);
		return -1;
	}
	resolve(scenario, side, &load);
	if (!cJSON_AddStringToObject(object, "name", side->name) ||
	    !cJSON_AddNumberToObject(object, "start", side->start_ns))
		return -1;
	while ((key = scenario_next_load_key(key))) {
		value = key_json(place_of(&load, key), key);
		if (!value || !cJSON_AddItemToObject(object, key->name + strlen(LOAD_KEY), value)) {
			cJSON_Delete(value);
			return -1;
		}
	}
	return 0;
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
	unsigned int count = scenario->side_load_count;
	char name[SCENARIO_PATH_SIZE] = "";
	struct scenario_side_load *side;
	const struct key *key = NULL;
	struct error error;

	json_text(object, "name", name, sizeof(name));
	side = object->reader->failed ? NULL : find_side(scenario, name, &error);
	if (!side || scenario->side_load_count == count) {
		json_fail(object, "has a name that is none, or another one's");
		return;
	}
	json_u64(object, "start", JSON_WHOLE_MAX, &side->start_ns);
	while ((key = scenario_next_load_key(key)))
		key_from_json(place_of(&side->load, key), key, object,
			      key->name + strlen(LOAD_KEY));
	if (side->load.direction == LOAD_EACH)
		json_fail(object, "goes both ways one after the other, as only a single load can");
}

void scenario_sides_from_json(struct scenario *scenario, const struct json *object)
{
	struct json array = json_member(object, "loads"), item;

	json_count(&array, SCENARIO_SIDE_LOADS);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item))
		side_from_json(scenario, &item);
}
