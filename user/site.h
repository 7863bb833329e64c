/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a run takes place: in a lab that is built for it, or from here to hosts that are not
 * ours; and which namespaces are traced.
 */
#ifndef SOJOURN_SITE_H
#define SOJOURN_SITE_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "guard.h"
#include "lab.h"
#include "result.h"
#include "scenario.h"
#include "witness.h"

/* The most namespaces that can be traced. */
#define SITE_NETNS_MAX	64

/* From where to where a load or a probe goes. */
struct site_path {
	int from;			/* namespace where it begins: a descriptor of the site's */
	int to;				/* and ends; -1: not ours, a server runs there already */
	char address[INET6_ADDRSTRLEN];	/* of the end, as text */
	bool ipv6;
	__u16 port;			/* of a load's server */
};

struct site {
	struct lab *lab;		/* NULL: there is none */
	struct site_path load, probe, sides[SCENARIO_SIDE_LOADS];
	struct site_path side_probes[SCENARIO_SIDE_PROBES];
	struct witness_netns netns[SITE_NETNS_MAX];	/* traced */
	size_t netns_count;
	int own_netns;			/* descriptors that we opened; -1: not opened */
	int opened[SITE_NETNS_MAX];
	size_t opened_count;
};

/* Nothing is open yet. */
void site_init(struct site *site);

/*
 * Build the scenario's lab, of which the guard is told before, or look the other hosts up; say
 * in result who is who, and what is not as it was asked for. 0, or -1 and error; site_close()
 * is right in either case.
 */
int site_open(struct site *site, const struct scenario *scenario, struct guard *guard,
	      struct result *result, struct error *error);

/* Choose the namespaces to trace: those of these names, which must outlive the site; NULL: all of its own. */
int site_trace(struct site *site, const char *const *names, size_t count, struct error *error);

bool site_is_traced(const struct site *site, __u32 netns);

/* Remove the lab and close everything. 0, or -1 and error: something of the lab is left. */
int site_close(struct site *site, struct error *error);

#endif
