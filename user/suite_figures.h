/* SPDX-License-Identifier: GPL-2.0 */
/* What a suite's tables show of each run, of each class of runs, and their ranking. */
#ifndef SOJOURN_SUITE_FIGURES_H
#define SOJOURN_SUITE_FIGURES_H

#include "result.h"
#include "shape.h"
#include "statistics.h"
#include "suite.h"

enum suite_status {
	SUITE_DONE,
	SUITE_INCOMPLETE,	/* there are figures, why says what is missing */
	SUITE_FAILED,		/* it broke off: why */
	SUITE_CANNOT,		/* this kernel lacks a qdisc that it needs: why */
};

/* One load of one run. */
struct suite_row {
	char name[48];			/* of the run; with several repeats "L1 #2" */
	char label[64];			/* the same, with the phase where the run has several loads */
	char class[SUITE_NAME_SIZE];
	char title[SUITE_TITLE_SIZE];
	char phase[16];			/* "load" */
	enum suite_status status;
	char why[512];			/* "": done */
	char note[512];			/* where it is not what the suite asks for */
	bool udp, bidir;
	unsigned int sent, lost;	/* probes under load */
	double idle_ns;			/* median RTT before */
	double increase_ns;		/* mean RTT under load less that */
	struct statistics_box rtt;	/* of the probes under load, ns */
	struct summary srtt;		/* of TCP itself, ns */
	double cwnd_median, cwnd_max;	/* packets */
	double delivered, delivered_reverse;	/* bit/s at the receiver; NAN: none */
	double transferred;		/* bytes there, both ways */
	double retransmits, retransmit_percent;	/* of the bytes, by the MSS; NAN: none */
	double lost_percent, jitter_ms;	/* UDP; NAN: none */
	double bdp_bytes;		/* delivered times the mean RTT */
	char cause[96];			/* id of the qdisc; "": none */
	double share;			/* of the increase */
	unsigned int prefix;		/* bytes of ids that are the lab's prefix */
	char queue[96];			/* the qdisc in which most time was spent under load */
	struct summary sojourn;		/* in it, ns */
	__u64 drops, backlog_bytes_max;	/* in it */
	char dropping[96];		/* the qdisc that dropped most under load; "": none */
	__u64 dropped;			/* packets, there */
	char grade[4];			/* "": unknown */
	double rpm;
	struct shape shape;
};

/* The runs of a class. */
struct suite_class {
	char name[SUITE_NAME_SIZE];
	size_t runs;
	struct statistics_box rtt;	/* of the runs' mean RTTs, ns */
	struct statistics_box increase;	/* ns */
	struct statistics_box delivered;	/* bit/s, both ways together */
	char lowest[64], highest[64];	/* labels, by mean RTT */
};

/* Fill the row from a load phase of a finished run; what stands in name, label, class and title stays. */
int suite_row_fill(struct suite_row *row, const struct result *result, const struct phase *load);

/* The classes in the order in which they come, runs without figures left out. Their number. */
unsigned int suite_classes(const struct suite_row *rows, size_t count,
			   struct suite_class *classes, unsigned int most);

/*
 * Indices of the rows with figures by their mean RTT increase, the lowest first; order has room
 * for count. Their number.
 */
size_t suite_rank(const struct suite_row *rows, size_t count, size_t *order);

/* What the ranking says, in a sentence or two. */
void suite_conclude(const struct suite_row *rows, size_t count, char *text, size_t size);

#endif
