// Files of control networks: what each is found to be, that every tensor is asked for and must have
// its size, that others are refused by their name, real sizes by plan, hints of shuffled colours, and
// networks that are for another model.
#include "core/model/control/control.h"
#include "core/model/detect.h"
#include "core/op/plan/plan.h"
#include "tests/diffusion.h"

static test_dir dir;
static nino_error err;

static const struct {
    const char *file, *family;
    const char *optional; // tensors that may be absent, beside biases; ends of names
} kinds[] = {
    { "control_sd15", "controlnet", NULL },
    { "control_sdxl_union", "controlnet_union", "task_embedding" },
    { "control_t2i_diffusers", "t2i_adapter", NULL },
    { "control_t2i_conv", "t2i_adapter", "down_opt.op.weight" },
    { "control_t2i_light", "t2i_adapter", NULL },
    { "control_flux_union", "controlnet_flux", "controlnet_mode_embedder.weight" },
    { "control_flux_xlabs", "controlnet_flux_xlabs", NULL },
    { "control_sd3", "controlnet_sd3", "pos_embed.pos_embed" },
    { "control_qwen", "controlnet_qwen_image", NULL },
    { "control_lora_sdxl", "control_lora", NULL },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static nino_weights *open_kind(size_t i)
{
    return test_open("tests/data/synth/%s.safetensors", kinds[i].file);
}

// Names and shapes of a file.
static net_list list_of(const nino_weights *w)
{
    net_list l = { 0 };
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        net_add(&l, t->name, t->rank, t->dim);
    }
    return l;
}

static bool ends(const char *name, const char *end)
{
    const size_t n = strlen(name), k = end ? strlen(end) : 0;
    return k && n >= k && !strcmp(name + n - k, end);
}

static nino_weights *saved(net_list *l, nino_dtype type)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/a.safetensors", dir.path);
    net_save(l, path, type, NET_SPARSE);
    return test_open("%s", path);
}

static void check_refused(nino_weights *w, nino_status want, const char *words)
{
    nino_control_net *c = NULL;
    memset(&err, 0, sizeof(err));
    const nino_status st = nino_control_load(w, "test", &c, &err);
    if (!st || c || !strstr(err.msg, words))
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    CHECK(!c && st && (!want || st == want) && strstr(err.msg, words));
    CHECK_STR(err.kind, "model");
    CHECK(err.where[0] && !strchr(err.msg, '\n'));
    nino_weights_unref(&w);
}

// Without one tensor, and with one of another first size; a tensor may be optional, but then another
// size of it is not.
static void check_each_tensor(size_t k)
{
    nino_weights *w = open_kind(k);
    const bool is_lora = !strcmp(kinds[k].family, "control_lora");
    int refused = 0, taken = 0;
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        const bool is_own =
            strstr(t->name, "input_hint_block.0.") || strstr(t->name, "middle_block_out.");
        const bool may_lack = ends(t->name, ".bias") || ends(t->name, kinds[k].optional);
        if (is_lora && (!is_own || may_lack)) // the rest: when it is bound
            continue;
        for (int way = 0; way < 2; way++) {
            if (way && (!t->rank || is_lora || strstr(t->name, "mode_embedder")))
                continue; // as many types as there are rows
            net_list l = test_net_damaged(list_of(w), t->name, way ? t->dim[0] + 1 : 0);
            nino_weights *bad = saved(&l, NINO_F16);
            nino_control_net *c = NULL;
            memset(&err, 0, sizeof(err));
            const nino_status st = nino_control_load(bad, "test", &c, &err);
            if (st) {
                CHECK_STR(err.kind, "model");
                CHECK(!c && err.where[0] && err.msg[0] && !strchr(err.msg, '\n'));
                refused++;
            } else {
                if (way || !may_lack)
                    printf("  %s: %s taken (%d)\n", kinds[k].file, t->name, way);
                CHECK(!way && may_lack);
                taken++;
            }
            nino_control_unref(&c);
            nino_weights_unref(&bad);
        }
    }
    printf("  %s: %d refused, %d of optional tensors taken\n", kinds[k].file, refused, taken);
    CHECK(refused >= 2);
    nino_weights_unref(&w);
}

