// The file of answers that a stopped sampling goes on with: whatever it holds, what is taken was
// asked for and stored, and the file can be added to and read again.
#include "core/sample/guide/resume.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/fuzz.h"

enum { N = 4, ROUNDS = 3 };
const size_t fuzz_max_len = 512;
const char *const fuzz_words[] = { "NINOSTP2", "\x04\0\0\0", NULL };

static nino_resume *open_steps(void)
{
    const nino_resume_place at = { .dir = fuzz_folder(), .key = { 1, 2 }, .goes_on = true };
    return nino_resume_open(&at, N, NULL);
}

static void add(nino_resume *r, int i)
{
    const float x[N] = { (float) i, 1, 2, 3 }, y[N] = { 4, 5, 6, (float) i };
    nino_resume_add(r, x, 1.0 / (i + 1), y, i == 1 ? x : NULL);
}

static bool take(nino_resume *r, int i)
{
    const float x[N] = { (float) i, 1, 2, 3 }, y[N] = { 4, 5, 6, (float) i };
    float a[N], b[N] = { 0 };
    if (!nino_resume_take(r, x, 1.0 / (i + 1), a, i == 1 ? b : NULL))
        return false;
    CHECK(!memcmp(a, y, sizeof(a)) && (i != 1 || !memcmp(b, x, sizeof(b))));
    return true;
}

static const char file_name[] = "00000000000000020000000000000001.steps";

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    char path[160];
    if (i)
        return 0;
    nino_resume *r = open_steps();
    for (int k = 0; k < ROUNDS; k++)
        add(r, k);
    nino_resume_close(&r, true);
    snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), file_name);
    FILE *f = fopen(path, "rb");
    CHECK(f);
    const size_t n = fread(buf, 1, cap, f);
    fclose(f);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_file(file_name, data, size);
    nino_resume *r = open_steps();
    CHECK(r);
    int taken = 0;
    while (taken < ROUNDS && take(r, taken))
        taken++;
    for (int k = taken; k < ROUNDS; k++)
        add(r, k);
    nino_resume_close(&r, true);
    r = open_steps();
    CHECK(r);
    for (int k = 0; k < ROUNDS; k++)
        CHECK(take(r, k));
    nino_resume_close(&r, false);
    return 0;
}
