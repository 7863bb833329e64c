// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "child.h"
#include "doctor.h"
#include "error.h"
#include "iperf3.h"
#include "ping.h"
#include "tracer.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define PROGRAM_NAME	"sojourn_doctor"	/* at most 15 bytes: include/uapi/linux/bpf.h, BPF_OBJ_NAME_LEN */
#define BTF_FILE	"/sys/kernel/btf/vmlinux"
#define KPROBE_TYPE	"/sys/bus/event_source/devices/kprobe/type"
#define PROBE_PAYLOAD	56

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif
#ifndef CAP_BPF
#define CAP_BPF		39
#endif

/* Every packet passes it (net/core/dev.c); it is never inlined, as it is exported. */
#define SAMPLE_FUNCTION	"dev_hard_start_xmit"

static const struct {
	const char *name;
	const char *purpose;
} tracepoints[DOCTOR_TRACEPOINTS] = {
	{ "net_dev_queue", "packets offered" },
	{ "qdisc_enqueue", "packets that wait" },
	{ "qdisc_dequeue", "packets handed out" },
	{ "net_dev_start_xmit", "packets given to the driver" },
	{ "kfree_skb", "drops" },
	{ "consume_skb", "packets consumed in a qdisc" },
	{ "qdisc_reset", "qdiscs that are emptied" },
	{ "qdisc_destroy", "qdiscs that go" },
	{ "netif_receive_skb", "way of the probes" },
	{ "tcp_probe", "state of TCP connections" },
	{ "tcp_retransmit_skb", "retransmits" },
};

static void check_init(struct doctor_check *check, const char *name, const char *how,
		       const char *purpose)
{
	*check = (struct doctor_check){ .name = name, .how = how, .purpose = purpose };
}

static void __attribute__((format(printf, 2, 3)))
fails(struct doctor_check *check, const char *format, ...)
{
	va_list arguments;

	check->works = false;
	va_start(arguments, format);
	vsnprintf(check->why, sizeof(check->why), format, arguments);
	va_end(arguments);
}

/* First line of a file, without its newline; "" where it cannot be read. */
static void read_line(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");

	text[0] = '\0';
	if (!file)
		return;
	if (fgets(text, size, file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

static void examine_kernel(struct doctor *doctor)
{
	char modes[128], *begin, *end;
	struct utsname name;

	if (!uname(&name)) {
		snprintf(doctor->kernel, sizeof(doctor->kernel), "%s", name.release);
		snprintf(doctor->machine, sizeof(doctor->machine), "%.63s", name.machine);
	}
	/* "none [integrity] confidentiality": the brackets mark the mode (security/lockdown/lockdown.c). */
	read_line("/sys/kernel/security/lockdown", modes, sizeof(modes));
	begin = strchr(modes, '[');
	end = begin ? strchr(begin, ']') : NULL;
	if (end)
		snprintf(doctor->lockdown, sizeof(doctor->lockdown), "%.*s",
			 (int)(end - begin - 1), begin + 1);
	read_line("/proc/sys/net/ipv4/tcp_available_congestion_control", doctor->congestion,
		  sizeof(doctor->congestion));
}

/* Effective capabilities (fs/proc/array.c, task_cap); 0 where they cannot be read. */
static unsigned long long effective_capabilities(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long capabilities = 0;
	char line[256];

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			break;
	}
	fclose(file);
	return capabilities;
}

void doctor_examine_privileges(struct doctor_check *check)
{
	static const struct {
		int bit;
		const char *name;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_NET_ADMIN, "CAP_NET_ADMIN" },
		{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
	};
	unsigned long long have = effective_capabilities();
	char missing[128] = "";

	check_init(check, "privileges", "", "BPF programs and network namespaces");
	for (size_t i = 0; i < COUNT(wanted); i++) {
		size_t used = strlen(missing);

		if (!(have >> wanted[i].bit & 1))
			snprintf(missing + used, sizeof(missing) - used, "%s%s", used ? ", " : "",
				 wanted[i].name);
	}
	check->works = !missing[0];
	if (missing[0])
		fails(check, geteuid() ? "not root: %s missing; run it with sudo" :
			      "%s missing, though it is root: run it outside of the container", missing);
}

static void examine_bpf(struct doctor_check *check)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, PROGRAM_NAME, 4, 8, 1, NULL);

	check_init(check, "bpf(2)", "", "programs and maps in the kernel");
	check->works = fd >= 0;
	if (fd >= 0)
		close(fd);
	else if (errno == EPERM || errno == EACCES)
		fails(check, "no permission (%s)", strerror(errno));
	else
		fails(check, "%s: a kernel with CONFIG_BPF_SYSCALL is needed", strerror(errno));
}

static struct btf *examine_btf(struct doctor_check *check)
{
	struct btf *btf;

	check_init(check, "BTF", "", "types and tracepoints of the running kernel");
	if (access(BTF_FILE, R_OK)) {
		fails(check, "%s cannot be read (%s): a kernel with CONFIG_DEBUG_INFO_BTF is needed",
		      BTF_FILE, strerror(errno));
		return NULL;
	}
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		fails(check, "%s cannot be understood (%s)", BTF_FILE, strerror(errno));
		return NULL;
	}
	check->works = true;
	return btf;
}

/*
 * Load a program that does nothing for one target of the kernel's BTF and attach
 * it for a moment; both descriptors are closed again, which takes it away.
 */