static void check_kinds(void)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        nino_weights *w = open_kind(i);
        nino_control_net *c = NULL;
        nino_detected d;
        nino_detect(w, &d);
        CHECK(!d.diffusion[0] && !d.vae[0] && !d.upscale[0] && !d.is_lora && d.control[0]);
        CHECK_OK(nino_control_load(w, "test", &c, &err), err);
        CHECK_STR(c->family, kinds[i].family);
        CHECK(c->detail[0] && c->weight_bytes > 0 && !c->is_average);
        nino_control_unref(&c);
        CHECK_OK(nino_control_load(w, "sub/control_v11e_sd15_shuffle.pth", &c, &err), err);
        CHECK(c->is_average);
        nino_control_unref(&c);
        CHECK_OK(nino_control_load(w, "shuffle_fp16.pth", &c, &err), err);
        CHECK(!c->is_average);
        nino_control_unref(&c);
        nino_weights_unref(&w);
    }
}

// A mask is a channel more of the hint; another number is none's.
static void check_qwen_mask(void)
{
    static const int64_t features[] = { 64, 68, 72 };
    nino_weights *one = test_open("tests/data/synth/control_qwen.safetensors");
    for (int i = 0; i < 3; i++) {
        nino_control_net *c = NULL;
        net_list l = list_of(one);
        for (int k = 0; k < l.n; k++)
            if (!strcmp(l.t[k].name, "controlnet_x_embedder.weight"))
                l.t[k].dim[1] = features[i];
        nino_weights *w = saved(&l, NINO_F16);
        if (i == 2) {
            check_refused(w, NINO_ERR_FORMAT, "72 features where 64 are needed");
            continue;
        }
        CHECK_OK(nino_control_load(w, "test", &c, &err), err);
        CHECK(c->has_mask == (i == 1) && c->wants_vae);
        CHECK_STR(c->detail, i ? "ControlNet of Qwen-Image, inpainting, 2 blocks"
                               : "ControlNet of Qwen-Image, 2 blocks");
        nino_control_unref(&c);
        nino_weights_unref(&w);
    }
    nino_weights_unref(&one);
}

// Networks by a few of their tensors, and files that are something else.
static void check_others(void)
{
    static const int64_t one[] = { 4, 4 };
    static const struct {
        const char *words, *name[3];
    } others[] = {
        { "controlnet_hunyuan_dit", { "after_proj_list.18.bias" } },
        { "controlnet_flux_mistoline", { "controlnet_blocks.0.linear.weight" } },
        { "not a known control network", { "nothing.weight" } },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        net_list l = { 0 };
        for (int k = 0; k < 3 && others[i].name[k]; k++)
            net_add(&l, others[i].name[k], 2, one);
        check_refused(saved(&l, NINO_F32), i < 2 ? NINO_ERR_UNSUPPORTED : NINO_ERR_FORMAT,
                      others[i].words);
    }
    check_refused(test_open("tests/data/models/checkpoints/sd15_tiny.safetensors"), NINO_ERR_FORMAT,
                  "a diffusion model");
    check_refused(test_open("tests/data/models/vae/ae_tiny.safetensors"), NINO_ERR_FORMAT, "a VAE");
    test_refused_net(open_kind(0), NINO_ERR_FORMAT, "control network");
}

// ---- names alone -----------------------------------------------------------------------------
#define AUDIO "blocks.0.audio_cross_attn.proj.weight"
#define XLABS "double_blocks.0.img_attn.norm.key_norm.scale"
#define ADA "transformer_blocks.0.adaLN_modulation.1.bias"
#define TIME "time_text_embed.text_embedder.linear_1.weight"

