// What a network owns: blocks, weights and tables that go at once, from every backend too; what was
// read before something failed; sizes that must be exact, and how many blocks names tell of.
#include "tests/random_net.h"

#include "core/model/loader.h"
#include "core/op/backend.h"
#include "tests/diffusion.h"

static nino_error err;

static uint64_t weights_on(nino_backend *be)
{
    nino_mem_stat m;
    nino_pool_stat(be->pool, &m);
    return m.by_owner[NINO_OWN_WEIGHTS];
}

static nino_array *ones(nino_shape shape)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a != NULL);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = 1;
    return a;
}

static void test_blocks(void)
{
    nino_layers l = { 0 };
    nino_layers_release(&l); // of nothing
    for (int i = 0; i < 100; i++) {
        const char *p = nino_layers_alloc(&l, (size_t) i, 64);
        CHECK(p != NULL);
        for (int k = 0; k < 64 * i; k++)
            CHECK(p[k] == 0);
    }
    CHECK(!nino_layers_alloc(&l, SIZE_MAX / 2, 64)); // more bytes than there are
    nino_weight *none = NULL;
    CHECK(nino_layers_keep(&l, &none) && !none);
    nino_layers_release(&l);
    CHECK(!l.arena && !l.items);
}

static void test_backends(void)
{
    nino_backend *be[2] = { nino_ref_open(0, NULL, &err), nino_ref_open(0, NULL, &err) };
    nino_layers l = { 0 };
    nino_linear layer = { 0 };
    nino_array *a = ones(NINO_SHAPE(8, 4)), *table = nino_array_ref(a);
    layer.w = nino_weight_from_array(a, NINO_W_MATRIX);
    CHECK(layer.w && nino_layers_keep(&l, &layer.w) && nino_layers_keep_array(&l, &table));
    for (int i = 0; i < 2; i++) {
        CHECK(be[i] != NULL);
        CHECK(nino_backend_weight(be[i], layer.w, NINO_F32, &err) != NULL);
        CHECK(weights_on(be[i]) > 0);
    }
    CHECK(a->refs == 3);
    nino_layers_release(&l);
    CHECK(a->refs == 1);
    for (int i = 0; i < 2; i++) {
        CHECK(weights_on(be[i]) == 0);
        nino_backend_close(&be[i]);
    }
    nino_array_unref(&a);
}

// A loader hands everything it reads to the layers; after a failure every step does nothing.
static void test_loader(const test_dir *dir)
{
    char path[64];
    net_list list = { 0 };
    net_linear(&list, 8, 4, true, "in");
    net_linear(&list, 4, 8, false, "out");
    snprintf(path, sizeof(path), "%s/file", dir->path);
    net_save(&list, path, NINO_F32, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    nino_layers layers = { 0 };
    nino_loader l = { .file = w, .prefix = "", .layers = &layers, .err = &err };
    nino_linear in = { 0 }, out = { 0 }, missing = { 0 }, more = { 0 };
    nino_array *table = NULL;
    nino_load_linear(&l, "in", 4, &in);
    nino_load_linear(&l, "out", nino_load_rows(&l, in.w), &out);
    nino_load_table(&l, nino_weights_find(w, "in.bias"), &table);
    CHECK(!l.st && in.w && in.b && out.w && !out.b);
    CHECK(nino_load_rows(&l, out.w) == 4 && nino_shape_count(&table->shape) == 8);
    nino_load_linear(&l, "missing", -1, &missing);
    CHECK(l.st == NINO_ERR_FORMAT && strstr(err.where, "file: missing.weight"));
    nino_load_linear(&l, "in", 4, &more);
    CHECK(!missing.w && !more.w && !nino_load_alloc(&l, 1, 8) && !nino_load_rows(&l, in.w));
    CHECK(l.st == NINO_ERR_FORMAT);
    l.st = NINO_OK; // messages name the file as they are told to
    l.where = "a/b";
    nino_load_fail(&l, NINO_ERR_RANGE, "%d", 7);
    CHECK(l.st == NINO_ERR_RANGE);
    CHECK_STR(err.where, "a/b");
    nino_layers_release(&layers);
    nino_weights_unref(&w);
}

// How many blocks of a kind there are: one more than the largest number before a dot.
static void check_counts(nino_weights *w)
{
    static const struct {
        const char *stem;
        int n;
    } t[] = { { "a.", 11 }, { "ab.", 13 },  { "b.", 1000 }, { "c.", 1000 }, { "d.", 0 },
              { "e.", 0 },  { "none.", 0 }, { "a.1", 1 },   { "f", 1 },     { "g.", 100 } };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const nino_loader l = { .file = w, .prefix = "p.", .err = &err };
        const int n = nino_load_count(&l, t[i].stem);
        if (n != t[i].n)
            fprintf(stderr, "%s: %d\n", t[i].stem, n);
        CHECK(n == t[i].n);
    }
}

