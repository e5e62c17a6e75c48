// Programs: source (built in or from a folder) + options -> kernels; through the binary cache.
#include "cl/blas.h"
#include "cl/cl_schedule.h"
#include "cl/runtime.h"

#include "core/base/time.h"
#include "core/base/thread.h"
#include "core/base/vars.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct nino_cl_program {
    struct nino_cl_program *next;
    char *file, *defs;
    cl_program handle;
    nino_cl_kernel *kernels;
    bool is_known;   // from a binary, or the driver has had it before
    bool is_shipped; // a code object
};

enum { MAX_LOG = 1 << 20, MAX_BINARY = 64 << 20 };
static const char format_version[] = "ninodes kernels 1";

static nino_cl_key program_key_of(const nino_cl *cl, const char *const source[3],
                                  const char *options)
{
    const nino_cl_device *d = cl->dev;
    const char *const parts[] = {
        format_version, options,    d->info.name,     d->info.vendor,
        d->info.driver, d->version, d->info.platform, d->platform_version,
        source[0],      source[1],  source[2],
    };
    return nino_cl_hash(parts, sizeof(parts) / sizeof(parts[0]));
}

// From a binary of the cache; NULL: it does not fit, which is no error.
static cl_program from_binary(nino_cl *cl, const void *data, size_t bytes, const char *options)
{
    cl_int e, status;
    const unsigned char *binary = data;
    cl_program p = OCL_NEW(e, clCreateProgramWithBinary, cl->context, 1, &cl->dev->id, &bytes,
                           &binary, &status);
    if (p && (status || OCL(clBuildProgram, p, 1, &cl->dev->id, options, NULL, NULL))) {
        nino_ocl.clReleaseProgram(p);
        p = NULL;
    }
    return p;
}

// From the code objects that are shipped; NULL: there is none, or none that is right.
static cl_program from_code(nino_cl *cl, const struct nino_cl_program *p,
                            const char *const source[3], const char *options)
{
    size_t bytes;
    const int i =
        cl->code ? nino_cl_code_find(cl->code, cl->be.profile.schedule->define, p->defs, source)
                 : -1;
    if (i < 0 || !nino_cl_code_is_right(cl, i))
        return NULL;
    void *data = nino_cl_code_load(cl->code, i, &bytes, NULL);
    cl_program handle = data ? from_binary(cl, data, bytes, options) : NULL;
    free(data);
    return handle;
}

bool nino_cl_builds_at_launch(const nino_cl *cl)
{
    return strstr(cl->dev->info.platform, "Portable Computing Language") != NULL;
}

// PoCL compiles a second, general variant of every kernel to hand out a binary, 1 to 2 s a program, while
// its own cache, which cl_device.c puts inside ours, brings a program back in 60 ms. Its binary takes 4 ms:
// helpers make them when nobody waits any more.
static bool is_worth_saving(const nino_cl *cl) { return !nino_cl_builds_at_launch(cl); }

// Where the driver keeps programs itself, our cache has a mark for each that it was given here: the
// next time it need not compile, or nobody could say whether it did.
static const char driver_mark[] = "the driver has it";

static bool program_is_mark(const void *data, size_t bytes)
{
    return bytes == sizeof(driver_mark) && !memcmp(data, driver_mark, bytes);
}

static bool will_be_kept(const nino_cl *cl)
{
    const char *pocl = getenv("POCL_KERNEL_CACHE");
    return cl->cache && (is_worth_saving(cl) || !pocl || strcmp(pocl, "0") != 0);
}

static void save_binary(nino_cl *cl, cl_program p, const nino_cl_key *key)
{
    size_t bytes = 0;
    if (OCL(clGetProgramInfo, p, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL) || !bytes ||
        bytes > MAX_BINARY)
        return;
    unsigned char *data = malloc(bytes);
    if (data && !OCL(clGetProgramInfo, p, CL_PROGRAM_BINARIES, sizeof(data), &data, NULL))
        nino_cl_cache_put(cl->cache, key, data, bytes);
    free(data);
}

// The compiler's words go to the log.
static void log_build(nino_cl *cl, cl_program p, const char *file, nino_log_level level)
{
    size_t bytes = 0;
    if (nino_ocl.clGetProgramBuildInfo(p, cl->dev->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) ||
        bytes < 2 || bytes > MAX_LOG)
        return;
    char *text = calloc(bytes + 1, 1);
    if (text &&
        !nino_ocl.clGetProgramBuildInfo(p, cl->dev->id, CL_PROGRAM_BUILD_LOG, bytes, text, NULL))
        nino_logf(&cl->log, level, "%s.cl: %s", file, text);
    free(text);
}

