// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "attribution.h"
#include "awake.h"
#include "child.h"
#include "clock.h"
#include "commands.h"
#include "experiment.h"
#include "iperf3.h"
#include "judge.h"
#include "ledger.h"
#include "load_file.h"
#include "load_shape.h"
#include "netns.h"
#include "phase.h"
#include "ping.h"
#include "side_loads.h"
#include "side_probes.h"
#include "signals.h"
#include "site.h"
#include "timeline.h"
#include "tracer.h"
#include "witness.h"

#define POLL_MS			20
#define SERVER_START_MS		5000
#define STOP_MS			2000
#define QUIET_MS		5000
#define OVERTIME_NS		15000000000ULL	/* a child that lasts so much longer hangs */
#define CLOCK_STEP_NS		1000000LL
#define SECOND_NS		1000000000ULL
#define ONE_CPU_UP_TO		100000000ULL	/* bit/s */
#define NETNS_MAX		SITE_NETNS_MAX

struct experiment {
	const struct experiment_options *options;
	const struct scenario *scenario;
	struct result *result;
	struct site site;
	struct tracer *tracer;
	struct timeline *timeline;
	struct child server, client, ping;
	struct side_loads sides;
	struct side_probes side_probes;
	int load_file;			/* of load.file=temporary; below 0: none */
	__u16 probe_id;			/* ICMP identifier of the main probes; 0: ping's choice */
	unsigned int loads;		/* that are over */
	struct qdisc_tree before, after;
	struct phase_moments moments;
	struct ping_result pings, pings_restored;
	char iperf3_path[PATH_MAX], ping_path[PATH_MAX];
	sigset_t blocked, previous;
	cpu_set_t previous_cpus;
	bool bound;			/* to one CPU */
	pid_t awake;			/* keeps it from going idle */
	int signals;			/* signalfd */
	__s64 clock_offset;		/* CLOCK_REALTIME less CLOCK_MONOTONIC, ns */
	bool quiet;
	char trouble[256];		/* first reason why the result is not complete */
};

static int take_signals(struct experiment *run, struct error *error)
{
	run->signals = signals_take(&run->blocked, &run->previous, error);
	return run->signals < 0 ? -1 : 0;
}

static void note_trouble(struct experiment *run, const char *text)
{
	if (!run->trouble[0])
		snprintf(run->trouble, sizeof(run->trouble), "%s", text);
}

/*
 * At a rate that one CPU carries with ease, packets that stay on one go through
 * without the delays of waking another, which are noise in the RTT. Where there
 * is another one for everybody else, it is also kept from going idle; then
 * softirqs interrupt few strangers. (Some guest kernels run no BPF program on
 * top of certain processes of the host's: what is handed out then goes unseen.)
 */
static int choose_cpu(struct experiment *run, struct error *error)
{
	const struct scenario *scenario = run->scenario;
	cpu_set_t one;
	int cpu;

	if (scenario->lab_cpu == LAB_CPU_ANY ||
	    (scenario->lab_cpu == LAB_CPU_AUTO && scenario_rate(scenario) > ONE_CPU_UP_TO) ||
	    sched_getaffinity(0, sizeof(run->previous_cpus), &run->previous_cpus))
		return 0;
	for (cpu = CPU_SETSIZE - 1; cpu > 0; cpu--)
		if (CPU_ISSET(cpu, &run->previous_cpus))
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	run->bound = !sched_setaffinity(0, sizeof(one), &one);
	if (!run->bound || CPU_COUNT(&run->previous_cpus) < 2)
		return 0;
	run->awake = awake_start(cpu, error);
	return run->awake < 0 ? -1 : 0;
}

/* ping's times come from CLOCK_REALTIME: a step falsifies what it prints. */
static void watch_clock(struct experiment *run)
{
	__u64 before = clock_ns(CLOCK_MONOTONIC), now = clock_ns(CLOCK_REALTIME);
	__s64 offset = now - before, step = offset - run->clock_offset;

	/* Preempted between two readings it would see a step, and another one back. */
	if (clock_ns(CLOCK_MONOTONIC) - before > CLOCK_STEP_NS / 2)
		return;
	if (run->clock_offset && (step > CLOCK_STEP_NS || step < -CLOCK_STEP_NS))
		run->result->clock_steps++;
	run->clock_offset = offset;
}

