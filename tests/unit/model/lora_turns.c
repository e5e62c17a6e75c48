// LoRAs that need more of the weight than the rows they change, against what is computed here
// another way: rotations of blocks of any size, held back by alpha, over weights that are read in
// several pieces; GLoRA of unequal ranks; magnitudes (DoRA) of wide weights, of rows and columns of
// zeros, and of too few rows; weights that a file scales.
#include <float.h>

#include "tests/lora.h"

enum { N = 8, C = 12, WIDE = 40000, R = 2 }; // 2^18 values are read at a time

static nino_error err;
static test_dir dir;
static nino_weights *net;
static const float *small, *wide; // w.weight [N,C], wide.weight [N,WIDE]
static lora_made base;

static void make_net(void)
{
    base.seed = 1;
    small = lora_tensor(&base, "w.weight", NINO_SHAPE(N, C));
    wide = lora_tensor(&base, "wide.weight", NINO_SHAPE(N, WIDE));
    float *zero = nino_array_f32(base.e[0].array), *column = nino_array_f32(base.e[1].array);
    for (int j = 0; j < C; j++)
        zero[3 * C + j] = 0;
    for (int i = 0; i < N; i++)
        column[i * WIDE + 7] = 0;
    net = lora_save(&base, &dir, "net");
}

static nino_weights *patched(lora_made *m, double strength)
{
    nino_weights *view = NULL, *file = lora_save(m, &dir, "lora");
    lora_map map = { 0 };
    nino_lora *l;
    lora_map_add(&map, net, "w.weight", "", "w", 0, 0, 0);
    lora_map_add(&map, net, "w.weight", "", "part", 2, 3, 1);
    lora_map_add(&map, net, "wide.weight", "", "wide", 0, 0, 0);
    CHECK_OK(lora_map_finish(&map, "test", &err), err);
    CHECK_OK(nino_lora_open(file, "lora", &l, &err), err);
    nino_lora_stack *s = lora_stack_push(NULL, l, strength);
    CHECK(s);
    CHECK_OK(lora_view(net, &map, s, LORA_TO_STORE, &view, &err), err);
    nino_lora_stack_unref(&s);
    nino_lora_unref(&l);
    lora_map_release(&map);
    nino_weights_unref(&file);
    return view;
}

// All of it, one row and the last three.
static void check_weight(nino_weights *view, const char *name, const double *want, const char *what)
{
    static const int pieces[][2] = { { 0, N }, { 2, 1 }, { N - 3, 3 } };
    const nino_tensor_info *t = nino_weights_find(view, name);
    const int64_t cols = t->dim[1];
    float *got = malloc((size_t) (N * cols) * sizeof(*got));
    for (int i = 0; i < 3; i++) {
        const int64_t from = pieces[i][0] * cols;
        CHECK_OK(nino_weights_read_rows_f32(view, t, pieces[i][0], pieces[i][1], got, &err), err);
        for (int64_t k = 0; k < pieces[i][1] * cols; k++)
            if (!(fabs((double) got[k] - want[from + k]) <= 1e-4 * (1 + fabs(want[from + k])))) {
                fprintf(stderr, "%s: value %d of piece %d is %g, not %g\n", what, (int) k, i,
                        (double) got[k], want[from + k]);
                exit(1);
            }
    }
    free(got);
}

static void check_change(lora_made *m, double strength, const char *name, const double *want,
                         const char *what)
{
    nino_weights *view = patched(m, strength);
    CHECK(view != net);
    check_weight(view, name, want, what);
    nino_weights_unref(&view);
    lora_forget(m);
}

// ---- rotations -------------------------------------------------------------------------------

// The norm of b - b^T over all blocks decides how much of it counts.
static double held_back(const float *b, int blocks, int n, double alpha)
{
    double sum = 0;
    for (int k = 0; k < blocks; k++, b += n * n)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                sum += pow((double) b[i * n + j] - (double) b[j * n + i], 2);
    return alpha > 0 && sqrt(sum) > alpha ? alpha / sqrt(sum) : 1;
}

