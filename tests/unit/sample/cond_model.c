// What one entry of conditioning tells a network, number by number: the text, the vector y, guidance, reference latents; what is
// refused, in which words; that nothing stays behind when it goes.
#include "tests/unit/sample/cond_model.h"

// ---- the text -------------------------------------------------------------------------------------

static void refused_text(nino_array *text, const char *words)
{
    refused(&(nino_cond_entry){ .context = text }, NINO_ERR_ARG, "shape", words);
    drop(text);
}

static void check_text(void)
{
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    refused_text(NULL,
                 "this model (fake) needs text encodings of width 4, this conditioning has 0: "
                 "encode with its own kind of CLIP");
    const char *const five = "this model (fake) needs text encodings of width 4, this conditioning "
                             "has 5: encode with its own kind of CLIP";
    refused_text(counted(NINO_SHAPE(1, 2, 5), 0, 0), five); // of zeros too
    refused_text(counted(NINO_SHAPE(1, 5), 1, 1), five);
    const char *const four = "this model (fake) needs text encodings of width 4, this conditioning "
                             "has 4: encode with its own kind of CLIP";
    refused_text(counted(NINO_SHAPE(2, 4), 1, 1), four);
    refused_text(counted(NINO_SHAPE(1, 1, 2, 4), 1, 1), four);
    refused_text(counted(NINO_SHAPE(1, 0, 4), 1, 1), four);
    // rows of zeros go in front of a short text; others stay as they are
    for (int rows = 0; rows <= 6; rows++) {
        nino_cond_entry e = { .context = counted(NINO_SHAPE(2, 3, 4), 1, 1) };
        net.context_rows = rows;
        make(&e, NINO_COND_POSITIVE);
        const int more = rows > 3 ? rows - 3 : 0;
        CHECK((m.context == e.context) == !more && m.context->shape.rank == 3);
        CHECK(m.context->shape.dim[0] == 2 && m.context->shape.dim[1] == 3 + more &&
              m.context->shape.dim[2] == 4);
        for (int i = 0; i < 2 * (3 + more) * 4; i++) {
            const int n = i / (3 + more) / 4, row = i / 4 % (3 + more) - more;
            const int want = row < 0 ? 0 : 1 + (n * 3 + row) * 4 + i % 4;
            CHECK(nino_array_f32(m.context)[i] == (float) want);
        }
        nino_cond_model_release(&m);
        CHECK(!m.context && isnan(m.guidance) && e.context->refs == 1);
        drop(e.context);
    }
}

// Of a text that is too wide, where SD3's other encoders have zeros, what is between these.
static void check_columns(void)
{
    static const struct {
        int low, high, first; // columns that are not 0; the first that goes in, -1: refused
    } cases[] = { { 0, 3, 0 },  { 1, 4, 1 },  { 2, 5, 2 }, { 3, 6, 3 }, { 2, 3, 0 },
                  { 3, 3, 0 },  { 4, 4, 1 },  { 6, 6, 3 }, { 7, 6, 0 }, // all are 0
                  { 0, 4, -1 }, { 2, 6, -1 }, { 0, 6, -1 } };
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        const int low = cases[k].low, high = cases[k].high, first = cases[k].first;
        nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 7), 0, 0),
                              .pooled = counted(NINO_SHAPE(1, 7), 0, 0) };
        float *v = nino_array_f32(e.context), *p = nino_array_f32(e.pooled);
        if (low <= high) { // one end in the last row, the other in the first
            v[2 * 7 + low] = p[low] = 3;
            v[high] = p[high] = 5;
        }
        net.y_dim = 4;
        net.kind = NINO_DIFFUSION_UNET; // which has no such texts
        CHECK(nino_cond_model_make(&r, &e, NINO_COND_POSITIVE, &m, &err) == NINO_ERR_ARG);
        net.kind = NINO_DIFFUSION_SD3;
        CHECK((nino_cond_model_make(&r, &e, NINO_COND_POSITIVE, &m, &err) != NINO_OK) ==
              (first < 0));
        for (int i = 0; i < 12 && first >= 0; i++) {
            CHECK(m.context->shape.dim[1] == 3 && m.context->shape.dim[2] == 4);
            CHECK(nino_array_f32(m.context)[i] == v[i / 4 * 7 + first + i % 4]);
            CHECK(i > 3 || nino_array_f32(m.y)[i] == p[first + i]);
        }
        nino_cond_model_release(&m);
        drop(e.context);
        drop(e.pooled);
    }
}

