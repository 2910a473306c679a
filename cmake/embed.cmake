# cmake -DINPUT=page.html -DOUTPUT=page.c -P embed.cmake: a file as a C array (a string literal of that size would be
# beyond what the standard grants). No INPUT gives an array of size 0.
set(bytes "")
set(size 0)
if(INPUT)
  file(READ ${INPUT} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
file(WRITE ${OUTPUT} "/* Made by cmake/embed.cmake. */
#include \"report/page.h\"

const unsigned char ss_report_page[] = {
${bytes}
0};
const size_t ss_report_page_size = ${size};
")
