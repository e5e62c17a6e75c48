// Reading and checking the workflow of a command line.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

// "NODE.INPUT=N" for every seed of the graph.
static nino_status set_seeds(nino_graph *g, uint64_t seed, nino_error *err)
{
    nino_status st = NINO_OK;
    size_t set = 0;
    const size_t n = nino_graph_nodes(g, NULL, 0);
    nino_graph_node *list = calloc(n + 1, sizeof(*list));
    if (!list)
        return NINO_ERR_NOMEM;
    nino_graph_nodes(g, list, n);
    for (size_t i = 0; i < n && !st; i++)
        for (const nino_param *p = list[i].def ? list[i].def->params : NULL; p && p->key && !st;
             p++) {
            char text[300];
            if (p->type != NINO_SEED)
                continue;
            snprintf(text, sizeof(text), "%s.%s=%llu", list[i].id, p->key,
                     (unsigned long long) seed);
            st = nino_graph_set(g, text, err);
            set++;
        }
    free(list);
    if (!set)
        say("--seed: no node of this workflow has a seed");
    return st;
}

nino_graph *load_graph(const options *o, const char *cmd, int *rc)
{
    nino_error err = { .code = NINO_OK };
    nino_graph *g = nino_graph_load_file(o->arg[0], &err);
    if (!g) {
        *rc = report_error(o, cmd, &err,
                           "WORKFLOW is a ComfyUI workflow, or a picture that holds one");
        if (err.code == NINO_ERR_FORMAT || err.code == NINO_ERR_RANGE)
            *rc = EXIT_WORKFLOW;
        if (err.code == NINO_ERR_IO)
            *rc = EXIT_MISSING;
        return NULL;
    }
    nino_status st = o->has_seed ? set_seeds(g, o->seed, &err) : NINO_OK;
    for (size_t i = 0; i < o->set.n && !st; i++)
        st = nino_graph_set(g, o->set.item[i], &err);
    if (!st)
        return g;
    report_error(o, cmd, &err, "--set NODE.INPUT=VALUE; ninodes nodes CLASS lists the inputs");
    *rc = EXIT_USAGE;
    nino_graph_destroy(&g);
    return NULL;
}

enum { MAX_SAME = 10, MAX_CODES = 32 }; // lines about problems of one kind

typedef struct problems {
    const options *o;
    const char *cmd;
    struct {
        const char *code;
        nino_issue_severity severity;
        size_t n;
    } kind[MAX_CODES];
    size_t errors, missing, places; // places: that cannot be written
    bool only_errors;
    char code[32], message[320], where[160];
} problems;

// Whether people are to see one more problem of the kind.
static bool is_shown(problems *p, const nino_issue *i)
{
    for (size_t k = 0; k < MAX_CODES; k++) {
        if (p->kind[k].n &&
            (strcmp(p->kind[k].code, i->code) || p->kind[k].severity != i->severity))
            continue;
        p->kind[k].code = i->code; // a literal of the library
        p->kind[k].severity = i->severity;
        return p->kind[k].n++ < MAX_SAME;
    }
    return true;
}

static void say_hidden(const problems *p)
{
    for (size_t k = 0; k < MAX_CODES && p->kind[k].n; k++)
        if (p->kind[k].n > MAX_SAME && (p->kind[k].severity == NINO_ISSUE_ERROR || !p->o->quiet))
            say("%s: and %zu more %s of this kind (%s)", p->cmd, p->kind[k].n - MAX_SAME,
                p->kind[k].severity == NINO_ISSUE_ERROR ? "errors" : "warnings", p->kind[k].code);
}

static void load_issue(void *priv, const nino_issue *i)
{
    problems *p = priv;
    const bool is_error = i->severity == NINO_ISSUE_ERROR;
    if (!is_error && p->only_errors)
        return;
    char where[160];
    snprintf(where, sizeof(where), "%s%s%s%s%s", i->node, *i->class_type ? " " : "", i->class_type,
             *i->input ? "." : "", i->input);
    if (is_error && !p->errors++) {
        snprintf(p->code, sizeof(p->code), "%s", i->code);
        snprintf(p->message, sizeof(p->message), "%s", i->message);
        memcpy(p->where, where, sizeof(where));
    }
    p->missing += is_error && !strcmp(i->code, "missing_file");
    p->places += is_error && !strcmp(i->code, "io");
    if (is_shown(p, i) && (is_error || !p->o->quiet))
        say("%s: %s: %s%s%s (%s)", p->cmd, is_error ? "error" : "warning", where,
            *where ? ": " : "", i->message, i->code);
    if (!p->o->json)
        return;
    js_line("event/1", "issue");
    js_text("severity", is_error ? "error" : "warning");
    js_text("code", i->code);
    js_text("node", i->node);
    js_text("class_type", i->class_type);
    js_text("input", i->input);
    js_text("message", i->message);
    js_end();
}

static int load_check(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx,
                      bool only_errors)
{
    problems p = { .o = o, .cmd = cmd, .only_errors = only_errors };
    const size_t errors = nino_graph_check(g, ctx, load_issue, &p);
    say_hidden(&p);
    if (!errors)
        return EXIT_OK;
    const bool is_missing = p.missing == errors, is_place = p.places == errors;
    if (o->json)
        js_envelope_error(cmd, p.code, p.message, p.where,
                          is_missing ? "--models DIR and --input DIR say where to look"
                          : is_place ? "--output DIR says where results go"
                                     : NULL);
    return is_missing ? EXIT_MISSING : is_place ? EXIT_RUN : EXIT_WORKFLOW;
}

int check_graph(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx)
{
    return load_check(o, cmd, g, ctx, false);
}

int check_graph_errors(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx)
{
    return load_check(o, cmd, g, ctx, true);
}
