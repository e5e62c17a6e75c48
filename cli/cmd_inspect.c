// ninodes inspect: what a model, latent or image file is.
#include "commands.h"

#include <string.h>
#include <time.h>

enum { META_WIDTH = 160 };

// Text of a file: one line, shortened.
static void print_text(const char *s, size_t width)
{
    char text[1024];
    snprintf(text, width < sizeof(text) ? width + 1 : sizeof(text), "%s", s);
    for (char *p = text; *p; p++)
        *p = *p == '\n' ? ' ' : *p;
    nino_utf8_printable(text, sizeof(text), text, strlen(text));
    printf("%s%s\n", text, strlen(s) > width ? "..." : "");
}

// The profile of a run as a table; false: it is none that this version knows.
static bool print_profile(const char *json)
{
    nino_run_profile p;
    char a[32], date[32] = "?";
    if (nino_run_profile_read(json, strlen(json), &p, NULL))
        return false;
    const time_t t = (time_t) p.started;
    struct tm tm;
    if (gmtime_r(&t, &tm))
        strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%SZ", &tm);
    printf("profile       %s, ninodes %s, ", date, p.version);
    print_text(p.device, META_WIDTH);
    printf("%-13s %.3f s, %llu kernels, %.1f GFLOP, peak %s, precision %s\n", "", p.seconds,
           (unsigned long long) p.kernels, p.flops * 1e-9,
           human_bytes(a, sizeof(a), (double) p.peak_bytes), p.precision);
    for (size_t i = 0; i < p.n_nodes; i++) {
        const nino_run_profile_node *n = &p.nodes[i];
        char name[240], load[64] = "";
        if (n->load_bytes && n->load_seconds > 0)
            snprintf(load, sizeof(load), " (%s of weights at %.2f GB/s)",
                     human_bytes(a, sizeof(a), (double) n->load_bytes),
                     (double) n->load_bytes * 1e-9 / n->load_seconds);
        snprintf(name, sizeof(name), "%s %s%s%s", n->node, n->class_type,
                 n->is_cached ? " (cached)" : "", load);
        printf("%-13s %10.3f s %12s  %8llu kernels  ", "", n->seconds,
               human_bytes(a, sizeof(a), (double) n->memory_delta),
               (unsigned long long) n->kernels);
        print_text(name, META_WIDTH);
    }
    nino_run_profile_release(&p);
    return true;
}

static void shape_text(char *buf, size_t size, const nino_inspect_tensor *t)
{
    size_t at = 0;
    buf[0] = 0;
    for (int i = 0; i < t->rank && at < size; i++)
        at += (size_t) snprintf(buf + at, size - at, "%s%lld", i ? "x" : "", (long long) t->dim[i]);
}

static void as_text(const options *o, const nino_inspect *f)
{
    char a[32], b[32], shape[160];
    printf("format        %s\n", f->format);
    printf("size          %s, tensors %s in %zu\n",
           human_bytes(a, sizeof(a), (double) f->file_bytes),
           human_bytes(b, sizeof(b), (double) f->tensor_bytes), f->n_tensors);
    for (size_t i = 0; i < f->n_parts; i++)
        printf("%-13s %s%s%s\n", f->parts[i].role, f->parts[i].family,
               *f->parts[i].detail ? ": " : "", f->parts[i].detail);
    for (size_t i = 0; i < f->n_dtypes; i++)
        printf("%-13s %s  %llu tensors, %s\n", i ? "" : "types", f->dtypes[i].name,
               (unsigned long long) f->dtypes[i].tensors,
               human_bytes(a, sizeof(a), (double) f->dtypes[i].bytes));
    printf("quantisation  %s\n", f->quantisation ? f->quantisation : "none");
    if (f->name_hint && *f->name_hint)
        printf("name          says %s, the content does not\n", f->name_hint);
    if (f->arch_hint && *f->arch_hint)
        printf("architecture  general.architecture says %s, the content does not\n", f->arch_hint);
    for (size_t i = 0; i < f->n_meta; i++) {
        if (!strcmp(f->meta[i].key, NINO_RUN_PROFILE_KEY) && print_profile(f->meta[i].value))
            continue;
        printf("%-13s ", i ? "" : "metadata");
        nino_utf8_printable(shape, 61, f->meta[i].key, strlen(f->meta[i].key));
        printf("%s = ", shape);
        print_text(f->meta[i].value, META_WIDTH);
    }
    for (size_t i = 0; o->tensors && i < f->n_tensors; i++) {
        const nino_inspect_tensor *t = &f->tensors[i];
        shape_text(shape, sizeof(shape), t);
        printf("%-9s %-22s %12llu  ", t->dtype, shape, (unsigned long long) t->bytes);
        print_text(t->name, 1000);
    }
}

static void as_json(const nino_inspect *f)
{
    js_envelope("inspect");
    js_text("format", f->format);
    js_uint("file_bytes", f->file_bytes);
    js_uint("tensor_bytes", f->tensor_bytes);
    js_text("quantisation", f->quantisation);
    js_text("name_hint", f->name_hint);
    js_text("arch_hint", f->arch_hint);
    js_open("parts", '[');
    for (size_t i = 0; i < f->n_parts; i++) {
        js_open(NULL, '{');
        js_text("role", f->parts[i].role);
        js_text("family", f->parts[i].family);
        js_text("detail", f->parts[i].detail);
        js_close('}');
    }
    js_close(']');
    js_open("dtypes", '[');
    for (size_t i = 0; i < f->n_dtypes; i++) {
        js_open(NULL, '{');
        js_text("name", f->dtypes[i].name);
        js_uint("tensors", f->dtypes[i].tensors);
        js_uint("bytes", f->dtypes[i].bytes);
        js_close('}');
    }
    js_close(']');
    js_open("metadata", '{');
    for (size_t i = 0; i < f->n_meta; i++)
        js_text(f->meta[i].key, f->meta[i].value);
    js_close('}');
    js_open("tensors", '[');
    for (size_t i = 0; i < f->n_tensors; i++) {
        const nino_inspect_tensor *t = &f->tensors[i];
        js_open(NULL, '{');
        js_text("name", t->name);
        js_text("dtype", t->dtype);
        js_open("shape", '[');
        for (int k = 0; k < t->rank; k++)
            js_int(NULL, t->dim[k]);
        js_close(']');
        js_uint("bytes", t->bytes);
        js_close('}');
    }
    js_close(']');
    js_envelope_end();
}

int cmd_inspect(const options *o)
{
    nino_error err = { .code = NINO_OK };
    nino_inspect f = { .format = "" };
    if (nino_inspect_file(o->arg[0], &f, &err))
        return report_error(o, "inspect", &err,
                            err.code == NINO_ERR_MISSING ? "give the path of the file" : NULL);
    if (o->json)
        as_json(&f);
    else
        as_text(o, &f);
    nino_inspect_release(&f);
    return EXIT_OK;
}
