// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "function_hook.h"
#include "kernel_object.h"
#include "qdisc_hooks.h"
#include "sojourn/tables.h"
#include "sojourn.skel.h"
#include "tier.h"

#define TRACEPOINTS_MAX	16

/* Link header, VLAN tag: an echo's skb is longer than its IP packet by at most that much. */
#define LINK_HEADERS	(14 + 8)
#define IPV4_ICMP	(20 + 8)
#define IPV6_ICMP	(40 + 8)

/* Room for half a second of 1 million packets. */
#define PACKETS_RING_BYTES	(16u << 20)

/*
 * A qdisc has its place in the tree a moment after it was made: the tree is walked when
 * qdiscs were made, and again that much later.
 */
#define WALK_AGAIN_NS	200000000ULL
#define WALK_PART	20		/* of the time, at most one in so many */

struct tier {
	struct sojourn_bpf *bpf;
	bool functions;			/* the functions tier */
	struct function_hooks *function_hooks;
	struct qdisc_hooks *qdisc_hooks;
	char why[640];			/* why not functions */
	struct bpf_link *links[TRACEPOINTS_MAX];
	struct tracer_hook hooks[TRACEPOINTS_MAX];	/* tracepoints */
	size_t hook_count;
	struct tracer_hook *all_hooks;	/* the list last given out */
	void *records, *banks, *histograms;
	size_t records_size, banks_size, histograms_size;
	unsigned int max_qdiscs;
	__u32 created;			/* qdiscs made when the tree was walked last */
	__u64 walk_again_ns;		/* 0: not */
	__u64 walk_not_before_ns;
	__u64 walk_failed;
};

static void set_options(struct sojourn_bpf *bpf, const struct tracer_options *options)
{
	bpf->rodata->filter_netns = options->netns != NULL;
	bpf->rodata->filter_devices = options->devices != NULL;
	bpf->rodata->tcp_interval_ns = options->tcp_interval_ns;
	if (options->probes) {
		bpf->rodata->probe_payload = options->probe_payload;
		bpf->rodata->probe_len_min = options->probe_payload + IPV4_ICMP;
		bpf->rodata->probe_len_max = options->probe_payload + IPV6_ICMP + LINK_HEADERS;
	}
	bpf->rodata->clock_tai_ahead_ns = clock_ns(CLOCK_TAI) - clock_ns(CLOCK_MONOTONIC);
	bpf->rodata->clock_real_ahead_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	bpf->bss->tell_packets = options->packets;
	bpf->bss->slow_ns = options->slow_ns;
	bpf_program__set_autoload(bpf->progs.flush_packets, options->packets);
	if (options->packets)
		bpf_map__set_max_entries(bpf->maps.events, PACKETS_RING_BYTES);
	bpf_program__set_autoload(bpf->progs.on_netif_receive_skb, options->probes);
	bpf_program__set_autoload(bpf->progs.on_tcp_probe, options->tcp);
	bpf_program__set_autoload(bpf->progs.on_tcp_retransmit_skb, options->tcp);
}

/* Each qdisc has one; parents, those that pace and those that drop have one more. */
static unsigned int most_histograms(unsigned int max_qdiscs)
{
	return max_qdiscs + max_qdiscs / 2 + 16;
}

static int size_maps(struct sojourn_bpf *bpf, unsigned int max_qdiscs)
{
	int failed;

	failed = bpf_map__set_max_entries(bpf->maps.qdisc_records, max_qdiscs);
	if (!failed)
		failed = bpf_map__set_max_entries(bpf->maps.free_records, max_qdiscs);
	if (!failed)
		failed = bpf_map__set_max_entries(bpf->maps.qdisc_banks, max_qdiscs * QDISC_BANKS);
	if (!failed)
		failed = bpf_map__set_max_entries(bpf->maps.histograms, most_histograms(max_qdiscs));
	if (!failed)
		failed = bpf_map__set_max_entries(bpf->maps.free_histograms,
						  most_histograms(max_qdiscs));
	return failed;
}

