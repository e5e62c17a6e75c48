// What the files of the command line program share. Rules: stdout is data, stderr is talk; exit
// codes say what kind of failure it was; nothing but a terminal gets carriage returns or colours.
#pragma once
#include <ninodes/ninodes.h>
#include <stdio.h>

// Every way to end: name, exit status, what it means. Help, the manual page and data/doc have it
// from here.
// clang-format off
#define EXIT_CODES(X) \
    X(OK, 0, "ok") \
    X(RUN, 1, "the run failed") \
    X(USAGE, 2, "bad command line") \
    X(WORKFLOW, 3, "workflow invalid or unsupported") \
    X(MISSING, 4, "model or file missing") \
    X(DEVICE, 5, "device or OpenCL error") \
    X(NOMEM, 6, "out of memory, or it would not fit") \
    X(REGRESSION, 7, "slower than --fail-over allows") \
    X(LOST, 75, "lost contact") \
    X(SIGINT, 130, "interrupted (128 + SIGINT)") \
    X(SIGTERM, 143, "terminated (128 + SIGTERM)")
// clang-format on
#define EXIT_ID_(name, status, text) EXIT_##name = status,
typedef enum exit_code { EXIT_CODES(EXIT_ID_) } exit_code;
#undef EXIT_ID_

// ---- options (opts.c) --------------------------------------------------------------------------

typedef struct text_list {
    const char **item; // NULL-terminated once there is one
    size_t n;
} text_list;

// Every option of every command; each command has a table of those it takes.
typedef struct options {
    const char *arg[8]; // what is not an option
    int n_args;
    text_list models, set, grid, against, object_info, hosts, origins, config, cases;
    const char *input, *output, *device, *precision, *trace, *profile, *op, *telemetry, *preview,
        *state, *worker, *fail_over, *baseline, *save, *export_file, *import_file, *keep, *schedule,
        *gemm, *listen, *token, *frontend, *images, *user, *program, *call, *shard, *parts, *queue,
        *psnr, *budget,
        *mem_limit_text; // as --mem-limit has it
    uint64_t max_upload, max_clients, seed, mem_limit, preview_every, preview_percent, position,
        samples, warmup, idle_end, side, claim_after, return_max;
    bool has_seed, json, dry_run, quiet, verbose, once, markdown, bench, fast, tensors, ui, measure,
        no_profile, no_metadata, help, resume, front, wait, after, gui, advise, csv, reset, metrics,
        watch, explain, source, code, replay, sweep, joins;
    const char *opt, *report; // opt: of --opt
    uint64_t limit, model_room;
    bool each;
    bool no_policy[NINO_POLICY_COUNT], no_mixed, adaptive;
} options;

// Digits, an optional fraction, and B, K, M, G, T with or without "iB" or "B".
bool parse_size(const char *s, uint64_t *out);

typedef enum opt_kind {
    OPT_FLAG,   // bool
    OPT_TEXT,   // const char *
    OPT_WORD,   // const char *, one of the words of `arg`: "on|off"
    OPT_LIST,   // text_list, may be given again
    OPT_NUMBER, // uint64_t; seed also sets has_seed
    OPT_SIZE    // uint64_t bytes: 2GiB, 512M, 1.5G
} opt_kind;

typedef struct opt {
    const char *name; // without the dashes; {0} ends a table
    char letter;      // one-letter form, 0: none
    opt_kind kind;
    size_t offset;    // into options
    const char *arg;  // what the value is called: "DIR", "FILE", or "a|b|c": one of these
    const char *help; // one line without full stop
} opt;

typedef struct command {
    const char *name;
    const char *args; // "WORKFLOW", "[NAME]": for help; the words of "a|b" complete the first one
    int min_args, max_args;
    const char *summary; // one line without full stop
    const char *more;    // further text of the help, lines ending in newline, or ""
    const opt *opts;
    int (*run)(const options *o);
} command;

// Fills *o from the words after the command's name. False: said what is wrong; exit with
// EXIT_USAGE.
bool options_parse(const command *c, int argc, char **argv, options *o);
void options_release(options *o);
// True for one of the words in "a|b|c".
bool one_of(const char *choices, const char *word);
// "5%" or "5"; negative: not such a text.
double parse_percent(const char *s);

