// Tiles, pictures and clips shared by several devices: the bits of one device, whichever does what; one that
// fails in the middle, has no room, or is cancelled; what viewers and plans are told.
#include "core/tile/tile_upscale.h"
#include "core/tile/video_tiles.h"

#include <stdatomic.h>

#include "core/base/error.h"
#include "tests/random_taehv.h"
#include "tests/random_tiny.h"
#include "tests/random_upscale.h"
#include "tests/vae.h"

enum { OTHERS = 2 };

static nino_error err;
static nino_vae *vae, *clip_vae;
static nino_upscale *up;

// ---- devices that are lent ---------------------------------------------------------------------

typedef struct other {
    nino_backend *be;
    const nino_backend_impl *real;
    nino_backend_impl impl;
    int fails_at; // that op; 0: never
    int ops;
} other;

static other others[OTHERS];
static nino_lend lend;
static const nino_backend_impl *real_own;
static nino_backend_impl own_impl;
static atomic_int n_units, n_back; // that others have done; others that are no longer there
static volatile int cancel;
static bool cancels;
static atomic_bool loses_one;

static other *other_of(const nino_backend *be)
{
    return be == others[0].be ? &others[0] : &others[1];
}

static nino_status other_run(nino_backend *be, const nino_op_call *c, nino_error *e)
{
    other *o = other_of(be);
    if (cancels)
        __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    if (++o->ops == o->fails_at)
        return nino_fail(e, NINO_ERR_DEVICE, "queue", "the device was lost");
    return o->real->run(be, c, e);
}

static nino_status other_download(nino_backend *be, const nino_block *src, void *dst, size_t n,
                                  nino_error *e)
{
    const nino_status st = other_of(be)->real->download(be, src, dst, n, e);
    n_units++;
    return st;
}

// The job's own device waits for the others, so that they always do something.
static nino_status own_run(nino_backend *be, const nino_op_call *c, nino_error *e)
{
    for (int i = 0;
         i < 60000 && !n_units && n_back < lend.n && !__atomic_load_n(&cancel, __ATOMIC_RELAXED);
         i++)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    CHECK(n_units || n_back == lend.n || __atomic_load_n(&cancel, __ATOMIC_RELAXED));
    return real_own->run(be, c, e);
}

static nino_backend *take(void *priv, int i, const volatile int *give_up)
{
    (void) priv;
    (void) give_up;
    return others[i].be;
}

static void give_back(void *priv, int i, bool has_failed)
{
    (void) priv;
    CHECK(has_failed == (others[i].fails_at && others[i].ops >= others[i].fails_at));
    if (has_failed)
        loses_one = true;
    n_back++;
}

static const char *lend_name(void *priv, int i)
{
    (void) priv;
    return i ? "two" : "one";
}

// The device alone (n 0), or with n others.
static nino_stream *open_stream(nino_backend *be, nino_monitor *m, int n)
{
    lend = (nino_lend){ .n = n, .take = take, .give_back = give_back, .name = lend_name };
    n_units = n_back = 0;
    cancel = 0;
    loses_one = false;
    for (int i = 0; i < OTHERS; i++)
        others[i].ops = 0;
    be->impl = n ? &own_impl : real_own;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be,
                                                               .monitor = m,
                                                               .cancel = &cancel,
                                                               .lend = &lend,
                                                               .precision = NINO_PREC_F32 },
                                        &err);
    CHECK_OK(s ? NINO_OK : err.code, err);
    return s;
}

static void open_other(other *o, uint64_t limit)
{
    o->be = nino_ref_open(limit, NULL, &err);
    CHECK_OK(o->be ? NINO_OK : err.code, err);
    o->real = o->be->impl;
    o->impl = *o->real;
    o->impl.run = other_run;
    o->impl.download = other_download;
    o->be->impl = &o->impl;
}

static void close_other(other *o)
{
    o->be->impl = o->real;
    nino_backend_close(&o->be);
}

// ---- works -------------------------------------------------------------------------------------

static nino_array *noise(nino_shape shape)
{
    uint64_t state = 11;
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = 0.5f + 0.4f * random_vae_value(&state);
    return a;
}

