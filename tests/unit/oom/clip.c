// Every allocation fails once while text encoders are loaded, a prompt is encoded, and conditioning
// is copied: a clean "nomem", nothing leaks.
#include "tests/oom.h"

#include "tests/clip_files.h"

static bool done(nino_status st, int may_fail) { return oom_passed(st, &err, may_fail); }

static void check_conds(const nino_cond *c, int may_fail)
{
    nino_cond *copy = nino_cond_copy(c), *both = nino_cond_join(c, c);
    CHECK((copy && both) || may_fail);
    nino_cond_unref(&copy);
    nino_cond_unref(&both);
}

static void run(nino_clip_type type, nino_weights *a, nino_weights *b, int may_fail)
{
    nino_weights *w[] = { a, b };
    nino_clip *c = NULL;
    nino_cond *cond = NULL;
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_stream *s =
        be ? nino_stream_create(&(nino_stream_params){ .backend = be, .precision = NINO_PREC_F32 },
                                &err)
           : NULL;
    CHECK(s || (may_fail && oom.fired));
    const nino_clip_text text = { .all = "cat (dog:1.5)",
                                  .by_encoder = { [NINO_ENC_CLIP_L] = "cat" } };
    if (s && done(nino_clip_load(w, b ? 2 : 1, type, &services, "test", &c, &err), may_fail) &&
        done(nino_clip_encode(s, c, &text, &cond, &err), may_fail)) {
        CHECK(cond->entry[0].context);
        check_conds(cond, may_fail);
    }
    CHECK(c || !cond);
    nino_cond_unref(&cond);
    nino_stream_destroy(&s);
    nino_clip_unref(&c);
    nino_backend_close(&be);
}

static void sdxl(int may_fail) { run(NINO_CLIP_SDXL, file_l, file_g, may_fail); }
static void sd3(int may_fail) { run(NINO_CLIP_SD3, file_l, file_t5, may_fail); }
static void wan(int may_fail) { run(NINO_CLIP_WAN, file_umt5, NULL, may_fail); }

int main(void)
{
    static const char *const files[] = { NULL };
    clip_files_open();
    nino_tokenizer *clip = NULL; // opened now: what it allocates stays
    CHECK_OK(services.tokenizer(services.priv, NINO_TOKENIZER_CLIP, &clip, &err), err);
    nino_tokenizer_unref(&clip);
    printf("  SDXL: %ld allocations\n", oom_each(sdxl));
    printf("  SD3: %ld\n", oom_each(sd3));
    printf("  Wan: %ld\n", oom_each(wan));
    clip_files_close(files);
    return 0;
}
