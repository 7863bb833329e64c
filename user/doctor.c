// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capabilities.h"
#include "child.h"
#include "doctor.h"
#include "error.h"
#include "function_hook.h"
#include "iperf3.h"
#include "kernel_object.h"
#include "ping.h"
#include "tc.h"
#include "tracer.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define PROGRAM_NAME	"sojourn_doctor"	/* at most 15 bytes: BPF_OBJ_NAME_LEN */
#define BTF_FILE	"/sys/kernel/btf/vmlinux"
#define PROBE_PAYLOAD	56

static const struct {
	const char *name;
	const char *purpose;
	const char *stand_in;	/* NULL: nothing can be traced without it */
} tracepoints[DOCTOR_TRACEPOINTS] = {
	{ "net_dev_queue", "packets offered", NULL },
	{ "qdisc_enqueue", "packets that wait",
	  "net_dev_queue stands in for it, or the qdiscs' own functions" },
	{ "qdisc_dequeue", "packets handed out", NULL },
	{ "net_dev_start_xmit", "packets given to the driver", NULL },
	{ "kfree_skb", "drops", NULL },
	{ "consume_skb", "packets consumed in a qdisc", NULL },
	{ "qdisc_reset", "qdiscs that are emptied", NULL },
	{ "qdisc_create", "qdiscs that are made",
	  "only qdiscs that are there at the begin are hooked" },
	{ "qdisc_destroy", "qdiscs that go", NULL },
	{ "netif_receive_skb", "way of the probes", NULL },
	{ "tcp_probe", "state of TCP connections", NULL },
	{ "tcp_retransmit_skb", "retransmits", NULL },
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
	/* "none [integrity] confidentiality": the mode in brackets (security/lockdown/lockdown.c). */
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
 * Load a program that does nothing for a tracepoint and attach it for a moment; both
 * descriptors are closed again, which takes it away.
 */
static void try_tracing(struct doctor_check *check, int btf_id)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_RAW_TP,
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
	int id;

	if (blocked(doctor, btf, check))
		return;
	id = kernel_object_tracepoint(btf, check->name);
	if (id < 0)
		fails(check, "this kernel has no such tracepoint%s%s",
		      check->stand_in ? ": " : "", check->stand_in ? check->stand_in : "");
	else
		try_tracing(check, id);
}

/* What may be behind a refusal that the kernel does not explain; "" where nothing is known. */
static const char *lockdown_note(const struct doctor *doctor)
{
	return strcmp(doctor->lockdown, "confidentiality") ? "" :
	       "; lockdown is confidentiality, which forbids it: boot with lockdown=integrity or without";
}

static void examine_functions(const struct doctor *doctor, const struct btf *btf,
			      struct function_hooks *hooks, enum hook_way way,
			      struct doctor_check *check)
{
	struct error error = { 0 };

	if (way == HOOK_FENTRY)
		check_init(check, "functions", "fentry", "qdiscs' own functions");
	else
		check_init(check, "functions", "kprobe", "the same where fentry cannot be");
	if (blocked(doctor, btf, check))
		return;
	if (!hooks)
		fails(check, "not tried: out of memory");
	else if (function_hook_try(hooks, way, &error))
		fails(check, "%s%s", error.text, lockdown_note(doctor));
	else
		check->works = true;
}

/*
 * In confidentiality BPF programs cannot read the kernel's memory
 * (include/linux/security.h, LOCKDOWN_BPF_READ_KERNEL), which libbpf tells as a
 * program that is not taken.
 */
static void examine_tier(const struct doctor *doctor, const struct btf *btf, enum tracer_tier tier,
			 struct doctor_check *check)
{
	const struct tracer_options options = {
		.tier = tier,
		.probes = true,
		.probe_payload = PROBE_PAYLOAD,
		.tcp = true,
	};
	struct error error = { 0 };
	struct tracer *tracer;

	if (blocked(doctor, btf, check))
		return;
	tracer = tracer_open(&options, &error);
	check->works = tracer != NULL;
	if (tracer)
		tracer_close(tracer);
	else
		fails(check, "%s%s", error.text, lockdown_note(doctor));
}

/* Only kernels built with BTF of modules have the type (kernel/bpf/btf.c). */
static bool has_module_btf(const struct btf *btf)
{
	return btf && btf__find_by_name_kind(btf, "btf_module", BTF_KIND_STRUCT) > 0;
}

static void examine_functions_tier(const struct doctor *doctor, const struct btf *btf,
				   struct doctor_check *check)
{
	const char *purpose = "every qdisc of the tree";

	if (doctor->fentry.works && !has_module_btf(btf) && doctor->kprobe.works)
		purpose = "every qdisc of the tree; by kprobe those in modules, of which the kernel has no BTF";
	else if (doctor->fentry.works && !has_module_btf(btf))
		purpose = "qdiscs built into the kernel: it has no BTF of modules, and no kprobes";
	check_init(check, "functions", doctor->fentry.works ? "fentry" : "kprobe", purpose);
	if (!blocked(doctor, btf, check) && !doctor->fentry.works && !doctor->kprobe.works) {
		check->how = "";
		fails(check, "fentry: %.220s; kprobe: %.220s; a kernel that allows either is needed",
		      doctor->fentry.why, doctor->kprobe.why);
		return;
	}
	examine_tier(doctor, btf, TIER_FUNCTIONS, check);
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
	struct function_hooks *hooks;
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
		doctor->tracepoints[i].stand_in = tracepoints[i].stand_in;
		examine_tracepoint(doctor, btf, &doctor->tracepoints[i]);
	}
	hooks = function_hooks_open();
	examine_functions(doctor, btf, hooks, HOOK_FENTRY, &doctor->fentry);
	examine_functions(doctor, btf, hooks, HOOK_KPROBE, &doctor->kprobe);
	function_hooks_close(hooks);
	examine_functions_tier(doctor, btf, &doctor->functions);
	check_init(&doctor->tracepoints_tier, "tracepoints", "tp_btf", "root qdiscs");
	examine_tier(doctor, btf, TIER_TRACEPOINTS, &doctor->tracepoints_tier);
	btf__free(btf);
	examine_program(&doctor->iperf3, "iperf3", iperf3_version);
	examine_program(&doctor->ping, "ping", ping_version);
	examine_program(&doctor->tc, "tc", tc_version);
}

bool doctor_can_trace(const struct doctor *doctor)
{
	for (size_t i = 0; i < DOCTOR_TRACEPOINTS; i++) {
		if (!doctor->tracepoints[i].works && !doctor->tracepoints[i].stand_in)
			return false;
	}
	return doctor->functions.works || doctor->tracepoints_tier.works;
}
