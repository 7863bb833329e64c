// SPDX-License-Identifier: GPL-2.0
/*
 * How long the tracer takes to begin and to end, with every option that `sojourn run` uses.
 *
 *   attach_time [functions|tracepoints]
 *
 * Prints {"tier":…,"open_ns":…,"attach_ns":…,"detach_ns":…,"close_ns":…}: loading the
 * programs, attaching them, and both the other way round.
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "error.h"
#include "tracer.h"

#define PROBE_PAYLOAD	56

static int set_tier(struct tracer_options *options, const char *name, struct error *error)
{
	if (!strcmp(name, "functions"))
		options->tier = TIER_FUNCTIONS;
	else if (!strcmp(name, "tracepoints"))
		options->tier = TIER_TRACEPOINTS;
	else
		return error_set(error, EXIT_USAGE, "no tier is called '%s'", name);
	return 0;
}

static int measure(const struct tracer_options *options, struct error *error)
{
	__u64 begin, opened, attached, detaching, detached;
	char tier[16];
	struct tracer *tracer;

	begin = clock_ns(CLOCK_MONOTONIC);
	tracer = tracer_open(options, error);
	if (!tracer)
		return -1;
	opened = clock_ns(CLOCK_MONOTONIC);
	if (tracer_attach(tracer, error)) {
		tracer_close(tracer);
		return -1;
	}
	attached = clock_ns(CLOCK_MONOTONIC);
	snprintf(tier, sizeof(tier), "%s", tracer_tier(tracer));
	if (tracer_poll(tracer, error)) {
		tracer_close(tracer);
		return -1;
	}
	detaching = clock_ns(CLOCK_MONOTONIC);
	if (tracer_detach(tracer, error)) {
		tracer_close(tracer);
		return -1;
	}
	detached = clock_ns(CLOCK_MONOTONIC);
	tracer_close(tracer);
	printf("{\"tier\":\"%s\",\"open_ns\":%llu,\"attach_ns\":%llu,\"detach_ns\":%llu,"
	       "\"close_ns\":%llu}\n", tier, opened - begin, attached - opened,
	       detached - detaching, clock_ns(CLOCK_MONOTONIC) - detached);
	return 0;
}

int main(int argc, char *argv[])
{
	struct tracer_options options = {
		.probes = true,
		.probe_payload = PROBE_PAYLOAD,
		.tcp = true,
	};
	struct error error = { 0 };
	int err = 0;

	if (argc > 2) {
		fprintf(stderr, "attach_time: see the head of attach_time.c\n");
		return EXIT_USAGE;
	}
	if (argc == 2)
		err = set_tier(&options, argv[1], &error);
	if (!err)
		err = measure(&options, &error);
	if (err)
		fprintf(stderr, "attach_time: %s\n", error.text);
	return err ? error.code : EXIT_OK;
}
