// Pictures and latents that a program gives from memory: the values that nodes get, value by value, what is refused and in which
// words, and that two that differ anywhere have two keys.
#include "core/workflow/workflow.h"
#include "tests/flow.h"

#include <limits.h>
#include <math.h>

enum { N = 2, H = 3, W = 5, MOST = N * H * W * 4 };

static const char nodes[] = "{'1': {'class_type': 'LoadImage', 'inputs': {'image': 'a.png'}},"
                            " '2': {'class_type': 'LoadLatent', 'inputs': {'latent': 'a.latent'}},"
                            " '3': {'class_type': 'SaveImage', 'inputs': {'images': ['1', 0]}}}";
static nino_error err;
static nino_graph *g;
static uint8_t bytes[MOST];
static float floats[MOST];

static const nino_gnode *node_of(const char *id) { return &g->nodes[nino_graph_find(g, id)]; }

static void check_shape(const nino_array *a, nino_shape want)
{
    CHECK(a->dtype == NINO_F32 && a->shape.rank == want.rank);
    for (int i = 0; i < want.rank; i++)
        CHECK(a->shape.dim[i] == want.dim[i]);
}

// Of 3 or 4 channels, bytes or floats; the mask is what alpha leaves, or 64x64 of nothing.
static void check_picture(int channels, nino_raster_type type)
{
    const bool is_bytes = type == NINO_RASTER_U8;
    const nino_raster r = { NINO_RASTER_INIT,
                            .type = type,
                            .n = N,
                            .height = H,
                            .width = W,
                            .channels = channels,
                            .data = is_bytes ? (const void *) bytes : floats };
    CHECK_OK(nino_graph_set_image(g, "1", &r, &err), err);
    const nino_gnode *n = node_of("1");
    const nino_array *a = n->given[0]->u.image, *mask = n->given[1]->u.mask;
    check_shape(a, NINO_SHAPE(N, H, W, 3));
    check_shape(mask, channels == 4 ? NINO_SHAPE(N, H, W) : NINO_SHAPE(N, 64, 64));
    for (int i = 0; i < N * H * W; i++)
        for (int k = 0; k < channels; k++) {
            const int at = i * channels + k;
            const float v = is_bytes ? (float) bytes[at] / 255 : floats[at];
            CHECK(k < 3 ? nino_array_f32(a)[3 * i + k] == v : nino_array_f32(mask)[i] == 1 - v);
        }
    for (int i = 0; channels == 3 && i < N * 64 * 64; i++)
        CHECK(nino_array_f32(mask)[i] == 0);
}

// Of any number of channels, and of frames.
static void check_latent(int frames, int channels)
{
    const nino_raster r = {
        NINO_RASTER_INIT, .type = NINO_RASTER_F32, .n = 2,        .frames = frames, .height = 1,
        .width = 3,       .channels = channels,    .data = floats
    };
    CHECK_OK(nino_graph_set_latent(g, "2", &r, &err), err);
    const nino_gnode *n = node_of("2");
    const nino_array *a = n->given[0]->u.latent.samples;
    CHECK(!n->given[1]);
    check_shape(a, frames ? NINO_SHAPE(2, frames, 1, 3, channels) : NINO_SHAPE(2, 1, 3, channels));
    CHECK(!memcmp(a->data, floats, a->bytes));
}

static void check_refused(const nino_raster *r, bool is_latent, nino_status st, const char *says)
{
    nino_hash before[2] = { node_of("1")->given_key, node_of("2")->given_key };
    err = (nino_error){ 0 };
    CHECK((is_latent ? nino_graph_set_latent(g, "2", r, &err)
                     : nino_graph_set_image(g, "1", r, &err)) == st);
    if (!strstr(err.msg, says))
        fprintf(stderr, "%s\n", err.msg);
    CHECK(strstr(err.msg, says) && !strcmp(err.where, is_latent ? "2" : "1"));
    CHECK(node_of("1")->given_key.lo == before[0].lo && node_of("2")->given_key.lo == before[1].lo);
}

