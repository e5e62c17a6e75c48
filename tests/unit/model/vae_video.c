// Video VAEs: clips that are streamed give the bits of the whole clip whatever their length, in
// memory that does not depend on it; tiles; chunks of VAEs that are not causal in time.
#include "core/tile/video_tiles.h"

#include "tests/random_wan.h"

static nino_error err;
static test_dir dir;

static nino_array *random_clip(nino_shape shape, bool is_picture)
{
    wan_list l = { .seed = 99 };
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = is_picture ? 0.5f + 0.5f * wan_value(&l) : wan_value(&l);
    return a;
}

// A sink that keeps everything and insists on the order.
typedef struct kept {
    nino_array *all; // [F,H,W,3]
    int64_t next, calls;
} kept;

static nino_status keep(void *priv, int64_t first, const nino_array *frames, nino_error *e)
{
    kept *k = priv;
    const int64_t *d = frames->shape.dim, frame = d[1] * d[2] * d[3];
    (void) e;
    CHECK(first == k->next && first + d[0] <= k->all->shape.dim[0]);
    CHECK(d[1] == k->all->shape.dim[1] && d[2] == k->all->shape.dim[2] && d[3] == 3);
    memcpy(nino_array_f32(k->all) + first * frame, frames->data,
           (size_t) (d[0] * frame) * sizeof(float));
    k->next += d[0];
    k->calls++;
    return NINO_OK;
}

static nino_array *decode(nino_stream *s, const nino_vae *v, const nino_array *z,
                          const nino_video_params *p, nino_tile_report *r, int64_t *calls)
{
    const int64_t *d = z->shape.dim, frames = d[0] * nino_vae_frames(v, d[1]);
    kept k = {
        nino_array_create(NINO_F32, NINO_SHAPE(frames, d[2] * v->factor, d[3] * v->factor, 3)), 0, 0
    };
    CHECK(k.all);
    CHECK_OK(nino_vae_decode_video(s, v, z, p, &(nino_frame_sink){ keep, &k }, r, &err), err);
    CHECK(k.next == frames); // 1 + (T - 1) tc, every one once
    if (calls)
        *calls = k.calls;
    return k.all;
}

