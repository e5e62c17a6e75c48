// Wan video transformers in every kind of file: names of both dialects, GGUF, scaled 8-bit floats;
// names of their layers in LoRA files.
#include "tests/wan.h"

#include "core/base/buf.h"
#include "core/file/safetensors.h"
#include "core/model/merge/lora_map.h"
#include "tests/gguf_tokens.h"

// ---- diffusers names -------------------------------------------------------------------------
static void put(char *s, size_t size, const char *tail, const char *with, int block)
{
    if (block < 0)
        snprintf(s, size, "%s%s", with, tail);
    else
        snprintf(s, size, "blocks.%d.%s%s", block, with, tail);
}

// What diffusers calls a tensor of the original file: written apart from the loader's table.
static void diffusers_name(const char *name, char *s, size_t size)
{
    static const char *const list[][2] = {
        { "self_attn.q.", "attn1.to_q." },
        { "self_attn.k.", "attn1.to_k." },
        { "self_attn.v.", "attn1.to_v." },
        { "self_attn.o.", "attn1.to_out.0." },
        { "self_attn.norm", "attn1.norm" },
        { "cross_attn.q.", "attn2.to_q." },
        { "cross_attn.k.", "attn2.to_k." },
        { "cross_attn.v.", "attn2.to_v." },
        { "cross_attn.o.", "attn2.to_out.0." },
        { "cross_attn.k_img.", "attn2.add_k_proj." },
        { "cross_attn.v_img.", "attn2.add_v_proj." },
        { "cross_attn.norm_k_img.", "attn2.norm_added_k." },
        { "cross_attn.norm", "attn2.norm" },
        { "norm3.", "norm2." },
        { "ffn.0.", "ffn.net.0.proj." },
        { "ffn.2.", "ffn.net.2." },
        { "modulation", "scale_shift_table" },
        { "time_embedding.0.", "condition_embedder.time_embedder.linear_1." },
        { "time_embedding.2.", "condition_embedder.time_embedder.linear_2." },
        { "text_embedding.0.", "condition_embedder.text_embedder.linear_1." },
        { "text_embedding.2.", "condition_embedder.text_embedder.linear_2." },
        { "time_projection.1.", "condition_embedder.time_proj." },
        { "img_emb.emb_pos", "condition_embedder.image_embedder.pos_embed" },
        { "img_emb.proj.0.", "condition_embedder.image_embedder.norm1." },
        { "img_emb.proj.1.", "condition_embedder.image_embedder.ff.net.0.proj." },
        { "img_emb.proj.3.", "condition_embedder.image_embedder.ff.net.2." },
        { "img_emb.proj.4.", "condition_embedder.image_embedder.norm2." },
        { "head.modulation", "scale_shift_table" },
        { "head.head.", "proj_out." },
    };
    int block = -1, at = 0;
    if (sscanf(name, "blocks.%d.%n", &block, &at) < 1)
        block = -1;
    const char *rest = block < 0 ? name : name + at;
    snprintf(s, size, "%s", name);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (!strncmp(rest, list[i][0], strlen(list[i][0]))) {
            put(s, size, rest + strlen(list[i][0]), list[i][1], block);
            return;
        }
}

static nino_weights *in_diffusers(const nino_weights *w)
{
    static nino_st_entry e[256];
    static char names[256][160];
    const int n = nino_weights_count(w);
    CHECK(n < 256);
    for (int i = 0; i < n; i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = nino_weights_read_f32(w, t, &err);
        CHECK_OK(a ? NINO_OK : err.code, err);
        diffusers_name(t->name, names[i], sizeof(names[i]));
        e[i] = (nino_st_entry){ names[i], a };
    }
    CHECK_OK(nino_st_save(dir.path, "diffusers", false, e, n, NULL, 0, &err), err);
    for (int i = 0; i < n; i++) {
        nino_array *a = (nino_array *) e[i].array;
        nino_array_unref(&a);
    }
    return test_open("%s/diffusers", dir.path);
}

// The same network under other names answers with the same bits.
static void check_names(nino_weights *a, nino_weights *b, const char *family)
{
    nino_diffusion *d = test_diffusion(a, family), *e = test_diffusion(b, family);
    inputs p;
    CHECK(d->in_channels == e->in_channels && d->context_dim == e->context_dim);
    CHECK(d->vision_dim == e->vision_dim && d->format == e->format);
    fill(&p, d, 1, 3, 4);
    nino_array *x = test_forward(dev.s, d, &p.in), *y = test_forward(dev.s, e, &p.in);
    CHECK(!memcmp(x->data, y->data, x->bytes));
    nino_array_unref(&x);
    nino_array_unref(&y);
    drop(&p);
    nino_diffusion_unref(&d);
    nino_diffusion_unref(&e);
    nino_weights_unref(&b);
}

