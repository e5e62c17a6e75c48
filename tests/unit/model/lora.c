// The arithmetic of every kind of LoRA, against dense products written out here: whole tensors and
// rows of them, strengths, alpha, parts of fused layers, several files on one weight.
#include "tests/lora.h"

enum { N = 6, C = 8, IN = 6, TAPS = 9, OUT = 4, R = 2, W_SIZE = N * C, C_SIZE = OUT * IN * TAPS };

static nino_error err;
static test_dir dir;
static nino_weights *net;      // w.weight [N,C], w.bias [N], c.weight [OUT,IN,3,3]
static const float *w, *b, *c; // their values
static lora_made base;

static void make_net(void)
{
    base.seed = 1;
    w = lora_tensor(&base, "w.weight", NINO_SHAPE(N, C));
    b = lora_tensor(&base, "w.bias", NINO_SHAPE(N));
    c = lora_tensor(&base, "c.weight", NINO_SHAPE(OUT, IN, 3, 3));
    lora_tensor(&base, "x.weight", NINO_SHAPE(4, C));
    lora_tensor(&base, "x.bias", NINO_SHAPE(3)); // fewer than there are rows
    net = lora_save(&base, &dir, "net");
}

// out[n][m] = a[n][r] b[r][m]
static void mul(const float *a, const float *b2, int n, int r, int m, double *out)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int k = 0; k < r; k++)
                sum += (double) a[i * r + k] * (double) b2[k * m + j];
            out[i * m + j] = sum;
        }
}

static void add_names(lora_map *map)
{
    lora_map_add(map, net, "w.weight", "", "w", 0, 0, 0);
    lora_map_add(map, net, "c.weight", "", "c", 0, 0, 0);
    lora_map_add(map, net, "w.weight", "", "middle", 2, 3, 0); // rows 2, 3 and 4
    lora_map_add(map, net, "w.weight", "", "part", 1, 2,
                 3); // rows 1 and 2, of a layer's rows 3 and 4
    lora_map_add(map, net, "w.weight", "", "late", 4, 2, 1); // the last ones
    lora_map_add(map, net, "x.weight", "", "x", 0, 0, 0);
    CHECK_OK(lora_map_finish(map, "test", &err), err);
}

// net with the files on top of each other; forgets what they were made of.
static nino_weights *patched(lora_made *m, const double *strength, int n)
{
    nino_lora_stack *s = NULL;
    nino_weights *view = NULL;
    lora_map map = { 0 };
    add_names(&map);
    for (int i = 0; i < n; i++) {
        char name[16];
        nino_lora *l;
        snprintf(name, sizeof(name), "lora%d", i);
        nino_weights *file = lora_save(&m[i], &dir, name);
        CHECK_OK(nino_lora_open(file, name, &l, &err), err);
        nino_lora_stack *more = lora_stack_push(s, l, strength[i]);
        CHECK(more);
        nino_lora_stack_unref(&s);
        s = more;
        nino_lora_unref(&l);
        nino_weights_unref(&file);
    }
    CHECK_OK(lora_view(net, &map, s, LORA_TO_STORE, &view, &err), err);
    nino_lora_stack_unref(&s);
    lora_map_release(&map);
    return view;
}

static void check_near(const float *got, const double *want, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double) got[i] - want[i]) <= 1e-4 * (1 + fabs(want[i])))) {
            fprintf(stderr, "%s: value %d is %g, not %g\n", what, (int) i, (double) got[i],
                    want[i]);
            exit(1);
        }
}

