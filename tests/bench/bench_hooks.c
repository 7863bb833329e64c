// SPDX-License-Identifier: GPL-2.0
/*
 * Keep the programs of a comparison attached.
 *
 *   bench_hooks OBJECT            every program of the object, where its section says
 *   bench_hooks OBJECT HOOK...    at each of the hooks the first program of its type:
 *                                 tp_btf/NAME, fentry/NAME, fexit/NAME, kprobe/NAME,
 *                                 kretprobe/NAME
 *
 * Says "ready" on stderr and stays until its standard input ends; then prints
 * {"no_room":…,"unmatched":…}, zeros where the object counts nothing of that kind.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_counters.h"
#include "error.h"

struct comparison {
	struct bpf_object **objects;	/* one for each hook, or the one */
	size_t object_count;
	struct bpf_link **links;
	size_t link_count;
};

/* How a hook is written, and the program that goes there. */
static const struct how {
	const char *prefix;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;	/* of a tracing program */
	bool at_return;			/* of a probe */
} hows[] = {
	{ "tp_btf/", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, false },
	{ "fentry/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, false },
	{ "fexit/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, false },
	{ "kprobe/", BPF_PROG_TYPE_KPROBE, 0, false },
	{ "kretprobe/", BPF_PROG_TYPE_KPROBE, 0, true },
};

static int keep(struct comparison *comparison, struct bpf_link *link,
		const struct bpf_program *program, struct error *error)
{
	struct bpf_link **grown;

	if (!link)
		return error_set_errno(error, EXIT_CANNOT, "cannot attach the program %s",
				       bpf_program__name(program));
	grown = realloc(comparison->links, (comparison->link_count + 1) * sizeof(*grown));
	if (!grown) {
		bpf_link__destroy(link);
		return error_set(error, EXIT_CANNOT, "out of memory");
	}
	comparison->links = grown;
	grown[comparison->link_count++] = link;
	return 0;
}

static struct bpf_object *open_object(struct comparison *comparison, const char *path,
				      struct error *error)
{
	struct bpf_object *object = bpf_object__open(path);

	if (!object) {
		error_set_errno(error, EXIT_CANNOT, "cannot open %s", path);
		return NULL;
	}
	comparison->objects[comparison->object_count++] = object;
	return object;
}

/* The object's first program of that type; no other one is loaded. NULL: it has none. */
static struct bpf_program *only_program(struct bpf_object *object, enum bpf_prog_type type)
{
	struct bpf_program *program, *only = NULL;

	bpf_object__for_each_program(program, object) {
		if (!only && bpf_program__type(program) == type)
			only = program;
		bpf_program__set_autoload(program, program == only);
	}
	return only;
}

static int load_at(struct bpf_object *object, struct bpf_program *program, const struct how *how,
		   const char *name)
{
	if (how->type == BPF_PROG_TYPE_TRACING &&
	    (bpf_program__set_expected_attach_type(program, how->attach) ||
	     bpf_program__set_attach_target(program, 0, name)))
		return -1;
	return bpf_object__load(object);
}

/* One program has one target: each hook gets a copy of the object. */
static int attach_at(struct comparison *comparison, const char *path, const char *hook,
		     struct error *error)
{
	const size_t count = sizeof(hows) / sizeof(hows[0]);
	struct bpf_program *program;
	struct bpf_object *object;
	struct bpf_link *link;
	const char *name;
	size_t i;

	for (i = 0; i < count; i++)
		if (!strncmp(hook, hows[i].prefix, strlen(hows[i].prefix)))
			break;
	if (i == count)
		return error_set(error, EXIT_USAGE,
				 "'%s' is no hook: see the head of bench_hooks.c", hook);
	name = hook + strlen(hows[i].prefix);
	object = open_object(comparison, path, error);
	if (!object)
		return -1;
	program = only_program(object, hows[i].type);
	if (!program)
		return error_set(error, EXIT_USAGE, "%s has no program for %s", path, hook);
	if (load_at(object, program, &hows[i], name))
		return error_set_errno(error, EXIT_CANNOT, "cannot load a program for %s", hook);
	if (hows[i].type == BPF_PROG_TYPE_KPROBE)
		link = bpf_program__attach_kprobe(program, hows[i].at_return, name);
	else
		link = bpf_program__attach(program);
	return keep(comparison, link, program, error);
}

static int attach_all(struct comparison *comparison, const char *path, struct error *error)
{
	struct bpf_object *object = open_object(comparison, path, error);
	struct bpf_program *program;

	if (!object)
		return -1;
	if (bpf_object__load(object))
		return error_set_errno(error, EXIT_CANNOT, "cannot load %s", path);
	bpf_object__for_each_program(program, object)
		if (keep(comparison, bpf_program__attach(program), program, error))
			return -1;
	return 0;
}

/* The global data of an object is its map .bss; only the one that counts has it. */
static int read_counters(const struct comparison *comparison, struct bench_counters *counters,
			 struct error *error)
{
	const struct bpf_map *map;
	__u32 zero = 0;
	size_t i;

	memset(counters, 0, sizeof(*counters));
	for (i = 0; i < comparison->object_count; i++) {
		bpf_object__for_each_map(map, comparison->objects[i]) {
			if (!strstr(bpf_map__name(map), ".bss"))
				continue;
			if (bpf_map__value_size(map) != sizeof(*counters) ||
			    bpf_map_lookup_elem(bpf_map__fd(map), &zero, counters))
				return error_set(error, EXIT_CANNOT,
						 "global data that are no counters");
		}
	}
	return 0;
}

static int run(struct comparison *comparison, int argc, char *argv[], struct error *error)
{
	struct bench_counters counters;
	char nothing[16];
	int i;

	comparison->objects = calloc(argc, sizeof(*comparison->objects));
	if (!comparison->objects)
		return error_set_errno(error, EXIT_CANNOT, "memory");
	if (argc == 2 && attach_all(comparison, argv[1], error))
		return -1;
	for (i = 2; i < argc; i++)
		if (attach_at(comparison, argv[1], argv[i], error))
			return -1;
	fprintf(stderr, "ready\n");
	while (read(STDIN_FILENO, nothing, sizeof(nothing)) > 0)
		;
	if (read_counters(comparison, &counters, error))
		return -1;
	printf("{\"no_room\":%llu,\"unmatched\":%llu}\n", counters.no_room, counters.unmatched);
	return 0;
}

int main(int argc, char *argv[])
{
	struct comparison comparison = { 0 };
	struct error error = { 0 };
	int err;

	if (argc < 2) {
		fprintf(stderr, "bench_hooks: see the head of bench_hooks.c\n");
		return EXIT_USAGE;
	}
	err = run(&comparison, argc, argv, &error);
	if (err)
		fprintf(stderr, "bench_hooks: %s\n", error.text);
	while (comparison.link_count > 0)
		bpf_link__destroy(comparison.links[--comparison.link_count]);
	while (comparison.object_count > 0)
		bpf_object__close(comparison.objects[--comparison.object_count]);
	free(comparison.links);
	free(comparison.objects);
	return err ? error.code : EXIT_OK;
}
