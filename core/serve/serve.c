// ComfyUI's interface to a worker: opening and closing, requests to the worker and its replies.
#include "core/serve/serve_priv.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/vars.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { EVENTS_AT_ONCE = 512, MAX_ROUNDS = 64 };
#define DEFAULT_BODY ((uint64_t) 100 << 20)

double serve_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const long us = t.tv_nsec / 1000;
    return (double) t.tv_sec * 1e3 + (double) us * 1e-3;
}

void serve_uuid(nino_serve *s, char out[37])
{
    unsigned char b[16];
    if (getrandom(b, sizeof(b), 0) != (ssize_t) sizeof(b))
        for (size_t i = 0; i < 16; i++) { // as good as it gets: they name, they guard nothing
            s->ids[0] = s->ids[0] * 6364136223846793005u + (uint64_t) (uintptr_t) s;
            b[i] = (unsigned char) (s->ids[0] >> 56);
        }
    b[6] = (unsigned char) ((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char) ((b[8] & 0x3f) | 0x80);
    for (size_t i = 0, n = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[n++] = '-';
        snprintf(out + n, 37 - n, "%02x", b[i]);
        n += 2;
    }
}

// ---- the worker --------------------------------------------------------------------------------

bool serve_send(nino_serve *s, const nino_control *c,
                void (*done)(nino_serve *s, void *what, const nino_control_reply *reply),
                void *what)
{
    serve_asked *a = s->attach ? calloc(1, sizeof(*a)) : NULL;
    if (!a)
        return false;
    *a = (serve_asked){ .number = nino_control_send(s->attach, c, NULL),
                        .done = done,
                        .what = what };
    if (!a->number) {
        free(a);
        return false;
    }
    serve_asked **at = &s->asked;
    while (*at)
        at = &(*at)->next;
    *at = a;
    return true;
}

void serve_tell_worker(nino_serve *s, nino_control_cmd cmd, uint64_t job)
{
    serve_send(s, &(nino_control){ NINO_CONTROL_INIT, .cmd = cmd, .job = job }, NULL, NULL);
}

void serve_forget(nino_serve *s, const void *what)
{
    for (serve_asked *a = s->asked; a; a = a->next)
        if (a->what == what)
            a->what = NULL;
}

static void answer_asked(nino_serve *s, serve_asked **at, const nino_control_reply *reply)
{
    serve_asked *a = *at;
    *at = a->next;
    if (a->what && a->done)
        a->done(s, a->what, reply);
    free(a);
}

static void take_replies(nino_serve *s)
{
    nino_control_reply reply;
    while (s->attach && nino_control_next(s->attach, &reply))
        for (serve_asked **at = &s->asked; *at; at = &(*at)->next)
            if ((*at)->number == reply.request) {
                answer_asked(s, at, &reply);
                break;
            }
}

static void lose_worker(nino_serve *s)
{
    if (s->attach)
        nino_attach_close(&s->attach);
    while (s->asked)
        answer_asked(s, &s->asked, NULL);
    s->queue_version = 0;
    s->n_held = 0;
    serve_lost_worker(s);
}

nino_status nino_serve_attach(nino_serve *s, const char *socket, nino_error *err)
{
    nino_attach *a = nino_attach_open(socket, err);
    if (!a)
        return NINO_ERR_IO;
    lose_worker(s);
    s->attach = a;
    return NINO_OK;
}

int nino_serve_fd(const nino_serve *s) { return s->attach ? nino_attach_fd(s->attach) : -1; }

bool nino_serve_is_pending(const nino_serve *s)
{
    return s->attach && nino_control_pending(s->attach);
}

nino_status nino_serve_poll(nino_serve *s, nino_error *err)
{
    nino_event ev[EVENTS_AT_ONCE];
    nino_status st = s->attach ? NINO_OK : NINO_ERR_IO;
    for (int i = 0; i < MAX_ROUNDS && !st; i++) { // a fast writer must not keep everybody waiting
        size_t n = 0;
        st = nino_attach_read(s->attach, ev, EVENTS_AT_ONCE, &n, err);
        take_replies(s);
        serve_take_queue(s, nino_control_queue(s->attach));
        if (n && s->params.events)
            s->params.events(s->params.priv, ev, n, nino_attach_name, s->attach);
        serve_take_events(s, ev, n);
        if (n < EVENTS_AT_ONCE)
            break;
    }
    if (s->attach)
        serve_check_ends(s);
    if (st && s->attach)
        lose_worker(s);
    return st;
}

// ---- create and destroy ------------------------------------------------------------------------

static bool serve_keep(nino_serve *s, const char **text)
{
    return !*text || (*text = nino_arena_strdup(s->arena, *text));
}

static bool serve_keep_list(nino_serve *s, const char *const **names)
{
    size_t n = 0;
    const char *const *given = *names;
    while (given && given[n])
        n++;
    const char **list = nino_arena_alloc(s->arena, (n + 1) * sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        if (!(list[i] = nino_arena_strdup(s->arena, given[i])))
            return false;
    *names = list;
    return list != NULL;
}

static nino_status open_folders(nino_serve *s, nino_error *err)
{
    char state[4096], user[4200];
    if (!s->params.user_dir) {
        if (!nino_state_dir(NULL, state, sizeof(state)))
            return nino_fail(err, NINO_ERR_MISSING, "user", "there is no home folder");
        snprintf(user, sizeof(user), "%s/user", state);
        if (!(s->params.user_dir = nino_arena_strdup(s->arena, user)))
            return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    }
    if (strlen(s->params.user_dir) > SERVE_MAX_USER_DIR)
        return nino_fail(err, NINO_ERR_ARG, "user", "the folder's name is longer than %d bytes",
                         SERVE_MAX_USER_DIR);
    if (!s->options.input_dir)
        s->options.input_dir = "input";
    if (!s->options.output_dir)
        s->options.output_dir = "output";
    return nino_file_mkdirs(s->params.user_dir, true, err);
}

static nino_status read_images_workflow(nino_serve *s, nino_error *err)
{
    if (!s->params.images_workflow)
        return NINO_OK;
    nino_graph *g = nino_graph_load_file(s->params.images_workflow, err);
    if (!g)
        return NINO_ERR_FORMAT;
    size_t len = 0;
    const char *text = nino_graph_json(g, &len);
    s->images_text = len ? strndup(text, len) : NULL;
    s->images_bytes = len;
    nino_graph_destroy(&g);
    return s->images_text ? NINO_OK : nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
}

static nino_status open_parts(nino_serve *s, const nino_serve_params *given, nino_error *err)
{
    nino_serve_params *p = &s->params;
    if (!NINO_TAKE(p, given, NINO_SERVE_PARAMS_INIT, err) ||
        !NINO_TAKE(&s->options, p->job, NINO_JOB_OPTIONS_INIT, err))
        return NINO_ERR_ARG;
    if (!(s->arena = nino_arena_create()) || !nino_options_keep(&s->options, s->arena) ||
        !serve_keep(s, &p->user_dir) || !serve_keep(s, &p->frontend_dir) ||
        !serve_keep(s, &p->token) || !serve_keep(s, &p->images_workflow) ||
        !serve_keep_list(s, &p->hosts) || !serve_keep_list(s, &p->origins))
        return nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
    p->job = &s->options;
    if (!p->max_body)
        p->max_body = DEFAULT_BODY;
    nino_status st = open_folders(s, err);
    if (st || (st = read_images_workflow(s, err)))
        return st;
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "",
                                 .job = &s->options };
    s->ctx = nino_ctx_create(&cp, err);
    return s->ctx ? NINO_OK : NINO_ERR_DEVICE;
}

nino_serve *nino_serve_create(const nino_serve_params *params, nino_error *err)
{
    nino_serve *s = calloc(1, sizeof(*s));
    if (!s) {
        nino_fail(err, NINO_ERR_NOMEM, "", "out of memory");
        return NULL;
    }
    if (open_parts(s, params, err))
        nino_serve_destroy(&s);
    return s;
}

void nino_serve_destroy(nino_serve **ps)
{
    nino_serve *s = ps ? *ps : NULL;
    if (!s)
        return;
    *ps = NULL;
    lose_worker(s);
    for (serve_record *r; (r = s->records);) {
        s->records = r->next;
        serve_record_destroy(&r);
    }
    nino_ctx_destroy(&s->ctx);
    free(s->held);
    free(s->images_text);
    nino_arena_destroy(&s->arena);
    free(s);
}
