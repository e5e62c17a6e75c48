// Every block format of a real GGUF file expands to ggml's own values, bit for bit.
#include "core/format/weights.h"
#include "core/tensor/quant.h"
#include "tests/test.h"

static int compare(const nino_weights *q, const nino_weights *ref)
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
        nino_array_unref(&a);
        nino_array_unref(&b);
    }
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
    float x[32];
    CHECK(!nino_quant_to_f32(x, "", NINO_F32, 0) && !nino_to_f32(x, "", NINO_Q4_0, 31));
    nino_weights_unref(&q);
    nino_weights_unref(&ref);
    return 0;
}
