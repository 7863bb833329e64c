// SPDX-License-Identifier: GPL-2.0
/*
 * Hook functions of the kernel by their addresses with the tracer's own programs,
 * and count how often these run.
 *
 *   hook_function [fentry|kprobe]
 *
 * Says "ready", then takes lines "enqueue ADDRESS" and "dequeue ADDRESS" (hexadecimal)
 * from standard input and answers each once the hooks are there: "hooked", or "failed"
 * and why. At the end of input it prints one JSON document: what every hook is, its
 * runs, and those skipped. With an argument only that way is used, else fentry and,
 * where that does not work, kprobe; why: the reason that it did not.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "function_hook.h"
#include "kernel_object.h"
#include "sojourn/tables.h"
#include "sojourn.skel.h"

#define HOOKS_MAX	64

struct attached {
	struct function_hook *hook;
	struct error why;	/* why not by the trampoline; no text: it is, or need not be */
};

struct hooking {
	struct sojourn_bpf *bpf;
	struct function_hooks *functions;
	struct attached hooks[HOOKS_MAX];
	size_t count;
	bool trampolines, probes;
};

static int load_programs(struct hooking *hooking, struct error *error)
{
	struct bpf_program *program;

	hooking->bpf = kernel_object_open(error);
	if (!hooking->bpf)
		return -1;
	bpf_object__for_each_program(program, hooking->bpf->obj)
		bpf_program__set_autoload(program, false);
	bpf_program__set_autoload(hooking->bpf->progs.on_enqueue_entry, hooking->trampolines);
	bpf_program__set_autoload(hooking->bpf->progs.on_enqueue_exit, hooking->trampolines);
	bpf_program__set_autoload(hooking->bpf->progs.on_dequeue_exit, hooking->trampolines);
	bpf_program__set_autoload(hooking->bpf->progs.on_enqueue_call, hooking->probes);
	bpf_program__set_autoload(hooking->bpf->progs.on_enqueue_return, hooking->probes);
	bpf_program__set_autoload(hooking->bpf->progs.on_dequeue_return, hooking->probes);
	return kernel_object_load(hooking->bpf, error);
}

static int hook(struct hooking *hooking, const struct bpf_program *trampoline,
		const struct bpf_program *probe, bool at_return, __u64 address,
		struct error *error)
{
	struct attached *attached = &hooking->hooks[hooking->count];
	struct error why = { 0 };

	if (hooking->count == HOOKS_MAX)
		return error_set(error, EXIT_USAGE, "at most %d hooks", HOOKS_MAX);
	if (hooking->trampolines)
		attached->hook = function_hook_attach(hooking->functions, HOOK_FENTRY, trampoline,
						      at_return, address, &why);
	*error = why;
	if (!attached->hook && hooking->probes)
		attached->hook = function_hook_attach(hooking->functions, HOOK_KPROBE, probe,
						      at_return, address, error);
	if (!attached->hook)
		return -1;
	attached->why = why;
	hooking->count++;
	return 0;
}

static int follow_line(struct hooking *hooking, const char *line, struct error *error)
{
	const struct sojourn_bpf *bpf = hooking->bpf;
	unsigned long long address;

	if (sscanf(line, "dequeue %llx", &address) == 1)
		return hook(hooking, bpf->progs.on_dequeue_exit, bpf->progs.on_dequeue_return,
			    true, address, error);
	if (sscanf(line, "enqueue %llx", &address) != 1)
		return error_set(error, EXIT_USAGE, "a line is enqueue or dequeue and an address");
	return hook(hooking, bpf->progs.on_enqueue_exit, bpf->progs.on_enqueue_return, true,
		    address, error) ||
	       hook(hooking, bpf->progs.on_enqueue_entry, bpf->progs.on_enqueue_call, false,
		    address, error) ? -1 : 0;
}

static void print_hooks(const struct hooking *hooking)
{
	cJSON *list = cJSON_CreateArray();
	char *text;

	for (size_t i = 0; i < hooking->count; i++) {
		const struct function_hook *hook = hooking->hooks[i].hook;
		cJSON *object = cJSON_CreateObject();

		cJSON_AddStringToObject(object, "name", function_hook_name(hook));
		cJSON_AddStringToObject(object, "how", function_hook_how(hook));
		cJSON_AddStringToObject(object, "why", hooking->hooks[i].why.text);
		cJSON_AddNumberToObject(object, "runs", function_hook_runs(hook));
		cJSON_AddNumberToObject(object, "skipped", function_hook_skipped(hook));
		cJSON_AddItemToArray(list, object);
	}
	text = cJSON_PrintUnformatted(list);
	printf("%s\n", text ? text : "out of memory");
	free(text);
	cJSON_Delete(list);
}

static int fail(const struct error *error)
{
	fprintf(stderr, "hook_function: %s\n", error->text);
	return error->code;
}

int main(int argc, char *argv[])
{
	struct hooking hooking = {
		.trampolines = argc < 2 || !strcmp(argv[1], "fentry"),
		.probes = argc < 2 || !strcmp(argv[1], "kprobe"),
	};
	struct error error = { 0 };
	char line[128];
	int counting;

	hooking.functions = function_hooks_open();
	if (!hooking.functions || argc > 2)
		return EXIT_USAGE;
	if (hooking.trampolines && function_hook_try(hooking.functions, HOOK_FENTRY, &error))
		return fail(&error);
	if (hooking.probes && function_hook_try(hooking.functions, HOOK_KPROBE, &error))
		return fail(&error);
	if (load_programs(&hooking, &error))
		return fail(&error);
	counting = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (counting < 0) {
		error_set_errno(&error, EXIT_CANNOT, "the kernel does not count runs");
		return fail(&error);
	}
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (follow_line(&hooking, line, &error))
			printf("failed %s\n", error.text);
		else
			printf("hooked\n");
		fflush(stdout);
	}
	print_hooks(&hooking);
	for (size_t i = 0; i < hooking.count; i++)
		function_hook_detach(hooking.hooks[i].hook);
	function_hooks_close(hooking.functions);
	sojourn_bpf__destroy(hooking.bpf);
	close(counting);
	return EXIT_OK;
}
