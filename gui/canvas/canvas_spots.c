// Groups and points of links: where they are, which are selected, moved and deleted. A group takes
// along what is inside.
#include "canvas/canvas_priv.h"

#include <math.h>

#include "base/i18n.h"

enum { GROUP_TITLE = 34, GROUP_CORNER = 16, POINT_REACH = 11 };

static NinoSpot *spot(NinoCanvas *c, guint i) { return g_ptr_array_index(c->spots, i); }

NinoSpot *nino_canvas_spot_of_point(NinoCanvas *c, int reroute)
{
    return spot(c, (guint) (nino_document_n_groups(c->doc) + reroute));
}

// ---- places ----------------------------------------------------------------------------------

graphene_rect_t nino_canvas_group_box(NinoCanvas *c, int group)
{
    const nino_doc_group *g = nino_document_group(c->doc, group);
    const NinoSpot *s = group < (int) c->spots->len ? spot(c, (guint) group) : NULL;
    double x = g->x, y = g->y, w = g->width, h = g->height;
    if (c->drag == DRAG_SELECTION && s && s->is_moved) {
        x += c->dx;
        y += c->dy;
    } else if (c->drag == DRAG_GROUP_SIZE && c->group == group) {
        w = MAX(w + c->dx, NINO_GROUP_MIN_WIDTH);
        h = MAX(h + c->dy, NINO_GROUP_MIN_HEIGHT);
    }
    return GRAPHENE_RECT_INIT((float) x, (float) y, (float) w, (float) h);
}

graphene_point_t nino_canvas_point(NinoCanvas *c, int reroute)
{
    const nino_doc_reroute *r = nino_document_reroute(c->doc, reroute);
    const guint i = (guint) (nino_document_n_groups(c->doc) + reroute);
    const gboolean moves = c->drag == DRAG_SELECTION && i < c->spots->len && spot(c, i)->is_moved;
    return GRAPHENE_POINT_INIT((float) (r->x + (moves ? c->dx : 0)),
                               (float) (r->y + (moves ? c->dy : 0)));
}

graphene_rect_t nino_canvas_spot_box(NinoCanvas *c, NinoSpot *s)
{
    if (s->is_group)
        return nino_canvas_group_box(c, s->number);
    const graphene_point_t p = nino_canvas_point(c, s->number);
    return GRAPHENE_RECT_INIT(p.x - POINT_REACH, p.y - POINT_REACH, 2 * POINT_REACH,
                              2 * POINT_REACH);
}

graphene_rect_t nino_canvas_spot_handle(NinoCanvas *c, NinoSpot *s)
{
    graphene_rect_t box = nino_canvas_spot_box(c, s);
    if (s->is_group)
        box.size.height = GROUP_TITLE;
    return box;
}

static graphene_rect_t on_screen(NinoCanvas *c, NinoSpot *s)
{
    const graphene_rect_t box = nino_canvas_spot_handle(c, s);
    return nino_canvas_view_on_screen(&c->view, &box);
}

void nino_canvas_show_spots(NinoCanvas *c)
{
    const graphene_rect_t seen =
        GRAPHENE_RECT_INIT(0, 0, (float) MAX(c->view.width, 1), (float) MAX(c->view.height, 1));
    for (guint i = 0; i < c->spots->len; i++) {
        const graphene_rect_t box = on_screen(c, spot(c, i));
        const gboolean is_seen = graphene_rect_intersection(&box, &seen, NULL);
        if (gtk_widget_get_child_visible(GTK_WIDGET(spot(c, i))) != is_seen)
            gtk_widget_set_child_visible(GTK_WIDGET(spot(c, i)), is_seen);
    }
}

void nino_canvas_allocate_spots(NinoCanvas *c)
{
    for (guint i = 0; i < c->spots->len; i++) {
        GtkWidget *s = g_ptr_array_index(c->spots, i);
        const graphene_rect_t box = on_screen(c, spot(c, i));
        if (!gtk_widget_get_child_visible(s))
            continue;
        gtk_widget_measure(s, GTK_ORIENTATION_HORIZONTAL, -1, NULL, NULL, NULL, NULL);
        gtk_widget_allocate(s, MAX((int) box.size.width, 1), MAX((int) box.size.height, 1), -1,
                            gsk_transform_translate(NULL, &box.origin));
    }
}

NinoSpot *nino_canvas_spot_at(NinoCanvas *c, double x, double y, gboolean *is_corner)
{
    *is_corner = FALSE;
    for (guint i = c->spots->len; i > 0; i--) { // points are above groups
        NinoSpot *s = spot(c, i - 1);
        const graphene_rect_t box = nino_canvas_spot_box(c, s);
        const double in_x = x - box.origin.x, in_y = y - box.origin.y;
        if (in_x < 0 || in_y < 0 || in_x > box.size.width || in_y > box.size.height)
            continue;
        *is_corner = s->is_group && in_x > box.size.width - GROUP_CORNER &&
                     in_y > box.size.height - GROUP_CORNER;
        if (!s->is_group || *is_corner || in_y < GROUP_TITLE)
            return s;
    }
    return NULL;
}

