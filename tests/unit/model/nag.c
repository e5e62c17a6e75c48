// Normalized attention guidance on numbers: which rows and tokens change, and to what; in FLUX the
// positive side alone changes, and nothing does without both sides.
#include "core/model/nag.h"
#include "tests/diffusion.h"

enum { ROWS = 6, IMAGES = 2, T = 5, CH = 8, FIRST = 2 };

static const uint8_t sides[ROWS] = { 0, 0, 1, 1, 0, 0 };
static const nino_patch nag = { .kind = NINO_PATCH_NAG, .v = { 4, 0.3, 1.2 } };

static double size_of(const double *v)
{
    double sum = 0;
    for (int c = 0; c < CH; c++)
        sum += fabs(v[c]);
    return fmax(sum, 1e-6);
}

static void check_numbers(test_device *d)
{
    const nino_pass pass = { .patch = &nag,
                             .n_patches = 1,
                             .active = 1,
                             .negative = sides,
                             .n_rows = ROWS,
                             .images = IMAGES };
    nino_array *z = test_values(NINO_SHAPE(ROWS, T, CH), 3);
    nino_array *got = nino_download(
        d->s, nino_pass_nag(d->s, &pass, nino_upload(d->s, z, NINO_F32), FIRST), NINO_F32);
    nino_error err = { 0 };
    CHECK_OK(nino_stream_status(d->s, &err), err);
    for (int b = 0; b < ROWS; b++)
        for (int t = 0; t < T; t++) {
            const float *pos = nino_array_f32(z) + (b * T + t) * CH;
            const float *neg = nino_array_f32(z) + ((b + IMAGES) % ROWS * T + t) * CH;
            double guided[CH], plain[CH];
            for (int c = 0; c < CH; c++) {
                plain[c] = (double) pos[c];
                guided[c] = 4 * plain[c] - 3 * (double) neg[c];
            }
            const double ratio = size_of(guided) / size_of(plain);
            for (int c = 0; c < CH; c++) {
                const bool is_led = b < IMAGES && t >= FIRST; // the first rows of that side
                const double want =
                    is_led ? 0.3 * guided[c] * fmin(ratio, 1.2) / ratio + 0.7 * plain[c] : plain[c];
                CHECK(fabs((double) nino_array_f32(got)[(b * T + t) * CH + c] - want) < 1e-5);
            }
        }
    nino_array_unref(&z);
    nino_array_unref(&got);
}

static void check_flux(test_device *d)
{
    nino_weights *w =
        test_open("%s/models/diffusion_models/flux_tiny.safetensors", test_data_next(NULL));
    nino_diffusion *net = test_diffusion(w, "flux");
    nino_array *x = test_values(NINO_SHAPE(2, 8, 6, 16), 1);
    nino_array *c = test_values(NINO_SHAPE(2, 7, net->context_dim), 2);
    nino_array *y = test_values(NINO_SHAPE(2, net->y_dim), 4);
    const float t[2] = { 0.5f, 0.5f };
    static const uint8_t two[2] = { 0, 1 }, one[2] = { 0, 0 };
    nino_pass pass = { .patch = &nag, .n_patches = 1, .n_rows = 2, .images = 1, .negative = two };
    const test_inputs in = {
        .x = x, .context = c, .y = y, .timestep = t, .guidance = 3.5f, .pass = &pass
    };
    nino_array *plain = test_forward(d->s, net, &in), *got;
    const size_t half = plain->bytes / 2;
    pass.active = 1;
    got = test_forward(d->s, net, &in);
    CHECK(memcmp(got->data, plain->data, half) != 0);
    nino_array *a = test_item(got, 1), *b = test_item(plain, 1);
    CHECK(test_nmse(a, b) < 1e-12);
    nino_array_unref(&got);
    pass.negative = one;
    got = test_forward(d->s, net, &in);
    CHECK(!memcmp(got->data, plain->data, plain->bytes));
    nino_array *all[] = { x, c, y, plain, got, a, b };
    for (int i = 0; i < 7; i++)
        nino_array_unref(&all[i]);
    nino_diffusion_unref(&net);
    nino_weights_unref(&w);
}

int main(void)
{
    static const char *const devices[] = { "ref", "cl", NULL };
    for (const char *const *name = devices; *name; name++) {
        test_device d;
        if (!test_device_open(&d, *name, 0))
            continue;
        nino_stream_set_precision(d.s, NINO_PREC_F32);
        check_numbers(&d);
        check_flux(&d);
        test_device_close(&d);
    }
    return 0;
}
