// Nodes of extensions in runs: clips written and read, folders, what is shown, values that are not
// there, messages about nodes that do nothing here.
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/media/video.h"
#include "tests/flow.h"

#define NODE(id, class, inputs) "'" id "': {'class_type': '" class "', 'inputs': {" inputs "}}"
#define PICTURE(id, width, height, n, color)                                                       \
    NODE(id, "EmptyImage",                                                                         \
         "'width': " width ", 'height': " height ", 'batch_size': " n ", 'color': " color)

static flow_result run(const char *json)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    CHECK(ctx != NULL);
    const flow_result r = flow_run_json(ctx, json);
    nino_ctx_destroy(&ctx);
    return r;
}

static bool exists(const char *path)
{
    struct stat sb;
    return !stat(path, &sb) && sb.st_size > 0;
}

static void copy_to_input(const char *path, const char *name)
{
    char cmd[1400];
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/input/%.*s && cp %s %s/input/%s", flow_temp(),
             (int) (strrchr(name, '/') ? strrchr(name, '/') - name : 0), name, path, flow_temp(),
             name);
    CHECK(!system(cmd));
}

#define COMBINE(format, more)                                                                      \
    NODE("2", "VHS_VideoCombine",                                                                  \
         "'images': ['1', 0], 'frame_rate': 8, 'loop_count': 0, 'filename_prefix': 'sub/clip', "   \
         "'format': '" format "', 'pingpong': false, 'save_output': true" more)

