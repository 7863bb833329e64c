// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "lab_remove.h"
#include "lab_state.h"
#include "link.h"
#include "netns.h"
#include "offloads.h"
#include "qdisc_set.h"
#include "tc.h"

#define UP_TIMEOUT_MS		5000

struct lab {
	struct lab_plan plan;
	const char *kinds[LAB_PLACES];	/* of the qdiscs that were set; NULL: none */
	char prefix[LAB_NAME_SIZE];
	bool ipv6;
	struct lab_owner owner;
	struct lab_host_netns {
		char name[LAB_NAME_SIZE];
		__u32 inode;
		int fd;				/* -1: none */
		struct netlink *netlink;	/* bound to the namespace */
	} hosts[LAB_HOSTS];
};

static const struct {
	enum lab_host host;
	const char *device;
	__u32 handle;
} places[LAB_PLACES] = {
	[LAB_WAN] = { LAB_ROUTER, "wan0", TC_H_MAKE(0x10 << 16, 0) },
	[LAB_UPLINK] = { LAB_MODEM, "wan0", TC_H_MAKE(0x20 << 16, 0) },
	[LAB_DOWNLINK] = { LAB_MODEM, "lan0", TC_H_MAKE(0x30 << 16, 0) },
};

int lab_netns(const struct lab *lab, unsigned int host)
{
	return lab->hosts[host].fd;
}

__u32 lab_netns_inode(const struct lab *lab, unsigned int host)
{
	return lab->hosts[host].inode;
}

const char *lab_netns_name(const struct lab *lab, unsigned int host)
{
	return lab->hosts[host].name;
}

unsigned int lab_host_count(const struct lab *lab)
{
	return lab->plan.host_count;
}

const char *lab_role(const struct lab *lab, unsigned int host)
{
	return lab->plan.hosts[host].role;
}

const char *lab_qdisc_kind(const struct lab *lab, enum lab_place place)
{
	return lab->kinds[place];
}

const char *lab_address(const struct lab *lab, unsigned int host, bool ipv6)
{
	return lab_plan_address(&lab->plan, host, ipv6);
}

static void settings_of(const struct lab_options *options, enum lab_place place,
			struct qdisc_settings *settings)
{
	const struct lab_qdisc *qdisc = &options->qdiscs[place];

	*settings = (struct qdisc_settings){
		.kind = qdisc->kind,
		.handle = places[place].handle,
		.rate_bit_per_s = qdisc->rate_bit_per_s,
		.burst_bytes = qdisc->burst_bytes,
		.latency_ns = qdisc->latency_ns,
	};
}

/* Is a qdisc wanted there, on a host that the topology has, and no tree in its place? */
static bool is_wanted(const struct lab *lab, const struct lab_options *options,
		      enum lab_place place)
{
	const struct lab_plan *plan = &lab->plan;
	unsigned int host = places[place].host;

	return options->topology != LAB_PLANNED && options->qdiscs[place].kind &&
	       host < plan->host_count &&
	       !lab_plan_tree(plan, plan->hosts[host].name, places[place].device);
}

/* A prefix that is too long is told by check_options(). */
static void name_host(struct lab *lab, unsigned int host, const char *prefix)
{
	char word[LAB_WORD_SIZE];

	memcpy(word, lab->plan.hosts[host].name, sizeof(word));
	snprintf(lab->hosts[host].name, LAB_NAME_SIZE, "%.*s%s", LAB_PREFIX_MAX, prefix, word);
}

static struct lab *allocate(const struct lab_options *options, struct error *error)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	unsigned int host;

	if (!lab) {
		error_set_errno(error, EXIT_CANNOT, "cannot make a lab");
		return NULL;
	}
	if (options->plan)
		lab->plan = *options->plan;
	else
		lab_plan_fill(&lab->plan, options->topology);
	snprintf(lab->prefix, sizeof(lab->prefix), "%s", options->prefix);
	lab->ipv6 = options->ipv6;
	lab_owner_self(&lab->owner);
	for (host = 0; host < LAB_HOSTS; host++)
		lab->hosts[host].fd = -1;
	for (host = 0; host < lab_host_count(lab); host++)
		name_host(lab, host, options->prefix);
	return lab;
}

static void release(struct lab *lab)
{
	int host;

	for (host = 0; host < LAB_HOSTS; host++) {
		netlink_close(lab->hosts[host].netlink);
		if (lab->hosts[host].fd >= 0)
			close(lab->hosts[host].fd);
	}
	free(lab);
}

/* The first of the lab's names that is taken, NULL where all are free. */
static const char *taken_name(const struct lab *lab)
{
	unsigned int host;

	for (host = 0; host < lab_host_count(lab); host++) {
		if (netns_name_taken(lab->hosts[host].name))
			return lab->hosts[host].name;
	}
	return NULL;
}

