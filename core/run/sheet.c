// The picture of a grid: all results in rows and columns, with the values beside them.
#include <ninodes/grid.h>
#include <ninodes/picture.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/media/image.h"
#include "core/media/label.h"
#include "core/media/png.h"
#include "core/node/util.h"
#include "core/op/resample.h"

enum { MAX_LINES = 3, PAPER = 255, EMPTY = 232, INK = 32, NAME_INK = 112, LARGE = 512 };
#define MAX_PIXELS ((uint64_t) 1 << 26)

// A label, broken into lines that point into its text.
typedef struct label {
    const char *text[MAX_LINES];
    size_t bytes[MAX_LINES];
    int n, width; // of the widest
    bool is_cut;
} label;

typedef struct layout {
    const nino_sheet *sheet;
    nino_font *font;
    int columns, rows, n; // as laid out; cells
    int cell_w, cell_h;   // of the box for a picture, scaled
    double scale;
    int gap, line;
    int step_x;                // of columns, whose labels may be wider than the pictures
    int left, top;             // of the first box
    int width, height, head_h; // of the labels above the boxes
    int *row_y;                // of the boxes
    label *column, *row;       // column: with one axis one a cell
    uint8_t *rgb;
} layout;

static int larger(int a, int b) { return a > b ? a : b; }

// ---- labels ------------------------------------------------------------------------------------

// Breaks at spaces, inside of words only where one is too long.
static label break_lines(nino_font *f, const char *text, int width)
{
    label l = { .n = 0 };
    size_t left = strlen(text);
    const int dots = nino_font_width(f, "\u2026", 3);
    while (left && l.n < MAX_LINES) {
        size_t n = nino_font_fit(f, text, left, width);
        const bool is_last = l.n == MAX_LINES - 1;
        if (n < left && is_last) {
            n = nino_font_fit(f, text, left, width - dots);
            l.is_cut = true;
        } else if (n < left) {
            size_t at = n;
            while (at && text[at] != ' ' && text[at] != '\n')
                at--;
            n = at ? at : n;
        }
        if (!n && !is_last) // not even one letter
            break;
        l.text[l.n] = text;
        l.bytes[l.n++] = n;
        l.width = larger(l.width, nino_font_width(f, text, n) + (l.is_cut ? dots : 0));
        text += n;
        left -= n;
        while (left && (*text == ' ' || *text == '\n')) {
            text++;
            left--;
        }
    }
    return l;
}

// align: 0 left, 1 centre, 2 right, of a place that is `width` wide.
static void draw_label(const layout *y, const label *l, int x, int at, int width, int align,
                       uint8_t grey)
{
    for (int i = 0; i < l->n; i++) {
        const int w = nino_font_width(y->font, l->text[i], l->bytes[i]);
        const int from = x + (width - w) * align / 2;
        nino_font_draw(y->font, y->rgb, y->width, y->height, from, at + i * y->line, grey,
                       l->text[i], l->bytes[i]);
        if (l->is_cut && i == l->n - 1)
            nino_font_draw(y->font, y->rgb, y->width, y->height, from + w, at + i * y->line, grey,
                           "\u2026", 3);
    }
}

// ---- pictures ----------------------------------------------------------------------------------

static int sheet_scaled(int v, double scale)
{
    const int s = (int) (v * scale);
    return s < 1 ? 1 : s;
}

// rgba on paper, shrunk: one pass a direction. out [h,w,3].
static nino_status sheet_shrink(const nino_picture *p, int w, int h, uint8_t *out, nino_error *err)
{
    nino_resample_axis ax = { 0 }, ay = { 0 };
    float *wide = malloc((size_t) p->height * (size_t) w * 3 * sizeof(*wide));
    nino_status st = wide ? nino_resample_make(NINO_FILTER_AREA, p->width, w, &ax, err)
                          : nino_fail(err, NINO_ERR_NOMEM, "sheet", "out of memory");
    if (!st)
        st = nino_resample_make(NINO_FILTER_AREA, p->height, h, &ay, err);
    for (int y = 0; y < p->height && !st; y++)
        for (int x = 0; x < w; x++) {
            float sum[3] = { 0 };
            const uint8_t *s =
                p->rgba + ((size_t) y * (size_t) p->width + (size_t) ax.start[x]) * 4;
            for (int t = 0; t < ax.taps; t++, s += 4)
                for (int c = 0; c < 3; c++)
                    sum[c] += ax.weight[x * ax.taps + t] *
                              ((float) PAPER + (float) ((s[c] - PAPER) * s[3]) / 255);
            memcpy(wide + ((size_t) y * (size_t) w + (size_t) x) * 3, sum, sizeof(sum));
        }
    for (int y = 0; y < h && !st; y++)
        for (int i = 0; i < w * 3; i++) {
            float sum = 0.5F;
            for (int t = 0; t < ay.taps; t++)
                sum += ay.weight[y * ay.taps + t] *
                       wide[(size_t) (ay.start[y] + t) * (size_t) w * 3 + (size_t) i];
            out[(size_t) y * (size_t) w * 3 + (size_t) i] = (uint8_t) (sum > 255 ? 255 : sum);
        }
    nino_resample_release(&ax);
    nino_resample_release(&ay);
    free(wide);
    return st;
}

