/* SPDX-License-Identifier: GPL-2.0 */
/* The course of `sojourn export`: trace, and answer scrapes, until a signal comes. */
#ifndef SOJOURN_EXPORT_H
#define SOJOURN_EXPORT_H

#include "error.h"
#include "listen_address.h"
#include "tracer.h"

#define EXPORT_SERIES_MAX	20000

struct export_options {
	struct listen_address listen;
	enum tracer_tier tier;
	const char *const *netns;	/* names; none: every namespace */
	size_t netns_count;
	const char *const *devices;	/* names; none: every device */
	size_t device_count;
	unsigned int max_series;	/* with series of their own; 1 ... EXPORT_SERIES_MAX */
	void (*begun)(const struct export_options *options, const char *tier);	/* it traces */
};

/*
 * 0 after SIGINT, SIGTERM or SIGHUP; -1 and error (EXIT_CANNOT): it cannot trace or listen, or
 * a namespace does not exist.
 */
int export_run(const struct export_options *options, struct error *error);

#endif