/* Was there a signal that ends the run, and that nobody has taken yet? */
static int interrupted(const struct experiment *run, struct error *error)
{
	struct signalfd_siginfo signal;

	if (run->signals < 0 || read(run->signals, &signal, sizeof(signal)) != sizeof(signal))
		return 0;
	return error_set(error, 128 + signal.ssi_signo, "interrupted by SIG%s",
			 sigabbrev_np(signal.ssi_signo));
}

/* One round: wait a little, drain the tracer, look after the children and signals. */
static int turn(struct experiment *run, struct error *error)
{
	struct pollfd fd = { .fd = run->signals, .events = POLLIN };

	poll(&fd, 1, POLL_MS);
	watch_clock(run);
	if (run->tracer && tracer_poll(run->tracer, error))
		return -1;
	child_poll(&run->server);
	child_poll(&run->client);
	child_poll(&run->ping);
	return side_probes_turn(&run->side_probes, error) || interrupted(run, error) ? -1 : 0;
}

static void progress(const struct experiment *run, const struct phase *phase, __u64 begin_ns,
		     __u64 length_ns)
{
	if (run->options->progress)
		run->options->progress(phase->plan.name,
				       (clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9,
				       length_ns / 1e9);
}

static int failed_child(const struct child *child, const char *name, struct error *error)
{
	char how[CHILD_STATUS_TEXT], said[200];

	return error_set(error, EXIT_INCOMPLETE, "%s ended too early with %s: %s", name,
			 child_status_text(child, how), child_last_words(child, said, sizeof(said)));
}

static int wait_until(struct experiment *run, const struct phase *phase, __u64 end_ns,
		      struct error *error)
{
	__u64 begin_ns = clock_ns(CLOCK_MONOTONIC);

	while (clock_ns(CLOCK_MONOTONIC) < end_ns) {
		progress(run, phase, begin_ns, end_ns - begin_ns);
		if (turn(run, error))
			return -1;
		if (run->ping.ended)
			return failed_child(&run->ping, "ping", error);
	}
	return 0;
}

static bool ended_well(const struct child *child)
{
	return child->ended && WIFEXITED(child->status) && !WEXITSTATUS(child->status);
}

/* Does the kernel have the congestion control? Asking loads its module, as iperf3's asking would. */
static int check_congestion(const struct scenario *scenario, struct error *error)
{
	const char *name = scenario->load.congestion;
	int fd, failed;

	if (scenario->load.proto != LOAD_TCP)
		return 0;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot open a TCP socket");
	failed = setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name));
	close(fd);
	if (failed)
		return error_set(error, EXIT_USAGE,
				 "load.cc: this kernel has no congestion control '%s'; `sojourn doctor` lists those that it has",
				 name);
	return 0;
}

/* Each ping gets an identifier that another one on this host will hardly have. */
static int choose_probe_ids(struct experiment *run, struct error *error)
{
	__u16 id;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return error_set_errno(error, EXIT_CANNOT, "cannot have a random number");
	run->probe_id = 1 + id % (0xffff - SCENARIO_SIDE_PROBES);
	return 0;
}

static int find_programs(struct experiment *run, struct error *error)
{
	char version[64];

	if (child_find_program("iperf3", run->iperf3_path, sizeof(run->iperf3_path), error) ||
	    iperf3_version(run->iperf3_path, version, sizeof(version), error))
		return -1;
	if (child_find_program("ping", run->ping_path, sizeof(run->ping_path), error))
		return -1;
	if (ping_version(run->ping_path, version, sizeof(version), error))
		return -1;
	if (ping_takes_id(version))
		return choose_probe_ids(run, error);
	if (run->scenario->side_probe_count)
		return error_set(error, EXIT_CANNOT,
				 "several probes at once need iputils 20221126 or newer, and %s is %s: leave the headings [probe NAME] out, or install a newer one",
				 run->ping_path, version);
	return 0;
}

