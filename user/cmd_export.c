// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>

#include "commands.h"
#include "export.h"
#include "options.h"
#include "units.h"

#define LIST_MAX	64
#define DEFAULT_LISTEN	"127.0.0.1:9435"
#define DEFAULT_SERIES	2000

struct arguments {
	struct export_options export;
	const char *netns[LIST_MAX];
	const char *devices[LIST_MAX];
	const char *listen;
};

enum { OPTION_LISTEN = 256, OPTION_NETNS, OPTION_TIER, OPTION_MAX_SERIES };

static const struct option long_options[] = {
	{ "listen", required_argument, NULL, OPTION_LISTEN },
	{ "netns", required_argument, NULL, OPTION_NETNS },
	{ "interface", required_argument, NULL, 'i' },
	{ "tier", required_argument, NULL, OPTION_TIER },
	{ "max-series", required_argument, NULL, OPTION_MAX_SERIES },
	{ NULL, 0, NULL, 0 },
};

static int parse_series(const char *text, unsigned int *series)
{
	struct error error;
	__u64 value;

	if (units_parse_count(text, &value, &error))
		return command_fail(&cmd_export, error.code, "--max-series: %s", error.text);
	if (!value || value > EXPORT_SERIES_MAX)
		return command_fail(&cmd_export, EXIT_USAGE,
				    "--max-series %s: it is a number of qdiscs from 1 to %d", text,
				    EXPORT_SERIES_MAX);
	*series = (unsigned int)value;
	return EXIT_OK;
}

static int parse_option(int option, const char *argument, struct arguments *arguments)
{
	struct export_options *export = &arguments->export;

	switch (option) {
	case 'i':
		return option_add(&cmd_export, arguments->devices, LIST_MAX,
				  &export->device_count, "-i", optarg);
	case OPTION_NETNS:
		return option_add(&cmd_export, arguments->netns, LIST_MAX, &export->netns_count,
				  "--netns", optarg);
	case OPTION_LISTEN:
		arguments->listen = optarg;
		return EXIT_OK;
	case OPTION_TIER:
		return option_tier(&cmd_export, optarg, &export->tier);
	case OPTION_MAX_SERIES:
		return parse_series(optarg, &export->max_series);
	}
	return option_bad(&cmd_export, long_options, option, argument);
}

static int parse_options(int argc, char *argv[], struct arguments *arguments)
{
	int option, code = EXIT_OK;
	struct error error;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":i:", long_options, NULL)) != -1)
		code = parse_option(option, argv[optind - 1], arguments);
	if (code)
		return code;
	if (optind < argc)
		return command_fail(&cmd_export, EXIT_USAGE,
				    "'%s' is too much: export takes options only", argv[optind]);
	if (listen_address_parse(arguments->listen, &arguments->export.listen, &error))
		return command_fail(&cmd_export, error.code, "--listen: %s", error.text);
	arguments->export.netns = arguments->netns;
	arguments->export.devices = arguments->devices;
	return EXIT_OK;
}

static void tell_begun(const struct export_options *options, const char *tier)
{
	fprintf(stderr, "tracing, tier %s; metrics at http://%s/metrics\n", tier,
		options->listen.text);
}

static int run(int argc, char *argv[])
{
	struct arguments arguments = {
		.export = { .max_series = DEFAULT_SERIES, .begun = tell_begun },
		.listen = DEFAULT_LISTEN,
	};
	int code = parse_options(argc, argv, &arguments);
	struct error error;

	if (code)
		return code;
	if (export_run(&arguments.export, &error))
		return command_fail(&cmd_export, error.code, "%s", error.text);
	return EXIT_OK;
}

static void help(void)
{
	puts("Traces until SIGINT or SIGTERM, and answers scrapes at http://ADDRESS:PORT/metrics:\n"
	     "OpenMetrics, Prometheus's text, or protobuf with native histograms, as the client asks.\n"
	     "/healthz: is it alive; /readyz: does it trace. docs/export.md lists the metrics.\n"
	     "\n"
	     "  --listen ADDRESS:PORT  an address of this host, in numbers (default: 127.0.0.1:9435);\n"
	     "                         [::1]:9435; \":9435\" is every address: there is no password\n"
	     "  --netns NAME           of this network namespace only; may be repeated (default: every\n"
	     "                         one)\n"
	     "  -i DEV                 of this device only; may be repeated (default: every device)\n"
	     "  --tier TIER            functions: every qdisc of a tree by itself; tracepoints: roots\n"
	     "                         only; without it functions where the kernel allows it\n"
	     "  --max-series N         qdiscs with series of their own (default: 2000, at most 20000);\n"
	     "                         what the others do is summed up as kind \"other\"\n"
	     "\n"
	     "Exit codes: 0 ended by a signal; 2 bad usage; 3 cannot trace or listen here.\n");
}

const struct command cmd_export = {
	.name = "export",
	.usage = "export [--listen ADDRESS:PORT] [--netns NAME]... [-i DEV]... [--tier TIER] [--max-series N]",
	.summary = "trace for long, and tell Prometheus how long packets wait in each qdisc",
	.run = run,
	.help = help,
};