// r of (I + q) r^T = I - q, without pivots: the symmetric part of I + q is positive.
static void turn_of(const float *b, double f, int n, double *r)
{
    double m[8][16];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double q = f * ((double) b[i * n + j] - (double) b[j * n + i]);
            m[i][j] = (i == j) + q;
            m[i][n + j] = (i == j) - q;
        }
    for (int c = 0; c < n; c++)
        for (int i = 0; i < n; i++) {
            const double g = m[i][c] / m[c][c];
            for (int j = 0; i != c && j < 2 * n; j++)
                m[i][j] -= g * m[c][j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            r[j * n + i] = m[i][n + j] / m[i][i];
}

static void check_oft(const char *layer, const float *w, int cols, int n, float alpha)
{
    const double strength = 0.75;
    double *want = malloc(sizeof(*want) * N * (size_t) cols), r[64];
    lora_made m = { .seed = 70 + (uint64_t) n };
    const float *blocks =
        lora_tensor(&m, nino_name_of("%s.oft_blocks", layer).s, NINO_SHAPE(N / n, n, n));
    const double f = held_back(blocks, N / n, n, (double) alpha);
    CHECK((f < 1) == (alpha > 0 && alpha < 10));
    lora_number(&m, nino_name_of("%s.alpha", layer).s, alpha);
    for (int k = 0; k < N / n; k++) {
        turn_of(blocks + k * n * n, f, n, r);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < cols; j++) {
                double sum = 0;
                for (int o = 0; o < n; o++)
                    sum += (r[o * n + i] - (o == i)) * (double) w[(k * n + o) * cols + j];
                want[(k * n + i) * cols + j] =
                    (double) w[(k * n + i) * cols + j] + strength * strength * sum;
            }
    }
    check_change(&m, strength, nino_name_of("%s.weight", layer).s, want, "OFT");
    free(want);
}

// Two stages with blocks of four: halves of 2 rows are paired with those beside them, then with
// those twice as far. In every stage position (c,k,g) is row (c,g,k), as in LyCORIS.
static void check_boft(float alpha, int n_scales)
{
    enum { B = 4, BLOCKS = N / B };
    double x[N * C], y[N * C], r[B * B];
    const double strength = 0.6;
    lora_made m = { .seed = 80 };
    const float *blocks = lora_tensor(&m, "w.oft_blocks", NINO_SHAPE(2, BLOCKS, B, B)),
                *scale = NULL;
    const double f = held_back(blocks, 2 * BLOCKS, B, (double) alpha);
    CHECK((f < 1) == (alpha > 0 && alpha < 10));
    lora_number(&m, "w.alpha", alpha);
    if (n_scales)
        scale = lora_tensor(&m, "w.rescale", NINO_SHAPE(n_scales, 1));
    for (int i = 0; i < N * C; i++)
        x[i] = (double) small[i];
    for (int stage = 0; stage < 2; stage++) {
        int row[N];
        const int half = B / 2 << stage;
        for (int p = 0; p < N; p++)
            row[p] = p / (2 * half) * 2 * half + p % 2 * half + p % (2 * half) / 2;
        for (int b = 0; b < BLOCKS; b++) {
            turn_of(blocks + (stage * BLOCKS + b) * B * B, f, B, r);
            for (int i = 0; i < B; i++)
                for (int j = 0; j < C; j++) {
                    double sum = 0;
                    for (int k = 0; k < B; k++)
                        sum += (strength * r[i * B + k] + (1 - strength) * (i == k)) *
                               x[row[b * B + k] * C + j];
                    y[row[b * B + i] * C + j] = sum;
                }
        }
        memcpy(x, y, sizeof(x));
    }
    for (int i = 0; i < N * C; i++) {
        const double turned = x[i] * (scale ? (double) scale[i / C % n_scales] : 1);
        x[i] = (double) small[i] + strength * (turned - (double) small[i]);
    }
    check_change(&m, strength, "w.weight", x, "BOFT");
}

// ---- products with the weight ----------------------------------------------------------------

static void add_product(const float *a, const float *b, int r, int cols, double *to)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < r; k++)
            for (int j = 0; j < cols; j++)
                to[i * cols + j] += (double) a[i * r + k] * (double) b[k * cols + j];
}

