// ninodes serve: ComfyUI's HTTP and WebSocket interface to a worker.
#include "commands.h"
#include "serve/serve.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { DEFAULT_PORT = 8188, DEFAULT_CLIENTS = 256, MAX_TOKEN = 400, METRIC_RECORDS = 4096 };

typedef struct serving {
    const options *o;
    nino_serve *serve;
    http *http;
    worker_child *worker;
    nino_stats *stats;
    nino_history *history;
    bool is_attached, is_over;
    int pid; // of the process whose events they are
} serving;

static http *running; // for the signal
static void stop_serving(void) { http_stop(running); }

// ---- the command line --------------------------------------------------------------------------

static bool is_loopback(const char *a)
{
    return !strcmp(a, "localhost") || !strcmp(a, "::1") || !strncmp(a, "127.", 4);
}

// "8188", "127.0.0.1:8188", "[::1]:8188", "0.0.0.0".
static bool parse_listen(const char *text, char *address, size_t size, int *port)
{
    const char *colon = *text == '[' ? strstr(text, "]:") : strrchr(text, ':');
    const char *digits = colon ? colon + (*colon == ']' ? 2 : 1) : text;
    char *end;
    *port = DEFAULT_PORT;
    snprintf(address, size, "127.0.0.1");
    const bool has_port = *digits && strspn(digits, "0123456789") == strlen(digits);
    if (has_port) {
        const unsigned long v = strtoul(digits, &end, 10);
        if (v > 65535)
            return false;
        *port = (int) v;
        if (!colon)
            return true;
    } else if (colon) {
        return false;
    }
    size_t n = colon ? (size_t) (colon - text) : strlen(text);
    const bool is_v6 = *text == '[';
    if (is_v6) {
        text++;
        n -= colon ? 1 : text[n - 2] == ']' ? 2 : 0;
    }
    if (!n || n >= size)
        return false;
    memcpy(address, text, n);
    address[n] = 0;
    return true;
}

static bool read_token(const char *given, char *out, size_t size)
{
    *out = 0;
    if (!given)
        return true;
    if (*given == '@') {
        FILE *f = fopen(given + 1, "re");
        const bool ok = f && fgets(out, (int) size, f);
        if (f)
            fclose(f);
        if (!ok) {
            say("serve: --token: cannot read %s", given + 1);
            return false;
        }
        out[strcspn(out, "\r\n")] = 0;
    } else {
        snprintf(out, size, "%s", strlen(given) < size ? given : "");
    }
    const size_t n = strlen(out);
    bool ok = n >= 8;
    for (size_t i = 0; i < n; i++)
        ok &= isalnum((unsigned char) out[i]) || strchr("-._~", out[i]) != NULL;
    if (!ok)
        say("serve: --token: at least 8 letters, digits or -._~ (openssl rand -hex 16 makes one)");
    return ok;
}

// A folder as the worker, too, is to name it.
static bool whole_path(const char *given, bool make, char *out)
{
    if (make)
        mkdir(given, 0777);
    if (realpath(given, out))
        return true;
    say("serve: %s: %s", given, strerror(errno));
    return false;
}

// ---- serving -----------------------------------------------------------------------------------

static void on_events(void *priv, const nino_event *ev, size_t n,
                      const char *(*name)(void *name_priv, uint32_t id), void *name_priv)
{
    serving *s = priv;
    nino_stats_add(s->stats, ev, n, name, name_priv);
    nino_history_add(s->history, ev, n, name, name_priv);
}

static char *metrics_text(void *priv, const nino_queue *q)
{
    serving *s = priv;
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        return NULL;
    metrics_print(f, s->stats, s->history, q);
    fclose(f);
    return text;
}

static void renew_totals(serving *s)
{
    nino_stats_destroy(&s->stats);
    nino_history_destroy(&s->history);
    s->stats = nino_stats_create();
    s->history = nino_history_create(METRIC_RECORDS);
}

// Keeps a worker attached.
static void tick(void *priv)
{
    serving *s = priv;
    if (s->is_attached && nino_serve_poll(s->serve, NULL)) {
        s->is_attached = false;
        http_worker(s->http);
    }
    bool is_over = false;
    const char *socket = worker_child_socket(s->worker, &is_over);
    if (is_over) {
        s->is_over = true;
        http_stop(s->http);
    } else if (socket && !s->is_attached && !nino_serve_attach(s->serve, socket, NULL)) {
        renew_totals(s);
        s->is_attached = true;
        http_worker(s->http);
    }
}

