// Pausing a job: it stands between two ops, can be cancelled there, gives memory back, and goes on
// to the same picture. Nothing here depends on how fast anything is.
#include "core/base/time.h"
#include "tests/flow_vae.h"

#include <poll.h>
#include <sys/stat.h>

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
    "'batch_size': 2}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

static char models[256], input[256], output[256];

static void make_files(void)
{
    flow_own_sockets();
    flow_save_vae(flow_small_vae, "vae", "a.safetensors");
}

static nino_ctx *open_serving(void)
{
    nino_error err = { 0 };
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    snprintf(input, sizeof(input), "%s/input", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const char *roots[] = { models, NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "", .serve = 1,
                                .job = &(nino_job_options){
                                    NINO_JOB_OPTIONS_INIT, .models = roots, .input_dir = input,
                                    .output_dir = output, .no_profile = 1 } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static void call(nino_attach *a, nino_control_cmd cmd)
{
    nino_error err = { 0 };
    CHECK_OK(
        nino_control_call(a, &(nino_control){ NINO_CONTROL_INIT, .cmd = cmd }, 60000, NULL, &err),
        err);
}

// Reads events until this message; returns its time. Kernels that start in [from, message) are
// counted.
static uint64_t read_until(nino_attach *a, const char *text, uint64_t from, size_t *kernels)
{
    *kernels = 0;
    for (;;) {
        nino_event ev[256];
        size_t n;
        nino_error err = { 0 };
        CHECK_OK(nino_attach_read(a, ev, 256, &n, &err), err);
        for (size_t i = 0; i < n; i++) {
            *kernels += ev[i].kind == NINO_EV_KERNEL && ev[i].t_ns >= from;
            if (ev[i].kind == NINO_EV_MESSAGE && ev[i].t_ns >= from &&
                !strcmp(nino_attach_name(a, ev[i].name), text))
                return ev[i].t_ns;
        }
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        if (!n)
            poll(&p, 1, 1000);
    }
}

static const nino_queue *wait_queue(nino_attach *a, bool is_paused)
{
    for (;;) {
        nino_event ev[64];
        size_t n;
        nino_error err = { 0 };
        CHECK_OK(nino_attach_read(a, ev, 64, &n, &err), err);
        const nino_queue *q = nino_control_queue(a);
        if (q && (q->is_paused != 0) == is_paused)
            return q;
        struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
        poll(&p, 1, 1000);
    }
}

// What was paused is no time of the node: its share of the statistics is its scope less the pause.
static void check_times(nino_job *job)
{
    nino_stats *s = nino_stats_create();
    nino_event ev[256];
    uint32_t node = 0, pause = 0;
    uint64_t node_ns[2] = { 0 }, pause_ns[2] = { 0 };
    CHECK(s);
    for (bool done = false; !done;) {
        done = nino_job_done(job, &(nino_status){ 0 }, NULL);
        for (size_t n; (n = nino_job_poll(job, ev, 256));) {
            nino_stats_add(s, ev, n, nino_job_name, job);
            for (size_t i = 0; i < n; i++) {
                const nino_event *e = &ev[i];
                const char *name = nino_job_name(job, e->name);
                if (e->kind == NINO_EV_NODE && !strcmp(name, "3 VAEDecode"))
                    node = e->id, node_ns[0] = e->t_ns;
                else if (e->kind == NINO_EV_STAGE && !strcmp(name, "paused"))
                    pause = e->id, pause_ns[0] = e->t_ns;
                else if (e->kind == NINO_EV_END && node && e->id == node)
                    node_ns[1] = e->t_ns;
                else if (e->kind == NINO_EV_END && pause && e->id == pause)
                    pause_ns[1] = e->t_ns;
            }
        }
        nino_job_wait(job, 20);
    }
    nino_node_stat nodes[8];
    const size_t n = nino_stats_nodes(s, nodes, 8);
    CHECK(n == 4 && pause && node);
    for (size_t i = 0; i < n; i++)
        CHECK(strcmp(nodes[i].name, "3 VAEDecode") != 0 ||
              nodes[i].ns == node_ns[1] - node_ns[0] - (pause_ns[1] - pause_ns[0]));
    nino_stats_destroy(&s);
}

static size_t read_picture(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "rb");
    CHECK(f);
    const size_t n = fread(buf, 1, size, f);
    CHECK(n && n < size && !fclose(f));
    return n;
}

static char pixels[2][1 << 20];

int main(void)
{
    nino_error err = { 0 };
    size_t kernels;
    make_files();

    // without a pause
    nino_ctx *ctx = open_serving();
    nino_graph *g = flow_graph(flow);
    flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 2);
    const size_t len = read_picture(r.path[1], pixels[0], sizeof(pixels[0]));
    nino_ctx_destroy(&ctx);

    // paused before its first op; nothing computes until it goes on, to the same picture
    ctx = open_serving();
    nino_attach *a = nino_attach_open(nino_ctx_socket(ctx), &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    call(a, NINO_CONTROL_PAUSE);
    CHECK(nino_ctx_is_paused(ctx));
    CHECK(wait_queue(a, true)->n_jobs == 0);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    const uint64_t stood = read_until(a, "paused", 0, &kernels);
    CHECK(kernels == 0 && !nino_job_done(job, &(nino_status){ 0 }, NULL));
    nino_attach *b = nino_attach_open(nino_ctx_socket(ctx), &err); // a late viewer knows
    CHECK_OK(b ? NINO_OK : err.code, err);
    const nino_queue *q = wait_queue(b, true);
    CHECK(!q->is_worker && q->n_jobs == 1 && q->jobs[0].state == NINO_QUEUE_RUNNING);
    CHECK(q->jobs[0].scope && q->jobs[0].n_nodes == 4);
    CHECK_STR(q->jobs[0].name, "test");
    call(b, NINO_CONTROL_TRIM);
    nino_control_reply reply;
    const nino_control queue = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .workflow = "{}",
                                 .workflow_bytes = 2 };
    CHECK(nino_control_call(b, &queue, 60000, &reply, &err) == NINO_ERR_UNSUPPORTED);
    const nino_control other = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_CANCEL, .job = 2 };
    CHECK(nino_control_call(b, &other, 60000, &reply, &err) == NINO_ERR_UNKNOWN);
    call(b, NINO_CONTROL_RESUME);
    read_until(a, "resumed", stood, &kernels);
    CHECK(kernels == 0);
    r = flow_finish(job);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_kernels > 10 && read_picture(r.path[1], pixels[1], sizeof(pixels[1])) == len);
    CHECK(!memcmp(pixels[0], pixels[1], len));
    CHECK(wait_queue(b, false)->is_paused == 0);

    // what was waited is nobody's time
    nino_ctx_pause(ctx, 1);
    call(b, NINO_CONTROL_TRIM); // nothing comes from the cache
    const uint64_t third = nino_now_ns();
    job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    read_until(a, "paused", third, &kernels);
    nino_ctx_pause(ctx, 0);
    check_times(job);
    nino_job_destroy(&job);

    // cancelled while it is paused; the next job waits at its first op until the pause ends
    call(a, NINO_CONTROL_PAUSE);
    call(b, NINO_CONTROL_TRIM); // no job runs: at once, and nothing comes from the cache
    nino_attach_close(&b);
    const uint64_t before = nino_now_ns();
    job = nino_job_start(ctx, g, NULL, &err);
    read_until(a, "paused", before, &kernels);
    call(a, NINO_CONTROL_CANCEL);
    r = flow_finish(job);
    CHECK(r.st == NINO_ERR_CANCELLED && r.n_paths == 0);
    CHECK(nino_ctx_is_paused(ctx));
    nino_ctx_pause(ctx, 0);
    r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    nino_attach_close(&a);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
