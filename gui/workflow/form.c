// One section a node that has values of its own; the editors are those of the canvas. Rebuilt when
// the workflow has other nodes than before, else only its values are shown anew.
#include "workflow/form.h"

#include "node/editors.h"
#include "base/empty.h"
#include "base/i18n.h"
#include "base/scroller.h"
#include "base/tokens.h"

#include <string.h>

struct _NinoForm {
    GtkWidget parent;
    GtkWidget *outer, *box, *choose;
    NinoTab *tab;
    GPtrArray *rows; // Row
    char *shape;     // of what was built: ids and names
    gboolean edits;
};

typedef struct Row {
    NinoForm *form;
    char *node, *widget;
    GtkWidget *check;            // whether the form shows it; only while the user chooses
    GtkWidget *editor, *control; // control: NULL where nothing happens after a run
} Row;

G_DEFINE_TYPE(NinoForm, nino_form, GTK_TYPE_WIDGET)
static guint refused_signal;

static void row_free(gpointer p)
{
    Row *r = p;
    nino_editor_stop(r->editor); // losing the focus must not call us any more
    if (r->control)
        nino_editor_stop(r->control);
    g_clear_object(&r->control);
    g_object_unref(r->editor);
    g_free(r->node);
    g_free(r->widget);
    g_free(r);
}

static void on_form_edit(gpointer user, const char *name, NinoEditKind kind, const char *text)
{
    const Row *r = user;
    NinoForm *form = r->form;
    nino_document *doc = nino_tab_document(form->tab);
    nino_error err = { 0 };
    nino_status st = NINO_OK;
    if (kind == NINO_EDIT_DONE) {
        nino_document_seal(doc);
        return;
    }
    if (kind == NINO_EDIT_REFUSED) {
        g_signal_emit(form, refused_signal, 0, text);
        return;
    }
    if (kind == NINO_EDIT_CONTROL)
        st = nino_document_set_control(doc, r->node, name, text, &err);
    else
        st = nino_document_set_text(doc, r->node, name, text, &err);
    if (st) {
        g_signal_emit(form, refused_signal, 0, err.msg);
        return;
    }
    form->edits = TRUE; // the editor shows the value already
    nino_tab_changed_elsewhere(form->tab);
    form->edits = FALSE;
}

static gboolean is_shown(const nino_doc_node *n, const nino_doc_widget *w)
{
    return !w->is_linked && w->kind != NINO_WIDGET_OTHER && n->kind != NINO_DOC_NOTE &&
           n->mode == NINO_MODE_ALWAYS && !(w->param && w->param->is_inert);
}

// Whether the workflow names this value for its form; TRUE for all where it names none.
static gboolean is_named(nino_document *doc, const char *node, const char *widget, gboolean if_none)
{
    const size_t n = nino_document_form_inputs(doc, NULL, 0);
    g_autofree nino_doc_form_input *in = g_new0(nino_doc_form_input, n + 1);
    nino_document_form_inputs(doc, in, n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(in[i].node, node) && !strcmp(in[i].widget, widget))
            return TRUE;
    return !n && if_none;
}

static gboolean chooses(NinoForm *form)
{
    return gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(form->choose));
}

// Writes what is ticked into the workflow, as ComfyUI's own form view keeps it.
static void on_form_check(GtkCheckButton *check, gpointer user)
{
    (void) check;
    NinoForm *form = user;
    nino_document *doc = nino_tab_document(form->tab);
    g_autofree nino_doc_form_input *in = g_new0(nino_doc_form_input, form->rows->len + 1);
    size_t n = 0;
    for (guint i = 0; i < form->rows->len; i++) {
        const Row *r = form->rows->pdata[i];
        if (r->check && gtk_check_button_get_active(GTK_CHECK_BUTTON(r->check)))
            in[n++] = (nino_doc_form_input){ r->node, r->widget };
    }
    nino_error err = { 0 };
    if (nino_document_set_form_inputs(doc, in, n, nino_document_opens_form(doc), &err)) {
        g_signal_emit(form, refused_signal, 0, err.msg);
        return;
    }
    form->edits = TRUE;
    nino_tab_changed_elsewhere(form->tab);
    form->edits = FALSE;
}

