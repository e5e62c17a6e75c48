// Private to core/workflow: what a check of a workflow found, in the reader's language, put into order.
#pragma once
#include "core/workflow/workflow.h"

// What can never run here comes first, files that are missing last: with them it might.
enum { STAGE_NEVER, STAGE_OTHER, STAGE_FILES, N_STAGES };

typedef struct told told;

typedef struct nino_issues {
    nino_arena *arena; // NULL: they are told in the order in which they were found
    nino_translate_fn translate;
    void (*report)(void *priv, const nino_issue *issue); // may be NULL
    void *priv;
    size_t n_errors;
    told *first[N_STAGES], *last[N_STAGES];
} nino_issues;

// n: whose it is, or NULL; an error of one that no output needs becomes a warning. fmt: in English.
__attribute__((format(printf, 6, 7))) void nino_issue_tell(nino_issues *c,
                                                           nino_issue_severity severity,
                                                           const char *code, nino_gnode *n,
                                                           const char *input, const char *fmt, ...);
void nino_issues_report(nino_issues *c);
