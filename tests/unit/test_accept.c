// SPDX-License-Identifier: GPL-2.0
/* What clients say that they take, those of Prometheus among them, and addresses to listen at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "accept.h"
#include "listen_address.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PROTOBUF "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

static void test_format(void **state)
{
	static const struct {
		const char *header;
		enum exposition_format format;
	} cases[] = {
		{ NULL, FORMAT_TEXT },
		{ "", FORMAT_TEXT },
		{ "*/*", FORMAT_TEXT },
		{ "text/*", FORMAT_TEXT },
		{ "application/json", FORMAT_TEXT },
		{ "text/html,application/xhtml+xml,*/*;q=0.8", FORMAT_TEXT },
		/* Prometheus 2.42, without and with native histograms */
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  FORMAT_OPENMETRICS },
		{ PROTOBUF ",application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  FORMAT_PROTOBUF },
		/* Prometheus 3 */
		{ PROTOBUF ";q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,/;q=0.1",
		  FORMAT_PROTOBUF },
		{ "application/openmetrics-text", FORMAT_OPENMETRICS },
		{ "Application/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=0.9, text/plain;q=0.5",
		  FORMAT_OPENMETRICS },
		{ "application/openmetrics-text;version=2.0.0", FORMAT_TEXT },
		{ "application/vnd.google.protobuf;proto=other;encoding=delimited", FORMAT_TEXT },
		{ "application/vnd.google.protobuf;encoding=text", FORMAT_TEXT },
		{ "application/vnd.google.protobuf", FORMAT_PROTOBUF },
		{ "text/plain;q=0.3,application/openmetrics-text;q=0.31", FORMAT_OPENMETRICS },
		{ "text/plain;q=0.31,application/openmetrics-text;q=0.3", FORMAT_TEXT },
		/* equal: the first in the header */
		{ "application/openmetrics-text,text/plain", FORMAT_OPENMETRICS },
		{ "text/plain," PROTOBUF, FORMAT_TEXT },
		/* the closest range decides, wherever it stands */
		{ "*/*,text/plain;q=0,application/openmetrics-text;q=0", FORMAT_PROTOBUF },
		{ "application/*,text/plain;q=0.5", FORMAT_OPENMETRICS },
		{ "application/openmetrics-text;q=0", FORMAT_TEXT },
		/* no q at all */
		{ "application/openmetrics-text;q=2", FORMAT_TEXT },
		{ "application/openmetrics-text;q=1.001", FORMAT_TEXT },
		{ "application/openmetrics-text;q=abc,*/*;q=0.001", FORMAT_TEXT },
		{ "application/openmetrics-text;q=", FORMAT_TEXT },
		/* a comma in quotes ends nothing */
		{ "text/x;a=\"1,application/openmetrics-text\"", FORMAT_TEXT },
		{ "text/x;a=\"\\\",application/openmetrics-text", FORMAT_TEXT },
		{ ",,;;,= ,application/openmetrics-text", FORMAT_OPENMETRICS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (accept_format(cases[i].header) != cases[i].format)
			fail_msg("%s: format %d", cases[i].header,
				 accept_format(cases[i].header));
}

static void test_gzip(void **state)
{
	static const struct {
		const char *header;
		bool gzip;
	} cases[] = {
		{ NULL, false }, { "", false }, { "gzip", true }, { "GZIP;q=0.1", true },
		{ "deflate, gzip;q=1.0, *;q=0.5", true }, { "gzip;q=0", false },
		{ "gzip;q=0, *", false }, { "*", true }, { "*;q=0", false }, { "br", false },
		{ "identity", false }, { "xgzip", false }, { "x-gzip", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		if (accept_gzip(cases[i].header) != cases[i].gzip)
			fail_msg("%s", cases[i].header);
}

static void test_listen_address(void **state)
{
	static const struct {
		const char *text, *url;
		int family;
	} cases[] = {
		{ "127.0.0.1:9435", "127.0.0.1:9435", AF_INET },
		{ "0.0.0.0:1", "0.0.0.0:1", AF_INET },
		{ "[::1]:65535", "[::1]:65535", AF_INET6 },
		{ "[2001:db8::1]:80", "[2001:db8::1]:80", AF_INET6 },
		{ ":9435", "[::]:9435", AF_INET6 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct listen_address address;
		struct error error;

		if (listen_address_parse(cases[i].text, &address, &error))
			fail_msg("%s: %s", cases[i].text, error.text);
		assert_string_equal(address.text, cases[i].url);
		assert_int_equal(address.socket.any.sa_family, cases[i].family);
	}
}

static void test_bad_listen_address(void **state)
{
	static const char *const bad[] = {
		"", ":", "9435", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
		"127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:80 ", "localhost:80", "::1:80", "[::1]",
		"[::1]80", "[::1:80", "::1]:80", "[]:80", "[127.0.0.1]:80", "1.2.3:80",
		"[2001:db8:2001:db8:2001:db8:2001:db8:2001:db8:2001:db8]:80", "]:80", "[:80",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct listen_address address;
		struct error error = { 0 };

		if (!listen_address_parse(bad[i], &address, &error))
			fail_msg("'%s' is taken as %s", bad[i], address.text);
		assert_int_equal(error.code, EXIT_USAGE);
		assert_true(error.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_listen_address),
		cmocka_unit_test(test_bad_listen_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
