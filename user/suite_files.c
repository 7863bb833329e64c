// SPDX-License-Identifier: GPL-2.0
#include "suite_files.h"

/* A file as it is; the assembler finds it from the top of the tree, where make runs. */
#define SUITE_FILE(name)						\
	extern const char suite_##name##_text[], suite_##name##_end[];	\
	__asm__(".pushsection .rodata\n"				\
		"suite_" #name "_text:\n"				\
		".incbin \"user/suites/" #name ".suite\"\n"		\
		"suite_" #name "_end:\n"				\
		".byte 0\n"						\
		".popsection\n")

SUITE_FILE(bottleneck);
SUITE_FILE(office);
SUITE_FILE(lan);
SUITE_FILE(rtt30);
SUITE_FILE(aqm);

const struct suite_file suite_files[] = {
	{ "bottleneck", suite_bottleneck_text, suite_bottleneck_end },
	{ "office", suite_office_text, suite_office_end },
	{ "lan", suite_lan_text, suite_lan_end },
	{ "rtt30", suite_rtt30_text, suite_rtt30_end },
	{ "aqm", suite_aqm_text, suite_aqm_end },
};
const unsigned int suite_files_count = sizeof(suite_files) / sizeof(suite_files[0]);

_Static_assert(sizeof(suite_files) / sizeof(suite_files[0]) <= SUITE_FILES_MAX, "names fit");
