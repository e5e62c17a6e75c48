// Use Everywhere: nodes of the editor that offer what they are connected to to every open input of
// its type. Their links are made up here, as the editor makes them when it queues, so that from
// then on they are like any other. Behaviour of the pack cg-use-everywhere.
#include "core/workflow/ui.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_LIMIT 100000 // steps of one search: patterns may take exponential time

// One thing that is offered.
typedef struct offer {
    const nino_ui_node *by;
    const char *name; // of the broadcaster's input
    const char *type;
    int32_t origin, slot;                 // as in nino_ui_link
    const char *title, *input, *group;    // patterns, "" for any
    bool not_title, not_input, not_group; // the opposite
    int64_t same_group, same_color;       // 0 no matter, 1 the same, 2 another
    int64_t repeated;                     // rule for several inputs of one type, -1: none
    bool to_combo, to_any;
    int64_t priority;
} offer;

typedef struct everywhere {
    nino_ui *ui;
    int32_t scope;
    offer *offers;
    int32_t n;
} everywhere;

bool nino_ui_is_broadcaster(const char *type)
{
    return !strncmp(type, "Anything Everywhere", 19) || !strcmp(type, "Prompts Everywhere");
}

static bool is_seed(const char *type) { return !strcmp(type, "Seed Everywhere"); }

// ---- patterns --------------------------------------------------------------------------------

static bool matches(const char *pattern, const char *text)
{
    int code = 0;
    size_t at = 0;
    bool yes = false;
    pcre2_code *re =
        pcre2_compile((PCRE2_SPTR) pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &at, NULL);
    pcre2_match_data *md = re ? pcre2_match_data_create_from_pattern(re, NULL) : NULL;
    pcre2_match_context *mc = md ? pcre2_match_context_create(NULL) : NULL;
    if (mc) {
        pcre2_set_match_limit(mc, MATCH_LIMIT);
        yes = pcre2_match(re, (PCRE2_SPTR) text, strlen(text), 0, 0, md, mc) >= 0;
    }
    pcre2_match_context_free(mc);
    pcre2_match_data_free(md);
    pcre2_code_free(re);
    return yes;
}

static bool passes(const char *pattern, bool is_inverse, const char *text)
{
    return !*pattern || matches(pattern, text) != is_inverse;
}

// ---- what the file says ----------------------------------------------------------------------

static const nino_json *properties_of(const nino_ui_node *n)
{
    const nino_json *p = nino_json_get(n->json, "properties");
    const nino_json *ue = nino_json_get(p, "ue_properties");
    return ue && ue->type == NINO_JSON_OBJECT ? ue : p;
}

static const char *text_of(const nino_json *obj, const char *key)
{
    const char *s = nino_json_str(nino_json_get(obj, key));
    return s ? s : "";
}

// 0, 1, 2, or a switch.
static int64_t number_of(const nino_json *obj, const char *key, int64_t otherwise)
{
    const nino_json *v = nino_json_get(obj, key);
    int64_t i = otherwise;
    bool b = false;
    if (v && nino_json_bool(v, &b))
        return b;
    return v && nino_json_i64(v, &i) ? i : otherwise;
}

static bool flag_of(const nino_json *obj, const char *key) { return number_of(obj, key, 0) != 0; }

static const char *value_at(const nino_ui_node *n, uint32_t i)
{
    const nino_json *v =
        n->values && n->values->type == NINO_JSON_ARRAY ? nino_json_at(n->values, i) : NULL;
    const char *s = nino_json_str(v);
    return s ? s : "";
}

// ---- groups ----------------------------------------------------------------------------------

static bool number_at(const nino_json *list, uint32_t i, double *out)
{
    if (list && list->type == NINO_JSON_OBJECT) { // {"0": x, "1": y}
        char key[8];
        snprintf(key, sizeof(key), "%u", (unsigned) i);
        return nino_json_double(nino_json_get(list, key), out);
    }
    const nino_json *v = nino_json_at(list, i);
    return v && nino_json_double(v, out);
}

