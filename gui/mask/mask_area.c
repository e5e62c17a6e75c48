// Drawn with cairo from the mask's own rows: a stroke costs what is seen, not what the picture has.
#include "mask/mask_area.h"

#include "base/i18n.h"
#include "base/tokens.h"

#include <math.h>

#define ZOOM_STEP 1.25
#define MAX_ZOOM 32.0
#define SIZE_STEP 1.2

enum { LEAST_RADIUS = 1, MOST_RADIUS = 1024, MARGIN = 12 };

struct _NinoMaskArea {
    GtkWidget parent;
    NinoMask *mask;
    cairo_surface_t *picture, *cover;
    NinoBrush brush;
    double zoom, cx, cy;                  // zoom 0: fit; what is in the middle
    double x, y;                          // the brush, in the picture
    gboolean is_drawing, by_key, is_seen; // is_seen: the brush is somewhere
    double start_cx, start_cy;            // of a move of the view
};

G_DEFINE_TYPE(NinoMaskArea, nino_mask_area, GTK_TYPE_WIDGET)
static guint changed_signal;

// ---- places ----------------------------------------------------------------------------------

double nino_mask_area_get_zoom(NinoMaskArea *a)
{
    const double w = gtk_widget_get_width(GTK_WIDGET(a)) - 2.0 * MARGIN,
                 h = gtk_widget_get_height(GTK_WIDGET(a)) - 2.0 * MARGIN;
    const double fit = MIN(w / nino_mask_width(a->mask), h / nino_mask_height(a->mask));
    return a->zoom > 0 ? a->zoom : CLAMP(fit, 0.01, MAX_ZOOM);
}

void nino_mask_area_place(NinoMaskArea *a, double x, double y, double *wx, double *wy)
{
    const double z = nino_mask_area_get_zoom(a);
    const double cx = a->zoom > 0 ? a->cx : nino_mask_width(a->mask) / 2.0,
                 cy = a->zoom > 0 ? a->cy : nino_mask_height(a->mask) / 2.0;
    *wx = gtk_widget_get_width(GTK_WIDGET(a)) / 2.0 + (x - cx) * z;
    *wy = gtk_widget_get_height(GTK_WIDGET(a)) / 2.0 + (y - cy) * z;
}

static void in_picture(NinoMaskArea *a, double wx, double wy, double *x, double *y)
{
    double ox, oy;
    const double z = nino_mask_area_get_zoom(a);
    nino_mask_area_place(a, 0, 0, &ox, &oy);
    *x = (wx - ox) / z;
    *y = (wy - oy) / z;
}

