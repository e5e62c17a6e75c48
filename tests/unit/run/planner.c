// The planner on walks that are made up: what it tries, what it takes and what it says, and budgets
// that are too small. The same over real networks: plan_runs.c.
#include "core/run/planner.h"
#include "core/base/error.h"
#include "tests/test.h"

#include <math.h>

// A sampler (node 0) whose weights are `weights`, and a decode (node 1) that needs `whole` or tiles.
typedef struct made {
    uint64_t weights, whole;
    int n;                // walks
    double images_gain;   // of two pictures at once, of the seconds
    uint64_t fits_not_at; // a budget that is refused though less would do
    bool needs_narrow;    // the sampler in 16 bits, though it does not say that it took them
    double bands;         // seconds that they take; 0: 1. Tiles take 3
    double saved;         // seconds that the decode saves in 16 bits; 0: it is never asked for them
    int out_at;           // the walk for which the host has no memory; 0: none
    struct {
        uint64_t budget;
        nino_choice choice[2];
    } seen[600];
} made;

// No walk is made twice.
static void check_new(made *m, uint64_t budget, const nino_choice *c, bool is_asked)
{
    CHECK(m->n < 600);
    for (int i = 0; i < m->n && !is_asked; i++)
        CHECK(m->seen[i].budget != budget || !nino_choice_equal(&m->seen[i].choice[0], &c[0]) ||
              !nino_choice_equal(&m->seen[i].choice[1], &c[1]));
    m->seen[m->n].budget = budget;
    memcpy(m->seen[m->n++].choice, c, 2 * sizeof(*c));
}

static nino_status walk(void *priv, uint64_t budget, const nino_choice *c, nino_outcome *out,
                        nino_error *err)
{
    made *m = priv;
    const uint64_t small = m->whole / 8;
    check_new(m, budget, c, err != NULL); // with err it is made again, for what it says
    if (m->n == m->out_at) {
        out->is_host = true;
        return nino_fail(err, NINO_ERR_NOMEM, "8 VAEDecode", "no host memory for a tile");
    }
    out->seconds = 10;
    out->flops = 10e9;
    out->load_bytes = m->weights;
    out->peak = m->weights + m->whole;
    nino_node_plan *sampler = &out->node[0], *decode = &out->node[1];
    sampler->taken = (nino_taken){ .rows = 2, .rows_most = 2 };
    sampler->load_bytes = m->weights;
    const bool is_wide = m->needs_narrow && !c[0].is_narrow;
    if (budget && (budget < small + m->weights / 4 || budget == m->fits_not_at || is_wide))
        return nino_fail(err, NINO_ERR_NOMEM, "8 VAEDecode: device memory", "too little");
    if (budget && budget < m->weights) { // steps go over the weights ten times
        const uint64_t missing = m->weights - budget;
        sampler->evicted = missing;
        sampler->load_bytes += c[0].evict == NINO_EVICT_NEWEST ? 9 * missing : 9 * m->weights;
        if (c[0].rows != 2 && c[0].rows)
            out->seconds += 5;
    }
    const bool is_half = m->saved > 0 && c[1].is_narrow;
    if (budget && budget < m->whole && !is_half) {
        decode->taken = (nino_taken){ .tile = 256,
                                      .tile_most = 1024,
                                      .is_tiled = !c[1].is_exact,
                                      .is_exact = c[1].is_exact,
                                      .can_be_exact = !c[1].is_exact,
                                      .is_narrow = c[1].is_narrow };
        out->seconds += !c[1].is_exact ? 3 : m->bands > 0 ? m->bands : 1;
        if (c[1].tile && c[1].tile < 256)
            out->seconds += 2;
    } else if (m->images_gain > 0) {
        decode->taken = (nino_taken){ .images = c[1].images ? c[1].images : 1, .images_most = 4 };
        out->seconds -= m->images_gain * (decode->taken.images - 1);
    }
    decode->taken.is_narrow |= is_half;
    out->seconds -= is_half ? m->saved : 0;
    out->load_bytes = sampler->load_bytes;
    return NINO_OK;
}

