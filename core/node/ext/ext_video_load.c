// Clips and folders of pictures as batches, under the rules of VideoHelperSuite.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/media/video.h"
#include "core/node/ext/ext.h"

// ---- sizes -----------------------------------------------------------------------------------

// What a family of models wants: sides that are multiples of `side`, every*k + first frames.
static const struct {
    const char *name;
    int side, every, first;
} families[] = { { "None", 1, 1, 0 },  { "AnimateDiff", 8, 1, 0 }, { "Mochi", 16, 6, 1 },
                 { "LTXV", 32, 8, 1 }, { "Hunyuan", 16, 4, 1 },    { "Cosmos", 16, 8, 1 },
                 { "Wan", 8, 4, 1 } };
static const char *const family_names[] = { "None",    "AnimateDiff", "Mochi", "LTXV",
                                            "Hunyuan", "Cosmos",      "Wan",   NULL };

static int64_t to_multiple(double v, int side)
{
    const int64_t n = (int64_t) (v / side + 0.5);
    return (n > 0 ? n : 1) * side;
}

// One side of 0 follows from the aspect ratio, two are those of the file.
static void wanted_size(double w, double h, int64_t cw, int64_t ch, int side, int64_t *ow,
                        int64_t *oh)
{
    const double x = cw ? (double) cw : ch ? w * (double) ch / h : w;
    const double y = ch ? (double) ch : cw ? h * (double) cw / w : h;
    *ow = to_multiple(x, side);
    *oh = to_multiple(y, side);
}

static nino_status fit(nino_run *r, nino_array **a, int64_t w, int64_t h, nino_error *err)
{
    const nino_picture p = nino_picture_of(*a);
    nino_array *sized = NULL;
    if (p.w == w && p.h == h)
        return NINO_OK;
    const nino_status st = nino_rescale(r, *a, w, h, NINO_SCALE_LANCZOS, true, &sized, err);
    if (st)
        return st;
    nino_array_unref(a);
    *a = sized;
    return NINO_OK;
}

// Names may begin with "input/", which is where they are looked for.
static const char *in_input(const char *name)
{
    return !strncmp(name, "input/", 6) ? name + 6 : name;
}

// ---- clips -----------------------------------------------------------------------------------

typedef struct clip_params {
    const char *video;
    double force_rate;
    int64_t custom_width, custom_height, frame_load_cap, skip_first_frames, select_every_nth,
        format;
} clip_params;

// As VHS_LoadVideoFFmpeg has them.
typedef struct clip_time_params {
    const char *video;
    double force_rate;
    int64_t custom_width, custom_height, frame_load_cap;
    double start_time;
    int64_t format;
} clip_time_params;

typedef struct picks {
    int64_t *at, n;
    double rate, start; // seconds
} picks;

// The frames that are taken of n at `fps`; malloc'd.
static bool pick(const clip_params *p, double start, int64_t n, double fps, picks *out)
{
    const double rate = p->force_rate > 0 ? p->force_rate : fps;
    const int64_t all = (int64_t) ceil((double) n / fps * rate - 1e-6);
    const int64_t first = p->skip_first_frames + (int64_t) (start * rate + 0.5);
    *out = (picks){ .at = calloc((size_t) (all > 0 ? all : 0) + 1, sizeof(int64_t)),
                    .rate = rate / (double) p->select_every_nth,
                    .start = (double) first / rate };
    for (int64_t k = first; out->at && k < all; k += p->select_every_nth) {
        const int64_t at = (int64_t) floor((double) k / rate * fps + 1e-6);
        if (p->frame_load_cap && out->n == p->frame_load_cap)
            break;
        out->at[out->n++] = at < n ? at : n - 1;
    }
    const int every = families[p->format].every, rest = families[p->format].first;
    if (every > 1 && out->n >= rest)
        out->n = (out->n - rest) / every * every + rest;
    return out->at;
}