static void say_state(NinoMaskArea *a)
{
    g_autofree char *text = g_strdup_printf(
        a->brush.erases ? _("Mask, %.1f %% covered; eraser of %.0f pixels at %.0f, %.0f")
                        : _("Mask, %.1f %% covered; brush of %.0f pixels at %.0f, %.0f"),
        nino_mask_share(a->mask) * 100, a->brush.radius * 2, a->x, a->y);
    gtk_accessible_update_property(GTK_ACCESSIBLE(a), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static void area_changed(NinoMaskArea *a)
{
    if (!a->is_drawing) // a stroke is told when it is done
        say_state(a);
    gtk_widget_queue_draw(GTK_WIDGET(a));
    g_signal_emit(a, changed_signal, 0);
}

void nino_mask_area_refresh(NinoMaskArea *a)
{
    cairo_surface_flush(a->cover); // what cairo keeps of it is old
    cairo_surface_mark_dirty(a->cover);
    area_changed(a);
}

static void area_zoom_at(NinoMaskArea *a, double zoom, double wx, double wy)
{
    double x, y;
    in_picture(a, wx, wy, &x, &y);
    a->zoom = CLAMP(zoom, 0.02, MAX_ZOOM);
    a->cx = x - (wx - gtk_widget_get_width(GTK_WIDGET(a)) / 2.0) / a->zoom;
    a->cy = y - (wy - gtk_widget_get_height(GTK_WIDGET(a)) / 2.0) / a->zoom;
    area_changed(a);
}

void nino_mask_area_zoom(NinoMaskArea *a, double factor)
{
    if (factor <= 0) {
        a->zoom = 0;
        area_changed(a);
    } else {
        area_zoom_at(a, nino_mask_area_get_zoom(a) * factor,
                     gtk_widget_get_width(GTK_WIDGET(a)) / 2.0,
                     gtk_widget_get_height(GTK_WIDGET(a)) / 2.0);
    }
}

NinoBrush nino_mask_area_brush(NinoMaskArea *a) { return a->brush; }

void nino_mask_area_set_brush(NinoMaskArea *a, NinoBrush brush)
{
    brush.radius = CLAMP(brush.radius, LEAST_RADIUS, MOST_RADIUS);
    brush.feather = CLAMP(brush.feather, 0.0, 1.0);
    a->brush = brush;
    area_changed(a);
}

// ---- painting --------------------------------------------------------------------------------

static void paint_to(NinoMaskArea *a, double x, double y)
{
    NinoMaskRect dirty;
    cairo_surface_flush(a->cover);
    nino_mask_line(a->mask, a->x, a->y, x, y, &dirty);
    if (dirty.width)
        cairo_surface_mark_dirty_rectangle(a->cover, dirty.x, dirty.y, dirty.width, dirty.height);
    a->x = x;
    a->y = y;
    area_changed(a);
}

static void begin_stroke(NinoMaskArea *a, double x, double y, gboolean erases)
{
    NinoBrush brush = a->brush;
    brush.erases |= erases;
    nino_mask_begin(a->mask, &brush);
    a->is_drawing = a->is_seen = TRUE;
    a->x = x;
    a->y = y;
    paint_to(a, x, y);
}

static void end_stroke(NinoMaskArea *a)
{
    if (!a->is_drawing)
        return;
    nino_mask_end(a->mask);
    a->is_drawing = a->by_key = FALSE;
    area_changed(a);
}

static void on_paint_begin(GtkGestureDrag *drag, double wx, double wy, gpointer user)
{
    NinoMaskArea *a = user;
    double x, y;
    const guint button = gtk_gesture_single_get_current_button(GTK_GESTURE_SINGLE(drag));
    gtk_widget_grab_focus(GTK_WIDGET(a));
    in_picture(a, wx, wy, &x, &y);
    if (button == GDK_BUTTON_MIDDLE) {
        a->start_cx = a->zoom > 0 ? a->cx : nino_mask_width(a->mask) / 2.0;
        a->start_cy = a->zoom > 0 ? a->cy : nino_mask_height(a->mask) / 2.0;
    } else {
        begin_stroke(a, x, y, button == GDK_BUTTON_SECONDARY);
    }
}

static void on_paint_update(GtkGestureDrag *drag, double dx, double dy, gpointer user)
{
    NinoMaskArea *a = user;
    double wx, wy, x, y;
    gtk_gesture_drag_get_start_point(drag, &wx, &wy);
    if (a->is_drawing) {
        in_picture(a, wx + dx, wy + dy, &x, &y);
        paint_to(a, x, y);
    } else {
        a->zoom = nino_mask_area_get_zoom(a);
        a->cx = a->start_cx - dx / a->zoom;
        a->cy = a->start_cy - dy / a->zoom;
        area_changed(a);
    }
}

static void on_paint_end(GtkGesture *drag, gpointer sequence, gpointer user)
{
    (void) drag, (void) sequence;
    end_stroke(user);
}

static void on_mask_motion(GtkEventControllerMotion *motion, double wx, double wy, gpointer user)
{
    NinoMaskArea *a = user;
    (void) motion;
    if (a->is_drawing)
        return;
    in_picture(a, wx, wy, &a->x, &a->y);
    a->is_seen = TRUE;
    gtk_widget_queue_draw(GTK_WIDGET(a));
}

static gboolean on_mask_scroll(GtkEventControllerScroll *scroll, double dx, double dy,
                               gpointer user)
{
    NinoMaskArea *a = user;
    double wx, wy;
    (void) scroll, (void) dx;
    nino_mask_area_place(a, a->x, a->y, &wx, &wy);
    area_zoom_at(a, nino_mask_area_get_zoom(a) * pow(ZOOM_STEP, -dy), wx, wy);
    return TRUE;
}

// ---- keys ------------------------------------------------------------------------------------

// The brush moves by a quarter of its size, and stays on the picture and in view.
static gboolean move_brush(NinoMaskArea *a, double dx, double dy, gboolean by_pixel)
{
    const double step = by_pixel ? 1 : MAX(rint(a->brush.radius / 2), 1);
    const double x = CLAMP(a->x + dx * step, 0, nino_mask_width(a->mask)),
                 y = CLAMP(a->y + dy * step, 0, nino_mask_height(a->mask));
    double wx, wy;
    a->is_seen = TRUE;
    if (a->is_drawing) {
        paint_to(a, x, y);
    } else {
        a->x = x;
        a->y = y;
    }
    nino_mask_area_place(a, x, y, &wx, &wy);
    if (a->zoom > 0 && (wx < 0 || wy < 0 || wx > gtk_widget_get_width(GTK_WIDGET(a)) ||
                        wy > gtk_widget_get_height(GTK_WIDGET(a)))) {
        a->cx = x;
        a->cy = y;
    }
    area_changed(a);
    return TRUE;
}

static gboolean change_brush(NinoMaskArea *a, double factor, gboolean erases)
{
    NinoBrush b = a->brush;
    const double wanted = b.radius * factor;
    b.radius = factor > 1 ? MAX(wanted, b.radius + 0.5) : wanted;
    b.erases = erases;
    nino_mask_area_set_brush(a, b);
    return TRUE;
}

static gboolean on_mask_key(GtkEventControllerKey *keys, guint key, guint code,
                            GdkModifierType mods, gpointer user)
{
    NinoMaskArea *a = user;
    const gboolean by_pixel = (mods & GDK_SHIFT_MASK) != 0;
    (void) keys, (void) code;
    if (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK))
        return FALSE;
    switch (key) {
    case GDK_KEY_Left: return move_brush(a, -1, 0, by_pixel);
    case GDK_KEY_Right: return move_brush(a, 1, 0, by_pixel);
    case GDK_KEY_Up: return move_brush(a, 0, -1, by_pixel);
    case GDK_KEY_Down: return move_brush(a, 0, 1, by_pixel);
    case GDK_KEY_bracketleft: return change_brush(a, 1 / SIZE_STEP, a->brush.erases);
    case GDK_KEY_bracketright: return change_brush(a, SIZE_STEP, a->brush.erases);
    case GDK_KEY_b: return change_brush(a, 1, FALSE);
    case GDK_KEY_e: return change_brush(a, 1, TRUE);
    case GDK_KEY_plus:
    case GDK_KEY_KP_Add: nino_mask_area_zoom(a, ZOOM_STEP); return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract: nino_mask_area_zoom(a, 1 / ZOOM_STEP); return TRUE;
    case GDK_KEY_0: nino_mask_area_zoom(a, 0); return TRUE;
    case GDK_KEY_1: nino_mask_area_zoom(a, 1 / nino_mask_area_get_zoom(a)); return TRUE;
    case GDK_KEY_space:
        if (!a->is_drawing)
            begin_stroke(a, a->x, a->y, FALSE);
        a->by_key = TRUE;
        return TRUE;
    default: return FALSE;
    }
}

static void on_mask_key_up(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType mods,
                           gpointer user)
{
    NinoMaskArea *a = user;
    (void) keys, (void) code, (void) mods;
    if (key == GDK_KEY_space && a->by_key)
        end_stroke(a);
}

// ---- drawing ---------------------------------------------------------------------------------

// The brush as two rings, one of which is seen on any ground.
static void draw_brush(NinoMaskArea *a, cairo_t *cr, double zoom)
{
    double x, y;
    nino_mask_area_place(a, a->x, a->y, &x, &y);
    cairo_set_line_width(cr, 1.5);
    for (int i = 0; i < 2; i++) {
        const NinoColour c = i ? NINO_COLOUR_OVER : NINO_COLOUR_UNDER;
        gdk_cairo_set_source_rgba(cr, nino_token(c, NINO_THEME_LIGHT));
        cairo_arc(cr, x, y, MAX(a->brush.radius * zoom - i * 1.5, 1), 0, 2 * G_PI);
        cairo_stroke(cr);
    }
    if (a->brush.erases) { // by shape, not by colour alone
        cairo_move_to(cr, x - 4, y);
        cairo_line_to(cr, x + 4, y);
        cairo_stroke(cr);
    }
}

static void mask_area_snapshot(GtkWidget *widget, GtkSnapshot *s)
{
    NinoMaskArea *a = NINO_MASK_AREA(widget);
    const double zoom = nino_mask_area_get_zoom(a);
    double x, y;
    GdkRGBA accent = *nino_token(NINO_COLOUR_MASK, nino_theme_of(widget));
    const graphene_rect_t all = GRAPHENE_RECT_INIT(0, 0, (float) gtk_widget_get_width(widget),
                                                   (float) gtk_widget_get_height(widget));
    gtk_snapshot_push_clip(s, &all);
    cairo_t *cr = gtk_snapshot_append_cairo(s, &all);
    nino_mask_area_place(a, 0, 0, &x, &y);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, zoom, zoom);
    cairo_set_source_surface(cr, a->picture, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr),
                             zoom > 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_BILINEAR);
    cairo_paint(cr);
    cairo_pattern_t *cover = cairo_pattern_create_for_surface(a->cover);
    cairo_pattern_set_filter(cover, zoom > 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_BILINEAR);
    accent.alpha = 0.6f;
    gdk_cairo_set_source_rgba(cr, &accent);
    cairo_mask(cr, cover);
    cairo_pattern_destroy(cover);
    cairo_restore(cr);
    if (a->is_seen)
        draw_brush(a, cr, zoom);
    cairo_destroy(cr);
    gtk_snapshot_pop(s);
}

