// Where an entry of conditioning applies and how much it weighs there: areas in cells and fractions,
// masks and their boxes, strengths, of pictures and of clips, 1200 drawn cases against ComfyUI's rules
// written down plainly; when it applies; what the other side says in the same area; refusals.
#include "core/sample/guide/guide_priv.h"
#include "tests/guided.h"

static uint64_t drawn = 5;

static int draw(int from, int to) // both may come
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return from + (int) ((drawn >> 33) % (uint64_t) (to - from + 1));
}

static nino_guider guider;
static nino_guide_run r;

static nino_status begin(nino_cond *p, nino_cond *n, nino_shape latent, nino_error *err)
{
    guider = (nino_guider){ .refs = 1,
                            .kind = n ? NINO_GUIDE_CFG : NINO_GUIDE_BASIC,
                            .model = guider.model,
                            .positive = p,
                            .negative = n,
                            .cfg = 3 };
    r = (nino_guide_run){
        .s = stream, .guider = &guider, .net = &net.d, .sampling = net.d.sampling
    };
    nino_guide_set_shape(&r, &latent);
    return nino_guide_conds(&r, err);
}

// ---- the rules ------------------------------------------------------------------------------------

typedef struct place {
    bool has_area;
    int at[3], size[3]; // frames, rows, columns
} place;

// The box of all that is not 0, at least 8 cells each way, if they are there.
static void box_of(const nino_array *m, place *p)
{
    const int n = (int) m->shape.dim[0], h = (int) m->shape.dim[1], w = (int) m->shape.dim[2];
    int low[2] = { h, w }, high[2] = { -1, -1 };
    for (int i = 0; i < n * h * w; i++)
        if (nino_array_f32(m)[i] != 0) {
            const int at[2] = { i / w % h, i % w };
            for (int k = 0; k < 2; k++) {
                low[k] = at[k] < low[k] ? at[k] : low[k];
                high[k] = at[k] > high[k] ? at[k] : high[k];
            }
        }
    for (int k = 0; k < 2; k++) {
        const int size = high[0] < 0 ? 8 : high[k] - low[k] + 1;
        p->at[1 + k] = high[0] < 0 ? 0 : low[k];
        p->size[1 + k] = size < 8 ? 8 : size;
    }
    p->has_area = true;
}

static place place_of(const nino_cond_entry *e, const int *axis)
{
    place p = { .size = { axis[0], axis[1], axis[2] } };
    const double side[2] = { e->area_h, e->area_w }, at[2] = { e->area_y, e->area_x };
    p.has_area = e->area_kind != 0;
    for (int k = 0; k < 2 && p.has_area; k++) {
        const double unit = e->area_kind == NINO_AREA_FRACTION ? axis[1 + k] : 1;
        const double size = nearbyint(side[k] * unit);
        p.size[1 + k] =
            (int) (unit != 1 || e->area_kind == NINO_AREA_FRACTION ? fmax(1, size) : side[k]);
        p.at[1 + k] = (int) nearbyint(at[k] * unit);
    }
    if (e->mask && e->mask_bounds)
        box_of(e->mask, &p);
    for (int k = 0; k < 3; k++)
        p.size[k] = p.size[k] < axis[k] - p.at[k] ? p.size[k] : axis[k] - p.at[k];
    return p;
}

static double fade(const place *p, const int *axis, int k, int a)
{
    const int n = p->size[k] / 4 < 8 ? p->size[k] / 4 : 8, back = p->size[k] - 1 - a;
    double f = 1;
    if (p->at[k] > 0 && a < n)
        f *= (a + 1.0) / n;
    if (p->at[k] + p->size[k] < axis[k] && back < n)
        f *= (back + 1.0) / n;
    return f;
}