// Does the middle of the node's title lie in this group?
static bool is_inside(const nino_ui_node *n, const nino_json *group)
{
    const nino_json *pos = nino_json_get(n->json, "pos"), *box = nino_json_get(group, "bounding");
    double x, y, b[4];
    if (!number_at(pos, 0, &x) || !number_at(pos, 1, &y))
        return false;
    for (uint32_t i = 0; i < 4; i++)
        if (!number_at(box, i, &b[i]))
            return false;
    return x >= b[0] && x < b[0] + b[2] && y >= b[1] && y < b[1] + b[3];
}

static const nino_json *groups_of(const everywhere *e)
{
    return nino_ui_array(e->ui->scopes[e->scope].json, "groups");
}

static bool share_group(const everywhere *e, const nino_ui_node *a, const nino_ui_node *b)
{
    const nino_json *list = groups_of(e);
    for (const nino_json *g = list ? list->child : NULL; g; g = g->next)
        if (is_inside(a, g) && is_inside(b, g))
            return true;
    return false;
}

static bool has_group(const everywhere *e, const nino_ui_node *n, const char *pattern)
{
    const nino_json *list = groups_of(e);
    for (const nino_json *g = list ? list->child : NULL; g; g = g->next)
        if (is_inside(n, g) && matches(pattern, text_of(g, "title")))
            return true;
    return false;
}

static bool same_color(const nino_ui_node *a, const nino_ui_node *b)
{
    return !strcmp(text_of(a->json, "color"), text_of(b->json, "color"));
}

// ---- offers ----------------------------------------------------------------------------------

static const char *type_of(const everywhere *e, const nino_ui_link *l, const char *otherwise)
{
    const char *s = NULL;
    if (l->origin >= 0)
        s = nino_json_str(nino_json_get(
            nino_json_at(e->ui->nodes[l->origin].outputs, (uint32_t) l->slot), "type"));
    else if (l->origin == NINO_UI_OUTER)
        s = nino_json_str(nino_json_get(
            nino_json_at(e->ui->scopes[e->scope].inputs, (uint32_t) l->slot), "type"));
    if (s && *s && strcmp(s, "*") != 0)
        return s;
    const nino_json *sixth = nino_json_at(l->json, 5);
    s = l->json->type == NINO_JSON_ARRAY ? nino_json_str(sixth)
                                         : nino_json_str(nino_json_get(l->json, "type"));
    return s && *s ? s : otherwise;
}

static void add_offer(everywhere *e, const nino_ui_node *n, const char *name, const char *type,
                      int32_t origin, int32_t slot, int32_t number)
{
    const nino_json *p = properties_of(n);
    offer o = { .by = n,
                .name = name,
                .type = type,
                .origin = origin,
                .slot = slot,
                .title = text_of(p, "title_regex"),
                .input = text_of(p, "input_regex"),
                .group = text_of(p, "group_regex"),
                .not_title = flag_of(p, "title_regex_invert"),
                .not_input = flag_of(p, "input_regex_invert"),
                .not_group = flag_of(p, "group_regex_invert"),
                .same_group = number_of(p, "group_restricted", 0),
                .same_color = number_of(p, "color_restricted", 0),
                .repeated = flag_of(p, "apply_to_unrepeated") ? 0 : -1,
                .to_combo = flag_of(p, "string_to_combo"),
                .to_any = flag_of(p, "send_to_any") };
    const bool is_prompts = !strcmp(n->type, "Prompts Everywhere");
    if (!strcmp(n->type, "Anything Everywhere?")) {
        o.title = *o.title ? o.title : value_at(n, 0);
        o.input = *o.input ? o.input : value_at(n, 1);
        o.group = *o.group ? o.group : value_at(n, 2);
    }
    if (is_prompts && !*o.input)
        o.input = number ? "(_|\\b)neg(ative|_|\\b)" : "(_|\\b)pos(itive|_|\\b)|^prompt";
    if (is_seed(n->type) && !*o.input)
        o.input = "seed";
    for (int32_t i = 0; i < n->n_ports && !is_prompts && o.repeated < 0; i++)
        if (i != number && n->ports[i].link >= 0 &&
            !strcmp(type_of(e, &e->ui->links[n->ports[i].link], n->ports[i].type), type))
            o.repeated = 0;
    const bool has_pattern = *o.title || *o.input || *o.group || o.repeated >= 0;
    if (o.repeated >= 0)
        o.repeated = number_of(p, "repeated_type_rule", 0);
    const int64_t made = 10 + (is_seed(n->type) || is_prompts ? 10 : 0) + (has_pattern ? 20 : 0) +
                         (o.same_group ? 3 : 0) + (o.same_color ? 6 : 0);
    o.priority = number_of(p, "priority", made);
    e->offers[e->n++] = o;
}

