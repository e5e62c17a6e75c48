// Diffusion networks of small sizes: names of ComfyUI and of diffusers, prefixes, odd sizes, extra
// channels, reference latents, how a file says it was trained, and what is refused.
#include "tests/random_net.h"

#include "tests/diffusion.h"

static const net_unet tiny_sd = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 24, 0, 4, 4, false };
static const net_unet tiny_xl = { 32, 3, { 1, 2, 2 }, { 0, 2, 1 }, 2, 40, 20, 4, 4, true };
static const net_unet tiny_short = { 32, 2, { 1, 1 }, { 1, 0 }, -1, 24, 0, 9, 4, false };
static const net_flux tiny_flux = { 128, 64, 2, 2, 16, 20, 12, true };
static const net_flux tiny_fill = { 128, 64, 1, 1, 96, 20, 12, true };
static const net_flux tiny_fast = { 64, 32, 1, 1, 16, 20, 12, false };

static nino_error err;
static test_device dev;
static test_dir dir;

static nino_weights *made(net_list l, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", dir.path, file);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    return test_open("%s", path);
}

static nino_weights *made_unet(const net_unet *u, const char *prefix)
{
    return made(net_list_unet(u, prefix), "ldm");
}

static nino_weights *made_flux(const net_flux *f, const char *prefix)
{
    return made(net_list_flux(f, prefix), "bfl");
}

// Everything an evaluation takes, random, of a size in cells.
typedef struct inputs {
    test_inputs in;
    nino_array *owned[8];
    float t[2];
} inputs;

static void fill(inputs *p, const nino_diffusion *d, int64_t n, int64_t h, int64_t w,
                 int64_t tokens)
{
    const int c = d->format->channels, extra = d->in_channels - c;
    *p = (inputs){ .t = { 0.8f, 0.3f } };
    for (int i = 0; i < 2 && d->kind == NINO_DIFFUSION_UNET; i++)
        p->t[i] *= 999;
    p->owned[0] = test_values(NINO_SHAPE(n, h, w, c), 3);
    p->owned[1] = test_values(NINO_SHAPE(n, tokens, d->context_dim), 4);
    p->owned[2] = d->y_dim ? test_values(NINO_SHAPE(n, d->y_dim), 5) : NULL;
    p->owned[3] = extra ? test_values(NINO_SHAPE(n, h, w, extra), 6) : NULL;
    p->in = (test_inputs){ .x = p->owned[0],
                           .context = p->owned[1],
                           .y = p->owned[2],
                           .concat = p->owned[3],
                           .timestep = p->t,
                           .guidance = 3.5f };
}

static void drop(inputs *p)
{
    for (int i = 0; i < 8; i++)
        nino_array_unref(&p->owned[i]);
}

static nino_array *run(const nino_diffusion *d, int64_t n, int64_t h, int64_t w)
{
    inputs p;
    fill(&p, d, n, h, w, 5);
    nino_array *out = test_forward(dev.s, d, &p.in);
    CHECK(nino_shape_equal(&out->shape, &p.in.x->shape));
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++)
        CHECK(isfinite(nino_array_f32(out)[i]));
    drop(&p);
    return out;
}

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
typedef struct copy { // a file being made from another one's tensors
    nino_st_entry e[1024];
    char names[1024][160];
    int n;
} copy;

static copy to;

static void put(nino_array *a, const char *name)
{
    CHECK(to.n < 1024);
    snprintf(to.names[to.n], sizeof(to.names[0]), "%s", name);
    to.e[to.n] = (nino_st_entry){ to.names[to.n], a };
    to.n++;
}

static nino_weights *save_copy(const char *file)
{
    CHECK_OK(nino_st_save(dir.path, file, false, to.e, to.n, NULL, 0, &err), err);
    for (int i = 0; i < to.n; i++) {
        nino_array *a = (nino_array *) to.e[i].array;
        nino_array_unref(&a);
    }
    to.n = 0;
    return test_open("%s/%s", dir.path, file);
}

