// What nino_tune() found, in files: one for each device, driver and version of the library in the
// cache folder, and those that users carry to another machine.
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/op/ceilings.h"
#include "core/harness/tune_choices.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FORMAT = 1, MAX_FILE = 65536, MAX_PATH_BYTES = 4200 };

// ---- text --------------------------------------------------------------------------------------

static void tune_file_add_text(nino_buf *b, const char *key, const char *v)
{
    nino_buf_addf(b, "    \"%s\": ", key);
    nino_buf_add_json_string(b, v, strlen(v));
    nino_buf_adds(b, ",\n");
}

static void write_tuning(nino_buf *b, const nino_tuning_info *t)
{
    nino_buf_addf(b, "{\n    \"tuning\": %d,\n", FORMAT);
    tune_file_add_text(b, "device", t->device);
    tune_file_add_text(b, "driver", t->driver);
    tune_file_add_text(b, "platform", t->platform);
    tune_file_add_text(b, "version", t->version);
    nino_buf_addf(b, "    \"tuned_at\": %lld,\n    \"choices\": {", (long long) t->tuned_at);
    for (size_t i = 0; i < t->n; i++) {
        const nino_tune_choice *c = &t->choice[i];
        nino_buf_addf(b, "%s\n        \"%s\": {\"value\": %d, \"gain\": [%.6g, %.6g, %.6g]}",
                      i ? "," : "", c->name, c->value, c->gain_low, c->gain, c->gain_high);
    }
    nino_buf_adds(b, "\n    }\n}\n");
}

static void tune_file_take_text(const nino_json *root, const char *key, char *out, size_t size)
{
    const char *s = nino_json_str(nino_json_get(root, key));
    snprintf(out, size, "%s", s ? s : "");
}

// False: not a value of that row.
static bool take_choice(const nino_json *e, const nino_tune_row *r, nino_tune_choice *c)
{
    const nino_json *gain = nino_json_get(e, "gain");
    int64_t value;
    if (!nino_json_i64(nino_json_get(e, "value"), &value) || value < 0 || value > INT32_MAX ||
        !nino_tune_allows(r, (int) value) ||
        !nino_json_double(nino_json_at(gain, 0), &c->gain_low) ||
        !nino_json_double(nino_json_at(gain, 1), &c->gain) ||
        !nino_json_double(nino_json_at(gain, 2), &c->gain_high))
        return false;
    snprintf(c->name, sizeof(c->name), "%s", r->name);
    c->standard = r->standard;
    c->value = (int) value;
    return isfinite(c->gain) && isfinite(c->gain_low) && isfinite(c->gain_high);
}

static bool tune_file_take(const nino_json *root, nino_tuning_info *t)
{
    const nino_json *choices = nino_json_get(root, "choices");
    int64_t format;
    if (!choices || !nino_json_i64(nino_json_get(root, "tuning"), &format) || format != FORMAT ||
        !nino_json_i64(nino_json_get(root, "tuned_at"), &t->tuned_at))
        return false;
    tune_file_take_text(root, "device", t->device, sizeof(t->device));
    tune_file_take_text(root, "driver", t->driver, sizeof(t->driver));
    tune_file_take_text(root, "platform", t->platform, sizeof(t->platform));
    tune_file_take_text(root, "version", t->version, sizeof(t->version));
    for (const nino_tune_row *r = nino_tune_rows; r->name; r++) {
        const nino_json *e = nino_json_get(choices, r->name);
        if (e && (t->n == NINO_MAX_TUNE_CHOICES || !take_choice(e, r, &t->choice[t->n++])))
            return false;
    }
    return true;
}

nino_status nino_tuning_read(const char *text, size_t len, const char *where, nino_tuning_info *t,
                             nino_error *err)
{
    nino_json_doc *doc = NULL;
    *t = (nino_tuning_info){ .n = 0 };
    nino_status st = nino_json_parse(text, len, where, NULL, &doc, err);
    if (!st && !tune_file_take(doc->root, t))
        st = nino_fail(err, NINO_ERR_FORMAT, where, "is no tuning of ninodes tune");
    nino_json_doc_destroy(&doc);
    return st;
}

// NINO_ERR_FORMAT: it is none.
static nino_status read_tuning(const char *path, nino_tuning_info *t, nino_error *err)
{
    char *data = NULL;
    size_t len = 0;
    nino_status st = nino_file_read(path, MAX_FILE, false, &data, &len, err);
    if (!st)
        st = nino_tuning_read(data, len, path, t, err);
    free(data);
    return st;
}

// ---- of a device -------------------------------------------------------------------------------

static bool tune_file_file_of(const char *cache_dir, const nino_device_info *d, char *dir,
                              char *path)
{
    return nino_device_file(cache_dir, "tuning", d, nino_version(), dir, path, MAX_PATH_BYTES);
}

