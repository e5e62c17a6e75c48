// The name of a launch: what is written is read back, what is not known stays unknown, and other
// texts are no launches.
#include "core/event/publish.h"
#include <ninodes/kernel.h>
#include "tests/test.h"

static void round_trip(nino_launch l, const char *text)
{
    char buf[NINO_LAUNCH_TEXT];
    nino_launch r;
    CHECK_STR(nino_launch_write(buf, &l), text);
    CHECK(nino_launch_read(&r, buf));
    for (int i = 0; i < 3; i++)
        CHECK(r.global[i] == l.global[i] && r.local[i] == l.local[i]);
    CHECK(r.requested == l.requested);
}

// What a launch was for, behind its sizes: read back, and no harm to who reads the sizes only.
static void test_told(void)
{
    static const char *const texts[][2] = { { "wmma gemm -DF16=1", "linear f16:77x768 bias" },
                                            { "cpu elt", "" },
                                            { "", "scale f32:1" } };
    static const char *const none[] = { "", "1x1x1//", "1x1x1//|", "1x1x1//||", "1x1x1//|a" };
    char buf[NINO_LAUNCH_TOLD_TEXT], large[NINO_LAUNCH_TOLD_TEXT];
    nino_kernel_told t;
    const nino_launch l = { { 64, 2, 1 }, { 16, 1, 1 }, 700 };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        nino_launch r;
        nino_launch_write_told(buf, &l, texts[i][0], texts[i][1]);
        CHECK(nino_launch_read(&r, buf) && r.global[0] == 64 && r.local[0] == 16);
        CHECK(r.requested == 700 && nino_kernel_told_read(&t, buf));
        CHECK_STR(t.program, texts[i][0]);
        CHECK_STR(t.call, texts[i][1]);
    }
    CHECK_STR(nino_launch_write_told(buf, &l, "", ""), "64x2x1/16x1x1/700");
    CHECK_STR(nino_launch_write_told(buf, &l, "a/b", "c|d"), "64x2x1/16x1x1/700");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        CHECK(!nino_kernel_told_read(&t, none[i]) && !*t.program && !*t.call);
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = 0;
    memcpy(large, "1x1x1//|a|", 10); // more than there is room for
    CHECK(!nino_kernel_told_read(&t, large) && !*t.program);
}

int main(void)
{
    test_told();
    const uint64_t most = UINT64_MAX;
    char buf[NINO_WORK_TEXT];
    round_trip((nino_launch){ { 4096, 16, 1 }, { 64, 1, 1 }, 8388608 }, "4096x16x1/64x1x1/8388608");
    round_trip((nino_launch){ { 7, 1, 1 }, { 0 }, 12 }, "7x1x1//12");
    round_trip((nino_launch){ { 7, 1, 1 }, { 0 }, 0 }, "7x1x1//");
    round_trip((nino_launch){ { 7, 1, 1 }, { 7, 1, 1 }, 0 }, "7x1x1/7x1x1/");
    round_trip((nino_launch){ { most, most, most }, { most, most, most }, 9e17 },
               "18446744073709551615x18446744073709551615x18446744073709551615/"
               "18446744073709551615x18446744073709551615x18446744073709551615/"
               "900000000000000000");
    CHECK_STR(nino_work_text(buf, (const uint64_t[]){ 0, 0, 0 }), "");
    CHECK_STR(nino_work_text(buf, (const uint64_t[]){ 64, 2, 1 }), "64x2x1");

    static const char *const bad[] = {
        "",          "gemm",         "//",          "1x1x1",      "1x1x1/",       "1x1/1x1/5",
        "1x1x1x1//", "1x1x1/2x2/5",  "1x1x1//x",    "1x1x1//-5",  "1x1x1//5 ",    "-1x1x1//",
        " 1x1x1//",  "0x0x0/0x0x0/", "1x1x1/2x2x2", "1x1x1//1e5", "1x1x1//12/13", "1x1x1//5x1x1",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        nino_launch l = { .requested = 3 };
        const bool is_read = nino_launch_read(&l, bad[i]);
        CHECK(is_read == false && !l.global[0] && l.requested == 0);
    }

    // The id of a kernel: bits and launch, each without the other; what does not fit is not told.
    for (uint32_t launch = 0; launch < 1u << 24; launch += 0x10fff)
        for (unsigned bits = 0; bits <= 32; bits += 8) {
            const nino_event e = { .id = nino_kernel_id(bits, launch) };
            CHECK(nino_kernel_bits(&e) == bits && nino_kernel_launch(&e) == launch);
        }
    CHECK(nino_kernel_id(16, 1u << 24) == 16);
    return 0;
}
