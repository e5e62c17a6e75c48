// Full-size diffusion networks without their data: names and shapes against the published lists,
// and a plan of one evaluation (1024 x 1024, videos 81 frames of 832 x 480) against a count of the
// products by tensor name.
#include "tests/random_dit.h"

#include "tests/diffusion.h"
#include "tests/shape_list.h"

static nino_error err;

// ---- published lists -------------------------------------------------------------------------
typedef struct listed {
    const nino_weights *w;
    int n;
} listed;

static void check_shape(void *priv, const char *name, int rank, const int64_t *dim)
{
    listed *l = priv;
    const nino_tensor_info *t = nino_weights_find(l->w, name);
    if (!t)
        fprintf(stderr, "%s is missing\n", name);
    CHECK(t != NULL && t->rank == rank && !memcmp(t->dim, dim, (size_t) rank * sizeof(*dim)));
    l->n++;
}

// The generator of these tests makes exactly the tensors of the real model.
static void check_list(const nino_weights *w, const char *list)
{
    char path[512];
    listed l = { .w = w };
    const char *assets = test_assets();
    snprintf(path, sizeof(path), "%s/../spec/models/shapes/%s", assets ? assets : ".", list);
    if (shape_list_each(path, check_shape, &l))
        CHECK(l.n == nino_weights_count(w));
    else
        printf("  part skipped: no %s to compare with\n", list);
}

// ---- an independent count --------------------------------------------------------------------
static bool has(const nino_weights *w, const char *stem, int n, const char *leaf)
{
    char name[128];
    snprintf(name, sizeof(name), "%s.%d.%s", stem, n, leaf);
    return nino_weights_find(w, name) != NULL;
}

// Multiplications of one tensor for one evaluation: its values times where it is applied. What
// attention multiplies is added to *attention.
static double count_unet_tensor(const nino_weights *w, const nino_tensor_info *t, int cells,
                                int tokens, double *attention)
{
    int n = 0, level = 0, levels = 0;
    double values = 1;
    for (int i = 0; i < t->rank; i++)
        values *= (double) t->dim[i];
    for (int i = 0; i < 64; i++)
        levels += has(w, "input_blocks", i, "0.op.weight");
    if (t->rank < 2 || strstr(t->name, "emb"))
        return 0; // vectors, and layers that see one row
    if (sscanf(t->name, "input_blocks.%d.", &n) == 1) {
        for (int i = 0; i <= n; i++)
            level += has(w, "input_blocks", i, "0.op.weight");
    } else if (sscanf(t->name, "output_blocks.%d.", &n) == 1) {
        level = levels;
        for (int i = 0; i < n; i++)
            level -= has(w, "output_blocks", i, "1.conv.weight") ||
                     has(w, "output_blocks", i, "2.conv.weight");
        level -= strstr(t->name, ".conv.") != NULL;
    } else if (!strncmp(t->name, "middle_block", 12)) {
        level = levels;
    }
    const double places = (double) (cells >> level) * (cells >> level);
    if (strstr(t->name, "attn2.to_k") || strstr(t->name, "attn2.to_v"))
        return values * tokens;
    if (strstr(t->name, "attn1.to_q"))
        *attention += 2 * places * places * (double) t->dim[0]; // q k and p v
    if (strstr(t->name, "attn2.to_q"))
        *attention += 2 * places * tokens * (double) t->dim[0];
    return values * places;
}

static double count_flux_tensor(const nino_tensor_info *t, int img, int txt, double *attention)
{
    if (t->rank < 2 || strstr(t->name, "_in.in_layer") || strstr(t->name, "_in.out_layer") ||
        strstr(t->name, "mod") || strstr(t->name, "adaLN"))
        return 0;
    const double values = (double) t->dim[0] * (double) t->dim[1], all = img + txt;
    const bool is_single = !strncmp(t->name, "single", 6);
    const bool is_txt = strstr(t->name, ".txt_") || !strncmp(t->name, "txt_in", 6);
    if (strstr(t->name, "img_attn.qkv") || strstr(t->name, "linear1"))
        *attention += 2 * all * all * (double) t->dim[1];
    return values * (is_single ? all : is_txt ? txt : img);
}

