// What is chosen, in figures: lines of what and how much, small plots, and the ways on from there.
#include "details/details.h"

#include <math.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "live/describe.h"
#include "details/details_plots.h"
#include "details/peers.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

enum { PLOTS = 3, WAIT_MS = 250, LIVE_MS = 1000, BUTTONS = 4 };

typedef struct Details {
    NinoRun *run; // the widgets hold it
    GtkWidget *box, *title, *path, *place, *plot[PLOTS], *empty, *body;
    GtkWidget *button[BUTTONS];
    GtkGrid *facts;
    int n_facts;
    guint later, ask;
    GCancellable *asking;
    gint64 updated;
} Details;

// ---- lines -------------------------------------------------------------------------------------

static void add_fact(gpointer details, const char *what, const char *is)
{
    Details *d = details;
    for (int column = 0; column < 2; column++) {
        GtkWidget *label = gtk_grid_get_child_at(d->facts, column, d->n_facts);
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
            gtk_grid_attach(d->facts, label, column, d->n_facts, 1, 1);
        }
        gtk_label_set_text(GTK_LABEL(label), column ? is : what);
        gtk_widget_show(label);
    }
    d->n_facts++;
}

static void add_ns(Details *d, const char *what, double ns)
{
    char text[40];
    nino_format_ns(text, sizeof(text), ns);
    add_fact(d, what, text);
}

static void add_bytes(Details *d, const char *what, double bytes)
{
    char text[40];
    nino_format_bytes(text, sizeof(text), bytes);
    add_fact(d, what, text);
}

static void add_count(Details *d, const char *what, double n)
{
    char text[40];
    nino_format_count(text, sizeof(text), n);
    add_fact(d, what, text);
}

static void hide_other_facts(Details *d)
{
    GtkWidget *label;
    for (int row = d->n_facts; (label = gtk_grid_get_child_at(d->facts, 0, row)); row++) {
        gtk_widget_hide(label);
        gtk_widget_hide(gtk_grid_get_child_at(d->facts, 1, row));
    }
}

static void set_title(Details *d, const char *title, const char *path)
{
    gtk_label_set_text(GTK_LABEL(d->title), title);
    gtk_label_set_text(GTK_LABEL(d->path), path);
    gtk_widget_set_visible(d->path, *path);
}

// ---- a call, a kernel --------------------------------------------------------------------------

static void add_launch(Details *d, const nino_event *e)
{
    nino_launch l;
    char global[NINO_WORK_TEXT], local[NINO_WORK_TEXT];
    const char *launch = nino_run_name(d->run, nino_kernel_launch(e));
    const char *shape = nino_run_name(d->run, e->u.kernel.shape);
    nino_kernel_told told;
    if (*shape)
        add_fact(d, _("Result"), shape);
    if (nino_launch_read(&l, launch)) {
        nino_work_text(global, l.global);
        add_fact(d, _("Work-items"), global);
        add_fact(d, _("Work-group"),
                 *nino_work_text(local, l.local) ? local : _("the driver's choice"));
    }
    if (nino_kernel_bits(e)) {
        g_autofree char *bits = g_strdup_printf("%u", nino_kernel_bits(e));
        add_fact(d, _("Bits stored"), bits);
    }
    if (nino_kernel_told_read(&told, launch) && *told.call)
        add_fact(d, _("Call"), told.call);
}

static void add_speed(Details *d, double flops, double bytes, double seconds, unsigned bits)
{
    char text[48];
    const double share = nino_run_peak_share(d->run, flops, bytes, seconds, bits);
    if (flops > 0) {
        g_snprintf(text, sizeof(text), "%.1f GFLOP/s", flops / seconds * 1e-9);
        add_fact(d, _("Arithmetic"), text);
    }
    if (bytes > 0) {
        g_snprintf(text, sizeof(text), "%.1f GB/s", bytes / seconds * 1e-9);
        add_fact(d, _("Memory"), text);
    }
    if (!isnan(share)) {
        nino_format_share(text, sizeof(text), share);
        g_autofree char *of = g_strdup_printf(_("%s of the bound, %s"), text,
                                              nino_run_ceilings(d->run)->measured_at
                                                  ? _("measured")
                                                  : _("assumed by the data sheet"));
        add_fact(d, _("Reached"), of);
    }
}

