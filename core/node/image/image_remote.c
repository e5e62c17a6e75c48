// Pictures that programs hand over with or beside a prompt, and take back without a file of the output
// folder: ComfyUI's SaveImageWebsocket, and the nodes of the external tooling extension that painting
// programs use. How they travel is core/serve's.
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/media/image.h"
#include "core/node/util.h"
#include "core/text/base64.h"

#include <sys/stat.h>
#include <unistd.h>

#define MAX_SENT ((int64_t) 512 << 20)

// ---- out ---------------------------------------------------------------------------------------

static const char *const formats[] = { "PNG", "JPEG", NULL };

typedef struct send_params {
    int64_t format;
} send_params;

static nino_status send_png_run(nino_run *r, nino_error *err)
{
    return nino_node_preview(r, nino_in_image(r, 0), err);
}

static nino_status send_run(nino_run *r, nino_error *err)
{
    return nino_node_preview_as(r, nino_in_image(r, 0),
                                ((const send_params *) r->params)->format == 1, err);
}

// Each time anew: what is sent is nowhere to be found again.
NINO_NODE(save_image_websocket, "SaveImageWebsocket", "SaveImageWebsocket", "api/image",
          "Sends PNG files to the client of ninodes serve that has queued the prompt",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_NO_OUTPUTS, .is_output = true,
          NINO_RUN(send_png_run, .is_volatile = true));

#define FORMAT                                                                                     \
    NINO_P_ENUM(send_params, format, formats, 0, .label = "Format",                                \
                .help = "PNG, or the smaller JPEG")

NINO_NODE(etn_send, "ETN_SendImageWebSocket", "Send Image (WebSocket)", "external_tooling",
          "Sends files to the client of ninodes serve that has queued the prompt",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_NO_OUTPUTS, NINO_PARAMS(send_params, FORMAT),
          .is_output = true, NINO_RUN(send_run, .is_volatile = true));

NINO_NODE(etn_save, "ETN_SaveImageCache", "Save Image to Cache", "external_tooling",
          "Keeps files for a while, for the client of ninodes serve that asks for them by their id",
          NINO_INPUTS(NINO_PORT(images, IMAGE)), NINO_NO_OUTPUTS, NINO_PARAMS(send_params, FORMAT),
          .is_output = true, NINO_RUN(send_run));

// ---- in ----------------------------------------------------------------------------------------

// Three channels; grey becomes all of them.
static nino_array *remote_rgb(const nino_image *i, const char *where, nino_error *err)
{
    const int64_t n = (int64_t) i->height * i->width, c = i->channels;
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(1, i->height, i->width, 3), where, err);
    const float *src = i->pixels ? nino_array_f32(i->pixels) : NULL;
    float *to = out && src ? nino_array_f32(out) : NULL;
    for (int64_t p = 0; to && p < n; p++)
        for (int64_t k = 0; k < 3; k++)
            to[3 * p + k] = src[c * p + (c < 3 ? 0 : k)];
    return out;
}

static nino_array *remote_channel(const nino_image *i, int64_t channel, const char *where,
                                  nino_error *err)
{
    const int64_t n = (int64_t) i->height * i->width, c = i->channels;
    nino_array *out = nino_node_array(NINO_F32, NINO_SHAPE(1, i->height, i->width), where, err);
    const float *src = i->pixels ? nino_array_f32(i->pixels) : NULL;
    float *to = out && src ? nino_array_f32(out) : NULL;
    for (int64_t p = 0; to && p < n; p++)
        to[p] = src[c * p + channel];
    return out;
}

// The picture, and its alpha as it is, or where it has none its first channel.
static nino_status give_both(nino_run *r, const void *data, size_t len, nino_error *err)
{
    const char *where = r->def->key;
    nino_image i = { 0 };
    nino_status st = nino_image_read(data, len, where, !r->is_plan, &i, err);
    if (st)
        return st;
    const int64_t alpha = i.channels % 2 ? 0 : i.channels - 1;
    nino_array *rgb = remote_rgb(&i, where, err);
    nino_array *mask = rgb ? remote_channel(&i, alpha, where, err) : NULL;
    nino_image_release(&i);
    if (!mask) {
        nino_array_unref(&rgb);
        return NINO_ERR_NOMEM;
    }
    if ((st = nino_out_image(r, 0, rgb, err))) {
        nino_array_unref(&mask);
        return st;
    }
    return nino_out_mask(r, 1, mask, err);
}

typedef struct id_params {
    const char *id;
} id_params;

