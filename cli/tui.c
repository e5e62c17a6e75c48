// The screen of ninodes monitor: job line, nodes, kernels, memory, device, queue and the tile map.
#include "cli.h"

#include <curses.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FRAME_MS = 100,
    MAX_TILES = 4096,
    MAX_OPS = 256,
    MAX_NODES = 256,
    ASK_MS = 3000,
    HEATS = 5,
    MAX_DEVICES = 16 // that share tiles
};

typedef struct tile {
    uint16_t x, y, w, h;
    uint64_t ns;
} tile;

typedef struct tile_device { // what it has done of these tiles
    char name[24];
    int n;
    uint64_t ns;
} tile_device;

struct tui {
    SCREEN *screen;
    uint64_t drawn_ms, asked_ms;
    int sort;
    bool has_device;                // a sample of the device has come
    double value[NINO_COUNTER_MAX]; // of the counters, as told last; NaN: not known
    tile *tiles;
    int n_tiles;
    tile_device device[MAX_DEVICES];
    int n_devices;
    uint16_t order, total; // of the tile that came last
    int width, height;     // of the picture
    char said[80], advice[160];
    nino_op_stat ops[MAX_OPS];
    nino_node_stat nodes[MAX_NODES];
};

static const char *const sorts[] = { "total", "mean", "calls", "p95", "max" };

static uint64_t tui_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

// ---- start and end -----------------------------------------------------------------------------

bool tui_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0;
}

tui *tui_open(void)
{
    tui *t = calloc(1, sizeof(*t));
    if (!t || !(t->tiles = calloc(MAX_TILES, sizeof(*t->tiles)))) {
        free(t);
        return NULL;
    }
    for (size_t i = 0; i < NINO_COUNTER_MAX; i++)
        t->value[i] = (double) NAN;
    setlocale(LC_CTYPE, ""); // characters wider than a byte; numbers stay as they are
    if (!(t->screen = newterm(NULL, out_plain(), stdin))) {
        free(t->tiles);
        free(t);
        return NULL;
    }
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    if (!getenv("NO_COLOR") && has_colors() && start_color() == OK && use_default_colors() == OK) {
        static const short heat[HEATS] = { COLOR_BLUE, COLOR_CYAN, COLOR_GREEN, COLOR_YELLOW,
                                           COLOR_RED };
        for (int i = 0; i < HEATS; i++)
            init_pair((short) (i + 1), heat[i], -1);
    }
    return t;
}

void tui_close(tui **screen)
{
    tui *t = *screen;
    if (!t)
        return;
    endwin();
    delscreen(t->screen);
    free(t->tiles);
    free(t);
    *screen = NULL;
}

// ---- what comes in -----------------------------------------------------------------------------

static void tui_add_device(tui *t, const char *name, uint64_t ns)
{
    int i = 0;
    while (i < t->n_devices && strcmp(t->device[i].name, name))
        i++;
    if (!*name || i == MAX_DEVICES)
        return;
    if (i == t->n_devices) {
        t->device[t->n_devices++] = (tile_device){ .n = 0 };
        snprintf(t->device[i].name, sizeof(t->device[i].name), "%s", name);
    }
    t->device[i].n++;
    t->device[i].ns += ns;
}

static void tui_add_tile(tui *t, const nino_event *e, const char *device)
{
    if (e->u.tile.order <= t->order || e->u.tile.n != t->total) { // another pass or picture
        if (e->u.tile.pass == 0 || e->u.tile.n != t->total)
            t->n_tiles = t->n_devices = t->width = t->height = 0;
        t->total = e->u.tile.n;
    }
    t->order = e->u.tile.order;
    const int right = e->u.tile.x + e->u.tile.w, bottom = e->u.tile.y + e->u.tile.h;
    t->width = right > t->width ? right : t->width;
    t->height = bottom > t->height ? bottom : t->height;
    if (t->n_tiles < MAX_TILES)
        t->tiles[t->n_tiles++] =
            (tile){ e->u.tile.x, e->u.tile.y, e->u.tile.w, e->u.tile.h, e->u.tile.ns };
    tui_add_device(t, device, e->u.tile.ns);
}

static void add_sample(tui *t, const nino_event *e)
{
    t->has_device |= e->kind == NINO_EV_DEVICE;
    for (unsigned i = 0; i < NINO_SAMPLE_VALUES; i++)
        if (nino_counter_row(e->u.sample.id[i]))
            t->value[e->u.sample.id[i]] = e->u.sample.value[i];
}

void tui_add(tui *t, const nino_event *ev, size_t n, name_fn name, void *priv)
{
    for (size_t i = 0; i < n; i++) {
        if (ev[i].kind == NINO_EV_TILE_INFO)
            tui_add_tile(t, &ev[i], name(priv, ev[i].id));
        else if (ev[i].kind == NINO_EV_DEVICE || ev[i].kind == NINO_EV_HOST)
            add_sample(t, &ev[i]);
    }
}

