// Packing of large weights by pieces on all processors: the bits are those of one piece, the first
// error and a cancel end it, and parallel loops do every item once.
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/file/safetensors.h"
#include "core/op/pack.h"
#include "tests/vae.h"

#include <stdatomic.h>

static nino_error err;

// ---- loops -----------------------------------------------------------------------------------
enum { ITEMS = 5000 };
static _Atomic int done[ITEMS];

static void count(void *priv, int64_t i)
{
    CHECK(priv == done);
    atomic_fetch_add(&done[i], 1);
}

static void test_loops(void)
{
    static const int64_t sizes[] = { 0, 1, 2, 3, ITEMS };
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        for (int i = 0; i < ITEMS; i++)
            done[i] = 0;
        nino_parallel(sizes[k], count, done);
        for (int64_t i = 0; i < ITEMS; i++)
            CHECK(done[i] == (i < sizes[k]));
    }
}

// ---- weights ---------------------------------------------------------------------------------

static float value(int64_t i) { return (float) (i * 7919 % 10007) / 5000.0f - 1; }

static nino_weight *make(nino_shape shape, nino_weight_role role)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a != NULL);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = value(i);
    nino_weight *w = nino_weight_from_array(a, role);
    CHECK(w != NULL);
    nino_array_unref(&a);
    return w;
}

// All at once, with the function that packs a piece.
static const nino_sched *rows_schedule(void)
{
    const nino_sched *s = nino_scheds;
    while (!s->keeps_rows)
        s++;
    return s;
}

// As the schedule of p wants rows.
static void lay_out(const nino_profile *p, const float *rows, int64_t n, int taps, int64_t c,
                    nino_dtype type, void *to)
{
    if (p->schedule->keeps_rows)
        nino_pack_padded(rows, n, taps, c, type, to);
    else
        nino_pack_panels(rows, n, taps, c, type, to);
}

// Rows of each tap, up to 16 channels, zero-filled.
static void test_padded(void)
{
    const float rows[2][3][2] = { { { 1, 2 }, { 3, 4 }, { 5, 6 } },
                                  { { 7, 8 }, { 9, 10 }, { 11, 12 } } };
    float to[2][3][16];
    memset(to, 0x55, sizeof(to));
    nino_pack_padded(&rows[0][0][0], 2, 3, 2, NINO_F32, to);
    for (int n = 0; n < 2; n++)
        for (int t = 0; t < 3; t++)
            for (int c = 0; c < 16; c++)
                CHECK(to[n][t][c] == (c < 2 ? rows[n][t][c] : 0));
}

static void test_bits(const nino_sched *schedule, nino_shape shape, nino_weight_role role)
{
    nino_profile p;
    nino_dtype type;
    nino_profile_find("", true, &p, NULL);
    p.schedule = schedule;
    nino_weight *w = make(shape, role);
    const int taps = role == NINO_W_CONV3 ? 9 : 1;
    const size_t bytes = nino_sched_packed_bytes(&p, w, &type);
    char *got = malloc(bytes), *want = malloc(bytes);
    float *rows = malloc((size_t) (w->n * w->c * taps) * sizeof(*rows));
    CHECK(got && want && rows);
    memset(got, 0x55, bytes);
    memset(want, 0, bytes);
    CHECK_OK(nino_pack_weight(&p, w, NULL, got, &err), err);
    CHECK_OK(nino_weight_read_rows(w, rows, &err), err);
    if (schedule->is_plain)
        for (int64_t i = 0; i < w->n; i++)
            for (int64_t k = 0; k < w->c * taps; k++)
                ((float *) (void *) want)[k * w->n + i] = rows[i * w->c * taps + k];
    else
        lay_out(&p, rows, w->n, taps, w->c, type, want);
    CHECK(!memcmp(got, want, bytes));
    free(got);
    free(want);
    free(rows);
    nino_weight_destroy(&w);
}

// A file whose tensors are read through the test: the cancel comes with a read in the middle, and
// only those that the other threads had begun come after it.
static volatile int cancel;
static _Atomic int n_reads;
static int cancel_at;
static nino_status fail_with;

static bool covers(void *priv, const char *name)
{
    (void) priv;
    return !strcmp(name, "big.weight");
}

static nino_status apply(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                         float *values, nino_error *e)
{
    (void) priv;
    (void) row0;
    (void) rows;
    (void) values;
    if (atomic_fetch_add(&n_reads, 1) + 1 != cancel_at)
        return NINO_OK;
    if (fail_with)
        return nino_fail(e, fail_with, t->name, "no more");
    __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    return NINO_OK;
}

static void destroy(void *priv) { (void) priv; }

static nino_weights *make_file(int64_t rows, int64_t cols)
{
    test_dir dir = test_dir_create();
    static const char *const files[] = { "w", NULL };
    nino_array *a = nino_array_create(NINO_BF16, NINO_SHAPE(rows, cols));
    CHECK(a != NULL);
    const nino_st_entry e = { "big.weight", a };
    CHECK_OK(nino_st_save(dir.path, "w", false, &e, 1, NULL, 0, &err), err);
    nino_array_unref(&a);
    nino_weights *base = test_open("%s/w", dir.path);
    test_dir_remove(&dir, files);
    const nino_weights_change c = { .covers = covers, .apply = apply, .destroy = destroy };
    nino_weights *view = nino_weights_changed(base, &c, &err);
    CHECK_OK(view ? NINO_OK : err.code, err);
    nino_weights_unref(&base);
    return view;
}

