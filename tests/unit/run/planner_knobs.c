// Which values the planner tries for each thing that there is to choose, up to where it goes when each gains something,
// and how often it goes over all nodes; what is copied of a plan; and plans at the very least of a budget.
#include "core/run/planner.h"
#include "core/base/error.h"
#include "tests/test.h"

#include <math.h>

#define MIB ((uint64_t) 1 << 20)
#define PEAK (100 * MIB)
enum { NODES = 4, MOST_WALKS = 2000 };

typedef enum made_knob { TILES, ROW, PICTURES, FRAMES, CHAIN, TEMPTING } made_knob;

// Nodes of which `at` can do with less of one thing, down or up to `limit`, which saves time each.
typedef struct made {
    made_knob knob;
    int most, at;
    bool is_pressed, is_fixed;
    uint64_t least; // budget that is needed
    double seconds; // of all; 0: 100
    int walks;
    uint64_t budget[MOST_WALKS];
} made;

static int chosen(int c, int most) { return c && c < most ? c : most; }

// Tiles, rows: the smaller the quicker; pictures and frames at once: the more the quicker.
static double do_knob(const made *m, const nino_choice *c, nino_taken *t)
{
    switch (m->knob) {
    case TILES:
        *t = (nino_taken){ .tile = chosen(c->tile, m->most),
                           .tile_most = m->most,
                           .is_exact = false };
        return 0.1 * t->tile / m->most;
    case ROW:
        *t = (nino_taken){ .rows = chosen(c->rows, m->most), .rows_most = m->most };
        return 0.9 * t->rows / m->most;
    case PICTURES:
        *t = (nino_taken){ .images = c->images ? c->images : 1, .images_most = m->most };
        return 1 - 0.03 * t->images;
    case FRAMES:
        *t = (nino_taken){ .chunk = c->chunk ? c->chunk : 1, .chunk_most = m->most };
        return 1 - 0.03 * t->chunk;
    case TEMPTING: // set by the walk: what it can do with less is tiles, which are quick
    case CHAIN: break;
    }
    return 0;
}

static nino_status walk(void *priv, uint64_t budget, const nino_choice *c, nino_outcome *out,
                        nino_error *err)
{
    made *m = priv;
    CHECK(m->walks < MOST_WALKS);
    m->budget[m->walks++] = budget;
    out->peak = PEAK;
    if (m->least == UINT64_MAX || (budget && budget < m->least))
        return nino_fail(err, NINO_ERR_NOMEM, "7 KSampler: device memory", "too little");
    out->seconds = m->seconds > 0 ? m->seconds : 100;
    for (int i = 0; i < NODES; i++) {
        nino_node_plan *n = &out->node[i];
        n->evicted = m->is_pressed && budget;
        n->is_fixed = m->is_fixed;
        if (m->knob == CHAIN) { // a node gains something once the one behind it has
            n->taken = (nino_taken){ .images = c[i].images ? c[i].images : 1, .images_most = 2 };
            if (c[i].images == 2 && (i + 1 == NODES || c[i + 1].images == 2))
                out->seconds -= 5;
        } else if (m->knob == TEMPTING && i == m->at) {
            n->taken = (nino_taken){ .chunk = c[i].chunk ? c[i].chunk : 1, .chunk_most = 2 };
            if (budget && budget < PEAK)
                n->taken = (nino_taken){ .tile = 128, .tile_most = 512, .is_tiled = true };
            out->seconds -= n->taken.is_tiled ? 50 : !budget && c[i].chunk == 2 ? 60 : 0;
        } else if (i == m->at) {
            out->seconds += 100 * do_knob(m, &c[i], &n->taken);
        }
    }
    out->flops = out->seconds * 1e9;
    return NINO_OK;
}

static nino_planned plan(made *m, uint64_t budget)
{
    static nino_profile profile;
    nino_error err = { .code = NINO_OK };
    nino_planned p;
    profile = nino_profile_ref;
    profile.peak_f32 = 1;
    const nino_walker w = { .walk = walk, .priv = m, .profile = &profile, .n_nodes = NODES };
    CHECK_OK(nino_planner_choose(&w, budget, &p, &err), err);
    return p;
}

static nino_choice choose(made_knob knob, int most, int at, bool is_pressed)
{
    made m = { .knob = knob, .most = most, .at = at, .is_pressed = is_pressed, .least = PEAK / 2 };
    nino_planned p = plan(&m, is_pressed ? PEAK - MIB : 0);
    const nino_choice c = p.choice[at];
    for (int i = 0; i < NODES; i++)
        CHECK(i == at || nino_choice_equal(&p.choice[i], &(nino_choice){ .tile = 0 }));
    nino_planned_release(&p);
    m.is_fixed = true; // nothing is chosen for it
    p = plan(&m, is_pressed ? PEAK - MIB : 0);
    CHECK(!nino_planned_changes(&p));
    nino_planned_release(&p);
    return c;
}

