// The runs that were kept: opened again, compared with each other, named, deleted.
#include "plot/view.h"

#include "base/empty.h"
#include "base/i18n.h"
#include "plot/kept_runs.h"
#include "plot/pick_menu.h"
#include "plot/plot.h"

#include <math.h>

typedef struct Runs {
    NinoRun *run;
    GtkWidget *box, *list, *search, *foot, *bar, *trend, *hint, *open, *compare, *name, *note;
    guint64 shown; // of which rows: a sum of what they say
} Runs;

static const char *id_of(GtkListBoxRow *row)
{
    return ((const NinoKept *) g_object_get_data(G_OBJECT(row), "kept"))->id;
}

// ---- rows --------------------------------------------------------------------------------------

static void add_line(GtkWidget *box, const char *text, const char *class)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, class);
    gtk_widget_set_tooltip_text(label, text);
    gtk_box_append(GTK_BOX(box), label);
}

// Of the runs of the same work up to this one.
static char *trend_text(const nino_trend *t)
{
    if (!isfinite(t->percent))
        return g_strdup(_("Too few runs of this work for a trend"));
    if (t->is_too_few)
        return g_strdup_printf(_("Trend of %u runs: %+.1f %% a run; too few to tell from chance"),
                               (guint) t->n, t->percent);
    return g_strdup_printf(_("Trend of %u runs: %+.1f %% a run (%+.1f to %+.1f %%), noise band "
                             "%.1f %%: %s"),
                           (guint) t->n, t->percent, t->low, t->high, t->band_percent,
                           t->verdict > 0   ? _("slower")
                           : t->verdict < 0 ? _("faster")
                                            : _("no trend shown"));
}

// What it is called, when it was and how long it took, what was noted. Takes k.
static GtkWidget *new_run_row(NinoKept *k, const nino_trend *trend)
{
    GtkWidget *row = gtk_list_box_row_new(),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_HAIR);
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_local(k->at);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *when = g_date_time_format(at, "%F %H:%M:%S");
    g_autofree char *day = g_date_time_format(at, "%F"), *today = g_date_time_format(now, "%F");
    g_autofree char *brief =
        g_date_time_format(at, g_str_equal(day, today) ? "%H:%M:%S" : "%F %H:%M");
    char took[40] = "–", records[40];
    if (!isnan(k->seconds))
        nino_format_ns(took, sizeof(took), k->seconds * 1e9);
    nino_format_count(records, sizeof(records), (double) k->n_records);
    g_autofree char *size =
        g_strdup_printf(ngettext("%s record", "%s records", (gulong) k->n_records), records);
    g_autofree char *change =
        isnan(k->seconds) || isnan(trend->change_percent)
            ? g_strdup("")
            : g_strdup_printf(" %s%.1f %%", trend->change_percent < 0 ? "−" : "+",
                              fabs(trend->change_percent));
    g_autofree char *about = g_strdup_printf("%s%s · %s", took, change, brief);
    g_autofree char *told = trend_text(trend);
    g_autofree char *tip = g_strdup_printf("%s\n%s, %s%s\n%s%s%s\n%s", k->title, when, took, change,
                                           k->kind, *k->kind ? "\n" : "", size, told);
    const char *title = *k->name ? k->name : k->title;
    add_line(box, title, *k->name ? "heading" : "text");
    add_line(box, about, "dim-label");
    if (*k->note)
        add_line(box, k->note, "note");
    gtk_widget_add_css_class(box, "run");
    gtk_widget_set_tooltip_text(row, tip);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    g_autofree char *spoken = g_strjoin(", ", title, when, took, *k->note ? k->note : NULL, NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
    g_object_set_data_full(G_OBJECT(row), "kept", k, nino_kept_free);
    g_object_set_data_full(G_OBJECT(row), "trend", g_steal_pointer(&told), g_free);
    g_object_set_data_full(G_OBJECT(row), "spoken", g_steal_pointer(&spoken), g_free);
    return row;
}

