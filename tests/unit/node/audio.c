// Nodes of sounds and videos: silence, parts, volume, two sounds after each other and at once, other
// rates, tracks that are not there, cuts in time. Files: tests/unit/media/sound.c.
#include "tests/node.h"

#define S(rate, channels, n, ...)                                                                  \
    sound(rate, channels, n, (const float[]){ __VA_ARGS__ },                                       \
          sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))

static nino_value *sound(int rate, int64_t channels, int64_t n, const float *v, size_t count)
{
    nino_value *a = nino_value_create(NINO_PORT_AUDIO);
    CHECK(a);
    a->u.audio = (nino_sound){ node_array(SHAPE(1, channels, n), v, count), rate };
    return a;
}

static nino_value *none(void)
{
    nino_value *a = nino_value_create(NINO_PORT_AUDIO);
    CHECK(a);
    return a;
}

// Output 0 is this sound.
static void is(int rate, int64_t channels, const float *want, int64_t n)
{
    const nino_sound *s = &node.out[0]->u.audio;
    CHECK(s->wave && s->rate == rate && s->wave->shape.rank == 3 && s->wave->shape.dim[0] == 1);
    CHECK(s->wave->shape.dim[1] == channels && s->wave->shape.dim[2] * channels == n);
    for (int64_t i = 0; i < n; i++) {
        const float v = nino_array_f32(s->wave)[i];
        if (fabsf(v - want[i]) > 1e-6f)
            fprintf(stderr, "sample %d is %g, not %g\n", (int) i, (double) v, (double) want[i]);
        CHECK(fabsf(v - want[i]) <= 1e-6f);
    }
}
#define IS(rate, channels, ...)                                                                    \
    is(rate, channels, (const float[]){ __VA_ARGS__ },                                             \
       sizeof((const float[]){ __VA_ARGS__ }) / sizeof(float))

static void silence(void)
{
    node_new("EmptyAudio");
    node_set("duration", "0.5");
    node_set("sample_rate", "9");
    node_go();
    IS(9, 2, 0, 0, 0, 0, 0, 0, 0, 0); // 4.5 samples: halves go to the even number
    node_set("duration", "1e18");
    node_fails("limit", "duration");
}

static void parts(void)
{
    node_new("TrimAudioDuration");
    node_give("audio", S(4, 2, 6, 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6));
    node_set("start_index", "0.5");
    node_set("duration", "0.75");
    node_go();
    IS(4, 2, 3, 4, 5, -3, -4, -5);
    node_set("start_index", "-0.5"); // from the end, which is nearer than the duration
    node_go();
    IS(4, 2, 5, 6, -5, -6);
    node_set("start_index", "-100");
    node_go();
    IS(4, 2, 1, 2, 3, -1, -2, -3);
    node_set("start_index", "100"); // the last sample
    node_go();
    IS(4, 2, 6, -6);
    node_set("duration", "0");
    node_fails("value", "duration");
}

static void volume(void)
{
    node_new("AudioAdjustVolume");
    node_give("audio", S(4, 1, 2, 0.5f, -1));
    node_set("volume", "20");
    node_go();
    IS(4, 1, 5, -10);
    node_set("volume", "-6");
    node_go();
    IS(4, 1, 0.25059362f, -0.50118723f);
}

static void concat(void)
{
    node_new("AudioConcat");
    node_give("audio1", S(4, 1, 2, 1, 2));
    node_give("audio2", S(4, 2, 1, 3, 4));
    node_go();
    IS(4, 2, 1, 2, 3, 1, 2, 4);
    node_set("direction", "before");
    node_go();
    IS(4, 2, 3, 1, 2, 4, 1, 2);
    node_give("audio2", S(4, 1, 1, 3)); // two of one channel become two channels
    node_go();
    IS(4, 2, 3, 1, 2, 3, 1, 2);
}

// Filters of six zero crossings: values by torch's conv1d over filters in doubles.
static void rates(void)
{
    node_new("AudioConcat");
    node_give("audio1", S(8, 1, 1, 0));
    node_give("audio2", S(4, 1, 4, 1, -0.5f, 0.25f, 0.75f));
    node_go();
    IS(8, 2, 0.0000000f, 0.9872474f, 0.3280965f, -0.4889782f, -0.4741288f, 0.2422952f, 0.7973614f,
       0.7536765f, 0.3494060f, 0.0000000f, 0.9872474f, 0.3280965f, -0.4889782f, -0.4741288f,
       0.2422952f, 0.7973614f, 0.7536765f, 0.3494060f);
    node_new("AudioMerge");
    node_give("audio1", S(3, 1, 4, 0.1f, 0.2f, 0.3f, 0.4f));
    node_give("audio2", S(2, 1, 2, 0.5f, -0.25f));
    node_go();
    IS(3, 1, 0.5926646f, 0.1990618f, 0.0068230f, 0.4000000f);
}

