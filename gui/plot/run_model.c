// The run model: a history with a selection, signals that are bounded in rate, and an account of
// what watching costs.
#include "plot/run_model.h"

#include <math.h>
#include <time.h>

#include "base/i18n.h"
#include "base/tick.h"

enum { FIRST_MS = 100, SLOWEST_MS = 2000, COST_WINDOW_MS = 2000 };
#define DRAW_SHARE 0.0125 // of a core that drawing may use: the whole app stays below 3 %

enum { CHANGED, CLEARED, RANGE, VIEW, CURSOR, KERNEL, PICK, N_SIGNALS };
static guint signals[N_SIGNALS];

struct _NinoRun {
    GObject parent;
    nino_history *history;
    gboolean live;
    guint least_ms;
    guint64 range[2], view[2], cursor, follow_end;
    uint32_t kernel;
    NinoPickKind picked;
    uint32_t scope;   // that is picked
    nino_event slice; // the same
    char *device;
    GHashTable *titles; // nino_run_title()
    nino_ceilings ceilings;
    gboolean has_ceilings;
    char peak_of[32];
    nino_stats *range_stats; // of range[], made from the first `range_count` records
    guint64 range_count;
    gboolean range_is_open; // records may still come into the range
    guint64 shown;          // records when "changed" was sent last
    guint timer, interval_ms;
    // cost
    int draw_depth;
    gint64 draw_from;
    gint64 frame_from, frame_draw; // when the frame began, and draw_ns then
    gint64 add_ns, draw_ns;
    gint64 round_draw; // draw_ns when the last round began: what was drawn since sets the interval
    gint64 window_wall, window_thread, window_add, window_draw; // at the window's begin
    double share_add, share_draw, share_thread;
};

G_DEFINE_TYPE(NinoRun, nino_run, G_TYPE_OBJECT)

// ---- cost --------------------------------------------------------------------------------------

static gint64 clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (gint64) t.tv_sec * 1000000000 + t.tv_nsec;
}

static gint64 cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

void nino_run_draw_begin(NinoRun *run)
{
    if (run->draw_depth++ == 0)
        run->draw_from = cpu_ns();
}

void nino_run_draw_end(NinoRun *run)
{
    if (--run->draw_depth == 0)
        run->draw_ns += cpu_ns() - run->draw_from;
}

void nino_run_frame_begin(NinoRun *run)
{
    run->frame_from = cpu_ns();
    run->frame_draw = run->draw_ns;
}

void nino_run_frame_end(NinoRun *run)
{
    if (run->frame_from && run->draw_ns != run->frame_draw)
        run->draw_ns = run->frame_draw + (cpu_ns() - run->frame_from);
    run->frame_from = 0;
}

static void update_cost(NinoRun *run)
{
    const gint64 wall = clock_ns(CLOCK_MONOTONIC), dt = wall - run->window_wall;
    if (dt < (gint64) COST_WINDOW_MS * 1000000)
        return;
    const gint64 thread = cpu_ns();
    if (run->window_wall) {
        run->share_add = (double) (run->add_ns - run->window_add) / (double) dt;
        run->share_draw = (double) (run->draw_ns - run->window_draw) / (double) dt;
        run->share_thread = (double) (thread - run->window_thread) / (double) dt;
    }
    run->window_wall = wall;
    run->window_thread = thread;
    run->window_add = run->add_ns;
    run->window_draw = run->draw_ns;
}

void nino_run_cost(NinoRun *run, NinoRunCost *out)
{
    update_cost(run);
    *out = (NinoRunCost){ .add = run->share_add,
                          .draw = run->share_draw,
                          .thread = run->share_thread,
                          .interval_ms = run->interval_ms,
                          .dropped = nino_history_dropped(run->history) +
                                     nino_history_lost(run->history) };
}

// ---- "changed" ---------------------------------------------------------------------------------

// How long to wait after a round that took `ns` of CPU time.
static guint interval_for(const NinoRun *run, gint64 ns)
{
    const double wait = (double) ns * 1e-6 / DRAW_SHARE;
    return wait > SLOWEST_MS ? SLOWEST_MS : MAX((guint) wait, run->least_ms);
}

static gboolean on_timer(gpointer user);

static void start_timer(NinoRun *run)
{
    if (run->timer || (!run->live && run->shown == nino_history_count(run->history)))
        return;
    run->timer = nino_tick_add(run->interval_ms, on_timer, run);
}

