// One run of a workflow in a worker process: started here, watched over its monitor socket.
// The app never touches a device itself, so a driver that aborts takes the worker down and not the
// window. Everything happens on the main loop; callbacks are not called after session_free().
#pragma once
#include <gio/gio.h>
#include <ninodes/ninodes.h>

typedef enum SessionState {
    SESSION_RUNNING,
    SESSION_DONE,
    SESSION_FAILED,
    SESSION_CANCELLED
} SessionState;

typedef struct SessionCallbacks {
    void (*events)(gpointer user, const nino_event *ev,
                   size_t n);                        // as they arrive; names: session_name()
    void (*output)(gpointer user, const char *path); // a file was written
    void (*log)(gpointer user, const char *line);    // what the worker says
    void (*state)(gpointer user, SessionState state, const char *message);
} SessionCallbacks;

// Arguments of a run; strings may be NULL.
typedef struct SessionOptions {
    const char *workflow;
    const char *const *models; // NULL-terminated or NULL
    const char *input, *output, *device, *precision, *preview;
} SessionOptions;

typedef struct Session Session;

// Starts the worker. NULL and *error when it cannot be started at all.
Session *session_start(const SessionOptions *options, const SessionCallbacks *callbacks,
                       gpointer user, GError **error);
void session_cancel(Session *s); // asks; the state callback says when it has happened
void session_free(Session *s);   // kills a worker that still runs
const char *session_name(gpointer session, uint32_t id); // fits nino_stats_add()
