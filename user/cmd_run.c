// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "conditions.h"
#include "doctor.h"
#include "experiment.h"
#include "expression.h"
#include "guard.h"
#include "out.h"
#include "options.h"
#include "output_file.h"
#include "scenario.h"
#include "site.h"

#define LIST_MAX	SITE_NETNS_MAX
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

struct run_options {
	const char *scenario;
	const char *json;		/* file or "-"; NULL: none */
	const char *directory;		/* --out; NULL: none */
	const char *set[LIST_MAX];
	size_t set_count;
	struct conditions conditions;
	const char *netns[LIST_MAX];
	size_t netns_count;
	enum tracer_tier tier;
};

enum { OPTION_JSON = 256, OPTION_OUT, OPTION_SET, OPTION_FAIL_IF, OPTION_NETNS, OPTION_TIER };

static const struct option long_options[] = {
	{ "json", required_argument, NULL, OPTION_JSON },
	{ "out", required_argument, NULL, OPTION_OUT },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "fail-if", required_argument, NULL, OPTION_FAIL_IF },
	{ "netns", required_argument, NULL, OPTION_NETNS },
	{ "tier", required_argument, NULL, OPTION_TIER },
	{ NULL, 0, NULL, 0 },
};

static int parse_options(int argc, char *argv[], struct run_options *options)
{
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (option) {
		case OPTION_JSON:
			options->json = optarg;
			break;
		case OPTION_OUT:
			options->directory = optarg;
			break;
		case OPTION_SET:
			code = option_add(&cmd_run, options->set, LIST_MAX, &options->set_count, "--set",
					  optarg);
			break;
		case OPTION_FAIL_IF:
			code = conditions_add(&options->conditions, &cmd_run, optarg);
			break;
		case OPTION_NETNS:
			code = option_add(&cmd_run, options->netns, LIST_MAX, &options->netns_count, "--netns",
					  optarg);
			break;
		case OPTION_TIER:
			code = option_tier(&cmd_run, optarg, &options->tier);
			break;
		default:
			code = option_bad(&cmd_run, long_options, option, argv[optind - 1]);
		}
	}
	if (code)
		return code;
	if (argc - optind > 1)
		return command_fail(&cmd_run, EXIT_USAGE, "run takes one scenario, not %d: '%s' is one too many",
				    argc - optind, argv[optind + 1]);
	options->scenario = optind < argc ? argv[optind] : "bottleneck";
	return EXIT_OK;
}

static int write_in_directory(const char *directory, const char *name, const char *text,
			      struct guard *guard, struct error *error)
{
	char path[PATH_MAX];

	if (!text)
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return error_set(error, EXIT_USAGE, "--out: the name is too long");
	return output_file_put(path, guard, text, strlen(text), error);
}


/* iperf3.json, or with several loads iperf3-upload.json and so on. */
static int write_iperf3(const char *directory, const struct result *result,
			const struct experiment_output *output, struct guard *guard,
			struct error *error)
{
	bool several = result->scenario.load.direction == LOAD_EACH;
	unsigned int i, loads = 0;
	char name[64];

	for (i = 0; i < result->phase_count; i++) {
		const struct scenario_phase *plan = &result->phases[i].plan;

		if (plan->kind != PHASE_LOAD)
			continue;
		snprintf(name, sizeof(name), "iperf3%s%s.json", several ? "-" : "",
			 several ? plan->name : "");
		if (write_in_directory(directory, name, output->iperf3[loads++], guard, error))
			return -1;
	}
	return 0;
}

static int write_directory(const char *directory, const struct result *result, const char *json,
			   const struct experiment_output *output, struct guard *guard,
			   struct error *error)
{
	char *summary = out_text_copy(result);
	int failed;

	if (!summary)
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (mkdir(directory, 0777) && errno != EEXIST) {
		free(summary);
		return error_set_errno(error, EXIT_CANNOT, "cannot make the directory %s",
				       directory);
	}
	failed = write_in_directory(directory, "result.json", json, guard, error) ||
		 write_in_directory(directory, "summary.txt", summary, guard, error) ||
		 write_iperf3(directory, result, output, guard, error) ||
		 write_in_directory(directory, "ping.txt", output->ping, guard, error);
	free(summary);
	if (failed && error->code == EXIT_USAGE)
		error->code = EXIT_CANNOT;	/* too late for that: the run is done */
	return failed ? -1 : 0;
}

