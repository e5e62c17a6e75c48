// The editor is made anew for each input that is chosen; what it shows is always text that
// nino_axis_parse() reads.
#include "window/axis_editor.h"

#include "node/folders.h"
#include "base/i18n.h"
#include "base/tokens.h"

#include <string.h>

struct _NinoAxisEditor {
    GtkBox parent;
    char *title;
    GPtrArray *inputs;
    GtkWidget *choice, *place; // which input; where its editor is
    // Of the editor that is shown the one that applies, else NULL.
    GtkWidget *numbers, *range[3]; // entries
    GtkWidget *checks;             // a box of check buttons
    GtkWidget *lines;              // a text view
};

G_DEFINE_TYPE(NinoAxisEditor, nino_axis_editor, GTK_TYPE_BOX)
static guint changed_signal;

// ---- inputs -------------------------------------------------------------------------------------

static void input_free(gpointer p)
{
    NinoGridInput *in = p;
    g_free(in->name);
    g_free(in->label);
    g_free(in->value);
    g_free(in);
}

// Whether nino_graph_set() finds this node, and no other, by its title.
static gboolean is_clear(const nino_graph_node *nodes, gsize n, gsize at)
{
    const char *title = nodes[at].title;
    if (!*title || strpbrk(title, "=\n"))
        return FALSE;
    for (gsize i = 0; i < n; i++)
        if (i != at && (!strcmp(nodes[i].title, title) || !strcmp(nodes[i].id, title) ||
                        !strcmp(nodes[i].class_type, title)))
            return FALSE;
    return TRUE;
}

static void axis_editor_add_input(GPtrArray *to, NinoTab *tab, const nino_graph_node *n,
                                  gboolean clear, const nino_param *p)
{
    nino_document *doc = nino_tab_document(tab);
    const nino_doc_node *node = nino_document_node(doc, nino_document_find(doc, n->id));
    const nino_doc_widget *w = node ? nino_doc_widget_find(node, p->key) : NULL;
    if (p->is_inert || (w && w->is_linked)) // nodes inside subgraphs are not looked into
        return;
    NinoGridInput *in = g_new0(NinoGridInput, 1);
    const char *label = p->label ? p->label : p->key;
    in->name = g_strdup_printf("%s.%s", clear ? n->title : n->id, p->key);
    in->label = clear ? g_strdup_printf("%s: %s", n->title, label)
                      : g_strdup_printf("%s %s: %s", n->id, n->title, label);
    in->value = g_strdup(w ? w->text : "");
    in->param = p;
    g_ptr_array_add(to, in);
}

GPtrArray *nino_grid_inputs(NinoTab *tab)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(input_free);
    nino_graph *g = nino_tab_graph(tab);
    const gsize n = g ? nino_graph_nodes(g, NULL, 0) : 0;
    g_autofree nino_graph_node *nodes = g_new0(nino_graph_node, n + 1);
    if (g)
        nino_graph_nodes(g, nodes, n);
    for (gsize i = 0; i < n; i++) {
        const nino_param *p = nodes[i].def ? nodes[i].def->params : NULL;
        for (; p && p->key; p++)
            axis_editor_add_input(out, tab, &nodes[i], is_clear(nodes, n, i), p);
    }
    return out;
}

static const NinoGridInput *axis_editor_chosen(NinoAxisEditor *e)
{
    const guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(e->choice)); // 0: none
    return i && i <= e->inputs->len ? e->inputs->pdata[i - 1] : NULL;
}

// ---- editors ------------------------------------------------------------------------------------

static void axis_editor_changed(NinoAxisEditor *e) { g_signal_emit(e, changed_signal, 0); }

static void set_name(GtkWidget *w, const char *axis, const char *name)
{
    g_autofree char *full = g_strdup_printf("%s: %s", axis, name);
    gtk_accessible_update_property(GTK_ACCESSIBLE(w), GTK_ACCESSIBLE_PROPERTY_LABEL, full, -1);
}

