// A list of programs, each once.
#include "core/op/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool nino_programs_has(const nino_programs *p, const char *file, const char *options)
{
    for (size_t i = 0; i < p->n; i++)
        if (!strcmp(p->list[i].file, file) && !strcmp(p->list[i].options, options))
            return true;
    return false;
}

void nino_programs_add(nino_programs *p, const char *file, const char *options)
{
    if (nino_programs_has(p, file, options))
        return;
    if (p->n == p->cap) {
        const size_t cap = p->cap ? 2 * p->cap : 16;
        nino_plan_program *list = realloc(p->list, cap * sizeof(*list));
        if (!list) {
            p->is_short = true;
            return;
        }
        p->list = list;
        p->cap = cap;
    }
    nino_plan_program *to = &p->list[p->n++];
    snprintf(to->file, sizeof(to->file), "%s", file);
    snprintf(to->options, sizeof(to->options), "%s", options);
}

void nino_programs_release(nino_programs *p)
{
    free(p->list);
    *p = (nino_programs){ .n = 0 };
}