static void test_names(void)
{
    static const net_wan *const nets[] = { &tiny_t2v, &tiny_i2v, &tiny_flf, &tiny_5b };
    static const char *const families[] = { "wan_t2v", "wan_i2v", "wan_i2v", "wan22_ti2v" };
    for (int i = 0; i < 4; i++) {
        nino_weights *w = made(net_list_wan(nets[i], NULL), "wan");
        check_names(w, in_diffusers(w), families[i]);
        check_names(w, made(net_list_wan(nets[i], "model.diffusion_model."), "prefixed"),
                    families[i]);
        nino_weights_unref(&w);
    }
}

// ---- GGUF ------------------------------------------------------------------------------------
static bool is_flat(const nino_tensor_info *t, bool flattened) { return flattened && t->rank == 5; }

static void add_info(nino_buf *head, const nino_tensor_info *t, bool flattened, uint64_t at)
{
    gguf_string(head, t->name);
    gguf_u32(head, is_flat(t, flattened) ? 2 : (uint32_t) t->rank);
    if (is_flat(t, flattened)) {
        gguf_u64(head, (uint64_t) (t->dim[1] * t->dim[2] * t->dim[3] * t->dim[4]));
        gguf_u64(head, (uint64_t) t->dim[0]);
    }
    for (int k = t->rank - 1; k >= 0 && !is_flat(t, flattened); k--)
        gguf_u64(head, (uint64_t) t->dim[k]);
    gguf_u32(head, 0); // f32
    gguf_u64(head, at);
}

// The f32 tensors of w. The kernel of the patches has five dimensions, or two and a note of what it
// had.
static nino_weights *in_gguf(const nino_weights *w, bool flattened)
{
    nino_buf head = { 0 }, data = { 0 };
    nino_buf_adds(&head, "GGUF");
    gguf_u32(&head, 3);
    gguf_u64(&head, (uint64_t) nino_weights_count(w));
    gguf_u64(&head, 1 + flattened);
    gguf_text(&head, "general.architecture", "wan");
    if (flattened) {
        const nino_tensor_info *t = nino_weights_find(w, "patch_embedding.weight");
        gguf_string(&head, "comfy.gguf.orig_shape.patch_embedding.weight");
        gguf_u32(&head, 9); // an array
        gguf_u32(&head, 5); // of i32
        gguf_u64(&head, 5);
        for (int i = 0; i < 5; i++)
            gguf_u32(&head, (uint32_t) t->dim[i]);
    }
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = nino_weights_read_f32(w, t, &err);
        CHECK(a);
        add_info(&head, t, flattened, data.len);
        nino_buf_add(&data, a->data, a->bytes);
        gguf_pad(&data);
        nino_array_unref(&a);
    }
    char path[64];
    snprintf(path, sizeof(path), "%s/gguf", dir.path);
    gguf_save(&head, &data, path);
    return test_open("%s", path);
}

static void test_gguf(void)
{
    nino_weights *w = made(net_list_wan(&tiny_i2v, NULL), "wan");
    check_names(w, in_gguf(w, false), "wan_i2v");
    check_names(w, in_gguf(w, true), "wan_i2v");
    nino_weights_unref(&w);
}

