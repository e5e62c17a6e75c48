// Programs built ahead, by helper processes: drivers hold a lock of the process while they compile, and a
// compiler that crashes takes only its helper along. Helpers take programs from one list, each the next, and
// tell by a pipe which one is there. Who needs a program waits for that one only; what no helper brings is
// built as without them. When nobody waits any more one of them goes on at the lowest priority and puts
// binaries into the cache, also when the process that started it has ended.
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_HELPERS = 8, MOST_AHEAD = 96 };

struct nino_cl_ahead {
    nino_programs programs; // that were given out
    bool is_idle[MOST_AHEAD], is_done[MOST_AHEAD];
    int n_waiting; // not done of those that are not idle
    pid_t helper[MOST_HELPERS];
    int n_helpers;
    int answers; // -1: all have ended
};

extern char **environ;

static bool start_helper(const nino_cl *cl, struct nino_cl_ahead *a, int list, int answers)
{
    char *const argv[] = { (char *) "ninodes", (char *) NINO_HELPER_ARG,
                           (char *) cl->be.info.selector, (char *) cl->cache_dir, NULL };
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files))
        return false;
    const bool is_started =
        !posix_spawn_file_actions_adddup2(&files, list, STDIN_FILENO) &&
        !posix_spawn_file_actions_adddup2(&files, answers, STDOUT_FILENO) &&
        !posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) &&
        !posix_spawn(&a->helper[a->n_helpers], cl->helper, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    a->n_helpers += is_started;
    return is_started;
}

// The list, in memory: its reading position is one for all helpers. -1: there can be none.
static int list_of(const struct nino_cl_ahead *a)
{
    const int fd = memfd_create("ninodes-programs", MFD_CLOEXEC);
    bool ok = fd >= 0;
    for (size_t i = 0; ok && i < a->programs.n; i++) {
        nino_helper_task t = { .index = (uint32_t) i | (a->is_idle[i] ? NINO_HELPER_IDLE : 0),
                               .program = a->programs.list[i] };
        ok = write(fd, &t, sizeof(t)) == (ssize_t) sizeof(t);
    }
    if (ok && !lseek(fd, 0, SEEK_SET))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool ahead_give(const nino_cl *cl, struct nino_cl_ahead *a)
{
    int answers[2];
    const long others =
        sysconf(_SC_NPROCESSORS_ONLN) - 1; // this process launches, which compiles too
    const int list = list_of(a);
    if (list < 0 || pipe2(answers, O_CLOEXEC)) {
        if (list >= 0)
            close(list);
        return false;
    }
    for (int i = 0; i < MOST_HELPERS && (!i || (i < a->n_waiting && i < others)); i++)
        if (!start_helper(cl, a, list, answers[1]))
            break;
    close(list);
    close(answers[1]);
    a->answers = answers[0]; // closed with the rest if none was started
    return a->n_helpers;
}

void nino_cl_ahead_start(nino_cl *cl, const nino_programs *programs)
{
    const bool is_cut_for_it =
        !nino_cl_builds_at_launch(cl) || nino_cl_schedule_now(cl)->group == 1;
    nino_cl_ahead_stop(cl);
    if (!*cl->helper || !cl->cache || !is_cut_for_it || nino_cl_room_check(cl, NULL))
        return;
    struct nino_cl_ahead *a = calloc(1, sizeof(*a));
    for (size_t i = 0; a && i < programs->n && a->programs.n < MOST_AHEAD; i++) {
        const nino_plan_program *p = &programs->list[i];
        const nino_cl_nearness near = nino_cl_program_near(cl, p->file, p->options);
        a->is_idle[a->programs.n] = near == NINO_CL_DRIVERS;
        a->n_waiting += near == NINO_CL_NOWHERE;
        if (near != NINO_CL_HERE)
            nino_programs_add(&a->programs, p->file, p->options);
    }
    if (!a)
        return;
    a->answers = -1;
    cl->ahead = a;
    if (!a->programs.n || !ahead_give(cl, a))
        nino_cl_ahead_stop(cl);
}

static void take_answers(struct nino_cl_ahead *a, int wait_ms)
{
    struct pollfd p = { .fd = a->answers, .events = POLLIN };
    uint32_t index;
    if (poll(&p, 1, wait_ms) <= 0)
        return;
    const ssize_t n = read(a->answers, &index, sizeof(index));
    if (n == (ssize_t) sizeof(index) && index < a->programs.n) {
        a->n_waiting -= !a->is_done[index];
        a->is_done[index] = true;
    } else if (n >= 0 || errno != EINTR) { // the last helper has ended
        close(a->answers);
        a->answers = -1;
    }
}

static size_t ahead_find(const struct nino_cl_ahead *a, const char *file, const char *options)
{
    size_t i = 0;
    while (i < a->programs.n &&
           (strcmp(a->programs.list[i].file, file) || strcmp(a->programs.list[i].options, options)))
        i++;
    return i;
}

bool nino_cl_ahead_has(const nino_cl *cl, const char *file, const char *options)
{
    const struct nino_cl_ahead *a = cl->ahead;
    const size_t i = a ? ahead_find(a, file, options) : 0;
    return a && a->answers >= 0 && i < a->programs.n && !a->is_idle[i];
}

nino_status nino_cl_ahead_wait(nino_cl *cl, const char *file, const char *options, nino_error *err)
{
    enum { LOOK_MS = 20 }; // a cancel is only a flag: look again
    struct nino_cl_ahead *a = cl->ahead;
    const size_t i = ahead_find(a, file, options);
    while (!a->is_done[i] && a->answers >= 0) {
        if (nino_backend_is_cancelled(&cl->be))
            return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
        take_answers(a, LOOK_MS);
    }
    return NINO_OK;
}

// Whatever a helper is about is written beside its place first: it may end anywhere. One that keeps binaries
// only is left to itself.
void nino_cl_ahead_stop(nino_cl *cl)
{
    struct nino_cl_ahead *a = cl->ahead;
    if (!a)
        return;
    for (int was = 0; a->answers >= 0 && was != a->n_waiting;) { // what was told and not yet heard
        was = a->n_waiting;
        take_answers(a, 0);
    }
    if (a->answers >= 0)
        close(a->answers);
    for (int i = 0; i < a->n_helpers; i++) {
        if (a->n_waiting)
            kill(a->helper[i], SIGKILL);
        while (waitpid(a->helper[i], NULL, a->n_waiting ? 0 : WNOHANG) < 0 && errno == EINTR)
            ;
    }
    nino_programs_release(&a->programs);
    free(a);
    cl->ahead = NULL;
}
