// SPDX-License-Identifier: GPL-2.0
#include "conditions.h"
#include "error.h"
#include "options.h"

#define FOUND_SIZE	256

int conditions_add(struct conditions *conditions, const struct command *command,
		   const char *text)
{
	return option_add(command, conditions->texts, CONDITIONS_MAX, &conditions->count,
			  "--fail-if", text);
}

int conditions_parse(struct conditions *conditions, const struct command *command,
		     condition_parser *parse, const struct scenario *scenario)
{
	struct error error;
	size_t i;

	for (i = 0; i < conditions->count; i++) {
		conditions->expressions[i] = parse(conditions->texts[i], &error);
		if (!conditions->expressions[i] ||
		    (scenario && expression_check(conditions->expressions[i], scenario, &error)))
			return command_fail(command, error.code, "--fail-if '%s': %s",
					    conditions->texts[i], error.text);
	}
	return EXIT_OK;
}

int condition_of_result(const struct expression *expression, const void *context, bool *holds,
			char *found, size_t size, struct error *error)
{
	const struct result *result = context;

	if (expression_check(expression, &result->scenario, error) ||
	    expression_holds(expression, result, holds, error))
		return -1;
	return expression_describe(expression, result, found, size, error);
}

int conditions_judge(const struct conditions *conditions, const struct command *command,
		     condition_judge *judge, const void *context)
{
	char found[FOUND_SIZE];
	int code = EXIT_OK, one;
	struct error error;
	bool holds;
	size_t i;

	for (i = 0; i < conditions->count; i++) {
		if (judge(conditions->expressions[i], context, &holds, found, sizeof(found),
			  &error))
			one = command_fail(command, error.code, "--fail-if '%s': %s",
					   conditions->texts[i], error.text);
		else if (holds)
			one = command_fail(command, EXIT_FAIL_IF, "--fail-if '%s' holds: %s",
					   conditions->texts[i], found);
		else
			one = EXIT_OK;
		if (one > code)
			code = one;
	}
	return code;
}

void conditions_free(struct conditions *conditions)
{
	size_t i;

	for (i = 0; i < conditions->count; i++)
		expression_free(conditions->expressions[i]);
}
