// What is chosen, in lines of what and how much: a call, a kernel, a scope, a range.
#include "details/details_facts.h"

#include <math.h>

#include "base/i18n.h"
#include "details/peers.h"
#include "live/describe.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

void nino_facts_add(gpointer facts, const char *what, const char *is)
{
    NinoFacts *f = facts;
    for (int column = 0; column < 2; column++) {
        GtkWidget *label = gtk_grid_get_child_at(f->grid, column, f->n);
        if (!label) {
            label = gtk_label_new(NULL);
            gtk_label_set_xalign(GTK_LABEL(label), 0);
            gtk_label_set_yalign(GTK_LABEL(label), 0);
            gtk_label_set_wrap(GTK_LABEL(label), TRUE);
            gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
            gtk_label_set_selectable(GTK_LABEL(label), column == 1);
            gtk_label_set_width_chars(GTK_LABEL(label), 9);
            gtk_label_set_max_width_chars(GTK_LABEL(label), column ? 22 : 13);
            gtk_widget_set_hexpand(label, column == 1);
            gtk_widget_add_css_class(label, column ? "numeric" : "dim-label");
            gtk_grid_attach(f->grid, label, column, f->n, 1, 1);
        }
        gtk_label_set_text(GTK_LABEL(label), column ? is : what);
        gtk_widget_show(label);
    }
    f->n++;
}

static void add_ns(NinoFacts *f, const char *what, double ns)
{
    char text[40];
    nino_format_ns(text, sizeof(text), ns);
    nino_facts_add(f, what, text);
}

static void add_bytes(NinoFacts *f, const char *what, double bytes)
{
    char text[40];
    nino_format_bytes(text, sizeof(text), bytes);
    nino_facts_add(f, what, text);
}

static void add_count(NinoFacts *f, const char *what, double n)
{
    char text[40];
    nino_format_count(text, sizeof(text), n);
    nino_facts_add(f, what, text);
}

static void add_begin(NinoFacts *f, guint64 t)
{
    add_ns(f, _("Begins at"), (double) (t - MIN(t, nino_history_begin(nino_run_history(f->run)))));
}

static void hide_others(NinoFacts *f)
{
    GtkWidget *label;
    for (int row = f->n; (label = gtk_grid_get_child_at(f->grid, 0, row)); row++) {
        gtk_widget_hide(label);
        gtk_widget_hide(gtk_grid_get_child_at(f->grid, 1, row));
    }
}

static void set_title(NinoFacts *f, const char *title, const char *path)
{
    gtk_label_set_text(GTK_LABEL(f->title), title);
    gtk_label_set_text(GTK_LABEL(f->path), path);
    gtk_widget_set_visible(f->path, *path);
}

// With the scopes that it lies in.
static void set_title_in(NinoFacts *f, const char *title, int32_t parent)
{
    g_autoptr(GString) path = g_string_new(NULL);
    g_autofree char *plain = NULL;
    nino_describe_path(f->run, parent, path);
    pango_parse_markup(path->str, -1, 0, NULL, &plain, NULL, NULL);
    set_title(f, title, plain ? plain : "");
}

// ---- a call, a kernel --------------------------------------------------------------------------

static void add_launch(NinoFacts *f, const nino_event *e)
{
    nino_launch l;
    char global[NINO_WORK_TEXT], local[NINO_WORK_TEXT];
    const char *launch = nino_run_name(f->run, nino_kernel_launch(e));
    const char *shape = nino_run_name(f->run, e->u.kernel.shape);
    nino_kernel_told told;
    if (*shape)
        nino_facts_add(f, _("Result"), shape);
    if (nino_launch_read(&l, launch)) {
        nino_work_text(global, l.global);
        nino_facts_add(f, _("Work-items"), global);
        nino_facts_add(f, _("Work-group"),
                       *nino_work_text(local, l.local) ? local : _("the driver's choice"));
    }
    if (nino_kernel_bits(e)) {
        g_autofree char *bits = g_strdup_printf("%u", nino_kernel_bits(e));
        nino_facts_add(f, _("Bits stored"), bits);
    }
    if (nino_kernel_told_read(&told, launch) && *told.call)
        nino_facts_add(f, _("Call"), told.call);
}