static nino_status keep_frames(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    nino_array *all = priv;
    const int64_t frame = nino_shape_count(&all->shape) / all->shape.dim[0];
    (void) e;
    memcpy(nino_array_f32(all) + first * frame, frames->data, frames->bytes);
    return NINO_OK;
}

typedef struct work {
    const char *name;
    nino_tile_style style;
    int tile, overlap; // cells
    bool is_encode, is_upscale, is_clip, is_cut;
    int n, h, w; // of the input
    int units;   // that devices can share
} work;

static const work works[] = {
    { "tiles", NINO_TILE_ALWAYS, 12, 3, .n = 1, .h = 20, .w = 30, .units = 6 },
    { "tiles of three shapes", NINO_TILE_STOCK, 12, 3, .n = 2, .h = 20, .w = 30, .units = 50 },
    { "pictures", NINO_TILE_NEVER, 0, 0, .n = 5, .h = 6, .w = 7, .units = 5 },
    { "tiles, encoded", NINO_TILE_ALWAYS, 10, 2, .is_encode = true, .n = 1, .h = 68, .w = 70,
      .units = 4 },
    { "tiles, enlarged", NINO_TILE_AUTO, 0, 0, .is_upscale = true, .n = 1, .h = 140, .w = 230,
      .units = 6 },
    { "pictures, enlarged", NINO_TILE_AUTO, 0, 0, .is_upscale = true, .n = 4, .h = 9, .w = 12,
      .units = 4 },
    { "a clip that depends on its past", NINO_TILE_ALWAYS, 6, 1, .is_clip = true, .n = 3, .h = 8,
      .w = 9, .units = 4 },
    { "chunks", NINO_TILE_NEVER, 0, 0, .is_clip = true, .is_cut = true, .n = 9, .h = 4, .w = 5,
      .units = 4 },
};

// A frame of a latent frame for each of its neighbours, without any past.
static nino_tensor *decode_cut(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const int64_t n = nino_vae_frames(v, nino_dim(z, 0));
    nino_tensor *all = nino_scale(s, nino_ref(z), 0.5f, 0.25f);
    while (all && nino_dim(all, 0) < n) {
        const int64_t more = n - nino_dim(all, 0);
        nino_tensor *part =
            more < nino_dim(z, 0) ? nino_slice(s, nino_ref(z), 0, 0, more) : nino_ref(z);
        all = nino_concat(s, all, part, 0);
    }
    nino_unref(z);
    return all;
}

static nino_status run_clip(nino_stream *s, const work *w, nino_array **out)
{
    nino_vae cut = {
        .family = "cut", .name = "cut", .channels = 3, .factor = 1, .time_factor = 2, .refs = 1
    };
    cut.has_decoder = true;
    cut.decode_clip = decode_cut;
    cut.time_radius = -1;
    const nino_vae *v = w->is_cut ? &cut : clip_vae;
    const nino_video_params p = { .tile = { .style = w->style,
                                            .tile = w->is_cut ? 64 : w->tile * v->factor,
                                            .overlap = w->overlap * v->factor },
                                  .chunk = w->is_cut ? 3 : 0,
                                  .overlap = w->is_cut ? 1 : 0 };
    nino_array *in = noise(NINO_SHAPE(1, w->n, w->h, w->w, v->channels));
    *out = nino_array_create(
        NINO_F32, NINO_SHAPE(nino_vae_frames(v, w->n), w->h * v->factor, w->w * v->factor, 3));
    const nino_status st =
        nino_vae_decode_video(s, v, in, &p, &(nino_frame_sink){ keep_frames, *out }, NULL, &err);
    nino_array_unref(&in);
    if (st)
        nino_array_unref(out);
    return st;
}