/*
 * Is the way free? A state file without any of its names is what a maker left
 * that died before it made them, or a lab that was removed by hand: it goes.
 */
static int check_free(const struct lab *lab, struct error *error)
{
	const char *taken = taken_name(lab);
	struct lab_state state;
	enum lab_state_found found = lab_state_read(lab->prefix, &state, error);

	if (found == LAB_STATE_ERROR)
		return -1;
	if (found == LAB_STATE_WHOLE && lab_owner_nobody(&state.owner))
		return error_set(error, EXIT_CANNOT,
				 "lab %s is kept for work by hand; remove it with `sojourn lab down %s`, or choose another with --set lab.prefix=NAME-",
				 lab->prefix, lab->prefix);
	if (found == LAB_STATE_WHOLE && lab_owner_alive(&state.owner))
		return error_set(error, EXIT_CANNOT,
				 "lab %s is in use by process %d; wait for its end, or choose another with --set lab.prefix=NAME-",
				 lab->prefix, (int)state.owner.pid);
	if (taken && found == LAB_STATE_WHOLE)
		return error_set(error, EXIT_CANNOT,
				 "network namespace %s is left from a run that was killed; remove it with `sojourn lab down %s`",
				 taken, lab->prefix);
	if (taken)
		return error_set(error, EXIT_CANNOT,
				 "network namespace %s exists and is not sojourn's (`sojourn lab down` would not touch it); choose another name with --set lab.prefix=NAME-",
				 taken);
	return found == LAB_STATE_NONE ? 0 : lab_state_remove(lab->prefix, error);
}

static int create_namespaces(struct lab *lab, struct lab_state *state, struct error *error)
{
	unsigned int host;

	memset(state, 0, sizeof(*state));
	lab_boot(state->boot);
	state->owner = lab->owner;
	state->netns_count = lab_host_count(lab);
	for (host = 0; host < state->netns_count; host++) {
		struct lab_host_netns *netns = &lab->hosts[host];

		netns->fd = netns_create(error);
		if (netns->fd < 0)
			return -1;
		netns->inode = netns_inode(netns->fd);
		memcpy(state->netns[host].name, netns->name, LAB_NAME_SIZE);
		state->netns[host].inode = netns->inode;
		state->netns[host].cookie = netns_cookie(netns->fd);
	}
	return 0;
}

static int name_namespaces(struct lab *lab, const struct lab_state *state, struct error *error)
{
	struct lab_removal removal = { 0 };
	unsigned int host;

	if (lab_state_write(lab->prefix, state, error))
		return -1;
	if (lab_state_prepare_netns_directory(error))
		goto fail;
	for (host = 0; host < lab_host_count(lab); host++) {
		if (netns_name_add(lab->hosts[host].name, lab->hosts[host].fd, error))
			goto fail;
	}
	return 0;
fail:
	lab_remove_locked(lab->prefix, state, &removal, NULL);
	return -1;
}

/* All that others could get in the way of, under the lock. */
static int claim(struct lab *lab, struct error *error)
{
	int lock = lab_state_lock(error);
	struct lab_state state;
	int status = -1;

	if (lock < 0)
		return -1;
	if (!check_free(lab, error) && !create_namespaces(lab, &state, error))
		status = name_namespaces(lab, &state, error);
	lab_state_unlock(lock);
	return status;
}

/*
 * Without IPv6 it is switched off, and with it there are no router
 * solicitations and no duplicate address detection, so that nothing but the
 * run's own packets passes the qdiscs. All of it before there are devices.
 */
static int set_sysctls(struct lab *lab, struct error *error)
{
	static const char *const without_ipv6[][2] = {
		{ "net/ipv6/conf/all/disable_ipv6", "1" },
		{ "net/ipv6/conf/default/disable_ipv6", "1" },
		{ NULL, NULL },
	};
	static const char *const with_ipv6[][2] = {
		{ "net/ipv6/conf/all/disable_ipv6", "0" },
		{ "net/ipv6/conf/default/disable_ipv6", "0" },
		{ "net/ipv6/conf/default/accept_ra", "0" },
		{ "net/ipv6/conf/default/accept_dad", "0" },
		{ NULL, NULL },
	};
	unsigned int host;

	for (host = 0; host < lab_host_count(lab); host++) {
		const char *const (*sysctl)[2] = lab->ipv6 ? with_ipv6 : without_ipv6;

		for (; (*sysctl)[0]; sysctl++) {
			if (netns_sysctl(lab->hosts[host].fd, (*sysctl)[0], (*sysctl)[1],
					 error) < 0)
				return -1;
		}
	}
	return 0;
}