static nino_status give_info(nino_run *r, int i, const nino_video_info *info, const picks *p,
                             const nino_picture *s, nino_error *err)
{
    const double frames = (double) info->frames, n = (double) p->n;
    const double v[10] = { info->fps, frames, frames / info->fps, info->width,   info->height,
                           p->rate,   n,      n / p->rate,        (double) s->w, (double) s->h };
    nino_value *b = nino_ext_out_bundle(r, i, NINO_PORT_VIDEO_INFO, 10, err);
    for (int k = 0; b && k < 10; k++) {
        if (!(b->item[k] = nino_value_create(NINO_PORT_FLOAT)))
            return nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
        b->item[k]->u.f = v[k];
    }
    return b ? NINO_OK : NINO_ERR_NOMEM;
}

// Sizes when planning: the container's number of frames is believed.
static nino_status read_clip(nino_run *r, const char *name, nino_video_info *info, nino_array **out,
                             nino_error *err)
{
    int fd = -1;
    nino_status st = nino_services_of(r->ctx)->open_input(r->ctx, name, &fd, err);
    if (st)
        return st;
    st = nino_video_read(fd, name, info, r->is_plan ? NULL : out, err);
    close(fd);
    if (!st && r->is_plan) {
        info->frames = info->frames ? info->frames : 1;
        *out = nino_node_array(NINO_F32, NINO_SHAPE(info->frames, info->height, info->width, 3),
                               name, err);
        st = *out ? NINO_OK : NINO_ERR_NOMEM;
    }
    if (!st)
        info->frames = (*out)->shape.dim[0];
    return st;
}

// The sound of so many seconds of the clip as output 2; it stays empty where there is none.
static nino_status give_sound(nino_run *r, const char *name, double start, double seconds,
                              nino_error *err)
{
    nino_sound all = { 0 }, part = { 0 };
    int fd = -1;
    nino_status st = nino_services_of(r->ctx)->open_input(r->ctx, name, &fd, err);
    if (st)
        return st;
    st = nino_sound_read(fd, name, r->is_plan, &all, err);
    close(fd);
    if (!st && all.wave)
        st = nino_sound_cut(&all, llround(start * all.rate), llround(seconds * all.rate), &part,
                            err);
    nino_sound_release(&all);
    return st ? st : nino_out_audio(r, 2, part, err);
}

// Frames as output 0, their number or a mask as output 1, their sound as output 2, what the clip
// was as output 3.
static nino_status clip(nino_run *r, const clip_params *p, double start, nino_error *err)
{
    const bool with_mask = r->def->outputs[1].type == NINO_PORT_MASK;
    const char *name = in_input(p->video);
    nino_video_info info = { 0 };
    nino_array *all = NULL;
    nino_value whole = { .type = NINO_PORT_IMAGE, .refs = 1 };
    picks chosen = { 0 };
    int64_t w = 0, h = 0;
    if (r->in[1])
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "vae",
                              "encoding while loading is not supported: use VAE Encode");
    nino_status st = read_clip(r, name, &info, &all, err);
    if (!st && !pick(p, start, info.frames, info.fps, &chosen))
        st = nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    if (!st && !chosen.n)
        st = nino_fail_kind(err, NINO_ERR_RANGE, "range", "skip_first_frames",
                            "no frame is left of the clip's %lld", (long long) info.frames);
    whole.u.image = all;
    if (!st)
        st = nino_ext_out_picked(r, 0, &whole, chosen.at, chosen.n, err);
    nino_array_unref(&all);
    if (!st) {
        wanted_size(info.width, info.height, p->custom_width, p->custom_height,
                    families[p->format].side, &w, &h);
        st = fit(r, &r->out[0]->u.image, w, h, err);
    }
    if (!st && with_mask)
        st = nino_out_mask(r, 1, nino_node_array(NINO_F32, NINO_SHAPE(chosen.n, h, w), name, err),
                           err);
    else if (!st)
        st = nino_out_int(r, 1, chosen.n, err);
    const nino_picture s = r->out[0] ? nino_picture_of(r->out[0]->u.image) : (nino_picture){ 0 };
    if (!st)
        st = give_sound(r, name, chosen.start, (double) chosen.n / chosen.rate, err);
    if (!st)
        st = give_info(r, 3, &info, &chosen, &s, err);
    free(chosen.at);
    nino_video_info_release(&info);
    return st;
}

