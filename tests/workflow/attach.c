// Viewers that come, read a little and go while jobs run: the pictures stay the same, bit for bit.
// 20 of them; 1 000 with NINODES_TEST_LONG=1.
#include "tests/flow_vae.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

static const char flow[] =
    "{'1': {'class_type': 'EmptyLatentImage', 'inputs': {'width': 64, 'height': 64, "
    "'batch_size': 2}},"
    "'2': {'class_type': 'VAELoader', 'inputs': {'vae_name': 'a.safetensors'}},"
    "'3': {'class_type': 'VAEDecodeTiled', 'inputs': {'samples': ['1', 0], 'vae': ['2', 0], "
    "'tile_size': 64, 'overlap': 16, 'temporal_size': 64, 'temporal_overlap': 8}},"
    "'4': {'class_type': 'SaveImage', 'inputs': {'images': ['3', 0], 'filename_prefix': 'a'}}}";

static void make_files(void)
{
    flow_own_sockets();
    flow_save_vae(flow_small_vae, "vae", "a.safetensors");
}

static struct {
    char socket[128];
    int viewers; // that are to come
    atomic_int seen, done;
    uint64_t events;
} shared;

// One viewer after the other; every third one stays connected beside the next two.
static void *view(void *priv)
{
    nino_attach *slow = NULL;
    (void) priv;
    for (int i = 0; i < shared.viewers; i++) {
        nino_error err = { 0 };
        nino_attach *a = nino_attach_open(shared.socket, &err);
        CHECK_OK(a ? NINO_OK : err.code, err);
        bool has_queue = false;
        for (int k = 0; k < 4 || !has_queue; k++) {
            nino_event ev[64];
            size_t n = 0;
            CHECK_OK(nino_attach_read(a, ev, 64, &n, &err), err);
            has_queue = nino_control_queue(a) != NULL;
            shared.events += n;
            struct pollfd p = { nino_attach_fd(a), POLLIN, 0 };
            if (!n)
                poll(&p, 1, 100);
        }
        if (i % 3 == 0) {
            nino_attach_close(&slow);
            slow = a;
        } else {
            nino_attach_close(&a);
        }
        atomic_fetch_add(&shared.seen, 1);
    }
    nino_attach_close(&slow);
    atomic_store(&shared.done, 1);
    return NULL;
}

static size_t read_picture(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "rb");
    CHECK(f);
    const size_t n = fread(buf, 1, size, f);
    CHECK(n && n < size && !fclose(f));
    return n;
}

int main(void)
{
    static char first[1 << 20], again[1 << 20], models[256], input[256], output[256];
    nino_error err = { 0 };
    make_files();
    snprintf(models, sizeof(models), "%s/models", flow_temp());
    snprintf(input, sizeof(input), "%s/input", flow_temp());
    snprintf(output, sizeof(output), "%s/output", flow_temp());
    const char *roots[] = { models, NULL };
    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "", .serve = 1,
                                .job = &(nino_job_options){
                                    NINO_JOB_OPTIONS_INIT, .models = roots, .input_dir = input,
                                    .output_dir = output, .no_profile = 1 } };
    nino_ctx *ctx = nino_ctx_create(&p, &err);
    CHECK_OK(ctx ? NINO_OK : err.code, err);
    nino_graph *g = flow_graph(flow);
    flow_result r = flow_run(ctx, g, NULL); // unwatched
    CHECK_OK(r.st, r.err);
    const size_t len = read_picture(r.path[1], first, sizeof(first));

    const char *is_long = getenv("NINODES_TEST_LONG");
    shared.viewers = is_long && *is_long ? 1000 : 20;
    snprintf(shared.socket, sizeof(shared.socket), "%s", nino_ctx_socket(ctx));
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, view, NULL));
    int runs = 0, before;
    do { // at least one whole run beside viewers, and more until all of them have been
        nino_control_reply reply;
        nino_attach *a = nino_attach_open(shared.socket, &err);
        CHECK_OK(a ? NINO_OK : err.code, err);
        CHECK_OK(nino_control_call(a,
                                   &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_TRIM },
                                   60000, &reply, &err),
                 err); // nothing from the cache
        nino_attach_close(&a);
        before = atomic_load(&shared.done);
        r = flow_run(ctx, g, NULL);
        CHECK_OK(r.st, r.err);
        CHECK(r.n_kernels > 10 && read_picture(r.path[1], again, sizeof(again)) == len);
        CHECK(!memcmp(first, again, len));
        for (size_t i = 0; i < r.n_paths; i++)
            unlink(r.path[i]);
        runs++;
    } while (!before);
    CHECK(!pthread_join(t, NULL));
    CHECK(atomic_load(&shared.seen) == shared.viewers && shared.events > 0);
    printf("  %d viewers during %d runs\n", shared.viewers, runs);
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
