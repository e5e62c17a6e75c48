// What can be done follows from the kind of problem: another file, the folder that one belongs into, going on without the
// node. Each is named for a screen reader by its severity, node and message.
#include "workflow/problem_row.h"

#include <string.h>

#include "base/i18n.h"
#include "base/tokens.h"
#include "canvas/search.h"
#include "node/folders.h"

static const nino_doc_node *node_of(NinoTab *tab, const char *id)
{
    const nino_document *d = nino_tab_document(tab);
    const int i = nino_document_find(d, id);
    return i < 0 ? NULL : nino_document_node(d, i);
}

char *nino_problem_place(const nino_issue *issue, NinoTab *tab)
{
    const nino_doc_node *n = node_of(tab, issue->node);
    GString *s = g_string_new(*issue->node ? issue->node : _("workflow"));
    if (n)
        g_string_append_printf(s, " %s", n->title);
    if (*issue->input)
        g_string_append_printf(s, " · %s", issue->input);
    return g_string_free(s, FALSE);
}

// ---- another file -------------------------------------------------------------------------------

// The folder that the input takes its files from, or NULL.
static const char *folder_of(const nino_issue *issue)
{
    const nino_node_def *def = nino_node_find(issue->class_type, NULL);
    for (const nino_param *p = def ? def->params : NULL; p && p->key; p++)
        if (p->type == NINO_FILE && g_str_equal(p->key, issue->input))
            return p->folder;
    return NULL;
}

typedef struct Assignment {
    GtkWidget *window;
    char *text;
} Assignment;

// Not from within the row: it goes when what it says is no longer so.
static void assign(gpointer user)
{
    Assignment *a = user;
    gtk_widget_activate_action(a->window, "win.set", "s", a->text);
    g_object_unref(a->window);
    g_free(a->text);
    g_free(a);
}

static void on_file(gpointer button, const char *file)
{
    Assignment *a = g_new0(Assignment, 1);
    const char *where = g_object_get_data(button, "where");
    a->window = g_object_ref(GTK_WIDGET(gtk_widget_get_root(button)));
    a->text = g_strdup_printf("%s=%s", where, file);
    g_idle_add_once(assign, a);
}

static void drop_popover(gpointer popover)
{
    if (gtk_widget_get_parent(popover))
        gtk_widget_unparent(popover);
    g_object_unref(popover);
}

static void on_closed(GtkWidget *popover, gpointer button)
{
    g_object_set_data(button, "popover", NULL);
    g_idle_add_once(drop_popover, g_object_ref(popover)); // its row may still be at work
}

static void on_destroy(GtkWidget *button, gpointer user)
{
    (void) user;
    GtkWidget *popover = g_object_get_data(G_OBJECT(button), "popover");
    if (popover)
        gtk_widget_unparent(popover);
}

static void on_choose_file(GtkWidget *b, gpointer user)
{
    (void) user;
    const char *folder = g_object_get_data(G_OBJECT(b), "folder");
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    g_auto(GStrv) files = nino_folders_files(folder, NULL);
    for (char **f = files; f && *f; f++) {
        NinoSearchItem *item = g_new0(NinoSearchItem, 1);
        *item = (NinoSearchItem){ .title = g_strdup(*f),
                                  .detail = g_strdup(folder),
                                  .key = g_strdup(*f),
                                  .terms = g_strdup(folder) };
        g_ptr_array_add(items, item);
    }
    GtkWidget *popover = nino_search_new(_("Find a file"), items, on_file, b);
    g_object_set_data(G_OBJECT(b), "popover", popover);
    g_signal_connect(popover, "closed", G_CALLBACK(on_closed), b);
    gtk_widget_set_parent(popover, b);
    gtk_popover_popup(GTK_POPOVER(popover));
}

