// Which entries of conditioning are evaluated in one forward, for each thing in which two can differ,
// of pictures and of clips; the order that leaves; and texts that no network takes.
#include "core/sample/guide/guide_priv.h"
#include "tests/guided.h"

enum { PIECES = 6 };

typedef struct pair { // two entries that say the same at first
    nino_cond_model model[2];
    nino_cond_use use[2];
    nino_array *refs[2][2];
} pair;

static nino_guide_run r;
static nino_array *tokens[13], *wide[4]; // texts of so many tokens; rows of so many numbers

static pair pair_of(void)
{
    static pair p;
    p = (pair){ 0 };
    for (int i = 0; i < 2; i++) {
        p.refs[i][0] = p.refs[i][1] = wide[2];
        p.model[i] = (nino_cond_model){ .context = tokens[4],
                                        .context_mask = wide[3],
                                        .y = wide[2],
                                        .concat = wide[2],
                                        .vision = wide[1],
                                        .control_context = wide[1],
                                        .n_controls = 2,
                                        .control_strength = { 1, 0.5f },
                                        .refs = p.refs[i],
                                        .n_refs = 2,
                                        .guidance = NAN };
        p.use[i] = (nino_cond_use){ .size = { 3, 5, 7 } };
    }
    return p;
}

static int chosen(pair *p)
{
    nino_guide_piece piece[2];
    for (int i = 0; i < 2; i++) {
        p->model[i].refs = p->refs[i];
        p->use[i].model = &p->model[i];
        piece[i] = (nino_guide_piece){ &p->use[i], i };
    }
    return nino_guide_choose(&r, piece, 2);
}

// Both ways round: a pair is no matter of order.
static void expect(pair p, bool share, const char *what)
{
    for (int turn = 0; turn < 2; turn++) {
        if (chosen(&p) != 1 + share) {
            fprintf(stderr, "%s, %d axes: expected %s\n", what, r.n_axes, share ? "one" : "two");
            exit(1);
        }
        const pair q = p;
        for (int i = 0; i < 2; i++) {
            p.model[i] = q.model[1 - i];
            p.use[i] = q.use[1 - i];
            memcpy(p.refs[i], q.refs[1 - i], sizeof(p.refs[i]));
        }
    }
}

