/* SPDX-License-Identifier: GPL-2.0 */
/* The course of `sojourn trace`: from the tracer to a file, a pipe or lines on stdout. */
#ifndef SOJOURN_PACKET_TRACE_H
#define SOJOURN_PACKET_TRACE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "tracer.h"

struct packet_trace_options {
	enum tracer_tier tier;
	const char *const *netns;	/* names; none: every namespace */
	size_t netns_count;
	const char *const *devices;	/* names; none: every device */
	size_t device_count;
	__u64 length_ns;		/* 0: until a signal */
	__u64 count;			/* records; 0: no limit */
	const char *path;		/* the file, "-" for stdout; NULL: lines on stdout */
	bool json;			/* these lines are JSON */
	/*
	 * Called when packets are counted; may be NULL. absent: those of devices, by commas, that
	 * no traced namespace has so far; "" where all are there.
	 */
	void (*begun)(const char *tier, const char *absent);
};

struct packet_trace_result {
	__u64 records;			/* written */
	__u64 length_ns;
	char trouble[512];		/* what makes it incomplete, also a device that never came; "": nothing */
};

/*
 * Trace until the time or the count is over, or SIGINT, SIGTERM or SIGHUP comes, and write
 * all of it. Blocks these signals meanwhile; they are handed to nobody. 0 and result, or
 * -1 and error: EXIT_USAGE (the place), EXIT_CANNOT (tracing, writing).
 */
int packet_trace(const struct packet_trace_options *options, struct packet_trace_result *result,
		 struct error *error);

#endif
