// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF programs whose descriptors a process holds: what the kernel counts of each,
 * and where it is attached. One way for every tracer, whoever wrote it.
 *
 *   prog_stats PID    prints {"programs":[{"id":…,"name":…,"how":…,"hook":…,"run_cnt":…,
 *                     "run_time_ns":…,"recursion_misses":…}],"maps_bytes":…}
 *   prog_stats --hold says "ready" on stderr, and until its standard input ends the kernel counts
 *                     runs and their time (BPF_STATS_RUN_TIME), which costs some itself
 *
 * "how" is tp_btf, fentry or fexit, and "hook" the tracepoint or function. Both are "" of a
 * program that no descriptor of a link is held for: it is not attached, or by another way.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "error.h"

struct program {
	__u32 id;
	char how[16];
	char hook[64];
};

struct holder {
	struct program *programs;
	size_t count, room;
	__u32 *maps;		/* ids that are added up already */
	size_t map_count, map_room;
	__u64 maps_bytes;
	struct btf *vmlinux;	/* loaded when first needed */
};

/* What a descriptor is, by /proc/PID/fdinfo; 0 where a line is not there. */
struct descriptor {
	__u32 prog_id;
	__u32 link_id;
	__u32 map_id;
	__u64 memlock;
};

static int read_descriptor(const char *path, struct descriptor *descriptor)
{
	FILE *file = fopen(path, "re");
	char line[256];

	memset(descriptor, 0, sizeof(*descriptor));
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "prog_id: %u", &descriptor->prog_id);
		sscanf(line, "link_id: %u", &descriptor->link_id);
		sscanf(line, "map_id: %u", &descriptor->map_id);
		sscanf(line, "memlock: %llu", &descriptor->memlock);
	}
	fclose(file);
	return 0;
}

static struct program *program_of_id(struct holder *holder, __u32 id)
{
	struct program *grown;
	size_t i;

	for (i = 0; i < holder->count; i++)
		if (holder->programs[i].id == id)
			return &holder->programs[i];
	grown = array_grow(holder->programs, holder->count, &holder->room, sizeof(*grown));
	if (!grown)
		return NULL;
	holder->programs = grown;
	memset(&grown[holder->count], 0, sizeof(*grown));
	grown[holder->count].id = id;
	return &grown[holder->count++];
}

static int add_map(struct holder *holder, const struct descriptor *descriptor)
{
	__u32 *grown;
	size_t i;

	for (i = 0; i < holder->map_count; i++)
		if (holder->maps[i] == descriptor->map_id)
			return 0;
	grown = array_grow(holder->maps, holder->map_count, &holder->map_room, sizeof(*grown));
	if (!grown)
		return -1;
	holder->maps = grown;
	grown[holder->map_count++] = descriptor->map_id;
	holder->maps_bytes += descriptor->memlock;
	return 0;
}

/* The function that a trampoline is at: of the kernel itself, or of a module. */
static void name_function(struct holder *holder, const struct bpf_link_info *info,
			  struct program *program)
{
	const struct btf_type *type;
	struct btf *btf;

	if (!holder->vmlinux)
		holder->vmlinux = btf__load_vmlinux_btf();
	if (!holder->vmlinux)
		return;
	btf = btf__load_from_kernel_by_id_split(info->tracing.target_obj_id, holder->vmlinux);
	type = btf__type_by_id(btf ? btf : holder->vmlinux, info->tracing.target_btf_id);
	if (type) {
		snprintf(program->how, sizeof(program->how), "%s",
			 info->tracing.attach_type == BPF_TRACE_FENTRY ? "fentry" : "fexit");
		snprintf(program->hook, sizeof(program->hook), "%s",
			 btf__name_by_offset(btf ? btf : holder->vmlinux, type->name_off));
	}
	btf__free(btf);
}

static void name_tracepoint(int link_fd, struct program *program)
{
	struct bpf_link_info info = { 0 };
	__u32 length = sizeof(info);

	info.raw_tracepoint.tp_name = (__u64)(unsigned long)program->hook;
	info.raw_tracepoint.tp_name_len = sizeof(program->hook);
	if (!bpf_obj_get_info_by_fd(link_fd, &info, &length))
		snprintf(program->how, sizeof(program->how), "tp_btf");
}

