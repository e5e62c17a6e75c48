// The queue of a worker as JSON.
#include "cli.h"

#include <time.h>

double unix_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

double queue_job_seconds(const nino_queue_job *j)
{
    if (j->started_s <= 0)
        return 0;
    return (j->ended_s > 0 ? j->ended_s : unix_now()) - j->started_s;
}

void queue_job_json(const nino_queue_job *j)
{
    js_open(NULL, '{');
    js_uint("job", j->id);
    js_text("state", nino_queue_state_name(j->state));
    js_text("name", j->name);
    js_uint("nodes", j->n_nodes);
    js_num("seconds", queue_job_seconds(j));
    js_num("queued", j->queued_s);
    js_uint("lost", (uint64_t) j->lost);
    js_open("outputs", '[');
    for (size_t i = 0; i < j->n_outputs; i++)
        js_text(NULL, j->outputs[i]);
    js_close(']');
    js_text("error", j->err.code ? j->err.msg : NULL);
    js_text("where", j->err.code ? j->err.where : NULL);
    js_close('}');
}

void queue_json(const nino_queue *q)
{
    js_bool("worker", q->is_worker);
    js_bool("paused", q->is_paused);
    js_text("notice", *q->notice ? q->notice : NULL);
    js_open("jobs", '[');
    for (size_t i = 0; i < q->n_jobs; i++)
        queue_job_json(&q->jobs[i]);
    js_close(']');
}

void queue_line(const nino_queue *q)
{
    js_line("event/1", "queue");
    queue_json(q);
    js_end();
}
