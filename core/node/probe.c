// Short measurements that nodes make and report.
#include "core/node/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/node/util.h"

nino_experiment *nino_probe_rounds(nino_run *r, const nino_experiment_params *p,
                                   nino_measure_once measure, void *priv, nino_error *err)
{
    nino_experiment *e = nino_experiment_create(p, err);
    bool is_warmup;
    nino_status st = e ? NINO_OK : NINO_ERR_ARG;
    nino_stream_set_quiet(r->stream, true);
    for (int k; !st && (k = nino_experiment_next(e, &is_warmup)) >= 0;) {
        double seconds = 0;
        uint64_t done, most;
        if (!(st = nino_node_cancelled(r, err)) &&
            !(st = measure(priv, k, is_warmup, &seconds, err)))
            st = nino_experiment_add(e, seconds, err);
        nino_experiment_progress(e, &done, &most);
        nino_run_step(r, (uint32_t) done, (uint32_t) most);
    }
    nino_stream_set_quiet(r->stream, false);
    if (st && e)
        nino_experiment_destroy(&e);
    return e;
}

nino_experiment *nino_probe_settings(nino_run *r, int settings, double max_seconds,
                                     nino_measure_once measure, void *priv, nino_error *err)
{
    const nino_experiment_params p = {
        NINO_EXPERIMENT_PARAMS_INIT, .settings = settings, .rounds_min = 10, .rounds_max = 20,
        .max_seconds = max_seconds,  .alpha = 0.05
    };
    return nino_probe_rounds(r, &p, measure, priv, err);
}

void nino_probe_time(nino_buf *b, const nino_spread *s, double unit, const char *name, int digits)
{
    nino_buf_addf(b, "%.*f %s (median of %d, MAD %.*f)", digits, s->median * unit, name, (int) s->n,
                  digits, s->mad * unit);
}

void nino_probe_rate(nino_buf *b, const char *what, const nino_spread *s, double amount,
                     const char *unit)
{
    const double rate = amount / s->median * 1e-9;
    nino_buf_addf(b, "%s: %.1f %s (median of %d, MAD %.1f)\n", what, rate, unit, (int) s->n,
                  rate * s->mad / s->median);
}

nino_array *nino_probe_noise(nino_shape shape, nino_error *err)
{
    nino_array *a = nino_node_array(NINO_F32, shape, "probe", err);
    uint32_t s = 0x9e3779b9u;
    const int64_t n = a ? nino_shape_count(&shape) : 0;
    for (int64_t i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        nino_array_f32(a)[i] = (float) (int32_t) s * 0x1p-31f;
    }
    return a;
}

nino_status nino_probe_texts(nino_run *r, nino_buf *text, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; r->def->outputs[i].key; i++) {
        if (!text[i].data)
            nino_buf_adds(&text[i], "");
        char *s = text[i].failed ? NULL : text[i].data;
        if (text[i].failed)
            nino_buf_release(&text[i]);
        if (st == NINO_OK && s && *s)
            nino_run_text(r, r->def->outputs[i].key, s);
        if (st == NINO_OK)
            st = nino_node_out_text(r, i, s, err);
        else
            free(s);
        text[i] = (nino_buf){ 0 };
    }
    return st;
}

void nino_probe_date(nino_buf *b)
{
    const time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    nino_buf_addf(b, "%04d-%02d-%02d %02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                  tm.tm_hour, tm.tm_min);
}
