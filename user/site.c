// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"
#include "scenario_lab.h"
#include "site.h"
#include "target.h"

void site_init(struct site *site)
{
	memset(site, 0, sizeof(*site));
	site->own_netns = -1;
}

/* ---- in a lab ---- */

/* scenario_check() has seen that the hosts are there, with addresses of that family. */
static void path_in_lab(const struct site *site, const struct scenario *scenario,
			const char *from, const char *to, __u16 port, struct site_path *path)
{
	int begin = lab_plan_host(&scenario->plan, from), end = lab_plan_host(&scenario->plan, to);

	path->from = lab_netns(site->lab, begin);
	path->to = lab_netns(site->lab, end);
	path->ipv6 = scenario->lab_ipv6;
	path->port = port;
	snprintf(path->address, sizeof(path->address), "%s",
		 lab_address(site->lab, end, path->ipv6));
}

/* Who is who, and what is not as it was asked for. */
static void describe_lab(const struct site *site, const struct scenario *scenario,
			 struct result *result)
{
	const char *kind = scenario_has_own_trees(scenario) ? NULL :
			   lab_qdisc_kind(site->lab, LAB_WAN);
	unsigned int i;

	for (i = 0; i < lab_host_count(site->lab); i++) {
		struct result_host *host = &result->hosts[result->host_count++];

		host->netns = lab_netns_inode(site->lab, i);
		snprintf(host->netns_name, sizeof(host->netns_name), "%s",
			 lab_netns_name(site->lab, i));
		snprintf(host->role, sizeof(host->role), "%s", lab_role(site->lab, i));
	}
	if (!kind || !strcmp(kind, result->scenario.qdisc_kind))
		return;
	snprintf(result->note, sizeof(result->note),
		 "this kernel has no %s (module sch_%s): %s takes its place on wan0",
		 result->scenario.qdisc_kind, result->scenario.qdisc_kind, kind);
	snprintf(result->scenario.qdisc_kind, sizeof(result->scenario.qdisc_kind), "%s", kind);
}

static int build_lab(struct site *site, const struct scenario *scenario, struct guard *guard,
		     struct result *result, struct error *error)
{
	struct lab_options options;
	unsigned int i;

	scenario_lab_options(scenario, &options);
	if (guard_lab(guard, scenario->lab_prefix, error))
		return -1;
	site->lab = lab_create(&options, error);
	if (!site->lab)
		return -1;
	path_in_lab(site, scenario, scenario->load.from, scenario->load.to, scenario->load.port,
		    &site->load);
	path_in_lab(site, scenario, scenario->probe_from, scenario->probe_to, 0, &site->probe);
	for (i = 0; i < scenario->side_load_count; i++) {
		const struct scenario_side_load *side = &scenario->side_loads[i];

		path_in_lab(site, scenario, scenario_side_from(scenario, side),
			    scenario_side_to(scenario, side), scenario_side_port(scenario, side),
			    &site->sides[i]);
	}
	for (i = 0; i < scenario->side_probe_count; i++) {
		const struct scenario_side_probe *side = &scenario->side_probes[i];

		path_in_lab(site, scenario, scenario_side_probe_from(scenario, side),
			    scenario_side_probe_to(scenario, side), 0, &site->side_probes[i]);
	}
	describe_lab(site, scenario, result);
	return 0;
}

/* ---- without one ---- */

/* The port that the text names goes before. */
static int path_to_target(const struct site *site, const struct scenario *scenario,
			  const char *to, __u16 port, struct site_path *path, struct error *error)
{
	struct target target;

	if (target_resolve(to, scenario->lab_ipv6, &target, error))
		return -1;
	path->from = site->own_netns;
	path->to = -1;
	path->ipv6 = target.ipv6;
	path->port = target.port ? target.port : port;
	memcpy(path->address, target.address, sizeof(path->address));
	return 0;
}

static int find_targets(struct site *site, const struct scenario *scenario,
			struct result *result, struct error *error)
{
	struct result_host *host = &result->hosts[result->host_count++];
	unsigned int i;

	site->own_netns = netns_open_own(error);
	if (site->own_netns < 0 ||
	    path_to_target(site, scenario, scenario->load.to, scenario->load.port, &site->load,
			   error) ||
	    path_to_target(site, scenario, scenario->probe_to, 0, &site->probe, error))
		return -1;
	for (i = 0; i < scenario->side_load_count; i++) {
		const struct scenario_side_load *side = &scenario->side_loads[i];
		__u16 port = scenario_side_port(scenario, side);

		if (path_to_target(site, scenario, scenario_side_to(scenario, side), port,
				   &site->sides[i], error))
			return -1;
		/* a port of its own, or one behind the main load's where that names the host */
		if (side->load.port || !side->load.to[0])
			site->sides[i].port = port;
	}
	for (i = 0; i < scenario->side_probe_count; i++) {
		const struct scenario_side_probe *side = &scenario->side_probes[i];

		if (path_to_target(site, scenario, scenario_side_probe_to(scenario, side), 0,
				   &site->side_probes[i], error))
			return -1;
	}
	host->netns = netns_inode(site->own_netns);
	snprintf(host->role, sizeof(host->role), "client");
	return 0;
}

int site_open(struct site *site, const struct scenario *scenario, struct guard *guard,
	      struct result *result, struct error *error)
{
	if (scenario->topology == LAB_NONE)
		return find_targets(site, scenario, result, error);
	return build_lab(site, scenario, guard, result, error);
}

/* ---- what is traced ---- */

static void trace_own(struct site *site)
{
	unsigned int i;

	if (!site->lab) {
		site->netns[0] = (struct witness_netns){ site->own_netns, "" };
		site->netns_count = 1;
		return;
	}
	site->netns_count = lab_host_count(site->lab);
	for (i = 0; i < site->netns_count; i++)
		site->netns[i] = (struct witness_netns){ lab_netns(site->lab, i),
							 lab_netns_name(site->lab, i) };
}

int site_trace(struct site *site, const char *const *names, size_t count, struct error *error)
{
	size_t i;
	int fd;

	if (!names) {
		trace_own(site);
		return 0;
	}
	for (i = 0; i < count; i++) {
		fd = netns_open(names[i], error);
		if (fd < 0)
			return -1;
		site->opened[site->opened_count++] = fd;
		site->netns[i] = (struct witness_netns){ fd, names[i] };
	}
	site->netns_count = count;
	return 0;
}

bool site_is_traced(const struct site *site, __u32 netns)
{
	size_t i;

	for (i = 0; i < site->netns_count; i++)
		if (netns_inode(site->netns[i].fd) == netns)
			return true;
	return false;
}

int site_close(struct site *site, struct error *error)
{
	int failed = site->lab ? lab_destroy(site->lab, error) : 0;

	while (site->opened_count)
		close(site->opened[--site->opened_count]);
	if (site->own_netns >= 0)
		close(site->own_netns);
	site_init(site);
	return failed;
}
