// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "json_read.h"
#include "scenario_key.h"
#include "scenario_probes.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define SECOND		1000000000ULL
#define PROBE_KEY	"probe."
#define AT(member)	offsetof(struct scenario_side_probe, member)
#define SIZE(member)	sizeof(((struct scenario_side_probe *)0)->member)

static const struct key keys[] = {
	{ "to", "", KEY_PATH, AT(to), 0, SIZE(to), NULL, NULL },
	{ "from", "", KEY_WORD, AT(from), 1, SIZE(from), KEY_LOWER "-_", NULL },
	{ "interval", "0", KEY_TIME, AT(interval_ns), 2000000, 60 * SECOND, NULL, NULL },
};

bool scenario_is_side_probe_key(const char *key)
{
	return !strncmp(key, PROBE_KEY, strlen(PROBE_KEY)) &&
	       strchr(key + strlen(PROBE_KEY), '.');
}

const char *scenario_side_probe_from(const struct scenario *scenario,
				     const struct scenario_side_probe *side)
{
	return side->from[0] ? side->from : scenario->probe_from;
}

const char *scenario_side_probe_to(const struct scenario *scenario,
				   const struct scenario_side_probe *side)
{
	return side->to[0] ? side->to : scenario->probe_to;
}

__u64 scenario_side_probe_interval(const struct scenario *scenario,
				   const struct scenario_side_probe *side)
{
	return side->interval_ns ? side->interval_ns : scenario->probe_interval_ns;
}

__u64 scenario_side_probe_count(const struct scenario *scenario,
				const struct scenario_side_probe *side)
{
	__u64 length = scenario->probe_count * scenario->probe_interval_ns;
	__u64 count = length / scenario_side_probe_interval(scenario, side);

	return count ? count : 1;
}

static struct scenario_side_probe *find(struct scenario *scenario, const char *name)
{
	for (unsigned int i = 0; i < scenario->side_probe_count; i++)
		if (!strcmp(scenario->side_probes[i].name, name))
			return &scenario->side_probes[i];
	return NULL;
}

static struct scenario_side_probe *add(struct scenario *scenario, const char *name,
				       struct error *error)
{
	struct scenario_side_probe *side;

	if (!lab_word_good(name)) {
		error_set(error, EXIT_USAGE,
			  "probe.%s: a probe's name has up to 15 lower-case letters, digits, \"-\" and \"_\"",
			  name);
		return NULL;
	}
	if (scenario->side_probe_count == SCENARIO_SIDE_PROBES) {
		error_set(error, EXIT_USAGE,
			  "probe.%s is one too many: %d beside the main one are the most", name,
			  SCENARIO_SIDE_PROBES);
		return NULL;
	}
	side = &scenario->side_probes[scenario->side_probe_count++];
	memset(side, 0, sizeof(*side));
	memcpy(side->name, name, strlen(name) + 1);
	return side;
}

int scenario_set_side_probe(struct scenario *scenario, const char *key, const char *value,
			    struct error *error)
{
	const char *name = key + strlen(PROBE_KEY), *point = strchr(name, '.');
	struct scenario_side_probe *side;
	char word[LAB_WORD_SIZE + 1];
	struct error inner;

	snprintf(word, sizeof(word), "%.*s", (int)(point - name), name);
	side = find(scenario, word);
	if (!side)
		side = add(scenario, word, error);
	if (!side)
		return -1;
	if (!point[1])
		return 0;
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (strcmp(keys[i].name, point + 1))
			continue;
		if (key_set((char *)side + keys[i].offset, &keys[i], value, &inner))
			return error_set(error, inner.code, "probe.%s.%s", side->name, inner.text);
		return 0;
	}
	return error_set(error, EXIT_USAGE,
			 "unknown key \"%s\": of probes beside the main ones there are to, from and interval",
			 key);
}

