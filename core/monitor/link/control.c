// The driver's end of the socket: sends requests, reads answers and snapshots of the queue.
#include "core/base/error.h"
#include "core/base/params.h"
#include "core/base/time.h"
#include "core/monitor/link/attach_priv.h"
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/request.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

// ---- requests ----------------------------------------------------------------------------------

uint32_t nino_control_send(nino_attach *a, const nino_control *request, nino_error *err)
{
    nino_buf text = { 0 };
    nino_control control;
    nino_job_options options;
    if (!NINO_TAKE(&control, request, NINO_CONTROL_INIT, err) ||
        !NINO_TAKE(&options, control.options, NINO_JOB_OPTIONS_INIT, err))
        return 0;
    const nino_control *c = &control;
    control.options = &options;
    const uint32_t id = a->requests + 1 ? a->requests + 1 : 1;
    nino_request_write(&text, id, c);
    if (a->ended) {
        nino_fail(err, NINO_ERR_IO, a->path, "the run has ended");
    } else if (text.failed) {
        nino_fail(err, NINO_ERR_NOMEM, a->path, "out of memory");
    } else if (text.len > NINO_WIRE_MAX_REQUEST) {
        nino_fail(err, NINO_ERR_ARG, c->name ? c->name : a->path,
                  "is larger than the 16 MiB of one request");
    } else {
        const nino_wire_head h = { NINO_WIRE_REQUEST, (uint32_t) text.len };
        const size_t before = a->out.len;
        nino_buf_add(&a->out, &h, sizeof(h));
        nino_buf_add(&a->out, text.data, text.len);
        nino_buf_release(&text);
        if (!a->out.failed && nino_attach_flush(a))
            return a->requests = id;
        if (a->out.failed) { // as if nothing had been asked
            a->out.failed = false;
            a->out.len = before;
            nino_fail(err, NINO_ERR_NOMEM, a->path, "out of memory");
        } else {
            nino_fail(err, NINO_ERR_IO, a->path, "the run has ended");
        }
    }
    nino_buf_release(&text);
    return 0;
}

bool nino_control_pending(const nino_attach *a) { return a->sent < a->out.len; }

// ---- answers -----------------------------------------------------------------------------------

bool nino_control_take_frame(nino_attach *a, uint32_t type, const char *body, size_t n)
{
    if (type == NINO_WIRE_STATE) {
        nino_buf_clear(&a->state);
        nino_buf_add(&a->state, body, n);
        a->is_state_new = true;
        return !a->state.failed;
    }
    if (type != NINO_WIRE_REPLY)
        return true;
    nino_reply_text *r = malloc(sizeof(*r) + n + 1);
    if (!r)
        return false;
    r->next = NULL;
    r->len = n;
    memcpy(r->json, body, n);
    r->json[n] = 0;
    if (a->last_reply)
        a->last_reply->next = r;
    else
        a->first_reply = r;
    a->last_reply = r;
    return true;
}

static void read_reply(const nino_json *v, nino_control_reply *out)
{
    uint64_t id = 0;
    nino_status st = NINO_ERR_FORMAT;
    const char *where = nino_json_str(nino_json_get(v, "where"));
    const char *msg = nino_json_str(nino_json_get(v, "message"));
    const char *text = nino_json_str(nino_json_get(v, "text"));
    nino_json_u64(nino_json_get(v, "id"), &id);
    nino_json_u64(nino_json_get(v, "job"), &out->job);
    nino_json_u64(nino_json_get(v, "bytes"), &out->bytes);
    out->request = (uint32_t) id;
    out->text = text ? text : "";
    if (!nino_status_parse(nino_json_str(nino_json_get(v, "status")), &st))
        nino_fail(&out->err, st, "", "the answer makes no sense");
    else if (st)
        nino_fail(&out->err, st, where ? where : "", "%s", msg ? msg : "");
}

bool nino_control_next(nino_attach *a, nino_control_reply *out)
{
    nino_reply_text *r = a->first_reply;
    if (!r)
        return false;
    const nino_json_limits limits = { .max_bytes = NINO_WIRE_MAX, .max_string = NINO_WIRE_MAX };
    *out = (nino_control_reply){ .text = "" };
    nino_json_doc_destroy(&a->reply);
    if (!nino_json_parse(r->json, r->len, "answer", &limits, &a->reply, &out->err))
        read_reply(a->reply->root, out);
    a->first_reply = r->next;
    if (!a->first_reply)
        a->last_reply = NULL;
    free(r);
    return true;
}

nino_status nino_control_call(nino_attach *a, const nino_control *c, int ms,
                              nino_control_reply *reply, nino_error *err)
{
    nino_control_reply r = { .text = "" };
    nino_error e = { .code = NINO_OK };
    const uint64_t until = nino_now_ns() + (uint64_t) ms * 1000000u;
    const uint32_t id = nino_control_send(a, c, &e);
    while (id) {
        nino_event ev[128];
        size_t n;
        const nino_status st = nino_attach_read(a, ev, 128, &n, &e);
        while (nino_control_next(a, &r))
            if (r.request == id) {
                if (reply)
                    *reply = r;
                if (err && r.err.code)
                    *err = r.err;
                return r.err.code;
            }
        if (st)
            break;
        const uint64_t now = nino_now_ns();
        struct pollfd p = { a->fd, POLLIN | (nino_control_pending(a) ? POLLOUT : 0), 0 };
        if (now >= until) {
            nino_fail(&e, NINO_ERR_IO, a->path, "does not answer");
            break;
        }
        if (!n)
            poll(&p, 1, (int) ((until - now) / 1000000u) + 1);
    }
    if (err)
        *err = e;
    return e.code;
}

void nino_control_close(nino_attach *a)
{
    while (a->first_reply) {
        nino_reply_text *r = a->first_reply;
        a->first_reply = r->next;
        free(r);
    }
    nino_json_doc_destroy(&a->reply);
    nino_buf_release(&a->out);
    nino_buf_release(&a->state);
    nino_queue_view_destroy(&a->queue);
}
