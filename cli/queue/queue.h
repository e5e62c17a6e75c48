// What the files of a shared queue in Redis share: the connection and what is asked of it (redis.c,
// scripts.c), a worker that takes jobs from there (worker_face.c), and those who add them (client.c).
//
// Keys, of a stream S: S itself, an entry for each job that waits or runs, with the consumer group
// "ninodes"; S:job:ID, a hash with the workflow and how it stands; S:jobs, the ids by age; and
// S:files:ID, the files of a finished job where they are small.
#pragma once
#include "cli.h"

#include <hiredis/hiredis.h>

// ---- the connection (redis.c) ------------------------------------------------------------------

typedef struct queue queue;
// url: redis://[USER:PASSWORD@]HOST[:PORT]/STREAM or unix://[USER:PASSWORD@]/PATH?stream=STREAM. Without
// one there, the password is NINODES_REDIS_PASSWORD. Nothing is connected yet. NULL: said what is
// wrong with it.
queue *queue_create(const char *cmd, const char *url);
void queue_destroy(queue **q);
const char *queue_shown(const queue *q); // the url without a password
const char *queue_stream(const queue *q);
// Sends words and waits for the answer, connecting where need be; len NULL: all are texts. NULL: there
// is no connection, queue_error() says why. An answer that is an error stays one. Free it.
redisReply *queue_send(queue *q, int n, const char **word, const size_t *len);
// Runs a script on the stream (its one key) with arguments, a NULL last. *out (size bytes) gets the
// answer, a word. False: there was none, queue_error() says why.
bool queue_script(queue *q, const char *script, char *out, size_t size, const char *const *arg);
const char *queue_error(const queue *q);
// Copies a field of a job's hash; "" where there is none. False: no connection.
bool queue_field(queue *q, const char *id, const char *field, char *out, size_t size);
// The same of any length, malloc'd, NUL-terminated; NULL: none.
char *queue_long_field(queue *q, const char *id, const char *field, size_t *len);
bool queue_is_id(const char *word); // "1700000000000-0"

// ---- what changes the state of a job, at once or not at all (scripts.c) ------------------------

#define QUEUE_MAX_ATTEMPTS 3 // of a job in which workers die

extern const char queue_add_script[];     // NAME WORKFLOW PRECISION NO_PROFILE NO_METADATA: the id
extern const char queue_begin_script[];   // ID WORKER MOST: "run", or why not
extern const char queue_beat_script[];    // ID WORKER PROGRESS: "ok", "cancel" (asked for), "lost"
extern const char queue_end_script[];     // ID WORKER STATE ERROR FILE...: "ok", "lost"
extern const char queue_release_script[]; // ID WORKER IDLE_MS: others may have it at once
extern const char queue_cancel_script[];  // ID: the state then; "asked", "unknown"

// ---- the worker's side (worker_face.c) ---------------------------------------------------------

typedef struct worker_face worker_face;
// Takes jobs from o->queue and hands them to the worker behind the socket, on a thread of its own.
// NULL: said why not.
worker_face *worker_face_start(const options *o, const char *socket);
// What runs there is handed back, so that another worker has it at once. First of all when the worker
// is to end; any thread.
void worker_face_stop(worker_face *f);
void worker_face_destroy(worker_face **f); // waits for the thread

// ---- the client (client.c) ---------------------------------------------------------------------

int queue_jobs(const options *o); // ninodes jobs --queue
