// SPDX-License-Identifier: GPL-2.0
/* Scenario keys: defaults, bounds, close names, files, and what follows from what. */
#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "closest.h"
#include "scenario.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct scenario defaults(void)
{
	struct scenario scenario;
	struct error error = { 0 };

	if (scenario_named(&scenario, "bottleneck", &error))
		fail_msg("%s", error.text);
	return scenario;
}

static void set(struct scenario *scenario, const char *assignment)
{
	struct error error = { 0 };

	if (scenario_set(scenario, assignment, &error))
		fail_msg("%s refused: %s", assignment, error.text);
}

static void check(struct scenario *scenario)
{
	struct error error = { 0 };

	if (scenario_check(scenario, &error))
		fail_msg("refused: %s", error.text);
}

static void check_fails(struct scenario *scenario, const char *wanted)
{
	struct error error = { 0 };

	if (!scenario_check(scenario, &error))
		fail_msg("taken, though \"%s\"", wanted);
	assert_int_equal(error.code, EXIT_USAGE);
	if (!strstr(error.text, wanted))
		fail_msg("\"%s\" does not say \"%s\"", error.text, wanted);
}

static void set_fails(const char *assignment, const char *wanted)
{
	struct scenario scenario = defaults(), before = scenario;
	struct error error = { 0 };

	if (!scenario_set(&scenario, assignment, &error))
		fail_msg("%s taken", assignment);
	assert_int_equal(error.code, EXIT_USAGE);
	if (!strstr(error.text, wanted))
		fail_msg("%s: \"%s\" does not say \"%s\"", assignment, error.text, wanted);
	assert_null(strchr(error.text, '\n'));
	assert_memory_equal(&scenario, &before, sizeof(scenario));
}

/* The figures of the bottleneck scenario as they are documented. */
static void test_defaults(void **state)
{
	struct scenario scenario = defaults();

	(void)state;
	check(&scenario);
	assert_string_equal(scenario.name, "bottleneck");
	assert_int_equal(scenario.idle_ns, 3000000000);
	assert_int_equal(scenario.load.ns, 15000000000);
	assert_int_equal(scenario.recovery_ns, 8000000000);
	assert_int_equal(scenario.margin_ns, 1000000000);
	assert_int_equal(scenario.settle_ns, 1000000000);
	assert_int_equal(scenario.load.streams, 1);
	assert_string_equal(scenario.load.congestion, "cubic");
	assert_int_equal(scenario.load.proto, LOAD_TCP);
	assert_int_equal(scenario.load.rate, 0);
	assert_int_equal(scenario.load.direction, LOAD_UP);
	assert_int_equal(scenario.load.port, 5201);
	assert_string_equal(scenario.qdisc_kind, "tbf");
	assert_int_equal(scenario.qdisc_rate, 10000000);
	assert_int_equal(scenario.qdisc_burst, 32768);
	assert_int_equal(scenario.qdisc_latency_ns, 400000000);
	assert_int_equal(scenario.probe_interval_ns, 100000000);
	assert_int_equal(scenario.probe_count, 260);
	assert_int_equal(scenario.probe_size, 56);
	assert_int_equal(scenario.restored_count, 20);
	assert_string_equal(scenario.lab_prefix, "pl-");
	assert_false(scenario.lab_ipv6);
}

