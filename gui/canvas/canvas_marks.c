// What a run says on the nodes: marks and pictures by execution id, shown at most five times a
// second.
#include "canvas/canvas_priv.h"
#include "node/small_picture.h"

#include <string.h>

#include "base/tick.h"

enum { SHOW_MS = 200 }; // faster than anybody reads

static gboolean is_at_work(NinoNodeState s)
{
    return s == NINO_NODE_RUNNING || s == NINO_NODE_PAUSED;
}

static gboolean sum_marks(NinoCanvas *c, const char *prefix, NinoNodeMark *out)
{
    GHashTableIter it;
    gpointer key, value;
    int n = 0, n_idle = 0;
    *out = (NinoNodeMark){ .seconds = -1, .progress = -1 };
    g_hash_table_iter_init(&it, c->marks);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const NinoNodeMark *m = value;
        if (!g_str_has_prefix(key, prefix))
            continue;
        n++;
        n_idle += m->state == NINO_NODE_IDLE || m->state == NINO_NODE_QUEUED;
        if (m->seconds >= 0)
            out->seconds = MAX(out->seconds, 0) + m->seconds;
        out->bytes += m->bytes;
        if (m->state == NINO_NODE_FAILED) {
            out->state = NINO_NODE_FAILED;
            out->error = m->error;
        } else if (out->state != NINO_NODE_FAILED) {
            const NinoNodeState s = m->state == NINO_NODE_CACHED ? NINO_NODE_DONE : m->state;
            if (is_at_work(s) || !is_at_work(out->state))
                out->state = is_at_work(s) ? s : MAX(out->state, s);
        }
    }
    if (out->state == NINO_NODE_DONE && n_idle)
        out->state = NINO_NODE_RUNNING;
    if (is_at_work(out->state))
        out->progress = (double) (n - n_idle) / n;
    return n > 0;
}

// What came last of the pictures inside a subgraph.
static GdkTexture *newest_picture(NinoCanvas *c, const char *prefix)
{
    GHashTableIter it;
    gpointer key, value;
    GdkTexture *best = NULL;
    guint order = 0;
    g_hash_table_iter_init(&it, c->pictures);
    while (g_hash_table_iter_next(&it, &key, &value)) {
        const guint at = GPOINTER_TO_UINT(g_object_get_data(value, "order"));
        if (g_str_has_prefix(key, prefix) && at > order) {
            best = value;
            order = at;
        }
    }
    return best;
}

// Of the node, or of one inside of it.
static const char *issue_of(NinoCanvas *c, const char *id, const char *inside)
{
    const char *own = g_hash_table_lookup(c->issues, id);
    GHashTableIter it;
    gpointer key, value;
    g_hash_table_iter_init(&it, c->issues);
    while (!own && inside && g_hash_table_iter_next(&it, &key, &value))
        if (g_str_has_prefix(key, inside))
            own = value;
    return own;
}

// Of what is inside: whether one of them would run.
static NinoNodeAhead sum_ahead(NinoCanvas *c, const char *prefix)
{
    GHashTableIter it;
    gpointer key, value;
    NinoNodeAhead all = NINO_AHEAD_UNKNOWN;
    g_hash_table_iter_init(&it, c->ahead);
    while (g_hash_table_iter_next(&it, &key, &value))
        if (g_str_has_prefix(key, prefix))
            all = MAX(all, (NinoNodeAhead) GPOINTER_TO_INT(value));
    return all;
}

static void show_mark(NinoCanvas *c, NinoNodeView *v, gboolean is_subgraph)
{
    g_autofree char *id = g_strconcat(c->prefix, nino_node_view_id(v), NULL);
    const NinoNodeMark *m = g_hash_table_lookup(c->marks, id);
    GdkTexture *picture = g_hash_table_lookup(c->pictures, id);
    NinoNodeMark sum, invalid = { .progress = -1, .seconds = -1 };
    g_autofree char *inside = is_subgraph ? g_strconcat(id, ":", NULL) : NULL;
    if (is_subgraph) {
        if (!m && sum_marks(c, inside, &sum))
            m = &sum;
        if (!picture)
            picture = newest_picture(c, inside);
    }
    const char *issue = issue_of(c, id, inside);
    if (issue && (!m || (!is_at_work(m->state) && !m->error))) {
        invalid = m ? *m : invalid; // the run before went well
        invalid.state = NINO_NODE_INVALID;
        invalid.error = issue;
        m = &invalid;
    }
    const NinoNodeAhead own = GPOINTER_TO_INT(g_hash_table_lookup(c->ahead, id));
    nino_node_view_set_ahead(v, own || !is_subgraph ? own : sum_ahead(c, inside));
    nino_node_view_set_mark(v, m);
    nino_node_view_set_picture(v, picture);
}

