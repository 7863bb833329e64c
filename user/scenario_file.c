// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closest.h"
#include "ini_file.h"
#include "scenario_file.h"
#include "units.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define MTU_LEAST	68	/* RFC 791 */
#define MTU_MOST	65535

enum section { SECTION_GROUP, SECTION_HOST, SECTION_LINK, SECTION_QDISC };

/* A file while it is read. */
struct reader {
	struct scenario *scenario;
	struct ini_file *file;
	bool assigned;			/* was any key set? Then no base may follow */
	enum section section;
	char group[2 * LAB_WORD_SIZE];	/* "load", "load.bulk"; "": before the first heading */
	struct lab_plan_host *host;
	struct lab_link *link;
	char tree_host[LAB_WORD_SIZE], tree_device[IFNAMSIZ];
};

/* ---- values of hosts, links and qdiscs ---- */

static int set_bool(bool *value, const char *text)
{
	static const char *const words[] = { "off", "on", "no", "yes", "false", "true", "0", "1" };

	for (size_t i = 0; i < COUNT(words); i++) {
		if (strcmp(words[i], text))
			continue;
		*value = i % 2;
		return 0;
	}
	return -1;
}

static int set_role(struct reader *reader, const char *value)
{
	if (!lab_word_good(value))
		return ini_file_fail(reader->file, "role = %s: it takes up to 15 lower-case letters, digits, \"-\" and \"_\"", value);
	snprintf(reader->host->role, sizeof(reader->host->role), "%s", value);
	return 0;
}

static int set_forward(struct reader *reader, const char *value)
{
	if (set_bool(&reader->host->forwards, value))
		return ini_file_fail(reader->file, "forward = %s: it takes yes or no", value);
	return 0;
}

static int set_gateway(struct reader *reader, const char *value)
{
	char route[INI_LINE_MAX + sizeof("default via ")];
	struct error inner;

	snprintf(route, sizeof(route), "default via %s", value);
	if (lab_host_add_route(reader->host, route, &inner))
		return ini_file_fail(reader->file, "%s", inner.text);
	return 0;
}

static int set_route(struct reader *reader, const char *value)
{
	struct error inner;

	if (lab_host_add_route(reader->host, value, &inner))
		return ini_file_fail(reader->file, "%s", inner.text);
	return 0;
}

static int set_sysctl(struct reader *reader, const char *value)
{
	struct error inner;

	if (lab_host_add_sysctl(reader->host, value, &inner))
		return ini_file_fail(reader->file, "%s", inner.text);
	return 0;
}

static int unknown_host(struct reader *reader, const char *name)
{
	char names[LAB_HOSTS * LAB_WORD_SIZE * 2];

	lab_plan_host_names(&reader->scenario->plan, names, sizeof(names));
	return ini_file_fail(reader->file, "there is no host %s yet: [host %s] has to stand before; there %s%s",
			     name, name, names[0] ? "are " : "is none", names);
}

/* "client eth0 192.0.2.10/24 2001:db8:1::10/64" */
static int set_end(struct reader *reader, struct lab_end *end, const char *value)
{
	char text[INI_LINE_MAX + 1], *rest = NULL, *host, *device, *address;
	struct error inner;
	int index;

	snprintf(text, sizeof(text), "%s", value);
	host = strtok_r(text, " \t", &rest);
	device = strtok_r(NULL, " \t", &rest);
	if (!host || !device)
		return ini_file_fail(reader->file, "%s: write it like client eth0 192.0.2.10/24", value);
	index = lab_plan_host(&reader->scenario->plan, host);
	if (index < 0)
		return unknown_host(reader, host);
	if (strlen(device) >= IFNAMSIZ || strpbrk(device, "/:."))
		return ini_file_fail(reader->file, "'%s' cannot be the name of a device", device);
	*end = (struct lab_end){ .host = index };
	snprintf(end->device, sizeof(end->device), "%s", device);
	while ((address = strtok_r(NULL, " \t", &rest))) {
		if (end->address_count == LAB_ADDRESSES)
			return ini_file_fail(reader->file, "'%s' is too much: a device has two addresses at most", address);
		if (lab_network_parse(&end->addresses[end->address_count++], address, &inner))
			return ini_file_fail(reader->file, "%s", inner.text);
	}
	return 0;
}

