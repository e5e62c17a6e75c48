// Tuning of devices that nobody has tuned yet: what is shipped for a profile (data/tune), and how it is made:
// the choices of nino_tune(), weighed by the clock model in place of time.
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/install.h"
#include "core/base/params.h"
#include "core/base/vars.h"
#include "core/harness/kernel_check_priv.h"
#include "core/harness/tune_choices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- files, and those inside the library -------------------------------------------------------

#define TABLES(X) X(gfx1151)

#define X(id)                                                                                      \
    __asm__(".section .rodata\n"                                                                   \
            ".globl nino_tuned_" #id "\n"                                                          \
            ".hidden nino_tuned_" #id "\n"                                                         \
            "nino_tuned_" #id ":\n"                                                                \
            ".incbin \"data/tune/" #id ".json\"\n"                                                 \
            ".globl nino_tuned_" #id "_end\n"                                                      \
            ".hidden nino_tuned_" #id "_end\n"                                                     \
            "nino_tuned_" #id "_end:\n"                                                            \
            ".byte 0\n"                                                                            \
            ".previous\n");                                                                        \
    extern const char nino_tuned_##id[], nino_tuned_##id##_end[];
TABLES(X)
#undef X

static const struct {
    const char *name, *text, *end;
} tables[] = {
#define X(id) { #id, nino_tuned_##id, nino_tuned_##id##_end },
    TABLES(X)
#undef X
};

enum { MAX_TABLE = 65536, MAX_PATH_BYTES = 4200 };

nino_status nino_tuning_shipped(const nino_profile *p, nino_tuning_info *out, nino_error *err)
{
    const char *dirs[] = { nino_vars_get()->profile_dir, nino_data_dir() };
    char path[MAX_PATH_BYTES];
    for (int i = 0; i < 2; i++) {
        char *data = NULL;
        size_t len = 0;
        snprintf(path, sizeof(path), "%s/tune/%s.json", dirs[i], p->name);
        if (!*dirs[i] || access(path, F_OK))
            continue;
        nino_status st = nino_file_read(path, MAX_TABLE, false, &data, &len, err);
        if (!st)
            st = nino_tuning_read(data, len, path, out, err);
        free(data);
        return st;
    }
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (!strcmp(tables[i].name, p->name))
            return nino_tuning_read(tables[i].text, (size_t) (tables[i].end - tables[i].text),
                                    p->name, out, err);
    return nino_fail(err, NINO_ERR_MISSING, p->name, "no tuning is shipped for it");
}

// ---- into a profile ----------------------------------------------------------------------------

static void take(nino_profile *p, const nino_tuning_info *t)
{
    p->tuning = (nino_tuning){ 0 };
    for (const nino_tune_row *r = nino_tune_rows; r->name; r++)
        for (size_t i = 0; i < t->n; i++)
            if (!strcmp(t->choice[i].name, r->name))
                *nino_tune_field(&p->tuning, r) = t->choice[i].value;
}

bool nino_tuning_apply(const char *cache_dir, const nino_device_info *d, nino_profile *p)
{
    nino_tuning_info t;
    if (!nino_is_true(nino_vars_get()->kernel_tuning) || nino_tuning_load(cache_dir, d, &t, NULL))
        return false;
    take(p, &t);
    return true;
}

nino_status nino_tuning_ship(nino_profile *p, nino_error *err)
{
    nino_tuning_info t;
    nino_error mine = { .code = NINO_OK };
    if (!nino_is_true(nino_vars_get()->kernel_tuning))
        return NINO_OK;
    const nino_status st = nino_tuning_shipped(p, &t, &mine);
    if (!st)
        take(p, &t);
    if (!st || st == NINO_ERR_MISSING)
        return NINO_OK;
    if (err)
        *err = mine;
    return st;
}

// ---- by the clock model ------------------------------------------------------------------------

static nino_weight weight_of(const nino_check_case *c)
{
    const bool is_linear = c->op == NINO_OP_LINEAR;
    int rank = 0;
    while (rank < NINO_MAX_RANK && c->src[0][rank])
        rank++;
    return (nino_weight){ .role = is_linear || c->attr.kernel == 1 ? NINO_W_MATRIX : NINO_W_CONV3,
                          .n = c->n,
                          .c = c->src[0][rank - 1],
                          .dtype = c->weight };
}

nino_status nino_tune_ratio(const nino_profile *profile, const nino_tune_row *row, int value,
                            double *out, nino_error *err)
{
    double sum = 0;
    int n = 0;
    for (; n < NINO_MAX_TUNE_CASES && row->cases[n]; n++) {
        const nino_check_case *c = row->cases[n];
        nino_profile p = *profile;
        const nino_weight w = weight_of(c);
        nino_op_desc d = { .op = c->op, .attr = c->attr, .weight = c->n ? &w : NULL };
        const nino_status st = nino_check_describe(c, nino_tune_type(&p, row), &d, err);
        if (st)
            return st;
        const double flops = nino_ops[d.op].flops(&d), bytes = nino_ops[d.op].bytes(&d);
        *nino_tune_field(&p.tuning, row) = row->standard;
        const double standard = nino_sched_seconds(&p, &d, flops, bytes);
        *nino_tune_field(&p.tuning, row) = value;
        sum += log(nino_sched_seconds(&p, &d, flops, bytes) / standard);
    }
    *out = n ? sum / n : 0;
    return NINO_OK;
}

static nino_status choose(const nino_profile *p, const nino_tune_row *row, nino_tune_choice *c,
                          nino_error *err)
{
    const double least_gain = 1e-3;
    double best = -least_gain;
    *c = (nino_tune_choice){ .standard = row->standard, .value = row->standard };
    snprintf(c->name, sizeof(c->name), "%s", row->name);
    for (int i = 0; i < NINO_MAX_TUNE_VALUES && row->value[i]; i++) {
        double ratio;
        const nino_status st = nino_tune_ratio(p, row, row->value[i], &ratio, err);
        if (st)
            return st;
        if (ratio < best) {
            best = ratio;
            c->value = row->value[i];
            c->gain = c->gain_low = c->gain_high = 100 * (1 - exp(ratio));
        }
    }
    return NINO_OK;
}

nino_status nino_tune_by_model(const nino_profile *profile, nino_tuning_info *out, nino_error *err)
{
    nino_profile p = *profile;
    nino_tuning_info t = { .n = 0 };
    if (!p.units)
        return nino_fail(err, NINO_ERR_UNSUPPORTED, p.name, "there is no clock model of it");
    snprintf(t.device, sizeof(t.device), "%s", p.name);
    snprintf(t.platform, sizeof(t.platform), "clock model, not measured on hardware");
    snprintf(t.version, sizeof(t.version), "%s", nino_version());
    p.tuning = (nino_tuning){ 0 };
    for (const nino_tune_row *r = nino_tune_rows; r->name; r++) {
        if (!r->tunes || !nino_tune_fits(&p, r))
            continue;
        const nino_status st = choose(&p, r, &t.choice[t.n], err);
        if (st)
            return st;
        *nino_tune_field(&p.tuning, r) = t.choice[t.n++].value; // counts when the next one is tried
    }
    *out = t;
    return NINO_OK;
}