static nino_array *tensor(const nino_weights *w, const nino_tensor_info *t)
{
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK_OK(a ? NINO_OK : err.code, err);
    return a;
}

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

static nino_weights *unet_in_diffusers(const nino_weights *w, int levels)
{
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        char name[160];
        snprintf(name, sizeof(name), "%s", t->name);
        unet_name(name, sizeof(name), levels);
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
    check_same(w, unet_in_diffusers(w, 2), "sd15");
    w = made_unet(&tiny_xl, NULL);
    check_same(w, unet_in_diffusers(w, 3), "sdxl");
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
// Rows [n0, n0 + 1) of a batch.
static nino_array *item(const nino_array *a, int64_t i)
{
    nino_shape shape = a->shape;
    shape.dim[0] = 1;
    nino_array *out = nino_array_create(NINO_F32, shape);
    CHECK(out != NULL);
    memcpy(out->data, (const char *) a->data + (size_t) i * out->bytes, out->bytes);
    return out;
}

// A batch is its items, each with its own time step.
static void check_batch(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 2, 6, 5, 3);
    nino_array *both = test_forward(dev.s, d, &p.in);
    for (int i = 0; i < 2; i++) {
        nino_array *x = item(p.in.x, i), *context = item(p.in.context, i);
        nino_array *y = p.in.y ? item(p.in.y, i) : NULL, *want = item(both, i);
        nino_array *concat = p.in.concat ? item(p.in.concat, i) : NULL;
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

// ---- how it was trained ----------------------------------------------------------------------
static nino_weights *marked(const net_unet *u, const char *a, const char *b, float value)
{
    nino_weights *w = made_unet(u, NULL);
    const char *const marks[] = { a, b };
    for (int i = 0; i < nino_weights_count(w); i++)
        put(tensor(w, nino_weights_at(w, i)), nino_weights_at(w, i)->name);
    for (int i = 0; i < 2 && marks[i]; i++) {
        nino_array *m = nino_array_create(NINO_F32, NINO_SHAPE(1));
        CHECK(m != NULL);
        nino_array_f32(m)[0] = i ? 0.01f : value;
        put(m, marks[i]);
    }
    nino_weights_unref(&w);
    return save_copy("marked");
}

static void check_sampling(nino_weights *w, const char *family, nino_prediction prediction,
                           nino_schedule_kind schedule, double sigma_max, const char *format)
{
    nino_diffusion *d = test_diffusion(w, family);
    CHECK(d->sampling->prediction == prediction && d->sampling->schedule == schedule);
    CHECK(fabs(d->sampling->sigma_max / sigma_max - 1) < 1e-5);
    CHECK_STR(d->format->name, format);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

static void test_sampling(void)
{
    const nino_schedule_kind discrete = NINO_SCHEDULE_DISCRETE, edm = NINO_SCHEDULE_EDM;
    check_sampling(made_unet(&tiny_xl, NULL), "sdxl", NINO_PRED_EPS, discrete, 14.614643, "sdxl");
    check_sampling(marked(&tiny_xl, "v_pred", NULL, 0), "sdxl", NINO_PRED_V, discrete, 14.614643,
                   "sdxl");
    check_sampling(marked(&tiny_xl, "v_pred", "ztsnr", 0), "sdxl", NINO_PRED_V, discrete, 4518.757,
                   "sdxl");
    check_sampling(marked(&tiny_xl, "edm_vpred.sigma_max", "edm_vpred.sigma_min", 500), "sdxl",
                   NINO_PRED_V, edm, 500, "sdxl");
    check_sampling(marked(&tiny_xl, "edm_mean", "edm_std", 0), "sdxl", NINO_PRED_EDM, edm, 80,
                   "sdxl_playground");
    // SD 2: the spread of one bias in the last transformer, where the full model has it
    net_unet sd2 = { 32, 4, { 1, 1, 1, 1 }, { 1, 1, 1, 0 }, 1, 1024, 0, 4, 4, true };
    check_sampling(made_unet(&sd2, NULL), "sd2", NINO_PRED_EPS, discrete, 14.614643, "sd15");
    nino_weights *w = made_unet(&sd2, NULL);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = tensor(w, t);
        for (int k = 0;
             k < 32 && strstr(t->name, "output_blocks.11.1.transformer_blocks.0.norm1.b"); k++)
            nino_array_f32(a)[k] = k % 2 ? 0.5f : 0.3f;
        put(a, t->name);
    }
    nino_weights_unref(&w);
    check_sampling(save_copy("marked"), "sd2", NINO_PRED_V, discrete, 14.614643, "sd15");
    sd2.in = 9; // inpainting models of SD 2 were trained on eps whatever the bias
    check_sampling(made_unet(&sd2, NULL), "sd2", NINO_PRED_EPS, discrete, 14.614643, "sd15");
}

// ---- refused ---------------------------------------------------------------------------------
static void refused(nino_weights *w, nino_status want, const char *words)
{
    nino_diffusion *d = NULL;
    err = (nino_error){ 0 };
    const nino_status st = nino_diffusion_load(w, "test", &d, &err);
    if (st != want || !(strstr(err.msg, words) || strstr(err.where, words)))
        fprintf(stderr, "%s: %s (%s)\n", err.where, err.msg, nino_status_name(st));
    CHECK(st == want && !d);
    CHECK_STR(err.kind, "model");
    CHECK(strstr(err.msg, words) || strstr(err.where, words));
    CHECK(!strchr(err.msg, '\n'));
    nino_weights_unref(&w);
}

// The list without, or with another first size of, the tensor called name.
static nino_weights *damaged(net_list l, const char *name, int64_t rows)
{
    int n = 0;
    for (int i = 0; i < l.n; i++) {
        if (!strcmp(l.t[i].name, name)) {
            if (!rows)
                continue;
            l.t[i].dim[0] = rows;
        }
        l.t[n++] = l.t[i];
    }
    CHECK(!rows == (n < l.n));
    l.n = n;
    return made(l, "damaged");
}

static void test_refused(void)
{
    static const char *const unet[] = {
        "time_embed.2.weight",
        "input_blocks.1.0.in_layers.0.weight",
        "input_blocks.1.0.in_layers.2.weight",
        "input_blocks.1.1.proj_in.weight",
        "input_blocks.1.1.norm.weight",
        "middle_block.1.transformer_blocks.0.attn1.to_q.weight",
        "middle_block.2.out_layers.3.weight",
        "output_blocks.3.0.skip_connection.weight",
        "output_blocks.2.1.transformer_blocks.0.ff.net.2.weight",
        "output_blocks.5.0.emb_layers.1.weight",
        "out.0.weight",
        "out.2.weight",
    };
    static const char *const flux[] = {
        "img_in.weight",
        "txt_in.weight",
        "vector_in.out_layer.weight",
        "double_blocks.0.img_mod.lin.weight",
        "double_blocks.1.txt_attn.qkv.weight",
        "double_blocks.1.img_attn.norm.query_norm.scale",
        "single_blocks.0.linear1.weight",
        "single_blocks.1.linear2.weight",
        "final_layer.linear.weight",
        "final_layer.adaLN_modulation.1.weight",
    };
    for (size_t i = 0; i < sizeof(unet) / sizeof(unet[0]); i++)
        refused(damaged(net_list_unet(&tiny_sd, NULL), unet[i], 0), NINO_ERR_FORMAT, unet[i]);
    for (size_t i = 0; i < sizeof(flux) / sizeof(flux[0]); i++)
        refused(damaged(net_list_flux(&tiny_flux, NULL), flux[i], 0), NINO_ERR_FORMAT, flux[i]);
    refused(damaged(net_list_unet(&tiny_sd, NULL), "input_blocks.3.0.op.weight", 0),
            NINO_ERR_FORMAT, "input_blocks.3.0 is missing");
    refused(damaged(net_list_unet(&tiny_sd, NULL), "input_blocks.2.0.in_layers.2.weight", 31),
            NINO_ERR_FORMAT, "input_blocks.2.0.");
    refused(damaged(net_list_unet(&tiny_sd, NULL), "out.2.weight", 5), NINO_ERR_FORMAT, "out.2");
    refused(damaged(net_list_flux(&tiny_flux, NULL), "double_blocks.0.img_attn.qkv.weight", 300),
            NINO_ERR_FORMAT, "double_blocks.0.img_attn.qkv.weight");
    refused(damaged(net_list_flux(&tiny_flux, NULL), "double_blocks.0.txt_attn.qkv.weight", 512),
            NINO_ERR_FORMAT, "double_blocks.0.txt_attn.qkv.weight has 512 rows");
    refused(damaged(net_list_flux(&tiny_flux, NULL), "single_blocks.0.modulation.lin.weight", 512),
            NINO_ERR_FORMAT, "single_blocks.0.modulation.lin.weight has 512 rows");
    refused(damaged(net_list_flux(&tiny_flux, NULL), "final_layer.linear.weight", 60),
            NINO_ERR_FORMAT, "final_layer.linear");
    // other families, and files without a diffusion model
    const net_list empty = { 0 };
    net_list l = empty;
    net_linear(&l, 8, 8, true, "joint_blocks.0.context_block.attn.qkv");
    refused(made(l, "other"), NINO_ERR_UNSUPPORTED, "sd3");
    l = empty;
    net_linear(&l, 8, 8, true, "text_model.encoder.layers.0.self_attn.q_proj");
    refused(made(l, "other"), NINO_ERR_FORMAT, "a text encoder");
    l = empty;
    net_linear(&l, 8, 8, true, "something");
    refused(made(l, "other"), NINO_ERR_FORMAT, "no tensor name of a known network");
    l = net_list_unet(&tiny_sd, NULL);
    net_linear(&l, 8, 8, false, "label_emb");
    refused(made(l, "other"), NINO_ERR_UNSUPPORTED, "the x4 upscaler");
}

static void refused_input(const nino_diffusion *d, const test_inputs *in, const char *words)
{
    err = (nino_error){ 0 };
    nino_array *out = test_forward_or(dev.s, d, in, &err);
    if (!strstr(err.msg, words))
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    CHECK(!out && err.code == NINO_ERR_ARG && strstr(err.msg, words));
    CHECK_STR(err.where, "test");
}

static void test_refused_inputs(void)
{
    nino_weights *w = made_unet(&tiny_xl, NULL);
    nino_diffusion *d = test_diffusion(w, "sdxl");
    inputs p;
    fill(&p, d, 1, 4, 4, 4);
    nino_array *wrong = test_values(NINO_SHAPE(1, 4, 39), 1);
    test_inputs in = p.in;
    in.context = wrong;
    refused_input(d, &in, "39 wide where 40");
    in = p.in;
    in.y = NULL;
    refused_input(d, &in, "pooled");
    in = p.in;
    in.concat = p.in.x;
    refused_input(d, &in, "takes 4 channels");
    nino_array *pair = test_values(NINO_SHAPE(2, 4, 40), 1);
    in = p.in;
    in.context = pair;
    refused_input(d, &in, "batch");
    nino_array_unref(&wrong);
    nino_array_unref(&pair);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
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
    static const char *const files[] = { "ldm",     "bfl",   "diffusers", "prefixed", "marked",
                                         "damaged", "other", "f8",        NULL };
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_names();
    test_unets();
    test_flux();
    test_sampling();
    test_refused();
    test_refused_inputs();
    test_rounding();
    test_device_close(&dev);
    test_dir_remove(&dir, files);
    return 0;
}