// The last block's text is of no use behind its attention.
static double count_qwen_tensor(const net_qwen *q, const nino_tensor_info *t, double img,
                                double txt, double *attention)
{
    int block = -1;
    if (t->rank < 2 || strstr(t->name, "time_") || strstr(t->name, "mod.1") ||
        strstr(t->name, "norm_out"))
        return 0;
    const double values = (double) t->dim[0] * (double) t->dim[1], all = img + txt;
    const bool is_txt = strstr(t->name, "txt_") || strstr(t->name, ".add_");
    const bool is_out = strstr(t->name, "to_add_out") || strstr(t->name, "txt_mlp");
    if (strstr(t->name, "attn.to_q"))
        *attention += 2 * all * all * (double) t->dim[1];
    sscanf(t->name, "transformer_blocks.%d.", &block);
    return is_out && block == q->blocks - 1 ? 0 : values * (is_txt || is_out ? txt : img);
}

// The last block's text is of no use behind its q, k and v.
static double count_sd3_tensor(const nino_tensor_info *t, double img, double txt, double *attention)
{
    double values = 1;
    for (int i = 0; i < t->rank; i++)
        values *= (double) t->dim[i];
    if (t->rank < 2 || strstr(t->name, "_embedder.mlp") || strstr(t->name, "adaLN") ||
        !strcmp(t->name, "pos_embed"))
        return 0;
    const bool is_txt = !strncmp(t->name, "context_", 8) || strstr(t->name, ".context_block");
    const double seen = strstr(t->name, "attn2") ? img : img + txt;
    if (strstr(t->name, "x_block") && strstr(t->name, ".qkv"))
        *attention += 2 * seen * seen * (double) t->dim[1];
    return values * (is_txt ? txt : img);
}

// Every vector is made by an approximator, which runs on its 344 rows.
static double count_chroma_tensor(const nino_tensor_info *t, int img, int txt, double *attention)
{
    if (t->rank == 2 && !strncmp(t->name, "distilled", 9))
        return (double) t->dim[0] * (double) t->dim[1] * 344;
    return count_flux_tensor(t, img, txt, attention);
}

static double count_zimage_tensor(const nino_tensor_info *t, int img, int txt, double *attention)
{
    if (t->rank < 2 || strstr(t->name, "adaLN") || strstr(t->name, "t_embedder") ||
        strstr(t->name, "pad_token"))
        return 0;
    const bool is_txt = !strncmp(t->name, "context_", 8) || !strncmp(t->name, "cap_", 4);
    const double n = is_txt ? txt : !strncmp(t->name, "layers.", 7) ? img + txt : img;
    if (strstr(t->name, "qkv"))
        *attention += 2 * n * n * (double) t->dim[1];
    return (double) t->dim[0] * (double) t->dim[1] * n;
}

static double count_wan_tensor(const nino_tensor_info *t, double video, double txt, double picture,
                               double *attention)
{
    double values = 1;
    for (int i = 0; i < t->rank; i++)
        values *= (double) t->dim[i];
    if (t->rank < 2 || strstr(t->name, "time_") || strstr(t->name, "modulation") ||
        strstr(t->name, "emb_pos"))
        return 0;
    if (strstr(t->name, "k_img"))
        *attention += 2 * video * picture * (double) t->dim[0];
    if (strstr(t->name, "_img") || strstr(t->name, "img_emb"))
        return values * picture;
    if (strstr(t->name, "_attn.q"))
        *attention += 2 * video * (strstr(t->name, "self") ? video : txt) * (double) t->dim[0];
    if (strstr(t->name, "text_") || strstr(t->name, "cross_attn.k") ||
        strstr(t->name, "cross_attn.v"))
        return values * txt;
    return values * video;
}

