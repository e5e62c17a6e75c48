// From text to conditioning with random encoders and small tokenizers: prompt weights, long
// prompts, layers, how each type puts its encoders together, textual inversions, and what plan says
// of it.
#include "core/op/plan.h"
#include "tests/random_text.h"

static test_dir dir;
static test_services data;
static nino_text_services services;
static nino_error err;
static nino_weights *file_l, *file_g, *file_h, *file_t5, *file_umt5;

static void make_files(void)
{
    const random_text l = { .width = 32, .layers = 3, .mlp = 48, .dtype = NINO_F16 };
    const random_text g = { .width = 40,
                            .layers = 4,
                            .mlp = 48,
                            .dtype = NINO_F16,
                            .seed = 1,
                            .has_projection = true,
                            .projection = 36,
                            .is_open = true };
    const random_text h = { .prefix = "cond_stage_model.model.",
                            .width = 32,
                            .layers = 3,
                            .mlp = 48,
                            .dtype = NINO_F16,
                            .seed = 2,
                            .has_projection = true,
                            .is_open = true };
    const random_text t5 = {
        .width = 64, .layers = 2, .mlp = 80, .is_t5 = true, .heads = 4, .seed = 3
    };
    const random_text umt5 = {
        .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .is_umt5 = true, .heads = 3, .seed = 4
    };
    file_l = random_text_file(&dir, "l", &l, 1, NULL);
    file_g = random_text_file(&dir, "g", &g, 1, NULL);
    file_h = random_text_file(&dir, "h", &h, 1, NULL);
    file_t5 = random_text_file(&dir, "t5", &t5, 1, NULL);
    file_umt5 = random_text_file(&dir, "umt5", &umt5, 1, NULL);
}

static nino_clip *load(nino_clip_type type, nino_weights *a, nino_weights *b, nino_weights *c)
{
    nino_weights *w[] = { a, b, c };
    nino_clip *clip = NULL;
    CHECK_OK(nino_clip_load(w, 1 + !!b + !!c, type, &services, "test", &clip, &err), err);
    return clip;
}

static nino_cond *encode(nino_stream *s, const nino_clip *c, const char *text)
{
    return test_clip_encode(s, c, &(nino_clip_text){ .all = text });
}

static const float *row(const nino_cond *c, int64_t i)
{
    const nino_array *a = c->entry[0].context;
    CHECK(i < a->shape.dim[1]);
    return nino_array_f32(a) + i * a->shape.dim[2];
}

static bool is_shape(const nino_array *a, int64_t rows, int64_t width)
{
    return a && a->shape.rank == 3 && a->shape.dim[0] == 1 && a->shape.dim[1] == rows &&
           a->shape.dim[2] == width;
}

static bool is_pooled(const nino_cond *c, int64_t width)
{
    const nino_array *a = c->entry[0].pooled;
    return a && a->shape.rank == 2 && a->shape.dim[0] == 1 && a->shape.dim[1] == width;
}

static bool near(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f))
            return false;
    return true;
}

static bool zero(const float *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != 0)
            return false;
    return true;
}