static void check_values(void)
{
    static const int many[][2] = { { 1, 0 },   { 2, 2 },   { 3, 3 },   { 4, 4 },   { 5, 5 },
                                   { 15, 15 }, { 16, 16 }, { 17, 16 }, { 33, 16 }, { 40, 16 } };
    // Three quarters or a half at a time, three times, as long as they have 64 pixels.
    static const int tiles[][2] = { { 64, 0 },   { 85, 0 },     { 86, 64 },   { 126, 70 },
                                    { 127, 71 }, { 128, 64 },   { 192, 72 },  { 256, 64 },
                                    { 512, 64 }, { 1024, 128 }, { 2048, 256 } };
    // All, a half, a third, a quarter.
    static const int rows[][2] = { { 1, 0 }, { 2, 1 }, { 3, 1 }, { 4, 1 },
                                   { 5, 1 }, { 8, 2 }, { 12, 3 } };
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++)
        for (int at = 0; at < NODES; at += NODES - 1) {
            CHECK(choose(PICTURES, many[i][0], at, false).images == many[i][1]);
            CHECK(choose(FRAMES, many[i][0], at, false).chunk == many[i][1]);
            CHECK(choose(PICTURES, many[i][0], at, true).images == many[i][1]);
        }
    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
        CHECK(choose(TILES, tiles[i][0], 1, true).tile == tiles[i][1]);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        CHECK(choose(ROW, rows[i][0], 2, true).rows == rows[i][1]);
}

// Three times over all nodes, with and without a budget that makes a difference.
static void check_sweeps(void)
{
    for (int k = 0; k < 2; k++) {
        made m = { .knob = CHAIN, .is_pressed = k, .least = PEAK / 2 };
        nino_planned p = plan(&m, k ? PEAK - MIB : 0);
        CHECK(p.fits && p.is_pressed == k && fabs(p.cost - 85) < 1e-9);
        for (int i = 0; i < NODES; i++)
            CHECK(p.choice[i].images == (i ? 2 : 0));
        nino_planned_release(&p);
    }
}

// A budget that is enough by itself while every step below it is too little.
static void check_itself(void)
{
    for (int k = 0; k < 3; k++) {
        const uint64_t least = 77 * MIB + (uint64_t) k * 12345;
        made m = { .knob = FRAMES, .most = 1, .is_pressed = true, .least = least };
        nino_planned p = plan(&m, least);
        CHECK(p.fits && p.is_pressed && p.budget == least && p.walks == m.walks);
        nino_planned_release(&p);
        m.walks = 0;
        p = plan(&m, least - 1);
        CHECK(!p.fits && p.least >= least && p.least <= least + MIB + MIB / 10 && !p.free_cost);
        CHECK_STR(p.least_node, "7 KSampler");
        for (int i = 0; i < NODES; i++)
            CHECK(!p.free_load[i]);
        nino_planned_release(&p);
    }
}

// More than all that is in use at once: half as much again each time, from a tenth of a mebibyte above that.
static void check_grown(void)
{
    made m = { .knob = FRAMES, .most = 1, .least = 5 * PEAK };
    nino_planned p = plan(&m, PEAK / 2);
    uint64_t want = PEAK + MIB / 10;
    CHECK(!p.fits && p.least >= m.least && p.least <= m.least + MIB + MIB / 10);
    for (int i = 0; i < m.walks && want < m.least; i++)
        if (m.budget[i] == want)
            want += want / 2;
    CHECK(want >= m.least && want < m.least * 3 / 2);
    for (int i = 0; i < m.walks; i++)
        CHECK(m.budget[i] <= want);
    nino_planned_release(&p);
}

// Of a run that takes less than a second as well.
static void check_short(void)
{
    made m = { .knob = CHAIN, .is_pressed = true, .least = PEAK / 2, .seconds = 20.25 };
    nino_planned p = plan(&m, PEAK - MIB);
    CHECK(p.fits && fabs(p.cost - 5.25) < 1e-9 && fabs(p.plain_cost - 20.25) < 1e-9);
    CHECK(fabs(p.free_cost - 5.25) < 1e-9);
    nino_planned_release(&p);
}

// Where all fits no result that differs is taken, however quick; where it does not, that is.
static void check_tempting(void)
{
    made m = { .knob = TEMPTING, .at = 1, .least = PEAK / 2 };
    nino_planned p = plan(&m, 2 * PEAK);
    CHECK(p.fits && !p.is_pressed && fabs(p.cost - 100) < 1e-9 && m.walks > 3);
    CHECK_STR(nino_planner_loss(&p), "nothing");
    nino_planned_release(&p);
    m.walks = 0;
    p = plan(&m, PEAK - MIB);
    CHECK(p.fits && p.is_pressed && fabs(p.cost - 50) < 1e-9);
    CHECK_STR(nino_planner_loss(&p), "tiles are blended");
    nino_planned_release(&p);
}

