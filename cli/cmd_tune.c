// ninodes tune: chooses how a device's work is cut, by measuring; shows, carries and forgets it.
#include "commands.h"

#include <stdlib.h>
#include <string.h>

static void on_try(void *priv, const char *what)
{
    const options *o = priv;
    if (!o->json && !o->quiet)
        fprintf(stderr, "trying: %s\n", what);
}

static void cmd_tune_tell(const options *o, const nino_tuning_info *t)
{
    if (o->json) {
        js_envelope("tune");
        js_text("device", t->device);
        js_text("driver", t->driver);
        js_text("platform", t->platform);
        js_int("tuned_at", t->tuned_at);
        js_open("choices", '[');
    } else {
        printf("%s (%s)\n  %-12s %9s %8s  %s\n", t->device, t->driver, "choice", "standard",
               "chosen", "time saved");
    }
    for (size_t i = 0; i < t->n; i++) {
        const nino_tune_choice *c = &t->choice[i];
        if (o->json) {
            js_open(NULL, '{');
            js_text("name", c->name);
            js_int("standard", c->standard);
            js_int("value", c->value);
            js_num("gain_percent", c->gain);
            js_num("gain_low", c->gain_low);
            js_num("gain_high", c->gain_high);
            js_close('}');
        } else if (c->value == c->standard) {
            printf("  %-12s %9d %8d  nothing else is faster beyond doubt\n", c->name, c->standard,
                   c->value);
        } else if (c->gain == 0 && c->gain_high == 0) {
            printf("  %-12s %9d %8d  kept by hand\n", c->name, c->standard, c->value);
        } else {
            printf("  %-12s %9d %8d  %.1f %% (95 %%: %.1f to %.1f)\n", c->name, c->standard,
                   c->value, c->gain, c->gain_low, c->gain_high);
        }
    }
    if (o->json) {
        js_close(']');
        js_envelope_end();
    }
}

// The device of the selector.
static bool find_device(const options *o, nino_device_info *d, int *rc)
{
    nino_error err = { .code = NINO_OK };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = o->device };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    if (!ctx) {
        *rc = report_error(o, "tune", &err, "ninodes devices lists the devices");
        if (err.code == NINO_ERR_UNKNOWN)
            *rc = EXIT_DEVICE;
        return false;
    }
    nino_ctx_device(ctx, d);
    nino_ctx_destroy(&ctx);
    return true;
}

static int reset(const options *o, const nino_device_info *d)
{
    nino_error err = { .code = NINO_OK };
    if (nino_tuning_reset(NULL, d, &err))
        return report_error(o, "tune", &err, NULL);
    if (o->json) {
        js_envelope("tune");
        js_text("device", d->name);
        js_envelope_end();
    } else if (!o->quiet) {
        printf("%s: the standard holds again\n", d->name);
    }
    return EXIT_OK;
}

static int carry(const options *o, const nino_device_info *d)
{
    nino_error err = { .code = NINO_OK };
    nino_tuning_info t;
    nino_status st = o->import_file ? nino_tuning_import(o->import_file, NULL, d, &t, &err)
                                    : nino_tuning_load(NULL, d, &t, &err);
    if (!st && o->export_file)
        st = nino_tuning_export(o->export_file, &t, &err);
    if (st)
        return report_error(o, "tune", &err, NULL);
    if (!o->quiet || o->json)
        cmd_tune_tell(o, &t);
    return EXIT_OK;
}

// NAME=VALUE; the others stay as they are.
static int keep(const options *o, const nino_device_info *d)
{
    nino_error err = { .code = NINO_OK };
    nino_tuning_info t;
    nino_tune_choice c = { .gain = 0 };
    const char *is = strchr(o->keep, '=');
    char *end = NULL;
    const long value = is ? strtol(is + 1, &end, 10) : 0;
    if (!is || is == o->keep || (size_t) (is - o->keep) >= sizeof(c.name) || end == is + 1 ||
        *end || value < 0 || value > 1 << 20) {
        say("tune: --keep takes NAME=VALUE, as a sweep of ninodes kernel prints them");
        return EXIT_USAGE;
    }
    snprintf(c.name, sizeof(c.name), "%.*s", (int) (is - o->keep), o->keep);
    c.value = (int) value;
    if (nino_tuning_keep(NULL, d, &c, &t, &err)) {
        const int rc = report_error(o, "tune", &err, NULL);
        return err.code == NINO_ERR_UNKNOWN || err.code == NINO_ERR_ARG ? EXIT_USAGE : rc;
    }
    if (!o->quiet || o->json)
        cmd_tune_tell(o, &t);
    return EXIT_OK;
}

int cmd_tune(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_device_info d;
    nino_tuning_info t;
    int rc = EXIT_OK;
    if (o->reset || o->export_file || o->import_file || o->keep) {
        if (!find_device(o, &d, &rc))
            return rc;
        if (o->keep)
            return keep(o, &d);
        return o->reset ? reset(o, &d) : carry(o, &d);
    }
    const nino_tune_params p = { NINO_TUNE_PARAMS_INIT, .device = o->device, .quick = o->fast,
                                 .progress = on_try, .priv = (void *) (uintptr_t) o };
    if (nino_tune(&p, &t, &err)) {
        rc = report_error(o, "tune", &err, NULL);
        return err.code == NINO_ERR_UNKNOWN ? EXIT_DEVICE : rc;
    }
    cmd_tune_tell(o, &t);
    return EXIT_OK;
}
