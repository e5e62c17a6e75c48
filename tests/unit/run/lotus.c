// LotusConditioning: computed by whatever file holds the text encoder of Stable Diffusion 2, against torch
// (tests/data/make/lotus.py); which file that is; what is said where there is none.
#include "core/base/hash.h"
#include "core/node/param.h"
#include "core/node/util.h"
#include "core/run/context.h"
#include "tests/flow.h"
#include "tests/random_text.h"

#include <errno.h>
#include <sys/stat.h>

#define WHAT "'a text encoder of Stable Diffusion 2 (OpenCLIP ViT-H)' is not in "

static nino_error err;

static nino_name below(const char *path) { return nino_name_of("%s/%s", flow_temp(), path); }

static void copy(const char *from, const char *to)
{
    char line[700];
    snprintf(line, sizeof(line), "cp '%s/synth/%s' '%s'", test_data_next(NULL), from, below(to).s);
    CHECK(system(line) == 0);
}

// NULL: it failed, with err.
static nino_value *run(nino_ctx *ctx, nino_stream *s)
{
    const nino_node_def *def = nino_node_find("LotusConditioning", NULL);
    nino_value *out[2] = { NULL }, *in[1] = { NULL };
    nino_run r = { .ctx = ctx,
                   .stream = s,
                   .node_id = "1",
                   .def = def,
                   .in = in,
                   .out = out,
                   .log = nino_ctx_log(ctx) };
    err = (nino_error){ 0 };
    const nino_status st = def->ops->run(&r, &err);
    CHECK(!st == (out[0] != NULL) && !out[1] && st == err.code);
    return out[0];
}

static nino_hash key_of(nino_ctx *ctx)
{
    const nino_node_def *def = nino_node_find("LotusConditioning", NULL);
    nino_hasher *h = nino_hasher_create();
    CHECK(h != NULL);
    CHECK_OK(def->ops->identity(ctx, NULL, h, &err), err);
    return nino_hasher_finish(&h);
}

// ---- what is said of a workflow ----------------------------------------------------------------
typedef struct said {
    int n;
    char text[600];
} said;

static void hear(void *priv, const nino_issue *i)
{
    said *s = priv;
    if (i->severity != NINO_ISSUE_ERROR || strcmp(i->code, "missing_file") != 0)
        return;
    s->n++;
    snprintf(s->text, sizeof(s->text), "%s", i->message);
}

static said check(nino_ctx *ctx)
{
    said s = { 0 };
    nino_graph *g =
        flow_graph("{'1': {'class_type': 'LotusConditioning', 'inputs': {}},"
                   "'2': {'class_type': 'PreviewAny', 'inputs': {'source': ['1', 0]}}}");
    nino_graph_check(g, ctx, hear, &s);
    nino_graph_destroy(&g);
    return s;
}

static void check_missing(nino_ctx *ctx, nino_stream *s)
{
    const said it = check(ctx);
    CHECK(it.n == 1 && !strncmp(it.text, WHAT, strlen(WHAT)));
    CHECK(strstr(it.text, "/text_encoders") && strstr(it.text, "/checkpoints"));
    CHECK(!run(ctx, s) && err.code == NINO_ERR_MISSING);
    CHECK(!strncmp(err.msg, WHAT, strlen(WHAT)));
    CHECK_STR(err.kind, "missing_file");
}

static void check_value(nino_ctx *ctx, nino_stream *s, double most)
{
    nino_weights *io = test_open("%s/synth/lotus_text_io.safetensors", test_data_next(NULL));
    nino_array *want = test_tensor(io, "conditioning", false);
    nino_value *v = run(ctx, s);
    CHECK_OK(v ? NINO_OK : err.code, err);
    CHECK(v->type == NINO_PORT_CONDITIONING && v->u.cond->n == 1);
    const nino_cond_entry *e = &v->u.cond->entry[0];
    CHECK(nino_shape_equal(&e->context->shape, &want->shape) && want->shape.dim[1] == 2);
    CHECK(!e->pooled);
    const double far = test_nmse(e->context, want);
    printf("  nmse %.1e\n", far);
    CHECK(far <= most);
    nino_value_unref(&v);
    nino_array_unref(&want);
    nino_weights_unref(&io);
}