static nino_status clip_run(nino_run *r, nino_error *err) { return clip(r, r->params, 0, err); }

static nino_status clip_time_run(nino_run *r, nino_error *err)
{
    const clip_time_params *t = r->params;
    const clip_params p = { .video = t->video,
                            .force_rate = t->force_rate,
                            .custom_width = t->custom_width,
                            .custom_height = t->custom_height,
                            .frame_load_cap = t->frame_load_cap,
                            .select_every_nth = 1,
                            .format = t->format };
    return clip(r, &p, t->start_time, err);
}

static nino_status clip_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                 nino_error *err)
{
    const char *name = in_input(*(const char *const *) params); // the first of each struct
    return nino_services_of(ctx)->identity(ctx, "input", name, h, err);
}

static nino_status clip_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    const char *name = in_input(*(const char *const *) params);
    return ctx ? nino_services_of(ctx)->check_file(ctx, "input", name, err) : NINO_OK;
}

#define CLIP_INPUTS                                                                                \
    NINO_INPUTS(NINO_PORT(meta_batch, OTHER, .optional = true, .help = "Not needed"),              \
                NINO_PORT(vae, VAE, .optional = true, .help = "Not supported"))
#define CLIP_OUTPUTS(second)                                                                       \
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), second,                                                  \
                 NINO_PORT(audio, AUDIO, .help = "Of the frames that are taken"),                  \
                 NINO_PORT(video_info, VIDEO_INFO))
#define CLIP_SIZE(S)                                                                               \
    NINO_P_FLOAT(S, force_rate, 0, 0, 60, 1, .label = "Frames a second",                           \
                 .help = "Other than those of the file, 0 for its own"),                           \
        NINO_P_INT(S, custom_width, 0, 0, 8192, 1, .label = "Width", .unit = "px",                 \
                   .help = "Scales to this width, 0 as the height says"),                          \
        NINO_P_INT(S, custom_height, 0, 0, 8192, 1, .label = "Height", .unit = "px",               \
                   .help = "Scales to this height, 0 as the width says"),                          \
        NINO_P_INT(S, frame_load_cap, 0, 0, INT64_C(9007199254740991), 1, .label = "At most",      \
                   .help = "How many frames are read, 0 for all")
#define CLIP_FORMAT(S)                                                                             \
    NINO_P_ENUM(S, format, family_names, 1, .label = "Made for", .optional = true,                 \
                .help = "Sizes and numbers of frames that fit a family of models")
#define CLIP_PICK                                                                                  \
    NINO_P_INT(clip_params, skip_first_frames, 0, 0, INT64_C(9007199254740991), 1,                 \
               .label = "Skip", .help = "How many frames are left out first"),                     \
        NINO_P_INT(clip_params, select_every_nth, 1, 1, INT64_C(9007199254740991), 1,              \
                   .label = "Every", .help = "One of so many frames is taken")
#define CLIP_FILE(S)                                                                               \
    NINO_P_FILE(S, video, "input", .label = "Video", .help = "A video file in the input folder")
#define CLIP_PATH(S)                                                                               \
    NINO_P_STRING(S, video, "", .label = "Video", .help = "A video file in the input folder")
#define CLIP_HELP "Reads the frames of a clip, and their sound"

NINO_NODE(vhs_load, "VHS_LoadVideo", "Load Video (Upload)", "Video Helper Suite", CLIP_HELP,
          CLIP_INPUTS, CLIP_OUTPUTS(NINO_PORT(frame_count, INT)),
          NINO_PARAMS(clip_params, CLIP_FILE(clip_params), CLIP_SIZE(clip_params), CLIP_PICK,
                      CLIP_FORMAT(clip_params)),
          NINO_RUN(clip_run, .identity = clip_identity));
