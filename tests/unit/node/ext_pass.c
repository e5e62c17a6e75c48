// Nodes of extensions that only hand their inputs on here: every output is the very input of its
// number, whatever the settings, and each says why.
#include "tests/unit/node/ext.h"

static const char *const classes[] = {
    "PathchSageAttentionKJ",
    "ModelPatchTorchSettings",
    "TorchCompileModelWanVideo",
    "TorchCompileModelFluxAdvanced",
    "TorchCompileModelQwenImage",
    "TorchCompileLTXModel",
    "TorchCompileModelWanVideoV2",
    "TorchCompileVAE",
    "ModelCompile+",
    "LTXVChunkFeedForward",
    "LTX2SamplingPreviewOverride",
    "LTX2MemoryEfficientSageAttentionPatch",
    "PatchModelPatcherOrder",
    "ModelPassThrough",
    "CondPassThrough",
    "easy cleanGpuUsed",
    "easy clearCacheAll",
    "mxStop",
    "PlaySound|pysssss",
    "SystemNotification|pysssss",
    "ReroutePrimitive|pysssss",
    "ImageToDevice+",
};

int main(void)
{
    node_open();
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        node_new(classes[i]);
        const nino_node_def *d = node.run.def;
        CHECK(d->ops->no_effect && *d->ops->no_effect);
        for (int k = 0; d->inputs[k].key; k++) {
            const nino_port_type t = d->inputs[k].type;
            node_give(d->inputs[k].key, t == NINO_PORT_ANY ? ext_value("'x'") : node_value(t));
        }
        for (const nino_param *p = d->params; p && p->key; p++)
            CHECK(p->is_inert);
        node_go();
        for (int k = 0; d->outputs && d->outputs[k].key; k++)
            CHECK(node.out[k] && node.out[k] == node.run.in[k]);
    }
    node_close();
    return 0;
}