// The one that the other views show has a mark.
static void mark_shown(Runs *r)
{
    GtkListBoxRow *row;
    for (int i = 0; (row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(r->list), i)); i++) {
        GtkWidget *w = GTK_WIDGET(row);
        const gboolean is = nino_kept_is_shown(g_object_get_data(G_OBJECT(row), "kept"), r->run);
        if (is == gtk_widget_has_css_class(w, "shown"))
            continue;
        const char *spoken = g_object_get_data(G_OBJECT(row), "spoken");
        g_autofree char *text = is ? g_strdup_printf(_("%s, shown now"), spoken) : g_strdup(spoken);
        gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                       -1);
        if (is)
            gtk_widget_add_css_class(w, "shown");
        else
            gtk_widget_remove_css_class(w, "shown");
    }
}

static gboolean is_run_found(GtkListBoxRow *row, gpointer runs)
{
    const Runs *r = runs;
    return nino_kept_matches(g_object_get_data(G_OBJECT(row), "kept"),
                             gtk_editable_get_text(GTK_EDITABLE(r->search)));
}

// "3 of 50 runs"; "" where nothing is searched.
static char *found_text(const Runs *r)
{
    GtkListBoxRow *row;
    guint n = 0, all = 0;
    for (; (row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(r->list), (int) all)); all++)
        n += is_run_found(row, (gpointer) r);
    return *gtk_editable_get_text(GTK_EDITABLE(r->search))
               ? g_strdup_printf(_("%u of %u runs"), n, all)
               : g_strdup("");
}

static void count_selected(GtkListBox *list, GtkListBoxRow *row, gpointer n)
{
    (void) list, (void) row;
    ++*(guint *) n;
}

// Of the one that is chosen.
static void on_runs_trend(Runs *r, guint n)
{
    GList *rows = n == 1 ? gtk_list_box_get_selected_rows(GTK_LIST_BOX(r->list)) : NULL;
    const char *trend = rows ? g_object_get_data(G_OBJECT(rows->data), "trend") : "";
    gtk_label_set_text(GTK_LABEL(r->trend), trend);
    gtk_widget_set_visible(r->trend, *trend != 0);
    g_list_free(rows);
}

static void on_runs_selected(Runs *r)
{
    guint n = 0;
    gtk_list_box_selected_foreach(GTK_LIST_BOX(r->list), count_selected, &n);
    gtk_widget_set_sensitive(r->open, n == 1);
    gtk_widget_set_sensitive(r->compare, n == 2 || n == 1);
    gtk_widget_set_visible(r->name, n == 1);
    gtk_widget_set_visible(r->note, n == 1);
    gtk_widget_set_visible(r->bar, n > 0);
    g_autofree char *found = found_text(r);
    gtk_label_set_text(GTK_LABEL(r->hint),
                       n == 2   ? _("Compare shows the newer one over the older one")
                       : n == 1 ? _("Ctrl+click a second run to compare the two")
                                : found);
    on_runs_trend(r, n);
    const gboolean has_hint = *gtk_label_get_text(GTK_LABEL(r->hint)) != 0;
    gtk_widget_set_visible(r->hint, has_hint);
    gtk_widget_set_visible(r->foot, n > 0 || has_hint || gtk_widget_get_visible(r->trend));
    GList *rows = n == 1 ? gtk_list_box_get_selected_rows(GTK_LIST_BOX(r->list)) : NULL;
    const NinoKept *k = rows ? g_object_get_data(G_OBJECT(rows->data), "kept") : NULL;
    gtk_editable_set_text(GTK_EDITABLE(r->name), k ? k->name : "");
    gtk_editable_set_text(GTK_EDITABLE(r->note), k ? k->note : "");
    g_list_free(rows);
}

// What is not seen is not chosen.
static void on_runs_search(Runs *r)
{
    gtk_list_box_unselect_all(GTK_LIST_BOX(r->list));
    gtk_list_box_invalidate_filter(GTK_LIST_BOX(r->list));
    on_runs_selected(r);
}

static void runs_fill(Runs *r)
{
    g_autoptr(GPtrArray) list = nino_kept_list();
    guint64 sum = list->len;
    for (guint i = 0; i < list->len; i++) {
        const NinoKept *k = g_ptr_array_index(list, i);
        sum =
            sum * 31 + g_str_hash(k->id) + 3 * (guint64) g_str_hash(k->name) + g_str_hash(k->note);
    }
    if (sum == r->shown && list->len) {
        mark_shown(r);
        return;
    }
    r->shown = sum;
    GtkListBoxRow *row;
    while ((row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(r->list), 0)))
        gtk_list_box_remove(GTK_LIST_BOX(r->list), GTK_WIDGET(row));
    g_ptr_array_set_free_func(list, NULL); // the rows take them
    for (guint i = 0; i < list->len; i++) {
        nino_trend trend;
        NinoKept *k = g_ptr_array_index(list, i);
        nino_kept_trend(list, k, &trend);
        gtk_list_box_append(GTK_LIST_BOX(r->list), new_run_row(k, &trend));
    }
    mark_shown(r);
    on_runs_selected(r);
}