// The network itself on a prompt's tokens: [chunks,len,width] or the pooled vector.
static nino_array *direct(nino_stream *s, nino_encoder *e, nino_prompt_style style,
                          const char *text, nino_encoder_in in)
{
    nino_prompt_rules r = nino_prompt_rules_of(style);
    nino_prompt p = { 0 };
    nino_array *x = NULL;
    r.width = e->width;
    CHECK_OK(nino_prompt_build(e->tok, &r, text, &p, &err), err);
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    const bool is_pooled_wanted = in.pooled_row != 0;
    in.pooled_row = is_pooled_wanted ? nino_prompt_attended(&p, 0) - 1 : -1;
    in.has_hidden = !is_pooled_wanted;
    in.x = nino_upload(s, x, NINO_F32);
    const nino_encoder_out out = e->forward(s, e, &in);
    nino_array *a = nino_download(s, is_pooled_wanted ? out.pooled : out.hidden, NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    nino_array_unref(&x);
    nino_prompt_release(&p);
    return a;
}

static void check_direct(nino_stream *s, const nino_cond *c, int64_t col, nino_encoder *e,
                         nino_prompt_style style, const char *text, nino_encoder_in in)
{
    nino_array *want = direct(s, e, style, text, in);
    if (in.pooled_row) {
        CHECK(near(nino_array_f32(c->entry[0].pooled) + col, nino_array_f32(want),
                   want->shape.dim[1]));
    } else {
        const int64_t rows = want->shape.dim[0] * want->shape.dim[1], w = want->shape.dim[2];
        for (int64_t i = 0; i < rows; i++)
            CHECK(near(row(c, i) + col, nino_array_f32(want) + i * w, w));
    }
    nino_array_unref(&want);
}

// ---- weights and chunks ----------------------------------------------------------------------

// z = (z - empty) * weight + empty, at the tokens of the weighted words.
static void test_weights(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_cond *plain = encode(s, c, "cat dog cat"), *empty = encode(s, c, "");
    nino_cond *weighted = encode(s, c, "cat (dog:1.5) (cat:-0.25)");
    static const float w[] = { 1, 1, 1.5f, -0.25f };
    CHECK(is_shape(weighted->entry[0].context, 77, 32));
    for (int i = 0; i < 77; i++)
        for (int k = 0; k < 32; k++) {
            const float e = row(empty, i)[k], f = i < 4 ? w[i] : 1;
            CHECK(fabsf(row(weighted, i)[k] - ((row(plain, i)[k] - e) * f + e)) < 1e-5f);
        }
    CHECK(near(row(weighted, 1), row(plain, 1), 32) && !near(row(weighted, 2), row(plain, 2), 32));
    CHECK(
        !memcmp(weighted->entry[0].pooled->data, plain->entry[0].pooled->data, 32 * sizeof(float)));
    nino_cond_unref(&plain);
    nino_cond_unref(&weighted);
    nino_cond_unref(&empty);
    nino_clip_unref(&c);
}

// The empty prompt is encoded once for all weighted prompts.
static void test_empty_kept(test_device *d)
{
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    const char *texts[] = { "cat", "(cat:1.2)", "(cat:1.3)", "(cat:1.2)" };
    uint64_t ops[4];
    nino_cond *cond[4];
    for (int i = 0; i < 4; i++) {
        const uint64_t before = d->be->n_ops;
        cond[i] = encode(d->s, c, texts[i]);
        ops[i] = d->be->n_ops - before;
    }
    CHECK(ops[1] > ops[0] && ops[2] == ops[0] && ops[3] == ops[0]);
    CHECK(!memcmp(cond[1]->entry[0].context->data, cond[3]->entry[0].context->data,
                  cond[1]->entry[0].context->bytes));
    nino_clip *other = nino_clip_copy(c); // another layer is another encoding
    other->layer = -2;
    nino_cond *a = encode(d->s, other, "(cat:1.2)"), *b = encode(d->s, c, "(cat:1.2)");
    CHECK(!memcmp(b->entry[0].context->data, cond[3]->entry[0].context->data,
                  b->entry[0].context->bytes));
    CHECK(memcmp(a->entry[0].context->data, b->entry[0].context->data, a->entry[0].context->bytes));
    for (int i = 0; i < 4; i++)
        nino_cond_unref(&cond[i]);
    nino_cond_unref(&a);
    nino_cond_unref(&b);
    nino_clip_unref(&other);
    nino_clip_unref(&c);
}

// n words
static const char *words(int n)
{
    static char text[2048];
    text[0] = 0;
    for (int i = 0; i < n; i++)
        strcat(text, i % 3 ? "cat " : "dog ");
    return text;
}

static void test_long(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_cond *all = encode(s, c, words(90)), *first = encode(s, c, words(75));
    CHECK(is_shape(all->entry[0].context, 154, 32) && is_shape(first->entry[0].context, 77, 32));
    CHECK(near(row(all, 0), row(first, 0), 77 * 32));
    CHECK(near(nino_array_f32(all->entry[0].pooled), nino_array_f32(first->entry[0].pooled), 32));
    nino_cond *heavy = encode(s, c, nino_name_of("(%s:1.4)", "cat dog").s);
    CHECK(is_shape(heavy->entry[0].context, 77, 32));
    nino_cond_unref(&heavy);
    char text[2100];
    snprintf(text, sizeof(text), "%s(cat:1.5)", words(80)); // a weight in the second chunk
    heavy = encode(s, c, text);
    nino_cond *empty = encode(s, c, "");
    snprintf(text, sizeof(text), "%scat", words(80));
    nino_cond *plain = encode(s, c, text);
    const int at = 77 + 1 + 5; // 5 words of the 80 are there before it
    CHECK(near(row(heavy, 0), row(plain, 0), at * 32));
    for (int k = 0; k < 32; k++) {
        const float e = row(empty, at - 77)[k];
        CHECK(fabsf(row(heavy, at)[k] - ((row(plain, at)[k] - e) * 1.5f + e)) < 1e-5f);
    }
    nino_cond *const made[] = { all, first, heavy, empty, plain };
    for (int i = 0; i < 5; i++)
        nino_cond_unref(&(nino_cond *){ made[i] });
    nino_clip_unref(&c);
}

// ---- types -----------------------------------------------------------------------------------

static void test_layers(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_encoder *e = c->enc[NINO_ENC_CLIP_L];
    nino_cond *last = encode(s, c, "cat");
    for (int layer = -1; layer >= -5; layer--) { // three layers: -4 and on are the last
        c->layer = layer;
        nino_cond *cond = encode(s, c, "cat");
        check_direct(s, cond, 0, e, NINO_PROMPT_CLIP_L, "cat",
                     (nino_encoder_in){ .layer = layer < -3 ? 0 : layer, .is_normed = true });
        CHECK(near(row(cond, 0), row(last, 0), 77 * 32) == (layer == -1 || layer < -3));
        CHECK(
            near(nino_array_f32(cond->entry[0].pooled), nino_array_f32(last->entry[0].pooled), 32));
        nino_cond_unref(&cond);
    }
    nino_cond_unref(&last);
    nino_clip_unref(&c);

    c = load(NINO_CLIP_SD2, file_h, NULL, NULL);
    nino_cond *cond = encode(s, c, "cat");
    check_direct(s, cond, 0, c->enc[NINO_ENC_CLIP_H], NINO_PROMPT_CLIP_H, "cat",
                 (nino_encoder_in){ .layer = -2, .is_normed = true });
    check_direct(s, cond, 0, c->enc[NINO_ENC_CLIP_H], NINO_PROMPT_CLIP_H, "cat",
                 (nino_encoder_in){ .pooled_row = 1, .is_projected = true });
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
}

static void test_sdxl(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_SDXL, file_l, file_g, NULL);
    nino_encoder *l = c->enc[NINO_ENC_CLIP_L], *g = c->enc[NINO_ENC_CLIP_G];
    CHECK(l && g && g->pooled_width == 36);
    nino_cond *cond = encode(s, c, "cat");
    const nino_encoder_in raw = { .layer = -2 }, pooled = { .pooled_row = 1, .is_projected = true };
    CHECK(is_shape(cond->entry[0].context, 77, 72) && is_pooled(cond, 36));
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, "cat", raw);
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, "cat", raw);
    check_direct(s, cond, 0, g, NINO_PROMPT_CLIP_G, "cat", pooled);
    nino_cond_unref(&cond);

    // texts of their own: the shorter one is filled up with the empty prompt
    char text[2048];
    snprintf(text, sizeof(text), "%s", words(100));
    cond = test_clip_encode(
        s, c,
        &(nino_clip_text){ .by_encoder = { [NINO_ENC_CLIP_L] = "dog", [NINO_ENC_CLIP_G] = text } });
    CHECK(is_shape(cond->entry[0].context, 154, 72));
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, "dog", raw);
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, text, raw);
    nino_array *empty = direct(s, l, NINO_PROMPT_CLIP_L, "", raw);
    for (int i = 0; i < 77; i++)
        CHECK(near(row(cond, 77 + i), nino_array_f32(empty) + i * 32, 32));
    nino_array_unref(&empty);
    nino_cond_unref(&cond);
    cond = test_clip_encode(
        s, c,
        &(nino_clip_text){
            .by_encoder = { [NINO_ENC_CLIP_L] = text, [NINO_ENC_CLIP_G] = "(dog:1.5)" } });
    CHECK(is_shape(cond->entry[0].context, 154, 72));
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, text, raw);
    nino_cond_unref(&cond);
    c->layer = -1; // the hidden state itself: not normed
    cond = encode(s, c, "cat");
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, "cat", (nino_encoder_in){ .layer = -1 });
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, "cat", (nino_encoder_in){ .layer = -1 });
    nino_cond_unref(&cond);
    c->layer = -4; // CLIP-L has three layers, CLIP-G four
    cond = encode(s, c, "cat");
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, "cat", (nino_encoder_in){ .is_normed = true });
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, "cat", (nino_encoder_in){ .layer = -4 });
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
}