// From, to and step become a range in the entry of values.
static void on_range(NinoAxisEditor *e)
{
    const char *part[3];
    for (int i = 0; i < 3; i++)
        part[i] = gtk_editable_get_text(GTK_EDITABLE(e->range[i]));
    if (!*part[0] || !*part[1])
        return;
    g_autofree char *text =
        g_strdup_printf("%s..%s%s%s", part[0], part[1], *part[2] ? ":" : "", part[2]);
    gtk_editable_set_text(GTK_EDITABLE(e->numbers), text);
}

static GtkWidget *new_entry(NinoAxisEditor *e, const char *name, int chars)
{
    GtkWidget *entry = gtk_entry_new();
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), chars);
    gtk_editable_set_max_width_chars(GTK_EDITABLE(entry), chars);
    gtk_entry_set_activates_default(GTK_ENTRY(entry), TRUE);
    set_name(entry, e->title, name);
    return entry;
}

static void make_numbers(NinoAxisEditor *e, const NinoGridInput *in)
{
    const char *const names[] = { _("From"), _("To"), _("Step") };
    GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    for (int i = 0; i < 3; i++) {
        GtkWidget *label = gtk_label_new(names[i]);
        e->range[i] = new_entry(e, names[i], 6);
        gtk_box_append(GTK_BOX(line), label);
        gtk_box_append(GTK_BOX(line), e->range[i]);
        gtk_widget_set_hexpand(e->range[i], TRUE);
        g_signal_connect_swapped(e->range[i], "changed", G_CALLBACK(on_range), e);
    }
    e->numbers = new_entry(e, _("Values"), 24);
    gtk_entry_set_placeholder_text(GTK_ENTRY(e->numbers), "1..9:2, 20");
    gtk_widget_set_tooltip_text(e->numbers,
                                _("Numbers and ranges with commas: 1..5, or 1..9:2 in steps of 2"));
    gtk_editable_set_text(GTK_EDITABLE(e->numbers), in->value);
    g_signal_connect_swapped(e->numbers, "changed", G_CALLBACK(axis_editor_changed), e);
    gtk_box_append(GTK_BOX(e->place), line);
    gtk_box_append(GTK_BOX(e->place), e->numbers);
}

static char **axis_editor_choices_of(const nino_param *p)
{
    static const char *const both[] = { "true", "false", NULL };
    if (p->type == NINO_BOOL)
        return g_strdupv((char **) both);
    if (p->type == NINO_ENUM)
        return g_strdupv((char **) p->names);
    g_auto(GStrv) files = nino_folders_files(p->folder, NULL);
    g_autoptr(GStrvBuilder) b = g_strv_builder_new();
    for (char **f = files; f && *f; f++)
        g_strv_builder_add(b, *f);
    for (const char *const *x = p->extra; x && *x; x++)
        g_strv_builder_add(b, *x);
    return g_strv_builder_end(b);
}

static GtkWidget *scrolled(GtkWidget *child, int height)
{
    GtkWidget *s = gtk_scrolled_window_new();
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(s), child);
    gtk_scrolled_window_set_has_frame(GTK_SCROLLED_WINDOW(s), TRUE);
    gtk_widget_set_size_request(s, -1, height);
    gtk_widget_set_vexpand(s, TRUE);
    return s;
}

static void make_checks(NinoAxisEditor *e, const NinoGridInput *in)
{
    g_auto(GStrv) list = axis_editor_choices_of(in->param);
    e->checks = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    for (char **c = list; c && *c; c++) {
        GtkWidget *check = gtk_check_button_new_with_label(*c);
        gtk_check_button_set_active(GTK_CHECK_BUTTON(check), !strcmp(*c, in->value));
        g_signal_connect_swapped(check, "toggled", G_CALLBACK(axis_editor_changed), e);
        gtk_box_append(GTK_BOX(e->checks), check);
    }
    gtk_box_append(GTK_BOX(e->place), scrolled(e->checks, 132));
}