// ---- building --------------------------------------------------------------------------------
// Compiling takes up to seconds and cannot be interrupted. One build at a time: while it runs
// nobody else calls the driver, unless a cancel has left it behind; then the next call that needs
// the device waits for it first.
struct nino_cl_build {
    nino_cl *cl;
    struct nino_cl_program *program; // owned until it is in the list
    nino_cl_key key;
    char options[1024];
    cl_int (*work)(nino_cl *cl); // in place of a program; NULL: there is one
    bool is_known;               // the driver has it in a cache of its own
    bool has_stage;              // who watches has been told
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    bool is_done;
    cl_int e;
};

static void program_destroy(const nino_cl *cl, struct nino_cl_program *p)
{
    const bool may_call = !cl->is_lost || cl->dev->is_host;
    for (nino_cl_kernel *k = p->kernels, *next; k; k = next) {
        next = k->next;
        if (may_call)
            nino_ocl.clReleaseKernel(k->handle);
        free(k->kept);
        free(k);
    }
    if (may_call && p->handle)
        nino_ocl.clReleaseProgram(p->handle);
    free(p->file);
    free(p->defs);
    free(p);
}

static void *run_compiler(void *priv)
{
    struct nino_cl_build *b = priv;
    const cl_int e = b->work ? b->work(b->cl)
                             : OCL(clBuildProgram, b->program->handle, 1, &b->cl->dev->id,
                                   b->options, NULL, NULL);
    pthread_mutex_lock(&b->lock);
    b->e = e;
    b->is_done = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

// False: a cancel came first.
static bool wait_build(struct nino_cl_build *b)
{
    pthread_mutex_lock(&b->lock);
    while (!b->is_done && !nino_backend_is_cancelled(&b->cl->be)) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        t.tv_nsec += 20000000; // a cancel is only a flag: look again
        t.tv_sec += t.tv_nsec / 1000000000;
        t.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&b->changed, &b->lock, &t);
    }
    const bool is_done = b->is_done;
    pthread_mutex_unlock(&b->lock);
    return is_done;
}

static void build_destroy(struct nino_cl_build **pb)
{
    struct nino_cl_build *b = *pb;
    if (b->has_thread)
        pthread_join(b->thread, NULL);
    if (b->program)
        program_destroy(b->cl, b->program);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
    *pb = NULL;
}

// Takes what has been built into the list.
static nino_status take_build(nino_cl *cl, nino_error *err)
{
    struct nino_cl_build *b = cl->build;
    struct nino_cl_program *p = b->program;
    nino_status st = NINO_OK;
    if (b->work) {
        cl->is_blas_ready = !b->e;
        st = b->e ? nino_cl_blas_fail(cl, b->e, err) : NINO_OK;
        build_destroy(&cl->build);
        return st;
    }
    log_build(cl, p->handle, p->file, b->e ? NINO_LOG_ERROR : NINO_LOG_DEBUG);
    if (b->e && nino_cl_room_explain(cl, err)) {
        st = NINO_ERR_IO;
    } else if (b->e && b->e != CL_BUILD_PROGRAM_FAILURE) {
        st = nino_cl_fail(cl, b->e, "clBuildProgram", err);
    } else if (b->e) {
        st = nino_fail_kind(err, NINO_ERR_DEVICE, "build", p->file,
                            "the kernels do not build with %s", b->options);
    } else {
        if (will_be_kept(cl) && is_worth_saving(cl))
            save_binary(cl, p->handle, &b->key);
        else if (will_be_kept(cl) && !b->is_known)
            nino_cl_cache_put(cl->cache, &b->key, driver_mark, sizeof(driver_mark));
        b->program = NULL;
        p->next = cl->programs;
        cl->programs = p;
    }
    build_destroy(&cl->build);
    return st;
}

static nino_status finish_build(nino_cl *cl, nino_error *err)
{
    return wait_build(cl->build) ? take_build(cl, err)
                                 : nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
}

// Whether the one left behind failed is for who asks for that program again.
nino_status nino_cl_build_settle(nino_cl *cl, nino_error *err)
{
    nino_error ignored;
    if (!cl->build || finish_build(cl, &ignored) != NINO_ERR_CANCELLED)
        return NINO_OK;
    return nino_fail(err, NINO_ERR_CANCELLED, "", "cancelled");
}

