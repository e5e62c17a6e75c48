// Text encoder files: both families of names, prefixes, sizes from shapes, 8-bit embeddings, and
// files that are wrong. Networks are random, their outputs are compared with each other.
#include "tests/random_text.h"

static test_dir dir;
static nino_error err;

// A prompt of the ids 0, 7, 14, ...; the last is the end.
static nino_prompt ids(int n)
{
    nino_prompt p = { .n_chunks = 1, .chunk_len = n };
    p.tokens = calloc((size_t) n, sizeof(*p.tokens));
    CHECK(p.tokens != NULL);
    for (int i = 0; i < n; i++)
        p.tokens[i] = (nino_token){ .id = 7 * i % 500, .weight = 1, .attend = true };
    return p;
}

typedef struct outputs {
    nino_array *hidden, *pooled;
} outputs;

static outputs forward(nino_stream *s, const nino_encoder *e, int n, nino_encoder_in in)
{
    nino_prompt p = ids(n);
    nino_array *x = NULL;
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    in.x = nino_upload(s, x, NINO_F32);
    const nino_encoder_out out = e->forward(s, e, &in);
    const outputs r = { in.has_hidden ? nino_download(s, out.hidden, NINO_F32) : NULL,
                        in.pooled_row >= 0 ? nino_download(s, out.pooled, NINO_F32) : NULL };
    CHECK_OK(nino_stream_status(s, &err), err);
    CHECK(!out.hidden == !in.has_hidden && (in.pooled_row >= 0 || !out.pooled));
    nino_array_unref(&x);
    nino_prompt_release(&p);
    return r;
}

static void release(outputs *o)
{
    nino_array_unref(&o->hidden);
    nino_array_unref(&o->pooled);
}

static nino_encoder *load(const random_text *t, nino_encoder_id id)
{
    nino_encoder *e = NULL;
    nino_weights *w = random_text_file(&dir, "f", t, 1, NULL);
    CHECK_OK(nino_encoder_load(id, w, t->prefix ? t->prefix : "", NULL, &e, &err), err);
    CHECK(e->weight_bytes > 0 && e->id == id);
    nino_weights_unref(&w);
    return e;
}

static bool same(const nino_array *a, const nino_array *b)
{
    return nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes);
}

// ---- CLIP ------------------------------------------------------------------------------------

static void test_clip_names(nino_stream *s)
{
    const random_text hf = { .prefix = "a.b.",
                             .width = 40,
                             .layers = 3,
                             .mlp = 72,
                             .vocab = 512,
                             .has_projection = true,
                             .projection = 24 };
    random_text open = hf;
    open.is_open = true;
    nino_encoder *a = load(&hf, NINO_ENC_CLIP_G), *b = load(&open, NINO_ENC_CLIP_G);
    CHECK(a->width == 40 && a->n_layers == 3 && a->pooled_width == 24 && a->max_len == 77);
    CHECK(b->width == 40 && b->n_layers == 3 && b->pooled_width == 24 && b->vocab == 512);
    CHECK_STR(a->detail, "CLIP-G, 3 layers, width 40");
    for (int layer = 0; layer >= -3; layer--) {
        const nino_encoder_in in = { .layer = layer,
                                     .is_normed = !layer,
                                     .has_hidden = true,
                                     .pooled_row = 4,
                                     .is_projected = layer != -1 };
        outputs x = forward(s, a, 9, in), y = forward(s, b, 9, in);
        CHECK(x.hidden->shape.dim[1] == 9 && x.hidden->shape.dim[2] == 40);
        CHECK(x.pooled->shape.dim[1] == (layer == -1 ? 40 : 24));
        CHECK(same(x.hidden, y.hidden) && same(x.pooled, y.pooled));
        release(&x);
        release(&y);
    }
    nino_encoder_destroy(&a);
    nino_encoder_destroy(&b);
}

static void drop_base(char *name, size_t size, int *rank)
{
    (void) size;
    (void) rank;
    if (!strncmp(name, "text_model.", 11))
        memmove(name, name + 11, strlen(name + 11) + 1);
}

