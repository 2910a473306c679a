/* The thread team over OpenMP. Relies on: libgomp or libomp; the control register on x86. */
#include "base/team.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

/* Flush-to-zero and denormals-are-zero: a subnormal operand costs over a hundred cycles on many cores. */
static unsigned begin_flush(void) {
#if defined(__SSE__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u);
    return before;
#else
    return 0;
#endif
}

static void end_flush(unsigned before) {
#if defined(__SSE__)
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

int ss_team_size(int asked) {
    return asked > 0 ? asked : omp_get_num_procs();
}

void ss_team_run(int workers, size_t tasks, ss_task *task, void *context) {
    atomic_size_t next;
    atomic_init(&next, 0);
#pragma omp parallel num_threads(workers)
    {
        unsigned saved = begin_flush();
        const int worker = omp_get_thread_num();
        for (size_t index; (index = atomic_fetch_add(&next, 1)) < tasks;) task(context, index, worker);
        end_flush(saved);
    }
}

void ss_team_pause(void) {
    sched_yield();
}

void ss_team_split(int workers, size_t items, ss_range_task *task, void *context) {
    const size_t count = (size_t)workers;
#pragma omp parallel num_threads(workers)
    {
        unsigned saved = begin_flush();
        /* OpenMP may give fewer threads than asked: every worker's range is covered all the same */
        for (size_t worker = (size_t)omp_get_thread_num(); worker < count;
             worker += (size_t)omp_get_num_threads()) {
            size_t begin = items * worker / count, end = items * (worker + 1) / count;
            if (begin < end) task(context, begin, end, (int)worker);
        }
        end_flush(saved);
    }
}

/* oneDNN leaves out parts of a product, and says nothing, where OpenMP gives it fewer threads than it counts
 * on: so it counts on as many as were given here (a thread limit, no active levels, a caller in a parallel
 * region: all give fewer than asked), and OpenMP is not to give fewer as it sees fit. */
ss_team_scope ss_team_enter(int workers) {
    ss_team_scope scope = {.threads = omp_get_max_threads(), .dynamic = omp_get_dynamic()};
    omp_set_dynamic(0);
    int given = 1;
    unsigned control = 0;
#pragma omp parallel num_threads(workers)
    {
        unsigned before = begin_flush();
#pragma omp master
        control = before, given = omp_get_num_threads();
    }
    omp_set_num_threads(given);
    scope.control = control;
    return scope;
}

void ss_team_leave(ss_team_scope scope, int workers) {
#pragma omp parallel num_threads(workers)
    end_flush(scope.control);
    omp_set_num_threads(scope.threads);
    omp_set_dynamic(scope.dynamic);
}