static nino_status cached_name(const char *id, char *out, size_t size, nino_error *err)
{
    const size_t n = strlen(id);
    if (!n || n > NINO_SENT_ID || strspn(id, NINO_SENT_CHARS) != n)
        return nino_fail_kind(err, NINO_ERR_MISSING, "value", "id",
                              "no picture was sent as '%.80s'", id);
    snprintf(out, size, NINO_SENT_DIR "/%s [temp]", id);
    return NINO_OK;
}

static nino_status load_sent_run(nino_run *r, nino_error *err)
{
    char name[NINO_SENT_ID + 32], *data = NULL;
    struct stat sb;
    int fd = -1;
    nino_status st = cached_name(((const id_params *) r->params)->id, name, sizeof(name), err);
    if (st || (st = nino_services_of(r->ctx)->open_input(r->ctx, name, &fd, err)))
        return st;
    if (fstat(fd, &sb) || sb.st_size > MAX_SENT)
        st = nino_fail(err, NINO_ERR_IO, name, "cannot be read, or is larger than 512 MiB");
    else if (!(data = malloc((size_t) sb.st_size + 1)))
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    else if (!(st = nino_file_pread(fd, data, (size_t) sb.st_size, 0, name, err)))
        st = give_both(r, data, (size_t) sb.st_size, err);
    free(data);
    close(fd);
    return st;
}

static nino_status load_sent_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                      nino_error *err)
{
    char name[NINO_SENT_ID + 32];
    const nino_status st = cached_name(((const id_params *) params)->id, name, sizeof(name), err);
    return st ? st : nino_services_of(ctx)->identity(ctx, "input", name, h, err);
}

NINO_NODE(etn_load, "ETN_LoadImageCache", "Load Image from Cache", "external_tooling",
          "Reads a picture that a client of ninodes serve has sent before the prompt",
          NINO_OUTPUTS(NINO_PORT(image, IMAGE),
                       NINO_PORT(mask, MASK, .help = "Alpha, or the first channel without alpha")),
          NINO_PARAMS(id_params, NINO_P_STRING(id_params, id, "", .label = "Id",
                                               .help = "What it was sent as")),
          NINO_RUN(load_sent_run, .identity = load_sent_identity));

typedef struct text_params {
    const char *text;
} text_params;

// The bytes that the text stands for; what a browser writes in front of them is left out.
static nino_status read_text(const nino_run *r, nino_buf *out, nino_error *err)
{
    const char *text = ((const text_params *) r->params)->text;
    const char *comma = strncmp(text, "data:", 5) ? NULL : strchr(text, ',');
    text = comma ? comma + 1 : text;
    if (nino_base64_decode(text, strlen(text), out) && !out->failed)
        return NINO_OK;
    return out->failed ? nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory")
                       : nino_fail_kind(err, NINO_ERR_FORMAT, "value", r->def->key, "is no base64");
}

static nino_status load_image_text_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_status st = read_text(r, &b, err);
    if (!st)
        st = give_both(r, b.data, b.len, err);
    nino_buf_release(&b);
    return st;
}

static nino_status load_mask_text_run(nino_run *r, nino_error *err)
{
    nino_buf b = { 0 };
    nino_image i = { 0 };
    nino_status st = read_text(r, &b, err);
    if (!st && !(st = nino_image_read(b.data, b.len, r->def->key, !r->is_plan, &i, err))) {
        nino_array *mask = remote_channel(&i, 0, r->def->key, err);
        st = mask ? nino_out_mask(r, 0, mask, err) : NINO_ERR_NOMEM;
        nino_image_release(&i);
    }
    nino_buf_release(&b);
    return st;
}

#define PICTURE_TEXT(name)                                                                         \
    NINO_K_STRING(name, text_params, text, "", .label = "Base64",                                  \
                  .help = "The bytes of a PNG, JPEG or WebP file")

NINO_NODE(etn_load_image, "ETN_LoadImageBase64", "Load Image (Base64)", "external_tooling",
          "Reads a picture that is in the workflow itself",
          NINO_OUTPUTS(NINO_PORT(image, IMAGE),
                       NINO_PORT(mask, MASK, .help = "Alpha, or the first channel without alpha")),
          NINO_PARAMS(text_params, PICTURE_TEXT("image")), NINO_RUN(load_image_text_run));
NINO_NODE(etn_load_mask, "ETN_LoadMaskBase64", "Load Mask (Base64)", "external_tooling",
          "Reads a mask that is in the workflow itself",
          NINO_OUTPUTS(NINO_PORT(mask, MASK, .help = "The first channel")),
          NINO_PARAMS(text_params, PICTURE_TEXT("mask")), NINO_RUN(load_mask_text_run));