static void *map_array(struct bpf_map *map, size_t *size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *memory;

	/* elements of an array map are 8 bytes aligned, the whole to pages (kernel/bpf/arraymap.c) */
	*size = ((bpf_map__value_size(map) + 7UL) / 8 * 8 * bpf_map__max_entries(map) + page - 1) /
		page * page;
	memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static int want_netns(struct tier *tier, const __u32 *netns, size_t count, __u8 what,
		      struct error *error)
{
	int fd = bpf_map__fd(tier->bpf->maps.wanted_netns);
	size_t i;

	for (i = 0; i < count; i++) {
		__u8 wanted = 0;

		bpf_map_lookup_elem(fd, &netns[i], &wanted);
		wanted |= what;
		if (bpf_map_update_elem(fd, &netns[i], &wanted, BPF_ANY))
			return error_set_errno(error, EXIT_CANNOT,
					       "too many network namespaces to trace");
	}
	return 0;
}

static int want_device(struct tier *tier, const char *device, struct error *error)
{
	char name[QDISC_DEVICE_LEN] = "";
	__u8 yes = 1;

	if (strlen(device) >= sizeof(name))
		return error_set(error, EXIT_USAGE,
				 "no device can have the name '%s': 15 characters are the most",
				 device);
	memcpy(name, device, strlen(device));
	if (bpf_map_update_elem(bpf_map__fd(tier->bpf->maps.wanted_devices), name, &yes, BPF_ANY))
		return error_set_errno(error, EXIT_CANNOT, "too many devices to trace");
	return 0;
}

/* With the numbers of all its places. */
static int fill_queue(const struct bpf_map *map, struct error *error)
{
	__u32 i;

	for (i = 0; i < bpf_map__max_entries(map); i++)
		if (bpf_map_update_elem(bpf_map__fd(map), NULL, &i, BPF_ANY))
			return error_set_errno(error, EXIT_CANNOT, "cannot fill a BPF map");
	return 0;
}

static int fill_maps(struct tier *tier, const struct tracer_options *options, struct error *error)
{
	const __u32 *probe_netns = options->netns;
	size_t probe_netns_count = options->netns_count;
	__u32 i;

	if (fill_queue(tier->bpf->maps.free_records, error) ||
	    fill_queue(tier->bpf->maps.free_histograms, error))
		return -1;
	if (options->probe_netns) {
		probe_netns = options->probe_netns;
		probe_netns_count = options->probe_netns_count;
	}
	if (options->netns &&
	    (want_netns(tier, options->netns, options->netns_count, WANTED_QDISCS,
			error) ||
	     want_netns(tier, probe_netns, probe_netns_count, WANTED_PROBES, error)))
		return -1;
	for (i = 0; options->devices && i < options->device_count; i++)
		if (want_device(tier, options->devices[i], error))
			return -1;
	return 0;
}

static void list_hooks(struct tier *tier)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, tier->bpf->obj) {
		const char *section = bpf_program__section_name(program);
		struct tracer_hook *hook;

		if (tier->hook_count == TRACEPOINTS_MAX || strncmp(section, "tp_btf/", 7) ||
		    !bpf_program__autoload(program))
			continue;
		hook = &tier->hooks[tier->hook_count++];
		snprintf(hook->name, sizeof(hook->name), "%s", section + 7);
		snprintf(hook->how, sizeof(hook->how), "tp_btf");
		snprintf(hook->why, sizeof(hook->why), "not attached yet");
	}
}

void tier_close(struct tier *tier)
{
	size_t i;

	if (!tier)
		return;
	qdisc_hooks_close(tier->qdisc_hooks);
	function_hooks_close(tier->function_hooks);
	for (i = 0; i < TRACEPOINTS_MAX; i++)
		bpf_link__destroy(tier->links[i]);
	if (tier->records)
		munmap(tier->records, tier->records_size);
	if (tier->banks)
		munmap(tier->banks, tier->banks_size);
	if (tier->histograms)
		munmap(tier->histograms, tier->histograms_size);
	sojourn_bpf__destroy(tier->bpf);
	free(tier->all_hooks);
	free(tier);
}

