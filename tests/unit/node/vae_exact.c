// exact_tiles of the nodes that decode: with it the picture is the whole decode's, without it that of
// tiles.
#include "tests/node.h"
#include "tests/random_vae.h"
#include "tests/vae.h"

enum { H = 272, W = 12 }; // pixels, and cells

static nino_vae *vae;
static nino_error err;

static void make(void)
{
    static const char *const files[] = { "v", NULL };
    const random_vae net = {
        .ch = 32, .mult = { 1 }, .n_levels = 1, .n_res = 0, .z = 4, .dtype = NINO_F32, .seed = 5
    };
    const test_dir dir = test_dir_create();
    CHECK_OK(random_vae_save(net, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "v", &vae, &err), err);
    nino_weights_unref(&w);
    test_dir_remove(&dir, files);
}

// What a node makes of the latent.
static nino_array *run(const char *class_type, const char *exact)
{
    node_new(class_type);
    node_give("vae", node_value(NINO_PORT_VAE))->u.vae = nino_vae_ref(vae);
    nino_array *z = node_array(SHAPE(1, H, W, 4), NULL, 0);
    for (int i = 0; i < H * W * 4; i++)
        nino_array_f32(z)[i] = (float) (i * 31 % 17) / 8 - 1 + (i / 4 / W < H / 3 ? 1.5f : 0);
    node_give("samples", node_value(NINO_PORT_LATENT))->u.latent.samples = z;
    if (exact) {
        node_set("tile_size", "256");
        node_set("exact_tiles", exact);
    }
    node_go();
    return nino_array_ref(node.out[0]->u.image);
}

int main(void)
{
    make();
    CHECK(vae->factor == 1);
    node_open();
    nino_stream_set_precision(node.run.stream, NINO_PREC_F32);
    nino_array *want = run("VAEDecode", NULL);
    nino_array *tiles = run("ROCMOptimizedVAEDecodeTiled", "false");
    nino_array *exact = run("ROCMOptimizedVAEDecodeTiled", "true");
    printf("  nmse: tiles %.1e, exact %.1e\n", test_nmse(tiles, want), test_nmse(exact, want));
    CHECK(test_nmse(tiles, want) >= 1e-6 && test_nmse(exact, want) <= 1e-10);
    nino_array *all[] = { want, tiles, exact };
    for (int i = 0; i < 3; i++)
        nino_array_unref(&all[i]);
    CHECK(nino_param_find(nino_node_find("ROCMOptimizedVAEDecode", NULL), "exact_tiles"));
    nino_vae_unref(&vae);
    node_close();
    return 0;
}
