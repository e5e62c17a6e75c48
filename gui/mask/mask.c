// A step of undo is the rectangle that it changed, as it was before. The coverage has cairo's rows, so that
// it is drawn as it is.
#include "mask/mask.h"

#include <cairo.h>
#include <gio/gio.h>
#include <math.h>
#include <ninodes/picture.h>
#include <string.h>

#define MAX_UNDO ((gsize) 256 << 20) // bytes

typedef struct Step {
    NinoMaskRect at;
    guchar *was;
} Step;

struct NinoMask {
    nino_picture picture;
    int stride;
    guchar *now;    // coverage
    guchar *before; // of the stroke that is going on
    guchar *stroke; // what its brush has covered
    NinoBrush brush;
    NinoMaskRect changed; // by the stroke
    gboolean is_drawing;
    GQueue undo, redo; // Step, the newest first
};

static gsize n_bytes(const NinoMask *m) { return (gsize) m->stride * (gsize) m->picture.height; }

static void free_step(gpointer p)
{
    g_free(((Step *) p)->was);
    g_free(p);
}

NinoMask *nino_mask_open(const char *path, GError **error)
{
    NinoMask *m = g_new0(NinoMask, 1);
    nino_error err = { 0 };
    if (nino_picture_load_frames(path, 1, &m->picture, &err)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", path, err.msg);
        g_free(m);
        return NULL;
    }
    m->stride = cairo_format_stride_for_width(CAIRO_FORMAT_A8, m->picture.width);
    m->now = g_malloc0(n_bytes(m));
    m->before = g_malloc0(n_bytes(m));
    m->stroke = g_malloc0(n_bytes(m));
    for (int y = 0; y < m->picture.height; y++)
        for (int x = 0; x < m->picture.width; x++)
            m->now[(gsize) y * (gsize) m->stride + (gsize) x] =
                255 - m->picture.rgba[((gsize) y * (gsize) m->picture.width + (gsize) x) * 4 + 3];
    return m;
}

void nino_mask_free(NinoMask *m)
{
    if (!m)
        return;
    g_queue_clear_full(&m->undo, free_step);
    g_queue_clear_full(&m->redo, free_step);
    nino_picture_release(&m->picture);
    g_free(m->now);
    g_free(m->before);
    g_free(m->stroke);
    g_free(m);
}

int nino_mask_width(const NinoMask *m) { return m->picture.width; }
int nino_mask_height(const NinoMask *m) { return m->picture.height; }
const guchar *nino_mask_rgba(const NinoMask *m) { return m->picture.rgba; }

const guchar *nino_mask_data(const NinoMask *m, int *stride)
{
    *stride = m->stride;
    return m->now;
}

double nino_mask_share(const NinoMask *m)
{
    guint64 sum = 0;
    for (int y = 0; y < m->picture.height; y++)
        for (int x = 0; x < m->picture.width; x++)
            sum += m->now[(gsize) y * (gsize) m->stride + (gsize) x];
    return (double) sum / 255 / ((double) m->picture.width * m->picture.height);
}

// ---- undo ------------------------------------------------------------------------------------

static guchar *copy_rect(const NinoMask *m, const guchar *from, const NinoMaskRect *r)
{
    guchar *out = g_malloc((gsize) r->width * (gsize) r->height);
    for (int y = 0; y < r->height; y++)
        memcpy(out + (gsize) y * (gsize) r->width,
               from + (gsize) (r->y + y) * (gsize) m->stride + (gsize) r->x, (gsize) r->width);
    return out;
}

// Old steps go where the new ones need the room.
static void keep_step(NinoMask *m, const guchar *before, const NinoMaskRect *r)
{
    gsize bytes = 0;
    if (!r->width)
        return;
    Step *s = g_new(Step, 1);
    *s = (Step){ *r, copy_rect(m, before, r) };
    g_queue_push_head(&m->undo, s);
    g_queue_clear_full(&m->redo, free_step);
    for (GList *l = m->undo.head; l; l = l->next) {
        const Step *at = l->data;
        bytes += (gsize) at->at.width * (gsize) at->at.height;
        if (bytes > MAX_UNDO && l->prev) {
            while (m->undo.tail != l->prev)
                free_step(g_queue_pop_tail(&m->undo));
            break;
        }
    }
}

static gboolean go_back(NinoMask *m, GQueue *from, GQueue *to)
{
    Step *s = m->is_drawing ? NULL : g_queue_pop_head(from);
    if (!s)
        return FALSE;
    guchar *now = copy_rect(m, m->now, &s->at);
    for (int y = 0; y < s->at.height; y++)
        memcpy(m->now + (gsize) (s->at.y + y) * (gsize) m->stride + (gsize) s->at.x,
               s->was + (gsize) y * (gsize) s->at.width, (gsize) s->at.width);
    g_free(s->was);
    s->was = now;
    g_queue_push_head(to, s);
    return TRUE;
}

