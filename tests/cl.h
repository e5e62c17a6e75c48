// What the tests of cl/ share: the first OpenCL device, and a small run that uses most of the
// runtime.
#pragma once
#include "cl/cl_schedule.h"
#include "cl/runtime.h"
#include "tests/test.h"

static inline const nino_cl_device *test_cl_device(void)
{
    const nino_cl_device *list;
    const size_t n = nino_cl_devices(&list);
    for (size_t i = 0; i < n; i++)
        if (!list[i].info.problem[0])
            return &list[i];
    printf("skip: no OpenCL device\n");
    exit(77);
}

static inline nino_array *test_wave(nino_shape shape, float step)
{
    nino_array *a = nino_array_create(NINO_F32, shape);
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (i * 37 % 101) * step - 1;
    return a;
}

// Upload, weights, four kinds of kernels, zeros, download: NULL when the stream has failed.
static inline nino_array *test_cl_run(nino_stream *s)
{
    nino_array *image = test_wave(NINO_SHAPE(1, 9, 7, 32), 0.02f);
    nino_array *one = test_wave(NINO_SHAPE(32), 0.01f);
    nino_norm norm = { nino_weight_from_array(one, NINO_W_VECTOR),
                       nino_weight_from_array(one, NINO_W_VECTOR), 8, 1e-5f };
    nino_tensor *x = nino_upload(s, image, NINO_F32);
    x = nino_group_norm_silu(s, x, &norm);
    x = nino_add(s, nino_ref(x), x);
    x = nino_concat(s, x, nino_zeros(s, NINO_SHAPE(1, 9, 7, 3), NINO_F32), 3);
    x = nino_resample(s, x, 5, 11, NINO_FILTER_BILINEAR);
    nino_array *out = nino_download(s, x, NINO_F32);
    nino_weight_destroy(&norm.gamma);
    nino_weight_destroy(&norm.beta);
    nino_array_unref(&image);
    nino_array_unref(&one);
    return out;
}