/* On each CPU that is there, in turn; on one that is not nothing waits for long. */
void tier_flush_packets(struct tier *tier)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU);
	int cpus = libbpf_num_possible_cpus();

	for (options.cpu = 0; (int)options.cpu < cpus; options.cpu++)
		bpf_prog_test_run_opts(bpf_program__fd(tier->bpf->progs.flush_packets), &options);
}

/* Let the kernel side look at every qdisc that there is. */
static int walk(struct tier *tier, __u32 round, struct error *error)
{
	__u64 arguments[3] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));

	tier->bpf->bss->walk_round = round;
	if (bpf_prog_test_run_opts(bpf_program__fd(tier->bpf->progs.walk_qdiscs), &options))
		return error_set_errno(error, EXIT_CANNOT, "cannot walk the kernel's qdiscs");
	return 0;
}

/*
 * Tracepoints tier: which roots have one chain of qdiscs below them whose leaf stamps its
 * packets. The tree may have changed since.
 */
static void find_stamped_leaves(struct tier *tier)
{
	struct qdisc_record *records = tier->records, *root;
	struct error error;
	unsigned int i;

	for (i = 0; i < tier->max_qdiscs; i++) {
		records[i].below = records[i].below_depth = 0;
		records[i].below_deepest = 0;
	}
	if (!walk(tier, WALK_COUNTS, &error))
		walk(tier, WALK_LEAVES, &error);
	/* what still holds goes on meanwhile: packets are being counted */
	for (i = 0; i < tier->max_qdiscs; i++) {
		root = &records[i];
		if (root->leaf_record && (root->below != root->below_depth ||
					  records[root->leaf_record - 1].qdisc != root->below_deepest))
			root->leaf_record = 0;
	}
}

/* ---- the functions tier ---- */

static void want_programs(struct sojourn_bpf *bpf, bool trampolines, bool probes)
{
	bpf_program__set_autoload(bpf->progs.on_enqueue_entry, trampolines);
	bpf_program__set_autoload(bpf->progs.on_enqueue_exit, trampolines);
	bpf_program__set_autoload(bpf->progs.on_dequeue_exit, trampolines);
	bpf_program__set_autoload(bpf->progs.on_peek_exit, trampolines);
	bpf_program__set_autoload(bpf->progs.on_enqueue_call, probes);
	bpf_program__set_autoload(bpf->progs.on_enqueue_return, probes);
	bpf_program__set_autoload(bpf->progs.on_dequeue_call, probes);
	bpf_program__set_autoload(bpf->progs.on_dequeue_return, probes);
	bpf_program__set_autoload(bpf->progs.on_peek_return, probes);
}

/* Can functions be hooked here, and how? Where not, tier->why says so. */
static bool try_functions(struct tier *tier, bool only_kprobes)
{
	struct error no_trampoline = { 0 }, no_probe = { 0 };
	bool trampolines, probes;

	tier->function_hooks = function_hooks_open();
	if (!tier->function_hooks)
		return false;
	if (only_kprobes)
		error_set(&no_trampoline, EXIT_CANNOT, "fexit: not wanted");
	trampolines = !only_kprobes &&
		      !function_hook_try(tier->function_hooks, HOOK_FENTRY, &no_trampoline);
	probes = !function_hook_try(tier->function_hooks, HOOK_KPROBE, &no_probe);
	if (!trampolines && !probes) {
		snprintf(tier->why, sizeof(tier->why), "no functions can be hooked: %.290s; %.290s",
			 no_trampoline.text, no_probe.text);
		/* the kernel's symbols and types are tens of MB */
		function_hooks_close(tier->function_hooks);
		tier->function_hooks = NULL;
		return false;
	}
	want_programs(tier->bpf, trampolines, probes);
	tier->bpf->rodata->functions = true;
	tier->bpf->rodata->enqueue_is_told = true;
	tier->functions = true;
	return true;
}

static const struct bpf_program *if_loaded(const struct bpf_program *program)
{
	return bpf_program__fd(program) >= 0 ? program : NULL;
}

