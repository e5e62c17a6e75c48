// Device samples from made-up sysfs trees, and the thread that only samples while somebody reads.
#include "core/monitor/device.h"
#include "tests/test.h"

#include <math.h>
#include <sys/stat.h>

static char root[64];

static void put(const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(text, f) >= 0);
    fclose(f);
}

#define CARD1 "sys/class/drm/card1/device/"

int main(void)
{
    nino_event e;
    snprintf(root, sizeof(root), "/tmp/nino-device-XXXXXX");
    CHECK(mkdtemp(root));
    nino_device_sample(root, &e); // nothing at all
    CHECK(e.kind == NINO_EV_DEVICE && isnan(e.u.device.busy) && isnan(e.u.device.mhz));
    CHECK(isnan(e.u.device.watt) && isnan(e.u.device.celsius) && e.u.device.ram_available == 0);

    put("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 5 kB\nMemAvailable:   64 kB\n");
    put("sys/class/drm/card0/device/vendor", "0x8086\n"); // not ours
    put("sys/class/drm/card0/device/gpu_busy_percent", "99\n");
    nino_device_sample(root, &e);
    CHECK(isnan(e.u.device.busy) && e.u.device.ram_available == 65536);

    put(CARD1 "vendor", "0x1002\n");
    put(CARD1 "gpu_busy_percent", "37\n");
    put(CARD1 "pp_dpm_sclk", "0: 600Mhz\n1: 2900Mhz *\n2: 800Mhz\n");
    put(CARD1 "mem_info_vram_used", "123456\n");
    put(CARD1 "mem_info_gtt_used", "98765432100\n");
    nino_device_sample(root, &e);
    CHECK(e.u.device.busy == 37 && e.u.device.mhz == 2900 && isnan(e.u.device.watt));
    CHECK(e.u.device.vram_used == 123456 && e.u.device.gtt_used == 98765432100u);
    put(CARD1 "pp_dpm_sclk", "no star here\n");
    put(CARD1 "hwmon/hwmon7/power1_input", "71000000\n");
    put(CARD1 "hwmon/hwmon7/temp1_input", "54000\n");
    nino_device_sample(root, &e);
    CHECK(isnan(e.u.device.mhz) && e.u.device.watt == 71 && e.u.device.celsius == 54);
    put(CARD1 "hwmon/hwmon7/freq1_input", "2750000000\n");
    put(CARD1 "hwmon/hwmon7/power1_average", "garbage\n"); // then the other one
    put(CARD1 "pp_dpm_sclk", "*");
    nino_device_sample(root, &e);
    CHECK(e.u.device.mhz == 2750 && e.u.device.watt == 71);

    nino_monitor *m = nino_monitor_create();
    nino_device_sampler *s = nino_device_sampler_start(m, root);
    CHECK(s);
    nino_mon_reader *r = nino_mon_reader_create(m);
    size_t n = 0;
    for (int i = 0; i < 1000 && n < 2; i++) { // at most ten seconds
        usleep(10000);
        n += nino_mon_reader_read(r, &e, 1, NULL);
    }
    CHECK(n == 2 && e.kind == NINO_EV_DEVICE && e.u.device.watt == 71);
    nino_mon_reader_destroy(&r);
    nino_device_sampler_stop(&s);
    CHECK(!s);
    nino_device_sampler_stop(&s);
    nino_monitor_destroy(&m);
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
    return system(cmd) != 0;
}