static int set_a(struct reader *reader, const char *value)
{
	return set_end(reader, &reader->link->ends[0], value);
}

static int set_b(struct reader *reader, const char *value)
{
	return set_end(reader, &reader->link->ends[1], value);
}

static int set_mtu(struct reader *reader, const char *value)
{
	struct error inner;
	__u64 mtu;

	if (units_parse_count(value, &mtu, &inner) || mtu < MTU_LEAST || mtu > MTU_MOST)
		return ini_file_fail(reader->file, "mtu = %s: it takes 68 to 65535 bytes", value);
	reader->link->mtu = mtu;
	return 0;
}

static int set_offload(struct reader *reader, const char *value)
{
	bool on;

	if (set_bool(&on, value))
		return ini_file_fail(reader->file, "offload = %s: it takes on or off (TSO, GSO and GRO)", value);
	reader->link->without_offloads = !on;
	return 0;
}

static int add_commands(struct reader *reader, const char *value)
{
	struct lab_plan *plan = &reader->scenario->plan;
	const struct lab_tree *tree = lab_plan_tree(plan, reader->tree_host, reader->tree_device);
	char commands[LAB_TREE_SIZE + INI_LINE_MAX + 2];
	struct error inner;

	snprintf(commands, sizeof(commands), "%s%s%s", tree ? tree->commands : "",
		 tree ? "; " : "", value);
	if (lab_plan_set_tree(plan, reader->tree_host, reader->tree_device, commands, &inner))
		return ini_file_fail(reader->file, "%s", inner.text);
	return 0;
}

static const struct section_key {
	enum section section;
	const char *name;
	int (*set)(struct reader *reader, const char *value);
} section_keys[] = {
	{ SECTION_HOST, "role", set_role },
	{ SECTION_HOST, "forward", set_forward },
	{ SECTION_HOST, "gateway", set_gateway },
	{ SECTION_HOST, "route", set_route },
	{ SECTION_HOST, "sysctl", set_sysctl },
	{ SECTION_LINK, "a", set_a },
	{ SECTION_LINK, "b", set_b },
	{ SECTION_LINK, "mtu", set_mtu },
	{ SECTION_LINK, "offload", set_offload },
	{ SECTION_QDISC, "add", add_commands },
};

static int set_section_key(struct reader *reader, const char *name, const char *value)
{
	const char *names[COUNT(section_keys)];
	char list[160] = "";
	size_t count = 0;
	int near;

	for (size_t i = 0; i < COUNT(section_keys); i++) {
		if (section_keys[i].section != reader->section)
			continue;
		if (!strcmp(section_keys[i].name, name))
			return section_keys[i].set(reader, value);
		names[count++] = section_keys[i].name;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			 list[0] ? ", " : "", section_keys[i].name);
	}
	near = closest_name(name, names, count);
	return ini_file_fail(reader->file, "unknown key \"%s\"%s%s%s there %s %s", name,
			     near >= 0 ? ", did you mean " : "", near >= 0 ? names[near] : "",
			     near >= 0 ? "?" : ":", count == 1 ? "is" : "are", list);
}

/* ---- headings ---- */

/* After the file, without its folder and what its name ends with. */
static void name_scenario(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	const char *slash = strrchr(reader->file->name, '/');
	const char *base = slash ? slash + 1 : reader->file->name;
	size_t length = strcspn(base, ".");

	if (length >= sizeof(scenario->name))
		length = sizeof(scenario->name) - 1;
	snprintf(scenario->name, sizeof(scenario->name), "%.*s", (int)length, base);
}