static GtkWidget *new_file_button(const nino_issue *issue, const char *folder, const char *place)
{
    GtkWidget *b = gtk_button_new_with_label(_("Choose another file…"));
    g_autofree char *name = g_strdup_printf(_("Choose another file for %s"), place);
    gtk_widget_set_tooltip_text(b, name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_object_set_data_full(G_OBJECT(b), "where",
                           g_strdup_printf("%s.%s", issue->node, issue->input), g_free);
    g_object_set_data(G_OBJECT(b), "folder", (gpointer) folder); // of the table of nodes
    g_signal_connect(b, "clicked", G_CALLBACK(on_choose_file), NULL);
    g_signal_connect(b, "destroy", G_CALLBACK(on_destroy), NULL);
    return b;
}

static void on_folder(GtkWidget *b, gpointer user)
{
    (void) user;
    g_autofree char *uri = g_filename_to_uri(g_object_get_data(G_OBJECT(b), "path"), NULL, NULL);
    if (uri)
        gtk_show_uri(GTK_WINDOW(gtk_widget_get_root(b)), uri, GDK_CURRENT_TIME);
}

// NULL: there is none to open.
static GtkWidget *new_folder_button(const char *models, const char *folder)
{
    g_autofree char *local = models ? g_build_filename(models, folder, NULL) : NULL;
    g_autofree char *path = local ? g_canonicalize_filename(local, NULL) : NULL;
    if (!path || !g_file_test(path, G_FILE_TEST_IS_DIR))
        return NULL;
    GtkWidget *b = gtk_button_new_with_label(_("Open the folder"));
    gtk_widget_set_tooltip_text(b, path);
    g_signal_connect(b, "clicked", G_CALLBACK(on_folder), NULL);
    g_object_set_data_full(G_OBJECT(b), "path", g_steal_pointer(&path), g_free);
    return b;
}

// ---- without the node ---------------------------------------------------------------------------

// Something that comes in can go on in its place.
static gboolean can_bypass(const nino_doc_node *n)
{
    for (int o = 0; n && o < n->n_outputs; o++)
        for (int i = 0; i < n->n_inputs; i++)
            if (n->inputs[i].link >= 0 && !strcmp(n->inputs[i].type, n->outputs[o].type))
                return TRUE;
    return FALSE;
}

static void on_bypass(GtkWidget *b, gpointer tab)
{
    nino_tab_show_node(tab, g_object_get_data(G_OBJECT(b), "node"));
    gtk_widget_activate_action(GTK_WIDGET(nino_tab_canvas(tab)), "canvas.bypass", NULL);
}

static GtkWidget *new_bypass_button(const nino_issue *issue, NinoTab *tab, const char *place)
{
    GtkWidget *b = gtk_button_new_with_label(_("Bypass"));
    g_autofree char *name = g_strdup_printf(_("Bypass %s"), place);
    gtk_widget_set_tooltip_text(b, _("The workflow runs as if the node were not there"));
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_object_set_data_full(G_OBJECT(b), "node", g_strdup(issue->node), g_free);
    g_signal_connect_object(b, "clicked", G_CALLBACK(on_bypass), tab, 0);
    return b;
}

// ---- the row ------------------------------------------------------------------------------------

// A line ends before a folder's name, not within it; names that no line has room for may break.
static void keep_names_whole(GtkLabel *label, const char *text)
{
    enum { SHORT = 30 }; // characters that every drawer has room for
    PangoAttrList *attrs = pango_attr_list_new();
    for (const char *from = text; *from;) {
        const gsize n = strcspn(from, " \n");
        if (memchr(from, '/', n) && n <= SHORT) {
            PangoAttribute *whole = pango_attr_allow_breaks_new(FALSE);
            whole->start_index = (guint) (from - text);
            whole->end_index = (guint) (from - text + n);
            pango_attr_list_insert(attrs, whole);
        }
        from += n + (from[n] != 0);
    }
    gtk_label_set_attributes(label, attrs);
    pango_attr_list_unref(attrs);
}

static GtkWidget *text_of(const char *text, gboolean wraps)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    if (wraps) {
        gtk_label_set_wrap(GTK_LABEL(label), TRUE);
        gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR); // names of files are long
        keep_names_whole(GTK_LABEL(label), text);
    } else {
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
        gtk_widget_set_tooltip_text(label, text);
        gtk_widget_add_css_class(label, "dim-label");
    }
    return label;
}

// As many beside each other as the drawer is wide.
static void add(GtkWidget *flow, GtkWidget *button)
{
    if (!button)
        return;
    gtk_flow_box_append(GTK_FLOW_BOX(flow), button);
    gtk_widget_set_focusable(gtk_widget_get_parent(button), FALSE); // the button is
}

