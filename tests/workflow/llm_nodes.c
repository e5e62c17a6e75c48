// Language models through a context: the types of CLIPLoader, the eyes that lie beside a GGUF file,
// prompts with pictures, their references; planned, as only sizes matter here.
#include "core/run/context.h"
#include "core/node/param.h"
#include "core/node/util.h"
#include "core/op/plan/plan.h"
#include "tests/flow.h"
#include "tests/clip.h"
#include "tests/random_llm.h"

#include <sys/stat.h>

static nino_ctx *ctx;
static nino_stream *stream;
static nino_error err;
static nino_value *out[4];

static nino_name below(const char *path) { return nino_name_of("%s/%s", flow_temp(), path); }

// Runs a node with one text parameter and one word, each may be NULL.
static nino_status run(const char *key, nino_value *const *in, const char *text_key,
                       const char *text, const char *word)
{
    const nino_node_def *def = nino_node_find(key, NULL);
    CHECK(def);
    void *params = calloc(1, def->params_size);
    nino_params_init(def, params);
    nino_default v = { .s = text };
    nino_param_store(nino_param_find(def, text_key), params, &v);
    if (word) {
        const nino_param *p = nino_param_find(def, "type");
        v.i = 0;
        while (strcmp(p->names[v.i], word) != 0)
            v.i++;
        nino_param_store(p, params, &v);
    }
    for (int i = 0; i < 4; i++)
        nino_value_unref(&out[i]);
    nino_run r = { .ctx = ctx,
                   .stream = stream,
                   .node_id = "1",
                   .def = def,
                   .params = params,
                   .in = in,
                   .out = out,
                   .is_plan = true,
                   .log = nino_ctx_log(ctx) };
    err = (nino_error){ 0 };
    const nino_status st = def->ops->run(&r, &err);
    free(params);
    return st;
}

static void loader(const char *key, const char *file, const char *word, nino_clip_type type)
{
    CHECK_OK(run(key, NULL, "clip_name", file, word), err);
    CHECK(out[0]->u.clip->type == type);
}

static void types(void)
{
    loader("CLIPLoader", "qwen3_tiny_fp8_e4m3fn.safetensors", "lumina2", NINO_CLIP_Z_IMAGE);
    loader("CLIPLoader", "qwen3_tiny_fp8_e4m3fn.safetensors", "stable_diffusion",
           NINO_CLIP_Z_IMAGE);
    loader("CLIPLoader", "qwen3_tiny_fp8_e4m3fn.safetensors", "flux2", NINO_CLIP_KLEIN);
    loader("CLIPLoader", "mistral3_tiny_fp8_e4m3fn.safetensors", "flux2", NINO_CLIP_FLUX2_DEV);
    loader("CLIPLoader", "qwen_2.5_vl_7b_tiny.safetensors", "qwen_image", NINO_CLIP_QWEN_IMAGE);
}

static nino_value *image(int64_t n, int64_t h, int64_t w)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(n, h, w, 3));
    nino_value *v = nino_value_create(NINO_PORT_IMAGE);
    CHECK(a && v);
    for (int64_t i = 0; i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = (float) (i * 31 % 97) / 96;
    v->u.image = a;
    return v;
}

static int64_t rows(void) { return out[0]->u.cond->entry[0].context->shape.dim[1]; }

// Rows that a picture of so many cells adds to a prompt, and what is kept of it.
static void pictures(void)
{
    nino_value *in[5] = { NULL };
    nino_value *v = image(2, 100, 400);
    CHECK_OK(run("CLIPLoader", NULL, "clip_name", "qwen_2.5_vl_7b_tiny.safetensors", "qwen_image"),
             err);
    in[0] = nino_value_ref(out[0]);
    CHECK_OK(run("TextEncodeQwenImageEdit", in, "prompt", "blue", NULL), err);
    const int64_t plain = rows();
    CHECK_OK(run("CLIPTextEncode", in, "text", "blue", NULL), err);
    CHECK(rows() == plain); // no picture: as any prompt
    CHECK_OK(run("TextEncodeQwenImageEditPlus", in, "prompt", "blue", NULL), err);
    CHECK(rows() == plain); // the other system text is cut off
    in[3] = v;              // slot 2, to 768 x 192 pixels, 27 x 7 cells; marks around
    CHECK_OK(run("TextEncodeQwenImageEditPlus", in, "prompt", "blue", NULL), err);
    const int64_t one = rows();
    CHECK(one > plain + 27 * 7 && one < plain + 27 * 7 + 16 && !out[0]->u.cond->entry[0].n_refs);
    in[4] = v;
    CHECK_OK(run("TextEncodeQwenImageEditPlus", in, "prompt", "blue", NULL), err);
    CHECK(rows() - one == one - plain);
    in[3] = in[4] = NULL;
    in[2] = v; // 2048 x 512: 73 x 18 cells
    CHECK_OK(run("TextEncodeQwenImageEdit", in, "prompt", "blue", NULL), err);
    CHECK(rows() == plain + 73 * 18 + 2);
    nino_value_unref(&in[0]);
    nino_value_unref(&v);
}

