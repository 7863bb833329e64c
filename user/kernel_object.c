// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_object.h"
#include "sojourn/tables.h"
#include "sojourn.skel.h"
#include "sojourn_old.skel.h"

/*
 * Both objects come of one source; the skeleton of one serves the other. Only the
 * table of slots differs in size, and lies last.
 */
_Static_assert(offsetof(struct sojourn_bpf__bss, slots) ==
	       offsetof(struct sojourn_old_bpf__bss, slots),
	       "the two BPF objects differ in their global data");
_Static_assert(sizeof(struct sojourn_bpf__bss) - offsetof(struct sojourn_bpf__bss, slots) ==
	       sizeof(((struct sojourn_bpf__bss *)NULL)->slots),
	       "the table of slots is not the last of the global data");
_Static_assert(sizeof(struct sojourn_bpf__rodata) == sizeof(struct sojourn_old_bpf__rodata),
	       "the two BPF objects differ in their options");

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

static int describe_failure(struct error *error, int reason)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return error_set(error, EXIT_CANNOT,
				 "the kernel's BTF (/sys/kernel/btf/vmlinux) cannot be read: a kernel with CONFIG_DEBUG_INFO_BTF is needed; `sojourn doctor` shows what works");
	if (reason == -EPERM || reason == -EACCES)
		return error_set(error, EXIT_CANNOT,
				 "no permission to load BPF programs: run as root, or with CAP_BPF and CAP_PERFMON, and CAP_SYS_ADMIN where libbpf is older than 1.3 (%s)",
				 libbpf_words[0] ? libbpf_words : strerror(-reason));
	return error_set(error, EXIT_CANNOT,
			 "the kernel does not take the BPF programs: %s (%s); `sojourn doctor` shows which hooks it has",
			 strerror(-reason), libbpf_words[0] ? libbpf_words : "no details");
}

static bool has_loops(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop, NULL) == 1;
}

static struct sojourn_bpf *open_object(bool old)
{
	struct sojourn_bpf *bpf = calloc(1, sizeof(*bpf));
	size_t size;

	if (!bpf)
		return NULL;
	if (sojourn_bpf__create_skeleton(bpf))
		goto fail;
	if (old) {
		bpf->skeleton->data = (void *)sojourn_old_bpf__elf_bytes(&size);
		bpf->skeleton->data_sz = size;
	}
	if (bpf_object__open_skeleton(bpf->skeleton, NULL))
		goto fail;
	return bpf;
fail:
	sojourn_bpf__destroy(bpf);
	return NULL;
}

int kernel_object_tracepoint(const struct btf *types, const char *name)
{
	char type[80];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf__find_by_name_kind(types, type, BTF_KIND_TYPEDEF);
}

static bool has_tracepoint(const struct btf *types, const char *name)
{
	return kernel_object_tracepoint(types, name) >= 0;
}

static void choose_programs(struct sojourn_bpf *bpf, const struct btf *types)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->obj) {
		const char *section = bpf_program__section_name(program);

		if (!strncmp(section, "tp_btf/", 7) ? !has_tracepoint(types, section + 7) :
						       program != bpf->progs.walk_qdiscs)
			bpf_program__set_autoload(program, false);
	}
	bpf->rodata->enqueue_is_told = has_tracepoint(types, "qdisc_enqueue");
}

struct sojourn_bpf *kernel_object_open(struct error *error)
{
	struct btf *types = NULL;
	struct sojourn_bpf *bpf;
	bool old;

	libbpf_set_print(keep_libbpf_words);
	old = !has_loops();
	libbpf_words[0] = '\0';		/* of the trial */
	bpf = open_object(old);
	if (bpf)
		types = btf__load_vmlinux_btf();
	if (!types) {
		describe_failure(error, -errno);
		sojourn_bpf__destroy(bpf);
		return NULL;
	}
	choose_programs(bpf, types);
	btf__free(types);
	return bpf;
}

int kernel_object_load(struct sojourn_bpf *bpf, struct error *error)
{
	int failed;

	libbpf_words[0] = '\0';
	failed = bpf_object__load_skeleton(bpf->skeleton);
#ifdef __GLIBC__
	/* what libbpf needed the kernel's types for is free by now: tens of MB, of use to others */
	malloc_trim(0);
#endif
	return failed ? describe_failure(error, failed) : 0;
}

size_t kernel_object_slots(const struct sojourn_bpf *bpf)
{
	return (bpf_map__value_size(bpf->maps.bss) - offsetof(struct sojourn_bpf__bss, slots)) /
	       sizeof(struct slot);
}
