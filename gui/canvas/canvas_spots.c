// A group is taken by its title or its lower right corner, a point within some reach.
#include "canvas/canvas_spots.h"

#include "base/i18n.h"
#include "canvas/link_name.h"

enum { GROUP_TITLE = 34, GROUP_CORNER = 16, POINT_REACH = 11 };

static NinoSpot *spot(const CanvasSpots *s, guint i) { return g_ptr_array_index(s->all, i); }

// A number of the document as one of its spots; NULL while the document is ahead of the widgets.
static NinoSpot *canvas_spots_find(const CanvasSpots *s, int number)
{
    return number >= 0 && number < (int) s->all->len ? spot(s, (guint) number) : NULL;
}

NinoSpot *nino_canvas_spots_of_point(const CanvasSpots *s, int reroute)
{
    return canvas_spots_find(s, nino_document_n_groups(s->doc) + reroute);
}

// ---- places ----------------------------------------------------------------------------------

graphene_rect_t nino_canvas_spots_group_box(const CanvasSpots *s, int group)
{
    const nino_doc_group *g = nino_document_group(s->doc, group);
    const NinoSpot *own = canvas_spots_find(s, group);
    double x = g->x, y = g->y, w = g->width, h = g->height;
    if (s->resized == group) {
        w = MAX(w + s->dx, NINO_GROUP_MIN_WIDTH);
        h = MAX(h + s->dy, NINO_GROUP_MIN_HEIGHT);
    } else if (own && own->is_moved && s->resized < 0) {
        x += s->dx;
        y += s->dy;
    }
    return GRAPHENE_RECT_INIT((float) x, (float) y, (float) w, (float) h);
}

graphene_point_t nino_canvas_spots_point(const CanvasSpots *s, int reroute)
{
    const nino_doc_reroute *r = nino_document_reroute(s->doc, reroute);
    const NinoSpot *own = nino_canvas_spots_of_point(s, reroute);
    const gboolean moves = own && own->is_moved && s->resized < 0;
    return GRAPHENE_POINT_INIT((float) (r->x + (moves ? s->dx : 0)),
                               (float) (r->y + (moves ? s->dy : 0)));
}

graphene_rect_t nino_canvas_spots_box(const CanvasSpots *s, const NinoSpot *one)
{
    if (one->is_group)
        return nino_canvas_spots_group_box(s, one->number);
    const graphene_point_t p = nino_canvas_spots_point(s, one->number);
    return GRAPHENE_RECT_INIT(p.x - POINT_REACH, p.y - POINT_REACH, 2 * POINT_REACH,
                              2 * POINT_REACH);
}

graphene_rect_t nino_canvas_spots_handle(const CanvasSpots *s, const NinoSpot *one)
{
    graphene_rect_t box = nino_canvas_spots_box(s, one);
    if (one->is_group)
        box.size.height = GROUP_TITLE;
    return box;
}

static graphene_rect_t on_screen(const CanvasSpots *s, const CanvasView *v, const NinoSpot *one)
{
    const graphene_rect_t box = nino_canvas_spots_handle(s, one);
    return nino_canvas_view_on_screen(v, &box);
}

void nino_canvas_spots_show(CanvasSpots *s, const CanvasView *v)
{
    const graphene_rect_t seen =
        GRAPHENE_RECT_INIT(0, 0, (float) MAX(v->width, 1), (float) MAX(v->height, 1));
    for (guint i = 0; i < s->all->len; i++) {
        const graphene_rect_t box = on_screen(s, v, spot(s, i));
        const gboolean is_seen = graphene_rect_intersection(&box, &seen, NULL);
        if (gtk_widget_get_child_visible(GTK_WIDGET(spot(s, i))) != is_seen)
            gtk_widget_set_child_visible(GTK_WIDGET(spot(s, i)), is_seen);
    }
}

void nino_canvas_spots_allocate(CanvasSpots *s, const CanvasView *v)
{
    for (guint i = 0; i < s->all->len; i++) {
        GtkWidget *w = GTK_WIDGET(spot(s, i));
        const graphene_rect_t box = on_screen(s, v, spot(s, i));
        if (!gtk_widget_get_child_visible(w))
            continue;
        gtk_widget_measure(w, GTK_ORIENTATION_HORIZONTAL, -1, NULL, NULL, NULL, NULL);
        gtk_widget_allocate(w, MAX((int) box.size.width, 1), MAX((int) box.size.height, 1), -1,
                            gsk_transform_translate(NULL, &box.origin));
    }
}