static nino_planned plan(made *m, uint64_t budget)
{
    static nino_profile profile;
    nino_error err = { 0 };
    nino_planned p;
    profile = nino_profile_ref;
    profile.peak_f32 = 1;
    profile.load_rate = 1e9;
    const nino_walker w = { .walk = walk,
                            .priv = m,
                            .profile = &profile,
                            .n_nodes = 2,
                            .may_narrow = m->needs_narrow || m->saved > 0 };
    const nino_status st = nino_planner_choose(&w, budget, &p, &err);
    if (m->out_at) {
        CHECK(st == NINO_ERR_NOMEM && strstr(err.msg, "memory") && !p.choice);
        return p;
    }
    CHECK_OK(st, err);
    CHECK(p.walks == m->n);
    return p;
}

static void check_room(void)
{
    made m = { .weights = 1 << 30, .whole = 1 << 30 };
    nino_planned p = plan(&m, (uint64_t) 8 << 30);
    char what[200];
    CHECK(p.fits && !p.is_pressed && !nino_planned_changes(&p) && m.n == 1);
    CHECK(p.free_cost == 0 && fabs(p.cost - 10 - 1.0737) < 1e-3);
    CHECK(!nino_planner_what(&p, 0, what, sizeof(what)) &&
          !nino_planner_what(&p, 1, what, sizeof(what)));
    CHECK_STR(nino_planner_loss(&p), "nothing");
    nino_planned_release(&p);
}

static void check_batch(void)
{
    char what[200];
    made m = { .weights = 1 << 20, .whole = 1 << 20, .images_gain = 1 };
    nino_planned p = plan(&m, 0);
    CHECK(p.choice[1].images == 4 && fabs(p.cost - 7 - 0.001) < 1e-3 && p.plain_cost > 9);
    CHECK(nino_planner_what(&p, 1, what, sizeof(what)));
    CHECK_STR(what, "4 of 4 pictures at once");
    nino_planned_release(&p);
    m = (made){ .weights = 1 << 20, .whole = 1 << 20, .images_gain = 0.05 }; // not worth the memory
    p = plan(&m, 0);
    CHECK(!p.choice[1].images && m.n == 2);
    nino_planned_release(&p);
}

// Where all fits, nothing that changes the result: what it would save is a forecast of this machine.
static void check_same_result(void)
{
    made m = { .weights = 1 << 20, .whole = 1 << 30, .images_gain = 0.05, .bands = 9, .saved = 8 };
    nino_planned p = plan(&m, (uint64_t) 2 << 30);
    CHECK(p.fits && p.cost > 9);
    CHECK_STR(nino_planner_loss(&p), "nothing");
    nino_planned_release(&p);
    m.n = 0;
    p = plan(&m, (1 << 30) - 1);
    CHECK(p.fits && p.cost < 3 && p.best.node[1].taken.is_narrow);
    nino_planned_release(&p);
}

static void check_pressed(void)
{
    char what[200], why[200];
    made m = { .weights = 1 << 30, .whole = 1 << 30 };
    nino_planned p = plan(&m, 640 << 20);
    CHECK(p.fits && p.is_pressed && p.budget <= 640 << 20);
    CHECK(p.choice[0].evict == NINO_EVICT_NEWEST && p.choice[1].is_exact);
    CHECK(p.cost < p.plain_cost && p.free_cost < p.cost);
    CHECK_STR(nino_planner_loss(&p), "rounding");
    CHECK(nino_planner_what(&p, 0, what, sizeof(what)));
    CHECK(strstr(what, "of weights read again, those used last make room"));
    CHECK(nino_planner_what(&p, 1, what, sizeof(what)));
    CHECK_STR(what, "exact bands of 256 rows");
    nino_planner_why(&p, why, sizeof(why));
    CHECK(strstr(why, "least predicted time of ") && strstr(why, " s without choosing, ") &&
          strstr(why, " s without a budget"));
    nino_planned_release(&p);
}