/* Where probes begin and end they are followed too. */
static void add_sender(const struct experiment *run, const struct site_path *path, __u32 *wanted,
		       size_t *count)
{
	__u32 netns = netns_inode(path->from);
	size_t i;

	if (site_is_traced(&run->site, netns))
		return;
	for (i = run->site.netns_count; i < *count; i++)
		if (wanted[i] == netns)
			return;
	wanted[(*count)++] = netns;
}

/*
 * Probes are followed where qdiscs are traced, and nowhere else: with one host of
 * several in sight it must show what lies beyond. The client is the exception,
 * because sending and arrival there make the RTT.
 */
static int start_tracer(struct experiment *run, struct error *error)
{
	__u32 wanted[NETNS_MAX + 1 + SCENARIO_SIDE_PROBES];
	struct tracer_options options = {
		.tier = run->options->tier,
		.netns = wanted,
		.netns_count = run->site.netns_count,
		.probe_netns = wanted,
		.probe_netns_count = run->site.netns_count,
		.probes = true,
		.probe_payload = run->scenario->probe_size,
		.tcp = true,
		.sink = timeline_sink(run->timeline),
	};
	bool quiet = true;
	size_t i;

	for (i = 0; i < run->site.netns_count; i++)
		wanted[i] = netns_inode(run->site.netns[i].fd);
	add_sender(run, &run->site.probe, wanted, &options.probe_netns_count);
	for (i = 0; i < run->scenario->side_probe_count; i++)
		add_sender(run, &run->site.side_probes[i], wanted, &options.probe_netns_count);
	/* A host that others use may never be quiet. */
	run->tracer = witness_begin(&options, run->site.netns, run->site.netns_count, &run->before,
				    run->site.lab ? NULL : &quiet, error);
	if (!run->tracer)
		return -1;
	if (!quiet)
		note_trouble(run, "packets moved when tracing began: what was queued then is not accounted for");
	run->result->started_ns = clock_ns(CLOCK_MONOTONIC);
	run->result->started_realtime_ns = clock_ns(CLOCK_REALTIME);
	return 0;
}

static int start_ping(struct experiment *run, unsigned int count, struct error *error)
{
	const struct scenario *scenario = run->scenario;
	struct ping_options options = {
		.target = run->site.probe.address,
		.ipv6 = run->site.probe.ipv6,
		.interval_ns = scenario->probe_interval_ns,
		.count = count,
		.size = scenario->probe_size,
		.id = run->probe_id,
	};

	return ping_start(&run->ping, run->site.probe.from, run->ping_path, &options, error);
}

static int start_load(struct experiment *run, const struct phase *phase, struct error *error)
{
	const struct scenario *scenario = run->scenario;
	char path[LOAD_FILE_PATH];
	struct iperf3_options options;

	if (run->load_file >= 0)
		close(run->load_file);
	run->load_file = load_file_make(&scenario->load, phase->plan.direction, path, error);
	if (run->load_file < -1)
		return -1;
	scenario_load_options(&scenario->load, &options);
	options.server = run->site.load.address;
	options.port = run->site.load.port;
	options.direction = phase->plan.direction;
	if (path[0])
		options.file = path;
	options.omit_seconds = scenario->load_omit_ns / SECOND_NS;
	tracer_cut(run->tracer);
	if (iperf3_start_client(&run->client, run->site.load.from, run->iperf3_path, &options, error))
		return -1;
	run->moments.loads[run->loads].begin_ns = run->client.started_ns;
	return 0;
}

static int keep_command(struct phase_load *load)
{
	char *const *command = iperf3_client_command();
	size_t i, count = 0;

	while (command[count])
		count++;
	load->command = calloc(count + 1, sizeof(char *));
	if (!load->command)
		return -1;
	for (i = 0; i < count; i++) {
		load->command[i] = strdup(command[i]);
		if (!load->command[i])
			return -1;
	}
	return 0;
}

static int read_load(struct experiment *run, struct phase_load *load, struct error *error)
{
	char how[CHILD_STATUS_TEXT];

	if (iperf3_parse(run->client.out_text ? run->client.out_text : "",
			 run->client.out_length, &load->iperf3, error))
		return -1;
	if (!ended_well(&run->client))
		return error_set(error, EXIT_INCOMPLETE, "iperf3 ended with %s",
				 child_status_text(&run->client, how));
	load->have_iperf3 = true;
	return keep_command(load) ? error_set(error, EXIT_CANNOT, "out of memory") : 0;
}

