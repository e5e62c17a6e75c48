// Internal to core/serve: what its files share. serve.c talks to the worker, route.c finds who
// answers, tell.c turns events into messages, record.c keeps what is known of a job.
#pragma once
#include "core/base/json.h"
#include "core/run/context.h"
#include "core/workflow/workflow.h"
#include <ninodes/serve.h>
#include <stdio.h>

enum {
    MAX_ID = 128,                  // bytes of a prompt's or client's id
    MAX_HISTORY_BYTES = 256 << 20, // of workflows and messages that are kept
    SERVE_MAX_USER_DIR = 2048,     // bytes of the name of the folder with what a user keeps
};

// ---- jobs (record.c) ---------------------------------------------------------------------------

// What a node has shown: files below a folder, or texts.
typedef struct serve_shown {
    struct serve_shown *next;
    char *node;
    bool is_text;
    const char *kind; // "images", "latents", ...; a literal
    bool is_animated;
    bool is_gif;        // in the list of clips of the Video Helper Suite, too
    const char *type;   // "output", "temp"; a literal
    const char *source; // NULL, or how a client gets it: "http", "websocket"; a literal
    char *name, *subfolder;
} serve_shown;

// How far a node is, for progress_state.
typedef struct serve_node {
    struct serve_node *next;
    char *id, *class_type;
    double value, max;
    const char *state; // "running", "finished", "error"; a literal
    bool is_cached;
} serve_node;

typedef struct serve_record serve_record;
struct serve_record {
    serve_record *next;
    uint64_t job; // 0: not queued yet
    // While it joins: the job that the worker made of it, and the version of the queue known then.
    uint64_t taken, after;
    char prompt_id[MAX_ID + 1], client[MAX_ID + 1];
    double number;
    nino_queue_state state;
    uint32_t scope, node_scope; // of its NINO_EV_JOB, and of the node that runs
    double queued_s, started_s, ended_s;
    char *prompt, *extra; // JSON; NULL: not known (yet)
    char *node_errors;    // JSON, of a prompt that runs in part; NULL: there are none
    double created_ms;    // as extra has it; 0: it does not
    char workflow_id[64]; // the editor's, likewise
    bool is_asked;        // the worker was asked for its workflow
    int lost;             // how often a worker died in it
    bool has_died;        // the one that we were attached to did
    bool is_started, is_seen, has_ended, is_told_cached, is_told_end;
    uint64_t over_ns;                  // when the queue first said that it has ended
    char current[64];                  // node that runs
    char node_id[64], node_class[128]; // whose events come
    nino_serve_call *call;             // waits to be told the number
    serve_shown *shown;
    serve_node *nodes;
    nino_buf messages;          // elements of status.messages
    size_t error_at, error_len; // what execution_error said, in there
    nino_error err;
};

serve_record *serve_record_create(void); // NULL: out of memory
void serve_record_destroy(serve_record **r);
serve_record *serve_record_find(const nino_serve *s, const char *prompt_id);
serve_record *serve_record_of_job(const nino_serve *s, uint64_t job);
serve_node *serve_record_node(serve_record *r, const char *id, const char *class_type);
// Takes over the JSON of a workflow: {"prompt": ..., "extra_data": ...} or any other form.
void serve_record_workflow(serve_record *r, const char *text, size_t len);
void serve_record_show(nino_serve *s, serve_record *r, const char *node, const char *class_type,
                       const char *path);
// Whether the pictures of such nodes go to who has queued them, and are no outputs.
bool serve_only_sends(const char *class_type);
void serve_record_texts(serve_record *r, const nino_queue_job *q);
void serve_outputs_of(nino_buf *b, const serve_record *r, const char *node);
void serve_record_queue_json(nino_buf *b, const serve_record *r);
void serve_record_history_json(nino_buf *b, const serve_record *r);
void serve_record_outputs_json(nino_buf *b, const serve_record *r);
void serve_record_status_json(nino_buf *b, const serve_record *r);
// As clients see it: what has ended runs, or waits, until that was told, so that a prompt is always
// in the queue or in the history.
nino_queue_state serve_record_state(const serve_record *r);
size_t serve_waiting(const nino_serve *s); // jobs that run or wait

// ---- the server --------------------------------------------------------------------------------

// A request to the worker that is not answered yet.
typedef struct serve_asked {
    struct serve_asked *next;
    uint32_t number;
    void (*done)(nino_serve *s, void *what, const nino_control_reply *reply); // reply NULL: lost
    void *what;
} serve_asked;