static void make_lines(NinoAxisEditor *e, const NinoGridInput *in)
{
    g_autofree char *line = g_strdelimit(g_strdup(in->value), "\n", ' ');
    e->lines = gtk_text_view_new();
    gtk_text_view_set_wrap_mode(GTK_TEXT_VIEW(e->lines), GTK_WRAP_WORD_CHAR);
    gtk_text_view_set_accepts_tab(GTK_TEXT_VIEW(e->lines), FALSE);
    gtk_widget_set_tooltip_text(e->lines, _("A text a line"));
    set_name(e->lines, e->title, _("Values"));
    GtkTextBuffer *b = gtk_text_view_get_buffer(GTK_TEXT_VIEW(e->lines));
    gtk_text_buffer_set_text(b, line, -1);
    g_signal_connect_swapped(b, "changed", G_CALLBACK(axis_editor_changed), e);
    gtk_box_append(GTK_BOX(e->place), scrolled(e->lines, 132));
}

static void on_axis_editor_choice(NinoAxisEditor *e)
{
    const NinoGridInput *in = axis_editor_chosen(e);
    GtkWidget *child;
    e->numbers = e->checks = e->lines = NULL;
    while ((child = gtk_widget_get_first_child(e->place)))
        gtk_box_remove(GTK_BOX(e->place), child);
    if (!in) {
        axis_editor_changed(e);
        return;
    }
    switch (in->param->type) {
    case NINO_INT:
    case NINO_FLOAT:
    case NINO_SEED: make_numbers(e, in); break;
    case NINO_BOOL:
    case NINO_ENUM:
    case NINO_FILE: make_checks(e, in); break;
    case NINO_STRING: make_lines(e, in); break;
    }
    axis_editor_changed(e);
}

// ---- values as text -----------------------------------------------------------------------------

static void axis_editor_add_quoted(GString *to, const char *value, gssize len)
{
    g_string_append(to, to->len ? ",\"" : "\"");
    for (gssize i = 0; i < len; i++) {
        if (value[i] == '"')
            g_string_append_c(to, '"');
        g_string_append_c(to, value[i]);
    }
    g_string_append_c(to, '"');
}

static char *axis_editor_values(NinoAxisEditor *e)
{
    GString *text = g_string_new(NULL);
    if (e->numbers) { // spaces are for people
        for (const char *s = gtk_editable_get_text(GTK_EDITABLE(e->numbers)); *s; s++)
            if (*s != ' ')
                g_string_append_c(text, *s);
    } else if (e->checks) {
        for (GtkWidget *c = gtk_widget_get_first_child(e->checks); c;
             c = gtk_widget_get_next_sibling(c))
            if (gtk_check_button_get_active(GTK_CHECK_BUTTON(c))) {
                const char *label = gtk_check_button_get_label(GTK_CHECK_BUTTON(c));
                axis_editor_add_quoted(text, label, (gssize) strlen(label));
            }
    } else if (e->lines) {
        GtkTextIter begin, end;
        GtkTextBuffer *b = gtk_text_view_get_buffer(GTK_TEXT_VIEW(e->lines));
        gtk_text_buffer_get_bounds(b, &begin, &end);
        g_autofree char *all = gtk_text_buffer_get_text(b, &begin, &end, FALSE);
        g_auto(GStrv) lines = g_strsplit(all, "\n", -1);
        for (char **l = lines; *l; l++)
            if (**l)
                axis_editor_add_quoted(text, *l, (gssize) strlen(*l));
    }
    return g_string_free(text, FALSE);
}

char *nino_axis_editor_get(NinoAxisEditor *e)
{
    const NinoGridInput *in = axis_editor_chosen(e);
    g_autofree char *text = in ? axis_editor_values(e) : NULL;
    return in ? g_strdup_printf("%s=%s", in->name, text) : NULL;
}

static gboolean has_value(const nino_axis *a, const char *value)
{
    for (gsize i = 0; i < a->n; i++)
        if (!strcmp(a->value[i], value))
            return TRUE;
    return FALSE;
}