/* Free a child that has ended, with what it printed kept for who wants it. */
static void put_away(struct child *child, char **text)
{
	if (text && !*text) {
		*text = child->out_text;
		child->out_text = NULL;
		child->out_length = 0;
	}
	child_free(child);
}

/* What the kernel tells of every qdisc and class; to name what held packets back. */
static int take_snapshot(struct experiment *run, struct load_snapshot *snapshot,
			 struct error *error)
{
	size_t i;

	if (witness_read(&snapshot->tree, run->site.netns, run->site.netns_count, error))
		return -1;
	for (i = 0; i < run->site.netns_count; i++)
		if (qdisc_classes_read(&snapshot->classes, &snapshot->tree, run->site.netns[i].fd,
				       error))
			return -1;
	snapshot->taken = true;
	return 0;
}

/*
 * At the begin and the end of the load's window, while it still fills the queues: a
 * class that is out of tokens does not say so later. The end also where the client
 * ended before its time.
 */
static int take_due_snapshots(struct experiment *run, struct phase_load *load,
			      struct error *error)
{
	__u64 gone = clock_ns(CLOCK_MONOTONIC) - run->client.started_ns;
	__u64 margin = run->scenario->margin_ns, length = scenario_load_ns(run->scenario);
	bool over = run->client.ended || gone + margin >= length;

	if (!load->begin.taken && !over && gone >= margin + run->scenario->load_omit_ns &&
	    take_snapshot(run, &load->begin, error))
		return -1;
	if (!load->end.taken && over)
		return take_snapshot(run, &load->end, error);
	return 0;
}

/* A load: from the client's start to its end. */
static int run_load(struct experiment *run, struct phase *phase, struct error *error)
{
	__u64 length = scenario_load_ns(run->scenario);

	if (start_load(run, phase, error))
		return -1;
	while (!run->client.ended) {
		if (side_loads_turn(&run->sides, run->iperf3_path,
				    clock_ns(CLOCK_MONOTONIC) - run->client.started_ns, error))
			return -1;
		progress(run, phase, run->client.started_ns, length);
		if (turn(run, error) || take_due_snapshots(run, &phase->load, error))
			return -1;
		if (run->ping.ended && !ping_ended_well(&run->ping))
			return failed_child(&run->ping, "ping", error);
		if (clock_ns(CLOCK_MONOTONIC) - run->client.started_ns > length + OVERTIME_NS)
			return error_set(error, EXIT_INCOMPLETE,
					 "iperf3 did not end: %llu s asked for, %llu s waited",
					 length / SECOND_NS, (length + OVERTIME_NS) / SECOND_NS);
	}
	tracer_cut(run->tracer);
	run->moments.loads[run->loads].end_ns = run->client.ended_ns;
	if (read_load(run, &phase->load, error))
		return -1;
	return side_loads_finish(&run->sides, &phase->load, error);
}

/*
 * ping sends the next probe an interval after it woke for the last one: on a busy
 * machine it falls behind, and is given as much time again.
 */
static int wait_for_ping(struct experiment *run, const struct phase *phase, unsigned int count,
			 struct error *error)
{
	__u64 begin = clock_ns(CLOCK_MONOTONIC);
	__u64 planned = count * run->scenario->probe_interval_ns;
	__u64 end = run->ping.started_ns + planned;
	__u64 length = end > begin ? end - begin : 0;

	while (!run->ping.ended || !side_probes_ended(&run->side_probes)) {
		progress(run, phase, begin, length);
		if (turn(run, error))
			return -1;
		if (clock_ns(CLOCK_MONOTONIC) > end + planned + OVERTIME_NS)
			return error_set(error, EXIT_INCOMPLETE,
					 "ping did not end: %llu s planned, %llu s waited",
					 planned / SECOND_NS,
					  (2 * planned + OVERTIME_NS) / SECOND_NS);
	}
	return 0;
}

static int read_ping(struct experiment *run, struct ping_result *pings, struct error *error)
{
	if (ping_parse(run->ping.out_text ? run->ping.out_text : "", run->ping.out_length, pings,
		       error))
		return -1;
	if (!ping_ended_well(&run->ping) || !pings->summary)
		return failed_child(&run->ping, "ping", error);
	if (pings->unread)
		note_trouble(run, "lines of ping's output could not be read");
	return 0;
}

