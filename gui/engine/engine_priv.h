// What the files of the engine share.
#pragma once
#include "engine/engine.h"

struct _NinoEngine {
    GObject parent;
    char **models, *input, *output, *device_option, *object_info;
    GSubprocess *process;
    GPid adopted;              // worker of an app that is gone, which has our queue; 0: none
    GCancellable *cancellable; // of the process' streams
    nino_attach *attach;
    guint attach_timer, source, write_source;
    GQueue requests; // Request, in the order they were made
    NinoEngineState state;
    gboolean is_foreign, is_stopping, starts_again, was_started;
    gboolean is_gone, is_silent; // the process has ended; nothing more can be read from it
    char *message, *notice, *device;
    GString *words; // the last error that the process told, with what to do about it
    GPtrArray *jobs;
    gboolean is_paused;
    guint64 queue_version;
};

// ---- engine.c
void nino_engine_set_state(NinoEngine *e, NinoEngineState state, const char *message);
// Hands over everything that can be read now. FALSE: the process has closed the socket.
gboolean nino_engine_drain(NinoEngine *e);
void nino_engine_attach_later(NinoEngine *e); // to the own worker, as soon as its socket is there
void nino_engine_hang_up(NinoEngine *e);      // what waits for an answer gets none
// Jobs that ran when the worker died are shown as waiting: that is what the next one makes of them.
void nino_engine_lose_jobs(NinoEngine *e);

// ---- engine_process.c
int nino_engine_worker_pid(NinoEngine *e);        // of the own one; 0: none
gboolean nino_engine_has_survivor(NinoEngine *e); // the worker that was taken over is still there
void nino_engine_end_worker(NinoEngine *e);       // asks it to end; it keeps its queue
void nino_engine_worker_ended(NinoEngine *e, const char *why); // it is gone, for that reason
