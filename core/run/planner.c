// The planner: a bounded search over what the ops of a graph's nodes leave to choose. It begins with
// what they do by themselves, changes one thing at a time while the predicted time of the whole run
// falls, and takes what changes the result only where that buys enough or where nothing else fits.
#include "core/run/planner.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define LOAD_RATE 1e9                     // bytes/s where the profile says nothing
#define FLOP_RATE 1e9                     // the same, of arithmetic: the reference has no peak
#define SAME 1e-3                         // times that differ by less are the same
#define WORTH 0.01                        // what needs more memory must gain that much
#define LEAST_TILE 64                     // pixels
#define STEPS 16                          // of an octave of budgets
#define HOPELESS 1.1                      // times as long as the best, an octave below it
#define TENTH ((uint64_t) (1 << 20) / 10) // of a mebibyte

typedef enum knob { TILE, EXACT, SPEND, ROWS, IMAGES, CHUNK, EVICT, NARROW, KNOBS } knob;

// ---- walks that were made: by budget and choices, a few hundred at most ------------------------

typedef struct walk_made {
    uint64_t budget;
    nino_status st;
    nino_choice *choice;
    nino_outcome out;
} walk_made;

typedef struct walked {
    walk_made *list;
    size_t n, cap;
} walked;

// *to keeps its own nodes.
static void copy_outcome(nino_outcome *to, const nino_outcome *from, int n_nodes)
{
    nino_node_plan *node = to->node;
    *to = *from;
    to->node = node;
    memcpy(node, from->node, (size_t) n_nodes * sizeof(*node));
}

static bool are_equal(const nino_choice *a, const nino_choice *b, int n)
{
    for (int i = 0; i < n; i++)
        if (!nino_choice_equal(&a[i], &b[i]))
            return false;
    return true;
}

static bool walked_find(const walked *w, int n_nodes, uint64_t budget, const nino_choice *choice,
                        nino_outcome *out, nino_status *st)
{
    for (size_t i = w->n; i-- > 0;)
        if (w->list[i].budget == budget && are_equal(w->list[i].choice, choice, n_nodes)) {
            copy_outcome(out, &w->list[i].out, n_nodes);
            *st = w->list[i].st;
            return true;
        }
    return false;
}

// Of what there is no memory for another walk will be made.
static void walked_add(walked *w, int n_nodes, uint64_t budget, const nino_choice *choice,
                       const nino_outcome *out, nino_status st)
{
    const size_t n = (size_t) n_nodes, cap = w->cap ? 2 * w->cap : 64;
    if (w->n == w->cap) {
        walk_made *more = realloc(w->list, cap * sizeof(*more));
        if (!more)
            return;
        w->list = more;
        w->cap = cap;
    }
    walk_made *k = &w->list[w->n];
    *k = (walk_made){ .budget = budget, .st = st };
    k->choice = malloc((n + 1) * sizeof(*k->choice));
    k->out.node = malloc((n + 1) * sizeof(*k->out.node));
    if (k->choice && k->out.node) {
        memcpy(k->choice, choice, n * sizeof(*k->choice));
        copy_outcome(&k->out, out, n_nodes);
        w->n++;
        return;
    }
    free(k->choice);
    free(k->out.node);
}

static void walked_release(walked *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->list[i].choice);
        free(w->list[i].out.node);
    }
    free(w->list);
    *w = (walked){ .n = 0 };
}

typedef struct search {
    const nino_walker *w;
    uint64_t budget;
    int walks; // within this budget
    nino_planned *p;
    nino_choice *trial;
    nino_outcome out;
    bool may_narrow; // 16-bit storage, where tiles would be the other way
    bool is_out;     // of the host's memory: what is searched for cannot be found
    int most_loss; // where all fits, a result does not depend on how fast this machine was measured to be
    double bound; // no way is cheaper, as charged; 0: not known yet
    walked seen;  // no walk is made twice: sweeps come back to where they were
} search;

double nino_planner_load_rate(const nino_profile *p)
{
    return p->load_rate > 0 ? p->load_rate : LOAD_RATE;
}

