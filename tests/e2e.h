// Workflows over the tiny models, and the pictures that ComfyUI made of them.
#pragma once
#include <math.h>

#include "core/base/file.h"
#include "core/media/png.h"
#include "tests/flow.h"

static inline nino_png e2e_png(const char *path)
{
    nino_error err = { 0 };
    nino_png png = { 0 };
    char *data = NULL;
    size_t len = 0;
    CHECK_OK(nino_file_read(path, (size_t) 64 << 20, false, &data, &len, &err), err);
    CHECK_OK(nino_png_read(data, len, path, true, &png, &err), err);
    free(data);
    return png;
}

// Largest difference in 1/255.
static inline int e2e_difference(const char *path, const char *other)
{
    nino_png a = e2e_png(path), b = e2e_png(other);
    int most = 0;
    CHECK(nino_shape_equal(&a.pixels->shape, &b.pixels->shape));
    for (int64_t i = 0; i < nino_shape_count(&a.pixels->shape); i++) {
        const double d =
            fabs((double) nino_array_f32(a.pixels)[i] - (double) nino_array_f32(b.pixels)[i]) * 255;
        most = (int) lround(d) > most ? (int) lround(d) : most;
    }
    nino_png_release(&a);
    nino_png_release(&b);
    return most;
}

static inline flow_result e2e_run(nino_ctx *ctx, const char *json)
{
    nino_error err = { 0 };
    nino_graph *g = nino_graph_load(json, strlen(json), "e2e", &err);
    CHECK_OK(g ? NINO_OK : err.code, err);
    flow_result r = flow_run(ctx, g, NULL);
    CHECK_OK(r.st, r.err);
    CHECK(r.n_paths == 1);
    nino_graph_destroy(&g);
    return r;
}

// The text of a workflow of a folder of the test data ("e2e"); to be freed.
static inline char *e2e_workflow(const char *assets, const char *folder, const char *name)
{
    char path[512], *json = NULL;
    size_t len = 0;
    nino_error err = { 0 };
    snprintf(path, sizeof(path), "%s/%s/workflows/%s.json", assets, folder, name);
    CHECK_OK(nino_file_read(path, 1 << 20, false, &json, &len, &err), err);
    return json;
}

// The picture of a run is that of the test data, but for `most` of 255.
static inline void e2e_check(const flow_result *r, const char *assets, const char *folder,
                             const char *name, int most)
{
    char want[512];
    snprintf(want, sizeof(want), "%s/%s/expected/%s.png", assets, folder, name);
    const int worst = e2e_difference(r->path[0], want);
    printf("  %s.png: largest difference %d of 255\n", name, worst);
    CHECK(worst <= most);
}
