// Faults at system calls: runs a function in a process of its own under ptrace, and at the n-th of
// those calls that concern files below a folder kills it, lets the call fail, or cuts it short. A
// seccomp filter stops it at these calls only, so that the rest goes at full speed. All threads and
// children of the process count, and what libc does for itself counts too.
#pragma once
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
#define FAULT_SKIP "faults at system calls are made on x86-64 only"
#else

typedef enum fault_kind { FAULT_NONE, FAULT_KILL, FAULT_ERROR, FAULT_SHORT } fault_kind;
typedef struct fault {
    const char *root; // calls count that concern files below it; no link on the way
    bool writes_only; // only those that change something
    long at;          // which of them, from 1
    fault_kind kind;
    int error;
    // Filled by fault_run().
    long calls;      // how many there were
    const char *hit; // name of the call that was hit, NULL: none
} fault;

typedef enum fault_place { AT_FD, AT_PATH, AT_DIR_PATH } fault_place;
static const struct fault_call {
    long nr;
    const char *name;
    fault_place place; // where the file is: a descriptor, a path, or a folder and a path
    bool writes;       // an open does when it makes or empties
    bool can_be_short; // its third argument is a length
} fault_calls[] = {
    { SYS_open, "open", AT_PATH, false, false },
    { SYS_openat, "openat", AT_DIR_PATH, false, false },
    { SYS_openat2, "openat2", AT_DIR_PATH, false, false },
    { SYS_read, "read", AT_FD, false, true },
    { SYS_pread64, "pread64", AT_FD, false, true },
    { SYS_preadv, "preadv", AT_FD, false, false },
    { SYS_write, "write", AT_FD, true, true },
    { SYS_pwrite64, "pwrite64", AT_FD, true, true },
    { SYS_writev, "writev", AT_FD, true, false },
    { SYS_pwritev, "pwritev", AT_FD, true, false },
    { SYS_fsync, "fsync", AT_FD, true, false },
    { SYS_fdatasync, "fdatasync", AT_FD, true, false },
    { SYS_ftruncate, "ftruncate", AT_FD, true, false },
    { SYS_flock, "flock", AT_FD, false, false },
    { SYS_mkdir, "mkdir", AT_PATH, true, false },
    { SYS_mkdirat, "mkdirat", AT_DIR_PATH, true, false },
    { SYS_rename, "rename", AT_PATH, true, false },
    { SYS_renameat, "renameat", AT_DIR_PATH, true, false },
    { SYS_renameat2, "renameat2", AT_DIR_PATH, true, false },
    { SYS_link, "link", AT_PATH, true, false },
    { SYS_linkat, "linkat", AT_DIR_PATH, true, false },
    { SYS_unlink, "unlink", AT_PATH, true, false },
    { SYS_unlinkat, "unlinkat", AT_DIR_PATH, true, false },
};
enum { FAULT_CALLS = sizeof(fault_calls) / sizeof(fault_calls[0]) };

// ---- the process that suffers -----------------------------------------------------------------

static inline void fault_filter(void)
{
    struct sock_filter code[FAULT_CALLS + 6];
    size_t n = 0;
    code[n++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                              (uint32_t) offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < FAULT_CALLS; i++)
        code[n++] =
            (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) fault_calls[i].nr,
                                          (uint8_t) (FAULT_CALLS - i), 0);
    code[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    const struct sock_fprog p = { (unsigned short) n, code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p, 0, 0))
        _exit(125);
}

// ---- the one that watches ---------------------------------------------------------------------

static inline void fault_read_text(pid_t pid, uint64_t at, char *out, size_t size)
{
    out[0] = 0;
    for (size_t n = 0; n < size - 1;) { // not over the end of a page, behind which nothing may be
        const size_t page = 4096 - (at + n) % 4096,
                     more = page < size - 1 - n ? page : size - 1 - n;
        struct iovec to = { out + n, more }, from = { (void *) (at + n), more };
        if (process_vm_readv(pid, &to, 1, &from, 1, 0) <= 0)
            return;
        out[n + more] = 0;
        n += more;
        if (memchr(out + n - more, 0, more))
            return;
    }
}

