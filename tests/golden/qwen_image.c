// Qwen-Image transformers of random weights against values of other implementations: the ends of
// the network, the positions of its tokens, and its output for pictures of even and odd sizes, for
// prompts that are looked at in part, and with reference latents by every method.
#include "tests/random_vae.h"

#include "core/model/dit.h"
#include "core/model/qwen_image/qwen_image.h"
#include "tests/diffusion.h"

typedef struct synth {
    const char *model, *io; // below the data
} synth;

static const synth synths[] = {
    { "models/diffusion_models/qwen_image_d64", "synth/qwen_image_d64_io" },
    { "models/diffusion_models/qwen_image_tiny", "synth/qwen_image_tiny_io" },
};

static void compare(const char *what, nino_array *got, const nino_array *want, double most)
{
    const double e = test_nmse(got, want);
    printf("    %s: nmse %.1e\n", what, e);
    CHECK(e <= most);
    nino_array_unref(&got);
}

static const char *prefixed(const char *prefix, const char *leaf)
{
    static char name[64];
    snprintf(name, sizeof(name), "%s%s", prefix, leaf);
    return name;
}

// ---- positions -------------------------------------------------------------------------------

// Each axis turns its pairs of channels by the token's place on it.
static void check_table(const qwen_image *net, const qwen_rope *r, const nino_array *ids)
{
    nino_array *a = qwen_rope_make(r);
    const int depth = net->depth, size[3] = { depth / 8, depth * 7 / 16, depth * 7 / 16 };
    CHECK(a && a->shape.dim[0] == ids->shape.dim[1] && a->shape.dim[1] == depth);
    for (int64_t t = 0; t < a->shape.dim[0]; t++) {
        const float *at = nino_array_f32(a) + t * depth;
        for (int axis = 0; axis < 3; axis++)
            for (int k = 0; k < size[axis] / 2; k++, at += 2) {
                const double pos = (double) nino_array_f32(ids)[t * 3 + axis];
                const double angle = pos * pow(10000, -2.0 * k / size[axis]);
                CHECK(fabs((double) at[0] - cos(angle)) < 1e-6);
                CHECK(fabs((double) at[1] - sin(angle)) < 1e-6);
            }
    }
    nino_array_unref(&a);
}

static void rope_add(qwen_rope *r, const nino_array *x)
{
    r->h[r->n] = x->shape.dim[x->shape.rank - 3];
    r->w[r->n++] = x->shape.dim[x->shape.rank - 2];
}

// ---- one evaluation --------------------------------------------------------------------------

typedef struct asked { // of the network, by names in the file
    const char *prefix, *out;
    const char *ids; // NULL: not recorded
    bool with_mask;  // "mask"
    int n_refs;      // "ref0", "ref1"
    nino_ref_method method;
} asked;

static void check_out(test_device *d, const nino_diffusion *net, const nino_weights *io,
                      const asked *q, double most)
{
    nino_array *x = test_tensor(io, prefixed(q->prefix, "x"), true);
    nino_array *c = test_tensor(io, prefixed(q->prefix, "context"), false);
    nino_array *t = test_tensor(io, prefixed(q->prefix, "timestep"), false);
    nino_array *want = test_tensor(io, q->out, true), *ref[2] = { NULL };
    nino_array *mask = q->with_mask ? test_tensor(io, "mask", false) : NULL;
    nino_array *ids = q->ids ? test_tensor(io, q->ids, false) : NULL;
    qwen_rope r = { .axes = ((const qwen_image *) net->net)->axes,
                    .text = c->shape.dim[1],
                    .method = q->method };
    test_inputs in = { .x = x,
                       .context = c,
                       .context_mask = mask,
                       .timestep = nino_array_f32(t),
                       .n_refs = q->n_refs,
                       .ref_method = q->method };
    rope_add(&r, x);
    for (int i = 0; i < q->n_refs; i++) {
        ref[i] = test_tensor(io, i ? "ref1" : "ref0", true);
        const int64_t *dim = ref[i]->shape.dim; // a clip of one frame
        ref[i]->shape = NINO_SHAPE(dim[0], dim[2], dim[3], dim[4]);
        in.ref[i] = ref[i];
        rope_add(&r, ref[i]);
    }
    if (ids)
        check_table(net->net, &r, ids);
    compare(q->out, test_forward(d->s, net, &in), want, most);
    nino_array *all[] = { x, c, t, want, ref[0], ref[1], mask, ids };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        nino_array_unref(&all[i]);
}

