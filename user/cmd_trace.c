// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "options.h"
#include "packet_print.h"
#include "packet_trace.h"
#include "packet_writer.h"
#include "signals.h"
#include "units.h"

#define LIST_MAX	64

struct trace_options {
	struct packet_trace_options trace;
	const char *netns[LIST_MAX];
	const char *devices[LIST_MAX];
	const char *read;		/* a recorded file, "-" for stdin; NULL: trace */
	bool summary;
	bool traces;			/* an option was given that only a trace takes */
};

enum {
	OPTION_NETNS = 256, OPTION_SECONDS, OPTION_COUNT, OPTION_TIER, OPTION_JSON, OPTION_READ,
	OPTION_SUMMARY,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "interface", required_argument, NULL, 'i' },
	{ "netns", required_argument, NULL, OPTION_NETNS },
	{ "seconds", required_argument, NULL, OPTION_SECONDS },
	{ "count", required_argument, NULL, OPTION_COUNT },
	{ "tier", required_argument, NULL, OPTION_TIER },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "read", required_argument, NULL, OPTION_READ },
	{ "summary", no_argument, NULL, OPTION_SUMMARY },
	{ NULL, 0, NULL, 0 },
};


static int parse_positive(const char *option, const char *text, __u64 *value,
			  int (*parse)(const char *text, __u64 *value, struct error *error))
{
	struct error error;

	if (parse(text, value, &error))
		return command_fail(&cmd_trace, error.code, "%s: %s", option, error.text);
	if (!*value)
		return command_fail(&cmd_trace, EXIT_USAGE,
				    "%s: 0 is no trace; without it a trace lasts until Ctrl-C",
				    option);
	return EXIT_OK;
}

static int parse_option(int option, const char *argument, struct trace_options *options)
{
	struct packet_trace_options *trace = &options->trace;

	switch (option) {
	case 'o':
		trace->path = optarg;
		return EXIT_OK;
	case 'i':
		return option_add(&cmd_trace, options->devices, LIST_MAX, &trace->device_count, "-i",
				  optarg);
	case OPTION_NETNS:
		return option_add(&cmd_trace, options->netns, LIST_MAX, &trace->netns_count, "--netns",
				  optarg);
	case OPTION_SECONDS:
		return parse_positive("--seconds", optarg, &trace->length_ns, units_parse_time);
	case OPTION_COUNT:
		return parse_positive("--count", optarg, &trace->count, units_parse_count);
	case OPTION_TIER:
		return option_tier(&cmd_trace, optarg, &trace->tier);
	case OPTION_JSON:
		trace->json = true;
		return EXIT_OK;
	case OPTION_READ:
		options->read = optarg;
		return EXIT_OK;
	case OPTION_SUMMARY:
		options->summary = true;
		return EXIT_OK;
	}
	return option_bad(&cmd_trace, long_options, option, argument);
}

static int check_options(const struct trace_options *options)
{
	if (options->read && options->traces)
		return command_fail(&cmd_trace, EXIT_USAGE,
				    "--read prints a file that was recorded: it goes with --json and --summary only");
	if (!options->read && options->summary)
		return command_fail(&cmd_trace, EXIT_USAGE,
				    "--summary is of a recorded file: `sojourn trace --read FILE --summary`");
	if (options->trace.path && options->trace.json)
		return command_fail(&cmd_trace, EXIT_USAGE,
				    "-o writes a binary file, --json lines to standard output: take one of them; `sojourn trace --read FILE --json` makes the one of the other");
	return EXIT_OK;
}

static int parse_options(int argc, char *argv[], struct trace_options *options)
{
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":o:i:", long_options, NULL)) != -1) {
		code = parse_option(option, argv[optind - 1], options);
		options->traces |= option != OPTION_JSON && option != OPTION_READ &&
				   option != OPTION_SUMMARY;
	}
	if (code)
		return code;
	if (optind < argc)
		return command_fail(&cmd_trace, EXIT_USAGE,
				    "'%s' is too much: trace takes options only", argv[optind]);
	options->trace.netns = options->netns;
	options->trace.devices = options->devices;
	return check_options(options);
}

/* ---- reading ---- */

static int open_file(const char *path, struct error *error)
{
	int fd;

	if (!strcmp(path, "-"))
		return STDIN_FILENO;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? error_set_errno(error, EXIT_USAGE, "cannot be read") : fd;
}

static int print_file(const struct trace_options *options, FILE *file, char *trouble, size_t size,
		      struct error *error)
{
	struct packet_print_options print = {
		.file = file,
		.json = options->trace.json,
		.summary = options->summary,
	};
	struct packet_printer *printer = packet_printer_open(&print);
	int fd = open_file(options->read, error), failed = -1;
	struct packet_sink sink;

