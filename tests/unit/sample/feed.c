// What a batch of entries of conditioning is on the device, value by value: a text of its own length each,
// repeated; rows of a batch in their order; the part of a picture or clip that an area sees; that the
// same entries get the same once more, others do not, and what goes when a run ends.
#include "core/sample/guide/guide_priv.h"
#include "tests/guided.h"

enum { BATCH = 2, ENTRIES = 3, T = 2, ROWS = 4, COLUMNS = 5, EXTRA = 3 };

static nino_guide_run r;
static nino_cond_model model[ENTRIES];
static nino_cond_use use[ENTRIES];
static nino_array *made[64], *refs[ENTRIES][2];
static int n_made;
static uint64_t at_first;

static uint64_t in_use(void)
{
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    return m.in_use;
}

// ---- under plan -----------------------------------------------------------------------------------

enum { EVALUATIONS = 7 };

static const int *loads; // bytes of weights that come in, walk by walk

// A network of which each walk costs more than the one before.
static nino_tensor *costly(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    fake_net *n = d->net;
    nino_backend *plan = nino_stream_backend(s);
    plan->flops += 1000 * (n->n + 1);
    plan->load_bytes += (uint64_t) loads[n->n++];
    CHECK(nino_dim(f->x, 0) == BATCH && nino_dim(f->x, 1) == ROWS && nino_dim(f->x, 3) == C);
    nino_unref(f->context);
    return f->x;
}

// A batch is walked twice, and while weights come in until as many did so three times; then the last
// walk counts for the others. Another way is walked anew.
static void check_walks(void)
{
    static const struct {
        int loads[2 * EVALUATIONS], walks;
    } cases[] = { { { 0, 0, 1 }, 2 },       { { 5, 0, 1 }, 2 },
                  { { 5, 5, 5, 1 }, 3 },    { { 5, 4, 0, 1 }, 3 },
                  { { 5, 4, 4, 4, 1 }, 4 }, { { 5, 5, 4, 4, 4, 1 }, 5 },
                  { { 5, 5, 4, 0, 1 }, 4 }, { { 5, 4, 5, 4, 5, 4, 5 }, 7 } };
    nino_error err = { 0 };
    net.d.forward = costly;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, &err);
        nino_stream *s = nino_stream_create(
            &(nino_stream_params){ .backend = plan, .precision = NINO_PREC_F32 }, &err);
        CHECK(plan && s);
        nino_cond_model m = { .context = array_of(NINO_SHAPE(1, 2, 3), 0, 1), .guidance = NAN };
        const nino_cond_use u = { .model = &m, .size = { ROWS, COLUMNS } };
        const nino_guide_piece p = { &u, 0 };
        const nino_shape latent = NINO_SHAPE(BATCH, ROWS, COLUMNS, C);
        r = (nino_guide_run){ .s = s, .net = &net.d };
        nino_guide_set_shape(&r, &latent);
        nino_guide_feed *f = nino_guide_feed_get(&r, &p, 1);
        net.n = 0;
        loads = cases[k].loads;
        double flops = plan->flops;
        uint64_t load = plan->load_bytes;
        for (int i = 0; i < EVALUATIONS; i++) {
            nino_guide_run_batch(&r, &p, 1, NULL, 1);
            const int walk = i < cases[k].walks ? i : cases[k].walks - 1;
            CHECK(net.n == walk + 1 && r.forwards == (uint64_t) net.n && f->n_walks == 1);
            flops += 1000 * (walk + 1);
            load += (uint64_t) loads[walk];
            CHECK(plan->flops == flops && plan->load_bytes == load);
        }
        r.skip.singles = 1;
        loads = (const int[3 * EVALUATIONS]){ 0 };
        for (int i = 0; i < 3; i++)
            nino_guide_run_batch(&r, &p, 1, NULL, 1);
        CHECK(net.n == cases[k].walks + 2 && f->n_walks == 2 && f->walk[1].way.skip.singles == 1);
        r.skip.singles = 0;
        nino_guide_run_batch(&r, &p, 1, NULL, 1);
        CHECK(net.n == cases[k].walks + 2 + (cases[k].walks == EVALUATIONS) && f->n_walks == 2);
        CHECK(nino_stream_status(s, NULL) == NINO_OK && r.feeds == f);
        nino_guide_release_feeds(&r);
        nino_array_unref(&m.context);
        nino_stream_destroy(&s);
        nino_backend_close(&plan);
    }
    net.d.forward = fake_forward;
}