// What would have to be there; NULL: nothing that could be put there solves it. *folder_path: into which folder, or NULL. Both
// g_free().
static char *install_hint(const nino_issue *issue, NinoTab *tab, const char *models,
                          char **folder_path)
{
    const nino_doc_node *n = node_of(tab, issue->node);
    const char *folder = *issue->input ? folder_of(issue) : NULL, *file = NULL;
    if (g_str_equal(issue->code, "unknown_class"))
        return g_strdup(_("It is of an extension that is not built in: replace the node, or bypass "
                          "it. With the classes of your ComfyUI (Preferences) it keeps its "
                          "inputs, but cannot run"));
    if (!folder || !models || !g_str_equal(issue->code, "missing_file"))
        return NULL;
    for (int i = 0; n && i < n->n_widgets; i++)
        if (g_str_equal(n->widgets[i].name, issue->input))
            file = n->widgets[i].text;
    g_autofree char *local = g_build_filename(models, folder, NULL);
    *folder_path = g_canonicalize_filename(local, NULL);
    return g_strdup_printf(_("Put %s into this folder:"), file && *file ? file : _("a file"));
}

static GtkWidget *actions_of(const nino_issue *issue, NinoTab *tab, const char *models,
                             const char *place)
{
    const nino_doc_node *n = node_of(tab, issue->node);
    const char *folder = *issue->input ? folder_of(issue) : NULL;
    GtkWidget *box = gtk_flow_box_new();
    gtk_flow_box_set_selection_mode(GTK_FLOW_BOX(box), GTK_SELECTION_NONE);
    gtk_flow_box_set_column_spacing(GTK_FLOW_BOX(box), NINO_SPACE_S);
    gtk_flow_box_set_row_spacing(GTK_FLOW_BOX(box), NINO_SPACE_XS);
    gtk_flow_box_set_max_children_per_line(GTK_FLOW_BOX(box), 3);
    if (folder) {
        add(box, new_file_button(issue, folder, place));
        add(box, new_folder_button(models, folder));
    }
    if (issue->severity == NINO_ISSUE_ERROR && can_bypass(n))
        add(box, new_bypass_button(issue, tab, place));
    gtk_widget_set_visible(box, gtk_widget_get_first_child(box) != NULL);
    return box;
}

static void add_dim(GtkBox *texts, const char *text)
{
    GtkWidget *label = text_of(text, TRUE);
    gtk_widget_add_css_class(label, "dim-label");
    gtk_box_append(texts, label);
}

static void add_hint(GtkBox *texts, const nino_issue *issue, NinoTab *tab, const char *models)
{
    g_autofree char *path = NULL, *hint = install_hint(issue, tab, models, &path);
    if (!hint)
        return;
    add_dim(texts, hint);
    if (!path)
        return;
    // On one line, both ends of it seen: it is never broken after a slash. Copied it is whole.
    GtkWidget *folder = text_of(path, FALSE);
    gtk_label_set_ellipsize(GTK_LABEL(folder), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_selectable(GTK_LABEL(folder), TRUE); // the folder is wanted elsewhere
    gtk_box_append(texts, folder);
    add_dim(texts, _("Then press R"));
}

GtkWidget *nino_problem_row_new(const nino_issue *issue, NinoTab *tab, const char *model_folder)
{
    const gboolean is_error = issue->severity == NINO_ISSUE_ERROR;
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S),
              *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_XS),
              *row = gtk_list_box_row_new();
    GtkWidget *icon = gtk_image_new_from_icon_name(is_error ? "dialog-error-symbolic"
                                                            : "dialog-warning-symbolic");
    g_autofree char *place = nino_problem_place(issue, tab);
    g_autofree char *name = g_strdup_printf(
        is_error ? _("Error, node %s: %s") : _("Warning, node %s: %s"), place, issue->message);
    gtk_widget_set_valign(icon, GTK_ALIGN_START);
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_widget_add_css_class(line, "queue-row");
    gtk_box_append(GTK_BOX(texts), text_of(place, FALSE));
    gtk_box_append(GTK_BOX(texts), text_of(issue->message, TRUE));
    add_hint(GTK_BOX(texts), issue, tab, model_folder);
    gtk_box_append(GTK_BOX(texts), actions_of(issue, tab, model_folder, place));
    gtk_box_append(GTK_BOX(line), icon);
    gtk_box_append(GTK_BOX(line), texts);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), line);
    g_object_set_data_full(G_OBJECT(row), "node", g_strdup(issue->node), g_free);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    return row;
}
