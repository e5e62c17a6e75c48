// The rows of the timeline: which there are and where, and which are hidden, pinned, collapsed or do not have what
// is searched.
#include "live/timeline_priv.h"

#include <stdio.h>
#include <string.h>

#include "base/i18n.h"

// ---- what was done to them ---------------------------------------------------------------------

// "s0.2": scopes of thread 0 at depth 2. A track as such, which may be collapsed: "t0".
static void row_key(char buf[32], RowKind kind, uint16_t track, uint16_t depth)
{
    static const char letters[] = { 's', 'h', 'w', 'q' };
    g_snprintf(buf, 32, "%c%u.%u", letters[kind], track, depth);
}

static guint flags_of(const Timeline *t, const char *key)
{
    return t->flags ? GPOINTER_TO_UINT(g_hash_table_lookup(t->flags, key)) : 0;
}

static guint flags_of_track(const Timeline *t, uint16_t track)
{
    char key[32];
    g_snprintf(key, sizeof(key), "t%u", track);
    return flags_of(t, key);
}

guint nino_timeline_flags(const Timeline *t, const Row *r)
{
    char key[32];
    row_key(key, r->kind, r->track, r->depth);
    return flags_of(t, key) | flags_of_track(t, r->track);
}

static void set_flags(Timeline *t, const char *key, guint flags)
{
    if (!t->flags)
        t->flags = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (flags)
        g_hash_table_replace(t->flags, g_strdup(key), GUINT_TO_POINTER(flags));
    else
        g_hash_table_remove(t->flags, key);
}

void nino_timeline_toggle(Timeline *t, const Row *r, RowFlag flag)
{
    char key[32];
    if (flag == ROW_COLLAPSED)
        g_snprintf(key, sizeof(key), "t%u", r->track);
    else
        row_key(key, r->kind, r->track, r->depth);
    set_flags(t, key, flags_of(t, key) ^ (guint) flag);
    nino_timeline_update(t);
}

gboolean nino_timeline_has_flags(const Timeline *t)
{
    return t->flags && g_hash_table_size(t->flags) > 0;
}

void nino_timeline_show_all(Timeline *t)
{
    g_clear_pointer(&t->flags, g_hash_table_unref);
    nino_timeline_update(t);
}

