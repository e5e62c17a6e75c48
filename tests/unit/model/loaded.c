// What loaders make of a network's file: every property of every family and variant (channels, widths,
// guidance, how it was trained), which rows of which tensors are read, what is said when one is missing
// or has another size. tests/data/recorded/loaded.txt, weights.txt and refused.txt record it
// (tests/unit/recorded.h: how to renew them).
#include "tests/random_dit.h"

#include "core/model/flux/flux.h"
#include "core/model/qwen_image/qwen_image.h"
#include "core/model/sd3/sd3.h"
#include "core/model/unet/unet.h"
#include "core/model/wan/wan.h"
#include "core/model/zimage/zimage.h"
#include "tests/diffusion.h"
#include "tests/unit/recorded.h"

static nino_error err;
static test_dir dir;

static void put_sampling(const nino_sampling *ms)
{
    record("    prediction %d schedule %d shift %g multiplier %g data %g, %d sigmas %.5g to %.5g\n",
           (int) ms->prediction, (int) ms->schedule, ms->shift, ms->multiplier, ms->sigma_data,
           ms->n, (double) ms->sigma_min, (double) ms->sigma_max);
}

static void put_axes(const nino_rope_axes *a)
{
    record(" theta %g axes", (double) a->theta);
    for (int i = 0; i < a->n; i++)
        record(" %d", (int) a->channels[i]);
}

// Modules of a stage, and heads and blocks of its attentions.
static void put_stage(const unet_stage *t)
{
    record(" ");
    for (int i = 0; i < t->n; i++) {
        const unet_module *m = &t->module[i];
        record("%c", "cdurt"[m->kind]);
        if (m->transformer)
            record("%dx%d", m->transformer->n_blocks, m->transformer->block[0].cross.heads);
    }
}

static void put_unet(const unet *u)
{
    record(" channels %d cross %d %d eps %g", u->channels, u->n_cross, u->n_cross_mid,
           (double) u->norm_out.eps);
    for (int i = 0; i < u->n_down; i++)
        put_stage(&u->down[i]);
    put_stage(&u->mid);
    for (int i = 0; i < u->n_up; i++)
        put_stage(&u->up[i]);
}

// What the network itself knows of its sizes.
static void put_inside(const nino_diffusion *d)
{
    record("   ");
    if (d->kind == NINO_DIFFUSION_UNET)
        put_unet(d->net);
    if (d->kind == NINO_DIFFUSION_QWEN) {
        const qwen_image *q = d->net;
        record(" hidden %d heads %d depth %d blocks %d method %d eps %g %g", q->hidden, q->heads,
               q->depth, q->n_blocks, (int) q->ref_method, (double) q->norm.eps,
               (double) q->txt_norm.eps);
        put_axes(&q->axes);
    }
    if (d->kind == NINO_DIFFUSION_FLUX) {
        const flux *f = d->net;
        record(" hidden %d heads %d depth %d patch %d step %d method %d blocks %d %d eps %g",
               f->hidden, f->heads, f->depth, (int) f->place.patch, (int) f->place.step,
               (int) f->place.method, f->n_doubles, f->n_singles, (double) f->norm.eps);
        put_axes(&f->place.axes);
        record(" last vectors %d%s", f->final_mod.row,
               f->final_mod.is_scale_first ? ", scale first" : "");
        for (int i = 0; i < f->n_doubles; i++)
            record(" double %d %d", f->doubles[i].img.mod.row, f->doubles[i].txt.mod.row);
        for (int i = 0; i < f->n_singles; i++)
            record(" single %d", f->singles[i].mod.row);
    } else if (d->kind == NINO_DIFFUSION_SD3) {
        const sd3 *m = d->net;
        record(" hidden %d heads %d blocks %d grid %d%s eps %g", m->hidden, m->heads, m->n_blocks,
               (int) m->grid, m->is_scale_first ? ", scale first" : "", (double) m->norm.eps);
        for (int i = 0; i < m->n_blocks; i++)
            record(" block %s%s", m->blocks[i].context.is_scale_first ? "scale first" : "shift",
                   m->blocks[i].x.self.q.w ? " self" : "");
    } else if (d->kind == NINO_DIFFUSION_ZIMAGE) {
        const zimage *z = d->net;
        record(" width %d heads %d depth %d channels %d refiners %d %d layers %d eps %g %g",
               z->width, z->heads, z->depth, z->channels, z->context_refiner.n, z->noise_refiner.n,
               z->layers.n, (double) z->cap_norm.eps, (double) z->final_norm.eps);
    } else if (d->kind == NINO_DIFFUSION_WAN) {
        const wan *w = d->net;
        record(" dim %d heads %d blocks %d follow %d picture %d eps %g %g", w->dim, w->heads,
               w->n_blocks, w->n_follow, w->has_picture, (double) w->norm.eps,
               (double) w->blocks[0].cross.norm_q.eps);
    }
    record("\n");
}

