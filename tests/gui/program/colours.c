// Measures the colours of the app: text can be read on its ground in every theme; any two kinds of
// what takes time are told apart by who sees all colours and by who lacks one kind of cone, and all of them stand out from a light and a
// dark background; text on them can be read; every op family has its own.
#include "plot/plot.h"
#include "tests/test.h"

#include <math.h>
#include <ninodes/monitor.h>

enum { VISIONS = 4 };
// CIE76 in CIELAB: 2.3 is just noticeable side by side; bars apart from each other, a few pixels
// high, need several times that.
#define LEAST_APART 15.0
#define LEAST_CATEGORIES 14.0 // of one lightness there are no eight that are farther apart
#define LEAST_SEEN 2.9
#define CATEGORY_LIGHTNESS 55
#define LEAST_ON_BACKGROUND 1.7 // WCAG contrast ratio
#define LEAST_TEXT 4.5

typedef struct Lab {
    double l, a, b;
} Lab;

// Linear RGB as seen without L, M or S cones (Machado, Oliveira, Fernandes 2009).
static const double seen_as[VISIONS][3][3] = {
    { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
    { { 0.152286, 1.052583, -0.204868 },
      { 0.114503, 0.786281, 0.099216 },
      { -0.003882, -0.048116, 1.051998 } },
    { { 0.367322, 0.860646, -0.227968 },
      { 0.280085, 0.672501, 0.047413 },
      { -0.011820, 0.042940, 0.968881 } },
    { { 1.255528, -0.076749, -0.178779 },
      { -0.078411, 0.930809, 0.147602 },
      { 0.004733, 0.691367, 0.303900 } },
};

static double linear(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }
static double cube(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116; }

static double luminance(const GdkRGBA *c)
{
    return 0.2126 * linear((double) c->red) + 0.7152 * linear((double) c->green) +
           0.0722 * linear((double) c->blue);
}

static double contrast(const GdkRGBA *a, const GdkRGBA *b)
{
    const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return x > y ? x / y : y / x;
}

static Lab lab_of(const GdkRGBA *c, int vision)
{
    const double in[3] = { linear((double) c->red), linear((double) c->green),
                           linear((double) c->blue) };
    double v[3];
    for (int i = 0; i < 3; i++) {
        const double *m = seen_as[vision][i];
        v[i] = fmin(1, fmax(0, m[0] * in[0] + m[1] * in[1] + m[2] * in[2]));
    }
    const double x = (0.4124 * v[0] + 0.3576 * v[1] + 0.1805 * v[2]) / 0.95047;
    const double y = 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
    const double z = (0.0193 * v[0] + 0.1192 * v[1] + 0.9505 * v[2]) / 1.08883;
    return (Lab){ 116 * cube(y) - 16, 500 * (cube(x) - cube(y)), 200 * (cube(y) - cube(z)) };
}

static double apart_of(const GdkRGBA *x, const GdkRGBA *y)
{
    double least = INFINITY;
    for (int v = 0; v < VISIONS; v++) {
        const Lab a = lab_of(x, v), b = lab_of(y, v);
        least = fmin(least, sqrt(pow(a.l - b.l, 2) + pow(a.a - b.a, 2) + pow(a.b - b.b, 2)));
    }
    return least;
}

static double apart(size_t i, size_t k)
{
    return apart_of(nino_plot_colour(i), nino_plot_colour(k));
}

// c over a ground, as it is seen.
static GdkRGBA over(const GdkRGBA *c, const GdkRGBA *ground)
{
    const float a = c->alpha;
    return (GdkRGBA){ c->red * a + ground->red * (1 - a), c->green * a + ground->green * (1 - a),
                      c->blue * a + ground->blue * (1 - a), 1 };
}

// Every pair of text and ground of the table, in every theme. What lies over pictures is on black and on white.
static int check_pairs(void)
{
    double least = INFINITY;
    int n_bad = 0;
    for (int theme = 0; theme < NINO_THEMES; theme++)
        for (size_t i = 0; i < nino_token_n_pairs; i++) {
            const GdkRGBA ends[] = { { 0, 0, 0, 1 }, { 1, 1, 1, 1 } };
            const NinoTokenPair *p = &nino_token_pairs[i];
            for (int k = 0; k < 2; k++) {
                const GdkRGBA ground = over(nino_token(p->ground, (NinoTheme) theme), &ends[k]);
                const GdkRGBA text = over(nino_token(p->text, (NinoTheme) theme), &ground);
                const double is = contrast(&text, &ground);
                least = fmin(least, is);
                if (is < LEAST_TEXT && ++n_bad)
                    printf("theme %d, pair %zu: contrast %.2f\n", theme, i, is);
            }
        }
    printf("least contrast of %zu pairs in %d themes: %.2f\n", nino_token_n_pairs, NINO_THEMES,
           least);
    return n_bad;
}

// Of what nodes are for: as light as each other, apart, and seen on a title in every theme.
static void check_categories(void)
{
    double least = INFINITY, seen = INFINITY;
    for (int i = 0; i < NINO_CATEGORIES; i++) {
        const GdkRGBA *c = nino_token_category((NinoCategory) i);
        CHECK(fabs(lab_of(c, 0).l - CATEGORY_LIGHTNESS) < 2);
        for (int k = 0; k < i; k++)
            least = fmin(least, apart_of(c, nino_token_category((NinoCategory) k)));
        for (int theme = 0; theme < NINO_THEMES; theme++)
            seen = fmin(seen, contrast(c, nino_token(NINO_COLOUR_TITLE, (NinoTheme) theme)));
    }
    printf("categories: least distance %.1f, least contrast to a title %.2f\n", least, seen);
    CHECK(least >= LEAST_CATEGORIES && seen >= LEAST_SEEN);
}

// What is not looked at is still seen on the ground of plots, and its text is read on it.
static void check_faint(void)
{
    double least = INFINITY, in_contrast = INFINITY;
    for (int theme = 0; theme < NINO_THEMES; theme++) {
        const NinoPlot p = { .theme = (NinoTheme) theme,
                             .fg = *nino_token(NINO_COLOUR_PLOT_TEXT, (NinoTheme) theme),
                             .bg = *nino_token(NINO_COLOUR_PLOT, (NinoTheme) theme) };
        double *is = nino_theme_is_contrast((NinoTheme) theme) ? &in_contrast : &least;
        for (size_t i = 0; i < NINO_PLOT_COLOURS; i++) {
            const GdkRGBA c = nino_plot_faint(&p, nino_plot_colour(i)), ink = nino_plot_ink(&c);
            *is = fmin(*is, contrast(&c, &p.bg));
            CHECK(contrast(&c, &ink) >= LEAST_TEXT);
        }
    }
    printf("faint: least contrast %.2f, in high contrast %.2f\n", least, in_contrast);
    CHECK(least >= 1.7 && in_contrast >= 2.95);
}

int main(void)
{
    CHECK(!check_pairs());
    check_faint();
    check_categories();
    const GdkRGBA light = { 1, 1, 1, 1 }, dark = { 0.2f, 0.2f, 0.2f, 1 };
    double least = INFINITY;
    for (size_t i = NINO_PLOT_SERIES; i < NINO_PLOT_FAILED; i++) {
        const GdkRGBA *c = nino_plot_colour(i), ink = nino_plot_ink(c);
        for (size_t k = NINO_PLOT_SERIES; k < i; k++) {
            const double d = apart(i, k);
            least = fmin(least, d);
            if (d < LEAST_APART) {
                printf("%s and %s: %.1f apart\n", nino_plot_kind_name(i), nino_plot_kind_name(k),
                       d);
                return 1;
            }
        }
        if (contrast(c, &light) < LEAST_ON_BACKGROUND || contrast(c, &dark) < LEAST_ON_BACKGROUND ||
            contrast(c, &ink) < LEAST_TEXT) {
            printf("%s: %.2f to light, %.2f to dark, %.2f to its text\n", nino_plot_kind_name(i),
                   contrast(c, &light), contrast(c, &dark), contrast(c, &ink));
            return 1;
        }
    }
    printf("least distance %.1f\n", least);
    // families as the library names them
    static const char *const families[] = { "gemm", "conv", "norm",  "attn",
                                            "elt",  "move", "image", "transfer" };
    for (size_t i = 0; i < G_N_ELEMENTS(families); i++)
        CHECK(nino_plot_family(families[i]) == NINO_PLOT_GEMM + i);
    CHECK(nino_plot_family("nothing known") == NINO_PLOT_OTHER);
    CHECK(nino_plot_family(NULL) == NINO_PLOT_OTHER);
    CHECK(nino_plot_scope(NINO_EV_JOB, "") == NINO_PLOT_JOB);
    CHECK(nino_plot_scope(NINO_EV_TILE, "tile") == NINO_PLOT_TILE);
    CHECK(nino_plot_scope(NINO_EV_STAGE, "decoder.in") == NINO_PLOT_STAGE);
    CHECK(nino_plot_scope(NINO_EV_STAGE, "compile gemm") == NINO_PLOT_COMPILE);
    return 0;
}
