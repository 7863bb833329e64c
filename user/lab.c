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
#include "qdisc_set.h"

#define BOTTLENECK_DEVICE	"wan0"
#define BOTTLENECK_HANDLE	TC_H_MAKE(0x10 << 16, 0)
#define IPV4_PREFIX_LENGTH	24
#define IPV6_PREFIX_LENGTH	64
#define UP_TIMEOUT_MS		5000

struct lab {
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

static const char *const host_names[LAB_HOSTS] = {
	[LAB_CLIENT] = "client",
	[LAB_ROUTER] = "router",
	[LAB_SERVER] = "server",
};

/* The lab's addresses; RFC 5737 and RFC 3849 keep these for documentation. */
static const struct lab_address {
	enum lab_host host;
	const char *device;
	const char *ipv4;
	const char *ipv6;
} addresses[] = {
	{ LAB_CLIENT, "eth0", "192.0.2.10", "2001:db8:1::10" },
	{ LAB_ROUTER, "lan0", "192.0.2.1", "2001:db8:1::1" },
	{ LAB_ROUTER, BOTTLENECK_DEVICE, "198.51.100.1", "2001:db8:2::1" },
	{ LAB_SERVER, "eth0", "198.51.100.10", "2001:db8:2::10" },
};

#define ADDRESS_COUNT	(sizeof(addresses) / sizeof(addresses[0]))

int lab_netns(const struct lab *lab, enum lab_host host)
{
	return lab->hosts[host].fd;
}

__u32 lab_netns_inode(const struct lab *lab, enum lab_host host)
{
	return lab->hosts[host].inode;
}

const char *lab_netns_name(const struct lab *lab, enum lab_host host)
{
	return lab->hosts[host].name;
}

const char *lab_address(const struct lab *lab, enum lab_host host, bool ipv6)
{
	const struct lab_address *found = NULL;
	size_t i;

	(void)lab;
	for (i = 0; i < ADDRESS_COUNT; i++) {
		if (addresses[i].host == host)
			found = &addresses[i];
	}
	return ipv6 ? found->ipv6 : found->ipv4;
}

static void settings_of(const struct lab_options *options, struct qdisc_settings *settings)
{
	*settings = (struct qdisc_settings){
		.kind = options->qdisc_kind,
		.handle = BOTTLENECK_HANDLE,
		.rate_bit_per_s = options->rate_bit_per_s,
		.burst_bytes = options->burst_bytes,
		.latency_ns = options->latency_ns,
	};
}

static struct lab *allocate(const struct lab_options *options, struct error *error)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	int host;

	if (!lab) {
		error_set_errno(error, EXIT_CANNOT, "cannot make a lab");
		return NULL;
	}
	snprintf(lab->prefix, sizeof(lab->prefix), "%s", options->prefix);
	lab->ipv6 = options->ipv6;
	lab_owner_self(&lab->owner);
	for (host = 0; host < LAB_HOSTS; host++) {
		lab->hosts[host].fd = -1;
		snprintf(lab->hosts[host].name, LAB_NAME_SIZE, "%.*s%s", LAB_PREFIX_MAX,
			 options->prefix, host_names[host]);
	}
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
	int host;