// ---- what the document has -------------------------------------------------------------------

static gboolean is_inside(const graphene_rect_t *area, NinoNodeView *v)
{
    graphene_rect_t box;
    graphene_point_t middle;
    nino_node_view_get_box(v, &box);
    graphene_rect_get_center(&box, &middle);
    return graphene_rect_contains_point(area, &middle);
}

static char *group_label(NinoCanvas *c, int group)
{
    const graphene_rect_t area = nino_canvas_group_box(c, group);
    int n = 0;
    for (guint i = 0; i < c->nodes->len; i++)
        n += is_inside(&area, g_ptr_array_index(c->nodes, i));
    return g_strdup_printf(ngettext("%s, group of %d node", "%s, group of %d nodes", (gulong) n),
                           nino_document_group(c->doc, group)->title, n);
}

// The first link that goes through the point names it.
static char *point_label(NinoCanvas *c, int reroute)
{
    for (int i = 0; i < nino_document_n_links(c->doc); i++) {
        const nino_doc_link *l = nino_document_link(c->doc, i);
        for (int k = 0; k < l->n_reroutes; k++)
            if (l->reroutes[k] == reroute) {
                g_autofree char *link = nino_canvas_link_name(c, i);
                return g_strdup_printf(_("Point %d of %d of the link %s"), k + 1, l->n_reroutes,
                                       link);
            }
    }
    return g_strdup(_("Point of no link"));
}

static void drop_spot(gpointer p)
{
    if (p)
        gtk_widget_unparent(p);
}

GPtrArray *nino_canvas_new_spots(void) { return g_ptr_array_new_with_free_func(drop_spot); }

// The widget that stood for it before; groups have no name, so they keep theirs while there are as
// many.
static NinoSpot *take_old(NinoCanvas *c, gboolean is_group, int number, gboolean same_groups)
{
    const nino_doc_reroute *r = is_group ? NULL : nino_document_reroute(c->doc, number);
    for (guint i = 0; i < c->spots->len; i++) {
        NinoSpot *s = spot(c, i);
        if (!s || s->is_group != is_group)
            continue;
        if (is_group ? same_groups && s->number == number : g_str_equal(s->id, r->id)) {
            c->spots->pdata[i] = NULL;
            return s;
        }
    }
    GtkWidget *s = nino_spot_new(is_group, r ? r->id : NULL);
    gtk_widget_set_child_visible(s, FALSE);
    gtk_widget_insert_before(s, GTK_WIDGET(c), c->bar);
    return NINO_SPOT(s);
}

void nino_canvas_sync_spots(NinoCanvas *c)
{
    const int n_groups = c->doc ? nino_document_n_groups(c->doc) : 0;
    const int n = c->doc ? n_groups + nino_document_n_reroutes(c->doc) : 0;
    GPtrArray *spots = nino_canvas_new_spots();
    int had_groups = 0;
    for (guint i = 0; i < c->spots->len; i++)
        had_groups += spot(c, i)->is_group;
    for (int i = 0; i < n; i++) {
        const gboolean is_group = i < n_groups;
        const int number = is_group ? i : i - n_groups;
        NinoSpot *s = take_old(c, is_group, number, n_groups == had_groups);
        s->number = number;
        s->is_moved = FALSE;
        g_ptr_array_add(spots, s);
    }
    g_ptr_array_unref(c->spots);
    c->spots = spots;
    for (guint i = 0; i < spots->len; i++) {
        NinoSpot *s = spot(c, i);
        g_autofree char *label =
            s->is_group ? group_label(c, s->number) : point_label(c, s->number);
        nino_spot_set(s, label, s->is_selected);
    }
}

// ---- selection -------------------------------------------------------------------------------

int nino_canvas_n_selected_spots(NinoCanvas *c)
{
    int n = 0;
    for (guint i = 0; i < c->spots->len; i++)
        n += spot(c, i)->is_selected;
    return n;
}

NinoSpot *nino_canvas_selected_group(NinoCanvas *c)
{
    for (guint i = 0; i < c->spots->len; i++)
        if (spot(c, i)->is_group && spot(c, i)->is_selected)
            return spot(c, i);
    return NULL;
}

void nino_canvas_unselect(NinoCanvas *c)
{
    g_hash_table_remove_all(c->selected);
    for (guint i = 0; i < c->spots->len; i++)
        nino_spot_set(spot(c, i), spot(c, i)->label, FALSE);
}

