// A driver that crashes takes its process with it, and a damaged file among the kernels that it
// keeps compiled does so in every later run. The program then sets these folders aside and begins
// once more, as the same process. What the handler needs is prepared before.
#include "commands.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FOLDERS = 2, ASIDE_MOST = 999, LAST_MS = 200 };
// argv[0] of the second try, with the number of the signal that ended the first.
static char again[] = "ninodes-again-00";
enum { AGAIN = sizeof(again) - 3 };

static struct {
    char program[4096], folder[FOLDERS][4096];
    char name[32], json[512];
    char **argv;
    char **env; // before anybody has added to it
    sigset_t mask;
    int ended_by; // signal of the first try; 0: this is the first
    bool is_on, is_terminal, is_worker, reads_stdin;
} guard;

static const struct {
    int number;
    const char *name;
} crashes[] = { { SIGSEGV, "segmentation fault" },
                { SIGBUS, "bus error" },
                { SIGILL, "illegal instruction" },
                { SIGABRT, "aborted" } };
enum { CRASHES = sizeof(crashes) / sizeof(crashes[0]) };

// ---- after the crash: nothing but system calls -------------------------------------------------

typedef struct line {
    char text[3 * 4096];
    size_t n;
} line;

static void put(line *l, const char *text)
{
    for (; *text && l->n < sizeof(l->text) - 2; text++)
        l->text[l->n++] = *text;
    l->text[l->n] = 0;
}

static void put_number(line *l, unsigned v)
{
    char digits[12], *p = digits + sizeof(digits) - 1;
    for (*p = 0; !*p || v; v /= 10)
        *--p = (char) ('0' + v % 10);
    put(l, p);
}

static void flush(line *l)
{
    put(l, "\n");
    if (write(STDERR_FILENO, l->text, l->n) < 0)
        return; // nobody listens
}

// Renames a folder to one that is not there yet.
static bool set_aside(const char *folder, line *said)
{
    static line to;
    for (unsigned i = 1; i <= ASIDE_MOST; i++) {
        to.n = 0;
        put(&to, folder);
        put(&to, ".aside-");
        put_number(&to, i);
        if (!access(to.text, F_OK))
            continue;
        if (rename(folder, to.text))
            return false;
        put(said, "; ");
        put(said, folder);
        put(said, " is now ");
        put(said, to.text);
        return true;
    }
    return false;
}

static void tell(line *l, int number)
{
    put(l, guard.is_terminal ? "\nninodes: " : "ninodes: ");
    put(l, guard.name);
    put(l, guard.is_on && guard.ended_by ? ": crashed again (" : ": crashed (");
    for (size_t i = 0; i < CRASHES; i++)
        if (crashes[i].number == number)
            put(l, crashes[i].name);
    put(l, "), as a faulty driver or a damaged file of its compiled kernels does");
    for (int i = 0; i < FOLDERS; i++)
        if (guard.folder[i][0])
            set_aside(guard.folder[i], l);
}

// The second try sets the folders aside: the threads of this one still write to them.
static void go_again(int number)
{
    if (guard.ended_by || guard.is_worker ||
        (guard.reads_stdin && lseek(STDIN_FILENO, 0, SEEK_SET))) // it would read something else
        return;
    again[AGAIN] = (char) ('0' + number / 10);
    again[AGAIN + 1] = (char) ('0' + number % 10);
    sigprocmask(SIG_SETMASK, &guard.mask, NULL);
    execve(guard.program, guard.argv, guard.env);
}

static void on_crash(int number)
{
    static atomic_flag is_taken = ATOMIC_FLAG_INIT;
    static line said;
    while (atomic_flag_test_and_set(&is_taken)) // another thread is at it
        pause();
    go_again(number);
    tell(&said, number);
    if (guard.ended_by)
        put(&said, "; --device ref does without the driver");
    flush(&said);
    if (guard.is_worker) {
        // Who watches it gets its last records, whoever started it sees what it died of.
        nanosleep(&(struct timespec){ .tv_nsec = LAST_MS * 1000000L }, NULL);
        signal(number, SIG_DFL);
        sigprocmask(SIG_SETMASK, &guard.mask, NULL);
        raise(number);
    }
    if (write(STDOUT_FILENO, guard.json, strlen(guard.json)) < 0)
        _exit(EXIT_DEVICE);
    _exit(EXIT_DEVICE);
}

