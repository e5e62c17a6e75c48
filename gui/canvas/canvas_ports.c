// Ports of a subgraph and values from inside that it shows, as a list to choose from: renamed,
// removed, added, shown and hidden without a pointer.
#include "canvas/canvas_priv.h"
#include "canvas/search.h"
#include "base/i18n.h"

#include <string.h>

// ---- renaming --------------------------------------------------------------------------------

typedef struct PortAt {
    NinoCanvas *canvas;
    char *node; // its id: numbers change under the popover
    gboolean is_output;
    int slot;
} PortAt;

static void free_port_at(gpointer user, GClosure *closure)
{
    PortAt *at = user;
    (void) closure;
    g_free(at->node);
    g_free(at);
}

static void on_canvas_ports_renamed(GtkEntry *entry, gpointer user)
{
    const PortAt *at = user;
    NinoCanvas *c = at->canvas;
    nino_error err = { 0 };
    if (c->doc)
        nino_canvas_did(c,
                        nino_document_rename_port(c->doc, nino_document_find(c->doc, at->node),
                                                  at->is_output, at->slot,
                                                  gtk_editable_get_text(GTK_EDITABLE(entry)), &err),
                        &err);
    if (c->popover)
        gtk_popover_popdown(GTK_POPOVER(c->popover));
}

// A click that opens the popover also gives the focus to the node below it, after this.
static gboolean focus_later(gpointer entry)
{
    if (gtk_widget_get_root(entry))
        gtk_widget_grab_focus(entry);
    return G_SOURCE_REMOVE;
}

