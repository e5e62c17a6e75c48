// Device samples from made-up sysfs trees, and the thread that only samples while somebody reads.
#include "core/event/sensor.h"
#include <ninodes/throttle.h>
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

#define V(name) (e.value[NINO_COUNTER_##name])

static void test_host(void)
{
    const double mib = 1 << 20;
    nino_sample e;
    nino_cpu_time cpu = { 0 };
    put("proc/meminfo",
        "MemTotal: 2097152 kB\nMemAvailable: 64 kB\nSwapTotal: 8192 kB\nSwapFree: 5120 kB\n");
    put("proc/stat", "cpu 10 0 10 70 10 0 0 0 0 0\ncpu0 1 2 3\n");
    put("proc/self/statm", "9000 2560 1 1 0 1 0\n");
    put(CARD1 "mem_info_vram_total", "536870912\n");
    put(CARD1 "mem_info_gtt_total", "103079215104\n");
    put(CARD1 "pp_dpm_fclk", "0: 800Mhz\n1: 2000Mhz *\n");
    nino_host_sample(root, &cpu, &e);
    CHECK(e.kind == NINO_EV_HOST && V(RAM_TOTAL) == 2048 * mib && V(SWAP_TOTAL) == 8 * mib);
    CHECK(V(SWAP_USED) == 3 * mib && isnan(V(CPU_BUSY)) && isnan(V(MEMORY_CLOCK)));
    CHECK(V(PROCESS_RAM) == 2560.0 * getpagesize());
    CHECK(V(VRAM_TOTAL) == 512 * mib && V(GTT_TOTAL) == 98304 * mib && V(FABRIC_CLOCK) == 2000);
    put("proc/stat", "cpu 40 0 10 130 20 0 0 0 0 0\n"); // 30 of 100 more
    nino_host_sample(root, &cpu, &e);
    CHECK(V(CPU_BUSY) == 30);
    nino_host_sample("/nowhere", &cpu, &e);
    CHECK(isnan(V(RAM_TOTAL)) && isnan(V(CPU_BUSY)) && isnan(V(FABRIC_CLOCK)));
    CHECK(isnan(V(SWAP_USED)) && isnan(V(PROCESS_RAM)) && isnan(V(GPU_THROTTLE)));
}

// The tables as the kernel lays them out (kgd_pp_interface.h), the fields of one kind as one array.
typedef struct table_head {
    uint16_t size;
    uint8_t format, content;
} table_head;
typedef struct table_v2_0 {
    table_head head;
    uint64_t clock_counter;
    uint16_t temperature[12], activity[2], power[12], average_clock[6], clock[16];
    uint32_t throttle_status;
    uint16_t fan, padding;
} table_v2_0;
typedef struct table_v2_2 { // v2_1: without the last one
    table_head head;
    uint16_t temperature[12], activity[2];
    uint64_t clock_counter;
    uint16_t power[12], average_clock[6], clock[16];
    uint32_t throttle_status;
    uint16_t fan, padding[3];
    uint64_t independent;
} table_v2_2;
typedef struct table_v3_0 {
    table_head head;
    uint16_t temperature[19], activity[2], ipu[8], core[16], dram[4];
    uint64_t clock_counter;
    uint32_t socket_power;
    uint16_t ipu_power;
    uint32_t power[4];
    uint16_t core_power[16], system_power, stapm[2], average_clock[8], core_clock[16], most[2];
    uint32_t residency[7], alpha;
} table_v3_0;

static void put_table(const void *p, size_t n)
{
    char path[300];
    put(CARD1 "gpu_metrics", "");
    snprintf(path, sizeof(path), "%s/" CARD1 "gpu_metrics", root);
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(p, 1, n, f) == n);
    fclose(f);
}

static unsigned read_table(nino_throttle_state *s)
{
    char card[200];
    snprintf(card, sizeof(card), "%s/sys/class/drm/card1/device", root);
    return nino_throttle_read(card, s);
}

