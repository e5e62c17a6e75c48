// What evaluations of a run keep: the network answers the same with it, and what was kept is not
// computed again; a time step that was not announced is answered, too.
#include "tests/random_dit.h"

#include "tests/networks.h"

static const net_qwen qwen = { 64, 32, 2, 48, 20, false };
static const net_zimage z = { 64, 32, 2, 1, 48, 24, 32, 40 };
static const net_sd3 sd3 = { 64, 2, 96, 24, 20, 8, 1, true };
static const net_wan wan = { 128, 64, 2, 16, 16, 24, 0, 0, 0 };
static const net_chroma chroma = { { 64, 32, 1, 1, 16, 24, 0, false }, 48, 2 };
static const net_flux2 klein = { 64, 32, 1, 2, 128, 24, 48, false };

static double flops_of(const nino_diffusion *d, inputs *p, nino_array **out)
{
    const double before = dev.be->flops;
    *out = test_forward(dev.s, d, &p->in);
    return dev.be->flops - before;
}

static void check(net_list l, const char *family, int n_refs, double products)
{
    static const float announced[] = { 0.9f, 0.8f, 0.3f };
    nino_weights *w = made(l, "net");
    nino_diffusion *d = test_diffusion(w, family);
    const bool is_qwen = !strcmp(family, "qwen_image");
    nino_kept text = { NULL, 0 };
    nino_run_times times = { .t = announced, .n = 3 };
    nino_array *plain, *first, *next, *other, *other_plain;
    inputs p;
    fill(&p, d, 1, 4, 6, 5);
    if (is_qwen)
        p.owned[0]->shape = NINO_SHAPE(1, 1, 4, 6, 16);
    if (!strncmp(family, "wan", 3))
        p.owned[0]->shape = NINO_SHAPE(1, 2, 4, 3, 16);
    for (int i = 0; i < n_refs; i++)
        p.in.ref[i] = p.owned[4 + i] = test_values(NINO_SHAPE(1, 3, 2, 16), 7);
    p.in.n_refs = n_refs;
    p.in.ref_method = n_refs ? NINO_REFS_INDEX_TIMESTEP_ZERO : NINO_REFS_DEFAULT;
    const double all = flops_of(d, &p, &plain);
    p.in.timestep = (const float[]){ 0.35f };
    flops_of(d, &p, &other_plain);
    p.in.timestep = p.t;
    p.in.text = &text;
    p.in.times = &times;
    flops_of(d, &p, &first);
    const double later = flops_of(d, &p, &next);
    CHECK(text.made && times.n_rows == (is_qwen ? 5 : !strcmp(family, "chroma") ? 2 : 0));
    p.in.timestep = (const float[]){ 0.35f };
    flops_of(d, &p, &other);
    printf("  %s: %.0f operations, %.0f of them once a run\n", family, all, all - later);
    CHECK(all - later >= products && all - later <= 1.06 * products); // and some norms
    CHECK(test_nmse(first, plain) < 1e-13 && test_nmse(next, plain) < 1e-13);
    CHECK(test_nmse(other, other_plain) < 1e-13 && test_nmse(other, plain) > 1e-9);
    nino_array *arrays[] = { plain, first, next, other, other_plain };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&arrays[i]);
    nino_kept_release(&text);
    nino_run_times_release(&times);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// A text that takes more room than the weights of its keys is worked through in each evaluation.
static void check_long_text(void)
{
    nino_weights *w = made(net_list_unet(&tiny_sd, NULL), "net");
    nino_diffusion *d = test_diffusion(w, "sd15");
    nino_kept text = { NULL, 0 };
    nino_array *out;
    inputs p;
    fill(&p, d, 1, 8, 8, 25); // of 24 channels
    p.in.text = &text;
    const double first = flops_of(d, &p, &out);
    nino_array_unref(&out);
    CHECK(flops_of(d, &p, &out) == first && !text.made);
    nino_array_unref(&out);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

// The two sides may have a guidance each; what a third gets is computed for it alone.
static void check_guidance(void)
{
    static const float announced[] = { 0.8f, 0.3f };
    nino_weights *w = made(net_list_chroma(&chroma, NULL), "net");
    nino_diffusion *d = test_diffusion(w, "chroma");
    nino_run_times times = { .t = announced, .n = 2 };
    double flops[6];
    inputs p;
    fill(&p, d, 1, 4, 6, 5);
    for (int i = 0; i < 6; i++) { // 1, 2, 3 and again
        nino_array *want, *got;
        p.in.guidance = (float) (1 + i % 3);
        p.in.times = NULL;
        flops_of(d, &p, &want);
        p.in.times = &times;
        flops[i] = flops_of(d, &p, &got);
        CHECK(test_nmse(got, want) < 1e-13);
        nino_array_unref(&want);
        nino_array_unref(&got);
    }
    CHECK(flops[3] < flops[0] && flops[4] < flops[1] && flops[3] == flops[4]);
    CHECK(flops[5] == flops[2] && flops[5] > flops[4]);
    nino_run_times_release(&times);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
}

int main(void)
{
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    // by hand: the embedding of the time, two sides of two blocks with six vectors each, two vectors
    // at the end; the text's first layer
    const double width = 64, time = 2 * (256 + width + 2 * 2 * 6 * width + 2 * width) * width;
    const double text = 2 * 5 * width * 20;
    check(net_list_qwen(&qwen, NULL), "qwen_image", 0, time + text);
    check(net_list_qwen(&qwen, NULL), "qwen_image", 2, 2 * time + text);
    // five tokens in, 32 with padding; a block of attention and a feed-forward of 48
    const double block = 2 * 32 * (4 * width * width + 3 * width * 48) + 4 * 32 * 32 * width;
    check(net_list_zimage(&z, NULL), "z_image", 0, 2 * 5 * width * 24 + block);
    check(net_list_flux2(&klein, NULL), "flux2_klein", 0, 2 * 5 * width * 24);
    check(net_list_sd3(&sd3, NULL), "sd3", 0, 2 * 5 * width * 24);
    // 344 rows through the approximator: in, two layers of two, out
    const double rows = 2.0 * 344 * (64 * 48 + 4 * 48 * 48 + 48 * width);
    check(net_list_chroma(&chroma, NULL), "chroma", 0, rows + 2 * 5 * width * 24);
    check_guidance();
    // FLUX.1: the vectors of time, guidance and pooled text, two sides of two blocks with six vectors each, two
    // blocks with three, two at the end
    const double wide = 128, vectors = 2 * wide * (256 + wide) * 2 + 2 * wide * (12 + wide);
    const double mods = 2 * wide * wide * (2 * 2 * 6 + 2 * 3 + 2);
    check(net_list_flux(&tiny_flux, NULL), "flux", 0, vectors + mods + 2 * 5 * wide * 20);
    // two layers of the text, keys and values of it in two blocks
    check(net_list_wan(&wan, NULL), "wan_t2v", 0, 2 * 5 * wide * (24 + wide + 2 * 2 * wide));
    check(net_list_unet(&tiny_sd, NULL), "sd15", 0, 2 * 5 * 24 * 2 * (5 * 32 + 6 * 64));
    check_long_text();
    test_device_close(&dev);
    test_dir_remove(&dir, (const char *const[]){ "net", NULL });
    return 0;
}