static void put_network(const nino_diffusion *d)
{
    record("    %s: %s; latents %s, prefix \"%s\"\n", d->family, d->detail, d->format->name,
           d->prefix);
    record("    in %d context %d rows %d y %d vision %d control %d, guidance %d %g\n",
           d->in_channels, d->context_dim, d->context_rows, d->y_dim, d->vision_dim, d->control_dim,
           d->has_guidance, d->usual_guidance);
    record("    frame times %d mask %d refs %d residuals %d bf16 %d scaled %d bytes %llu\n",
           d->has_frame_times, d->has_context_mask, d->has_refs, d->has_residuals, d->wants_bf16,
           d->is_scaled, (unsigned long long) d->weight_bytes);
    put_inside(d);
    put_sampling(d->sampling);
}

static void put_weight(const nino_weight *w)
{
    record("    %c %lldx%lld", "mcdtvp"[w->role], (long long) w -> n, (long long) w -> c);
    for (int i = 0; i < w->n_ranges; i++) {
        const nino_weight_range *r = &w->range[i];
        record(" %s", r->info->name);
        if (r->row0 || r->rows != r->info->dim[0])
            record(" rows %lld + %lld", (long long) r->row0, (long long) r->rows);
        if (r->col0 || (r->info->rank == 2 && r->cols != r->info->dim[1]))
            record(" columns %lld + %lld", (long long) r->col0, (long long) r->cols);
    }
    record("\n");
}

// Everything that was read, in its order: which tensor, and which part of it.
static void put_weights(const nino_layers_item *newest)
{
    const nino_layers_item *list[1024];
    int n = 0;
    for (; newest; newest = newest->next) {
        CHECK(n < 1024);
        list[n++] = newest;
    }
    while (n--)
        if (list[n]->weight)
            put_weight(list[n]->weight);
        else
            record("    array of %lld\n", (long long) nino_shape_count(&list[n]->array->shape));
}

static void check_weights(const char *title, net_list l)
{
    nino_weights *file = test_net_file(&dir, l, "net");
    nino_diffusion *d = NULL;
    CHECK_OK(nino_diffusion_load(file, "net", &d, &err), err);
    record("\n%s\n", title);
    put_weights(d->layers.items);
    nino_diffusion_unref(&d);
    nino_weights_unref(&file);
}

static void check(const char *title, net_list l)
{
    nino_weights *file = test_net_file(&dir, l, "net");
    nino_diffusion *d = NULL;
    record("%s\n", title);
    memset(&err, 0, sizeof(err));
    if (nino_diffusion_load(file, "net", &d, &err))
        record("    refused: %d %s: %s\n", (int) err.code, err.where, err.msg);
    else
        put_network(d);
    nino_diffusion_unref(&d);
    nino_weights_unref(&file);
}

// ---- the networks ----------------------------------------------------------------------------
static const net_flux dev = { 128, 64, 2, 2, 16, 20, 12, true };
static const net_flux2 klein = { 64, 32, 1, 1, 128, 20, 48, false };
static const net_zimage z_image = { 64, 32, 1, 1, 24, 20, 12, 16 };
static const net_sd3 sd3_medium = { 128, 2, 96, 20, 12, 3, 0, false };
static const net_qwen qwen = { 64, 32, 1, 48, 20, false };
static const net_wan t2v = { 128, 48, 1, 16, 16, 20, 0, 0, 0 };
static const net_unet sd = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 24, 0, 4, 4, false };

// The list of a network that differs in what is set.
#define WITH(type, from, list, prefix, ...)                                                        \
    ({                                                                                             \
        type n = from;                                                                             \
        __VA_ARGS__;                                                                               \
        list(&n, prefix);                                                                          \
    })

