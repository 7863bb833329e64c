// SPDX-License-Identifier: GPL-2.0
/*
 * The lab on the running kernel: what it makes, read back with ip and tc, and
 * that nothing of it is left, whoever dies when. Needs root.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard.h"
#include "lab.h"
#include "lab_state.h"
#include "netns.h"
#include "qdisc_tree.h"

#define OUTPUT_SIZE	65536
#define GONE_MS		2000	/* a guard has that long to remove everything */
#define KILLS		60

static char prefix[32];		/* of this program's own namespaces */
static char client[64], router[64], server[64];

static void need_root(void)
{
	if (!geteuid())
		return;
	print_message("skipped: needs root\n");
	skip();
}

static void milliseconds(double ms)
{
	struct timespec time = { ms / 1000, (long)(ms * 1e6) % 1000000000 };

	nanosleep(&time, NULL);
}

/* Run a program, take what it writes to stdout. Returns its exit status. */
static int run(char *output, size_t size, const char *const argv[])
{
	size_t length = 0;
	int pipes[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[1], 1);
		dup2(open("/dev/null", O_WRONLY), 2);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(pipes[1]);
	while (length < size - 1 && (got = read(pipes[0], output + length, size - 1 - length)) > 0)
		length += got;
	output[length] = '\0';
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define RUN(output, ...) \
	run(output, sizeof(output), (const char *const[]){ __VA_ARGS__, NULL })

static char output[OUTPUT_SIZE];

/* The JSON of a program that must succeed; the caller's to delete. */
static cJSON *run_json(const char *const argv[])
{
	cJSON *json;

	assert_int_equal(run(output, sizeof(output), argv), 0);
	json = cJSON_Parse(output);
	if (!json)
		fail_msg("%s gave no JSON: %s", argv[0], output);
	return json;
}

#define RUN_JSON(...) run_json((const char *const[]){ __VA_ARGS__, NULL })

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));

	return text ? text : "";
}

static double number_of(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);

	if (!cJSON_IsNumber(item))
		fail_msg("no number %s", key);
	return item->valuedouble;
}

static struct lab_options options_of(const char *kind, bool ipv6)
{
	return (struct lab_options){
		.prefix = prefix,
		.ipv6 = ipv6,
		.qdiscs[LAB_WAN] = {
			.kind = kind,
			.rate_bit_per_s = 10000000,
			.burst_bytes = 32768,
			.latency_ns = 400000000,
		},
	};
}

static struct lab *create(const struct lab_options *options)
{
	struct error error;
	struct lab *lab = lab_create(options, &error);

	if (!lab)
		fail_msg("lab_create: %s", error.text);
	return lab;
}

static void destroy(struct lab *lab)
{
	struct error error;

	if (lab_destroy(lab, &error))
		fail_msg("lab_destroy: %s", error.text);
}

static bool state_file_exists(const char *of)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s.lab", LAB_STATE_DIRECTORY, of);
	return !access(path, F_OK);
}

/* Lines of /proc/self/mountinfo and names in /run/netns that have the text. */
static unsigned int traces_of(const char *text)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	DIR *names = opendir(NETNS_DIRECTORY);
	struct dirent *entry;
	unsigned int count = 0;
	char line[1024];

	assert_non_null(mounts);
	while (fgets(line, sizeof(line), mounts))
		count += strstr(line, text) != NULL;
	fclose(mounts);
	while (names && (entry = readdir(names)))
		count += strstr(entry->d_name, text) != NULL;
	if (names)
		closedir(names);
	return count + state_file_exists(text);
}

static void assert_nothing_left(void)
{
	assert_int_equal(traces_of(prefix), 0);
}

/* Inode of a named namespace by stat(2) of the name; 0 where there is none. */
static ino_t inode_of(const char *name)
{
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", NETNS_DIRECTORY, name);
	return stat(path, &status) ? 0 : status.st_ino;
}

static bool has_address(const cJSON *link, const char *address, int length)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, cJSON_GetObjectItem(link, "addr_info")) {
		if (!strcmp(text_of(item, "local"), address) &&
		    number_of(item, "prefixlen") == length)
			return true;
	}
	return false;
}

/* Device of a namespace as ip tells it: up, its qdisc, its addresses; NULL address: no such family. */
static void check_device(const char *netns, const char *device, const char *qdisc,
			 const char *ipv4, const char *ipv6)
{
	cJSON *json = RUN_JSON("ip", "-n", netns, "-j", "addr", "show", "dev", device);
	const cJSON *link = cJSON_GetArrayItem(json, 0), *item;

	assert_string_equal(text_of(link, "operstate"), "UP");
	assert_string_equal(text_of(link, "qdisc"), qdisc);
	assert_true(has_address(link, ipv4, 24));
	if (ipv6)
		assert_true(has_address(link, ipv6, 64));
	cJSON_ArrayForEach(item, cJSON_GetObjectItem(link, "addr_info")) {
		if (!ipv6)
			assert_string_equal(text_of(item, "family"), "inet");
		assert_null(cJSON_GetObjectItem(item, "tentative"));
	}
	cJSON_Delete(json);
}

static int device_count(const char *netns)
{
	cJSON *json = RUN_JSON("ip", "-n", netns, "-j", "link");
	int count = cJSON_GetArraySize(json);

	cJSON_Delete(json);
	return count;
}

static void check_default_route(const char *netns, const char *family, const char *gateway)
{
	cJSON *json = RUN_JSON("ip", "-n", netns, family, "-j", "route", "show", "default");

	assert_int_equal(cJSON_GetArraySize(json), 1);
	assert_string_equal(text_of(cJSON_GetArrayItem(json, 0), "gateway"), gateway);
	assert_string_equal(text_of(cJSON_GetArrayItem(json, 0), "dev"), "eth0");
	cJSON_Delete(json);
}

static void check_sysctl(const char *netns, const char *path, const char *value)
{
	char file[128];

	snprintf(file, sizeof(file), "/proc/sys/net/%s", path);
	assert_int_equal(RUN(output, "ip", "netns", "exec", netns, "cat", file), 0);
	output[strcspn(output, "\n")] = '\0';
	assert_string_equal(output, value);
}