tui_action tui_key(tui *t)
{
    for (int key; (key = getch()) != ERR;) {
        const bool asked = t->asked_ms && tui_now_ms() - t->asked_ms < ASK_MS;
        t->drawn_ms = 0; // something will look different
        t->asked_ms = 0;
        t->said[0] = 0;
        switch (key) {
        case 'q': return TUI_QUIT;
        case 'p': return TUI_PAUSE;
        case 's': t->sort = (t->sort + 1) % (int) (sizeof(sorts) / sizeof(sorts[0])); break;
        case 'c':
            if (asked)
                return TUI_CANCEL;
            t->asked_ms = tui_now_ms();
            tui_say(t, "c again cancels the running job");
            break;
        default: break;
        }
    }
    return TUI_NOTHING;
}

void tui_advise(tui *t, const char *text) { snprintf(t->advice, sizeof(t->advice), "%s", text); }

void tui_say(tui *t, const char *text) { snprintf(t->said, sizeof(t->said), "%s", text); }

// ---- drawing -----------------------------------------------------------------------------------

// Text in a field of `width` columns, cut or filled with spaces; nothing that steers the terminal.
__attribute__((format(printf, 4, 5))) static void put(int y, int x, int width, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    nino_utf8_printable(text, sizeof(text), text, strlen(text));
    if (y >= LINES || x >= COLS || width <= 0)
        return;
    width = width < COLS - x ? width : COLS - x;
    mvhline(y, x, ' ', width);
    mvaddnstr(y, x, text, width);
}

static void tui_head(int y, int x, int width, const char *text)
{
    attron(A_REVERSE);
    put(y, x, width, " %s", text);
    attroff(A_REVERSE);
}

static int tui_by_key(const nino_op_stat *a, const nino_op_stat *b, int sort)
{
    const double x[] = { (double) a->total_ns, a->mean_ns, (double) a->calls, a->p95_ns,
                         (double) a->max_ns };
    const double y[] = { (double) b->total_ns, b->mean_ns, (double) b->calls, b->p95_ns,
                         (double) b->max_ns };
    return x[sort] < y[sort] ? 1 : x[sort] > y[sort] ? -1 : 0;
}

static int tui_kernels(tui *t, const nino_stats *s, int y, int lines, int width)
{
    char title[120];
    size_t n = nino_stats_ops(s, t->ops, MAX_OPS);
    n = n < MAX_OPS ? n : MAX_OPS;
    for (size_t i = 1; i < n; i++) { // nearly sorted from frame to frame
        const nino_op_stat v = t->ops[i];
        size_t k = i;
        for (; k > 0 && tui_by_key(&t->ops[k - 1], &v, t->sort) > 0; k--)
            t->ops[k] = t->ops[k - 1];
        t->ops[k] = v;
    }
    snprintf(title, sizeof(title), "%-22s %7s %9s %8s %8s %8s %7s", "kernel", "calls", "total ms",
             "mean us", "p95 us", "GFLOP/s", "GB/s");
    tui_head(y++, 0, width, title);
    for (size_t i = 0; i < n && lines > 1; i++, lines--) {
        const nino_op_stat *o = &t->ops[i];
        put(y++, 0, width, " %-22.22s %7llu %9.1f %8.1f %8.1f %8.1f %7.1f", o->name,
            (unsigned long long) o->calls, (double) o->total_ns * 1e-6, o->mean_ns * 1e-3,
            o->p95_ns * 1e-3, o->gflops, o->gbps);
    }
    return y;
}

static int tui_nodes(tui *t, const nino_stats *s, int y, int lines, int width)
{
    char a[32], b[32], title[120];
    size_t n = nino_stats_nodes(s, t->nodes, MAX_NODES);
    n = n < MAX_NODES ? n : MAX_NODES;
    snprintf(title, sizeof(title), "%-40s %10s %12s %11s", "node", "time", "memory", "peak");
    tui_head(y++, 0, width, title);
    for (size_t i = n > (size_t) lines - 1 ? n - (size_t) lines + 1 : 0; i < n; i++) {
        const nino_node_stat *o = &t->nodes[i];
        const double delta = (double) o->mem_delta;
        put(y++, 0, width, " %-40.40s %8.3f s %12s %11s", o->name, (double) o->ns * 1e-9,
            human_bytes(a, sizeof(a), delta), human_bytes(b, sizeof(b), (double) o->mem_peak));
    }
    return y;
}

static void bar(char *buf, int width, double part, double whole)
{
    const int full = whole > 0 ? (int) (part / whole * width + 0.5) : 0;
    for (int i = 0; i < width; i++)
        buf[i] = i < full ? '#' : '.';
    buf[width] = 0;
}

// "busy 37 %  2900 MHz": what is known of the counters that have a place here.
static void tui_counters(const tui *t, char *buf, size_t size)
{
    char why[64];
    const nino_counter *c;
    size_t n = 0;
    buf[0] = 0;
    for (unsigned id = 1; (c = nino_counter_row(id)) && n < size; id++) {
        const bool is_bytes = c->unit == NINO_UNIT_BYTES;
        const double v = t->value[id] / (is_bytes ? 1073741824.0 : 1);
        if (c->brief && isfinite(v) && v > 0)
            n += (size_t) snprintf(buf + n, size - n, "%s%s%s%.*f %s", n ? "  " : "", c->brief,
                                   *c->brief ? " " : "", is_bytes, v,
                                   is_bytes ? "GiB" : nino_unit_text((nino_unit) c->unit));
    }
    const double bits = t->value[NINO_COUNTER_GPU_THROTTLE];
    if (bits > 0 && n < size)
        snprintf(buf + n, size - n, "  THROTTLED: %s",
                 nino_throttle_text((unsigned) bits, why, sizeof(why)));
}