// A budget makes a difference where weights come again, where it is done in tiles, in bands, or with fewer rows.
static nino_status walk_one(void *priv, uint64_t budget, const nino_choice *c, nino_outcome *out,
                            nino_error *err)
{
    (void) c;
    (void) err;
    if (budget)
        out->node[1] = *(const nino_node_plan *) priv;
    out->peak = PEAK;
    out->seconds = 1;
    out->flops = 1e9;
    return NINO_OK;
}

static void check_pressed(void)
{
    static const struct {
        nino_node_plan n;
        bool is_pressed;
    } cases[] = {
        { { .evicted = 0 }, false },
        { { .evicted = 1 }, true },
        { { .taken = { .tile = 64, .tile_most = 64 } }, true },
        { { .taken = { .is_exact = true } }, true },
        { { .taken = { .rows = 1, .rows_most = 2 } }, true },
        { { .taken = { .rows = 2, .rows_most = 2 } }, false },
        { { .taken = { .images = 1, .images_most = 2 } }, false },
        { { .taken = { .is_narrow = true } }, false },
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        nino_node_plan n = cases[i / 2].n;
        nino_error err = { .code = NINO_OK };
        nino_planned p;
        const nino_walker w = {
            .walk = walk_one, .priv = &n, .profile = &nino_profile_ref, .n_nodes = 2
        };
        CHECK_OK(nino_planner_choose(&w, i % 2 ? PEAK : 0, &p, &err), err);
        CHECK(p.fits && p.is_pressed == (i % 2 && cases[i / 2].is_pressed));
        CHECK(p.budget == (i % 2 ? p.budget : 0) && p.budget <= PEAK);
        nino_planned_release(&p);
    }
}

// What no budget cures: no least is told, and none is tried below the first step.
static void check_hopeless(void)
{
    made m = { .knob = FRAMES, .most = 1, .least = UINT64_MAX };
    nino_planned p = plan(&m, PEAK);
    CHECK(!p.fits && !p.least && !*p.least_node && p.walks == m.walks);
    for (int i = 0; i < m.walks; i++)
        CHECK(!m.budget[i] || m.budget[i] > PEAK / 20 * 19);
    nino_planned_release(&p);
    // The only budget that is too little is the first one that is tried: whose it was is known all the same.
    m = (made){ .knob = FRAMES, .most = 1, .least = PEAK + MIB / 10 + 1 };
    p = plan(&m, PEAK / 2);
    CHECK(!p.fits && p.least >= m.least && p.least <= m.least + MIB + MIB / 10);
    CHECK_STR(p.least_node, "7 KSampler");
    nino_planned_release(&p);
}

static void check_copy(void)
{
    enum { N = 3 };
    nino_choice choice[N + 1] = { { .tile = 1 }, { .rows = 2 }, { .images = 3 }, { .chunk = 4 } };
    uint64_t load[N] = { 5, 6, 7 };
    nino_node_plan node[N] = { { .load_bytes = 8 }, { .evicted = 9 }, { .is_fixed = true } };
    const nino_planned p = { .choice = choice,
                             .free_load = load,
                             .best = { .node = node, .peak = 10 },
                             .n_nodes = N,
                             .cost = 11,
                             .walks = 12,
                             .least_node = "13" };
    nino_planned q = { .fits = false };
    CHECK(nino_planned_copy(&q, &p));
    CHECK(q.choice != choice && q.free_load != load && q.best.node != node);
    CHECK(q.n_nodes == N && q.cost == 11 && q.walks == 12 && q.best.peak == 10);
    CHECK_STR(q.least_node, "13");
    for (int i = 0; i < N; i++) {
        CHECK(nino_choice_equal(&q.choice[i], &choice[i]) && q.free_load[i] == load[i]);
        CHECK(q.best.node[i].load_bytes == node[i].load_bytes &&
              q.best.node[i].evicted == node[i].evicted &&
              q.best.node[i].is_fixed == node[i].is_fixed);
    }
    CHECK(nino_planned_changes(&q));
    for (int i = 0; i < N; i++) { // one alone is enough, and what is behind them is none
        memset(q.choice, 0, N * sizeof(*q.choice));
        CHECK(!nino_planned_changes(&q));
        q.choice[i] = choice[i];
        CHECK(nino_planned_changes(&q));
    }
    nino_planned_release(&q);
    CHECK(!q.choice && !q.free_load && !q.best.node && !q.n_nodes);
    memset(choice, 0, N * sizeof(*choice));
    CHECK(!nino_planned_changes(&p) && choice[N].chunk == 4);
}

int main(void)
{
    check_values();
    check_sweeps();
    check_itself();
    check_grown();
    check_short();
    check_tempting();
    check_pressed();
    check_hopeless();
    check_copy();
    return 0;
}
