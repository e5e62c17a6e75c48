// Saved views: which view and panes are open, which rows are hidden, pinned or collapsed, what is searched and
// filtered, the part of the run that is shown and the range in it; under a name, in views.ini of the settings.
#include "window/window_priv.h"

#include <string.h>

#include "base/i18n.h"
#include "base/key_file.h"
#include "live/timeline.h"
#include "live/views.h"

enum { MOST_VIEWS = 100, NAME_LENGTH = 60 };

// ---- the file -----------------------------------------------------------------------------------

// NULL: they cannot be read now.
static GKeyFile *read_views(char **path, GError **error)
{
    *path = g_build_filename(g_get_user_config_dir(), "ninodes", "views.ini", NULL);
    return nino_key_file_open(*path, error);
}

static gboolean write_views(NinoWindow *w, GKeyFile *file, const char *path)
{
    g_autoptr(GError) error = NULL;
    if (nino_key_file_save(file, path, &error))
        return TRUE;
    nino_bar_show(w->bar, "views", NINO_BAR_ERROR, error->message, NULL);
    return FALSE;
}

// The group of a name; groups are numbered, for names may have any letters. NULL: there is none.
static char *group_of(GKeyFile *file, const char *name)
{
    g_auto(GStrv) groups = file ? g_key_file_get_groups(file, NULL) : NULL;
    for (char **g = groups; g && *g; g++) {
        g_autofree char *own = g_key_file_get_string(file, *g, "name", NULL);
        if (!g_strcmp0(own, name))
            return g_strdup(*g);
    }
    return NULL;
}

char **nino_window_saved_views(void)
{
    g_autofree char *path = NULL;
    g_autoptr(GKeyFile) file = read_views(&path, NULL);
    g_auto(GStrv) groups = file ? g_key_file_get_groups(file, NULL) : NULL;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (char **g = groups; g && *g; g++) {
        g_autofree char *name = g_key_file_get_string(file, *g, "name", NULL);
        if (name && *name)
            g_strv_builder_add(names, name);
    }
    return g_strv_builder_end(names);
}

// ---- what is in one -----------------------------------------------------------------------------

static GtkWidget *timeline(NinoWindow *w) { return g_ptr_array_index(w->views, 0); }

// Ranges are kept as shares of the run: they mean the same part of the next one.
static void save_part(GKeyFile *file, const char *group, const char *key, const nino_history *h,
                      guint64 t0, guint64 t1)
{
    const double begin = (double) nino_history_begin(h);
    const double all = MAX((double) nino_history_end(h) - begin, 1);
    double part[] = { ((double) t0 - begin) / all, ((double) t1 - begin) / all };
    g_key_file_set_double_list(file, group, key, part, 2);
}

static gboolean read_part(GKeyFile *file, const char *group, const char *key, const nino_history *h,
                          guint64 *t0, guint64 *t1)
{
    gsize n = 0;
    g_autofree double *part = g_key_file_get_double_list(file, group, key, &n, NULL);
    const guint64 begin = nino_history_begin(h), end = nino_history_end(h);
    if (n != 2 || !(part[0] >= 0) || !(part[1] > part[0]) || part[1] > 2 || end <= begin)
        return FALSE;
    *t0 = begin + (guint64) (part[0] * (double) (end - begin));
    *t1 = begin + (guint64) (part[1] * (double) (end - begin));
    return TRUE;
}

