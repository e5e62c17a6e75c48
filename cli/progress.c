// Where a run is: one line redrawn on a terminal, plain lines elsewhere; and the end of a long one.
#include "cli.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { REDRAW_MS = 300, LOAD_SHOWN_MS = 600 };

struct progress {
    char title[64];
    bool is_live, is_plain; // draws a line; prints plain ones
    char node[96];
    uint32_t node_id, index, n_nodes;
    uint32_t step, n_steps, step_id, tile, n_tiles, tile_id;
    uint32_t preparing_id;         // a kernel's stage, 0: none
    uint32_t prepared, n_programs; // which program it is, and of how many; 0: not known
    uint64_t step_ns, last_step_ns;
    double step_eta_s;        // of the sampling; NaN: not known
    uint64_t loaded, load_ms; // bytes of weights this node brought in; when that was last told
    char preview[400];
    double done, total, eta_s;
    uint64_t in_use, budget;
    double watt; // NaN: not known
    bool job_ended;
    uint32_t job_id;
    int tenths; // told so far
    uint64_t drawn_ms;
};

// The terminal line belongs to the process: log lines come from other threads.
static pthread_mutex_t line_lock = PTHREAD_MUTEX_INITIALIZER;
static bool line_shown;

static void progress_put(const char *s)
{
    if (write(STDERR_FILENO, s, strlen(s)) < 0)
        return;
}

// With what goes before and after it: text has names of others, those steer the terminal.
static void progress_put_text(const char *before, const char *text, const char *after)
{
    char line[520];
    const size_t n = (size_t) snprintf(line, sizeof(line), "%s", before);
    nino_utf8_printable(line + n, sizeof(line) - n - strlen(after), text, strlen(text));
    snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s", after);
    progress_put(line);
}

void progress_aside(void (*f)(void *priv), void *priv)
{
    pthread_mutex_lock(&line_lock);
    if (line_shown)
        progress_put("\r\033[K");
    line_shown = false;
    f(priv);
    pthread_mutex_unlock(&line_lock);
}

static uint64_t progress_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000 + (uint64_t) t.tv_nsec / 1000000;
}

progress *progress_create(const char *title, bool quiet, bool json)
{
    progress *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    const char *term = getenv("TERM");
    const bool is_tty = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    p->is_live = !quiet && !json && is_tty;
    p->is_plain = !quiet && !json && !is_tty;
    p->eta_s = p->step_eta_s = p->watt = NAN;
    snprintf(p->title, sizeof(p->title), "%s", title);
    return p;
}

static void nothing(void *priv) { (void) priv; }

void progress_destroy(progress **p)
{
    if (!*p)
        return;
    progress_aside(nothing, NULL);
    free(*p);
    *p = NULL;
}

bool progress_job_ended(const progress *p) { return p->job_ended; }

static size_t progress_append(char *buf, size_t size, size_t at, const char *text)
{
    const int n = at < size ? snprintf(buf + at, size - at, "%s", text) : 0;
    return at + (n > 0 ? (size_t) n : 0);
}

static const char *clock_text(char *buf, size_t size, double seconds)
{
    const int s = (int) (seconds + 0.5);
    snprintf(buf, size, "%d:%02d", s / 60, s % 60);
    return buf;
}

// "[2/6] 8 VAEDecode"
static int node_text(const progress *p, char *buf, size_t size)
{
    if (p->n_nodes)
        return snprintf(buf, size, "[%u/%u] %s", p->index + 1, p->n_nodes, p->node);
    return snprintf(buf, size, "%s", p->node);
}