gboolean nino_mask_undo(NinoMask *m) { return go_back(m, &m->undo, &m->redo); }
gboolean nino_mask_redo(NinoMask *m) { return go_back(m, &m->redo, &m->undo); }
gboolean nino_mask_can_undo(const NinoMask *m) { return m->undo.head != NULL; }
gboolean nino_mask_can_redo(const NinoMask *m) { return m->redo.head != NULL; }

// ---- strokes ---------------------------------------------------------------------------------

void nino_mask_begin(NinoMask *m, const NinoBrush *brush)
{
    nino_mask_end(m);
    m->brush = *brush;
    m->is_drawing = TRUE;
    m->changed = (NinoMaskRect){ 0 };
    memcpy(m->before, m->now, n_bytes(m));
    memset(m->stroke, 0, n_bytes(m));
}

static double distance(double px, double py, double x0, double y0, double x1, double y1)
{
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    const double t = length > 0 ? CLAMP(((px - x0) * dx + (py - y0) * dy) / length, 0.0, 1.0) : 0;
    return hypot(px - x0 - t * dx, py - y0 - t * dy);
}

// A hard edge still covers the pixels that it cuts by their share.
static guchar covered(const NinoBrush *b, double far)
{
    const double soft = b->radius * b->feather;
    const double c = soft > 1 ? (b->radius - far) / soft : b->radius - far + 0.5;
    return (guchar) rint(255 * CLAMP(c, 0.0, 1.0));
}

static void join_rect(NinoMaskRect *r, const NinoMaskRect *more)
{
    if (!r->width) {
        *r = *more;
        return;
    }
    const int x1 = MAX(r->x + r->width, more->x + more->width),
              y1 = MAX(r->y + r->height, more->y + more->height);
    r->x = MIN(r->x, more->x);
    r->y = MIN(r->y, more->y);
    r->width = x1 - r->x;
    r->height = y1 - r->y;
}

static NinoMaskRect around(const NinoMask *m, double x0, double y0, double x1, double y1)
{
    const double reach = m->brush.radius + 1;
    const int left = (int) CLAMP(floor(MIN(x0, x1) - reach), 0, m->picture.width),
              top = (int) CLAMP(floor(MIN(y0, y1) - reach), 0, m->picture.height),
              right = (int) CLAMP(ceil(MAX(x0, x1) + reach), 0, m->picture.width),
              bottom = (int) CLAMP(ceil(MAX(y0, y1) + reach), 0, m->picture.height);
    return right > left && bottom > top ? (NinoMaskRect){ left, top, right - left, bottom - top }
                                        : (NinoMaskRect){ 0 };
}

void nino_mask_line(NinoMask *m, double x0, double y0, double x1, double y1, NinoMaskRect *dirty)
{
    const NinoMaskRect r = around(m, x0, y0, x1, y1);
    *dirty = r;
    if (!m->is_drawing || !r.width)
        return;
    for (int y = r.y; y < r.y + r.height; y++)
        for (int x = r.x; x < r.x + r.width; x++) {
            const gsize at = (gsize) y * (gsize) m->stride + (gsize) x;
            const guchar c = covered(&m->brush, distance(x + 0.5, y + 0.5, x0, y0, x1, y1));
            if (c <= m->stroke[at])
                continue;
            const guint was = m->before[at];
            m->stroke[at] = c;
            m->now[at] = (guchar) (m->brush.erases ? (was * (255u - c) + 127) / 255
                                                   : was + ((255 - was) * c + 127) / 255);
        }
    join_rect(&m->changed, &r);
}

void nino_mask_end(NinoMask *m)
{
    if (m->is_drawing)
        keep_step(m, m->before, &m->changed);
    m->is_drawing = FALSE;
}

// ---- all of it -------------------------------------------------------------------------------

static void change_all(NinoMask *m, gboolean inverts)
{
    const NinoMaskRect all = { 0, 0, m->picture.width, m->picture.height };
    nino_mask_end(m);
    keep_step(m, m->now, &all);
    for (gsize i = 0; i < n_bytes(m); i++)
        m->now[i] = inverts ? 255 - m->now[i] : 0;
}

void nino_mask_invert(NinoMask *m) { change_all(m, TRUE); }
void nino_mask_clear(NinoMask *m) { change_all(m, FALSE); }

guchar *nino_mask_result(const NinoMask *m)
{
    const gsize w = (gsize) m->picture.width, h = (gsize) m->picture.height;
    guchar *out = g_memdup2(m->picture.rgba, w * h * 4);
    for (gsize y = 0; y < h; y++)
        for (gsize x = 0; x < w; x++)
            out[(y * w + x) * 4 + 3] = 255 - m->now[y * (gsize) m->stride + x];
    return out;
}