static net_list marked(net_list l, const char *name)
{
    net_add(&l, name, 1, (const int64_t[]){ 1 });
    return l;
}

static void check_unets(void)
{
    check("sd15", net_list_unet(&sd, "model.diffusion_model."));
    check("sd15, inpainting", WITH(net_unet, sd, net_list_unet, NULL, n.in = 9));
    check("sd15, pix2pix", WITH(net_unet, sd, net_list_unet, NULL, n.in = 8));
    const net_unet sd2 = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 1024, 0, 4, 4, true };
    check("sd2", net_list_unet(&sd2, NULL));
    check("sd2, unclip", WITH(net_unet, sd2, net_list_unet, NULL, n.y = 20));
    check("lotus", WITH(net_unet, sd2, net_list_unet, NULL, n.y = 4));
    check("lotus with noise", WITH(net_unet, sd2, net_list_unet, NULL, n.y = 4; n.in = 8));
    const net_unet xl = { 32, 3, { 1, 2, 2 }, { 0, 2, 1 }, 2, 40, 20, 4, 4, true };
    static const char *const marks[] = { "v_pred", "edm_vpred.sigma_max", "edm_mean" };
    check("sdxl", net_list_unet(&xl, NULL));
    for (int i = 0; i < 3; i++)
        check(marks[i], marked(net_list_unet(&xl, NULL), marks[i]));
    check("ztsnr", marked(marked(net_list_unet(&xl, NULL), "v_pred"), "ztsnr"));
    check("playground", marked(marked(net_list_unet(&xl, NULL), "edm_mean"), "edm_std"));
    check("both sigmas",
          marked(marked(net_list_unet(&xl, NULL), "edm_vpred.sigma_max"), "edm_vpred.sigma_min"));
    check("refiner", WITH(net_unet, xl, net_list_unet, NULL, n.context = 1280; n.depth[1] = 1));
}

static void check_transformers(void)
{
    check("flux dev", net_list_flux(&dev, NULL));
    check("flux schnell", WITH(net_flux, dev, net_list_flux, NULL, n.has_guidance = false));
    check("flux fill", WITH(net_flux, dev, net_list_flux, "net.", n.in = 96));
    check("flux canny", WITH(net_flux, dev, net_list_flux, NULL, n.in = 32));
    check("flux, too few", WITH(net_flux, dev, net_list_flux, NULL, n.in = 15));
    check("flux, other heads", WITH(net_flux, dev, net_list_flux, NULL, n.depth = 48));
    check("klein", net_list_flux2(&klein, NULL));
    check("flux2 dev", WITH(net_flux2, klein, net_list_flux2, NULL, n.has_guidance = true));
    const net_chroma chroma = { { 64, 32, 2, 2, 16, 20, 0, false }, 24, 2 };
    check("chroma", net_list_chroma(&chroma, NULL));
    check("chroma, too many", WITH(net_chroma, chroma, net_list_chroma, NULL, n.flux.doubles = 20;
                                   n.flux.singles = 35));
    check("z_image", net_list_zimage(&z_image, NULL));
    check("sd3", net_list_sd3(&sd3_medium, NULL));
    check("sd3.5 medium",
          WITH(net_sd3, sd3_medium, net_list_sd3, NULL, n.selves = 1; n.has_norms = true));
    check("sd3.5 large", WITH(net_sd3, sd3_medium, net_list_sd3, NULL, n.has_norms = true));
    check("sd3, no positions", WITH(net_sd3, sd3_medium, net_list_sd3, NULL, n.grid = 0));
    check("qwen_image", net_list_qwen(&qwen, NULL));
    check("qwen_image_edit", WITH(net_qwen, qwen, net_list_qwen, NULL, n.has_zero = true));
    check("wan", net_list_wan(&t2v, NULL));
    check("wan i2v", WITH(net_wan, t2v, net_list_wan, NULL, n.in = 36; n.vision = 24));
    check("wan flf",
          WITH(net_wan, t2v, net_list_wan, NULL, n.in = 36; n.vision = 24; n.positions = 6));
    check("wan22 5b", WITH(net_wan, t2v, net_list_wan, NULL, n.in = n.out = 48));
    check("wan vace", WITH(net_wan, t2v, net_list_wan, NULL, n.layers = 4; n.follow = 2));
    check("wan, other heads", WITH(net_wan, t2v, net_list_wan, NULL, n.dim = 192));
}

