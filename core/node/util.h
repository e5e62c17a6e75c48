// Internal: what the run functions of several node families share.
#pragma once
#include "core/base/file.h"
#include "core/node/node_impl.h"

// Sizes come from workflows, so one that the machine's free memory cannot hold is refused before
// anything is allocated: NINO_ERR_NOMEM, kind "limit", with the bytes needed and available.
nino_status nino_node_fits(nino_dtype dtype, nino_shape shape, const char *what, nino_error *err);
// A zeroed host array that fits.
nino_array *nino_node_array(nino_dtype dtype, nino_shape shape, const char *what, nino_error *err);
// NINO_ERR_CANCELLED once the job was cancelled.
nino_status nino_node_cancelled(const nino_run *r, nino_error *err);
// Output slot i becomes a value of this type; NULL: out of memory (err is filled).
nino_value *nino_node_out(nino_run *r, int i, nino_port_type type, nino_error *err);
// What an output carries beside its pixels: prompt, workflow and profile of the run, as far as
// there are any. Returns how many; they live as long as the run.
#define NINO_RUN_TEXTS 3
int nino_run_texts(const nino_run *r, nino_meta *out);
// The folder that the node's files go to, of outputs or of what is only looked at; NULL: it writes
// none, in a plan or where nobody wants files.
const char *nino_node_folder(const nino_run *r, bool is_temp);
// Output 0 becomes input 0: what shows or saves hands it on.
void nino_node_hand_on(nino_run *r);
// Takes `text` (malloc'd) as STRING output i.
nino_status nino_node_out_text(nino_run *r, int i, char *text, nino_error *err);
// The same for the other types. Each takes what it is given, also on failure. Makers can be passed
// straight in: for NULL the error they filled is kept, and is "out of memory" if they filled none.
nino_status nino_out_model(nino_run *r, int i, nino_model *m, nino_error *err);
nino_status nino_out_clip(nino_run *r, int i, nino_clip *c, nino_error *err);
nino_status nino_out_cond(nino_run *r, int i, nino_cond *c, nino_error *err);
nino_status nino_out_guider(nino_run *r, int i, nino_guider *g, nino_error *err);
nino_status nino_out_clip_vision(nino_run *r, int i, nino_clip_vision *v, nino_error *err);
nino_status nino_out_style(nino_run *r, int i, nino_style *m, nino_error *err);
nino_status nino_out_upscale(nino_run *r, int i, nino_upscale *u, nino_error *err);
// type: of a union network, negative: none.
nino_status nino_out_control(nino_run *r, int i, nino_control_net *c, int type, nino_error *err);
nino_status nino_out_patch(nino_run *r, int i, nino_block_net *n, nino_error *err);
nino_status nino_out_ip_adapter(nino_run *r, int i, nino_ip_value ip, nino_error *err);
nino_status nino_out_vision(nino_run *r, int i, nino_vision_output v, nino_error *err);
nino_status nino_out_image(nino_run *r, int i, nino_array *image, nino_error *err);
nino_status nino_out_audio(nino_run *r, int i, nino_sound sound, nino_error *err);
nino_status nino_out_mask(nino_run *r, int i, nino_array *mask, nino_error *err);
nino_status nino_out_latent(nino_run *r, int i, nino_latent latent, nino_error *err);
nino_status nino_out_noise(nino_run *r, int i, nino_noise n, nino_error *err);
nino_status nino_out_sampler(nino_run *r, int i, const nino_sampler *s, nino_error *err);
nino_status nino_out_sigmas(nino_run *r, int i, nino_sigmas s, nino_error *err); // takes s.v
nino_status nino_out_int(nino_run *r, int i, int64_t v, nino_error *err);
nino_status nino_out_float(nino_run *r, int i, double v, nino_error *err);
nino_status nino_out_bool(nino_run *r, int i, bool v, nino_error *err);
// Input i, borrowed; NULL: optional and not connected.
#define NINO_IN(r, i, field) ((r)->in[i] ? (r)->in[i]->u.field : NULL)
static inline nino_model *nino_in_model(const nino_run *r, int i) { return NINO_IN(r, i, model); }
static inline nino_clip *nino_in_clip(const nino_run *r, int i) { return NINO_IN(r, i, clip); }
static inline nino_vae *nino_in_vae(const nino_run *r, int i) { return NINO_IN(r, i, vae); }
static inline nino_cond *nino_in_cond(const nino_run *r, int i) { return NINO_IN(r, i, cond); }
static inline nino_guider *nino_in_guider(const nino_run *r, int i)
{
    return NINO_IN(r, i, guider);
}
static inline nino_array *nino_in_image(const nino_run *r, int i) { return NINO_IN(r, i, image); }
static inline nino_array *nino_in_mask(const nino_run *r, int i) { return NINO_IN(r, i, mask); }
static inline const nino_latent *nino_in_latent(const nino_run *r, int i)
{
    return r->in[i] ? &r->in[i]->u.latent : NULL;
}
static inline const nino_sampler *nino_in_sampler(const nino_run *r, int i)
{
    return r->in[i] ? &r->in[i]->u.sampler : NULL;
}
static inline const nino_sigmas *nino_in_sigmas(const nino_run *r, int i)
{
    return r->in[i] ? &r->in[i]->u.sigmas : NULL;
}
static inline const nino_vision_output *nino_in_vision(const nino_run *r, int i)
{
    return r->in[i] ? &r->in[i]->u.vision : NULL;
}
// Input i as a network that can run; NULL: *err says what it is instead.
nino_model *nino_need_model(const nino_run *r, int i, nino_error *err);
// What VAELoader does: a file of models/vae, or a word such as "taesd". *out is a new reference.
nino_status nino_node_load_vae(nino_ctx *ctx, const char *name, nino_value **out, nino_error *err);
// What LoraLoader does: *model and *clip, either of which may be NULL, become those with the LoRA of
// a file of models/loras.
nino_status nino_node_add_lora(nino_run *r, const char *name, double strength_model,
                               double strength_clip, nino_value **model, nino_value **clip,
                               nino_error *err);