void progress_text(const progress *p, char *buf, size_t size)
{
    char part[160], a[32], b[32];
    size_t n = 0;
    buf[0] = 0;
    if (!*p->node) {
        progress_append(buf, size, 0, p->job_ended ? "done" : "preparing");
        return;
    }
    node_text(p, part, sizeof(part));
    n = progress_append(buf, size, n, part);
    if (p->n_steps) {
        snprintf(part, sizeof(part), "  step %u/%u", p->step + 1, p->n_steps);
        n = progress_append(buf, size, n, part);
        if (p->last_step_ns) {
            snprintf(part, sizeof(part), "  %.*f s/step", p->last_step_ns < 1000000000 ? 3 : 1,
                     (double) p->last_step_ns * 1e-9);
            n = progress_append(buf, size, n, part);
        }
        if (p->step_eta_s >= 0 && p->step_eta_s < 360000) {
            snprintf(part, sizeof(part), "  %s left", clock_text(a, sizeof(a), p->step_eta_s));
            n = progress_append(buf, size, n, part);
        }
    }
    if (p->preparing_id) {
        snprintf(part, sizeof(part),
                 p->n_programs ? "  preparing kernels %u of %u" : "  preparing kernels",
                 p->prepared, p->n_programs);
        n = progress_append(buf, size, n, part);
    }
    if (p->loaded && progress_now_ms() - p->load_ms < LOAD_SHOWN_MS) {
        snprintf(part, sizeof(part), "  loading %s", human_bytes(a, sizeof(a), (double) p->loaded));
        n = progress_append(buf, size, n, part);
    }
    if (p->n_tiles) {
        snprintf(part, sizeof(part), "  tile %u/%u", p->tile + 1, p->n_tiles);
        n = progress_append(buf, size, n, part);
    }
    if (p->total > 0) {
        snprintf(part, sizeof(part), "  %.0f %%", 100 * p->done / p->total);
        n = progress_append(buf, size, n, part);
    }
    if (p->eta_s >= 0 && p->eta_s < 360000) {
        snprintf(part, sizeof(part), "  ETA %s", clock_text(a, sizeof(a), p->eta_s));
        n = progress_append(buf, size, n, part);
    }
    if (p->in_use) {
        human_bytes(a, sizeof(a), (double) p->in_use);
        snprintf(part, sizeof(part), "  pool %s%s%s", a, p->budget ? " of " : "",
                 p->budget ? human_bytes(b, sizeof(b), (double) p->budget) : "");
        n = progress_append(buf, size, n, part);
    }
    if (isfinite(p->watt)) {
        snprintf(part, sizeof(part), "  %.0f W", p->watt);
        progress_append(buf, size, n, part);
    }
}

static void print_line(void *text) { progress_put_text("", text, "\n"); }

void progress_print(progress *p)
{
    char text[400];
    progress_text(p, text, sizeof(text));
    progress_aside(print_line, text);
}

static void plain_tenth(progress *p)
{
    const int tenths = p->total > 0 ? (int) (10 * p->done / p->total + 1e-9) : 0;
    if (tenths > p->tenths && tenths <= 10) {
        char text[64];
        snprintf(text, sizeof(text), "%d %%", tenths * 10);
        progress_aside(print_line, text);
        p->tenths = tenths;
    }
}

// Where previews appear, said once: every next one replaces the last.
static void tell_preview(progress *p, const char *path)
{
    char text[480];
    if ((!p->is_live && !p->is_plain) || !strcmp(p->preview, path))
        return;
    snprintf(p->preview, sizeof(p->preview), "%s", path);
    snprintf(text, sizeof(text), "previews: %s", p->preview);
    progress_aside(print_line, text);
}

