// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "doctor.h"
#include "error.h"
#include "output_file.h"

#define SCHEMA "sojourn-doctor/1"

/* What a user wants to know, told from what was tried. */
struct sight {
	const char *what;
	bool yes;
	const char *text;
};

#define SIGHTS 6

static void fill_sights(const struct doctor *doctor, struct sight sights[SIGHTS])
{
	bool trace = doctor_can_trace(doctor);
	bool load = doctor->iperf3.works && doctor->ping.works;

	sights[0] = (struct sight){ "root qdiscs", trace,
		trace ? "of every device, in every network namespace"
		      : "see what is missing above" };
	sights[1] = (struct sight){ "child qdiscs", doctor->functions.works,
		doctor->functions.works
			? "each on its own (functions tier)"
			: "measured within their root, not on their own" };
	sights[2] = (struct sight){ "way of each probe", trace,
		trace ? "device by device, there and back" : "needs the tracepoints" };
	sights[3] = (struct sight){ "TCP state", trace,
		trace ? "srtt, cwnd, retransmits of every connection" : "needs the tracepoints" };
	sights[4] = (struct sight){ "qdisc statistics", doctor->privileges.works,
		doctor->privileges.works ? "the kernel's own counters, over netlink"
					 : "of other network namespaces: needs root" };
	sights[5] = (struct sight){ "sojourn run", trace && load,
		trace && load ? "ready"
			      : trace ? "needs iperf3 and ping" : "needs the tracepoints" };
}

static void print_check(FILE *file, const struct doctor_check *check)
{
	fprintf(file, "  %-20s %-7s %-4s %s\n", check->name, check->how, check->works ? "yes" : "no",
		check->works ? check->purpose : check->why);
}

static void print_program(FILE *file, const struct doctor_program *program)
{
	if (program->works)
		fprintf(file, "  %-20s %-7s %-4s %s\n", program->name, "", "yes", program->version);
	else
		fprintf(file, "  %-20s %-7s %-4s %s\n", program->name, "", "no", program->why);
}

static void print_table(FILE *file, const struct doctor *doctor)
{
	struct sight sights[SIGHTS];

	fprintf(file, "kernel      %s %s\n", doctor->kernel, doctor->machine);
	fprintf(file, "lockdown    %s\n", doctor->lockdown[0] ? doctor->lockdown : "not told");
	fprintf(file, "congestion  %s\n",
		doctor->congestion[0] ? doctor->congestion : "not told");
	fprintf(file, "\nneeded\n");
	print_check(file, &doctor->privileges);
	print_check(file, &doctor->bpf);
	print_check(file, &doctor->btf);
	fprintf(file, "\nhooks\n");
	for (size_t i = 0; i < DOCTOR_TRACEPOINTS; i++)
		print_check(file, &doctor->tracepoints[i]);
	print_check(file, &doctor->fentry);
	print_check(file, &doctor->kprobe);
	fprintf(file, "\ntiers\n");
	print_check(file, &doctor->functions);
	print_check(file, &doctor->tracepoints_tier);
	fprintf(file, "\nprograms\n");
	print_program(file, &doctor->iperf3);
	print_program(file, &doctor->ping);
	print_program(file, &doctor->tc);
	fprintf(file, "\nseen here\n");
	fill_sights(doctor, sights);
	for (size_t i = 0; i < SIGHTS; i++)
		fprintf(file, "  %-28s %-4s %s\n", sights[i].what, sights[i].yes ? "yes" : "no",
			sights[i].text);
}

/* The parent takes item; cJSON deletes nothing on failure, so we do. */
static bool put(cJSON *parent, const char *name, cJSON *item)
{
	if (item && (name ? cJSON_AddItemToObject(parent, name, item)
			  : cJSON_AddItemToArray(parent, item)))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool put_text(cJSON *object, const char *name, const char *text)
{
	return put(object, name, text[0] ? cJSON_CreateString(text) : cJSON_CreateNull());
}

static bool put_check(cJSON *parent, const char *name, const struct doctor_check *check)
{
	cJSON *object = cJSON_CreateObject();

	return put(parent, name, object) && (name || put_text(object, "name", check->name)) &&
	       (!check->how[0] || put_text(object, "how", check->how)) &&
	       put_text(object, "purpose", check->purpose) &&
	       put(object, "works", cJSON_CreateBool(check->works)) &&
	       put_text(object, "why", check->why);
}

static bool put_program(cJSON *parent, const struct doctor_program *program)
{
	cJSON *object = cJSON_CreateObject();

	return put(parent, program->name, object) &&
	       put(object, "works", cJSON_CreateBool(program->works)) &&
	       put_text(object, "path", program->path) &&
	       put_text(object, "version", program->version) &&
	       put_text(object, "why", program->why);
}

static bool put_hooks(cJSON *root, const struct doctor *doctor)
{
	cJSON *hooks = cJSON_CreateArray();

	if (!put(root, "hooks", hooks))
		return false;
	for (size_t i = 0; i < DOCTOR_TRACEPOINTS; i++) {
		if (!put_check(hooks, NULL, &doctor->tracepoints[i]))
			return false;
	}
	return put_check(hooks, NULL, &doctor->fentry) && put_check(hooks, NULL, &doctor->kprobe);
}

static bool put_tiers(cJSON *root, const struct doctor *doctor)
{
	cJSON *tiers = cJSON_CreateArray();

	return put(root, "tiers", tiers) && put_check(tiers, NULL, &doctor->functions) &&
	       put_check(tiers, NULL, &doctor->tracepoints_tier);
}

static bool put_sights(cJSON *root, const struct doctor *doctor)
{
	cJSON *list = cJSON_CreateArray();
	struct sight sights[SIGHTS];

	if (!put(root, "sees", list))
		return false;
	fill_sights(doctor, sights);
	for (size_t i = 0; i < SIGHTS; i++) {
		cJSON *object = cJSON_CreateObject();

		if (!put(list, NULL, object) || !put_text(object, "what", sights[i].what) ||
		    !put(object, "yes", cJSON_CreateBool(sights[i].yes)) ||
		    !put_text(object, "text", sights[i].text))
			return false;
	}
	return true;
}

/* "reno bbr cubic" as a list. */
static bool put_words(cJSON *root, const char *name, const char *text)
{
	cJSON *list = cJSON_CreateArray();
	char word[32];

	if (!put(root, name, list))
		return false;
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " ");

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		if (!put(list, NULL, cJSON_CreateString(word)))
			return false;
		text += length;
	}
	return true;
}

