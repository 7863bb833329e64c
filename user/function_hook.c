// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "function_hook.h"
#include "kallsyms.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define KPROBE_PMU	"/sys/bus/event_source/devices/kprobe/"

/* net/sched/sch_generic.c; no packet passes it but that of a device without a qdisc. */
#define TRIAL_FUNCTION	"noop_enqueue"

/* include/linux/errno.h; the C library does not know it. */
#define ENOTSUPP	524

struct function_hooks {
	struct kallsyms *symbols;	/* NULL: not read yet, or cannot be read */
	struct error no_symbols;	/* why; no text: not tried yet */
	struct btf *types;		/* of the kernel itself; NULL as above */
	struct error no_types;
};

struct function_hook {
	char name[64];
	const char *how;
	int program;			/* descriptors, -1: none */
	int event;
	int link;
};

/* A program to load an instance of. */
struct pattern {
	const char *name;
	enum bpf_prog_type type;
	const struct bpf_insn *instructions;
	size_t count;
	__u32 flags;
	int types;			/* descriptor of the object's BTF, -1: none */
	struct bpf_func_info *functions;	/* of each of its subprograms, owned; NULL: none */
	__u32 function_count;
};

/* A function in the kernel's BTF. */
struct target {
	int types;			/* descriptor of the module's BTF, 0: the kernel's own */
	int id;
};

/* A function as a kprobe finds it: by address, or by name where that is not known. */
struct place {
	__u64 address;
	const char *name;
};

static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

/*
 * What bpf_link_get_info tells of a kprobe since 6.7 (struct bpf_link_info in
 * include/uapi/linux/bpf.h); older headers end before it, older kernels leave it 0.
 */
struct probe_link_info {
	__u32 type;
	__u32 id;
	__u32 program_id;
	__u32 pad;
	__u32 event_type;
	__u32 event_pad;
	__u64 function_name;
	__u32 name_length;
	__u32 offset;
	__u64 address;
	__u64 missed;
	__u64 cookie;
};

static const char *reason(int number)
{
	return number == ENOTSUPP ? "this kernel does not support it" : strerror(number);
}

static const char *how(enum hook_way way, bool at_return)
{
	if (way == HOOK_FENTRY)
		return at_return ? "fexit" : "fentry";
	return at_return ? "kretprobe" : "kprobe";
}

struct function_hooks *function_hooks_open(void)
{
	return calloc(1, sizeof(struct function_hooks));
}

void function_hooks_close(struct function_hooks *hooks)
{
	if (!hooks)
		return;
	kallsyms_free(hooks->symbols);
	btf__free(hooks->types);
	free(hooks);
}

/* What cannot be read is not tried again: the reason does not go away. */
static const struct kallsyms *kernel_symbols(struct function_hooks *hooks, struct error *error)
{
	if (hooks->symbols && kallsyms_stale(hooks->symbols)) {
		kallsyms_free(hooks->symbols);
		hooks->symbols = NULL;
	}
	if (!hooks->symbols && !hooks->no_symbols.text[0])
		hooks->symbols = kallsyms_read(&hooks->no_symbols);
	if (!hooks->symbols)
		*error = hooks->no_symbols;
	return hooks->symbols;
}

static bool find_symbol(struct function_hooks *hooks, __u64 address,
			struct kallsyms_symbol *symbol, struct error *error)
{
	const struct kallsyms *symbols = kernel_symbols(hooks, error);

	if (!symbols)
		return false;
	if (kallsyms_find(symbols, address, symbol))
		return true;
	error_set(error, EXIT_CANNOT, "no function begins at 0x%llx",
		  (unsigned long long)address);
	return false;
}

static const struct btf *kernel_types(struct function_hooks *hooks, struct error *error)
{
	if (!hooks->types && !hooks->no_types.text[0]) {
		hooks->types = btf__load_vmlinux_btf();
		if (!hooks->types)
			error_set_errno(&hooks->no_types, EXIT_CANNOT,
					"the kernel's BTF cannot be read");
	}
	if (!hooks->types)
		*error = hooks->no_types;
	return hooks->types;
}

