// Debug capture: with ROCM_NINODES_DEBUG=1 every node leaves its inputs and outputs behind; without
// it there is nothing.
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/file/safetensors.h"
#include "core/file/weights.h"
#include "tests/flow_vae.h"

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 48, 'batch_size': "
    "1}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecode', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0]}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

// Name of the one file in dir that starts and ends so; "" if there is none.
static const char *find(const char *dir, const char *start, const char *end)
{
    static char path[1024];
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        const size_t len = strlen(e->d_name), m = strlen(end);
        if (strncmp(e->d_name, start, strlen(start)) || len < m || strcmp(e->d_name + len - m, end))
            continue;
        snprintf(path, sizeof(path), "%.400s/%.500s", dir, e->d_name);
        n++;
    }
    if (d)
        closedir(d);
    CHECK(n <= 1);
    return n ? path : "";
}

// The one whose name is last in order.
static const char *find_last(const char *dir, const char *start)
{
    static char path[1024];
    path[0] = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char one[1024];
        snprintf(one, sizeof(one), "%.400s/%.500s", dir, e->d_name);
        if (!strncmp(e->d_name, start, strlen(start)) && strcmp(one, path) > 0)
            memcpy(path, one, sizeof(path));
    }
    if (d)
        closedir(d);
    return path;
}

static void check_tensor(const char *path, const char *name, int64_t d1, int64_t d2, int64_t d3)
{
    nino_error err = { 0 };
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    const nino_tensor_info *t = nino_weights_find(w, name);
    CHECK(t && t->rank == 4 && t->dtype == NINO_F32);
    CHECK(t->dim[0] == 1 && t->dim[1] == d1 && t->dim[2] == d2 && t->dim[3] == d3);
    nino_weights_unref(&w);
}

static nino_json_doc *read_json(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    nino_error err = { 0 };
    nino_json_doc *doc = NULL;
    CHECK_OK(nino_file_read(path, 1 << 20, false, &text, &len, &err), err);
    CHECK_OK(nino_json_parse(text, len, path, NULL, &doc, &err), err);
    free(text);
    return doc;
}

// What the timing and the memory of a node say.
static void check_beside(void)
{
    nino_json_doc *doc =
        read_json(find("test_data/captured/timing", "timing_vae_decode_", ".json"));
    const nino_json *meta = nino_json_get(nino_json_get(doc->root, "data"), "metadata");
    CHECK_STR(nino_json_str(nino_json_get(meta, "node_id")), "3");
    CHECK_STR(nino_json_str(nino_json_get(meta, "input_shape")), "samples 1x6x8x4");
    CHECK_STR(nino_json_str(nino_json_get(meta, "output_shape")), "IMAGE 1x12x16x3");
    CHECK(nino_json_get(meta, "params"));
    nino_json_doc_destroy(&doc);
    // two of each node: before and after it
    doc = read_json(find_last("test_data/captured/memory", "memory_vae_loader_"));
    const nino_json *data = nino_json_get(doc->root, "data");
    int64_t held = -1, reserved = -1;
    CHECK_STR(nino_json_str(nino_json_get(data, "function")), "vae_loader");
    CHECK(nino_json_i64(nino_json_get(data, "gpu_memory_allocated"), &held) && held >= 0);
    CHECK(nino_json_i64(nino_json_get(data, "gpu_memory_reserved"), &reserved) && reserved >= held);
    nino_json_doc_destroy(&doc);
}

static void check_files(void)
{
    // the folder says the VAE's family and the size in pixels; this VAE doubles the size once
    char dir[512];
    snprintf(dir, sizeof(dir), "%s", find("test_data/captured", "sd", "_16x12"));
    nino_json_doc *doc;
    check_tensor(find(dir, "vae_decode_input_", ".safetensors"), "samples", 4, 6, 8);
    check_tensor(find(dir, "vae_decode_output_", ".safetensors"), "IMAGE", 12, 16, 3);
    doc = read_json(find(dir, "vae_decode_output_", ".json"));
    const nino_json *meta = nino_json_get(doc->root, "metadata");
    double seconds = -1;
    CHECK_STR(nino_json_str(nino_json_get(meta, "node_type")), "VAEDecode");
    CHECK_STR(nino_json_str(nino_json_get(meta, "node_id")), "3");
    CHECK(nino_json_double(nino_json_get(meta, "execution_time"), &seconds) && seconds > 0);
    const nino_json *info = nino_json_get(nino_json_get(doc->root, "tensor_info"), "IMAGE");
    CHECK_STR(nino_json_str(nino_json_get(info, "dtype")), "f32");
    CHECK(nino_json_get(info, "shape")->count == 4);
    nino_json_doc_destroy(&doc);
    doc = read_json(find(dir, "vae_decode_input_", ".json"));
    const nino_json *vae = nino_json_get(nino_json_get(doc->root, "data"), "vae");
    CHECK_STR(nino_json_str(nino_json_get(vae, "type")), "VAE");
    nino_json_doc_destroy(&doc);
    doc = read_json(find("test_data/captured/timing", "timing_vae_decode_", ".json"));
    const nino_json *data = nino_json_get(doc->root, "data");
    CHECK_STR(nino_json_str(nino_json_get(data, "function")), "vae_decode");
    CHECK(nino_json_double(nino_json_get(data, "duration"), &seconds) && seconds > 0);
    nino_json_doc_destroy(&doc);
    CHECK(*find("test_data/captured/other", "vae_loader_output_", ".json"));
    CHECK(*find("test_data/captured/latent_64x48", "empty_latent_image_output_", ".safetensors"));
    CHECK(*find("test_data/captured/image_16x12", "save_image_input_", ".safetensors"));
    CHECK(*find("test_data/captured/workflow", "workflow_", ".json")); // one of all nodes
    check_beside();
}