// What each family is known by, in the order in which they are asked for; prefix: of its names.
static const struct {
    const char *family, *prefix, *name[4]; // NULL ends
} known[] = {
    { "controlnet_hunyuan_dit", "", { "after_proj_list.18.bias" } },
    { "model_patch_qwen_image", "", { "controlnet_blocks.0.y_rms.weight" } },
    { "model_patch_uso", "", { "feature_embedder.mid_layer_norm.bias" } },
    { "model_patch_z_image", "", { "control_all_x_embedder.2-1.weight" } },
    { "model_patch_multitalk", "", { "audio_proj.proj1.weight", AUDIO } },
    { "control_lora", "", { "lora_controlnet" } },
    { "controlnet_union", "", { "controlnet_cond_embedding.conv_in.weight", "task_embedding" } },
    { "controlnet", "", { "controlnet_cond_embedding.conv_in.weight" } },
    { "controlnet_flux_xlabs", "", { "controlnet_blocks.0.weight", XLABS } },
    { "controlnet_sd35", "", { "controlnet_blocks.0.weight", "pos_embed_input.proj.weight", ADA } },
    { "controlnet_sd3", "", { "controlnet_blocks.0.weight", "pos_embed_input.proj.weight" } },
    { "controlnet_flux",
      "",
      { "controlnet_blocks.0.weight", "controlnet_x_embedder.weight", TIME } },
    { "controlnet_qwen_image",
      "",
      { "controlnet_blocks.0.weight", "controlnet_x_embedder.weight" } },
    { "controlnet_flux_mistoline", "", { "controlnet_blocks.0.linear.weight" } },
    { "controlnet", "control_model.", { "control_model.zero_convs.0.0.weight" } },
    { "controlnet", "", { "zero_convs.0.0.weight" } },
    { "t2i_adapter", "adapter.", { "adapter.body.0.resnets.0.block1.weight" } },
    { "t2i_adapter", "", { "body.0.in_conv.weight", "body.0.body.0.block1.weight" } },
    { "t2i_adapter", "", { "conv_in.weight", "body.0.block1.weight" } },
    { "t2i_adapter", "adapter.", { "adapter.conv_in.weight", "adapter.body.0.block1.weight" } },
};
#define N_KNOWN ((int) (sizeof(known) / sizeof(known[0])))

static bool is_in(const net_list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->t[i].name, name))
            return true;
    return false;
}

// All names of a family but number `without`.
static void add_names(net_list *l, int family, int without)
{
    for (int k = 0; known[family].name[k]; k++)
        if (k != without && !is_in(l, known[family].name[k]))
            net_add(l, known[family].name[k], 1, (const int64_t[]){ 1 });
}

// The first family all of whose names are there.
static void check_found(net_list *l)
{
    nino_detected d = { .control = "" };
    int first = 0;
    for (bool has = false; !has && first < N_KNOWN; first += !has) {
        has = true;
        for (int k = 0; known[first].name[k]; k++)
            has = has && is_in(l, known[first].name[k]);
    }
    nino_weights *w = saved(l, NINO_F32);
    nino_detect_control(w, &d);
    CHECK_STR(d.control, first < N_KNOWN ? known[first].family : "");
    CHECK_STR(d.control_prefix, first < N_KNOWN ? known[first].prefix : "");
    nino_weights_unref(&w);
}

// Alone, in the company of another, and with one of its names absent.
static void check_known(void)
{
    for (int i = 0; i < N_KNOWN; i++)
        for (int k = 0; k < N_KNOWN; k++) {
            net_list l = { 0 };
            net_add(&l, "something.else", 1, (const int64_t[]){ 1 });
            add_names(&l, i, -1);
            add_names(&l, k, -1);
            check_found(&l);
        }
    for (int i = 0; i < N_KNOWN; i++)
        for (int k = 0; known[i].name[k]; k++) {
            net_list l = { 0 };
            net_add(&l, "something.else", 1, (const int64_t[]){ 1 });
            add_names(&l, i, k);
            check_found(&l);
        }
}

// ---- control-LoRA and differences ------------------------------------------------------------
static nino_model *model_of(const char *file, const char *family)
{
    nino_weights *w = test_open("tests/data/synth/%s.safetensors", file);
    nino_diffusion *d = test_diffusion(w, family);
    nino_model *m = nino_model_create(d);
    CHECK(m != NULL);
    nino_diffusion_unref(&d);
    nino_weights_unref(&w);
    return m;
}

static nino_status bind(nino_weights *w, nino_model *m, const char *words)
{
    nino_control_net *c = NULL, *bound = NULL;
    memset(&err, 0, sizeof(err));
    CHECK_OK(nino_control_load(w, "test", &c, &err), err);
    const nino_status st = nino_control_bind(c, m, &bound, &err);
    CHECK(!st == (bound != NULL));
    const bool is_said = strstr(err.msg, words) || strstr(err.where, words);
    if (st && !is_said)
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    CHECK(!st || (is_said && !strchr(err.msg, '\n') && err.where[0]));
    nino_control_unref(&bound);
    nino_control_unref(&c);
    return st;
}

