// What the worker is asked and what it tells, over its socket. Everything of an engine happens on the
// main loop: a child watch, a line reader (engine_process.c) and sources of the socket.
#include "engine/engine_priv.h"

#include <glib-unix.h>
#include <string.h>

#include "base/i18n.h"

#define ATTACH_RETRY_MS 30
#define DRAIN_BATCH 512

typedef struct Request {
    uint32_t number; // 0: not sent yet
    NinoReply done;
    gpointer user;
    nino_control control; // only while it waits; the texts are copies
    nino_job_options options;
    char *workflow, *name, *output_dir;
} Request;

G_DEFINE_TYPE(NinoEngine, nino_engine, G_TYPE_OBJECT)
enum { STATE, QUEUE, EVENTS, LOG, REFUSED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void job_free(gpointer p)
{
    NinoJob *j = p;
    g_free(j->name);
    g_free(j->error);
    g_free(j->error_where);
    g_strfreev(j->outputs);
    g_free(j);
}

static void request_free(Request *r)
{
    g_free(r->workflow);
    g_free(r->name);
    g_free(r->output_dir);
    g_free(r);
}

void nino_engine_set_state(NinoEngine *e, NinoEngineState state, const char *message)
{
    char *text = g_strdup(message);
    g_free(e->message);
    e->message = text;
    e->state = state;
    g_signal_emit(e, signals[STATE], 0);
}

// ---- requests -----------------------------------------------------------------------------------

static gboolean on_writable(gint fd, GIOCondition condition, gpointer user);

static void engine_answer(NinoEngine *e, Request *r, const nino_control_reply *reply)
{
    if (r->done)
        r->done(r->user, reply);
    else if (reply && reply->err.code)
        g_signal_emit(e, signals[REFUSED], 0, reply->err.msg);
    request_free(r);
}

static void send_waiting(NinoEngine *e)
{
    for (GList *l = e->requests.head; l && e->attach; l = l->next) {
        Request *r = l->data;
        if (!r->number)
            r->number = nino_control_send(e->attach, &r->control, NULL);
    }
    if (e->attach && nino_control_pending(e->attach) && !e->write_source)
        e->write_source = g_unix_fd_add(nino_attach_fd(e->attach), G_IO_OUT, on_writable, e);
}

// Those that nobody will answer any more; others wait on.
static void drop_sent(NinoEngine *e)
{
    GQueue old = e->requests;
    g_queue_init(&e->requests);
    Request *r;
    while ((r = g_queue_pop_head(&old))) {
        if (!r->number)
            g_queue_push_tail(&e->requests, r);
        else
            engine_answer(e, r, NULL);
    }
}

static void take_replies(NinoEngine *e)
{
    nino_control_reply reply;
    while (e->attach && nino_control_next(e->attach, &reply)) {
        Request *r = g_queue_pop_head(&e->requests);
        if (r)
            engine_answer(e, r, &reply);
    }
}

void nino_engine_send(NinoEngine *e, const nino_control *c, NinoReply done, gpointer user)
{
    Request *r = g_new0(Request, 1);
    r->done = done;
    r->user = user;
    r->control = *c;
    if (c->workflow) {
        r->control.workflow_bytes = c->workflow_bytes ? c->workflow_bytes : strlen(c->workflow);
        r->control.workflow = r->workflow =
            g_strndup(c->workflow, r->control.workflow_bytes); // keeps until it is sent
    }
    r->control.name = r->name = g_strdup(c->name);
    if (c->options) { // of its texts the app only sets the folder
        r->options = *c->options;
        r->options.output_dir = r->output_dir = g_strdup(c->options->output_dir);
        r->control.options = &r->options;
    }
    g_queue_push_tail(&e->requests, r);
    if (e->attach)
        send_waiting(e);
}

void nino_engine_simple(NinoEngine *e, nino_control_cmd cmd, guint64 job)
{
    const nino_control c = { NINO_CONTROL_INIT, .cmd = cmd, .job = job };
    nino_engine_send(e, &c, NULL, NULL);
}

// ---- the queue ----------------------------------------------------------------------------------

static NinoJob *copy_job(const nino_queue_job *q)
{
    NinoJob *j = g_new0(NinoJob, 1);
    j->id = q->id;
    j->state = q->state;
    j->name = g_strdup(q->name);
    j->scope = q->scope;
    j->queued_s = q->queued_s;
    j->started_s = q->started_s;
    j->ended_s = q->ended_s;
    j->lost = q->lost > 0;
    j->outputs = g_new0(char *, q->n_outputs + 1);
    for (size_t i = 0; i < q->n_outputs; i++)
        j->outputs[i] = g_strdup(q->outputs[i]);
    if (q->state == NINO_QUEUE_FAILED || q->err.code) {
        j->error = g_strdup(q->err.msg);
        j->error_where = g_strdup(q->err.where);
    }
    return j;
}

static void take_queue(NinoEngine *e)
{
    const nino_queue *q = e->attach ? nino_control_queue(e->attach) : NULL;
    if (!q || (q->version == e->queue_version && e->queue_version))
        return;
    e->queue_version = q->version;
    g_ptr_array_set_size(e->jobs, 0);
    for (size_t i = 0; i < q->n_jobs; i++)
        g_ptr_array_add(e->jobs, copy_job(&q->jobs[i]));
    e->is_paused = q->is_paused;
    g_free(e->notice);
    e->notice = g_strdup(q->notice);
    g_free(e->device);
    e->device = g_strdup(q->device);
    g_signal_emit(e, signals[QUEUE], 0);
}

void nino_engine_lose_jobs(NinoEngine *e)
{
    for (guint i = 0; i < e->jobs->len; i++) {
        NinoJob *j = e->jobs->pdata[i];
        if (j->state == NINO_QUEUE_RUNNING) {
            j->state = NINO_QUEUE_WAITING;
            j->lost = TRUE;
        }
    }
    g_signal_emit(e, signals[QUEUE], 0);
}

// ---- the socket ---------------------------------------------------------------------------------

static void close_attach(NinoEngine *e)
{
    g_clear_handle_id(&e->attach_timer, g_source_remove);
    g_clear_handle_id(&e->source, g_source_remove);
    g_clear_handle_id(&e->write_source, g_source_remove);
    if (e->attach)
        nino_attach_close(&e->attach);
    e->queue_version = 0;
}

void nino_engine_hang_up(NinoEngine *e)
{
    close_attach(e);
    drop_sent(e);
}

gboolean nino_engine_drain(NinoEngine *e)
{
    nino_event batch[DRAIN_BATCH];
    while (e->attach) {
        size_t n = 0;
        const nino_status st = nino_attach_read(e->attach, batch, DRAIN_BATCH, &n, NULL);
        take_queue(e); // first: what jobs the events belong to
        if (n)
            g_signal_emit(e, signals[EVENTS], 0, batch, (gulong) n);
        take_replies(e);
        if (st)
            return FALSE;
        if (n < DRAIN_BATCH)
            break;
    }
    return e->attach != NULL;
}

// A run that we only watched has ended; its last events stay on the screen.
static void lost_contact(NinoEngine *e)
{
    nino_engine_hang_up(e);
    if (e->is_foreign) {
        e->is_foreign = FALSE;
        for (guint i = 0; i < e->jobs->len; i++) { // nobody tells any more how it went
            NinoJob *j = e->jobs->pdata[i];
            if (j->state == NINO_QUEUE_RUNNING)
                j->state = NINO_QUEUE_DONE;
        }
        nino_engine_set_state(e, NINO_ENGINE_OFF, _("The run that was watched has ended"));
    } else if (e->adopted) { // of a child, its exit tells more
        e->adopted = 0;
        nino_engine_worker_ended(e, _("The worker has ended"));
    }
}

static gboolean on_socket(gint fd, GIOCondition condition, gpointer user)
{
    (void) fd, (void) condition;
    NinoEngine *e = user;
    if (nino_engine_drain(e))
        return G_SOURCE_CONTINUE;
    e->source = 0;
    lost_contact(e);
    return G_SOURCE_REMOVE;
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer user)
{
    (void) fd, (void) condition;
    NinoEngine *e = user;
    if (e->attach && !nino_engine_drain(e)) { // reading also goes on sending
        e->write_source = 0;
        return G_SOURCE_REMOVE;
    }
    if (e->attach && nino_control_pending(e->attach))
        return G_SOURCE_CONTINUE;
    e->write_source = 0;
    return G_SOURCE_REMOVE;
}

static void connected(NinoEngine *e, nino_attach *attach)
{
    e->attach = attach;
    e->source = g_unix_fd_add(nino_attach_fd(attach), G_IO_IN | G_IO_HUP | G_IO_ERR, on_socket, e);
    nino_engine_set_state(e, NINO_ENGINE_READY, "");
    send_waiting(e);
}

static gboolean try_attach(gpointer user)
{
    NinoEngine *e = user;
    const int pid = nino_engine_worker_pid(e);
    g_autofree char *target = g_strdup_printf("%d", pid);
    nino_attach *a = pid ? nino_attach_open(target, NULL) : NULL;
    if (!a && e->adopted && !nino_engine_has_survivor(e)) { // it was about to end
        e->adopted = 0;
        e->attach_timer = 0;
        nino_engine_start(e);
        return G_SOURCE_REMOVE;
    }
    if (pid && !a)
        return G_SOURCE_CONTINUE;
    e->attach_timer = 0;
    if (a)
        connected(e, a);
    return G_SOURCE_REMOVE;
}

void nino_engine_attach_later(NinoEngine *e)
{
    e->attach_timer = g_timeout_add(ATTACH_RETRY_MS, try_attach, e);
}

// ---- somebody else's run ------------------------------------------------------------------------

gboolean nino_engine_attach(NinoEngine *e, const char *target, GError **error)
{
    nino_error err = { 0 };
    nino_attach *a = nino_attach_open(target, &err);
    if (!a) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s%s%s", err.where,
                    *err.where ? ": " : "", err.msg);
        return FALSE;
    }
    nino_engine_hang_up(e);
    e->is_foreign = nino_engine_worker_pid(e) != nino_attach_pid(a);
    g_ptr_array_set_size(e->jobs, 0);
    connected(e, a);
    return TRUE;
}

