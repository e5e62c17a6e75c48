// Tools above, the picture below; what is not saved is asked about in the window itself.
#include "mask/mask_window.h"

#include "base/i18n.h"
#include "base/tokens.h"
#include "mask/mask_area.h"

typedef struct Editing {
    NinoMask *mask;
    GtkWidget *parent, *window, *area, *brush, *eraser, *size, *feather, *undo, *redo, *note, *asks;
    NinoMaskDone done;
    gpointer user;
    gboolean is_changed, closes, is_updating;
} Editing;

static void editing_free(gpointer p)
{
    Editing *e = p;
    if (e->parent)
        g_object_remove_weak_pointer(G_OBJECT(e->parent), (gpointer *) &e->parent);
    nino_mask_free(e->mask);
    g_free(e);
}

// ---- what the tools show ---------------------------------------------------------------------

static void show_state(Editing *e)
{
    const NinoBrush b = nino_mask_area_brush(NINO_MASK_AREA(e->area));
    g_autofree char *note =
        g_strdup_printf(_("%d × %d, %.0f %%"), nino_mask_width(e->mask), nino_mask_height(e->mask),
                        nino_mask_area_get_zoom(NINO_MASK_AREA(e->area)) * 100);
    e->is_updating = TRUE;
    gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(b.erases ? e->eraser : e->brush), TRUE);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(e->size), b.radius * 2);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(e->feather), b.feather * 100);
    e->is_updating = FALSE;
    gtk_widget_action_set_enabled(e->window, "mask.undo", nino_mask_can_undo(e->mask));
    gtk_widget_action_set_enabled(e->window, "mask.redo", nino_mask_can_redo(e->mask));
    e->is_changed |= nino_mask_can_undo(e->mask);
    gtk_label_set_text(GTK_LABEL(e->note), note);
}

static void on_area_changed(NinoMaskArea *area, gpointer user)
{
    (void) area;
    show_state(user);
}

static void on_tool(GtkWidget *widget, gpointer user)
{
    Editing *e = user;
    (void) widget;
    if (e->is_updating)
        return;
    nino_mask_area_set_brush(
        NINO_MASK_AREA(e->area),
        (NinoBrush){ gtk_spin_button_get_value(GTK_SPIN_BUTTON(e->size)) / 2,
                     gtk_spin_button_get_value(GTK_SPIN_BUTTON(e->feather)) / 100,
                     gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(e->eraser)) });
}

// ---- what can be done ------------------------------------------------------------------------

static void save_mask(Editing *e)
{
    const gsize w = (gsize) nino_mask_width(e->mask), h = (gsize) nino_mask_height(e->mask);
    g_autoptr(GBytes) pixels = g_bytes_new_take(nino_mask_result(e->mask), w * h * 4);
    g_autoptr(GdkTexture) t =
        gdk_memory_texture_new((int) w, (int) h, GDK_MEMORY_R8G8B8A8, pixels, w * 4);
    g_autoptr(GBytes) png = gdk_texture_save_to_png_bytes(t);
    if (e->parent)
        e->done(e->user, png);
    e->closes = TRUE;
    gtk_window_close(GTK_WINDOW(e->window));
}

static void on_mask_action(GtkWidget *window, const char *name, GVariant *v)
{
    Editing *e = g_object_get_data(G_OBJECT(window), "editing");
    NinoMaskArea *area = NINO_MASK_AREA(e->area);
    (void) v;
    if (g_str_equal(name, "mask.save")) {
        save_mask(e);
        return;
    }
    if (g_str_equal(name, "mask.discard")) {
        e->closes = TRUE;
        gtk_window_close(GTK_WINDOW(window));
        return;
    }
    if (g_str_equal(name, "mask.close")) {
        gtk_window_close(GTK_WINDOW(window));
        return;
    }
    if (g_str_equal(name, "mask.undo"))
        nino_mask_undo(e->mask);
    else if (g_str_equal(name, "mask.redo"))
        nino_mask_redo(e->mask);
    else if (g_str_equal(name, "mask.invert"))
        nino_mask_invert(e->mask);
    else if (g_str_equal(name, "mask.clear"))
        nino_mask_clear(e->mask);
    else if (g_str_equal(name, "mask.fit"))
        nino_mask_area_zoom(area, 0);
    nino_mask_area_refresh(area);
}