#define DIFFER(share, field, ...)                                                                  \
    do {                                                                                           \
        pair p = pair_of();                                                                        \
        p.field = __VA_ARGS__;                                                                     \
        expect(p, share, #field " = " #__VA_ARGS__);                                               \
    } while (0)

static void check_fields(void)
{
    const nino_control_use *const other = (const nino_control_use *) (const void *) &r;
    expect(pair_of(), true, "the same");
    DIFFER(false, use[1].control, other);
    DIFFER(false, model[1].control_context, wide[2]);
    DIFFER(false, model[1].control_context, NULL);
    DIFFER(false, model[1].context_mask, NULL);
    DIFFER(false, model[1].context_mask, wide[2]);
    DIFFER(false, model[1].y, NULL);
    DIFFER(false, model[1].y, wide[1]);
    DIFFER(false, model[1].concat, NULL);
    DIFFER(false, model[1].concat, wide[3]);
    DIFFER(false, model[1].vision, NULL);
    DIFFER(false, model[1].vision, wide[3]);
    DIFFER(false, model[1].n_controls, 1);
    DIFFER(false, model[1].control_strength[0], 2);
    DIFFER(false, model[1].control_strength[1], 0.25f);
    DIFFER(true, model[1].control_strength[2], 9); // not one of the two
    DIFFER(false, model[1].n_refs, 1);
    DIFFER(false, model[1].ref_method, (nino_ref_method) 1);
    DIFFER(false, refs[1][0], wide[1]);
    DIFFER(false, refs[1][1], wide[1]);
    DIFFER(false, model[1].guidance, 3.5f);
    DIFFER(true, use[1].is_negative, true); // nothing that the network is not told by row
    DIFFER(true, use[1].first, 3);
    DIFFER(true, use[1].at[0], 2);
    for (int i = 0; i < NINO_MAX_AXES; i++) // of pictures the third axis means nothing
        for (int by = -1; by <= 1; by += 2)
            DIFFER(i >= r.n_axes, use[1].size[i], 3 + 2 * i + by);
    pair p = pair_of();
    p.model[0].guidance = p.model[1].guidance = 2;
    expect(p, true, "the same guidance");
    p.model[1].guidance = 2.5f;
    expect(p, false, "another guidance");
    p = pair_of(); // without references it does not matter what would be made of them
    p.model[0].n_refs = p.model[1].n_refs = 0;
    p.model[1].ref_method = (nino_ref_method) 1;
    expect(p, true, "no references");
}

// A text may be repeated up to four times by cross-attention, never where tokens see each other.
static void check_texts(void)
{
    static const struct {
        int a, b;
        bool share;
    } texts[] = { { 4, 4, true },   { 4, 8, true },  { 3, 12, true }, { 2, 12, false },
                  { 1, 4, true },   { 1, 5, false }, { 4, 6, true },  { 6, 8, true },
                  { 5, 4, false },  { 7, 8, false }, { 9, 12, true }, { 11, 12, false },
                  { 10, 12, false } };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        for (int kind = 0; kind < 3; kind++) {
            static const nino_diffusion_kind kinds[] = { NINO_DIFFUSION_UNET, NINO_DIFFUSION_FLUX,
                                                         NINO_DIFFUSION_SD3 };
            // 10 and 12 tokens make 60, six times the shorter; 6 and 8 make 24, four times
            const bool same = texts[i].a == texts[i].b;
            pair p = pair_of();
            net.d.kind = kinds[kind];
            p.model[0].context = tokens[texts[i].a];
            p.model[1].context = tokens[texts[i].b];
            expect(p, kind ? same : texts[i].share, "texts");
        }
    net.d.kind = NINO_DIFFUSION_UNET;
}

// What goes with the first comes to the front in its order; the others keep theirs.
static void check_order(void)
{
    for (int code = 0; code < 1 << (PIECES - 1); code++) {
        nino_cond_model m[PIECES];
        nino_cond_use u[PIECES];
        nino_guide_piece p[PIECES];
        int want[PIECES], n = 0;
        for (int i = 0; i < PIECES; i++) {
            const bool is_other = i && (code >> (i - 1) & 1);
            m[i] = (nino_cond_model){ .context = tokens[is_other ? 5 : 4], .guidance = NAN };
            u[i] = (nino_cond_use){ .model = &m[i], .size = { 2, 2, 2 } };
            p[i] = (nino_guide_piece){ &u[i], i % NINO_COND_KINDS };
        }
        for (int other = 0, at = 0; other < 2; other++) {
            for (int i = 0; i < PIECES; i++)
                if ((m[i].context == tokens[5]) == other)
                    want[at++] = i;
            n = other ? n : at;
        }
        CHECK(nino_guide_choose(&r, p, PIECES) == n);
        for (int i = 0; i < PIECES; i++)
            CHECK(p[i].use == &u[want[i]] && p[i].kind == want[i] % NINO_COND_KINDS);
        CHECK(nino_guide_tokens(p, n) == 4);
        CHECK(nino_guide_tokens(p, PIECES) == (code ? 20 : 4));
    }
    pair same = pair_of();
    r.one_by_one = true;
    CHECK(chosen(&same) == 1);
    r.one_by_one = false;
    r.is_apart = true;
    CHECK(chosen(&same) == 1);
    r.is_apart = false;
    CHECK(chosen(&same) == 2);
}

static void check_numbers(void)
{
    for (int64_t a = 0; a <= 12; a++)
        for (int64_t b = 0; b <= 12; b++) {
            int64_t least = a && b ? 1 : 0;
            while (least && (least % a || least % b))
                least++;
            CHECK(nino_guide_lcm(a, b) == least);
        }
    const nino_cond_use u = { .size = { 3, 5, 7 } };
    r.batch = 2;
    const nino_shape s = nino_guide_tile_shape(&r, &u, 3, 4);
    CHECK(s.rank == r.n_axes + 2 && s.dim[0] == 6 && s.dim[1] == 3 && s.dim[2] == 5);
    CHECK(s.dim[r.n_axes] == (r.n_axes == 3 ? 7 : 5) && s.dim[r.n_axes + 1] == 4);
    r.batch = 1;
}

// ---- how many the memory allows -------------------------------------------------------------------

static nino_cond_model alike[PIECES];
static nino_cond_use alike_use[PIECES];

// A network that needs 256 MiB a row for a while, of a plan, which has none of it.
static nino_tensor *hungry(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    fake_net *n = d->net;
    CHECK(nino_stream_is_plan(s));
    n->n++;
    nino_unref(nino_zeros(s, NINO_SHAPE(nino_dim(f->x, 0), 64 << 20), NINO_F32));
    nino_unref(f->context);
    return f->x;
}

static void all_alike(nino_guide_piece *p)
{
    for (int i = 0; i < PIECES; i++) {
        alike[i] = (nino_cond_model){ .context = tokens[4], .guidance = NAN };
        alike_use[i] = (nino_cond_use){ .model = &alike[i] };
        memcpy(alike_use[i].size, (int64_t[]){ 48, 40, 3 }, sizeof(alike_use[i].size));
        p[i] = (nino_guide_piece){ &alike_use[i], 0 };
    }
}

typedef struct asked { // of a run under a budget
    int k, again, walks, walks_again, rows, rows_most;
} asked;

// Weights of another model are there, which make room when they must.
static void bring_weights(nino_stream *s)
{
    nino_mem_stat m;
    nino_unref(nino_conv2d(s, nino_zeros(s, NINO_SHAPE(1, 1, 1, C), NINO_F32), &net.mix));
    CHECK(nino_stream_status(s, NULL) == NINO_OK);
    nino_pool_stat(nino_stream_backend(s)->pool, &m);
    CHECK(m.by_owner[NINO_OWN_WEIGHTS] > 0 && m.in_use == m.by_owner[NINO_OWN_WEIGHTS]);
}

// `held` bytes are in use for something else; of as many rows as `chosen` where that is not 0.
static asked ask(uint64_t budget, uint64_t held, int chosen)
{
    nino_error err = { 0 };
    asked a;
    nino_guide_piece p[PIECES];
    nino_backend *own = nino_ref_open(budget, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = own, .precision = NINO_PREC_F32 }, &err);
    CHECK(own && s);
    if (budget)
        bring_weights(s);
    nino_tensor *t = held ? nino_zeros(s, NINO_SHAPE((int64_t) held / 4), NINO_F32) : NULL;
    const nino_choice choice = { .rows = chosen };
    nino_stream_set_choice(s, &choice);
    r.s = s;
    net.n = 0;
    all_alike(p);
    a.k = nino_guide_choose(&r, p, PIECES);
    a.walks = net.n;
    a.again = nino_guide_choose(&r, p, PIECES);
    a.walks_again = net.n - a.walks;
    a.rows = nino_stream_taken(s)->rows;
    a.rows_most = nino_stream_taken(s)->rows_most;
    nino_guide_release_feeds(&r); // what is known of batches too
    nino_unref(t);
    nino_stream_destroy(&s);
    nino_backend_drop_weights(own);
    nino_backend_close(&own);
    r.s = stream;
    return a;
}