static void name_link(struct holder *holder, __u32 link_id, struct program *program)
{
	struct bpf_link_info info = { 0 };
	__u32 length = sizeof(info);
	int fd = bpf_link_get_fd_by_id(link_id);

	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		goto out;
	if (info.type == BPF_LINK_TYPE_RAW_TRACEPOINT)
		name_tracepoint(fd, program);
	else if (info.type == BPF_LINK_TYPE_TRACING)
		name_function(holder, &info, program);
out:
	close(fd);
}

static int take_descriptor(struct holder *holder, const struct descriptor *descriptor)
{
	struct program *program;

	if (descriptor->map_id)
		return add_map(holder, descriptor);
	if (!descriptor->prog_id)
		return 0;
	program = program_of_id(holder, descriptor->prog_id);
	if (!program)
		return -1;
	if (descriptor->link_id)
		name_link(holder, descriptor->link_id, program);
	return 0;
}

static int take_process(struct holder *holder, const char *pid, struct error *error)
{
	struct descriptor descriptor;
	struct dirent *entry;
	char path[320];
	DIR *directory;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	directory = opendir(path);
	if (!directory)
		return error_set_errno(error, EXIT_CANNOT, "%s", path);
	while (!err && (entry = readdir(directory))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, entry->d_name);
		/* it may have been closed meanwhile */
		if (entry->d_name[0] != '.' && !read_descriptor(path, &descriptor))
			err = take_descriptor(holder, &descriptor);
	}
	closedir(directory);
	return err ? error_set(error, EXIT_CANNOT, "out of memory") : 0;
}

static void add_number(cJSON *object, const char *name, __u64 value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", value);
	cJSON_AddRawToObject(object, name, text);
}

static void print_program(const struct program *program, cJSON *array)
{
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(program->id);
	cJSON *object;

	/* gone meanwhile */
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &length)) {
		object = cJSON_CreateObject();
		cJSON_AddItemToArray(array, object);
		add_number(object, "id", program->id);
		cJSON_AddStringToObject(object, "name", info.name);
		cJSON_AddStringToObject(object, "how", program->how);
		cJSON_AddStringToObject(object, "hook", program->hook);
		add_number(object, "run_cnt", info.run_cnt);
		add_number(object, "run_time_ns", info.run_time_ns);
		add_number(object, "recursion_misses", info.recursion_misses);
	}
	close(fd);
}

static int print_process(const char *pid, struct error *error)
{
	struct holder holder = { 0 };
	cJSON *document = NULL;
	char *text = NULL;
	int err = -1;
	size_t i;

	if (take_process(&holder, pid, error))
		goto out;
	document = cJSON_CreateObject();
	cJSON_AddArrayToObject(document, "programs");
	for (i = 0; i < holder.count; i++)
		print_program(&holder.programs[i],
			      cJSON_GetObjectItem(document, "programs"));
	add_number(document, "maps_bytes", holder.maps_bytes);
	text = cJSON_PrintUnformatted(document);
	if (!text || puts(text) < 0 || fflush(stdout)) {
		error_set(error, EXIT_CANNOT, "no memory, or standard output failed");
		goto out;
	}
	err = 0;
out:
	cJSON_free(text);
	cJSON_Delete(document);
	btf__free(holder.vmlinux);
	free(holder.programs);
	free(holder.maps);
	return err;
}

static int hold(struct error *error)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	char nothing[16];

	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT,
				       "the kernel does not count (it does since 5.8, for root)");
	fprintf(stderr, "ready\n");
	while (read(STDIN_FILENO, nothing, sizeof(nothing)) > 0)
		;
	close(fd);
	return 0;
}

int main(int argc, char *argv[])
{
	struct error error = { 0 };
	int err;

	if (argc != 2) {
		fprintf(stderr, "prog_stats: see the head of prog_stats.c\n");
		return EXIT_USAGE;
	}
	err = strcmp(argv[1], "--hold") ? print_process(argv[1], &error) : hold(&error);
	if (err)
		fprintf(stderr, "prog_stats: %s\n", error.text);
	return err ? error.code : EXIT_OK;
}
