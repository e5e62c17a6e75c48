// Device samples from sysfs (driver amdgpu) and /proc/meminfo.
#include "core/event/sensor.h"

#include "core/base/thread.h"
#include "core/base/time.h"
#include "core/event/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PERIOD_MS = 100, HOST_EVERY = 5 };

// The first bytes of a small file; false: there is none.
static bool slurp(const char *path, char *buf, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, buf, size - 1);
    close(fd);
    buf[n > 0 ? n : 0] = 0;
    return n > 0;
}

// A whole number in dir/name, `per` to the unit of the counter; NaN: no such file, or no number.
static double sensor_number(const char *dir, const char *name, double per)
{
    char path[400], text[64], *end;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!slurp(path, text, sizeof(text)))
        return NAN;
    const long long v = strtoll(text, &end, 10);
    return end == text ? (double) NAN : (double) v / per;
}

static double either(double a, double b) { return isnan(a) ? b : a; }

// The first card of AMD that tells how busy it is.
static bool find_card(const char *root, char *dir, size_t size)
{
    for (int i = 0; i < 16; i++) {
        char vendor[32];
        snprintf(dir, size, "%s/sys/class/drm/card%d/device/vendor", root, i);
        if (!slurp(dir, vendor, sizeof(vendor)) || strncmp(vendor, "0x1002", 6) != 0)
            continue;
        snprintf(dir, size, "%s/sys/class/drm/card%d/device", root, i);
        if (!isnan(sensor_number(dir, "gpu_busy_percent", 1)))
            return true;
    }
    return false;
}

static bool find_hwmon(const char *card, char *dir, size_t size)
{
    snprintf(dir, size, "%s/hwmon", card);
    DIR *d = opendir(dir);
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        if (!strncmp(e->d_name, "hwmon", 5)) {
            snprintf(dir, size, "%s/hwmon/%.32s", card, e->d_name);
            found = true;
        }
    if (d)
        closedir(d);
    return found;
}

// "1: 2900Mhz *" is the clock in use.
static double clock_from_dpm(const char *card, const char *which)
{
    char path[400], text[1024];
    snprintf(path, sizeof(path), "%s/pp_dpm_%s", card, which);
    const char *star = slurp(path, text, sizeof(text)) ? strchr(text, '*') : NULL;
    while (star && star > text && star[-1] != ':' && star[-1] != '\n')
        star--;
    return star && star > text && star[-1] == ':' ? (double) strtoll(star, NULL, 10) : NAN;
}

// Bytes after `key` in /proc/meminfo.
static double sensor_meminfo(const char *root, const char *key)
{
    char path[300], text[4096];
    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    const char *p = slurp(path, text, sizeof(text)) ? strstr(text, key) : NULL;
    return p ? (double) strtoull(p + strlen(key), NULL, 10) * 1024 : NAN;
}

void nino_device_sample(const char *root, nino_sample *out)
{
    nino_sample_clear(out, NINO_EV_DEVICE);
    double *v = out->value;
    v[NINO_COUNTER_RAM_AVAILABLE] = sensor_meminfo(root, "MemAvailable:");
    char card[200], hw[280];
    if (!find_card(root, card, sizeof(card)))
        return;
    v[NINO_COUNTER_GPU_BUSY] = sensor_number(card, "gpu_busy_percent", 1);
    v[NINO_COUNTER_VRAM_USED] = sensor_number(card, "mem_info_vram_used", 1);
    v[NINO_COUNTER_GTT_USED] = sensor_number(card, "mem_info_gtt_used", 1);
    v[NINO_COUNTER_GPU_CLOCK] = clock_from_dpm(card, "sclk");
    if (!find_hwmon(card, hw, sizeof(hw)))
        return;
    v[NINO_COUNTER_GPU_CLOCK] = // finer than the table
        either(sensor_number(hw, "freq1_input", 1e6), v[NINO_COUNTER_GPU_CLOCK]);
    v[NINO_COUNTER_GPU_POWER] =
        either(sensor_number(hw, "power1_average", 1e6), sensor_number(hw, "power1_input", 1e6));
    v[NINO_COUNTER_GPU_TEMPERATURE] = sensor_number(hw, "temp1_input", 1e3);
}

// ---- memory ------------------------------------------------------------------------------------

static uint64_t sensor_bytes(const char *dir, const char *name)
{
    const double v = sensor_number(dir, name, 1);
    return v > 0 ? (uint64_t) v : 0;
}

