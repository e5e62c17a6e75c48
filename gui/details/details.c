// The pane: lines of figures (details_facts.c), small plots, and the ways on from there.
#include "details/details.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "details/details_facts.h"
#include "details/details_plots.h"
#include "details/peers.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

enum { PLOTS = 3, WAIT_MS = 250, LIVE_MS = 1000, BUTTONS = 4 };

typedef struct Details {
    NinoRun *run; // the widgets hold it
    GtkWidget *box, *place, *plot[PLOTS], *empty, *body;
    GtkWidget *button[BUTTONS];
    NinoFacts facts;
    guint later, ask;
    GCancellable *asking;
    gint64 updated;
} Details;

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
        nino_kernel_figures_ask(kernel, &told, nino_run_device(d->run), d->asking, nino_facts_add,
                                &d->facts);
    return G_SOURCE_REMOVE;
}

// ---- update ------------------------------------------------------------------------------------

static void show_place(Details *d)
{
    NinoPeerTimes times;
    g_autofree char *text = NULL;
    char n[40], others[40];
    if (nino_peer_times(d->run, &times)) {
        nino_format_count(n, sizeof(n), (double) times.n);
        nino_format_count(others, sizeof(others), (double) times.n - 1);
        text = times.own <= 0    ? g_strdup_printf(_("Its %s calls"), n)
               : times.less == 0 ? g_strdup_printf(_("The shortest of %s"), n)
               : times.less >= times.n - 1
                   ? g_strdup_printf(_("The longest of %s"), n)
                   : g_strdup_printf(_("Longer than %.0f %% of its %s peers"),
                                     100 * (double) times.less / (double) (times.n - 1), others);
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
    g_clear_handle_id(&d->later, g_source_remove);
    if (!gtk_widget_get_mapped(d->box))
        return;
    nino_run_draw_begin(d->run);
    d->updated = g_get_monotonic_time();
    const gboolean any = nino_facts_show(&d->facts);
    gtk_widget_set_visible(d->empty, !any);
    gtk_widget_set_visible(d->body, any);
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
    d->facts.title = details_label(head, "heading");
    gtk_widget_set_hexpand(d->facts.title, TRUE);
    gtk_widget_set_valign(more, GTK_ALIGN_START);
    gtk_box_append(GTK_BOX(head), more);
    gtk_label_set_selectable(GTK_LABEL(d->facts.title), TRUE);
    d->facts.path = details_label(box, "dim-label");
    gtk_box_append(GTK_BOX(box), make_buttons(d));
    d->facts.grid = GTK_GRID(gtk_grid_new());
    gtk_grid_set_column_spacing(d->facts.grid, NINO_SPACE_S);
    gtk_grid_set_row_spacing(d->facts.grid, NINO_SPACE_HAIR);
    d->plot[0] = nino_details_wait(d->run);
    gtk_box_append(GTK_BOX(box), d->plot[0]);
    d->place = details_label(box, "dim-label");
    d->plot[1] = nino_details_peers(d->run);
    gtk_box_append(GTK_BOX(box), d->plot[1]);
    d->plot[2] = nino_details_roofline(d->run);
    gtk_box_append(GTK_BOX(box), d->plot[2]);
    gtk_box_append(GTK_BOX(box), GTK_WIDGET(d->facts.grid));
    return box;
}

GtkWidget *nino_details_new(NinoRun *run)
{
    Details *d = g_new0(Details, 1);
    d->run = d->facts.run = run;
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
