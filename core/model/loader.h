// Internal: reading the layers of a network by name. Every step does nothing after the first
// failure, so that a network reads like its list of layers; the caller looks at `st` once.
#pragma once
#include "core/op/weight.h"

typedef struct nino_loader {
    nino_weights *file;
    const char *prefix; // before every name
    nino_dtype type;    // weights are rounded to it; NINO_F32: stay as stored
    nino_status st;
    nino_error *err;
} nino_loader;

typedef struct nino_name {
    char s[192];
} nino_name;

__attribute__((format(printf, 1, 2))) nino_name nino_name_of(const char *fmt, ...);
__attribute__((format(printf, 2, 3))) bool nino_load_has(const nino_loader *l, const char *fmt,
                                                         ...);
// Marks it failed unless it has; the error names the file. kind "model".
__attribute__((format(printf, 3, 4))) void nino_load_fail(nino_loader *l, nino_status st,
                                                          const char *fmt, ...);
// name without ".weight". cin < 0: any.
void nino_load_linear(nino_loader *l, const char *name, int64_t cin, nino_linear *out);
void nino_load_part(nino_loader *l, nino_weight_part part, int64_t cin, nino_linear *out);
// A convolution as far apart as it is wide, as a linear layer over the channels and cells of a
// patch (in this order). Stays as stored.
void nino_load_patch(nino_loader *l, const char *name, nino_linear *out);
void nino_load_conv(nino_loader *l, const char *name, int64_t cin, nino_conv *out);
// gamma and beta of exactly c channels
void nino_load_norm(nino_loader *l, const char *name, int64_t c, int groups, float eps,
                    nino_norm *out);
void nino_load_vector(nino_loader *l, const char *name, int64_t n, nino_weight **out); // full name
// Rows of a weight that was just read; 0 after a failure.
int64_t nino_load_rows(const nino_loader *l, const nino_weight *w);
// A linear must have exactly n rows.
void nino_load_expect(nino_loader *l, const char *name, const nino_linear *w, int64_t n);
// 1 + the largest N of the tensors called stemN.*, so that a gap shows as a missing tensor; at most
// 1000.
int nino_load_count(const nino_loader *l, const char *stem);