// What the network is given is what there is of the batch; it may do with it as it likes.
static nino_tensor *given(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    fake_net *n = d->net;
    const nino_guide_feed *feed = r.feeds;
    CHECK(nino_stream_is_plan(s) && nino_dim(f->x, 0) == feed->n * r.batch);
    CHECK(f->context == feed->context && f->context_mask == feed->context_mask);
    CHECK(f->y == feed->y && f->concat == feed->concat && f->vision == feed->vision);
    CHECK(f->n_refs == 2 && f->n_controls == 2 && !f->residuals && !f->pass && !f->frames);
    CHECK(f->text == &feed->text && f->times == &r.times && f->guidance == 4);
    CHECK(f->control_strength == model[0].control_strength && f->skip.doubles == 9);
    for (int i = 0; i < f->n_refs; i++) {
        CHECK(f->refs[i] == feed->refs[i]);
        nino_unref(f->refs[i]);
    }
    for (int i = 0; i < NINO_COND_CONTROLS; i++) {
        CHECK(f->control[i] == feed->control[i]);
        nino_unref(f->control[i]);
    }
    for (int64_t i = 0; i < feed->n * r.batch; i++)
        CHECK(f->timestep[i] == 0);
    nino_tensor *const all[] = { f->context, f->context_mask, f->y, f->concat, f->vision };
    for (int i = 0; i < 5; i++)
        nino_unref(all[i]);
    n->n++;
    return f->x;
}

static int64_t told_part, told_whole; // of the op that ran last
static const nino_backend_impl *below;

static nino_status spied(nino_backend *plan, const nino_op_call *c, nino_error *err)
{
    told_part = c->d.part;
    told_whole = c->d.whole;
    return below->run(plan, c, err);
}

static nino_tensor *scaled(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    (void) d;
    nino_unref(f->context);
    return nino_scale(s, f->x, 2, 0);
}

// A batch that is a part of another is computed as that: n entries of each make a part of n of the whole.
static void check_parts(void)
{
    static const int64_t wholes[] = { 0, 5, 9 };
    for (int k = 0; k < 3; k++)
        for (int n = 1; n <= ENTRIES; n++) {
            nino_error err = { 0 };
            nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, &err);
            nino_stream *s = nino_stream_create(
                &(nino_stream_params){ .backend = plan, .precision = NINO_PREC_F32 }, &err);
            CHECK(plan && s);
            nino_backend_impl spy = *plan->impl;
            below = plan->impl;
            spy.run = spied;
            nino_cond_model m = { .context = array_of(NINO_SHAPE(1, 2, 3), 0, 1), .guidance = NAN };
            const nino_cond_use u = { .model = &m, .size = { ROWS, COLUMNS } };
            const nino_guide_piece p[ENTRIES] = { { &u, 0 }, { &u, 0 }, { &u, 0 } };
            const nino_shape latent = NINO_SHAPE(BATCH, ROWS, COLUMNS, C);
            r = (nino_guide_run){ .s = s, .net = &net.d, .whole = wholes[k] };
            nino_guide_set_shape(&r, &latent);
            net.d.forward = scaled;
            plan->impl = &spy;
            told_part = told_whole = -1;
            nino_guide_run_batch(&r, p, n, NULL, 1);
            CHECK(told_part == (wholes[k] ? n * BATCH : 0) && told_whole == n * wholes[k]);
            nino_unref(nino_scale(s, nino_zeros(s, NINO_SHAPE(n * BATCH, 2), NINO_F32), 2, 0));
            CHECK(!told_part && !told_whole); // nothing else is a part
            plan->impl = below;
            CHECK(nino_stream_status(s, NULL) == NINO_OK);
            nino_guide_release_feeds(&r);
            nino_array_unref(&m.context);
            nino_stream_destroy(&s);
            nino_backend_close(&plan);
        }
    net.d.forward = fake_forward;
}

// ---- on the device --------------------------------------------------------------------------------