// Whether the card has another address; one that does not tell may be any.
static bool is_elsewhere(const char *card, const char *pci)
{
    char path[300], text[1024];
    snprintf(path, sizeof(path), "%s/uevent", card);
    const char *slot = slurp(path, text, sizeof(text)) ? strstr(text, "PCI_SLOT_NAME=") : NULL;
    return *pci && slot && strncasecmp(slot + strlen("PCI_SLOT_NAME="), pci, strlen(pci)) != 0;
}

void nino_memory_read(const char *root, const char *pci, nino_memory_now *out)
{
    const double available = sensor_meminfo(root, "MemAvailable:");
    *out = (nino_memory_now){ .available = available > 0 ? (uint64_t) available : 0 };
    for (int i = 0; i < 16; i++) {
        char card[200], path[232], vendor[32];
        snprintf(card, sizeof(card), "%s/sys/class/drm/card%d/device", root, i);
        snprintf(path, sizeof(path), "%s/vendor", card);
        if (!slurp(path, vendor, sizeof(vendor)) || strncmp(vendor, "0x1002", 6) != 0 ||
            is_elsewhere(card, pci))
            continue;
        const uint64_t vram = sensor_bytes(card, "mem_info_vram_total"),
                       gtt = sensor_bytes(card, "mem_info_gtt_total");
        if (vram + gtt <= out->vram_total + out->gtt_total)
            continue;
        out->has_card = true;
        out->is_apu = nino_card_is_apu(card);
        out->vram_total = vram;
        out->gtt_total = gtt;
        out->vram_used = sensor_bytes(card, "mem_info_vram_used");
        out->gtt_used = sensor_bytes(card, "mem_info_gtt_used");
    }
}

// ---- the machine -------------------------------------------------------------------------------

// Percent of all cores since the last call; NaN: not known yet.
static double cpu_busy(const char *root, nino_cpu_time *before)
{
    char path[300], text[1024];
    snprintf(path, sizeof(path), "%s/proc/stat", root);
    if (!slurp(path, text, sizeof(text)) || strncmp(text, "cpu ", 4) != 0)
        return NAN;
    nino_cpu_time now = { 0 };
    char *p = text + 4;
    for (int i = 0; i < 8; i++) { // user nice system idle iowait irq softirq steal
        const uint64_t v = strtoull(p, &p, 10);
        now.all += v;
        now.busy += i == 3 || i == 4 ? 0 : v;
    }
    const nino_cpu_time last = *before;
    now.throttle = last.throttle;
    *before = now;
    return last.all && now.all > last.all && now.busy >= last.busy
               ? 100.0 * (double) (now.busy - last.busy) / (double) (now.all - last.all)
               : NAN;
}

// Resident bytes of this process.
static double own_bytes(const char *root)
{
    char path[300], text[256];
    snprintf(path, sizeof(path), "%s/proc/self/statm", root);
    char *p = slurp(path, text, sizeof(text)) ? strchr(text, ' ') : NULL;
    return p ? (double) strtoull(p, NULL, 10) * (double) sysconf(_SC_PAGESIZE) : NAN;
}

void nino_host_sample(const char *root, nino_cpu_time *before, nino_sample *out)
{
    char card[200];
    nino_sample_clear(out, NINO_EV_HOST);
    double *v = out->value;
    v[NINO_COUNTER_RAM_TOTAL] = sensor_meminfo(root, "MemTotal:");
    v[NINO_COUNTER_SWAP_TOTAL] = sensor_meminfo(root, "SwapTotal:");
    if (v[NINO_COUNTER_SWAP_TOTAL] > 0)
        v[NINO_COUNTER_SWAP_USED] = v[NINO_COUNTER_SWAP_TOTAL] - sensor_meminfo(root, "SwapFree:");
    v[NINO_COUNTER_PROCESS_RAM] = own_bytes(root);
    v[NINO_COUNTER_CPU_BUSY] = cpu_busy(root, before);
    if (!find_card(root, card, sizeof(card)))
        return;
    v[NINO_COUNTER_VRAM_TOTAL] = sensor_number(card, "mem_info_vram_total", 1);
    v[NINO_COUNTER_GTT_TOTAL] = sensor_number(card, "mem_info_gtt_total", 1);
    v[NINO_COUNTER_FABRIC_CLOCK] = clock_from_dpm(card, "fclk");
    v[NINO_COUNTER_MEMORY_CLOCK] = clock_from_dpm(card, "mclk");
    v[NINO_COUNTER_GPU_THROTTLE] = nino_throttle_read(card, &before->throttle);
    const double used = sensor_number(card, "mem_info_gtt_used", 1);
    if (!isnan(used))
        v[NINO_COUNTER_GTT_OTHERS] = fmax(used - (double) nino_own_gtt(root), 0);
}

