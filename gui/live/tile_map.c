// The tile map: the tiles of the last decode or encode over its image, coloured by the time they
// took, with order, halo and blend, and the seam meter below.
#include "plot/view.h"

#include "base/i18n.h"
#include "plot/area.h"

#include <math.h>

enum { MAX_TILES = 4096, MARGIN = 10 };

typedef struct TileMap {
    NinoRun *run; // the widgets hold it
    const nino_event *tile;
    size_t n;
    unsigned pass, n_passes;
    gboolean is_chosen; // the pass was chosen, else the last one is shown
    int w, h;           // of the image
    double least_ms, most_ms;
    double top_ms; // where the scale of colours ends
    GdkTexture *picture;
    char *picture_path;
} TileMap;

// ---- data --------------------------------------------------------------------------------------

static int tile_map_by_value(const void *x, const void *y)
{
    const double a = *(const double *) x, b = *(const double *) y;
    return a < b ? -1 : a > b;
}

// One tile that took many times as long (it compiled) must not make all others the same colour.
static double tile_map_find_top(const TileMap *m)
{
    g_autofree double *ms = g_new(double, m->n + 1);
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->tile[i].u.tile.pass == m->pass)
            ms[n++] = (double) m->tile[i].u.tile.ns * 1e-6;
    if (n < 3)
        return m->most_ms;
    qsort(ms, n, sizeof(*ms), tile_map_by_value);
    double usual = ms[0];
    for (size_t i = 0; i < n; i++)
        usual = ms[i] <= 4 * ms[n / 2] ? ms[i] : usual;
    return m->most_ms > 4 * usual ? usual * 1.5 : m->most_ms;
}

// The records of the last image that was tiled.
static void tile_map_find_tiles(TileMap *m)
{
    size_t n;
    const nino_event *ev = nino_history_points(nino_run_history(m->run), NINO_EV_TILE_INFO, &n);
    size_t first = ev && n ? n - 1 : 0;
    while (first > 0 && ev[first - 1].u.tile.order < ev[first].u.tile.order)
        first--;
    m->tile = ev ? ev + first : NULL;
    m->n = ev ? MIN(n - first, MAX_TILES) : 0;
    m->w = m->h = 0;
    m->n_passes = 1;
    for (size_t i = 0; i < m->n; i++) {
        m->w = MAX(m->w, m->tile[i].u.tile.x + m->tile[i].u.tile.w);
        m->h = MAX(m->h, m->tile[i].u.tile.y + m->tile[i].u.tile.h);
        m->n_passes = MAX(m->n_passes, m->tile[i].u.tile.n_passes);
    }
    if (!m->is_chosen || m->pass >= m->n_passes)
        m->pass = m->n ? m->tile[m->n - 1].u.tile.pass : 0;
    m->least_ms = INFINITY;
    m->most_ms = 0;
    for (size_t i = 0; i < m->n; i++)
        if (m->tile[i].u.tile.pass == m->pass) {
            m->least_ms = MIN(m->least_ms, (double) m->tile[i].u.tile.ns * 1e-6);
            m->most_ms = MAX(m->most_ms, (double) m->tile[i].u.tile.ns * 1e-6);
        }
    m->top_ms = tile_map_find_top(m);
}

// The picture that was written after the tiles, if it has their size.
static void find_picture(TileMap *m)
{
    size_t n;
    const nino_event *ev = nino_history_points(nino_run_history(m->run), NINO_EV_OUTPUT, &n);
    const char *path = ev && n && m->n && ev[n - 1].t_ns >= m->tile[0].t_ns
                           ? nino_run_name(m->run, ev[n - 1].name)
                           : "";
    if (!g_strcmp0(path, m->picture_path))
        return;
    g_free(m->picture_path);
    m->picture_path = g_strdup(path);
    g_clear_object(&m->picture);
    GdkTexture *t = *path ? gdk_texture_new_from_filename(path, NULL) : NULL;
    if (t && gdk_texture_get_width(t) == m->w && gdk_texture_get_height(t) == m->h)
        m->picture = g_steal_pointer(&t);
    g_clear_object(&t);
}

