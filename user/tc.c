// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "child.h"
#include "tc.h"

#define WORDS_MAX	64
#define VERSION_WORDS	"iproute2-"
#define WAIT_MS		10000
#define STOP_MS		1000

struct command {
	char text[LAB_TREE_SIZE];	/* cut into words */
	char *words[WORDS_MAX + 1];
	int count;
};

static int add_word(struct command *command, char *word, struct error *error)
{
	if (command->count == WORDS_MAX)
		return error_set(error, EXIT_USAGE, "a command of tc has more than %d words",
				 WORDS_MAX);
	command->words[command->count++] = word;
	command->words[command->count] = NULL;
	return 0;
}

int tc_version(const char *path, char *text, size_t size, struct error *error)
{
	char *argv[] = { (char *)path, "-V", NULL };
	struct child child = { .pidfd = -1, .out = -1, .err = -1 };
	const char *said = NULL;

	if (child_start(&child, -1, argv, error)) {
		child_free(&child);
		return -1;
	}
	if (child_wait(&child, WAIT_MS))
		said = child.out_text ? strstr(child.out_text, VERSION_WORDS) : NULL;
	else
		child_stop(&child, SIGTERM, STOP_MS);
	if (said) {
		said += strlen(VERSION_WORDS);
		snprintf(text, size, "%.*s", (int)strcspn(said, " ,\r\n"), said);
	}
	child_free(&child);
	return said ? 0 : error_set(error, EXIT_CANNOT, "%s is not the tc of iproute2", path);
}

/* Where a tree's command says so it makes a class or a filter, else a qdisc. */
static int begin(struct command *command, char *path, const char *verb, char **rest, char *device,
		 struct error *error)
{
	static char *const objects[] = { "qdisc", "class", "filter" };
	char *object = objects[0];

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		size_t length = strlen(objects[i]);

		if (strncmp(*rest, objects[i], length) || !isspace((unsigned char)(*rest)[length]))
			continue;
		object = objects[i];
		*rest += length;
	}
	return add_word(command, path, error) || add_word(command, object, error) ||
	       add_word(command, (char *)verb, error) || add_word(command, "dev", error) ||
	       add_word(command, device, error) ? -1 : 0;
}

static int add_words(struct command *command, char *text, struct error *error)
{
	char *rest = NULL, *word;

	for (word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (add_word(command, word, error))
			return -1;
	}
	return 0;
}

/* The first line of what tc said. */
static void quote(const struct child *child, char *line, size_t size)
{
	const char *said = child->err_text ? child->err_text : "";

	snprintf(line, size, "%.*s", (int)strcspn(said, "\n"), said);
}

/* net/sched/sch_api.c, qdisc_create(): what it says since 4.16, and its ENOENT before. */
static bool lacks_kind(const char *said)
{
	return strstr(said, "qdisc kind is unknown") || strstr(said, "qdisc not found") ||
	       strstr(said, "No such file or directory") || strstr(said, "Unknown qdisc");
}

static int failed(const struct lab_tree *tree, const struct command *command,
		  const struct child *child, struct error *error)
{
	char how[CHILD_STATUS_TEXT], said[160];
	bool lacks;

	quote(child, said, sizeof(said));
	lacks = lacks_kind(said);
	error_set(error, lacks ? EXIT_CANNOT : EXIT_USAGE, "qdisc.%s.%s: tc %s %s ... %s (%s%s%s)",
		  tree->host, tree->device, command->words[1], command->words[2],
		  lacks ? TC_LACKS_KIND : "does not take that",
		  said, said[0] ? "; " : "", child_status_text(child, how));
	errno = lacks ? ENOENT : EINVAL;
	return -1;
}

static int perform(int netns_fd, const struct lab_tree *tree, const struct command *command,
		   struct error *error)
{
	struct child child = { .pidfd = -1, .out = -1, .err = -1 };
	int status = 0;

	if (child_start(&child, netns_fd, command->words, error)) {
		child_free(&child);
		return -1;
	}
	if (!child_wait(&child, WAIT_MS)) {
		child_stop(&child, SIGTERM, STOP_MS);
		status = error_set(error, EXIT_CANNOT, "tc did not end within %d s",
				   WAIT_MS / 1000);
	} else if (!WIFEXITED(child.status) || WEXITSTATUS(child.status)) {
		status = failed(tree, command, &child, error);
	}
	child_free(&child);
	return status;
}

static int run_tc(int netns_fd, const struct lab_tree *tree, const char *verb, const char *text,
		  struct error *error)
{
	char path[PATH_MAX], device[IFNAMSIZ], *rest;
	struct command command = { .count = 0 };

	if (child_find_program("tc", path, sizeof(path), error))
		return -1;
	snprintf(device, sizeof(device), "%s", tree->device);
	snprintf(command.text, sizeof(command.text), "%s", text);
	rest = command.text + strspn(command.text, " \t");
	if (begin(&command, path, verb, &rest, device, error) ||
	    add_words(&command, rest, error))
		return -1;
	return perform(netns_fd, tree, &command, error);
}

int tc_add_tree(int netns_fd, const struct lab_tree *tree, struct error *error)
{
	char commands[LAB_TREE_SIZE], *rest = NULL, *text;

	snprintf(commands, sizeof(commands), "%s", tree->commands);
	for (text = strtok_r(commands, ";", &rest); text; text = strtok_r(NULL, ";", &rest)) {
		if (strspn(text, " \t") == strlen(text))
			continue;
		if (run_tc(netns_fd, tree, "add", text, error))
			return -1;
	}
	return 0;
}

int tc_remove_tree(int netns_fd, const struct lab_tree *tree, struct error *error)
{
	return run_tc(netns_fd, tree, "del", "root", error);
}
