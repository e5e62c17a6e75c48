// Files of language models: full-size ones without their data against the published lists, with a
// plan of a prompt counted by names; GGUF files with their eyes beside them; what is refused.
#include "tests/random_llm.h"

#include "core/model/detect.h"
#include "core/op/plan/plan.h"
#include "core/op/pool.h"
#include "core/op/raw.h"
#include "tests/clip.h"
#include "tests/shape_list.h"

static test_dir dir;
static nino_error err;
static test_services services_data;
static nino_text_services services;

// ---- full size -------------------------------------------------------------------------------
typedef struct listed {
    const nino_weights *w;
    int n;
} listed;

static void check_shape(void *priv, const char *name, int rank, const int64_t *dim)
{
    listed *l = priv;
    const nino_tensor_info *t = nino_weights_find(l->w, name);
    if (!t)
        fprintf(stderr, "%s is missing\n", name);
    CHECK(t && t->rank == rank && !memcmp(t->dim, dim, (size_t) rank * sizeof(*dim)));
    l->n++;
}

static void check_list(const nino_weights *w, const char *list)
{
    char path[512];
    listed l = { .w = w };
    const char *assets = test_assets();
    snprintf(path, sizeof(path), "%s/../spec/models/shapes/%s", assets ? assets : ".", list);
    if (shape_list_each(path, check_shape, &l))
        CHECK(l.n == nino_weights_count(w));
    else
        printf("  part skipped: no %s to compare with\n", list);
}

enum { TOKENS = 512 };

// A walk over 512 tokens, on a backend that only counts: products by the names of the layers that
// are run, and nothing of the vocabulary is on the device.
static void check_plan(const char *name, nino_weights *w, const nino_encoder *e, int layers)
{
    const nino_llm *net = e->net;
    double want = 0;
    nino_backend *be = nino_plan_open(&nino_profile_ref, 0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_stream *s = nino_stream_create(&(nino_stream_params){ .backend = be }, &err);
    nino_array *x = nino_array_create(NINO_F32, NINO_SHAPE(1, TOKENS, e->width));
    CHECK(s && x);
    const nino_llm_in in = {
        .x = nino_upload(s, x, NINO_F32), .stage = "llm", .n_out = 1, .out = { layers }
    };
    nino_array *out = nino_download(s, nino_llm_run(s, net, &in), NINO_F32);
    CHECK_OK(nino_stream_status(s, &err), err);
    CHECK(out && nino_shape_equal(&out->shape, &x->shape));
    for (int i = 0; i < nino_weights_count(w); i++) {
        const nino_tensor_info *t = nino_weights_at(w, i);
        int at = 0;
        if (sscanf(t->name, "model.layers.%d.", &at) == 1 && at < layers && t->rank == 2) {
            want += 2.0 * TOKENS * (double) (t->dim[0] * t->dim[1]);
        }
    }
    // Of the keys, those that are not later: half of them on average.
    want += 4.0 * TOKENS * (TOKENS + 1) / 2 * net->heads * net->depth * layers;
    printf("  %-12s %6.2f TFLOP for %d tokens, %.2f counted; %.2f GB of weights\n", name,
           be->flops * 1e-12, TOKENS, want * 1e-12, (double) e->weight_bytes * 1e-9);
    CHECK(be->flops >= want && be->flops <= 1.02 * want);
    nino_array_unref(&x);
    nino_array_unref(&out);
    nino_stream_destroy(&s);
    nino_backend_close(&be);
}

static void full(const net_llm *m, const char *name, const char *list, nino_encoder_id id,
                 nino_clip_type asked, nino_clip_type type, int layers)
{
    char path[400];
    nino_detected d;
    nino_clip *c = NULL;
    snprintf(path, sizeof(path), "%s/full.safetensors", dir.path);
    net_list l = net_list_llm(m);
    net_save(&l, path, NINO_BF16, NET_SPARSE);
    nino_weights *w = test_open("%s", path);
    check_list(w, list);
    nino_detect(w, &d);
    CHECK_STR(d.text[0], nino_encoder_names[id]);
    CHECK(!d.text[1][0] && !d.diffusion[0] && !d.vae[0]);
    CHECK_OK(nino_clip_load(&w, 1, asked, &services, name, &c, &err), err);
    const nino_encoder *e = c->enc[id];
    CHECK(c->type == type && e && e->width == m->width && e->n_layers == m->layers);
    const nino_llm *net = e->net;
    CHECK(net->heads == m->heads && net->kv_heads == m->kv_heads && net->depth == 128);
    CHECK(!net->vision == !m->vision);
    check_plan(name, w, e, layers);
    nino_clip_unref(&c);
    nino_weights_unref(&w);
}

// What plan says of an encoding is what it takes: memory to the byte, and the work.
static void check_equal(test_device *d, const char *model, nino_clip_type type,
                        const nino_clip_text *text)
{
    nino_mem_stat want, got;
    nino_cond *planned = NULL, *made = NULL;
    nino_clip *c = NULL;
    nino_weights *w = test_open("tests/data/models/text_encoders/%s.safetensors", model);
    CHECK_OK(nino_clip_load(&w, 1, type, &services, model, &c, &err), err);
    nino_backend *be = nino_plan_open(&d->be->profile, 0, NULL, &err);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 }, &err);
    CHECK(be && s);
    CHECK_OK(nino_clip_encode(s, c, text, &planned, &err), err);
    nino_pool_stat(be->pool, &want);
    nino_stream_destroy(&s);
    const double flops = be->flops, before = d->be->flops;
    nino_backend_close(&be);
    nino_pool_stat(d->be->pool, &got);
    CHECK(got.in_use == 0);
    nino_pool_reset_peak(d->be->pool);
    CHECK_OK(nino_clip_encode(d->s, c, text, &made, &err), err);
    nino_pool_stat(d->be->pool, &got);
    printf("  %s %s: plan %.3f MiB, run %.3f\n", d->be->impl->name, model,
           (double) want.peak / 1048576, (double) got.peak / 1048576);
    CHECK(want.peak == got.peak && d->be->flops - before == flops);
    CHECK(nino_shape_equal(&planned->entry[0].context->shape, &made->entry[0].context->shape));
    nino_cond_unref(&planned);
    nino_cond_unref(&made);
    nino_clip_unref(&c);
    nino_weights_unref(&w);
}

