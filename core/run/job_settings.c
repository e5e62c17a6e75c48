// The options that a job runs with.
#include "core/run/job_settings.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/vars.h"

static const nino_job_options library_defaults = { .input_dir = "input",
                                                   .output_dir = "output",
                                                   .preview = NINO_PREVIEW_NONE,
                                                   .preview_every = 5,
                                                   .preview_share = 0.05 };

nino_settings *nino_settings_create(const nino_job_options *base, const nino_job_options *over,
                                    char *preview_path, const nino_log *log, nino_error *err)
{
    nino_error e = { .code = NINO_OK };
    nino_settings *s = calloc(1, sizeof(*s));
    if (!s || !(s->arena = nino_arena_create()))
        goto failed;
    s->o = library_defaults;
    nino_precision_opt_find(nino_vars_get()->precision, &s->o.precision);
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
