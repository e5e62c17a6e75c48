// ninodes devices and selftest: what there is to compute on, and whether it computes right.
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ceilings_json(const nino_ceilings *c)
{
    js_open("ceilings", '{');
    js_text("device", c->device);
    js_text("driver", c->driver);
    js_text("platform", c->platform);
    js_int("measured_at", c->measured_at);
    js_num("flops_f32", c->flops_f32);
    js_num("flops_f16", c->flops_f16 > 0 ? c->flops_f16 : (double) NAN);
    js_num("bandwidth", c->bandwidth);
    js_num("launch_s", c->launch_s);
    js_num("upload", c->upload);
    js_num("download", c->download);
    js_num("efficiency_gemm", c->efficiency_gemm);
    js_num("efficiency_conv", c->efficiency_conv);
    js_num("efficiency_attn", c->efficiency_attn);
    js_open("bandwidths", '[');
    for (size_t i = 0; i < c->n_points; i++) {
        js_open(NULL, '{');
        js_uint("bytes", c->point[i].bytes);
        js_num("read", c->point[i].read);
        js_num("write", c->point[i].write);
        js_num("copy", c->point[i].copy);
        js_close('}');
    }
    js_close(']');
    js_close('}');
}

static void device_json(const nino_device_info *d)
{
    js_open(NULL, '{');
    js_text("selector", d->selector);
    js_text("name", d->name);
    js_text("vendor", d->vendor);
    js_text("driver", d->driver);
    js_text("platform", d->platform);
    js_text("profile", d->profile);
    js_text("schedule", d->schedule);
    js_bool("gpu", d->is_gpu);
    js_uint("compute_units", d->compute_units);
    js_uint("mem_bytes", d->mem_bytes);
    js_uint("max_buffer", d->max_buffer);
    js_uint("local_bytes", d->local_bytes);
    js_bool("fp16", d->has_fp16);
    js_bool("fp64", d->has_fp64);
    js_text("problem", *d->problem ? d->problem : NULL);
    nino_ceilings c;
    if (nino_ceilings_load(NULL, d, &c, NULL) == NINO_OK)
        ceilings_json(&c);
    js_close('}');
}

static void ceilings_text(const nino_ceilings *c)
{
    char b[32], source[80];
    printf("%s (%s), %s\n", c->device, c->driver, peak_source(c, source, sizeof(source)));
    printf("  fused multiply-add  f32 %.1f GFLOP/s", c->flops_f32 * 1e-9);
    if (c->flops_f16 > 0)
        printf(", f16 %.1f GFLOP/s\n", c->flops_f16 * 1e-9);
    else
        printf(", f16 not supported\n");
    printf("  kernel launch       %.1f us\n", c->launch_s * 1e6);
    printf("  host to device      %.1f GB/s, back %.1f GB/s\n", c->upload * 1e-9,
           c->download * 1e-9);
    printf("  share of f32 peak   matrix product %.0f %%, convolution %.0f %%, attention %.0f %%\n",
           c->efficiency_gemm * 100, c->efficiency_conv * 100, c->efficiency_attn * 100);
    printf("  %12s %12s %12s %12s  (GB/s)\n", "working set", "read", "write", "copy");
    for (size_t i = 0; i < c->n_points; i++)
        printf("  %12s %12.1f %12.1f %12.1f\n",
               human_bytes(b, sizeof(b), (double) c->point[i].bytes), c->point[i].read * 1e-9,
               c->point[i].write * 1e-9, c->point[i].copy * 1e-9);
}

static void on_probe(void *priv, const char *what)
{
    const options *o = priv;
    if (!o->json)
        fprintf(stderr, "measuring: %s\n", what);
}