static nino_status pack_until(int at, nino_status fail)
{
    enum { N = 32768, C = 512, PIECES = 128, THREADS = 32 };
    nino_profile p;
    nino_dtype type;
    nino_weight *w = NULL;
    nino_profile_find("", true, &p, NULL);
    nino_weights *view = make_file(N, C);
    CHECK_OK(nino_weight_get(view, "", "big.weight", NINO_W_MATRIX, N, C, true, &w, &err), err);
    char *dst = malloc(nino_sched_packed_bytes(&p, w, &type));
    CHECK(dst != NULL);
    cancel = 0;
    n_reads = 0;
    cancel_at = at;
    fail_with = fail;
    const nino_status st = nino_pack_weight(&p, w, &cancel, dst, &err);
    CHECK(n_reads == PIECES || (st && n_reads < at + THREADS));
    free(dst);
    nino_weight_destroy(&w);
    nino_weights_unref(&view);
    return st;
}

static void test_ends(void)
{
    CHECK(pack_until(0, NINO_OK) == NINO_OK && n_reads == 128);
    CHECK(pack_until(5, NINO_OK) == NINO_ERR_CANCELLED && err.code == NINO_ERR_CANCELLED);
    CHECK(pack_until(5, NINO_ERR_IO) == NINO_ERR_IO);
    CHECK_STR(err.where, "big.weight");
    CHECK_STR(err.msg, "no more");
}

// Files whose rows have the type of the panels already, in one piece and in parts of two tensors:
// the same bits as by way of f32, all together and in stripes.
static void test_stored(const nino_sched *schedule, nino_dtype type, int64_t n, int64_t c)
{
    test_dir dir = test_dir_create();
    static const char *const files[] = { "w", NULL };
    nino_profile p;
    nino_dtype packed;
    nino_weight *w = NULL;
    nino_array *a = nino_array_create(type, NINO_SHAPE(n, c));
    CHECK(a != NULL);
    float *values = malloc((size_t) (2 * n * c) * sizeof(*values));
    CHECK(values != NULL);
    for (int64_t i = 0; i < n * c; i++)
        values[i] = value(i);
    nino_from_f32(a->data, type, values, (size_t) (n * c));
    const nino_st_entry e[] = { { "a.weight", a }, { "b.weight", a } };
    CHECK_OK(nino_st_save(dir.path, "w", false, e, 2, NULL, 0, &err), err);
    nino_array_unref(&a);
    nino_weights *f = test_open("%s/w", dir.path);
    test_dir_remove(&dir, files);
    const nino_weight_part parts[] = { { .name = "b.weight" },
                                       { .name = "a.weight", .row0 = 1, .rows = n - 1 } };
    nino_profile_find("", true, &p, NULL);
    p.schedule = schedule;
    for (int k = 1; k <= 2; k++) {
        CHECK_OK(nino_weight_get_parts(f, "", parts, k, NINO_W_MATRIX, -1, c, true, &w, &err), err);
        CHECK(nino_weight_is_stored(w));
        const size_t bytes = nino_sched_packed_bytes(&p, w, &packed),
                     row = nino_pack_row_bytes(&p, w);
        char *got = malloc(bytes + 1), *want = malloc(bytes);
        CHECK(got && want && packed == type && row * (size_t) ((w->n + 63) / 64 * 64) == bytes);
        CHECK_OK(nino_weight_read_rows(w, values, &err), err);
        memset(want, 0, bytes);
        lay_out(&p, values, w->n, 1, w->c, type, want);
        for (int at = 0; at < 2; at++) { // and where memory is not aligned
            memset(got, 0x55, bytes + 1);
            CHECK_OK(nino_pack_weight(&p, w, NULL, got + at, &err), err);
            CHECK(!memcmp(got + at, want, bytes));
        }
        memset(got, 0x55, bytes + 1);
        for (int64_t i = 0; i < w->n; i += 128) {
            const int64_t rows = w->n - i < 128 ? w->n - i : 128;
            CHECK_OK(nino_pack_rows(&p, w, i, rows, NULL, got + (size_t) i * row, &err), err);
        }
        CHECK(!memcmp(got, want, bytes) && got[bytes] == 0x55);
        free(got);
        free(want);
        nino_weight_destroy(&w);
    }
    nino_weights_unref(&f);
    free(values);
}

int main(void)
{
    test_loops();
    for (int k = 0; k < 3; k++) {
        const nino_dtype type = k == 0 ? NINO_F16 : k == 1 ? NINO_BF16 : NINO_F32;
        for (int i = 0; i < 2; i++) {
            const nino_sched *schedule = i ? rows_schedule() : &nino_scheds[0];
            test_stored(schedule, type, 300, 100);
            test_stored(schedule, type, 64, 64);
            test_stored(schedule, type, 300, 112);
            test_stored(schedule, type, 2, 7);
            test_stored(schedule, type, 1000, 1500);
        }
    }
    test_padded();
    for (int k = 0; k < 3; k++) {
        const nino_sched *schedule = k == 2   ? rows_schedule()
                                     : k == 1 ? &nino_scheds[0]
                                              : &nino_sched_ref;
        test_bits(schedule, NINO_SHAPE(1000, 700), NINO_W_MATRIX);
        test_bits(schedule, NINO_SHAPE(70, 9000), NINO_W_MATRIX);
        test_bits(schedule, NINO_SHAPE(300, 150, 3, 3), NINO_W_CONV3);
        test_bits(schedule, NINO_SHAPE(3, 5), NINO_W_MATRIX);
    }
    test_ends();
    return 0;
}
