// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "closest.h"
#include "json_read.h"
#include "qdisc_set.h"
#include "scenario.h"
#include "scenario_file.h"
#include "scenario_key.h"
#include "scenario_lab.h"
#include "scenario_probes.h"
#include "scenario_side.h"
#include "text.h"
#include "units.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define SECOND		1000000000ull

#define LOWER		KEY_LOWER

#define AT(member) offsetof(struct scenario, member)
#define SIZE(member) sizeof(((struct scenario *)0)->member)

/* The enums of iperf3.h in their order. */
#define PROTOCOLS	"tcp|udp"
#define DIRECTIONS	"up|down|bidir|each"
#define PLACEMENTS	"auto|one|any"

static const struct key keys[] = {
	{ "idle.seconds", "3", KEY_SECONDS, AT(idle_ns), SECOND / 1000, 3600 * SECOND, NULL,
	  "probes alone, before the load" },
	{ "load.seconds", "15", KEY_WHOLE_SECONDS, AT(load.ns), SECOND, 3600 * SECOND, NULL,
	  "iperf3's -t, whole seconds" },
	{ "recovery.seconds", "8", KEY_SECONDS, AT(recovery_ns), SECOND / 1000, 3600 * SECOND, NULL,
	  "probes alone, after the load" },
	{ "load.margin", "1", KEY_TIME, AT(margin_ns), 0, 60 * SECOND, NULL,
	  "left out of the summary at both ends of the load" },
	{ "recovery.margin", "1", KEY_TIME, AT(settle_ns), 0, 60 * SECOND, NULL,
	  "recovery begins so long after the load's end" },
	{ "load.streams", "1", KEY_COUNT, AT(load.streams), 1, 128, NULL,
	  "parallel iperf3 streams" },
	{ "load.cc", "cubic", KEY_WORD, AT(load.congestion), 1, SIZE(load.congestion), LOWER "_",
	  "TCP congestion control" },
	{ "load.proto", "tcp", KEY_CHOICE, AT(load.proto), 0, 0, PROTOCOLS,
	  "protocol of the load" },
	{ "load.rate", "0", KEY_RATE, AT(load.rate), 0, 1000000000000, NULL,
	  "cap of each stream; 0: none (UDP: iperf3's default)" },
	{ "load.direction", "up", KEY_CHOICE, AT(load.direction), 0, 0, DIRECTIONS,
	  "up: client sends, down: server sends, bidir: both at once, each: up, then down" },
	{ "load.port", "5201", KEY_PORT, AT(load.port), 1, 65535, NULL,
	  "port of the iperf3 server" },
	{ "load.omit", "0", KEY_TIME, AT(load_omit_ns), 0, 600 * SECOND, NULL,
	  "iperf3's -O: sent before load.seconds begin, not in its figures" },
	{ "load.block", "0", KEY_SIZE, AT(load.block), 0, 1048576, NULL,
	  "bytes of each write, UDP: of each datagram; 0: iperf3's default" },
	{ "load.bytes", "0", KEY_SIZE, AT(load.bytes), 0, 1ull << 40, NULL,
	  "iperf3's -n: send so much instead of for load.seconds, which are then what is planned for it" },
	{ "load.dscp", "0", KEY_DSCP, AT(load.dscp), 0, 63, NULL,
	  "DSCP of the load's packets: 0 to 63, or a name (ef, cs1, af41)" },
	{ "load.file", "", KEY_PATH, AT(load.file), 0, SIZE(load.file), NULL,
	  "of the client: what it sends is read there, what it receives written there; temporary: one of load.bytes on disk, gone afterwards" },
	{ "load.from", "client", KEY_WORD, AT(load.from), 1, SIZE(load.from), LOWER "-_",
	  "the host where iperf3's client runs" },
	{ "load.to", "server", KEY_PATH, AT(load.to), 1, SIZE(load.to), NULL,
	  "the host where its server runs; lab=none: HOST[:PORT] of one that runs already" },
	{ "qdisc.kind", "tbf", KEY_WORD, AT(qdisc_kind), 1, SIZE(qdisc_kind), LOWER "_",
	  "qdisc under test, on wan0 of the router or gateway" },
	{ "qdisc.rate", "10mbit", KEY_RATE, AT(qdisc_rate), 8, 1000000000000, NULL,
	  "its rate" },
	{ "qdisc.burst", "32kb", KEY_SIZE, AT(qdisc_burst), 1, 0xffffffff, NULL,
	  "its bucket" },
	{ "qdisc.latency", "400ms", KEY_UNIT_TIME, AT(qdisc_latency_ns), 1000, 60 * SECOND, NULL,
	  "the longest that a packet may wait in it" },
	{ "up.kind", "tbf", KEY_WORD, AT(up.kind), 1, SIZE(up.kind), LOWER "_",
	  "office: the modem's qdisc towards the server (kinds as above)" },
	{ "up.rate", "5mbit", KEY_RATE, AT(up.rate), 8, 1000000000000, NULL,
	  "its rate" },
	{ "up.burst", "16kb", KEY_SIZE, AT(up.burst), 1, 0xffffffff, NULL,
	  "its bucket" },
	{ "up.latency", "1s", KEY_UNIT_TIME, AT(up.latency_ns), 1000, 60 * SECOND, NULL,
	  "the longest that a packet may wait in it" },
	{ "down.kind", "tbf", KEY_WORD, AT(down.kind), 1, SIZE(down.kind), LOWER "_",
	  "office: the modem's qdisc towards the gateway (kinds as above)" },
	{ "down.rate", "20mbit", KEY_RATE, AT(down.rate), 8, 1000000000000, NULL,
	  "its rate" },
	{ "down.burst", "32kb", KEY_SIZE, AT(down.burst), 1, 0xffffffff, NULL,
	  "its bucket" },
	{ "down.latency", "500ms", KEY_UNIT_TIME, AT(down.latency_ns), 1000, 60 * SECOND, NULL,
	  "the longest that a packet may wait in it" },
	{ "probe.interval", "0.1", KEY_TIME, AT(probe_interval_ns), 2000000, 60 * SECOND, NULL,
	  "between two pings" },
	{ "probe.count", "260", KEY_COUNT, AT(probe_count), 1, 65535, NULL,
	  "pings; follows from the times unless set" },
	{ "probe.size", "56", KEY_COUNT, AT(probe_size), 16, 1452, NULL,
	  "ping's payload in bytes" },
	{ "probe.from", "client", KEY_WORD, AT(probe_from), 1, SIZE(probe_from), LOWER "-_",
	  "the host where ping runs" },
	{ "probe.to", "server", KEY_PATH, AT(probe_to), 1, SIZE(probe_to), NULL,
	  "the host that it pings; lab=none: the one of load.to unless set" },
	{ "restored.count", "20", KEY_COUNT, AT(restored_count), 0, 65535, NULL,
	  "pings with the qdisc under test removed" },
	{ "lab.prefix", "pl-", KEY_WORD, AT(lab_prefix), 1, 21, LOWER "-",
	  "of the names of the lab's namespaces" },
	{ "lab.ipv6", "false", KEY_BOOL, AT(lab_ipv6), 0, 0, NULL,
	  "probe and load over IPv6" },
	{ "lab.cpu", "auto", KEY_CHOICE, AT(lab_cpu), 0, 0, PLACEMENTS,
	  "one: ping, iperf3 and the tracer share a CPU; any: they wander; auto: one up to 100 Mbit/s" },
};

