// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "json_read.h"
#include "scenario_lab.h"
#include "units.h"

#define NETWORK_TEXT	(INET6_ADDRSTRLEN + 4)
#define ROUTE_TEXT	(2 * INET6_ADDRSTRLEN + 16)
#define SYSCTL_TEXT	(2 * LAB_SETTING_SIZE)

#define TREE_KEY	"qdisc."

bool scenario_is_tree_key(const char *key)
{
	const char *host = key + strlen(TREE_KEY);

	return !strncmp(key, TREE_KEY, strlen(TREE_KEY)) && strchr(host, '.');
}

int scenario_set_tree(struct lab_plan *plan, const char *key, const char *commands,
		      struct error *error)
{
	const char *host = key + strlen(TREE_KEY);
	size_t length = strcspn(host, ".");
	char name[LAB_WORD_SIZE];

	if (length >= sizeof(name))
		return error_set(error, EXIT_USAGE, "%s: no host's name is as long as that", key);
	memcpy(name, host, length);
	name[length] = '\0';
	return lab_plan_set_tree(plan, name, host + length + 1, commands, error);
}

/* The lowest rate in one tree's words. */
static __u64 tree_rate(const char *commands)
{
	char text[LAB_TREE_SIZE], *rest = NULL, *word;
	bool named = false;
	__u64 lowest = ~0ULL, rate;

	snprintf(text, sizeof(text), "%s", commands);
	for (word = strtok_r(text, " \t;", &rest); word; word = strtok_r(NULL, " \t;", &rest)) {
		if (named && !units_parse_rate(word, &rate, NULL) && rate && rate < lowest)
			lowest = rate;
		named = !strcmp(word, "rate") || !strcmp(word, "bandwidth");
	}
	return lowest;
}

__u64 scenario_trees_rate(const struct lab_plan *plan)
{
	__u64 lowest = ~0ULL;

	for (unsigned int i = 0; i < plan->tree_count; i++) {
		__u64 rate = tree_rate(plan->trees[i].commands);

		if (rate < lowest)
			lowest = rate;
	}
	return lowest;
}

static struct lab_qdisc lab_qdisc_of(const struct scenario_qdisc *qdisc)
{
	return (struct lab_qdisc){
		.kind = qdisc->kind,
		.rate_bit_per_s = qdisc->rate,
		.burst_bytes = qdisc->burst,
		.latency_ns = qdisc->latency_ns,
	};
}

void scenario_lab_options(const struct scenario *scenario, struct lab_options *options)
{
	*options = (struct lab_options){
		.prefix = scenario->lab_prefix,
		.topology = scenario->topology,
		.plan = &scenario->plan,
		.ipv6 = scenario->lab_ipv6,
		.qdiscs[LAB_WAN] = {
			.kind = scenario->qdisc_kind,
			.otherwise = scenario_otherwise(scenario),
			.rate_bit_per_s = scenario->qdisc_rate,
			.burst_bytes = scenario->qdisc_burst,
			.latency_ns = scenario->qdisc_latency_ns,
		},
		.qdiscs[LAB_UPLINK] = lab_qdisc_of(&scenario->up),
		.qdiscs[LAB_DOWNLINK] = lab_qdisc_of(&scenario->down),
	};
}

/* ---- into a document ---- */

static cJSON *add_object(cJSON *array)
{
	cJSON *object = cJSON_CreateObject();

	if (!object || !cJSON_AddItemToArray(array, object)) {
		cJSON_Delete(object);
		return NULL;
	}
	return object;
}

static int trees_json(const struct lab_plan *plan, cJSON *object)
{
	cJSON *array = cJSON_AddArrayToObject(object, "qdiscs");

	if (!array)
		return -1;
	for (unsigned int i = 0; i < plan->tree_count; i++) {
		const struct lab_tree *tree = &plan->trees[i];
		cJSON *item = add_object(array);

		if (!item || !cJSON_AddStringToObject(item, "host", tree->host) ||
		    !cJSON_AddStringToObject(item, "device", tree->device) ||
		    !cJSON_AddStringToObject(item, "commands", tree->commands))
			return -1;
	}
	return 0;
}

