// What can be told to a single job: where its files are, how exactly it computes, what it shows.
//
// One struct serves everybody who starts jobs. A context has one as the default of its jobs
// (ninodes/ctx.h), nino_job_start() takes one, and so does a worker's queue (ninodes/control.h).
// Whatever a struct leaves at zero is taken from the next wider one: the queue's job, then the
// worker's or the context's, then the library's own default.
//
// Threads: plain data.
#pragma once
#include <ninodes/base.h>

NINO_BEGIN

// Width of the numbers that networks compute with. AUTO leaves it to the device.
typedef enum nino_precision_opt {
    NINO_PRECISION_AUTO,
    NINO_PRECISION_F32,
    NINO_PRECISION_F16,
    NINO_PRECISION_BF16,
    // 16 bits where tensors are large, fp32 where they are small or it matters.
    NINO_PRECISION_MIXED
} nino_precision_opt;

// Pictures of a latent while it is sampled.
typedef enum nino_preview_opt {
    // As the context or the worker has it; there it means NONE.
    NINO_PREVIEW_DEFAULT,
    NINO_PREVIEW_NONE,
    // A linear map from latent channels to colours: rough, and next to free.
    NINO_PREVIEW_LATENT2RGB,
    // A tiny autoencoder from models/vae_approx. Of a video both show up to 16 frames on one
    // picture; the file is taew2_1 or taew2_2 then, or the same with "light" in front.
    NINO_PREVIEW_TAESD,
    // TAESD where its file is there and fast enough, else LATENT2RGB.
    NINO_PREVIEW_AUTO
} nino_preview_opt;

// The words of both as files, command lines and the queue write them: "auto", "fp32", "fp16",
// "bf16", "mixed" and "default", "none", "latent2rgb", "taesd", "auto". Never NULL.
NINO_API const char *nino_precision_opt_name(nino_precision_opt p);
NINO_API const char *nino_preview_opt_name(nino_preview_opt p);
// The other way. False, and *out untouched: there is no such word.
NINO_API bool nino_precision_opt_find(const char *word, nino_precision_opt *out);
NINO_API bool nino_preview_opt_find(const char *word, nino_preview_opt *out);

// What a run does beyond the plain way, each of which can be switched off or on alone. None of it
// changes what is computed; LAYOUT, BATCHING, ADAPTIVE and TILES may change how it is rounded.
// X(ID, "word", phase, "what it does")
#define NINO_POLICIES(X)                                                                           \
    X(POOL, "pool", 1, "Use device memory again; without it each tensor has a buffer of its own")  \
    X(TILES, "tiles", 1, "Choose tiles by plan; without it pictures are tried whole first")        \
    X(LAYOUT, "layout", 1, "Convolve 3x3 in Winograd's layout; without it maps stay as they are")  \
    X(CACHE, "cache", 1, "Take results of earlier runs; without it every node works again")        \
    X(BATCHING, "batching", 2, "Evaluate prompts together; without it one after the other")        \
    X(PREFETCH, "prefetch", 2, "Read the weights of the next layers ahead of their use")           \
    X(STREAMING, "streaming", 3, "Decode clips frame by frame; without it a whole clip at once")   \
    X(ADAPTIVE, "adaptive", 3, "Batch or not as was faster in earlier evaluations here")
#define NINO_POLICY_ID_(id, word, phase, help) NINO_POLICY_##id,
typedef enum nino_policy { NINO_POLICIES(NINO_POLICY_ID_) NINO_POLICY_COUNT } nino_policy;
#undef NINO_POLICY_ID_
// As bits. STANDARD: those that act where nobody says otherwise.
#define NINO_POLICY_BIT(policy) (UINT32_C(1) << (policy))
#define NINO_POLICY_ALL ((UINT32_C(1) << NINO_POLICY_COUNT) - 1)
#define NINO_POLICY_STANDARD (NINO_POLICY_ALL & ~NINO_POLICY_BIT(NINO_POLICY_ADAPTIVE))

// Policies and precision in steps, each with all of those before: BASELINE has none and computes in
// fp32, MEMORY adds those of phase 1, PRECISION those of phase 2 and mixed precision, VIDEO
// those of phase 3.
typedef enum nino_phase {
    NINO_PHASE_BASELINE,
    NINO_PHASE_MEMORY,
    NINO_PHASE_PRECISION,
    NINO_PHASE_VIDEO,
    NINO_PHASE_COUNT
} nino_phase;
// "pool" ...; "baseline", "memory", "precision", "video". Never NULL.
NINO_API const char *nino_policy_name(nino_policy p);
NINO_API const char *nino_phase_name(nino_phase p);
// False, and *out untouched: there is no such word.
NINO_API bool nino_phase_find(const char *word, nino_phase *out);

#define NINO_JOB_OPTIONS_INIT .size = sizeof(nino_job_options)
typedef struct nino_job_options {
    // Set by NINO_JOB_OPTIONS_INIT.
    size_t size;
    // Model folders, NULL-terminated, searched in order. A ComfyUI extra_model_paths.yaml in one of
    // them is read as well. By default "models".
    const char *const *models;
    // Where LoadImage and LoadLatent find files ("input" by default), and where SaveImage,
    // SaveLatent and their like put theirs ("output" by default; made when needed).
    const char *input_dir, *output_dir;
    // A trace of the job is written here, in the form that nino_trace_create() takes from the name.
    const char *trace_path;
    // For nodes that do not say otherwise.
    nino_precision_opt precision;
    nino_preview_opt preview;
    // Sampler steps from one preview to the next; 5 by default.
    int preview_every;
    // Share of the sampling time that previews may take, 0.05 by default; beyond it they are left
    // out. The estimate for the first decode by a tiny autoencoder counts as well.
    double preview_share;
    // Output files carry no profile of their run (ninodes/run_profile.h); or neither that nor the
    // workflow.
    bool no_profile, no_metadata;
    // The job has no events for nino_job_poll(): for measuring what they cost.
    bool is_silent;
    // What output nodes were given stays in memory, for nino_job_image() and nino_job_latent().
    // They run even where their result is there from an earlier job.
    bool keep_results;
    // Nodes that only write files do not run: SaveImage, PreviewImage, SaveLatent and their like.
    bool no_files;
    // Every node works again: results of earlier jobs are not used. Opened models, their weights on
    // the device and compiled kernels are: for measuring.
    bool is_anew;
    // Where a workflow that is run in parts, on several machines or devices, keeps what the parts
    // have computed. With n_shards > 0 the job is part `shard` of them, from 1 on: it computes its
    // share of every batch, writes part-SHARD-of-N.safetensors and no other file. With n_shards 0
    // it is the job that joins all parts in the folder and does the rest, with the results of a
    // single run, to the bit where all devices are alike. NULL: it is not run in parts.
    const char *parts_dir;
    int shard, n_shards;
    // Bits of policies that are switched on and off; the others are as the context has them, there
    // NINO_POLICY_STANDARD. A bit in both is off.
    uint32_t policies_on, policies_off;
} nino_job_options;

// Sets *o to a phase: its policies, and its precision where o leaves that to the device.
NINO_API void nino_phase_set(nino_job_options *o, nino_phase p);

NINO_END
