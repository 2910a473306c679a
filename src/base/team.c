/* The thread team over OpenMP. Relies on: libgomp or libomp; the control register on x86. */
#include "base/team.h"

#include <omp.h>
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

/* Round r deals tasks r*workers..: forwards in even rounds, backwards in odd ones. */
static size_t dealt(size_t round, size_t worker, size_t workers) {
    return round * workers + (round % 2 ? workers - 1 - worker : worker);
}

void ss_team_run(int workers, size_t tasks, ss_task *task, void *context) {
    size_t count = (size_t)workers;
    size_t rounds = (tasks + count - 1) / count;
#pragma omp parallel num_threads(workers)
    {
        unsigned saved = begin_flush();
        /* OpenMP may give fewer threads than asked: the worker loop keeps every task covered */
        for (size_t worker = (size_t)omp_get_thread_num(); worker < count;
             worker += (size_t)omp_get_num_threads()) {
            for (size_t round = 0; round < rounds; round++) {
                size_t index = dealt(round, worker, count);
                if (index < tasks) task(context, index, (int)worker);
            }
        }
        end_flush(saved);
    }
}

typedef struct split {
    ss_range_task *task;
    void *context;
    size_t items, parts;
} split;

static void run_part(void *context, size_t index, int worker) {
    const split *s = context;
    size_t begin = s->items * index / s->parts, end = s->items * (index + 1) / s->parts;
    if (begin < end) s->task(s->context, begin, end, worker);
}

void ss_team_split(int workers, size_t items, ss_range_task *task, void *context) {
    split s = {.task = task, .context = context, .items = items, .parts = (size_t)workers};
    ss_team_run(workers, s.parts, run_part, &s);
}

ss_team_scope ss_team_enter(int workers) {
    ss_team_scope scope = {.threads = omp_get_max_threads()};
    omp_set_num_threads(workers);
    unsigned control = 0;
#pragma omp parallel num_threads(workers)
    {
        unsigned before = begin_flush();
#pragma omp master
        control = before;
    }
    scope.control = control;
    return scope;
}

void ss_team_leave(ss_team_scope scope, int workers) {
#pragma omp parallel num_threads(workers)
    end_flush(scope.control);
    omp_set_num_threads(scope.threads);
}
