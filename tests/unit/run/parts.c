// Files of the parts of a run: what was put in comes out joined, and files that do not go together, or
// were made by somebody who means harm, are errors that name them.
#include "core/run/parts.h"

#include <unistd.h>

#include "core/file/safetensors.h"
#include "tests/test.h"

static const char workflow[] = "{\"7\": {\"class_type\": \"KSampler\", \"inputs\": {}},"
                               " \"a:8\": {\"class_type\": \"VAEDecode\", \"inputs\": {}}}";
static char dir[64];

static nino_array *ramp(nino_dtype type, nino_shape shape, int64_t first)
{
    nino_array *a = nino_array_create(type, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++) {
        if (type == NINO_I64)
            ((int64_t *) a->data)[i] = first + i;
        else
            nino_array_f32(a)[i] = (float) (first + i);
    }
    return a;
}

// Items first ... first + n of 5, as a part.
static void save_part(const nino_ctx *ctx, int shard, int n_shards, int64_t first, int64_t n)
{
    nino_error err = { 0 };
    nino_parts *p = nino_parts_create();
    char *path = NULL;
    const nino_share part = { .is_split = true, .first = first, .count = n, .total = 5 };
    const nino_share one = { .is_split = true, .is_one = true, .count = 1 };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .parts_dir = dir, .shard = shard,
                                 .n_shards = n_shards };
    nino_value *latent = nino_value_create(NINO_PORT_LATENT);
    nino_value *image = nino_value_create(NINO_PORT_IMAGE);
    CHECK(p && latent && image);
    latent->u.latent.samples = ramp(NINO_F32, NINO_SHAPE(n, 2, 3, 4), first * 24);
    latent->u.latent.noise_mask = ramp(NINO_F32, NINO_SHAPE(n, 2, 2), first * 4);
    latent->u.latent.batch_index = calloc((size_t) n, sizeof(int64_t));
    for (int64_t i = 0; i < n; i++)
        latent->u.latent.batch_index[i] = 100 + first + i;
    image->u.image = ramp(NINO_F32, NINO_SHAPE(2, 2, 2, 3), 0);
    CHECK_OK(nino_parts_add(p, "7", &latent, 1, &part, &err), err);
    if (shard == n_shards)
        CHECK_OK(nino_parts_add(p, "a:8", &image, 1, &one, &err), err);
    CHECK_OK(nino_parts_save(p, &o, workflow, ctx, &path, &err), err);
    CHECK(strstr(path, ".safetensors"));
    nino_value_unref(&latent);
    nino_value_unref(&image);
    nino_parts_destroy(&p);
    free(path);
}

static nino_status give(nino_graph **g, const char *prompt, nino_error *err)
{
    nino_graph_destroy(g);
    CHECK((*g = nino_graph_load(workflow, strlen(workflow), "parts", err)));
    return nino_parts_give(dir, *g, prompt, NULL, err);
}

static void check_joined(nino_graph *g)
{
    const nino_latent *l = &g->nodes[nino_graph_find(g, "7")].given[0]->u.latent;
    CHECK(l->samples->shape.dim[0] == 5 && l->noise_mask->shape.dim[0] == 5);
    for (int i = 0; i < 5 * 24; i++)
        CHECK(nino_array_f32(l->samples)[i] == (float) i);
    for (int i = 0; i < 5 * 4; i++)
        CHECK(nino_array_f32(l->noise_mask)[i] == (float) i);
    for (int i = 0; i < 5; i++)
        CHECK(l->batch_index[i] == 100 + i);
    CHECK(g->nodes[nino_graph_find(g, "a:8")].given[0]->u.image->shape.dim[0] == 2);
}

