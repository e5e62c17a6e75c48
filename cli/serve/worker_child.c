// The worker behind `ninodes serve`: the one that has the state folder, or one that is started and
// ended with it. A crash of a driver ends that process; this one stays, and starts the next.
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <ninodes/worker.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGS = 128, MAX_CRASHES = 4, CALM_S = 20, END_MS = 10000, PAUSE_S = 1 };

struct worker_child {
    const options *o;
    const char *input, *output;
    pid_t pid; // 0: none of ours
    int out;   // its stdout
    size_t n;  // bytes of `socket` so far
    char socket[256];
    time_t started, gone;
    int crashes; // soon after a start, in a row
};

static time_t seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

worker_child *worker_child_create(const options *o, const char *input, const char *output)
{
    worker_child *w = calloc(1, sizeof(*w));
    if (w)
        *w = (worker_child){ .o = o, .input = input, .output = output, .out = -1 };
    return w;
}

// ---- starting ----------------------------------------------------------------------------------

typedef struct words {
    const char *arg[MAX_ARGS + 1];
    char number[4][24];
    int n, n_numbers;
} words;

static void add_word(words *w, const char *name, const char *value)
{
    if (!value || w->n + 2 > MAX_ARGS)
        return;
    w->arg[w->n++] = name;
    w->arg[w->n++] = value;
}

static void add_number(words *w, const char *name, uint64_t value)
{
    if (!value || w->n_numbers == 4)
        return;
    char *text = w->number[w->n_numbers++];
    snprintf(text, sizeof(w->number[0]), "%llu", (unsigned long long) value);
    add_word(w, name, text);
}

// Clients want previews, unless a setting says otherwise.
static const char *preview_of(const options *o)
{
    nino_config_value v;
    const bool is_set = nino_config_get("run.preview", &v) && v.source != NINO_CONFIG_DEFAULT;
    return o->preview ? o->preview : is_set ? NULL : "auto";
}

static void worker_words(const worker_child *c, words *w)
{
    const options *o = c->o;
    w->arg[w->n++] = "ninodes";
    w->arg[w->n++] = "worker";
    for (size_t i = 0; i < o->models.n; i++)
        add_word(w, "--models", o->models.item[i]);
    for (size_t i = 0; i < o->object_info.n; i++)
        add_word(w, "--object-info", o->object_info.item[i]);
    add_word(w, "--input", c->input);
    add_word(w, "--output", c->output);
    add_word(w, "--device", o->device);
    add_word(w, "--precision", o->precision);
    for (size_t i = 0; i < o->config.n; i++)
        add_word(w, "--config", o->config.item[i]);
    add_word(w, "--gemm", o->gemm);
    add_word(w, "--preview", preview_of(o));
    add_word(w, "--state", o->state);
    add_number(w, "--mem-limit", o->mem_limit);
    add_number(w, "--preview-every", o->preview_every);
    add_number(w, "--preview-percent", o->preview_percent);
    const struct {
        bool is_set;
        const char *word;
    } flag[] = { { o->no_profile, "--no-profile" },
                 { o->no_metadata, "--no-metadata" },
                 { o->quiet, "--quiet" },
                 { o->verbose, "--verbose" } };
    for (size_t i = 0; i < sizeof(flag) / sizeof(flag[0]) && w->n < MAX_ARGS; i++)
        if (flag[i].is_set)
            w->arg[w->n++] = flag[i].word;
    w->arg[w->n] = NULL;
}

// In the child: only what may be done between fork() and exec().
static void become_worker(const words *w, int out, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0); // Ctrl-C is for the server, which ends it
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(out, STDOUT_FILENO) >= 0)
        execv("/proc/self/exe", (char *const *) w->arg);
    _exit(EXIT_RUN);
}

static bool start_worker(worker_child *c)
{
    words w = { .n = 0 };
    int way[2];
    worker_words(c, &w);
    if (pipe2(way, O_CLOEXEC)) {
        say("serve: cannot start a worker: %s", strerror(errno));
        return false;
    }
    const pid_t parent = getpid(), pid = fork();
    if (!pid)
        become_worker(&w, way[1], parent);
    close(way[1]);
    if (pid < 0) {
        close(way[0]);
        say("serve: cannot start a worker: %s", strerror(errno));
        return false;
    }
    fcntl(way[0], F_SETFL, O_NONBLOCK);
    c->pid = pid;
    c->out = way[0];
    c->n = 0;
    c->started = seconds();
    return true;
}

// ---- watching ----------------------------------------------------------------------------------

// The line that says where it listens. False: it is not there yet.
static bool read_socket(worker_child *c)
{
    while (c->n + 1 < sizeof(c->socket)) {
        const ssize_t k = read(c->out, c->socket + c->n, 1);
        if (k != 1)
            return false;
        if (c->socket[c->n] == '\n') {
            c->socket[c->n] = 0;
            c->n = sizeof(c->socket);
            return true;
        }
        c->n++;
    }
    return true;
}

static bool has_ended(worker_child *c, bool *is_over)
{
    int status = 0;
    if (waitpid(c->pid, &status, WNOHANG) != c->pid)
        return false;
    close(c->out);
    c->pid = 0;
    c->out = -1;
    c->gone = seconds();
    c->crashes = c->gone - c->started < CALM_S ? c->crashes + 1 : 1;
    const bool is_refusal = WIFEXITED(status) && WEXITSTATUS(status) && c->n < sizeof(c->socket);
    if (is_refusal || c->crashes >= MAX_CRASHES) {
        *is_over = true;
        say("serve: %s",
            is_refusal ? "the worker does not start" : "the worker dies again and again");
    } else {
        say("serve: the worker has gone; another one is started");
    }
    return true;
}

// The socket of another process that has the folder.
static const char *foreign_socket(worker_child *c, int pid)
{
    nino_run_info run[64];
    const size_t all = nino_attach_list(run, 64), n = all < 64 ? all : 64;
    for (size_t i = 0; i < n; i++)
        if (run[i].pid == pid) {
            snprintf(c->socket, sizeof(c->socket), "%s", run[i].socket);
            return c->socket;
        }
    return NULL; // it is still opening its device, or ends
}

const char *worker_child_socket(worker_child *c, bool *is_over)
{
    *is_over = false;
    if (c->pid)
        return has_ended(c, is_over) || !read_socket(c) ? NULL : c->socket;
    const int other = nino_worker_find(c->o->state);
    if (other)
        return foreign_socket(c, other);
    if (c->gone && seconds() - c->gone < PAUSE_S)
        return NULL;
    *is_over = !start_worker(c);
    return NULL;
}

bool worker_child_is_own(const worker_child *c) { return c->pid != 0; }

void worker_child_destroy(worker_child **pc)
{
    worker_child *c = pc ? *pc : NULL;
    if (!c)
        return;
    *pc = NULL;
    if (c->pid) {
        kill(c->pid, SIGTERM);
        for (int ms = 0; waitpid(c->pid, NULL, WNOHANG) == 0; ms += 20) {
            if (ms >= END_MS)
                kill(c->pid, SIGKILL); // its queue is on disk
            nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
        }
        close(c->out);
    }
    free(c);
}
