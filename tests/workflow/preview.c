// Previews: the linear map against ComfyUI's own pictures of a real latent, the tiny autoencoder
// against its own decode, and what a run writes, announces and leaves behind.
#include "core/base/file.h"
#include "core/file/latent_file.h"
#include "core/run/context.h"
#include "core/media/png.h"
#include "core/node/util.h"
#include "core/sample/latent_preview.h"
#include "tests/flow.h"
#include "tests/random_taehv.h"
#include "tests/random_tiny.h"
#include "tests/vae.h"

#include <sys/stat.h>
#include <unistd.h>

static void test_map(void)
{
    const nino_latent_format *f = nino_latent_format_find("sdxl");
    nino_error err = { 0 };
    nino_array *out = NULL;
    CHECK(f && f->rgb && f->rgb_bias);
    const nino_shape shape = NINO_SHAPE(2, 4, 3, 5);
    float x0[2 * 4 * 15];
    for (int i = 0; i < 120; i++)
        x0[i] = (float) sin(i * 0.7) * 3;
    CHECK_OK(nino_preview_rgb(f, x0, &shape, &out, &err), err);
    CHECK(out->shape.rank == 4 && out->shape.dim[0] == 1); // the first of the batch
    CHECK(out->shape.dim[1] == 3 && out->shape.dim[2] == 5);
    for (int i = 0; i < 15; i++)
        for (int k = 0; k < 3; k++) {
            double v = (double) f->rgb_bias[k];
            for (int c = 0; c < 4; c++)
                v += (double) x0[c * 15 + i] * (double) f->rgb[c][k];
            v = fmin(fmax((v + 1) / 2, 0), 1) * 255;
            CHECK(fabs(floor(v) - ((uint8_t *) out->data)[i * 3 + k]) <=
                  (fabs(v - rint(v)) < 1e-3));
        }
    nino_array_unref(&out);
    const nino_shape wrong = NINO_SHAPE(1, 3, 3, 5);
    CHECK(nino_preview_rgb(f, x0, &wrong, &out, &err) == NINO_ERR_UNSUPPORTED);
}

// Of many frames the first, the last and some between; an incomplete row stays black.
static void test_sheet(void)
{
    nino_error err = { 0 };
    for (int n = 1; n <= 40; n += n < 4 ? 1 : 12) {
        nino_array *frames = nino_array_create(NINO_U8, NINO_SHAPE(n, 1, 1, 3)), *out = NULL;
        CHECK(frames);
        for (int i = 0; i < 3 * n; i++)
            ((uint8_t *) frames->data)[i] = (uint8_t) (1 + i / 3);
        CHECK_OK(nino_preview_sheet(frames, &out, &err), err);
        const uint8_t *v = out->data;
        const int side = n == 1 ? 1 : n < 5 ? 2 : 4, seen = n < 16 ? n : 16;
        CHECK(out->shape.dim[2] == side && out->shape.dim[1] == (seen + side - 1) / side);
        CHECK(v[0] == 1 && v[3 * (seen - 1)] == n);
        for (int i = 1; i < seen; i++)
            CHECK(v[3 * i] > v[3 * i - 3]);
        CHECK(n != 3 || v[9] == 0);
        nino_array_unref(&frames);
        nino_array_unref(&out);
    }
}

