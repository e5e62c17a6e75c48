// The page of a window without a workflow. Its examples run with the models that come with the app.
#include "window/welcome.h"

#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"
#include "base/places.h"
#include "viewer/frames.h"
#include "window/recent.h"

enum { PICTURE = 128, RECENT = 6, RECENT_PICTURE = 64 };

struct _NinoWelcome {
    GtkWidget parent;
    GtkWidget *scroller, *recent_title, *recent;
};
G_DEFINE_TYPE(NinoWelcome, nino_welcome, GTK_TYPE_WIDGET)

static const struct {
    const char *name, *title, *says;
} examples[] = {
    { "text_to_image", N_("Text to image"), N_("A picture from words") },
    { "image_to_image", N_("Image to image"), N_("A picture from a picture and words") },
    { "lora", N_("LoRA"), N_("A style on top of a model") },
    { "text_to_video", N_("Text to video"), N_("A short clip from words") },
    { "tiled_decode", N_("Tiled decode"), N_("Large pictures in little memory, compared") },
    { "gguf", N_("GGUF"), N_("A quantised model, a third of the memory") },
};

static char *example_path(const char *name)
{
    g_autofree char *file = g_strconcat(name, ".json", NULL);
    return nino_place("workflows", file);
}

char **nino_welcome_examples(void)
{
    g_autoptr(GStrvBuilder) list = g_strv_builder_new();
    for (gsize i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *path = example_path(examples[i].name);
        if (path)
            g_strv_builder_add(list, path);
    }
    return g_strv_builder_end(list);
}

char *nino_welcome_picture(const char *path)
{
    for (gsize i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *example = example_path(examples[i].name);
        g_autofree char *file = g_strconcat(examples[i].name, ".png", NULL);
        g_autofree char *pictures = nino_place("workflows", "pictures");
        if (pictures && !g_strcmp0(example, path))
            return g_build_filename(pictures, file, NULL);
    }
    return NULL;
}

char *nino_welcome_demo(const char *what) { return nino_place("demo", what); }

// ---- cards --------------------------------------------------------------------------------------

static GtkWidget *label_of(const char *text, const char *css)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 20);
    gtk_widget_add_css_class(label, css);
    return label;
}

static GtkWidget *card(const char *path, const char *title, const char *says)
{
    GtkWidget *button = gtk_button_new(),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_XS);
    g_autofree char *shown = nino_welcome_picture(path);
    // Of one size in all cards: in a row of its own, else it would grow with the card's width.
    GtkWidget *picture = gtk_picture_new_for_filename(shown),
              *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_set_size_request(picture, PICTURE, PICTURE);
    gtk_picture_set_can_shrink(GTK_PICTURE(picture), TRUE);
    gtk_box_append(GTK_BOX(row), picture);
    gtk_widget_set_halign(row, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(box), row);
    gtk_box_append(GTK_BOX(box), label_of(title, "heading"));
    gtk_box_append(GTK_BOX(box), label_of(says, "dim-label"));
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "card-button");
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, title,
                                   GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, says, -1);
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", path);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.open-path");
    return button;
}

static GtkWidget *cards(void)
{
    GtkWidget *flow = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(flow), GTK_SELECTION_NONE);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(flow), TRUE);
    gtk_flow_box_set_min_children_per_line(GTK_FLOW_BOX(flow), 1);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(flow), 3);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(flow), NINO_SPACE_M);
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(flow), NINO_SPACE_M);
    for (gsize i = 0; i < G_N_ELEMENTS(examples); i++) {
        g_autofree char *path = example_path(examples[i].name);
        if (!path)
            continue;
        gtk_flow_box_append(GTK_FLOW_BOX(flow),
                            card(path, _(examples[i].title), _(examples[i].says)));
        // the button takes the focus, not the cell around it
        gtk_widget_set_focusable(gtk_widget_get_last_child(flow), FALSE);
    }
    return flow;
}

// ---- the user's own -----------------------------------------------------------------------------

