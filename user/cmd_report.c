// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands.h"
#include "conditions.h"
#include "in_json.h"
#include "options.h"
#include "out.h"
#include "out_csv.h"
#include "out_flent.h"
#include "out_html.h"
#include "out_plots.h"
#include "output_file.h"
#include "signals.h"

#define LIST_MAX	64
#define WIDTH_DEFAULT	100

struct report_options {
	const char *files[LIST_MAX];
	size_t file_count;
	const char *csv;		/* a directory; NULL: none */
	const char *flent;		/* a file or "-"; NULL: none */
	const char *html;		/* a file or "-"; NULL: none */
	struct html_document documents[LIST_MAX];	/* for it; their texts are owned */
	struct conditions conditions;
	struct plot_style style;
	bool color;
};

enum { OPTION_CSV = 256, OPTION_FLENT, OPTION_WIDTH, OPTION_ASCII, OPTION_FAIL_IF };

static const struct option long_options[] = {
	{ "csv", required_argument, NULL, OPTION_CSV },
	{ "flent", required_argument, NULL, OPTION_FLENT },
	{ "output", required_argument, NULL, 'o' },
	{ "width", required_argument, NULL, OPTION_WIDTH },
	{ "ascii", no_argument, NULL, OPTION_ASCII },
	{ "fail-if", required_argument, NULL, OPTION_FAIL_IF },
	{ NULL, 0, NULL, 0 },
};

/* ---- options ---- */

static int parse_width(const char *text, unsigned int *width)
{
	struct error error;
	__u64 value;

	if (units_parse_count(text, &value, &error))
		return command_fail(&cmd_report, error.code, "--width: %s", error.text);
	if (value < PLOT_WIDTH_MIN || value > PLOT_WIDTH_MAX)
		return command_fail(&cmd_report, EXIT_USAGE, "--width %s: it takes %d to %d columns",
				    text, PLOT_WIDTH_MIN, PLOT_WIDTH_MAX);
	*width = (unsigned int)value;
	return EXIT_OK;
}

static int parse_option(int option, const char *argument, struct report_options *options)
{
	switch (option) {
	case OPTION_CSV:
		options->csv = optarg;
		return EXIT_OK;
	case OPTION_FLENT:
		options->flent = optarg;
		return EXIT_OK;
	case 'o':
		options->html = optarg;
		return EXIT_OK;
	case OPTION_WIDTH:
		return parse_width(optarg, &options->style.width);
	case OPTION_ASCII:
		options->style.ascii = true;
		return EXIT_OK;
	case OPTION_FAIL_IF:
		return conditions_add(&options->conditions, &cmd_report, optarg);
	}
	return option_bad(&cmd_report, long_options, option, argument);
}

/* By the end of its name flent knows that a file is compressed. */
static bool is_gzip_name(const char *path)
{
	size_t length = strlen(path);

	return !strcmp(path, "-") || (length > 3 && !strcmp(path + length - 3, ".gz"));
}

static int parse_files(int argc, char *argv[], struct report_options *options)
{
	int i, code = EXIT_OK;

	for (i = optind; i < argc && !code; i++)
		code = option_add(&cmd_report, options->files, LIST_MAX, &options->file_count,
				  "a file", argv[i]);
	if (!code && !options->file_count)
		return command_fail(&cmd_report, EXIT_USAGE,
				    "no file is given: it reads what `sojourn run --json FILE` wrote");
	if (!code && options->csv && options->file_count > 1)
		return command_fail(&cmd_report, EXIT_USAGE,
				    "--csv takes one file: a directory holds the tables of one result");
	if (!code && options->flent && options->file_count > 1)
		return command_fail(&cmd_report, EXIT_USAGE,
				    "--flent takes one file: flent has one for each result");
	if (!code && options->flent && !is_gzip_name(options->flent))
		return command_fail(&cmd_report, EXIT_USAGE,
				    "--flent %s: flent reads it only where its name ends in .flent.gz",
				    options->flent);
	if (!code && !!options->csv + !!options->html + !!options->flent > 1)
		return command_fail(&cmd_report, EXIT_USAGE,
				    "-o, --csv and --flent are different reports: choose one");
	if (!code && options->html && !out_html_there())
		return command_fail(&cmd_report, EXIT_CANNOT,
				    "-o: this program was built without the HTML report: install npm and make it again");
	return code;
}

static int parse_options(int argc, char *argv[], struct report_options *options)
{
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1)
		code = parse_option(option, argv[optind - 1], options);
	if (!code)
		code = parse_files(argc, argv, options);
	return code ? code : conditions_parse(&options->conditions, &cmd_report, expression_parse,
					      NULL);
}

/* ---- the terminal ---- */

static unsigned int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
	struct winsize size;

	if (!width && isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width)
		return WIDTH_DEFAULT;
	return width < PLOT_WIDTH_MIN ? PLOT_WIDTH_MIN :
	       width > PLOT_WIDTH_MAX ? PLOT_WIDTH_MAX : (unsigned int)width;
}

static void look_at_terminal(struct report_options *options)
{
	options->style.width = terminal_width();
	setlocale(LC_CTYPE, "");
	options->style.ascii = strcmp(nl_langinfo(CODESET), "UTF-8");
	setlocale(LC_CTYPE, "C");
	options->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
}

/* ---- the report ---- */

