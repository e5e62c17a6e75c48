// What a network owns: blocks, weights and tables that go at once, from every backend too; what was
// read before something failed.
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
    test_network(&dir);
    test_dir_remove(&dir, (const char *const[]){ "file", NULL });
    return 0;
}
