// What the canvas asks a node's widget and tells it: places, slots, detail, marks, pictures.
#include "node/node_view_priv.h"
#include "node/note.h"

#include <math.h>
#include <string.h>

const char *nino_node_view_id(NinoNodeView *v) { return v->id; }
const char *nino_node_view_title(NinoNodeView *v) { return v->title; }

void nino_node_view_get_box(NinoNodeView *v, graphene_rect_t *box)
{
    *box = GRAPHENE_RECT_INIT((float) v->x, (float) v->y, (float) v->width, (float) v->height);
}

graphene_point_t nino_node_view_middle(NinoNodeView *v)
{
    graphene_rect_t box;
    graphene_point_t middle;
    nino_node_view_get_box(v, &box);
    graphene_rect_get_center(&box, &middle);
    return middle;
}

void nino_node_view_set_place(NinoNodeView *v, double x, double y)
{
    v->x = x;
    v->y = y;
}

void nino_node_view_set_size(NinoNodeView *v, double width, double height)
{
    v->width = MAX(width, 140);
    v->height = MAX(height, v->min_height);
    nino_node_view_place_rows(v);
    gtk_widget_queue_resize(GTK_WIDGET(v));
}

static graphene_point_t slot_point(const NinoNodeView *v, GArray *slots, int i, double x)
{
    const double y = v->is_collapsed || i < 0 || i >= (int) slots->len ? NINO_NODE_TITLE / 2.0
                                                                       : SLOTS(slots, i)->y;
    return GRAPHENE_POINT_INIT((float) (v->x + x), (float) (v->y + y));
}

graphene_point_t nino_node_view_input(NinoNodeView *v, int i)
{
    return slot_point(v, v->inputs, i, 0);
}

graphene_point_t nino_node_view_output(NinoNodeView *v, int i)
{
    return slot_point(v, v->outputs, i, v->width);
}

static int slot_at(const NinoNodeView *v, GArray *slots, double x, double y, double reach)
{
    int best = -1;
    double least = 10;
    if (v->is_collapsed || x > reach || x < -12)
        return -1;
    for (guint i = 0; i < slots->len; i++) {
        const double far = fabs(SLOTS(slots, i)->y - y);
        const gboolean in_reach = !SLOTS(slots, i)->is_row || x < 9;
        if (far < least && in_reach) {
            best = (int) i;
            least = far;
        }
    }
    return best;
}

int nino_node_view_input_at(NinoNodeView *v, double x, double y)
{
    return slot_at(v, v->inputs, x, y, 18);
}

int nino_node_view_output_at(NinoNodeView *v, double x, double y)
{
    return slot_at(v, v->outputs, v->width - x, y, 18);
}

gboolean nino_node_view_is_resize_corner(NinoNodeView *v, double x, double y)
{
    return !v->is_collapsed && !nino_node_view_is_end(v) && v->kind != NINO_DOC_REROUTE &&
           x > v->width - 14 && y > v->height - 14;
}

void nino_node_view_set_detail(NinoNodeView *v, NinoDetail detail, double text)
{
    if (detail == v->detail && (detail != NINO_DETAIL_TITLE || text == v->text))
        return;
    v->detail = detail;
    v->text = text;
    for (guint i = 0; i < v->rows->len; i++)
        if (ROWS(v, i)->editor)
            gtk_widget_set_child_visible(ROWS(v, i)->editor,
                                         detail == NINO_DETAIL_FULL && !v->is_collapsed);
    if (detail == NINO_DETAIL_FULL && gtk_widget_get_mapped(GTK_WIDGET(v)))
        nino_node_view_need_editors(v);
    gtk_widget_queue_allocate(GTK_WIDGET(v));
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

NinoDetail nino_node_view_get_detail(const NinoNodeView *v) { return v->detail; }

void nino_node_view_set_selected(NinoNodeView *v, gboolean selected)
{
    if (v->is_selected == selected)
        return;
    v->is_selected = selected;
    nino_node_view_name_it(v);
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

graphene_rect_t nino_node_view_error_box(const NinoNodeView *v)
{
    if (!v->error || v->is_collapsed || v->detail != NINO_DETAIL_FULL)
        return GRAPHENE_RECT_INIT(0, 0, 0, 0);
    graphene_rect_t at = GRAPHENE_RECT_INIT(4, (float) v->height, (float) v->width - 8,
                                            NINO_NODE_SLOT),
                    there;
    if (v->error_width > v->width - 8) {
        graphene_rect_offset_r(&at, (float) v->x, (float) v->y, &there);
        at.size.width = (float) MIN(v->error_width, v->host->room(v->user, &there));
    }
    return at;
}

static void measure_error(NinoNodeView *v)
{
    PangoRectangle text = { 0 };
    g_autoptr(PangoLayout) l = gtk_widget_create_pango_layout(GTK_WIDGET(v), v->error);
    pango_layout_get_pixel_extents(l, NULL, &text);
    v->error_width = text.width + 1;
}

void nino_node_view_set_mark(NinoNodeView *v, const NinoNodeMark *mark)
{
    const NinoNodeMark none = { .seconds = -1 };
    const NinoNodeMark now = mark ? *mark : none;
    const gboolean renamed = v->has_mark != (mark != NULL) || v->mark.state != now.state;
    if (!renamed && v->mark.progress == now.progress && v->mark.seconds == now.seconds &&
        v->mark.bytes == now.bytes && !g_strcmp0(v->error, now.error))
        return;
    g_free(v->error);
    v->error = g_strdup(now.error);
    measure_error(v);
    v->mark = now;
    v->mark.error = v->error;
    v->has_mark = mark != NULL;
    if (renamed)
        nino_node_view_name_it(v);
    gtk_widget_set_tooltip_text(GTK_WIDGET(v), v->error);
    nino_node_view_describe(v); // GTK puts the tooltip, or nothing, in its place
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

void nino_node_view_set_ahead(NinoNodeView *v, NinoNodeAhead ahead)
{
    if (v->ahead == ahead)
        return;
    v->ahead = ahead;
    nino_node_view_describe(v);
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

void nino_node_view_set_picture(NinoNodeView *v, GdkTexture *picture)
{
    const nino_doc_node *n = v->host->find(v->user, v->id);
    if (v->made == picture || !n)
        return;
    const gboolean had = v->made != NULL;
    g_set_object(&v->made, picture);
    if (had != (picture != NULL))
        nino_node_view_name_it(v);
    nino_node_view_place_again(v, n);
}

void nino_node_view_set_wanted(NinoNodeView *v, const char *type, gboolean inputs)
{
    if (!g_strcmp0(v->wanted, type) && v->wants_inputs == inputs)
        return;
    g_free(v->wanted);
    v->wanted = g_strdup(type);
    v->wants_inputs = inputs;
    gtk_widget_queue_draw(GTK_WIDGET(v));
}

gboolean nino_node_view_edit(NinoNodeView *v)
{
    for (guint i = 0; i < v->rows->len; i++)
        if (ROWS(v, i)->editor && nino_note_edit(ROWS(v, i)->editor))
            return TRUE;
        else if (ROWS(v, i)->editor &&
                 gtk_widget_child_focus(ROWS(v, i)->editor, GTK_DIR_TAB_FORWARD))
            return TRUE;
    return FALSE;
}
