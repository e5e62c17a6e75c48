// VAE files: sizes from shapes, LDM and diffusers names, prefixes, families, what is refused, what is
// read of each network, and what comes of every tensor that is missing or of another size.
#include "tests/random_net.h"
#include "tests/random_taehv.h"
#include "tests/random_tiny.h"
#include "tests/random_vae.h"
#include "tests/random_wan.h"
#include "tests/unit/recorded.h"
#include "tests/vae.h"

static const nino_tile_params whole = { .style = NINO_TILE_NEVER };
static test_device dev;
static test_dir dir;

static nino_array *latent(int h, int w, int c)
{
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, h, w, c));
    CHECK(z != NULL);
    for (int i = 0; i < h * w * c; i++)
        nino_array_f32(z)[i] = (float) (i * 7 % 23) / 11 - 1;
    return z;
}

static nino_vae *load(nino_weights *w, const char *family)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    CHECK_OK(nino_vae_load(w, "test", &v, &err), err);
    CHECK_STR(v->family, family);
    CHECK_STR(v->name, "test");
    return v;
}

// Refused with this status, kind "model", and these words in the message.
static void refused(nino_weights *w, nino_status want, const char *words)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    const nino_status st = nino_vae_load(w, "test", &v, &err);
    if (st != want)
        fprintf(stderr, "%s: %s (%s)\n", err.where, err.msg, nino_status_name(st));
    CHECK(st == want && !v);
    CHECK_STR(err.kind, "model");
    CHECK(strstr(err.msg, words) || strstr(err.where, words));
    nino_weights_unref(&w);
}

// Both VAEs decode and encode to the same bits.
static void check_same(const nino_vae *a, const nino_vae *b)
{
    nino_array *z = latent(3, 5, a->channels);
    nino_array *p = test_decode(&dev, a, z, &whole, NULL),
               *q = test_decode(&dev, b, z, &whole, NULL);
    CHECK(p->shape.dim[1] == 3 * a->factor && p->shape.dim[2] == 5 * a->factor);
    CHECK(!memcmp(p->data, q->data, p->bytes));
    nino_array *e = test_encode(&dev, a, p, &whole, NULL),
               *f = test_encode(&dev, b, p, &whole, NULL);
    CHECK(nino_shape_equal(&e->shape, &z->shape));
    CHECK(!memcmp(e->data, f->data, e->bytes));
    nino_array *all[] = { z, p, q, e, f };
    for (int i = 0; i < 5; i++)
        nino_array_unref(&all[i]);
}

// ---- renaming --------------------------------------------------------------------------------
static void replace(char *s, size_t size, const char *from, const char *to)
{
    char tail[160];
    char *at = strstr(s, from);
    if (!at)
        return;
    snprintf(tail, sizeof(tail), "%s", at + strlen(from));
    snprintf(at, size - (size_t) (at - s), "%s%s", to, tail);
}