static void make(const char *path, const random_text *t)
{
    test_dir root = { "" };
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    nino_weights *w = random_text_file(&root, path, t, 1, NULL);
    nino_weights_unref(&w);
}

static void check_all(const char *device)
{
    static const random_text clip_l = { .width = 32, .layers = 2, .mlp = 32, .vocab = 30 };
    static const char *const folders[] = { "models", "models/text_encoders", "models/checkpoints" };
    nino_ctx *ctx = flow_open(device, NULL);
    if (!ctx)
        return;
    printf("%s\n", device);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        CHECK(!mkdir(below(folders[i]).s, 0777) || errno == EEXIST);
    nino_stream *s = nino_stream_create(
        &(nino_stream_params){ .backend = nino_ctx_backend(ctx), .precision = NINO_PREC_F32 },
        &err);
    CHECK(s);
    check_missing(ctx, s);
    make("models/text_encoders/a.safetensors", &clip_l); // of another kind
    FILE *f = fopen(below("models/checkpoints/b.safetensors").s, "wb");
    CHECK(f && fputs("damaged", f) >= 0 && !fclose(f));
    check_missing(ctx, s);
    copy("lotus_text.safetensors", "models/checkpoints/sd2.safetensors");
    CHECK(check(ctx).n == 0);
    check_value(ctx, s, 1e-10);
    const nino_hash one = key_of(ctx);
    // text encoders come before checkpoints, and results are kept by the file they came from
    copy("lotus_text.safetensors", "models/text_encoders/h.safetensors");
    const nino_hash two = key_of(ctx);
    CHECK(one.lo != two.lo || one.hi != two.hi);
    check_value(ctx, s, 1e-10);
    nino_stream_destroy(&s);
    nino_ctx_destroy(&ctx);
    flow_clean();
    CHECK(mkdir(flow_temp(), 0700) == 0);
}

// Files of diffusers lack the last layer, which is not used.
static void check_layers(void)
{
    nino_clip *c[2];
    nino_cond *cond[2];
    nino_weights *w[2];
    test_device d;
    test_dir root = { "" };
    random_text t = { .width = 16, .layers = 24, .mlp = 16, .vocab = 20, .positions = 77 };
    CHECK(test_device_open(&d, "ref", 0));
    snprintf(root.path, sizeof(root.path), "%s", flow_temp());
    w[0] = random_text_file(&root, "24.safetensors", &t, 1, NULL);
    nino_st_entry *e = calloc((size_t) nino_weights_count(w[0]), sizeof(*e));
    int n = 0;
    for (int i = 0; i < nino_weights_count(w[0]); i++) {
        const nino_tensor_info *x = nino_weights_at(w[0], i);
        if (!strstr(x->name, "layers.23."))
            e[n++] = (nino_st_entry){ x->name, nino_weights_read_f32(w[0], x, &err) };
    }
    CHECK_OK(nino_st_save(flow_temp(), "23.safetensors", true, e, n, NULL, 0, &err), err);
    for (int i = 0; i < n; i++)
        nino_array_unref((nino_array **) &e[i].array);
    free(e);
    w[1] = test_open("%s/23.safetensors", flow_temp());
    for (int i = 0; i < 2; i++) {
        CHECK_OK(nino_clip_load(&w[i], 1, NINO_CLIP_SD1, NULL, "t", &c[i], &err), err);
        CHECK(c[i]->type == NINO_CLIP_SD2);
        CHECK_OK(nino_clip_encode(d.s, c[i], &(nino_clip_text){ .is_bare = true }, &cond[i], &err),
                 err);
    }
    CHECK(test_nmse(cond[0]->entry[0].context, cond[1]->entry[0].context) < 1e-12);
    for (int i = 0; i < 2; i++) {
        nino_cond_unref(&cond[i]);
        nino_clip_unref(&c[i]);
        nino_weights_unref(&w[i]);
    }
    test_device_close(&d);
}

int main(void)
{
    check_all("ref");
    check_all("cl");
    check_layers();
    flow_clean();
    return 0;
}