static void merge(void)
{
    static const struct {
        const char *method;
        float want[6];
    } cases[] = { { "add", { 0.75f, 0.25f, 0.5f, 0.25f, 0.75f, 0.5f } },
                  { "mean", { 0.375f, 0.125f, 0.25f, 0.125f, 0.375f, 0.25f } },
                  { "subtract", { 0.25f, 0.25f, 0.5f, 0.75f, -0.25f, 0.5f } },
                  { "multiply", { 0.125f, 0, 0, -0.125f, 0.125f, 0 } } };
    for (int i = 0; i < 4; i++) {
        node_new("AudioMerge"); // a shorter one is silent at its end, one channel is both
        node_give("audio1", S(4, 1, 3, 0.5f, 0.25f, 0.5f));
        node_give("audio2", S(4, 2, 2, 0.25f, 0, -0.25f, 0.5f));
        node_set("merge_method", cases[i].method);
        node_go();
        is(4, 2, cases[i].want, 6);
    }
    node_give("audio1", S(4, 1, 2, 1, -3)); // longer: cut; louder than 1: all softer
    node_give("audio2", S(4, 1, 3, 1, -1, 9));
    node_set("merge_method", "add");
    node_go();
    IS(4, 1, 0.5f, -1);
    node_give("audio2", S(4, 3, 1, 1, 2, 3));
    node_give("audio1", S(4, 2, 1, 1, 2));
    node_fails("value", "audio2");
}

// Tracks that are not there.
static void missing(void)
{
    static const char *const one[] = { "TrimAudioDuration", "AudioAdjustVolume", "SaveAudio",
                                       "PreviewAudio" };
    static const char *const two[] = { "AudioConcat", "AudioMerge" };
    for (int i = 0; i < 4; i++) {
        node_new(one[i]);
        node.run.is_plan = i > 1; // no services here
        node_give("audio", none());
        node_go();
        CHECK(!node.out[0]->u.audio.wave);
        node.run.is_plan = false;
    }
    for (int i = 0; i < 2; i++) {
        node_new(two[i]);
        node_give("audio1", none());
        node_give("audio2", S(4, 1, 2, 1, 2));
        node_go();
        IS(4, 1, 1, 2);
        node_give("audio2", none());
        node_go();
        CHECK(!node.out[0]->u.audio.wave);
    }
}

// ---- videos ----------------------------------------------------------------------------------

// Frames of one grey pixel, 0.1 a frame; a sound of ten samples a second that counts.
static nino_value *clip(double fps, int n, bool has_sound)
{
    nino_value *v = nino_value_create(NINO_PORT_VIDEO);
    nino_array *a = node_array(SHAPE(n, 1, 1, 3), NULL, 0);
    for (int i = 0; i < 3 * n; i++) {
        const int frame = i / 3;
        nino_array_f32(a)[i] = 0.1f * (float) frame;
    }
    v->u.video = (nino_video_value){ .frames = a, .fps = fps };
    if (has_sound) {
        nino_array *w = node_array(SHAPE(1, 1, 40), NULL, 0);
        for (int i = 0; i < 40; i++)
            nino_array_f32(w)[i] = (float) i;
        v->u.video.sound = (nino_sound){ w, 10 };
    }
    return v;
}

static void cuts(void)
{
    static const struct {
        const char *start, *duration;
        int first, n, sample, samples;
    } cases[] = { { "0", "0", 0, 8, 0, 40 },      { "0.5", "1", 1, 2, 5, 10 },
                  { "0.51", "0.99", 2, 1, 5, 9 }, { "-1.5", "0", 5, 3, 25, 15 },
                  { "-1.5", "1", 5, 2, 25, 10 },  { "3", "9", 6, 2, 30, 10 },
                  { "-99", "0.5", 0, 1, 0, 5 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        node_new("Video Slice");
        node_give("video", clip(2, 8, true));
        node_set("start_time", cases[i].start);
        node_set("duration", cases[i].duration);
        node_go();
        const nino_video_value *v = &node.out[0]->u.video;
        CHECK(v->frames->shape.dim[0] == cases[i].n && v->fps == 2);
        for (int64_t k = 0; k < cases[i].n; k++)
            CHECK(nino_array_f32(v->frames)[3 * k] == 0.1f * (float) (cases[i].first + (int) k));
        CHECK(v->sound.rate == 10 && v->sound.wave->shape.dim[2] == cases[i].samples);
        CHECK(nino_array_f32(v->sound.wave)[0] == (float) cases[i].sample);
    }
    node_set("start_time", "4");
    node_fails("value", "start_time");
    node_set("start_time", "3");
    node_set("duration", "1");
    node_set("strict_duration", "true");
    node_go();
    node_set("duration", "1.5");
    node_fails("value", "duration");
    node_give("video", clip(2, 8, false));
    node_set("strict_duration", "false");
    node_go();
    CHECK(!node.out[0]->u.video.sound.wave);
}

static void components(void)
{
    for (int has_sound = 0; has_sound < 2; has_sound++) {
        node_new("CreateVideo");
        nino_value *images = nino_value_create(NINO_PORT_IMAGE);
        images->u.image = node_array(SHAPE(3, 1, 1, 3), NULL, 0);
        node_give("images", images);
        if (has_sound)
            node_give("audio", S(4, 1, 2, 1, 2));
        node_set("fps", "12");
        node_go();
        nino_value *v = nino_value_ref(node.out[0]);
        node_new("GetVideoComponents");
        node_give("video", v);
        node_go();
        CHECK(node.out[0]->u.image == v->u.video.frames && node.out[2]->u.f == 12);
        CHECK(node.out[3]->u.i == 8 && !strcmp(node.out[4]->u.string, "sRGB"));
        const nino_sound *s = &node.out[1]->u.audio;
        CHECK(has_sound ? s->rate == 4 && nino_array_f32(s->wave)[1] == 2 : !s->wave);
    }
}

int main(void)
{
    node_open();
    silence();
    parts();
    volume();
    concat();
    rates();
    merge();
    missing();
    cuts();
    components();
    node_close();
    return 0;
}