static void check_ping(const char *from, const char *address)
{
	if (RUN(output, "ip", "netns", "exec", from, "ping", "-n", "-c", "3", "-i", "0.1", "-W",
		"2", address))
		fail_msg("ping %s: %s", address, output);
	assert_non_null(strstr(output, "3 received"));
}

static void check_names(const struct lab *lab)
{
	assert_string_equal(lab_netns_name(lab, LAB_CLIENT), client);
	assert_string_equal(lab_netns_name(lab, LAB_ROUTER), router);
	assert_string_equal(lab_netns_name(lab, LAB_SERVER), server);
	assert_int_equal(lab_netns_inode(lab, LAB_CLIENT), inode_of(client));
	assert_int_equal(lab_netns_inode(lab, LAB_ROUTER), inode_of(router));
	assert_int_equal(lab_netns_inode(lab, LAB_SERVER), inode_of(server));
	assert_int_equal(fcntl(lab_netns(lab, LAB_CLIENT), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_string_equal(lab_address(lab, LAB_CLIENT, false), "192.0.2.10");
	assert_string_equal(lab_address(lab, LAB_SERVER, false), "198.51.100.10");
	assert_string_equal(lab_address(lab, LAB_SERVER, true), "2001:db8:2::10");
}

static void test_lab_over_ipv4(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	check_names(lab);
	check_device(client, "eth0", "noqueue", "192.0.2.10", NULL);
	check_device(router, "lan0", "noqueue", "192.0.2.1", NULL);
	check_device(router, "wan0", "tbf", "198.51.100.1", NULL);
	check_device(server, "eth0", "noqueue", "198.51.100.10", NULL);
	assert_int_equal(device_count(client), 2);
	assert_int_equal(device_count(router), 3);
	assert_int_equal(device_count(server), 2);
	check_default_route(client, "-4", "192.0.2.1");
	check_default_route(server, "-4", "198.51.100.1");
	check_sysctl(router, "ipv4/ip_forward", "1");
	check_sysctl(client, "ipv4/ip_forward", "0");
	if (!access("/proc/sys/net/ipv6", F_OK))
		check_sysctl(client, "ipv6/conf/eth0/disable_ipv6", "1");
	check_ping(client, "198.51.100.10");
	check_ping(server, "192.0.2.10");
	check_ping(client, "127.0.0.1");
	destroy(lab);
	assert_nothing_left();
}

static void test_lab_over_ipv6(void **context)
{
	const struct lab_options options = options_of("tbf", true);
	struct lab *lab;

	(void)context;
	need_root();
	if (access("/proc/sys/net/ipv6", F_OK)) {
		print_message("skipped: this kernel has no IPv6\n");
		skip();
	}
	lab = create(&options);
	check_device(client, "eth0", "noqueue", "192.0.2.10", "2001:db8:1::10");
	check_device(router, "lan0", "noqueue", "192.0.2.1", "2001:db8:1::1");
	check_device(router, "wan0", "tbf", "198.51.100.1", "2001:db8:2::1");
	check_device(server, "eth0", "noqueue", "198.51.100.10", "2001:db8:2::10");
	check_default_route(client, "-6", "2001:db8:1::1");
	check_default_route(server, "-6", "2001:db8:2::1");
	check_sysctl(router, "ipv6/conf/all/forwarding", "1");
	check_ping(client, "2001:db8:2::10");
	check_ping(client, "198.51.100.10");
	destroy(lab);
	assert_nothing_left();
}

static void read_tree(struct qdisc_tree *tree, const struct lab *lab, enum lab_host host)
{
	struct error error;

	memset(tree, 0, sizeof(*tree));
	if (qdisc_tree_read(tree, lab_netns(lab, host), lab_netns_name(lab, host), &error))
		fail_msg("qdisc_tree_read: %s", error.text);
}

/* The one qdisc of that kind on the device; fails where there is none. */
static const struct qdisc_info *find_kind(const struct qdisc_tree *tree, const char *device,
					  const char *kind)
{
	size_t i;

	for (i = 0; i < tree->count; i++) {
		if (!strcmp(tree->qdiscs[i].device, device) &&
		    !strcmp(tree->qdiscs[i].kind, kind))
			return &tree->qdiscs[i];
	}
	fail_msg("no %s on %s", kind, device);
	return NULL;
}

static void assert_same_options(const struct qdisc_info *a, const struct qdisc_info *b)
{
	unsigned int i;

	assert_string_equal(a->kind, b->kind);
	assert_int_equal(a->handle, b->handle);
	assert_int_equal(a->parent, b->parent);
	assert_int_equal(a->option_count, b->option_count);
	for (i = 0; i < a->option_count; i++) {
		assert_string_equal(a->options[i].name, b->options[i].name);
		assert_int_equal(a->options[i].unit, b->options[i].unit);
		assert_int_equal(a->options[i].value, b->options[i].value);
	}
}

struct tbf_case {
	__u64 rate_bit_per_s, burst_bytes, latency_ns;
	const char *rate, *burst, *latency;	/* the same for tc */
};

/* What tc makes of its own words, into theirs; the lab's qdisc is removed before. */
static void let_tc_make_tbf(struct lab *lab, const struct tbf_case *tbf,
			    struct qdisc_tree *theirs)
{
	struct error error;

	if (lab_remove_qdiscs(lab, &error))
		fail_msg("lab_remove_qdiscs: %s", error.text);
	assert_int_equal(RUN(output, "tc", "-n", router, "qdisc", "add", "dev", "wan0", "root",
			     "handle", "10:", "tbf", "rate", tbf->rate, "burst", tbf->burst,
			     "latency", tbf->latency), 0);
	read_tree(theirs, lab, LAB_ROUTER);
}

static void check_tbf(const struct tbf_case *tbf)
{
	struct lab_options options = options_of("tbf", false);
	char ours_text[4096], theirs_text[4096];
	struct qdisc_tree ours, theirs;
	struct lab *lab;

	options.qdiscs[LAB_WAN].rate_bit_per_s = tbf->rate_bit_per_s;
	options.qdiscs[LAB_WAN].burst_bytes = tbf->burst_bytes;
	options.qdiscs[LAB_WAN].latency_ns = tbf->latency_ns;
	lab = create(&options);
	read_tree(&ours, lab, LAB_ROUTER);
	assert_int_equal(RUN(ours_text, "tc", "-n", router, "-j", "-d", "qdisc", "show", "dev",
			     "wan0", "invisible"), 0);
	let_tc_make_tbf(lab, tbf, &theirs);
	assert_int_equal(RUN(theirs_text, "tc", "-n", router, "-j", "-d", "qdisc", "show", "dev",
			     "wan0", "invisible"), 0);
	assert_string_equal(ours_text, theirs_text);
	assert_same_options(find_kind(&ours, "wan0", "tbf"), find_kind(&theirs, "wan0", "tbf"));
	assert_same_options(find_kind(&ours, "wan0", "bfifo"),
			    find_kind(&theirs, "wan0", "bfifo"));
	assert_false(find_kind(&ours, "wan0", "tbf")->invisible);
	assert_true(find_kind(&ours, "wan0", "bfifo")->invisible);
	qdisc_tree_free(&ours);
	qdisc_tree_free(&theirs);
	destroy(lab);
}

static void test_tbf_is_as_tc_makes_it(void **context)
{
	static const struct tbf_case cases[] = {
		{ 10000000, 32768, 400000000, "10mbit", "32kb", "400ms" },
		{ 1000000000, 131072, 50000000, "1gbit", "128kb", "50ms" },
		{ 7654321, 4321, 12345000, "7654321bit", "4321", "12345us" },
		{ 64000, 1600, 2000000000, "64kbit", "1600", "2s" },
		{ 40000000000ull, 1048576, 1000000, "40gbit", "1mb", "1ms" },
	};
	size_t i;

	(void)context;
	need_root();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_tbf(&cases[i]);
	assert_nothing_left();
}

static void test_options_are_what_tc_reads(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	const struct qdisc_info *tbf;
	cJSON *json, *values;
	struct qdisc_tree tree;
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	read_tree(&tree, lab, LAB_ROUTER);
	tbf = find_kind(&tree, "wan0", "tbf");
	json = RUN_JSON("tc", "-n", router, "-j", "qdisc", "show", "dev", "wan0");
	values = cJSON_GetObjectItem(cJSON_GetArrayItem(json, 0), "options");
	assert_string_equal(tbf->options[0].name, "rate");
	assert_int_equal(tbf->options[0].value, 8 * (long long)number_of(values, "rate"));
	assert_string_equal(tbf->options[1].name, "burst");
	/* tc rounds the time of the burst down to a microsecond: 1.25 bytes at this rate. */
	assert_in_range(tbf->options[1].value, number_of(values, "burst"),
			number_of(values, "burst") + 2);
	assert_string_equal(tbf->options[3].name, "latency");
	/* tc gives microseconds; later ones (6.15, not 6.1) come out one lower. */
	assert_in_range(tbf->options[3].value / 1000, number_of(values, "lat"),
			number_of(values, "lat") + 1);
	cJSON_Delete(json);
	qdisc_tree_free(&tree);
	destroy(lab);
}

/* Class and leaf of htb, word for word as tc reads back what tc made. */
static void test_htb_is_as_tc_makes_it(void **context)
{
	const struct lab_options options = options_of("htb", false);
	char classes[4096], again[4096];
	struct qdisc_tree ours, theirs;
	struct error error;
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	check_ping(client, "198.51.100.10");
	assert_int_equal(RUN(classes, "tc", "-n", router, "-d", "class", "show", "dev", "wan0"), 0);
	assert_non_null(strstr(classes, "class htb 10:10 "));
	read_tree(&ours, lab, LAB_ROUTER);
	if (lab_remove_qdiscs(lab, &error))
		fail_msg("lab_remove_qdiscs: %s", error.text);
	assert_int_equal(RUN(output, "tc", "-n", router, "qdisc", "add", "dev", "wan0", "root",
			     "handle", "10:", "htb", "default", "10"), 0);
	assert_int_equal(RUN(output, "tc", "-n", router, "class", "add", "dev", "wan0", "parent",
			     "10:", "classid", "10:10", "htb", "rate", "10mbit", "burst", "32kb",
			     "cburst", "32kb"), 0);
	assert_int_equal(RUN(output, "tc", "-n", router, "qdisc", "add", "dev", "wan0", "parent",
			     "10:10", "handle", "11:", "bfifo", "limit", "532768"), 0);
	check_ping(client, "198.51.100.10");
	assert_int_equal(RUN(again, "tc", "-n", router, "-d", "class", "show", "dev", "wan0"), 0);
	assert_string_equal(classes, again);
	read_tree(&theirs, lab, LAB_ROUTER);
	assert_same_options(find_kind(&ours, "wan0", "htb"), find_kind(&theirs, "wan0", "htb"));
	assert_same_options(find_kind(&ours, "wan0", "bfifo"),
			    find_kind(&theirs, "wan0", "bfifo"));
	qdisc_tree_free(&ours);
	qdisc_tree_free(&theirs);
	destroy(lab);
	assert_nothing_left();
}

static void test_other_kinds(void **context)
{
	static const char *const kinds[] = { "pfifo", "bfifo", "pfifo_fast" };
	struct qdisc_tree tree;
	size_t i;

	(void)context;
	need_root();
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct lab_options options = options_of(kinds[i], false);
		struct lab *lab = create(&options);

		read_tree(&tree, lab, LAB_ROUTER);
		assert_int_equal(find_kind(&tree, "wan0", kinds[i])->handle, 0x100000);
		qdisc_tree_free(&tree);
		check_ping(client, "198.51.100.10");
		destroy(lab);
	}
	assert_nothing_left();
}

static void test_bottleneck_removed(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct qdisc_tree tree;
	struct error error;
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	assert_int_equal(lab_remove_qdiscs(lab, &error), 0);
	check_device(router, "wan0", "noqueue", "198.51.100.1", NULL);
	read_tree(&tree, lab, LAB_ROUTER);
	assert_string_equal(find_kind(&tree, "wan0", "noqueue")->kind, "noqueue");
	qdisc_tree_free(&tree);
	check_ping(client, "198.51.100.10");
	assert_int_equal(lab_remove_qdiscs(lab, &error), -1);
	assert_non_null(strstr(error.text, "wan0"));
	destroy(lab);
	assert_nothing_left();
}

/* These kinds are in every kernel. */
static struct lab_options office_options(bool ipv6)
{
	return (struct lab_options){
		.prefix = prefix,
		.topology = LAB_OFFICE,
		.ipv6 = ipv6,
		.qdiscs[LAB_WAN] = { .kind = "pfifo_fast" },
		.qdiscs[LAB_UPLINK] = { "tbf", NULL, 5000000, 16384, 1000000000 },
		.qdiscs[LAB_DOWNLINK] = { "tbf", NULL, 20000000, 32768, 500000000 },
	};
}

static void check_rate(const struct lab *lab, const char *device, __u64 rate_bit_per_s)
{
	const struct qdisc_info *tbf;
	struct qdisc_tree tree;
	unsigned int i;

	read_tree(&tree, lab, LAB_MODEM);
	tbf = find_kind(&tree, device, "tbf");
	for (i = 0; i < tbf->option_count; i++) {
		if (!strcmp(tbf->options[i].name, "rate"))
			assert_int_equal(tbf->options[i].value, rate_bit_per_s);
	}
	qdisc_tree_free(&tree);
}

static void check_office(bool ipv6)
{
	const struct lab_options options = office_options(ipv6);
	char gateway[64], modem[64];
	struct error error;
	struct lab *lab;

	lab = create(&options);
	snprintf(gateway, sizeof(gateway), "%sgw", prefix);
	snprintf(modem, sizeof(modem), "%smodem", prefix);
	assert_int_equal(lab_host_count(lab), 4);
	assert_string_equal(lab_netns_name(lab, LAB_ROUTER), gateway);
	assert_string_equal(lab_netns_name(lab, LAB_MODEM), modem);
	assert_string_equal(lab_role(lab, LAB_ROUTER), "gateway");
	assert_string_equal(lab_qdisc_kind(lab, LAB_WAN), "pfifo_fast");
	check_device(gateway, "wan0", "pfifo_fast", "203.0.113.2", ipv6 ? "2001:db8:3::2" : NULL);
	check_device(modem, "lan0", "tbf", "203.0.113.1", ipv6 ? "2001:db8:3::1" : NULL);
	check_device(modem, "wan0", "tbf", "198.51.100.1", ipv6 ? "2001:db8:2::1" : NULL);
	check_rate(lab, "wan0", 5000000);
	check_rate(lab, "lan0", 20000000);
	check_ping(client, lab_address(lab, LAB_SERVER, ipv6));
	check_ping(server, lab_address(lab, LAB_CLIENT, ipv6));
	assert_int_equal(lab_remove_qdiscs(lab, &error), 0);
	check_device(modem, "lan0", "noqueue", "203.0.113.1", ipv6 ? "2001:db8:3::1" : NULL);
	destroy(lab);
	assert_nothing_left();
	assert_false(netns_name_taken(gateway) || netns_name_taken(modem));
}

static void test_office(void **context)
{
	(void)context;
	need_root();
	check_office(false);
	check_office(true);
}

/* net/sched/sch_api.c, qdisc_create(): -ENOENT for a kind that there is not. */
static void test_kind_that_the_kernel_lacks(void **context)
{
	struct lab_options options = office_options(false);
	struct error error;
	struct lab *lab;

	(void)context;
	need_root();
	options.qdiscs[LAB_WAN] = (struct lab_qdisc){ .kind = "fq_codel",
						      .otherwise = "pfifo_fast" };
	lab = create(&options);
	check_device(lab_netns_name(lab, LAB_ROUTER), "wan0", lab_qdisc_kind(lab, LAB_WAN),
		     "203.0.113.2", NULL);
	if (!strcmp(lab_qdisc_kind(lab, LAB_WAN), "fq_codel")) {
		destroy(lab);
		print_message("skipped: this kernel has fq_codel\n");
		skip();
	}
	destroy(lab);
	options.qdiscs[LAB_WAN].otherwise = NULL;
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "this kernel has no qdisc fq_codel"));
	assert_nothing_left();
}

