// Every allocation of requests, answers, queues and a worker's lists fails once: "nomem" or a
// buffer that says so, never half a result, and no leak.
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/request.h"
#include "core/worker/job_lists.h"
#include "tests/oom.h"

static nino_error err;

static const char request[] =
    "{\"id\":1,\"do\":\"queue\",\"position\":1,\"workflow\":\"{\\\"1\\\":{}}\",\"name\":\"a\","
    "\"options\":{\"models\":[\"/m\",\"/n\"],\"output\":\"/o\",\"precision\":\"fp16\"}}";
static const char queue[] =
    "{\"schema\":\"queue/"
    "1\",\"version\":9,\"jobs\":[{\"id\":3,\"state\":\"running\",\"name\":\"w\","
    "\"outputs\":[\"/o/a.png\"],\"texts\":[{\"node\":\"4\",\"title\":\"t\",\"text\":\"x\"}],"
    "\"options\":{\"models\":[\"/m\"],\"input\":\"/i\",\"trace\":\"/t\",\"preview\":\"auto\"}}]}";

static bool done(nino_status st, int may_fail) { return oom_passed(st, &err, may_fail); }

static void test_request(int may_fail)
{
    nino_request r;
    nino_buf b = { 0 };
    err.code = NINO_OK;
    if (done(nino_request_parse(request, strlen(request), &r, &err), may_fail)) {
        CHECK(r.c.options->models && !strcmp(r.c.options->models[1], "/n"));
        nino_request_write(&b, 7, &r.c);
        CHECK(b.failed ? may_fail && oom.fired : strstr(b.data, "\"/n\"") != NULL);
    }
    nino_request_release(&r);
    nino_buf_release(&b);
    nino_reply reply = { .job = 3 };
    nino_buf_adds(&reply.text, "text");
    nino_reply_write(&b, 7, &reply);
    CHECK(b.failed || reply.text.failed ? may_fail && oom.fired : strstr(b.data, "text") != NULL);
    nino_buf_release(&reply.text);
    nino_buf_release(&b);
}

static void test_queue(int may_fail)
{
    nino_jobs jobs = { .next_id = 4 };
    nino_buf b = { 0 };
    err.code = NINO_OK;
    nino_queue_view *v = nino_queue_view_parse(queue, strlen(queue), &err);
    if (!done(v ? NINO_OK : err.code ? err.code : NINO_ERR_IO, may_fail))
        return;
    nino_queue_write(&b, &v->q);
    CHECK(b.failed ? may_fail && oom.fired : strstr(b.data, "/o/a.png") != NULL);
    nino_wjob *j = nino_wjob_create(&v->q.jobs[0], "{}", 2);
    CHECK(j || (may_fail && oom.fired));
    if (j) {
        CHECK(j->q.n_outputs == 1 && j->q.n_texts == 1);
        CHECK(nino_wjob_add_output(j, "/o/b.png") || (may_fail && oom.fired));
        CHECK(nino_wjob_add_text(j, &(nino_job_text){ "1", "2", "3" }) || (may_fail && oom.fired));
        nino_jobs_insert(&jobs, j, 1);
        size_t n;
        nino_queue_job *list = nino_jobs_list(&jobs, &n);
        CHECK((list && n == 1) || (may_fail && oom.fired));
        free(list);
    }
    nino_jobs_release(&jobs);
    nino_queue_view_destroy(&v);
    nino_buf_release(&b);
}

int main(void)
{
    CHECK(oom_each(test_request) > 5);
    CHECK(oom_each(test_queue) > 10);
    return 0;
}