// Which of how many programs it is, for who watches.
static uint32_t begin_stage(nino_cl *cl, const char *file, bool is_known)
{
    char stage[64];
    snprintf(stage, sizeof(stage), NINO_STAGE_COMPILE "%.40s", file);
    return nino_monitor_begin(cl->be.monitor, NINO_EV_STAGE, stage,
                              NINO_COMPILE_ARG(is_known, cl->n_come),
                              NINO_COMPILE_ARG(will_be_kept(cl), cl->n_expected));
}

uint32_t nino_cl_stage_launch(nino_cl *cl, const nino_cl_kernel *k)
{
    char stage[80];
    snprintf(stage, sizeof(stage), NINO_STAGE_LAUNCH "%.40s", k->name);
    return nino_monitor_begin(cl->be.monitor, NINO_EV_STAGE, stage,
                              NINO_COMPILE_ARG(k->program->is_known, 0),
                              NINO_COMPILE_ARG(will_be_kept(cl), cl->n_expected));
}

// Compiles b's program, which has its source. Takes b.
static nino_status compile(nino_cl *cl, struct nino_cl_build *b, nino_error *err)
{
    const uint32_t scope =
        b->has_stage ? 0 : begin_stage(cl, b->program->file, b->is_known); // it can take seconds
    cl->build = b;
    b->has_thread = !nino_thread_start(&b->thread, "nino-compiler", run_compiler, b);
    if (!b->has_thread)
        run_compiler(b);
    const nino_status st = finish_build(cl, err);
    if (scope)
        nino_monitor_end_with(cl->be.monitor, scope, st);
    return st;
}

static struct nino_cl_build *build_create(nino_cl *cl, const char *file, const char *defs)
{
    struct nino_cl_build *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->cl = cl;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->program = calloc(1, sizeof(*b->program));
    if (b->program && (b->program->file = strdup(file)) && (b->program->defs = strdup(defs)))
        return b;
    build_destroy(&b);
    return NULL;
}

nino_status nino_cl_build_other(nino_cl *cl, const char *name, cl_int (*work)(nino_cl *),
                                nino_error *err)
{
    nino_status st = nino_cl_build_settle(cl, err);
    if (st || cl->is_blas_ready) // one that a cancel has left
        return st;
    struct nino_cl_build *b = build_create(cl, name, "");
    if (!b)
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    const uint64_t begin = nino_now_ns();
    b->work = work;
    st = compile(cl, b, err);
    cl->be.build_ns += nino_now_ns() - begin;
    cl->be.n_builds++;
    return st;
}

// From the binary cache or by compiling; takes b.
static nino_status build_source(nino_cl *cl, struct nino_cl_build *b, const char *const source[3],
                                nino_error *err)
{
    struct nino_cl_program *p = b->program;
    size_t bytes;
    cl_int e;
    b->key = program_key_of(cl, source, b->options);
    void *binary = cl->cache ? nino_cl_cache_get(cl->cache, &b->key, &bytes) : NULL;
    const bool is_mark = binary && program_is_mark(binary, bytes);
    b->is_known = is_mark && !is_worth_saving(cl) && will_be_kept(cl);
    p->is_known = b->is_known || (binary && !is_mark);
    if (binary && !is_mark)
        p->handle = from_binary(cl, binary, bytes, b->options);
    free(binary);
    if (!p->handle && (p->handle = from_code(cl, p, source, b->options)))
        p->is_known = p->is_shipped = true;
    const nino_event ev = { .kind = NINO_EV_CACHE,
                            .sub = NINO_CACHE_PROGRAM,
                            .u.scope = { p->handle != NULL, !p->handle && !is_worth_saving(cl) } };
    nino_monitor_publish(cl->be.monitor, &ev);
    if (p->handle) {
        b->program = NULL;
        build_destroy(&b);
        p->next = cl->programs;
        cl->programs = p;
        return NINO_OK;
    }
    if (cl->is_trial) {
        build_destroy(&b);
        return nino_fail(err, NINO_ERR_UNSUPPORTED, "code", "the driver does not take it");
    }
    p->handle = OCL_NEW(e, clCreateProgramWithSource, cl->context, 3, (const char **) source, NULL);
    const nino_status st = !p->handle    ? nino_cl_fail(cl, e, "clCreateProgramWithSource", err)
                           : b->is_known ? NINO_OK
                                         : nino_cl_room_check(cl, err);
    if (!st)
        return compile(cl, b, err);
    build_destroy(&b);
    return st;
}

