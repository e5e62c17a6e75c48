// Choosing devices by selector.
#include "core/op/device/device.h"
#include "tests/test.h"

static nino_error err;

int main(void)
{
    nino_device_info d[16];
    const size_t n = nino_devices(d, 16);
    CHECK(n >= 1 && n <= 16);
    CHECK_STR(d[n - 1].selector, "ref"); // always there, always last
    CHECK(d[n - 1].mem_bytes > 0);
    CHECK(nino_devices(NULL, 0) == n);

    nino_backend *be = nino_device_open("ref", NULL, NULL, &err);
    CHECK(be);
    CHECK_STR(be->impl->name, "ref");
    nino_backend_close(&be);
    CHECK(!be);
    nino_backend_close(&be); // NULL-safe

    static const char *const unknown[] = { "cl:99", "cl:no such device", "cuda", "cl:", "ref:0" };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        CHECK(!nino_device_open(unknown[i], NULL, NULL, &err));
        CHECK(err.code == NINO_ERR_UNKNOWN && strstr(err.msg, "ref"));
        CHECK_STR(err.where, unknown[i]);
    }

    const nino_ctx_params p = { NINO_CTX_PARAMS_INIT, .mem_limit = 1 << 20, .cache_dir = "" };
    be = nino_device_open("ref", &p, NULL, &err); // the limit arrives at the pool
    nino_block b;
    CHECK(nino_pool_alloc(be->pool, 2 << 20, NINO_OWN_ACTIVATION, &b, &err) == NINO_ERR_NOMEM);
    nino_backend_close(&be);

    if (n > 1 && !d[0].problem[0]) { // some OpenCL device, by number, name and as the default
        CHECK((be = nino_device_open(d[0].selector, &p, NULL, &err)));
        CHECK_STR(be->impl->name, "cl");
        CHECK_STR(be->profile.name, d[0].profile);
        nino_backend_close(&be);
        char byname[160];
        snprintf(byname, sizeof(byname), "cl:%.12s", d[0].name);
        CHECK((be = nino_device_open(byname, &p, NULL, &err)));
        nino_backend_close(&be);
        CHECK((be = nino_device_open("cl", &p, NULL, &err)));
        nino_backend_close(&be);
    }
    CHECK((be = nino_device_open(NULL, &p, NULL, &err)));
    CHECK(n == 1 || !strcmp(be->impl->name, "cl"));
    nino_backend_close(&be);
    return 0;
}