static void add_speed(NinoFacts *f, double flops, double bytes, double seconds, unsigned bits)
{
    char text[48];
    const double share = nino_run_peak_share(f->run, flops, bytes, seconds, bits);
    if (flops > 0) {
        g_snprintf(text, sizeof(text), "%.1f GFLOP/s", flops / seconds * 1e-9);
        nino_facts_add(f, _("Arithmetic"), text);
    }
    if (bytes > 0) {
        g_snprintf(text, sizeof(text), "%.1f GB/s", bytes / seconds * 1e-9);
        nino_facts_add(f, _("Memory"), text);
    }
    if (!isnan(share)) {
        nino_format_share(text, sizeof(text), share);
        g_autofree char *of = g_strdup_printf(_("%s of the bound, %s"), text,
                                              nino_run_ceilings(f->run)->measured_at
                                                  ? _("measured")
                                                  : _("assumed by the data sheet"));
        nino_facts_add(f, _("Reached"), of);
    }
}

static void show_slice(NinoFacts *f, const nino_event *e)
{
    nino_history *h = nino_run_history(f->run);
    const double ns = (double) e->u.kernel.dur_ns, submitted = e->u.kernel.submitted_us * 1e3;
    set_title_in(f, nino_run_name(f->run, e->name), nino_history_span_of(h, e->parent));
    nino_facts_add(f, _("Kind"), e->kind == NINO_EV_KERNEL ? _("call of a kernel") : _("transfer"));
    add_ns(f, _("Duration"), ns);
    add_begin(f, e->t_ns);
    if (e->kind == NINO_EV_KERNEL && e->u.kernel.queued_us) {
        add_ns(f, _("Queued"), MAX(e->u.kernel.queued_us * 1e3 - submitted, 0));
        add_ns(f, _("Submitted"), submitted);
    }
    if (e->kind == NINO_EV_KERNEL)
        add_launch(f, e);
    else
        add_bytes(f, _("Bytes"), e->u.kernel.bytes);
    if (ns > 0)
        add_speed(f, e->u.kernel.flops, e->u.kernel.bytes, ns * 1e-9, nino_kernel_bits(e));
}

static void show_kernel(NinoFacts *f)
{
    NinoPeerTimes times;
    nino_event call;
    double total = 0;
    guint64 t0, t1;
    set_title(f, nino_run_name(f->run, nino_run_kernel(f->run)),
              nino_run_range(f->run, &t0, &t1) ? _("all its calls in the selected range")
                                               : _("all its calls"));
    nino_peer_times(f->run, &times);
    for (size_t i = 0; i < times.n; i++)
        total += times.ns[i];
    if (times.n) {
        add_count(f, _("Calls"), (double) times.n);
        add_ns(f, _("Total"), total);
        add_ns(f, _("Median"), times.ns[times.n / 2]);
        add_ns(f, _("Shortest"), times.ns[0]);
        add_ns(f, _("Longest"), times.ns[times.n - 1]);
    }
    g_free(times.ns);
    if (nino_pick_longest(f->run, &call) && call.kind == NINO_EV_KERNEL) {
        add_launch(f, &call);
        add_speed(f, call.u.kernel.flops, call.u.kernel.bytes, (double) call.u.kernel.dur_ns * 1e-9,
                  nino_kernel_bits(&call));
    }
}

// ---- a scope, a range --------------------------------------------------------------------------

// What the device did in that time.
static void add_work(NinoFacts *f, guint64 t0, guint64 t1)
{
    nino_history *h = nino_run_history(f->run);
    nino_stats *s = nino_history_range_stats(h, t0, t1);
    nino_mem_point peak;
    const nino_op_stat *top = NULL; // the list begins with the longest
    const size_t n = s ? nino_stats_ops(s, NULL, 0) : 0;
    g_autofree nino_op_stat *op = g_new0(nino_op_stat, n + 1);
    double busy = 0, calls = 0;
    if (n)
        nino_stats_ops(s, op, n);
    for (size_t i = 0; i < n; i++)
        if (g_strcmp0(op[i].family, "transfer") != 0) {
            busy += (double) op[i].total_ns;
            calls += (double) op[i].calls;
            top = top ? top : &op[i];
        }
    if (top) {
        g_autofree char *longest = NULL;
        char took[40];
        add_count(f, _("Kernels"), calls);
        add_ns(f, _("On device"), busy);
        nino_format_ns(took, sizeof(took), (double) top->total_ns);
        longest = g_strdup_printf("%s, %s", top->name, took);
        nino_facts_add(f, _("Mostly"), longest);
    }
    if (nino_history_memory_peak(h, t0, t1, &peak))
        add_bytes(f, _("Memory, at most"), (double) peak.in_use);
    nino_stats_destroy(&s);
}