// Whole, and a few rows at a time.
static void check_tensor(nino_weights *view, const char *name, const double *want, const char *what)
{
    const nino_tensor_info *t = nino_weights_find(view, name);
    nino_array *a = nino_weights_read_f32(view, t, &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    const int64_t rows = t->dim[0], cols = nino_shape_count(&a->shape) / rows;
    check_near(nino_array_f32(a), want, rows * cols, what);
    for (int64_t first = 0; first < rows; first++)
        for (int64_t n = 1; n <= 2 && first + n <= rows; n++) {
            CHECK_OK(nino_weights_read_rows_f32(view, t, first, n, nino_array_f32(a), &err), err);
            check_near(nino_array_f32(a), want + first * cols, n * cols, what);
        }
    nino_array_unref(&a);
}

// One file at strength s: target + s * scale * delta.
static void check_added(lora_made *m, const char *name, const float *from, const double *delta,
                        int64_t n, double scale, const char *what)
{
    static const double strengths[] = { 1, -0.5 };
    double *want = malloc((size_t) n * sizeof(*want));
    for (int k = 0; k < 2; k++) {
        nino_weights *view = patched(m, &strengths[k], 1);
        for (int64_t i = 0; i < n; i++)
            want[i] = (double) from[i] + strengths[k] * scale * delta[i];
        check_tensor(view, name, want, what);
        nino_weights_unref(&view);
    }
    free(want);
    lora_forget(m);
}

static void check_low_rank(void)
{
    double d[W_SIZE], e[C_SIZE] = { 0 };
    lora_made m = { .seed = 10 };
    const float *up = lora_tensor(&m, "w.lora_up.weight", NINO_SHAPE(N, R));
    const float *down = lora_tensor(&m, "w.lora_down.weight", NINO_SHAPE(R, C));
    mul(up, down, N, R, C, d);
    check_added(&m, "w.weight", w, d, W_SIZE, 1, "low rank");

    up = lora_tensor(&m, "w.lora_B.weight", NINO_SHAPE(N, 5)); // not a multiple of four
    down = lora_tensor(&m, "w.lora_A.weight", NINO_SHAPE(5, C));
    lora_number(&m, "w.alpha", 3);
    mul(up, down, N, 5, C, d);
    check_added(&m, "w.weight", w, d, W_SIZE, 3.0 / 5, "alpha");

    up = lora_tensor(&m, "c.lora_up.weight", NINO_SHAPE(OUT, R, 1, 1));
    down = lora_tensor(&m, "c.lora_down.weight", NINO_SHAPE(R, IN, 3, 3));
    mul(up, down, OUT, R, IN * TAPS, e);
    check_added(&m, "c.weight", c, e, C_SIZE, 1, "convolution");

    up = lora_tensor(&m, "c.lora_up.weight", NINO_SHAPE(OUT, R, 1, 1));
    down = lora_tensor(&m, "c.lora_down.weight", NINO_SHAPE(3, IN, 1, 1));
    const float *mid = lora_tensor(&m, "c.lora_mid.weight", NINO_SHAPE(R, 3, 3, 3));
    memset(e, 0, sizeof(e));
    for (int o = 0; o < OUT; o++)
        for (int p = 0; p < R; p++)
            for (int q = 0; q < 3; q++)
                for (int i = 0; i < IN; i++)
                    for (int t = 0; t < TAPS; t++)
                        e[(o * IN + i) * TAPS + t] += (double) up[o * R + p] *
                                                      (double) mid[(p * 3 + q) * TAPS + t] *
                                                      (double) down[q * IN + i];
    lora_number(&m, "c.alpha", 6);
    check_added(&m, "c.weight", c, e, C_SIZE, 6.0 / 3, "Tucker");
}

static void check_hadamard(void)
{
    double x[W_SIZE], y[W_SIZE], e[C_SIZE];
    lora_made m = { .seed = 20 };
    const float *a1 = lora_tensor(&m, "w.hada_w1_a", NINO_SHAPE(N, R));
    const float *b1 = lora_tensor(&m, "w.hada_w1_b", NINO_SHAPE(R, C));
    const float *a2 = lora_tensor(&m, "w.hada_w2_a", NINO_SHAPE(N, R));
    const float *b2 = lora_tensor(&m, "w.hada_w2_b", NINO_SHAPE(R, C));
    lora_number(&m, "w.alpha", 1);
    mul(a1, b1, N, R, C, x);
    mul(a2, b2, N, R, C, y);
    for (int i = 0; i < W_SIZE; i++)
        x[i] *= y[i];
    check_added(&m, "w.weight", w, x, W_SIZE, 1.0 / R, "LoHa");

    const float *f[2][3]; // a [r,out], b [r,in], core [r,r,3,3]
    for (int k = 0; k < 2; k++) {
        f[k][0] = lora_tensor(&m, k ? "c.hada_w2_a" : "c.hada_w1_a", NINO_SHAPE(R, OUT));
        f[k][1] = lora_tensor(&m, k ? "c.hada_w2_b" : "c.hada_w1_b", NINO_SHAPE(R, IN));
        f[k][2] = lora_tensor(&m, k ? "c.hada_t2" : "c.hada_t1", NINO_SHAPE(R, R, 3, 3));
    }
    for (int i = 0; i < C_SIZE; i++) {
        const int o = i / (IN * TAPS), in = i / TAPS % IN, t = i % TAPS;
        double both[2] = { 0, 0 };
        for (int k = 0; k < 2; k++)
            for (int p = 0; p < R; p++)
                for (int q = 0; q < R; q++)
                    both[k] += (double) f[k][2][(p * R + q) * TAPS + t] *
                               (double) f[k][1][q * IN + in] * (double) f[k][0][p * OUT + o];
        e[i] = both[0] * both[1];
    }
    check_added(&m, "c.weight", c, e, C_SIZE, 1, "LoHa, Tucker");
}

static void check_kron(void)
{
    double d[W_SIZE], f[3 * 4], e[C_SIZE];
    lora_made m = { .seed = 30 };
    const float *w1 = lora_tensor(&m, "w.lokr_w1", NINO_SHAPE(2, 2));
    const float *a = lora_tensor(&m, "w.lokr_w2_a", NINO_SHAPE(3, R));
    const float *b2 = lora_tensor(&m, "w.lokr_w2_b", NINO_SHAPE(R, 4));
    lora_number(&m, "w.alpha", 5);
    mul(a, b2, 3, R, 4, f);
    for (int i = 0; i < W_SIZE; i++)
        d[i] = (double) w1[i / C / 3 * 2 + i % C / 4] * f[i / C % 3 * 4 + i % C % 4];
    check_added(&m, "w.weight", w, d, W_SIZE, 5.0 / R, "LoKr");

    w1 = lora_tensor(&m, "c.lokr_w1", NINO_SHAPE(2, 3));
    b2 = lora_tensor(&m, "c.lokr_w2", NINO_SHAPE(2, 2, 3, 3));
    lora_number(&m, "c.alpha", 5); // nothing is factored: it says nothing
    for (int i = 0; i < C_SIZE; i++) {
        const int o = i / (IN * TAPS), in = i / TAPS % IN, t = i % TAPS;
        e[i] = (double) w1[o / 2 * 3 + in / 2] * (double) b2[(o % 2 * 2 + in % 2) * TAPS + t];
    }
    check_added(&m, "c.weight", c, e, C_SIZE, 1, "LoKr, convolution");
}

static void check_whole(void)
{
    double d[W_SIZE], s[W_SIZE], bias[N];
    const double one = 1;
    lora_made m = { .seed = 40 };
    const float *diff = lora_tensor(&m, "w.diff", NINO_SHAPE(N, C));
    const float *diff_b = lora_tensor(&m, "w.diff_b", NINO_SHAPE(N));
    for (int i = 0; i < W_SIZE; i++)
        d[i] = (double) diff[i];
    for (int i = 0; i < N; i++)
        bias[i] = (double) b[i] + (double) diff_b[i];
    nino_weights *view = patched(&m, &one, 1);
    check_tensor(view, "w.bias", bias, "bias");
    nino_weights_unref(&view);
    check_added(&m, "w.weight", w, d, W_SIZE, 1, "diff");

    const float *set = lora_tensor(&m, "w.set_weight", NINO_SHAPE(N, C));
    for (int i = 0; i < W_SIZE; i++)
        s[i] = (double) set[i];
    view = patched(&m, &(double){ 0.25 }, 1);
    check_tensor(view, "w.weight", s, "set"); // whatever the strength
    nino_weights_unref(&view);
    lora_forget(&m);
}

// Magnitudes of rows and of input channels.
static void check_dora(void)
{
    double d[W_SIZE], want[W_SIZE], e[C_SIZE], wc[C_SIZE];
    const double strength = 0.75;
    lora_made m = { .seed = 50 };
    const float *up = lora_tensor(&m, "w.lora_up.weight", NINO_SHAPE(N, R));
    const float *down = lora_tensor(&m, "w.lora_down.weight", NINO_SHAPE(R, C));
    const float *mag = lora_tensor(&m, "w.dora_scale", NINO_SHAPE(N, 1));
    lora_number(&m, "w.alpha", 1);
    mul(up, down, N, R, C, d);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < C; j++)
            sum += (double) w[i * C + j] * (double) w[i * C + j];
        for (int j = 0; j < C; j++) {
            const double v = (double) w[i * C + j], turned = v + d[i * C + j] / R;
            want[i * C + j] = v + strength * (turned * (double) mag[i] / sqrt(sum) - v);
        }
    }
    nino_weights *view = patched(&m, &strength, 1);
    check_tensor(view, "w.weight", want, "DoRA by rows");
    nino_weights_unref(&view);
    lora_forget(&m);

    up = lora_tensor(&m, "c.lora_up.weight", NINO_SHAPE(OUT, R, 1, 1));
    down = lora_tensor(&m, "c.lora_down.weight", NINO_SHAPE(R, IN, 3, 3));
    mag = lora_tensor(&m, "c.dora_scale", NINO_SHAPE(1, IN, 1, 1));
    mul(up, down, OUT, R, IN * TAPS, e);
    for (int in = 0; in < IN; in++) {
        double sum = 0;
        for (int i = 0; i < C_SIZE; i++)
            if (i / TAPS % IN == in)
                sum += ((double) c[i] + e[i]) * ((double) c[i] + e[i]);
        for (int i = 0; i < C_SIZE; i++)
            if (i / TAPS % IN == in)
                wc[i] = (double) c[i] +
                        strength *
                            (((double) c[i] + e[i]) * (double) mag[in] / sqrt(sum) - (double) c[i]);
    }
    view = patched(&m, &strength, 1);
    check_tensor(view, "c.weight", wc, "DoRA by input channels");
    nino_weights_unref(&view);
    lora_forget(&m);
}