static void save_view(NinoWindow *w, const char *name)
{
    g_autofree char *path = NULL, *group = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GKeyFile) file = read_views(&path, &error);
    nino_history *h = nino_run_history(w->records);
    guint64 t0, t1;
    if (!file) {
        nino_bar_show(w->bar, "views", NINO_BAR_ERROR, error->message, NULL);
        return;
    }
    group = group_of(file, name);
    for (int i = 1; !group && i <= MOST_VIEWS; i++) {
        g_autofree char *free_one = g_strdup_printf("view-%d", i);
        if (!g_key_file_has_group(file, free_one))
            group = g_steal_pointer(&free_one);
    }
    if (!group)
        return;
    g_key_file_remove_group(file, group, NULL);
    g_key_file_set_string(file, group, "name", name);
    const int page = gtk_notebook_get_current_page(w->live);
    const GtkWidget *front = page >= 0 ? gtk_notebook_get_nth_page(w->live, page) : NULL;
    g_autofree char *rows = nino_timeline_rows(timeline(w));
    g_key_file_set_string(file, group, "rows", rows);
    g_key_file_set_string(file, group, "find", gtk_editable_get_text(GTK_EDITABLE(w->find)));
    g_key_file_set_boolean(file, group, "runs", gtk_widget_get_visible(w->runs_box));
    g_key_file_set_boolean(file, group, "details", gtk_widget_get_visible(w->details_box));
    g_key_file_set_integer(file, group, "timeline-height", gtk_paned_get_position(w->rows));
    if (nino_run_view(w->records, &t0, &t1) && nino_history_end(h))
        save_part(file, group, "zoom", h, t0, t1);
    if (nino_run_range(w->records, &t0, &t1))
        save_part(file, group, "range", h, t0, t1);
    for (guint i = 0; i < w->views->len; i++) {
        GtkWidget *view = g_ptr_array_index(w->views, i);
        g_autofree char *own = nino_views[i]->save ? nino_views[i]->save(view) : NULL;
        if (view == front)
            g_key_file_set_string(file, group, "view", nino_views[i]->id);
        if (own)
            g_key_file_set_string(file, group, nino_views[i]->id, own);
    }
    if (!write_views(w, file, path))
        return;
    g_autofree char *said = g_strdup_printf(_("The view is saved as “%s”"), name);
    nino_window_say(w, said);
}

static void show_saved(NinoWindow *w, const char *name)
{
    g_autofree char *path = NULL;
    g_autoptr(GKeyFile) file = read_views(&path, NULL);
    g_autofree char *group = group_of(file, name);
    nino_history *h = nino_run_history(w->records);
    guint64 t0, t1;
    if (!group)
        return;
    nino_window_show_perspective(w, "profile");
    g_autofree char *rows = g_key_file_get_string(file, group, "rows", NULL);
    g_autofree char *find = g_key_file_get_string(file, group, "find", NULL);
    g_autofree char *front = g_key_file_get_string(file, group, "view", NULL);
    const int height = g_key_file_get_integer(file, group, "timeline-height", NULL);
    nino_timeline_set_rows(timeline(w), rows);
    gtk_editable_set_text(GTK_EDITABLE(w->find), find ? find : "");
    nino_window_show_runs(w, g_key_file_get_boolean(file, group, "runs", NULL));
    nino_window_show_details(w, g_key_file_get_boolean(file, group, "details", NULL));
    if (height > 0)
        gtk_paned_set_position(w->rows, height);
    const gboolean has_zoom = read_part(file, group, "zoom", h, &t0, &t1);
    nino_run_set_view(w->records, has_zoom ? t0 : 0, has_zoom ? t1 : 0);
    const gboolean has_range = read_part(file, group, "range", h, &t0, &t1);
    nino_run_select(w->records, has_range ? t0 : 0, has_range ? t1 : 0);
    for (guint i = 0; i < w->views->len; i++) {
        g_autofree char *own = g_key_file_get_string(file, group, nino_views[i]->id, NULL);
        if (nino_views[i]->restore)
            nino_views[i]->restore(g_ptr_array_index(w->views, i), own ? own : "");
        const int page = gtk_notebook_page_num(w->live, g_ptr_array_index(w->views, i));
        if (page >= 0 && !g_strcmp0(front, nino_views[i]->id))
            gtk_notebook_set_current_page(w->live, page);
    }
}

// ---- actions ------------------------------------------------------------------------------------

static void fill_menu(NinoWindow *w);

static void action_saved_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    show_saved(user, g_variant_get_string(parameter, NULL));
}

static void action_save_view_as(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    g_autofree char *name = g_strstrip(g_strdup(g_variant_get_string(parameter, NULL)));
    if (*name && g_utf8_strlen(name, -1) <= NAME_LENGTH)
        save_view(user, name);
    fill_menu(user);
}

static void action_forget_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a;
    NinoWindow *w = user;
    g_autofree char *path = NULL;
    g_autoptr(GKeyFile) file = read_views(&path, NULL);
    g_autofree char *group = group_of(file, g_variant_get_string(parameter, NULL));
    if (group && g_key_file_remove_group(file, group, NULL))
        write_views(w, file, path);
    fill_menu(w);
}

