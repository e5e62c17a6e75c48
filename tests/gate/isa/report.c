// What has been executed, as lines that `make isa` makes a table of: programs with their kernels, instructions by
// name, what was not known.
#include "tests/gate/isa/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *report_open(void)
{
    const char *path = getenv("NINODES_ISA_REPORT");
    return path && *path ? fopen(path, "a") : NULL;
}

void isa_report_launch(const char *kernel, const char *options, bool is_given, uint64_t n_insns,
                       const char *err)
{
    FILE *f = report_open();
    if (err)
        fprintf(stderr, "isa: %s\n", err);
    if (!f)
        return;
    fprintf(f, "launch\t%s\t%s\t%llu\t%s\n", kernel, options, (unsigned long long) n_insns,
            is_given ? "object" : "source");
    if (err)
        fprintf(f, "error\t%s\t%s\n", options, err);
    fclose(f);
}

static const isa_kernel *kernel_at(const isa_program *p, uint64_t address)
{
    const isa_kernel *best = NULL;
    for (const isa_kernel *k = p->kernels; k; k = k->next)
        if (k->entry <= address && (!best || k->entry > best->entry))
            best = k;
    return best;
}

// Of the kernels that were launched: how much of each was come to; and every name with how often.
void isa_report_program(const isa_program *p, const char *options)
{
    FILE *f = report_open();
    char name[48];
    for (const isa_kernel *k = f ? p->kernels : NULL; k; k = k->next) {
        size_t n = 0, n_run = 0;
        for (size_t i = 0; i < p->n_insns; i++) {
            const isa_insn *at = &p->insns[i];
            const bool is_end = at->what && !strcmp(at->what->name, "s_code_end");
            if (is_end || kernel_at(p, at->address) != k)
                continue;
            n++;
            n_run += at->n_run > 0;
        }
        if (n_run)
            fprintf(f, "kernel\t%s\t%s\t%zu\t%zu\n", k->name, options, n, n_run);
    }
    for (size_t i = 0; f && i < p->n_insns; i++) {
        const isa_insn *at = &p->insns[i];
        snprintf(name, sizeof(name), "%.*s", (int) strcspn(at->text, " "), at->text);
        if (!at->what)
            fprintf(f, "unknown\t%s\t%s\n", name, at->text);
        else if (at->n_run)
            fprintf(f, "insn\t%s\t%llu\n", name, (unsigned long long) at->n_run);
    }
    if (f)
        fclose(f);
}