// ---- the object ------------------------------------------------------------------------------

static void mask_area_finalize(GObject *o)
{
    NinoMaskArea *a = NINO_MASK_AREA(o);
    g_clear_pointer(&a->picture, cairo_surface_destroy);
    g_clear_pointer(&a->cover, cairo_surface_destroy);
    G_OBJECT_CLASS(nino_mask_area_parent_class)->finalize(o);
}

static void nino_mask_area_class_init(NinoMaskAreaClass *klass)
{
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    G_OBJECT_CLASS(klass)->finalize = mask_area_finalize;
    wc->snapshot = mask_area_snapshot;
    gtk_widget_class_set_accessible_role(wc, GTK_ACCESSIBLE_ROLE_IMG);
    gtk_widget_class_set_css_name(wc, "maskarea");
    changed_signal = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

static void nino_mask_area_init(NinoMaskArea *a)
{
    GtkGesture *drag = gtk_gesture_drag_new();
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(drag), 0);
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_paint_begin), a);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_paint_update), a);
    g_signal_connect(drag, "end", G_CALLBACK(on_paint_end), a);
    gtk_widget_add_controller(GTK_WIDGET(a), GTK_EVENT_CONTROLLER(drag));
    GtkEventController *motion = gtk_event_controller_motion_new();
    g_signal_connect(motion, "motion", G_CALLBACK(on_mask_motion), a);
    gtk_widget_add_controller(GTK_WIDGET(a), motion);
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_mask_scroll), a);
    gtk_widget_add_controller(GTK_WIDGET(a), scroll);
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_mask_key), a);
    g_signal_connect(keys, "key-released", G_CALLBACK(on_mask_key_up), a);
    gtk_widget_add_controller(GTK_WIDGET(a), keys);
    gtk_widget_set_focusable(GTK_WIDGET(a), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(a), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(a), TRUE);
}

