// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closest.h"
#include "ini_file.h"
#include "suite.h"
#include "suite_files.h"

#define SECOND_NS	1000000000ULL
#define LEAST_IDLE_NS	SECOND_NS
#define LEAST_LOAD_NS	SECOND_NS	/* between its margins */
#define LEAST_AFTER_NS	SECOND_NS	/* of recovery, behind its margin */

/* A file while it is read. */
struct reader {
	struct suite *suite;
	struct suite_run common;
	struct suite_run *run;		/* that the keys are of; NULL: the suite's own */
};

/* ---- files ---- */

static int add_set(struct ini_file *file, struct suite_run *run, const char *value, bool optional)
{
	if (!strchr(value, '='))
		return ini_file_fail(file, "\"%s\" is no key=value: write it like set = load.seconds=8",
				     value);
	if (run->set_count == SUITE_SETS)
		return ini_file_fail(file, "more than %d values are set", SUITE_SETS);
	run->sets[run->set_count] = strdup(value);
	if (!run->sets[run->set_count])
		return ini_file_fail(file, "out of memory");
	run->optional[run->set_count++] = optional;
	return 0;
}

static int set_text(struct ini_file *file, char *to, size_t size, const char *key,
		    const char *value)
{
	if (strlen(value) >= size)
		return ini_file_fail(file, "%s is longer than %zu bytes", key, size - 1);
	snprintf(to, size, "%s", value);
	return 0;
}

static int set_scenario(struct ini_file *file, struct suite_run *run, const char *value)
{
	free(run->scenario);
	run->scenario = strdup(value);
	return run->scenario ? 0 : ini_file_fail(file, "out of memory");
}

static int take_key(struct ini_file *file, const char *key, const char *value)
{
	struct reader *reader = file->context;
	struct suite_run *run = reader->run;
	bool is_common = run == &reader->common;

	if (!run && !strcmp(key, "title"))
		return set_text(file, reader->suite->title, SUITE_TITLE_SIZE, key, value);
	if (!run)
		return ini_file_fail(file, "unknown key \"%s\": [suite] has title", key);
	if (!strcmp(key, "set") || !strcmp(key, "optional"))
		return add_set(file, run, value, key[0] == 'o');
	if (!strcmp(key, "scenario"))
		return set_scenario(file, run, value);
	if (!is_common && !strcmp(key, "title"))
		return set_text(file, run->title, sizeof(run->title), key, value);
	if (!is_common && !strcmp(key, "class"))
		return set_text(file, run->class, sizeof(run->class), key, value);
	return ini_file_fail(file, "unknown key \"%s\": there are scenario, set, optional%s", key,
			     is_common ? "" : ", title, class");
}

/* A name becomes one of a file. */
static bool name_good(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	return length && !name[length] && length < SUITE_NAME_SIZE;
}

/* With a copy of what is common. */
static int begin_run(struct ini_file *file, const char *name)
{
	struct reader *reader = file->context;
	struct suite *suite = reader->suite;
	struct suite_run *run;

	if (!name_good(name))
		return ini_file_fail(file, "[run %s]: a run's name has up to 31 letters, digits, \"-\" and \"_\"", name);
	for (unsigned int i = 0; i < suite->run_count; i++)
		if (!strcmp(suite->runs[i].name, name))
			return ini_file_fail(file, "the run %s is there twice", name);
	if (suite->run_count == SUITE_RUNS)
		return ini_file_fail(file, "[run %s] is one too many: a suite has at most %d", name,
				     SUITE_RUNS);
	run = &suite->runs[suite->run_count++];
	snprintf(run->name, sizeof(run->name), "%s", name);
	reader->run = run;
	if (reader->common.scenario && set_scenario(file, run, reader->common.scenario))
		return -1;
	for (unsigned int i = 0; i < reader->common.set_count; i++)
		if (add_set(file, run, reader->common.sets[i], reader->common.optional[i]))
			return -1;
	return 0;
}

static int take_heading(struct ini_file *file, char *words[], size_t count)
{
	struct reader *reader = file->context;

	if (count == 2 && !strcmp(words[0], "run"))
		return begin_run(file, words[1]);
	if (count == 1 && !strcmp(words[0], "suite")) {
		reader->run = NULL;
		return 0;
	}
	if (count != 1 || strcmp(words[0], "common"))
		return ini_file_fail(file, "[%s%s]: there are [suite], [common] and [run NAME]",
				     words[0], count > 1 ? " ..." : "");
	if (reader->suite->run_count)
		return ini_file_fail(file, "[common] has to stand before the runs");
	reader->run = &reader->common;
	return 0;
}

static void free_run(struct suite_run *run)
{
	free(run->scenario);
	for (unsigned int i = 0; i < run->set_count; i++)
		free(run->sets[i]);
}

void suite_free(struct suite *suite)
{
	for (unsigned int i = 0; i < suite->run_count; i++)
		free_run(&suite->runs[i]);
	free(suite->runs);
	memset(suite, 0, sizeof(*suite));
}