NINO_NODE(vhs_load_path, "VHS_LoadVideoPath", "Load Video (Path)", "Video Helper Suite", CLIP_HELP,
          CLIP_INPUTS, CLIP_OUTPUTS(NINO_PORT(frame_count, INT)),
          NINO_PARAMS(clip_params, CLIP_PATH(clip_params), CLIP_SIZE(clip_params), CLIP_PICK,
                      CLIP_FORMAT(clip_params)),
          NINO_RUN(clip_run, .identity = clip_identity, .check = clip_check));
NINO_NODE(vhs_load_time, "VHS_LoadVideoFFmpeg", "Load Video FFmpeg (Upload)", "Video Helper Suite",
          CLIP_HELP, CLIP_INPUTS, CLIP_OUTPUTS(NINO_PORT(mask, MASK)),
          NINO_PARAMS(clip_time_params, CLIP_FILE(clip_time_params), CLIP_SIZE(clip_time_params),
                      NINO_P_FLOAT(clip_time_params, start_time, 0, 0, 9007199254740991.0, 0.001,
                                   .label = "Start", .help = "Seconds that are left out first"),
                      CLIP_FORMAT(clip_time_params)),
          NINO_RUN(clip_time_run, .identity = clip_identity));
NINO_NODE(vhs_load_time_path, "VHS_LoadVideoFFmpegPath", "Load Video FFmpeg (Path)",
          "Video Helper Suite", CLIP_HELP, CLIP_INPUTS, CLIP_OUTPUTS(NINO_PORT(mask, MASK)),
          NINO_PARAMS(clip_time_params, CLIP_PATH(clip_time_params), CLIP_SIZE(clip_time_params),
                      NINO_P_FLOAT(clip_time_params, start_time, 0, 0, 9007199254740991.0, 0.001,
                                   .label = "Start", .help = "Seconds that are left out first"),
                      CLIP_FORMAT(clip_time_params)),
          NINO_RUN(clip_time_run, .identity = clip_identity, .check = clip_check));

// ---- one picture by its path -----------------------------------------------------------------

typedef struct path_params {
    const char *image;
    int64_t custom_width, custom_height;
} path_params;

static nino_status picture_run(nino_run *r, nino_error *err)
{
    const path_params *p = r->params;
    nino_array *rgb = NULL, *mask = NULL;
    int64_t w = 0, h = 0;
    if (r->in[0])
        return nino_fail_kind(err, NINO_ERR_UNSUPPORTED, "value", "vae",
                              "encoding while loading is not supported: use VAE Encode");
    nino_status st = nino_node_read_picture(r, in_input(p->image), &rgb, &mask, err);
    if (st)
        return st;
    const nino_picture s = nino_picture_of(rgb);
    wanted_size((double) s.w, (double) s.h, p->custom_width, p->custom_height,
                p->custom_width || p->custom_height ? 8 : 1, &w, &h);
    st = fit(r, &rgb, w, h, err);
    if (!st)
        st = nino_out_image(r, 0, rgb, err);
    else
        nino_array_unref(&rgb);
    if (st) {
        nino_array_unref(&mask);
        return st;
    }
    return nino_out_mask(r, 1, mask, err);
}

NINO_NODE(
    vhs_picture, "VHS_LoadImagePath", "Load Image (Path)", "Video Helper Suite",
    "Reads a picture of the input folder",
    NINO_INPUTS(NINO_PORT(vae, VAE, .optional = true, .help = "Not supported")),
    NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(mask, MASK)),
    NINO_PARAMS(path_params,
                NINO_P_STRING(path_params, image, "", .label = "Image",
                              .help = "A picture in the input folder"),
                NINO_P_INT(path_params, custom_width, 0, 0, 8192, 8, .label = "Width", .unit = "px",
                           .help = "Scales to this width, 0 as the height says"),
                NINO_P_INT(path_params, custom_height, 0, 0, 8192, 8, .label = "Height",
                           .unit = "px", .help = "Scales to this height, 0 as the width says")),
    NINO_RUN(picture_run, .identity = clip_identity, .check = clip_check));