// The first releases of transformers had no "text_model.".
static void test_old_names(nino_stream *s)
{
    const random_text t = { .width = 32, .layers = 2, .mlp = 16, .vocab = 512 };
    nino_encoder *a = load(&t, NINO_ENC_CLIP_L), *b = NULL;
    nino_weights *f = test_open("%s/f", dir.path),
                 *w = test_copy(f, &dir, "old", drop_base, NULL, 0);
    CHECK_OK(nino_encoder_load(NINO_ENC_CLIP_L, w, "", NULL, &b, &err), err);
    const nino_encoder_in in = { .has_hidden = true, .pooled_row = -1 };
    outputs x = forward(s, a, 6, in), y = forward(s, b, 6, in);
    CHECK(same(x.hidden, y.hidden));
    release(&x);
    release(&y);
    nino_weights_unref(&f);
    nino_weights_unref(&w);
    nino_encoder_destroy(&a);
    nino_encoder_destroy(&b);
}

// A position does not see what is behind it; the pooled row does not change with what follows.
static void test_clip_causal(nino_stream *s)
{
    const random_text t = { .width = 32, .layers = 2, .mlp = 64, .vocab = 512 };
    nino_encoder *e = load(&t, NINO_ENC_CLIP_L);
    CHECK(e->pooled_width == 32); // no projection: as it is
    const nino_encoder_in in = {
        .is_normed = true, .has_hidden = true, .pooled_row = 4, .is_projected = true
    };
    outputs a = forward(s, e, 5, in), b = forward(s, e, 11, in);
    double d = 0;
    for (int i = 0; i < 5 * 32; i++)
        d = fmax(d,
                 fabs((double) nino_array_f32(a.hidden)[i] - (double) nino_array_f32(b.hidden)[i]));
    CHECK(d < 1e-5 && test_max_diff(a.pooled, b.pooled) < 1e-5);
    // pooled is the normed row itself
    CHECK(!memcmp(a.pooled->data, nino_array_f32(a.hidden) + 4 * 32, 32 * sizeof(float)) ||
          fabsf(nino_array_f32(a.pooled)[3] - nino_array_f32(a.hidden)[4 * 32 + 3]) < 1e-5f);
    outputs c = forward(s, e, 5, (nino_encoder_in){ .pooled_row = 4 }); // only pooled
    CHECK(!c.hidden && same(c.pooled, a.pooled));
    release(&a);
    release(&b);
    release(&c);
    nino_encoder_destroy(&e);
}

// Width decides the heads: 64 a head in real networks, never fewer than four heads.
static void test_clip_widths(nino_stream *s)
{
    static const int widths[] = { 4, 44, 252, 320 };
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        const random_text t = {
            .width = widths[i], .layers = 1, .mlp = 16, .vocab = 512, .positions = 12
        };
        nino_encoder *e = load(&t, NINO_ENC_CLIP_H);
        outputs o = forward(s, e, 12, (nino_encoder_in){ .has_hidden = true, .pooled_row = -1 });
        CHECK(e->max_len == 12 && o.hidden->shape.dim[2] == widths[i]);
        release(&o);
        nino_prompt p = ids(13);
        nino_array *x = NULL;
        CHECK(nino_encoder_embed(e, &p, false, &x, &err) == NINO_ERR_FORMAT && !x);
        CHECK(strstr(err.msg, "12 tokens"));
        nino_prompt_release(&p);
        nino_encoder_destroy(&e);
    }
}

// ---- T5 --------------------------------------------------------------------------------------

