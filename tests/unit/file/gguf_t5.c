// A T5 and a UMT5 in GGUF files with llama.cpp's names encode to what they do as safetensors, with
// the tokenizer of the folders and with that of the file's metadata.
#include "core/base/file.h"
#include "tests/gguf_tokens.h"
#include "tests/random_text.h"

static test_dir dir;
static nino_error err;

static const char *const leaves[][2] = {
    { "layer.0.SelfAttention.q.weight", "attn_q.weight" },
    { "layer.0.SelfAttention.k.weight", "attn_k.weight" },
    { "layer.0.SelfAttention.v.weight", "attn_v.weight" },
    { "layer.0.SelfAttention.o.weight", "attn_o.weight" },
    { "layer.0.SelfAttention.relative_attention_bias.weight", "attn_rel_b.weight" },
    { "layer.0.layer_norm.weight", "attn_norm.weight" },
    { "layer.1.DenseReluDense.wi_0.weight", "ffn_gate.weight" },
    { "layer.1.DenseReluDense.wi_1.weight", "ffn_up.weight" },
    { "layer.1.DenseReluDense.wo.weight", "ffn_down.weight" },
    { "layer.1.layer_norm.weight", "ffn_norm.weight" },
};

static nino_name gguf_name(const char *name)
{
    int block = 0, at = 0;
    if (!strcmp(name, "shared.weight"))
        return nino_name_of("token_embd.weight");
    if (!strcmp(name, "encoder.final_layer_norm.weight"))
        return nino_name_of("enc.output_norm.weight");
    CHECK(sscanf(name, "encoder.block.%d.%n", &block, &at) == 1 && at);
    for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
        if (!strcmp(leaves[i][0], name + at))
            return nino_name_of("enc.blk.%d.%s", block, leaves[i][1]);
    CHECK(!"a name of the table");
    return (nino_name){ "" };
}

// The f32 tensors of w, as a GGUF file.
static nino_weights *convert(const nino_weights *w, bool has_tokens)
{
    nino_buf head = { 0 }, data = { 0 };
    nino_buf model = random_text_spiece();
    nino_buf_adds(&head, "GGUF");
    gguf_u32(&head, 3);
    gguf_u64(&head, (uint64_t) nino_weights_count(w));
    gguf_u64(&head, 1 + (has_tokens ? GGUF_TOKEN_KEYS : 0));
    gguf_text(&head, "general.architecture", "t5encoder");
    if (has_tokens)
        gguf_tokens(&head, model.data, model.len);
    nino_buf_release(&model);
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = nino_weights_read_f32(w, t, &err);
        CHECK(a);
        gguf_string(&head, gguf_name(t->name).s);
        gguf_u32(&head, (uint32_t) t->rank);
        for (int k = t->rank - 1; k >= 0; k--)
            gguf_u64(&head, (uint64_t) t->dim[k]);
        gguf_u32(&head, 0);
        gguf_u64(&head, data.len);
        nino_buf_add(&data, a->data, a->bytes);
        gguf_pad(&data);
        nino_array_unref(&a);
    }
    char path[64];
    snprintf(path, sizeof(path), "%s/gguf", dir.path);
    gguf_save(&head, &data, path);
    return test_open("%s", path);
}

static nino_array *encode(nino_stream *s, nino_weights *w, const nino_text_services *services)
{
    nino_clip *c = NULL;
    CHECK_OK(nino_clip_load(&w, 1, NINO_CLIP_SD1, services, "t5", &c, &err), err);
    nino_cond *cond = test_clip_encode(s, c, &(nino_clip_text){ .all = "cat dog" });
    nino_array *a = nino_array_ref(cond->entry[0].context);
    nino_cond_unref(&cond);
    nino_clip_unref(&c);
    return a;
}

int main(void)
{
    static const random_text kinds[] = {
        { .width = 64, .layers = 2, .mlp = 80, .is_t5 = true, .heads = 4, .seed = 3 },
        { .width = 32, .layers = 3, .mlp = 40, .is_t5 = true, .is_umt5 = true, .heads = 2 },
    };
    test_services data;
    test_device d;
    dir = test_dir_create();
    const nino_text_services services = random_text_services(&data, &dir);
    CHECK(test_device_open(&d, "ref", 0));
    for (int i = 0; i < 4; i++) {
        const nino_text_services none = { 0 };
        nino_weights *w = random_text_file(&dir, "t5", &kinds[i % 2], 1, NULL);
        nino_weights *g = convert(w, i >= 2);
        CHECK_STR(nino_weights_format(g), "gguf");
        nino_array *a = encode(d.s, w, &services), *b = encode(d.s, g, i >= 2 ? &none : &services);
        CHECK(a->bytes == b->bytes && !memcmp(a->data, b->data, a->bytes));
        nino_array_unref(&a);
        nino_array_unref(&b);
        nino_weights_unref(&w);
        nino_weights_unref(&g);
    }
    test_device_close(&d);
    test_services_close(&data);
    test_dir_remove(&dir, (const char *const[]){ "t5", "gguf", "bpe_simple_vocab_16e6.txt", NULL });
    return 0;
}