_Static_assert(COUNT(keys) <= 64, "one bit of scenario.assigned for each key");
_Static_assert(21 <= SIZE(lab_prefix), "a prefix of 20 bytes and its NUL fit");

struct named {
	const char *name;
	enum lab_topology topology;
	const char *otherwise;			/* as in struct scenario */
	const char *const *assignments;		/* what it changes; NULL at the end */
	const char *help;
};

static const char *const bottleneck[] = { NULL };

static const char *const office[] = {
	"idle.seconds=5",
	"load.seconds=20",
	"load.direction=each",
	"recovery.seconds=6",
	"probe.interval=0.2",
	"qdisc.kind=fq_codel",
	NULL
};

static const struct named scenarios[] = {
	{ "bottleneck", LAB_BOTTLENECK, NULL, bottleneck,
	  "client - router - server; tbf on the router's wan0. The defaults below" },
	{ "office", LAB_OFFICE, "pfifo_fast", office,
	  "client - gateway - modem - server; tbf on the modem, both ways, fq_codel\n"
	  "              (pfifo_fast where the kernel has none) on the gateway's wan0" },
};

#define IDLE		{ "idle", PHASE_IDLE, LOAD_UP }
#define RECOVERY	{ "recovery", PHASE_RECOVERY, LOAD_UP }
#define RESTORED	{ "restored", PHASE_RESTORED, LOAD_UP }
#define SINGLE_LOAD(direction) \
	{ IDLE, { "load", PHASE_LOAD, direction }, RECOVERY, RESTORED }

