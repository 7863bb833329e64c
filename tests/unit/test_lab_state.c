// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab_state.h"

static const char whole[] =
	"sojourn lab 1\n"
	"boot 0dd6a2f4-1f6c-4f4e-9f0a-0c6f0b1f2a3b\n"
	"owner 4711 123456\n"
	"netns pl-client 4026532177 11\n"
	"netns pl-router 4026532246 12\n"
	"netns pl-server 4026532315 18446744073709551615\n"
	"end\n";

static void test_parse(void **context)
{
	struct lab_state state;

	(void)context;
	assert_int_equal(lab_state_parse(&state, whole), 0);
	assert_string_equal(state.boot, "0dd6a2f4-1f6c-4f4e-9f0a-0c6f0b1f2a3b");
	assert_int_equal(state.owner.pid, 4711);
	assert_int_equal(state.owner.started, 123456);
	assert_string_equal(state.netns[LAB_ROUTER].name, "pl-router");
	assert_int_equal(state.netns[LAB_ROUTER].inode, 4026532246u);
	assert_int_equal(state.netns[LAB_ROUTER].cookie, 12);
	assert_true(state.netns[LAB_SERVER].cookie == UINT64_MAX);
	assert_int_equal(state.netns_count, 3);
}

static void test_format_gives_what_was_parsed(void **context)
{
	struct lab_state state;
	char text[LAB_STATE_TEXT];

	(void)context;
	assert_int_equal(lab_state_parse(&state, whole), 0);
	assert_int_equal(lab_state_format(&state, text), 0);
	assert_string_equal(text, whole);
}

static void test_longest_names_fit(void **context)
{
	struct lab_state state = { .owner = { INT32_MAX, UINT64_MAX }, .netns_count = LAB_HOSTS },
			 again;
	char text[LAB_STATE_TEXT];
	unsigned int i;

	(void)context;
	memset(state.boot, 'b', LAB_BOOT_SIZE - 1);
	for (i = 0; i < LAB_HOSTS; i++) {
		memset(state.netns[i].name, 'n', LAB_NAME_SIZE - 1);
		state.netns[i].inode = UINT32_MAX;
		state.netns[i].cookie = UINT64_MAX;
	}
	assert_int_equal(lab_state_format(&state, text), 0);
	assert_int_equal(lab_state_parse(&again, text), 0);
	assert_memory_equal(&again, &state, sizeof(state));
}

static void test_every_cut_is_refused(void **context)
{
	struct lab_state state;
	char text[sizeof(whole)];
	size_t length;

	(void)context;
	for (length = 0; length < sizeof(whole) - 1; length++) {
		memcpy(text, whole, length);
		text[length] = '\0';
		assert_int_equal(lab_state_parse(&state, text), -1);
	}
}

/* Put replacement in the place of part, parse. */
static int parse_changed(const char *part, const char *replacement)
{
	const char *found = strstr(whole, part);
	struct lab_state state;
	char text[2048];

	assert_non_null(found);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(found - whole), whole, replacement,
		 found + strlen(part));
	return lab_state_parse(&state, text);
}

/* The three hosts and so many more. */
static int parse_with_more(unsigned int count)
{
	char text[1024] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < count; i++)
		used += snprintf(text + used, sizeof(text) - used, "netns pl-%c 7 8\n", 'a' + i);
	snprintf(text + used, sizeof(text) - used, "end\n");
	return parse_changed("end\n", text);
}

static void test_damage_is_refused(void **context)
{
	struct lab_state state;

	(void)context;
	assert_int_equal(parse_changed("pl-client", "xx-client"), 0);
	assert_int_equal(parse_changed("pl-client", "../client"), -1);
	assert_int_equal(parse_changed("pl-client", "a/b"), -1);
	assert_int_equal(parse_changed("pl-client", "."), -1);
	assert_int_equal(parse_changed("pl-client", ""), -1);
	assert_int_equal(parse_changed("4026532177", "0"), -1);
	assert_int_equal(parse_changed("4026532177", "-1"), -1);
	assert_int_equal(parse_changed("4026532177", "99999999999"), -1);
	assert_int_equal(parse_changed("4026532177", "4026532177x"), -1);
	assert_int_equal(parse_changed("owner 4711", "owner  4711"), -1);
	assert_int_equal(parse_changed("owner 4711", "owner +4711"), -1);
	assert_int_equal(parse_changed("sojourn lab 1", "sojourn lab 2"), -1);
	assert_int_equal(parse_changed("end\n", "end\nend\n"), -1);
	assert_int_equal(parse_changed("netns pl-server", "netns pl-server pl-server"), -1);
	/* One host more, as the office has; as many as there can be; one more than that; none. */
	assert_int_equal(parse_changed("end\n", "netns pl-modem 7 8\nend\n"), 0);
	assert_int_equal(parse_with_more(LAB_HOSTS - 3), 0);
	assert_int_equal(parse_with_more(LAB_HOSTS - 2), -1);
	assert_int_equal(lab_state_parse(&state, "sojourn lab 1\nboot -\nowner 1 2\nend\n"), -1);
}