// Of item or frame f, row y, column x of the place.
static double weight_of(const nino_cond_entry *e, const place *p, const int *axis, int f, int y,
                        int x, bool is_clip)
{
    if (e->mask) {
        const int64_t *d = e->mask->shape.dim;
        const int64_t plane = is_clip && d[0] == 1 ? 0 : f;
        const int64_t cell = (plane * d[1] + p->at[1] + y) * d[2] + p->at[2] + x;
        return (double) nino_array_f32(e->mask)[cell] * e->mask_strength * e->strength;
    }
    return e->strength *
           (p->has_area ? fade(p, axis, 1, y) * fade(p, axis, 2, x) : 1); // not in time
}

static void check_use(const nino_cond_use *u, const nino_cond_entry *e, const int *axis, int batch,
                      bool is_clip)
{
    const place p = place_of(e, axis);
    const int first = is_clip ? 0 : 1; // of the three axes
    CHECK(u->has_area == p.has_area);
    for (int k = first; k < 3; k++)
        CHECK(u->size[k - first] == p.size[k] && u->at[k - first] == p.at[k]);
    int64_t n = e->mask && !is_clip ? e->mask->shape.dim[0] : 1;
    n = n < batch ? n : batch;
    CHECK(u->mult->shape.dim[0] == n);
    const int frames = is_clip ? axis[0] : (int) n;
    const float *m = nino_array_f32(u->mult);
    CHECK(nino_shape_count(&u->mult->shape) == (int64_t) frames * p.size[1] * p.size[2]);
    for (int f = 0; f < frames; f++)
        for (int y = 0; y < p.size[1]; y++)
            for (int x = 0; x < p.size[2]; x++, m++) {
                const double want = weight_of(e, &p, axis, f, y, x, is_clip);
                if (!(fabs((double) *m - want) < 1e-6)) {
                    fprintf(stderr, "%d axes, frame %d, row %d, column %d: %g, expected %g\n",
                            is_clip ? 3 : 2, f, y, x, (double) *m, want);
                    exit(1);
                }
            }
}

// ---- drawn cases ----------------------------------------------------------------------------------

static void draw_entry(nino_cond_entry *e, const int *axis, int batch, bool is_clip)
{
    static const double strengths[] = { 0, 1, -0.5, 0.75, 2 };
    e->strength = strengths[draw(0, 4)];
    e->mask_strength = strengths[draw(0, 4)];
    e->area_kind = (nino_area_kind) draw(0, 2);
    if (e->area_kind == NINO_AREA_CELLS) {
        e->area_h = draw(0, axis[1] + 3);
        e->area_w = draw(0, axis[2] + 3);
        e->area_y = draw(-1, axis[1]) * draw(0, 1);
        e->area_x = draw(-1, axis[2]) * draw(0, 1);
    } else if (e->area_kind == NINO_AREA_FRACTION) {
        e->area_h = draw(0, 20) / 20.0;
        e->area_w = draw(0, 20) / 20.0;
        e->area_y = draw(0, 20) / 20.0 * draw(0, 1);
        e->area_x = draw(0, 20) / 20.0 * draw(0, 1);
    }
    if (draw(0, 2)) // an area alone is as usual as a mask
        return;
    const int n = is_clip ? (draw(0, 1) ? axis[0] : 1) : draw(1, batch + 1);
    const int y = draw(0, axis[1] - 1), x = draw(0, axis[2] - 1), h = draw(0, 12), w = draw(0, 20);
    nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(n, axis[1], axis[2]));
    CHECK(m);
    for (int64_t i = 0; i < nino_shape_count(&m->shape); i++) {
        const int64_t row = i / axis[2] % axis[1], column = i % axis[2];
        if (row >= y && row < y + h && column >= x && column < x + w)
            nino_array_f32(m)[i] = (float) draw(-1, 4) / 4;
    }
    give(&e->mask, m);
    e->mask_bounds = draw(0, 1);
}

