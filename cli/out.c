// The one way out: stdout and stderr lead through a filter, so that no name of a file, node, model or
// message steers the terminal. Only what is data for another program leaves as it is.
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

typedef struct outlet {
    int fd;
    bool is_tty, is_exact; // is_exact: what is written now is data
    size_t n;              // bytes of a character that is not complete yet
    char rest[4];
} outlet;

static outlet outlets[2] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };
static FILE *plain_stdout;

static bool out_all(int fd, const char *s, size_t n)
{
    while (n) {
        const ssize_t k = write(fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return false;
        s += k;
        n -= (size_t) k;
    }
    return true;
}

// Bytes at the end of s that may be the beginning of a character.
static size_t out_open_end(const char *s, size_t n)
{
    for (size_t k = 1; k <= 3 && k <= n; k++) {
        const unsigned char c = (unsigned char) s[n - k];
        if (c >= 0xc0)
            return k < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? k : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

// Cleans n bytes in place, line by line; s[n] is there. Returns how many are left.
static size_t out_clean(char *s, size_t n)
{
    size_t o = 0;
    for (size_t i = 0; i < n;) {
        size_t len = 0;
        while (i + len < n && s[i + len] != '\n' && s[i + len] != '\t')
            len++;
        const char end = i + len < n ? s[i + len] : 0;
        nino_utf8_printable(s + o, len + 1, s + i, len);
        o += strlen(s + o);
        if (end)
            s[o++] = end;
        i += len + (end != 0);
    }
    return o;
}

static ssize_t out_write(void *priv, const char *s, size_t n)
{
    outlet *o = priv;
    if (o->is_exact)
        return out_all(o->fd, s, n) ? (ssize_t) n : 0;
    for (size_t done = 0; done < n;) {
        char buf[4096];
        size_t len = o->n;
        memcpy(buf, o->rest, len);
        const size_t k = n - done < sizeof(buf) - 1 - len ? n - done : sizeof(buf) - 1 - len;
        memcpy(buf + len, s + done, k);
        len += k;
        done += k;
        o->n = out_open_end(buf, len);
        memcpy(o->rest, buf + len - o->n, o->n);
        len = out_clean(buf, len - o->n);
        if (!out_all(o->fd, buf, len))
            return 0;
    }
    return (ssize_t) n;
}

static FILE *out_stream(outlet *o, FILE *before)
{
    const cookie_io_functions_t io = { .write = out_write };
    FILE *f = fopencookie(o, "w", io);
    o->is_tty = isatty(o->fd);
    if (f)
        setvbuf(f, NULL, o->is_tty || o->fd == STDERR_FILENO ? _IOLBF : _IOFBF, BUFSIZ);
    return f ? f : before;
}

void out_open(void)
{
    plain_stdout = stdout;
    stdout = out_stream(&outlets[0], stdout);
    stderr = out_stream(&outlets[1], stderr);
}

FILE *out_plain(void) { return plain_stdout; }

void out_data(const char *s, size_t n)
{
    outlet *o = &outlets[0];
    fflush(stdout);
    o->is_exact = !o->is_tty;
    fwrite(s, 1, n, stdout);
    fflush(stdout);
    o->is_exact = false;
}

void out_path(const char *path)
{
    out_data(path, strlen(path));
    putchar('\n');
}
