// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "commands.h"
#include "compare.h"
#include "conditions.h"
#include "in_json.h"
#include "options.h"
#include "out_compare.h"
#include "output_file.h"
#include "signals.h"

#define RESULTS_MAX	200	/* of a side */

struct compare_options {
	const char *json;		/* file or "-"; NULL: none */
	struct conditions conditions;
	double confidence;
	const char *sides[2];
};

/* The results of a side, owned. */
struct loaded {
	struct result *results;
	char **files;
	size_t count, room;
};

enum { OPTION_JSON = 256, OPTION_FAIL_IF, OPTION_CONFIDENCE };

static const struct option long_options[] = {
	{ "json", required_argument, NULL, OPTION_JSON },
	{ "fail-if", required_argument, NULL, OPTION_FAIL_IF },
	{ "confidence", required_argument, NULL, OPTION_CONFIDENCE },
	{ NULL, 0, NULL, 0 },
};

/* ---- options ---- */

static int parse_confidence(const char *text, double *confidence)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent >= 50 && percent <= 99.9))
		return command_fail(&cmd_compare, EXIT_USAGE,
				    "--confidence %s: it takes 50 to 99.9 (percent), as in 95", text);
	*confidence = percent / 100;
	return EXIT_OK;
}

static int parse_option(int option, const char *argument, struct compare_options *options)
{
	switch (option) {
	case OPTION_JSON:
		options->json = optarg;
		return EXIT_OK;
	case OPTION_FAIL_IF:
		return conditions_add(&options->conditions, &cmd_compare, optarg);
	case OPTION_CONFIDENCE:
		return parse_confidence(optarg, &options->confidence);
	}
	return option_bad(&cmd_compare, long_options, option, argument);
}


static int parse_options(int argc, char *argv[], struct compare_options *options)
{
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
		code = parse_option(option, argv[optind - 1], options);
	if (code)
		return code;
	if (argc - optind != 2)
		return command_fail(&cmd_compare, EXIT_USAGE,
				    "it takes two results, BEFORE and AFTER, not %d: files of `sojourn run --json`, or directories of such files",
				    argc - optind);
	options->sides[0] = argv[optind];
	options->sides[1] = argv[optind + 1];
	return conditions_parse(&options->conditions, &cmd_compare, expression_parse_change, NULL);
}

/* ---- results ---- */

static int load_file(struct loaded *side, const char *path, struct error *error)
{
	struct result *grown;
	size_t room = side->room;

	if (side->count == RESULTS_MAX)
		return error_set(error, EXIT_USAGE, "%s: %d results are the most of a side", path,
				 RESULTS_MAX);
	grown = array_grow(side->results, side->count, &side->room, sizeof(*grown));
	if (!grown)
		return error_set(error, EXIT_CANNOT, "out of memory");
	side->results = grown;
	if (side->room != room || !side->files) {
		char **files = reallocarray(side->files, side->room, sizeof(*files));

		if (!files)
			return error_set(error, EXIT_CANNOT, "out of memory");
		side->files = files;
	}
	result_init(&grown[side->count]);
	side->files[side->count] = strdup(path);
	side->count++;
	return result_read(path, &grown[side->count - 1], error);
}

static int is_json(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       !strcmp(entry->d_name + length - 5, ".json");
}

static int load_directory(struct loaded *side, const char *path, struct error *error)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_json, alphasort), i, err = 0;
	char *file = NULL;

	if (count < 0)
		return error_set_errno(error, EXIT_USAGE, "%s cannot be read", path);
	for (i = 0; i < count; i++) {
		if (!err && asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
			err = error_set(error, EXIT_CANNOT, "out of memory");
		else if (!err) {
			err = load_file(side, file, error);
			free(file);
		}
		free(entries[i]);
	}
	free(entries);
	if (!err && !count)
		err = error_set(error, EXIT_USAGE, "%s has no file named *.json", path);
	return err;
}

static int load_side(struct loaded *side, const char *path, struct error *error)
{
	struct stat status;

	if (strcmp(path, "-") && !stat(path, &status) && S_ISDIR(status.st_mode))
		return load_directory(side, path, error);
	return load_file(side, path, error);
}

static void unload(struct loaded *side)
{
	size_t i;

	for (i = 0; i < side->count; i++) {
		result_free(&side->results[i]);
		free(side->files[i]);
	}
	free(side->results);
	free(side->files);
}

static bool all_complete(const struct loaded *side)
{
	size_t i;

	for (i = 0; i < side->count; i++)
		if (!side->results[i].complete)
			return false;
	return true;
}

/* ---- the comparison ---- */

/* A figure that only conditions ask for has no row: by the first result of each side. */
static int find_values(const struct compare_output *output, const char *name, double *before,
		       double *after)
{
	const struct compare_row *row = compare_row_find(output->comparison, name);

	if (row) {
		*before = row->before;
		*after = row->after;
		return 0;
	}
	return expression_figure(name, output->sides[0].results, before) &&
	       expression_figure(name, output->sides[1].results, after) ? 0 : -1;
}