void nino_timeline_rows_free(Timeline *t)
{
    g_clear_pointer(&t->flags, g_hash_table_unref);
    g_clear_pointer(&t->matches, g_hash_table_unref);
    g_free(t->find);
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

char *nino_timeline_rows(GtkWidget *timeline)
{
    const Timeline *t = g_object_get_data(G_OBJECT(timeline), "timeline");
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter i;
    gpointer key, flags;
    if (t->flags)
        g_hash_table_iter_init(&i, t->flags);
    while (t->flags && g_hash_table_iter_next(&i, &key, &flags))
        g_ptr_array_add(words, g_strdup_printf("%s=%u", (char *) key, GPOINTER_TO_UINT(flags)));
    g_ptr_array_sort(words, by_text);
    g_ptr_array_add(words, NULL);
    return g_strjoinv(",", (char **) words->pdata);
}

void nino_timeline_set_rows(GtkWidget *timeline, const char *rows)
{
    Timeline *t = g_object_get_data(G_OBJECT(timeline), "timeline");
    g_auto(GStrv) words = g_strsplit(rows ? rows : "", ",", MAX_ROWS);
    g_clear_pointer(&t->flags, g_hash_table_unref);
    for (char **w = words; *w; w++) {
        char *is = strchr(*w, '=');
        const guint64 flags = is ? g_ascii_strtoull(is + 1, NULL, 10) : 0;
        if (!is || !flags || flags > (ROW_HIDDEN | ROW_PINNED | ROW_COLLAPSED))
            continue; // written by another version, or by hand
        *is = 0;
        set_flags(t, *w, (guint) flags);
    }
    nino_timeline_update(t);
}

// ---- search ------------------------------------------------------------------------------------

gboolean nino_timeline_matches(Timeline *t, uint32_t name)
{
    gpointer known;
    if (!t->find)
        return TRUE;
    if (g_hash_table_lookup_extended(t->matches, GUINT_TO_POINTER(name), NULL, &known))
        return GPOINTER_TO_INT(known);
    g_autofree char *text =
        g_utf8_casefold(nino_run_title(t->run, nino_run_name(t->run, name)), -1);
    const gboolean has = strstr(text, t->find) != NULL;
    g_hash_table_insert(t->matches, GUINT_TO_POINTER(name), GINT_TO_POINTER(has));
    return has;
}

static guint count_row(Timeline *t, const Row *r)
{
    const nino_history *h = nino_run_history(t->run);
    size_t n, n_spans;
    guint found = 0;
    if (r->kind == ROW_SCOPES) {
        const nino_span *s = nino_history_spans(h, &n_spans);
        const uint32_t *row = nino_history_row(h, r->track, r->depth, &n);
        for (size_t i = 0; i < n; i++)
            found += nino_timeline_matches(t, s[row[i]].name);
    } else if (r->kind != ROW_WAIT) {
        const nino_event *ev = nino_history_slices(h, r->track, &n);
        for (size_t i = 0; i < n; i++)
            found += nino_timeline_matches(t, ev[i].name);
    }
    return found;
}

guint nino_timeline_find(GtkWidget *timeline, const char *text)
{
    Timeline *t = g_object_get_data(G_OBJECT(timeline), "timeline");
    g_free(t->find);
    t->find = text && *text ? g_utf8_casefold(text, -1) : NULL;
    if (t->matches)
        g_hash_table_remove_all(t->matches);
    else
        t->matches = g_hash_table_new(NULL, NULL);
    nino_timeline_update(t);
    return t->n_found;
}

const char *nino_timeline_found(GtkWidget *timeline)
{
    const Timeline *t = g_object_get_data(G_OBJECT(timeline), "timeline");
    return t->find ? t->find : "";
}

typedef struct Next {
    guint64 at, first; // the nearest behind `after`, and the first of all; 0: none
    guint64 after;
    int32_t span, first_span; // -1: a slice
    nino_event slice, first_slice;
} Next;

static void offer_next(Next *n, guint64 at, int32_t span, const nino_event *slice)
{
    if (at > n->after && (!n->at || at < n->at)) {
        n->at = at;
        n->span = span;
        n->slice = slice ? *slice : n->slice;
    }
    if (!n->first || at < n->first) {
        n->first = at;
        n->first_span = span;
        n->first_slice = slice ? *slice : n->first_slice;
    }
}

gboolean nino_timeline_find_next(GtkWidget *timeline)
{
    Timeline *t = g_object_get_data(G_OBJECT(timeline), "timeline");
    const nino_history *h = nino_run_history(t->run);
    Next next = { .after = nino_run_cursor(t->run) };
    size_t n, n_spans;
    const nino_span *s = nino_history_spans(h, &n_spans);
    if (!t->find)
        return FALSE;
    for (size_t i = 0; i < n_spans; i++)
        if (nino_timeline_matches(t, s[i].name))
            offer_next(&next, s[i].begin_ns, (int32_t) i, NULL);
    for (int k = 0; k < t->n_rows; k++) {
        const nino_event *ev = nino_history_slices(h, t->row[k].track, &n);
        const gboolean has_slices = t->row[k].kind == ROW_QUEUE || t->row[k].kind == ROW_HOST;
        for (size_t i = 0; has_slices && i < n; i++)
            if (nino_timeline_matches(t, ev[i].name))
                offer_next(&next, ev[i].t_ns, -1, &ev[i]);
    }
    if (!next.first)
        return FALSE;
    const guint64 at = next.at ? next.at : next.first;
    const int32_t span = next.at ? next.span : next.first_span;
    if (span >= 0)
        nino_run_pick_span(t->run, span);
    else
        nino_run_pick_slice(t->run, next.at ? &next.slice : &next.first_slice);
    guint64 t0, t1;
    nino_run_view(t->run, &t0, &t1);
    if (at < t0 || at >= t1) {
        const guint64 half = (t1 - t0) / 2;
        nino_run_set_view(t->run, at > half ? at - half : 0, at + half);
    }
    nino_run_set_cursor(t->run, at);
    return TRUE;
}

// ---- layout ------------------------------------------------------------------------------------

static void timeline_add_row(Timeline *t, RowKind kind, uint16_t track, uint16_t depth, float h,
                             const char *label)
{
    char key[32];
    if (t->n_rows == MAX_ROWS)
        return;
    Row r = { .kind = kind, .track = track, .depth = depth, .h = h };
    row_key(key, kind, track, depth);
    const guint flags = flags_of(t, key), found = t->find ? count_row(t, &r) : 1;
    t->n_found += t->find ? found : 0;
    if (flags & ROW_HIDDEN || !found)
        return;
    r.is_pinned = (flags & ROW_PINNED) != 0;
    g_strlcpy(r.label, label, sizeof(r.label));
    t->row[t->n_rows++] = r;
}

// Of stages also which: a whole model or step of a node, the layers in one ("clip_l.0"), compiling.
static const char *scope_kind(const nino_history *h, const nino_span *s)
{
    static const char *const kinds[] = { "",          N_("job"),  N_("node"),
                                         N_("stage"), N_("step"), N_("tile") };
    const char *name = nino_history_name((void *) h, s->name);
    if (s->kind != NINO_EV_STAGE)
        return kinds[s->kind];
    return nino_plot_scope(s->kind, name) == NINO_PLOT_COMPILE ? N_("compile")
           : strchr(name, '.')                                 ? N_("layers")
                                                               : kinds[s->kind];
}

// The kinds of scopes that lie at a depth, by the first and the last one there.
static void scope_label(const nino_history *h, uint16_t track, uint16_t depth, char *buf,
                        size_t size)
{
    size_t n, n_spans;
    const nino_span *s = nino_history_spans(h, &n_spans);
    const uint32_t *row = nino_history_row(h, track, depth, &n);
    const char *a = n ? scope_kind(h, &s[row[0]]) : "", *b = n ? scope_kind(h, &s[row[n - 1]]) : "";
    if (!strcmp(a, b))
        g_strlcpy(buf, *a ? _(a) : "", size);
    else
        g_snprintf(buf, size, "%s, %s", *a ? _(a) : "", *b ? _(b) : "");
}

// A collapsed track is its first row: its outermost scopes, or what its queue does.
static void add_track(Timeline *t, const nino_track_info *info)
{
    const nino_history *h = nino_run_history(t->run);
    const uint16_t k = info->number;
    const gboolean is_collapsed = (flags_of_track(t, k) & ROW_COLLAPSED) != 0;
    char label[48], text[56];
    for (uint16_t d = 0; d < info->n_rows && (!d || !is_collapsed); d++) {
        scope_label(h, k, d, label, sizeof(label));
        g_snprintf(text, sizeof(text), is_collapsed ? "▸ %s" : "%s", label);
        timeline_add_row(t, ROW_SCOPES, k, d, ROW, text);
    }
    if (k < 256 && info->n_slices) {
        g_snprintf(label, sizeof(label), k ? _("transfers %u") : _("transfers"), k);
        if (!is_collapsed || !info->n_rows)
            timeline_add_row(t, ROW_HOST, k, 0, ROW, label);
    } else if (info->n_slices) {
        if (!is_collapsed)
            timeline_add_row(t, ROW_WAIT, k, 0, WAIT, _("queued"));
        g_snprintf(label, sizeof(label), _("queue %u"), k - 256u);
        g_snprintf(text, sizeof(text), is_collapsed ? "▸ %s" : "%s", label);
        timeline_add_row(t, ROW_QUEUE, k, 0, is_collapsed ? ROW : QUEUE, text);
    }
}

// Pinned ones first, the others below; tracks are apart.
static void place_rows(Timeline *t)
{
    t->height = 2;
    t->pinned_height = 0;
    for (int pinned = 1; pinned >= 0; pinned--) {
        const Row *before = NULL;
        for (int i = 0; i < t->n_rows; i++) {
            Row *r = &t->row[i];
            if (r->is_pinned != pinned)
                continue;
            if (before && before->track != r->track)
                t->height += GAP;
            r->y = t->height;
            t->height += r->h + 1;
            before = r;
        }
        t->height += before ? GAP : 0;
        if (pinned && before)
            t->pinned_height = t->height - 0.5f * GAP;
    }
}

static void measure_labels(Timeline *t)
{
    guint labels = 0;
    for (int i = 0; i < t->n_rows; i++)
        labels = labels * 31 + g_str_hash(t->row[i].label);
    if (labels == t->labels)
        return;
    t->labels = labels;
    t->gutter = GUTTER;
    for (int i = 0; i < t->n_rows; i++) {
        int width = 0;
        g_autoptr(PangoLayout) text = gtk_widget_create_pango_layout(t->area, t->row[i].label);
        pango_layout_get_pixel_size(text, &width, NULL);
        t->gutter = CLAMP(width + 14, t->gutter, MOST_GUTTER);
    }
    gtk_widget_queue_draw(t->ruler); // its axis begins there, too
}

void nino_timeline_lay_out(Timeline *t)
{
    nino_track_info info[64];
    const size_t n = MIN(nino_history_tracks(nino_run_history(t->run), info, G_N_ELEMENTS(info)),
                         G_N_ELEMENTS(info));
    t->n_rows = 0;
    t->n_found = 0;
    for (size_t i = 0; i < n; i++)
        add_track(t, &info[i]);
    t->focus_row = CLAMP(t->focus_row, 0, MAX(t->n_rows - 1, 0));
    place_rows(t);
    measure_labels(t);
}

float nino_timeline_row_y(const Timeline *t, const Row *r)
{
    return r->y + (r->is_pinned && t->scroll ? (float) gtk_adjustment_get_value(t->scroll) : 0);
}

const Row *nino_timeline_row_at(const Timeline *t, double y)
{
    const double at = t->scroll ? gtk_adjustment_get_value(t->scroll) : 0;
    const gboolean is_over = y - at < (double) t->pinned_height; // pinned ones hide what is behind
    for (int i = 0; i < t->n_rows; i++) {
        const Row *r = &t->row[i];
        const double top = (double) nino_timeline_row_y(t, r);
        if (r->is_pinned == is_over && y >= top && y < top + (double) r->h)
            return r;
    }
    return NULL;
}