	for (host = 0; host < LAB_HOSTS; host++) {
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
	int host;

	memset(state, 0, sizeof(*state));
	lab_boot(state->boot);
	state->owner = lab->owner;
	for (host = 0; host < LAB_HOSTS; host++) {
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
	int host;

	if (lab_state_write(lab->prefix, state, error))
		return -1;
	if (lab_state_prepare_netns_directory(error))
		goto fail;
	for (host = 0; host < LAB_HOSTS; host++) {
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
	int host;

	for (host = 0; host < LAB_HOSTS; host++) {
		const char *const (*sysctl)[2] = lab->ipv6 ? with_ipv6 : without_ipv6;

		for (; (*sysctl)[0]; sysctl++) {
			if (netns_sysctl(lab->hosts[host].fd, (*sysctl)[0], (*sysctl)[1],
					 error) < 0)
				return -1;
		}
	}
	return 0;
}

static int set_forwarding(struct lab *lab, struct error *error)
{
	int router = lab->hosts[LAB_ROUTER].fd;
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

static int open_sockets(struct lab *lab, struct error *error)
{
	int host;

	for (host = 0; host < LAB_HOSTS; host++) {
		lab->hosts[host].netlink = netlink_open(lab->hosts[host].fd, error);
		if (!lab->hosts[host].netlink)
			return -1;
	}
	return 0;
}

static int make_links(struct lab *lab, struct error *error)
{
	int host;

	if (link_add_veth(lab->hosts[LAB_CLIENT].netlink, "eth0", "lan0",
			  lab->hosts[LAB_ROUTER].fd, error) ||
	    link_add_veth(lab->hosts[LAB_SERVER].netlink, "eth0", BOTTLENECK_DEVICE,
			  lab->hosts[LAB_ROUTER].fd, error))
		return -1;
	for (host = 0; host < LAB_HOSTS; host++) {
		const char *const *device = lab_devices(host);

		if (link_set_up(lab->hosts[host].netlink, "lo", error))
			return -1;
		for (; *device; device++) {
			if (link_set_up(lab->hosts[host].netlink, *device, error))
				return -1;
		}
	}
	return 0;
}

static int add_addresses(struct lab *lab, struct error *error)
{
	size_t i;

	for (i = 0; i < ADDRESS_COUNT; i++) {
		const struct lab_address *address = &addresses[i];
		struct netlink *netlink = lab->hosts[address->host].netlink;

		if (link_wait_up(netlink, address->device, UP_TIMEOUT_MS, error) ||
		    link_add_address(netlink, address->device, address->ipv4, IPV4_PREFIX_LENGTH,
				     error))
			return -1;
		if (lab->ipv6 && link_add_address(netlink, address->device, address->ipv6,
						  IPV6_PREFIX_LENGTH, error))
			return -1;
	}
	return 0;
}

static int add_routes(struct lab *lab, struct error *error)
{
	static const struct {
		enum lab_host host;
		const char *ipv4, *ipv6;
	} gateways[] = {
		{ LAB_CLIENT, "192.0.2.1", "2001:db8:1::1" },
		{ LAB_SERVER, "198.51.100.1", "2001:db8:2::1" },
	};
	size_t i;

	for (i = 0; i < sizeof(gateways) / sizeof(gateways[0]); i++) {
		struct netlink *netlink = lab->hosts[gateways[i].host].netlink;

		if (link_add_default_route(netlink, gateways[i].ipv4, error))
			return -1;
		if (lab->ipv6 && link_add_default_route(netlink, gateways[i].ipv6, error))
			return -1;
	}
	return 0;
}

static int furnish(struct lab *lab, const struct qdisc_settings *settings, struct error *error)
{
	if (open_sockets(lab, error) || set_sysctls(lab, error) || set_forwarding(lab, error) ||
	    make_links(lab, error) || add_addresses(lab, error) || add_routes(lab, error))
		return -1;
	return qdisc_add_root(lab->hosts[LAB_ROUTER].netlink, BOTTLENECK_DEVICE, settings, error);
}

struct lab *lab_create(const struct lab_options *options, struct error *error)
{
	struct qdisc_settings settings;
	struct lab *lab;

	settings_of(options, &settings);
	if (lab_prefix_check(options->prefix, error) || qdisc_check(&settings, error))
		return NULL;
	lab = allocate(options, error);
	if (!lab)
		return NULL;
	if (claim(lab, error)) {
		release(lab);
		return NULL;
	}
	if (furnish(lab, &settings, error)) {
		lab_destroy(lab, NULL);
		return NULL;
	}
	return lab;
}

int lab_remove_bottleneck(struct lab *lab, struct error *error)
{
	return qdisc_delete_root(lab->hosts[LAB_ROUTER].netlink, BOTTLENECK_DEVICE, error);
}

int lab_destroy(struct lab *lab, struct error *error)
{
	int status = lab_remove_owned(lab->prefix, &lab->owner, error);

	release(lab);
	return status;
}
