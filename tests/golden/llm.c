// Language models as text encoders, of random weights, stage by stage against the published modules
// in f32, in f32 and with 16-bit storage, on ref and cl.
#include "core/model/llm/llm.h"
#include "tests/clip.h"

static const char *data;

static nino_encoder *load(nino_encoder_id id, const char *model, const char *name,
                          nino_weights **io)
{
    nino_error err = { 0 };
    nino_encoder *e = NULL;
    nino_weights *w = test_open("%s/models/text_encoders/%s.safetensors", data, model);
    CHECK_OK(nino_encoder_load(id, w, "", NULL, &e, &err), err);
    nino_weights_unref(&w);
    *io = test_open("%s/synth/%s_io.safetensors", data, name);
    return e;
}

// The states that `in` asks for, of the ids of that name.
static nino_array *states(test_device *d, const nino_encoder *e, const nino_weights *io,
                          const char *ids, const char *mask, nino_llm_in in)
{
    nino_error err = { 0 };
    nino_array *id = test_tensor(io, ids, false), *x = NULL;
    const int n = (int) nino_shape_count(&id->shape);
    nino_prompt p = { .n_chunks = 1,
                      .chunk_len = n,
                      .tokens = calloc((size_t) n, sizeof(*p.tokens)) };
    bool *attend = calloc((size_t) n, sizeof(*attend));
    CHECK(p.tokens && attend);
    for (int i = 0; i < n; i++)
        p.tokens[i].id = (int32_t) nino_array_f32(id)[i];
    nino_array_unref(&id);
    if (mask) {
        nino_array *m = test_tensor(io, mask, false);
        for (int i = 0; i < n; i++)
            attend[i] = nino_array_f32(m)[i] != 0;
        nino_array_unref(&m);
        in.attend = attend;
    }
    CHECK_OK(nino_encoder_embed(e, &p, false, &x, &err), err);
    in.x = nino_upload(d->s, x, NINO_F32);
    in.stage = "llm";
    nino_array *out = nino_download(d->s, nino_llm_run(d->s, e->net, &in), NINO_F32);
    CHECK_OK(nino_stream_status(d->s, &err), err);
    nino_array_unref(&x);
    nino_prompt_release(&p);
    free(attend);
    return out;
}

// Takes got. NMSE against the tensor, of many states against the k-th.
static void check(const char *what, nino_array *got, const nino_weights *io, const char *name,
                  int k, double tol)
{
    nino_array *want = test_tensor(io, name, false);
    double error = 0, power = 0;
    const int64_t n = nino_shape_count(&got->shape);
    CHECK(nino_shape_count(&want->shape) >= (k + 1) * n);
    for (int64_t i = 0; i < n; i++) {
        const double w = nino_array_f32(want)[k * n + i], e = nino_array_f32(got)[i] - w;
        error += e * e;
        power += w * w;
    }
    printf("  %s %s %d: NMSE %.1e\n", what, name, k, error / power);
    CHECK(error <= tol * power);
    nino_array_unref(&want);
    nino_array_unref(&got);
}

static void qwen3(test_device *d, const char *what, double tol)
{
    nino_weights *io;
    nino_encoder *e = load(NINO_ENC_QWEN3, "qwen3_tiny_fp8_e4m3fn", "qwen3_tiny", &io);
    const int n = e->n_layers;
    CHECK(n == 30 && e->width == 32);
    const nino_llm_in last_but_one = { .n_out = 1, .out = { n - 1 } };
    for (int i = 0; i < 3; i++) {
        char ids[16], out[16];
        snprintf(ids, sizeof(ids), "z%d/ids", i);
        snprintf(out, sizeof(out), "z%d/out", i);
        check(what, states(d, e, io, ids, NULL, last_but_one), io, out, 0, tol);
    }
    for (int k = 0; k < n; k += n / 5)
        check(what, states(d, e, io, "z0/ids", NULL, (nino_llm_in){ .n_out = 1, .out = { k } }), io,
              "z0/hidden_all", k, tol);
    const nino_llm_in normed = { .n_out = 1, .out = { n }, .is_normed = true };
    check(what, states(d, e, io, "z0/ids", NULL, normed), io, "z0/final_norm", 0, tol);
    const nino_llm_in klein = { .n_out = 3, .out = { 9, 18, 27 } };
    check(what, states(d, e, io, "klein/ids", "klein/mask", klein), io, "klein/out", 0, tol);
    nino_encoder_destroy(&e);
    nino_weights_unref(&io);
}

static void mistral(test_device *d, const char *what, double tol)
{
    nino_weights *io;
    nino_encoder *e = load(NINO_ENC_MISTRAL3, "mistral3_tiny_fp8_e4m3fn", "mistral3_tiny", &io);
    const nino_llm_in dev = { .n_out = 3, .out = { 10, 20, 30 } };
    check(what, states(d, e, io, "0/ids", NULL, dev), io, "0/out", 0, tol);
    check(what, states(d, e, io, "1/ids", NULL, dev), io, "1/out", 0, tol);
    nino_encoder_destroy(&e);
    nino_weights_unref(&io);
}