static const nino_event *last_seam(const TileMap *m)
{
    size_t n;
    const nino_event *ev = nino_history_points(nino_run_history(m->run), NINO_EV_SEAM, &n);
    return ev && n && m->n && ev[n - 1].t_ns >= m->tile[0].t_ns ? &ev[n - 1] : NULL;
}

// ---- drawing -----------------------------------------------------------------------------------

typedef struct Place { // where the image is
    float x, y, scale;
} Place;

static Place place_of(const TileMap *m, float width, float height, float line)
{
    const float top = line + 12, bottom = line * 2 + 14;
    const float w = width - 2 * MARGIN, h = height - top - bottom;
    Place p = { .scale = MAX(MIN(w / (float) MAX(m->w, 1), h / (float) MAX(m->h, 1)), 0.001f) };
    p.x = floorf((width - (float) m->w * p.scale) / 2);
    p.y = floorf(top + (h - (float) m->h * p.scale) / 2);
    return p;
}

static void tile_map_draw_picture(NinoPlot *p, GdkTexture *t, float x, float y, float w, float h)
{
    if (p->snapshot) {
        gtk_snapshot_append_texture(p->snapshot, t, &GRAPHENE_RECT_INIT(x, y, w, h));
        return;
    }
    const int tw = gdk_texture_get_width(t), th = gdk_texture_get_height(t);
    cairo_surface_t *s = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, tw, th);
    if (cairo_surface_status(s) == CAIRO_STATUS_SUCCESS) {
        gdk_texture_download(t, cairo_image_surface_get_data(s),
                             (gsize) cairo_image_surface_get_stride(s));
        cairo_surface_mark_dirty(s);
        cairo_save(p->cr);
        cairo_translate(p->cr, (double) x, (double) y);
        cairo_scale(p->cr, (double) w / tw, (double) h / th);
        cairo_set_source_surface(p->cr, s, 0, 0);
        cairo_paint(p->cr);
        cairo_restore(p->cr);
    }
    cairo_surface_destroy(s);
}

// From blue (fast) to orange (slow).
static GdkRGBA heat(const TileMap *m, double ms, float alpha)
{
    const double range = m->top_ms - m->least_ms;
    const float t = range > 0 ? (float) MIN((ms - m->least_ms) / range, 1) : 0;
    const GdkRGBA c = nino_plot_mix(nino_token(NINO_COLOUR_FAST, NINO_THEME_LIGHT),
                                    nino_token(NINO_COLOUR_SLOW, NINO_THEME_LIGHT), t);
    return nino_plot_alpha(&c, alpha);
}

static void draw_tile(const TileMap *m, NinoPlot *p, const Place *at, const nino_event *e)
{
    const double ms = (double) e->u.tile.ns * 1e-6;
    const float x = at->x + e->u.tile.x * at->scale, y = at->y + e->u.tile.y * at->scale;
    const float w = e->u.tile.w * at->scale, h = e->u.tile.h * at->scale;
    const GdkRGBA fill = heat(m, ms, m->picture ? 0.28f : 0.42f), edge = heat(m, ms, 1);
    const GdkRGBA white = *nino_token(NINO_COLOUR_OVER, p->theme),
                  shade = *nino_token(NINO_COLOUR_SHADE, p->theme);
    char text[64], took[32];
    nino_plot_bar(p, x, y, w, h, &fill); // where tiles overlap, they blend here as in the image
    nino_plot_frame(p, floorf(x), floorf(y), ceilf(w), ceilf(h), &edge);
    const float cx = at->x + e->u.tile.core_x * at->scale;
    const float cy = at->y + e->u.tile.core_y * at->scale;
    const float cw = e->u.tile.core_w * at->scale, ch = e->u.tile.core_h * at->scale;
    if (cw > 2 && ch > 2 && (cw < w - 1 || ch < h - 1)) {
        const GdkRGBA core = nino_plot_alpha(&white, 0.75f);
        nino_plot_frame(p, floorf(cx), floorf(cy), floorf(cw), floorf(ch), &core);
    }
    nino_format_ns(took, sizeof(took), (double) e->u.tile.ns);
    g_snprintf(text, sizeof(text), "%u · %s", e->u.tile.order + 1u, took);
    float tw = nino_plot_text_width(p, text);
    const float line = nino_plot_text_height(p);
    if (tw > cw - 6)
        tw = nino_plot_text_width(
            p, (g_snprintf(text, sizeof(text), "%u", e->u.tile.order + 1u), text));
    if (tw > cw - 4 || line > ch - 2)
        return;
    const float mx = floorf(cx + cw / 2), my = floorf(cy + (ch - line) / 2);
    nino_plot_bar(p, mx - floorf(tw / 2) - 4, my - 1, ceilf(tw) + 8, line + 2, &shade);
    nino_plot_text(p, mx, my, 0, NINO_PLOT_CENTRE, &white, text);
}