// ---- scaled 8-bit floats ---------------------------------------------------------------------
// Matrices of the blocks as e4m3 with a scale each; *plain: what they then are, in f32.
static nino_weights *scaled(const nino_weights *w, nino_weights **plain)
{
    static nino_st_entry e[256], f[256];
    static char names[256][160];
    int n = 0, m = 0;
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        nino_array *a = nino_weights_read_f32(w, t, &err), *b = a;
        CHECK(a && n + 2 < 256);
        if (t->rank == 2 && !strncmp(t->name, "blocks.", 7)) {
            const float scale = 0.03125f * (float) (1 + i % 3);
            const int64_t count = nino_shape_count(&a->shape);
            for (int64_t k = 0; k < count; k++)
                nino_array_f32(a)[k] /= scale;
            b = nino_array_convert(a, NINO_F8_E4M3);
            nino_array *back = nino_array_convert(b, NINO_F32);
            nino_array *s = nino_array_create(NINO_F32, NINO_SHAPE(1));
            CHECK(b && back && s);
            for (int64_t k = 0; k < count; k++)
                nino_array_f32(a)[k] = nino_array_f32(back)[k] * scale;
            nino_array_unref(&back);
            nino_array_f32(s)[0] = scale;
            snprintf(names[n], sizeof(names[0]), "%.*s.scale_weight", (int) strlen(t->name) - 7,
                     t->name);
            e[n] = (nino_st_entry){ names[n], s };
            n++;
        }
        e[n++] = (nino_st_entry){ t->name, b };
        f[m++] = (nino_st_entry){ t->name, b == a ? nino_array_ref(a) : a };
    }
    nino_array *mark = nino_array_create(NINO_F8_E4M3, NINO_SHAPE(2));
    CHECK(mark != NULL);
    e[n++] = (nino_st_entry){ "scaled_fp8", mark };
    CHECK_OK(nino_st_save(dir.path, "f8", false, e, n, NULL, 0, &err), err);
    CHECK_OK(nino_st_save(dir.path, "plain", false, f, m, NULL, 0, &err), err);
    for (int i = 0; i < n + m; i++) {
        nino_array *a = (nino_array *) (i < n ? e[i].array : f[i - n].array);
        nino_array_unref(&a);
    }
    *plain = test_open("%s/plain", dir.path);
    return test_open("%s/f8", dir.path);
}

static void test_scaled(void)
{
    nino_weights *w = made(net_list_wan(&tiny_t2v, NULL), "wan"), *plain;
    nino_weights *f8 = scaled(w, &plain);
    check_names(plain, f8, "wan_t2v");
    nino_weights_unref(&plain);
    nino_weights_unref(&w);
}

// ---- names in LoRA files ---------------------------------------------------------------------
static void check_lora_names(nino_weights *w)
{
    static const char *const list[][2] = {
        { "lora_unet_blocks_0_self_attn_q", "q1" },
        { "lora_unet__blocks_0_cross_attn_k", "k2" },
        { "diffusion_model.blocks.0.self_attn.o", "o1" },
        { "transformer.blocks.0.attn1.to_out.0", "o1" },
        { "blocks.0.attn2.add_k_proj", "kimg" },
        { "diffusion_model.blocks.0.ffn.2", "ffn2" },
        { "base_model.model.blocks.0.ffn.net.2", "ffn2" },
        { "diffusion_model.head.head", "head" },
        { "diffusion_model.blocks.0.modulation", "mod" },
        { "condition_embedder.time_proj", "time" },
        { "diffusion_model.blocks.9.self_attn.q", NULL },
    };
    static const char *const names[][3] = {
        { "q1", "blocks.0.self_attn.q.weight", "blocks.0.attn1.to_q.weight" },
        { "k2", "blocks.0.cross_attn.k.weight", "blocks.0.attn2.to_k.weight" },
        { "o1", "blocks.0.self_attn.o.weight", "blocks.0.attn1.to_out.0.weight" },
        { "kimg", "blocks.0.cross_attn.k_img.weight", "blocks.0.attn2.add_k_proj.weight" },
        { "ffn2", "blocks.0.ffn.2.weight", "blocks.0.ffn.net.2.weight" },
        { "head", "head.head.weight", "proj_out.weight" },
        { "time", "time_projection.1.weight", "condition_embedder.time_proj.weight" },
    };
    lora_map m = { 0 };
    const nino_diffusion d = { .kind = NINO_DIFFUSION_WAN, .file = w, .name = "net" };
    const bool is_diffusers = nino_weights_find(w, "proj_out.weight") != NULL;
    CHECK_OK(lora_map_diffusion(&m, &d, &err), err);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        int n;
        const lora_place *p = lora_map_find(&m, list[i][0], strlen(list[i][0]), &n);
        if (!list[i][1]) {
            CHECK(!n);
            continue;
        }
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            if (!strcmp(names[k][0], list[i][1])) {
                CHECK(n == 1);
                CHECK_STR(p->tensor->name, names[k][1 + is_diffusers]);
            }
        CHECK(is_diffusers || n == 1);
    }
    lora_map_release(&m);
}

static void test_lora_names(void)
{
    nino_weights *w = made(net_list_wan(&tiny_i2v, NULL), "wan"), *d = in_diffusers(w);
    check_lora_names(w);
    check_lora_names(d);
    nino_weights_unref(&w);
    nino_weights_unref(&d);
}

int main(void)
{
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_names();
    test_gguf();
    test_scaled();
    test_lora_names();
    test_device_close(&dev);
    test_dir_remove(
        &dir, (const char *const[]){ "wan", "prefixed", "diffusers", "gguf", "f8", "plain", NULL });
    return 0;
}
