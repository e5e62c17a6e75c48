// Which kind of change the tensors of a LoRA's layer are, whether they fit each other and how large
// the change is, what alpha is divided by, and the product that all kinds are made with.
#include "core/model/lora/lora_math.h"
#include "tests/lora.h"

static nino_error err;
static test_dir dir;

typedef struct part { // one tensor of a layer; no dimensions end the list
    lora_role role;
    int64_t dim[6]; // 0 ends
} part;

enum { MAX_PARTS = 8 };

static lora_layer layer_of(const part *p, nino_tensor_info info[MAX_PARTS])
{
    lora_layer l = { .name = "l", .name_len = 1 };
    for (int i = 0; i < MAX_PARTS && p[i].dim[0]; i++) {
        info[i] = (nino_tensor_info){ .name = "t", .bytes = 4 };
        for (; info[i].rank < 6 && p[i].dim[info[i].rank]; info[i].rank++)
            info[i].dim[info[i].rank] = p[i].dim[info[i].rank];
        l.t[p[i].role] = &info[i];
    }
    return l;
}

#define KRON(role) LORA_KRON_##role
#define GLORA(a1, a2, b1, b2)                                                                      \
    {                                                                                              \
        { LORA_GLORA_A1, a1 }, { LORA_GLORA_A2, a2 }, { LORA_GLORA_B1, b1 }, { LORA_GLORA_B2, b2 } \
    }
#define D(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

