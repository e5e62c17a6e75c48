// A run after another that differs in one value or link has the result of a run from nothing: what is taken from earlier runs is what
// would be computed now. A third of the classes of nodes, with inputs and values drawn by chance. NINODES_TEST_LONG: all, and
// more of them; NINODES_TEST_SEED: others; and NINODES_TEST_DEVICE, NINODES_TEST_CLASS, NINODES_TEST_SHOW.
#include "core/base/hash.h"
#include "tests/unit/any_look.h"

enum { MAX_MS = 4000 };

static nino_ctx *ctx;
static char json[ANY_JSON];

static void hash_raster(nino_hasher *h, const nino_raster *p)
{
    const int size[4] = { p->n, p->height, p->width, p->channels };
    nino_hasher_add(h, size, sizeof(size));
    nino_hasher_add(h, p->data,
                    sizeof(float) * (size_t) p->n * (size_t) p->height * (size_t) p->width *
                        (size_t) p->channels);
}

// How a run of what stands in json ends, and with what. False: it took too long.
static bool run(bool is_anew, nino_hash *out, nino_error *err)
{
    nino_job_text texts[8];
    nino_raster p = { NINO_RASTER_INIT };
    any_run r = any_run_begin(ctx, json, is_anew, MAX_MS);
    nino_hasher *h = nino_hasher_create();
    nino_hasher_add(h, &r.st, sizeof(r.st));
    if (r.st)
        nino_hasher_add(h, r.err.msg, strlen(r.err.msg));
    for (size_t i = 0; !r.st && !nino_job_image(r.job, "y", i, &p, NULL); i++)
        hash_raster(h, &p);
    for (size_t i = 0; !r.st && !nino_job_latent(r.job, "y", i, &p, NULL); i++)
        hash_raster(h, &p);
    const size_t n = r.st ? 0 : nino_job_texts(r.job, texts, 8);
    for (size_t i = 0; i < n && i < 8; i++)
        if (!strcmp(texts[i].node, "y")) // the others say how long it took, too
            nino_hasher_add(h, texts[i].text, strlen(texts[i].text) + 1);
    *out = nino_hasher_finish(&h);
    *err = r.err;
    any_run_end(&r);
    return r.st != NINO_ERR_CANCELLED;
}

// *n_ok: which ran.
static bool check_case(const nino_node_def *d, int *n, int *n_ok)
{
    any_case c;
    char more[900];
    nino_hash before, warm, cold, again;
    nino_error err[3] = { 0 };
    if (!any_make(&c, d) || !c.n || !any_look_at(&c, more, sizeof(more)))
        return true;
    any_json(&c, more, json, sizeof(json));
    if (!run(false, &before, &err[0]))
        return true;
    const int k = (int) any_draw((uint64_t) c.n);
    char *was = strdup(c.part[k]);
    if (any_part(&c, k)) {
        any_json(&c, more, json, sizeof(json));
        if (getenv("NINODES_TEST_SHOW") && *getenv("NINODES_TEST_SHOW"))
            fprintf(stderr, "%s\n    was: %s\n", strstr(json, "'x': {"), was);
    }
    bool ok = true;
    if (run(false, &warm, &err[0]) && run(true, &cold, &err[1]) && !any_is_of_the_run(&c) &&
        memcmp(&warm, &cold, sizeof(warm)) != 0) {
        const bool is_same = run(true, &again, &err[2]) && !memcmp(&again, &cold, sizeof(cold));
        fprintf(stderr, "%s\n  %s\n  was: %s\n  warm: %s\n  cold: %s\n", strstr(json, "'x': {"),
                is_same ? "another result than from nothing" : "another result each time", was,
                err[0].msg, err[1].msg);
        ok = false;
    }
    free(was);
    ++*n;
    *n_ok += ok && !err[1].code;
    return ok;
}

int main(void)
{
    const bool is_one = getenv("NINODES_TEST_CLASS"), is_long = getenv("NINODES_TEST_LONG");
    const int times = is_long ? 2 : 1;
    int n = 0, n_ok = 0, wrong = 0;
    ctx = any_open();
    for (int i = 0; nino_node_defs[i]; i++) {
        if (!any_begin(i) || (!is_long && !is_one && any_draw(3)))
            continue;
        for (int k = 0; k < times; k++)
            wrong += !check_case(nino_node_defs[i], &n, &n_ok);
        flow_forget_outputs();
    }
    printf("  %d changes, after %d of them the run did well\n", n, n_ok);
    CHECK(is_one || (n > 100 && n_ok > n / 3));
    CHECK(!wrong);
    nino_ctx_destroy(&ctx);
    flow_clean();
    return 0;
}
