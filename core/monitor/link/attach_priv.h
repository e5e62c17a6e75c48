// Internal to core/monitor/link: a connection to a run; attach.c moves frames, control.c reads and
// writes what is in those that are not events.
#pragma once
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/event/passing.h"
#include "core/monitor/link/wire.h"
#include <ninodes/control.h>

typedef struct nino_reply_text nino_reply_text;
struct nino_reply_text {
    nino_reply_text *next;
    size_t len;
    char json[];
};

struct nino_attach {
    int fd;
    bool ended;
    char path[108];
    nino_wire_hello hello;
    nino_buf in;
    size_t at;          // bytes of `in` already used
    size_t events_left; // bytes of the EVENTS frame that `at` is in
    char **name;
    size_t n_names;
    nino_passing *passing; // NULL: none yet
    // Requests, answers and the queue.
    nino_buf out;
    size_t sent; // of out
    uint32_t requests;
    nino_reply_text *first_reply, *last_reply;
    nino_json_doc *reply; // of the one taken last
    nino_buf state;
    bool is_state_new; // since `queue` was made of it
    struct nino_queue_view *queue;
};

// Sends what waits in a->out as far as the socket takes it; false: the other end has gone.
bool nino_attach_flush(nino_attach *a);
// A complete frame that is neither hello, names nor events; false: out of memory.
bool nino_control_take_frame(nino_attach *a, uint32_t type, const char *body, size_t n);
void nino_control_close(nino_attach *a);
