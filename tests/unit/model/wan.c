// Wan video transformers of odd sizes: batches, padding, a time step a frame, pictures; what is
// refused; the channels beside a video latent; frames that a noise mask keeps.
#include "tests/wan.h"

#include "core/model/wan/wan.h"
#include "core/sample/guide/guide_priv.h"

// ---- one evaluation --------------------------------------------------------------------------
// A batch is its items, each with its own time step, or one for each of its frames.
static void check_batch(const nino_diffusion *d, int64_t frames)
{
    inputs p;
    fill(&p, d, 2, 4, 3);
    p.in.frames = frames;
    nino_array *both = test_forward(dev.s, d, &p.in);
    for (int i = 0; i < 2; i++) {
        nino_array *x = test_item(p.in.x, i), *context = test_item(p.in.context, i);
        nino_array *concat = test_item(p.in.concat, i), *vision = test_item(p.in.vision, i);
        const test_inputs one = { .x = x,
                                  .context = context,
                                  .concat = concat,
                                  .vision = vision,
                                  .timestep = p.t + i * (frames ? frames : 1),
                                  .frames = frames };
        nino_array *got = test_forward(dev.s, d, &one), *want = test_item(both, i);
        CHECK(test_nmse(got, want) < 1e-10);
        nino_array *all[] = { x, context, concat, vision, got, want };
        for (int k = 0; k < 6; k++)
            nino_array_unref(&all[k]);
    }
    nino_array_unref(&both);
    drop(&p);
}

// Frames with equal time steps are a video with that one.
static void check_equal_times(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 1, 4, 4);
    nino_array *one = test_forward(dev.s, d, &p.in);
    p.t[1] = p.t[2] = p.t[0];
    p.in.frames = 3;
    nino_array *each = test_forward(dev.s, d, &p.in);
    CHECK(test_nmse(each, one) < 1e-12);
    nino_array_unref(&one);
    nino_array_unref(&each);
    drop(&p);
}

// x with its first row and column of each frame again at the end, as odd sizes are padded.
static nino_array *padded(const nino_array *x)
{
    const int64_t t = x->shape.dim[1], h = x->shape.dim[2], w = x->shape.dim[3];
    const int64_t c = x->shape.dim[4], ph = h + h % 2, pw = w + w % 2;
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(1, t, ph, pw, c));
    CHECK(a != NULL);
    for (int64_t i = 0; i < t * ph * pw; i++) {
        const int64_t f = i / (ph * pw), y = i / pw % ph % h, v = i % pw % w;
        memcpy(nino_array_f32(a) + i * c, nino_array_f32(x) + ((f * h + y) * w + v) * c,
               (size_t) c * sizeof(float));
    }
    return a;
}

static void check_padding(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 1, 5, 3);
    nino_array *odd = test_forward(dev.s, d, &p.in), *x = padded(p.in.x);
    nino_array *concat = p.in.concat ? padded(p.in.concat) : NULL;
    test_inputs even = p.in;
    even.x = x;
    even.concat = concat;
    nino_array *all = test_forward(dev.s, d, &even);
    const int64_t c = odd->shape.dim[4];
    for (int64_t i = 0; i < 3 * 5 * 3; i++)
        for (int64_t k = 0; k < c; k++) {
            const int64_t f = i / 15, y = i / 3 % 5, v = i % 3;
            const float want = nino_array_f32(all)[((f * 6 + y) * 4 + v) * c + k];
            CHECK(fabsf(nino_array_f32(odd)[i * c + k] - want) < 1e-5f);
        }
    nino_array *list[] = { odd, x, concat, all };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&list[i]);
    drop(&p);
}

