// What plan says of a workflow against what running it takes: peak memory within 5 %, FLOPs against
// a count of the network's layers made here. And the trace of a run that nobody watches.
#include <math.h>

#include "tests/flow.h"
#include "tests/flow_vae.h"

static const char whole[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 320, 'height': 256, "
    "'batch_size': 1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";
static const char tiled[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 768, 'height': 256, "
    "'batch_size': 1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecodeTiled', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0], "
    "'tile_size': 64, 'overlap': 16, 'temporal_size': 64, 'temporal_overlap': 8}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

// ---- layers, counted by hand: two operations a multiply-add ------------------------------------

static double conv(double cells, int in, int out, int k) { return 2 * cells * in * out * k * k; }

static double resnet(double cells, int in, int out)
{
    const double shortcut = in == out ? 0 : conv(cells, in, out, 1);
    return conv(cells, in, out, 3) + conv(cells, out, out, 3) + shortcut;
}

// Products of the decoder alone: h x w cells of latent.
static double decoder(const random_vae *v, double h, double w)
{
    const int top = v->ch * v->mult[v->n_levels - 1];
    double cells = h * w;
    double sum = conv(cells, v->z, v->z, 1) + conv(cells, v->z, top, 3);
    sum += 2 * resnet(cells, top, top);                                // mid
    sum += 4 * conv(cells, top, top, 1) + 2 * 2 * cells * cells * top; // attention
    for (int i = v->n_levels - 1, in = top; i >= 0; i--) {
        const int out = v->ch * v->mult[i];
        for (int b = 0; b <= v->n_res; b++, in = out)
            sum += resnet(cells, in, out);
        if (i) {
            cells *= 4;
            sum += conv(cells, out, out, 3);
        }
    }
    return sum + conv(cells, v->ch * v->mult[0], 3, 3);
}

// Norms: 6 a value, 10 with the activation behind them. They are no products, but they are counted.
static double norms(const random_vae *v, double h, double w)
{
    const int top = v->ch * v->mult[v->n_levels - 1];
    double cells = h * w;
    double sum = (4 * 10 + 6) * cells * top; // mid: two blocks of two, and the attention's own
    for (int i = v->n_levels - 1, in = top; i >= 0; i--) {
        const int out = v->ch * v->mult[i];
        for (int b = 0; b <= v->n_res; b++, in = out)
            sum += 10 * cells * (in + out);
        if (i)
            cells *= 4;
    }
    return sum + 10 * cells * v->ch * v->mult[0];
}

// ---- plan against run ------------------------------------------------------------------------

static nino_plan plan(nino_ctx *ctx, nino_graph *g, const char *profile)
{
    nino_plan p = { 0 };
    nino_error err = { 0 };
    CHECK_OK(nino_graph_plan(ctx, g, profile, NULL, &p, &err), err);
    return p;
}

static void compare(const char *device, const char *flow)
{
    nino_error err = { 0 };
    nino_mem_stat m;
    nino_status st;
    nino_event ev[64];
    nino_ctx *ctx = flow_open(device, NULL);
    if (!ctx)
        return;
    nino_graph *g = flow_graph(flow);
    nino_plan p = plan(ctx, g, NULL);
    nino_job *job = nino_job_start(ctx, g, NULL, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    double total = 0;
    while (!nino_job_done(job, &st, &err)) {
        const size_t n = nino_job_poll(job, ev, 64);
        for (size_t i = 0; i < n; i++)
            if (ev[i].kind == NINO_EV_PROGRESS)
                total = ev[i].u.progress.total;
        if (!n)
            nino_job_wait(job, 20);
    }
    CHECK_OK(st, err);
    nino_job_memory(job, &m);
    printf("  %s: plan %.2f MiB, run %.2f MiB\n", device, (double) p.peak_bytes / 0x1p20,
           (double) m.peak / 0x1p20);
    CHECK(fabs((double) p.peak_bytes - (double) m.peak) <= 0.05 * (double) m.peak);
    CHECK(p.weight_bytes == m.peak_by_owner[NINO_OWN_WEIGHTS]);
    CHECK(p.fits && (total == p.flops)); // progress counts the same work
    nino_plan_release(&p);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

static void check_numbers(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(whole);
    nino_plan p = plan(ctx, g, NULL);
    const double rest = 2 * 3.0 * 64 * 80; // -1..1 to 0..1
    printf("  products %.0f, all %.0f\n", decoder(&flow_small_vae, 32, 40), p.flops);
    CHECK(p.flops == decoder(&flow_small_vae, 32, 40) + norms(&flow_small_vae, 32, 40) + rest);
    CHECK_STR(p.profile, "ref");
    CHECK(!p.tiling.is_tiled && p.kernels > 20 && p.peak_bytes > p.weight_bytes);
    CHECK(p.n_scopes > 8);
    double nodes = 0;
    for (size_t i = 0; i < p.n_scopes; i++)
        nodes += p.scopes[i].depth == 0 ? p.scopes[i].flops : 0;
    CHECK(nodes == p.flops); // the nodes' sums are the total
    CHECK(!strcmp(p.scopes[0].name, "1 EmptyLatentImage"));
    nino_plan_release(&p);
    // a device that is not here
    p = plan(ctx, g, "gfx1151");
    CHECK_STR(p.profile, "gfx1151");
    CHECK(p.seconds > 0);
    CHECK(p.flops > decoder(&flow_small_vae, 32, 40));
    nino_plan_release(&p);
    nino_error err = { 0 };
    CHECK(nino_graph_plan(ctx, g, "no-such-device", NULL, &p, &err) == NINO_ERR_UNKNOWN);
    nino_graph_destroy(&g);
    g = flow_graph(tiled);
    p = plan(ctx, g, NULL);
    CHECK(p.tiling.is_tiled && p.tiling.n_tiles > 2 && p.tiling.overlap > 0);
    CHECK_STR(p.tiling.why, "tiles were asked for");
    nino_plan_release(&p);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

static void check_trace(void)
{
    char path[512];
    nino_error err = { 0 };
    uint64_t n = 0;
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(whole);
    snprintf(path, sizeof(path), "%s/t.json", flow_temp());
    const nino_job_options params = { NINO_JOB_OPTIONS_INIT, .trace_path = path };
    nino_job *job = nino_job_start(ctx, g, &params, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    nino_ctx_destroy(&ctx); // waits for the job; nobody ever polled it
    CHECK_OK(nino_trace_check(path, &n, &err), err);
    CHECK(n > 50);
    const flow_result late = flow_finish(job); // what it did can still be read
    CHECK_OK(late.st, late.err);
    CHECK(strstr(late.ran, "3 VAEDecode|") && late.n_paths == 1);
    strncat(path, "/t.json", sizeof(path) - strlen(path) - 1); // below a file
    const nino_job_options nowhere = { NINO_JOB_OPTIONS_INIT, .trace_path = path };
    ctx = flow_open("ref", NULL);
    const flow_result r = flow_run(ctx, g, &nowhere);
    CHECK(r.st != NINO_OK && strstr(r.err.where, "t.json"));
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&g);
}

int main(void)
{
    char dir[512], cmd[600];
    nino_error err = { 0 };
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/models/vae %s/input", flow_temp(), flow_temp());
    CHECK(system(cmd) == 0);
    snprintf(dir, sizeof(dir), "%s/models/vae", flow_temp());
    CHECK_OK(random_vae_save(flow_small_vae, dir, "a.safetensors", &err), err);
    check_numbers();
    static const char *const devices[] = { "ref", "cl" };
    for (int i = 0; i < 2; i++) {
        compare(devices[i], whole);
        compare(devices[i], tiled);
    }
    check_trace();
    flow_clean();
    return 0;
}
