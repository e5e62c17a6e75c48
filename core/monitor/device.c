// Device samples from sysfs (driver amdgpu) and /proc/meminfo.
#include "core/monitor/device.h"

#include "core/base/time.h"
#include "core/monitor/ring.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PERIOD_MS = 100 };

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

// A whole number in dir/name; false: no such file, or no number.
static bool read_number(const char *dir, const char *name, double *out)
{
    char path[400], text[64], *end;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    if (!slurp(path, text, sizeof(text)))
        return false;
    const long long v = strtoll(text, &end, 10);
    if (end == text)
        return false;
    *out = (double) v;
    return true;
}

static uint64_t read_bytes(const char *dir, const char *name)
{
    double v;
    return read_number(dir, name, &v) && v > 0 ? (uint64_t) v : 0;
}

// The first card of AMD that tells how busy it is.
static bool find_card(const char *root, char *dir, size_t size)
{
    for (int i = 0; i < 16; i++) {
        char vendor[32];
        double busy;
        snprintf(dir, size, "%s/sys/class/drm/card%d/device/vendor", root, i);
        if (!slurp(dir, vendor, sizeof(vendor)) || strncmp(vendor, "0x1002", 6) != 0)
            continue;
        snprintf(dir, size, "%s/sys/class/drm/card%d/device", root, i);
        if (read_number(dir, "gpu_busy_percent", &busy))
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
static float clock_from_dpm(const char *card)
{
    char path[400], text[1024];
    snprintf(path, sizeof(path), "%s/pp_dpm_sclk", card);
    const char *star = slurp(path, text, sizeof(text)) ? strchr(text, '*') : NULL;
    while (star && star > text && star[-1] != ':' && star[-1] != '\n')
        star--;
    return star && star > text && star[-1] == ':' ? (float) strtoll(star, NULL, 10) : NAN;
}

static uint64_t mem_available(const char *root)
{
    char path[300], text[4096];
    snprintf(path, sizeof(path), "%s/proc/meminfo", root);
    const char *p = slurp(path, text, sizeof(text)) ? strstr(text, "MemAvailable:") : NULL;
    return p ? strtoull(p + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
}

void nino_device_sample(const char *root, nino_event *out)
{
    *out = (nino_event){ .kind = NINO_EV_DEVICE,
                         .u.device = { .busy = NAN, .mhz = NAN, .watt = NAN, .celsius = NAN } };
    out->u.device.ram_available = mem_available(root);
    char card[200], hw[280];
    double v;
    if (!find_card(root, card, sizeof(card)))
        return;
    if (read_number(card, "gpu_busy_percent", &v))
        out->u.device.busy = (float) v;
    out->u.device.vram_used = read_bytes(card, "mem_info_vram_used");
    out->u.device.gtt_used = read_bytes(card, "mem_info_gtt_used");
    out->u.device.mhz = clock_from_dpm(card);
    if (!find_hwmon(card, hw, sizeof(hw)))
        return;
    if (read_number(hw, "freq1_input", &v)) // Hz, finer than the table
        out->u.device.mhz = (float) (v * 1e-6);
    if (read_number(hw, "power1_average", &v) || read_number(hw, "power1_input", &v)) // microwatts
        out->u.device.watt = (float) (v * 1e-6);
    if (read_number(hw, "temp1_input", &v)) // millidegrees
        out->u.device.celsius = (float) (v * 1e-3);
}

// ---- the thread --------------------------------------------------------------------------------

struct nino_device_sampler {
    nino_monitor *m;
    char root[120];
    bool stop; // with m->lock
    pthread_t thread;
};

static void *sample(void *arg)
{
    nino_device_sampler *s = arg;
    nino_monitor *m = s->m;
    pthread_mutex_lock(&m->lock);
    while (!s->stop) {
        if (atomic_load(&m->n_read) == 0) {
            pthread_cond_wait(&m->changed, &m->lock);
            continue;
        }
        pthread_mutex_unlock(&m->lock);
        nino_event ev;
        nino_device_sample(s->root, &ev);
        nino_monitor_publish(m, &ev);
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

nino_device_sampler *nino_device_sampler_start(nino_monitor *m, const char *root)
{
    nino_device_sampler *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->m = m;
    snprintf(s->root, sizeof(s->root), "%s", root);
    sigset_t all, old;
    sigfillset(&all); // signals are for the threads of the application, our own faults are not
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int rc = pthread_create(&s->thread, NULL, sample, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc) {
        free(s);
        return NULL;
    }
    pthread_setname_np(s->thread, "nino-device");
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