// What a driver is given of a program. Owns the texts.
typedef struct source {
    char *common, *own, line[64];
    const char *part[3];
    char options[1024];
} source;

static nino_status program_read(const nino_profile *p, const char *file, const char *defs,
                                source *s, nino_error *err)
{
    nino_status st;
    // PoCL prints the number of warnings; they are for who works on kernels.
    const char *warn = nino_debug_has("cl") ? "" : "-w ";
    *s = (source){ .common = NULL };
    if ((st = nino_cl_program_source(p, "common", &s->common, err)) ||
        (st = nino_cl_program_source(p, file, &s->own, err)))
        return st;
    if (snprintf(s->options, sizeof(s->options), "-cl-std=CL1.2 %s-D%s=1 %s", warn,
                 p->schedule->define, defs) >= (int) sizeof(s->options))
        return nino_fail(err, NINO_ERR_DEVICE, file, "the options are too long: %s", defs);
    snprintf(s->line, sizeof(s->line), "\n#line 1 \"%s.cl\"\n", file);
    s->part[0] = s->common;
    s->part[1] = s->line;
    s->part[2] = s->own;
    return NINO_OK;
}

static void source_release(source *s)
{
    free(s->common);
    free(s->own);
}

nino_status nino_cl_program_text(const char *schedule, const char *file, const char *defs,
                                 char **out, char **options, nino_error *err)
{
    source s = { .common = NULL };
    nino_profile p = { .name = "" };
    nino_status st = nino_sched_find(schedule, schedule, &p.schedule, err);
    if (st)
        return st;
    if (!(st = program_read(&p, file, defs, &s, err))) {
        const size_t n = strlen(s.common) + strlen(s.line) + strlen(s.own) + 1;
        *out = malloc(n);
        *options = strdup(s.options);
        if (*out && *options)
            snprintf(*out, n, "%s%s%s", s.common, s.line, s.own);
        else
            st = nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
        if (st) {
            free(*out);
            free(*options);
        }
    }
    source_release(&s);
    return st;
}

// Waits for the helper that has it, if one has, and takes what is there then; takes b.
static nino_status program_take(nino_cl *cl, struct nino_cl_build *b, const char *const part[3],
                                nino_error *err)
{
    char file[64], defs[256];
    snprintf(file, sizeof(file), "%s", b->program->file);
    snprintf(defs, sizeof(defs), "%s", b->program->defs);
    if (!nino_cl_ahead_has(cl, file, defs))
        return build_source(cl, b, part, err);
    const uint32_t scope = begin_stage(cl, file, false);
    nino_status st = nino_cl_ahead_wait(cl, file, defs, err);
    b->has_stage = true;
    if (!st)
        st = build_source(cl, b, part, err);
    else
        build_destroy(&b);
    nino_monitor_end_with(cl->be.monitor, scope, st);
    return st;
}

// On success the program is the first of the list.
static nino_status program_build(nino_cl *cl, const char *file, const char *defs, nino_error *err)
{
    source s;
    nino_status st = program_read(&cl->be.profile, file, defs, &s, err);
    struct nino_cl_build *b = st ? NULL : build_create(cl, file, defs);
    if (!st && !b)
        st = nino_fail(err, NINO_ERR_NOMEM, file, "out of memory");
    if (st) {
        source_release(&s);
        return st;
    }
    memcpy(b->options, s.options, sizeof(b->options));
    nino_logf(&cl->log, NINO_LOG_DEBUG, "program %s %s", file, defs);
    const uint64_t begin = nino_now_ns();
    cl->n_come++;
    if (cl->n_expected && cl->n_come > cl->n_expected)
        cl->n_expected = cl->n_come;
    st = program_take(cl, b, s.part, err);
    cl->be.build_ns += nino_now_ns() - begin;
    cl->be.n_builds++;
    source_release(&s);
    return st;
}

// Options a blank apart: how the hosts put them together makes no second program.
static void program_trim(const char *defs, char out[256])
{
    size_t n = 0;
    for (const char *p = defs; *p && n + 2 < 256; p++)
        if (*p != ' ' || (n && p[1] && p[1] != ' '))
            out[n++] = *p;
    out[n] = 0;
}