// ---- folders ---------------------------------------------------------------------------------

typedef struct folder_params {
    const char *directory;
    int64_t image_load_cap, skip_first_images, select_every_nth;
} folder_params;

static bool is_picture(const char *name)
{
    static const char *const endings[] = { ".png", ".jpg", ".jpeg", ".webp" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t n = strlen(name), m = strlen(endings[i]);
        if (n > m && !strcasecmp(name + n - m, endings[i]))
            return true;
    }
    return false;
}

// Is `name` directly in the folder?
static bool is_in(const char *name, const char *folder)
{
    size_t n = strlen(folder);
    while (n && folder[n - 1] == '/')
        n--;
    if (!n)
        return !strchr(name, '/');
    return !strncmp(name, folder, n) && name[n] == '/' && !strchr(name + n + 1, '/');
}

// Names of the pictures that are taken, sorted; one free(). *n: how many.
static char **folder_names(nino_ctx *ctx, const folder_params *p, int64_t *n)
{
    char **all = nino_services_of(ctx)->list_models(ctx, "input");
    const char *folder = in_input(p->directory);
    int64_t seen = 0;
    *n = 0;
    for (int64_t i = 0; all && all[i]; i++) {
        if (!is_picture(all[i]) || !is_in(all[i], folder))
            continue;
        const int64_t at = seen++ - p->skip_first_images;
        if (at >= 0 && at % p->select_every_nth == 0 &&
            (!p->image_load_cap || *n < p->image_load_cap))
            all[(*n)++] = all[i];
    }
    return all;
}

static nino_status folder_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                   nino_error *err)
{
    int64_t n = 0;
    char **all = folder_names(ctx, params, &n);
    nino_status st = NINO_OK;
    for (int64_t i = 0; i < n && !st; i++)
        st = nino_services_of(ctx)->identity(ctx, "input", all[i], h, err);
    free(all);
    return st;
}

static nino_status folder_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    int64_t n = 0;
    if (!ctx)
        return NINO_OK;
    free(folder_names((nino_ctx *) ctx, params, &n));
    return n ? NINO_OK
             : nino_fail_kind(err, NINO_ERR_MISSING, "missing_file", "directory",
                              "no picture in this folder of the input folder");
}

typedef struct read_pictures {
    nino_array **rgb, **mask;
    int64_t n;
} read_pictures;

static void let_go(read_pictures *f)
{
    for (int64_t i = 0; i < f->n; i++) {
        nino_array_unref(&f->rgb[i]);
        nino_array_unref(&f->mask[i]);
    }
    free(f->rgb);
    free(f->mask);
}

// The number of one that has the most frequent size; of several sizes the first.
static int64_t most_frequent(const read_pictures *f)
{
    int64_t best = 0, most = 0;
    for (int64_t i = 0; i < f->n; i++) {
        const nino_picture p = nino_picture_of(f->rgb[i]);
        int64_t same = 0;
        for (int64_t k = 0; k < f->n; k++) {
            const nino_picture q = nino_picture_of(f->rgb[k]);
            same += q.w == p.w && q.h == p.h;
        }
        if (same > most) {
            most = same;
            best = i;
        }
    }
    return best;
}