// ---- planning --------------------------------------------------------------------------------
typedef struct full {
    const char *family, *list; // list NULL: none published here
    net_unet unet;             // ch 0: another
    net_flux flux;             // hidden 0: Wan
    net_wan wan;
    int tokens;
    double tflop; // what is published for the layers alone, or 0
    const net_flux2 *flux2;
    const net_zimage *zimage;
    const net_qwen *qwen;
    const net_sd3 *sd3;
    const net_chroma *chroma;
} full;

static nino_array *blank(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a != NULL);
    return a;
}

enum { FRAMES = 21, ROWS = 60, COLUMNS = 104, SEEN = 257 };

static nino_shape latent_of(const full *m, int channels)
{
    const int64_t side = m->flux2 ? 64 : 128; // 1024 pixels
    return m->qwen      ? NINO_SHAPE(1, 1, side, side, channels)
           : m->wan.dim ? NINO_SHAPE(1, FRAMES, ROWS, COLUMNS, channels)
                        : NINO_SHAPE(1, side, side, channels);
}

static double count_tensor(const full *m, const nino_weights *w, const nino_tensor_info *t,
                           double *attention)
{
    if (m->unet.ch)
        return count_unet_tensor(w, t, 128, m->tokens, attention);
    if (m->zimage)
        return count_zimage_tensor(t, 64 * 64, m->tokens, attention);
    if (m->qwen)
        return count_qwen_tensor(m->qwen, t, 64 * 64, m->tokens, attention);
    if (m->sd3)
        return count_sd3_tensor(t, 64 * 64, m->tokens, attention);
    if (m->chroma)
        return count_chroma_tensor(t, 64 * 64, m->tokens, attention);
    if (m->flux.hidden || m->flux2)
        return count_flux_tensor(t, 64 * 64, m->tokens, attention);
    return count_wan_tensor(t, FRAMES * ROWS / 2 * COLUMNS / 2, m->tokens,
                            m->wan.positions ? m->wan.positions : SEEN, attention);
}

// No norm divides by nothing: its epsilon is one that networks have been trained with.
static nino_backend_impl looking;
static const nino_backend_impl *plan_impl;

static nino_status look_at_norm(nino_backend *be, const nino_op_call *call, nino_error *e)
{
    const nino_op_id op = call->d.op;
    const nino_op_attr *a = &call->d.attr;
    if (op == NINO_OP_GROUP_NORM || op == NINO_OP_LAYER_NORM || op == NINO_OP_RMS_NORM ||
        (op == NINO_OP_LINEAR && a->heads))
        CHECK(a->eps == 1e-5f || a->eps == 1e-6f);
    return plan_impl->run(be, call, e);
}

