// What a run sends to its viewers: whatever comes, a viewer takes it or says that it does not speak
// the protocol, and what it took can be looked at.
#include "core/monitor/link/attach_priv.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/looked_at.h"
#include "tests/unit/monitor/trace_run.h"

#include <sys/socket.h>
#include <unistd.h>

const size_t fuzz_max_len = 8192;

const char *const fuzz_words[] = { "ninodes",
                                   "\x02\0\0\0",
                                   "{\"schema\":\"queue/1\",\"jobs\":[]}",
                                   "{\"id\":1,\"ok\":true}",
                                   "\"error\":",
                                   "\x05\x00\x00\x00\x02",
                                   "\x06\x00\x00\x00\x02",
                                   NULL };

static size_t frame(uint8_t *buf, uint32_t type, const void *p, size_t n)
{
    const nino_wire_head h = { type, (uint32_t) n };
    memcpy(buf, &h, sizeof(h));
    memcpy(buf + sizeof(h), p, n);
    return sizeof(h) + n;
}

static size_t seed_names(uint8_t *buf)
{
    uint8_t body[1024];
    size_t n = 0;
    for (uint32_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        const uint32_t item[2] = { i, (uint32_t) strlen(names[i]) };
        memcpy(body + n, item, sizeof(item));
        memcpy(body + n + sizeof(item), names[i], item[1]);
        n += sizeof(item) + item[1];
    }
    return frame(buf, NINO_WIRE_NAMES, body, n);
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    static const char queue[] =
        "{\"schema\":\"queue/1\",\"version\":1,\"worker\":true,\"jobs\":[]}";
    static const char reply[] = "{\"id\":1,\"ok\":true,\"job\":3}";
    nino_event e[64];
    const nino_wire_hello hello = { .magic = "ninodes",
                                    .version = NINO_WIRE_VERSION,
                                    .event_bytes = sizeof(nino_event),
                                    .pid = 7,
                                    .title = "run" };
    if (i)
        return 0;
    CHECK(cap >= sizeof(e) + 2048);
    size_t n = frame(buf, NINO_WIRE_HELLO, &hello, sizeof(hello));
    n += seed_names(buf + n);
    n += frame(buf + n, NINO_WIRE_EVENTS, e, a_run(e) * sizeof(e[0]));
    n += frame(buf + n, NINO_WIRE_STATE, queue, sizeof(queue) - 1);
    n += frame(buf + n, NINO_WIRE_REPLY, reply, sizeof(reply) - 1);
    return n + frame(buf + n, NINO_WIRE_BYE, "", 0);
}

static void read_all(nino_attach *a, nino_history *h)
{
    nino_event ev[32];
    nino_error err = { 0 };
    nino_control_reply r = { 0 };
    size_t n = 0;
    while (!nino_attach_read(a, ev, 32, &n, &err)) {
        nino_history_add(h, ev, n, nino_attach_name, a);
        const nino_queue *q = nino_control_queue(a);
        for (size_t i = 0; q && i < q->n_jobs; i++)
            CHECK(q->jobs[i].name);
        while (nino_control_next(a, &r))
            CHECK(r.text);
    }
    CHECK(err.code && err.msg[0] && !strchr(err.msg, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd[2];
    nino_attach *a = calloc(1, sizeof(*a));
    nino_history *h = nino_history_create(4096);
    CHECK(a && h && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
    CHECK(write(fd[1], data, size) == (ssize_t) size && !close(fd[1]));
    snprintf(a->path, sizeof(a->path), "fuzz");
    a->fd = fd[0];
    read_all(a, h);
    look_at(h);
    nino_attach_close(&a);
    nino_history_destroy(&h);
    return 0;
}
