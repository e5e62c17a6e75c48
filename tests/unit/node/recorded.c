// What nodes give is what they gave: two cases of every class with inputs and values drawn by chance, and of each result its size and
// three sums, or its text, or the line of the error, as tests/data/recorded/nodes.txt has them (tests/unit/recorded.h). Cases that take
// long have no row. NINODES_TEST_CLASS: one class alone.
#include "core/base/hash.h"
#include "tests/unit/any_look.h"
#include "tests/unit/recorded.h"

#include <math.h>

enum { MAX_MS = 60000, QUICK_MS = 240, CASES = 2, LINE = 1600 };

static char *table; // NULL: it is written
static nino_ctx *ctx;
static char json[ANY_JSON];

// The case has its own numbers, whatever other classes there are.
static void seed_of(const char *key, int k)
{
    const nino_hash h = nino_hash_bytes(key, strlen(key));
    any_state = (h.lo ^ ((uint64_t) k + 1) * 0x9e3779b97f4a7c15u) | 1;
}

static void add(char *line, const char *fmt, ...)
{
    const size_t n = strlen(line);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line + n, LINE - n, fmt, ap);
    va_end(ap);
}

// On one line, and without the private folder.
static void add_text(char *line, const char *text)
{
    const char *dir = flow_temp();
    for (const char *p = text; *p && strlen(line) < LINE - 8; p++)
        if (!strncmp(p, dir, strlen(dir))) {
            add(line, "TMP");
            p += strlen(dir) - 1;
        } else if (*p == '\n' || *p == '\t' || *p == '\r') {
            add(line, "\\%c", *p == '\n' ? 'n' : *p == '\t' ? 't' : 'r');
        } else {
            add(line, "%c", *p);
        }
}

// What the table says of it is all sums of numbers above 0: those are the same to the last digits with any compiler.
static void add_raster(char *line, const nino_raster *p)
{
    const size_t n = (size_t) p->n * (size_t) p->height * (size_t) p->width * (size_t) p->channels;
    const float *x = p->data;
    double sum[3] = { 0 }; // of all without signs, of those above and below 0 with weights
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum[0] += fabs((double) x[i]);
        sum[x[i] < 0 ? 2 : 1] += fabs((double) x[i]) * (double) (state >> 33) / 1073741824.0;
    }
    add(line, " %dx%dx%dx%d", p->n, p->height, p->width, p->channels);
    for (int i = 0; i < 3; i++)
        add(line, " ~%.7g", n && !(sum[i] / (double) n < 1e-6) ? sum[i] / (double) n : 0);
}

// How the run of what stands in json ended. False: nothing that another run would say again.
static bool outcome(char *line)
{
    nino_raster p = { NINO_RASTER_INIT };
    nino_job_text texts[8];
    any_run r = any_run_begin(ctx, json, false, table ? MAX_MS : QUICK_MS);
    if (r.st) {
        add(line, "%d %s: ", (int) r.st, r.err.where);
        add_text(line, r.err.msg);
    } else {
        add(line, "ok");
    }
    for (size_t i = 0; !r.st && i < 3 && !nino_job_image(r.job, "y", i, &p, NULL); i++)
        add_raster(line, &p);
    for (size_t i = 0; !r.st && i < 3 && !nino_job_latent(r.job, "y", i, &p, NULL); i++)
        add_raster(line, &p);
    const size_t n = r.st ? 0 : nino_job_texts(r.job, texts, 8);
    for (size_t i = 0; i < n && i < 8; i++)
        if (!strcmp(texts[i].node, "y")) { // the others say how long it took, too
            add(line, " ");
            add_text(line, texts[i].text);
        }
    any_run_end(&r);
    return r.st != NINO_ERR_CANCELLED;
}

// The row that begins so; NULL: the table has none.
static char *row_of(const char *head)
{
    const size_t n = strlen(head);
    for (const char *p = table; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (!strncmp(p, head, n))
            return strndup(p, strcspn(p, "\n"));
    return NULL;
}

// 1: checked (or written), 0: no case, -1: another result than the table has.
static int check_case(const nino_node_def *d, int k)
{
    any_case c;
    char more[900], line[LINE] = "";
    seed_of(d->key, k);
    if (!any_make(&c, d) || !any_look_at(&c, more, sizeof(more)) || any_is_of_the_run(&c))
        return 0;
    any_json(&c, more, json, sizeof(json));
    add(line, "%s\t%d\t", d->key, k);
    char *want = table ? row_of(line) : NULL;
    if (!want && table)
        return 0;
    const bool is_one = outcome(line); // what takes long has no row
    int ok = 1;
    if (!table && is_one) {
        record_row("%s", line);
    } else if (table && !(is_one && recorded_is_same(line, want))) {
        fprintf(stderr, "%s\n  recorded: %s\n  now:      %s\n", strstr(json, "'x': {"), want, line);
        ok = -1;
    }
    free(want);
    return ok;
}

int main(void)
{
    const char *only = getenv("NINODES_TEST_CLASS");
    nino_error err = { 0 };
    size_t len;
    int n = 0, wrong = 0;
    if (!getenv("NINODES_TEST_RENEW"))
        CHECK_OK(
            nino_file_read("tests/data/recorded/nodes.txt", 1 << 24, false, &table, &len, &err),
            err);
    ctx = any_open();
    for (int i = 0; nino_node_defs[i]; i++) {
        for (int k = 0; k < CASES && (!only || !strcmp(only, nino_node_defs[i]->key)); k++) {
            const int got = check_case(nino_node_defs[i], k);
            n += got != 0;
            wrong += got < 0;
        }
        flow_forget_outputs();
    }
    printf("  %d cases, %d with another result\n", n, wrong);
    CHECK(only || n > 900);
    CHECK(!wrong);
    if (!table)
        recorded_check("nodes.txt");
    free(table);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