static void plans(const char *device)
{
    test_device d;
    if (!test_device_open(&d, device, 0)) {
        printf("  %s: no such device here\n", device);
        return;
    }
    nino_array *picture = nino_array_create(NINO_F32, NINO_SHAPE(1, 150, 210, 3));
    const nino_clip_text text = { .all = "a cat" };
    const nino_clip_text look = { .all = "<|image_pad|>make it blue",
                                  .has_pictures = true,
                                  .pictures = (const nino_array *const[]){ picture },
                                  .n_pictures = 1 };
    CHECK(picture);
    check_equal(&d, "qwen3_tiny_fp8_e4m3fn", NINO_CLIP_Z_IMAGE, &text);
    check_equal(&d, "qwen3_tiny_fp8_e4m3fn", NINO_CLIP_KLEIN, &text);
    check_equal(&d, "mistral3_tiny_fp8_e4m3fn", NINO_CLIP_KLEIN, &text);
    check_equal(&d, "qwen_2.5_vl_7b_tiny", NINO_CLIP_QWEN_IMAGE, &look);
    nino_array_unref(&picture);
    test_device_close(&d);
}

// ---- GGUF ------------------------------------------------------------------------------------
static nino_array *states(const nino_clip *c, nino_encoder_id id, int layer)
{
    enum { N = 9 };
    const nino_encoder *e = c->enc[id];
    test_device d;
    nino_array *x = NULL;
    nino_token tokens[N] = { { 0 } };
    const nino_prompt p = { .tokens = tokens, .n_chunks = 1, .chunk_len = N };
    for (int i = 0; i < N; i++)
        tokens[i].id = i * 3 + 1;
    CHECK(test_device_open(&d, "ref", 0));
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    const nino_llm_in in = {
        .x = nino_upload(d.s, x, NINO_F32), .stage = "llm", .n_out = 1, .out = { layer }
    };
    nino_array *out = nino_download(d.s, nino_llm_run(d.s, e->net, &in), NINO_F32);
    CHECK_OK(nino_stream_status(d.s, &err), err);
    nino_array_unref(&x);
    test_device_close(&d);
    return out;
}