double nino_canvas_room(gpointer canvas, const graphene_rect_t *at)
{
    enum { GAP = 8 };
    const NinoCanvas *c = canvas;
    const float y0 = at->origin.y, y1 = y0 + at->size.height, x1 = at->origin.x + at->size.width;
    float end = G_MAXFLOAT;
    graphene_rect_t box;
    for (guint i = 0; i < c->nodes->len; i++) {
        nino_node_view_get_box(g_ptr_array_index(c->nodes, i), &box);
        if (box.origin.x >= x1 && box.origin.y < y1 && box.origin.y + box.size.height > y0)
            end = MIN(end, box.origin.x);
    }
    return MAX((double) (end - at->origin.x) - GAP, (double) at->size.width);
}

void nino_canvas_show_marks(NinoCanvas *c)
{
    for (guint i = 0; i < c->nodes->len && c->doc; i++) {
        const nino_doc_node *n = nino_document_node(c->doc, (int) i);
        show_mark(c, g_ptr_array_index(c->nodes, i), n && n->kind == NINO_DOC_SUBGRAPH);
    }
    nino_canvas_fit_grown(c);
    gtk_widget_queue_draw(GTK_WIDGET(c));
}

static gboolean show_later(gpointer user)
{
    NinoCanvas *c = user;
    c->mark_source = 0;
    nino_canvas_show_marks(c);
    return G_SOURCE_REMOVE;
}

static void marks_changed(NinoCanvas *c)
{
    if (!c->mark_source)
        c->mark_source = nino_tick_add(SHOW_MS, show_later, c);
}

void nino_canvas_free_mark(gpointer p)
{
    g_free((char *) ((NinoNodeMark *) p)->error);
    g_free(p);
}

void nino_canvas_mark(NinoCanvas *c, const char *node_id, const NinoNodeMark *mark)
{
    if (mark) {
        NinoNodeMark *m = g_new(NinoNodeMark, 1);
        *m = *mark;
        m->error = g_strdup(mark->error);
        g_hash_table_replace(c->marks, g_strdup(node_id), m);
    } else {
        g_hash_table_remove(c->marks, node_id);
    }
    marks_changed(c);
}

void nino_canvas_set_ahead(NinoCanvas *c, const char *node_id, NinoNodeAhead ahead)
{
    g_hash_table_replace(c->ahead, g_strdup(node_id), GINT_TO_POINTER(ahead));
    marks_changed(c);
}

void nino_canvas_clear_ahead(NinoCanvas *c)
{
    if (g_hash_table_size(c->ahead))
        marks_changed(c);
    g_hash_table_remove_all(c->ahead);
}

static char *sent_key(NinoCanvas *c, const char *id, const char *name)
{
    return g_strconcat(c->prefix, id, "\n", name, NULL);
}

void nino_canvas_remember_values(NinoCanvas *c)
{
    for (int i = 0; c->doc && i < nino_document_n_nodes(c->doc); i++) {
        const nino_doc_node *n = nino_document_node(c->doc, i);
        for (int k = 0; k < n->n_widgets; k++)
            g_hash_table_replace(c->sent, sent_key(c, n->id, n->widgets[k].name),
                                 g_strdup(n->widgets[k].text));
    }
    nino_canvas_sync(c);
}

const char *nino_canvas_sent(gpointer canvas, const char *id, const char *name)
{
    NinoCanvas *c = canvas;
    g_autofree char *key = sent_key(c, id, name);
    return g_hash_table_lookup(c->sent, key);
}

void nino_canvas_add_issue(NinoCanvas *c, const char *node_id, const char *text)
{
    const char *had = g_hash_table_lookup(c->issues, node_id);
    g_hash_table_replace(c->issues, g_strdup(node_id),
                         had ? g_strdup_printf("%s; %s", had, text) : g_strdup(text));
}

void nino_canvas_clear_issues(NinoCanvas *c) { g_hash_table_remove_all(c->issues); }

void nino_canvas_set_picture(NinoCanvas *c, const char *node_id, GdkTexture *picture)
{
    static guint order;
    if (picture) {
        GdkTexture *small = nino_small_picture(picture);
        g_object_set_data(G_OBJECT(small), "order", GUINT_TO_POINTER(++order));
        g_hash_table_replace(c->pictures, g_strdup(node_id), small);
    } else {
        g_hash_table_remove(c->pictures, node_id);
    }
    marks_changed(c);
}

void nino_canvas_clear_marks(NinoCanvas *c)
{
    g_hash_table_remove_all(c->marks);
    marks_changed(c);
}
