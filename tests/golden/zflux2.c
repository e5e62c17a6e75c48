// Z-Image and FLUX.2 against ComfyUI's own modules, stage by stage: what the networks hand from one
// part to the next, their outputs with and without guidance and reference latents, and FLUX.2's
// autoencoder. The networks' files are read as a part of this one, to reach their stages.
#include "tests/diffusion.h"

#include "core/model/flux/flux.c"     // NOLINT(bugprone-suspicious-include)
#include "core/model/zimage/zimage.c" // NOLINT(bugprone-suspicious-include)

static const nino_tile_params whole = { .style = NINO_TILE_NEVER };
static double most; // NMSE

static nino_array *named(const nino_weights *io, const char *prefix, const char *leaf)
{
    char name[96];
    snprintf(name, sizeof(name), "%s%s", prefix, leaf);
    const nino_tensor_info *t = nino_weights_find(io, name);
    CHECK(t != NULL);
    return test_tensor(io, name, t->rank == 4);
}

static void compare(const nino_weights *io, const char *prefix, const char *leaf,
                    const nino_array *got)
{
    nino_array *want = named(io, prefix, leaf);
    const double far = test_nmse(got, want);
    printf("  %s%s: nmse %.2e\n", prefix, leaf, far);
    CHECK(far <= most);
    nino_array_unref(&want);
}

// A stage's tensor, which is used up.
static void stage(nino_stream *s, const nino_weights *io, const char *prefix, const char *leaf,
                  nino_tensor *t)
{
    nino_error err = { 0 };
    nino_array *got = nino_download(s, t, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    compare(io, prefix, leaf, got);
    nino_array_unref(&got);
}

static bool has_file(const char *folder, const char *below)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, below);
    return access(path, R_OK) == 0;
}

// ---- Z-Image ---------------------------------------------------------------------------------
static void zimage_stages(test_device *d, const nino_diffusion *net, const nino_weights *io,
                          const char *prefix)
{
    nino_stream *s = d->s;
    const zimage *z = net->net;
    zimage first = *z;
    nino_array *x = named(io, prefix, "x"), *t = named(io, prefix, "sigma");
    nino_array *c = named(io, prefix, "context");
    const int64_t n = x->shape.dim[0], more = zimage_missing(z->cap_pad, c->shape.dim[1]);
    zimage_rope key = { .text = c->shape.dim[1] + more, .depth = z->depth };
    key.h = (x->shape.dim[1] + 1) / 2;
    key.w = (x->shape.dim[2] + 1) / 2;
    key.pad = zimage_missing(z->x_pad, key.h * key.w);
    nino_array *table = zimage_rope_make(&key);
    nino_tensor *at = nino_upload(s, table, NINO_F32);
    zimage_run r = { .net = z, .time = zimage_time(s, z, nino_array_f32(t), n) };
    stage(s, io, prefix, "c", nino_ref(r.time));
    nino_tensor *text = zimage_read_text(s, &r, test_up(s, c), more, nino_ref(at), key.text);
    stage(s, io, prefix, "text_refined", nino_ref(text));
    nino_tensor *image = zimage_read_image(s, &r, test_up(s, x), key.pad, nino_ref(at), key.text);
    stage(s, io, prefix, "image_refined", nino_ref(image));
    first.noise_refiner.n = first.layers.n = 1;
    r.net = &first;
    stage(s, io, prefix, "noise_refiner_0",
          zimage_read_image(s, &r, test_up(s, x), key.pad, nino_ref(at), key.text));
    r.table = at;
    stage(s, io, prefix, "layer_0",
          zimage_read_both(s, &r, nino_concat(s, text, image, 1), key.text));
    nino_unref(at);
    nino_unref(r.time);
    const test_inputs in = { .x = x, .context = c, .timestep = nino_array_f32(t) };
    nino_array *out = test_forward(s, net, &in);
    compare(io, prefix, "out", out);
    nino_array *all[] = { x, t, c, table, out };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
}