double nino_planner_cost(const nino_profile *p, const nino_outcome *o)
{
    const double s = p->peak_f32 > 0 ? o->seconds : o->flops / FLOP_RATE;
    return s + (double) o->load_bytes / nino_planner_load_rate(p);
}

double nino_planner_charged(int n_nodes, double seconds, const nino_outcome *o)
{
    bool is_tiled = false, is_narrow = false;
    for (int i = 0; i < n_nodes; i++) {
        is_tiled |= o->node[i].taken.is_tiled;
        is_narrow |= o->node[i].taken.is_narrow;
    }
    return seconds / (1 - (is_tiled ? NINO_PLAN_SEAM_GAIN : is_narrow ? NINO_PLAN_NARROW_GAIN : 0));
}

// As charged.
static double charge(const search *s, const nino_outcome *o)
{
    return nino_planner_charged(s->w->n_nodes, nino_planner_cost(s->w->profile, o), o);
}

static void take_outcome(search *s) { copy_outcome(&s->p->best, &s->out, s->w->n_nodes); }

// err: may be NULL; else the walk is made, for what it says.
static nino_status walk(search *s, uint64_t budget, const nino_choice *choice, nino_error *err)
{
    const int n = s->w->n_nodes;
    nino_status st;
    s->walks++;
    if (s->is_out)
        return NINO_ERR_NOMEM;
    if (!err && walked_find(&s->seen, n, budget, choice, &s->out, &st))
        return st;
    nino_node_plan *node = s->out.node;
    memset(node, 0, (size_t) n * sizeof(*node));
    s->out = (nino_outcome){ .node = node };
    s->p->walks++;
    st = s->w->walk(s->w->priv, budget, choice, &s->out, err);
    s->is_out = st == NINO_ERR_NOMEM && s->out.is_host;
    walked_add(&s->seen, n, budget, choice, &s->out, st);
    return st;
}

// ---- what there is to choose -------------------------------------------------------------------

static bool is_open(const search *s, const nino_node_plan *n, knob k)
{
    const nino_taken *t = &n->taken;
    if (n->is_fixed)
        return false;
    switch (k) {
    case TILE: return t->tile > 0 && !t->is_exact;
    case SPEND: return t->can_spend;
    case NARROW: return s->may_narrow && t->is_tiled;
    case EXACT: return t->can_be_exact;
    case ROWS: return t->rows_most > 1 && (t->rows < t->rows_most || n->evicted);
    case IMAGES: return t->images_most > 1;
    case CHUNK: return t->chunk_most > 1;
    case EVICT: return n->evicted > 0 && n->load_bytes > 0;
    case KNOBS: break;
    }
    return false;
}

// The i-th value to try for a knob of a node; false: there is no further one.
static bool candidate(const nino_node_plan *n, knob k, int i, nino_choice *c)
{
    const nino_taken *t = &n->taken;
    static const int eighths[] = { 6, 4 };
    switch (k) {
    case TILE:
        if (i > 1)
            return false;
        c->tile = t->tile * eighths[i] / 8;
        return c->tile >= LEAST_TILE;
    case EXACT: c->is_exact = true; return i == 0;
    case SPEND: c->spends = true; return i == 0;
    case NARROW: c->is_narrow = true; return i == 0;
    case ROWS: // all, a half, a third ...
        c->rows = t->rows_most / (i + 1);
        return c->rows >= 1 && i < 4;
    case IMAGES:
        c->images = 2 << i < t->images_most ? 2 << i : t->images_most;
        return i < 4 && (i == 0 || 1 << i < t->images_most);
    case CHUNK:
        c->chunk = 2 << i < t->chunk_most ? 2 << i : t->chunk_most;
        return i < 4 && (i == 0 || 1 << i < t->chunk_most);
    case EVICT:
        c->evict = c->evict == NINO_EVICT_OLDEST ? NINO_EVICT_NEWEST : NINO_EVICT_OLDEST;
        return i == 0;
    case KNOBS: break;
    }
    return false;
}

// ---- the search --------------------------------------------------------------------------------

