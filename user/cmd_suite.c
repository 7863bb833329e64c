// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "conditions.h"
#include "doctor.h"
#include "options.h"
#include "output_file.h"
#include "suite_run.h"
#include "units.h"

#define LIST_MAX	64
#define REPEATS_MAX	100
#define SCALE_LEAST	0.01
#define SCALE_MOST	100

struct options {
	const char *name;
	const char *json;		/* file or "-"; NULL: none */
	const char *set[LIST_MAX];
	struct conditions conditions;
	struct suite_options suite;
	bool list;
};

enum {
	OPTION_ONLY = 256, OPTION_REPEAT, OPTION_SCALE, OPTION_OUT, OPTION_JSON, OPTION_SET,
	OPTION_FAIL_IF, OPTION_TIER, OPTION_LIST
};

static const struct option long_options[] = {
	{ "only", required_argument, NULL, OPTION_ONLY },
	{ "repeat", required_argument, NULL, OPTION_REPEAT },
	{ "time-scale", required_argument, NULL, OPTION_SCALE },
	{ "out", required_argument, NULL, OPTION_OUT },
	{ "json", required_argument, NULL, OPTION_JSON },
	{ "set", required_argument, NULL, OPTION_SET },
	{ "fail-if", required_argument, NULL, OPTION_FAIL_IF },
	{ "tier", required_argument, NULL, OPTION_TIER },
	{ "list", no_argument, NULL, OPTION_LIST },
	{ NULL, 0, NULL, 0 },
};

/* ---- options ---- */

static int parse_repeats(const char *text, unsigned int *repeats)
{
	struct error error;
	__u64 value;

	if (units_parse_count(text, &value, &error) || !value || value > REPEATS_MAX)
		return command_fail(&cmd_suite, EXIT_USAGE, "--repeat %s: it takes 1 to %d", text,
				    REPEATS_MAX);
	*repeats = (unsigned int)value;
	return EXIT_OK;
}

static int parse_scale(const char *text, double *scale)
{
	char *end;

	*scale = strtod(text, &end);
	if (end == text || *end || !(*scale >= SCALE_LEAST && *scale <= SCALE_MOST))
		return command_fail(&cmd_suite, EXIT_USAGE,
				    "--time-scale %s: it takes %g to %d, as in 0.1 for a tenth of all times",
				    text, SCALE_LEAST, SCALE_MOST);
	return EXIT_OK;
}

static int parse_option(int option, const char *argument, struct options *options)
{
	switch (option) {
	case OPTION_ONLY:
		options->suite.only = optarg;
		return EXIT_OK;
	case OPTION_REPEAT:
		return parse_repeats(optarg, &options->suite.repeats);
	case OPTION_SCALE:
		return parse_scale(optarg, &options->suite.scale);
	case OPTION_OUT:
		options->suite.directory = optarg;
		return EXIT_OK;
	case OPTION_JSON:
		options->json = optarg;
		return EXIT_OK;
	case OPTION_SET:
		return option_add(&cmd_suite, options->set, LIST_MAX, &options->suite.set_count,
				  "--set", optarg);
	case OPTION_FAIL_IF:
		return conditions_add(&options->conditions, &cmd_suite, optarg);
	case OPTION_TIER:
		return option_tier(&cmd_suite, optarg, &options->suite.tier);
	case OPTION_LIST:
		options->list = true;
		return EXIT_OK;
	}
	return option_bad(&cmd_suite, long_options, option, argument);
}

static int parse_options(int argc, char *argv[], struct options *options)
{
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
		code = parse_option(option, argv[optind - 1], options);
	if (code)
		return code;
	if (argc - optind > 1)
		return command_fail(&cmd_suite, EXIT_USAGE, "suite takes one name, not %d: '%s' is one too many",
				    argc - optind, argv[optind + 1]);
	options->name = optind < argc ? argv[optind] : NULL;
	if (!options->name && !options->list)
		return command_fail(&cmd_suite, EXIT_USAGE,
				    "which suite? `sojourn suite --list` shows them");
	options->suite.sets = options->set;
	return conditions_parse(&options->conditions, &cmd_suite, expression_parse, NULL);
}

/* ---- list ---- */

static void print_runs(const struct suite *suite)
{
	for (unsigned int i = 0; i < suite->run_count; i++)
		printf("  %-22s %-6s %s\n", suite->runs[i].name, suite->runs[i].class,
		       suite->runs[i].title);
}

static int list_suite(const char *name, bool with_runs)
{
	struct suite suite;
	struct error error;

	if (suite_named(&suite, name, &error)) {
		suite_free(&suite);
		return command_fail(&cmd_suite, error.code, "%s", error.text);
	}
	printf("%-11s %2u run%s  %s\n", suite.name, suite.run_count, suite.run_count == 1 ? " " : "s",
	       suite.title);
	if (with_runs)
		print_runs(&suite);
	suite_free(&suite);
	return EXIT_OK;
}

static int list(const struct options *options)
{
	int code = EXIT_OK;

	if (options->name)
		return list_suite(options->name, true);
	for (unsigned int i = 0; !code && i < suite_builtin_count(); i++)
		code = list_suite(suite_builtin_name(i), false);
	return code;
}

/* ---- performing ---- */