static void check_zimage(test_device *d, const char *data)
{
    nino_weights *w = test_open("%s/models/diffusion_models/z_image_tiny_bf16.safetensors", data);
    nino_weights *io = test_open("%s/synth/z_image_d256_io.safetensors", data);
    nino_diffusion *net = test_diffusion(w, "z_image");
    CHECK(net->in_channels == 16 && net->context_dim == 32 && !net->y_dim && !net->has_guidance);
    zimage_stages(d, net, io, "a/"); // odd sides, tokens to be completed
    zimage_stages(d, net, io, "b/"); // neither
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

// The first step of a recorded run with scaled 8-bit weights: x0 from noise.
static void check_step(test_device *d, const char *data)
{
    nino_weights *w =
        test_open("%s/models/diffusion_models/z_image_tiny_fp8_e4m3fn_scaled.safetensors", data);
    nino_weights *io = test_open("%s/synth/z_image_fp8_step_io.safetensors", data);
    nino_diffusion *net = test_diffusion(w, "z_image");
    nino_array *x = named(io, "", "noise"), *sigmas = named(io, "", "sigmas");
    nino_array *c = named(io, "", "cond");
    const int64_t n = nino_shape_count(&x->shape);
    const float sigma = nino_array_f32(sigmas)[0];
    const float t = nino_sampling_timestep(net->sampling, sigma);
    CHECK(sigma == 1 && t == 1 && net->is_scaled);
    const test_inputs in = { .x = x, .context = c, .timestep = &t };
    nino_array *out = test_forward(d->s, net, &in);
    nino_sampling_calculate_denoised(net->sampling, sigma, nino_array_f32(out), nino_array_f32(x),
                                     nino_array_f32(out), n);
    compare(io, "", "denoised", out);
    nino_array *all[] = { x, sigmas, c, out };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

// ---- FLUX.2 ----------------------------------------------------------------------------------
static void flux_stages(test_device *d, const nino_diffusion *net, const nino_weights *io)
{
    nino_stream *s = d->s;
    const flux *fx = net->net;
    flux first = *fx;
    nino_array *x = named(io, "", "x"), *t = named(io, "", "sigma"), *c = named(io, "", "context");
    nino_array *g = nino_weights_find(io, "guidance") ? named(io, "", "guidance") : NULL;
    flux_rope key = { .place = fx->place, .text = c->shape.dim[1] };
    nino_forward f = { .x = test_up(s, x), .guidance = NAN };
    flux_run r = { .net = fx, .text = key.text };
    r.image = x->shape.dim[1] * x->shape.dim[2];
    r.vec = flux_condition(s, net, &f, nino_array_f32(t), nino_dim(f.x, 0), 1);
    if (g) { // each picture has its own
        nino_unref(r.vec);
        nino_tensor *v = flux_embed(s, &fx->time, nino_array_f32(t), 2, 1);
        v = nino_add(s, v, flux_embed(s, &fx->guidance, nino_array_f32(g), 2, 1));
        r.vec = nino_act_op(s, v, NINO_ACT_SILU);
    }
    nino_tensor *img = read_pictures(s, net, &f, &key);
    nino_tensor *txt = nino_linear_op(s, test_up(s, c), &fx->txt_in);
    r.table = nino_rope_upload(s, &first.rope, &key, sizeof(key), flux_rope_make);
    flux_share(s, &r);
    flux_run_double(s, &r, &fx->doubles[0], &img, &txt);
    stage(s, io, "", "double_0_img", nino_ref(img));
    stage(s, io, "", "double_0_txt", nino_ref(txt));
    CHECK(fx->n_doubles == 1);
    stage(s, io, "", "single_0",
          flux_run_single(s, &r, &fx->singles[0], nino_concat(s, txt, img, 1)));
    flux_end_run(&r);
    nino_array *all[] = { x, t, c, g };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
}

// The output for `n_refs` reference latents. A guidance goes for a whole batch, so pictures with one
// each are evaluated alone.
static void flux_output(test_device *d, const nino_diffusion *net, const nino_weights *io,
                        const char *leaf, int n_refs, nino_ref_method method, bool is_guided)
{
    nino_array *x = named(io, "", "x"), *t = named(io, "", "sigma"), *c = named(io, "", "context");
    nino_array *g = is_guided ? named(io, "", "guidance") : NULL;
    nino_array *want = named(io, "", leaf), *ref[2] = { NULL, NULL }, *both[2][2];
    for (int i = 0; i < n_refs; i++) {
        ref[i] = named(io, "", i ? "ref_b" : "ref_a");
        for (int k = 0; k < 2; k++)
            both[i][k] = nino_array_ref(ref[i]);
    }
    double worst = 0;
    for (int k = 0; k < 2; k++) {
        nino_array *one = test_item(x, k), *context = test_item(c, k), *out_k = test_item(want, k);
        test_inputs in = { .x = one, .context = context, .timestep = nino_array_f32(t) + k };
        in.guidance = g ? nino_array_f32(g)[k] : NAN;
        in.n_refs = n_refs;
        in.ref_method = method;
        for (int i = 0; i < n_refs; i++)
            in.ref[i] = both[i][k];
        nino_array *got = test_forward(d->s, net, &in);
        worst = fmax(worst, test_nmse(got, out_k));
        nino_array *all[] = { one, context, out_k, got };
        for (int i = 0; i < 4; i++)
            nino_array_unref(&all[i]);
    }
    printf("  %s: nmse %.2e\n", leaf, worst);
    CHECK(worst <= most);
    for (int i = 0; i < n_refs; i++) {
        nino_array_unref(&ref[i]);
        for (int k = 0; k < 2; k++)
            nino_array_unref(&both[i][k]);
    }
    nino_array *all[] = { x, t, c, g, want };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
}

static void check_flux2(test_device *d, const char *data, const char *model, const char *file,
                        const char *family)
{
    nino_weights *w = test_open("%s/models/diffusion_models/%s.safetensors", data, model);
    nino_weights *io = test_open("%s/synth/%s.safetensors", data, file);
    nino_diffusion *net = test_diffusion(w, family);
    const bool is_dev = net->has_guidance;
    CHECK(net->in_channels == 128 && net->context_dim == 96 && net->context_rows == 512);
    CHECK(is_dev == !strcmp(family, "flux2"));
    flux_stages(d, net, io);
    flux_output(d, net, io, "out", 0, NINO_REFS_DEFAULT, is_dev);
    if (is_dev)
        flux_output(d, net, io, "out_no_guidance", 0, NINO_REFS_DEFAULT, false);
    flux_output(d, net, io, "out_ref_a", 1, NINO_REFS_DEFAULT, is_dev);
    flux_output(d, net, io, "out_ref_ab_index", 2, NINO_REFS_DEFAULT, is_dev);
    flux_output(d, net, io, "out_ref_ab_index", 2, NINO_REFS_INDEX, is_dev);
    flux_output(d, net, io, "out_ref_ab_offset", 2, NINO_REFS_OFFSET, is_dev);
    flux_output(d, net, io, "out_ref_ab_uxo", 2, NINO_REFS_UXO, is_dev);
    if (!is_dev)
        flux_output(d, net, io, "out_ref_ab_index_timestep_zero", 2, NINO_REFS_INDEX_TIMESTEP_ZERO,
                    false);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

// ---- FLUX.2's autoencoder --------------------------------------------------------------------
static void check_vae(test_device *d, const char *data)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    nino_weights *w = test_open("%s/models/vae/flux2_vae_tiny.safetensors", data);
    nino_weights *io = test_open("%s/synth/flux2_vae_ch32_io.safetensors", data);
    CHECK_OK(nino_vae_load(w, "flux2_vae_tiny", &v, &err), err);
    CHECK_STR(v->family, "flux2");
    CHECK(v->channels == 128 && v->factor == 16);
    nino_array *z = named(io, "", "decode_in"), *x = named(io, "", "encode_in");
    nino_array *y = test_decode(d, v, z, &whole, NULL), *want = named(io, "", "decode_out");
    for (int64_t i = 0; i < nino_shape_count(&want->shape); i++) // pictures are 0..1 here
        nino_array_f32(want)[i] = fminf(fmaxf((nino_array_f32(want)[i] + 1) / 2, 0), 1);
    printf("  flux2 vae decode: nmse %.2e\n", test_nmse(y, want));
    CHECK(test_nmse(y, want) <= most);
    for (int64_t i = 0; i < nino_shape_count(&x->shape); i++)
        nino_array_f32(x)[i] = (nino_array_f32(x)[i] + 1) / 2;
    nino_array *m = test_encode(d, v, x, &whole, NULL);
    compare(io, "", "encode_out", m);
    nino_array *all[] = { z, x, y, want, m };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

int main(void)
{
    static const struct {
        const char *device;
        nino_precision precision;
        double most;
    } ways[] = { { "ref", NINO_PREC_F32, 1e-6 },
                 { "cl", NINO_PREC_F32, 1e-6 },
                 { "cl", NINO_PREC_BF16, 1e-3 },
                 { "cl", NINO_PREC_F16, 1e-3 } };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        test_device d;
        if (!test_device_open(&d, ways[i].device, 0))
            continue;
        printf("%s, precision %d\n", ways[i].device, (int) ways[i].precision);
        nino_stream_set_precision(d.s, ways[i].precision);
        most = ways[i].most;
        for (const char *data = NULL; (data = test_data_next(data));) {
            if (test_data_is_own(data))
                check_step(&d, data);
            if (has_file(data, "synth/z_image_d256_io.safetensors"))
                check_zimage(&d, data);
            if (has_file(data, "synth/flux2_klein_h256_io.safetensors"))
                check_flux2(&d, data, "flux2_klein_tiny_fp8", "flux2_klein_h256_io", "flux2_klein");
            check_flux2(&d, data, "flux2_dev_tiny_bf16", "flux2_dev_h128_io", "flux2");
            if (has_file(data, "synth/flux2_vae_ch32_io.safetensors"))
                check_vae(&d, data);
        }
        test_device_close(&d);
    }
    return 0;
}