static void test_sd3(nino_stream *s)
{
    const nino_encoder_in raw = { .layer = -2 }, last = { .is_normed = true };
    nino_clip *c = load(NINO_CLIP_SD3, file_t5, file_g, file_l);
    nino_encoder *l = c->enc[NINO_ENC_CLIP_L], *g = c->enc[NINO_ENC_CLIP_G];
    nino_cond *cond = encode(s, c, "cat"); // 32 + 40 columns are more than T5's 64
    CHECK(is_shape(cond->entry[0].context, 77 + 77, 72) && is_pooled(cond, 32 + 36));
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, "cat", raw);
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, "cat", raw);
    check_direct(s, cond, 0, l, NINO_PROMPT_CLIP_L, "cat", (nino_encoder_in){ .pooled_row = 1 });
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, "cat",
                 (nino_encoder_in){ .pooled_row = 1, .is_projected = true });
    nino_array *t5 = direct(s, c->enc[NINO_ENC_T5], NINO_PROMPT_T5_SD3, "cat", last);
    for (int i = 0; i < 77; i++) {
        CHECK(near(row(cond, 77 + i), nino_array_f32(t5) + i * 64, 64));
        CHECK(zero(row(cond, 77 + i) + 64, 8));
    }
    nino_array_unref(&t5);
    nino_cond_unref(&cond);

    // CLIPTextEncodeSD3 with padding "none": T5 sees the end only, empty CLIPs are left out
    nino_clip_text text = {
        .by_encoder = { [NINO_ENC_CLIP_L] = "cat", [NINO_ENC_CLIP_G] = "", [NINO_ENC_T5] = "" },
        .no_empty_padding = true
    };
    cond = test_clip_encode(s, c, &text);
    CHECK(is_shape(cond->entry[0].context, 77 + 1, 72));
    check_direct(s, cond, 32, g, NINO_PROMPT_CLIP_G, "", raw);
    nino_cond_unref(&cond);
    text.by_encoder[NINO_ENC_CLIP_L] = "";
    cond = test_clip_encode(s, c, &text);
    CHECK(is_shape(cond->entry[0].context, 1, 64) && is_pooled(cond, 768 + 1280));
    CHECK(zero(nino_array_f32(cond->entry[0].pooled), 2048));
    nino_cond_unref(&cond);
    text.no_empty_padding = false;
    cond = test_clip_encode(s, c, &text);
    CHECK(is_shape(cond->entry[0].context, 154, 72));
    nino_cond_unref(&cond);
    nino_clip_unref(&c);

    // encoders that are not there
    c = load(NINO_CLIP_SD3, file_l, NULL, NULL);
    cond = encode(s, c, "cat");
    CHECK(is_shape(cond->entry[0].context, 77, 4096) && is_pooled(cond, 32 + 1280));
    check_direct(s, cond, 0, c->enc[NINO_ENC_CLIP_L], NINO_PROMPT_CLIP_L, "cat", raw);
    CHECK(zero(row(cond, 3) + 32, 4096 - 32) &&
          zero(nino_array_f32(cond->entry[0].pooled) + 32, 1280));
    nino_cond_unref(&cond);
    text.no_empty_padding = true; // nothing is left at all
    cond = test_clip_encode(s, c, &text);
    CHECK(is_shape(cond->entry[0].context, 77, 4096) && zero(row(cond, 0), 77 * 4096));
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
    c = load(NINO_CLIP_SD3, file_t5, NULL, NULL);
    cond = encode(s, c, "cat");
    CHECK(is_shape(cond->entry[0].context, 77, 64) && is_pooled(cond, 2048));
    CHECK(zero(nino_array_f32(cond->entry[0].pooled), 2048));
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
}