// The channels of a head, by the length of its norm.
static void check_heads(nino_weights *w)
{
    static const struct {
        const char *norm;
        int64_t width, depth; // 0: refused
        nino_status st;
        const char *words;
    } t[] = {
        { "n64", 128, 64, NINO_OK, "" },
        { "n64", 64, 64, NINO_OK, "" },
        { "n64", INT64_C(1) << 31, 0, NINO_ERR_UNSUPPORTED,
          "heads of 64 channels in 2147483648 are not known; a head has a multiple of 32" },
        { "n64", (INT64_C(1) << 31) - 64, 64, NINO_OK, "" },
        { "n64", 96, 0, NINO_ERR_UNSUPPORTED,
          "heads of 64 channels in 96 are not known; a head has a multiple of 32" },
        { "n48", 96, 0, NINO_ERR_UNSUPPORTED,
          "heads of 48 channels in 96 are not known; a head has a multiple of 32" },
        { "matrix", 64, 0, NINO_ERR_FORMAT, "p.matrix is missing" },
        { "nothing", 64, 0, NINO_ERR_FORMAT, "p.nothing is missing" },
    };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        nino_loader l = { .file = w, .prefix = "p.", .err = &err };
        err = (nino_error){ 0 };
        const int64_t depth = nino_load_head(&l, t[i].norm, t[i].width);
        CHECK(l.st == t[i].st && (t[i].st || depth == t[i].depth));
        CHECK_STR(err.msg, t[i].words);
    }
    static const struct {
        int64_t width;
        int usual, heads;
        const char *words;
    } u[] = { { 96, 4, 4, "" },
              { 96, 96, 96, "" },
              { 96, 1, 1, "" },
              { 96, 5, 1, "a width of 96 does not divide into 5 heads" },
              { 96, 0, 1, "a width of 96 does not divide into 0 heads" },
              { 0, -1, 1, "a width of 0 does not divide into -1 heads" } };
    for (size_t i = 0; i < sizeof(u) / sizeof(u[0]); i++) {
        nino_loader l = { .file = w, .prefix = "p.", .err = &err };
        err = (nino_error){ 0 };
        CHECK(nino_load_heads(&l, u[i].width, u[i].usual) == u[i].heads);
        CHECK(l.st == (*u[i].words ? NINO_ERR_FORMAT : NINO_OK));
        CHECK_STR(err.msg, u[i].words);
    }
}