static void test_counters_are_what_tc_reads(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	const struct qdisc_info *tbf;
	struct qdisc_tree tree;
	cJSON *json, *item;
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	/* Larger than the bucket: some are dropped, most are segmented. */
	RUN(output, "ip", "netns", "exec", client, "ping", "-q", "-n", "-c", "20", "-i", "0.01",
	    "-s", "8000", "-W", "1", "198.51.100.10");
	read_tree(&tree, lab, LAB_ROUTER);
	tbf = find_kind(&tree, "wan0", "tbf");
	json = RUN_JSON("tc", "-n", router, "-j", "-s", "qdisc", "show", "dev", "wan0");
	item = cJSON_GetArrayItem(json, 0);
	assert_true(tbf->kernel.packets >= 20);
	assert_int_equal(tbf->kernel.packets, number_of(item, "packets"));
	assert_int_equal(tbf->kernel.bytes, number_of(item, "bytes"));
	assert_int_equal(tbf->kernel.drops, number_of(item, "drops"));
	assert_int_equal(tbf->kernel.overlimits, number_of(item, "overlimits"));
	assert_int_equal(tbf->kernel.requeues, number_of(item, "requeues"));
	assert_int_equal(tbf->netns, inode_of(router));
	assert_string_equal(tbf->netns_name, router);
	cJSON_Delete(json);
	qdisc_tree_free(&tree);
	destroy(lab);
}