static nino_status run_work(nino_stream *s, const work *w, nino_array **out, nino_tile_report *r)
{
    const nino_tile_params p = { .style = w->style,
                                 .tile = w->tile * vae->factor,
                                 .overlap = w->overlap * vae->factor };
    memset(r, 0, sizeof(*r));
    if (w->is_clip)
        return run_clip(s, w, out);
    const int c = w->is_encode || w->is_upscale ? 3 : vae->channels;
    nino_array *in = noise(NINO_SHAPE(w->n, w->h, w->w, c));
    nino_stream_set_choice(s, &(nino_choice){ .tile = w->is_upscale ? 128 : 0 });
    const nino_status st = w->is_upscale  ? nino_upscale_tiled(s, up, in, out, r, &err)
                           : w->is_encode ? nino_vae_encode_tiled(s, vae, in, &p, out, r, &err)
                                          : nino_vae_decode_tiled(s, vae, in, &p, out, r, &err);
    nino_array_unref(&in);
    return st;
}

static nino_array *made(nino_backend *be, const work *w, int n, nino_tile_report *r)
{
    nino_array *a = NULL;
    nino_stream *s = open_stream(be, NULL, n);
    CHECK_OK(run_work(s, w, &a, r), err);
    nino_stream_destroy(&s);
    return a;
}

// ---- checks ------------------------------------------------------------------------------------

// The bits and the seams of one device.
static void check_same(nino_backend *be, const work *w, int n)
{
    nino_tile_report r1, r2;
    nino_array *a = made(be, w, 0, &r1), *b = made(be, w, n, &r2);
    if (n_units < 1 && !loses_one)
        printf("  %s: nobody helped\n", w->name);
    CHECK(n_units >= 1 || loses_one);
    CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
    CHECK(!memcmp(&r1, &r2, sizeof(r1)));
    nino_array_unref(&a);
    nino_array_unref(&b);
}

static void check_failing(nino_backend *be, const work *w)
{
    others[0].fails_at = 3;
    check_same(be, w, 1); // whose unit is done again
    CHECK(loses_one && n_back == 1);
    others[0].fails_at = 0;
}

// What was cancelled while another device worked leaves nothing behind.
static void check_cancel(nino_backend *be, const work *w)
{
    nino_array *a = NULL;
    nino_tile_report r;
    nino_mem_stat m;
    nino_stream *s = open_stream(be, NULL, 1);
    cancels = true;
    CHECK(run_work(s, w, &a, &r) == NINO_ERR_CANCELLED && !a);
    cancels = false;
    cancel = 0;
    nino_stream_destroy(&s);
    nino_pool_stat(others[0].be->pool, &m);
    CHECK(m.by_owner[NINO_OWN_ACTIVATION] == 0 && n_back == 1);
}

// Somebody without room does nothing, and it is said who.
static void check_room(nino_backend *be, const work *w)
{
    nino_tile_report r1, r2;
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *reader = nino_mon_reader_create(m);
    static nino_event e[8192];
    nino_array *a = made(be, w, 0, &r1), *b = NULL;
    close_other(&others[0]);
    open_other(&others[0], 4096);
    nino_stream *s = open_stream(be, m, 1);
    CHECK_OK(run_work(s, w, &b, &r2), err);
    CHECK(!n_units && n_back == 1 && !memcmp(a->data, b->data, a->bytes));
    const size_t n = nino_mon_reader_read(reader, e, 8192, NULL);
    bool is_told = false;
    for (size_t i = 0; i < n; i++) {
        const char *text = nino_monitor_name_text(m, e[i].name);
        is_told |= e[i].kind == NINO_EV_MESSAGE && strstr(text, "one: has no room");
    }
    CHECK(is_told);
    nino_stream_destroy(&s);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
    close_other(&others[0]);
    open_other(&others[0], 0);
    nino_array_unref(&a);
    nino_array_unref(&b);
}