static void to_diffusers(char *s, size_t size, int *rank)
{
    static const char *const pairs[][2] = {
        { ".mid.block_1.", ".mid_block.resnets.0." },
        { ".mid.block_2.", ".mid_block.resnets.1." },
        { ".mid.attn_1.norm.", ".mid_block.attentions.0.group_norm." },
        { ".mid.attn_1.q.", ".mid_block.attentions.0.to_q." },
        { ".mid.attn_1.k.", ".mid_block.attentions.0.to_k." },
        { ".mid.attn_1.v.", ".mid_block.attentions.0.to_v." },
        { ".mid.attn_1.proj_out.", ".mid_block.attentions.0.to_out.0." },
        { ".nin_shortcut.", ".conv_shortcut." },
        { ".norm_out.", ".conv_norm_out." },
        { ".downsample.conv.", ".downsamplers.0.conv." },
        { ".upsample.conv.", ".upsamplers.0.conv." },
        { ".block.", ".resnets." },
        { ".down.0.", ".down_blocks.0." }, // levels of the decoder count from the other end
        { ".down.1.", ".down_blocks.1." },
        { ".down.2.", ".down_blocks.2." },
        { ".up.0.", ".up_blocks.2." },
        { ".up.1.", ".up_blocks.1." },
        { ".up.2.", ".up_blocks.0." },
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        replace(s, size, pairs[i][0], pairs[i][1]);
    if (strstr(s, ".attentions.0.to_") && strstr(s, ".weight"))
        *rank = 2; // diffusers keeps matrices where LDM has 1x1 convolutions
}

static void to_old_diffusers(char *s, size_t size, int *rank)
{
    to_diffusers(s, size, rank);
    replace(s, size, ".to_q.", ".query.");
    replace(s, size, ".to_k.", ".key.");
    replace(s, size, ".to_v.", ".value.");
    replace(s, size, ".to_out.0.", ".proj_attn.");
}

static void add_prefix(char *s, size_t size, const char *prefix)
{
    char name[160];
    snprintf(name, sizeof(name), "%s", s);
    snprintf(s, size, "%s%s", prefix, name);
}

static void to_first_stage(char *s, size_t size, int *rank)
{
    (void) rank;
    add_prefix(s, size, "first_stage_model.");
}

static void to_vae(char *s, size_t size, int *rank)
{
    (void) rank;
    add_prefix(s, size, "vae.");
}

static void without_encoder(char *s, size_t size, int *rank)
{
    (void) size;
    (void) rank;
    if (!strncmp(s, "encoder.", 8) || !strncmp(s, "quant_conv", 10))
        s[0] = 0;
}

static void without_one_bias(char *s, size_t size, int *rank)
{
    (void) size;
    (void) rank;
    if (!strcmp(s, "decoder.up.1.block.0.norm1.bias"))
        s[0] = 0;
}

static void without_a_conv(char *s, size_t size, int *rank)
{
    (void) size;
    (void) rank;
    if (!strcmp(s, "decoder.up.0.block.1.conv2.weight"))
        s[0] = 0;
}

static void with_swapped_convs(char *s, size_t size, int *rank)
{
    (void) rank;
    if (!strcmp(s, "decoder.up.0.block.0.conv1.weight"))
        snprintf(s, size, "decoder.up.0.block.0.conv2.weight");
    else if (!strcmp(s, "decoder.up.0.block.0.conv2.weight"))
        snprintf(s, size, "decoder.up.0.block.0.conv1.weight");
}

static nino_weights *kl(const char *name, int levels, int z, bool quant)
{
    nino_error err = { 0 };
    random_vae r = { .ch = 32, .mult = { 1, 2, 2, 2 }, .n_levels = levels, .n_res = 1, .z = z };
    r.quant_convs = quant;
    r.with_encoder = true;
    r.dtype = NINO_F16;
    r.seed = 3;
    CHECK_OK(random_vae_save(r, dir.path, name, &err), err);
    return test_open("%s/%s", dir.path, name);
}

static void check_kl(void)
{
    nino_array *one = nino_array_create(NINO_F32, NINO_SHAPE(1));
    const nino_st_entry clip_g = { "conditioner.embedders.1.model.ln_final.weight", one };
    nino_weights *w = kl("a", 3, 4, true);
    nino_vae *v = load(w, "sd_x4"); // three levels
    CHECK(v->factor == 4 && v->channels == 4 && v->has_encoder && v->has_decoder);
    CHECK(v->scale == 0.08333 && v->shift == 0 && v->weight_bytes > 100000);
    CHECK_STR(v->detail, "AutoencoderKL, 4 channels, 4x");

    nino_weights *files[] = {
        test_copy(w, &dir, "b", to_diffusers, NULL, 0),
        test_copy(w, &dir, "b", to_old_diffusers, NULL, 0),
        test_copy(w, &dir, "b", to_vae, NULL, 0),
        test_copy(w, &dir, "b", to_first_stage, &clip_g, 1),
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        nino_vae *v2 = load(files[i], "sd_x4");
        CHECK(memcmp(&v2->identity, &v->identity, sizeof(v->identity)));
        check_same(v, v2);
        nino_vae_unref(&v2);
        nino_weights_unref(&files[i]);
    }
    nino_weights *half = test_copy(w, &dir, "b", without_encoder, NULL, 0);
    nino_vae *dec = load(half, "sd_x4");
    CHECK(dec->has_decoder && !dec->has_encoder && dec->factor == 4);
    nino_vae_unref(&dec);
    nino_weights_unref(&half);

    refused(test_copy(w, &dir, "b", without_one_bias, NULL, 0), NINO_ERR_FORMAT,
            "decoder.up.1.block.0.norm1.bias");
    refused(test_copy(w, &dir, "b", without_a_conv, NULL, 0), NINO_ERR_FORMAT,
            "decoder.up.0.block.1.conv2.weight");
    refused(test_copy(w, &dir, "b", with_swapped_convs, NULL, 0), NINO_ERR_FORMAT,
            "decoder.up.0.block.0.conv1");
    nino_vae_unref(&v);
    nino_weights_unref(&w);

    static const struct {
        int levels, z;
        const char *family;
        double scale, shift;
        int factor;
    } cases[] = {
        { 4, 4, "sd1", 0.18215, 0, 8 },
        { 4, 16, "flux", 0.3611, 0.1159, 8 },
        { 2, 16, "flux", 0.3611, 0.1159, 2 },
        { 4, 7, "kl", 1, 0, 8 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        w = kl("a", cases[i].levels, cases[i].z, cases[i].z == 4);
        v = load(w, cases[i].family);
        CHECK(v->channels == cases[i].z && v->factor == cases[i].factor);
        CHECK(v->scale == cases[i].scale && v->shift == cases[i].shift);
        nino_vae_unref(&v);
        if (cases[i].z == 4) { // the same in an SDXL checkpoint
            nino_weights *xl = test_copy(w, &dir, "b", to_first_stage, &clip_g, 1);
            v = load(xl, "sdxl");
            CHECK(v->scale == 0.13025);
            nino_vae_unref(&v);
            nino_weights_unref(&xl);
        }
        nino_weights_unref(&w);
    }
    refused(kl("a", 2, 32, false), NINO_ERR_UNSUPPORTED, "hunyuan_image");
    nino_array_unref(&one);
}

// ---- TAESD -----------------------------------------------------------------------------------
static nino_weights *tiny(const char *file, random_tiny t)
{
    nino_error err = { 0 };
    CHECK_OK(random_tiny_save(&t, dir.path, file, &err), err);
    return test_open("%s/%s", dir.path, file);
}

static void check_tiny(void)
{
    nino_error err = { 0 };
    nino_vae *v = NULL, *v2 = NULL;
    random_tiny t = { .width = 8, .levels = 3, .blocks = 2, .z = 16 };
    t.encoder = "taesd_encoder.";
    t.decoder = "taesd_decoder.";
    nino_weights *w = tiny("a", t);
    v = load(w, "taef1");
    CHECK(v->factor == 4 && v->channels == 16 && v->has_encoder && v->has_decoder);
    CHECK(v->scale == 0.3611 && v->shift == 0.1159);
    nino_weights_unref(&w);

    // the same parts as two files without prefixes
    random_tiny half = t;
    half.encoder = NULL;
    half.decoder = "";
    nino_weights *dec = tiny("b", half);
    CHECK_OK(nino_vae_tiny_load(NULL, dec, "taesd3", &v2, &err), err);
    CHECK_STR(v2->family, "taesd3");
    CHECK(v2->scale == 1.5305 && !v2->has_encoder);
    nino_vae_unref(&v2);
    v2 = load(dec, "taef1"); // and a file with only a decoder is a VAE
    nino_vae_unref(&v2);
    half.encoder = "";
    half.decoder = NULL;
    nino_weights *enc = tiny("c", half);
    CHECK_OK(nino_vae_tiny_load(enc, dec, NULL, &v2, &err), err);
    CHECK(v2->has_encoder && v2->has_decoder && v2->channels == 16 && v2->factor == 4);
    nino_array *z = latent(3, 4, 16);
    nino_array *p = test_decode(&dev, v2, z, &whole, NULL);
    nino_array *e = test_encode(&dev, v2, p, &whole, NULL);
    CHECK(p->shape.dim[1] == 12 && e->shape.dim[1] == 3 && e->shape.dim[3] == 16);
    nino_array_unref(&p);
    nino_array_unref(&e);
    nino_vae_unref(&v2);

    // decoder and encoder the wrong way round, and halves of different networks
    CHECK(nino_vae_tiny_load(dec, enc, NULL, &v2, &err) == NINO_ERR_FORMAT && !v2);
    CHECK_STR(err.kind, "model");
    nino_weights_unref(&enc);
    half.z = 4;
    enc = tiny("c", half);
    CHECK(nino_vae_tiny_load(enc, dec, NULL, &v2, &err) == NINO_ERR_FORMAT && !v2);
    nino_weights_unref(&enc);
    nino_weights_unref(&dec);

    // pools: the picture as a whole matters
    t.with_pool = true;
    t.z = 32;
    w = tiny("a", t);
    v2 = load(w, "taef2");
    nino_array_unref(&z);
    CHECK(v2->channels == 128 && v2->fold == 2 && v2->takes_unfolded); // FLUX.2's latents
    z = latent(3, 4, 128);
    p = test_decode(&dev, v2, z, &whole, NULL);
    nino_array_f32(z)[0] = 3;
    e = test_decode(&dev, v2, z, &whole, NULL);
    const size_t row = 16 * 3; // the last one: far from what was changed
    CHECK(memcmp(nino_array_f32(p) + 11 * row, nino_array_f32(e) + 11 * row, row * sizeof(float)));
    nino_array_unref(&z);
    nino_array_unref(&p);
    nino_array_unref(&e);
    nino_weights_unref(&w);
    nino_vae_unref(&v2);
    nino_vae_unref(&v);
}

static void check_refused(void)
{
    nino_error err = { 0 };
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(4, 4));
    const nino_st_entry lora[] = { { "lora_unet_x.lora_down.weight", a },
                                   { "lora_unet_x.lora_up.weight", a } };
    const nino_st_entry wan[] = { { "decoder.middle.0.residual.0.gamma", a } };
    const nino_st_entry odd[] = { { "something", a } };
    CHECK_OK(nino_st_save(dir.path, "a", false, lora, 2, NULL, 0, &err), err);
    refused(test_open("%s/a", dir.path), NINO_ERR_FORMAT, "LoRA");
    CHECK_OK(nino_st_save(dir.path, "a", false, wan, 1, NULL, 0, &err), err);
    refused(test_open("%s/a", dir.path), NINO_ERR_FORMAT, "neither");
    const nino_st_entry ltx[] = { { "decoder.up_blocks.0.res_blocks.0.conv1.conv.weight", a } };
    CHECK_OK(nino_st_save(dir.path, "a", false, ltx, 1, NULL, 0, &err), err);
    refused(test_open("%s/a", dir.path), NINO_ERR_UNSUPPORTED, "ltxv");
    CHECK_OK(nino_st_save(dir.path, "a", false, odd, 1, NULL, 0, &err), err);
    refused(test_open("%s/a", dir.path), NINO_ERR_FORMAT, "no VAE");
    nino_array_unref(&a);
}

// ---- every tensor ----------------------------------------------------------------------------

static net_list list_of(const nino_weights *w)
{
    net_list l = { 0 };
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        net_add(&l, t->name, t->rank, t->dim);
    }
    return l;
}