static int set_forwarding(struct lab *lab, unsigned int host, struct error *error)
{
	int router = lab->hosts[host].fd;
	int status;

	status = netns_sysctl(router, "net/ipv4/ip_forward", "1", error);
	if (status > 0)
		return error_set(error, EXIT_CANNOT,
				 "no /proc/sys/net/ipv4/ip_forward: the router cannot forward");
	if (status)
		return -1;
	status = netns_sysctl(router, "net/ipv6/conf/all/forwarding", "1", error);
	if (status > 0 && lab->ipv6)
		return error_set(error, EXIT_CANNOT,
				 "this kernel has no IPv6; leave out --set lab.ipv6=true");
	return status < 0 ? -1 : 0;
}

static int set_all_forwarding(struct lab *lab, struct error *error)
{
	unsigned int host;

	for (host = 0; host < lab_host_count(lab); host++) {
		if (lab->plan.hosts[host].forwards && set_forwarding(lab, host, error))
			return -1;
	}
	return 0;
}

static int open_sockets(struct lab *lab, struct error *error)
{
	unsigned int host;

	for (host = 0; host < lab_host_count(lab); host++) {
		lab->hosts[host].netlink = netlink_open(lab->hosts[host].fd, error);
		if (!lab->hosts[host].netlink)
			return -1;
	}
	return 0;
}

static int set_end(struct lab *lab, const struct lab_link *link, const struct lab_end *end,
		   struct error *error)
{
	struct netlink *netlink = lab->hosts[end->host].netlink;

	if (link->mtu && link_set_mtu(netlink, end->device, link->mtu, error))
		return -1;
	if (link->without_offloads &&
	    offloads_off(lab->hosts[end->host].fd, end->device, error))
		return -1;
	return link_set_up(netlink, end->device, error);
}

static int make_link(struct lab *lab, const struct lab_link *link, struct error *error)
{
	const struct lab_end *a = &link->ends[0], *b = &link->ends[1];

	if (link_add_veth(lab->hosts[a->host].netlink, a->device, b->device,
			  lab->hosts[b->host].fd, error))
		return -1;
	return set_end(lab, link, a, error) || set_end(lab, link, b, error) ? -1 : 0;
}

static int make_links(struct lab *lab, struct error *error)
{
	unsigned int i;

	for (i = 0; i < lab->plan.link_count; i++) {
		if (make_link(lab, &lab->plan.links[i], error))
			return -1;
	}
	for (i = 0; i < lab_host_count(lab); i++) {
		if (link_set_up(lab->hosts[i].netlink, "lo", error))
			return -1;
	}
	return 0;
}

/* Without IPv6 its addresses and routes are left out. */
static bool is_used(const struct lab *lab, const char *address)
{
	return lab->ipv6 || !strchr(address, ':');
}

static int add_end_addresses(struct lab *lab, const struct lab_end *end, struct error *error)
{
	struct netlink *netlink = lab->hosts[end->host].netlink;
	unsigned int i;

	if (link_wait_up(netlink, end->device, UP_TIMEOUT_MS, error))
		return -1;
	for (i = 0; i < end->address_count; i++) {
		const struct lab_network *network = &end->addresses[i];

		if (is_used(lab, network->address) &&
		    link_add_address(netlink, end->device, network->address, network->length,
				     error))
			return -1;
	}
	return 0;
}

static int add_addresses(struct lab *lab, struct error *error)
{
	unsigned int i;

	for (i = 0; i < 2 * lab->plan.link_count; i++) {
		if (add_end_addresses(lab, &lab->plan.links[i / 2].ends[i % 2], error))
			return -1;
	}
	return 0;
}

static int add_routes(struct lab *lab, struct error *error)
{
	unsigned int host, i;

	for (host = 0; host < lab_host_count(lab); host++) {
		const struct lab_plan_host *plan = &lab->plan.hosts[host];

		for (i = 0; i < plan->route_count; i++) {
			const struct lab_route *route = &plan->routes[i];

			if (is_used(lab, route->gateway) &&
			    link_add_route(lab->hosts[host].netlink, route->to.address,
					   route->to.length, route->gateway, error))
				return -1;
		}
	}
	return 0;
}

/* What a host asks for, once its devices are there. */
static int set_host_sysctls(struct lab *lab, unsigned int host, struct error *error)
{
	const struct lab_plan_host *plan = &lab->plan.hosts[host];
	unsigned int i;

	for (i = 0; i < plan->sysctl_count; i++) {
		const struct lab_sysctl *sysctl = &plan->sysctls[i];
		int status = netns_sysctl(lab->hosts[host].fd, sysctl->name, sysctl->value, error);

		if (status > 0)
			return error_set(error, EXIT_CANNOT, "host %s: this kernel has no sysctl %s",
					 plan->name, sysctl->name);
		if (status)
			return -1;
	}
	return 0;
}

