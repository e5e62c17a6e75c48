// Every key of ninodes.conf that steers a run acts: what changes in a run's result, its events or
// its memory when it is set. Settings are read once a process, so each is a process, and
// this one reads none.
#include "core/file/latent_file.h"
#include "core/harness/tune_choices.h"
#include "core/op/device/device.h"
#include "core/op/profile.h"
#include "core/op/stream.h"
#include "core/run/job_settings.h"
#include "core/tile/fit.h"
#include "tests/flow_vae.h"
#include "tests/random_wan.h"
#include <math.h>
#include <sys/wait.h>

static const char picture[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
    "'batch_size': 1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";
static const char clip[] =
    "{'1': {'class_type': 'EmptyHunyuanLatentVideo', 'inputs': {'width': 32, 'height': 32, "
    "'length': 17, 'batch_size': 1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'w.safetensors'}},"
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'w'}}}";

typedef struct outcome { // of a run, through a pipe
    nino_status st;
    double sum; // of the result's values
    uint64_t allocs, hits, tiles, chunks, arenas, loads, weights_left, budget, halves, casts;
    char said[300]; // of messages about precision the last
} outcome;

static void watch(nino_job *job, outcome *o)
{
    nino_event ev[256];
    for (size_t n; (n = nino_job_poll(job, ev, 256));)
        for (size_t i = 0; i < n; i++) {
            const char *name = nino_job_name(job, ev[i].name);
            o->tiles += ev[i].kind == NINO_EV_TILE_INFO;
            o->chunks += ev[i].kind == NINO_EV_CHUNK;
            o->arenas += ev[i].kind == NINO_EV_MEM && ev[i].sub == NINO_MEM_ARENA;
            o->loads += ev[i].kind == NINO_EV_TRANSFER && !strcmp(name, "load");
            o->halves += ev[i].kind == NINO_EV_KERNEL && nino_kernel_bits(&ev[i]) == 16;
            o->casts += ev[i].kind == NINO_EV_KERNEL && !strcmp(name, "cast");
            if (ev[i].kind == NINO_EV_MESSAGE &&
                (strstr(name, "against fp32") || strstr(name, "once more")))
                snprintf(o->said, sizeof(o->said), "%s", name);
        }
}

static outcome run_here(const char *flow)
{
    outcome o = { .st = NINO_OK };
    nino_error err = { 0 };
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(flow);
    nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .keep_results = true, .no_files = true };
    nino_job *job = nino_job_start(ctx, g, &jo, &err);
    nino_raster image = { NINO_RASTER_INIT };
    nino_mem_stat m;
    CHECK_OK(job ? NINO_OK : err.code, err);
    while (!nino_job_done(job, &o.st, &err)) {
        watch(job, &o);
        nino_job_wait(job, 50);
    }
    watch(job, &o);
    if (!o.st && !nino_job_image(job, "4", 0, &image, &err))
        for (int i = 0; i < image.n * image.height * image.width * 3; i++)
            o.sum += (double) ((const float *) image.data)[i] * (1 + i % 7);
    nino_job_memory(job, &m);
    o.allocs = m.allocs;
    o.hits = m.hits;
    o.budget = m.budget;
    o.weights_left = m.by_owner[NINO_OWN_WEIGHTS];
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return o;
}

// The flow in a process of its own, with a variable set; NULL: none.
static outcome run(const char *flow, const char *variable, const char *value)
{
    outcome o = { .st = NINO_ERR_IO };
    int fd[2];
    CHECK(!pipe(fd));
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        if (variable)
            setenv(variable, value, 1);
        o = run_here(flow);
        CHECK(write(fd[1], &o, sizeof(o)) == (ssize_t) sizeof(o));
        _exit(0);
    }
    int status = 0;
    close(fd[1]); // a child that dies ends the pipe
    CHECK(read(fd[0], &o, sizeof(o)) == (ssize_t) sizeof(o));
    CHECK(waitpid(pid, &status, 0) == pid && !status);
    close(fd[0]);
    return o;
}

static void check_memory(void)
{
    const outcome plain = run(picture, NULL, NULL);
    CHECK(!plain.st && plain.sum > 0 && !plain.tiles && plain.weights_left && !plain.budget);

    outcome o = run(picture, "NINODES_CPU_OFFLOAD", "true");
    CHECK(!o.st && o.sum == plain.sum && !o.weights_left);

    o = run(picture, "NINODES_HIP_MEMORY", "false");
    CHECK(!o.st && o.sum == plain.sum && o.arenas > plain.arenas && o.hits < plain.hits);

    o = run(picture, "NINODES_MEMORY_FRACTION", "0.5");
    const uint64_t all = (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE);
    CHECK(!o.st && o.budget == all / 2);
}

