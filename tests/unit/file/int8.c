// Weights of 8-bit integers as ComfyUI stores them (int8_tensorwise): a factor for all or one a
// row, by arithmetic of this file's own; what is refused.
#include "core/file/safetensors.h"
#include "core/model/detect.h"
#include "core/op/device/device.h"
#include "core/op/raw.h"
#include "tests/test.h"

#include <math.h>

enum { N = 35, K = 48, ROWS = 5 };
static nino_error err;
static char dir[] = "/tmp/ninodes-int8-XXXXXX";
static int8_t q[N][K];
static float factor[N];

static nino_array *bytes_of(const void *from, nino_dtype type, nino_shape shape)
{
    nino_array *a = nino_array_create(type, shape);
    CHECK(a);
    memcpy(a->data, from, a->bytes);
    return a;
}

static nino_array *text(const char *s)
{
    return bytes_of(s, NINO_U8, NINO_SHAPE((int64_t) strlen(s)));
}

static nino_weights *make_file(void)
{
    static const char plain[] = "{\"format\": \"int8_tensorwise\"}";
    static const char turned[] =
        "{\"format\": \"int8_tensorwise\", \"convrot\": true, \"convrot_groupsize\": 256}";
    const float one = 0.25f;
    char path[128];
    const nino_st_entry e[] = {
        { "rows.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "rows.weight_scale", bytes_of(factor, NINO_F32, NINO_SHAPE(N, 1)) },
        { "rows.comfy_quant", text(plain) },
        { "one.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "one.weight_scale", bytes_of(&one, NINO_F32, (nino_shape){ 0 }) },
        { "bare.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "blocks.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "blocks.weight_scale", bytes_of(factor, NINO_F32, NINO_SHAPE(5, 3)) },
        { "turned.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "turned.weight_scale", bytes_of(factor, NINO_F32, NINO_SHAPE(N, 1)) },
        { "turned.comfy_quant", text(turned) },
        { "other.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "other.comfy_quant", text("{\"format\": \"awq_w4a16\"}") },
        { "broken.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "broken.comfy_quant", text("{\"format\"") },
    };
    enum { COUNT = sizeof(e) / sizeof(e[0]) };
    CHECK_OK(nino_st_save(dir, "int8.safetensors", false, e, COUNT, NULL, 0, &err), err);
    for (int i = 0; i < COUNT; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    snprintf(path, sizeof(path), "%s/int8.safetensors", dir);
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    unlink(path); // stays readable through the descriptor
    return w;
}

static nino_weight *get(nino_weights *f, const char *name, int64_t row0, int64_t rows)
{
    const nino_weight_part part = { .name = name, .row0 = row0, .rows = rows };
    nino_weight *w;
    CHECK_OK(nino_weight_get_parts(f, "", &part, 1, NINO_W_MATRIX, -1, K, true, &w, &err), err);
    return w;
}

static float factor_of(bool is_one, int n) { return is_one ? 0.25f : factor[n]; }

// Rows from row0 on, as f32 and as the bytes and factors that a device keeps.
static void check_values(nino_weights *f, const char *name, bool is_one, int row0, int rows)
{
    nino_weight *w = get(f, name, row0, rows);
    nino_raw_layout l;
    float *v = malloc((size_t) rows * K * sizeof(*v));
    CHECK(v && w->n == rows && nino_raw_layout_of(w, &l) && l.n_parts == 1);
    CHECK(l.part[0].type == NINO_I8 && l.part[0].is_scaled);
    CHECK(l.bytes <= (uint64_t) rows * (K + 4) + 16);
    CHECK_OK(nino_weight_read_rows(w, v, &err), err);
    char *raw = malloc(l.bytes);
    CHECK(raw);
    CHECK_OK(nino_raw_read(w, &l, NULL, raw, &err), err);
    CHECK(!memcmp(raw, q[row0], (size_t) rows * K));
    for (int n = 0; n < rows; n++) {
        float by;
        memcpy(&by, raw + l.part[0].scales + (size_t) n * sizeof(by), sizeof(by));
        CHECK(by == factor_of(is_one, row0 + n));
        for (int k = 0; k < K; k++)
            CHECK(v[n * K + k] == (float) q[row0 + n][k] * factor_of(is_one, row0 + n));
    }
    free(raw);
    free(v);
    nino_weight_destroy(&w);
}

static float input(int r, int k) { return (float) ((r * 7 + k * 5) % 13 - 6) / 8; }

// A few rows times the weight, on a device where there is one.
static void check_product(nino_backend *be, nino_weights *f, const char *name, bool is_one)
{
    nino_linear l = { .w = get(f, name, 0, 0) };
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(ROWS, K));
    CHECK(s && x);
    for (int i = 0; i < ROWS * K; i++)
        nino_array_f32(x)[i] = input(i / K, i % K);
    nino_array *y = nino_download(s, nino_linear_op(s, nino_upload(s, x, NINO_F32), &l), NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    for (int r = 0; r < ROWS; r++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double) input(r, k) * q[n][k];
            const double want = sum * (double) factor_of(is_one, n);
            CHECK(fabs((double) nino_array_f32(y)[r * N + n] - want) <= 1e-4 * (1 + fabs(want)));
        }
    nino_array_unref(&x);
    nino_array_unref(&y);
    nino_stream_destroy(&s);
    nino_linear_release(&l);
}

static void check_refused(nino_weights *f, const char *name, nino_status want, const char *where,
                          const char *what)
{
    nino_weight *w = NULL;
    err = (nino_error){ 0 };
    CHECK(nino_weight_get(f, "", name, NINO_W_MATRIX, N, K, true, &w, &err) == want && !w);
    if (!strstr(err.where, where) || !strstr(err.msg, what))
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    CHECK(strstr(err.where, where) && strstr(err.msg, what));
}

// The same where the file says it in one place, of layers in formats of 4 and of 8 bits.
static void check_metadata(void)
{
    static const char says[] =
        "{\"format_version\": \"1.0\", \"layers\": {"
        "\"good\": {\"format\": \"int8_tensorwise\"}, \"four\": {\"format\": \"nvfp4\"}, "
        "\"blocks\": {\"format\": \"mxfp8\"}}}";
    const nino_meta meta = { "_quantization_metadata", says, sizeof(says) - 1 };
    const nino_meta broken = { "_quantization_metadata", "{\"layers\"", 9 };
    nino_st_entry e[] = {
        { "good.weight", bytes_of(q, NINO_I8, NINO_SHAPE(N, K)) },
        { "good.weight_scale", bytes_of(factor, NINO_F32, NINO_SHAPE(N, 1)) },
        { "four.weight", bytes_of(q, NINO_U8, NINO_SHAPE(N, K)) },
        { "blocks.weight", bytes_of(q, NINO_F8_E4M3, NINO_SHAPE(N, K)) },
        { "plain.weight", bytes_of(q, NINO_U8, NINO_SHAPE(N, K)) },
    };
    enum { COUNT = sizeof(e) / sizeof(e[0]) };
    CHECK_OK(nino_st_save(dir, "meta.safetensors", false, e, COUNT, &meta, 1, &err), err);
    CHECK_OK(nino_st_save(dir, "broken.safetensors", false, e, COUNT, &broken, 1, &err), err);
    for (int i = 0; i < COUNT; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    char path[128];
    snprintf(path, sizeof(path), "%s/meta.safetensors", dir);
    nino_weights *f = nino_weights_open(path, &err);
    CHECK_OK(f ? NINO_OK : err.code, err);
    check_values(f, "good.weight", false, 0, N);
    check_refused(f, "four.weight", NINO_ERR_UNSUPPORTED, "meta.safetensors: four", "nvfp4");
    check_refused(f, "blocks.weight", NINO_ERR_UNSUPPORTED, "meta.safetensors: blocks", "mxfp8");
    check_refused(f, "plain.weight", NINO_ERR_UNSUPPORTED, "plain.weight", "element type u8");
    nino_weights_unref(&f);
    unlink(path);
    snprintf(path, sizeof(path), "%s/broken.safetensors", dir);
    CHECK(!nino_weights_open(path, &err) && err.code == NINO_ERR_FORMAT);
    CHECK(strstr(err.where, "_quantization_metadata"));
    unlink(path);
}

int main(void)
{
    CHECK(mkdtemp(dir));
    for (int n = 0; n < N; n++) {
        factor[n] = 0.01f * (float) (n + 1);
        for (int k = 0; k < K; k++)
            q[n][k] = (int8_t) ((n * 31 + k * 17) % 256 - 128);
    }
    nino_weights *f = make_file();
    check_values(f, "rows.weight", false, 0, N);
    check_values(f, "rows.weight", false, 3, 16);
    check_values(f, "one.weight", true, 1, N - 1);
    static const char *const devices[] = { "ref", "cl" };
    for (int i = 0; i < 2; i++) {
        nino_backend *be = nino_device_open(devices[i], NULL, NULL, &err);
        if (!be && i)
            break; // there is none
        CHECK_OK(be ? NINO_OK : err.code, err);
        check_product(be, f, "rows.weight", false);
        check_product(be, f, "one.weight", true);
        nino_backend_close(&be);
    }
    check_refused(f, "bare.weight", NINO_ERR_UNSUPPORTED, "bare.weight", "without a weight_scale");
    check_refused(f, "blocks.weight", NINO_ERR_FORMAT, "blocks.weight_scale", "nor one a row");
    check_refused(f, "turned.weight", NINO_ERR_UNSUPPORTED, "turned.comfy_quant", "convrot");
    check_refused(f, "other.weight", NINO_ERR_UNSUPPORTED, "other.comfy_quant", "awq_w4a16");
    check_refused(f, "broken.weight", NINO_ERR_FORMAT, "broken.comfy_quant", "");
    nino_detected d;
    nino_detect(f, &d);
    CHECK_STR(d.quantisation, "int8 scaled");
    nino_weights_unref(&f);
    check_metadata();
    rmdir(dir);
    return 0;
}