// ---- the thread --------------------------------------------------------------------------------

struct nino_device_sampler {
    nino_monitor *m;
    char root[120];
    nino_cpu_time cpu;
    // With m->lock:
    bool has_ceilings, stop;
    nino_ceilings ceilings;
    pthread_t thread;
};

static void sensor_tell_ceilings(nino_monitor *m, const nino_ceilings *c)
{
    nino_event ev = { .kind = NINO_EV_CEILINGS,
                      .name = nino_monitor_name(m, c->device),
                      .u.ceilings = { c->flops_f32, c->flops_f16, c->bandwidth, c->launch_s,
                                      (uint64_t) c->measured_at } };
    nino_monitor_publish(m, &ev);
    ev.kind = NINO_EV_CEILING_POINT;
    for (size_t i = 0; i < c->n_points; i++) {
        ev.u.ceiling_point.bytes = c->point[i].bytes;
        ev.u.ceiling_point.read = c->point[i].read;
        ev.u.ceiling_point.write = c->point[i].write;
        ev.u.ceiling_point.copy = c->point[i].copy;
        ev.u.ceiling_point.index = (uint32_t) i;
        ev.u.ceiling_point.n = (uint32_t) c->n_points;
        nino_monitor_publish(m, &ev);
    }
}

void nino_device_sampler_tell(nino_device_sampler *s, const nino_ceilings *c)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->m->lock);
    s->ceilings = *c;
    s->has_ceilings = true;
    pthread_mutex_unlock(&s->m->lock);
    sensor_tell_ceilings(s->m, c);
}

static void sensor_publish(nino_device_sampler *s, nino_sample *sample)
{
    nino_event ev[NINO_SAMPLE_RECORDS];
    sample->t_ns = nino_now_ns(); // one time for all of its records
    const size_t n = nino_sample_write(sample, ev);
    for (size_t i = 0; i < n; i++)
        nino_monitor_publish(s->m, &ev[i]);
}

static void tell_samples(nino_device_sampler *s, unsigned round)
{
    nino_sample now;
    nino_device_sample(s->root, &now);
    sensor_publish(s, &now);
    if (round % HOST_EVERY)
        return;
    nino_host_sample(s->root, &s->cpu, &now);
    sensor_publish(s, &now);
}

static void *sensor_sample(void *arg)
{
    nino_device_sampler *s = arg;
    nino_monitor *m = s->m;
    int known = 0; // readers that were told the ceilings
    unsigned round = 0;
    pthread_mutex_lock(&m->lock);
    while (!s->stop) {
        const int readers = atomic_load(&m->n_read);
        if (readers == 0) {
            known = 0;
            pthread_cond_wait(&m->changed, &m->lock);
            continue;
        }
        const nino_ceilings now = s->ceilings;
        const bool has_now = s->has_ceilings;
        pthread_mutex_unlock(&m->lock);
        if (readers > known) {
            if (has_now)
                sensor_tell_ceilings(m, &now);
            round = 0;
        }
        known = readers;
        tell_samples(s, round++);
        const uint64_t next = nino_now_ns() + PERIOD_MS * 1000000ull;
        const struct timespec until = { .tv_sec = (time_t) (next / 1000000000u),
                                        .tv_nsec = (long) (next % 1000000000u) };
        pthread_mutex_lock(&m->lock);
        while (!s->stop && nino_now_ns() < next)
            pthread_cond_timedwait(&m->changed, &m->lock, &until);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

nino_device_sampler *nino_device_sampler_start(nino_monitor *m, const char *root,
                                               const nino_ceilings *ceilings)
{
    nino_device_sampler *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->m = m;
    snprintf(s->root, sizeof(s->root), "%s", root);
    s->has_ceilings = ceilings != NULL;
    if (ceilings)
        s->ceilings = *ceilings;
    const int rc = nino_thread_start(&s->thread, "nino-device", sensor_sample, s);
    if (rc) {
        free(s);
        return NULL;
    }
    return s;
}

void nino_device_sampler_stop(nino_device_sampler **sampler)
{
    nino_device_sampler *s = *sampler;
    if (!s)
        return;
    pthread_mutex_lock(&s->m->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->m->changed);
    pthread_mutex_unlock(&s->m->lock);
    pthread_join(s->thread, NULL);
    free(s);
    *sampler = NULL;
}
