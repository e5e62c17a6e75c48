// Nodes that change how fast or with how much memory something runs elsewhere. Here they hand their
// inputs on, and the check of a workflow says so.
#include "core/base/error.h"
#include "core/node/ext/ext.h"

#define EXT_PASS(what) nino_ext_pass, .no_effect = what
#define ATTENTION "attention has one exact kernel here"
#define COMPILE "kernels are compiled for the device as they are needed"
#define MEMORY "memory is planned before the run and freed by itself"

typedef struct sage_params {
    int64_t sage_attention;
    bool allow_compile;
} sage_params;

NINO_NODE(pass_sage, "PathchSageAttentionKJ", "Patch Sage Attention KJ", "KJNodes/experimental",
          "Chooses an attention kernel elsewhere", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(sage_params,
                      NINO_P_ENUM(sage_params, sage_attention,
                                  NINO_WORDS("disabled", "auto", "sageattn_qk_int8_pv_fp16_cuda",
                                             "sageattn_qk_int8_pv_fp16_triton",
                                             "sageattn_qk_int8_pv_fp8_cuda",
                                             "sageattn_qk_int8_pv_fp8_cuda++", "sageattn3",
                                             "sageattn3_per_block_mean"),
                                  0, .label = "Sage attention",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_BOOL(sage_params, allow_compile, false, .label = "Allow compile",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .optional = true, .is_inert = true)),
          NINO_RUN(EXT_PASS(ATTENTION)));

typedef struct torch_params {
    bool enable_fp16_accumulation;
} torch_params;

NINO_NODE(pass_torch, "ModelPatchTorchSettings", "Model Patch Torch Settings",
          "KJNodes/experimental", "Sets how products are summed elsewhere",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(torch_params,
                      NINO_P_BOOL(torch_params, enable_fp16_accumulation, false,
                                  .label = "fp16 sums",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          NINO_RUN(EXT_PASS("sums are kept in 32 bits")));

NINO_NODE(pass_compile_wan, "TorchCompileModelWanVideo", "TorchCompileModelWanVideo",
          "KJNodes/deprecated", "Compiles a model elsewhere", NINO_INPUTS(NINO_PORT(model, ANY)),
          NINO_OUTPUTS(NINO_PORT(MODEL, ANY)), NINO_RUN(EXT_PASS(COMPILE)));

NINO_NODE(pass_compile_flux, "TorchCompileModelFluxAdvanced", "TorchCompileModelFluxAdvanced",
          "KJNodes/deprecated", "Compiles a model elsewhere", NINO_INPUTS(NINO_PORT(model, ANY)),
          NINO_OUTPUTS(NINO_PORT(MODEL, ANY)), NINO_RUN(EXT_PASS(COMPILE)));

NINO_NODE(pass_compile_qwen, "TorchCompileModelQwenImage", "TorchCompileModelQwenImage",
          "KJNodes/deprecated", "Compiles a model elsewhere", NINO_INPUTS(NINO_PORT(model, ANY)),
          NINO_OUTPUTS(NINO_PORT(MODEL, ANY)), NINO_RUN(EXT_PASS(COMPILE)));

NINO_NODE(pass_compile_ltx, "TorchCompileLTXModel", "TorchCompileLTXModel", "KJNodes/deprecated",
          "Compiles a model elsewhere", NINO_INPUTS(NINO_PORT(model, ANY)),
          NINO_OUTPUTS(NINO_PORT(MODEL, ANY)), NINO_RUN(EXT_PASS(COMPILE)));

typedef struct compile_params {
    int64_t backend;
    bool fullgraph;
    int64_t mode;
    bool dynamic;
    bool compile_transformer_blocks_only;
    int64_t dynamo_cache_size_limit;
    bool force_parameter_static_shapes;
} compile_params;

NINO_NODE(pass_compile_wan2, "TorchCompileModelWanVideoV2", "TorchCompileModelWanVideoV2",
          "KJNodes/torchcompile", "Compiles a model elsewhere",
          NINO_INPUTS(NINO_PORT(model, MODEL)), NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(compile_params,
                      NINO_P_ENUM(compile_params, backend, NINO_WORDS("inductor", "cudagraphs"), 0,
                                  .label = "Backend",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_BOOL(compile_params, fullgraph, false, .label = "Fullgraph",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_ENUM(compile_params, mode,
                                  NINO_WORDS("default", "max-autotune",
                                             "max-autotune-no-cudagraphs", "reduce-overhead"),
                                  0, .label = "Mode",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_BOOL(compile_params, dynamic, false, .label = "Dynamic",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_BOOL(compile_params, compile_transformer_blocks_only, true,
                                  .label = "Compile transformer blocks only",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_INT(compile_params, dynamo_cache_size_limit, 64, 0, 1024, 1,
                                 .label = "Dynamo cache size limit",
                                 .help = "Accepted for compatibility, nothing here depends on it",
                                 .is_inert = true),
                      NINO_P_BOOL(compile_params, force_parameter_static_shapes, true,
                                  .label = "Force parameter static shapes",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .optional = true, .is_inert = true)),
          NINO_RUN(EXT_PASS(COMPILE)));

typedef struct compile_vae_params {
    int64_t backend;
    bool fullgraph;
    int64_t mode;
    bool compile_encoder;
    bool compile_decoder;
} compile_vae_params;

NINO_NODE(
    pass_compile_vae, "TorchCompileVAE", "TorchCompileVAE", "KJNodes/torchcompile",
    "Compiles a VAE elsewhere", NINO_INPUTS(NINO_PORT(vae, VAE)), NINO_OUTPUTS(NINO_PORT(VAE, VAE)),
    NINO_PARAMS(compile_vae_params,
                NINO_P_ENUM(compile_vae_params, backend, NINO_WORDS("inductor", "cudagraphs"), 0,
                            .label = "Backend",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_BOOL(compile_vae_params, fullgraph, false, .label = "Fullgraph",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_ENUM(compile_vae_params, mode,
                            NINO_WORDS("default", "max-autotune", "max-autotune-no-cudagraphs",
                                       "reduce-overhead"),
                            0, .label = "Mode",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_BOOL(compile_vae_params, compile_encoder, true, .label = "Compile encoder",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_BOOL(compile_vae_params, compile_decoder, true, .label = "Compile decoder",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true)),
    NINO_RUN(EXT_PASS(COMPILE)));

typedef struct model_compile_params {
    bool fullgraph;
    bool dynamic;
    int64_t mode;
} model_compile_params;

NINO_NODE(pass_compile, "ModelCompile+", "Model Compile", "essentials/utilities",
          "Compiles a model elsewhere", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(model_compile_params,
                      NINO_P_BOOL(model_compile_params, fullgraph, false, .label = "Fullgraph",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_BOOL(model_compile_params, dynamic, false, .label = "Dynamic",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_ENUM(model_compile_params, mode,
                                  NINO_WORDS("default", "reduce-overhead", "max-autotune",
                                             "max-autotune-no-cudagraphs"),
                                  0, .label = "Mode",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          NINO_RUN(EXT_PASS(COMPILE)));

typedef struct chunk_params {
    int64_t chunks;
    int64_t dim_threshold;
} chunk_params;

NINO_NODE(pass_chunk, "LTXVChunkFeedForward", "LTXV Chunk FeedForward", "KJNodes/ltxv",
          "Cuts a product into parts elsewhere", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(model, MODEL)),
          NINO_PARAMS(chunk_params,
                      NINO_P_INT(chunk_params, chunks, 2, 1, 100, 1, .label = "Chunks",
                                 .help = "Accepted for compatibility, nothing here depends on it",
                                 .is_inert = true),
                      NINO_P_INT(chunk_params, dim_threshold, 4096, 0, 16384, 256,
                                 .label = "Dim threshold",
                                 .help = "Accepted for compatibility, nothing here depends on it",
                                 .is_inert = true)),
          NINO_RUN(EXT_PASS(MEMORY)));

typedef struct preview_params {
    double preview_rate;
} preview_params;

NINO_NODE(pass_preview, "LTX2SamplingPreviewOverride", "LTX2 Sampling Preview Override",
          "KJNodes/ltxv", "Chooses how unfinished pictures are shown elsewhere",
          NINO_INPUTS(NINO_PORT(model, MODEL),
                      NINO_PORT(latent_upscale_model, OTHER, .optional = true),
                      NINO_PORT(vae, VAE, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(preview_params,
                      NINO_P_FLOAT(preview_params, preview_rate, 8.0, 1.0, 60.0, 0.01,
                                   .label = "Preview rate",
                                   .help = "Accepted for compatibility, nothing here depends on it",
                                   .is_inert = true)),
          NINO_RUN(EXT_PASS("previews are a setting of the run")));

typedef struct ltx_sage_params {
    bool triton_kernels;
} ltx_sage_params;

NINO_NODE(pass_ltx_sage, "LTX2MemoryEfficientSageAttentionPatch",
          "LTX2 Mem Eff Sage Attention Patch", "KJNodes/ltxv",
          "Chooses an attention kernel elsewhere", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(model, MODEL)),
          NINO_PARAMS(ltx_sage_params,
                      NINO_P_BOOL(ltx_sage_params, triton_kernels, true, .label = "Triton kernels",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          NINO_RUN(EXT_PASS(ATTENTION)));

typedef struct order_params {
    int64_t patch_order;
    int64_t full_load;
} order_params;

NINO_NODE(pass_order, "PatchModelPatcherOrder", "Patch Model Patcher Order", "KJNodes/deprecated",
          "Chooses when LoRAs are added elsewhere", NINO_INPUTS(NINO_PORT(model, MODEL)),
          NINO_OUTPUTS(NINO_PORT(MODEL, MODEL)),
          NINO_PARAMS(order_params,
                      NINO_P_ENUM(order_params, patch_order,
                                  NINO_WORDS("object_patch_first", "weight_patch_first"), 1,
                                  .label = "Patch order",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true),
                      NINO_P_ENUM(order_params, full_load,
                                  NINO_WORDS("enabled", "disabled", "auto"), 2,
                                  .label = "Full load",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          NINO_RUN(EXT_PASS("LoRAs are added as the weights are read")));

NINO_NODE(pass_model, "ModelPassThrough", "ModelPassThrough", "KJNodes/misc", "Hands a model on",
          NINO_INPUTS(NINO_PORT(model, MODEL, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(model, MODEL)), NINO_RUN(EXT_PASS("that is all it does")));

NINO_NODE(pass_cond, "CondPassThrough", "CondPassThrough", "KJNodes/misc", "Hands conditioning on",
          NINO_INPUTS(NINO_PORT(positive, CONDITIONING, .optional = true),
                      NINO_PORT(negative, CONDITIONING, .optional = true)),
          NINO_OUTPUTS(NINO_PORT(positive, CONDITIONING), NINO_PORT(negative, CONDITIONING)),
          NINO_RUN(EXT_PASS("that is all it does")));

NINO_NODE(pass_clean, "easy cleanGpuUsed", "easy cleanGpuUsed", "EasyUse/Logic",
          "Frees memory elsewhere", NINO_INPUTS(NINO_PORT(anything, ANY)),
          NINO_OUTPUTS(NINO_PORT(output, ANY)), .is_output = true, NINO_RUN(EXT_PASS(MEMORY)));

NINO_NODE(pass_clear, "easy clearCacheAll", "easy clearCacheAll", "EasyUse/Logic",
          "Forgets results elsewhere", NINO_INPUTS(NINO_PORT(anything, ANY)),
          NINO_OUTPUTS(NINO_PORT(output, ANY)), .is_output = true, NINO_RUN(EXT_PASS(MEMORY)));

NINO_NODE(pass_stop, "mxStop", "Stop", "utils/mxToolkit", "Stops the queue of an editor",
          NINO_INPUTS(NINO_PORT(In, ANY)), NINO_OUTPUTS(NINO_PORT(Out, ANY)),
          NINO_RUN(EXT_PASS("a run is stopped by the program")));

typedef struct sound_params {
    int64_t mode;
    double volume;
    const char *file;
} sound_params;

NINO_NODE(
    pass_sound, "PlaySound|pysssss", "PlaySound", "utils", "Plays a sound in an editor",
    NINO_INPUTS(NINO_PORT(any, ANY)), NINO_OUTPUTS(NINO_PORT(any, ANY)),
    NINO_PARAMS(sound_params,
                NINO_P_ENUM(sound_params, mode, NINO_WORDS("always", "on empty queue"), 0,
                            .label = "Mode",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true),
                NINO_P_FLOAT(sound_params, volume, 0.5, 0.0, 1.0, 0.1, .label = "Volume",
                             .help = "Accepted for compatibility, nothing here depends on it",
                             .is_inert = true),
                NINO_P_STRING(sound_params, file, "notify.mp3", .label = "File",
                              .help = "Accepted for compatibility, nothing here depends on it",
                              .is_inert = true)),
    .is_output = true, NINO_RUN(EXT_PASS("nothing sounds"), .takes_lists = true));

typedef struct notice_params {
    const char *message;
    int64_t mode;
} notice_params;

NINO_NODE(
    pass_notice, "SystemNotification|pysssss", "SystemNotification", "utils",
    "Shows a notice in an editor", NINO_INPUTS(NINO_PORT(any, ANY)),
    NINO_OUTPUTS(NINO_PORT(any, ANY)),
    NINO_PARAMS(notice_params,
                NINO_P_STRING(notice_params, message, "Your notification has triggered.",
                              .label = "Message",
                              .help = "Accepted for compatibility, nothing here depends on it",
                              .is_inert = true),
                NINO_P_ENUM(notice_params, mode, NINO_WORDS("always", "on empty queue"), 0,
                            .label = "Mode",
                            .help = "Accepted for compatibility, nothing here depends on it",
                            .is_inert = true)),
    .is_output = true,
    NINO_RUN(EXT_PASS("the program tells when a run ends"), .takes_lists = true));

NINO_NODE(pass_reroute, "ReroutePrimitive|pysssss", "Reroute Primitive", "__hidden__",
          "Hands a value on", NINO_INPUTS(NINO_PORT(value, ANY)),
          NINO_OUTPUTS(NINO_PORT(value, ANY)), NINO_RUN(EXT_PASS("that is all it does")));

typedef struct to_device_params {
    int64_t device;
} to_device_params;

NINO_NODE(pass_to_device, "ImageToDevice+", "Image To Device", "essentials/image utils",
          "Moves images elsewhere", NINO_INPUTS(NINO_PORT(image, IMAGE)),
          NINO_OUTPUTS(NINO_PORT(IMAGE, IMAGE)),
          NINO_PARAMS(to_device_params,
                      NINO_P_ENUM(to_device_params, device, NINO_WORDS("auto", "cpu", "gpu"), 0,
                                  .label = "Device",
                                  .help = "Accepted for compatibility, nothing here depends on it",
                                  .is_inert = true)),
          NINO_RUN(EXT_PASS("images are where they are needed")));
