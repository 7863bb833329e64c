/* SPDX-License-Identifier: GPL-2.0 */
/* The HTML report's page (tools/make-report-page): what stands before its documents, and behind. */
#ifndef SOJOURN_REPORT_PAGE_H
#define SOJOURN_REPORT_PAGE_H

extern const char report_page_head[], report_page_head_end[];
extern const char report_page_tail[], report_page_tail_end[];

#endif