// A sheet of the 16 frames, 4 in a row, every cell four pixels wide.
static void test_wan(const char *assets)
{
    char path[512];
    char *data = NULL;
    size_t len = 0;
    nino_error err = { 0 };
    nino_png sheet = { 0 };
    snprintf(path, sizeof(path), "%s/wan_latents/latent2rgb_sheet.png", assets);
    CHECK_OK(nino_file_read(path, 64 << 20, false, &data, &len, &err), err);
    CHECK_OK(nino_png_read(data, len, path, true, &sheet, &err), err);
    nino_weights *w = test_open("%s/wan_latents/test_latents_wan.latent", assets);
    nino_array *z = NULL, *out = NULL;
    CHECK_OK(nino_latent_load(w, &z, &err), err); // [1,16,40,64,16]
    int most = 0;
    nino_array *x0 = nino_array_to_channels_first(z), *frames = NULL;
    CHECK(x0);
    nino_latent_process_in(nino_latent_format_find("wan21"), nino_array_f32(x0), 1, 16 * 2560);
    CHECK_OK(nino_preview_rgb(nino_latent_format_find("wan21"), nino_array_f32(x0), &x0->shape,
                              &frames, &err),
             err);
    CHECK(frames->shape.dim[0] == 16);
    CHECK_OK(nino_preview_sheet(frames, &out, &err), err);
    CHECK(out->shape.dim[1] == 160 && out->shape.dim[2] == 256);
    for (int i = 0; i < 160 * 256 * 3; i++) {
        const int y = i / 3 / 256 * 4, x = i / 3 % 256 * 4;
        const float v = nino_array_f32(sheet.pixels)[(y * 1024 + x) * 3 + i % 3] * 255;
        const int d = abs((int) lrintf(v) - ((uint8_t *) out->data)[i]);
        most = d > most ? d : most;
    }
    nino_array_unref(&out);
    nino_array_unref(&frames);
    nino_array_unref(&x0);
    printf("  wan21: largest difference from ComfyUI's picture %d of 255\n", most);
    CHECK(most <= 1);
    nino_array_unref(&z);
    nino_weights_unref(&w);
    nino_png_release(&sheet);
    free(data);
}

// FLUX.2's cells are squares of 2 x 2 with 32 channels each. The colour of a square that is 1, 2 ... in
// its channels is the published table's sum, weighted so.
static void test_folded(void)
{
    static const double weighted[3] = { -0.8335, -1.6564, -3.4132 };
    const nino_latent_format *f = nino_latent_format_find("flux2");
    const nino_shape shape = NINO_SHAPE(1, 128, 2, 3);
    nino_error err = { 0 };
    nino_array *out = NULL;
    float x0[128 * 6];
    for (int c = 0; c < 128; c++)
        for (int i = 0; i < 6; i++) // only the squares of cell 4 are not 0
            x0[c * 6 + i] = i == 4 ? (float) ((c / 4 + 1) * (c % 4 + 1)) / 8 : 0;
    CHECK_OK(nino_preview_rgb(f, x0, &shape, &out, &err), err);
    CHECK(out->shape.dim[1] == 4 && out->shape.dim[2] == 6);
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < 3; k++) {
            const int y = i / 6, x = i % 6, by = y / 2 * 3 + x / 2 == 4 ? y % 2 * 2 + x % 2 + 1 : 0;
            double v = (double) f->rgb_bias[k] + by / 8.0 * weighted[k];
            v = fmin(fmax((v + 1) / 2, 0), 1) * 255;
            CHECK(fabs(v - 0.5 - ((uint8_t *) out->data)[i * 3 + k]) < 0.51);
        }
    nino_array_unref(&out);
}

// The picture is the autoencoder's, made smaller where it is large. flux is Z-Image's format, too.
static void test_tiny(const char *format, const char *family, int z_channels, int h, int w)
{
    test_device d;
    nino_error err = { 0 };
    nino_vae *v = NULL;
    const test_dir dir = test_dir_create();
    const nino_latent_format *f = nino_latent_format_find(format);
    const random_tiny t = { .width = 8,
                            .levels = 4,
                            .blocks = 1,
                            .z = z_channels,
                            .with_pool = !strcmp(family, "taef2"),
                            .decoder = "" };
    CHECK_OK(random_tiny_save(&t, dir.path, "decoder.safetensors", &err), err);
    nino_weights *file = test_open("%s/decoder.safetensors", dir.path);
    CHECK_OK(nino_vae_tiny_load(NULL, file, family, &v, &err), err);
    CHECK(test_device_open(&d, "ref", 0));
    CHECK_STR(f->tiny_vae, family);
    const int n = f->channels, cells = h * w, height = h * f->factor, width = w * f->factor;
    const nino_shape shape = NINO_SHAPE(1, n, h, w);
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, n)), *out = NULL;
    float *x0 = malloc((size_t) (cells * n) * sizeof(*x0));
    CHECK(z && x0 && v->channels == n);
    for (int c = 0; c < n; c++)
        for (int i = 0; i < cells; i++) {
            x0[c * cells + i] = (float) cos(i * 0.11 + c);
            nino_array_f32(z)[i * n + c] = (float) (x0[c * cells + i] / f->scale + f->shift);
        }
    CHECK_OK(nino_preview_tiny(d.s, v, f, x0, &shape, &out, &err), err);
    const int small_h = width > 512 ? height * 512 / width : height,
              small_w = width > 512 ? 512 : width;
    CHECK(out->dtype == NINO_U8 && out->shape.dim[1] == small_h && out->shape.dim[2] == small_w);
    const nino_tile_params whole = { .style = NINO_TILE_NEVER };
    nino_array *full = test_decode(&d, v, z, &whole, NULL);
    double sum[2] = { 0 };
    for (int64_t i = 0; i < nino_shape_count(&full->shape); i++) {
        const double p = fmin(fmax((double) nino_array_f32(full)[i], 0), 1);
        sum[0] += p;
        if (small_w == width) // as it is
            CHECK(fabs(p * 255 - 0.5 - ((uint8_t *) out->data)[i]) < 0.52);
    }
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        sum[1] += (((uint8_t *) out->data)[i] + 0.5) / 255;
    CHECK(fabs(sum[0] / (height * width * 3) - sum[1] / (small_h * small_w * 3)) < 0.01);
    nino_array_unref(&full);
    nino_array_unref(&out);
    nino_array_unref(&z);
    free(x0);
    nino_vae_unref(&v);
    nino_weights_unref(&file);
    test_device_close(&d);
    test_dir_remove(&dir, (const char *const[]){ "decoder.safetensors", NULL });
}