// (W A1) A2 + B1 B2 into d.
static void glora(lora_made *m, const char *layer, const float *w, int cols, int ra, int rb,
                  double *d)
{
    const float *a1 = lora_tensor(m, nino_name_of("%s.a1.weight", layer).s, NINO_SHAPE(cols, ra));
    const float *a2 = lora_tensor(m, nino_name_of("%s.a2.weight", layer).s, NINO_SHAPE(ra, cols));
    const float *b1 = lora_tensor(m, nino_name_of("%s.b1.weight", layer).s, NINO_SHAPE(N, rb));
    const float *b2 = lora_tensor(m, nino_name_of("%s.b2.weight", layer).s, NINO_SHAPE(rb, cols));
    float *wa = calloc((size_t) (N * ra), sizeof(*wa));
    for (int i = 0; i < N * ra; i++) {
        double sum = 0;
        for (int j = 0; j < cols; j++)
            sum += (double) w[i / ra * cols + j] * (double) a1[j * ra + i % ra];
        wa[i] = (float) sum;
    }
    memset(d, 0, (size_t) (N * cols) * sizeof(*d));
    add_product(wa, a2, ra, cols, d);
    add_product(b1, b2, rb, cols, d);
    free(wa);
}

static void check_glora(int ra, int rb)
{
    double d[N * C];
    lora_made m = { .seed = 60 };
    glora(&m, "w", small, C, ra, rb, d);
    for (int i = 0; i < N * C; i++)
        d[i] = (double) small[i] - 0.5 * d[i];
    check_change(&m, -0.5, "w.weight", d, "GLoRA of unequal ranks");
}

// Magnitudes of the input channels of a weight that is not read at once. A channel without length
// stays without.
static void check_channels(bool is_glora)
{
    const double strength = 0.75;
    double *d = calloc((size_t) N * WIDE, sizeof(*d));
    lora_made m = { .seed = 50 };
    if (is_glora) {
        glora(&m, "wide", wide, WIDE, 1, 2, d);
        float *w = nino_array_f32(m.e[1].array), *b = nino_array_f32(m.e[3].array);
        w[7] = b[7] = b[WIDE + 7] = 0;
    } else {
        const float *up = lora_tensor(&m, "wide.lora_up.weight", NINO_SHAPE(N, R));
        const float *down = lora_tensor(&m, "wide.lora_down.weight", NINO_SHAPE(R, WIDE));
        nino_array_f32(m.e[1].array)[7] = nino_array_f32(m.e[1].array)[WIDE + 7] = 0;
        add_product(up, down, R, WIDE, d);
    }
    const float *mag = lora_tensor(&m, "wide.dora_scale", NINO_SHAPE(1, WIDE));
    for (int j = 0; j < WIDE; j++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += j == 7 ? 0 : pow((double) wide[i * WIDE + j] + d[i * WIDE + j], 2);
        for (int i = 0; i < N; i++) {
            const double v = (double) wide[i * WIDE + j], turned = v + d[i * WIDE + j];
            d[i * WIDE + j] =
                j == 7 ? 0 : v + strength * (turned * (double) mag[j] / sqrt(sum) - v);
        }
    }
    check_change(&m, strength, "wide.weight", d, "DoRA of a wide weight");
    free(d);
}

// A row without length takes its magnitude over the smallest there is.
static void check_zero_row(void)
{
    double d[N * C] = { 0 };
    lora_made m = { .seed = 51 };
    const float *up = lora_tensor(&m, "w.lora_up.weight", NINO_SHAPE(N, R));
    const float *down = lora_tensor(&m, "w.lora_down.weight", NINO_SHAPE(R, C));
    const float *mag = lora_tensor(&m, "w.dora_scale", NINO_SHAPE(N, 1));
    add_product(up, down, R, C, d);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < C; j++)
            sum += (double) small[i * C + j] * (double) small[i * C + j];
        for (int j = 0; j < C; j++)
            d[i * C + j] = ((double) small[i * C + j] + d[i * C + j]) * (double) mag[i] /
                           (sqrt(sum) + (double) FLT_EPSILON);
    }
    check_change(&m, 1, "w.weight", d, "DoRA of a row of zeros");
}