/* The BTF of a module: its id and a descriptor that the caller closes; -1 where it has none. */
static int open_module_types(const char *module, __u32 *id)
{
	for (*id = 0; !bpf_btf_get_next_id(*id, id);) {
		char name[64] = "";
		struct bpf_btf_info info = { .name = (unsigned long)name, .name_len = sizeof(name) };
		__u32 length = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(*id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &length) && info.kernel_btf &&
		    !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -1;
}

/* Only among a module's own types: btf__find_by_name_kind() would begin with the kernel's. */
static int find_own_function(const struct btf *types, __u32 first, const char *name)
{
	for (__u32 id = first; id < btf__type_cnt(types); id++) {
		const struct btf_type *type = btf__type_by_id(types, id);

		if (btf_is_func(type) && !strcmp(btf__name_by_offset(types, type->name_off), name))
			return id;
	}
	return -1;
}

static int find_in_module(struct btf *base, const struct kallsyms_symbol *symbol,
			  struct target *target, struct error *error)
{
	struct btf *types;
	__u32 id;

	target->types = open_module_types(symbol->module, &id);
	if (target->types < 0)
		return error_set(error, EXIT_CANNOT, "the kernel has no BTF of the module %s",
				 symbol->module);
	types = btf__load_from_kernel_by_id_split(id, base);
	target->id = types ? find_own_function(types, btf__type_cnt(base), symbol->name) : -1;
	btf__free(types);
	if (target->id > 0)
		return 0;
	close(target->types);
	return error_set(error, EXIT_CANNOT, "the module's BTF does not have %s", symbol->name);
}

/* Where the trampoline finds the function; target->types is the caller's to close. */
static int find_target(struct function_hooks *hooks, __u64 address, struct target *target,
		       struct error *error)
{
	struct kallsyms_symbol symbol;
	const struct btf *types;

	if (!find_symbol(hooks, address, &symbol, error))
		return -1;
	/* The kernel goes from BTF to the address by name (bpf_check_attach_target()). */
	if (!symbol.unique)
		return error_set(error, EXIT_CANNOT, "other functions are named %s too",
				 symbol.name);
	types = kernel_types(hooks, error);
	if (!types)
		return -1;
	if (symbol.module[0])
		return find_in_module(hooks->types, &symbol, target, error);
	target->types = 0;
	target->id = btf__find_by_name_kind(types, symbol.name, BTF_KIND_FUNC);
	if (target->id < 0)
		return error_set(error, EXIT_CANNOT, "the kernel's BTF does not have %s",
				 symbol.name);
	return 0;
}

/*
 * Where the subprograms begin, one byte for each instruction; that of the main
 * one is the first. callbacks: whether the address of one is taken.
 */
static __u8 *find_subprograms(const struct pattern *pattern, __u32 *count, bool *callbacks)
{
	__u8 *begins = calloc(pattern->count + 1, 1);

	*count = 1;
	*callbacks = false;
	if (!begins)
		return NULL;
	begins[0] = 1;
	for (size_t i = 0; i < pattern->count; i++) {
		const struct bpf_insn *at = &pattern->instructions[i];
		bool call = at->code == (BPF_JMP | BPF_CALL) && at->src_reg == BPF_PSEUDO_CALL;
		bool address = at->code == (BPF_LD | BPF_IMM | BPF_DW) &&
			       at->src_reg == BPF_PSEUDO_FUNC;
		size_t begin = i + at->imm + 1;

		if ((!call && !address) || begin >= pattern->count)
			continue;
		*callbacks |= address;
		*count += !begins[begin];
		begins[begin] = 1;
	}
	return begins;
}

/* A static function among those that the kernel knows of an object; 0 where there is none. */
static __u32 find_static(__u32 object_types, const struct bpf_func_info *functions, __u32 count)
{
	struct btf *types = btf__load_from_kernel_by_id(object_types);
	__u32 found = 0;

	for (__u32 i = 0; types && !found && i < count; i++) {
		const struct btf_type *type = btf__type_by_id(types, functions[i].type_id);

		if (type && btf_is_func(type) && btf_vlen(type) == BTF_FUNC_STATIC)
			found = functions[i].type_id;
	}
	btf__free(types);
	return found;
}

/* What the kernel knows of a loaded program's subprograms, owned by the caller; NULL: nothing. */
static struct bpf_func_info *read_functions(int fd, __u32 *object_types, __u32 *count)
{
	struct bpf_prog_info info = { 0 };
	struct bpf_func_info *functions;
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &length) || !info.nr_func_info)
		return NULL;
	*object_types = info.btf_id;
	*count = info.nr_func_info;
	functions = calloc(*count, sizeof(*functions));
	if (!functions)
		return NULL;
	info = (struct bpf_prog_info){
		.func_info = (unsigned long)functions,
		.func_info_rec_size = sizeof(*functions),
		.nr_func_info = *count,
	};
	if (!bpf_obj_get_info_by_fd(fd, &info, &length))
		return functions;
	free(functions);
	return NULL;
}

