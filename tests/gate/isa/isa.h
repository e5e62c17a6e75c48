// An interpreter of the gfx1151 instructions that code objects of our kernels are made of, after AMD's
// "RDNA3.5 Instruction Set Architecture" and LLVM's "User Guide for AMDGPU Backend": waves of 32 lanes,
// the LDS of a work-group, global memory by address. llvm-objdump is the decoder: what is interpreted is
// its text, so that this is about what instructions do, not about how they are coded.
//
// What hardware would do without a word ends a launch here, with kernel and instruction: an address outside of
// all buffers, LDS behind what the kernel has, a register that a load is still on its way to, a lane's
// LDS word that another wave has written since the last barrier, operands of matrix instructions whose halves
// differ, a register behind those allocated, an instruction or modifier that is not in the tables.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ISA_LANES = 32, ISA_VGPRS = 256, ISA_SGPRS = 128, ISA_LDS = 64 << 10, ISA_WAVES = 32 };
enum {
    ISA_VCC = 106,
    ISA_NULL = 124,
    ISA_M0 = 125,
    ISA_EXEC = 126,
    ISA_SCC = 128
}; // scalar registers
enum { ISA_LGKM, ISA_VM, ISA_VS, ISA_COUNTERS };

typedef uint32_t isa_lanes[ISA_LANES];

typedef enum isa_kind { ISA_NONE, ISA_VGPR, ISA_SGPR, ISA_VALUE } isa_kind;
typedef struct isa_operand {
    isa_kind kind;
    bool neg, abs;
    char type;      // of isa_semantics.form
    uint8_t n;      // registers
    uint16_t reg;   // the first one
    uint64_t value; // ISA_VALUE: its bits
} isa_operand;

typedef struct isa_wave isa_wave;
typedef struct isa_insn isa_insn;
typedef void isa_run(isa_wave *w, const isa_insn *i);

// A row of the tables: what an instruction is called, what it takes and what it does.
// form: results, ":", sources: w 32 bits, h 16, q 64 as a number, d f64, s scalar register, t two of them,
// a address in vector registers, b its scalar base or "off",
// m a matrix, p a pair of f16, n: N of the row, c: a mask of lanes that may be missing (vcc_lo then)
// "*": operands that mean nothing here, "W": of s_waitcnt
typedef struct isa_semantics {
    const char *name, *form;
    isa_run *run;
    int n; // registers of operand n; what else the function wants to know
} isa_semantics;

struct isa_insn {
    const isa_semantics *what;
    isa_operand dst[2], src[4];
    uint8_t n_dst, n_src;
    bool is_first_of_pair;     // v_dual_...: the next one is the other half
    uint8_t op_sel, op_sel_hi; // a bit a source; op_sel_hi: 0xff where nothing is said
    int32_t offset, offset1;   // memory
    int8_t wait[ISA_COUNTERS]; // s_waitcnt; -1: any number
    uint32_t target;           // branches: number of an instruction
    uint64_t address;
    const char *text;
    uint64_t n_run;
};

typedef struct isa_arg { // of a kernel
    char kind[32];       // LLVM's value_kind
    uint32_t offset, size;
} isa_arg;

typedef struct isa_kernel {
    struct isa_kernel *next;
    char name[96];
    isa_arg *args;
    int n_args, n_explicit;
    uint32_t kernarg_bytes, lds_bytes, scratch_bytes, required[3], most_items;
    uint32_t rsrc1, rsrc2;
    uint16_t properties;
    uint64_t entry;
    uint32_t n_vgprs; // allocated
} isa_kernel;

typedef struct isa_program {
    uint8_t *image; // as it lies in memory
    size_t bytes;
    isa_kernel *kernels;
    isa_insn *insns;
    size_t n_insns;
    char *text; // of the disassembly
} isa_program;

typedef struct isa_range { // of global memory
    uint64_t at, bytes;
    bool is_constant;
} isa_range;

enum { ISA_MOST = 63, ISA_PENDING = 3 * ISA_MOST }; // of a counter, of all
typedef struct isa_pending { // a load that has been issued and not been waited for
    uint8_t counter;
    bool is_scalar; // scalar loads come back in any order
    isa_kind kind;
    uint16_t reg;
    uint8_t n;
} isa_pending;

typedef struct isa_word { // 16 bits of LDS: who touched them since the last barrier
    uint32_t epoch;
    uint8_t writer, reader; // number of the wave + 1; 255: several
} isa_word;