// Of a node that has the broadcaster's function beside its own, the outputs are offered.
static void add_outputs(everywhere *e, int32_t node)
{
    const nino_ui_node *n = &e->ui->nodes[node];
    int32_t slot = 0;
    for (const nino_json *o = n->outputs ? n->outputs->child : NULL; o; o = o->next, slot++)
        add_offer(e, n, text_of(o, "name"), text_of(o, "type"), node, slot, slot);
}

static bool converts(const nino_ui_node *n)
{
    return flag_of(nino_json_get(n->json, "properties"), "ue_convert") ||
           flag_of(properties_of(n), "ue_convert");
}

static int32_t count_offers(const everywhere *e)
{
    const nino_ui_scope *s = &e->ui->scopes[e->scope];
    int32_t n = 0;
    for (int32_t i = s->first; i < s->first + s->n_nodes; i++) {
        const nino_ui_node *x = &e->ui->nodes[i];
        if (nino_ui_is_broadcaster(x->type))
            n += x->n_ports;
        else if (is_seed(x->type))
            n++;
        else if (converts(x))
            n += x->outputs ? (int32_t) x->outputs->count : 0;
    }
    return n;
}

static void collect_offers(everywhere *e)
{
    const nino_ui_scope *s = &e->ui->scopes[e->scope];
    for (int32_t i = s->first; i < s->first + s->n_nodes; i++) {
        const nino_ui_node *n = &e->ui->nodes[i];
        if (n->is_muted || n->is_bypassed)
            continue;
        if (is_seed(n->type))
            add_offer(e, n, "seed", "INT", i, 0, 0);
        else if (converts(n) && !nino_ui_is_broadcaster(n->type))
            add_outputs(e, i);
        for (int32_t k = 0; k < n->n_ports && nino_ui_is_broadcaster(n->type); k++) {
            if (n->ports[k].link < 0)
                continue;
            const nino_ui_link *l = &e->ui->links[n->ports[k].link];
            add_offer(e, n, n->ports[k].name, type_of(e, l, n->ports[k].type), l->origin, l->slot,
                      k);
        }
    }
}

// ---- receivers -------------------------------------------------------------------------------

// Editors since 2025 list every widget among the inputs, where only those that are marked take part;
// before, a widget stood there when it had been made a socket.
static bool is_open(const everywhere *e, const nino_ui_node *n, const nino_ui_port *p)
{
    const nino_json *props = nino_json_get(n->json, "properties"), *ue = properties_of(n);
    const nino_json *on = nino_json_get(ue, "widget_ue_connectable");
    const nino_json *off = nino_json_get(ue, "input_ue_unconnectable");
    bool is_old = !nino_json_get(nino_json_get(e->ui->root, "extra"), "frontendVersion");
    if (p->link_id || flag_of(off, p->name) || flag_of(props, "rejects_ue_links"))
        return false;
    if (!on)
        on = nino_json_get(props, "widget_ue_connectable");
    return !p->widget || flag_of(on, p->name) || (is_old && !on);
}

