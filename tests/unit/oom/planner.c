// Every allocation of the planner fails once: it says so, or that nothing fits, and keeps nothing.
#include "core/run/planner.h"
#include "tests/oom.h"

// A node that needs 64 MiB, or 16 MiB in tiles.
static nino_status walk(void *priv, uint64_t budget, const nino_choice *c, nino_outcome *out,
                        nino_error *err)
{
    (void) priv;
    (void) c;
    out->seconds = 1;
    out->flops = 1e9;
    out->peak = (uint64_t) 64 << 20;
    if (budget && budget < (uint64_t) 16 << 20)
        return nino_fail(err, NINO_ERR_NOMEM, "1 VAEDecode: device memory", "too little");
    if (budget && budget < out->peak)
        out->node[1].taken = (nino_taken){ .tile = 256, .tile_most = 1024, .is_tiled = true };
    return NINO_OK;
}

static void scenario(int may_fail)
{
    nino_error err = { 0 };
    nino_planned p, copy = { 0 };
    const nino_walker w = { .walk = walk, .profile = &nino_profile_ref, .n_nodes = 2 };
    const nino_status st = nino_planner_choose(&w, (uint64_t) 32 << 20, &p, &err);
    if (oom_passed(st, &err, may_fail) && !st) {
        CHECK(p.best.node[1].taken.tile == 256 && (p.fits || oom.fired));
        if (nino_planned_copy(&copy, &p))
            CHECK(copy.best.node[1].taken.tile == 256 && copy.n_nodes == 2);
        else
            CHECK(may_fail);
        nino_planned_release(&copy);
    }
    if (!st)
        nino_planned_release(&p);
}

int main(void)
{
    printf("  %ld allocations\n", oom_each(scenario));
    return 0;
}