static int open_qdisc_hooks(struct tier *tier, struct error *error)
{
	const struct sojourn_bpf *bpf = tier->bpf;
	struct qdisc_programs programs = {
		.enqueue_entry = if_loaded(bpf->progs.on_enqueue_entry),
		.enqueue_exit = if_loaded(bpf->progs.on_enqueue_exit),
		.dequeue_exit = if_loaded(bpf->progs.on_dequeue_exit),
		.peek_exit = if_loaded(bpf->progs.on_peek_exit),
		.enqueue_call = if_loaded(bpf->progs.on_enqueue_call),
		.enqueue_return = if_loaded(bpf->progs.on_enqueue_return),
		.dequeue_call = if_loaded(bpf->progs.on_dequeue_call),
		.dequeue_return = if_loaded(bpf->progs.on_dequeue_return),
		.peek_return = if_loaded(bpf->progs.on_peek_return),
	};

	tier->qdisc_hooks = qdisc_hooks_open(tier->function_hooks, &programs);
	return tier->qdisc_hooks ? 0 : error_set(error, EXIT_CANNOT, "out of memory");
}

/*
 * Take note of the qdiscs that are there. Stamped leaves are an extra: where the kernel
 * runs no walk there are none.
 */
static int list_qdiscs(struct tier *tier, struct error *error)
{
	if (!tier->functions) {
		find_stamped_leaves(tier);
		return 0;
	}
	if (walk(tier, WALK_COUNTS, error))
		return -1;
	qdisc_hooks_add(tier->qdisc_hooks, tier->records, tier->max_qdiscs);
	return 0;
}

int tier_forget(struct tier *tier, unsigned int record)
{
	struct qdisc_record *records = tier->records;
	__u32 histograms[QDISC_HISTOGRAMS], index = record;
	int failed = 0;

	memcpy(histograms, records[record].histograms, sizeof(histograms));
	/* a hint to it (bpf/qdisc.bpf.h, qdisc_find()) finds no qdisc there from now on */
	records[record].qdisc = 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memset(&records[record], 0, sizeof(records[record]));
	for (unsigned int i = 0; i < QDISC_HISTOGRAMS; i++) {
		__u32 at = histograms[i] - 1;

		if (at + 1 && bpf_map_update_elem(bpf_map__fd(tier->bpf->maps.free_histograms), NULL,
						  &at, BPF_ANY))
			failed = -1;
	}
	if (bpf_map_update_elem(bpf_map__fd(tier->bpf->maps.free_records), NULL, &index, BPF_ANY))
		failed = -1;
	return failed;
}

size_t tier_take_flows(struct tier *tier, struct tracer_flow *flows, size_t most)
{
	int fd = bpf_map__fd(tier->bpf->maps.flows);
	struct packet_flow *previous = NULL, key;
	size_t count = 0;

	/* each is deleted once the next one is known, from which the kernel goes on */
	while (count < most && !bpf_map_get_next_key(fd, previous, &key)) {
		if (previous)
			bpf_map_delete_elem(fd, previous);
		flows[count].flow = key;
		previous = &flows[count].flow;
		if (!bpf_map_lookup_elem(fd, &key, &flows[count].sums))
			count++;
		else
			previous = NULL;
	}
	if (previous)
		bpf_map_delete_elem(fd, previous);
	return count;
}

int tier_follow_flows(struct tier *tier, __u32 record, struct error *error)
{
	int fd = bpf_map__fd(tier->bpf->maps.flows);
	struct packet_flow key;

	tier->bpf->bss->flows_of = 0;
	while (!bpf_map_get_next_key(fd, NULL, &key))
		if (bpf_map_delete_elem(fd, &key) && errno != ENOENT)
			return error_set_errno(error, EXIT_CANNOT, "cannot clear the flows");
	tier->bpf->bss->flows_of = record;
	return 0;
}

/*
 * Where qdiscs are made all the time, as with namespaces that come and go, walks take a part
 * of the time only.
 */
void tier_follow(struct tier *tier)
{
	__u32 created = tier->bpf->bss->qdiscs_created;
	__u64 now = clock_ns(CLOCK_MONOTONIC);
	struct error error;

	if (now < tier->walk_not_before_ns)
		return;
	if (created != tier->created)
		tier->walk_again_ns = now + WALK_AGAIN_NS;
	else if (!tier->walk_again_ns || now < tier->walk_again_ns)
		return;
	else
		tier->walk_again_ns = 0;
	tier->created = created;
	if (list_qdiscs(tier, &error))
		tier->walk_failed++;
	tier->walk_not_before_ns = now + WALK_PART * (clock_ns(CLOCK_MONOTONIC) - now);
}

