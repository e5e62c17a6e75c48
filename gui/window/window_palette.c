// The command palette: every action, kind of node, model, view, preference, example and recent workflow by any part of its name.
#include "window/window_priv.h"

#include <string.h>

#include "base/i18n.h"
#include "canvas/search.h"
#include "live/views.h"
#include "settings/keys.h"
#include "settings/prefs.h"
#include "window/recent.h"

// What a key begins with says what it is.
enum { ACTION = 'a', NODE = 'n', FILE_ = 'f' };

static void offer(GPtrArray *items, char kind, const char *key, const char *title, char *detail,
                  const char *terms)
{
    NinoSearchItem *item = g_new0(NinoSearchItem, 1);
    *item = (NinoSearchItem){ .title = g_strdup(title),
                              .detail = detail,
                              .key = g_strdup_printf("%c%s", kind, key),
                              .terms = g_strdup(terms) };
    g_ptr_array_add(items, item);
}

// "Run, Ctrl+Enter"
static char *keys_of(const NinoCommand *c)
{
    g_auto(GStrv) keys = nino_keys_get(c);
    guint key = 0;
    GdkModifierType mods = 0;
    if (!keys[0] || !gtk_accelerator_parse(keys[0], &key, &mods))
        return g_strdup(_(c->group));
    g_autofree char *label = gtk_accelerator_get_label(key, mods);
    return g_strdup_printf("%s, %s", _(c->group), label);
}

static void offer_files(GPtrArray *items, const char *const *paths, const char *detail)
{
    for (; *paths; paths++) {
        g_autofree char *name = g_path_get_basename(*paths);
        offer(items, FILE_, *paths, name, g_strdup(detail), *paths);
    }
}

// Each is added with the node that loads it.
static void offer_all_models(GPtrArray *items)
{
    g_autoptr(GPtrArray) models = nino_canvas_models();
    for (guint i = 0; i < models->len; i++) {
        const NinoSearchItem *m = g_ptr_array_index(models, i);
        offer(items, NODE, m->key, m->title, g_strdup_printf(_("Model: %s"), m->terms), m->terms);
    }
}

static GPtrArray *all_of_it(void)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    for (const NinoCommand *c = nino_commands; c->action; c++)
        if (!g_str_equal(c->action, "win.palette"))
            offer(items, ACTION, c->action, _(c->label), keys_of(c), c->action);
    for (const NinoViewType *const *v = nino_views; *v; v++) {
        g_autofree char *action = g_strconcat("win.view::", (*v)->id, NULL);
        offer(items, ACTION, action, _((*v)->title), g_strdup(_("View of the run")), _((*v)->help));
    }
    g_auto(GStrv) saved = nino_window_saved_views();
    for (char **name = saved; *name; name++) {
        g_autoptr(GVariant) target = g_variant_ref_sink(g_variant_new_string(*name));
        g_autofree char *action = g_action_print_detailed_name("win.saved-view", target);
        offer(items, ACTION, action, *name, g_strdup(_("Saved view")), _("Saved view"));
    }
    for (const NinoPref *p = nino_prefs; p->key; p++) {
        g_autofree char *action = g_strconcat("app.preference::", p->key, NULL);
        offer(items, ACTION, action, _(p->label), g_strdup(_("Preference")), p->key);
    }
    g_autoptr(GPtrArray) nodes = nino_search_nodes(NULL, FALSE);
    for (guint i = 0; i < nodes->len; i++) {
        const NinoSearchItem *n = g_ptr_array_index(nodes, i);
        offer(items, NODE, n->key, n->title, g_strdup_printf(_("Add: %s"), n->detail), n->terms);
    }
    offer_all_models(items);
    g_auto(GStrv) recent = nino_recent_list();
    offer_files(items, (const char *const *) recent, _("Recent"));
    g_auto(GStrv) examples = nino_welcome_examples();
    offer_files(items, (const char *const *) examples, _("Example"));
    return items;
}

// An action of the canvas is one of the widget in front, all others are known to the window.
static void activate(NinoWindow *w, const char *detailed)
{
    NinoTab *tab = nino_window_tab(w);
    g_autofree char *name = NULL;
    g_autoptr(GVariant) target = NULL;
    if (!g_action_parse_detailed_name(detailed, &name, &target, NULL))
        return;
    GtkWidget *from =
        g_str_has_prefix(name, "canvas.") && tab ? GTK_WIDGET(nino_tab_canvas(tab)) : GTK_WIDGET(w);
    gtk_widget_activate_action_variant(from, name, target);
}

static void on_palette_chosen(gpointer user, const char *key)
{
    NinoWindow *w = user;
    if (*key == ACTION)
        activate(w, key + 1);
    else if (*key == FILE_)
        gtk_widget_activate_action(GTK_WIDGET(w), "win.open-path", "s", key + 1);
    else
        nino_window_add_item(w, key + 1);
}

static void palette_remove(gpointer popover)
{
    if (gtk_widget_get_parent(popover))
        gtk_widget_unparent(popover);
    g_object_unref(popover);
}

static void on_palette_closed(GtkPopover *popover, gpointer user)
{
    NinoWindow *w = user;
    if (w->palette == GTK_WIDGET(popover))
        w->palette = NULL;
    g_idle_add_once(palette_remove, g_object_ref(popover)); // its row may still be at work
}

// Its own key closes it. While it is open it has all keys: those of the window do not come there.
static void add_own_key(GtkWidget *popover)
{
    GtkEventController *own = gtk_shortcut_controller_new();
    const NinoCommand *c = nino_commands;
    while (!g_str_equal(c->action, "win.palette"))
        c++;
    g_auto(GStrv) keys = nino_keys_get(c);
    for (char **key = keys; *key; key++)
        gtk_shortcut_controller_add_shortcut(
            GTK_SHORTCUT_CONTROLLER(own), gtk_shortcut_new(gtk_shortcut_trigger_parse_string(*key),
                                                           gtk_named_action_new("win.palette")));
    gtk_event_controller_set_propagation_phase(own, GTK_PHASE_CAPTURE);
    gtk_widget_add_controller(popover, own);
}

static void action_palette(GSimpleAction *a, GVariant *parameter, gpointer user)
{
    NinoWindow *w = user;
    (void) a, (void) parameter;
    if (w->palette) { // its key again: what opened it closes it
        gtk_popover_popdown(GTK_POPOVER(w->palette));
        return;
    }
    GtkWidget *popover = nino_search_new(_("Find anything"), all_of_it(), on_palette_chosen, w);
    w->palette = popover;
    add_own_key(popover);
    gtk_widget_set_parent(popover, w->palette_button);
    g_signal_connect_object(popover, "closed", G_CALLBACK(on_palette_closed), w, 0);
    g_signal_connect_object(w->palette_button, "destroy", G_CALLBACK(gtk_widget_unparent), popover,
                            G_CONNECT_SWAPPED); // the window may go while it is open
    gtk_popover_popup(GTK_POPOVER(popover));
}

void nino_window_palette_init(NinoWindow *w)
{
    static const GActionEntry actions[] = { { .name = "palette", .activate = action_palette } };
    g_action_map_add_action_entries(G_ACTION_MAP(w), actions, G_N_ELEMENTS(actions), w);
}