// ---- what can be done --------------------------------------------------------------------------

static void open_trace(Runs *r, const char *id)
{
    g_autofree char *path = nino_kept_path(id);
    gtk_widget_activate_action(r->box, "win.open-path", "s", path);
}

static void on_runs_row(GtkListBox *list, GtkListBoxRow *row, Runs *r)
{
    (void) list;
    open_trace(r, id_of(row));
}

static void on_runs_open(Runs *r)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(r->list));
    if (row)
        open_trace(r, id_of(row));
}

static void collect(GtkListBox *list, GtkListBoxRow *row, gpointer ids)
{
    (void) list;
    g_ptr_array_add(ids, g_strdup(id_of(row)));
}

// Two: the older one is the baseline of the newer one, which is opened; one: of what is shown.
static void on_runs_compare(Runs *r)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    gtk_list_box_selected_foreach(GTK_LIST_BOX(r->list), collect, ids);
    if (!ids->len)
        return;
    if (ids->len == 2) // newest first
        open_trace(r, g_ptr_array_index(ids, 0));
    g_autofree char *base = nino_kept_path(g_ptr_array_index(ids, ids->len - 1));
    gtk_widget_activate_action(r->box, "win.baseline", "s", base);
}

static void on_runs_remove(Runs *r)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    gtk_list_box_selected_foreach(GTK_LIST_BOX(r->list), collect, ids);
    for (guint i = 0; i < ids->len; i++)
        nino_kept_remove(g_ptr_array_index(ids, i));
}

// Enter in either of the two keeps both. The run stays chosen, in its new row.
static void on_runs_name(Runs *r)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(r->list));
    if (!row)
        return;
    g_autofree char *id = g_strdup(id_of(row)); // rows are made anew
    g_autofree char *name = g_strdup(gtk_editable_get_text(GTK_EDITABLE(r->name)));
    g_autofree char *note = g_strdup(gtk_editable_get_text(GTK_EDITABLE(r->note)));
    nino_kept_rename(id, name);
    nino_kept_set_note(id, note);
    for (int i = 0; (row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(r->list), i)); i++)
        if (!strcmp(id_of(row), id))
            gtk_list_box_select_row(GTK_LIST_BOX(r->list), row);
}

// ---- the menu of a row -------------------------------------------------------------------------

// A row that is not among the chosen ones is the chosen one from then on.
static gboolean runs_menu(GtkWidget *list, double *x, double *y, GMenu *more, gpointer user)
{
    (void) user;
    GtkListBoxRow *row = nino_pick_list_row_at(list, x, y);
    if (!row)
        return FALSE;
    if (!gtk_list_box_row_is_selected(row)) {
        gtk_list_box_unselect_all(GTK_LIST_BOX(list));
        gtk_list_box_select_row(GTK_LIST_BOX(list), row);
    }
    guint n = 0;
    g_autoptr(GMenu) look = g_menu_new(), keep = g_menu_new();
    gtk_list_box_selected_foreach(GTK_LIST_BOX(list), count_selected, &n);
    if (n == 1) {
        g_menu_append(look, _("Open"), "runs.open");
        g_menu_append(look, _("Compare with what is shown"), "runs.compare");
        g_menu_append(keep, _("Name it…"), "runs.name");
        g_menu_append(keep, _("Copy the path of its trace"), "runs.copy");
    } else if (n == 2) {
        g_menu_append(look, _("Compare the two"), "runs.compare");
    }
    g_menu_append(keep, _("Delete"), "runs.delete");
    if (n <= 2)
        g_menu_append_section(more, NULL, G_MENU_MODEL(look));
    g_menu_append_section(more, NULL, G_MENU_MODEL(keep));
    return FALSE;
}

static void runs_ask_name(Runs *r) { gtk_widget_grab_focus(r->name); }

