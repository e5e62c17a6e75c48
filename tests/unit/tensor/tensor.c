// Shapes, host arrays, and the border between [N,C,H,W] and channels last.
#include "core/tensor/tensor.h"
#include "tests/test.h"

static void check_shapes(void)
{
    const nino_shape a = NINO_SHAPE(1, 64, 48, 4), b = NINO_SHAPE(1, 64, 48), s = { .rank = 0 };
    char text[64];
    CHECK(nino_shape_count(&a) == 64 * 48 * 4 && nino_shape_count(&s) == 1);
    CHECK(nino_shape_equal(&a, &a) && !nino_shape_equal(&a, &b));
    nino_shape_print(text, sizeof(text), &a);
    CHECK_STR(text, "1x64x48x4");
    nino_shape_print(text, sizeof(text), &s);
    CHECK_STR(text, "scalar");
    nino_shape_print(text, 5, &a);
    CHECK_STR(text, "1x64");
    const nino_shape odd = NINO_SHAPE(-1, 0, INT64_MIN);
    nino_shape_print(text, sizeof(text), &odd);
    CHECK_STR(text, "-1x0x-9223372036854775808");
}

static void check_limits(void)
{
    CHECK(!nino_array_create(NINO_F32, NINO_SHAPE(INT64_MAX, 4)));
    CHECK(!nino_array_create(NINO_F32, NINO_SHAPE((int64_t) 1 << 62, 4)));
    CHECK(!nino_array_create(NINO_F32, NINO_SHAPE(-1)));
    CHECK(!nino_array_create(NINO_F64, NINO_SHAPE((int64_t) 1 << 40)));
    nino_array *none = nino_array_create(NINO_F32, NINO_SHAPE(3, 0));
    CHECK(none && none->bytes == 0 && none->data);
    nino_array *same = nino_array_ref(none);
    nino_array_unref(&none);
    CHECK(!none && same->refs == 1);
    nino_array_unref(&same);
    nino_array_unref(&same);
    nino_array *packed = nino_array_create(NINO_F4, NINO_SHAPE(3));
    CHECK(packed && packed->bytes == 2);
    nino_array_unref(&packed);
}

// Every element holds its own index, so that a wrong place is a wrong value.
static void check_layout(nino_dtype t, nino_shape first, nino_shape last)
{
    nino_array *a = nino_array_create(NINO_F32, first), *b, *c, *d;
    const int64_t n = nino_shape_count(&first), rank = first.rank;
    CHECK(a && (uintptr_t) a->data % 64 == 0);
    for (int64_t i = 0; i < n; i++)
        nino_array_f32(a)[i] = (float) (i % 251);
    b = nino_array_convert(a, t);
    CHECK(b && b->dtype == t && b->bytes == (size_t) n * nino_dtype_size(t));
    c = nino_array_to_channels_last(b);
    CHECK(c && nino_shape_equal(&c->shape, &last));
    nino_array *f = nino_array_convert(c, NINO_F32);
    const int64_t channels = first.dim[1], pixels = n / first.dim[0] / channels;
    for (int64_t i = 0; rank >= 4 && i < first.dim[0]; i++)
        for (int64_t k = 0; k < channels; k++)
            for (int64_t p = 0; p < pixels; p++)
                CHECK(nino_array_f32(f)[(i * pixels + p) * channels + k] ==
                      nino_array_f32(a)[(i * channels + k) * pixels + p]);
    d = nino_array_to_channels_first(c);
    CHECK(d && nino_shape_equal(&d->shape, &first) && !memcmp(d->data, b->data, b->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
    nino_array_unref(&d);
    nino_array_unref(&f);
}

int main(void)
{
    check_shapes();
    check_limits();
    check_layout(NINO_F32, NINO_SHAPE(2, 4, 37, 41), NINO_SHAPE(2, 37, 41, 4));
    check_layout(NINO_F16, NINO_SHAPE(1, 70, 5, 7), NINO_SHAPE(1, 5, 7, 70));
    check_layout(NINO_U8, NINO_SHAPE(1, 16, 3, 5, 6), NINO_SHAPE(1, 3, 5, 6, 16));
    check_layout(NINO_F32, NINO_SHAPE(2, 16, 3, 5, 6), NINO_SHAPE(2, 3, 5, 6, 16));
    check_layout(NINO_BF16, NINO_SHAPE(6, 5, 4), NINO_SHAPE(6, 5, 4));
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(3));
    CHECK(!nino_array_convert(a, NINO_I64));
    nino_array_unref(&a);
    return 0;
}
