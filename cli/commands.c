// The commands and the options that each of them takes. To add one: write it in a file cmd_*.c and
// add its row here.
#include "commands.h"

#include <stddef.h>
#include <string.h>

#define FIELD(f) offsetof(options, f)
#define O_MODELS                                                                                   \
    {                                                                                              \
        "models", 'm', OPT_LIST, FIELD(models), "DIR",                                             \
            "Look for models in DIR (again for more; default NINODES_MODELS, else ./models)"       \
    }
#define O_INPUT                                                                                    \
    {                                                                                              \
        "input", 'i', OPT_TEXT, FIELD(input), "DIR", "Folder of input images and latents"          \
    }
#define O_SET                                                                                      \
    {                                                                                              \
        "set", 's', OPT_LIST, FIELD(set), "NODE.INPUT=VALUE",                                      \
            "Change an input; NODE is an id, or a class or title that occurs once"                 \
    }
#define O_SEED                                                                                     \
    {                                                                                              \
        "seed", 0, OPT_NUMBER, FIELD(seed), "N", "Set every seed of the workflow to N"             \
    }
#define O_DEVICE                                                                                   \
    {                                                                                              \
        "device", 'd', OPT_TEXT, FIELD(device), "SEL", "cl, cl:N, cl:NAME or ref"                  \
    }
#define O_DEVICES                                                                                  \
    {                                                                                              \
        "device", 'd', OPT_TEXT, FIELD(device), "SEL[,SEL]...",                                    \
            "cl, cl:N, cl:NAME or ref; several share the tiles and pictures of a job"              \
    }
#define O_PRECISION                                                                                \
    {                                                                                              \
        "precision", 'p', OPT_WORD, FIELD(precision), "auto|fp32|fp16|bf16|mixed",                 \
            "How numbers are stored where a node does not say"                                     \
    }
#define O_CONFIG                                                                                   \
    {                                                                                              \
        "config", 0, OPT_LIST, FIELD(config), "KEY=VALUE",                                         \
            "A setting for this once (ninodes config lists them); may be given again"              \
    }
#define O_PREVIEW                                                                                  \
    {                                                                                              \
        "preview", 0, OPT_WORD, FIELD(preview), "none|latent2rgb|taesd|auto",                      \
            "Write a picture of the unfinished latent while sampling; auto: taesd if it is there"  \
    }
#define O_PREVIEW_EVERY                                                                            \
    {                                                                                              \
        "preview-every", 0, OPT_NUMBER, FIELD(preview_every), "N", "Every N steps (default 5)"     \
    }
#define O_PREVIEW_PERCENT                                                                          \
    {                                                                                              \
        "preview-percent", 0, OPT_NUMBER, FIELD(preview_percent), "N",                             \
            "At most N percent of the sampling time (default 5); beyond it previews are left out"  \
    }
#define O_NO_PROFILE                                                                               \
    {                                                                                              \
        "no-profile", 0, OPT_FLAG, FIELD(no_profile), NULL,                                        \
            "Put no profile of the run beside the workflow in pictures"                            \
    }
#define O_NO_METADATA                                                                              \
    {                                                                                              \
        "no-metadata", 0, OPT_FLAG, FIELD(no_metadata), NULL,                                      \
            "Put neither the workflow nor a profile into the files that are written"               \
    }
