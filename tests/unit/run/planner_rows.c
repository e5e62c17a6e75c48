// What the planner chooses for graphs that are made up, within budgets from plenty to too little: ways that were
// walked, what was taken for each node, the times and the words, the least that would be enough.
// tests/data/recorded/planner.txt records what it chooses today, see tests/unit/recorded.h. Beside it, of every
// row: of the order in which weights go, and whether they do, none else is better for one node alone, and of plans
// that lose alike the one with more memory never costs more.
#include "core/run/planner.h"
#include "core/base/error.h"
#include "tests/unit/recorded.h"

#define MIB ((uint64_t) 1 << 20)
enum { NODES = 4, GRAPHS = 24, ROOM = 20, WHY_ROOM = 60 };

// One node: bytes of weights and of maps, how often it goes over its weights, what it can do with less.
typedef struct made_node {
    uint64_t weights, whole, band;
    int passes, rows, images, chunk, tile;
    double seconds, tile_seconds, band_seconds, row_gain, image_gain, chunk_gain, narrow_gain;
    int ladder;                            // pictures or frames more than one that gain something
    bool can_be_exact, is_fixed, has_gaps; // has_gaps: of its room a third is of no use to it
} made_node;

typedef struct made {
    int n;
    made_node node[NODES];
    uint32_t state;
} made;

static unsigned draw(made *m, unsigned n)
{
    m->state = m->state * 1664525 + 1013904223;
    return (m->state >> 8) % n;
}

static made make(uint32_t seed)
{
    made m = { .state = seed * 7919 + 1 };
    m.n = 1 + (int) draw(&m, NODES);
    for (int i = 0; i < m.n; i++) {
        made_node *n = &m.node[i];
        n->weights = (uint64_t) draw(&m, 900) * MIB / 4;
        n->whole = (uint64_t) (20 + draw(&m, 400)) * MIB / 2;
        n->band = n->whole / (2 + draw(&m, 4));
        n->passes = draw(&m, 2) ? 1 : 2 + (int) draw(&m, 12);
        n->rows = draw(&m, 3) ? 0 : 2 + (int) draw(&m, 5);
        n->images = draw(&m, 3) ? 0 : 2 + (int) draw(&m, 20);
        n->chunk = draw(&m, 3) ? 0 : 2 + (int) draw(&m, 20);
        n->tile = draw(&m, 3) ? 1024 : 0;
        n->seconds = 0.5 + draw(&m, 100) / 25.0;
        n->tile_seconds = draw(&m, 60) / 50.0;
        n->band_seconds = draw(&m, 200) / 50.0;
        n->row_gain = (double) draw(&m, 50) / 1000;
        n->image_gain = (double) draw(&m, 50) / 1000;
        n->chunk_gain = (double) draw(&m, 50) / 1000;
        n->narrow_gain = (double) draw(&m, 30) / 100;
        n->can_be_exact = draw(&m, 2);
        n->is_fixed = draw(&m, 8) == 0;
        n->ladder = draw(&m, 2) ? 3 : 30;
        n->has_gaps = draw(&m, 2);
    }
    return m;
}

// Room that a node's maps get is what weights of others and its own need not have; of weights that do not fit
// some come again at each pass.
static bool do_node(const made_node *n, uint64_t budget, const nino_choice *c, nino_outcome *out,
                    nino_node_plan *to)
{
    const int half = c->is_narrow ? 2 : 1, all = n->rows > 1 ? n->rows : 1;
    const int rows_now = n->rows > 1 && c->rows && c->rows < all ? c->rows : all;
    const int images = n->images > 1 && c->images > 1 ? c->images : 1;
    const int chunk = n->chunk > 1 && c->chunk > 1 ? c->chunk : 1;
    uint64_t maps = n->whole / (uint64_t) half * (uint64_t) rows_now / (uint64_t) all;
    double s = n->seconds * (c->is_narrow ? 1 - n->narrow_gain : 1);
    maps += maps / 8 * (uint64_t) (images + chunk - 2);
    to->is_fixed = n->is_fixed;
    budget -= n->has_gaps ? budget / 3 : 0;
    to->taken = (nino_taken){ .rows = n->rows ? rows_now : 0,
                              .rows_most = n->rows,
                              .images = n->images ? images : 0,
                              .images_most = n->images,
                              .chunk = n->chunk ? chunk : 0,
                              .chunk_most = n->chunk,
                              .is_narrow = c->is_narrow };
    s *= 1 + n->row_gain * (all - rows_now);
    s /= 1 + n->image_gain * (images > n->ladder ? n->ladder : images - 1) +
         n->chunk_gain * (chunk > n->ladder ? n->ladder : chunk - 1);
    if (budget && maps > budget && n->tile) {
        int tile = c->tile && c->tile < n->tile ? c->tile : n->tile;
        const bool is_exact = c->is_exact && n->can_be_exact;
        while (tile > 32 && maps / 1024 * (uint64_t) tile / (is_exact ? 1 : 2) > budget)
            tile = tile * 3 / 4;
        maps = maps / 1024 * (uint64_t) tile / (is_exact ? 1 : 2);
        s += (is_exact ? n->band_seconds : n->tile_seconds + 3.0 * abs(tile - 400) / 1024) *
             (c->spends ? 0.7 : 1);
        to->taken.tile = tile;
        to->taken.tile_most = n->tile;
        to->taken.is_exact = is_exact;
        to->taken.is_tiled = !is_exact;
        to->taken.can_be_exact = !is_exact && n->can_be_exact;
        to->taken.can_spend = !c->spends;
    }
    if (budget && maps > budget)
        return false;
    const uint64_t room = budget ? budget - maps : UINT64_MAX;
    const uint64_t missing = n->weights > room ? n->weights - room : 0;
    to->load_bytes = n->weights;
    if (missing) {
        to->evicted = missing;
        to->load_bytes +=
            (uint64_t) (n->passes - 1) * (c->evict == NINO_EVICT_NEWEST ? missing : n->weights);
    }
    if (missing > n->weights / 8 * 7) // a layer at least
        return false;
    out->seconds += s;
    out->load_bytes += to->load_bytes;
    if (maps + n->weights > out->peak)
        out->peak = maps + n->weights;
    return true;
}

