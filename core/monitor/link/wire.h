// Internal to core/monitor/link: what a run and its viewers say to each other on the socket, and
// where the sockets are. Both ends are the same program on the same machine: host byte order.
#pragma once
#include <ninodes/monitor.h>

#include <sys/un.h>

// Every frame is a head and `bytes` bytes of payload.
typedef struct nino_wire_head {
    uint32_t type; // nino_wire_type
    uint32_t bytes;
} nino_wire_head;

typedef enum nino_wire_type {
    NINO_WIRE_HELLO = 1,  // nino_wire_hello, the first frame
    NINO_WIRE_NAMES = 2,  // any number of: u32 id, u32 length, text
    NINO_WIRE_EVENTS = 3, // any number of nino_event; their names were sent before
    NINO_WIRE_BYE = 4,    // the run ends; no payload
    NINO_WIRE_STATE = 5,  // the queue as JSON, whole, whenever it has changed
    NINO_WIRE_REPLY = 6,  // to a request: JSON, see core/monitor/link/request.h
    // From viewers. Types the server does not know are skipped.
    NINO_WIRE_REQUEST = 65, // JSON
} nino_wire_type;

enum {
    NINO_WIRE_VERSION =
        6, // one higher when records mean something else; a new counter does not count
    NINO_WIRE_MAX = 32 << 20,         // largest payload a viewer accepts
    NINO_WIRE_MAX_REQUEST = 16 << 20, // largest payload the server accepts
    NINO_WIRE_BATCH = 512             // records in one frame
};

typedef struct nino_wire_hello {
    char magic[8]; // "ninodes"
    uint32_t version;
    uint32_t event_bytes; // sizeof(nino_event)
    int32_t pid;
    uint32_t reserved;
    uint64_t started_ns, now_ns; // CLOCK_MONOTONIC
    char title[128];
} nino_wire_hello;

// The folder of the sockets: $XDG_RUNTIME_DIR/ninodes, or /tmp/ninodes-UID when that is not set.
// It must be ours alone (0700) and no link; `create` makes it. NINO_ERR_MISSING: it does not exist.
nino_status nino_wire_dir(char *buf, size_t size, bool create, nino_error *err);
// False when the path does not fit a socket address.
bool nino_wire_address(struct sockaddr_un *a, const char *path);
// True when the other end runs as the same user.
bool nino_wire_same_user(int fd);