static int check_case(bool is_clip)
{
    const int batch = draw(1, 3), axis[3] = { is_clip ? draw(1, 4) : 1, draw(1, 40), draw(1, 40) };
    const nino_shape latent = is_clip ? NINO_SHAPE(batch, axis[0], axis[1], axis[2], C)
                                      : NINO_SHAPE(batch, axis[1], axis[2], C);
    nino_cond *p = cond_of(1, 4, 1);
    draw_entry(p->entry, axis, batch, is_clip);
    nino_error err = { 0 };
    const nino_status st = begin(p, NULL, latent, &err);
    const place want = place_of(p->entry, axis);
    bool is_outside = false;
    for (int k = 1; k < 3; k++)
        is_outside |= want.at[k] < 0 || want.size[k] < 1;
    CHECK(r.cells == (int64_t) axis[0] * axis[1] * axis[2] && r.channels == C && r.batch == batch);
    if (is_outside) {
        char text[120];
        snprintf(text, sizeof(text), "it lies outside of the latent, which has %dx%d cells",
                 axis[2], axis[1]);
        CHECK(st == NINO_ERR_RANGE);
        CHECK_STR(err.where, "conditioning area");
        CHECK_STR(err.msg, text);
    } else {
        CHECK_OK(st, err);
        CHECK(r.list[NINO_COND_POSITIVE].n == 1 && !r.list[NINO_COND_NEGATIVE].n);
        check_use(r.list[NINO_COND_POSITIVE].use, p->entry, axis, batch, is_clip);
    }
    nino_guide_release_conds(&r);
    nino_cond_unref(&p);
    return is_outside;
}

// ---- both sides -----------------------------------------------------------------------------------

// An area of one side is asked of the other as well, with the other's text, where that has nothing of
// that area; it says whose row it is, and applies when the area's entry does.
static void check_completed(bool from_negative)
{
    nino_cond *a = cond_of(1, 4, 1), *b = cond_of(1, 4, -1);
    nino_cond_entry *e = a->entry;
    e->area_kind = NINO_AREA_CELLS;
    e->area_h = 10, e->area_w = 6, e->area_y = 3, e->area_x = 2;
    e->strength = 0.5;
    e->start = 0.25;
    e->end = 0.75;
    nino_error err = { 0 };
    CHECK_OK(begin(from_negative ? b : a, from_negative ? a : b, NINO_SHAPE(1, H, W, C), &err),
             err);
    const int own = from_negative ? NINO_COND_NEGATIVE : NINO_COND_POSITIVE,
              other = from_negative ? NINO_COND_POSITIVE : NINO_COND_NEGATIVE;
    const nino_cond_use *mine = r.list[own].use, *theirs = r.list[other].use;
    CHECK(r.list[own].n == 1 && r.list[other].n == 2 && !r.list[NINO_COND_MIDDLE].n);
    CHECK(r.has[own] && r.has[other] && !r.has[NINO_COND_MIDDLE]);
    CHECK(mine->is_negative == from_negative);
    CHECK(theirs[0].is_negative == !from_negative && theirs[1].is_negative == !from_negative);
    CHECK(!theirs[0].has_area && theirs[1].has_area && theirs[1].model == theirs[0].model);
    CHECK(theirs[1].model != mine->model);
    const int axis[3] = { 1, H, W };
    check_use(mine, e, axis, 1, false);
    check_use(&theirs[1], e, axis, 1, false);
    const double first = nino_sampling_percent_to_sigma(r.sampling, 0.25),
                 until = nino_sampling_percent_to_sigma(r.sampling, 0.75);
    CHECK(mine->first == first && mine->last == until && theirs[1].first == first &&
          theirs[1].last == until);
    CHECK(isinf(theirs[0].first) && theirs[0].last == 0); // always
    nino_guide_release_conds(&r);
    nino_cond_unref(&a);
    nino_cond_unref(&b);
}

