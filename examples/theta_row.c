/* Exact theta of one row of attention, with the keys of the best cut. Build it against an installed
 * softscope: cc theta_row.c $(pkg-config --cflags --libs softscope) -o theta_row */
#include <softscope.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    enum { KEYS = 4 };
    const float weights[KEYS] = {.4f, .1f, .4f, .1f};
    uint8_t cut[KEYS];
    const ss_theta_options options = {.witness = cut};
    ss_theta_result row;
    ss_error error;
    void *workspace = malloc(ss_theta_workspace(KEYS));
    if (!workspace) return 4;
    const ss_status status = ss_theta(weights, KEYS, &options, workspace, &row, &error);
    free(workspace);
    if (status != SS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return ss_status_exit(status);
    }
    printf("theta %.6f (%s), the paper's bound %.6f, best cut: keys", row.theta,
           row.exact ? "proved exact" : "a bracket", row.theta_cert);
    for (int key = 0; key < KEYS; key++)
        if (cut[key]) printf(" %d", key);
    putchar('\n');
    return 0;
}