static void check_outs(test_device *d, const nino_diffusion *net, const nino_weights *io,
                       double most)
{
    static const asked list[] = {
        { "", "out", "position_ids", false, 0, NINO_REFS_DEFAULT },
        { "odd_", "odd_out", "odd_position_ids", false, 0, NINO_REFS_DEFAULT },
        { "mask_", "mask_out", NULL, true, 0, NINO_REFS_DEFAULT },
        { "mask_", "mask_out_ignored", NULL, false, 0, NINO_REFS_DEFAULT },
        { "ref_", "ref_out_index", "ref_position_ids_index", false, 2, NINO_REFS_DEFAULT },
        { "ref_", "ref_out_index", "ref_position_ids_index", false, 2, NINO_REFS_INDEX },
        { "ref_", "ref_out_offset", "ref_position_ids_offset", false, 2, NINO_REFS_OFFSET },
        { "ref_", "ref_out_uxo", "ref_position_ids_uxo", false, 2, NINO_REFS_UXO },
        { "ref_", "ref_out_index_timestep_zero", "ref_position_ids_index_timestep_zero", false, 2,
          NINO_REFS_INDEX_TIMESTEP_ZERO },
        { "ref_", "ref_out_negative_index", "ref_position_ids_negative_index", false, 2,
          NINO_REFS_NEGATIVE_INDEX },
        { "ref_", "ref_out_one_index", NULL, false, 1, NINO_REFS_INDEX },
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (nino_weights_find(io, list[i].out))
            check_out(d, net, io, &list[i], most);
}

// What the layers before the blocks make.
static void check_ends(test_device *d, const nino_diffusion *diffusion, const nino_weights *io,
                       double most)
{
    const qwen_image *net = diffusion->net;
    nino_stream *s = d->s;
    nino_array *x = test_tensor(io, "x", true), *c = test_tensor(io, "context", false);
    nino_array *t = test_tensor(io, "timestep", false);
    nino_array *want[] = { test_tensor(io, "img_in", false), test_tensor(io, "txt_in", false),
                           test_tensor(io, "temb", false) };
    const int64_t *dim = x->shape.dim;
    x->shape = NINO_SHAPE(dim[0], dim[2], dim[3], dim[4]);
    nino_tensor *img = nino_dit_tokens(s, test_up(s, x), 2);
    nino_tensor *txt = nino_rms_norm(s, test_up(s, c), &net->txt_norm);
    nino_tensor *time = nino_dit_sinusoid(s, nino_array_f32(t), t->shape.dim[0], 1, 1000);
    time = nino_linear_op(s, nino_linear_op(s, time, &net->time.in), &net->time.out);
    compare("img_in", nino_download(s, nino_linear_op(s, img, &net->img_in), NINO_F32), want[0],
            most);
    compare("txt_in", nino_download(s, nino_linear_op(s, txt, &net->txt_in), NINO_F32), want[1],
            most);
    compare("temb", nino_download(s, time, NINO_F32), want[2], most);
    nino_array *all[] = { x, c, t, want[0], want[1], want[2] };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        nino_array_unref(&all[i]);
}

static void check_synth(test_device *d, const char *assets, const synth *m, nino_precision p)
{
    const double most = p == NINO_PREC_F32 ? 1e-6 : 1e-3;
    static const char *const names[] = { "auto", "f32", "f16", "bf16" };
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.safetensors", assets, m->model);
    if (access(path, R_OK))
        return; // of the other data
    nino_weights *w = test_open("%s", path);
    nino_weights *io = test_open("%s/%s.safetensors", assets, m->io);
    nino_diffusion *net = test_diffusion(w, "qwen_image");
    printf("  %s, %s\n", m->io, names[p]);
    CHECK(net->in_channels == 16 && !net->y_dim && net->wants_bf16);
    CHECK_STR(net->format->name, "wan21");
    CHECK(net->sampling->schedule == NINO_SCHEDULE_FLUX && net->sampling->shift == 1.15);
    nino_stream_set_precision(d->s, p);
    check_ends(d, net, io, most);
    check_outs(d, net, io, most);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
    nino_weights_unref(&io);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        printf("%s\n", *name);
        for (const char *data = NULL; (data = test_data_next(data));)
            for (size_t i = 0; i < sizeof(synths) / sizeof(synths[0]); i++) {
                check_synth(&d, data, &synths[i], NINO_PREC_F32);
                if (strcmp(*name, "ref") != 0) {
                    check_synth(&d, data, &synths[i], NINO_PREC_F16);
                    check_synth(&d, data, &synths[i], NINO_PREC_BF16);
                }
            }
        test_device_close(&d);
    }
    return 0;
}