static int check_place(const struct scenario *scenario, const char *name, const char *key,
		       const char *host, struct error *error)
{
	char names[LAB_HOSTS * LAB_WORD_SIZE * 2];
	int index = lab_plan_host(&scenario->plan, host);

	if (index < 0)
		return error_set(error, EXIT_USAGE,
				 "probe.%s.%s=%s: there is no such host; there are %s", name, key,
				 host, lab_plan_host_names(&scenario->plan, names, sizeof(names)));
	if (!lab_plan_address(&scenario->plan, index, scenario->lab_ipv6))
		return error_set(error, EXIT_USAGE, "probe.%s.%s=%s: that host has no IPv%d address",
				 name, key, host, scenario->lab_ipv6 ? 6 : 4);
	return 0;
}

/* Without a lab all begin here, and names are looked up when the run begins. */
static int check_places(const struct scenario *scenario, const struct scenario_side_probe *side,
			struct error *error)
{
	const char *from = scenario_side_probe_from(scenario, side);
	const char *to = scenario_side_probe_to(scenario, side);

	if (scenario->topology == LAB_NONE && side->from[0])
		return error_set(error, EXIT_USAGE,
				 "probe.%s.from: without a lab probes begin on this host", side->name);
	if (scenario->topology == LAB_NONE)
		return 0;
	if (check_place(scenario, side->name, "from", from, error) ||
	    check_place(scenario, side->name, "to", to, error))
		return -1;
	if (!strcmp(from, to))
		return error_set(error, EXIT_USAGE,
				 "probe.%s: it begins and ends at the same host, %s", side->name, to);
	return 0;
}

int scenario_check_side_probes(const struct scenario *scenario, struct error *error)
{
	for (unsigned int i = 0; i < scenario->side_probe_count; i++) {
		const struct scenario_side_probe *side = &scenario->side_probes[i];

		if (check_places(scenario, side, error))
			return -1;
		if (scenario_side_probe_count(scenario, side) > 65535)
			return error_set(error, EXIT_USAGE,
					 "probe.%s.interval: %llu probes are more than the 65535 that ping numbers: set a longer one",
					 side->name,
					 (unsigned long long)scenario_side_probe_count(scenario, side));
	}
	return 0;
}

/* ---- the document ---- */

static int side_json(const struct scenario *scenario, const struct scenario_side_probe *side,
		     cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	if (!object || !cJSON_AddItemToArray(array, object)) {
		cJSON_Delete(object);
		return -1;
	}
	return cJSON_AddStringToObject(object, "name", side->name) &&
	       cJSON_AddStringToObject(object, "to", scenario_side_probe_to(scenario, side)) &&
	       cJSON_AddStringToObject(object, "from", scenario_side_probe_from(scenario, side)) &&
	       cJSON_AddNumberToObject(object, "interval",
				       scenario_side_probe_interval(scenario, side)) ? 0 : -1;
}

int scenario_side_probes_json(const struct scenario *scenario, struct cJSON *object)
{
	cJSON *array;

	if (!scenario->side_probe_count)
		return 0;
	array = cJSON_AddArrayToObject(object, "probes");
	for (unsigned int i = 0; array && i < scenario->side_probe_count; i++)
		if (side_json(scenario, &scenario->side_probes[i], array))
			return -1;
	return array ? 0 : -1;
}

static void side_from_json(struct scenario *scenario, const struct json *object)
{
	char name[LAB_WORD_SIZE] = "";
	struct scenario_side_probe *side = NULL;
	struct error error;

	json_text(object, "name", name, sizeof(name));
	if (!object->reader->failed && !find(scenario, name))
		side = add(scenario, name, &error);
	if (!side) {
		json_fail(object, "has a name that is none, or another one's");
		return;
	}
	for (size_t i = 0; i < COUNT(keys); i++)
		key_from_json((char *)side + keys[i].offset, &keys[i], object, keys[i].name);
}

void scenario_side_probes_from_json(struct scenario *scenario, const struct json *object)
{
	struct json array = json_member(object, "probes"), item;

	json_count(&array, SCENARIO_SIDE_PROBES);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item))
		side_from_json(scenario, &item);
}
