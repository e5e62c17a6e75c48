// Text nodes through a context: files, tokenizers and embeddings found in the model folders, what
// each node's parameters become, sharing and reloading of encoders, what is said about wrong ones.
#include "core/run/context.h"
#include "core/node/param.h"
#include "core/node/util.h"
#include "tests/flow.h"
#include "tests/random_text.h"

#include <sys/stat.h>

static nino_ctx *ctx;
static nino_stream *stream;
static nino_error err;
static char log_text[512];

static nino_name below(const char *path) { return nino_name_of("%s/%s", flow_temp(), path); }

static void keep_log(void *priv, nino_log_level level, const char *line)
{
    (void) priv;
    if (level <= NINO_LOG_WARN)
        snprintf(log_text, sizeof(log_text), "%s", line);
}

// ---- files -----------------------------------------------------------------------------------

static void make_file(const char *path, const random_text *t, int n)
{
    test_dir root = { "" };
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    nino_weights *w = random_text_file(&root, path, t, n, NULL);
    nino_weights_unref(&w);
}

static void make_models(void)
{
    static const char *const folders[] = { "models", "models/tokenizers", "models/tokenizers/clip",
                                           "models/tokenizers/t5", "models/embeddings" };
    const random_text l = { .width = 32, .layers = 3, .mlp = 48 };
    const random_text g = { .width = 40, .layers = 3, .mlp = 48, .seed = 1 };
    const random_text t5 = { .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 3 };
    const random_text umt5 = {
        .width = 24, .layers = 2, .mlp = 40, .is_t5 = true, .heads = 3, .is_umt5 = true
    };
    const random_text ckpt = {
        .prefix = "cond_stage_model.transformer.", .width = 32, .layers = 3, .mlp = 48
    };
    const random_text bad = {
        .prefix = "cond_stage_model.transformer.", .width = 30, .layers = 1, .mlp = 48, .vocab = 8
    };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        CHECK(mkdir(below(folders[i]).s, 0777) == 0);
    make_file("models/text_encoders/l.safetensors", &l, 1);
    make_file("models/text_encoders/g.safetensors", &g, 1);
    make_file("models/clip/t5.safetensors", &t5, 1); // the former folder
    make_file("models/text_encoders/umt5.safetensors", &umt5, 1);
    make_file("models/checkpoints/sd.safetensors", &ckpt, 1);
    make_file("models/checkpoints/bad.safetensors", &bad, 1);
    random_text_clip_tokenizer(below("models/tokenizers/clip").s);
    nino_buf model = random_text_spiece();
    FILE *f = fopen(below("models/tokenizers/t5/spiece.model").s, "w");
    CHECK(f && fwrite(model.data, 1, model.len, f) == model.len && fclose(f) == 0);
    nino_buf_release(&model);
    nino_array *v = nino_array_create(NINO_F32, NINO_SHAPE(1, 32));
    const nino_st_entry e[] = { { "emb_params", v } };
    CHECK_OK(
        nino_st_save(flow_temp(), "models/embeddings/zero.safetensors", true, e, 1, NULL, 0, &err),
        err);
    nino_array_unref(&v);
}

// ---- running one node ------------------------------------------------------------------------

typedef struct setting {
    const char *key, *text; // text NULL: number
    double number;
} setting;

typedef struct node {
    const nino_node_def *def;
    void *params;
    nino_value *out[4];
} node;

static void set_all(node *n, const setting *s)
{
    n->params = calloc(1, n->def->params_size);
    CHECK(n->params);
    nino_params_init(n->def, n->params);
    for (; s->key; s++) {
        const nino_param *p = nino_param_find(n->def, s->key);
        nino_default v = { 0 };
        CHECK(p);
        if (p->type == NINO_ENUM)
            while (strcmp(p->names[v.i], s->text))
                v.i++;
        else if (s->text)
            v.s = s->text;
        else if (p->type == NINO_FLOAT)
            v.f = s->number;
        else if (p->type == NINO_BOOL)
            v.b = s->number != 0;
        else
            v.i = (int64_t) s->number;
        nino_param_store(p, n->params, &v);
    }
}

static nino_status run(node *n, const char *key, nino_value *in, const setting *settings)
{
    *n = (node){ .def = nino_node_find(key, NULL) };
    CHECK(n->def);
    set_all(n, settings);
    nino_run r = { .ctx = ctx,
                   .stream = stream,
                   .node_id = "1",
                   .def = n->def,
                   .params = n->params,
                   .in = &in,
                   .out = n->out,
                   .log = nino_ctx_log(ctx) };
    err = (nino_error){ 0 };
    return n->def->ops->run(&r, &err);
}