static void runs_copy(Runs *r)
{
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(r->list));
    g_autofree char *path = row ? nino_kept_path(id_of(row)) : NULL;
    if (path)
        gdk_clipboard_set_text(gtk_widget_get_clipboard(r->list), path);
}

static void runs_add_menu(Runs *r, NinoRun *run)
{
    static const struct {
        const char *name;
        void (*act)(Runs *r);
    } acts[] = { { "open", on_runs_open },
                 { "compare", on_runs_compare },
                 { "name", runs_ask_name },
                 { "copy", runs_copy },
                 { "delete", on_runs_remove } };
    g_autoptr(GSimpleActionGroup) group = g_simple_action_group_new();
    for (size_t i = 0; i < G_N_ELEMENTS(acts); i++) {
        g_autoptr(GSimpleAction) a = g_simple_action_new(acts[i].name, NULL);
        g_signal_connect_swapped(a, "activate", G_CALLBACK(acts[i].act), r);
        g_action_map_add_action(G_ACTION_MAP(group), G_ACTION(a));
    }
    gtk_widget_insert_action_group(r->box, "runs", G_ACTION_GROUP(group));
    nino_pick_menu_add(r->list, run, runs_menu, r);
}

// ---- widget ------------------------------------------------------------------------------------

static void on_runs_changed(GtkWidget *box)
{
    Runs *r = g_object_get_data(G_OBJECT(box), "runs");
    if (gtk_widget_get_mapped(box))
        runs_fill(r);
}

// While it grows it is none of those that are kept.
static void on_runs_run(GtkWidget *box)
{
    Runs *r = g_object_get_data(G_OBJECT(box), "runs");
    if (gtk_widget_get_mapped(box) && !nino_run_is_live(r->run))
        mark_shown(r);
}

static GtkWidget *runs_button(Runs *r, GtkWidget *bar, const char *label, const char *help,
                              void (*clicked)(Runs *r))
{
    GtkWidget *b = gtk_button_new_with_label(label);
    gtk_widget_set_tooltip_text(b, help);
    g_signal_connect_swapped(b, "clicked", G_CALLBACK(clicked), r);
    gtk_box_append(GTK_BOX(bar), b);
    return b;
}

static GtkWidget *runs_entry(Runs *r, const char *what, const char *help, int most)
{
    GtkWidget *entry = gtk_entry_new();
    g_object_set(entry, "placeholder-text", what, "max-length", most, "width-chars", 8, NULL);
    gtk_widget_set_tooltip_text(entry, help);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
    g_signal_connect_swapped(entry, "activate", G_CALLBACK(on_runs_name), r);
    return entry;
}

static GtkWidget *make_foot(Runs *r)
{
    GtkWidget *foot = r->foot = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    GtkWidget *bar = r->bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    gtk_widget_add_css_class(foot, "strip");
    r->hint = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(r->hint), TRUE);
    gtk_label_set_xalign(GTK_LABEL(r->hint), 0);
    gtk_widget_add_css_class(r->hint, "dim-label");
    r->name = runs_entry(r, _("Name of the run"),
                         _("Enter keeps the name; named runs are never deleted to make room"), 80);
    r->note = runs_entry(r, _("Note about the run"),
                         _("Enter keeps the note; such runs are never deleted to make room"), 500);
    r->open = runs_button(r, bar, _("Open"), _("Shows the run in all views"), on_runs_open);
    r->compare =
        runs_button(r, bar, _("Compare"),
                    _("Of two chosen runs (Ctrl+click) the newer one with the older one; of one: "
                      "what is shown with it"),
                    on_runs_compare);
    runs_button(r, bar, _("Delete"), _("Deletes the chosen runs' traces"), on_runs_remove);
    gtk_widget_add_css_class(bar, "linked");
    r->trend = gtk_label_new("");
    gtk_label_set_wrap(GTK_LABEL(r->trend), TRUE);
    gtk_label_set_xalign(GTK_LABEL(r->trend), 0);
    gtk_box_append(GTK_BOX(foot), r->trend);
    gtk_box_append(GTK_BOX(foot), r->hint);
    gtk_box_append(GTK_BOX(foot), r->name);
    gtk_box_append(GTK_BOX(foot), r->note);
    gtk_box_append(GTK_BOX(foot), bar);
    return foot;
}

