// Every block format of a real GGUF file expands to ggml's own values, bit for bit, on the host and
// on an OpenCL device, where a convolution of unit vectors shows them (with NINODES_TEST_LONG also
// the product that decodes them as it multiplies, a program a type); also row by row as a model's
// weight, where a row (576 values of a convolution) need not be whole blocks.
#include "core/op/device/device.h"
#include "core/op/weight.h"
#include "core/tensor/quant.h"
#include "tests/test.h"

static void check_weight(nino_weights *q, const char *name, const float *ref)
{
    nino_error err;
    nino_weight *w;
    CHECK_OK(nino_weight_get(q, "", name, NINO_W_CONV3, 64, 64, true, &w, &err), err);
    float *v = malloc(64 * 576 * sizeof(*v));
    CHECK(v);
    CHECK_OK(nino_weight_read_rows(w, v, &err), err);
    for (int n = 0; n < 64; n++)
        for (int t = 0; t < 9; t++)
            for (int c = 0; c < 64; c++)
                CHECK(v[(n * 9 + t) * 64 + c] == ref[(n * 64 + c) * 9 + t]);
    nino_weight_destroy(&w);
    const nino_weight_part rows = { name, 3, 2, 0, 0 };
    CHECK_OK(nino_weight_get_parts(q, "", &rows, 1, NINO_W_CONV3, 2, 64, true, &w, &err), err);
    CHECK_OK(nino_weight_read_rows(w, v, &err), err);
    CHECK(v[64 * 9 + 1] == ref[(4 * 64 + 1) * 9]);
    nino_weight_destroy(&w);
    free(v);
}

static int compare(nino_weights *q, const nino_weights *ref)
{
    int n = 0;
    for (int i = 0; i < nino_weights_count(ref); i++, n++) {
        nino_error err;
        char name[64];
        const nino_tensor_info *r = nino_weights_at(ref, i);
        snprintf(name, sizeof(name), "w.%.40s.weight", r->name);
        const nino_tensor_info *t = nino_weights_find(q, name);
        if (!t) {
            fprintf(stderr, "%s is not in the GGUF file\n", r->name);
            CHECK(t);
        }
        nino_array *a = nino_weights_read_f32(q, t, &err), *b = nino_weights_read_f32(ref, r, &err);
        CHECK_OK(a && b ? NINO_OK : err.code, err);
        // the file says that it was a convolution's [64,64,3,3]
        CHECK(a->shape.rank == 4 && a->shape.dim[0] == 64 && a->shape.dim[3] == 3);
        CHECK(a->bytes == b->bytes);
        int64_t wrong = 0;
        for (int64_t k = 0; k < nino_shape_count(&a->shape); k++)
            wrong += memcmp(nino_array_f32(a) + k, nino_array_f32(b) + k, 4) != 0;
        if (wrong)
            fprintf(stderr, "%s (%s): %lld values differ, first %g, expected %g\n", r->name,
                    nino_dtype_name(t->dtype), (long long) wrong, (double) nino_array_f32(a)[0],
                    (double) nino_array_f32(b)[0]);
        CHECK(!wrong);
        check_weight(q, name, nino_array_f32(b));
        nino_array_unref(&a);
        nino_array_unref(&b);
    }
    return n;
}

// Unit vectors of 576, as images [3,3,64] or as rows, times the weight [64,64,3,3] or [64,576],
// transposed: sums of one value and zeros.
static void check_device(nino_backend *be, nino_weights *q, const char *name, bool is_conv,
                         const float *ref)
{
    enum { ROWS = 64, ROW = 576 };
    nino_error err;
    nino_linear l = { 0 };
    CHECK_OK(nino_weight_get(q, "", name, is_conv ? NINO_W_CONV3 : NINO_W_PATCH, ROWS,
                             is_conv ? 64 : ROW, true, &l.w, &err),
             err);
    const nino_conv conv = { .w = l.w, .pad = NINO_PAD_NONE };
    nino_dtype type;
    const size_t bytes = be->impl->packed_bytes(be, l.w, &type);
    CHECK(type == nino_weights_find(q, name)->dtype && bytes < (size_t) ROWS * ROW * 2);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *unit =
        nino_array_create(NINO_F32, is_conv ? NINO_SHAPE(ROW, 3, 3, 64) : NINO_SHAPE(ROW, ROW));
    CHECK(s && unit);
    for (int i = 0; i < ROW; i++) // the file's order is [c][tap]
        nino_array_f32(unit)[i * ROW + (is_conv ? i % 9 * 64 + i / 9 : i)] = 1;
    nino_tensor *x = nino_upload(s, unit, NINO_F32);
    nino_tensor *y = is_conv ? nino_conv2d(s, x, &conv) : nino_linear_op(s, x, &l);
    nino_array *got = nino_download(s, y, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    int wrong = 0;
    for (int n = 0; n < ROWS; n++)
        for (int i = 0; i < ROW; i++)
            wrong += nino_array_f32(got)[i * ROWS + n] != ref[n * ROW + i];
    if (wrong)
        fprintf(stderr, "%s on the device: %d values differ\n", name, wrong);
    CHECK(!wrong);
    nino_array_unref(&unit);
    nino_array_unref(&got);
    nino_stream_destroy(&s);
    nino_linear_release(&l);
}

static int compare_device(nino_weights *q, const nino_weights *ref)
{
    nino_error err;
    int n = 0;
    nino_backend *be = nino_device_open("cl", NULL, NULL, &err);
    for (int i = 0; be && i < nino_weights_count(ref); i++) {
        char name[64];
        const nino_tensor_info *r = nino_weights_at(ref, i);
        snprintf(name, sizeof(name), "w.%.40s.weight", r->name);
        const nino_tensor_info *t = nino_weights_find(q, name);
        if (!t || !nino_dtype_is_block(t->dtype))
            continue;
        nino_array *b = nino_weights_read_f32(ref, r, &err);
        CHECK(b);
        check_device(be, q, name, true, nino_array_f32(b));
        if (getenv("NINODES_TEST_LONG"))
            check_device(be, q, name, false, nino_array_f32(b));
        nino_array_unref(&b);
        n++;
    }
    if (be)
        nino_backend_close(&be);
    return n;
}

int main(void)
{
    char path[512];
    nino_error err;
    const char *assets = test_assets();
    if (!assets)
        return test_skip("no test data");
    snprintf(path, sizeof(path), "%s/gguf_quants/quants.gguf", assets);
    nino_weights *q = nino_weights_open(path, &err);
    CHECK_OK(q ? NINO_OK : err.code, err);
    snprintf(path, sizeof(path), "%s/gguf_quants/quants_dequant_f32.safetensors", assets);
    nino_weights *ref = nino_weights_open(path, &err);
    CHECK_OK(ref ? NINO_OK : err.code, err);
    const int n = compare(q, ref);
    printf("  %d formats\n", n);
    CHECK(n >= 28);
    printf("  %d of blocks on the device\n", compare_device(q, ref));
    float x[32];
    CHECK(!nino_quant_to_f32(x, "", NINO_F32, 0) && !nino_to_f32(x, "", NINO_Q4_0, 31));
    nino_weights_unref(&q);
    nino_weights_unref(&ref);
    return 0;
}
