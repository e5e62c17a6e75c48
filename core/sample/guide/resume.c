// Answers of the network in a file: a head, then records of a question and its answer.
#include "core/sample/guide/resume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"

#define SUFFIX ".steps"
static const int64_t max_bytes = (int64_t) 4 << 30;
static const time_t max_age = 604800; // s, a week
static const time_t max_gap = 86400;  // of it, that may pass between two looks
static const char magic[8] = "NINOSTP2";

typedef struct head { // native byte order: a file does not leave its machine
    char magic[8];
    uint64_t count;
} head;

typedef struct record {
    double sigma;
    nino_hash asked, answer; // of x; of the question, denoised and uncond
    uint64_t n;              // 2: with uncond
} record;

struct nino_resume {
    int fd, dir_fd;
    char name[48];
    size_t count;
    off_t at, end; // next record to be taken; end of the last whole one that is known
    const nino_log *log;
    bool is_locked, is_full;
};

// ---- the folder ------------------------------------------------------------------------------

static bool is_resume_ours(const char *name)
{
    const size_t n = strlen(name);
    return n > strlen(SUFFIX) && !strcmp(name + n - strlen(SUFFIX), SUFFIX);
}

// The clock may be set: a week that passes at once between two looks is no week. The folder's own
// time is that of the look before. What lies beyond a day since then is added to the times of the
// files (*gap), so that their ages grow by a day at most; those of the future begin anew.
static time_t gap_since(int dir_fd, time_t now)
{
    struct stat sb;
    const struct timespec both[2] = { { .tv_sec = now }, { .tv_sec = now } };
    const time_t passed = fstat(dir_fd, &sb) ? 0 : now - sb.st_mtime;
    futimens(dir_fd, both);
    return passed > max_gap ? passed - max_gap : 0;
}

static time_t resume_redate(int dir_fd, const char *name, time_t had, time_t gap, time_t now)
{
    const time_t is = had > now - gap ? now : had + gap;
    const struct timespec both[2] = { { .tv_sec = is }, { .tv_sec = is } };
    if (is != had)
        utimensat(dir_fd, name, both, AT_SYMLINK_NOFOLLOW);
    return is;
}

// Bytes of the files in a folder, after removing old ones; *oldest: the name of the oldest.
static int64_t resume_look(const char *dir, char *oldest, size_t size)
{
    struct stat sb;
    DIR *d = opendir(dir);
    const time_t now = time(NULL), gap = d ? gap_since(dirfd(d), now) : 0;
    time_t first = 0;
    int64_t bytes = 0;
    *oldest = 0;
    for (const struct dirent *e; d && (e = readdir(d));) {
        // A folder cannot be taken away, and must not stand in the way of files that can.
        if (!is_resume_ours(e->d_name) || fstatat(dirfd(d), e->d_name, &sb, AT_SYMLINK_NOFOLLOW) ||
            S_ISDIR(sb.st_mode))
            continue;
        const time_t at = resume_redate(dirfd(d), e->d_name, sb.st_mtime, gap, now);
        if (at < now - max_age) {
            unlinkat(dirfd(d), e->d_name, 0);
            continue;
        }
        bytes += sb.st_size;
        if (!*oldest || at < first) {
            snprintf(oldest, size, "%s", e->d_name);
            first = at;
        }
    }
    if (d)
        closedir(d);
    return bytes;
}

static void resume_tidy(const char *dir, int dir_fd)
{
    char oldest[256];
    while (resume_look(dir, oldest, sizeof(oldest)) > max_bytes)
        if (unlinkat(dir_fd, oldest, 0))
            break;
}