// A first try to leave asks; what is painted is not lost by a key.
static gboolean on_mask_close(GtkWindow *window, gpointer user)
{
    Editing *e = user;
    (void) window;
    if (e->closes || !e->is_changed)
        return FALSE;
    gtk_revealer_set_reveal_child(GTK_REVEALER(e->asks), TRUE);
    return TRUE;
}

static void on_parent_gone(gpointer window, GObject *parent)
{
    (void) parent;
    gtk_window_destroy(window);
}

static void on_window_gone(GtkWidget *window, gpointer parent)
{
    g_object_weak_unref(parent, on_parent_gone, window);
}

// ---- building --------------------------------------------------------------------------------

typedef struct MaskWindow {
    GtkWindow parent;
} MaskWindow;
typedef struct MaskWindowClass {
    GtkWindowClass parent_class;
} MaskWindowClass;
static GType mask_window_get_type(void);
G_DEFINE_TYPE(MaskWindow, mask_window, GTK_TYPE_WINDOW)

static void mask_window_class_init(MaskWindowClass *klass)
{
    static const struct {
        const char *action;
        guint key;
        GdkModifierType mods;
    } keys[] = { { "mask.save", GDK_KEY_s, GDK_CONTROL_MASK },
                 { "mask.save", GDK_KEY_Return, GDK_CONTROL_MASK },
                 { "mask.close", GDK_KEY_Escape, 0 },
                 { "mask.undo", GDK_KEY_z, GDK_CONTROL_MASK },
                 { "mask.redo", GDK_KEY_z, GDK_CONTROL_MASK | GDK_SHIFT_MASK },
                 { "mask.redo", GDK_KEY_y, GDK_CONTROL_MASK },
                 { "mask.invert", GDK_KEY_i, GDK_CONTROL_MASK },
                 { "mask.clear", GDK_KEY_BackSpace, GDK_CONTROL_MASK } };
    static const char *const actions[] = { "mask.save", "mask.discard", "mask.close", "mask.undo",
                                           "mask.redo", "mask.invert",  "mask.clear", "mask.fit" };
    GtkWidgetClass *wc = GTK_WIDGET_CLASS(klass);
    for (gsize i = 0; i < G_N_ELEMENTS(actions); i++)
        gtk_widget_class_install_action(wc, actions[i], NULL, on_mask_action);
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
        gtk_widget_class_add_binding_action(wc, keys[i].key, keys[i].mods, keys[i].action, NULL);
}

static void mask_window_init(MaskWindow *w) { (void) w; }

static GtkWidget *tool_button(GtkWidget *box, const char *label, const char *action,
                              const char *tip)
{
    GtkWidget *b = gtk_button_new_with_label(label);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tip);
    gtk_box_append(GTK_BOX(box), b);
    return b;
}

static GtkWidget *tool_toggle(Editing *e, GtkWidget *box, const char *label, const char *tip)
{
    GtkWidget *b = gtk_toggle_button_new_with_label(label);
    gtk_widget_set_tooltip_text(b, tip);
    gtk_box_append(GTK_BOX(box), b);
    g_signal_connect(b, "toggled", G_CALLBACK(on_tool), e);
    return b;
}

static GtkWidget *tool_number(Editing *e, GtkWidget *box, const char *label, double lo, double hi,
                              const char *tip)
{
    GtkWidget *spin = gtk_spin_button_new_with_range(lo, hi, 1);
    gtk_widget_set_tooltip_text(spin, tip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(spin), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
    gtk_box_append(GTK_BOX(box), gtk_label_new(label));
    gtk_box_append(GTK_BOX(box), spin);
    g_signal_connect(spin, "value-changed", G_CALLBACK(on_tool), e);
    return spin;
}

static GtkWidget *new_tools(Editing *e)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S), *tools;
    gtk_widget_add_css_class(box, "bar");
    tools = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(tools, "linked");
    e->brush = tool_toggle(e, tools, _("Brush"), _("Paint (B)"));
    e->eraser = tool_toggle(e, tools, _("Eraser"), _("Erase (E, or the right button)"));
    gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(e->eraser), GTK_TOGGLE_BUTTON(e->brush));
    gtk_box_append(GTK_BOX(box), tools);
    e->size = tool_number(e, box, _("Size"), 2, 2048, _("Pixels across ([ and ])"));
    e->feather = tool_number(e, box, _("Feather"), 0, 100, _("Percent of the brush that fades"));
    tool_button(box, _("Invert"), "mask.invert", _("Paint what is not painted (Ctrl+I)"));
    tool_button(box, _("Clear"), "mask.clear", _("Nothing is painted (Ctrl+Backspace)"));
    e->undo = tool_button(box, _("Undo"), "mask.undo", _("Undo (Ctrl+Z)"));
    e->redo = tool_button(box, _("Redo"), "mask.redo", _("Redo (Ctrl+Shift+Z)"));
    tool_button(box, _("Fit"), "mask.fit", _("Show all of it (0); + and − zoom"));
    e->note = gtk_label_new("");
    gtk_widget_add_css_class(e->note, "numeric");
    gtk_widget_set_hexpand(e->note, TRUE);
    gtk_label_set_xalign(GTK_LABEL(e->note), 1);
    gtk_box_append(GTK_BOX(box), e->note);
    return box;
}