/*
 * The kernel has removed subprograms that are never called, and tells places as
 * they are after all of its rewriting (kernel/bpf/verifier.c, adjust_btf_func()). Where
 * one is missing nothing tells which; then any static function's type stands for
 * each but the main one, which makes the verifier follow every call.
 */
static int read_subprograms(struct pattern *pattern, const struct bpf_program *program,
			    __u32 count, const __u8 *begins)
{
	__u32 object_types, known, filler = 0, i = 0;
	struct bpf_func_info *functions;

	functions = read_functions(bpf_program__fd(program), &object_types, &known);
	if (!functions)
		return -1;
	if (known != count)
		filler = find_static(object_types, functions, known);
	pattern->types = bpf_btf_get_fd_by_id(object_types);
	pattern->functions = calloc(count, sizeof(*pattern->functions));
	pattern->function_count = count;
	if (pattern->types < 0 || !pattern->functions || (known != count && !filler)) {
		free(functions);
		return -1;
	}
	for (size_t at = 0; at < pattern->count; at++) {
		if (!begins[at])
			continue;
		pattern->functions[i].insn_off = at;
		pattern->functions[i].type_id = i && filler ? filler : functions[i].type_id;
		i++;
	}
	free(functions);
	return 0;
}

static void pattern_free(struct pattern *pattern)
{
	if (pattern->types >= 0)
		close(pattern->types);
	free(pattern->functions);
}

/*
 * The instructions that libbpf has relocated, with what the kernel knows of
 * their subprograms. The verifier asks for that where a subprogram's address is
 * taken (bpf_loop()), and checks global subprograms apart where it has it.
 */
static int pattern_of(const struct bpf_program *program, struct pattern *pattern,
		      struct error *error)
{
	bool callbacks;
	__u8 *begins;
	__u32 count;
	int failed;

	*pattern = (struct pattern){
		.name = bpf_program__name(program),
		.type = bpf_program__type(program),
		.instructions = bpf_program__insns(program),
		.count = bpf_program__insn_cnt(program),
		.flags = bpf_program__flags(program),
		.types = -1,
	};
	begins = find_subprograms(pattern, &count, &callbacks);
	if (!begins)
		return error_set(error, EXIT_CANNOT, "out of memory");
	failed = read_subprograms(pattern, program, count, begins);
	free(begins);
	if (!failed)
		return 0;
	pattern_free(pattern);
	pattern->functions = NULL;
	pattern->types = -1;
	if (callbacks)
		return error_set(error, EXIT_CANNOT,
				 "the kernel tells too little of the subprograms of %s",
				 pattern->name);
	return 0;
}

static int load_instance(const struct pattern *pattern, enum bpf_attach_type attach,
			 const struct target *target, struct error *error)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach,
		    .prog_flags = pattern->flags);
	int program;

	if (target) {
		options.attach_btf_id = target->id;
		options.attach_btf_obj_fd = target->types;
	}
	if (pattern->functions) {
		options.prog_btf_fd = pattern->types;
		options.func_info = pattern->functions;
		options.func_info_cnt = pattern->function_count;
		options.func_info_rec_size = sizeof(*pattern->functions);
	}
	program = bpf_prog_load(pattern->type, pattern->name, "GPL", pattern->instructions,
				pattern->count, &options);
	if (program < 0)
		error_set(error, EXIT_CANNOT, "the kernel refuses to load the program (%s)",
			  reason(errno));
	return program;
}