/* By load.direction; a phase without a name ends the list. */
static const struct scenario_phase plans[][SCENARIO_PHASES_MAX + 1] = {
	[LOAD_UP] = SINGLE_LOAD(LOAD_UP),
	[LOAD_DOWN] = SINGLE_LOAD(LOAD_DOWN),
	[LOAD_BIDIR] = SINGLE_LOAD(LOAD_BIDIR),
	[LOAD_EACH] = {
		IDLE,
		{ "upload", PHASE_LOAD, LOAD_UP },
		{ "between", PHASE_RECOVERY, LOAD_UP },
		{ "download", PHASE_LOAD, LOAD_DOWN },
		RECOVERY,
		RESTORED,
	},
};

unsigned int scenario_phases(const struct scenario *scenario,
			     const struct scenario_phase **phases)
{
	const struct scenario_phase *plan = plans[scenario->load.direction];
	unsigned int count = 0;

	while (count < SCENARIO_PHASES_MAX && plan[count].name)
		count++;
	*phases = plan;
	return count;
}

unsigned int scenario_known_phases(const struct scenario_phase **phases)
{
	static const struct scenario_phase known[] = {
		IDLE,
		{ "load", PHASE_LOAD, LOAD_UP },
		{ "upload", PHASE_LOAD, LOAD_UP },
		{ "between", PHASE_RECOVERY, LOAD_UP },
		{ "download", PHASE_LOAD, LOAD_DOWN },
		RECOVERY,
		RESTORED,
	};

	*phases = known;
	return COUNT(known);
}

static bool is_of(const struct key *key, const char *group)
{
	return !strncmp(key->name, group, strlen(group));
}

/* The modem's qdiscs are there in the office only, a planned lab has trees alone. */
static bool applies(const struct scenario *scenario, const struct key *key)
{
	if (is_of(key, "up.") || is_of(key, "down."))
		return scenario->topology == LAB_OFFICE;
	return !is_of(key, "qdisc.") || !scenario_has_own_trees(scenario);
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	}
	return NULL;
}

bool scenario_assigned(const struct scenario *scenario, const char *name)
{
	return scenario->assigned >> (find_key(name) - keys) & 1;
}

const char *scenario_otherwise(const struct scenario *scenario)
{
	return scenario_assigned(scenario, "qdisc.kind") ? NULL : scenario->otherwise;
}

__u64 scenario_load_ns(const struct scenario *scenario)
{
	return scenario->load.ns + scenario->load_omit_ns;
}

bool scenario_has_own_trees(const struct scenario *scenario)
{
	const struct lab_plan *plan = &scenario->plan;

	return scenario->topology == LAB_PLANNED || scenario->topology == LAB_NONE ||
	       lab_plan_tree(plan, plan->hosts[LAB_ROUTER].name, "wan0");
}

__u64 scenario_rate(const struct scenario *scenario)
{
	__u64 rate = scenario_trees_rate(&scenario->plan), own = ~0ULL;

	if (scenario->topology == LAB_OFFICE)
		own = scenario->up.rate > scenario->down.rate ? scenario->up.rate :
								scenario->down.rate;
	else if (!scenario_has_own_trees(scenario))
		own = scenario->qdisc_rate;
	return rate < own ? rate : own;
}

static void *member(struct scenario *scenario, const struct key *key)
{
	return (char *)scenario + key->offset;
}

static const void *const_member(const struct scenario *scenario, const struct key *key)
{
	return (const char *)scenario + key->offset;
}

/* "rate" is the part behind the point of "qdisc.rate". */
static bool is_part(const char *name, const struct key *key)
{
	return !strcmp(name, strchr(key->name, '.') + 1);
}

/* "qdisc.rate": also for "rate", and for what is a few letters off. */
static bool may_mean(const char *name, const struct key *key)
{
	return is_part(name, key) || closest_near(name, key->name);
}

static void append(char *text, size_t size, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

/* The nearest keys; where none is near, those of the same group, else all of them. */
static int unknown_key(const struct scenario *scenario, const char *name, struct error *error)
{
	char near[128] = "", group[256] = "";
	size_t prefix = strcspn(name, ".");
	unsigned int best = ~0u;

	for (size_t i = 0; i < COUNT(keys); i++) {
		if (!applies(scenario, &keys[i]))
			continue;
		if (!strncmp(keys[i].name, name, prefix + 1))
			append(group, sizeof(group), keys[i].name);
		if (may_mean(name, &keys[i]) && closest_distance(name, keys[i].name) < best)
			best = closest_distance(name, keys[i].name);
	}
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (applies(scenario, &keys[i]) && may_mean(name, &keys[i]) &&
		    (is_part(name, &keys[i]) || closest_distance(name, keys[i].name) <= best + 1))
			append(near, sizeof(near), keys[i].name);
	}
	if (near[0])
		return error_set(error, EXIT_USAGE, "unknown key \"%s\": did you mean %s?", name,
				 near);
	if (group[0])
		return error_set(error, EXIT_USAGE, "unknown key \"%s\": there are %s", name, group);
	return error_set(error, EXIT_USAGE,
			 "unknown key \"%s\": `sojourn help run` lists all of them", name);
}

