// Latent formats: the table is complete, no number of it changes unseen, and both directions fit each
// other.
#include "core/base/hash.h"
#include "core/model/latent_format.h"
#include "tests/test.h"

#include <math.h>

static const struct {
    const char *name;
    int channels, factor, time_factor;
    uint64_t numbers; // of all constants: one that was changed by mistake changes pictures a little
} known[] = {
    { "sd15", 4, 8, 1, 0x3e62cdfcf95522f9 },
    { "sdxl", 4, 8, 1, 0x0686c447a2f10587 },
    { "sdxl_playground", 4, 8, 1, 0x3e3c07234372ba70 },
    { "sd3", 16, 8, 1, 0x8528dd34fa3bc46e },
    { "flux", 16, 8, 1, 0xc637fed7ee35eb0f },
    { "wan21", 16, 8, 4, 0xd83ccec481a3e2a8 },
    { "wan22", 48, 16, 4, 0xd163addbeef7162d },
    { "flux2", 128, 16, 1, 0x1a2c0ecf52a542fe },
};

static uint64_t numbers_of(const nino_latent_format *f, int colours)
{
    const struct {
        const void *p;
        int n;
    } part[] = { { f->mean, f->channels },
                 { f->std, f->channels },
                 { f->rgb, 3 * colours },
                 { f->rgb_bias, 3 } };
    const float scales[] = { (float) f->scale, (float) f->shift };
    uint64_t sum = nino_hash_bytes(scales, sizeof(scales)).lo;
    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        if (part[i].p)
            sum = 31 * sum + nino_hash_bytes(part[i].p, (size_t) part[i].n * sizeof(float)).lo;
    return sum;
}

static void test_round_trip(const nino_latent_format *f)
{
    enum { OUTER = 2, INNER = 3 };
    float x[OUTER * 128 * INNER];
    const int n = OUTER * f->channels * INNER;
    for (int i = 0; i < n; i++)
        x[i] = (float) (i % 17) / 4 - 2;
    nino_latent_process_in(f, x, OUTER, INNER);
    for (int i = 0; i < n; i++) {
        const int c = i / INNER % f->channels;
        const double v = (double) (i % 17) / 4 - 2;
        const double want =
            f->mean ? (v - f->mean[c]) * f->scale / f->std[c] : (v - f->shift) * f->scale;
        CHECK(fabs(x[i] - want) <= 1e-6 * (1 + fabs(want)));
    }
    nino_latent_process_out(f, x, OUTER, INNER);
    for (int i = 0; i < n; i++)
        CHECK(fabs(x[i] - ((double) (i % 17) / 4 - 2)) < 2e-6);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const nino_latent_format *f = nino_latent_format_find(known[i].name);
        CHECK(f);
        CHECK_STR(f->name, known[i].name);
        CHECK(f->channels == known[i].channels && f->factor == known[i].factor);
        CHECK(f->time_factor == known[i].time_factor && f->scale > 0 && f->rgb);
        CHECK(!f->mean == !f->std);
        for (int c = 0; f->std && c < f->channels; c++)
            CHECK(f->std[c] > 0);
        const int colours = f->channels / (f->fold ? f->fold * f->fold : 1);
        for (int c = 0; c < colours; c++) // a 0 is published for one channel's red
            CHECK((f->rgb[c][0] != 0 || f->fold) && f->rgb[c][1] != 0 && f->rgb[c][2] != 0);
        const uint64_t numbers = numbers_of(f, colours);
        if (numbers != known[i].numbers)
            printf("%s: the numbers are %016llx\n", f->name, (unsigned long long) numbers);
        CHECK(numbers == known[i].numbers);
        test_round_trip(f);
    }
    CHECK(!nino_latent_format_find("none"));
    // published constants: a value of the format itself, not of this table
    float one = 1;
    nino_latent_process_in(nino_latent_format_find("sdxl"), &one, 0, 1);
    CHECK(one == 1);
    float flux[16] = { 1.1159f };
    nino_latent_process_in(nino_latent_format_find("flux"), flux, 1, 1);
    CHECK(fabs(flux[0] - 0.3611) < 1e-6 && fabs(flux[1] + 0.1159 * 0.3611) < 1e-6);
    return 0;
}
