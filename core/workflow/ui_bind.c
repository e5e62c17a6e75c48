// Names for the values of widgets_values. The order is what the file itself says, that of the node
// table or of one of its former versions, or that of the known classes; which one is decided by the
// number of values and by their types.
#include "core/workflow/ui.h"

#include <math.h>
#include <stdio.h>
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
    return (nino_ui_widget){ .name = p->key,
                             .kind = kinds[p->type],
                             .mark = is_seed          ? '+'
                                     : p->upload_slot ? '^'
                                                      : ':' };
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

// Has the class widgets that its parameters do not say: those of a choice, a box of numbers?
static bool needs_notation(const nino_node_def *def)
{
    for (const nino_param *p = def->params; p && p->key; p++)
        if (p->when)
            return true;
    for (const nino_port *p = def->inputs; p && p->key; p++)
        if (p->when || p->type == NINO_PORT_BOUNDING_BOX)
            return true;
    return false;
}

// Puts the words of the notation behind the first `at` widgets; there is room for all of a class.
static bool add_known(nino_ui *ui, const char *words, int32_t at, nino_ui_widgets *out)
{
    nino_known_widget k;
    const char *rest = words;
    int32_t n = 0;
    while (nino_known_next(&rest, &k))
        n++;
    if (n > out->room - out->n)
        return true; // a choice that was made twice
    memmove(out->list + at + n, out->list + at, (size_t) (out->n - at) * sizeof(*out->list));
    out->n += n;
    for (; nino_known_next(&words, &k); at++) {
        char *name = nino_arena_alloc(ui->arena, k.len + 1);
        if (!name)
            return false;
        nino_known_name(&k, name, k.len + 1);
        out->list[at] =
            (nino_ui_widget){ .name = name, .kind = k.kind, .mark = k.mark, .options = k.options };
    }
    return true;
}

static bool from_known(nino_ui *ui, const char *text, nino_ui_widgets *out)
{
    out->room = (int32_t) nino_known_count(text);
    out->list = nino_arena_alloc(ui->arena, ((size_t) out->room + 1) * sizeof(*out->list));
    return out->list && add_known(ui, text, 0, out);
}

// A choice that was made brings its widgets.
static bool open_choice(nino_ui *ui, nino_ui_widgets *w, int32_t i)
{
    const char *key = w->list[i].options ? nino_json_str(w->list[i].value) : NULL;
    const char *words = key ? nino_known_option(w->list[i].options, key) : NULL;
    return !words || add_known(ui, words, i + 1, w);
}

static bool is_upload(const char *type) // IMAGEUPLOAD, AUDIOUPLOAD
{
    const size_t n = strlen(type);
    return n >= 6 && !strcmp(type + n - 6, "UPLOAD");
}

