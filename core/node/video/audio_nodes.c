// Sounds: LoadAudio, SaveAudio, PreviewAudio, EmptyAudio, TrimAudioDuration, AudioConcat, AudioMerge,
// AudioAdjustVolume. Behaviour of ComfyUI 0.33.0 comfy_extras/nodes_audio.py. A track that is not
// there, as of a silent video, is handed on.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/node/util.h"

#define AUDIO_OUT NINO_OUTPUTS(NINO_PORT(AUDIO, AUDIO))

static const nino_sound *audio_in(const nino_run *r, int i)
{
    return r->in[i] && r->in[i]->u.audio.wave ? &r->in[i]->u.audio : NULL;
}

static nino_status audio_hand_on(nino_run *r, const nino_sound *s, nino_error *err)
{
    const nino_sound none = { 0 };
    const nino_sound *o = s ? s : &none;
    return nino_out_audio(r, 0, (nino_sound){ nino_array_ref(o->wave), o->rate }, err);
}

// ---- files -----------------------------------------------------------------------------------

typedef struct load_audio_params {
    const char *audio;
} load_audio_params;

static nino_status load_audio_run(nino_run *r, nino_error *err)
{
    const char *name = ((const load_audio_params *) r->params)->audio;
    nino_sound s = { 0 };
    int fd = -1;
    nino_status st = nino_services_of(r->ctx)->open_input(r->ctx, name, &fd, err);
    if (st)
        return st;
    st = nino_sound_read(fd, name, r->is_plan, &s, err);
    close(fd);
    if (!st && !s.wave)
        st = nino_fail_kind(err, NINO_ERR_FORMAT, "schema", name, "there is no sound in it");
    return st ? st : nino_out_audio(r, 0, s, err);
}

static nino_status load_audio_identity(nino_ctx *ctx, const void *params, struct nino_hasher *h,
                                       nino_error *err)
{
    return nino_services_of(ctx)->identity(ctx, "input",
                                           ((const load_audio_params *) params)->audio, h, err);
}

NINO_NODE(load_audio, "LoadAudio", "Load Audio", "audio",
          "Reads the sound of an audio or a video file", AUDIO_OUT,
          NINO_PARAMS(load_audio_params,
                      NINO_P_FILE(load_audio_params, audio, "input", .label = "File",
                                  .upload_slot = true,
                                  .help = "A sound or a video in the input folder")),
          NINO_RUN(load_audio_run, .identity = load_audio_identity));

static nino_status audio_save(nino_run *r, const char *dir, const char *prefix, nino_error *err)
{
    const nino_sound *s = audio_in(r, 0);
    const time_t now = time(NULL);
    struct tm tm;
    nino_meta texts[NINO_RUN_TEXTS];
    const int n_texts = nino_run_texts(r, texts);
    char *name = NULL;
    localtime_r(&now, &tm);
    const nino_prefix_vars vars = { 0, 0, &tm, r->prompt_json };
    nino_status st = nino_prefix_expand(prefix, &vars, &name, err);
    int64_t counter = st ? 0 : nino_prefix_counter(dir, name);
    for (int64_t i = 0; !st && i < s->wave->shape.dim[0]; i++) {
        nino_file_writer *file = NULL;
        char *path = NULL;
        if (!(st = nino_node_cancelled(r, err)) &&
            !(st = nino_prefix_open(dir, name, ".flac", counter, &file, err)) &&
            !(st = nino_sound_write(file, s, i, texts, n_texts, err)) &&
            !(st = nino_prefix_commit(&file, dir, name, ".flac", &counter, &path, err)))
            nino_run_output(r, path);
        nino_file_writer_abort(&file);
        free(path);
    }
    free(name);
    return st;
}

static nino_status audio_save_in(nino_run *r, bool is_temp, const char *prefix, nino_error *err)
{
    const char *dir = nino_node_folder(r, is_temp);
    nino_node_hand_on(r);
    if (!dir || !audio_in(r, 0))
        return NINO_OK;
    const nino_status st = nino_file_mkdirs(dir, is_temp, err);
    return st ? st : audio_save(r, dir, prefix, err);
}

typedef struct save_audio_params {
    const char *filename_prefix;
} save_audio_params;

static nino_status save_audio_run(nino_run *r, nino_error *err)
{
    return audio_save_in(r, false, ((const save_audio_params *) r->params)->filename_prefix, err);
}

