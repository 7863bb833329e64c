// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "qdisc_set.h"
#include "scenario.h"
#include "scenario_probes.h"
#include "scenario_side.h"
#include "units.h"

#define SECOND		1000000000ull

/* An Ethernet frame of the lab's devices: their MTU of 1500 and the header. */
#define FRAME_LENGTH	1514

static unsigned int count_loads(const struct scenario *scenario)
{
	const struct scenario_phase *phases;
	unsigned int count = scenario_phases(scenario, &phases), loads = 0;

	while (count)
		loads += phases[--count].kind == PHASE_LOAD;
	return loads;
}

static int check_qdisc(const char *group, const char *kind, __u64 rate, __u64 burst,
		       __u64 latency_ns, struct error *error)
{
	const struct qdisc_settings settings = {
		.kind = kind,
		.handle = 0x10 << 16,
		.rate_bit_per_s = rate,
		.burst_bytes = burst,
		.latency_ns = latency_ns,
	};
	struct error inner;

	if (qdisc_check(&settings, &inner))
		return error_set(error, inner.code, "%s: %s", group, inner.text);
	/* net/sched/sch_tbf.c, tbf_enqueue: what is longer than the bucket is dropped. */
	if (!strcmp(kind, "tbf") && burst < FRAME_LENGTH)
		return error_set(error, EXIT_USAGE,
				 "%s.burst=%llu holds no full packet of %d bytes, tbf would drop all of them: set %s.burst=%d or more",
				 group, (unsigned long long)burst, FRAME_LENGTH, group,
				 FRAME_LENGTH);
	return 0;
}

static int check_modem(const char *group, const struct scenario_qdisc *qdisc,
		       struct error *error)
{
	return check_qdisc(group, qdisc->kind, qdisc->rate, qdisc->burst, qdisc->latency_ns,
			   error);
}

static int check_qdiscs(const struct scenario *scenario, struct error *error)
{
	if (!scenario_has_own_trees(scenario) &&
	    check_qdisc("qdisc", scenario->qdisc_kind, scenario->qdisc_rate,
			scenario->qdisc_burst, scenario->qdisc_latency_ns, error))
		return -1;
	if (scenario->topology != LAB_OFFICE)
		return 0;
	return check_modem("up", &scenario->up, error) ||
	       check_modem("down", &scenario->down, error) ? -1 : 0;
}

static int check_load(const struct scenario *scenario, struct error *error)
{
	char text[UNITS_TEXT];

	if (scenario->load.ns <= 2 * scenario->margin_ns)
		return error_set(error, EXIT_USAGE,
				 "load.seconds=%llu leaves nothing between its two margins of %s: set a longer load.seconds or a shorter load.margin",
				 (unsigned long long)(scenario->load.ns / SECOND),
				 units_time_text(scenario->margin_ns, text));
	if (!strcmp(scenario->load.file, LOAD_FILE_TEMPORARY) && !scenario->load.bytes)
		return error_set(error, EXIT_USAGE,
				 "load.file=temporary: set load.bytes to its size, as in load.bytes=200mb");
	if (scenario->load.bytes && scenario->load_omit_ns)
		return error_set(error, EXIT_USAGE,
				 "load.bytes and load.omit do not go together: iperf3 would count what it omits");
	if (scenario->load_omit_ns % SECOND)
		return error_set(error, EXIT_USAGE,
				 "load.omit=%s is no whole number of seconds, and iperf3 takes no other",
				 units_time_text(scenario->load_omit_ns, text));
	if (scenario->idle_ns < scenario->probe_interval_ns)
		return error_set(error, EXIT_USAGE,
				 "the idle phase is shorter than probe.interval, so that no probe would fall into it: set idle.seconds to %s or more",
				 units_time_text(scenario->probe_interval_ns, text));
	return 0;
}

/* From the first probe to the end of the last recovery, with so much after each load. */
static __u64 length_with(const struct scenario *scenario, __u64 recovery_ns)
{
	return scenario->idle_ns +
	       count_loads(scenario) * (scenario_load_ns(scenario) + recovery_ns);
}

/*
 * Probes that are sent until each load's end has settled, and one more; all of
 * recovery where that was asked for.
 */
static __u64 probes_wanted(const struct scenario *scenario)
{
	bool chosen = scenario_assigned(scenario, "recovery.seconds");
	__u64 ns = length_with(scenario, chosen ? scenario->recovery_ns : scenario->settle_ns);

	return (ns + scenario->probe_interval_ns - 1) / scenario->probe_interval_ns +
	       (chosen ? 0 : count_loads(scenario));
}