static void references(void)
{
    nino_value *in[5] = { NULL }, *v = image(1, 40, 60);
    CHECK_OK(run("CLIPLoader", NULL, "clip_name", "qwen_2.5_vl_7b_tiny.safetensors", "qwen_image"),
             err);
    in[0] = nino_value_ref(out[0]);
    CHECK_OK(run("VAELoader", NULL, "vae_name", "ae_tiny.safetensors", NULL), err);
    in[1] = nino_value_ref(out[0]);
    in[2] = v;
    CHECK_OK(run("TextEncodeQwenImageEdit", in, "prompt", "blue", NULL), err);
    const nino_cond_entry *e = &out[0]->u.cond->entry[0];
    CHECK(e->n_refs == 1 && e->refs[0]->shape.dim[1] == 104 && e->refs[0]->shape.dim[2] == 156);
    in[4] = v; // slots 1 and 3 of Plus: references of 1256 x 840, in their order
    CHECK_OK(run("TextEncodeQwenImageEditPlus", in, "prompt", "blue", NULL), err);
    e = &out[0]->u.cond->entry[0];
    CHECK(e->n_refs == 2 && e->refs[1]->shape.dim[1] == 105 && e->refs[1]->shape.dim[2] == 157);
    nino_value_unref(&in[0]);
    nino_value_unref(&in[1]);
    nino_value_unref(&v);
}

// A GGUF file, blind until its eyes are put beside it.
static void mmproj(void)
{
    nino_weights *w = test_open("tests/data/models/text_encoders/qwen_2.5_vl_7b_tiny.safetensors");
    static const char model[] = "qwen/Qwen2.5-VL-tiny-UD-Q4_K_XL.gguf";
    nino_value *in[5] = { NULL }, *v = image(1, 60, 60);
    gguf_llm_save(w, "model.", "qwen2vl", false, 0,
                  below("models/text_encoders/qwen/Qwen2.5-VL-tiny-UD-Q4_K_XL.gguf").s);
    CHECK_OK(run("CLIPLoader", NULL, "clip_name", model, "qwen_image"), err);
    in[0] = nino_value_ref(out[0]);
    in[2] = v;
    CHECK(run("TextEncodeQwenImageEdit", in, "prompt", "blue", NULL) == NINO_ERR_MISSING);
    CHECK(strstr(err.msg, "mmproj"));
    nino_value_unref(&in[0]);
    gguf_llm_save(w, "visual.", "clip", false, 0,
                  below("models/text_encoders/qwen/Other-7B-mmproj-F16.gguf").s);
    CHECK_OK(run("CLIPLoader", NULL, "clip_name", model, "qwen_image"), err);
    CHECK(!nino_clip_eyes(out[0]->u.clip)); // another model's
    gguf_llm_save(w, "visual.", "clip", false, 0,
                  below("models/text_encoders/qwen/qwen2.5-vl-tiny-mmproj-F16.gguf").s);
    CHECK_OK(run("CLIPLoader", NULL, "clip_name", model, "qwen_image"), err);
    in[0] = nino_value_ref(out[0]);
    CHECK(nino_clip_eyes(in[0]->u.clip));
    CHECK_OK(run("TextEncodeQwenImageEdit", in, "prompt", "blue", NULL), err);
    nino_value_unref(&in[0]);
    nino_value_unref(&v);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const folders[] = { "models", "models/text_encoders",
                                           "models/text_encoders/qwen" };
    for (int i = 0; i < 3; i++)
        CHECK(mkdir(below(folders[i]).s, 0777) == 0);
    ctx = flow_open("ref", "tests/data");
    nino_backend *be = nino_plan_open(&nino_profile_ref, 0, NULL, &err); // pictures are big
    stream = nino_stream_create(&(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 },
                                &err);
    CHECK(be && stream);
    types();
    mmproj();
    pictures();
    references();
    for (int i = 0; i < 4; i++)
        nino_value_unref(&out[i]);
    nino_stream_destroy(&stream);
    nino_backend_close(&be);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