// A file of one tensor in the place of part 1 of 1.
static void save_bad(const char *share, const char *tensor, nino_array *a)
{
    nino_error err = { 0 };
    char of[40];
    const nino_hash h = nino_hash_bytes(workflow, strlen(workflow));
    snprintf(of, sizeof(of), "%016llx%016llx", (unsigned long long) h.hi,
             (unsigned long long) h.lo);
    const nino_meta meta[] = { { "workflow", of, strlen(of) },
                               { "share.7", share, strlen(share) } };
    const nino_st_entry e = { tensor, a };
    CHECK_OK(nino_st_save(dir, "part-1-of-1.safetensors", true, &e, 1, meta, 2, &err), err);
    nino_array_unref(&a);
}

static void check_bad(nino_graph **g)
{
    static const char *const shares[] = { "0 3 5 0",
                                          "1 5 5 0",
                                          "0 5 4 0",
                                          "0 5 -1 0",
                                          "0 9223372036854775807 9223372036854775807 0",
                                          "0 5 9223372036854775807 0",
                                          "x",
                                          "-5 5 5 0" };
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        nino_error err = { 0 };
        save_bad(shares[i], "0.samples.7", ramp(NINO_F32, NINO_SHAPE(5, 2, 2, 4), 0));
        const nino_status st = give(g, workflow, &err);
        CHECK(shares[i][0] == 'x' ? st == NINO_OK : st != NINO_OK); // x: not a part of the node
        CHECK(!(*g)->nodes[0].given[0] || st);
    }
    const struct {
        const char *tensor;
        nino_dtype type;
        nino_shape shape;
    } tensors[] = { { "0.samples.7", NINO_F32, NINO_SHAPE(5, 2, 4) },
                    { "0.samples.7", NINO_I64, NINO_SHAPE(5, 2, 2, 4) },
                    { "0.image.7", NINO_F32, NINO_SHAPE(5, 2, 2, 2) },
                    { "0.mask.7", NINO_F32, NINO_SHAPE(5, 2, 2, 1) },
                    { "0.noise_mask.7", NINO_F32, NINO_SHAPE(5, 2, 2) },
                    { "0.index.7", NINO_I64, NINO_SHAPE(5) },
                    { "1.samples.7", NINO_F32, NINO_SHAPE(5, 2, 2, 4) } };
    for (size_t i = 0; i < sizeof(tensors) / sizeof(tensors[0]); i++) {
        nino_error err = { 0 };
        save_bad("0 5 5 0", tensors[i].tensor, ramp(tensors[i].type, tensors[i].shape, 0));
        CHECK(give(g, workflow, &err) == NINO_ERR_FORMAT);
        CHECK(strstr(err.where, "part-1-of-1") && strstr(err.msg, "node 7"));
    }
}

int main(void)
{
    nino_error err = { 0 };
    nino_graph *g = NULL;
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "" };
    nino_ctx *ctx = nino_ctx_create(&cp, &err);
    CHECK(ctx);
    snprintf(dir, sizeof(dir), "/tmp/nino-parts-XXXXXX");
    CHECK(mkdtemp(dir));
    CHECK(give(&g, workflow, &err) == NINO_ERR_MISSING);
    save_part(ctx, 2, 2, 2, 3);
    CHECK(give(&g, workflow, &err) == NINO_ERR_MISSING && strstr(err.where, "part-1-of-2"));
    save_part(ctx, 1, 2, 0, 2);
    err = (nino_error){ 0 };
    CHECK_OK(give(&g, workflow, &err), err);
    check_joined(g);
    CHECK(give(&g, "another", &err) == NINO_ERR_FORMAT && strstr(err.msg, "another workflow"));
    save_part(ctx, 1, 2, 1, 2); // they overlap, and the first item is nobody's
    CHECK(give(&g, workflow, &err) == NINO_ERR_FORMAT && strstr(err.msg, "node 7"));
    char path[160];
    for (int i = 1; i <= 2; i++) {
        snprintf(path, sizeof(path), "%s/part-%d-of-2.safetensors", dir, i);
        CHECK(!unlink(path));
    }
    check_bad(&g);
    snprintf(path, sizeof(path), "%s/part-1-of-1.safetensors", dir);
    CHECK(!unlink(path) && !rmdir(dir));
    nino_graph_destroy(&g);
    nino_ctx_destroy(&ctx);
    return 0;
}