/* Enough devices that the kernel's answer needs several messages. */
static void test_tree_of_many_devices(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	char name[16], peer[16];
	struct qdisc_tree tree;
	size_t i, found = 0;
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "many%zu", i);
		snprintf(peer, sizeof(peer), "peer%zu", i);
		assert_int_equal(RUN(output, "ip", "-n", router, "link", "add", name, "type",
				     "veth", "peer", "name", peer), 0);
		assert_int_equal(RUN(output, "tc", "-n", router, "qdisc", "add", "dev", name,
				     "root", "tbf", "rate", "1mbit", "burst", "10kb", "limit",
				     "10kb"), 0);
	}
	read_tree(&tree, lab, LAB_ROUTER);
	for (i = 0; i < tree.count; i++)
		found += !strncmp(tree.qdiscs[i].device, "many", 4);
	/* Each tbf and its bfifo. */
	assert_int_equal(found, 80);
	qdisc_tree_free(&tree);
	destroy(lab);
	assert_nothing_left();
}

/* Is every qdisc that tc tells of the device in the tree, and nothing else? */
static void assert_tree_is_tcs(const struct qdisc_tree *tree, const char *device)
{
	cJSON *json = RUN_JSON("tc", "-n", router, "-j", "qdisc", "show", "dev", device,
			       "invisible");
	const cJSON *item;
	size_t i, ours = 0;

	for (i = 0; i < tree->count; i++)
		ours += !strcmp(tree->qdiscs[i].device, device);
	assert_int_equal(ours, cJSON_GetArraySize(json));
	cJSON_ArrayForEach(item, json) {
		size_t found = 0;

		for (i = 0; i < tree->count; i++) {
			const struct qdisc_info *info = &tree->qdiscs[i];
			char handle[16], parent[16];

			found += !strcmp(info->device, device) &&
				 !strcmp(info->kind, text_of(item, "kind")) &&
				 !strcmp(qdisc_handle_text(info->handle, handle),
					 text_of(item, "handle")) &&
				 (info->parent == UINT32_MAX ?
				  cJSON_IsTrue(cJSON_GetObjectItem(item, "root")) :
				  !strcmp(qdisc_handle_text(info->parent, parent),
					  text_of(item, "parent")));
		}
		assert_int_equal(found, 1);
	}
	cJSON_Delete(json);
}

