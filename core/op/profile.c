// Device profiles: reading data/devices/*.json and choosing one for a device.
#include "core/op/profile.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef NINO_DATADIR
#define NINO_DATADIR "/usr/local/share/ninodes"
#endif
#define MAX_PROFILE_BYTES 65536

static bool read_number(const nino_json *root, const char *key, double *out)
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

static bool read_schedule(const nino_json *root, nino_sched_kind *out)
{
    static const char *const names[] = { "ref", "cpu", "generic", "wmma" };
    const char *s = nino_json_str(nino_json_get(root, "schedule"));
    for (int i = 0; s && i < (int) (sizeof(names) / sizeof(names[0])); i++)
        if (!strcmp(s, names[i])) {
            *out = (nino_sched_kind) i;
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
    double stripe = 0, mem = 0;
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
        if (!read_number(root, numbers[i].key, numbers[i].to))
            bad = numbers[i].key;
    if (!nino_json_bool(nino_json_get(root, "winograd"), &p.has_winograd))
        bad = "winograd";
    if (!read_type(root, "weight_type", &p.weight_type))
        bad = "weight_type";
    if (!read_type(root, "act_type", &p.act_type))
        bad = "act_type";
    if (!read_schedule(root, &p.schedule))
        bad = "schedule";
    if (!name || !*name || strlen(name) >= sizeof(p.name))
        bad = "name";
    if (bad)
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", where, "\"%s\" is absent or wrong",
                              bad);
    snprintf(p.name, sizeof(p.name), "%s", name);
    p.winograd_stripe = (uint64_t) stripe;
    p.mem_bytes = (uint64_t) mem;
    *out = p;
    return NINO_OK;
}

// The text of profile `name` from `dir`/devices, or NULL.
static nino_json_doc *open_file(const char *dir, const char *name)
{
    char path[1024];
    char *data = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    if (!*dir ||
        snprintf(path, sizeof(path), "%s/devices/%s.json", dir, name) >= (int) sizeof(path))
        return NULL;
    if (nino_file_read(path, MAX_PROFILE_BYTES, false, &data, &len, NULL) == NINO_OK)
        nino_json_parse(data, len, path, NULL, &doc, NULL);
    free(data);
    return doc;
}

// The first readable profile of that name: the user's, the installed one, the built-in one.
static nino_status load_text(const nino_profile_text *t, nino_profile *out, nino_json_doc **doc,
                             nino_error *err)
{
    const char *dirs[] = { nino_vars_get()->profile_dir, NINO_DATADIR };
    for (int i = 0; i < 2; i++) {
        *doc = open_file(dirs[i], t->name);
        if (*doc && read_profile((*doc)->root, t->name, out, NULL) == NINO_OK)
            return NINO_OK;
        nino_json_doc_destroy(doc);
    }
    nino_status st = nino_json_parse(t->json, (size_t) (t->end - t->json), t->name, NULL, doc, err);
    return st ? st : read_profile((*doc)->root, t->name, out, err);
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
        nino_status st = load_text(t, out, &doc, err);
        nino_json_doc_destroy(&doc);
        return st;
    }
    return nino_fail(err, NINO_ERR_UNKNOWN, name, "no such device profile; there are ref, %s",
                     known);
}

static bool matches(const nino_json_doc *doc, const char *device_name)
{
    const nino_json *m = nino_json_get(doc->root, "match");
    for (const nino_json *e = m ? m->child : NULL; e; e = e->next)
        if (nino_json_str(e) && strcasestr(device_name, nino_json_str(e)))
            return true;
    return false;
}

void nino_profile_find(const char *device_name, bool is_cpu, nino_profile *out)
{
    for (const nino_profile_text *t = nino_profile_builtin; t->name; t++) {
        nino_json_doc *doc = NULL;
        bool cpu = false;
        const bool hit = load_text(t, out, &doc, NULL) == NINO_OK &&
                         nino_json_bool(nino_json_get(doc->root, "is_cpu"), &cpu) &&
                         cpu == is_cpu && matches(doc, device_name);
        nino_json_doc_destroy(&doc);
        if (hit)
            return;
    }
    if (nino_profile_load(is_cpu ? "pocl-cpu" : "generic-gpu", out, NULL) != NINO_OK)
        *out = (nino_profile){ .name = "generic", .schedule = NINO_SCHED_GENERIC };
}