// ---- before ------------------------------------------------------------------------------------

static bool is_crash(int number)
{
    for (size_t i = 0; i < CRASHES; i++)
        if (crashes[i].number == number)
            return true;
    return false;
}

// Instead of libc's, for every library of this process: LLVM, in some drivers, puts a handler in
// the place of ours, and from that of SIGABRT it returns, which ends the process. Its handler of a
// signal that whoever started us wants ignored removes the files that it is just writing.
__attribute__((visibility("default"))) int sigaction(int number, const struct sigaction *act,
                                                     struct sigaction *old)
{
    static int (*next)(int, const struct sigaction *, struct sigaction *);
    struct sigaction now;
    if (!next)
        *(void **) &next = dlsym(RTLD_NEXT, "sigaction");
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    if (guard.is_on && act &&
        (is_crash(number) || (!next(number, NULL, &now) && now.sa_handler == SIG_IGN)))
        act = NULL;
    return next(number, act, old);
}

bool crash_is_again(void) { return guard.ended_by != 0; }

// argv with the name that tells the next process, and a copy of the environment.
static bool prepare_start(char **argv)
{
    extern char **environ;
    size_t n = 0, k = 0;
    while (argv[n])
        n++;
    while (environ[k])
        k++;
    char **list = calloc(n + k + 2, sizeof(*list));
    const ssize_t len = readlink("/proc/self/exe", guard.program, sizeof(guard.program) - 1);
    if (!list || len <= 0) {
        free(list);
        return false;
    }
    guard.program[len] = 0;
    memcpy(list, argv, n * sizeof(*list));
    memcpy(list + n + 1, environ, k * sizeof(*list));
    list[0] = again;
    guard.argv = list;
    guard.env = list + n + 1;
    return true;
}

static bool takes_device(const command *c)
{
    for (const opt *o = c->opts; o->name; o++)
        if (o->offset == offsetof(options, device))
            return true;
    return false;
}

void crash_guard(const command *c, char **argv, const options *o)
{
    static char stack[1 << 16]; // of the main thread, whose own may be what has run over
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
    struct sigaction old, act = { .sa_handler = on_crash, .sa_flags = SA_ONSTACK };
    if (!takes_device(c) || (o->device && !strcmp(o->device, "ref")) || !prepare_start(argv))
        return;
    snprintf(guard.name, sizeof(guard.name), "%s", c->name);
    guard.is_worker = c->run == cmd_worker;
    guard.is_terminal = isatty(STDERR_FILENO);
    guard.reads_stdin = o->n_args && !strcmp(o->arg[0], "-");
    for (int i = 0; i < FOLDERS; i++)
        if (!nino_kernel_folder(i, guard.folder[i], sizeof(guard.folder[i])))
            guard.folder[i][0] = 0;
    if (o->json)
        snprintf(
            guard.json, sizeof(guard.json),
            "{\"schema\":\"envelope/1\",\"type\":\"envelope\",\"ok\":false,\"command\":\"%s\","
            "\"data\":null,\"error\":{\"code\":\"crashed\",\"message\":\"the driver has crashed\","
            "\"hint\":null,\"details\":{\"where\":\"\"}}}\n",
            c->name);
    if (!strncmp(argv[0], again, AGAIN)) {
        static line said;
        guard.ended_by = atoi(argv[0] + AGAIN);
        tell(&said, guard.ended_by);
        put(&said, "; trying once more");
        flush(&said);
    }
    sigprocmask(SIG_SETMASK, NULL, &guard.mask);
    sigaltstack(&other, NULL);
    sigfillset(&act.sa_mask);
    for (size_t i = 0; i < CRASHES; i++) // a sanitizer's handlers stay
        if (!sigaction(crashes[i].number, NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(crashes[i].number, &act, NULL);
    guard.is_on = true;
}