// (W A1) A2 + B1 B2, and the order of former times.
static void check_glora(void)
{
    for (int is_old = 0; is_old < 2; is_old++) {
        double d[W_SIZE], wa[N * R], bb[W_SIZE];
        float f[N * R];
        lora_made m = { .seed = 60 };
        const float *x = lora_tensor(&m, is_old ? "w.a2.weight" : "w.a1.weight", NINO_SHAPE(C, R));
        const float *y = lora_tensor(&m, is_old ? "w.a1.weight" : "w.a2.weight", NINO_SHAPE(R, C));
        const float *u = lora_tensor(&m, is_old ? "w.b2.weight" : "w.b1.weight", NINO_SHAPE(N, R));
        const float *v = lora_tensor(&m, is_old ? "w.b1.weight" : "w.b2.weight", NINO_SHAPE(R, C));
        mul(w, x, N, C, R, wa);
        for (int i = 0; i < N * R; i++)
            f[i] = (float) wa[i];
        mul(f, y, N, R, C, d);
        mul(u, v, N, R, C, bb);
        for (int i = 0; i < W_SIZE; i++)
            d[i] += bb[i];
        check_added(&m, "w.weight", w, d, W_SIZE, 1, is_old ? "GLoRA, old" : "GLoRA");
    }
}

