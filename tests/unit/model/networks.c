// Diffusion networks of small sizes: names of ComfyUI and of diffusers, prefixes, odd sizes, extra
// channels, reference latents, weights that are rounded. (networks_trained.c: what files say, what
// is refused.)
#include "tests/networks.h"

// Both networks answer with the same bits.
static void check_same(nino_weights *a, nino_weights *b, const char *family)
{
    nino_diffusion *d = test_diffusion(a, family), *e = test_diffusion(b, family);
    CHECK(d->in_channels == e->in_channels && d->context_dim == e->context_dim);
    CHECK(d->y_dim == e->y_dim && d->has_guidance == e->has_guidance);
    nino_array *p = run(d, 1, 7, 5), *q = run(e, 1, 7, 5);
    CHECK(!memcmp(p->data, q->data, p->bytes));
    nino_array_unref(&p);
    nino_array_unref(&q);
    nino_diffusion_unref(&d);
    nino_diffusion_unref(&e);
    nino_weights_unref(&a);
    nino_weights_unref(&b);
}

// ---- diffusers names -------------------------------------------------------------------------
static bool swap_prefix(char *s, size_t size, const char *from, const char *with)
{
    char tail[160];
    if (strncmp(s, from, strlen(from)) != 0)
        return false;
    snprintf(tail, sizeof(tail), "%s", s + strlen(from));
    snprintf(s, size, "%s%s", with, tail);
    return true;
}

// A UNet with `levels` levels of two residual blocks.
static void unet_name(char *s, size_t size, int levels)
{
    static const char *const tops[][2] = {
        { "time_embed.0", "time_embedding.linear_1" },
        { "time_embed.2", "time_embedding.linear_2" },
        { "label_emb.0.0", "add_embedding.linear_1" },
        { "label_emb.0.2", "add_embedding.linear_2" },
        { "input_blocks.0.0", "conv_in" },
        { "middle_block.0", "mid_block.resnets.0" },
        { "middle_block.1", "mid_block.attentions.0" },
        { "middle_block.2", "mid_block.resnets.1" },
        { "out.0", "conv_norm_out" },
        { "out.2", "conv_out" },
    };
    static const char *const leaves[][2] = {
        { "in_layers.0.", "norm1." },          { "in_layers.2.", "conv1." },
        { "emb_layers.1.", "time_emb_proj." }, { "out_layers.0.", "norm2." },
        { "out_layers.3.", "conv2." },         { "skip_connection.", "conv_shortcut." },
    };
    char from[48], with[64];
    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
        if (swap_prefix(s, size, tops[i][0], tops[i][1]))
            break;
    for (int level = 0; level < levels; level++) {
        for (int r = 0; r < 2; r++)
            for (int m = 0; m < 2; m++) {
                snprintf(from, sizeof(from), "input_blocks.%d.%d.", 1 + 3 * level + r, m);
                snprintf(with, sizeof(with), "down_blocks.%d.%s.%d.", level,
                         m ? "attentions" : "resnets", r);
                swap_prefix(s, size, from, with);
            }
        snprintf(from, sizeof(from), "input_blocks.%d.0.op", 3 + 3 * level);
        snprintf(with, sizeof(with), "down_blocks.%d.downsamplers.0.conv", level);
        swap_prefix(s, size, from, with);
        for (int r = 0; r < 3; r++)
            for (int m = 2; m >= 0; m--) {
                snprintf(from, sizeof(from), "output_blocks.%d.%d.conv", 3 * level + r, m);
                snprintf(with, sizeof(with), "up_blocks.%d.upsamplers.0.conv", level);
                swap_prefix(s, size, from, with);
                snprintf(from, sizeof(from), "output_blocks.%d.%d.", 3 * level + r, m);
                snprintf(with, sizeof(with), "up_blocks.%d.%s.%d.", level,
                         m ? "attentions" : "resnets", r);
                swap_prefix(s, size, from, with);
            }
    }
    for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
        char *at = strstr(s, leaves[i][0]);
        if (at && !strstr(s, "transformer_blocks"))
            swap_prefix(at, size - (size_t) (at - s), leaves[i][0], leaves[i][1]);
    }
}

// label: what the embedding of y is called there; NULL: as XL has it
static nino_weights *unet_in_diffusers(const nino_weights *w, int levels, const char *label)
{
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        char name[160];
        snprintf(name, sizeof(name), "%s", t->name);
        unet_name(name, sizeof(name), levels);
        if (label)
            swap_prefix(name, sizeof(name), "add_embedding", label);
        put(tensor(w, t), name);
    }
    return save_copy("diffusers");
}