static struct nino_cl_program *program_find(nino_cl *cl, const char *file, const char *defs)
{
    struct nino_cl_program **at = &cl->programs, *p;
    for (; (p = *at); at = &p->next)
        if (!strcmp(p->file, file) && !strcmp(p->defs, defs)) {
            *at = p->next; // to the front: the next launch is likely to want it too
            p->next = cl->programs;
            return cl->programs = p;
        }
    return NULL;
}

static struct nino_cl_program *program_get(nino_cl *cl, const char *file, const char *defs,
                                           nino_error *err)
{
    if (nino_cl_build_settle(cl, err))
        return NULL;
    struct nino_cl_program *p = program_find(cl, file, defs);
    return p ? p : program_build(cl, file, defs, err) ? NULL : cl->programs;
}

nino_status nino_cl_program_list(nino_cl *cl, const char *file, const char *defs, nino_error *err)
{
    char options[256];
    program_trim(defs, options);
    nino_programs_add(cl->listing, file, options);
    return cl->listing->is_short ? nino_fail(err, NINO_ERR_NOMEM, file, "out of memory") : NINO_OK;
}

void nino_cl_programs_expect(nino_backend *be, const nino_programs *programs)
{
    nino_cl *cl = (nino_cl *) be;
    cl->n_expected = cl->n_come = 0;
    for (size_t i = 0; i < programs->n; i++)
        cl->n_expected += !program_find(cl, programs->list[i].file, programs->list[i].options);
    nino_cl_ahead_start(cl, programs);
}

nino_cl_nearness nino_cl_program_near(nino_cl *cl, const char *file, const char *options)
{
    source s;
    size_t bytes = 0;
    void *data = NULL;
    if (program_find(cl, file, options))
        return NINO_CL_HERE;
    int code = -1;
    if (!program_read(&cl->be.profile, file, options, &s, NULL)) {
        const nino_cl_key key = program_key_of(cl, s.part, s.options);
        data = nino_cl_cache_get(cl->cache, &key, &bytes);
        if (cl->code)
            code = nino_cl_code_find(cl->code, cl->be.profile.schedule->define, options, s.part);
    }
    source_release(&s);
    const bool is_mark = data && program_is_mark(data, bytes);
    free(data);
    if (code >= 0 && nino_cl_code_may_be_right(cl->code, code))
        return NINO_CL_HERE;
    return is_mark ? NINO_CL_DRIVERS : data ? NINO_CL_HERE : NINO_CL_NOWHERE;
}

int nino_cl_program_code(const nino_cl_code *c, const nino_profile *p, const char *file,
                         const char *options)
{
    source s;
    const int i = program_read(p, file, options, &s, NULL)
                      ? -1
                      : nino_cl_code_find(c, p->schedule->define, options, s.part);
    source_release(&s);
    return i;
}

bool nino_cl_program_is_shipped(const nino_cl *cl, const char *file, const char *options)
{
    const struct nino_cl_program *p = cl->programs;
    while (p && (strcmp(p->file, file) != 0 || strcmp(p->defs, options) != 0))
        p = p->next;
    return p && p->is_shipped;
}

// The work-group functions of PoCL are part of a binary when they have been compiled: the variant that
// launches here ask for is asked for with it.
nino_status nino_cl_program_compile(nino_backend *be, const nino_plan_program *program,
                                    nino_error *err)
{
    nino_cl *cl = (nino_cl *) be;
    struct nino_cl_program *p = program_find(cl, program->file, program->options);
    source s;
    char variant[64];
    if (!p)
        return program_build(cl, program->file, program->options, err);
    nino_status st = program_read(&cl->be.profile, program->file, program->options, &s, err);
    snprintf(variant, sizeof(variant), "%zu-1-1-goffs0-smallgrid", nino_cl_schedule_now(cl)->group);
    setenv("POCL_BINARY_SPECIALIZE_WG", variant, 0);
    const bool keeps = !st && nino_cl_builds_at_launch(cl) && will_be_kept(cl);
    if (keeps && !nino_cl_cache_keeps(cl->cache)) {
        st = nino_fail(err, NINO_ERR_IO, program->file, "another helper keeps binaries there");
    } else if (keeps) {
        const nino_cl_key key = program_key_of(cl, s.part, s.options);
        save_binary(cl, p->handle, &key);
    }
    source_release(&s);
    return st;
}

