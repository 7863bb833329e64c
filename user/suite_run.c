// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "commands.h"
#include "experiment.h"
#include "guard.h"
#include "in_json.h"
#include "out.h"
#include "output_file.h"
#include "suite_run.h"
#include "tc.h"

#define SECOND_NS	1000000000ULL
/* What a run takes on top of its phases: the lab, loading, the kernel's counters at the end. */
#define OVERHEAD_NS	(2 * SECOND_NS)

struct performer {
	const struct suite *suite;
	const struct suite_options *options;
	struct suite_outcome *outcome;
	size_t room;			/* for rows */
	struct error *error;
	int code;			/* the gravest so far */
	__u64 left_ns;			/* planned for what is still to be done */
	unsigned int index;		/* of the run that is being done, from 1 */
	char name[48];			/* with the number of the repeat */
};

static bool is_wanted(const struct suite_run *run, const struct suite_options *options)
{
	return !options->only || !fnmatch(options->only, run->name, 0) ||
	       !fnmatch(options->only, run->class, 0);
}

static int scenario_of(const struct suite_run *run, const struct suite_options *options,
		       bool without_optional, struct scenario *scenario, struct error *error)
{
	return suite_scenario(run, options->scale, without_optional, options->sets,
			      options->set_count, scenario, error);
}

static __u64 length_of(const struct scenario *scenario)
{
	return (scenario->probe_count + scenario->restored_count) * scenario->probe_interval_ns +
	       OVERHEAD_NS;
}

int suite_check(const struct suite *suite, const struct suite_options *options,
		struct error *error)
{
	struct scenario scenario;
	bool any = false;

	for (unsigned int i = 0; i < suite->run_count; i++) {
		if (!is_wanted(&suite->runs[i], options))
			continue;
		any = true;
		if (scenario_of(&suite->runs[i], options, false, &scenario, error))
			return -1;
	}
	return any ? 0 : error_set(error, EXIT_USAGE,
				   "--only %s: no run and no class of the suite %s has such a name",
				   options->only, suite->name);
}

/* Shown by experiment_run(), which knows nothing of suites. */
static struct performer *shown;

static void show_progress(const char *phase, double gone_s, double all_s)
{
	char text[160];

	if (!shown->options->progress)
		return;
	snprintf(text, sizeof(text), "run %u of %u, %s: %s %.0f of %.0f s; about %.0f min are left",
		 shown->index, shown->outcome->runs_asked, shown->name, phase, gone_s, all_s,
		 (double)shown->left_ns / 60e9);
	shown->options->progress(text);
}

static void grave(struct performer *performer, int code)
{
	/* EXIT_INCOMPLETE before EXIT_FAIL_IF before EXIT_OK */
	if (code > performer->code)
		performer->code = code;
}

/* ---- rows ---- */

static struct suite_row *add_row(struct performer *performer, const struct suite_run *run)
{
	struct suite_outcome *outcome = performer->outcome;
	struct suite_row *rows = array_grow(outcome->rows, outcome->row_count, &performer->room,
					    sizeof(*rows)), *row;

	if (!rows) {
		error_set(performer->error, EXIT_CANNOT, "out of memory");
		return NULL;
	}
	outcome->rows = rows;
	row = &rows[outcome->row_count++];
	memset(row, 0, sizeof(*row));
	snprintf(row->name, sizeof(row->name), "%s", performer->name);
	snprintf(row->label, sizeof(row->label), "%s", performer->name);
	snprintf(row->class, sizeof(row->class), "%s", run->class);
	snprintf(row->title, sizeof(row->title), "%s", run->title);
	return row;
}

static int add_rows(struct performer *performer, const struct suite_run *run,
		    const struct result *result)
{
	struct suite_outcome *outcome = performer->outcome;

	snprintf(outcome->version, sizeof(outcome->version), "%s", result->version);
	snprintf(outcome->kernel, sizeof(outcome->kernel), "%s", result->kernel);
	snprintf(outcome->tier, sizeof(outcome->tier), "%s", result->tier);
	for (unsigned int i = 0; i < result->phase_count; i++) {
		struct suite_row *row;

		if (result->phases[i].plan.kind != PHASE_LOAD)
			continue;
		row = add_row(performer, run);
		if (!row)
			return -1;
		if (result->scenario.load.direction == LOAD_EACH)
			snprintf(row->label, sizeof(row->label), "%s %s", performer->name,
				 result->phases[i].plan.name);
		if (suite_row_fill(row, result, &result->phases[i]))
			return error_set(performer->error, EXIT_CANNOT, "out of memory");
	}
	outcome->runs_done++;
	if (!result->complete)
		grave(performer, EXIT_INCOMPLETE);
	if (performer->options->finished)
		grave(performer, performer->options->finished(performer->options->context,
							      performer->name, result));
	return 0;
}