static void keep_trial(search *s)
{
    s->p->cost = nino_planner_cost(s->w->profile, &s->out);
    s->p->fits = true;
    take_outcome(s);
    memcpy(s->p->choice, s->trial, (size_t) s->w->n_nodes * sizeof(*s->trial));
}

// Walks the trial; it becomes the best if it is cheaper, or loses less at the same price.
static bool try_it(search *s, double worth)
{
    nino_planned *p = s->p;
    if (s->walks >= NINO_PLAN_WALKS || walk(s, s->budget, s->trial, NULL))
        return false;
    const double now = charge(s, &s->out), before = p->fits ? charge(s, &p->best) : INFINITY;
    const bool is_cheaper = now < before * (1 - worth);
    const bool is_same = now <= before * (1 + SAME);
    if (!is_cheaper && !(is_same && nino_planner_loss_of(s->w->n_nodes, &s->out) <
                                        nino_planner_loss_of(s->w->n_nodes, &p->best)))
        return false;
    keep_trial(s);
    return true;
}

// All values of one knob; those that need more memory step by step are given up with the first that
// gains nothing.
static bool turn_knob(search *s, int node, knob k)
{
    const bool is_ladder = k == IMAGES || k == CHUNK;
    const nino_node_plan at = s->p->best.node[node];
    const nino_choice before = s->p->choice[node];
    bool changed = false;
    for (int i = 0; is_open(s, &at, k); i++) {
        nino_choice c = before;
        if (!candidate(&at, k, i, &c))
            break;
        memcpy(s->trial, s->p->choice, (size_t) s->w->n_nodes * sizeof(*s->trial));
        if (nino_choice_equal(&c, &s->trial[node]))
            continue;
        s->trial[node] = c;
        if (try_it(s, is_ladder ? WORTH : SAME))
            changed = true;
        else if (is_ladder)
            break;
    }
    return changed;
}

static bool sweep(search *s)
{
    bool changed = false;
    for (int i = 0; i < s->w->n_nodes; i++)
        for (knob k = 0; k < KNOBS; k++)
            if (is_open(s, &s->p->best.node[i], k) && turn_knob(s, i, k))
                changed = true;
    return changed;
}

// The least that ops can do with: in tiles (way 0) or bands (1), in 16 bits where that may be chosen.
static void set_lean(search *s, int way)
{
    for (int i = 0; i < s->w->n_nodes; i++)
        s->trial[i] = (nino_choice){ .is_narrow = s->may_narrow, .is_exact = way };
}

// Nodes that say nothing of it need not be in 16 bits, if it fits then.
static void narrow_where_it_acts(search *s)
{
    for (int i = 0; i < s->w->n_nodes; i++) {
        s->trial[i] = s->p->choice[i];
        s->trial[i].is_narrow &= s->p->best.node[i].taken.is_narrow;
    }
    if (!walk(s, s->budget, s->trial, NULL))
        keep_trial(s);
}

// Where nothing fits: the least, then back to what it was where that fits after all and 16 bits do not
// buy enough.
static bool try_lean(search *s)
{
    bool fits = false;
    for (int way = 0; way < 2 && !fits; way++) {
        set_lean(s, way);
        fits = try_it(s, SAME);
    }
    if (!fits)
        return false;
    narrow_where_it_acts(s);
    for (int way = 0; way < 2; way++) { // all in 32 bits: a few at a time need not be worth it
        for (int i = 0; i < s->w->n_nodes; i++) {
            s->trial[i] = s->p->choice[i];
            s->trial[i].is_narrow = false;
            s->trial[i].is_exact |= way;
        }
        try_it(s, SAME);
    }
    for (int i = 0; i < s->w->n_nodes; i++) {
        if (!s->p->choice[i].is_narrow)
            continue;
        memcpy(s->trial, s->p->choice, (size_t) s->w->n_nodes * sizeof(*s->trial));
        s->trial[i].is_narrow = false;
        try_it(s, SAME);
    }
    return true;
}

static bool is_pressed(const search *s)
{
    bool yes = false;
    for (int i = 0; i < s->w->n_nodes; i++) {
        const nino_node_plan *n = &s->p->best.node[i];
        yes |=
            n->evicted || n->taken.tile || n->taken.is_exact || n->taken.rows < n->taken.rows_most;
    }
    return yes;
}