void nino_canvas_select_spot(NinoCanvas *c, NinoSpot *s, gboolean selected)
{
    nino_spot_set(s, s->label, selected);
    nino_canvas_selection_changed(c);
}

void nino_canvas_select_spots_in(NinoCanvas *c, const graphene_rect_t *area)
{
    for (guint i = 0; i < c->spots->len; i++) {
        const graphene_rect_t box = nino_canvas_spot_box(c, spot(c, i));
        if (!area || graphene_rect_contains_rect(area, &box))
            nino_spot_set(spot(c, i), spot(c, i)->label, TRUE);
    }
}

// ---- moving and deleting ---------------------------------------------------------------------

static gboolean is_in_selected_group(NinoCanvas *c, NinoNodeView *v, const NinoSpot *point)
{
    for (guint i = 0; i < c->spots->len; i++) {
        if (!spot(c, i)->is_group || !spot(c, i)->is_selected)
            continue;
        const graphene_rect_t area = nino_canvas_group_box(c, spot(c, i)->number);
        const graphene_point_t at =
            point ? nino_canvas_point(c, point->number) : GRAPHENE_POINT_INIT(0, 0);
        if (v ? is_inside(&area, v) : graphene_rect_contains_point(&area, &at))
            return TRUE;
    }
    return FALSE;
}

void nino_canvas_take_selection(NinoCanvas *c)
{
    g_array_set_size(c->moved, 0);
    for (guint i = 0; i < c->nodes->len; i++) {
        NinoNodeView *v = g_ptr_array_index(c->nodes, i);
        const nino_doc_node *n = nino_document_node(c->doc, (int) i);
        graphene_rect_t box;
        nino_node_view_get_box(v, &box);
        const CanvasMoved m = { v, box.origin.x, box.origin.y };
        if (n && !n->is_pinned &&
            (g_hash_table_contains(c->selected, n->id) || is_in_selected_group(c, v, NULL)))
            g_array_append_val(c->moved, m);
    }
    for (guint i = 0; i < c->spots->len; i++) {
        NinoSpot *s = spot(c, i);
        s->is_moved = s->is_selected || (!s->is_group && is_in_selected_group(c, NULL, s));
    }
}

static nino_status move_spot(NinoCanvas *c, NinoSpot *s, double dx, double dy, nino_error *err)
{
    if (!s->is_group)
        return nino_document_move_reroute(c->doc, s->id, dx, dy, err);
    const nino_doc_group *g = nino_document_group(c->doc, s->number);
    return nino_document_place_group(c->doc, s->number, g->x + dx, g->y + dy, g->width, g->height,
                                     err);
}

void nino_canvas_drop_selection(NinoCanvas *c, double dx, double dy)
{
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    const guint n = c->moved->len;
    guint n_spots = 0;
    for (guint i = 0; i < c->spots->len; i++)
        n_spots += spot(c, i)->is_moved;
    if (!n && !n_spots)
        return;
    const char **ids = g_new0(const char *, n + 1);
    for (guint i = 0; i < n; i++)
        ids[i] = nino_node_view_id(g_array_index(c->moved, CanvasMoved, i).view);
    if (n_spots)
        nino_document_begin(c->doc, nino_canvas_selected_group(c) ? "Move group"
                                    : n                           ? "Move"
                                                                  : "Move reroute");
    for (guint i = 0; i < c->spots->len && !st; i++)
        if (spot(c, i)->is_moved)
            st = move_spot(c, spot(c, i), dx, dy, &err);
    if (!st && n)
        st = nino_document_move(c->doc, ids, n, dx, dy, &err);
    g_free(ids);
    if (st && n_spots)
        nino_document_cancel(c->doc);
    else if (n_spots)
        st = nino_document_end(c->doc, &err);
    nino_canvas_did(c, st, &err);
}

nino_status nino_canvas_delete_spots(NinoCanvas *c, nino_error *err)
{
    nino_status st = NINO_OK;
    for (guint i = c->spots->len; i > 0 && !st; i--) { // so that numbers stay
        NinoSpot *s = spot(c, i - 1);
        if (s->is_selected)
            st = s->is_group ? nino_document_delete_group(c->doc, s->number, err)
                             : nino_document_delete_reroute(c->doc, s->id, err);
    }
    return st;
}

nino_status nino_canvas_color_groups(NinoCanvas *c, const char *color, nino_error *err)
{
    nino_status st = NINO_OK;
    for (guint i = 0; i < c->spots->len && !st; i++)
        if (spot(c, i)->is_group && spot(c, i)->is_selected)
            st = nino_document_set_group(c->doc, spot(c, i)->number, NULL, color, err);
    return st;
}
