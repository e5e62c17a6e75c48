// Short measurements that nodes make and report.
#include "core/node/probe.h"

#include <stdlib.h>
#include <time.h>

#include "core/node/util.h"

static int probe_by_value(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

nino_probe nino_probe_of(double *t, int n)
{
    qsort(t, (size_t) n, sizeof(*t), probe_by_value);
    return (nino_probe){ n ? t[n / 2] : 0, n ? t[0] : 0, n ? t[n - 1] : 0, n };
}

void nino_probe_rate(nino_buf *b, const char *what, const nino_probe *p, double amount,
                     const char *unit)
{
    nino_buf_addf(b, "%s: %.1f %s (median of %d; %.1f to %.1f)\n", what, amount / p->median * 1e-9,
                  unit, p->n, amount / p->max * 1e-9, amount / p->min * 1e-9);
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
