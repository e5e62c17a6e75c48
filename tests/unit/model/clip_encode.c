// From text to conditioning with random encoders and small tokenizers: prompt weights, long
// prompts, layers, how each type puts its encoders together.
#include "tests/clip_files.h"

// The network itself on a prompt's tokens: [chunks,len,width] or the pooled vector.
static nino_array *direct(nino_stream *s, nino_encoder *e, nino_prompt_style style,
                          const char *text, nino_encoder_in in)
{
    nino_prompt_rules r = nino_prompt_rules_for(style, e->tok);
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
    nino_clip *again = nino_clip_ref(c), *other = nino_clip_copy(c);
    nino_clip_unref(&again);
    CHECK(other && other->refs == 1); // a copy counts its own
    // another layer is another encoding
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
    size_t len = 0;
    text[0] = 0;
    for (int i = 0; i < n; i++)
        len += (size_t) snprintf(text + len, sizeof(text) - len, "%s", i % 3 ? "cat " : "dog ");
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
    c->has_padding = true; // as T5TokenizerOptions
    c->tokens_min = 300;
    cond = encode(s, c, "cat");
    CHECK(is_shape(cond->entry[0].context, 300, 64));
    nino_cond_unref(&cond);
    c->tokens_min = 1;
    cond = encode(s, c, "cat (dog:1.2)");
    CHECK(is_shape(cond->entry[0].context, 3, 64));
    nino_cond_unref(&cond);
    c->tokens_min = 0; // two tokens and the end, and two pads
    c->pads_min = 2;
    cond = encode(s, c, "cat (dog:1.2)");
    CHECK(is_shape(cond->entry[0].context, 5, 64));
    nino_cond_unref(&cond);
    c->layer = -2;
    c->has_padding = false;
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

// No padding, no mask; weights count from pads alone, row by row.
static void test_chroma(nino_stream *s)
{
    nino_clip *c = load(NINO_CLIP_CHROMA, file_t5, NULL, NULL);
    nino_encoder *e = c->enc[NINO_ENC_T5];
    const nino_encoder_in last = { .is_normed = true };
    nino_cond *plain = encode(s, c, "cat dog"), *cond = encode(s, c, "cat (dog:1.5)");
    CHECK(is_shape(plain->entry[0].context, 3, 64) && !plain->entry[0].pooled);
    check_direct(s, plain, 0, e, NINO_PROMPT_T5_BARE, "cat dog", last);
    nino_prompt p;
    nino_prompt_rules r = nino_prompt_rules_of(NINO_PROMPT_T5_BARE);
    nino_array *x = NULL;
    r.width = e->width;
    CHECK_OK(nino_prompt_empty(&r, 3, &p, &err), err);
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    const nino_encoder_in in = {
        .x = nino_upload(s, x, NINO_F32), .is_normed = true, .has_hidden = true, .pooled_row = -1
    };
    nino_array *none = nino_download(s, e->forward(s, e, &in).hidden, NINO_F32);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 64; k++) {
            const float from = nino_array_f32(none)[i * 64 + k], w = i == 1 ? 1.5f : 1;
            CHECK(fabsf(row(cond, i)[k] - ((row(plain, i)[k] - from) * w + from)) < 1e-5f);
        }
    nino_array_unref(&none);
    nino_array_unref(&x);
    nino_prompt_release(&p);
    nino_cond_unref(&plain);
    nino_cond_unref(&cond);
    c->has_padding = true; // as T5TokenizerOptions
    c->pads_min = 1;
    cond = encode(s, c, "");
    CHECK(is_shape(cond->entry[0].context, 2, 64));
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
}

// A prompt whose table of positions is larger than any memory: one line, before anything of it is filled.
static void test_far_too_long(nino_stream *s)
{
    enum { WORDS = 150000 };
    char *text = malloc(WORDS * 4 + 1);
    nino_cond *cond = NULL;
    nino_error e = { 0 };
    CHECK(text);
    for (size_t i = 0; i < WORDS; i++)
        memcpy(text + 4 * i, "cat ", 5);
    nino_clip *c = load(NINO_CLIP_CHROMA, file_t5, NULL, NULL);
    CHECK(nino_clip_encode(s, c, &(nino_clip_text){ .all = text }, &cond, &e) == NINO_ERR_NOMEM);
    CHECK(!cond && strstr(e.msg, "a prompt of ") && strstr(e.msg, "GiB for their positions"));
    nino_stream_clear_error(s);
    nino_clip_unref(&c);
    free(text);
}

int main(void)
{
    static const char *const files[] = { NULL };
    test_device d;
    clip_files_open();
    CHECK(test_device_open(&d, "ref", 0));
    test_weights(d.s);
    test_empty_kept(&d);
    test_long(d.s);
    test_layers(d.s);
    test_sdxl(d.s);
    test_sd3(d.s);
    test_chroma(d.s);
    test_flux(d.s);
    test_wan(d.s);
    test_far_too_long(d.s);
    test_device_close(&d);
    clip_files_close(files);
    return 0;
}
