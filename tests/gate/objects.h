// What code objects are made of: sources, options and keys of programs, and for each program calls of ops that
// launch its kernels, by which a device checks it. bench's `make code-objects` compiles them
// (tests/gate/code_objects.py).
#pragma once
#include "cl/runtime.h"
#include "core/harness/kernel_call.h"
#include "core/harness/kernel_check_priv.h"
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"

enum {
    MOST_CALLS = 6, // of a program: each takes time before its first use
    MOST_KERNELS = 64
};

typedef struct object_calls {
    nino_buf text; // a line a call
    char kernel[MOST_KERNELS][48];
    int n;
} object_calls;

typedef struct objects {
    nino_programs programs; // wanted
    const char *kernels;    // NULL, or: all of these, lines "KERNEL FILE OPTIONS", are to be called
    object_calls *calls;    // of each program
    nino_profile profile;
} objects;

static inline bool objects_has(const objects *o, const nino_plan_program *p, size_t *at)
{
    for (*at = 0; *at < o->programs.n; ++*at)
        if (!strcmp(o->programs.list[*at].file, p->file) &&
            !strcmp(o->programs.list[*at].options, p->options))
            return true;
    return false;
}

static inline bool objects_calls_kernel(const object_calls *c, const char *kernel)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->kernel[i], kernel))
            return true;
    return false;
}

static inline void objects_add_call(object_calls *c, int most, const char *kernel, const char *call)
{
    if (objects_calls_kernel(c, kernel) || c->n == most)
        return;
    snprintf(c->kernel[c->n++], sizeof(c->kernel[0]), "%s", kernel);
    if (!c->text.len || !strstr(c->text.data, call)) // of another kernel, too
        nino_buf_addf(&c->text, "%s\n", call);
}

// Calls that check a device's objects: the first kernel that each launches.
static inline void objects_add_first(objects *o, const nino_programs *programs, const char *call)
{
    char kernel[48] = "";
    size_t at;
    if (programs->launches->data)
        sscanf(programs->launches->data, "%47s", kernel);
    for (size_t i = 0; i < programs->n; i++)
        if (objects_has(o, &programs->list[i], &at))
            objects_add_call(&o->calls[at], MOST_CALLS, kernel, call);
}

// "KERNEL FILE OPTIONS", of which options may have blanks to spare, as a program and its kernel.
static inline void objects_read_kernel(const char *line, char kernel[48], nino_plan_program *p)
{
    int at = 0;
    char word[100];
    *p = (nino_plan_program){ .file = "" };
    CHECK(sscanf(line, "%47s %31s%n", kernel, p->file, &at) == 2);
    for (int n; sscanf(line += at, "%99s%n", word, &n) == 1; at = n)
        snprintf(p->options + strlen(p->options), sizeof(p->options) - strlen(p->options), "%s%s",
                 *p->options ? " " : "", word);
}

// Every kernel that is wanted.
static inline void objects_add_all(objects *o, const nino_programs *programs, const char *call)
{
    char kernel[48], line[400];
    nino_plan_program p;
    size_t at;
    for (char *rest = programs->launches->data, *launch; rest && (launch = strsep(&rest, "\n"));) {
        if (!*launch)
            continue;
        objects_read_kernel(launch, kernel, &p);
        snprintf(line, sizeof(line), "%s %s%s%s\n", kernel, p.file, *p.options ? " " : "",
                 p.options);
        if (strstr(o->kernels, line) && objects_has(o, &p, &at))
            objects_add_call(&o->calls[at], MOST_KERNELS, kernel, call);
    }
}

// A case counts for the programs that it launches kernels of, when all of them are wanted: a device that checks
// has no others.
static inline void objects_try(objects *o, const nino_check_case *c, nino_dtype type)
{
    nino_error e;
    nino_buf launches = { 0 };
    nino_programs programs = { .launches = &launches, .tells_helpers = o->kernels != NULL };
    check_job job = { .w = NULL };
    check_side side = { .in_place = -1 };
    char call[NINO_CALL_TEXT];
    nino_backend *lister = nino_device_program_lister(&o->profile, NULL, &programs);
    nino_backend *be = lister ? nino_plan_open(&o->profile, 0, NULL, &e) : NULL;
    CHECK(be);
    nino_plan_set_lister(be, lister);
    side.be = be;
    side.in_place = c->op == NINO_OP_BLEND ? 0 : -1;
    bool ok = !check_job_init(&job, c, type, &o->profile, 1, &e) &&
              !check_side_prepare(&side, &job, &e) && !be->impl->run(be, &side.call, &e) &&
              *nino_call_write(call, &job.d) && programs.n;
    nino_check_case again;
    nino_dtype its;
    ok = ok && !nino_call_read(call, &again, &its, &e) && its == type;
    size_t at;
    for (size_t i = 0; i < programs.n && ok; i++)
        ok = objects_has(o, &programs.list[i], &at);
    if (ok && o->kernels)
        objects_add_all(o, &programs, call);
    else if (ok)
        objects_add_first(o, &programs, call);
    check_side_release(&side);
    check_job_release(&job);
    nino_backend_close(&be);
    nino_programs_release(&programs);
    nino_buf_release(&launches);
}