void nino_resume_clear(const char *dir)
{
    DIR *d = dir ? opendir(dir) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));)
        if (is_resume_ours(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

// ---- opening ---------------------------------------------------------------------------------

static bool resume_open_file(nino_resume *r, const char *dir)
{
    nino_error err = { 0 };
    if (nino_file_mkdirs(dir, true, &err)) {
        nino_logf(r->log, NINO_LOG_WARN, "no steps are kept: %s: %s", err.where, err.msg);
        return false;
    }
    r->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->dir_fd >= 0) {
        resume_tidy(dir, r->dir_fd);
        r->fd = openat(r->dir_fd, r->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (r->fd < 0)
        nino_logf(r->log, NINO_LOG_WARN, "no steps are kept: %s/%s: %s", dir, r->name,
                  strerror(errno));
    return r->fd >= 0;
}

static bool resume_begin(nino_resume *r, bool goes_on)
{
    head had, h = { .count = r->count };
    struct stat sb;
    memcpy(h.magic, magic, sizeof(magic));
    const bool is_same = goes_on && pread(r->fd, &had, sizeof(had), 0) == sizeof(had) &&
                         !memcmp(&had, &h, sizeof(h)) && !fstat(r->fd, &sb);
    r->at = sizeof(h);
    r->end = is_same ? sb.st_size : r->at;
    return is_same || (!ftruncate(r->fd, 0) && pwrite(r->fd, &h, sizeof(h), 0) == sizeof(h));
}

nino_resume *nino_resume_open(const nino_resume_place *at, size_t count, const nino_log *log)
{
    nino_resume *r = at && at->dir ? calloc(1, sizeof(*r)) : NULL;
    if (!r)
        return NULL;
    *r = (nino_resume){ .fd = -1, .dir_fd = -1, .count = count, .log = log };
    snprintf(r->name, sizeof(r->name), "%016llx%016llx" SUFFIX, (unsigned long long) at->key.hi,
             (unsigned long long) at->key.lo);
    // The lock: another process samples the same.
    if (resume_open_file(r, at->dir) && !flock(r->fd, LOCK_EX | LOCK_NB)) {
        r->is_locked = true;
        if (resume_begin(r, at->goes_on))
            return r;
    }
    nino_resume_close(&r, true);
    return NULL;
}

void nino_resume_close(nino_resume **pr, bool keeps)
{
    nino_resume *r = *pr;
    if (!r)
        return;
    if (r->is_locked && (!keeps || r->end <= (off_t) sizeof(head)))
        unlinkat(r->dir_fd, r->name, 0);
    if (r->fd >= 0)
        close(r->fd);
    if (r->dir_fd >= 0)
        close(r->dir_fd);
    free(r);
    *pr = NULL;
}

// ---- records ---------------------------------------------------------------------------------

// With the question: an answer that stands under another one is none.
static nino_hash hash_answer(const nino_resume *r, const record *question, const float *denoised,
                             const float *uncond)
{
    nino_hash all[4] = { nino_hash_bytes(denoised, r->count * sizeof(float)) };
    if (uncond)
        all[1] = nino_hash_bytes(uncond, r->count * sizeof(float));
    all[2] = question->asked;
    all[3] = nino_hash_bytes(&question->sigma, sizeof(question->sigma));
    return nino_hash_bytes(all, sizeof(all));
}

static record record_of(const nino_resume *r, const float *x, double sigma, bool has_uncond)
{
    return (record){ .sigma = sigma,
                     .asked = nino_hash_bytes(x, r->count * sizeof(float)),
                     .n = has_uncond ? 2 : 1 };
}

static bool is_equal(nino_hash a, nino_hash b) { return a.lo == b.lo && a.hi == b.hi; }

// What is beyond this place is of no use.
static void resume_cut(nino_resume *r, off_t end)
{
    r->at = r->end = end;
    if (ftruncate(r->fd, end))
        r->is_full = true;
}

bool nino_resume_has_next(const nino_resume *r) { return r && r->at < r->end; }

bool nino_resume_take(nino_resume *r, const float *x, double sigma, float *denoised, float *uncond)
{
    if (!nino_resume_has_next(r))
        return false;
    const size_t bytes = r->count * sizeof(float);
    record had, is = record_of(r, x, sigma, uncond != NULL);
    const struct iovec to[] = { { denoised, bytes }, { uncond, uncond ? bytes : 0 } };
    const off_t data = r->at + (off_t) sizeof(had);
    const bool is_it = pread(r->fd, &had, sizeof(had), r->at) == sizeof(had) &&
                       had.sigma == is.sigma && had.n == is.n && is_equal(had.asked, is.asked) &&
                       preadv(r->fd, to, 2, data) == (ssize_t) (is.n * bytes) &&
                       is_equal(had.answer, hash_answer(r, &is, denoised, uncond));
    if (is_it)
        r->at = data + (off_t) (is.n * bytes);
    else
        resume_cut(r, r->at);
    return is_it;
}

void nino_resume_add(nino_resume *r, const float *x, double sigma, const float *denoised,
                     const float *uncond)
{
    if (!r || r->is_full)
        return;
    const size_t bytes = r->count * sizeof(float);
    record is = record_of(r, x, sigma, uncond != NULL);
    is.answer = hash_answer(r, &is, denoised, uncond);
    const struct iovec from[] = { { &is, sizeof(is) },
                                  { (void *) denoised, bytes },
                                  { (void *) uncond, uncond ? bytes : 0 } };
    const ssize_t all = (ssize_t) (sizeof(is) + is.n * bytes);
    if (pwritev(r->fd, from, 3, r->end) == all) {
        r->at = r->end += all;
        return;
    }
    nino_logf(r->log, NINO_LOG_WARN, "no more steps are kept: %s", strerror(errno));
    resume_cut(r, r->end);
    r->is_full = true;
}

// ---- telling ---------------------------------------------------------------------------------

void nino_resume_tell_taken(nino_monitor *m, const nino_log *log, int n, int total)
{
    static const char text[] = "goes on after step %d of %d, where the last run was stopped";
    nino_monitor_message(m, NINO_LOG_INFO, text, n, total);
    nino_logf(log, NINO_LOG_INFO, text, n, total);
}

void nino_resume_tell_kept(nino_monitor *m, int n, int total)
{
    char text[96];
    snprintf(text, sizeof(text), "stopped after step %d of %d, where the same run goes on", n,
             total);
    if (m)
        nino_monitor_publish(m, &(nino_event){ .kind = NINO_EV_MESSAGE,
                                               .name = nino_monitor_passing(m, text),
                                               .u.scope = { NINO_LOG_INFO, (uint32_t) n } });
}