static void release(node *n)
{
    for (int i = 0; i < 4; i++)
        nino_value_unref(&n->out[i]);
    free(n->params);
}

static nino_value *load(const char *key, const setting *settings)
{
    node n;
    CHECK_OK(run(&n, key, NULL, settings), err);
    nino_value *v = nino_value_ref(n.out[0]);
    CHECK(v && v->type == NINO_PORT_CLIP && v->u.clip);
    release(&n);
    return v;
}

static const nino_cond_entry *entry_of(const node *n)
{
    const nino_value *v = n->out[0];
    CHECK(v && v->type == NINO_PORT_CONDITIONING && v->u.cond && v->u.cond->n == 1);
    CHECK(nino_value_bytes(v) > v->u.cond->entry[0].context->bytes);
    return &v->u.cond->entry[0];
}

static bool has_shape(const nino_cond_entry *e, int64_t rows, int64_t width, int64_t pooled)
{
    return e->context->shape.dim[1] == rows && e->context->shape.dim[2] == width &&
           (e->pooled ? e->pooled->shape.dim[1] : 0) == pooled;
}

static const setting end[1];

// ---- tests -----------------------------------------------------------------------------------

static void test_loaders(void)
{
    const setting l[] = { { "clip_name", "l.safetensors", 0 }, { NULL, NULL, 0 } };
    nino_value *a = load("CLIPLoader", l), *b = load("CLIPLoader", l);
    CHECK(a == b && a->u.clip->type == NINO_CLIP_SD1); // shared
    nino_value_unref(&a);
    nino_value_unref(&b);
    const setting wan[] = { { "clip_name", "umt5.safetensors", 0 },
                            { "type", "wan", 0 },
                            { NULL, NULL, 0 } };
    a = load("CLIPLoader", wan);
    CHECK(a->u.clip->type == NINO_CLIP_WAN);
    nino_value_unref(&a);
    const setting flux[] = { { "clip_name1", "t5.safetensors", 0 },
                             { "clip_name2", "l.safetensors", 0 },
                             { "type", "flux", 0 },
                             { NULL, NULL, 0 } };
    a = load("DualCLIPLoader", flux);
    CHECK(a->u.clip->type == NINO_CLIP_FLUX);
    CHECK_STR(a->u.clip->name, "t5.safetensors + l.safetensors");
    nino_value_unref(&a);
    const setting sd3[] = { { "clip_name1", "t5.safetensors", 0 },
                            { "clip_name2", "g.safetensors", 0 },
                            { "clip_name3", "l.safetensors", 0 },
                            { NULL, NULL, 0 } };
    a = load("TripleCLIPLoader", sd3);
    CHECK(a->u.clip->type == NINO_CLIP_SD3 && a->u.clip->enc[NINO_ENC_CLIP_G]->width == 40);
    nino_value_unref(&a);

    node n;
    const setting cosmos[] = { { "clip_name", "l.safetensors", 0 },
                               { "type", "cosmos", 0 },
                               { NULL, NULL, 0 } };
    CHECK(run(&n, "CLIPLoader", NULL, cosmos) == NINO_ERR_UNSUPPORTED);
    CHECK_STR(err.where, "type");
    CHECK(strstr(err.msg, "cosmos"));
    release(&n);
    const setting lumina[] = { { "clip_name", "l.safetensors", 0 },
                               { "type", "lumina2", 0 },
                               { NULL, NULL, 0 } };
    CHECK(run(&n, "CLIPLoader", NULL, lumina) == NINO_ERR_FORMAT);
    CHECK(strstr(err.msg, "it holds a CLIP-L; the text encoder of Z-Image is Qwen3"));
    release(&n);
    const setting none[] = { { "clip_name", "none.safetensors", 0 }, { NULL, NULL, 0 } };
    CHECK(run(&n, "CLIPLoader", NULL, none) == NINO_ERR_MISSING);
    release(&n);
}