static void test_set(void **state)
{
	struct scenario scenario = defaults();

	(void)state;
	set(&scenario, "load.seconds=8");
	set(&scenario, "idle.seconds=2.5s");
	set(&scenario, "load.margin=500ms");
	set(&scenario, "load.streams=128");
	set(&scenario, "load.cc=bbr");
	set(&scenario, "load.proto=udp");
	set(&scenario, "load.rate=20M");
	set(&scenario, "load.direction=bidir");
	set(&scenario, "load.port=65535");
	set(&scenario, "qdisc.kind=pfifo_fast");
	set(&scenario, "qdisc.rate=20mbit");
	set(&scenario, "qdisc.burst=64kb");
	set(&scenario, "qdisc.latency=50ms");
	set(&scenario, "probe.interval=0.01");
	set(&scenario, "probe.size=1000");
	set(&scenario, "restored.count=0");
	set(&scenario, "lab.prefix=xx-");
	set(&scenario, "lab.ipv6=true");
	check(&scenario);
	assert_int_equal(scenario.load.ns, 8000000000);
	assert_int_equal(scenario.idle_ns, 2500000000);
	assert_int_equal(scenario.margin_ns, 500000000);
	assert_int_equal(scenario.load.streams, 128);
	assert_string_equal(scenario.load.congestion, "bbr");
	assert_int_equal(scenario.load.proto, LOAD_UDP);
	assert_int_equal(scenario.load.rate, 20000000);
	assert_int_equal(scenario.load.direction, LOAD_BIDIR);
	assert_int_equal(scenario.load.port, 65535);
	assert_string_equal(scenario.qdisc_kind, "pfifo_fast");
	assert_int_equal(scenario.qdisc_rate, 20000000);
	assert_int_equal(scenario.qdisc_burst, 65536);
	assert_int_equal(scenario.qdisc_latency_ns, 50000000);
	assert_int_equal(scenario.probe_interval_ns, 10000000);
	assert_int_equal(scenario.probe_size, 1000);
	assert_int_equal(scenario.restored_count, 0);
	assert_string_equal(scenario.lab_prefix, "xx-");
	assert_true(scenario.lab_ipv6);
	/* 2.5 + 8 + 8 s in steps of 10 ms */
	assert_int_equal(scenario.probe_count, 1850);
}

