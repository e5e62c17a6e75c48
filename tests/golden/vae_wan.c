// The video VAEs of Wan 2.1 and 2.2 against torch's and ComfyUI's own results for small models with
// random weights: clips of several lengths, whole and latent frame by latent frame.
#include "tests/vae.h"

// Frames first ... of a clip [1,T,H,W,C] as a piece [n,H,W,C].
static nino_tensor *piece(nino_stream *s, const nino_array *a, int64_t first, int64_t n)
{
    const int64_t *d = a->shape.dim, frame = d[2] * d[3] * d[4];
    nino_array *p = nino_array_create(NINO_F32, NINO_SHAPE(n, d[2], d[3], d[4]));
    CHECK(p);
    memcpy(p->data, nino_array_f32(a) + first * frame, p->bytes);
    nino_tensor *t = nino_upload(s, p, NINO_F32);
    nino_array_unref(&p);
    return t;
}

// The clip through the VAE: pieces of 1 + k, then k frames of the input, k = 0: all at once.
static nino_array *run(test_device *d, const nino_vae *v, bool is_decode, const nino_array *in,
                       int64_t k)
{
    const int64_t t = in->shape.dim[1], step = k ? k : t;
    nino_array *out = NULL;
    nino_vae_clip clip;
    nino_tensor *all = NULL;
    nino_error err = { 0 };
    nino_vae_clip_begin(&clip, v, is_decode);
    for (int64_t i = 0, n = k ? 1 : t; i < t; i += n, n = step) {
        nino_tensor *y = nino_vae_clip_next(d->s, &clip, piece(d->s, in, i, n));
        all = all ? nino_concat(d->s, all, y, 0) : y;
    }
    nino_vae_clip_end(&clip);
    out = nino_download(d->s, all, NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    const int64_t *o = out->shape.dim;
    out->shape = NINO_SHAPE(1, o[0], o[1], o[2], o[3]);
    return out;
}

static void check(test_device *d, const nino_vae *v, nino_weights *io, bool is_decode, int frames)
{
    char name[32];
    const char letter = is_decode ? 'T' : 'F', *what = is_decode ? "decode" : "encode";
    snprintf(name, sizeof(name), "%s_in_%c%d", what, letter, frames);
    nino_array *in = test_tensor(io, name, true);
    snprintf(name, sizeof(name), "%s_out_%c%d", what, letter, frames);
    nino_array *want = test_tensor(io, name, true);
    // the files hold pixels in -1..1
    nino_array *pixels = is_decode ? want : in;
    for (int64_t i = 0; i < nino_shape_count(&pixels->shape); i++)
        nino_array_f32(pixels)[i] = nino_array_f32(pixels)[i] * 0.5f + 0.5f;
    nino_array *streamed = run(d, v, is_decode, in, is_decode ? 1 : v->time_factor);
    nino_array *whole = run(d, v, is_decode, in, 0);
    printf("  %s %s of %d frames: nmse %.2e\n", v->family, what, frames, test_nmse(streamed, want));
    CHECK(test_nmse(streamed, want) <= 1e-10);
    CHECK(!memcmp(streamed->data, whole->data, whole->bytes));
    nino_array_unref(&in);
    nino_array_unref(&want);
    nino_array_unref(&streamed);
    nino_array_unref(&whole);
}

static void check_model(test_device *d, const char *assets, const char *family, bool is_short)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    nino_weights *w = test_open("%s/synth/%s_vae_dim16.safetensors", assets, family);
    nino_weights *io = test_open("%s/synth/%s_vae_dim16_io.safetensors", assets, family);
    CHECK_OK(nino_vae_load(w, family, &v, &err), err);
    CHECK_STR(v->family, family);
    CHECK(v->time_factor == 4 && v->has_encoder && v->has_decoder);
    CHECK(v->factor == (v->channels == 48 ? 16 : 8));
    for (int frames = is_short ? 2 : 1; frames <= (is_short ? 2 : 4); frames *= 2)
        check(d, v, io, true, frames);
    for (int frames = is_short ? 5 : 1; frames <= (is_short ? 5 : 9); frames += 4)
        check(d, v, io, false, frames);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

// Pictures, each a clip of one frame: [N,C,1,H,W] in the file.
static nino_array *pictures(const nino_weights *io, const char *name, bool are_pixels)
{
    nino_array *a = test_tensor(io, name, true);
    const int64_t *d = a->shape.dim;
    CHECK(a->shape.rank == 5 && d[1] == 1);
    a->shape = NINO_SHAPE(d[0], d[2], d[3], d[4]);
    for (int64_t i = 0; are_pixels && i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = nino_array_f32(a)[i] * 0.5f + 0.5f;
    return a;
}

static void check_pictures(test_device *d, const nino_vae *v, const nino_weights *io,
                           bool is_decode, nino_precision p)
{
    nino_error err = { 0 };
    const double most = p == NINO_PREC_F32 ? 1e-6 : 1e-3;
    nino_array *in = pictures(io, is_decode ? "decode_in" : "encode_in", !is_decode);
    nino_array *want = pictures(io, is_decode ? "decode_out" : "encode_out", is_decode);
    nino_stream_set_precision(d->s, p);
    nino_tensor *x = nino_upload(d->s, in, nino_stream_act_type(d->s));
    nino_array *got =
        nino_download(d->s, is_decode ? v->decode(d->s, v, x) : v->encode(d->s, v, x), NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    printf("  Qwen-Image's, %s: nmse %.2e\n", is_decode ? "decode" : "encode",
           test_nmse(got, want));
    CHECK(test_nmse(got, want) <= most);
    nino_stream_set_precision(d->s, NINO_PREC_F32);
    nino_array_unref(&in);
    nino_array_unref(&want);
    nino_array_unref(&got);
}

// Qwen-Image's VAE is Wan 2.1's in names and shapes.
static void check_qwen(test_device *d, const char *assets, bool is_ref)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    nino_weights *w = test_open("%s/models/vae/qwen_image_vae_tiny.safetensors", assets);
    nino_weights *io = test_open("%s/synth/qwen_image_vae_tiny_io.safetensors", assets);
    CHECK_OK(nino_vae_load(w, "qwen", &v, &err), err);
    CHECK_STR(v->family, "wan21");
    for (int is_decode = 0; is_decode < 2; is_decode++) {
        check_pictures(d, v, io, is_decode, NINO_PREC_F32);
        if (!is_ref)
            check_pictures(d, v, io, is_decode, NINO_PREC_F16);
    }
    nino_vae_unref(&v);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        const bool is_ref = !strcmp(*name, "ref") && !getenv("NINODES_TEST_LONG"); // it is slow
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));) {
            check_model(&d, data, "wan21", is_ref);
            check_model(&d, data, "wan22", is_ref);
            if (!test_data_is_own(data))
                check_qwen(&d, data, !strcmp(*name, "ref"));
        }
        test_device_close(&d);
    }
    return 0;
}
