// Issues of a workflow: told, kept and reported in order.
#include "core/workflow/graph_issue.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

struct told {
    nino_issue i;
    struct told *next;
};

static int stage_of(const char *code)
{
    static const char *const never[] = { "unsupported_model", "paid_service", "unsupported_class",
                                         "unknown_class" };
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (!strcmp(code, never[i]))
            return STAGE_NEVER;
    return strcmp(code, "missing_file") != 0 ? STAGE_OTHER : STAGE_FILES;
}

static void keep_issue(nino_issues *c, const nino_issue *i)
{
    const int stage = stage_of(i->code);
    nino_arena *a = c->arena;
    if (!c->report)
        return;
    told *t = a ? nino_arena_alloc(a, sizeof(*t)) : NULL;
    char *text = t ? nino_arena_strdup(a, i->message) : NULL;
    char *input = text ? nino_arena_strdup(a, i->input) : NULL;
    if (!input) { // no room to sort it
        c->report(c->priv, i);
        return;
    }
    t->i = *i;
    t->i.input = input;
    t->i.message = text;
    if (c->last[stage])
        c->last[stage]->next = t;
    else
        c->first[stage] = t;
    c->last[stage] = t;
}

void nino_issue_tell(nino_issues *c, nino_issue_severity severity, const char *code, nino_gnode *n,
                     const char *input, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), nino_tr(c->translate, fmt), ap);
    va_end(ap);
    nino_utf8_printable(text, sizeof(text), text, strlen(text));
    if (severity == NINO_ISSUE_ERROR && n) {
        n->is_broken = true;
        if (!n->is_wanted)
            severity = NINO_ISSUE_WARNING;
    }
    c->n_errors += severity == NINO_ISSUE_ERROR;
    const nino_issue i = { severity,           code, n ? n->id : "",
                           input ? input : "", text, n ? n->class_type : "" };
    keep_issue(c, &i);
}

void nino_issues_report(nino_issues *c)
{
    for (int k = 0; k < N_STAGES; k++)
        for (const told *t = c->first[k]; t; t = t->next)
            c->report(c->priv, &t->i);
}