static nino_status walk(void *priv, uint64_t budget, const nino_choice *c, nino_outcome *out,
                        nino_error *err)
{
    const made *m = priv;
    for (int i = 0; i < m->n; i++)
        if (!do_node(&m->node[i], budget, &c[i], out, &out->node[i])) {
            char where[40];
            snprintf(where, sizeof(where), "%d Node: device memory", i + 3);
            return nino_fail_kind(err, NINO_ERR_NOMEM, "budget", where, "too little");
        }
    out->flops = out->seconds * 2e9;
    return NINO_OK;
}

static void describe(const nino_planned *p, char *text, size_t size)
{
    char words[300], why[300];
    nino_planner_why(p, why, sizeof(why));
    snprintf(text, size, "%s%s, %d walks, within %llu, ~%.7g ~%.7g ~%.7g s, least %llu %s, %s, %s",
             p->fits ? "fits" : "does not fit", p->is_pressed ? " pressed" : "", p->walks,
             (unsigned long long) p->budget, p->cost, p->plain_cost, p->free_cost,
             (unsigned long long) p->least, p->least_node, nino_planner_loss(p),
             p->fits ? why : "");
    for (int i = 0; i < p->n_nodes; i++) {
        const nino_choice *c = &p->choice[i];
        nino_planner_what(p, i, words, sizeof(words));
        snprintf(text + strlen(text), size - strlen(text), "; %d %d %d %d %d%d%d%d %s", c->tile,
                 c->rows, c->images, c->chunk, c->is_exact, c->spends, c->is_narrow,
                 c->evict == NINO_EVICT_NEWEST, words);
    }
}

// ---- what has to hold -----------------------------------------------------------------------------

static double charged(const made *m, uint64_t budget, const nino_choice *c, const nino_profile *p,
                      int *loss)
{
    nino_node_plan node[NODES] = { { .is_fixed = false } };
    nino_outcome out = { .node = node };
    if (walk((void *) m, budget, c, &out, NULL))
        return INFINITY;
    *loss = nino_planner_loss_of(m->n, &out);
    return nino_planner_charged(m->n, nino_planner_cost(p, &out), &out);
}

// One thing at a time, within the budget that was taken.
static void check_alone(const made *m, const nino_planned *p, const nino_profile *profile)
{
    int loss = 0, other = 0;
    const double best = charged(m, p->budget, p->choice, profile, &loss);
    CHECK(isfinite(best));
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < 3; k++) {
            nino_choice c[NODES];
            if (m->node[i].is_fixed)
                continue;
            memcpy(c, p->choice, sizeof(*c) * (size_t) m->n);
            if (k == 0)
                c[i].is_exact = true;
            if (k == 1)
                c[i].spends = true;
            if (k == 2)
                c[i].evict =
                    c[i].evict == NINO_EVICT_NEWEST ? NINO_EVICT_OLDEST : NINO_EVICT_NEWEST;
            CHECK(charged(m, p->budget, c, profile, &other) >= best * (1 - 3e-3) || k == 0);
        }
}