// A workflow that has made no picture yet has a sign in its place.
static GtkWidget *recent_card(const char *path)
{
    GtkWidget *button = gtk_button_new(),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_XS);
    g_autofree char *shown = nino_recent_picture(path), *name = g_path_get_basename(path);
    GtkWidget *picture = shown ? gtk_picture_new()
                               : gtk_image_new_from_icon_name("text-x-generic-symbolic"),
              *label = gtk_label_new(name);
    gtk_widget_set_size_request(picture, RECENT_PICTURE, RECENT_PICTURE);
    gtk_widget_set_halign(picture, GTK_ALIGN_CENTER);
    if (shown) {
        nino_frames_fill(GTK_PICTURE(picture), shown, 2 * RECENT_PICTURE);
        gtk_accessible_update_property(GTK_ACCESSIBLE(picture), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       _("Picture of what it makes"), -1);
    }
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_width_chars(GTK_LABEL(label), 14);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 14);
    gtk_box_append(GTK_BOX(box), picture);
    gtk_box_append(GTK_BOX(box), label);
    gtk_button_set_child(GTK_BUTTON(button), box);
    gtk_widget_add_css_class(button, "card-button");
    gtk_widget_set_tooltip_text(button, path);
    gtk_accessible_update_property(GTK_ACCESSIBLE(button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", path);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), "win.open-path");
    return button;
}

void nino_welcome_show_recent(NinoWelcome *w, const char *const *paths)
{
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(w->recent)))
        gtk_flow_box_remove(GTK_FLOW_BOX(w->recent), child);
    gtk_widget_set_visible(w->recent_title, paths[0] != NULL);
    gtk_widget_set_visible(w->recent, paths[0] != NULL);
    const guint n = g_strv_length((char **) paths); // in the middle, as what is above them
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(w->recent), CLAMP(n, 1, RECENT));
    for (int i = 0; i < RECENT && paths[i]; i++) {
        gtk_flow_box_append(GTK_FLOW_BOX(w->recent), recent_card(paths[i]));
        gtk_widget_set_focusable(gtk_widget_get_last_child(w->recent), FALSE);
    }
}

static GtkWidget *own_actions(void)
{
    static const struct {
        const char *label, *action;
    } buttons[] = {
        { N_("New workflow"), "win.new" },
        { N_("Open a file…"), "win.open" },
        { N_("Use my ComfyUI folder…"), "win.comfyui" },
        { N_("What can this computer do?"), "win.computer" },
    };
    GtkWidget *flow = gtk_flow_box_new(), *pair = NULL; // four in a row or two, never three and one
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(flow), GTK_SELECTION_NONE);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(flow), TRUE);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(flow), 2);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(flow), NINO_SPACE_S);
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(flow), NINO_SPACE_S);
    for (gsize i = 0; i < G_N_ELEMENTS(buttons); i++) {
        GtkWidget *b = gtk_button_new_with_label(_(buttons[i].label)),
                  *label = gtk_button_get_child(GTK_BUTTON(b));
        gtk_label_set_wrap(GTK_LABEL(label), TRUE); // between two drawers there is little room
        gtk_label_set_justify(GTK_LABEL(label), GTK_JUSTIFY_CENTER);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(b), buttons[i].action);
        if (i % 2 == 0) {
            pair = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M);
            gtk_box_set_homogeneous(GTK_BOX(pair), TRUE);
            gtk_flow_box_append(GTK_FLOW_BOX(flow), pair);
            gtk_widget_set_focusable(gtk_widget_get_last_child(flow), FALSE);
        }
        gtk_box_append(GTK_BOX(pair), b);
    }
    return flow;
}

// ---- the object ---------------------------------------------------------------------------------

static void nino_welcome_init(NinoWelcome *w)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_L);
    w->recent = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(w->recent), GTK_SELECTION_NONE);
    gtk_flow_box_set_homogeneous(GTK_FLOW_BOX(w->recent), TRUE);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(w->recent), NINO_SPACE_S);
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(w->recent), NINO_SPACE_S);
    w->recent_title = label_of(_("Recent"), "heading");
    GtkWidget *hint = label_of(
        _("Or drop a file here: ComfyUI's JSON, or a PNG, WebP or JPEG that holds a workflow"),
        "dim-label");
    gtk_label_set_max_width_chars(GTK_LABEL(hint), 80);
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(w->recent, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(box, "welcome");
    gtk_box_append(GTK_BOX(box), label_of(_("Start with an example"), "title-2"));
    gtk_box_append(GTK_BOX(box), cards());
    gtk_box_append(GTK_BOX(box), own_actions());
    gtk_box_append(GTK_BOX(box), hint);
    gtk_box_append(GTK_BOX(box), w->recent_title);
    gtk_box_append(GTK_BOX(box), w->recent);
    w->scroller = nino_page_scroller_new(box);
    gtk_widget_set_parent(w->scroller, GTK_WIDGET(w));
}

static void welcome_dispose(GObject *o)
{
    NinoWelcome *w = NINO_WELCOME(o);
    g_clear_pointer(&w->scroller, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_welcome_parent_class)->dispose(o);
}

static void nino_welcome_class_init(NinoWelcomeClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = welcome_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_css_name(GTK_WIDGET_CLASS(klass), "welcome");
}