static inline void fault_fd_path(pid_t pid, int fd, char out[PATH_MAX])
{
    char link[64];
    if (fd == AT_FDCWD)
        snprintf(link, sizeof(link), "/proc/%d/cwd", (int) pid);
    else
        snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int) pid, fd);
    const ssize_t n = readlink(link, out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = 0;
}

static inline bool fault_is_below(pid_t pid, const struct fault_call *c,
                                  const struct user_regs_struct *r, const char *root)
{
    char path[PATH_MAX], folder[PATH_MAX] = "";
    if (c->place == AT_FD) {
        fault_fd_path(pid, (int) r->rdi, path);
        return !strncmp(path, root, strlen(root));
    }
    fault_read_text(pid, c->place == AT_PATH ? r->rdi : r->rsi, path, sizeof(path));
    if (path[0] == '/')
        return !strncmp(path, root, strlen(root));
    fault_fd_path(pid, c->place == AT_PATH ? AT_FDCWD : (int) r->rdi, folder);
    return !strncmp(folder, root, strlen(root));
}

static inline bool fault_changes(pid_t pid, const struct fault_call *c,
                                 const struct user_regs_struct *r)
{
    uint64_t flags = c->nr == SYS_open ? r->rsi : r->rdx;
    if (c->nr == SYS_openat2) {
        struct iovec to = { &flags, sizeof(flags) }, from = { (void *) r->rdx, sizeof(flags) };
        if (process_vm_readv(pid, &to, 1, &from, 1, 0) <= 0)
            return false;
    } else if (c->nr != SYS_open && c->nr != SYS_openat) {
        return c->writes;
    }
    return flags & (O_CREAT | O_TRUNC);
}

// At a call: counts it, and does to it what f says.
static inline void fault_at_call(fault *f, pid_t main_pid, pid_t pid)
{
    struct user_regs_struct r;
    const struct fault_call *c = NULL;
    if (ptrace(PTRACE_GETREGS, pid, 0, &r))
        return; // it was killed meanwhile
    for (size_t i = 0; i < FAULT_CALLS && !c; i++)
        if (fault_calls[i].nr == (long) r.orig_rax)
            c = &fault_calls[i];
    if (!c || (f->writes_only && !fault_changes(pid, c, &r)) ||
        !fault_is_below(pid, c, &r, f->root) || ++f->calls != f->at)
        return;
    f->hit = c->name;
    if (f->kind == FAULT_KILL) {
        kill(main_pid, SIGKILL);
    } else if (f->kind == FAULT_ERROR) {
        r.orig_rax = (unsigned long long) -1;
        r.rax = (unsigned long long) -f->error;
        ptrace(PTRACE_SETREGS, pid, 0, &r);
    } else if (f->kind == FAULT_SHORT && c->can_be_short && r.rdx > 1) {
        r.rdx = r.rdx / 2;
        ptrace(PTRACE_SETREGS, pid, 0, &r);
    }
}

#ifdef COUNTS_BRANCHES // make coverage: what a process took that ends at once counts as well
void __gcov_dump(void);
#else
static inline void __gcov_dump(void) {}
#endif

// Runs act(priv) and returns its result, which is the exit status of its process; 128 + a signal
// that ended it. -1: tracing is not allowed here.
static inline int fault_run(fault *f, int (*act)(void *priv), void *priv)
{
    int status;
    f->calls = 0;
    f->hit = NULL;
    const pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            _exit(126);
        raise(SIGSTOP);
        fault_filter();
        const int end = act(priv);
        __gcov_dump();
        _exit(end);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSTOPPED(status))
        return -1;
    CHECK(!ptrace(PTRACE_SETOPTIONS, child, 0,
                  PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                      PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL));
    for (pid_t pid = child; pid > 0;) {
        int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
            fault_at_call(f, child, pid);
        if (sig == SIGTRAP || sig == SIGSTOP) // of the tracing itself
            sig = 0;
        ptrace(PTRACE_CONT, pid, 0, sig);
        pid = waitpid(-1, &status, __WALL);
        if (pid == child && (WIFEXITED(status) || WIFSIGNALED(status)))
            break;
    }
    const int end = status;
    for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) // what it had started
        if (WIFSTOPPED(status))
            ptrace(PTRACE_CONT, pid, 0, 0);
    return WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
}
#endif