static void test_flux(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_FLUX, file_l, file_t5, NULL);
    nino_clip_text text = { .by_encoder = {
                                [NINO_ENC_CLIP_L] = words(90), [NINO_ENC_T5] = "dog cat" } };
    nino_cond *cond = test_clip_encode(s, c, &text);
    CHECK(is_shape(cond->entry[0].context, 256, 64) && is_pooled(cond, 32));
    check_direct(s, cond, 0, c->enc[NINO_ENC_T5], NINO_PROMPT_T5_FLUX, "dog cat",
                 (nino_encoder_in){ .is_normed = true });
    check_direct(s, cond, 0, c->enc[NINO_ENC_CLIP_L], NINO_PROMPT_CLIP_L, words(75),
                 (nino_encoder_in){ .pooled_row = 1 });
    nino_cond_unref(&cond);
    c->tokens_min = 300;
    cond = encode(s, c, "cat");
    CHECK(is_shape(cond->entry[0].context, 300, 64));
    nino_cond_unref(&cond);
    c->tokens_min = 1;
    cond = encode(s, c, "cat (dog:1.2)");
    CHECK(is_shape(cond->entry[0].context, 3, 64));
    nino_cond_unref(&cond);
    c->layer = -2;
    c->tokens_min = 0;
    cond = encode(s, c, "cat");
    check_direct(s, cond, 0, c->enc[NINO_ENC_T5], NINO_PROMPT_T5_FLUX, "cat",
                 (nino_encoder_in){ .layer = -2, .is_normed = true });
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
}