NinoSpot *nino_canvas_spots_at(const CanvasSpots *s, double x, double y, gboolean *is_corner)
{
    *is_corner = FALSE;
    for (guint i = s->all->len; i > 0; i--) { // points are above groups
        NinoSpot *one = spot(s, i - 1);
        const graphene_rect_t box = nino_canvas_spots_box(s, one);
        const double in_x = x - box.origin.x, in_y = y - box.origin.y;
        if (in_x < 0 || in_y < 0 || in_x > box.size.width || in_y > box.size.height)
            continue;
        *is_corner = one->is_group && in_x > box.size.width - GROUP_CORNER &&
                     in_y > box.size.height - GROUP_CORNER;
        if (!one->is_group || *is_corner || in_y < GROUP_TITLE)
            return one;
    }
    return NULL;
}

// ---- what the document has -------------------------------------------------------------------

static char *group_label(const CanvasSpots *s, int group, GPtrArray *nodes)
{
    const graphene_rect_t area = nino_canvas_spots_group_box(s, group);
    int n = 0;
    for (guint i = 0; i < nodes->len; i++) {
        const graphene_point_t middle = nino_node_view_middle(g_ptr_array_index(nodes, i));
        n += graphene_rect_contains_point(&area, &middle);
    }
    return g_strdup_printf(ngettext("%s, group of %d node", "%s, group of %d nodes", (gulong) n),
                           nino_document_group(s->doc, group)->title, n);
}