static void runs_export_rows(GtkWidget *view, NinoRowFn row, gpointer user)
{
    (void) view;
    g_autoptr(GPtrArray) list = nino_kept_list();
    for (guint i = 0; i < list->len; i++) {
        const NinoKept *k = g_ptr_array_index(list, i);
        g_autofree char *path = nino_kept_path(k->id);
        nino_trend trend;
        nino_kept_trend(list, k, &trend);
        const NinoCell cells[] = { { "kept_at", NULL, (double) k->at },
                                   { "name", k->name, 0 },
                                   { "note", k->note, 0 },
                                   { "workflow", k->title, 0 },
                                   { "seconds", NULL, k->seconds },
                                   { "kind", k->kind, 0 },
                                   { "change_percent", NULL, trend.change_percent },
                                   { "trend_percent", NULL, trend.percent },
                                   { "noise_band_percent", NULL, trend.band_percent },
                                   { "records", NULL, (double) k->n_records },
                                   { "trace", path, 0 } };
        row(user, cells, G_N_ELEMENTS(cells));
    }
}

// The entry above goes before the list, which then chooses nothing any more.
static void on_runs_chosen(GtkWidget *search)
{
    on_runs_selected(g_object_get_data(G_OBJECT(search), "runs"));
}

static GtkWidget *new_runs_view(NinoRun *run)
{
    static const NinoViewExport x = { .rows = runs_export_rows };
    Runs *r = g_new0(Runs, 1);
    r->run = run;
    r->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    r->list = gtk_list_box_new();
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(r->list), GTK_SELECTION_MULTIPLE);
    gtk_list_box_set_activate_on_single_click(GTK_LIST_BOX(r->list), FALSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(r->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Kept runs"), -1);
    static const NinoEmpty empty = { "document-open-recent-symbolic",
                                     N_("Runs that end while this window watches them appear here"),
                                     { { N_("Open trace…"), "win.open-trace" } } };
    GtkWidget *none = nino_empty_new(&empty);
    gtk_list_box_set_placeholder(GTK_LIST_BOX(r->list), none);
    GtkWidget *scroll = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), r->list);
    gtk_widget_set_vexpand(scroll, TRUE);
    r->search = gtk_search_entry_new();
    g_object_set(r->search, "placeholder-text", _("Find a run"), "width-chars", 8, "margin-start",
                 NINO_SPACE_S, "margin-end", NINO_SPACE_S, "margin-top", NINO_SPACE_S,
                 "margin-bottom", NINO_SPACE_S, NULL);
    gtk_widget_set_tooltip_text(r->search, _("By workflow, name, note or date"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(r->search), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Find a run"), -1);
    nino_empty_add_search(none, GTK_EDITABLE(r->search), N_("No run is called so"));
    g_signal_connect_swapped(r->search, "search-changed", G_CALLBACK(on_runs_search), r);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(r->list), is_run_found, r, NULL);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_box_append(GTK_BOX(r->box), r->search);
    gtk_box_append(GTK_BOX(r->box), scroll);
    gtk_box_append(GTK_BOX(r->box), make_foot(r));
    g_object_set_data_full(G_OBJECT(r->list), "keeps", r, g_free);
    g_object_set_data(G_OBJECT(r->box), "runs", r);
    g_signal_connect(r->list, "row-activated", G_CALLBACK(on_runs_row), r);
    g_object_set_data(G_OBJECT(r->search), "runs", r);
    g_signal_connect_object(r->list, "selected-rows-changed", G_CALLBACK(on_runs_chosen), r->search,
                            G_CONNECT_SWAPPED);
    g_signal_connect_swapped(r->box, "map", G_CALLBACK(runs_fill), r);
    runs_add_menu(r, run);
    g_signal_connect_object(run, "changed", G_CALLBACK(on_runs_run), r->box, G_CONNECT_SWAPPED);
    g_signal_connect_object(run, "cleared", G_CALLBACK(on_runs_run), r->box, G_CONNECT_SWAPPED);
    nino_kept_watch(r->box, on_runs_changed);
    on_runs_selected(r);
    nino_view_set_export(r->box, &x);
    return r->box;
}

const NinoViewType nino_view_runs = {
    .id = "runs",
    .title = N_("Runs"),
    .help = N_("The runs that were kept: open, compare, name or delete them"),
    .create = new_runs_view,
};