static int start_server(struct experiment *run, struct error *error)
{
	const struct site_path *path = &run->site.load;

	if (side_loads_serve(&run->sides, run->iperf3_path, error))
		return -1;
	/* A server of somebody's runs there already. */
	if (path->to < 0)
		return 0;
	return iperf3_start_server(&run->server, path->to, run->iperf3_path, path->port,
				   SERVER_START_MS, error);
}

/*
 * What the next load needs is made right after the one before, outside of any
 * phase's window. A server serves one client and ends.
 */
static int next_load(struct experiment *run, struct experiment_output *output,
		     struct error *error)
{
	put_away(&run->client, &output->iperf3[run->loads]);
	child_stop(&run->server, SIGTERM, STOP_MS);
	put_away(&run->server, NULL);
	run->loads++;
	return start_server(run, error);
}

/* When the time of a phase of the first ping is over by the plan; loads may last longer. */
static __u64 planned_end(const struct experiment *run, unsigned int index)
{
	const struct scenario *scenario = run->scenario;
	__u64 ns = run->moments.begin_ns;
	unsigned int i;

	for (i = 0; i <= index; i++) {
		switch (run->result->phases[i].plan.kind) {
		case PHASE_IDLE:
			ns += scenario->idle_ns;
			break;
		case PHASE_LOAD:
			ns += scenario_load_ns(scenario);
			break;
		case PHASE_RECOVERY:
			ns += scenario->recovery_ns;
			break;
		case PHASE_RESTORED:
			break;
		}
	}
	return ns;
}

/* Is a load still to come after that phase? */
static bool is_before_load(const struct result *result, unsigned int index)
{
	return index + 1 < result->phase_count && result->phases[index + 1].plan.kind == PHASE_LOAD;
}

/* Phases before a load end by the plan, the last recovery ends with ping. */
static int run_phase(struct experiment *run, unsigned int index,
		     struct experiment_output *output, struct error *error)
{
	struct phase *phase = &run->result->phases[index];

	switch (phase->plan.kind) {
	case PHASE_LOAD:
		return run_load(run, phase, error);
	case PHASE_RECOVERY:
		if (!is_before_load(run->result, index))
			return wait_for_ping(run, phase, run->scenario->probe_count, error);
		if (next_load(run, output, error))
			return -1;
		return wait_until(run, phase, planned_end(run, index), error);
	case PHASE_IDLE:
		return wait_until(run, phase, planned_end(run, index), error);
	case PHASE_RESTORED:
		break;
	}
	return 0;
}

/* The first ping's phases: all but restored. */
static int run_main_phases(struct experiment *run, struct experiment_output *output,
			   struct error *error)
{
	unsigned int i;

	if (start_server(run, error) || start_ping(run, run->scenario->probe_count, error) ||
	    side_probes_start(&run->side_probes, run->ping_path, run->probe_id + 1, error))
		return -1;
	run->moments.begin_ns = run->ping.started_ns;
	for (i = 0; i < run->result->phase_count; i++)
		if (run_phase(run, i, output, error))
			return -1;
	run->moments.end_ns = run->ping.ended_ns;
	return read_ping(run, &run->pings, error);
}

/* Once more without the qdiscs under test: is the lab's path itself clean? */
static int run_restored_phase(struct experiment *run, struct experiment_output *output,
			      struct error *error)
{
	if (!run->scenario->restored_count)
		return 0;
	if (lab_remove_qdiscs(run->site.lab, error))
		return -1;
	put_away(&run->ping, &output->ping);
	tracer_cut(run->tracer);
	if (start_ping(run, run->scenario->restored_count, error))
		return -1;
	run->moments.restored_begin_ns = run->ping.started_ns;
	if (wait_for_ping(run, result_phase(run->result, PHASE_RESTORED),
			  run->scenario->restored_count, error))
		return -1;
	run->moments.restored_end_ns = run->ping.ended_ns;
	return read_ping(run, &run->pings_restored, error);
}

