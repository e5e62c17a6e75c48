// Prompts of the models with a language model as text encoder: token ids in their templates, and the
// conditioning they become.
#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/clip.h"

static const char *data;
static test_services services_data;
static nino_text_services services;
static nino_error err;

static nino_clip *load(const char *name, nino_clip_type type)
{
    nino_clip *c = NULL;
    nino_weights *w = test_open("%s/models/text_encoders/%s.safetensors", data, name);
    CHECK_OK(nino_clip_load(&w, 1, type, &services, name, &c, &err), err);
    nino_weights_unref(&w);
    return c;
}

static nino_json_doc *vectors(const char *name)
{
    char path[512], *text;
    size_t len;
    nino_json_doc *doc;
    snprintf(path, sizeof(path), "%s/vectors/%s.json", data, name);
    CHECK_OK(nino_file_read(path, 64 << 20, false, &text, &len, &err), err);
    CHECK_OK(nino_json_parse(text, len, name, NULL, &doc, &err), err);
    free(text);
    return doc;
}

static bool same(const nino_prompt *p, const nino_json *ids, int n)
{
    int i = 0;
    for (const nino_json *v = ids->child; v; v = v->next, i++) {
        int64_t id;
        if (i >= p->chunk_len || !nino_json_i64(v, &id) || p->tokens[i].id != id)
            return false;
    }
    for (; i < n && i < p->chunk_len; i++) // padding
        if (p->tokens[i].attend || p->tokens[i].id != p->tokens[n - 1].id)
            return false;
    return i == n && p->chunk_len == n;
}

// Every case of a list: its ids under `key`, padded to `len` of the case where that is there, and the
// rows that are cut.
static void check_ids(const nino_clip *c, const nino_json_doc *doc, const char *list,
                      const char *key)
{
    int n = 0;
    for (const nino_json *t = nino_json_get(doc->root, list)->child; t; t = t->next, n++) {
        const nino_json *ids = nino_json_get(t, key);
        const char *kind = nino_json_str(nino_json_get(t, "kind"));
        const char *text = nino_json_get(t, "text")->text;
        int64_t len = ids->count, drop = 0;
        char marked[8192];
        nino_prompt p;
        int first;
        nino_json_i64(nino_json_get(t, "len"), &len);
        nino_json_i64(nino_json_get(t, "drop"), &drop);
        const char *i = kind && strstr(kind, "with image") ? "" : NULL;
        if (kind && strstr(kind, "image1"))
            i = "Picture 1: ";
        if (kind && strstr(kind, "image2"))
            i = "Picture 2: ";
        const char *mark = "<|vision_start|><|image_pad|><|vision_end|>";
        snprintf(marked, sizeof(marked), "%s%s%s", i ? i : "", i ? mark : "", text);
        if (kind && strstr(kind, "3 images"))
            snprintf(marked, sizeof(marked), "Picture 1: %sPicture 2: %sPicture 3: %s%s", mark,
                     mark, mark, text);
        const nino_clip_text in = { .all = marked, .has_pictures = kind && strcmp(kind, "text") };
        CHECK_OK(nino_clip_prompt_llm(c, &in, &p, &first, &err), err);
        drop = drop < 0 ? len - 1 : drop; // -1: the last row
        if (!same(&p, ids, (int) len) || first != drop) {
            fprintf(stderr, "%s %s %s: other ids, or cut at %d\n", c->name, list, text, first);
            for (int k = 0; k < p.chunk_len; k++)
                fprintf(stderr, "%d ", p.tokens[k].id);
            exit(1);
        }
        nino_prompt_release(&p);
    }
    printf("  %s %s: %d prompts the same\n", c->name, list, n);
    CHECK(n > 0);
}

// With the mask of that name, or none.
static void check_cond(test_device *d, const nino_clip *c, const char *prompt,
                       const nino_weights *ref, const char *name, const char *mask)
{
    nino_cond *cond = test_clip_encode(d->s, c, &(nino_clip_text){ .all = prompt });
    nino_array *want = test_tensor(ref, name, false);
    const double e = test_nmse(cond->entry[0].context, want);
    printf("  %s %s: NMSE %.1e\n", c->name, name, e);
    CHECK(e <= 1e-6 && !cond->entry[0].context_mask == !mask);
    nino_array *hidden = mask ? test_tensor(ref, mask, false) : NULL;
    CHECK(!mask || !memcmp(hidden->data, cond->entry[0].context_mask->data, hidden->bytes));
    nino_array_unref(&hidden);
    nino_array_unref(&want);
    nino_cond_unref(&cond);
}

// One that was made beside a run of the reference; the project's own data have none.
static void check_run(test_device *d, const nino_clip *c, const char *prompt, const char *file,
                      const char *name)
{
    if (test_data_is_own(data))
        return;
    nino_weights *ref = test_open("%s/e2e_2026/expected/%s_tiny_ref.safetensors", data, file);
    check_cond(d, c, prompt, ref, name, NULL);
    nino_weights_unref(&ref);
}

