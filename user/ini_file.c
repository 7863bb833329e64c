// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ini_file.h"
#include "read_file.h"

int ini_file_fail(struct ini_file *file, const char *format, ...)
{
	char text[sizeof(file->error->text)];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (!file->failed)
		error_set(file->error, EXIT_USAGE, "%s:%u: %s", file->name, file->line, text);
	file->failed = true;
	return -1;
}

/* "[qdisc router wan0]" */
static int take_heading(struct ini_file *file, char *line)
{
	char *words[INI_WORDS + 1] = { NULL }, *rest = NULL, *end = strchr(line, ']'), *word;
	size_t count = 0;

	/* libinih would do without the end */
	if (!end)
		return ini_file_fail(file, "a heading ends with \"]\"");
	*end = '\0';
	for (word = strtok_r(line + 1, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (count == INI_WORDS)
			return ini_file_fail(file, "a heading has %d words at most", INI_WORDS);
		words[count++] = word;
	}
	if (!count)
		return ini_file_fail(file, "a heading has a word at least");
	return file->heading(file, words, count);
}

/* What libinih would pass over, or take for something else. */
static int look_at(struct ini_file *file, const char *line)
{
	char heading[INI_LINE_MAX + 1];

	if (line[0] == '[') {
		memcpy(heading, line, strlen(line) + 1);
		return take_heading(file, heading);
	}
	if (line[0] && line[0] != '#' && line[0] != ';' && !strpbrk(line, "=:"))
		return ini_file_fail(file, "\"%.60s\" is no key=value: write it like load.seconds = 8",
				     line);
	return 0;
}

/*
 * The next line as libinih asks for it. Blanks before it go: to libinih they mean that the
 * line before goes on.
 */
static char *next_line(char *line, int size, void *stream)
{
	struct ini_file *file = stream;
	const char *newline;
	size_t length;

	if (file->failed || file->at == file->end)
		return NULL;
	file->line++;
	newline = memchr(file->at, '\n', file->end - file->at);
	length = (newline ? newline : file->end) - file->at;
	if (length > INI_LINE_MAX || length >= (size_t)size - 1) {
		ini_file_fail(file, "it is longer than %d bytes: is it a %s?", INI_LINE_MAX,
			      file->what);
		return NULL;
	}
	if (memchr(file->at, '\0', length)) {
		ini_file_fail(file, "a null byte: is it a %s?", file->what);
		return NULL;
	}
	memcpy(line, file->at, length);
	line[length] = '\0';
	file->at += length + !!newline;
	length = strspn(line, " \t\r");
	memmove(line, line + length, strlen(line + length) + 1);
	return look_at(file, line) ? NULL : line;
}

static int take_key(void *user, const char *heading, const char *key, const char *value)
{
	struct ini_file *file = user;

	(void)heading;
	return file->failed || file->key(file, key, value) ? 0 : 1;
}

int ini_file_parse(struct ini_file *file, const char *text, size_t length)
{
	int line;

	file->at = text;
	file->end = text + length;
	line = ini_parse_stream(next_line, file, take_key, file);
	if (line > 0 && !file->failed) {
		file->line = line;
		ini_file_fail(file, "no heading, comment or key = value");
	}
	return file->failed ? -1 : 0;
}

/* A named pipe or a terminal would block: only regular files. */
char *ini_file_read(const char *path, const char *what, size_t *length, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	char *text;

	if (fd < 0) {
		error_set_errno(error, EXIT_USAGE, "cannot open the %s %s", what, path);
		return NULL;
	}
	if (fstat(fd, &file) || !S_ISREG(file.st_mode)) {
		close(fd);
		error_set(error, EXIT_USAGE, "the %s %s is no regular file", what, path);
		return NULL;
	}
	text = read_file(fd, INI_FILE_MAX, length);
	if (!text && errno == EFBIG)
		error_set(error, EXIT_USAGE, "%s is larger than %d bytes: is it a %s?", path,
			  INI_FILE_MAX, what);
	else if (!text)
		error_set_errno(error, EXIT_USAGE, "cannot read the %s %s", what, path);
	close(fd);
	return text;
}
