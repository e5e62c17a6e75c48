// “Change” waits for the next key; one that another command has is only taken when asked again.
#include "settings/keys_window.h"

#include <string.h>

#include "settings/keys.h"
#include "base/i18n.h"
#include "base/tokens.h"

typedef struct Row {
    const NinoCommand *command;
    GtkWidget *keys, *change, *reset;
} Row;

static struct {
    GtkWidget *window, *list, *filter, *message, *take, *leave;
    GArray *rows;
    const NinoCommand *waiting; // for a key
    char *wanted;               // the key that another command has
} w;

static char *keys_text(const NinoCommand *c)
{
    g_auto(GStrv) keys = nino_keys_get(c);
    GString *s = g_string_new(NULL);
    for (gsize i = 0; keys[i]; i++) {
        guint value = 0;
        GdkModifierType mods = 0;
        gtk_accelerator_parse(keys[i], &value, &mods);
        g_autofree char *label = gtk_accelerator_get_label(value, mods);
        g_string_append_printf(s, "%s%s", s->len ? "  " : "", label);
    }
    return g_string_free(s, FALSE);
}

static void show_rows(void)
{
    for (guint i = 0; i < w.rows->len; i++) {
        const Row *r = &g_array_index(w.rows, Row, i);
        const gboolean waits = w.waiting == r->command;
        g_autofree char *text = keys_text(r->command);
        gtk_label_set_text(GTK_LABEL(r->keys), waits ? _("press a key…") : *text ? text : "–");
        gtk_button_set_label(GTK_BUTTON(r->change), waits ? _("Cancel") : C_("button", "Change"));
        gtk_widget_set_sensitive(r->reset, !nino_keys_is_default(r->command));
        g_autofree char *name =
            g_strdup_printf(_("%s: %s, keys %s"), waits ? _("Cancel") : C_("button", "Change"),
                            _(r->command->label), *text ? text : _("none"));
        gtk_accessible_update_property(GTK_ACCESSIBLE(r->change), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       name, -1);
    }
}

static void keys_window_say(const char *text, gboolean asks)
{
    gtk_label_set_text(GTK_LABEL(w.message), text);
    gtk_widget_set_visible(w.take, asks);
    gtk_widget_set_visible(w.leave, asks);
}

static void stop_waiting(const char *text)
{
    w.waiting = NULL;
    g_clear_pointer(&w.wanted, g_free);
    keys_window_say(text, FALSE);
    show_rows();
}

static void give_key(const NinoCommand *c, const char *key)
{
    nino_keys_set(c, (const char *[]){ key, NULL });
    stop_waiting("");
}

// ---- the next key -------------------------------------------------------------------------------

static void take_key(const char *key)
{
    const NinoCommand *owner = nino_keys_owner(key, w.waiting);
    if (!owner) {
        give_key(w.waiting, key);
        return;
    }
    guint value = 0;
    GdkModifierType mods = 0;
    gtk_accelerator_parse(key, &value, &mods);
    g_autofree char *label = gtk_accelerator_get_label(value, mods);
    g_autofree char *text = g_strdup_printf(_("%s is the key of “%s” (%s). Take it from there?"),
                                            label, _(owner->label), _(owner->group));
    g_free(w.wanted);
    w.wanted = g_strdup(key);
    keys_window_say(text, TRUE);
    gtk_widget_grab_focus(w.take);
}

static gboolean on_keys_window_key(GtkEventControllerKey *k, guint key, guint code,
                                   GdkModifierType state, gpointer user)
{
    (void) code, (void) user;
    GdkEvent *event = gtk_event_controller_get_current_event(GTK_EVENT_CONTROLLER(k));
    if (!w.waiting || w.wanted || !event || gdk_key_event_is_modifier(event))
        return FALSE;
    if (key == GDK_KEY_Escape) {
        stop_waiting("");
        return TRUE;
    }
    guint lower = gdk_keyval_to_lower(key);
    GdkModifierType mods = state & gtk_accelerator_get_default_mod_mask() &
                           ~gdk_key_event_get_consumed_modifiers(event);
    if (key == GDK_KEY_BackSpace && !mods) { // no key at all
        nino_keys_set(w.waiting, (const char *[]){ NULL });
        stop_waiting("");
        return TRUE;
    }
    if (lower == GDK_KEY_ISO_Left_Tab)
        lower = GDK_KEY_Tab;
    if (lower != key)
        mods |= GDK_SHIFT_MASK;
    g_autofree char *name = gtk_accelerator_name(lower, mods);
    take_key(name);
    return TRUE;
}