// Each tile in its order, with the device that did it; its scope and kernels belong to the node.
static void check_events(nino_backend *be, const work *w)
{
    static nino_event e[1 << 16];
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *reader = nino_mon_reader_create(m);
    nino_array *a = NULL;
    nino_tile_report r;
    nino_stream *s = open_stream(be, m, 1);
    const uint32_t node = nino_monitor_begin(m, NINO_EV_NODE, "8 VAEDecode", 0, 1);
    CHECK_OK(run_work(s, w, &a, &r), err);
    nino_monitor_end(m, node);
    const size_t n = nino_mon_reader_read(reader, e, 1 << 16, NULL);
    int infos = 0, by_other = 0, scopes = 0, kernels = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_kernel = e[i].kind == NINO_EV_KERNEL && e[i].track > 256;
        kernels += is_kernel;
        CHECK(!is_kernel || e[i].parent);
        if (e[i].kind == NINO_EV_TILE) {
            CHECK(e[i].parent == node);
            scopes++;
        }
        if (e[i].kind != NINO_EV_TILE_INFO)
            continue;
        const char *device = nino_monitor_name_text(m, e[i].id);
        CHECK(e[i].u.tile.order == infos && e[i].parent && e[i].u.tile.ns > 0);
        CHECK(e[i].u.tile.peak_bytes > 0);
        CHECK(!strcmp(device, "one") || !strcmp(device, be->info.selector));
        by_other += !strcmp(device, "one");
        infos++;
    }
    CHECK(infos == w->units && scopes == w->units && by_other >= 1 && kernels >= 1);
    nino_stream_destroy(&s);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
    nino_array_unref(&a);
}

// A plan tells how many parts there are, and what another device needs; it shares nothing.
static void check_plan(const nino_backend *like, const work *w)
{
    nino_array *a = NULL;
    nino_tile_report r;
    nino_backend *be = nino_plan_open(&like->profile, 0, NULL, &err);
    real_own = be->impl;
    nino_stream *s = open_stream(be, NULL, 1);
    be->impl = real_own;
    CHECK_OK(run_work(s, w, &a, &r), err);
    const nino_taken *t = nino_stream_taken(s);
    printf("  %s: %d parts, %.1f KiB\n", w->name, t->units, (double) t->other_bytes / 1024);
    CHECK(t->units == w->units && t->others == 1 && t->other_bytes > 1000);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
    nino_array_unref(&a);
}

static void make_networks(const test_dir *dir, tae_file *f)
{
    static const tae_net net = { .z = 16,
                                 .patch = 1,
                                 .width = { 8, 8, 8, 8 },
                                 .grow = { 1, 2, 2 },
                                 .pool = { 2, 2, 1 },
                                 .dtype = NINO_F32 };
    const random_tiny t = { .width = 8,
                            .levels = 3,
                            .blocks = 1,
                            .z = 4,
                            .encoder = "taesd_encoder.",
                            .decoder = "taesd_decoder." };
    const random_up u = { .width = 4, .convs = 2, .scale = 2, .fill = NET_RANDOM };
    char path[128];
    CHECK_OK(random_tiny_save(&t, dir->path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir->path);
    CHECK_OK(nino_vae_load(w, "v", &vae, &err), err);
    nino_weights_unref(&w);
    snprintf(path, sizeof(path), "%s/u", dir->path);
    random_up_save(&u, path, NINO_F16);
    w = test_open("%s", path);
    CHECK_OK(nino_upscale_load(w, "u", &up, &err), err);
    nino_weights_unref(&w);
    clip_vae = tae_make(dir, "taew2_1.safetensors", &net, f);
}

int main(void)
{
    static const char *const files[] = { "v", "u", "taew2_1.safetensors", NULL };
    const size_t n_works = sizeof(works) / sizeof(works[0]);
    static tae_file f;
    const test_dir dir = test_dir_create();
    make_networks(&dir, &f);
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    snprintf(be->info.selector, sizeof(be->info.selector), "own");
    real_own = be->impl;
    own_impl = *real_own;
    own_impl.run = own_run;
    for (int i = 0; i < OTHERS; i++)
        open_other(&others[i], 0);
    for (size_t i = 0; i < n_works; i++) {
        check_same(be, &works[i], i % 2 ? 1 : OTHERS);
        check_failing(be, &works[i]);
    }
    check_cancel(be, &works[1]);
    check_room(be, &works[0]);
    check_events(be, &works[0]);
    check_plan(be, &works[0]);
    check_plan(be, &works[6]);
    be->impl = NULL;
    real_own = others[0].real;
    be->impl = real_own;
    nino_backend_close(&be);
    for (int i = 0; i < OTHERS; i++)
        close_other(&others[i]);
    nino_vae_unref(&vae);
    nino_vae_unref(&clip_vae);
    nino_upscale_unref(&up);
    tae_release(&f);
    test_dir_remove(&dir, files);
    return 0;
}