// The first link that goes through the point names it.
static char *point_label(const CanvasSpots *s, int reroute)
{
    for (int i = 0; i < nino_document_n_links(s->doc); i++) {
        const nino_doc_link *l = nino_document_link(s->doc, i);
        for (int k = 0; k < l->n_reroutes; k++)
            if (l->reroutes[k] == reroute) {
                g_autofree char *link = nino_canvas_link_name(s->doc, i);
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

void nino_canvas_spots_init(CanvasSpots *s)
{
    *s = (CanvasSpots){ .all = g_ptr_array_new_with_free_func(drop_spot), .resized = -1 };
}

void nino_canvas_spots_clear(CanvasSpots *s)
{
    s->doc = NULL;
    g_ptr_array_set_size(s->all, 0);
}

void nino_canvas_spots_release(CanvasSpots *s) { g_ptr_array_unref(s->all); }

// The widget that stood for it before; groups have no name, so they keep theirs while there are as
// many. NULL: there was none.
static NinoSpot *take_old(CanvasSpots *s, gboolean is_group, int number, gboolean same_groups)
{
    const nino_doc_reroute *r = is_group ? NULL : nino_document_reroute(s->doc, number);
    for (guint i = 0; i < s->all->len; i++) {
        NinoSpot *one = spot(s, i);
        if (!one || one->is_group != is_group)
            continue;
        if (is_group ? same_groups && one->number == number : g_str_equal(one->id, r->id)) {
            s->all->pdata[i] = NULL;
            return one;
        }
    }
    return NULL;
}

static NinoSpot *make_new(const CanvasSpots *s, gboolean is_group, int number, GtkWidget *parent,
                          GtkWidget *next)
{
    GtkWidget *w =
        nino_spot_new(is_group, is_group ? NULL : nino_document_reroute(s->doc, number)->id);
    gtk_widget_set_child_visible(w, FALSE);
    gtk_widget_insert_before(w, parent, next);
    return NINO_SPOT(w);
}

void nino_canvas_spots_sync(CanvasSpots *s, nino_document *d, GPtrArray *nodes, GtkWidget *parent,
                            GtkWidget *next)
{
    const int n_groups = d ? nino_document_n_groups(d) : 0;
    const int n = d ? n_groups + nino_document_n_reroutes(d) : 0;
    GPtrArray *all = g_ptr_array_new_with_free_func(drop_spot);
    int had_groups = 0;
    s->doc = d;
    for (guint i = 0; i < s->all->len; i++)
        had_groups += spot(s, i)->is_group;
    for (int i = 0; i < n; i++) {
        const gboolean is_group = i < n_groups;
        const int number = is_group ? i : i - n_groups;
        NinoSpot *one = take_old(s, is_group, number, n_groups == had_groups);
        if (!one)
            one = make_new(s, is_group, number, parent, next);
        one->number = number;
        one->is_moved = FALSE;
        g_ptr_array_add(all, one);
    }
    g_ptr_array_unref(s->all);
    s->all = all;
    for (guint i = 0; i < all->len; i++) {
        NinoSpot *one = spot(s, i);
        g_autofree char *label =
            one->is_group ? group_label(s, one->number, nodes) : point_label(s, one->number);
        nino_spot_set(one, label, one->is_selected);
    }
}

// ---- selection -------------------------------------------------------------------------------

int nino_canvas_spots_n_selected(const CanvasSpots *s)
{
    int n = 0;
    for (guint i = 0; i < s->all->len; i++)
        n += spot(s, i)->is_selected;
    return n;
}

NinoSpot *nino_canvas_spots_selected_group(const CanvasSpots *s)
{
    for (guint i = 0; i < s->all->len; i++)
        if (spot(s, i)->is_group && spot(s, i)->is_selected)
            return spot(s, i);
    return NULL;
}

void nino_canvas_spots_select_none(CanvasSpots *s)
{
    for (guint i = 0; i < s->all->len; i++)
        nino_spot_set(spot(s, i), spot(s, i)->label, FALSE);
}

void nino_canvas_spots_select_in(CanvasSpots *s, const graphene_rect_t *area)
{
    for (guint i = 0; i < s->all->len; i++) {
        const graphene_rect_t box = nino_canvas_spots_box(s, spot(s, i));
        if (!area || graphene_rect_contains_rect(area, &box))
            nino_spot_set(spot(s, i), spot(s, i)->label, TRUE);
    }
}

gboolean nino_canvas_spots_is_bright(const CanvasSpots *s, int number)
{
    NinoSpot *one = canvas_spots_find(s, number);
    return one && (one->is_selected || gtk_widget_has_focus(GTK_WIDGET(one)));
}

// ---- moving and deleting ---------------------------------------------------------------------

gboolean nino_canvas_spots_takes(const CanvasSpots *s, graphene_point_t middle)
{
    for (guint i = 0; i < s->all->len; i++) {
        if (!spot(s, i)->is_group || !spot(s, i)->is_selected)
            continue;
        const graphene_rect_t area = nino_canvas_spots_group_box(s, spot(s, i)->number);
        if (graphene_rect_contains_point(&area, &middle))
            return TRUE;
    }
    return FALSE;
}

void nino_canvas_spots_take(CanvasSpots *s)
{
    for (guint i = 0; i < s->all->len; i++) {
        NinoSpot *one = spot(s, i);
        one->is_moved =
            one->is_selected ||
            (!one->is_group && nino_canvas_spots_takes(s, nino_canvas_spots_point(s, one->number)));
    }
}

int nino_canvas_spots_n_moved(const CanvasSpots *s)
{
    int n = 0;
    for (guint i = 0; i < s->all->len; i++)
        n += spot(s, i)->is_moved;
    return n;
}

static nino_status move_spot(CanvasSpots *s, const NinoSpot *one, double dx, double dy,
                             nino_error *err)
{
    if (!one->is_group)
        return nino_document_move_reroute(s->doc, one->id, dx, dy, err);
    const nino_doc_group *g = nino_document_group(s->doc, one->number);
    return nino_document_place_group(s->doc, one->number, g->x + dx, g->y + dy, g->width, g->height,
                                     err);
}

nino_status nino_canvas_spots_move(CanvasSpots *s, double dx, double dy, nino_error *err)
{
    nino_status st = NINO_OK;
    for (guint i = 0; i < s->all->len && !st; i++)
        if (spot(s, i)->is_moved)
            st = move_spot(s, spot(s, i), dx, dy, err);
    return st;
}

nino_status nino_canvas_spots_delete(CanvasSpots *s, nino_error *err)
{
    nino_status st = NINO_OK;
    for (guint i = s->all->len; i > 0 && !st; i--) { // so that numbers stay
        NinoSpot *one = spot(s, i - 1);
        if (one->is_selected)
            st = one->is_group ? nino_document_delete_group(s->doc, one->number, err)
                               : nino_document_delete_reroute(s->doc, one->id, err);
    }
    return st;
}

nino_status nino_canvas_spots_color(CanvasSpots *s, const char *color, nino_error *err)
{
    nino_status st = NINO_OK;
    for (guint i = 0; i < s->all->len && !st; i++)
        if (spot(s, i)->is_group && spot(s, i)->is_selected)
            st = nino_document_set_group(s->doc, spot(s, i)->number, NULL, color, err);
    return st;
}
