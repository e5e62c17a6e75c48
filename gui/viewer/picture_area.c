// The view is a centre (in picture pixels) and a zoom; "fit" follows the size of the widget.
#include "viewer/picture_area.h"

#include "base/tokens.h"

#include <math.h>

#define MIN_ZOOM 0.02
#define MAX_ZOOM 32.0
#define ZOOM_STEP 1.25
#define GRAB_PX 12 // how near to the border a drag takes hold of it

struct _NinoPictureArea {
    GtkWidget parent;
    GdkTexture *a, *b;
    double zoom, cx, cy, split; // zoom 0: fit
    double px, py;              // the pointer: scroll events do not say where they are
    double start_cx, start_cy;  // when the drag began
    gboolean drags_border;
};

G_DEFINE_TYPE(NinoPictureArea, nino_picture_area, GTK_TYPE_WIDGET)
enum { ZOOMED, SPLIT_MOVED, N_SIGNALS };
static guint signals[N_SIGNALS];

static double fit_zoom(NinoPictureArea *a)
{
    const double w = gtk_widget_get_width(GTK_WIDGET(a)), h = gtk_widget_get_height(GTK_WIDGET(a));
    if (!a->a || w <= 0 || h <= 0)
        return 1;
    return fmin(w / gdk_texture_get_width(a->a), h / gdk_texture_get_height(a->a));
}

double nino_picture_area_zoom(NinoPictureArea *a) { return a->zoom > 0 ? a->zoom : fit_zoom(a); }

double nino_picture_area_split(NinoPictureArea *a) { return a->split; }

GdkTexture *nino_picture_area_get(NinoPictureArea *a) { return a->a; }

// Where the picture is in the widget.
static graphene_rect_t placed(NinoPictureArea *a)
{
    const double z = nino_picture_area_zoom(a), w = gtk_widget_get_width(GTK_WIDGET(a)),
                 h = gtk_widget_get_height(GTK_WIDGET(a));
    const double iw = gdk_texture_get_width(a->a), ih = gdk_texture_get_height(a->a);
    const double cx = a->zoom > 0 ? a->cx : iw / 2, cy = a->zoom > 0 ? a->cy : ih / 2;
    graphene_rect_t r;
    graphene_rect_init(&r, (float) round(w / 2 - cx * z), (float) round(h / 2 - cy * z),
                       (float) (iw * z), (float) (ih * z));
    return r;
}

static void picture_area_changed(NinoPictureArea *a)
{
    gtk_widget_queue_draw(GTK_WIDGET(a));
    g_signal_emit(a, signals[ZOOMED], 0);
}

// Part of the picture stays in sight.
static void keep_inside(NinoPictureArea *a)
{
    if (!a->a)
        return;
    a->cx = CLAMP(a->cx, 0, gdk_texture_get_width(a->a));
    a->cy = CLAMP(a->cy, 0, gdk_texture_get_height(a->a));
}

// The picture's point under (x, y) of the widget stays there.
static void zoom_at(NinoPictureArea *a, double factor, double x, double y)
{
    if (!a->a)
        return;
    const graphene_rect_t r = placed(a);
    const double z = nino_picture_area_zoom(a);
    const double next = CLAMP(z * factor, MIN_ZOOM, MAX_ZOOM);
    const double ix = (x - r.origin.x) / z, iy = (y - r.origin.y) / z;
    a->zoom = next;
    a->cx = ix - (x - gtk_widget_get_width(GTK_WIDGET(a)) / 2.0) / next;
    a->cy = iy - (y - gtk_widget_get_height(GTK_WIDGET(a)) / 2.0) / next;
    keep_inside(a);
    picture_area_changed(a);
}

void nino_picture_area_set_zoom(NinoPictureArea *a, double zoom)
{
    if (zoom > 0 && a->a && a->zoom <= 0) {
        a->cx = gdk_texture_get_width(a->a) / 2.0;
        a->cy = gdk_texture_get_height(a->a) / 2.0;
    }
    a->zoom = zoom > 0 ? CLAMP(zoom, MIN_ZOOM, MAX_ZOOM) : 0;
    picture_area_changed(a);
}

void nino_picture_area_set(NinoPictureArea *a, GdkTexture *texture)
{
    const gboolean same_size = a->a && texture &&
                               gdk_texture_get_width(a->a) == gdk_texture_get_width(texture) &&
                               gdk_texture_get_height(a->a) == gdk_texture_get_height(texture);
    g_set_object(&a->a, texture);
    if (!same_size)
        a->zoom = 0;
    picture_area_changed(a);
}

void nino_picture_area_compare(NinoPictureArea *a, GdkTexture *other)
{
    g_set_object(&a->b, other);
    gtk_widget_queue_draw(GTK_WIDGET(a));
}