// rows 0: they do not fit.
static const struct {
    lora_kind kind;
    int64_t rows, cols;
    part part[MAX_PARTS];
} sizes[] = {
    { LORA_KIND_LOW_RANK, 6, 8, { { LORA_UP, { 6, 2 } }, { LORA_DOWN, { 2, 8 } } } },
    { LORA_KIND_LOW_RANK, 6, 72, { { LORA_UP, { 6, 2, 1, 1 } }, { LORA_DOWN, { 2, 8, 3, 3 } } } },
    { LORA_KIND_LOW_RANK, 0, 0, { { LORA_UP, { 6, 2 } }, { LORA_DOWN, { 3, 8 } } } },
    { LORA_KIND_LOW_RANK, 0, 0, { { LORA_UP, { 6 } }, { LORA_DOWN, { 1, 8 } } } },
    { LORA_KIND_LOW_RANK, 0, 0, { { LORA_UP, { 6, 1 } }, { LORA_DOWN, { 1 } } } },
    { LORA_KIND_LOW_RANK, 0, 0, { { LORA_UP, { 6, 2 } } } },
    { LORA_KIND_LOW_RANK, 0, 0, { { LORA_DOWN, { 2, 8 } } } },
    { LORA_KIND_LOW_RANK,
      6,
      72,
      { { LORA_UP, { 6, 2 } }, { LORA_MID, { 2, 3, 3, 3 } }, { LORA_DOWN, { 3, 8 } } } },
    { LORA_KIND_LOW_RANK,
      6,
      8,
      { { LORA_UP, { 6, 2 } }, { LORA_MID, { 2, 3 } }, { LORA_DOWN, { 3, 8 } } } },
    { LORA_KIND_LOW_RANK,
      0,
      0,
      { { LORA_UP, { 6, 2 } }, { LORA_MID, { 3, 3 } }, { LORA_DOWN, { 3, 8 } } } },
    { LORA_KIND_LOW_RANK,
      0,
      0,
      { { LORA_UP, { 6, 2 } }, { LORA_MID, { 2, 2 } }, { LORA_DOWN, { 3, 8 } } } },
    { LORA_KIND_LOW_RANK,
      0,
      0,
      { { LORA_UP, { 6, 2 } }, { LORA_MID, { 2 } }, { LORA_DOWN, { 3, 8 } } } },
    { LORA_KIND_HADAMARD,
      6,
      8,
      { { LORA_HADA_W1A, { 6, 2 } },
        { LORA_HADA_W1B, { 2, 8 } },
        { LORA_HADA_W2A, { 6, 3 } },
        { LORA_HADA_W2B, { 3, 8 } } } },
    { LORA_KIND_HADAMARD, // other rows
      0,
      0,
      { { LORA_HADA_W1A, { 6, 2 } },
        { LORA_HADA_W1B, { 2, 8 } },
        { LORA_HADA_W2A, { 5, 2 } },
        { LORA_HADA_W2B, { 2, 8 } } } },
    { LORA_KIND_HADAMARD, // other columns
      0,
      0,
      { { LORA_HADA_W1A, { 6, 2 } },
        { LORA_HADA_W1B, { 2, 8 } },
        { LORA_HADA_W2A, { 6, 2 } },
        { LORA_HADA_W2B, { 2, 9 } } } },
    { LORA_KIND_HADAMARD, // the second does not fit itself
      0,
      0,
      { { LORA_HADA_W1A, { 6, 2 } },
        { LORA_HADA_W1B, { 2, 8 } },
        { LORA_HADA_W2A, { 6, 2 } },
        { LORA_HADA_W2B, { 3, 8 } } } },
    { LORA_KIND_HADAMARD, // three dimensions
      0,
      0,
      { { LORA_HADA_W1A, { 6, 2, 1 } },
        { LORA_HADA_W1B, { 2, 8 } },
        { LORA_HADA_W2A, { 6, 2 } },
        { LORA_HADA_W2B, { 2, 8 } } } },
    { LORA_KIND_HADAMARD,
      6,
      72,
      { { LORA_HADA_W1A, { 2, 6 } },
        { LORA_HADA_W1B, { 3, 8 } },
        { LORA_HADA_T1, { 2, 3, 3, 3 } },
        { LORA_HADA_W2A, { 2, 6 } },
        { LORA_HADA_W2B, { 3, 8 } },
        { LORA_HADA_T2, { 2, 3, 3, 3 } } } },
    { LORA_KIND_HADAMARD, // one core
      0,
      0,
      { { LORA_HADA_W1A, { 6, 6 } },
        { LORA_HADA_W1B, { 6, 8 } },
        { LORA_HADA_T1, { 6, 6 } },
        { LORA_HADA_W2A, { 6, 6 } },
        { LORA_HADA_W2B, { 6, 8 } } } },
    { LORA_KIND_HADAMARD, // a core of other rows than the first factor
      0,
      0,
      { { LORA_HADA_W1A, { 2, 6 } },
        { LORA_HADA_W1B, { 3, 8 } },
        { LORA_HADA_T1, { 3, 3 } },
        { LORA_HADA_W2A, { 2, 6 } },
        { LORA_HADA_W2B, { 3, 8 } },
        { LORA_HADA_T2, { 2, 3 } } } },
    { LORA_KIND_HADAMARD, // a core of other columns than the second factor has rows
      0,
      0,
      { { LORA_HADA_W1A, { 2, 6 } },
        { LORA_HADA_W1B, { 3, 8 } },
        { LORA_HADA_T1, { 2, 2 } },
        { LORA_HADA_W2A, { 2, 6 } },
        { LORA_HADA_W2B, { 3, 8 } },
        { LORA_HADA_T2, { 2, 3 } } } },
    { LORA_KIND_KRON, 6, 8, { { KRON(W1), { 2, 4 } }, { KRON(W2), { 3, 2 } } } },
    { LORA_KIND_KRON, 6, 72, { { KRON(W1), { 2, 4 } }, { KRON(W2), { 3, 2, 3, 3 } } } },
    { LORA_KIND_KRON, 0, 0, { { KRON(W1), { 2, 4, 1 } }, { KRON(W2), { 3, 2 } } } },
    { LORA_KIND_KRON, 0, 0, { { KRON(W1), { 2, 4 } }, { KRON(W2), { 3 } } } },
    { LORA_KIND_KRON, 0, 0, { { KRON(W1), { 2, 4 } } } },
    { LORA_KIND_KRON, 0, 0, { { KRON(W2), { 2, 4 } } } },
    { LORA_KIND_KRON,
      6,
      10,
      { { KRON(W1A), { 2, 3 } }, { KRON(W1B), { 3, 5 } }, { KRON(W2), { 3, 2 } } } },
    { LORA_KIND_KRON,
      0,
      0,
      { { KRON(W1A), { 2, 3 } }, { KRON(W1B), { 2, 5 } }, { KRON(W2), { 3, 2 } } } },
    { LORA_KIND_KRON,
      14,
      20,
      { { KRON(W1), { 2, 4 } }, { KRON(W2A), { 7, 3 } }, { KRON(W2B), { 3, 5 } } } },
    { LORA_KIND_KRON,
      14,
      180,
      { { KRON(W1), { 2, 4 } },
        { KRON(W2A), { 3, 7 } },
        { KRON(W2B), { 2, 5 } },
        { KRON(T2), { 3, 2, 3, 3 } } } },
    { LORA_KIND_DIFF, 6, 72, { { LORA_DIFF, { 6, 8, 3, 3 } } } },
    { LORA_KIND_SET, 5, 1, { { LORA_SET, { 5 } }, { LORA_DIFF, { 6, 8 } } } },
    { LORA_KIND_DIFF, 0, 0, { { LORA_DIFF, { 6, 8, 1, 1, 1, 1 } } } }, // of more than can be used
    { LORA_KIND_GLORA, 6, 8, GLORA(D(8, 2), D(2, 8), D(6, 3), D(3, 8)) },
    { LORA_KIND_GLORA, 6, 8, GLORA(D(2, 8), D(8, 2), D(3, 8), D(6, 3)) }, // of former times
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(3, 8), D(6, 3), D(3, 8)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(2, 9), D(6, 3), D(3, 8)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(2, 8), D(6, 3), D(4, 8)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(2, 8), D(6, 3), D(3, 7)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2, 1), D(2, 8), D(6, 3), D(3, 8)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(2, 8, 1), D(6, 3), D(3, 8)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(2, 8), D(6, 3, 1), D(3, 8)) },
    { LORA_KIND_GLORA, 0, 0, GLORA(D(8, 2), D(2, 8), D(6, 3), D(3, 8, 1)) },
    { LORA_KIND_GLORA, 0, 0, { { LORA_GLORA_A1, { 8, 2 } } } },
    { LORA_KIND_GLORA,
      0,
      0,
      { { LORA_GLORA_A1, { 8, 2 } }, { LORA_GLORA_A2, { 2, 8 } }, { LORA_GLORA_B1, { 6, 2 } } } },
    { LORA_KIND_OFT, 6, 0, { { LORA_OFT_BLOCKS, { 2, 3, 3 } } } },
    { LORA_KIND_OFT, 0, 0, { { LORA_OFT_BLOCKS, { 2, 3, 4 } } } },
    { LORA_KIND_OFT, 0, 0, { { LORA_OFT_BLOCKS, { 3, 3 } } } },
    { LORA_KIND_BOFT, 16, 0, { { LORA_OFT_BLOCKS, { 3, 4, 4, 4 } } } }, // 16 rows in pairs of 2
    { LORA_KIND_BOFT, 0, 0, { { LORA_OFT_BLOCKS, { 4, 4, 4, 4 } } } },  // of 32 rows there are 16
    { LORA_KIND_BOFT, 0, 0, { { LORA_OFT_BLOCKS, { 2, 3, 4, 4 } } } },
    { LORA_KIND_BOFT, 0, 0, { { LORA_OFT_BLOCKS, { 1, 2, 3, 3 } } } },
    { LORA_KIND_BOFT, 0, 0, { { LORA_OFT_BLOCKS, { 1, 2, 4, 2 } } } },
    { LORA_KIND_BOFT, 0, 0, { { LORA_OFT_BLOCKS, { 32, 2, 2, 2 } } } },
};