// Of a video all frames are seen, as the whole clip's decode has them.
static void test_video(void)
{
    static const tae_net net = { .z = 16,
                                 .patch = 1,
                                 .width = { 4, 4, 4, 4 },
                                 .grow = { 1, 2, 2 },
                                 .no_encoder = true,
                                 .dtype = NINO_F32 };
    static tae_file file;
    const int frames[] = { 1, 2, 7 };
    test_device d;
    nino_error err = { 0 };
    const test_dir dir = test_dir_create();
    nino_vae *v = tae_make(&dir, "taew2_1.safetensors", &net, &file);
    CHECK(test_device_open(&d, "ref", 0));
    const nino_latent_format *f = nino_latent_format_find("wan21");
    CHECK_STR(f->tiny_vae, "taew2_1");
    for (int k = 0; k < 3; k++) {
        const int t = frames[k], total = 4 * t - 3, n = total < 16 ? total : 16;
        const nino_shape shape = NINO_SHAPE(1, 16, t, 2, 3);
        tae_clip z = tae_new(t, 16, 2, 3);
        float *x0 = malloc((size_t) t * 96 * sizeof(*x0));
        nino_array *out = NULL;
        CHECK(x0);
        for (int i = 0; i < t * 96; i++) { // channels first, frames inside
            x0[i] = (float) cos(i * 0.37);
            *tae_at(&z, i / 6 % t, i / 6 / t, i % 6 / 3, i % 3) = (double) x0[i];
        }
        nino_array *all = tae_to(tae_decode(&file, &net, z)); // taew2_1 takes the model's latents
        CHECK_OK(nino_preview_tiny(d.s, v, f, x0, &shape, &out, &err), err);
        CHECK(out->shape.dim[0] == n && out->shape.dim[1] == 16 && out->shape.dim[2] == 24);
        for (int i = 0; i < n; i++)
            for (int64_t q = 0; q < 16 * 24 * 3; q++) {
                const int at = n > 1 ? i * (total - 1) / (n - 1) : 0;
                const double p = (double) nino_array_f32(all)[at * 16 * 24 * 3 + q];
                const int u = ((uint8_t *) out->data)[i * 16 * 24 * 3 + q];
                CHECK(fabs(fmin(fmax(p, 0), 1) * 255 - u - 0.5) < 0.51);
            }
        nino_array_unref(&all);
        nino_array_unref(&out);
        free(x0);
    }
    nino_vae_unref(&v);
    tae_release(&file);
    test_device_close(&d);
    test_dir_remove(&dir, (const char *const[]){ "taew2_1.safetensors", NULL });
}

static void note_missing(void *priv, const nino_issue *issue)
{
    if (!strcmp(issue->code, "missing_file"))
        *(bool *) priv = true;
}