static nino_status save_audio_check(const nino_ctx *ctx, const void *params, nino_error *err)
{
    return nino_prefix_check(ctx ? nino_services_of(ctx)->output_dir(ctx) : NULL,
                             ((const save_audio_params *) params)->filename_prefix, err);
}

NINO_NODE(save_audio, "SaveAudio", "Save Audio (FLAC)", "audio",
          "Writes FLAC files of 16 bits that carry the workflow",
          NINO_INPUTS(NINO_PORT(audio, AUDIO)), NINO_OUTPUTS(NINO_PORT(audio, AUDIO)),
          NINO_PARAMS(save_audio_params,
                      NINO_P_STRING(save_audio_params, filename_prefix, "audio/ComfyUI",
                                    .label = "File name",
                                    .help = "Start of the name, with sub-folders of the output "
                                            "folder and tokens")),
          .is_output = true, NINO_RUN(save_audio_run, .check = save_audio_check));

static nino_status preview_audio_run(nino_run *r, nino_error *err)
{
    return audio_save_in(r, true, "ninodes_preview", err);
}

NINO_NODE(preview_audio, "PreviewAudio", "Preview Audio", "audio",
          "Writes FLAC files to a temporary folder", NINO_INPUTS(NINO_PORT(audio, AUDIO)),
          NINO_OUTPUTS(NINO_PORT(audio, AUDIO)), .is_output = true, NINO_RUN(preview_audio_run));

// ---- from nothing, in part, louder -----------------------------------------------------------

typedef struct empty_audio_params {
    double duration;
    int64_t sample_rate, channels;
} empty_audio_params;

static nino_status empty_audio_run(nino_run *r, nino_error *err)
{
    const empty_audio_params *p = r->params;
    const double n = rint(p->duration * (double) p->sample_rate);
    if (n > 0x1p40)
        return nino_fail_kind(err, NINO_ERR_ARG, "limit", "duration", "%g seconds are too long",
                              p->duration);
    nino_array *a =
        nino_node_array(NINO_F32, NINO_SHAPE(1, p->channels, (int64_t) n), "duration", err);
    return a ? nino_out_audio(r, 0, (nino_sound){ a, (int) p->sample_rate }, err) : NINO_ERR_NOMEM;
}

NINO_NODE(empty_audio, "EmptyAudio", "Empty Audio", "audio", "Silence", AUDIO_OUT,
          NINO_PARAMS(empty_audio_params,
                      NINO_P_FLOAT(empty_audio_params, duration, 60, 0, 0x1p64, 0.01,
                                   .label = "Duration", .ui_max.f = 3600, .help = "In seconds"),
                      NINO_P_INT(empty_audio_params, sample_rate, 44100, 1, 192000, 1,
                                 .label = "Sample rate", .help = "Samples a second"),
                      NINO_P_INT(empty_audio_params, channels, 2, 1, 2, 1, .label = "Channels",
                                 .help = "1: mono, 2: stereo")),
          NINO_RUN(empty_audio_run));

typedef struct trim_audio_params {
    double start_index, duration;
} trim_audio_params;

// A count of samples that no sound has more of.
static int64_t audio_count(double seconds, int rate)
{
    return (int64_t) fmin(fmax(rint(seconds * rate), -0x1p50), 0x1p50);
}

static nino_status trim_audio_run(nino_run *r, nino_error *err)
{
    const trim_audio_params *p = r->params;
    const nino_sound *s = audio_in(r, 0);
    nino_sound cut = { 0 };
    if (!s)
        return audio_hand_on(r, NULL, err);
    const int64_t n = s->wave->shape.dim[2];
    int64_t first = audio_count(p->start_index, s->rate) + (p->start_index < 0 ? n : 0);
    first = first < 0 ? 0 : first > n - 1 ? n - 1 : first;
    const int64_t last = first + audio_count(p->duration, s->rate);
    if (first >= (last < n ? last : n))
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "duration",
                              "nothing is left of the sound's %.3f seconds", (double) n / s->rate);
    const nino_status st = nino_sound_cut(s, first, last - first, &cut, err);
    return st ? st : nino_out_audio(r, 0, cut, err);
}

NINO_NODE(trim_audio, "TrimAudioDuration", "Trim Audio Duration", "audio",
          "The part of a sound that begins at a time", NINO_INPUTS(NINO_PORT(audio, AUDIO)),
          AUDIO_OUT,
          NINO_PARAMS(trim_audio_params,
                      NINO_P_FLOAT(trim_audio_params, start_index, 0, -0x1p64, 0x1p64, 0.01,
                                   .label = "Start", .ui_min.f = -3600, .ui_max.f = 3600,
                                   .help = "In seconds; below 0 they count from the end"),
                      NINO_P_FLOAT(trim_audio_params, duration, 60, 0, (double) INT64_MAX, 0.01,
                                   .label = "Duration", .ui_max.f = 3600, .help = "In seconds")),
          NINO_RUN(trim_audio_run));