static void progress_one(progress *p, const nino_event *e, name_fn name, void *priv)
{
    switch (e->kind) {
    case NINO_EV_JOB:
        p->job_id = e->id;
        p->job_ended = false;
        p->preparing_id = 0;
        break;
    case NINO_EV_NODE:
        p->loaded = 0;
        p->step_eta_s = NAN;
        snprintf(p->node, sizeof(p->node), "%s", name(priv, e->name));
        p->node_id = e->id;
        p->index = e->u.scope.arg0;
        p->n_nodes = e->u.scope.arg1;
        p->n_steps = p->n_tiles = 0;
        if (p->is_plain) {
            char text[160];
            node_text(p, text, sizeof(text));
            progress_aside(print_line, text);
        }
        break;
    case NINO_EV_STAGE:
        if (!strncmp(name(priv, e->name), NINO_STAGE_COMPILE, sizeof(NINO_STAGE_COMPILE) - 1)) {
            p->preparing_id = e->id;
            const uint32_t number = NINO_COMPILE_NUMBER(e->u.scope.arg0);
            p->prepared = number ? number : p->prepared; // 0: at the launch of one that was told
            p->n_programs = NINO_COMPILE_NUMBER(e->u.scope.arg1);
            if (p->is_plain && number && p->n_programs && !NINO_COMPILE_FLAG(e->u.scope.arg0)) {
                char text[64];
                snprintf(text, sizeof(text), "preparing kernels %u of %u", p->prepared,
                         p->n_programs);
                progress_aside(print_line, text);
            }
        }
        break;
    case NINO_EV_STEP:
        p->step = e->u.scope.arg0;
        p->n_steps = e->u.scope.arg1;
        p->step_id = e->id;
        p->step_ns = e->t_ns;
        break;
    case NINO_EV_STEP_INFO:
        p->last_step_ns = (uint64_t) (e->u.step.seconds * 1e9);
        p->step_eta_s = e->u.step.eta_s;
        break;
    case NINO_EV_PREVIEW: tell_preview(p, name(priv, e->name)); break;
    case NINO_EV_TRANSFER:
        if (!strcmp(name(priv, e->name), "load")) {
            p->loaded += (uint64_t) e->u.kernel.bytes;
            p->load_ms = progress_now_ms();
        }
        break;
    case NINO_EV_TILE:
        p->tile = e->u.scope.arg0;
        p->n_tiles = e->u.scope.arg1;
        p->tile_id = e->id;
        break;
    case NINO_EV_END:
        if (e->id == p->preparing_id)
            p->preparing_id = 0;
        if (e->id == p->node_id)
            p->n_steps = p->n_tiles = 0;
        if (e->id == p->job_id && p->job_id) {
            p->job_ended = true;
            p->node[0] = 0;
        }
        break;
    case NINO_EV_PROGRESS:
        p->done = e->u.progress.done;
        p->total = e->u.progress.total;
        p->eta_s = e->u.progress.eta_s;
        if (p->is_plain)
            plain_tenth(p);
        break;
    case NINO_EV_MEM:
        p->in_use = e->u.mem.in_use;
        if (e->sub == NINO_MEM_BUDGET)
            p->budget = e->u.mem.bytes;
        break;
    case NINO_EV_DEVICE: nino_sample_value(e, NINO_COUNTER_GPU_POWER, &p->watt); break;
    default: break;
    }
}

void progress_add(progress *p, const nino_event *ev, size_t n, name_fn name, void *priv)
{
    for (size_t i = 0; i < n; i++)
        progress_one(p, &ev[i], name, priv);
}

// Cuts text to the terminal's width; a character beyond ASCII counts as one column.
static void progress_cut(char *text, int columns)
{
    int n = 0;
    for (char *c = text; *c; c++)
        if (((unsigned char) *c & 0xc0) != 0x80 && ++n >= columns) {
            *c = 0;
            break;
        }
}

void progress_draw(progress *p)
{
    const uint64_t now = progress_now_ms();
    if (!p->is_live || now - p->drawn_ms < REDRAW_MS)
        return;
    p->drawn_ms = now;
    struct winsize w = { .ws_col = 80 };
    char text[400];
    progress_text(p, text, sizeof(text));
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < 10)
        w.ws_col = 80;
    progress_cut(text, w.ws_col);
    pthread_mutex_lock(&line_lock);
    progress_put_text("\r", text, "\033[K");
    line_shown = true;
    pthread_mutex_unlock(&line_lock);
}

// ---- the end of a long one ---------------------------------------------------------------------

uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // the clock of the records
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

// By its bell, which also goes through tmux and ssh, and by the notification that many terminals show (OSC 777).
void notify_end(const options *o, const char *what, uint64_t since_ns, int rc)
{
    char text[160], line[240];
    nino_config_value after;
    const double s = (double) (now_ns() - since_ns) * 1e-9;
    const char *term = getenv("TERM");
    const double least = nino_config_get("notify_after", &after) ? strtod(after.text, NULL) : 0;
    if (o->quiet || o->json || !isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb") ||
        least <= 0 || s < least)
        return;
    nino_utf8_printable(text, sizeof(text), what, strlen(what));
    const int n = snprintf(line, sizeof(line), "\a\033]777;notify;ninodes;%s: %s after %d:%02d\a",
                           text, rc ? "ended with an error" : "done", (int) s / 60, (int) s % 60);
    const char *end =
        strcmp(term, "linux") ? line + n : line + 1; // the console has no notifications
    if (write(STDERR_FILENO, line, (size_t) (end - line)) < 0)
        return;
}