// The pictures, or their masks, as one batch at w x h.
static nino_status join_pictures(nino_run *r, read_pictures *f, bool masks, int64_t w, int64_t h,
                                 nino_array **out, nino_error *err)
{
    nino_status st = NINO_OK;
    *out = nino_node_array(NINO_F32, masks ? NINO_SHAPE(f->n, h, w) : NINO_SHAPE(f->n, h, w, 3),
                           r->def->key, err);
    for (int64_t i = 0; *out && i < f->n && !st; i++) {
        nino_array *sized = NULL;
        if (masks)
            st = nino_mask_fit(r, f->mask[i], h, w, &sized, err);
        else if (!(st = fit(r, &f->rgb[i], w, h, err)))
            sized = nino_array_ref(f->rgb[i]);
        if (sized && !r->is_plan)
            memcpy((char *) (*out)->data + (size_t) i * ((*out)->bytes / (size_t) f->n),
                   sized->data, (*out)->bytes / (size_t) f->n);
        nino_array_unref(&sized);
    }
    if (st)
        nino_array_unref(out);
    return st ? st : *out ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status read_folder(nino_run *r, read_pictures *f, nino_error *err)
{
    const folder_params *p = r->params;
    int64_t n = 0;
    char **names = folder_names(r->ctx, p, &n);
    nino_status st = n ? NINO_OK : folder_check(r->ctx, p, err);
    f->rgb = calloc((size_t) n + 1, sizeof(*f->rgb));
    f->mask = calloc((size_t) n + 1, sizeof(*f->mask));
    if (!st && (!f->rgb || !f->mask))
        st = nino_fail(err, NINO_ERR_NOMEM, r->def->key, "out of memory");
    for (int64_t i = 0; i < n && !st; i++)
        if (!(st = nino_node_cancelled(r, err)) &&
            !(st = nino_node_read_picture(r, names[i], &f->rgb[i], &f->mask[i], err)))
            f->n++;
    free(names);
    return st;
}

static nino_status folder_run(nino_run *r, nino_error *err)
{
    read_pictures f = { 0 };
    nino_array *rgb = NULL, *mask = NULL;
    nino_status st = read_folder(r, &f, err);
    if (!st) {
        const nino_picture s = nino_picture_of(f.rgb[most_frequent(&f)]);
        st = join_pictures(r, &f, false, s.w, s.h, &rgb, err);
        if (!st)
            st = join_pictures(r, &f, true, s.w, s.h, &mask, err);
    }
    const int64_t n = f.n;
    let_go(&f);
    if (!st)
        st = nino_out_image(r, 0, rgb, err);
    else
        nino_array_unref(&rgb);
    if (st) {
        nino_array_unref(&mask);
        return st;
    }
    st = nino_out_mask(r, 1, mask, err);
    return st ? st : nino_out_int(r, 2, n, err);
}

#define FOLDER_NODE(var, cls, title)                                                               \
    NINO_NODE(                                                                                     \
        var, cls, title, "Video Helper Suite",                                                     \
        "Reads the pictures of a folder as one batch, sorted by name, at the size that "           \
        "most of them have",                                                                       \
        NINO_INPUTS(NINO_PORT(meta_batch, OTHER, .optional = true, .help = "Not needed")),         \
        NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE), NINO_PORT(MASK, MASK), NINO_PORT(frame_count, INT)), \
        NINO_PARAMS(                                                                               \
            folder_params,                                                                         \
            NINO_P_STRING(folder_params, directory, "", .label = "Folder",                         \
                          .help = "A folder in the input folder"),                                 \
            NINO_P_INT(folder_params, image_load_cap, 0, 0, INT64_C(9007199254740991), 1,          \
                       .label = "At most", .optional = true,                                       \
                       .help = "How many are read, 0 for all"),                                    \
            NINO_P_INT(folder_params, skip_first_images, 0, 0, INT64_C(9007199254740991), 1,       \
                       .label = "Skip", .optional = true, .help = "How many are left out first"),  \
            NINO_P_INT(folder_params, select_every_nth, 1, 1, INT64_C(9007199254740991), 1,        \
                       .label = "Every", .optional = true, .help = "One of so many is taken")),    \
        NINO_RUN(folder_run, .identity = folder_identity, .check = folder_check))
FOLDER_NODE(vhs_folder, "VHS_LoadImages", "Load Images (Upload)");
FOLDER_NODE(vhs_folder_path, "VHS_LoadImagesPath", "Load Images (Path)");