// The environment is read once a process, so each case is one.
static void in_child(bool is_on, const char *json)
{
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        if (is_on)
            setenv("ROCM_NINODES_DEBUG", "1", 1);
        else
            unsetenv("ROCM_NINODES_DEBUG");
        unsetenv("NINODES_DEBUG");
        nino_ctx *ctx = flow_open("ref", NULL);
        nino_graph *g = flow_graph(json);
        const flow_result r = flow_run(ctx, g, NULL);
        CHECK_OK(r.st, r.err);
        nino_graph_destroy(&g);
        nino_ctx_destroy(&ctx); // waits for the writer
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

typedef struct told {
    int n, same;
    char first[128];
    double psnr;
} told;

static void on_row(void *priv, const nino_capture_row *r)
{
    told *t = priv;
    t->n++;
    t->same += r->verdict == NINO_CAPTURE_SAME;
    if (r->verdict == NINO_CAPTURE_DIFFERS && !*t->first) {
        snprintf(t->first, sizeof(t->first), "%s %s %s", r->node_id, r->is_output ? "out" : "in",
                 r->tensor);
        t->psnr = r->psnr;
        CHECK(r->nmse > 0 && r->most > 0);
    }
}

// The same workflow twice is the same, another precision differs from its first network on.
static void check_diff(void)
{
    nino_error err = { 0 };
    told t = { 0 };
    CHECK(!rename("test_data/captured", "a"));
    in_child(true, flow);
    CHECK(!rename("test_data/captured", "b"));
    CHECK_OK(nino_capture_diff("a", "b", on_row, &t, &err), err);
    CHECK(t.n == 5 && t.same == 5);

    setenv("NINODES_PRECISION", "fp16", 1);
    in_child(true, flow);
    unsetenv("NINODES_PRECISION");
    CHECK(!rename("test_data/captured", "c"));
    t = (told){ 0 };
    CHECK_OK(nino_capture_diff("a", "c", on_row, &t, &err), err);
    CHECK(t.n == 5 && t.same == 2 && t.psnr > 30 && t.psnr < 120);
    CHECK_STR(t.first, "3 out IMAGE");
    CHECK(nino_capture_diff("a", "nothing", on_row, &t, &err) == NINO_ERR_MISSING);
}

// One node alone gives its captured bits.
static void check_replay(void)
{
    nino_error err = { 0 };
    nino_ctx *ctx = flow_open("ref", NULL);
    char input[1024], dir[512];
    told t = { 0 };
    snprintf(dir, sizeof(dir), "%s", find("a", "sd", "_16x12"));
    snprintf(input, sizeof(input), "%s", find(dir, "vae_decode_input_", ".json"));
    CHECK_OK(nino_capture_replay(ctx, input, NULL, on_row, &t, &err), err);
    CHECK(t.n == 1 && t.same == 1);
    // it is the captured latent that is decoded, not the one that the workflow makes
    snprintf(dir, sizeof(dir), "%s", find("b", "sd", "_16x12"));
    const char *latent = find(dir, "vae_decode_input_", ".safetensors");
    nino_array *z = nino_array_create(NINO_F32, NINO_SHAPE(1, 4, 6, 8));
    for (int i = 0; i < 192; i++)
        nino_array_f32(z)[i] = (float) (i % 3);
    const nino_st_entry e = { "samples", z };
    CHECK_OK(nino_st_save(NULL, latent, false, &e, 1, NULL, 0, &err), err);
    snprintf(input, sizeof(input), "%s", find(dir, "vae_decode_input_", ".json"));
    t = (told){ 0 };
    CHECK_OK(nino_capture_replay(ctx, input, NULL, on_row, &t, &err), err);
    CHECK(t.n == 1 && t.same == 0);
    nino_array_unref(&z);
    CHECK(nino_capture_replay(ctx, find(dir, "vae_decode_output_", ".json"), NULL, on_row, &t,
                              &err) == NINO_ERR_ARG);
    nino_ctx_destroy(&ctx);
}

// A clip's folder says its frames, not its latent ones.
static void check_clip_folder(void)
{
    static const char clip[] =
        "{'1': {'class_type': 'EmptyHunyuanLatentVideo', 'inputs': {'width': 32, 'height': 16, "
        "'length': 17, 'batch_size': 1}},"
        "'2': {'class_type': 'SaveLatent', 'inputs': {'samples': ['1', 0], "
        "'filename_prefix': 'l'}}}";
    in_child(true, clip);
    CHECK(*find("test_data/captured/latent_32x16_17frames", "save_latent_input_", ".safetensors"));
}

int main(void)
{
    random_vae small = flow_small_vae;
    small.mult[1] = 1;
    flow_save_vae(small, "vae", "a.safetensors");
    CHECK(chdir(flow_temp()) == 0);
    in_child(false, flow);
    CHECK(access("test_data", F_OK));
    in_child(true, flow);
    check_files();
    check_diff();
    check_clip_folder();
    check_replay(); // last: from here on this process has read its settings
    CHECK(chdir("/") == 0);
    flow_clean();
    return 0;
}
