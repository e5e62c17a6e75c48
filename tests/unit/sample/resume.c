// Answers that are kept while sampling: given back in order to the same questions, and no further
// than the file is whole.
#include "core/sample/guide/resume.h"
#include "tests/vae.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { N = 100, RECORD = 48 + 4 * N, HEAD = 16 };

static test_dir dir;

static nino_resume *open_at(uint64_t key, bool goes_on)
{
    const nino_resume_place at = { .dir = dir.path, .key = { key, 7 }, .goes_on = goes_on };
    return nino_resume_open(&at, N, NULL);
}

static char *path_of(uint64_t key)
{
    static char path[200];
    snprintf(path, sizeof(path), "%s/%016x%016llx.steps", dir.path, 7, (unsigned long long) key);
    return path;
}

static float *values(int i)
{
    static float v[N];
    for (int k = 0; k < N; k++)
        v[k] = (float) (i * 1000 + k);
    return v;
}

static void add(nino_resume *r, int i)
{
    float x[N], uncond[N];
    memcpy(x, values(-i), sizeof(x));
    memcpy(uncond, values(i + 50), sizeof(uncond));
    nino_resume_add(r, x, 1.0 / i, values(i), i == 3 ? uncond : NULL);
}

static bool take(nino_resume *r, int i)
{
    float x[N], a[N], u[N];
    memcpy(x, values(-i), sizeof(x));
    if (!nino_resume_take(r, x, 1.0 / i, a, i == 3 ? u : NULL))
        return false;
    CHECK(!memcmp(a, values(i), sizeof(a)) && (i != 3 || !memcmp(u, values(53), sizeof(u))));
    return true;
}

static off_t size_of(uint64_t key)
{
    struct stat sb;
    return stat(path_of(key), &sb) ? -1 : sb.st_size;
}

static void keep(uint64_t key, int n)
{
    nino_resume *r = open_at(key, false);
    CHECK(r && !nino_resume_has_next(r));
    for (int i = 1; i <= n; i++)
        add(r, i);
    nino_resume_close(&r, true);
    CHECK(size_of(key) > HEAD);
}

// How many of n are given back, one of another question never; the file goes.
static int given(uint64_t key, int n)
{
    int i = 1;
    nino_resume *r = open_at(key, true);
    CHECK(r);
    while (i <= n && nino_resume_has_next(r) && take(r, i))
        i++;
    CHECK(!nino_resume_has_next(r) && !take(r, i));
    nino_resume_close(&r, false);
    CHECK(size_of(key) < 0);
    return i - 1;
}

static void test_order(void)
{
    keep(1, 5);
    nino_resume *r = open_at(1, true);
    for (int i = 1; i <= 5; i++)
        CHECK(nino_resume_has_next(r) && take(r, i));
    CHECK(!nino_resume_has_next(r));
    add(r, 6); // goes on
    nino_resume_close(&r, true);
    CHECK(given(1, 6) == 6);
    keep(1, 5);
    r = open_at(1, false); // begins anew
    CHECK(!nino_resume_has_next(r) && !take(r, 1));
    nino_resume_close(&r, true);
    CHECK(size_of(1) < 0); // nothing to keep
    CHECK(!nino_resume_open(&(nino_resume_place){ 0 }, N, NULL) && !nino_resume_has_next(NULL));
    nino_resume_close(&r, true);
}

static void test_other_questions(void)
{
    keep(2, 4);
    nino_resume *r = open_at(2, true);
    CHECK(take(r, 1) && take(r, 2));
    CHECK(!take(r, 4)); // 3 was asked, so 4 is not what comes
    CHECK(!nino_resume_has_next(r));
    add(r, 4);
    nino_resume_close(&r, true);
    r = open_at(2, true);
    CHECK(take(r, 1) && take(r, 2) && take(r, 4));
    nino_resume_close(&r, false);
    keep(2, 3);
    float a[N];
    r = open_at(2, true); // the same sigma, another latent
    CHECK(!nino_resume_take(r, values(9), 1, a, NULL) && !nino_resume_has_next(r));
    nino_resume_close(&r, true);
    keep(2, 3);
    const nino_resume_place at = { .dir = dir.path, .key = { 2, 7 }, .goes_on = true };
    r = nino_resume_open(&at, N + 1, NULL); // a latent of another size
    CHECK(r && !nino_resume_has_next(r));
    nino_resume_close(&r, false);
}