static void on_view_name(GtkEntry *entry, NinoWindow *w)
{
    g_autofree char *name = g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry)));
    gtk_popover_popdown(GTK_POPOVER(gtk_widget_get_ancestor(GTK_WIDGET(entry), GTK_TYPE_POPOVER)));
    gtk_widget_activate_action(GTK_WIDGET(w), "win.save-view-as", "s", name);
}

static gboolean popover_gone(gpointer popover)
{
    if (gtk_widget_get_parent(popover))
        gtk_widget_unparent(popover);
    return G_SOURCE_REMOVE;
}

// Not at once: it still handles its own closing.
static void on_name_closed(GtkWidget *popover, gpointer user)
{
    (void) user;
    g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, popover_gone, g_object_ref(popover), g_object_unref);
}

static void action_save_view(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    (void) a, (void) parameter;
    NinoWindow *w = user;
    GtkWidget *popover = gtk_popover_new(), *entry = gtk_entry_new();
    nino_window_show_perspective(w, "profile");
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), _("Name of the view"));
    gtk_entry_set_max_length(GTK_ENTRY(entry), NAME_LENGTH);
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 28);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Name of the view"), -1);
    g_signal_connect_object(entry, "activate", G_CALLBACK(on_view_name), w, 0);
    g_signal_connect(popover, "closed", G_CALLBACK(on_name_closed), NULL);
    gtk_popover_set_child(GTK_POPOVER(popover), entry);
    gtk_widget_set_parent(popover, w->profile_bar);
    g_signal_connect_object(w->profile_bar, "destroy", G_CALLBACK(gtk_widget_unparent), popover,
                            G_CONNECT_SWAPPED); // the window may go while it is open
    const int width = gtk_widget_get_width(w->profile_bar),
              height = gtk_widget_get_height(w->profile_bar);
    gtk_popover_set_pointing_to(GTK_POPOVER(popover),
                                &(GdkRectangle){ MAX(width - 90, 0), height, 1, 1 });
    gtk_popover_popup(GTK_POPOVER(popover));
    gtk_widget_grab_focus(entry);
}

// ---- the button and its menu --------------------------------------------------------------------

static void add_names(GMenu *menu, char **names, const char *action)
{
    for (char **n = names; *n; n++) {
        g_auto(GStrv) parts = g_strsplit(*n, "_", -1); // one alone marks a letter
        g_autofree char *label = g_strjoinv("__", parts);
        g_autoptr(GMenuItem) item = g_menu_item_new(label, NULL);
        g_menu_item_set_action_and_target(item, action, "s", *n);
        g_menu_append_item(menu, item);
    }
}

static void fill_menu(NinoWindow *w)
{
    g_auto(GStrv) names = nino_window_saved_views();
    g_autoptr(GMenu) menu = g_menu_new(), saved = g_menu_new(), save = g_menu_new(),
                     forget = g_menu_new();
    add_names(saved, names, "win.saved-view");
    g_menu_append_section(menu, *names ? _("Saved views") : NULL, G_MENU_MODEL(saved));
    g_menu_append(save, _("Save this view…"), "win.save-view");
    add_names(forget, names, "win.forget-view");
    if (*names)
        g_menu_append_submenu(save, _("Delete a saved view"), G_MENU_MODEL(forget));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(save));
    gtk_menu_button_set_menu_model(w->views_button, G_MENU_MODEL(menu));
}

GtkWidget *nino_window_new_views_button(NinoWindow *w)
{
    w->views_button = GTK_MENU_BUTTON(gtk_menu_button_new());
    gtk_menu_button_set_label(w->views_button, _("Views"));
    gtk_menu_button_set_has_frame(w->views_button, FALSE);
    gtk_widget_set_tooltip_text(GTK_WIDGET(w->views_button),
                                _("Saved views: open panes, rows, zoom, range, filters"));
    fill_menu(w);
    return GTK_WIDGET(w->views_button);
}

void nino_window_saved_views_init(NinoWindow *w)
{
    static const GActionEntry actions[] = {
        { .name = "save-view", .activate = action_save_view },
        { .name = "save-view-as", .activate = action_save_view_as, .parameter_type = "s" },
        { .name = "saved-view", .activate = action_saved_view, .parameter_type = "s" },
        { .name = "forget-view", .activate = action_forget_view, .parameter_type = "s" },
    };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
}