static bool put_programs(cJSON *root, const struct doctor *doctor)
{
	cJSON *programs = cJSON_CreateObject();

	return put(root, "programs", programs) && put_program(programs, &doctor->iperf3) &&
	       put_program(programs, &doctor->ping) && put_program(programs, &doctor->tc);
}

static char *make_json(const struct doctor *doctor)
{
	cJSON *root = cJSON_CreateObject();
	char *text = NULL;

	if (put_text(root, "schema", SCHEMA) && put_text(root, "version", SOJOURN_VERSION) &&
	    put_text(root, "kernel", doctor->kernel) &&
	    put_text(root, "machine", doctor->machine) &&
	    put_text(root, "lockdown", doctor->lockdown) &&
	    put_words(root, "congestion", doctor->congestion) &&
	    put_check(root, "privileges", &doctor->privileges) &&
	    put_check(root, "bpf", &doctor->bpf) && put_check(root, "btf", &doctor->btf) &&
	    put_hooks(root, doctor) && put_tiers(root, doctor) &&
	    put_programs(root, doctor) && put_sights(root, doctor) &&
	    put(root, "works", cJSON_CreateBool(doctor_can_trace(doctor))))
		text = cJSON_Print(root);
	cJSON_Delete(root);
	return text;
}

static int write_json(const struct doctor *doctor, struct output_file *file)
{
	char *text = make_json(doctor);
	struct error error;
	int failed;

	if (!text) {
		output_file_cancel(file);
		return command_fail(&cmd_doctor, EXIT_CANNOT, "out of memory for the JSON document");
	}
	failed = output_file_finish(file, text, strlen(text), &error);
	free(text);
	return failed ? command_fail(&cmd_doctor, error.code, "--json: %s", error.text) : EXIT_OK;
}

/* The first thing that is in the way, by name. */
static int verdict(const struct doctor *doctor)
{
	const struct doctor_check *needed[] = {
		&doctor->privileges, &doctor->bpf, &doctor->btf, &doctor->tracepoints_tier,
	};

	if (doctor_can_trace(doctor))
		return EXIT_OK;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!needed[i]->works)
			return command_fail(&cmd_doctor, EXIT_CANNOT,
					    "nothing can be traced here: %s: %s", needed[i]->name,
					    needed[i]->why);
	}
	for (size_t i = 0; i < DOCTOR_TRACEPOINTS; i++) {
		if (!doctor->tracepoints[i].works && !doctor->tracepoints[i].stand_in)
			return command_fail(&cmd_doctor, EXIT_CANNOT,
					    "nothing can be traced here: tracepoint %s: %s",
					    doctor->tracepoints[i].name,
					    doctor->tracepoints[i].why);
	}
	return EXIT_CANNOT;
}

/* Returns 0 and path (NULL: no JSON), or the exit code of what is wrong. */
static int read_arguments(int argc, char *argv[], const char **path)
{
	static const struct option options[] = {
		{ "json", required_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	*path = NULL;
	optind = 0;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (option == ':')
			return command_fail(&cmd_doctor, EXIT_USAGE,
					    "--json takes a file or - for standard output");
		if (option != 'j')
			return command_fail(&cmd_doctor, EXIT_USAGE,
					    "unknown option '%s': doctor takes --json FILE",
					    argv[optind - 1]);
		path[0] = optarg;
	}
	if (optind < argc)
		return command_fail(&cmd_doctor, EXIT_USAGE,
				    "'%s' is too much: doctor takes --json FILE only", argv[optind]);
	return EXIT_OK;
}

static int run(int argc, char *argv[])
{
	struct output_file *file = NULL;
	struct doctor doctor;
	struct error error;
	const char *path;
	int code = read_arguments(argc, argv, &path), written = EXIT_OK;

	if (code)
		return code;
	if (path) {
		file = output_file_open(path, NULL, &error);
		if (!file)
			return command_fail(&cmd_doctor, error.code, "--json: %s", error.text);
	}
	doctor_examine(&doctor);
	print_table(path && !strcmp(path, "-") ? stderr : stdout, &doctor);
	if (file)
		written = write_json(&doctor, file);
	code = verdict(&doctor);
	return code ? code : written;
}

static void help(void)
{
	puts("  --json FILE   write one JSON document too; - is standard output, the table\n"
	     "                then goes to standard error\n"
	     "\n"
	     "Each hook is tried: a program that does nothing is loaded, attached and taken\n"
	     "away again. Exit code 0 where the tracer works here, 3 where it does not.");
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "doctor [--json FILE|-]",
	.summary = "show what can be traced on this machine, and what is missing",
	.run = run,
	.help = help,
};
