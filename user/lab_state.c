// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lab_state.h"
#include "netns.h"

#define SUFFIX		".lab"
#define NEW_SUFFIX	".new"	/* behind the other: a file that is not in its place yet */
#define FIRST_LINE	"sojourn lab 1"
#define LAST_LINE	"end"
#define PATH_SIZE	(sizeof(LAB_STATE_DIRECTORY) + 1 + LAB_NAME_SIZE + sizeof(SUFFIX) + sizeof(NEW_SUFFIX))
/* Notes of what was made of NETNS_DIRECTORY. */
#define NOTE_CREATED	LAB_STATE_DIRECTORY "/netns.created"
#define NOTE_MOUNTED	LAB_STATE_DIRECTORY "/netns.mounted"
#define LOCK_STEP_MS	5
#define LOCK_TIMEOUT_MS	10000

static bool good_character(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static bool good_name(const char *name)
{
	size_t i;

	if (!isalnum((unsigned char)name[0]))
		return false;
	for (i = 0; name[i]; i++) {
		if (!good_character(name[i]))
			return false;
	}
	return i < LAB_NAME_SIZE;
}

int lab_prefix_check(const char *prefix, struct error *error)
{
	if (strlen(prefix) > LAB_PREFIX_MAX)
		return error_set(error, EXIT_USAGE,
				 "a lab prefix has at most %d bytes, this one has %zu",
				 LAB_PREFIX_MAX, strlen(prefix));
	if (!good_name(prefix))
		return error_set(error, EXIT_USAGE,
				 "'%s' cannot be a lab prefix: it takes letters, digits, '-', '_' and '.', and begins with a letter or digit, as \"pl-\" does",
				 prefix);
	return 0;
}

/* Read a small file whole. Returns its length, or -1 and errno; EFBIG where text does not hold it. */
static ssize_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t length = 0;
	ssize_t got;

	if (fd < 0)
		return -1;
	do {
		got = read(fd, text + length, size - 1 - length);
		if (got > 0)
			length += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
	text[length] = '\0';
	if (got < 0)
		return -1;
	if (length == size - 1) {
		errno = EFBIG;
		return -1;
	}
	return length;
}

/*
 * State and start of a process: fields 3 and 22 of /proc/PID/stat. The second
 * field, the program's name, may hold anything, so count from its last ')'.
 */
static bool read_process(pid_t pid, char *state, __u64 *started)
{
	char path[64], text[2048];
	unsigned long long value;
	const char *rest;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (read_file(path, text, sizeof(text)) < 0)
		return false;
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1,
			    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			    state, &value) != 2)
		return false;
	*started = value;
	return true;
}

bool lab_owner_nobody(const struct lab_owner *owner)
{
	return !owner->pid;
}

void lab_owner_self(struct lab_owner *owner)
{
	char state;

	owner->pid = getpid();
	if (!read_process(owner->pid, &state, &owner->started))
		owner->started = 0;
}

bool lab_owner_alive(const struct lab_owner *owner)
{
	__u64 started;
	char state;

	return read_process(owner->pid, &state, &started) && started == owner->started &&
	       state != 'Z' && state != 'X';
}

void lab_boot(char boot[LAB_BOOT_SIZE])
{
	char text[LAB_BOOT_SIZE + 2];

	boot[0] = '\0';
	if (read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text)) < 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (good_name(text))
		snprintf(boot, LAB_BOOT_SIZE, "%.*s", LAB_BOOT_SIZE - 1, text);
}

int lab_state_format(const struct lab_state *state, char text[LAB_STATE_TEXT])
{
	unsigned int i;
	size_t length;

	length = snprintf(text, LAB_STATE_TEXT, FIRST_LINE "\nboot %s\nowner %d %llu\n",
			  state->boot[0] ? state->boot : "-", (int)state->owner.pid,
			  state->owner.started);
	for (i = 0; i < state->netns_count && length < LAB_STATE_TEXT; i++)
		length += snprintf(text + length, LAB_STATE_TEXT - length, "netns %s %u %llu\n",
				   state->netns[i].name, state->netns[i].inode,
				   state->netns[i].cookie);
	if (length < LAB_STATE_TEXT)
		length += snprintf(text + length, LAB_STATE_TEXT - length, LAST_LINE "\n");
	return length < LAB_STATE_TEXT ? 0 : -1;
}

/* The next line of *text without its newline; false at the end or where the newline is missing. */
static bool next_line(const char **text, char *line, size_t size)
{
	size_t length = strcspn(*text, "\n");

	if ((*text)[length] != '\n' || length >= size)
		return false;
	memcpy(line, *text, length);
	line[length] = '\0';
	*text += length + 1;
	return true;
}