static bool is_load_key(const struct key *key)
{
	return key->offset >= AT(load) && key->offset < AT(load) + SIZE(load);
}

const struct key *scenario_next_load_key(const struct key *key)
{
	for (key = key ? key + 1 : keys; key < keys + COUNT(keys); key++)
		if (is_load_key(key))
			return key;
	return NULL;
}

const struct key *scenario_load_key(const struct scenario *scenario, const char *name,
				    struct error *error)
{
	const struct key *key = find_key(name);

	if (key && is_load_key(key))
		return key;
	error->code = EXIT_OK;
	if (!key)
		unknown_key(scenario, name, error);
	return NULL;
}

void scenario_load_options(const struct scenario_load *load, struct iperf3_options *options)
{
	*options = (struct iperf3_options){
		.proto = load->proto,
		.direction = load->direction,
		.seconds = load->ns / SECOND,
		.streams = load->streams,
		.congestion = load->congestion,
		.rate_bit_per_s = load->rate,
		.block_bytes = load->block,
		.bytes = load->bytes,
		.dscp = load->dscp,
		.file = load->file,
	};
}

/* "lab=none": nothing is built, the keys of the qdiscs under test are gone with it. */
static int set_lab(struct scenario *scenario, const char *value, struct error *error)
{
	if (strcmp(value, "none"))
		return error_set(error, EXIT_USAGE,
				 "lab=%s cannot be: it takes none; a lab of its own is described under headings (docs/scenario.md)",
				 value);
	if (scenario->topology == LAB_PLANNED || scenario->plan.tree_count)
		return error_set(error, EXIT_USAGE,
				 "lab=none: the scenario describes hosts or qdiscs, which are a lab's");
	scenario->topology = LAB_NONE;
	lab_plan_fill(&scenario->plan, LAB_NONE);
	snprintf(scenario->name, sizeof(scenario->name), "none");
	return 0;
}

static int does_not_apply(const struct scenario *scenario, const struct key *key,
			  struct error *error)
{
	if (is_of(key, "qdisc."))
		return error_set(error, EXIT_USAGE,
				 "%s is of no use here: the scenario describes its qdiscs by device (qdisc.HOST.DEVICE)",
				 key->name);
	return error_set(error, EXIT_USAGE,
			 "%s is a key of the scenario office: the scenario %s has no modem",
			 key->name, scenario->name);
}

int scenario_set(struct scenario *scenario, const char *assignment, struct error *error)
{
	const char *equals = strchr(assignment, '=');
	const struct key *key;
	char name[64];

	if (!equals || equals == assignment)
		return error_set(error, EXIT_USAGE,
				 "\"%s\" is no key=value: write it like load.seconds=8", assignment);
	if ((size_t)(equals - assignment) >= sizeof(name))
		return error_set(error, EXIT_USAGE, "no key is as long as \"%.40s...\"", assignment);
	memcpy(name, assignment, equals - assignment);
	name[equals - assignment] = '\0';
	key = find_key(name);
	if (!key && scenario_is_side_key(name))
		return scenario_set_side(scenario, name, equals + 1, error);
	if (!key && scenario_is_side_probe_key(name))
		return scenario_set_side_probe(scenario, name, equals + 1, error);
	if (!strcmp(name, "lab"))
		return set_lab(scenario, equals + 1, error);
	if (!key && scenario_is_tree_key(name) && scenario->topology == LAB_NONE)
		return error_set(error, EXIT_USAGE, "%s: without a lab no qdisc is set", name);
	if (!key && scenario_is_tree_key(name))
		return scenario_set_tree(&scenario->plan, name, equals + 1, error);
	if (!key)
		return unknown_key(scenario, name, error);
	if (!applies(scenario, key))
		return does_not_apply(scenario, key, error);
	if (key_set(member(scenario, key), key, equals + 1, error))
		return -1;
	scenario->assigned |= 1ull << (key - keys);
	return 0;
}