/* ---- open, attach, detach ---- */

static int load(struct tier *tier, struct error *error)
{
	struct sojourn_bpf *bpf = tier->bpf;

	if (size_maps(bpf, tier->max_qdiscs))
		return error_set_errno(error, EXIT_CANNOT, "cannot size the tracer's tables");
	if (kernel_object_load(bpf, error))
		return -1;
	tier->records = map_array(bpf->maps.qdisc_records, &tier->records_size);
	tier->banks = map_array(bpf->maps.qdisc_banks, &tier->banks_size);
	tier->histograms = map_array(bpf->maps.histograms, &tier->histograms_size);
	if (!tier->records || !tier->banks || !tier->histograms)
		return error_set_errno(error, EXIT_CANNOT, "cannot map the tracer's tables");
	return 0;
}

struct tier *tier_open(const struct tracer_options *options, struct tier_view *view,
		       struct error *error)
{
	struct tier *tier = calloc(1, sizeof(*tier));

	if (!tier) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	tier->max_qdiscs = options->max_qdiscs;
	tier->bpf = kernel_object_open(error);
	if (!tier->bpf)
		goto fail;
	set_options(tier->bpf, options);
	if (options->tier != TIER_TRACEPOINTS && !try_functions(tier, options->only_kprobes) &&
	    options->tier == TIER_FUNCTIONS) {
		error_set(error, EXIT_CANNOT, "%s; `sojourn doctor` tells what would change that",
			  tier->why);
		goto fail;
	}
	if (load(tier, error) || fill_maps(tier, options, error) ||
	    (tier->functions && open_qdisc_hooks(tier, error)))
		goto fail;
	list_hooks(tier);
	view->slice = &tier->bpf->bss->slice;
	view->records = tier->records;
	view->banks = tier->banks;
	view->histograms = tier->histograms;
	view->max_histograms = most_histograms(tier->max_qdiscs);
	view->max_qdiscs = tier->max_qdiscs;
	view->events_fd = bpf_map__fd(tier->bpf->maps.events);
	return tier;
fail:
	tier_close(tier);
	return NULL;
}

void tier_detach(struct tier *tier)
{
	size_t i;

	/* All stop at once: taking hooks off takes long, and packets come meanwhile. */
	tier->bpf->bss->tracing = 0;
	if (tier->qdisc_hooks)
		qdisc_hooks_detach(tier->qdisc_hooks);
	for (i = 0; i < TRACEPOINTS_MAX; i++) {
		bpf_link__destroy(tier->links[i]);
		tier->links[i] = NULL;
	}
}

/* None counts before all are attached. Qdiscs are listed from the moment on that new ones are told. */
static const char *const attach_order[] = {
	"qdisc_destroy", "qdisc_create", "qdisc_reset", "kfree_skb", "consume_skb",
	"netif_receive_skb", "net_dev_start_xmit", "qdisc_dequeue", "qdisc_enqueue",
	"tcp_probe", "tcp_retransmit_skb", "net_dev_queue",
};

static struct bpf_program *program_of_hook(const struct tier *tier, const char *name)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, tier->bpf->obj) {
		const char *section = bpf_program__section_name(program);

		if (!strncmp(section, "tp_btf/", 7) && !strcmp(section + 7, name))
			return program;
	}
	return NULL;
}

static struct tracer_hook *find_hook(struct tier *tier, const char *name)
{
	size_t i;

	for (i = 0; i < tier->hook_count; i++)
		if (!strcmp(tier->hooks[i].name, name))
			return &tier->hooks[i];
	return NULL;
}

