// Searching: every typed word must be found; the start of a title counts most, letters in order
// least.
#include "canvas/search.h"

#include <string.h>

#include "base/empty.h"
#include "base/i18n.h"
#include "base/tokens.h"

typedef struct Search {
    GtkWidget *popover, *entry, *list, *scroller;
    GPtrArray *items;
    NinoSearchFn chosen;
    void (*escape)(gpointer user);
    gpointer user;
    char *shown; // what the list was made for
} Search;

void nino_search_item_free(gpointer p)
{
    NinoSearchItem *item = p;
    g_free(item->title);
    g_free(item->detail);
    g_free(item->key);
    g_free(item->terms);
    g_free(item->picture);
    g_free(item);
}

// ---- matching --------------------------------------------------------------------------------

// Letters of the word in this order, starting at the beginning of some word.
static int score_letters(const char *text, const char *word)
{
    int gaps = 0;
    const char *at = text;
    for (const char *w = word; *w; w++) {
        const char *next = strchr(at, *w);
        if (!next)
            return 0;
        gaps += (int) (next - at);
        at = next + 1;
    }
    return MAX(13 - gaps, 0);
}

static int score_word(const char *title, const char *terms, const char *word)
{
    const char *at = strstr(title, word);
    if (at == title)
        return 100;
    if (at)
        return at[-1] == ' ' || at[-1] == '(' ? 80 : 60;
    at = strstr(terms, word);
    if (at)
        return at == terms || at[-1] == ' ' || at[-1] == '/' ? 45 : 30;
    return strlen(word) >= 3 ? score_letters(title, word) : 0;
}

int nino_search_score(const NinoSearchItem *item, const char *typed)
{
    g_autofree char *what = g_utf8_strdown(typed, -1);
    g_autofree char *title = g_utf8_strdown(item->title, -1);
    g_autofree char *terms = g_utf8_strdown(item->terms ? item->terms : "", -1);
    g_strdelimit(title, "_", ' '); // names of files are words, too
    g_auto(GStrv) words = g_strsplit(g_strdelimit(what, "_", ' '), " ", -1);
    int total = 1;
    if (!*words || (!**words && !words[1]))
        return total; // nothing typed: by the alphabet
    for (char **w = words; *w; w++) {
        const int score = **w ? score_word(title, terms, *w) : 1;
        if (!score)
            return 0;
        total += score;
    }
    if (words[1] && g_str_has_prefix(title, what)) // all that was typed, in its order
        total += 50;
    return total * 100 - (int) MIN(strlen(title), 90); // the shorter title is nearer
}

static int by_score(gconstpointer a, gconstpointer b)
{
    const NinoSearchItem *x = *(NinoSearchItem *const *) a, *y = *(NinoSearchItem *const *) b;
    if (x->score != y->score)
        return y->score - x->score;
    return x->rank != y->rank ? x->rank - y->rank : g_utf8_collate(x->title, y->title);
}

// ---- the list --------------------------------------------------------------------------------

static GtkWidget *search_new_row(const NinoSearchItem *item)
{
    GtkWidget *row = gtk_list_box_row_new(),
              *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, NINO_SPACE_M);
    GtkWidget *title = gtk_label_new(item->title), *detail = gtk_label_new(item->detail);
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_widget_set_hexpand(title, TRUE);
    gtk_label_set_xalign(GTK_LABEL(detail), 1);
    gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
    gtk_label_set_ellipsize(GTK_LABEL(detail), PANGO_ELLIPSIZE_START);
    gtk_label_set_max_width_chars(GTK_LABEL(detail), 26);
    gtk_widget_add_css_class(detail, "dim-label");
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), detail);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    g_autofree char *name = g_strdup_printf("%s, %s", item->title, item->detail);
    gtk_accessible_update_property(GTK_ACCESSIBLE(row), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    g_object_set_data_full(G_OBJECT(row), "key", g_strdup(item->key), g_free);
    return row;
}