// The Cayley transform of a 2 x 2 block, [0,q;-q,0] with q = b01 - b10, is a plane rotation by
// 2 atan q.
static void plane(const float *block, double r[4])
{
    const double q = (double) block[1] - (double) block[2], f = 1 / (1 + q * q);
    r[0] = r[3] = (1 - q * q) * f;
    r[1] = 2 * q * f;
    r[2] = -2 * q * f;
}

static void check_oft(void)
{
    double want[W_SIZE];
    const double strength = 0.5;
    lora_made m = { .seed = 70 };
    const float *blocks = lora_tensor(&m, "w.oft_blocks", NINO_SHAPE(3, 2, 2));
    for (int i = 0; i < N; i++) {
        double r[4];
        plane(blocks + i / 2 * 4, r);
        for (int j = 0; j < C; j++) {
            double sum = 0;
            for (int n = 0; n < 2; n++)
                sum += (r[n * 2 + i % 2] - (n == i % 2)) * (double) w[(i / 2 * 2 + n) * C + j];
            want[i * C + j] = (double) w[i * C + j] + strength * strength * sum;
        }
    }
    nino_weights *view = patched(&m, &strength, 1);
    check_tensor(view, "w.weight", want, "OFT");
    nino_weights_unref(&view);
    lora_forget(&m);
}

