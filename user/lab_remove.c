// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab.h"
#include "lab_remove.h"
#include "lab_state.h"
#include "link.h"
#include "netns.h"

#define WAIT_STEP_MS	5
#define LINE_SIZE	2048

/* Is that the namespace which the state file names? Inodes are used again, cookies are not. */
static bool is_ours(const struct lab_state *state, const struct lab_state_netns *netns, int fd)
{
	char boot[LAB_BOOT_SIZE];

	lab_boot(boot);
	return !strcmp(boot, state->boot) && netns_inode(fd) == netns->inode &&
	       (!netns->cookie || netns_cookie(fd) == netns->cookie);
}

/* The namespace itself lives on while a process is in it or a descriptor open: its devices go now. */
static int delete_devices(int netns_fd, struct error *error)
{
	struct netlink *netlink = netlink_open(netns_fd, error);
	int status;

	if (!netlink)
		return -1;
	status = link_delete_veths(netlink, error);
	netlink_close(netlink);
	return status;
}

static int remove_netns(const struct lab_state *state, unsigned int host, enum lab_fate *fate,
			struct error *error)
{
	const struct lab_state_netns *netns = &state->netns[host];
	int fd, status;

	*fate = LAB_FATE_FOREIGN;
	switch (netns_name_look(netns->name, &fd)) {
	case NETNS_NAME_ABSENT:
		*fate = LAB_FATE_ABSENT;
		return 0;
	case NETNS_NAME_PLACEHOLDER:
		*fate = LAB_FATE_ABSENT;
		return netns_name_remove(netns->name, error);
	case NETNS_NAME_OTHER:
		return 0;
	case NETNS_NAME_MOUNTED:
		break;
	}
	if (!is_ours(state, netns, fd)) {
		close(fd);
		return 0;
	}
	status = delete_devices(fd, error);
	close(fd);
	if (netns_name_remove(netns->name, error))
		return -1;
	*fate = LAB_FATE_REMOVED;
	return status;
}

int lab_remove_locked(const char *prefix, const struct lab_state *state,
		      struct lab_removal *removal, struct error *error)
{
	unsigned int host;
	int status = 0;

	for (host = 0; host < state->netns_count; host++) {
		snprintf(removal->names[host], LAB_NAME_SIZE, "%s", state->netns[host].name);
		if (remove_netns(state, host, &removal->fate[host], error))
			status = -1;
		if (removal->fate[host] == LAB_FATE_REMOVED)
			removal->removed++;
	}
	/* What could not be removed stays on record, for another try. */
	if (!status)
		status = lab_state_remove(prefix, error);
	if (!status)
		lab_state_restore_netns_directory();
	return status;
}

static bool same_owner(const struct lab_owner *a, const struct lab_owner *b)
{
	return a->pid == b->pid && a->started == b->started;
}

int lab_remove_owned(const char *prefix, const struct lab_owner *owner, struct error *error)
{
	struct lab_removal removal = { 0 };
	struct lab_state state;
	int lock, status = 0;

	lock = lab_state_lock(error);
	if (lock < 0)
		return -1;
	switch (lab_state_read(prefix, &state, error)) {
	case LAB_STATE_ERROR:
		status = -1;
		break;
	case LAB_STATE_NONE:
		break;
	case LAB_STATE_TORN:
		status = lab_state_remove(prefix, error);
		break;
	case LAB_STATE_WHOLE:
		if (same_owner(&state.owner, owner))
			status = lab_remove_locked(prefix, &state, &removal, error);
		break;
	}
	lab_state_unlock(lock);
	return status;
}

int lab_remove_one(const char *prefix, bool force, struct lab_removal *removal,
		   struct error *error)
{
	struct lab_removal unseen;
	struct lab_state state;
	int lock, status = 0;

	if (!removal)
		removal = &unseen;
	memset(removal, 0, sizeof(*removal));
	if (lab_prefix_check(prefix, error))
		return -1;
	lock = lab_state_lock(error);
	if (lock < 0)
		return -1;
	switch (lab_state_read(prefix, &state, error)) {
	case LAB_STATE_ERROR:
		status = -1;
		break;
	case LAB_STATE_NONE:
		break;
	case LAB_STATE_TORN:
		status = lab_state_remove(prefix, error);
		break;
	case LAB_STATE_WHOLE:
		removal->found = true;
		if (!force && lab_owner_alive(&state.owner))
			status = error_set(error, EXIT_CANNOT,
					   "lab %s belongs to process %d, which runs; end it first, or say --force",
					   prefix, (int)state.owner.pid);
		else
			status = lab_remove_locked(prefix, &state, removal, error);
		break;
	}
	lab_state_unlock(lock);
	return status;
}

int lab_remove(const char *prefix, unsigned int *removed, struct error *error)
{
	struct lab_removal removal;
	char **prefixes;
	int i, count, status = 0;

	*removed = 0;
	if (prefix) {
		status = lab_remove_one(prefix, false, &removal, error);
		*removed = removal.removed;
		return status;
	}
	count = lab_state_prefixes(&prefixes, error);
	if (count < 0)
		return -1;
	for (i = 0; i < count; i++) {
		if (lab_remove_one(prefixes[i], false, &removal, error))
			status = -1;
		*removed += removal.removed;
	}
	lab_state_prefixes_free(prefixes, count);
	return status;
}