struct nino_serve {
    nino_serve_params params; // texts in the arena
    nino_job_options options;
    nino_arena *arena;
    nino_ctx *ctx; // asks for files and folders only; it computes nothing
    char *images_text;
    size_t images_bytes;
    nino_attach *attach;
    serve_asked *asked;
    serve_record *records; // running, waiting, ended: as the queue has them
    serve_record *joining; // sent, but not in the queue yet
    serve_record *telling; // whose events come; NULL: nobody's
    nino_serve_call *calls;
    nino_serve_client *clients;
    nino_event *held; // events of a job that the queue does not name yet
    size_t n_held, max_held;
    uint64_t queue_version;
    size_t remaining; // last told
    char device[128];
    double number; // of the newest prompt
    uint64_t mem_budget, mem_used;
    uint64_t preview_ns; // when the last one was sent
    uint64_t ids[2];     // state of the generator of ids
};

// Sends a request to the worker; false: there is none.
bool serve_send(nino_serve *s, const nino_control *c,
                void (*done)(nino_serve *s, void *what, const nino_control_reply *reply),
                void *what);
// A request whose answer nobody waits for.
void serve_tell_worker(nino_serve *s, nino_control_cmd cmd, uint64_t job);
void serve_forget(nino_serve *s, const void *what); // nobody waits for its answers any more
void serve_uuid(nino_serve *s, char out[37]);

// ---- messages (tell.c, client.c) ---------------------------------------------------------------

void serve_take_queue(nino_serve *s, const nino_queue *q);
void serve_take_events(nino_serve *s, const nino_event *ev, size_t n);
void serve_check_ends(nino_serve *s); // jobs that have ended are told of
void serve_lost_worker(nino_serve *s);
void serve_tell_status(nino_serve *s);
double serve_ms(void); // Unix time in milliseconds

typedef enum serve_weight {
    SERVE_KEEP,
    SERVE_PROGRESS,
    SERVE_PICTURE, // of an unfinished latent
    SERVE_RESULT,  // a picture that is nowhere else: kept up to a bound of its own
} serve_weight;
// To the clients of that id, or, where it is "", to all.
void serve_post(nino_serve *s, const char *client, serve_weight weight, const char *json,
                size_t len);
void serve_post_picture(nino_serve *s, const serve_record *r, serve_weight weight, const char *data,
                        size_t len);
// What clients are shown of an unfinished latent: a JPEG, at least 512 pixels wide or high.
bool serve_preview(nino_buf *out, const void *png, size_t len);
bool serve_wants_pictures(const nino_serve *s, const char *client);

// ---- requests (route.c, http.c) ----------------------------------------------------------------

struct nino_serve_call {
    nino_serve_call *next, **at; // in s->calls
    nino_serve *s;
    void *user;
    bool is_answered, is_inside; // inside: nino_serve_ask() has not returned
    bool is_api;                 // it came below /api
    nino_http_answer answer;
    nino_buf body;
    // while it runs: the request
    const nino_http_request *r;
    char *path;        // decoded up to the parts of files, without /api and query
    const char *query; // "" or what follows '?'
    // of a call that waits for a job
    char prompt_id[MAX_ID + 1];
    bool wants_url, is_images, is_waiting;
    char host[256]; // that pictures are linked at
};

