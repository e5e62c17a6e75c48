// ninodes nodes: the node table as a list, a description, JSON, or the reference in Markdown.
#include "commands.h"

#include <string.h>

static const char *type_name(const nino_param *p)
{
    static const char *const names[] = { "bool", "int", "float", "seed", "enum", "string", "file" };
    return names[p->type];
}

static void default_text(const nino_param *p, char *buf, size_t size)
{
    switch (p->type) {
    case NINO_BOOL: snprintf(buf, size, "%s", p->def.b ? "true" : "false"); break;
    case NINO_INT: snprintf(buf, size, "%lld", (long long) p->def.i); break;
    case NINO_FLOAT: snprintf(buf, size, "%g", p->def.f); break;
    case NINO_SEED: snprintf(buf, size, "%llu", (unsigned long long) p->def.u); break;
    case NINO_ENUM: snprintf(buf, size, "%s", p->names[p->def.i]); break;
    case NINO_STRING:
    case NINO_FILE: snprintf(buf, size, "%s", p->def.s ? p->def.s : ""); break;
    }
}

// What values are allowed: "64..4096 step 32", "a, b, c", "file in vae or taesd".
static void range_text(const nino_param *p, const char *or_sign, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = 0;
    if (p->type == NINO_INT)
        snprintf(buf, size, "%lld..%lld step %lld", (long long) p->min.i, (long long) p->max.i,
                 (long long) p->step.i);
    else if (p->type == NINO_FLOAT)
        snprintf(buf, size, "%g..%g step %g", p->min.f, p->max.f, p->step.f);
    else if (p->type == NINO_SEED)
        snprintf(buf, size, "0..18446744073709551615");
    else if (p->type == NINO_FILE)
        n = (size_t) snprintf(buf, size, "file in %s", p->folder ? p->folder : "?");
    const char *const *words = p->type == NINO_ENUM   ? p->names
                               : p->type == NINO_FILE ? p->extra
                                                      : NULL;
    for (int i = 0; words && words[i] && n < size; i++)
        n += (size_t) snprintf(buf + n, size - n, "%s%s", n ? or_sign : "", words[i]);
}

static const char *unit(const nino_param *p) { return p->unit ? p->unit : ""; }

static const char *types_of(const nino_port *p)
{
    return p->types ? p->types : nino_port_type_name(p->type);
}

// The choice that brings an input, "resize_type", as printf's %.*s.
static int outer(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? (int) (dot - key) : 0;
}

// Of a row that grows the first and, in place of the others, the last one.
static const nino_port *next_port(const nino_port *p, const nino_port *all)
{
    const nino_port *q = p + 1;
    const int n = outer(p->key);
    if (!p->grows || p == all || !p[-1].grows || strncmp(p[-1].key, p->key, (size_t) n + 1) != 0)
        return q; // the first of its row, or in none
    while (q->key && q->grows && !strncmp(q->key, p->key, (size_t) n + 1))
        q++;
    return q;
}

// The name to be printed for it: "images.image1 to images.image49".
static const char *port_name(const nino_port *p, const nino_port *next, char *buf, size_t size)
{
    const bool are_many = next > p + 1;
    snprintf(buf, size, "%s%s%s", p->key, are_many ? " to " : "", are_many ? next[-1].key : "");
    return buf;
}

static void ports_text(const char *what, const nino_port *all)
{
    for (const nino_port *p = all, *next; p && p->key; p = next) {
        char name[96];
        next = next_port(p, all);
        printf("  %-7s %-24s %s%s", what, port_name(p, next, name, sizeof(name)), types_of(p),
               p->optional ? ", optional" : "");
        if (p->when)
            printf(", with %.*s %s", outer(p->key), p->key, p->when);
        printf("%s%s\n", p->help ? "  " : "", p->help ? p->help : "");
    }
}

