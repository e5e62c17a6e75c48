// Arrays of tests whose values are told by their index.
#pragma once
#include "core/tensor/tensor.h"
#include "tests/test.h"

// least, least + 1, ... and again from least after `period` of them, converted to `type`.
static inline nino_array *made_counting(nino_dtype type, nino_shape shape, int period, int least)
{
    nino_array *a = nino_array_create(NINO_F32, shape), *t;
    CHECK(a);
    for (int64_t i = 0; i < nino_shape_count(&shape); i++)
        nino_array_f32(a)[i] = (float) (i % period + least);
    t = nino_array_convert(a, type);
    CHECK(t);
    nino_array_unref(&a);
    return t;
}

static inline nino_array *made_number(float v)
{
    nino_array *a = nino_array_create(NINO_F32, (nino_shape){ 0 });
    CHECK(a);
    *nino_array_f32(a) = v;
    return a;
}
