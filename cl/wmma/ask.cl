// Whether a device has the matrix instructions that fragment.cl means: a product of two tiles, which the
// host compares. With -D NATIVE=1 it does not build without them.
//
//   A, B  [32 lanes] of 16 values, D [32 lanes] of eight f32, as fragment.cl says
// Global size 32, work-group size 32.
#define WG_SIZE 32
#include "fragment.cl"
#if NATIVE && !HAS_WMMA
#error no matrix instructions
#endif

kernel WG(WG_SIZE) void ask(global const uint8 *A, global const uint8 *B, global float8 *D)
{
    FRAGMENT_SCRATCH
    const int t = get_local_id(0);
    float8 acc = (float8)(1.0f);
    WMMA(acc, A[t], B[t]);
    D[t] = acc;
}