static void check_clip(void)
{
    const outcome plain = run(clip, NULL, NULL); // 5 latent frames
    CHECK(!plain.st && plain.chunks == 5 && plain.sum != 0);
    outcome o = run(clip, "NINODES_CHUNK_SIZE", "2");
    CHECK(!o.st && o.chunks == 3 && o.sum == plain.sum);
    o = run(clip, "NINODES_CHUNK_SIZE", "8");
    CHECK(!o.st && o.chunks == 1 && o.sum == plain.sum);
    o = run(clip, "NINODES_CLEANUP_FREQUENCY", "1");
    CHECK(!o.st && o.sum == plain.sum);
}

static void check_precision(void)
{
    const outcome plain = run(picture, NULL, NULL);
    outcome o = run(picture, "NINODES_PRECISION", "fp16");
    CHECK(!o.st && !plain.halves && o.halves && o.sum != plain.sum);
    const uint64_t all = o.halves;
    o = run(picture, "NINODES_PRECISION", "mixed"); // all of it is small
    CHECK(!o.st && !o.halves && o.sum == plain.sum);
    o = run(picture, "NINODES_MIXED_PRECISION", "true");
    CHECK(!o.st && !o.halves && o.sum == plain.sum);

    setenv("NINODES_MIXED_FROM", "8000", 1);
    o = run(picture, "NINODES_MIXED_PRECISION", "true");
    CHECK(!o.st && o.halves && o.halves < all && o.casts && o.sum != plain.sum);
    CHECK(fabs(o.sum - plain.sum) < 1e-2 * fabs(plain.sum));
    unsetenv("NINODES_MIXED_FROM");

    setenv("NINODES_PRECISION", "fp16", 1);
    o = run(picture, "NINODES_MEASURE_ERROR", "true");
    unsetenv("NINODES_PRECISION");
    CHECK(!o.st && strstr(o.said, "3 VAEDecode, network a.safetensors: IMAGE in fp16 against") &&
          strstr(o.said, "NMSE"));
}

static void save_clip_vae(void)
{
    static const char *const files[] = { "w.safetensors", NULL };
    char cmd[600];
    test_dir dir = test_dir_create();
    nino_vae *v = wan_make(&dir, files[0], false, false, 16);
    nino_vae_unref(&v);
    snprintf(cmd, sizeof(cmd), "cp %s/%s %s/models/vae", dir.path, files[0], flow_temp());
    CHECK(!system(cmd));
    test_dir_remove(&dir, files);
}

static void save_big_latent(void)
{
    char dir[512];
    nino_error err;
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 4, 4));
    for (int i = 0; i < 64; i++)
        nino_array_f32(z)[i] = 1e5f * (float) (i % 5);
    snprintf(dir, sizeof(dir), "%s/input", flow_temp());
    CHECK_OK(nino_latent_save(dir, "big.latent", z, NULL, 0, &err), err);
    nino_array_unref(&z);
}

// A decode whose numbers are too large for fp16.
static void check_fallback(void)
{
    static const char big[] =
        "{'1': {'class_type': 'LoadLatent', 'inputs': {'latent': 'big.latent'}},"
        "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
        "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
        "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";
    setenv("NINODES_PRECISION", "fp16", 1);
    outcome o = run(big, NULL, NULL);
    CHECK(!o.st && strstr(o.said, "once more in f32"));
    o = run(big, "NINODES_PRECISION_FALLBACK", "bf16");
    CHECK(!o.st && strstr(o.said, "once more in bf16"));
    o = run(big, "NINODES_PRECISION_FALLBACK", "none");
    CHECK(o.st == NINO_ERR_RANGE);
    unsetenv("NINODES_PRECISION");
}