static void name_suite(struct suite *suite, const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

	snprintf(suite->name, sizeof(suite->name), "%.*s",
		 (int)(strcspn(base, ".") < sizeof(suite->name) ? strcspn(base, ".") :
		       sizeof(suite->name) - 1), base);
}

int suite_parse(struct suite *suite, const char *text, size_t length, const char *name,
		struct error *error)
{
	struct reader reader = { .suite = suite };
	struct ini_file file = {
		.name = name,
		.what = "suite",
		.error = error,
		.context = &reader,
		.heading = take_heading,
		.key = take_key,
	};
	int status;

	memset(suite, 0, sizeof(*suite));
	suite->runs = calloc(SUITE_RUNS, sizeof(*suite->runs));
	if (!suite->runs)
		return error_set(error, EXIT_CANNOT, "out of memory");
	name_suite(suite, name);
	status = ini_file_parse(&file, text, length);
	free_run(&reader.common);
	if (!status && !suite->run_count)
		return error_set(error, EXIT_USAGE, "%s has no run: [run NAME]", name);
	return status;
}

static int unknown_suite(const char *name, struct error *error)
{
	const char *names[SUITE_FILES_MAX];
	char list[256] = "";
	int near;

	for (unsigned int i = 0; i < suite_builtin_count(); i++) {
		names[i] = suite_files[i].name;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 names[i]);
	}
	near = closest_name(name, names, suite_builtin_count());
	if (near >= 0)
		return error_set(error, EXIT_USAGE,
				 "unknown suite \"%s\": did you mean %s? There are: %s", name,
				 names[near], list);
	return error_set(error, EXIT_USAGE, "unknown suite \"%s\", and no file of that name; there are: %s",
			 name, list);
}

unsigned int suite_builtin_count(void)
{
	return suite_files_count;
}

const char *suite_builtin_name(unsigned int index)
{
	return suite_files[index].name;
}

int suite_named(struct suite *suite, const char *name, struct error *error)
{
	size_t length;
	char *text;
	int status;

	memset(suite, 0, sizeof(*suite));
	for (unsigned int i = 0; i < suite_files_count; i++)
		if (!strcmp(suite_files[i].name, name))
			return suite_parse(suite, suite_files[i].text,
					   suite_files[i].end - suite_files[i].text, name, error);
	if (!strchr(name, '/') && (!*name || access(name, F_OK)))
		return unknown_suite(name, error);
	text = ini_file_read(name, "suite", &length, error);
	if (!text)
		return -1;
	status = suite_parse(suite, text, length, name, error);
	free(text);
	return status;
}

/* ---- a run's scenario ---- */

static __u64 scaled(__u64 ns, double scale, __u64 least)
{
	__u64 value = (__u64)(ns * scale + 0.5);

	if (ns < least)
		return ns;
	return value < least ? least : value;
}

/* Whole seconds, as iperf3 takes them. */
static __u64 whole(__u64 ns)
{
	return (ns + SECOND_NS / 2) / SECOND_NS * SECOND_NS;
}

static void scale_times(struct scenario *scenario, double scale)
{
	__u64 least = 2 * scenario->margin_ns + LEAST_LOAD_NS;

	if (scale == 1)
		return;
	scenario->idle_ns = scaled(scenario->idle_ns, scale, LEAST_IDLE_NS);
	scenario->load.ns = whole(scaled(scenario->load.ns, scale, least));
	/* the amount stands for the time that it takes */
	if (scenario->load.bytes)
		scenario->load.bytes = (__u64)(scenario->load.bytes * scale + 1);
	if (scenario->load.ns < least)
		scenario->load.ns += SECOND_NS;
	scenario->load_omit_ns = whole(scaled(scenario->load_omit_ns, scale, SECOND_NS));
	scenario->recovery_ns = scaled(scenario->recovery_ns, scale,
				       scenario->settle_ns + LEAST_AFTER_NS);
}

int suite_scenario(const struct suite_run *run, double scale, bool without_optional,
		   const char *const *more, size_t more_count, struct scenario *scenario,
		   struct error *error)
{
	struct error inner;

	if (scenario_named(scenario, run->scenario ? run->scenario : "bottleneck", &inner))
		return error_set(error, inner.code, "run %s: %s", run->name, inner.text);
	for (unsigned int i = 0; i < run->set_count; i++) {
		if (without_optional && run->optional[i])
			continue;
		if (scenario_set(scenario, run->sets[i], &inner))
			return error_set(error, inner.code, "run %s: %s", run->name, inner.text);
	}
	scale_times(scenario, scale);
	for (size_t i = 0; i < more_count; i++)
		if (scenario_set(scenario, more[i], error))
			return -1;
	if (scenario_check(scenario, &inner))
		return error_set(error, inner.code, "run %s: %s", run->name, inner.text);
	return 0;
}
