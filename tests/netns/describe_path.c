// SPDX-License-Identifier: GPL-2.0
/*
 * describe_path: the qdiscs and classes of this network namespace, their
 * options, paths and what holds them back, as JSON on stdout.
 *
 *   describe_path            as they are now
 *   describe_path --window   "ready" on stderr, then what happens until stdin ends
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qdisc_class.h"
#include "qdisc_options.h"
#include "qdisc_path.h"
#include "qdisc_tree.h"

/* One reading of the namespace, and the snapshot that points to it. */
struct reading {
	struct qdisc_tree tree;
	struct qdisc_classes classes;
	struct qdisc_snapshot snapshot;
};

static int take(struct reading *reading, struct error *error)
{
	if (qdisc_tree_read(&reading->tree, -1, "", error) ||
	    qdisc_classes_read(&reading->classes, &reading->tree, -1, error))
		return -1;
	reading->snapshot = (struct qdisc_snapshot){ &reading->tree, &reading->classes };
	return 0;
}

static void release(struct reading *reading)
{
	qdisc_tree_free(&reading->tree);
	qdisc_classes_free(&reading->classes);
}

static void add_handle(cJSON *object, const char *name, __u32 handle)
{
	char text[16];

	cJSON_AddStringToObject(object, name, qdisc_handle_text(handle, text));
}

static void add_options(cJSON *object, const struct qdisc_option *options, unsigned int count)
{
	cJSON *list = cJSON_AddObjectToObject(object, "options");
	char text[QDISC_OPTION_TEXT];
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct qdisc_option *option = &options[i];

		switch (option->unit) {
		case OPTION_HANDLE:
		case OPTION_WORD:
		case OPTION_PRIOMAP:
		case OPTION_QUEUES:
			cJSON_AddStringToObject(list, option->name,
						qdisc_option_text(option, text));
			break;
		case OPTION_PER_BILLION:
			cJSON_AddNumberToObject(list, option->name, (double)option->value / 1e9);
			break;
		case OPTION_SIGNED:
			cJSON_AddNumberToObject(list, option->name, (double)(__s64)option->value);
			break;
		default:
			cJSON_AddNumberToObject(list, option->name, (double)option->value);
		}
	}
}

static void add_counters(cJSON *object, const struct qdisc_kernel_counters *counters)
{
	cJSON_AddNumberToObject(object, "packets", (double)counters->packets);
	cJSON_AddNumberToObject(object, "bytes", (double)counters->bytes);
	cJSON_AddNumberToObject(object, "drops", (double)counters->drops);
	cJSON_AddNumberToObject(object, "overlimits", (double)counters->overlimits);
}

static void add_holder(cJSON *object, const struct qdisc_holder *holder)
{
	static const char *const kinds[] = { "device", "qdisc", "class" };
	static const char *const hows[] = { "device", "rate", "delay", "gates", "pacing" };
	cJSON *json = cJSON_AddObjectToObject(object, "holder");

	cJSON_AddStringToObject(json, "kind", kinds[holder->kind]);
	cJSON_AddStringToObject(json, "how", hows[holder->how]);
	cJSON_AddNumberToObject(json, "rate", (double)holder->rate_bit_per_s);
	cJSON_AddBoolToObject(json, "seen", holder->seen);
	cJSON_AddStringToObject(json, "text", holder->text);
}

static cJSON *qdiscs_json(const struct reading *begin, const struct reading *end)
{
	cJSON *list = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < end->tree.count; i++) {
		const struct qdisc_info *qdisc = &end->tree.qdiscs[i];
		cJSON *object = cJSON_CreateObject();
		struct qdisc_holder holder;
		struct qdisc_path path;
		char text[512];

		cJSON_AddItemToArray(list, object);
		cJSON_AddStringToObject(object, "dev", qdisc->device);
		cJSON_AddStringToObject(object, "kind", qdisc->kind);
		add_handle(object, "handle", qdisc->handle);
		add_handle(object, "parent", qdisc->parent);
		cJSON_AddBoolToObject(object, "invisible", qdisc->invisible);
		add_options(object, qdisc->options, qdisc->option_count);
		add_counters(object, &qdisc->kernel);
		qdisc_path_find(&path, &end->snapshot, qdisc);
		cJSON_AddStringToObject(object, "path", qdisc_path_text(&path, &end->snapshot,
									 text, sizeof(text)));
		qdisc_holder_find(&holder, begin ? &begin->snapshot : NULL, &end->snapshot, qdisc);
		add_holder(object, &holder);
	}
	return list;
}

static cJSON *classes_json(const struct reading *end)
{
	cJSON *list = cJSON_CreateArray();
	size_t i;

	for (i = 0; i < end->classes.count; i++) {
		const struct class_info *class = &end->classes.classes[i];
		cJSON *object = cJSON_CreateObject();

		cJSON_AddItemToArray(list, object);
		cJSON_AddNumberToObject(object, "ifindex", class->ifindex);
		cJSON_AddStringToObject(object, "class", class->kind);
		add_handle(object, "handle", class->classid);
		add_handle(object, "parent", class->parent);
		if (class->has_leaf)
			add_handle(object, "leaf", class->leaf);
		add_options(object, class->options, class->option_count);
		add_counters(object, &class->kernel);
		if (class->have_htb) {
			cJSON_AddNumberToObject(object, "lended", class->htb.lends);
			cJSON_AddNumberToObject(object, "borrowed", class->htb.borrows);
			cJSON_AddNumberToObject(object, "tokens_ns", (double)class->htb.tokens_ns);
			cJSON_AddNumberToObject(object, "ctokens_ns",
						(double)class->htb.ctokens_ns);
		}
		if (class->have_hfsc)
			cJSON_AddNumberToObject(object, "work", (double)class->hfsc.work);
	}
	return list;
}

int main(int argc, char **argv)
{
	const bool window = argc == 2 && !strcmp(argv[1], "--window");
	struct reading begin = { 0 }, end = { 0 };
	struct error error = { 0 };
	cJSON *json = cJSON_CreateObject();
	int status = 1;
	char *text;
	char byte;

	if (window) {
		if (take(&begin, &error))
			goto out;
		fprintf(stderr, "ready\n");
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
	}
	if (take(&end, &error))
		goto out;
	cJSON_AddItemToObject(json, "qdiscs", qdiscs_json(window ? &begin : NULL, &end));
	cJSON_AddItemToObject(json, "classes", classes_json(&end));
	text = cJSON_Print(json);
	status = !text || puts(text) < 0;
	free(text);
out:
	if (status)
		fprintf(stderr, "describe_path: %s\n", error.text);
	cJSON_Delete(json);
	release(&begin);
	release(&end);
	return status;
}