static void test_damage(void)
{
    static const struct {
        off_t size, at;
        int given;
    } cases[] = { { HEAD + 2 * RECORD, -1, 2 },  // cut between two
                  { HEAD + RECORD + 20, -1, 1 }, // in a question
                  { HEAD + 2 * RECORD - 1, -1, 1 },
                  { HEAD + 1, -1, 0 },
                  { 3, -1, 0 },
                  { 0, -1, 0 },
                  { -1, HEAD + RECORD + 100, 1 }, // a bit of an answer
                  { -1, HEAD + RECORD + 5, 1 },   // of a sigma
                  { -1, HEAD + RECORD + 45, 1 },  // of the number of answers
                  { -1, 9, 0 } };                 // of the count
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char byte;
        keep(3, 5);
        CHECK(cases[i].size < 0 || !truncate(path_of(3), cases[i].size));
        const int fd = open(path_of(3), O_RDWR);
        if (cases[i].at >= 0) {
            CHECK(pread(fd, &byte, 1, cases[i].at) == 1);
            byte ^= 4;
            CHECK(pwrite(fd, &byte, 1, cases[i].at) == 1);
        }
        close(fd);
        CHECK(given(3, 5) == cases[i].given);
    }
}

// Two that sample the same: the second keeps nothing and leaves the first one's alone.
static void test_two(void)
{
    nino_resume *a = open_at(4, false);
    add(a, 1);
    CHECK(!open_at(4, true) && size_of(4) == HEAD + RECORD);
    add(a, 2);
    nino_resume_close(&a, true);
    CHECK(given(4, 2) == 2);
}

static void test_full(void)
{
    struct rlimit had, little = { HEAD + 2 * RECORD + 10, 0 };
    CHECK(!getrlimit(RLIMIT_FSIZE, &had));
    signal(SIGXFSZ, SIG_IGN);
    little.rlim_max = had.rlim_max;
    CHECK(!setrlimit(RLIMIT_FSIZE, &little));
    keep(5, 5);
    CHECK(!setrlimit(RLIMIT_FSIZE, &had));
    CHECK(size_of(5) == HEAD + 2 * RECORD && given(5, 5) == 2);
}

static void test_folder(void)
{
    const struct timespec old[2] = { { .tv_sec = time(NULL) - 8 * 24 * 3600 },
                                     { .tv_sec = time(NULL) - 8 * 24 * 3600 } };
    char other[200];
    snprintf(other, sizeof(other), "%s/other.txt", dir.path);
    keep(6, 1);
    keep(7, 1);
    CHECK(close(open(other, O_CREAT | O_WRONLY, 0600)) == 0 && !utimensat(0, other, old, 0));
    CHECK(!utimensat(0, path_of(6), old, 0));
    nino_resume *r = open_at(8, false); // tidies
    CHECK(size_of(6) < 0 && size_of(7) > 0 && size_of(8) == HEAD);
    nino_resume_close(&r, true);
    keep(6, 1);
    CHECK(!truncate(path_of(6), (off_t) 3 << 30) && !truncate(path_of(7), (off_t) 2 << 30));
    const struct timespec sooner[2] = { { .tv_sec = time(NULL) - 60 },
                                        { .tv_sec = time(NULL) - 60 } };
    CHECK(!utimensat(0, path_of(7), sooner, 0));
    r = open_at(8, false); // more than 4 GiB, though with holes: the older one goes
    CHECK(size_of(7) < 0 && size_of(6) > 0);
    nino_resume_close(&r, true);
    // a folder of such a name, older than all, does not keep the files from going
    keep(7, 1);
    CHECK(!mkdir(path_of(9), 0700) && !utimensat(0, path_of(9), sooner, 0));
    CHECK(!truncate(path_of(7), (off_t) 5 << 30));
    r = open_at(8, false);
    CHECK(size_of(7) < 0 || size_of(6) < 0);
    nino_resume_close(&r, true);
    CHECK(!rmdir(path_of(9)));
    nino_resume_clear(dir.path);
    CHECK(size_of(6) < 0 && !access(other, F_OK) && !unlink(other));
    nino_resume_clear(NULL);
}