// A picture is seen; without one the text is taken in its place.
static void check_picture(const nino_diffusion *d)
{
    inputs p;
    fill(&p, d, 1, 4, 4);
    nino_array *with = test_forward(dev.s, d, &p.in);
    p.in.vision = NULL;
    nino_array *without = test_forward(dev.s, d, &p.in);
    CHECK(test_nmse(without, with) > 1e-6);
    nino_array *many = test_values(NINO_SHAPE(1, 9, d->vision_dim), 9); // more than positions
    p.in.vision = many;
    nino_array *more = test_forward(dev.s, d, &p.in);
    nino_array *list[] = { with, without, many, more };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&list[i]);
    drop(&p);
}

// A model that follows a video with no strength is the model without; two videos are two.
static void test_follow(void)
{
    nino_weights *w = made(net_list_wan(&tiny_vace, NULL), "wan");
    nino_diffusion *d = test_diffusion(w, "wan_vace");
    inputs p;
    fill(&p, d, 1, 5, 4);
    CHECK(d->control_dim == 96);
    nino_array *control = test_values(NINO_SHAPE(1, 3, 5, 4, 96), 8);
    nino_array *alone = test_forward(dev.s, d, &p.in);
    p.in.control[0] = p.in.control[1] = control;
    p.in.n_controls = 1;
    nino_array *none = test_forward(dev.s, d, &p.in);
    p.in.strength[0] = 1;
    nino_array *one = test_forward(dev.s, d, &p.in);
    p.in.strength[0] = p.in.strength[1] = 0.5f;
    p.in.n_controls = 2;
    nino_array *halves = test_forward(dev.s, d, &p.in);
    CHECK(test_nmse(none, alone) < 1e-12 && test_nmse(one, alone) > 1e-4);
    CHECK(test_nmse(halves, one) < 1e-10);
    nino_array *wrong = test_values(NINO_SHAPE(1, 2, 5, 4, 96), 8);
    p.in.control[1] = wrong;
    CHECK(!test_forward_or(dev.s, d, &p.in, &err) && strstr(err.msg, "videos to follow"));
    nino_array *all[] = { control, alone, none, one, halves, wrong };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// A block that is left out is as if the file did not have it.
static void check_skip(const nino_diffusion *d)
{
    wan *net = d->net;
    inputs p;
    fill(&p, d, 1, 4, 4);
    nino_array *with = test_forward(dev.s, d, &p.in);
    p.in.skip.doubles = (uint64_t) 1 << (net->n_blocks - 1);
    nino_array *without = test_forward(dev.s, d, &p.in);
    p.in.skip.doubles = 0;
    net->n_blocks--;
    nino_array *want = test_forward(dev.s, d, &p.in);
    net->n_blocks++;
    CHECK(!memcmp(without->data, want->data, want->bytes) && test_nmse(with, want) > 1e-9);
    nino_array *all[] = { with, without, want };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
    drop(&p);
}

static void test_forwards(void)
{
    static const net_wan *const nets[] = { &tiny_t2v, &tiny_flf, &tiny_5b };
    static const char *const families[] = { "wan_t2v", "wan_i2v", "wan22_ti2v" };
    for (int i = 0; i < 3; i++) {
        nino_weights *w = made(net_list_wan(nets[i], NULL), "wan");
        nino_diffusion *d = test_diffusion(w, families[i]);
        check_batch(d, 0);
        check_batch(d, 3);
        check_equal_times(d);
        check_padding(d);
        check_skip(d);
        if (d->vision_dim)
            check_picture(d);
        nino_diffusion_unref(&d);
        nino_weights_unref(&w);
    }
}

// ---- what is refused -------------------------------------------------------------------------
static void refused(net_list l, nino_status want, const char *words)
{
    test_refused_net(made(l, "damaged"), want, words);
}

static net_list damaged(const net_wan *w, const char *name, int64_t rows)
{
    return test_net_damaged(net_list_wan(w, NULL), name, rows);
}

static void test_refused(void)
{
    static const char *const needed[] = {
        "patch_embedding.weight",
        "text_embedding.2.weight",
        "time_projection.1.weight",
        "blocks.0.modulation",
        "blocks.0.self_attn.norm_q.weight",
        "blocks.0.cross_attn.k_img.weight",
        "blocks.0.cross_attn.norm_k_img.weight",
        "blocks.0.norm3.bias",
        "blocks.0.ffn.2.weight",
        "img_emb.proj.3.weight",
        "head.head.weight",
    };
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        refused(damaged(&tiny_i2v, needed[i], 0), NINO_ERR_FORMAT, needed[i]);
    refused(damaged(&tiny_i2v, "blocks.0.modulation", 2), NINO_ERR_FORMAT,
            "3072 values where 1536");
    refused(damaged(&tiny_i2v, "blocks.0.self_attn.q.weight", 100), NINO_ERR_FORMAT, "self_attn.q");
    refused(damaged(&tiny_i2v, "time_projection.1.weight", 100), NINO_ERR_FORMAT,
            "time_projection");
    refused(damaged(&tiny_i2v, "head.head.weight", 80), NINO_ERR_FORMAT, "head.head");
    net_wan odd = tiny_t2v;
    odd.out = 20;
    refused(net_list_wan(&odd, NULL), NINO_ERR_UNSUPPORTED, "20 latent channels");
    odd = tiny_t2v;
    odd.dim = 200;
    refused(net_list_wan(&odd, NULL), NINO_ERR_UNSUPPORTED, "multiple of 128");
    net_list l = net_list_wan(&tiny_t2v, NULL);
    net_linear(&l, 8, 8, true, "vace_patch_embedding");
    refused(l, NINO_ERR_FORMAT, "vace_patch_embedding");
    refused(damaged(&tiny_vace, "vace_blocks.0.before_proj.weight", 0), NINO_ERR_FORMAT,
            "vace_blocks.0.before_proj");
    refused(damaged(&tiny_vace, "vace_blocks.1.norm3.weight", 0), NINO_ERR_FORMAT,
            "vace_blocks.1.norm3");
    l = net_list_wan(&tiny_t2v, NULL);
    net_conv(&l, 8, 8, 2, "control_adapter.conv");
    refused(l, NINO_ERR_UNSUPPORTED, "camera");
}

static void test_wrong_inputs(void)
{
    nino_weights *w = made(net_list_wan(&tiny_i2v, NULL), "wan");
    nino_diffusion *d = test_diffusion(w, "wan_i2v");
    inputs p;
    fill(&p, d, 1, 4, 4);
    nino_array *flat = test_values(NINO_SHAPE(1, 4, 4, 16), 1);
    nino_array *wide = test_values(NINO_SHAPE(1, 4, 25), 1);
    test_inputs in = p.in;
    in.concat = NULL;
    test_refused_inputs(dev.s, d, &in, "takes 36 channels");
    in = p.in;
    in.x = flat;
    test_refused_inputs(dev.s, d, &in, "channels");
    in = p.in;
    in.context = wide;
    test_refused_inputs(dev.s, d, &in, "25 wide where 20");
    in = p.in;
    in.vision = wide;
    test_refused_inputs(dev.s, d, &in, "25 wide where 24");
    in = p.in;
    in.frames = 2;
    test_refused_inputs(dev.s, d, &in, "2 time steps");
    nino_array_unref(&flat);
    nino_array_unref(&wide);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// ---- channels beside the latent --------------------------------------------------------------
// 1 - mask in four channels, then the picture in units of the model; frames beyond the mask are not
// given.
static void check_concat(nino_guide_run *r, int64_t mask_channels)
{
    const nino_latent_format *f = nino_latent_format_find("wan21");
    nino_cond_entry e = { 0 };
    nino_array *out = NULL;
    e.concat_latent = test_values(NINO_SHAPE(1, 3, 2, 2, 16), 2);
    e.concat_mask = nino_array_create(NINO_F32, NINO_SHAPE(1, 2, 2, 2, mask_channels));
    for (int64_t i = 0; i < nino_shape_count(&e.concat_mask->shape); i++)
        nino_array_f32(e.concat_mask)[i] = (float) (i % 5) / 4;
    CHECK_OK(nino_cond_concat_video(r, &e, &out, &err), err);
    const nino_shape want = NINO_SHAPE(2, 3, 2, 2, 20);
    CHECK(nino_shape_equal(&out->shape, &want));
    for (int64_t i = 0; i < 2 * 3 * 4; i++)
        for (int64_t k = 0; k < 20; k++) {
            const int64_t cell = i % 12;
            const int64_t m = cell * mask_channels + (mask_channels == 4 ? k : 0);
            const float z = k < 4 ? 0 : nino_array_f32(e.concat_latent)[cell * 16 + k - 4];
            const float value = k >= 4     ? (z - f->mean[k - 4]) / f->std[k - 4]
                                : cell < 8 ? 1 - (float) (m % 5) / 4
                                           : 0;
            CHECK(fabsf(nino_array_f32(out)[i * 20 + k] - value) < 1e-6f);
        }
    nino_array_unref(&out);
    nino_array_unref(&e.concat_latent);
    nino_array_unref(&e.concat_mask);
}

static void refused_concat(nino_guide_run *r, nino_shape latent, const char *words)
{
    nino_cond_entry e = { .concat_latent = test_values(latent, 2) };
    nino_array *out = NULL;
    CHECK(nino_cond_concat_video(r, &e, &out, &err) == NINO_ERR_ARG && !out);
    CHECK(strstr(err.msg, words));
    nino_array_unref(&e.concat_latent);
}

static void test_concat(void)
{
    nino_weights *w = made(net_list_wan(&tiny_i2v, NULL), "wan");
    nino_diffusion *d = test_diffusion(w, "wan_i2v");
    nino_model *m = nino_model_create(d);
    const nino_guider g = { .model = m };
    nino_guide_run r = { .guider = &g, .net = d };
    const nino_shape latent = NINO_SHAPE(2, 3, 2, 2, 16);
    nino_array *out = NULL, *mask = nino_array_create(NINO_F32, NINO_SHAPE(2, 3, 2, 2));
    nino_guide_set_shape(&r, &latent);
    check_concat(&r, 1);
    check_concat(&r, 4);
    CHECK_OK(nino_cond_concat_video(&r, &(nino_cond_entry){ 0 }, &out, &err), err);
    for (int64_t i = 0; i < nino_shape_count(&out->shape); i++) // no picture: nothing is given
        CHECK(nino_array_f32(out)[i] == 0);
    nino_array_unref(&out);
    refused_concat(&r, NINO_SHAPE(1, 4, 2, 2, 16), "4 frames");
    refused_concat(&r, NINO_SHAPE(1, 3, 2, 2, 8), "8 channels");
    refused_concat(&r, NINO_SHAPE(1, 2, 2, 16), "1 frames");
    // time steps of frames follow the noise mask
    float t[12];
    for (int64_t i = 0; i < 24; i++)
        nino_array_f32(mask)[i] = i / 4 % 3 == 0 ? 0 : i / 4 % 3 == 1 ? 1 : (float) (i % 2);
    r.mask = mask;
    nino_guide_frame_times(&r, 600, 2, t);
    for (int i = 0; i < 12; i++)
        CHECK(t[i] == (float) (i % 3 == 0 ? 0 : i % 3 == 1 ? 600 : 300));
    CHECK(!nino_guide_frames(&r));
    nino_array_unref(&mask);
    nino_model_unref(&m);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// ---- kept frames -----------------------------------------------------------------------------
typedef struct kept {
    const nino_diffusion *d;
    const nino_array *latent, *noise; // model units, [1,t,h,w,C] and [1,C,t,h,w]
    const nino_array *context;
    int n;
} kept;

// The first evaluation by hand: kept frames without noise at time 0, the others noise alone at
// 1000.
static void on_step(void *priv, const nino_sample_step *step)
{
    kept *k = priv;
    const float t[3] = { 0, 1000, 1000 };
    const int64_t plane = 12 * 48;
    if (k->n++)
        return;
    nino_array *x = nino_array_to_channels_last(k->noise);
    memcpy(x->data, k->latent->data, (size_t) plane * sizeof(float));
    const test_inputs in = { .x = x, .context = k->context, .timestep = t, .frames = 3 };
    nino_array *v = test_forward(dev.s, k->d, &in);
    nino_array *got = nino_array_create(NINO_F32, step->shape);
    memcpy(got->data, step->denoised, got->bytes);
    nino_array *last = nino_array_to_channels_last(got);
    nino_array_unref(&got);
    for (int64_t i = 0; i < 3 * plane; i++) {
        const float want =
            i < plane ? nino_array_f32(k->latent)[i] : nino_array_f32(x)[i] - nino_array_f32(v)[i];
        CHECK(fabsf(nino_array_f32(last)[i] - want) < 1e-4f);
    }
    nino_array_unref(&x);
    nino_array_unref(&v);
    nino_array_unref(&last);
}

static nino_cond *cond_of(nino_array *context)
{
    nino_cond *c = nino_cond_create(1);
    CHECK(c != NULL);
    nino_cond_set_array(&c->entry[0].context, context);
    return c;
}

// Frames that the noise mask keeps come out as they went in, and are told to be clean.
static void test_kept_frames(void)
{
    nino_weights *w = made(net_list_wan(&tiny_5b, NULL), "wan");
    nino_diffusion *d = test_diffusion(w, "wan22_ti2v");
    nino_array *context = test_values(NINO_SHAPE(1, 5, 20), 4), *out = NULL;
    nino_array *node = test_values(NINO_SHAPE(1, 3, 3, 4, 48), 5);
    nino_array *model = test_values(node->shape, 5);
    nino_array *mask = nino_array_create(NINO_F32, NINO_SHAPE(3, 3, 4));
    nino_array *noise = nino_array_create(NINO_F32, NINO_SHAPE(1, 48, 3, 3, 4));
    for (int64_t i = 12; i < 36; i++)
        nino_array_f32(mask)[i] = 1;
    nino_noise_fill(9, nino_array_f32(noise), 1, 48 * 36, NULL);
    nino_latent_process_in(d->format, nino_array_f32(model), 36, 1);
    nino_guider g = { .refs = 1, .kind = NINO_GUIDE_BASIC, .model = nino_model_create(d) };
    g.positive = cond_of(context);
    kept k = { d, model, noise, context, 0 };
    const nino_sampler sampler = nino_sampler_default(NINO_SAMPLER_EULER);
    const nino_sample_params p = { .guider = &g,
                                   .noise = { .seed = 9 },
                                   .sampler = &sampler,
                                   .sigmas = (const float[]){ 1, 0.6f, 0 },
                                   .n_sigmas = 3,
                                   .samples = node,
                                   .noise_mask = mask,
                                   .on_step = on_step,
                                   .priv = &k };
    CHECK_OK(nino_sample_latent(dev.s, &p, &out, NULL, &err), err);
    CHECK(k.n == 2);
    for (int64_t i = 0; i < 12 * 48; i++)
        CHECK(fabsf(nino_array_f32(out)[i] - nino_array_f32(node)[i]) < 1e-4f);
    CHECK(fabsf(nino_array_f32(out)[12 * 48] - nino_array_f32(node)[12 * 48]) > 1e-4f);
    nino_array *all[] = { context, out, node, model, mask, noise };
    for (int i = 0; i < 6; i++)
        nino_array_unref(&all[i]);
    nino_model_unref(&g.model);
    nino_cond_unref(&g.positive);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

int main(void)
{
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_forwards();
    test_follow();
    test_refused();
    test_wrong_inputs();
    test_concat();
    test_kept_frames();
    test_device_close(&dev);
    test_dir_remove(&dir, (const char *const[]){ "wan", "damaged", NULL });
    return 0;
}