static void on_take(void)
{
    const NinoCommand *owner = w.wanted ? nino_keys_owner(w.wanted, w.waiting) : NULL;
    if (!owner)
        return;
    nino_keys_remove(owner, w.wanted);
    g_autofree char *key = g_steal_pointer(&w.wanted);
    give_key(w.waiting, key);
}

static void on_keys_window_leave(void) { stop_waiting(""); }

static void on_change(GtkButton *b, gpointer command)
{
    if (w.waiting == command) {
        stop_waiting("");
        return;
    }
    stop_waiting("");
    w.waiting = command;
    keys_window_say(_("Press the new key. Escape leaves it as it is, Backspace takes it away."),
                    FALSE);
    show_rows();
    gtk_widget_grab_focus(GTK_WIDGET(b));
}

static void on_reset(GtkButton *b, gpointer command)
{
    (void) b;
    const NinoCommand *c = command;
    nino_keys_reset(c);
    stop_waiting("");
    for (int i = 0; i < 3 && c->keys[i]; i++) {
        const NinoCommand *owner = nino_keys_owner(c->keys[i], c);
        if (!owner)
            continue;
        g_autofree char *text =
            g_strdup_printf(_("“%s” has one of these keys too"), _(owner->label));
        keys_window_say(text, FALSE);
    }
}

static void on_reset_all(void)
{
    nino_keys_reset(NULL);
    stop_waiting(_("All keys are as they were at first"));
}

// ---- building -----------------------------------------------------------------------------------

static gboolean is_keys_window_listed(GtkListBoxRow *row, gpointer user)
{
    (void) user;
    const Row *r = &g_array_index(w.rows, Row, (guint) gtk_list_box_row_get_index(row));
    g_autofree char *text = g_strdup_printf("%s %s", _(r->command->group), _(r->command->label));
    g_autofree char *all = g_utf8_casefold(text, -1);
    g_autofree char *wanted = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(w.filter)), -1);
    return strstr(all, wanted) != NULL;
}

static void add_heading(GtkListBoxRow *row, GtkListBoxRow *before, gpointer user)
{
    (void) user;
    const Row *r = &g_array_index(w.rows, Row, (guint) gtk_list_box_row_get_index(row));
    const Row *b =
        before ? &g_array_index(w.rows, Row, (guint) gtk_list_box_row_get_index(before)) : NULL;
    if (b && g_str_equal(b->command->group, r->command->group)) {
        gtk_list_box_row_set_header(row, NULL);
        return;
    }
    GtkWidget *title = gtk_label_new(_(r->command->group));
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_widget_add_css_class(title, "heading");
    gtk_widget_set_margin_top(title, NINO_SPACE_M);
    gtk_widget_set_margin_start(title, NINO_SPACE_S);
    gtk_list_box_row_set_header(row, title);
}

static void keys_window_add_row(const NinoCommand *c)
{
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    GtkWidget *label = gtk_label_new(_(c->label));
    Row r = { c, gtk_label_new(""), gtk_button_new_with_label(C_("button", "Change")),
              gtk_button_new_from_icon_name("edit-undo-symbolic") };
    gtk_widget_set_margin_start(line, NINO_SPACE_S);
    gtk_widget_set_margin_end(line, NINO_SPACE_S);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_label_set_xalign(GTK_LABEL(r.keys), 1);
    gtk_widget_add_css_class(r.keys, "dim-label");
    gtk_button_set_has_frame(GTK_BUTTON(r.reset), FALSE);
    gtk_widget_set_tooltip_text(r.reset, _("The key that it had at first"));
    g_autofree char *name = g_strdup_printf(_("Reset: %s"), _(c->label));
    gtk_accessible_update_property(GTK_ACCESSIBLE(r.reset), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    g_signal_connect(r.change, "clicked", G_CALLBACK(on_change), (gpointer) c);
    g_signal_connect(r.reset, "clicked", G_CALLBACK(on_reset), (gpointer) c);
    GtkWidget *parts[] = { label, r.keys, r.change, r.reset };
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
        gtk_box_append(GTK_BOX(line), parts[i]);
    g_array_append_val(w.rows, r);
    GtkWidget *row = gtk_list_box_row_new();
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, _(c->label),
                                   -1);
    gtk_list_box_append(GTK_LIST_BOX(w.list), row);
}

