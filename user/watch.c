// SPDX-License-Identifier: GPL-2.0
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "privileges.h"
#include "signals.h"
#include "terminal.h"
#include "watch.h"
#include "watch_json.h"
#include "watch_screen.h"
#include "watch_slow.h"

#define POLL_MS		40		/* live_poll() is to be called every 50 ms */

struct watching {
	const struct watch_options *options;
	struct live *live;
	struct watch_screen screen;
	struct watch_slow *slow;	/* NULL: not wanted */
	const struct live_qdisc *followed;	/* whose flows are summed up */
	sigset_t blocked, previous;
	int signals;			/* signalfd */
	__u64 intervals;		/* that were shown */
	bool redraw;
};

/* ---- without a screen ---- */

static int print_table(struct watching *watching, struct error *error)
{
	const struct watch_screen *screen = &watching->screen;
	char line[WATCH_LINE_SIZE], lost[512], clock[16] = "";
	struct live_losses losses;
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	printf("%s%s  %.3g s, %s tier\n", watching->intervals > 1 ? "\n" : "", clock,
	       screen->seconds, tracer_tier(live_tracer(watching->live)));
	printf("%s\n", watch_heading(&screen->view, line));
	for (size_t i = 0; i < screen->shown_count; i++)
		printf("%s\n", watch_line(&screen->view, screen->shown[i], screen->seconds, line));
	live_losses(watching->live, &losses);
	if (*watch_losses_text(&losses, lost, sizeof(lost)))
		printf("lost so far: %s\n", lost);
	return fflush(stdout) || ferror(stdout) ?
	       error_set_errno(error, EXIT_CANNOT, "cannot write to standard output") : 0;
}

/* ---- flows ---- */

/* The first one with that in its name, if there is one. */
static const struct live_qdisc *row_named(const struct watching *watching, const char *text)
{
	struct watch_view view = { .idle = true };
	const struct live_qdisc **rows, *found;
	size_t count;
	struct live_qdisc *const *all = live_qdiscs(watching->live, &count);

	snprintf(view.filter, sizeof(view.filter), "%s", text);
	rows = calloc(count + 1, sizeof(*rows));
	found = rows && watch_choose(&view, all, count, rows) ? rows[0] : NULL;
	free(rows);
	return found;
}

/* Whose flows are wanted may have changed: from the next interval on they are known. */
static int take_flows(struct watching *watching, struct error *error)
{
	struct watch_screen *screen = &watching->screen;

	if (watching->options->flows)
		screen->flows_of = row_named(watching, watching->options->flows);
	if (screen->flows_of && screen->flows_of == watching->followed) {
		screen->flows.count = live_take_flows(watching->live, screen->flows.flows,
						      WATCH_FLOWS_MAX);
		watch_flows_sort(&screen->flows);
		return 0;
	}
	screen->flows.count = 0;
	if (screen->flows_of == watching->followed)
		return 0;
	watching->followed = screen->flows_of;
	return live_follow_flows(watching->live, watching->followed, error);
}

static int print_flows(struct watching *watching, struct error *error)
{
	const struct watch_screen *screen = &watching->screen;
	char line[WATCH_LINE_SIZE];

	printf("%s\n", watch_flows_heading(line, sizeof(line)));
	for (size_t i = 0; i < screen->flows.count; i++)
		printf("%s\n", watch_flows_line(&screen->flows, i, screen->seconds, line,
						sizeof(line)));
	return fflush(stdout) || ferror(stdout) ?
	       error_set_errno(error, EXIT_CANNOT, "cannot write to standard output") : 0;
}

static int print_json(struct watching *watching, struct error *error)
{
	if (watch_json(stdout, watching->live, watching->screen.shown,
		       watching->screen.shown_count))
		return error_set_errno(error, EXIT_CANNOT, "cannot write to standard output");
	return 0;
}

/* ---- the course ---- */

static int draw(struct watching *watching, struct error *error)
{
	watching->redraw = false;
	if (watch_screen_draw(&watching->screen, watching->live))
		return 0;
	return error_set_errno(error, EXIT_CANNOT, "cannot write to the terminal");
}