static void check_sizes(void)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        nino_tensor_info info[MAX_PARTS];
        const lora_layer l = layer_of(sizes[i].part, info);
        int64_t rows = -1, cols = -1;
        const bool fits = lora_size_of(&l, sizes[i].kind, &rows, &cols);
        if (fits != (sizes[i].rows > 0) ||
            (fits && (rows != sizes[i].rows || cols != sizes[i].cols))) {
            fprintf(stderr, "case %d of sizes: %d, %lld x %lld\n", (int) i, fits, (long long) rows,
                    (long long) cols);
            exit(1);
        }
        for (int k = 0; k < MAX_PARTS && fits && sizes[i].part[k].dim[0]; k++) {
            info[k].bytes = 0; // nothing is there to be read
            CHECK(!lora_size_of(&l, sizes[i].kind, &rows, &cols));
            info[k].bytes = 4;
        }
    }
}

// What a layer is that has tensors of several kinds.
static void check_kinds(void)
{
    static const struct {
        lora_kind kind;
        part part[MAX_PARTS];
    } t[] = {
        { LORA_KIND_NONE, { { LORA_ALPHA, { 1 } } } },
        { LORA_KIND_NONE, { { LORA_UP, { 2, 2 } } } },
        { LORA_KIND_NONE, { { LORA_DOWN, { 2, 2 } } } },
        { LORA_KIND_NONE, { { LORA_DIFF_B, { 2 } } } },
        { LORA_KIND_LOW_RANK, { { LORA_UP, { 2, 2 } }, { LORA_DOWN, { 2, 2 } } } },
        { LORA_KIND_HADAMARD,
          { { LORA_HADA_W1A, { 2, 2 } }, { LORA_UP, { 2, 2 } }, { LORA_DOWN, { 2, 2 } } } },
        { LORA_KIND_KRON, { { KRON(W1), { 2, 2 } }, { LORA_HADA_W1A, { 2, 2 } } } },
        { LORA_KIND_KRON, { { KRON(W2), { 2, 2 } }, { LORA_HADA_W1A, { 2, 2 } } } },
        { LORA_KIND_KRON, { { KRON(W1A), { 2, 2 } }, { LORA_HADA_W1A, { 2, 2 } } } },
        { LORA_KIND_KRON, { { KRON(W2A), { 2, 2 } }, { LORA_HADA_W1A, { 2, 2 } } } },
        { LORA_KIND_GLORA, { { LORA_GLORA_A1, { 2, 2 } }, { KRON(W1), { 2, 2 } } } },
        { LORA_KIND_OFT, { { LORA_OFT_BLOCKS, { 2, 2, 2 } }, { LORA_GLORA_A1, { 2, 2 } } } },
        { LORA_KIND_BOFT, { { LORA_OFT_BLOCKS, { 2, 2, 2, 2 } }, { LORA_GLORA_A1, { 2, 2 } } } },
        { LORA_KIND_DIFF, { { LORA_DIFF, { 2, 2 } }, { LORA_OFT_BLOCKS, { 2, 2, 2 } } } },
        { LORA_KIND_SET, { { LORA_SET, { 2, 2 } }, { LORA_DIFF, { 2, 2 } } } },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_tensor_info info[MAX_PARTS];
        const lora_layer l = layer_of(t[i].part, info);
        CHECK(lora_kind_of(&l) == t[i].kind);
    }
}

