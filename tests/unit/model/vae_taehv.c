// The tiny video autoencoders against a plain reference; streamed clips give the bits of the whole
// clip in memory that does not depend on its length; what files and names say.
#include "core/model/latent_format.h"
#include "core/tile/video_tiles.h"

#include "tests/random_taehv.h"

static nino_error err;
static test_dir dir;
static const nino_video_params plain = { .tile = { .style = NINO_TILE_NEVER } };

static nino_array *random_clip(nino_shape shape, bool is_picture)
{
    uint32_t seed = 99;
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = is_picture ? 0.5f + 0.5f * tae_value(&seed) : 2 * tae_value(&seed);
    return a;
}

typedef struct kept {
    nino_array *all; // [F,H,W,3]
    int64_t next;
} kept;

static nino_status keep(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    kept *k = priv;
    const int64_t *d = frames->shape.dim, frame = d[1] * d[2] * d[3];
    (void) e;
    CHECK(first == k->next && first + d[0] <= k->all->shape.dim[0]);
    memcpy(nino_array_f32(k->all) + first * frame, frames->data,
           (size_t) (d[0] * frame) * sizeof(float));
    k->next += d[0];
    return NINO_OK;
}

static nino_array *decode(nino_stream *s, const nino_vae *v, const nino_array *z)
{
    const int64_t *d = z->shape.dim, frames = nino_vae_frames(v, d[1]);
    kept k = {
        nino_array_create(NINO_F32, NINO_SHAPE(frames, d[2] * v->factor, d[3] * v->factor, 3)), 0
    };
    CHECK(k.all);
    CHECK_OK(nino_vae_decode_video(s, v, z, &plain, &(nino_frame_sink){ keep, &k }, NULL, &err),
             err);
    CHECK(k.next == frames);
    return k.all;
}

