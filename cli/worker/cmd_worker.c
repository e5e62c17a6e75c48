// ninodes worker: runs the jobs that ninodes jobs and ninodes-studio send, one after the other.
#include "commands.h"
#include "queue/queue.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    nino_worker *worker; // NULL: not yet, or no more
    worker_face *face;   // NULL: there is none
} served = { .lock = PTHREAD_MUTEX_INITIALIZER };

// A call of the driver that does not return is not waited for: the kernel ends us. The queue is on
// disk, as after any death.
enum { END_S = 10 };

static void cmd_worker_stop(void)
{
    alarm(END_S);
    pthread_mutex_lock(&served.lock);
    if (served.face)
        worker_face_stop(served.face);
    if (served.worker)
        nino_worker_stop(served.worker);
    pthread_mutex_unlock(&served.lock);
}

static void cmd_worker_serve(nino_worker *w, worker_face *f)
{
    pthread_mutex_lock(&served.lock);
    served.worker = w;
    served.face = f;
    if (w && signals_stopped())
        nino_worker_stop(w);
    pthread_mutex_unlock(&served.lock);
}

// A worker is what may die: memory short, it goes first; a dump of its gigabytes helps nobody.
static void be_expendable(void)
{
    const struct rlimit none = { 0, 0 };
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, "800", 3) < 0)
            say("worker: cannot tell the kernel to end it first when memory is short");
        close(fd);
    }
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPIPE, SIG_IGN);
}

int cmd_worker(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_ctx_params cp;
    nino_job_options jo;
    nino_worker_params p = { NINO_WORKER_PARAMS_INIT, .ctx = &cp, .state_dir = o->state,
                             .resume = o->resume,
                             .idle_s = (int) (o->idle_end < INT_MAX ? o->idle_end : INT_MAX) };
    if (o->queue && o->state) {
        say("worker: --state is of a queue on disk; that of --queue is in Redis");
        return EXIT_USAGE;
    }
    if (o->queue)
        p.state_dir = "";
    signals_watch(cmd_worker_stop);
    be_expendable();
    confine(o->queue != NULL, o->verbose); // before there are other threads
    fill_ctx_params(o, &cp, &jo);
    cp.title = "worker";
    nino_worker *w = nino_worker_create(&p, &err);
    if (!w) {
        const int rc = report_error(
            o, "worker", &err,
            strcmp(err.kind, "busy") ? NULL
                                     : "ninodes jobs talks to it; --state DIR makes another one");
        return err.code == NINO_ERR_UNKNOWN ? EXIT_DEVICE : rc;
    }
    if (*nino_worker_socket(w)) {
        out_path(nino_worker_socket(w)); // whoever started it waits for this line
        fflush(stdout);
    }
    const bool is_served = *nino_worker_socket(w);
    worker_face *face = o->queue && is_served ? worker_face_start(o, nino_worker_socket(w)) : NULL;
    cmd_worker_serve(w, face);
    int rc = EXIT_OK;
    if (!is_served) {
        say("worker: nobody could reach it without a socket");
        rc = EXIT_RUN;
    } else if (o->queue && !face) {
        rc = EXIT_USAGE;
    } else if (nino_worker_run(w, &err)) {
        rc = report_error(o, "worker", &err, NULL);
    }
    cmd_worker_serve(NULL, NULL);
    worker_face_destroy(&face);
    nino_worker_destroy(&w);
    return signals_stopped() && rc == EXIT_OK ? 128 + signals_stopped() : rc;
}