static void try_tracing(struct doctor_check *check, enum bpf_attach_type type, int btf_id)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = type,
		    .attach_btf_id = btf_id);
	int program, link;

	program = bpf_prog_load(BPF_PROG_TYPE_TRACING, PROGRAM_NAME, "GPL", nothing,
				COUNT(nothing), &options);
	if (program < 0) {
		fails(check, "the kernel does not load a program for it (%s)", strerror(errno));
		return;
	}
	link = bpf_raw_tracepoint_open(NULL, program);
	if (link < 0)
		fails(check, "the kernel does not attach a program to it (%s)", strerror(errno));
	else
		close(link);
	check->works = link >= 0;
	close(program);
}

/* What failed before says it better than what a hook would say. */
static bool blocked(const struct doctor *doctor, const struct btf *btf, struct doctor_check *check)
{
	if (!doctor->privileges.works)
		fails(check, "not tried: %s", "privileges are missing");
	else if (!doctor->bpf.works)
		fails(check, "not tried: %s", "bpf(2) does not work");
	else if (!btf)
		fails(check, "not tried: %s", "no BTF");
	else
		return false;
	return true;
}

static void examine_tracepoint(const struct doctor *doctor, const struct btf *btf,
			       struct doctor_check *check)
{
	char type[64];
	int id;

	if (blocked(doctor, btf, check))
		return;
	/* include/trace/bpf_probe.h: a typedef of that name for every tracepoint. */
	snprintf(type, sizeof(type), "btf_trace_%s", check->name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		fails(check, "this kernel has no such tracepoint");
	else
		try_tracing(check, BPF_TRACE_RAW_TP, id);
}

static void examine_fentry(const struct doctor *doctor, const struct btf *btf,
			   struct doctor_check *check)
{
	int id;

	check_init(check, "functions", "fentry", "child qdiscs");
	if (blocked(doctor, btf, check))
		return;
	id = btf__find_by_name_kind(btf, SAMPLE_FUNCTION, BTF_KIND_FUNC);
	if (id < 0)
		fails(check, "the kernel's BTF has no function %s to try", SAMPLE_FUNCTION);
	else
		try_tracing(check, BPF_TRACE_FENTRY, id);
}

/* A kprobe of the perf PMU (kernel/events/core.c, perf_kprobe) goes with its descriptor. */
static void examine_kprobe(const struct doctor *doctor, struct doctor_check *check)
{
	struct perf_event_attr attribute = { .size = sizeof(attribute) };
	char type[32];
	int fd;

	check_init(check, "functions", "kprobe", "child qdiscs where fentry is not allowed");
	if (!doctor->privileges.works) {
		fails(check, "not tried: privileges are missing");
		return;
	}
	read_line(KPROBE_TYPE, type, sizeof(type));
	if (!type[0]) {
		fails(check, "this kernel has no kprobes (no %s)", KPROBE_TYPE);
		return;
	}
	attribute.type = atoi(type);
	attribute.kprobe_func = (unsigned long)SAMPLE_FUNCTION;
	fd = syscall(SYS_perf_event_open, &attribute, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	check->works = fd >= 0;
	if (fd >= 0)
		close(fd);
	else
		fails(check, "the kernel does not take a kprobe on %s (%s)", SAMPLE_FUNCTION,
		      strerror(errno));
}

static void examine_tier(const struct doctor *doctor, const struct btf *btf,
			 struct doctor_check *check)
{
	const struct tracer_options options = {
		.probes = true, .probe_payload = PROBE_PAYLOAD, .tcp = true
	};
	struct error error = { 0 };
	struct tracer *tracer;

	check_init(check, "tracepoints tier", "tp_btf", "the tracer's own programs");
	if (blocked(doctor, btf, check))
		return;
	tracer = tracer_open(&options, &error);
	check->works = tracer != NULL;
	if (tracer)
		tracer_close(tracer);
	else
		fails(check, "%s", error.text);
}

static void examine_program(struct doctor_program *program, const char *name,
			    int (*version)(const char *path, char *text, size_t size,
					   struct error *error))
{
	struct error error = { 0 };

	*program = (struct doctor_program){ .name = name };
	program->works =
		!child_find_program(name, program->path, sizeof(program->path), &error) &&
		!version(program->path, program->version, sizeof(program->version), &error);
	if (!program->works)
		snprintf(program->why, sizeof(program->why), "%.*s", DOCTOR_WHY - 1, error.text);
}

static int silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level;
	(void)format;
	(void)arguments;
	return 0;
}

void doctor_examine(struct doctor *doctor)
{
	struct btf *btf;

	*doctor = (struct doctor){ 0 };
	libbpf_set_print(silent);
	examine_kernel(doctor);
	doctor_examine_privileges(&doctor->privileges);
	examine_bpf(&doctor->bpf);
	btf = examine_btf(&doctor->btf);
	for (size_t i = 0; i < DOCTOR_TRACEPOINTS; i++) {
		check_init(&doctor->tracepoints[i], tracepoints[i].name, "tp_btf",
			   tracepoints[i].purpose);
		examine_tracepoint(doctor, btf, &doctor->tracepoints[i]);
	}
	examine_fentry(doctor, btf, &doctor->fentry);
	examine_kprobe(doctor, &doctor->kprobe);
	examine_tier(doctor, btf, &doctor->tier);
	btf__free(btf);
	examine_program(&doctor->iperf3, "iperf3", iperf3_version);
	examine_program(&doctor->ping, "ping", ping_version);
}

bool doctor_can_trace(const struct doctor *doctor)
{
	for (size_t i = 0; i < DOCTOR_TRACEPOINTS; i++) {
		if (!doctor->tracepoints[i].works)
			return false;
	}
	return doctor->tier.works;
}