static int check_count(struct scenario *scenario, struct error *error)
{
	__u64 wanted = probes_wanted(scenario), needed;
	char interval[UNITS_TEXT], total[UNITS_TEXT];

	units_time_text(scenario->probe_interval_ns, interval);
	needed = wanted * scenario->probe_interval_ns;
	units_time_text(needed, total);
	if (scenario->probe_count < wanted)
		return error_set(error, EXIT_USAGE,
				 "probe.count=%u at %s ends before idle, load and recovery do (%s): set probe.count=%llu or more, or leave it out",
				 scenario->probe_count, interval, total,
				 (unsigned long long)wanted);
	if (!scenario_assigned(scenario, "recovery.seconds"))
		scenario->recovery_ns = (scenario->probe_count * scenario->probe_interval_ns -
					 length_with(scenario, 0)) / count_loads(scenario);
	return 0;
}

/* An ICMP sequence number has 16 bits. */
static int derive_count(struct scenario *scenario, struct error *error)
{
	__u64 ns = length_with(scenario, scenario->recovery_ns);
	__u64 count = (ns + scenario->probe_interval_ns / 2) / scenario->probe_interval_ns;
	char text[UNITS_TEXT];

	if (scenario->recovery_ns <= scenario->settle_ns)
		return error_set(error, EXIT_USAGE,
				 "recovery.seconds is not longer than recovery.margin (%s), so that no probe would fall into recovery: set more",
				 units_time_text(scenario->settle_ns, text));
	if (count > 65535)
		return error_set(error, EXIT_USAGE,
				 "idle, load and recovery take %llu probes, more than the 65535 that ping numbers: set probe.interval=%llums or more",
				 (unsigned long long)count,
				 (unsigned long long)(ns / 65535 / 1000000 + 1));
	scenario->probe_count = count;
	return 0;
}

/* The key's host must be there, and have an address of the family that is used. */
static int check_host(const struct scenario *scenario, const char *key, const char *name,
		      struct error *error)
{
	char names[LAB_HOSTS * LAB_WORD_SIZE * 2];
	int host = lab_plan_host(&scenario->plan, name);

	if (host < 0)
		return error_set(error, EXIT_USAGE, "%s=%s: there is no such host; there are %s", key,
				 name, lab_plan_host_names(&scenario->plan, names, sizeof(names)));
	if (!lab_plan_address(&scenario->plan, host, scenario->lab_ipv6))
		return error_set(error, EXIT_USAGE,
				 "%s=%s: that host has no IPv%d address; set lab.ipv6=%s, or give it one",
				 key, name, scenario->lab_ipv6 ? 6 : 4,
				 scenario->lab_ipv6 ? "false" : "true");
	return 0;
}

static int check_pair(const struct scenario *scenario, const char *group, const char *from,
		      const char *to, struct error *error)
{
	char keys_of[2][32];

	snprintf(keys_of[0], sizeof(keys_of[0]), "%s.from", group);
	snprintf(keys_of[1], sizeof(keys_of[1]), "%s.to", group);
	if (check_host(scenario, keys_of[0], from, error) ||
	    check_host(scenario, keys_of[1], to, error))
		return -1;
	if (!strcmp(from, to))
		return error_set(error, EXIT_USAGE, "%s and %s are the same host, %s", keys_of[0],
				 keys_of[1], to);
	return 0;
}

/* Without a lab: somewhere to go; qdiscs that are not ours are not taken off. */
static int check_target(struct scenario *scenario, struct error *error)
{
	if (!scenario_assigned(scenario, "load.to"))
		return error_set(error, EXIT_USAGE,
				 "lab=none: set load.to=HOST[:PORT], where an iperf3 server runs");
	if (!scenario_assigned(scenario, "probe.to"))
		snprintf(scenario->probe_to, sizeof(scenario->probe_to), "%s", scenario->load.to);
	scenario->restored_count = 0;
	return 0;
}

static int check_hosts(struct scenario *scenario, struct error *error)
{
	if (scenario->topology == LAB_NONE)
		return check_target(scenario, error);
	if (lab_plan_check(&scenario->plan, error))
		return -1;
	return check_pair(scenario, "load", scenario->load.from, scenario->load.to, error) ||
	       check_pair(scenario, "probe", scenario->probe_from, scenario->probe_to, error) ?
	       -1 : 0;
}

int scenario_check(struct scenario *scenario, struct error *error)
{
	if (check_hosts(scenario, error) ||
	    check_qdiscs(scenario, error) || check_load(scenario, error) ||
	    scenario_check_sides(scenario, error))
		return -1;
	if (scenario_assigned(scenario, "probe.count") ? check_count(scenario, error) :
						derive_count(scenario, error))
		return -1;
	return scenario_check_side_probes(scenario, error);
}