static void test_tree_of_several_queues(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct qdisc_tree tree;
	struct lab *lab;

	(void)context;
	need_root();
	lab = create(&options);
	assert_int_equal(RUN(output, "ip", "-n", router, "link", "add", "many", "numtxqueues", "4",
			     "type", "veth", "peer", "name", "peer"), 0);
	if (RUN(output, "tc", "-n", router, "qdisc", "add", "dev", "many", "root", "handle", "1:",
		"mq")) {
		destroy(lab);
		print_message("skipped: this kernel has no mq\n");
		skip();
	}
	assert_int_equal(RUN(output, "ip", "-n", router, "link", "set", "many", "up"), 0);
	read_tree(&tree, lab, LAB_ROUTER);
	assert_tree_is_tcs(&tree, "many");
	assert_tree_is_tcs(&tree, "wan0");
	assert_tree_is_tcs(&tree, "lo");
	qdisc_tree_free(&tree);
	destroy(lab);
}

/* Devices that come and go while the tree is read: it is read all the same. */
static void test_tree_while_devices_change(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct qdisc_tree tree;
	struct lab *lab;
	int reads = 0;
	pid_t pid;

	(void)context;
	need_root();
	lab = create(&options);
	pid = fork();
	if (!pid) {
		for (;;) {
			RUN(output, "ip", "-n", router, "link", "add", "come", "type", "veth",
			    "peer", "name", "go");
			RUN(output, "ip", "-n", router, "link", "del", "come");
		}
	}
	for (reads = 0; reads < 500; reads++) {
		read_tree(&tree, lab, LAB_ROUTER);
		assert_int_equal(find_kind(&tree, "wan0", "tbf")->handle, 0x100000);
		qdisc_tree_free(&tree);
		milliseconds(1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (waitpid(-1, NULL, 0) > 0)
		;
	destroy(lab);
	assert_nothing_left();
}

static void test_bad_options_are_refused(void **context)
{
	static const char *const bad[] = {
		"", "a/b", "-x", "..", "a b",
		"a23456789012345678901234567890123456789012345678901234567890",
	};
	struct lab_options options = options_of("nosuch", false);
	struct error error;
	size_t i;

	(void)context;
	need_root();
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_USAGE);
	assert_non_null(strstr(error.text, "nosuch"));
	assert_non_null(strstr(error.text, "tbf"));
	options = options_of("tbf", false);
	options.qdiscs[LAB_WAN].rate_bit_per_s = 0;
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_USAGE);
	options = options_of("tbf", false);
	options.qdiscs[LAB_WAN].latency_ns = ~0ull;
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_USAGE);
	options = options_of("tbf", false);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options.prefix = bad[i];
		assert_null(lab_create(&options, &error));
		assert_int_equal(error.code, EXIT_USAGE);
	}
	assert_nothing_left();
}

static void test_taken_name_is_refused_and_untouched(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct error error;
	ino_t before;

	(void)context;
	need_root();
	assert_int_equal(RUN(output, "ip", "netns", "add", router), 0);
	before = inode_of(router);
	assert_true(before > 0);
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, router));
	assert_int_equal(inode_of(router), before);
	assert_int_equal(inode_of(client), 0);
	assert_int_equal(inode_of(server), 0);
	assert_false(state_file_exists(prefix));
	assert_int_equal(RUN(output, "ip", "netns", "del", router), 0);
	assert_nothing_left();
}

static void test_second_lab_of_a_prefix_is_refused(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	unsigned int removed;
	struct error error;
	struct lab *lab;
	char pid[32];

	(void)context;
	need_root();
	lab = create(&options);
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_CANNOT);
	snprintf(pid, sizeof(pid), "process %d", (int)getpid());
	assert_non_null(strstr(error.text, pid));
	assert_int_equal(lab_remove(prefix, &removed, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_int_equal(removed, 0);
	check_ping(client, "198.51.100.10");
	destroy(lab);
	assert_nothing_left();
}

/* What a builder does until it is killed. */
enum builder_work { BUILD_AND_WAIT, BUILD_AND_DESTROY_ALWAYS };

struct builder {
	pid_t pid;
	int ready;	/* a byte comes when the lab stands */
};

static void build(const char *of, bool with_guard, enum builder_work work, int ready)
{
	struct lab_options options = options_of("tbf", false);
	struct guard *guard = NULL;
	struct lab *lab;

	options.prefix = of;
	if (with_guard) {
		guard = guard_start(NULL);
		if (!guard || guard_lab(guard, of, NULL))
			_exit(10);
	}
	do {
		lab = lab_create(&options, NULL);
		if (!lab)
			_exit(11);
		if (write(ready, "r", 1) != 1)
			_exit(12);
		while (work == BUILD_AND_WAIT)
			pause();
	} while (!lab_destroy(lab, NULL));
	_exit(13);
}

static struct builder start_builder(const char *of, bool with_guard, enum builder_work work)
{
	struct builder builder;
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	builder.pid = fork();
	if (!builder.pid)
		build(of, with_guard, work, pipes[1]);
	assert_true(builder.pid > 0);
	close(pipes[1]);
	builder.ready = pipes[0];
	return builder;
}

static void wait_until_built(const struct builder *builder)
{
	struct pollfd ready = { .fd = builder->ready, .events = POLLIN };
	char byte;

	assert_int_equal(poll(&ready, 1, 10000), 1);
	assert_int_equal(read(builder->ready, &byte, 1), 1);
}

static void kill_builder(struct builder *builder)
{
	int status;

	assert_int_equal(kill(builder->pid, SIGKILL), 0);
	assert_int_equal(waitpid(builder->pid, &status, 0), builder->pid);
	assert_true(WIFSIGNALED(status));
	close(builder->ready);
}

/* The guard of a process: its child of that name; 0 where there is none. */
static pid_t guard_of(pid_t parent)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;
	char path[300], line[512];
	FILE *file;
	int pid, of;

	assert_non_null(directory);
	while (!found && (entry = readdir(directory))) {
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file) &&
		    sscanf(line, "%d (sojourn-guard) %*c %d", &pid, &of) == 2 && of == parent)
			found = pid;
		fclose(file);
	}
	closedir(directory);
	return found;
}