/* A run without a result. */
static int add_trouble(struct performer *performer, const struct suite_run *run,
		       enum suite_status status, const struct error *why)
{
	struct suite_row *row = add_row(performer, run);

	if (!row)
		return -1;
	row->status = status;
	snprintf(row->why, sizeof(row->why), "%s", why->text);
	grave(performer, EXIT_INCOMPLETE);
	return 0;
}

/* ---- files ---- */

static int result_path(const struct performer *performer, char path[PATH_MAX], struct error *error)
{
	char name[sizeof(performer->name)], *blank;

	memcpy(name, performer->name, sizeof(name));
	blank = strchr(name, ' ');
	if (blank)
		snprintf(blank, sizeof(name) - (blank - name), "-%s",
			 performer->name + (blank - name) + 2);
	if (snprintf(path, PATH_MAX, "%s/%s.json", performer->options->directory, name) >= PATH_MAX)
		return error_set(error, EXIT_USAGE, "--out: the name is too long");
	return 0;
}

static bool same_scenario(const struct scenario *a, const struct scenario *b)
{
	cJSON *left = scenario_json(a), *right = scenario_json(b);
	bool same = left && right && cJSON_Compare(left, right, true);

	cJSON_Delete(left);
	cJSON_Delete(right);
	return same;
}

/* Was it done before, whole and the same? Then result is that one. */
static bool is_done(const struct performer *performer, const struct scenario *scenario,
		    const struct scenario *reduced, struct result *result)
{
	char path[PATH_MAX];
	struct error error;

	if (!performer->options->directory || result_path(performer, path, &error) ||
	    access(path, R_OK) || result_read(path, result, &error))
		return false;
	return result->complete && !strcmp(result->version, SOJOURN_VERSION) &&
	       (same_scenario(&result->scenario, scenario) ||
		same_scenario(&result->scenario, reduced));
}

static int write_result(const struct performer *performer, const struct result *result,
			struct guard *guard, struct error *error)
{
	char path[PATH_MAX], *json;
	int failed;

	if (!performer->options->directory)
		return 0;
	if (result_path(performer, path, error))
		return -1;
	json = out_json(result);
	if (!json)
		return error_set(error, EXIT_CANNOT, "out of memory");
	failed = output_file_put(path, guard, json, strlen(json), error);
	free(json);
	return failed;
}

/* ---- one run ---- */

static void note_suite(const struct performer *performer, const struct suite_run *run,
		       struct result *result)
{
	snprintf(result->suite, sizeof(result->suite), "%s", performer->suite->name);
	snprintf(result->suite_run, sizeof(result->suite_run), "%s", performer->name);
	snprintf(result->suite_class, sizeof(result->suite_class), "%s", run->class);
}

/* The experiment, once. 0, or -1 and error; *left: something of the lab is left. */
static int experiment(struct performer *performer, const struct scenario *scenario,
		      struct guard *guard, struct result *result, bool *left, struct error *error)
{
	struct experiment_options options = {
		.scenario = scenario,
		.guard = guard,
		.tier = performer->options->tier,
		.progress = show_progress,
	};
	struct experiment_output output = { 0 };
	int failed;

	shown = performer;
	failed = experiment_run(&options, result, &output, error);
	*left = output.left_behind[0];
	if (*left && !failed)
		failed = error_set(error, EXIT_INCOMPLETE, "%s", output.left_behind);
	for (int i = 0; i < SCENARIO_LOADS_MAX; i++)
		free(output.iperf3[i]);
	free(output.ping);
	return failed;
}

static bool lacks_kind(const struct error *error)
{
	return error->code == EXIT_CANNOT &&
	       (strstr(error->text, TC_LACKS_KIND) || strstr(error->text, "has no qdisc"));
}

