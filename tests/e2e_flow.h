// Workflows against the latents and pictures that ComfyUI made of them.
#pragma once
#include "core/file/latent_file.h"
#include "tests/e2e.h"
#include "tests/vae.h"

// The workflow with a node that saves the latent of a node, too. Takes json.
static inline char *e2e_with_latent(char *json, const char *node)
{
    const size_t room = strlen(json) + 200;
    char *out = malloc(room);
    CHECK(out && json[0] == '{');
    snprintf(out, room,
             "{\"999\": {\"class_type\": \"SaveLatent\", \"inputs\": {\"samples\": [\"%s\", 0], "
             "\"filename_prefix\": \"z\"}}, %s",
             node, json + 1);
    free(json);
    return out;
}

// most: NMSE
static inline void e2e_check_latent(const char *path, const nino_weights *ref, const char *tensor,
                                    double most)
{
    nino_error err = { 0 };
    nino_array *got = NULL;
    nino_weights *w = test_open("%s", path);
    CHECK_OK(nino_latent_load(w, &got, &err), err);
    nino_array *want = test_tensor(ref, tensor, true);
    const double far = test_nmse(got, want);
    printf(" latent nmse %.1e", far);
    CHECK(far <= most);
    nino_array_unref(&got);
    nino_array_unref(&want);
    nino_weights_unref(&w);
}

// Within `most` of 255 everywhere, and 50 dB.
static inline void e2e_check_picture(const char *path, const char *want_path, int most)
{
    nino_png got = e2e_png(path), want = e2e_png(want_path);
    const double psnr = test_psnr(got.pixels, want.pixels);
    const int worst = e2e_difference(path, want_path);
    printf(", picture %d of 255, %.1f dB", worst, psnr);
    CHECK(worst <= most && psnr >= 50);
    nino_png_release(&got);
    nino_png_release(&want);
}