static nino_planned within(uint64_t budget)
{
    made m = { .weights = 1 << 30, .whole = 1 << 30, .fits_not_at = 494 << 20 };
    return plan(&m, budget);
}

// From step to step more memory never takes longer, nor does what lies between them.
static void check_monotone(void)
{
    double before = INFINITY;
    for (int k = 0; k < 24; k++) {
        const uint64_t step = (uint64_t) exp2(28.625 + k / 8.0);
        nino_planned p = within(step);
        CHECK(p.fits && p.cost <= before * (1 + 1e-3));
        before = p.cost;
        nino_planned_release(&p);
        p = within(step + step / 20);
        CHECK(p.fits && p.cost <= before * (1 + 1e-3));
        nino_planned_release(&p);
    }
}

static void check_least(void)
{
    made m = { .weights = 1 << 30, .whole = 1 << 30 };
    nino_planned p = plan(&m, 100 << 20);
    const double least = 128 + 256; // small + weights / 4
    CHECK(!p.fits && fabs((double) p.least / 0x1p20 - least) <= 1.1 && p.least >= 384 << 20);
    CHECK_STR(p.least_node, "8 VAEDecode");
    const uint64_t enough = p.least;
    nino_planned_release(&p);
    m.n = 0;
    p = plan(&m, enough); // the run with it
    CHECK(p.fits);
    nino_planned_release(&p);
}

// What fits only so is not undone because a node does not say that it took it.
static void check_narrow(void)
{
    made m = { .weights = 1 << 30, .whole = 1 << 30, .needs_narrow = true };
    nino_planned p = plan(&m, (uint64_t) 3 << 29);
    CHECK(p.fits && p.choice[0].is_narrow);
    CHECK(walk(&m, p.budget, p.choice, &p.best, &p.err) == NINO_OK);
    nino_planned_release(&p);
}

// Tiles instead of bands, which lose nothing: only where they save more than a loss has to.
static void check_worth(void)
{
    for (int k = 0; k < 2; k++) {
        made m = { .weights = 1 << 20, .whole = 1 << 30, .bands = k ? 8 : 7 }; // of 13 s in tiles
        nino_planned p = plan(&m, 640 << 20);
        CHECK(p.fits && fabs(p.cost - (k ? 13 : 17)) < 0.01);
        CHECK_STR(nino_planner_loss(&p), k ? "tiles are blended" : "rounding");
        nino_planned_release(&p);
    }
    nino_node_plan node[2] = { { .is_fixed = true }, { .is_fixed = true } };
    const nino_outcome o = { .node = node };
    CHECK(fabs(nino_planner_charged(2, 19, &o) - 19) < 1e-9);
    node[0].taken.is_narrow = true;
    node[1].taken.is_narrow = true; // the picture is rounded already
    CHECK(fabs(nino_planner_charged(2, 19, &o) - 20) < 1e-9);
    node[1].taken.is_tiled = true;
    CHECK(fabs(nino_planner_charged(2, 300, &o) - 400) < 1e-9);
}

// Whichever walk the host has no memory for: that is what is said, not that it does not fit.
static void check_host(void)
{
    made m = { .weights = 1 << 30, .whole = 1 << 30 };
    nino_planned p = plan(&m, 100 << 20);
    const int n = m.n;
    nino_planned_release(&p);
    for (int k = 1; k <= n; k++) {
        m = (made){ .weights = 1 << 30, .whole = 1 << 30, .out_at = k };
        p = plan(&m, 100 << 20);
        nino_planned_release(&p);
    }
}

int main(void)
{
    check_worth();
    check_host();
    check_narrow();
    check_room();
    check_batch();
    check_same_result();
    check_pressed();
    check_monotone();
    check_least();
    return 0;
}