static void tile_map_draw_head(const TileMap *m, NinoPlot *p, size_t in_pass)
{
    char a[32], b[32], both[80], text[200];
    nino_format_ns(a, sizeof(a), m->least_ms * 1e6);
    nino_format_ns(b, sizeof(b), m->most_ms * 1e6);
    if (m->top_ms < m->most_ms) { // all of these have the last colour
        char top[32];
        nino_format_ns(top, sizeof(top), m->top_ms * 1e6);
        g_snprintf(both, sizeof(both), _("%s to %s"), top, b);
    } else {
        g_strlcpy(both, b, sizeof(both));
    }
    const GdkRGBA fast = heat(m, m->least_ms, 1), slow = heat(m, m->most_ms, 1);
    float x = nino_plot_legend(p, MARGIN, 5, &fast, a);
    if (m->most_ms > m->least_ms)
        x = nino_plot_legend(p, x, 5, &slow, both);
    if (m->n_passes > 1)
        g_snprintf(text, sizeof(text), _("%d × %d, pass %u of %u: %zu tiles (P: next pass)"), m->w,
                   m->h, m->pass + 1, m->n_passes, in_pass);
    else
        g_snprintf(text, sizeof(text), _("%d × %d, %zu of %u tiles"), m->w, m->h, m->n,
                   m->tile[0].u.tile.n);
    nino_plot_text(p, p->width - MARGIN, 5, p->width - x - 2 * MARGIN, NINO_PLOT_RIGHT, &p->fg,
                   text);
}

static void draw_seams(const TileMap *m, NinoPlot *p)
{
    const nino_event *s = last_seam(m);
    char text[256], peak[32];
    uint64_t most = 0;
    double ns = 0;
    for (size_t i = 0; i < m->n; i++) {
        most = MAX(most, m->tile[i].u.tile.peak_bytes);
        ns += (double) m->tile[i].u.tile.ns;
    }
    const float line = nino_plot_text_height(p), y = p->height - 2 * line - 8;
    nino_format_bytes(peak, sizeof(peak), (double) most);
    char took[32];
    nino_format_ns(took, sizeof(took), ns);
    const char *why = nino_run_name(m->run, m->tile[0].name);
    g_snprintf(text, sizeof(text), _("%zu tiles in %s; most memory of one: %s"), m->n, took, peak);
    if (*why)
        g_snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%s)", why);
    nino_plot_text(p, MARGIN, y + line + 2, p->width - 2 * MARGIN, NINO_PLOT_LEFT, &p->dim, text);
    if (s && s->u.seam.pixels)
        g_snprintf(text, sizeof(text),
                   _("Seams: %u, neighbours differ by %.2f/255 (at most %.1f), steps %+.3f/255; "
                     "%.0f %% of the pixels computed again"),
                   s->u.seam.n_seams, (double) s->u.seam.mean, (double) s->u.seam.max,
                   (double) s->u.seam.gradient,
                   100 * (double) s->u.seam.recomputed / (double) s->u.seam.pixels);
    else
        g_snprintf(text, sizeof(text), _("Seams: measured when the last tile is done"));
    nino_plot_text(p, MARGIN, y, p->width - 2 * MARGIN, NINO_PLOT_LEFT, &p->fg, text);
}

// Why there are none: traces of other programs and older versions have their times only.
static const char *tile_map_nothing(const TileMap *m)
{
    size_t n;
    const nino_span *span = nino_history_spans(nino_run_history(m->run), &n);
    for (size_t i = 0; i < n; i++)
        if (span[i].kind == NINO_EV_TILE)
            return _("The run has tiles, but does not tell where in the image they are");
    return _("Tiles appear here when an image is decoded or encoded in tiles");
}