// Rows [row, row + n) of a as a tensor of its own.
static void put_rows(const nino_array *a, int64_t row, int64_t n, const char *base,
                     const char *name)
{
    nino_shape shape = a->shape;
    const size_t row_bytes = a->bytes / (size_t) shape.dim[0];
    char full[160];
    shape.dim[0] = n;
    nino_array *part = nino_array_create(NINO_F32, shape);
    CHECK(part != NULL);
    memcpy(part->data, (const char *) a->data + (size_t) row * row_bytes, part->bytes);
    snprintf(full, sizeof(full), "%s%s", base, name);
    put(part, full);
}

// One BFL tensor, `rest` after its block, as one or more of diffusers'. h: hidden width.
static void flux_tensor(nino_array *a, const char *base, const char *rest, int64_t h)
{
    static const struct {
        const char *from, *to;
    } names[] = {
        { "img_mod.lin", "norm1.linear" },
        { "txt_mod.lin", "norm1_context.linear" },
        { "img_attn.proj", "attn.to_out.0" },
        { "txt_attn.proj", "attn.to_add_out" },
        { "img_mlp.0", "ff.net.0.proj" },
        { "img_mlp.2", "ff.net.2" },
        { "txt_mlp.0", "ff_context.net.0.proj" },
        { "txt_mlp.2", "ff_context.net.2" },
        { "img_attn.norm.query_norm.scale", "attn.norm_q.weight" },
        { "img_attn.norm.key_norm.scale", "attn.norm_k.weight" },
        { "txt_attn.norm.query_norm.scale", "attn.norm_added_q.weight" },
        { "txt_attn.norm.key_norm.scale", "attn.norm_added_k.weight" },
        { "norm.query_norm.scale", "attn.norm_q.weight" },
        { "norm.key_norm.scale", "attn.norm_k.weight" },
        { "linear2", "proj_out" },
        { "modulation.lin", "norm.linear" },
        { "img_in", "x_embedder" },
        { "txt_in", "context_embedder" },
        { "time_in.in_layer", "time_text_embed.timestep_embedder.linear_1" },
        { "time_in.out_layer", "time_text_embed.timestep_embedder.linear_2" },
        { "vector_in.in_layer", "time_text_embed.text_embedder.linear_1" },
        { "vector_in.out_layer", "time_text_embed.text_embedder.linear_2" },
        { "guidance_in.in_layer", "time_text_embed.guidance_embedder.linear_1" },
        { "guidance_in.out_layer", "time_text_embed.guidance_embedder.linear_2" },
        { "final_layer.linear", "proj_out" },
    };
    static const char *const img[] = { "attn.to_q", "attn.to_k", "attn.to_v", "proj_mlp" };
    static const char *const txt[] = { "attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj",
                                       "" };
    const char *leaf = strrchr(rest, '.');
    char name[160];
    if (strstr(rest, "attn.qkv") || strstr(rest, "linear1")) {
        const bool is_txt = !strncmp(rest, "txt", 3);
        for (int i = 0; i * h < a->shape.dim[0] && i < 4; i++) {
            snprintf(name, sizeof(name), "%s%s", is_txt ? txt[i] : img[i], leaf);
            put_rows(a, i * h, i < 3 ? h : a->shape.dim[0] - 3 * h, base, name);
        }
        nino_array_unref(&a);
        return;
    }
    if (strstr(rest, "adaLN")) { // the halves change places
        const size_t half = a->bytes / 2;
        char *p = a->data, *old = malloc(a->bytes);
        CHECK(old != NULL);
        memcpy(old, p, a->bytes);
        memcpy(p, old + half, half);
        memcpy(p + half, old, half);
        free(old);
        snprintf(name, sizeof(name), "norm_out.linear%s", leaf);
        put(a, name);
        return;
    }
    snprintf(name, sizeof(name), "%s", rest);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (swap_prefix(name, sizeof(name), names[i].from, names[i].to)) {
            char full[200];
            snprintf(full, sizeof(full), "%s%s", base, name);
            put(a, full);
            return;
        }
    CHECK(!"a tensor without a diffusers name");
}

static nino_weights *flux_in_diffusers(const nino_weights *w, int64_t h)
{
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        char base[64] = "";
        int n, used = 0;
        if (sscanf(t->name, "double_blocks.%d.%n", &n, &used) == 1 && used)
            snprintf(base, sizeof(base), "transformer_blocks.%d.", n);
        else if (sscanf(t->name, "single_blocks.%d.%n", &n, &used) == 1 && used)
            snprintf(base, sizeof(base), "single_transformer_blocks.%d.", n);
        flux_tensor(tensor(w, t), base, t->name + used, h);
    }
    return save_copy("diffusers");
}

