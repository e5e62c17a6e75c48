// Views: changed tensors are read changed, whole or in part, rounded to their type or not; the rest
// and the base stay as they were.
#include "core/file/safetensors.h"
#include "tests/test.h"

#include <math.h>

static nino_error err;
static char dir[] = "/tmp/ninodes-view-XXXXXX";
static int destroyed;

static nino_array *halves(nino_dtype type, nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape), *t;
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (i % 13) / 2;
    t = nino_array_convert(a, type);
    CHECK(t);
    nino_array_unref(&a);
    return t;
}

static nino_weights *make_base(void)
{
    const nino_st_entry e[] = {
        { "changed.f32", halves(NINO_F32, NINO_SHAPE(5, 3)) },
        { "changed.f16", halves(NINO_F16, NINO_SHAPE(5, 3)) },
        { "changed.bf16", halves(NINO_BF16, NINO_SHAPE(5, 3, 1, 1)) },
        { "changed.weight", halves(NINO_F8_E4M3, NINO_SHAPE(5, 3)) },
        { "changed.scale_weight", halves(NINO_F32, NINO_SHAPE(1)) },
        { "same", halves(NINO_F16, NINO_SHAPE(4)) },
        { "scalar", halves(NINO_F32, (nino_shape){ 0 }) },
    };
    enum { N = sizeof(e) / sizeof(e[0]) };
    char path[128];
    nino_array_f32(e[4].array)[0] = 4;
    CHECK_OK(nino_st_save(dir, "b.safetensors", false, e, N, NULL, 0, &err), err);
    for (int i = 0; i < N; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    snprintf(path, sizeof(path), "%s/b.safetensors", dir);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    unlink(path);
    return w;
}

static bool covers(void *priv, const char *name)
{
    (void) priv;
    return !strncmp(name, "changed.", 8) && !strstr(name, "scale");
}

// Adds a third of the row's number.
static nino_status apply(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                         float *values, nino_error *e)
{
    if (*(bool *) priv)
        return NINO_ERR_IO;
    (void) e;
    for (int64_t i = 0; i < rows * 3; i++)
        values[i] += (float) (row0 + i / 3) / 3;
    CHECK(t->dim[0] == 5);
    return NINO_OK;
}

static void destroy(void *priv)
{
    (void) priv;
    destroyed++;
}

static void check_tensor(const nino_weights *v, const char *name, nino_dtype type, float scale,
                         float (*rounded)(float))
{
    const nino_tensor_info *t = nino_weights_find(v, name);
    CHECK(t && t->dtype == type && t->bytes == 15 * nino_dtype_size(type));
    nino_array *a = nino_weights_read_f32(v, t, &err), *raw = nino_array_create(type, a->shape);
    float part[6];
    CHECK(a && raw);
    CHECK_OK(nino_weights_read(v, t, raw->data, &err), err);
    nino_array *b = nino_array_convert(raw, NINO_F32);
    CHECK_OK(nino_weights_read_rows_f32(v, t, 2, 2, part, &err), err);
    for (int i = 0; i < 15; i++) {
        const float want = rounded((float) (i % 13) / 2 * scale + (float) (i / 3) / 3);
        CHECK(nino_array_f32(a)[i] == want && nino_array_f32(b)[i] == want);
        CHECK(i < 6 || i >= 12 || part[i - 6] == want);
    }
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&raw);
}

static float as_f32(float v) { return v; }
static float as_f16(float v) { return nino_f16_to_f32(nino_f32_to_f16(v)); }
static float as_bf16(float v) { return nino_bf16_to_f32(nino_f32_to_bf16(v)); }

static int64_t wanted[2];

static void enlarge(void *priv, const char *name, int64_t dim[2])
{
    (void) priv;
    if (!strcmp(name, "changed.f16"))
        memcpy(dim, wanted, sizeof(wanted));
}

// A view's tensors grow as they are told to, up to 2^20; nothing becomes smaller.
static void check_enlarge(nino_weights *base, const nino_weights_change *plain)
{
    enum { MOST = 1 << 20 };
    static const int64_t t[][4] = { { 5, 3, 5, 3 },        { 6, 3, 6, 3 },
                                    { 5, 4, 5, 4 },        { 4, 2, 5, 3 },
                                    { 0, -1, 5, 3 },       { MOST, 2, MOST, 3 },
                                    { MOST + 1, 9, 5, 9 }, { 7, MOST + 1, 7, 3 } };
    nino_weights_change c = *plain;
    c.enlarge = enlarge;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        memcpy(wanted, t[i], sizeof(wanted));
        nino_weights *v = nino_weights_changed(base, &c, &err);
        CHECK_OK(v ? NINO_OK : err.code, err);
        const nino_tensor_info *f = nino_weights_find(v, "changed.f16"),
                               *other = nino_weights_find(v, "changed.f32");
        CHECK(f->rank == 2 && f->dim[0] == t[i][2] && f->dim[1] == t[i][3]);
        CHECK(other->dim[0] == 5 && other->dim[1] == 3);
        nino_weights_unref(&v);
    }
    destroyed = 0;
}

int main(void)
{
    bool fails = false;
    CHECK(mkdtemp(dir));
    nino_weights *base = make_base();
    const nino_weights_change c = {
        .priv = &fails, .identity = { 1, 2 }, .covers = covers, .apply = apply, .destroy = destroy
    };
    nino_weights *v = nino_weights_changed(base, &c, &err);
    CHECK_OK(v ? NINO_OK : err.code, err);
    const nino_hash a = nino_weights_identity(v), b = nino_weights_identity(base);
    CHECK(a.lo != b.lo && nino_weights_count(v) == 7);
    check_tensor(v, "changed.f32", NINO_F32, 1, as_f32);
    check_tensor(v, "changed.f16", NINO_F16, 1, as_f16);
    check_tensor(v, "changed.bf16", NINO_BF16, 1, as_bf16);
    check_tensor(v, "changed.weight", NINO_F32, 4, as_f32); // scaled before the change
    float x[4];
    nino_array *s = nino_weights_read_f32(v, nino_weights_find(v, "scalar"), &err);
    CHECK(s && nino_array_f32(s)[0] == 0);
    nino_array_unref(&s);
    CHECK_OK(nino_weights_read_rows_f32(v, nino_weights_find(v, "same"), 1, 2, x, &err), err);
    CHECK(x[0] == 0.5f && x[1] == 1);
    const nino_tensor_info *t = nino_weights_find(base, "changed.f32");
    CHECK_OK(nino_weights_read_rows_f32(base, t, 4, 1, x, &err), err);
    CHECK(x[0] == 6);
    check_enlarge(base, &c);
    nino_weights_change exact = c;
    exact.is_exact = true;
    nino_weights *e = nino_weights_changed(base, &exact, &err);
    CHECK_OK(e ? NINO_OK : err.code, err);
    check_tensor(e, "changed.f16", NINO_F32, 1, as_f32);
    check_tensor(e, "changed.bf16", NINO_F32, 1, as_f32);
    nino_weights_unref(&e);
    CHECK(destroyed == 1);

    fails = true;
    CHECK(!nino_weights_read_f32(v, nino_weights_find(v, "changed.f32"), &err));
    nino_weights_unref(&base); // the view keeps it
    CHECK(nino_weights_find(v, "same") && destroyed == 1);
    nino_weights_unref(&v);
    CHECK(destroyed == 2);
    CHECK(rmdir(dir) == 0);
    return 0;
}