typedef struct isa_group {
    uint8_t lds[ISA_LDS];
    isa_word touched[ISA_LDS / 2];
    uint32_t epoch, lds_bytes;
    const isa_range *ranges; // by address
    size_t n_ranges;
    size_t last; // range that was found
    isa_wave *waves;
    int n_waves;
} isa_group;

struct isa_wave {
    isa_lanes v[ISA_VGPRS];
    isa_lanes held; // the first half of a pair, until the second has read
    uint32_t s[ISA_SGPRS + 1];
    const isa_program *program;
    const isa_kernel *kernel;
    isa_group *group;
    size_t at; // number of the next instruction
    int number;
    bool is_ended, is_at_barrier, is_holding, has_failed;
    isa_pending pending[ISA_PENDING];
    int n_pending;
    const isa_operand
        *matrix; // the result of a matrix instruction just before; NULL: there was none
    char error[400];
};

// ---- object.c: a code object as a program ----------------------------------------------------
// False: err says why.
bool isa_program_load(isa_program *p, const void *object, size_t bytes, char err[400]);
void isa_program_release(isa_program *p);
const isa_kernel *isa_kernel_find(const isa_program *p, const char *name);

// ---- decode.c --------------------------------------------------------------------------------
// Fills p->insns of the text of llvm-objdump -d. Instructions that are not known get no semantics and
// are an error when they are come to.
bool isa_decode(isa_program *p, char err[400]);
// The number of the instruction at an address, n_insns: there is none.
size_t isa_insn_at(const isa_program *p, uint64_t address);

// ---- tables: scalar.c, vector.c, wide.c, memory.c, matrix.c; their ends have no name ----------
extern const isa_semantics isa_scalar_table[], isa_vector_table[], isa_wide_table[],
    isa_compare_table[], isa_memory_table[], isa_matrix_table[];

// ---- wave.c ----------------------------------------------------------------------------------
// Ends the wave's launch; only the first one counts.
void isa_fail(isa_wave *w, const isa_insn *i, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
uint32_t isa_scalar(const isa_wave *w, const isa_operand *o);
uint64_t isa_scalar64(const isa_wave *w, const isa_operand *o);
void isa_set_scalar(isa_wave *w, const isa_operand *o, uint32_t v);
void isa_set_scalar64(isa_wave *w, const isa_operand *o, uint64_t v);
// Values of all lanes; in `room` unless they are a register.
const uint32_t *isa_fetch(const isa_wave *w, const isa_operand *o, isa_lanes room);
void isa_fetch64(const isa_wave *w, const isa_operand *o, uint64_t out[ISA_LANES]);
// To lanes that are active.
void isa_put(isa_wave *w, const isa_operand *o, const isa_lanes v);
void isa_put64(isa_wave *w, const isa_operand *o, const uint64_t v[ISA_LANES]);
// A load to registers, or a store (kind ISA_NONE), that waits for a counter.
void isa_expect(isa_wave *w, const isa_insn *i, int counter, bool is_scalar, isa_kind kind,
                uint16_t reg, uint8_t n);
// A wave runs until it ends, comes to a barrier or fails.
void isa_wave_run(isa_wave *w);

// ---- launch.c --------------------------------------------------------------------------------
typedef struct isa_launch {
    const isa_program *program;
    const isa_kernel *kernel;
    const uint8_t *kernarg; // what the host has set; hidden arguments are filled in
    uint32_t global[3], local[3];
    int dims;
    const isa_range *ranges; // by address
    size_t n_ranges;
} isa_launch;
// False: err says why.
bool isa_launch_run(const isa_launch *l, char err[400]);
extern uint64_t isa_n_insns, isa_n_launches; // done so far

// ---- numbers ---------------------------------------------------------------------------------
float isa_from_half(uint16_t h);
uint16_t isa_to_half(float f);   // to nearest even
uint16_t isa_half_down(float f); // towards zero
static inline float isa_f32(uint32_t u)
{
    union {
        uint32_t u;
        float f;
    } b = { .u = u };
    return b.f;
}
static inline uint32_t isa_bits(float f)
{
    union {
        float f;
        uint32_t u;
    } b = { .f = f };
    return b.u;
}
static inline double isa_f64(uint64_t u)
{
    union {
        uint64_t u;
        double f;
    } b = { .u = u };
    return b.f;
}
static inline uint64_t isa_bits64(double f)
{
    union {
        double f;
        uint64_t u;
    } b = { .f = f };
    return b.u;
}
