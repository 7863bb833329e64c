/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A terminal that shows a screen of ours: keys one by one, a screen beside the one that was
 * there. What was there comes back when it is closed, and when the process ends by exit().
 */
#ifndef SOJOURN_TERMINAL_H
#define SOJOURN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum terminal_key {
	KEY_NONE = 0,
	/* characters are themselves */
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_OTHER,
};

/* Are standard input and output terminals? */
bool terminal_there(void);

/* Take it over. 0, or -1 and error. */
int terminal_open(struct error *error);
void terminal_close(void);

/* Columns and rows, as they are now; 80 by 24 where it does not say. */
void terminal_size(unsigned int *columns, unsigned int *rows);

/* The next key that was pressed, or KEY_NONE; never waits. */
int terminal_key(void);

/* Write all of text. False: the terminal is gone. */
bool terminal_write(const char *text, size_t length);

#endif