// Its colours alone: what is transparent already is to be seen as well.
static cairo_surface_t *colours_of(const NinoMask *m)
{
    const int w = nino_mask_width(m), h = nino_mask_height(m);
    const guchar *from = nino_mask_rgba(m);
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    if (cairo_surface_status(s))
        return s;
    guchar *data = cairo_image_surface_get_data(s);
    const gsize stride = (gsize) cairo_image_surface_get_stride(s);
    for (int y = 0; y < h; y++) {
        guint32 *row = (guint32 *) (void *) (data + (gsize) y * stride);
        for (int x = 0; x < w; x++, from += 4)
            row[x] = (guint32) from[0] << 16 | (guint32) from[1] << 8 | from[2];
    }
    cairo_surface_mark_dirty(s);
    return s;
}

GtkWidget *nino_mask_area_new(NinoMask *mask)
{
    NinoMaskArea *a = g_object_new(NINO_TYPE_MASK_AREA, NULL);
    const int w = nino_mask_width(mask), h = nino_mask_height(mask);
    int stride;
    const guchar *data = nino_mask_data(mask, &stride);
    a->mask = mask;
    a->picture = colours_of(mask);
    a->cover = cairo_image_surface_create_for_data((guchar *) data, CAIRO_FORMAT_A8, w, h, stride);
    a->brush = (NinoBrush){ .radius = MAX(rint(MAX(w, h) / 32.0), 4) };
    a->x = w / 2.0;
    a->y = h / 2.0;
    say_state(a);
    return GTK_WIDGET(a);
}