// The network on all frames at once.
static nino_array *whole(nino_stream *s, const nino_vae *v, const nino_array *in, bool is_decode)
{
    nino_vae_clip clip;
    nino_array flat = *in;
    if (flat.shape.rank == 5)
        flat.shape =
            NINO_SHAPE(in->shape.dim[1], in->shape.dim[2], in->shape.dim[3], in->shape.dim[4]);
    nino_vae_clip_begin(&clip, v, is_decode);
    nino_tensor *t = nino_vae_clip_next(s, &clip, nino_upload(s, &flat, nino_stream_act_type(s)));
    nino_vae_clip_end(&clip);
    nino_array *a = nino_download(s, t, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    for (int64_t i = 0; is_decode && i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = fminf(fmaxf(nino_array_f32(a)[i], 0), 1);
    return a;
}

static const nino_video_params plain = { .tile = { .style = NINO_TILE_NEVER } };

static void check_lengths(nino_stream *s, const nino_vae *v, int most)
{
    for (int t = 1; t <= most; t++) {
        nino_array *z = random_clip(NINO_SHAPE(1, t, 3, 5, v->channels), false);
        int64_t calls;
        nino_array *a = decode(s, v, z, &plain, NULL, &calls), *b = whole(s, v, z, true);
        CHECK(calls == t); // as they are ready
        CHECK(a->shape.dim[0] == 1 + 4 * (t - 1) && nino_shape_equal(&a->shape, &b->shape));
        CHECK(!memcmp(a->data, b->data, a->bytes));
        nino_array *back = NULL, *once = whole(s, v, a, false);
        CHECK_OK(nino_vae_encode_video(s, v, a, &plain, &back, NULL, &err), err);
        CHECK(back->shape.rank == 5 && back->shape.dim[1] == t && back->bytes >= once->bytes / 2);
        // the network's result holds the mean only
        CHECK(nino_shape_count(&back->shape) == nino_shape_count(&once->shape));
        CHECK(!memcmp(back->data, once->data, back->bytes));
        nino_array_unref(&z);
        nino_array_unref(&a);
        nino_array_unref(&b);
        nino_array_unref(&back);
        nino_array_unref(&once);
    }
}

// A single frame is the image path's result; frames that fill no latent frame are left out.
static void check_images(nino_stream *s, const nino_vae *v)
{
    nino_array *z = random_clip(NINO_SHAPE(1, 1, 3, 4, v->channels), false), *b = NULL, *e = NULL;
    nino_array flat = *z;
    nino_array *a = decode(s, v, z, &plain, NULL, NULL);
    flat.shape = NINO_SHAPE(1, 3, 4, v->channels);
    CHECK_OK(nino_vae_decode_tiled(s, v, &flat, &plain.tile, &b, NULL, &err), err);
    CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&z);
    a = random_clip(NINO_SHAPE(8, v->factor * 3 + 2, v->factor * 2, 4), true);
    CHECK_OK(nino_vae_encode_video(s, v, a, &plain, &e, NULL, &err), err);
    CHECK(e->shape.dim[1] == 2 && e->shape.dim[2] == 3 && e->shape.dim[3] == 2);
    nino_array_unref(&a);
    nino_array_unref(&e);
}

// Highest use of the pool by a clip of t latent frames.
static uint64_t peak(nino_backend *be, nino_stream *s, const nino_vae *v, int t)
{
    nino_mem_stat m;
    nino_array *z = random_clip(NINO_SHAPE(1, t, 4, 4, v->channels), false);
    nino_pool_reset_peak(be->pool);
    nino_array *a = decode(s, v, z, &plain, NULL, NULL);
    nino_pool_stat(be->pool, &m);
    nino_array_unref(&a);
    nino_array_unref(&z);
    return m.peak;
}

static void check_memory(nino_backend *be, nino_stream *s, const nino_vae *v)
{
    peak(be, s, v, 2); // weights come in
    const uint64_t five = peak(be, s, v, 5), many = peak(be, s, v, 81);
    CHECK(five > 0 && (double) many <= 1.02 * (double) five);
}

static void check_plan(const nino_vae *v)
{
    nino_profile p = nino_profile_ref;
    nino_backend *be = nino_plan_open(&p, 0, NULL, &err);
    CHECK(be);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    CHECK(s);
    check_memory(be, s, v);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

// Tiles blend to about the same pictures, and say where they are and how well they fit.
static void check_tiles(nino_stream *s, const nino_vae *v)
{
    const int f = v->factor;
    nino_array *z = random_clip(NINO_SHAPE(2, 3, 14, 17, v->channels), false);
    nino_video_params p = { .tile = {
                                .style = NINO_TILE_ALWAYS, .tile = 10 * f, .overlap = 2 * f } };
    nino_tile_report r = { 0 };
    nino_array *a = decode(s, v, z, &plain, &r, NULL);
    CHECK(!r.tiled && r.n_tiles == 1);
    nino_array *b = decode(s, v, z, &p, &r, NULL);
    CHECK(r.tiled && r.n_tiles == 4 && r.seam.n_seams > 0 && r.seam.recomputed > 0);
    CHECK(test_psnr(a, b) > 20);
    p.tile.style = NINO_TILE_STOCK;
    nino_array *c = decode(s, v, z, &p, &r, NULL);
    CHECK(r.tiled && test_psnr(a, c) > 20);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
    nino_array_unref(&z);
}

// Mean |difference| of columns x.. of a and columns 0.. of b, or of rows, of the first frames.
static double gap(const nino_array *a, const nino_array *b, int64_t at, bool is_row, int64_t n)
{
    const int64_t *d = a->shape.dim, *e = b->shape.dim, h = is_row ? n : d[1],
                  w = is_row ? d[2] : n;
    double sum = 0;
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w * 3; x++)
            sum += fabs((double) nino_array_f32(
                            a)[((is_row ? at : 0) + y) * d[2] * 3 + (is_row ? 0 : at) * 3 + x] -
                        (double) nino_array_f32(b)[y * e[2] * 3 + x]);
    return sum / (double) (h * w * 3);
}

// Cells x0 .. of y0 .. of a latent of one frame.
static nino_array *part_of(const nino_array *z, int64_t x0, int64_t y0, int64_t w, int64_t h)
{
    const int64_t *d = z->shape.dim, c = d[4];
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, 1, h, w, c));
    CHECK(a);
    for (int64_t y = 0; y < h; y++)
        memcpy(nino_array_f32(a) + y * w * c, nino_array_f32(z) + ((y0 + y) * d[3] + x0) * c,
               (size_t) (w * c) * sizeof(float));
    return a;
}

