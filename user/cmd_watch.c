// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "doctor.h"
#include "options.h"
#include "terminal.h"
#include "units.h"
#include "watch.h"

#define LIST_MAX		64
#define INTERVAL_LEAST_NS	100000000ULL
#define INTERVAL_MOST_NS	3600000000000ULL
#define PLAIN_WIDTH		150	/* of lines that go to no terminal */
#define WIDTH_LEAST		40
#define WIDTH_MOST		400

struct options {
	const char *netns[LIST_MAX], *devices[LIST_MAX];
	struct watch_options watch;
	bool plain;
};

enum {
	OPTION_NETNS = 256, OPTION_INTERVAL, OPTION_TIER, OPTION_ONCE, OPTION_COUNT, OPTION_JSON,
	OPTION_SORT, OPTION_FILTER, OPTION_IDLE, OPTION_ASCII, OPTION_PLAIN, OPTION_WIDTH,
	OPTION_SLOWER, OPTION_FLOWS
};

static const struct option long_options[] = {
	{ "netns", required_argument, NULL, OPTION_NETNS },
	{ "interval", required_argument, NULL, OPTION_INTERVAL },
	{ "tier", required_argument, NULL, OPTION_TIER },
	{ "once", no_argument, NULL, OPTION_ONCE },
	{ "count", required_argument, NULL, OPTION_COUNT },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "sort", required_argument, NULL, OPTION_SORT },
	{ "filter", required_argument, NULL, OPTION_FILTER },
	{ "idle", no_argument, NULL, OPTION_IDLE },
	{ "ascii", no_argument, NULL, OPTION_ASCII },
	{ "plain", no_argument, NULL, OPTION_PLAIN },
	{ "width", required_argument, NULL, OPTION_WIDTH },
	{ "slower-than", required_argument, NULL, OPTION_SLOWER },
	{ "flows", required_argument, NULL, OPTION_FLOWS },
	{ NULL, 0, NULL, 0 },
};

static int parse_interval(const char *text, __u64 *ns)
{
	struct error error;

	if (units_parse_time(text, ns, &error))
		return command_fail(&cmd_watch, EXIT_USAGE, "--interval: %s", error.text);
	if (*ns < INTERVAL_LEAST_NS || *ns > INTERVAL_MOST_NS)
		return command_fail(&cmd_watch, EXIT_USAGE, "--interval %s: it takes 100ms to 1h",
				    text);
	return EXIT_OK;
}

static int parse_count(const char *option, const char *text, __u64 least, __u64 most,
		       __u64 *value)
{
	struct error error;

	if (units_parse_count(text, value, &error) || *value < least || *value > most)
		return command_fail(&cmd_watch, EXIT_USAGE, "%s %s: it takes %llu to %llu", option,
				    text, least, most);
	return EXIT_OK;
}

static int parse_sort(const char *text, enum watch_sort *sort)
{
	int named = watch_sort_named(text);

	if (named < 0)
		return command_fail(&cmd_watch, EXIT_USAGE,
				    "--sort %s: there are tree, p99, max, rate, packets, backlog and drops",
				    text);
	*sort = (enum watch_sort)named;
	return EXIT_OK;
}

static int parse_filter(const char *text, struct watch_view *view)
{
	if (strlen(text) >= sizeof(view->filter))
		return command_fail(&cmd_watch, EXIT_USAGE, "--filter: %zu characters are the most",
				    sizeof(view->filter) - 1);
	memcpy(view->filter, text, strlen(text) + 1);
	return EXIT_OK;
}

static int parse_slow(const char *text, __u64 *ns)
{
	struct error error;

	if (units_parse_time(text, ns, &error))
		return command_fail(&cmd_watch, EXIT_USAGE, "--slower-than: %s", error.text);
	if (!*ns || *ns > INTERVAL_MOST_NS)
		return command_fail(&cmd_watch, EXIT_USAGE,
				    "--slower-than %s: it takes a time such as 50ms", text);
	return EXIT_OK;
}

static int parse_flows(const char *text, const char **flows)
{
	if (!*text || strlen(text) >= WATCH_FILTER_SIZE)
		return command_fail(&cmd_watch, EXIT_USAGE,
				    "--flows: name a qdisc by a part of its name, such as 'eth0 tbf'");
	*flows = text;
	return EXIT_OK;
}

static int parse_netns(struct options *options, const char *name)
{
	/* every namespace, which is the default */
	if (!strcmp(name, "all"))
		return EXIT_OK;
	return option_add(&cmd_watch, options->netns, LIST_MAX, &options->watch.live.netns_count,
			  "--netns", name);
}

