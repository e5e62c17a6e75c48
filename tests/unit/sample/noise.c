// Noise: torch's generator bit for bit, in every kernel; batches; the Brownian tree.
#include "core/base/hash.h"
#include "core/sample/noise/brownian.h"
#include "core/sample/noise/rng.h"
#include "tests/sampling.h"

static float *draw(uint64_t seed, int64_t n, nino_rng_kernel kernel)
{
    float *d = malloc((size_t) n * sizeof(*d));
    CHECK(d != NULL);
    nino_rng r;
    nino_rng_seed(&r, seed);
    r.kernel = kernel;
    nino_rng_randn(&r, d, n);
    return d;
}

static void check_equal(const char *what, const float *got, const float *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof(float)) != 0) {
            fprintf(stderr, "%s: value %lld is %.9g, expected %.9g\n", what, (long long) i, got[i],
                    want[i]);
            exit(1);
        }
}

// First values of seeds, as torch prints them.
static void check_known(void)
{
    static const float seed42[8] = { 1.9269152879714966f,   1.4872840642929077f,
                                     0.9007171988487244f,   -2.1055209636688232f,
                                     0.6784184575080872f,   -1.2345448732376099f,
                                     -0.04306747764348984f, -1.6046669483184814f };
    float *d = draw(42, 16384, NINO_RNG_AVX2);
    check_equal("seed 42", d, seed42, 8);
    float *e = draw(42 + ((uint64_t) 1 << 32), 16384, NINO_RNG_AVX2_UNFUSED);
    check_equal("seed 2^32 + 42, unfused", e, d, 16384);
    free(d);
    free(e);
    nino_rng r;
    nino_rng_seed(&r, 5489);
    uint32_t v = 0;
    for (int i = 0; i < 10000; i++)
        v = nino_rng_u32(&r);
    CHECK(v == 4123659995u); // of std::mt19937
}

// A fused multiply-add and its replacement must agree on every value, not only the first ones.
static void check_unfused(void)
{
    const int64_t n = 1 << 20;
    float *a = draw(3, n, NINO_RNG_AVX2), *b = draw(3, n, NINO_RNG_AVX2_UNFUSED);
    check_equal("unfused", b, a, n);
    free(a);
    free(b);
}

static void check_vectors(const char *data, const char *name, nino_rng_kernel kernel)
{
    nino_weights *w = test_open("%s/vectors/%s", data, name);
    int n_checked = 0;
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        unsigned long long seed;
        int n, used = 0;
        if (sscanf(t->name, "seed%llu_n%d%n", &seed, &n, &used) != 2 || t->name[used])
            continue;
        nino_array *want = test_tensor(w, t->name, false);
        float *d = draw(seed, n, kernel);
        check_equal(t->name, d, nino_array_f32(want), n);
        free(d);
        nino_array_unref(&want);
        n_checked++;
    }
    CHECK(n_checked > 0);
    nino_weights_unref(&w);
}

// The start noise of whole pipelines.
static void check_pipeline(const char *data, const char *file, const char *tensor, uint64_t seed)
{
    nino_weights *w = test_open("%s/e2e/expected/%s", data, file);
    nino_array *want = test_tensor(w, tensor, false);
    const int64_t n = nino_shape_count(&want->shape);
    float *d = draw(seed, n, NINO_RNG_AVX2);
    check_equal(tensor, d, nino_array_f32(want), n);
    free(d);
    nino_array_unref(&want);
    nino_weights_unref(&w);
}

// first8, last8, mean and std of large draws
static void check_large(const char *folder, const char *name, nino_rng_kernel kernel)
{
    nino_json_doc *doc = test_json(folder, name);
    for (const nino_json *v = doc->root->child; v; v = v->next) {
        unsigned long long seed;
        long long d[5] = { 1, 1, 1, 1, 1 };
        CHECK(sscanf(v->key, "seed%llu_%lldx%lldx%lldx%lldx%lld", &seed, d, d + 1, d + 2, d + 3,
                     d + 4) >= 5);
        const int64_t n = d[0] * d[1] * d[2] * d[3] * d[4];
        float *x = draw(seed, n, kernel);
        for (uint32_t i = 0; i < 8; i++) {
            CHECK(x[i] == (float) test_number(nino_json_at(nino_json_get(v, "first8"), i)));
            CHECK(x[n - 8 + i] == (float) test_number(nino_json_at(nino_json_get(v, "last8"), i)));
        }
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < n; i++)
            sum += x[i];
        for (int64_t i = 0; i < n; i++)
            squares += (x[i] - sum / (double) n) * (x[i] - sum / (double) n);
        CHECK(test_is_near(sum / (double) n, test_number(nino_json_get(v, "mean")), 1e-6));
        CHECK(test_is_near(sqrt(squares / (double) (n - 1)), test_number(nino_json_get(v, "std")),
                           1e-6));
        free(x);
    }
    nino_json_doc_destroy(&doc);
}