// How fast it is, and who says so; nothing where nobody does.
static void speed_text(const nino_device_info *d)
{
    nino_ceilings c;
    char source[80];
    if (nino_ceilings_load(NULL, d, &c, NULL) &&
        (nino_ceilings_of_profile(d->profile, &c, NULL) || c.bandwidth <= 0))
        return;
    printf("%-8s %.0f GFLOP/s in f32, %.0f GB/s, %s\n", "", c.flops_f32 * 1e-9, c.bandwidth * 1e-9,
           peak_source(&c, source, sizeof(source)));
}

static int cmd_devices_measure(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_ceilings c;
    const nino_measure_params p = { NINO_MEASURE_PARAMS_INIT, .device = o->device,
                                    .progress = on_probe, .priv = (void *) (uintptr_t) o };
    if (nino_measure(&p, &c, &err)) {
        const int rc = report_error(o, "devices", &err, NULL);
        return err.code == NINO_ERR_UNKNOWN ? EXIT_DEVICE : rc;
    }
    if (o->json) {
        js_envelope("devices");
        ceilings_json(&c);
        js_envelope_end();
    } else {
        ceilings_text(&c);
    }
    return EXIT_OK;
}

int cmd_devices(const options *o)
{
    if (o->measure)
        return cmd_devices_measure(o);
    const size_t n = nino_devices(NULL, 0);
    nino_device_info *d = calloc(n + 1, sizeof(*d));
    if (!d) {
        say("devices: out of memory");
        return EXIT_RUN;
    }
    size_t got = nino_devices(d, n);
    got = got < n ? got : n;
    char found[4096];
    const bool is_explained = devices_explained(found, sizeof(found)) > 0;
    if (o->json) {
        js_envelope("devices");
        js_open("devices", '[');
        for (size_t i = 0; i < got; i++)
            device_json(&d[i]);
        js_close(']');
        js_text("explanation", is_explained ? found : NULL);
        js_envelope_end();
    } else if (got) {
        printf("%-8s %-4s %5s %10s  %-14s %-10s %s\n", "SEL", "KIND", "UNITS", "MEMORY", "PROFILE",
               "SCHEDULE", "NAME");
    }
    for (size_t i = 0; i < got && !o->json; i++) {
        char mem[32];
        printf("%-8s %-4s %5u %10s  %-14s %-10s %s\n", d[i].selector, d[i].is_gpu ? "gpu" : "cpu",
               d[i].compute_units, human_bytes(mem, sizeof(mem), (double) d[i].mem_bytes),
               d[i].profile, d[i].schedule, d[i].name);
        if (*d[i].problem)
            printf("%-8s cannot be used: %s\n", "", d[i].problem);
        else
            speed_text(&d[i]);
    }
    free(d);
    return EXIT_OK;
}

typedef struct tally {
    const options *o;
    size_t ok, bad;
} tally;

static void on_cmd_devices_case(void *priv, const nino_selftest_case *c)
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
        NINO_SELFTEST_PARAMS_INIT, .device = o->device, .op = o->op,
        .seed = o->seed,           .bench = o->bench,   .quick = o->fast,
        .schedule = o->schedule,   .gemm = o->gemm
    };
    const nino_status st = nino_selftest(&p, on_cmd_devices_case, &t, &err);
    if (st && !t.bad) { // it did not even get to a wrong result
        const bool is_op = o->op && err.code == NINO_ERR_UNKNOWN && !strcmp(err.where, o->op);
        const bool is_schedule = o->schedule && !strcmp(err.where, o->schedule);
        const bool is_gemm = o->gemm && !strcmp(err.where, o->gemm) && err.code == NINO_ERR_ARG;
        const int rc = report_error(o, "selftest", &err,
                                    is_op         ? "--op takes a part of a case's name"
                                    : is_schedule ? "--schedule is for OpenCL devices"
                                    : is_gemm     ? "--gemm is for OpenCL devices"
                                                  : "ninodes devices lists the devices");
        return is_op || is_schedule || is_gemm ? EXIT_USAGE
               : err.code == NINO_ERR_UNKNOWN  ? EXIT_DEVICE
                                               : rc;
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