// Where pictures that clients have sent lie below the temporary folder, and what their ids consist of.
#define NINO_SENT_DIR "sent"
#define NINO_SENT_CHARS "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
enum { NINO_SENT_ID = 128 };
// What LoadImage does with a file of the input folder; mask may be NULL.
nino_status nino_node_read_picture(nino_run *r, const char *name, nino_array **rgb,
                                   nino_array **mask, nino_error *err);
// What PreviewImage does: PNG files in the temporary folder; nothing when planning.
nino_status nino_node_preview(nino_run *r, const nino_array *images, nino_error *err);
nino_status nino_node_preview_as(nino_run *r, const nino_array *images, bool is_jpeg,
                                 nino_error *err);
// What CheckpointLoaderSimple does: outputs 0 to 2 become its MODEL, CLIP and VAE, as far as the
// file has them.
nino_status nino_node_load_checkpoint(nino_run *r, const char *name, nino_error *err);
// How a loader treats what is there already.
typedef struct nino_load_how {
    bool keep;   // for the next node that names the file
    bool reload; // even if it is kept: the old one goes first
} nino_load_how;
// Output `slot` becomes the text encoder of a checkpoint. NINO_ERR_MISSING: the file has none.
nino_status nino_node_checkpoint_clip(nino_run *r, int slot, nino_weights *file, const char *name,
                                      const nino_load_how *how, nino_error *err);
// What VAEEncode does: pixels [N,H,W,3 or 4] -> *out [N,h,w,C]; with a video VAE they are the
// frames of a clip, which becomes [1,t,h,w,C].
nino_status nino_encode_pixels(nino_run *r, const nino_vae *vae, const nino_array *image,
                               nino_array **out, nino_error *err);
// Output `slot` becomes the diffusion model of a file. type: what weights are rounded to, NINO_F32:
// as stored.
nino_status nino_node_file_model(nino_run *r, int slot, nino_weights *file, const char *name,
                                 nino_dtype type, const nino_load_how *how, nino_error *err);
// Bytes of memory the system could hand out now.
uint64_t nino_mem_available(void);

// ---- scaling (core/node/scale.c) -------------------------------------------------------------
typedef enum nino_scale_method { // order of ComfyUI's lists; the last word differs by node
    NINO_SCALE_NEAREST,
    NINO_SCALE_BILINEAR,
    NINO_SCALE_AREA,
    NINO_SCALE_BICUBIC,
    NINO_SCALE_BISLERP, // latents
    NINO_SCALE_LANCZOS  // images
} nino_scale_method;

// x [..,H,W,C] f32 -> *out [..,height,width,C]; center: cut to the target's aspect ratio first.
nino_status nino_rescale(nino_run *r, const nino_array *x, int64_t width, int64_t height,
                         nino_scale_method method, bool center, nino_array **out, nino_error *err);
// Those that run on the host. x [N,H,W,C] f32, out [N,h,w,C] f32 allocated.
nino_status nino_rescale_bislerp(const nino_array *x, nino_array *out, nino_error *err);
// PIL's nearest, bilinear, bicubic or Lanczos, through 8 bits: values are truncated to u8, both
// passes round to u8. What gets smaller is filtered, which torch's of those names do not.
nino_status nino_rescale_pil(const nino_array *x, nino_array *out, nino_scale_method method,
                             nino_error *err);

// ---- output names (core/node/prefix.c) -------------------------------------------------------
typedef struct nino_prefix_vars {
    int width, height;
    const struct tm *now;    // local time
    const char *prompt_json; // for %NODE.INPUT%; NULL: such tokens stay as they are
} nino_prefix_vars;

// Expands %width% %height% %year% ... %date:FORMAT% %NODE.INPUT%, then checks and normalises the
// result ("a//./b" -> "a/b"). *out is malloc'd. Kind "path": what no output may be called.
nino_status nino_prefix_expand(const char *prefix, const nino_prefix_vars *vars, char **out,
                               nino_error *err);
// The same without values, before the run: also refuses sub-folders of dir that are links.
nino_status nino_prefix_check(const char *dir, const char *prefix, nino_error *err);
// 1 + the largest N of dir/SUB/BASE_N_* where name is "SUB/BASE".
int64_t nino_prefix_counter(const char *dir, const char *name);
// The same for names without an underscore behind the number: "BASE_00001.mp4". In what follows
// their ext begins with a colon (":.mp4").
int64_t nino_prefix_counter_plain(const char *dir, const char *name);
// A file that is written bit by bit: begun below dir under the next free number, then committed
// under it, or the next free one. *counter becomes the number used plus one; *path (malloc'd) is
// where the file is. *w becomes NULL in commit, also on failure.
nino_status nino_prefix_open(const char *dir, const char *name, const char *ext, int64_t counter,
                             nino_file_writer **w, nino_error *err);
nino_status nino_prefix_commit(nino_file_writer **w, const char *dir, const char *name,
                               const char *ext, int64_t *counter, char **path, nino_error *err);
// The whole: saves under NAME_00001_EXT, or the next free number, below dir.
nino_status nino_prefix_save(const char *dir, const char *name, const char *ext, int64_t *counter,
                             const void *data, size_t len, char **path, nino_error *err);
