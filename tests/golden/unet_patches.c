// What patches of a MODEL make of a UNet, and what IP-Adapters do in it, against torch
// (tests/data/make/unet_patches.py).
#include "tests/diffusion.h"

enum { TRANSFORMERS = 7 };

typedef struct bench {
    test_device d;
    nino_diffusion *net;
    nino_weights *io;
    nino_array *x, *t, *context;
    double most;
} bench;

static const uint8_t negative[2] = { 1, 0 };

static nino_array *run_with(bench *b, const nino_patch *p, int n, nino_pass *pass)
{
    pass->patch = p;
    pass->n_patches = n;
    pass->active = ~(uint32_t) 0;
    pass->negative = negative;
    pass->n_rows = 2;
    pass->images = 1;
    const test_inputs in = {
        .x = b->x, .context = b->context, .timestep = nino_array_f32(b->t), .pass = pass
    };
    return test_forward(b->d.s, b->net, &in);
}

static void expect(bench *b, const char *name, const nino_patch *p, int n, nino_pass pass)
{
    nino_array *want = test_tensor(b->io, name, true), *got = run_with(b, p, n, &pass);
    const double nmse = test_nmse(got, want);
    if (nmse > b->most)
        printf("  %s: nmse %.2e\n", name, nmse);
    CHECK(nmse <= b->most);
    nino_array_unref(&want);
    nino_array_unref(&got);
}

static void check_patches(bench *b)
{
    const nino_patch down_after = { .kind = NINO_PATCH_DOWNSCALE,
                                    .v = { 1, 2, 1 },
                                    .filter = { NINO_FILTER_BICUBIC, NINO_FILTER_BICUBIC } };
    const nino_patch down_before = { .kind = NINO_PATCH_DOWNSCALE,
                                     .v = { 2, 1.5, 0 },
                                     .filter = { NINO_FILTER_BILINEAR, NINO_FILTER_BILINEAR } };
    const struct {
        const char *name;
        nino_patch p;
    } cases[] = {
        { "freeu", { .kind = NINO_PATCH_FREEU, .v = { 1.1, 1.2, 0.9, 0.2 } } },
        { "freeu2", { .kind = NINO_PATCH_FREEU2, .v = { 1.3, 1.4, 0.9, 0.2 } } },
        { "tile", { .kind = NINO_PATCH_HYPERTILE, .v = { 32, 2, 0, 0 } } },
        { "self", { .kind = NINO_PATCH_SELF_SCALE, .v = { 1.1, 0.9, 1.2, 0.8 } } },
        { "cross", { .kind = NINO_PATCH_CROSS_SCALE, .v = { 0.7, 1.3, 0.9, 1.1 } } },
        { "nag", { .kind = NINO_PATCH_NAG, .v = { 5, 0.6, 1.5 } } },
        { "down_after", down_after },
        { "down_before", down_before },
    };
    expect(b, "plain", NULL, 0, (nino_pass){ .n_rows = 0 });
    expect(b, "perturbed", NULL, 0, (nino_pass){ .is_perturbed = true });
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        expect(b, cases[i].name, &cases[i].p, 1, (nino_pass){ .n_rows = 0 });
    // a patch that is out of range does nothing
    nino_pass pass = { .patch = &cases[0].p, .n_patches = 1 };
    const test_inputs in = {
        .x = b->x, .context = b->context, .timestep = nino_array_f32(b->t), .pass = &pass
    };
    nino_array *got = test_forward(b->d.s, b->net, &in), *want = test_tensor(b->io, "plain", true);
    CHECK(test_nmse(got, want) <= b->most);
    nino_array_unref(&got);
    nino_array_unref(&want);
}

// The map of the middle's self-attention; of row 0, the negative side, alone.
static void check_map(bench *b)
{
    nino_attention_map map = { .n = 0 };
    nino_array *want = test_tensor(b->io, "map", false);
    nino_pass pass = { .map = &map };
    nino_array *out = run_with(b, NULL, 0, &pass);
    CHECK(map.rows == 1 && map.n == 48 && want->shape.dim[1] == 48);
    for (int i = 0; i < 48; i++)
        CHECK(fabsf(map.weight[i] - nino_array_f32(want)[i]) < (b->most > 1e-9 ? 2e-2f : 1e-4f));
    free(map.weight);
    nino_array_unref(&out);
    nino_array_unref(&want);
}

// ---- IP-Adapter ------------------------------------------------------------------------------

static nino_array *named(const bench *b, const char *adapter, const char *what)
{
    char name[64];
    snprintf(name, sizeof(name), "%s.%s", adapter, what);
    return test_tensor(b->io, name, false);
}

