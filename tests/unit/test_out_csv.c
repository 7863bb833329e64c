// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out_csv.h"
#include "whole_result.h"

struct place {
	char above[64];		/* a directory of its own */
	char directory[80];
	struct result result;
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	assert_non_null(place);
	snprintf(place->above, sizeof(place->above), "/tmp/sojourn-csv-XXXXXX");
	assert_non_null(mkdtemp(place->above));
	snprintf(place->directory, sizeof(place->directory), "%s/tables", place->above);
	make_result(&place->result);
	*state = place;
	return 0;
}

static void remove_all(const char *directory)
{
	DIR *list = opendir(directory);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	rmdir(directory);
}

static int tear_down(void **state)
{
	struct place *place = *state;

	remove_all(place->directory);
	remove_all(place->above);
	result_free(&place->result);
	free(place);
	return 0;
}

static char *table(const struct place *place, const char *name)
{
	char path[160], *text = calloc(1, 1 << 20);
	int fd;

	snprintf(path, sizeof(path), "%s/%s", place->directory, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || !text)
		fail_msg("no %s", path);
	assert_true(read(fd, text, (1 << 20) - 1) > 0);
	close(fd);
	return text;
}

static unsigned int count(const char *text, char wanted)
{
	unsigned int found = 0;

	for (; *text; text++)
		found += *text == wanted;
	return found;
}

static unsigned int entries(const char *directory)
{
	DIR *list = opendir(directory);
	struct dirent *entry;
	unsigned int found = 0;

	assert_non_null(list);
	while ((entry = readdir(list)))
		found += entry->d_name[0] != '.';
	closedir(list);
	return found;
}

static void write_tables(const struct place *place)
{
	struct error error;

	if (out_csv(&place->result, place->directory, &error))
		fail_msg("%s", error.text);
}

/* As many lines as there are things, and as many cells in each as the heading has. */
static void test_lines_and_cells(void **state)
{
	static const struct {
		const char *name;
		unsigned int lines;
	} wanted[] = {
		{ "probes.csv", 280 }, { "qdiscs.csv", 3 }, { "phases.csv", 4 },
		{ "qdisc_samples.csv", 10 }, { "tcp.csv", 2 }, { "retransmits.csv", 1 },
		{ "iperf3_intervals.csv", 2 },
	};
	const struct place *place = *state;
	const char *line, *end;
	char *text;
	size_t i;

	write_tables(place);
	assert_int_equal(entries(place->directory), 10);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		unsigned int commas;

		text = table(place, wanted[i].name);
		assert_int_equal(count(text, '\n'), wanted[i].lines + 1);
		commas = count(text, ',') / (wanted[i].lines + 1);
		for (line = text; *line; line = end + 2) {
			unsigned int found = 0;

			end = strstr(line, "\r\n");
			assert_non_null(end);
			while (line < end)
				found += *line++ == ',';
			if (found != commas)
				fail_msg("%s: %u commas, not %u", wanted[i].name, found, commas);
		}
		free(text);
	}
}

static void test_values(void **state)
{
	const struct place *place = *state;
	char *text;

	write_tables(place);
	text = table(place, "probes.csv");
	assert_non_null(strstr(text, "seq,id,phase,sent_ns,rtt_ns,ping_rtt_ns,lost,complete,name\r\n"
				     "1,7,idle,100000000000,"));
	assert_non_null(strstr(text, "\r\n51,7,load,105000000000,,,1,0,\r\n"));
	free(text);
	/* more than a double holds, and a quotation mark in a name */
	text = table(place, "qdiscs.csv");
	assert_non_null(strstr(text, ",9007199254740993,"));
	assert_non_null(strstr(text, "\r\n\"pl-client/eth\"\"0/0/pfifo/20:\",pl-client,"));
	free(text);
	text = table(place, "iperf3_intervals.csv");
	assert_non_null(strstr(text, "\r\nload,0,0.10000000000000001,9000000,2,320000,500000,4000000\r\n"));
	assert_non_null(strstr(text, ",,,,,\r\n"));
	free(text);
}

static void test_the_place_is_taken(void **state)
{
	const struct place *place = *state;
	struct error error;
	char path[160];
	int fd;

	assert_int_equal(mkdir(place->directory, 0700), 0);
	write_tables(place);
	assert_int_equal(entries(place->directory), 10);
	snprintf(path, sizeof(path), "%s/probes.csv", place->directory);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(out_csv(&place->result, place->directory, &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
	assert_non_null(strstr(error.text, "new, or an empty directory"));
	/* what was there is there, and nothing beside it */
	assert_int_equal(entries(place->directory), 10);
	assert_int_equal(entries(place->above), 1);
	assert_int_equal(out_csv(&place->result, "/nowhere/at/all", &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
	assert_int_equal(out_csv(&place->result, "", &error), -1);
	assert_int_equal(error.code, EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines_and_cells, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_values, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_place_is_taken, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