	if (!printer)
		error_set(error, EXIT_CANNOT, "out of memory");
	if (printer && fd >= 0) {
		sink = packet_printer_sink(printer);
		failed = packet_file_read(fd, &sink, error);
		/* What is whole is printed in any case. */
		if (packet_printer_finish(printer, failed ? NULL : error))
			failed = -1;
		snprintf(trouble, size, "%s", packet_printer_trouble(printer));
	}
	if (fd > STDERR_FILENO)
		close(fd);
	packet_printer_close(printer);
	return failed;
}

static int read_file(const struct trace_options *options)
{
	const char *name = strcmp(options->read, "-") ? options->read : "standard input";
	struct packet_output *output = packet_output_open(STDOUT_FILENO, "standard output");
	FILE *file = output ? packet_output_stream(output) : NULL;
	char trouble[512] = "";
	struct error error;
	int failed;

	if (!file) {
		packet_output_close(output);
		return command_fail(&cmd_trace, EXIT_CANNOT, "out of memory");
	}
	failed = print_file(options, file, trouble, sizeof(trouble), &error);
	fclose(file);
	if (packet_output_error(output, &error))
		command_fail(&cmd_trace, error.code, "%s", error.text);
	else if (failed)
		command_fail(&cmd_trace, error.code, "%s: %s", name, error.text);
	packet_output_close(output);
	if (failed)
		return error.code;
	if (trouble[0])
		return command_fail(&cmd_trace, EXIT_INCOMPLETE, "%s is incomplete: %s", name,
				    trouble);
	return EXIT_OK;
}

/* ---- tracing ---- */

static void tell_begun(const char *tier, const char *absent)
{
	if (*absent)
		fprintf(stderr, "no device %s yet in what is traced\n", absent);
	fprintf(stderr, "tracing, tier %s; Ctrl-C ends it\n", tier);
}

static int trace(const struct trace_options *options)
{
	struct packet_trace_result result;
	struct doctor_check privileges;
	struct error error;

	doctor_examine_privileges(&privileges);
	if (!privileges.works)
		return command_fail(&cmd_trace, EXIT_CANNOT, "%s", privileges.why);
	if (packet_trace(&options->trace, &result, &error))
		return command_fail(&cmd_trace, error.code, "%s", error.text);
	fprintf(stderr, "%llu records in %.3f s\n", result.records,
		(double)result.length_ns / 1e9);
	if (result.trouble[0])
		return command_fail(&cmd_trace, EXIT_INCOMPLETE, "incomplete: %s", result.trouble);
	return EXIT_OK;
}

static int run(int argc, char *argv[])
{
	struct trace_options options = { .trace.begun = tell_begun };
	int code = parse_options(argc, argv, &options);

	if (code)
		return code;
	if (options.read)
		signals_end_with_reader();
	return options.read ? read_file(&options) : trace(&options);
}

static void help(void)
{
	puts("Each packet that a qdisc has done with is a record: when, how long it was in there, and\n"
	     "what became of it. Without -o they are lines on standard output.\n"
	     "\n"
	     "  -o FILE         write a binary file, which costs much less; \"-\": to standard output.\n"
	     "                  FILE may be a FIFO that is being read\n"
	     "  -i DEV          of this device only; may be repeated (default: every device)\n"
	     "  --netns NAME    of this network namespace only; may be repeated (default: every one)\n"
	     "  --seconds TIME  end after so long, as in 10, 0.5 or 200ms\n"
	     "  --count N       end after N records\n"
	     "  --tier TIER     functions: every qdisc of a tree by itself; tracepoints: roots only;\n"
	     "                  without it functions where the kernel allows it\n"
	     "  --json          JSON Lines\n"
	     "  --read FILE     print what was recorded; \"-\": from standard input\n"
	     "  --summary       of that only the sums: packets and percentiles by qdisc and outcome\n"
	     "\n"
	     "Outcomes: measured (handed out), bypassed (straight to the driver), rejected (refused\n"
	     "when offered), dropped (freed after it waited), repeated (a requeue, handed out again:\n"
	     "its sojourn replaces the one told before), unmatched (when it came is not known).\n"
	     "\n"
	     "Ctrl-C (SIGINT) and SIGTERM end a trace in good order; a second one while what is left\n"
	     "is written gives that up.\n"
	     "\n"
	     "Exit codes: 0 done; 2 bad usage, or a file that is none or cut off; 3 cannot trace or\n"
	     "write here; 4 done, but incomplete: something was lost, and the last line says what.\n");
}

const struct command cmd_trace = {
	.name = "trace",
	.usage = "trace [-o FILE|-] [-i DEV]... [--netns NAME]... [--seconds TIME] [--count N] [--tier TIER] [--json] | trace --read FILE|- [--json] [--summary]",
	.summary = "record every packet: how long it was in which qdisc, and what became of it",
	.run = run,
	.help = help,
};
