// A process is killed at every system call that changes a file: what is there afterwards is the old
// state or the new one, never half of one, and the next start works and tidies up.
#include "tests/fault/scene.h"
#include "tests/figure.h"

static long all;

// False: tracing is not allowed here.
static bool sweep(const scene *s)
{
    long n_old = 0, n_new = 0;
    fault f = { .root = scene_root, .writes_only = true, .kind = FAULT_KILL };
    for (f.at = 1;; f.at++) {
        scene_clear();
        CHECK(apart(s->prepare) == ACT_OK);
        const int end = fault_run(&f, s->act, NULL);
        if (end < 0)
            return false;
        if (!f.hit) // behind the last one
            break;
        snprintf(scene_now, sizeof(scene_now), "%s killed at call %ld, %s\n", s->name, f.at, f.hit);
        CHECK(end == 128 + SIGKILL);
        const int found = apart(s->look);
        CHECK(found == IS_OLD || found == IS_NEW);
        *(found == IS_NEW ? &n_new : &n_old) += 1;
        CHECK(apart(s->act) == ACT_OK); // the next start, over what is left
        CHECK(scene_count_parts() == 0);
        scene_now[0] = 0;
    }
    CHECK(apart(s->look) == IS_NEW && n_old > 0);
    printf("%s: killed at %ld calls: %ld times as before, %ld times done, never torn\n", s->name,
           f.at - 1, n_old, n_new);
    all += f.at - 1;
    return true;
}

int main(void)
{
    scene_begin();
    for (int i = 0; i < N_SCENES; i++)
        if (!sweep(&scenes[i])) {
            printf("skip: tracing is not allowed here\n");
            return 77;
        }
    figure_add("what writes files killed at a call that writes", "none torn", true, "%ld", all);
    return 0;
}