static void cmd_nodes_describe(const nino_node_def *d)
{
    printf("%s: %s (%s)\n%s\n", d->key, d->title ? d->title : d->key,
           d->category ? d->category : "", d->help ? d->help : "");
    ports_text("input", d->inputs);
    for (const nino_param *p = d->params; p && p->key; p++) {
        char def[64], range[400];
        default_text(p, def, sizeof(def));
        range_text(p, "|", range, sizeof(range));
        printf("  param   %-24s %s, default %s%s%s%s%s%s%s%s%s\n", p->key, type_name(p),
               *def ? def : "\"\"", *unit(p) ? " " : "", unit(p), *range ? ", " : "", range,
               p->is_inert ? ", no effect" : "", p->acts_for ? ", acts for " : "",
               p->acts_for ? p->acts_for : "", p->acts_for ? " only" : "");
        if (p->when)
            printf("          %-24s with %.*s %s\n", "", outer(p->key), p->key, p->when);
        if (p->help)
            printf("          %-24s %s\n", "", p->help);
    }
    ports_text("output", d->outputs);
    for (const nino_alias *a = d->aliases; a && a->name; a++)
        printf("  alias   %s%s%s\n", a->name, a->note ? "  " : "", a->note ? a->note : "");
}

// ---- Markdown ----------------------------------------------------------------------------------

// Text of a table cell.
static void cell(const char *s)
{
    for (; s && *s; s++) {
        if (*s == '|')
            putchar('\\');
        putchar(*s == '\n' ? ' ' : *s);
    }
}

// Where a choice brings it.
static void when_markdown(const char *key, const char *when)
{
    if (!when)
        return;
    printf(" (with `%.*s` ", outer(key), key);
    cell(when);
    putchar(')');
}

static void ports_markdown(const char *what, const nino_port *all)
{
    for (const nino_port *p = all, *next; p && p->key; p = next) {
        char name[96];
        next = next_port(p, all);
        printf("| %s | `%s` | %s%s | | | ", what, port_name(p, next, name, sizeof(name)),
               types_of(p), p->optional ? ", optional" : "");
        cell(p->help);
        when_markdown(p->key, p->when);
        printf(" |\n");
    }
}

static void node_markdown(const nino_node_def *d)
{
    printf("\n## %s\n\n", d->key);
    if (d->title && strcmp(d->title, d->key) != 0)
        printf("*%s*. ", d->title);
    if (d->category)
        printf("Category `%s`.", d->category);
    if (d->help)
        printf(" %s", d->help);
    printf("\n");
    if (d->aliases && d->aliases->name) {
        printf("\nAlso known as");
        for (const nino_alias *a = d->aliases; a->name; a++)
            printf("%s `%s`", a == d->aliases ? "" : ",", a->name);
        printf(".\n");
    }
    printf("\n| | name | type | default | values | meaning |\n|---|---|---|---|---|---|\n");
    ports_markdown("in", d->inputs);
    for (const nino_param *p = d->params; p && p->key; p++) {
        char def[64], range[400];
        default_text(p, def, sizeof(def));
        range_text(p, ", ", range, sizeof(range));
        printf("| param | `%s` | %s%s | ", p->key, type_name(p), p->optional ? ", optional" : "");
        cell(def);
        printf("%s%s | ", *unit(p) ? " " : "", unit(p));
        cell(range);
        printf(" | ");
        cell(p->help);
        when_markdown(p->key, p->when);
        if (p->acts_for)
            printf(" (acts for %s only)", p->acts_for);
        printf("%s |\n", p->is_inert ? " (no effect)" : "");
    }
    ports_markdown("out", d->outputs);
}

static void markdown(void)
{
    printf("# Nodes\n\nMade by `ninodes nodes --markdown` from the node table; do not edit.\n");
    for (int i = 0; nino_node_defs[i]; i++)
        node_markdown(nino_node_defs[i]);
}

// ---- JSON --------------------------------------------------------------------------------------