// Rows 2 to 4 of the weight are rows 1 to 3 of the layer, whose magnitudes are as many as it has
// rows; of fewer none is known to be theirs.
static void check_part(void)
{
    for (int rows = 3; rows <= 5; rows++) {
        double want[N * C];
        lora_made m = { .seed = 52 };
        const float *up = lora_tensor(&m, "part.lora_up.weight", NINO_SHAPE(4, R));
        const float *down = lora_tensor(&m, "part.lora_down.weight", NINO_SHAPE(R, C));
        const float *mag = lora_tensor(&m, "part.dora_scale", NINO_SHAPE(rows, 1));
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < C; j++)
                sum += (double) small[i * C + j] * (double) small[i * C + j];
            for (int j = 0; j < C; j++) {
                const int from = i - 1;
                double v = want[i * C + j] = (double) small[i * C + j];
                for (int k = 0; k < R && i >= 2 && i < 5; k++)
                    v += (double) up[from * R + k] * (double) down[k * C + j];
                if (i >= 2 && i < 5 && rows > from)
                    want[i * C + j] = v * (double) mag[from] / (sqrt(sum) + (double) FLT_EPSILON);
            }
        }
        if (rows > 3) {
            check_change(&m, 1, "w.weight", want, "DoRA of some rows");
            continue;
        }
        nino_weights *view = patched(&m, 1);
        const nino_tensor_info *t = nino_weights_find(view, "w.weight");
        float row[2 * C];
        CHECK_OK(nino_weights_read_rows_f32(view, t, 0, 2, row, &err), err); // of none of its rows
        CHECK(nino_weights_read_rows_f32(view, t, 1, 2, row, &err) == NINO_ERR_FORMAT);
        CHECK_STR(err.kind, "model");
        CHECK_STR(err.msg, "3 magnitudes do not fit a weight of 3 rows");
        CHECK_STR(err.where, "part.dora_scale");
        nino_weights_unref(&view);
        lora_forget(&m);
    }
}

// What a change is made of is the weight as it is used: with the factors that the file has for it.
static void check_scaled(bool by_row)
{
    lora_made m = { .seed = 9 };
    lora_tensor(&m, "s.weight", NINO_SHAPE(4, C));
    nino_array *f32 = (nino_array *) m.e[0].array;
    nino_array *stored = nino_array_convert(f32, NINO_F8_E4M3), *w = NULL;
    CHECK(stored && (w = nino_array_convert(stored, NINO_F32)));
    m.e[0].array = stored;
    const float *f = lora_tensor(&m, "s.scale_weight", NINO_SHAPE(by_row ? 4 : 1));
    for (int i = 0; i < (by_row ? 4 : 1); i++)
        nino_array_f32(m.e[1].array)[i] = (float) (i + 3);
    nino_weights *file = lora_save(&m, &dir, "scaled");
    lora_patches none = { .base = file };
    const lora_patch p = { .target = nino_weights_find(file, "s.weight"), .rows = 4, .cols = C };
    float got[2 * C];
    CHECK_OK(lora_patches_read(&none, &p, 1, 2, got, &err), err);
    for (int i = 0; i < 2 * C; i++)
        CHECK(got[i] == f[by_row ? 1 + i / C : 0] * nino_array_f32(w)[C + i]);
    nino_weights_unref(&file);
    nino_array_unref(&f32);
    nino_array_unref(&w);
    lora_forget(&m);
}

// ---- names -----------------------------------------------------------------------------------

