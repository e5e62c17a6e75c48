// The connection to Redis: where it is, who asks, and words sent there.
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { PORT = 6379, CONNECT_S = 5, ANSWER_S = 20 };

struct queue {
    redisContext *r;
    char *url; // what the members below point into
    const char *host, *path, *user, *password, *stream;
    int port;
    char shown[300], error[200];
};

static bool refuse_url(const char *cmd, const char *what)
{
    say("%s: --queue: %s: it is redis://[USER:PASSWORD@]HOST[:PORT]/STREAM or "
        "unix://[USER:PASSWORD@]/PATH?stream=STREAM",
        cmd, what);
    return false;
}

static bool parse_port(queue *q, char *host)
{
    char *colon = strrchr(host, ':'), *end = NULL;
    q->port = PORT;
    if (!colon || strchr(colon, ']'))
        return true;
    *colon = 0;
    q->port = (int) strtol(colon + 1, &end, 10);
    return colon[1] && !*end && q->port > 0 && q->port < 65536;
}

// "[USER:PASSWORD@]rest" -> rest
static char *parse_user(queue *q, char *text)
{
    char *at = strrchr(text, '@'), *colon = at ? strchr(text, ':') : NULL;
    if (!at)
        return text;
    *at = 0;
    if (colon)
        *colon = 0;
    q->user = *text && colon ? text : NULL;
    q->password = colon ? colon + 1 : text;
    return at + 1;
}

static bool parse_url(queue *q, const char *cmd)
{
    char *rest = strstr(q->url, "://"), *stream;
    if (!strncmp(q->url, "rediss://", 9)) {
        say("%s: --queue: TLS is not spoken: a tunnel (ssh -L, stunnel) brings redis:// there",
            cmd);
        return false;
    }
    const bool is_unix = !strncmp(q->url, "unix://", 7);
    if (!rest || (!is_unix && strncmp(q->url, "redis://", 8) != 0))
        return refuse_url(cmd, "not a place of Redis");
    rest += 3;
    stream = is_unix ? strstr(rest, "?stream=") : strrchr(rest, '/');
    if (!stream || !stream[is_unix ? 8 : 1])
        return refuse_url(cmd, "no stream is named");
    *stream = 0;
    q->stream = stream + (is_unix ? 8 : 1);
    rest = parse_user(q, rest);
    if (!*rest || (is_unix && *rest != '/'))
        return refuse_url(cmd, "no host or socket is named");
    if (is_unix) {
        q->path = rest;
    } else if (!parse_port(q, rest)) {
        return refuse_url(cmd, "the port is none");
    } else {
        q->host = *rest == '[' ? rest + 1 : rest;
        rest[strcspn(rest, "]")] = 0;
    }
    if (is_unix)
        snprintf(q->shown, sizeof(q->shown), "unix://%.150s?stream=%.80s", q->path, q->stream);
    else
        snprintf(q->shown, sizeof(q->shown), "redis://%.150s:%d/%.80s", q->host, q->port,
                 q->stream);
    return true;
}

queue *queue_create(const char *cmd, const char *url)
{
    queue *q = calloc(1, sizeof(*q));
    if (q && (q->url = strdup(url)) && parse_url(q, cmd)) {
        if (!q->password)
            q->password = getenv("NINODES_REDIS_PASSWORD");
        return q;
    }
    queue_destroy(&q);
    return NULL;
}

void queue_destroy(queue **pq)
{
    queue *q = *pq;
    if (!q)
        return;
    if (q->r)
        redisFree(q->r);
    free(q->url);
    free(q);
    *pq = NULL;
}

const char *queue_shown(const queue *q) { return q->shown; }
const char *queue_stream(const queue *q) { return q->stream; }
const char *queue_error(const queue *q) { return q->error; }

static void hang_up(queue *q)
{
    if (q->r)
        redisFree(q->r);
    q->r = NULL;
}