static void test_prompts(void)
{
    const setting l[] = { { "clip_name", "l.safetensors", 0 }, { NULL, NULL, 0 } };
    nino_value *clip = load("CLIPLoader", l);
    const setting cat[] = { { "text", "cat", 0 }, { NULL, NULL, 0 } };
    node a, b, c;
    CHECK_OK(run(&a, "CLIPTextEncode", clip, cat), err);
    CHECK(has_shape(entry_of(&a), 77, 32, 32) && !entry_of(&a)->has_size &&
          !entry_of(&a)->has_guidance);
    const setting minus_2[] = { { "stop_at_clip_layer", NULL, -2 }, { NULL, NULL, 0 } };
    CHECK_OK(run(&b, "CLIPSetLastLayer", clip, minus_2), err);
    CHECK(b.out[0]->u.clip->layer == -2 && clip->u.clip->layer == 0 &&
          nino_value_shares(clip, b.out[0]));
    CHECK_OK(run(&c, "CLIPTextEncode", b.out[0], cat), err);
    CHECK(memcmp(entry_of(&c)->context->data, entry_of(&a)->context->data, 77 * 32 * 4));
    release(&b);
    release(&c);
    log_text[0] = 0;
    const setting zero[] = { { "text", "cat embedding:zero", 0 }, { NULL, NULL, 0 } };
    CHECK_OK(run(&b, "CLIPTextEncode", clip, zero), err);
    CHECK(!log_text[0] &&
          memcmp(entry_of(&b)->context->data, entry_of(&a)->context->data, 77 * 32 * 4));
    release(&b);
    const setting gone[] = { { "text", "cat embedding:gone", 0 }, { NULL, NULL, 0 } };
    CHECK_OK(run(&b, "CLIPTextEncode", clip, gone), err);
    CHECK(strstr(log_text, "gone") &&
          !memcmp(entry_of(&b)->context->data, entry_of(&a)->context->data, 77 * 32 * 4));
    release(&b);
    release(&a);
    nino_value_unref(&clip);
}

static void test_flux(void)
{
    const setting files[] = { { "clip_name1", "t5.safetensors", 0 },
                              { "clip_name2", "l.safetensors", 0 },
                              { "type", "flux", 0 },
                              { NULL, NULL, 0 } };
    nino_value *clip = load("DualCLIPLoader", files);
    const setting both[] = {
        { "clip_l", "cat", 0 }, { "t5xxl", "dog", 0 }, { "guidance", NULL, 2.5 }, { NULL, NULL, 0 }
    };
    const setting cat[] = { { "text", "cat", 0 }, { NULL, NULL, 0 } },
                  dog[] = { { "text", "dog", 0 }, { NULL, NULL, 0 } };
    node a, b, c;
    CHECK_OK(run(&a, "CLIPTextEncodeFlux", clip, both), err);
    CHECK_OK(run(&b, "CLIPTextEncode", clip, cat), err);
    CHECK_OK(run(&c, "CLIPTextEncode", clip, dog), err);
    const nino_cond_entry *e = entry_of(&a);
    CHECK(has_shape(e, 256, 24, 32) && e->has_guidance && e->guidance == 2.5);
    CHECK(!memcmp(e->context->data, entry_of(&c)->context->data, e->context->bytes));
    CHECK(!memcmp(e->pooled->data, entry_of(&b)->pooled->data, e->pooled->bytes));
    release(&a);
    release(&b);
    release(&c);
    nino_value_unref(&clip);
}