static int attach_tracepoint(struct tier *tier, size_t place, struct error *error)
{
	struct tracer_hook *hook = find_hook(tier, attach_order[place]);

	if (!hook)
		return 0;
	tier->links[place] = bpf_program__attach(program_of_hook(tier, hook->name));
	if (!tier->links[place]) {
		snprintf(hook->why, sizeof(hook->why), "%s", strerror(errno));
		return error_set_errno(error, EXIT_CANNOT,
				       "cannot attach to the tracepoint %s; `sojourn doctor` shows which hooks this kernel has",
				       hook->name);
	}
	hook->attached = true;
	hook->why[0] = '\0';
	return 0;
}

int tier_attach(struct tier *tier, struct error *error)
{
	size_t i;

	for (i = 0; i < sizeof(attach_order) / sizeof(attach_order[0]); i++) {
		if (attach_tracepoint(tier, i, error))
			goto fail;
		/* from here on none comes or goes without a word */
		if (strcmp(attach_order[i], "qdisc_create"))
			continue;
		tier->created = tier->bpf->bss->qdiscs_created;
		if (list_qdiscs(tier, error))
			goto fail;
	}
	tier->bpf->bss->tracing = 1;
	return 0;
fail:
	tier_detach(tier);
	return -1;
}

const char *tier_name(const struct tier *tier)
{
	return tier->functions ? "functions" : "tracepoints";
}

const char *tier_why(const struct tier *tier)
{
	return tier->why;
}

/* Runs that the kernel left out because the program was already running on that CPU. */
static __u64 runs_skipped(const struct bpf_program *program)
{
	struct bpf_prog_info info = {};
	__u32 length = sizeof(info);

	if (!program || bpf_program__fd(program) < 0 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length))
		return 0;
	return info.recursion_misses;
}

const struct tracer_hook *tier_hooks(struct tier *tier, size_t *count)
{
	const struct tracer_hook *functions = NULL;
	size_t i, function_count = 0;

	for (i = 0; i < tier->hook_count; i++)
		tier->hooks[i].skipped = runs_skipped(program_of_hook(tier, tier->hooks[i].name));
	if (tier->qdisc_hooks)
		functions = qdisc_hooks_list(tier->qdisc_hooks, &function_count);
	free(tier->all_hooks);
	tier->all_hooks = calloc(tier->hook_count + function_count + 1, sizeof(*functions));
	*count = 0;
	if (!tier->all_hooks)
		return NULL;
	memcpy(tier->all_hooks, tier->hooks, tier->hook_count * sizeof(*functions));
	if (function_count)
		memcpy(tier->all_hooks + tier->hook_count, functions,
		       function_count * sizeof(*functions));
	*count = tier->hook_count + function_count;
	return tier->all_hooks;
}

__u64 tier_queued(const struct tier *tier, unsigned int record)
{
	const struct slot *slots = (const struct slot *)tier->bpf->bss->slots;
	size_t i, count = kernel_object_slots(tier->bpf);
	__u64 packets = 0;

	for (i = 0; i < count; i++)
		if ((slots[i].state == SLOT_OFFERED || slots[i].state == SLOT_QUEUED) &&
		    (slots[i].offered & 0xffff) == record)
			packets += slots[i].handed_out & 0xffff;
	return packets;
}

static bool nests_often(const char *name)
{
	return !strcmp(name, "kfree_skb") || !strcmp(name, "consume_skb") ||
	       !strcmp(name, "tcp_probe");
}

void tier_losses(const struct tier *tier, struct tracer_losses *losses)
{
	const struct loss_counters *own = (const void *)&tier->bpf->bss->losses;
	size_t i;

	losses->ring_full += own->ring_full;
	losses->slot_overwrites += own->slot_overwrites;
	losses->records_full += own->records_full;
	losses->stale += own->stale;
	losses->tcp_flows_full += own->tcp_flows_full;
	losses->calls_lost += own->calls_lost;
	losses->qdiscs_unlisted += own->walk_cut + tier->walk_failed;
	for (i = 0; i < tier->hook_count; i++)
		if (!nests_often(tier->hooks[i].name))
			losses->recursion_misses +=
				runs_skipped(program_of_hook(tier, tier->hooks[i].name));
	if (tier->qdisc_hooks) {
		losses->recursion_misses += qdisc_hooks_skipped(tier->qdisc_hooks);
		losses->functions_unhooked += qdisc_hooks_failed(tier->qdisc_hooks);
	}
}