// What is not asked for by the network is not given to it.
static void check_rest(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .context_mask = counted(NINO_SHAPE(1, 3), 1, 0),
                          .control_context = counted(NINO_SHAPE(1, 2, 9), 1, 0),
                          .vision = counted(NINO_SHAPE(1, 2, 6), 1, 1),
                          .pooled = counted(NINO_SHAPE(1, 7), 1, 1),
                          .has_guidance = true,
                          .guidance = 7,
                          .ref_method = 2 };
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    make(&e, NINO_COND_POSITIVE);
    CHECK(!m.context_mask && !m.y && !m.vision && !m.concat && !m.refs && !m.n_controls);
    CHECK(m.control_context == e.control_context && m.ref_method == e.ref_method);
    CHECK(isnan(m.guidance));
    nino_cond_model_release(&m);
    net.has_context_mask = net.has_guidance = true;
    net.usual_guidance = 3.5;
    net.vision_dim = 6;
    for (int k = 0; k < 4; k++) {
        e.has_guidance = k % 2;
        e.no_guidance = k / 2;
        make(&e, NINO_COND_POSITIVE);
        CHECK(m.context_mask == e.context_mask && m.vision == e.vision && e.vision->refs == 2);
        CHECK(k > 1 ? isnan(m.guidance) : m.guidance == (k ? 7 : 3.5f));
        nino_cond_model_release(&m);
        CHECK(!m.vision && !m.context_mask && !m.control_context && e.vision->refs == 1 &&
              e.context_mask->refs == 1 && e.control_context->refs == 1 && e.context->refs == 1);
    }
    const char *const wide = "the picture's encoding is 6 wide where this model (fake) needs 5: "
                             "encode with its own kind of CLIP vision";
    net.vision_dim = 5;
    refused(&e, NINO_ERR_ARG, "shape", wide);
    e.vision->shape = NINO_SHAPE(2, 6);
    net.vision_dim = 6;
    refused(&e, NINO_ERR_ARG, "shape",
            "the picture's encoding is 6 wide where this model (fake) needs 6: encode with its own "
            "kind of CLIP vision");
    CHECK(e.context->refs == 1 && e.context_mask->refs == 1 && e.control_context->refs == 1);
    nino_array *all[] = { e.context, e.context_mask, e.control_context, e.vision, e.pooled };
    for (int i = 0; i < 5; i++)
        drop(all[i]);
}

// ---- y --------------------------------------------------------------------------------------------

// Values from `from` on of y are the pooled text, then a number's waves each.
static void check_waves(const nino_array *pooled, const double *v, int n)
{
    const float *y = nino_array_f32(m.y);
    CHECK(m.y->shape.rank == 2 && m.y->shape.dim[0] == 1 && m.y->shape.dim[1] == 4 + n * DIM);
    CHECK(!memcmp(y, pooled->data, 4 * sizeof(*y)));
    for (int i = 0; i < n * DIM; i++) {
        const double a = v[i / DIM] * pow(10000, -(i % (DIM / 2)) / (DIM / 2.0));
        const double want = i % DIM < DIM / 2 ? cos(a) : sin(a);
        if (!(fabs((double) y[4 + i] - want) < 1e-3)) {
            fprintf(stderr, "number %d: wave %d is %g, expected %g\n", i / DIM, i % DIM,
                    (double) y[4 + i], want);
            exit(1);
        }
    }
    nino_cond_model_release(&m);
    CHECK(!m.y);
}