static int parse_option(int option, const char *argument, struct options *options)
{
	struct watch_view *view = &options->watch.view;
	__u64 width;

	switch (option) {
	case 'i':
		return option_add(&cmd_watch, options->devices, LIST_MAX,
				  &options->watch.live.device_count, "-i", optarg);
	case OPTION_NETNS:
		return parse_netns(options, optarg);
	case OPTION_INTERVAL:
		return parse_interval(optarg, &options->watch.live.interval_ns);
	case OPTION_TIER:
		return option_tier(&cmd_watch, optarg, &options->watch.live.tier);
	case OPTION_ONCE:
		options->watch.count = 1;
		return EXIT_OK;
	case OPTION_COUNT:
		return parse_count("--count", optarg, 1, 1000000000, &options->watch.count);
	case OPTION_JSON:
		options->watch.json = true;
		return EXIT_OK;
	case OPTION_SORT:
		return parse_sort(optarg, &view->sort);
	case OPTION_FILTER:
		return parse_filter(optarg, view);
	case OPTION_IDLE:
		view->idle = true;
		return EXIT_OK;
	case OPTION_ASCII:
		view->ascii = true;
		return EXIT_OK;
	case OPTION_PLAIN:
		options->plain = true;
		return EXIT_OK;
	case OPTION_SLOWER:
		return parse_slow(optarg, &options->watch.slow_ns);
	case OPTION_FLOWS:
		return parse_flows(optarg, &options->watch.flows);
	case OPTION_WIDTH:
		if (parse_count("--width", optarg, WIDTH_LEAST, WIDTH_MOST, &width))
			return EXIT_USAGE;
		view->width = (unsigned int)width;
		return EXIT_OK;
	}
	return option_bad(&cmd_watch, long_options, option, argument);
}

static int parse_options(int argc, char *argv[], struct options *options)
{
	int option, code = EXIT_OK;

	optind = 0;
	opterr = 0;
	while (!code && (option = getopt_long(argc, argv, ":i:", long_options, NULL)) != -1)
		code = parse_option(option, argv[optind - 1], options);
	if (code)
		return code;
	if (optind < argc)
		return command_fail(&cmd_watch, EXIT_USAGE,
				    "'%s' is too much: watch takes options only", argv[optind]);
	if (options->watch.flows && (options->watch.json || options->watch.slow_ns))
		return command_fail(&cmd_watch, EXIT_USAGE,
				    "--flows is a table of its own: neither --json nor --slower-than goes with it");
	options->watch.live.netns = options->netns;
	options->watch.live.devices = options->devices;
	return EXIT_OK;
}

static void choose_output(struct options *options)
{
	struct watch_options *watch = &options->watch;
	const char *no_color = getenv("NO_COLOR");

	/* of the locale only which characters there are */
	setlocale(LC_CTYPE, "");
	watch->view.ascii |= strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	watch->screen = !watch->json && !options->plain && !watch->count && !watch->slow_ns &&
			!watch->flows && terminal_there();
	watch->view.color = watch->screen && (!no_color || !*no_color);
	if (!watch->view.width)
		watch->view.width = PLAIN_WIDTH;
}

static int run(int argc, char *argv[])
{
	struct options options = { .watch.live.interval_ns = 1000000000 };
	int code = parse_options(argc, argv, &options);
	struct doctor_check privileges;
	struct live_losses losses;
	struct error error;
	char lost[512];

	if (code)
		return code;
	doctor_examine_privileges(&privileges);
	if (!privileges.works)
		return command_fail(&cmd_watch, EXIT_CANNOT, "%s", privileges.why);
	choose_output(&options);
	if (watch(&options.watch, &losses, &error))
		return command_fail(&cmd_watch, error.code, "%s", error.text);
	if (*watch_losses_text(&losses, lost, sizeof(lost)))
		return command_fail(&cmd_watch, EXIT_INCOMPLETE, "lost: %s", lost);
	return EXIT_OK;
}

static void help(void)
{
	puts("A live view of every qdisc: what goes through it, how long packets are in it, what is\n"
	     "queued. On a terminal it is a screen (? lists its keys), elsewhere a table for each\n"
	     "interval.\n"
	     "\n"
	     "  -i DEV           of this device only; may be repeated (default: every device)\n"
	     "  --netns NAME     of this network namespace only; may be repeated; all: every one,\n"
	     "                   which is the default\n"
	     "  --interval TIME  how long an interval is: 1 (s), 100ms to 1h\n"
	     "  --tier TIER      functions: every qdisc of a tree by itself; tracepoints: roots only;\n"
	     "                   without it functions where the kernel allows it\n"
	     "  --once           one interval, as a table; --count N: so many\n"
	     "  --json           JSON Lines: one for each qdisc, one for each interval\n"
	     "  --plain          tables on a terminal too\n"
	     "  --sort COLUMN    tree, p99, max, rate, packets, backlog or drops\n"
	     "  --filter TEXT    those with it in namespace, device, kind, handle or path\n"
	     "  --idle           those that have seen no packet too\n"
	     "  --slower-than TIME  tell each packet that was in a qdisc for so long: its flow, and\n"
	     "                   what was queued before it came\n"
	     "  --flows QDISC    whose packets they are, in the first qdisc with that in its name\n"
	     "  --width N        columns of a table: 150; --ascii: no Unicode\n"
	     "\n"
	     "Exit codes: 0 done; 2 bad usage; 3 cannot trace here; 4 done, but something was lost\n"
	     "meanwhile: the last line says what.\n");
}

const struct command cmd_watch = {
	.name = "watch",
	.usage = "watch [-i DEV]... [--netns NAME|all]... [--interval TIME] [--tier TIER] [--once|--count N] [--json|--plain] [--sort COLUMN] [--filter TEXT] [--slower-than TIME] [--flows QDISC] [--idle] [--width N] [--ascii]",
	.summary = "show live what goes through every qdisc, and how long it waits there",
	.run = run,
	.help = help,
};
