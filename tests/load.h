// Files of many large weights, and what loading them does to the process: for bench/load and
// tests/unit/cl/load.
#pragma once
#include "core/base/buf.h"
#include "core/op/backend.h"
#include "tests/test.h"

#include <fcntl.h>
#include <unistd.h>

enum { LOAD_ROWS = 4096, LOAD_COLS = 3072, LOAD_MOST = 1024 };

static const struct {
    const char *name;
    uint64_t size;
} load_types[] = { { "F16", 2 }, { "BF16", 2 }, { "F32", 4 } };

static inline uint64_t load_bytes_of(int i)
{
    return (uint64_t) LOAD_ROWS * LOAD_COLS * load_types[i % 3].size;
}

// Tensors "0.weight", "1.weight" ... of the three types in turn, at least `bytes` in all. Real
// bytes, not a hole, all of them finite numbers. Returns how many.
static inline int load_write(const char *path, uint64_t bytes)
{
    enum { BLOCK = 1 << 20 };
    static uint32_t block[BLOCK];
    nino_buf head = { 0 };
    uint64_t at = 0, seed = 1;
    int n = 0;
    for (; at < bytes && n < LOAD_MOST; at += load_bytes_of(n++))
        nino_buf_addf(&head,
                      "%c\"%d.weight\":{\"dtype\":\"%s\",\"shape\":[%d,%d],"
                      "\"data_offsets\":[%llu,%llu]}",
                      n ? ',' : '{', n, load_types[n % 3].name, LOAD_ROWS, LOAD_COLS,
                      (unsigned long long) at, (unsigned long long) (at + load_bytes_of(n)));
    nino_buf_adds(&head, "}");
    const uint64_t len = head.len;
    for (int i = 0; i < BLOCK; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        block[i] = (uint32_t) (seed >> 32) & 0xbfffbfffu; // exponents below the largest
    }
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    CHECK(fwrite(&len, 8, 1, f) == 1 && fwrite(head.data, head.len, 1, f) == 1);
    for (uint64_t i = 0, k; i < at; i += k) {
        k = at - i < sizeof(block) ? at - i : sizeof(block);
        block[0] = (uint32_t) (i >> 22) & 0xfff;
        CHECK(fwrite(block, (size_t) k, 1, f) == 1);
    }
    CHECK(fclose(f) == 0);
    nino_buf_release(&head);
    return n;
}

// A number of /proc/self/status or /proc/self/io; those of status are in KiB.
static inline uint64_t load_number(const char *file, const char *key)
{
    char line[256];
    uint64_t v = 0;
    FILE *f = fopen(file, "r");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
            v = strtoull(line + strlen(key) + 1, NULL, 10);
    if (f)
        fclose(f);
    return v;
}

static inline uint64_t load_rss(void) { return load_number("/proc/self/status", "VmRSS") << 10; }
static inline uint64_t load_read_so_far(void) { return load_number("/proc/self/io", "rchar"); }
static inline uint64_t load_peak(void) { return load_number("/proc/self/status", "VmHWM") << 10; }

// From now on load_peak() is the highest since. False: the kernel does not let us.
static inline bool load_reset_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && write(fd, "5", 1) == 1;
    if (fd >= 0)
        close(fd);
    return ok;
}

// The layers of a file that load_write() made.
typedef struct load_model {
    int n;
    nino_weight *w[LOAD_MOST];
} load_model;

static inline load_model load_describe(nino_weights *f, int n)
{
    load_model m = { .n = n };
    nino_error err;
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "%d.weight", i);
        CHECK_OK(
            nino_weight_get(f, "", name, NINO_W_MATRIX, LOAD_ROWS, LOAD_COLS, true, &m.w[i], &err),
            err);
    }
    return m;
}

static inline void load_forget(load_model *m)
{
    for (int i = 0; i < m->n; i++)
        nino_weight_destroy(&m->w[i]);
}

// Brings all of it to the device, as the ops of a network would one by one.
static inline nino_status load_all(nino_backend *be, const load_model *m, nino_error *err)
{
    for (int i = 0; i < m->n; i++)
        if (!nino_backend_weight(be, m->w[i], NINO_F32, err))
            return err->code;
    return be->impl->finish(be, err);
}