/* The kernel's counters at the end: a qdisc that is gone by then keeps the ones it had before. */
static int read_after(struct experiment *run, struct qdisc_tree *kept, struct error *error)
{
	struct qdisc_info *grown;
	size_t i;

	if (witness_end(run->tracer, run->site.netns, run->site.netns_count, QUIET_MS, &run->after,
			&run->quiet, error))
		return -1;
	if (!run->quiet)
		note_trouble(run, "packets still moved when the kernel's counters were read");
	for (i = 0; i < kept->count; i++) {
		const struct qdisc_info *info = &kept->qdiscs[i];

		if (qdisc_tree_find(&run->after, info->netns, info->ifindex, info->parent,
				    info->handle))
			continue;
		grown = realloc(run->after.qdiscs, (run->after.count + 1) * sizeof(*grown));
		if (!grown)
			return error_set(error, EXIT_CANNOT, "out of memory");
		grown[run->after.count++] = *info;
		run->after.qdiscs = grown;
	}
	return 0;
}

static int measure(struct experiment *run, struct experiment_output *output,
		   struct error *error)
{
	struct qdisc_tree kept = { 0 };
	int failed;

	if (run_main_phases(run, output, error))
		return -1;
	if (witness_end(run->tracer, run->site.netns, run->site.netns_count, QUIET_MS, &kept, &run->quiet,
			error))
		return -1;
	failed = run_restored_phase(run, output, error) || read_after(run, &kept, error);
	qdisc_tree_free(&kept);
	if (failed)
		return -1;
	run->result->ended_ns = clock_ns(CLOCK_MONOTONIC);
	return tracer_detach(run->tracer, error);
}

static int keep_tool(struct result *result, const struct tracer *tracer, struct error *error)
{
	const struct tracer_hook *hooks;
	struct utsname names;

	snprintf(result->version, sizeof(result->version), "%s", SOJOURN_VERSION);
	if (!uname(&names))
		snprintf(result->kernel, sizeof(result->kernel), "%s", names.release);
	snprintf(result->tier, sizeof(result->tier), "%s", tracer_tier(tracer));
	snprintf(result->tier_why, sizeof(result->tier_why), "%s", tracer_tier_why(tracer));
	hooks = tracer_hooks(tracer, &result->hook_count);
	result->hooks = calloc(result->hook_count, sizeof(*hooks));
	if (!result->hooks)
		return error_set(error, EXIT_CANNOT, "out of memory");
	memcpy(result->hooks, hooks, result->hook_count * sizeof(*hooks));
	return 0;
}

/* Who sent probes, the main ones first. Returns their number. */
static size_t list_senders(const struct experiment *run, struct probe_sender *senders)
{
	size_t i;

	senders[0] = (struct probe_sender){ netns_inode(run->site.probe.from), run->probe_id };
	for (i = 0; i < run->scenario->side_probe_count; i++)
		senders[i + 1] = (struct probe_sender){
			netns_inode(run->site.side_probes[i].from),
			(__u16)(run->probe_id + 1 + i),
		};
	return i + 1;
}

/* Of senders on hosts that are not traced only the ends of the RTT stay. */
static void hide_senders(const struct experiment *run, const struct probe_sender *senders,
			 size_t count)
{
	struct result *result = run->result;
	size_t i;

	if (!site_is_traced(&run->site, senders[0].netns))
		timeline_hide_client(result->probes, result->probe_count, senders[0].netns);
	for (i = 1; i < count; i++)
		if (!site_is_traced(&run->site, senders[i].netns))
			timeline_hide_client(result->side_probes[i - 1].probes,
					     result->side_probes[i - 1].probe_count,
					     senders[i].netns);
}

/* What each ping printed beside what the trace has of it. */
static int match_pings(struct experiment *run, struct error *error)
{
	struct result *result = run->result;
	int different = side_probes_match(&run->side_probes, result, error);

	if (different < 0)
		return -1;
	result->ping_unmatched = (unsigned int)different +
				 timeline_match_ping(result->probes, result->probe_count,
						     &run->pings, run->moments.begin_ns,
						     run->moments.end_ns);
	if (run->moments.restored_begin_ns)
		result->ping_unmatched += timeline_match_ping(result->probes, result->probe_count,
							      &run->pings_restored,
							      run->moments.restored_begin_ns,
							      run->moments.restored_end_ns);
	return 0;
}

