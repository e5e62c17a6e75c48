// Text encoder networks on token ids: CLIP-G, T5 and UMT5 of random weights against torch's outputs
// and ComfyUI's own, in f32 and with 16-bit storage, on ref and cl.
#include "core/model/clip/text_encoder.h"
#include "tests/vae.h"

static const char *data;

// One chunk of ids, as if a prompt had been tokenised to them.
static nino_prompt prompt_of(const nino_array *ids)
{
    const int n = (int) nino_shape_count(&ids->shape);
    nino_prompt p = { .n_chunks = 1,
                      .chunk_len = n,
                      .tokens = calloc((size_t) n, sizeof(*p.tokens)) };
    CHECK(p.tokens != NULL);
    for (int i = 0; i < n; i++)
        p.tokens[i].id = (int32_t) nino_array_f32(ids)[i];
    return p;
}

typedef struct run {
    nino_array *hidden, *pooled;
} run;

static run forward(nino_stream *s, const nino_encoder *e, const nino_array *ids, nino_encoder_in in)
{
    nino_error err = { 0 };
    nino_prompt p = prompt_of(ids);
    nino_array *x = NULL;
    CHECK_OK(nino_encoder_embed(e, &p, nino_stream_is_plan(s), &x, &err), err);
    in.x = nino_upload(s, x, NINO_F32);
    in.has_hidden = true;
    const nino_encoder_out out = e->forward(s, e, &in);
    const run r = { nino_download(s, out.hidden, NINO_F32),
                    in.pooled_row >= 0 ? nino_download(s, out.pooled, NINO_F32) : NULL };
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_array_unref(&x);
    nino_prompt_release(&p);
    return r;
}

static void check(const char *what, const run *r, const nino_weights *io, const char *hidden,
                  const char *pooled, double tol)
{
    nino_array *want = test_tensor(io, hidden, false);
    const double d = test_nmse(r->hidden, want);
    double dp = 0;
    nino_array_unref(&want);
    if (pooled) {
        want = test_tensor(io, pooled, false);
        dp = test_nmse(r->pooled, want);
        nino_array_unref(&want);
    }
    printf("  %s %s: NMSE %.1e, %s %.1e\n", what, hidden, d, pooled ? pooled : "-", dp);
    CHECK(d <= tol && dp <= tol);
    nino_array *a = r->hidden, *b = r->pooled;
    nino_array_unref(&a);
    nino_array_unref(&b);
}

static nino_encoder *load(nino_encoder_id id, const char *name, nino_weights **io)
{
    nino_error err = { 0 };
    nino_encoder *e = NULL;
    nino_weights *w = test_open("%s/synth/%s.safetensors", data, name);
    CHECK_OK(nino_encoder_load(id, w, "", NULL, &e, &err), err);
    nino_weights_unref(&w);
    *io = test_open("%s/synth/%s_io.safetensors", data, name);
    return e;
}

static void test_clip(test_device *d, const char *what, double tol)
{
    nino_weights *io;
    nino_encoder *e = load(NINO_ENC_CLIP_G, "clip_g_h32", &io);
    CHECK(e->width == 32 && e->n_layers == 4 && e->pooled_width == 32 && e->max_len == 77);
    nino_array *ids = test_tensor(io, "ids", false);
    int end = 0; // the highest id
    for (int i = 0; i < 77; i++)
        if (nino_array_f32(ids)[i] > nino_array_f32(ids)[end])
            end = i;
    run r =
        forward(d->s, e, ids,
                (nino_encoder_in){ .is_normed = true, .pooled_row = end, .is_projected = true });
    check(what, &r, io, "last_hidden_normed", "pooled_projected", tol);
    r = forward(d->s, e, ids, (nino_encoder_in){ .layer = -2, .pooled_row = end });
    check(what, &r, io, "penultimate_raw", "pooled_unprojected", tol);
    r = forward(d->s, e, ids, (nino_encoder_in){ .layer = -2, .pooled_row = -1 }); // stops early
    check(what, &r, io, "penultimate_raw", NULL, tol);
    nino_array_unref(&ids);
    nino_encoder_destroy(&e);
    nino_weights_unref(&io);
}

static void test_t5(test_device *d, const char *what, nino_encoder_id id, const char *name,
                    double tol)
{
    nino_weights *io;
    nino_encoder *e = load(id, name, &io);
    CHECK(e->width == 32 && e->n_layers == 3 && !e->max_len && !e->positions);
    nino_array *ids = test_tensor(io, "ids", false), *mask = test_tensor(io, "mask", false);
    const int64_t n = nino_shape_count(&mask->shape);
    bool attend[64];
    CHECK(n == 64);
    for (int i = 0; i < n; i++)
        attend[i] = nino_array_f32(mask)[i] != 0;
    run r = forward(d->s, e, ids, (nino_encoder_in){ .is_normed = true, .pooled_row = -1 });
    check(what, &r, io, "out_no_mask", NULL, tol);
    r = forward(d->s, e, ids,
                (nino_encoder_in){ .is_normed = true, .pooled_row = -1, .attend = attend });
    check(what, &r, io, "out_masked", NULL, tol);
    nino_array_unref(&ids);
    nino_array_unref(&mask);
    nino_encoder_destroy(&e);
    nino_weights_unref(&io);
}

static void test_all(const char *device, nino_precision precision, const char *what, double tol)
{
    test_device d;
    if (!test_device_open(&d, device, 0)) {
        printf("  %s: no such device here\n", device);
        return;
    }
    nino_stream_set_precision(d.s, precision);
    test_clip(&d, what, tol);
    test_t5(&d, what, NINO_ENC_T5, "t5_d32", tol);
    test_t5(&d, what, NINO_ENC_UMT5, "umt5_d32", tol);
    test_device_close(&d);
}

int main(void)
{
    while ((data = test_data_next(data))) {
        printf("%s\n", data);
        test_all("ref", NINO_PREC_F32, "ref f32", 1e-6);
        test_all("ref", NINO_PREC_F16, "ref f16", 1e-3);
        test_all("ref", NINO_PREC_BF16, "ref bf16", 1e-3);
        test_all("cl", NINO_PREC_F32, "cl f32", 1e-6);
        test_all("cl", NINO_PREC_F16, "cl f16", 1e-3);
        test_all("cl", NINO_PREC_BF16, "cl bf16", 1e-3);
    }
    return 0;
}