// ---- the way out (out.c) -----------------------------------------------------------------------

// From now on all that goes to stdout and stderr is cleaned by nino_utf8_printable(), line by line.
void out_open(void);
// Data for another program: exactly these bytes, unless stdout is a terminal. A path also gets a
// newline.
void out_data(const char *s, size_t n);
void out_path(const char *path);
FILE *out_plain(void); // stdout as it was, for a library that draws on the terminal itself

// ---- talking (talk.c) --------------------------------------------------------------------------

// "ninodes: ..." and a newline on stderr; the progress line steps aside.
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);
// Says why there is no device, or no GPU, to compute on, a line each; they are in out too. 0: there
// is nothing to say.
size_t devices_explained(char *out, size_t size);
// What was said last, without "ninodes: "; "": nothing yet.
const char *last_said(void);
// Says the error and returns the exit code that fits; hint may be NULL.
int report_error(const options *o, const char *cmd, const nino_error *err, const char *hint);
exit_code exit_for(nino_status st);
const char *status_hint(const nino_error *err); // what to do about it, or NULL
// 1.5 GiB, 20.0 MiB, 300 B
const char *human_bytes(char *buf, size_t size, double bytes);
// job may be changed until the context is created; p->job points to it.
void fill_ctx_params(const options *o, nino_ctx_params *p, nino_job_options *job);

// ---- signals (signals.c) -----------------------------------------------------------------------

// From now on SIGINT and SIGTERM call stop() on a thread of their own; a second one ends the
// process. Signals that were ignored stay so.
void signals_watch(void (*stop)(void));
// SIGTSTP then calls pause(true), waits until signals_standing() was called or two seconds are
// over, and stops the process; when it goes on, pause(false). Before signals_watch().
void signals_watch_pause(void (*pause)(bool is_paused));
void signals_standing(void);    // the job stands between two kernels
int signals_stopped(void);      // the signal that asked to stop, 0: none
bool signals_take_status(void); // SIGUSR1 has come since the last call

// ---- crashes of drivers (crash.c) ---------------------------------------------------------------

// From now on a crash of a command that takes --device is told in a line, the folders of compiled
// kernels are renamed, and the program begins once more: the same process, so that whoever started
// it need not know. A second crash ends it with EXIT_DEVICE. A worker dies of the signal, 0.2 s later:
// whoever watches it gets what it did last. Its queue is kept, whoever starts the next one finds the folders renamed.
void crash_guard(const command *c, char **argv, const options *o);
bool crash_is_again(void); // this is the second try

// ---- JSON output (json_out.c) ------------------------------------------------------------------

// One JSON value a line on stdout. Keys are NULL inside arrays.
void js_line(const char *schema, const char *type); // opens {"schema":...,"type":...
void js_end(void);                                  // closes it, newline, flush
void js_open(const char *key, char bracket);        // '{' or '['
void js_close(char bracket);                        // '}' or ']'
void js_text(const char *key, const char *v);       // NULL: null
void js_num(const char *key, double v);             // not finite: null
void js_int(const char *key, int64_t v);
void js_uint(const char *key, uint64_t v);
void js_bool(const char *key, bool v);
void js_null(const char *key);
// The last line of a command: js_envelope(cmd), members of "data", js_envelope_end().
void js_envelope(const char *cmd);
void js_envelope_end(void);
bool js_has_envelope(void); // it was written already
void js_envelope_error(const char *cmd, const char *code, const char *message, const char *where,
                       const char *hint);

// ---- watching a run (progress.c, events.c, report.c) -------------------------------------------

typedef const char *(*name_fn)(void *priv, uint32_t id);

// The state of a run as its events tell it.
typedef struct progress progress;
// title: what runs; json: nothing is drawn.
progress *progress_create(const char *title, bool quiet, bool json);
void progress_destroy(progress **p); // takes the line away
void progress_add(progress *p, const nino_event *ev, size_t n, name_fn name, void *priv);
void progress_draw(progress *p);  // redraws when it is time; at most ten times a second
void progress_print(progress *p); // the state as a plain line on stderr, now (SIGUSR1)
void progress_text(const progress *p, char *buf, size_t size);
bool progress_job_ended(const progress *p); // the job's scope was seen to end
// Runs f while the line is out of the way. Any thread.
void progress_aside(void (*f)(void *priv), void *priv);