static void test_bad_values(void **state)
{
	static const char *const cases[][2] = {
		{ "load.seconds=0", "1.00 s to 3600 s" },
		{ "load.seconds=3601", "1.00 s to 3600 s" },
		{ "load.seconds=2.5", "whole number of seconds" },
		{ "load.seconds=", "load.seconds: time \"\" is empty" },
		{ "load.seconds=-3", "is negative" },
		{ "load.seconds=nan", "does not begin with a number" },
		{ "idle.seconds=99999999999999999999", "too large" },
		{ "load.streams=0", "1 to 128" },
		{ "load.streams=129", "1 to 128" },
		{ "load.streams=1.5", "whole number" },
		{ "load.cc=", "a-z" },
		{ "load.cc=cubic;reboot", "a-z" },
		{ "load.cc=abcdefghijklmnop", "1 to 15" },
		{ "load.proto=sctp", "tcp|udp" },
		{ "load.proto=tc", "tcp|udp" },
		{ "load.proto=tcp|udp", "tcp|udp" },
		{ "load.proto=", "tcp|udp" },
		{ "load.direction=UP", "up|down|bidir" },
		{ "load.rate=fast", "rate \"fast\"" },
		{ "load.port=0", "1 to 65535" },
		{ "load.port=65536", "1 to 65535" },
		{ "qdisc.rate=10mbits", "unknown unit" },
		{ "qdisc.rate=0", "out of bounds" },
		{ "qdisc.rate=2tbit", "out of bounds" },
		{ "qdisc.burst=32kib", "unknown unit" },
		{ "qdisc.burst=4gb", "out of bounds" },
		{ "qdisc.latency=400", "has no unit" },
		{ "qdisc.latency=4", "has no unit" },
		{ "qdisc.latency=1ns", "out of bounds" },
		{ "probe.interval=1ms", "2.00 ms to 60.0 s" },
		{ "probe.count=0", "1 to 65535" },
		{ "probe.count=65536", "1 to 65535" },
		{ "probe.size=15", "16 to 1452" },
		{ "lab.prefix=", "a-z" },
		{ "lab.prefix=a/b", "a-z" },
		{ "lab.prefix=..", "a-z" },
		{ "lab.prefix=Pl-", "a-z" },
		{ "lab.prefix=abcdefghijklmnopqrstu", "1 to 20" },
		{ "lab.ipv6=maybe", "true or false" },
		{ "load.seconds", "no key=value" },
		{ "=5", "no key=value" },
		{ "", "no key=value" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		set_fails(cases[i][0], cases[i][1]);
	set(&(struct scenario){ 0 }, "lab.prefix=abcdefghijklmnopqrst");
}

static void test_unknown_keys(void **state)
{
	static const char *const cases[][2] = {
		{ "load.second=8", "did you mean load.seconds?" },
		{ "laod.seconds=8", "did you mean load.seconds?" },
		{ "qdisc.rat=1mbit", "did you mean qdisc.rate?" },
		{ "qdisc.Latency=1ms", "did you mean qdisc.latency?" },
		{ "probe.cuont=1", "did you mean probe.count" },
		{ "rate=10mbit", "qdisc.rate" },
		{ "burst=10kb", "did you mean qdisc.burst?" },
		{ "load.zzzzzzzzzzzz=1", "there are load.seconds" },
		{ "x=1", "sojourn help run" },
		{ "load.seconds.more.and.more.and.more.and.more.and.more.and.more.and.more=1",
		  "no key is as long" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		set_fails(cases[i][0], cases[i][1]);
}

static void test_unknown_scenario(void **state)
{
	struct scenario scenario;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(scenario_named(&scenario, "botleneck", &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
	assert_non_null(strstr(error.text, "did you mean bottleneck?"));
	assert_int_equal(scenario_named(&scenario, "something-else", &error), -1);
	assert_non_null(strstr(error.text, "there are: bottleneck"));
	assert_int_equal(scenario_named(&scenario, "", &error), -1);
	assert_int_equal(scenario_named(&scenario, "/nonexistent/file", &error), -1);
	assert_non_null(strstr(error.text, "No such file or directory"));
	assert_int_equal(scenario_named(&scenario, "/dev/null", &error), -1);
	assert_non_null(strstr(error.text, "no regular file"));
	assert_int_equal(scenario_named(&scenario, "/tmp", &error), -1);
}

static void test_derived_count(void **state)
{
	struct scenario scenario = defaults();

	(void)state;
	set(&scenario, "idle.seconds=1");
	set(&scenario, "load.seconds=5");
	set(&scenario, "recovery.seconds=3");
	check(&scenario);
	assert_int_equal(scenario.probe_count, 90);
	/* A second check changes nothing. */
	check(&scenario);
	assert_int_equal(scenario.probe_count, 90);

	set(&scenario, "load.seconds=3600");
	set(&scenario, "probe.interval=20ms");
	check_fails(&scenario, "set probe.interval=55ms or more");
	set(&scenario, "probe.interval=55ms");
	check(&scenario);
	assert_in_range(scenario.probe_count, 65000, 65535);
}

static void test_explicit_count(void **state)
{
	struct scenario scenario = defaults();
	char assignment[64];

	(void)state;
	/* 3 + 15 + 1 s and one probe more */
	set(&scenario, "probe.count=190");
	check_fails(&scenario, "set probe.count=191 or more, or leave it out");
	set(&scenario, "probe.count=191");
	check(&scenario);
	assert_int_equal(scenario.probe_count, 191);
	assert_int_equal(scenario.recovery_ns, 1100000000);

	set(&scenario, "probe.count=300");
	check(&scenario);
	assert_int_equal(scenario.recovery_ns, 12000000000);

	set(&scenario, "recovery.seconds=20");
	check_fails(&scenario, "set probe.count=380 or more");
	snprintf(assignment, sizeof(assignment), "probe.count=%d", 380);
	set(&scenario, assignment);
	check(&scenario);
	assert_int_equal(scenario.recovery_ns, 20000000000);
}

static void test_between_values(void **state)
{
	struct scenario scenario = defaults();

	(void)state;
	set(&scenario, "load.seconds=2");
	check_fails(&scenario, "load.margin");
	set(&scenario, "load.margin=0.5");
	check(&scenario);

	scenario = defaults();
	set(&scenario, "idle.seconds=0.05");
	check_fails(&scenario, "probe.interval");

	scenario = defaults();
	set(&scenario, "recovery.seconds=1");
	check_fails(&scenario, "recovery.margin");
	set(&scenario, "recovery.margin=0");
	check(&scenario);

	scenario = defaults();
	set(&scenario, "qdisc.burst=1500");
	check_fails(&scenario, "qdisc.burst=1514 or more");
	set(&scenario, "qdisc.burst=1514");
	check(&scenario);
	set(&scenario, "qdisc.rate=1tbit");
	set(&scenario, "qdisc.latency=400ms");
	check_fails(&scenario, "latency");

	scenario = defaults();
	set(&scenario, "qdisc.kind=tbff");
	check_fails(&scenario, "tbff");
}

static double json_number(const cJSON *object, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

	if (!cJSON_IsNumber(item))
		fail_msg("%s is no number", name);
	return item->valuedouble;
}

static void assert_text(const cJSON *object, const char *name, const char *wanted)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	assert_non_null(text);
	assert_string_equal(text, wanted);
}

static void test_json(void **state)
{
	struct scenario scenario = defaults();
	cJSON *object;

	(void)state;
	set(&scenario, "idle.seconds=2.5");
	set(&scenario, "load.direction=down");
	check(&scenario);
	object = scenario_json(&scenario);
	assert_non_null(object);
	assert_text(object, "name", "bottleneck");
	assert_text(object, "load.cc", "cubic");
	assert_text(object, "load.proto", "tcp");
	assert_text(object, "load.direction", "down");
	assert_text(object, "qdisc.kind", "tbf");
	assert_text(object, "lab.prefix", "pl-");
	assert_text(object, "lab.cpu", "auto");
	assert_true(json_number(object, "idle.seconds") == 2.5);
	assert_true(json_number(object, "load.seconds") == 15);
	assert_true(json_number(object, "qdisc.rate") == 10e6);
	assert_true(json_number(object, "qdisc.burst") == 32768);
	assert_true(json_number(object, "qdisc.latency") == 400e6);
	assert_true(json_number(object, "probe.interval") == 100e6);
	assert_true(json_number(object, "probe.count") == 255);
	assert_true(json_number(object, "load.port") == 5201);
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(object, "lab.ipv6")));
	assert_int_equal(cJSON_GetArraySize(object), 32);
	cJSON_Delete(object);
}

static struct scenario office(void)
{
	struct scenario scenario;
	struct error error = { 0 };

	if (scenario_named(&scenario, "office", &error))
		fail_msg("%s", error.text);
	return scenario;
}

static void test_office(void **state)
{
	struct scenario scenario = office();

	(void)state;
	check(&scenario);
	assert_string_equal(scenario.name, "office");
	assert_int_equal(scenario.topology, LAB_OFFICE);
	assert_int_equal(scenario.up.rate, 5000000);
	assert_int_equal(scenario.up.burst, 16384);
	assert_int_equal(scenario.up.latency_ns, 1000000000);
	assert_int_equal(scenario.down.rate, 20000000);
	assert_int_equal(scenario.down.burst, 32768);
	assert_int_equal(scenario.down.latency_ns, 500000000);
	assert_string_equal(scenario.up.kind, "tbf");
	assert_string_equal(scenario.down.kind, "tbf");
	assert_string_equal(scenario.qdisc_kind, "fq_codel");
	assert_string_equal(scenario_otherwise(&scenario), "pfifo_fast");
	assert_int_equal(scenario.load.ns, 20000000000);
	assert_int_equal(scenario.load.direction, LOAD_EACH);
	assert_string_equal(scenario.load.congestion, "cubic");
	assert_int_equal(scenario.probe_interval_ns, 200000000);
	/* 5 + 2 * (20 + 6) s in steps of 0.2 s */
	assert_int_equal(scenario.probe_count, 285);
	assert_int_equal(scenario_rate(&scenario), 20000000);

	/* Who chooses the kind gets that one or none. */
	set(&scenario, "qdisc.kind=fq_codel");
	assert_null(scenario_otherwise(&scenario));
	set(&scenario, "up.rate=50mbit");
	assert_int_equal(scenario_rate(&scenario), 50000000);
}

static void test_office_bounds(void **state)
{
	struct scenario scenario = office();

	(void)state;
	set(&scenario, "up.burst=1000");
	check_fails(&scenario, "up.burst=1514 or more");
	scenario = office();
	set(&scenario, "down.kind=tbff");
	check_fails(&scenario, "down: unknown qdisc kind");
	scenario = office();
	set(&scenario, "load.seconds=2");
	check_fails(&scenario, "load.margin");
	/* 5 + 2 * (20 + 1) s, and a probe more after each load */
	scenario = office();
	set(&scenario, "probe.count=236");
	check_fails(&scenario, "set probe.count=237 or more");
	set(&scenario, "probe.count=265");
	check(&scenario);
	assert_int_equal(scenario.recovery_ns, 4000000000);
	set(&scenario, "recovery.seconds=10");
	check_fails(&scenario, "set probe.count=325 or more");
	set_fails("up.rate=1mbit", "up.rate is a key of the scenario office");
	set_fails("down.burst=1kb", "bottleneck has no modem");
}

/* Keys of the modem are offered where there is one, and there alone. */
static void test_office_keys(void **state)
{
	static const char *const cases[][2] = {
		{ "rate=1mbit", "did you mean load.rate, qdisc.rate, up.rate, down.rate?" },
		{ "up.rat=1mbit", "did you mean up.rate" },
		{ "up.zzzzzzzzzzz=1", "there are up.kind, up.rate, up.burst, up.latency" },
		{ "down.latenzy=1s", "did you mean down.latency?" },
	};
	struct scenario scenario = office();
	struct error error = { 0 };
	cJSON *object;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(scenario_set(&scenario, cases[i][0], &error), -1);
		if (!strstr(error.text, cases[i][1]))
			fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i][1]);
	}
	scenario = defaults();
	assert_int_equal(scenario_set(&scenario, "up.zzzzzzzzzzz=1", &error), -1);
	assert_null(strstr(error.text, "up.kind"));

	scenario = office();
	object = scenario_json(&scenario);
	assert_non_null(object);
	assert_text(object, "name", "office");
	assert_text(object, "load.direction", "each");
	assert_text(object, "up.kind", "tbf");
	assert_true(json_number(object, "up.rate") == 5e6);
	assert_true(json_number(object, "down.latency") == 500e6);
	assert_int_equal(cJSON_GetArraySize(object), 40);
	cJSON_Delete(object);
}