static void test_throttle(void)
{
    nino_throttle_state s = { .is_known = false };
    char text[64];
    table_v2_0 a = { .head = { sizeof(a), 2, 0 } };
    put_table(&a, sizeof(a));
    CHECK(read_table(&s) == 0);
    a.throttle_status = 4;
    put_table(&a, sizeof(a));
    CHECK(read_table(&s) == NINO_THROTTLE_OTHER);
    table_v2_2 b = { .head = { sizeof(b) - 8, 2, 1 }, .throttle_status = 1 };
    put_table(&b, sizeof(b) - 8);
    CHECK(read_table(&s) == NINO_THROTTLE_OTHER);
    static const struct {
        int bit;
        unsigned reason;
    } bits[] = { { 0, NINO_THROTTLE_POWER },        { 7, NINO_THROTTLE_POWER },
                 { 16, NINO_THROTTLE_CURRENT },     { 23, NINO_THROTTLE_CURRENT },
                 { 32, NINO_THROTTLE_TEMPERATURE }, { 45, NINO_THROTTLE_TEMPERATURE },
                 { 46, NINO_THROTTLE_PROCHOT },     { 47, NINO_THROTTLE_PROCHOT },
                 { 57, NINO_THROTTLE_OTHER } };
    for (int content = 2; content <= 4; content++) // later ones only add fields
        for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
            b.head = (table_head){ sizeof(b), 2, (uint8_t) content };
            b.independent = 1ull << bits[i].bit;
            put_table(&b, sizeof(b));
            CHECK(read_table(&s) == bits[i].reason);
        }
    b.independent = UINT64_MAX; // the driver does not know
    put_table(&b, sizeof(b));
    CHECK(read_table(&s) == 0);
    put_table(&b, sizeof(b) - 1); // cut short
    CHECK(read_table(&s) == 0);
    table_v3_0 c = { .head = { sizeof(c), 3, 0 }, .residency = { 9, 9, 9, 9, 9, 9, 9 } };
    static const unsigned reasons[] = { NINO_THROTTLE_PROCHOT,     NINO_THROTTLE_POWER,
                                        NINO_THROTTLE_POWER,       NINO_THROTTLE_POWER,
                                        NINO_THROTTLE_TEMPERATURE, NINO_THROTTLE_TEMPERATURE,
                                        NINO_THROTTLE_TEMPERATURE };
    put_table(&c, sizeof(c));
    CHECK(read_table(&s) == 0 && s.is_known && read_table(&s) == 0); // what was before counts not
    for (int i = 0; i < 7; i++) {
        c.residency[i]++;
        c.alpha++;
        put_table(&c, sizeof(c));
        CHECK(read_table(&s) == reasons[i]);
    }
    c.head.format = 1; // of cards
    put_table(&c, sizeof(c));
    CHECK(read_table(&s) == 0);
    CHECK_STR(
        nino_throttle_text(NINO_THROTTLE_POWER | NINO_THROTTLE_TEMPERATURE, text, sizeof(text)),
        "power, temperature");
    CHECK_STR(nino_throttle_text(0, text, sizeof(text)), "");
}

static void test_gtt(void)
{
    nino_sample e;
    nino_cpu_time cpu = { 0 };
    put("proc/self/fdinfo/3", "pos:\t0\nflags:\t02\n");
    put("proc/self/fdinfo/5",
        "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-memory-gtt:\t1048576 KiB\n");
    put("proc/self/fdinfo/6", // the same client
        "pos:\t0\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-memory-gtt:\t1048576 KiB\n");
    put("proc/self/fdinfo/7",
        "drm-driver:\tamdgpu\ndrm-client-id:\t8\ndrm-memory-gtt:\t1024 KiB\n");
    CHECK(nino_own_gtt(root) == (1024 + 1) * 1048576ull && nino_own_gtt("/nowhere") == 0);
    put(CARD1 "mem_info_gtt_used", "5368709120\n"); // 5 GiB: 3.999 GiB are others'
    nino_host_sample(root, &cpu, &e);
    CHECK(V(GTT_OTHERS) == (5120 - 1025) * 1048576.0);
}

// A reader is told the ceilings before the first sample.
static void test_reader(const nino_ceilings *c)
{
    nino_event ev[16];
    nino_sample e = { 0 };
    size_t n = 0;
    nino_monitor *m = nino_monitor_create();
    nino_mon_reader *r = nino_mon_reader_create(m);
    nino_device_sampler *s = nino_device_sampler_start(m, root, c);
    CHECK(m && r && s);
    for (int i = 0; i < 1000 && n < 8; i++) { // at most ten seconds
        usleep(10000);
        n += nino_mon_reader_read(r, ev + n, 8 - n, NULL);
    }
    CHECK(n == 8 && ev[0].kind == NINO_EV_CEILINGS && ev[1].kind == NINO_EV_CEILING_POINT);
    CHECK(ev[0].u.ceilings.flops_f32 == 1e12 && ev[0].u.ceilings.measured_at == 0);
    CHECK_STR(nino_monitor_name_text(m, ev[0].name), "a device");
    CHECK(ev[2].u.ceiling_point.bytes == 4096 && ev[2].u.ceiling_point.index == 1);
    CHECK(ev[2].u.ceiling_point.n == 2 && ev[2].u.ceiling_point.read == 2);
    CHECK(ev[3].kind == NINO_EV_DEVICE && !nino_sample_add(&e, &ev[3]));
    CHECK(ev[4].kind == NINO_EV_DEVICE && nino_sample_add(&e, &ev[4]) && ev[3].t_ns == ev[4].t_ns);
    CHECK(V(GPU_POWER) == 71 && V(GTT_USED) == 5368709120.0);
    CHECK(ev[5].kind == NINO_EV_HOST && !nino_sample_add(&e, &ev[5]) && isnan(V(GPU_POWER)));
    CHECK(!nino_sample_add(&e, &ev[6]) && nino_sample_add(&e, &ev[7]));
    CHECK(V(RAM_TOTAL) == 2097152 * 1024.0);
    nino_device_sampler_stop(&s);
    nino_mon_reader_destroy(&r);
    nino_monitor_destroy(&m);
}