// Sizes that must be exact; what fails first is what is told.
static void check_exact(nino_weights *w)
{
    nino_layers layers = { 0 };
    nino_loader l = { .file = w, .prefix = "p.", .layers = &layers, .err = &err };
    nino_linear m = { 0 };
    nino_norm norm = { 0 };
    nino_load_linear(&l, "line", 3, &m);
    nino_load_expect(&l, "line", &m, 6);
    nino_load_norm(&l, "norm", 64, 32, 0.5f, &norm);
    CHECK_OK(l.st, err);
    CHECK(nino_load_rows(&l, m.w) == 6 && m.w->c == 3 && norm.groups == 32 && norm.eps == 0.5f);
    CHECK(nino_load_has(&l, "%s.weight", "line") && !nino_load_has(&l, "%s.weight", "p.line"));
    nino_load_norm(&l, "norm", 65, 32, 0.5f, &norm);
    CHECK_STR(err.msg, "p.norm has 64 channels where 65 are needed");
    CHECK_STR(err.where, "file");
    nino_load_expect(&l, "line", &m, 7);
    CHECK_STR(err.msg, "p.norm has 64 channels where 65 are needed");
    CHECK(l.st == NINO_ERR_FORMAT && nino_load_rows(&l, m.w) == 0);
    CHECK(!nino_load_alloc(&l, 1, 8) && !nino_load_values(&l, nino_weights_at(w, 0)));
    l.st = NINO_OK;
    nino_load_expect(&l, "line", &m, 7);
    CHECK_STR(err.msg, "p.line.weight has 6 rows where 7 are needed");
    nino_layers_release(&layers);
}

static void test_sizes(const test_dir *dir)
{
    static const char *const blocks[] = { "a.0.w",   "a.2.w",   "a.10.w",  "a.11",     "a.x.30.w",
                                          "ab.12.w", "b.999.w", "b.3.w",   "c.1000.w", "d.12345.w",
                                          "e.",      "f0.w",    "g.099.w", "g.7.w" };
    char path[64], name[64];
    net_list l = { 0 };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        snprintf(name, sizeof(name), "p.%s", blocks[i]);
        net_add(&l, name, 1, (const int64_t[]){ 1 });
    }
    net_add(&l, "a.40.w", 1, (const int64_t[]){ 1 }); // without the prefix
    net_add(&l, "p.n64", 1, (const int64_t[]){ 64 });
    net_add(&l, "p.n48", 1, (const int64_t[]){ 48 });
    net_add(&l, "p.matrix", 2, (const int64_t[]){ 64, 1 });
    net_linear(&l, 6, 3, true, "p.line");
    net_norm(&l, 64, "p.norm");
    snprintf(path, sizeof(path), "%s/file", dir->path);
    net_save(&l, path, NINO_F32, NET_SPARSE);
    nino_weights *w = test_open("%s", path);
    check_counts(w);
    check_heads(w);
    check_exact(w);
    nino_weights_unref(&w);
}

// A network leaves nothing on the device it ran on.
static void test_network(const test_dir *dir)
{
    static const net_flux tiny = { 64, 32, 1, 1, 16, 8, 8, true };
    static const float t = 0.5f;
    char path[64];
    net_list list = net_list_flux(&tiny, NULL);
    snprintf(path, sizeof(path), "%s/file", dir->path);
    net_save(&list, path, NINO_F32, NET_RANDOM);
    nino_weights *w = test_open("%s", path);
    nino_diffusion *d = test_diffusion(w, "flux");
    nino_weights_unref(&w); // its layers keep it open
    test_device dev;
    CHECK(test_device_open(&dev, "ref", 0));
    nino_array *x = test_values(NINO_SHAPE(1, 2, 3, 16), 1);
    nino_array *context = test_values(NINO_SHAPE(1, 2, 8), 2),
               *y = test_values(NINO_SHAPE(1, 8), 3);
    nino_array *out = test_forward(
        dev.s, d,
        &(test_inputs){ .x = x, .context = context, .y = y, .timestep = &t, .guidance = 2 });
    CHECK(weights_on(dev.be) > 0);
    nino_diffusion_unref(&d);
    CHECK(weights_on(dev.be) == 0);
    nino_array *all[] = { x, context, y, out };
    for (int i = 0; i < 4; i++)
        nino_array_unref(&all[i]);
    test_device_close(&dev);
}

int main(void)
{
    const test_dir dir = test_dir_create();
    test_blocks();
    test_backends();
    test_loader(&dir);
    test_sizes(&dir);
    test_network(&dir);
    test_dir_remove(&dir, (const char *const[]){ "file", NULL });
    return 0;
}
