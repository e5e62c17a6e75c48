// Structs that carry their size, and job options: words, copies, one laid over another.
#include <string.h>

#include "core/base/params.h"
#include "tests/test.h"

typedef struct grown { // nino_job_options of a later version
    nino_job_options o;
    long more;
} grown;

static void test_take(void)
{
    nino_error err = { 0 };
    nino_job_options o, out;
    CHECK(NINO_TAKE(&out, NULL, NINO_JOB_OPTIONS_INIT, &err));
    CHECK(out.size == sizeof(out) && !out.models && !out.precision);

    // shorter: what it does not have is zero, whatever lies behind it
    memset(&o, 0xff, sizeof(o));
    o.size = offsetof(nino_job_options, precision);
    o.input_dir = "in";
    CHECK(NINO_TAKE(&out, &o, NINO_JOB_OPTIONS_INIT, &err));
    CHECK(out.size == sizeof(out) && !out.precision && !out.preview_every && !out.no_files);
    CHECK_STR(out.input_dir, "in");

    // longer: what is not known stays out
    grown g = { { .size = sizeof(g), .preview_every = 3 }, 1 };
    grown room = { .more = 42 };
    CHECK(NINO_TAKE(&room.o, &g.o, NINO_JOB_OPTIONS_INIT, &err));
    CHECK(room.o.preview_every == 3 && room.o.size == sizeof(o) && room.more == 42);

    // without a size
    const nino_job_options none = { .preview_every = 3 };
    CHECK(!NINO_TAKE(&out, &none, NINO_JOB_OPTIONS_INIT, &err));
    CHECK(err.code == NINO_ERR_ARG && strstr(err.msg, "{ NINO_JOB_OPTIONS_INIT }"));
}

static void test_words(void)
{
    for (int i = NINO_PRECISION_AUTO; i <= NINO_PRECISION_BF16; i++) {
        nino_precision_opt p = NINO_PRECISION_AUTO;
        CHECK(nino_precision_opt_find(nino_precision_opt_name((nino_precision_opt) i), &p));
        CHECK((int) p == i);
    }
    for (int i = NINO_PREVIEW_DEFAULT; i <= NINO_PREVIEW_AUTO; i++) {
        nino_preview_opt p = NINO_PREVIEW_DEFAULT;
        CHECK(nino_preview_opt_find(nino_preview_opt_name((nino_preview_opt) i), &p));
        CHECK((int) p == i);
    }
    nino_preview_opt p = NINO_PREVIEW_TAESD;
    CHECK(!nino_preview_opt_find("tae", &p) && !nino_preview_opt_find(NULL, &p));
    CHECK(p == NINO_PREVIEW_TAESD);
}

static void test_layers(void)
{
    char dir[] = "/a";
    const char *models[] = { dir, NULL };
    nino_job_options o = { NINO_JOB_OPTIONS_INIT,        .models = models,     .input_dir = "in",
                           .preview = NINO_PREVIEW_AUTO, .preview_share = 0.5, .no_profile = true };
    const nino_job_options over = { NINO_JOB_OPTIONS_INIT, .input_dir = "other",
                                    .preview = NINO_PREVIEW_NONE, .no_metadata = true };
    nino_options_lay_over(&o, &over);
    CHECK_STR(o.input_dir, "other");
    CHECK(o.models == models && o.preview == NINO_PREVIEW_NONE && o.preview_share == 0.5);
    CHECK(o.no_profile && o.no_metadata && !o.no_files);
    nino_arena *arena = nino_arena_create();
    CHECK(arena && nino_options_keep(&o, arena));
    dir[1] = 'b';
    CHECK(o.models != models && !o.models[1]);
    CHECK_STR(o.models[0], "/a");
    nino_arena_destroy(&arena);
}

int main(void)
{
    test_take();
    test_words();
    test_layers();
    return 0;
}
