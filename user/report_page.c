// SPDX-License-Identifier: GPL-2.0
#include "report_page.h"

/* make names the folder in which it made the two. */
__asm__(".pushsection .rodata\n"
	".globl report_page_head, report_page_head_end, report_page_tail, report_page_tail_end\n"
	"report_page_head:\n"
	".incbin \"" REPORT_PAGE "/head.html\"\n"
	"report_page_head_end:\n"
	".byte 0\n"
	"report_page_tail:\n"
	".incbin \"" REPORT_PAGE "/tail.html\"\n"
	"report_page_tail_end:\n"
	".byte 0\n"
	".popsection\n");