// Rows that a tensor does not have are nobody's; what was added twice is there once.
static void check_map(void)
{
    static const struct {
        int64_t row0, rows, from, got; // got 0: none
    } t[] = { { 0, 0, 0, 8 }, { 0, 8, 0, 8 },  { 0, 9, 0, 0 }, { 3, 5, 2, 5 }, { 3, 6, 2, 0 },
              { 7, 0, 1, 1 }, { 7, 1, 1, 1 },  { 8, 0, 0, 0 }, { 8, 1, 0, 0 }, { 3, -1, 0, 5 },
              { 0, 1, 0, 1 }, { 5, 11, 0, 0 }, { 4, 5, 0, 0 } };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        lora_map m = { 0 };
        int n = -1;
        for (int twice = 0; twice < 2; twice++)
            lora_map_add(&m, net, "w.weight", "lora_unet_", "a_b", t[i].row0, t[i].rows, t[i].from);
        lora_map_add(&m, net, "no.weight", "", "a_b", 0, 0, 0);
        CHECK_OK(lora_map_finish(&m, "test", &err), err);
        CHECK(m.n == (t[i].got > 0));
        const lora_place *p = lora_map_find(&m, "lora_unet_a.b", 13, &n);
        CHECK(!p == !t[i].got && n == m.n);
        if (p) {
            CHECK(p->row0 == t[i].row0 && p->rows == t[i].got && p->from == t[i].from);
            CHECK(p->file == net && p->tensor == nino_weights_find(net, "w.weight"));
        }
        lora_map_release(&m);
        CHECK(!m.place && !m.arena && !m.n && !m.room);
    }
}

// Places that differ in anything are kept, in the order in which they came; more than there is
// room for at first.
static void check_places(void)
{
    lora_map m = { 0 };
    int n;
    for (int i = 0; i < 300; i++)
        lora_map_add(&m, net, "w.weight", "", nino_name_of("layer%d", i * 7 % 300).s, 1, 2, i);
    lora_map_add(&m, net, "wide.weight", "", "layer7", 1, 2, 1);  // another tensor
    lora_map_add(&m, net, "w.weight", "", "layer7", 2, 2, 1);     // other rows
    lora_map_add(&m, net, "w.weight", "", "layer7", 1, 2, 3);     // from elsewhere
    lora_map_add(&m, net, "w.weight", "", "layer7", 1, 2, 3);     // nothing new
    lora_map_add(&m, net, "w.weight", "", "x.to_out.0", 0, 0, 0); // known without the index too
    lora_map_add(&m, net, "w.weight", "", "_to_out_0", 0, 0, 0);
    lora_map_alias(&m, "x.to_out", "y", 0);
    CHECK_OK(lora_map_finish(&m, "test", &err), err);
    CHECK(m.n == 307);
    const lora_place *p = lora_map_find(&m, "layer7", 6, &n);
    CHECK(p && n == 4 && p[0].from == 1 && p[0].row0 == 1 && p[1].tensor != p[0].tensor);
    CHECK(p[2].row0 == 2 && p[2].from == 1 && p[3].row0 == 1 && p[3].from == 3);
    for (int i = 0; i < 300; i++) {
        const nino_name name = nino_name_of("layer%d", i);
        p = lora_map_find(&m, name.s, strlen(name.s), &n);
        CHECK(p && n == (i == 7 ? 4 : 1) && p->from * 7 % 300 == i);
    }
    static const char *const known[] = { "x.to_out.0", "x.to_out", "y" };
    for (int i = 0; i < 3; i++)
        CHECK(lora_map_find(&m, known[i], strlen(known[i]), &n) && n == 1);
    CHECK(!lora_map_find(&m, "layer", 5, &n) && !n);
    CHECK(!lora_map_find(&m, "zzz", 3, &n) && !n && !lora_map_find(&m, "a", 1, &n));
    lora_map_release(&m);
}

int main(void)
{
    dir = test_dir_create();
    make_net();
    for (int n = 2; n <= 8; n *= 2) {
        check_oft("w", small, C, n, 0);
        check_oft("w", small, C, n, 0.5f);
        check_oft("w", small, C, n, 1000);
    }
    check_oft("wide", wide, WIDE, 4, 2);
    check_boft(0, 0);
    check_boft(0.5f, 0);
    check_boft(1000, N);
    check_boft(2, 3);
    check_glora(1, 11);
    check_glora(11, 1);
    check_channels(false);
    check_channels(true);
    check_zero_row();
    check_part();
    check_scaled(false);
    check_scaled(true);
    check_map();
    check_places();
    nino_weights_unref(&net);
    lora_forget(&base);
    test_dir_remove(&dir, (const char *const[]){ "net", "lora", "scaled", NULL });
    return 0;
}