// Events as NDJSON lines.
typedef struct event_lines event_lines;
event_lines *event_lines_create(void);
void event_lines_destroy(event_lines **e);
void event_lines_add(event_lines *e, const nino_event *ev, size_t n, name_fn name, void *priv);

// Tables of what was measured: nodes (at most 12 lines), kernels.
void report_nodes(FILE *f, const nino_stats *s);
// c: how fast the device can be, for "% peak"; NULL: nobody told.
void report_kernels(FILE *f, const nino_stats *s, size_t max, const nino_ceilings *c);
void report_memory(FILE *f, const nino_stats *s);
void report_energy(FILE *f, const nino_stats *s);     // nothing without samples
void report_statistics(FILE *f, const nino_stats *s); // those that say something
// The tiles of the last image, of which `tile` is the first, and why; nothing unless it is a
// NINO_EV_TILE_INFO.
void report_tiles(FILE *f, const nino_event *tile, const char *why);
void report_seams(FILE *f, const nino_event *seam); // nothing unless it is a NINO_EV_SEAM
// Speed of a clip's decoding, and how smoothly its pieces meet; nothing unless it is a
// NINO_EV_CLIP.
void report_video(FILE *f, const nino_event *clip);
// Advice on a run: lines of text, or one "advice" event for each.
void report_advice(FILE *f, const nino_advice_input *in);
void report_advice_json(const nino_advice_input *in);
// Members "nodes", "kernels", "memory", "performance"; c as above.
void report_json(const nino_stats *s, const nino_ceilings *c);
// OpenMetrics text; q may be NULL.
void metrics_print(FILE *f, const nino_stats *s, const nino_history *h, const nino_queue *q);
// Member "work_sizes": every global and local size that kernels were launched with.
void report_work_json(const nino_history *h);
// Of which peak a percentage is: "as measured on this device, 2026-11-22", "of the data
// sheet". Returns buf.
const char *peak_source(const nino_ceilings *c, char *buf, size_t size);
// The ceilings that a run told; NULL: it told none. *out is where they are put.
const nino_ceilings *told_ceilings(const nino_history *h, nino_ceilings *out);

// ---- the queue of a worker (print_queue.c) -----------------------------------------------------

double unix_now(void);                             // seconds since 1970, as a queue has times
void queue_line(const nino_queue *q);              // as an event line
void queue_json(const nino_queue *q);              // its members
void queue_job_json(const nino_queue_job *j);      // an element of an array
double queue_job_seconds(const nino_queue_job *j); // that it has run so far; 0: not yet

// ---- the screen of ninodes monitor (tui.c) -----------------------------------------------------

typedef struct tui tui;
uint64_t now_ns(void); // of the clock that events have
// On a terminal, of what has taken longer than the setting notify_after; what: its name.
void notify_end(const options *o, const char *what, uint64_t since_ns, int rc);
typedef enum tui_action { TUI_NOTHING, TUI_QUIT, TUI_PAUSE, TUI_CANCEL } tui_action;
bool tui_possible(void); // stdin and stdout are a terminal that can
tui *tui_open(void);     // NULL: it cannot after all
void tui_close(tui **t);
void tui_add(tui *t, const nino_event *ev, size_t n, name_fn name, void *priv);
tui_action tui_key(tui *t);                // what the keys pressed since the last call ask for
void tui_say(tui *t, const char *text);    // until the next key
void tui_advise(tui *t, const char *text); // the advice that is shown; "": none
// q may be NULL. At most ten times a second.
void tui_draw(tui *t, int pid, const progress *p, const nino_stats *s, const nino_queue *q);

// ---- the workflow of a command line (load.c) ---------------------------------------------------

// Loads the workflow, applies --seed and --set. NULL: said why, *rc is the exit code.
nino_graph *load_graph(const options *o, const char *cmd, int *rc);
// Reports every problem of the graph. 0: none; else the exit code.
int check_graph(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx);
// The same without the warnings.
int check_graph_errors(const options *o, const char *cmd, nino_graph *g, const nino_ctx *ctx);