static nino_array *sight(const nino_clip *c)
{
    const nino_llm *net = c->enc[NINO_ENC_QWEN25_VL]->net;
    test_device d;
    nino_vision_grid g;
    nino_array *picture = nino_array_create(NINO_F32, NINO_SHAPE(1, 60, 90, 3)), *out = NULL;
    CHECK(picture && net->vision && test_device_open(&d, "ref", 0));
    for (int64_t i = 0; i < 60 * 90 * 3; i++)
        nino_array_f32(picture)[i] = (float) (i * 37 % 101) / 100;
    CHECK(nino_vision_grid_make(&g, 60, 90));
    CHECK_OK(nino_vision_see(d.s, net->vision, &g, picture, &out, &err), err);
    nino_vision_grid_release(&g);
    nino_array_unref(&picture);
    test_device_close(&d);
    return out;
}

static nino_clip *load(nino_weights *a, nino_weights *b, nino_clip_type type)
{
    nino_clip *c = NULL;
    nino_weights *both[] = { a, b };
    CHECK_OK(nino_clip_load(both, b ? 2 : 1, type, &services, "test", &c, &err), err);
    return c;
}

static void check_same(nino_array *a, nino_array *b, double tol, const char *what)
{
    const double e = test_nmse(a, b);
    printf("  %s: NMSE %.1e\n", what, e);
    CHECK(e <= tol);
    nino_array_unref(&a);
    nino_array_unref(&b);
}

// Matrices that a device keeps as blocks.
static int count_raw(const nino_encoder *e)
{
    int n = 0;
    nino_raw_layout l;
    for (const nino_layers_item *i = e->layers.items; i; i = i->next)
        n +=
            i->weight && nino_dtype_is_block(i->weight->dtype) && nino_raw_layout_of(i->weight, &l);
    return n;
}

static void gguf_qwen25(void)
{
    char path[400], eyes[400];
    const nino_encoder_id id = NINO_ENC_QWEN25_VL;
    nino_weights *file =
        test_open("tests/data/models/text_encoders/qwen_2.5_vl_7b_tiny.safetensors");
    nino_clip *want = load(file, NULL, NINO_CLIP_QWEN_IMAGE);
    snprintf(path, sizeof(path), "%s/qwen-Q8_0.gguf", dir.path);
    snprintf(eyes, sizeof(eyes), "%s/qwen-mmproj-F16.gguf", dir.path);
    gguf_llm_save(file, "model.", "qwen2vl", false, 0, path);
    gguf_llm_save(file, "visual.", "clip", false, 0, eyes);
    nino_weights *a = test_open("%s", path), *b = test_open("%s", eyes);
    nino_clip *c = load(a, b, NINO_CLIP_SD1), *blind = load(a, NULL, NINO_CLIP_SD1);
    CHECK(c->type == NINO_CLIP_QWEN_IMAGE && nino_clip_eyes(c) == b && !nino_clip_eyes(blind));
    check_same(states(c, id, 3), states(want, id, 3), 0, "qwen2vl, as numbers");
    check_same(sight(c), sight(want), 1e-14, "its eyes, as numbers");
    CHECK(!((const nino_llm *) blind->enc[id]->net)->vision);
    nino_clip_unref(&c);
    nino_weights_unref(&a);
    gguf_llm_save(file, "model.", "qwen2vl", true, 0, path);
    a = test_open("%s", path);
    c = load(b, a, NINO_CLIP_QWEN_IMAGE); // in any order
    check_same(states(c, id, 3), states(want, id, 3), 1e-3, "qwen2vl, in Q8_0");
    CHECK(count_raw(c->enc[id]) >= 3 * 5); // gate, up, q, k, v and, of whole blocks, o
    nino_clip_unref(&c);
    // eyes alone, and beside another model
    CHECK(nino_clip_load(&b, 1, NINO_CLIP_SD1, &services, "test", &c, &err) == NINO_ERR_FORMAT);
    CHECK(strstr(err.msg, "vision network") && !c);
    nino_clip_unref(&want);
    nino_clip_unref(&blind);
    nino_weights_unref(&a);
    nino_weights_unref(&b);
    nino_weights_unref(&file);
}