// What the form is made of, as text: equal when the same rows would be built.
static char *form_shape_of(NinoForm *form, nino_document *doc)
{
    const gboolean all = chooses(form);
    GString *s = g_string_new(all ? "all\n" : NULL);
    for (int i = 0; i < nino_document_n_nodes(doc); i++) {
        const nino_doc_node *n = nino_document_node(doc, i);
        for (int k = 0; k < n->n_widgets; k++)
            if (is_shown(n, &n->widgets[k]) &&
                (all || is_named(doc, n->id, n->widgets[k].name, TRUE)))
                g_string_append_printf(s, "%s %s.%s\n", n->title, n->id, n->widgets[k].name);
    }
    return g_string_free(s, FALSE);
}

static GtkWidget *form_label(const char *text)
{
    GtkWidget *label = gtk_label_new(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_width_chars(GTK_LABEL(label), 12); // the editors of all sections line up
    gtk_label_set_max_width_chars(GTK_LABEL(label), 12);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    gtk_widget_set_valign(label, GTK_ALIGN_START);
    gtk_widget_set_margin_top(label, NINO_SPACE_S);
    return label;
}

static void form_add_row(NinoForm *form, GtkWidget *grid, int at, const nino_doc_node *n,
                         const nino_doc_widget *w)
{
    const char *text = w->label                      ? w->label
                       : w->param && w->param->label ? w->param->label
                                                     : w->name;
    GtkWidget *label = form_label(text);
    if (w->param && w->param->help)
        gtk_widget_set_tooltip_text(label, w->param->help);
    Row *r = g_new0(Row, 1);
    r->form = form;
    r->node = g_strdup(n->id);
    r->widget = g_strdup(w->name);
    r->editor = g_object_ref_sink(nino_editor_new(w, FALSE, on_form_edit, r));
    gtk_widget_set_hexpand(r->editor, TRUE);
    g_ptr_array_add(form->rows, r);
    if (chooses(form)) {
        r->check = gtk_check_button_new();
        gtk_check_button_set_active(GTK_CHECK_BUTTON(r->check),
                                    is_named(nino_tab_document(form->tab), n->id, w->name, FALSE));
        g_autofree char *name = g_strdup_printf(_("Show %s of %s"), text, n->title);
        gtk_accessible_update_property(GTK_ACCESSIBLE(r->check), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       name, -1);
        g_signal_connect(r->check, "toggled", G_CALLBACK(on_form_check), form);
        gtk_widget_set_valign(r->check, GTK_ALIGN_CENTER);
        gtk_grid_attach(GTK_GRID(grid), r->check, 2, at, 1, 1);
    }
    if (nino_editor_is_multiline(w)) {
        gtk_widget_set_size_request(r->editor, -1, 96);
        gtk_grid_attach(GTK_GRID(grid), label, 0, at, 2, 1);
        gtk_grid_attach(GTK_GRID(grid), r->editor, 0, at + 1, 2, 1);
        return;
    }
    gtk_grid_attach(GTK_GRID(grid), label, 0, at, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), r->editor, 1, at, 1, 1);
    if (w->control) {
        r->control = g_object_ref_sink(nino_editor_new_control(w, on_form_edit, r));
        gtk_widget_set_tooltip_text(r->control, _("What happens to the value after a run"));
        gtk_grid_attach(GTK_GRID(grid), form_label(_("After a run")), 0, at + 1, 1, 1);
        gtk_grid_attach(GTK_GRID(grid), r->control, 1, at + 1, 1, 1);
    }
}

static void form_add_section(NinoForm *form, nino_document *doc, const nino_doc_node *n)
{
    GtkWidget *grid = NULL;
    int at = 0;
    for (int k = 0; k < n->n_widgets; k++) {
        if (!is_shown(n, &n->widgets[k]) ||
            (!chooses(form) && !is_named(doc, n->id, n->widgets[k].name, TRUE)))
            continue;
        if (!grid) {
            GtkWidget *title = gtk_label_new(n->title);
            gtk_label_set_xalign(GTK_LABEL(title), 0);
            gtk_widget_add_css_class(title, "heading");
            gtk_box_append(GTK_BOX(form->box), title);
            grid = gtk_grid_new();
            gtk_grid_set_row_spacing(GTK_GRID(grid), NINO_SPACE_XS);
            gtk_grid_set_column_spacing(GTK_GRID(grid), NINO_SPACE_M);
            gtk_widget_set_margin_bottom(grid, NINO_SPACE_S);
            gtk_box_append(GTK_BOX(form->box), grid);
        }
        form_add_row(form, grid, at, n, &n->widgets[k]);
        at += 2;
    }
}

