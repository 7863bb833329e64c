/* SPDX-License-Identifier: GPL-2.0 */
/* A scenario: every value of a run, its name, its default and its bounds, and its phases. */
#ifndef SOJOURN_SCENARIO_H
#define SOJOURN_SCENARIO_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "iperf3.h"
#include "lab_plan.h"

#define SCENARIO_PATH_SIZE	256

struct cJSON;

/* Where the processes of a run go: the numbers are those of the words in scenario.c. */
enum lab_cpu { LAB_CPU_AUTO, LAB_CPU_ONE, LAB_CPU_ANY };

/* A qdisc that holds a rate, by its keys. */
struct scenario_qdisc {
	char kind[16];
	__u64 rate;			/* bit/s */
	__u64 burst;			/* bytes */
	__u64 latency_ns;
};

#define SCENARIO_SIDE_LOADS	8

/* load.file: no path, but one that is made for the load (load_file.h). */
#define LOAD_FILE_TEMPORARY	"temporary"

/* One iperf3 client and its server. */
struct scenario_load {
	__u64 ns;			/* load.seconds 15 (whole seconds, iperf3's -t) */
	unsigned int streams;		/* load.streams 1 */
	char congestion[16];		/* load.cc cubic */
	enum load_proto proto;		/* load.proto tcp */
	__u64 rate;			/* load.rate 0: no cap */
	enum load_direction direction;	/* load.direction up */
	__u16 port;			/* load.port 5201 */
	__u64 block;			/* load.block 0: bytes of a write; 0: iperf3's default */
	unsigned int dscp;		/* load.dscp 0 */
	__u64 bytes;			/* load.bytes 0: load.seconds are sent; else so much, in about that time */
	char file[SCENARIO_PATH_SIZE];	/* load.file "": iperf3's data come from memory */
	char from[LAB_WORD_SIZE];	/* load.from client: where iperf3's client runs */
	char to[SCENARIO_PATH_SIZE];	/* load.to server; without a lab HOST[:PORT] */
};

/*
 * A load beside the main one, with keys "load.NAME.KEY". Of the main one it has from and to where
 * they are "", its end where ns is 0, and a port behind its port where port is 0.
 */
struct scenario_side_load {
	char name[LAB_WORD_SIZE];
	__u64 start_ns;			/* after the main load's start */
	struct scenario_load load;	/* direction is never LOAD_EACH */
};

#define SCENARIO_SIDE_PROBES	7

/*
 * Probes beside the main ones, with keys "probe.NAME.KEY". Of the main ones they have from and
 * to where they are "", the interval where it is 0, and always the size.
 */
struct scenario_side_probe {
	char name[LAB_WORD_SIZE];
	char from[LAB_WORD_SIZE];
	char to[SCENARIO_PATH_SIZE];
	__u64 interval_ns;
};

struct scenario {
	char name[32];			/* "bottleneck"; of a file: its name without the folder */
	enum lab_topology topology;
	struct lab_plan plan;
	const char *otherwise;		/* in place of a qdisc.kind that nobody chose; NULL: none */
	__u64 idle_ns;			/* idle.seconds 3 */
	struct scenario_load load;	/* the main one: it makes the phases */
	__u64 recovery_ns;		/* recovery.seconds 8 (26 s of probes less idle and load) */
	__u64 margin_ns;		/* load.margin 1s: left out at both ends of the load window */
	__u64 settle_ns;		/* recovery.margin 1s: recovery starts so long after the load */
	__u64 load_omit_ns;		/* load.omit 0: on top of load.seconds, not in iperf3's figures */
	unsigned int side_load_count;
	struct scenario_side_load side_loads[SCENARIO_SIDE_LOADS];
	char qdisc_kind[16];		/* qdisc.kind tbf */
	__u64 qdisc_rate;		/* qdisc.rate 10mbit */
	__u64 qdisc_burst;		/* qdisc.burst 32kb */
	__u64 qdisc_latency_ns;		/* qdisc.latency 400ms */
	struct scenario_qdisc up, down;	/* up.*, down.*: the modem's (office) */
	__u64 probe_interval_ns;	/* probe.interval 0.1 */
	unsigned int probe_count;	/* probe.count 260 */
	unsigned int probe_size;	/* probe.size 56 */
	char probe_from[LAB_WORD_SIZE];	/* probe.from client */
	char probe_to[SCENARIO_PATH_SIZE];	/* probe.to server; the same */
	unsigned int side_probe_count;
	struct scenario_side_probe side_probes[SCENARIO_SIDE_PROBES];
	unsigned int restored_count;	/* restored.count 20 */
	char lab_prefix[24];		/* lab.prefix pl- */
	bool lab_ipv6;			/* lab.ipv6 false: probe and load over IPv4 */
	enum lab_cpu lab_cpu;		/* lab.cpu auto: one up to 100 Mbit/s, else any */
	__u64 assigned;			/* bit n: key n of scenario.c was set by somebody */
};

enum phase_kind { PHASE_IDLE, PHASE_LOAD, PHASE_RECOVERY, PHASE_RESTORED };