/* Progress: a line that is written over on a terminal, else a line per phase. */
static void show_progress(const char *phase, double gone_s, double all_s)
{
	static const char *shown_phase;
	static int shown_second = -1;
	bool terminal = isatty(STDERR_FILENO);
	int width = 30, filled;

	if (!terminal) {
		if (phase != shown_phase)
			fprintf(stderr, "%s: %.0f s\n", phase, all_s);
		shown_phase = phase;
		return;
	}
	if (phase == shown_phase && (int)(gone_s * 4) == shown_second)
		return;
	shown_phase = phase;
	shown_second = (int)(gone_s * 4);
	if (gone_s > all_s)
		gone_s = all_s;
	filled = all_s > 0 ? (int)(gone_s / all_s * width) : width;
	fprintf(stderr, "\r\033[K%-9s [%.*s%*s] %.0f of %.0f s", phase, filled,
		"##############################", width - filled, "", gone_s, all_s);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int write_results(const struct run_options *options, const struct result *result,
			 const struct experiment_output *output, struct output_file **file,
			 struct guard *guard, struct error *error)
{
	FILE *summary = options->json && !strcmp(options->json, "-") ? stderr : stdout;
	char *json = NULL;
	int failed = 0;

	out_text(result, summary, isatty(fileno(summary)) && !getenv("NO_COLOR"));
	fflush(summary);
	if (!options->json && !options->directory)
		return 0;
	json = out_json(result);
	if (!json)
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (options->directory)
		failed = write_directory(options->directory, result, json, output, guard, error);
	if (!failed && *file) {
		failed = output_file_finish(*file, json, strlen(json), error);
		*file = NULL;
	}
	free(json);
	return failed;
}


/* *left: something of the lab is left. */
static int run_experiment(struct run_options *options, const struct scenario *scenario,
			  struct guard *guard, struct output_file **file, bool *left)
{
	struct experiment_options experiment = {
		.scenario = scenario,
		.guard = guard,
		.netns = options->netns_count ? options->netns : NULL,
		.netns_count = options->netns_count,
		.tier = options->tier,
		.progress = show_progress,
	};
	struct experiment_output output = { 0 };
	struct result result;
	struct error error;
	int code, failed;

	result_init(&result);
	failed = experiment_run(&experiment, &result, &output, &error);
	end_progress();
	if (!failed)
		failed = write_results(options, &result, &output, file, guard, &error);
	if (failed)
		code = command_fail(&cmd_run, error.code, "%s", error.text);
	else
		code = conditions_judge(&options->conditions, &cmd_run, condition_of_result,
					&result);
	if (!failed && !result.complete)
		code = command_fail(&cmd_run, EXIT_INCOMPLETE, "incomplete: %s",
				    result.incomplete_why);
	*left = output.left_behind[0];
	if (*left && !code)
		code = EXIT_INCOMPLETE;
	if (*left)
		command_fail(&cmd_run, code, "%s (`sojourn lab list` shows what is left)",
			     output.left_behind);
	result_free(&result);
	for (int i = 0; i < SCENARIO_LOADS_MAX; i++)
		free(output.iperf3[i]);
	free(output.ping);
	return code;
}

static int check_privileges(void)
{
	struct doctor_check privileges;

	doctor_examine_privileges(&privileges);
	if (privileges.works)
		return EXIT_OK;
	return command_fail(&cmd_run, EXIT_CANNOT, "%s", privileges.why);
}

static int run_guarded(struct run_options *options, const struct scenario *scenario)
{
	struct output_file *file = NULL;
	struct guard *guard;
	struct error error;
	bool left;
	int code;

	guard = guard_start(&error);
	if (!guard)
		return command_fail(&cmd_run, error.code, "%s", error.text);
	if (options->json) {
		file = output_file_open(options->json, guard, &error);
		if (!file) {
			guard_stop(guard);
			return command_fail(&cmd_run, error.code, "--json: %s", error.text);
		}
	}
	code = run_experiment(options, scenario, guard, &file, &left);
	output_file_cancel(file);
	if (left)
		guard_leave(guard);
	else
		guard_stop(guard);
	return code;
}

static int run(int argc, char *argv[])
{
	struct run_options options = { 0 };
	struct scenario scenario;
	int code;

	code = parse_options(argc, argv, &options);
	if (!code)
		code = option_scenario(&cmd_run, options.scenario, options.set, options.set_count,
				       &scenario);
	if (!code)
		code = conditions_parse(&options.conditions, &cmd_run, expression_parse,
					&scenario);
	if (!code && options.directory)
		code = option_directory(&cmd_run, options.directory);
	if (!code)
		code = check_privileges();
	if (!code)
		code = run_guarded(&options, &scenario);
	conditions_free(&options.conditions);
	return code;
}

static void help(void)
{
	puts("Builds the scenario's lab, drives iperf3 and ping through it, traces every packet,\n"
	     "prints the summary, and removes everything again.\n"
	     "\n"
	     "  SCENARIO        a name (bottleneck, office) or a file; bottleneck is the default\n"
	     "  --json FILE     write the result as JSON; \"-\": to stdout, the summary to stderr\n"
	     "  --out DIR       write result.json, summary.txt, iperf3.json and ping.txt there; with two\n"
	     "                  loads iperf3-upload.json and iperf3-download.json\n"
	     "  --set KEY=VALUE set a value of the scenario; may be repeated\n"
	     "  --fail-if EXPR  exit with 1 where EXPR holds, as in 'load.rtt.p99 > 20ms'\n"
	     "  --netns NAME    trace this namespace and no other (default: all of the lab's); may be\n"
	     "                  repeated. The verdict then knows of its devices alone\n"
	     "  --tier TIER     functions: every qdisc of a tree by itself; tracepoints: roots only;\n"
	     "                  without it functions where the kernel allows it. `sojourn doctor`\n"
	     "                  tells which work here\n"
	     "\n"
	     "Exit codes: 0 done; 1 a --fail-if held; 2 bad usage; 3 cannot run here; 4 done,\n"
	     "but incomplete; 130, 143 interrupted, everything removed.\n");
	scenario_print_keys();
	putchar('\n');
	expression_print_figures();
}

const struct command cmd_run = {
	.name = "run",
	.usage = "run [SCENARIO] [--json FILE|-] [--out DIR] [--set KEY=VALUE]... [--fail-if EXPR]... [--netns NAME]... [--tier TIER]",
	.summary = "run a scenario and say where the packets waited",
	.run = run,
	.help = help,
};
