// Tabs of the window: titles, what is wrong with the one in front, autosave, recent files.
#include "window/window_priv.h"

#include <string.h>

#include "window/recent.h"
#include "workflow/autosave.h"
#include "settings/prefs.h"
#include "base/i18n.h"
#include "base/tokens.h"

NinoTab *nino_window_tab(NinoWindow *w)
{
    const int i = gtk_notebook_get_current_page(w->tabs);
    return i < 0 ? NULL : NINO_TAB(gtk_notebook_get_nth_page(w->tabs, i));
}

static NinoTab *find_tab(NinoWindow *w, const char *(*field)(NinoTab *), const char *value)
{
    for (int i = 0; value && i < gtk_notebook_get_n_pages(w->tabs); i++) {
        NinoTab *tab = NINO_TAB(gtk_notebook_get_nth_page(w->tabs, i));
        if (!g_strcmp0(field(tab), value))
            return tab;
    }
    return NULL;
}

NinoTab *nino_window_find_tab(NinoWindow *w, const char *uid)
{
    return find_tab(w, nino_tab_uid, uid);
}

NinoTab *nino_window_find_tab_by_title(NinoWindow *w, const char *title)
{
    return find_tab(w, nino_tab_title, title);
}

static void show_tab_title(NinoTab *tab)
{
    GtkLabel *label = g_object_get_data(G_OBJECT(tab), "label");
    g_autofree char *text =
        g_strconcat(nino_tab_is_changed(tab) ? "• " : "", nino_tab_title(tab), NULL);
    gtk_label_set_text(label, text);
    gtk_widget_set_tooltip_text(GTK_WIDGET(label),
                                nino_tab_path(tab) ? nino_tab_path(tab) : _("Not saved yet"));
    g_autofree char *name = g_strdup_printf("%s%s", nino_tab_title(tab),
                                            nino_tab_is_changed(tab) ? _(", changed") : "");
    gtk_accessible_update_property(GTK_ACCESSIBLE(tab), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    GtkWidget *notebook = gtk_widget_get_ancestor(GTK_WIDGET(tab), GTK_TYPE_NOTEBOOK);
    if (notebook)
        nino_window_name_tab(GTK_NOTEBOOK(notebook), GTK_WIDGET(tab), name);
}

void nino_window_tabs_update(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    const char *page = tab ? "tabs" : "empty";
    nino_bar_set_tab(w->bar, tab ? nino_tab_uid(tab) : NULL);
    if (!tab && g_strcmp0(gtk_stack_get_visible_child_name(w->center), page) != 0)
        nino_window_show_recent(w); // with what they have made meanwhile
    gtk_stack_set_visible_child_name(w->center, page);
    g_autofree char *title =
        tab ? g_strdup_printf("%s%s – Ninodes Studio", nino_tab_is_changed(tab) ? "• " : "",
                              nino_tab_title(tab))
            : g_strdup("Ninodes Studio");
    gtk_window_set_title(GTK_WINDOW(w), title);
    static const char *const need_tab[] = { "save",          "save-as",   "save-to", "export-api",
                                            "export-api-to", "close-tab", "set" };
    for (size_t i = 0; i < G_N_ELEMENTS(need_tab); i++)
        nino_window_set_enabled(w, need_tab[i], tab != NULL);
    nino_window_set_enabled(w, "undo", tab && nino_tab_undo_name(tab));
    nino_window_set_enabled(w, "redo", tab && nino_tab_redo_name(tab));
}

void nino_window_check(NinoWindow *w)
{
    NinoTab *tab = nino_window_tab(w);
    g_cancellable_cancel(w->planning); // it would tell of what is not there any more
    const guint n = nino_problems_check(w->problems, tab);
    g_autofree char *title = n ? g_strdup_printf(_("Problems (%u)"), n) : g_strdup(_("Problems"));
    nino_window_title_panel(w, GTK_WIDGET(w->problems), title);
    if (tab)
        g_object_set_data(G_OBJECT(tab), "errors", GUINT_TO_POINTER(n));
    nino_window_run_update(w);
}

void nino_window_autosave(NinoWindow *w)
{
    gboolean is_kept = TRUE;
    g_clear_handle_id(&w->autosave_timer, g_source_remove);
    for (int i = 0; i < gtk_notebook_get_n_pages(w->tabs); i++) {
        NinoTab *tab = NINO_TAB(gtk_notebook_get_nth_page(w->tabs, i));
        gsize len = 0;
        const gboolean is_changed = nino_tab_is_changed(tab);
        const char *text = is_changed ? nino_tab_json(tab, FALSE, &len, NULL) : NULL;
        if (text)
            is_kept &= nino_autosave_keep(nino_tab_uid(tab), nino_tab_title(tab),
                                          nino_tab_path(tab), text, len);
        else if (!is_changed)
            nino_autosave_forget(nino_tab_uid(tab));
        else
            is_kept = FALSE; // no memory: what was kept before stays
    }
    if (is_kept)
        nino_autosave_discard(); // what was recovered is kept again, or was given up
}

static gboolean on_autosave(gpointer user)
{
    NINO_WINDOW(user)->autosave_timer = 0; // it ends with this call
    nino_window_autosave(user);
    return G_SOURCE_REMOVE;
}

static void on_window_tabs_changed(NinoTab *tab, gpointer user)
{
    NinoWindow *w = user;
    // At once, not when it was checked: by then the next edit may have been refused.
    nino_bar_hide_about(w->bar, nino_tab_uid(tab), "edit");
    show_tab_title(tab);
    nino_window_tabs_update(w);
    if (tab == nino_window_tab(w))
        nino_form_show(w->form, tab);
    if (!w->autosave_timer)
        w->autosave_timer =
            g_timeout_add_seconds((guint) nino_prefs_number("autosave"), on_autosave, w);
}

static void on_checked(NinoTab *tab, gpointer user)
{
    NinoWindow *w = user;
    g_object_set_data(G_OBJECT(tab), "run-state", NULL);
    if (tab == nino_window_tab(w))
        nino_window_check(w);
}

void nino_window_refuse(NinoWindow *w, NinoTab *tab, const char *text)
{
    nino_bar_show_about(w->bar, nino_tab_uid(tab), "edit", NINO_BAR_WARNING, text, NULL);
}

static void on_window_tabs_problem(NinoTab *tab, const char *text, gpointer user)
{
    nino_window_refuse(user, tab, text);
}

static void on_close_button(GtkButton *b, gpointer tab)
{
    GtkWidget *w = GTK_WIDGET(gtk_widget_get_root(GTK_WIDGET(b)));
    gtk_widget_activate_action(w, "win.close-tab-uid", "s", nino_tab_uid(tab));
}

NinoTab *nino_window_add_tab(NinoWindow *w)
{
    NinoTab *tab = NINO_TAB(nino_tab_new());
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_XS);
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(label), 16);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 28);
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_tooltip_text(close, _("Close this workflow (Ctrl+W)"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Close this workflow"), -1);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close_button), tab);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), close);
    g_object_set_data(G_OBJECT(tab), "label", label);
    const int i = gtk_notebook_append_page(w->tabs, GTK_WIDGET(tab), box);
    gtk_notebook_set_tab_reorderable(w->tabs, GTK_WIDGET(tab), TRUE);
    g_signal_connect(tab, "changed", G_CALLBACK(on_window_tabs_changed), w);
    g_signal_connect(tab, "checked", G_CALLBACK(on_checked), w);
    g_signal_connect(tab, "problem", G_CALLBACK(on_window_tabs_problem), w);
    show_tab_title(tab);
    gtk_notebook_set_current_page(w->tabs, i);
    return tab;
}

void nino_window_remove_tab(NinoWindow *w, NinoTab *tab)
{
    g_autofree char *question = g_strdup_printf("close-%s", nino_tab_uid(tab));
    nino_bar_hide(w->bar, question);
    nino_bar_forget_tab(w->bar, nino_tab_uid(tab));
    nino_autosave_forget(nino_tab_uid(tab));
    if (tab == nino_window_tab(w))
        nino_form_show(w->form, NULL);
    gtk_notebook_remove_page(w->tabs, gtk_notebook_page_num(w->tabs, GTK_WIDGET(tab)));
    nino_form_show(w->form, nino_window_tab(w));
    nino_window_tabs_update(w);
    nino_window_check(w);
}

void nino_window_on_switch(GObject *tabs, GParamSpec *pspec, gpointer user)
{
    (void) tabs, (void) pspec;
    nino_form_show(NINO_WINDOW(user)->form, nino_window_tab(user));
    nino_window_tabs_update(user);
    nino_window_check(user);
}

// ---- recent files -------------------------------------------------------------------------------

void nino_window_show_recent(NinoWindow *w)
{
    g_auto(GStrv) list = nino_recent_list();
    g_autoptr(GMenu) menu = g_menu_new();
    for (int i = 0; list[i]; i++) {
        g_autofree char *name = g_path_get_basename(list[i]);
        GMenuItem *item = g_menu_item_new(NULL, NULL);
        g_auto(GStrv) parts = g_strsplit(name, "_", -1); // one underscore would mark a key
        g_autofree char *label = g_strjoinv("__", parts);
        g_menu_item_set_label(item, label);
        g_menu_item_set_action_and_target(item, "win.open-path", "s", list[i]);
        g_menu_append_item(menu, item);
        g_object_unref(item);
    }
    nino_welcome_show_recent(w->welcome, (const char *const *) list);
    gtk_menu_button_set_menu_model(w->recent_button, G_MENU_MODEL(menu));
    gtk_widget_set_sensitive(GTK_WIDGET(w->recent_button), list[0] != NULL);
}

void nino_window_add_recent(NinoWindow *w, const char *path)
{
    nino_recent_add(path);
    nino_window_show_recent(w);
}

void nino_window_forget_recent(NinoWindow *w, const char *path)
{
    nino_recent_forget(path);
    nino_window_show_recent(w);
}
