// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "terminal.h"

/* ECMA-48 and xterm's control sequences: the other screen, the cursor hidden, no wrapping. */
#define TAKE	"\033[?1049h\033[?25l\033[?7l\033[2J"
#define GIVE	"\033[?7h\033[?25h\033[?1049l"

#define ESCAPE_MS	20		/* the rest of a key's sequence comes at once */
#define SEQUENCE_SIZE	16

static struct termios before;
static bool taken;

bool terminal_there(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool terminal_write(const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(STDOUT_FILENO, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		text += written;
		length -= (size_t)written;
	}
	return true;
}

void terminal_close(void)
{
	if (!taken)
		return;
	taken = false;
	terminal_write(GIVE, strlen(GIVE));
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

int terminal_open(struct error *error)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &before))
		return error_set_errno(error, EXIT_CANNOT, "cannot ask the terminal how it is set");
	raw = before;
	/* signals stay: Ctrl-C is one */
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
		return error_set_errno(error, EXIT_CANNOT, "cannot set the terminal");
	taken = true;
	atexit(terminal_close);
	if (terminal_write(TAKE, strlen(TAKE)))
		return 0;
	return error_set_errno(error, EXIT_CANNOT, "cannot write to the terminal");
}

void terminal_size(unsigned int *columns, unsigned int *rows)
{
	struct winsize size;

	*columns = 80;
	*rows = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	*columns = size.ws_col;
	*rows = size.ws_row;
}

static bool next_byte(char *byte, int timeout_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, timeout_ms) == 1 && read(STDIN_FILENO, byte, 1) == 1;
}

static int key_of_sequence(const char *sequence)
{
	static const struct {
		const char *sequence;
		int key;
	} known[] = {
		{ "[A", KEY_UP }, { "OA", KEY_UP }, { "[B", KEY_DOWN }, { "OB", KEY_DOWN },
		{ "[5~", KEY_PAGE_UP }, { "[6~", KEY_PAGE_DOWN }, { "[H", KEY_HOME },
		{ "OH", KEY_HOME }, { "[1~", KEY_HOME }, { "[F", KEY_END }, { "OF", KEY_END },
		{ "[4~", KEY_END },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(sequence, known[i].sequence))
			return known[i].key;
	return KEY_OTHER;
}

int terminal_key(void)
{
	char sequence[SEQUENCE_SIZE] = "", byte;
	size_t length = 0;

	if (!next_byte(&byte, 0))
		return KEY_NONE;
	if (byte == '\n')
		return KEY_ENTER;
	if (byte == '\b')
		return KEY_BACKSPACE;
	if (byte != KEY_ESCAPE || !next_byte(&byte, ESCAPE_MS))
		return (unsigned char)byte;
	do {
		sequence[length++] = byte;
		/* it ends with a letter or "~", behind the "[" or "O" that it begins with */
		if (length > 1 && ((byte >= '@' && byte <= '~')))
			break;
	} while (length + 1 < sizeof(sequence) && next_byte(&byte, ESCAPE_MS));
	return key_of_sequence(sequence);
}