void nino_picture_area_set_split(NinoPictureArea *a, double split)
{
    a->split = CLAMP(split, 0, 1);
    gtk_widget_queue_draw(GTK_WIDGET(a));
}

// ---- drawing ------------------------------------------------------------------------------------

static void draw_letter(NinoPictureArea *a, GtkSnapshot *snapshot, const char *letter, float x,
                        float y)
{
    g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout(GTK_WIDGET(a), letter);
    int w, h;
    pango_layout_get_pixel_size(layout, &w, &h);
    const NinoTheme theme = nino_theme_of(GTK_WIDGET(a));
    gtk_snapshot_append_color(snapshot, nino_token(NINO_COLOUR_SHADE, theme),
                              &GRAPHENE_RECT_INIT(x, y, (float) w + 12, (float) h + 6));
    gtk_snapshot_save(snapshot);
    gtk_snapshot_translate(snapshot, &GRAPHENE_POINT_INIT(x + 6, y + 3));
    gtk_snapshot_append_layout(snapshot, layout, nino_token(NINO_COLOUR_OVER, theme));
    gtk_snapshot_restore(snapshot);
}

static void draw_other(NinoPictureArea *a, GtkSnapshot *snapshot, const graphene_rect_t *r)
{
    const float x = r->origin.x + r->size.width * (float) a->split;
    const float right = r->origin.x + r->size.width;
    gtk_snapshot_push_clip(
        snapshot, &GRAPHENE_RECT_INIT(x, r->origin.y, fmaxf(right - x, 0), r->size.height));
    gtk_snapshot_append_texture(snapshot, a->b, r);
    gtk_snapshot_pop(snapshot);
    const NinoTheme theme = nino_theme_of(GTK_WIDGET(a));
    gtk_snapshot_append_color(snapshot, nino_token(NINO_COLOUR_SHADE, theme),
                              &GRAPHENE_RECT_INIT(x - 2, r->origin.y, 4, r->size.height));
    gtk_snapshot_append_color(snapshot, nino_token(NINO_COLOUR_OVER, theme),
                              &GRAPHENE_RECT_INIT(x - 1, r->origin.y, 2, r->size.height));
    const float top = fmaxf(r->origin.y, 0) + 6;
    draw_letter(a, snapshot, "A", fmaxf(r->origin.x, 0) + 6, top);
    draw_letter(a, snapshot, "B", fminf(right, (float) gtk_widget_get_width(GTK_WIDGET(a))) - 28,
                top);
}

static void picture_area_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    NinoPictureArea *a = NINO_PICTURE_AREA(widget);
    if (!a->a)
        return;
    const graphene_rect_t r = placed(a);
    gtk_snapshot_push_clip(snapshot, &GRAPHENE_RECT_INIT(0, 0, (float) gtk_widget_get_width(widget),
                                                         (float) gtk_widget_get_height(widget)));
    gtk_snapshot_append_texture(snapshot, a->a, &r);
    if (a->b)
        draw_other(a, snapshot, &r);
    gtk_snapshot_pop(snapshot);
}

static void picture_area_measure(GtkWidget *widget, GtkOrientation orientation, int for_size,
                                 int *min, int *nat, int *min_base, int *nat_base)
{
    (void) widget, (void) orientation, (void) for_size;
    *min = 80;
    *nat = 320;
    *min_base = *nat_base = -1;
}

// ---- pointer and keys ---------------------------------------------------------------------------

static void on_picture_area_motion(GtkEventControllerMotion *motion, double x, double y,
                                   gpointer user)
{
    (void) motion;
    NinoPictureArea *a = user;
    a->px = x;
    a->py = y;
}

static gboolean on_picture_area_scroll(GtkEventControllerScroll *scroll, double dx, double dy,
                                       gpointer user)
{
    (void) scroll, (void) dx;
    NinoPictureArea *a = user;
    if (!a->a || dy == 0)
        return FALSE;
    zoom_at(a, dy < 0 ? ZOOM_STEP : 1 / ZOOM_STEP, a->px, a->py);
    return TRUE;
}

static void on_picture_area_drag_begin(GtkGestureDrag *drag, double x, double y, gpointer user)
{
    (void) drag, (void) y;
    NinoPictureArea *a = user;
    if (!a->a)
        return;
    const graphene_rect_t r = placed(a);
    a->drags_border = a->b && fabs(x - (r.origin.x + r.size.width * a->split)) <= GRAB_PX;
    if (a->zoom <= 0) {
        a->cx = gdk_texture_get_width(a->a) / 2.0;
        a->cy = gdk_texture_get_height(a->a) / 2.0;
    }
    a->start_cx = a->cx;
    a->start_cy = a->cy;
    gtk_widget_grab_focus(GTK_WIDGET(a));
}

