// A program with an event loop of its own: poll() on a timer and on a job, which never blocks it.
#include <ninodes/ninodes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const char workflow[] =
    "{\"1\": {\"class_type\": \"EmptyImage\", \"inputs\": {\"width\": 64, "
    "\"height\": 64, \"batch_size\": 1, \"color\": 255}},"
    "\"2\": {\"class_type\": \"PreviewImage\", \"inputs\": "
    "{\"images\": [\"1\", 0]}}}";

// Takes what has come. True: the job has ended.
static bool on_job(nino_job *job, nino_status *st, nino_error *err)
{
    nino_event ev[64];
    for (size_t n; (n = nino_job_poll(job, ev, 64));)
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_NODE)
                printf("running %s\n", nino_job_name(job, ev[i].name));
    return nino_job_done(job, st, err);
}

int main(void)
{
    nino_error err;
    nino_status st = NINO_OK;
    nino_ctx_params params = { NINO_CTX_PARAMS_INIT };
    params.device = "ref";
    nino_graph *graph = nino_graph_load(workflow, strlen(workflow), "picture", &err);
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    nino_job *job = graph && ctx ? nino_job_start(ctx, graph, NULL, &err) : NULL;
    if (!job) {
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
        return 1;
    }
    const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    const struct itimerspec tick = { { 1, 0 }, { 1, 0 } };
    timerfd_settime(timer, 0, &tick, NULL);
    struct pollfd fds[2] = { { timer, POLLIN, 0 }, { nino_job_fd(job), POLLIN, 0 } };
    int seconds = 0;
    for (bool is_done = false; !is_done && poll(fds, 2, -1) >= 0;) {
        unsigned long long ticks;
        if (fds[0].revents && read(timer, &ticks, sizeof(ticks)) > 0)
            printf("%d s\n", ++seconds);
        if (fds[1].revents)
            is_done = on_job(job, &st, &err);
    }
    close(timer);
    nino_job_destroy(&job);
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&graph);
    return st;
}