static void test_names(void)
{
    nino_weights *w = made_unet(&tiny_sd, NULL);
    check_same(w, unet_in_diffusers(w, 2, NULL), "sd15");
    w = made_unet(&tiny_xl, NULL);
    check_same(w, unet_in_diffusers(w, 3, NULL), "sdxl");
    net_unet lotus = tiny_sd;
    lotus.y = 4;
    lotus.is_linear = true;
    w = made_unet(&lotus, NULL);
    check_same(w, unet_in_diffusers(w, 2, "class_embedding"), "lotus");
    w = made_flux(&tiny_flux, NULL);
    check_same(w, flux_in_diffusers(w, 128), "flux");
    w = made_flux(&tiny_fast, NULL);
    check_same(w, flux_in_diffusers(w, 64), "flux_schnell");
    w = made_unet(&tiny_sd, NULL);
    check_same(w, made(net_list_unet(&tiny_sd, "model.diffusion_model."), "prefixed"), "sd15");
    w = made_flux(&tiny_flux, NULL);
    check_same(w, made(net_list_flux(&tiny_flux, "model.diffusion_model."), "prefixed"), "flux");
}

// ---- what an evaluation may get --------------------------------------------------------------
// A batch is its items, each with its own time step.
static void check_batch(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 2, 6, 5, 3);
    nino_array *both = test_forward(dev.s, d, &p.in);
    for (int i = 0; i < 2; i++) {
        nino_array *x = test_item(p.in.x, i), *context = test_item(p.in.context, i);
        nino_array *y = test_item(p.in.y, i), *want = test_item(both, i);
        nino_array *concat = test_item(p.in.concat, i);
        const test_inputs one = { .x = x,
                                  .context = context,
                                  .y = y,
                                  .concat = concat,
                                  .timestep = p.t + i,
                                  .guidance = 3.5f };
        nino_array *got = test_forward(dev.s, d, &one);
        CHECK(test_nmse(got, want) < 1e-10);
        nino_array *all[] = { x, context, y, want, concat, got };
        for (int k = 0; k < 6; k++)
            nino_array_unref(&all[k]);
    }
    nino_array_unref(&both);
    drop(&p);
}

static void test_unets(void)
{
    static const net_unet *const nets[] = { &tiny_sd, &tiny_xl, &tiny_short };
    for (int i = 0; i < 3; i++) {
        nino_weights *w = made_unet(nets[i], NULL);
        nino_diffusion *d = test_diffusion(w, nets[i]->y ? "sdxl" : "sd15");
        CHECK(d->in_channels == nets[i]->in && d->context_dim == nets[i]->context);
        CHECK(d->y_dim == nets[i]->y && !strcmp(d->format->name, nets[i]->y ? "sdxl" : "sd15"));
        CHECK(d->sampling->prediction == NINO_PRED_EPS);
        check_batch(d);
        for (int h = 1; h <= 5; h += 2) { // odd on every level
            nino_array *out = run(d, 1, h, 9 - h);
            nino_array_unref(&out);
        }
        nino_diffusion_unref(&d);
        nino_weights_unref(&w);
    }
}

// x with its first row and column again at the end: what an odd size is padded with.
static nino_array *padded(const nino_array *x)
{
    const int64_t h = x->shape.dim[1], w = x->shape.dim[2], c = x->shape.dim[3];
    const int64_t ph = h + h % 2, pw = w + w % 2;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, ph, pw, c));
    CHECK(a != NULL);
    for (int64_t y = 0; y < ph; y++)
        for (int64_t i = 0; i < pw; i++)
            memcpy(nino_array_f32(a) + (y * pw + i) * c,
                   nino_array_f32(x) + (y % h * w + i % w) * c, (size_t) c * sizeof(float));
    return a;
}

static void check_padding(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 1, 5, 3, 4);
    nino_array *odd = test_forward(dev.s, d, &p.in);
    nino_array *x = padded(p.in.x), *concat = p.in.concat ? padded(p.in.concat) : NULL;
    test_inputs even = p.in;
    even.x = x;
    even.concat = concat;
    nino_array *all = test_forward(dev.s, d, &even), *want = test_crop(all, 0, 0, 5, 3);
    CHECK(test_nmse(odd, want) < 1e-12);
    nino_array *list[] = { odd, x, concat, all, want };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&list[i]);
    drop(&p);
}