static void test_t5_kinds(nino_stream *s)
{
    const random_text kinds[] = {
        { .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 3 },
        { .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 3, .is_embed_tokens = true },
        { .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 4, .is_umt5 = true },
        { .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 2, .is_relu = true },
        { .prefix = "t.", .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 3 },
    };
    outputs first = { NULL, NULL };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        nino_encoder *e = load(&kinds[i], kinds[i].is_umt5 ? NINO_ENC_UMT5 : NINO_ENC_T5);
        CHECK(e->width == 24 && e->n_layers == 2 && !e->pooled_width && e->vocab == 512);
        outputs o = forward(
            s, e, 33, (nino_encoder_in){ .is_normed = true, .has_hidden = true, .pooled_row = -1 });
        if (!i)
            first = o;
        else
            CHECK(same(o.hidden, first.hidden) == (i == 1 || i == 4)); // only the names differ
        if (i)
            release(&o);
        nino_encoder_destroy(&e);
    }
    release(&first);
}

// What is not looked at does not matter: a prompt with its padding hidden is the prompt alone.
static void test_t5_mask(nino_stream *s)
{
    const random_text t = {
        .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 3, .is_umt5 = true
    };
    nino_encoder *e = load(&t, NINO_ENC_UMT5);
    bool attend[20];
    for (int i = 0; i < 20; i++)
        attend[i] = i < 7;
    nino_encoder_in in = { .is_normed = true, .has_hidden = true, .pooled_row = -1 };
    outputs a = forward(s, e, 7, in);
    in.attend = attend;
    outputs b = forward(s, e, 20, in);
    for (int i = 0; i < 7 * 24; i++)
        CHECK(fabsf(nino_array_f32(a.hidden)[i] - nino_array_f32(b.hidden)[i]) < 1e-5f);
    release(&a);
    release(&b);
    nino_encoder_destroy(&e);
}

// 8-bit embeddings: not-a-number is 0, infinity the largest number.
static void test_finite(void)
{
    const random_text t = { .width = 24,
                            .layers = 1,
                            .mlp = 8,
                            .is_t5 = true,
                            .heads = 3,
                            .vocab = 8,
                            .dtype = NINO_F8_E5M2 };
    nino_weights *w = random_text_file(&dir, "f", &t, 1, NULL);
    const nino_tensor_info *tokens = nino_weights_find(w, "shared.weight");
    char path[64];
    const unsigned char special[] = { 0x7e, 0x7c, 0xfc }; // NaN, infinity, -infinity
    snprintf(path, sizeof(path), "%s/f", dir.path);
    FILE *f = fopen(path, "r+");
    CHECK(f && fseek(f, (long) tokens->offset + 24, SEEK_SET) == 0 &&
          fwrite(special, 3, 1, f) == 1);
    CHECK(fclose(f) == 0);
    nino_encoder *e = NULL;
    CHECK_OK(nino_encoder_load(NINO_ENC_T5, w, "", NULL, &e, &err), err);
    nino_token token = { .id = 1 };
    const nino_prompt p = { .tokens = &token, .n_chunks = 1, .chunk_len = 1 };
    nino_array *x = NULL;
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    CHECK(nino_array_f32(x)[0] == 0 && nino_array_f32(x)[1] > 3e38f &&
          nino_array_f32(x)[2] < -3e38f);
    CHECK(fabsf(nino_array_f32(x)[3]) < 10);
    nino_array_unref(&x);
    token.id = 8;
    CHECK(nino_encoder_embed(e, &p, false, &x, &err) == NINO_ERR_RANGE && !x);
    CHECK(strstr(err.msg, "token 8") && strstr(err.where, "f"));
    nino_encoder_destroy(&e);
    nino_weights_unref(&w);
}