static void show_slice(Details *d, const nino_event *e)
{
    nino_history *h = nino_run_history(d->run);
    g_autoptr(GString) path = g_string_new(NULL);
    const double ns = (double) e->u.kernel.dur_ns, submitted = e->u.kernel.submitted_us * 1e3;
    nino_describe_path(d->run, nino_history_span_of(h, e->parent), path);
    char *plain = NULL;
    pango_parse_markup(path->str, -1, 0, NULL, &plain, NULL, NULL);
    set_title(d, nino_run_name(d->run, e->name), plain ? plain : "");
    g_free(plain);
    add_fact(d, _("Kind"), e->kind == NINO_EV_KERNEL ? _("call of a kernel") : _("transfer"));
    add_ns(d, _("Duration"), ns);
    add_ns(d, _("Begins at"), (double) (e->t_ns - MIN(e->t_ns, nino_history_begin(h))));
    if (e->kind == NINO_EV_KERNEL && e->u.kernel.queued_us) {
        add_ns(d, _("Queued"), MAX(e->u.kernel.queued_us * 1e3 - submitted, 0));
        add_ns(d, _("Submitted"), submitted);
    }
    if (e->kind == NINO_EV_KERNEL)
        add_launch(d, e);
    else
        add_bytes(d, _("Bytes"), e->u.kernel.bytes);
    if (ns > 0)
        add_speed(d, e->u.kernel.flops, e->u.kernel.bytes, ns * 1e-9, nino_kernel_bits(e));
}

static void show_kernel(Details *d)
{
    NinoPeerTimes times;
    nino_event call;
    double total = 0;
    guint64 t0, t1;
    set_title(d, nino_run_name(d->run, nino_run_kernel(d->run)),
              nino_run_range(d->run, &t0, &t1) ? _("all its calls in the selected range")
                                               : _("all its calls"));
    nino_peer_times(d->run, &times);
    for (size_t i = 0; i < times.n; i++)
        total += times.ns[i];
    if (times.n) {
        add_count(d, _("Calls"), (double) times.n);
        add_ns(d, _("Total"), total);
        add_ns(d, _("Median"), times.ns[times.n / 2]);
        add_ns(d, _("Shortest"), times.ns[0]);
        add_ns(d, _("Longest"), times.ns[times.n - 1]);
    }
    g_free(times.ns);
    if (nino_pick_longest(d->run, &call) && call.kind == NINO_EV_KERNEL) {
        add_launch(d, &call);
        add_speed(d, call.u.kernel.flops, call.u.kernel.bytes, (double) call.u.kernel.dur_ns * 1e-9,
                  nino_kernel_bits(&call));
    }
}

// ---- a scope, a range --------------------------------------------------------------------------

// What the device did in that time.
static void add_work(Details *d, guint64 t0, guint64 t1)
{
    nino_history *h = nino_run_history(d->run);
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
        add_count(d, _("Kernels"), calls);
        add_ns(d, _("On device"), busy);
        nino_format_ns(took, sizeof(took), (double) top->total_ns);
        longest = g_strdup_printf("%s, %s", top->name, took);
        add_fact(d, _("Mostly"), longest);
    }
    if (nino_history_memory_peak(h, t0, t1, &peak))
        add_bytes(d, _("Memory, at most"), (double) peak.in_use);
    nino_stats_destroy(&s);
}

