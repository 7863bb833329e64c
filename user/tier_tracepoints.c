// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sojourn/tables.h"
#include "sojourn.skel.h"
#include "tier.h"

#define HOOKS_MAX	16

/* Link header, VLAN tag: an echo's skb is longer than its IP packet by at most that much. */
#define LINK_HEADERS	(14 + 8)
#define IPV4_ICMP	(20 + 8)
#define IPV6_ICMP	(40 + 8)

struct tier {
	struct sojourn_bpf *bpf;
	struct bpf_link *links[HOOKS_MAX];
	struct tracer_hook hooks[HOOKS_MAX];
	size_t hook_count;
	void *records, *banks;
	size_t records_size, banks_size;
	unsigned int max_qdiscs;
};

/* libbpf's own words on a failure, kept for the error line. */
static char libbpf_words[256];

static int keep_libbpf_words(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *newline;

	if (level != LIBBPF_WARN || libbpf_words[0])
		return 0;
	vsnprintf(libbpf_words, sizeof(libbpf_words), format, arguments);
	newline = strchr(libbpf_words, '\n');
	if (newline)
		*newline = '\0';
	return 0;
}

static int describe_load_failure(struct error *error, int reason)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return error_set(error, EXIT_CANNOT,
				 "the kernel's BTF (/sys/kernel/btf/vmlinux) cannot be read: a kernel with CONFIG_DEBUG_INFO_BTF is needed; `sojourn doctor` shows what works");
	if (reason == -EPERM || reason == -EACCES)
		return error_set(error, EXIT_CANNOT,
				 "no permission to load BPF programs: run as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN (%s)",
				 libbpf_words[0] ? libbpf_words : strerror(-reason));
	return error_set(error, EXIT_CANNOT,
			 "the kernel does not take the BPF programs: %s (%s); `sojourn doctor` shows which hooks it has",
			 strerror(-reason), libbpf_words[0] ? libbpf_words : "no details");
}

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
	bpf_program__set_autoload(bpf->progs.on_netif_receive_skb, options->probes);
	bpf_program__set_autoload(bpf->progs.on_tcp_probe, options->tcp);
	bpf_program__set_autoload(bpf->progs.on_tcp_retransmit_skb, options->tcp);
}

static int size_maps(struct sojourn_bpf *bpf, unsigned int max_qdiscs)
{
	int failed;

	failed = bpf_map__set_max_entries(bpf->maps.qdisc_records, max_qdiscs);
	if (!failed)
		failed = bpf_map__set_max_entries(bpf->maps.free_records, max_qdiscs);
	if (!failed)
		failed = bpf_map__set_max_entries(bpf->maps.qdisc_banks, max_qdiscs * QDISC_BANKS);
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

static int fill_maps(struct tier *tier, const struct tracer_options *options, struct error *error)
{
	const __u32 *probe_netns = options->netns;
	size_t probe_netns_count = options->netns_count;
	__u32 i;

	for (i = 0; i < tier->max_qdiscs; i++)
		if (bpf_map_update_elem(bpf_map__fd(tier->bpf->maps.free_records), NULL, &i,
					BPF_ANY))
			return error_set_errno(error, EXIT_CANNOT, "cannot fill a BPF map");
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
		const char *name = strchr(section, '/');
		struct tracer_hook *hook;

		if (tier->hook_count == HOOKS_MAX || !name || !bpf_program__autoload(program))
			continue;
		hook = &tier->hooks[tier->hook_count++];
		snprintf(hook->name, sizeof(hook->name), "%s", name + 1);
		snprintf(hook->how, sizeof(hook->how), "tp_btf");
		snprintf(hook->why, sizeof(hook->why), "not attached yet");
	}
}

static void tracepoints_close(struct tier *tier)
{
	size_t i;

	if (!tier)
		return;
	for (i = 0; i < HOOKS_MAX; i++)
		bpf_link__destroy(tier->links[i]);
	if (tier->records)
		munmap(tier->records, tier->records_size);
	if (tier->banks)
		munmap(tier->banks, tier->banks_size);
	sojourn_bpf__destroy(tier->bpf);
	free(tier);
}

static struct tier *tracepoints_open(const struct tracer_options *options, struct tier_view *view,
				     struct error *error)
{
	struct tier *tier = calloc(1, sizeof(*tier));
	int failed;

