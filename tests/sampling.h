// What tests of sampling share: the reference numbers, and models by the names those use.
#pragma once
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/sample/solver/sampler.h"
#include "tests/vae.h"
#include <math.h>

static inline nino_json_doc *test_json(const char *folder, const char *name)
{
    char path[512];
    char *text = NULL;
    size_t len = 0;
    nino_json_doc *doc = NULL;
    nino_error err = { 0 };
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    CHECK_OK(nino_file_read(path, (size_t) 64 << 20, false, &text, &len, &err), err);
    CHECK_OK(nino_json_parse(text, len, name, NULL, &doc, &err), err);
    free(text);
    return doc;
}

static inline double test_number(const nino_json *v)
{
    double d = 0;
    CHECK(nino_json_double(v, &d));
    return d;
}

// The models of schedules.json.
static inline nino_sampling *test_sampling(const char *name)
{
    nino_sampling *ms = NULL;
    if (!strcmp(name, "sd15_eps"))
        ms = nino_sampling_discrete(NINO_PRED_EPS, false);
    else if (!strcmp(name, "sdxl_vpred_zsnr"))
        ms = nino_sampling_discrete(NINO_PRED_V, true);
    else if (!strcmp(name, "flux_dev_default_1.15"))
        ms = nino_sampling_flux(1.15);
    else if (!strcmp(name, "flux_node_1024x1024"))
        ms = nino_sampling_flux(nino_sampling_flux_mu(1.15, 0.5, 1024, 1024));
    else if (!strcmp(name, "flux_node_512x768"))
        ms = nino_sampling_flux(nino_sampling_flux_mu(1.15, 0.5, 512, 768));
    else if (!strcmp(name, "flux_schnell"))
        ms = nino_sampling_flow(1, 1);
    else if (!strcmp(name, "sd3_shift3"))
        ms = nino_sampling_flow(3, 1000);
    else if (!strcmp(name, "wan_shift5"))
        ms = nino_sampling_flow(5, 1000);
    else if (!strcmp(name, "wan_shift8"))
        ms = nino_sampling_flow(8, 1000);
    CHECK(ms != NULL);
    return ms;
}

// |a - b| <= tol |b|; two NaN are equal
static inline bool test_is_near(double a, double b, double tol)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= tol * fabs(b);
}