static void test_phases(void **state)
{
	static const char *const each[] = {
		"idle", "upload", "between", "download", "recovery", "restored"
	};
	static const char *const single[] = { "idle", "load", "recovery", "restored" };
	const struct scenario_phase *phases, *known;
	struct scenario scenario = defaults();
	unsigned int count = scenario_known_phases(&known), i, j;

	(void)state;
	assert_int_equal(scenario_phases(&scenario, &phases), COUNT(single));
	for (i = 0; i < COUNT(single); i++)
		assert_string_equal(phases[i].name, single[i]);
	set(&scenario, "load.direction=down");
	assert_int_equal(scenario_phases(&scenario, &phases), COUNT(single));
	assert_int_equal(phases[1].direction, LOAD_DOWN);
	set(&scenario, "load.direction=each");
	assert_int_equal(scenario_phases(&scenario, &phases), COUNT(each));
	for (i = 0; i < COUNT(each); i++) {
		assert_string_equal(phases[i].name, each[i]);
		for (j = 0; j < count && strcmp(known[j].name, each[i]); j++)
			;
		assert_true(j < count && known[j].kind == phases[i].kind);
	}
	check(&scenario);
	/* 3 + 2 * (15 + 8) s in steps of 0.1 s */
	assert_int_equal(scenario.probe_count, 490);
}