// Pieces of `step` latent frames, and at the end what is left; unclamped.
static nino_array *in_pieces(nino_stream *s, const nino_vae *v, const nino_array *in,
                             bool is_decode, int64_t step)
{
    nino_vae_clip clip;
    nino_tensor *out = NULL;
    nino_array flat = *in;
    const int64_t *d = in->shape.dim + (in->shape.rank == 5), t = d[0];
    flat.shape = NINO_SHAPE(d[0], d[1], d[2], d[3]);
    step *= is_decode ? 1 : v->time_factor;
    nino_vae_clip_begin(&clip, v, is_decode);
    for (int64_t i = 0; i < t; i += step) {
        nino_tensor *x = nino_upload(s, &flat, NINO_F32);
        x = nino_vae_clip_next(s, &clip, nino_slice(s, x, 0, i, t - i < step ? t - i : step));
        out = i ? nino_concat(s, out, x, 0) : x;
    }
    nino_vae_clip_end(&clip);
    nino_array *a = nino_download(s, out, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    return a;
}

// Decoding and encoding of a few frames against the reference; z in the network's space.
static void check_against(nino_stream *s, const nino_vae *v, const tae_net *n, const tae_file *f)
{
    for (int t = 1; t <= 3; t++) {
        nino_array *z = random_clip(NINO_SHAPE(1, t, 2, 3, v->channels), false);
        nino_array *a = in_pieces(s, v, z, true, 1), *b = tae_to(tae_decode(f, n, tae_from(z)));
        CHECK(a->shape.dim[0] == nino_vae_frames(v, t) && nino_shape_equal(&a->shape, &b->shape));
        CHECK(test_nmse(a, b) <= 1e-10);
        nino_array_unref(&a);
        nino_array_unref(&b);
        nino_array_unref(&z);
        if (!v->has_encoder)
            continue;
        z = random_clip(NINO_SHAPE(2 * t + 1, 2 * v->factor, v->factor, 3), true);
        b = tae_to(tae_encode(f, n, tae_from(z)));
        CHECK_OK(nino_vae_encode_video(s, v, z, &plain, &a, NULL, &err), err);
        CHECK(a->shape.dim[1] == b->shape.dim[0] &&
              nino_shape_count(&a->shape) == nino_shape_count(&b->shape));
        b->shape = a->shape; // [1,T,h,w,C] of [T,h,w,C]
        CHECK(test_nmse(a, b) <= 1e-10);
        nino_array_unref(&a);
        nino_array_unref(&b);
        nino_array_unref(&z);
    }
}

// Any pieces give the same bits.
static void check_pieces(nino_stream *s, const nino_vae *v)
{
    nino_array *z = random_clip(NINO_SHAPE(1, 5, 3, 2, v->channels), false);
    nino_array *a = in_pieces(s, v, z, true, 5), *c = decode(s, v, z);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        CHECK(nino_array_f32(c)[i] == fminf(fmaxf(nino_array_f32(a)[i], 0), 1));
    for (int step = 1; step < 5; step++) {
        nino_array *b = in_pieces(s, v, z, true, step);
        CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
        nino_array_unref(&b);
    }
    nino_array_unref(&a);
    a = in_pieces(s, v, c, false, 9);
    for (int step = 1; step < 5; step++) {
        nino_array *b = in_pieces(s, v, c, false, step);
        CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
        nino_array_unref(&b);
    }
    nino_array_unref(&a);
    nino_array_unref(&c);
    nino_array_unref(&z);
}

// A picture is a clip of one frame.
static void check_image(nino_stream *s, const nino_vae *v)
{
    nino_array *z = random_clip(NINO_SHAPE(1, 1, 3, 4, v->channels), false), *b = NULL, *e = NULL;
    nino_array flat = *z;
    nino_array *a = decode(s, v, z);
    flat.shape = NINO_SHAPE(1, 3, 4, v->channels);
    CHECK_OK(nino_vae_decode_tiled(s, v, &flat, &plain.tile, &b, NULL, &err), err);
    CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
    nino_array_unref(&z);
    CHECK_OK(nino_vae_encode_tiled(s, v, b, &plain.tile, &z, NULL, &err), err);
    CHECK_OK(nino_vae_encode_video(s, v, b, &plain, &e, NULL, &err), err);
    CHECK(z->bytes == e->bytes && !memcmp(z->data, e->data, e->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&e);
    nino_array_unref(&z);
}

static uint64_t peak(nino_backend *be, nino_stream *s, const nino_vae *v, int t)
{
    nino_mem_stat m;
    nino_array *z = random_clip(NINO_SHAPE(1, t, 4, 4, v->channels), false), *back = NULL;
    nino_pool_reset_peak(be->pool);
    nino_array *a = decode(s, v, z);
    CHECK_OK(nino_vae_encode_video(s, v, a, &plain, &back, NULL, &err), err);
    nino_pool_stat(be->pool, &m);
    nino_array_unref(&a);
    nino_array_unref(&back);
    nino_array_unref(&z);
    return m.peak;
}

static void check_memory(const nino_vae *v)
{
    nino_profile p = nino_profile_ref;
    nino_backend *be = nino_plan_open(&p, 0, NULL, &err);
    CHECK(be);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    peak(be, s, v, 2); // weights come in
    const uint64_t five = peak(be, s, v, 5), many = peak(be, s, v, 81);
    CHECK(five > 0 && (double) many <= 1.02 * (double) five);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

static const tae_net small = {
    .z = 4,
    .patch = 1,
    .width = { 8, 6, 4, 4 },
    .grow = { 1, 2, 2 },
    .pool = { 2, 2, 1 },
    .dtype = NINO_F32,
};

// Widths, folded pixels, frame rates and rows that are not used come from the file.
static void check_kinds(nino_stream *s)
{
    static const struct {
        const char *file;
        int z, patch, grow[3], pool[3], factor, time;
        bool no_encoder, keeps_rows;
    } kinds[] = {
        { "a.safetensors", 4, 1, { 1, 2, 2 }, { 2, 2, 1 }, 8, 4, false, false },
        { "b.safetensors", 6, 2, { 1, 2, 2 }, { 2, 2, 1 }, 16, 4, false, true },
        { "c.safetensors", 5, 1, { 1, 2, 2 }, { 2, 2, 1 }, 8, 4, true, true },
        { "d.safetensors", 128, 4, { 2, 2, 2 }, { 2, 2, 2 }, 32, 8, true, false },
        { "e.safetensors", 4, 2, { 2, 2, 2 }, { 2, 2, 2 }, 16, 8, false, false },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        static tae_file f;
        tae_net n = small;
        n.z = kinds[i].z;
        n.patch = kinds[i].patch;
        memcpy(n.grow, kinds[i].grow, sizeof(n.grow));
        memcpy(n.pool, kinds[i].pool, sizeof(n.pool));
        n.no_encoder = kinds[i].no_encoder;
        n.keeps_rows = kinds[i].keeps_rows;
        nino_vae *v = tae_make(&dir, kinds[i].file, &n, &f);
        CHECK(v->kind == NINO_VAE_TAEHV && v->channels == n.z && v->factor == kinds[i].factor);
        CHECK(v->time_factor == kinds[i].time && v->has_encoder == !n.no_encoder);
        CHECK(v->scale == 1);
        check_against(s, v, &n, &f);
        nino_vae_unref(&v);
        tae_release(&f);
    }
}

// Latents as the diffusion model's become what the network wants, by the file's name.
static void check_spaces(nino_stream *s)
{
    static tae_file f;
    const nino_latent_format *wan = nino_latent_format_find("wan21");
    tae_net n = small;
    n.z = 16;
    nino_vae *light = tae_make(&dir, "lighttaew2_1.safetensors", &n, &f);
    tae_release(&f);
    nino_vae *tae = tae_make(&dir, "taew2_1.safetensors", &n, &f);
    tae_release(&f);
    nino_array *z = random_clip(NINO_SHAPE(1, 2, 2, 3, 16), false);
    nino_array *a = in_pieces(s, light, z, true, 2);
    for (int64_t i = 0; i < nino_shape_count(&z->shape); i++)
        nino_array_f32(z)[i] = nino_array_f32(z)[i] * wan->std[i % 16] + wan->mean[i % 16];
    nino_array *b = in_pieces(s, tae, z, true, 2);
    CHECK(test_nmse(a, b) <= 1e-10);
    nino_array *p = random_clip(NINO_SHAPE(5, 16, 8, 3), true), *za = NULL, *zb = NULL;
    CHECK_OK(nino_vae_encode_video(s, light, p, &plain, &za, NULL, &err), err);
    CHECK_OK(nino_vae_encode_video(s, tae, p, &plain, &zb, NULL, &err), err);
    for (int64_t i = 0; i < nino_shape_count(&za->shape); i++)
        nino_array_f32(za)[i] = nino_array_f32(za)[i] * wan->std[i % 16] + wan->mean[i % 16];
    CHECK(test_nmse(za, zb) <= 1e-10);
    nino_array_unref(&p);
    nino_array_unref(&za);
    nino_array_unref(&zb);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&z);
    nino_vae_unref(&light);
    nino_vae_unref(&tae);
    tae = tae_make(&dir, "taehv.safetensors", &n, &f);
    CHECK(fabs(tae->scale - 0.476986) < 1e-9);
    nino_vae_unref(&tae);
    tae_release(&f);
    n.dtype = NINO_F16; // as ComfyUI tells it from the other
    tae = tae_make(&dir, "a.safetensors", &n, &f);
    CHECK(fabs(tae->scale - 0.476986) < 1e-9);
    nino_vae_unref(&tae);
    tae_release(&f);
}

// Saves f without the tensors called `without` (NULL: with all) and loads that.
static nino_status load_without(const char *file, tae_file *f, const char *without)
{
    nino_vae *v = NULL;
    for (int i = 0; i < f->n; i++)
        if (without && !strncmp(f->names[i], without, strlen(without)))
            f->names[i][0] = 'x';
    CHECK_OK(nino_st_save(dir.path, file, false, f->e, f->n, NULL, 0, &err), err);
    nino_weights *w = test_open("%s/%s", dir.path, file);
    const nino_status st = nino_vae_load(w, file, &v, &err);
    CHECK(st && !v && strstr(err.where, file));
    nino_weights_unref(&w);
    return st;
}

// One line that names the file and what is wrong with it.
static void check_bad(void)
{
    static const struct {
        const char *without, *says;
    } bad[] = {
        { "decoder.8.", "decoder.9.conv.0" },
        { "decoder.4.conv.2.weight", "decoder.4.conv.2" },
        { "decoder.22.", "pictures of 4 channels" },
        { "encoder.17.", "do not begin and end" },
        { "encoder.12.", "do not fit together" },
    };
    static tae_file f;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        tae_fill(&f, &small);
        CHECK(load_without("bad.safetensors", &f, bad[i].without) == NINO_ERR_FORMAT);
        if (!strstr(err.msg, bad[i].says) && !strstr(err.where, bad[i].says))
            fprintf(stderr, "%s: %s: %s\n", bad[i].without, err.where, err.msg);
        CHECK(strstr(err.msg, bad[i].says) || strstr(err.where, bad[i].says));
        tae_release(&f);
    }
    tae_net n = small;
    n.z = 32;
    tae_fill(&f, &n);
    CHECK(load_without("lighttaehy1_5.safetensors", &f, NULL) == NINO_ERR_UNSUPPORTED);
    tae_release(&f);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    static const char *const files[] = { "a.safetensors",
                                         "b.safetensors",
                                         "c.safetensors",
                                         "d.safetensors",
                                         "e.safetensors",
                                         "v.safetensors",
                                         "w.safetensors",
                                         "taehv.safetensors",
                                         "taew2_1.safetensors",
                                         "lighttaew2_1.safetensors",
                                         "lighttaehy1_5.safetensors",
                                         "bad.safetensors",
                                         NULL };
    static tae_file f;
    dir = test_dir_create();
    nino_vae *v = tae_make(&dir, "v.safetensors", &small, &f);
    tae_release(&f);
    nino_vae *folded = tae_make(
        &dir, "w.safetensors",
        &(tae_net){ 6, 2, { 8, 8, 4, 4 }, { 1, 2, 2 }, { 2, 2, 1 }, false, false, NINO_F32 }, &f);
    tae_release(&f);
    CHECK_STR(v->family, "taehv");
    check_memory(v);
    check_memory(folded);
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        check_pieces(d.s, v);
        check_pieces(d.s, folded);
        check_image(d.s, v);
        check_spaces(d.s);
        check_kinds(d.s);
        test_device_close(&d);
    }
    check_bad();
    nino_vae_unref(&v);
    nino_vae_unref(&folded);
    test_dir_remove(&dir, files);
    return 0;
}
