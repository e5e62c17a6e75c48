// The process that computes: starts `ninodes worker`, watches it, drives it, and goes on when it
// dies; or watches a run that somebody else started. What the worker last said about its queue is
// kept here, so that a dead worker loses nothing that the user sees.
#pragma once
#include <gio/gio.h>
#include <ninodes/control.h>

typedef enum NinoEngineState {
    NINO_ENGINE_OFF,      // not started, or detached
    NINO_ENGINE_STARTING, // the process runs, its socket is not there yet
    NINO_ENGINE_READY,
    NINO_ENGINE_DEAD // it ended though nobody asked
} NinoEngineState;

// One job of the queue, as the worker last told.
typedef struct NinoJob {
    guint64 id;
    nino_queue_state state;
    char *name, *error, *error_where;
    guint32 scope;
    double queued_s, started_s, ended_s;
    char **outputs;
    gboolean lost; // the worker died while it ran
} NinoJob;

#define NINO_TYPE_ENGINE (nino_engine_get_type())
G_DECLARE_FINAL_TYPE(NinoEngine, nino_engine, NINO, ENGINE, GObject)

NinoEngine *nino_engine_new(void);
// Arguments for the worker; strings may be NULL. They count from its next start.
void nino_engine_set_options(NinoEngine *e, const char *const *models, const char *input,
                             const char *output, const char *device, const char *object_info);
// The own worker: the one that survived an app that was killed, else a new one, which ends by
// itself when no app is left and nothing is to be done. What fails comes as state DEAD.
void nino_engine_start(NinoEngine *e);
void nino_engine_resume(NinoEngine *e);  // if one has survived, or left work behind
void nino_engine_restart(NinoEngine *e); // ends it first if it lives; it keeps its queue
gboolean nino_engine_attach(NinoEngine *e, const char *target, GError **error);
void nino_engine_detach(NinoEngine *e);
gboolean nino_engine_is_attached(NinoEngine *e); // watches a process that is not our worker
NinoEngineState nino_engine_state(NinoEngine *e);
const char *nino_engine_message(NinoEngine *e); // why it is DEAD, else ""
int nino_engine_pid(NinoEngine *e);             // 0: none

// The answer to a request. `reply` is NULL when the worker died before it answered.
typedef void (*NinoReply)(gpointer user, const nino_control_reply *reply);
// Sends a request, or keeps it until the worker is there. `done` may be NULL.
void nino_engine_send(NinoEngine *e, const nino_control *c, NinoReply done, gpointer user);
void nino_engine_simple(NinoEngine *e, nino_control_cmd cmd, guint64 job); // an error is signalled

GPtrArray *nino_engine_jobs(NinoEngine *e); // NinoJob, in the order of nino_queue
const NinoJob *nino_engine_running(NinoEngine *e);
gboolean nino_engine_is_paused(NinoEngine *e);
const char *nino_engine_notice(NinoEngine *e);
const char *nino_engine_device(NinoEngine *e);
const char *nino_engine_name(void *engine, uint32_t id); // text of an interned id

// Signals: "state"; "queue": the queue is another one now; "events" (const nino_event *, gulong n);
// "log" (const char *line); "refused" (const char *text): a request of nino_engine_simple() failed.
