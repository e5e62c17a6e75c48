// One kernel by itself: what its launches took beside those of the same op, how near that is to what the
// device can do, its source, its machine code, and the call made again alone.
#include "plot/view.h"

#include "base/i18n.h"
#include "base/scroller.h"
#include "live/kernel_peers.h"
#include "live/kernel_tool.h"
#include "live/shown_kernel.h"
#include "live/sweep_plot.h"
#include "live/views.h"
#include "plot/plot.h"

#include <math.h>

enum { UPDATE_MS = 1000, FACTS_WIDTH = 180, TOOLS = 3, FACTS = 6 };

typedef struct View {
    NinoRun *run; // the widgets hold it
    GtkWidget *box, *title, *fact[FACTS], *pages, *peers, *tool[TOOLS];
    int n_facts;
    gint64 updated;
    guint later;
} View;

// ---- what is known of the launch ---------------------------------------------------------------

static void G_GNUC_PRINTF(2, 3) add_fact(View *v, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    gtk_label_set_text(GTK_LABEL(v->fact[v->n_facts]), text);
    gtk_widget_show(v->fact[v->n_facts++]);
}

// Which of arithmetic and memory is the nearer limit, and how near it is.
static void add_bound(View *v, const NinoPeer *p)
{
    const nino_ceilings *c = nino_run_ceilings(v->run);
    const double calls = (double) MAX(p->stat.calls, 1), ns = (double) p->stat.total_ns / calls;
    const double flops = p->stat.flops / calls, bytes = p->stat.bytes / calls;
    char share[40];
    if (!c || isnan(p->peak)) {
        add_fact(v, "%s",
                 c ? _("What its calls move and compute is not known")
                   : _("What this device can do is not known"));
        return;
    }
    const double peak = p->stat.bits == 16 && c->flops_f16 > 0 ? c->flops_f16 : c->flops_f32;
    const double memory = nino_ceilings_bandwidth(c, (uint64_t) bytes);
    const gboolean is_arithmetic = flops / peak > bytes / memory;
    nino_format_share(share, sizeof(share), p->peak);
    if (is_arithmetic)
        add_fact(v, _("%s of its bound, arithmetic: %.1f of %.1f GFLOP/s (%s)"), share, flops / ns,
                 peak * 1e-9, nino_run_peak_of(v->run));
    else
        add_fact(v, _("%s of its bound, memory: %.1f of %.1f GB/s (%s)"), share, bytes / ns,
                 memory * 1e-9, nino_run_peak_of(v->run));
}

static void add_times(View *v, const NinoPeer *p)
{
    char mean[40], total[40], least[40], most[40], share[40];
    nino_format_ns(mean, sizeof(mean), (double) p->stat.total_ns / (double) p->stat.calls);
    nino_format_ns(total, sizeof(total), (double) p->stat.total_ns);
    nino_format_ns(least, sizeof(least), (double) p->stat.min_ns);
    nino_format_ns(most, sizeof(most), (double) p->stat.max_ns);
    nino_format_share(share, sizeof(share), p->share);
    add_fact(v, _("%s on average, %s to %s"), mean, least, most);
    add_fact(v,
             ngettext("%llu call, %s, %s of all kernels and transfers",
                      "%llu calls, %s, %s of all kernels and transfers", p->stat.calls),
             (unsigned long long) p->stat.calls, total, share);
}

static void show_facts(View *v, const NinoPeer *p)
{
    v->n_facts = 0;
    gtk_label_set_text(GTK_LABEL(v->title), p ? p->kernel : _("No kernel is chosen"));
    if (p) {
        add_times(v, p);
        add_bound(v, p);
        if (*p->work)
            add_fact(v, _("Work-items: %s"), p->work);
        if (*p->told.call)
            add_fact(v, _("Call: %s"), p->told.call);
        if (*p->told.program)
            add_fact(v, _("Program: %s"), p->told.program);
    }
    for (int i = v->n_facts; i < FACTS; i++)
        gtk_widget_hide(v->fact[i]);
}

static void show_peer(View *v, const NinoPeer *p)
{
    show_facts(v, p);
    for (int i = 0; i < TOOLS; i++) {
        nino_kernel_tool_set(v->tool[i], p ? p->kernel : NULL, p ? p->told.program : NULL,
                             p ? p->told.call : NULL, nino_run_device(v->run));
        nino_kernel_tool_set_busy(v->tool[i], nino_run_is_live(v->run));
    }
}

// A row of the table: also the other views show its kernel now.
static void on_peer(gpointer user, NinoPeer *p)
{
    View *v = user;
    show_peer(v, p);
    if (p)
        nino_run_set_kernel(v->run, p->stat.kernel);
}

void nino_kernel_view_page(GtkWidget *box, const char *page)
{
    const View *v = g_object_get_data(G_OBJECT(box), "view");
    if (v && gtk_stack_get_child_by_name(GTK_STACK(v->pages), page))
        gtk_stack_set_visible_child_name(GTK_STACK(v->pages), page);
}

// ---- updates -----------------------------------------------------------------------------------

static void kernel_view_update(GtkWidget *box)
{
    View *v = g_object_get_data(G_OBJECT(box), "view");
    g_clear_handle_id(&v->later, g_source_remove);
    if (!gtk_widget_get_mapped(v->box))
        return;
    nino_run_draw_begin(v->run);
    show_peer(v, nino_kernel_peers_fill(v->peers, nino_shown_kernel(v->run)));
    nino_run_draw_end(v->run);
    v->updated = g_get_monotonic_time();
}

static gboolean on_kernel_view_later(gpointer box)
{
    View *v = g_object_get_data(G_OBJECT(box), "view");
    v->later = 0; // this source ends by itself
    kernel_view_update(box);
    return G_SOURCE_REMOVE;
}