void nino_engine_detach(NinoEngine *e)
{
    if (!e->is_foreign)
        return;
    nino_engine_hang_up(e);
    e->is_foreign = FALSE;
    g_ptr_array_set_size(e->jobs, 0);
    g_signal_emit(e, signals[QUEUE], 0);
    nino_engine_set_state(e, NINO_ENGINE_OFF, "");
    if (e->process || e->adopted) // back to our own worker
        nino_engine_attach_later(e);
    else if (e->was_started) // it had nothing to do, and ended
        nino_engine_start(e);
}

// ---- reading ------------------------------------------------------------------------------------

gboolean nino_engine_is_attached(NinoEngine *e) { return e->is_foreign; }
NinoEngineState nino_engine_state(NinoEngine *e) { return e->state; }
const char *nino_engine_message(NinoEngine *e) { return e->message ? e->message : ""; }
GPtrArray *nino_engine_jobs(NinoEngine *e) { return e->jobs; }
gboolean nino_engine_is_paused(NinoEngine *e) { return e->is_paused; }
const char *nino_engine_notice(NinoEngine *e) { return e->notice ? e->notice : ""; }
const char *nino_engine_device(NinoEngine *e) { return e->device ? e->device : ""; }

int nino_engine_pid(NinoEngine *e)
{
    if (e->attach)
        return nino_attach_pid(e->attach);
    return nino_engine_worker_pid(e);
}