static void clear(NinoForm *form)
{
    g_ptr_array_set_size(form->rows, 0);
    GtkWidget *child;
    while ((child = gtk_widget_get_first_child(form->box)))
        gtk_box_remove(GTK_BOX(form->box), child);
    g_clear_pointer(&form->shape, g_free);
}

static void update_values(NinoForm *form, nino_document *doc)
{
    for (guint i = 0; i < form->rows->len; i++) {
        const Row *r = form->rows->pdata[i];
        const nino_doc_node *n = nino_document_node(doc, nino_document_find(doc, r->node));
        const nino_doc_widget *w = n ? nino_doc_widget_find(n, r->widget) : NULL;
        if (w)
            nino_editor_update(r->editor, w);
    }
}

void nino_form_show(NinoForm *form, NinoTab *tab)
{
    if (form->edits)
        return;
    const gboolean is_other = form->tab != tab;
    form->tab = tab;
    gtk_widget_set_sensitive(form->choose, tab != NULL);
    if (!tab) {
        clear(form);
        gtk_box_append(GTK_BOX(form->box), nino_empty_new(&nino_empty_no_workflow));
        return;
    }
    nino_document *doc = nino_tab_document(tab);
    g_autofree char *shape = form_shape_of(form, doc);
    if (!is_other && !g_strcmp0(shape, form->shape)) {
        update_values(form, doc);
        return;
    }
    clear(form);
    form->shape = g_steal_pointer(&shape);
    for (int i = 0; i < nino_document_n_nodes(doc); i++)
        form_add_section(form, doc, nino_document_node(doc, i));
    if (!form->rows->len) {
        static const NinoEmpty none = { "document-edit-symbolic",
                                        N_("This workflow has no values to set"),
                                        { { N_("Nodes"), "win.drawer::nodes" } } };
        gtk_box_append(GTK_BOX(form->box), nino_empty_new(&none));
    }
}

static void on_choose(GtkToggleButton *button, gpointer user)
{
    (void) button;
    NinoForm *form = user;
    nino_form_show(form, form->tab);
}

static void form_dispose(GObject *o)
{
    NinoForm *form = NINO_FORM(o);
    g_clear_pointer(&form->rows, g_ptr_array_unref);
    g_clear_pointer(&form->shape, g_free);
    g_clear_pointer(&form->outer, gtk_widget_unparent);
    G_OBJECT_CLASS(nino_form_parent_class)->dispose(o);
}

static void nino_form_class_init(NinoFormClass *klass)
{
    G_OBJECT_CLASS(klass)->dispose = form_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(klass), GTK_TYPE_BIN_LAYOUT);
    refused_signal = g_signal_new("refused", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void nino_form_init(NinoForm *form)
{
    form->rows = g_ptr_array_new_with_free_func(row_free);
    form->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_XS);
    gtk_widget_set_margin_start(form->box, NINO_SPACE_M);
    gtk_widget_set_margin_end(form->box, NINO_SPACE_S); // a bar follows
    gtk_widget_set_margin_top(form->box, NINO_SPACE_S);
    gtk_widget_set_margin_bottom(form->box, NINO_SPACE_M);
    gtk_accessible_update_property(GTK_ACCESSIBLE(form->box), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Values of the workflow"), -1);
    GtkWidget *scroller = nino_page_scroller_new(form->box);
    gtk_widget_set_vexpand(scroller, TRUE);
    form->outer = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *bar = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_S);
    gtk_widget_add_css_class(bar, "bar");
    form->choose = gtk_toggle_button_new_with_label(_("Choose values"));
    gtk_widget_set_tooltip_text(form->choose,
                                _("Tick the values that the form shows; kept in the workflow"));
    g_signal_connect(form->choose, "toggled", G_CALLBACK(on_choose), form);
    gtk_box_append(GTK_BOX(bar), form->choose);
    gtk_box_append(GTK_BOX(form->outer), bar);
    gtk_box_append(GTK_BOX(form->outer), scroller);
    gtk_widget_set_parent(form->outer, GTK_WIDGET(form));
    nino_form_show(form, NULL);
}

GtkWidget *nino_form_new(void) { return g_object_new(NINO_TYPE_FORM, NULL); }