// Video ones are whole files of vae_approx, found by the names that ComfyUI lists.
static void test_names(void)
{
    static const tae_net net = {
        .z = 16, .patch = 1, .width = { 4, 4, 4, 4 }, .grow = { 1, 2, 2 }, .no_encoder = true
    };
    static tae_file file;
    nino_error err = { 0 };
    const test_dir dir = test_dir_create();
    char approx[64], from[64], to[96];
    snprintf(approx, sizeof(approx), "%s/vae_approx", dir.path);
    snprintf(from, sizeof(from), "%s/light", dir.path);
    snprintf(to, sizeof(to), "%s/lighttaew2_1.safetensors", approx);
    nino_vae *v = tae_make(&dir, "light", &net, &file);
    CHECK(!mkdir(approx, 0700) && !rename(from, to));
    nino_vae_unref(&v);
    tae_release(&file);
    const char *roots[] = { dir.path, NULL };
    nino_ctx *ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref",
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,
                                                        .output_dir = flow_temp() } },
        &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    static const char *const names[] = { "lighttaew2_1.safetensors", "lighttaew2_1" };
    for (int i = 0; i < 2; i++) {
        nino_value *value = NULL;
        CHECK_OK(nino_node_load_vae(ctx, names[i], &value, &err), err);
        CHECK(value->u.vae->kind == NINO_VAE_TAEHV && value->u.vae->channels == 16);
        nino_value_unref(&value);
    }
    nino_value *none = NULL;
    CHECK(nino_node_load_vae(ctx, "taew2_1", &none, &err) == NINO_ERR_MISSING && !none);
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof(text),
                 "{\"1\": {\"class_type\": \"VAELoader\", \"inputs\": {\"vae_name\": \"%s\"}}}",
                 i ? "taew2_1.safetensors" : "lighttaew2_1.safetensors");
        nino_graph *g = nino_graph_load(text, strlen(text), "vae", &err);
        CHECK_OK(g ? NINO_OK : err.code, err);
        bool said = false;
        nino_graph_check(g, ctx, note_missing, &said);
        CHECK(said == (i == 1));
        nino_graph_destroy(&g);
    }
    nino_ctx_destroy(&ctx);
    CHECK(!remove(to) && !rmdir(approx));
    test_dir_remove(&dir, (const char *const[]){ NULL });
}

// ---- a run -----------------------------------------------------------------------------------

typedef struct watched {
    int previews, steps, width, height;
    char path[600];
    double last_sigma, seconds;
    uint64_t began_ns;  // the node that samples
    double spent, over; // on previews; at most above 5 % of the time when one was begun
} watched;

static watched watch_with(nino_ctx *ctx, const char *assets, const nino_job_options *o)
{
    char path[512];
    watched w = { .last_sigma = INFINITY };
    nino_error err = { 0 };
    nino_status st;
    nino_event ev[64];
    snprintf(path, sizeof(path), "%s/e2e/workflows/sd15_tiny_euler.json", assets);
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    CHECK_OK(nino_graph_set(g, "3.steps=7", &err), err);
    nino_job *job = nino_job_start(ctx, g, o, &err);
    CHECK_OK(job ? NINO_OK : err.code, err);
    while (!nino_job_done(job, &st, &err)) {
        for (size_t n; (n = nino_job_poll(job, ev, 64));)
            for (size_t i = 0; i < n; i++) {
                if (ev[i].kind == NINO_EV_NODE && !w.steps)
                    w.began_ns = ev[i].t_ns;
                if (ev[i].kind == NINO_EV_STEP_INFO) {
                    CHECK((int) ev[i].u.step.step == ++w.steps && ev[i].u.step.total == 7);
                    CHECK(ev[i].u.step.sigma < w.last_sigma && ev[i].u.step.seconds > 0);
                    w.last_sigma = ev[i].u.step.sigma;
                }
                if (ev[i].kind == NINO_EV_PREVIEW) {
                    w.previews++;
                    w.width = (int) ev[i].u.step.width;
                    w.height = (int) ev[i].u.step.height;
                    w.seconds = ev[i].u.step.seconds;
                    const double since = (double) (ev[i].t_ns - w.began_ns) * 1e-9 - w.seconds;
                    w.over = fmax(w.over, w.spent - 0.05 * since);
                    w.spent += w.seconds;
                    snprintf(w.path, sizeof(w.path), "%s", nino_job_name(job, ev[i].name));
                    CHECK((int) ev[i].u.step.step == w.steps);
                }
            }
        nino_job_wait(job, 20);
    }
    CHECK_OK(st, err);
    CHECK(w.steps == 7);
    nino_job_destroy(&job);
    nino_graph_destroy(&g);
    return w;
}