const NinoJob *nino_engine_running(NinoEngine *e)
{
    for (guint i = 0; i < e->jobs->len; i++) {
        const NinoJob *j = e->jobs->pdata[i];
        if (j->state == NINO_QUEUE_RUNNING)
            return j;
    }
    return NULL;
}

const char *nino_engine_name(void *engine, uint32_t id)
{
    NinoEngine *e = engine;
    return e->attach ? nino_attach_name(e->attach, id) : "";
}

void nino_engine_set_options(NinoEngine *e, const char *const *models, const char *input,
                             const char *output, const char *device, const char *object_info)
{
    g_strfreev(e->models);
    g_free(e->input);
    g_free(e->output);
    g_free(e->device_option);
    g_free(e->object_info);
    e->object_info = g_strdup(object_info);
    e->models = g_strdupv((char **) models);
    e->input = g_strdup(input);
    e->output = g_strdup(output);
    e->device_option = g_strdup(device);
}

// ---- the object ---------------------------------------------------------------------------------

static void engine_finalize(GObject *o)
{
    NinoEngine *e = NINO_ENGINE(o);
    g_cancellable_cancel(e->cancellable); // pending callbacks see it and do not touch e
    close_attach(e);
    Request *r;
    while ((r = g_queue_pop_head(&e->requests)))
        request_free(r);
    nino_engine_end_worker(e);
    g_clear_object(&e->process);
    g_clear_object(&e->cancellable);
    nino_engine_set_options(e, NULL, NULL, NULL, NULL, NULL);
    g_free(e->message);
    g_string_free(e->words, TRUE);
    g_free(e->notice);
    g_free(e->device);
    g_ptr_array_unref(e->jobs);
    G_OBJECT_CLASS(nino_engine_parent_class)->finalize(o);
}

static void nino_engine_class_init(NinoEngineClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = engine_finalize;
    const GType type = G_TYPE_FROM_CLASS(klass);
#define SIGNAL(id, name, n, ...)                                                                   \
    signals[id] = g_signal_new(name, type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, n, \
                               ##__VA_ARGS__)
    SIGNAL(STATE, "state", 0);
    SIGNAL(QUEUE, "queue", 0);
    SIGNAL(EVENTS, "events", 2, G_TYPE_POINTER, G_TYPE_ULONG);
    SIGNAL(LOG, "log", 1, G_TYPE_STRING);
    SIGNAL(REFUSED, "refused", 1, G_TYPE_STRING);
#undef SIGNAL
}

static void nino_engine_init(NinoEngine *e)
{
    e->jobs = g_ptr_array_new_with_free_func(job_free);
    e->words = g_string_new(NULL);
    g_queue_init(&e->requests);
}

NinoEngine *nino_engine_new(void) { return g_object_new(NINO_TYPE_ENGINE, NULL); }