static bool planned_init(nino_planned *p, int n_nodes)
{
    const size_t n = (size_t) n_nodes + 1;
    *p = (nino_planned){ .n_nodes = n_nodes };
    p->choice = calloc(n, sizeof(*p->choice));
    p->free_load = calloc(n, sizeof(*p->free_load));
    p->best.node = calloc(n, sizeof(*p->best.node));
    if (p->choice && p->free_load && p->best.node)
        return true;
    nino_planned_release(p);
    return false;
}

// Within s->budget. NINO_ERR_NOMEM: nothing fits.
static nino_status search_budget(search *s, nino_error *err)
{
    nino_planned *p = s->p;
    s->walks = 0;
    p->cost = INFINITY;
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): s->p is the caller's, which releases it
    const nino_status st = walk(s, s->budget, p->choice, err);
    if (st == NINO_OK) {
        p->cost = p->plain_cost = nino_planner_cost(s->w->profile, &s->out);
        p->fits = true;
        take_outcome(s);
    } else if (st != NINO_ERR_NOMEM || !s->budget || !try_lean(s)) {
        return st;
    }
    p->budget = s->budget;
    p->is_pressed = s->budget && is_pressed(s);
    for (int i = 0; i < 3 && sweep(s); i++) {
    }
    return NINO_OK;
}

static bool is_better(const search *s, const nino_planned *a, const nino_planned *b)
{
    if (!a->fits || !b->fits)
        return a->fits;
    const int n = s->w->n_nodes;
    const double one = charge(s, &a->best), other = charge(s, &b->best);
    if (nino_planner_loss_of(n, &a->best) > s->most_loss)
        return false;
    return one < other * (1 - SAME) ||
           (one <= other * (1 + SAME) &&
            nino_planner_loss_of(n, &a->best) < nino_planner_loss_of(n, &b->best));
}

// Steps of an octave; the same for every budget, so that a larger one finds all that a smaller one does.
static uint64_t step_at(double at) { return (uint64_t) exp2(at / STEPS); }

static uint64_t step_below(uint64_t budget, int i)
{
    return step_at(floor(log2((double) budget) * STEPS) - i);
}

// What was found for it, all but the number of walks.
static void copy_planned(nino_planned *to, const nino_planned *from)
{
    memcpy(to->choice, from->choice, (size_t) from->n_nodes * sizeof(*to->choice));
    copy_outcome(&to->best, &from->best, from->n_nodes);
    to->cost = from->cost;
    to->budget = from->budget;
    to->fits = to->is_pressed = true;
}

// A whole search within s->budget; it becomes the best if it is better. What it costs as charged; INFINITY:
// nothing fits.
static double search_as_well(search *s, nino_planned *best)
{
    nino_planned p;
    if (s->is_out || !planned_init(&p, s->w->n_nodes)) {
        s->is_out = true;
        return INFINITY;
    }
    s->p = &p;
    const bool fits = search_budget(s, NULL) == NINO_OK;
    const double cost = fits ? charge(s, &p.best) : INFINITY;
    s->p = best;
    best->walks += p.walks;
    if (fits && is_better(s, &p, best))
        copy_planned(best, &p);
    nino_planned_release(&p);
    return cost;
}

// What no way costs less than, as charged: all memory there is, in 16 bits where that may be chosen.
static double find_bound(search *s)
{
    nino_planned *best = s->p, p;
    const uint64_t budget = s->budget;
    const size_t n = (size_t) s->w->n_nodes;
    double bound = INFINITY;
    if (s->is_out || !planned_init(&p, s->w->n_nodes)) {
        s->is_out = true;
        return 0;
    }
    s->p = &p;
    s->budget = 0;
    if (search_budget(s, NULL) == NINO_OK)
        bound = charge(s, &p.best);
    for (int way = 1; way < (s->may_narrow ? 4 : 2);
         way++) { // few conditionings at once may be faster, too
        memcpy(s->trial, p.choice, n * sizeof(*s->trial));
        for (size_t i = 0; i < n; i++) {
            s->trial[i].is_narrow = way > 1;
            s->trial[i].rows = way % 2 ? 1 : s->trial[i].rows;
        }
        if (!walk(s, 0, s->trial, NULL))
            bound = fmin(bound, nino_planner_cost(s->w->profile, &s->out) /
                                    (way > 1 ? 1 - NINO_PLAN_NARROW_GAIN : 1));
    }
    s->p = best;
    s->budget = budget;
    best->walks += p.walks;
    nino_planned_release(&p);
    return isfinite(bound) ? bound : 0;
}

