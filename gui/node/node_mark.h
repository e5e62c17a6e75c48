// What a run or a check says about a node, as it is shown on it.
#pragma once
#include <glib.h>

typedef enum NinoNodeState {
    NINO_NODE_IDLE,
    NINO_NODE_QUEUED,
    NINO_NODE_RUNNING,
    NINO_NODE_PAUSED, // while it ran
    NINO_NODE_DONE,
    NINO_NODE_CACHED,
    NINO_NODE_CANCELLED,
    NINO_NODE_KILLED, // the worker died in it
    NINO_NODE_FAILED,
    NINO_NODE_INVALID, // it cannot run: nino_canvas_add_issue()
} NinoNodeState;

// What the next run would do with the node.
typedef enum NinoNodeAhead {
    NINO_AHEAD_UNKNOWN,
    NINO_AHEAD_KEPT, // its result is there
    NINO_AHEAD_RUN,
} NinoNodeAhead;

typedef struct NinoNodeMark {
    NinoNodeState state;
    double progress;   // 0..1 while running; < 0: not known
    double seconds;    // < 0: not known
    gint64 bytes;      // change of the memory in use; 0: not known
    const char *error; // shown on the node and in its tooltip, or NULL
} NinoNodeMark;
