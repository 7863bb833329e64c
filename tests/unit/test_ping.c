// SPDX-License-Identifier: GPL-2.0
/* Reading ping's output: lines of iputils, broken ones, and a real ping over loopback. */
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "ping.h"

static const char sample[] =
	"PING 198.51.100.10 (198.51.100.10) 56(84) bytes of data.\n"
	"64 bytes from 198.51.100.10: icmp_seq=1 ttl=63 time=0.060 ms\n"
	"64 bytes from 198.51.100.10: icmp_seq=2 ttl=63 time=12.3 ms\n"
	"64 bytes from 198.51.100.10: icmp_seq=3 ttl=63 time=374 ms\n"
	"64 bytes from 198.51.100.10: icmp_seq=3 ttl=63 time=375 ms (DUP!)\n"
	"64 bytes from 198.51.100.10: icmp_seq=65535 ttl=63 time=1.04 ms (BAD CHECKSUM!) (DUP!)\n"
	"From 192.0.2.1 icmp_seq=5 Destination Host Unreachable\n"
	"From 192.0.2.1: icmp_seq=6 Redirect Host(New nexthop: 192.0.2.9)\n"
	"64 bytes from 198.51.100.10: icmp_seq=7 ttl=63 time=0.000 ms (DIFFERENT ADDRESS!)\n"
	"wrong data byte #16 should be 0x10 but was 0x11\n"
	"#16\t10 11 12 13\n"
	"\n"
	"--- 198.51.100.10 ping statistics ---\n"
	"9 packets transmitted, 6 received, +2 duplicates, +2 errors, 33.3333% packet loss, time 812ms\n"
	"rtt min/avg/max/mdev = 0.000/127.083/375.000/171.013 ms, pipe 4\n";

static void parse(const char *text, struct ping_result *result)
{
	struct error error = { 0 };

	assert_int_equal(ping_parse(text, strlen(text), result, &error), 0);
}

static void test_sample(void **state)
{
	static const struct ping_reply wanted[] = {
		{ 1, 60000, false }, { 2, 12300000, false }, { 3, 374000000, false },
		{ 3, 375000000, true }, { 65535, 1040000, true }, { 7, 0, false },
	};
	struct ping_result result;

	(void)state;
	parse(sample, &result);
	assert_int_equal(result.count, 6);
	for (size_t i = 0; i < result.count; i++) {
		assert_int_equal(result.replies[i].sequence, wanted[i].sequence);
		assert_int_equal(result.replies[i].rtt_ns, wanted[i].rtt_ns);
		assert_int_equal(result.replies[i].duplicate, wanted[i].duplicate);
	}
	assert_true(result.summary);
	assert_int_equal(result.transmitted, 9);
	assert_int_equal(result.received, 6);
	assert_int_equal(result.duplicates, 2);
	assert_int_equal(result.errors, 2);
	assert_int_equal(result.unread, 0);
	ping_result_free(&result);
	assert_null(result.replies);
}

static void test_ipv6_with_timestamps(void **state)
{
	struct ping_result result;

	(void)state;
	parse("PING 2001:db8:1::2(2001:db8:1::2) 56 data bytes\n"
	      "[1796065124.541374] 64 bytes from 2001:db8:1::2: icmp_seq=1 ttl=64 time=0.058 ms\n"
	      "[1796065124.642125] From 2001:db8:1::1 icmp_seq=2 Destination unreachable: No route\n"
	      "64 bytes from fe80::1%eth0: icmp_seq=3 ttl=64 time=0.123456 ms\n"
	      "64 bytes from fe80::1%eth0: icmp_seq=4 ttl=64 time=0.1234567 ms\n", &result);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.replies[0].rtt_ns, 58000);
	assert_int_equal(result.replies[1].rtt_ns, 123456);
	assert_int_equal(result.replies[2].rtt_ns, 123456);
	assert_int_equal(result.errors, 1);
	assert_false(result.summary);
	ping_result_free(&result);
}

/* They look like replies, and there is no telling sequence or time: counted, never guessed. */
static void test_unread(void **state)
{
	static const char *const lines[] = {
		"16 bytes from 192.0.2.2: icmp_seq=1 ttl=64",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time<1 ms",
		"64 bytes from 192.0.2.2: icmp_seq=65536 ttl=64 time=0.1 ms",
		"64 bytes from 192.0.2.2: icmp_seq=-1 ttl=64 time=0.1 ms",
		"64 bytes from 192.0.2.2: icmp_seq= ttl=64 time=0.1 ms",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=-0.1 ms",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=nan ms",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0. ms",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.06",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.06 m",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=0.06 msec",
		"64 bytes from 192.0.2.2: icmp_seq=1 ttl=64 time=99999999999999999999 ms",
		"64 bytes from ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct ping_result result;

		parse(lines[i], &result);
		if (result.count || result.unread != 1)
			fail_msg("\"%s\": %zu read, %u unread", lines[i], result.count,
				 result.unread);
		ping_result_free(&result);
	}
}

