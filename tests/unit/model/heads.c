// How many heads attention has: of as many channels as the file's metadata says, else by the rule
// of each network. Networks of the same weights agree exactly when their heads do.
#include "core/model/clip/clip_vision.h"
#include "core/model/unet/unet.h"
#include "tests/random_text.h"

#include "tests/networks.h" // its static variables have names of arguments above

static nino_weights *with_heads(const nino_weights *w, const char *channels)
{
    return test_copy_with_meta(w, dir.path, "heads", NINO_META_HEAD_CHANNELS, channels);
}

// The last hidden state of the text network in w, of ones.
static nino_array *text_of(nino_weights *w, int width)
{
    nino_encoder *e = NULL;
    nino_array *x = test_values(NINO_SHAPE(1, 7, width), 3);
    CHECK_OK(nino_encoder_load(NINO_ENC_CLIP_L, w, "", NULL, &e, &err), err);
    const nino_encoder_in in = { .x = nino_upload(dev.s, x, NINO_F32),
                                 .has_hidden = true,
                                 .pooled_row = -1 };
    const nino_encoder_out out = e->forward(dev.s, e, &in);
    nino_array *a = nino_download(dev.s, out.hidden, NINO_F32);
    CHECK_OK(nino_stream_status(dev.s, &err), err);
    nino_encoder_destroy(&e);
    nino_array_unref(&x);
    return a;
}

static bool is_same_text(nino_weights *w, int width, const char *channels)
{
    nino_weights *told = with_heads(w, channels);
    nino_array *a = text_of(w, width), *b = text_of(told, width);
    const bool same = !memcmp(a->data, b->data, a->bytes);
    nino_array_unref(&a);
    nino_array_unref(&b);
    nino_weights_unref(&told);
    return same;
}

// Heads of 64 wherever that divides the width; four else. The metadata counts before both.
static void test_texts(void)
{
    static const struct {
        int width;
        const char *usual, *other;
    } t[] = { { 32, "8", "16" },   { 64, "64", "16" },  { 96, "24", "48" },
              { 128, "64", "32" }, { 192, "64", "48" }, { 256, "64", "256" } };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const random_text c = { .width = t[i].width, .layers = 2, .mlp = 16, .vocab = 8 };
        nino_weights *w = random_text_file(&dir, "text", &c, 1, NULL);
        CHECK(is_same_text(w, c.width, t[i].usual));
        CHECK(!is_same_text(w, c.width, t[i].other));
        nino_weights_unref(&w);
    }
}

static void test_vision(void)
{
    static const struct {
        int width, usual, told;
    } t[] = { { 64, 1, 4 }, { 96, 4, 6 }, { 128, 2, 8 } };
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const random_text c = {
            .width = t[i].width, .layers = 2, .mlp = 16, .patch = 4, .side = 2
        };
        nino_weights *w = random_text_file(&dir, "vision", &c, 1, NULL);
        nino_weights *told = with_heads(w, "16");
        nino_clip_vision *a = NULL, *b = NULL;
        CHECK_OK(nino_clip_vision_load(w, "", "v", &a, &err), err);
        CHECK_OK(nino_clip_vision_load(told, "", "v", &b, &err), err);
        CHECK(a->heads == t[i].usual && b->heads == t[i].told);
        nino_clip_vision_unref(&a);
        nino_clip_vision_unref(&b);
        nino_weights_unref(&w);
        nino_weights_unref(&told);
    }
}

// Of the first attention of the UNet in w.
static int unet_heads(nino_weights *w)
{
    nino_diffusion *d = test_diffusion(w, "sdxl");
    const unet *u = d->net;
    int heads = 0;
    for (int i = 0; i < u->n_down && !heads; i++)
        for (int k = 0; k < u->down[i].n && !heads; k++)
            if (u->down[i].module[k].kind == UNET_TRANSFORMER)
                heads = u->down[i].module[k].transformer->block[0].self.heads;
    nino_diffusion_unref(&d);
    return heads;
}

static void test_unet(void)
{
    nino_weights *w = made_unet(&tiny_xl, NULL), *told = with_heads(w, "64");
    CHECK(unet_heads(w) == 4 && unet_heads(told) == 1); // 64 wide
    nino_weights_unref(&told);
    nino_weights_unref(&w);
}

// What is no divisor of the width is refused with the words of the file.
static void test_wrong(void)
{
    static const char *const wrong[] = { "0", "-8", "7", "many", "" };
    const random_text c = { .width = 32, .layers = 1, .mlp = 8, .vocab = 8 };
    nino_weights *w = random_text_file(&dir, "text", &c, 1, NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        nino_encoder *e = NULL;
        char want[128];
        nino_weights *told = with_heads(w, wrong[i]);
        snprintf(want, sizeof(want),
                 "head_channels in its metadata, %s, does not divide a width of 32", wrong[i]);
        CHECK(nino_encoder_load(NINO_ENC_CLIP_L, told, "", NULL, &e, &err) == NINO_ERR_FORMAT &&
              !e);
        CHECK_STR(err.msg, want);
        nino_weights_unref(&told);
    }
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const files[] = { "text", "vision", "ldm", "heads", NULL };
    CHECK(test_device_open(&dev, "ref", 0));
    dir = test_dir_create();
    test_texts();
    test_vision();
    test_unet();
    test_wrong();
    test_device_close(&dev);
    test_dir_remove(&dir, files);
    return 0;
}