static bool type_fits(const offer *o, const nino_ui_port *p)
{
    if (!strcmp(p->type, o->type))
        return true;
    return (!strcmp(p->type, "*") && o->to_any) ||
           (!strcmp(p->type, "COMBO") && !strcmp(o->type, "STRING") && o->to_combo);
}

static bool repeated_fits(const offer *o, const nino_ui_node *n, const nino_ui_port *p)
{
    const size_t a = strlen(o->name), b = strlen(p->name), least = a < b ? a : b;
    switch (o->repeated) {
    case -1: return true;
    case 0: return !strcmp(o->name, p->name);
    case 1: return !strncmp(o->name, p->name, least);
    case 2: return !strcmp(o->name + a - least, p->name + b - least);
    case 3: return n->title && !strcmp(o->name, n->title);
    default: return matches(o->name, p->name);
    }
}

static bool offer_fits(const everywhere *e, const offer *o, int32_t node, const nino_ui_port *p)
{
    const nino_ui_node *n = &e->ui->nodes[node];
    const char *label = nino_json_str(nino_json_get(p->json, "label"));
    const char *title = n->title ? n->title : n->type;
    if (node == o->origin || !type_fits(o, p) || !repeated_fits(o, n, p))
        return false;
    if (o->same_group && share_group(e, o->by, n) != (o->same_group == 1))
        return false;
    if (o->same_color && same_color(o->by, n) != (o->same_color == 1))
        return false;
    if (*o->group && has_group(e, n, o->group) == o->not_group)
        return false;
    return passes(o->title, o->not_title, title) &&
           passes(o->input, o->not_input, label ? label : p->name);
}

// The one with the highest priority; NULL: none, or several.
static const offer *best_of(const everywhere *e, int32_t node, const nino_ui_port *p)
{
    const offer *best = NULL;
    bool is_tie = false;
    for (int32_t i = 0; i < e->n; i++) {
        const offer *o = &e->offers[i];
        if (!offer_fits(e, o, node, p) || (best && o->priority < best->priority))
            continue;
        is_tie = best && o->priority == best->priority;
        best = o;
    }
    return is_tie ? NULL : best;
}

static void connect(everywhere *e, int32_t node, nino_ui_port *p)
{
    const offer *o = best_of(e, node, p);
    if (!o)
        return;
    p->link = e->ui->n_links;
    p->link_id = "(everywhere)";
    e->ui->links[e->ui->n_links++] = (nino_ui_link){ .json = o->by->json,
                                                     .id = p->link_id,
                                                     .from = o->by->id,
                                                     .origin = o->origin,
                                                     .slot = o->slot,
                                                     .is_offered = true };
}

size_t nino_ui_count_everywhere(const nino_ui *ui)
{
    size_t n = 0;
    for (int32_t s = 0; s < ui->n_scopes; s++) {
        everywhere e = { .ui = (nino_ui *) ui, .scope = s };
        if (!ui->scopes[s].is_group && count_offers(&e))
            for (int32_t i = ui->scopes[s].first; i < ui->scopes[s].first + ui->scopes[s].n_nodes;
                 i++)
                n += (size_t) ui->nodes[i].n_ports;
    }
    return n;
}

bool nino_ui_connect_everywhere(nino_ui *ui, int32_t scope)
{
    const nino_ui_scope *s = &ui->scopes[scope];
    everywhere e = { .ui = ui, .scope = scope };
    const int32_t n = s->is_group ? 0 : count_offers(&e);
    if (!n)
        return true;
    e.offers = nino_arena_alloc(ui->arena, (size_t) n * sizeof(*e.offers));
    if (!e.offers)
        return false;
    collect_offers(&e);
    for (int32_t i = s->first; i < s->first + s->n_nodes; i++) {
        nino_ui_node *x = &ui->nodes[i];
        if (x->is_muted || x->is_bypassed || nino_ui_is_broadcaster(x->type))
            continue;
        for (int32_t k = 0; k < x->n_ports; k++)
            if (is_open(&e, x, &x->ports[k]))
                connect(&e, i, &x->ports[k]);
    }
    return true;
}