static GtkWidget *new_question(void)
{
    GtkWidget *asks = gtk_revealer_new(),
              *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S),
              *label = gtk_label_new(_("The mask is not saved"));
    gtk_widget_add_css_class(box, "message");
    gtk_widget_add_css_class(box, "warning");
    gtk_widget_set_hexpand(label, TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_box_append(GTK_BOX(box), label);
    tool_button(box, _("Save it"), "mask.save", _("Save the mask and close"));
    tool_button(box, _("Discard it"), "mask.discard", _("Close without the mask"));
    gtk_revealer_set_child(GTK_REVEALER(asks), box);
    return asks;
}

static void build_mask_window(Editing *e, const char *path)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *bar = gtk_header_bar_new(),
              *save = gtk_button_new_with_label(_("Save the mask")),
              *cancel = gtk_button_new_with_label(_("Cancel"));
    g_autofree char *name = g_path_get_basename(path),
                    *title = g_strdup_printf(_("Mask of %s"), name);
    GtkRoot *root = gtk_widget_get_root(e->parent);
    gtk_window_set_title(GTK_WINDOW(e->window), title);
    gtk_window_set_default_size(GTK_WINDOW(e->window), 960, 720);
    gtk_window_set_modal(GTK_WINDOW(e->window), TRUE);
    if (GTK_IS_WINDOW(root))
        gtk_window_set_transient_for(GTK_WINDOW(e->window), GTK_WINDOW(root));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(save), "mask.save");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(cancel), "mask.close");
    gtk_widget_add_css_class(save, "suggested-action");
    gtk_header_bar_set_show_title_buttons(GTK_HEADER_BAR(bar), FALSE);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), cancel);
    gtk_header_bar_pack_end(GTK_HEADER_BAR(bar), save);
    gtk_window_set_titlebar(GTK_WINDOW(e->window), bar);
    e->area = nino_mask_area_new(e->mask);
    gtk_box_append(GTK_BOX(box), new_tools(e));
    e->asks = new_question();
    gtk_box_append(GTK_BOX(box), e->asks);
    gtk_box_append(GTK_BOX(box), e->area);
    gtk_window_set_child(GTK_WINDOW(e->window), box);
    g_signal_connect(e->area, "changed", G_CALLBACK(on_area_changed), e);
    g_signal_connect(e->window, "close-request", G_CALLBACK(on_mask_close), e);
    show_state(e);
    e->is_changed = FALSE;
}

gboolean nino_mask_edit(GtkWidget *parent, const char *path, NinoMaskDone done, gpointer user,
                        GError **error)
{
    NinoMask *mask = nino_mask_open(path, error);
    if (!mask)
        return FALSE;
    Editing *e = g_new0(Editing, 1);
    *e = (Editing){ .mask = mask, .parent = parent, .done = done, .user = user };
    e->window = g_object_new(mask_window_get_type(), NULL);
    g_object_set_data_full(G_OBJECT(e->window), "editing", e, editing_free);
    g_object_add_weak_pointer(G_OBJECT(parent), (gpointer *) &e->parent);
    build_mask_window(e, path);
    g_object_weak_ref(G_OBJECT(parent), on_parent_gone, e->window);
    g_signal_connect(e->window, "destroy", G_CALLBACK(on_window_gone), parent);
    gtk_window_present(GTK_WINDOW(e->window));
    gtk_widget_grab_focus(e->area);
    return TRUE;
}
