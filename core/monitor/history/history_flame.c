// Call paths of a history: the time of a range by scope and kernel, equal paths merged.
#include "core/monitor/history/history_priv.h"

#include "core/base/error.h"

typedef struct tree_node {
    nino_flame f;
    int32_t child, sibling; // -1: none
} tree_node;

typedef struct tree {
    const nino_history *h;
    tree_node *node;
    size_t n, cap;
    int32_t first;    // of the roots
    int32_t *of_span; // -1: not yet
    bool failed;
} tree;

// The child of `parent` (-1: a root) with this name, kind and family (a product is also what convolutions launch), made when
// new; -1: out of memory.
static int32_t child_of(tree *t, int32_t parent, uint32_t name, uint8_t kind, uint32_t family)
{
    const uint8_t of = (uint8_t) nino_history_family_of(t->h, family);
    int32_t i = parent < 0 || !t->node ? t->first : t->node[parent].child;
    while (i >= 0 &&
           (t->node[i].f.name != name || t->node[i].f.kind != kind || t->node[i].f.family != of))
        i = t->node[i].sibling;
    if (i >= 0)
        return i;
    if (t->n >= INT32_MAX ||
        !history_reserve((void **) &t->node, &t->cap, t->n, sizeof(*t->node))) {
        t->failed = true;
        return -1;
    }
    i = (int32_t) t->n++;
    int32_t *head = parent < 0 ? &t->first : &t->node[parent].child;
    t->node[i] =
        (tree_node){ .f = { .name = name,
                            .parent = parent,
                            .depth = (uint16_t) (parent < 0 ? 0 : t->node[parent].f.depth + 1),
                            .kind = kind,
                            .family = of },
                     .child = -1,
                     .sibling = *head };
    *head = i;
    return i;
}

static int32_t node_of_span(tree *t, int32_t span)
{
    if (span < 0 || t->failed)
        return -1;
    if (t->of_span[span] >= 0)
        return t->of_span[span];
    const nino_span *s = &t->h->span[span];
    const int32_t i = child_of(t, node_of_span(t, s->parent), s->name, s->kind, 0);
    if (i >= 0)
        t->node[i].f.calls++;
    t->of_span[span] = i;
    return i;
}

static void add_slices(tree *t, const history_list *l, uint64_t t0, uint64_t t1)
{
    const size_t end = nino_history_lower(l->ev, l->n, t1);
    for (size_t i = nino_history_lower(l->ev, l->n, t0); i < end && !t->failed; i++) {
        const nino_event *e = &l->ev[i];
        const int32_t scope = node_of_span(t, nino_history_span_of(t->h, e->parent));
        const int32_t leaf = child_of(t, scope, e->name, e->kind, e->u.kernel.family);
        if (leaf < 0)
            return;
        t->node[leaf].f.ns += e->u.kernel.dur_ns;
        t->node[leaf].f.calls++;
    }
}

static void add_spans(tree *t, uint64_t t0, uint64_t t1)
{
    for (size_t i = 0; i < t->h->n_spans && !t->failed; i++) {
        const nino_span *s = &t->h->span[i];
        const uint64_t end = s->end_ns ? s->end_ns : t->h->end_ns;
        const uint64_t from = s->begin_ns > t0 ? s->begin_ns : t0, to = end < t1 ? end : t1;
        if (from >= to)
            continue;
        const int32_t k = node_of_span(t, (int32_t) i);
        if (k >= 0)
            t->node[k].f.ns += to - from;
    }
}

typedef struct key {
    uint64_t ns;
    int32_t node;
} key;

static int longer_first(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

// Writes the children of tree node `from` (-1: the roots) behind each other, longest first. `keys`
// has room for all nodes; tree_of[] gets the tree node of each one written.
static void put_children(const tree *t, int32_t from, int32_t parent, nino_flame *out, size_t *n,
                         key *keys, int32_t *tree_of)
{
    size_t n_keys = 0;
    for (int32_t i = from < 0 ? t->first : t->node[from].child; i >= 0; i = t->node[i].sibling)
        if (t->node[i].f.ns)
            keys[n_keys++] = (key){ t->node[i].f.ns, i };
    qsort(keys, n_keys, sizeof(*keys), longer_first);
    for (size_t k = 0; k < n_keys; k++) {
        out[*n] = t->node[keys[k].node].f;
        out[*n].parent = parent;
        tree_of[(*n)++] = keys[k].node;
    }
}

// The tree level by level: parents before children.
static nino_status history_flame_write_out(const tree *t, nino_flame **out, size_t *n,
                                           nino_error *err)
{
    nino_flame *f = malloc((t->n + 1) * sizeof(*f));
    key *keys = malloc((t->n + 1) * sizeof(*keys));
    int32_t *tree_of = malloc((t->n + 1) * sizeof(*tree_of));
    size_t m = 0;
    if (f && keys && tree_of) {
        put_children(t, -1, -1, f, &m, keys, tree_of);
        for (size_t i = 0; i < m; i++)
            put_children(t, tree_of[i], (int32_t) i, f, &m, keys, tree_of);
    }
    const bool ok = f && keys && tree_of;
    free(keys);
    free(tree_of);
    if (!ok) {
        free(f);
        return nino_fail(err, NINO_ERR_NOMEM, "call paths", "out of memory");
    }
    *out = f;
    *n = m;
    return NINO_OK;
}

nino_status nino_history_flame(const nino_history *h, uint64_t t0, uint64_t t1, bool on_device,
                               nino_flame **out, size_t *n, nino_error *err)
{
    tree t = { .h = h, .first = -1, .of_span = malloc((h->n_spans + 1) * sizeof(*t.of_span)) };
    if (!t.of_span)
        return nino_fail(err, NINO_ERR_NOMEM, "call paths", "out of memory");
    for (size_t i = 0; i < h->n_spans; i++)
        t.of_span[i] = -1;
    if (on_device)
        for (size_t i = 0; i < h->n_tracks; i++)
            add_slices(&t, &h->track[i]->slices, t0, t1);
    else
        add_spans(&t, t0, t1);
    nino_status st;
    if (t.failed) {
        st = nino_fail(err, NINO_ERR_NOMEM, "call paths", "out of memory");
    } else {
        for (size_t i = t.n; on_device && i-- > 0;) // children come after their parents
            if (t.node[i].f.parent >= 0)
                t.node[t.node[i].f.parent].f.ns += t.node[i].f.ns;
        st = history_flame_write_out(&t, out, n, err);
    }
    free(t.of_span);
    free(t.node);
    return st;
}
