// Eight values at a time, for kernels of GPUs that decode weights so: before product.cl, whose decoders go by V.
#undef V
#define V 8
#define vec float8
#define ivec int8
DEFINE_BF16(8, uint8, float8, ushort8)
typedef ushort8 ushort8_u __attribute__((aligned(2)));
typedef float8 float8_u __attribute__((aligned(4)));
INLINE float8 load8_f32(global const float *p) { return *(global const float8_u *) p; }
INLINE float8 load8_f16(global const half *p) { return vload_half8(0, p); }
INLINE float8 load8_bf16(global const ushort *p) { return from_bf168(*(global const ushort8_u *) p); }
