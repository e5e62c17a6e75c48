// Merged models: every weight is what the node's formula says, by part of the network, whatever the
// files' prefixes; LoRAs and merges stack; what only one has stays; models with nothing in common.
#include "tests/random_net.h"

#include "core/model/merge/merge.h"
#include "tests/diffusion.h"
#include "tests/random_text.h"

static nino_error err;
static test_dir dir;
static const net_unet unet = { 32, 2, { 1, 2 }, { 1, 1 }, 1, 24, 0, 4, 4, false };

// is_other: the same names with other values.
static nino_model *make(const net_unet *u, const char *prefix, bool is_other)
{
    char path[128];
    nino_diffusion *d = NULL;
    net_list l = net_list_unet(u, prefix);
    for (int i = 0; is_other && i < l.n / 2; i++) {
        const net_tensor t = l.t[i];
        l.t[i] = l.t[l.n - 1 - i];
        l.t[l.n - 1 - i] = t;
    }
    snprintf(path, sizeof(path), "%s/f", dir.path);
    net_save(&l, path, NINO_F16, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    CHECK(unlink(path) == 0); // read through the open file
    CHECK_OK(nino_diffusion_load(w, is_other ? "b" : "a", &d, &err), err);
    nino_model *m = nino_model_create(d);
    CHECK(m != NULL);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    return m;
}

static nino_array *tensor(const nino_weights *w, const char *prefix, const char *name)
{
    const nino_tensor_info *t = nino_weights_find(w, nino_name_of("%s%s", prefix, name).s);
    CHECK(t != NULL);
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK(a != NULL);
    return a;
}

// Every tensor of the result; f: how much of the first and of the second, by name.
typedef void (*factors)(const char *name, double *mine, double *other);

static void check_weights(const nino_model *out, const nino_model *a, const nino_model *b,
                          factors f)
{
    const size_t skip = strlen(a->net->prefix);
    int n_mixed = 0;
    for (int i = 0; i < nino_weights_count(a->net->file); i++) {
        const char *name = nino_weights_at(a->net->file, i)->name + skip;
        nino_array *x = tensor(a->net->file, a->net->prefix, name);
        nino_array *y = tensor(b->net->file, b->net->prefix, name);
        nino_array *z = tensor(out->net->file, out->net->prefix, name);
        double mine, other;
        f(name, &mine, &other);
        for (int64_t k = 0; k < nino_shape_count(&x->shape); k++) {
            const double p = nino_array_f32(x)[k], q = nino_array_f32(y)[k];
            const double want = mine * p + other * q, got = nino_array_f32(z)[k];
            CHECK(fabs(got - want) <= 1e-3 * (fabs(want) + 1e-3)); // f16, as the file
            n_mixed += p != q && got != p;
        }
        nino_array_unref(&x);
        nino_array_unref(&y);
        nino_array_unref(&z);
    }
    CHECK(n_mixed > 1000);
}

static void quarter(const char *name, double *mine, double *other)
{
    (void) name;
    *mine = 0.25;
    *other = 0.75;
}

static void by_block(const char *name, double *mine, double *other)
{
    *mine = !strncmp(name, "middle", 6) ? 0.5 : !strncmp(name, "out", 3) ? 1 : 0.125;
    *other = 1 - *mine;
}

static void difference(const char *name, double *mine, double *other)
{
    (void) name;
    *mine = 2;
    *other = -2;
}

static nino_array *forward(nino_backend *be, const nino_model *m)
{
    static const float timestep = 500;
    nino_array *x = test_values(NINO_SHAPE(1, 8, 8, 4), 1);
    nino_array *context = test_values(NINO_SHAPE(1, 5, 24), 2);
    const test_inputs in = { .x = x, .context = context, .timestep = &timestep };
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *out = test_forward(s, m->net, &in);
    nino_stream_destroy(&s);
    nino_array_unref(&x);
    nino_array_unref(&context);
    return out;
}

static void test_merges_of_models(nino_backend *be)
{
    nino_model *a = make(&unet, "model.diffusion_model.", false), *b = make(&unet, NULL, true);
    nino_model *out = NULL, *again = NULL;
    const nino_merge_part simple = { "", 0.25, 0.75 }, minus = { "", 2, -2 }, same = { "", 1, 0 };
    const nino_merge_part blocks[] = {
        { "", 0.125, 0.875 }, { "input", 0.125, 0.875 }, { "middle", 0.5, 0.5 }, { "out", 1, 0 }
    };
    CHECK_OK(nino_model_merge(a, b, &simple, 1, &out, &err), err);
    check_weights(out, a, b, quarter);
    const nino_hash id = out->net->identity;
    CHECK(id.lo != a->net->identity.lo);
    nino_array *x = forward(be, a), *y = forward(be, out);
    CHECK(memcmp(x->data, y->data, x->bytes) != 0);
    nino_array_unref(&y);
    // A merge of a merge; with nothing of the second it is the first.
    CHECK_OK(nino_model_merge(out, a, &same, 1, &again, &err), err);
    nino_array *z = forward(be, again);
    y = forward(be, out);
    CHECK(!memcmp(y->data, z->data, y->bytes));
    nino_array_unref(&y);
    nino_array_unref(&z);
    nino_model_unref(&out);
    nino_model_unref(&again);
    y = forward(be, a); // the first is what it was
    CHECK(!memcmp(x->data, y->data, x->bytes));
    nino_array_unref(&x);
    nino_array_unref(&y);
    CHECK_OK(nino_model_merge(a, b, blocks, 4, &out, &err), err);
    check_weights(out, a, b, by_block);
    CHECK(out->net->identity.lo != id.lo);
    nino_model_unref(&out);
    CHECK_OK(nino_model_merge(a, b, &minus, 1, &out, &err), err);
    check_weights(out, a, b, difference);
    nino_model_unref(&out);
    nino_model_unref(&a);
    nino_model_unref(&b);
}

static void test_alien(void)
{
    static const net_unet wide = { 64, 2, { 1, 3 }, { 1, 1 }, 1, 40, 0, 4, 4, false };
    const nino_merge_part half = { "", 0.5, 0.5 }, none = { "nothing", 0.5, 0.5 };
    nino_model *a = make(&unet, NULL, false), *b = make(&wide, NULL, true), *out = NULL;
    const nino_status st = nino_model_merge(a, b, &half, 1, &out, &err);
    if (st == NINO_OK) // a few biases of one size may agree
        nino_model_unref(&out);
    else
        CHECK_STR(err.kind, "model");
    CHECK(nino_model_merge(a, a, &none, 1, &out, &err) == NINO_ERR_FORMAT && !out);
    CHECK(strstr(err.msg, "nothing") || strstr(err.msg, "in common"));
    nino_model_unref(&a);
    nino_model_unref(&b);
}

static nino_clip *clip_of(const random_text *t, int n, nino_clip_type type)
{
    nino_clip *c = NULL;
    const nino_text_services none = { 0 };
    nino_weights *w = random_text_file(&dir, "c", t, n, NULL);
    CHECK_OK(nino_clip_load(&w, 1, type, &none, "c", &c, &err), err);
    nino_weights_unref(&w);
    return c;
}

static void test_clips(void)
{
    const random_text one = { .width = 32, .layers = 2, .mlp = 48 };
    random_text two = one;
    two.seed = 7;
    nino_clip *a = clip_of(&one, 1, NINO_CLIP_SD1), *b = clip_of(&two, 1, NINO_CLIP_SD1);
    nino_clip *out = NULL;
    const nino_merge_part part = { "", 0.75, 0.25 };
    static const char name[] = "text_model.encoder.layers.1.mlp.fc1.weight";
    a->layer = -2;
    CHECK_OK(nino_clip_merge(a, b, &part, 1, &out, &err), err);
    CHECK(out->layer == -2 && out->type == a->type);
    const nino_encoder_id id = NINO_ENC_CLIP_L;
    nino_array *x = tensor(a->enc[id]->file, "", name), *y = tensor(b->enc[id]->file, "", name);
    nino_array *z = tensor(out->enc[id]->file, "", name);
    for (int64_t i = 0; i < nino_shape_count(&x->shape); i++)
        CHECK(fabsf(nino_array_f32(z)[i] -
                    (0.75f * nino_array_f32(x)[i] + 0.25f * nino_array_f32(y)[i])) < 1e-6f);
    nino_array_unref(&x);
    nino_array_unref(&y);
    nino_array_unref(&z);
    nino_clip_unref(&out);
    nino_clip_unref(&a);
    nino_clip_unref(&b);
}

int main(void)
{
    static const char *const files[] = { "f", "c", NULL };
    dir = test_dir_create();
    nino_backend *be = nino_ref_open(0, NULL, &err);
    CHECK(be);
    test_merges_of_models(be);
    test_alien();
    test_clips();
    nino_backend_close(&be);
    test_dir_remove(&dir, files);
    return 0;
}