/*
 * The builder is dead: wait for its guard, which has become our child, to end
 * and for everything to be gone. Returns the milliseconds that it took.
 */
static unsigned int wait_until_gone(const char *of)
{
	unsigned int waited = 0;
	bool guard_lives = true;

	for (; waited < GONE_MS; waited++) {
		if (guard_lives && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			guard_lives = false;
		if (!guard_lives && !traces_of(of))
			return waited;
		milliseconds(1);
	}
	fail_msg("%u ms after the kill: guard %s, traces of %s: %u", GONE_MS,
		 guard_lives ? "lives" : "gone", of, traces_of(of));
	return waited;
}

static void test_guard_removes_at_any_moment(void **context)
{
	unsigned int i, took, longest = 0;
	struct builder builder;

	(void)context;
	need_root();
	for (i = 0; i < KILLS; i++) {
		/* First the moments of building, then the whole cycle with the removal. */
		if (i < KILLS / 2) {
			builder = start_builder(prefix, true, BUILD_AND_WAIT);
			milliseconds(i * 0.3);
		} else {
			builder = start_builder(prefix, true, BUILD_AND_DESTROY_ALWAYS);
			milliseconds((i - KILLS / 2) * 4.1);
		}
		kill_builder(&builder);
		took = wait_until_gone(prefix);
		if (took > longest)
			longest = took;
	}
	print_message("%d kills, the guard took at most %u ms\n", KILLS, longest);
}

static void test_guard_ignores_the_terminal(void **context)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct builder builder;
	pid_t guard;
	size_t i;

	(void)context;
	need_root();
	builder = start_builder(prefix, true, BUILD_AND_WAIT);
	wait_until_built(&builder);
	guard = guard_of(builder.pid);
	assert_true(guard > 0);
	assert_int_equal(getsid(guard), guard);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		assert_int_equal(kill(guard, signals[i]), 0);
	milliseconds(50);
	assert_int_equal(guard_of(builder.pid), guard);
	kill_builder(&builder);
	wait_until_gone(prefix);
}

static unsigned int descriptors_of(pid_t pid)
{
	unsigned int count = 0;
	struct dirent *entry;
	DIR *directory;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)))
		count += entry->d_name[0] != '.';
	closedir(directory);
	return count;
}

static void test_guard_holds_nothing_of_ours(void **context)
{
	int kept = open("/proc/self/ns/net", O_RDONLY);
	struct guard *guard;
	struct error error;
	int pipes[2];
	char byte;

	(void)context;
	need_root();
	assert_true(kept >= 0);
	assert_int_equal(pipe(pipes), 0);
	guard = guard_start(&error);
	if (!guard)
		fail_msg("guard_start: %s", error.text);
	/* /dev/null three times, the socket, the pidfd. */
	assert_int_equal(descriptors_of(guard_of(getpid())), 5);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
	close(kept);
	guard_stop(guard);
	assert_int_equal(guard_of(getpid()), 0);
}