// The projection, and a picture as it stands in a patch.
static nino_image_prompt *picture(bench *b, const char *data, const char *name, const char *ending)
{
    char file[64];
    nino_error err = { 0 };
    nino_image_prompt *p = calloc(1, sizeof(*p));
    nino_array *got[2] = { NULL }, *states = named(b, name, "states");
    CHECK(p);
    snprintf(file, sizeof(file), "ip_%s%s", name, ending);
    nino_weights *w = test_open("%s/synth/%s", data, file);
    *p = (nino_image_prompt){ .refs = 1, .n_weights = TRANSFORMERS };
    CHECK_OK(nino_ip_adapter_load(w, file, &p->adapter, &err), err);
    CHECK(p->adapter->n_layers == TRANSFORMERS && p->adapter->out == 40 && p->adapter->in == 24);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(nino_ip_adapter_tokens(b->d.s, p->adapter, states, &got[i], &err), err);
        nino_array *want = named(b, name, i ? "opposite" : "tokens");
        CHECK(test_nmse(got[i], want) <= b->most);
        nino_array_unref(&want);
        memset(states->data, 0, states->bytes);
    }
    p->positive = got[0];
    p->negative = got[1];
    for (int i = 0; i < TRANSFORMERS; i++)
        p->weight[i] = 0.5 + 0.1 * i;
    nino_array_unref(&states);
    nino_weights_unref(&w);
    return p;
}

static void check_two(bench *b, nino_image_prompt *p)
{
    nino_image_prompt other = *p;
    const nino_patch both[2] = { { .kind = NINO_PATCH_IMAGE_PROMPT, .image = p },
                                 { .kind = NINO_PATCH_IMAGE_PROMPT, .image = &other } };
    other.positive = p->negative;
    other.negative = p->positive;
    for (int i = 0; i < TRANSFORMERS; i++)
        other.weight[i] = p->weight[TRANSFORMERS - 1 - i];
    expect(b, "ip_two", both, 2, (nino_pass){ .n_rows = 0 });
}

static void check_adapters(bench *b, const char *data)
{
    static const char *const names[] = { "plain", "full", "plus" };
    nino_error err = { 0 };
    for (int i = 0; i < 3; i++) {
        char name[32];
        nino_image_prompt *p = picture(b, data, names[i], ".safetensors");
        const nino_patch patch = { .kind = NINO_PATCH_IMAGE_PROMPT, .image = p };
        snprintf(name, sizeof(name), "ip_%s", names[i]);
        expect(b, name, &patch, 1, (nino_pass){ .n_rows = 0 });
        if (i == 1) { // pickled, as the released ones are
            nino_image_prompt *same = picture(b, data, names[i], ".bin");
            nino_image_prompt_unref(&same);
        }
        if (i == 2) {
            check_two(b, p);
            p->mask = test_tensor(b->io, "mask", false);
            expect(b, "ip_mask", &patch, 1, (nino_pass){ .n_rows = 0 });
            nino_array_unref(&p->mask);
            for (int k = 1; k <= 3; k++) {
                snprintf(name, sizeof(name), "ip_scaling%d", k);
                for (int t = 0; t < TRANSFORMERS; t++)
                    p->weight[t] = 8 * (0.5 + 0.1 * t);
                p->scaling = (nino_ip_scaling) k;
                expect(b, name, &patch, 1, (nino_pass){ .n_rows = 0 });
            }
            // another vision network, another UNet
            nino_array *wide = nino_array_create(NINO_F32, NINO_SHAPE(1, 5, 25)), *out = NULL;
            CHECK(nino_ip_adapter_tokens(b->d.s, p->adapter, wide, &out, &err) == NINO_ERR_FORMAT);
            CHECK(strstr(err.msg, "24") && strstr(err.where, "ip_plus"));
            nino_array_unref(&wide);
            p->adapter->n_layers--;
            nino_pass pass = { .patch = &patch, .n_patches = 1, .active = 1 };
            const test_inputs in = {
                .x = b->x, .context = b->context, .timestep = nino_array_f32(b->t), .pass = &pass
            };
            out = test_forward_or(b->d.s, b->net, &in, &err);
            CHECK(!out && err.code == NINO_ERR_ARG && strstr(err.msg, "6 cross-attentions"));
        }
        nino_image_prompt_unref(&p);
    }
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    const char *data = test_data_next(NULL);
    for (const char *const *name = devices; *name; name++) {
        bench b = { .most = 1e-10 };
        if (!test_device_open(&b.d, *name, 0))
            continue;
        nino_weights *w = test_open("%s/synth/unet_patches.safetensors", data);
        b.io = test_open("%s/synth/unet_patches_io.safetensors", data);
        b.net = test_diffusion(w, "sd15");
        b.x = test_tensor(b.io, "x", true);
        b.t = test_tensor(b.io, "timestep", false);
        b.context = test_tensor(b.io, "context", false);
        for (int half = 0; half < 1 + (strcmp(*name, "ref") != 0); half++) {
            nino_stream_set_precision(b.d.s, half ? NINO_PREC_F16 : NINO_PREC_F32);
            b.most = half ? 1e-3 : 1e-9;
            printf("%s, %s\n", *name, half ? "f16" : "f32");
            check_patches(&b);
            check_map(&b);
            check_adapters(&b, data);
        }
        nino_array *all[] = { b.x, b.t, b.context };
        for (int i = 0; i < 3; i++)
            nino_array_unref(&all[i]);
        nino_diffusion_unref(&b.net);
        nino_weights_unref(&w);
        nino_weights_unref(&b.io);
        test_device_close(&b.d);
    }
    return 0;
}
