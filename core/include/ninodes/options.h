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
} nino_job_options;

NINO_END