static void show_span(NinoFacts *f, int32_t at)
{
    static const char *const kinds[] = { "",          N_("job"),  N_("node"),
                                         N_("stage"), N_("step"), N_("tile") };
    size_t n;
    nino_history *h = nino_run_history(f->run);
    const nino_span *all = nino_history_spans(h, &n), *s = &all[at];
    const guint64 end = s->end_ns ? s->end_ns : nino_history_end(h);
    const gboolean is_counted = s->arg1 && (s->kind == NINO_EV_STEP || s->kind == NINO_EV_TILE);
    const char *name = nino_run_title(f->run, nino_run_name(f->run, s->name));
    g_autofree char *title = is_counted ? g_strdup_printf("%s %u/%u", name, s->arg0 + 1, s->arg1)
                             : s->kind == NINO_EV_JOB ? g_path_get_basename(name)
                                                      : g_strdup(name);
    set_title_in(f, title, s->parent);
    nino_facts_add(f, _("Kind"), s->kind < G_N_ELEMENTS(kinds) && s->kind ? _(kinds[s->kind]) : "");
    add_ns(f, _("Duration"), (double) (end - s->begin_ns));
    add_begin(f, s->begin_ns);
    if (s->parent >= 0) {
        char share[40];
        const nino_span *up = &all[s->parent];
        const double of = (double) ((up->end_ns ? up->end_ns : nino_history_end(h)) - up->begin_ns);
        nino_format_share(share, sizeof(share), of > 0 ? (double) (end - s->begin_ns) / of : NAN);
        g_autofree char *text =
            up->kind == NINO_EV_JOB
                ? g_strdup_printf(_("%s of the job"), share)
                : g_strdup_printf(_("%s of %s"), share,
                                  nino_run_title(f->run, nino_run_name(f->run, up->name)));
        nino_facts_add(f, _("Share"), text);
    }
    add_work(f, s->begin_ns, end);
    if (!s->end_ns || s->is_cut || s->status)
        nino_facts_add(f, _("End"),
                       s->status   ? nino_status_name((nino_status) -s->status)
                       : s->end_ns ? _("not recorded")
                                   : _("still running"));
}

static void show_range(NinoFacts *f)
{
    guint64 t0, t1;
    size_t n;
    guint in[NINO_EV_TILE + 1] = { 0 };
    nino_history *h = nino_run_history(f->run);
    nino_run_range(f->run, &t0, &t1);
    const nino_span *all = nino_history_spans(h, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].kind <= NINO_EV_TILE && all[i].begin_ns < t1 && all[i].begin_ns >= t0)
            in[all[i].kind]++;
    set_title(f, _("Selected range"), "");
    add_ns(f, _("Duration"), (double) (t1 - t0));
    add_begin(f, t0);
    if (in[NINO_EV_NODE])
        add_count(f, _("Nodes begun"), in[NINO_EV_NODE]);
    if (in[NINO_EV_STEP])
        add_count(f, _("Steps begun"), in[NINO_EV_STEP]);
    if (in[NINO_EV_TILE])
        add_count(f, _("Tiles begun"), in[NINO_EV_TILE]);
    add_work(f, t0, t1);
}

gboolean nino_facts_show(NinoFacts *f)
{
    const int32_t span = nino_run_picked_span(f->run);
    const nino_event *slice = nino_run_picked_slice(f->run);
    const NinoPickKind kind = nino_run_picked(f->run);
    const gboolean any = span >= 0 || slice || kind == NINO_PICK_KERNEL || kind == NINO_PICK_RANGE;
    f->n = 0;
    if (slice)
        show_slice(f, slice);
    else if (span >= 0)
        show_span(f, span);
    else if (kind == NINO_PICK_KERNEL)
        show_kernel(f);
    else if (any)
        show_range(f);
    hide_others(f);
    return any;
}