// Padding of a Wan prompt is neither looked at nor kept: what the whole network gives, zeroed.
static void test_wan(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_WAN, file_umt5, NULL, NULL);
    nino_cond *cond = encode(s, c, "cat dog"); // and the end: three tokens
    bool attend[512] = { true, true, true };
    CHECK(is_shape(cond->entry[0].context, 512, 24) && !cond->entry[0].pooled);
    nino_array *want = direct(s, c->enc[NINO_ENC_UMT5], NINO_PROMPT_UMT5_WAN, "cat dog",
                              (nino_encoder_in){ .is_normed = true, .attend = attend });
    CHECK(near(row(cond, 0), nino_array_f32(want), 3 * 24) && zero(row(cond, 3), 509 * 24));
    nino_array_unref(&want);
    nino_cond_unref(&cond);
    cond = encode(s, c, "(cat:0.5) dog");
    nino_cond *empty = encode(s, c, ""), *plain = encode(s, c, "cat dog");
    CHECK(!zero(row(empty, 0), 24) && zero(row(empty, 1), 511 * 24));
    for (int k = 0; k < 24; k++)
        CHECK(fabsf(row(cond, 0)[k] - (row(plain, 0)[k] + row(empty, 0)[k]) / 2) < 1e-5f);
    nino_cond_unref(&cond);
    nino_cond_unref(&empty);
    nino_cond_unref(&plain);
    nino_clip_unref(&c);

    c = load(NINO_CLIP_T5, file_t5, NULL, NULL); // masked, but kept
    cond = encode(s, c, "cat dog");
    memset(attend, 0, sizeof(attend));
    attend[0] = attend[1] = attend[2] = true;
    check_direct(s, cond, 0, c->enc[NINO_ENC_T5], NINO_PROMPT_T5_FLUX, "cat dog",
                 (nino_encoder_in){ .is_normed = true, .attend = attend });
    CHECK(!zero(row(cond, 200), 64));
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
}