static void check_lora(void)
{
    nino_model *xl = model_of("sdxl_unet_ch32", "sdxl"), *sd = model_of("sd15_unet_ch32", "sd15");
    nino_weights *w = test_open("tests/data/synth/control_lora_sdxl.safetensors");
    CHECK(!bind(w, xl, ""));
    CHECK(bind(w, sd, "it is for another one") == NINO_ERR_ARG);
    for (int way = 0; way < 4; way++) { // one row more of up, of down, of a bias; without a layer
        static const char *const names[] = { "input_blocks.1.0.in_layers.2.up",
                                             "input_blocks.1.0.in_layers.2.down",
                                             "input_blocks.1.0.in_layers.2.bias",
                                             "zero_convs.3.0.weight" };
        const int64_t rows[] = { 33, 5, 33, 0 };
        net_list l = test_net_damaged(list_of(w), names[way], rows[way]);
        nino_weights *bad = saved(&l, NINO_F16);
        CHECK(bind(bad, xl, way < 3 ? "in_layers.2" : "zero_convs.3"));
        nino_weights_unref(&bad);
    }
    net_list l = list_of(w); // a product of nothing
    for (int i = 0; i < l.n; i++) {
        if (!strcmp(l.t[i].name, "input_blocks.1.0.in_layers.2.up"))
            l.t[i].dim[1] = 0;
        if (!strcmp(l.t[i].name, "input_blocks.1.0.in_layers.2.down"))
            l.t[i].dim[0] = 0;
    }
    nino_weights *none = saved(&l, NINO_F16);
    CHECK(bind(none, xl, "it is for another one") == NINO_ERR_ARG);
    nino_weights_unref(&none);
    nino_weights_unref(&w);
    nino_model_unref(&xl);
    nino_model_unref(&sd);
}

// Values of one tensor.
static nino_array *values_of(const nino_weights *w, const char *name)
{
    nino_array *a = nino_weights_read_f32(w, nino_weights_find(w, name), &err);
    CHECK(a != NULL);
    return a;
}

// A file with "difference": the model's values are added to those that it has, too.
static void check_difference(void)
{
    static const int64_t none[] = { 1 };
    static const char name[] = "control_model.input_blocks.1.0.in_layers.2.weight";
    nino_model *m = model_of("sd15_unet_ch32", "sd15");
    nino_weights *first = test_open("tests/data/synth/control_sd15.safetensors");
    net_list l = list_of(first);
    char path[96];
    net_add(&l, "difference", 1, none);
    // its attention reads a text of another width, which the model's tensors do not fit
    snprintf(path, sizeof(path), "%s/diff.safetensors", dir.path);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    nino_control_net *c = NULL;
    CHECK_OK(nino_control_load_diff(w, "diff", m, &c, &err), err);
    nino_array *sum = values_of(c->file, name), *own = values_of(w, name);
    nino_array *base =
        values_of(m->net->file, "model.diffusion_model.input_blocks.1.0.in_layers.2.weight");
    for (int64_t i = 0; i < nino_shape_count(&sum->shape); i++)
        CHECK(nino_array_f32(sum)[i] == nino_array_f32(own)[i] + nino_array_f32(base)[i]);
    nino_array *all[] = { sum, own, base };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
    nino_control_unref(&c);
    nino_weights_unref(&w);
    CHECK_OK(nino_control_load_diff(first, "plain", m, &c, &err), err); // no difference: as it is
    CHECK(c->file == first);
    nino_control_unref(&c);
    nino_weights_unref(&first);
    nino_model_unref(&m);
}

int main(void)
{
    static const char *const files[] = { "a.safetensors", "diff.safetensors", NULL };
    dir = test_dir_create();
    check_kinds();
    for (size_t i = 0; i < N_KINDS; i++)
        check_each_tensor(i);
    check_qwen_mask();
    check_others();
    check_known();
    check_lora();
    check_difference();
    test_dir_remove(&dir, files);
    return 0;
}