// Where the factors of GLoRA fit each other in both orders, the rank is the smaller side.
static void check_order(void)
{
    static const struct {
        bool is_old;
        part part[MAX_PARTS];
    } t[] = {
        { false, GLORA(D(8, 2), D(2, 8), D(8, 2), D(2, 8)) },
        { true, GLORA(D(2, 8), D(8, 2), D(2, 8), D(8, 2)) },
        { true, GLORA(D(8, 8), D(8, 8), D(8, 8), D(8, 8)) },
        { false, GLORA(D(8, 2), D(2, 8), D(6, 2), D(2, 8)) },
        { true, GLORA(D(2, 8), D(8, 2), D(2, 8), D(6, 2)) },
        { true, GLORA(D(9, 8), D(8, 9), D(9, 8), D(6, 9)) }, // a rank of 9 of 8: it fits no other
        { false, { { LORA_GLORA_A1, { 8, 2 } } } },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_tensor_info info[MAX_PARTS];
        const lora_layer l = layer_of(t[i].part, info);
        CHECK(lora_glora_is_old(&l) == t[i].is_old);
    }
}

// alpha over the rank of each kind.
static void check_scales(void)
{
    static const struct {
        lora_kind kind;
        float scale;
        part part[MAX_PARTS];
    } t[] = {
        { LORA_KIND_LOW_RANK, 6.0f / 4, { { LORA_UP, { 5, 3 } }, { LORA_DOWN, { 4, 7 } } } },
        { LORA_KIND_HADAMARD,
          6.0f / 3,
          { { LORA_HADA_W1A, { 5, 2 } },
            { LORA_HADA_W1B, { 3, 7 } },
            { LORA_HADA_W2A, { 9, 10 } },
            { LORA_HADA_W2B, { 8, 7 } } } },
        { LORA_KIND_KRON, 1, { { KRON(W1), { 2, 3 } }, { KRON(W2), { 4, 5 } } } },
        { LORA_KIND_KRON,
          6.0f / 5,
          { { KRON(W1), { 2, 3 } }, { KRON(W2A), { 4, 7 } }, { KRON(W2B), { 5, 8 } } } },
        { LORA_KIND_KRON,
          6.0f / 5,
          { { KRON(W1A), { 4, 7 } }, { KRON(W1B), { 5, 8 } }, { KRON(W2), { 2, 3 } } } },
        { LORA_KIND_KRON, // of two the second's
          6.0f / 3,
          { { KRON(W1A), { 4, 7 } },
            { KRON(W1B), { 5, 8 } },
            { KRON(W2A), { 4, 9 } },
            { KRON(W2B), { 3, 8 } } } },
        { LORA_KIND_GLORA, 6.0f / 2, GLORA(D(8, 2), D(2, 8), D(6, 3), D(3, 8)) },
        { LORA_KIND_GLORA, 6.0f / 2, GLORA(D(2, 8), D(8, 2), D(3, 8), D(6, 3)) },
        { LORA_KIND_DIFF, 1, { { LORA_DIFF, { 2, 2 } } } },
        { LORA_KIND_OFT, 1, { { LORA_OFT_BLOCKS, { 2, 2, 2 } } } },
    };
    lora_made m = { .seed = 3 };
    lora_number(&m, "alpha", 6);
    lora_tensor(&m, "two", NINO_SHAPE(2));
    nino_weights *file = lora_save(&m, &dir, "alpha");
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_tensor_info info[MAX_PARTS];
        lora_layer l = layer_of(t[i].part, info);
        float scale = -1;
        CHECK_OK(lora_scale_of(file, &l, t[i].kind, &scale, &err), err);
        CHECK(scale == 1);
        l.t[LORA_ALPHA] = nino_weights_find(file, "two"); // is no alpha
        CHECK_OK(lora_scale_of(file, &l, t[i].kind, &scale, &err), err);
        CHECK(scale == 1);
        l.t[LORA_ALPHA] = nino_weights_find(file, "alpha");
        CHECK_OK(lora_scale_of(file, &l, t[i].kind, &scale, &err), err);
        CHECK(scale == t[i].scale);
    }
    nino_weights_unref(&file);
    lora_forget(&m);
}