/* From what was collected to the figures and the verdict. */
static int evaluate(struct experiment *run, struct error *error)
{
	struct probe_sender senders[1 + SCENARIO_SIDE_PROBES];
	size_t sender_count = list_senders(run, senders);
	struct result *result = run->result;

	tracer_losses(run->tracer, &result->losses);
	if (keep_tool(result, run->tracer, error) ||
	    ledger_join(result, run->tracer, &run->before, &run->after, error) ||
	    timeline_finish(run->timeline, senders, sender_count, result, error))
		return -1;
	hide_senders(run, senders, sender_count);
	if (match_pings(run, error))
		return -1;
	run->moments.omit_ns = run->scenario->load_omit_ns;
	phase_windows(result, &run->moments, run->scenario->margin_ns, run->scenario->settle_ns);
	if (phase_fill(result, error) || attribution_fill(result, error) ||
	    load_shape_fill(result, error))
		return -1;
	judge_result(result, run->trouble);
	return 0;
}

static void stop_child(struct child *child)
{
	if (child->pid && !child->ended)
		child_stop(child, SIGTERM, STOP_MS);
}

/* Remove everything; what goes wrong then is told where nothing else has. */
static int clean_up(struct experiment *run, struct experiment_output *output,
		    struct error *error)
{
	int failed = 0;

	side_loads_stop(&run->sides);
	side_probes_stop(&run->side_probes);
	stop_child(&run->client);
	stop_child(&run->ping);
	stop_child(&run->server);
	put_away(&run->client, &output->iperf3[run->loads]);
	put_away(&run->ping, &output->ping);
	put_away(&run->server, NULL);
	tracer_close(run->tracer);
	timeline_free(run->timeline);
	failed = site_close(&run->site, error);
	qdisc_tree_free(&run->before);
	qdisc_tree_free(&run->after);
	ping_result_free(&run->pings);
	ping_result_free(&run->pings_restored);
	/* A second Ctrl-C has come too late to end anything sooner. */
	while (interrupted(run, NULL))
		;
	if (run->load_file >= 0)
		close(run->load_file);
	if (run->signals >= 0)
		close(run->signals);
	awake_stop(run->awake);
	if (run->bound)
		sched_setaffinity(0, sizeof(run->previous_cpus), &run->previous_cpus);
	sigprocmask(SIG_SETMASK, &run->previous, NULL);
	return failed;
}

static int prepare(struct experiment *run, struct error *error)
{
	run->timeline = timeline_create();
	if (!run->timeline)
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (site_open(&run->site, run->scenario, run->options->guard, run->result, error) ||
	    site_trace(&run->site, run->options->netns, run->options->netns_count, error) ||
	    interrupted(run, error) ||
	    start_tracer(run, error))
		return -1;
	return interrupted(run, error);
}

int experiment_run(const struct experiment_options *options, struct result *result,
		   struct experiment_output *output, struct error *error)
{
	struct experiment run = {
		.options = options,
		.scenario = options->scenario,
		.result = result,
		.signals = -1,
		.load_file = -1,
		.server = { .pidfd = -1, .out = -1, .err = -1 },
		.client = { .pidfd = -1, .out = -1, .err = -1 },
		.ping = { .pidfd = -1, .out = -1, .err = -1 },
	};
	struct error late;
	int failed;

	site_init(&run.site);
	side_loads_init(&run.sides, run.scenario, run.site.sides);
	side_probes_init(&run.side_probes, run.scenario, run.site.side_probes);
	result->scenario = *options->scenario;
	result_plan(result);
	sigprocmask(SIG_SETMASK, NULL, &run.previous);
	failed = check_congestion(run.scenario, error) || find_programs(&run, error) ||
		 take_signals(&run, error) || choose_cpu(&run, error) || prepare(&run, error) ||
		 measure(&run, output, error) || evaluate(&run, error);
	if (interrupted(&run, error))
		failed = -1;
	if (clean_up(&run, output, &late))
		snprintf(output->left_behind, sizeof(output->left_behind), "%s", late.text);
	return failed ? -1 : 0;
}