static void ports_json(const char *key, const nino_port *p)
{
    js_open(key, '[');
    for (; p && p->key; p++) {
        js_open(NULL, '{');
        js_text("name", p->key);
        js_text("type", types_of(p));
        js_bool("optional", p->optional);
        js_text("help", p->help);
        if (p->when)
            js_text("when", p->when);
        js_close('}');
    }
    js_close(']');
}

static void number_json(const nino_param *p, const char *key, const nino_default *v)
{
    if (p->type == NINO_INT)
        js_int(key, v->i);
    else
        js_num(key, v->f);
}

static void param_json(const nino_param *p)
{
    js_open(NULL, '{');
    js_text("name", p->key);
    js_text("label", p->label);
    js_text("type", type_name(p));
    js_bool("optional", p->optional);
    js_bool("no_effect", p->is_inert);
    if (p->acts_for)
        js_text("acts_for", p->acts_for);
    if (p->when)
        js_text("when", p->when);
    js_text("unit", p->unit);
    js_text("help", p->help);
    switch (p->type) {
    case NINO_BOOL: js_bool("default", p->def.b); break;
    case NINO_INT:
    case NINO_FLOAT:
        number_json(p, "default", &p->def);
        number_json(p, "min", &p->min);
        number_json(p, "max", &p->max);
        number_json(p, "step", &p->step);
        break;
    case NINO_SEED: js_uint("default", p->def.u); break;
    case NINO_ENUM: js_text("default", p->names[p->def.i]); break;
    case NINO_STRING:
    case NINO_FILE: js_text("default", p->def.s); break;
    }
    if (p->type == NINO_FILE)
        js_text("folder", p->folder);
    const char *const *words = p->type == NINO_ENUM ? p->names : p->extra;
    if (words) {
        js_open("values", '[');
        for (; *words; words++)
            js_text(NULL, *words);
        js_close(']');
    }
    js_close('}');
}

static void node_json(const nino_node_def *d)
{
    js_open(NULL, '{');
    js_text("class_type", d->key);
    js_text("title", d->title);
    js_text("category", d->category);
    js_text("help", d->help);
    js_bool("output_node", d->is_output);
    ports_json("inputs", d->inputs);
    js_open("params", '[');
    for (const nino_param *p = d->params; p && p->key; p++)
        param_json(p);
    js_close(']');
    ports_json("outputs", d->outputs);
    js_open("aliases", '[');
    for (const nino_alias *a = d->aliases; a && a->name; a++)
        js_text(NULL, a->name);
    js_close(']');
    js_close('}');
}

int cmd_nodes(const options *o)
{
    const nino_node_def *only = NULL;
    if (o->n_args) {
        only = nino_node_find(o->arg[0], NULL);
        if (!only) {
            const char *near = nino_node_nearest(o->arg[0]);
            if (nino_node_is_known_unsupported(o->arg[0]))
                say("nodes: %s is known, but not supported yet", o->arg[0]);
            else
                say("nodes: no node called %s%s%s%s", o->arg[0], near ? " (did you mean " : "",
                    near ? near : "", near ? "?)" : "");
            return EXIT_USAGE;
        }
    }
    if (o->json) {
        js_envelope("nodes");
        js_open("nodes", '[');
        for (int i = 0; nino_node_defs[i]; i++)
            if (!only || only == nino_node_defs[i])
                node_json(nino_node_defs[i]);
        js_close(']');
        js_envelope_end();
    } else if (only && o->markdown) {
        node_markdown(only);
    } else if (only) {
        cmd_nodes_describe(only);
    } else if (o->markdown) {
        markdown();
    } else {
        for (int i = 0; nino_node_defs[i]; i++)
            printf("%-34s %s\n", nino_node_defs[i]->key,
                   nino_node_defs[i]->help ? nino_node_defs[i]->help : "");
    }
    return EXIT_OK;
}
