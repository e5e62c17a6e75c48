// What adaptive settings know of earlier runs: times of ways of doing the same, and their file.
#include "core/op/pace.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/num.h"
#include "core/op/ceilings.h"

#define HEAD "ninodes paces 1"

enum { MAX_PATH_BYTES = 4200 };

static nino_pace *pace_find(const nino_paces *p, nino_hash key)
{
    for (int i = 0; i < p->n; i++)
        if (p->list[i].key.lo == key.lo && p->list[i].key.hi == key.hi)
            return (nino_pace *) &p->list[i];
    return NULL;
}

static nino_pace *pace_add(nino_paces *p, nino_hash key)
{
    nino_pace *to = &p->list[0];
    if (p->n < NINO_PACE_KEYS)
        to = &p->list[p->n++];
    else
        for (int i = 1; i < p->n; i++)
            to = p->list[i].used < to->used ? &p->list[i] : to;
    *to = (nino_pace){ .key = key };
    return to;
}

static int pace_compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static double pace_median(const nino_pace *e, int way)
{
    double v[NINO_PACE_SAMPLES];
    const int n = e->n[way] < NINO_PACE_SAMPLES ? e->n[way] : NINO_PACE_SAMPLES;
    if (!n)
        return (double) NAN;
    memcpy(v, e->seconds[way], (size_t) n * sizeof(*v));
    qsort(v, (size_t) n, sizeof(*v), pace_compare);
    return v[n / 2];
}

double nino_pace_of(const nino_paces *p, nino_hash key, int way)
{
    const nino_pace *e = pace_find(p, key);
    return e ? pace_median(e, way) : (double) NAN;
}

int nino_pace_choose(nino_paces *p, nino_hash key)
{
    const nino_pace *e = pace_find(p, key);
    int best = 0;
    for (int w = 1; e && w < NINO_PACE_WAYS; w++)
        best = e->n[w] < e->n[best] ? w : best;
    if (!e || e->n[best] < NINO_PACE_SAMPLES)
        return best;
    for (int w = 0; w < NINO_PACE_WAYS; w++)
        best = pace_median(e, w) < pace_median(e, best) ? w : best;
    return best;
}

void nino_pace_note(nino_paces *p, nino_hash key, int way, double seconds)
{
    nino_pace *e = pace_find(p, key);
    e = e ? e : pace_add(p, key);
    e->used = ++p->clock;
    e->seconds[way][e->n[way] % NINO_PACE_SAMPLES] = seconds;
    // Beyond the last sample it goes round, and stays a count of samples.
    e->n[way] = e->n[way] + 1 < 2 * NINO_PACE_SAMPLES ? e->n[way] + 1 : NINO_PACE_SAMPLES;
    p->is_changed = true;
}

// ---- the file --------------------------------------------------------------------------------

// "LO HI WAY SECONDS"
static bool pace_line(nino_paces *p, const char *line)
{
    nino_hash key;
    int way = 0, at = 0;
    double seconds = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNx64 " %d %n", &key.lo, &key.hi, &way, &at) < 3 || !at ||
        way < 0 || way >= NINO_PACE_WAYS || !nino_parse_double(line + at, &seconds) ||
        !(seconds > 0))
        return false;
    nino_pace_note(p, key, way, seconds);
    return true;
}

void nino_paces_load(nino_paces *p, const char *cache_dir, const nino_device_info *d)
{
    char dir[MAX_PATH_BYTES], path[MAX_PATH_BYTES], line[160];
    *p = (nino_paces){ 0 };
    if (!nino_device_file(cache_dir, "paces", d, nino_version(), dir, path, MAX_PATH_BYTES))
        return;
    FILE *f = fopen(path, "re");
    bool ok = f && fgets(line, sizeof(line), f) && !strcmp(line, HEAD "\n");
    while (ok && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = 0;
        ok = pace_line(p, line);
    }
    if (f)
        fclose(f);
    if (!ok)
        *p = (nino_paces){ 0 };
    p->is_changed = false;
}

nino_status nino_paces_save(nino_paces *p, const char *cache_dir, const nino_device_info *d,
                            nino_error *err)
{
    char dir[MAX_PATH_BYTES], path[MAX_PATH_BYTES], number[40];
    nino_buf b = { 0 };
    if (!p->is_changed ||
        !nino_device_file(cache_dir, "paces", d, nino_version(), dir, path, MAX_PATH_BYTES))
        return NINO_OK;
    nino_buf_addf(&b, HEAD "\n");
    for (int i = 0; i < p->n; i++)
        for (int w = 0; w < NINO_PACE_WAYS; w++)
            for (int k = 0; k < NINO_PACE_SAMPLES && k < p->list[i].n[w]; k++) {
                nino_print_double(number, sizeof(number), p->list[i].seconds[w][k]);
                nino_buf_addf(&b, "%" PRIx64 " %" PRIx64 " %d %s\n", p->list[i].key.lo,
                              p->list[i].key.hi, w, number);
            }
    p->is_changed = false;
    return nino_device_file_save(dir, path, &b, err);
}