static void tile_map_draw(NinoArea *area, NinoPlot *p, gpointer user)
{
    (void) area;
    TileMap *m = user;
    size_t in_pass = 0;
    tile_map_find_tiles(m);
    if (!m->n) {
        nino_plot_empty(p, tile_map_nothing(m));
        return;
    }
    find_picture(m);
    const Place at = place_of(m, p->width, p->height, nino_plot_text_height(p));
    const float w = (float) m->w * at.scale, h = (float) m->h * at.scale;
    if (m->picture)
        tile_map_draw_picture(p, m->picture, at.x, at.y, w, h);
    else
        nino_plot_bar(p, at.x, at.y, w, h, &p->grid);
    for (size_t i = 0; i < m->n; i++)
        if (m->tile[i].u.tile.pass == m->pass) {
            draw_tile(m, p, &at, &m->tile[i]);
            in_pass++;
        }
    tile_map_draw_head(m, p, in_pass);
    draw_seams(m, p);
}

// ---- pointer and keys --------------------------------------------------------------------------

static Place place_in(NinoArea *area, const TileMap *m)
{
    GtkWidget *w = GTK_WIDGET(area);
    return place_of(m, (float) gtk_widget_get_width(w), (float) gtk_widget_get_height(w),
                    nino_area_line(area));
}

// The middle of the i-th tile's own part.
static gboolean tile_map_item(NinoArea *area, int i, double *x, double *y, gpointer user)
{
    TileMap *m = user;
    tile_map_find_tiles(m);
    const Place at = place_in(area, m);
    for (size_t k = 0; k < m->n; k++) {
        const nino_event *e = &m->tile[k];
        if (e->u.tile.pass != m->pass || i-- > 0)
            continue;
        *x = (double) (at.x + (e->u.tile.core_x + e->u.tile.core_w / 2.0f) * at.scale);
        *y = (double) (at.y + (e->u.tile.core_y + e->u.tile.core_h / 2.0f) * at.scale);
        return TRUE;
    }
    return FALSE;
}

static gboolean tile_map_tip(NinoArea *area, double x, double y, GString *text, gpointer user)
{
    TileMap *m = user;
    int found = 0;
    tile_map_find_tiles(m);
    if (m->n &&
        y > gtk_widget_get_height(GTK_WIDGET(area)) - 2 * (double) nino_area_line(area) - 8) {
        g_string_append(text, _("<b>Seams</b>: how much neighbouring tiles differ where they "
                                "overlap, on average and at most; <b>steps</b>: how much larger "
                                "the change across a border is than beside it"));
        return TRUE;
    }
    const Place at = place_in(area, m);
    const double px = (x - (double) at.x) / (double) at.scale;
    const double py = (y - (double) at.y) / (double) at.scale;
    for (size_t i = 0; i < m->n; i++) {
        const nino_event *e = &m->tile[i];
        char took[32], peak[32];
        if (e->u.tile.pass != m->pass || px < e->u.tile.x || py < e->u.tile.y ||
            px >= e->u.tile.x + e->u.tile.w || py >= e->u.tile.y + e->u.tile.h)
            continue;
        nino_format_ns(took, sizeof(took), (double) e->u.tile.ns);
        nino_format_bytes(peak, sizeof(peak), (double) e->u.tile.peak_bytes);
        g_string_append_printf(text,
                               _("%s<b>Tile %u of %u</b>: %s, peak %s\n%u × %u at %u, %u; its own "
                                 "part %u × %u; halo left "
                                 "%d, top %d, right %d, bottom %d"),
                               found++ ? "\n" : "", e->u.tile.order + 1u, e->u.tile.n, took, peak,
                               e->u.tile.w, e->u.tile.h, e->u.tile.x, e->u.tile.y, e->u.tile.core_w,
                               e->u.tile.core_h, e->u.tile.core_x - e->u.tile.x,
                               e->u.tile.core_y - e->u.tile.y,
                               e->u.tile.x + e->u.tile.w - e->u.tile.core_x - e->u.tile.core_w,
                               e->u.tile.y + e->u.tile.h - e->u.tile.core_y - e->u.tile.core_h);
        const char *device = nino_run_name(nino_area_run(area), e->id);
        if (*device)
            g_string_append_printf(text, _("; on %s"), device);
    }
    if (found > 1)
        g_string_append_printf(text, _("\n%d tiles overlap here: their results are blended"),
                               found);
    return found > 0;
}