// ---- textual inversions ----------------------------------------------------------------------

static void test_inversion(nino_stream *s)
{
    static char name[] = "two.safetensors";
    static char *const files[] = { name, NULL };
    nino_array *v = nino_array_create(NINO_F32, NINO_SHAPE(2, 32));
    for (int i = 0; i < 64; i++)
        nino_array_f32(v)[i] = (float) (i % 5) - 2;
    const nino_st_entry e[] = { { "emb_params", v } };
    CHECK_OK(nino_st_save(dir.path, files[0], false, e, 1, NULL, 0, &err), err);
    data.embeddings = dir.path;
    data.files = files;
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_cond *with = encode(s, c, "cat embedding:two dog"), *without = encode(s, c, "cat dog");
    CHECK(is_shape(with->entry[0].context, 77, 32) && near(row(with, 1), row(without, 1), 32));
    CHECK(!near(row(with, 2), row(without, 2), 32));
    nino_cond_unref(&with);
    CHECK(!data.warning[0]);
    with = encode(s, c, "cat embedding:three dog"); // left out, and said so
    CHECK(near(row(with, 0), row(without, 0), 77 * 32) && strstr(data.warning, "three"));
    nino_cond_unref(&with);
    nino_cond_unref(&without);
    nino_clip_unref(&c);
    nino_array_unref(&v);
    data.files = NULL;
    CHECK(unlink(nino_name_of("%s/%s", dir.path, files[0]).s) == 0);
}

// ---- plan, cancel, mistakes ------------------------------------------------------------------

static void check_plan(test_device *d, nino_clip_type type, nino_weights *a, nino_weights *b,
                       const char *text)
{
    nino_mem_stat want, got;
    nino_clip *c = load(type, a, b, NULL); // weights are packed anew
    nino_backend *be = nino_plan_open(&d->be->profile, 0, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK(be && s);
    nino_cond *planned = encode(s, c, text);
    nino_pool_stat(be->pool, &want);
    nino_stream_destroy(&s);
    const double flops = be->flops;
    nino_backend_close(&be);
    nino_pool_stat(d->be->pool, &got);
    CHECK(got.in_use == 0);
    nino_pool_reset_peak(d->be->pool);
    const double before = d->be->flops;
    nino_cond *made = encode(d->s, c, text);
    nino_pool_stat(d->be->pool, &got);
    printf("  %s: plan %.3f MiB, run %.3f\n", d->be->impl->name, (double) want.peak / 1048576,
           (double) got.peak / 1048576);
    CHECK(want.peak == got.peak && d->be->flops - before == flops);
    CHECK(nino_shape_equal(&planned->entry[0].context->shape, &made->entry[0].context->shape));
    CHECK(!planned->entry[0].pooled == !made->entry[0].pooled);
    CHECK(zero(nino_array_f32(planned->entry[0].context),
               nino_shape_count(&planned->entry[0].context->shape)));
    nino_cond_unref(&planned);
    nino_cond_unref(&made);
    nino_clip_unref(&c);
}

static void test_plan(test_device *d)
{
    check_plan(d, NINO_CLIP_SD1, file_l, NULL, "cat");
    check_plan(d, NINO_CLIP_SDXL, file_l, file_g, "cat (dog:1.2)");
    check_plan(d, NINO_CLIP_FLUX, file_l, file_t5, "cat");
    check_plan(d, NINO_CLIP_WAN, file_umt5, NULL, "cat dog");
}

static void test_mistakes(test_device *d)
{
    nino_clip *c = load(NINO_CLIP_SD1, file_l, NULL, NULL);
    nino_cond *cond = NULL;
    volatile int cancel = 1;
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = d->be, .precision = NINO_PREC_F32, .cancel = &cancel },
        &err);
    CHECK(s && nino_clip_encode(s, c, &(nino_clip_text){ .all = "cat" }, &cond, &err) ==
                   NINO_ERR_CANCELLED);
    CHECK(!cond);
    nino_stream_destroy(&s);
    nino_clip_unref(&c);

    nino_weights *w[] = { file_l };
    CHECK_OK(nino_clip_load(w, 1, NINO_CLIP_SD1, NULL, "lonely", &c, &err), err);
    CHECK(nino_clip_encode(d->s, c, &(nino_clip_text){ .all = "cat" }, &cond, &err) ==
          NINO_ERR_MISSING);
    CHECK_STR(err.where, "lonely");
    CHECK(strstr(err.msg, "no tokenizer for its CLIP-L"));
    nino_clip_unref(&c);

    // a vocabulary that is too small for the tokenizer
    const random_text few = { .width = 32, .layers = 1, .mlp = 8, .vocab = 400 };
    nino_weights *small = random_text_file(&dir, "small", &few, 1, NULL);
    c = load(NINO_CLIP_SD1, small, NULL, NULL);
    CHECK(nino_clip_encode(d->s, c, &(nino_clip_text){ .all = "cat" }, &cond, &err) ==
          NINO_ERR_RANGE);
    CHECK(strstr(err.msg, "token 49406") && strstr(err.msg, "only 400"));
    nino_clip_unref(&c);
    nino_weights_unref(&small);
}