static void test_prefixes(void **context)
{
	static const char *const bad[] = {
		"", "a/b", "/", ".", "..", ".hidden", "-option", "a b", "a\n", "\xc3\xa4", "a%", "a*",
	};
	char longest[LAB_PREFIX_MAX + 2];
	struct error error;
	size_t i;

	(void)context;
	assert_int_equal(lab_prefix_check("pl-", &error), 0);
	assert_int_equal(lab_prefix_check("x", &error), 0);
	assert_int_equal(lab_prefix_check("9_a.b-", &error), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&error, 0, sizeof(error));
		assert_int_equal(lab_prefix_check(bad[i], &error), -1);
		assert_int_equal(error.code, EXIT_USAGE);
		assert_non_null(strstr(error.text, "prefix"));
	}
	memset(longest, 'a', sizeof(longest));
	longest[LAB_PREFIX_MAX] = '\0';
	assert_int_equal(lab_prefix_check(longest, &error), 0);
	longest[LAB_PREFIX_MAX] = 'a';
	longest[LAB_PREFIX_MAX + 1] = '\0';
	assert_int_equal(lab_prefix_check(longest, &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
}

static double boot_time_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* A child that sleeps until it is killed. */
static pid_t start_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void test_own_process_lives(void **context)
{
	struct lab_owner owner;

	(void)context;
	lab_owner_self(&owner);
	assert_int_equal(owner.pid, getpid());
	assert_true(owner.started > 0);
	assert_true(lab_owner_alive(&owner));
	owner.started++;
	assert_false(lab_owner_alive(&owner));
}

static void test_start_time_is_the_kernels(void **context)
{
	double before, after, started, tick = 1.0 / sysconf(_SC_CLK_TCK);
	struct lab_owner owner;
	int pipes[2];
	pid_t pid;

	(void)context;
	assert_int_equal(pipe(pipes), 0);
	before = boot_time_s();
	pid = fork();
	if (!pid) {
		lab_owner_self(&owner);
		_exit(write(pipes[1], &owner, sizeof(owner)) != sizeof(owner));
	}
	after = boot_time_s();
	assert_true(pid > 0);
	assert_int_equal(read(pipes[0], &owner, sizeof(owner)), sizeof(owner));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pipes[0]);
	close(pipes[1]);
	started = owner.started * tick;
	assert_int_equal(owner.pid, pid);
	assert_true(started > before - 2 * tick);
	assert_true(started < after + 2 * tick);
}

static void test_zombies_and_dead_do_not_live(void **context)
{
	struct lab_owner owner;
	siginfo_t info;
	pid_t pid;

	(void)context;
	lab_owner_self(&owner);
	pid = start_child();
	owner.pid = pid;
	/* The start of the child: that of ours up to the ticks between. */
	while (!lab_owner_alive(&owner))
		owner.started++;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(lab_owner_alive(&owner));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(lab_owner_alive(&owner));
}

static void test_boot_is_the_kernels(void **context)
{
	char boot[LAB_BOOT_SIZE], line[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	(void)context;
	if (!file || !fgets(line, sizeof(line), file)) {
		print_message("skipped: no /proc/sys/kernel/random/boot_id here\n");
		skip();
	}
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	lab_boot(boot);
	assert_string_equal(boot, line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_format_gives_what_was_parsed),
		cmocka_unit_test(test_longest_names_fit),
		cmocka_unit_test(test_every_cut_is_refused),
		cmocka_unit_test(test_damage_is_refused),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_own_process_lives),
		cmocka_unit_test(test_start_time_is_the_kernels),
		cmocka_unit_test(test_zombies_and_dead_do_not_live),
		cmocka_unit_test(test_boot_is_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