static void gguf_others(void)
{
    static const net_llm small[] = { { 32, 27, 4, 2, 16, 64, 64, true, false, true, 0, 0, 0 },
                                     { 32, 30, 2, 1, 128, 64, 64, false, false, true, 0, 0, 0 } };
    static const struct {
        int net;
        nino_encoder_id id;
        const char *arch;
        int64_t turned;
    } cases[] = { { 0, NINO_ENC_QWEN3, "qwen3", 0 },
                  { 1, NINO_ENC_MISTRAL3, "llama", 128 },
                  { 1, NINO_ENC_MISTRAL3, "mistral3", 128 } };
    char path[400], gguf[400];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/small.safetensors", dir.path);
        snprintf(gguf, sizeof(gguf), "%s/small.gguf", dir.path);
        net_list l = net_list_llm(&small[cases[i].net]);
        net_add(&l, "tekken_model", 1, (const int64_t[]){ 8 }); // what tells Mistral when small
        net_save(&l, path, NINO_F32, NET_RANDOM);
        nino_weights *file = test_open("%s", path);
        gguf_llm_save(file, "", cases[i].arch, false, cases[i].turned, gguf);
        nino_weights *g = test_open("%s", gguf);
        nino_clip *want = load(file, NULL, NINO_CLIP_KLEIN), *c = load(g, NULL, NINO_CLIP_KLEIN);
        CHECK(c->type == want->type && c->enc[cases[i].id]);
        check_same(states(c, cases[i].id, 2), states(want, cases[i].id, 2), 1e-12, cases[i].arch);
        nino_clip_unref(&want);
        nino_clip_unref(&c);
        nino_weights_unref(&file);
        nino_weights_unref(&g);
    }
}

// ---- Hugging Face's names ----------------------------------------------------------------------
typedef struct prefix {
    const char *here, *theirs;
} prefix;

static void under(net_list *l, const prefix *p, int n)
{
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < n; k++) {
            char name[sizeof(l->t[i].name)];
            const size_t len = strlen(p[k].here);
            if (strncmp(l->t[i].name, p[k].here, len) != 0)
                continue;
            snprintf(name, sizeof(name), "%s%.64s", p[k].theirs, l->t[i].name + len);
            memcpy(l->t[i].name, name, sizeof(name));
            break;
        }
}

// Values are by the number of a tensor, so that both files have the same.
static void check_dialect(const net_llm *m, nino_encoder_id id, const prefix *p, int n)
{
    char own[400], theirs[400];
    snprintf(own, sizeof(own), "%s/small.safetensors", dir.path);
    snprintf(theirs, sizeof(theirs), "%s/few.safetensors", dir.path);
    for (int i = 0; i < 2; i++) {
        net_list l = net_list_llm(m);
        if (id == NINO_ENC_MISTRAL3)
            net_add(&l, "tekken_model", 1, (const int64_t[]){ 8 });
        if (i)
            under(&l, p, n);
        net_save(&l, i ? theirs : own, NINO_F32, NET_RANDOM);
    }
    nino_weights *a = test_open("%s", own), *b = test_open("%s", theirs);
    nino_clip *want = load(a, NULL, NINO_CLIP_SD1), *c = load(b, NULL, NINO_CLIP_SD1);
    CHECK(c->type == want->type && c->enc[id]->weight_bytes == want->enc[id]->weight_bytes);
    check_same(states(c, id, 2), states(want, id, 2), 0, p[0].theirs);
    if (m->vision)
        check_same(sight(c), sight(want), 0, "its eyes");
    nino_clip_unref(&want);
    nino_clip_unref(&c);
    nino_weights_unref(&a);
    nino_weights_unref(&b);
}

static void dialects(void)
{
    static const prefix qwen[] = { { "model.", "model.language_model." },
                                   { "visual.", "model.visual." } };
    static const prefix mistral[] = { { "model.", "language_model.model." },
                                      { "lm_head.", "language_model.lm_head." } };
    static const net_llm eyed = { 32, 2, 2, 1, 128, 64, 64, false, true, true, 80, 2, 24 };
    static const net_llm tekken = { 32, 30, 2, 1, 128, 64, 64, false, false, true, 0, 0, 0 };
    check_dialect(&eyed, NINO_ENC_QWEN25_VL, qwen, 2);
    check_dialect(&tekken, NINO_ENC_MISTRAL3, qwen, 1);
    check_dialect(&tekken, NINO_ENC_MISTRAL3, mistral, 2);
    // Qwen3-VL has the names of both, and is neither
    nino_detected d;
    char path[400];
    const net_llm other = { 32, 2, 2, 1, 128, 64, 64, true, false, false, 80, 2, 24 };
    snprintf(path, sizeof(path), "%s/few.safetensors", dir.path);
    net_list l = net_list_llm(&other);
    under(&l, qwen, 2);
    net_save(&l, path, NINO_F32, NET_SPARSE);
    nino_weights *w = test_open("%s", path);
    nino_detect(w, &d);
    CHECK_STR(d.text[0], "llm");
    nino_weights_unref(&w);
}

