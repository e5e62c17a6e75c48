// ModelSave and CLIPSave: a merged model becomes a file with the mixed weights, which loads again
// and is written again to the same bytes; a text encoder; metadata; names and files that are
// refused.
#include "core/file/weights.h"
#include "core/model/loader.h"
#include "tests/flow.h"
#include "tests/random_net.h"
#include "tests/random_text.h"

static nino_error err;
static nino_ctx *ctx;

static flow_result run(const char *json)
{
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    return r;
}

static void make_unet(const char *name, bool is_other)
{
    static const net_unet unet = { 32, 2, { 1, 2 }, { 1, 0 }, -1, 24, 0, 4, 4, false };
    net_list l = net_list_unet(&unet, NULL);
    for (int i = 0; is_other && i < l.n / 2; i++) {
        const net_tensor t = l.t[i];
        l.t[i] = l.t[l.n - 1 - i];
        l.t[l.n - 1 - i] = t;
    }
    net_save(&l, nino_name_of("%s/models/diffusion_models/%s", flow_temp(), name).s, NINO_F16,
             NET_RANDOM);
}

static nino_array *values(const nino_weights *w, const char *prefix, const char *name)
{
    const nino_tensor_info *t = nino_weights_find(w, nino_name_of("%s%s", prefix, name).s);
    CHECK(t);
    nino_array *a = nino_weights_read_f32(w, t, &err);
    CHECK(a);
    return a;
}

static nino_weights *model_file(const char *name)
{
    return test_open("%s/models/diffusion_models/%s", flow_temp(), name);
}

// a / 4 + 3 b / 4 in f16, as the files.
static void check_mixed(const nino_weights *saved)
{
    nino_weights *a = model_file("a.safetensors"), *b = model_file("b.safetensors");
    CHECK(nino_weights_count(saved) == nino_weights_count(a));
    for (int i = 0; i < nino_weights_count(a); i++) {
        const nino_tensor_info *t = nino_weights_at(a, i);
        nino_array *x = values(a, "", t->name), *y = values(b, "", t->name);
        nino_array *z = values(saved, "model.diffusion_model.", t->name);
        CHECK(nino_shape_equal(&x->shape, &z->shape));
        for (int64_t k = 0; k < nino_shape_count(&x->shape); k++) {
            const double want =
                0.25 * (double) nino_array_f32(x)[k] + 0.75 * (double) nino_array_f32(y)[k];
            CHECK(fabs((double) nino_array_f32(z)[k] - want) <= 1e-3 * (fabs(want) + 1e-3));
        }
        nino_array_unref(&x);
        nino_array_unref(&y);
        nino_array_unref(&z);
    }
    nino_weights_unref(&a);
    nino_weights_unref(&b);
}

static void check_same(const nino_weights *a, const nino_weights *b)
{
    CHECK(nino_weights_count(a) == nino_weights_count(b));
    for (int i = 0; i < nino_weights_count(a); i++) {
        const nino_tensor_info *t = nino_weights_at(a, i), *u = nino_weights_find(b, t->name);
        char *x = malloc(t->bytes), *y = malloc(t->bytes);
        CHECK(u && u->dtype == t->dtype && u->bytes == t->bytes && x && y);
        CHECK_OK(nino_weights_read(a, t, x, &err), err);
        CHECK_OK(nino_weights_read(b, u, y, &err), err);
        CHECK(!memcmp(x, y, t->bytes));
        free(x);
        free(y);
    }
}

#define LOAD(id, file)                                                                             \
    "'" id "': {'class_type': 'UNETLoader', 'inputs': {'unet_name': '" file                        \
    "', 'weight_dtype': 'default'}},"
#define SAVE(from, prefix)                                                                         \
    "'9': {'class_type': 'ModelSave', 'inputs': {'model': ['" from                                 \
    "', 0], 'filename_prefix': '" prefix "'}}}"

static void models(void)
{
    flow_result r = run("{" LOAD("1", "a.safetensors") LOAD(
        "2",
        "b.safetensors") "'3': {'class_type': 'ModelMergeSimple', 'inputs': {'model1': ['1', 0], "
                         "'model2': ['2', 0], 'ratio': 0.25}}," SAVE("3", "sub/m"));
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && strstr(r.path[0], "/output/sub/m_00001_.safetensors"));
    nino_weights *saved = test_open("%s", r.path[0]);
    check_mixed(saved);
    CHECK_STR(nino_weights_meta(saved, "modelspec.predict_key"), "epsilon");
    CHECK(strstr(nino_weights_meta(saved, "prompt"), "ModelMergeSimple"));
    nino_weights *told = test_copy_with_meta( // what only the metadata tells goes along
        saved, nino_name_of("%s/models/diffusion_models", flow_temp()).s, "c.safetensors",
        NINO_META_HEAD_CHANNELS, "32");
    r = run("{" LOAD("1", "c.safetensors") SAVE("1", "sub/m"));
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && strstr(r.path[0], "/output/sub/m_00002_.safetensors"));
    nino_weights *again = test_open("%s", r.path[0]);
    check_same(saved, again);
    CHECK_STR(nino_weights_meta(again, NINO_META_HEAD_CHANNELS), "32");
    nino_weights_unref(&told);
    nino_weights_unref(&again);
    nino_weights_unref(&saved);
    r = run("{" LOAD("1", "c.safetensors") SAVE("1", "../m"));
    CHECK(r.st != NINO_OK && r.err.msg[0]);
}

static void encoders(void)
{
    const flow_result r =
        run("{'1': {'class_type': 'CLIPLoader', 'inputs': {'clip_name': 'l.safetensors', 'type': "
            "'stable_diffusion'}}, '9': {'class_type': 'CLIPSave', 'inputs': {'clip': ['1', 0], "
            "'filename_prefix': 'clip/x'}}}");
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1 && strstr(r.path[0], "/output/clip/x_clip_l_00001_.safetensors"));
    nino_weights *a = test_open("%s/models/text_encoders/l.safetensors", flow_temp());
    nino_weights *b = test_open("%s", r.path[0]);
    check_same(a, b);
    CHECK_STR(nino_weights_meta(b, "format"), "pt");
    CHECK_STR(nino_weights_meta(b, NINO_META_HEAD_CHANNELS), "96");
    nino_weights_unref(&a);
    nino_weights_unref(&b);
}

int main(void)
{
    const random_text l = { .width = 768, .layers = 1, .mlp = 64, .vocab = 300, .positions = 77 };
    test_dir root = { "" };
    char cmd[400];
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/models/diffusion_models %s/models/text_encoders",
             flow_temp(), flow_temp());
    CHECK(system(cmd) == 0);
    make_unet("a.safetensors", false);
    make_unet("b.safetensors", true);
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    nino_weights *w = random_text_file(&root, "l", &l, 1, NULL);
    nino_weights *told =
        test_copy_with_meta(w, nino_name_of("%s/models/text_encoders", root.path).s,
                            "l.safetensors", NINO_META_HEAD_CHANNELS, "96");
    nino_weights_unref(&told);
    nino_weights_unref(&w);
    ctx = flow_open("ref", NULL);
    models();
    encoders();
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
