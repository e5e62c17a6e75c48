// Qwen-Image transformers of random weights: names that files use, batches, sizes, reference latents
// and the mark that says where they go, and files that are refused.
#include "tests/networks.h"

#include "core/model/qwen_image/qwen_image.h"

static const net_qwen tiny = { 64, 32, 2, 48, 20, false };
static const net_qwen marked = { 64, 32, 1, 48, 20, true };

static nino_weights *made_qwen(const net_qwen *q, const char *prefix)
{
    return made(net_list_qwen(q, prefix), "qwen");
}

// Everything an evaluation takes, of a size in cells; the pictures have one frame.
static void fill_qwen(inputs *p, const nino_diffusion *d, int64_t n, int64_t h, int64_t w)
{
    fill(p, d, n, h, w, 3);
    p->owned[0]->shape = NINO_SHAPE(n, 1, h, w, 16);
}

static void give_refs(inputs *p, int n)
{
    for (int i = 0; i < n; i++)
        p->in.ref[i] = p->owned[4 + i] = test_values(NINO_SHAPE(1, 3 + i, 2, 16), (uint64_t) 7 + i);
    p->in.n_refs = n;
}

static void check_sizes(void)
{
    nino_weights *w = made_qwen(&tiny, NULL);
    nino_diffusion *d = test_diffusion(w, "qwen_image");
    CHECK(d->in_channels == 16 && d->context_dim == 20 && !d->y_dim && !d->vision_dim);
    CHECK(!d->has_guidance && d->has_refs && d->has_context_mask && d->wants_bf16);
    CHECK(strstr(d->detail, "2 blocks, width 64"));
    for (int h = 1; h <= 5; h += 2) {
        inputs p;
        fill_qwen(&p, d, 1, h, 8 - h);
        nino_array *out = test_forward(dev.s, d, &p.in);
        CHECK(nino_shape_equal(&out->shape, &p.owned[0]->shape));
        nino_array_unref(&out);
        drop(&p);
    }
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

static nino_array *run_of(nino_weights *w, int n_refs, nino_ref_method method)
{
    nino_diffusion *d = test_diffusion(w, "qwen_image");
    inputs p;
    fill_qwen(&p, d, 1, 4, 5);
    give_refs(&p, n_refs);
    p.in.ref_method = method;
    nino_array *out = test_forward(dev.s, d, &p.in);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    return out;
}

static void check_prefix(void)
{
    nino_array *a = run_of(made_qwen(&tiny, NULL), 0, NINO_REFS_DEFAULT);
    nino_array *b = run_of(made_qwen(&tiny, "model.diffusion_model."), 0, NINO_REFS_DEFAULT);
    CHECK(!memcmp(a->data, b->data, a->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
}

// Two pictures at once are each by itself, at one time or at two.
static void check_batch(nino_ref_method method, float second)
{
    nino_weights *w = made_qwen(&tiny, NULL);
    nino_diffusion *d = test_diffusion(w, "qwen_image");
    inputs p;
    fill_qwen(&p, d, 2, 4, 6);
    p.t[1] = second;
    p.owned[4] = test_values(NINO_SHAPE(2, 3, 3, 16), 9);
    p.in.ref[0] = p.owned[4];
    p.in.n_refs = 1;
    p.in.ref_method = method;
    nino_array *both = test_forward(dev.s, d, &p.in);
    for (int i = 0; i < 2; i++) {
        test_inputs one = p.in;
        nino_array *x = test_item(p.in.x, i), *context = test_item(p.in.context, i);
        nino_array *ref = test_item(p.owned[4], i), *want = test_item(both, i);
        one.x = x;
        one.context = context;
        one.ref[0] = ref;
        one.timestep = p.t + i;
        nino_array *got = test_forward(dev.s, d, &one);
        CHECK(test_nmse(got, want) < 1e-10);
        nino_array *all[] = { x, context, ref, want, got };
        for (int k = 0; k < 5; k++)
            nino_array_unref(&all[k]);
    }
    nino_array_unref(&both);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// Where the conditioning says nothing, the mark in the file does.
static void check_mark(void)
{
    nino_array *by_mark = run_of(made_qwen(&marked, NULL), 2, NINO_REFS_DEFAULT);
    nino_array *zero = run_of(made_qwen(&marked, NULL), 2, NINO_REFS_INDEX_TIMESTEP_ZERO);
    nino_array *index = run_of(made_qwen(&marked, NULL), 2, NINO_REFS_INDEX);
    net_qwen q = marked;
    q.has_zero = false;
    nino_array *plain = run_of(made_qwen(&q, NULL), 2, NINO_REFS_DEFAULT);
    CHECK(!memcmp(by_mark->data, zero->data, zero->bytes) && test_nmse(index, zero) > 1e-6);
    CHECK(!memcmp(plain->data, index->data, index->bytes));
    nino_array *all[] = { by_mark, zero, index, plain };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
}

static nino_array *eval_of(const nino_diffusion *d)
{
    inputs p;
    fill_qwen(&p, d, 1, 4, 5);
    nino_array *out = test_forward(dev.s, d, &p.in);
    drop(&p);
    return out;
}

// Files of 8-bit floats without scales have biases and norms of that type, too; the same comes of a
// loader that rounds to it.
static void check_f8(void)
{
    nino_weights *w = made_qwen(&tiny, NULL);
    nino_diffusion *plain = test_diffusion(w, "qwen_image"), *round = NULL;
    CHECK_OK(nino_diffusion_load_as(w, "test", NINO_F8_E4M3, &round, &err), err);
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        put(nino_array_convert(a, NINO_F8_E4M3), nino_weights_at(w, i)->name);
        nino_array_unref(&a);
    }
    nino_weights *f8 = save_copy("f8");
    nino_diffusion *stored = test_diffusion(f8, "qwen_image");
    CHECK(!stored->is_scaled);
    nino_array *a = eval_of(plain), *b = eval_of(round), *c = eval_of(stored);
    CHECK(test_nmse(b, a) > 1e-6 && test_nmse(b, a) < 0.1);
    CHECK(!memcmp(b->data, c->data, b->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
    nino_diffusion_unref(&plain);
    nino_diffusion_unref(&round);
    nino_diffusion_unref(&stored);
    nino_weights_unref(&w);
    nino_weights_unref(&f8);
}

static void check_refused(void)
{
    static const struct {
        const char *name;
        int64_t rows; // 0: the tensor is missing
        nino_status st;
        const char *words;
    } damages[] = {
        { "img_in.weight", 0, NINO_ERR_FORMAT, "img_in.weight" },
        { "transformer_blocks.0.attn.norm_q.weight", 96, NINO_ERR_UNSUPPORTED,
          "heads of 96 channels in 64" },
        { "txt_norm.weight", 21, NINO_ERR_FORMAT, "txt_norm.weight" },
        { "transformer_blocks.0.attn.norm_q.weight", 0, NINO_ERR_FORMAT, "attn.norm_q.weight" },
        { "transformer_blocks.0.attn.norm_q.weight", 24, NINO_ERR_UNSUPPORTED, "heads of 24" },
        { "transformer_blocks.0.attn.norm_q.weight", 64, NINO_ERR_FORMAT, "attn.norm_k.weight" },
        { "transformer_blocks.1.attn.to_q.weight", 96, NINO_ERR_FORMAT, "1.attn.to_q" },
        { "transformer_blocks.1.attn.add_v_proj.weight", 0, NINO_ERR_FORMAT, "1.attn.add_v_proj" },
        { "transformer_blocks.1.txt_mod.1.weight", 64, NINO_ERR_FORMAT, "1.txt_mod.1" },
        { "transformer_blocks.1.img_mlp.net.2.weight", 32, NINO_ERR_FORMAT, "1.img_mlp.net.2" },
        { "norm_out.linear.weight", 64, NINO_ERR_FORMAT, "norm_out.linear" },
        { "proj_out.weight", 32, NINO_ERR_FORMAT, "proj_out" },
        { "proj_out.weight", 128, NINO_ERR_UNSUPPORTED, "Mage-Flow" },
    };
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        net_list l = test_net_damaged(net_list_qwen(&tiny, NULL), damages[i].name, damages[i].rows);
        test_refused_net(made(l, "qwen"), damages[i].st, damages[i].words);
    }
    net_list l = net_list_qwen(&tiny, NULL); // a block is missing: the numbers have a gap
    for (int i = 0; i < l.n; i++)
        if (!strncmp(l.t[i].name, "transformer_blocks.1.", 21))
            l.t[i].name[19] = '3';
    test_refused_net(made(l, "qwen"), NINO_ERR_FORMAT, "transformer_blocks.1.");
    l = net_list_qwen(&tiny, NULL);
    net_add(&l, "time_text_embed.addition_t_embedding.weight", 2, (const int64_t[]){ 2, 64 });
    test_refused_net(made(l, "qwen"), NINO_ERR_UNSUPPORTED, "Qwen-Image-Layered");
}

static void check_inputs(void)
{
    nino_weights *w = made_qwen(&tiny, NULL);
    nino_diffusion *d = test_diffusion(w, "qwen_image");
    inputs p;
    fill_qwen(&p, d, 2, 4, 4);
    p.owned[0]->shape = NINO_SHAPE(1, 2, 4, 4, 16); // a clip
    nino_array *one = test_item(p.owned[1], 0);
    p.in.context = one;
    test_refused_inputs(dev.s, d, &p.in, "a clip of 2 frames");
    p.owned[0]->shape = NINO_SHAPE(2, 1, 4, 4, 16);
    p.in.context = p.owned[1];
    nino_array *mask = test_values(NINO_SHAPE(2, 4), 3);
    p.in.context_mask = mask;
    test_refused_inputs(dev.s, d, &p.in, "has 4 of its 3 tokens");
    nino_array_unref(&one);
    nino_array_unref(&mask);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// Blocks that are left out are as if the file did not have them, also the last and all.
static void check_skips(void)
{
    nino_weights *w = made_qwen(&tiny, NULL);
    nino_diffusion *d = test_diffusion(w, "qwen_image");
    qwen_image *net = d->net, whole = *net;
    for (int set = 1; set < 4; set++) {
        inputs p;
        fill_qwen(&p, d, 1, 4, 5);
        give_refs(&p, 1);
        p.in.skip.doubles = (uint64_t) set;
        nino_array *without = test_forward(dev.s, d, &p.in);
        p.in.skip.doubles = 0;
        nino_array *with = test_forward(dev.s, d, &p.in);
        net->blocks += set == 1;
        net->n_blocks = set < 3;
        nino_array *want = test_forward(dev.s, d, &p.in);
        CHECK(!memcmp(without->data, want->data, want->bytes) && test_nmse(with, want) > 1e-9);
        net->blocks = whole.blocks;
        net->n_blocks = whole.n_blocks;
        nino_array *all[] = { without, with, want };
        for (int i = 0; i < 3; i++)
            nino_array_unref(&all[i]);
        drop(&p);
    }
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// Of as many pictures as there are; what the places of others hold does not count.
static void check_places(nino_ref_method method)
{
    qwen_rope r = { .axes = { .theta = 10000, .n = 3, .channels = { 4, 6, 6 } },
                    .text = 3,
                    .n = 2,
                    .method = method };
    r.h[0] = r.w[0] = 4;
    r.h[1] = 6;
    r.w[1] = 2;
    nino_array *want = qwen_rope_make(&r);
    for (int i = 2; i < 1 + NINO_QWEN_REFS; i++)
        r.h[i] = r.w[i] = 1000;
    nino_array *a = qwen_rope_make(&r);
    CHECK(want && a && a->shape.dim[0] == 3 + 4 + 3 && a->bytes == want->bytes);
    CHECK(!memcmp(a->data, want->data, a->bytes));
    nino_array_unref(&want);
    nino_array_unref(&a);
}

int main(void)
{
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    check_sizes();
    check_prefix();
    check_batch(NINO_REFS_INDEX, 0.8f);
    check_batch(NINO_REFS_INDEX, 0.3f);
    check_batch(NINO_REFS_INDEX_TIMESTEP_ZERO, 0.8f);
    check_batch(NINO_REFS_INDEX_TIMESTEP_ZERO, 0.3f);
    check_mark();
    check_skips();
    check_places(NINO_REFS_INDEX);
    check_places(NINO_REFS_NEGATIVE_INDEX);
    check_places(NINO_REFS_OFFSET);
    check_f8();
    check_refused();
    check_inputs();
    test_device_close(&dev);
    test_dir_remove(&dir, (const char *const[]){ "qwen", "f8", NULL });
    return 0;
}