typedef struct volume_params {
    int64_t volume;
} volume_params;

static nino_status audio_volume_run(nino_run *r, nino_error *err)
{
    const int64_t volume = ((const volume_params *) r->params)->volume;
    const nino_sound *s = audio_in(r, 0);
    if (!s || !volume)
        return audio_hand_on(r, s, err);
    const float by = (float) pow(10, (double) volume / 20);
    nino_array *a = nino_node_array(NINO_F32, s->wave->shape, "audio", err);
    for (int64_t i = 0; a && i < nino_shape_count(&a->shape); i++)
        nino_array_f32(a)[i] = nino_array_f32(s->wave)[i] * by;
    return a ? nino_out_audio(r, 0, (nino_sound){ a, s->rate }, err) : NINO_ERR_NOMEM;
}

NINO_NODE(audio_volume, "AudioAdjustVolume", "Adjust Audio Volume", "audio",
          "A sound louder or softer; what gets too loud is not cut",
          NINO_INPUTS(NINO_PORT(audio, AUDIO)), AUDIO_OUT,
          NINO_PARAMS(volume_params,
                      NINO_P_INT(volume_params, volume, 1, -100, 100, 1, .label = "Decibels",
                                 .help = "0: as it is, 6: about twice, -6: about half")),
          NINO_RUN(audio_volume_run));

// ---- two -------------------------------------------------------------------------------------

// Both at the higher of their rates; owned references.
static nino_status audio_pair(const nino_sound *a, const nino_sound *b, nino_sound out[2],
                              nino_error *err)
{
    const int rate = a->rate > b->rate ? a->rate : b->rate;
    const nino_sound *const in[] = { a, b };
    nino_status st = NINO_OK;
    for (int i = 0; i < 2 && !st; i++) {
        out[i].rate = rate;
        if (in[i]->rate == rate)
            out[i].wave = nino_array_ref(in[i]->wave);
        else
            st = nino_sound_resample(in[i]->wave, in[i]->rate, rate, &out[i].wave, err);
    }
    return st;
}

// Where sample 0 of a channel is; a mono sound is all channels of one, and so are batches.
static const float *audio_row(const nino_sound *s, int64_t batch, int64_t channel)
{
    const int64_t c = s->wave->shape.dim[1];
    batch = batch < s->wave->shape.dim[0] ? batch : 0;
    return nino_array_f32(s->wave) +
           (batch * c + (channel < c ? channel : 0)) * s->wave->shape.dim[2];
}

static nino_status audio_agree(const nino_sound s[2], int64_t *batch, int64_t *channels,
                               nino_error *err)
{
    const int64_t b0 = s[0].wave->shape.dim[0], b1 = s[1].wave->shape.dim[0];
    const int64_t c0 = s[0].wave->shape.dim[1], c1 = s[1].wave->shape.dim[1];
    if ((b0 != b1 && b0 != 1 && b1 != 1) || (c0 != c1 && c0 != 1 && c1 != 1))
        return nino_fail_kind(err, NINO_ERR_ARG, "value", "audio2",
                              "%lld sounds of %lld channels do not go with %lld of %lld",
                              (long long) b1, (long long) c1, (long long) b0, (long long) c0);
    *batch = b0 > b1 ? b0 : b1;
    *channels = c0 > c1 ? c0 : c1;
    return NINO_OK;
}

typedef struct concat_params {
    int64_t direction;
} concat_params;