static void show_span(Details *d, int32_t at)
{
    static const char *const kinds[] = { "",          N_("job"),  N_("node"),
                                         N_("stage"), N_("step"), N_("tile") };
    size_t n;
    nino_history *h = nino_run_history(d->run);
    const nino_span *all = nino_history_spans(h, &n), *s = &all[at];
    const guint64 end = s->end_ns ? s->end_ns : nino_history_end(h);
    g_autoptr(GString) path = g_string_new(NULL);
    nino_describe_path(d->run, s->parent, path);
    char *plain = NULL;
    pango_parse_markup(path->str, -1, 0, NULL, &plain, NULL, NULL);
    const gboolean is_counted = s->arg1 && (s->kind == NINO_EV_STEP || s->kind == NINO_EV_TILE);
    const char *name = nino_run_title(d->run, nino_run_name(d->run, s->name));
    g_autofree char *title = is_counted ? g_strdup_printf("%s %u/%u", name, s->arg0 + 1, s->arg1)
                             : s->kind == NINO_EV_JOB ? g_path_get_basename(name)
                                                      : g_strdup(name);
    set_title(d, title, plain ? plain : "");
    g_free(plain);
    add_fact(d, _("Kind"), s->kind < G_N_ELEMENTS(kinds) && s->kind ? _(kinds[s->kind]) : "");
    add_ns(d, _("Duration"), (double) (end - s->begin_ns));
    add_ns(d, _("Begins at"), (double) (s->begin_ns - MIN(s->begin_ns, nino_history_begin(h))));
    if (s->parent >= 0) {
        char share[40];
        const nino_span *up = &all[s->parent];
        const double of = (double) ((up->end_ns ? up->end_ns : nino_history_end(h)) - up->begin_ns);
        nino_format_share(share, sizeof(share), of > 0 ? (double) (end - s->begin_ns) / of : NAN);
        g_autofree char *text =
            up->kind == NINO_EV_JOB
                ? g_strdup_printf(_("%s of the job"), share)
                : g_strdup_printf(_("%s of %s"), share,
                                  nino_run_title(d->run, nino_run_name(d->run, up->name)));
        add_fact(d, _("Share"), text);
    }
    add_work(d, s->begin_ns, end);
    if (!s->end_ns || s->is_cut || s->status)
        add_fact(d, _("End"),
                 s->status   ? nino_status_name((nino_status) -s->status)
                 : s->end_ns ? _("not recorded")
                             : _("still running"));
}

static void show_range(Details *d)
{
    guint64 t0, t1;
    size_t n;
    guint in[NINO_EV_TILE + 1] = { 0 };
    nino_history *h = nino_run_history(d->run);
    nino_run_range(d->run, &t0, &t1);
    const nino_span *all = nino_history_spans(h, &n);
    for (size_t i = 0; i < n; i++)
        if (all[i].kind <= NINO_EV_TILE && all[i].begin_ns < t1 && all[i].begin_ns >= t0)
            in[all[i].kind]++;
    set_title(d, _("Selected range"), "");
    add_ns(d, _("Duration"), (double) (t1 - t0));
    add_ns(d, _("Begins at"), (double) (t0 - MIN(t0, nino_history_begin(h))));
    if (in[NINO_EV_NODE])
        add_count(d, _("Nodes begun"), in[NINO_EV_NODE]);
    if (in[NINO_EV_STEP])
        add_count(d, _("Steps begun"), in[NINO_EV_STEP]);
    if (in[NINO_EV_TILE])
        add_count(d, _("Tiles begun"), in[NINO_EV_TILE]);
    add_work(d, t0, t1);
}

// ---- what it was compiled to -------------------------------------------------------------------

// The program of the chosen call, or of the kernel's longest.
static gboolean told_of(const Details *d, nino_kernel_told *told, const char **kernel)
{
    const nino_event *e = nino_run_picked_slice(d->run);
    nino_event call;
    if (!e && nino_run_picked(d->run) == NINO_PICK_KERNEL && nino_pick_longest(d->run, &call))
        e = &call;
    if (!e || e->kind != NINO_EV_KERNEL)
        return FALSE;
    *kernel = nino_run_name(d->run, e->name);
    return nino_kernel_told_read(told, nino_run_name(d->run, nino_kernel_launch(e))) &&
           *told->program;
}

static gboolean on_ask(gpointer details)
{
    Details *d = details;
    nino_kernel_told told;
    const char *kernel;
    d->ask = 0;
    if (gtk_widget_get_mapped(d->box) && !nino_run_is_live(d->run) && told_of(d, &told, &kernel))
        nino_kernel_figures_ask(kernel, &told, nino_run_device(d->run), d->asking, add_fact, d);
    return G_SOURCE_REMOVE;
}

// ---- update ------------------------------------------------------------------------------------