bool nino_ui_is_dynamic(const char *class_type, const char *key)
{
    const nino_known_class *known = nino_known_class_find(class_type);
    const char *words = known ? known->widgets : "";
    nino_known_widget w;
    while (nino_known_next(&words, &w)) // none is part of a choice
        if (w.kind == 'd' && w.len == strlen(key) && !memcmp(w.name, key, w.len))
            return true;
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
            out->list[out->n++] = (nino_ui_widget){ .name = name,
                                                    .kind = '?',
                                                    .mark = is_seed_name(name) ? '+' : ':' };
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

// Those of the class, or those that the file names where nobody knows it.
static bool widgets_of(nino_ui *ui, const nino_ui_node *n, const nino_known_class *known,
                       nino_ui_widgets *out)
{
    *out = (nino_ui_widgets){ 0 };
    if (known && (!n->def || needs_notation(n->def)))
        return from_known(ui, known->widgets, out);
    return n->def ? from_def(ui, n->def, out) : from_file(ui, n, out);
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
        return kind == 'i' ? d == rint(d) : !strchr("bsdc", kind);
    case NINO_JSON_STRING: return strchr("sdecx?", kind) != NULL;
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

// Behind the entries that belong to a value and are no input.
static nino_json *skip_slots(nino_ui_widgets *w, char mark, nino_json *v, char next_kind)
{
    int most = mark == '#' ? 4 : v && is_slot(mark, v, next_kind) ? 1 : 0;
    for (; v && most && (mark != '#' || v->type == NINO_JSON_NUMBER); most--, v = v->next)
        w->n_used++;
    return v;
}

// Deals out values from v on. *fits becomes false when one does not fit; false: out of memory.
static bool deal(nino_ui *ui, nino_ui_widgets *w, nino_json *v, bool *fits)
{
    *fits = true;
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
        *fits = *fits && ui_bind_fits(to->kind, v);
        w->n_used++;
        if (!open_choice(ui, w, i))
            return false;
        v = skip_slots(w, to->mark, v->next, i + 1 < w->n ? to[1].kind : 0);
    }
    return true;
}

// The same for a whole list of values. *all: every one has a name and fits it.
static bool deal_all(nino_ui *ui, nino_ui_widgets *w, nino_json *first, int32_t n_values, bool *all)
{
    if (!deal(ui, w, first, all))
        return false;
    *all = *all && w->is_complete && w->n_used == n_values;
    return true;
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

// What editors and packs keep among the values of a node; no class has an input for it.
bool nino_ui_is_extra(const char *name)
{
    static const char *const extras[] = {
        "control_after_generate",
        "control_before_generate",
        "upload",
        "choose file to upload",
        "choose video to upload",
        "refresh",
        "Update inputs",
        "video-preview",
        "videopreview",
        "audioUI",
        "preview",
        "previewMode",
        "rgthree_comparer",
        "vhs_gif_preview__0",
        "text_0",
        "PowerLoraLoaderHeaderWidget",
        "\xe2\x9e\x95 Add Lora",
    };
    for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
        if (!strcmp(name, extras[i]))
            return true;
    return !strncmp(name, "$$", 2);
}

// Values by name: widgets_values as an object, as some packs of nodes write it, or
// widgets_values_named beside a list, which counts where both have as many entries.
static bool ui_bind_by_name(nino_ui *ui, const nino_json *names, const nino_json *list,
                            nino_ui_widgets *w)
{
    const bool is_open = !w->n; // nothing is known: take them all
    const bool has_list = list && list->type == NINO_JSON_ARRAY && list->count == names->count;
    nino_json *at = has_list ? list->child : NULL;
    if (is_open && !(w->list = nino_arena_alloc(ui->arena, names->count * sizeof(*w->list))))
        return false;
    for (nino_json *v = names->child; v && is_open; v = v->next) {
        if (v->type != NINO_JSON_OBJECT && strlen(v->key) == v->key_len &&
            !nino_ui_is_extra(v->key))
            w->list[w->n++] =
                (nino_ui_widget){ .name = v->key, .kind = '?', .mark = ':', .value = at ? at : v };
        at = at ? at->next : NULL;
    }
    for (int32_t i = 0; i < w->n && !is_open; i++) {
        const nino_json *v = nino_json_get(names, w->list[i].name);
        at = has_list ? list->child : NULL;
        for (const nino_json *k = names->child; v && at && k && k != v; k = k->next)
            at = at->next;
        w->list[i].value = at && v ? at : (nino_json *) v;
        if (!open_choice(ui, w, i))
            return false;
    }
    w->n_used = (int32_t) names->count;
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

// A combo that became a dynamic one has moved its neighbours below it: "format.codec" is the
// "codec" of before, and has that name here while nothing stands below it.
static void use_old_names(const nino_ui_node *n, nino_ui_widgets *w)
{
    for (int32_t i = 0; n->def && i < w->n; i++) {
        const char *name = w->list[i].name, *dot = strrchr(name, '.');
        const size_t len = strlen(name);
        bool is_alone = dot && !nino_param_find(n->def, name) && nino_param_find(n->def, dot + 1);
        for (int32_t k = 0; k < w->n && is_alone; k++)
            is_alone = strncmp(w->list[k].name, name, len) != 0 || w->list[k].name[len] != '.';
        if (is_alone)
            w->list[i].name = dot + 1;
    }
}

// Orders that a list may have beside that of the class, first the one of newer programs. *found:
// it is one of them, and *out says so.
static bool try_orders(nino_ui *ui, const nino_ui_node *n, const nino_known_class *known,
                       nino_json *first, int32_t n_values, nino_ui_widgets *out, bool *found)
{
    nino_ui_widgets now = { 0 };
    bool failed = false;
    const nino_widget_order *o = n->def ? n->def->orders : NULL;
    if (n->def && known) {
        if (!from_known(ui, known->widgets, &now) || !deal_all(ui, &now, first, n_values, found))
            return false;
        if (*found)
            *out = now;
    }
    for (; o && o->keys && !*found && !failed; o++)
        *found = deal_order(ui, n->def, o, first, n_values, out, &failed);
    return !failed;
}

static bool bind_list(nino_ui *ui, const nino_ui_node *n, const nino_known_class *known,
                      nino_json *values, nino_json *first, nino_ui_widgets *out)
{
    const nino_json *names = nino_json_get(n->json, "widgets_values_named");
    const int32_t n_values = (int32_t) values->count;
    const bool is_known = n->def || known;
    nino_ui_widgets named = { 0 }, other = { 0 };
    bool fits = false;
    names = names && names->type == NINO_JSON_OBJECT && names->count ? names : NULL;
    if (!is_known && names) {
        out->n = 0;
        return ui_bind_by_name(ui, names, values, out);
    }
    if (is_known && !from_file(ui, n, &named))
        return false;
    if (named.n && !same_names(&named, out)) {
        if (!deal_all(ui, &named, first, n_values, &fits))
            return false;
        if (fits) {
            *out = named;
            return true;
        }
    }
    if (!deal_all(ui, out, first, n_values, &fits))
        return false;
    if (!fits && !try_orders(ui, n, known, first, n_values, &other, &fits))
        return false;
    if (fits && other.list)
        *out = other;
    // The list fits nothing that is known of the class: its names count, and what they choose.
    return fits || !names ||
           (widgets_of(ui, n, known, out) && ui_bind_by_name(ui, names, values, out));
}

// What the list of names has beside the class's own, for one that takes it.
static bool bind_others(nino_ui *ui, const nino_json *names, nino_ui_widgets *w)
{
    nino_ui_widget *all =
        nino_arena_alloc(ui->arena, ((size_t) w->n + names->count + 1) * sizeof(*all));
    if (!all)
        return false;
    if (w->n)
        memcpy(all, w->list, (size_t) w->n * sizeof(*all));
    w->list = all;
    for (nino_json *v = names->child; v; v = v->next)
        if (v->type != NINO_JSON_OBJECT && v->type != NINO_JSON_ARRAY &&
            strlen(v->key) == v->key_len && !nino_ui_is_extra(v->key) && !has_widget(w, v->key))
            w->list[w->n++] =
                (nino_ui_widget){ .name = v->key, .kind = '?', .mark = ':', .value = v };
    return true;
}

// Objects of the list that name a LoRA are "lora_1", "lora_2" ...; the rest is decoration.
static bool from_lora_objects(nino_ui *ui, nino_json *values, nino_ui_widgets *out)
{
    enum { MOST_NAME = 24 };
    out->list = nino_arena_alloc(ui->arena, ((size_t) values->count + 1) * sizeof(*out->list));
    for (nino_json *v = values->child; out->list && v; v = v->next) {
        if (v->type != NINO_JSON_OBJECT || !nino_json_get(v, "lora"))
            continue;
        char *name = nino_arena_alloc(ui->arena, MOST_NAME);
        if (!name)
            return false;
        snprintf(name, MOST_NAME, "lora_%d", (int) out->n + 1);
        out->list[out->n++] =
            (nino_ui_widget){ .name = name, .kind = 'x', .mark = ':', .value = v };
    }
    out->n_used = (int32_t) values->count;
    return out->list;
}

bool nino_ui_bind(nino_ui *ui, const nino_ui_node *n, nino_json *values, int32_t from,
                  nino_ui_widgets *out)
{
    const nino_known_class *known = nino_known_class_find(n->type);
    bool fits;
    *out = (nino_ui_widgets){ 0 };
    if (n->kind == NINO_UI_INSTANCE && !ui->scopes[n->inner].is_group)
        return nino_ui_bind_instance(ui, n, out);
    if (n->def && n->def->ops && n->def->ops->has_lora_objects && values &&
        values->type == NINO_JSON_ARRAY)
        return from_lora_objects(ui, values, out);
    if (!widgets_of(ui, n, known, out))
        return false;
    if (ui->scopes[n->scope].is_group)
        mark_linked(ui, n, out);
    const nino_json *names = nino_json_get(n->json, "widgets_values_named");
    if (values == n->values && names && names->type == NINO_JSON_OBJECT &&
        (!values || values->type == NINO_JSON_NULL))
        return ui_bind_by_name(ui, names, NULL, out);
    if (!values || (values->type != NINO_JSON_OBJECT && values->type != NINO_JSON_ARRAY))
        return true;
    if (values->type == NINO_JSON_OBJECT && !ui_bind_by_name(ui, values, NULL, out))
        return false;
    if (values->type == NINO_JSON_OBJECT && n->def && n->def->ops && n->def->ops->takes_extra &&
        !bind_others(ui, values, out))
        return false;
    nino_json *first = values->type == NINO_JSON_ARRAY
                           ? (nino_json *) nino_json_at(values, (uint32_t) from)
                           : NULL;
    // In a group node the values of other nodes follow, so their number says nothing.
    if (values->type == NINO_JSON_ARRAY && ui->scopes[n->scope].is_group)
        return deal(ui, out, first, &fits);
    if (values->type == NINO_JSON_ARRAY && !bind_list(ui, n, known, values, first, out))
        return false;
    use_old_names(n, out);
    return true;
}