static int interval_over(struct watching *watching, struct error *error)
{
	struct watch_screen *screen = &watching->screen;

	watching->intervals++;
	/* rows may be gone, so that even what stands still has to be chosen anew */
	if (!watch_screen_take(screen, watching->live))
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (take_flows(watching, error))
		return -1;
	if (watching->options->screen) {
		watching->redraw = !screen->paused;
		return 0;
	}
	if (watching->options->json)
		return print_json(watching, error);
	if (watching->options->flows)
		return print_flows(watching, error);
	return watching->slow ? 0 : print_table(watching, error);
}

/* True: the end is wanted. */
static bool take_keys(struct watching *watching)
{
	int key;

	while ((key = terminal_key()) != KEY_NONE) {
		if (!watch_screen_key(&watching->screen, key))
			return true;
		/* what a key changes is seen at once */
		watch_screen_take(&watching->screen, watching->live);
		watching->redraw = true;
	}
	return false;
}

static bool resized(const struct watching *watching)
{
	unsigned int columns, rows;

	terminal_size(&columns, &rows);
	return columns != watching->screen.columns || rows != watching->screen.rows;
}

/* Wait a little. True: a signal says that it is the end. */
static bool wait_signal(const struct watching *watching)
{
	struct pollfd fds[2] = {
		{ .fd = watching->signals, .events = POLLIN },
		{ .fd = watching->options->screen ? STDIN_FILENO : -1, .events = POLLIN },
	};
	struct signalfd_siginfo signal;

	poll(fds, 2, POLL_MS);
	return read(watching->signals, &signal, sizeof(signal)) == sizeof(signal) ||
	       (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static bool is_over(const struct watching *watching)
{
	return watching->options->count && watching->intervals >= watching->options->count;
}

static int follow(struct watching *watching, struct error *error)
{
	const bool screen = watching->options->screen;

	if (screen && draw(watching, error))
		return -1;
	while (!is_over(watching) && !wait_signal(watching)) {
		int closed;

		if (watching->slow)
			watch_slow_note(watching->slow, watching->live);
		closed = live_poll(watching->live, error);
		if (watching->slow)
			fflush(stdout);

		if (closed < 0 || (closed && interval_over(watching, error)))
			return -1;
		if (screen && take_keys(watching))
			break;
		if (screen && (watching->redraw || resized(watching)) && draw(watching, error))
			return -1;
	}
	return 0;
}

static void take_slow(void *context, const struct slow_event *event)
{
	struct watching *watching = context;

	watch_slow_tell(watching->slow, watching->live, event);
}

static int begin(struct watching *watching, struct error *error)
{
	struct live_options live = watching->options->live;

	watching->signals = signals_take(&watching->blocked, &watching->previous, error);
	if (watching->signals < 0)
		return -1;
	if (watch_flows_init(&watching->screen.flows))
		return error_set(error, EXIT_CANNOT, "out of memory");
	if (watching->options->slow_ns) {
		watching->slow = watch_slow_create(watching->options->json);
		if (!watching->slow)
			return error_set(error, EXIT_CANNOT, "out of memory");
		live.slow_ns = watching->options->slow_ns;
		live.sink = (struct tracer_sink){ .context = watching, .slow = take_slow };
	}
	watching->live = live_open(&live, error);
	if (!watching->live || live_attach(watching->live, error) ||
	    privileges_drop(strcmp(tracer_tier(live_tracer(watching->live)), "functions") ?
			    PRIVILEGES_FOLLOW : PRIVILEGES_FUNCTIONS, error))
		return -1;
	return watching->options->screen ? terminal_open(error) : 0;
}

int watch(const struct watch_options *options, struct live_losses *losses, struct error *error)
{
	struct watching watching = {
		.options = options,
		.screen.view = options->view,
		.signals = -1,
	};
	int failed;

	memset(losses, 0, sizeof(*losses));
	failed = begin(&watching, error) || follow(&watching, error);
	terminal_close();
	if (!failed)
		live_losses(watching.live, losses);
	live_close(watching.live);
	watch_screen_free(&watching.screen);
	watch_slow_free(watching.slow);
	if (watching.signals >= 0) {
		close(watching.signals);
		sigprocmask(SIG_SETMASK, &watching.previous, NULL);
	}
	return failed ? -1 : 0;
}
