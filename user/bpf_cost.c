// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "bpf_cost.h"

struct program {
	__u32 id;
	__u64 runs, run_ns;
};

struct bpf_cost {
	int fd;			/* the kernel counts while it is open */
	struct program *programs;	/* by id; those that are gone too */
	size_t count, room;
};

struct bpf_cost *bpf_cost_open(void)
{
	struct bpf_cost *cost = calloc(1, sizeof(*cost));

	if (!cost)
		return NULL;
	cost->fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (cost->fd >= 0)
		return cost;
	free(cost);
	return NULL;
}

static struct program *find_program(struct bpf_cost *cost, __u32 id)
{
	struct program *grown;

	for (size_t i = 0; i < cost->count; i++)
		if (cost->programs[i].id == id)
			return &cost->programs[i];
	grown = array_grow(cost->programs, cost->count, &cost->room, sizeof(*grown));
	if (!grown)
		return NULL;
	cost->programs = grown;
	grown[cost->count] = (struct program){ .id = id };
	return &grown[cost->count++];
}

/* fs/proc shows descriptors of programs so, kernel/bpf/syscall.c: bpf_prog_new_fd(). */
static bool is_program(int directory, const char *name)
{
	static const char target[] = "anon_inode:bpf-prog";
	char text[sizeof(target)];

	return readlinkat(directory, name, text, sizeof(text)) == sizeof(target) - 1 &&
	       !memcmp(text, target, sizeof(target) - 1);
}

static void take_program(struct bpf_cost *cost, int fd)
{
	struct bpf_prog_info info = { 0 };
	struct program *program;
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &length))
		return;
	program = find_program(cost, info.id);
	if (!program || info.run_cnt < program->runs)
		return;
	program->runs = info.run_cnt;
	program->run_ns = info.run_time_ns;
}

int bpf_cost_read(struct bpf_cost *cost, struct bpf_cost_sums *sums)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!directory)
		return -1;
	while ((entry = readdir(directory)))
		if (is_program(dirfd(directory), entry->d_name))
			take_program(cost, atoi(entry->d_name));
	closedir(directory);
	memset(sums, 0, sizeof(*sums));
	for (size_t i = 0; i < cost->count; i++) {
		sums->runs += cost->programs[i].runs;
		sums->run_ns += cost->programs[i].run_ns;
	}
	return 0;
}

void bpf_cost_close(struct bpf_cost *cost)
{
	if (!cost)
		return;
	close(cost->fd);
	free(cost->programs);
	free(cost);
}