// Two stages over the four rows of the convolution: neighbours, then rows two apart.
static void check_boft(void)
{
    double x[C_SIZE], y[C_SIZE];
    const double strength = 0.5;
    const int row = IN * TAPS;
    lora_made m = { .seed = 80 };
    const float *blocks = lora_tensor(&m, "c.oft_blocks", NINO_SHAPE(2, 2, 2, 2));
    for (int i = 0; i < OUT * row; i++)
        x[i] = (double) c[i];
    for (int stage = 0; stage < 2; stage++) {
        for (int blk = 0; blk < 2; blk++) {
            const int rows[2] = { stage ? blk : 2 * blk, stage ? blk + 2 : 2 * blk + 1 };
            double r[4];
            plane(blocks + (stage * 2 + blk) * 4, r);
            for (int i = 0; i < 2; i++)
                for (int k = 0; k < row; k++) {
                    double sum = 0;
                    for (int j = 0; j < 2; j++)
                        sum += (strength * r[i * 2 + j] + (1 - strength) * (i == j)) *
                               x[rows[j] * row + k];
                    y[rows[i] * row + k] = sum;
                }
        }
        memcpy(x, y, sizeof(x));
    }
    for (int i = 0; i < OUT * row; i++)
        x[i] = (double) c[i] + strength * (x[i] - (double) c[i]);
    nino_weights *view = patched(&m, &strength, 1);
    check_tensor(view, "c.weight", x, "BOFT");
    nino_weights_unref(&view);
    lora_forget(&m);
}

// Some rows of a weight; two files on the same one; one that turns what the other made.
static void check_stack(void)
{
    double d[3 * C], f[W_SIZE], want[W_SIZE];
    const double strength[] = { 2, -1 };
    lora_made m[2] = { { .seed = 90 }, { .seed = 91 } };
    const float *up = lora_tensor(&m[0], "middle.lora_up.weight", NINO_SHAPE(3, R));
    const float *down = lora_tensor(&m[0], "middle.lora_down.weight", NINO_SHAPE(R, C));
    mul(up, down, 3, R, C, d);
    up = lora_tensor(&m[1], "w.lora_up.weight", NINO_SHAPE(N, R));
    down = lora_tensor(&m[1], "w.lora_down.weight", NINO_SHAPE(R, C));
    mul(up, down, N, R, C, f);
    for (int i = 0; i < W_SIZE; i++)
        want[i] = (double) w[i] - f[i] + (i >= 2 * C && i < 5 * C ? 2 * d[i - 2 * C] : 0);
    nino_weights *view = patched(m, strength, 2);
    check_tensor(view, "w.weight", want, "two files");
    const nino_hash a = nino_weights_identity(view);
    nino_weights_unref(&view);
    view = patched(m, (const double[]){ 2, -1.5 }, 2);
    const nino_hash other = nino_weights_identity(view);
    CHECK(a.lo != other.lo || a.hi != other.hi);
    nino_weights_unref(&view);
    lora_forget(&m[1]);

    const float *q = lora_tensor(&m[1], "w.oft_blocks", NINO_SHAPE(3, 2, 2));
    for (int i = 0; i < W_SIZE; i++)
        want[i] = (double) w[i] + (i >= 2 * C && i < 5 * C ? 2 * d[i - 2 * C] : 0);
    for (int k = 0; k < 3; k++) {
        double r[4];
        plane(q + k * 4, r);
        for (int j = 0; j < C; j++) {
            double *v = want + 2 * k * C + j;
            const double first = v[0], second = v[C];
            v[0] = r[0] * first + r[2] * second;
            v[C] = r[1] * first + r[3] * second;
        }
    }
    view = patched(m, (const double[]){ 2, 1 }, 2);
    check_tensor(view, "w.weight", want, "OFT of a LoRA");
    nino_weights_unref(&view);
    lora_forget(&m[0]);
    lora_forget(&m[1]);
}