// Heads of widths that the cases of the harness leave out.
static inline void objects_try_heads(objects *o, nino_dtype type)
{
    static const int depths[] = { 16, 40, 64, 80, 96, 128, 160, 256, 384, 512, 640, 1024, 2048, 7 };
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        for (int k = 0; k < 4; k++) {
            const int64_t d = depths[i];
            nino_check_case c = { .op = NINO_OP_ATTENTION,
                                  .attr.heads = 1,
                                  .attr.is_causal = k & 1,
                                  .src = { { 1, 33, d }, { 1, 65, d }, { 1, 65, d } } };
            if (k & 2)
                memcpy(c.src[3], (const int64_t[]){ 1, 1, 33, 65 }, sizeof(int64_t[4]));
            objects_try(o, &c, type);
        }
}

static inline bool objects_want(const objects *o, const char *type)
{
    char word[40];
    snprintf(word, sizeof(word), "=%s ", type);
    for (size_t i = 0; i < o->programs.n; i++) {
        char options[300];
        snprintf(options, sizeof(options), "%s ", o->programs.list[i].options);
        if (strstr(options, word))
            return true;
    }
    return false;
}

// Products with weights of all kinds that are wanted, of every tile: the largest where they fill 20 processors once, the
// next where there are enough for 96; and one so long that its sums are done in parts.
static inline void objects_try_linears(objects *o, nino_dtype type, nino_dtype weight, int64_t c)
{
    static const struct {
        int64_t rows, n, c; // c: 0, or another than usual
    } shapes[] = { { 3, 72, 0 },      { 17, 70, 0 },    { 33, 72, 0 },
                   { 1024, 1536, 0 }, { 12288, 64, 0 }, { 300, 12, 0 },
                   { 300, 5, 0 },     { 5120, 128, 0 }, { 33, 72, 8192 } };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        nino_check_case linear = { .op = NINO_OP_LINEAR,
                                   .src = { { shapes[i].rows, shapes[i].c ? shapes[i].c : c } },
                                   .n = shapes[i].n,
                                   .bias = true,
                                   .weight = weight };
        objects_try(o, &linear, type);
    }
}

static inline void objects_try_images(objects *o, nino_dtype type, nino_dtype weight, int64_t c)
{
    static const struct {
        int64_t h, w, n;
    } images[] = { { 5, 7, 72 }, { 32, 32, 1536 }, { 96, 128, 64 }, { 64, 80, 128 } };
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        nino_check_case image = { .op = NINO_OP_CONV2D,
                                  .attr = { .kernel = 3, .stride = 1 },
                                  .src = { { 1, images[i].h, images[i].w, c } },
                                  .n = images[i].n,
                                  .bias = true,
                                  .weight = weight };
        objects_try(o, &image, type);
        if (nino_dtype_is_block(weight))
            return;
    }
}

static inline void objects_try_clips(objects *o, nino_dtype type, nino_dtype weight, int64_t c)
{
    static const struct {
        int64_t t, h, w, n, c;
    } clips[] = { { 3, 5, 7, 72, 0 },    { 2, 32, 64, 384, 0 }, { 3, 64, 64, 64, 0 },
                  { 3, 9, 11, 12, 0 },   { 3, 9, 11, 5, 0 },    { 3, 5, 7, 70, 0 },
                  { 2, 40, 64, 128, 0 }, { 2, 4, 5, 72, 256 } };
    for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
        nino_check_case clip = { .op = NINO_OP_CONV3D,
                                 .attr = { .kernel = 3, .stride = 1, .stride_t = 1, .pad_t = 2 },
                                 .src = { { clips[i].t, clips[i].h, clips[i].w,
                                            clips[i].c ? clips[i].c : c } },
                                 .n = clips[i].n,
                                 .bias = true,
                                 .weight = weight };
        objects_try(o, &clip, type);
    }
}