/* A line that is written over on a terminal; elsewhere one for each phase. */
static void show_progress(const char *text)
{
	static char shown[64];
	size_t length = strcspn(text, ":");
	char phase[64];

	if (isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r\033[K%s", text);
		return;
	}
	/* "run 3 of 30, L3: load" */
	length += 2 + strcspn(text + length + 2, " ");
	snprintf(phase, sizeof(phase), "%.*s", (int)length, text);
	if (!strcmp(phase, shown))
		return;
	snprintf(shown, sizeof(shown), "%s", phase);
	fprintf(stderr, "%s\n", text);
}

static int judge(void *context, const char *name, const struct result *result)
{
	const struct options *options = context;
	int code;

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	code = conditions_judge(&options->conditions, &cmd_suite, condition_of_result, result);
	return code ? command_fail(&cmd_suite, code, "so it is in run %s", name) : EXIT_OK;
}

static int write_json(const struct suite_outcome *outcome, struct output_file **file,
		      struct error *error)
{
	char *json = out_suite_json(outcome);
	int failed;

	if (!json)
		return error_set(error, EXIT_CANNOT, "out of memory");
	failed = output_file_finish(*file, json, strlen(json), error);
	*file = NULL;
	free(json);
	return failed;
}

static int perform(struct options *options, const struct suite *suite, struct output_file **file)
{
	bool to_stdout = options->json && !strcmp(options->json, "-");
	struct suite_outcome outcome;
	struct error error = { 0 };
	int code;

	code = suite_perform(suite, &options->suite, &outcome, &error);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	if (outcome.row_count)
		out_suite_text(&outcome, to_stdout ? stderr : stdout);
	fflush(stdout);
	if (outcome.interrupted)
		command_fail(&cmd_suite, code, "%s", error.text);
	if (*file && outcome.row_count && write_json(&outcome, file, &error))
		code = command_fail(&cmd_suite, error.code, "%s", error.text);
	free(outcome.rows);
	return code;
}

static int prepare(struct options *options, const struct suite *suite)
{
	struct doctor_check privileges;
	struct output_file *file = NULL;
	struct error error;
	int code;

	if (suite_check(suite, &options->suite, &error))
		return command_fail(&cmd_suite, error.code, "%s", error.text);
	if (options->suite.directory) {
		code = option_directory(&cmd_suite, options->suite.directory);
		if (code)
			return code;
	}
	doctor_examine_privileges(&privileges);
	if (!privileges.works)
		return command_fail(&cmd_suite, EXIT_CANNOT, "%s", privileges.why);
	if (options->json) {
		file = output_file_open(options->json, NULL, &error);
		if (!file)
			return command_fail(&cmd_suite, error.code, "--json: %s", error.text);
	}
	code = perform(options, suite, &file);
	output_file_cancel(file);
	return code;
}

static int run(int argc, char *argv[])
{
	struct options options = { .suite = { .repeats = 1, .scale = 1 } };
	struct suite suite;
	struct error error;
	int code = parse_options(argc, argv, &options);

	if (!code && options.list) {
		code = list(&options);
	} else if (!code) {
		options.suite.finished = judge;
		options.suite.context = &options;
		options.suite.progress = show_progress;
		if (suite_named(&suite, options.name, &error))
			code = command_fail(&cmd_suite, error.code, "%s", error.text);
		else
			code = prepare(&options, &suite);
		suite_free(&suite);
	}
	conditions_free(&options.conditions);
	return code;
}

static void help(void)
{
	puts("Performs the runs of a suite one after the other and puts them side by side: RTT,\n"
	     "throughput, sojourn, the shape of the RTT's timeline, classes and a ranking.\n"
	     "\n"
	     "  NAME             one that is built in (--list), or a file (docs/suites.md)\n"
	     "  --list [NAME]    show the suites, or the runs of one\n"
	     "  --only PATTERN   runs, or classes of runs, of such a name: 'L*'\n"
	     "  --repeat N       each so many times, 1 to 100\n"
	     "  --time-scale S   times that are so much longer: 0.1 for quick runs\n"
	     "  --out DIR        keep each run's result there (NAME.json). What is there already, of\n"
	     "                   the same scenario and whole, is not done again: a suite that was\n"
	     "                   interrupted goes on\n"
	     "  --json FILE      write all figures as JSON; \"-\": to stdout, the tables to stderr\n"
	     "  --set KEY=VALUE  set a value of every run's scenario, as `sojourn run` takes it\n"
	     "  --fail-if EXPR   exit with 1 where it holds for any run (`sojourn help run`)\n"
	     "  --tier TIER      as `sojourn run` takes it\n"
	     "\n"
	     "A run that this kernel lacks a qdisc for is left out, and told. Exit codes: 0 done; 1 a\n"
	     "--fail-if held; 2 bad usage; 3 cannot run here; 4 runs are missing or incomplete.");
}

const struct command cmd_suite = {
	.name = "suite",
	.usage = "suite NAME [--only PATTERN] [--repeat N] [--time-scale S] [--out DIR] [--json FILE|-] [--set KEY=VALUE]... [--fail-if EXPR]... | suite --list [NAME]",
	.summary = "perform many runs and put them side by side",
	.run = run,
	.help = help,
};
