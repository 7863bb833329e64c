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
#include "signals.h"
#include "terminal.h"
#include "watch.h"
#include "watch_json.h"
#include "watch_screen.h"

#define POLL_MS		40		/* live_poll() is to be called every 50 ms */

struct watching {
	const struct watch_options *options;
	struct live *live;
	struct watch_screen screen;
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
	if (watching->options->screen) {
		watching->redraw = !screen->paused;
		return 0;
	}
	return watching->options->json ? print_json(watching, error) : print_table(watching, error);
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
		int closed = live_poll(watching->live, error);

		if (closed < 0 || (closed && interval_over(watching, error)))
			return -1;
		if (screen && take_keys(watching))
			break;
		if (screen && (watching->redraw || resized(watching)) && draw(watching, error))
			return -1;
	}
	return 0;
}

static int begin(struct watching *watching, struct error *error)
{
	watching->signals = signals_take(&watching->blocked, &watching->previous, error);
	if (watching->signals < 0)
		return -1;
	watching->live = live_open(&watching->options->live, error);
	if (!watching->live || live_attach(watching->live, error))
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
	if (watching.signals >= 0) {
		close(watching.signals);
		sigprocmask(SIG_SETMASK, &watching.previous, NULL);
	}
	return failed ? -1 : 0;
}