static nino_cl_kernel *kernel_create(nino_cl *cl, struct nino_cl_program *p, const char *name,
                                     nino_error *err)
{
    cl_int e;
    nino_cl_kernel *k = calloc(1, sizeof(*k));
    if (!k) {
        nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
        return NULL;
    }
    snprintf(k->name, sizeof(k->name), "%s", name);
    k->handle = OCL_NEW(e, clCreateKernel, p->handle, name);
    if (!e)
        e = OCL(clGetKernelInfo, k->handle, CL_KERNEL_NUM_ARGS, sizeof(k->n_args), &k->n_args,
                NULL);
    if (!e)
        e = OCL(clGetKernelWorkGroupInfo, k->handle, cl->dev->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                sizeof(k->local), k->local, NULL);
    if (!e)
        e = OCL(clGetKernelWorkGroupInfo, k->handle, cl->dev->id, CL_KERNEL_WORK_GROUP_SIZE,
                sizeof(k->most), &k->most, NULL);
    if (!e && !(k->kept = calloc(k->n_args + 1, sizeof(*k->kept))))
        e = CL_OUT_OF_HOST_MEMORY;
    if (e) {
        nino_cl_fail(cl, e, name, err);
        if (k->handle)
            nino_ocl.clReleaseKernel(k->handle);
        free(k->kept);
        free(k);
        return NULL;
    }
    k->program = p;
    k->next = p->kernels;
    return p->kernels = k;
}

nino_cl_kernel *nino_cl_kernel_get(nino_cl *cl, const char *file, const char *name,
                                   const char *defs, nino_error *err)
{
    char options[256];
    program_trim(defs, options);
    struct nino_cl_program *p = program_get(cl, file, options, err);
    if (!p)
        return NULL;
    for (nino_cl_kernel *k = p->kernels; k; k = k->next)
        if (!strcmp(k->name, name))
            return k;
    return kernel_create(cl, p, name, err);
}

bool nino_cl_kernel_fits(nino_cl *cl, const char *file, const char *name, const char *defs)
{
    nino_error err;
    if (cl->listing)
        return true;
    const nino_cl_kernel *k = nino_cl_kernel_get(cl, file, name, defs, &err);
    return !k || k->local[0] * k->local[1] * k->local[2] <= k->most;
}

bool nino_cl_smaller_tiles(nino_cl *cl)
{
    enum { SMALLEST = 3 }; // of nino_tuning.gemm_tile
    int *tile = &cl->be.profile.tuning.gemm_tile;
    if (*tile >= SMALLEST)
        return false;
    *tile = *tile < 1 ? 2 : *tile + 1;
    nino_logf(&cl->log, NINO_LOG_INFO,
              "%s: products take smaller tiles: a kernel has too many registers",
              cl->dev->info.name);
    return true;
}

const char *nino_cl_kernel_program(const nino_cl *cl, const nino_cl_kernel *k,
                                   char buf[NINO_KERNEL_PROGRAM])
{
    snprintf(buf, NINO_KERNEL_PROGRAM, "%s %s%s%s", cl->be.profile.schedule->name, k->program->file,
             *k->program->defs ? " " : "", k->program->defs);
    return buf;
}

nino_status nino_cl_kernel_ask(nino_backend *be, const char *file, const char *defs,
                               const char *name, nino_kernel_facts *out, nino_error *err)
{
    nino_cl *cl = (nino_cl *) be;
    cl_ulong local = 0, own = 0;
    size_t most = 0, multiple = 0;
    const nino_cl_kernel *k = nino_cl_kernel_get(cl, file, name, defs, err);
    if (!k)
        return err ? err->code : NINO_ERR_DEVICE;
    cl_kernel h = k->handle;
    cl_device_id id = cl->dev->id;
    OCL(clGetKernelWorkGroupInfo, h, id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(local), &local, NULL);
    OCL(clGetKernelWorkGroupInfo, h, id, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof(own), &own, NULL);
    OCL(clGetKernelWorkGroupInfo, h, id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL);
    OCL(clGetKernelWorkGroupInfo, h, id, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
        sizeof(multiple), &multiple, NULL);
    out->local_bytes = local;
    out->private_bytes = own;
    out->most_items = most;
    out->multiple = multiple;
    for (int i = 0; i < 3; i++)
        out->required[i] = k->local[i];
    return NINO_OK;
}

void nino_cl_programs_release(nino_cl *cl)
{
    if (cl->build) // joins the thread
        build_destroy(&cl->build);
    for (struct nino_cl_program *p = cl->programs, *next; p; p = next) {
        next = p->next;
        program_destroy(cl, p);
    }
    cl->programs = NULL;
}