static int parse_netns(struct lab_state_netns *netns, const char *line)
{
	return sscanf(line, "netns %63s %u %llu", netns->name, &netns->inode, &netns->cookie) == 3 &&
	       good_name(netns->name) && netns->inode ? 0 : -1;
}

int lab_state_parse(struct lab_state *state, const char *text)
{
	char line[256], again[LAB_STATE_TEXT];
	const char *rest = text;

	memset(state, 0, sizeof(*state));
	if (!next_line(&rest, line, sizeof(line)) || strcmp(line, FIRST_LINE))
		return -1;
	if (!next_line(&rest, line, sizeof(line)) || sscanf(line, "boot %39s", state->boot) != 1)
		return -1;
	if (!strcmp(state->boot, "-"))
		state->boot[0] = '\0';
	if (!next_line(&rest, line, sizeof(line)) ||
	    sscanf(line, "owner %d %llu", &state->owner.pid, &state->owner.started) != 2)
		return -1;
	while (next_line(&rest, line, sizeof(line)) && strcmp(line, LAST_LINE)) {
		if (state->netns_count == LAB_HOSTS ||
		    parse_netns(&state->netns[state->netns_count++], line))
			return -1;
	}
	/* What is written back the same is what was meant: no sign, blank or overflow. */
	if (!state->netns_count || lab_state_format(state, again))
		return -1;
	return strcmp(again, text) ? -1 : 0;
}

static void state_path(const char *prefix, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%s%s", LAB_STATE_DIRECTORY, prefix, SUFFIX);
}

/* Is the directory that we locked still the one of that name? */
static bool still_there(int lock)
{
	struct stat ours, named;

	return !fstat(lock, &ours) && !stat(LAB_STATE_DIRECTORY, &named) &&
	       ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* Open and lock the directory. -1 with errno EWOULDBLOCK: try again. */
static int try_lock(void)
{
	int lock;

	if (mkdir(LAB_STATE_DIRECTORY, 0755) && errno != EEXIST)
		return -1;
	lock = open(LAB_STATE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (lock < 0) {
		/* Another one removed it just now. */
		errno = errno == ENOENT ? EWOULDBLOCK : errno;
		return -1;
	}
	if (!flock(lock, LOCK_EX | LOCK_NB) && still_there(lock))
		return lock;
	close(lock);
	errno = EWOULDBLOCK;
	return -1;
}

int lab_state_lock(struct error *error)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000 };
	int waited, lock;

	for (waited = 0; waited < LOCK_TIMEOUT_MS; waited += LOCK_STEP_MS) {
		lock = try_lock();
		if (lock >= 0)
			return lock;
		if (errno != EWOULDBLOCK)
			return error_set_errno(error, EXIT_CANNOT,
					       "cannot use the directory %s (run as root)",
					       LAB_STATE_DIRECTORY);
		nanosleep(&step, NULL);
	}
	return error_set(error, EXIT_CANNOT,
			 "another process has held the lock of %s for %d s; try again when it is done",
			 LAB_STATE_DIRECTORY, LOCK_TIMEOUT_MS / 1000);
}

void lab_state_unlock(int lock)
{
	rmdir(LAB_STATE_DIRECTORY);
	close(lock);
}

enum lab_state_found lab_state_read(const char *prefix, struct lab_state *state,
				    struct error *error)
{
	char path[PATH_SIZE], text[LAB_STATE_TEXT];
	ssize_t length;

	state_path(prefix, path);
	length = read_file(path, text, sizeof(text));
	if (length < 0 && errno == ENOENT)
		return LAB_STATE_NONE;
	if (length < 0) {
		error_set_errno(error, EXIT_CANNOT, "cannot read the state file %s", path);
		return LAB_STATE_ERROR;
	}
	if (!lab_state_parse(state, text))
		return LAB_STATE_WHOLE;
	/* One write() makes the file; a death can only leave it empty or cut short. */
	if (!strncmp(text, FIRST_LINE "\n", strlen(FIRST_LINE) + 1) || !length) {
		if (!strstr(text, "\n" LAST_LINE "\n"))
			return LAB_STATE_TORN;
	}
	error_set(error, EXIT_CANNOT,
		  "%s is not a state file of this version; look at it and remove it by hand", path);
	return LAB_STATE_ERROR;
}