// What comes of the file without tensor `at` (axis < 0), or with one more along an axis.
static void put_damaged(const net_list *all, int at, int axis)
{
    net_list l = { 0 };
    nino_error err = { 0 };
    nino_vae *v = NULL;
    const net_tensor t = all->t[at];
    for (int i = 0; i < all->n; i++)
        if (i != at || axis >= 0)
            net_add(&l, all->t[i].name, all->t[i].rank, all->t[i].dim);
    if (axis >= 0)
        l.t[at].dim[axis]++;
    char path[64];
    snprintf(path, sizeof(path), "%s/c", dir.path);
    net_save(&l, path, NINO_F16, NET_SPARSE);
    nino_weights *w = test_open("%s", path);
    if (axis < 0)
        record("%s: ", t.name);
    else
        record("    %lld along %d: ", (long long) t.dim[axis] + 1, axis);
    if (nino_vae_load(w, "net", &v, &err))
        record("%d %s\n", (int) err.code, err.msg);
    else
        record("%s of %d, %dx, %d\n", v->family, v->channels, v->factor, v->time_factor);
    nino_vae_unref(&v);
    nino_weights_unref(&w);
}

// Everything that was read, in its order, then, if asked for, what comes of each tensor that is
// wrong.
static void put_vae(const char *title, nino_weights *w, bool is_damaged)
{
    nino_error err = { 0 };
    nino_vae *v = NULL;
    const nino_layers_item *item[512];
    int n = 0;
    CHECK_OK(nino_vae_load(w, "net", &v, &err), err);
    record("\n%s: %s, %s, %d channels, %dx, %d frames, fold %d, %d %d\n", title, v->family,
           v->detail, v->channels, v->factor, v->time_factor, v->fold, v->has_encoder,
           v->has_decoder);
    for (const nino_layers_item *i = v->layers.items; i; i = i->next) {
        CHECK(n < 512);
        item[n++] = i;
    }
    while (n--) {
        const nino_weight *x = item[n]->weight;
        if (!x) {
            record("    array of %lld\n", (long long) nino_shape_count(&item[n]->array->shape));
            continue;
        }
        record("    %c %lldx%lld", "mcdtvp"[x->role], (long long) x -> n, (long long) x -> c);
        for (int i = 0; i < x->n_ranges; i++)
            record(" %s rows %lld + %lld", x->range[i].info->name, (long long) x->range[i].row0,
                   (long long) x->range[i].rows);
        record("\n");
    }
    nino_vae_unref(&v);
    net_list all = list_of(w);
    for (int i = 0; i < all.n && is_damaged; i++)
        for (int axis = -1; axis < all.t[i].rank && axis < 2; axis++)
            put_damaged(&all, i, axis);
    free(all.t);
    nino_weights_unref(&w);
}

