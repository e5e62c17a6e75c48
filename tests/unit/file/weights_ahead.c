// What is asked of the kernel ahead of reading: which bytes, in which order, how far. The file is a hole
// of hundreds of MiB; posix_fadvise is this program's own (Makefile), and nothing is read.
#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/file/weights.h"
#include "tests/test.h"

#define MIB ((uint64_t) 1 << 20)
enum { MAX_ASKED = 256, WINDOW = 128, STEP = 8 }; // MiB, as core/file/weights.h says

static struct {
    uint64_t offset, bytes;
} asked[MAX_ASKED];
static int n_asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nino_error err;

int __wrap_posix_fadvise(int fd, off_t offset, off_t len, int advice);
int __wrap_posix_fadvise(int fd, off_t offset, off_t len, int advice)
{
    (void) fd;
    if (advice != POSIX_FADV_WILLNEED)
        return 0;
    pthread_mutex_lock(&lock);
    CHECK(n_asked < MAX_ASKED);
    asked[n_asked].offset = (uint64_t) offset;
    asked[n_asked++].bytes = (uint64_t) len;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int count(void)
{
    pthread_mutex_lock(&lock);
    const int n = n_asked;
    pthread_mutex_unlock(&lock);
    return n;
}

// Until n pieces are asked for; a moment more shows those that are too many.
static void wait_for(int n)
{
    const struct timespec moment = { 0, 10000000 };
    for (int i = 0; i < 2000 && count() < n; i++)
        nanosleep(&moment, NULL);
    for (int i = 0; i < 5; i++)
        nanosleep(&moment, NULL);
    if (count() != n)
        fprintf(stderr, "%d pieces, not %d\n", count(), n);
    CHECK(count() == n);
}

// Tensors "a", "b", ... of so many bytes each, one behind the other.
static nino_weights *file_of(const uint64_t *bytes, int n)
{
    char path[] = "/tmp/ninodes-ahead-XXXXXX";
    nino_buf header = { 0 };
    uint64_t at = 0;
    for (int i = 0; i < n; i++, at += bytes[i - 1])
        nino_buf_addf(&header,
                      "%c\"%c\":{\"dtype\":\"U8\",\"shape\":[%llu],\"data_offsets\":[%llu,%llu]}",
                      i ? ',' : '{', 'a' + i, (unsigned long long) bytes[i],
                      (unsigned long long) at, (unsigned long long) (at + bytes[i]));
    nino_buf_addc(&header, '}');
    const int fd = mkstemp(path);
    const uint64_t len = header.len;
    CHECK(fd >= 0 && write(fd, &len, 8) == 8 && write(fd, header.data, len) == (ssize_t) len);
    nino_buf_release(&header);
    CHECK(!ftruncate(fd, (off_t) (8 + len + at)) && !close(fd));
    nino_weights *w = nino_weights_open(path, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    unlink(path);
    n_asked = 0;
    return w;
}

static const nino_tensor_info *at(const nino_weights *w, char name)
{
    const char key[2] = { name, 0 };
    const nino_tensor_info *t = nino_weights_find(w, key);
    CHECK(t);
    return t;
}

static void expect(nino_weights *w, const char *names)
{
    for (; *names; names++)
        nino_weights_expect(w, at(w, *names));
}

// The pieces of tensor `name` from its byte `from` on, at most `most` of them, are the next ones.
static int pieces(const nino_weights *w, int i, char name, uint64_t from, int most)
{
    const nino_tensor_info *t = at(w, name);
    for (; from < t->bytes && most; most--, i++) {
        const uint64_t left = t->bytes - from, want = left < STEP * MIB ? left : STEP * MIB;
        CHECK(i < count() && asked[i].offset == t->offset + from && asked[i].bytes == want);
        from += want;
    }
    return i;
}

// What comes behind the one that is read, in the order in which it was named, without what has no
// bytes; the one that is read is not asked for.
static void in_order(void)
{
    const uint64_t sizes[] = { 9 * MIB, 0, 17 * MIB, 8 * MIB, 3 };
    nino_weights *w = file_of(sizes, 5);
    expect(w, "adbcea"); // once more is no other place
    nino_weights_read_ahead(w, at(w, 'a'));
    wait_for(1 + 3 + 1);
    int i = pieces(w, 0, 'd', 0, 9);
    i = pieces(w, i, 'c', 0, 9);
    CHECK(pieces(w, i, 'e', 0, 9) == 5);
    bool is_ahead = true;
    nino_weights_missing(w, at(w, 'a'), &is_ahead);
    CHECK(!is_ahead); // it is being read
    for (const char *name = "dce"; *name; name++) {
        nino_weights_missing(w, at(w, *name), &is_ahead);
        CHECK(is_ahead);
    }
    nino_weights_read_ahead(w, at(w, 'd')); // all is asked for
    nino_weights_read_ahead(w, at(w, 'e'));
    wait_for(5);
    nino_weights_read_ahead(w, at(w, 'd')); // back: from there on once more
    wait_for(5 + 4);
    i = pieces(w, 5, 'c', 0, 9);
    CHECK(pieces(w, i, 'e', 0, 9) == 9);
    nino_weights_unref(&w);
}

// No further than the window, also within a tensor; what was read makes room.
static void window(void)
{
    const uint64_t sizes[] = { MIB, 100 * MIB, 60 * MIB, 10 * MIB };
    nino_weights *w = file_of(sizes, 4);
    expect(w, "abcd");
    nino_weights_read_ahead(w, at(w, 'a'));
    const int first =
        13 + 3; // 100 MiB, and of the next one until there are 128 or more: 124, so 132
    wait_for(first + 1);
    int i = pieces(w, 0, 'b', 0, 99);
    CHECK(i == 13 && pieces(w, i, 'c', 0, 4) == first + 1);
    bool is_ahead = true;
    nino_weights_missing(w, at(w, 'c'), &is_ahead);
    CHECK(!is_ahead); // not all of it
    nino_weights_missing(w, at(w, 'b'), &is_ahead);
    CHECK(is_ahead);
    nino_weights_read_ahead(w, at(w, 'b')); // 100 of 132 are no longer ahead
    wait_for(13 + 8 + 2);
    i = pieces(w, first + 1, 'c', 32 * MIB, 99);
    CHECK(pieces(w, i, 'd', 0, 99) == 23);
    nino_weights_unref(&w);
}

// A tensor that nobody named moves nothing; jumping over what was not asked for begins behind it.
static void jumps(void)
{
    const uint64_t sizes[] = { MIB, 130 * MIB, MIB, 2 * MIB, 3 * MIB };
    nino_weights *w = file_of(sizes, 5);
    expect(w, "abde");
    nino_weights_read_ahead(w, at(w, 'a'));
    wait_for(16); // 128 MiB
    nino_weights_read_ahead(w, at(w, 'c'));
    wait_for(16);
    nino_weights_read_ahead(w, at(w, 'd')); // the rest of b is not wanted any more
    wait_for(17);
    CHECK(pieces(w, 16, 'e', 0, 9) == 17);
    nino_weights_unref(&w);
}

// Small files are read at once; 16 MiB is the limit.
static void small(void)
{
    for (int more = 0; more < 2; more++) {
        uint64_t sizes[] = { MIB, 15 * MIB };
        nino_weights *w = file_of(sizes, 2);
        const uint64_t head = at(w, 'a')->offset;
        nino_weights_unref(&w);
        sizes[1] -= head - (uint64_t) more;
        w = file_of(sizes, 2);
        CHECK(at(w, 'a')->offset == head); // the header has as many digits
        expect(w, "ab");
        nino_weights_read_ahead(w, at(w, 'a'));
        wait_for(2 * more);
        bool is_ahead = false;
        const uint64_t missing = nino_weights_missing(w, at(w, 'b'), &is_ahead);
        CHECK(is_ahead == more && (more || !missing) && missing <= sizes[1]);
        nino_tensor_info *t = (nino_tensor_info *) at(w, 'b');
        t->is_strided = true; // its bytes lie all over the file
        CHECK(!nino_weights_missing(w, t, &is_ahead) && !is_ahead);
        t->is_strided = false;
        nino_weights_unref(&w);
    }
}

// A strided tensor's bytes are not asked for.
static void strided(void)
{
    const uint64_t sizes[] = { MIB, 20 * MIB, 5 * MIB };
    nino_weights *w = file_of(sizes, 3);
    ((nino_tensor_info *) at(w, 'b'))->is_strided = true;
    expect(w, "abc");
    nino_weights_read_ahead(w, at(w, 'a'));
    wait_for(1);
    CHECK(pieces(w, 0, 'c', 0, 9) == 1);
    nino_weights_unref(&w);
}

int main(void)
{
    in_order();
    window();
    jumps();
    small();
    strided();
    return 0;
}