// Values that no other array has.
static nino_array *next(nino_shape shape)
{
    CHECK(n_made < 64);
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (n_made * 1000 + i);
    return made[n_made++] = a;
}

static void begin(bool is_clip)
{
    const nino_shape latent =
        is_clip ? NINO_SHAPE(BATCH, T, ROWS, COLUMNS, C) : NINO_SHAPE(BATCH, ROWS, COLUMNS, C);
    r = (nino_guide_run){ .s = stream, .net = &net.d };
    nino_guide_set_shape(&r, &latent);
    at_first = in_use();
    for (int i = 0; i < ENTRIES; i++) {
        nino_cond_model *m = &model[i];
        nino_shape concat = latent;
        concat.dim[concat.rank - 1] = EXTRA;
        *m = (nino_cond_model){ .context = next(NINO_SHAPE(1 + i % 2, 2 + 2 * (i % 2), 3)),
                                .context_mask = next(NINO_SHAPE(1, 4)),
                                .y = next(NINO_SHAPE(1 + (i == 2), 5)),
                                .concat = next(concat),
                                .vision = next(NINO_SHAPE(1, 2, 6)),
                                .control_context = next(NINO_SHAPE(1, 3, 2)),
                                .control = { next(NINO_SHAPE(1, 2, 2, 2, 3)),
                                             next(NINO_SHAPE(1, 2, 2, 2, 3)) },
                                .n_controls = 2,
                                .refs = refs[i],
                                .n_refs = 2 };
        refs[i][0] = next(NINO_SHAPE(1 + (i == 1), 2, 3, C));
        refs[i][1] = next(NINO_SHAPE(1, 3, 1, C));
        use[i] = (nino_cond_use){ .model = m };
        memcpy(use[i].size, r.axis, sizeof(r.axis));
    }
}

static void end(void)
{
    nino_guide_release_feeds(&r);
    CHECK(!r.feeds && !r.fits && !r.n_fits && in_use() == at_first);
    while (n_made)
        nino_array_unref(&made[--n_made]);
}

// Each entry's rows, for each item of the batch the one that is its turn, as often as the row is long.
static void expect(nino_tensor *t, const nino_array *const *from, int n)
{
    nino_array *got = nino_download(stream, nino_ref(t), NINO_F32);
    CHECK(got && got->shape.dim[0] == n * BATCH);
    const size_t row = got->bytes / (size_t) (n * BATCH);
    for (int i = 0; i < n * BATCH; i++) {
        const nino_array *a = from[i / BATCH];
        const size_t own = a->bytes / (size_t) a->shape.dim[0];
        CHECK(row % own == 0);
        for (size_t k = 0; k < row; k += own)
            CHECK(!memcmp((char *) got->data + (size_t) i * row + k,
                          (char *) a->data + (size_t) (i % BATCH % a->shape.dim[0]) * own, own));
    }
    nino_array_unref(&got);
}

#define EXPECT_OF(t, field)                                                                        \
    do {                                                                                           \
        const nino_array *from[ENTRIES];                                                           \
        for (int i_ = 0; i_ < n; i_++)                                                             \
            from[i_] = p[i_].use->model->field;                                                    \
        expect(t, from, n);                                                                        \
    } while (0)

// The cells that entry i's area has of its pictures.
static void expect_concat(nino_tensor *t, const nino_guide_piece *p, int n)
{
    nino_array *got = nino_download(stream, nino_ref(t), NINO_F32);
    CHECK(got && got->shape.rank == r.n_axes + 2 && got->shape.dim[r.n_axes + 1] == EXTRA);
    const int frames = r.n_axes == 3 ? T : 1, k = r.n_axes - 2;
    const float *v = nino_array_f32(got);
    for (int i = 0; i < n; i++)
        for (int f = 0; f < BATCH * frames; f++)
            for (int64_t y = 0; y < p[i].use->size[k]; y++)
                for (int64_t x = 0; x < p[i].use->size[k + 1]; x++, v += EXTRA) {
                    const int64_t row = f * ROWS + p[i].use->at[k] + y;
                    const int64_t cell = row * COLUMNS + p[i].use->at[k + 1] + x;
                    CHECK(!memcmp(v, nino_array_f32(p[i].use->model->concat) + cell * EXTRA,
                                  EXTRA * sizeof(*v)));
                }
    CHECK(v == nino_array_f32(got) + nino_shape_count(&got->shape));
    nino_array_unref(&got);
}

