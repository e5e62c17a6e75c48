// The inputs of a fuzz target with memory running out: every allocation fails once, and from there on.
// A target insists (CHECK) on much that cannot be had without memory. Its checks may fail then and end
// that try, with two exceptions: what says that a refusal has a reason, and an error that is another
// than "out of memory". Where the target goes on to its end, all that was allocated must be freed.
#include "core/base/buf.h"
#include "tests/fuzz/shortage.h"
#include "tests/unit/oom/arena.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sys/syscall.h>

static jmp_buf gave_up;
static int is_trying;
static long
    kept; // allocations that the target keeps from one input to the next, and what ended tries left
static FILE *said, *real_stderr;
static char said_text[2048];

void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) __attribute__((noreturn));

// A buffer grows seldom; of what is added to it one thing in ADDED may be what it has to grow for.
enum { ADDED = 13 };
static long added;
void __real_nino_buf_add(nino_buf *b, const void *p, size_t n);
void __real_nino_buf_adds(nino_buf *b, const char *s);
void __real_nino_buf_addc(nino_buf *b, char c);
void __wrap_nino_buf_add(nino_buf *b, const void *p, size_t n);
void __wrap_nino_buf_adds(nino_buf *b, const char *s);
void __wrap_nino_buf_addc(nino_buf *b, char c);

static bool can_grow(nino_buf *b)
{
    if (__atomic_add_fetch(&added, 1, __ATOMIC_RELAXED) % ADDED == 0 && oom_fails())
        b->failed = true;
    return !b->failed;
}

void __wrap_nino_buf_add(nino_buf *b, const void *p, size_t n)
{
    if (can_grow(b))
        __real_nino_buf_add(b, p, n);
}
void __wrap_nino_buf_adds(nino_buf *b, const char *s)
{
    if (can_grow(b))
        __real_nino_buf_adds(b, s);
}
void __wrap_nino_buf_addc(nino_buf *b, char c)
{
    if (can_grow(b))
        __real_nino_buf_addc(b, c);
}

// What a try that ended early leaves behind is no leak of the parser.
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

long shortage_live(void) { return oom.live; }

// Whether a failed check, from what it said, is one that a lack of memory excuses.
static int is_excused(void)
{
    const int is_call = strstr(said_text, "err): ") || strstr(said_text, "err.code: "); // CHECK_OK
    return oom.fired && !strstr(said_text, ".msg[0]") && (!is_call || strstr(said_text, "memory"));
}

void __wrap_exit(int status)
{
    if (!is_trying)
        __real_exit(status);
    fflush(said);
    if (!is_excused()) {
        stderr = real_stderr;
        fprintf(stderr, "allocation %ld%s fails: %s", oom.at, oom.sticky ? " and on" : "",
                said_text);
        is_trying = 0;
        __real_exit(status);
    }
    longjmp(gave_up, 1);
}

// One try; false where the target gave up.
static int try_once(int (*run)(const uint8_t *, size_t), const uint8_t *data, size_t len, long at,
                    int sticky)
{
    const int first_fd = dup(STDOUT_FILENO);
    CHECK(first_fd >= 0 && !close(first_fd));
    rewind(said);
    memset(said_text, 0, sizeof(said_text));
    oom.at = at;
    oom.sticky = sticky;
    oom.calls = oom.fired = 0;
    added = 0;
    is_trying = 1;
    const int went_on = !setjmp(gave_up);
    if (went_on)
        run(data, len);
    is_trying = 0;
    oom.at = 0;
    if (!went_on) {
        kept = oom.live;
        syscall(SYS_close_range, first_fd, ~0u, 0); // files that it had open
    } else if (oom.live > kept) {
        stderr = real_stderr;
        fprintf(stderr, "allocation %ld%s fails: %ld not freed\n", at, sticky ? " and on" : "",
                oom.live - kept);
        exit(1);
    }
    return went_on;
}

long shortage_try(int (*run)(const uint8_t *data, size_t len), const uint8_t *data, size_t len,
                  long most, long first, long *refused)
{
    long n = 0;
    if (__lsan_disable)
        __lsan_disable();
    said = fmemopen(said_text, sizeof(said_text), "w");
    CHECK(said);
    real_stderr = stderr;
    stderr = said;
    run(data, len); // what it makes once, it keeps
    kept = oom.live;
    CHECK(try_once(run, data, len, 0, 0));
    const long all = oom.calls, step = 2 * all > most ? (2 * all + most - 1) / most : 1;
    for (long k = first % step; k < 2 * all; k += step, n++)
        *refused += !try_once(run, data, len, k / 2 + 1, k % 2);
    stderr = real_stderr;
    fclose(said);
    if (__lsan_enable)
        __lsan_enable();
    return n;
}