static void show_place(Details *d)
{
    NinoPeerTimes times;
    g_autofree char *text = NULL;
    char n[40];
    if (nino_peer_times(d->run, &times)) {
        nino_format_count(n, sizeof(n), (double) times.n);
        text = times.own <= 0    ? g_strdup_printf(_("Its %s calls"), n)
               : times.less == 0 ? g_strdup_printf(_("The shortest of %s"), n)
               : times.less >= times.n - 1
                   ? g_strdup_printf(_("The longest of %s"), n)
                   : g_strdup_printf(_("Longer than %.0f %% of its %s peers"),
                                     100 * (double) times.less / (double) times.n, n);
    }
    g_free(times.ns);
    gtk_label_set_text(GTK_LABEL(d->place), text ? text : "");
    gtk_widget_set_visible(d->place, text != NULL);
}

static void show_buttons(Details *d)
{
    const NinoPickKind kind = nino_run_picked(d->run);
    const gboolean is_kernel =
        kind == NINO_PICK_KERNEL ||
        (nino_run_picked_slice(d->run) && nino_run_picked_slice(d->run)->kind == NINO_EV_KERNEL);
    const gboolean is_for[BUTTONS] = { is_kernel, is_kernel, kind != NINO_PICK_NOTHING,
                                       kind == NINO_PICK_SPAN || kind == NINO_PICK_SLICE };
    for (int i = 0; i < BUTTONS; i++) // with its place in the flow
        gtk_widget_set_visible(gtk_widget_get_parent(d->button[i]), is_for[i]);
}

static void details_update(Details *d)
{
    const int32_t span = nino_run_picked_span(d->run);
    const nino_event *slice = nino_run_picked_slice(d->run);
    const NinoPickKind kind = nino_run_picked(d->run);
    const gboolean any = span >= 0 || slice || kind == NINO_PICK_KERNEL || kind == NINO_PICK_RANGE;
    g_clear_handle_id(&d->later, g_source_remove);
    if (!gtk_widget_get_mapped(d->box))
        return;
    nino_run_draw_begin(d->run);
    d->updated = g_get_monotonic_time();
    d->n_facts = 0;
    gtk_widget_set_visible(d->empty, !any);
    gtk_widget_set_visible(d->body, any);
    if (slice)
        show_slice(d, slice);
    else if (span >= 0)
        show_span(d, span);
    else if (kind == NINO_PICK_KERNEL)
        show_kernel(d);
    else if (any)
        show_range(d);
    hide_other_facts(d);
    show_place(d);
    show_buttons(d);
    for (int i = 0; i < PLOTS; i++)
        nino_details_plot_update(d->plot[i]);
    g_cancellable_cancel(d->asking); // what comes now is of what was chosen before
    g_set_object(&d->asking, NULL);
    d->asking = g_cancellable_new();
    if (!d->ask)
        d->ask = g_timeout_add(WAIT_MS, on_ask, d);
    nino_run_draw_end(d->run);
}

static gboolean on_details_later(gpointer details)
{
    Details *d = details;
    d->later = 0;
    details_update(d);
    return G_SOURCE_REMOVE;
}

// A drag chooses many ranges a second: the last one counts.
static void on_details_pick(GtkWidget *box)
{
    Details *d = g_object_get_data(G_OBJECT(box), "details");
    if (!d->later)
        d->later = g_idle_add(on_details_later, d);
}

// Of a run that goes on: what is chosen may have ended.
static void on_details_changed(GtkWidget *box)
{
    Details *d = g_object_get_data(G_OBJECT(box), "details");
    const gint64 since = (g_get_monotonic_time() - d->updated) / 1000;
    if (nino_run_picked(d->run) == NINO_PICK_NOTHING ||
        (nino_run_is_live(d->run) && since < LIVE_MS))
        return;
    on_details_pick(box);
}

// ---- ways on -----------------------------------------------------------------------------------