// Whether what was found is as good as anything could be.
static bool is_at_bound(const search *s) { return charge(s, &s->p->best) <= s->bound * (1 + SAME); }

// Budgets at and below this one, to which a run could keep as well, down to where nothing is to be gained. How many
// steps below it one is too small; -1: none was.
static int search_below(search *s)
{
    nino_planned *best = s->p;
    const uint64_t budget = s->budget;
    const double at = floor(log2((double) budget) * STEPS);
    double least = INFINITY;
    for (int i = 0, last = 0;; i++) {
        s->budget = step_at(at - i);
        const double now = search_as_well(s, best);
        s->budget = budget;
        if (!isfinite(now))
            return i;
        if (now < least * (1 - SAME))
            last = i;
        least = fmin(least, now);
        if (is_at_bound(s))
            return -1;
        if (i - last >= STEPS && now > least * HOPELESS)
            return -1;
    }
}

// ---- the least budget --------------------------------------------------------------------------

// Whether it fits at all: with as little as ops can do with, in tiles or in bands.
static nino_status lean_walk(search *s, uint64_t budget, nino_error *err)
{
    nino_status st = NINO_ERR_NOMEM;
    for (int way = 0; way < 2 && st; way++) {
        set_lean(s, way);
        st = walk(s, budget, s->trial, err);
    }
    return st;
}

// Between lo, which is too little, and hi, which is enough: to the mebibyte, of little to 16 KiB.
static uint64_t narrow_down(search *s, uint64_t lo, uint64_t hi, char *node, size_t size)
{
    nino_error e = { .code = NINO_OK };
    while (hi - lo > (hi > 64 << 20 ? 1 << 20 : 1 << 14)) {
        const uint64_t mid = lo + (hi - lo) / 2;
        const nino_status st = lean_walk(s, mid, &e);
        if (st)
            snprintf(node, size, "%.*s", (int) strcspn(e.where, ":"), e.where);
        *(st ? &lo : &hi) = mid;
    }
    return hi;
}

static uint64_t search_least(search *s, char *node, size_t size)
{
    nino_error e = { .code = NINO_OK };
    uint64_t lo = 0, hi;
    if (lean_walk(s, 0, &e))
        return 0; // memory is not what it lacks
    for (hi = s->out.peak + TENTH; lean_walk(s, hi, &e) && hi < UINT64_MAX / 2; hi += hi / 2) {
        lo = hi;
        snprintf(node, size, "%.*s", (int) strcspn(e.where, ":"), e.where);
    }
    hi = narrow_down(s, lo, hi, node, size);
    // Memory comes in pieces: now and then a little less is enough where more was not.
    for (int i = 1; i <= 6; i++) {
        const uint64_t less = step_below(hi, i);
        if (!lean_walk(s, less, NULL)) {
            hi = narrow_down(s, step_below(hi, i + 1), less, node, size);
            i = 0;
        }
    }
    return hi;
}

// ---- all of it ---------------------------------------------------------------------------------

// Near the least budget: it is a step as well, and so are those above it, of which one, `from` steps below this
// budget, is too small; below it, it is what is missing.
static void search_least_as_well(search *s, int from)
{
    nino_planned *p = s->p;
    const uint64_t budget = s->budget;
    const uint64_t least = search_least(s, p->least_node, sizeof(p->least_node));
    if (least > budget) {
        p->least = (least + TENTH - 1) / TENTH * TENTH; // as it is printed
    } else if (least) {
        s->budget = least;
        search_as_well(s, p);
        for (int i = from + 1; step_below(budget, i) > least; i++) {
            s->budget = step_below(budget, i);
            search_as_well(s, p);
        }
        s->budget = budget;
    }
}

