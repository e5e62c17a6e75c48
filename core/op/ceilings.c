// Ceilings of a device: keeping what was measured, and using it as a profile's numbers.
#include "core/op/ceilings.h"

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/vars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 65536, FORMAT = 3 };

// ---- the file ----------------------------------------------------------------------------------

// Readable, and different for another driver.
bool nino_device_file(const char *cache_dir, const char *kind, const nino_device_info *d,
                      const char *version, char *dir, char *path, size_t size)
{
    char base[4096], name[48], key[sizeof(d->name) + sizeof(d->driver) + sizeof(d->platform) + 40];
    if (!nino_cache_dir(cache_dir, base, sizeof(base)))
        return false;
    snprintf(key, sizeof(key), "%s\n%s\n%s%s%.30s", d->name, d->driver, d->platform,
             *version ? "\n" : "", version);
    const nino_hash h = nino_hash_bytes(key, strlen(key));
    snprintf(name, sizeof(name), "%.40s", d->name);
    for (char *p = name; *p; p++)
        if (!((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
            *p = '_';
    const int a = snprintf(dir, size, "%s/%s", base, kind);
    const int b =
        snprintf(path, size, "%s/%s/%s-%016llx.json", base, kind, name, (unsigned long long) h.lo);
    return a > 0 && b > 0 && (size_t) b < size;
}

static bool ceilings_file_of(const char *cache_dir, const nino_device_info *d, char *dir,
                             char *path, size_t size)
{
    return nino_device_file(cache_dir, "ceilings", d, "", dir, path, size);
}

static void ceilings_add_number(nino_buf *b, const char *key, double v)
{
    nino_buf_addf(b, "    \"%s\": %.9g,\n", key, isfinite(v) ? v : 0);
}

static void ceilings_add_text(nino_buf *b, const char *key, const char *v)
{
    nino_buf_addf(b, "    \"%s\": ", key);
    nino_buf_add_json_string(b, v, strlen(v));
    nino_buf_adds(b, ",\n");
}

// The members of nino_ceilings that are plain numbers, by their key in the file.
typedef struct number {
    const char *key;
    size_t offset;
} number;
#define FIELD(f)                                                                                   \
    {                                                                                              \
#f, offsetof(nino_ceilings, f)                                                             \
    }
static const number numbers[] = {
    FIELD(flops_f32),       FIELD(flops_f16),       FIELD(bandwidth),
    FIELD(launch_s),        FIELD(upload),          FIELD(download),
    FIELD(efficiency_gemm), FIELD(efficiency_conv), FIELD(efficiency_attn),
};
enum { N_NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static const double *number_at(const nino_ceilings *c, size_t i)
{
    const void *at = (const char *) c + numbers[i].offset;
    return at;
}

nino_status nino_device_file_save(const char *dir, const char *path, nino_buf *b, nino_error *err)
{
    nino_status st = b->failed ? nino_fail(err, NINO_ERR_NOMEM, path, "out of memory")
                               : nino_file_mkdirs(dir, false, err);
    if (!st)
        st = nino_file_save(NULL, path, false, b->data, b->len, err);
    nino_buf_release(b);
    return st;
}

nino_status nino_ceilings_save(const char *cache_dir, const nino_device_info *d,
                               const nino_ceilings *c, nino_error *err)
{
    char dir[4200], path[4200];
    nino_buf b = { 0 };
    if (!ceilings_file_of(cache_dir, d, dir, path, sizeof(path)))
        return NINO_OK; // nowhere to keep anything, as asked
    nino_buf_addf(&b, "{\n    \"format\": %d,\n", FORMAT);
    ceilings_add_text(&b, "device", c->device);
    ceilings_add_text(&b, "driver", c->driver);
    ceilings_add_text(&b, "platform", c->platform);
    nino_buf_addf(&b, "    \"measured_at\": %lld,\n", (long long) c->measured_at);
    for (size_t i = 0; i < N_NUMBERS; i++)
        ceilings_add_number(&b, numbers[i].key, *number_at(c, i));
    nino_buf_adds(&b, "    \"bandwidths\": [");
    for (size_t i = 0; i < c->n_points; i++) {
        const nino_ceiling_point *p = &c->point[i];
        nino_buf_addf(&b, "%s\n        [%llu, %.9g, %.9g, %.9g]", i ? "," : "",
                      (unsigned long long) p->bytes, p->read, p->write, p->copy);
    }
    nino_buf_adds(&b, "\n    ]\n}\n");
    return nino_device_file_save(dir, path, &b, err);
}

static bool positive(const nino_json *v, double *out)
{
    return nino_json_double(v, out) && isfinite(*out) && *out >= 0;
}

static bool read_points(const nino_json *list, nino_ceilings *c)
{
    for (const nino_json *e = list ? list->child : NULL; e; e = e->next) {
        nino_ceiling_point *p = &c->point[c->n_points];
        if (c->n_points == NINO_MAX_CEILING_POINTS ||
            !nino_json_u64(nino_json_at(e, 0), &p->bytes) ||
            !positive(nino_json_at(e, 1), &p->read) || !positive(nino_json_at(e, 2), &p->write) ||
            !positive(nino_json_at(e, 3), &p->copy) || !p->bytes ||
            (c->n_points && p->bytes <= p[-1].bytes))
            return false;
        c->n_points++;
    }
    return c->n_points > 0;
}

static bool is_ceilings_same(const nino_json *v, const char *text, char *out, size_t size)
{
    const char *s = nino_json_str(v);
    snprintf(out, size, "%s", s ? s : "");
    return s && !strcmp(s, text);
}

static bool ceilings_parse(const nino_json *root, const nino_device_info *d, nino_ceilings *c)
{
    int64_t format;
    if (!nino_json_i64(nino_json_get(root, "format"), &format) || format != FORMAT ||
        !is_ceilings_same(nino_json_get(root, "device"), d->name, c->device, sizeof(c->device)) ||
        !is_ceilings_same(nino_json_get(root, "driver"), d->driver, c->driver, sizeof(c->driver)) ||
        !is_ceilings_same(nino_json_get(root, "platform"), d->platform, c->platform,
                          sizeof(c->platform)) ||
        !nino_json_i64(nino_json_get(root, "measured_at"), &c->measured_at))
        return false;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (!positive(nino_json_get(root, numbers[i].key), (double *) number_at(c, i)))
            return false;
    return c->flops_f32 > 0 && c->bandwidth > 0 &&
           read_points(nino_json_get(root, "bandwidths"), c);
}

nino_status nino_ceilings_load(const char *cache_dir, const nino_device_info *d, nino_ceilings *out,
                               nino_error *err)
{
    char dir[4200], path[4200];
    char *data = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    nino_ceilings c = { .measured_at = 0 };
    bool is_good = false;
    if (ceilings_file_of(cache_dir, d, dir, path, sizeof(path)) &&
        nino_file_read(path, MAX_FILE, false, &data, &len, NULL) == NINO_OK &&
        nino_json_parse(data, len, path, NULL, &doc, NULL) == NINO_OK)
        is_good = ceilings_parse(doc->root, d, &c);
    nino_json_doc_destroy(&doc);
    free(data);
    if (!is_good)
        return nino_fail(err, NINO_ERR_MISSING, d->name,
                         "this device has not been measured; ninodes devices --measure does it");
    *out = c;
    return NINO_OK;
}

nino_status nino_ceilings_of_profile(const char *profile, nino_ceilings *out, nino_error *err)
{
    nino_profile p;
    const nino_status st = nino_profile_load(profile, &p, err);
    if (st)
        return st;
    if (p.is_stand_in)
        return nino_fail(err, NINO_ERR_MISSING, profile,
                         "its figures are of no device in particular");
    *out = (nino_ceilings){ .flops_f32 = p.peak_f32,
                            .flops_f16 = p.peak_f16,
                            .bandwidth = p.bandwidth,
                            .launch_s = p.launch_s,
                            .efficiency_gemm = p.efficiency_gemm,
                            .efficiency_conv = p.efficiency_conv,
                            .efficiency_attn = p.efficiency_attn };
    snprintf(out->device, sizeof(out->device), "%s", p.name);
    return NINO_OK;
}

bool nino_ceilings_apply(const char *cache_dir, const nino_device_info *d, nino_profile *p)
{
    nino_ceilings c;
    if (nino_ceilings_load(cache_dir, d, &c, NULL))
        return false;
    p->peak_f32 = c.flops_f32;
    p->peak_f16 = c.flops_f16 > 0 ? c.flops_f16 : c.flops_f32;
    p->bandwidth = c.bandwidth;
    p->launch_s = c.launch_s;
    p->efficiency_gemm = c.efficiency_gemm > 0 ? c.efficiency_gemm : p->efficiency_gemm;
    p->efficiency_conv = c.efficiency_conv > 0 ? c.efficiency_conv : p->efficiency_conv;
    p->efficiency_attn = c.efficiency_attn > 0 ? c.efficiency_attn : p->efficiency_attn;
    p->is_measured = true;
    return true;
}

// ---- use ---------------------------------------------------------------------------------------

static double fastest(const nino_ceiling_point *p)
{
    return fmax(p->copy, fmax(p->read, p->write));
}

// The first point that is no smaller.
static size_t point_of(const nino_ceilings *c, double bytes)
{
    size_t i = 0;
    while (i < c->n_points && (double) c->point[i].bytes < bytes)
        i++;
    return i;
}

static double bandwidth_of(const nino_ceilings *c, double bytes)
{
    const size_t i = point_of(c, bytes);
    if (!c->n_points)
        return c->bandwidth;
    if (!i || i == c->n_points)
        return fastest(&c->point[i ? i - 1 : 0]);
    const nino_ceiling_point *a = &c->point[i - 1], *b = &c->point[i];
    const double t = log(bytes / (double) a->bytes) / log((double) b->bytes / (double) a->bytes);
    return fastest(a) + t * (fastest(b) - fastest(a));
}

double nino_ceilings_bandwidth(const nino_ceilings *c, uint64_t bytes)
{
    return bandwidth_of(c, (double) bytes);
}

// Whether the peak of 16-bit floats counts for elements of so many bits.
static bool is_half(const nino_ceilings *c, unsigned bits)
{
    return bits <= 16 && c->flops_f16 > c->flops_f32;
}

double nino_ceilings_share(const nino_ceilings *c, double flops, double bytes, double seconds,
                           unsigned bits)
{
    const double peak = is_half(c, bits) ? c->flops_f16 : c->flops_f32;
    const double most = bandwidth_of(c, bytes);
    double a = peak > 0 && flops > 0 ? flops / seconds / peak : (double) NAN;
    double b = most > 0 && bytes > 0 ? bytes / seconds / most : (double) NAN;
    if (!(seconds > 0))
        return NAN;
    if (!c->n_points && b > 1)
        b = NAN;
    const double share = fmax(a, b); // the one that is known
    return share > 1 ? 1 : share;
}

// ---- ceilings that turn out to be too low ------------------------------------------------------

static void raise_arithmetic(nino_ceilings *c, bool half, double times)
{
    if (half) {
        c->flops_f16 *= times;
        return;
    }
    c->flops_f32 *= times;
    c->efficiency_gemm /= times; // the kernels are no faster than they were
    c->efficiency_conv /= times;
    c->efficiency_attn /= times;
}

static void raise_point(nino_ceiling_point *p, double times)
{
    p->read *= times;
    p->write *= times;
    p->copy *= times;
}

// Both points that a set between them goes by.
static void raise_bandwidth(nino_ceilings *c, size_t i, double times)
{
    if (i < c->n_points)
        raise_point(&c->point[i], times);
    if (i)
        raise_point(&c->point[i - 1], times);
    c->bandwidth = c->point[c->n_points - 1].copy;
}

// Takes a reading; by how much all that is needed were faster, 1: not faster.
static double ceiling_watch_take(double best[NINO_CEILING_EVIDENCE], double times)
{
    for (int i = 0; i < NINO_CEILING_EVIDENCE; i++)
        if (times > best[i]) {
            const double less = best[i];
            best[i] = times;
            times = less;
        }
    return fmax(best[NINO_CEILING_EVIDENCE - 1], 1);
}

void nino_ceiling_watch_kernel(nino_ceiling_watch *w, const nino_event *kernel)
{
    nino_ceilings *c = &w->c;
    const double seconds = (double) kernel->u.kernel.dur_ns * 1e-9;
    const double flops = kernel->u.kernel.flops, bytes = kernel->u.kernel.bytes;
    if (!c->measured_at || seconds < 1e-4)
        return;
    const bool half = is_half(c, nino_kernel_bits(kernel));
    const double peak = half ? c->flops_f16 : c->flops_f32;
    double times = ceiling_watch_take(w->best[half], peak > 0 ? flops / seconds / peak : 0);
    if (times > 1) {
        raise_arithmetic(c, half, times);
        memset(w->best[half], 0, sizeof(w->best[half])); // they were of the lower one
        w->is_raised = true;
    }
    const size_t i = point_of(c, bytes);
    if (!c->n_points || !(bytes > 0))
        return;
    times = ceiling_watch_take(w->best[2 + (i < c->n_points ? i : i - 1)],
                               bytes / seconds / bandwidth_of(c, bytes));
    if (times > 1) {
        raise_bandwidth(c, i, times);
        memset(w->best + 2, 0, sizeof(w->best) - 2 * sizeof(w->best[0]));
        w->is_raised = true;
    }
}
