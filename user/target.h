/* SPDX-License-Identifier: GPL-2.0 */
/* A host that is not ours: where loads and probes go when there is no lab. */
#ifndef SOJOURN_TARGET_H
#define SOJOURN_TARGET_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <stdbool.h>

#include "error.h"

struct target {
	char address[INET6_ADDRSTRLEN];	/* as text */
	bool ipv6;
	__u16 port;			/* 0: none was given */
};

/*
 * Take "HOST", "HOST:PORT", "[ADDRESS]:PORT" apart: HOST is an IPv4 or IPv6 address or a name,
 * which is resolved, over IPv6 alone where ipv6 is set. 0, or -1 and error (EXIT_USAGE).
 */
int target_resolve(const char *text, bool ipv6, struct target *target, struct error *error);

#endif