static int condition_of_comparison(const struct expression *expression, const void *context,
				   bool *holds, char *found, size_t size, struct error *error)
{
	const char *name = expression_name(expression);
	double before, after;

	if (find_values(context, name, &before, &after))
		return error_set(error, EXIT_INCOMPLETE, "%s has no value on one of the sides",
				 name);
	return expression_change_holds(expression, before, after, holds, found, size, error);
}

static int write_json(const char *path, const struct compare_output *output, struct error *error)
{
	struct output_file *file = output_file_open(path, NULL, error);
	char *text = file ? out_compare_json(output) : NULL;
	int failed = -1;

	if (text)
		failed = output_file_finish(file, text, strlen(text), error);
	else if (file) {
		output_file_cancel(file);
		error_set(error, EXIT_CANNOT, "out of memory");
	}
	free(text);
	return failed;
}

static int tell(const struct compare_options *options, const struct compare_output *output)
{
	FILE *file = options->json && !strcmp(options->json, "-") ? stderr : stdout;
	struct error error;

	out_compare_text(output, file, isatty(fileno(file)) && !getenv("NO_COLOR"));
	if (fflush(file) || ferror(file))
		return command_fail(&cmd_compare, EXIT_CANNOT, "cannot write: %s", strerror(errno));
	if (options->json && write_json(options->json, output, &error))
		return command_fail(&cmd_compare, error.code, "%s", error.text);
	return EXIT_OK;
}

static int compare_sides(const struct compare_options *options, const struct loaded sides[2])
{
	struct comparison *comparison = malloc(sizeof(*comparison));
	struct compare_output output = { .comparison = comparison };
	struct error error;
	int code, i;

	for (i = 0; i < 2; i++) {
		output.sides[i] = (struct compare_side){ sides[i].results, sides[i].count };
		output.sources[i] = (struct compare_source){ options->sides[i], sides[i].files };
	}
	if (!comparison || compare_fill(comparison, &output.sides[0], &output.sides[1],
					options->confidence, &error)) {
		free(comparison);
		return command_fail(&cmd_compare, EXIT_CANNOT, "out of memory");
	}
	code = tell(options, &output);
	if (!code) {
		code = conditions_judge(&options->conditions, &cmd_compare, condition_of_comparison,
					&output);
		if (!(all_complete(&sides[0]) && all_complete(&sides[1])))
			code = command_fail(&cmd_compare, EXIT_INCOMPLETE,
					    "a result is incomplete, as told above");
	}
	free(comparison);
	return code;
}

static int run(int argc, char *argv[])
{
	struct compare_options options = { .confidence = 0.95 };
	struct loaded sides[2] = { 0 };
	struct error error;
	int code = parse_options(argc, argv, &options);
	size_t i;

	signals_end_with_reader();
	for (i = 0; !code && i < 2; i++)
		if (load_side(&sides[i], options.sides[i], &error))
			code = command_fail(&cmd_compare, error.code, "%s", error.text);
	if (!code)
		code = compare_sides(&options, sides);
	for (i = 0; i < 2; i++)
		unload(&sides[i]);
	conditions_free(&options.conditions);
	return code;
}

static void help(void)
{
	puts("What changed from one result to another: RTT of each phase, what was delivered, retransmits,\n"
	     "drops, sojourn in the cause, with an interval for the change and whether it is better, worse,\n"
	     "the same, or cannot be told. BEFORE and AFTER are files of `sojourn run --json FILE`, or\n"
	     "directories of such files: three or more repeats a side are compared as repeats.\n"
	     "\n"
	     "  --json FILE         the comparison as JSON; \"-\": on standard output, the text on standard error\n"
	     "  --confidence P      of the intervals, in percent (default 95)\n"
	     "  --fail-if EXPR      exit code 1 where it holds; may be repeated: before.FIGURE, after.FIGURE\n"
	     "                      or change.FIGURE, an operator, a value, as in\n"
	     "                      'change.load.rtt.p99 > 10%', 'after.load.rtt.p50 > 20ms'\n"
	     "\n"
	     "`sojourn help run` lists the figures, docs/compare.md says how it is calculated.\n"
	     "\n"
	     "Exit codes: 0 done; 1 a --fail-if holds; 2 bad usage, or a file that is no result; 3 cannot\n"
	     "write; 4 a result is incomplete, or lacks a figure that a condition names.\n");
}

const struct command cmd_compare = {
	.name = "compare",
	.usage = "compare BEFORE AFTER [--json FILE|-] [--confidence PERCENT] [--fail-if EXPR]...",
	.summary = "what changed between two results, and how sure that is",
	.run = run,
	.help = help,
};