static inline void objects_try_products(objects *o, nino_dtype type, nino_dtype weight)
{
    const bool is_block = nino_dtype_is_block(weight);
    for (int k = 0; k < (is_block ? 1 : 2); k++) {
        const int64_t few = is_block ? 256 : k ? 3 : 8;
        objects_try_linears(o, type, weight, is_block ? 256 : k ? 19 : 16);
        objects_try_images(o, type, weight, few);
        objects_try_clips(o, type, weight, few);
    }
}

static inline void objects_find_calls(objects *o)
{
    static const nino_dtype types[] = { NINO_F16, NINO_BF16, NINO_F32 };
    for (int t = 0; t < 3; t++) {
        for (size_t i = 0; i < nino_n_check_cases; i++)
            if (!nino_check_cases[i].is_large && !nino_check_cases[i].only_bench)
                objects_try(o, &nino_check_cases[i], types[t]);
        objects_try_heads(o, types[t]);
        for (int w = 0; w < NINO_DTYPE_COUNT; w++)
            if (objects_want(o, nino_dtype_name((nino_dtype) w)))
                objects_try_products(o, types[t], (nino_dtype) w);
    }
}

static inline void objects_put(const char *dir, size_t n, const char *schedule, const char *text)
{
    char path[600];
    snprintf(path, sizeof(path), "%s/%s_%zu.cl", dir, schedule, n);
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

// A line a program and target: target, key, source, define, file, options, calls between bars.
static inline size_t objects_print(const objects *o, const char *const *targets, const char *dir,
                                   FILE *index)
{
    const nino_sched *schedule = o->profile.schedule;
    size_t n_unchecked = 0;
    for (size_t i = 0; i < o->programs.n; i++) {
        const nino_plan_program *p = &o->programs.list[i];
        nino_error e;
        char line[64], *common = NULL, *own = NULL;
        if (!o->calls[i].n) {
            printf("  nothing checks %s %s of %s: it is not shipped\n", p->file, p->options,
                   schedule->name);
            n_unchecked++;
            continue;
        }
        snprintf(line, sizeof(line), "\n#line 1 \"%s.cl\"\n", p->file);
        CHECK_OK(nino_cl_program_source(&o->profile, "common", &common, &e), e);
        CHECK_OK(nino_cl_program_source(&o->profile, p->file, &own, &e), e);
        const char *const source[] = { common, line, own };
        nino_buf all = { 0 };
        nino_buf_addf(&all, "%s%s%s", common, line, own);
        objects_put(dir, i, schedule->name, all.data);
        for (const char *const *t = targets; *t; t++) {
            const nino_cl_key key = nino_cl_code_key(*t, schedule->define, p->options, source);
            fprintf(index, "%s\t", *t);
            for (size_t k = 0; k < sizeof(key.sha); k++)
                fprintf(index, "%02x", key.sha[k]);
            fprintf(index, "\t%s_%zu.cl\t%s\t%s\t%s\t", schedule->name, i, schedule->define,
                    p->file, p->options);
            for (const char *c = o->calls[i].text.data; *c; c++)
                fputc(*c == '\n' ? '|' : *c, index);
            fputc('\n', index);
        }
        nino_buf_release(&all);
        free(common);
        free(own);
    }
    return n_unchecked;
}

static inline void objects_release(objects *o)
{
    for (size_t i = 0; i < o->programs.n; i++)
        nino_buf_release(&o->calls[i].text);
    free(o->calls);
    nino_programs_release(&o->programs);
}

// Programs of lines "FILE OPTIONS", and calls of them; kernels: as in objects, until they are released.
static inline void objects_init(objects *o, const char *schedule, const char *lines,
                                const char *kernels)
{
    nino_error e;
    char *copy = strdup(lines), *rest = copy, *line;
    *o = (objects){ .kernels = kernels };
    CHECK(copy);
    CHECK_OK(nino_profile_load("gfx1151", &o->profile, &e), e);
    CHECK_OK(nino_sched_find(schedule, "", &o->profile.schedule, &e), e);
    while ((line = strsep(&rest, "\n"))) {
        char *options = strchr(line, ' ');
        if (options)
            *options++ = 0;
        if (*line)
            nino_programs_add(&o->programs, line, options ? options : "");
    }
    CHECK((o->calls = calloc(o->programs.n + 1, sizeof(*o->calls))));
    objects_find_calls(o);
    free(copy);
}

// For a schedule and its GPUs; how many programs have no call that checks them.
static inline size_t objects_write(const char *schedule, const char *lines,
                                   const char *const *targets, const char *dir, FILE *index)
{
    objects o;
    objects_init(&o, schedule, lines, NULL);
    const size_t n = objects_print(&o, targets, dir, index);
    objects_release(&o);
    return n;
}