static int add_text(cJSON *array, const char *text)
{
	cJSON *item = cJSON_CreateString(text);

	if (item && cJSON_AddItemToArray(array, item))
		return 0;
	cJSON_Delete(item);
	return -1;
}

static int routes_json(const struct lab_plan_host *host, cJSON *object)
{
	cJSON *array = cJSON_AddArrayToObject(object, "routes");
	char text[ROUTE_TEXT];

	for (unsigned int i = 0; array && i < host->route_count; i++) {
		const struct lab_route *route = &host->routes[i];

		if (route->to.address[0])
			snprintf(text, sizeof(text), "%s/%u via %s", route->to.address,
				 route->to.length, route->gateway);
		else
			snprintf(text, sizeof(text), "default via %s", route->gateway);
		if (add_text(array, text))
			return -1;
	}
	return array ? 0 : -1;
}

static int sysctls_json(const struct lab_plan_host *host, cJSON *object)
{
	cJSON *array = cJSON_AddArrayToObject(object, "sysctls");
	char text[SYSCTL_TEXT];

	for (unsigned int i = 0; array && i < host->sysctl_count; i++) {
		snprintf(text, sizeof(text), "%s=%s", host->sysctls[i].name,
			 host->sysctls[i].value);
		if (add_text(array, text))
			return -1;
	}
	return array ? 0 : -1;
}

static int hosts_json(const struct lab_plan *plan, cJSON *object)
{
	cJSON *array = cJSON_AddArrayToObject(object, "hosts");

	for (unsigned int i = 0; array && i < plan->host_count; i++) {
		const struct lab_plan_host *host = &plan->hosts[i];
		cJSON *item = add_object(array);

		if (!item || !cJSON_AddStringToObject(item, "name", host->name) ||
		    !cJSON_AddStringToObject(item, "role", host->role) ||
		    !cJSON_AddBoolToObject(item, "forward", host->forwards) ||
		    routes_json(host, item) || sysctls_json(host, item))
			return -1;
	}
	return array ? 0 : -1;
}

static int end_json(const struct lab_plan *plan, const struct lab_end *end, const char *name,
		    cJSON *link)
{
	cJSON *object = cJSON_AddObjectToObject(link, name), *array;
	char text[NETWORK_TEXT];

	if (!object || !cJSON_AddStringToObject(object, "host", plan->hosts[end->host].name) ||
	    !cJSON_AddStringToObject(object, "device", end->device))
		return -1;
	array = cJSON_AddArrayToObject(object, "addresses");
	for (unsigned int i = 0; array && i < end->address_count; i++) {
		snprintf(text, sizeof(text), "%s/%u", end->addresses[i].address,
			 end->addresses[i].length);
		if (add_text(array, text))
			return -1;
	}
	return array ? 0 : -1;
}

static int links_json(const struct lab_plan *plan, cJSON *object)
{
	cJSON *array = cJSON_AddArrayToObject(object, "links");

	for (unsigned int i = 0; array && i < plan->link_count; i++) {
		const struct lab_link *link = &plan->links[i];
		cJSON *item = add_object(array);

		if (!item || !cJSON_AddStringToObject(item, "name", link->name) ||
		    end_json(plan, &link->ends[0], "a", item) ||
		    end_json(plan, &link->ends[1], "b", item) ||
		    !cJSON_AddNumberToObject(item, "mtu", link->mtu) ||
		    !cJSON_AddBoolToObject(item, "offload", !link->without_offloads))
			return -1;
	}
	return array ? 0 : -1;
}

int scenario_lab_json(const struct scenario *scenario, struct cJSON *object)
{
	const struct lab_plan *plan = &scenario->plan;
	cJSON *lab;

	if (plan->tree_count && trees_json(plan, object))
		return -1;
	if (scenario->topology == LAB_NONE)
		return cJSON_AddStringToObject(object, "lab", "none") ? 0 : -1;
	if (scenario->topology != LAB_PLANNED)
		return 0;
	lab = cJSON_AddObjectToObject(object, "lab");
	return !lab || hosts_json(plan, lab) || links_json(plan, lab) ? -1 : 0;
}

/* ---- and back ---- */