static void send_changed(NinoRun *run)
{
    run->shown = nino_history_count(run->history);
    nino_run_draw_begin(run);
    g_signal_emit(run, signals[CHANGED], 0);
    nino_run_draw_end(run);
}

gboolean nino_run_note(NinoRun *run, guint64 t, const char *text)
{
    const gboolean ok = nino_history_note(run->history, t, text);
    send_changed(run);
    return ok;
}

static gboolean on_timer(gpointer user)
{
    NinoRun *run = user;
    run->timer = 0;
    update_cost(run);
    if (run->shown != nino_history_count(run->history))
        send_changed(run);
    run->interval_ms = interval_for(run, run->draw_ns - run->round_draw);
    run->round_draw = run->draw_ns;
    start_timer(run);
    return G_SOURCE_REMOVE;
}

// ---- records -----------------------------------------------------------------------------------

void nino_run_add(NinoRun *run, const nino_event *ev, size_t n, NinoNameFn name, gpointer priv)
{
    const gint64 from = cpu_ns();
    nino_history_add(run->history, ev, n, name, priv);
    run->add_ns += cpu_ns() - from;
    start_timer(run);
}

static void run_model_forget(NinoRun *run)
{
    nino_stats_destroy(&run->range_stats);
    run->range[0] = run->range[1] = run->view[0] = run->view[1] = 0;
    run->cursor = run->follow_end = run->shown = 0;
    run->kernel = 0;
    run->picked = NINO_PICK_NOTHING;
}

void nino_run_restart(NinoRun *run, guint64 t)
{
    run_model_forget(run);
    nino_history_restart(run->history, t);
    g_signal_emit(run, signals[CLEARED], 0);
    send_changed(run);
}

gboolean nino_run_load(NinoRun *run, const char *path, GError **error)
{
    nino_error err = { 0 };
    nino_history *h = nino_history_create(0);
    if (!h || nino_history_load(h, path, &err)) {
        nino_history_destroy(&h);
        g_set_error(error, g_quark_from_static_string("ninodes"), err.code, "%s: %s", err.where,
                    err.code ? err.msg : "out of memory");
        return FALSE;
    }
    run_model_forget(run);
    nino_run_set_titles(run, NULL);
    nino_history_destroy(&run->history);
    run->history = h;
    g_signal_emit(run, signals[CLEARED], 0);
    send_changed(run);
    return TRUE;
}

nino_history *nino_run_history(NinoRun *run) { return run->history; }

const char *nino_run_name(NinoRun *run, uint32_t id) { return nino_history_name(run->history, id); }

void nino_run_set_titles(NinoRun *run, GHashTable *titles)
{
    g_clear_pointer(&run->titles, g_hash_table_unref);
    run->titles = titles;
}

// What the engine calls scopes that have no name of their own, in the language of the user.
static const char *word_of(const char *name)
{
    static const char *const words[] = { N_("job"), N_("step"), N_("tile"), N_("preview") };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (!strcmp(name, words[i]))
            return _(words[i]);
    return name;
}

const char *nino_run_title(NinoRun *run, const char *name)
{
    const char *title = run->titles ? g_hash_table_lookup(run->titles, name) : NULL;
    if (title || !run->titles || !g_ascii_isdigit(*name))
        return title ? title : word_of(name);
    const char *more = g_strrstr(name, " ("); // "(cached)"
    g_autofree char *plain = more ? g_strndup(name, (gsize) (more - name)) : NULL;
    title = plain ? g_hash_table_lookup(run->titles, plain) : NULL;
    char *whole = title ? g_strconcat(title, more, NULL) : g_strdup(name);
    g_hash_table_insert(run->titles, g_strdup(name), whole);
    return whole;
}

void nino_run_set_live(NinoRun *run, gboolean live)
{
    if (run->live == live)
        return;
    run->live = live;
    if (live) {
        start_timer(run);
        return;
    }
    g_clear_handle_id(&run->timer, g_source_remove);
    run->follow_end = 0;
    send_changed(run);
}

gboolean nino_run_is_live(NinoRun *run) { return run->live; }

void nino_run_set_rate(NinoRun *run, double hz)
{
    const guint least = (guint) (1000 / CLAMP(hz, 0.5, 100));
    if (run->least_ms != least)
        run->interval_ms = run->least_ms = least;
}

