// Who multiplies linear layers: what is chosen, by word and by tuning, what CLBlast is never given, and the
// room that it needs.
#include "core/op/engine.h"
#include "core/harness/kernel_check.h"
#include "tests/test.h"

static nino_profile profile;
static nino_error err;

static nino_op_desc linear(const nino_weight *w, int64_t rows, nino_dtype type)
{
    return (nino_op_desc){ .op = NINO_OP_LINEAR,
                           .n_src = 1,
                           .src = { NINO_SHAPE(rows, w->c) },
                           .src_type = { type },
                           .dst = NINO_SHAPE(rows, w->n),
                           .dst_type = type,
                           .weight = w };
}

static nino_weight *weight(nino_dtype type)
{
    uint64_t rng = 1;
    const nino_shape shape = NINO_SHAPE(70, 256);
    nino_array *a = nino_dtype_is_block(type) ? nino_check_blocks(shape, type, &rng)
                                              : nino_array_create(type, shape);
    CHECK(a);
    nino_weight *w = nino_weight_from_array(a, NINO_W_MATRIX);
    CHECK(w);
    nino_array_unref(&a);
    return w;
}

static bool is_blas(nino_dtype type, int64_t rows, nino_dtype act)
{
    nino_weight *w = weight(type);
    const nino_op_desc d = linear(w, rows, act);
    const bool is = nino_engine_is_blas(&profile, &d);
    const size_t bytes = nino_sched_workspace(&profile, &d);
    CHECK(!is || bytes == nino_engine_blas(&profile, &d).bytes);
    nino_weight_destroy(&w);
    return is;
}

static void test_words(void)
{
    CHECK_OK(nino_engine_set(&profile, "", "w", &err), err);
    CHECK(profile.gemm == NINO_GEMM_AUTO && !is_blas(NINO_F32, 300, NINO_F32));
    CHECK_OK(nino_engine_set(&profile, "clblast", "w", &err), err);
    CHECK(is_blas(NINO_F32, 300, NINO_F32) && is_blas(NINO_BF16, 1, NINO_F16));
    CHECK_STR(nino_engine_text(&profile), "CLBlast");
    CHECK_OK(nino_engine_set(&profile, "native", "w", &err), err);
    CHECK(!is_blas(NINO_F32, 300, NINO_F32));
    CHECK(nino_engine_set(&profile, "blas", "w", &err) == NINO_ERR_UNKNOWN &&
          !strcmp(err.where, "w"));
}

// Blocks and 8 bits stay as they are, and a device without it, or ref, has no choice.
static void test_never(void)
{
    CHECK_OK(nino_engine_set(&profile, "clblast", "w", &err), err);
    CHECK(!is_blas(NINO_Q8_0, 300, NINO_F32) && !is_blas(NINO_F8_E4M3, 300, NINO_F32));
    profile.has_blas = false;
    CHECK(!is_blas(NINO_F32, 300, NINO_F32));
    CHECK_STR(nino_engine_text(&profile), "ninodes' kernels");
    profile.has_blas = true;
    const nino_sched *own = profile.schedule;
    profile.schedule = &nino_sched_ref;
    CHECK(!is_blas(NINO_F32, 300, NINO_F32));
    profile.schedule = own;
}

// Rows up to 16, up to 255, more; of f32 activations, with which they were measured.
static void test_tuned(void)
{
    static const int64_t rows[] = { 1, 16, 17, 255, 256, 9999 };
    CHECK_OK(nino_engine_set(&profile, "auto", "w", &err), err);
    for (int k = 0; k < 3; k++) {
        profile.tuning = (nino_tuning){ .engine_few = k == 0 ? NINO_GEMM_CLBLAST : NINO_GEMM_NATIVE,
                                        .engine_flat = k == 1 ? NINO_GEMM_CLBLAST : 0,
                                        .engine_tall = k == 2 ? NINO_GEMM_CLBLAST : 0 };
        for (int i = 0; i < 6; i++) {
            CHECK(is_blas(NINO_F16, rows[i], NINO_F32) == (i / 2 == k));
            CHECK(!is_blas(NINO_F16, rows[i], NINO_F16));
        }
        CHECK(strstr(nino_engine_text(&profile), "measured"));
    }
    CHECK_OK(nino_engine_set(&profile, "native", "w", &err), err);
    CHECK(!is_blas(NINO_F16, 300, NINO_F32));
    profile.tuning = (nino_tuning){ 0 };
}

// Parts one behind the other, each only where it is needed.
static void test_room(void)
{
    const uint64_t temp = (128 * 256 + 256 * 128 + 128 * 128) * 4;
    nino_weight *w = weight(NINO_F32), *half = weight(NINO_F16);
    nino_op_desc d = linear(w, 100, NINO_F32);
    nino_blas_layout l = nino_engine_blas(&profile, &d);
    CHECK(!l.has_x && l.has_w && !l.has_sums && l.ld == 128 && l.temp == 256 * 128 * 4);
    CHECK(l.temp_bytes == temp && l.bytes == l.temp + temp);
    d.attr.act = NINO_ACT_SILU;
    l = nino_engine_blas(&profile, &d);
    CHECK(l.has_sums && l.sums == 256 * 128 * 4 && l.temp >= l.sums + 100 * 70 * 4);
    d = linear(half, 100, NINO_F16);
    CHECK_OK(nino_sched_find("wmma", "", &profile.schedule, &err), err);
    l = nino_engine_blas(&profile, &d);
    CHECK(l.has_x && l.has_w && l.is_rows && l.ld == 256 && l.w == 100 * 256 * 4);
    CHECK(l.sums == l.w + 70 * 256 * 4 && l.has_sums);
    d = linear(w, 100, NINO_F32); // rows in f32 are as it takes them
    l = nino_engine_blas(&profile, &d);
    CHECK(!l.has_x && !l.has_w && !l.temp);
    nino_weight_destroy(&w);
    nino_weight_destroy(&half);
}

int main(void)
{
    CHECK_OK(nino_profile_load("pocl-cpu", &profile, &err), err);
    profile.has_blas = true;
    test_words();
    test_never();
    test_tuned();
    test_room();
    return 0;
}
