// .latent files: layout, the scaling of old files, metadata.
#include "core/file/latent_file.h"
#include "core/file/safetensors.h"
#include "tests/test.h"

#include <math.h>

static char dir[] = "/tmp/ninodes-latent-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static nino_status load(const char *path, nino_array **out, nino_error *err)
{
    nino_weights *w = nino_weights_open(path, err);
    CHECK_OK(w ? NINO_OK : err->code, *err);
    const nino_status st = nino_latent_load(w, out, err);
    nino_weights_unref(&w);
    return st;
}

static nino_array *counted(nino_shape s)
{
    nino_array *a = nino_array_create(NINO_F32, s);
    for (int64_t i = 0; i < nino_shape_count(&s); i++)
        nino_array_f32(a)[i] = (float) i / 7;
    return a;
}

static void check_round_trip(nino_shape last, nino_shape first)
{
    nino_error err = { 0 };
    nino_array *a = counted(last), *b = NULL;
    const nino_meta meta[] = { { "prompt", "{}", 2 }, { "workflow", "{\"nodes\":[]}", 12 } };
    CHECK_OK(nino_latent_save(dir, "sub/a.latent", a, meta, 2, &err), err);
    CHECK_OK(load(path_of("sub/a.latent"), &b, &err), err);
    CHECK(nino_shape_equal(&a->shape, &b->shape) && !memcmp(a->data, b->data, a->bytes));
    nino_weights *w = nino_weights_open(path_of("sub/a.latent"), &err);
    const nino_tensor_info *t = nino_weights_find(w, "latent_tensor");
    CHECK(t && t->rank == first.rank && !memcmp(t->dim, first.dim, (size_t) t->rank * 8));
    CHECK(nino_weights_find(w, "latent_format_version_0"));
    CHECK_STR(nino_weights_meta(w, "workflow"), meta[1].value);
    nino_weights_unref(&w);
    nino_array_unref(&a);
    nino_array_unref(&b);
}

static void check_old(void)
{
    nino_error err = { 0 };
    nino_array *a = counted(NINO_SHAPE(1, 4, 2, 3)), *b = NULL;
    const nino_st_entry old = { "latent_tensor", a };
    CHECK_OK(nino_st_save(dir, "old.latent", true, &old, 1, NULL, 0, &err), err);
    CHECK_OK(load(path_of("old.latent"), &b, &err), err);
    const float scale = (float) (1.0 / 0.18215);
    for (int p = 0; p < 6; p++)
        for (int c = 0; c < 4; c++)
            CHECK(nino_array_f32(b)[p * 4 + c] == nino_array_f32(a)[c * 6 + p] * scale);
    nino_array_unref(&a);
    nino_array_unref(&b);
}

static void check_refusals(void)
{
    nino_error err = { 0 };
    nino_array *flat = counted(NINO_SHAPE(4, 2, 3)), *none = counted(NINO_SHAPE(1, 4, 0, 3));
    const struct {
        nino_st_entry e;
        const char *kind;
    } bad[] = {
        { { "samples", flat }, "schema" },
        { { "latent_tensor", flat }, "shape" },
        { { "latent_tensor", none }, "shape" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        nino_array *out = NULL;
        CHECK_OK(nino_st_save(dir, "bad.latent", true, &bad[i].e, 1, NULL, 0, &err), err);
        CHECK(load(path_of("bad.latent"), &out, &err) == NINO_ERR_FORMAT && !out);
        CHECK_STR(err.kind, bad[i].kind);
    }
    nino_array *ok = counted(NINO_SHAPE(1, 2, 3, 4));
    CHECK(nino_latent_save(dir, "../up.latent", ok, NULL, 0, &err) != NINO_OK);
    CHECK_STR(err.kind, "path");
    nino_array_unref(&ok);
    nino_array_unref(&flat);
    nino_array_unref(&none);
}

static void check_assets(const char *assets)
{
    static const struct {
        const char *name;
        nino_shape shape;
    } files[] = {
        { "taesd_ref/taesd_shiba.latent", { 4, { 1, 64, 64, 4 } } },
        { "taesd_ref/taef1_shiba.latent", { 4, { 1, 64, 64, 16 } } },
        { "taesd_ref/taef2_shiba.latent", { 4, { 1, 64, 64, 32 } } },
        { "wan_latents/test_latents_wan.latent", { 5, { 1, 16, 40, 64, 16 } } },
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char path[512];
        nino_array *a = NULL;
        nino_error err = { 0 };
        snprintf(path, sizeof(path), "%s/%s", assets, files[i].name);
        CHECK_OK(load(path, &a, &err), err);
        CHECK(nino_shape_equal(&a->shape, &files[i].shape));
        double sum = 0;
        for (size_t k = 0; k < a->bytes / sizeof(float); k++)
            sum += fabs((double) nino_array_f32(a)[k]);
        sum /= (double) (a->bytes / sizeof(float));
        CHECK(sum > 0.1 && sum < 10); // real values, not noise and not zeros
        nino_array_unref(&a);
    }
}

int main(void)
{
    CHECK(mkdtemp(dir));
    check_round_trip(NINO_SHAPE(2, 5, 7, 4), NINO_SHAPE(2, 4, 5, 7));
    check_round_trip(NINO_SHAPE(1, 3, 5, 7, 16), NINO_SHAPE(1, 16, 3, 5, 7));
    check_old();
    check_refusals();
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    CHECK(system(command) == 0);
    if (test_assets())
        check_assets(test_assets());
    else
        test_skip_part("files that ComfyUI wrote");
    return 0;
}
