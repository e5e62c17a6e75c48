// Every allocation of the leaf modules and of JSON fails once: a clean "nomem", nothing leaks,
// nothing is half-done.
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "tests/oom.h"

#include <dirent.h>

static nino_error err;

// st is OK exactly when nothing had to fail; says which.
static bool done(nino_status st, int may_fail)
{
    if (st)
        CHECK_STR(err.kind, "nomem");
    return oom_passed(st, &err, may_fail);
}

static void test_buf(int may_fail)
{
    nino_buf b = { 0 };
    size_t n = 0;
    for (; n < 3000 && !b.failed; n++)
        nino_buf_addf(&b, "%d", (int) (n % 10));
    CHECK(!b.failed || may_fail);
    if (b.failed) { // what was there stays, and is terminated
        CHECK(b.len == n - 1 && (!b.data || strlen(b.data) == b.len));
        nino_buf_add_json_string(&b, "x", 1);
        CHECK(b.len == n - 1);
    }
    nino_buf_release(&b);
}

static void test_arena(int may_fail)
{
    nino_arena *a = nino_arena_create();
    CHECK(a || may_fail);
    for (int i = 0; a && i < 2000; i++)
        CHECK(nino_arena_alloc(a, (size_t) i) || may_fail);
    CHECK(!a || nino_arena_strdup(a, "x") || may_fail);
    nino_arena_destroy(&a);
}

static int lines;
static void count_line(void *priv, nino_log_level level, const char *line)
{
    (void) priv, (void) level;
    lines += strlen(line) > 1000;
}

static void test_log(int may_fail)
{
    static char big[5000];
    const nino_log log = { count_line, NULL, NINO_LOG_DEBUG };
    (void) may_fail;
    memset(big, 'x', sizeof(big) - 1);
    lines = 0;
    nino_logf(&log, NINO_LOG_INFO, "%s", big);
    CHECK(lines == 1); // shortened perhaps, but said
}

static char text[20000]; // objects of more than a handful of keys, several arena chunks
static size_t text_len;

static void make_text(void)
{
    nino_buf b = { 0 };
    nino_buf_addc(&b, '{');
    for (int i = 0; i < 40; i++) {
        nino_buf_addf(&b, "%s\"node %d\": {", i ? ", " : "", i);
        for (int k = 0; k < 12; k++)
            nino_buf_addf(&b, "%s\"k%d\": [%d, \"text\"]", k ? ", " : "", k, i * k);
        nino_buf_addc(&b, '}');
    }
    nino_buf_addc(&b, '}');
    CHECK(!b.failed && b.len < sizeof(text));
    memcpy(text, b.data, b.len);
    text_len = b.len;
    nino_buf_release(&b);
}

static void test_parse(int may_fail)
{
    nino_json_doc *doc = NULL;
    if (done(nino_json_parse(text, text_len, "t", NULL, &doc, &err), may_fail)) {
        nino_buf b = { 0 };
        nino_json_write(&b, NULL, doc->root);
        CHECK(b.failed ? may_fail : b.len == text_len && !memcmp(b.data, text, text_len));
        nino_buf_release(&b);
    } else {
        CHECK(!doc);
    }
    nino_json_doc_destroy(&doc);
    // a refusal stays a refusal or becomes "nomem"
    const nino_status st = nino_json_parse("{\"a\": 1, \"a\": 2}", 16, "t", NULL, &doc, &err);
    CHECK(!doc && (st == NINO_ERR_FORMAT || (st == NINO_ERR_NOMEM && oom.fired)));
}

// An edit that fails leaves the document as it was; one that works changes only its member.
static void test_set(int may_fail)
{
    static const char big[] = "{\"x\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}";
    nino_buf before = { 0 }, after = { 0 };
    nino_json_doc *doc = NULL;
    long at = oom_pause();
    CHECK_OK(nino_json_parse(text, text_len, "t", NULL, &doc, &err), err);
    nino_json *obj = doc->root->child->next;
    nino_json_write(&before, doc, doc->root);
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%d", i);
        const uint32_t count = obj->count;
        oom_resume(at);
        const bool ok = done(nino_json_set(doc, obj, key, big, &err), may_fail);
        at = oom_pause();
        nino_buf_clear(&after);
        nino_json_write(&after, doc, doc->root);
        CHECK(obj->count == count + (ok && i >= 12));
        if (ok) {
            CHECK(nino_json_at(nino_json_get(nino_json_get(obj, key), "x"), 15));
            nino_buf_clear(&before);
            nino_buf_add(&before, after.data, after.len);
        } else {
            CHECK_STR(after.data, before.data);
        }
    }
    nino_buf_release(&before);
    nino_buf_release(&after);
    nino_json_doc_destroy(&doc);
}

static char folder[256];

static void test_file(int may_fail)
{
    char path[300], *data = NULL;
    size_t len = 0;
    done(nino_file_save(folder, "sub/f", true, text, text_len, &err), may_fail);
    // longer than the first buffer, as its size is not known before
    if (done(nino_file_read("/proc/self/smaps", 1 << 20, false, &data, &len, &err), may_fail)) {
        CHECK(len > 4096 && strlen(data) == len);
        free(data);
    } else {
        CHECK(!data);
    }
    snprintf(path, sizeof(path), "%s/sub", folder);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) // no .part
        CHECK(!strcmp(e->d_name, "f") || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."));
    if (d)
        closedir(d);
}

int main(void)
{
    char path[300];
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/ninodes-oom-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    CHECK(mkdtemp(folder));
    make_text();
    CHECK(oom_each(test_buf) > 4);
    CHECK(oom_each(test_arena) > 4);
    CHECK(oom_each(test_log) == 1);
    CHECK(oom_each(test_parse) > 10);
    CHECK(oom_each(test_set) > 2);
    CHECK(oom_each(test_file) > 3);
    snprintf(path, sizeof(path), "%s/sub/f", folder);
    CHECK(!remove(path));
    *strrchr(path, '/') = 0;
    CHECK(!remove(path) && !remove(folder));
    return 0;
}