static int tui_memory(const tui *t, const nino_stats *s, int y, int width)
{
    char a[32], b[32], c[32], used[24], line[400];
    nino_mem_stat m;
    nino_stats_memory(s, &m);
    bar(used, 20, (double) m.in_use, (double) (m.budget ? m.budget : m.peak));
    put(y++, 0, width, " pool [%s] %s of %s, peak %s, fragmentation %.0f %%", used,
        human_bytes(a, sizeof(a), (double) m.in_use), human_bytes(b, sizeof(b), (double) m.budget),
        human_bytes(c, sizeof(c), (double) m.peak), m.fragmentation * 100);
    if (!t->has_device)
        return y;
    tui_counters(t, line, sizeof(line));
    put(y++, 0, width, " device %s", line);
    return y;
}

// Who did how many, where several devices share them.
static int tui_devices(const tui *t, int y, int x, int lines, int w)
{
    for (int i = 0; i < t->n_devices && t->n_devices > 1 && lines > 4; i++, lines--)
        put(y++, x, w, " %s %d, %.3f s each", t->device[i].name, t->device[i].n,
            (double) t->device[i].ns * 1e-9 / t->device[i].n);
    return y;
}

// Each cell shows the tile that covers its middle, by how long it took against the slowest.
static void tile_map(const tui *t, int y0, int x0, int h, int w)
{
    uint64_t slowest = 1;
    char title[80];
    snprintf(title, sizeof(title), "tiles %d/%d of %dx%d", t->order + 1, t->total, t->width,
             t->height);
    tui_head(y0++, x0, w, title);
    const int below = tui_devices(t, y0, x0, h, w);
    h -= below - y0;
    y0 = below;
    for (int i = 0; i < t->n_tiles; i++)
        slowest = t->tiles[i].ns > slowest ? t->tiles[i].ns : slowest;
    for (int y = 0; y < h - 1; y++)
        for (int x = 0; x < w; x++) {
            const int px = (2 * x + 1) * t->width / (2 * w);
            const int py = (2 * y + 1) * t->height / (2 * (h - 1));
            int heat = -1, last = 0;
            for (int i = 0; i < t->n_tiles; i++) {
                const tile *c = &t->tiles[i];
                if (px < c->x || px >= c->x + c->w || py < c->y || py >= c->y + c->h)
                    continue;
                heat = (int) (c->ns * (HEATS - 1) / slowest);
                last = i == t->n_tiles - 1;
            }
            const chtype mark = heat < 0 ? '.' : (chtype) ".:+*#"[heat];
            mvaddch(y0 + y, x0 + x,
                    heat < 0
                        ? '.'
                        : mark | (chtype) COLOR_PAIR(heat + 1) | (last ? A_REVERSE : A_NORMAL));
        }
}

static int tui_queue(const nino_queue *q, int y, int x, int lines, int width)
{
    tui_head(y++, x, width, "queue");
    for (size_t i = 0; i < q->n_jobs && lines > 1; i++, lines--)
        put(y++, x, width, " %llu %-9s %s", (unsigned long long) q->jobs[i].id,
            nino_queue_state_name(q->jobs[i].state), q->jobs[i].name);
    return y;
}

void tui_draw(tui *t, int pid, const progress *p, const nino_stats *s, const nino_queue *q)
{
    const uint64_t now = tui_now_ms();
    char text[400];
    if (now - t->drawn_ms < FRAME_MS)
        return;
    t->drawn_ms = now;
    erase();
    snprintf(text, sizeof(text), "ninodes %d  %s%s   q quit  p pause  c cancel  s sort: %s", pid,
             q ? q->device : "", q && q->is_paused ? "  PAUSED" : "", sorts[t->sort]);
    tui_head(0, 0, COLS, text);
    progress_text(p, text, sizeof(text));
    put(1, 0, COLS, " %s", *t->said ? t->said : text);
    const bool has_map = t->n_tiles && COLS >= 100, has_queue = q && q->is_worker && COLS >= 100;
    const int side = has_map || has_queue ? COLS / 3 : 0, width = COLS - side;
    int y = tui_memory(t, s, 2, width);
    if (*t->advice)
        put(y++, 0, width, " advice: %s", t->advice);
    const int half = (LINES - y) / 2;
    y = tui_nodes(t, s, y, half, side ? width - 1 : width);
    tui_kernels(t, s, y, LINES - y, side ? width - 1 : width);
    y = 2;
    if (has_queue)
        y = tui_queue(q, y, width, (LINES - 2) / 2, side);
    if (has_map && LINES - y > 3)
        tile_map(t, y, width, LINES - y < side / 2 + 1 ? LINES - y : side / 2 + 1, side);
    refresh();
}
