// What a VAE was found to need is kept for the next walk of a plan, of one whose files are known; of another it is found anew.
#include "core/tile/fit.h"
#include "core/tile/needs.h"
#include "tests/random_tiny.h"
#include "tests/vae.h"

static nino_error err;
static nino_vae *vae;
enum { TWICE = 2 }; // a question is two decodes: weights come in with the first

static int n_decoded;

static nino_tensor *counted(nino_stream *s, const nino_vae *v, nino_tensor *z)
{
    n_decoded++;
    return vae->decode(s, v, z);
}

// How many walks the same question takes twice, then another one.
static void check_asked(nino_stream *s, const nino_vae *v, int second, int other)
{
    nino_vae_need a, b, c;
    n_decoded = 0;
    CHECK_OK(nino_vae_need_get(s, v, true, 1, 8, 8, &a, &err), err);
    CHECK(n_decoded == TWICE);
    CHECK_OK(nino_vae_need_get(s, v, true, 1, 8, 8, &b, &err), err);
    CHECK(n_decoded == TWICE * (1 + second) && b.activations == a.activations &&
          b.weights == a.weights);
    CHECK_OK(nino_vae_need_get(s, v, true, 1, 8, 16, &c, &err), err);
    CHECK(n_decoded == TWICE * (1 + second + other) && c.activations > a.activations);
}

int main(void)
{
    static const char *const files[] = { "v", NULL };
    const random_tiny t = { 8, 3, 1, 4, true, "taesd_encoder.", "taesd_decoder." };
    const test_dir dir = test_dir_create();
    CHECK_OK(random_tiny_save(&t, dir.path, "v", &err), err);
    nino_weights *w = test_open("%s/v", dir.path);
    CHECK_OK(nino_vae_load(w, "a tiny vae", &vae, &err), err);
    nino_weights_unref(&w);
    nino_backend *be = nino_plan_open(&nino_profile_ref, 0, NULL, &err);
    CHECK_OK(be ? NINO_OK : err.code, err);
    nino_vae known = *vae, unknown = *vae;
    known.decode = unknown.decode = counted;
    known.identity = (nino_hash){ 1, 2 };
    unknown.identity = (nino_hash){ 0, 0 };
    for (int keeps = 0; keeps < 2; keeps++) {
        nino_needs *needs = keeps ? nino_needs_create() : NULL;
        nino_stream *s =
            nino_stream_create(&(nino_stream_params){ .backend = be, .needs = needs }, &err);
        CHECK(s && !needs == !keeps);
        check_asked(s, &known, !keeps, 1);
        check_asked(s, &unknown, 1, 1);
        nino_stream_destroy(&s);
        nino_needs_destroy(&needs);
    }
    nino_backend_close(&be);
    nino_vae_unref(&vae);
    test_dir_remove(&dir, files);
    return 0;
}