static void check_plan(const full *m, nino_weights *w, const nino_diffusion *d)
{
    const float t = 500;
    double layers = 0, attention = 0;
    nino_backend *be = nino_plan_open(&nino_profile_ref, 0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    plan_impl = be->impl;
    looking = *plan_impl;
    looking.run = look_at_norm;
    be->impl = &looking;
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *x = blank(latent_of(m, d->format->channels));
    nino_array *context = blank(NINO_SHAPE(1, m->tokens, d->context_dim));
    nino_array *y = d->y_dim ? blank(NINO_SHAPE(1, d->y_dim)) : NULL;
    const int extra = d->in_channels - d->format->channels;
    nino_array *concat = extra ? blank(latent_of(m, extra)) : NULL, *vision = NULL;
    if (d->vision_dim)
        vision = blank(NINO_SHAPE(1, m->wan.positions ? m->wan.positions : SEEN, d->vision_dim));
    const test_inputs in = { .x = x,
                             .context = context,
                             .y = y,
                             .concat = concat,
                             .vision = vision,
                             .timestep = &t,
                             .guidance = 3.5f };
    nino_array *out = test_forward(s, d, &in);
    CHECK(nino_shape_equal(&out->shape, &x->shape));
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *info = nino_weights_at(w, i);
        layers += count_tensor(m, w, info, &attention);
    }
    const double want = 2 * (layers + attention);
    printf("  %-13s %7.2f TFLOP an evaluation, %.2f counted by names; %.2f G weights\n", m->family,
           be->flops * 1e-12, want * 1e-12, (double) d->weight_bytes / 2e9);
    CHECK(be->flops >= want && be->flops <= 1.02 * want);
    CHECK(d->weight_bytes < 96e9); // in the memory of the device these are for
    CHECK(!m->tflop || fabs(2 * layers * 1e-12 / m->tflop - 1) < 0.02);
    nino_array *all[] = { x, context, y, concat, vision, out };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

int main(void)
{
    // 2.99 T multiplications is what profilers, which do not see attention, give for SDXL.
    const full models[] = {
        { "sd15", "sd15_unet.txt", .unet = net_sd15, .tokens = 77 },
        { "sd2", NULL, .unet = net_sd2, .tokens = 77 },
        { "sdxl", "sdxl_unet.txt", .unet = net_sdxl, .tokens = 77, .tflop = 5.98 },
        { "sdxl_refiner", NULL, .unet = net_refiner, .tokens = 77 },
        { "flux", "flux_dev.txt", .flux = net_flux_dev, .tokens = 512 },
        { "flux_schnell", "flux_schnell.txt", .flux = net_flux_schnell, .tokens = 256 },
        { "flux", "flux_fill.txt", .flux = net_flux_fill, .tokens = 512 },
        { "wan_t2v", "wan21_t2v_1.3B.txt", .wan = net_wan_1b, .tokens = 512 },
        { "wan_t2v", "wan21_t2v_14B.txt", .wan = net_wan_14b, .tokens = 512 },
        { "wan_i2v", "wan21_i2v_14B.txt", .wan = net_wan_i2v, .tokens = 512 },
        { "wan_i2v", "wan21_flf2v_14B.txt", .wan = net_wan_flf, .tokens = 512 },
        { "wan_i2v", "wan22_i2v_A14B_each.txt", .wan = net_wan22_i2v, .tokens = 512 },
        { "wan22_ti2v", "wan22_ti2v_5B.txt", .wan = net_wan22_5b, .tokens = 512 },
        { "z_image", "z_image.txt", .tokens = 512, .zimage = &net_z_image },
        { "flux2_klein", "flux2_klein_4b.txt", .tokens = 512, .flux2 = &net_klein_4b },
        { "flux2_klein", "flux2_klein_9b.txt", .tokens = 512, .flux2 = &net_klein_9b },
        { "flux2", "flux2_dev.txt", .tokens = 512, .flux2 = &net_flux2_dev },
        { "qwen_image", "qwen_image.txt", .tokens = 512, .qwen = &net_qwen_image },
        { "sd3", "sd3_medium.txt", .tokens = 154, .sd3 = &net_sd3_medium },
        { "sd3", "sd35_medium.txt", .tokens = 154, .sd3 = &net_sd35_medium },
        { "sd3", "sd35_large.txt", .tokens = 154, .sd3 = &net_sd35_large },
        { "chroma", "chroma1.txt", .tokens = 256, .chroma = &net_chroma1 },
    };
    const test_dir dir = test_dir_create();
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        const full *m = &models[i];
        char path[64];
        snprintf(path, sizeof(path), "%s/net", dir.path);
        net_list l = m->flux2         ? net_list_flux2(m->flux2, NULL)
                     : m->zimage      ? net_list_zimage(m->zimage, NULL)
                     : m->unet.ch     ? net_list_unet(&m->unet, NULL)
                     : m->flux.hidden ? net_list_flux(&m->flux, NULL)
                     : m->qwen        ? net_list_qwen(m->qwen, NULL)
                     : m->sd3         ? net_list_sd3(m->sd3, NULL)
                     : m->chroma      ? net_list_chroma(m->chroma, NULL)
                                      : net_list_wan(&m->wan, NULL);
        net_save(&l, path, NINO_BF16, NET_SPARSE);
        nino_weights *w = test_open("%s", path);
        if (m->list)
            check_list(w, m->list);
        nino_diffusion *d = test_diffusion(w, m->family);
        check_plan(m, w, d);
        nino_diffusion_unref(&d);
        nino_weights_unref(&w);
    }
    test_dir_remove(&dir, (const char *const[]){ "net", NULL });
    return 0;
}