static int sync_directory(void)
{
	int fd = open(LAB_STATE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status;

	if (fd < 0)
		return -1;
	status = fsync(fd);
	close(fd);
	return status;
}

static int write_state(const char *path, const struct lab_state *state, struct error *error)
{
	char text[LAB_STATE_TEXT];
	size_t length;
	int fd;

	if (lab_state_format(state, text))
		return error_set(error, EXIT_CANNOT, "the state of a lab is too long for %s", path);
	length = strlen(text);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot create the state file %s", path);
	if (write(fd, text, length) != (ssize_t)length || fsync(fd) || sync_directory()) {
		error_set_errno(error, EXIT_CANNOT, "cannot write the state file %s", path);
		close(fd);
		unlink(path);
		return -1;
	}
	close(fd);
	return 0;
}

int lab_state_write(const char *prefix, const struct lab_state *state, struct error *error)
{
	char path[PATH_SIZE];

	state_path(prefix, path);
	return write_state(path, state, error);
}

static void new_path(const char *prefix, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%s%s%s", LAB_STATE_DIRECTORY, prefix, SUFFIX, NEW_SUFFIX);
}

int lab_state_replace(const char *prefix, const struct lab_state *state, struct error *error)
{
	char path[PATH_SIZE], new[PATH_SIZE];

	state_path(prefix, path);
	new_path(prefix, new);
	/* of somebody who died here */
	unlink(new);
	if (write_state(new, state, error))
		return -1;
	if (!rename(new, path) && !sync_directory())
		return 0;
	error_set_errno(error, EXIT_CANNOT, "cannot replace the state file %s", path);
	unlink(new);
	return -1;
}

int lab_state_remove(const char *prefix, struct error *error)
{
	char path[PATH_SIZE];

	new_path(prefix, path);
	unlink(path);
	state_path(prefix, path);
	if (unlink(path) && errno != ENOENT)
		return error_set_errno(error, EXIT_CANNOT, "cannot remove the state file %s", path);
	return 0;
}

/* The prefix that a file name in the directory stands for; false for other files. */
static bool prefix_of(const char *file, char prefix[LAB_NAME_SIZE])
{
	size_t length = strlen(file), suffix = strlen(SUFFIX);

	if (length <= suffix || length - suffix >= LAB_NAME_SIZE ||
	    strcmp(file + length - suffix, SUFFIX))
		return false;
	memcpy(prefix, file, length - suffix);
	prefix[length - suffix] = '\0';
	return !lab_prefix_check(prefix, NULL);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_prefix(char ***prefixes, int count, const char *prefix)
{
	char **more = realloc(*prefixes, (count + 1) * sizeof(*more));

	if (!more)
		return -1;
	*prefixes = more;
	more[count] = strdup(prefix);
	return more[count] ? 0 : -1;
}

int lab_state_prefixes(char ***prefixes, struct error *error)
{
	DIR *directory = opendir(LAB_STATE_DIRECTORY);
	char prefix[LAB_NAME_SIZE];
	struct dirent *entry;
	int count = 0;

	*prefixes = NULL;
	if (!directory)
		return errno == ENOENT ? 0 :
		       error_set_errno(error, EXIT_CANNOT, "cannot read %s", LAB_STATE_DIRECTORY);
	while ((entry = readdir(directory))) {
		if (!prefix_of(entry->d_name, prefix))
			continue;
		if (add_prefix(prefixes, count, prefix)) {
			error_set_errno(error, EXIT_CANNOT, "cannot list the labs");
			lab_state_prefixes_free(*prefixes, count);
			*prefixes = NULL;
			count = -1;
			break;
		}
		count++;
	}
	closedir(directory);
	if (count > 1)
		qsort(*prefixes, count, sizeof(**prefixes), by_text);
	return count;
}

void lab_state_prefixes_free(char **prefixes, int count)
{
	while (count > 0)
		free(prefixes[--count]);
	free(prefixes);
}

static int write_note(const char *path, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_set_errno(error, EXIT_CANNOT, "cannot create %s", path);
	close(fd);
	return 0;
}

int lab_state_prepare_netns_directory(struct error *error)
{
	int status = 0;

	switch (netns_directory_missing()) {
	case NETNS_DIRECTORY_CREATED:
		status = write_note(NOTE_CREATED, error);
		break;
	case NETNS_DIRECTORY_MOUNTED:
		/* A maker that died between the two left it created and not mounted. */
		if (access(NOTE_CREATED, F_OK))
			status = write_note(NOTE_MOUNTED, error);
		break;
	case NETNS_DIRECTORY_WAS_THERE:
		break;
	}
	return status ? -1 : netns_directory_prepare(error);
}

void lab_state_restore_netns_directory(void)
{
	char **prefixes;
	int count = lab_state_prefixes(&prefixes, NULL);

	lab_state_prefixes_free(prefixes, count);
	if (count)
		return;
	if (!access(NOTE_CREATED, F_OK))
		netns_directory_restore(NETNS_DIRECTORY_CREATED);
	else if (!access(NOTE_MOUNTED, F_OK))
		netns_directory_restore(NETNS_DIRECTORY_MOUNTED);
	unlink(NOTE_CREATED);
	unlink(NOTE_MOUNTED);
}