/* Text (NULL: out of memory) into the file of an option; frees it. */
static int write_file(const char *option, const char *path, char *text, size_t length)
{
	struct error error;
	int failed;

	if (!text)
		return command_fail(&cmd_report, EXIT_CANNOT, "out of memory");
	failed = output_file_put(path, NULL, text, length, &error);
	free(text);
	return failed ? command_fail(&cmd_report, error.code, "%s: %s", option, error.text) : EXIT_OK;
}

static int write_flent(const struct report_options *options, const struct result *result)
{
	const char *slash = strrchr(options->flent, '/');
	const char *name = slash ? slash + 1 : options->flent;
	size_t length = 0;
	char *text = out_flent(result, strcmp(options->flent, "-") ? name : NULL, &length);

	return write_file("--flent", options->flent, text, length);
}

static int report_result(const struct report_options *options, const char *name,
			 const struct result *result)
{
	struct error error;
	int code;

	if (options->csv) {
		if (out_csv(result, options->csv, &error))
			return command_fail(&cmd_report, error.code, "%s", error.text);
	} else if (options->flent) {
		code = write_flent(options, result);
		if (code)
			return code;
	} else if (!options->html) {
		if (options->file_count > 1)
			printf("==> %s <==\n", name);
		out_text(result, stdout, options->color);
		out_plots(result, stdout, &options->style);
		if (options->file_count > 1)
			putchar('\n');
		if (fflush(stdout) || ferror(stdout))
			return command_fail(&cmd_report, EXIT_CANNOT,
					    "cannot write to standard output: %s",
					    strerror(errno));
	}
	code = conditions_judge(&options->conditions, &cmd_report, condition_of_result, result);
	return result->complete ? code : EXIT_INCOMPLETE;
}

/* index: which of the files it is. */
static int report_file(struct report_options *options, size_t index)
{
	struct html_document *document = &options->documents[index];
	const char *name = options->files[index];
	struct result result;
	struct error error;
	int code;

	document->name = strcmp(name, "-") ? name : "standard input";
	document->text = result_text(name, IN_JSON_BYTES_MAX, &document->length, &error);
	if (!document->text)
		return command_fail(&cmd_report, error.code, "%s", error.text);
	result_init(&result);
	if (result_parse(document->text, document->length, document->name, &result, &error))
		code = command_fail(&cmd_report, error.code, "%s", error.text);
	else
		code = report_result(options, name, &result);
	result_free(&result);
	if (!options->html) {
		free((char *)document->text);
		document->text = NULL;
	}
	return code;
}

static char *make_page(const struct report_options *options, size_t *length)
{
	char *page = NULL;
	FILE *stream = open_memstream(&page, length);
	int failed;

	if (!stream)
		return NULL;
	failed = out_html(stream, options->documents, options->file_count);
	if (!fclose(stream) && !failed)
		return page;
	free(page);
	return NULL;
}

static int write_page(const struct report_options *options)
{
	size_t length = 0;
	char *page = make_page(options, &length);

	return write_file("-o", options->html, page, length);
}

/* The gravest of all files: incomplete, then a condition. What cannot be read ends it. */
static int report_files(struct report_options *options)
{
	int code = EXIT_OK, one;

	for (size_t i = 0; i < options->file_count; i++) {
		one = report_file(options, i);
		if (one == EXIT_USAGE || one == EXIT_CANNOT)
			return one;
		if (one > code)
			code = one;
	}
	one = options->html ? write_page(options) : EXIT_OK;
	return one ? one : code;
}

static int run(int argc, char *argv[])
{
	struct report_options options = { 0 };
	int code;

	signals_end_with_reader();
	look_at_terminal(&options);
	code = parse_options(argc, argv, &options);
	if (!code)
		code = report_files(&options);
	for (size_t i = 0; i < options.file_count; i++)
		free((char *)options.documents[i].text);
	conditions_free(&options.conditions);
	return code;
}

static void help(void)
{
	puts("Shows again what a run has measured, with plots: RTT, sojourn, backlog and throughput over\n"
	     "time, how often which RTT and sojourn came, and the way of the slowest probe. FILE is what\n"
	     "`sojourn run --json FILE` wrote; \"-\" is standard input.\n"
	     "\n"
	     "  -o FILE         write one HTML page instead, with all that a browser needs to show it:\n"
	     "                  plots to zoom into, each probe's way, distributions, ledgers; several\n"
	     "                  results are overlaid\n"
	     "  --csv DIR       write tables of comma-separated values instead (docs/report.md); DIR has\n"
	     "                  to be new, or empty\n"
	     "  --flent FILE    write a data file for flent instead, NAME.flent.gz; of one result\n"
	     "  --width N       columns of the plots (default: the terminal's, else 100)\n"
	     "  --ascii         plots without Unicode; by itself where the locale is not UTF-8\n"
	     "  --fail-if EXPR  as in `sojourn run`: exit code 1 where it holds; may be repeated\n"
	     "\n"
	     "Exit codes: 0 done; 1 a --fail-if holds; 2 bad usage, or a file that is no result; 3 cannot\n"
	     "write here; 4 the result is incomplete.\n");
}

const struct command cmd_report = {
	.name = "report",
	.usage = "report FILE... [-o PAGE.html | --csv DIR | --flent FILE] [--width N] [--ascii] [--fail-if EXPR]...",
	.summary = "show results again, with plots, as a page, or as tables",
	.run = run,
	.help = help,
};
