/* The thread team: the only place that starts threads. Relies on: OpenMP (the pool that oneDNN uses as well).
 */
#ifndef SS_BASE_TEAM_H
#define SS_BASE_TEAM_H

#include <stddef.h>

/* How many workers a call uses: `asked` of them, or every processor this process may use when 0. */
int ss_team_size(int asked);

/* Run task(context, index, worker) for index 0..tasks-1 on `workers` threads and wait for all. A worker that
 * is free takes the next index, so no one waits for a core that is busy with something else; which worker has
 * which task differs from run to run. Tasks listed from the heaviest to the lightest end together. Subnormals
 * are flushed to zero inside, restored after. */
typedef void ss_task(void *context, size_t index, int worker);
void ss_team_run(int workers, size_t tasks, ss_task *task, void *context);

/* The same for even work on `items` items: each worker gets one contiguous range, always the same. */
typedef void ss_range_task(void *context, size_t begin, size_t end, int worker);
void ss_team_split(int workers, size_t items, ss_range_task *task, void *context);

/* Let another thread go first: between two looks at something that another worker is about to do. */
void ss_team_pause(void);

/* Around a pass: `workers`, or as many as OpenMP gives, becomes the number of threads that oneDNN
 * uses when called by this thread, and every thread of the team flushes subnormals. Leaving restores what
 * entering found. */
typedef struct ss_team_scope {
    int threads, dynamic;
    unsigned control;
} ss_team_scope;

ss_team_scope ss_team_enter(int workers);
void ss_team_leave(ss_team_scope scope, int workers);

#endif
