// Nodes that encode pictures for inpainting and editing, with an encoder whose results can be
// worked out: the mean of every square of 8 x 8 pixels.
#include "tests/node.h"

static nino_vae *given[8];
static int n_given;

static nino_tensor *mean(nino_stream *s, const nino_vae *v, nino_tensor *pixels)
{
    return nino_resample(s, pixels, nino_dim(pixels, 1) / v->factor,
                         nino_dim(pixels, 2) / v->factor, NINO_FILTER_AREA);
}

static void give_vae(bool has_encoder)
{
    nino_vae *v = calloc(1, sizeof(*v));
    CHECK(v);
    *v = (nino_vae){ .channels = 3,
                     .factor = 8,
                     .scale = 1,
                     .has_encoder = has_encoder,
                     .name = "mean.safetensors",
                     .encode = mean,
                     .refs = 1 };
    given[n_given++] = nino_vae_ref(v);
    node_give("vae", node_value(NINO_PORT_VAE))->u.vae = v;
}

// h x w pixels of value 1 with 0 in the rightmost column.
static nino_array *picture(int64_t n, int64_t h, int64_t w)
{
    nino_array *a = node_array(SHAPE(n, h, w, 3), NULL, 0);
    for (int64_t i = 0; i < n * h * w * 3; i++)
        nino_array_f32(a)[i] = i / 3 % w == w - 1 ? 0 : 1;
    return a;
}

static nino_value *one_cond(void)
{
    nino_cond *c = nino_cond_create(1);
    CHECK(c);
    c->entry[0].context = A(SHAPE(1, 1, 1), 1);
    return node_cond(c);
}

// Pixels under the mask are grey; the mask grows and is cut as the pixels are.
static void encode_for_inpaint(void)
{
    node_new("VAEEncodeForInpaint");
    give_vae(true);
    node_give("pixels", node_image(picture(1, 8, 8)));
    nino_array *m = node_array(SHAPE(1, 8, 8), NULL, 0);
    nino_array_f32(m)[3 * 8 + 3] = 0.6f; // rounds to 1
    nino_array_f32(m)[0] = 0.5f;         // rounds to even
    node_give("mask", node_mask(m));
    node_set("grow_mask_by", "4");
    node_go();
    // 56 ones, one of which is 0.5
    EXPECT(node_out_samples(0), SHAPE(1, 1, 1, 3), 1e-6f, 55.5f / 64, 55.5f / 64, 55.5f / 64);
    const nino_array *grown = node.out[0]->u.latent.noise_mask;
    CHECK(grown->shape.dim[1] == 8 && grown->shape.dim[2] == 8);
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) // a square of 4: one more to the right and below
            CHECK(nino_array_f32(grown)[y * 8 + x] ==
                  (y >= 2 && y <= 5 && x >= 2 && x <= 5 ? 1.0f : 0.0f));
    node_set("grow_mask_by", "0");
    node_go();
    for (int i = 0; i < 64; i++)
        CHECK(nino_array_f32(node.out[0]->u.latent.noise_mask)[i] == (i == 27 ? 1.0f : 0.0f));
    node_set("grow_mask_by", "1");
    node_go();
    CHECK(nino_array_f32(node.out[0]->u.latent.noise_mask)[27] == 1);
}

static void odd_sizes(void)
{
    node_new("VAEEncodeForInpaint");
    give_vae(true);
    // 11 x 19: cut to 8 x 16, from row 1 and column 1; the zero column 18 is cut away
    node_give("pixels", node_image(picture(2, 11, 19)));
    node_give("mask", node_mask(node_array(SHAPE(1, 1, 1), NULL, 0))); // scaled up, for both
    node_go();
    EXPECT(node_out_samples(0), SHAPE(2, 1, 2, 3), 1e-6f, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    CHECK(node.out[0]->u.latent.noise_mask->shape.dim[1] == 8);
    CHECK(node.out[0]->u.latent.noise_mask->shape.dim[2] == 16);
    node_give("mask", node_mask(node_array(SHAPE(3, 4, 4), NULL, 0)));
    node_fails("shape", "mask");
    node_give("pixels", node_image(picture(1, 7, 19)));
    node_fails("shape", "pixels");
    node_give("pixels", node_image(picture(1, 8, 8)));
    node_give("mask", node_mask(node_array(SHAPE(1, 4, 4), NULL, 0)));
    give_vae(false);
    node_fails("model", "mean.safetensors");
}

static void inpaint_model(void)
{
    node_new("InpaintModelConditioning");
    give_vae(true);
    node_give("positive", one_cond());
    nino_value *negative = node_give("negative", one_cond());
    node_give("pixels", node_image(picture(1, 8, 8)));
    nino_array *m = node_array(SHAPE(1, 8, 8), NULL, 0);
    nino_array_f32(m)[0] = 1;
    node_give("mask", node_mask(m));
    node_go();
    const nino_cond_entry *p = node.out[0]->u.cond->entry, *n = node.out[1]->u.cond->entry;
    EXPECT(p->concat_latent, SHAPE(1, 1, 1, 3), 1e-6f, 55.5f / 64, 55.5f / 64, 55.5f / 64);
    CHECK(n->concat_latent == p->concat_latent && n->concat_mask == p->concat_mask);
    CHECK(p->concat_mask->shape.dim[2] == 8 && nino_array_f32(p->concat_mask)[0] == 1);
    CHECK(!negative->u.cond->entry[0].concat_latent);
    EXPECT(node_out_samples(2), SHAPE(1, 1, 1, 3), 1e-6f, 56.0f / 64, 56.0f / 64, 56.0f / 64);
    CHECK(node.out[2]->u.latent.noise_mask == p->concat_mask);
    node_set("noise_mask", "false");
    node_go();
    CHECK(!node.out[2]->u.latent.noise_mask);
}

static void instructions(void)
{
    node_new("InstructPixToPixConditioning");
    give_vae(true);
    node_give("positive", one_cond());
    node_give("negative", one_cond());
    node_give("pixels", node_image(picture(1, 8, 9))); // the zero column is cut away
    node_go();
    EXPECT(node.out[0]->u.cond->entry[0].concat_latent, SHAPE(1, 1, 1, 3), 1e-6f, 1, 1, 1);
    CHECK(!node.out[0]->u.cond->entry[0].concat_mask);
    CHECK(node.out[1]->u.cond->entry[0].concat_latent ==
          node.out[0]->u.cond->entry[0].concat_latent);
    EXPECT(node_out_samples(2), SHAPE(1, 1, 1, 3), 0, 0, 0, 0);
}

int main(void)
{
    node_open();
    encode_for_inpaint();
    odd_sizes();
    inpaint_model();
    instructions();
    node_close();
    CHECK(n_given == 5);
    for (int i = 0; i < n_given; i++) {
        CHECK(given[i]->refs == 1); // nobody else kept it
        nino_vae_unref(&given[i]);
    }
    return 0;
}