// Sums of whole numbers are exact; what stands before and behind the rows stays.
static void check_product(int64_t n, int64_t r, int64_t m)
{
    enum { SPARE = 40 };
    float *a = malloc((size_t) (n * r) * sizeof(*a)), *b = malloc((size_t) (r * m) * sizeof(*b));
    float *all = malloc((size_t) (n * m + 2 * SPARE) * sizeof(*all)), *out = all + SPARE;
    CHECK(a && b && all);
    for (int64_t i = 0; i < n * r; i++)
        a[i] = (float) (i * 7 % 11 - 5);
    for (int64_t i = 0; i < r * m; i++)
        b[i] = (float) (i * 5 % 13 - 6);
    for (int64_t i = 0; i < n * m + 2 * SPARE; i++)
        all[i] = (float) (i % 3);
    lora_multiply(a, b, n, r, m, out);
    for (int64_t i = -SPARE; i < n * m + SPARE; i++) {
        float want = (float) ((i + SPARE) % 3);
        for (int64_t k = 0; i >= 0 && i < n * m && k < r; k++)
            want += a[i / m * r + k] * b[k * m + i % m];
        CHECK(out[i] == want);
    }
    free(a);
    free(b);
    free(all);
}

int main(void)
{
    static const int64_t rows[] = { 1, 2, 5 }, ranks[] = { 1, 3, 63, 64, 65, 130 };
    static const int64_t cols[] = { 1, 15, 16, 17, 32, 50 };
    dir = test_dir_create();
    check_sizes();
    check_kinds();
    check_order();
    check_scales();
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 6; k++)
            for (int j = 0; j < 6; j++)
                check_product(rows[i], ranks[k], cols[j]);
    test_dir_remove(&dir, (const char *const[]){ "alpha", NULL });
    return 0;
}