// ---- following a job (follow.c) ----------------------------------------------------------------

// A job and those who listen to what it says.
typedef struct watched {
    progress *p;
    nino_stats *s;
    event_lines *lines; // NULL: none
    nino_history *h;    // NULL: none
    // The last result of the seam meter, and of a clip; a kind stays 0 when nothing was tiled or
    // there was no clip.
    nino_event last[3];  // and the first tile of the last image
    size_t n_cached;     // nodes whose results were there already
    char chosen[8][400]; // what the planner chose for nodes, and why
    size_t n_chosen;
} watched;
// From now on SIGINT and SIGTERM cancel the job that is followed; SIGTSTP pauses its context.
void follow_signals(void);
void follow_ctx(nino_ctx *ctx); // the one to pause; NULL: none
// Follows a job to its end, however it ends.
nino_status follow(nino_job *job, watched *w, nino_error *err);
// The files that a job wrote: the list is the caller's, its texts are the job's.
const char **outputs_of(const nino_job *job, size_t *n);
// What is said of a run that stopped; NULL: nothing is left to go on with.
const char *go_on_hint(const nino_ctx *ctx, char *out, size_t size);

// ---- waiting for a file to be saved (watch.c) --------------------------------------------------

typedef struct file_watch {
    int fd;
    char name[256]; // in its folder
} file_watch;
// False: said why not.
bool watch_open(file_watch *w, const char *path);
void watch_close(file_watch *w);
bool watch_wait(file_watch *w); // true: it was saved since the last call; false: asked to stop

// ---- grids (many/grid_runs.c) -----------------------------------------------------------------------

// The two axes of --grid at most; the first is that of the columns.
typedef struct grid {
    nino_axis axis[2];
    size_t n_axes; // 0: an ordinary run
} grid;
size_t grid_cells(const grid *g);
// False: said what is wrong with the options.
bool grid_parse(const options *o, grid *g);
void grid_release(grid *g);
// Tries every value on the graph, which then has those of the first cell. 0, or the exit code.
int grid_check_values(const options *o, const grid *g, nino_graph *graph);
// Reports what each value makes wrong. 0, or the exit code.
int grid_check(const options *o, const grid *g, nino_graph *graph, const nino_ctx *ctx);
// The graph has the values of cell i from now on.
nino_status grid_set_cell(nino_graph *graph, const grid *g, size_t i, nino_error *err);
int grid_run(const options *o, const grid *g, nino_ctx *ctx, nino_graph *graph);
int grid_dry_run(const options *o, const grid *g, nino_ctx *ctx, nino_graph *graph);
void grid_axes_json(const grid *g); // member "axes"

// ---- runs in parts (many/shard.c) -------------------------------------------------------------------

bool shard_check(const options *o); // false: said what is wrong with the options
// Of --shard and of gather: what the job does, and where the parts are (in dir, which jo points to).
// n_cells: of the grid, or 0. False: the cell is for another part.
bool shard_options(const options *o, size_t cell, size_t n_cells, nino_job_options *jo, char *dir,
                   size_t size);

// ---- several devices (many/devices_run.c) -----------------------------------------------------------

// The devices that --device names, "cl:0,cl:1"; at most 16.
size_t devices_of(const options *o, char name[][160]);
// Runs on all of them; ctx is that of the first, p what it was made with. join: a run of the graph.
int devices_run(const options *o, const grid *cells, nino_ctx *ctx, nino_graph *graph,
                int (*join)(const options *, const grid *, nino_ctx *, nino_graph *));

// ---- plans (print_plan.c) ----------------------------------------------------------------------

// Prints a plan; the exit code says whether it fits. s: NULL, or what was chosen in it; g: NULL, or
// what all runs together are; seconds 0: not known.
int print_plan(const options *o, const char *cmd, const nino_plan *p, const nino_scheme *s,
               const grid *g, double seconds);
// cmd_plan.c: the choices of a plan.
void print_scheme(const nino_scheme *s);
void print_scheme_json(const nino_scheme *s); // members of an object