static void test_a_dead_guard_is_told(void **context)
{
	struct guard *guard;
	struct error error;
	pid_t pid;

	(void)context;
	need_root();
	guard = guard_start(&error);
	assert_non_null(guard);
	pid = guard_of(getpid());
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(guard_lab(guard, prefix, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	guard_stop(guard);
}

static void test_two_guards(void **context)
{
	struct builder first, second;
	char other[40], name[64];
	ino_t inode;

	(void)context;
	need_root();
	snprintf(other, sizeof(other), "o%s", prefix);
	first = start_builder(prefix, true, BUILD_AND_WAIT);
	second = start_builder(other, true, BUILD_AND_WAIT);
	wait_until_built(&first);
	wait_until_built(&second);
	snprintf(name, sizeof(name), "%srouter", other);
	inode = inode_of(name);
	assert_true(inode > 0);
	kill_builder(&first);
	while (inode_of(router) || inode_of(client) || inode_of(server))
		milliseconds(1);
	milliseconds(100);
	assert_int_equal(inode_of(name), inode);
	assert_true(guard_of(second.pid) > 0);
	kill_builder(&second);
	wait_until_gone(other);
	assert_nothing_left();
}

/* A run that was refused, and then killed, must not cost the lab in the way its life. */
static void test_guard_spares_the_lab_of_another(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct guard *guard;
	struct lab *lab;
	int status;
	pid_t pid;

	(void)context;
	need_root();
	lab = create(&options);
	pid = fork();
	if (!pid) {
		guard = guard_start(NULL);
		if (!guard || guard_lab(guard, prefix, NULL) || lab_create(&options, NULL))
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_true(inode_of(router) > 0);
	assert_int_equal(inode_of(router), lab_netns_inode(lab, LAB_ROUTER));
	check_ping(client, "198.51.100.10");
	destroy(lab);
	assert_nothing_left();
}

static void test_guard_removes_files(void **context)
{
	char doomed[64], kept[64];
	struct guard *guard;
	struct error error;
	pid_t pid;

	(void)context;
	need_root();
	snprintf(doomed, sizeof(doomed), "/tmp/%sdoomed", prefix);
	snprintf(kept, sizeof(kept), "/tmp/%skept", prefix);
	close(open(doomed, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	close(open(kept, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	pid = fork();
	if (!pid) {
		guard = guard_start(NULL);
		if (!guard || guard_file(guard, doomed, NULL))
			_exit(1);
		raise(SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(access(doomed, F_OK), -1);
	guard = guard_start(&error);
	assert_non_null(guard);
	assert_int_equal(guard_file(guard, "relative", &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
	assert_int_equal(guard_file(guard, kept, &error), 0);
	guard_stop(guard);
	assert_int_equal(access(kept, F_OK), 0);
	unlink(kept);
}

/* A lab whose builder and guard were both killed. */
static void leave_lab_behind(void)
{
	struct builder builder = start_builder(prefix, true, BUILD_AND_WAIT);
	pid_t guard;

	wait_until_built(&builder);
	guard = guard_of(builder.pid);
	assert_true(guard > 0);
	assert_int_equal(kill(guard, SIGKILL), 0);
	kill_builder(&builder);
	while (waitpid(-1, NULL, 0) > 0)
		;
	milliseconds(50);
	assert_true(inode_of(router) > 0);
}

static void test_what_was_left_is_told_and_removed(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	unsigned int removed;
	struct error error;

	(void)context;
	need_root();
	leave_lab_behind();
	assert_null(lab_create(&options, &error));
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "sojourn lab down"));
	assert_true(inode_of(client) && inode_of(router) && inode_of(server));
	assert_int_equal(lab_remove(prefix, &removed, &error), 0);
	assert_int_equal(removed, 3);
	assert_nothing_left();
	assert_int_equal(lab_remove(prefix, &removed, &error), 0);
	assert_int_equal(removed, 0);
}

static void test_foreign_namespace_of_the_name_stays(void **context)
{
	struct lab_removal removal;
	struct error error;
	ino_t foreign;

	(void)context;
	need_root();
	leave_lab_behind();
	assert_int_equal(RUN(output, "ip", "netns", "del", router), 0);
	assert_int_equal(RUN(output, "ip", "netns", "add", router), 0);
	assert_int_equal(RUN(output, "ip", "netns", "del", server), 0);
	foreign = inode_of(router);
	assert_true(foreign > 0);
	assert_int_equal(lab_remove_one(prefix, false, &removal, &error), 0);
	assert_true(removal.found);
	assert_int_equal(removal.removed, 1);
	assert_int_equal(removal.fate[LAB_CLIENT], LAB_FATE_REMOVED);
	assert_int_equal(removal.fate[LAB_ROUTER], LAB_FATE_FOREIGN);
	assert_int_equal(removal.fate[LAB_SERVER], LAB_FATE_ABSENT);
	assert_int_equal(inode_of(router), foreign);
	assert_false(state_file_exists(prefix));
	assert_int_equal(RUN(output, "ip", "netns", "del", router), 0);
	assert_nothing_left();
}

static void test_foreign_file_of_the_name_stays(void **context)
{
	struct lab_removal removal;
	struct error error;
	char path[128];

	(void)context;
	need_root();
	leave_lab_behind();
	assert_int_equal(RUN(output, "ip", "netns", "del", router), 0);
	snprintf(path, sizeof(path), "%s/%s", NETNS_DIRECTORY, router);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
	assert_int_equal(lab_remove_one(prefix, false, &removal, &error), 0);
	assert_int_equal(removal.removed, 2);
	assert_int_equal(removal.fate[LAB_ROUTER], LAB_FATE_FOREIGN);
	assert_int_equal(unlink(path), 0);
	assert_nothing_left();
}

static void test_living_lab_goes_only_by_force(void **context)
{
	struct builder builder;
	struct lab_removal removal;
	struct error error;

	(void)context;
	need_root();
	builder = start_builder(prefix, false, BUILD_AND_WAIT);
	wait_until_built(&builder);
	assert_int_equal(lab_remove_one(prefix, false, &removal, &error), -1);
	assert_int_equal(error.code, EXIT_CANNOT);
	assert_non_null(strstr(error.text, "--force"));
	assert_true(inode_of(router) > 0);
	assert_int_equal(lab_remove_one(prefix, true, &removal, &error), 0);
	assert_int_equal(removal.removed, 3);
	assert_nothing_left();
	kill_builder(&builder);
}

/* A process in the namespace keeps it alive, but not the lab's devices. */
static void test_devices_go_from_under_a_process(void **context)
{
	const struct lab_options options = options_of("tbf", false);
	struct lab *lab;
	int netns, pipes[2];
	char byte;
	pid_t pid;

	(void)context;
	need_root();
	lab = create(&options);
	netns = netns_open(router, NULL);
	assert_true(netns >= 0);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		if (netns_enter(netns, NULL) || write(pipes[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	assert_true(netns_has_process(netns_inode(netns)));
	destroy(lab);
	assert_nothing_left();
	assert_int_equal(netns_enter(netns, NULL), 0);
	{
		cJSON *json = RUN_JSON("ip", "-j", "link");

		assert_int_equal(cJSON_GetArraySize(json), 1);
		cJSON_Delete(json);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(netns);
}

/* Run function in a child of its own, for what it does to its namespaces. */
static void in_child(int (*function)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(function());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status))
		fail_msg("the child failed in step %d", WEXITSTATUS(status));
}

static int lab_from_another_netns(void)
{
	const struct lab_options options = options_of("tbf", false);
	struct qdisc_tree tree = { 0 };
	__u32 before;
	struct lab *lab;
	int own;

	if (unshare(CLONE_NEWNET))
		return 1;
	own = netns_open_own(NULL);
	before = netns_inode(own);
	lab = lab_create(&options, NULL);
	if (!lab)
		return 2;
	if (qdisc_tree_read(&tree, lab_netns(lab, LAB_ROUTER), router, NULL) || tree.count < 4)
		return 3;
	qdisc_tree_free(&tree);
	/* Ours has its loopback and no more, and we are in it still. */
	if (qdisc_tree_read(&tree, -1, NULL, NULL) || tree.count > 1)
		return 4;
	qdisc_tree_free(&tree);
	close(own);
	own = netns_open_own(NULL);
	if (netns_inode(own) != before)
		return 5;
	close(own);
	return lab_destroy(lab, NULL) ? 6 : 0;
}

static void test_caller_in_another_netns(void **context)
{
	(void)context;
	need_root();
	in_child(lab_from_another_netns);
	assert_nothing_left();
}

/* Is that directory a mount point, by /proc/self/mountinfo? */
static bool is_mount_point(const char *path)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char line[1024], point[512];
	bool found = false;

	while (file && fgets(line, sizeof(line), file))
		found |= sscanf(line, "%*s %*s %*s %*s %511s", point) == 1 && !strcmp(point, path);
	if (file)
		fclose(file);
	return found;
}

static int with_run_of_its_own(bool directory_exists)
{
	const struct lab_options options = options_of("tbf", false);
	struct lab *lab;

	if (unshare(CLONE_NEWNS) || mount("", "/", "none", MS_PRIVATE | MS_REC, NULL))
		return 1;
	/* Hidden below the new /run it would still be in mountinfo. */
	while (!umount2(NETNS_DIRECTORY, MNT_DETACH))
		;
	if (mount("none", "/run", "tmpfs", 0, NULL))
		return 1;
	if (directory_exists && mkdir(NETNS_DIRECTORY, 0755))
		return 2;
	lab = lab_create(&options, NULL);
	if (!lab)
		return 3;
	if (!is_mount_point(NETNS_DIRECTORY) || !inode_of(router))
		return 4;
	if (RUN(output, "ip", "netns", "exec", router, "true"))
		return 5;
	if (lab_destroy(lab, NULL))
		return 6;
	if (is_mount_point(NETNS_DIRECTORY) || !access(LAB_STATE_DIRECTORY, F_OK))
		return 7;
	if (!access(NETNS_DIRECTORY, F_OK) != directory_exists)
		return 8;
	/* One that iproute2 made stays. */
	if (RUN(output, "ip", "netns", "add", "foreign"))
		return 9;
	lab = lab_create(&options, NULL);
	if (!lab || lab_destroy(lab, NULL))
		return 10;
	if (!is_mount_point(NETNS_DIRECTORY) || !inode_of("foreign"))
		return 11;
	return RUN(output, "ip", "netns", "del", "foreign") ? 12 : 0;
}

static int fresh_run(void)
{
	return with_run_of_its_own(false);
}

static int run_with_directory(void)
{
	return with_run_of_its_own(true);
}

static void test_directories_are_as_before(void **context)
{
	(void)context;
	need_root();
	in_child(fresh_run);
	in_child(run_with_directory);
}

static int remove_twenty_times(void)
{
	const struct lab_options options = options_of("tbf", false);
	int i;

	for (i = 0; i < 20; i++) {
		struct lab *lab = lab_create(&options, NULL);

		if (lab && lab_destroy(lab, NULL))
			return 1;
	}
	return 0;
}

/* Two that want the same names at the same time: one is refused or waits, none is harmed. */
static void test_race_for_the_same_names(void **context)
{
	int status, i;
	pid_t pid[3];

	(void)context;
	need_root();
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(remove_twenty_times());
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	assert_nothing_left();
}

static int setup(void **context)
{
	const char *base = getenv("SOJOURN_TEST_PREFIX");

	(void)context;
	snprintf(prefix, sizeof(prefix), "%.12sl%d-", base ? base : "sjt-", (int)getpid());
	snprintf(client, sizeof(client), "%sclient", prefix);
	snprintf(router, sizeof(router), "%srouter", prefix);
	snprintf(server, sizeof(server), "%sserver", prefix);
	/* Guards of killed builders become our children. */
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* A test that failed in the middle leaves its lab: it is ours, and this process lives. */
static int teardown(void **context)
{
	struct lab_removal removal;

	(void)context;
	lab_remove_one(prefix, true, &removal, NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_lab_over_ipv4, teardown),
		cmocka_unit_test_teardown(test_lab_over_ipv6, teardown),
		cmocka_unit_test_teardown(test_tbf_is_as_tc_makes_it, teardown),
		cmocka_unit_test_teardown(test_options_are_what_tc_reads, teardown),
		cmocka_unit_test_teardown(test_htb_is_as_tc_makes_it, teardown),
		cmocka_unit_test_teardown(test_other_kinds, teardown),
		cmocka_unit_test_teardown(test_bottleneck_removed, teardown),
		cmocka_unit_test_teardown(test_office, teardown),
		cmocka_unit_test_teardown(test_kind_that_the_kernel_lacks, teardown),
		cmocka_unit_test_teardown(test_counters_are_what_tc_reads, teardown),
		cmocka_unit_test_teardown(test_tree_of_many_devices, teardown),
		cmocka_unit_test_teardown(test_tree_of_several_queues, teardown),
		cmocka_unit_test_teardown(test_tree_while_devices_change, teardown),
		cmocka_unit_test_teardown(test_bad_options_are_refused, teardown),
		cmocka_unit_test_teardown(test_taken_name_is_refused_and_untouched, teardown),
		cmocka_unit_test_teardown(test_second_lab_of_a_prefix_is_refused, teardown),
		cmocka_unit_test_teardown(test_guard_removes_at_any_moment, teardown),
		cmocka_unit_test_teardown(test_guard_ignores_the_terminal, teardown),
		cmocka_unit_test_teardown(test_guard_holds_nothing_of_ours, teardown),
		cmocka_unit_test_teardown(test_a_dead_guard_is_told, teardown),
		cmocka_unit_test_teardown(test_two_guards, teardown),
		cmocka_unit_test_teardown(test_guard_spares_the_lab_of_another, teardown),
		cmocka_unit_test_teardown(test_guard_removes_files, teardown),
		cmocka_unit_test_teardown(test_what_was_left_is_told_and_removed, teardown),
		cmocka_unit_test_teardown(test_foreign_namespace_of_the_name_stays, teardown),
		cmocka_unit_test_teardown(test_foreign_file_of_the_name_stays, teardown),
		cmocka_unit_test_teardown(test_living_lab_goes_only_by_force, teardown),
		cmocka_unit_test_teardown(test_race_for_the_same_names, teardown),
		cmocka_unit_test_teardown(test_caller_in_another_netns, teardown),
		cmocka_unit_test_teardown(test_directories_are_as_before, teardown),
		cmocka_unit_test_teardown(test_devices_go_from_under_a_process, teardown),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
