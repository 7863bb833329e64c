// SPDX-License-Identifier: GPL-2.0
/* Scenario files: headings, a lab of one's own, and each thing that can be wrong with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "json_read.h"
#include "scenario_file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char lab[] =
	"# three hosts in a row\n"
	"idle.seconds = 2\n"
	"[host left]\n"
	"gateway = 10.1.0.1\n"
	"gateway = fd00:1::1\n"
	"sysctl = net.ipv4.tcp_ecn = 1\n"
	"[host middle]\n"
	"role = gateway\n"
	"forward = yes\n"
	"[host right]\n"
	"route = 10.1.0.0/16 via 10.2.0.1   ; back\n"
	"\n"
	"[link one]\n"
	"a = left eth0 10.1.0.10/24 fd00:1::10/64\n"
	"  b = middle lan0 10.1.0.1/24 fd00:1::1/64\n"
	"mtu = 9000\n"
	"offload = off\n"
	"[link two]\n"
	"a = middle wan0 10.2.0.1/24\n"
	"b = right eth0 10.2.0.10/24\n"
	"[qdisc middle wan0]\n"
	"add = root handle 1: htb default 10\n"
	"add = class parent 1: classid 1:10 htb rate 20mbit\n"
	"add = parent 1:10 handle 20: tbf rate 8mbit burst 16kb latency 300ms\n"
	"[load]\n"
	"from = left\n"
	"to = right\n"
	"dscp = af41\n"
	"omit = 2\n"
	"block = 1kb\n"
	"[probe]\n"
	"from = left\n"
	"to = right\n";

static int parse(struct scenario *scenario, const char *text, struct error *error)
{
	return scenario_file_parse(scenario, text, strlen(text), "labs/three.scenario", error);
}

static void test_lab(void **state)
{
	const struct lab_plan_host *left, *middle, *right;
	struct scenario scenario;
	const struct lab_end *end;
	struct error error;

	(void)state;
	if (parse(&scenario, lab, &error) || scenario_check(&scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.topology, LAB_PLANNED);
	assert_string_equal(scenario.name, "three");
	assert_int_equal(scenario.idle_ns, 2000000000);
	assert_int_equal(scenario.load.dscp, 34);
	assert_int_equal(scenario.load_omit_ns, 2000000000);
	assert_int_equal(scenario.load.block, 1024);
	assert_string_equal(scenario.load.to, "right");
	/* 2 + (15 + 2) + 8 s in steps of 0.1 s */
	assert_int_equal(scenario.probe_count, 270);

	assert_int_equal(scenario.plan.host_count, 3);
	left = &scenario.plan.hosts[0];
	middle = &scenario.plan.hosts[1];
	right = &scenario.plan.hosts[2];
	assert_int_equal(left->route_count, 2);
	assert_string_equal(left->routes[1].gateway, "fd00:1::1");
	assert_string_equal(left->sysctls[0].name, "net/ipv4/tcp_ecn");
	assert_string_equal(left->sysctls[0].value, "1");
	assert_string_equal(middle->role, "gateway");
	assert_true(middle->forwards);
	assert_false(right->forwards);
	assert_string_equal(right->routes[0].to.address, "10.1.0.0");
	assert_int_equal(right->routes[0].to.length, 16);
	assert_string_equal(right->routes[0].gateway, "10.2.0.1");

	assert_int_equal(scenario.plan.link_count, 2);
	assert_int_equal(scenario.plan.links[0].mtu, 9000);
	assert_true(scenario.plan.links[0].without_offloads);
	assert_false(scenario.plan.links[1].without_offloads);
	end = lab_plan_end(&scenario.plan, 1, "wan0");
	assert_non_null(end);
	assert_int_equal(end->address_count, 1);
	assert_string_equal(lab_plan_address(&scenario.plan, 2, false), "10.2.0.10");
	assert_null(lab_plan_address(&scenario.plan, 2, true));

	assert_int_equal(scenario.plan.tree_count, 1);
	assert_string_equal(scenario.plan.trees[0].commands,
			    "root handle 1: htb default 10; "
			    "class parent 1: classid 1:10 htb rate 20mbit; "
			    "parent 1:10 handle 20: tbf rate 8mbit burst 16kb latency 300ms");
	assert_int_equal(scenario_rate(&scenario), 8000000);
}