static void on_kernel_view_changed(GtkWidget *box)
{
    View *v = g_object_get_data(G_OBJECT(box), "view");
    const gint64 since = (g_get_monotonic_time() - v->updated) / 1000;
    if (!nino_run_is_live(v->run) || since >= UPDATE_MS)
        kernel_view_update(box);
    else if (!v->later)
        v->later = g_timeout_add((guint) (UPDATE_MS - since), on_kernel_view_later, box);
}

// Of a peer that was chosen here the table shows its op already.
static void on_kernel_view_kernel(GtkWidget *box)
{
    const View *v = g_object_get_data(G_OBJECT(box), "view");
    const NinoPeer *p = nino_kernel_peers_chosen(v->peers);
    if (!p || p->stat.kernel != nino_run_kernel(v->run))
        kernel_view_update(box);
}

// ---- widget ------------------------------------------------------------------------------------

static void view_free(gpointer data)
{
    View *v = data;
    g_clear_handle_id(&v->later, g_source_remove);
    g_free(v);
}

static void kernel_view_export_rows(GtkWidget *box, NinoRowFn row, gpointer user)
{
    const View *v = g_object_get_data(G_OBJECT(box), "view");
    nino_kernel_peers_export(v->peers, row, user);
}

static GtkWidget *make_facts(View *v)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    for (int i = -1; i < FACTS; i++) {
        GtkWidget *label = gtk_label_new("");
        gtk_label_set_xalign(GTK_LABEL(label), 0);
        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
        gtk_label_set_selectable(GTK_LABEL(label), TRUE);
        gtk_box_append(GTK_BOX(box), label);
        *(i < 0 ? &v->title : &v->fact[i]) = label;
    }
    gtk_widget_add_css_class(v->title, "heading");
    gtk_widget_set_margin_start(box, NINO_SPACE_S);
    gtk_widget_set_margin_end(box, NINO_SPACE_S);
    gtk_widget_set_margin_top(box, NINO_SPACE_S);
    GtkWidget *scroll = nino_page_scroller_new(box);
    gtk_widget_set_size_request(scroll, FACTS_WIDTH, -1);
    return scroll;
}

static GtkWidget *make_pages(View *v)
{
    static const NinoKernelTool source[] = {
        { N_("Source"), N_("The source of this kernel, as it was compiled"), "--source" }, { 0 }
    };
    static const NinoKernelTool code[] = {
        { N_("Machine code"),
          N_("What clang makes of it for gfx1151: registers, occupancy, instructions"), "--code" },
        { 0 }
    };
    static const NinoKernelTool replay[] = {
        { N_("Replay"),
          N_("Makes the call that this kernel was launched for again, alone, with random inputs"),
          "--replay" },
        { N_("Sweep"),
          N_("The same in turn with every way in which the schedule could cut this call"),
          "--sweep" },
        { 0 }
    };
    const struct {
        const char *id, *title;
        const NinoKernelTool *tools;
    } page[TOOLS] = { { "source", _("Source"), source },
                      { "code", _("Machine code"), code },
                      { "replay", _("Replay"), replay } };
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *stack = gtk_stack_new();
    GtkWidget *bar = gtk_stack_switcher_new();
    v->pages = stack;
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(bar), GTK_STACK(stack));
    gtk_widget_set_halign(bar, GTK_ALIGN_START);
    gtk_widget_set_margin_top(bar, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(bar, NINO_SPACE_S);
    v->peers = nino_kernel_peers_new(v->run, on_peer, v);
    gtk_stack_add_titled(GTK_STACK(stack), v->peers, "peers", _("Peers"));
    for (int i = 0; i < TOOLS; i++) {
        v->tool[i] = nino_kernel_tool_new(page[i].tools, page[i].title, i < 2);
        gtk_stack_add_titled(GTK_STACK(stack), v->tool[i], page[i].id, page[i].title);
    }
    GtkWidget *sweep = nino_sweep_plot_new(v->run); // above what replay and sweep print
    gtk_box_insert_child_after(GTK_BOX(v->tool[TOOLS - 1]), sweep,
                               gtk_widget_get_first_child(v->tool[TOOLS - 1]));
    nino_kernel_tool_watch(v->tool[TOOLS - 1], nino_sweep_plot_set, sweep);
    gtk_widget_set_vexpand(stack, TRUE);
    gtk_widget_set_hexpand(stack, TRUE);
    gtk_box_append(GTK_BOX(box), bar);
    gtk_box_append(GTK_BOX(box), stack);
    return box;
}

static GtkWidget *new_kernel_view(NinoRun *run)
{
    static const NinoViewExport x = { .rows = kernel_view_export_rows };
    View *v = g_new0(View, 1);
    v->run = run;
    v->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    gtk_box_append(GTK_BOX(v->box), make_facts(v));
    gtk_box_append(GTK_BOX(v->box), make_pages(v));
    g_object_set_data_full(G_OBJECT(v->box), "view", v, view_free);
    show_peer(v, NULL);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_kernel_view_changed), v->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(kernel_view_update), v->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "range", G_CALLBACK(kernel_view_update), v->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "kernel", G_CALLBACK(on_kernel_view_kernel), v->box,
                            G_CONNECT_SWAPPED);
    g_signal_connect(v->box, "map", G_CALLBACK(kernel_view_update), NULL);
    nino_view_set_export(v->box, &x);
    return v->box;
}

const NinoViewType nino_view_kernel = {
    .id = "kernel",
    .title = N_("One kernel"),
    .help = N_("One kernel by itself: peers, bound, source, machine code, replay"),
    .create = new_kernel_view,
};