// Of entries around an area the smallest is asked, the first of those as small; one without an area
// is larger than all. The same area is there already.
static void check_around(void)
{
    static const struct {
        int size[3], want; // squares of the negative side from 0 on, 0: no area; -1: none is added
    } cases[] = { { { 0, 20, 16 }, 2 }, { { 20, 0, 18 }, 2 }, { { 0, 0, 0 }, 0 },
                  { { 8, 9, 0 }, 2 },   { { 8, 9, 10 }, -1 }, { { 15, 14, 15 }, 1 },
                  { { 18, 18, 20 }, 0 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        nino_cond *p = cond_of(1, 4, 1), *n = cond_of(3, 4, -1);
        for (int k = 0; k < 4; k++) {
            nino_cond_entry *e = k < 3 ? &n->entry[k] : p->entry;
            const int size = k < 3 ? cases[i].size[k] : 8;
            e->area_kind = size ? NINO_AREA_CELLS : (nino_area_kind) 0;
            e->area_h = e->area_w = size;
            e->area_y = e->area_x = k < 3 ? 0 : 4;
        }
        nino_error err = { 0 };
        CHECK_OK(begin(p, n, NINO_SHAPE(1, H, W, C), &err), err);
        const nino_cond_list *l = &r.list[NINO_COND_NEGATIVE];
        CHECK(l->n == 3 + (cases[i].want >= 0));
        if (cases[i].want >= 0)
            CHECK(l->use[3].model == l->use[cases[i].want].model && l->use[3].at[0] == 4);
        nino_guide_release_conds(&r);
        nino_cond_unref(&p);
        nino_cond_unref(&n);
    }
}

// ---- when, and refusals ---------------------------------------------------------------------------

static void check_ranges(void)
{
    static const double at[] = { -1, 0, 0.001, 0.4, 0.999, 1, 2 };
    for (int k = 0; k < 49; k++) {
        nino_cond *p = cond_of(1, 4, 1);
        nino_error err = { 0 };
        const double start = p->entry->start = at[k / 7], stop = p->entry->end = at[k % 7];
        CHECK_OK(begin(p, NULL, NINO_SHAPE(1, H, W, C), &err), err);
        const nino_cond_use *u = r.list[NINO_COND_POSITIVE].use;
        CHECK(start > 0 ? u->first == nino_sampling_percent_to_sigma(r.sampling, start)
                        : isinf(u->first));
        CHECK(u->last == (stop < 1 ? nino_sampling_percent_to_sigma(r.sampling, stop) : 0));
        nino_guide_release_conds(&r);
        nino_cond_unref(&p);
    }
}

static void refused(nino_array *mask, nino_shape latent, const char *what)
{
    nino_cond *p = cond_of(1, 4, 1);
    nino_error err = { 0 };
    give(&p->entry->mask, mask);
    CHECK(begin(p, NULL, latent, &err) == NINO_ERR_ARG);
    CHECK_STR(err.where, "mask");
    CHECK_STR(err.msg, what);
    nino_guide_release_conds(&r);
    nino_cond_unref(&p);
}

static void check_refusals(void)
{
    const char *const rank = "a conditioning mask has three dimensions";
    refused(array_of(NINO_SHAPE(H, W), 0, 1), NINO_SHAPE(1, H, W, C), rank);
    refused(array_of(NINO_SHAPE(1, H, W, 1), 0, 1), NINO_SHAPE(1, H, W, C), rank);
    refused(nino_array_create(NINO_U8, NINO_SHAPE(1, H, W)), NINO_SHAPE(1, H, W, C), rank);
    refused(array_of(NINO_SHAPE(2, H, W), 0, 1), NINO_SHAPE(1, 3, H, W, C),
            "2 masks for a video of 3 latent frames");
    refused(array_of(NINO_SHAPE(4, H, W), 0, 1), NINO_SHAPE(1, 3, H, W, C),
            "4 masks for a video of 3 latent frames");
}

int main(void)
{
    int n_outside = 0;
    open_all();
    guider.model = nino_model_create(&net.d);
    CHECK(guider.model);
    for (int i = 0; i < 1200; i++)
        n_outside += check_case(i % 2);
    CHECK(n_outside > 50 && n_outside < 600); // both kinds are there
    check_completed(false);
    check_completed(true);
    check_around();
    check_ranges();
    check_refusals();
    nino_model_unref(&guider.model);
    close_all();
    return 0;
}
