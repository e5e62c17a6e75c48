// What code objects are made of: sources, options and keys of programs, and for each program calls of ops that
// launch its kernels, by which a device checks it. bench's `make code-objects` compiles them
// (tests/gate/code_objects.py).
#pragma once
#include "cl/runtime.h"
#include "core/harness/kernel_call.h"
#include "core/harness/kernel_check_priv.h"
#include "core/op/device/device.h"
#include "core/op/plan/plan.h"

enum { MOST_CALLS = 6 }; // of a program: each takes time before its first use

typedef struct object_calls {
    nino_buf text; // a line a call
    char kernel[MOST_CALLS][48];
    int n;
} object_calls;

typedef struct objects {
    nino_programs programs; // wanted
    object_calls *calls;    // of each
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

static inline void objects_add_call(object_calls *c, const char *kernel, const char *call)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->kernel[i], kernel))
            return;
    if (c->n == MOST_CALLS)
        return;
    snprintf(c->kernel[c->n++], sizeof(c->kernel[0]), "%s", kernel);
    nino_buf_addf(&c->text, "%s\n", call);
}

// A case counts for the programs that it launches kernels of, when all of them are wanted: a device that checks
// has no others.
static inline void objects_try(objects *o, const nino_check_case *c, nino_dtype type)
{
    nino_error e;
    nino_buf launches = { 0 };
    nino_programs programs = { .launches = &launches };
    check_job job = { .w = NULL };
    check_side side = { .in_place = -1 };
    char call[NINO_CALL_TEXT], kernel[48] = "";
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
    if (launches.data)
        sscanf(launches.data, "%47s", kernel);
    for (size_t i = 0; i < programs.n && ok; i++)
        if (objects_has(o, &programs.list[i], &at))
            objects_add_call(&o->calls[at], kernel, call);
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

// Products with weights of all kinds that are wanted, of every tile: the largest when there are enough of them for
// 96 compute units.
static inline void objects_try_products(objects *o, nino_dtype type, nino_dtype weight)
{
    static const struct {
        int64_t rows, n;
    } shapes[] = { { 3, 72 },     { 17, 70 },  { 33, 72 }, { 1024, 1536 },
                   { 12288, 64 }, { 300, 12 }, { 300, 5 } };
    static const struct {
        int64_t t, h, w, n;
    } clips[] = { { 3, 5, 7, 72 },  { 2, 32, 64, 384 }, { 3, 64, 64, 64 },
                  { 3, 9, 11, 12 }, { 3, 9, 11, 5 },    { 3, 5, 7, 70 } };
    static const struct {
        int64_t h, w, n;
    } images[] = { { 5, 7, 72 }, { 32, 32, 1536 }, { 96, 128, 64 } };
    const bool is_block = nino_dtype_is_block(weight);
    for (int k = 0; k < (is_block ? 1 : 2); k++) {
        const int64_t c = is_block ? 256 : k ? 19 : 16, few = is_block ? 256 : k ? 3 : 8;
        for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
            nino_check_case linear = { .op = NINO_OP_LINEAR,
                                       .src = { { shapes[i].rows, c } },
                                       .n = shapes[i].n,
                                       .bias = true,
                                       .weight = weight };
            objects_try(o, &linear, type);
        }
        for (size_t i = 0; i < (is_block ? 1 : sizeof(images) / sizeof(images[0])); i++) {
            nino_check_case image = { .op = NINO_OP_CONV2D,
                                      .attr = { .kernel = 3, .stride = 1 },
                                      .src = { { 1, images[i].h, images[i].w, few } },
                                      .n = images[i].n,
                                      .bias = true,
                                      .weight = weight };
            objects_try(o, &image, type);
        }
        for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
            nino_check_case clip = {
                .op = NINO_OP_CONV3D,
                .attr = { .kernel = 3, .stride = 1, .stride_t = 1, .pad_t = 2 },
                .src = { { clips[i].t, clips[i].h, clips[i].w, few } },
                .n = clips[i].n,
                .bias = true,
                .weight = weight
            };
            objects_try(o, &clip, type);
        }
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

// Lines "FILE OPTIONS" of programs, for a schedule and its GPUs; how many have no call that checks them.
static inline size_t objects_write(const char *schedule, const char *lines,
                                   const char *const *targets, const char *dir, FILE *index)
{
    objects o = { .programs = { .n = 0 } };
    nino_error e;
    char *copy = strdup(lines), *rest = copy, *line;
    CHECK(copy);
    CHECK_OK(nino_profile_load("gfx1151", &o.profile, &e), e);
    CHECK_OK(nino_sched_find(schedule, "", &o.profile.schedule, &e), e);
    while ((line = strsep(&rest, "\n"))) {
        char *options = strchr(line, ' ');
        if (options)
            *options++ = 0;
        if (*line)
            nino_programs_add(&o.programs, line, options ? options : "");
    }
    CHECK((o.calls = calloc(o.programs.n + 1, sizeof(*o.calls))));
    objects_find_calls(&o);
    const size_t n = objects_print(&o, targets, dir, index);
    objects_release(&o);
    free(copy);
    return n;
}
