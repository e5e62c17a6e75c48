// Debug capture: with ROCM_NINODES_DEBUG=1 every node leaves its inputs and outputs behind; without
// it there is nothing.
#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "core/base/json.h"
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
}

// The environment is read once a process, so each case is one.
static void in_child(bool is_on)
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
        nino_graph *g = flow_graph(flow);
        const flow_result r = flow_run(ctx, g, NULL);
        CHECK_OK(r.st, r.err);
        nino_graph_destroy(&g);
        nino_ctx_destroy(&ctx); // waits for the writer
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    random_vae small = flow_small_vae;
    small.mult[1] = 1;
    flow_save_vae(small, "vae", "a.safetensors");
    CHECK(chdir(flow_temp()) == 0);
    in_child(false);
    CHECK(access("test_data", F_OK));
    in_child(true);
    check_files();
    CHECK(chdir("/") == 0);
    flow_clean();
    return 0;
}