// The clip and its first frame have one number, which goes on.
static void names(void)
{
    char png[600];
    for (int i = 1; i <= 2; i++) {
        const flow_result r =
            run(FLOW_OF(PICTURE("1", "16", "10", "3", "255"),
                        COMBINE("image/webp", ", 'lossless': true, 'vhs_gif_preview__0': 1")));
        CHECK(r.n_paths == 1);
        snprintf(png, sizeof(png), "%s/output/sub/clip_%05d.webp", flow_temp(), i);
        CHECK_STR(r.path[0], png);
        snprintf(png, sizeof(png), "%s/output/sub/clip_%05d.png", flow_temp(), i);
        CHECK(exists(png));
    }
    // the picture beside it holds the workflow
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load_file(png, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    nino_graph_destroy(&g);
    const flow_result r =
        run(FLOW_OF(PICTURE("1", "16", "10", "1", "255"), COMBINE("image/webp", ""),
                    NODE("3", "VHS_SelectFilename", "'filenames': ['2', 0], 'index': -1"),
                    NODE("4", "Display Any (rgthree)", "'source': ['3', 0]")));
    CHECK(r.n_texts == 1 && strstr(r.text[0], "clip_00003.webp"));
}

static void refused(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g =
        flow_graph(FLOW_OF(PICTURE("1", "16", "10", "3", "255"), COMBINE("video/ProRes", "")));
    const flow_result r = flow_run(ctx, g, NULL);
    CHECK(r.st != NINO_OK && strstr(r.err.msg, "ProRes") && strstr(r.err.msg, "h264-mp4"));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

#define LOAD(class, more) NODE("1", class, "'video': 'clip.mp4', 'custom_height': 0" more)
#define SHOW(id, from, slot) NODE(id, "Display Any (rgthree)", "'source': ['" from "', " slot "]")

// Twelve frames at 8 a second.
static void clips(void)
{
    if (!nino_video_codec(NINO_VIDEO_MP4, "h264")) {
        test_skip_part("no H.264 encoder is installed");
        return;
    }
    flow_result r = run(FLOW_OF(PICTURE("1", "32", "16", "12", "255"),
                                COMBINE("video/h264-mp4", ", 'crf': 10, 'pix_fmt': 'yuv420p'")));
    CHECK(r.n_paths == 1);
    copy_to_input(r.path[0], "clip.mp4");
#define PICK ", 'skip_first_frames': 1, 'select_every_nth': 2"
    r = run(FLOW_OF(LOAD("VHS_LoadVideo", PICK), SHOW("2", "1", "0"), SHOW("3", "1", "1")));
    CHECK_STR(r.text[0], "IMAGE 6x16x32x3");
    CHECK_STR(r.text[1], "6");
    r = run(FLOW_OF(
        LOAD(
            "VHS_LoadVideoPath",
            ", 'skip_first_frames': 0, 'select_every_nth': 1, 'force_rate': 4, 'custom_width': 16"),
        SHOW("2", "1", "0"), NODE("3", "VHS_VideoInfo", "'video_info': ['1', 3]"),
        SHOW("4", "3", "1"), SHOW("5", "3", "5")));
    CHECK_STR(r.text[0], "IMAGE 6x8x16x3");
    CHECK_STR(r.text[1], "12");
    CHECK_STR(r.text[2], "4.0");
    r = run(FLOW_OF(LOAD("VHS_LoadVideoFFmpeg", ", 'start_time': 1.0, 'format': 'Wan'"),
                    SHOW("2", "1", "0"), SHOW("3", "1", "1"))); // 4 are left, 1 of 4k + 1
    CHECK_STR(r.text[0], "IMAGE 1x16x32x3");
    CHECK_STR(r.text[1], "MASK 1x16x32");
    r = run(FLOW_OF(LOAD("VHS_LoadVideoFFmpegPath", ", 'start_time': 0, 'frame_load_cap': 2"),
                    NODE("2", "VHS_VideoInfoLoaded", "'video_info': ['1', 3]"),
                    NODE("3", "VHS_VideoInfoSource", "'video_info': ['1', 3]"), SHOW("4", "2", "1"),
                    SHOW("5", "3", "2")));
    CHECK_STR(r.text[0], "2");
    CHECK_STR(r.text[1], "1.5");
}

// Three seconds: the first is silent.
static void make_sound(void)
{
    nino_error err = { 0 };
    char dir[600];
    nino_sound s = { nino_array_create(NINO_F32, NINO_SHAPE(1, 1, 3 * 8000)), 8000 };
    for (int i = 8000; i < 3 * 8000; i++)
        nino_array_f32(s.wave)[i] = 0.5f * sinf((float) i * 0.3f);
    snprintf(dir, sizeof(dir), "%s/input", flow_temp());
    nino_file_writer *file = NULL;
    CHECK_OK(nino_file_writer_open(dir, "late.flac", true, &file, &err), err);
    CHECK_OK(nino_sound_write(file, &s, 0, NULL, 0, &err), err);
    CHECK_OK(nino_file_writer_commit(&file, false, &err), err);
    nino_sound_release(&s);
}

// The loudest sample of a saved sound, and how many there are.
static double loudest(const char *path, int64_t *n)
{
    nino_error err = { 0 };
    nino_sound s = { 0 };
    double most = 0;
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    CHECK_OK(nino_sound_read(fd, path, false, &s, &err), err);
    close(fd);
    *n = s.wave->shape.dim[2];
    for (int64_t i = 0; i < *n; i++)
        most = fmax(most, fabsf(nino_array_f32(s.wave)[i]));
    nino_sound_release(&s);
    return most;
}

// A clip with a sound has it in a second file, as long as the clip; read again it comes with the
// frames that are taken.
static void sounds(void)
{
    int64_t n;
    if (!nino_video_codec(NINO_VIDEO_MP4, "h264"))
        return;
    make_sound();
#define LATE NODE("5", "LoadAudio", "'audio': 'late.flac'")
#define WITH_SOUND ", 'audio': ['5', 0]"
    flow_result r = run(FLOW_OF(PICTURE("1", "32", "16", "12", "255"), LATE,
                                COMBINE("video/h264-mp4", WITH_SOUND)));
    CHECK(r.n_paths == 2 && strstr(r.path[1], "-audio.mp4") && !strstr(r.path[0], "-audio"));
    copy_to_input(r.path[1], "sound.mp4");
    r = run(FLOW_OF(NODE("1", "VHS_LoadVideo", "'video': 'sound.mp4', 'frame_load_cap': 4"),
                    NODE("2", "SaveAudio", "'audio': ['1', 2], 'filename_prefix': 'first'")));
    CHECK(r.n_paths == 1 && loudest(r.path[0], &n) < 0.05 && n == 4000);
    r = run(FLOW_OF(NODE("1", "VHS_LoadVideo", "'video': 'sound.mp4', 'skip_first_frames': 9"),
                    NODE("2", "SaveAudio", "'audio': ['1', 2], 'filename_prefix': 'last'")));
    CHECK(r.n_paths == 1 && loudest(r.path[0], &n) > 0.4 && n == 3000); // 3 of 12 frames
    r = run(FLOW_OF(LOAD("VHS_LoadVideo", ""), NODE("2", "SaveAudio",
                                                    "'audio': ['1', 2]," // none
                                                    "'filename_prefix': 'no'")));
    CHECK(r.n_paths == 0);
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(
        FLOW_OF(PICTURE("1", "32", "16", "2", "255"), LATE, COMBINE("video/webm", WITH_SOUND)));
    r = flow_run(ctx, g, NULL);
    CHECK(r.st == NINO_ERR_UNSUPPORTED && strstr(r.err.msg, "without sound"));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

static void folders(void)
{
    const flow_result r =
        run(FLOW_OF(PICTURE("1", "8", "8", "1", "255"), PICTURE("2", "16", "8", "2", "255"),
                    NODE("3", "SaveImage", "'images': ['1', 0], 'filename_prefix': 'a'"),
                    NODE("4", "SaveImage", "'images': ['2', 0], 'filename_prefix': 'b'")));
    CHECK(r.n_paths == 3);
    copy_to_input(r.path[0], "set/1.png");
    copy_to_input(r.path[1], "set/2.png");
    copy_to_input(r.path[2], "set/3.png");
    copy_to_input(r.path[2], "set/deeper/4.png");
#define FOLDER(class, name, more) NODE("1", class, "'directory': '" name "'" more)
    flow_result s = run(FLOW_OF(FOLDER("VHS_LoadImages", "set", ""), SHOW("2", "1", "0"),
                                SHOW("3", "1", "1"), SHOW("4", "1", "2")));
    CHECK_STR(s.text[0], "IMAGE 3x8x16x3"); // the size of two of the three
    CHECK_STR(s.text[1], "MASK 3x8x16");
    CHECK_STR(s.text[2], "3");
    s = run(FLOW_OF(
        FOLDER("VHS_LoadImagesPath", "input/set/", ", 'skip_first_images': 1, 'image_load_cap': 1"),
        SHOW("2", "1", "0")));
    CHECK_STR(s.text[0], "IMAGE 1x8x16x3");
    s = run(FLOW_OF(NODE("1", "VHS_LoadImagePath",
                         "'image': 'set/1.png', 'custom_width': 16, 'custom_height': 0"),
                    SHOW("2", "1", "0")));
    CHECK_STR(s.text[0], "IMAGE 1x16x16x3");
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(FLOW_OF(FOLDER("VHS_LoadImages", "none", ""), SHOW("2", "1", "0")));
    const flow_result none = flow_run(ctx, g, NULL);
    CHECK(none.st != NINO_OK && strstr(none.err.msg, "no picture"));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

static void shown(void)
{
    static const char *const lines[][2] = {
        { NODE("2", "ShowText|pysssss", "'text': ['1', 0], 'text_0': 'old'"), "a\nb" },
        { NODE("2", "easy showAnything", "'anything': ['1', 0]"), "a\nb" },
        { NODE("2", "Display Any (rgthree)", "'source': ['1', 0]"), "a\nb" },
        { NODE("2", "ConsoleDebug+", "'value': ['1', 0], 'prefix': 'is '"), "is a\nb" },
    };
    char json[1024];
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        snprintf(json, sizeof(json), "{%s, %s}",
                 NODE("1", "easy promptLine",
                      "'prompt': 'a\\nb', 'start_index': 0, 'max_rows': "
                      "9, 'remove_empty_lines': true"),
                 lines[i][0]);
        const flow_result r = run(json);
        CHECK(r.n_texts == 1);
        CHECK_STR(r.text[0], lines[i][1]);
    }
    flow_result r = run(FLOW_OF(NODE("1", "INTConstant", "'value': 7"),
                                NODE("2", "Display Int (rgthree)", "'input': ['1', 0]"),
                                NODE("3", "Any to String (Image Saver)", "'value': ['1', 0]"),
                                NODE("4", "Text to Console", "'text': ['3', 0], 'label': 'n'")));
    CHECK(r.n_texts == 2);
    CHECK_STR(r.text[0], "7");
    CHECK_STR(r.text[1], "n: 7");
    r = run(FLOW_OF(PICTURE("1", "8", "6", "2", "255"),
                    NODE("2", "DisplayAny", "'input': ['1', 0], 'mode': 'tensor shape'"),
                    NODE("3", "DebugTensorShape+", "'tensor': ['1', 0]")));
    CHECK_STR(r.text[0], "2x6x8x3");
    CHECK_STR(r.text[1], "IMAGE 2x6x8x3");
}

static void viewed(void)
{
    const flow_result r = run(
        FLOW_OF(PICTURE("1", "8", "6", "1", "255"),
                NODE("2", "SolidMask", "'value': 0.5, 'width': 8, 'height': 6"),
                NODE("3", "Image Comparer (rgthree)", "'image_a': ['1', 0], 'image_b': ['1', 0]"),
                NODE("4", "MaskPreview+", "'mask': ['2', 0]"),
                NODE("5", "PreviewAnimation", "'fps': 8, 'images': ['1', 0]"),
                NODE("6", "ImageAndMaskPreview",
                     "'image': ['1', 0], 'mask': ['2', 0], 'mask_opacity': 1, 'mask_color': '255, "
                     "0, 0', 'pass_through': false")));
    CHECK(r.n_paths == 5);
    for (size_t i = 0; i < r.n_paths; i++)
        CHECK(exists(r.path[i]));
}

// An output that stays empty is nothing to who takes anything, and an error to who needs it.
static void nothing(void)
{
#define EMPTY                                                                                      \
    NODE("1", "Context (rgthree)", "'seed': ['9', 0]") ", " NODE("9", "INTConstant", "'value': 5")
    flow_result r = run(
        FLOW_OF(EMPTY, NODE("2", "Any Switch (rgthree)", "'any_01': ['1', 7], 'any_02': ['1', 8]"),
                SHOW("3", "2", "0")));
    CHECK_STR(r.text[0], "5");
    nino_ctx *ctx = flow_open("ref", NULL);
    nino_graph *g = flow_graph(FLOW_OF(EMPTY, NODE("2", "PreviewImage", "'images': ['1', 7]")));
    r = flow_run(ctx, g, NULL);
    CHECK(r.st != NINO_OK && strstr(r.err.msg, "has no IMAGE to give"));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
}

static int n_notes;
static void on_issue(void *priv, const nino_issue *i)
{
    (void) priv;
    if (!strcmp(i->code, "no_effect")) {
        CHECK(i->severity == NINO_ISSUE_WARNING && !strcmp(i->node, "2"));
        CHECK(strstr(i->message, "easy cleanGpuUsed only hands its input on here"));
        n_notes++;
    }
}

// What does nothing here says so, and what its settings are does not matter.
static void said(void)
{
    nino_graph *g = flow_graph(FLOW_OF(PICTURE("1", "8", "6", "1", "255"),
                                       NODE("2", "easy cleanGpuUsed", "'anything': ['1', 0]"),
                                       NODE("3", "PreviewImage", "'images': ['2', 0]")));
    CHECK(nino_graph_check(g, NULL, on_issue, NULL) == 0 && n_notes == 1);
    nino_graph_destroy(&g);
    g = flow_graph(
        FLOW_OF(NODE("1", "VAELoader", "'vae_name': 'taesd'"),
                NODE("2", "TorchCompileVAE",
                     "'vae': ['1', 0], 'backend': 'another', 'fullgraph': 3, 'mode': null")));
    CHECK(nino_graph_check(g, NULL, NULL, NULL) <= 1); // nothing to run, and no more than that
    nino_graph_destroy(&g);
}

int main(void)
{
    names();
    refused();
    clips();
    sounds();
    folders();
    shown();
    viewed();
    nothing();
    said();
    flow_clean();
    return 0;
}
