// ninodes devices and selftest: what there is to compute on, and whether it computes right.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static void device_json(const nino_device_info *d)
{
    js_open(NULL, '{');
    js_text("selector", d->selector);
    js_text("name", d->name);
    js_text("vendor", d->vendor);
    js_text("driver", d->driver);
    js_text("platform", d->platform);
    js_text("profile", d->profile);
    js_bool("gpu", d->is_gpu);
    js_uint("compute_units", d->compute_units);
    js_uint("mem_bytes", d->mem_bytes);
    js_uint("max_buffer", d->max_buffer);
    js_uint("local_bytes", d->local_bytes);
    js_bool("fp16", d->has_fp16);
    js_bool("fp64", d->has_fp64);
    js_text("problem", *d->problem ? d->problem : NULL);
    js_close('}');
}

int cmd_devices(const options *o)
{
    const size_t n = nino_devices(NULL, 0);
    nino_device_info *d = calloc(n + 1, sizeof(*d));
    if (!d) {
        say("devices: out of memory");
        return EXIT_RUN;
    }
    size_t got = nino_devices(d, n);
    got = got < n ? got : n;
    if (o->json) {
        js_envelope("devices");
        js_open("devices", '[');
        for (size_t i = 0; i < got; i++)
            device_json(&d[i]);
        js_close(']');
        js_envelope_end();
    } else if (got) {
        printf("%-8s %-4s %5s %10s  %-14s %s\n", "SEL", "KIND", "UNITS", "MEMORY", "PROFILE",
               "NAME");
    }
    for (size_t i = 0; i < got && !o->json; i++) {
        char mem[32];
        printf("%-8s %-4s %5u %10s  %-14s %s\n", d[i].selector, d[i].is_gpu ? "gpu" : "cpu",
               d[i].compute_units, human_bytes(mem, sizeof(mem), (double) d[i].mem_bytes),
               d[i].profile, d[i].name);
        if (*d[i].problem)
            printf("%-8s cannot be used: %s\n", "", d[i].problem);
    }
    free(d);
    return EXIT_OK;
}

typedef struct tally {
    const options *o;
    size_t ok, bad;
} tally;

static void on_case(void *priv, const nino_selftest_case *c)
{
    tally *t = priv;
    t->ok += c->ok != 0;
    t->bad += !c->ok;
    if (t->o->json) {
        js_line("event/1", "case");
        js_text("name", c->name);
        js_bool("ok", c->ok);
        js_num("nmse", c->nmse);
        js_num("max_abs", c->max_abs);
        js_num("tolerance", c->tol);
        js_num("ms", c->ms);
        js_num("gflops", c->gflops);
        js_text("note", c->note);
        js_end();
    } else if (!c->ok || !t->o->quiet) {
        printf("%-4s %-56s nmse %.2e", c->ok ? "ok" : "FAIL", c->name, c->nmse);
        if (c->ms > 0)
            printf("  %9.3f ms %8.1f GFLOP/s", c->ms, c->gflops);
        printf("%s%s\n", c->note && *c->note ? "  " : "", c->note ? c->note : "");
        fflush(stdout);
    }
}

int cmd_selftest(const options *o)
{
    nino_error err = { .code = NINO_OK };
    tally t = { .o = o };
    const nino_selftest_params p = {
        .device = o->device, .op = o->op, .seed = o->seed, .bench = o->bench, .quick = o->fast
    };
    const nino_status st = nino_selftest(&p, on_case, &t, &err);
    if (st && !t.bad) { // it did not even get to a wrong result
        const bool is_op = o->op && err.code == NINO_ERR_UNKNOWN && !strcmp(err.where, o->op);
        const int rc = report_error(o, "selftest", &err,
                                    is_op ? "--op takes a part of a case's name"
                                          : "ninodes devices lists the devices");
        return is_op ? EXIT_USAGE : err.code == NINO_ERR_UNKNOWN ? EXIT_DEVICE : rc;
    }
    if (o->json && !t.bad) {
        js_envelope("selftest");
        js_uint("passed", t.ok);
        js_envelope_end();
    } else if (o->json) {
        js_envelope_error("selftest", "wrong", "some kernels are wrong on this device", "", NULL);
    } else if (!o->quiet) {
        printf("%zu passed, %zu failed\n", t.ok, t.bad);
    }
    return t.bad ? EXIT_DEVICE : EXIT_OK;
}