static void sheet_fill(const layout *y, int x, int at, int w, int h, uint8_t grey)
{
    for (int i = 0; i < h; i++)
        memset(y->rgb + ((size_t) (at + i) * (size_t) y->width + (size_t) x) * 3, grey,
               (size_t) w * 3);
}

static nino_status sheet_draw_picture(const layout *y, int x, int at, const char *path,
                                      nino_error *err)
{
    nino_picture p = { 0 };
    nino_status st = NINO_OK;
    if (!path || nino_picture_load_frames(path, 1, &p, NULL)) {
        sheet_fill(y, x, at, y->cell_w, y->cell_h, EMPTY);
        return NINO_OK;
    }
    int w = sheet_scaled(p.width, y->scale), h = sheet_scaled(p.height, y->scale);
    w = w > y->cell_w ? y->cell_w : w; // the file may be another one than a moment ago
    h = h > y->cell_h ? y->cell_h : h;
    uint8_t *small = malloc((size_t) w * (size_t) h * 3);
    st = small ? sheet_shrink(&p, w, h, small, err)
               : nino_fail(err, NINO_ERR_NOMEM, "sheet", "out of memory");
    x += (y->cell_w - w) / 2;
    at += (y->cell_h - h) / 2;
    for (int i = 0; i < h && !st; i++)
        memcpy(y->rgb + ((size_t) (at + i) * (size_t) y->width + (size_t) x) * 3,
               small + (size_t) i * (size_t) w * 3, (size_t) w * 3);
    free(small);
    nino_picture_release(&p);
    return st;
}

// ---- layout ------------------------------------------------------------------------------------

// The largest width and height of the pictures.
static nino_status sheet_measure(layout *y, nino_error *err)
{
    for (int i = 0; i < y->n; i++) {
        nino_picture p = { 0 };
        if (!y->sheet->picture[i] || nino_picture_load_frames(y->sheet->picture[i], 1, &p, NULL))
            continue;
        y->cell_w = larger(y->cell_w, p.width);
        y->cell_h = larger(y->cell_h, p.height);
        nino_picture_release(&p);
    }
    return y->cell_w ? NINO_OK
                     : nino_fail(err, NINO_ERR_MISSING, "sheet", "no cell has a picture to show");
}

// Few values in one line; many so that the sheet is about square.
static int columns_for(int n, int w, int h)
{
    int columns = n < 6 ? n : 1;
    while (columns * columns * w < n * h)
        columns++;
    return columns < n ? columns : n;
}

static nino_status make_labels(layout *y, nino_error *err)
{
    const nino_sheet *s = y->sheet;
    const int em = y->line, n = s->rows ? y->columns : y->n;
    const int column_max = larger(y->cell_w, 8 * em), row_max = larger(y->cell_w / 2, 8 * em);
    int lines = 1, row_w = 0;
    y->column = calloc((size_t) n, sizeof(*y->column));
    y->row = calloc((size_t) y->rows, sizeof(*y->row));
    y->row_y = calloc((size_t) y->rows, sizeof(*y->row_y));
    if (!y->column || !y->row || !y->row_y)
        return nino_fail(err, NINO_ERR_NOMEM, "sheet", "out of memory");
    y->step_x = y->cell_w;
    for (int i = 0; i < n; i++) {
        y->column[i] = break_lines(y->font, s->columns->value[i], column_max);
        y->step_x = larger(y->step_x, y->column[i].width);
        lines = larger(lines, y->column[i].n);
    }
    for (int i = 0; i < y->rows && s->rows; i++) {
        y->row[i] = break_lines(y->font, s->rows->value[i], row_max);
        row_w = larger(row_w, y->row[i].width);
    }
    if (s->rows) { // its name stands in the corner
        const int w = nino_font_width(y->font, s->rows->input, strlen(s->rows->input));
        row_w = larger(row_w, w < 16 * em ? w : 16 * em);
    }
    y->head_h = lines * y->line;
    y->step_x += y->gap;
    y->left = y->gap + (s->rows ? row_w + y->gap : 0);
    y->top = y->gap + y->line;
    int at = y->top;
    for (int i = 0; i < y->rows; i++) {
        at += !i || !s->rows ? y->head_h + y->gap / 2 : 0;
        y->row_y[i] = at;
        at += larger(y->cell_h, s->rows ? y->row[i].n * y->line : 0) + y->gap;
    }
    // a lone narrow column still has room for the name of its axis
    const int name = nino_font_width(y->font, s->columns->input, strlen(s->columns->input));
    y->width = y->left + larger(y->columns * y->step_x, (name < 16 * em ? name : 16 * em) + y->gap);
    y->height = at;
    return NINO_OK;
}

