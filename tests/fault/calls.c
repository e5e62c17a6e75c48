// Every system call on files fails once, in every way that a disk, a full table of descriptors or a
// signal makes it fail, or does less than it was asked: what was tried succeeds or says in one line
// why not, leaves the old state or the new one and no half file, and works the next time.
#include "tests/fault/scene.h"
#include "tests/figure.h"

static const struct {
    const char *name;
    fault_kind kind;
    int error;
} ways[] = {
    { "EIO", FAULT_ERROR, EIO },      { "EMFILE", FAULT_ERROR, EMFILE },
    { "half of it", FAULT_SHORT, 0 }, { "ENOSPC", FAULT_ERROR, ENOSPC },
    { "EINTR", FAULT_ERROR, EINTR },  { "EACCES", FAULT_ERROR, EACCES },
};
enum { N_SHORT = 3, N_WAYS = sizeof(ways) / sizeof(ways[0]) };

static long all_ok, all_refused;

static void judge(const scene *s, const fault *f, int end)
{
    CHECK(end == ACT_OK || (end == ACT_REFUSED && f->kind != FAULT_SHORT));
    const bool is_tidy = scene_count_parts() == 0;
    const int found = apart(s->look);
    CHECK(found == IS_OLD || found == IS_NEW);
    CHECK(found == IS_NEW || end == ACT_REFUSED || s->is_spare);
    CHECK(is_tidy || !strncmp(f->hit, "unlink", 6)); // which was to tidy up
    CHECK(apart(s->act) == ACT_OK);
    CHECK(apart(s->look) == IS_NEW || s->goes_on);
}

// False: tracing is not allowed here.
static bool sweep(const scene *s, int way)
{
    long n_ok = 0, n_refused = 0;
    fault f = { .root = scene_root, .kind = ways[way].kind, .error = ways[way].error };
    for (f.at = 1;; f.at++) {
        scene_clear();
        CHECK(apart(s->prepare) == ACT_OK);
        const int end = fault_run(&f, s->act, NULL);
        if (end < 0)
            return false;
        if (!f.hit)
            break;
        snprintf(scene_now, sizeof(scene_now), "%s: call %ld, %s: %s, ended with %d\n", s->name,
                 f.at, f.hit, ways[way].name, end);
        judge(s, &f, end);
        scene_now[0] = 0;
        *(end == ACT_OK ? &n_ok : &n_refused) += 1;
    }
    printf("%s, %s: %ld calls, %ld times done, %ld times refused\n", s->name, ways[way].name,
           f.at - 1, n_ok, n_refused);
    all_ok += n_ok;
    all_refused += n_refused;
    return true;
}

int main(void)
{
    const char *is_long = getenv("NINODES_TEST_LONG");
    const int n_ways = is_long && *is_long ? N_WAYS : N_SHORT;
    scene_begin();
    for (int i = 0; i < N_SCENES; i++)
        for (int way = 0; way < n_ways; way++)
            if (!sweep(&scenes[i], way)) {
                printf("skip: tracing is not allowed here\n");
                return 77;
            }
    figure_add("system calls that fail in what writes files", "none wrong", true,
               "%ld: %ld times done, %ld times refused in a line", all_ok + all_refused, all_ok,
               all_refused);
    return 0;
}
