// Weights that stay as the file stores them: which do, and that their bytes, scales and order give
// the values that reading them as f32 gives.
#include "core/op/raw.h"
#include "core/file/safetensors.h"
#include "core/op/backend.h"
#include "tests/made_arrays.h"

enum { N = 6, C = 8 };
static nino_error err;
static char dir[] = "/tmp/ninodes-raw-XXXXXX";

static nino_array *counting(nino_dtype type, nino_shape shape)
{
    return made_counting(type, shape, 100, -30);
}

static nino_weights *make_file(void)
{
    const nino_st_entry e[] = {
        { "m.plain.weight", counting(NINO_F8_E4M3, NINO_SHAPE(N, C)) },
        { "m.scaled.weight", counting(NINO_F8_E4M3, NINO_SHAPE(N, C)) },
        { "m.scaled.scale_weight", made_number(0.3f) },
        { "m.e5.weight", counting(NINO_F8_E5M2, NINO_SHAPE(N, C)) },
        { "m.conv.weight", counting(NINO_F8_E4M3, NINO_SHAPE(N, C, 3, 3)) },
        { "m.half.weight", counting(NINO_F16, NINO_SHAPE(N, C)) },
        { "m.norm.weight", counting(NINO_F8_E4M3, NINO_SHAPE(N)) },
    };
    enum { COUNT = sizeof(e) / sizeof(e[0]) };
    char path[128];
    CHECK_OK(nino_st_save(dir, "w.safetensors", false, e, COUNT, NULL, 0, &err), err);
    for (int i = 0; i < COUNT; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    snprintf(path, sizeof(path), "%s/w.safetensors", dir);
    nino_weights *w = nino_weights_open(path, &err);
    if (!w)
        CHECK_OK(err.code, err);
    unlink(path); // stays readable through the descriptor
    return w;
}

// Expands what nino_raw_read() gives by hand and compares. Takes w.
static void check_raw(nino_weight *w, nino_dtype type, bool is_scaled)
{
    nino_raw_layout l;
    const int taps = nino_weight_taps(w);
    const size_t row = (size_t) (w->c * taps), n = (size_t) w->n * row;
    CHECK(nino_raw_layout_of(w, &l) && l.n_parts == 1 && l.part[0].type == type);
    CHECK(l.part[0].is_scaled == is_scaled && l.part[0].rows == w->n && !l.part[0].at);
    CHECK(l.bytes >= n && l.bytes <= n + 16 + (is_scaled ? (size_t) w->n * 4 : 0));
    char *raw = malloc(l.bytes);
    float *want = malloc(n * sizeof(float)), *got = malloc(n * sizeof(float));
    CHECK(raw && want && got);
    CHECK_OK(nino_raw_read(w, &l, NULL, raw, &err), err);
    CHECK_OK(nino_weight_read_rows(w, want, &err), err);
    nino_to_f32(got, raw, type, n);
    for (size_t i = 0; i < (size_t) w->n; i++) {
        float scale = 1;
        if (is_scaled)
            memcpy(&scale, raw + l.part[0].scales + i * sizeof(scale), sizeof(scale));
        for (size_t k = 0; k < row; k++)
            CHECK(got[i * row + k] * scale ==
                  want[i * row + k % (size_t) taps * (size_t) w->c + k / (size_t) taps]);
    }
    const volatile int now = 1;
    CHECK(w->data || nino_raw_read(w, &l, &now, raw, &err) == NINO_ERR_CANCELLED);
    free(raw);
    free(want);
    free(got);
    nino_weight_destroy(&w);
}

static nino_weight *get(nino_weights *f, const nino_weight_part *parts, int n,
                        nino_weight_role role)
{
    nino_weight *w;
    CHECK_OK(nino_weight_get_parts(f, "m.", parts, n, role, -1, -1, true, &w, &err), err);
    return w;
}

static void test_types(nino_weights *f)
{
    static const nino_weight_part plain = { .name = "plain.weight" }, e5 = { .name = "e5.weight" };
    static const nino_weight_part conv = { .name = "conv.weight" },
                                  half = { .name = "half.weight" };
    static const nino_weight_part norm = { .name = "norm.weight" };
    nino_raw_layout l;
    check_raw(get(f, &plain, 1, NINO_W_MATRIX), NINO_F8_E4M3, false);
    check_raw(get(f, &e5, 1, NINO_W_MATRIX), NINO_F8_E5M2, false);
    check_raw(get(f, &conv, 1, NINO_W_CONV3), NINO_F8_E4M3, false);
    nino_weight *w = get(f, &half, 1, NINO_W_MATRIX);
    CHECK(!nino_raw_layout_of(w, &l));
    nino_weight_round_to(w, NINO_F8_E4M3); // what weight_dtype asks for
    check_raw(w, NINO_F8_E4M3, false);
    w = get(f, &norm, 1, NINO_W_VECTOR);
    CHECK(!nino_raw_layout_of(w, &l));
    nino_weight_destroy(&w);
}

static void test_parts(nino_weights *f)
{
    static const nino_weight_part rows[] = { { "plain.weight", 3, 2, 0, 0 },
                                             { "scaled.weight", 0, 0, 0, 0 } };
    static const nino_weight_part columns[] = { { "plain.weight", 1, 4, 2, 5 },
                                                { "scaled.weight", 0, 3, 3, 5 } };
    static const nino_weight_part mixed[] = { { "plain.weight", 0, 0, 0, 0 },
                                              { "e5.weight", 0, 0, 0, 0 } };
    nino_raw_layout l;
    check_raw(get(f, rows, 2, NINO_W_MATRIX), NINO_F8_E4M3, true);
    check_raw(get(f, columns, 2, NINO_W_MATRIX), NINO_F8_E4M3, true);
    nino_weight *w = get(f, mixed, 2, NINO_W_MATRIX);
    CHECK(!nino_raw_layout_of(w, &l)); // then they are expanded as they are loaded
    nino_weight_destroy(&w);
}

// A view changes one weight: that one is expanded, the others stay.
static bool covers(void *priv, const char *name)
{
    (void) priv;
    return !strcmp(name, "m.scaled.weight");
}
static nino_status apply(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                         float *values, nino_error *e)
{
    (void) priv;
    (void) t;
    (void) row0;
    (void) e;
    for (int64_t i = 0; i < rows * C; i++)
        values[i] += 1;
    return NINO_OK;
}
static void destroy(void *priv) { (void) priv; }

static void test_view(nino_weights *f)
{
    static const nino_weight_part plain = { .name = "plain.weight" };
    static const nino_weight_part changed = { .name = "scaled.weight" };
    const nino_weights_change c = { .covers = covers, .apply = apply, .destroy = destroy };
    nino_raw_layout l;
    char byte;
    nino_weights *v = nino_weights_changed(f, &c, &err);
    CHECK(v);
    check_raw(get(v, &plain, 1, NINO_W_MATRIX), NINO_F8_E4M3, false);
    nino_weight *w = get(v, &changed, 1, NINO_W_MATRIX);
    CHECK(!nino_raw_layout_of(w, &l));
    nino_weight_destroy(&w);
    const nino_tensor_info *t = nino_weights_find(v, "m.scaled.weight");
    CHECK(nino_weights_read_bytes(v, t, 0, 1, &byte, &err) == NINO_ERR_UNSUPPORTED);
    t = nino_weights_find(f, "m.plain.weight");
    CHECK(nino_weights_read_bytes(f, t, N * C, 1, &byte, &err) == NINO_ERR_RANGE);
    CHECK_OK(nino_weights_read_bytes(f, t, N * C, 0, &byte, &err), err);
    nino_weights_unref(&v);
}

// Of blocks in memory, with a codebook behind them.
static void test_blocks(void)
{
    nino_raw_layout l;
    nino_array *a = nino_array_create(NINO_IQ2_XS, NINO_SHAPE(3, 512));
    CHECK(a && a->bytes == 6 * 74 && !nino_array_create(NINO_Q8_0, NINO_SHAPE(3, 31)));
    for (size_t i = 0; i < a->bytes; i++)
        ((uint8_t *) a->data)[i] = (uint8_t) (i % 74 == 1 ? 0x2c : i % 74 ? i : 0);
    nino_weight *w = nino_weight_from_array(a, NINO_W_MATRIX);
    CHECK(w && nino_raw_layout_of(w, &l) && l.part[0].entries == 512);
    CHECK(l.bytes == (6 * 74 + 15) / 16 * 16 + 1024);
    uint8_t *raw = malloc(l.bytes);
    float want[3 * 512], got[3 * 512];
    CHECK(raw);
    CHECK_OK(nino_raw_read(w, &l, NULL, raw, &err), err);
    CHECK_OK(nino_weight_read_rows(w, want, &err), err);
    CHECK(nino_to_f32(got, raw, NINO_IQ2_XS, 3 * 512) && !memcmp(got, want, sizeof(got)));
    CHECK(raw[l.part[0].grid] || raw[l.part[0].grid + 2]); // the codebook is there
    free(raw);
    nino_weight_destroy(&w);
    nino_array_unref(&a);
    // rows that are not whole blocks: only a file's weight may have them
    a = nino_array_create(NINO_Q8_0, NINO_SHAPE(4, 8));
    CHECK(a && !nino_weight_from_array(a, NINO_W_MATRIX));
    nino_array_unref(&a);
}

int main(void)
{
    CHECK(mkdtemp(dir));
    nino_weights *f = make_file();
    test_types(f);
    test_parts(f);
    test_view(f);
    test_blocks();
    nino_weights_unref(&f);
    rmdir(dir);
    return 0;
}
