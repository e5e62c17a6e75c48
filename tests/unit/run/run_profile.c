// The profile in output files: what is collected comes back, text that is no profile is refused.
#include "core/run/run_profile_priv.h"
#include "tests/test.h"

#include <math.h>

static void test_round_trip(void)
{
    nino_error err;
    nino_backend *be = nino_ref_open(0, NULL, &err);
    nino_profile_log l;
    nino_run_profile p;
    CHECK(be);
    snprintf(be->info.name, sizeof(be->info.name), "a \"device\"\\ \xc3\xa4");
    nino_profile_log_init(&l, be, "fp16");
    CHECK(!nino_profile_log_json(&l)); // nothing ran
    for (int i = 0; i < 20; i++) {
        char id[8];
        snprintf(id, sizeof(id), "%d", i);
        nino_profile_log_begin(&l, id, i ? "KSampler" : "LoadVAE", i == 0);
        be->n_ops += 3;
        be->flops += 1e6;
        be->load_bytes += i == 2 ? 5000 : 0;
        be->load_ns += i == 2 ? 2500000 : 0;
        if (i < 19)
            nino_profile_log_end(&l);
    }
    char *json = nino_profile_log_json(&l); // the last node still runs
    CHECK(json);
    for (const char *c = json; *c; c++)
        CHECK((unsigned char) *c < 0x7f && *c >= 0x20);
    CHECK_OK(nino_run_profile_read(json, strlen(json), &p, &err), err);
    CHECK(p.n_nodes == 20 && p.kernels == 60 && fabs(p.flops - 2e7) < 1 && p.started > 0);
    CHECK(p.nodes[0].is_cached && !p.nodes[19].is_cached && p.nodes[19].kernels == 3);
    CHECK(p.seconds >= 0 && p.nodes[3].flops == 1e6);
    CHECK(p.nodes[2].load_bytes == 5000 && fabs(p.nodes[2].load_seconds - 2.5e-3) < 1e-9);
    CHECK(p.nodes[3].load_bytes == 0 && p.nodes[3].load_seconds == 0);
    CHECK_STR(p.nodes[0].class_type, "LoadVAE");
    CHECK_STR(p.nodes[19].node, "19");
    CHECK_STR(p.precision, "fp16");
    CHECK(!strncmp(p.device, "a \"device\"\\ ", 12));
    nino_run_profile_release(&p);
    nino_run_profile_release(&p);
    free(json);
    l.is_off = true;
    CHECK(!nino_profile_log_json(&l));
    nino_profile_log_release(&l);
    nino_backend_close(&be);
}

static void test_bad(void)
{
    static const char *const bad[] = { "",
                                       "[]",
                                       "{}",
                                       "{\"format\": 2, \"nodes\": []}",
                                       "{\"format\": 1, \"nodes\": 3}",
                                       "{\"format\": 1, \"nodes\": [",
                                       "{\"format\": \"1\", \"nodes\": []}" };
    nino_run_profile p = { .n_nodes = 7 };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(nino_run_profile_read(bad[i], strlen(bad[i]), &p, NULL) == NINO_ERR_FORMAT &&
              p.n_nodes == 7);
    // Values that make no sense count as not there.
    static const char odd[] =
        "{\"format\": 1, \"ms\": NaN, \"kernels\": -5, \"nodes\": [7, {\"node\": 3}]}";
    nino_error err;
    CHECK_OK(nino_run_profile_read(odd, strlen(odd), &p, &err), err);
    CHECK(p.n_nodes == 2 && p.seconds == 0 && p.kernels == 0 && !p.nodes[1].node[0]);
    nino_run_profile_release(&p);
}

int main(void)
{
    test_round_trip();
    test_bad();
    return 0;
}