// Rows of got, which are in the grid's order, four a cell, against those in `order` of the cells.
static void check_cells(const char *what, nino_array *got, const nino_vision_grid *g,
                        const nino_weights *io, const char *name, const char *order, double tol)
{
    nino_array *want = test_tensor(io, name, false);
    nino_array *at = order ? test_tensor(io, order, false) : NULL;
    const int64_t cells = (int64_t) g->rows * g->cols, n = nino_shape_count(&got->shape) / cells;
    double error = 0, power = 0;
    CHECK(nino_shape_count(&want->shape) == nino_shape_count(&got->shape));
    for (int64_t i = 0; i < cells; i++) {
        int64_t k = 0; // place in the grid of the cell that is the i-th there
        while (g->cell[k] != (at ? (int) nino_array_f32(at)[i] : i))
            k++;
        for (int64_t c = 0; c < n; c++) {
            const double w = nino_array_f32(want)[i * n + c];
            const double e = nino_array_f32(got)[k * n + c] - w;
            error += e * e;
            power += w * w;
        }
    }
    printf("  %s %s: NMSE %.1e\n", what, name, error / power);
    CHECK(error <= tol * power);
    nino_array_unref(&want);
    nino_array_unref(&at);
    nino_array_unref(&got);
}

static void see(test_device *d, const char *what, const nino_vision *v, const nino_weights *io,
                const char *name, double tol)
{
    nino_error err = { 0 };
    nino_vision_grid g;
    char tensor[64], order[64];
    snprintf(tensor, sizeof(tensor), "%s_image", name);
    snprintf(order, sizeof(order), "%s_window_index", name);
    nino_array *picture = test_tensor(io, tensor, false), *out = NULL;
    CHECK(nino_vision_grid_make(&g, picture->shape.dim[1], picture->shape.dim[2]));
    nino_array *patches = nino_vision_patches(&g, picture);
    CHECK(patches);
    static const struct {
        const char *name;
        int n;
    } stages[] = { { "patch_embed", 0 }, { "block0_windowed", 1 }, { "block7_windowed", 8 } };
    for (int i = 0; i < 3; i++) {
        snprintf(tensor, sizeof(tensor), "%s_%s", name, stages[i].name);
        nino_tensor *t = nino_vision_states(d->s, v, &g, patches, stages[i].n);
        // patches are embedded before windows are made
        check_cells(what, nino_download(d->s, t, NINO_F32), &g, io, tensor, i ? order : NULL, tol);
    }
    CHECK_OK(nino_vision_see(d->s, v, &g, picture, &out, &err), err);
    snprintf(tensor, sizeof(tensor), "%s_out", name);
    check(what, out, io, tensor, 0, tol);
    nino_array_unref(&patches);
    nino_array_unref(&picture);
    nino_vision_grid_release(&g);
}

static void qwen25(test_device *d, const char *what, double tol)
{
    nino_weights *io;
    nino_encoder *e = load(NINO_ENC_QWEN25_VL, "qwen_2.5_vl_7b_tiny", "qwen25_vl_tiny", &io);
    CHECK(e->n_layers == 3 && e->width == 32);
    for (int k = 0; k < 4; k++) {
        char name[32];
        snprintf(name, sizeof(name), k ? "text_hidden_%d" : "text_embeds", k - 1);
        check(what, states(d, e, io, "text_ids", NULL, (nino_llm_in){ .n_out = 1, .out = { k } }),
              io, name, 0, tol);
    }
    const nino_llm_in normed = { .n_out = 1, .out = { 3 }, .is_normed = true };
    check(what, states(d, e, io, "text_ids", NULL, normed), io, "text_out_full", 0, tol);
    check(what, states(d, e, io, "mask_ids", "mask_llm", normed), io, "mask_out_full", 0, tol);
    const nino_vision *v = ((const nino_llm *) e->net)->vision;
    CHECK(v);
    see(d, what, v, io, "vis", tol);
    see(d, what, v, io, "vis2", tol);
    nino_encoder_destroy(&e);
    nino_weights_unref(&io);
}

static void test_all(const char *device, nino_precision precision, const char *what, double tol)
{
    test_device d;
    if (!test_device_open(&d, device, 0)) {
        printf("  %s: no such device here\n", device);
        return;
    }
    nino_stream_set_precision(d.s, precision);
    qwen3(&d, what, tol);
    mistral(&d, what, tol);
    qwen25(&d, what, tol);
    test_device_close(&d);
}

int main(void)
{
    const bool is_long = getenv("NINODES_TEST_LONG") != NULL;
    while ((data = test_data_next(data))) {
        printf("%s\n", data);
        test_all("ref", NINO_PREC_F32, "ref f32", 1e-6);
        test_all("cl", NINO_PREC_F32, "cl f32", 1e-6);
        test_all("cl", NINO_PREC_BF16, "cl bf16", 1e-3);
        if (!is_long)
            continue;
        test_all("ref", NINO_PREC_BF16, "ref bf16", 1e-3);
        test_all("cl", NINO_PREC_F16, "cl f16", 1e-3);
    }
    return 0;
}