static void check_each_tensor(void)
{
    static const tae_net small = {
        .z = 16, .patch = 1, .width = { 16, 8, 8, 8 }, .grow = { 1, 2, 2 }, .pool = { 2, 2, 1 }
    };
    static const char *const titles[] = { "wan 2.1", "wan 2.2", "wan 2.1, diffusers",
                                          "wan 2.2, diffusers" };
    static tae_file f;
    random_tiny t = { .width = 8, .levels = 3, .blocks = 1, .z = 4 };
    t.encoder = "taesd_encoder.";
    t.decoder = "taesd_decoder.";
    for (int i = 0; i < 4; i++) {
        nino_vae *v = wan_make(&dir, "b", i & 1, i >> 1, 6);
        nino_vae_unref(&v);
        put_vae(titles[i], test_open("%s/b", dir.path), i == 0 || i == 3);
    }
    nino_vae *v = tae_make(&dir, "b", &small, &f);
    nino_vae_unref(&v);
    tae_release(&f);
    put_vae("taehv", test_open("%s/b", dir.path), true);
    put_vae("kl", kl("b", 3, 4, true), true);
    nino_weights *w = kl("b", 3, 16, false);
    put_vae("kl, diffusers", test_copy(w, &dir, "a", to_diffusers, NULL, 0), false);
    nino_weights_unref(&w);
    put_vae("tiny", tiny("b", t), true);
    recorded_check("refused_vae.txt");
}

int main(void)
{
    static const char *const files[] = { "a", "b", "c", NULL };
    dir = test_dir_create();
    CHECK(test_device_open(&dev, "ref", 0));
    check_kl();
    check_tiny();
    check_refused();
    check_each_tensor();
    test_device_close(&dev);
    test_dir_remove(&dir, files);
    return 0;
}
