/* The library in twenty lines. Build it against an installed softscope:
 *     cc theta_row.c $(pkg-config --cflags --libs softscope) -o theta_row */
#include <softscope.h>
#include <stdio.h>

int main(void) {
    printf("a file that cannot be read is a '%s', exit status %d\n", ss_status_name(SS_E_IO),
           ss_status_exit(SS_E_IO));
    return 0;
}
