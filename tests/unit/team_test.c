/* The thread team: every task once, to whoever is free, subnormals flushed inside and nowhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/team.h"

#include <float.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_TASKS = 500, MOST_WORKERS = 5 };

typedef struct record {
    atomic_int runs[MOST_TASKS];
    int worker[MOST_TASKS];
} record;

static void note_task(void *context, size_t index, int worker) {
    record *r = context;
    atomic_fetch_add(&r->runs[index], 1);
    r->worker[index] = worker;
}

static void every_task_runs_once_at_any_number_of_workers(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 97, MOST_TASKS};
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            record r;
            memset(&r, 0, sizeof r);
            ss_team_run(workers, counts[c], note_task, &r);
            for (size_t i = 0; i < MOST_TASKS; i++) assert_int_equal(r.runs[i], i < counts[c]);
            for (size_t i = 0; i < counts[c]; i++) assert_in_range(r.worker[i], 0, workers - 1);
        }
    }
}

/* One task waits until all others are done: a fixed deal would never end. */
static void wait_for_others(void *context, size_t index, int worker) {
    record *r = context;
    (void)worker;
    if (index == 0)
        while (atomic_load(&r->runs[1]) < MOST_TASKS - 1) ss_team_pause();
    else
        atomic_fetch_add(&r->runs[1], 1);
}

static void a_busy_worker_keeps_no_task_from_the_others(void **state) {
    (void)state;
    if (omp_get_thread_limit() < 2) skip();
    record r;
    memset(&r, 0, sizeof r);
    ss_team_scope scope = ss_team_enter(2); /* both threads are given, whatever the environment says */
    ss_team_run(2, MOST_TASKS, wait_for_others, &r);
    ss_team_leave(scope, 2);
    assert_int_equal(r.runs[1], MOST_TASKS - 1);
}

typedef struct ranges {
    atomic_int covered[MOST_TASKS];
    atomic_int calls;
} ranges;

static void note_range(void *context, size_t begin, size_t end, int worker) {
    ranges *r = context;
    (void)worker;
    assert_true(begin < end); /* nobody is called for nothing */
    atomic_fetch_add(&r->calls, 1);
    for (size_t i = begin; i < end; i++) atomic_fetch_add(&r->covered[i], 1);
}

static void a_split_covers_every_item_once_in_one_range_a_worker(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 4, 5, 6, 101, MOST_TASKS};
    for (int workers = 1; workers <= MOST_WORKERS; workers++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            ranges r;
            memset(&r, 0, sizeof r);
            ss_team_split(workers, counts[c], note_range, &r);
            for (size_t i = 0; i < MOST_TASKS; i++) assert_int_equal(r.covered[i], i < counts[c]);
            size_t expected = counts[c] < (size_t)workers ? counts[c] : (size_t)workers;
            assert_int_equal(r.calls, expected);
        }
    }
}

static void asking_for_no_number_means_every_processor(void **state) {
    (void)state;
    assert_int_equal(ss_team_size(3), 3);
    assert_true(ss_team_size(0) >= 1);
    assert_int_equal(ss_team_size(0), ss_team_size(-1));
}

static volatile float least_normal = FLT_MIN; /* volatile: the compiler must not halve it beforehand */

static void halve(void *context, size_t index, int worker) {
    (void)worker;
    ((float *)context)[index] = least_normal * 0.5f;
}

static void subnormals_are_flushed_inside_and_kept_outside(void **state) {
    (void)state;
#if defined(__SSE__)
    float inside[4] = {1, 1, 1, 1};
    ss_team_run(2, 4, halve, inside);
    for (int i = 0; i < 4; i++) assert_true(inside[i] == 0);
#endif
    assert_true(least_normal * 0.5f > 0);
}

static void a_scope_gets_the_threads_it_counts_on_and_leaves_no_trace(void **state) {
    (void)state;
    const int threads = omp_get_max_threads(), dynamic = omp_get_dynamic(), limit = omp_get_thread_limit();
    for (int before = 0; before < 2; before++) {
        omp_set_dynamic(before);
        ss_team_scope scope = ss_team_enter(MOST_WORKERS);
        assert_int_equal(omp_get_dynamic(), 0);
        assert_int_equal(omp_get_max_threads(), limit < MOST_WORKERS ? limit : MOST_WORKERS);
        ss_team_leave(scope, MOST_WORKERS);
        assert_int_equal(omp_get_dynamic(), before);
    }
    omp_set_dynamic(dynamic);
    assert_int_equal(omp_get_max_threads(), threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_once_at_any_number_of_workers),
        cmocka_unit_test(a_busy_worker_keeps_no_task_from_the_others),
        cmocka_unit_test(a_split_covers_every_item_once_in_one_range_a_worker),
        cmocka_unit_test(asking_for_no_number_means_every_processor),
        cmocka_unit_test(subnormals_are_flushed_inside_and_kept_outside),
        cmocka_unit_test(a_scope_gets_the_threads_it_counts_on_and_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