static void check_wrong(void)
{
    const nino_raster good = { NINO_RASTER_INIT, .type = NINO_RASTER_F32,
                               .n = 1,           .height = 1,
                               .width = 1,       .channels = 3,
                               .data = floats };
    nino_raster r = good;
#define REFUSED(field, value, is_latent, st, says)                                                 \
    (r = good, r.field = value, check_refused(&r, is_latent, st, says))
    REFUSED(data, NULL, false, NINO_ERR_ARG, "has no pixels");
    REFUSED(n, 0, false, NINO_ERR_ARG, "has no size");
    REFUSED(height, 0, false, NINO_ERR_ARG, "has no size");
    REFUSED(width, -1, true, NINO_ERR_ARG, "has no size");
    REFUSED(channels, 0, true, NINO_ERR_ARG, "has no size");
    REFUSED(frames, -1, true, NINO_ERR_ARG, "has no size");
    REFUSED(frames, 1, false, NINO_ERR_ARG, "is not a batch of pictures of 3 or 4 channels");
    REFUSED(channels, 2, false, NINO_ERR_ARG, "is not a batch of pictures of 3 or 4 channels");
    REFUSED(channels, 5, false, NINO_ERR_ARG, "is not a batch of pictures of 3 or 4 channels");
    REFUSED(type, (nino_raster_type) 7, false, NINO_ERR_ARG, "is neither of bytes nor of floats");
    REFUSED(type, NINO_RASTER_U8, true, NINO_ERR_ARG, "is not of floats");
    REFUSED(height, 16385, false, NINO_ERR_RANGE, "larger than 16384 a side");
    REFUSED(width, 16385, false, NINO_ERR_RANGE, "larger than 16384 a side");
    REFUSED(channels, 16385, true, NINO_ERR_RANGE, "larger than 16384 a side");
    REFUSED(n, (1 << 30) / 3 + 1, false, NINO_ERR_RANGE, "2^30 values");
    r = good;
    r.frames = 1 << 15;
    r.n = (1 << 15) / 3 + 1;
    check_refused(&r, true, NINO_ERR_RANGE, "2^30 values");
    r.n = INT_MAX;
    r.frames = INT_MAX;
    check_refused(&r, true, NINO_ERR_RANGE, "2^30 values");
    floats[2] = NAN;
    check_refused(&good, false, NINO_ERR_RANGE, "not finite");
    check_refused(&good, true, NINO_ERR_RANGE, "not finite");
    floats[2] = 0;
    floats[3] = INFINITY; // alpha
    REFUSED(channels, 4, false, NINO_ERR_RANGE, "not finite");
    floats[3] = 0;
    CHECK(nino_graph_set_image(g, "9", &good, &err) == NINO_ERR_UNKNOWN);
    CHECK(nino_graph_set_image(g, "3", &good, &err) == NINO_ERR_ARG &&
          strstr(err.msg, "SaveImage does not load"));
    CHECK(nino_graph_set_latent(g, "1", &good, &err) == NINO_ERR_ARG);
    CHECK(nino_graph_set_image(g, "2", &good, &err) == NINO_ERR_ARG);
}

// The longest side that there is, and whatever differs: a size, a kind, the last value.
static void check_keys(void)
{
    enum { SIDE = 16384 };
    nino_raster r[] = { { .n = 2, .height = 1, .width = 3, .channels = 4 },
                        { .n = 1, .height = 2, .width = 3, .channels = 4 },
                        { .n = 1, .height = 3, .width = 2, .channels = 4 },
                        { .n = 2, .height = 3, .width = 1, .channels = 4 },
                        { .n = 2, .height = 2, .width = 2, .channels = 3 },
                        { .n = 1, .height = SIDE, .width = 1, .channels = 3 },
                        { .n = 1, .height = 1, .width = SIDE, .channels = 3 } };
    enum { KINDS = sizeof(r) / sizeof(r[0]), ALL = 2 * KINDS };
    nino_hash key[ALL + 1];
    float *wide = calloc(SIDE * 3, sizeof(*wide));
    CHECK(wide);
    for (int i = 0; i < ALL + 1; i++) {
        nino_raster *one = &r[i % KINDS];
        one->size = (nino_raster){ NINO_RASTER_INIT }.size;
        one->type = i < KINDS ? NINO_RASTER_F32 : NINO_RASTER_U8;
        one->data = wide;
        if (i == ALL) {
            one->type = NINO_RASTER_F32;
            wide[2 * 1 * 3 * 4 - 1] = 1; // the last one of the first
        }
        CHECK_OK(nino_graph_set_image(g, "1", one, &err), err);
        key[i] = node_of("1")->given_key;
        for (int k = 0; k < i; k++)
            CHECK(key[k].lo != key[i].lo || key[k].hi != key[i].hi);
    }
    CHECK_OK(nino_graph_set_image(g, "1", NULL, &err), err); // what the node would have given
    CHECK(!node_of("1")->given[0] && !node_of("1")->given[1] && !node_of("1")->given_key.lo);
    free(wide);
}

// What a result is as a raster: pictures [n, h, w, c] and clips of latents [n, t, h, w, c].
static void check_given_out(void)
{
    const nino_shape shapes[] = { NINO_SHAPE(2, 3, 5, 4), NINO_SHAPE(2, 6, 3, 5, 4) };
    for (int i = 0; i < 2; i++) {
        nino_array *a = nino_array_create(NINO_F32, shapes[i]);
        nino_raster r;
        CHECK(a);
        memset(&r, 0x7f, sizeof(r));
        nino_raster_of(a, &r);
        CHECK(r.type == NINO_RASTER_F32 && r.n == 2 && r.frames == (i ? 6 : 0));
        CHECK(r.height == 3 && r.width == 5 && r.channels == 4 && r.data == a->data);
        nino_array_unref(&a);
    }
}

int main(void)
{
    g = flow_graph(nodes);
    for (int i = 0; i < MOST; i++) {
        bytes[i] = (uint8_t) (i * 37);
        floats[i] = (float) (i - 20) / 7;
    }
    for (int k = 3; k <= 4; k++) {
        check_picture(k, NINO_RASTER_U8);
        check_picture(k, NINO_RASTER_F32);
    }
    check_latent(0, 1);
    check_latent(0, 16);
    check_latent(1, 4);
    check_latent(3, 2);
    check_wrong();
    check_keys();
    check_given_out();
    nino_graph_destroy(&g);
    return 0;
}