// An answer that is not what was hoped for, or none. Takes r.
static bool is_refused(queue *q, redisReply *r)
{
    const bool is_bad = !r || r->type == REDIS_REPLY_ERROR;
    if (is_bad)
        snprintf(q->error, sizeof(q->error), "%.190s", r ? r->str : q->r ? q->r->errstr : "");
    if (r)
        freeReplyObject(r);
    return is_bad;
}

static bool log_in(queue *q)
{
    if (!q->password || !*q->password)
        return true;
    const char *word[] = { "AUTH", q->user ? q->user : q->password, q->password };
    return !is_refused(q, redisCommandArgv(q->r, q->user ? 3 : 2, word, NULL));
}

static bool connect_now(queue *q)
{
    const struct timeval soon = { CONNECT_S, 0 }, later = { ANSWER_S, 0 };
    if (q->r && !q->r->err)
        return true;
    hang_up(q);
    q->r = q->path ? redisConnectUnixWithTimeout(q->path, soon)
                   : redisConnectWithTimeout(q->host, q->port, soon);
    if (!q->r || q->r->err)
        snprintf(q->error, sizeof(q->error), "%.190s", q->r ? q->r->errstr : "out of memory");
    else if (redisSetTimeout(q->r, later) == REDIS_OK && log_in(q))
        return true;
    hang_up(q);
    return false;
}

redisReply *queue_send(queue *q, int n, const char **word, const size_t *len)
{
    if (!connect_now(q))
        return NULL;
    redisReply *r = redisCommandArgv(q->r, n, word, len);
    if (!r) {
        snprintf(q->error, sizeof(q->error), "%.190s", q->r->errstr);
        hang_up(q); // the next one tries again
    } else if (r->type == REDIS_REPLY_ERROR) {
        snprintf(q->error, sizeof(q->error), "%.190s", r->str);
    }
    return r;
}

bool queue_script(queue *q, const char *script, char *out, size_t size, const char *const *arg)
{
    int n = 4;
    while (arg[n - 4])
        n++;
    const char **word = calloc((size_t) n, sizeof(*word));
    if (!word)
        return false;
    word[0] = "EVAL";
    word[1] = script;
    word[2] = "1";
    word[3] = q->stream;
    memcpy(word + 4, arg, (size_t) (n - 4) * sizeof(*word));
    redisReply *r = queue_send(q, n, word, NULL);
    free(word);
    const bool ok = r && (r->type == REDIS_REPLY_STRING || r->type == REDIS_REPLY_STATUS);
    if (ok)
        snprintf(out, size, "%s", r->str);
    if (r)
        freeReplyObject(r);
    return ok;
}

static redisReply *get_field(queue *q, const char *id, const char *field)
{
    char key[400];
    snprintf(key, sizeof(key), "%s:job:%s", q->stream, id);
    const char *word[] = { "HGET", key, field };
    return queue_send(q, 3, word, NULL);
}

bool queue_field(queue *q, const char *id, const char *field, char *out, size_t size)
{
    redisReply *r = get_field(q, id, field);
    const bool ok = r && r->type != REDIS_REPLY_ERROR;
    snprintf(out, size, "%s", ok && r->type == REDIS_REPLY_STRING ? r->str : "");
    if (r)
        freeReplyObject(r);
    return ok;
}

char *queue_long_field(queue *q, const char *id, const char *field, size_t *len)
{
    redisReply *r = get_field(q, id, field);
    char *out = NULL;
    if (r && r->type == REDIS_REPLY_STRING && (out = malloc((size_t) r->len + 1))) {
        memcpy(out, r->str, (size_t) r->len);
        out[r->len] = 0;
        *len = (size_t) r->len;
    }
    if (r)
        freeReplyObject(r);
    return out;
}

bool queue_is_id(const char *word)
{
    const size_t a = strspn(word, "0123456789");
    return a && a < 20 && word[a] == '-' && word[a + 1] &&
           !word[a + 1 + strspn(word + a + 1, "0123456789")] && strlen(word) < 40;
}
