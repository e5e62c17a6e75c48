// Device profiles: reading data/devices/*.json and choosing one for a device.
#include "core/op/profile.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/install.h"
#include "core/base/json.h"
#include "core/base/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROFILE_BYTES 65536

static bool profile_read_number(const nino_json *root, const char *key, double *out)
{
    return nino_json_double(nino_json_get(root, key), out) && *out >= 0 && *out < 1e18;
}

static bool read_type(const nino_json *root, const char *key, nino_dtype *out)
{
    static const nino_dtype known[] = { NINO_F32, NINO_F16, NINO_BF16 };
    const char *s = nino_json_str(nino_json_get(root, key));
    for (size_t i = 0; s && i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(s, nino_dtype_name(known[i]))) {
            *out = known[i];
            return true;
        }
    return false;
}

// Fills *out, or names the first key that is absent or wrong.
static nino_status read_profile(const nino_json *root, const char *where, nino_profile *out,
                                nino_error *err)
{
    nino_profile p = { 0 };
    const char *name = nino_json_str(nino_json_get(root, "name")), *bad = NULL;
    const char *schedule = nino_json_str(nino_json_get(root, "schedule"));
    double stripe = 0, mem = 0, units = 0;
    const struct {
        const char *key;
        double *to;
    } numbers[] = {
        { "winograd_stripe", &stripe },
        { "mem_bytes", &mem },
        { "peak_f32", &p.peak_f32 },
        { "peak_f16", &p.peak_f16 },
        { "bandwidth", &p.bandwidth },
        { "launch_s", &p.launch_s },
        { "efficiency_gemm", &p.efficiency_gemm },
        { "efficiency_conv", &p.efficiency_conv },
        { "efficiency_attn", &p.efficiency_attn },
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (!profile_read_number(root, numbers[i].key, numbers[i].to))
            bad = numbers[i].key;
    if (!nino_json_bool(nino_json_get(root, "winograd"), &p.has_winograd))
        bad = "winograd";
    if (nino_json_get(root, "units") &&
        !profile_read_number(root, "units", &units)) // may be left out
        bad = "units";
    if (nino_json_get(root, "load_rate") &&
        !profile_read_number(root, "load_rate", &p.load_rate)) // may be left out
        bad = "load_rate";
    const nino_json *stand_in = nino_json_get(root, "stand_in"); // may be left out
    if (stand_in && !nino_json_bool(stand_in, &p.is_stand_in))
        bad = "stand_in";
    if (!read_type(root, "weight_type", &p.weight_type))
        bad = "weight_type";
    if (!read_type(root, "act_type", &p.act_type))
        bad = "act_type";
    if (!schedule)
        bad = "schedule";
    if (!name || !*name || strlen(name) >= sizeof(p.name))
        bad = "name";
    if (bad)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "\"%s\" is absent or wrong",
                              bad);
    const nino_status st = nino_sched_find(schedule, where, &p.schedule, err);
    if (st)
        return st;
    const char *preferred = nino_vars_get()->rocm_preferred;
    if (!strncmp(name, "gfx", 3) && strcmp(preferred, "auto") != 0)
        p.act_type = !strcmp(preferred, "fp16")   ? NINO_F16
                     : !strcmp(preferred, "bf16") ? NINO_BF16
                                                  : NINO_F32;
    const char *date = nino_json_str(nino_json_get(root, "date"));
    snprintf(p.name, sizeof(p.name), "%s", name);
    snprintf(p.file, sizeof(p.file), "%s", where);
    snprintf(p.date, sizeof(p.date), "%s", date ? date : "");
    p.winograd_stripe = (uint64_t) stripe;
    p.mem_bytes = (uint64_t) mem;
    p.units = (unsigned) units;
    *out = p;
    return NINO_OK;
}

enum { MAX_PATH = 1024 };

// Profile `name` from `dir`/devices, or NULL; `path` is set to where it is.
static nino_json_doc *profile_open_file(const char *dir, const char *name, char path[MAX_PATH])
{
    char *data = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    if (!*dir || snprintf(path, MAX_PATH, "%s/devices/%s.json", dir, name) >= MAX_PATH)
        return NULL;
    if (nino_file_read(path, MAX_PROFILE_BYTES, false, &data, &len, NULL) == NINO_OK)
        nino_json_parse(data, len, path, NULL, &doc, NULL);
    free(data);
    return doc;
}

// The first readable file of that name: the user's, the installed one, the built-in one.
static nino_status open_text(const nino_profile_text *t, char where[MAX_PATH], nino_json_doc **doc,
                             nino_error *err)
{
    const char *dirs[] = { nino_vars_get()->profile_dir, nino_data_dir() };
    for (int i = 0; i < 2; i++)
        if ((*doc = profile_open_file(dirs[i], t->name, where)))
            return NINO_OK;
    snprintf(where, MAX_PATH, "%s", t->name);
    return nino_json_parse(t->json, (size_t) (t->end - t->json), where, NULL, doc, err);
}

nino_status nino_profile_load(const char *name, nino_profile *out, nino_error *err)
{
    char known[200] = "";
    if (!strcmp(name, nino_profile_ref.name)) {
        *out = nino_profile_ref;
        return NINO_OK;
    }
    for (const nino_profile_text *t = nino_profile_builtin; t->name; t++) {
        const size_t n = strlen(known);
        snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "", t->name);
        if (strcmp(t->name, name))
            continue;
        nino_json_doc *doc = NULL;
        char where[MAX_PATH];
        nino_status st = open_text(t, where, &doc, err);
        if (!st)
            st = read_profile(doc->root, where, out, err);
        nino_json_doc_destroy(&doc);
        return st;
    }
    return nino_fail(err, NINO_ERR_UNKNOWN, name, "no such device profile; there are ref, %s",
                     known);
}

static bool profile_matches(const nino_json_doc *doc, const char *device_name)
{
    const nino_json *m = nino_json_get(doc->root, "match");
    for (const nino_json *e = m ? m->child : NULL; e; e = e->next)
        if (nino_json_str(e) && strcasestr(device_name, nino_json_str(e)))
            return true;
    return false;
}

void nino_profile_estimate(nino_profile *p, unsigned compute_units, unsigned clock_mhz,
                           unsigned lanes)
{
    if (p->peak_f32 <= 0)
        p->peak_f32 = 2e6 * (compute_units ? compute_units : 1) * (clock_mhz ? clock_mhz : 1000) *
                      (lanes ? lanes : 64);
}

nino_status nino_profile_find(const char *device_name, bool is_cpu, nino_profile *out,
                              nino_error *err)
{
    for (const nino_profile_text *t = nino_profile_builtin; t->name; t++) {
        nino_json_doc *doc = NULL;
        char where[MAX_PATH];
        bool cpu = false;
        nino_status st = NINO_OK;
        const bool hit = open_text(t, where, &doc, NULL) == NINO_OK &&
                         nino_json_bool(nino_json_get(doc->root, "is_cpu"), &cpu) &&
                         cpu == is_cpu && profile_matches(doc, device_name);
        if (hit)
            st = read_profile(doc->root, where, out, err);
        nino_json_doc_destroy(&doc);
        if (hit)
            return st;
    }
    return nino_profile_load(is_cpu ? "pocl-cpu" : "generic-gpu", out, err);
}
