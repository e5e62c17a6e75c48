// Latent formats: the table is complete and both directions fit each other.
#include "core/model/latent_format.h"
#include "tests/test.h"

#include <math.h>

static const struct {
    const char *name;
    int channels, factor, time_factor;
} known[] = {
    { "sd15", 4, 8, 1 },    { "sdxl", 4, 8, 1 },     { "sdxl_playground", 4, 8, 1 },
    { "sd3", 16, 8, 1 },    { "flux", 16, 8, 1 },    { "wan21", 16, 8, 4 },
    { "wan22", 48, 16, 4 }, { "flux2", 128, 16, 1 },
};

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