void serve_reply(nino_serve_call *c, int status, const char *type); // with c->body
void serve_reply_json(nino_serve_call *c, int status);
void serve_fail(nino_serve_call *c, int status, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void serve_reply_fd(nino_serve_call *c, int fd, const char *name);
__attribute__((format(printf, 3, 4))) void serve_header(nino_http_answer *a, const char *name,
                                                        const char *fmt, ...);
// A value of the query, decoded; false: not there, or it does not fit.
bool serve_query(const char *query, const char *key, char *out, size_t size);
bool serve_unescape(char *out, size_t size, const char *s, size_t len, bool is_form);
const char *serve_type_of(const char *name); // Content-Type
// Parses a body; NULL: answered.
nino_json_doc *serve_body(nino_serve_call *c);
void serve_key(nino_buf *b, const char *key); // with a comma where one is needed
void serve_text(nino_buf *b, const char *key, const char *text);
void serve_number(nino_buf *b, const char *key, double v);

// A part of a form with files.
typedef struct serve_part {
    char name[64], file[256];
    const char *data;
    size_t len;
    bool is_file;
} serve_part;
// Reads the next part; *at begins as 0. False: no more, or it is malformed (*is_bad).
bool serve_next_part(const nino_http_request *r, size_t *at, serve_part *out, bool *is_bad);

// Who answers; rest: what follows the route's path, not decoded where it names files.
void serve_get_prompt(nino_serve_call *c, const char *rest);
void serve_post_prompt(nino_serve_call *c, const char *rest);
void serve_get_queue(nino_serve_call *c, const char *rest);
void serve_post_queue(nino_serve_call *c, const char *rest);
void serve_post_interrupt(nino_serve_call *c, const char *rest);
void serve_post_free(nino_serve_call *c, const char *rest);
void serve_get_history(nino_serve_call *c, const char *rest);
void serve_post_history(nino_serve_call *c, const char *rest);
void serve_get_jobs(nino_serve_call *c, const char *rest);
void serve_cancel_job(nino_serve_call *c, const char *rest);
void serve_cancel_jobs(nino_serve_call *c, const char *rest);
void serve_get_view(nino_serve_call *c, const char *rest);
void serve_upload_image(nino_serve_call *c, const char *rest);
void serve_upload_mask(nino_serve_call *c, const char *rest);
void serve_object_info(nino_serve_call *c, const char *rest);
void serve_embeddings(nino_serve_call *c, const char *rest);
void serve_models(nino_serve_call *c, const char *rest);
void serve_view_metadata(nino_serve_call *c, const char *rest);
void serve_system_stats(nino_serve_call *c, const char *rest);
void serve_features(nino_serve_call *c, const char *rest);
void serve_extensions(nino_serve_call *c, const char *rest);
void serve_get_userdata(nino_serve_call *c, const char *rest);
void serve_post_userdata(nino_serve_call *c, const char *rest);
void serve_delete_userdata(nino_serve_call *c, const char *rest);
void serve_userdata_v2(nino_serve_call *c, const char *rest);
void serve_get_settings(nino_serve_call *c, const char *rest);
void serve_post_settings(nino_serve_call *c, const char *rest);
void serve_users(nino_serve_call *c, const char *rest);
void serve_images_v1(nino_serve_call *c, const char *rest);
void serve_models_v1(nino_serve_call *c, const char *rest);
void serve_metrics(nino_serve_call *c, const char *rest);
void serve_static(nino_serve_call *c, const char *rest);
void serve_folder_paths(nino_serve_call *c, const char *rest);
void serve_internal_files(nino_serve_call *c, const char *rest);
void serve_logs(nino_serve_call *c, const char *rest);
void serve_logs_subscribe(nino_serve_call *c, const char *rest);
void serve_post_users(nino_serve_call *c, const char *rest);
void serve_no_subgraph(nino_serve_call *c, const char *rest);
void serve_no_assets(nino_serve_call *c, const char *rest);
void serve_put_picture(nino_serve_call *c, const char *rest);
void serve_get_picture(nino_serve_call *c, const char *rest);
void serve_model_info(nino_serve_call *c, const char *rest);
void serve_no_list(nino_serve_call *c, const char *rest);
bool serve_is_model_folder(const char *name);
// Answers for a part of a page that its folder lacks. False: there is none, nothing is answered.
bool serve_page_part(nino_serve_call *c, const char *path);
// The folder of "output", "input" or "temp"; NULL: it is none of them.
const char *serve_folder_of(const nino_serve *s, const char *type);
// A call of /v1 whose job has ended.
void serve_images_done(nino_serve_call *c, const serve_record *r);
// What of a prompt with errors can run: a JSON array of its outputs, and what is wrong beside them.
typedef struct serve_checked {
    nino_buf outputs, node_errors; // empty: nothing is wrong
} serve_checked;
// Checks a workflow. False: answered, with all that is wrong. part: NULL where all of it has to run.
bool serve_check_workflow(nino_serve_call *c, const char *text, size_t len, serve_checked *part);
// Writes the ids of outputs that need no node which is_wrong() names; it is asked of every node that an
// output needs. False: there is none, or it would take too long to find out.
bool serve_sound_outputs(nino_buf *b, const nino_json *prompt, size_t n_wrong,
                         bool (*is_wrong)(void *priv, const char *output, const char *id),
                         void *priv);
// Writes a prompt as it is to be queued: what leads to the named nodes; NULL: all of it. False: out of
// memory.
bool serve_write_prompt(nino_buf *b, const nino_json_doc *doc, const nino_json *prompt,
                        const nino_json *targets);
// Answers who has queued it, if they still wait for that.
void serve_prompt_queued(serve_record *r);
// Queues a workflow for a call; *r becomes NULL. text: {"prompt": ..., "extra_data": ...}.
void serve_queue_workflow(nino_serve_call *c, serve_record **r, const char *text, size_t len,
                          int position);
void serve_call_gone(nino_serve_call *c); // no record answers it any more