static void show_matches(Search *s)
{
    const char *typed = gtk_editable_get_text(GTK_EDITABLE(s->entry));
    g_free(s->shown);
    s->shown = g_strdup(typed);
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(s->list)) && GTK_IS_LIST_BOX_ROW(row))
        gtk_list_box_remove(GTK_LIST_BOX(s->list), row);
    for (guint i = 0; i < s->items->len; i++) {
        NinoSearchItem *item = g_ptr_array_index(s->items, i);
        item->score = nino_search_score(item, typed);
    }
    g_ptr_array_sort(s->items, by_score);
    for (guint i = 0; i < s->items->len && i < NINO_SEARCH_SHOWN; i++) {
        const NinoSearchItem *item = g_ptr_array_index(s->items, i);
        if (!item->score)
            break;
        gtk_list_box_append(GTK_LIST_BOX(s->list), search_new_row(item));
    }
    GtkListBoxRow *first = gtk_list_box_get_row_at_index(GTK_LIST_BOX(s->list), 0);
    gtk_list_box_select_row(GTK_LIST_BOX(s->list), first);
    gtk_adjustment_set_value(gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(s->scroller)),
                             0);
}

static void search_choose(Search *s, GtkListBoxRow *row)
{
    if (!row)
        return;
    g_autofree char *key = g_strdup(g_object_get_data(G_OBJECT(row), "key"));
    const NinoSearchFn chosen = s->chosen;
    gpointer user = s->user;
    gtk_popover_popdown(GTK_POPOVER(s->popover));
    chosen(user, key);
}

static void on_search_row(GtkListBox *list, GtkListBoxRow *row, gpointer user)
{
    (void) list;
    search_choose(user, row);
}

static void on_search_activate(GtkSearchEntry *entry, gpointer user)
{
    Search *s = user;
    if (g_strcmp0(s->shown, gtk_editable_get_text(GTK_EDITABLE(entry))) != 0)
        show_matches(s); // typed fast: the entry tells of a change a little later
    search_choose(s, gtk_list_box_get_selected_row(GTK_LIST_BOX(s->list)));
}

static void on_search_changed(GtkSearchEntry *entry, gpointer user)
{
    (void) entry;
    show_matches(user);
}

static void search_leave(Search *s)
{
    void (*const escape)(gpointer) = s->escape;
    gpointer user = s->user;
    gtk_popover_popdown(GTK_POPOVER(s->popover));
    if (escape)
        escape(user);
}

static void on_stop(GtkSearchEntry *entry, gpointer user)
{
    (void) entry;
    search_leave(user);
}

static void select_row(Search *s, GtkListBoxRow *row)
{
    graphene_rect_t box;
    GtkAdjustment *a = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(s->scroller));
    gtk_list_box_select_row(GTK_LIST_BOX(s->list), row);
    if (gtk_widget_compute_bounds(GTK_WIDGET(row), s->list, &box))
        gtk_adjustment_clamp_page(a, box.origin.y, box.origin.y + box.size.height);
}

// Up and down move in the list while the entry keeps the focus.
static gboolean on_search_key(GtkEventControllerKey *k, guint key, guint code, GdkModifierType mods,
                              gpointer user)
{
    Search *s = user;
    (void) k, (void) code, (void) mods;
    if (key == GDK_KEY_Escape) { // wherever the focus is in it
        search_leave(s);
        return TRUE;
    }
    if (key != GDK_KEY_Down && key != GDK_KEY_Up)
        return FALSE;
    GtkListBoxRow *row = gtk_list_box_get_selected_row(GTK_LIST_BOX(s->list));
    const int at = row ? gtk_list_box_row_get_index(row) : -1;
    row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(s->list), at + (key == GDK_KEY_Down ? 1 : -1));
    if (row)
        select_row(s, row);
    return TRUE;
}

static void search_free(gpointer p)
{
    Search *s = p;
    g_ptr_array_unref(s->items);
    g_free(s->shown);
    g_free(s);
}

