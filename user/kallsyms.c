// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "kallsyms.h"
#include "read_file.h"

#define KALLSYMS	"/proc/kallsyms"
#define MODULES		"/proc/modules"
#define TEXT_MOST	(1ul << 30)	/* offsets into the names are 32 bits wide */

/* A function; name and module are offsets into the names, where "" is at 0. */
struct entry {
	__u64 address;
	__u32 name;
	__u32 module;
};

struct kallsyms {
	struct entry *entries;	/* by address, then in the order of the file */
	size_t count;
	size_t size;
	char *names;		/* each with a NUL */
	size_t names_length;
	__u64 modules;		/* what kallsyms_stale() compares */
};

/* A line of the file, as far as it has the parts; none is terminated. */
struct line {
	__u64 address;
	char type;
	const char *name;
	size_t name_length;
	const char *module;
	size_t module_length;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* "ffffffffc00036f0 t htb_dequeue\t[sch_htb]" (kernel/kallsyms.c, s_show()) */
static bool parse_line(const char *text, const char *end, struct line *line)
{
	const char *begin = text;

	*line = (struct line){ 0 };
	for (; text < end && hex_digit(*text) >= 0; text++)
		line->address = line->address << 4 | hex_digit(*text);
	if (text == begin || text - begin > 16 || end - text < 4 || text[0] != ' ' ||
	    text[2] != ' ')
		return false;
	line->type = text[1];
	line->name = text + 3;
	for (text = line->name; text < end && *text != '\t' && *text != ' ';)
		text++;
	line->name_length = text - line->name;
	while (text < end && (*text == '\t' || *text == ' '))
		text++;
	if (end - text > 2 && *text == '[' && end[-1] == ']') {
		line->module = text + 1;
		line->module_length = end - text - 2;
	}
	return line->name_length > 0;
}

/* Text symbols, weak ones too (nm(1)). */
static bool is_function(const struct line *line)
{
	return line->type && strchr("tTwW", line->type);
}

/* The names have room for it: they are no longer than the text that they come from. */
static __u32 keep_name(struct kallsyms *symbols, const char *text, size_t length)
{
	size_t offset = symbols->names_length;

	memcpy(symbols->names + offset, text, length);
	symbols->names[offset + length] = '\0';
	symbols->names_length += length + 1;
	return offset;
}

/* Symbols of a module follow each other, so that its name is kept once. */
static __u32 keep_module(struct kallsyms *symbols, const struct line *line)
{
	const char *last;
	__u32 offset;

	if (!line->module_length)
		return 0;
	offset = symbols->count ? symbols->entries[symbols->count - 1].module : 0;
	last = symbols->names + offset;
	if (strlen(last) == line->module_length &&
	    !memcmp(last, line->module, line->module_length))
		return offset;
	return keep_name(symbols, line->module, line->module_length);
}

static int add(struct kallsyms *symbols, const struct line *line)
{
	struct entry entry = { .address = line->address };
	struct entry *entries = array_grow(symbols->entries, symbols->count, &symbols->size,
					   sizeof(*entries));

	if (!entries)
		return -1;
	symbols->entries = entries;
	entry.module = keep_module(symbols, line);
	entry.name = keep_name(symbols, line->name, line->name_length);
	symbols->entries[symbols->count++] = entry;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

static void shrink(struct kallsyms *symbols)
{
	struct entry *entries = reallocarray(symbols->entries, symbols->count, sizeof(*entries));
	char *names = realloc(symbols->names, symbols->names_length);

	symbols->entries = entries ? entries : symbols->entries;
	symbols->names = names ? names : symbols->names;
	symbols->size = symbols->count;
}

/* Lines that are not understood, and what is no function, are left out. */
static int parse_lines(struct kallsyms *symbols, const char *text, size_t size, bool *shown)
{
	const char *end = text + size, *next;
	struct line line;

	*shown = false;
	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', end - text);
		if (!next)
			next = end;
		if (!parse_line(text, next, &line) || !is_function(&line))
			continue;
		*shown |= line.address != 0;
		if (add(symbols, &line))
			return -1;
	}
	return 0;
}

struct kallsyms *kallsyms_parse(const char *text, size_t size, struct error *error)
{
	struct kallsyms *symbols = calloc(1, sizeof(*symbols));
	bool shown;