nino_status nino_tuning_save(const char *cache_dir, const nino_device_info *d,
                             const nino_tuning_info *t, nino_error *err)
{
    char dir[MAX_PATH_BYTES], path[MAX_PATH_BYTES];
    nino_buf b = { 0 };
    if (!tune_file_file_of(cache_dir, d, dir, path))
        return NINO_OK; // nowhere to keep anything, as asked
    write_tuning(&b, t);
    return nino_device_file_save(dir, path, &b, err);
}

nino_status nino_tuning_load(const char *cache_dir, const nino_device_info *d,
                             nino_tuning_info *out, nino_error *err)
{
    char dir[MAX_PATH_BYTES], path[MAX_PATH_BYTES];
    nino_tuning_info t;
    if (!tune_file_file_of(cache_dir, d, dir, path) || read_tuning(path, &t, NULL) ||
        strcmp(t.device, d->name) != 0 || strcmp(t.driver, d->driver) != 0 ||
        strcmp(t.platform, d->platform) != 0 || strcmp(t.version, nino_version()) != 0)
        return nino_fail(err, NINO_ERR_MISSING, d->name,
                         "this device has not been tuned; ninodes tune does it");
    *out = t;
    return NINO_OK;
}

nino_status nino_tuning_reset(const char *cache_dir, const nino_device_info *d, nino_error *err)
{
    char dir[MAX_PATH_BYTES], path[MAX_PATH_BYTES];
    if (tune_file_file_of(cache_dir, d, dir, path) && unlink(path) && errno != ENOENT)
        return nino_fail(err, NINO_ERR_IO, path, "%s", strerror(errno));
    return NINO_OK;
}

// Its place among those that are kept, or a new one; NULL: there is none.
static nino_tune_choice *place_of(nino_tuning_info *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->choice[i].name, name))
            return &t->choice[i];
    return t->n < NINO_MAX_TUNE_CHOICES ? &t->choice[t->n++] : NULL;
}

nino_status nino_tuning_keep(const char *cache_dir, const nino_device_info *d,
                             const nino_tune_choice *choice, nino_tuning_info *out, nino_error *err)
{
    nino_tuning_info t;
    const nino_tune_row *r = nino_tune_rows;
    while (r->name && strcmp(r->name, choice->name) != 0)
        r++;
    if (!r->name)
        return nino_fail(err, NINO_ERR_UNKNOWN, choice->name, "is nothing that is tuned");
    if (!nino_tune_allows(r, choice->value))
        return nino_fail(err, NINO_ERR_ARG, choice->name, "cannot be %d", choice->value);
    if (nino_tuning_load(cache_dir, d, &t, NULL)) {
        t = (nino_tuning_info){ .n = 0 };
        snprintf(t.device, sizeof(t.device), "%s", d->name);
        snprintf(t.driver, sizeof(t.driver), "%s", d->driver);
        snprintf(t.platform, sizeof(t.platform), "%s", d->platform);
        snprintf(t.version, sizeof(t.version), "%s", nino_version());
    }
    nino_tune_choice *c = place_of(&t, r->name);
    if (!c)
        return nino_fail(err, NINO_ERR_ARG, choice->name, "too many are tuned");
    const bool is_known =
        isfinite(choice->gain) && isfinite(choice->gain_low) && isfinite(choice->gain_high);
    *c = (nino_tune_choice){ .standard = r->standard, .value = choice->value };
    snprintf(c->name, sizeof(c->name), "%s", r->name);
    if (is_known) {
        c->gain = choice->gain;
        c->gain_low = choice->gain_low;
        c->gain_high = choice->gain_high;
    }
    t.tuned_at = (int64_t) time(NULL);
    const nino_status st = nino_tuning_save(cache_dir, d, &t, err);
    if (!st)
        *out = t;
    return st;
}

nino_status nino_tuning_export(const char *path, const nino_tuning_info *t, nino_error *err)
{
    nino_buf b = { 0 };
    write_tuning(&b, t);
    const nino_status st = b.failed ? nino_fail(err, NINO_ERR_NOMEM, path, "out of memory")
                                    : nino_file_save(NULL, path, false, b.data, b.len, err);
    nino_buf_release(&b);
    return st;
}

nino_status nino_tuning_import(const char *path, const char *cache_dir, const nino_device_info *d,
                               nino_tuning_info *out, nino_error *err)
{
    nino_tuning_info t;
    nino_status st = read_tuning(path, &t, err);
    if (st)
        return st;
    if (strcmp(t.device, d->name) != 0)
        return nino_fail(err, NINO_ERR_ARG, path, "is of %s, this is %s", t.device, d->name);
    snprintf(t.driver, sizeof(t.driver), "%s", d->driver);
    snprintf(t.platform, sizeof(t.platform), "%s", d->platform);
    snprintf(t.version, sizeof(t.version), "%s", nino_version());
    if (!(st = nino_tuning_save(cache_dir, d, &t, err)))
        *out = t;
    return st;
}
