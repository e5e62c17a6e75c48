// What is said about too little device memory: what applies, with the numbers of this run, and
// nothing else; and what loaders tell.
#include "core/run/shortage.h"
#include "core/tile/fit.h"
#include "tests/node.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

static char lines[4096];
static int n_lines;
static nino_error err;

static void add_line(void *priv, const char *text)
{
    (void) priv;
    const size_t n = strlen(lines);
    snprintf(lines + n, sizeof(lines) - n, "%s\n", text);
    n_lines++;
}

// How many lines; they are in `lines`.
static int tell(void)
{
    lines[0] = 0;
    n_lines = 0;
    nino_shortage_tell(&node.run, add_line, NULL);
    printf("%s", lines);
    return n_lines;
}

static nino_vae *make_vae(void)
{
    static const char *const files[] = { "v.safetensors", NULL };
    test_dir dir = test_dir_create();
    const random_vae net = {
        .ch = 32, .mult = { 1, 2 }, .n_levels = 2, .n_res = 1, .z = 4, .dtype = NINO_F16, .seed = 5
    };
    nino_vae *v = NULL;
    CHECK_OK(random_vae_save(net, dir.path, "v.safetensors", &err), err);
    nino_weights *w = test_open("%s/v.safetensors", dir.path);
    CHECK_OK(nino_vae_load(w, "v.safetensors", &v, &err), err);
    nino_weights_unref(&w);
    test_dir_remove(&dir, files);
    return v;
}

static void give_latent(int64_t n, int64_t cells)
{
    node_give("samples", node_value(NINO_PORT_LATENT))->u.latent.samples =
        node_array(SHAPE(n, cells, cells, 4), NULL, 0);
}

static void test_decode_node(void)
{
    nino_vae *v = make_vae();
    nino_vae_need whole, tile;
    char want[128];
    node_new("VAEDecode");
    node_give("vae", node_value(NINO_PORT_VAE))->u.vae = v;
    give_latent(1, 512 / v->factor);
    nino_stream *s = node.run.stream;
    CHECK_OK(nino_vae_need_get(s, v, true, 1, 512 / v->factor, 512 / v->factor, &whole, &err), err);
    CHECK_OK(nino_vae_need_get(s, v, true, 1, 256 / v->factor, 256 / v->factor, &tile, &err), err);
    // tiles of 256 fit, those of 512 would be the whole picture
    nino_pool_set_budget(node.be->pool, tile.reserved);
    CHECK(tell() >= 1);
    snprintf(want, sizeof(want),
             "512 x 512 pixels need %.1f MiB at once, tiles of 256 need %.1f MiB",
             (double) whole.reserved / 0x1p20, (double) tile.reserved / 0x1p20);
    CHECK(strstr(lines, want) && strstr(lines, "VAEDecodeTiled"));
    CHECK(!strstr(lines, "batch") && !strstr(lines, "frames") && !strstr(lines, "narrower"));
    // no tile fits; two latents; a device that has more than may be used
    nino_pool_set_budget(node.be->pool, 4096);
    node.be->info.mem_bytes = 8192;
    give_latent(2, 4);
    CHECK(tell() >= 2);
    CHECK(!strstr(lines, "tiles") && strstr(lines, "a smaller batch: 2 latents"));
    CHECK(strstr(lines, "a higher limit: 0.0 MiB may be used of the device's 0.0 MiB"));
    // weights on the device
    nino_pool_set_budget(node.be->pool, (uint64_t) 64 << 20);
    node.be->info.mem_bytes = 0;
    give_latent(1, 4);
    nino_array *image = NULL;
    CHECK_OK(nino_vae_decode_tiled(s, v, node.in[0]->u.latent.samples, &(nino_tile_params){ 0 },
                                   &image, NULL, &err),
             err);
    nino_array_unref(&image);
    uint64_t wide, narrow;
    nino_backend_weight_sizes(node.be, &wide, &narrow);
    CHECK(wide > narrow && narrow > 0);
    nino_pool_set_budget(node.be->pool, 2 * wide);
    tell();
    CHECK(strstr(lines, "narrower weights: "));
    nino_backend_drop_weights(node.be);
    nino_backend_weight_sizes(node.be, &wide, &narrow);
    CHECK(!wide && !narrow);
    node_clear();
}

static void test_nothing(void)
{
    node_new("EmptyLatentImage");
    nino_pool_set_budget(node.be->pool, 0);
    node.be->info.mem_bytes = 0;
    CHECK(tell() == 0);
}

static void test_loaders(void)
{
    node_new("VAELoader");
    node_set("vae_name", "ae.safetensors");
    nino_pool_set_budget(node.be->pool, (uint64_t) 2 << 30);
    snprintf(node.be->info.name, sizeof(node.be->info.name), "a device");
    lines[0] = 0;
    nino_loader_tell(&node.run, 1.25, add_line, NULL);
    CHECK(strstr(lines, "ae.safetensors opened in 1.25 s; a device, "));
    CHECK(strstr(lines, "memory used 0.00 GiB, free 2.00 of 2.00 GiB"));
    // a loader of another category
    node_new("UnetLoaderGGUF");
    node_set("unet_name", "flux.gguf");
    nino_loader_tell(&node.run, 2, add_line, NULL);
    CHECK(strstr(lines, "flux.gguf opened in 2.00 s; "));
    lines[0] = 0;
    node_new("EmptyLatentImage");
    nino_loader_tell(&node.run, 1, add_line, NULL);
    node_new("LoadImage");
    nino_loader_tell(&node.run, 1, add_line, NULL);
    CHECK(!lines[0]);
}

int main(void)
{
    node_open();
    test_decode_node();
    test_nothing();
    test_loaders();
    node_close();
    return 0;
}