// What a plan takes for k of them.
static uint64_t need_of(int k)
{
    nino_mem_stat m;
    nino_backend *plan = nino_plan_open(&be->profile, 0, NULL, NULL);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = plan, .precision = NINO_PREC_F32 }, NULL);
    CHECK(plan && s);
    nino_forward f = { .x = nino_zeros(s, NINO_SHAPE(k, 48, 40, C), NINO_F32) };
    f.context = nino_zeros(s, NINO_SHAPE(k, 4, 3), NINO_F32);
    nino_unref(hungry(s, &net.d, &f));
    nino_pool_stat(plan->pool, &m);
    nino_stream_destroy(&s);
    nino_backend_close(&plan);
    return m.reserved;
}

// The least budget under which so many run together.
static uint64_t least_for(int k, uint64_t held)
{
    uint64_t low = 1 << 20, high = UINT64_C(1) << 34;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (ask(middle, held, 0).k >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// All, half, a third: as many parts as it takes. Each size is walked twice, and then known.
static void check_memory(void)
{
    enum { HELD = 1 << 20 };
    static const struct {
        int k, tried; // how many sizes are looked at until it is found
    } steps[] = { { 6, 1 }, { 3, 2 }, { 2, 3 } };
    uint64_t least[3];
    net.d.forward = hungry;
    for (int i = 0; i < 3; i++) {
        const int k = steps[i].k;
        least[i] = least_for(k, 0);
        CHECK(least[i] == need_of(k) && (!i || least[i] < least[i - 1]));
        const asked fits = ask(least[i], 0, 0), less = ask(least[i] - 1, 0, 0);
        CHECK(fits.k == k && fits.again == k && fits.walks == 2 * steps[i].tried);
        CHECK(!fits.walks_again && fits.rows == k && fits.rows_most == PIECES);
        CHECK(less.k == (i < 2 ? steps[i + 1].k : 1) && less.walks == 6 - 2 * (i == 0));
        CHECK(least_for(k, HELD) == least[i] + HELD); // what is there stays
    }
    CHECK(ask(0, 0, 0).k == PIECES && ask(0, 0, 0).walks == 0); // there is no limit
    for (int rows = 1; rows <= 8; rows++) {                     // what was chosen was tried before
        const asked a = ask(least[2], 0, rows);
        CHECK(a.k == (rows < PIECES ? rows : PIECES) && !a.walks && a.rows == a.k);
    }
    net.d.forward = fake_forward;
}

// What is walked for it is what would run.
static void check_walked(void)
{
    nino_error err = { 0 };
    nino_guide_piece p[PIECES];
    nino_backend *own = nino_ref_open(UINT64_C(1) << 30, NULL, &err);
    r.s = nino_stream_create(&(nino_stream_params){ .backend = own, .precision = NINO_PREC_F32 },
                             &err);
    CHECK(own && r.s);
    nino_array *two[2] = { array_of(NINO_SHAPE(1, 2, 2, C), 0, 1),
                           array_of(NINO_SHAPE(1, 3, 2, C), 0, 1) };
    net.n = 0;
    r.batch = 2;
    for (int step = 0; step < 6; step++) { // each differs in what a walk depends on
        all_alike(p);
        for (int i = 0; i < PIECES; i++) {
            alike[i].guidance = 2.5f;
            alike[i].context = tokens[step == 1 ? 6 : 4];
            alike_use[i].size[0] = step == 2 ? 24 : 48;
            alike[i].n_refs = step == 3 ? 2 : 0;
            alike[i].refs = two;
        }
        r.skip.doubles = step == 4 ? 5 : 0;
        const int n = step == 5 ? 4 : PIECES;
        for (int turn = 0; turn < 2; turn++)
            CHECK(nino_guide_choose(&r, p, n) == n);
        CHECK(net.n == 2 * (step + 1) && r.n_fits == step + 1);
        for (int i = 2 * step; i < net.n; i++) {
            const fake_call *c = &net.call[i];
            CHECK(c->x.rank == 4 && c->x.dim[0] == 2 * n && c->x.dim[3] == C);
            CHECK(c->x.dim[1] == (step == 2 ? 24 : 48) && c->x.dim[2] == 40);
            CHECK(c->context.dim[0] == 2 * n && c->context.dim[1] == (step == 1 ? 6 : 4));
            CHECK(c->context.dim[2] == 3 && c->n_refs == (step == 3 ? 2 : 0));
            CHECK(c->guidance == 2.5f && c->skip.doubles == (step == 4 ? 5 : 0));
        }
    }
    r.skip.doubles = 0;
    r.batch = 1;
    nino_guide_release_feeds(&r);
    nino_stream_destroy(&r.s);
    nino_backend_close(&own);
    nino_array_unref(&two[0]);
    nino_array_unref(&two[1]);
    r.s = stream;
}

// Takes t, which must have that shape.
static void takes(nino_tensor *t, nino_shape want)
{
    CHECK(t && nino_shape_equal(nino_shape_of(t), &want));
    nino_unref(t);
}

// Of three entries, two items each, everything that there may be.
static nino_tensor *described(nino_stream *s, const nino_diffusion *d, nino_forward *f)
{
    fake_net *n = d->net;
    CHECK(nino_stream_is_plan(s) && f->n_refs == 2 && f->n_controls == 2);
    takes(f->context, NINO_SHAPE(6, 12, 3));
    takes(f->context_mask, NINO_SHAPE(6, 3));
    takes(f->y, NINO_SHAPE(6, 2));
    takes(f->concat, NINO_SHAPE(6, 4, 5, 7));
    takes(f->vision, NINO_SHAPE(6, 2, 9));
    takes(f->refs[0], NINO_SHAPE(6, 2, 3, C));
    takes(f->refs[1], NINO_SHAPE(6, 3, 1, C));
    takes(f->control[0], NINO_SHAPE(6, 2, 4, 5, 3));
    takes(f->control[1], NINO_SHAPE(6, 3, 4, 5, 2));
    CHECK(f->control_strength[0] == 0.5f && f->control_strength[1] == 2 && f->text && f->times);
    CHECK(f->guidance == 4 && f->ref_method == (nino_ref_method) 2 && !f->pass && !f->residuals);
    for (int i = 0; i < 6; i++)
        CHECK(f->timestep[i] == 0);
    n->n++;
    return f->x;
}

static void check_inputs(void)
{
    nino_error err = { 0 };
    nino_guide_piece p[3];
    nino_backend *own = nino_ref_open(UINT64_C(1) << 30, NULL, &err);
    r.s = nino_stream_create(&(nino_stream_params){ .backend = own, .precision = NINO_PREC_F32 },
                             &err);
    CHECK(own && r.s);
    nino_array *refs[] = { array_of(NINO_SHAPE(1, 2, 3, C), 0, 1),
                           array_of(NINO_SHAPE(1, 3, 1, C), 0, 1) },
               *vision = array_of(NINO_SHAPE(1, 2, 9), 0, 1),
               *concat = array_of(NINO_SHAPE(2, H, W, 7), 0, 1),
               *control[] = { array_of(NINO_SHAPE(1, 2, 4, 5, 3), 0, 1),
                              array_of(NINO_SHAPE(1, 3, 4, 5, 2), 0, 1) };
    for (int i = 0; i < 3; i++) {
        alike[i] = (nino_cond_model){ .context = tokens[i == 1 ? 3
                                                        : i    ? 12
                                                               : 4],
                                      .context_mask = wide[3],
                                      .y = wide[2],
                                      .concat = concat,
                                      .vision = vision,
                                      .control = { control[0], control[1] },
                                      .control_strength = { 0.5f, 2 },
                                      .n_controls = 2,
                                      .refs = refs,
                                      .n_refs = 2,
                                      .ref_method = (nino_ref_method) 2,
                                      .guidance = 4 };
        alike_use[i] = (nino_cond_use){ .model = &alike[i], .size = { 4, 5 }, .has_area = true };
        p[i] = (nino_guide_piece){ &alike_use[i], 0 };
    }
    net.d.forward = described;
    net.n = 0;
    r.batch = 2;
    CHECK(nino_guide_choose(&r, p, 3) == 3 && net.n == 2);
    net.d.forward = fake_forward;
    r.batch = 1;
    nino_guide_release_feeds(&r);
    nino_stream_destroy(&r.s);
    nino_backend_close(&own);
    nino_array *all[] = { refs[0], refs[1], vision, concat, control[0], control[1] };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    r.s = stream;
}

// ---- texts that do not fit ------------------------------------------------------------------------

static void refused(nino_array *text, const char *what)
{
    nino_cond *p = nino_cond_create(1);
    CHECK(p);
    nino_cond_set_array(&p->entry[0].context, text);
    setup s = setup_of(p, NULL, 1);
    const float sigmas[2] = { 3, 0 };
    nino_array *out = NULL;
    nino_error err = { 0 };
    CHECK(run(&s, sigmas, 2, &out, &err) == NINO_ERR_ARG && !out);
    CHECK_STR(err.where, "fake.safetensors");
    CHECK_STR(err.msg, what);
    end_setup(&s, p, NULL);
    nino_array_unref(&text);
}

static void check_refusals(void)
{
#define NEEDS "this model (fake) needs text encodings of width 3, this conditioning has "
#define CLIP ": encode with its own kind of CLIP"
    refused(NULL, NEEDS "0" CLIP);
    refused(array_of(NINO_SHAPE(1, 3), 0, 1), NEEDS "3" CLIP); // of two dimensions, as wide
    refused(array_of(NINO_SHAPE(1, 2, 2, 3), 0, 1), NEEDS "3" CLIP);
    refused(array_of(NINO_SHAPE(1, 4, 2), 0, 1), NEEDS "2" CLIP);
    refused(array_of(NINO_SHAPE(1, 4, 4), 0, 1), NEEDS "4" CLIP);
    refused(nino_array_create(NINO_F32, NINO_SHAPE(1, 0, 3)), NEEDS "3" CLIP); // no token
}

int main(void)
{
    open_all();
    for (int i = 1; i < 13; i++)
        tokens[i] = array_of(NINO_SHAPE(1, i, 3), 0, 1);
    for (int i = 1; i < 4; i++)
        wide[i] = array_of(NINO_SHAPE(1, i), 0, 1);
    r = (nino_guide_run){ .s = stream, .net = &net.d, .batch = 1 };
    for (r.n_axes = 2; r.n_axes <= 3; r.n_axes++) {
        check_fields();
        check_texts();
        check_order();
        check_numbers();
    }
    r.n_axes = 2;
    r.channels = C;
    check_memory();
    check_walked();
    check_inputs();
    check_refusals();
    for (int i = 1; i < 13; i++)
        nino_array_unref(&tokens[i]);
    for (int i = 1; i < 4; i++)
        nino_array_unref(&wide[i]);
    close_all();
    return 0;
}