void nino_canvas_open_rename_port(NinoCanvas *c, int node, gboolean is_output, int slot)
{
    const nino_doc_node *n = nino_document_node(c->doc, node);
    GtkWidget *popover = gtk_popover_new(), *entry = gtk_entry_new();
    PortAt *at = g_new0(PortAt, 1);
    double x, y;
    *at = (PortAt){ c, g_strdup(n->id), is_output, slot };
    gtk_editable_set_text(GTK_EDITABLE(entry),
                          is_output ? n->outputs[slot].label : n->inputs[slot].label);
    gtk_editable_set_width_chars(GTK_EDITABLE(entry), 24);
    gtk_accessible_update_property(GTK_ACCESSIBLE(entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Name of the port"), -1);
    g_signal_connect_data(entry, "activate", G_CALLBACK(on_canvas_ports_renamed), at, free_port_at,
                          0);
    gtk_popover_set_child(GTK_POPOVER(popover), entry);
    nino_canvas_middle_of(c, node, &x, &y);
    nino_canvas_show_popover(c, popover, x, y);
    gtk_widget_grab_focus(entry);
    g_idle_add_full(G_PRIORITY_DEFAULT, focus_later, g_object_ref(entry), g_object_unref);
}

// ---- the list --------------------------------------------------------------------------------

static void canvas_ports_offer(GPtrArray *items, char *title, const char *detail, char *key)
{
    NinoSearchItem *item = g_new0(NinoSearchItem, 1);
    *item = (NinoSearchItem){ .title = title, .detail = g_strdup(detail), .key = key };
    g_ptr_array_add(items, item);
}

// What can be done to the ports of an instance or an end.
static void offer_ports(GPtrArray *items, const nino_doc_node *n)
{
    for (int k = 0; k < n->n_inputs + n->n_outputs; k++) {
        const gboolean is_output = k >= n->n_inputs;
        const int slot = is_output ? k - n->n_inputs : k;
        const char *label = is_output ? n->outputs[slot].label : n->inputs[slot].label;
        const gboolean is_end = n->kind != NINO_DOC_SUBGRAPH; // it gives what comes in
        const gboolean is_out = is_output != is_end;
        canvas_ports_offer(
            items, g_strdup_printf(is_out ? _("Rename output %s…") : _("Rename input %s…"), label),
            n->title, g_strdup_printf("rename %d %d %s", is_output, slot, n->id));
        canvas_ports_offer(
            items, g_strdup_printf(is_out ? _("Remove output %s") : _("Remove input %s"), label),
            n->title, g_strdup_printf("remove %d %d %s", is_output, slot, n->id));
    }
}

static void offer_new(GPtrArray *items, const nino_doc_node *n)
{
    for (int i = 0; i < n->n_inputs; i++)
        canvas_ports_offer(
            items, g_strdup_printf(_("New input of the subgraph for %s"), n->inputs[i].label),
            n->title, g_strdup_printf("add 0 %d %s", i, n->id));
    for (int i = 0; i < n->n_outputs; i++)
        canvas_ports_offer(
            items, g_strdup_printf(_("New output of the subgraph from %s"), n->outputs[i].label),
            n->title, g_strdup_printf("add 1 %d %s", i, n->id));
}

static void offer_values(NinoCanvas *c, GPtrArray *items, const nino_doc_node *n)
{
    for (int i = 0; i < n->n_widgets; i++) {
        const nino_doc_widget *w = &n->widgets[i];
        const gboolean is_shown = nino_document_is_promoted(c->doc, n->id, w->name);
        const char *label = w->label ? w->label : w->name;
        if (nino_document_depth(c->doc) && (is_shown || !w->is_linked))
            canvas_ports_offer(
                items,
                g_strdup_printf(is_shown ? _("Hide %s outside") : _("Show %s outside"), label),
                n->title, g_strdup_printf("show %d %d %s", !is_shown, i, n->id));
        if (n->kind == NINO_DOC_SUBGRAPH && w->input < 0)
            canvas_ports_offer(items, g_strdup_printf(_("Hide %s on this subgraph"), label),
                               n->title, g_strdup_printf("hide 0 %d %s", i, n->id));
    }
}

static nino_status do_it(NinoCanvas *c, const char *what, int node, int flag, int slot,
                         nino_error *err)
{
    const nino_doc_node *n = nino_document_node(c->doc, node);
    if (!strcmp(what, "remove"))
        return nino_document_remove_port(c->doc, node, flag, slot, err);
    if (!strcmp(what, "add"))
        return nino_document_add_port(c->doc, node, flag, slot, err);
    if (slot >= n->n_widgets)
        return NINO_OK; // it has changed since
    return !strcmp(what, "show")
               ? nino_document_promote(c->doc, n->id, n->widgets[slot].name, flag, err)
               : nino_document_demote(c->doc, n->id, n->widgets[slot].name, err);
}

static void on_canvas_ports_chosen(gpointer user, const char *key)
{
    NinoCanvas *c = user;
    char what[16], id[64];
    int flag = 0, slot = 0;
    nino_error err = { 0 };
    if (!c->doc || sscanf(key, "%15s %d %d %63s", what, &flag, &slot, id) != 4)
        return;
    const int node = nino_document_find(c->doc, id);
    if (node < 0)
        return;
    if (!strcmp(what, "rename"))
        nino_canvas_open_rename_port(c, node, flag, slot);
    else
        nino_canvas_did(c, do_it(c, what, node, flag, slot, &err), &err);
}

void nino_canvas_open_ports(NinoCanvas *c)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    const int node = nino_canvas_first_selected(c);
    const gboolean is_inside = nino_document_depth(c->doc) > 0;
    double x, y;
    for (int i = 0; i < nino_document_n_nodes(c->doc); i++) {
        const nino_doc_node *n = nino_document_node(c->doc, i);
        const gboolean is_end = n->kind == NINO_DOC_INPUT || n->kind == NINO_DOC_OUTPUT;
        if (node >= 0 ? i != node : !is_end)
            continue; // nothing selected: the ends of this subgraph
        if (is_end || n->kind == NINO_DOC_SUBGRAPH)
            offer_ports(items, n);
        if (is_inside && !is_end)
            offer_new(items, n);
        if (!is_end)
            offer_values(c, items, n);
    }
    nino_canvas_middle_of(c, node, &x, &y);
    nino_canvas_show_popover(
        c, nino_search_new(_("Ports and shown values"), items, on_canvas_ports_chosen, c), x, y);
}