static int set_all_host_sysctls(struct lab *lab, struct error *error)
{
	unsigned int host;

	for (host = 0; host < lab_host_count(lab); host++) {
		if (set_host_sysctls(lab, host, error))
			return -1;
	}
	return 0;
}

static int add_trees(struct lab *lab, struct error *error)
{
	unsigned int i;

	for (i = 0; i < lab->plan.tree_count; i++) {
		const struct lab_tree *tree = &lab->plan.trees[i];
		int host = lab_plan_host(&lab->plan, tree->host);

		if (tc_add_tree(lab->hosts[host].fd, tree, error))
			return -1;
	}
	return 0;
}

/* qdisc_add_root() leaves ENOENT where the kernel has no qdisc of that kind. */
static int add_qdisc(struct lab *lab, const struct lab_options *options, enum lab_place place,
		     struct error *error)
{
	struct netlink *netlink = lab->hosts[places[place].host].netlink;
	const char *otherwise = options->qdiscs[place].otherwise;
	struct qdisc_settings settings;
	int status;

	settings_of(options, place, &settings);
	errno = 0;
	status = qdisc_add_root(netlink, places[place].device, &settings, error);
	if (status && errno == ENOENT && otherwise) {
		settings.kind = otherwise;
		status = qdisc_add_root(netlink, places[place].device, &settings, error);
	}
	if (!status)
		lab->kinds[place] = settings.kind;
	return status;
}

static int furnish(struct lab *lab, const struct lab_options *options, struct error *error)
{
	int place;

	if (open_sockets(lab, error) || set_sysctls(lab, error) || set_all_forwarding(lab, error) ||
	    make_links(lab, error) || add_addresses(lab, error) || add_routes(lab, error) ||
	    set_all_host_sysctls(lab, error))
		return -1;
	for (place = 0; place < LAB_PLACES; place++) {
		if (is_wanted(lab, options, place) && add_qdisc(lab, options, place, error))
			return -1;
	}
	return add_trees(lab, error);
}

static int check_options(const struct lab *lab, const struct lab_options *options,
			 struct error *error)
{
	struct qdisc_settings settings;
	int place;

	if (lab_prefix_check(options->prefix, error) || lab_plan_check(&lab->plan, error))
		return -1;
	for (place = 0; place < LAB_PLACES; place++) {
		settings_of(options, place, &settings);
		if (is_wanted(lab, options, place) && qdisc_check(&settings, error))
			return -1;
	}
	return 0;
}

struct lab *lab_create(const struct lab_options *options, struct error *error)
{
	struct lab *lab;

	lab = allocate(options, error);
	if (!lab)
		return NULL;
	if (check_options(lab, options, error) || claim(lab, error)) {
		release(lab);
		return NULL;
	}
	if (furnish(lab, options, error)) {
		lab_destroy(lab, NULL);
		return NULL;
	}
	return lab;
}

int lab_remove_qdiscs(struct lab *lab, struct error *error)
{
	unsigned int i;
	int place;

	for (place = 0; place < LAB_PLACES; place++) {
		if (lab->kinds[place] &&
		    qdisc_delete_root(lab->hosts[places[place].host].netlink,
				      places[place].device, error))
			return -1;
	}
	for (i = 0; i < lab->plan.tree_count; i++) {
		const struct lab_tree *tree = &lab->plan.trees[i];
		int host = lab_plan_host(&lab->plan, tree->host);

		if (tc_remove_tree(lab->hosts[host].fd, tree, error))
			return -1;
	}
	return 0;
}

/* Under the lock: from ours to nobody's. */
static int give_away(const struct lab *lab, struct error *error)
{
	struct lab_state state;
	int lock = lab_state_lock(error), status = -1;

	if (lock < 0)
		return -1;
	if (lab_state_read(lab->prefix, &state, error) == LAB_STATE_WHOLE) {
		state.owner = (struct lab_owner){ .pid = 0 };
		status = lab_state_replace(lab->prefix, &state, error);
	}
	lab_state_unlock(lock);
	return status;
}

int lab_keep(struct lab *lab, struct error *error)
{
	if (give_away(lab, error)) {
		lab_destroy(lab, NULL);
		return -1;
	}
	release(lab);
	return 0;
}

int lab_destroy(struct lab *lab, struct error *error)
{
	int status = lab_remove_owned(lab->prefix, &lab->owner, error);

	release(lab);
	return status;
}
