// Clients of the WebSocket without a worker: what each is told, in which order, and what is left out for
// those who do not read.
#include "core/serve/serve_priv.h"
#include "tests/served.h"

static int woken;

static void wake(void *priv, void *user)
{
    CHECK(priv == &woken && (!user || user == served_top));
    woken++;
}

static nino_serve_client *join(nino_serve *s, const char *target)
{
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = "GET", .host = "localhost",
                                  .target = target };
    nino_serve_client *c = nino_serve_join(s, &r, served_top);
    CHECK(c);
    return c;
}

// The next thing that it is told, NULL: nothing.
static const char *next(nino_serve_client *c, bool *is_over)
{
    static char text[4096];
    const char *data;
    size_t len;
    bool is_text;
    if (!nino_serve_next(c, &data, &len, &is_text, is_over))
        return NULL;
    if (!is_text)
        return data;
    snprintf(text, sizeof(text), "%.*s", (int) len, data);
    return text;
}

static void says(nino_serve_client *c, const char *what)
{
    bool is_over;
    const char *said = next(c, &is_over);
    if (!said || !strstr(said, what))
        fprintf(stderr, "said: %s\n", said ? said : "nothing");
    CHECK(said && strstr(said, what) && !is_over);
}

static void silent(nino_serve_client *c)
{
    bool is_over;
    CHECK(!next(c, &is_over) && !is_over);
}

static void names(nino_serve *s)
{
    nino_serve_client *a = join(s, "/ws?clientId=a"), *b = join(s, "/ws?x=1&clientId=b");
    nino_serve_client *others[] = { join(s, "/ws"), join(s, "/ws?clientId="),
                                    join(s, "/ws?clientId=%zz") };
    says(a, "\"sid\":\"a\"");
    says(b, "\"sid\":\"b\"");
    for (int i = 0; i < 3; i++) // a name of its own
        says(others[i], "\"queue_remaining\":0");
    serve_post(s, "a", SERVE_KEEP, "for a", 5);
    serve_post(s, "", SERVE_KEEP, "for all", 7);
    serve_post(s, "nobody", SERVE_KEEP, "lost", 4);
    says(a, "for a");
    says(a, "for all");
    says(b, "for all");
    silent(a);
    silent(b);
    CHECK(serve_wants_pictures(s, "b") && serve_wants_pictures(s, "") &&
          !serve_wants_pictures(s, "c"));
    nino_serve_leave(&others[1]); // from the middle, with something unread
    nino_serve_leave(&a);
    nino_serve_leave(&others[0]);
    nino_serve_leave(&others[2]);
    CHECK(!serve_wants_pictures(s, "a") && woken);
    nino_serve_leave(&b);
    nino_serve_leave(&b);
    nino_serve_leave(NULL);
    CHECK(!serve_wants_pictures(s, ""));
}

static void hears(nino_serve *s)
{
    static const char *const nothing[] = { "no JSON", "{}", "{\"type\":5}", "{\"type\":\"other\"}",
                                           "[]" };
    nino_serve_client *c = join(s, "/ws");
    says(c, "status");
    for (int i = 0; i < 5; i++)
        nino_serve_hear(c, nothing[i], strlen(nothing[i]));
    silent(c);
    static const char flags[] =
        "{\"type\":\"feature_flags\",\"data\":{\"supports_preview_metadata\":%s}}";
    static const char *const values[] = { "true", "false", "\"yes\"" };
    for (int i = 0; i < 3; i++) {
        char text[100];
        snprintf(text, sizeof(text), flags, values[i]);
        nino_serve_hear(c, text, strlen(text));
        says(c, "\"max_upload_size\":1048576");
    }
    nino_serve_leave(&c);
}

// Previews: only the newest, with what it belongs to where a client takes that, and only for whose job it is.
static void pictures(nino_serve *s)
{
    static const char flags[] =
        "{\"type\":\"feature_flags\",\"data\":{\"supports_preview_metadata\":true}}";
    nino_serve_client *plain = join(s, "/ws?clientId=p"), *rich = join(s, "/ws?clientId=r");
    serve_record *r = serve_record_create();
    bool is_over;
    CHECK(r);
    snprintf(r->current, sizeof(r->current), "7");
    says(plain, "status");
    says(rich, "status");
    nino_serve_hear(rich, flags, strlen(flags));
    says(rich, "feature_flags");
    serve_post(s, "", SERVE_PROGRESS, "10 %", 4);
    serve_post_picture(s, r, SERVE_PICTURE, "png1", 4);
    serve_post_picture(s, r, SERVE_PICTURE, "png2", 4);
    says(plain, "10 %");
    const char *data = next(plain, &is_over);
    CHECK(data && !memcmp(data, "\0\0\0\1\0\0\0\2png2", 12));
    silent(plain);
    says(rich, "10 %");
    data = next(rich, &is_over);
    CHECK(data && !memcmp(data, "\0\0\0\4\0\0", 6)); // then the length of the text that follows
    const size_t n = (size_t) (uint8_t) data[6] << 8 | (uint8_t) data[7];
    CHECK(memmem(data + 8, n, "\"node_id\":\"7\"", 13));
    silent(rich);
    snprintf(r->client, sizeof(r->client), "p");
    serve_post_picture(s, r, SERVE_PICTURE, "png3", 4);
    silent(rich);
    data = next(plain, &is_over);
    CHECK(data && !memcmp(data + 8, "png3", 4));
    serve_record_destroy(&r);
    nino_serve_leave(&plain);
    nino_serve_leave(&rich);
}

