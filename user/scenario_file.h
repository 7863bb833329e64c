/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scenario files: INI, parsed by libinih. "key = value" lines, those of scenario_set(); under
 * a heading "[load]" its keys without "load."; and a lab of one's own:
 *
 *	[host NAME]  role, forward, gateway, route, sysctl
 *	[link NAME]  a, b, mtu, offload
 *	[qdisc HOST DEVICE]  add
 *
 * docs/scenario.md has all of it.
 */
#ifndef SOJOURN_SCENARIO_FILE_H
#define SOJOURN_SCENARIO_FILE_H

#include "scenario.h"

/*
 * Fill scenario from a file that is a regular one. 0, or -1 and error (EXIT_USAGE) with the
 * file's name and the line.
 */
int scenario_file_read(struct scenario *scenario, const char *path, struct error *error);

/* The same from a text; name stands for it in errors, and names the scenario where it is a lab. */
int scenario_file_parse(struct scenario *scenario, const char *text, size_t length,
			const char *name, struct error *error);

#endif
