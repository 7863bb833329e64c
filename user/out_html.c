// SPDX-License-Identifier: GPL-2.0
#include <cjson/cJSON.h>
#include <string.h>

#include "out_html.h"
#include "report_page.h"

/*
 * JSON in a script element: of "</script>", "<!--" and the like only the "<" is needed to stop
 * them, and in JSON it stands in texts alone, where \u003c means the same.
 */
static void write_json(FILE *file, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *next = memchr(text, '<', end - text);

		fwrite(text, 1, (next ? next : end) - text, file);
		if (!next)
			return;
		fputs("\\u003c", file);
		text = next + 1;
	}
}

static int write_document(FILE *file, const struct html_document *document)
{
	cJSON *name = cJSON_CreateString(document->name);
	char *quoted = cJSON_PrintUnformatted(name);

	cJSON_Delete(name);
	if (!quoted)
		return -1;
	fputs("<script type=\"application/json\" class=\"document\">{\"name\":", file);
	write_json(file, quoted, strlen(quoted));
	fputs(",\"result\":", file);
	write_json(file, document->text, document->length);
	fputs("}</script>\n", file);
	cJSON_free(quoted);
	return 0;
}

bool out_html_there(void)
{
	return report_page_head_end - report_page_head > 0;
}

int out_html(FILE *file, const struct html_document *documents, size_t count)
{
	fwrite(report_page_head, 1, report_page_head_end - report_page_head, file);
	for (size_t i = 0; i < count; i++)
		if (write_document(file, &documents[i]))
			return -1;
	fwrite(report_page_tail, 1, report_page_tail_end - report_page_tail, file);
	return ferror(file) ? -1 : 0;
}