static GtkWidget *bottom(void)
{
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    GtkWidget *all = gtk_button_new_with_label(_("Reset all"));
    w.message = gtk_label_new("");
    w.take = gtk_button_new_with_label(_("Take it"));
    w.leave = gtk_button_new_with_label(_("Leave it"));
    gtk_label_set_wrap(GTK_LABEL(w.message), TRUE);
    gtk_label_set_xalign(GTK_LABEL(w.message), 0);
    gtk_widget_set_hexpand(w.message, TRUE);
    gtk_widget_set_size_request(bar, -1, 48);
    gtk_widget_add_css_class(bar, "bar");
    gtk_widget_set_visible(w.take, FALSE);
    gtk_widget_set_visible(w.leave, FALSE);
    g_signal_connect(w.take, "clicked", on_take, NULL);
    g_signal_connect(w.leave, "clicked", on_keys_window_leave, NULL);
    g_signal_connect(all, "clicked", on_reset_all, NULL);
    GtkWidget *parts[] = { w.message, w.take, w.leave, all };
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        gtk_widget_set_valign(parts[i], GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(bar), parts[i]);
    }
    return bar;
}

static void on_destroy(void)
{
    g_array_unref(w.rows);
    g_free(w.wanted);
    memset(&w, 0, sizeof(w));
}

static void keys_window_build(void)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *scroller = gtk_scrolled_window_new();
    w.window = gtk_window_new();
    w.rows = g_array_new(FALSE, FALSE, sizeof(Row));
    w.list = gtk_list_box_new();
    w.filter = gtk_search_entry_new();
    gtk_window_set_title(GTK_WINDOW(w.window), _("Change keyboard shortcuts"));
    gtk_window_set_default_size(GTK_WINDOW(w.window), 620, 640);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(w.list), GTK_SELECTION_NONE);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w.list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Commands"), -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w.filter), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Search for a command"), -1);
    gtk_widget_set_margin_start(w.filter, NINO_SPACE_S);
    gtk_widget_set_margin_end(w.filter, NINO_SPACE_S);
    gtk_widget_set_margin_top(w.filter, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(w.filter, NINO_SPACE_S);
    gtk_widget_set_vexpand(scroller, TRUE);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), w.list);
    gtk_box_append(GTK_BOX(box), w.filter);
    gtk_box_append(GTK_BOX(box), scroller);
    gtk_box_append(GTK_BOX(box), bottom());
    gtk_window_set_child(GTK_WINDOW(w.window), box);
    for (const NinoCommand *c = nino_commands; c->action; c++)
        keys_window_add_row(c);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(w.list), is_keys_window_listed, NULL, NULL);
    gtk_list_box_set_header_func(GTK_LIST_BOX(w.list), add_heading, NULL, NULL);
    g_signal_connect_swapped(w.filter, "search-changed", G_CALLBACK(gtk_list_box_invalidate_filter),
                             w.list);
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_keys_window_key), NULL);
    gtk_widget_add_controller(w.window, keys);
    g_signal_connect(w.window, "destroy", on_destroy, NULL);
    show_rows();
}

void nino_keys_window_present(GtkWindow *parent)
{
    if (!w.window)
        keys_window_build();
    gtk_window_set_transient_for(GTK_WINDOW(w.window), parent);
    gtk_window_present(GTK_WINDOW(w.window));
}
