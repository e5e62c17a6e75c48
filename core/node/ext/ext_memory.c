// Nodes that free memory between others: what they free is read again, or made again, when it is
// needed. In a plan weights leave as well, so that it counts their coming back.
#include <malloc.h>

#include "core/base/error.h"
#include "core/node/ext/ext.h"
#include "core/node/node_impl.h"
#include "core/op/backend.h"

// pool: what nothing uses goes back to the driver. results: those that earlier runs have kept.
static nino_status ext_memory_free(nino_run *r, bool pool, bool results, bool weights,
                                   nino_error *err)
{
    nino_backend *be = nino_stream_backend(r->stream);
    const nino_status st = nino_stream_finish(r->stream, err);
    if (st)
        return st;
    if (results && !r->is_plan) {
        nino_services_of(r->ctx)->trim(r->ctx);
        malloc_trim(0);
    }
    if (weights)
        nino_backend_drop_weights(be);
    if (pool)
        nino_pool_trim(be->pool);
    return NINO_OK;
}

typedef struct purge_params {
    bool purge_cache;
    bool purge_models;
} purge_params;

static nino_status purge_run(nino_run *r, nino_error *err)
{
    const purge_params *p = r->params;
    const nino_status st = ext_memory_free(r, p->purge_cache, p->purge_cache, p->purge_models, err);
    return st ? st : nino_ext_pass(r, err);
}

#define PURGE_PARAMS                                                                               \
    NINO_P_BOOL(purge_params, purge_cache, true, .label = "Purge cache",                           \
                .help = "Forgets results of earlier runs, and gives unused device memory back"),   \
        NINO_P_BOOL(purge_params, purge_models, true, .label = "Purge models",                     \
                    .help = "Weights leave the device; they are read again when they are needed")

NINO_NODE(pass_purge, "LayerUtility: PurgeVRAM", "LayerUtility: PurgeVRAM", "LayerUtility/SystemIO",
          "Frees memory", NINO_INPUTS(NINO_PORT(anything, ANY)), NINO_NO_OUTPUTS,
          NINO_PARAMS(purge_params, PURGE_PARAMS), .is_output = true, NINO_RUN(purge_run));

NINO_NODE(pass_purge2, "LayerUtility: PurgeVRAM V2", "LayerUtility: PurgeVRAM V2",
          "LayerUtility/SystemIO", "Frees memory, and hands its input on",
          NINO_INPUTS(NINO_PORT(anything, ANY)), NINO_OUTPUTS(NINO_PORT(any, ANY)),
          NINO_PARAMS(purge_params, PURGE_PARAMS), .is_output = true, NINO_RUN(purge_run));

// ---- VRAM_Debug: its outputs have another order, and it counts -------------------------------

typedef struct debug_params {
    bool empty_cache;
    bool gc_collect;
    bool unload_all_models;
} debug_params;

static nino_status vram_debug_run(nino_run *r, nino_error *err)
{
    const debug_params *p = r->params;
    const int64_t before = (int64_t) nino_mem_available();
    nino_status st = ext_memory_free(r, p->empty_cache, p->gc_collect, p->unload_all_models, err);
    for (int i = 0; i < 3 && !st; i++)
        nino_ext_give(r, i, r->in[i]);
    st = st ? st : nino_out_int(r, 3, before, err);
    return st ? st : nino_out_int(r, 4, (int64_t) nino_mem_available(), err);
}

NINO_NODE(
    vram_debug, "VRAM_Debug", "VRAM Debug", "KJNodes/memory",
    "Frees memory; tells how much the system had before and after",
    NINO_INPUTS(NINO_PORT(any_input, ANY, .optional = true),
                NINO_PORT(image_pass, IMAGE, .optional = true),
                NINO_PORT(model_pass, MODEL, .optional = true)),
    NINO_OUTPUTS(NINO_PORT(any_output, ANY), NINO_PORT(image_pass, IMAGE),
                 NINO_PORT(model_pass, MODEL), NINO_PORT(freemem_before, INT),
                 NINO_PORT(freemem_after, INT)),
    NINO_PARAMS(debug_params,
                NINO_P_BOOL(debug_params, empty_cache, true, .label = "Empty cache",
                            .help = "Gives unused device memory back"),
                NINO_P_BOOL(debug_params, gc_collect, true, .label = "Gc collect",
                            .help = "Forgets results of earlier runs"),
                NINO_P_BOOL(debug_params, unload_all_models, false, .label = "Unload all models",
                            .help = "Weights leave the device; they are read again when they are "
                                    "needed")),
    NINO_RUN(vram_debug_run, .is_volatile = true));
