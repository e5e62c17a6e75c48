// Names for the values of widgets_values. The order is what the file itself says, that of the node
// table or of one of its former versions, or that of the known classes; which one is decided by the
// number of values and by their types.
#include "core/workflow/ui.h"

#include <math.h>
#include <string.h>

#include "core/node/table/known.h"
#include "core/node/param.h"

// ---- what widgets a node has -----------------------------------------------------------------

static bool is_seed_name(const char *s) { return !strcmp(s, "seed") || !strcmp(s, "noise_seed"); }

static nino_ui_widget widget_of(const nino_param *p)
{
    static const char kinds[] = {
        [NINO_BOOL] = 'b', [NINO_INT] = 'i',    [NINO_FLOAT] = 'f', [NINO_SEED] = 'i',
        [NINO_ENUM] = 'e', [NINO_STRING] = 's', [NINO_FILE] = 'e'
    };
    const bool is_seed =
        p->type == NINO_SEED || p->control_slot || (p->type == NINO_INT && is_seed_name(p->key));
    return (nino_ui_widget){ p->key, kinds[p->type],
                             is_seed          ? '+'
                             : p->upload_slot ? '^'
                                              : ':',
                             NULL, false };
}

static bool from_def(nino_ui *ui, const nino_node_def *def, nino_ui_widgets *out)
{
    size_t n = 1;
    for (const nino_param *p = def->params; p && p->key; p++)
        n++;
    out->list = nino_arena_alloc(ui->arena, n * sizeof(*out->list));
    for (const nino_param *p = def->params; out->list && p && p->key; p++)
        out->list[out->n++] = widget_of(p);
    return out->list;
}

// "i+seed i:steps" of the table of known classes.
static bool from_known(nino_ui *ui, const char *text, nino_ui_widgets *out)
{
    size_t n = 1;
    for (const char *c = text; *c; c++)
        n += *c == ' ';
    char *names = nino_arena_strdup(ui->arena, text);
    out->list = nino_arena_alloc(ui->arena, n * sizeof(*out->list));
    if (!names || !out->list)
        return false;
    while (*names) {
        const size_t len = strcspn(names, " ");
        char *next = names + len + (names[len] == ' ');
        names[len] = 0;
        out->list[out->n++] = (nino_ui_widget){ names + 2, names[0], names[1], NULL, false };
        names = next;
    }
    return true;
}

static bool is_upload(const char *type) // IMAGEUPLOAD, AUDIOUPLOAD
{
    const size_t n = strlen(type);
    return n >= 6 && !strcmp(type + n - 6, "UPLOAD");
}

bool nino_ui_is_dynamic(const char *class_type, const char *key)
{
    const nino_known_class *known = nino_known_class_find(class_type);
    const size_t n = strlen(key);
    for (const char *w = known ? known->widgets : ""; *w;) {
        const size_t len = strcspn(w, " ");
        if (w[0] == 'd' && len == n + 2 && !memcmp(w + 2, key, n))
            return true;
        w += len + (w[len] == ' ');
    }
    return false;
}

// Newer files name every widget among the inputs.
static bool from_file(nino_ui *ui, const nino_ui_node *node, nino_ui_widgets *out)
{
    out->list = nino_arena_alloc(ui->arena, (size_t) node->n_ports * sizeof(*out->list));
    for (int32_t i = 0; out->list && i < node->n_ports; i++) {
        const char *name = node->ports[i].widget;
        const nino_param *p = name && node->def ? nino_param_find(node->def, name) : NULL;
        if (name && is_upload(node->ports[i].type)) { // a button
            if (out->n)
                out->list[out->n - 1].mark = '^';
        } else if (p)
            out->list[out->n++] = widget_of(p);
        else if (name)
            out->list[out->n++] =
                (nino_ui_widget){ name, '?', is_seed_name(name) ? '+' : ':', NULL, false };
    }
    return out->list;
}

static bool has_widget(const nino_ui_widgets *w, const char *name)
{
    for (int32_t i = 0; i < w->n; i++)
        if (!strcmp(w->list[i].name, name))
            return true;
    return false;
}

// The same names: then the table knows their order better than an old file, which lists only what
// was turned into an input, in the order in which that happened.
static bool same_names(const nino_ui_widgets *a, const nino_ui_widgets *b)
{
    bool same = a->n == b->n;
    for (int32_t i = 0; i < a->n && same; i++)
        same = has_widget(b, a->list[i].name);
    return same;
}

// ---- values ----------------------------------------------------------------------------------

// Could this value be one of such a widget?
static bool ui_bind_fits(char kind, const nino_json *v)
{
    double d;
    switch (v->type) {
    case NINO_JSON_NULL: return true;
    case NINO_JSON_BOOL: return kind == 'b' || kind == 'e' || kind == 'x' || kind == '?';
    case NINO_JSON_NUMBER:
        nino_json_double(v, &d);
        return kind == 'i' ? d == rint(d) : kind != 'b' && kind != 's' && kind != 'd';
    case NINO_JSON_STRING:
        return kind == 's' || kind == 'd' || kind == 'e' || kind == 'x' || kind == '?';
    case NINO_JSON_ARRAY:
    case NINO_JSON_OBJECT: return kind == 'x' || kind == '?';
    }
    return false;
}

bool nino_ui_is_control(const char *s)
{
    return !strcmp(s, "fixed") || !strcmp(s, "increment") || !strcmp(s, "decrement") ||
           !strcmp(s, "randomize") || !strcmp(s, "increment-wrap");
}