	if (!tier) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	libbpf_words[0] = '\0';
	libbpf_set_print(keep_libbpf_words);
	tier->max_qdiscs = options->max_qdiscs;
	tier->bpf = sojourn_bpf__open();
	if (!tier->bpf) {
		describe_load_failure(error, -errno);
		goto fail;
	}
	set_options(tier->bpf, options);
	failed = size_maps(tier->bpf, tier->max_qdiscs);
	if (!failed)
		failed = sojourn_bpf__load(tier->bpf);
	if (failed) {
		describe_load_failure(error, failed);
		goto fail;
	}
	tier->records = map_array(tier->bpf->maps.qdisc_records, &tier->records_size);
	tier->banks = map_array(tier->bpf->maps.qdisc_banks, &tier->banks_size);
	if (!tier->records || !tier->banks) {
		error_set_errno(error, EXIT_CANNOT, "cannot map the tracer's tables");
		goto fail;
	}
	if (fill_maps(tier, options, error))
		goto fail;
	list_hooks(tier);
	view->slice = &tier->bpf->bss->slice;
	view->records = tier->records;
	view->banks = tier->banks;
	view->max_qdiscs = tier->max_qdiscs;
	view->events_fd = bpf_map__fd(tier->bpf->maps.events);
	return tier;
fail:
	tracepoints_close(tier);
	return NULL;
}

static void tracepoints_detach(struct tier *tier)
{
	size_t i;

	for (i = 0; i < tier->hook_count; i++) {
		bpf_link__destroy(tier->links[i]);
		tier->links[i] = NULL;
	}
}

/*
 * The hooks that end a packet's wait come first, those that begin it last: no
 * packet may be offered whose end is not heard of.
 */
static const char *const attach_order[] = {
	"qdisc_destroy", "qdisc_reset", "kfree_skb", "consume_skb", "netif_receive_skb", "net_dev_start_xmit",
	"qdisc_dequeue", "qdisc_enqueue", "tcp_probe", "tcp_retransmit_skb", "net_dev_queue",
};

static struct bpf_program *program_of_hook(const struct tier *tier, const char *name)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, tier->bpf->obj) {
		const char *hook = strchr(bpf_program__section_name(program), '/');

		if (hook && !strcmp(hook + 1, name))
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

static int tracepoints_attach(struct tier *tier, struct error *error)
{
	size_t i;

	for (i = 0; i < sizeof(attach_order) / sizeof(attach_order[0]); i++) {
		struct tracer_hook *hook = find_hook(tier, attach_order[i]);

		if (!hook)
			continue;
		tier->links[i] = bpf_program__attach(program_of_hook(tier, attach_order[i]));
		if (!tier->links[i]) {
			snprintf(hook->why, sizeof(hook->why), "%s", strerror(errno));
			error_set_errno(error, EXIT_CANNOT,
					"cannot attach to the tracepoint %s; `sojourn doctor` shows which hooks this kernel has",
					hook->name);
			tracepoints_detach(tier);
			return -1;
		}
		hook->attached = true;
		hook->why[0] = '\0';
	}
	return 0;
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

static const struct tracer_hook *tracepoints_hooks(struct tier *tier, size_t *count)
{
	size_t i;

	for (i = 0; i < tier->hook_count; i++)
		tier->hooks[i].skipped =
			runs_skipped(program_of_hook(tier, tier->hooks[i].name));
	*count = tier->hook_count;
	return tier->hooks;
}

static __u64 tracepoints_queued(const struct tier *tier, unsigned int record)
{
	const struct slot *slots = (const struct slot *)tier->bpf->bss->slots;
	__u64 packets = 0;
	__u32 i;

	for (i = 0; i < SLOTS; i++)
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

static void tracepoints_losses(const struct tier *tier, struct tracer_losses *losses)
{
	const struct loss_counters *own = (const void *)&tier->bpf->bss->losses;
	size_t i;

	losses->ring_full += own->ring_full;
	losses->slot_overwrites += own->slot_overwrites;
	losses->records_full += own->records_full;
	losses->stale += own->stale;
	losses->tcp_flows_full += own->tcp_flows_full;
	for (i = 0; i < tier->hook_count; i++)
		if (!nests_often(tier->hooks[i].name))
			losses->recursion_misses +=
				runs_skipped(program_of_hook(tier, tier->hooks[i].name));
}

const struct tier_operations tier_tracepoints = {
	.name = "tracepoints",
	.open = tracepoints_open,
	.attach = tracepoints_attach,
	.detach = tracepoints_detach,
	.hooks = tracepoints_hooks,
	.queued = tracepoints_queued,
	.losses = tracepoints_losses,
	.close = tracepoints_close,
};