/* With a guard of its own. note: what was left out. */
static int guarded(struct performer *performer, const struct suite_run *run,
		   const struct scenario *scenario, const char *note, struct result *result,
		   struct error *error)
{
	struct guard *guard = guard_start(error);
	bool left = false;
	int failed;

	if (!guard)
		return -1;
	failed = experiment(performer, scenario, guard, result, &left, error);
	if (!failed) {
		note_suite(performer, run, result);
		if (note[0])
			snprintf(result->note, sizeof(result->note), "%s", note);
		failed = write_result(performer, result, guard, error);
	}
	if (left)
		guard_leave(guard);
	else
		guard_stop(guard);
	return failed;
}

/* Once as asked for; without what is optional where the kernel has no such qdisc. */
static int try_run(struct performer *performer, const struct suite_run *run,
		   const struct scenario *scenario, const struct scenario *reduced,
		   struct result *result, struct error *error)
{
	char note[sizeof(result->note)];

	if (!guarded(performer, run, scenario, "", result, error))
		return 0;
	if (!lacks_kind(error) || same_scenario(scenario, reduced))
		return -1;
	snprintf(note, sizeof(note), "done without what is optional: %.200s", error->text);
	result_free(result);
	result_init(result);
	return guarded(performer, run, reduced, note, result, error);
}

/* 0, or -1 where the suite ends here. */
static int perform_run(struct performer *performer, const struct suite_run *run)
{
	const struct suite_options *options = performer->options;
	struct scenario scenario, reduced;
	struct result result;
	struct error error;
	int status;

	if (scenario_of(run, options, false, &scenario, performer->error) ||
	    scenario_of(run, options, true, &reduced, performer->error))
		return -1;
	result_init(&result);
	if (is_done(performer, &scenario, &reduced, &result)) {
		status = add_rows(performer, run, &result);
		goto out;
	}
	result_free(&result);
	result_init(&result);
	if (!try_run(performer, run, &scenario, &reduced, &result, &error))
		status = add_rows(performer, run, &result);
	else if (lacks_kind(&error))
		status = add_trouble(performer, run, SUITE_CANNOT, &error);
	else if (error.code == EXIT_INCOMPLETE)
		status = add_trouble(performer, run, SUITE_FAILED, &error);
	else
		status = error_set(performer->error, error.code, "run %s: %s", performer->name,
				   error.text);
out:
	performer->left_ns -= length_of(&scenario);
	result_free(&result);
	return status;
}

static void plan(struct performer *performer)
{
	const struct suite_options *options = performer->options;
	struct scenario scenario;

	for (unsigned int i = 0; i < performer->suite->run_count; i++) {
		const struct suite_run *run = &performer->suite->runs[i];

		if (!is_wanted(run, options) ||
		    scenario_of(run, options, false, &scenario, performer->error))
			continue;
		performer->outcome->runs_asked += options->repeats;
		performer->left_ns += options->repeats * length_of(&scenario);
	}
}

static int perform_runs(struct performer *performer)
{
	const struct suite_options *options = performer->options;

	for (unsigned int i = 0; i < options->repeats * performer->suite->run_count; i++) {
		const struct suite_run *run = &performer->suite->runs[i / options->repeats];

		if (!is_wanted(run, options))
			continue;
		performer->index++;
		if (options->repeats > 1)
			snprintf(performer->name, sizeof(performer->name), "%s #%u", run->name,
				 i % options->repeats + 1);
		else
			snprintf(performer->name, sizeof(performer->name), "%s", run->name);
		if (perform_run(performer, run))
			return -1;
	}
	return 0;
}

int suite_perform(const struct suite *suite, const struct suite_options *options,
		  struct suite_outcome *outcome, struct error *error)
{
	struct performer performer = {
		.suite = suite,
		.options = options,
		.outcome = outcome,
		.error = error,
	};

	memset(outcome, 0, sizeof(*outcome));
	outcome->suite = suite;
	outcome->scale = options->scale;
	outcome->started_realtime_ns = clock_ns(CLOCK_REALTIME);
	if (options->directory && mkdir(options->directory, 0777) && errno != EEXIST) {
		error_set_errno(error, EXIT_CANNOT, "cannot make the directory %s", options->directory);
		return EXIT_CANNOT;
	}
	plan(&performer);
	if (!perform_runs(&performer))
		return performer.code;
	outcome->interrupted = true;
	return error->code;
}