/* The first host or link that a file describes makes the lab one of its own. */
static int plan_lab(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;

	if (scenario->topology == LAB_PLANNED)
		return 0;
	if (scenario->plan.tree_count || strcmp(scenario->name, "bottleneck"))
		return ini_file_fail(reader->file,
			    "a lab of one's own takes no \"scenario = \" and no qdisc before its hosts");
	scenario->topology = LAB_PLANNED;
	lab_plan_fill(&scenario->plan, LAB_PLANNED);
	name_scenario(reader);
	return 0;
}

static int begin_host(struct reader *reader, const char *name)
{
	struct lab_plan *plan = &reader->scenario->plan;

	if (plan_lab(reader))
		return -1;
	if (!lab_word_good(name))
		return ini_file_fail(reader->file, "[host %s]: a host's name has up to 15 lower-case letters, digits, \"-\" and \"_\"", name);
	if (lab_plan_host(plan, name) >= 0)
		return ini_file_fail(reader->file, "the host %s is there twice", name);
	if (plan->host_count == LAB_HOSTS)
		return ini_file_fail(reader->file, "[host %s] is one host too many: a lab has at most 16", name);
	reader->section = SECTION_HOST;
	reader->host = &plan->hosts[plan->host_count++];
	snprintf(reader->host->name, sizeof(reader->host->name), "%s", name);
	snprintf(reader->host->role, sizeof(reader->host->role), "%s", name);
	return 0;
}

static int begin_link(struct reader *reader, const char *name)
{
	struct lab_plan *plan = &reader->scenario->plan;

	if (plan_lab(reader))
		return -1;
	if (!lab_word_good(name))
		return ini_file_fail(reader->file, "[link %s]: a link's name has up to 15 lower-case letters, digits, \"-\" and \"_\"", name);
	for (unsigned int i = 0; i < plan->link_count; i++) {
		if (!strcmp(plan->links[i].name, name))
			return ini_file_fail(reader->file, "the link %s is there twice", name);
	}
	if (plan->link_count == LAB_LINKS)
		return ini_file_fail(reader->file, "[link %s] is one link too many: a lab has at most 24", name);
	reader->section = SECTION_LINK;
	reader->link = &plan->links[plan->link_count++];
	snprintf(reader->link->name, sizeof(reader->link->name), "%s", name);
	return 0;
}

static int begin_qdisc(struct reader *reader, const char *host, const char *device)
{
	struct lab_plan *plan = &reader->scenario->plan;

	if (lab_plan_host(plan, host) < 0)
		return unknown_host(reader, host);
	if (strlen(device) >= IFNAMSIZ)
		return ini_file_fail(reader->file, "'%s' cannot be the name of a device", device);
	if (lab_plan_tree(plan, host, device))
		return ini_file_fail(reader->file, "the device %s of that host has its qdiscs already", device);
	reader->section = SECTION_QDISC;
	snprintf(reader->tree_host, sizeof(reader->tree_host), "%s", host);
	snprintf(reader->tree_device, sizeof(reader->tree_device), "%s", device);
	return 0;
}

static int begin_group(struct reader *reader, const char *name)
{
	static const char *const groups[] = { "idle", "load", "recovery", "qdisc", "up", "down",
					      "probe", "restored", "lab", "host", "link" };
	int near;

	for (size_t i = 0; i < COUNT(groups) - 2; i++) {
		if (strcmp(groups[i], name))
			continue;
		reader->section = SECTION_GROUP;
		snprintf(reader->group, sizeof(reader->group), "%s", name);
		return 0;
	}
	near = closest_name(name, groups, COUNT(groups));
	if (near < 0)
		return ini_file_fail(reader->file, "unknown heading [%s]: there are host NAME, link NAME, qdisc HOST DEVICE, and the groups of keys, as load and probe", name);
	return ini_file_fail(reader->file, "this heading is unknown or lacks a name; did you mean [%s]?",
			 groups[near]);
}

/*
 * A load or probes beside the main ones, of which nothing more need be said: first adds it.
 */