// What no run on the reference shows: the profile of a GPU, a plan for it, the op itself.
static int in_child(int (*fn)(void), const char *variable, const char *value)
{
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        if (variable)
            setenv(variable, value, 1);
        _exit(fn());
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int type_on_gfx1151(void)
{
    nino_profile p;
    nino_error err;
    CHECK_OK(nino_profile_load("gfx1151", &p, &err), err);
    return (int) p.act_type;
}

static int type_on_a_cpu(void)
{
    nino_profile p;
    nino_error err;
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    return (int) p.act_type;
}

static int keeps_scores(void)
{
    nino_error err;
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    const bool before = nino_stream_keeps_scores(s);
    nino_stream_keep_scores(s, false);
    const int kept = before && nino_stream_keeps_scores(s);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return kept;
}

static int n_waits;
static nino_status count_wait(nino_backend *be, nino_error *err)
{
    (void) be;
    (void) err;
    n_waits++;
    return NINO_OK;
}

static int waits_of_two_ops(void)
{
    nino_error err;
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_backend_impl impl = *be->impl;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    impl.finish = count_wait;
    be->impl = &impl;
    nino_tensor *t = nino_zeros(s, NINO_SHAPE(4, 4), NINO_F32);
    t = nino_scale(s, nino_scale(s, t, 2, 1), 3, 0);
    const int n = n_waits;
    nino_unref(t);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return n;
}

static const nino_device_info tuned = {
    .selector = "cl:0", .name = "Tuned", .driver = "1", .platform = "P"
};
static int takes_tuning(void)
{
    nino_profile p = { .name = "x" };
    return nino_tuning_apply(flow_temp(), &tuned, &p) && p.tuning.gemm_pieces == 8;
}

static int save_tuning(void)
{
    nino_error err;
    nino_tuning_info t = { .tuned_at = 1700000000, .n = 1 };
    snprintf(t.device, sizeof(t.device), "%s", tuned.name);
    snprintf(t.driver, sizeof(t.driver), "%s", tuned.driver);
    snprintf(t.platform, sizeof(t.platform), "%s", tuned.platform);
    snprintf(t.version, sizeof(t.version), "%s", nino_version());
    t.choice[0] = (nino_tune_choice){ "gemm_pieces", 4, 8, 5, 3, 7 };
    CHECK_OK(nino_tuning_save(flow_temp(), &tuned, &t, &err), err);
    return 0;
}

// Room for others under a budget of 1000 MiB: what fits.
static int fits_700_mib(void)
{
    nino_error err;
    uint64_t budget;
    nino_backend *be = nino_ref_open((uint64_t) 1000 << 20, NULL, &err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    const nino_vae_need need = { .reserved = (uint64_t) 700 << 20 };
    const int fits = nino_vae_fits(s, &need, &budget);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return fits;
}

// After which of four parts of a decode the pool's free memory was given back, as bits.
static int tidied_after(void)
{
    nino_error err;
    nino_mem_stat m;
    int bits = 0;
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    for (int i = 0; i < 4; i++) {
        nino_unref(nino_zeros(s, NINO_SHAPE(64, 64), NINO_F32));
        nino_tidy_after(s, i);
        nino_pool_stat(be->pool, &m);
        bits |= !m.reserved << i;
    }
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    return bits;
}

// Of a job that says nothing: steps between previews, percent of the time, and the kind.
static int previews(void)
{
    nino_error err;
    const nino_log log = { 0 };
    char path[] = "/tmp/p.png";
    nino_settings *s = nino_settings_create(NULL, NULL, path, &log, &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    const int sum = s->previews.every + (int) (s->previews.share * 1000 + 0.5) +
                    (s->previews.kind == NINO_PREVIEW_AUTO ? 1 : 0);
    nino_settings_destroy(&s);
    return sum;
}

// What is wrong in a setting is an error of whoever opens a context.
static int is_refused(void)
{
    nino_error err = { 0 };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref" };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    const int refused = !ctx && err.code == NINO_ERR_FORMAT && !strcmp(err.kind, "settings") &&
                        strstr(err.msg, "NINODES_CHUNK_SIZE: memory.chunk_size is one of");
    nino_ctx_destroy(&ctx);
    return refused;
}

static void check_devices(void)
{
    CHECK(in_child(type_on_gfx1151, NULL, NULL) == NINO_F16);
    CHECK(in_child(type_on_gfx1151, "NINODES_ROCM_PREFERRED", "bf16") == NINO_BF16);
    CHECK(in_child(type_on_gfx1151, "NINODES_ROCM_PREFERRED", "fp32") == NINO_F32);
    CHECK(in_child(type_on_a_cpu, "NINODES_ROCM_PREFERRED", "bf16") == NINO_F32);
    CHECK(!in_child(keeps_scores, NULL, NULL));
    CHECK(in_child(keeps_scores, "NINODES_ATTENTION_OPTIMIZATION", "false"));
    CHECK(!in_child(is_refused, NULL, NULL));
    CHECK(in_child(is_refused, "NINODES_CHUNK_SIZE", "3"));
    CHECK(in_child(previews, NULL, NULL) == 5 + 50);
    CHECK(in_child(previews, "NINODES_PREVIEW_EVERY", "7") == 7 + 50);
    CHECK(in_child(previews, "NINODES_PREVIEW_PERCENT", "12") == 5 + 120);
    CHECK(in_child(previews, "NINODES_PREVIEW", "auto") == 5 + 50 + 1);
    CHECK(!in_child(save_tuning, NULL, NULL));
    CHECK(in_child(takes_tuning, NULL, NULL));
    CHECK(!in_child(takes_tuning, "NINODES_KERNEL_TUNING", "false"));
    CHECK(in_child(tidied_after, NULL, NULL) == 0);
    CHECK(in_child(tidied_after, "NINODES_CLEANUP_FREQUENCY", "1") == 15);
    CHECK(in_child(tidied_after, "NINODES_CLEANUP_FREQUENCY", "3") == 4);
    CHECK(in_child(fits_700_mib, NULL, NULL));
    CHECK(!in_child(fits_700_mib, "NINODES_MEMORY_THRESHOLD", "0.5"));
    CHECK(in_child(waits_of_two_ops, NULL, NULL) == 0);
    CHECK(in_child(waits_of_two_ops, "NINODES_SYNCHRONIZATION", "true") == 2);
}

int main(void)
{
    flow_save_vae(flow_small_vae, "vae", "a.safetensors");
    save_clip_vae();
    save_big_latent();
    check_memory();
    check_clip();
    check_precision();
    check_fallback();
    check_devices();
    flow_clean();
    return 0;
}
