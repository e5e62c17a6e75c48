// FFmpeg's libraries, opened when a video is first read or written: a program that needs none does
// not pay for loading a hundred shared objects, and works where they are not installed.
#include <dlfcn.h>
#include <pthread.h>

#include "core/base/error.h"
#include "core/media/video_priv.h"

#define SONAME(lib, major) "lib" lib ".so." AV_STRINGIFY(major)

static nino_av av;
static const char *missing = "not loaded";

typedef struct symbol {
    const char *name;
    void **to;
} symbol;

static const symbol formats[] = {
#define X(f) { #f, (void **) &av.f },
    NINO_AV_FORMAT(X)
};
static const symbol codecs[] = { NINO_AV_CODEC(X) };
static const symbol utils[] = { NINO_AV_UTIL(X) };
static const symbol scales[] = { NINO_AV_SCALE(X) };
#undef X

static bool open_library(const char *soname, const symbol *s, size_t n)
{
    void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL); // stays open: their threads may outlive us
    for (size_t i = 0; lib && i < n; i++)
        if (!(*s[i].to = dlsym(lib, s[i].name)))
            lib = NULL;
    if (!lib)
        missing = soname;
    return lib;
}

static void video_av_load(void)
{
#define LIBRARY(soname, table)                                                                     \
    {                                                                                              \
        soname, table, sizeof(table) / sizeof(*(table))                                            \
    }
    static const struct {
        const char *soname;
        const symbol *s;
        size_t n;
    } libraries[] = { LIBRARY(SONAME("avutil", LIBAVUTIL_VERSION_MAJOR), utils),
                      LIBRARY(SONAME("swscale", LIBSWSCALE_VERSION_MAJOR), scales),
                      LIBRARY(SONAME("avcodec", LIBAVCODEC_VERSION_MAJOR), codecs),
                      LIBRARY(SONAME("avformat", LIBAVFORMAT_VERSION_MAJOR), formats) };
#undef LIBRARY
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
        if (!open_library(libraries[i].soname, libraries[i].s, libraries[i].n))
            return;
    missing = NULL;
    av.av_log_set_level(AV_LOG_FATAL);
}

const nino_av *nino_av_load(nino_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, video_av_load);
    if (missing) {
        nino_fail(err, NINO_ERR_UNSUPPORTED, missing,
                  "videos need this library of FFmpeg (Debian: libavformat59, libswscale6)");
        return NULL;
    }
    return &av;
}

nino_status nino_av_fail(const nino_av *a, int code, const char *where, const char *what,
                         nino_error *err)
{
    char text[AV_ERROR_MAX_STRING_SIZE] = "";
    if (code == AVERROR(ENOMEM))
        return nino_fail(err, NINO_ERR_NOMEM, where, "out of memory");
    a->av_strerror(code, text, sizeof(text));
    return nino_fail(err, code == AVERROR(EIO) ? NINO_ERR_IO : NINO_ERR_FORMAT, where, "%s: %s",
                     what, text);
}
