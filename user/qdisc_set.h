/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Making and deleting the qdisc under test, of the namespace that a netlink
 * socket is bound to. Returns 0, or -1 with error.
 */
#ifndef SOJOURN_QDISC_SET_H
#define SOJOURN_QDISC_SET_H

#include <linux/types.h>

#include "netlink.h"

struct qdisc_settings {
	const char *kind;	/* one of qdisc_kinds_text() */
	__u32 handle;		/* TC_H_MAKE(0x10 << 16, 0) for "10:" */
	__u64 rate_bit_per_s;	/* tbf, htb: the rate; bfifo: only with latency_ns */
	__u64 burst_bytes;	/* tbf: the bucket; htb: the class's, 0: as tc chooses it */
	__u64 latency_ns;	/* limit = rate * latency + burst; tbf, bfifo, htb's leaf */
};

/* Names of the kinds that qdisc_add_root() can make, for messages. */
const char *qdisc_kinds_text(void);

/*
 * Check settings without touching anything: kind known, values in the bounds
 * of the kernel's 32-bit fields. 0, or -1 and error (EXIT_USAGE).
 */
int qdisc_check(const struct qdisc_settings *settings, struct error *error);

/*
 * Make a root qdisc on the device, with the very attributes that tc would send:
 *   tbf         rate, burst, limit from latency
 *   htb         one default class (minor 10) of that rate; with a latency a
 *               bfifo (handle major + 1) of that limit below it
 *   bfifo       limit from rate and latency, or the kernel's default
 *   pfifo, pfifo_fast, fq_codel   the kernel's defaults
 */
int qdisc_add_root(struct netlink *netlink, const char *device,
		   const struct qdisc_settings *settings, struct error *error);

/* Delete the root qdisc that somebody set; the device's default comes back. */
int qdisc_delete_root(struct netlink *netlink, const char *device, struct error *error);

#endif