	if (size > TEXT_MOST) {
		error_set(error, EXIT_CANNOT, "%s is longer than 1 GB: that cannot be right",
			  KALLSYMS);
		goto fail;
	}
	if (symbols)
		symbols->names = malloc(size + 2);
	if (!symbols || !symbols->names) {
		error_set(error, EXIT_CANNOT, "out of memory for %s", KALLSYMS);
		goto fail;
	}
	keep_name(symbols, "", 0);
	if (parse_lines(symbols, text, size, &shown)) {
		error_set(error, EXIT_CANNOT, "out of memory for %s", KALLSYMS);
		goto fail;
	}
	if (!symbols->count) {
		error_set(error, EXIT_CANNOT,
			  "%s names no functions: a kernel with CONFIG_KALLSYMS is needed", KALLSYMS);
		goto fail;
	}
	if (!shown) {
		error_set(error, EXIT_CANNOT,
			  "%s shows no addresses: CAP_SYSLOG is missing, or kernel.kptr_restrict is 2 "
			  "(sysctl kernel.kptr_restrict=1 shows them to root)",
			  KALLSYMS);
		goto fail;
	}
	shrink(symbols);
	qsort(symbols->entries, symbols->count, sizeof(*symbols->entries), compare_entries);
	return symbols;
fail:
	kallsyms_free(symbols);
	return NULL;
}

/* A number that stands for which modules are loaded, and where; 0 where none can be. */
static __u64 modules_now(void)
{
	FILE *file = fopen(MODULES, "re");
	char line[4096], name[64], address[32];
	__u64 hash = 14695981039346656037ULL;	/* FNV-1a */

	if (!file)
		return 0;
	/* "sch_htb 32768 1 - Live 0xffffffffc0003000" (kernel/module/procfs.c, m_show()) */
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %*u %*s %*s %*s %31s", name, address) != 2)
			continue;
		for (const char *c = name; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
		for (const char *c = address; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
	}
	fclose(file);
	return hash;
}

struct kallsyms *kallsyms_read(struct error *error)
{
	struct kallsyms *symbols = NULL;
	__u64 modules = modules_now();	/* before: what comes meanwhile makes it stale */
	int fd = open(KALLSYMS, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t length;

	if (fd >= 0)
		text = read_file(fd, TEXT_MOST, &length);
	if (!text) {
		error_set_errno(error, EXIT_CANNOT, "cannot read %s, which names the functions",
				KALLSYMS);
		goto out;
	}
	symbols = kallsyms_parse(text, length, error);
	if (symbols)
		symbols->modules = modules;
out:
	if (fd >= 0)
		close(fd);
	free(text);
	return symbols;
}

bool kallsyms_stale(const struct kallsyms *symbols)
{
	return symbols->modules != modules_now();
}

/* Functions at the same address are one, whatever their names. */
static bool is_unique(const struct kallsyms *symbols, const struct entry *entry)
{
	const char *name = symbols->names + entry->name;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct entry *other = &symbols->entries[i];

		if (other->address == entry->address || strcmp(symbols->names + other->name, name))
			continue;
		if (!other->module || entry->module)
			return false;
	}
	return true;
}

/* The first entry at that address; count where there is none. */
static size_t first_at(const struct kallsyms *symbols, __u64 address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->entries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < symbols->count && symbols->entries[low].address == address ? low :
	       symbols->count;
}

bool kallsyms_find(const struct kallsyms *symbols, __u64 address,
		   struct kallsyms_symbol *symbol)
{
	size_t first = first_at(symbols, address), i;
	const struct entry *entry;

	for (i = first; i < symbols->count && symbols->entries[i].address == address; i++)
		if (is_unique(symbols, &symbols->entries[i]))
			break;
	if (first == symbols->count)
		return false;
	entry = &symbols->entries[first];
	symbol->unique = i < symbols->count && symbols->entries[i].address == address;
	if (symbol->unique)
		entry = &symbols->entries[i];
	symbol->name = symbols->names + entry->name;
	symbol->module = symbols->names + entry->module;
	return true;
}

void kallsyms_free(struct kallsyms *symbols)
{
	if (!symbols)
		return;
	free(symbols->entries);
	free(symbols->names);
	free(symbols);
}