// Reference latents are seen, each in its place, and do not come out.
static void check_refs(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 1, 4, 5, 4);
    nino_array *none = test_forward(dev.s, d, &p.in);
    p.owned[4] = test_values(NINO_SHAPE(1, 4, 5, 16), 7);
    p.owned[5] = test_values(NINO_SHAPE(1, 3, 2, 16), 8);
    p.in.ref[0] = p.owned[4];
    p.in.ref[1] = p.owned[5];
    p.in.n_refs = 1;
    nino_array *one = test_forward(dev.s, d, &p.in);
    p.in.n_refs = 2;
    nino_array *two = test_forward(dev.s, d, &p.in);
    p.in.ref[0] = p.owned[5];
    p.in.ref[1] = p.owned[4];
    nino_array *swapped = test_forward(dev.s, d, &p.in);
    CHECK(nino_shape_equal(&two->shape, &none->shape));
    CHECK(test_nmse(one, none) > 1e-6 && test_nmse(two, one) > 1e-6);
    CHECK(test_nmse(swapped, two) > 1e-6);
    nino_array *list[] = { none, one, two, swapped };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&list[i]);
    drop(&p);
}

static void check_guidance(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 1, 4, 4, 4);
    nino_array *a = test_forward(dev.s, d, &p.in);
    p.in.guidance = 1;
    nino_array *b = test_forward(dev.s, d, &p.in);
    p.in.guidance = NAN;
    nino_array *c = test_forward(dev.s, d, &p.in);
    CHECK((test_nmse(a, b) > 1e-9) == d->has_guidance);
    CHECK((test_nmse(a, c) > 1e-9) == d->has_guidance);
    p.in.y = NULL; // counts as zeros
    nino_array *e = test_forward(dev.s, d, &p.in);
    CHECK(test_nmse(e, c) > 1e-9);
    nino_array *list[] = { a, b, c, e };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&list[i]);
    drop(&p);
}

static void test_flux(void)
{
    static const net_flux *const nets[] = { &tiny_flux, &tiny_fill, &tiny_fast };
    for (int i = 0; i < 3; i++) {
        nino_weights *w = made_flux(nets[i], NULL);
        nino_diffusion *d = test_diffusion(w, nets[i]->has_guidance ? "flux" : "flux_schnell");
        CHECK(d->in_channels == nets[i]->in && d->has_guidance == nets[i]->has_guidance);
        CHECK(d->sampling->prediction == NINO_PRED_FLOW);
        CHECK(d->sampling->schedule == (d->has_guidance ? NINO_SCHEDULE_FLUX : NINO_SCHEDULE_FLOW));
        check_batch(d);
        check_padding(d);
        check_guidance(d);
        if (nets[i]->in == 16)
            check_refs(d);
        nino_diffusion_unref(&d);
        nino_weights_unref(&w);
    }
}

// ---- weight_dtype ----------------------------------------------------------------------------
static void test_rounding(void)
{
    nino_weights *w = made_unet(&tiny_sd, NULL);
    nino_diffusion *plain = test_diffusion(w, "sd15"), *round = NULL, *same = NULL;
    CHECK_OK(nino_diffusion_load_as(w, "test", NINO_F8_E4M3, &round, &err), err);
    CHECK(round->weight_type == NINO_F8_E4M3 && plain->weight_type == NINO_F32);
    // the same network from a file whose values are already of that type
    for (int i = 0; i < nino_weights_count(w); i++) {
        nino_array *a = tensor(w, nino_weights_at(w, i));
        nino_array *b = nino_array_convert(a, NINO_F8_E4M3);
        CHECK(b != NULL);
        put(b, nino_weights_at(w, i)->name);
        nino_array_unref(&a);
    }
    nino_weights *f8 = save_copy("f8");
    same = test_diffusion(f8, "sd15");
    nino_array *a = run(plain, 1, 4, 4), *b = run(round, 1, 4, 4), *c = run(same, 1, 4, 4);
    CHECK(test_nmse(b, a) > 1e-6 && test_nmse(b, a) < 0.1);
    CHECK(!memcmp(b->data, c->data, b->bytes));
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_array_unref(&c);
    nino_diffusion_unref(&plain);
    nino_diffusion_unref(&round);
    nino_diffusion_unref(&same);
    nino_weights_unref(&w);
    nino_weights_unref(&f8);
}

int main(void)
{
    static const char *const files[] = { "ldm", "bfl", "diffusers", "prefixed", "f8", NULL };
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_names();
    test_unets();
    test_flux();
    test_rounding();
    test_device_close(&dev);
    test_dir_remove(&dir, files);
    return 0;
}