// Relatives whose names are alike, and that compute something else.
static void check_relatives(void)
{
    static const char *const marks[] = { "register", "context_processor.layers.0.weight" };
    for (int i = 0; i < 2; i++)
        check(marks[i], marked(net_list_sd3(&sd3_medium, NULL), marks[i]));
    static const char layered[] = "time_text_embed.addition_t_embedding.weight";
    check("qwen_image_layered", marked(net_list_qwen(&qwen, NULL), layered));
    for (int64_t rows = 127; rows < 130; rows++)
        check("mage flow", test_net_damaged(net_list_qwen(&qwen, NULL), "proj_out.weight", rows));
}

// ---- what is refused -------------------------------------------------------------------------
// Tensor `at` is missing (axis < 0) or one longer along an axis.
static void check_damaged(net_list whole, int at, int axis)
{
    net_list l = { 0 };
    const net_tensor t = whole.t[at];
    for (int i = 0; i < whole.n; i++)
        if (i != at || axis >= 0)
            net_add(&l, whole.t[i].name, whole.t[i].rank, whole.t[i].dim);
    if (axis >= 0)
        l.t[at].dim[axis]++;
    char path[64];
    snprintf(path, sizeof(path), "%s/net", dir.path);
    net_save(&l, path, NINO_F32, NET_SPARSE);
    nino_weights *file = test_open("%s", path);
    nino_diffusion *d = NULL;
    memset(&err, 0, sizeof(err));
    const nino_status st = nino_diffusion_load(file, "net", &d, &err);
    if (axis < 0)
        record("%s: ", t.name);
    else
        record("    %lld along %d: ", (long long) t.dim[axis] + 1, axis);
    if (st)
        record("%d %s\n", (int) st, err.msg);
    else
        record("taken\n");
    nino_diffusion_unref(&d);
    nino_weights_unref(&file);
}

static void sweep(const char *title, net_list whole)
{
    record("\n%s\n", title);
    for (int i = 0; i < whole.n; i++) {
        check_damaged(whole, i, -1);
        for (int axis = 0; axis < whole.t[i].rank && axis < 2; axis++)
            check_damaged(whole, i, axis);
    }
    free(whole.t);
}

// One small network of every family, to f.
static void each_family(void (*f)(const char *title, net_list l))
{
    const net_unet small = { 32, 2, { 1, 2 }, { 0, 1 }, 1, 24, 12, 4, 4, false };
    const net_chroma chroma = { { 64, 32, 1, 1, 16, 20, 0, false }, 24, 1 };
    f("unet", net_list_unet(&small, NULL));
    f("flux", WITH(net_flux, dev, net_list_flux, NULL, n.doubles = n.singles = 1));
    f("flux2", net_list_flux2(&klein, NULL));
    f("chroma", net_list_chroma(&chroma, NULL));
    f("z_image", net_list_zimage(&z_image, NULL));
    f("sd3", WITH(net_sd3, sd3_medium, net_list_sd3, NULL, n.selves = 1; n.has_norms = true));
    f("qwen_image", net_list_qwen(&qwen, NULL));
    f("wan", WITH(net_wan, t2v, net_list_wan, NULL, n.in = 36; n.vision = 24; n.positions = 6;
                  n.follow = 1));
}

// FLUX.1 whose norms are called weights, as some files have them, but for the one it is known by.
static net_list with_weights(net_list l)
{
    for (int i = 0; i < l.n; i++) {
        char *scale = strstr(l.t[i].name, "_norm.scale");
        if (scale && strcmp(l.t[i].name, "double_blocks.0.img_attn.norm.key_norm.scale") != 0)
            memcpy(scale, "_norm.weight", sizeof("_norm.weight"));
    }
    return l;
}

int main(void)
{
    dir = test_dir_create();
    check_unets();
    check_transformers();
    check_relatives();
    recorded_check("loaded.txt");
    each_family(check_weights);
    check_weights("flux, other norms", with_weights(net_list_flux(&dev, NULL)));
    recorded_check("weights.txt");
    each_family(sweep);
    recorded_check("refused.txt");
    test_dir_remove(&dir, (const char *const[]){ "net", NULL });
    return 0;
}