// What is told about a seam is what two tiles differ by where they lie over each other.
static void check_seam(nino_stream *s, const nino_vae *v)
{
    enum { LONG = 14, SHORT = 6, TILE = 8, OVERLAP = 2 };
    const int f = v->factor;
    const nino_video_params p = {
        .tile = { .style = NINO_TILE_ALWAYS, .tile = TILE * f, .overlap = OVERLAP * f }
    };
    for (int is_row = 0; is_row < 2; is_row++) {
        nino_tile_report r = { 0 };
        nino_array *z = random_clip(
            NINO_SHAPE(1, 1, is_row ? LONG : SHORT, is_row ? SHORT : LONG, v->channels), false);
        nino_array *all = decode(s, v, z, &p, &r, NULL);
        CHECK(r.tiled && r.n_tiles == 2 && r.seam.n_seams == 1);
        nino_array *first = is_row ? part_of(z, 0, 0, SHORT, TILE) : part_of(z, 0, 0, TILE, SHORT),
                   *second = is_row ? part_of(z, 0, LONG - TILE, SHORT, TILE)
                                    : part_of(z, LONG - TILE, 0, TILE, SHORT);
        nino_array *a = decode(s, v, first, &plain, NULL, NULL),
                   *b = decode(s, v, second, &plain, NULL, NULL);
        const double want = 255 * gap(a, b, (TILE - OVERLAP) * f, is_row, OVERLAP * f);
        CHECK(want > 0.5 && fabs(r.seam.mean - want) < 1e-3 * want);
        nino_array *used[] = { z, all, first, second, a, b };
        for (int i = 0; i < 6; i++)
            nino_array_unref(&used[i]);
    }
}