// Where the budget makes no difference, what there is to choose beside. Else within the steps at and below it: more
// memory never costs more, as charged. What is found where the host's memory ran out on the way is another plan.
static nino_status search_within(search *s, nino_error *err)
{
    nino_planned *p = s->p;
    const nino_status st = walk(s, s->budget, p->choice, &p->err);
    double plain = INFINITY;
    if (st && (st != NINO_ERR_NOMEM || !s->budget || s->is_out)) {
        if (err)
            *err = p->err;
        return st;
    }
    if (st == NINO_OK) {
        take_outcome(s);
        plain = p->cost = p->plain_cost = nino_planner_cost(s->w->profile, &p->best);
        p->is_pressed = s->budget && is_pressed(s);
    }
    if (st == NINO_OK && !p->is_pressed) {
        p->fits = true;
        p->budget = s->budget;
        s->most_loss = nino_planner_loss_of(s->w->n_nodes, &p->best);
        s->may_narrow = false;
        for (int i = 0; i < 3 && sweep(s); i++) {
        }
        if (!s->budget || p->walks == 1) // without a limit; nothing to choose
            return NINO_OK;
    }
    s->bound = find_bound(s);
    if (p->fits && is_at_bound(s))
        return NINO_OK;
    const int small = search_below(s);
    if (small >= 0)
        search_least_as_well(s, small);
    if (!p->fits && st == NINO_OK) // it is the least itself
        search_as_well(s, p);
    p->plain_cost = isfinite(plain) ? plain : p->cost;
    if (p->fits && walk(s, 0, p->choice, NULL) == NINO_OK)
        p->free_cost = nino_planner_cost(s->w->profile, &s->out);
    for (int i = 0; i < s->w->n_nodes && p->free_cost > 0; i++)
        p->free_load[i] = s->out.node[i].load_bytes;
    return NINO_OK;
}

static nino_status search_all(search *s, nino_error *err)
{
    const nino_status st = search_within(s, err);
    return st == NINO_OK && s->is_out ? nino_fail(err, NINO_ERR_NOMEM, "plan", "out of memory")
                                      : st;
}

nino_status nino_planner_choose(const nino_walker *w, uint64_t budget, nino_planned *out,
                                nino_error *err)
{
    const size_t n = (size_t) w->n_nodes + 1;
    search s = {
        .w = w, .budget = budget, .p = out, .may_narrow = w->may_narrow, .most_loss = INT_MAX
    };
    s.trial = calloc(n, sizeof(*s.trial));
    s.out.node = calloc(n, sizeof(*s.out.node));
    nino_status st = NINO_ERR_NOMEM;
    if (planned_init(out, w->n_nodes) && s.trial && s.out.node)
        st = search_all(&s, err);
    else
        nino_fail(err, st, "plan", "out of memory");
    free(s.trial);
    free(s.out.node);
    walked_release(&s.seen);
    if (st)
        nino_planned_release(out);
    return st;
}

bool nino_planned_copy(nino_planned *to, const nino_planned *from)
{
    const size_t n = (size_t) from->n_nodes;
    nino_planned copy;
    if (!planned_init(&copy, from->n_nodes))
        return false;
    nino_planned all = *from; // but what it owns
    all.choice = copy.choice;
    all.free_load = copy.free_load;
    all.best.node = copy.best.node;
    memcpy(all.choice, from->choice, n * sizeof(*all.choice));
    memcpy(all.free_load, from->free_load, n * sizeof(*all.free_load));
    memcpy(all.best.node, from->best.node, n * sizeof(*all.best.node));
    *to = all;
    return true;
}

void nino_planned_release(nino_planned *p)
{
    free(p->choice);
    free(p->free_load);
    free(p->best.node);
    *p = (nino_planned){ .fits = false };
}

bool nino_planned_changes(const nino_planned *p)
{
    static const nino_choice none;
    bool yes = false;
    for (int i = 0; i < p->n_nodes; i++)
        yes |= !nino_choice_equal(&p->choice[i], &none);
    return yes;
}