// Numbers beyond f16: the prompt is encoded again in f32, and the stream is as before.
static void test_overflow(test_device *d)
{
    const random_text t = { .width = 32, .layers = 1, .mlp = 8 };
    nino_weights *w = random_text_file(&dir, "big", &t, 1, NULL);
    const nino_tensor_info *pos =
        nino_weights_find(w, "text_model.embeddings.position_embedding.weight");
    const float big = 1e6f;
    FILE *f = fopen(nino_name_of("%s/big", dir.path).s, "r+");
    CHECK(f && fseek(f, (long) pos->offset, SEEK_SET) == 0 && fwrite(&big, 4, 1, f) == 1 &&
          fclose(f) == 0);
    nino_clip *c = load(NINO_CLIP_SD1, w, NULL, NULL);
    nino_cond *a = encode(d->s, c, "cat");
    nino_stream_set_precision(d->s, NINO_PREC_F16);
    nino_cond *b = encode(d->s, c, "cat");
    CHECK(nino_stream_precision(d->s) == NINO_PREC_F16);
    nino_stream_set_precision(d->s, NINO_PREC_F32);
    CHECK(
        !memcmp(a->entry[0].context->data, b->entry[0].context->data, a->entry[0].context->bytes));
    nino_cond_unref(&a);
    nino_cond_unref(&b);
    nino_clip_unref(&c);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const files[] = { "l",    "g",     "h",   "t5",
                                         "umt5", "small", "big", "bpe_simple_vocab_16e6.txt",
                                         NULL };
    test_device d;
    dir = test_dir_create();
    services = random_text_services(&data, &dir);
    make_files();
    CHECK(test_device_open(&d, "ref", 0));
    test_weights(d.s);
    test_empty_kept(&d);
    test_long(d.s);
    test_layers(d.s);
    test_sdxl(d.s);
    test_sd3(d.s);
    test_flux(d.s);
    test_wan(d.s);
    test_inversion(d.s);
    test_plan(&d);
    test_mistakes(&d);
    test_overflow(&d);
    test_device_close(&d);
    if (test_device_open(&d, "cl", 0)) {
        test_plan(&d);
        test_device_close(&d);
    }
    nino_weights *all[] = { file_l, file_g, file_h, file_t5, file_umt5 };
    for (int i = 0; i < 5; i++)
        nino_weights_unref(&all[i]);
    test_services_close(&data);
    test_dir_remove(&dir, files);
    return 0;
}