/* Keys under a heading are those with its name before; qdiscs on a built-in lab. */
static void test_built_in(void **state)
{
	struct scenario scenario;
	struct error error;

	(void)state;
	if (parse(&scenario, "scenario = office\n[up]\nrate = 2mbit\nlatency = 300ms\n"
			     "[qdisc server eth0]\nadd = root pfifo limit 100\n", &error) ||
	    scenario_set(&scenario, "qdisc.client.eth0=root handle 7: tbf rate 1mbit burst 9k latency 1s",
			 &error) ||
	    scenario_check(&scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.topology, LAB_OFFICE);
	assert_string_equal(scenario.name, "office");
	assert_int_equal(scenario.up.rate, 2000000);
	assert_int_equal(scenario.plan.tree_count, 2);
	assert_int_equal(scenario_rate(&scenario), 1000000);
	assert_false(scenario_has_own_trees(&scenario));
	if (scenario_set(&scenario, "qdisc.client.eth0=", &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.plan.tree_count, 1);
	assert_string_equal(scenario.plan.trees[0].host, "server");
	if (scenario_set(&scenario, "qdisc.gw.wan0=root pfifo", &error))
		fail_msg("%s", error.text);
	assert_true(scenario_has_own_trees(&scenario));
	assert_int_equal(scenario_set(&scenario, "qdisc.rate=1mbit", &error), -1);
	assert_non_null(strstr(error.text, "qdisc.HOST.DEVICE"));
}

/* What is wrong, and what the message says with the line. */
static void test_bad(void **state)
{
	static const char *const cases[][2] = {
		{ "[host a]\n[host a]\n", ":2: the host a is there twice" },
		{ "[hots a]\n", ":1: [hots ...]: there are [host NAME]" },
		{ "[host Big]\n", ":1: [host Big]: a host's name has up to 15 lower-case letters" },
		{ "[host a\n", ":1: a heading ends with" },
		{ "[host]\n", ":1: this heading is unknown or lacks a name; did you mean [host]?" },
		{ "[laod]\n", "did you mean [load]?" },
		{ "[host a]\nrole = b\nroute = x\n", ":3: route = x: write it like" },
		{ "[host a]\nroute = 10.0.0.0/33 via 10.0.0.1\n", ":2: '10.0.0.0/33' is no address" },
		{ "[host a]\nroute = 10.0.0.0/8 via fd00::1\n", ":2: route = 10.0.0.0/8 via fd00::1: network and gateway" },
		{ "[host a]\ngateway = 10.0.0\n", ":2: '10.0.0' is not an address" },
		{ "[host a]\nforward = perhaps\n", ":2: forward = perhaps: it takes yes or no" },
		{ "[host a]\nsysctl = kernel.panic=1\n", ":2: sysctl = kernel.panic=1: write it like" },
		{ "[host a]\nsysctl = net.ipv4/../../kernel/panic=1\n", ":2: sysctl = " },
		{ "[host a]\nforwrad = yes\n", ":2: unknown key \"forwrad\", did you mean forward? there are role" },
		{ "[link l]\na = nobody eth0\n", ":2: there is no host nobody yet" },
		{ "[host a]\n[link l]\na = a eth0 10.0.0.1/24 10.0.0.2/24 10.0.0.3/24\n", ":3: '10.0.0.3/24' is too much" },
		{ "[host a]\n[link l]\na = a\n", ":3: a: write it like" },
		{ "[host a]\n[link l]\na = a an-interface-too-long 10.0.0.1/24\n", ":3: 'an-interface-too-long' cannot be" },
		{ "[host a]\n[link l]\nmtu = 12\n", ":3: mtu = 12: it takes" },
		{ "[host a]\n[link l]\noffload = maybe\n", ":3: offload = maybe: it takes on or off" },
		{ "[host a]\n[link l]\n[link l]\n", ":3: the link l is there twice" },
		{ "[qdisc router wan9]\nadd = root pfifo\n[qdisc router wan9]\n", ":3: the device wan9 of that host has" },
		{ "[qdisc nobody wan0]\n", ":1: there is no host nobody yet" },
		{ "[qdisc router wan0]\nput = root pfifo\n", ":2: unknown key \"put\": there is add" },
		{ "[qdisc router wan0 now please]\n", ":1: a heading has 3 words at most" },
		{ "scenario = office\n[host a]\n", ":2: a lab of one's own takes no" },
		{ "[host a]\n[load]\n[host b]\nscenario = office\n", ":4: unknown key \"scenario\"" },
		{ "[probe Bad]\n", ":1: [probe Bad]: such a name has" },
		{ "[probe a]\nsize = 5\n", ":2: unknown key \"probe.a.size\": of probes beside the main ones there are to, from and interval" },
		{ "[probe a]\ninterval = 1ms\n", ":2: probe.a.interval=1ms is out of bounds" },
		{ "[load Bad]\n", ":1: [load Bad]: such a name has" },
		{ "[load x]\nrat = 1\n", ":2: load x: unknown key \"load.rat\": did you mean load.rate?" },
		{ "[load x]\nstart = soon\n", ":2: load.x.start: time \"soon\"" },
		{ "[load x]\nomit = 1\n", ":2: load.x.omit: only the main load has that" },
		{ "lab = some\n", ":1: lab=some cannot be: it takes none" },
		{ "[qdisc router wan0]\nadd = root pfifo\n[lab]\nprefix = a-\n[idle]\nseconds = x\n", ":6: idle.seconds" },
		{ "[load]\nseconds = x\n", ":2: load.seconds" },
		{ "[load]\ndscp = 64\n", ":2: load.dscp=64 cannot be" },
		{ "[load]\nsecond = 7\n", ":2: unknown key \"load.second\": did you mean load.seconds" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scenario scenario;
		struct error error = { 0 };

		if (!parse(&scenario, cases[i][0], &error))
			fail_msg("case %zu is taken", i);
		assert_int_equal(error.code, EXIT_USAGE);
		if (!strstr(error.text, cases[i][1]) || strncmp(error.text, "labs/three.scenario", 19))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.text, cases[i][1]);
	}
}

/* What is seen when all of it has been read. */
static void test_bad_together(void **state)
{
	static const char *const cases[][2] = {
		{ "[host a]\n", "two hosts and a link at least" },
		{ "[host client]\n[host server]\n[link l]\na = client e0 10.0.0.1/24\nb = client e0 10.0.0.2/24\n",
		  "the host client has two devices e0" },
		{ "[host client]\n[host server]\n[link l]\na = client e0 10.0.0.1/24\nb = server e0 10.0.0.1/24\n",
		  "two devices have the address 10.0.0.1" },
		{ "[host client]\ngateway = 10.9.0.1\n[host server]\n[link l]\na = client e0 10.0.0.1/24\nb = server e0 10.0.0.2/24\n",
		  "host client: its gateway 10.9.0.1 is in none" },
		{ "[host client]\n[host server]\n[link l]\na = client e0 10.0.0.1/24\nb = server e0 10.0.0.2/24\n[qdisc server e1]\nadd = root pfifo\n",
		  "qdisc.server.e1: the host server has no device e1" },
		{ "[host client]\n[host target]\n[link l]\na = client e0 10.0.0.1/24\nb = target e0 10.0.0.2/24\n",
		  "load.to=server: there is no such host; there are client, target" },
		{ "[host client]\n[host server]\n[link l]\na = client e0 10.0.0.1/24\nb = server e0 fd00::2/64\n",
		  "load.to=server: that host has no IPv4 address" },
		{ "[load x]\nseconds = 90\n", "load x does not fit into the main one, which lasts 15.0 s" },
		{ "[load x]\nstart = 14.5\n", "load x does not fit" },
		{ "[load x]\nport = 5201\n", "load.x.port=5201 is the main load's" },
		{ "[load x]\nport = 6000\n[load y]\nport = 6000\n", "load.y.port=6000 is that of load x" },
		{ "[load x]\nfrom = nobody\n", "load.x.from=nobody: there is no such host; there are client" },
		{ "[load x]\ndirection = each\n", "with several loads a direction is" },
		{ "scenario = office\n[load x]\nrate = 1mbit\n", "with several loads a direction is" },
		{ "[probe x]\nto = nobody\n", "probe.x.to=nobody: there is no such host; there are client" },
		{ "[probe x]\nto = client\n", "probe.x: it begins and ends at the same host, client" },
		{ "[probe x]\ninterval = 2ms\n[load]\nseconds = 900\n", "probe.x.interval: " },
		{ "lab = none\n", "lab=none: set load.to=HOST" },
		{ "load.to = client\n", "load.from and load.to are the same host, client" },
		{ "load.file = temporary\n", "load.file=temporary: set load.bytes to its size" },
		{ "load.bytes = 1mb\nload.omit = 1\n", "load.bytes and load.omit do not go together" },
		{ "[load x]\nfile = temporary\n", "load.x.file=temporary: only the main load can have that" },
		{ "load.omit = 0.5\n", "load.omit=500 ms is no whole number of seconds" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct scenario scenario;
		struct error error = { 0 };

		if (parse(&scenario, cases[i][0], &error))
			fail_msg("case %zu: %s", i, error.text);
		assert_int_equal(scenario_check(&scenario, &error), -1);
		assert_int_equal(error.code, EXIT_USAGE);
		if (!strstr(error.text, cases[i][1]))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, error.text, cases[i][1]);
	}
}

/* Loads beside the main one have its hosts, ports behind its own, and its end. */
static void test_side_loads(void **state)
{
	const struct scenario_side_load *bulk, *voice;
	struct scenario scenario;
	struct error error;

	(void)state;
	if (parse(&scenario, "[load bulk]\n[load voice]\nproto = udp\nrate = 64kbit\ndscp = ef\n"
			     "start = 2.5\nfrom = router\n", &error) ||
	    scenario_set(&scenario, "load.bulk.seconds=3", &error) ||
	    scenario_check(&scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.side_load_count, 2);
	bulk = &scenario.side_loads[0];
	voice = &scenario.side_loads[1];
	assert_string_equal(bulk->name, "bulk");
	assert_string_equal(scenario_side_from(&scenario, bulk), "client");
	assert_string_equal(scenario_side_from(&scenario, voice), "router");
	assert_string_equal(scenario_side_to(&scenario, voice), "server");
	assert_int_equal(scenario_side_port(&scenario, bulk), 5202);
	assert_int_equal(scenario_side_port(&scenario, voice), 5203);
	assert_int_equal(scenario_side_ns(&scenario, bulk), 3000000000);
	/* 15 s less 2.5 s, in whole seconds */
	assert_int_equal(scenario_side_ns(&scenario, voice), 12000000000);
	assert_int_equal(voice->load.dscp, 46);
	assert_int_equal(voice->load.proto, LOAD_UDP);
	assert_int_equal(scenario.load.proto, LOAD_TCP);
	assert_int_equal(scenario.load.rate, 0);
}

/* Probes beside the main ones have their hosts, their interval, and their time. */
static void test_side_probes(void **state)
{
	const struct scenario_side_probe *gateway, *back;
	struct scenario scenario;
	struct error error;

	(void)state;
	if (parse(&scenario, "[probe gateway]\nto = router\n[probe back]\nfrom = server\nto = client\n"
			     "interval = 20ms\n[probe same]\n", &error) ||
	    scenario_check(&scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.side_probe_count, 3);
	gateway = &scenario.side_probes[0];
	back = &scenario.side_probes[1];
	assert_string_equal(scenario_side_probe_from(&scenario, gateway), "client");
	assert_string_equal(scenario_side_probe_to(&scenario, gateway), "router");
	assert_int_equal(scenario_side_probe_interval(&scenario, gateway), 100000000);
	assert_int_equal(scenario_side_probe_count(&scenario, gateway), 260);
	assert_string_equal(scenario_side_probe_from(&scenario, back), "server");
	assert_int_equal(scenario_side_probe_count(&scenario, back), 1300);
	assert_string_equal(scenario_side_probe_to(&scenario, &scenario.side_probes[2]), "server");
}

/* Without a lab there are a target and no qdiscs to set; the scenario has the file's name. */
static void test_no_lab(void **state)
{
	struct scenario scenario;
	struct error error;

	(void)state;
	if (parse(&scenario, "lab = none\nload.to = 192.0.2.7:5300\n", &error) ||
	    scenario_check(&scenario, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.topology, LAB_NONE);
	assert_string_equal(scenario.name, "three");
	assert_string_equal(scenario.probe_to, "192.0.2.7:5300");
	assert_int_equal(scenario.restored_count, 0);
	assert_int_equal(scenario_rate(&scenario), ~0ULL);
	assert_int_equal(scenario_set(&scenario, "qdisc.client.eth0=root pfifo", &error), -1);
}

/* As many hosts, links and trees as there can be, and one more. */
static void test_bounds(void **state)
{
	struct scenario scenario;
	struct error error;
	char text[8192];
	size_t used = 0;

	(void)state;
	for (unsigned int i = 0; i < LAB_HOSTS; i++)
		used += snprintf(text + used, sizeof(text) - used, "[host h%u]\n", i);
	for (unsigned int i = 0; i < LAB_LINKS; i++)
		used += snprintf(text + used, sizeof(text) - used,
				 "[link l%u]\na = h0 e%u\nb = h1 e%u\n", i, i, i);
	for (unsigned int i = 0; i < LAB_TREES; i++)
		used += snprintf(text + used, sizeof(text) - used,
				 "[qdisc h%u e%u]\nadd = root pfifo\n", i / 24, i % 24);
	if (parse(&scenario, text, &error))
		fail_msg("%s", error.text);
	assert_int_equal(scenario.plan.tree_count, LAB_TREES);
	snprintf(text + used, sizeof(text) - used, "[host more]\n");
	assert_int_equal(parse(&scenario, text, &error), -1);
	assert_non_null(strstr(error.text, "one host too many"));
	snprintf(text + used, sizeof(text) - used, "[link more]\n");
	assert_int_equal(parse(&scenario, text, &error), -1);
	assert_non_null(strstr(error.text, "one link too many"));
	snprintf(text + used, sizeof(text) - used, "[qdisc h2 e0]\nadd = root pfifo\n");
	assert_int_equal(parse(&scenario, text, &error), -1);
	assert_non_null(strstr(error.text, "more than 32 devices have qdiscs"));
}

/* A document of such a scenario gives back what people look at. */
static void test_document(void **state)
{
	struct json_reader reader = { .name = "x" };
	struct scenario scenario, again;
	struct error error = { 0 };
	struct json root;
	cJSON *object, *document, *second;
	char *text;

	(void)state;
	reader.error = &error;
	if (parse(&scenario, lab, &error) || scenario_check(&scenario, &error))
		fail_msg("%s", error.text);
	object = scenario_json(&scenario);
	assert_non_null(object);
	assert_null(cJSON_GetObjectItem(object, "qdisc.kind"));
	text = cJSON_PrintUnformatted(object);
	document = json_parse(&reader, &root, text, strlen(text));
	assert_non_null(document);
	scenario_from_json(&again, &root);
	assert_false(reader.failed);
	assert_string_equal(again.name, "three");
	assert_int_equal(again.topology, LAB_PLANNED);
	assert_int_equal(again.plan.host_count, 3);
	assert_string_equal(again.plan.hosts[1].role, "gateway");
	assert_string_equal(again.plan.trees[0].commands, scenario.plan.trees[0].commands);
	assert_int_equal(again.load.dscp, 34);
	assert_int_equal(again.load_omit_ns, 2000000000);
	/* all of it: the lab could be built again */
	second = scenario_json(&again);
	assert_non_null(second);
	assert_true(cJSON_Compare(object, second, true));
	assert_memory_equal(&again.plan, &scenario.plan, sizeof(again.plan));
	cJSON_Delete(second);
	cJSON_Delete(document);
	cJSON_free(text);
	cJSON_Delete(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lab),
		cmocka_unit_test(test_built_in),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_together),
		cmocka_unit_test(test_side_loads),
		cmocka_unit_test(test_side_probes),
		cmocka_unit_test(test_no_lab),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