// ---- selection ---------------------------------------------------------------------------------

static void run_model_pick(NinoRun *run, NinoPickKind kind)
{
    run->picked = kind;
    nino_run_draw_begin(run);
    g_signal_emit(run, signals[PICK], 0);
    nino_run_draw_end(run);
}

NinoPickKind nino_run_picked(NinoRun *run) { return run->picked; }

void nino_run_pick_span(NinoRun *run, int32_t span)
{
    size_t n;
    const nino_span *s = nino_history_spans(run->history, &n);
    if (span < 0 || (size_t) span >= n)
        return;
    run->scope = s[span].id;
    run_model_pick(run, NINO_PICK_SPAN);
}

int32_t nino_run_picked_span(NinoRun *run)
{
    return run->picked == NINO_PICK_SPAN ? nino_history_span_of(run->history, run->scope) : -1;
}

void nino_run_pick_slice(NinoRun *run, const nino_event *slice)
{
    run->slice = *slice;
    run_model_pick(run, NINO_PICK_SLICE);
    nino_run_set_kernel(run, slice->name);
}

const nino_event *nino_run_picked_slice(NinoRun *run)
{
    return run->picked == NINO_PICK_SLICE ? &run->slice : NULL;
}

void nino_run_select(NinoRun *run, guint64 t0, guint64 t1)
{
    if (t0 >= t1)
        t0 = t1 = 0;
    if (run->range[0] == t0 && run->range[1] == t1)
        return;
    run->range[0] = t0;
    run->range[1] = t1;
    nino_stats_destroy(&run->range_stats);
    nino_run_draw_begin(run);
    g_signal_emit(run, signals[RANGE], 0);
    nino_run_draw_end(run);
    if (t1 || run->picked == NINO_PICK_RANGE)
        run_model_pick(run, t1 ? NINO_PICK_RANGE : NINO_PICK_NOTHING);
}

gboolean nino_run_range(NinoRun *run, guint64 *t0, guint64 *t1)
{
    const gboolean is_part = run->range[1] > 0;
    *t0 = is_part ? run->range[0] : nino_history_begin(run->history);
    *t1 = is_part ? run->range[1] : nino_history_end(run->history) + 1;
    return is_part;
}

const nino_stats *nino_run_stats(NinoRun *run)
{
    if (!run->range[1])
        return nino_history_stats(run->history);
    const guint64 count = nino_history_count(run->history);
    if (run->range_stats && (!run->range_is_open || run->range_count == count))
        return run->range_stats;
    nino_stats_destroy(&run->range_stats);
    run->range_stats = nino_history_range_stats(run->history, run->range[0], run->range[1]);
    run->range_count = count;
    // what began in the range is told when it ends, some time after
    run->range_is_open = run->live && nino_history_end(run->history) < run->range[1] + 2000000000u;
    return run->range_stats;
}

double nino_run_device_ns(NinoRun *run)
{
    const nino_stats *s = nino_run_stats(run);
    const size_t n = s ? nino_stats_ops(s, NULL, 0) : 0;
    g_autofree nino_op_stat *ops = g_new0(nino_op_stat, n + 1);
    double sum = 0;
    if (n)
        nino_stats_ops(s, ops, n);
    for (size_t i = 0; i < n; i++)
        sum += (double) ops[i].total_ns;
    return sum;
}

void nino_run_set_view(NinoRun *run, guint64 t0, guint64 t1)
{
    if (t0 >= t1)
        t0 = t1 = 0;
    if (run->view[0] == t0 && run->view[1] == t1)
        return;
    run->view[0] = t0;
    run->view[1] = t1;
    g_signal_emit(run, signals[VIEW], 0);
}

gboolean nino_run_view(NinoRun *run, guint64 *t0, guint64 *t1)
{
    if (run->view[1]) {
        *t0 = run->view[0];
        *t1 = run->view[1];
        return TRUE;
    }
    const guint64 begin = nino_history_begin(run->history), end = nino_history_end(run->history);
    *t0 = begin;
    *t1 = MAX(end, begin + 1);
    if (run->live) { // a quarter more each time: what is drawn stays where it is for a while
        if (run->follow_end <= end || run->follow_end < begin)
            run->follow_end = end + MAX((end - begin) / 4, 1000000);
        *t1 = run->follow_end;
    }
    return FALSE;
}

