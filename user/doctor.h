/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this machine lets the tool do: found out by trying, never by comparing
 * version numbers. Nothing stays loaded or attached.
 */
#ifndef SOJOURN_DOCTOR_H
#define SOJOURN_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#define DOCTOR_TRACEPOINTS	12
#define DOCTOR_WHY		512

/* A thing that works here or does not. */
struct doctor_check {
	const char *name;	/* "qdisc_enqueue" */
	const char *how;	/* "tp_btf", "fentry", "kprobe"; "" where that says nothing */
	const char *purpose;	/* what the tool needs it for */
	const char *stand_in;	/* what is done where it is absent; NULL: it is needed */
	bool works;
	char why[DOCTOR_WHY];	/* why not, and how to mend it; "" where it works */
};

struct doctor_program {
	const char *name;
	bool works;		/* there, and of a version that can be used */
	char path[64];
	char version[64];
	char why[DOCTOR_WHY];
};

struct doctor {
	char kernel[128];		/* uname release */
	char machine[64];
	char lockdown[32];		/* "none", "integrity", "confidentiality", "" where not told */
	char congestion[256];		/* TCP congestion controls that are loaded, in our namespace */
	struct doctor_check btf;
	struct doctor_check privileges;
	struct doctor_check bpf;	/* bpf(2) */
	struct doctor_check tracepoints[DOCTOR_TRACEPOINTS];
	struct doctor_check fentry;	/* and fexit, on a function that every kernel has */
	struct doctor_check kprobe;	/* and kretprobe */
	struct doctor_check functions;		/* the tiers: the tracer's own programs, loaded */
	struct doctor_check tracepoints_tier;
	struct doctor_program iperf3;
	struct doctor_program ping;
	struct doctor_program tc;	/* for scenarios that describe qdiscs of their own */
};

/* Only the privileges: what a run needs before it makes anything. */
void doctor_examine_privileges(struct doctor_check *check);

/* Try everything. */
void doctor_examine(struct doctor *doctor);

/* Whether anything can be traced here: a tier loads and the tracepoints it needs attach. */
bool doctor_can_trace(const struct doctor *doctor);

#endif
