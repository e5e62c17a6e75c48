// What amdgpu tells of APUs beyond single numbers: the binary table gpu_metrics (why the device is
// throttled) and the memory of this process in /proc/self/fdinfo.
// Sources: Linux, drivers/gpu/drm/amd/include/kgd_pp_interface.h (gpu_metrics_v2_0 to v2_4, v3_0;
// the bits of indep_throttle_status: pm/swsmu/inc/amdgpu_smu.h),
// Documentation/gpu/drm-usage-stats.rst.
#include "core/event/sensor.h"
#include <ninodes/throttle.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TABLE_MAX = 4096,
    // Byte offsets of the tables, as natural alignment makes them.
    V2_0_STATUS = 112, // u32, bits of the chip
    V2_1_STATUS = 108,
    V2_2_INDEPENDENT = 120, // u64, the same bits on every chip
    V3_0_RESIDENCY = 228,   // u32 each, they count up: prochot, spl, fppt, sppt, core, gfx, soc
    N_RESIDENCY = NINO_N_RESIDENCY,
    MAX_CLIENTS = 64
};

static size_t sensor_metrics_read_file(const char *path, unsigned char *buf, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, buf, size);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t) n : 0;
}

// ---- throttling --------------------------------------------------------------------------------

static unsigned from_independent(uint64_t s)
{
    unsigned bits = 0;
    bits |= s & 0xffffull ? NINO_THROTTLE_POWER : 0;
    bits |= s & 0xffffull << 16 ? NINO_THROTTLE_CURRENT : 0;
    bits |= s & 0x3fffull << 32 ? NINO_THROTTLE_TEMPERATURE : 0;
    bits |= s & 0x3ull << 46 ? NINO_THROTTLE_PROCHOT : 0;
    bits |= s & 0xffffull << 48 ? NINO_THROTTLE_OTHER : 0;
    return bits;
}

// What has grown since the last table.
static unsigned from_residency(const unsigned char *p, nino_throttle_state *before)
{
    static const unsigned char reason[N_RESIDENCY] = {
        NINO_THROTTLE_PROCHOT,    NINO_THROTTLE_POWER,       NINO_THROTTLE_POWER,
        NINO_THROTTLE_POWER,      NINO_THROTTLE_TEMPERATURE, NINO_THROTTLE_TEMPERATURE,
        NINO_THROTTLE_TEMPERATURE
    };
    unsigned bits = 0;
    for (int i = 0; i < N_RESIDENCY; i++) {
        uint32_t now;
        memcpy(&now, p + (size_t) i * sizeof(now), sizeof(now));
        if (before->is_known && now != before->residency[i])
            bits |= reason[i];
        before->residency[i] = now;
    }
    before->is_known = true;
    return bits;
}

bool nino_card_is_apu(const char *card)
{
    unsigned char t[4];
    char path[400];
    snprintf(path, sizeof(path), "%s/gpu_metrics", card);
    // Of cards it is format 1.
    return sensor_metrics_read_file(path, t, sizeof(t)) == sizeof(t) && (t[2] == 2 || t[2] == 3);
}

unsigned nino_throttle_read(const char *card, nino_throttle_state *before)
{
    unsigned char t[TABLE_MAX];
    char path[400];
    uint16_t size = 0;
    uint32_t status = 0;
    uint64_t independent = 0;
    snprintf(path, sizeof(path), "%s/gpu_metrics", card);
    const size_t n = sensor_metrics_read_file(path, t, sizeof(t));
    if (n < 4)
        return 0;
    memcpy(&size, t, sizeof(size));
    const unsigned format = t[2], content = t[3];
    if (size > n)
        return 0; // cut short
    if (format == 3 && size >= V3_0_RESIDENCY + 4 * N_RESIDENCY)
        return from_residency(t + V3_0_RESIDENCY, before);
    if (format != 2)
        return 0; // of cards, or of a later kernel
    if (content >= 2 && size >= V2_2_INDEPENDENT + 8) {
        memcpy(&independent, t + V2_2_INDEPENDENT, sizeof(independent));
        return independent == UINT64_MAX ? 0 : from_independent(independent); // all ones: not told
    }
    const size_t at = content ? V2_1_STATUS : V2_0_STATUS;
    if (content < 2 && size >= at + 4)
        memcpy(&status, t + at, sizeof(status));
    return status && status != UINT32_MAX ? NINO_THROTTLE_OTHER : 0;
}

const char *nino_throttle_text(unsigned bits, char *buf, size_t size)
{
    static const char *const names[] = { "power", "current", "temperature", "prochot", "other" };
    size_t n = 0;
    buf[0] = 0;
    for (unsigned i = 0; i < 5; i++)
        if (bits >> i & 1 && n < size)
            n += (size_t) snprintf(buf + n, size - n, "%s%s", n ? ", " : "", names[i]);
    return buf;
}

// ---- memory of this process --------------------------------------------------------------------

// The number after `key` at the beginning of a line; 0: not there.
static uint64_t field(const char *text, const char *key)
{
    for (const char *p = text; (p = strstr(p, key)); p += strlen(key))
        if (p == text || p[-1] == '\n')
            return strtoull(p + strlen(key), NULL, 10);
    return 0;
}

uint64_t nino_own_gtt(const char *root)
{
    char path[300];
    uint64_t sum = 0, seen[MAX_CLIENTS];
    size_t n_seen = 0;
    snprintf(path, sizeof(path), "%s/proc/self/fdinfo", root);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char text[2048];
        snprintf(path, sizeof(path), "%s/proc/self/fdinfo/%.20s", root, e->d_name);
        const size_t n = sensor_metrics_read_file(path, (unsigned char *) text, sizeof(text) - 1);
        text[n] = 0;
        if (!strstr(text, "drm-driver:\tamdgpu"))
            continue;
        const uint64_t client = field(text, "drm-client-id:");
        bool again = false; // several descriptors of one client tell the same
        for (size_t i = 0; i < n_seen; i++)
            again = again || seen[i] == client;
        if (again || n_seen == MAX_CLIENTS)
            continue;
        seen[n_seen++] = client;
        sum += field(text, "drm-memory-gtt:") * 1024; // always in KiB
    }
    if (d)
        closedir(d);
    return sum;
}