// ---- refused ---------------------------------------------------------------------------------
static void refuse(net_llm m, nino_encoder_id id, const char *say)
{
    char path[400];
    nino_encoder *e = NULL;
    snprintf(path, sizeof(path), "%s/bad.safetensors", dir.path);
    net_list l = net_list_llm(&m);
    net_save(&l, path, NINO_BF16, NET_SPARSE);
    nino_weights *w = test_open("%s", path);
    err = (nino_error){ 0 };
    CHECK(nino_encoder_load(id, w, "", NULL, &e, &err) == NINO_ERR_FORMAT && !e);
    if (!strstr(err.msg, say))
        fprintf(stderr, "%s: %s\n", err.where, err.msg);
    CHECK(strstr(err.msg, say));
    CHECK_STR(err.kind, "model");
    nino_weights_unref(&w);
}

static void malformed(void)
{
    const net_llm good = { 32, 30, 4, 2, 16, 64, 64, true, false, false, 0, 0, 0 };
    net_llm m = good;
    m.heads = 3;
    refuse(m, NINO_ENC_QWEN3, "its 3 heads cannot share 2 heads of keys");
    m = good;
    m.has_norms = false;
    refuse(m, NINO_ENC_QWEN3, "q_norm.weight is not the norm of a head");
    m = good;
    m.depth = 15;
    refuse(m, NINO_ENC_QWEN3, "is not the norm of a head");
    m.has_norms = false;
    refuse(m, NINO_ENC_MISTRAL3, "has 60 rows, which are no heads of 128");
    m = (net_llm){ 32, 2, 2, 1, 128, 64, 64, false, true, false, 90, 2, 24 };
    refuse(m, NINO_ENC_QWEN25_VL, "its vision network is 90 wide, which are no heads of 80");
    m.vision = 80;
    m.vision_layers = 0;
    refuse(m, NINO_ENC_QWEN25_VL, "0 layers called visual.blocks.0");
}

static nino_status encode(nino_clip *c, const nino_clip_text *text)
{
    test_device d;
    nino_cond *cond = NULL;
    CHECK(test_device_open(&d, "ref", 0));
    err = (nino_error){ 0 };
    const nino_status st = nino_clip_encode(d.s, c, text, &cond, &err);
    nino_cond_unref(&cond);
    test_device_close(&d);
    return st;
}

// Too few layers for klein, another model's tokenizer, pictures for those that are blind.
static void misused(void)
{
    net_llm m = { 32, 26, 4, 2, 16, 64, 512, true, false, false, 0, 0, 0 };
    char path[400];
    nino_clip *c = NULL;
    snprintf(path, sizeof(path), "%s/few.safetensors", dir.path);
    net_list l = net_list_llm(&m);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    CHECK(nino_clip_load(&w, 1, NINO_CLIP_KLEIN, &services, "few", &c, &err) == NINO_ERR_FORMAT);
    CHECK(!c && strstr(err.msg, "has 26 layers; FLUX.2 klein takes states up to the one behind"));
    c = load(w, NULL, NINO_CLIP_Z_IMAGE);
    CHECK_OK(encode(c, &(nino_clip_text){ .all = "a cat" }), err);
    nino_array *picture = nino_array_create(NINO_F32, NINO_SHAPE(1, 56, 56, 3));
    const nino_clip_text look = { .all = "<|image_pad|>",
                                  .has_pictures = true,
                                  .pictures = (const nino_array *const[]){ picture },
                                  .n_pictures = 1 };
    CHECK(encode(c, &look) == NINO_ERR_UNSUPPORTED && strstr(err.msg, "takes no pictures"));
    nino_clip_unref(&c);
    nino_weights_unref(&w);

    m = (net_llm){ 32, 2, 2, 1, 128, 64, 512, false, true, false, 0, 0, 0 };
    l = net_list_llm(&m);
    net_save(&l, path, NINO_F32, NET_RANDOM);
    w = test_open("%s", path);
    c = load(w, NULL, NINO_CLIP_QWEN_IMAGE);
    CHECK(encode(c, &look) == NINO_ERR_MISSING && strstr(err.msg, "no vision network"));
    CHECK(strstr(err.msg, "mmproj"));
    nino_clip_unref(&c);
    nino_weights_unref(&w);
    nino_array_unref(&picture);

    for (int i = 0; i < 2; i++) { // more rows than the tokenizer knows of, and fewer
        m.vocab = i ? 300 : 5000;
        l = net_list_llm(&m);
        net_save(&l, path, NINO_F32, NET_RANDOM);
        w = test_open("%s", path);
        c = load(w, NULL, NINO_CLIP_QWEN_IMAGE);
        CHECK(encode(c, &(nino_clip_text){ .all = "a cat" }) == NINO_ERR_FORMAT);
        CHECK(strstr(err.msg, "it is another model's"));
        nino_clip_unref(&c);
        nino_weights_unref(&w);
    }
}