// Is v the entry that follows a seed or an upload, and not the next widget's value?
static bool is_slot(char mark, const nino_json *v, char next_kind)
{
    const char *s = nino_json_str(v);
    if (mark == '+') // the first editors kept a switch there
        return s ? nino_ui_is_control(s) : v->type == NINO_JSON_BOOL && next_kind != 'b';
    return mark == '^' && s &&
           (!*s || !strcmp(s, "image") || !strcmp(s, "video") || !strcmp(s, "audio"));
}

// Deals out values from v on. Returns false when one does not fit.
static bool deal(nino_ui_widgets *w, nino_json *v)
{
    bool all_fit = true;
    w->n_used = 0;
    w->is_complete = true;
    for (int32_t i = 0; i < w->n; i++) {
        nino_ui_widget *to = &w->list[i];
        if (to->is_linked)
            continue;
        to->value = v;
        if (!v) {
            w->is_complete = false;
            continue;
        }
        all_fit = all_fit && ui_bind_fits(to->kind, v);
        w->n_used++;
        v = v->next;
        if (v && is_slot(to->mark, v, i + 1 < w->n ? to[1].kind : 0)) {
            w->n_used++;
            v = v->next;
        }
    }
    return all_fit;
}

// A former order: "-" or "-b" is a value that no input has any more.
static bool deal_order(nino_ui *ui, const nino_node_def *def, const nino_widget_order *order,
                       nino_json *v, int32_t n_values, nino_ui_widgets *out, bool *failed)
{
    int32_t n = 0;
    nino_ui_widgets w = { 0 };
    while (order->keys[n])
        n++;
    if (n != n_values)
        return false;
    w.list = nino_arena_alloc(ui->arena, (size_t) n * sizeof(*w.list));
    if (!w.list) {
        *failed = true;
        return false;
    }
    for (int32_t i = 0; i < n; i++, v = v->next) {
        const char *key = order->keys[i];
        const nino_param *p = nino_param_find(def, key);
        if (!p && key[0] == '-' && key[1] && !ui_bind_fits(key[1], v))
            return false;
        if (!p)
            continue;
        w.list[w.n] = widget_of(p);
        w.list[w.n].value = v;
        if (!ui_bind_fits(w.list[w.n++].kind, v))
            return false;
    }
    w.n_used = n;
    w.is_complete = true;
    *out = w;
    return true;
}

// widgets_values as an object: by name, as some packs of nodes write it.
static bool ui_bind_by_name(nino_ui *ui, const nino_json *values, nino_ui_widgets *w)
{
    const bool is_open = !w->n; // nothing is known: take them all
    if (is_open && !(w->list = nino_arena_alloc(ui->arena, values->count * sizeof(*w->list))))
        return false;
    for (nino_json *v = values->child; v; v = v->next)
        if (is_open && v->type != NINO_JSON_OBJECT && strlen(v->key) == v->key_len)
            w->list[w->n++] = (nino_ui_widget){ v->key, '?', ':', v, false };
    for (int32_t i = 0; i < w->n && !is_open; i++)
        w->list[i].value = (nino_json *) nino_json_get(values, w->list[i].name);
    w->n_used = (int32_t) values->count;
    return true;
}

// Widgets of a node in a group that get their value from a neighbour are not among the outer ones.
static void mark_linked(const nino_ui *ui, const nino_ui_node *n, nino_ui_widgets *w)
{
    for (int32_t k = 0; k < n->n_ports; k++)
        for (int32_t i = 0; n->ports[k].widget && i < w->n; i++)
            if (!strcmp(w->list[i].name, n->ports[k].widget) && n->ports[k].link >= 0 &&
                ui->links[n->ports[k].link].origin >= 0)
                w->list[i].is_linked = true;
}

// ---- choosing --------------------------------------------------------------------------------

bool nino_ui_bind(nino_ui *ui, const nino_ui_node *n, nino_json *values, int32_t from,
                  nino_ui_widgets *out)
{
    const nino_known_class *known = n->def ? NULL : nino_known_class_find(n->type);
    nino_ui_widgets named = { 0 };
    bool failed = false;
    *out = (nino_ui_widgets){ 0 };
    if (n->def ? !from_def(ui, n->def, out) : known && !from_known(ui, known->widgets, out))
        return false;
    if (!n->def && !known && !from_file(ui, n, out))
        return false;
    if (ui->scopes[n->scope].is_group)
        mark_linked(ui, n, out);
    if (!values || values->type == NINO_JSON_OBJECT)
        return !values || ui_bind_by_name(ui, values, out);
    if (values->type != NINO_JSON_ARRAY)
        return true;
    nino_json *first = (nino_json *) nino_json_at(values, (uint32_t) from);
    // In a group node the values of other nodes follow, so their number says nothing.
    if (ui->scopes[n->scope].is_group) {
        deal(out, first);
        return true;
    }
    const int32_t n_values = (int32_t) values->count;
    if ((n->def || known) && !from_file(ui, n, &named))
        return false;
    if (named.n && !same_names(&named, out) && deal(&named, first) && named.is_complete &&
        named.n_used == n_values) {
        *out = named;
        return true;
    }
    if (deal(out, first) && out->is_complete && out->n_used == n_values)
        return true;
    const nino_widget_order *o = n->def ? n->def->orders : NULL;
    for (; o && o->keys; o++)
        if (deal_order(ui, n->def, o, first, n_values, out, &failed))
            return true;
    return !failed;
}