static GtkWidget *make_buttons(Details *d)
{
    static const struct {
        const char *label, *help, *action;
    } all[BUTTONS] = {
        { N_("Source"), N_("The source of this kernel, as it was compiled"),
          "win.view::kernel/source" },
        { N_("Machine code"), N_("Registers, occupancy and instructions"),
          "win.view::kernel/code" },
        { N_("Zoom to it"), N_("It fills the timeline"), "pick.zoom" },
        { N_("Select its time"), N_("All views then show only what lies in it"), "pick.select" },
    };
    GtkWidget *box = gtk_flow_box_new(); // two beside each other where their words have room
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(box), GTK_SELECTION_NONE);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(box), TRUE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(box), 2);
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(box), NINO_SPACE_XS);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(box), NINO_SPACE_XS);
    for (int i = 0; i < BUTTONS; i++) {
        GtkWidget *label = gtk_label_new(_(all[i].label));
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        d->button[i] = gtk_button_new();
        gtk_button_set_child(GTK_BUTTON(d->button[i]), label);
        gtk_accessible_update_property(GTK_ACCESSIBLE(d->button[i]), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       _(all[i].label), -1);
        gtk_widget_set_tooltip_text(d->button[i], _(all[i].help));
        gtk_actionable_set_detailed_action_name(GTK_ACTIONABLE(d->button[i]), all[i].action);
        gtk_flow_box_append(GTK_FLOW_BOX(box), d->button[i]);
        gtk_widget_set_focusable(gtk_widget_get_parent(d->button[i]), FALSE); // the button is
    }
    return box;
}

// ---- widget ------------------------------------------------------------------------------------

static void details_free(gpointer details)
{
    Details *d = details;
    g_clear_handle_id(&d->later, g_source_remove);
    g_clear_handle_id(&d->ask, g_source_remove);
    g_cancellable_cancel(d->asking);
    g_object_unref(d->asking);
    g_free(d);
}

static GtkWidget *details_label(GtkWidget *box, const char *class)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_widget_add_css_class(label, class);
    gtk_box_append(GTK_BOX(box), label);
    return label;
}

static GtkWidget *make_body(Details *d)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    GtkWidget *more = nino_pick_menu_button(d->run, _("Menu of what is chosen"));
    gtk_box_append(GTK_BOX(box), head);
    d->title = details_label(head, "heading");
    gtk_widget_set_hexpand(d->title, TRUE);
    gtk_widget_set_valign(more, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(head), more);
    gtk_label_set_selectable(GTK_LABEL(d->title), TRUE);
    d->path = details_label(box, "dim-label");
    gtk_box_append(GTK_BOX(box), make_buttons(d));
    d->facts = GTK_GRID(gtk_grid_new());
    gtk_grid_set_column_spacing(d->facts, NINO_SPACE_S);
    gtk_grid_set_row_spacing(d->facts, NINO_SPACE_HAIR);
    d->place = NULL;
    d->plot[0] = nino_details_wait(d->run);
    gtk_box_append(GTK_BOX(box), d->plot[0]);
    d->place = details_label(box, "dim-label");
    d->plot[1] = nino_details_peers(d->run);
    gtk_box_append(GTK_BOX(box), d->plot[1]);
    d->plot[2] = nino_details_roofline(d->run);
    gtk_box_append(GTK_BOX(box), d->plot[2]);
    gtk_box_append(GTK_BOX(box), GTK_WIDGET(d->facts));
    return box;
}

GtkWidget *nino_details_new(NinoRun *run)
{
    Details *d = g_new0(Details, 1);
    d->run = run;
    d->asking = g_cancellable_new();
    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    d->box = nino_page_scroller_new(all);
    gtk_widget_set_size_request(d->box, 244, -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(d->box), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Details"), -1);
    gtk_widget_add_css_class(all, "details");
    nino_pick_actions(d->box, run);
    d->body = make_body(d);
    static const NinoEmpty empty = {
        "find-location-symbolic",
        N_("Choose a bar in the timeline, a kernel, a tile or a range: its details appear here"),
        { { N_("Find in the timeline"), "win.find-bar" }, { N_("Open trace…"), "win.open-trace" } }
    };
    d->empty = nino_empty_new(&empty);
    gtk_box_append(GTK_BOX(all), d->empty);
    gtk_box_append(GTK_BOX(all), d->body);
    g_object_set_data_full(G_OBJECT(d->box), "details", d, details_free);
    gtk_widget_hide(d->body);
    static const char *const picks[] = { "pick", "cleared" };
    for (int i = 0; i < 2; i++)
        g_signal_connect_object(run, picks[i], G_CALLBACK(on_details_pick), d->box,
                                G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_details_changed), d->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect(d->box, "map", G_CALLBACK(on_details_pick), NULL);
    return d->box;
}