static void check_y(void)
{
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .pooled = counted(NINO_SHAPE(1, 4), 0.1, 0.2),
                          .width = 1024,
                          .height = 768,
                          .crop_w = 16,
                          .crop_h = 8,
                          .target_w = 900,
                          .target_h = 700,
                          .aesthetic_score = 4 };
    const double h = H * SIDE, w = W * SIDE;
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    net.y_dim = 4 + 6 * DIM;
    make(&e, NINO_COND_POSITIVE); // the latent's size, whatever else is there
    check_waves(e.pooled, (double[]){ h, w, 0, 0, h, w }, 6);
    e.has_size = true;
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, 700, 900 }, 6);
    e.target_h = 0; // as the picture
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, 768, 900 }, 6);
    e.target_h = 1;
    e.target_w = 0;
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, 1, 1024 }, 6);
    net.y_dim = 4 + 5 * DIM; // the refiner
    for (int kind = 0; kind < NINO_COND_KINDS; kind++)
        for (int k = 0; k < 2; k++) {
            const double usual = kind == NINO_COND_POSITIVE ? 6 : 2.5;
            e.has_aesthetic_score = k;
            make(&e, kind);
            check_waves(e.pooled, (double[]){ 768, 1024, 8, 16, k ? 4 : usual }, 5);
        }
    e.has_size = e.has_aesthetic_score = false;
    make(&e, NINO_COND_NEGATIVE);
    check_waves(e.pooled, (double[]){ h, w, 0, 0, 2.5 }, 5);
    net.y_dim = 4;
    make(&e, NINO_COND_POSITIVE);
    check_waves(e.pooled, NULL, 0);
    static const int wrong[] = { 3,           5,           3 + 5 * DIM, 5 + 5 * DIM,
                                 3 + 6 * DIM, 5 + 6 * DIM, 4 + 4 * DIM, 4 + 7 * DIM };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char words[160];
        snprintf(
            words, sizeof(words),
            "the pooled text encoding has 4 numbers, which does not fit this model (fake, %d in "
            "all)",
            wrong[i]);
        net.y_dim = wrong[i];
        refused(&e, NINO_ERR_ARG, "shape", words);
    }
    drop(e.pooled);
    e.pooled = NULL;
    for (int k = 4; k < 5000; k += 6 * DIM) { // also where sizes alone would fill it
        net.y_dim = k == 4 ? 6 * DIM : k;
        refused(&e, NINO_ERR_ARG, "model",
                "this model (fake) needs a pooled text encoding, which this conditioning does not "
                "have: encode with its own kind of CLIP");
    }
    snprintf(net.family, sizeof(net.family), NINO_LOTUS); // needs none
    net.y_dim = NINO_LOTUS_Y;
    make(&e, NINO_COND_POSITIVE);
    const double task[] = { sin(1), 0, cos(1), 1 };
    CHECK(m.y->shape.dim[0] == 1 && m.y->shape.dim[1] == 4);
    for (int i = 0; i < 4; i++)
        CHECK(fabs((double) nino_array_f32(m.y)[i] - task[i]) < 1e-6);
    nino_cond_model_release(&m);
    net.y_dim = 0;
    make(&e, NINO_COND_POSITIVE);
    CHECK(!m.y);
    nino_cond_model_release(&m);
    drop(e.context);
}

// ---- reference latents ----------------------------------------------------------------------------

static void check_refs(void)
{
    nino_array *refs[] = { counted(NINO_SHAPE(1, 2, 3, 4), 1, 0.1),
                           counted(NINO_SHAPE(2, 1, 4, 1, 4), 2, 0.2), NULL };
    nino_cond_entry e = { .context = counted(NINO_SHAPE(1, 3, 4), 1, 1),
                          .refs = refs,
                          .n_refs = 2 };
    set_run("sd15", 0, NINO_SHAPE(B, H, W, 4));
    make(&e, NINO_COND_POSITIVE);
    CHECK(!m.refs && !m.n_refs); // the model takes none
    nino_cond_model_release(&m);
    net.has_refs = true;
    make(&e, NINO_COND_POSITIVE);
    const nino_shape want[] = { NINO_SHAPE(1, 2, 3, 4), NINO_SHAPE(2, 4, 1, 4) };
    CHECK(m.n_refs == 2);
    for (int k = 0; k < 2; k++) {
        CHECK(nino_shape_equal(&m.refs[k]->shape, &want[k]));
        for (int64_t i = 0; i < nino_shape_count(&want[k]); i++) {
            const double v = (k + 1) * (1 + 0.1 * (double) i);
            CHECK(fabs((double) nino_array_f32(m.refs[k])[i] - in_model(v)) < 1e-5);
            CHECK(nino_array_f32(refs[k])[i] == (float) v || k); // untouched
        }
    }
    nino_cond_model_release(&m);
    CHECK(!m.refs && !m.n_refs);
    e.n_refs = 3;
    refs[2] = counted(NINO_SHAPE(1, 2, 3, 5), 0, 1);
    refused(&e, NINO_ERR_ARG, "shape", "a reference latent has 5 channels, this model 4");
    refs[2]->shape = NINO_SHAPE(2, 3, 4);
    refused(&e, NINO_ERR_ARG, "shape", "a reference latent has 4 channels, this model 4");
    refs[2]->shape = NINO_SHAPE(1, 2, 3, 1, 4);
    refused(&e, NINO_ERR_ARG, "shape",
            "a reference latent is a clip of 2 frames, this model takes pictures: encode one at a "
            "time");
    refs[2]->shape = NINO_SHAPE(1, 0, 3, 1, 4);
    CHECK(nino_cond_model_make(&r, &e, NINO_COND_POSITIVE, &m, &err) == NINO_ERR_ARG);
    for (int i = 0; i < 3; i++)
        drop(refs[i]);
    drop(e.context);
}

int main(void)
{
    check_text();
    check_columns();
    check_rest();
    check_y();
    check_refs();
    return 0;
}
