/* SPDX-License-Identifier: GPL-2.0 */
/* The probe: a real ping (iputils), and what it prints. */
#ifndef SOJOURN_PING_H
#define SOJOURN_PING_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "child.h"
#include "error.h"

struct ping_options {
	const char *target;
	bool ipv6;
	__u64 interval_ns;
	unsigned int count;
	unsigned int size;	/* payload bytes, 56 as a rule */
	__u16 id;		/* ICMP identifier; 0: as ping chooses it */
};

struct ping_reply {
	unsigned int sequence;	/* as printed; ping counts from 1 and wraps at 65536 */
	__u64 rtt_ns;
	bool duplicate;
};

struct ping_result {
	struct ping_reply *replies;	/* in the order printed */
	size_t count;
	bool summary;			/* the closing statistics were there */
	unsigned int transmitted;
	unsigned int received;
	unsigned int duplicates;
	unsigned int errors;		/* "Destination Host Unreachable" and the like */
	unsigned int unread;		/* lines that look like a reply and could not be read */
};

/*
 * Version of the ping at path, "20221126" for "ping from iputils 20221126".
 * Returns 0, or -1 and error (EXIT_CANNOT where it is not iputils').
 */
int ping_version(const char *path, char *text, size_t size, struct error *error);

/* Does a ping of that version take an identifier (-e, since iputils 20221126)? */
bool ping_takes_id(const char *version);

/* Start ping (-n -i -c -s, -4 or -6, -e). Returns 0, or -1 and error; the child is freed then. */
int ping_start(struct child *child, int netns_fd, const char *path,
	       const struct ping_options *options, struct error *error);

/* Did it end as it should? Exit code 1: some probes had no reply, which is a result. */
bool ping_ended_well(const struct child *ping);

/*
 * Read what ping printed; takes any text. Times are the printed decimals in ns,
 * exactly. A reply without a readable sequence and time (a payload too short for
 * a time stamp, "time<1 ms", a line cut short) counts as unread.
 * Returns 0, or -1 and error where memory runs out; result is to be freed in
 * either case.
 */
int ping_parse(const char *text, size_t length, struct ping_result *result,
	       struct error *error);
void ping_result_free(struct ping_result *result);

#endif
