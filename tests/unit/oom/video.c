// Allocation failures while clips are decoded and encoded, whole, in tiles and in chunks, and while
// a tiny video autoencoder is loaded: everything is freed, and one clear error comes out.
#include "tests/oom.h"

#include "core/tile/video_tiles.h"
#include "tests/random_taehv.h"

static nino_weights *file;
static nino_backend *be;
static nino_vae *vae;
static nino_array *z, *pixels;
static nino_video_params params;

static void fail_load(int may_fail)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    const nino_status st = nino_vae_load(file, "test", &v, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    CHECK((v != NULL) == (st == NINO_OK));
    nino_vae_unref(&v);
}

static nino_status count(void *priv, int64_t first, const nino_array *frames, nino_error *err)
{
    int64_t *next = priv;
    (void) err;
    CHECK(first == *next || !first); // they begin anew where memory ran out
    *next = first + frames->shape.dim[0];
    return NINO_OK;
}

// The device is made before failures begin and has the weights: both are tested elsewhere.
static void fail_decode(int may_fail)
{
    const long at = oom_pause();
    nino_error err = { 0 };
    int64_t frames = 0;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s != NULL);
    oom_resume(at);
    const nino_status st =
        nino_vae_decode_video(s, vae, z, &params, &(nino_frame_sink){ count, &frames }, NULL, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    CHECK(st || frames == nino_vae_frames(vae, z->shape.dim[1]));
    nino_stream_destroy(&s);
}

static void fail_encode(int may_fail)
{
    const long at = oom_pause();
    nino_error err = { 0 };
    nino_array *out = NULL;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s != NULL);
    oom_resume(at);
    const nino_status st = nino_vae_encode_video(s, vae, pixels, &params, &out, NULL, &err);
    CHECK(st == NINO_OK || (may_fail && st == NINO_ERR_NOMEM));
    CHECK((out != NULL) == (st == NINO_OK));
    nino_array_unref(&out);
    nino_stream_destroy(&s);
}

// Frames that are the latent frames, two of each but the first.
static nino_tensor *copy_clip(nino_stream *s, const nino_vae *v, nino_tensor *x)
{
    nino_tensor *out = nino_slice(s, nino_ref(x), 0, 0, 1);
    for (int64_t i = 1; i < nino_dim(x, 0); i++)
        for (int k = 0; k < v->time_factor; k++)
            out = nino_concat(s, out, nino_slice(s, nino_ref(x), 0, i, 1), 0);
    nino_unref(x);
    return out;
}

static nino_tensor *copy_next(nino_stream *s, nino_vae_clip *c, nino_tensor *x)
{
    return c->is_first ? x : nino_concat(s, nino_ref(x), x, 0);
}

static void check_network(void)
{
    static const tae_net net = {
        .z = 2, .patch = 1, .width = { 2, 2, 2, 2 }, .grow = { 1, 2, 2 }, .pool = { 2, 2, 1 }
    };
    static tae_file f;
    const test_dir dir = test_dir_create();
    vae = tae_make(&dir, "lighttaew2_1.safetensors", &net, &f);
    file = test_open("%s/lighttaew2_1.safetensors", dir.path);
    printf("  load: %ld allocations\n", oom_each(fail_load));
    z = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 1, 1, 2));
    pixels = nino_array_create(NINO_F32, NINO_SHAPE(5, 8, 8, 3));
    CHECK(z && pixels);
    memset(z->data, 0, z->bytes);
    memset(pixels->data, 0, pixels->bytes);
    params = (nino_video_params){ .tile = { .style = NINO_TILE_NEVER } };
    fail_decode(0);
    fail_encode(0);
    printf("  decode: %ld allocations\n", oom_each(fail_decode));
    printf("  encode: %ld allocations\n", oom_each(fail_encode));
    nino_array_unref(&pixels);
    nino_array_unref(&z);
    nino_vae_unref(&vae);
    nino_weights_unref(&file);
    tae_release(&f);
    test_dir_remove(&dir, (const char *const[]){ "lighttaew2_1.safetensors", NULL });
}

static void check_cuts(void)
{
    nino_vae v = { .family = "copy", .channels = 3, .factor = 1, .time_factor = 2, .refs = 1 };
    v.has_decoder = true;
    v.time_radius = -1;
    vae = &v;
    z = nino_array_create(NINO_F32, NINO_SHAPE(1, 5, 6, 6, 3));
    CHECK(z);
    memset(z->data, 0, z->bytes);
    v.decode_clip = copy_clip;
    params = (nino_video_params){ { .style = NINO_TILE_NEVER }, 3, 1, true };
    fail_decode(0);
    printf("  chunks: %ld allocations\n", oom_each(fail_decode));
    v.decode_clip = NULL;
    v.decode_next = copy_next;
    params = (nino_video_params){ .tile = { .style = NINO_TILE_ALWAYS, .tile = 4, .overlap = 1 } };
    fail_decode(0);
    printf("  tiles: %ld allocations\n", oom_each(fail_decode));
    nino_array_unref(&z);
}

int main(void)
{
    nino_error err = { 0 };
    be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    check_cuts();
    check_network();
    nino_backend_close(&be);
    return 0;
}