static void release_labels(layout *y)
{
    free(y->column);
    free(y->row);
    free(y->row_y);
    y->column = y->row = NULL;
    y->row_y = NULL;
    nino_font_destroy(&y->font);
}

static nino_status sheet_lay_out(layout *y, nino_error *err)
{
    const int w = y->cell_w, h = y->cell_h;
    nino_status st = NINO_OK;
    for (y->scale = 1;; y->scale *= 0.9) {
        y->cell_w = sheet_scaled(w, y->scale);
        y->cell_h = sheet_scaled(h, y->scale);
        const int px = y->cell_w >= LARGE ? 32 : 16;
        if (!(y->font = nino_font_create(px, err)))
            return NINO_ERR_NOMEM;
        y->line = nino_font_line(y->font);
        y->gap = px / 2;
        if ((st = make_labels(y, err)))
            return st;
        const bool fits = y->width <= NINO_IMAGE_MAX_SIDE && y->height <= NINO_IMAGE_MAX_SIDE &&
                          (uint64_t) y->width * (uint64_t) y->height <= MAX_PIXELS;
        if (fits)
            return NINO_OK;
        if (y->cell_w == 1 && y->cell_h == 1)
            return nino_fail(err, NINO_ERR_RANGE, "sheet", "too many cells for one picture");
        release_labels(y);
    }
}

static nino_status sheet_draw(const layout *y, nino_error *err)
{
    const nino_sheet *s = y->sheet;
    nino_status st = NINO_OK;
    sheet_fill(y, 0, 0, y->width, y->height, PAPER);
    const label name = break_lines(y->font, s->columns->input, y->width - y->left - y->gap);
    draw_label(y, &(label){ .text = { name.text[0] }, .bytes = { name.bytes[0] }, .n = 1 }, y->left,
               y->gap / 2, 0, 0, NAME_INK);
    if (s->rows) {
        const label l = break_lines(y->font, s->rows->input, y->left - 2 * y->gap);
        draw_label(y, &l, y->gap, y->row_y[0] - y->gap / 2 - l.n * y->line, y->left - 2 * y->gap, 2,
                   NAME_INK);
    }
    for (int i = 0; i < y->n && !st; i++) {
        const int column = i % y->columns, row = i / y->columns;
        const int x = y->left + column * y->step_x, at = y->row_y[row];
        const label *l = s->rows ? &y->column[column] : &y->column[i];
        if (!row || !s->rows) // its last line is next to the box
            draw_label(y, l, x, at - y->gap / 2 - l->n * y->line, y->step_x - y->gap, 1, INK);
        if (!column && s->rows)
            draw_label(y, &y->row[row], y->gap,
                       at + larger(0, y->cell_h - y->row[row].n * y->line) / 2,
                       y->left - 2 * y->gap, 2, INK);
        st =
            sheet_draw_picture(y, x + (y->step_x - y->gap - y->cell_w) / 2, at, s->picture[i], err);
    }
    return st;
}

nino_status nino_sheet_save(const nino_sheet *s, const char *dir, char **path, nino_error *err)
{
    layout y = { .sheet = s, .n = (int) (s->columns->n * (s->rows ? s->rows->n : 1)) };
    nino_buf png = { 0 };
    nino_status st = sheet_measure(&y, err);
    if (st)
        return st;
    y.columns = s->rows ? (int) s->columns->n : columns_for(y.n, y.cell_w, y.cell_h);
    y.rows = (y.n + y.columns - 1) / y.columns;
    if ((st = sheet_lay_out(&y, err)))
        goto end;
    if (!(y.rgb = malloc((size_t) y.width * (size_t) y.height * 3))) {
        st = nino_fail(err, NINO_ERR_NOMEM, "sheet", "out of memory");
        goto end;
    }
    if ((st = sheet_draw(&y, err)) ||
        (st = nino_png_encode(&png, y.rgb, y.width, y.height, 3, 8, NULL, 0, err)) ||
        (st = nino_file_mkdirs(dir, false, err)))
        goto end;
    int64_t counter = nino_prefix_counter(dir, "grid");
    st = nino_prefix_save(dir, "grid", ".png", &counter, png.data, png.len, path, err);
end:
    nino_buf_release(&png);
    free(y.rgb);
    release_labels(&y);
    return st;
}

const char *nino_sheet_choose(const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        nino_picture p = { 0 };
        if (nino_picture_load_frames(paths[i], 1, &p, NULL))
            continue;
        nino_picture_release(&p);
        return paths[i];
    }
    return NULL;
}