static watched watch(nino_ctx *ctx, const char *assets) { return watch_with(ctx, assets, NULL); }

static const nino_job_options *options(const char *assets, nino_preview_opt kind, int every,
                                       double share)
{
    static char models[512], output[512];
    static const char *roots[] = { models, NULL, NULL };
    static nino_job_options o;
    roots[1] = flow_models();
    snprintf(models, sizeof(models), "%s/models", assets);
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    o = (nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots,        .output_dir = output,
                            .preview = kind,       .preview_every = every, .preview_share = share };
    return &o;
}

static nino_ctx *open_with(const char *assets, nino_preview_opt kind, int every, double share)
{
    nino_error err = { 0 };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref",
                                .job = options(assets, kind, every, share) };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    return ctx;
}

static void test_run(const char *assets)
{
    struct stat sb;
    char path[600];
    nino_ctx *ctx = open_with(assets, NINO_PREVIEW_NONE, 1, 1e9);
    watched w = watch(ctx, assets);
    CHECK(w.previews == 0);
    nino_ctx_destroy(&ctx);

    ctx = open_with(assets, NINO_PREVIEW_LATENT2RGB, 3, 1e9); // steps 1, 4, 7
    w = watch(ctx, assets);
    CHECK(w.previews == 3 && w.width == 16 && w.height == 12 && w.seconds > 0);
    memcpy(path, w.path, sizeof(path));
    nino_png png = { 0 };
    char *data = NULL;
    size_t len = 0;
    nino_error err = { 0 };
    CHECK_OK(nino_file_read(path, 1 << 20, false, &data, &len, &err), err);
    CHECK_OK(nino_png_read(data, len, path, true, &png, &err), err);
    CHECK(png.width == 16 && png.height == 12 && png.channels == 3);
    nino_png_release(&png);
    free(data);
    CHECK(!stat(path, &sb) && S_ISREG(sb.st_mode));
    nino_ctx_destroy(&ctx);
    CHECK(stat(path, &sb) != 0); // gone with the ctx

    ctx = open_with(assets, NINO_PREVIEW_TAESD, 1, 1e9);
    w = watch(ctx, assets);
    CHECK(w.previews == 7 && w.width == 128 && w.height == 96);
    nino_ctx_destroy(&ctx);

    // next to no time for them: the first one, whose cost nobody knew
    ctx = open_with(assets, NINO_PREVIEW_LATENT2RGB, 1, 1e-12);
    w = watch(ctx, assets);
    CHECK(w.previews == 1);
    nino_ctx_destroy(&ctx);

    // a decode is dearer than that before it is tried, so the first one is the linear map too
    ctx = open_with(assets, NINO_PREVIEW_TAESD, 1, 1e-12);
    w = watch(ctx, assets);
    CHECK(w.previews == 1 && w.width == 16 && w.height == 12);
    nino_ctx_destroy(&ctx);

    // whenever one is made, those before it have stayed within their share
    ctx = open_with(assets, NINO_PREVIEW_AUTO, 1, 0.05);
    w = watch(ctx, assets);
    CHECK(w.previews >= 1 && w.began_ns && w.over <= 0);
    nino_ctx_destroy(&ctx);

    // of one job, as a worker has it; the next one is as the context again
    ctx = open_with(assets, NINO_PREVIEW_NONE, 1, 1e9);
    w = watch_with(ctx, assets, options(assets, NINO_PREVIEW_LATENT2RGB, 1, 1e-12));
    CHECK(w.previews == 1);
    nino_ctx_destroy(&ctx);
}

int main(void)
{
    random_tiny_approx(flow_models());
    test_map();
    test_sheet();
    test_folded();
    test_tiny("sd15", "taesd", 4, 8, 80); // 64 x 640 pixels
    test_tiny("flux", "taef1", 16, 6, 8);
    test_tiny("flux2", "taef2", 32, 3, 4);
    test_video();
    test_names();
    if (test_assets())
        test_wan(test_assets());
    else
        test_skip_part("ComfyUI's sheet of a real clip");
    test_run(test_models());
    flow_clean();
    return 0;
}