// A control LoRA gives w three more columns and two more rows; one from before does not know.
static void check_larger(void)
{
    enum { N2 = N + 2, C2 = C + 3 };
    double d[N2 * C2], f[W_SIZE], want[N2 * C2] = { 0 };
    for (int order = 0; order < 2; order++) {
        lora_made m[2] = { { .seed = 95 }, { .seed = 96 } };
        lora_made *large = &m[order], *small = &m[1 - order];
        const float *up = lora_tensor(large, "w.lora_up.weight", NINO_SHAPE(N2, R));
        const float *down = lora_tensor(large, "w.lora_down.weight", NINO_SHAPE(R, C2));
        lora_tensor(large, "w.reshape_weight", NINO_SHAPE(2));
        mul(up, down, N2, R, C2, d);
        up = lora_tensor(small, "w.lora_up.weight", NINO_SHAPE(N, R));
        down = lora_tensor(small, "w.lora_down.weight", NINO_SHAPE(R, C));
        mul(up, down, N, R, C, f);
        for (int i = 0; i < N2 * C2; i++) {
            const int row = i / C2, col = i % C2, at = row * C + col;
            want[i] = d[i] + (row < N && col < C ? (double) w[at] + f[at] : 0);
        }
        nino_weights *view = patched(m, (const double[]){ 1, 1 }, 2);
        check_tensor(view, "w.weight", want, "a larger weight");
        nino_weights_unref(&view);
        lora_forget(large);
        lora_forget(small);
    }
}

// Files that fit nothing leave the file as it is.
static void check_misfits(void)
{
    static const struct {
        const char *name;
        int64_t n, c;
    } list[] = {
        { "w.lora_up.weight", N, R },   { "w.lora_down.weight", R, C + 1 },
        { "c.lora_up.weight", OUT, R }, { "c.lora_down.weight", R + 1, IN * TAPS },
        { "middle.diff", 2, C },        { "v.diff", N, C },
        { "w.hada_w1_a", N, R },        { "w.nothing", 1, 1 },
    };
    lora_made m = { .seed = 99 };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        lora_tensor(&m, list[i].name, NINO_SHAPE(list[i].n, list[i].c));
    nino_weights *view = patched(&m, &(double){ 1 }, 1);
    CHECK(view == net);
    nino_weights_unref(&view);
    lora_forget(&m);
}