// Mistral's tokenizer without a special token of the template: it is not read letter by letter.
static void without_marks(void)
{
    static const char *const marks[] = { "[INST]", "[/SYSTEM_PROMPT]" };
    char path[400], *data;
    size_t len;
    snprintf(path, sizeof(path), "%s/few.safetensors", dir.path);
    for (int i = 0; i < 2; i++) {
        const size_t n = strlen(marks[i]);
        CHECK_OK(nino_file_read("tests/data/models/text_encoders/"
                                "mistral3_tiny_fp8_e4m3fn.safetensors",
                                1 << 24, false, &data, &len, &err),
                 err);
        char *at = memmem(data, len, marks[i], n);
        CHECK(at);
        at[n - 2] = 'x';
        CHECK_OK(nino_file_save(dir.path, "few.safetensors", false, data, len, &err), err);
        nino_weights *w = test_open("%s", path);
        nino_clip *c = load(w, NULL, NINO_CLIP_FLUX2_DEV);
        CHECK(encode(c, &(nino_clip_text){ .all = "a cat" }) == NINO_ERR_FORMAT);
        CHECK_STR(err.kind, "model");
        CHECK(strstr(err.msg, "this tokenizer has no [") && strstr(err.msg, marks[i]));
        nino_clip_unref(&c);
        nino_weights_unref(&w);
        free(data);
    }
}

int main(void)
{
    static const char *const files[] = { "full.safetensors",     "small.safetensors",
                                         "small.gguf",           "bad.safetensors",
                                         "few.safetensors",      "qwen-Q8_0.gguf",
                                         "qwen-mmproj-F16.gguf", NULL };
    dir = test_dir_create();
    services = test_services_open(&services_data, "tests/data");
    full(&net_qwen3_4b, "qwen3 4B", "qwen3_4b_encoder.txt", NINO_ENC_QWEN3, NINO_CLIP_SD1,
         NINO_CLIP_Z_IMAGE, 35);
    full(&net_qwen3_4b, "qwen3 4B", "qwen3_4b_encoder.txt", NINO_ENC_QWEN3, NINO_CLIP_KLEIN,
         NINO_CLIP_KLEIN, 27);
    full(&net_qwen3_8b, "qwen3 8B", "qwen3_8b_encoder.txt", NINO_ENC_QWEN3, NINO_CLIP_Z_IMAGE,
         NINO_CLIP_KLEIN, 27);
    full(&net_mistral, "mistral 24B", "mistral3_small_24b_encoder.txt", NINO_ENC_MISTRAL3,
         NINO_CLIP_KLEIN, NINO_CLIP_FLUX2_DEV, 30);
    full(&net_qwen25, "qwen2.5-vl", "qwen25_vl_7b.txt", NINO_ENC_QWEN25_VL, NINO_CLIP_QWEN_IMAGE,
         NINO_CLIP_QWEN_IMAGE, 28);
    plans("ref");
    plans("cl");
    gguf_qwen25();
    gguf_others();
    dialects();
    malformed();
    misused();
    without_marks();
    test_services_close(&services_data);
    test_dir_remove(&dir, files);
    return 0;
}