static int begin_side(struct reader *reader, const char *kind, const char *name,
		      const char *first)
{
	struct error inner;
	char assignment[64];

	if (!lab_word_good(name))
		return ini_file_fail(reader->file, "[%s %s]: such a name has up to 15 lower-case letters, digits, \"-\" and \"_\"", kind, name);
	reader->section = SECTION_GROUP;
	snprintf(reader->group, sizeof(reader->group), "%s.%s", kind, name);
	snprintf(assignment, sizeof(assignment), "%s.%s", reader->group, first);
	if (scenario_set(reader->scenario, assignment, &inner))
		return ini_file_fail(reader->file, "%s", inner.text);
	return 0;
}

static int take_heading(struct ini_file *file, char *words[], size_t count)
{
	struct reader *reader = file->context;

	if (count == 2 && !strcmp(words[0], "host"))
		return begin_host(reader, words[1]);
	if (count == 2 && !strcmp(words[0], "link"))
		return begin_link(reader, words[1]);
	if (count == 2 && !strcmp(words[0], "load"))
		return begin_side(reader, words[0], words[1], "start=0");
	if (count == 2 && !strcmp(words[0], "probe"))
		return begin_side(reader, words[0], words[1], "=");
	if (count == 3 && !strcmp(words[0], "qdisc"))
		return begin_qdisc(reader, words[1], words[2]);
	if (count == 1)
		return begin_group(reader, words[0]);
	return ini_file_fail(file, "[%s ...]: there are [host NAME], [link NAME], [qdisc HOST DEVICE], [load NAME], [probe NAME] and the groups of keys, as [load]",
			     words[0]);
}

/* "scenario = office": its defaults, which must not undo what was set before. */
static int set_base(struct reader *reader, const char *name)
{
	struct error inner;

	if (reader->assigned || reader->scenario->topology == LAB_PLANNED)
		return ini_file_fail(reader->file, "scenario=%s comes too late: it has to stand before all keys",
				 name);
	return scenario_builtin(reader->scenario, name, &inner) ? ini_file_fail(reader->file, "%s", inner.text) : 0;
}

/* A scenario of its own too: it has the file's name. */
static int set_no_lab(struct reader *reader, const char *value)
{
	char assignment[2 * INI_LINE_MAX];
	struct error inner;

	snprintf(assignment, sizeof(assignment), "lab=%s", value);
	if (scenario_set(reader->scenario, assignment, &inner))
		return ini_file_fail(reader->file, "%s", inner.text);
	name_scenario(reader);
	return 0;
}

static int take_key(struct ini_file *file, const char *key, const char *value)
{
	struct reader *reader = file->context;
	char assignment[2 * INI_LINE_MAX];
	struct error inner;

	if (reader->section != SECTION_GROUP)
		return set_section_key(reader, key, value);
	if (!reader->group[0] && !strcmp(key, "scenario"))
		return set_base(reader, value);
	if (!reader->group[0] && !strcmp(key, "lab"))
		return set_no_lab(reader, value);
	snprintf(assignment, sizeof(assignment), "%s%s%s=%s", reader->group,
		 reader->group[0] ? "." : "", key, value);
	reader->assigned = true;
	if (scenario_set(reader->scenario, assignment, &inner))
		return ini_file_fail(file, "%s", inner.text);
	return 0;
}

int scenario_file_parse(struct scenario *scenario, const char *text, size_t length,
			const char *name, struct error *error)
{
	struct reader reader = { .scenario = scenario };
	struct ini_file file = {
		.name = name,
		.what = "scenario",
		.error = error,
		.context = &reader,
		.heading = take_heading,
		.key = take_key,
	};

	reader.file = &file;
	if (scenario_builtin(scenario, "bottleneck", error))
		return -1;
	return ini_file_parse(&file, text, length);
}

int scenario_file_read(struct scenario *scenario, const char *path, struct error *error)
{
	size_t length;
	char *text = ini_file_read(path, "scenario", &length, error);
	int status;

	if (!text)
		return -1;
	status = scenario_file_parse(scenario, text, length, path, error);
	free(text);
	return status;
}