static void show_values(NinoAxisEditor *e, const nino_axis *a, const char *text)
{
    if (e->numbers)
        gtk_editable_set_text(GTK_EDITABLE(e->numbers), text);
    for (GtkWidget *c = e->checks ? gtk_widget_get_first_child(e->checks) : NULL; c;
         c = gtk_widget_get_next_sibling(c))
        gtk_check_button_set_active(GTK_CHECK_BUTTON(c),
                                    has_value(a, gtk_check_button_get_label(GTK_CHECK_BUTTON(c))));
    if (e->lines) {
        g_autoptr(GString) lines = g_string_new(NULL);
        for (gsize i = 0; i < a->n; i++)
            g_string_append_printf(lines, "%s%s", i ? "\n" : "", a->value[i]);
        gtk_text_buffer_set_text(gtk_text_view_get_buffer(GTK_TEXT_VIEW(e->lines)), lines->str, -1);
    }
}

void nino_axis_editor_set(NinoAxisEditor *e, const char *axis)
{
    nino_axis a = { 0 };
    if (nino_axis_parse(axis, &a, NULL))
        return;
    for (guint i = 0; i < e->inputs->len; i++) {
        const NinoGridInput *in = e->inputs->pdata[i];
        if (strcmp(in->name, a.input) != 0)
            continue;
        gtk_drop_down_set_selected(GTK_DROP_DOWN(e->choice), i + 1);
        show_values(e, &a, strchr(axis, '=') + 1);
    }
    nino_axis_release(&a);
}

// ---- building -----------------------------------------------------------------------------------

static void axis_editor_finalize(GObject *o)
{
    NinoAxisEditor *e = NINO_AXIS_EDITOR(o);
    g_free(e->title);
    g_clear_pointer(&e->inputs, g_ptr_array_unref);
    G_OBJECT_CLASS(nino_axis_editor_parent_class)->finalize(o);
}

static void nino_axis_editor_class_init(NinoAxisEditorClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = axis_editor_finalize;
    changed_signal = g_signal_new("changed", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
}

static void nino_axis_editor_init(NinoAxisEditor *e) { (void) e; }

GtkWidget *nino_axis_editor_new(const char *title, GPtrArray *inputs)
{
    NinoAxisEditor *e = g_object_new(NINO_TYPE_AXIS_EDITOR, "orientation", GTK_ORIENTATION_VERTICAL,
                                     "spacing", NINO_SPACE_S, NULL);
    e->title = g_strdup(title);
    e->inputs = g_ptr_array_ref(inputs);
    GtkWidget *heading = gtk_label_new(title);
    gtk_label_set_xalign(GTK_LABEL(heading), 0);
    gtk_widget_add_css_class(heading, "heading");
    GtkStringList *names = gtk_string_list_new(NULL);
    gtk_string_list_append(names, C_("input", "None"));
    for (guint i = 0; i < inputs->len; i++)
        gtk_string_list_append(names, ((const NinoGridInput *) inputs->pdata[i])->label);
    e->choice = gtk_drop_down_new(
        G_LIST_MODEL(names), gtk_property_expression_new(GTK_TYPE_STRING_OBJECT, NULL, "string"));
    gtk_drop_down_set_enable_search(GTK_DROP_DOWN(e->choice), TRUE);
    set_name(e->choice, title, _("Input"));
    set_name(gtk_widget_get_first_child(e->choice), title, _("Input")); // its button has none
    e->place = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S);
    gtk_widget_set_vexpand(e->place, TRUE);
    gtk_widget_set_size_request(e->place, 260, 140);
    gtk_box_append(GTK_BOX(e), heading);
    gtk_box_append(GTK_BOX(e), e->choice);
    gtk_box_append(GTK_BOX(e), e->place);
    g_signal_connect_swapped(e->choice, "notify::selected", G_CALLBACK(on_axis_editor_choice), e);
    return GTK_WIDGET(e);
}
