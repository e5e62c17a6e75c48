// Clips through workflows: five ways to save one, each file opens as the workflow that made it, and
// a saved video is read back by LoadVideo.
#include "tests/flow.h"

#define NODE(id, class, inputs) "'" id "': {'class_type': '" class "', 'inputs': {" inputs "}}"

static flow_result run(nino_ctx *ctx, const char *json)
{
    nino_graph *g = flow_graph(json);
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    CHECK_OK(r.st, r.err);
    return r;
}

#define FRAMES                                                                                     \
    NODE("1", "EmptyLatentImage", "'width': 64, 'height': 48, 'batch_size': 5")                    \
    "," NODE("2", "LatentPreview", "'samples': ['1', 0], 'format': 'auto', 'scale': 8")

static void copy_to_input(const char *path, const char *name)
{
    char cmd[2048];
    snprintf(cmd, sizeof(cmd), "mkdir -p %s/input && cp %s %s/input/%s", flow_temp(), path,
             flow_temp(), name);
    CHECK(system(cmd) == 0);
}

static void opens_again(const char *path, const char *class_type)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load_file(path, &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    size_t len;
    CHECK(strstr(nino_graph_api_json(g, &len), class_type));
    nino_graph_destroy(&g);
}

static void save(nino_ctx *ctx, const char *class_type, const char *more, const char *ext)
{
    char json[1024];
    snprintf(json, sizeof(json),
             "{" FRAMES ",'3': {'class_type': '%s', 'inputs': {'images': ['2', 0], "
             "'filename_prefix': 'clip/%s', 'fps': 8, %s}}}",
             class_type, class_type, more);
    const flow_result r = run(ctx, json);
    CHECK(r.n_paths == 1 && strstr(r.path[0], ext));
    opens_again(r.path[0], class_type);
}

static void still_and_moving(nino_ctx *ctx)
{
    save(ctx, "SaveAnimatedWEBP", "'lossless': true, 'quality': 80, 'method': 'default'", ".webp");
    save(ctx, "SaveAnimatedPNG", "'compress_level': 4", ".png");
    const flow_result r =
        run(ctx, "{" FRAMES
                 "," NODE("3", "SaveImage", "'images': ['2', 0], 'filename_prefix': 'f'") "}");
    CHECK(r.n_paths == 5);
}

// Written, found in the input folder, read: the same number of frames at the same rate.
static void there_and_back(nino_ctx *ctx)
{
    const flow_result w =
        run(ctx, "{" FRAMES "," NODE("3", "CreateVideo", "'images': ['2', 0], 'fps': 16") "," NODE(
                     "4", "SaveVideo",
                     "'video': ['3', 0], 'filename_prefix': 'video/a', 'format': 'auto', 'codec': "
                     "'auto'") "}");
    CHECK(w.n_paths == 1 && strstr(w.path[0], "/video/a_00001_.mp4"));
    opens_again(w.path[0], "CreateVideo");
    copy_to_input(w.path[0], "a.mp4");
    const flow_result r =
        run(ctx, "{" NODE("1", "LoadVideo", "'file': 'a.mp4'") "," //
            NODE("2", "GetVideoComponents", "'video': ['1', 0]") "," NODE(
                "4", "PreviewAny", "'source': ['2', 2]") "," NODE("5", "PreviewAny",
                                                                  "'source': ['2', 0]") "}");
    CHECK(r.n_texts == 2);
    for (int i = 0; i < 2; i++)
        CHECK(!strcmp(r.text[i], "16.0") || !strncmp(r.text[i], "IMAGE 5x48x64x3", 15));
}

#define SLICE "'video': ['4', 0], 'start_time': 0.4, 'duration': 0, 'strict_duration': false"
#define SAVED "'video': ['5', 0], 'filename_prefix': 'v', 'format': 'mp4', 'codec': 'auto'"
// clang-format off
#define SLICED                                                                                     \
    "{" FRAMES "," NODE("3", "LoadAudio", "'audio': 's.flac'") ","                                 \
    NODE("4", "CreateVideo", "'images': ['2', 0], 'audio': ['3', 0], 'fps': 5") ","                \
    NODE("5", "Video Slice", SLICE) "," NODE("6", "SaveVideo", SAVED) "}"
// clang-format on

// A sound goes into a file, from there into a video, which is cut, and out of it again.
static void with_sound(nino_ctx *ctx)
{
    const flow_result w = run(
        ctx,
        "{" NODE("1", "EmptyAudio", "'duration': 2, 'sample_rate': 16000, 'channels': 1") "," NODE(
            "2", "SaveAudio", "'audio': ['1', 0], 'filename_prefix': 'audio/s'") "}");
    CHECK(w.n_paths == 1 && strstr(w.path[0], "/audio/s_00001_.flac"));
    opens_again(w.path[0], "EmptyAudio");
    copy_to_input(w.path[0], "s.flac");
    const flow_result v = run(ctx, SLICED);
    CHECK(v.n_paths == 1);
    copy_to_input(v.path[0], "v.mp4");
    const flow_result r = run(ctx, "{" NODE("1", "LoadVideo", "'file': 'v.mp4'") ","   //
                              NODE("2", "GetVideoComponents", "'video': ['1', 0]") "," //
                              NODE("3", "PreviewAudio", "'audio': ['2', 1]") ","       //
                              NODE("4", "PreviewAny", "'source': ['2', 0]") "}");
    CHECK(r.n_texts == 1 && !strncmp(r.text[0], "IMAGE 3x48x64x3", 15)); // of five
    CHECK(r.n_paths == 1 && strstr(r.path[0], ".flac"));
    // the sound ends with the pictures: 0.6 s, in blocks of 1024
    char cmd[2048];
    snprintf(cmd, sizeof(cmd), "test $(wc -c < %s) -lt 20000", r.path[0]);
    CHECK(system(cmd) == 0);
}

int main(void)
{
    nino_ctx *ctx = flow_open("ref", NULL);
    still_and_moving(ctx);
    nino_graph *g = flow_graph("{" FRAMES "," NODE("3", "SaveWEBM",
                                                   "'images': ['2', 0], 'filename_prefix': 'w', "
                                                   "'codec': 'vp9', 'fps': 8, 'crf': 32") "}");
    const flow_result r = flow_run(ctx, g, NULL);
    nino_graph_destroy(&g);
    if (r.st == NINO_ERR_UNSUPPORTED) {
        printf("  no FFmpeg here\n");
    } else {
        CHECK_OK(r.st, r.err);
        opens_again(r.path[0], "SaveWEBM");
        save(ctx, "SaveWEBM", "'codec': 'vp9', 'crf': 32", ".webm");
        there_and_back(ctx);
        with_sound(ctx);
    }
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