static nino_status audio_join(const nino_sound s[2], bool is_before, nino_array **out,
                              nino_error *err)
{
    const nino_sound *first = &s[is_before], *second = &s[!is_before];
    const int64_t n = first->wave->shape.dim[2], m = second->wave->shape.dim[2];
    int64_t batch, channels;
    const nino_status st = audio_agree(s, &batch, &channels, err);
    if (st)
        return st;
    channels = channels < 2 ? 2 : channels; // of two mono sounds, too
    *out = nino_node_array(NINO_F32, NINO_SHAPE(batch, channels, n + m), "audio", err);
    for (int64_t i = 0; *out && i < batch * channels; i++) {
        float *to = nino_array_f32(*out) + i * (n + m);
        memcpy(to, audio_row(first, i / channels, i % channels), (size_t) n * sizeof(*to));
        memcpy(to + n, audio_row(second, i / channels, i % channels), (size_t) m * sizeof(*to));
    }
    return *out ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status audio_concat_run(nino_run *r, nino_error *err)
{
    const nino_sound *a = audio_in(r, 0), *b = audio_in(r, 1);
    nino_sound s[2] = { { 0 }, { 0 } };
    nino_array *out = NULL;
    if (!a || !b)
        return audio_hand_on(r, a ? a : b, err);
    nino_status st = audio_pair(a, b, s, err);
    if (!st)
        st = audio_join(s, ((const concat_params *) r->params)->direction, &out, err);
    const int rate = s[0].rate;
    nino_sound_release(&s[0]);
    nino_sound_release(&s[1]);
    return st ? st : nino_out_audio(r, 0, (nino_sound){ out, rate }, err);
}

NINO_NODE(audio_concat, "AudioConcat", "Concatenate Audio", "audio",
          "Two sounds one after the other, in stereo, at the higher of their rates",
          NINO_INPUTS(NINO_PORT(audio1, AUDIO), NINO_PORT(audio2, AUDIO)), AUDIO_OUT,
          NINO_PARAMS(concat_params,
                      NINO_P_ENUM(concat_params, direction, NINO_WORDS("after", "before"), 0,
                                  .label = "Place", .help = "Of the second sound")),
          NINO_RUN(audio_concat_run));

typedef struct audio_merge_params {
    int64_t merge_method;
} audio_merge_params;
enum { MERGE_ADD, MERGE_MEAN, MERGE_SUBTRACT, MERGE_MULTIPLY };

static float audio_mixed(int64_t method, float a, float b)
{
    return method == MERGE_ADD        ? a + b
           : method == MERGE_MEAN     ? (a + b) / 2
           : method == MERGE_SUBTRACT ? a - b
                                      : a * b;
}

// The second is as long as the first: cut, or silent at its end. Nothing is louder than 1 then.
static nino_status audio_mix(const nino_sound s[2], int64_t method, nino_array **out,
                             nino_error *err)
{
    const int64_t n = s[0].wave->shape.dim[2], m = s[1].wave->shape.dim[2];
    int64_t batch, channels;
    float peak = 1;
    const nino_status st = audio_agree(s, &batch, &channels, err);
    if (st)
        return st;
    nino_array *o = *out = nino_node_array(NINO_F32, NINO_SHAPE(batch, channels, n), "audio", err);
    for (int64_t i = 0; o && i < batch * channels; i++) {
        const float *a = audio_row(&s[0], i / channels, i % channels);
        const float *b = audio_row(&s[1], i / channels, i % channels);
        for (int64_t k = 0; k < n; k++) {
            const float v = audio_mixed(method, a[k], k < m ? b[k] : 0);
            nino_array_f32(o)[i * n + k] = v;
            peak = fmaxf(peak, fabsf(v));
        }
    }
    for (int64_t i = 0; o && peak > 1 && i < nino_shape_count(&o->shape); i++)
        nino_array_f32(o)[i] /= peak;
    return o ? NINO_OK : NINO_ERR_NOMEM;
}

static nino_status audio_merge_run(nino_run *r, nino_error *err)
{
    const nino_sound *a = audio_in(r, 0), *b = audio_in(r, 1);
    nino_sound s[2] = { { 0 }, { 0 } };
    nino_array *out = NULL;
    if (!a || !b || !b->wave->shape.dim[2])
        return audio_hand_on(r, a ? a : b, err);
    nino_status st = audio_pair(a, b, s, err);
    if (!st)
        st = audio_mix(s, ((const audio_merge_params *) r->params)->merge_method, &out, err);
    const int rate = s[0].rate;
    nino_sound_release(&s[0]);
    nino_sound_release(&s[1]);
    return st ? st : nino_out_audio(r, 0, (nino_sound){ out, rate }, err);
}

NINO_NODE(audio_merge, "AudioMerge", "Merge Audio", "audio",
          "Two sounds at once, as long as the first",
          NINO_INPUTS(NINO_PORT(audio1, AUDIO), NINO_PORT(audio2, AUDIO)), AUDIO_OUT,
          NINO_PARAMS(audio_merge_params,
                      NINO_P_ENUM(audio_merge_params, merge_method,
                                  NINO_WORDS("add", "mean", "subtract", "multiply"), 0,
                                  .label = "Method", .help = "What becomes of two samples")),
          NINO_RUN(audio_merge_run));