// Rows of a prompt's own vectors are taken as they are, with the position added.
static void test_vectors(void)
{
    const random_text t = { .width = 8, .layers = 1, .mlp = 8, .vocab = 16 };
    nino_encoder *e = load(&t, NINO_ENC_CLIP_L);
    float vectors[16];
    for (int i = 0; i < 16; i++)
        vectors[i] = (float) (i + 1);
    nino_token tokens[3] = { { .id = 3 }, { .id = -1, .vector = 1 }, { .id = 3 } };
    nino_prompt p = { .tokens = tokens,
                      .n_chunks = 1,
                      .chunk_len = 3,
                      .vectors = vectors,
                      .n_vectors = 2,
                      .width = 8 };
    nino_array *x = NULL, *y = NULL;
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    tokens[1] = (nino_token){ .id = -1, .vector = 0 };
    CHECK_OK(nino_encoder_embed(e, &p, false, &y, &err), err);
    for (int i = 0; i < 8; i++)
        CHECK(fabsf(nino_array_f32(x)[8 + i] - nino_array_f32(y)[8 + i] - 8) < 1e-5f);
    CHECK(!memcmp(x->data, y->data, 8 * sizeof(float)));
    nino_array_unref(&y);
    p.width = 4;
    CHECK(nino_encoder_embed(e, &p, false, &y, &err) == NINO_ERR_FORMAT);
    nino_array_unref(&x);
    CHECK_OK(nino_encoder_embed(e, &p, true, &x, &err) == NINO_ERR_FORMAT ? NINO_OK : NINO_ERR_ARG,
             err);
    nino_encoder_destroy(&e);
}

// ---- wrong files -----------------------------------------------------------------------------

static void test_bad(void)
{
    static const struct {
        random_text t;
        const char *without, *message;
    } bad[] = {
        { { .width = 32, .layers = 2, .mlp = 8, .vocab = 9 },
          "text_model.final_layer_norm.bias",
          "text_model.final_layer_norm.bias" },
        { { .width = 32, .layers = 2, .mlp = 8, .vocab = 9 },
          "text_model.encoder.layers.1.self_attn.k_proj.weight",
          "layers.1.self_attn.k_proj.weight" },
        { { .width = 32, .layers = 2, .mlp = 8, .vocab = 9 },
          "text_model.embeddings.position_embedding.weight",
          "position_embedding" },
        { { .width = 30, .layers = 1, .mlp = 8, .vocab = 9 }, NULL, "4 heads" },
        { { .width = 32, .layers = 0, .mlp = 8, .vocab = 9 }, NULL, "0 layers" },
        { { .width = 32, .layers = 1, .mlp = 8, .vocab = 9, .is_open = true },
          "transformer.resblocks.0.attn.in_proj_weight",
          "in_proj_weight" },
        { { .width = 24, .layers = 2, .mlp = 8, .is_t5 = true, .heads = 3 },
          "shared.weight",
          "encoder.embed_tokens.weight" },
        { { .width = 24, .layers = 2, .mlp = 8, .is_t5 = true, .heads = 3 },
          "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
          "relative_attention_bias" },
        { { .width = 24, .layers = 2, .mlp = 8, .is_t5 = true, .heads = 5 }, NULL, "heads" },
        { { .width = 24, .layers = 2, .mlp = 8, .is_t5 = true, .heads = 3 },
          "encoder.block.1.layer.1.DenseReluDense.wo.weight",
          "DenseReluDense.wo.weight" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *const without[] = { bad[i].without, NULL };
        nino_encoder *e = NULL;
        nino_weights *w =
            random_text_file(&dir, "f", &bad[i].t, 1, bad[i].without ? without : NULL);
        err = (nino_error){ 0 };
        CHECK(nino_encoder_load(bad[i].t.is_t5 ? NINO_ENC_T5 : NINO_ENC_CLIP_L, w, "", NULL, &e,
                                &err));
        CHECK(!e);
        CHECK_STR(err.kind, "model");
        if (!strstr(err.msg, bad[i].message) && !strstr(err.where, bad[i].message)) {
            fprintf(stderr, "case %zu: %s: %s\n", i, err.where, err.msg);
            CHECK(false);
        }
        nino_weights_unref(&w);
    }
}

int main(void)
{
    static const char *const files[] = { "f", "old", NULL };
    test_device d;
    dir = test_dir_create();
    CHECK(test_device_open(&d, "ref", 0));
    test_clip_names(d.s);
    test_old_names(d.s);
    test_clip_causal(d.s);
    test_clip_widths(d.s);
    test_t5_kinds(d.s);
    test_t5_mask(d.s);
    test_finite();
    test_vectors();
    test_bad();
    test_device_close(&d);
    test_dir_remove(&dir, files);
    return 0;
}