// Whoever comes later is told of what runs, if it is theirs or everybody's.
static void latecomers(nino_serve *s)
{
    serve_record *r = serve_record_create();
    CHECK(r);
    r->state = NINO_QUEUE_RUNNING;
    s->records = r;
    nino_serve_client *c = join(s, "/ws?clientId=c");
    says(c, "status");
    silent(c); // no node runs yet
    nino_serve_leave(&c);
    snprintf(r->current, sizeof(r->current), "7");
    snprintf(r->client, sizeof(r->client), "d");
    c = join(s, "/ws?clientId=c");
    says(c, "status");
    silent(c); // another's
    nino_serve_leave(&c);
    c = join(s, "/ws?clientId=d");
    says(c, "status");
    says(c, "\"executing\",\"data\":{\"node\":\"7\"");
    nino_serve_leave(&c);
    r->state = NINO_QUEUE_WAITING;
    c = join(s, "/ws?clientId=d");
    says(c, "status");
    silent(c);
    nino_serve_leave(&c);
    s->records = NULL;
    serve_record_destroy(&r);
}

// Who does not read loses pictures, then progress; who lets what must be told pile up is let go.
static void those_who_do_not_read(nino_serve *s)
{
    enum { MANY = 5000 };
    nino_serve_client *c = join(s, "/ws?clientId=slow");
    serve_record *r = serve_record_create();
    bool is_over = false;
    int n = 0;
    CHECK(r);
    says(c, "status");
    serve_post_picture(s, r, SERVE_PICTURE, "png", 3);
    for (int i = 0; i < MANY; i++)
        serve_post(s, "", SERVE_PROGRESS, "progress", 8);
    serve_post(s, "", SERVE_KEEP, "kept", 4);
    for (const char *said; (said = next(c, &is_over)); n++)
        CHECK(!is_over && (!strcmp(said, "progress") || !strcmp(said, "kept")));
    CHECK(n == 4096 && !is_over);
    static char big[9 << 20];
    memset(big, 'x', sizeof(big));
    serve_post(s, "", SERVE_PROGRESS, big, sizeof(big)); // two of them are too much: the older goes
    serve_post(s, "", SERVE_PROGRESS, big, sizeof(big));
    serve_post(s, "", SERVE_KEEP, big, sizeof(big));
    CHECK(next(c, &is_over) && !next(c, &is_over) && !is_over);
    for (int i = 0; i < MANY; i++)
        serve_post(s, "", SERVE_KEEP, "must be told", 12);
    for (n = 0; next(c, &is_over); n++)
        CHECK(!is_over);
    CHECK(n == 4096 && is_over);
    nino_serve_leave(&c);
    serve_record_destroy(&r);
}

// A result is nowhere else: previews make no room for themselves at its cost, and what is told beside it stays.
static void results(nino_serve *s)
{
    nino_serve_client *c = join(s, "/ws?clientId=results");
    serve_record *r = serve_record_create();
    static char big[20 << 20] = "\xff\xd8";
    bool is_over;
    CHECK(r);
    says(c, "status");
    for (int i = 0; i < 3; i++) {
        serve_post_picture(s, r, SERVE_RESULT, big, sizeof(big)); // each more than all else may be
        serve_post_picture(s, r, SERVE_PICTURE, "png", 3);
        serve_post(s, "", SERVE_KEEP, "kept", 4);
    }
    for (int i = 0; i < 3; i++) {
        const char *data = next(c, &is_over);
        CHECK(data && !is_over && !memcmp(data, "\0\0\0\1\0\0\0\1\xff\xd8", 10));
        if (i == 2) // only the newest preview
            CHECK((data = next(c, &is_over)) && !memcmp(data, "\0\0\0\1\0\0\0\2png", 11));
        says(c, "kept");
    }
    for (int i = 0; i < 14 && !is_over; i++)
        serve_post_picture(s, r, SERVE_RESULT, big, sizeof(big));
    while (next(c, &is_over))
        continue;
    CHECK(is_over);
    nino_serve_leave(&c);
    serve_record_destroy(&r);
}

int main(void)
{
    nino_serve *s = served_create(wake, &woken);
    names(s);
    hears(s);
    pictures(s);
    latecomers(s);
    those_who_do_not_read(s);
    results(s);
    served_destroy(&s);
    return 0;
}