/* The tables are our own: a default that its key refuses is seen by the unit test. */
static int set_defaults(struct scenario *scenario, const struct named *named,
			struct error *error)
{
	*scenario = (struct scenario){
		.topology = named->topology,
		.otherwise = named->otherwise,
	};
	lab_plan_fill(&scenario->plan, named->topology);
	snprintf(scenario->name, sizeof(scenario->name), "%s", named->name);
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (key_set(member(scenario, &keys[i]), &keys[i], keys[i].value, error))
			return -1;
	}
	for (const char *const *assignment = named->assignments; *assignment; assignment++) {
		if (scenario_set(scenario, *assignment, error))
			return -1;
	}
	scenario->assigned = 0;
	return 0;
}

static int unknown_scenario(const char *name, struct error *error)
{
	const char *names[COUNT(scenarios)];
	char list[256] = "";
	int nearest;

	for (size_t i = 0; i < COUNT(scenarios); i++) {
		names[i] = scenarios[i].name;
		append(list, sizeof(list), names[i]);
	}
	nearest = closest_name(name, names, COUNT(scenarios));
	if (nearest >= 0)
		return error_set(error, EXIT_USAGE,
				 "unknown scenario \"%s\": did you mean %s? There are: %s", name,
				 names[nearest], list);
	return error_set(error, EXIT_USAGE,
			 "unknown scenario \"%s\", and no file of that name; there are: %s", name,
			 list);
}

static const struct named *find_scenario(const char *name)
{
	for (size_t i = 0; i < COUNT(scenarios); i++) {
		if (!strcmp(scenarios[i].name, name))
			return &scenarios[i];
	}
	return NULL;
}

int scenario_builtin(struct scenario *scenario, const char *name, struct error *error)
{
	const struct named *named = find_scenario(name);

	return named ? set_defaults(scenario, named, error) : unknown_scenario(name, error);
}

int scenario_named(struct scenario *scenario, const char *name, struct error *error)
{
	if (!find_scenario(name) && (strchr(name, '/') || (*name && !access(name, F_OK))))
		return scenario_file_read(scenario, name, error);
	return scenario_builtin(scenario, name, error);
}

struct cJSON *scenario_json(const struct scenario *scenario)
{
	cJSON *object = cJSON_CreateObject();

	if (!cJSON_AddStringToObject(object, "name", scenario->name))
		goto fail;
	for (size_t i = 0; i < COUNT(keys); i++) {
		cJSON *value;

		if (!applies(scenario, &keys[i]))
			continue;
		value = key_json(const_member(scenario, &keys[i]), &keys[i]);
		if (!value || !cJSON_AddItemToObject(object, keys[i].name, value)) {
			cJSON_Delete(value);
			goto fail;
		}
	}
	if (scenario_sides_json(scenario, object) || scenario_side_probes_json(scenario, object) ||
	    scenario_lab_json(scenario, object))
		goto fail;
	return object;
fail:
	cJSON_Delete(object);
	return NULL;
}

void scenario_from_json(struct scenario *scenario, const struct json *object)
{
	char name[SIZE(name)] = "";
	const struct named *named;

	json_text(object, "name", name, sizeof(name));
	named = find_scenario(name);
	/* one of another version: its keys say all the same what was run */
	set_defaults(scenario, named ? named : &scenarios[0], NULL);
	memcpy(scenario->name, name, sizeof(name));
	for (size_t i = 0; i < COUNT(keys); i++)
		key_from_json(member(scenario, &keys[i]), &keys[i], object, keys[i].name);
	scenario_sides_from_json(scenario, object);
	scenario_side_probes_from_json(scenario, object);
	scenario_lab_from_json(scenario, object);
}

void scenario_print_keys(void)
{
	printf("Scenarios:\n");
	for (size_t i = 0; i < COUNT(scenarios); i++) {
		printf("  %-11s %s", scenarios[i].name, scenarios[i].help);
		for (size_t j = 0; scenarios[i].assignments[j]; j++)
			printf("%s%s", j % 3 ? " " : "\n              ", scenarios[i].assignments[j]);
		printf("\n");
	}
	printf("Keys of --set key=value and of scenario files (one key = value a line, before them\n"
	       "\"scenario = NAME\" for the defaults of another than bottleneck):\n");
	for (size_t i = 0; i < COUNT(keys); i++) {
		printf("  %-18s %-8s %s", keys[i].name, keys[i].value, keys[i].help);
		if (keys[i].type == KEY_CHOICE)
			printf(" (%s)", keys[i].letters);
		if (!strcmp(keys[i].name, "qdisc.kind"))
			printf(" (%s)", qdisc_kinds_text());
		printf("\n");
	}
	printf("Rates and sizes as tc writes them (10mbit, 32kb); times: 400ms, 0.1s, 20us, 5 (seconds).\n");
}