static void close_all(struct function_hook *hook)
{
	int *descriptors[] = { &hook->link, &hook->event, &hook->program };

	for (size_t i = 0; i < COUNT(descriptors); i++) {
		if (*descriptors[i] >= 0)
			close(*descriptors[i]);
		*descriptors[i] = -1;
	}
}

static int attach_trampoline(struct function_hook *hook, const struct pattern *pattern,
			     bool at_return, const struct target *target, struct error *error)
{
	enum bpf_attach_type attach = at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;

	hook->how = how(HOOK_FENTRY, at_return);
	hook->program = load_instance(pattern, attach, target, error);
	if (hook->program < 0)
		return -1;
	/* Attaches tracing programs too, on every kernel (kernel/bpf/syscall.c). */
	hook->link = bpf_raw_tracepoint_open(NULL, hook->program);
	if (hook->link >= 0)
		return 0;
	error_set(error, EXIT_CANNOT, "the kernel refuses to attach the program (%s)",
		  reason(errno));
	close_all(hook);
	return -1;
}

/* A small number in a file of sysfs after a prefix; -1 where it cannot be read. */
static int read_number(const char *path, const char *format)
{
	FILE *file = fopen(path, "re");
	int number = -1;

	if (!file)
		return -1;
	if (fscanf(file, format, &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* A kprobe of the perf PMU goes with its descriptor (kernel/events/core.c, perf_kprobe). */
static int open_probe(const struct place *place, bool at_return, struct error *error)
{
	struct perf_event_attr attribute = { .size = sizeof(attribute) };
	int type = read_number(KPROBE_PMU "type", "%d");
	int bit = read_number(KPROBE_PMU "format/retprobe", "config:%d");
	int fd;

	if (type < 0 || bit < 0 || bit > 63)
		return error_set(error, EXIT_CANNOT,
				 "the kernel has no kprobes (CONFIG_KPROBES or CONFIG_KPROBE_EVENTS is off)");
	attribute.type = type;
	attribute.config = at_return ? 1ULL << bit : 0;
	if (place->address)
		attribute.kprobe_addr = place->address;
	else
		attribute.kprobe_func = (unsigned long)place->name;
	fd = syscall(SYS_perf_event_open, &attribute, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		error_set(error, EXIT_CANNOT, "the kernel refuses a %s there (%s)",
			  how(HOOK_KPROBE, at_return), reason(errno));
	return fd;
}

static int attach_probe(struct function_hook *hook, const struct pattern *pattern, bool at_return,
			const struct place *place, struct error *error)
{
	hook->how = how(HOOK_KPROBE, at_return);
	hook->program = load_instance(pattern, 0, NULL, error);
	if (hook->program < 0)
		return -1;
	hook->event = open_probe(place, at_return, error);
	if (hook->event < 0)
		goto fail;
	/* A link tells of missed runs; before 5.15 there is none. */
	hook->link = bpf_link_create(hook->program, hook->event, BPF_PERF_EVENT, NULL);
	if (hook->link >= 0 || !ioctl(hook->event, PERF_EVENT_IOC_SET_BPF, hook->program))
		return 0;
	error_set(error, EXIT_CANNOT, "the kernel refuses to attach the program to the %s (%s)",
		  hook->how, reason(errno));
fail:
	close_all(hook);
	return -1;
}

static int attach_by_trampoline(struct function_hooks *hooks, struct function_hook *hook,
				const struct bpf_program *program, bool at_return, __u64 address,
				struct error *error)
{
	struct pattern pattern;
	struct target target;
	int failed;

	if (find_target(hooks, address, &target, error))
		return -1;
	failed = pattern_of(program, &pattern, error);
	if (!failed) {
		failed = attach_trampoline(hook, &pattern, at_return, &target, error);
		pattern_free(&pattern);
	}
	if (target.types > 0)
		close(target.types);
	return failed;
}

static int attach_by_probe(struct function_hook *hook, const struct bpf_program *program,
			   bool at_return, __u64 address, struct error *error)
{
	const struct place place = { .address = address };
	struct pattern pattern;
	int failed;

	if (pattern_of(program, &pattern, error))
		return -1;
	failed = attach_probe(hook, &pattern, at_return, &place, error);
	pattern_free(&pattern);
	return failed;
}

void function_hooks_name(struct function_hooks *hooks, __u64 address, char *name, size_t size)
{
	struct kallsyms_symbol symbol;
	struct error error;

	if (!find_symbol(hooks, address, &symbol, &error))
		snprintf(name, size, "0x%llx", (unsigned long long)address);
	else if (symbol.module[0])
		snprintf(name, size, "%s [%s]", symbol.name, symbol.module);
	else
		snprintf(name, size, "%s", symbol.name);
}

struct function_hook *function_hook_attach(struct function_hooks *hooks,
					   enum hook_way way, const struct bpf_program *program,
					   bool at_return, __u64 address, struct error *error)
{
	struct function_hook *hook = calloc(1, sizeof(*hook));
	struct error why;
	int failed;

	if (!hook) {
		error_set(error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	hook->program = hook->event = hook->link = -1;
	function_hooks_name(hooks, address, hook->name, sizeof(hook->name));
	if (way == HOOK_FENTRY)
		failed = attach_by_trampoline(hooks, hook, program, at_return, address, &why);
	else
		failed = attach_by_probe(hook, program, at_return, address, &why);
	if (!failed)
		return hook;
	error_set(error, EXIT_CANNOT,
		  "cannot trace the function %s: %s: %s; `sojourn doctor` shows what this kernel allows",
		  hook->name, how(way, at_return), why.text);
	free(hook);
	return NULL;
}

static int try_trampoline(struct function_hooks *hooks, struct function_hook *hook,
			  const struct pattern *pattern, bool at_return, struct error *error)
{
	struct target target = { 0 };
	const struct btf *types;

	/* Without names it would come to nothing: see find_target(). */
	if (!kernel_symbols(hooks, error))
		return -1;
	types = kernel_types(hooks, error);
	if (!types)
		return -1;
	target.id = btf__find_by_name_kind(types, TRIAL_FUNCTION, BTF_KIND_FUNC);
	if (target.id < 0)
		return error_set(error, EXIT_CANNOT, "the kernel's BTF does not have %s",
				 TRIAL_FUNCTION);
	return attach_trampoline(hook, pattern, at_return, &target, error);
}

static int try_once(struct function_hooks *hooks, enum hook_way way, bool at_return,
		    struct error *error)
{
	const struct place place = { .name = TRIAL_FUNCTION };
	const struct pattern pattern = {
		.name = "sojourn_trial",
		.type = way == HOOK_FENTRY ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_KPROBE,
		.instructions = nothing,
		.count = COUNT(nothing),
		.types = -1,
	};
	struct function_hook hook = { .program = -1, .event = -1, .link = -1 };
	int failed;

	if (way == HOOK_FENTRY)
		failed = try_trampoline(hooks, &hook, &pattern, at_return, error);
	else
		failed = attach_probe(&hook, &pattern, at_return, &place, error);
	close_all(&hook);
	return failed;
}

int function_hook_try(struct function_hooks *hooks, enum hook_way way, struct error *error)
{
	return try_once(hooks, way, false, error) || try_once(hooks, way, true, error) ? -1 : 0;
}

const char *function_hook_how(const struct function_hook *hook)
{
	return hook->how;
}

const char *function_hook_name(const struct function_hook *hook)
{
	return hook->name;
}

static void read_program(const struct function_hook *hook, struct bpf_prog_info *info)
{
	__u32 length = sizeof(*info);

	memset(info, 0, sizeof(*info));
	if (bpf_obj_get_info_by_fd(hook->program, info, &length))
		memset(info, 0, sizeof(*info));
}

__u64 function_hook_skipped(const struct function_hook *hook)
{
	struct probe_link_info link = { 0 };
	__u32 length = sizeof(link);
	struct bpf_prog_info program;

	read_program(hook, &program);
	if (hook->event < 0 || hook->link < 0 ||
	    bpf_obj_get_info_by_fd(hook->link, &link, &length))
		return program.recursion_misses;
	return program.recursion_misses + link.missed;
}

__u64 function_hook_runs(const struct function_hook *hook)
{
	struct bpf_prog_info program;

	read_program(hook, &program);
	return program.run_cnt;
}

void function_hook_detach(struct function_hook *hook)
{
	if (!hook)
		return;
	close_all(hook);
	free(hook);
}