static void qwen3(test_device *d)
{
    nino_json_doc *ids = vectors("qwen_token_ids");
    nino_weights *io = test_open("%s/synth/qwen3_tiny_io.safetensors", data);
    nino_clip *z = load("qwen3_tiny_fp8_e4m3fn", NINO_CLIP_Z_IMAGE);
    nino_clip *klein = load("qwen3_tiny_fp8_e4m3fn", NINO_CLIP_KLEIN);
    CHECK(z->type == NINO_CLIP_Z_IMAGE && klein->type == NINO_CLIP_KLEIN);
    check_ids(z, ids, "cases", "z_image");
    check_ids(klein, ids, "klein", "head");
    check_cond(d, z, "a photo of a cat", io, "z0/out", NULL);
    check_cond(d, z, "", io, "z1/out", NULL);
    check_cond(d, klein, "a photo of a cat", io, "klein/out", NULL);
    check_run(d, z, "a photo of a cat", "z_image", "turbo/cond");
    check_run(d, klein, "make it night", "flux2_klein", "edit1/cond");
    nino_weights_unref(&io);
    nino_clip_unref(&z);
    nino_clip_unref(&klein);
    nino_json_doc_destroy(&ids);
}

static void mistral(test_device *d)
{
    nino_json_doc *ids = vectors("mistral_tiny_token_ids");
    nino_weights *io = test_open("%s/synth/mistral3_tiny_io.safetensors", data);
    nino_clip *c = load("mistral3_tiny_fp8_e4m3fn", NINO_CLIP_SD1); // whatever the type says
    CHECK(c->type == NINO_CLIP_FLUX2_DEV);
    check_ids(c, ids, "cases", "ids");
    check_cond(d, c, "a photo of a cat", io, "0/out", NULL);
    check_run(d, c, "make it night", "flux2_dev", "fp8mixed_edit1/cond");
    nino_weights_unref(&io);
    nino_clip_unref(&c);
    nino_json_doc_destroy(&ids);
}

// Pictures of different sizes: places of their cells, and of the words behind them. A pair that turns
// by a wrong axis changes little: 1.5e-9 at the end of the second section.
static void two_pictures(test_device *d, const nino_clip *c)
{
    nino_weights *io = test_open("%s/synth/qwen25_vl_tiny_io.safetensors", data);
    nino_array *one = test_tensor(io, "vis_image", false),
               *two = test_tensor(io, "vis2_image", false);
    nino_array *want = test_tensor(io, "mm_cond", false);
    const nino_clip_text text = {
        .all = "Picture 1: <|vision_start|><|image_pad|><|vision_end|>Picture 2: "
               "<|vision_start|><|image_pad|><|vision_end|>swap the two",
        .has_pictures = true,
        .pictures = (const nino_array *const[]){ one, two },
        .n_pictures = 2,
    };
    nino_cond *cond = test_clip_encode(d->s, c, &text);
    CHECK(nino_shape_equal(&cond->entry[0].context->shape, &want->shape));
    const double e = test_nmse(cond->entry[0].context, want);
    printf("  %s mm_cond: NMSE %.1e\n", c->name, e);
    CHECK(e <= 1e-10 && !cond->entry[0].context_mask);
    nino_cond_unref(&cond);
    nino_array_unref(&one);
    nino_array_unref(&two);
    nino_array_unref(&want);
    nino_weights_unref(&io);
}

static void qwen25(test_device *d)
{
    nino_json_doc *ids = vectors("qwen25_token_ids");
    nino_weights *io = test_open("%s/synth/qwen25_vl_tiny_io.safetensors", data);
    nino_clip *c = load("qwen_2.5_vl_7b_tiny", NINO_CLIP_QWEN_IMAGE);
    check_ids(c, ids, "wrapped", "ids");
    check_cond(d, c, "a photo of a cat, \"\xe4\xbd\xa0\xe5\xa5\xbd\"", io, "text_cond", NULL);
    check_cond(d, c, "a cat<|endoftext|> not seen", io, "mask_cond", "mask_cond_mask");
    check_run(d, c, "a red bicycle leaning on a wall", "qwen", "qwen_t2i_fp8_scaled/cond");
    check_run(d, c, "", "qwen", "qwen_t2i_lora_lightning/uncond");
    two_pictures(d, c);
    nino_weights_unref(&io);
    nino_clip_unref(&c);
    nino_json_doc_destroy(&ids);
}

int main(void)
{
    while ((data = test_data_next(data))) {
        test_device d;
        printf("%s\n", data);
        services = test_services_open(&services_data, data);
        services.embedding = NULL; // the vectors know of no folder of them
        CHECK(test_device_open(&d, "ref", 0));
        qwen3(&d);
        mistral(&d);
        qwen25(&d);
        test_device_close(&d);
        test_services_close(&services_data);
    }
    return 0;
}