/* Every key of the document is one that scenario_set() knows. */
static void test_json_keys_are_keys(void **state)
{
	struct scenario scenario = defaults();
	cJSON *object = scenario_json(&scenario), *item;

	(void)state;
	cJSON_ArrayForEach(item, object) {
		char assignment[128];
		struct error error = { 0 };

		if (!strcmp(item->string, "name"))
			continue;
		snprintf(assignment, sizeof(assignment), "%s=?", item->string);
		/* a path and a host may be anything */
		assert_int_equal(scenario_set(&scenario, assignment, &error),
				 strcmp(item->string, "load.file") &&
				 strcmp(item->string, "load.to") &&
				 strcmp(item->string, "probe.to") ? -1 : 0);
		assert_null(strstr(error.text, "unknown key"));
	}
	cJSON_Delete(object);
}

static void write_file(char path[], const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_file(void **state)
{
	char path[] = "/tmp/sojourn-test-XXXXXX";
	struct scenario scenario;
	struct error error = { 0 };

	(void)state;
	write_file(path, "# a slower line\n\n  qdisc.rate = 2mbit  \nload.seconds=5\n"
		   "\tlab.prefix\t=\tab-\nprobe.interval=50ms");
	if (scenario_named(&scenario, path, &error))
		fail_msg("%s", error.text);
	unlink(path);
	check(&scenario);
	assert_int_equal(scenario.qdisc_rate, 2000000);
	assert_int_equal(scenario.load.ns, 5000000000);
	assert_string_equal(scenario.lab_prefix, "ab-");
	assert_int_equal(scenario.probe_count, (3 + 5 + 8) * 20);
}

static void test_file_of_a_scenario(void **state)
{
	char path[] = "/tmp/sojourn-test-XXXXXX";
	struct scenario scenario;
	struct error error = { 0 };

	(void)state;
	write_file(path, "# slower\nscenario = office\nup.rate = 2mbit\n");
	if (scenario_named(&scenario, path, &error))
		fail_msg("%s", error.text);
	unlink(path);
	check(&scenario);
	assert_int_equal(scenario.topology, LAB_OFFICE);
	assert_int_equal(scenario.up.rate, 2000000);
	assert_int_equal(scenario.down.rate, 20000000);
}

static void test_bad_files(void **state)
{
	static const char *const cases[][2] = {
		{ "load.seconds=5\nqdisc.rate=fast\n", ":2: qdisc.rate" },
		{ "load.second=5\n", ":1: unknown key" },
		{ "just words\n", ":1: \"just words\" is no key=value" },
		{ "= 7\n", ":1:" },
		{ "up.rate=1mbit\n", ":1: up.rate is a key of the scenario office" },
		{ "scenario=ofice\n", ":1: unknown scenario \"ofice\": did you mean office?" },
		{ "load.seconds=5\nscenario=office\n", ":2: scenario=office comes too late" },
	};
	char long_line[1000];

	(void)state;
	for (size_t i = 0; i <= COUNT(cases); i++) {
		char path[] = "/tmp/sojourn-test-XXXXXX";
		struct scenario scenario;
		struct error error = { 0 };

		memset(long_line, 'x', sizeof(long_line) - 1);
		long_line[sizeof(long_line) - 1] = '\0';
		write_file(path, i < COUNT(cases) ? cases[i][0] : long_line);
		assert_int_equal(scenario_named(&scenario, path, &error), -1);
		unlink(path);
		assert_int_equal(error.code, EXIT_USAGE);
		assert_non_null(strstr(error.text, path));
		assert_non_null(strstr(error.text, i < COUNT(cases) ? cases[i][1] : ":1: it is longer"));
	}
}

static void test_closest(void **state)
{
	static const char *const names[] = { "run", "doctor", "lab" };

	(void)state;
	assert_int_equal(closest_distance("kitten", "sitting"), 3);
	assert_int_equal(closest_distance("", "abc"), 3);
	assert_int_equal(closest_distance("abc", "abc"), 0);
	assert_int_equal(closest_distance("ab", "ba"), 1);
	assert_int_equal(closest_distance("laod", "load"), 1);
	assert_int_equal(closest_name("docter", names, 3), 1);
	assert_int_equal(closest_name("rnu", names, 3), 0);
	assert_int_equal(closest_name("completely", names, 3), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_bad_values),
		cmocka_unit_test(test_unknown_keys),
		cmocka_unit_test(test_unknown_scenario),
		cmocka_unit_test(test_derived_count),
		cmocka_unit_test(test_explicit_count),
		cmocka_unit_test(test_between_values),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_office),
		cmocka_unit_test(test_office_bounds),
		cmocka_unit_test(test_office_keys),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_json_keys_are_keys),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_of_a_scenario),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_closest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