static void check_feed(const nino_guide_piece *p, int n, int tokens)
{
    nino_guide_feed *f = nino_guide_feed_get(&r, p, n);
    CHECK(f && f->n == n && r.feeds == f && f->n_refs == 2 && !f->hints && !f->n_walks);
    for (int i = 0; i < n; i++)
        CHECK(f->use[i] == p[i].use);
    CHECK(nino_dim(f->context, 1) == tokens && nino_dim(f->context, 2) == 3);
    EXPECT_OF(f->context, context);
    EXPECT_OF(f->context_mask, context_mask);
    EXPECT_OF(f->y, y);
    EXPECT_OF(f->vision, vision);
    EXPECT_OF(f->control_context, control_context);
    EXPECT_OF(f->control[0], control[0]);
    EXPECT_OF(f->control[1], control[1]);
    EXPECT_OF(f->refs[0], refs[0]);
    EXPECT_OF(f->refs[1], refs[1]);
    for (int i = 2; i < NINO_COND_CONTROLS; i++)
        CHECK(!f->control[i]);
    expect_concat(f->concat, p, n);
    CHECK(nino_guide_feed_get(&r, p, n) == f);
}

static void check_all(bool is_clip)
{
    begin(is_clip);
    nino_guide_piece p[] = { { &use[0], 0 }, { &use[1], 1 }, { &use[2], 2 } };
    check_feed(p, 3, 4);
    nino_guide_feed *const all = r.feeds;
    check_feed(p, 2, 4); // what is there for three is not for two
    check_feed(p, 1, 2);
    check_feed(p + 1, 1, 4);
    p[0].use = &use[1];
    p[1].use = &use[0];
    check_feed(p, 2, 4); // nor for another order
    p[0].use = &use[0];
    p[1].use = &use[1];
    CHECK(nino_guide_feed_get(&r, p, 3) == all && !all->next);
    int n = 0;
    for (const nino_guide_feed *f = r.feeds; f; f = f->next)
        n++;
    CHECK(n == 5);
    end();
    begin(is_clip); // areas of one size in places of their own
    for (int i = 0; i < ENTRIES; i++) {
        const int k = r.n_axes - 2;
        use[i].has_area = true;
        use[i].size[k] = 2;
        use[i].size[k + 1] = 3;
        use[i].at[k] = i;
        use[i].at[k + 1] = 2 - i;
    }
    check_feed(p, 3, 4);
    end();
}

// An entry that says no more than its text.
static void check_bare(void)
{
    begin(false);
    model[0] = (nino_cond_model){ .context = model[0].context };
    const nino_guide_piece p = { &use[0], 0 };
    const nino_guide_feed *f = nino_guide_feed_get(&r, &p, 1);
    CHECK(f && f->context && !f->context_mask && !f->y && !f->concat && !f->vision && !f->refs &&
          !f->n_refs && !f->control_context);
    for (int i = 0; i < NINO_COND_CONTROLS; i++)
        CHECK(!f->control[i]);
    end();
}

static void check_given(void)
{
    nino_error err = { 0 };
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = plan, .precision = NINO_PREC_F32 }, &err);
    CHECK(plan && s);
    begin(false);
    const nino_guide_piece p[] = { { &use[0], 0 }, { &use[1], 1 }, { &use[2], 2 } };
    for (int i = 0; i < ENTRIES; i++)
        model[i].guidance = 4;
    r.s = s;
    r.skip.doubles = 9;
    net.d.forward = given;
    net.n = 0;
    nino_guide_run_batch(&r, p, 3, NULL, 1);
    nino_guide_run_batch(&r, p, 3, NULL, 1);
    CHECK(net.n == 2 && nino_stream_status(s, NULL) == NINO_OK);
    net.d.forward = fake_forward;
    end();
    nino_stream_destroy(&s);
    nino_backend_close(&plan);
}

int main(void)
{
    open_all();
    check_all(false);
    check_all(true);
    check_bare();
    check_walks();
    check_given();
    check_parts();
    close_all();
    return 0;
}
