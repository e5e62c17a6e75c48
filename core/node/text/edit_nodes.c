// Prompts with pictures: instructions for Qwen-Image's editing models. Behaviour of ComfyUI's
// nodes_qwen.py.
#include <math.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/node/text/prompt_node.h"

#define MARK "<|vision_start|><|image_pad|><|vision_end|>"
#define MAX_PICTURES 3
#define EDIT_PIXELS (1024 * 1024) // of what is looked at and encoded
#define SEEN_PIXELS (384 * 384)   // of what is only looked at

typedef struct edit_params {
    const char *prompt;
} edit_params;

// The first `n` pictures of a batch at about so many pixels, sides multiples of `unit`.
static nino_status edit_scaled(nino_run *r, const nino_array *image, int64_t n, int pixels,
                               int unit, nino_array **out, nino_error *err)
{
    nino_array some = *image; // shares its memory
    some.shape.dim[0] = n < image->shape.dim[0] ? n : image->shape.dim[0];
    const double h = (double) image->shape.dim[1], w = (double) image->shape.dim[2];
    const double by = sqrt(pixels / (w * h));
    const int64_t width = (int64_t) rint(w * by / unit) * unit;
    const int64_t height = (int64_t) rint(h * by / unit) * unit;
    if (width < 1 || height < 1)
        return nino_fail_kind(err, NINO_ERR_ARG, "shape", "image",
                              "a picture of %lldx%lld is too narrow to be looked at",
                              (long long) image->shape.dim[2], (long long) image->shape.dim[1]);
    return nino_rescale(r, &some, width, height, NINO_SCALE_AREA, false, out, err);
}

// Encodes pictures as reference latents of the conditioning, in their order.
static nino_status edit_refer(nino_run *r, const nino_vae *vae, nino_array *const *pictures,
                              nino_cond_entry *e, nino_error *err)
{
    nino_status st = NINO_OK;
    for (int i = 0; i < MAX_PICTURES && !st; i++) {
        nino_array *latent = NULL;
        if (!pictures[i])
            continue;
        st = nino_encode_pixels(r, vae, pictures[i], &latent, err);
        if (!st && !nino_cond_add_ref(e, latent))
            st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        nino_array_unref(&latent);
    }
    return st;
}

static void edit_release(nino_array **pictures)
{
    for (int i = 0; i < MAX_PICTURES; i++)
        nino_array_unref(&pictures[i]);
}

// seen: what stands at the marks of the prompt, in their order; encoded: what vae, which may be
// NULL, makes latents of.
static nino_status edit_encode(nino_run *r, const char *prompt, bool has_pictures,
                               nino_array *const *seen, nino_array *const *encoded,
                               const nino_vae *vae, nino_error *err)
{
    const nino_array *pictures[MAX_PICTURES];
    nino_cond_entry *e = NULL;
    nino_clip_text text = { .all = prompt, .has_pictures = has_pictures, .pictures = pictures };
    for (int i = 0; i < MAX_PICTURES; i++)
        if (seen[i])
            pictures[text.n_pictures++] = seen[i];
    nino_status st = nino_prompt_encode(r, &text, &e, err);
    return st || !vae ? st : edit_refer(r, vae, encoded, e, err);
}

// ---- TextEncodeQwenImageEdit -----------------------------------------------------------------

static nino_status edit_one_run(nino_run *r, nino_error *err)
{
    const edit_params *p = r->params;
    const nino_array *image = nino_in_image(r, 2);
    nino_array *scaled[MAX_PICTURES] = { NULL };
    nino_buf prompt = { 0 };
    nino_status st = NINO_OK;
    if (image)
        st = edit_scaled(r, image, INT64_MAX, EDIT_PIXELS, 1, &scaled[0], err);
    nino_buf_addf(&prompt, "%s%s", image ? MARK : "", p->prompt);
    if (!st && prompt.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (!st)
        st = edit_encode(r, prompt.data, image, scaled, scaled, nino_in_vae(r, 1), err);
    edit_release(scaled);
    nino_buf_release(&prompt);
    return st;
}

#define P_PROMPT                                                                                   \
    NINO_PARAMS(edit_params, NINO_P_STRING(edit_params, prompt, "", .label = "Instruction",        \
                                           .multiline = true, .help = "What is to be changed"))
#define VAE_HELP "Its latents of the pictures go along as references"

NINO_NODE(qwen_edit, "TextEncodeQwenImageEdit", "TextEncodeQwenImageEdit", "advanced/conditioning",
          "An instruction about a picture, which Qwen-Image's text encoder looks at",
          NINO_INPUTS(NINO_PORT(clip, CLIP),
                      NINO_PORT(vae, VAE, .optional = true, .help = VAE_HELP),
                      NINO_PORT(image, IMAGE, .optional = true,
                                .help = "Without one it is a prompt as any other")),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), P_PROMPT, NINO_RUN(edit_one_run));

// ---- TextEncodeQwenImageEditPlus -------------------------------------------------------------

static nino_status edit_plus_run(nino_run *r, nino_error *err)
{
    const edit_params *p = r->params;
    const nino_vae *vae = nino_in_vae(r, 1);
    nino_array *seen[MAX_PICTURES] = { NULL }, *encoded[MAX_PICTURES] = { NULL };
    nino_buf prompt = { 0 };
    nino_status st = NINO_OK;
    for (int i = 0; i < MAX_PICTURES && !st; i++) {
        const nino_array *image = nino_in_image(r, 2 + i);
        if (!image)
            continue;
        nino_buf_addf(&prompt, "Picture %d: " MARK, i + 1);
        st = edit_scaled(r, image, 1, SEEN_PIXELS, 1, &seen[i], err);
        if (!st && vae)
            st = edit_scaled(r, image, INT64_MAX, EDIT_PIXELS, 8, &encoded[i], err);
    }
    nino_buf_adds(&prompt, p->prompt);
    if (!st && prompt.failed)
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    if (!st)
        st = edit_encode(r, prompt.data, true, seen, encoded, vae, err);
    edit_release(seen);
    edit_release(encoded);
    nino_buf_release(&prompt);
    return st;
}

NINO_NODE(qwen_edit_plus, "TextEncodeQwenImageEditPlus", "TextEncodeQwenImageEditPlus",
          "advanced/conditioning",
          "An instruction about up to three pictures, which it calls Picture 1, 2 and 3",
          NINO_INPUTS(NINO_PORT(clip, CLIP),
                      NINO_PORT(vae, VAE, .optional = true, .help = VAE_HELP),
                      NINO_PORT(image1, IMAGE, .optional = true),
                      NINO_PORT(image2, IMAGE, .optional = true),
                      NINO_PORT(image3, IMAGE, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(CONDITIONING, CONDITIONING)), P_PROMPT, NINO_RUN(edit_plus_run));
