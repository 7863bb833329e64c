/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lab: network namespaces, veth pairs, addresses, routes and qdiscs, built
 * over netlink. It knows nothing of BPF or of phases.
 *
 * Ownership: everything that a lab makes lies in named namespaces that it made.
 * Before a name appears in /run/netns, the namespace's identity (inode and
 * netns cookie) stands in the state file /run/sojourn/PREFIX.lab, so that
 * lab_remove() can tell ours from anybody else's after any kind of death.
 */
#ifndef SOJOURN_LAB_H
#define SOJOURN_LAB_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "lab_plan.h"

#define LAB_STATE_DIRECTORY "/run/sojourn"
#define LAB_NAME_SIZE	64	/* of a namespace's name with its NUL; as in struct qdisc_info */

/* Where a lab sets a qdisc. */
enum lab_place {
	LAB_WAN,		/* wan0 of the router or gateway */
	LAB_UPLINK,		/* wan0 of the modem, towards the server */
	LAB_DOWNLINK,		/* lan0 of the modem, towards the gateway */
	LAB_PLACES
};

struct lab_qdisc {
	const char *kind;		/* "tbf"; NULL: leave the device's default */
	const char *otherwise;		/* the kind where the kernel has none of that; NULL: fail */
	__u64 rate_bit_per_s;
	__u64 burst_bytes;
	__u64 latency_ns;		/* tbf: limit = rate * latency + burst */
};

/* What a lab needs to know; filled from the scenario, whose texts outlive the lab. */
struct lab_options {
	const char *prefix;		/* "pl-": names become pl-client, pl-router and so on */
	enum lab_topology topology;
	const struct lab_plan *plan;	/* NULL: that of the topology; LAB_PLANNED needs one */
	bool ipv6;			/* 2001:db8:1::/64 and the like beside IPv4 */
	/* Those of a built-in topology's devices; a tree of the plan takes the place of one. */
	struct lab_qdisc qdiscs[LAB_PLACES];
};

struct lab;

/*
 * Build the lab. Refuses with EXIT_CANNOT, and touches nothing, where a name is
 * taken, be it by a lab that somebody left: error then says so and names
 * `sojourn lab down`. On any other failure what was made is removed again.
 * Returns the lab, owned by the caller, or NULL and error.
 */
struct lab *lab_create(const struct lab_options *options, struct error *error);

/* Namespace of a host: descriptor (owned by lab), inode number and name. */
int lab_netns(const struct lab *lab, unsigned int host);
__u32 lab_netns_inode(const struct lab *lab, unsigned int host);
const char *lab_netns_name(const struct lab *lab, unsigned int host);

/* How many hosts the lab has (0 ... count - 1, as in its plan), and a host's part in it: "gateway". */
unsigned int lab_host_count(const struct lab *lab);
const char *lab_role(const struct lab *lab, unsigned int host);

/* The kind that was set there, which may be another than asked for; NULL: none. */
const char *lab_qdisc_kind(const struct lab *lab, enum lab_place place);

/* Address by which others reach a host, as text; ipv6 chooses the family. NULL: it has none. */
const char *lab_address(const struct lab *lab, unsigned int host, bool ipv6);

/* Take off every qdisc that the lab set (the devices' defaults come back). */
int lab_remove_qdiscs(struct lab *lab, struct error *error);

/*
 * Keep the lab for work by hand when its maker ends: it is nobody's from now on, until
 * lab_remove(). Frees the lab; 0, or -1 and error where it was removed instead.
 */
int lab_keep(struct lab *lab, struct error *error);

/*
 * The namespace of a host of the lab of that prefix, whoever made it: a descriptor owned by the
 * caller, or -1 and error (EXIT_USAGE: there is no such lab or host).
 */
int lab_open_netns(const char *prefix, const char *host, struct error *error);

/* Remove everything and free the lab. Errors are reported, the rest is removed all the same. */
int lab_destroy(struct lab *lab, struct error *error);

/*
 * Remove what a dead lab of that prefix left: exactly the namespaces that its
 * state file proves to be ours. prefix NULL: every lab with a state file. A lab
 * whose owner still runs is left alone and is an error (EXIT_CANNOT); the
 * others are removed all the same. *removed counts namespaces. Returns 0, or
 * -1 and error.
 */
int lab_remove(const char *prefix, unsigned int *removed, struct error *error);

/*
 * The same with a say in it: force takes a lab whose owner runs too. removal
 * (may be NULL) tells what was found under each name. No state file: 0 and
 * removal->found false.
 */
enum lab_fate {
	LAB_FATE_ABSENT,	/* nothing of that name was there any more */
	LAB_FATE_REMOVED,
	LAB_FATE_FOREIGN,	/* something else has that name by now: left alone */
};

struct lab_removal {
	bool found;
	char names[LAB_HOSTS][LAB_NAME_SIZE];
	enum lab_fate fate[LAB_HOSTS];
	unsigned int removed;
};

int lab_remove_one(const char *prefix, bool force, struct lab_removal *removal,
		   struct error *error);

/*
 * Call line(context, text) for each lab with a state file: its prefix, owner
 * and names, one line without newline. Returns their number, or -1 and error.
 */
int lab_list(void (*line)(void *context, const char *text), void *context,
	     struct error *error);

#endif
