/* SPDX-License-Identifier: GPL-2.0 */
/* Traced packets as text lines, as JSON Lines, or summed up by qdisc and outcome. */
#ifndef SOJOURN_PACKET_PRINT_H
#define SOJOURN_PACKET_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "packet_file.h"

struct packet_printer;

struct packet_print_options {
	FILE *file;			/* the caller's */
	bool json;			/* JSON Lines */
	bool summary;			/* no packets, only what they add up to */
};

/* The caller closes it. NULL: out of memory. */
struct packet_printer *packet_printer_open(const struct packet_print_options *options);
void packet_printer_close(struct packet_printer *printer);

/* What prints; its errors: the file takes no more (EXIT_CANNOT), memory, figures too large. */
struct packet_sink packet_printer_sink(struct packet_printer *printer);

/* The stream has ended, whole or not: print the sums, and all that waits in the file. As above. */
int packet_printer_finish(struct packet_printer *printer, struct error *error);

/*
 * Behind the trailer: what makes the trace incomplete, "ring_full 3, ledgers 1"; "" where
 * nothing does. Owned by printer.
 */
const char *packet_printer_trouble(const struct packet_printer *printer);

/* "measured", "bypassed", ...; the outcome is a valid one. */
const char *packet_outcome_name(unsigned int outcome);

#endif