#define POLICY_ROW_(id, word, phase, text)                                                         \
    { "no-" word, 0, OPT_FLAG, FIELD(no_policy[NINO_POLICY_##id]), NULL, "Without: " text },
#define O_POLICIES                                                                                 \
    { "opt",                                                                                       \
      0,                                                                                           \
      OPT_WORD,                                                                                    \
      FIELD(opt),                                                                                  \
      "baseline|memory|precision|video",                                                           \
      "Which optimisations act, each with those before it (ninodes help bench)" },                 \
        NINO_POLICIES(POLICY_ROW_){ "no-mixed",      0,    OPT_FLAG,                               \
                                    FIELD(no_mixed), NULL, "Without: mixed precision" },           \
    {                                                                                              \
        "adaptive", 0, OPT_FLAG, FIELD(adaptive), NULL,                                            \
            "Batch prompts or not as was faster in earlier evaluations here"                       \
    }
#define O_GEMM                                                                                     \
    {                                                                                              \
        "gemm", 0, OPT_WORD, FIELD(gemm), "auto|native|clblast",                                   \
            "Who multiplies the matrices of linear layers (default NINODES_GEMM, else auto: as "   \
            "tuned)"                                                                               \
    }
#define O_MEM                                                                                      \
    {                                                                                              \
        "mem-limit", 0, OPT_SIZE, FIELD(mem_limit), "SIZE",                                        \
            "Device memory to use at most: 2GiB, 512M"                                             \
    }
#define O_INFO                                                                                     \
    {                                                                                              \
        "object-info", 0, OPT_LIST, FIELD(object_info), "FILE",                                    \
            "Classes of your ComfyUI: its answer to GET /object_info; may be given again"          \
    }
#define O_JSON                                                                                     \
    {                                                                                              \
        "json", 0, OPT_FLAG, FIELD(json), NULL, "JSON lines on stdout, an envelope last"           \
    }
#define O_QUIET                                                                                    \
    {                                                                                              \
        "quiet", 'q', OPT_FLAG, FIELD(quiet), NULL, "On stderr only errors"                        \
    }
#define O_VERBOSE                                                                                  \
    {                                                                                              \
        "verbose", 'v', OPT_FLAG, FIELD(verbose), NULL, "Also say what the library logs"           \
    }
#define O_HELP                                                                                     \
    {                                                                                              \
        "help", 'h', OPT_FLAG, FIELD(help), NULL, "This help"                                      \
    }

static const opt run_opts[] = {
    O_MODELS,
    O_INPUT,
    O_INFO,
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR", "Folder of the results" },
    O_SET,
    O_SEED,
    { "grid", 'g', OPT_LIST, FIELD(grid), "NODE.INPUT=V1,V2,...",
      "Run once for each value; given twice, for each pair; 1..5 or 1..9:2 is a range" },
    { "device", 'd', OPT_TEXT, FIELD(device), "SEL[,SEL]...",
      "cl, cl:N, cl:NAME or ref; several share the items of batches, cells of a grid, and tiles" },
    O_GEMM,
    O_PRECISION,
    O_POLICIES,
    O_MEM,
    O_CONFIG,
    O_PREVIEW,
    O_PREVIEW_EVERY,
    O_PREVIEW_PERCENT,
    { "shard", 0, OPT_TEXT, FIELD(shard), "I/N",
      "Compute part I of N of the batches, or cells of the --grid, and keep it for gather" },
    { "parts", 0, OPT_TEXT, FIELD(parts), "DIR",
      "Folder where the parts of --shard are kept (default parts)" },
    { "resume", 0, OPT_FLAG, FIELD(resume), NULL,
      "Go on with the steps that a run of the same was stopped at" },
    { "watch", 0, OPT_FLAG, FIELD(watch), NULL,
      "Run again whenever the WORKFLOW is saved, until Ctrl-C; what did not change is kept" },
    { "advise", 0, OPT_FLAG, FIELD(advise), NULL,
      "Say at the end what would make it faster, and by how much" },
    { "trace", 't', OPT_TEXT, FIELD(trace), "FILE",
      "Write a Chrome trace; .gz: compressed, .pftrace: Perfetto's form, .ninotrace: own form; the "
      "last two survive a crash" },
    O_JSON,
    { "dry-run", 'n', OPT_FLAG, FIELD(dry_run), NULL, "Check and plan, run nothing" },
    O_NO_PROFILE,
    O_NO_METADATA,
    { "telemetry", 0, OPT_WORD, FIELD(telemetry), "on|off",
      "Let viewers attach to this run (default on)" },
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    { 0 }
};

static const opt gather_opts[] = {
    { "parts", 0, OPT_TEXT, FIELD(parts), "DIR", "Folder of the parts (default parts)" },
    O_MODELS,
    O_INPUT,
    O_INFO,
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR", "Folder of the results" },
    O_SET,
    O_SEED,
    { "grid", 'g', OPT_LIST, FIELD(grid), "NODE.INPUT=V1,V2,...", "As the parts had it" },
    O_DEVICES,
    O_PRECISION,
    O_MEM,
    O_JSON,
    O_NO_PROFILE,
    O_NO_METADATA,
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    { 0 }
};

static const opt plan_opts[] = { { "profile", 0, OPT_TEXT, FIELD(profile), "NAME",
                                   "Plan for a device profile, e.g. gfx1151; default: the device" },
                                 O_MODELS,
                                 O_INPUT,
                                 O_INFO,
                                 O_SET,
                                 O_SEED,
                                 O_DEVICES,
                                 O_GEMM,
                                 O_PRECISION,
                                 O_POLICIES,
                                 O_MEM,
                                 { "budget", 0, OPT_TEXT, FIELD(budget), "SIZE,SIZE,...",
                                   "What it would take with each of these device memories" },
                                 O_CONFIG,
                                 O_JSON,
                                 O_VERBOSE,
                                 O_HELP,
                                 { 0 } };

static const opt convert_opts[] = { { "output", 'o', OPT_TEXT, FIELD(output), "FILE",
                                      "Write to FILE instead of stdout, which is -" },
                                    { "ui", 0, OPT_FLAG, FIELD(ui), NULL,
                                      "The form that the editor saved, where the file has it" },
                                    O_INFO,
                                    O_SET,
                                    O_SEED,
                                    O_QUIET,
                                    O_HELP,
                                    { 0 } };

static const opt thumbnail_opts[] = { { "size", 0, OPT_NUMBER, FIELD(side), "PIXELS",
                                        "Its longer side (default 256, at most 2048)" },
                                      O_HELP,
                                      { 0 } };
static const opt inspect_opts[] = { { "tensors", 't', OPT_FLAG, FIELD(tensors), NULL,
                                      "List every tensor" },
                                    O_INFO,
                                    O_JSON,
                                    O_HELP,
                                    { 0 } };
static const opt devices_opts[] = {
    { "measure", 0, OPT_FLAG, FIELD(measure), NULL,
      "Measure bandwidths, arithmetic and launches of --device, and keep them" },
    O_DEVICE,
    O_JSON,
    O_HELP,
    { 0 }
};
static const opt nodes_opts[] = { O_JSON,
                                  { "markdown", 0, OPT_FLAG, FIELD(markdown), NULL,
                                    "The reference of all nodes" },
                                  O_HELP,
                                  { 0 } };
static const opt selftest_opts[] = {
    O_DEVICE,
    O_GEMM,
    { "op", 0, OPT_TEXT, FIELD(op), "TEXT", "Only cases whose name contains TEXT" },
    { "seed", 0, OPT_NUMBER, FIELD(seed), "N", "Seed of the inputs" },
    { "bench", 0, OPT_FLAG, FIELD(bench), NULL, "Time the cases" },
    { "quick", 0, OPT_FLAG, FIELD(fast), NULL, "Small shapes only" },
    { "schedule", 0, OPT_TEXT, FIELD(schedule), "NAME",
      "How kernels are cut: cpu, generic or wmma, emulated where need be (default: the device's)" },
    O_JSON,
    O_QUIET,
    O_HELP,
    { 0 }
};
static const opt bench_opts[] = {
    { "samples", 'n', OPT_NUMBER, FIELD(samples), "N",
      "Samples of every case (default 10, of a workflow 5)" },
    { "warmup", 0, OPT_NUMBER, FIELD(warmup), "N", "Runs before those that count (default 2)" },
    { "quick", 0, OPT_FLAG, FIELD(fast), NULL, "A few small cases" },
    { "save", 0, OPT_TEXT, FIELD(save), "FILE", "Keep the result for a later --baseline" },
    { "baseline", 0, OPT_TEXT, FIELD(baseline), "FILE", "Compare with a result that was kept" },
    { "against", 0, OPT_LIST, FIELD(against), "N.I=V",
      "Compare the WORKFLOW with itself with this setting" },
    { "fail-over", 0, OPT_TEXT, FIELD(fail_over), "PERCENT",
      "Exit with 7 when it is slower by more than that and than the noise band, beyond doubt" },
    { "csv", 0, OPT_FLAG, FIELD(csv), NULL, "Comma-separated values" },
    { "progress", 0, OPT_FLAG, FIELD(watch), NULL,
      "suite: say what is measured and how far it is also where stderr is no terminal" },
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR",
      "suite: test_data with its results goes below DIR (default: the working folder)" },
    { "report", 0, OPT_TEXT, FIELD(report), "FILE",
      "suite: write the report there, not to stdout" },
    { "case", 0, OPT_LIST, FIELD(cases), "NAME",
      "suite: only this case, as the report has it; may be given again" },
    { "each", 0, OPT_FLAG, FIELD(each), NULL, "suite: the last phase also without each policy" },
    { "limit", 0, OPT_NUMBER, FIELD(limit), "SECONDS",
      "suite: leave out what would take longer (default 2400; with --quick 300)" },
    { "model-room", 0, OPT_SIZE, FIELD(model_room), "SIZE",
      "suite: leave out what needs a made model larger than that (default 8GiB)" },
    O_DEVICE,
    O_GEMM,
    O_MODELS,
    O_INPUT,
    O_INFO,
    O_PRECISION,
    O_POLICIES,
    O_MEM,
    O_CONFIG,
    O_SET,
    O_SEED,
    O_JSON,
    O_QUIET,
    O_HELP,
    { 0 }
};
static const opt kernel_opts[] = {
    { "trace", 0, OPT_TEXT, FIELD(trace), "FILE",
      "The run that launched it, as run --trace wrote it" },
    { "source", 0, OPT_FLAG, FIELD(source), NULL, "Print its source, as it was compiled" },
    { "code", 0, OPT_FLAG, FIELD(code), NULL,
      "Print its machine code for gfx1151, or of what does the call there (needs clang)" },
    { "replay", 0, OPT_FLAG, FIELD(replay), NULL, "Measure the call that it was launched for" },
    { "sweep", 0, OPT_FLAG, FIELD(sweep), NULL,
      "Measure it in turn with every way in which its schedule could cut it" },
    { "program", 0, OPT_TEXT, FIELD(program), "TEXT", "Its program, in place of the trace's" },
    { "call", 0, OPT_TEXT, FIELD(call), "TEXT", "Its call, in place of the trace's" },
    { "samples", 'n', OPT_NUMBER, FIELD(samples), "N", "Rounds of measurements (default 12)" },
    { "schedule", 0, OPT_TEXT, FIELD(schedule), "NAME", "Measure with another schedule" },
    O_DEVICE,
    O_JSON,
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    { 0 }
};
static const opt tune_opts[] = {
    { "quick", 0, OPT_FLAG, FIELD(fast), NULL, "Smaller shapes and fewer rounds" },
    { "reset", 0, OPT_FLAG, FIELD(reset), NULL, "Forget what was found" },
    { "export", 0, OPT_TEXT, FIELD(export_file), "FILE", "Write what was found to FILE" },
    { "import", 0, OPT_TEXT, FIELD(import_file), "FILE", "Take what was found elsewhere" },
    { "keep", 0, OPT_TEXT, FIELD(keep), "NAME=VALUE",
      "Keep one value, as a sweep of ninodes kernel found it" },
    O_DEVICE,
    O_JSON,
    O_QUIET,
    O_HELP,
    { 0 }
};
static const opt monitor_opts[] = {
    O_JSON,
    { "once", '1', OPT_FLAG, FIELD(once), NULL, "Print the state once and leave" },
    { "metrics", 0, OPT_FLAG, FIELD(metrics), NULL,
      "Print the state once as OpenMetrics text, for dashboards, and leave" },
    { "gui", 0, OPT_FLAG, FIELD(gui), NULL, "Open ninodes-studio attached to the run" },
    O_HELP,
    { 0 }
};
#define O_STATE                                                                                    \
    {                                                                                              \
        "state", 0, OPT_TEXT, FIELD(state), "DIR",                                                 \
            "Folder that keeps the queue (default $XDG_STATE_HOME/ninodes)"                        \
    }
static const opt worker_opts[] = {
    O_MODELS,
    O_INPUT,
    O_INFO,
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR", "Folder of the results" },
    O_DEVICES,
    O_GEMM,
    O_PRECISION,
    O_POLICIES,
    O_MEM,
    O_CONFIG,
    O_PREVIEW,
    O_PREVIEW_EVERY,
    O_PREVIEW_PERCENT,
    O_NO_PROFILE,
    O_NO_METADATA,
    { "queue", 0, OPT_TEXT, FIELD(queue), "URL",
      "Take jobs from a Redis stream that many workers share: redis://HOST:PORT/STREAM" },
    { "claim-after", 0, OPT_NUMBER, FIELD(claim_after), "SECONDS",
      "--queue: take over jobs of a worker that was silent for so long (default 30)" },
    { "return", 0, OPT_SIZE, FIELD(return_max), "SIZE",
      "--queue: files of a job up to that size together also go back through Redis (default: "
      "none)" },
    O_STATE,
    { "resume", 0, OPT_FLAG, FIELD(resume), NULL,
      "Go on at once, even if the last worker died while a job ran" },
    { "idle-end", 0, OPT_NUMBER, FIELD(idle_end), "SECONDS",
      "End when for so long nobody watched and there was nothing to do (default: never)" },
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    { 0 }
};
static const opt serve_opts[] = {
    { "listen", 'l', OPT_TEXT, FIELD(listen), "PLACE",
      "[ADDRESS:]PORT (default 127.0.0.1:8188); another than a loopback address needs --token" },
    { "token", 0, OPT_TEXT, FIELD(token), "TEXT|@FILE",
      "What every request must know: as Authorization: Bearer, as a cookie or as ?token=" },
    { "host", 0, OPT_LIST, FIELD(hosts), "NAME",
      "Also answer to this name, such as that of a reverse proxy (again for more)" },
    { "allow-origin", 0, OPT_LIST, FIELD(origins), "SITE",
      "Let pages of this site ask, https://a.example (again for more; with --token * is any)" },
    { "frontend", 0, OPT_TEXT, FIELD(frontend), "DIR",
      "Show ComfyUI's web frontend from DIR in place of the own page" },
    { "images", 0, OPT_TEXT, FIELD(images), "WORKFLOW",
      "Answer POST /v1/images/generations with this workflow" },
    { "user", 0, OPT_TEXT, FIELD(user), "DIR",
      "Folder of the frontend's settings and workflows (default: user below --state)" },
    { "max-upload", 0, OPT_SIZE, FIELD(max_upload), "SIZE", "Largest request (default 100MiB)" },
    { "max-clients", 0, OPT_NUMBER, FIELD(max_clients), "N",
      "Connections at the same time (default 256)" },
    O_MODELS,
    O_INPUT,
    O_INFO,
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR", "Folder of the results" },
    O_DEVICES,
    O_GEMM,
    O_PRECISION,
    O_POLICIES,
    O_MEM,
    O_CONFIG,
    { "preview", 0, OPT_WORD, FIELD(preview), "none|latent2rgb|taesd|auto",
      "Pictures of the unfinished latent for clients (default auto: taesd if it is there)" },
    O_PREVIEW_EVERY,
    O_PREVIEW_PERCENT,
    O_NO_PROFILE,
    O_NO_METADATA,
    O_STATE,
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    { 0 }
};
static const opt jobs_opts[] = {
    { "worker", 'w', OPT_TEXT, FIELD(worker), "PID|SOCKET",
      "Which worker or run (default: the newest worker)" },
    { "queue", 0, OPT_TEXT, FIELD(queue), "URL",
      "The queue that workers share in Redis (ninodes worker --queue): ls, add, wait, show, "
      "cancel" },
    { "front", 0, OPT_FLAG, FIELD(front), NULL, "add, move, retry: next to run" },
    { "position", 0, OPT_NUMBER, FIELD(position), "N",
      "add, move, retry: Nth of those that wait (default: last)" },
    { "wait", 0, OPT_FLAG, FIELD(wait), NULL,
      "add, retry: wait for the job's end and print its files" },
    { "after", 0, OPT_FLAG, FIELD(after), NULL, "shutdown: let the running job end first" },
    O_MODELS,
    O_INPUT,
    O_INFO,
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR",
      "add: folder of the results; --queue: write the files that came back through Redis there" },
    O_SET,
    O_SEED,
    O_PRECISION,
    O_POLICIES,
    O_PREVIEW,
    O_PREVIEW_EVERY,
    O_PREVIEW_PERCENT,
    O_NO_PROFILE,
    O_NO_METADATA,
    { "trace", 't', OPT_TEXT, FIELD(trace), "FILE", "add: write a Chrome trace of the job" },
    O_JSON,
    O_QUIET,
    O_HELP,
    { 0 }
};
static const opt trace_opts[] = { { "fail-over", 0, OPT_TEXT, FIELD(fail_over), "PERCENT",
                                    "diff: exit with 7 when the second run takes longer by more" },
                                  O_JSON,
                                  O_HELP,
                                  { 0 } };
static const opt doctor_opts[] = { O_MODELS,
                                   { "output", 'o', OPT_TEXT, FIELD(output), "DIR",
                                     "Folder where results are to go" },
                                   O_JSON,
                                   O_HELP,
                                   { 0 } };
static const opt capture_opts[] = { O_MODELS, O_INPUT, O_DEVICE, O_PRECISION, O_MEM,
                                    O_CONFIG, O_JSON,  O_QUIET,  O_HELP,      { 0 } };
static const opt compare_opts[] = { { "psnr", 0, OPT_TEXT, FIELD(psnr), "DB",
                                      "From so many decibels on they count as the same" },
                                    O_JSON,
                                    O_HELP,
                                    { 0 } };
static const opt config_opts[] = { { "explain", 0, OPT_FLAG, FIELD(explain), NULL,
                                     "Every value with where it comes from and what it changes" },
                                   O_DEVICE,
                                   O_PRECISION,
                                   O_MEM,
                                   O_INPUT,
                                   O_PREVIEW,
                                   O_CONFIG,
                                   O_JSON,
                                   O_HELP,
                                   { 0 } };
static const opt demo_opts[] = {
    { "output", 'o', OPT_TEXT, FIELD(output), "DIR", "Folder of the results" },
    O_SET,
    O_SEED,
    O_DEVICE,
    O_GEMM,
    O_PRECISION,
    O_POLICIES,
    O_CONFIG,
    O_PREVIEW,
    { "advise", 0, OPT_FLAG, FIELD(advise), NULL,
      "Say at the end what would make it faster, and by how much" },
    { "trace", 't', OPT_TEXT, FIELD(trace), "FILE", "Write a trace of the run" },
    O_JSON,
    O_QUIET,
    O_VERBOSE,
    O_HELP,
    { 0 }
};
static const opt plain_opts[] = { O_HELP, { 0 } };

#define WORKFLOW_IS                                                                                \
    "WORKFLOW is a ComfyUI workflow: JSON as the editor saves it (0.4, 1.0) or in API form,\n"     \
    "a picture that holds one, or - for stdin.\n"

const command commands[] = {
    { "run", "WORKFLOW", 1, 1, "Run a workflow",
      WORKFLOW_IS
      "Paths of the written files go to stdout. Ctrl-C stops after the current kernel,\n"
      "a second one at once. SIGUSR1 prints a status line. Ctrl-Z stops it between two kernels,\n"
      "fg goes on; what was waited counts in no time that is told.\n"
      "--grid runs in one process, so that what does not change is computed once. The first axis\n"
      "is that of the columns. A value in double quotes may hold commas. Beside the files comes a\n"
      "sheet, grid_00001_.png, of all of them; a cell that fails stays empty, Ctrl-C stops all.\n"
      "Several devices share cells, items of batches, and the tiles, pictures and chunks of clips "
      "of\n"
      "VAEs and upscale models where they are of one kind; not the steps of a sampling, nor the "
      "frames\n"
      "of a clip that depend on each other: such a clip is shared by tiles. With --watch, "
      "--advise,\n"
      "--trace, --shard and --dry-run tiles, pictures and chunks alone.\n",
      run_opts, cmd_run },
    { "gather", "WORKFLOW", 1, 1, "Join the parts of a run into its files",
      "ninodes run WORKFLOW --shard I/N, once for every I from 1 to N on as many machines or "
      "devices\n"
      "as there are, computes the parts; this, with the same WORKFLOW, --set, --seed and --grid,\n"
      "does the rest and writes what a single run would have written: names, metadata, clips and\n"
      "sheets included, bit for bit where all devices are alike (the profile of a run is never "
      "the\n"
      "same twice: --no-profile).\n",
      gather_opts, cmd_gather },
    { "plan", "WORKFLOW", 1, 1, "Say what a run needs, without running it",
      "Memory, arithmetic and, where the profile knows the device, time; and what a run chooses\n"
      "where memory is short: tiles, batches, precision, which weights leave. With --budget a "
      "line\n"
      "for each size: the predicted time against the memory. Of several devices it says which "
      "nodes\n"
      "they share, and what each of the others needs; the time is that of one.\n"
      "What changes the result is chosen only where not all fits: for want of another way, or\n"
      "where it saves 5 % (16-bit storage) or 25 % (tiles with seams) of the predicted time.\n"
      "The exit status is 6 when it does not fit.\n",
      plan_opts, cmd_plan },
    { "convert", "WORKFLOW", 1, 1, "Print a workflow in API form",
      WORKFLOW_IS "What the editor saved becomes what ComfyUI's server takes: widgets by name,\n"
                  "subgraphs opened, notes, reroutes, muted and bypassed nodes gone.\n",
      convert_opts, cmd_convert },
    { "inspect", "FILE", 1, 1, "Say what a model, latent, picture or workflow is", "", inspect_opts,
      cmd_inspect },
    { "thumbnail", "FILE PNG", 2, 2, "Make a small picture of a workflow, latent, picture or video",
      "Workflows are drawn as boxes and links, of latents the rough colours are shown. File\n"
      "managers call it for workflows and latents (ninodes.thumbnailer).\n",
      thumbnail_opts, cmd_thumbnail },
    { "devices", "", 0, 0, "List devices, or measure one",
      "--measure takes some seconds and needs the device for itself. What it finds replaces the\n"
      "data sheet's figures in plans, the roofline and \"% of peak\".\n",
      devices_opts, cmd_devices },
    { "nodes", "[NAME]", 0, 1, "List the nodes a workflow can use, or describe one", "", nodes_opts,
      cmd_nodes },
    { "selftest", "", 0, 0, "Compare every kernel on a device with the reference", "",
      selftest_opts, cmd_selftest },
    { "bench", "[TEXT|WORKFLOW|suite [NAME]]", 0, 2,
      "Say how fast kernels, a workflow, or a suite of them run here",
      "TEXT: only cases whose name contains it, as the table prints them. Samples are taken\n"
      "in turn with those of a yardstick, a matrix product; what is compared with a baseline\n"
      "is the ratio of the two, which holds when clock or load change.\n"
      "A WORKFLOW is run as a whole, after one run that loads and compiles; every node works\n"
      "again, and its files go to a folder that is removed. --against KSampler.steps=10 runs\n"
      "it in turn with itself so set, 8 times each (-n), and says what that changes a picture,\n"
      "with its confidence, and whether the results are the same.\n"
      "suite runs a set of cases under phases of optimisation in turn, at least 10 times each:\n"
      "  --opt=baseline   no pool, no planned tiles, no Winograd, no cache, prompts one by one, "
      "no\n"
      "                   reading ahead, clips as a whole, fp32\n"
      "  --opt=memory     phase 1: pool, planned tiles, Winograd's layout, cache of results\n"
      "  --opt=precision  phase 2: also mixed precision, prompts together, reading ahead\n"
      "  --opt=video      phase 3: also clips frame by frame, and what earlier evaluations advise\n"
      "--opt is the last phase measured (default video); --no-pool and the like measure it "
      "without\n"
      "that, too.\n"
      "Suites: phases (default), vae, sd, flux, wan, load; and kernels: gemm, conv, attention.\n"
      "--quick runs the demo's networks in 5 minutes at most, else networks of full size with\n"
      "random weights, 40 minutes at most. Results: test_data/benchmarks, "
      "test_data/optimization.\n",
      bench_opts, cmd_bench },
    { "kernel", "NAME", 1, 1, "Look into one kernel of a run: peers, source, machine code, speed",
      "Without --source, --code, --replay and --sweep: what it was launched for longest, what the\n"
      "driver says of it, and the launches of the same op beside it (-v: with their calls).\n"
      "--replay makes that call once more with random inputs, alone, 12 times (-n), and prints "
      "what\n"
      "its kernels took on the device. --sweep does so in turn with each value that ninodes tune\n"
      "chooses among. A program is SCHEDULE FILE OPTIONS, a call OP TYPE:SHAPE... ATTRIBUTES:\n"
      "  ninodes kernel gemm --call \"linear f16:77x768 weight=f16:3072 bias act=gelu\" --replay\n",
      kernel_opts, cmd_kernel },
    { "tune", "", 0, 0, "Choose how a device's work is cut, by measuring",
      "Takes about a minute and needs the device for itself. Only what changes no bit of a result\n"
      "is tuned, but for the engines of linear layers of few (up to 16), of less than 256 and of\n"
      "more rows: 1 is our kernels, 2 CLBlast, which adds in another order (NINODES_GEMM=native\n"
      "leaves them out), and parts of small products and blocks of keys where a GPU has matrix\n"
      "instructions (gemm_costs, gemm_split, flash_keys). Only what is faster beyond doubt is\n"
      "kept: for this device, its driver and this version. The gain is measured anew after\n"
      "choosing.\n",
      tune_opts, cmd_tune },
    { "monitor", "[PID|SOCKET|JOB|TRACE]", 0, 1,
      "Watch a run of this machine (default: the newest), or look at a trace",
      "JOB is the number of a job of a worker. A TRACE may still be written (.ninotrace).\n",
      monitor_opts, cmd_monitor },
    { "worker", "", 0, 0, "Take jobs and run them one after the other",
      "Prints the path of its socket and waits for jobs, which ninodes jobs and ninodes-studio\n"
      "send. The queue is kept on disk: after a crash nothing is lost.\n"
      "With --queue it takes jobs from Redis, one at a time, as other workers do: a job of one "
      "that\n"
      "dies goes to another. Its files are in a folder of the job's id below --output. A password "
      "is\n"
      "in the URL, redis://USER:PASSWORD@HOST/STREAM, or in NINODES_REDIS_PASSWORD, where other "
      "users\n"
      "of the machine do not see it; unix:///PATH?stream=STREAM is a socket.\n",
      worker_opts, cmd_worker },
    { "serve", "", 0, 0, "Answer clients of ComfyUI over HTTP and WebSocket",
      "Web frontends, plugins and scripts for ComfyUI talk to it as to ComfyUI's own server. Jobs\n"
      "run in the worker that has the --state folder; without one, a worker is started and ended\n"
      "with this. A worker that dies is started again; the job that it died in fails.\n",
      serve_opts, cmd_serve },
    { "jobs",
      "ls|add|wait|show|pause|resume|cancel|set|move|remove|retry|workflow|reload|trim|shutdown "
      "[WORKFLOW|JOB] [VALUE]",
      0, 3, "Look at the queue of a worker and change it",
      "  ls                     the queue and what has ended (the default)\n"
      "  add WORKFLOW           queue it; prints the job's number\n"
      "  wait JOB, show JOB     its files on stdout; wait: when it has ended\n"
      "  pause, resume          stop between two kernels; go on\n"
      "  cancel [JOB]           the running one, or that one\n"
      "  set JOB NODE.INPUT=V   change a waiting job\n"
      "  move JOB, retry JOB    with --front or --position; retry: once more\n"
      "  remove [JOB]           a waiting or finished job; all finished ones\n"
      "  workflow JOB           print it\n"
      "  reload, trim           forget models and results; trim: give memory back\n"
      "  shutdown               end the worker; the queue is kept\n"
      "pause, resume, cancel and trim also work on a run: --worker PID.\n",
      jobs_opts, cmd_jobs },
    { "trace", "check|summary|diff|convert|advice|trend [FILE [FILE]]", 1, 3,
      "Check, sum up, compare or convert trace files",
      "  check FILE      is it a valid trace?\n"
      "  summary FILE    tables of nodes, memory and kernels\n"
      "  diff A B        what B does faster or slower than A: nodes, sampler steps and kernels, "
      "with\n"
      "                  the chance p of so large a difference among equal runs\n"
      "  convert IN OUT  write it anew: Chrome JSON, Perfetto's form (.pftrace), either compressed "
      "(.gz),\n"
      "                  or .ninotrace\n"
      "  advice FILE     what would make such a run faster\n"
      "  trend [DIR]     the runs in a folder in the order of their files' times (default: those "
      "that "
      "the\n"
      "                  app has kept), those of one workflow, device and models together: time, "
      "change\n"
      "                  against the run before, and whether they get slower "
      "(ninodes help statistics)\n",
      trace_opts, cmd_trace },
    { "doctor", "", 0, 0, "Look at what runs need on this machine, and say what to do next",
      "Drivers, devices, access to GPUs, memory that GPUs share, models, room for results.\n"
      "The exit status is that of the first thing that is bad.\n",
      doctor_opts, cmd_doctor },
    { "capture", "ls|diff|run DIR [DIR]", 2, 3,
      "Look at debug captures, compare them, run one again",
      "ROCM_NINODES_DEBUG=1 ninodes run WORKFLOW writes what goes into and comes out of every "
      "node\n"
      "into test_data/captured, with times, memory and the workflow. DIR is such a folder, one in\n"
      "it, or a .json of one record.\n"
      "  ls DIR    the captured nodes, in order\n"
      "  diff A B  every tensor: NMSE, PSNR of A's range, the largest difference; and the first\n"
      "            node that differs\n"
      "  run DIR   run each node again on its captured pictures and latents, on the device and in\n"
      "            the precision of the capture unless told otherwise, and compare what it gives\n"
      "The exit status of diff and run is 1 when anything differs.\n",
      capture_opts, cmd_capture },
    { "compare", "A B", 2, 2, "Say how far one picture or clip is from another",
      "PNG, JPEG, WebP, animated ones, videos: NMSE, PSNR, the largest difference, the first "
      "pixel.\n"
      "The exit status is 1 when they differ.\n",
      compare_opts, cmd_compare },
    { "config", "get|set|unset [KEY] [VALUE]", 0, 3, "Print or change the settings of ninodes.conf",
      "Without words: all of them, in the form of ninodes.conf; defaults are comments.\n"
      "  get KEY         its value alone\n"
      "  set KEY VALUE   write it into your own ninodes.conf, below $XDG_CONFIG_HOME/ninodes\n"
      "  unset KEY       take it away there\n"
      "Options count more than the environment, that more than ninodes.conf of the working\n"
      "folder, of yours ($XDG_CONFIG_HOME/ninodes) and of the system ($XDG_CONFIG_DIRS/ninodes).\n"
      "An unknown key or a value that is none ends every other command with exit status 2.\n",
      config_opts, cmd_config },
    { "demo", "image|video", 0, 1, "Make a first picture, or a clip, with models of its own",
      "It needs no other model. Paths of the written files go to stdout.\n", demo_opts, cmd_demo },
    { "completion", "bash|zsh|fish|man [COMMAND]", 1, 2,
      "Print a shell's completion, or the manual page",
      "  bash: ninodes completion bash > ~/.local/share/bash-completion/completions/ninodes\n"
      "  zsh:  ninodes completion zsh > a folder of $fpath, as _ninodes\n"
      "  fish: ninodes completion fish > ~/.config/fish/completions/ninodes.fish\n",
      plain_opts, cmd_completion },
    { "help", "[COMMAND]", 0, 1, "Help on a command", "", plain_opts, cmd_help },
    { 0 }
};

const command *command_find(const char *name)
{
    for (const command *c = commands; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}