/* Memory of exactly that length; a cut never gives a reply that the whole has not. */
static void test_truncated(void **state)
{
	(void)state;
	for (size_t cut = 0; cut <= strlen(sample); cut++) {
		char *part = malloc(cut ? cut : 1);
		struct ping_result whole, result;

		memcpy(part, sample, cut);
		parse(sample, &whole);
		assert_int_equal(ping_parse(part, cut, &result, NULL), 0);
		assert_true(result.count <= whole.count && result.unread <= 1);
		for (size_t i = 0; i < result.count; i++) {
			assert_int_equal(result.replies[i].sequence, whole.replies[i].sequence);
			assert_int_equal(result.replies[i].rtt_ns, whole.replies[i].rtt_ns);
		}
		ping_result_free(&whole);
		ping_result_free(&result);
		free(part);
	}
}

/* A generator of our own: the same bytes in every run. */
static void test_noise(void **state)
{
	unsigned int random = 1;
	char text[sizeof(sample)];

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct ping_result result;

		memcpy(text, sample, sizeof(text));
		for (int i = 0; i < 8; i++) {
			random = random * 1103515245 + 12345;
			text[random / 256 % sizeof(text)] = random >> 24;
		}
		assert_int_equal(ping_parse(text, sizeof(text), &result, NULL), 0);
		/* Line feeds may have come in, but no more than eight. */
		assert_in_range(result.count, 0, 6 + 8);
		ping_result_free(&result);
	}
	assert_int_equal(ping_parse(NULL, 0, &(struct ping_result){ 0 }, NULL), 0);
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
	close(fd);
}

/* ping's own summary is the witness: count, least and largest time. */
static void run_real(const struct ping_options *options)
{
	struct error error = { 0 };
	struct ping_result result;
	__u64 least = ~0ull, most = 0;
	char path[64], wanted[64], *line;
	struct child child;

	if (child_find_program("ping", path, sizeof(path), &error)) {
		print_message("skipped: %s\n", error.text);
		skip();
	}
	if (unshare(CLONE_NEWNET)) {
		print_message("skipped: no privilege to make a network namespace\n");
		skip();
	}
	loopback_up();
	assert_int_equal(ping_start(&child, -1, path, options, &error), 0);
	assert_true(child_wait(&child, 20000));
	assert_int_equal(child.status, 0);
	assert_int_equal(ping_parse(child.out_text, child.out_length, &result, &error), 0);
	assert_true(result.summary);
	assert_int_equal(result.transmitted, options->count);
	assert_int_equal(result.received, options->count);
	assert_int_equal(result.count, options->count);
	assert_int_equal(result.unread, 0);
	for (size_t i = 0; i < result.count; i++) {
		assert_int_equal(result.replies[i].sequence, i + 1);
		least = result.replies[i].rtt_ns < least ? result.replies[i].rtt_ns : least;
		most = result.replies[i].rtt_ns > most ? result.replies[i].rtt_ns : most;
	}
	line = strstr(child.out_text, "rtt min/avg/max/mdev = ");
	assert_non_null(line);
	snprintf(wanted, sizeof(wanted), "= %llu.%03llu/", least / 1000000, least / 1000 % 1000);
	assert_non_null(strstr(line, wanted));
	/* Ten intervals less one at least: -i was understood. */
	assert_true(child.ended_ns - child.started_ns >=
		    (options->count - 1) * options->interval_ns * 9 / 10);
	assert_true(most >= least);
	ping_result_free(&result);
	child_free(&child);
}

static void test_real(void **state)
{
	(void)state;
	run_real(&(struct ping_options){
		.target = "127.0.0.1", .interval_ns = 20000000, .count = 10, .size = 56,
	});
}

static void test_real_ipv6(void **state)
{
	(void)state;
	run_real(&(struct ping_options){
		.target = "::1", .ipv6 = true, .interval_ns = 12500000, .count = 10, .size = 16,
	});
}

static void test_version(void **state)
{
	struct error error = { 0 };
	char path[64], text[64];

	(void)state;
	if (child_find_program("ping", path, sizeof(path), &error)) {
		print_message("skipped: %s\n", error.text);
		skip();
	}
	assert_int_equal(ping_version(path, text, sizeof(text), &error), 0);
	/* iputils numbers its versions by date, with an "s" before it or not. */
	assert_true(strtoul(text + (text[0] == 's'), NULL, 10) > 20100000);
	assert_int_equal(ping_version("/bin/echo", text, sizeof(text), &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_ipv6_with_timestamps),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_real_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
