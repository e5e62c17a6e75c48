// A sound at another rate: every sample against the formula itself, which sums over the whole sound:
// torchaudio's resample() with its defaults, a sinc of 0.99 times the lower of both rates that a Hann
// window of six zero crossings ends. A long sound shows that the code does not sum that far.
#include <math.h>

#include "core/media/sound.h"
#include "tests/test.h"

static nino_error err;

static nino_array *noise(int64_t batch, int64_t channels, int64_t n)
{
    nino_array *a = nino_array_create(NINO_F32, NINO_SHAPE(batch, channels, n));
    uint32_t x = 12345;
    CHECK(a);
    for (int64_t i = 0; i < batch * channels * n; i++) {
        x = x * 1664525u + 1013904223u;
        nino_array_f32(a)[i] = (float) (x >> 8) / 8388608.0f - 1;
    }
    return a;
}

// Sample i at the new rate, of n samples x at the old one.
static double formula(const float *x, int64_t n, int from, int to, int64_t i)
{
    const double cut = 0.99 * (from < to ? from : to); // in turns a second, twice
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const double t = cut * ((double) k / from - (double) i / to);
        if (fabs(t) >= 6)
            continue;
        const double sinc = t == 0 ? 1 : sin(M_PI * t) / (M_PI * t);
        sum += (double) x[k] * sinc * (0.5 + 0.5 * cos(M_PI * t / 6)) * cut / from;
    }
    return sum;
}

static void one_rate(int from, int to, int64_t channels, int64_t n)
{
    nino_array *wave = noise(1 + n % 2, channels, n), *out = NULL;
    const int64_t rows = (1 + n % 2) * channels;
    CHECK_OK(nino_sound_resample(wave, from, to, &out, &err), err);
    const int64_t m = out->shape.dim[2];
    CHECK(m == (int64_t) ceil((double) n * to / from)); // what torchaudio keeps
    CHECK(out->dtype == NINO_F32 && out->shape.rank == 3);
    CHECK(out->shape.dim[0] == 1 + n % 2 && out->shape.dim[1] == channels);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < m; i++) {
            const double want = formula(nino_array_f32(wave) + r * n, n, from, to, i);
            const double got = (double) nino_array_f32(out)[r * m + i];
            if (!(fabs(got - want) < 2e-6))
                fprintf(stderr, "%d to %d, %lld samples: %lld is %g, not %g\n", from, to,
                        (long long) n, (long long) i, got, want);
            CHECK(fabs(got - want) < 2e-6);
        }
    nino_array_unref(&wave);
    nino_array_unref(&out);
}

static void rates(void)
{
    static const int pairs[][2] = { { 1, 1 },         { 1, 2 },         { 2, 1 },
                                    { 2, 3 },         { 3, 2 },         { 5, 7 },
                                    { 7, 5 },         { 13, 2 },        { 2, 13 },
                                    { 44100, 48000 }, { 48000, 44100 }, { 48000, 16000 },
                                    { 8000, 6000 },   { 22050, 22050 }, { 11025, 44100 } };
    static const int64_t lengths[] = { 1, 2, 3, 12, 13, 14, 100 };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++)
            one_rate(pairs[i][0], pairs[i][1], 1 + (int64_t) (k % 3), lengths[k]);
}

// A sum over all of it would take the square of its length: minutes.
static void long_sound(void)
{
    enum { SECONDS = 20, FROM = 44100, TO = 48000, N = SECONDS * FROM, M = SECONDS * TO };
    nino_array *wave = noise(1, 2, N), *out = NULL;
    CHECK_OK(nino_sound_resample(wave, FROM, TO, &out, &err), err);
    CHECK(out->shape.dim[2] == M);
    for (int64_t i = 0; i < M; i += 59999)
        CHECK(fabs((double) nino_array_f32(out)[M + i] -
                   formula(nino_array_f32(wave) + N, N, FROM, TO, i)) < 1e-5);
    nino_array_unref(&wave);
    nino_array_unref(&out);
}

int main(void)
{
    rates();
    long_sound();
    return 0;
}