static void check(uint32_t seed, bool may_narrow, const nino_profile *profile)
{
    static const int eighths[] = { 0, 40, 16, 10, 8, 7, 6, 5, 4, 3, 2, 1 };
    made m = make(seed);
    uint64_t sum = 0;
    double before = 0;
    int loss_before = -1;
    for (int i = 0; i < m.n; i++)
        sum = m.node[i].weights + m.node[i].whole > sum ? m.node[i].weights + m.node[i].whole : sum;
    const nino_walker w = {
        .walk = walk, .priv = &m, .profile = profile, .n_nodes = m.n, .may_narrow = may_narrow
    };
    for (size_t i = 0; i < sizeof(eighths) / sizeof(eighths[0]); i++) {
        const uint64_t budget = sum / 16 * (uint64_t) eighths[i] * 2;
        char text[3000];
        nino_planned p;
        nino_error err = { .code = NINO_OK };
        CHECK_OK(nino_planner_choose(&w, budget, &p, &err), err);
        describe(&p, text, sizeof(text));
        record_row("%u%s of %llu: %s", seed, may_narrow ? ", narrow" : "",
                   (unsigned long long) budget, text);
        if (p.fits) {
            const double now = nino_planner_charged(m.n, p.cost, &p.best);
            const int loss = nino_planner_loss_of(m.n, &p.best);
            CHECK(loss != loss_before || now >= before * (1 - 3e-3));
            check_alone(&m, &p, profile);
            before = now;
            loss_before = loss;
        }
        nino_planned_release(&p);
    }
}

// What was chosen in words, every part of it, of numbers at their limits.
static void check_words(void)
{
    nino_node_plan node[1] = { { .load_bytes = 5 } };
    nino_choice choice[1] = { { .rows = 0 } };
    uint64_t load[1] = { 0 };
    nino_planned p = {
        .choice = choice, .free_load = load, .best = { .node = node }, .n_nodes = 1
    };
    char text[400], small[400];
    static const nino_taken all[] = {
        { .tile = 64, .tile_most = 128, .is_tiled = true },
        { .tile = 24, .is_exact = true },
        { .rows = 1, .rows_most = 1 },
        { .rows = 2, .rows_most = 2 },
        { .rows = 1, .rows_most = 2 },
        { .images = 1, .images_most = 5 },
        { .images = 2, .images_most = 5 },
        { .chunk = 1, .chunk_most = 3 },
        { .chunk = 2, .chunk_most = 3 },
        { .is_narrow = true },
        { .units = 7, .others = 2, .other_bytes = 3 << 19 },
        { .tile = 1, .is_tiled = true, .is_narrow = true, .chunk = 9 },
    };
    static const uint64_t loads[] = { 0,
                                      64 << 10,
                                      (64 << 10) + 1,
                                      1000 << 20,
                                      ((uint64_t) 1 << 30) - 1,
                                      (uint64_t) 1 << 30,
                                      (uint64_t) 7 << 29 };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int k = 0; k < 2; k++) {
            node[0].taken = all[i];
            choice[0].rows = k;
            const bool is_some = nino_planner_what(&p, 0, text, sizeof(text));
            CHECK(is_some == (*text != 0));
            memset(small, 'z', sizeof(small)); // into less room: as much of it
            CHECK(nino_planner_what(&p, 0, small, ROOM) == is_some && small[ROOM] == 'z');
            CHECK(!strncmp(small, text, ROOM - 1) && strlen(small) < ROOM);
            record_row("words %d %d: %s | %s | %d", (int) i, k, text, nino_planner_loss(&p),
                       nino_planner_loss_of(1, &p.best));
        }
    node[0].taken = all[2];
    choice[0].rows = 0;
    for (size_t i = 0; i < 2 * sizeof(loads) / sizeof(loads[0]); i++) {
        node[0].evicted = i % 3 != 1;
        node[0].load_bytes = loads[i / 2] + 100;
        load[0] = 100;
        choice[0].evict = i % 2 ? NINO_EVICT_NEWEST : NINO_EVICT_OLDEST;
        nino_planner_what(&p, 0, text, sizeof(text));
        record_row("weights %d: %s", (int) i, text);
    }
    static const double seconds[][3] = {
        { 1, 0, 0 },        { 1, 1.0009, 0 }, { 1, 1.0012, 0 },
        { 1, INFINITY, 2 }, { 1, 2, 0.5 },    { 1234.5, 0, 1e-9 }
    };
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
        p.walks = (int) i;
        p.cost = seconds[i][0];
        p.plain_cost = seconds[i][1];
        p.free_cost = seconds[i][2];
        nino_planner_why(&p, text, sizeof(text));
        memset(small, 'z', sizeof(small));
        nino_planner_why(&p, small, WHY_ROOM);
        CHECK(small[WHY_ROOM] == 'z' && !strncmp(small, text, WHY_ROOM - 1));
        record_row("why: %s", text);
    }
}

int main(void)
{
    nino_profile profile = nino_profile_ref;
    CHECK(nino_planner_load_rate(&profile) == 1e9);
    profile.load_rate = 4e8;
    for (uint32_t k = 0; k < GRAPHS; k++) {
        profile.peak_f32 = k % 4 ? 1 : 0; // else by arithmetic
        profile.load_rate = k % 5 ? 4e8 : 0;
        check(k, k % 2, &profile);
    }
    check_words();
    recorded_check("planner.txt");
    return 0;
}
