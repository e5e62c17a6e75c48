// Pictures of control networks that are patches: one a size and patch of those that entries see, found again by entry; what fails
// is told and leaves nothing.
#include "core/base/error.h"
#include "core/model/block_control/block_control.h"
#include "core/sample/guide/guide_priv.h"
#include "tests/vae.h"

enum { SIDE = 8, SIZES = 3 };

static nino_error err;
static test_device dev;
static int n_made;
static int64_t made[SIZES][2]; // height and width in pixels
static bool is_refusing;

// A latent whose values say which call made it.
static nino_status make_latent(void *priv, const nino_vae *v, const nino_array *pixels,
                               nino_array **out, nino_error *e)
{
    (void) priv;
    const int64_t *d = pixels->shape.dim;
    CHECK(n_made < SIZES && v->factor == SIDE && d[3] == 3 &&
          nino_array_f32((nino_array *) pixels)[0] == 0.5f);
    made[n_made][0] = d[1];
    made[n_made++][1] = d[2];
    if (is_refusing)
        return nino_fail(e, NINO_ERR_ARG, v->name, "made up");
    *out = nino_array_create(NINO_F32, NINO_SHAPE(1, d[1] / SIDE, d[2] / SIDE, 4));
    CHECK(*out);
    for (int64_t i = 0; i < nino_shape_count(&(*out)->shape); i++)
        nino_array_f32(*out)[i] = (float) n_made;
    return NINO_OK;
}

int main(void)
{
    CHECK(test_device_open(&dev, "ref", 0));
    nino_block_net net = { .name = "net.st", .format = nino_latent_format_find("sd15") };
    nino_vae vae = { .factor = SIDE, .channels = 4, .name = "vae.st" };
    const nino_block_use control = { .net = &net, .vae = &vae, .strength = 1 };
    nino_model model = { .n_patches = 1 };
    model.patch[0] =
        (nino_patch){ .kind = NINO_PATCH_BLOCK_CONTROL, .control = (nino_block_use *) &control };
    nino_guider guider = { .model = &model };
    const nino_guide_encode encode = { make_latent, NULL };
    nino_guide_run r = { .s = dev.s, .guider = &guider, .n_axes = 2, .encode = &encode };
    // Behind the entries of a list is one that is none.
    nino_cond_use use[] = {
        { .size = { 4, 6 } }, { .size = { 2, 2 } }, { .size = { 4, 6 } }, { .size = { 9, 9 } }
    };
    nino_cond_use other[] = { { .size = { 2, 2 } }, { .size = { 9, 9 } } };
    r.list[NINO_COND_POSITIVE] = (nino_cond_list){ use, 3, 4 };
    r.list[NINO_COND_NEGATIVE] = (nino_cond_list){ other, 1, 2 };
    CHECK_OK(nino_guide_block_hints(&r, &err), err);
    CHECK(n_made == 2 && made[0][0] == 32 && made[0][1] == 48 && made[1][0] == 16 &&
          made[1][1] == 16);
    nino_array *hint[NINO_MODEL_PATCHES];
    for (int i = 0; i < 3; i++) {
        nino_guide_block_hints_of(&r, &use[i], hint);
        CHECK(hint[0] && !hint[1] && hint[0]->shape.dim[1] == use[i].size[0] &&
              hint[0]->shape.dim[2] == use[i].size[1]);
    }
    nino_guide_block_hints_of(&r, &other[0], hint);
    CHECK(hint[0] && hint[0]->shape.dim[1] == 2);
    nino_guide_block_hints_of(&r, &use[3], hint);
    for (int i = 0; i < NINO_MODEL_PATCHES; i++)
        CHECK(!hint[i]);
    CHECK_OK(nino_guide_block_hints(&r, &err), err); // they are there already
    CHECK(n_made == 2);
    nino_guide_release_block_hints(&r);
    CHECK(!r.hints);
    nino_guide_block_hints_of(&r, &use[0], hint);
    CHECK(!hint[0]);

    r.list[NINO_COND_POSITIVE].n = r.list[NINO_COND_NEGATIVE].n = 0; // nobody sees one
    CHECK_OK(nino_guide_block_hints(&r, &err), err);
    CHECK(n_made == 2 && !r.hints);
    n_made = 0;
    is_refusing = true;
    r.list[NINO_COND_POSITIVE].n = 2; // the first that fails is the last
    CHECK(nino_guide_block_hints(&r, &err) == NINO_ERR_ARG && n_made == 1);
    CHECK_STR(err.where, "vae.st");
    nino_guide_release_block_hints(&r);
    CHECK(!r.hints);
    test_device_close(&dev);
    return 0;
}