static bool has_processes(const struct lab_state *state)
{
	unsigned int host;

	for (host = 0; host < state->netns_count; host++) {
		if (netns_has_process(state->netns[host].inode))
			return true;
	}
	return false;
}

void lab_wait_for_processes(const char *prefix, const struct lab_owner *owner,
			    unsigned int timeout_ms)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_MS * 1000000 };
	struct lab_state state;
	unsigned int waited;

	if (lab_state_read(prefix, &state, NULL) != LAB_STATE_WHOLE ||
	    !same_owner(&state.owner, owner))
		return;
	for (waited = 0; waited < timeout_ms && has_processes(&state); waited += WAIT_STEP_MS)
		nanosleep(&step, NULL);
}

static const char *presence(const struct lab_state *state, unsigned int host)
{
	const struct lab_state_netns *netns = &state->netns[host];
	const char *text = "gone";
	int fd;

	switch (netns_name_look(netns->name, &fd)) {
	case NETNS_NAME_MOUNTED:
		text = is_ours(state, netns, fd) ? "present" : "not ours";
		close(fd);
		break;
	case NETNS_NAME_OTHER:
		text = "not ours";
		break;
	case NETNS_NAME_ABSENT:
	case NETNS_NAME_PLACEHOLDER:
		break;
	}
	return text;
}

static void describe(const char *prefix, const struct lab_state *state, char text[LINE_SIZE])
{
	unsigned int host;
	size_t length;

	if (lab_owner_nobody(&state->owner))
		length = snprintf(text, LINE_SIZE, "%s kept for work by hand:", prefix);
	else
		length = snprintf(text, LINE_SIZE, "%s made by process %d (%s):", prefix,
				  (int)state->owner.pid,
				  lab_owner_alive(&state->owner) ? "runs" : "gone");
	for (host = 0; host < state->netns_count && length < LINE_SIZE; host++)
		length += snprintf(text + length, LINE_SIZE - length, "%s %s (%s)",
				   host ? "," : "", state->netns[host].name,
				   presence(state, host));
}

static int no_host(const char *prefix, const char *host, const struct lab_state *state,
		   struct error *error)
{
	char names[LAB_HOSTS * LAB_NAME_SIZE] = "";
	size_t length = 0;

	for (unsigned int i = 0; i < state->netns_count; i++)
		length += snprintf(names + length, sizeof(names) - length, "%s%s", i ? ", " : "",
				   state->netns[i].name + strlen(prefix));
	return error_set(error, EXIT_USAGE, "lab %s has no host %s; it has %s", prefix, host, names);
}

static int open_host(const char *prefix, const char *host, const struct lab_state *state,
		     struct error *error)
{
	int fd;

	for (unsigned int i = 0; i < state->netns_count; i++) {
		const struct lab_state_netns *netns = &state->netns[i];

		if (strncmp(netns->name, prefix, strlen(prefix)) ||
		    strcmp(netns->name + strlen(prefix), host))
			continue;
		if (netns_name_look(netns->name, &fd) != NETNS_NAME_MOUNTED)
			return error_set(error, EXIT_CANNOT, "network namespace %s is gone", netns->name);
		if (is_ours(state, netns, fd))
			return fd;
		close(fd);
		return error_set(error, EXIT_CANNOT,
				 "network namespace %s is not the one that sojourn made",
				 netns->name);
	}
	return no_host(prefix, host, state, error);
}

int lab_open_netns(const char *prefix, const char *host, struct error *error)
{
	int lock = lab_state_lock(error), fd = -1;
	struct lab_state state;

	if (lock < 0)
		return -1;
	switch (lab_state_read(prefix, &state, error)) {
	case LAB_STATE_ERROR:
		break;
	case LAB_STATE_WHOLE:
		fd = open_host(prefix, host, &state, error);
		break;
	case LAB_STATE_NONE:
	case LAB_STATE_TORN:
		error_set(error, EXIT_USAGE,
			  "there is no lab %s; `sojourn lab list` shows those that there are, `sojourn lab up` makes one",
			  prefix);
		break;
	}
	lab_state_unlock(lock);
	return fd;
}

int lab_list(void (*line)(void *context, const char *text), void *context,
	     struct error *error)
{
	char text[LINE_SIZE];
	struct lab_state state;
	struct error reason;
	char **prefixes;
	int i, count = lab_state_prefixes(&prefixes, error);

	for (i = 0; i < count; i++) {
		switch (lab_state_read(prefixes[i], &state, &reason)) {
		case LAB_STATE_WHOLE:
			describe(prefixes[i], &state, text);
			break;
		case LAB_STATE_ERROR:
			snprintf(text, sizeof(text), "%s %.*s", prefixes[i], LINE_SIZE - 80,
				 reason.text);
			break;
		default:
			snprintf(text, sizeof(text), "%s nothing made yet", prefixes[i]);
			break;
		}
		line(context, text);
	}
	lab_state_prefixes_free(prefixes, count);
	return count;
}