static void test_sizes(void)
{
    const setting files[] = { { "clip_name1", "l.safetensors", 0 },
                              { "clip_name2", "g.safetensors", 0 },
                              { "type", "sdxl", 0 },
                              { NULL, NULL, 0 } };
    nino_value *clip = load("DualCLIPLoader", files);
    const setting sdxl[] = {
        { "width", NULL, 640 }, { "height", NULL, 480 },        { "crop_w", NULL, 8 },
        { "crop_h", NULL, 16 }, { "target_width", NULL, 1024 }, { "target_height", NULL, 768 },
        { "text_g", "dog", 0 }, { "text_l", "cat", 0 },         { NULL, NULL, 0 }
    };
    node n;
    CHECK_OK(run(&n, "CLIPTextEncodeSDXL", clip, sdxl), err);
    const nino_cond_entry *e = entry_of(&n);
    CHECK(has_shape(e, 77, 72, 40) && e->has_size && !e->has_aesthetic_score);
    CHECK(e->width == 640 && e->height == 480 && e->crop_w == 8 && e->crop_h == 16 &&
          e->target_w == 1024 && e->target_h == 768);
    release(&n);
    const setting refiner[] = { { "ascore", NULL, 2.5 },
                                { "width", NULL, 512 },
                                { "height", NULL, 256 },
                                { "text", "cat", 0 },
                                { NULL, NULL, 0 } };
    CHECK_OK(run(&n, "CLIPTextEncodeSDXLRefiner", clip, refiner), err);
    e = entry_of(&n);
    CHECK(e->has_size && e->width == 512 && e->height == 256 && e->has_aesthetic_score &&
          e->aesthetic_score == 2.5);
    release(&n);
    nino_value_unref(&clip);

    const setting three[] = { { "clip_name1", "t5.safetensors", 0 },
                              { "clip_name2", "g.safetensors", 0 },
                              { "clip_name3", "l.safetensors", 0 },
                              { NULL, NULL, 0 } };
    clip = load("TripleCLIPLoader", three);
    setting sd3[] = { { "clip_l", "cat", 0 },
                      { "clip_g", "", 0 },
                      { "t5xxl", "", 0 },
                      { "empty_padding", "empty_prompt", 0 },
                      { NULL, NULL, 0 } };
    CHECK_OK(run(&n, "CLIPTextEncodeSD3", clip, sd3), err);
    CHECK(has_shape(entry_of(&n), 154, 72, 72));
    release(&n);
    sd3[3].text = "none";
    CHECK_OK(run(&n, "CLIPTextEncodeSD3", clip, sd3), err);
    CHECK(has_shape(entry_of(&n), 78, 72, 72));
    release(&n);
    nino_value_unref(&clip);
}

static void test_checkpoint(void)
{
    const setting sd[] = { { "ckpt_name", "sd.safetensors", 0 }, { NULL, NULL, 0 } };
    const setting again[] = { { "ckpt_name", "sd.safetensors", 0 },
                              { "force_reload", NULL, 1 },
                              { NULL, NULL, 0 } };
    const setting bad[] = { { "ckpt_name", "bad.safetensors", 0 }, { NULL, NULL, 0 } };
    const setting cat[] = { { "text", "cat", 0 }, { NULL, NULL, 0 } };
    node a, b, n;
    CHECK_OK(run(&a, "CheckpointLoaderSimple", NULL, sd), err);
    CHECK_OK(run(&b, "ROCMOptimizedCheckpointLoader", NULL, sd), err);
    CHECK(a.out[1] && a.out[1] == b.out[1] && a.out[1]->u.clip->type == NINO_CLIP_SD1);
    release(&b);
    CHECK_OK(run(&b, "ROCMOptimizedCheckpointLoader", NULL, again), err);
    CHECK(b.out[1] && a.out[1] != b.out[1] && !nino_value_shares(a.out[1], b.out[1]));
    CHECK_OK(run(&n, "CLIPTextEncode", b.out[1], cat), err);
    CHECK(has_shape(entry_of(&n), 77, 32, 32));
    release(&n);
    release(&a);
    release(&b);

    CHECK_OK(run(&a, "CheckpointLoaderSimple", NULL, bad), err); // the rest of it may be of use
    CHECK(a.out[1] && !a.out[1]->u.clip);
    CHECK(run(&n, "CLIPTextEncode", a.out[1], cat) == NINO_ERR_UNSUPPORTED);
    CHECK(strstr(err.where, "bad.safetensors") && strstr(err.msg, "4 heads"));
    release(&n);
    CHECK(run(&n, "CLIPSetLastLayer", a.out[1], end) == NINO_ERR_UNSUPPORTED);
    release(&n);
    release(&a);
}

int main(void)
{
    const char *roots[2] = { NULL, NULL };
    nino_name models;
    make_models();
    models = below("models");
    roots[0] = models.s;
    ctx = nino_ctx_create(
        &(nino_ctx_params){ NINO_CTX_PARAMS_INIT, .device = "ref", .log = keep_log,
                            .log_level = NINO_LOG_WARN,
                            .job = &(nino_job_options){ NINO_JOB_OPTIONS_INIT, .models = roots } },
        &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    stream = nino_stream_create(
        &(nino_stream_params){ .backend = nino_ctx_backend(ctx), .precision = NINO_PREC_F32 },
        &err);
    CHECK(stream);
    test_loaders();
    test_prompts();
    test_flux();
    test_sizes();
    test_checkpoint();
    nino_stream_destroy(&stream);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