static void set_time(const char *path, time_t t)
{
    const struct timespec both[2] = { { .tv_sec = t }, { .tv_sec = t } };
    CHECK(!utimensat(0, path, both, 0));
}

static time_t age_of(const char *path)
{
    struct stat sb;
    CHECK(!stat(path, &sb));
    return time(NULL) - sb.st_mtime;
}

static void tidy(void)
{
    nino_resume *r = open_at(10, false);
    CHECK(r);
    nino_resume_close(&r, false);
}

// The clock is set: what is kept gets a day older at most from one look to the next.
static void test_clock(void)
{
    const time_t day = 24 * 3600, hour = 3600,
                 half = day / 2; // a second that passes decides nothing
    int looks = 0;
    keep(9, 1);
    set_time(path_of(9), time(NULL) - half);
    for (; size_of(9) > 0 && looks < 20; looks++) { // forward by 100 days each time
        set_time(path_of(9), time(NULL) - 100 * day - age_of(path_of(9)));
        set_time(dir.path, time(NULL) - 100 * day);
        tidy();
        if (size_of(9) > 0)
            CHECK(age_of(path_of(9)) >= (looks + 1) * day + half &&
                  age_of(path_of(9)) < (looks + 1) * day + half + hour);
    }
    CHECK(looks == 7); // older than a week of days
    keep(9, 1);
    set_time(path_of(9), time(NULL) + 100 * day); // and back
    set_time(dir.path, time(NULL) + 100 * day);
    tidy();
    CHECK(age_of(path_of(9)) >= 0 && age_of(path_of(9)) < hour);
    CHECK(age_of(dir.path) < hour);
    set_time(path_of(9), time(NULL) - 8 * day); // a week after that, as ever
    tidy();
    CHECK(size_of(9) < 0);
    keep(9, 1);
    set_time(path_of(9), time(NULL) + 100 * day);
    nino_resume_clear(dir.path);
    CHECK(size_of(9) < 0);
}

static void hear(void *priv, nino_log_level level, const char *text)
{
    CHECK(level == NINO_LOG_WARN);
    snprintf(priv, 400, "%s", text);
}

// Where nothing can be kept, that is said once, and the sampling goes on without.
static void test_no_place(void)
{
    char said[400] = "", below[250], link[200];
    const nino_log log = { hear, said, NINO_LOG_WARN };
    keep(10, 1); // a file in the place of the folder
    snprintf(below, sizeof(below), "%s/steps", path_of(10));
    nino_resume_place at = { .dir = below, .key = { 1, 7 } };
    CHECK(!nino_resume_open(&at, N, &log) && strstr(said, "no steps are kept: "));
    nino_resume_clear(below);
    nino_resume_clear(NULL);
    snprintf(link, sizeof(link), "%s", path_of(11)); // a link in the place of the file
    CHECK(!symlink(path_of(10), link));
    const off_t size = size_of(10);
    at = (nino_resume_place){ .dir = dir.path, .key = { 11, 7 } };
    *said = 0;
    CHECK(!nino_resume_open(&at, N, &log) && strstr(said, "000b.steps: "));
    CHECK(size_of(10) == size && !access(link, F_OK)); // neither is touched
    CHECK(!unlink(link));
    // the disk is full already at the head
    struct rlimit had, none;
    CHECK(!getrlimit(RLIMIT_FSIZE, &had) && signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    none = had;
    none.rlim_cur = HEAD - 1;
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    nino_resume *r = open_at(12, true);
    CHECK(!setrlimit(RLIMIT_FSIZE, &had));
    CHECK(!r && size_of(12) < 0);
    nino_resume_clear(dir.path);
    CHECK(size_of(10) < 0);
}

int main(void)
{
    dir = test_dir_create();
    test_order();
    test_other_questions();
    test_damage();
    test_two();
    test_full();
    test_folder();
    test_clock();
    test_no_place();
    test_dir_remove(&dir, (const char *const[]){ NULL });
    return 0;
}
