// Structs that begin with their size, and job options: words, copies, one laid over another.
#include "core/base/params.h"

#include <string.h>

#include "core/base/error.h"

bool nino_params_take(void *out, size_t size, const void *in, const char *init, nino_error *err)
{
    memset(out, 0, size);
    if (in) {
        size_t given;
        memcpy(&given, in, sizeof(given));
        if (given < sizeof(given)) {
            nino_fail_kind(err, NINO_ERR_ARG, "size", init,
                           "the struct does not say its size: begin it with { %s }", init);
            return false;
        }
        memcpy(out, in, given < size ? given : size);
    }
    memcpy(out, &size, sizeof(size));
    return true;
}

// ---- words -----------------------------------------------------------------------------------

static const char *const precisions[] = { "auto", "fp32", "fp16", "bf16", "mixed" };
static const char *const previews[] = { "default", "none", "latent2rgb", "taesd", "auto" };
enum { N_PRECISIONS = 5, N_PREVIEWS = 5 };

static int find_word(const char *const *words, int n, const char *word)
{
    int i = 0;
    while (i < n && word && strcmp(word, words[i]) != 0)
        i++;
    return word && i < n ? i : -1;
}

const char *nino_precision_opt_name(nino_precision_opt p)
{
    return precisions[(unsigned) p < N_PRECISIONS ? p : 0];
}

const char *nino_preview_opt_name(nino_preview_opt p)
{
    return previews[(unsigned) p < N_PREVIEWS ? p : 0];
}

bool nino_precision_opt_find(const char *word, nino_precision_opt *out)
{
    const int i = find_word(precisions, N_PRECISIONS, word);
    if (i >= 0)
        *out = (nino_precision_opt) i;
    return i >= 0;
}

bool nino_preview_opt_find(const char *word, nino_preview_opt *out)
{
    const int i = find_word(previews, N_PREVIEWS, word);
    if (i >= 0)
        *out = (nino_preview_opt) i;
    return i >= 0;
}

// ---- policies --------------------------------------------------------------------------------

static const char *const policies[] = {
#define X(id, word, phase, help) word,
    NINO_POLICIES(X)
#undef X
};
static const int phase_of[] = {
#define X(id, word, phase, help) phase,
    NINO_POLICIES(X)
#undef X
};
static const char *const phases[] = { "baseline", "memory", "precision", "video" };

const char *nino_policy_name(nino_policy p)
{
    return policies[(unsigned) p < NINO_POLICY_COUNT ? p : 0];
}

const char *nino_phase_name(nino_phase p)
{
    return phases[(unsigned) p < NINO_PHASE_COUNT ? p : 0];
}

bool nino_phase_find(const char *word, nino_phase *out)
{
    const int i = find_word(phases, NINO_PHASE_COUNT, word);
    if (i >= 0)
        *out = (nino_phase) i;
    return i >= 0;
}

void nino_phase_set(nino_job_options *o, nino_phase p)
{
    o->policies_on = 0;
    for (int k = 0; k < NINO_POLICY_COUNT; k++)
        o->policies_on |= phase_of[k] <= (int) p ? NINO_POLICY_BIT(k) : 0;
    o->policies_off = NINO_POLICY_ALL & ~o->policies_on;
    if (!o->precision)
        o->precision = p < NINO_PHASE_PRECISION ? NINO_PRECISION_F32 : NINO_PRECISION_MIXED;
}

uint32_t nino_options_switched(const nino_job_options *o)
{
    const uint32_t acts = (NINO_POLICY_STANDARD | o->policies_on) & ~o->policies_off;
    return (acts ^ NINO_POLICY_STANDARD) & NINO_POLICY_ALL;
}

// ---- options ---------------------------------------------------------------------------------

void nino_options_lay_over(nino_job_options *o, const nino_job_options *over)
{
    if (over->models && over->models[0])
        o->models = over->models;
    if (over->input_dir && *over->input_dir)
        o->input_dir = over->input_dir;
    if (over->output_dir && *over->output_dir)
        o->output_dir = over->output_dir;
    if (over->trace_path && *over->trace_path)
        o->trace_path = over->trace_path;
    if (over->precision)
        o->precision = over->precision;
    if (over->preview)
        o->preview = over->preview;
    if (over->preview_every > 0)
        o->preview_every = over->preview_every;
    if (over->preview_share > 0)
        o->preview_share = over->preview_share;
    o->no_profile |= over->no_profile;
    o->no_metadata |= over->no_metadata;
    o->is_silent |= over->is_silent;
    o->keep_results |= over->keep_results;
    o->no_files |= over->no_files;
    o->is_anew |= over->is_anew;
    if (over->parts_dir && *over->parts_dir) {
        o->parts_dir = over->parts_dir;
        o->shard = over->shard;
        o->n_shards = over->n_shards;
    }
    o->policies_on = (o->policies_on & ~over->policies_off) | over->policies_on;
    o->policies_off = (o->policies_off & ~over->policies_on) | over->policies_off;
}

static bool params_keep_text(const char **text, nino_arena *arena)
{
    return !*text || (*text = nino_arena_strdup(arena, *text));
}

static bool keep_list(const char *const **list, nino_arena *arena)
{
    size_t n = 0;
    while (*list && (*list)[n])
        n++;
    const char **copy = n ? nino_arena_alloc(arena, (n + 1) * sizeof(*copy)) : NULL;
    bool ok = copy || !n;
    for (size_t i = 0; i < n && ok; i++) {
        copy[i] = (*list)[i];
        ok = params_keep_text(&copy[i], arena);
    }
    if (n && ok)
        copy[n] = NULL;
    *list = copy;
    return ok;
}

bool nino_options_keep(nino_job_options *o, nino_arena *arena)
{
    return keep_list(&o->models, arena) && params_keep_text(&o->input_dir, arena) &&
           params_keep_text(&o->output_dir, arena) && params_keep_text(&o->trace_path, arena) &&
           params_keep_text(&o->parts_dir, arena);
}