/* A phase of a run. */
struct scenario_phase {
	const char *name;		/* "load": no two of a run have the same */
	enum phase_kind kind;
	enum load_direction direction;	/* of a load: never LOAD_EACH */
};

#define SCENARIO_PHASES_MAX	6
#define SCENARIO_LOADS_MAX	2

/*
 * The phases of a run, in their order: idle, load, recovery, restored, or with
 * load.direction=each idle, upload, between, download, recovery, restored. Each
 * load is followed by a recovery. Returns their number; *phases is static.
 */
unsigned int scenario_phases(const struct scenario *scenario,
			     const struct scenario_phase **phases);

/* The phases of any run, each name once; returns their number. */
unsigned int scenario_known_phases(const struct scenario_phase **phases);

/* How long a load lasts, with what iperf3 omits of it, ns. */
__u64 scenario_load_ns(const struct scenario *scenario);

struct key;

/* The keys of a load, load.KEY, one after the other; NULL: the first, and behind the last. */
const struct key *scenario_next_load_key(const struct key *key);

/*
 * That of such a name. NULL and error: EXIT_USAGE, which names the close ones, or EXIT_OK where
 * it is a key of the scenario and not of every load.
 */
const struct key *scenario_load_key(const struct scenario *scenario, const char *name,
				    struct error *error);

/* What iperf3 is told of a load; server and port are the caller's to fill. */
void scenario_load_options(const struct scenario_load *load, struct iperf3_options *options);

/* What such a load has of its own, or of the main one. */
__u64 scenario_side_ns(const struct scenario *scenario, const struct scenario_side_load *side);
const char *scenario_side_from(const struct scenario *scenario,
			       const struct scenario_side_load *side);
const char *scenario_side_to(const struct scenario *scenario,
			     const struct scenario_side_load *side);
__u16 scenario_side_port(const struct scenario *scenario, const struct scenario_side_load *side);

/* The same of probes; they are sent from the begin of the main ones to their end. */
const char *scenario_side_probe_from(const struct scenario *scenario,
				     const struct scenario_side_probe *side);
const char *scenario_side_probe_to(const struct scenario *scenario,
				   const struct scenario_side_probe *side);
__u64 scenario_side_probe_interval(const struct scenario *scenario,
				   const struct scenario_side_probe *side);
__u64 scenario_side_probe_count(const struct scenario *scenario,
				const struct scenario_side_probe *side);

/* Does a tree of its own take the place of qdisc.kind and the like? */
bool scenario_has_own_trees(const struct scenario *scenario);

/*
 * The rate that the path carries at most in its faster direction, bit/s; where there are
 * trees the lowest that any of them names. ~0: none names one.
 */
__u64 scenario_rate(const struct scenario *scenario);

/* Was that key, one that there is, set by somebody? */
bool scenario_assigned(const struct scenario *scenario, const char *name);

/* The kind to take where the kernel lacks qdisc.kind; NULL where somebody chose that one. */
const char *scenario_otherwise(const struct scenario *scenario);

/*
 * Fill scenario with the defaults of a built-in scenario. An unknown name fails with
 * EXIT_USAGE and names those that exist and the closest one.
 */
int scenario_builtin(struct scenario *scenario, const char *name, struct error *error);

/*
 * The same, or from a file (scenario_file.h): a name with a "/" in it, or one of a file that
 * exists where no scenario has that name.
 */
int scenario_named(struct scenario *scenario, const char *name, struct error *error);

/*
 * Apply one "key=value"; "qdisc.HOST.DEVICE=COMMANDS" sets a tree (lab_plan.h). Unknown keys fail and name the close ones; bad values
 * fail and say what the key takes. A plain number for a time is seconds, but
 * for qdisc.latency, where tc means microseconds by it: that one needs a unit.
 */
int scenario_set(struct scenario *scenario, const char *assignment, struct error *error);

/*
 * Bounds between values (scenario_check.c): are there probes for every phase, does the load outlast
 * its margins, can the qdisc be made (qdisc_check()), does the burst hold one
 * packet. Where probe.count was not set it follows from idle, load, recovery and
 * the interval; where it was set and recovery.seconds not, recovery is the time
 * that is left. 0, or -1 and error (EXIT_USAGE) that says what to set.
 */
int scenario_check(struct scenario *scenario, struct error *error);

/*
 * "name" and every key with its value: times in ns (keys that end in "seconds":
 * seconds), rates in bit/s, sizes in bytes. The object is the caller's; NULL:
 * out of memory.
 */
struct cJSON *scenario_json(const struct scenario *scenario);

struct json;

/*
 * The other way round: fill scenario from such an object. Keys that it lacks have their
 * defaults, others that it has are passed over, and so are the bounds that belong together
 * (scenario_check()). What is wrong is told by the reader (json_read.h).
 */
void scenario_from_json(struct scenario *scenario, const struct json *object);

/* List the scenarios, every key, default and meaning on stdout (`sojourn help run`). */
void scenario_print_keys(void);

#endif
