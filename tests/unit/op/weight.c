// Weights: names, shapes and types that fit or not, and the order values are read in.
#include "core/file/safetensors.h"
#include "core/op/backend.h"
#include "tests/made_arrays.h"

#include <math.h>

static nino_error err;
static char dir[] = "/tmp/ninodes-weight-XXXXXX";

static nino_array *counting(nino_dtype type, nino_shape shape)
{
    return made_counting(type, shape, 200, 0);
}

static nino_weights *make_file(void)
{
    const nino_st_entry e[] = {
        { "m.fc.weight", counting(NINO_F16, NINO_SHAPE(6, 4)) },
        { "m.fc.bias", counting(NINO_F32, NINO_SHAPE(6)) },
        { "m.conv.weight", counting(NINO_BF16, NINO_SHAPE(2, 5, 3, 3)) },
        { "m.point.weight", counting(NINO_F8_E4M3, NINO_SHAPE(3, 4, 1, 1)) },
        { "m.wide.weight", counting(NINO_F32, NINO_SHAPE(2, 5, 5, 5)) },
        { "m.norm.weight", counting(NINO_F32, NINO_SHAPE(6)) },
        { "m.norm.bias", counting(NINO_F32, NINO_SHAPE(6)) },
        { "m.lone.weight", counting(NINO_F32, NINO_SHAPE(6)) },
        { "m.short.weight", counting(NINO_F32, NINO_SHAPE(6, 4)) },
        { "m.short.bias", counting(NINO_F32, NINO_SHAPE(5)) },
        { "m.ragged.weight", counting(NINO_F32, NINO_SHAPE(6, 5)) },
        { "m.ints.weight", counting(NINO_I8, NINO_SHAPE(6, 4)) },
        { "m.scaled.weight", counting(NINO_F8_E4M3, NINO_SHAPE(3, 4)) },
        { "m.scaled.scale_weight", made_number(0.3f) },
        { "m.newer.weight", counting(NINO_F8_E5M2, NINO_SHAPE(2, 2)) },
        { "m.newer.weight_scale", made_number(2) },
        { "m.broken.weight", counting(NINO_F8_E4M3, NINO_SHAPE(3, 4)) },
        { "m.broken.scale_weight", made_number(NAN) },
    };
    enum { N = sizeof(e) / sizeof(e[0]) };
    char path[128];
    CHECK_OK(nino_st_save(dir, "w.safetensors", false, e, N, NULL, 0, &err), err);
    for (int i = 0; i < N; i++) {
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

// All values, and the same read a piece at a time.
static void read_all(const nino_weight *w, float *v)
{
    const int64_t row = w->c * (w->role == NINO_W_CONV3 ? 9 : 1);
    float part[90];
    CHECK_OK(nino_weight_read_rows(w, v, &err), err);
    for (int64_t first = 0; first < w->n; first++)
        for (int64_t n = 1; first + n <= w->n; n++) {
            CHECK_OK(nino_weight_read_part(w, first, n, part, &err), err);
            CHECK(!memcmp(part, v + first * row, (size_t) (n * row) * sizeof(float)));
        }
}

static void test_good(nino_weights *f)
{
    nino_linear l;
    float v[90];
    CHECK_OK(nino_linear_get(f, "m.", "fc", 4, &l, &err), err);
    CHECK(l.w->n == 6 && l.w->c == 4 && l.w->dtype == NINO_F16 && l.b && l.b->n == 6);
    read_all(l.w, v);
    for (int i = 0; i < 24; i++)
        CHECK(v[i] == (float) i);
    nino_linear_release(&l);
    CHECK(!l.w && !l.b);

    nino_conv c;
    CHECK_OK(nino_conv_get(f, "m.", "conv", -1, &c, &err), err);
    CHECK(c.w->role == NINO_W_CONV3 && c.w->n == 2 && c.w->c == 5 && !c.b && c.stride == 0);
    read_all(c.w, v);
    for (int n = 0; n < 2; n++) // [n][c][tap] became [n][tap][c]
        for (int t = 0; t < 9; t++)
            for (int k = 0; k < 5; k++)
                CHECK(v[(n * 9 + t) * 5 + k] == (float) ((n * 5 + k) * 9 + t));
    nino_conv_release(&c);

    CHECK_OK(nino_conv_get(f, NULL, "m.point", 4, &c, &err), err); // 8-bit float, 1x1
    CHECK(c.w->role == NINO_W_MATRIX && c.w->n == 3 && c.w->c == 4);
    read_all(c.w, v);
    CHECK(v[11] == 11 && v[0] == 0);
    nino_conv_release(&c);
    CHECK_OK(nino_linear_get(f, "m.", "point", 4, &l, &err), err); // [N,C,1,1] is a matrix too
    nino_linear_release(&l);

    nino_norm n;
    CHECK_OK(nino_norm_get(f, "m.", "norm", 3, 1e-6f, &n, &err), err);
    CHECK(n.gamma->n == 6 && n.beta->n == 6 && n.groups == 3);
    nino_norm_release(&n);

    nino_weight *w = (nino_weight *) 1;
    CHECK_OK(nino_weight_get(f, "m.", "none", NINO_W_VECTOR, -1, -1, false, &w, &err), err);
    CHECK(!w);
}

static void test_scaled(nino_weights *f)
{
    nino_linear l;
    float v[16];
    CHECK_OK(nino_linear_get(f, "m.", "scaled", 4, &l, &err), err);
    CHECK(l.w->dtype == NINO_F32); // 16 bits would round the products
    read_all(l.w, v);
    CHECK(v[0] == 0 && v[1] == 0.3f && v[11] == 11 * 0.3f);
    nino_linear_release(&l);
    CHECK_OK(nino_linear_get(f, "m.", "newer", 2, &l, &err), err);
    read_all(l.w, v);
    CHECK(v[3] == 6);
    nino_linear_release(&l);
    CHECK(nino_linear_get(f, "m.", "broken", 4, &l, &err) == NINO_ERR_FORMAT);
    CHECK(strstr(err.where, "m.broken.scale_weight") && strstr(err.msg, "positive"));
}

static void test_parts(nino_weights *f)
{
    const nino_weight_part swapped[] = { { "fc", 3, 3, 0, 0 }, { "fc", 0, 3, 0, 0 } };
    nino_linear l;
    float v[64];
    CHECK_OK(nino_linear_get_parts(f, "m.", swapped, 2, 4, &l, &err), err);
    CHECK(l.w->n == 6 && l.w->c == 4 && l.w->dtype == NINO_F16 && l.b && l.b->n == 6);
    read_all(l.w, v);
    for (int i = 0; i < 24; i++)
        CHECK(v[i] == (float) ((i + 12) % 24));
    read_all(l.b, v);
    for (int i = 0; i < 6; i++)
        CHECK(v[i] == (float) ((i + 3) % 6));
    nino_linear_release(&l);

    // different types and shapes that are all matrices; one without a bias
    const nino_weight_part mixed[] = { { .name = "short.weight", .rows = 2 },
                                       { .name = "point.weight", .row0 = 1 } };
    nino_weight *w;
    CHECK_OK(nino_weight_get_parts(f, "m.", mixed, 2, NINO_W_MATRIX, 4, 4, true, &w, &err), err);
    CHECK(w->dtype == NINO_F32 && w->n == 4);
    read_all(w, v);
    for (int i = 0; i < 16; i++)
        CHECK(v[i] == (float) (i < 8 ? i : i - 4));
    nino_weight_destroy(&w);

    const nino_weight_part columns = { "fc", 1, 2, 1, 3 };
    CHECK_OK(nino_linear_get_parts(f, "m.", &columns, 1, 3, &l, &err), err);
    CHECK(l.w->n == 2 && l.w->c == 3 && l.b->n == 2);
    read_all(l.w, v);
    CHECK(v[0] == 5 && v[2] == 7 && v[3] == 9 && v[5] == 11);
    nino_linear_release(&l);

    const nino_weight_part taps = { "conv.weight", 1, 1, 2, 2 };
    CHECK_OK(nino_weight_get_parts(f, "m.", &taps, 1, NINO_W_CONV3, 1, 2, true, &w, &err), err);
    read_all(w, v);
    for (int t = 0; t < 9; t++)
        for (int k = 0; k < 2; k++)
            CHECK(v[t * 2 + k] == (float) ((5 + 2 + k) * 9 + t));
    nino_weight_destroy(&w);
}

static void test_bad_parts(nino_weights *f)
{
    const nino_weight_part beyond = { "fc", 4, 3, 0, 0 }, wide = { "fc", 0, 0, 2, 3 };
    const nino_weight_part before = { "fc", -1, 3, 0, 0 };
    const nino_weight_part ragged[] = { { .name = "fc" }, { .name = "ragged" } };
    const nino_weight_part half_bias[] = { { .name = "point" }, { .name = "fc" } };
    const nino_weight_part half_there[] = { { .name = "fc.bias" }, { .name = "none.bias" } };
    const nino_weight_part absent[] = { { .name = "none.bias" }, { .name = "fc.bias" } };
    nino_linear l = { 0 };
    nino_weight *w;
    CHECK(nino_linear_get_parts(f, "m.", &beyond, 1, -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.where, "w.safetensors: m.fc.weight");
    CHECK(strstr(err.msg, "rows 4 to 7") && strstr(err.msg, "[6,4]"));
    CHECK(nino_linear_get_parts(f, "m.", &wide, 1, -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK(nino_linear_get_parts(f, "m.", &before, 1, -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK(nino_linear_get_parts(f, "m.", ragged, 2, -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.where, "w.safetensors: m.ragged.weight");
    CHECK(nino_linear_get_parts(f, "m.", half_bias, 2, -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.where, "w.safetensors: m.point.bias");
    CHECK(nino_linear_get_parts(f, "m.", ragged, 1, 5, &l, &err) == NINO_ERR_FORMAT);
    CHECK(!l.w && !l.b);
    CHECK(nino_weight_get_parts(f, "m.", half_there, 2, NINO_W_VECTOR, -1, -1, false, &w, &err) ==
          NINO_ERR_FORMAT);
    CHECK(!w);
    CHECK_OK(nino_weight_get_parts(f, "m.", absent, 2, NINO_W_VECTOR, -1, -1, false, &w, &err),
             err);
    CHECK(!w);
}

static void test_bad(nino_weights *f)
{
    nino_linear l = { 0 };
    nino_conv c = { 0 };
    nino_norm n = { 0 };
    CHECK(nino_linear_get(f, "m.", "absent", -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.kind, "model");
    CHECK_STR(err.where, "w.safetensors: m.absent.weight");
    CHECK(nino_linear_get(f, "m.", "fc", 5, &l, &err) == NINO_ERR_FORMAT);
    CHECK(strstr(err.msg, "[6,4]") && strstr(err.msg, "[6,5]"));
    CHECK(nino_linear_get(f, "m.", "conv", -1, &l, &err) == NINO_ERR_FORMAT);
    CHECK(nino_conv_get(f, "m.", "wide", -1, &c, &err) == NINO_ERR_FORMAT); // 5x5
    CHECK(nino_conv_get(f, "m.", "norm", -1, &c, &err) == NINO_ERR_FORMAT);
    CHECK(nino_linear_get(f, "m.", "short", -1, &l, &err) == NINO_ERR_FORMAT); // bias of 5
    CHECK_STR(err.where, "w.safetensors: m.short.bias");
    CHECK(nino_linear_get(f, "m.", "ints", -1, &l, &err) == NINO_ERR_UNSUPPORTED);
    CHECK(nino_norm_get(f, "m.", "lone", 3, 1e-6f, &n, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.where, "w.safetensors: m.lone.bias");
    CHECK(nino_norm_get(f, "m.", "norm", 4, 1e-6f, &n, &err) == NINO_ERR_FORMAT); // 6 in 4 groups
    CHECK(!l.w && !l.b && !c.w && !n.gamma && !n.beta);                           // untouched
}

static void test_arrays(void)
{
    nino_array *a = counting(NINO_F32, NINO_SHAPE(2, 3));
    CHECK(!nino_weight_from_array(a, NINO_W_CONV3) && !nino_weight_from_array(a, NINO_W_VECTOR));
    nino_weight *w = nino_weight_from_array(a, NINO_W_MATRIX);
    nino_array_unref(&a);
    CHECK(w && w->n == 2 && w->c == 3 && w->data->refs == 1);
    nino_weight_destroy(&w);
    nino_weight_destroy(&w); // NULL-safe
    a = nino_array_create(NINO_I16, NINO_SHAPE(2, 3));
    CHECK(!nino_weight_from_array(a, NINO_W_MATRIX));
    nino_array_unref(&a);
}

int main(void)
{
    CHECK(mkdtemp(dir));
    nino_weights *f = make_file();
    test_good(f);
    test_scaled(f);
    test_parts(f);
    test_bad_parts(f);
    test_bad(f);
    test_arrays();
    nino_weights_unref(&f);
    rmdir(dir);
    return 0;
}
