/* The page's template as bytes, made by cmake/web.cmake from web/dist/page.html; size 0 where npm was
 * missing. */
#ifndef SS_REPORT_PAGE_H
#define SS_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char ss_report_page[];
extern const size_t ss_report_page_size;

#endif