static void check_batch(void)
{
    enum { item = 48 };
    float one[5][item], got[3 * item];
    nino_rng r;
    nino_rng_seed(&r, 77);
    for (int i = 0; i < 5; i++)
        nino_rng_randn(&r, one[i], item);
    nino_noise_fill(77, got, 3, item, (const int64_t[]){ 4, 1, 4 });
    check_equal("batch_index 4", got, one[4], item);
    check_equal("batch_index 1", got + item, one[1], item);
    check_equal("batch_index 4 again", got + 2 * item, one[4], item);
    nino_noise_fill(77, got, 3, item, (const int64_t[]){ 0, 1, 2 });
    check_equal("batch_index 0 1 2", got, one[0], 3 * item);
    float *all = draw(77, 3 * item, NINO_RNG_AVX2);
    nino_noise_fill(77, got, 3, item, NULL);
    check_equal("whole batch", got, all, 3 * item);
    free(all);
}

static void check_seed_sequence(void)
{
    // numpy: SeedSequence(1), SeedSequence(12345), SeedSequence(2**40, spawn_key=(3, 1))
    uint32_t s[4];
    nino_seed_sequence(0, NULL, 0, 4, s, 2);
    CHECK(s[0] == 2968811710u && s[1] == 3677149159u);
}

static void check_brownian(const char *data)
{
    nino_error err = { 0 };
    nino_weights *w = test_open("%s/vectors/brownian_seed12345.safetensors", data);
    nino_array *pairs = test_tensor(w, "sigma_pairs", false);
    const float *p = nino_array_f32(pairs);
    nino_brownian *b = NULL;
    CHECK_OK(nino_brownian_create(p[9], p[0], 256, 12345, &b, &err), err);
    int n_exact = 0;
    for (int i = 4; i >= 0; i--) { // not in the order they were made in
        char name[16];
        float got[256];
        snprintf(name, sizeof(name), "noise_%d", i);
        nino_array *want = test_tensor(w, name, false);
        CHECK_OK(nino_brownian_noise(b, p[2 * i], p[2 * i + 1], got, &err), err);
        for (int k = 0; k < 256; k++) {
            CHECK(fabs(got[k] - nino_array_f32(want)[k]) <= 1e-6);
            n_exact += got[k] == nino_array_f32(want)[k];
        }
        nino_array_unref(&want);
    }
    printf("  Brownian tree: %d of 1280 values bit-equal\n", n_exact);
    nino_brownian_destroy(&b);
    nino_array_unref(&pairs);
    nino_weights_unref(&w);
}

int main(void)
{
    check_known();
    check_unfused();
    check_batch();
    check_seed_sequence();
    for (const char *data = NULL; (data = test_data_next(data));) {
        char folder[400];
        printf("%s\n", data);
        snprintf(folder, sizeof(folder), "%s/vectors", data);
        check_vectors(data, "randn_avx2.safetensors", NINO_RNG_AVX2);
        check_vectors(data, "randn_scalar.safetensors", NINO_RNG_SCALAR);
        check_large(folder, "randn_avx2.json", NINO_RNG_AVX2);
        check_large(folder, "randn_scalar.json", NINO_RNG_SCALAR);
        check_brownian(data);
        if (test_data_is_own(data))
            continue; // its pipelines are drawn like the vectors
        check_pipeline(data, "sd15_tiny_ref.safetensors", "euler/noise", 42);
        check_pipeline(data, "flux_tiny_ref.safetensors", "bf16/noise", 7);
        check_pipeline(data, "wan_tiny_ref.safetensors", "euler/noise", 123);
    }
    return 0;
}
