/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The plan of a lab, before anything is made: hosts, links, addresses, routes and qdisc trees.
 * It comes from one of the built-in topologies or from a scenario's file.
 */
#ifndef SOJOURN_LAB_PLAN_H
#define SOJOURN_LAB_PLAN_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>

#include "error.h"

/*
 * bottleneck: client - router - server. office: client - gateway - modem -
 * server; the gateway is the office's router. planned: what a scenario's file describes.
 * none: no lab, the loads and probes go from here to a real host.
 */
enum lab_topology { LAB_BOTTLENECK, LAB_OFFICE, LAB_PLANNED, LAB_NONE };

/* The hosts of the built-in topologies. */
enum lab_host { LAB_CLIENT, LAB_ROUTER, LAB_SERVER, LAB_MODEM };

#define LAB_HOSTS		16	/* the most hosts of a lab, and so on */
#define LAB_LINKS		24
#define LAB_TREES		32
#define LAB_ROUTES		8	/* of a host */
#define LAB_SYSCTLS		8	/* of a host */
#define LAB_ADDRESSES		2	/* of a device */
#define LAB_WORD_SIZE		16	/* a name of a host, link or role with its NUL */
#define LAB_SETTING_SIZE	96
#define LAB_TREE_SIZE		512

/* An address with the length of its network's prefix, or a network. */
struct lab_network {
	char address[INET6_ADDRSTRLEN];	/* IPv4 or IPv6 by its form */
	unsigned int length;
};

struct lab_route {
	struct lab_network to;		/* address "": the default route */
	char gateway[INET6_ADDRSTRLEN];
};

struct lab_sysctl {
	char name[LAB_SETTING_SIZE];	/* "net/ipv4/tcp_congestion_control", below /proc/sys */
	char value[LAB_SETTING_SIZE];
};

struct lab_plan_host {
	char name[LAB_WORD_SIZE];	/* its namespace is called PREFIXname */
	char role[LAB_WORD_SIZE];	/* what the result calls it */
	bool forwards;
	unsigned int route_count;
	struct lab_route routes[LAB_ROUTES];
	unsigned int sysctl_count;
	struct lab_sysctl sysctls[LAB_SYSCTLS];
};

struct lab_end {
	unsigned int host;
	char device[IFNAMSIZ];
	unsigned int address_count;
	struct lab_network addresses[LAB_ADDRESSES];
};

/* A veth pair. */
struct lab_link {
	char name[LAB_WORD_SIZE];
	struct lab_end ends[2];
	unsigned int mtu;		/* bytes; 0: the kernel's default, 1500 */
	bool without_offloads;		/* no TSO, GSO and GRO at either end */
};

/*
 * What tc is told of a device, in its words after "add dev DEVICE", commands set apart by
 * semicolons; one that begins with "class" or "filter" makes such a thing, others a qdisc.
 */
struct lab_tree {
	char host[LAB_WORD_SIZE];
	char device[IFNAMSIZ];
	char commands[LAB_TREE_SIZE];
};

struct lab_plan {
	unsigned int host_count, link_count, tree_count;
	struct lab_plan_host hosts[LAB_HOSTS];
	struct lab_link links[LAB_LINKS];
	struct lab_tree trees[LAB_TREES];
};

/* The plan of a built-in topology, without trees; for the others an empty one. */
void lab_plan_fill(struct lab_plan *plan, enum lab_topology topology);

/* Index of the host of that name, or -1. */
int lab_plan_host(const struct lab_plan *plan, const char *name);

/* The names of the hosts, ", " between them, as far as text holds them. Returns text. */
const char *lab_plan_host_names(const struct lab_plan *plan, char *text, size_t size);

/* The end of a link that is that device; NULL: there is none. */
const struct lab_end *lab_plan_end(const struct lab_plan *plan, unsigned int host,
				   const char *device);

/*
 * The address by which others reach a host, of the last of its devices that has one of that
 * family; NULL: it has none.
 */
const char *lab_plan_address(const struct lab_plan *plan, unsigned int host, bool ipv6);

/* The tree of a device; NULL: none is planned. */
const struct lab_tree *lab_plan_tree(const struct lab_plan *plan, const char *host,
				     const char *device);

/*
 * Put a tree there, in the place of one that is planned already; no commands take it away.
 * 0, or -1 and error (EXIT_USAGE) where a name or the commands cannot be.
 */
int lab_plan_set_tree(struct lab_plan *plan, const char *host, const char *device,
		      const char *commands, struct error *error);

/*
 * Give a host a route, "198.51.100.0/24 via 192.0.2.1" or "default via 192.0.2.1", or a setting,
 * "net.ipv4.tcp_congestion_control=cubic". 0, or -1 and error (EXIT_USAGE).
 */
int lab_host_add_route(struct lab_plan_host *host, const char *text, struct error *error);
int lab_host_add_sysctl(struct lab_plan_host *host, const char *text, struct error *error);

/*
 * Can it be built? Every tree's device exists, no device or address twice, every gateway in a
 * network of its host. 0, or -1 and error (EXIT_USAGE).
 */
int lab_plan_check(const struct lab_plan *plan, struct error *error);

/* A name of a host, link or role: lower-case letters, digits, "-" and "_"; 1 to 15 of them. */
bool lab_word_good(const char *word);

/* "192.0.2.1/24". 0, or -1 and error (EXIT_USAGE). */
int lab_network_parse(struct lab_network *network, const char *text, struct error *error);

#endif