// The address is told when there is somebody behind it.
static void wait_for_worker(serving *s)
{
    while (!s->is_attached && !s->is_over && !signals_stopped()) {
        tick(s);
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    }
}

static bool are_sites(const options *o, const char *token)
{
    for (size_t i = 0; i < o->origins.n; i++) {
        const char *site = o->origins.item[i], *host = strstr(site, "://");
        if (!strcmp(site, "*") && !*token)
            say("serve: --allow-origin *: pages of any site could ask: --token TEXT says what they "
                "must know");
        else if (strcmp(site, "*") != 0 && (!host || !host[3] || strpbrk(host + 3, "/?# \t\r\n")))
            say("serve: --allow-origin %s: is no site such as https://art.example.org", site);
        else
            continue;
        return false;
    }
    return true;
}

static int serve_until_end(serving *s, const http_params *hp, const char *token)
{
    char why[256];
    s->http = http_open(hp, why, sizeof(why));
    if (!s->http) {
        say("serve: %s", why);
        return EXIT_RUN;
    }
    running = s->http;
    signals_watch(stop_serving);
    wait_for_worker(s);
    if (s->is_over)
        return EXIT_DEVICE;
    const bool is_v6 = hp->address && strchr(hp->address, ':');
    printf("http://%s%s%s:%d/\n", is_v6 ? "[" : "", hp->address ? hp->address : "0.0.0.0",
           is_v6 ? "]" : "", http_port(s->http));
    fflush(stdout); // whoever started it waits for this line
    if (token && !s->o->quiet)
        say("serve: every request must know the token; a browser opens /?token=...");
    http_run(s->http);
    return s->is_over                                    ? EXIT_DEVICE
           : signals_stopped() && signals_stopped() != 2 ? 128 + signals_stopped()
           : signals_stopped()                           ? EXIT_SIGINT
                                                         : EXIT_OK;
}

int cmd_serve(const options *o)
{
    char address[256], token[MAX_TOKEN + 2], input[PATH_MAX], output[PATH_MAX], frontend[PATH_MAX],
        user[PATH_MAX + 8];
    nino_error err = { .code = NINO_OK };
    nino_ctx_params cp;
    nino_job_options jo;
    serving s = { .o = o };
    http_params hp = { .address = address, .tick = tick, .priv = &s };
    if (!parse_listen(o->listen ? o->listen : "8188", address, sizeof(address), &hp.port)) {
        say("serve: --listen %s: is not [ADDRESS:]PORT", o->listen);
        return EXIT_USAGE;
    }
    if (!read_token(o->token, token, sizeof(token)))
        return EXIT_USAGE;
    if (!is_loopback(address) && !*token) {
        say("serve: --listen %s: others can reach it there: --token TEXT says what they must know",
            address);
        return EXIT_USAGE;
    }
    if (!are_sites(o, token))
        return EXIT_USAGE;
    if (!whole_path(o->input ? o->input : "input", true, input) ||
        !whole_path(o->output ? o->output : "output", true, output) ||
        (o->frontend && !whole_path(o->frontend, false, frontend)))
        return EXIT_MISSING;
    fill_ctx_params(o, &cp, &jo);
    jo.input_dir = input;
    jo.output_dir = output;
    if (o->state)
        snprintf(user, sizeof(user), "%.*s/user", PATH_MAX - 1, o->state);
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT,
                                  .job = &jo,
                                  .user_dir = o->user    ? o->user
                                              : o->state ? user
                                                         : NULL,
                                  .frontend_dir = o->frontend ? frontend : NULL,
                                  .token = *token ? token : NULL,
                                  .hosts = o->hosts.item,
                                  .origins = o->origins.item,
                                  .images_workflow = o->images,
                                  .max_body = o->max_upload,
                                  .wake = http_wake,
                                  .events = on_events,
                                  .metrics = metrics_text,
                                  .priv = &s };
    hp.max_clients = o->max_clients ? (size_t) o->max_clients : DEFAULT_CLIENTS;
    hp.max_body = o->max_upload ? o->max_upload : (uint64_t) 100 << 20;
    renew_totals(&s);
    s.serve = hp.serve = nino_serve_create(&p, &err);
    s.worker = worker_child_create(o, input, output);
    int rc = EXIT_NOMEM;
    if (!s.serve)
        rc = report_error(o, "serve", &err, NULL);
    else if (s.worker && s.stats && s.history)
        rc = serve_until_end(&s, &hp, p.token);
    running = NULL;
    http_close(&s.http);
    nino_serve_destroy(&s.serve);
    worker_child_destroy(&s.worker);
    nino_stats_destroy(&s.stats);
    nino_history_destroy(&s.history);
    return rc;
}