static void tree_from_json(struct lab_plan *plan, const struct json *item)
{
	char host[LAB_WORD_SIZE] = "", device[IFNAMSIZ] = "", commands[LAB_TREE_SIZE] = "";
	struct error inner;

	json_text(item, "host", host, sizeof(host));
	json_text(item, "device", device, sizeof(device));
	json_text(item, "commands", commands, sizeof(commands));
	if (lab_plan_set_tree(plan, host, device, commands, &inner))
		json_fail(item, "is no tree of a device");
}

static void settings_from_json(struct lab_plan_host *host, const struct json *object)
{
	struct json routes = json_member(object, "routes"), item;
	struct json sysctls = json_member(object, "sysctls");
	struct error inner;

	json_count(&routes, LAB_ROUTES);
	for (item = json_first(&routes); item.item && !item.reader->failed;
	     item = json_next(&item)) {
		const char *text = json_string(&item);

		if (!text || lab_host_add_route(host, text, &inner))
			json_fail(&item, "is no route");
	}
	json_count(&sysctls, LAB_SYSCTLS);
	for (item = json_first(&sysctls); item.item && !item.reader->failed;
	     item = json_next(&item)) {
		const char *path = json_string(&item);
		char text[SYSCTL_TEXT], *slash;

		/* a path in the document, a name with points in a file */
		snprintf(text, sizeof(text), "%s", path ? path : "");
		while ((slash = memchr(text, '/', strcspn(text, "="))))
			*slash = '.';
		if (lab_host_add_sysctl(host, text, &inner))
			json_fail(&item, "is no setting");
	}
}

static void hosts_from_json(struct lab_plan *plan, const struct json *lab)
{
	struct json array = json_member(lab, "hosts"), item;

	json_count(&array, LAB_HOSTS);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item)) {
		struct lab_plan_host *host = &plan->hosts[plan->host_count++];

		json_text(&item, "name", host->name, sizeof(host->name));
		json_text(&item, "role", host->role, sizeof(host->role));
		json_bool(&item, "forward", &host->forwards);
		settings_from_json(host, &item);
	}
}

static void end_from_json(const struct lab_plan *plan, struct lab_end *end, const struct json *link,
			  const char *name)
{
	struct json object = json_needed(link, name), array, item;
	char host[LAB_WORD_SIZE] = "";
	struct error inner;
	int index;

	json_text(&object, "host", host, sizeof(host));
	json_text(&object, "device", end->device, sizeof(end->device));
	index = lab_plan_host(plan, host);
	if (index < 0) {
		json_fail(&object, "is at a host that there is not");
		return;
	}
	end->host = (unsigned int)index;
	array = json_member(&object, "addresses");
	json_count(&array, LAB_ADDRESSES);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item)) {
		const char *text = json_string(&item);

		if (!text || lab_network_parse(&end->addresses[end->address_count++], text, &inner))
			json_fail(&item, "is no address");
	}
}

static void links_from_json(struct lab_plan *plan, const struct json *lab)
{
	struct json array = json_member(lab, "links"), item;

	json_count(&array, LAB_LINKS);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item)) {
		struct lab_link *link = &plan->links[plan->link_count++];
		bool offload = true;

		json_text(&item, "name", link->name, sizeof(link->name));
		end_from_json(plan, &link->ends[0], &item, "a");
		end_from_json(plan, &link->ends[1], &item, "b");
		json_u32(&item, "mtu", 65535, &link->mtu);
		json_bool(&item, "offload", &offload);
		link->without_offloads = !offload;
	}
}

static void plan_from_json(struct scenario *scenario, const struct json *lab)
{
	lab_plan_fill(&scenario->plan, LAB_PLANNED);
	scenario->topology = LAB_PLANNED;
	hosts_from_json(&scenario->plan, lab);
	links_from_json(&scenario->plan, lab);
}

void scenario_lab_from_json(struct scenario *scenario, const struct json *object)
{
	struct json lab = json_member(object, "lab"), array = json_member(object, "qdiscs"), item;

	if (cJSON_IsString(lab.item)) {
		lab_plan_fill(&scenario->plan, LAB_NONE);
		scenario->topology = LAB_NONE;
	} else if (lab.item) {
		plan_from_json(scenario, &lab);
	}
	json_count(&array, LAB_TREES);
	for (item = json_first(&array); item.item && !item.reader->failed;
	     item = json_next(&item))
		tree_from_json(&scenario->plan, &item);
}