static gboolean tile_map_key(NinoArea *area, guint keyval, GdkModifierType mods, gpointer user)
{
    TileMap *m = user;
    if ((keyval != GDK_KEY_p && keyval != GDK_KEY_P) ||
        (mods & (GDK_CONTROL_MASK | GDK_ALT_MASK)) || m->n_passes < 2)
        return FALSE;
    m->pass = (m->pass + 1) % m->n_passes;
    m->is_chosen = TRUE;
    gtk_widget_queue_draw(GTK_WIDGET(area));
    return TRUE;
}

// The tile whose own part is there; beside the image the next pass.
static gboolean tile_map_click(NinoArea *area, double x, double y, int n_press, gpointer user)
{
    const TileMap *m = user;
    const Place at = place_in(area, m);
    const double px = (x - (double) at.x) / (double) at.scale;
    const double py = (y - (double) at.y) / (double) at.scale;
    NinoRun *run = nino_area_run(area);
    for (size_t i = 0; i < m->n && n_press == 1; i++) {
        const nino_event *e = &m->tile[i];
        if (e->u.tile.pass != m->pass || px < e->u.tile.core_x || py < e->u.tile.core_y ||
            px >= e->u.tile.core_x + e->u.tile.core_w || py >= e->u.tile.core_y + e->u.tile.core_h)
            continue;
        nino_run_pick_span(run, nino_history_span_of(nino_run_history(run), e->parent));
        return TRUE;
    }
    return n_press == 1 && tile_map_key(area, GDK_KEY_p, 0, user);
}

// ---- widget ------------------------------------------------------------------------------------

static void tile_map_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    TileMap *m = nino_area_user(NINO_AREA(view));
    tile_map_find_tiles(m);
    for (size_t i = 0; i < m->n; i++) {
        const nino_event *e = &m->tile[i];
        const NinoCell cells[] = {
            { "pass", NULL, e->u.tile.pass + 1 },
            { "order", NULL, e->u.tile.order + 1 },
            { "x", NULL, e->u.tile.x },
            { "y", NULL, e->u.tile.y },
            { "w", NULL, e->u.tile.w },
            { "h", NULL, e->u.tile.h },
            { "core_x", NULL, e->u.tile.core_x },
            { "core_y", NULL, e->u.tile.core_y },
            { "core_w", NULL, e->u.tile.core_w },
            { "core_h", NULL, e->u.tile.core_h },
            { "ms", NULL, (double) e->u.tile.ns * 1e-6 },
            { "peak_bytes", NULL, (double) e->u.tile.peak_bytes },
            { "device", nino_run_name(nino_area_run(NINO_AREA(view)), e->id), 0 },
        };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

static void free_map(gpointer user)
{
    TileMap *m = user;
    g_clear_object(&m->picture);
    g_free(m->picture_path);
    g_free(m);
}

static GtkWidget *new_tile_map(NinoRun *run)
{
    static const NinoAreaType type = { .label = N_("Tile map"),
                                       .draw = tile_map_draw,
                                       .tip = tile_map_tip,
                                       .item = tile_map_item,
                                       .click = tile_map_click,
                                       .key = tile_map_key,
                                       .min_width = 320,
                                       .min_height = 240 };
    static const NinoViewExport x = { .draw = nino_area_export, .rows = tile_map_export_rows };
    TileMap *m = g_new0(TileMap, 1);
    m->run = run;
    GtkWidget *w = nino_area_new(run, &type, m, free_map);
    nino_view_set_export(w, &x);
    return w;
}

const NinoViewType nino_view_tile_map = {
    .id = "tiles",
    .title = N_("Tiles"),
    .help =
        N_("The tiles of a decode over its image: time, order, overlap, and how well they meet"),
    .create = new_tile_map,
};
