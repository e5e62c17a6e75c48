// The options that a job runs with.
#include "core/run/job_settings.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/vars.h"

// What ninodes.conf and the like say, else the defaults of its table.
static void take_settings(nino_job_options *o)
{
    const nino_vars *v = nino_vars_get();
    *o = (nino_job_options){ .input_dir = v->input_dir,
                             .output_dir = v->output_dir,
                             .preview_every = atoi(v->preview_every),
                             .preview_share = nino_strtod(v->preview_percent, NULL) * 0.01 };
    nino_precision_opt_find(v->precision, &o->precision);
    nino_preview_opt_find(v->preview, &o->preview);
}

nino_settings *nino_settings_create(const nino_job_options *base, const nino_job_options *over,
                                    char *preview_path, const nino_log *log, nino_error *err)
{
    nino_error e = { .code = NINO_OK };
    nino_settings *s = calloc(1, sizeof(*s));
    if (!s || !(s->arena = nino_arena_create()))
        goto failed;
    take_settings(&s->o);
    if (base)
        nino_options_lay_over(&s->o, base);
    if (over)
        nino_options_lay_over(&s->o, over);
    if (!s->o.precision && nino_is_true(nino_vars_get()->mixed_precision))
        s->o.precision = NINO_PRECISION_MIXED;
    if (!nino_options_keep(&s->o, s->arena) ||
        !(s->paths = nino_paths_create(s->o.models, log, &e)))
        goto failed;
    s->previews = (nino_preview_settings){ .kind = preview_path ? s->o.preview : NINO_PREVIEW_NONE,
                                           .every = s->o.preview_every,
                                           .share = s->o.preview_share,
                                           .path = preview_path };
    return s;
failed:
    if (!e.code)
        nino_fail(&e, NINO_ERR_NOMEM, "", "out of memory");
    nino_settings_destroy(&s);
    if (err)
        *err = e;
    return NULL;
}

void nino_settings_destroy(nino_settings **ps)
{
    nino_settings *s = ps ? *ps : NULL;
    if (!s)
        return;
    nino_paths_destroy(&s->paths);
    nino_arena_destroy(&s->arena);
    free(s);
    *ps = NULL;
}