static void on_picture_area_drag_update(GtkGestureDrag *drag, double dx, double dy, gpointer user)
{
    NinoPictureArea *a = user;
    if (!a->a)
        return;
    if (a->drags_border) {
        double x0 = 0, y0 = 0;
        gtk_gesture_drag_get_start_point(drag, &x0, &y0);
        const graphene_rect_t r = placed(a);
        nino_picture_area_set_split(a, (x0 + dx - r.origin.x) / r.size.width);
        g_signal_emit(a, signals[SPLIT_MOVED], 0);
        return;
    }
    if (a->zoom <= 0) // all of it is in sight
        return;
    a->cx = a->start_cx - dx / a->zoom;
    a->cy = a->start_cy - dy / a->zoom;
    keep_inside(a);
    gtk_widget_queue_draw(GTK_WIDGET(a));
}

static void picture_area_pan(NinoPictureArea *a, double dx, double dy)
{
    if (a->zoom <= 0)
        return;
    a->cx += dx * gtk_widget_get_width(GTK_WIDGET(a)) / 8.0 / a->zoom;
    a->cy += dy * gtk_widget_get_height(GTK_WIDGET(a)) / 8.0 / a->zoom;
    keep_inside(a);
    gtk_widget_queue_draw(GTK_WIDGET(a));
}

static gboolean on_picture_area_key(GtkEventControllerKey *controller, guint key, guint code,
                                    GdkModifierType mods, gpointer user)
{
    (void) controller, (void) code;
    NinoPictureArea *a = user;
    const double mx = gtk_widget_get_width(GTK_WIDGET(a)) / 2.0,
                 my = gtk_widget_get_height(GTK_WIDGET(a)) / 2.0;
    if (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK))
        return FALSE;
    switch (key) {
    case GDK_KEY_plus:
    case GDK_KEY_KP_Add: zoom_at(a, ZOOM_STEP, mx, my); return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract: zoom_at(a, 1 / ZOOM_STEP, mx, my); return TRUE;
    case GDK_KEY_0: nino_picture_area_set_zoom(a, 0); return TRUE;
    case GDK_KEY_1: nino_picture_area_set_zoom(a, 1); return TRUE;
    case GDK_KEY_Left: picture_area_pan(a, -1, 0); return TRUE;
    case GDK_KEY_Right: picture_area_pan(a, 1, 0); return TRUE;
    case GDK_KEY_Up: picture_area_pan(a, 0, -1); return TRUE;
    case GDK_KEY_Down: picture_area_pan(a, 0, 1); return TRUE;
    default: return FALSE;
    }
}

// ---- the object ---------------------------------------------------------------------------------

static void picture_area_dispose(GObject *o)
{
    NinoPictureArea *a = NINO_PICTURE_AREA(o);
    g_clear_object(&a->a);
    g_clear_object(&a->b);
    G_OBJECT_CLASS(nino_picture_area_parent_class)->dispose(o);
}

static void picture_area_size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    (void) width, (void) height, (void) baseline;
    NinoPictureArea *a = NINO_PICTURE_AREA(widget);
    if (a->zoom <= 0) // "fit" is another number now
        g_signal_emit(a, signals[ZOOMED], 0);
}

static void nino_picture_area_class_init(NinoPictureAreaClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->dispose = picture_area_dispose;
    wc->snapshot = picture_area_snapshot;
    wc->measure = picture_area_measure;
    wc->size_allocate = picture_area_size_allocate;
    gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_IMG);
    gtk_widget_class_set_css_name(wc, "picturearea");
    signals[ZOOMED] = g_signal_new("zoomed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
    signals[SPLIT_MOVED] = g_signal_new("split-moved", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST,
                                        0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void nino_picture_area_init(NinoPictureArea *a)
{
    a->split = 0.5;
    gtk_widget_set_focusable(GTK_WIDGET(a), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(a), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(a), TRUE);
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "motion", G_CALLBACK(on_picture_area_motion), a);
    gtk_widget_add_controller(GTK_WIDGET(a), motion);
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_picture_area_scroll), a);
    gtk_widget_add_controller(GTK_WIDGET(a), scroll);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_picture_area_drag_begin), a);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_picture_area_drag_update), a);
    gtk_widget_add_controller(GTK_WIDGET(a), GTK_EVENT_CONTROLLER(drag));
    GtkEventController *key = gtk_event_controller_key_new();
    g_signal_connect(key, "key-pressed", G_CALLBACK(on_picture_area_key), a);
    gtk_widget_add_controller(GTK_WIDGET(a), key);
}

GtkWidget *nino_picture_area_new(void) { return g_object_new(NINO_TYPE_PICTURE_AREA, NULL); }