void nino_run_set_cursor(NinoRun *run, guint64 t)
{
    if (run->cursor == t)
        return;
    run->cursor = t;
    g_signal_emit(run, signals[CURSOR], 0);
}

guint64 nino_run_cursor(NinoRun *run) { return run->cursor; }

void nino_run_set_kernel(NinoRun *run, uint32_t name)
{
    if (run->kernel == name)
        return;
    run->kernel = name;
    nino_run_draw_begin(run);
    g_signal_emit(run, signals[KERNEL], 0);
    nino_run_draw_end(run);
    const gboolean is_call = run->picked == NINO_PICK_SLICE && run->slice.name == name;
    if (name ? !is_call : run->picked == NINO_PICK_SLICE || run->picked == NINO_PICK_KERNEL)
        run_model_pick(run, name ? NINO_PICK_KERNEL : NINO_PICK_NOTHING);
}

uint32_t nino_run_kernel(NinoRun *run) { return run->kernel; }

void nino_run_pick_kernel(NinoRun *run, uint32_t name)
{
    nino_run_set_kernel(run, name);
    if (name && run->picked != NINO_PICK_KERNEL)
        run_model_pick(run, NINO_PICK_KERNEL);
}

void nino_run_show(NinoRun *run, const nino_event *slice)
{
    const guint64 margin = MAX(slice->u.kernel.dur_ns * 4, 20000);
    nino_run_pick_slice(run, slice);
    nino_run_set_view(run, slice->t_ns > margin ? slice->t_ns - margin : 0,
                      slice->t_ns + slice->u.kernel.dur_ns + margin);
    nino_run_set_cursor(run, slice->t_ns);
}

void nino_run_set_device(NinoRun *run, const char *selector)
{
    g_free(run->device);
    run->device = g_strdup(selector);
}

const char *nino_run_device(NinoRun *run) { return run->device; }

// ---- peaks -------------------------------------------------------------------------------------

void nino_run_set_ceilings(NinoRun *run, const nino_ceilings *c)
{
    run->has_ceilings = c != NULL;
    if (c)
        run->ceilings = *c;
    send_changed(run);
}

const nino_ceilings *nino_run_ceilings(NinoRun *run)
{
    if (!run->has_ceilings) // the run tells them by itself
        return nino_history_ceilings(run->history, &run->ceilings) ? &run->ceilings : NULL;
    return &run->ceilings;
}

const char *nino_run_peak_of(NinoRun *run)
{
    const nino_ceilings *c = nino_run_ceilings(run);
    if (!c || !c->measured_at)
        return c ? "data sheet" : "";
    g_autoptr(GDateTime) t = g_date_time_new_from_unix_local(c->measured_at);
    g_autofree char *day = t ? g_date_time_format(t, "%F") : g_strdup("");
    g_snprintf(run->peak_of, sizeof(run->peak_of), "measured %s", day);
    return run->peak_of;
}

double nino_run_peak_share(NinoRun *run, double flops, double bytes, double seconds, unsigned bits)
{
    const nino_ceilings *c = nino_run_ceilings(run);
    return c ? nino_ceilings_share(c, flops, bytes, seconds, bits) : (double) NAN;
}

// ---- object ------------------------------------------------------------------------------------

static void run_model_finalize(GObject *o)
{
    NinoRun *run = NINO_RUN(o);
    g_clear_handle_id(&run->timer, g_source_remove);
    nino_stats_destroy(&run->range_stats);
    nino_history_destroy(&run->history);
    g_free(run->device);
    g_clear_pointer(&run->titles, g_hash_table_unref);
    G_OBJECT_CLASS(nino_run_parent_class)->finalize(o);
}

static void nino_run_class_init(NinoRunClass *klass)
{
    static const char *const names[N_SIGNALS] = { "changed", "cleared", "range", "view",
                                                  "cursor",  "kernel",  "pick" };
    G_OBJECT_CLASS(klass)->finalize = run_model_finalize;
    for (int i = 0; i < N_SIGNALS; i++)
        signals[i] = g_signal_new(names[i], NINO_TYPE_RUN, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 0);
}

static void nino_run_init(NinoRun *run)
{
    run->history = nino_history_create(0);
    if (!run->history)
        g_error("out of memory"); // as GLib does
    run->interval_ms = run->least_ms = FIRST_MS;
}

NinoRun *nino_run_new(void) { return g_object_new(NINO_TYPE_RUN, NULL); }