// diffusers' names are the same network.
static void check_names(nino_stream *s, const nino_vae *v, const nino_vae *w)
{
    CHECK_STR(v->family, w->family);
    CHECK(v->channels == w->channels && v->factor == w->factor);
    nino_array *z = random_clip(NINO_SHAPE(1, 2, 2, 3, v->channels), false);
    nino_array *a = decode(s, v, z, &plain, NULL, NULL), *b = decode(s, w, z, &plain, NULL, NULL);
    CHECK(!memcmp(a->data, b->data, a->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&z);
}

// A file of all but what starts with `without` (NULL: of all), whose decoder makes so many colours (0: its
// own).
static nino_status load_part(const wan_list *l, const char *without, int64_t colours, nino_vae **v)
{
    nino_st_entry e[256];
    int n = 0;
    nino_array *w = nino_array_create(NINO_F32, NINO_SHAPE(colours + !colours, 4, 3, 3, 3));
    nino_array *b = nino_array_create(NINO_F32, NINO_SHAPE(colours + !colours));
    CHECK(w && b);
    for (int i = 0; i < l->n; i++) {
        const char *name = l->e[i].name;
        if (without && !strncmp(name, without, strlen(without)))
            continue;
        e[n] = l->e[i];
        if (colours && (strstr(name, "decoder.conv_out") || strstr(name, "decoder.head.2")))
            e[n].array = strstr(name, ".bias") ? b : w;
        n++;
    }
    CHECK_OK(nino_st_save(dir.path, "e", false, e, n, NULL, 0, &err), err);
    nino_weights *file = test_open("%s/e", dir.path);
    const nino_status st = nino_vae_wan_load(file, "", v, &err);
    nino_weights_unref(&file);
    nino_array_unref(&w);
    nino_array_unref(&b);
    return st;
}

// An encoder or a decoder alone (what asks for them by name) has the sizes of both, and the colours must be known ones.
static void check_halves(bool is_22, bool is_diffusers)
{
    static wan_list l;
    wan_fill(&l, is_22, is_diffusers, 6);
    const bool tells_kind = is_22 || is_diffusers; // by names of the decoder
    for (int i = 0; i < 2 - tells_kind; i++) {
        nino_vae *v = NULL;
        CHECK_OK(load_part(&l, i ? "decoder." : "encoder.", 0, &v), err);
        CHECK(v->has_encoder == (i == 1) && v->has_decoder == (i == 0));
        CHECK(v->channels == 6 && v->factor == (is_22 ? 16 : 8) && v->time_factor == 4);
        nino_vae_unref(&v);
    }
    static const struct {
        const char *without;
        int colours;
        const char *words;
    } bad[] = {
        { "encoder", 2, "pictures of 2 channels are not known" },
        { "encoder", 4, "pictures of 4 channels are not known" },
        { "encoder", 13, "pictures of 13 channels are not known" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        nino_vae *v = NULL;
        CHECK(load_part(&l, bad[i].without, bad[i].colours, &v) == NINO_ERR_FORMAT && !v);
        CHECK_STR(err.msg, bad[i].words);
    }
    nino_vae *v = NULL; // pixels that one half folds and the other does not
    CHECK(load_part(&l, NULL, is_22 ? 3 : 12, &v) == NINO_ERR_FORMAT && !v);
    CHECK_STR(err.msg, "its encoder and its decoder do not fit together");
    for (int i = 0; i < l.n; i++) {
        nino_array *a = (nino_array *) l.e[i].array;
        nino_array_unref(&a);
    }
}

// ---- not causal ------------------------------------------------------------------------------

// Every chunk and overlap: each frame exactly once, chunks that fit together, an end.
static void check_chunks(void)
{
    static const int lengths[] = { 1, 2, 3, 5, 9, 16, 17, 33, 65, 151 };
    for (int chunk = 1; chunk <= 64; chunk++)
        for (int overlap = 0; overlap <= 64; overlap++)
            for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
                for (int tc = 4; tc <= 8; tc += 4) {
                    const int t = lengths[k], radius = (overlap + chunk) % 4 - 1;
                    nino_chunk c = { 0 }, last = { 0 };
                    int64_t done = 0; // frames that are final or that the next chunk mixes
                    int i = 0;
                    for (; nino_chunk_get(t, chunk, overlap, tc, radius, i, &c); i++) {
                        CHECK(i <= t && c.n > 0 && c.first + c.n <= t);
                        CHECK(i == 0 || (c.from <= done && c.first > last.first));
                        CHECK(i == 0 || c.from > last.from);
                        CHECK(c.from + c.blend <= done || i == 0);
                        // frame `from` is the chunk's frame `skip`
                        CHECK(c.from - c.skip == (c.first ? c.first * tc : 0) || i == 0);
                        done = 1 + (c.first + c.n - 1) * tc;
                        last = c;
                    }
                    CHECK(done == 1 + (int64_t) (t - 1) * tc);
                }
}

// A VAE whose frames depend on the latent frames beside them: [T,h,w,3] smoothed, each latent frame
// then shown tc times.
static nino_tensor *smooth_clip(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    const int64_t t = nino_dim(z, 0), h = nino_dim(z, 1), w = nino_dim(z, 2), tc = v->time_factor;
    nino_tensor *first = nino_slice(s, nino_ref(z), 0, 0, 1);
    nino_tensor *last = nino_slice(s, nino_ref(z), 0, t - 1, 1);
    nino_tensor *left =
        t > 1 ? nino_concat(s, first, nino_slice(s, nino_ref(z), 0, 0, t - 1), 0) : first;
    nino_tensor *right =
        t > 1 ? nino_concat(s, nino_slice(s, nino_ref(z), 0, 1, t - 1), last, 0) : last;
    z = nino_scale(s, nino_add(s, nino_add(s, left, z), right), 0.2f, 0.5f);
    nino_tensor *out = nino_slice(s, nino_ref(z), 0, 0, 1);
    for (int64_t k = 1; k < t; k++)
        for (int64_t i = 0; i < tc; i++)
            out = nino_concat(s, out, nino_slice(s, nino_ref(z), 0, k, 1), 0);
    nino_unref(z);
    (void) h;
    (void) w;
    return out;
}

static void check_smooth(nino_stream *s)
{
    nino_vae v = { .family = "smooth", .channels = 3, .factor = 1, .time_factor = 8, .refs = 1 };
    v.has_decoder = true;
    v.decode_clip = smooth_clip;
    nino_array *z = random_clip(NINO_SHAPE(2, 23, 4, 4, 3), false);
    nino_array *a = decode(s, &v, z, &plain, NULL, NULL);
    for (int chunk = 4; chunk <= 16; chunk += 3)
        for (int overlap = 1; overlap <= 8; overlap++) {
            nino_video_params p = plain;
            p.chunk = chunk;
            p.overlap = overlap;
            v.time_radius = -1; // not known: mixed
            nino_array *b = decode(s, &v, z, &p, NULL, NULL);
            CHECK(test_psnr(a, b) > 15);
            nino_array_unref(&b);
            v.time_radius = 1; // cut where both have seen enough: exact
            b = decode(s, &v, z, &p, NULL, NULL);
            CHECK(overlap < 2 || !memcmp(a->data, b->data, a->bytes));
            nino_array_unref(&b);
            p.repeat_last = true; // one frame more on the way, not in the result
            b = decode(s, &v, z, &p, NULL, NULL);
            CHECK(nino_shape_equal(&a->shape, &b->shape));
            nino_array_unref(&b);
        }
    nino_array_unref(&a);
    nino_array_unref(&z);
}

// ----------------------------------------------------------------------------------------------

// What a clip says of itself on the way.
static void check_events(nino_backend *be, const nino_vae *v)
{
    nino_event ev[64];
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *reader = m ? nino_mon_reader_create(m) : NULL;
    CHECK(reader);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .monitor = m, .precision = NINO_PREC_F32 }, &err);
    CHECK(s);
    nino_array *z = random_clip(NINO_SHAPE(1, 3, 3, 3, v->channels), false);
    nino_array *a = decode(s, v, z, &plain, NULL, NULL);
    nino_stream_destroy(&s);
    int chunks = 0, clips = 0;
    for (size_t n; (n = nino_mon_reader_read(reader, ev, 64, NULL));)
        for (size_t i = 0; i < n; i++) {
            if (ev[i].kind == NINO_EV_CHUNK) {
                CHECK(ev[i].u.chunk.first == (chunks ? 4 * (uint32_t) chunks - 3 : 0));
                CHECK(ev[i].u.chunk.frames == (chunks ? 4u : 1u) && ev[i].u.chunk.n == 3);
                CHECK(ev[i].u.chunk.cache_bytes > 0);
                chunks++;
            }
            if (ev[i].kind == NINO_EV_CLIP) {
                CHECK(ev[i].u.clip.frames == 9 && ev[i].u.clip.n_borders == 2);
                CHECK(ev[i].u.clip.first_mean > 0 && ev[i].u.clip.rest_mean > 0);
                CHECK(ev[i].u.clip.border > 0 && ev[i].u.clip.limit > 0);
                clips++;
            }
        }
    CHECK(chunks == 3 && clips == 1);
    nino_array_unref(&a);
    nino_array_unref(&z);
    nino_mon_reader_destroy(&reader);
    nino_monitor_destroy(&m);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    static const char *const files[] = { "a", "b", "c", "d", "e", NULL };
    dir = test_dir_create();
    nino_vae *v21 = wan_make(&dir, "a", false, false, 4),
             *v22 = wan_make(&dir, "b", true, false, 6);
    nino_vae *d21 = wan_make(&dir, "c", false, true, 4), *d22 = wan_make(&dir, "d", true, true, 6);
    CHECK_STR(v21->family, "wan21");
    CHECK_STR(v22->family, "wan22");
    CHECK(v21->factor == 8 && v22->factor == 16 && v21->time_factor == 4 && v22->channels == 6);
    check_chunks();
    check_plan(v21);
    check_plan(v22);
    for (int i = 0; i < 4; i++)
        check_halves(i & 1, i & 2);
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        const bool is_ref = !strcmp(*name, "ref");
        if (!test_device_open(&d, *name, 0))
            continue;
        check_lengths(d.s, v21, is_ref ? 3 : 9);
        check_lengths(d.s, v22, is_ref ? 2 : 9);
        check_images(d.s, v21);
        check_names(d.s, v21, d21);
        check_names(d.s, v22, d22);
        if (is_ref)
            check_smooth(d.s);
        else {
            check_tiles(d.s, v21);
            check_seam(d.s, v21);
            check_memory(d.be, d.s, v21);
            check_memory(d.be, d.s, v22);
            check_events(d.be, v21);
        }
        test_device_close(&d);
    }
    nino_vae_unref(&v21);
    nino_vae_unref(&v22);
    nino_vae_unref(&d21);
    nino_vae_unref(&d22);
    test_dir_remove(&dir, files);
    return 0;
}