GtkWidget *nino_search_new(const char *label, GPtrArray *items, NinoSearchFn chosen, gpointer user)
{
    Search *s = g_new0(Search, 1);
    static const NinoEmpty nothing = { .icon = "edit-find-symbolic", .text = N_("Nothing found") };
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, NINO_SPACE_S),
              *none = nino_empty_new(&nothing);
    GtkEventController *keys = gtk_event_controller_key_new();
    *s = (Search){ .popover = gtk_popover_new(),
                   .entry = gtk_search_entry_new(),
                   .list = gtk_list_box_new(),
                   .scroller = gtk_scrolled_window_new(),
                   .items = items,
                   .chosen = chosen,
                   .user = user };
    gtk_widget_add_css_class(s->popover, "nodesearch");
    nino_empty_add_search(none, GTK_EDITABLE(s->entry), N_("Nothing found"));
    gtk_list_box_set_placeholder(GTK_LIST_BOX(s->list), none);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->entry), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                   -1);
    gtk_accessible_update_property(GTK_ACCESSIBLE(s->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   _("Matches"), -1);
    g_object_set(s->entry, "placeholder-text", label, NULL);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(s->scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(s->scroller), s->list);
    gtk_widget_set_size_request(s->scroller, 380, 320);
    gtk_box_append(GTK_BOX(box), s->entry);
    gtk_box_append(GTK_BOX(box), s->scroller);
    gtk_popover_set_child(GTK_POPOVER(s->popover), box);
    gtk_popover_set_has_arrow(GTK_POPOVER(s->popover), FALSE);
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_search_key), s);
    gtk_widget_add_controller(s->popover, keys);
    g_signal_connect(s->entry, "search-changed", G_CALLBACK(on_search_changed), s);
    g_signal_connect(s->entry, "activate", G_CALLBACK(on_search_activate), s);
    g_signal_connect(s->entry, "stop-search", G_CALLBACK(on_stop), s);
    g_signal_connect(s->list, "row-activated", G_CALLBACK(on_search_row), s);
    gtk_search_entry_set_key_capture_widget(GTK_SEARCH_ENTRY(s->entry), s->popover);
    g_object_set_data_full(G_OBJECT(s->popover), "nino-search", s, search_free);
    show_matches(s);
    return s->popover;
}

void nino_search_set_escape(GtkWidget *popover, void (*fn)(gpointer user))
{
    Search *s = g_object_get_data(G_OBJECT(popover), "nino-search");
    s->escape = fn;
}

void nino_search_select(GtkWidget *popover, const char *key)
{
    Search *s = g_object_get_data(G_OBJECT(popover), "nino-search");
    GtkListBoxRow *row;
    for (int i = 0; (row = gtk_list_box_get_row_at_index(GTK_LIST_BOX(s->list), i)); i++)
        if (!g_strcmp0(g_object_get_data(G_OBJECT(row), "key"), key))
            select_row(s, row);
}

// ---- node classes ----------------------------------------------------------------------------

enum { FITS_NOT, FITS, FITS_AS_ANY };

// How a port fits: as itself or as one of any type.
static int port_fit(const char *from, const char *to)
{
    if (!nino_document_types_fit(from, to))
        return FITS_NOT;
    return g_str_equal(from, "*") || g_str_equal(to, "*") ? FITS_AS_ANY : FITS;
}

// The best of the class's ports.
static int class_fit(const nino_node_def *def, const char *type, gboolean from_output)
{
    static const char *const values[] = { "INT", "FLOAT", "STRING", "BOOLEAN", "COMBO", NULL };
    int best = FITS_NOT;
    for (const nino_port *p = from_output ? def->inputs : def->outputs; p && p->key; p++) {
        const char *own = nino_port_type_name(p->type);
        const int fit = from_output ? port_fit(type, own) : port_fit(own, type);
        best = !best || fit == FITS ? fit : best;
    }
    for (const nino_param *p = from_output ? def->params : NULL; p && p->key && best != FITS; p++)
        if (nino_document_types_fit(type, nino_param_type_name(p)))
            best = FITS; // a value can be linked instead of typed
    if (!best && !strcmp(def->key, "PrimitiveNode") && !from_output)
        best = g_strv_contains(values, type) ? FITS : FITS_NOT;
    return !best && !strcmp(def->key, "Reroute") ? FITS_AS_ANY : best;
}

GPtrArray *nino_search_nodes(const char *type, gboolean from_output)
{
    GPtrArray *items = g_ptr_array_new_with_free_func(nino_search_item_free);
    for (const nino_node_def *const *d = nino_node_defs; *d; d++) {
        const nino_node_def *def = *d;
        const int fit = type ? class_fit(def, type, from_output) : FITS;
        if (!fit)
            continue;
        GString *terms = g_string_new(def->key);
        g_string_append_printf(terms, " %s", def->category ? def->category : "");
        for (const nino_alias *a = def->aliases; a && a->name; a++)
            g_string_append_printf(terms, " %s", a->name);
        NinoSearchItem *item = g_new0(NinoSearchItem, 1);
        *item = (NinoSearchItem){ .title = g_strdup(def->title ? def->title : def->key),
                                  .detail = g_strdup(def->category ? def->category : ""),
                                  .key = g_strdup(def->key),
                                  .terms = g_string_free(terms, FALSE),
                                  .rank = fit };
        g_ptr_array_add(items, item);
    }
    return items;
}
