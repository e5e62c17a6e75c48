// How much memory a device may use, from made-up folders of sysfs and figures of drivers: an APU
// with its carve-out, cards, processors, and what is missing. No device is needed.
#include "cl/runtime.h"
#include "tests/test.h"

#include <stdarg.h>
#include <sys/stat.h>

static char root[64];
static const uint64_t gib = (uint64_t) 1 << 30;

// A file below root, its folders with it.
static void put(const char *path, const char *fmt, ...)
{
    char name[300];
    va_list ap;
    snprintf(name, sizeof(name), "%s/%s", root, path);
    for (char *p = name + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(name, 0700);
    }
    FILE *f = fopen(name, "w");
    CHECK(f);
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fclose(f);
}

static void clear(void)
{
    char cmd[100];
    snprintf(cmd, sizeof(cmd), "rm -rf %s/*", root);
    CHECK(system(cmd) == 0);
}

static void put_available(double g) { put("proc/meminfo", "MemAvailable: %.0f kB\n", g * 1048576); }

static void put_card(int i, const char *slot, double vram, double used, double gtt, double gtt_used)
{
    const struct {
        const char *name;
        double v;
    } file[] = { { "vram_total", vram },
                 { "vram_used", used },
                 { "gtt_total", gtt },
                 { "gtt_used", gtt_used } };
    char path[100];
    snprintf(path, sizeof(path), "sys/class/drm/card%d/device/vendor", i);
    put(path, "0x1002\n");
    if (slot) {
        snprintf(path, sizeof(path), "sys/class/drm/card%d/device/uevent", i);
        put(path, "DRIVER=amdgpu\nPCI_SLOT_NAME=%s\n", slot);
    }
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof(path), "sys/class/drm/card%d/device/mem_info_%s", i, file[k].name);
        if (file[k].v >= 0) // -1: there is no such file
            put(path, "%.0f\n", file[k].v * (double) gib);
    }
}

static nino_cl_device device(const char *vendor, bool is_unified, double reports)
{
    nino_cl_device d = { .is_unified = is_unified };
    snprintf(d.info.vendor, sizeof(d.info.vendor), "%s", vendor);
    d.info.mem_bytes = (uint64_t) (reports * (double) gib);
    return d;
}

static const char amd[] = "Advanced Micro Devices, Inc.";

// GiB that the device may use, before what is left for the system.
static double room(const nino_cl_device *d)
{
    nino_memory_now m;
    const nino_profile p = { .mem_bytes = 0 };
    nino_memory_read(root, d->pci, &m);
    const double b = (double) nino_cl_budget_of(d, &p, &m) / (double) gib;
    return b >= 36 ? b / 0.9 : b >= 12 ? b + 4 : b / 0.75;
}

#define NEAR(a, b) CHECK((a) > (b) -1e-3 && (a) < (b) + 1e-3)

// A machine of 128 GB: what is carved out for the GPU is not in MemAvailable.
static void test_carve_out(void)
{
    nino_cl_device d = device(amd, true, 120);
    put_available(112);
    put_card(0, NULL, 0.5, 0.25, 62, 2);
    NEAR(room(&d), 60.25);
    put_available(20); // GTT is the machine's memory
    NEAR(room(&d), 20.25);
    put_available(50);
    put_card(0, NULL, 64, 1, 31, 1);
    NEAR(room(&d), 93);
    put_available(12);
    NEAR(room(&d), 75);
    put_available(24);
    put_card(0, NULL, 96, 0.5, 15.5, 0.25);
    NEAR(room(&d), 110.75);
    put_available(2); // a browser took the rest: the carve-out is still there
    NEAR(room(&d), 97.5);
    put_card(0, NULL, 96, 90, 15.5, 0.25); // another program has it
    NEAR(room(&d), 8);
    d.info.mem_bytes = 96 * gib; // a driver that lets out no more than the carve-out
    put_card(0, NULL, 96, 0.5, 15.5, 0.25);
    put_available(24);
    NEAR(room(&d), 96);
    d.is_unified = false; // a driver that does not tell: the table of APUs does
    d.info.mem_bytes = 120 * gib;
    NEAR(room(&d), 95.5);
    put("sys/class/drm/card0/device/gpu_metrics", "..%c%c", 3, 1);
    NEAR(room(&d), 110.75);
    clear();
}

static void test_missing(void)
{
    nino_cl_device d = device(amd, true, 60);
    NEAR(room(&d), 60); // neither /proc nor /sys: what it reports
    put_available(30);
    NEAR(room(&d), 30);                // no card
    put_card(0, NULL, -1, -1, 16, -1); // no VRAM, nobody counts what is used
    NEAR(room(&d), 16);
    put_card(0, NULL, 8, -1, 16, 1);
    NEAR(room(&d), 23);
    clear();
    put_available(30);
    put_card(0, NULL, 8, 1, -1, -1); // GTT is not told: only what is known to be there
    NEAR(room(&d), 7);
    put_card(0, NULL, 8, 8, -1, -1);
    CHECK(room(&d) > 0); // 0 would be no limit
    clear();
}

// A card's GTT is behind the bus; other makers' devices are not this card.
static void test_cards(void)
{
    nino_cl_device d = device(amd, false, 24), other = device("NVIDIA Corporation", false, 16);
    const nino_cl_device intel = device("Intel(R) Corporation", true, 30);
    nino_cl_device host = device("AuthenticAMD", false, 128);
    host.is_host = true;
    put_available(20);
    put_card(0, "0000:03:00.0", 24, 3, 64, 1);
    put("sys/class/drm/card0/device/gpu_metrics", "..%c%c", 1, 3);
    NEAR(room(&d), 21);
    NEAR(room(&other), 16);
    NEAR(room(&intel), 20);
    NEAR(room(&host), 20);
    // Beside it an APU, each by its address.
    put_card(1, "0000:C5:00.0", 64, 0, 31, 0);
    put("sys/class/drm/card1/device/gpu_metrics", "..%c%c", 3, 0);
    nino_cl_device apu = device(amd, true, 100);
    snprintf(d.pci, sizeof(d.pci), "0000:03:00.0");
    snprintf(apu.pci, sizeof(apu.pci), "0000:c5:00.0");
    NEAR(room(&d), 21);
    NEAR(room(&apu), 84);
    snprintf(apu.pci, sizeof(apu.pci), "0000:99:00.0"); // there is no such card
    NEAR(room(&apu), 20);
    clear();
}

int main(void)
{
    snprintf(root, sizeof(root), "/tmp/nino-budget-XXXXXX");
    CHECK(mkdtemp(root));
    test_carve_out();
    test_missing();
    test_cards();
    CHECK(rmdir(root) == 0);
    return 0;
}