// Biases of layers whose rows go elsewhere, with as many rows as are needed, more and fewer.
static void check_parts_of_biases(void)
{
    static const struct {
        const char *name;
        int n, row0, first, rows; // rows 0: it does not fit
    } t[] = { { "part.diff_b", 2, 0, 0, 0 },   { "part.diff_b", 4, 0, 0, 0 },
              { "part.diff_b", 5, 1, 3, 2 },   { "part.diff_b", 6, 1, 3, 2 },
              { "middle.diff_b", 2, 0, 0, 0 }, { "middle.diff_b", 3, 2, 0, 3 },
              { "late.diff_b", 2, 0, 0, 0 },   { "late.diff_b", 3, 4, 1, 2 },
              { "x.diff_b", 4, 0, 0, 0 } };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        lora_made m = { .seed = 77 + (int) i };
        const float *diff = lora_tensor(&m, t[i].name, NINO_SHAPE(t[i].n));
        double want[N];
        for (int k = 0; k < N; k++) {
            const bool is_in = k >= t[i].row0 && k < t[i].row0 + t[i].rows;
            want[k] = (double) b[k] + (is_in ? (double) diff[t[i].first + k - t[i].row0] : 0);
        }
        nino_weights *view = patched(&m, &(double){ 1 }, 1);
        CHECK((view == net) == !t[i].rows);
        check_tensor(view, "w.bias", want, t[i].name);
        nino_weights_unref(&view);
        lora_forget(&m);
    }
}

// Tensors of more dimensions than can be used, and of no rows: they fit nothing, or cannot be read, and say so.
static void check_odd_shapes(void)
{
    static const struct {
        const char *header; // ' for "
        size_t bytes;
        bool fits;
    } cases[] = {
        { "{'w.diff_b':{'dtype':'F32','shape':[0],'data_offsets':[0,0]}}", 0, false },
        { "{'w.diff_b':{'dtype':'F32','shape':[],'data_offsets':[0,4]}}", 4, false },
        { "{'w.diff_b':{'dtype':'F32','shape':[1,1,1,1,1,1,1,6],'data_offsets':[0,24]}}", 24,
          false },
        { "{'w.diff_b':{'dtype':'F32','shape':[6,1,1,1,1,1,1,1],'data_offsets':[0,24]}}", 24,
          true },
        { "{'w.diff':{'dtype':'F32','shape':[6,8,1,1,1,1,1,1],'data_offsets':[0,192]}}", 192,
          false },
        { "{'w.diff':{'dtype':'F32','shape':[0,8],'data_offsets':[0,0]}}", 0, false },
        { "{'w.lora_up.weight':{'dtype':'F32','shape':[6,0],'data_offsets':[0,0]},"
          "'w.lora_down.weight':{'dtype':'F32','shape':[0,8],'data_offsets':[0,0]}}",
          0, false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[160], zeros[256] = { 0 }, *header = test_quoted(cases[i].header);
        const uint64_t len = strlen(header);
        snprintf(path, sizeof(path), "%s/lora0", dir.path);
        FILE *f = fopen(path, "wb");
        CHECK(f && fwrite(&len, 1, 8, f) == 8 && fputs(header, f) >= 0 &&
              fwrite(zeros, 1, cases[i].bytes, f) == cases[i].bytes && !fclose(f));
        free(header);
        nino_weights *file = test_open("%s", path), *view = NULL;
        nino_lora *l;
        lora_map map = { 0 };
        add_names(&map);
        CHECK_OK(nino_lora_open(file, "odd", &l, &err), err);
        nino_lora_stack *s = lora_stack_push(NULL, l, 1);
        CHECK(s);
        CHECK_OK(lora_view(net, &map, s, LORA_TO_STORE, &view, &err), err);
        CHECK((view != net) == cases[i].fits);
        if (cases[i].fits) {
            CHECK(!nino_weights_read_f32(view, nino_weights_find(view, "w.bias"), &err));
            CHECK(strstr(err.msg, "rank 8"));
        }
        nino_weights_unref(&view);
        nino_lora_stack_unref(&s);
        lora_map_release(&map);
        nino_lora_unref(&l);
        nino_weights_unref(&file);
    }
}

int main(void)
{
    dir = test_dir_create();
    make_net();
    check_low_rank();
    check_hadamard();
    check_kron();
    check_whole();
    check_dora();
    check_glora();
    check_oft();
    check_boft();
    check_stack();
    check_larger();
    check_misfits();
    check_parts_of_biases();
    check_odd_shapes();
    nino_weights_unref(&net);
    lora_forget(&base);
    test_dir_remove(&dir, (const char *const[]){ "net", "lora0", "lora1", NULL });
    return 0;
}