int main(void)
{
    nino_sample e;
    nino_event ev;
    snprintf(root, sizeof(root), "/tmp/nino-device-XXXXXX");
    CHECK(mkdtemp(root));
    nino_device_sample(root, &e); // nothing at all
    CHECK(e.kind == NINO_EV_DEVICE && isnan(V(GPU_BUSY)) && isnan(V(GPU_CLOCK)));
    CHECK(isnan(V(GPU_POWER)) && isnan(V(GPU_TEMPERATURE)) && isnan(V(RAM_AVAILABLE)));

    put("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 5 kB\nMemAvailable:   64 kB\n");
    put("sys/class/drm/card0/device/vendor", "0x8086\n"); // not ours
    put("sys/class/drm/card0/device/gpu_busy_percent", "99\n");
    nino_device_sample(root, &e);
    CHECK(isnan(V(GPU_BUSY)) && V(RAM_AVAILABLE) == 65536);

    put(CARD1 "vendor", "0x1002\n");
    put(CARD1 "gpu_busy_percent", "37\n");
    put(CARD1 "pp_dpm_sclk", "0: 600Mhz\n1: 2900Mhz *\n2: 800Mhz\n");
    put(CARD1 "mem_info_vram_used", "123456\n");
    put(CARD1 "mem_info_gtt_used", "98765432100\n");
    nino_device_sample(root, &e);
    CHECK(V(GPU_BUSY) == 37 && V(GPU_CLOCK) == 2900 && isnan(V(GPU_POWER)));
    CHECK(V(VRAM_USED) == 123456 && V(GTT_USED) == 98765432100);
    put(CARD1 "pp_dpm_sclk", "no star here\n");
    put(CARD1 "hwmon/hwmon7/power1_input", "71000000\n");
    put(CARD1 "hwmon/hwmon7/temp1_input", "54000\n");
    nino_device_sample(root, &e);
    CHECK(isnan(V(GPU_CLOCK)) && V(GPU_POWER) == 71 && V(GPU_TEMPERATURE) == 54);
    put(CARD1 "hwmon/hwmon7/freq1_input", "2750000000\n");
    put(CARD1 "hwmon/hwmon7/power1_average", "garbage\n"); // then the other one
    put(CARD1 "pp_dpm_sclk", "*");
    nino_device_sample(root, &e);
    CHECK(V(GPU_CLOCK) == 2750 && V(GPU_POWER) == 71);

    test_host();
    test_throttle();
    test_gtt();
    const nino_ceilings c = { .device = "a device",
                              .flops_f32 = 1e12,
                              .bandwidth = 2e11,
                              .n_points = 2,
                              .point = { { 1024, 3, 2, 1 }, { 4096, 2, 1, 1 } } };
    test_reader(&c);
    nino_monitor *m = nino_monitor_create();
    nino_device_sampler *s = nino_device_sampler_start(m, root, NULL);
    CHECK(s);
    nino_mon_reader *r = nino_mon_reader_create(m);
    size_t n = 0;
    double watt = 0;
    for (int i = 0; i < 1000 && n < 2; i++) { // at most ten seconds
        usleep(10000);
        while (n < 2 && nino_mon_reader_read(r, &ev, 1, NULL))
            n += nino_sample_value(&ev, NINO_COUNTER_GPU_POWER, &watt);
    }
    CHECK(n == 2 && watt == 71);
    nino_mon_reader_destroy(&r);
    nino_device_sampler_stop(&s);
    CHECK(!s);
    nino_device_sampler_stop(&s);
    nino_monitor_destroy(&m);
    char cmd[96];
    snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
    return system(cmd) != 0;
}
